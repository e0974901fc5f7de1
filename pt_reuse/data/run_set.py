"""RunSet: a field of runs, coded once, each run with its team, type and whether it was pooled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse import _text
from pt_reuse._text import Printed
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField, united
from pt_reuse.arrays.lists import ranges
from pt_reuse.data.coding import (
    UNKNOWN,
    CodedRuns,
    HowPooled,
    ScoreShapes,
    StoredRun,
    check_in_order,
    check_order,
    coder,
    run_frame,
    run_names,
    run_sizes,
    warn_of_twin_topics,
    write_runs,
)
from pt_reuse.data.dropped import in_words, left_out, of_both
from pt_reuse.data.judgments import as_qrels, is_collection
from pt_reuse.data.metadata import GivenMetadata, RunLabels, given_metadata, run_paths, stack_tables
from pt_reuse.data.pipelines import pipeline_frames
from pt_reuse.data.run_files import FileReading, coded_runs, holds_judgments
from pt_reuse.data.sharing import Shareable
from pt_reuse.data.tables import write_table
from pt_reuse.data.units import (
    OfDocno,
    Units,
    check_known,
    chosen_rows,
    column_of,
    counts_in_words,
    distinct,
    drawn_teams,
    restricted,
    units_of,
)
from pt_reuse.errors import InputError, examples, positive


class _Systems(dict[str, pt.Transformer]):
    """Run name -> system; a name that is no run's is told which are near."""

    def __missing__(self, name: Any) -> None:
        check_known("run", name, list(self))


