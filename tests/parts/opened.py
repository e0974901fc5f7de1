"""Fields as blocks, so that a test can ask of any study whether it gives the same on an open field."""

from __future__ import annotations

from dataclasses import dataclass

from pt_reuse.arrays.field import AnyField, Field, OpenField, cut_topics
from pt_reuse.data.run_set import RunSet


@dataclass(frozen=True, eq=False)
class InMemory:
    """Blocks that are held in memory, and loaded as those on disk are: scores and places when asked for."""

    blocks: list[Field]

    def load(self, i: int) -> Field:
        return self.blocks[i]

    def only(self, blocks):
        return InMemory([self.blocks[i] for i in blocks])


def opened_field(field: AnyField, rows: int = 1) -> AnyField:
    """Return a field in blocks of at most so many rows, or of one topic."""
    if not isinstance(field, Field) or not field.n_topics:
        return field
    parts = cut_topics(field, rows)
    source = InMemory([field.block(part) for part in parts])
    return OpenField(field.topics, parts, field.lengths, field.ranked, source)


def opened(runs: RunSet, rows: int = 1) -> RunSet:
    """Return the same runs with an open field."""
    return RunSet(opened_field(runs.field, rows), runs.run_table, runs.order, runs.how_pooled, runs._dropped)
