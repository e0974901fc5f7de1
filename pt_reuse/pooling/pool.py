"""Pool: documents to judge, with what is known of each, who contributes to it, and which documents each run has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import _text
from pt_reuse._text import Printed
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import TopicDocs, offsets, ranges, sort_by_topic
from pt_reuse.data.frame_columns import check_frame, in_our_columns, provenance_first, text_column, text_groups
from pt_reuse.data.judgment_changes import labels_by, rel_of
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.metadata import given_metadata
from pt_reuse.data.qrels_files import topic_set
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.sharing import Shareable
from pt_reuse.data.units import Units, column_of, units_of
from pt_reuse.errors import InputError, choice, count, did_you_mean, examples, shown, warn

#: what a sample knows of each document, sampled or not: its stratum, and the probability that it came into the sample
STRATUM, INCLUSION = "stratum", "inclusion"
#: what the sample of a plan knows, too: how many documents were drawn, and by which plan
DRAWN, PLAN = "drawn", "plan"
SAMPLED = (INCLUSION, DRAWN, PLAN)
#: the columns of a pool's frame that are counted from its contributions
_COUNTED = ("rank", "runs", "teams", "types")
#: documents that an error names
_NAMED = 12


class Rule(Enum):
    """Which runs of a field contribute to a pool."""

    POOLED = "pooled"
    ALL = "all"
    NAMED = "named"


@dataclass(frozen=True)
class Contributors:
    """The runs of a field that contribute to a pool."""

    rule: Rule  # by which they were chosen
    runs: NDArray[np.bool_]  # (runs,) which runs of the field they are; at least one
    assumed: tuple[str, ...] = ()  # the names of those that count only because nobody recorded whether they were pooled

    def __len__(self) -> int:
        return int(self.runs.sum())

    @property
    def note(self) -> str:
        """Return in words what was assumed, nothing where nothing was."""
        if not self.assumed:
            return ""
        if len(self.assumed) == len(self.runs):
            return "who was pooled is not on record: all count"
        return f"not on record for {count(len(self.assumed), 'run')}, counted all the same"

    def __str__(self) -> str:
        """Return rule, number and assumption: ``pooled (71 of 129 runs)``."""
        note = f"; {self.note}" if self.note else ""
        return f"{self.rule.value} ({len(self):,} of {count(len(self.runs), 'run')}{note})"


def contributors_of(runs: RunSet, contributors: str | Iterable[str]) -> Contributors:
    """Return the runs of a field that a user's ``contributors=`` names: ``"pooled"``, ``"all"``, or run names."""
    rules = (Rule.POOLED.value, Rule.ALL.value)
    if not isinstance(contributors, str):
        names = set(named_contributors(contributors, runs.names))
        return Contributors(Rule.NAMED, np.array([name in names for name in runs.names], dtype=bool))
    if contributors in runs and contributors not in rules:
        raise InputError(
            f"contributors is the name of a run. Give run names as a list: contributors={[contributors]!r}.",
            argument="contributors",
        )
    if choice("contributors", contributors, rules) == Rule.ALL.value:
        return Contributors(Rule.ALL, np.ones(len(runs), dtype=bool))
    unknown, chosen = runs.pooled.isna().to_numpy(), runs.pooled.fillna(True).to_numpy(dtype=bool)
    if not chosen.any():
        raise InputError(
            "no run is marked as pooled. Pass contributors='all', or mark runs with pooled=.", argument="contributors"
        )
    return Contributors(Rule.POOLED, chosen, tuple(runs.names[row] for row in np.flatnonzero(unknown).tolist()))


def named_contributors(contributors: Any, known: Sequence[str] | None = None) -> list[Any]:
    """Return the run names that a user's ``contributors=`` lists; with `known` None it is not known which there are."""
    names = list(contributors) if isinstance(contributors, Iterable) else []
    if not names:
        raise InputError(
            f"contributors must be 'pooled', 'all' or run names, got {shown(contributors)}.", argument="contributors"
        )
    there = None if known is None else set(known)
    strangers = [] if there is None else [name for name in names if not isinstance(name, str) or name not in there]
    if known is not None and strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        problem = f"contributors names {examples(strangers)}, not among the {count(len(known), 'run')}.{hint}"
        raise InputError(problem, argument="contributors")
    return names


