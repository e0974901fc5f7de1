"""Filled holes as loops over dicts: every set of judgments is built anew, and every run scored under it."""

from __future__ import annotations

import pandas as pd
from hypothesis import strategies as st
from reference import changed
from reference_lou import correlations, depth_pool, means, ranks, score_all, sole_units

WAYS = ("removed", "filled", "judge_alone")


def on_scale(label, judge_rel, rel, highest):
    """Return a label of a judge so that it is relevant for people where it is for the judge, and none above theirs."""
    scaled = label if judge_rel == rel else max(label, rel) if label >= judge_rel else min(label, rel - 1)
    return min(scaled, max(highest, rel))


def filled_tables(
    runs, judgments, said, measures, unit_of, contributors,
    *, depth, remove, complete, order, rel, judge_rel, holes,
):  # fmt: skip
    """Return the rows of `filled` and of `filled_by_run`; `said` is {(topic, docno): label} of the judge."""
    names, units = list(runs), list(dict.fromkeys(unit_of[name] for name in runs))
    judged = {(t, d): label for t in judgments for d, label in judgments[t].items() if label >= 0}
    highest = max(judged.values(), default=0)
    sole = sole_units(depth_pool(runs, depth, contributors, order), unit_of)
    gone = {unit: [] for unit in units}
    for pair, unit in sole.items():
        if pair in judged and (remove == "judged" or judged[pair] >= rel):
            gone[unit].append(pair)
    label = {pair: on_scale(said[pair], judge_rel, rel, highest) if pair in said else None for pair in judged}
    others = {}
    if holes == "unjudged":
        tops = depth_pool(runs, depth, names, order)
        others = {
            p: on_scale(said[p], judge_rel, rel, highest)
            for p in tops
            if p[0] in judgments and p not in judged and p in said
        }
    full = score_all(measures, runs, judgments, order)
    alone = score_all(measures, runs, changed_to(judgments, {**label, **others}), order)
    removed = {u: score_all(measures, runs, changed(judgments, dict.fromkeys(gone[u])), order) for u in units}
    filled = {
        u: score_all(measures, runs, changed_to(judgments, {p: label[p] for p in gone[u]} | others), order)
        for u in units
    }
    rows, by_run = [], []
    by_uniques = sorted(units, key=lambda unit: (-len(gone[unit]), unit))
    for measure in measures:
        before = means(full[measure], runs, complete)
        rank = dict(zip(names, ranks(before.values()), strict=True))
        after = {
            "removed": {u: means(removed[u][measure], runs, complete) for u in units},
            "filled": {u: means(filled[u][measure], runs, complete) for u in units},
            "judge_alone": dict.fromkeys(units, means(alone[measure], runs, complete)),
        }
        drop = {way: {} for way in WAYS}
        for way in WAYS:
            for name in names:
                own = after[way][unit_of[name]]
                mine = {n: own[n] if way == "judge_alone" or unit_of[n] == unit_of[name] else before[n] for n in names}
                drop[way][name] = ranks(mine.values())[names.index(name)] - rank[name]
        for unit in by_uniques:
            runs_of = [name for name in names if unit_of[name] == unit]
            known = [pair for pair in gone[unit] if label[pair] is not None]
            row = {
                "unit": unit,
                "measure": repr(measure),
                "runs": len(runs_of),
                "removed": len(gone[unit]),
                "labelled": len(known),
                "unknown": len(gone[unit]) - len(known),
                "judge_relevant": sum(label[pair] >= rel for pair in known),
                "relevant": sum(judged[pair] >= rel for pair in known),
            }
            for way in WAYS:
                own = after[way][unit]
                moved = [new - old for new, old in zip(ranks(own.values()), rank.values(), strict=True)]
                drops = [drop[way][name] for name in runs_of]
                row |= {
                    f"{way}_change": sum(own[n] - before[n] for n in runs_of) / len(runs_of),
                    f"{way}_tau_b": correlations(list(before.values()), list(own.values()))["tau_b"],
                    f"{way}_max_drop": max(0, *moved),
                    f"{way}_max_rise": -min(0, *moved),
                    f"{way}_own_drop": max(0, *drops),
                    f"{way}_own_rise": -min(0, *drops),
                }
            rows.append(row)
        for name in names:
            row = {"name": name, "measure": repr(measure), "score": before[name], "rank": rank[name]}
            for way in WAYS:
                score = after[way][unit_of[name]][name]
                row |= {f"{way}_score": score, f"{way}_change": score - before[name]}
                row |= {f"{way}_rank": rank[name] + drop[way][name], f"{way}_drop": drop[way][name]}
            by_run.append(row)
    return rows, by_run


def changed_to(judgments, labels):
    """Return judgments with labels written over or added, None removing."""
    new = {topic: dict(judged) for topic, judged in judgments.items()}
    for (topic, docno), label in labels.items():
        if label is not None:
            new[topic][docno] = label
        else:
            new[topic].pop(docno, None)
    return new


@st.composite
def judges_of(draw, field, labels=(0, 1, 2, 3), missing=0.2):
    """Draw what a judge says of every document of a field and of its judgments, some of it missing, some negative."""
    chance = draw(st.randoms(use_true_random=False))
    pairs = {(t, d) for t, judged in field.judgments.items() for d in judged}
    pairs |= {(t, d) for run in field.runs.values() for t, docs in run.items() for d in docs}
    said = {pair: chance.choice(labels) for pair in sorted(pairs) if chance.random() >= missing}
    return {pair: label for pair, label in said.items() if label is not None}


def as_judgments(said):
    """Return what a judge says as a frame of judgments."""
    return pd.DataFrame([(q, d, label) for (q, d), label in said.items()], columns=["qid", "docno", "label"])