class RunSet(Printed, Shareable):
    """A field of runs; immutable, every operation returns a new one.

    Made by :func:`read_runs`, :meth:`from_frames` or :meth:`from_pipelines`.

    Attributes:
        order: the ranking order, one of ``"trec_eval"``, ``"trec_eval9"``, ``"rank"``, ``"file"``.
        how_pooled: in which order and to which depth the collection pooled the runs, as far as known.
        field: the coded arrays underneath, or the blocks of a field on disk.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> bm25 = pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"], "score": [2.0, 1.0], "rank": [0, 1]})
        >>> runs = ptr.RunSet.from_frames({"BM25": bm25, "twin": bm25}, teams={"BM25": "A", "twin": "B"})
        >>> runs
        RunSet: 2 runs (pooled: not on record), 2 teams, 1 topic, 4 rows, order='trec_eval'
        >>> runs.select(team="A").names
        ['BM25']
        >>> runs.with_metadata(types={"BM25": "lexical", "twin": "copy"}).types
        ['lexical', 'copy']
        >>> runs.restrict(["d2"]).to_frame()["docno"].tolist()
        ['d2', 'd2']
    """

    _artifact_type: ClassVar[str] = "run_set"

    def __init__(
        self,
        field: AnyField,
        run_table: pd.DataFrame,
        order: str,
        how_pooled: HowPooled = UNKNOWN,
        dropped: pd.DataFrame | None = None,
    ):
        self._table = run_table.reset_index(drop=True)
        self._names: list[str] = run_table["name"].tolist()
        self._row = {name: row for row, name in enumerate(self._names)}
        self.field = field
        self.order = order
        self.how_pooled = how_pooled
        self._dropped = left_out() if dropped is None else dropped

    @classmethod
    def from_frames(
        cls,
        frames: Mapping[str, Any],
        *,
        teams: RunLabels | None = None,
        types: RunLabels | None = None,
        pooled: RunLabels | Collection[str] | bool | None = None,
        metadata: pd.DataFrame | str | Path | None = None,
        order: str = "trec_eval",
        pool_order: str | None = None,
        pool_depth: int | None = None,
        duplicates: str = "error",
    ) -> RunSet:
        """Build a field from the results of runs.

        `frames` is run name -> its results: a frame with the columns ``qid``, ``docno``, ``score`` (``rank`` for
        ``order="rank"``), ScoredDoc tuples, or a dict of topic -> document -> score; see :doc:`runs`. The order of its
        rows counts as that of a file. `teams`, `types`, `pooled`, `metadata`, `order`, `pool_order`, `pool_depth` and
        `duplicates` are those of :func:`read_runs`.

        Raises:
            InputError: a missing column, a score that is no finite number, a document twice in one list.
        """
        labels = {"teams": teams, "types": types, "pooled": pooled, "metadata": metadata}
        coded = coder(run_names("frames", frames, "results"), order, pool_order, pool_depth, duplicates, **labels)
        return cls.of_coded(coded(frames.values()))

    @classmethod
    def from_pipelines(
        cls,
        pipelines: Mapping[str, pt.Transformer],
        topics: pd.DataFrame,
        *,
        batch_size: int | None = None,
        cache: str | Path | None = None,
        verbose: bool = False,
        teams: RunLabels | None = None,
        types: RunLabels | None = None,
        pooled: RunLabels | Collection[str] | bool | None = None,
        metadata: pd.DataFrame | str | Path | None = None,
        order: str = "trec_eval",
        pool_order: str | None = None,
        pool_depth: int | None = None,
        duplicates: str = "error",
    ) -> RunSet:
        """Run each pipeline on the topics and build a field of the results.

        `pipelines` is run name -> PyTerrier pipeline that ends in ``qid``, ``docno``, ``score``; `topics` is a frame
        with ``qid`` and ``query``, of which `batch_size` go into each call of a pipeline: default all at once, or 10
        with a `cache`, a folder that keeps the results of each batch by run and topics, so that an interrupted call
        continues (:doc:`runs`). `verbose` shows a progress bar. `teams`, `types`, `pooled`, `metadata`, `order`,
        `pool_order`, `pool_depth` and `duplicates` are those of :func:`read_runs`.

        Raises:
            InputError: no pipeline, topics or results; with a `cache`, a pipeline that fails, or that prints otherwise
                than the one whose results are kept under its name.

        Warns:
            ReuseWarning: kept results that cannot be used, as their file is damaged.
        """
        labels = {"teams": teams, "types": types, "pooled": pooled, "metadata": metadata}
        names = run_names("pipelines", pipelines, "pipeline")
        coded = coder(names, order, pool_order, pool_depth, duplicates, **labels)
        results = pipeline_frames(pipelines, topics, batch_size=batch_size, verbose=verbose, cache=cache)
        return cls.of_coded(coded(results))

    @classmethod
    def of_coded(cls, coded: CodedRuns) -> RunSet:
        """Return runs that were coded and labelled, from frames or from files."""
        return cls(coded.field, coded.run_table, coded.order, coded.how_pooled, coded.dropped)

    def pooled_as(self, how_pooled: HowPooled) -> RunSet:
        """Return the same runs with another `how_pooled`; what it does not say stays."""
        known = self.how_pooled
        how = HowPooled(how_pooled.order or known.order, how_pooled.depth or known.depth)
        return RunSet(self.field, self._table, self.order, how, self._dropped)

    def select(
        self,
        names: str | Iterable[str] | None = None,
        *,
        team: str | Iterable[str] | None = None,
        type: str | Iterable[str] | None = None,
        family: str | Iterable[str] | None = None,
        pooled: bool | None = None,
    ) -> RunSet:
        """Return the runs that meet all given conditions, in field order; InputError if there is none.

        `names`, `team`, `type` and `family` are one or several of each; `pooled` is True for the runs that are on
        record as pooled, False for those on record as not pooled.
        """
        chosen = chosen_rows(self._table, names=names, team=team, type=type, family=family, pooled=pooled)
        rows = np.flatnonzero(chosen)
        table = self._table.iloc[rows]
        # whole files are of no run and stay
        dropped = self._dropped[self._dropped["name"].isna() | self._dropped["name"].isin(table["name"])]
        dropped = dropped.reset_index(drop=True)
        return RunSet(self.field.take_runs(rows.tolist()), table, self.order, self.how_pooled, dropped)

    def _with(self, field: AnyField, table: pd.DataFrame | None = None, order: str | None = None) -> RunSet:
        # the same runs; what was left out of them stays on record
        kept = self._table if table is None else table
        return RunSet(field, kept, order or self.order, self.how_pooled, self._dropped)

    def with_metadata(
        self,
        *,
        teams: RunLabels | None = None,
        types: RunLabels | None = None,
        pooled: RunLabels | Collection[str] | bool | None = None,
        metadata: pd.DataFrame | str | Path | None = None,
    ) -> RunSet:
        """Return the same runs with other teams, types, pooled flags or further columns.

        The arguments are those of :func:`read_runs`. What `teams`, `types`, `pooled` and `metadata` do not give stays:
        columns that no argument has, and runs that a mapping, a file or a frame does not name. A collection of names as
        `pooled` names all pooled runs.
        """
        return self.labelled(given_metadata(teams=teams, types=types, pooled=pooled, metadata=metadata))

    def labelled(self, given: GivenMetadata) -> RunSet:
        """Return the same runs with what is `given`, as :meth:`with_metadata` does."""
        return self._with(self.field, given.table(self.names, self.run_table, complete=False))

    def __or__(self, other: Any) -> RunSet:
        """Unite two fields; a name may stand in one of them only, and both must have the same order."""
        return self.union(other)

    def union(self, other: Any) -> RunSet:
        """Return the runs of both fields, those of `other` last, with all topics of both.

        `other` is a RunSet in the same order, or runs in another form, which are read in this order. Names must differ.
        If only one side has a `pool_order` or a `pool_depth`, the union has it; two different ones are an InputError.
        """
        if not isinstance(other, RunSet):
            other = RunSet.of_coded(coded_runs(other, argument="other", order=self.order))
        if self.order != other.order:
            problem = f"one field is ordered {self.order!r}, the other {other.order!r}. Put the other in order by "
            raise InputError(f"{problem}RunSet.reorder({self.order!r}).", argument="other")
        how_pooled = self.how_pooled | other.how_pooled
        both = [name for name in other.names if name in self]
        if both:
            raise InputError(f"{examples(both)} in both fields. Rename or select before uniting.", argument="other")
        field = united(self.field, other.field)
        warn_of_twin_topics(field.topics)
        dropped = of_both(self._dropped, other._dropped)
        return RunSet(field, stack_tables(self.run_table, other.run_table), self.order, how_pooled, dropped)

    def split_teams(
        self, *, seed: int, share: float = 0.5, type: str | Iterable[str] | None = None
    ) -> tuple[RunSet, RunSet]:
        """Draw teams at random; return the runs of the drawn teams, and those of all other teams.

        `share` of the teams is drawn, rounded, halves up; each side has at least one. The same `seed` draws the same
        teams in every process. `type`, one or several, limits both sides to runs of these types.

        Raises:
            InputError: an unknown type, fewer than two teams, a share out of range.

        Source: Yilmaz, Craswell, Mitra and Campos 2020, On the reliability of test collections for evaluating systems
        of different types, SIGIR: the teams of a type are split in two, and one half makes the pool.
        """
        chosen = self if type is None else self.select(type=type)
        drawn, others = drawn_teams(chosen.run_table, share, seed)
        return chosen.select(drawn), chosen.select(others)

    def restrict(
        self,
        docnos: Iterable[str] | None = None,
        *,
        prefix: str | Iterable[str] | None = None,
        where: OfDocno | None = None,
    ) -> RunSet:
        """Return the runs with only some of the documents, as if the corpus had no others.

        Ranks are counted again, scores stay. Topics without any remaining document are dropped; a warning says which
        runs keep no document of a topic. It is an error if no run retrieves such a document. Give one of the three:
        `docnos` are document names, such as those of :func:`~pt_reuse.profile.subsample_corpus`; `prefix` is how names
        begin, one or several; `where` is a function of a name that returns whether to keep the document.
        """
        return self._with(restricted(self.field, self._names, docnos, prefix, where))

    def reorder(self, order: str) -> RunSet:
        """Return the runs in another ranking order, with the same documents in each list.

        The result is that of reading the runs with this `order` (see :func:`read_runs`), except that duplicates that
        were left out stay left out. ``"rank"`` is an InputError if a run has no rank column, or one that gives no
        order.
        """
        check_order("order", order)
        check_in_order(self.field, self._names, self.order, order)
        return self if order == self.order else self._with(self.field.in_order(self.order, order), order=order)

    def in_pool_order(self, order: str | None = None) -> RunSet:
        """Return the runs in the `order` in which they are pooled.

        Default is the field's own `pool_order`, else its `order`.
        """
        return self.reorder((self.pool_order or self.order) if order is None else order)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._row

    def row(self, name: str) -> int:
        """Return the position of the run called `name`, from 0; InputError if there is none."""
        check_known("run", name, self._names)
        return self._row[name]

    @property
    def names(self) -> list[str]:
        """Return the run names, in the order given."""
        return list(self._names)

    @property
    def run_table(self) -> pd.DataFrame:
        """Return a copy of the runs' metadata, ``name team type pooled`` and all further columns, one row per run."""
        return self._table.copy()

    @property
    def teams(self) -> list[str]:
        """Return the distinct teams, in order of appearance."""
        return distinct(self._table["team"])

    @property
    def types(self) -> list[str]:
        """Return the distinct types, in order of appearance."""
        return distinct(self._table["type"])

    @property
    def families(self) -> list[str]:
        """Return the distinct families, in order of appearance; none where the runs' metadata has no ``family``."""
        return distinct(column_of(self._table, "family"))

    @property
    def pooled(self) -> pd.Series:
        """Return which runs contributed to the pool: True, False, or <NA> if not recorded (``boolean``)."""
        return self._table["pooled"].copy()

    @property
    def pool_is_on_record(self) -> bool:
        """Return whether it is recorded for every run whether it was pooled."""
        return bool(self._table["pooled"].notna().all())

    def units(self, by: str) -> Units:
        """Return the units of the field: `by` is ``"team"``, ``"type"``, ``"family"`` or ``"run"``."""
        return units_of(self._table, by)

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return one run as a PyTerrier frame: ``qid docno rank score name``, ranks from 0."""
        return run_frame(self.field, self.row(name), name)

    def systems(self) -> dict[str, pt.Transformer]:
        """Return run name -> a system that returns the run's results, for experiments with live systems.

        A system returns ``qid docno rank score`` and the further columns of the topics. PyTerrier and ir_measures sort
        by score, in float32, so a score that would not give :attr:`order` is lowered to the next smaller number. So
        ``pt.Experiment`` gives the scores of :func:`score`.

        Example:
            >>> import pyterrier as pt
            >>> demo = pt.get_dataset("reuse:demo")
            >>> systems = {"mine": demo.get_dense_retriever(), **demo.get_runs(type="lexical").systems()}
            >>> found = pt.Experiment(systems, demo.get_topics(), demo.get_judgments(), ["ndcg_cut_10"])
            >>> found["name"].tolist()[:2]
            ['mine', 'furrow-bm25-desc']
        """
        return _Systems({name: StoredRun(self.field, row, name) for row, name in enumerate(self.names)})

    def to_frame(self) -> pd.DataFrame:
        """Return all runs as one PyTerrier frame: ``qid docno rank score name``."""
        return pd.concat([self[name] for name in self.names], ignore_index=True)

    @property
    def topics(self) -> list[str]:
        """Return the topic names, in natural order."""
        return list(self.field.topics)

    def docnos(self, *, depth: int | None = None) -> list[str]:
        """Return the documents that the runs retrieve for any topic, each once, in the order of their bytes.

        `depth` takes only the first documents of each list, >= 1; default all of them. The documents to depth 100 are a
        small corpus: ``runs.restrict(runs.docnos(depth=100))``.
        """
        most = None if depth is None else positive("depth", depth, "documents per run and topic")
        names: set[bytes] = set()
        for i in range(len(self.field.parts)):
            block = self.field.part(i)
            lengths = np.diff(block.starts)
            lengths = lengths if most is None else np.minimum(lengths, most)
            retrieved = np.zeros(len(block.vocabulary), dtype=bool)
            retrieved[block.docs_of(ranges(block.starts[:-1], lengths))] = True
            names.update(tokens.names_of(block.vocabulary[retrieved]))
        return tokens.as_texts(sorted(names))

    def sizes(self) -> pd.DataFrame:
        """Return per run: ``name team type pooled topics rows shortest longest`` and all further metadata."""
        return pd.concat([self.run_table, run_sizes(self.field)], axis=1)

    @property
    def pool_order(self) -> str | None:
        """Return the order in which the runs were pooled; None if it is `order`."""
        return self.how_pooled.order

    @property
    def pool_depth(self) -> int | None:
        """Return the depth of the pool; None if it is not recorded."""
        return self.how_pooled.depth

    @property
    def dropped(self) -> pd.DataFrame:
        """Return what was left out when the runs were read: one row per line, row of a frame, or whole file.

        The columns are ``file line reason name qid docno``: the line is <NA> for a file without any run line, and for a
        row of a frame or table; ``name`` is the run, ``qid`` and ``docno`` are the document that a list had twice.
        """
        return self._dropped.copy()

    @property
    def settings(self) -> dict[str, Any]:
        """Return what the settings of a result say of the field: its order and how much was left out, if anything."""
        return {"order": self.order, **({"dropped": self.left_out} if self.left_out else {})}

    @property
    def left_out(self) -> str:
        """Return how much `dropped` is, in words such as ``3 lines and 1 file``; empty where nothing was left out."""
        return in_words(self._dropped)

    def write(self, folder: str | Path, *, compress: bool = True, overwrite: bool = False) -> list[Path]:
        """Write each run as a TREC run file, ``input.<name>.gz`` or ``input.<name>``, and return their paths.

        `folder` is made when it does not exist, `compress` gzips the files, `overwrite` replaces files that exist;
        default is an InputError before anything is written, also for a name that cannot be a file or a column.
        """
        return write_runs(self.field, self.names, self.__getitem__, folder, compress=compress, overwrite=overwrite)

    def write_table(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write all runs as one Parquet or Arrow file, which :func:`read_runs` reads back as they are; return its path.

        Its columns are ``qid docno score rank name``: scores in full (float64), ranks from 0 as PyTerrier counts them.
        Rows are topic by topic, then run by run; a row group holds whole topics. The runs' metadata (:attr:`run_table`,
        the order, how they were pooled) are in those of the file, under the key ``pt_reuse``. The file is written
        completely or not at all.

        Args:
            path: the file. ``.parquet`` is Parquet, ``.arrow`` and ``.feather`` are Arrow's file format.
            overwrite: replace an existing file; default is an error.

        Raises:
            InputError: another ending, a file that exists, a run without documents, a name that is no UTF-8, or
                pyarrow is missing (``pip install 'pt-reuse[parquet]'``).
        """
        return write_table(self.field, self.run_table, self.order, self.how_pooled, path, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"RunSet: {', '.join([*counts_in_words(self.field, self._table), *self._conventions()])}"

    def _conventions(self) -> Iterator[str]:
        yield f"order={self.order!r}"
        yield from self.how_pooled.in_words(self.order)
        if self.left_out:
            yield f"{self.left_out} left out"

    @cached_property
    def score_shapes(self) -> ScoreShapes:
        """Return what the scores look like, list by list; they are looked at once."""
        return ScoreShapes.of(self.field, self.order)

    def _repr_html_(self) -> str:
        return _text.html_headline(repr(self)) + _text.html_table(self.sizes(), most=12, what="runs in .sizes()")


def read_runs(
    source: str | Path | Iterable[str | Path],
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    order: str = "trec_eval",
    pool_order: str | None = None,
    pool_depth: int | None = None,
    names: str = "tag",
    duplicates: str = "error",
    bad_lines: str = "error",
    other_files: str = "error",
    cache: str | Path | None = None,
    memory: int | str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RunSet:
    r"""Read TREC run files, and tables of runs (Parquet, Arrow), as one field.

    A run file has six columns, ``qid Q0 docno rank score tag``, separated by white space; it may be packed (.gz, .bz2,
    .xz, .Z; .lz4 and .zst where their library is installed). As in trec_eval, a line that begins with ``#`` is a
    comment, and text after the sixth column is ignored, with one warning for all files.

    A table has a row per document with the columns ``qid``, ``docno``, ``score``, optional ``rank``, and ``name``, the
    run; without ``name`` all rows are one run, named by the file. It needs pyarrow (``pip install
    'pt-reuse[parquet]'``). The metadata that :meth:`RunSet.write_table` stored in it are used unless given here.

    Args:
        source: a folder (all files in it except hidden files and subfolders), a glob pattern, a file, or several files.
        teams: who submitted each run: a dict, a Series, a DataFrame, or the path of a file with two columns, run tag
            and team. Runs that are not named have the team of the ir_metadata in their file, or None, with a warning.
        types: what kind of system each run is (automatic, manual, neural, ...), given like `teams`.
        pooled: which runs contributed to the pool: a collection or file of names, a mapping of name to true or false,
            or one bool for all. Default: not on record, and every run counts as a contributor.
        metadata: a DataFrame or CSV with the column ``name``, or a DataFrame indexed by it, and any of ``team``,
            ``type``, ``pooled`` and others, instead of the three arguments above, or in addition (the arguments win).
        order: the order that ranks the documents of a run. ``"trec_eval"`` (default): score as float64 descending, ties
            by docno descending; ``"trec_eval9"``: the same on float32 scores, as pytrec_eval and pt.Experiment do;
            ``"rank"``: the rank column; ``"file"``: as read. :meth:`RunSet.reorder` changes it.
        pool_order: the order in which the collection pooled the runs, if it is not `order`.
        pool_depth: the depth to which it pooled, the default of ``depth=`` in all functions that pool the runs.
        names: ``"tag"`` names a run by its sixth column, ``"file"`` by its file name without ``input.`` and the ending
            of the compression. Runs of tables are named by their column ``name``.
        duplicates: a document twice in one list is an ``"error"``, or ``"best"`` keeps its better-ranked occurrence.
        bad_lines: a line that is no run line is an ``"error"``, or ``"skip"`` leaves it out (:doc:`runs`). Two lines of
            one rank and two tags in a file are always errors, and so is a bad row of a table.
        other_files: a file without any run line, such as a README, qrels or an empty file, is an ``"error"``, or
            ``"skip"`` leaves it out. A damaged packed file or table is always an error.
        cache: a folder to keep the parsed field in; the next call loads it from there unless the contents of a file
            (by their checksums), the set of files, or a setting has changed.
        memory: how much may be held in memory at once, in bytes or as ``"500MB"``, ``"1.5 GiB"``; at least 64 MB. The
            field is then kept in `cache`, block by block. Default: the whole field is in memory.
        n_jobs: threads; default all cores.
        verbose: show a progress bar.

    Returns:
        RunSet: the runs, in the order of the files; those of a table in the order of :meth:`RunSet.write_table`, else
            in that of their first rows. :attr:`RunSet.dropped` has a row for each line and file that was left out.

    Raises:
        InputError: with the file, the line and what to do; for several faulty files the first fault of each, all in its
            attribute ``faults``.

    Example:
        >>> import tempfile, pathlib, pt_reuse as ptr
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "input.bm25").write_text("1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n")
        >>> ptr.read_runs(folder, teams={"bm25": "A"})
        RunSet: 1 run (pooled: not on record), 1 team, 1 topic, 2 rows, order='trec_eval'
    """
    how: dict[str, Any] = {"duplicates": duplicates, "bad_lines": bad_lines, "other_files": other_files}
    how |= {"names": names, "cache": cache, "memory": memory, "n_jobs": n_jobs, "verbose": verbose}
    reading = Reading(order=order, how_pooled=HowPooled(pool_order, pool_depth), **how)
    paths = run_paths(source)
    labels = given_metadata(teams=teams, types=types, pooled=pooled, metadata=metadata)
    return reading.read(paths, labels)


@dataclass(frozen=True, kw_only=True)
class Reading(FileReading):
    """How run files are read, as :func:`read_runs` takes it, into a RunSet."""

    def read(self, paths: Sequence[Path], labels: GivenMetadata) -> RunSet:
        """Return the runs of some files, labelled."""
        return RunSet.of_coded(self.coded(paths, labels))


def as_runs(runs: Any, *, argument: str = "runs", order: str = "trec_eval") -> RunSet:
    """Return what a user gives as runs as a RunSet: the one place that takes runs of any kind."""
    if isinstance(runs, RunSet):
        return runs
    if is_collection(runs):
        found: RunSet = pt.get_dataset(runs).get_runs(order=order)
        return found
    return RunSet.of_coded(coded_runs(runs, argument=argument, order=order))


def as_runs_before(runs: Any, qrels: Any) -> tuple[RunSet, Any]:
    """Return the runs as a RunSet, and the judgments: read first where runs are read, which takes longer."""
    if isinstance(runs, RunSet):
        return runs, qrels
    if holds_judgments(runs):
        # of two that are swapped, the runs are told
        as_runs(runs)
    judgments = qrels if isinstance(qrels, RunSet) else as_qrels(qrels)
    return as_runs(runs), judgments
