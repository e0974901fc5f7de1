"""StoredBlocks: the blocks of a field that lie in a folder, by a path and a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse.engine.field import Field
from pt_reuse.formats.array_file import ArrayFile, DamagedError
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
        topics: of each block the number of its first topic, and of the one behind its last.
    """

    folder: str
    topics: tuple[tuple[int, int], ...]

    def only(self, blocks: Sequence[int]) -> StoredBlocks:
        """Return some of the blocks."""
        return StoredBlocks(self.folder, tuple(self.topics[i] for i in blocks))

    def places(self, i: int) -> list[str]:
        """Return the file of a block."""
        return [str(self._path(i))]

    def sizes(self) -> list[int]:
        """Return the bytes of the file of each block, 0 where it is missing."""
        paths = [self._path(i) for i in range(len(self.topics))]
        return [path.stat().st_size if path.is_file() else 0 for path in paths]

    def _path(self, i: int) -> Path:
        return Path(self.folder) / block_name(*self.topics[i])

    def load(self, i: int) -> Field:
        """Return a block; its scores and places are read when somebody asks for them.

        Raises:
            DamagedBlockError: it is damaged or missing, of what is read later when it is read.
        """
        path, (first, end) = self._path(i), self.topics[i]

        def told(error: DamagedError) -> DamagedBlockError:
            # another call has read other files, or in another way, into the same folder
            gone = not path.parent.exists()
            why = "the store was made anew, or removed, after these runs were read" if gone else error
            first_of_all = "R" if gone else f"Delete the folder {path.parent.parent} and r"
            found = DamagedBlockError(
                f"the block of {_topics_in(path, first, end)} cannot be used, as {why}: {path}. {first_of_all}ead the "
                f"runs again."
            )
            found.clause = f"its block {path.name} cannot be used: {error}"
            return found

        field = read_block(path, told)
        if field.n_topics != end - first:
            raise told(DamagedError("it is another block"))
        return field


def _topics_in(path: Path, first: int, end: int) -> str:
    # by their names, where the file still tells them
    try:
        names = ArrayFile(path).notes["topics"]
    except DamagedError:
        several = f"topics at places {first + 1:,} to {end:,}"
        return f"the {several if end - first > 1 else f'topic at place {end:,}'} of its folder"
    return f"topic {shown(names[0])}" if len(names) == 1 else f"topics {shown(names[0])} to {shown(names[-1])}"
