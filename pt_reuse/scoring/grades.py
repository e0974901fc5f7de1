"""Which labels a measure counts as relevant, beside those that are relevant for the judgments."""

from __future__ import annotations

from collections.abc import Iterable

import ir_measures

from pt_reuse._errors import warn


def usual_measures(rel: int | None, binary: ir_measures.Measure = ir_measures.AP) -> list[ir_measures.Measure]:
    """Return the measures that are taken where nobody names any: a binary one, and ``nDCG@10``.

    Example:
        >>> usual_measures(1), usual_measures(2, ir_measures.P @ 10)
        ([AP, nDCG@10], [P(rel=2)@10, nDCG@10])
    """
    return [binary if rel in (None, 1) else binary(rel=rel), ir_measures.nDCG @ 10]


def warn_of_lower_grades(measures: Iterable[ir_measures.Measure], rel: int) -> None:
    """Warn of binary measures that count labels as relevant that for these judgments are not.

    A measure that says from which label on it counts, AP(rel=1), is as it is meant to be.
    """
    counting = [measure for measure in measures if counts_from_1(measure)]
    if rel == 1 or not counting:
        return
    meant = ", ".join(repr(measure(rel=rel)) for measure in counting)
    one = len(counting) == 1
    warn(
        f"{', '.join(map(repr, counting))} {'counts' if one else 'count'} documents of label 1 as relevant, and for "
        f"these judgments they are so from label {rel}. Take {meant}, or write (rel=1) where label 1 is meant.",
    )


def counts_from_1(measure: ir_measures.Measure) -> bool:
    """Return whether a measure is binary and nobody said from which label on documents are relevant to it.

    Example:
        >>> [counts_from_1(ir_measures.parse_measure(name)) for name in ("AP", "AP(rel=2)", "nDCG@10", "RBP")]
        [True, False, False, False]
    """
    parameter = measure.SUPPORTED_PARAMS.get("rel")
    return parameter is not None and parameter.default == 1 and "rel" not in measure.params