@dataclass(frozen=True)
class Contributions:
    """The runs that contributed each of some documents; a document may have none, and then it belongs to nobody."""

    starts: NDArray[np.int64]  # (documents + 1,)
    run: NDArray[np.integer]  # (rows,) the run, as a position in the table of contributing runs; each once per document
    rank: NDArray[np.integer]  # (rows,) the rank, from 1, at which the run has the document

    @classmethod
    def none(cls, n_documents: int) -> Contributions:
        """Return the contributions to documents that no run has."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls(np.zeros(n_documents + 1, dtype=np.int64), nothing, nothing)

    def __len__(self) -> int:
        return len(self.run)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return how many runs have each, (documents,)."""
        return np.diff(self.starts)

    @property
    def document(self) -> NDArray[np.int64]:
        """Return the document of each contribution, as a position, (rows,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def best_rank(self) -> NDArray[np.int32]:
        """Return the best rank at which a run has it, 0 where none has, (documents,)."""
        return self._reduced(np.minimum, self.rank, 0).astype(np.int32)

    @property
    def best_run(self) -> NDArray[np.int64]:
        """Return the run that has it at the best rank, the first of several, -1 where none has, (documents,)."""
        n_runs = int(self.run.max()) + 1 if len(self.run) else 0
        best = self._reduced(np.minimum, self.rank.astype(np.int64) * n_runs + self.run, -1)
        return np.where(best < 0, -1, best % max(n_runs, 1))

    def sole(self, units: Units) -> NDArray[np.int64]:
        """Return the one unit whose runs alone have the document, -1 where none or several have, (documents,)."""
        of_row = units.of_run[self.run]
        low, high = self._reduced(np.minimum, of_row, -1), self._reduced(np.maximum, of_row, -1)
        return np.where(low == high, low, -1)

    def count_distinct(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many of the (runs,) codes its runs have, each once and none below 0, (documents,)."""
        code, n_codes = codes[self.run], max(1, int(codes.max(initial=-1)) + 1)
        pairs = pd.unique((self.document * n_codes + code)[code >= 0])
        return np.bincount(pairs // n_codes, minlength=len(self.sizes))

    def take(self, documents: NDArray[np.int64]) -> Contributions:
        sizes = self.sizes[documents]
        gather = ranges(self.starts[:-1][documents], sizes)
        return Contributions(offsets(sizes), self.run[gather], self.rank[gather])

    def without(self, runs: NDArray[np.bool_]) -> Contributions:
        """Return the contributions of all but some (runs,), numbered anew; the documents stay."""
        place = (np.cumsum(~runs) - 1).astype(self.run.dtype)
        stays = ~runs[self.run]
        before = np.concatenate([[0], np.cumsum(stays)]).astype(np.int64)
        return Contributions(before[self.starts], place[self.run[stays]], self.rank[stays])

    def _reduced(self, reduce: np.ufunc, values: NDArray[Any], nothing: int) -> NDArray[Any]:
        # reduceat gives a document without rows the next one's first value: such documents are left out of it
        some = np.flatnonzero(self.sizes)
        reduced = np.full(len(self.sizes), nothing, dtype=values.dtype)
        if len(some):
            reduced[some] = reduce.reduceat(values, self.starts[some])
        return reduced


class Pool(Printed, Shareable):
    """Documents to judge, topic by topic; made by :func:`depth_pool`, or from any documents by :meth:`from_frame`.

    The contributors of a document are the runs that have it. A document from a classifier, a sample or the corpus may
    have none: it is no unique of any team, and stays in the pool whichever team is left out.

    Args:
        documents: the documents by topic.
        entries: the runs that contributed each document; None if no document has any.
        run_table: the contributing runs, one row each; None if there are none.
        columns: further columns of the documents, one row each.
        contributors: how the contributing runs were chosen; None if they were not.
        order: the order in which the runs were pooled; None if there are none.
        strategy: the strategy that chose the documents, which their labels keep; None if not stated.
        settings: how the pool was made, for display.
        unsampled: of a sample, the documents that were pooled and not sampled; None if all are to be judged.

    All arguments are attributes, too.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> pool = ptr.depth_pool(ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True), depth=2)
        >>> pool
        Pool: 3 documents, 1 topic, 2 runs (strategy=depth, depth=2, contributors=pooled, order=trec_eval)
        >>> pool.uniques(by="run")[["docno", "name"]].values.tolist()
        [['d1', 'A'], ['d3', 'B']]
        >>> pool.without(run="B")
        Pool: 2 documents, 1 topic, 1 run (strategy=depth, depth=2, contributors=pooled, order=trec_eval, without_run=B)
    """

    _artifact_type: ClassVar[str] = "pool"

    def __init__(
        self,
        documents: TopicDocs,
        entries: Contributions | None = None,
        *,
        run_table: pd.DataFrame | None = None,
        columns: pd.DataFrame | None = None,
        contributors: Contributors | None = None,
        order: str | None = None,
        strategy: str | None = None,
        settings: Mapping[str, Any] | None = None,
        unsampled: Pool | None = None,
    ):
        self.documents = documents
        self.entries = Contributions.none(len(documents)) if entries is None else entries
        self.run_table = given_metadata().table([]) if run_table is None else run_table.reset_index(drop=True)
        self.columns = pd.DataFrame(index=range(len(documents))) if columns is None else columns.reset_index(drop=True)
        self.contributors = contributors
        self.order = order
        self.strategy = strategy
        self.settings = dict(settings or {})
        self.unsampled = unsampled

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        topics: Iterable[str] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Pool:
        """Make a pool of any documents: of a classifier, a sample, the corpus. None has a contributor.

        Args:
            frame: columns ``qid`` and ``docno``, one row per document; further columns (strategy, round, priority,
                inclusion probability) are kept. Within a topic documents stay in the order of the rows.
            topics: the topics of the pool, if there are more than those of the rows.
            settings: how the documents were chosen, for display; default ``strategy=given``. Labels keep the strategy.

        Returns:
            Pool: the documents, topics in natural order.

        Raises:
            InputError: a missing column or cell, a document that is there twice, a column that a pool computes itself
                (``rank runs teams types``).

        Example:
            >>> import pandas as pd, pt_reuse as ptr
            >>> found = pd.DataFrame({"qid": ["2", "1"], "docno": ["b", "a"], "probability": [0.25, 0.5]})
            >>> pool = ptr.Pool.from_frame(found, settings={"strategy": "classifier"})
            >>> pool
            Pool: 2 documents, 2 topics, 0 runs (strategy=classifier)
            >>> pool.to_frame()
              qid docno  rank  runs  teams  types  probability
            0   1     a  <NA>     0      0      0         0.50
            1   2     b  <NA>     0      0      0         0.25
        """
        documents, columns = documents_of(frame, topics)
        if settings is None:
            return cls(documents, columns=columns, settings={"strategy": "given"})
        strategy = settings.get("strategy")
        return cls(documents, columns=columns, strategy=None if strategy is None else str(strategy), settings=settings)

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
        """Return one row per document: ``qid docno rank runs teams types`` and all further columns.

        ``rank`` is the best, from 1, <NA> where no run has the document; ``runs teams types`` say how many have it.
        """
        frame = pd.DataFrame({"qid": self._qid, "docno": self._docno})
        frame["rank"] = pd.Series(self.entries.best_rank, dtype="Int64").mask(self.entries.best_rank == 0)
        frame["runs"] = self.entries.sizes
        for column in ("team", "type"):
            frame[column + "s"] = self.entries.count_distinct(pd.factorize(self.run_table[column])[0])
        return pd.concat([frame, self.columns], axis=1)

    def contributions(self) -> pd.DataFrame:
        """Return one row per document and run that contributed it: ``qid docno name team type rank`` (from 1)."""
        doc = self.entries.document
        who = self.run_table[["name", "team", "type"]].iloc[self.entries.run].reset_index(drop=True)
        pairs = pd.DataFrame({"qid": self._qid[doc], "docno": self._docno[doc]})
        return pd.concat([pairs, who], axis=1).assign(rank=self.entries.rank.astype(np.int32))

    def sole(self, by: str) -> tuple[NDArray[np.int64], Units]:
        """Return (documents,) the position of the one unit (`by` team, run, type, family) that has each; and units.

        The position is -1 if several units or none contributed the document.
        """
        units = units_of(self.run_table, by)
        return self.entries.sole(units), units

    def uniques(self, by: str = "team") -> pd.DataFrame:
        """Return the documents, judged or not, that only one unit (`by` team, run, type or family) contributed.

        These are ``qid docno rank`` (best, from 1) and the unit, under ``team``, ``type``, ``family`` or ``name``.
        """
        unit, units = self.sole(by)
        rows = np.flatnonzero(unit >= 0)
        frame = self.to_frame().loc[rows, ["qid", "docno", "rank"]].reset_index(drop=True)
        frame[units.column] = np.array([*units.names, None], dtype=object)[unit[rows]]
        return frame

    def without(
        self,
        team: str | Iterable[str] | None = None,
        *,
        run: str | Iterable[str] | None = None,
        type: str | Iterable[str] | None = None,
        family: str | Iterable[str] | None = None,
    ) -> Pool:
        """Return the pool without the contributors of a `team`, `run`, `type` or `family`, or of several.

        It has the documents that at least one other run contributed, and those that no run did; the topics stay.
        """
        out, settings = np.zeros(len(self.run_table), dtype=bool), dict(self.settings)
        for by, wanted in (("team", team), ("run", run), ("type", type), ("family", family)):
            column = column_of(self.run_table, by)
            if wanted is not None and not isinstance(wanted, Iterable):
                raise InputError(f"{by} must be a {by} or several, got {shown(wanted)}.", argument=by)
            names = [wanted] if isinstance(wanted, str) else [] if wanted is None else list(wanted)
            for name in names:
                known = [each for each in dict.fromkeys(column) if each is not None]
                if not known:
                    raise InputError(f"no contributor has a {by}, got {name!r}. Give the runs their {by}.", argument=by)
                choice(by, name, known)
            if names:
                out |= column.isin(names).to_numpy()
                before = [settings[f"without_{by}"]] if f"without_{by}" in settings else []
                settings[f"without_{by}"] = "+".join([*before, *names])
        left = self.entries.without(out)
        kept = np.flatnonzero((left.sizes > 0) | (self.entries.sizes == 0))
        pool = self.take(kept, settings=settings)
        pool.entries, pool.run_table = left.take(kept), self.run_table[~out].reset_index(drop=True)
        if self.unsampled is not None:
            # inclusion probabilities are counted in what is left
            pool.unsampled = rest = self.unsampled.without(team, run=run, type=type, family=family)
            every = _strata(pool, rest).assign(sampled=[1.0] * len(pool) + [0.0] * len(rest))
            inclusion = every.groupby(["qid", STRATUM])["sampled"].transform("mean").to_numpy()
            pool.columns = pool.columns.assign(**{INCLUSION: inclusion[: len(pool)]})
            rest.columns = rest.columns.assign(**{INCLUSION: inclusion[len(pool) :]})
        return pool

    def remainder(self, qrels: Any) -> Pool:
        """Return the documents without a judgment (label >= 0) in `qrels`, including those with a label of -1 or less.

        Judgments are in any form, see :doc:`runs`. The topics stay.
        """
        judged = as_qrels(qrels).arrays.labels_of(self.documents) >= 0
        settings = {**self.settings, "judged_before": int(judged.sum())}
        return self.take(np.flatnonzero(~judged), settings=settings, unsampled=self.unsampled)

    def counts(self, qrels: Any = None) -> pd.DataFrame:
        """Return the number of documents of every topic, also of empty ones: ``qid documents``.

        With `qrels`, judgments in any form, ``judged`` counts those with a label of at least 0, ``to_judge`` others.
        """
        table = pd.DataFrame({"qid": self.topics, "documents": self.documents.sizes})
        if qrels is None:
            return table
        to_judge = self.remainder(qrels).documents.sizes
        return table.assign(judged=table["documents"] - to_judge, to_judge=to_judge)

    def judge(self, judge: Any) -> Qrels:
        """Return the labels of the pool's documents, with their provenance.

        Args:
            judge: judgments to look the labels up in, in any form (see :doc:`runs`), or a function of a frame with
                ``qid`` and ``docno``, such as a :class:`judging.Judge` or a pipeline that ends in one, that returns one
                label per row or a frame with ``qid docno label``. A document without a label (None, NaN or no row) is
                left out, with a warning that counts them; in a sample it is an error.

        Returns:
            Qrels: at most one judgment per pooled document, on the topics of the pool; `rel` is that of the judgments
            or of the judge. Further columns: those of the judgments, or of a function ``judge`` (its name), ``time``
            (UTC) and those of its frame; and all columns of the pool, which take precedence, with ``strategy``,
            ``round`` and ``reason``. A sample gives the whole pool, label -1 for documents that were not sampled.

        Raises:
            InputError: a function that does not return one label per document; a document of a sample without a label
                of at least 0, since a part of a sample is none.
        """
        pairs = pd.DataFrame({"qid": self._qid, "docno": self._docno})
        if callable(judge):
            found, rel = labels_by(judge, pairs), rel_of(judge)
        else:
            qrels = as_qrels(judge, "judge")
            rows, rel = qrels.arrays.documents.find(self.documents), qrels.stated_rel
            labels = np.append(qrels.arrays.labels, np.int16(0))[rows].astype(np.int64)
            found = pd.DataFrame({"label": pd.arrays.IntegerArray(labels, rows < 0)})
            if qrels.arrays.extra is not None:
                found = pd.concat([found, qrels.arrays.extra.reindex(rows).reset_index(drop=True)], axis=1)
        judged = found["label"].notna().to_numpy(dtype=bool)
        without = pairs[(found["label"].fillna(-1) < 0).to_numpy(dtype=bool)]
        if len(without) and (self.unsampled is not None or DRAWN in self.columns):
            names = named_documents(without.itertuples(index=False))
            raise InputError(
                f"{count(len(without), 'document')} of {len(self):,} in the sample without a label: {names}. "
                "Label every document, also those that are not relevant.",
                argument="judge",
            )
        if not judged.all():
            warn(f"{count(int((~judged).sum()), 'document')} of {len(self):,} without a label, left out.")
        # how a document was chosen the pool knows, what its label is and who gave it the judge
        mine = provenance_of(self).drop(columns=["label", "judge", "time"], errors="ignore")
        if self.strategy is not None and "round" not in mine:
            mine["round"] = pd.Series([1] * len(self), dtype="Int64")
        frame = provenance_first(pd.concat([pairs, found.drop(columns=mine.columns, errors="ignore"), mine], axis=1))
        made = Qrels(frame[judged], topics=self.topics, rel=rel)
        if self.unsampled is None:
            return made
        # what was pooled and not sampled has label -1
        labelled = made.to_frame().drop(columns=[STRATUM, INCLUSION], errors="ignore")
        frame = _strata(self, self.unsampled).merge(labelled, on=["qid", "docno"], how="left")
        return Qrels(frame.assign(label=frame["label"].fillna(-1)), topics=made.topics, rel=made.stated_rel)

    def to_qrels(self) -> Qrels:
        """Return the pool as a list of documents to judge: label -1 for every document."""
        return Qrels(pd.DataFrame({"qid": self._qid, "docno": self._docno, "label": -1}), topics=self.topics)

    def take(
        self,
        rows: NDArray[np.int64],
        *,
        columns: pd.DataFrame | None = None,
        settings: Mapping[str, Any] | None = None,
        strategy: str | None = None,
        unsampled: Pool | None = None,
    ) -> Pool:
        """Return some `rows`, in any order within a topic; all topics stay.

        `columns` (of all rows), `settings` and `strategy` replace the pool's own. Where the rows are a sample,
        `unsampled` has the other documents.
        """
        return Pool(
            self.documents.take(rows),
            self.entries.take(rows),
            run_table=self.run_table,
            columns=(self.columns if columns is None else columns).iloc[rows],
            contributors=self.contributors,
            order=self.order,
            strategy=self.strategy if strategy is None else strategy,
            settings=self.settings if settings is None else settings,
            unsampled=unsampled,
        )

    def _sizes(self) -> str:
        sizes = (count(len(self), "document"), count(len(self.topics), "topic"), count(len(self.run_table), "run"))
        return f"Pool: {', '.join(sizes)}"

    def _settings(self) -> dict[str, Any]:
        return {**self.settings, **({"order": self.order} if self.order else {})}

    def __repr__(self) -> str:
        return f"{self._sizes()} ({', '.join(f'{name}={value}' for name, value in self._settings().items())})"

    def _repr_html_(self) -> str:
        table = _text.html_table(self.to_frame(), most=12, what="documents in .to_frame()")
        return _text.html_headline(self._sizes()) + table + _text.html_folded(self._settings())


def documents_of(frame: pd.DataFrame, topics: Iterable[str] | None) -> tuple[TopicDocs, pd.DataFrame]:
    """Return the documents of a frame, and what else it knows of each, see :meth:`Pool.from_frame`."""
    frame = in_our_columns(frame) if isinstance(frame, pd.DataFrame) else frame
    check_frame(frame, ("qid", "docno"))
    columns = list(frame.columns)
    taken = [column for column in dict.fromkeys(columns) if column in _COUNTED or columns.count(column) > 1]
    if taken:
        raise InputError(
            f"the frame has {examples(taken, 12)} more than once, or a column that a pool counts itself "
            f"({', '.join(_COUNTED)}). Rename or drop it.",
            argument="frame",
        )
    topic, names = text_groups("qid", frame["qid"])
    words = text_column("docno", frame["docno"], frame["qid"])
    doc, first = tokens.factorize(words)
    pair = pd.Series(topic * max(len(first), 1) + doc)
    if n_again := int(pair.duplicated().sum()):
        row = int(pair.duplicated().argmax())
        qid, docno = frame["qid"].iloc[row], frame["docno"].iloc[row]
        raise InputError(
            f"topic {qid!r} has document {docno!r} again ({count(n_again, 'such row')} in all). Keep one of each.",
            argument="frame",
            place=f"rows {int((pair == pair[row]).argmax()):,} and {row:,}",
        )
    documents, rows = sort_by_topic(names, topic, words, topic_set(topics))
    known = frame.drop(columns=["qid", "docno"])
    return documents, known if rows is None else known.iloc[rows]


def _strata(*parts: Pool) -> pd.DataFrame:
    """Return ``qid docno stratum inclusion`` of the documents of both parts of a sampled pool."""
    known = [part.to_frame()[["qid", "docno", STRATUM, INCLUSION]] for part in parts]
    return pd.concat(known, ignore_index=True)


def provenance_of(pool: Pool) -> pd.DataFrame:
    """Return how each document of a pool was chosen, as its label is to keep it: its columns, strategy and reason."""
    if pool.strategy is None:
        return pool.columns
    of_all: dict[str, Any] = {"strategy": [pool.strategy] * len(pool)}
    if pool.unsampled is not None:
        drawn = zip(pool.columns[STRATUM].tolist(), pool.columns[INCLUSION].tolist(), strict=True)
        of_all["reason"] = [f"drawn from stratum {stratum} with probability {chance:.4g}" for stratum, chance in drawn]
    elif len(pool.entries):
        names = np.array([*pool.run_table["name"], None], dtype=object)[pool.entries.best_run].tolist()
        reasons: list[str | None] = []
        for name, rank, n in zip(names, pool.entries.best_rank.tolist(), pool.entries.sizes.tolist(), strict=True):
            more = f", best of {count(n, 'run')}" if n > 1 else ""
            reasons.append(f"rank {rank} of run {name}{more}" if n else None)
        if "priority" in pool.columns:
            both = zip(pool.columns["priority"].tolist(), reasons, strict=True)
            reasons = [reason and f"priority {priority:.4g}, {reason}" for priority, reason in both]
        of_all["reason"] = reasons
    known = pool.columns.copy()
    for name, cells in of_all.items():
        column = pd.Series(cells, dtype=object)
        known[name] = known[name].where(known[name].notna(), column) if name in known else column
    return known


def named_documents(pairs: Iterable[Sequence[str]]) -> str:
    """Name documents, (topic, document) each, with their topics: the first ones of many."""
    return examples([f"{docno} of topic {qid}" for qid, docno in pairs], _NAMED)
