"""The scale of a judge's labels: one rule, and the same ways to say what they mean, in every study with a judge."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.judging.judges import as_judges, compared_labels

FIELD = ptr.simulate_field(seed=7, n_topics=8, n_teams=4)
RUNS, PEOPLE = FIELD.runs, ptr.Qrels(FIELD.qrels.to_frame(), rel=2)
FRAME = PEOPLE.to_frame()[["qid", "docno", "label"]]
#: people's label -> that of a judge from 0 to 5
WIDE = {0: 1, 1: 3, 2: 4, 3: 5}
JUDGE = FRAME.assign(label=FRAME["label"].map(WIDE))
BACK = {0: 0, 2: 0} | {theirs: mine for mine, theirs in WIDE.items()}
TOPICS = pd.DataFrame({"qid": PEOPLE.topics, "query": "words"})
SOME = {name: RUNS[name] for name in RUNS.names[:3]}

STUDIES = {
    "audit_labels": lambda judge, **o: ptr.audit_labels(RUNS, PEOPLE, judge, "P(rel=2)@5", resamples=0, **o).table,
    "compare_labels": lambda judge, **o: ptr.labels.compare_labels(PEOPLE, judge, resamples=0, **o).table,
    "compare_judgments": lambda judge, **o: ptr.compare_judgments(RUNS, PEOPLE, judge, "P(rel=2)@5", **o).table,
    "leave_out_uniques": lambda judge, **o: ptr.leave_out_uniques(
        RUNS, PEOPLE, "nDCG@5", depth=10, fill=judge, **o
    ).filled,
    "circularity": lambda judge, **o: ptr.labels.circularity(
        RUNS, PEOPLE, judge, "P(rel=2)@5", depth=5, resamples=0, **o
    ).table,
    "significance_fidelity": lambda judge, **o: ptr.labels.significance_fidelity(
        RUNS, PEOPLE, judge, "P(rel=2)@5", resamples=0, **o
    ).table,
    "family_effect": lambda judge, **o: ptr.labels.family_effect(
        RUNS.with_metadata(metadata=RUNS.run_table[["name"]].assign(family=list("ab" * len(RUNS))[: len(RUNS)])),
        PEOPLE, judge, "P(rel=2)@5", families={"judge": "a"}, resamples=0, **o,
    ).table,
    "prediction_powered": lambda judge, **o: ptr.labels.prediction_powered(
        RUNS, PEOPLE.select(PEOPLE.topics[:5]), judge, "P(rel=2)@5", **o
    ).table,
    "Experiment": lambda judge, **o: ptr.Experiment(
        SOME, TOPICS, PEOPLE, ["nDCG@5"], fill=judge, reuse=["filled"], rel=2, **o
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
@pytest.mark.parametrize("study", STUDIES)
def test_labels_beyond_those_of_people_are_refused_until_somebody_says_what_they_mean(study):
    call = STUDIES[study]
    with pytest.raises(ptr.InputError) as error:
        call(JUDGE)
    assert error.value.argument == "judge_rel"
    # a judge of whom nothing is known but its answers is no exception; what systems found is not lost by it
    known = dict(zip(zip(JUDGE["qid"], JUDGE["docno"], strict=True), JUDGE["label"], strict=True))

    def asked(pairs):
        return [known.get(pair) for pair in zip(pairs["qid"], pairs["docno"], strict=True)]

    if study not in ("prediction_powered", "compare_judgments", "Experiment", "family_effect"):
        with pytest.raises(ptr.InputError) as error:
            call(asked)
        assert error.value.argument == "judge_rel"
    # both ways to say it bring back what people said, where a measure asks for relevant or not
    people, mapped = call(FRAME), call(JUDGE, judge_rel=BACK)
    pd.testing.assert_frame_equal(mapped, people)
    if study not in ("leave_out_uniques", "Experiment", "compare_labels"):
        pd.testing.assert_frame_equal(call(JUDGE, judge_rel=4), people, check_dtype=False)


def test_one_rule_says_what_is_relevant():
    def lowest(labels, **options):
        (judge,) = as_judges(FRAME.assign(label=labels), **options)
        return compared_labels(PEOPLE, judge).judge_rel

    binary = (FRAME["label"] > 0).astype(int)
    assert lowest(binary) == 1
    assert lowest(binary, rel=2) == 2
    assert lowest(FRAME["label"]) == lowest(FRAME["label"].clip(upper=2)) == 2
    assert lowest(JUDGE["label"], rel=4) == 4
    assert lowest(JUDGE["label"], rel={"judge": 4}) == 4
    assert lowest(JUDGE["label"], rel=BACK) == lowest(JUDGE["label"], rel={"judge": BACK}) == 2
    (said,) = as_judges(ptr.Qrels(JUDGE, rel=5))
    assert compared_labels(PEOPLE, said).judge_rel == 5
    # all labels that are known count, not those alone of the documents in question
    few = PEOPLE.restrict(JUDGE[JUDGE["label"] <= 3])
    with pytest.raises(ptr.InputError):
        compared_labels(few, as_judges(JUDGE)[0])


@pytest.mark.parametrize("wrong", [{}, {4: "2"}, {4.0: 2}, {4: 2.5}, {True: 1}, {4: 99999}, {"other": 4}, {4: 2}])
def test_what_says_nothing_of_the_labels_is_refused(wrong):
    with pytest.raises(ptr.InputError) as error:
        ptr.labels.compare_labels(PEOPLE, JUDGE, judge_rel=wrong)
    assert error.value.argument == "judge_rel"
