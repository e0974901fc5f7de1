"""Judgments that a strategy builds within budgets, simulated, and how systems rank by them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import told
from pt_reuse._errors import wrong
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.arrays.stratified import share_of
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.pooling.adaptive.strategy import OracleTopic, OracleTopics, Strategy, judged_in_order
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import MeansOfSets, rescore

#: steps of the curve when budgets are numbers of judgments
_STEPS = 100
#: shares that differ by less are one point of the curve
_NEAR = 1e-9


@dataclass(frozen=True)
class Budgets:
    """Budgets in rising order: shares of each topic's judged pool, or judgments per topic."""

    values: tuple[float, ...]
    shares: bool

    @property
    def unit(self) -> str:
        """Return what the values count, in words."""
        return "share of each topic's judged pool, to the nearest judgment" if self.shares else "judgments per topic"

    def judgments(self, value: float, n_judged: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (topics,): how many judgments a budget gives to topics with so many; shares are rounded halves up."""
        if not self.shares:
            return np.minimum(n_judged, int(value))
        return np.array([share_of(value, n) for n in n_judged.tolist()], dtype=np.int64)

    def curve(self, most: int) -> list[float]:
        """Return the points of the curve: every per cent, or a hundred steps, up to the largest budget."""
        last = self.values[-1]
        if self.shares:
            even = [step / 100 for step in range(math.floor(round(100 * last, 9)) + 1)]
            # a budget that is a per cent but for rounding stands on the curve already
            other = [value for value in self.values if min(abs(value - point) for point in even) > _NEAR]
            return sorted([*even, *other])
        end = min(last, most)
        return sorted({*(math.floor(end * step / _STEPS) for step in range(_STEPS + 1)), *self.values})


def checked_budgets(budgets: Any) -> Budgets:
    """Return a user's ``budgets=``, or say what is wrong with them."""
    single = isinstance(budgets, int | float | np.number)
    given = [budgets] if single else budgets.reshape(-1) if isinstance(budgets, np.ndarray) else budgets
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    are_numbers = all(isinstance(one, int | float | np.number) and not isinstance(one, bool) for one in values)
    shares = {isinstance(value, float | np.floating) for value in values}
    right = are_numbers and len(shares) == 1 and all(0 <= value <= (1 if True in shares else value) for value in values)
    if not right:
        raise wrong(
            "budgets",
            " must be one number or several of one kind: shares of the judgments from 0.0 to 1.0, such as .1 (all "
            f"judgments are the share 1.0), or whole numbers of judgments per topic, got {told(budgets)}.",
        )
    is_share = True in shares
    return Budgets(tuple(sorted({float(value) if is_share else int(value) for value in values})), is_share)


@dataclass(frozen=True)
class Task:
    """What one job works on; it needs nothing else, so that it can run anywhere."""

    topic: OracleTopic
    budget: int
    seed: int
    strategies: Sequence[Strategy]

    def run(self) -> list[NDArray[np.int64]]:
        """Return for each strategy the rows of the judgments in the order in which it asked for them."""
        lists, relevant = self.topic.lists, self.topic.relevant
        return [
            self.topic.row[judged_in_order(strategy, lists, relevant, seed=self.seed, budget=self.budget)]
            for strategy in self.strategies
        ]


def run_tasks(tasks: Sequence[Task], *, n_jobs: int | None, verbose: bool) -> list[list[NDArray[np.int64]]]:
    """Run tasks by joblib, and return what each returns, in order."""
    return list(run_jobs(tasks, len(tasks), desc="judging", unit="topic", n_jobs=n_jobs, verbose=verbose))


#: judgments taken away that are worked on at once; each takes about a kilobyte for a hundred runs
AT_ONCE = 300_000


@dataclass(frozen=True)
class ScoredField:
    """Runs that are scored under judgments and under parts of them."""

    runs: RunSet
    qrels: Qrels
    measures: Sequence[ir_measures.Measure]

    def means(self, kept: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means, (measures, runs) under all judgments, (measures, parts, runs) under the rows that are kept."""
        parts = [self._rescored(gone) for gone in self._gone(kept)]
        return parts[0][0], np.concatenate([built for _, built in parts], axis=1)

    def topic_scores(self, kept: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return scores, (measures, topics, runs) under all judgments, (measures, parts, topics, runs) under parts."""
        full = np.empty((len(self.measures), len(self.qrels.topics), len(self.runs)))
        built = []
        for gone in self._gone(kept):
            values = np.empty((len(self.measures), len(gone), *full.shape[1:]))
            for block in rescore(self.runs, self.qrels, self.measures, _without(gone)):
                topics = slice(block.topics.start, block.topics.stop)
                full[:, topics] = block.base
                values[:, :, topics] = block.base[:, None]
                values[:, block.set, block.topic] = block.values
            built.append(values)
        return full, np.concatenate(built, axis=1)

    def _gone(self, kept: Sequence[NDArray[np.int64]]) -> Iterator[list[NDArray[np.int64]]]:
        labels = self.qrels.arrays.labels
        specs = [native_spec(measure) for measure in self.measures]
        blind = all(spec is not None and not spec.sees_nonrelevant for spec in specs)
        # what no measure can see need not be taken away
        return _slices(labels > 0 if blind else labels != UNJUDGED, kept)

    def _rescored(self, gone: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means under all judgments, and under those without the rows of each set."""
        changes, n_topics = _without(gone), len(self.qrels.topics)
        means = MeansOfSets((len(self.measures), len(gone), len(self.runs)), n_topics, None)
        full = np.zeros((len(self.measures), len(self.runs)))
        for block in rescore(self.runs, self.qrels, self.measures, changes):
            for i in range(len(block.topics)):
                full += block.base[:, i]
            means.add(block)
        return full / max(n_topics, 1), means.means()


def _without(gone: Sequence[NDArray[np.int64]]) -> Changes:
    """Return the sets that each lack some rows of the judgments."""
    row = np.concatenate([np.zeros(0, dtype=np.int64), *gone])
    in_set = np.repeat(np.arange(len(gone)), [len(rows) for rows in gone])
    return Changes(len(gone), in_set, row, np.full(len(row), UNJUDGED))


def _slices(counts: NDArray[np.bool_], kept: Sequence[NDArray[np.int64]]) -> Iterator[list[NDArray[np.int64]]]:
    """Yield for some parts at a time the rows of the judgments that each lacks."""
    held: list[NDArray[np.int64]] = []
    for part in kept:
        gone = counts.copy()
        gone[part] = False
        rows = np.flatnonzero(gone)
        if held and sum(map(len, held)) + len(rows) > AT_ONCE:
            yield held
            held = []
        held.append(rows)
    yield held


def prefixes(orders: Sequence[NDArray[np.int64]], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first rows of each topic's order, together; (topics,) say how many of each."""
    parts = [order[:n] for order, n in zip(orders, lengths.tolist(), strict=True)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


@dataclass(frozen=True)
class LeavingOut:
    """Every unit that contributed is left out once: it runs no more, and what it alone brought is not judged for it."""

    oracle: OracleTopics
    topics: Sequence[OracleTopic | None]
    field: ScoredField
    units: Units
    seed: int
    how: Mapping[str, Any]

    def table(
        self,
        strategies: Sequence[Strategy],
        orders: Sequence[Sequence[NDArray[np.int64]]],
        budgets: Budgets,
        lengths: Sequence[NDArray[np.int64]],
    ) -> pd.DataFrame:
        """Return one row per strategy, budget and measure; an order has for each strategy and topic the rows judged."""
        without = dict(self._reduced(strategies, lengths[-1]))
        names = [repr(measure) for measure in self.field.measures]
        involved = sorted({unit for unit, _ in without})
        rows = []
        for s, strategy in enumerate(strategies):
            for b, value in enumerate(budgets.values):
                kept = [prefixes(orders[s], lengths[b])]
                for unit in involved:
                    mine = [without[unit, t][s] if (unit, t) in without else order for t, order in enumerate(orders[s])]
                    kept.append(prefixes(mine, lengths[b]))
                means = self.field.means(kept)[1].round(DECIMALS)
                for m, measure in enumerate(names):
                    found = self._row(means[m, 0], means[m, 1:], involved)
                    rows.append({"strategy": strategy.name, "budget": value, "measure": measure, **found})
        return pd.DataFrame(rows)

    def _row(self, full: NDArray[np.float64], reduced: NDArray[np.float64], involved: list[int]) -> dict[str, object]:
        own = full.copy()
        for place, unit in enumerate(involved):
            mine = self.units.of_run == unit
            own[mine] = reduced[place, mine]
        alone = pairs.rank_alone(full, own, self.units.of_run) - pairs.ranks(full)
        change = pairs.per_cent_change(full, own)
        row: dict[str, object] = {
            "units": len(involved),
            "own_tau_b": pairs.coefficients(full, own[None], ("tau_b",))["tau_b"][0],
            "alone_max_drop": int(alone.max()),
            "largest_loss_pct": max(0.0, float(-np.nanmin(change))) if not np.isnan(change).all() else 0.0,
        }
        if not involved:
            return {**row, "field_min_tau_b": 1.0, "field_max_drop": 0, "field_worst": None}
        field = pairs.coefficients(full, reduced, ("tau_b",))
        worst = int(np.lexsort((field["tau_b"], -field["max_drop"]))[0])
        drop = int(field["max_drop"][worst])
        row |= {"field_min_tau_b": float(field["tau_b"].min()), "field_max_drop": drop}
        return {**row, "field_worst": self.units.names[involved[worst]] if drop else None}

    def _reduced(
        self, strategies: Sequence[Strategy], budget: NDArray[np.int64]
    ) -> Iterator[tuple[tuple[int, int], list[NDArray[np.int64]]]]:
        """Yield for each unit and topic that it changes what each strategy judges without it."""
        cells, tasks = [], []
        for t, topic in enumerate(self.topics):
            if topic is None:
                continue
            for unit in self._owners(topic):
                left = self.oracle.topic(topic.lists.qid, self.units.of_run == unit)
                if left is not None:
                    cells.append((unit, t))
                    tasks.append(Task(left, int(budget[t]), self.seed, strategies))
        return zip(cells, run_tasks(tasks, **self.how), strict=True)

    def _owners(self, topic: OracleTopic) -> list[int]:
        """Return the units that alone have a relevant document of the topic."""
        place = dict(zip(self.field.runs.names, self.units.of_run.tolist(), strict=True))
        unit_of = np.array([place[name] for name in topic.lists.names], dtype=np.int64)
        owners = set()
        for document in np.flatnonzero(topic.relevant > 0).tolist():
            units = set(unit_of[topic.lists.runs_of[document]].tolist())
            if len(units) == 1:
                owners |= units
        return sorted(owners)


TAUS = ("tau_b", "tau_ap_b")
#: what is told of every strategy, budget and measure as a mean over seeds, with the lowest and the highest
TOLD = ("relevant", "recall", *TAUS, "max_drop")


#: runs of a type or team that a way of judging may favour or harm together: ``by``, its name, and (runs,) which
Group: TypeAlias = tuple[str, str, NDArray[np.bool_]]


def groups_of(run_table: pd.DataFrame, contributing: NDArray[np.bool_]) -> list[Group]:
    """Return every type of a field that has several, and every team none of whose runs contributes to the pool."""
    found = []
    for by in ("type", "team"):
        for name in dict.fromkeys(run_table[by].dropna()):
            runs = (run_table[by] == name).to_numpy(dtype=bool)
            if (by == "type" and not runs.all()) or not (runs & contributing).any():
                found.append((by, str(name), runs))
    return found


def rankings(
    key: Mapping[str, object],
    measures: Sequence[str],
    full: NDArray[np.float64],
    built: NDArray[np.float64],
) -> pd.DataFrame:
    """Return one row per measure: the ranking by (measures, runs) means under a built set against that under all."""
    rows = []
    for m, measure in enumerate(measures):
        found = pairs.coefficients(full[m].round(DECIMALS), built[m].round(DECIMALS)[None], TAUS)
        rows.append({**key, "measure": measure, **{name: found[name][0] for name in (*TAUS, "max_drop")}})
    return pd.DataFrame(rows)


def group_rows(
    key: Mapping[str, object],
    measures: Sequence[str],
    full: NDArray[np.float64],
    built: NDArray[np.float64],
    groups: Sequence[Group],
) -> pd.DataFrame:
    """Return one row per measure and group: the ranks its runs lose on average, and the change of their scores."""
    rows = []
    for m, measure in enumerate(measures):
        drops = pairs.rank_drops(full[m].round(DECIMALS), built[m].round(DECIMALS)[None])[0]
        change = pairs.per_cent_change(full[m], built[m])
        for by, name, mine in groups:
            row = {**key, "measure": measure, "by": by, "group": name, "runs": int(mine.sum())}
            row |= {"mean_drop": drops[mine].mean(), "change_pct": _mean(change[mine])}
            rows.append({**row, "others_change_pct": _mean(change[~mine])})
    return pd.DataFrame(rows)


def over_seeds(by_seed: pd.DataFrame, keys: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Return the mean of values over seeds, with the lowest and the highest, in the order in which keys appear."""
    grouped = by_seed.groupby(list(keys), sort=False)
    table = grouped.agg(seeds=("seed", "size")).reset_index()
    for name in values:
        column = grouped[name]
        has_all = column.count().to_numpy() == table["seeds"].to_numpy()
        for end, values_of in (("", column.mean()), ("_low", column.min()), ("_high", column.max())):
            table[f"{name}{end}"] = values_of.where(has_all).to_numpy()
    return table


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
