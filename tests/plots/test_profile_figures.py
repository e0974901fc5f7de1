"""Figures of studies of runs, topics and judgments: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from coverage_parts import DEPTHS, POOL_DEPTH, ragged_field
from drawing_parts import check
from matplotlib.colors import to_rgba

import pt_reuse as ptr
from pt_reuse.plots.sheet import looks, of_tau, off_screen

pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.*no pair of systems:pt_reuse.ReuseWarning"),
]
RUNS, QRELS = ragged_field()


@pytest.fixture(scope="module")
def found():
    return ptr.profile.coverage(RUNS, QRELS, ["nDCG@10", "AP"], depths=DEPTHS, depth=POOL_DEPTH)


@pytest.fixture(scope="module")
def moved():
    return ptr.profile.sensitivity(
        ptr.leave_out_uniques,
        RUNS,
        QRELS,
        ["nDCG@10", "AP"],
        depth=POOL_DEPTH,
        grid={"depth": [1, 3, 5], "contributors": None, "by": ["team", "type"], "remove": None},
    )


def test_a_row_for_each_run_with_unjudged_documents_most_first(found):
    ax = found.plot("runs")
    shares = found.counts.by_topic().query(f"cutoff == {found.at} and documents > 0").groupby("name")["Unjudged"]
    means = shares.mean()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert set(names) == set(means[means > 0].index)
    assert means[names].tolist() == sorted(means[names], reverse=True)
    field, types = looks(RUNS.types), RUNS.run_table.set_index("name")["type"]
    shown = 0
    for lines, dots in zip(*[iter(ax.collections)] * 2, strict=True):
        for (x, y), segment in zip(np.asarray(dots.get_offsets()).tolist(), lines.get_segments(), strict=True):
            name = names[int(len(names) - 1 - y)]
            assert x == pytest.approx(means[name])
            assert segment[:, 0] == pytest.approx(np.percentile(shares.get_group(name), (25, 75)))
            assert tuple(dots.get_facecolor()[0]) == to_rgba(field[types[name]].stroke)
            shown += 1
    assert shown == len(names)
    assert ax.get_xlim()[0] == 0


def test_figures_are_whole_and_can_be_read(found, moved):
    for kind in ("runs", "depths", "residual", "rise"):
        check(found.plot(kind, width=3.3), 7)
    check(moved.plot(figure="own_tau_b", width=3.3), 7)
    check(moved.plot("AP", figure="field_max_drop", width=7), 9)


# figures of parts of a corpus: what they draw is what the tables say

PARTED = ptr.demo.simulate_field(seed=6, n_topics=8, n_docs=120, n_teams=4, length=50, depth=10)


def study(**options):
    return ptr.profile.subcollections(
        PARTED.runs, PARTED.qrels, ["AP", "P@5"], sources=lambda docno: "xyz"[int(docno[-1]) % 3], **options
    )


@pytest.fixture(scope="module")
def results():
    return {
        "grid": study(),
        "sizes": study(how="random", sizes=[5, 12, 25], repeats=2),
        "shares": study(how="mixed", shares=[0, 0.5, 1], repeats=3),
    }


@pytest.mark.parametrize(("name", "width"), [("grid", 3.3), ("grid", 7), ("sizes", 3.3), ("shares", 3.3)])
def test_figures_of_parts_are_whole(results, name, width):
    check(results[name].plot(width=width), 7 if width < 4.5 else 9)


@pytest.mark.parametrize("kind", ["agree", "tau_b"])
def test_a_line_for_each_source_against_the_share(results, kind):
    table = results["shares"].table.query("measure == 'P@5'")
    ax = results["shares"].plot(kind, measure="P@5")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x and y", "x and z", "y and z"]
    for name, drawn in zip(["x and y", "x and z", "y and z"], ax.containers, strict=True):
        mine = table[table["source"] == name].sort_values("share")
        middle, errors = (mine[column].to_numpy(dtype=float) for column in (kind, f"{kind}_se"))
        line, _, (bars,) = drawn.lines
        assert line.get_xdata().tolist() == [0, 50, 100]
        assert np.allclose(line.get_ydata().astype(float), middle, equal_nan=True)
        ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
        expected = np.column_stack([middle - errors, middle + errors])
        assert np.allclose(ends, expected[~np.isnan(expected).any(axis=1)])
    assert len({line.get_marker() for line in [drawn.lines[0] for drawn in ax.containers]}) == 3


# figures of two sets of judgments: what they draw is what the tables say

COMPARED = ptr.demo.simulate_field(seed=7, n_topics=9, n_docs=120, n_teams=4, length=15, depth=4)
NAMES = ("old", "new")


@pytest.fixture(scope="module")
def compared():
    return ptr.compare_judgments(COMPARED.runs, COMPARED.qrels, COMPARED.all_qrels, ["AP", "P@5"], names=NAMES, depth=8)


def points_of(ax):
    drawn = np.concatenate([np.asarray(each.get_offsets()) for each in ax.collections])
    return sorted(map(tuple, drawn.tolist()))


@pytest.mark.parametrize(
    ("kind", "column", "width"), [("remainder", "remainder", 3.3), ("relevant", "new_relevant", 7)]
)
def test_topics_against_their_known_relevant_documents(compared, kind, column, width):
    ax = compared.plot(kind=kind, width=width)
    rows = compared.by_topic[compared.by_topic["new_by"] == "new"]
    # topics at one place are one dot
    assert points_of(ax) == sorted({*zip(rows["relevant"].astype(float), rows[column].astype(float), strict=True)})
    named = {text.get_text() for text in ax.texts}
    assert named <= set(rows["qid"])
    assert rows.sort_values([column, "relevant"], ascending=False, kind="stable")["qid"].iloc[0] in named


@pytest.mark.parametrize("measure", ["P@5"])
def test_tau_of_each_topic_the_lowest_first(compared, measure):
    ax = compared.plot(measure, kind="topics")
    taus = compared.per_topic.loc[compared.per_topic["measure"] == measure, "tau_b"].dropna().sort_values().tolist()
    assert [y for _, y in points_of(ax)] == pytest.approx(taus)
    assert [x for x, _ in points_of(ax)] == list(range(1, len(taus) + 1))
    overall = compared.table.set_index("measure").loc[measure, "tau_b"]
    assert ax.lines[0].get_ydata()[0] == pytest.approx(overall)
    low, high = ax.get_ylim()
    assert low < min(taus)
    assert high > 1


# figures of relevant documents: what they draw is what the tables say

FIELD = ptr.demo.simulate_field(seed=8)


def key(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def test_densities_are_drawn_after_the_first_and_the_last_round():
    found = ptr.profile.density(FIELD.qrels, runs=FIELD.runs, depths=[2, 5])
    ax = found.plot()
    order = found.table.sort_values(["density", "qid"], kind="stable")["qid"].tolist()
    of_round = {name: of.set_index("qid")["density"] for name, of in found.rounds.groupby("round")}
    for collection, name in zip(ax.collections[1:], ("depth-2 pool", "depth-5 pool", "all judgments"), strict=True):
        points = dict(np.asarray(collection.get_offsets()).tolist())
        assert [points[n] for n in range(1, len(order) + 1)] == of_round[name].loc[order].tolist()
    assert key(ax) == ["depth-2 pool", "further rounds", "all judgments", "density 1/3", "density 1/2"]
    lines = [line.get_ydata()[0] for line in ax.get_lines()]
    assert lines == [1 / 3, 1 / 2]


# the figure of swap rates draws what the table says

POOL, ALL = (ptr.score(FIELD.runs, qrels, ["AP", "RR"]) for qrels in (FIELD.qrels, FIELD.all_qrels))
FOUND = ptr.profile.stability({"pool": POOL, "all": ALL}, pairs=60, sizes=[5, 10, 15, 20, 25, 30, 40], resamples=12)


def lines(ax):
    """Return the lines by their labels, without the level one."""
    return {line.get_label(): line for line in ax.get_lines() if line.get_label()[0] != "_"}


def drawn(**options):
    with off_screen():
        return FOUND.plot(**options)


def test_a_line_for_each_size_against_the_difference():
    ax = drawn(measure="RR", judgments="all", width=3.3)
    rows = FOUND.table.query("judgments == 'all' and measure == 'RR'")
    shown = lines(ax)
    assert list(shown) == ["5", "15", "25", "40"]
    for size, line in shown.items():
        mine = rows[(rows["size"] == int(size)) & rows["rate"].notna()]
        assert np.array_equal(line.get_xdata(), mine["at_least"])
        assert np.array_equal(line.get_ydata(), mine["rate"])
    assert ax.get_ylim()[0] == 0
    assert [line.get_ydata()[0] for line in ax.get_lines() if len(line.get_xdata()) == 2] == [0.05]


# the figures of pools of one type: what stands in the axes


@pytest.fixture(scope="module")
def typed():
    field = ptr.demo.simulate_field(seed=5, n_topics=8, n_docs=150, n_teams=9, length=20, depth=5)
    return ptr.by_type(field.runs, field.qrels, ["AP", "nDCG@5"], unit="run", splits=4, depth=5, contributors="all")


def test_actual_against_estimated_scores(typed):
    ax, rows = typed.plot("nDCG@5", pool="neural"), typed.scores("neural", measure="nDCG@5")
    field = looks(rows["type"])
    assert len(ax.collections) == len(field) == 3
    for points, (kind, look) in zip(ax.collections, field.items(), strict=True):
        np.testing.assert_array_equal(points.get_offsets(), rows.loc[rows["type"] == kind, ["score", "estimated"]])
        assert tuple(points.get_facecolor()[0]) == to_rgba(look.colour)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(field)
    (line,) = ax.get_lines()
    assert line.get_slope() == 1
    assert ax.get_xlim() == ax.get_ylim()
    # how it ranks each group stands in the title, with tau as mathematics
    numbers = typed.table[(typed.table["measure"] == "nDCG@5") & (typed.table["pool"] == "neural")]
    title = " ".join(ax.get_title().split())
    for group, tau in zip(numbers["tested"], numbers["tau_b"], strict=True):
        assert f"{group} {of_tau(tau)}".replace("tau_b", "$\\tau_b$") in title
    assert "$$" not in title


def test_a_cell_for_each_pool_and_tested_group(typed):
    ax = typed.plot("nDCG@5", kind="tau_b")
    rows = typed.table[typed.table["measure"] == "nDCG@5"]
    (image,) = ax.get_images()
    names = [[label.get_text() for label in labels] for labels in (ax.get_yticklabels(), ax.get_xticklabels())]
    wide = rows.pivot_table("tau_b", "pool", "tested").loc[names[0], names[1]]
    np.testing.assert_allclose(image.get_array().filled(np.nan), wide)
    assert len(ax.texts) == rows["tau_b"].notna().sum()
