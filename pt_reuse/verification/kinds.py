"""The kinds of published figures: the parameters of each, and a function that computes its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, examples, positive
from pt_reuse.arrays.correlation import correlations
from pt_reuse.arrays.field import Field
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import check_every_run_has
from pt_reuse.errors import InputError
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
Computed: TypeAlias = Mapping[str, float | str]


class Replay:
    """The runs and judgments of a verification; what is computed of them is computed once."""

    def __init__(self, runs: RunSet | str, qrels: Qrels, published: Mapping[str, pd.Series], submitted: Sequence[str]):
        self._runs, self.qrels, self.published = runs, qrels, published
        #: the runs on record that are not here, where any are
        self.missing = [] if isinstance(runs, str) else [name for name in submitted if name not in runs]
        for name in ("runs", "pool", "judged_in", "scores", "_left_out"):
            setattr(self, name, cache(getattr(self, name)))

    def runs(self, order: str) -> RunSet:
        """Return the runs in an order; an InputError where there are none."""
        if isinstance(self._runs, str):
            raise InputError(self._runs)
        # pooled in the order that the figure names, whatever the order of the collection's own pool
        runs = RunSet(self._runs.field, self._runs.run_table, self._runs.order)
        if order != FILE_TIES:
            return runs.reorder(order)
        runs = runs.reorder("file")
        return RunSet(runs.field.changed(_stable_by_score, runs.field.lengths), runs.run_table, runs.order)

    def pool(self, order: str, depth: int, contributors: Any) -> Pool:
        """Return the depth-k pool of the contributing runs."""
        return depth_pool(self.runs(order), depth=depth, contributors=contributors)

    def judged_in(self, *key: Any) -> Qrels:
        """Return the judgments of the documents in a pool."""
        return self.qrels.restrict(self.pool(*key))

    def sizes(self, *key: Any) -> Any:
        """Return the sizes of a pool by topic; runs may have topics that were not judged."""
        pool = self.pool(*key)
        return pool.documents.sizes[np.isin(pool.topics, self.qrels.topics)]

    def scores(self, order: str, measure: Any, within: Any = None) -> Scores:
        """Return the scores of all runs, under all judgments or those `within` a pool."""
        return score(self.runs(order), self.qrels if within is None else self.judged_in(*within), measure)

    def means(self, o: SimpleNamespace, within: Any = None) -> pd.Series:
        """Return run -> score; of several measures, the mean of the scores."""
        scores = [self.scores(o.order, measure, within) for measure in o.measure]
        return pd.Series(np.mean([one.mean_values[0] for one in scores], axis=0), index=scores[0].names)

    def left_out(self, o: SimpleNamespace) -> LeaveOutUniques:
        """Return what leaving out each team, run or type does."""
        # uniques do not depend on the measure: any will do that counts no label as relevant of itself
        measure = getattr(o, "measure", parse_measures("nDCG@10"))[0]
        # a published figure is of the teams that there were: a run without one must not count as one
        check_every_run_has(self.runs(o.order).run_table, o.by)
        return self._left_out(_pool_of(o), measure, o.order, o.by, o.rel)

    def _left_out(self, key: Any, measure: Any, order: str, by: str, rel: int) -> LeaveOutUniques:
        pooled = {"pool_order": None if key[0] == order else key[0], "depth": key[1], "contributors": key[2]}
        return leave_out_uniques(self.runs(order), self.qrels, measure, by=by, rel=rel, **pooled)


def _pool_of(o: SimpleNamespace) -> tuple[str, int, Any]:
    """Return which pool the parameters name: its order, depth and contributors."""
    own = getattr(o, "pool_order", "same")
    return (o.order if own == "same" else own, o.depth, o.contributors)


def _stable_by_score(block: Field) -> Field:
    scores = -np.asarray(block.scores)
    # list by list, since each of them is nearly sorted as it stands
    order = np.arange(len(scores))
    for start, stop in pairwise(block.starts.tolist()):
        order[start:stop] = start + np.argsort(scores[start:stop], kind="stable")
    return block.permute(order)


def _check_every(table: pd.DataFrame, column: str) -> None:
    names = table["name"][table[column].isna()].unique()
    if len(names):
        raise InputError(f"needs the {column} of every run: {count(len(names), 'run')} without: {examples(names)}")


def _denser(density: pd.Series) -> dict[str, int]:
    return {f"topics denser than 1/{k}": int((density > 1 / k).sum()) for k in (3, 2)}


def _judgments(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    summary = at.qrels.counts(rel=o.rel)
    judged, density = summary["judged"], summary["density"]
    return {
        "topics": len(summary),
        "judgments": len(at.qrels),
        **summary[["judged", "relevant", "unjudged", "junk"]].sum().astype(int),
        "smallest topic": int(judged.min()),
        "largest topic": int(judged.max()),
        "mean topic": float(judged.mean()),
        "fewest relevant": int(summary["relevant"].min()),
        "mean density": float(density.mean()),
        "largest density": float(density.max()),
        **_denser(density),
    }


def _prefixes(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    frame = at.qrels.to_frame()
    docnos = frame.loc[frame["label"] >= (o.rel if o.count == "relevant" else 0), "docno"]
    return {name: int(docnos.str.startswith(name).sum()) for name in names}


def _field(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    runs = at.runs(o.order)

    def having(column: str, kind: str = "") -> float | str:
        try:
            _check_every(runs.run_table, column)
        except InputError as error:
            return str(error)
        numbers = runs.run_table[column].value_counts()
        return int(numbers.get(kind, 0)) if kind else len(numbers)

    known: dict[str, float | str] = {
        "runs": len(runs),
        "topics": len(runs.topics),
        "rows": runs.field.n_rows,
        "teams": having("team"),
        "pooled runs": int(runs.pooled.sum()) if runs.pool_is_on_record else "who was pooled is not on record",
    }
    types = [name.removesuffix(" runs") for name in names if name.endswith(" runs") and name not in known]
    return known | {f"{kind} runs": having("type", kind) for kind in types if kind}


def _scores(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    return dict(at.means(o))


def _score_statistic(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    means, runs = at.means(o), at.runs(o.order)
    table = runs.run_table.set_index("name", drop=False)
    if o.by == "all":
        return {"all": means.agg(o.statistic)}
    if o.by == "pooled":
        if not runs.pool_is_on_record:
            raise InputError("who was pooled is not on record")
        absent = {word: f"no run is {word}" for word in ("pooled", "unpooled")}
        return absent | dict(means.groupby(table["pooled"].map({True: "pooled", False: "unpooled"})).agg(o.statistic))
    _check_every(table, o.by)
    return dict(means.groupby(table[o.by]).agg(o.statistic))


def _saturation(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    scores = [at.scores(o.order, measure).values[0] for measure in o.measure]
    median = np.median(np.mean(scores, axis=0), axis=1)
    numbers = [name for name in names if re.fullmatch(r"\d*\.?\d+", name)]
    # 9 relevant of 10 are .9, also where floating point falls short of it
    return {name: int((median >= float(name) - 1e-12).sum()) for name in numbers}


def _pool(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    key = _pool_of(o)
    sizes, judged = at.sizes(*key), at.judged_in(*key).counts(rel=o.rel)
    return {
        "contributing runs": len(at.pool(*key).run_table),
        "documents": int(sizes.sum()),
        "relevant": int(judged["relevant"].sum()),
        "smallest topic": int(sizes.min(initial=sizes.max(initial=0))),
        "largest topic": int(sizes.max(initial=0)),
        "not judged": int(sizes.sum()) - int(judged["judged"].sum()),
        "judged but not pooled": int((at.qrels - at.pool(*key)).counts()["judged"].sum()),
        **_denser(judged["density"]),
    }


def _shallow_pool(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    key = _pool_of(o)
    kept, means = at.judged_in(*key), at.means(o, within=key)
    means = means if o.decimals_of_scores is None else means.round(o.decimals_of_scores)
    truth = at.means(o) if o.truth is None else at.published[o.truth]
    if o.among != "all":
        table = at.runs(o.order).run_table
        made = table["name"].isin(at.pool(*key).run_table["name"])
        if o.among != "others":
            _check_every(table, "type")
        alike = table["type"].isin(table["type"][made])
        rows = {"others": ~made, "others of the type": ~made & alike, "other types": ~alike}[o.among]
        means = means[list(table["name"][rows])]
    agreement = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return {
        "documents": int(at.sizes(*key).sum()),
        "judged": len(kept),
        "relevant": int(kept.counts(rel=o.rel)["relevant"].sum()),
        **agreement[list(AGREEMENT)],
    }


def _minimum_rank(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    pool, arrays = at.pool(*_pool_of(o)), at.qrels.arrays
    relevant = arrays.labels_of(pool.documents) >= o.rel
    rank = pool.to_frame().loc[relevant, "rank"]
    spans = {name: [int(n) for n in name.split("-")] for name in names if re.fullmatch(r"\d+-\d+", name)}
    counts = {name: int(rank.between(a, b).sum()) for name, (a, b) in spans.items() if 1 <= a <= b <= o.depth}
    return {**counts, "never": int((arrays.labels >= o.rel).sum() - relevant.sum())}


def _unit(o: SimpleNamespace) -> str:
    return "name" if o.by == "run" else str(o.by)


def _uniques(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    counts = at.left_out(o).unique_counts.set_index(_unit(o))[o.count]
    return {**counts, "total": counts.sum()}


def _left_out(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    return dict(at.left_out(o).table.set_index(_unit(o))[o.statistic])


def _worst_left_out(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    table = at.left_out(o).table
    drops = table["max_drop"]
    return {
        "smallest tau_b": table["tau_b"].min(),
        "largest drop": drops.max(),
        "large drops": int((drops > o.ranks).sum()),
    }


def _own_uniques(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    row = at.left_out(o).summary.iloc[0]
    return {name: row[f"own_{name}"] for name in AGREEMENT}


def _own_losses(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    rows = at.left_out(o).by_run
    loss, every = -rows["change_pct"], {"all": float((-rows["change_pct"]).agg(o.statistic))}
    try:
        _check_every(rows, "type")
    except InputError as error:
        return dict.fromkeys(names, str(error)) | every
    return {**loss.groupby(rows["type"]).agg(o.statistic), **every}


def _own_changes(at: Replay, o: SimpleNamespace, names: list[str]) -> Computed:
    return dict(at.left_out(o).by_run.groupby(_unit(o))["change"].mean())


#: a parameter -> what it is if a figure does not say: of several words the first, ``...`` where it has to
_REL = {"rel": 1}
_ORDER = {"order": (*ORDERS, FILE_TIES)}
_MEASURE = {"measure": ...}
_POOL = {**_ORDER, "depth": 100, "contributors": "pooled"}
_SCORES = {**_ORDER, **_MEASURE}
_UNIQUES = {**_POOL, "pool_order": ("same", *ORDERS), **_REL, "by": ("team", "run", "type")}
_AMONG = ("all", "others", "others of the type", "other types")
_SHALLOW = {**_POOL, **_SCORES, "pool_order": ("same", *ORDERS, FILE_TIES), **_REL, "among": _AMONG}
#: kind -> the function that computes it, and its parameters
KINDS: dict[str, tuple[Callable[[Replay, SimpleNamespace, list[str]], Computed], dict[str, Any]]] = {
    "judgments": (_judgments, _REL),
    "prefixes": (_prefixes, {"count": ("judged", "relevant"), **_REL}),
    "field": (_field, _ORDER),
    "scores": (_scores, _SCORES),
    "score_statistic": (
        _score_statistic,
        {**_SCORES, "by": ("type", "team", "pooled", "all"), "statistic": ("max", "mean", "median", "min")},
    ),
    "saturation": (_saturation, _SCORES),
    "pool": (_pool, {**_POOL, **_REL}),
    "shallow_pool": (_shallow_pool, {**_SHALLOW, "truth": None, "decimals_of_scores": None}),
    "minimum_rank": (_minimum_rank, {**_POOL, "contributors": ("all", "pooled"), **_REL}),
    "uniques": (_uniques, {**_UNIQUES, "count": ("unique_relevant", "unique", "unique_nonrelevant")}),
    "left_out": (_left_out, {**_UNIQUES, **_MEASURE, "statistic": (*AGREEMENT, "removed")}),
    "worst_left_out": (_worst_left_out, {**_UNIQUES, **_MEASURE, "ranks": 10}),
    "own_uniques": (_own_uniques, {**_UNIQUES, **_MEASURE}),
    "own_losses": (_own_losses, {**_UNIQUES, **_MEASURE, "statistic": ("mean", "max")}),
    "own_changes": (_own_changes, {**_UNIQUES, **_MEASURE}),
}
#: kinds, statistics and names whose values are no counts
FRACTIONS = {
    "scores", "score_statistic", "own_losses", "own_changes", "tau_b", "gamma", "tau_ap_b", "smallest tau_b",
    "mean topic", "mean density", "largest density",
}  # fmt: skip


def checked_parameter(kind: str, name: str, value: Any, scored: list[str]) -> Any:
    """Return the value of a parameter as it is used; `scored` are the figures of published scores in the file."""
    usual: Any = KINDS[kind][1].get(name)
    if name == "measure":
        measures = parse_measures(value)
        if len(measures) > 1 and "by" in KINDS[kind][1] and kind != "score_statistic":
            raise InputError(f"the figure takes one measure, got {value!r}.", argument="measure")
        return measures
    if name == "contributors" and isinstance(value, list) and value and all(isinstance(run, str) for run in value):
        return tuple(value)
    words: dict[str, Any] = {"contributors": ("pooled", "all"), "truth": scored}
    checks: dict[str, Callable[[Any], Any]] = {
        "rel": checked_rel,
        **{n: partial(positive, name, unit=name) for n in ("depth", "ranks", "decimals_of_scores")},
    }
    return checks[name](value) if name in checks else choice(name, value, words.get(name, usual))
