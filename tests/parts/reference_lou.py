"""Pools and leave-out-uniques as loops over dicts: every reduced judgment set is built and scored anew.

A run is ``{topic: {docno: score}}``, judgments are ``{topic: {docno: label}}``; `unit_of` gives the team, type or name
of each run.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass

import ir_measures
import pandas as pd
import pytest
from hypothesis import strategies as st
from reference import MEASURES, as_frame, changed, ranked, score_field

from pt_reuse.data.run_set import RunSet

TAUS = ("tau_b", "gamma", "tau_ap_b")


# pools


def depth_pool(runs, depth, contributors, order):
    """Return ``{(topic, docno): {run: rank from 1}}``."""
    pool = {}
    for name in contributors:
        for topic, documents in runs[name].items():
            for rank, docno in enumerate(ranked(documents, order)[:depth], 1):
                pool.setdefault((topic, docno), {})[name] = rank
    return pool


def sole_units(pool, unit_of):
    """Return ``{(topic, docno): unit}`` of the documents that one unit alone contributed."""
    owners = {pair: {unit_of[name] for name in found} for pair, found in pool.items()}
    return {pair: next(iter(units)) for pair, units in owners.items() if len(units) == 1}


def contributions_of(pool):
    """Return {(topic, docno): {run: rank}}."""
    found = {}
    for row in records(pool.contributions()):
        found.setdefault((row["qid"], row["docno"]), {})[row["name"]] = row["rank"]
    return found


def pairs_of(frame):
    return set(zip(frame["qid"], frame["docno"], strict=True))


# rankings of systems


def ranks(scores):
    """Return 1 + the number of strictly better systems, for each."""
    rounded = [round(score, 12) for score in scores]
    return [1 + sum(other > own for other in rounded) for own in rounded]


def correlations(x, y):
    """Return tau_b, gamma and tau_ap_b of two lists of scores, one pair of systems at a time."""
    x, y = [round(v, 12) for v in x], [round(v, 12) for v in y]
    agree = disagree = untied_x = untied_y = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        untied_x += x[i] != x[j]
        untied_y += y[i] != y[j]
        agree += (x[i] - x[j]) * (y[i] - y[j]) > 0
        disagree += (x[i] - x[j]) * (y[i] - y[j]) < 0
    if agree + disagree == 0:
        return dict.fromkeys(TAUS, math.nan)
    tau_b = (agree - disagree) / math.sqrt(untied_x * untied_y)
    return dict(zip(TAUS, (tau_b, (agree - disagree) / (agree + disagree), (walk(x, y) + walk(y, x)) / 2), strict=True))


def walk(truth, estimate):
    shares = []
    for i in range(len(estimate)):
        above = [j for j in range(len(estimate)) if estimate[j] > estimate[i]]
        if above:
            shares.append(sum(truth[j] > truth[i] for j in above) / len(above))
    return 2 * sum(shares) / len(shares) - 1


# leave-out-uniques


@dataclass
class Expected:
    """The same tables as LeaveOutUniques has, as lists of dicts."""

    uniques: list
    table: list
    by_run: list
    summary: list
    whole_field: list
    judged_elsewhere: int


def score_all(measures, runs, judgments, order):
    """Return ``{measure: {run: {topic: score}}}``; what reference.py does not know, ir_measures computes."""
    known = [measure for measure in measures if measure.NAME in MEASURES]
    values = {
        measure: {name: {t: per_topic[i][r] for i, t in enumerate(judgments)} for r, name in enumerate(runs)}
        for measure, per_topic in score_field(known, runs, judgments, order).items()
    }
    for measure in (measure for measure in measures if measure not in known):
        values[measure] = {}
        for name, run in runs.items():
            # scores that give every provider the same order
            by_rank = {t: {d: -float(i) for i, d in enumerate(ranked(run[t], order))} for t in run}
            found = {m.query_id: m.value for m in ir_measures.iter_calc([measure], judgments, by_rank)}
            values[measure][name] = {topic: found.get(topic, 0.0) for topic in judgments}
    return values


def means(per_run, runs, complete):
    """Return ``{run: mean}`` over all topics of the judgments, or over those that the run has."""
    found = {}
    for name, per_topic in per_run.items():
        kept = [topic for topic in per_topic if complete or runs[name].get(topic)]
        found[name] = sum(per_topic[topic] for topic in kept) / len(kept)
    return found


def leave_out_uniques(runs, judgments, measures, unit_of, contributors, *, depth, remove, complete, order, rel=1):
    """Rebuild the judgments for every unit, score all runs, and compare."""
    names, units = list(runs), list(dict.fromkeys(unit_of[name] for name in runs))
    pool = depth_pool(runs, depth, contributors, order)
    judged = {(topic, docno) for topic in judgments for docno, label in judgments[topic].items() if label >= 0}
    sole = {pair: unit for pair, unit in sole_units(pool, unit_of).items() if pair in judged}
    relevant = {pair for pair in sole if judgments[pair[0]][pair[1]] >= rel}
    gone = {
        unit: [pair for pair in sole if sole[pair] == unit and (remove == "judged" or pair in relevant)]
        for unit in units
    }
    full = score_all(measures, runs, judgments, order)
    under = {unit: score_all(measures, runs, changed(judgments, dict.fromkeys(gone[unit])), order) for unit in units}
    uniques = [
        {
            "unit": unit,
            "runs": sum(unit_of[name] == unit for name in names),
            "contributing": sum(unit_of[name] == unit for name in contributors),
            "unique": sum(owner == unit for owner in sole.values()),
            "unique_relevant": sum(owner == unit for pair, owner in sole.items() if pair in relevant),
            "unique_nonrelevant": sum(owner == unit for pair, owner in sole.items() if pair not in relevant),
        }
        for unit in units
    ]
    table, by_run, summary, whole_field = [], [], [], []
    for measure in measures:
        before = means(full[measure], runs, complete)
        after = {unit: means(under[unit][measure], runs, complete) for unit in units}
        rank = dict(zip(names, ranks(before.values()), strict=True))
        mine, rows = [], []
        for row in uniques:
            unit = row["unit"]
            reduced_rank = dict(zip(names, ranks(after[unit].values()), strict=True))
            drop = {name: reduced_rank[name] - rank[name] for name in names}
            most = max(0, *drop.values())
            # of several runs the one that was ranked best, the first of equals
            fell = [name for name in sorted(names, key=lambda name: -round(before[name], 12)) if drop[name] == most]
            rows.append(
                {
                    "unit": unit,
                    "measure": repr(measure),
                    **{column: row[column] for column in ("runs", "unique", "unique_relevant")},
                    "removed": len(gone[unit]),
                    **correlations(list(before.values()), list(after[unit].values())),
                    "max_drop": most,
                    "dropped": fell[0] if most else None,
                }
            )
            whole_field += [
                {
                    "unit": unit,
                    "measure": repr(measure),
                    "name": name,
                    "score": before[name],
                    "reduced_score": after[unit][name],
                    "rank": rank[name],
                    "reduced_rank": reduced_rank[name],
                    "drop": drop[name],
                }
                for name in names
            ]
        for name in names:
            own = after[unit_of[name]]
            seen = {n: own[n] if unit_of[n] == unit_of[name] else before[n] for n in names}
            reduced_rank = ranks(seen.values())[names.index(name)]
            change = own[name] - before[name]
            mine.append(
                {
                    "name": name,
                    "contributed": name in contributors,
                    "measure": repr(measure),
                    "score": before[name],
                    "reduced_score": own[name],
                    "change": change,
                    "change_pct": 100 * change / before[name] if before[name] else math.nan,
                    "rank": rank[name],
                    "reduced_rank": reduced_rank,
                    "drop": reduced_rank - rank[name],
                }
            )
        owns = [row["reduced_score"] for row in mine]
        per_cent = [row["change_pct"] for row in mine if not math.isnan(row["change_pct"])]
        own_drops = [a - b for a, b in zip(ranks(owns), rank.values(), strict=True)]
        taus = [row["tau_b"] for row in rows if not math.isnan(row["tau_b"])]
        moved = any(r["rank"] != r["reduced_rank"] for r in whole_field if r["measure"] == repr(measure))
        rows.sort(key=lambda row: (-row["unique_relevant"], -row["unique"], row["unit"]))
        worst = min(rows, key=lambda row: (-row["max_drop"], -2 if math.isnan(row["tau_b"]) else row["tau_b"]))
        summary.append(
            {
                "measure": repr(measure),
                **{f"own_{k}": v for k, v in correlations(list(before.values()), owns).items()},
                "own_max_drop": max(0, *own_drops),
                "alone_max_drop": max(row["drop"] for row in mine),
                "mean_change_pct": sum(per_cent) / len(per_cent) if per_cent else math.nan,
                "largest_loss_pct": max([0.0, *(-p for p in per_cent)]),
                "field_min_tau_b": min(taus) if len(taus) == len(rows) else math.nan,
                "field_max_drop": worst["max_drop"],
                "field_worst": worst["unit"] if moved else None,
            }
        )
        table += rows
        by_run += mine
    return Expected(uniques, table, by_run, summary, whole_field, len(judged - set(pool)))


# small fields with teams


@dataclass
class TeamField:
    """Runs, judgments, and who stands behind each run."""

    runs: dict
    judgments: dict
    team: dict
    type: dict
    pooled: list

    def as_runs(self, order="trec_eval"):
        return RunSet.from_frames(
            {name: as_frame(run) for name, run in self.runs.items()},
            teams=self.team,
            types=self.type,
            pooled=self.pooled,
            order=order,
        )

    def units(self, by):
        return {"team": self.team, "type": self.type, "run": {name: name for name in self.runs}}[by]

    def contributors(self, wanted):
        return {"pooled": self.pooled, "all": list(self.runs)}[wanted] if isinstance(wanted, str) else wanted


def hand_field():
    # team x (A, B) alone finds d1 and d2, team y (C) alone d4, all find d3; D of team z was not pooled
    runs = {
        "A": {"1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}},
        "B": {"1": {"d3": 3.0, "d1": 2.0}},
        "C": {"1": {"d4": 3.0, "d3": 2.0}},
        "D": {"1": {"d5": 3.0, "d2": 2.0, "d1": 1.0}},
    }
    judgments = {"1": {"d1": 1, "d2": 0, "d3": 1, "d4": 2, "d5": 1, "d6": 0}, "2": {"d1": 1}}
    team = {"A": "x", "B": "x", "C": "y", "D": "z"}
    kind = {"A": "automatic", "B": "manual", "C": "automatic", "D": "manual"}
    return TeamField(runs, judgments, team, kind, ["A", "B", "C"])


LABELS = ([0, 1], [0, 1, 2, 3], [-2, -1, 0, 1, 2], [-2, -1, 0], [-1, 0, 1])


@st.composite
def team_fields(draw, labels=LABELS):
    """Draw a field with ties, short and missing lists, judged documents that nobody finds, unpooled teams."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    n_runs, n_teams = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    tied, n_docs = draw(st.booleans()), draw(st.sampled_from([1, 3, 8, 14]))
    docnos, topics = [f"d{n}" for n in range(n_docs)], [str(n) for n in range(1, 1 + draw(st.integers(1, 3)))]
    judgments = {
        topic: {docno: chance.choice(held) for docno in ["unfound", *chance.sample(docnos, chance.randint(1, n_docs))]}
        for topic, held in ((topic, draw(st.sampled_from(labels))) for topic in [*topics, "only-judged"])
    }
    runs = {}
    for name in [f"run{n}" for n in range(n_runs)]:
        has = {chance.choice(topics), *(topic for topic in [*topics, "only-run"] if chance.random() < 0.8)}
        runs[name] = {
            topic: {
                docno: float(chance.randint(0, 3)) if tied else chance.random()
                for docno in chance.sample(docnos, chance.choice([1, n_docs, chance.randint(1, n_docs)]))
            }
            for topic in sorted(has)
        }
    return TeamField(
        runs,
        judgments,
        {name: f"team{chance.randint(1, n_teams)}" for name in runs},
        {name: chance.choice(["automatic", "manual"]) for name in runs},
        sorted({chance.choice(list(runs)), *(name for name in runs if chance.random() < 0.7)}),
    )


