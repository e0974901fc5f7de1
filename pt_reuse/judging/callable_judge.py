"""Judges made of a function that reads, such as a model behind a prompt, and judges that err by a confusion matrix."""

from __future__ import annotations

import itertools
import json
import threading
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._files import check_writable, checked_path
from pt_reuse.data.frame_columns import LABELS, as_pairs, in_rows, not_labels, now, number_column, plain
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import (
    InputError,
    checked_seed,
    choice,
    count,
    examples,
    flag,
    fraction,
    located,
    names,
    number,
    positive,
    shown,
    whole,
)
from pt_reuse.judge import Judge, KnownJudge
from pt_reuse.judging.session import Journal, Record

#: by how much the probabilities of a row may miss 1, as they were written with few digits
_SUM_TOLERANCE = 1e-6


def confusion_rows(value: Any, needed: Iterable[int]) -> dict[int, tuple[list[int], list[float]]]:
    """Return true label -> labels that may be given, and where the share of each but the last ends; or raise."""
    try:
        if isinstance(value, Mapping):
            # a row is a mapping of label -> share, or the shares of 0, 1, 2 ...
            by_label = {true: row if isinstance(row, Mapping) else dict(enumerate(row)) for true, row in value.items()}
            frame = pd.DataFrame.from_dict(by_label, orient="index").fillna(0.0)
        else:
            frame = pd.DataFrame(value)
    except (TypeError, ValueError) as error:
        raise _no_confusion(f"got {shown(value)}") from error
    true, given = _labels(frame.index), _labels(frame.columns)
    shares = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    sums = shares.sum(axis=1)
    odd = ~((shares >= 0).all(axis=1) & (abs(sums - 1) <= _SUM_TOLERANCE))
    if odd.any():
        row = int(odd.argmax())
        raise _no_confusion(f"got a sum of {sums[row]:g} for {true[row]}: {examples(shares[row].tolist(), 6)}")
    if missing := sorted(set(needed) - set(true.tolist())):
        raise _no_confusion(f"label {missing[0]} occurs in the judgments, and has no row")
    rows = {}
    for label, row in zip(true.tolist(), shares / sums[:, None], strict=True):
        possible = np.flatnonzero(row)
        rows[label] = given[possible].tolist(), np.cumsum(row[possible])[:-1].tolist()
    return rows


def _no_confusion(what: str) -> InputError:
    row = "a row for each true label, of probabilities of the labels that are given, with a sum of 1"
    return InputError(f"confusion must have {row}; {what}.", argument="confusion")


