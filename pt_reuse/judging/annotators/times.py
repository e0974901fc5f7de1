"""label_times: how long labels took, by annotator, label and topic; how many hours in all, and which are odd."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import count, shown
from pt_reuse.columns import Table
from pt_reuse.data.csv_files import TIMES
from pt_reuse.data.frame_columns import as_ids, in_our_columns
from pt_reuse.errors import InputError
from pt_reuse.judging.annotators.labels import as_annotator_labels
from pt_reuse.result import Result, records
from pt_reuse.study import study

#: all annotators, or all labels, together
ALL = "all"
#: times from which on a quartile says where odd ones begin, and how far beyond the quartiles that is
_LEAST, _REACH = 4, 1.5
_KEYS = ["qid", "docno", "annotator"]
_QUARTILES = ["q1", "median", "q3", "mean"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelTimes(Result):
    """How long labels took, in seconds."""

    title, main = "Times of labels", "times_by_annotator"
    valid_for = "{timed} of {labels}, by {source}; longer than {longest} counts as left lying."
    not_covered = "why a label took long, and whether a fast one is wrong."
    columns = """
    annotator | Annotator | | the annotator, "all" for all together
    labels | Labels | count | how many labels
    timed | Timed | count | labels with a time
    left | Left lying | count | labels that took longer than `longest` and were left lying
    missing | Missing | count | labels without any time
    q1 | First quartile | tenths | first quartile of the seconds
    median | Median | tenths | their median
    q3 | Third quartile | tenths | their third quartile
    mean | Mean | tenths | their mean
    hours | Hours, timed | score | hours of the timed labels
    hours_of_all | Hours | score | hours where labels without a time take the annotator's mean, else that of all
    cost | Cost | score | of these at the rate, NaN without
    fast | Fast | count | labels that are odd, since fast
    slow | Slow | count | labels that are odd, since slow
    seconds | Seconds | tenths | its seconds, NaN where it has no time
    odd | Odd | | "fast" or "slow" for those beyond the fences of their annotator, else empty
    low | From | tenths | seconds below which a label is odd, NaN where the annotator has fewer than four times
    high | To | tenths | seconds above which it is
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "annotator, the first for all together",
            "annotator labels timed left missing q1 median q3 mean hours hours_of_all cost fast slow",
            "annotator labels q1 median q3 hours_of_all",
            noun="annotators",
        ),
    ]
    by_label: Annotated[
        pd.DataFrame,
        Table(
            "annotator and label, first of all annotators",
            "annotator label timed q1 median q3 mean",
            "label timed q1 median q3",
            select={"annotator": None},
            noun="labels",
        ),
    ]
    by_topic: Annotated[
        pd.DataFrame,
        Table("topic, the longest first", "qid timed q1 median q3 mean hours", "qid timed median hours", noun="topics"),
    ]
    times: Annotated[
        pd.DataFrame,
        Table(
            "label",
            "qid docno annotator label seconds odd",
            select={"odd": ...},
            descending=("seconds",),
            noun="labels",
        ),
    ]
    fences: Annotated[pd.DataFrame, Table("annotator", "annotator low high")]

    def answers(self) -> list[str]:
        """Return the median with quartiles, the hours, the slowest and the fastest annotator, and what is missing."""
        every, *people = records(self.table)
        line = f"Median {every['median']:.1f} seconds a label ({every['q1']:.1f} to {every['q3']:.1f})"
        line += f", {every['hours_of_all']:.1f} hours for {count(int(every['labels']), 'label')}"
        line += "" if np.isnan(every["cost"]) else f", cost {every['cost']:,.2f}"
        known = sorted((row for row in people if row["timed"]), key=lambda row: row["median"])
        if len(known) > 1:
            ends = [f"{row['annotator']} {row['median']:.1f}" for row in (known[0], known[-1])]
            line += f"; by annotator from {ends[0]} to {ends[1]}"
        return [
            line,
            f"{every['fast'] + every['slow']:,} odd, {every['left']:,} left lying, {every['missing']:,} missing",
        ]


