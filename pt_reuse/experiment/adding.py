"""Added columns put into what pt.Experiment returned, of whatever form, in either layout, and into what it saved."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse._files import write_together
from pt_reuse.data.packed_files import UnreadableError, read_bytes
from pt_reuse.errors import InputError, warn
from pt_reuse.experiment.columns import BOUNDS, COUNTS, NO_FIELD, ORDER, RANKS, Columns, Values

_SAME = 1e-9
_SAME_BY_GDEVAL = 6e-6  # it prints five decimals, and computes nDCG(dcg='exp-log2')


class Adding:
    """Puts columns into whatever pt.Experiment returned, and notes where its scores and ours differ."""

    def __init__(self, columns: Columns, rounding: int | dict[str, int] | None):
        self.columns, self.rounding = columns, rounding
        self._system = {name: s for s, name in enumerate(columns.systems)}
        self._topic = {qid: t for t, qid in enumerate(columns.qids)}
        # measure -> system -> its first score that differs: where, theirs, ours
        self._odd: dict[str, dict[str, tuple[str, float, float]]] = {}

    def to(self, result: Any, perquery: bool | str) -> Any:
        if perquery == "both":
            return like(result, self.to(result[0], False), self.to(result[1], True))
        if isinstance(result, dict):
            return self._to_dict(result, perquery=bool(perquery))
        if perquery:
            return self.to_topics(result)
        if isinstance(result, pd.DataFrame):
            return self.to_means(result)
        # a Styler: the same styles on the wider frame
        return self.to_means(result.data).style.use(result.export())

    def means(self, result: Any, perquery: bool | str) -> pd.DataFrame | None:
        """Return the means of a result that has the columns, not rounded, in the long layout; None without any."""
        if isinstance(result, dict) or (isinstance(result, tuple) and isinstance(result[0], dict)):
            return None
        exact = Adding(self.columns, None)
        if perquery is not True:
            frame = result[0] if isinstance(result, tuple) else result
            frame = frame if isinstance(frame, pd.DataFrame) else frame.data
            return self.long(frame if self.rounding is None else exact.to_means(self._not_rounded(frame)))
        if not set(self.columns.measures) <= set(self.columns.scores):
            return None
        names = list(dict.fromkeys(result["name"]))
        at = [self._system[str(name)] for name in names]
        means = {name: values.mean[at] for name, values in self.columns.scores.items()}
        return self.long(exact.to_means(pd.DataFrame({"name": names, **means})))

    def _not_rounded(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of means with our scores where pt.Experiment's are these, rounded."""
        at = [self._system[str(name)] for name in frame["name"]]
        exact = {}
        for measure in frame.columns.intersection(list(self.columns.scores)):
            ours = self.columns.scores[measure].mean[at]
            exact[measure] = np.where(np.abs(frame[measure] - ours) <= self._same(measure), ours, frame[measure])
        found = frame.assign(**exact)
        found.attrs = frame.attrs
        return found

    def long(self, wide: pd.DataFrame) -> pd.DataFrame:
        return to_long(wide, self.columns.measures, self.columns.added)

    def warn_of_differences(self, finished: bool) -> None:
        """Warn, once per measure, where pt.Experiment's score is not the one the added columns go with."""
        for measure, odd in self._odd.items():
            place, theirs, ours = next(iter(odd.values()))
            some = f"{len(odd)} of {count(len(self.columns.systems), 'system')}"
            said = f"{measure} of {place} is {theirs:.6f} by pt.Experiment and {ours:.6f} in the order of the added "
            said += f"columns ({ORDER}), and differs for {some}: "
            digits = _digits_of(odd.values()) if finished and self._digits(measure) is None else None
            if digits is not None:
                warn(f"{said}the result is rounded. Pass round={digits!r}.")
                continue
            others = (
                "the runs or judgments are not those of the experiment, or its topics are others (pass topics=), or "
            )
            why = others if finished else ""
            warn(
                f"{said}{why}its provider breaks score ties another way, averages differently, or mixes it up with "
                "another measure. Compare its added columns among themselves."
            )

    def to_means(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of means, a row per system, with the columns."""
        systems, added = [str(name) for name in frame["name"]], {}
        for measure in self.columns.measures:
            theirs = frame[measure].to_numpy(dtype=np.float64) if measure in frame.columns else None
            beside = self._beside(measure, systems, None, theirs)
            added.update({f"{measure} {column}": self._rounded(values, measure) for column, values in beside.items()})
        kept = self._without(frame, added)
        return self._finished(pd.concat([kept, pd.DataFrame(added, index=frame.index)], axis=1), frame)

    def to_topics(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with a row per system, topic and measure with the columns."""
        systems, qids = np.array(frame["name"].map(str)), np.array(frame["qid"].map(str))
        measures, scores = frame["measure"].to_numpy(), frame["value"].to_numpy(dtype=np.float64)
        # a topic without judgments has no value, as in pt.Experiment
        known = np.isin(qids, self.columns.qids)
        added = {column: np.full(len(frame), np.nan) for column in self.columns.added}
        for measure in self.columns.measures:
            rows = np.flatnonzero((measures == measure) & known)
            beside = self._beside(measure, systems[rows].tolist(), qids[rows].tolist(), scores[rows])
            for column, values in beside.items():
                added[column][rows] = self._rounded(values, measure)
        wide = self._without(frame, added).copy()
        for column, values in added.items():
            whole = column in (*RANKS, *COUNTS) and not np.isnan(values).any()
            wide[column] = values.astype(np.int64) if whole else values
        return self._finished(wide, frame)

    @staticmethod
    def _without(frame: pd.DataFrame, added: Iterable[str]) -> pd.DataFrame:
        """Return a frame without the columns that are added anew; columns that are somebody's own stay."""
        there = [column for column in added if column in frame.columns]
        if there and "reuse" not in frame.attrs:
            raise InputError(
                f"the result has columns of its own by the names of those to add, {examples(there)}. Rename them.",
                argument="result",
            )
        return frame.drop(columns=there)

    def _to_dict(self, result: dict[Any, dict[str, Any]], *, perquery: bool) -> dict[Any, dict[str, Any]]:
        # means by the names of systems, scores of topics by their numbers
        for system, found in result.items():
            if not perquery:
                found.update(self._cells(found, str(system), None))
                continue
            for qid, values in found.items():
                if str(qid) in self._topic:
                    values.update(self._cells(values, self.columns.systems[system], str(qid)))
        return result

    def _cells(self, values: Mapping[str, Any], system: str, qid: str | None) -> dict[str, Any]:
        cells = {}
        for measure in self.columns.measures:
            theirs = np.array([values[measure]], dtype=float) if measure in values else None
            beside = self._beside(measure, [system], None if qid is None else [qid], theirs)
            cells.update({f"{measure} {column}": number.item() for column, number in beside.items()})
        return cells

    def _beside(
        self, measure: str, systems: Sequence[str], qids: Sequence[str] | None, theirs: NDArray[np.float64] | None
    ) -> dict[str, NDArray]:
        """Return what stands beside pt.Experiment's scores of systems (and topics), and compare these with ours."""
        s = np.array([self._system[name] for name in systems], dtype=np.int64)
        t = None if qids is None else np.array([self._topic[qid] for qid in qids], dtype=np.int64)

        def take(values: Values) -> NDArray:
            return values.mean[s] if t is None else values.by_topic[t, s]

        if theirs is not None and measure in self.columns.scores:
            self._compare(measure, systems, qids, theirs, take(self.columns.scores[measure]))
        return {
            column: self._not_past(column, take(values[measure]), measure, theirs)
            for column, values in self.columns.added.items()
            if measure in values
        }

    def _finished(self, wide: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
        pooled = self.columns.pooled
        if pooled is not None:
            wide["pooled"] = np.array([pooled[str(name)] for name in frame["name"]], dtype=bool)
        wide.attrs = {**frame.attrs, "reuse": self.columns.attrs()}
        return wide

    def _digits(self, measure: str) -> int | None:
        return self.rounding.get(measure) if isinstance(self.rounding, dict) else self.rounding

    def _rounded(self, values: NDArray, measure: str) -> NDArray:
        digits = self._digits(measure)
        return values if digits is None or values.dtype.kind != "f" else np.round(values, digits)

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

    def _compare(
        self, measure: str, systems: Sequence[str], qids: Sequence[str] | None, theirs: NDArray, ours: NDArray
    ) -> None:
        # both must rank documents alike, or the columns of one row would not be comparable; NaN is pt.Experiment's
        # value where a topic has no judgments, of which it warns itself
        for i in np.flatnonzero(np.abs(theirs - ours) > self._same(measure)).tolist():
            system = str(systems[i])
            place = repr(system) if qids is None else f"{system!r} on topic {str(qids[i])!r}"
            self._odd.setdefault(measure, {}).setdefault(system, (place, float(theirs[i]), float(ours[i])))


def _digits_of(odd: Iterable[tuple[str, float, float]]) -> int | None:
    """Return to how many digits scores were rounded, None where they differ by more than that."""
    pairs = [(theirs, ours) for _, theirs, ours in odd]
    return next((d for d in range(6) if all(abs(np.round(ours, d) - theirs) < _SAME for theirs, ours in pairs)), None)


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
    choice("layout", layout, LAYOUTS)
    marks = arguments.get("highlight") is not None
    if layout == "long" and (marks or not arguments["dataframe"]):
        option = "highlight=" if marks else "dataframe=False"
        said = " needs a column or a key per measure, of which the long layout has none. Leave one of the two out."
        raise InputError(f"{option}{said}", argument="layout")


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


# the folder where pt.Experiment saves

#: what pt.Experiment writes on every call -> what stands beside it, with the added columns
BESIDE = {"aggregated.csv": "reuse-aggregated.csv", "perquery.csv": "reuse-perquery.csv"}
#: says of each row among which runs its ranks are, since rows of several calls may stand in one file
AMONG = "ranked among"
_KEYS = {"aggregated.csv": ["name"], "perquery.csv": ["name", "qid", "measure"]}


@dataclass(frozen=True)
class SavedTables:
    """Where the tables of an experiment are saved, and the tables that stood there before, of other systems too."""

    folder: Path
    before: Mapping[str, pd.DataFrame]

    def save(self, added: Adding) -> None:
        """Write the tables that pt.Experiment has written of the systems again, with the added columns."""
        systems, files = added.columns.systems, []
        among = added.columns.settings.get(AMONG, "not ranked")
        for name, beside in BESIDE.items():
            # versions of pt.Experiment there are that write none
            if not (self.folder / name).exists():
                continue
            theirs = _read(self.folder / name)
            theirs = theirs[theirs["name"].isin(systems)].reset_index(drop=True)
            table = (added.to_means if name == "aggregated.csv" else added.to_topics)(theirs).assign(**{AMONG: among})
            if name in self.before:
                others = self.before[name][~self.before[name]["name"].isin(systems)]
                table = pd.concat([table, others], ignore_index=True) if len(others) else table
            files.append((beside, table.to_csv(index=False).encode("utf-8", "surrogateescape")))
        try:
            write_together(self.folder, files)
        except OSError as error:
            # what was computed is worth more than its tables
            warn(
                f"{self.folder} cannot be written to: {error.strerror or error}. The results of the systems and the "
                f"tables of pt.Experiment are there, {' and '.join(BESIDE.values())} are not, or those of before."
            )


def plan_tables(arguments: Mapping[str, Any]) -> SavedTables | None:
    """Return where the tables will be saved, None for an experiment that is not saved."""
    if arguments.get("save_dir") is None:
        return None
    folder, before = Path(arguments["save_dir"]), {}
    for name, ours in BESIDE.items():
        path, why, error = folder / ours, "it cannot be read as one", None
        if not path.exists():
            continue
        try:
            before[name] = _read(path)
            missing = [column for column in (*_KEYS[name], AMONG) if column not in before[name].columns]
            why = f"it lacks {examples(missing)}" if missing else ""
        except (UnreadableError, ValueError) as problem:
            error = problem
        if why:
            said = f"{path} is not a table that Experiment wrote ({why}), and would be replaced. Move it, or give "
            raise InputError(f"{said}another folder.", argument="save_dir") from error
    return SavedTables(folder, before)


def _read(path: Path) -> pd.DataFrame:
    # a system may be called "NA"
    texts = {"name": str, "qid": str, "measure": str}
    data = read_bytes(path)
    header = pd.read_csv(io.BytesIO(data), nrows=0).columns
    empty: dict[Any, list[str]] = {column: [] if column in texts else [""] for column in header}
    dtypes: Any = {column: str for column in header if column in texts}
    return pd.read_csv(io.BytesIO(data), dtype=dtypes, na_values=empty, keep_default_na=False)
