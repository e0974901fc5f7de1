"""What a function answers about documents, and what its answers cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, examples, number, positive, told, whole
from pt_reuse._errors import InputError, Option, wrong
from pt_reuse.data.frame_columns import LABELS, in_rows, not_labels, number_column, plain


@dataclass(frozen=True)
class Price:
    """What tokens cost.

    Args:
        input: money for so many tokens that are sent.
        output: money for so many tokens that come back.
        per: how many tokens that money is for; 1,000,000 by default, 1,000 where prices are per 1,000.
        currency: of the money, as it is shown.

    Raises:
        InputError: a price below 0, or one for no whole number of tokens.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.Price(0.15, 0.6)
        Price(input=0.15, output=0.6, per=1000000, currency='USD')
    """

    input: float
    output: float
    per: int = 1_000_000
    currency: str = "USD"

    def __post_init__(self) -> None:
        number("input", self.input)
        number("output", self.output)
        positive("per", self.per, "tokens")

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the money for `input_tokens` that were sent and `output_tokens` that came back."""
        return (self.input * input_tokens + self.output * output_tokens) / self.per


@dataclass(frozen=True)
class Cost:
    """What a judge has cost so far.

    Attributes:
        calls: how often the function was called.
        failed: how many of these calls ended with an error.
        documents: how many documents it answered for.
        from_cache: how many documents had their answers from the cache, at no cost.
        input_tokens: tokens that were sent, as far as the function told.
        output_tokens: tokens that came back, as far as it told.
        told: calls of which it told how many tokens they took.
        price: of the tokens, None where nobody says.

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
        """Return what the tokens cost that the function told of; None without a price, or where it told nothing."""
        if self.price is None or (self.calls and not self.told):
            return None
        return self.price.of(self.input_tokens, self.output_tokens)

    def plus(self, **more: int) -> Cost:
        """Return the cost with `more` of something."""
        return replace(self, **{name: getattr(self, name) + value for name, value in more.items()})

    def __repr__(self) -> str:
        answered = self.calls - self.failed
        parts = [
            count(self.documents, "document"),
            f"{self.from_cache:,} more from the cache" if self.from_cache else "",
            count(self.calls, "call") + (f" ({self.failed:,} failed)" if self.failed else ""),
            f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out" if self.told else "",
            f"tokens told of {self.told:,} of {count(answered, 'answered call')}" if self.told < answered else "",
        ]
        money = self.money
        if money is not None and self.price is not None:
            price = f"{self.price.input:g} in, {self.price.output:g} out per {self.price.per:,} tokens"
            parts.append(f"{money:.6f} {self.price.currency} ({price})")
        return f"Cost: {', '.join(filter(None, parts))}"


#: what a function says of a document
FORMS = ("label", "probabilities", "score")
#: how probabilities become a label
DECISIONS = ("most probable", "expected")
#: by how much probabilities may miss a sum of 1, as float16 and decimal texts do
_TOLERANCE = 1e-3

#: what is kept of an answer: a label, probabilities in the order of the labels, a score; None for no label
Kept: TypeAlias = "int | float | list[float] | None"


@dataclass(frozen=True)
class Answer:
    """What a function says, with what it cost.

    A function that knows how many tokens a call took returns its answer in one of these; a function of batches one for
    each document, or one for the whole batch.

    Args:
        value: the answer: a label, probabilities or a score; of a batch, one for each document.
        input_tokens: tokens that were sent.
        output_tokens: tokens that came back.

    Raises:
        InputError: tokens that are no whole number of 0 or more.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.Answer(2, input_tokens=512, output_tokens=1)
        Answer(value=2, input_tokens=512, output_tokens=1)
    """

    value: Any
    input_tokens: int = 0
    output_tokens: int = 0

    def __post_init__(self) -> None:
        whole("input_tokens", self.input_tokens, "tokens", least=0)
        whole("output_tokens", self.output_tokens, "tokens", least=0)


@dataclass(frozen=True)
class AnswerForm:
    """The form of a function's answers, and how they become labels."""

    form: str
    labels: tuple[int, ...] | None
    thresholds: tuple[float, ...] | None
    decide: str
    rel: int

    def kept(self, value: Any) -> Kept:
        if value is None or value is pd.NA:
            return None
        value = plain(value) if getattr(value, "ndim", None) == 0 else value
        if self.form == "probabilities":
            return self._probabilities(value)
        several = isinstance(value, Iterable) and not isinstance(value, str)
        found = np.nan if several else float(number_column(pd.Series([value], dtype=object))[0])
        if self.form == "score":
            if not np.isfinite(found):
                raise InputError(f"the function must return a score, a finite number, got {told(value)}.")
            return found
        if not_labels(np.array([found]))[0] or (self.labels is not None and found not in self.labels):
            known = f"from {LABELS[0]} to {LABELS[1]}" if self.labels is None else f"of {examples(self.labels, 12)}"
            raise InputError(
                f"the function must return a label, a whole number {known}, or None for no label, got {told(value)}."
            )
        return int(found)

    def _probabilities(self, value: Any) -> list[float]:
        labels = self.labels or ()
        what = f"the function must return the probabilities of the labels {examples(labels, 12)}"
        if not isinstance(value, Mapping):
            listed = in_rows(value, pd.Index(labels), what)
        else:
            listed = [value.get(label, 0.0) for label in labels] if set(value) <= set(labels) else []
        numbers = number_column(pd.Series([plain(each) for each in listed], dtype=object))
        right = len(numbers) == len(labels) and np.isfinite(numbers).all() and (numbers >= 0).all()
        if not right or abs(numbers.sum() - 1) > _TOLERANCE:
            raise InputError(f"{what}, each 0 or more, with a sum of 1, got {told(value)}.")
        return (numbers / numbers.sum()).tolist()

    def columns(self, answers: Sequence[Kept]) -> dict[str, list[Any]]:
        """Return answers as columns: ``label``, and the probabilities or scores that it was made from."""
        if self.form == "label":
            return {"label": list(answers)}
        labels = np.array(self.labels)
        if self.form == "score":
            bounds = np.array(self.thresholds)
            found = [None if score is None else int(labels[int((bounds <= score).sum())]) for score in answers]
            return {"label": found, "judge_score": [np.nan if score is None else score for score in answers]}
        relevant = labels >= self.rel
        return {
            "label": [None if row is None else self._label(np.array(row)) for row in answers],
            "probability": [np.nan if row is None else float(np.array(row)[relevant].sum()) for row in answers],
            "probabilities": [None if row is None else tuple(np.array(row).tolist()) for row in answers],
        }

    def _label(self, row: np.ndarray) -> int:
        labels = np.array(self.labels)
        nearness = row if self.decide == "most probable" else -np.abs(labels - float(row @ labels))
        # those that are equally near, but for what rounding makes of them
        return int(labels[nearness >= nearness.max() - 1e-12].min())


