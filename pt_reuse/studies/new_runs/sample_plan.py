"""The plan of a sample: which documents could be drawn and which were, so that labels are known to be all of them."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, shown
from pt_reuse.errors import InputError
from pt_reuse.pooling.pool import DRAWN, INCLUSION, PLAN, SAMPLED, named_documents
from pt_reuse.scoring.measures import native_spec
from pt_reuse.studies.new_runs.evidence import Evidence

#: the topic and the name of a document
Pair = tuple[str, str]


@dataclass(frozen=True)
class SamplePlan:
    """Which of some documents were drawn; it is written into a cell, so that labels can be compared with it.

    The cell has the rank down to which documents of new runs could be drawn, 0 for all; a digest of these documents; a
    digest of those drawn and of their probabilities; and a bit for each document, whether it was drawn.
    """

    cutoff: int
    frame: str
    sample: str
    packed: bytes

    @classmethod
    def of(cls, cutoff: int | None, frame: Iterable[Pair], drawn: Mapping[Pair, float]) -> SamplePlan:
        """Return the plan by which some documents of a frame were drawn, each with its probability."""
        every = sorted(frame)
        bits = np.packbits(np.array([pair in drawn for pair in every], dtype=bool))
        return cls(cutoff or 0, _digest(map(repr, every)), _digest_of(drawn), zlib.compress(bits.tobytes(), 9))

    def __str__(self) -> str:
        """Return the cell."""
        return ".".join([str(self.cutoff), self.frame, self.sample, base64.urlsafe_b64encode(self.packed).decode()])

    @classmethod
    def parse(cls, cell: str) -> SamplePlan:
        """Read a cell, or raise a ValueError."""
        cutoff, frame, sample, packed = cell.split(".")
        return cls(int(cutoff), frame, sample, base64.b64decode(packed, altchars=b"-_", validate=True))

    def drawn_of(self, frame: Iterable[Pair]) -> set[Pair] | None:
        """Return the documents that were drawn, None where the frame is another one; or raise a ValueError."""
        every = sorted(frame)
        if _digest(map(repr, every)) != self.frame:
            return None
        size = (len(every) + 7) // 8
        try:
            # no more than it can be, whatever the cell holds
            unpacked = zlib.decompressobj().decompress(self.packed, size + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if len(unpacked) != size:
            raise ValueError(f"{len(unpacked)} bytes for {len(every)} documents")
        is_drawn = np.unpackbits(np.frombuffer(unpacked, dtype=np.uint8))
        return {every[at] for at in np.flatnonzero(is_drawn[: len(every)]).tolist()}


def _digest_of(drawn: Mapping[Pair, float]) -> str:
    # to the digits that survive a file
    return _digest(f"{pair!r} {probability:.6g}" for pair, probability in sorted(drawn.items()))


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def pairs_of(frame: pd.DataFrame) -> list[Pair]:
    """Return the topic and the name of each document of a frame."""
    return list(zip(frame["qid"].tolist(), frame["docno"].tolist(), strict=True))


def frame_of(evidence: Evidence, cutoff: int | None, known: NDArray[np.bool_] | None = None) -> list[Pair]:
    """Return the unjudged documents of new runs that can be drawn: down to a rank, None for all.

    Those that are (documents,) `known` since are not among them.
    """
    seen: list[NDArray[np.integer]] = [evidence.unknown[:0]]
    for unit in evidence.new:
        _, row, rank = evidence.lists.of_runs(np.flatnonzero(evidence.units.of_run == unit))
        seen.append(row if cutoff is None else row[rank <= cutoff])
    rows = np.intersect1d(np.concatenate(seen), evidence.unknown)
    if known is not None:
        rows = rows[~known[rows]]
    qids, docnos = evidence.names
    return list(zip(qids[rows].tolist(), docnos[rows].tolist(), strict=True))


def with_plan(drawn: pd.DataFrame, frame: Sequence[Pair], cutoff: int | None) -> pd.DataFrame:
    """Return drawn documents, ``qid docno inclusion`` and more, with how many they are and the plan in each row."""
    probabilities = dict(zip(pairs_of(drawn), drawn[INCLUSION].tolist(), strict=True))
    found = drawn.assign(**{DRAWN: len(drawn)})
    found[PLAN] = str(SamplePlan.of(cutoff, frame, probabilities))
    return found


def check_columns(sampled: pd.DataFrame) -> None:
    """Raise where labels do not say how they were sampled."""
    lacking = [name for name in SAMPLED if name not in sampled]
    if lacking:
        raise _refused(
            f"the labels of a sample have no column {examples(lacking)}, so that nobody can tell whether they are all "
            "of it. Judge the pool of judge_next, found.pool.judge(judge), or add the column label to the "
            "documents.csv that its command writes."
        )


def check_whole(sampled: pd.DataFrame, evidence: Evidence, measures: Iterable[ir_measures.Measure]) -> None:
    """Raise unless labels are all of a sample of what is unjudged here, drawn where the measures look."""
    cells = sampled[PLAN].astype(object).where(sampled[PLAN].notna(), "").astype(str)
    if (cells != cells.iloc[0]).any():
        raise _refused(f"the labels are of {len(set(cells)):,} plans. Give those of one sample.")
    try:
        plan = SamplePlan.parse(cells.iloc[0])
        drawn = plan.drawn_of(frame_of(evidence, plan.cutoff or None))
    except ValueError as error:
        raise _refused(
            f"the column {PLAN!r} has {shown(cells.iloc[0])}, which judge_next did not write. Keep its columns as they "
            "are."
        ) from error
    if drawn is None:
        raise _refused(
            "the sample was drawn from other documents than those that are unjudged here. Give the new runs, judgments "
            "and depth of its plan, or plan a sample of these."
        )
    _check_measures(plan, evidence, measures)
    given = set(pairs_of(sampled))
    missing, more = sorted(drawn - given), sorted(given - drawn)
    if missing:
        raise _refused(
            f"{len(missing):,} of {count(len(drawn), 'document')} of the sample are missing: "
            f"{named_documents(missing)}. The estimate holds for the whole sample alone. Judge them, and keep the "
            "rows that are not relevant."
        )
    if more:
        raise _refused(
            f"{count(len(more), 'document')} of the labels were not drawn by the plan: {named_documents(more)}."
        )
    inclusion, stated = (pd.to_numeric(sampled[name], errors="coerce") for name in (INCLUSION, DRAWN))
    probabilities = dict(zip(pairs_of(sampled), inclusion.tolist(), strict=True))
    if not (stated == len(drawn)).all() or _digest_of(probabilities) != plan.sample:
        raise _refused(
            f"the columns {INCLUSION!r} and {DRAWN!r} are not those of the plan. Keep them as judge_next wrote them."
        )


def _check_measures(plan: SamplePlan, evidence: Evidence, measures: Iterable[ir_measures.Measure]) -> None:
    frame = set(frame_of(evidence, plan.cutoff or None))
    for measure in measures:
        spec = native_spec(measure)
        beyond = sorted(set(frame_of(evidence, spec.cutoff if spec else None)) - frame)
        if beyond:
            raise InputError(
                f"the sample was drawn from ranks 1 to {plan.cutoff}, and {measure!r} looks deeper: "
                f"{count(len(beyond), 'document')} could not be drawn, such as {named_documents(beyond[:1])}. Plan a "
                "sample by this measure.",
                argument="measures",
            )


def _refused(message: str) -> InputError:
    return InputError(message, argument="sampled")
