"""AnnotatorLabels: the labels that several annotators gave to documents, in whatever form they come."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import InputError, arguments_as, located, warn, wrong
from pt_reuse._files import user_path
from pt_reuse.arrays.lists import natural_order
from pt_reuse.data.frame_columns import LABELS as ALLOWED
from pt_reuse.data.frame_columns import check_frame, in_our_columns, not_labels, number_column, text_groups
from pt_reuse.data.judgments import Qrels, as_qrels, read_qrels
from pt_reuse.data.packed_files import UnreadableError, read_bytes
from pt_reuse.options import Parameter

_CSV = re.compile(r"\.csv(\.\w+)?$", re.IGNORECASE)
#: what stands between the cells of a file that a spreadsheet saved; in many languages it writes semicolons
SEPARATORS = ",;\t"
#: what a frame of labels must have
COLUMNS = ("qid", "docno", "label", "annotator")
#: in the place of a label that an annotator did not give; in judgments it is "pooled, not judged"
NO_LABEL = -1
#: what is known of a label, and not of its document
_OF_A_LABEL = ("judge", "time", "note")
_FORMS = "a frame with the columns 'qid', 'docno', 'label' and 'annotator', or a dict of annotator -> judgments"
#: options of the studies of annotators
LABELS = Parameter(
    name="labels",
    meaning="a frame ``qid docno label annotator`` (or with the columns of ir_measures), a dict of annotator -> "
    "judgments in any form, or what :func:`~pt_reuse.judging.import_labels` returns. A missing label, or -1, is none.",
)
SCALE = Parameter(
    name="scale",
    meaning="the labels that there are, in the order of their steps, such as ``(0, 1, 2, 3)``; one that is not of it "
    "is an error. Default those that occur.",
)


def check_label_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return paths of files that exist and name each annotator once."""
    found = [user_path(path) for path in paths]
    missing = [path for path in found if not path.is_file()]
    if missing:
        raise InputError(f"{examples(missing)}: no such file.", argument="files")
    names = [_annotator(path) for path in found]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(
            f"several files are those of {examples(twice)}; a file is called as its annotator, and each has one. "
            "Rename them, or give one CSV file with the column 'annotator'.",
            argument="files",
        )
    return found


def read_labels(paths: Sequence[str | Path]) -> AnnotatorLabels:
    """Read labels of several annotators from TREC qrels files and CSV files, packed or not."""
    frames = []
    for path in check_label_files(paths):
        with located(str(path)):
            frame = read_csv_labels(path) if _CSV.search(path.name) else read_qrels(path).to_frame()
        frames.append(frame if "annotator" in frame else frame.assign(annotator=_annotator(path)))
    return as_annotator_labels(pd.concat(frames, ignore_index=True), "files")


def _annotator(path: Path) -> str:
    # notes.txt.gz is that of notes
    return path.name.split(".")[0] or path.name


def read_csv_labels(path: Path) -> pd.DataFrame:
    """Return ``qid docno label``, and ``annotator`` where it is there, as texts; an empty label is None."""
    try:
        data = read_bytes(path)
        header = data.split(b"\n", 1)[0].decode("latin-1")
        separator = max(SEPARATORS, key=header.count)
        frame = in_our_columns(pd.read_csv(io.BytesIO(data), sep=separator, dtype=str, keep_default_na=False))
    except (UnreadableError, OSError, ValueError) as error:
        raise InputError(f"cannot be read as CSV: {error}") from error
    _check_columns(frame, COLUMNS[:3], "a CSV file of labels", "files")
    kept: list[Any] = [column for column in COLUMNS if column in frame.columns]
    return frame[kept].assign(label=frame["label"].where(frame["label"].str.strip() != "", None))


def _check_columns(frame: pd.DataFrame, needed: Sequence[str], what: str, argument: str) -> None:
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        raise InputError(
            f"{what} must have the columns 'qid', 'docno', 'label' and 'annotator'; {examples(missing)} not among "
            f"{examples(frame.columns, 12)}.",
            argument=argument,
        )


