"""Samples of unjudged documents: which to judge, by which plan, and what labels say of scores without a model."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.expected import Floats
from pt_reuse.data.frame_columns import in_our_columns
from pt_reuse.data.judgments import Qrels, is_collection
from pt_reuse.data.packed_files import read_csv
from pt_reuse.errors import InputError, count, examples, located, shown
from pt_reuse.pooling.pool import DRAWN, INCLUSION, PLAN, SAMPLED, named_documents
from pt_reuse.scoring.measures import native_spec
from pt_reuse.studies.new_runs.evidence import Evidence

#: the topic and the name of a document
Pair = tuple[str, str]
#: the measures that are, or nearly are, sums over documents
ESTIMABLE = ("p", "rbp", "ndcg")
#: fewer sampled documents say little of their own error
_FEWEST = 20


def inclusion(sizes: Floats, n: int) -> Floats:
    """Return (documents,) the probability of each in a sample of n: in proportion to its size, at most 1."""
    found, rest = np.zeros(len(sizes)), sizes > 0
    left = min(n, int(rest.sum()))
    while left > 0 and rest.any():
        found[rest] = left * sizes[rest] / sizes[rest].sum()
        sure = rest & (found >= 1 - 1e-12)
        if not sure.any():
            return found
        found[sure] = 1.0
        rest &= ~sure
        left -= int(sure.sum())
    found[rest] = 0.0
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


def frame_of(evidence: Evidence, cutoff: int | None, known: NDArray[np.bool_] | None = None) -> list[Pair]:
    """Return the unjudged documents of new runs that can be drawn, sorted: down to a rank, None for all.

    Those that are (documents,) `known` since are not among them.
    """
    seen: list[NDArray[np.integer]] = [evidence.unknown[:0]]
    for unit in evidence.new:
        _, row, rank = evidence.lists.of_runs(np.flatnonzero(evidence.units.of_run == unit))
        seen.append(row if cutoff is None else row[rank <= cutoff])
    rows = np.intersect1d(np.concatenate(seen), evidence.unknown)
    rows = rows if known is None else rows[~known[rows]]
    qids, docnos = evidence.names
    return sorted(zip(qids[rows].tolist(), docnos[rows].tolist(), strict=True))


def pairs_of(frame: pd.DataFrame) -> list[Pair]:
    """Return the topic and the name of each document of a frame."""
    return list(zip(frame["qid"].tolist(), frame["docno"].tolist(), strict=True))


def with_plan(drawn: pd.DataFrame, frame: Sequence[Pair], cutoff: int | None) -> pd.DataFrame:
    """Return drawn documents, ``qid docno inclusion`` and more, with how many they are and the plan in each row.

    The plan is the rank down to which documents could be drawn, 0 for all; a digest of these; and a digest of those
    drawn and of their probabilities. So labels can be compared with it.
    """
    found = drawn.assign(**{DRAWN: len(drawn)})
    found[PLAN] = f"{cutoff or 0}.{_digest(map(repr, frame))}.{_digest_of(drawn)}"
    return found


def _digest_of(drawn: pd.DataFrame) -> str:
    probabilities = pd.to_numeric(drawn[INCLUSION], errors="coerce").tolist()
    # to the digits that survive a file
    return _digest(f"{pair!r} {p:.6g}" for pair, p in sorted(zip(pairs_of(drawn), probabilities, strict=True)))


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True)
class Sample:
    """Labels of documents that were sampled, with the probability of each."""

    row: NDArray[np.int64]  # of the judgments
    label: NDArray[np.int16]
    probability: Floats

    @classmethod
    def of(cls, sampled: Qrels, evidence: Evidence, measures: Iterable[ir_measures.Measure]) -> Sample:
        """Find sampled documents among those that nobody judged; raise unless they are a whole sample of them."""
        frame, highest = sampled.to_frame(), max(int(evidence.labels.max()), 1)
        if not len(frame):
            if n := len(frame_of(evidence, None)):
                raise _refused(f"it has no document, and {count(n, 'document')} of new runs are unjudged.")
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int16), np.zeros(0))
        if lacking := [name for name in SAMPLED if name not in frame]:
            raise _refused(
                f"the labels have no column {examples(lacking)}, so they may be a part of the sample. "
                "Judge the pool of judge_next, or add the column label to the documents.csv that its command writes."
            )
        rows = evidence.qrels.arrays.documents.find(sampled.arrays.documents)
        for odd, problem in (
            (frame["label"] < 0, "have no label"),
            (frame["label"] > highest, f"have a label above {highest}, the highest of the judgments"),
            ((rows < 0) | (evidence.labels[rows] >= 0), "are judged already, or not at the top of the new runs"),
        ):
            if wrong := sorted(pairs_of(frame[np.asarray(odd)])):
                raise _refused(
                    f"{len(wrong):,} of {count(len(frame), 'document')} {problem}: {named_documents(wrong)}."
                )
        _check_plan(frame, evidence, measures)
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
    most = int((sizes > 0).sum())
    fewest = min(_FEWEST, most)

    def is_narrow(n: int) -> bool:
        probability = inclusion(sizes, n)
        drawn = probability > 0
        error = np.sqrt(((1 / probability[drawn] - 1) * variances[drawn]).sum())
        return bool(2 * reach * error <= width)

    return fewest + bisect_left(range(fewest, most), True, key=is_narrow)


def _check_plan(sampled: pd.DataFrame, evidence: Evidence, measures: Iterable[ir_measures.Measure]) -> None:
    """Raise unless labels are all of a sample of what is unjudged here, drawn where the measures look."""
    cells = sampled[PLAN].astype(str).unique().tolist()
    cutoff, *digests = cells[0].split(".")
    if len(cells) > 1 or len(digests) != 2 or not cutoff.isdecimal():
        raise _refused(f"the column {PLAN!r} has {examples(cells)}, and must have the one that judge_next wrote.")
    frame = frame_of(evidence, int(cutoff) or None)
    if _digest(map(repr, frame)) != digests[0]:
        raise _refused(
            "the sample was drawn from other documents than those that are unjudged here. Give the new runs, judgments "
            "and depth of its plan."
        )
    for measure in measures:
        spec = native_spec(measure)
        if set(frame_of(evidence, spec.cutoff if spec else None)) - set(frame):
            problem = f"{measure!r} looks deeper than the sample was drawn, rank {cutoff}. Plan one by this measure."
            raise InputError(problem, argument="measures")
    stated = pd.to_numeric(sampled[DRAWN], errors="coerce")
    if (stated != len(sampled)).any():
        raise _refused(
            f"there are {count(len(sampled), 'document')}, and the sample has {shown(sampled[DRAWN].iloc[0])}. Judge "
            "all of it, and keep the rows that are not relevant."
        )
    if _digest_of(sampled) != digests[1]:
        raise _refused(f"the documents, or their {INCLUSION!r}, are not those of the plan. Keep its rows as they were.")


def _refused(message: str) -> InputError:
    return InputError(message, argument="sampled")