def records(frame: pd.DataFrame, unit: str | None = None) -> list[dict]:
    """Return a table as a list of dicts, the column of the unit under ``unit``."""
    return frame.rename(columns={} if unit is None else {unit: "unit"}).to_dict("records")


def same(found, expected):
    """Compare two lists of records, column by column, NaN and None alike."""
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert set(theirs) <= set(mine), set(theirs) ^ set(mine)
        for column, value in theirs.items():
            if isinstance(value, float):
                assert mine[column] == pytest.approx(value, abs=1e-12, nan_ok=True), (column, mine, theirs)
            else:
                assert mine[column] == value, (column, mine, theirs)


def frame_of(**topics):
    """Return a frame of the documents of each topic (t1=..., t2=...), best first."""
    rows = [(topic[1:], docno, -float(i)) for topic, docs in topics.items() for i, docno in enumerate(docs.split())]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def pooled_runs():
    """Return four runs of three teams, three of them pooled."""
    # C has no second topic, D was not pooled
    frames = {
        "A": frame_of(t1="a b c", t2="x y"),
        "B": frame_of(t1="b d", t2="y"),
        "C": frame_of(t1="c b a"),
        "D": frame_of(t1="e a", t2="z"),
    }
    return RunSet.from_frames(
        frames,
        teams={"A": "one", "B": "one", "C": "two", "D": "three"},
        types={"A": "automatic", "B": "manual", "C": "automatic", "D": "manual"},
        pooled=["A", "B", "C"],
    )
