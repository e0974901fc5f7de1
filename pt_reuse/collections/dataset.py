"""A collection as PyTerrier's dataset, what is known of it in words, and the table of all of them."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse import _text
from pt_reuse._text import Printed
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.definition import collection_names, find_collection
from pt_reuse.collections.own_files import TOPIC_FORMATS, build_irds, not_known, not_readable, topic_format
from pt_reuse.collections.runs import (
    choose_runs,
    compare_judgments,
    download_folder,
    fetch_report,
    find_run_files,
    looked_at,
    own_run_files,
    plan_runs,
    read_types,
    submitted_runs,
    with_types,
)
from pt_reuse.data.coding import HowPooled
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.metadata import RunLabels
from pt_reuse.data.run_set import Reading, RunSet
from pt_reuse.errors import InputError, choice, count, examples, flag, positive, shown, warn


def list_collections(search: str | int = "", *, here: bool = False) -> pd.DataFrame:
    """List the test collections that ``pt.get_dataset("reuse:NAME")`` knows.

    Args:
        search: words that must all stand in a collection's name, aliases, title, year, ir_datasets id or note, such as
            ``"robust 2004"``, or a year.
        here: list only collections of which a run file is on this machine.

    Returns:
        DataFrame: one row per collection, by year: ``name title year``; ``topics`` and ``judged``, judged topics and
        judgments; ``runs`` and ``teams`` submitted; ``pooled``, how many runs are on record as pooled, missing if not
        recorded; ``irds``, the ir_datasets id, for some of the documents only; ``published``, access to the run files
        (``"open"``, ``"password"`` or ``"no"``); ``here``, how many of them are on this machine.

    Raises:
        InputError: `search` is no text and no year, or `here` not True or False.

    Example:
        >>> import pt_reuse as ptr
        >>> found = ptr.list_collections("trec-8 ad hoc")
        >>> found[["name", "topics", "judged", "runs", "teams", "pooled"]].values.tolist()
        [['trec-8/adhoc', 50, 86830, 129, 41, 71]]
        >>> ptr.list_collections(2005)["name"].tolist()[:2]
        ['trec-2005/genomics/adhoc', 'trec-2005/robust']
    """
    a_year = isinstance(search, int | np.integer) and not isinstance(search, bool)
    if not a_year and not isinstance(search, str):
        raise InputError(f"search must be words in one text, or a year, got {shown(search)}.", argument="search")
    flag("here", here)

    rows = []
    for known in map(find_collection, collection_names()):
        words = (known.name, *known.aliases, known.title, known.year, known.irds_id, known.note)
        text = " ".join(map(str, words)).lower()
        if known.year == search if a_year else all(word in text for word in str(search).lower().split()):
            rows.append(_row(known))
    rows = [row for row in rows if row["here"] or not here]
    columns = ["name", "title", "year", "topics", "judged", "runs", "teams", "pooled", "irds", "published", "here"]
    frame = pd.DataFrame(rows, columns=columns)
    numbers = ["year", "topics", "judged", "runs", "teams", "pooled", "here"]
    return frame.astype(dict.fromkeys(numbers, "Int64"))


def _row(collection: Collection) -> dict[str, object]:
    row: dict[str, object] = {
        "name": collection.name,
        "title": collection.title,
        "year": collection.year,
        "topics": collection.n_topics,
        "judged": collection.n_judged,
        "irds": collection.irds_id,
        "published": collection.access or "no",
    }
    submitted = collection.submitted
    if submitted is None:
        n_files = len(own_run_files(collection))
        return {**row, "runs": n_files, "here": n_files}
    pooled = int(submitted["pooled"].sum()) if collection.pooled_is_on_record else None
    here = len(find_run_files(collection, submitted["name"]))
    return {**row, "runs": len(submitted), "teams": submitted["team"].nunique(), "pooled": pooled, "here": here}


def summary_of(collection: Collection) -> str:
    """Return what a collection is, in one line: title, year, how many topics, judgments, runs, and who was pooled."""
    year = "" if collection.year is None or str(collection.year) in collection.title else f", {collection.year}"
    counted = ((collection.n_topics, "topic"), (collection.n_judged, "judgment"))
    parts = [count(n, noun) for n, noun in counted if n is not None]
    if collection.rel not in (None, 1):
        parts.append(f"relevant from label {collection.rel}")
    if collection.origin == "own" and isinstance(collection.topics, tuple):
        parts.append(f"topics read as {TOPIC_FORMATS[topic_format(Path(collection.topics[0]))]}")
    submitted, runs = collection.submitted, collection.runs
    if submitted is not None:
        parts.append(f"{count(len(submitted), 'run')} of {count(submitted['team'].nunique(), 'team')}")
        pooled = int(submitted["pooled"].sum()) if collection.pooled_is_on_record else None
        parts.append("who was pooled is not on record" if pooled is None else f"{pooled:,} of them pooled")
    elif runs is not None:
        parts.append(f"runs in {runs}" if isinstance(runs, str) else count(len(runs), "run"))
    return f"{collection.title}{year}{'; ' if parts else ''}{', '.join(parts)}"


def facts_of(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield what is known of a collection, as pairs of what and text."""
    if collection.aliases:
        yield "also", ", ".join(collection.aliases)
    yield "documents", _source(None, collection.documents)
    if collection.sources is not None:
        known, pattern = dict.fromkeys(collection.sources.prefixes.values()), collection.sources.pattern
        rules = [examples(known, 8)] * bool(known) + [f"the first group of {pattern}"] * bool(pattern)
        yield "sources", f"a docno tells its source: {', else '.join(rules)}"
    yield "topics", _source(collection.n_topics, collection.topics)
    graded = collection.rel not in (None, 1)
    labels = "with a label above 0" if graded else "relevant"
    relevant = "" if collection.n_relevant is None else f" ({collection.n_relevant:,} {labels})"
    yield "judged", _source(collection.n_judged, collection.qrels, relevant)
    if graded:
        yield "relevant", f"from label {collection.rel} on"
    submitted = collection.submitted
    if submitted is None:
        there = _source(len(own_run_files(collection)), collection.runs)
        yield "runs", "none on record" if collection.runs is None else there
    else:
        runs = count(len(submitted), "run")
        types = ", ".join(f"{n:,} {kind}" for kind, n in submitted["type"].value_counts().items())
        yield "runs", f"{runs} of {count(submitted['team'].nunique(), 'team')}: {types}"
        if collection.types_from:
            yield "types", f"from {collection.types_from}"
        on_record = f"{int(submitted['pooled'].fillna(False).sum()):,} of {runs}, on record"
        nobody = "not on record; infer_pool(runs, qrels) says which runs must have been"
        yield "pooled", on_record if collection.pooled_is_on_record else nobody
        if collection.pool_order:
            yield "pool order", f"{collection.pool_order}: pooled in another order than that of scoring"
        if collection.pool_depth:
            yield "pool depth", f"{collection.pool_depth:,} documents per run and topic"
        asks = "; NIST asks for a user name and password" if collection.access == "password" else ""
        at = f"{int(submitted['published'].sum()):,} runs at {collection.url}{asks}"
        yield "published", "nowhere that is known" if collection.url is None else at
        yield "here", f"{len(find_run_files(collection, submitted['name'])):,} of {runs}"
        folders = ", ".join(map(str, looked_at(collection)))
        yield "looked at", folders or f"{download_folder(collection)} (does not exist yet)"
    if collection.judgments_at is not None and collection.qrels is None:
        yield "judgments", f"published at {collection.judgments_at}; ir_datasets does not have them"
    if collection.note:
        yield "note", collection.note


