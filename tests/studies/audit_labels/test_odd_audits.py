"""Odd input of an audit: answered or refused in plain words, and checked before a judge is asked."""

from __future__ import annotations

import pytest
from audit_parts import FIELD, HUMAN, RUNS, TOPICS, as_frame, relabelled

import pt_reuse as ptr
from pt_reuse.scoring.caveats import CaveatWarning

JUDGE = as_frame(relabelled(1))
#: a run of another topic beside one of these
FAR = {
    RUNS.names[0]: RUNS[RUNS.names[0]],
    "far": RUNS[RUNS.names[1]].loc[lambda frame: frame["qid"] == TOPICS[0]].assign(qid="99"),
}


def audited(runs=RUNS, human=FIELD.qrels, judge=JUDGE, measures="P@5", **options):
    return ptr.audit_labels(runs, human, judge, measures, **{"resamples": 0, **options})


def ranked(found):
    """Return the sentences about rankings."""
    of_labels = found.labels.findings()
    return [sentence for sentence in found.findings() if sentence not in of_labels]


def must_not_be_asked(pairs):
    raise AssertionError("the arguments were to be judged before")


FAULTS = {
    "measure": {"measures": "Foo@3"},
    "by": {"by": "name"},
    "best": {"best": 0},
    "missing": {"missing": "skip"},
    "resamples": {"resamples": -1},
    "confidence": {"confidence": 95},
    "seed": {"seed": 1.5},
    "complete": {"complete": "yes"},
    "without_topics": {"without_topics": "skip"},
    "verbose": {"verbose": "no"},
    "rel": {"rel": 0},
    "judge_rel": {"judge_rel": 0},
    "judge_rel of nobody": {"judge_rel": {"x": 1}},
    "families": {"families": {"x": "gpt"}},
    "people": {"people": {}},
    "no judge": {"judge": {}},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_arguments_are_judged_before_runs_and_judgments_are_read_and_a_judge_is_asked(fault, tmp_path, messages):
    unread = {"runs": tmp_path / "runs", "human": tmp_path / "qrels", "judge": {"model": must_not_be_asked}}
    argument = {"measure": "measures", "no judge": "judge"}.get(fault, fault.partition(" ")[0])
    messages.refused(lambda: audited(**{**unread, **FAULTS[fault]}), argument=argument)


@pytest.mark.parametrize("fault", ["one run", "types", "nobody judged", "no topic"])
def test_a_field_that_cannot_be_ranked_is_refused_before_a_judge_is_asked(fault, messages):
    bare = ptr.RunSet.from_frames({name: RUNS[name] for name in RUNS.names})
    none = {"human": as_frame({pair: -1 for pair in HUMAN})}
    given, argument = {
        "one run": ({"runs": RUNS.select(RUNS.names[0])}, "runs"),
        "types": ({"runs": bare, "by": "type"}, "by"),
        "nobody judged": (none, "human"),
        "no topic": ({"runs": FAR}, "runs"),
    }[fault]
    messages.refused(lambda: audited(judge=must_not_be_asked, **given), argument=argument)


def test_a_run_without_a_topic_of_the_judge_is_refused_with_the_name_of_the_judge(messages):
    frames = {name: RUNS[name] for name in RUNS.names[:3]}
    frames[RUNS.names[0]] = frames[RUNS.names[0]][frames[RUNS.names[0]]["qid"].isin(TOPICS[5:])]
    some = as_frame(relabelled(1, topics=TOPICS[:5]))
    with pytest.warns(ptr.ReuseWarning, match="the judge labelled nothing in 2 topics"):
        messages.refused(lambda: audited(frames, judge={"some": some}), argument="runs", place="some")


@pytest.mark.filterwarnings(
    "ignore:audit_labels. (all runs tie|people call no document relevant):pt_reuse.ReuseWarning"
)
def test_where_nothing_is_relevant_to_people_or_to_the_judge_one_divisor_serves_both():
    nothing = as_frame(dict.fromkeys(HUMAN, 0))
    for human, judge in ((nothing, FIELD.qrels), (FIELD.qrels, nothing)):
        moved = audited(human=human, judge=judge, measures="nDCG@5", judge_rel=1).movers
        assert moved["by_documents"].to_numpy() == pytest.approx(moved["relative"].to_numpy(), abs=1e-12)
        assert moved["relative"].abs().max() > 0.01


@pytest.mark.filterwarnings("ignore:audit_labels. all runs tie:pt_reuse.ReuseWarning")
def test_runs_that_all_tie_have_no_ranking_and_a_warning_says_so():
    nothing = as_frame(dict.fromkeys(HUMAN, 0))
    found = audited(judge={"none": nothing})
    assert found.table["tau_b"].isna().all()
    assert not [sentence for sentence in ranked(found) if " gains most" in sentence], "where all tie none moves"
    # those with the worst score of people lose none of the ranks that all share
    assert (found.movers["judge_rank"] == 1).all()


def test_one_topic_has_no_intervals():
    with pytest.warns(CaveatWarning, match="there are 1 topic only|there is 1 topic only"):
        found = audited(human=FIELD.qrels.select(TOPICS[:1]), measures="nDCG@5", resamples=20)
    ends = [name for name in found.table if name.endswith(("_low", "_high"))]
    assert len(ends) == 12
    assert found.table[ends].isna().all(axis=None)
    assert found.movers[["rise_low", "rise_high"]].isna().all(axis=None)
    assert "to" not in ranked(found)[0].split("tau_b")[1].split(" to the ranking")[0]


def test_best_of_all_runs_is_no_part_of_its_own_and_ties_belong_to_it():
    assert audited(best=len(RUNS)).table["part"].tolist() == ["all"]
    three = {f"{name} {copy}": RUNS[name] for name in RUNS.names[:3] for copy in "ab"}
    found = audited(three, best=1).table
    assert found.loc[found["by"] == "best", "runs"].tolist() == [2]
