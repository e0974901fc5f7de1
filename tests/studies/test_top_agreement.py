"""How many of the best systems two sets of judgments have in common, against sets of names."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from command_parts import run
from relevant_parts import as_qrels, as_runs, simulated
from small_field import write_field

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import drawn_counts

FIELD = simulated(n_topics=8, depth=6)
FEWER = FIELD.qrels.select(FIELD.qrels.topics[1:]).sample(0.5, seed=2)


def by_topic(qrels, topics, measure):
    """Return run -> its score on each topic, by ir_measures."""
    frame = qrels.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    rows = FIELD.runs.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id"})
    scores = {name: dict.fromkeys(topics, 0.0) for name in FIELD.runs.names}
    for name, mine in rows.groupby("name"):
        for metric in ir_measures.iter_calc([measure], frame, mine):
            if metric.query_id in topics:
                scores[name][metric.query_id] = metric.value
    return scores


def best(scores, drawn, top):
    means = {name: round(float(np.mean([of_topic[q] for q in drawn])), 12) for name, of_topic in scores.items()}
    border = sorted(means.values(), reverse=True)[min(top, len(means)) - 1]
    return {name for name, mean in means.items() if mean >= border}


@pytest.mark.parametrize("top", [1, 3, 100])
@pytest.mark.parametrize("measure", ["AP", "P@5"])
def test_against_sets(measure, top):
    topics = [q for q in FIELD.qrels.topics if q in set(FEWER.topics)]
    assert len(topics) < len(FIELD.qrels.topics)
    both = [by_topic(qrels, topics, ir_measures.parse_measure(measure)) for qrels in (FIELD.qrels, FEWER)]
    first, other = (best(scores, topics, top) for scores in both)
    found = ptr.profile.top_agreement(FIELD.runs, FIELD.qrels, FEWER, measure, top=top, resamples=30, seed=5)
    row = found.table.iloc[0]
    assert row[["best", "other_best", "shared"]].tolist() == [len(first), len(other), len(first & other)]
    assert row["overlap"] == len(first & other) / max(len(first), len(other))
    draws = []
    for counts in np.concatenate(list(drawn_counts(len(topics), resamples=30, seed=5))):
        a, b = (best(scores, np.repeat(topics, counts), top) for scores in both)
        draws.append(len(a & b) / max(len(a), len(b)))
    low, high = np.percentile(draws, [2.5, 97.5])
    reach = max(row["overlap"] - low, high - row["overlap"], 0)
    expected = max(0, row["overlap"] - reach), min(1, row["overlap"] + reach)
    assert row[["overlap_low", "overlap_high"]].tolist() == pytest.approx(expected)


def test_systems_that_tie_with_the_last_are_among_the_best():
    runs = as_runs({name: {"1": ["a", "b"]} for name in "AB"} | {"C": {"1": ["b"]}})
    qrels, other = as_qrels({"1": {"a": 1, "b": 0}}), as_qrels({"1": {"a": 0, "b": 1}})
    row = ptr.profile.top_agreement(runs, qrels, other, "P@1", top=1).table.iloc[0]
    assert row.tolist() == ["P@1", 2, 1, 0, 0.0]


def test_what_cannot_be_compared():
    with pytest.raises(ptr.InputError) as caught:
        ptr.profile.top_agreement(FIELD.runs, FIELD.qrels, as_qrels({"of another track": {"a": 1}}))
    assert caught.value.argument == "other"
    with pytest.raises(ptr.InputError) as caught:
        ptr.profile.top_agreement(None, None, None, top=0)
    assert caught.value.argument == "top"


def test_command(tmp_path, capsys):
    folder = write_field(tmp_path / "field")
    options = ("--qrels", folder / "qrels.txt", "--other", folder / "other.qrels", "--resamples", 20, "--top", 5)
    status, out, err = run(
        capsys, "profile top-agreement", "--runs", folder / "runs", *options, "--out", tmp_path / "out"
    )
    assert (status, err) == (0, "")
    kept = ptr.read_result(tmp_path / "out")
    expected = ptr.profile.top_agreement(
        folder / "runs", folder / "qrels.txt", folder / "other.qrels", top=5, resamples=20
    )
    assert kept.table.equals(expected.table)
    assert "Interval" in out
    assert (tmp_path / "out" / "top-agreement-AP.png").exists()
    assert run(capsys, "profile top-agreement", "--runs", folder / "runs", "--qrels", folder / "qrels.txt")[0] == 2
    missing = run(
        capsys, "profile top-agreement", "--runs", folder / "runs", *options[:2], "--other", tmp_path / "none"
    )
    assert missing[0] == 2
    assert str(tmp_path / "none") in missing[2].replace("\n", "")