def _source(n: int | None, source: str | tuple[str, ...] | None, more: str = "") -> str:
    """Return how many there are and where from, as far as that is known."""
    if source is None:
        return "nowhere" if n is None else f"{n:,}{more}; ir_datasets does not have them"
    place = source
    if not isinstance(source, str):
        place = ", ".join(source[:3]) + (f" and {len(source) - 3} more" if len(source) > 3 else "")
    return str(place) if n is None else f"{n:,}{more}, from {place}"


try:
    from pyterrier.datasets._irds import IRDSDataset
except ImportError:  # it is PyTerrier's affair where the class is
    IRDSDataset = type(pt.get_dataset("irds:vaswani"))

_Part = TypeVar("_Part")
#: NIST's pages about every track of TREC
_BROWSER = "https://pages.nist.gov/trec-browser/"
#: what reading through ir_datasets can raise: no network, no file, or one that is packed otherwise than it expects
_CANNOT = (OSError, RuntimeError, ValueError, LookupError, EOFError, tarfile.TarError, zlib.error)


class ReuseDataset(Printed, IRDSDataset):
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

    def __init__(self, collection: Collection | str):
        if not isinstance(collection, Collection | str):
            raise InputError(f"expected the name of a collection, such as 'trec-8/adhoc', got {collection!r}.")
        self.collection = find_collection(collection) if isinstance(collection, str) else collection
        self._irds_id = f"reuse/{self.collection.name}"

    def irds_ref(self) -> Any:
        """Return the collection as ir_datasets has it."""
        return self._irds

    @property
    def name(self) -> str:
        """Return the name of the collection, also where it was opened by an alias."""
        return self.collection.name

    @cached_property
    def _irds(self) -> Any:
        return build_irds(self.collection, self.get_runs)

    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid`` and ``query``, as ``irds:`` does; `variant` is the field that is the query, default all."""
        self._check_variant("queries", variant)
        return self._part("queries", lambda: IRDSDataset.get_topics(self, variant))

    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid docno label`` and what else the judgments have; `variant` is the field that is the label."""
        self._check_variant("qrels", variant)
        frame = self._part("qrels", lambda: IRDSDataset.get_qrels(self, variant))
        compare_judgments(self.collection, frame)
        return frame

    def get_judgments(self, variant: str | None = None) -> Qrels:
        """Return the judgments as a :class:`Qrels`, relevant from the label on that the collection's track counts from.

        A document that was judged for several aspects of a topic, as in the diversity tasks, has the highest of its
        labels, with a warning. `variant` is that of :meth:`get_qrels`.
        """
        frame = self.get_qrels(variant)
        if "subtopic_id" in frame.columns and frame.duplicated(["qid", "docno"]).any():
            warn(
                "documents are judged for several aspects of a topic; each has the highest of its labels.",
                place=f"reuse:{self.collection.name}",
            )
            frame = frame.groupby(["qid", "docno"], sort=False)["label"].max().reset_index()
        return Qrels(frame[["qid", "docno", "label"]], rel=self.collection.rel)

    def get_corpus_iter(self, verbose: bool = True, start: int = 0, count: int | None = None) -> Iterator[dict]:
        """Yield documents as dicts with ``docno`` and their fields, as ``irds:`` does.

        `verbose` shows a progress bar; `start` documents are passed over, and `count` yielded at most.
        """
        flag("verbose", verbose)
        documents = self._part("docs", lambda: IRDSDataset.get_corpus_iter(self, verbose, start, count))

        def guarded() -> Iterator[dict]:
            try:
                yield from documents
            except _CANNOT as error:
                raise not_readable(self.collection, "docs", error) from None

        return pt.utils.GeneratorLen(guarded(), documents.length)

    def submitted(self, *, types: RunLabels | None = None) -> pd.DataFrame:
        """Return what is on record of the submitted runs: ``name team type official_type task pooled published``.

        That is the type by the catalogue's four names, the type as published, whether the run was pooled (None if not
        recorded), and whether its file is published. `types` are your own types, as :func:`read_runs` takes them, which
        replace those on record; ``type_source`` then says where each is from. A collection of your own has no record.
        """
        table = with_types(submitted_runs(self.collection), read_types(types))
        return table.drop(columns="url", errors="ignore")

    def get_runs(
        self,
        *,
        pooled: bool | None = None,
        type: str | Iterable[str] | None = None,
        team: str | Iterable[str] | None = None,
        task: str | Iterable[str] | None = None,
        names: str | Iterable[str] | None = None,
        types: RunLabels | None = None,
        runs: Any = None,
        missing: str = "warn",
        download: bool = True,
        order: str = "trec_eval",
        pool_order: str | None = None,
        pool_depth: int | None = None,
        duplicates: str = "error",
        bad_lines: str = "error",
        other_files: str = "error",
        cache: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> RunSet:
        """Return the runs that were submitted, each with its team, type and whether it was pooled.

        Run files are taken from ``PT_REUSE_HOME`` (default ``~/.pt_reuse``), in a folder with the collection's name,
        or from ``PT_REUSE_DATA``; those that are not there are downloaded from where they are published, unless
        `download` is False.

        `type`, `team`, `task` and `names` choose runs by one value or several; `pooled` is True for those that
        contributed to the judgments, False for the others. A type is ``"automatic"``, ``"manual"``, ``"feedback"``,
        ``"unknown"``, or one of your own `types`, see :meth:`submitted`. `runs` is a folder to take the files from
        instead, named ``input.TAG`` or ``TAG``, packed or not; or the runs themselves in any form (see :doc:`runs`), of
        which those with a name on record are taken. `missing` says what to do if some runs are not available:
        ``"warn"`` (default), ``"error"`` or ``"ignore"``. `order`, `duplicates`, `bad_lines`, `other_files`, `cache`,
        `n_jobs` and `verbose` are those of :func:`read_runs`, as are `pool_order` and `pool_depth`, by default those of
        the collection.

        Returns:
            RunSet: its table has ``name team type pooled official_type task``, with `types` also ``type_source``.

        Raises:
            InputError: no run is available (the error says which files to put into which folder), or, with
                ``missing="error"``, not all; a condition that no run meets; a file that is no run.
        """
        reading = Reading(
            order=order,
            how_pooled=HowPooled(pool_order, pool_depth),
            duplicates=duplicates,
            bad_lines=bad_lines,
            other_files=other_files,
            cache=cache,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        conditions = {"pooled": pooled, "names": names, "team": team, "type": type, "task": task}
        return plan_runs(
            self.collection, conditions, reading, types=types, runs=runs, missing=missing, download=download
        ).get()

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
        """Download the run files that are not on this machine yet, `n_jobs` at a time.

        `pooled`, `type`, `team`, `task` and `names` choose runs as in :meth:`get_runs`; `verbose` shows a progress bar.

        Returns:
            DataFrame: ``name file status reason``, one row per run; ``status`` is ``"here"``, ``"fetched"`` or
            ``"failed"``; ``reason`` says what is wrong, None where nothing is.
        """
        submitted_runs(self.collection)
        positive("n_jobs", n_jobs, "downloads at a time")
        flag("verbose", verbose)
        table = choose_runs(self.collection, None, pooled, names=names, team=team, type=type, task=task)
        return fetch_report(self.collection, table["name"].tolist(), n_jobs=n_jobs, verbose=verbose)

    def source_of(self, docno: str) -> str | None:
        """Return the source of a document by its docno, None where the collection has no rule for it."""
        if not isinstance(docno, str):
            raise InputError(f"a docno must be a text, got {docno!r}.")
        return self.collection.sources.of(docno) if self.collection.sources else None

    def info_url(self) -> str | None:
        """Return a page about the collection: of ir_datasets, else NIST's of TREC; None for one of the user's own."""
        if self.collection.irds_id is not None:
            return IRDSDataset(self.collection.irds_id).info_url()
        return _BROWSER if self.collection.origin == "catalogue" else None

    def _repr_html_(self) -> str:
        title = f"{type(self).__name__}('reuse:{self.name}'): {self.collection.title}"
        return _text.html_headline(title) + _text.html_facts(self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return what is known of the collection, as pairs of heading and text: counts, origins, files here."""
        return list(facts_of(self.collection))

    def __repr__(self) -> str:
        parts = [part for part in ("topics", "qrels") if self.collection.is_replaced(part)]
        own = [f", {part}={getattr(self.collection, part)[0]!r}" for part in parts]
        return f"{type(self).__name__}('reuse:{self.name}'{''.join(own)}): {summary_of(self.collection)}"

    def __getstate__(self) -> dict[str, Any]:
        # what ir_datasets has of it is made anew in another process; get_topics is what pt.get_dataset has wrapped
        return {name: value for name, value in vars(self).items() if name not in ("_irds", "get_topics")}

    def _check_variant(self, entity: str, variant: str | None) -> None:
        ref = self.irds_ref()
        if variant is not None and ref.has(entity):
            fields = getattr(ref, f"{entity}_cls")()._fields
            choice("variant", variant, [name for name in fields if name not in ("query_id", "doc_id", "iteration")])

    def _part(self, entity: str, get: Callable[[], _Part]) -> _Part:
        if not self.irds_ref().has(entity):
            raise not_known(self.collection, entity)
        try:
            return get()
        except InputError:
            raise
        except _CANNOT as error:
            raise not_readable(self.collection, entity, error) from None


def judgments_of(collection: Collection) -> Qrels:
    """Return the judgments of a collection, for a function that takes ``qrels=`` in their place."""
    try:
        return ReuseDataset(collection).get_judgments()
    except InputError as error:
        raise InputError(f"{error} Or give a file of them: qrels='FILE'.") from None
