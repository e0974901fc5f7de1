"""Measures that are sums over documents: the weight of the document's rank times the gain of its label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import Call, InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
#: measures that are sums over documents, as a user writes them
LINEAR = "P@k, RBP(rel=...), SDCG(max_rel=...)@k, SetP, NumRet(rel=...) and NumRel"
#: gives (hits,) weights of (hits,) ranks, from 1, in lists of (hits,) lengths
Weights = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True)
class LinearMeasure:
    """A measure that is linear in gains.

    Attributes:
        name: as ir_measures writes it.
        weights: of ranks; None where every document of the pool weighs 1 for every run, found or not.
        gain: (documents,) gains of (documents,) labels of 0 or more.
    """

    name: str
    weights: Weights | None
    gain: Callable[[Ints], Floats]


def linear_of(measure: ir_measures.Measure) -> LinearMeasure:
    """Return a measure as a sum over documents.

    Raises:
        InputError: a measure that is none, such as nDCG and AP, or one that lacks a parameter.
    """
    params = measure.params
    if measure.NAME not in _WEIGHTS or params.get("judged_only") or params.get("relative"):
        raise _not_linear(measure)
    needed = {"P": ["cutoff"], "RBP": ["rel"], "SDCG": ["cutoff", "max_rel"], "NumRet": ["rel"]}
    missing = [name for name in needed.get(measure.NAME, []) if params.get(name) is None]
    if missing or params.get("dcg", "log2") != "log2":
        raise InputError(
            f"measure {measure!r} is not defined without {' and '.join(missing) or 'dcg=log2'}. Write it as one of "
            f"{LINEAR}.",
            argument="measures",
        )
    make = _WEIGHTS[measure.NAME]
    if measure.NAME == "SDCG":
        low, high = params.get("min_rel", 0), params["max_rel"]
        return LinearMeasure(
            repr(measure), make(measure), lambda labels: (np.clip(labels, low, high) - low) / (high - low)
        )
    rel = params.get("rel", 1)
    return LinearMeasure(
        repr(measure),
        None if measure.NAME == "NumRel" else make(measure),
        lambda labels: (labels >= rel).astype(np.float64),
    )


def _not_linear(measure: ir_measures.Measure) -> InputError:
    why = {
        "nDCG": "it divides by an ideal list, which hangs on documents that nobody labelled",
        "AP": "it divides by the number of relevant documents, and multiplies labels with each other",
        "R": "it divides by the number of relevant documents, which hangs on documents that nobody labelled",
    }.get(measure.NAME, "what a document adds to it hangs on the labels of other documents")
    return InputError(
        f"{measure!r} is no sum over documents: {why}. So labels of a sample do not correct those of a judge without "
        f"bias. Take one of {LINEAR}; or xinfAP and xinfNDCG, which ",
        Call("score", "runs, human, [xinfAP, xinfNDCG]"),
        " estimates from the sample alone.",
        argument="measures",
    )


def _up_to(measure: ir_measures.Measure, weights: Weights) -> Weights:
    cutoff = measure.params.get("cutoff")
    if cutoff is None:
        return weights
    return lambda rank, length: np.where(rank <= cutoff, weights(rank, length), 0.0)


def _precision(measure: ir_measures.Measure) -> Weights:
    cutoff = measure.params["cutoff"]
    return _up_to(measure, lambda rank, length: np.full(len(rank), 1 / cutoff))


def _rank_biased(measure: ir_measures.Measure) -> Weights:
    p = measure.params.get("p", 0.8)
    return _up_to(measure, lambda rank, length: (1 - p) * p ** (rank - 1.0))


def _discounted(measure: ir_measures.Measure) -> Weights:
    most = (1 / np.log2(np.arange(1, measure.params["cutoff"] + 1) + 1)).sum()
    return _up_to(measure, lambda rank, length: 1 / np.log2(rank + 1.0) / most)


def _each(measure: ir_measures.Measure) -> Weights:
    return lambda rank, length: np.ones(len(rank))


def _share(measure: ir_measures.Measure) -> Weights:
    return lambda rank, length: 1 / length


_WEIGHTS: dict[str, Callable[[ir_measures.Measure], Weights]] = {
    "P": _precision,
    "RBP": _rank_biased,
    "SDCG": _discounted,
    "SetP": _share,
    "NumRet": _each,
    "NumRel": _each,
}
