"""`pt-reuse audit`, compared with the library."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr
from pt_reuse.cli import audit as command
from pt_reuse.cli.audit import PARTS
from pt_reuse.cli.output import draw

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
#: the pictures of each part that are of a measure
PICTURES = {
    "rankings": ["agreement", "scores-lax", "scores-strict", "ranks-lax", "ranks-strict"],
    "leaderboards": ["agreement"],
    "families": ["map", "forest"],
    "significance": ["counts", "pairs-lax", "pairs-strict"],
    "circularity": ["gains", "runs-lax", "runs-strict"],
    "holes": ["fill-lax", "fill-strict"],
}
DRAWN = {"resamples": 6, "seed": 3}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Return a folder with runs, judgments by people, and judges with labels, leaderboards or both."""
    folder = tmp_path_factory.mktemp("audit")
    field = ptr.demo.simulate_field(seed=3, n_topics=6, n_docs=150, n_teams=4, length=20, depth=5)
    field.runs.write(folder / "runs")
    field.qrels.write(folder / "people.qrels")
    table = field.runs.run_table.assign(family=lambda f: f["type"].map({"lexical": "old"}).fillna("gpt"))
    table.to_csv(folder / "runs.csv", index=False)
    (folder / "judges").mkdir()
    (folder / "others").mkdir()
    for name, share, place in (("lax", 0.3, "judges"), ("strict", 0.1, "judges"), ("ann", 0.2, "others")):
        judge = ptr.judging.Noisy(field.qrels, ptr.judging.flips(share, range(4)), seed=len(name))
        found = judge(field.qrels.to_frame()[["qid", "docno"]])[["qid", "docno", "label"]]
        ptr.Qrels(found).write(folder / place / f"{name}.qrels")
    ptr.score(field.runs, field.all_qrels, ["AP", "P@5"]).write_leaderboard(folder / "judges" / "lax.eval.txt", "tot")
    (folder / "judges" / "judges.csv").write_text("name,family,rel\nlax,gpt,2\nstrict,,1\n")
    (folder / "judges" / ".hidden").write_text("x")
    return folder


@pytest.fixture(autouse=True)
def pictures(monkeypatch):
    """Return the drawings of each kind of result; nothing is drawn, which takes long."""
    asked = {}

    def ask(result, drawings):
        asked[type(result)] = drawings
        return {}

    monkeypatch.setattr(command, "draw", ask)
    return asked


def words(given, *more):
    field = ["--runs", given / "runs", "--metadata", given / "runs.csv", "--human", given / "people.qrels"]
    rest = ["--judges", given / "judges", "--depth", 5, "--resamples", 6, "--seed", 3, "--measures", "nDCG@10"]
    return ["audit", *field, *rest, *more]


@pytest.fixture(scope="module")
def expected(given):
    """Return what the library says: part -> result."""
    runs = ptr.read_runs(given / "runs", metadata=given / "runs.csv")
    human, judges = ptr.read_qrels(given / "people.qrels"), ptr.judging.read_judges(given / "judges")
    people = {"ann": given / "others" / "ann.qrels"}
    labels, families = dict(judges.labels), {"lax": "gpt"}
    both = {"families": families, **DRAWN}
    return {
        "rankings": ptr.audit_labels(runs, human, labels, "nDCG@10", people=people, by="family", **both),
        "leaderboards": ptr.labels.compare_leaderboards(
            ptr.score(runs, human, "nDCG@10"), dict(judges.leaderboards), families=families, **DRAWN
        ),
        "families": ptr.labels.family_effect(runs, human, labels, "nDCG@10", **both),
        "significance": ptr.labels.significance_fidelity(runs, human, labels, "nDCG@10", **both),
        "circularity": ptr.labels.circularity(runs, human, labels, "nDCG@10", **both),
        "holes": ptr.leave_out_uniques(runs, human, "nDCG@10", depth=5, fill=labels, **DRAWN),
    }


def test_every_part_is_the_librarys(given, expected, pictures, tmp_path, capsys):
    out = tmp_path / "out"
    more = ["--people", given / "others", "--by", "family", "--out", out]
    status, printed, err = run(capsys, *words(given, *more))
    assert (status, err) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == sorted([*expected, "findings.md"])
    text = (out / "findings.md").read_text()
    for part in PARTS:
        result = expected[part.name]
        saved = ptr.read_result(out / part.name)
        for name, table in result.tables().items():
            pd.testing.assert_frame_equal(saved.tables()[name], table, obj=f"{part.name}, {name}")
        assert all(f"- {line}\n" in text for line in result.answers())
        assert all(line in printed for line in result.answers()[:2])
        assert list(pictures[type(result)]) == [f"{name}-nDCG@10.png" for name in PICTURES[part.name]]
        # one of each kind: that they can be drawn at all
        (drawn,) = draw(result, dict(list(pictures[type(result)].items())[-1:])).values()
        assert drawn.startswith(b"\x89PNG")
    assert "What is not answered" not in text
    settings = json.loads((out / "holes" / "settings.json").read_text())
    assert f"- contributors: {settings['contributors']}\n" in text


