"""Pools of one type, slowly: judgments restricted by hand, scored by ir_measures, ranked by scipy."""

from __future__ import annotations

from itertools import combinations

import ir_measures
import numpy as np
import pandas as pd
from scipy.stats import kendalltau


def pool(frames, names, depth):
    """Return the (qid, docno) of the first documents of some runs."""
    return {
        (qid, docno)
        for name in names
        for qid, rows in frames[name].groupby("qid")
        for docno in rows.sort_values("rank")["docno"].head(depth)
    }


def means(frames, judged, topics, measures):
    """Return measure -> run -> its mean over all topics, of judgments given as (qid, docno) -> label."""
    qrels = [ir_measures.Qrel(qid, docno, label) for (qid, docno), label in judged.items()]
    parsed = [ir_measures.parse_measure(measure) for measure in measures]
    found = {measure: {} for measure in measures}
    for name, frame in frames.items():
        # minus the rank, so that every provider follows the order of the run
        rows = frame[["qid", "docno", "rank"]].itertuples(index=False)
        run = [ir_measures.ScoredDoc(qid, docno, -float(rank)) for qid, docno, rank in rows]
        total = dict.fromkeys(map(repr, parsed), 0.0)
        for value in ir_measures.iter_calc(parsed, qrels, run) if qrels else ():
            total[repr(value.measure)] += value.value
        for measure, one in zip(measures, parsed, strict=True):
            found[measure][name] = total[repr(one)] / len(topics)
    return found


def tau(gold, estimate, names):
    """Return tau_b of some runs by scipy, NaN where it has none."""
    if len(names) < 2:
        return np.nan
    x, y = ([round(of[name], 12) for name in names] for of in (gold, estimate))
    return kendalltau(x, y).statistic


def every_half(field, unit, measures, *, depth, gold, contributors=None):
    """Return one row per measure, type of the pool, tested group and half: the picked units, tau_b, and counts."""
    frames = {name: field.runs[name] for name in field.runs.names}
    table = field.runs.run_table.set_index("name")
    table["unit"] = table["team"] if unit == "team" else table.index
    can = set(frames) if contributors is None else set(contributors)
    rows = field.qrels.to_frame()
    labels = {(q, d): label for q, d, label in zip(rows["qid"], rows["docno"], rows["label"], strict=True)}
    if gold == "pool":
        everyone = pool(frames, can, depth)
        labels = {pair: label for pair, label in labels.items() if pair in everyone}
    truth = means(frames, labels, field.qrels.topics, measures)
    found = []
    for kind in dict.fromkeys(table["type"]):
        mine = table[table["type"] == kind]
        units = sorted(set(mine.loc[mine.index.isin(can), "unit"]))
        if len(units) < 2:
            continue
        for picked in combinations(units, len(units) // 2):
            out = set(mine.index[mine["unit"].isin(picked)])
            documents = pool(frames, out & can, depth)
            kept = {pair: label for pair, label in labels.items() if pair in documents}
            estimate = means(frames, kept, field.qrels.topics, measures)
            groups = {other: table.index[table["type"] == other] for other in dict.fromkeys(table["type"])}
            groups["all"] = table.index
            for measure in measures:
                for name, names in groups.items():
                    tested = [run for run in names if run not in out]
                    found.append(
                        {
                            "measure": measure,
                            "pool": kind,
                            "tested": name,
                            "picked": ", ".join(picked),
                            "runs": len(tested),
                            "judged": len(kept),
                            "tau_b": tau(truth[measure], estimate[measure], tested),
                        }
                    )
    return pd.DataFrame(found)
