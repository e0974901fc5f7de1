"""The kinds of published figures: the parameters of each, and how its numbers are computed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pt_reuse.arrays.correlation import correlations
from pt_reuse.arrays.field import Field
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import check_every_run_has
from pt_reuse.errors import InputError, choice, count, examples, positive
from pt_reuse.options import ORDERS
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.scoring.scores import Scores, score
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques

#: by score, documents of one score as they stand in the file: how NIST pooled in 2025
FILE_TIES = "file_ties"
#: how a ranking of runs compares with another, as in :func:`pt_reuse.arrays.correlation.correlations`
AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
#: name -> number, or why there is none
Computed: TypeAlias = Mapping[Any, Any]


class Replay:
    """The runs and judgments of a verification: a method for each kind of figure.

    Each takes the parameters of a figure and the `names` of its values, and returns numbers by name, or why there are
    none.
    """

    def __init__(self, runs: RunSet | str, qrels: Qrels, published: Mapping[str, pd.Series], submitted: Sequence[str]):
        self._runs, self.qrels, self.published, self.submitted = runs, qrels, published, submitted
        #: the runs on record that are not here, where any are
        self.missing = [] if isinstance(runs, str) else [name for name in submitted if name not in runs]
        for name in ("_in_order", "_pool", "_judged_in", "_score", "_left_out"):
            setattr(self, name, cache(getattr(self, name)))

    def _in_order(self, order: str) -> RunSet:
        if isinstance(self._runs, str):
            raise InputError(self._runs)
        # pooled in the order that the figure names, whatever the order of the collection's own pool
        runs = RunSet(self._runs.field, self._runs.run_table, self._runs.order)
        if order != FILE_TIES:
            return runs.reorder(order)
        runs = runs.reorder("file")
        return RunSet(runs.field.changed(_stable_by_score, runs.field.lengths), runs.run_table, runs.order)

    def _pool(self, order: str, depth: int, contributors: Any) -> Pool:
        return depth_pool(self._in_order(order), depth=depth, contributors=contributors)

    def _judged_in(self, *pool: Any) -> Qrels:
        return self.qrels.restrict(self._pool(*pool))

    def _sizes(self, *pool: Any) -> Any:
        """Return the sizes of a pool by topic; runs may have topics that were not judged."""
        pooled = self._pool(*pool)
        return pooled.documents.sizes[np.isin(pooled.topics, self.qrels.topics)]

    def _score(self, order: str, measure: Any, *pool: Any) -> Scores:
        return score(self._in_order(order), self._judged_in(*pool) if pool else self.qrels, measure)

    def _means(self, o: SimpleNamespace, *pool: Any) -> pd.Series:
        """Return run -> score by all judgments or those in a pool; of several measures, the mean of the scores."""
        found = [self._score(o.order, measure, *pool) for measure in o.measure]
        return pd.Series(np.mean([one.mean_values[0] for one in found], axis=0), index=found[0].names)

    def _left_out(self, order: str, measure: Any, by: str, rel: int, *pool: Any) -> LeaveOutUniques:
        how = {"pool_order": None if pool[0] == order else pool[0], "depth": pool[1], "contributors": pool[2]}
        return leave_out_uniques(self._in_order(order), self.qrels, measure, by=by, rel=rel, **how)

    def _without(self, o: SimpleNamespace) -> LeaveOutUniques:
        # a published figure is of the teams that there were: a run without one must not count as one
        check_every_run_has(self._in_order(o.order).run_table, o.by)
        # uniques do not depend on the measure: any will do that counts no label as relevant of itself
        measure = getattr(o, "measure", parse_measures("nDCG@10"))[0]
        return self._left_out(o.order, measure, o.by, o.rel, *_pool_of(o))

    def judgments(self, o: SimpleNamespace) -> Computed:
        summary = self.qrels.counts(rel=o.rel)
        judged, density = summary["judged"], summary["density"]
        return {
            "topics": len(summary),
            "judgments": len(self.qrels),
            **summary[["judged", "relevant", "unjudged", "junk"]].sum(),
            "smallest topic": judged.min(),
            "largest topic": judged.max(),
            "mean topic": judged.mean(),
            "fewest relevant": summary["relevant"].min(),
            "mean density": density.mean(),
            "largest density": density.max(),
            **_denser(density),
        }

    def prefixes(self, o: SimpleNamespace) -> Computed:
        frame = self.qrels.to_frame()
        docnos = frame.loc[frame["label"] >= (o.rel if o.count == "relevant" else 0), "docno"]
        return {name: docnos.str.startswith(name).sum() for name in o.names}

    def field(self, o: SimpleNamespace) -> Computed:
        runs = self._in_order(o.order)
        pooled = runs.pooled.sum() if runs.pool_is_on_record else "who was pooled is not on record"
        known = {"runs": len(runs), "topics": len(runs.topics), "rows": runs.field.n_rows, "pooled runs": pooled}
        types = [name for name in o.names if re.fullmatch(".+ runs", name) and name not in known]
        lacking = {column: _lacking(runs.run_table, column) for column in ("team", "type")}
        known["teams"] = lacking["team"] or runs.run_table["team"].nunique()
        return known | {name: lacking["type"] or (runs.run_table["type"] == name[:-5]).sum() for name in types}

    def scores(self, o: SimpleNamespace) -> Computed:
        return dict(self._means(o))

    def score_statistic(self, o: SimpleNamespace) -> Computed:
        means, runs = self._means(o), self._in_order(o.order)
        if o.by == "all":
            return {"all": means.agg(o.statistic)}
        if o.by == "pooled" and not runs.pool_is_on_record:
            raise InputError("who was pooled is not on record")
        if o.by != "pooled" and (lacking := _lacking(runs.run_table, o.by)):
            raise InputError(lacking)
        absent = {word: f"no run is {word}" for word in ("pooled", "unpooled") if o.by == "pooled"}
        groups = runs.run_table.set_index("name")[o.by]
        groups = groups.map({True: "pooled", False: "unpooled"}) if o.by == "pooled" else groups
        return absent | dict(means.groupby(groups).agg(o.statistic))

    def saturation(self, o: SimpleNamespace) -> Computed:
        found = [self._score(o.order, measure).values[0] for measure in o.measure]
        median = np.median(np.mean(found, axis=0), axis=1)
        # 9 relevant of 10 are .9, also where floating point falls short of it
        return {n: (median >= float(n) - 1e-12).sum() for n in o.names if re.fullmatch(r"\d*\.?\d+", n)}

    def pool(self, o: SimpleNamespace) -> Computed:
        pool = self._pool(*_pool_of(o))
        sizes, judged = self._sizes(*_pool_of(o)), self._judged_in(*_pool_of(o)).counts(rel=o.rel)
        return {
            "contributing runs": len(pool.run_table),
            "documents": sizes.sum(),
            "relevant": judged["relevant"].sum(),
            "smallest topic": sizes.min(initial=sizes.max(initial=0)),
            "largest topic": sizes.max(initial=0),
            "not judged": sizes.sum() - judged["judged"].sum(),
            "judged but not pooled": (self.qrels - pool).counts()["judged"].sum(),
            **_denser(judged["density"]),
        }

    def shallow_pool(self, o: SimpleNamespace) -> Computed:
        pool, table = _pool_of(o), self._in_order(o.order).run_table
        kept, means = self._judged_in(*pool), self._means(o, *pool)
        means = means if o.decimals_of_scores is None else means.round(o.decimals_of_scores)
        truth = self._means(o) if o.truth is None else self.published[o.truth]
        if "type" in o.among and (lacking := _lacking(table, "type")):
            raise InputError(lacking)
        made = table["name"].isin(self._pool(*pool).run_table["name"])
        alike = table["type"].isin(table["type"][made])
        rows = {"all": made.notna(), "others": ~made, "others of the type": ~made & alike, "other types": ~alike}
        means = means[list(table["name"][rows[o.among]])]
        agreement = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
        relevant = kept.counts(rel=o.rel)["relevant"].sum()
        found = {"documents": self._sizes(*pool).sum(), "judged": len(kept), "relevant": relevant}
        return {**found, **agreement[list(AGREEMENT)]}

    def minimum_rank(self, o: SimpleNamespace) -> Computed:
        pool, arrays = self._pool(*_pool_of(o)), self.qrels.arrays
        relevant = arrays.labels_of(pool.documents) >= o.rel
        rank = pool.to_frame().loc[relevant, "rank"]
        spans = {name: [int(n) for n in name.split("-")] for name in o.names if re.fullmatch(r"\d+-\d+", name)}
        counts = {name: rank.between(a, b).sum() for name, (a, b) in spans.items() if 1 <= a <= b <= o.depth}
        return {**counts, "never": (arrays.labels >= o.rel).sum() - relevant.sum()}

    def uniques(self, o: SimpleNamespace) -> Computed:
        counts = self._without(o).unique_counts.set_index(_unit(o))[o.count]
        return {**counts, "total": counts.sum()}

    def left_out(self, o: SimpleNamespace) -> Computed:
        return dict(self._without(o).table.set_index(_unit(o))[o.statistic])

    def worst_left_out(self, o: SimpleNamespace) -> Computed:
        table = self._without(o).table
        tau_b, drops = table["tau_b"], table["max_drop"]
        return {"smallest tau_b": tau_b.min(), "largest drop": drops.max(), "large drops": (drops > o.ranks).sum()}

    def own_uniques(self, o: SimpleNamespace) -> Computed:
        row = self._without(o).summary.iloc[0]
        return {name: row[f"own_{name}"] for name in AGREEMENT}

    def own_losses(self, o: SimpleNamespace) -> Computed:
        rows = self._without(o).by_run
        loss, lacking = -rows["change_pct"], _lacking(rows, "type")
        types = dict.fromkeys(o.names, lacking) if lacking else dict(loss.groupby(rows["type"]).agg(o.statistic))
        return {**types, "all": loss.agg(o.statistic)}

    def own_changes(self, o: SimpleNamespace) -> Computed:
        return dict(self._without(o).by_run.groupby(_unit(o))["change"].mean())


def _pool_of(o: SimpleNamespace) -> tuple[str, int, Any]:
    own = getattr(o, "pool_order", "same")
    return (o.order if own == "same" else own, o.depth, o.contributors)


def _unit(o: SimpleNamespace) -> str:
    return "name" if o.by == "run" else str(o.by)


def _stable_by_score(block: Field) -> Field:
    scores = -np.asarray(block.scores)
    # list by list, since each of them is nearly sorted as it stands
    order = np.arange(len(scores))
    for start, stop in pairwise(block.starts.tolist()):
        order[start:stop] = start + np.argsort(scores[start:stop], kind="stable")
    return block.permute(order)


def _lacking(table: pd.DataFrame, column: str) -> str:
    names = table["name"][table[column].isna()].unique()
    without = f"{count(len(names), 'run')} without: {examples(names)}"
    return f"needs the {column} of every run: {without}" if len(names) else ""


def _denser(density: pd.Series) -> Computed:
    return {f"topics denser than 1/{k}": (density > 1 / k).sum() for k in (3, 2)}


#: a parameter -> what it is if a figure does not say: of several words the first, ``...`` where it has to
_REL = {"rel": 1}
_ORDER = {"order": (*ORDERS, FILE_TIES)}
_POOL = {**_ORDER, "depth": 100, "contributors": "pooled"}
_SCORES = {**_ORDER, "measure": ...}
_UNIQUES = {**_POOL, "pool_order": ("same", *ORDERS), **_REL, "by": ("team", "run", "type")}
_OWN = {**_UNIQUES, "measure": ...}
_AMONG = ("all", "others", "others of the type", "other types")
_SHALLOW = {"pool_order": ("same", *ORDERS, FILE_TIES), "among": _AMONG, "truth": None, "decimals_of_scores": None}
_STATISTIC = {"by": ("type", "team", "pooled", "all"), "statistic": ("max", "mean", "median", "min")}
#: kind -> its parameters
KINDS: dict[str, dict[str, Any]] = {
    "judgments": _REL,
    "prefixes": {"count": ("judged", "relevant"), **_REL},
    "field": _ORDER,
    "scores": _SCORES,
    "score_statistic": {**_SCORES, **_STATISTIC},
    "saturation": _SCORES,
    "pool": {**_POOL, **_REL},
    "shallow_pool": {**_POOL, **_SCORES, **_REL, **_SHALLOW},
    "minimum_rank": {**_POOL, "contributors": ("all", "pooled"), **_REL},
    "uniques": {**_UNIQUES, "count": ("unique_relevant", "unique", "unique_nonrelevant")},
    "left_out": {**_OWN, "statistic": (*AGREEMENT, "removed")},
    "worst_left_out": {**_OWN, "ranks": 10},
    "own_uniques": _OWN,
    "own_losses": {**_OWN, "statistic": ("mean", "max")},
    "own_changes": _OWN,
}
#: kinds, statistics and names whose values are no counts
FRACTIONS = {"scores", "score_statistic", "own_losses", "own_changes", *AGREEMENT[:3]}
FRACTIONS |= {"smallest tau_b", "mean topic", "mean density", "largest density"}


def checked_parameter(kind: str, name: str, text: str, scored: list[str]) -> Any:
    """Return the value of a parameter as it is used; `scored` are the figures of published scores of the collection."""
    several, usual = text.split(" + "), KINDS[kind][name]
    if name == "measure":
        measures = parse_measures(several)
        if len(measures) > 1 and "by" in KINDS[kind] and kind != "score_statistic":
            raise InputError(f"the figure takes one measure, got {text!r}.", argument="measure")
        return measures
    if name in ("rel", "depth", "ranks", "decimals_of_scores"):
        return positive(name, int(text) if text.isdecimal() else text, unit=name)
    if name == "contributors":
        return text if text in ("pooled", "all") else tuple(several)
    return choice(name, text, scored if name == "truth" else usual)
