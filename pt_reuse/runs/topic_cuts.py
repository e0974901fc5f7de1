"""Cutting topics into neighbours that belong together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pt_reuse.engine.open_field import AnyField


def cut_where(sizes: Sequence[int], part: Sequence[int], at_once: int) -> list[range]:
    """Return neighbouring topics, as few ranges as hold at most so many numbers; a topic is never cut.

    Args:
        sizes: numbers that each topic holds.
        part: the block of the field in which each topic lies, -1 where the field lacks it.
        at_once: numbers of a range at most.
    """
    ranges, first, held, at = [], 0, 0, -1
    for t, (size, here) in enumerate(zip(sizes, part, strict=True)):
        if t > first and (held + size > at_once or (here >= 0 and at >= 0 and here != at)):
            ranges.append(range(first, t))
            first, held, at = t, 0, -1
        held += size
        at = here if here >= 0 else at
    return [*ranges, range(first, len(sizes))] if len(sizes) else []


def parts_of(field: AnyField, rows: Sequence[int]) -> list[int]:
    """Return the block in which each of some topics lies, -1 for those whose row is -1."""
    part_of = np.append(np.repeat(np.arange(len(field.parts)), [len(part) for part in field.parts]), -1)
    found: list[int] = part_of[np.asarray(rows, dtype=np.int64)].tolist()
    return found