@dataclass(frozen=True)
class AnnotatorLabels:
    """The labels of several annotators; an item is a document of a topic. Items stand topic by topic."""

    annotators: tuple[str, ...]
    topics: tuple[str, ...]  # in natural order
    topic: NDArray[np.int64]  # (items,) positions among the topics
    docnos: NDArray[np.object_]  # (items,)
    values: NDArray[np.int64]  # (items, annotators) labels, -1 where an annotator gave none
    rel: int | None = None  # the lowest label that is relevant, None where nobody says
    #: (items) how each item was chosen, as far as the labels say it: strategy, round, reason and whatever else is the
    #: same for all labels of an item; and the ``time`` of its last label
    chosen: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __len__(self) -> int:
        return len(self.docnos)

    @property
    def given(self) -> NDArray[np.bool_]:
        """Return (items, annotators): whether an annotator gave a label."""
        return self.values != NO_LABEL

    @cached_property
    def qids(self) -> NDArray[np.object_]:
        """Return (items,): the topic name of each item."""
        return np.array([*self.topics, None], dtype=object)[self.topic]

    @cached_property
    def scale(self) -> tuple[int, ...]:
        return tuple(np.unique(self.values[self.given]).tolist())

    def place(self, item: int) -> str:
        """Return which document of which topic an item is, in words."""
        return f"topic {shown(self.qids[item])}, document {shown(self.docnos[item])}"

    def labels_in(self, judged: Qrels) -> NDArray[np.int64]:
        """Return (items,): the label that judgments have for each item, -1 where they have none."""
        frame = pd.DataFrame({"qid": self.qids, "docno": self.docnos})
        theirs = judged.to_frame()[["qid", "docno", "label"]]
        found = frame.merge(theirs, on=["qid", "docno"], how="left")["label"]
        return found.fillna(NO_LABEL).to_numpy(dtype=np.int64)


def as_annotator_labels(given: Any, argument: str = "labels") -> AnnotatorLabels:
    """Return what a user gives as labels of annotators, under the name of an argument: in any form of `LABELS`."""
    if isinstance(given, AnnotatorLabels):
        return given
    if isinstance(given, Mapping):
        return _of_mapping(given, argument)
    if not isinstance(given, pd.DataFrame | pd.Series | pd.Index) and hasattr(given, "to_frame"):
        given = given.to_frame()
    if not isinstance(given, pd.DataFrame):
        raise wrong(argument, f" must be {_FORMS}, got {told(given)}.")
    with arguments_as(frame=argument):
        return _of_frame(in_our_columns(given), argument)


def _of_mapping(given: Mapping[Any, Any], argument: str) -> AnnotatorLabels:
    frames, rels = [], set()
    for name, judged in given.items():
        if not isinstance(name, str) or not name.strip():
            raise wrong(argument, f" must name each annotator by a text, got {told(name)}.")
        with located(f"annotator {name}"):
            qrels = as_qrels(judged, argument)
        rels.add(qrels.stated_rel)
        frames.append(qrels.to_frame().assign(annotator=name))
    if not frames:
        raise wrong(argument, " names no annotator.")
    stated = rels - {None}
    if len(stated) > 1:
        raise InputError(
            f"annotators differ in which label is relevant: from {examples(sorted(stated))} on. Say the same of all.",
            argument=argument,
        )
    return _of_frame(pd.concat(frames, ignore_index=True), argument, rel=next(iter(stated), None))


def _of_frame(frame: pd.DataFrame, argument: str, rel: int | None = None) -> AnnotatorLabels:
    _check_columns(frame, COLUMNS, argument, argument)
    check_frame(frame, ("qid", "docno", "annotator"))
    topic, topics = text_groups("qid", frame["qid"])
    document, docnos = text_groups("docno", frame["docno"])
    annotator, annotators = text_groups("annotator", frame["annotator"])
    absent = frame["label"].isna().to_numpy()
    values = np.where(absent, NO_LABEL, number_column(frame["label"].where(~absent, NO_LABEL)))
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row = frame.iloc[int(odd[0])]
        raise InputError(
            f"the label of topic {shown(row['qid'])}, document {shown(row['docno'])} must be a whole number from "
            f"{ALLOWED[0]} to {ALLOWED[1]}, got {shown(row['label'])}. A label that was not given is None or -1.",
            place=f"annotator {row['annotator']}",
            argument=argument,
        )
    order = natural_order(topics)
    keys = pd.DataFrame({"topic": np.argsort(order)[topic], "document": document})
    items = keys.drop_duplicates().sort_values("topic", kind="stable")
    item = pd.MultiIndex.from_frame(items).get_indexer(pd.MultiIndex.from_frame(keys))
    labels = AnnotatorLabels(
        annotators=tuple(annotators),
        topics=tuple(topics[i] for i in order),
        topic=items["topic"].to_numpy(dtype=np.int64),
        docnos=np.array([*docnos, None], dtype=object)[items["document"].to_numpy()],
        values=np.full((len(items), len(annotators)), NO_LABEL, dtype=np.int64),
        rel=rel,
        chosen=_chosen(frame, item),
    )
    _fill(labels, item, annotator, values.astype(np.int64), argument)
    if not labels.given.any():
        raise wrong(argument, " holds no label.")
    return labels


