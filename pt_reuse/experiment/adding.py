"""Added columns put into what pt.Experiment returned, of whatever form, and its scores compared with ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import warn
from pt_reuse.experiment.columns import BOUNDS, COUNTS, ORDER, RANKS, Columns
from pt_reuse.experiment.layouts import to_long

_SAME = 1e-9
_SAME_BY_GDEVAL = 6e-6  # it prints five decimals, and computes nDCG(dcg='exp-log2')


@dataclass(frozen=True)
class Place:
    """Whose score it is: a system's, on one topic or (None) on all."""

    system: str
    qid: str | None = None

    def __str__(self) -> str:
        return repr(self.system) if self.qid is None else f"{self.system!r} on topic {self.qid!r}"


@dataclass(frozen=True)
class Difference:
    """A score that pt.Experiment gives otherwise than the order of the added columns does."""

    place: Place
    theirs: float
    ours: float


class Adding:
    """Puts columns into whatever pt.Experiment returned, and notes where its scores and ours differ."""

    def __init__(self, columns: Columns, rounding: int | dict[str, int] | None):
        self.columns, self.rounding = columns, rounding
        self._system = {name: s for s, name in enumerate(columns.systems)}
        self._topic = {qid: t for t, qid in enumerate(columns.qids)}
        self._odd: dict[str, dict[str, Difference]] = {}

    def to(self, result: Any, perquery: bool | str) -> Any:
        """Return the same kind of result with the columns."""
        if perquery == "both":
            both = self.to(result[0], False), self.to(result[1], True)
            return type(result)(*both) if hasattr(result, "_fields") else both
        if isinstance(result, dict):
            return self._to_topic_dict(result) if perquery else self._to_mean_dict(result)
        if perquery:
            return self.to_topics(result)
        if isinstance(result, pd.DataFrame):
            return self.to_means(result)
        # a Styler: the same styles on the wider frame
        return self.to_means(result.data).style.use(result.export())

    def means(self, result: Any, perquery: bool | str) -> pd.DataFrame | None:
        """Return the means of a result that has the columns, in the long layout; None where there are none.

        By topic alone pt.Experiment gives no means: those of our scores are its, where it does not differ.
        """
        if isinstance(result, dict) or (isinstance(result, tuple) and isinstance(result[0], dict)):
            return None
        if perquery is not True:
            frame = result[0] if isinstance(result, tuple) else result
            return self.long(frame if isinstance(frame, pd.DataFrame) else frame.data)
        if not set(self.columns.measures) <= set(self.columns.scores):
            return None
        names = list(dict.fromkeys(result["name"]))
        at = [self._system[str(name)] for name in names]
        means = {name: self._rounded(values.mean[at], name) for name, values in self.columns.scores.items()}
        return self.long(self.to_means(pd.DataFrame({"name": names, **means})))

    def long(self, wide: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of means with the columns in the long layout."""
        return to_long(wide, self.columns.measures, self.columns.added)

    def warn_of_differences(self) -> None:
        """Warn, once per measure, where pt.Experiment's score is not the one the added columns go with."""
        for measure, found in self._odd.items():
            one = next(iter(found.values()))
            some = f"{len(found)} of {count(len(self.columns.systems), 'system')}"
            warn(
                f"{measure} of {one.place} is {one.theirs:.6f} by pt.Experiment and {one.ours:.6f} in the order of the "
                f"added columns ({ORDER}), and differs for {some}: its provider breaks score ties another way, "
                f"averages differently, or mixes it up with another measure. Compare its added columns among "
                f"themselves."
            )

    def to_means(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of means, a row per system, with the columns."""
        places = [Place(str(name)) for name in frame["name"]]
        at = [self._system[place.system] for place in places]
        added = {}
        for measure in self.columns.measures:
            theirs = frame[measure].to_numpy(dtype=np.float64) if measure in frame.columns else None
            if theirs is not None and measure in self.columns.scores:
                self._compare(measure, places, theirs, self.columns.scores[measure].mean[at])
            for column, values in self.columns.added.items():
                if measure in values:
                    added[f"{measure} {column}"] = self._shown(column, values[measure].mean[at], measure, theirs)
        if self.columns.pooled is not None:
            added["pooled"] = self._pooled(places, self.columns.pooled)
        return self._labelled(pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1), frame)

    def to_topics(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with a row per system, topic and measure with the columns."""
        wide = frame.copy()
        places = [Place(str(name), str(qid)) for name, qid in zip(frame["name"], frame["qid"], strict=True)]
        system = np.array([self._system[place.system] for place in places], dtype=np.int64)
        topic = np.array([self._topic.get(str(place.qid), -1) for place in places], dtype=np.int64)
        measures = frame["measure"].to_numpy()
        # a topic without judgments has no value, as in pt.Experiment
        rows_of = {measure: np.flatnonzero((measures == measure) & (topic >= 0)) for measure in self.columns.measures}
        for measure, ours in self.columns.scores.items():
            rows = rows_of[measure]
            theirs = frame["value"].to_numpy(dtype=np.float64)[rows]
            self._compare(measure, [places[row] for row in rows], theirs, ours.by_topic[topic[rows], system[rows]])
        for column, by_measure in self.columns.added.items():
            found = np.full(len(frame), np.nan)
            for measure, values in by_measure.items():
                rows = rows_of[measure]
                mine = values.by_topic[topic[rows], system[rows]]
                found[rows] = self._shown(column, mine, measure, frame["value"].to_numpy(dtype=np.float64)[rows])
            whole = column in (*RANKS, *COUNTS) and not np.isnan(found).any()
            wide[column] = found.astype(np.int64) if whole else found
        if self.columns.pooled is not None:
            wide["pooled"] = self._pooled(places, self.columns.pooled)
        return self._labelled(wide, frame)

    def _to_mean_dict(self, result: dict[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
        for name, values in result.items():
            s = self._system[str(name)]
            for measure in self.columns.measures:
                if measure in self.columns.scores and measure in values:
                    theirs = np.array([values[measure]], dtype=float)
                    self._compare(measure, [Place(str(name))], theirs, self.columns.scores[measure].mean[[s]])
                for column, by_measure in self.columns.added.items():
                    if measure in by_measure:
                        mine = by_measure[measure].mean[[s]]
                        values[f"{measure} {column}"] = self._of_dict(column, mine, measure, values)
        return result

    def _to_topic_dict(self, result: dict[int, dict[str, dict[str, Any]]]) -> dict[int, dict[str, dict[str, Any]]]:
        for s, by_topic in result.items():
            for qid, values in by_topic.items():
                t = self._topic.get(str(qid), -1)
                for measure in self.columns.measures if t >= 0 else ():
                    if measure in self.columns.scores and measure in values:
                        place = Place(self.columns.systems[s], str(qid))
                        ours = self.columns.scores[measure].by_topic[[t], [s]]
                        self._compare(measure, [place], np.array([values[measure]], dtype=float), ours)
                    for column, by_measure in self.columns.added.items():
                        if measure in by_measure:
                            mine = by_measure[measure].by_topic[[t], [s]]
                            values[f"{measure} {column}"] = self._of_dict(column, mine, measure, values)
        return result

    def _labelled(self, wide: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
        wide.attrs = {**frame.attrs, "reuse": self.columns.attrs()}
        return wide

    def _pooled(self, places: list[Place], pooled: dict[str, bool]) -> NDArray[np.bool_]:
        return np.array([pooled[place.system] for place in places], dtype=bool)

    def _digits(self, measure: str) -> int | None:
        return self.rounding.get(measure) if isinstance(self.rounding, dict) else self.rounding

    def _rounded(self, values: NDArray, measure: str) -> NDArray:
        digits = self._digits(measure)
        return values if digits is None or values.dtype.kind != "f" else np.round(values, digits)

    def _shown(self, column: str, values: NDArray, measure: str, theirs: NDArray[np.float64] | None) -> NDArray:
        """Return what a frame shows of an added column beside the scores of pt.Experiment, None where it has none."""
        return self._rounded(self._not_past(column, values, measure, theirs), measure)

    def _of_dict(self, column: str, value: NDArray, measure: str, found: dict[str, Any]) -> float | int:
        theirs = np.array([found[measure]], dtype=float) if measure in found else None
        number: float | int = self._not_past(column, value, measure, theirs).item()
        return number

    def _not_past(self, column: str, values: NDArray, measure: str, theirs: NDArray[np.float64] | None) -> NDArray:
        """Return values of which no bound is past the score beside it, from which a mean may differ in its last bit."""
        if column not in BOUNDS or theirs is None:
            return values
        bounds = (np.minimum if column == BOUNDS[0] else np.maximum)(values, theirs)
        return np.where(np.abs(bounds - values) <= self._same(measure), bounds, values)

    def _same(self, measure: str) -> float:
        """Return how far a score of pt.Experiment may be from ours and be the same."""
        digits = self._digits(measure)
        same = _SAME_BY_GDEVAL if "exp-log2" in measure else _SAME
        return same + (0.0 if digits is None else 0.5 * 10.0**-digits)

    def _compare(self, measure: str, places: list[Place], theirs: NDArray[np.float64], ours: NDArray) -> None:
        # both must rank documents alike, or the columns of one row would not be comparable; NaN is pt.Experiment's
        # value where a topic has no judgments, of which it warns itself
        for i in np.flatnonzero(np.abs(theirs - ours) > self._same(measure)).tolist():
            found = Difference(places[i], float(theirs[i]), float(ours[i]))
            self._odd.setdefault(measure, {}).setdefault(found.place.system, found)
