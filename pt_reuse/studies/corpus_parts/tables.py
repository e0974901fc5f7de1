"""The tables of a study of parts: agreement of pairs of parts, of pairs of measures, and means of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs as rank_pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import SHARES, agreement_of_tests
from pt_reuse.studies.corpus_parts.drawing import PairOfParts, Part
from pt_reuse.studies.corpus_parts.scoring import ScoredPart, Testing

#: what pairs of parts have in common over which means are taken
SETTING = ("source", "share", "size", "other_size")
#: what is averaged over pairs of parts
AVERAGED = (*SHARES, "tau_b")
_WITH_INTERVALS = {"agree": (0.0, 1.0), "tau_b": (-1.0, 1.0)}


class Agreements:
    """Compares scored parts, and scored measures on a part.

    Args:
        parts: the parts.
        scored: what the systems score on each.
        measures: names of the measures.
        testing: how differences are tested.
    """

    def __init__(self, parts: Sequence[Part], scored: Sequence[ScoredPart], measures: Sequence[str], testing: Testing):
        self.parts, self.scored, self.measures, self.testing = parts, scored, measures, testing
        bootstrap = testing.bootstrap
        n_topics = len(scored[0].counts)
        self._times = None if bootstrap is None else bootstrap.counts(n_topics)
        self._means: dict[tuple[int, int], NDArray[np.float64]] = {}

    def of_pairs(self, pairs: Iterable[PairOfParts]) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """Return a row per pair of parts and measure, and (rows, numbers, resamples) of their resamples of topics."""
        rows, drawn = [], []
        for pair in pairs:
            one, other = self.parts[pair.first], self.parts[pair.second]
            for m, measure in enumerate(self.measures):
                at = ((pair.first, m), (pair.second, m))
                key = {"part": one.name, "other_part": other.name, "draw": one.draw, **asdict(pair.setting)}
                numbers, resampled = self._compared(*at)
                rows.append({**key, "measure": measure, **numbers})
                drawn.append(resampled)
        return pd.DataFrame(rows).astype({"share": float, "size": "Int64", "other_size": "Int64"}), np.array(drawn)

    def of_measures(self) -> pd.DataFrame:
        """Return a row per part and pair of measures."""
        rows = []
        for i, part in enumerate(self.parts):
            for m, k in combinations(range(len(self.measures)), 2):
                key = {"part": part.name, "draw": part.draw, "measure": self.measures[m]}
                rows.append({**key, "other_measure": self.measures[k], **self._compared((i, m), (i, k))[0]})
        return pd.DataFrame(rows, columns=None if rows else ["part", "draw", "measure", "other_measure", *AVERAGED])

    def _compared(self, one: tuple[int, int], other: tuple[int, int]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Return the numbers of two (part, measure), and (numbers, resamples) of those with intervals."""
        tests = [self.scored[part].tests[measure] for part, measure in (one, other)]
        numbers = agreement_of_tests(tests[0], tests[1], self.testing.alpha, self.testing.correction).row()
        numbers["tau_b"] = tau_of(*(self.scored[part].means(measure) for part, measure in (one, other)))
        if self.testing.bootstrap is None or self._times is None:
            return numbers, np.empty((len(_WITH_INTERVALS), 0))
        a, b = (self.scored[part].drawn[measure] for part, measure in (one, other))
        agreed = agreement_of_draws(a, b)
        means = [self._drawn_means(*at) for at in (one, other)]
        taus = np.array([tau_of(x, y) for x, y in zip(*means, strict=True)])
        resampled = np.stack([agreed, taus])
        for (name, within), values in zip(_WITH_INTERVALS.items(), resampled, strict=True):
            ends = self.testing.bootstrap.interval(numbers[name], values, within=within)
            numbers[f"{name}_low"], numbers[f"{name}_high"] = ends
        return numbers, resampled

    def _drawn_means(self, part: int, measure: int) -> NDArray[np.float64]:
        if (part, measure) not in self._means:
            scores: TopicScores = self.scored[part].topic_scores(measure)
            self._means[part, measure] = scores.means(self._times)
        return self._means[part, measure]


