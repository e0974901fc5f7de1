"""Export: the documents of a pool become files for people who judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, flag, told
from pt_reuse._errors import Argument, InputError, Option, door, warn
from pt_reuse._files import checked_path
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result
from pt_reuse.judging.people.asking import Terms, agree_terms, ask
from pt_reuse.judging.people.assignment import Overlap
from pt_reuse.judging.people.manifest import TaskFormat
from pt_reuse.judging.people.sheet import LONGEST_CELL
from pt_reuse.judging.people.task_folder import FolderOfTasks, RoundSettings
from pt_reuse.judging.people.texts import document_texts, topic_texts
from pt_reuse.judging.people.writing import Shown
from pt_reuse.pooling.pool import Pool

#: columns of a pool's frame that are counted from its runs
_COUNTED = ("rank", "runs", "teams", "types")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExportedTasks(Result):
    """Files for people who judge, made by :func:`export_tasks`; :func:`import_labels` reads what comes back.

    Attributes:
        table: one row per file that was written: ``file annotator topics pairs``; ``annotator`` is None where anybody
            may answer.
        settings: task, format, round, seed, overlap, and how the pool was made.
        folder: where the files are.
        asked_before: pairs of the pool of which nothing is asked now, since enough people were asked in earlier rounds.
    """

    title = "ExportedTasks"

    folder: str
    asked_before: int

    def headline(self) -> str:
        """Return how many pairs are in how many files, and where."""
        pairs, files = int(self.table["pairs"].sum()), count(len(self.table), "file")
        before = f", {self.asked_before:,} of the pool asked before" if self.asked_before else ""
        return f"{count(pairs, 'pair')} to judge in {files} in {self.folder}{before}"

    def report(self) -> Report:
        """Return how much everybody is asked."""
        table = self.table
        columns = (
            Column("Annotator", ["anybody" if who is None else who for who in table["annotator"]]),
            Column("File", table["file"]),
            Column("Topics", table["topics"], Digits.COUNT),
            Column("Pairs", table["pairs"], Digits.COUNT),
        )
        how = f"task {self.settings['task']}, round {self.settings['round']}, seed {self.settings['seed']}"
        return Report(columns, caption=f"What people were asked to judge, in {self.settings['format']} files ({how}).")


@door
def export_tasks(
    pool: Pool | pd.DataFrame,
    folder: str | Path,
    *,
    topics: pd.DataFrame | Mapping[str, str],
    texts: Mapping[str, str] | pd.DataFrame | Iterable[Mapping[str, Any]] | pt.Transformer,
    format: str | None = None,
    annotators: Sequence[str] | None = None,
    overlap: float = 1,
    whole_topics: bool = False,
    labels: Mapping[int, str] | None = None,
    instructions: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    verbose: bool = False,
) -> ExportedTasks:
    """Write the documents of a pool as files for people to judge: one file for each annotator.

    People see the query and the text, and nothing of ranks, runs, scores or strategies. Topics stay together, in their
    natural order. Within a topic the documents are shuffled, for each annotator otherwise; the order depends on `seed`
    and on the names of documents, and on nothing else of the pool. The file ``tasks.json`` keeps what people do not
    see; :func:`import_labels` needs it.

    A further pool may go to the same folder: a new round. It adds files and replaces none. A pair that enough people
    were asked in an earlier round is not asked again, and nobody is asked a pair twice.

    Args:
        pool: what is to be judged: a Pool, or a frame with ``qid`` and ``docno``. Its columns ``strategy``, ``round``
            and ``reason``, and all further ones, come back with the labels.
        folder: where to; made when it does not exist.
        topics: a frame with ``qid`` and ``query`` (or ``title``, which is then the query), and perhaps ``description``
            and ``narrative``, which are shown, too; or a dict of qid -> query.
        texts: a dict of docno -> text, a frame or the documents of a corpus with ``docno`` and ``text`` (and
            ``title``), or a transformer that adds ``text``. A warning counts those that are empty.
        format: ``"csv"`` or ``"jsonl"``, into which people write; ``"doccano"`` or ``"label-studio"``, which these
            tools read. Default: that of the folder, ``"csv"`` for a new one.
        annotators: names of those who judge. None: those of the folder's earlier rounds; in a new folder anybody may
            answer, and one file has all pairs.
        overlap: how many annotators judge each pair, or a share between 0 and 1 of the pairs that all judge while one
            judges each of the others.
        whole_topics: give a topic to the same annotator, or to the same `overlap` annotators, as a whole, as TREC does.
            Default: pairs are spread, so that everybody has as many pairs as the others, or one more.
        labels: label -> word. Default: those of the folder; ``{0: "not relevant", 1: "relevant"}`` for a new one.
        instructions: what people are told beside the labels.
        seed: of the order and of who judges what, >= 0.
        overwrite: write a new folder of tasks over one without answers; default is to add a round.
        verbose: show a progress bar while the texts of a corpus are looked up.

    Returns:
        ExportedTasks: the files, and how many pairs each has.

    Raises:
        InputError: a pair without query or text, two annotators of one name, more overlap than annotators, labels or a
            format that are not those of the folder, a file in the way, answers that would be overwritten.

    Example:
        >>> import pandas as pd, pt_reuse as ptr, tempfile
        >>> pool = ptr.Pool.from_frame(pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"]}))
        >>> texts = {"d1": "A text.", "d2": "Another."}
        >>> folder = tempfile.mkdtemp()
        >>> tasks = ptr.export_tasks(pool, folder, topics={"1": "a query"}, texts=texts, annotators=["ann", "bob"])
        >>> tasks.table
                     file annotator  topics  pairs
        0  ann-round1.csv       ann       1      1
        1  bob-round1.csv       bob       1      1
    """
    plan = plan_export(
        folder,
        format=format,
        annotators=annotators,
        overlap=overlap,
        whole_topics=whole_topics,
        labels=labels,
        instructions=instructions,
        seed=seed,
        overwrite=overwrite,
    )
    return plan.write(pool, topics, texts, verbose=flag("verbose", verbose))


@dataclass(frozen=True)
class ExportPlan:
    """An export, as far as it is known before the pool, the topics and the texts are.

    Attributes:
        found: the folder, and what it has.
        terms: what holds for all rounds, and who judges.
        given_overlap: as the user gave it.
        overlap: how many judge a pair.
        whole_topics: whether topics go to the same people as a whole.
        seed: of what is drawn.
    """

    found: FolderOfTasks
    terms: Terms
    given_overlap: float
    overlap: Overlap
    whole_topics: bool
    seed: int

    def write(self, pool: Any, topics: Any, texts: Any, *, verbose: bool) -> ExportedTasks:
        """Write the files.

        Args:
            pool: what is to be judged.
            topics: what is shown of topics.
            texts: what is shown of documents.
            verbose: whether to show a progress bar while the texts of a corpus are looked up.
        """
        pool = _as_pool(pool)
        some = [qid for qid, n in zip(pool.topics, pool.documents.sizes.tolist(), strict=True) if n]
        queries = topic_texts(topics, some)
        asked = ask(pool, self.found.before, self.terms, self.overlap, seed=self.seed, whole_topics=self.whole_topics)
        by_topic = {qid: fields["query"] for qid, fields in queries.items()}
        documents = document_texts(texts, [pair.key for pair in asked.pairs], by_topic, verbose=verbose)
        _tell_cut(self.terms.form, documents.values())
        made = {name: str(value) for name, value in pool.settings.items()}
        this = RoundSettings(asked.number, self.seed, self.given_overlap, self.terms.annotators, made)
        shown = Shown(queries, {pair.name: documents[pair.key] for pair in asked.pairs})
        written = self.found.write(asked, shown, this)
        table = pd.DataFrame(
            {
                "file": pd.Series([file.name for file in written], dtype=object),
                "annotator": pd.Series([file.annotator for file in written], dtype=object),
                "topics": pd.Series([len({pair.qid for pair in sheet.pairs}) for sheet in asked.sheets], dtype="int64"),
                "pairs": pd.Series([file.pairs for file in written], dtype="int64"),
            }
        )
        settings = {
            "task": asked.manifest.task,
            "format": self.terms.form.value,
            "round": asked.number,
            "labels": str(self.terms.scale),
            "overlap": self.given_overlap,
            "whole_topics": self.whole_topics,
            "seed": self.seed,
            **{f"pool_{name}": value for name, value in made.items()},
        }
        folder = str(self.found.folder)
        return ExportedTasks(table=table, settings=settings, folder=folder, asked_before=asked.n_before)


def plan_export(
    folder: Any,
    *,
    format: Any,
    annotators: Any,
    overlap: Any,
    whole_topics: Any,
    labels: Any,
    instructions: Any,
    seed: Any,
    overwrite: Any,
) -> ExportPlan:
    """Check what can be checked of an export before there is a pool; the arguments are those of :func:`export_tasks`.

    Raises:
        InputError: an argument that cannot be used.
    """
    flag("overwrite", overwrite)
    flag("whole_topics", whole_topics)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(Argument("seed"), f" must be a whole number, 0 or more, got {told(seed)}.", argument="seed")
    found = FolderOfTasks.at(checked_path(folder), overwrite=overwrite)
    terms = agree_terms(found.before, format=format, labels=labels, instructions=instructions, annotators=annotators)
    chosen = Overlap.of(overlap, len(terms.annotators) if terms.annotators else None)
    return ExportPlan(found, terms, overlap, chosen, whole_topics, int(seed))


def _as_pool(pool: Any) -> Pool:
    if isinstance(pool, pd.DataFrame):
        # a pool's own frame counts its runs, which people are not to see
        pool = Pool.from_frame(pool.drop(columns=[name for name in _COUNTED if name in pool.columns]))
    if not isinstance(pool, Pool):
        raise InputError(
            Argument("pool"), f" must be a Pool, or a frame with 'qid' and 'docno', got {told(pool)}.", argument="pool"
        )
    if not len(pool):
        raise InputError("the pool has no document. There is nothing to judge.", argument="pool")
    return pool


def _tell_cut(form: TaskFormat, texts: Iterable[str]) -> None:
    n = sum(len(text) >= LONGEST_CELL for text in texts) if form is TaskFormat.CSV else 0
    if n:
        warn(
            f"{count(n, 'text')} cut, since a cell of a spreadsheet holds {LONGEST_CELL:,} characters. With ",
            Option("format", "jsonl"),
            " or a tool people see the whole.",
        )
