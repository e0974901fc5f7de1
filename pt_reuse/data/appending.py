"""What a store has already of run files, so that only the others, and what was added to files, are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pt_reuse._files import open_file
from pt_reuse.data.array_file import checksums
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.packed_files import packed_with
from pt_reuse.data.parsing import FileRun, Longer
from pt_reuse.data.spooling import SpooledRun, ToRead
from pt_reuse.data.store import Layer, Source, StaleCacheError, Stored, check_sources


@dataclass
class KeptRun(FileRun):
    """A run file of which a store has all; what was left out of it is on record there."""

    def dropped(self, name: str | None) -> Iterator[Dropped]:
        """Yield nothing."""
        yield from ()


@dataclass(frozen=True)
class Appending:
    """What a store has of some files.

    Attributes:
        stored: the store; None where all files are read.
        to_read: the files that are read, or their ends.
    """

    stored: Stored | None
    to_read: list[ToRead]

    @staticmethod
    def anew(paths: Sequence[Path], sources: Sequence[str]) -> Appending:
        """Read all files, of which the checksums are given."""
        return Appending(None, [ToRead(path, check) for path, check in zip(paths, sources, strict=True)])

    @staticmethod
    def to(stored: Stored, paths: Sequence[Path], sources: Mapping[str, str], threads: int) -> Appending:
        """Read what a store does not have.

        Raises:
            StaleCacheError: other files than those of the store have been changed otherwise than at their end.
        """
        kept = stored.sources
        if len(sources) < len(paths) or [path for path in sources if path in kept] != list(kept):
            check_sources(kept, sources)
        changed = [path for path in kept if kept[path].check != sources[path]]
        sizes = [kept[path].size for path in changed]
        if not all(map(_may_have_grown, changed, (kept[path] for path in changed))) or (
            checksums(changed, threads, sizes) != [kept[path].check for path in changed]
        ):
            check_sources(kept, sources)
        to_read = []
        for path, (real, check) in zip(paths, sources.items(), strict=True):
            if real not in kept:
                to_read.append(ToRead(path, check))
            elif real in changed:
                to_read.append(ToRead(path, check, kept[real].size, kept[real].lines))
        return Appending(stored, to_read)

    def files(self, paths: Sequence[Path], real: Sequence[str], read: Sequence[SpooledRun]) -> list[FileRun]:
        """Return what came of all files.

        Raises:
            StaleCacheError: what was added to a file does not do as a layer of its own.
        """
        found: dict[Path, list[SpooledRun]] = {}
        for file in read:
            found.setdefault(file.path, []).append(file)
        if self.stored is None:
            return list(read)
        files: list[FileRun] = []
        runs = self._runs()
        whole = self.stored.read.dropped
        reasons = dict(whole[whole["line"].isna()][["file", "reason"]].itertuples(index=False))
        for path, name in zip(paths, real, strict=True):
            if name not in self.stored.sources:
                files += found[path]
                continue
            kept = [
                KeptRun(path, self.stored.read.names[run], commented=run in self.stored.read.commented)
                for run in runs.get(name, ())
            ]
            if path in found:
                files.append(self._with_end(kept, name, found[path]))
            else:
                files += kept or [KeptRun(path, left_out=reasons.get(name))]
        return files

    def _with_end(self, kept: Sequence[KeptRun], real: str, ends: Sequence[SpooledRun]) -> SpooledRun:
        # a file that has grown: only the end of it is read, which must be of new topics alone
        stored, end = self.stored, ends[0]
        if stored is None or not kept or end.spool is None or end.fault is not None:
            raise StaleCacheError(self._grown(real))
        (column,) = self._runs()[real]
        had = {
            topic
            for layer in stored.layers
            if column in layer.columns
            for topic, n in zip(layer.topics, layer.lengths[:, layer.columns.index(column)].tolist(), strict=True)
            if n
        }
        if had.intersection(end.spool.sizes()[0]):
            raise StaleCacheError(self._grown(real))
        return replace(end, commented=kept[0].commented)

    def check_names(self, files: Sequence[FileRun], real: Sequence[str], *, by_tag: bool) -> None:
        """Raise where what was added to a file bears another name than what was there before.

        Raises:
            StaleCacheError: it does.
        """
        names, runs = [] if self.stored is None else self.stored.read.names, self._runs()
        for file, path in zip(files, real, strict=True):
            if by_tag and path in runs and file.tag not in [names[run] for run in runs[path]]:
                raise StaleCacheError(self._grown(path))

    def _grown(self, path: str) -> str:
        return f"of its run files 1 changed ({os.path.basename(path)}), not only by new topics at its end"

    def _runs(self) -> dict[str, list[int]]:
        # the runs of the store by the files from which they come
        runs: dict[str, list[int]] = {}
        if self.stored is not None:
            paths = list(self.stored.sources)
            for run, file in enumerate(self.stored.read.files):
                runs.setdefault(paths[file], []).append(run)
        return runs

    def layers(self, runs: Sequence[str]) -> tuple[Layer, ...]:
        """Return the layers of the store as those of a field of runs from some files, by their real paths."""
        if self.stored is None:
            return ()
        place: dict[str, list[int]] = {}
        for i, path in enumerate(runs):
            place.setdefault(path, []).append(i)
        columns: dict[int, int] = {}
        for path, had in self._runs().items():
            columns |= zip(had, place[path], strict=True)
        return tuple(
            replace(layer, columns=tuple(columns[column] for column in layer.columns)) for layer in self.stored.layers
        )

    def dropped(self, shown: Mapping[str, str]) -> list[Dropped]:
        """Return what the store has on record as left out, with the paths of files as they are shown."""
        return [] if self.stored is None else [Dropped(self.stored.read.placed(shown).dropped)]

    def longer(self, new: Sequence[Longer], shown: Mapping[str, str]) -> tuple[Longer, ...]:
        """Return which files have text after the sixth column, in the order of all files."""
        found = {} if self.stored is None else {item.file: item for item in self.stored.read.placed(shown).longer}
        for item in new:
            before = found.get(item.file)
            found[item.file] = item if before is None else replace(before, lines=before.lines + item.lines)
        return tuple(found[path] for path in shown.values() if path in found)


def _may_have_grown(path: str, kept: Source) -> bool:
    # a text that ended with a line's end, and is longer now
    if not kept.lines or os.path.getsize(path) <= kept.size:
        return False
    with open_file(path) as file:
        if packed_with(file.read(16)) is not None:
            return False
        file.seek(kept.size - 1)
        return file.read(1) == b"\n"
