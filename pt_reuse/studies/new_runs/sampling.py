"""Samples of unjudged documents: which to judge, and what their labels say of scores without trusting a model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse.arrays.expected import Floats
from pt_reuse.data.csv_files import read_csv
from pt_reuse.data.frame_columns import in_our_columns
from pt_reuse.data.judgments import Qrels, is_collection
from pt_reuse.errors import InputError, located
from pt_reuse.pooling.pool import DRAWN, INCLUSION, PLAN, SAMPLED, named_documents
from pt_reuse.scoring.measures import native_spec
from pt_reuse.studies.new_runs.evidence import Evidence
from pt_reuse.studies.new_runs.sample_plan import check_columns, check_whole, frame_of, pairs_of

#: the measures that are, or nearly are, sums over documents
ESTIMABLE = ("p", "rbp", "ndcg")
#: fewer sampled documents say little of their own error
_FEWEST = 20


def inclusion(sizes: Floats, n: int) -> Floats:
    """Return (documents,) the probability of each in a sample of n: in proportion to its size, at most 1."""
    found = np.zeros(len(sizes))
    some = sizes > 0
    n = min(n, int(some.sum()))
    sure = np.zeros(len(sizes), dtype=bool)
    while True:
        rest = some & ~sure
        left = n - int(sure.sum())
        if not rest.any() or left <= 0:
            break
        share = left * sizes / sizes[rest].sum()
        more = rest & (share >= 1 - 1e-12)
        if not more.any():
            found[rest] = share[rest]
            break
        sure |= more
    found[sure] = 1.0
    return found


def draw(probability: Floats, seed: int) -> NDArray[np.int64]:
    """Return a sample in which each document is with its probability: systematic, in a random order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(probability))
    ends = np.cumsum(probability[order])
    if not len(ends):
        return order
    n = round(float(ends[-1]))
    # the sum of the probabilities is the size of the sample, up to the last bit
    picks = np.searchsorted(ends, (rng.random() + np.arange(n)) * (ends[-1] / max(n, 1)), side="right")
    return np.sort(order[np.minimum(picks, len(order) - 1)])


def shifted(chance: Floats, sampled: NDArray[np.int64], positive: NDArray[np.bool_], probability: Floats) -> Floats:
    """Return (documents,) chances with their logits moved alike, so that a sample has as many as it should.

    The sums over the sampled documents, divided by their probabilities, are equal, but for a small ridge.
    """
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    at = logit(np.clip(chance, 1e-9, 1 - 1e-9))

    def lacking(shift: float) -> float:
        return float(((positive - expit(at[sampled] + shift)) / probability).sum()) - shift

    return expit(at + brentq(lacking, -len(chance) - 50, len(chance) + 50)) if len(sampled) else chance


def sampled_labels(given: Any) -> Any:
    """Return the labels of a sample; a file of them is CSV, as the command writes the documents of a plan."""
    if not isinstance(given, str | os.PathLike) or is_collection(given):
        return given
    with located(os.fspath(given)):
        table = read_csv(given, "sampled")
        table = replace(table, frame=in_our_columns(table.frame))
        wanted = ("qid", "docno", "label", *SAMPLED)
        table.need(wanted, "sampled")
        table.check_filled(*wanted, argument="sampled")
        numbers = {column: table.numbers(column, "sampled") for column in ("label", INCLUSION, DRAWN)}
        return table.frame[["qid", "docno", PLAN]].assign(**numbers)


@dataclass(frozen=True)
class Sample:
    """Labels of documents that were sampled, with the probability of each."""

    row: NDArray[np.int64]  # of the judgments
    label: NDArray[np.int16]
    probability: Floats

    @classmethod
    def of(cls, sampled: Qrels, evidence: Evidence, measures: Iterable[ir_measures.Measure]) -> Sample:
        """Find sampled documents among those that nobody judged; raise unless they are a whole sample of them."""
        frame = sampled.to_frame()
        if not len(frame):
            unjudged = len(frame_of(evidence, None))
            if unjudged:
                raise InputError(
                    f"sampled has no document, and {count(unjudged, 'document')} of new runs are unjudged.",
                    argument="sampled",
                )
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int16), np.zeros(0))
        check_columns(frame)
        without = sorted(pairs_of(frame[frame["label"] < 0]))
        if without:
            raise InputError(
                f"{count(len(without), 'document')} of {len(frame):,} have no label: {named_documents(without)}. Every "
                "document of the sample must have one, or the estimate is not of the whole.",
                argument="sampled",
            )
        if int(frame["label"].max()) > max(int(evidence.labels.max()), 1):
            highest = int(evidence.labels.max())
            raise InputError(
                f"sampled has the label {int(frame['label'].max())}, and the highest of the judgments is {highest}.",
                argument="sampled",
            )
        rows = evidence.qrels.arrays.documents.find(sampled.arrays.documents)
        strange = sorted(pairs_of(frame[(rows < 0) | (evidence.labels[rows] >= 0)]))
        if strange:
            raise InputError(
                f"{count(len(strange), 'document')} of {len(frame):,} are judged already, or not among those that the "
                f"new runs have at the top: {named_documents(strange)}. Give as `sampled` the labels of the sample "
                "alone, and leave them out of the qrels.",
                argument="sampled",
            )
        check_whole(frame, evidence, measures)
        return cls(rows, frame["label"].to_numpy(dtype=np.int16), frame[INCLUSION].to_numpy(dtype=float))

    def estimate(self, score: float, changes: Floats, variances: Floats) -> tuple[float, float]:
        """Return the estimate of a mean score, and its standard error.

        It is the score predicted, and for each sampled document what its label changes in it, (sampled,), divided by
        its probability. The variance is Hajek's, for samples of a fixed size; where the model expects a larger one, of
        (sampled,) `variances`, it is the mean of both, since a few documents that are as expected say little of others.
        """
        rest = 1 - self.probability
        n, expanded = int((rest > 0).sum()), changes / self.probability
        found = score + float(expanded.sum())
        if n < 2:
            return found, 0.0 if not n else np.inf
        mean = (rest * expanded).sum() / rest.sum()
        seen = n / (n - 1) * float((rest * np.square(expanded - mean)).sum())
        expected = float((rest / np.square(self.probability) * variances).sum())
        return found, float(np.sqrt(max(seen, (seen + expected) / 2)))


def check_estimable(measures: Iterable[ir_measures.Measure]) -> None:
    """Raise where a sum over sampled documents does not estimate a measure."""
    unfit = [repr(m) for m in measures if (spec := native_spec(m)) is None or spec.kernel not in ESTIMABLE]
    if unfit:
        message = f"a sample estimates P, RBP and nDCG, which are sums over documents, and not {examples(unfit)}."
        raise InputError(message, argument="measures")


def needed(sizes: Floats, variances: Floats, width: float, reach: float) -> int:
    """Return how many documents must be sampled for an interval to be at most so wide; all, where no fewer do."""
    high = int((sizes > 0).sum())
    low = min(_FEWEST, high)
    if not high:
        return 0
    while low < high:
        middle = (low + high) // 2
        probability = inclusion(sizes, middle)
        drawn = probability > 0
        error = np.sqrt(((1 / probability[drawn] - 1) * variances[drawn]).sum())
        low, high = (low, middle) if 2 * reach * error <= width else (middle + 1, high)
    return low
