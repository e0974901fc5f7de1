"""The columns of ptr.Experiment: by hand, by brute force, as the studies give them; warnings; the summary."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import ALL, FIELD, LIVE, NAMES, OTHERS, QRELS, SUFFIXES, TOPICS, frames, recorded, retrievers
from ir_measures import AP, RR, Judged, P, nDCG

import pt_reuse as ptr
from pt_reuse.scoring.bounds import score_bounds

#: judgments at random, or systems that are no field
pytestmark = pytest.mark.filterwarnings("ignore:.*without a result for over a tenth")
NOBODYS_POOL = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def as_frame(run):
    """Return the frame of ``{qid: {docno: score}}``."""
    rows = [(qid, docno, score) for qid, documents in run.items() for docno, score in documents.items()]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    return pt.model.add_ranks(frame)


def in_a_field(frame):
    """Return the frame with its columns named as with a field."""
    return frame.rename(columns=lambda column: column.removesuffix(" (no field)"))


# by brute force


def average_precision(documents, relevant, _):
    hits = [rank for rank, docno in enumerate(documents, 1) if docno in relevant]
    return sum(i / rank for i, rank in enumerate(hits, 1)) / len(relevant) if relevant else 0.0


def precision(documents, relevant, cutoff):
    return sum(docno in relevant for docno in documents[:cutoff]) / cutoff


def brute_force(runs, unit_of, pooled, labels, formula, cutoff, depth):
    """Return {(run, topic or None): (score, LOU, rank, LOU rank, unjudged)}; None is the mean."""
    order = {
        name: {q: sorted(found, key=lambda d: (np.float32(found[d]), d), reverse=True) for q, found in run.items()}
        for name, run in runs.items()
    }
    units = sorted(set(unit_of.values()))

    def scores_without(unit):
        scores = {}
        for qid, judged in labels.items():
            finders = {}
            for name in pooled:
                for docno in order[name].get(qid, [])[:depth]:
                    finders.setdefault(docno, set()).add(unit_of[name])
            kept = {docno for docno, label in judged.items() if label > 0 and finders.get(docno) != {unit}}
            for name in runs:
                scores[name, qid] = formula(order[name].get(qid, []), kept, cutoff)
        for name in runs:
            scores[name, None] = sum(scores[name, qid] for qid in labels) / len(labels)
        return scores

    full, reduced = scores_without("nobody"), {unit: scores_without(unit) for unit in units}
    found = {}
    for name, unit in unit_of.items():
        for qid in [*labels, None]:
            own = reduced[unit][name, qid]
            seen = [reduced[unit][other, qid] if unit_of[other] == unit else full[other, qid] for other in runs]
            rank = 1 + sum(full[other, qid] > full[name, qid] + 1e-12 for other in runs)
            top = order[name].get(qid, [])[:cutoff]
            judged = labels.get(qid, {})
            unjudged = sum(judged.get(docno, -1) < 0 for docno in top) / len(top) if top else 1.0
            found[name, qid] = [full[name, qid], own, rank, 1 + sum(score > own + 1e-12 for score in seen), unjudged]
        found[name, None][4] = sum(found[name, qid][4] for qid in labels) / len(labels)
    return found


@NOBODYS_POOL
@pytest.mark.parametrize(
    ("seed", "with_field", "by"),
    [(0, True, "team"), (1, True, "run"), (2, True, "type"), (3, False, "team"), (4, False, "run")],
)
def test_by_brute_force(seed, with_field, by):
    chance = random.Random(seed)
    names, others, topics = ["A", "B", "C"], ["r1", "r2", "r3", "r4"] if with_field else [], ["1", "2", "3", "4"]
    runs, labels = {}, {}
    for name in names + others:
        has = [qid for qid in topics if chance.random() < 0.85] or ["1"]
        runs[name] = {
            qid: {
                f"d{d:02}": chance.choice([chance.random(), 0.5])
                for d in chance.sample(range(30), chance.randint(1, 12))
            }
            for qid in has
        }
    for qid in topics:
        labels[qid] = {f"d{d:02}": chance.choice([-1, 0, 1, 1, 2]) for d in chance.sample(range(30), 20)}
    teams = {name: chance.choice("xyz") for name in names + others}
    types = {name: chance.choice("mn") for name in names + others}
    pooled = {name: name == "A" or chance.random() < 0.8 for name in names + others}
    given = {"teams": teams, "types": types, "pooled": pooled}

    def part(which):
        return {key: {name: values[name] for name in which} for key, values in given.items()}

    field = ptr.RunSet.from_frames({name: as_frame(runs[name]) for name in others}, **part(others)) if others else None
    unit_of = {"team": teams, "type": types, "run": {name: name for name in runs}}[by]
    unit_of = {name: unit_of[name] for name in runs}
    rows = [(qid, docno, label) for qid, judged in labels.items() for docno, label in judged.items()]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    averages, per_topic = ptr.Experiment(
        {name: as_frame(runs[name]) for name in names},
        pd.DataFrame({"qid": topics, "query": "q"}),
        qrels,
        [AP, P @ 3],
        field=field,
        by=by,
        depth=4,
        perquery="both",
        reuse=ALL,
        **part(names),
    )
    averages, per_topic = in_a_field(averages), in_a_field(per_topic)
    assert averages["pooled"].tolist() == [pooled[name] for name in averages["name"]]
    assert per_topic["pooled"].tolist() == [pooled[name] for name in per_topic["name"]]
    averages, per_topic = averages.set_index("name"), per_topic.set_index(["name", "qid", "measure"])
    contributing = [name for name in runs if pooled[name]]
    for measure, formula, cutoff in (("AP", average_precision, None), ("P@3", precision, 3)):
        expected = brute_force(runs, unit_of, contributing, labels, formula, cutoff, 4)
        for (name, qid), (full, lou, rank, lou_rank, unjudged) in expected.items():
            if name in others:
                continue
            change = 100 * (lou - full) / full if full else np.nan
            values = [full, lou, change, rank, lou_rank, lou_rank - rank, unjudged]
            if qid is None:
                found = averages.loc[name, [measure, *(f"{measure} {suffix}" for suffix in SUFFIXES)]]
            else:
                found = per_topic.loc[(name, qid, measure), ["value", *SUFFIXES]]
            assert found.tolist() == pytest.approx(values, nan_ok=True), (name, qid, measure)


# as the studies give them


KINDS = {"lou": SUFFIXES[:2], "rank": SUFFIXES[2:3], "unjudged": SUFFIXES[5:], "bounds": LIVE[2:]}


@pytest.mark.parametrize(
    "reuse",
    ["unjudged", ["rank", "lou"], ["bounds", "lou"]],
)
def test_reuse_chooses_columns(reuse):
    given = {"field": OTHERS, "perquery": "both", "depth": 8}
    every = ptr.Experiment(frames(), TOPICS, QRELS, [AP, P @ 5], **given, reuse=KINDS)
    some = ptr.Experiment(frames(), TOPICS, QRELS, [AP, P @ 5], **given, reuse=reuse)
    kinds = [reuse] if isinstance(reuse, str) else reuse
    wanted = {suffix for kind in kinds for suffix in KINDS[kind]}
    wanted |= {"LOU rank", "drop"} if {"lou", "rank"} <= set(kinds) else set()
    suffixes = [suffix for suffix in (*SUFFIXES, *LIVE[2:]) if suffix in wanted]
    once = ["pooled"] if "lou" in kinds else []
    averages = list(pt.Experiment(frames(), TOPICS, QRELS, [AP, P @ 5]))
    averages += [f"{measure} {suffix}" for measure in ("AP", "P@5") for suffix in suffixes]
    pd.testing.assert_frame_equal(some[0], every[0][averages + once])
    pd.testing.assert_frame_equal(some[1], every[1][["name", "qid", "measure", "value", *suffixes, *once]])


def tied():
    # d2 and d1 tie: pytrec_eval takes the later name first, the provider of RR@k the earlier one
    topics = pd.DataFrame({"qid": ["1", "2"], "query": "q"})
    a = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d1", "d2", "d3"], "score": [1.0, 1.0, 1.0], "rank": [0, 1, 0]})
    qrels = pd.DataFrame({"qid": ["1", "2", "2"], "docno": ["d1", "d3", "d4"], "label": [1, 1, 0]})
    return {"A": a, "B": a[2:]}, topics, qrels


def test_ties_that_providers_break_another_way(messages):
    _, _, warned = recorded(ptr.Experiment, *tied(), [RR @ 10, RR, AP])
    # B lacks a topic of two, and the tie changes means
    assert len(warned) == 3
    for one in warned[1:]:
        messages.told(one)


# the columns of the lowest and the highest score, in every form of a result


@pytest.mark.parametrize("more", [{"round": 2}, {"layout": "long", "field": OTHERS}], ids=str)
def test_low_and_high_stand_beside_each_score(more):
    metrics = ["map", P @ 5, nDCG @ 5, RR, Judged @ 5, "num_rel_ret"]
    given = {"reuse": ["rank", "bounds"], **more}
    result = ptr.Experiment(retrievers(), TOPICS, QRELS, metrics, **given)
    runs = ptr.RunSet.from_frames(frames(), order="trec_eval9")
    found = score_bounds(runs, FIELD.qrels, [AP, P @ 5, nDCG @ 5, RR])
    for m, name in enumerate(["map", "P@5", "nDCG@5", "RR"]):
        for r, system in enumerate(NAMES):
            if "measure" in result:
                row = result[(result["name"] == system) & (result["measure"] == name)].iloc[0]
                low, score, high = row[["low", "value", "high"]]
            else:
                row = result.set_index("name").loc[system]
                low, score, high = (row[f"{name}{end}"] for end in (" low", "", " high"))
            assert low <= score <= high
            expected = [values[m, :, r].mean() for values in (found.low, found.high)]
            assert [low, high] == pytest.approx(expected, abs=0.00501 if "round" in more else 1e-12)
    assert result.attrs["reuse"]["settings"]["no bounds"] == "Judged@5 and num_rel_ret"
    assert not any(column.startswith(("Judged@5 low", "num_rel_ret high")) for column in result)


def test_the_highest_label_is_that_of_all_judgments_whichever_topics_are_asked():
    # grades above 1 are on the first topic alone
    first = QRELS["qid"] == TOPICS["qid"][0]
    qrels = QRELS.assign(label=QRELS["label"].where(first, QRELS["label"].clip(upper=1)))
    qrels.loc[first & (qrels["label"] > 0), "label"] = 3
    metrics = [nDCG @ 5, nDCG, P(rel=2) @ 5]
    every, some = (
        ptr.Experiment(frames(), topics, qrels, metrics, perquery=True).set_index(["name", "measure", "qid"])
        for topics in (TOPICS, TOPICS[1:])
    )
    ends = ["value", "low", "high"]
    pd.testing.assert_frame_equal(pd.DataFrame(some[ends]), pd.DataFrame(every.loc[some.index, ends]))
