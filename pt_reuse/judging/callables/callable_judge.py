"""Callable: a judge made of a function that reads, such as a model behind a prompt."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, flag, positive, shown, told
from pt_reuse._errors import InputError, Option, door, located
from pt_reuse._files import check_writable, checked_path
from pt_reuse.judging.callables.answers import Answer, Tokens, answer_form
from pt_reuse.judging.callables.calling import Batch, Calls, Outcome, attempt
from pt_reuse.judging.callables.cost import Cost, Price
from pt_reuse.judging.callables.frame_call import IDS, FrameCall
from pt_reuse.judging.callables.label_cache import FILE, LabelCache, key_of, written
from pt_reuse.judging.callables.retry import Retry
from pt_reuse.judging.judge import Judge
from pt_reuse.qrels.labelling import in_rows, now


class Callable(Judge):
    """Gives the labels that a function returns: a model behind a prompt, a cross-encoder, a service.

    The library calls the function and sends nothing anywhere itself. Each document is asked for once, however often it
    stands in a frame. Answers are kept as they came: with other `thresholds` or another `decide`, kept answers give
    other labels without a call.

    Args:
        fn: the function, or a pipeline. A function is called with the columns of `reads`, in their order: with a value
            of each, for one document; with `batch_size`, with a list of each. It returns one answer, or one for each
            document of the batch, in their order, in a list or an array; None is an answer, too: no label. It may
            return an :class:`Answer`, which tells the tokens. A pipeline is called with a frame of ``qid docno`` and
            `reads`, and adds the column ``label``, ``probabilities`` or ``score``, as `answers` says; a row that it
            leaves out has no label.
        name: what the judge is called in the provenance of its labels.
        reads: the columns that the function is given; every cell must have something in it.
        batch_size: documents per call, at most; None (default): the function takes one document.
        answers: what an answer is: ``"label"`` (a whole number; default), ``"probabilities"`` (a mapping of label ->
            probability, or probabilities in the order of `labels`; they sum to 1), or ``"score"``.
        labels: the labels that there are, which say the scale. Default: any whole number for labels, 0, 1, 2 ... for
            scores; probabilities need them.
        thresholds: of scores: the score from which on a document has the second label, the third, ...
        decide: how probabilities become a label: the ``"most probable"`` one (default), or the one nearest to the
            ``"expected"`` value; of several equally probable or near ones the lowest.
        rel: the lowest label that is relevant; default: nobody says. In studies it is 1 then where all labels are 0
            and 1, else as for people.
        cache: a folder in which answers are kept, each on the disk before the next call. It may be shared by judges and
            processes. An answer is found again by `name`, `version`, the form of the answers, ``qid``, ``docno`` and
            all that the function reads.
        version: which version of the function it is: the model, the prompt. With a `cache` it must be said, as an
            answer to another prompt is another answer.
        retry: after which errors the function is called again; default: after none.
        price: what tokens cost, for :attr:`cost`.
        threads: how many calls are made at once; the function must allow it.
        verbose: show progress.

    Attributes:
        name: as given.
        rel: as given.

    Raises:
        InputError: arguments that do not fit together; when it judges: a column or cell that is missing, an answer that
            is none, too few of them, and an error of the function, which names topic and document. What was answered
            before is in the cache.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> asked = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "query": "tides", "text": ["the moon", "the tides"]})
        >>> def overlap(query, text):
        ...     found = len(set(query.split()) & set(text.split())) / len(query.split())
        ...     return ptr.judging.Answer({1: found, 0: 1 - found}, input_tokens=len(text.split()))
        >>> judge = ptr.judging.Callable(overlap, name="overlap", answers="probabilities", labels=(0, 1))
        >>> judge(asked)[["docno", "label", "judge", "probability"]].values.tolist()
        [['a', 0, 'overlap', 0.0], ['b', 1, 'overlap', 1.0]]
        >>> judge.cost
        Cost: 2 documents, 2 calls, 4 tokens in, 0 out
    """

    @door
    def __init__(
        self,
        fn: Any,
        *,
        name: str,
        reads: Iterable[str] = ("query", "text"),
        batch_size: int | None = None,
        answers: str = "label",
        labels: Iterable[int] | None = None,
        thresholds: float | Iterable[float] | None = None,
        decide: str = "most probable",
        rel: int | None = None,
        cache: str | Path | None = None,
        version: str | None = None,
        retry: Retry | None = None,
        price: Price | None = None,
        threads: int = 1,
        verbose: bool = False,
    ):
        super().__init__(name, rel=rel)
        if not callable(fn):
            raise InputError(f"fn must be a function, got {told(fn)}.", argument="fn")
        self._fn, self._reads = fn, _columns(reads)
        self._batch_size = None if batch_size is None else positive("batch_size", batch_size, "documents")
        self._form = answer_form(answers, labels, thresholds, decide, rel)
        if isinstance(fn, pt.Transformer):
            self._reads = tuple(dict.fromkeys((*IDS, *self._reads)))
            self._fn = FrameCall(fn, self._reads, answers, several=batch_size is not None)
        if version is not None and (not isinstance(version, str) or not version.strip()):
            raise InputError(f"version must be a text, got {told(version)}.", argument="version")
        if cache is not None and version is None:
            raise InputError(
                "a cache needs the version of the function: the model and the prompt, in a word. An answer to another "
                "prompt is another answer. Pass ",
                Option("version", ...),
                ".",
                argument="version",
            )
        for argument, value, kind in (("retry", retry, Retry), ("price", price, Price)):
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{argument} must be a {kind.__name__}, got {told(value)}.", argument=argument)
        self._cache = None if cache is None else LabelCache(_folder(cache))
        self._version, self._retry = version, retry
        self._threads, self._verbose = positive("threads", threads, "calls"), flag("verbose", verbose)
        self._cost, self._one_at_a_time = Cost(price=price), threading.Lock()

    def declared_labels(self) -> tuple[int, ...] | None:
        """Return the labels that there are, None where nobody says."""
        return self._form.labels

    @property
    def cost(self) -> Cost:
        """Return what this judge has cost since it was made."""
        return self._cost

    @property
    def cost_in_cache(self) -> Cost:
        """Return what all answers of this judge and version in the cache have cost, those of earlier times included.

        Calls that failed are not among them, nor those for documents that another process had answered meanwhile.
        """
        mine = [
            record
            for record in (self._cache.records() if self._cache else [])
            if (record["judge"], record["version"]) == (self.name, self._version)
        ]
        calls = [record["call"] for record in mine if record["call"] is not None]
        tokens = [took for took in calls if took]
        return Cost(
            calls=len(calls),
            documents=len(mine),
            input_tokens=sum(sent for sent, _ in tokens),
            output_tokens=sum(came for _, came in tokens),
            told=len(tokens),
            price=self._cost.price,
        )

    def needs(self) -> tuple[str, ...]:
        """Return the columns that the judge reads."""
        return tuple(dict.fromkeys(("qid", "docno", *self._reads)))

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the label of each document, when it was given, and the probabilities or the score that it comes from.

        Args:
            pairs: the documents, one a row: ``qid docno``, and what the function reads.
        """
        _check_present(pairs, self._reads)
        keys = self._keys(pairs)
        first: dict[str, int] = {}
        for row, key in enumerate(keys):
            first.setdefault(key, row)
        found = self._cached(list(first))
        self._count(from_cache=len(found))
        found |= self._asked(pairs, {key: row for key, row in first.items() if key not in found})
        records = [found[key] for key in keys]
        columns = self._form.columns([record["answer"] for record in records])
        return {**columns, "time": [record["time"] for record in records]}

    def _keys(self, pairs: pd.DataFrame) -> list[str]:
        # scores do not depend on the labels that become of them
        about = (self.name, self._version, self._form.form, self._form.form == "probabilities" and self._form.labels)
        rows = pairs[[*self.needs()]].astype(object).itertuples(index=False, name=None)
        return [key_of(*about, self._reads, *map(written, row)) for row in rows]

    def _cached(self, keys: Sequence[str]) -> dict[str, Any]:
        if self._cache is None or not keys:
            return {}
        found = zip(keys, self._cache.look(keys), strict=True)
        return {key: self._still_good(record) for key, record in found if record is not None}

    def _still_good(self, record: Any) -> Any:
        # the labels that there are may be others now
        with located(f"cache {self._cache.folder if self._cache else ''}, {_place_of(record['qid'], record['docno'])}"):
            self._form.kept(record["answer"])
        return record

    def _asked(self, pairs: pd.DataFrame, wanted: dict[str, int]) -> dict[str, Any]:
        keys, rows, size = list(wanted), list(wanted.values()), self._batch_size or 1
        starts = range(0, len(rows), size)
        batches = (self._batch(pairs.iloc[rows[start : start + size]], keys[start : start + size]) for start in starts)
        calls = Calls(lambda batch: attempt(self._fn, batch.arguments, self._retry), self._threads)
        fault, found = None, dict[str, Any]()
        outcomes = calls.outcomes(batches)
        for batch, outcome in pt.tqdm(outcomes, total=len(starts), disable=not self._verbose, desc=self.name):
            try:
                found |= self._kept(batch, outcome)
            except InputError as error:
                # what those calls bring that have begun is kept, too
                fault = fault or error
                calls.give_up()
        if fault is not None:
            raise fault
        return found

    def _batch(self, part: pd.DataFrame, keys: Sequence[str]) -> Batch:
        documents = [(str(qid), str(docno)) for qid, docno in zip(part["qid"], part["docno"], strict=True)]
        columns = [part[column].tolist() for column in self._reads]
        if self._batch_size is None:
            return Batch(keys, documents, tuple(column[0] for column in columns))
        return Batch(keys, documents, tuple(columns))

    def _kept(self, batch: Batch, outcome: Outcome) -> dict[str, Any]:
        self._count(calls=outcome.calls, failed=outcome.failed)
        if outcome.error is not None:
            raise self._failure(batch, outcome) from outcome.error
        values, tokens = self._taken_apart(batch, outcome.value)
        if tokens is not None:
            self._count(input_tokens=tokens.sent, output_tokens=tokens.came, told=1)
        answers = self._answers(batch, values)
        self._count(documents=len(answers))
        # what the call took stands with the first of its documents
        took = [[] if tokens is None else [tokens.sent, tokens.came], *[None] * (len(answers) - 1)]
        about = {"judge": self.name, "version": self._version, "time": now()}
        records = [
            {"key": key, **about, "qid": qid, "docno": docno, "answer": answer, "call": call_took}
            for key, (qid, docno), answer, call_took in zip(batch.keys, batch.documents, answers, took, strict=True)
        ]
        kept = self._cache.keep(records) if self._cache is not None else records
        return dict(zip(batch.keys, kept, strict=True))

    def _taken_apart(self, batch: Batch, value: Any) -> tuple[list[Any], Tokens | None]:
        told_of = [value] if isinstance(value, Answer) else []
        value = value.value if isinstance(value, Answer) else value
        if self._batch_size is None:
            return [value], Tokens.of(told_of) if told_of else None
        with located(_place_of(*batch.documents[0])):
            values = in_rows(value, None, "the function must return one answer for each document of a batch")
        told_of += [each for each in values if isinstance(each, Answer)]
        values = [each.value if isinstance(each, Answer) else each for each in values]
        return values, Tokens.of(told_of) if told_of else None

    def _answers(self, batch: Batch, values: Sequence[Any]) -> list[Any]:
        if len(values) != len(batch.documents):
            raise InputError(
                f"the function returned {count(len(values), 'answer')} for a batch of "
                f"{count(len(batch.documents), 'document')}, of which this is the first.",
                place=_place_of(*batch.documents[0]),
            )
        kept = []
        for document, value in zip(batch.documents, values, strict=True):
            with located(_place_of(*document)):
                kept.append(self._form.kept(value))
        return kept

    def _failure(self, batch: Batch, outcome: Outcome) -> InputError:
        times = f" {outcome.calls:,} times" if outcome.calls > 1 else ""
        first = f" (the first of a batch of {len(batch.documents):,})" if len(batch.documents) > 1 else ""
        advice = (
            (f"What it answered before is in {self._cache.folder}: judge again to go on.",)
            if self._cache is not None
            else ("What it answered before is lost: pass ", Option("cache", "folder"), " to keep it.")
        )
        said = str(outcome.error).rstrip(".") if isinstance(outcome.error, InputError) else told(outcome.error)
        return InputError(f"the function failed{first}{times}: {said}. ", *advice, place=_place_of(*batch.documents[0]))

    def _count(self, **more: int) -> None:
        with self._one_at_a_time:
            self._cost = self._cost.plus(**more)


def _place_of(qid: str, docno: str) -> str:
    return f"topic {shown(qid)}, document {shown(docno)}"


def _columns(reads: Any) -> tuple[str, ...]:
    listed = [reads] if isinstance(reads, str) else list(reads) if isinstance(reads, Iterable) else []
    if not listed or not all(isinstance(column, str) for column in listed):
        raise InputError(
            f"reads must be names of columns, such as 'query' and 'text', got {told(reads)}.", argument="reads"
        )
    return tuple(listed)


def _folder(cache: Any) -> Path:
    folder = checked_path(cache)
    check_writable(folder, [FILE], overwrite=True, argument="cache")
    return folder


def _check_present(pairs: pd.DataFrame, reads: Sequence[str]) -> None:
    for column in reads:
        missing = np.flatnonzero(pairs[column].isna())
        if len(missing):
            row = pairs.iloc[int(missing[0])]
            raise InputError(
                f"{count(len(missing), 'document')} without {column}, which the judge reads. Give them one, or judge "
                "others.",
                place=_place_of(str(row["qid"]), str(row["docno"])),
            )