def label_counts(values: NDArray[np.int64], scale: Iterable[int]) -> NDArray[np.int64]:
    """Return (items, labels): how many annotators gave each label of a scale, of (items, annotators) labels."""
    return np.stack([(values == label).sum(axis=1) for label in scale], axis=1)


def _chosen(frame: pd.DataFrame, item: NDArray[np.int64]) -> pd.DataFrame:
    """Return (items) what labels, a row each, say of how their items were chosen, and when the last was given."""
    further = frame.drop(columns=[*COLUMNS, *_OF_A_LABEL], errors="ignore").set_axis(item)
    found = further[~further.index.duplicated()].sort_index()
    alike = [column for column in further if further[column].astype(str).eq(found[column].astype(str)[item]).all()]
    found = found[alike].copy()
    if "time" in frame and frame["time"].map(lambda time: isinstance(time, str) or time is None or time != time).all():
        # times in ISO 8601 and UTC are in the order of their texts
        found["time"] = frame["time"].dropna().groupby(item[frame["time"].notna()]).max().reindex(found.index)
    return found.reset_index(drop=True)


def _fill(
    labels: AnnotatorLabels,
    item: NDArray[np.int64],
    annotator: NDArray[np.int64],
    values: NDArray[np.int64],
    argument: str,
) -> None:
    """Put labels, a row each, into their places; two labels in one place are an error, one label twice a warning."""
    present = values != NO_LABEL
    item, annotator, values = item[present], annotator[present], values[present]
    # of rows for one place the first one stays
    _, first = np.unique(item * len(labels.annotators) + annotator, return_index=True)
    labels.values[item[first], annotator[first]] = values[first]
    kept = labels.values[item, annotator]
    clash = np.flatnonzero(kept != values)
    if len(clash):
        row = int(clash[0])
        raise InputError(
            f"{labels.place(int(item[row]))} has the labels {kept[row]} and {values[row]} of this annotator "
            f"({count(len(clash), 'conflicting label')} in all). Keep one label of an annotator for a document.",
            place=f"annotator {labels.annotators[int(annotator[row])]}",
            argument=argument,
        )
    again = len(values) - int(labels.given.sum())
    if again:
        warn(f"{count(again, 'label')} given more than once by one annotator with the same value; each counts once.")


def checked_scale(scale: Any, labels: AnnotatorLabels) -> tuple[int, ...]:
    """Return a user's ``scale=`` in order, the labels that occur where it is None, or say which label is not of it."""
    if scale is None:
        return labels.scale
    listed = list(scale) if isinstance(scale, Iterable) and not isinstance(scale, str | bytes) else []
    whole = all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in listed)
    if len(listed) < 2 or not whole or len(set(listed)) < len(listed) or NO_LABEL in listed:
        raise wrong(
            "scale",
            f" must be two or more whole numbers that differ, such as (0, 1, 2, 3), without -1, which is no label; got "
            f"{told(scale)}.",
        )
    known = tuple(sorted(int(label) for label in listed))
    out = labels.given & ~np.isin(labels.values, known)
    if out.any():
        item, annotator = (int(at) for at in np.argwhere(out)[0])
        raise InputError(
            f"{labels.place(item)} has label {labels.values[item, annotator]}, which is not of the scale "
            f"{', '.join(map(str, known))} ({count(int(out.sum()), 'such label')} in all).",
            place=f"annotator {labels.annotators[annotator]}",
            argument="labels",
        )
    return known