def _checked_positive(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0 < value < np.inf:
        raise InputError(f"{name} must be a number above 0, got {shown(value)}.", argument=name)
    return float(value)


@study(
    question="How long do labels take, and what do they cost?",
    command="judge times",
    group="judging",
    page="judging/annotators",
)
def label_times(
    labels: Annotated[
        Any,
        options.Option(
            "a frame ``qid docno label annotator`` with one of these columns, a dict of annotator -> such frames, or "
            "what :func:`~pt_reuse.judging.import_labels` returns."
        ),
    ],
    *,
    longest: Annotated[
        float,
        options.Option(
            "seconds, longer than which a label was left lying, so that its time is not known; default half an hour.",
            check=partial(_checked_positive, "longest"),
            flag=options.Flag(help="seconds, longer than which a label was left lying", metavar="S", kind="float"),
        ),
    ] = 1800.0,
    rate: Annotated[
        float | None,
        options.Option(
            "what an hour costs; default None, no cost.",
            check=partial(_checked_positive, "rate"),
            flag=options.Flag(metavar="X", kind="float"),
        ),
    ] = None,
) -> LabelTimes:
    """Compute how long labels took: by annotator, label and topic, how many hours in all, and which are odd.

    The time of a label is its column ``seconds`` (or ``lead_time``, as Label Studio says), else ``end`` less ``start``:
    moments in ISO 8601, or numbers of seconds. Labels with neither have no time. If no such column is there, it is the
    time since the annotator's label before, by the column ``time``; the first label of each annotator has none, nor
    has one that was saved with another in the same second.

    A label is odd if the logarithm of its seconds and one lies more than 1.5 times the distance between the quartiles
    beyond them, among those of the same annotator.

    Returns:
        LabelTimes: ``.table`` per annotator, ``.by_label``, ``.by_topic``, ``.times`` per label.

    Raises:
        InputError: no column of times or no time in it, a time that is none, is below 0 or ends before it starts.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> frame = pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": [0, 1, 0, 1], "annotator": "ann"})
        >>> found = ptr.judging.label_times(frame.assign(seconds=[20, 40, 30, None]), rate=36)
        >>> found.table[["annotator", "timed", "missing", "median", "cost"]].values.tolist()
        [['all', 3, 1, 30.0, 1.2], ['ann', 3, 1, 30.0, 1.2]]
    """
    frame = _frame(labels)
    seconds, source = _seconds(frame)
    frame["left"] = seconds > longest
    frame["seconds"] = np.where(frame["left"], np.nan, seconds)
    if frame["seconds"].isna().all():
        problem = f"no label has a time by {source}, of {count(len(frame), 'label')}. "
        raise InputError(
            f"{problem}Files of sheets have one time for all; tools such as Label Studio keep each.", argument="labels"
        )
    frame, fences = _with_odd(frame)
    by_label = pd.concat([_timed(frame, ["label"]).assign(annotator=ALL), _timed(frame, ["annotator", "label"])])
    by_topic = _timed(frame, ["qid"])
    by_topic["hours"] = by_topic["timed"] * by_topic["mean"].fillna(0) / 3600
    return LabelTimes(
        table=_by_annotator(frame, rate),
        by_label=by_label[["annotator", "label", "timed", *_QUARTILES]].reset_index(drop=True),
        by_topic=by_topic.sort_values("hours", ascending=False, kind="stable", ignore_index=True),
        times=frame[["qid", "docno", "annotator", "label", "seconds", "odd"]],
        fences=fences,
        settings={
            "labels": count(len(frame), "label"),
            "timed": int(frame["seconds"].notna().sum()),
            "source": source,
            "longest": f"{longest:g} seconds",
            "rate": "none" if rate is None else rate,
            "odd": "1.5 interquartile ranges beyond the quartiles of log(1 + seconds), by annotator",
        },
    )


def _frame(labels: Any) -> pd.DataFrame:
    """Return a row for each label that was given, with its times, or say what is wrong with them."""
    # what is no label, or several for one place, is told as everywhere
    if isinstance(labels, Mapping) and all(isinstance(part, pd.DataFrame) for part in labels.values()) and labels:
        parts = [in_our_columns(part).assign(annotator=name) for name, part in labels.items()]
        labels = pd.concat(parts, ignore_index=True)
    given = as_annotator_labels(labels)
    rows = labels.to_frame() if hasattr(labels, "to_frame") else labels
    there = isinstance(rows, pd.DataFrame) and any(column in rows for column in TIMES)
    if not there:
        problem = "has no column of times. Give 'seconds', or 'start' and 'end', or 'time'."
        raise InputError(f"labels {problem}", argument="labels")
    frame = in_our_columns(rows)
    frame = frame.assign(**{name: as_ids(name, frame[name].tolist()) for name in _KEYS})
    frame = frame.drop_duplicates(_KEYS).reset_index(drop=True)
    item, annotator = np.nonzero(given.given)
    known = pd.DataFrame(
        {
            "qid": given.qids[item],
            "docno": given.docnos[item],
            "annotator": np.array(given.annotators, dtype=object)[annotator],
            "label": given.values[item, annotator],
        }
    )
    times = [column for column in TIMES if column in frame]
    return known.merge(frame[[*_KEYS, *times]], on=_KEYS, how="left", validate="one_to_one")


def _seconds(frame: pd.DataFrame) -> tuple[NDArray[np.float64], str]:
    """Return the seconds of each label, NaN where it has none, and by which columns."""
    seconds, by = np.full(len(frame), np.nan), []
    for column in ("seconds", "lead_time"):
        if column in frame:
            seconds = np.where(np.isnan(seconds), _numbers(frame, column), seconds)
            by.append(column)
    if {"start", "end"} <= set(frame):
        took = _moments(frame, "end") - _moments(frame, "start")
        _refuse(frame, took < 0, "start", "ends before it starts")
        seconds = np.where(np.isnan(seconds), took, seconds)
        by.append("start and end")
    if by:
        return seconds, ", ".join(by)
    if "time" not in frame:
        raise InputError("labels must have 'start' and 'end' together, or 'seconds', or 'time'.", argument="labels")
    moment = pd.Series(_moments(frame, "time"))
    gaps = moment.sort_values(kind="stable").groupby(frame["annotator"]).diff().reindex(moment.index)
    return gaps.where(gaps > 0).to_numpy(dtype=np.float64), "the time since the label before"


def _numbers(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    found = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=np.float64)
    _refuse(frame, np.isnan(found) & _filled(frame[column]), column, "is no number of seconds")
    _refuse(frame, (found < 0) | np.isinf(found), column, "is no time that a label can take")
    return found


def _moments(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return moments as seconds since one of them, of numbers of seconds or ISO 8601; without a zone they are UTC."""
    values = frame[column]
    numbers = pd.to_numeric(values, errors="coerce")
    if not pd.api.types.is_datetime64_any_dtype(values) and numbers.notna().any():
        _refuse(frame, numbers.isna().to_numpy() & _filled(values), column, "is no number, as others are")
        return numbers.to_numpy(dtype=np.float64)
    found = pd.to_datetime(values.where(_filled(values), None), utc=True, format="ISO8601", errors="coerce")
    _refuse(frame, found.isna().to_numpy() & _filled(values), column, "is no moment in ISO 8601")
    return ((found - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)).to_numpy(dtype=np.float64)


def _filled(values: pd.Series) -> NDArray[np.bool_]:
    return (values.notna() & (values.astype(str).str.strip() != "")).to_numpy()


def _refuse(frame: pd.DataFrame, bad: NDArray[np.bool_], column: str, what: str) -> None:
    """Raise where there is a time that is none."""
    if bad.any():
        row = frame.iloc[int(np.flatnonzero(bad)[0])]
        raise InputError(
            f"the {column} {shown(row[column])} of topic {shown(row['qid'])}, document {shown(row['docno'])} {what} "
            f"({count(int(bad.sum()), 'such label')} in all). Leave it empty where it is not known.",
            place=f"annotator {row['annotator']}",
            argument="labels",
        )


def _with_odd(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the labels with what is odd of them, and the fences of each annotator."""
    logs = np.log1p(frame["seconds"]).groupby(frame["annotator"])
    first, third = logs.quantile(0.25), logs.quantile(0.75)
    reach = (_REACH * (third - first)).where(logs.count() >= _LEAST)
    fences = pd.DataFrame({"low": np.expm1(first - reach), "high": np.expm1(third + reach)})
    # a fence that falls on the times themselves must not cut them off in the last bit
    slack = 1e-9 * (1 + frame["seconds"])
    low, high = (frame["annotator"].map(fences[end]) for end in ("low", "high"))
    fast, slow = frame["seconds"] < low - slack, frame["seconds"] > high + slack
    odd = np.select([fast, slow], ["fast", "slow"], default="")
    return frame.assign(odd=odd.astype(object)), fences.rename_axis("annotator").reset_index()


def _timed(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return how many labels of each group have a time, and the quartiles and mean of these."""
    seconds = frame.groupby(by, sort=by != ["qid"])["seconds"]
    found = {"q1": seconds.quantile(0.25), "median": seconds.median(), "q3": seconds.quantile(0.75)}
    return pd.DataFrame({"timed": seconds.count(), **found, "mean": seconds.mean()}).reset_index()


def _by_annotator(frame: pd.DataFrame, rate: float | None) -> pd.DataFrame:
    whole = _timed(frame.assign(annotator=ALL), ["annotator"])
    table = pd.concat([whole, _timed(frame, ["annotator"])], ignore_index=True)
    counts = pd.DataFrame(
        {
            "annotator": frame["annotator"],
            "labels": 1,
            "left": frame["left"].astype(int),
            "missing": (frame["seconds"].isna() & ~frame["left"]).astype(int),
            "fast": (frame["odd"] == "fast").astype(int),
            "slow": (frame["odd"] == "slow").astype(int),
        }
    )
    people = counts.groupby("annotator").sum()
    sums = pd.concat([people.sum().to_frame(ALL).T, people])
    for name in people:
        table[name] = sums[name].to_numpy()
    mean = table["mean"].fillna(table["mean"].iloc[0])
    table["hours"] = table["timed"] * table["mean"].fillna(0) / 3600
    table["hours_of_all"] = mean * table["labels"] / 3600
    # those of all are the sum over annotators, of whom each has a mean of its own
    table.loc[0, "hours_of_all"] = table["hours_of_all"].iloc[1:].sum()
    table["cost"] = np.nan if rate is None else table["hours_of_all"] * rate
    columns = ["annotator", "labels", "timed", "left", "missing", *_QUARTILES, "hours", "hours_of_all", "cost"]
    return table[[*columns, "fast", "slow"]]
