"""Added columns put beside the scores of a result of pt.Experiment, of whatever form, in either layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse.errors import InputError, warn
from pt_reuse.experiment.columns import BOUNDS, COUNTS, NO_FIELD, ORDER, RANKS, Columns

_SAME = 1e-9
_SAME_BY_GDEVAL = 6e-6  # it prints five decimals, and computes nDCG(dcg='exp-log2')


class Adding:
    """Puts columns into whatever pt.Experiment returned, and notes where its scores and ours differ."""

    def __init__(self, columns: Columns, rounding: int | dict[str, int] | None):
        self.columns, self.rounding = columns, rounding
        # measure -> system -> its first score that differs: where, theirs, ours
        self._odd: dict[str, dict[str, tuple[str, float, float]]] = {}

    def to(self, result: Any, perquery: bool | str) -> Any:
        """Return a result with the columns; in a pair or a Styler they are in the frames."""
        if perquery == "both":
            return like(result, self.to(result[0], False), self.to(result[1], True))
        if perquery:
            return self.to_topics(result)
        if isinstance(result, pd.DataFrame):
            return self.to_means(result)
        # a Styler: the same styles on the wider frame
        return self.to_means(result.data).style.use(result.export())

    def means(self, result: Any, perquery: bool | str) -> pd.DataFrame | None:
        """Return the means of a result that has the columns, not rounded, in the long layout; None without any."""
        scores, systems = self.columns.scores, self.columns.systems
        if perquery is True:
            if not set(self.columns.measures) <= set(scores):
                return None
            frame, shown = pd.DataFrame({"name": list(dict.fromkeys(result["name"]))}), self.columns.measures
        else:
            frame = result[0] if isinstance(result, tuple) else result
            frame = frame if isinstance(frame, pd.DataFrame) else frame.data
            if self.rounding is None:
                return self.long(frame)
            shown = list(frame.columns.intersection(list(scores)))
        attrs = frame.attrs
        for measure in shown:
            ours = of_systems(systems, scores[measure].mean, frame["name"])
            if measure in frame:
                # our scores where pt.Experiment's are these, rounded
                theirs = frame[measure].to_numpy()
                ours = np.where(np.abs(theirs - ours) <= self._same(measure), ours, theirs)
            frame = frame.assign(**{measure: ours})
        frame.attrs = attrs
        return self.long(Adding(self.columns, None).to_means(frame))

    def long(self, wide: pd.DataFrame) -> pd.DataFrame:
        """Return a wide frame of means in the long layout."""
        return to_long(wide, self.columns.measures, self.columns.added)

    def warn_of_differences(self, finished: bool) -> None:
        """Warn, once per measure, where pt.Experiment's score is not the one the added columns go with."""
        for measure, odd in self._odd.items():
            place, theirs, ours = next(iter(odd.values()))
            why = "the runs, judgments or topics are not those of the experiment, or it is rounded (pass round=), or "
            warn(
                f"{measure} of {place} is {theirs:.6f} by pt.Experiment and {ours:.6f} in the order of the added "
                f"columns ({ORDER}), and differs for {len(odd)} of {count(len(self.columns.systems), 'system')}: "
                f"{why if finished else ''}its provider breaks score ties another way, averages differently, or mixes "
                "it up with another measure. Compare its added columns among themselves."
            )

    def to_means(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of means, a row per system, with the columns."""
        names, systems, added = frame["name"].map(str), self.columns.systems, {}
        for measure in self.columns.measures:
            theirs = frame[measure].to_numpy(dtype=np.float64) if measure in frame.columns else None
            if theirs is not None and measure in self.columns.scores:
                ours = of_systems(systems, self.columns.scores[measure].mean, names)
                self._compare(measure, list(names), [repr(name) for name in names], theirs, ours)
            for column, values in self.columns.added.items():
                if measure in values:
                    here = of_systems(systems, values[measure].mean, names)
                    added[f"{measure} {column}"] = self._finished(column, here, measure, theirs)
        return self._beside(frame, added)

    def to_topics(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with a row per system, topic and measure with the columns."""
        columns = self.columns
        system = pd.Index(columns.systems).get_indexer(frame["name"].map(str))
        topic = pd.Index(columns.qids).get_indexer(frame["qid"].map(str))
        scores = frame["value"].to_numpy(dtype=np.float64)
        added = {column: np.full(len(frame), np.nan) for column in columns.added}
        for measure in columns.measures:
            # a topic without judgments has no value, as in pt.Experiment
            rows = np.flatnonzero((frame["measure"] == measure).to_numpy() & (topic >= 0))
            t, s = topic[rows], system[rows]
            if measure in columns.scores:
                names = [columns.systems[i] for i in s]
                places = [f"{name!r} on topic {columns.qids[i]!r}" for name, i in zip(names, t, strict=True)]
                self._compare(measure, names, places, scores[rows], columns.scores[measure].by_topic[t, s])
            for column, values in columns.added.items():
                if measure in values:
                    here = values[measure].by_topic[t, s]
                    added[column][rows] = self._finished(column, here, measure, scores[rows])
        whole = [name for name, values in added.items() if name in (*RANKS, *COUNTS) and not np.isnan(values).any()]
        return self._beside(frame, {**added, **{name: added[name].astype(np.int64) for name in whole}})

    def _beside(self, frame: pd.DataFrame, added: Mapping[str, NDArray]) -> pd.DataFrame:
        """Return a frame with columns, anew those that were added before; columns that are somebody's own stay."""
        there = [column for column in added if column in frame.columns]
        if there and "reuse" not in frame.attrs:
            raise InputError(
                f"the result has columns of its own by the names of those to add, {examples(there)}. Rename them.",
                argument="result",
            )
        wide = pd.concat([frame.drop(columns=there), pd.DataFrame(added, index=frame.index)], axis=1)
        if self.columns.pooled is not None:
            wide["pooled"] = np.array([self.columns.pooled[str(name)] for name in frame["name"]], dtype=bool)
        wide.attrs = {**frame.attrs, "reuse": self.columns.attrs()}
        return wide

    def _digits(self, measure: str) -> int | None:
        return self.rounding.get(measure) if isinstance(self.rounding, dict) else self.rounding

    def _finished(self, column: str, values: NDArray, measure: str, theirs: NDArray[np.float64] | None) -> NDArray:
        """Return values as they are shown: no bound past the score beside it, rounded as the measure is."""
        if column in BOUNDS and theirs is not None:
            # from which a mean may differ in its last bit
            bounds = (np.minimum if column == BOUNDS[0] else np.maximum)(values, theirs)
            values = np.where(np.abs(bounds - values) <= self._same(measure), bounds, values)
        digits = self._digits(measure)
        return values if digits is None or values.dtype.kind != "f" else np.round(values, digits)

    def _same(self, measure: str) -> float:
        """Return how far a score of pt.Experiment may be from ours and be the same."""
        digits = self._digits(measure)
        same = _SAME_BY_GDEVAL if "exp-log2" in measure else _SAME
        return same + (0.0 if digits is None else 0.5 * 10.0**-digits)

    def _compare(self, measure: str, systems: list[str], places: list[str], theirs: NDArray, ours: NDArray) -> None:
        # both must rank documents alike, or the columns of one row would not be comparable; NaN is pt.Experiment's
        # value where a topic has no judgments, of which it warns itself
        for i in np.flatnonzero(np.abs(theirs - ours) > self._same(measure)).tolist():
            said = (places[i], float(theirs[i]), float(ours[i]))
            self._odd.setdefault(measure, {}).setdefault(systems[i], said)


def of_systems(systems: list[str], values: NDArray, names: Iterable[Any]) -> NDArray:
    """Return the values of systems, (systems,), for names of some of them, in their order."""
    return values[pd.Index(systems).get_indexer([str(name) for name in names])]


def like(pair: Any, first: Any, second: Any) -> Any:
    """Return two results as the pair that pt.Experiment returns, a tuple or a named one."""
    return type(pair)(first, second) if hasattr(pair, "_fields") else (first, second)


# layouts: wide, a column per number of each measure; long, a row per measure

#: what `layout=` may be, the default first
LAYOUTS = ("wide", "long")
#: what pt.Experiment adds to a measure beside a baseline
OF_BASELINE = ("+", "-", "p-value", "reject", "p-value corrected")
#: columns that follow from others, which a row of the long layout has no room for: it is rank + drop
_FOLLOWS = frozenset(f"LOU rank{end}" for end in ("", NO_FIELD))
#: columns of whole numbers, empty for the baseline itself or for a time
_WHOLE = (*RANKS, *COUNTS, "+", "-")
#: the mean response time, a column of pt.Experiment that is no measure
TIME = "mrt"


def check_layout(layout: Any, arguments: Mapping[str, Any]) -> None:
    """Raise unless `layout` is one, and possible for what else is asked of pt.Experiment."""
    if choice("layout", layout, LAYOUTS) == "long" and arguments.get("highlight") is not None:
        problem = "highlight= needs a column per measure, of which the long layout has none. Leave one of the two out."
        raise InputError(problem, argument="layout")


def in_layout(result: Any, layout: str, perquery: bool | str, long: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    """Return a wide result in the layout asked for; a frame by topic has a row per measure in either."""
    if layout == "wide" or perquery is True:
        return result
    return like(result, long(result[0]), result[1]) if perquery == "both" else long(result)


def to_long(wide: pd.DataFrame, measures: Iterable[str], added: Iterable[str]) -> pd.DataFrame:
    """Return a frame of means as one row per system and measure, systems first."""
    rows = [measure for measure in [*dict.fromkeys(measures), TIME] if measure in wide.columns]
    suffixes = [*OF_BASELINE, *(column for column in added if column not in _FOLLOWS)]
    parts = []
    for i, measure in enumerate(rows):
        part = pd.DataFrame({"name": wide["name"].to_numpy(), "measure": measure, "value": wide[measure].to_numpy()})
        for suffix in suffixes:
            if f"{measure} {suffix}" in wide.columns:
                part[suffix] = wide[f"{measure} {suffix}"].to_numpy()
        parts.append(part.set_index(np.arange(len(wide)) * len(rows) + i))
    long = pd.concat(parts).sort_index()
    long = long[[column for column in ("name", "measure", "value", *suffixes) if column in long]].reset_index(drop=True)
    for column in _WHOLE:
        if column in long.columns and not pd.api.types.is_integer_dtype(long[column]):
            long[column] = long[column].astype("Int64")
    long.attrs = dict(wide.attrs)
    return long