def _labels(labels: pd.Index) -> NDArray[np.int64]:
    values = pd.to_numeric(pd.Series(labels, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
    if (not_labels(values) | (values < 0)).any() or len(set(values)) < len(values):
        raise _no_confusion(f"labels are whole numbers of 0 or more, each once, got {examples(labels, 6)}")
    return values.astype(np.int64)


def label_set(labels: Any, *, least: int = LABELS[0]) -> list[int]:
    """Return a user's ``labels=``, two or more that differ, in their order, or say that they are none."""
    listed = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str | bytes) else []
    values = number_column(pd.Series([plain(label) for label in listed], dtype=object))
    odd = not_labels(values).any() or (values < least).any() or len(set(values.tolist())) < len(listed)
    if odd or len(listed) < 2:
        what = f"two or more whole numbers from {least} to {LABELS[1]}, each once"
        raise InputError(f"labels must be {what}, got {shown(labels)}.", argument="labels")
    return [int(value) for value in values]


def flips(rate: float, labels: Iterable[int] = (0, 1)) -> pd.DataFrame:
    """Return the confusion matrix of a judge who errs at a given rate.

    A document keeps its label with probability 1 - `rate`; else it gets one of the other labels, all equally likely.

    Args:
        rate: how probable an error is, between 0 and 1.
        labels: the labels that documents have and are given, at least two.

    Returns:
        DataFrame: probabilities, true labels as rows, given labels as columns; each row sums to 1.

    Raises:
        InputError: a rate outside of 0 to 1, or fewer than two labels.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.flips(0.25).values.tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """
    rate = fraction("rate", rate)
    listed = label_set(labels, least=0)
    shares = np.full((len(listed), len(listed)), rate / (len(listed) - 1))
    np.fill_diagonal(shares, 1 - rate)
    return pd.DataFrame(shares, index=pd.Index(listed, name="true"), columns=pd.Index(listed, name="given"))


def estimate_confusion(truth: Any, judged: Any) -> pd.DataFrame:
    """Return the confusion matrix of two sets of judgments of the same documents.

    Only documents with a label of 0 or more in both count. A true label that none of them has gets no row.

    Args:
        truth: the judgments that count as true, in any form (see :doc:`runs`).
        judged: the judgments that somebody else gave, in any form.

    Returns:
        DataFrame: the share of the documents of each true label (rows) that was given each label (columns); each row
            sums to 1. ``.attrs["documents"]`` has the number of documents of each row.

    Raises:
        InputError: no document has a label in both.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> truth = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [0, 0, 1]})
        >>> ptr.judging.estimate_confusion(truth, truth.assign(label=[0, 2, 1])).values.tolist()
        [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """
    true, given = (
        qrels.keep(qrels.arrays.labels >= 0).to_frame()[["qid", "docno", "label"]]
        for qrels in (as_qrels(truth, "truth"), as_qrels(judged, "judged"))
    )
    both = true.merge(given, on=["qid", "docno"])
    if both.empty:
        raise InputError("no document has a label of 0 or more in both sets of judgments.", argument="judged")
    counts = pd.crosstab(both["label_x"], both["label_y"], rownames=["true"], colnames=["given"])
    # what is true may be given, too, though nobody did
    counts = counts.reindex(columns=sorted({*counts.index, *counts.columns}), fill_value=0)
    sizes = counts.sum(axis=1)
    matrix = counts.div(sizes, axis=0)
    matrix.attrs["documents"] = sizes.to_dict()
    return matrix


class Noisy(KnownJudge):
    """Gives the labels of existing judgments, with errors at given rates.

    The label of a document depends only on the seed, its topic and its name: not on when it is asked for, with which
    other documents, or in which process.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`). A label below 0 is no judgment.
        confusion: how probable each given label is by true label: a mapping of true label -> given label ->
            probability, or -> probabilities of labels 0, 1, 2 ...; or a frame, true labels down and given labels
            across. See :func:`flips` and :func:`estimate_confusion`.
        seed: the same seed gives the same labels in every process.
        unknown: the label of a document without a judgment: ``"skip"`` (no label; default), ``"not relevant"`` (label
            0, to which errors are added), or ``"error"``.
        name: what the judge is called in the provenance of its labels.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(1000)], "label": 1})
        >>> judge = ptr.judging.Noisy(qrels, ptr.judging.flips(0.25), seed=1)
        >>> float(judge(qrels)["label"].mean())
        0.752
    """

    def __init__(self, qrels: Any, confusion: Any, seed: int, *, unknown: str = "skip", name: str = "noisy"):
        self._seed = checked_seed(seed)
        super().__init__(qrels, unknown, name)
        self._rows_of = confusion_rows(confusion, {*self._labels, *([0] if unknown == "not relevant" else [])})

    def labels_of(self, pairs: pd.DataFrame) -> list[int | None]:
        given: list[int | None] = []
        for qid, docno, true in zip(*as_pairs(pairs), self._find(pairs)[1], strict=True):
            if true is None:
                given.append(None)
                continue
            labels, bounds = self._rows_of[true]
            # no qid holds a NUL byte, so that no two pairs are written the same
            text = f"{self._seed}\0{qid}\0{docno}".encode("utf-8", "surrogateescape")
            drawn = (int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 11) / 2**53
            given.append(labels[bisect_right(bounds, drawn)])
        return given


@dataclass(frozen=True)
class Price:
    """What tokens cost.

    Args:
        input: USD for `per` tokens that are sent.
        output: USD for `per` tokens that come back.
        per: the number of tokens of a price; 1,000,000 by default.
    """

    input: float
    output: float
    per: int = 1_000_000

    def __post_init__(self) -> None:
        number("input", self.input)
        number("output", self.output)
        positive("per", self.per, "tokens")


@dataclass(frozen=True)
class Cost:
    """What a judge has cost so far.

    Attributes:
        calls: how often the function was called.
        failed: how many of these calls ended with an error.
        documents: how many documents it answered for.
        from_cache: how many documents had their answers from the cache, at no cost.
        input_tokens: tokens that were sent, as far as the function reported them.
        output_tokens: tokens that came back, likewise.
        told: calls for which it reported tokens.
        price: of the tokens, None if not stated.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.Cost(calls=2, documents=64, input_tokens=40_000, output_tokens=64, told=2,
        ...                  price=ptr.judging.Price(0.15, 0.6))
        Cost: 64 documents, 2 calls, 40,000 tokens in, 64 out, 0.006038 USD (0.15 in, 0.6 out per 1,000,000 tokens)
    """

    calls: int = 0
    failed: int = 0
    documents: int = 0
    from_cache: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    told: int = 0
    price: Price | None = None

    @property
    def money(self) -> float | None:
        """Return the price of the reported tokens; None without a price or without reported tokens."""
        if self.price is None or (self.calls and not self.told):
            return None
        return (self.price.input * self.input_tokens + self.price.output * self.output_tokens) / self.price.per

    def __repr__(self) -> str:
        answered = self.calls - self.failed
        parts = [
            count(self.documents, "document"),
            f"{self.from_cache:,} more from the cache" if self.from_cache else "",
            count(self.calls, "call") + (f" ({self.failed:,} failed)" if self.failed else ""),
            f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out" if self.told else "",
            f"tokens told of {self.told:,} of {count(answered, 'answered call')}" if self.told < answered else "",
        ]
        if self.money is not None and self.price is not None:
            price = f"{self.price.input:g} in, {self.price.output:g} out per {self.price.per:,} tokens"
            parts.append(f"{self.money:.6f} USD ({price})")
        return f"Cost: {', '.join(filter(None, parts))}"


#: by how much probabilities may miss a sum of 1, as float16 and decimal texts do
_TOLERANCE = 1e-3

#: what is kept of an answer: a label, probabilities in the order of the labels, a score; None for no label
Kept: TypeAlias = "int | float | list[float] | None"


@dataclass(frozen=True)
class Answer:
    """The answer of a function, with its cost.

    A function that knows the tokens of a call returns its answer as an Answer; a function of batches returns one for
    each document, or one for the whole batch.

    Args:
        value: the answer: a label, probabilities or a score; of a batch, one for each document.
        input_tokens: tokens that were sent.
        output_tokens: tokens that came back.
    """

    value: Any
    input_tokens: int = 0
    output_tokens: int = 0

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens"):
            whole(name, getattr(self, name), "tokens", least=0)


class AnswerForm:
    """The form of a function's answers, and how they become labels; what a user says of it must fit together."""

    def __init__(self, form: str, labels: Any, thresholds: Any, decide: str, rel: int):
        self.form = choice("answers", form, ("label", "probabilities", "score"))
        self.decide = choice("decide", decide, ("most probable", "expected"))
        self.rel = rel
        if (thresholds is not None) != (form == "score"):
            got = f"got answers={form!r} and thresholds={shown(thresholds)}."
            raise InputError(f"thresholds go with answers='score', {got}", argument="thresholds")
        unordered = form == "probabilities" and (labels is None or isinstance(labels, Set))
        if unordered or (form == "score" and labels is not None):
            what = "probabilities need labels in their order, labels=(0, 1), and those of scores are 0, 1, 2 ..."
            raise InputError(f"{what}; got {shown(labels)}.", argument="labels")
        self.bounds: NDArray[np.float64] = np.zeros(0)
        if thresholds is not None:
            self.bounds = number_column(pd.Series(np.atleast_1d(thresholds), dtype=object))
            if not len(self.bounds) or not np.isfinite(self.bounds).all() or (np.diff(self.bounds) <= 0).any():
                what = f"thresholds must be numbers that ascend, got {shown(thresholds)}."
                raise InputError(what, argument="thresholds")
            labels = range(len(self.bounds) + 1)
        self.labels = None if labels is None else tuple(label_set(labels))

    def kept(self, value: Any) -> Kept:
        """Return what is kept of an answer, or say what is wrong with it."""
        value = plain(value) if getattr(value, "ndim", None) == 0 else value
        if value is None or value is pd.NA:
            return None
        if self.form == "probabilities":
            return self._probabilities(value)
        several = isinstance(value, Iterable) and not isinstance(value, str)
        number = np.nan if several else float(number_column(pd.Series([value], dtype=object))[0])
        if self.form == "score":
            wrong, what = not np.isfinite(number), "a score, a finite number"
        else:
            wrong = bool(not_labels(np.array([number]))[0]) or (self.labels is not None and number not in self.labels)
            known = f"from {LABELS[0]} to {LABELS[1]}" if self.labels is None else f"of {examples(self.labels, 12)}"
            what = f"a label, a whole number {known}, or None for no label"
        if wrong:
            raise InputError(f"the function must return {what}, got {shown(value)}.")
        return number if self.form == "score" else int(number)

    def _probabilities(self, value: Any) -> list[float]:
        labels = self.labels or ()
        what = f"the function must return the probabilities of the labels {examples(labels, 12)}"
        if not isinstance(value, Mapping):
            listed = in_rows(value, pd.Index(labels), what, len(labels))
        else:
            listed = [value.get(label, 0.0) for label in labels] if set(value) <= set(labels) else []
        numbers = number_column(pd.Series([plain(each) for each in listed], dtype=object))
        right = len(numbers) == len(labels) and np.isfinite(numbers).all() and (numbers >= 0).all()
        if not right or abs(numbers.sum() - 1) > _TOLERANCE:
            raise InputError(f"{what}, each 0 or more, with a sum of 1, got {shown(value)}.")
        return (numbers / numbers.sum()).tolist()

    def columns(self, answers: Sequence[Kept]) -> dict[str, list[Any]]:
        """Return answers as columns: ``label``, and the probabilities or scores that it was made from."""
        if self.form == "label":
            return {"label": list(answers)}
        labels = np.array(self.labels)
        if self.form == "score":
            given = [None if score is None else int((self.bounds <= score).sum()) for score in answers]
            return {"label": given, "judge_score": [np.nan if score is None else score for score in answers]}
        rows, relevant = [None if row is None else np.array(row) for row in answers], labels >= self.rel

        def label_of(row: np.ndarray) -> int:
            nearness = row if self.decide == "most probable" else -np.abs(labels - float(row @ labels))
            # those that are equally near, but for what rounding makes of them
            return int(labels[nearness >= nearness.max() - 1e-12].min())

        return {
            "label": [None if row is None else label_of(row) for row in rows],
            "probability": [np.nan if row is None else float(row[relevant].sum()) for row in rows],
            "probabilities": [None if row is None else tuple(row.tolist()) for row in rows],
        }


#: the file of a cache, seconds to wait for another process that writes to it, and before a further call
FILE, _PATIENCE, _LONGEST_WAIT = "labels.jsonl", 60.0, 60.0
#: threads of a user's own may share a judge, and with it its journal and what it counts
_ONE_AT_A_TIME = threading.Lock()
IDS = ("qid", "docno")


@dataclass(frozen=True)
class Retry:
    """Call a function again after temporary errors.

    Args:
        on: the error, or errors, after which it is called again, such as those of a busy server.
        times: how often it is called again for the same documents, before the error is raised.
        wait: seconds before the first repeated call; each further wait is twice as long, at most a minute.

    Example:
        >>> import pt_reuse as ptr
        >>> list(ptr.judging.Retry(TimeoutError, times=4, wait=10).waits())
        [10.0, 20.0, 40.0, 60.0]
    """

    on: type[Exception] | tuple[type[Exception], ...]
    times: int = 4
    wait: float = 1.0

    def __post_init__(self) -> None:
        errors = self.on if isinstance(self.on, tuple) and self.on else (self.on,)
        if not all(isinstance(error, type) and issubclass(error, Exception) for error in errors):
            what = "a class of errors or several in a tuple, such as TimeoutError"
            raise InputError(f"on must be {what}, got {shown(self.on)}.", argument="on")
        positive("times", self.times, "further calls")
        number("wait", self.wait)

    def waits(self) -> Iterator[float]:
        """Yield the seconds before each further call."""
        yield from (min(float(self.wait) * 2**n, _LONGEST_WAIT) for n in range(self.times))


def _of_pipeline(pipeline: pt.Transformer, reads: Sequence[str], column: str, *, several: bool) -> Any:
    """Return a pipeline as a function of columns: it answers None where the pipeline has no row for a document."""

    def answer(*columns: Any) -> Any:
        cells = [list(cell) if several else [cell] for cell in columns]
        asked = pd.DataFrame(dict(zip(reads, cells, strict=True)))
        answer_frame = pipeline(asked.copy())
        if not isinstance(answer_frame, pd.DataFrame) or not {*IDS, column} <= set(answer_frame.columns):
            got = list(answer_frame.columns) if isinstance(answer_frame, pd.DataFrame) else answer_frame
            raise InputError(f"the pipeline must return {examples([*IDS, column])}, got {shown(got)}.", argument="fn")
        given = answer_frame[column]
        answers = [None if cell is pd.NA or (isinstance(cell, float) and cell != cell) else cell for cell in given]
        # a pipeline may sort its rows, and leave some out
        wanted, returned = (pd.MultiIndex.from_arrays(as_pairs(frame)) for frame in (asked, answer_frame))
        if not wanted.equals(returned):
            odd = returned.duplicated() | ~returned.isin(wanted)
            if odd.any():
                problem = f"the pipeline returned {_place_of(*returned[odd][0])} twice, or nobody asked for it. "
                raise InputError(f"{problem}Return one row for each document that it is given.", argument="fn")
            answers = [answers[at] if at >= 0 else None for at in returned.get_indexer(wanted)]
        return answers if several else answers[0]

    return answer


class Callable(Judge):
    """Gives the labels that a function returns: a model behind a prompt, a cross-encoder, a service.

    The library sends nothing anywhere itself. It asks once for each document. Answers are kept as they are: other
    `thresholds` or another `decide` make other labels of them without a call.

    Args:
        fn: the function, or a pipeline. A function is called with the columns of `reads`, in their order: one value of
            each, or with `batch_size` one list of each. It returns one answer for each document; None is no label. An
            :class:`Answer` has the tokens, too. A pipeline is called with a frame of ``qid docno`` and `reads`, and
            adds the column ``label``, ``probabilities`` or ``score``; a row that it leaves out has no label.
        name: what the judge is called in the provenance of its labels.
        reads: the columns that the function is given; no cell may be empty.
        batch_size: documents per call, at most; None (default): the function takes one document.
        answers: ``"label"`` (a whole number; default), ``"probabilities"`` (a mapping of label -> probability, or in
            the order of `labels`; they sum to 1), or ``"score"``.
        labels: the possible labels, which probabilities need, in their order. Default: any whole number; scores have 0,
            1, 2 ...
        thresholds: for scores: the lowest score of the second label, of the third, ...
        decide: how probabilities become a label: the ``"most probable"`` one (default), or the one nearest to the
            ``"expected"`` value; ties go to the lowest.
        rel: the lowest label that is relevant; default: not stated.
        cache: a folder that keeps each answer before the next call; judges and processes may share it. The key of an
            answer is `name`, `version`, the form of the answers, ``qid``, ``docno`` and all that the function reads.
        version: of the function: the model, the prompt. A `cache` needs it.
        retry: the errors after which the function is called again; default none.
        price: the price of tokens, for `cost`.
        verbose: show progress.

    Raises:
        InputError: arguments that do not fit together; when it judges: a missing column or cell, an invalid answer, and
            an error of the function, with topic and document.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> asked = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "query": "tides", "text": ["the moon", "the tides"]})
        >>> def overlap(query, text):
        ...     return ptr.judging.Answer(int(query in text), input_tokens=len(text.split()))
        >>> judge = ptr.judging.Callable(overlap, name="overlap")
        >>> judge(asked)["label"].tolist()
        [0, 1]
        >>> judge.cost
        Cost: 2 documents, 2 calls, 4 tokens in, 0 out
    """

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
        verbose: bool = False,
    ):
        super().__init__(name, rel=rel)
        if not callable(fn):
            raise InputError(f"fn must be a function, got {shown(fn)}.", argument="fn")
        self._fn, self._reads = fn, names("reads", reads)
        self._batch_size = None if batch_size is None else positive("batch_size", batch_size, "documents")
        self._form = AnswerForm(answers, labels, thresholds, decide, self.rel or 1)
        if isinstance(fn, pt.Transformer):
            self._reads = tuple(dict.fromkeys((*IDS, *self._reads)))
            self._fn = _of_pipeline(fn, self._reads, answers, several=batch_size is not None)
        if (cache is not None or version is not None) and (not isinstance(version, str) or not version.strip()):
            what = "a text, the version of the function, model and prompt, which a cache needs"
            raise InputError(f"version must be {what}; got {shown(version)}.", argument="version")
        for argument, value, kind in (("retry", retry, Retry), ("price", price, Price)):
            if not isinstance(value, kind | None):
                raise InputError(f"{argument} must be a {kind.__name__}, got {shown(value)}.", argument=argument)
        self._cache = None if cache is None else checked_path(cache)
        if self._cache is not None:
            check_writable(self._cache, [FILE], overwrite=True, argument="cache")
            self._journal = Journal(self._cache / FILE, "cache of labels", {}, argument="cache")
        self._answers: dict[str, Record] = {}  # what is kept, by key
        self._version, self._retry = version, retry
        self._verbose, self._cost = flag("verbose", verbose), Cost(price=price)

    def declared_labels(self) -> tuple[int, ...] | None:
        return self._form.labels

    @property
    def cost(self) -> Cost:
        """Return what this judge has cost since it was made."""
        return self._cost

    @property
    def cost_in_cache(self) -> Cost:
        """Return the cost of all answers of this judge and version in the cache, also of earlier ones.

        It excludes failed calls, and calls for documents that another process had answered meanwhile.
        """
        records = list(self._kept().values()) if self._cache else []
        own = [record for record in records if (record["judge"], record["version"]) == (self.name, self._version)]
        calls = [record["call"] for record in own if record["call"] is not None]
        tokens = [call for call in calls if call]
        return Cost(
            calls=len(calls),
            documents=len(own),
            input_tokens=sum(sent for sent, _ in tokens),
            output_tokens=sum(received for _, received in tokens),
            told=len(tokens),
            price=self._cost.price,
        )

    def needs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*IDS, *self._reads)))

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        for column in self._reads:
            missing = np.flatnonzero(pairs[column].isna())
            if len(missing):
                lacking = f"{count(len(missing), 'document')} without {column}, which the judge reads"
                place = _place_of(*map(str, pairs.iloc[int(missing[0])][[*IDS]]))
                raise InputError(f"{lacking}. Give them one, or judge others.", place=place)
        # scores do not depend on the labels that become of them
        form = self._form.form
        about = (self.name, self._version, form, form == "probabilities" and self._form.labels, self._reads)
        rows = pairs[[*self.needs()]].astype(object).itertuples(index=False, name=None)
        texts = (json.dumps((*about, *map(_as_text, row))).encode("ascii") for row in rows)
        keys = [blake2b(text, digest_size=16).hexdigest() for text in texts]
        first: dict[str, int] = {}
        for row, key in enumerate(keys):
            first.setdefault(key, row)
        kept = self._kept() if self._cache is not None and keys else {}
        answered = {key: kept[key] for key in first if key in kept}
        for record in answered.values():
            # the labels that there are may be others now
            with located(f"cache {self._cache}, {_place_of(record['qid'], record['docno'])}"):
                self._form.kept(record["answer"])
        self._count(from_cache=len(answered))
        left, size = [key for key in first if key not in answered], self._batch_size or 1
        for start in pt.tqdm(range(0, len(left), size), disable=not self._verbose, desc=self.name):
            batch = left[start : start + size]
            answered |= self._ask(pairs.iloc[[first[key] for key in batch]], batch)
        columns = self._form.columns([answered[key]["answer"] for key in keys])
        return {**columns, "time": [answered[key]["time"] for key in keys]}

    def _kept(self, new: Sequence[Record] = ()) -> Mapping[str, Record]:
        """Return all answers in the cache, when new ones are on the disk; the first answer of a document stands."""
        with _ONE_AT_A_TIME, self._journal.open(patience=_PATIENCE) as records:
            for record in records:
                self._answers.setdefault(record["key"], record)
            lacking = [record for record in new if record["key"] not in self._answers]
            if lacking:
                self._journal.append(lacking)
            self._answers |= {record["key"]: record for record in lacking}
        return self._answers

    def _ask(self, part: pd.DataFrame, keys: Sequence[str]) -> dict[str, Record]:
        """Call the function for a batch, and keep what it says."""
        documents = list(zip(*as_pairs(part), strict=True))
        columns = [part[column].tolist() for column in self._reads]
        value = self._called(documents, columns if self._batch_size else [column[0] for column in columns])
        reported = [value] if isinstance(value, Answer) else []
        value = value.value if isinstance(value, Answer) else value
        values = [value]
        if self._batch_size is not None:
            with located(_place_of(*documents[0])):
                values = in_rows(value, None, "the function must return one answer for each document", len(documents))
                if len(values) != len(documents):
                    wanted = f"a batch of {count(len(documents), 'document')}, of which this is the first"
                    raise InputError(f"the function returned {count(len(values), 'answer')} for {wanted}.")
        reported += [each for each in values if isinstance(each, Answer)]
        tokens: list[int] = []
        if reported:
            tokens = [int(sum(getattr(each, name) for each in reported)) for name in ("input_tokens", "output_tokens")]
            self._count(input_tokens=tokens[0], output_tokens=tokens[1], told=1)
        records = []
        for at, (key, (qid, docno), value) in enumerate(zip(keys, documents, values, strict=True)):
            with located(_place_of(qid, docno)):
                answer = self._form.kept(value.value if isinstance(value, Answer) else value)
            about = {"key": key, "judge": self.name, "version": self._version, "time": now()}
            # what the call took stands with the first of its documents
            call = None if at else tokens
            records.append({**about, "qid": qid, "docno": docno, "answer": answer, "call": call})
        self._count(documents=len(records))
        if self._cache is None:
            return dict(zip(keys, records, strict=True))
        kept = self._kept(records)
        return {key: kept[key] for key in keys}

    def _called(self, documents: Sequence[tuple[str, str]], arguments: Sequence[Any]) -> Any:
        """Call the function until it answers, or fails in a way that does not pass."""
        waits = self._retry.waits() if self._retry else iter(())
        for calls in itertools.count(1):
            try:
                value = self._fn(*arguments)
                self._count(calls=calls, failed=calls - 1)
                return value
            except Exception as error:
                wait = next(waits, None) if self._retry and isinstance(error, self._retry.on) else None
                if wait is not None:
                    time.sleep(wait)
                    continue
                self._count(calls=calls, failed=calls)
                advice = "What it answered before is lost: pass cache='folder' to keep it."
                if self._cache is not None:
                    advice = f"What it answered before is in {self._cache}: judge again to go on."
                # the text of another library may hold an address with a key, or what was read
                own = isinstance(error, InputError)
                why = str(error).rstrip(".") if own else f"{type(error).__name__}, whose text is the error's __cause__"
                times = f" {calls:,} times" if calls > 1 else ""
                times += f" (the first of a batch of {len(documents):,})" if len(documents) > 1 else ""
                raise InputError(
                    f"the function failed{times}: {why}. {advice}", place=_place_of(*documents[0])
                ) from error

    def _count(self, **more: int) -> None:
        with _ONE_AT_A_TIME:
            self._cost = replace(self._cost, **{name: getattr(self._cost, name) + n for name, n in more.items()})


def _as_text(cell: Any) -> str:
    """Return what a function reads as a text that tells it from all else: of an array or tensor each number."""
    numbers = np.asarray(cell) if hasattr(cell, "__array__") else np.zeros(())
    # as a text an array is cut short, and has few digits
    return f"{numbers.dtype} {numbers.tolist()}" if numbers.ndim else str(cell)


def _place_of(qid: str, docno: str) -> str:
    return f"topic {shown(qid)}, document {shown(docno)}"