@pytest.mark.filterwarnings("ignore:.*runs without a team:pt_reuse.ReuseWarning")
@pytest.mark.filterwarnings("ignore:.*who was pooled is not on record:pt_reuse.ReuseWarning")
def test_parts_that_are_chosen_and_what_is_not_answered(given, tmp_path, capsys):
    field = [
        "audit",
        "--runs",
        given / "runs",
        "--human",
        given / "people.qrels",
        "--judges",
        given / "judges" / "lax.qrels",
        "--judge-rel",
        1,
    ]
    more = ["--measures", "AP", "--resamples", 0, "--parts", "holes,rankings,families,leaderboards", "--out", tmp_path]
    status, out, err = run(capsys, *field, *more)
    assert (status, err) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["findings.md", "holes", "rankings"]
    text = (tmp_path / "findings.md").read_text()
    unanswered = text.partition("## What is not answered\n\n")[2].splitlines()[:2]
    whys = [line.partition("Not computed: ")[2] for line in unanswered]
    assert ["leaderboard" in whys[0], "families" in whys[1]] == [True, True]
    assert all(f"Not computed: {why}\n" in out for why in whys)
    assert "circularity" not in text


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_a_part_that_cannot_be_computed_leaves_the_others(given, tmp_path, capsys):
    # two judges that labelled other topics: no common topic to re-rank on
    labels = ptr.read_qrels(given / "judges" / "lax.qrels")
    (tmp_path / "judges").mkdir()
    for name, topics in (("one", labels.topics[:3]), ("two", labels.topics[3:])):
        labels.select(topics).write(tmp_path / "judges" / f"{name}.qrels")
    given_words = words(given, "--parts", "circularity,rankings", "--judge-rel", 1, "--out", tmp_path / "out")
    given_words[given_words.index("--judges") + 1] = tmp_path / "judges"
    status, out, err = run(capsys, *given_words)
    assert status == 0
    assert "the judge labelled nothing in 3 topics" in err
    assert "- What do runs gain" in out.partition("Not computed: ")[2]
    assert set(ptr.read_result(tmp_path / "out" / "rankings").table["judge"]) == {"one", "two"}
    assert not (tmp_path / "out" / "circularity").exists()


def test_leaderboards_alone(given, tmp_path, capsys):
    people = ptr.score(ptr.read_runs(given / "runs"), given / "people.qrels", ["AP"])
    file = people.write_leaderboard(tmp_path / "people.eval.txt")
    status, out, err = run(
        capsys, "audit", "--scores", file, "--judges", given / "judges" / "lax.eval.txt", "--out", tmp_path / "out"
    )
    assert (status, err) == (0, "")
    found = ptr.labels.compare_leaderboards(people, {"lax": given / "judges" / "lax.eval.txt"})
    assert all(line in out for line in found.answers()[:2])
    saved = ptr.read_result(tmp_path / "out" / "leaderboards")
    pd.testing.assert_frame_equal(saved.table, found.table)
    assert "- Scores by people: " in (tmp_path / "out" / "findings.md").read_text()
    assert "Not computed: it takes runs and judgments (--runs, --human)" in out


def test_what_is_relevant_and_who_is_of_which_family(given, tmp_path, capsys):
    (tmp_path / "families.csv").write_text("name;family\nstrict;old\n")
    more = ["--rel", 2, "--judge-rel", "lax=3,strict=1", "--families", tmp_path / "families.csv", "--parts", "rankings"]
    assert run(capsys, *words(given, *more, "--by", "type", "--out", tmp_path / "out"))[0] == 0
    saved = ptr.read_result(tmp_path / "out" / "rankings")
    runs = ptr.read_runs(given / "runs", metadata=given / "runs.csv")
    human = ptr.read_qrels(given / "people.qrels", rel=2)
    labels = {name: given / "judges" / f"{name}.qrels" for name in ("lax", "strict")}
    expected = ptr.audit_labels(
        runs,
        human,
        labels,
        "nDCG@10",
        by="type",
        families={"strict": "old"},
        judge_rel={"lax": 3, "strict": 1},
        **DRAWN,
    )
    pd.testing.assert_frame_equal(saved.table, expected.table)
    assert set(saved.table["family"].dropna()) == {"old"}


def test_what_is_refused_before_anything_is_computed(given, tmp_path, capsys, messages):
    for more in (
        ["--judge-rel", "lax=2,lax=1"],
        ["--out", given / "judges"],
        ["--people", given / "others", "--out", given / "others"],
    ):
        status, out, err = run(capsys, *words(given, *more))
        assert (status, out) == (2, "")
        messages.told(err.replace(str(given), "GIVEN"))
    status, _, err = run(
        capsys, *[word for word in words(given, "--by", "type") if word not in ("--metadata", given / "runs.csv")]
    )
    assert status == 2
    messages.told(err)
    assert sorted(path.name for path in (given / "others").iterdir()) == ["ann.qrels"]
