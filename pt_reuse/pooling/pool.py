"""Pool: documents to judge, each with the runs that contributed it and the best rank at which they found it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count
from pt_reuse._errors import InputError, door, warn
from pt_reuse.engine.field import ranges
from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.units import COLUMNS, Units, units_of

Judge: TypeAlias = Callable[[pd.DataFrame], Sequence[int] | pd.DataFrame]


class Pool:
    """Documents to judge, topic by topic, each with its contributors; made by :func:`depth_pool`.

    Attributes:
        documents: the pooled documents by topic.
        run_table: the contributing runs, one row each: ``name team type`` and further metadata.
        settings: how the pool was made: strategy, depth, contributors, ranking order.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> pool = ptr.depth_pool(ptr.RunSet.from_frames({"A": a, "B": b}), depth=2)
        >>> pool
        Pool: 3 documents, 1 topic, 2 runs (strategy=depth, depth=2, contributors=pooled, order=trec_eval)
        >>> pool.uniques(by="run")[["docno", "name"]].values.tolist()
        [['d1', 'A'], ['d3', 'B']]
        >>> pool.without(run="B")
        Pool: 2 documents, 1 topic, 1 run (strategy=depth, depth=2, contributors=pooled, order=trec_eval, without_run=B)
    """

    def __init__(
        self,
        documents: TopicDocs,
        entries: NDArray[np.int64],
        run: NDArray[np.int32],
        rank: NDArray[np.int32],
        table: pd.DataFrame,
        settings: Mapping[str, Any],
    ):
        self.run_table = table.reset_index(drop=True)
        self.settings = dict(settings)
        self.documents = documents
        self._entries, self._run, self._rank = entries, run, rank  # contributions of each document, by run

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def topics(self) -> list[str]:
        """Return the topic names, in natural order."""
        return list(self.documents.topics)

    @cached_property
    def _qid(self) -> NDArray[np.object_]:
        return self.documents.qids()

    @cached_property
    def _docno(self) -> NDArray[np.object_]:
        return self.documents.docnos()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per document: ``qid docno rank`` (best, from 1) and how many ``runs teams types`` found it."""
        firsts = self._entries[:-1]
        best = np.minimum.reduceat(self._rank, firsts) if len(self) else np.zeros(0, dtype=np.int32)
        frame = pd.DataFrame({"qid": self._qid, "docno": self._docno, "rank": best, "runs": np.diff(self._entries)})
        doc = np.repeat(np.arange(len(self)), np.diff(self._entries))
        for column in ("team", "type"):
            codes = pd.factorize(self.run_table[column])[0][self._run]
            pairs = pd.DataFrame({"doc": doc, "code": codes})[codes >= 0].drop_duplicates()
            frame[column + "s"] = np.bincount(pairs["doc"], minlength=len(self))
        return frame

    def contributions(self) -> pd.DataFrame:
        """Return one row per document and run that contributed it: ``qid docno name team type rank`` (from 1)."""
        doc = np.repeat(np.arange(len(self)), np.diff(self._entries))
        name, team, kind = (self.run_table[column].to_numpy()[self._run] for column in ("name", "team", "type"))
        return pd.DataFrame({
            "qid": self._qid[doc], "docno": self._docno[doc], "name": name, "team": team, "type": kind,
            "rank": self._rank,
        })  # fmt: skip

    def sole(self, by: str) -> tuple[NDArray[np.int64], Units]:
        """Return for each document the one unit of the contributors that has it, or -1; and these units."""
        units = units_of(self.run_table, by)
        if not len(self):
            return np.zeros(0, dtype=np.int64), units
        of_entry = units.of_run[self._run]
        firsts = self._entries[:-1]
        low, high = np.minimum.reduceat(of_entry, firsts), np.maximum.reduceat(of_entry, firsts)
        return np.where(low == high, low, -1), units

    @door
    def uniques(self, by: str = "team") -> pd.DataFrame:
        """Return the documents that one unit alone contributed.

        Args:
            by: ``"team"``, ``"run"`` or ``"type"``.

        Returns:
            DataFrame: ``qid docno rank`` (best, from 1) and the unit, under ``team``, ``type`` or, for a run, ``name``.

        Raises:
            InputError: an unknown `by`, or a contributing run without a team or type.
        """
        unit, units = self.sole(by)
        rows = np.flatnonzero(unit >= 0)
        frame = self.to_frame().loc[rows, ["qid", "docno", "rank"]].reset_index(drop=True)
        frame[units.column] = np.array([*units.names, None], dtype=object)[unit[rows]]
        return frame

    @door
    def without(
        self,
        team: str | Iterable[str] | None = None,
        *,
        run: str | Iterable[str] | None = None,
        type: str | Iterable[str] | None = None,
    ) -> Pool:
        """Return the pool that the other contributors make.

        Args:
            team: a team or several to leave out.
            run: a run or several.
            type: a type or several.

        Returns:
            Pool: the documents that at least one other run contributed; the topics stay.

        Raises:
            InputError: a name that is not among the contributors.
        """
        out = np.zeros(len(self.run_table), dtype=bool)
        settings = dict(self.settings)
        for by, wanted in (("team", team), ("run", run), ("type", type)):
            column = self.run_table[COLUMNS[by]]
            names = [wanted] if isinstance(wanted, str) else [] if wanted is None else list(wanted)
            for name in names:
                choice(by, name, [known for known in dict.fromkeys(column) if known is not None])
            if names:
                out |= column.isin(names).to_numpy()
                before = [settings[f"without_{by}"]] if f"without_{by}" in settings else []
                settings[f"without_{by}"] = "+".join(before + names)
        kept = np.flatnonzero(~out)
        place = np.full(len(self.run_table), -1, dtype=np.int32)
        place[kept] = np.arange(len(kept))
        stays = ~out[self._run]
        entries = np.concatenate([[0], np.cumsum(stays)])[self._entries]
        found = np.flatnonzero(np.diff(entries) > 0)
        pool = Pool(
            self.documents, entries, place[self._run[stays]], self._rank[stays],
            self.run_table.iloc[kept], settings,
        )  # fmt: skip
        return pool._documents(found)

    @door
    def remainder(self, qrels: Any) -> Pool:
        """Return the documents of the pool that have no judgment (label >= 0) yet.

        Args:
            qrels: what is judged already: a Qrels, a frame or a file.

        Returns:
            Pool: the documents still to be judged, those labelled -1 or less among them; the topics stay.
        """
        known = as_qrels(qrels)
        rows = known.arrays.documents.find(self.documents)
        judged = (rows >= 0) & (np.append(known.arrays.labels, np.int16(-1))[rows] >= 0)
        return self._documents(np.flatnonzero(~judged), judged_before=int(judged.sum()))

    @door
    def judge(self, judge: Judge | Qrels | pd.DataFrame | str | Path) -> Qrels:
        """Return the labels of the pool's documents.

        Args:
            judge: judgments to look the labels up in (a Qrels, a frame or a file), or a function of a frame with
                ``qid`` and ``docno``, such as a PyTerrier transformer, that returns one label per row or a frame with
                ``qid docno label``. A document without a label (None, NaN or no row) is left out, with a warning that
                counts them.

        Returns:
            Qrels: at most one judgment per pooled document; the topic set is the pool's.

        Raises:
            InputError: a function that returns another number of labels than it was given documents.
        """
        frame = pd.DataFrame({"qid": self._qid, "docno": self._docno})
        given: Any = judge(frame.copy()) if callable(judge) else judge
        if callable(judge) and not isinstance(given, pd.DataFrame):
            frame["label"] = _one_label_each(given, len(frame))
            found = frame["label"].notna().to_numpy()
        else:
            qrels = as_qrels(given)
            rows = qrels.arrays.documents.find(self.documents)
            frame["label"], found = np.append(qrels.arrays.labels, np.int16(-1))[rows], rows >= 0
        if not found.all():
            warn(
                f"{count(int((~found).sum()), 'document')} of {len(self):,} without a label, left out.",
            )
        return Qrels(frame[found], topics=self.topics)

    def to_qrels(self) -> Qrels:
        """Return the pool as judgments yet to be made: label -1 for every document."""
        return Qrels(pd.DataFrame({"qid": self._qid, "docno": self._docno, "label": -1}), topics=self.topics)

    def _documents(self, kept: NDArray[np.int64], **settings: Any) -> Pool:
        sizes = np.diff(self._entries)[kept]
        gather = ranges(self._entries[:-1][kept], sizes)
        return Pool(
            self.documents.take(kept),
            np.concatenate([[0], np.cumsum(sizes)]),
            self._run[gather],
            self._rank[gather],
            self.run_table,
            {**self.settings, **settings},
        )

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        sizes = (
            f"{count(len(self), 'document')}, {count(len(self.topics), 'topic')}, {count(len(self.run_table), 'run')}"
        )
        return f"Pool: {sizes} ({settings})"

    def _repr_html_(self) -> str:
        table = self.to_frame().to_html(max_rows=12, index=False, escape=True)
        return f"<p><b>{html.escape(repr(self))}</b></p>{table}"


def _one_label_each(labels: Any, n_docs: int) -> pd.Series:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"the judge must return one label per document, got {type(labels).__name__}.")
    listed = list(labels)
    if len(listed) != n_docs:
        raise InputError(f"the judge returned {len(listed):,} labels for {n_docs:,} documents.")
    return pd.Series(listed, dtype=object)
