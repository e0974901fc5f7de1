"""What is wrong, and what is little: refused in plain words, or answered with a warning, before work starts."""

from __future__ import annotations

import few_label_parts as parts
import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.scoring.caveats import told_elsewhere


def called(*, runs=None, human=None, judge=None, measures="P@5", **options):
    return ptr.labels.prediction_powered(
        parts.field().runs if runs is None else runs,
        parts.people() if human is None else human,
        parts.judge() if judge is None else judge,
        measures,
        **options,
    )


def sampled(**options):
    return called(
        human=parts.sample() if "human" not in options else options.pop("human"), level="documents", **options
    )


def test_arguments_are_checked_before_runs_are_read_and_the_judge_is_asked(messages, tmp_path):
    missing, asked = tmp_path / "nowhere", []

    def model(frame):
        asked.append(len(frame))
        return [0] * len(frame)

    for argument, options in {
        "level": {"level": "topic"},
        "lam": {"lam": 1.5},
        "variance": {"variance": "n - 2"},
        "confidence": {"confidence": 95},
        "correction": {"correction": "tukey"},
        "measures": {"measures": "nDCK"},
        "complete": {"complete": "no"},
        "without_topics": {"without_topics": "ignore"},
        "rel": {"rel": 0},
        "judge_rel": {"judge_rel": {"x": 1}},
        "families": {"families": ["gpt"]},
        "pool": {"judge": model},
    }.items():
        messages.refused(lambda o=options: called(runs=missing, **o), argument=argument)
    messages.refused(lambda: called(runs=missing, judge=model, pool=7), argument="pool")
    messages.refused(lambda: called(runs=missing, judge=model, pool=pd.DataFrame({"qid": ["1"]})))
    assert asked == []


def test_measures_that_are_no_sums_are_refused_by_documents(messages):
    for measure in ("nDCG@10", "AP", "R@10", "RR", "P(judged_only=True)@5", "RBP", "NumRet", "SDCG@10"):
        messages.refused(lambda m=measure: sampled(measures=m, runs="nowhere"), argument="measures")


def test_samples_that_do_not_say_how_they_were_drawn(messages):
    frame = parts.sample().to_frame()
    messages.refused(lambda: sampled(human=parts.people().sample(0.5, seed=1)), argument="human")
    messages.refused(lambda: sampled(human=frame[frame["label"] >= 0]), argument="human")
    messages.refused(lambda: sampled(human=frame.assign(stratum=[None, *frame["stratum"][1:]])), argument="human")
    apart = frame.assign(stratum=np.where(frame["label"] >= 0, "a", "b")).drop(columns="inclusion")
    messages.refused(lambda: sampled(human=apart), argument="human")
    nobody = frame.assign(label=frame["label"].mask(frame["qid"] == "2", -1))
    messages.refused(lambda: sampled(human=nobody), argument="human")
    messages.refused(lambda: called(runs={"x": parts.field().runs["lex1a"]}, human=7), argument="human")
    own = frame[frame["label"] >= 0].drop(columns="stratum")
    messages.refused(lambda: sampled(human=own.assign(inclusion=0.0)), argument="human")
    messages.refused(lambda: sampled(human=own.assign(inclusion=[np.nan, *own["inclusion"][1:]])), argument="human")


def test_topics_that_do_not_suffice(messages):
    field, people = parts.field(), parts.people()
    every = field.all_qrels
    messages.refused(lambda: called(judge=people), argument="judge")
    messages.refused(lambda: called(judge=every.select(every.topics[:25])), argument="judge")
    messages.refused(lambda: called(human=people.select(people.topics[:1])), argument="human")
    messages.refused(lambda: called(human=people.select(people.topics[:2])), argument="human")
    with told_elsewhere():
        for options in ({"lam": 1}, {"variance": "plain"}):
            two = called(human=people.select(people.topics[:2]), **options)
            assert np.isfinite(two.table["estimate_low"]).all()
    messages.refused(lambda: called(judge=every.select(every.topics[24:])), argument="judge")
    strange = every.to_frame().assign(qid=lambda f: "x" + f["qid"])
    messages.refused(lambda: called(judge=pd.concat([people.to_frame(), strange])), argument="judge")
    unjudged = people.to_frame().assign(label=-1)
    messages.refused(lambda: called(human=unjudged), argument="human")


def test_runs_that_lack_topics(messages):
    field, people = parts.field(), parts.people()
    frames = {name: field.runs[name].drop(columns="name") for name in field.runs.names[:2]}
    first = frames[field.runs.names[0]]
    frames[field.runs.names[0]] = first[first["qid"].isin(people.topics)]
    messages.refused(lambda: called(runs=frames), argument="runs")
    zero = called(runs=frames, without_topics="zero").table
    assert zero["estimate"][0] < zero["human"][0]
    frames[field.runs.names[0]] = first[first["qid"] != people.topics[0]]
    messages.refused(lambda: called(runs=frames, complete=False), argument="complete")
    messages.refused(lambda: sampled(runs=frames, complete=False), argument="complete")
    # where no run lacks any there is nothing to refuse
    assert called(complete=False).table["estimate"].tolist() == called().table["estimate"].tolist()


def test_a_topic_of_which_no_document_was_drawn():
    """Where each document was drawn by itself, a topic may have none, and counts by the judge's labels."""
    field, frame = parts.field(), parts.sample().to_frame()
    own = frame[frame["label"] >= 0].drop(columns="stratum")
    topics = field.all_qrels.topics
    options = {"level": "documents", "lam": 1.0, "pool": ptr.depth_pool(field.runs, depth=8)}
    some = ptr.Qrels(own[own["qid"] != "2"], topics=topics)
    found = called(human=some, **options).table["estimate"]
    judged = ptr.score(field.runs, options["pool"].judge(parts.judge()), "P@5").of("P@5")
    full = called(human=own, **options)
    rest = called(human=own[own["qid"] != "2"], **options).table["estimate"]
    assert full.settings["judges"].endswith("60 topics)")
    assert (60 * found).tolist() == pytest.approx((59 * rest + judged.loc["2"].to_numpy()).tolist())


def test_one_topic_of_sampled_documents():
    sample = parts.sample()
    with told_elsewhere():
        found = sampled(human=sample.select(sample.topics[:1]))
    assert found.table["estimate_low"].isna().all()
    assert found.table["sampling_low"].notna().all()
    said = found.findings()
    assert "the P@5 of a run has no interval, which takes two topics" in said[0]
    assert not any("nan" in sentence for sentence in (*said, found.headline(), *found.report().notes))
    assert ", 1 topic)" in found.settings["judges"]
