"""Where passages lie: from columns of a frame, or from the number at the end of a docno."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, shown
from pt_reuse._errors import InputError, Option
from pt_reuse.formats.frames import number_column


@dataclass(frozen=True)
class Placed:
    """Passages and their places.

    Attributes:
        qids: (passages,) their topics.
        docnos: (passages,) their names.
        documents: (passages,) the names of their documents.
        document: (passages,) the topic and document of each, as a number.
        labels: (passages,) their labels.
        position: (passages,) of their middles, 0 the beginning of the document and 1 its end.
        n: (passages,) how many passages the document of each has, 0 where it can begin anywhere.
        how: what tells the position, in words.
    """

    qids: NDArray[np.object_]
    docnos: NDArray[np.object_]
    documents: NDArray[np.object_]
    document: NDArray[np.int64]
    labels: NDArray[np.int64]
    position: NDArray[np.float64]
    n: NDArray[np.int64]
    how: str

    def take(self, kept: NDArray[np.bool_]) -> Placed:
        """Return some of the passages."""
        return Placed(
            self.qids[kept],
            self.docnos[kept],
            self.documents[kept],
            self.document[kept],
            self.labels[kept],
            self.position[kept],
            self.n[kept],
            self.how,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return ``qid docno document position``."""
        return pd.DataFrame(
            {"qid": self.qids, "docno": self.docnos, "document": self.documents, "position": self.position}
        )


def placed(judged: pd.DataFrame, given: pd.DataFrame | None, separator: str) -> Placed:
    """Return passages with their positions.

    Args:
        judged: ``qid docno label``, a row each.
        given: the user's frame, where there is one: columns ``start`` and ``length`` (and ``end``), or ``passage`` and
            ``n_passages``, and ``document``, tell the position.
        separator: before the number at the end of a docno where no column tells it.

    Raises:
        InputError: a passage whose position is not told, or lies outside of its document.
    """
    names = set() if given is None else set(given.columns)
    columns = [name for name in ("document", "start", "end", "length", "passage", "n_passages") if name in names]
    frame = judged
    if columns and given is not None:
        told = given[["qid", "docno", *columns]].astype({"qid": str, "docno": str})
        frame = judged.merge(told.drop_duplicates(["qid", "docno"]), on=["qid", "docno"], how="left")
    if {"start", "length"} <= names:
        start, length = _numbers(frame, "start"), _numbers(frame, "length")
        n = np.zeros(len(frame))
        end = _numbers(frame, "end") if "end" in names else start
        position = (start + end) / 2 / np.where(length > 0, length, np.nan)
        how = "middle of start and end over length" if "end" in names else "start over length"
        bad = ~((start >= 0) & (end >= start) & (end <= length) & (length > 0))
    else:
        if {"passage", "n_passages"} <= names:
            number, n = _numbers(frame, "passage"), _numbers(frame, "n_passages")
            how = "(passage + 1/2) / n_passages"
        else:
            frame, number, n = _from_docnos(frame, separator)
            how = f"(number after {separator!r} + 1/2) over one more than the document's largest number"
        position = (number + 0.5) / np.where(n > 0, n, np.nan)
        bad = ~((number >= 0) & (number < n))
    if bad.any():
        row = frame.iloc[int(np.flatnonzero(bad)[0])]
        at = ", ".join(f"{name} {shown(row[name])}" for name in columns if name != "document")
        raise InputError(
            f"topic {shown(row['qid'])}, passage {shown(row['docno'])} does not lie within its document: {at} "
            f"({count(int(bad.sum()), 'such passage')} in all). Passages are numbered from 0 on.",
            argument="labels",
        )
    # a docno without the separator is a document of its own
    whose = frame["docno"].str.rpartition(separator)[0].where(lambda name: name != "", frame["docno"])
    whose = frame["document"].astype(str) if "document" in frame.columns else whose
    return Placed(
        qids=frame["qid"].to_numpy(dtype=object),
        docnos=frame["docno"].to_numpy(dtype=object),
        documents=whose.to_numpy(dtype=object),
        document=frame.assign(_whose=whose).groupby(["qid", "_whose"], sort=False).ngroup().to_numpy(dtype=np.int64),
        labels=frame["label"].to_numpy(dtype=np.int64),
        position=position,
        n=n.astype(np.int64),
        how=how,
    )


def _numbers(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    values = number_column(frame[column])
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        row = frame.iloc[int(odd[0])]
        raise InputError(
            f"the {column} of topic {shown(row['qid'])}, passage {shown(row['docno'])} must be a number, got "
            f"{shown(row[column])}.",
            argument="labels",
        )
    return values


def _from_docnos(frame: pd.DataFrame, separator: str) -> tuple[pd.DataFrame, NDArray[np.float64], NDArray[np.float64]]:
    """Return the frame with its documents, the number of each passage, and how many its document has."""
    parts = frame["docno"].str.rpartition(separator)
    odd = ~(parts[2].str.fullmatch(r"[0-9]{1,6}") & (parts[1] != "") & (parts[0] != ""))
    if odd.any():
        raise InputError(
            f"{count(int(odd.sum()), 'docno')} without a number after {separator!r}, such as "
            f"{examples(frame['docno'][odd].head(2))}. Choose ",
            Option("separator", "#"),
            ", or give the columns 'passage' and 'n_passages', or 'start' and 'length'.",
            argument="separator",
        )
    found = frame.assign(document=parts[0])
    number = parts[2].astype(np.int64)
    largest = number.groupby(found["document"]).transform("max")
    return found, number.to_numpy(dtype=np.float64), largest.to_numpy(dtype=np.float64) + 1
