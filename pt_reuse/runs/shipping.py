"""Fields for other processes: what is in memory is written to files first, so that only paths are sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pt_reuse._job_files import folder_for_jobs
from pt_reuse.engine.field import Field
from pt_reuse.engine.open_field import AnyField, OpenField, Stacked, Stepped, cut_topics
from pt_reuse.formats.block import read_block, write_block

#: rows of a block that is written for workers
_ROWS = 1 << 21


@dataclass(frozen=True)
class BlockFiles:
    """Blocks in files of their own, for as long as a call takes."""

    paths: list[str]

    def load(self, i: int) -> Field:
        """Read a block."""
        return read_block(Path(self.paths[i]))

    def only(self, blocks: Sequence[int]) -> BlockFiles:
        """Return some of the blocks."""
        return BlockFiles([self.paths[i] for i in blocks])

    def places(self, i: int) -> list[str]:
        """Return the file of a block."""
        return [self.paths[i]]


@contextmanager
def on_disk(field: AnyField) -> Iterator[OpenField]:
    """Give a field whose blocks all lie on disk; those of a field in memory lie there while the context lasts."""
    if isinstance(field, OpenField) and not _holds_arrays(field):
        yield field
        return
    with folder_for_jobs() as folder:
        yield _written(field, Path(folder))


def _holds_arrays(field: AnyField) -> bool:
    if isinstance(field, Field):
        return True
    source = field.source
    while isinstance(source, Stepped):
        source = source.source
    return isinstance(source, Stacked) and any(_holds_arrays(one) for one in source.fields)


def _written(field: AnyField, folder: Path) -> OpenField:
    paths: list[str] = []
    parts: list[range] = []
    for i, topics in enumerate(field.parts):
        block = field.part(i)
        for part in cut_topics(block, _ROWS):
            paths.append(str(folder / f"block-{len(paths)}"))
            write_block(Path(paths[-1]), block.block(part))
            parts.append(range(topics.start + part.start, topics.start + part.stop))
    return OpenField(field.topics, parts, field.lengths, field.ranked, BlockFiles(paths))
