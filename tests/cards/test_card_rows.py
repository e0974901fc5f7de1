"""Every row of a card is what the public call of its study says, of the same runs, judgments and grade."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyterrier as pt
import pytest
from ir_measures import AP, P, nDCG

import pt_reuse as ptr
from pt_reuse.cards.questions import QUESTIONS
from pt_reuse.scoring.caveats import CaveatWarning

#: studies tell of the data what the card tells in words of its own
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

#: collection of real data, its grades and its runs all pooled -> the file of its judgments
FILES = {"trec-2019/deep/passages": "dl19-passages/qrels.gz"}


@dataclass(frozen=True, eq=False)
class Collection:
    """A card, and the runs and judgments that it is of, by their public names."""

    card: Any
    runs: Any
    qrels: Any
    measures: list[Any]
    how: dict[str, Any]

    @cached_property
    def coverage(self):
        return ptr.profile.coverage(self.runs, self.qrels, self.measures, by="team", depth=self.depth).table

    @cached_property
    def by_team(self):
        return self.left_out("team")

    def left_out(self, by):
        return ptr.leave_out_uniques(self.runs, self.qrels, self.measures, by=by, depth=self.depth, **self.how)

    @cached_property
    def scores(self):
        return ptr.score(self.runs, self.qrels, self.measures)

    @property
    def depth(self):
        return self.runs.pool_depth


@pytest.fixture(scope="module", params=["demo", *FILES])
def collection(request, tmp_path_factory):
    name = request.param
    with pytest.MonkeyPatch.context() as patch:
        if name in FILES:
            data = request.getfixturevalue("data")
            if not (data / FILES[name]).is_file():
                pytest.skip(f"the test data has no file {FILES[name]}")
            home = tmp_path_factory.mktemp("home")
            (home / name).mkdir(parents=True)
            shutil.copyfile(data / FILES[name], home / name / "qrels.txt.gz")
            patch.setenv("PT_REUSE_HOME", str(home))
            patch.setenv("PT_REUSE_DATA", str(data))
        dataset = pt.get_dataset(f"reuse:{name}")
        runs, qrels = dataset.get_runs(), dataset.get_judgments()
        how = {"resamples": 0 if name in FILES else 40, "seed": 0}
        # runs of a large field are read once
        given = (runs, qrels) if name in FILES else (name,)
        card = ptr.report(*given, name=name, **how)
        return Collection(card, runs, qrels, [nDCG @ 10, AP if qrels.rel == 1 else AP(rel=qrels.rel)], how)


def at(table, measure="nDCG@10"):
    (row,) = table[table["measure"] == measure].to_dict("records")[:1]
    return row


def compare(c):
    found = ptr.profile.stability(c.scores, sizes=[len(c.qrels.topics) // 2, len(c.qrels.topics)], **c.how)
    row = at(found.differences_needed().groupby("measure").tail(1))
    return [f"{row['difference']:.2g}", f"{row['share']:.0%}"]


def top(c):
    row = at(ptr.rank_intervals(c.scores).summary())
    return [row["candidates"], row["systems"]]


def bounds(c):
    said = []
    for further in (0, 3):
        found = ptr.profile.bounds(c.runs, c.qrels, [nDCG @ 10], further=further)
        row = at(found.summary)
        said.append((row["holds"], row["pairs"], f"{row['holds'] / row['pairs']:.1%}"))
    (holds, pairs, share), (more, _, of_more) = said
    return [holds, pairs, share, more, of_more, 3]


def without_lowest_quarter(by_run):
    rows = by_run[by_run["measure"] == "nDCG@10"].sort_values("score")
    return -rows["change_pct"].iloc[int(np.ceil(0.25 * (len(rows) - 1))) :].min()


def left_out(c, by):
    lou = c.by_team if by == "team" else c.left_out(by)
    row = at(lou.summary)
    drop = lou.by_run[lou.by_run["measure"] == "nDCG@10"]["drop"].max()
    assert drop == row["alone_max_drop"]
    upper = without_lowest_quarter(lou.by_run)
    return [f"{row['own_tau_b']:.3f}", f"{row['largest_loss_pct']:.1f}%", f"{upper:.1f}%", drop]


def teams(c):
    return left_out(c, "team")


def types(c):
    if len(c.runs.types) < 2:
        return None
    covered = ptr.profile.coverage(c.runs, c.qrels, c.measures, depths=10, by="type", depth=c.depth).groups
    judged = 1 - covered[covered["by"] == "type"]["unjudged_without_own"].max()
    return [*left_out(c, "type"), *([] if np.isnan(judged) else [f"{judged:.0%}", 10])]


def unpooled(c):
    table = c.coverage
    rows = table[(table["depth"] == 10) & (table["pooled"] == False)]  # noqa: E712
    return None if rows.empty else [f"{rows['unjudged'].mean():.1%}", 10]


def deep(c):
    table = c.coverage
    return [f"{table[table['depth'] == 100]['judged'].mean():.1%}", 100]


def density(c):
    row = ptr.profile.density(c.qrels).summary.iloc[-1]
    return ["1/3", row["above_third"], row["topics"]]


def room(c):
    row = at(ptr.profile.saturation(c.scores).summary)
    return [row["near"], row["topics"]]


def pool(c):
    row = ptr.infer_pool(c.runs, c.qrels).summary.iloc[0]
    return [f"{row['explained']:.0f}", f"{row['judged']:.0f}", f"{row['explained'] / row['judged']:.0%}"]


#: the rows of a card in their order, each with the numbers that its public call gives, None where there is no answer
ROWS = (compare, top, bounds, teams, types, unpooled, deep, density, room, pool)
_NUMBER = re.compile(r"1/3|(?<![\w@.])-?\d[\d,]*(?:\.\d+)?%?")


def test_every_row_is_what_its_public_call_says(collection):
    rows = collection.card.questions.to_dict("records")
    assert len(rows) == len(QUESTIONS) == len(ROWS)
    for row, of in zip(rows, ROWS, strict=True):
        wanted = of(collection)
        if wanted is None:
            assert row["answer"] == "cannot be said", row
        else:
            assert sorted(said.replace(",", "") for said in _NUMBER.findall(row["number"])) == sorted(
                str(number) for number in wanted
            ), row


def test_known_judgments_without_their_grade_are_told(collection):
    c, bare = collection, collection.qrels.with_rel(None)
    graded = c.qrels.rel > 1
    for qrels in (bare, bare.to_frame()[["qid", "docno", "label"]]):
        if graded:
            with pytest.warns(CaveatWarning, match="rel=2"):
                card = ptr.report(None, qrels)
            assert "beware" in card.settings
        else:
            card = ptr.report(None, qrels)
            assert "beware" not in card.settings
        assert card.settings["relevant"] == "label of at least 1"
    assert "beware" not in ptr.report(None, bare, rel=1).settings


def test_completions_of_which_measures():
    small = ptr.demo.simulate_field(seed=7, n_topics=6, n_docs=60, length=20, depth=5)
    runs, qrels = small.runs, small.qrels
    # no bounds without a cutoff, and none are said of a main measure that has none
    whole = ptr.report(runs, qrels, [AP], resamples=0)
    assert not {"bounds", "bounds, further documents"} & set(whole.results)
    mixed = ptr.report(runs, qrels, [AP, P @ 10], resamples=0)
    assert mixed.results["bounds"].measures == ["P@10"]
    for card in (whole, mixed):
        rows = card.questions[card.questions["part"].str.startswith("bounds")]
        assert rows["answer"].tolist() == ["cannot be said"]
    assert len(mixed.html) > 10_000


SHARES = [each for question in QUESTIONS for each in question.thresholds if each.of_topics]


@pytest.mark.parametrize("share", SHARES, ids=lambda share: share.name)
def test_a_share_of_topics_can_be_reached_with_as_many_as_there_are(share):
    from scipy.stats import binomtest

    def answer(hits, topics):
        end = binomtest(hits, topics).proportion_ci(method="wilson").high
        return share.at(topics).verdict(hits / topics, end).name

    assert [answer(0, n) for n in (20, 41, 43, 50, 53, 72, 73, 500)] == ["YES"] * 8
    assert [answer(1, n) for n in (41, 50, 72)] == ["CARE"] * 3
    # so few topics say nothing below the second threshold
    assert [answer(0, n) for n in (5, 10)] == ["CARE"] * 2
    assert answer(10, 500) == "YES"
    assert answer(25, 500) == "CARE"
    assert answer(25, 50) == "NO"