def answer_form(form: str, labels: Any, thresholds: Any, decide: str, rel: int | None) -> AnswerForm:
    """Return the form of answers that a user describes, or say what does not fit together."""
    choice("answers", form, FORMS)
    choice("decide", decide, DECISIONS)
    if (thresholds is not None) != (form == "score"):
        raise InputError(
            "thresholds say from which score on a document has each label, and go with ",
            Option("answers", "score"),
            f", got answers={form!r} and thresholds={told(thresholds)}.",
            argument="thresholds",
        )
    bounds = None if thresholds is None else _bounds(thresholds)
    if labels is None and bounds is not None:
        labels = range(len(bounds) + 1)
    if form == "probabilities" and (labels is None or isinstance(labels, Set)):
        raise InputError(
            "probabilities are of labels. Say which, in their order: ", Option("labels", (0, 1)), ".", argument="labels"
        )
    known = None if labels is None else _known(labels)
    if bounds is not None and (known is None or len(known) != len(bounds) + 1 or list(known) != sorted(known)):
        raise wrong(
            "labels", f" must ascend and be one more than the thresholds, {len(bounds) + 1} here, got {told(labels)}."
        )
    return AnswerForm(form, known, bounds, decide, 1 if rel is None else rel)


def _known(labels: Any) -> tuple[int, ...]:
    listed = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str | bytes) else []
    values = number_column(pd.Series([plain(label) for label in listed], dtype=object))
    if len(listed) < 2 or not_labels(values).any() or len(set(values.tolist())) < len(listed):
        raise wrong(
            "labels",
            f" must be two or more whole numbers from {LABELS[0]} to {LABELS[1]}, each once, got {told(labels)}.",
        )
    return tuple(int(value) for value in values)


def _bounds(thresholds: Any) -> tuple[float, ...]:
    listed = [thresholds] if isinstance(thresholds, int | float) else thresholds
    values = np.array(
        list(listed) if isinstance(listed, Iterable) and not isinstance(listed, str) else [], dtype=object
    )
    numbers = number_column(pd.Series(values))
    if not len(numbers) or not np.isfinite(numbers).all() or (np.diff(numbers) <= 0).any():
        raise wrong("thresholds", f" must be numbers that ascend, got {told(thresholds)}.")
    return tuple(numbers.tolist())