def tau_of(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return tau-b of two (systems,) means; NaN where one side ties all."""
    return float(
        rank_pairs.coefficients(np.round(one, DECIMALS), np.round(other, DECIMALS)[None], ("tau_b",))["tau_b"][0]
    )


def agreement_of_draws(one: NDArray[np.int8], other: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return (resamples,) agree-SS_a of two (resamples, pairs) of winners; NaN where nothing is significant."""
    alike = 2 * ((one == other) & (one != 0)).sum(axis=1)
    weight = (one != 0).sum(axis=1) + (other != 0).sum(axis=1)
    return np.divide(alike, weight, out=np.full(len(one), np.nan), where=weight > 0)


def averaged(
    rows: pd.DataFrame,
    keys: Sequence[str],
    counted: str,
    drawn: NDArray[np.float64] | None = None,
    bootstrap: TopicBootstrap | None = None,
) -> pd.DataFrame:
    """Return means over rows, with their standard errors, and intervals over topics where there are resamples.

    Args:
        rows: with the keys, ``draw`` and the numbers.
        keys: of the rows over which a mean is taken.
        counted: what the number of these rows is called.
        drawn: (rows, numbers, resamples) of the numbers that have intervals.
        bootstrap: that made these.
    """
    found = []
    for key, mine in rows.groupby(list(keys), sort=False, dropna=False):
        row: dict[str, object] = dict(zip(keys, key, strict=True))
        row[counted] = len(mine)
        row["draws"] = mine["draw"].nunique()
        for name in AVERAGED:
            row[name] = mine[name].mean()
            row[f"{name}_se"] = standard_error(mine[name].to_numpy(dtype=float), mine["draw"].to_numpy())
        if bootstrap is not None and drawn is not None:
            of_rows = drawn[rows.index.get_indexer(mine.index)]
            for i, (name, within) in enumerate(_WITH_INTERVALS.items()):
                known = ~np.isnan(of_rows[:, i])
                total = np.where(known, of_rows[:, i], 0).sum(axis=0)
                means = np.divide(total, known.sum(axis=0), out=np.full(len(total), np.nan), where=known.any(axis=0))
                ends = bootstrap.interval(float(mine[name].mean()), means, within=within)
                row[f"{name}_low"], row[f"{name}_high"] = ends
        found.append(row)
    return pd.DataFrame(found)


def standard_error(values: NDArray[np.float64], draw: NDArray[np.int64]) -> float:
    """Return the standard error of a mean that a bootstrap comes to with ever more resamples; NaN for one value alone.

    What is drawn again are whole draws, each with its values, where there are several; else the values. Values that are
    NaN count nowhere.

    Args:
        values: (rows,) what the mean is of.
        draw: (rows,) the draw that each belongs to.
    """
    known = ~np.isnan(values)
    values, draw = values[known], draw[known]
    several = len(np.unique(draw)) > 1
    units = np.unique(draw, return_inverse=True)[1] if several else np.arange(len(values))
    if len(values) < 2:
        return float("nan")
    # the mean is a ratio of sums over units, since a unit may have fewer values than another
    off = np.bincount(units, values - values.mean())
    return float(np.sqrt((off**2).sum()) / len(values))


def part_table(parts: Sequence[Part], scored: Sequence[ScoredPart], added: int) -> pd.DataFrame:
    """Return a row per part: what it is, and what is left of judgments and runs on it."""
    rows = [
        {
            "part": part.name,
            "draw": part.draw,
            "source": part.source,
            "share": part.share,
            "drawn": len(part.documents),
            "documents": len(part.documents) + added,
            "judged": found.judged,
            "topics": int(found.counts.sum()),
            "per_list": found.retrieved,
            "empty_lists": found.emptied,
        }
        for part, found in zip(parts, scored, strict=True)
    ]
    return pd.DataFrame(rows).astype({"share": float})


def tested_table(
    parts: Sequence[Part], scored: Sequence[ScoredPart], measures: Sequence[str], found: NDArray[np.int8]
) -> pd.DataFrame:
    """Return a row per part and measure: how many pairs of systems differ significantly, and which mean is best.

    Args:
        parts: the parts.
        scored: what the systems score on each.
        measures: names of the measures.
        found: (parts, measures, pairs) who is significantly better.
    """
    rows: list[Mapping[str, object]] = []
    for i, (part, one) in enumerate(zip(parts, scored, strict=True)):
        for m, measure in enumerate(measures):
            n = int((found[i, m] != 0).sum())
            mean = one.means(m)
            rows.append(
                {
                    "part": part.name,
                    "draw": part.draw,
                    "measure": measure,
                    "pairs": found.shape[2],
                    "significant": n,
                    "significant_share": n / found.shape[2],
                    "least": float(mean.min()),
                    "most": float(mean.max()),
                }
            )
    return pd.DataFrame(rows)
