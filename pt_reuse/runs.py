"""RunSet: a field of runs, coded once, each run with its team, type and whether it was pooled."""

from __future__ import annotations

import gzip
import html
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import InputError, ReuseWarning, choice, columns, count, examples
from pt_reuse.engine import tokens
from pt_reuse.engine.field import DuplicateError, Field, RunRows, build_field
from pt_reuse.engine.files import replacing
from pt_reuse.engine.order import ORDERS, TiedRankError, ranking
from pt_reuse.engine.trec import check_names
from pt_reuse.metadata import Labels, run_table


class RunSet:
    """A field of runs; immutable, every operation returns a new one.

    Made by :func:`read_runs`, :meth:`from_frames` or :meth:`from_pipelines`.

    Attributes:
        names: run names, in the order given.
        table: one row per run with the columns ``name``, ``team``, ``type``, ``pooled`` and all further metadata.
        order: the ranking order, one of ``"trec_eval"``, ``"trec_eval9"``, ``"rank"``, ``"file"``.
        field: the coded arrays underneath.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> bm25 = pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"], "score": [2.0, 1.0], "rank": [0, 1]})
        >>> runs = ptr.RunSet.from_frames({"BM25": bm25, "twin": bm25}, teams={"BM25": "A", "twin": "B"})
        >>> runs
        RunSet: 2 runs (2 pooled), 2 teams, 1 topic, 4 rows, order='trec_eval'
        >>> runs.select(team="A").names
        ['BM25']
    """

    def __init__(self, field: Field, table: pd.DataFrame, order: str):
        self.field = field
        self.order = order
        self.table = table.reset_index(drop=True)
        self.names: list[str] = table["name"].tolist()
        self._row = {name: row for row, name in enumerate(self.names)}

    @classmethod
    def from_frames(
        cls,
        frames: Mapping[str, pd.DataFrame],
        *,
        teams: Labels | None = None,
        types: Labels | None = None,
        pooled: Labels | Collection[str] | bool | None = None,
        metadata: pd.DataFrame | str | Path | None = None,
        order: str = "trec_eval",
        duplicates: str = "error",
    ) -> RunSet:
        """Build a field from PyTerrier result frames.

        Args:
            frames: run name -> frame with the columns ``qid``, ``docno``, ``score`` (``rank`` for ``order="rank"``).
            teams: run name -> team, as in :func:`read_runs`.
            types: run name -> type.
            pooled: which runs contributed to the pool; default all.
            metadata: a frame with the column ``name`` and any of ``team``, ``type``, ``pooled`` and others.
            order: the ranking order, see :data:`pt_reuse.engine.order.ORDERS`.
            duplicates: ``"error"``, or ``"best"`` to keep the better-ranked of two occurrences of a document.

        Returns:
            RunSet: the field.

        Raises:
            InputError: a missing column, a score that is no finite number, a document twice in one list.
        """
        function = "RunSet.from_frames"
        choice(function, "order", order, tuple(ORDERS))
        choice(function, "duplicates", duplicates, ("error", "best"))
        if not isinstance(frames, Mapping) or not frames:
            raise InputError(f"{function}: frames must be a dict of run name -> result frame, got {type(frames).__name__}.")
        names = [str(name) for name in frames]
        rows = [_frame_rows(name, frame, order) for name, frame in zip(names, frames.values(), strict=True)]
        table = run_table(names, teams=teams, types=types, pooled=pooled, metadata=metadata)
        return cls(code_runs(rows, function, duplicates=duplicates), table, order)

    @classmethod
    def from_pipelines(
        cls,
        pipelines: Mapping[str, pt.Transformer],
        topics: pd.DataFrame,
        *,
        batch_size: int | None = None,
        verbose: bool = False,
        **metadata: Any,
    ) -> RunSet:
        """Run each pipeline on the topics and build a field of the results.

        Args:
            pipelines: run name -> PyTerrier pipeline that ends in ``qid``, ``docno``, ``score``.
            topics: frame with the columns ``qid``, ``query``.
            batch_size: topics per call of a pipeline; default all at once.
            verbose: show a progress bar.
            **metadata: ``teams``, ``types``, ``pooled``, ``metadata``, ``order``, ``duplicates`` of :meth:`from_frames`.

        Returns:
            RunSet: one run per pipeline.
        """
        function = "RunSet.from_pipelines"
        if not isinstance(pipelines, Mapping) or not pipelines:
            raise InputError(f"{function}: pipelines must be a dict of run name -> pipeline, got {type(pipelines).__name__}.")
        columns(function, "topics", topics.columns, ("qid",))
        frames = {}
        for name, pipeline in pt.tqdm(pipelines.items(), desc="pipelines", disable=not verbose):
            if batch_size is None:
                frames[name] = pipeline.transform(topics)
            else:
                frames[name] = pd.concat(list(pipeline.transform_gen(topics, batch_size=batch_size)), ignore_index=True)
        return cls.from_frames(frames, **metadata)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._row

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return one run as a PyTerrier frame: ``qid docno rank score name``, ranks from 0."""
        row = self.row(name)
        field = self.field
        parts = [(t, field.list_of(t, row)) for t in range(field.n_topics)]
        lengths = [part.stop - part.start for _, part in parts]
        docs = [field.docs(t)[field.codes[part]] for t, part in parts]
        return pd.DataFrame({
            "qid": np.repeat(np.array(field.topics, dtype=object), lengths),
            "docno": self._docnos(np.concatenate(docs) if docs else np.zeros(0, dtype=np.int32)),
            "rank": np.concatenate([np.arange(n) for n in lengths]) if lengths else np.zeros(0, dtype=np.int64),
            "score": np.concatenate([field.scores[part] for _, part in parts]) if parts else np.zeros(0),
            "name": np.full(sum(lengths), name, dtype=object),
        })  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return all runs as one PyTerrier frame: ``qid docno rank score name``."""
        return pd.concat([self[name] for name in self.names], ignore_index=True)

    def row(self, name: str) -> int:
        """Return the position of a run, or say which names are near."""
        if name not in self._row:
            choice("RunSet", "name", name, self.names)
        return self._row[name]

    @property
    def topics(self) -> list[str]:
        """Return the topic names, in natural order."""
        return list(self.field.topics)

    @property
    def teams(self) -> list[str]:
        """Return the distinct teams, in order of appearance."""
        return [team for team in dict.fromkeys(self.table["team"]) if team is not None]

    @property
    def types(self) -> list[str]:
        """Return the distinct types, in order of appearance."""
        return [kind for kind in dict.fromkeys(self.table["type"]) if kind is not None]

    @property
    def pooled(self) -> NDArray[np.bool_]:
        """Return which runs contributed to the pool."""
        return self.table["pooled"].to_numpy(dtype=bool)

    def units(self, by: str, function: str) -> list[str]:
        """Return the team, type or name of each run, or say which runs have none."""
        column = {"run": "name", "team": "team", "type": "type"}[choice(function, "by", by, ("team", "run", "type"))]
        values = self.table[column].tolist()
        lacking = [name for name, value in zip(self.names, values, strict=True) if value is None]
        if lacking:
            raise InputError(
                f"{function}: by={by!r} needs the {by} of every run; {count(len(lacking), 'run')} without: "
                f"{examples(lacking)}. Give {by}s= when reading the runs, or use by='run'."
            )
        return values

    def select(
        self,
        names: str | Iterable[str] | None = None,
        *,
        team: str | Iterable[str] | None = None,
        type: str | Iterable[str] | None = None,
        pooled: bool | None = None,
    ) -> RunSet:
        """Return the runs that meet all conditions given, in field order.

        Args:
            names: a run name or several.
            team: a team or several.
            type: a type or several.
            pooled: True for the runs that were pooled, False for the others.

        Returns:
            RunSet: at least one run.

        Raises:
            InputError: an unknown name, team or type, or no run left.
        """
        chosen = np.ones(len(self), dtype=bool)
        for column, wanted, known in (("name", names, self.names), ("team", team, self.teams), ("type", type, self.types)):
            if wanted is None:
                continue
            values = [wanted] if isinstance(wanted, str) else list(wanted)
            for value in values:
                choice("RunSet.select", column, value, known)
            chosen &= self.table[column].isin(values).to_numpy()
        if pooled is not None:
            chosen &= self.pooled == bool(pooled)
        if not chosen.any():
            raise InputError("RunSet.select: no run meets all conditions. See `runs.table` for what there is.")
        return self._take(np.flatnonzero(chosen))

    def _take(self, rows: NDArray[np.int64]) -> RunSet:
        return RunSet(self.field.take_runs(rows.tolist()), self.table.iloc[rows], self.order)

    def with_metadata(
        self,
        *,
        teams: Labels | None = None,
        types: Labels | None = None,
        pooled: Labels | Collection[str] | bool | None = None,
        metadata: pd.DataFrame | str | Path | None = None,
    ) -> RunSet:
        """Return the same runs with other teams, types, pooled flags or further columns; what is not given stays."""
        table = run_table(self.names, teams=teams, types=types, pooled=pooled, metadata=metadata)
        given = set() if metadata is None else set(table.columns) & set(pd.DataFrame(metadata).columns if isinstance(metadata, pd.DataFrame) else table.columns)
        given |= {column for column, value in (("team", teams), ("type", types), ("pooled", pooled)) if value is not None}
        merged = self.table.copy()
        for column in table.columns:
            if column in given or column not in merged.columns:
                merged[column] = table[column]
        return RunSet(self.field, merged, self.order)

    def __or__(self, other: RunSet) -> RunSet:
        """Unite two fields; a name may stand in one of them only, and both must have the same order."""
        return self.union(other)

    def union(self, other: RunSet) -> RunSet:
        """Return the runs of both fields, those of `other` last."""
        if not isinstance(other, RunSet):
            raise InputError(f"RunSet.union: expected a RunSet, got {other.__class__.__name__}.")
        if self.order != other.order:
            raise InputError(
                f"RunSet.union: one field is ordered {self.order!r}, the other {other.order!r}. Call .reorder() on one of them."
            )
        both = [name for name in other.names if name in self]
        if both:
            raise InputError(f"RunSet.union: {examples(both)} in both fields. Rename or select before uniting.")
        rows = [*self.field.to_rows(self.names), *other.field.to_rows(other.names)]
        table = pd.concat([self.table, other.table], ignore_index=True)
        for column in table.columns:
            if table[column].isna().any() and table[column].dtype == object:
                table[column] = table[column].where(table[column].notna(), None)
        return RunSet(build_field(rows), table, self.order)

    def restrict(self, docnos: Iterable[str]) -> RunSet:
        """Return the runs with only these documents; lists close up, so ranks change.

        Args:
            docnos: document names, for example those of a part of the corpus.

        Returns:
            RunSet: the same runs; topics that are left without any document go.
        """
        if isinstance(docnos, str):
            raise InputError("RunSet.restrict: docnos must be several document names, got one string.")
        words = tokens.as_words(self.field.vocabulary)
        wanted = tokens.encode(dict.fromkeys(str(docno) for docno in docnos))
        kept = tokens.match(words, tokens.as_words(wanted)) >= 0
        if not kept.any():
            raise InputError("RunSet.restrict: no run retrieves any of these documents. Are they docnos of this collection?")
        field = self.field
        rows = [kept[field.docs(t)][field.codes[field.rows(t)]] for t in range(field.n_topics)]
        return RunSet(field.keep(np.concatenate(rows)), self.table, self.order)

    def reorder(self, order: str) -> RunSet:
        """Return the runs in another ranking order.

        Args:
            order: ``"trec_eval"`` or ``"trec_eval9"``, which follow from the scores. The rank column and the order
                of the file are not kept: give ``order=`` to :func:`read_runs` for those.

        Returns:
            RunSet: the same runs, reordered.
        """
        choice("RunSet.reorder", "order", order, tuple(ORDERS))
        if order == self.order:
            return self
        if order in ("rank", "file"):
            raise InputError(
                f"RunSet.reorder: {order!r} does not follow from the scores. Read the runs again with order={order!r}."
            )
        field = self.field
        lists = np.repeat(np.arange(field.n_topics * field.n_runs), np.diff(field.starts))
        docs = np.concatenate([field.docs(t)[field.codes[field.rows(t)]] for t in range(field.n_topics)])
        words = tokens.as_words(field.vocabulary)[docs]
        permutation = ranking(lists, words, np.asarray(field.scores), order, None)
        return RunSet(field if permutation is None else field.permute(permutation), self.table, order)

    def write(self, folder: str | Path, *, compress: bool = True, overwrite: bool = False) -> list[Path]:
        """Write each run as a TREC run file, ``input.<name>.gz`` or ``input.<name>``.

        Args:
            folder: where to; made when it does not exist.
            compress: gzip the files.
            overwrite: replace files that exist already; default is an error before anything is written.

        Returns:
            list of Path: the files, in the order of the runs.

        Raises:
            InputError: a name that cannot be a file or a column, or a file that exists.
        """
        folder = Path(folder)
        check_names(self.names, "RunSet.write: run name")
        check_names(self.topics, "RunSet.write: topic")
        unsafe = [name for name in self.names if "/" in name or "\\" in name or name in (".", "..")]
        if unsafe:
            raise InputError(f"RunSet.write: {examples(unsafe)} cannot be a file name. Rename the run first.")
        paths = [folder / f"input.{name}{'.gz' if compress else ''}" for name in self.names]
        there = [path.name for path in paths if path.exists()]
        if there and not overwrite:
            raise InputError(f"RunSet.write: {folder} has {examples(there)} already. Pass overwrite=True to replace them.")
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in zip(self.names, paths, strict=True):
            frame = self[name]
            check_names(frame["docno"].unique().tolist(), f"RunSet.write: run {name!r}, docno")
            lines = [
                f"{qid} Q0 {docno} {rank + 1} {score!r} {name}\n"
                for qid, docno, rank, score in zip(
                    frame["qid"], frame["docno"], frame["rank"], frame["score"].tolist(), strict=True
                )
            ]
            data = "".join(lines).encode("utf-8", "surrogateescape")
            with replacing(path) as file:
                # no time stamp: the same run gives the same bytes
                file.write(gzip.compress(data, mtime=0) if compress else data)
        return paths

    def summary(self) -> pd.DataFrame:
        """Return per run: ``name team type pooled topics rows shortest longest`` and all further metadata."""
        lengths = self.field.lengths
        shortest = np.where(lengths > 0, lengths, np.iinfo(np.int64).max).min(axis=0, initial=np.iinfo(np.int64).max)
        sizes = pd.DataFrame({
            "topics": (lengths > 0).sum(axis=0), "rows": lengths.sum(axis=0),
            "shortest": np.where(lengths.sum(axis=0) > 0, shortest, 0), "longest": lengths.max(axis=0, initial=0),
        })  # fmt: skip
        return pd.concat([self.table, sizes], axis=1)

    def __repr__(self) -> str:
        parts = [f"{count(len(self), 'run')} ({int(self.pooled.sum()):,} pooled)"]
        parts += [count(len(values), noun) for values, noun in ((self.teams, "team"), (self.types, "type")) if values]
        parts += [count(len(self.topics), "topic"), count(len(self.field.codes), "row")]
        return f"RunSet: {', '.join(parts)}, order={self.order!r}"

    def _repr_html_(self) -> str:
        head = html.escape(repr(self))
        return f"<p><b>{head}</b></p>{self.summary().to_html(max_rows=12, index=False, escape=True)}"

    def _docnos(self, docs: NDArray[np.int32]) -> NDArray[np.object_]:
        distinct, inverse = np.unique(docs, return_inverse=True)
        texts = np.empty(len(distinct), dtype=object)
        texts[:] = tokens.decode(self.field.vocabulary[distinct])
        return texts[inverse]


