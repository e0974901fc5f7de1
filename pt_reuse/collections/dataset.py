"""ReuseDataset: a collection as PyTerrier's dataset, with the runs that were submitted to it."""

from __future__ import annotations

import html
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray
from pyterrier.datasets._irds import IRDSDataset

from pt_reuse._check import choice, examples, flag, positive
from pt_reuse._errors import InputError, door, warn
from pt_reuse.collections.catalogue import catalogued
from pt_reuse.collections.collection import Collection, home
from pt_reuse.collections.facts import facts_of
from pt_reuse.collections.irds import build_irds
from pt_reuse.collections.offline import where_to_put
from pt_reuse.collections.registry import find_collection
from pt_reuse.collections.run_source import RunSource, with_types
from pt_reuse.engine.order import ORDERS
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet

_Part = TypeVar("_Part")
#: what reading through ir_datasets can raise: no network, no file, or one that is packed otherwise than it expects
_CANNOT = (OSError, RuntimeError, ValueError, LookupError, EOFError, tarfile.TarError, zlib.error)
_WORDS = {"queries": "topics", "qrels": "judgments", "docs": "documents"}


class ReuseDataset(IRDSDataset):
    """A test collection with its runs: ``pt.get_dataset("reuse:NAME")``.

    Documents, topics and judgments come through ir_datasets, as for ``irds:``; the runs from the user's folder or from
    where they are published.

    Attributes:
        collection: what is known of it: where its parts come from, which runs were submitted.

    Example:
        >>> import pyterrier as pt
        >>> trec8 = pt.get_dataset("reuse:trec-8/adhoc")
        >>> trec8.submitted()[["name", "team", "type", "pooled"]].head(2).values.tolist()
        [['1', 'ntexas', 'automatic', True], ['8manexT3D1N0', 'ge', 'manual', True]]
        >>> trec8.source_of("FT911-3")
        'FT'
    """

    @door
    def __init__(self, collection: Collection | str):
        if not isinstance(collection, Collection | str):
            raise InputError(f"expected the name of a collection, such as 'trec-8/adhoc', got {collection!r}.")
        self.collection = find_collection(collection) if isinstance(collection, str) else collection
        self._irds_id = f"reuse/{self.collection.name}"

    def irds_ref(self) -> Any:
        """Return the collection as ir_datasets has it."""
        return self._irds

    @cached_property
    def _irds(self) -> Any:
        return build_irds(self.collection, self.get_runs)

    @door
    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid`` and ``query``, as ``irds:`` does.

        Args:
            variant: which field of the topics is the query, such as ``"title"``; default all fields.
        """
        self._look_again()
        self._check_variant("queries", variant)
        return self._part("queries", lambda: IRDSDataset.get_topics(self, variant))

    @door
    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid docno label`` and what else the judgments have, as ``irds:`` does.

        Args:
            variant: which field of the judgments is the label; default their relevance.
        """
        self._look_again()
        self._check_variant("qrels", variant)
        frame = self._part("qrels", lambda: IRDSDataset.get_qrels(self, variant))
        self._compare_with_catalogue(frame)
        return frame

    @door
    def get_judgments(self) -> Qrels:
        """Return the judgments as a :class:`Qrels`.

        A document that was judged for several aspects of a topic, as in the diversity tasks, has the highest of its
        labels, with a warning.
        """
        frame = self.get_qrels()
        if "subtopic_id" in frame.columns and frame.duplicated(["qid", "docno"]).any():
            warn(
                f"reuse:{self.collection.name}: documents are judged for several aspects of a topic; each has the "
                f"highest of its labels. get_qrels() has them apart.",
            )
            frame = frame.groupby(["qid", "docno"], sort=False)["label"].max().reset_index()
        return Qrels(frame[["qid", "docno", "label"]])

    @door
    def get_corpus_iter(self, verbose: bool = True, start: int = 0, count: int | None = None) -> Iterator[dict]:
        """Yield documents as dicts with ``docno`` and their fields, as ``irds:`` does."""
        documents = self._part("docs", lambda: IRDSDataset.get_corpus_iter(self, verbose, start, count))

        def guarded() -> Iterator[dict]:
            try:
                yield from documents
            except _CANNOT as error:
                raise self._unavailable("docs", error) from error

        return pt.utils.GeneratorLen(guarded(), documents.length)

    @door
    def submitted(self, *, types: RunLabels | None = None) -> pd.DataFrame:
        """Return what is on record of the submitted runs, without reading them.

        Args:
            types: own types to lay over those on record, as :func:`read_runs` takes them: a dict, a frame, or the path
                of a file with two columns, run and type. Runs they do not name keep theirs.

        Returns:
            DataFrame: ``name team type official_type task pooled published``: the type by the catalogue's four names,
            the type as published, whether the run was pooled (None where nobody recorded it), and whether its file
            is published. With `types` also ``type_source``, whose type it is.

        Raises:
            InputError: an own collection, whose runs are what its folder holds.
        """
        table = with_types(RunSource(self.collection).submitted, types)
        return table.drop(columns="url", errors="ignore")

    @door
    def get_runs(
        self,
        *,
        pooled: bool | None = None,
        type: str | Iterable[str] | None = None,
        team: str | Iterable[str] | None = None,
        task: str | Iterable[str] | None = None,
        names: str | Iterable[str] | None = None,
        types: RunLabels | None = None,
        runs: str | Path | None = None,
        missing: str = "warn",
        download: bool = True,
        order: str = "trec_eval",
        duplicates: str = "error",
        cache: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> RunSet:
        """Return the runs that were submitted, each with its team, type and whether it was pooled.

        Run files are taken from ``PT_REUSE_HOME`` (default ``~/.pt_reuse``), in a folder with the collection's name,
        or from ``PT_REUSE_DATA``; those that are not there are downloaded from where they are published.

        Args:
            pooled: True for the runs that contributed to the judgments, False for the others.
            type: a type or several: ``"automatic"``, ``"manual"``, ``"feedback"``, ``"unknown"``, or one of `types`.
            team: a team or several.
            task: a task or several, where the track had any.
            names: a run or several.
            types: own types to lay over those on record, see :meth:`submitted`.
            runs: a folder to take the files from instead, named ``input.TAG``, ``TAG``, packed or not.
            missing: what to do when some runs cannot be had: ``"warn"`` (default), ``"error"`` or ``"ignore"``.
            download: False looks on this machine only.
            order: ranking order, as in :func:`read_runs`.
            duplicates: a document twice in a list, as in :func:`read_runs`.
            cache: a folder for the parsed runs, as in :func:`read_runs`.
            n_jobs: threads for reading.
            verbose: show progress bars.

        Returns:
            RunSet: its table has ``name team type pooled official_type task``, with `types` also ``type_source``.

        Raises:
            InputError: no run can be had (the error says which folder to fill with what), or, with
                ``missing="error"``, not all; a condition that no run meets; a file that is no run.
        """
        choice("missing", missing, ("warn", "error", "ignore"))
        choice("order", order, tuple(ORDERS))
        choice("duplicates", duplicates, ("error", "best"))
        flag("download", download)
        flag("verbose", verbose)
        if n_jobs is not None:
            positive("n_jobs", n_jobs, "threads")
        conditions: dict[str, Any] = {"names": names, "team": team, "type": type, "task": task}
        reading: dict[str, Any] = {"order": order, "duplicates": duplicates, "cache": cache, "n_jobs": n_jobs}
        if self.collection.submitted is None:
            return self._own_runs({**conditions, "pooled": pooled}, types, runs, {**reading, "verbose": verbose})
        source = RunSource(self.collection)
        table = source.wanted(pooled, types, **conditions)
        files = source.files(table, runs=runs, missing=missing, download=download, n_jobs=n_jobs or 8, verbose=verbose)
        kept = table[table["name"].isin(files)]
        field = read_runs([files[name] for name in kept["name"]], names="file", **reading)
        source.check(field, files)
        return field.with_metadata(metadata=source.metadata(kept))

    @door
    def fetch(
        self,
        *,
        pooled: bool | None = None,
        type: str | Iterable[str] | None = None,
        team: str | Iterable[str] | None = None,
        task: str | Iterable[str] | None = None,
        names: str | Iterable[str] | None = None,
        n_jobs: int = 8,
        verbose: bool = False,
    ) -> pd.DataFrame:
        """Download the run files that are not on this machine yet.

        Args:
            pooled: True for the runs that were pooled only.
            type: a type or several.
            team: a team or several.
            task: a task or several.
            names: a run or several.
            n_jobs: downloads at a time.
            verbose: show a progress bar.

        Returns:
            DataFrame: ``name file status``, one row per run; status is ``"here"``, ``"fetched"`` or why it failed.
        """
        source = RunSource(self.collection)
        positive("n_jobs", n_jobs, "downloads at a time")
        flag("verbose", verbose)
        table = source.wanted(pooled, None, names=names, team=team, type=type, task=task)
        return source.fetch(table, n_jobs=n_jobs, verbose=verbose)

    @door
    def source_of(self, docno: str) -> str | None:
        """Return the source of a document by its docno, None where the collection has no rule for it."""
        if not isinstance(docno, str):
            raise InputError(f"a docno must be a text, got {docno!r}.")
        return self.collection.sources.of(docno) if self.collection.sources else None

    @door
    def sources_of(self, docnos: Iterable[str]) -> NDArray[np.object_]:
        """Return the source of each document, None where the collection has no rule for it."""
        return np.array([*(self.source_of(docno) for docno in docnos), None], dtype=object)[:-1]

    def info_url(self) -> str | None:
        """Return a page about the collection, where ir_datasets has one."""
        if self.collection.irds_id is None:
            return None
        return IRDSDataset(self.collection.irds_id).info_url()

    def _repr_html_(self) -> str:
        rows = [f"<tr><th>{html.escape(what)}</th><td>{html.escape(text)}</td></tr>" for what, text in self.facts()]
        return f"<p><b>{html.escape(repr(self))}</b></p><table>{''.join(rows)}</table>"

    def facts(self) -> list[tuple[str, str]]:
        """Return what is known of the collection, as pairs of what and text: counts, origins, what is here."""
        return list(facts_of(self.collection))

    def __repr__(self) -> str:
        own = [f", {part}={source!r}" for part in ("topics", "qrels") if (source := self._of_the_users(part))]
        return f"ReuseDataset('reuse:{self.collection.name}'{''.join(own)})"

    def _of_the_users(self, part: str) -> str | None:
        # what the user put into a catalogued collection's folder is used in place of ir_datasets' files
        source = getattr(self.collection, part)
        official = self.collection.origin != "catalogue" or source is None or source.startswith("irds:")
        return None if official else source

    def _own_runs(
        self,
        conditions: dict[str, Any],
        types: RunLabels | None,
        folder: str | Path | None,
        reading: dict[str, Any],
    ) -> RunSet:
        source = self.collection.runs if folder is None else folder
        if source is None:
            whose = (
                "its definition names no runs. Add them to it, or"
                if self.collection.origin == "own"
                else ("no run of it is on record. Where you have some,")
            )
            raise InputError(f"{whose} pass runs='FOLDER'.")
        if conditions.pop("task") is not None:
            raise InputError("its runs have no tasks.")
        runs = read_runs(source, **self.collection.labels, **reading)
        if conditions["pooled"] is not None and runs.pooled.isna().all():
            raise InputError(
                "who was pooled is not on record. Leave out pooled=, or add 'pooled' to its definition; "
                "infer_pool(runs, qrels) says which runs must have contributed."
            )
        if types is not None:
            runs = runs.with_metadata(metadata=with_types(runs.run_table, types, before="definition"))
        return runs.select(**conditions) if any(value is not None for value in conditions.values()) else runs

    def _compare_with_catalogue(self, frame: pd.DataFrame) -> None:
        collection = self.collection
        if self._of_the_users("qrels") is None or "label" not in frame:
            return
        found = {"judgments": len(frame), "relevant": int((frame["label"] > 0).sum())}
        expected = {"judgments": collection.n_judged, "relevant": collection.n_relevant}
        odd = [f"{found[key]:,} {key} instead of {n:,}" for key, n in expected.items() if n not in (None, found[key])]
        ids = collection.topic_ids
        strange = [] if ids is None else [qid for qid in dict.fromkeys(frame["qid"]) if qid not in ids]
        odd += [f"topics that are not its own: {examples(strange)}"] if strange else []
        if odd:
            warn(
                f"reuse:{collection.name}: the judgments in {collection.qrels}, which are used in place of the "
                f"official ones, have {'; '.join(odd)}. Are they those of another collection?",
            )

    def _check_variant(self, entity: str, variant: str | None) -> None:
        ref = self.irds_ref()
        if variant is None or not ref.has(entity):
            return
        fields = getattr(ref, f"{entity}_cls")()._fields
        known = [name for name in fields if name not in ("query_id", "doc_id", "iteration")]
        choice("variant", variant, known)

    def _part(self, entity: str, get: Callable[[], _Part]) -> _Part:
        name = f"reuse:{self.collection.name}"
        if not self.irds_ref().has(entity):
            folder = home() / self.collection.name
            if self.collection.origin == "own":
                advice = f"Add {'qrels' if entity == 'qrels' else _WORDS[entity]} = ... to its definition"
            elif entity == "docs":
                advice = "Define a collection of your own that names them (register_collection)"
            else:
                file = "qrels.txt" if entity == "qrels" else "topics.tsv (or .xml, .txt, .jsonl)"
                advice = f"Put them into {folder} as {file}"
            raise InputError(f"{name}: no {_WORDS[entity]} are known for it. {advice}.")
        try:
            return get()
        except _CANNOT as error:
            if isinstance(error, InputError):
                raise
            raise self._unavailable(entity, error) from error

    def _look_again(self) -> None:
        # the user may have put a file into the collection's folder since, as an error advised
        if self.collection.origin != "catalogue" or catalogued(self.collection.name) is None:
            return
        now = find_collection(self.collection.name)
        if (now.qrels, now.topics) != (self.collection.qrels, self.collection.topics):
            self.collection = now
            self.__dict__.pop("_irds", None)

    def _unavailable(self, entity: str, error: Exception) -> InputError:
        # ir_datasets hands over the errors of every address it tried; what it says first is enough
        said = str(error.args[0]) if isinstance(error, RuntimeError) and error.args else str(error)
        text = " ".join(said.split()).rstrip(".") or type(error).__name__
        return InputError(
            f"reuse:{self.collection.name}: its {_WORDS[entity]} come through ir_datasets"
            f"{f' ({self.collection.irds_id})' if self.collection.irds_id else ''}, which could not read them: "
            f"{text if len(text) <= 160 else text[:157] + '...'}. "
            f"{where_to_put(self.collection, self.irds_ref(), entity)}"
        )
