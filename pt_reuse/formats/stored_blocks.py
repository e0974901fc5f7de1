"""StoredBlocks: the blocks of a field that lie in a folder, by a path and a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse.engine.field import Field
from pt_reuse.formats.array_file import DamagedError
from pt_reuse.formats.block import read_block

_ENDING = ".block"


class DamagedBlockError(InputError):
    """A block of a store cannot be used.

    Attributes:
        clause: says so of the store.
    """

    clause = ""


def block_name(first: int, end: int) -> str:
    """Return the name of the file of a block: of its first topic, and of the one behind its last."""
    return f"{first:06}-{end:06}{_ENDING}"


@dataclass(frozen=True)
class StoredBlocks:
    """Blocks in a folder.

    Attributes:
        folder: the folder.
        ends: of each block the number of the topic behind its last.
    """

    folder: str
    ends: tuple[int, ...]

    @property
    def parts(self) -> list[range]:
        """Return the topics of each block."""
        return [range(a, b) for a, b in pairwise((0, *self.ends))]

    def path(self, i: int) -> Path:
        """Return the file of a block."""
        part = self.parts[i]
        return Path(self.folder) / block_name(part.start, part.stop)

    def load(self, i: int) -> Field:
        """Return a block; its scores and places are read when somebody asks for them.

        Raises:
            InputError: it is damaged or missing, of what is read later when it is read.
        """
        path, topics = self.path(i), self.parts[i]

        def told(error: DamagedError) -> DamagedBlockError:
            known = examples(names) if names else f"topics {topics.start + 1:,} to {topics.stop:,} of the field"
            found = DamagedBlockError(
                f"the block of {known} cannot be used, as {error}: {path}. Read the runs again; where that does not "
                f"help, delete the folder {path.parent.parent} first."
            )
            found.clause = f"of its block {path.name}, {error}"
            return found

        names: list[str] = []
        field = read_block(path, told)
        if field.n_topics != len(topics):
            raise told(DamagedError("it is another block"))
        names += field.topics
        return field