def code_runs(
    rows: Sequence[RunRows], function: str, *, duplicates: str, threads: int = 1, done: Any = lambda: None
) -> Field:
    """Code runs as one field; a duplicate document is an error in words."""
    names = [run.name for run in rows]
    try:
        field = build_field(rows, keep_best=duplicates == "best", threads=threads, done=done)
    except DuplicateError as error:
        raise InputError(
            f"{function}: run {names[error.run]!r} has document {error.docno!r} more than once for topic {error.topic!r}. "
            f"Mend the run, or pass duplicates='best' to keep its better-ranked occurrence."
        ) from None
    _warn_of_twin_topics(field.topics)
    return field


def _warn_of_twin_topics(topics: Sequence[str]) -> None:
    twins: dict[int, list[str]] = {}
    for topic in topics:
        if topic.isascii() and topic.isdigit():
            twins.setdefault(int(topic), []).append(topic)
    mixed = [same for same in twins.values() if len(same) > 1]
    if mixed:
        warnings.warn(
            f"topic ids are strings, so {examples(mixed[0])} are different topics; {count(len(mixed), 'such group')} "
            f"among the runs. If they are meant to be one topic, write its id alike everywhere.",
            ReuseWarning,
            stacklevel=4,
        )


def _frame_rows(name: str, frame: pd.DataFrame, order: str) -> RunRows:
    where = f"run {name!r}"
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{where}: expected a result frame, got {type(frame).__name__}.")
    columns(where, "a result frame", frame.columns, ("qid", "docno", "score", *(["rank"] if order == "rank" else [])))
    if frame[["qid", "docno"]].isna().any(axis=None):
        row = int(np.flatnonzero(frame[["qid", "docno"]].isna().any(axis=1))[0])
        raise InputError(f"{where}, row {row}: qid or docno is missing (NaN). Fill it in or drop the row.")
    scores = pd.to_numeric(frame["score"], errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        row = frame.iloc[int(bad[0])]
        raise InputError(
            f"{where}: the score of topic {row['qid']!r}, document {row['docno']!r} must be a finite number, got {row['score']!r}."
        )
    group, topics = pd.factorize(frame["qid"].astype(str))
    doc_codes, docnos = pd.factorize(frame["docno"].astype(str))
    odd = [text for text in [*topics, *docnos] if not text or "\0" in text]
    if odd:
        raise InputError(f"{where}: {examples(odd)} cannot be a qid or docno; it must be text without NUL bytes.")
    docs = tokens.as_words(tokens.encode(docnos))[doc_codes]
    ranks = frame["rank"].to_numpy(dtype=np.float64) if order == "rank" else None
    grouping = np.argsort(group, kind="stable")
    group, docs, scores = group[grouping], docs[grouping], scores[grouping]
    try:
        permutation = ranking(group, docs, scores, order, None if ranks is None else ranks[grouping])
    except TiedRankError as error:
        row = frame.iloc[int(grouping[error.row])]
        raise InputError(f"{where}: topic {row['qid']!r} has rank {row['rank']} twice. Use order='trec_eval'.") from None
    if permutation is not None:
        docs, scores = docs[permutation], scores[permutation]
    starts = np.searchsorted(group, np.arange(len(topics) + 1))
    return RunRows(name, [str(topic) for topic in topics], starts, docs, scores)
