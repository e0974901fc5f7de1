"""The folder of tasks: files are added and none is replaced that may have answers; the manifest comes last."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse._files import Alone, alone, check_writable, read_file, replacing
from pt_reuse.judging.people.asking import Asked
from pt_reuse.judging.people.manifest import MANIFEST, RETURNED, Manifest, Round, TaskFile, read_manifest
from pt_reuse.judging.people.writing import BESIDE, Shown, file_name, files_beside, task_file


@dataclass(frozen=True)
class RoundSettings:
    """How a round was made.

    Attributes:
        number: from 1.
        seed: of what was drawn.
        overlap: as the user gave it.
        annotators: who was asked.
        pool: how the pool was made.
    """

    number: int
    seed: int
    overlap: float
    annotators: tuple[str, ...]
    pool: Mapping[str, str]


@dataclass(frozen=True)
class FolderOfTasks:
    """A folder that tasks are written to.

    Attributes:
        folder: the folder, which need not exist.
        before: what its earlier rounds asked; None where there are none, or where they are to be written over.
        replaced: files that are written over, or taken away, since they are of rounds without answers.
        seen: the manifest as it was found, b"" for none.
    """

    folder: Path
    before: Manifest | None
    replaced: tuple[str, ...]
    seen: bytes

    @classmethod
    def at(cls, folder: Path, *, overwrite: bool) -> FolderOfTasks:
        """Look what a folder has.

        Raises:
            InputError: it cannot be written to, its manifest is damaged, or answers would be written over.
        """
        check_writable(folder, [MANIFEST], overwrite=True, argument="folder")
        seen = _bytes(folder / MANIFEST)
        if not seen:
            return cls(folder, None, (), b"")
        before = read_manifest(folder)
        if not overwrite:
            return cls(folder, before, (), seen)
        answered = [name for name, file in before.files.items() if _changed(folder / name, file)]
        if (folder / RETURNED).is_dir():
            answered += [f"{RETURNED}/{path.name}" for path in sorted((folder / RETURNED).iterdir())]
        if answered:
            raise InputError(
                f"{folder} has files that people may have written to: {examples(answered)}. They are never written "
                "over: take them away, or give another folder.",
                argument="folder",
            )
        return cls(folder, None, (*before.files, *BESIDE), seen)

    def write(self, asked: Asked, shown: Shown, this: RoundSettings) -> tuple[TaskFile, ...]:
        """Write the files of a round, and last the manifest, without which they are none; return what was written.

        Where there is nothing to ask, nothing is written.
        """
        if not asked.sheets:
            return ()
        form = asked.manifest.form
        names = [file_name(sheet.annotator, asked.number, form.ending) for sheet in asked.sheets]
        contents = [task_file(asked.manifest, sheet, shown) for sheet in asked.sheets]
        written = tuple(
            TaskFile(name, sheet.annotator or None, len(sheet.pairs), hashlib.sha256(data).hexdigest())
            for name, sheet, data in zip(names, asked.sheets, contents, strict=True)
        )
        record = Round(this.number, this.seed, this.overlap, this.annotators, written, this.pool)
        manifest = replace(asked.manifest, rounds=(*asked.manifest.rounds, record))
        files = dict(zip(names, contents, strict=True))
        if self.before is None:
            files |= files_beside(manifest, shown.fields)
        try:
            with self._alone():
                self._check_free(files)
                for name, data in files.items():
                    with replacing(self.folder / name) as file:
                        file.write(data)
                manifest.write(self.folder)
                for name in set(self.replaced) - set(files):
                    with suppress(OSError):
                        (self.folder / name).unlink()
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be written to: {error.strerror or error}.", argument="folder"
            ) from error
        return written

    def _check_free(self, files: Mapping[str, bytes]) -> None:
        """Raise where a file is in the way that may have answers; what an export left that was killed has none."""
        names = [name for name in files if name not in self.replaced]
        there = [name for name in names if _bytes(self.folder / name) not in (b"", files[name])]
        if there:
            raise InputError(
                f"{self.folder} has {examples(there)}, which no round of the folder wrote. Take it away, or give "
                "another folder.",
                argument="folder",
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with alone(self.folder) as answer:
            if answer is Alone.NO or _bytes(self.folder / MANIFEST) != self.seen:
                raise InputError(
                    f"{self.folder} is being written to by somebody else. Export again.", argument="folder"
                )
            yield


def _bytes(path: Path) -> bytes:
    try:
        return read_file(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.", place=str(path), argument="folder") from error


def _changed(path: Path, file: TaskFile) -> bool:
    return path.exists() and hashlib.sha256(read_file(path)).hexdigest() != file.sha256
