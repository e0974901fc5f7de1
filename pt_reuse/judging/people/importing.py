"""Importing: files that people judged come back, and become labels with all that is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pt_reuse._check import count, examples, flag, told
from pt_reuse._errors import Argument, InputError, door, located, warn
from pt_reuse._files import user_path
from pt_reuse.judging.people.answers import ENDINGS, Answer, read_answers
from pt_reuse.judging.people.checking import Checked, check_answers, missing_faults
from pt_reuse.judging.people.manifest import RETURNED, Manifest, Pair, read_manifest
from pt_reuse.judging.people.returned import ReturnedLabels, returned_labels

#: what begins names that systems and programs give to files of their own
_HIDDEN = (".", "~$")
#: faults that a message lists
_LISTED = 30


@door
def import_labels(
    folder: str | Path,
    files: str | Path | Iterable[str | Path] | None = None,
    *,
    annotators: Mapping[str, str] | None = None,
    partial: bool = False,
) -> ReturnedLabels:
    """Read the labels that people gave to the tasks of a folder, and check them against what was asked.

    All faults are found before any is told: pairs that are none of the task, ids moved to other rows, labels out of the
    scale, two labels of one annotator for one document, rows of another task or of somebody who was not asked, labels
    that are missing. The same label twice counts once, with a warning. A label is a number or a word of the scale.

    Files may have been saved by any spreadsheet: with commas, semicolons or tabs, with or without a mark of UTF-8. An
    id that a spreadsheet made a number or a date is restored by the name of its pair, with a warning.

    Args:
        folder: that :func:`export_tasks` wrote.
        files: files that came back, or folders of such: CSV, JSONL, or what Doccano (JSONL, JSON, CSV, ZIP) and Label
            Studio (JSON, JSON-MIN, CSV, TSV) export. A ZIP may unpack to 100 MB, or to 100 times its size up to 8 GB,
            and have 10,000 members; all of them are read, but for hidden ones. Default: the task files themselves,
            where people write into them, and all in the folder ``returned`` of `folder`.
        annotators: a tool's user, or the name of a file that does not say whose it is -> annotator. A user whose name
            is none of the annotators' is taken for the one for whom the rows were written, where it is clear which.
        partial: take what is there while labels are missing; :attr:`ReturnedLabels.missing` lists these. Default is an
            error.

    Returns:
        ReturnedLabels: the labels with annotator, time, and why each document was judged.

    Raises:
        InputError: with all faults, in ``faults``, and the first of them in words.

    Example:
        >>> import pandas as pd, pt_reuse as ptr, tempfile
        >>> from pathlib import Path
        >>> pool = ptr.Pool.from_frame(pd.DataFrame({"qid": ["1"], "docno": ["d1"]}))
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = ptr.export_tasks(pool, folder, topics={"1": "a query"}, texts={"d1": "A text."}, annotators=["ann"])
        >>> sheet = folder / "ann-round1.csv"
        >>> rows = pd.read_csv(sheet, dtype=str)
        >>> rows.assign(label="relevant").to_csv(sheet, index=False)
        >>> labels = import_labels(folder)
        >>> labels.table[["qid", "docno", "label", "annotator", "strategy"]]
          qid docno  label annotator strategy
        0   1    d1      1       ann     None
        >>> labels.to_qrels()
        Qrels: 1 topic, 1 judgment, 1 relevant (labels 1: 1)
    """
    flag("partial", partial)
    given = _checked_annotators(annotators)
    if not isinstance(folder, str | Path) or not str(folder) or "\0" in str(folder):
        raise InputError(f"folder must be a folder's path, got {told(folder)}.", argument="folder")
    home = user_path(folder)
    manifest = read_manifest(home)
    strangers = [name for name in given.values() if manifest.named and name not in manifest.annotators]
    if strangers:
        raise InputError(
            Argument("annotators"),
            f" must be those of the task, {examples(manifest.annotators, 6)}, got {examples(strangers)}.",
            argument="annotators",
        )
    paths = list(dict.fromkeys(_paths(home, files, manifest)))
    answers, faults = _read(paths, home)
    checked = check_answers(answers, manifest, given)
    unused = [name for name in given if name not in checked.names]
    if unused and not faults:
        raise InputError(
            Argument("annotators"),
            f" has {examples(unused)}, which no file and no tool says. There is {examples(sorted(checked.names), 8)}.",
            argument="annotators",
        )
    missing = list(_missing(checked, manifest))
    if not partial and not faults and checked.whole:
        # what a fault stands in the way of is not told twice
        faults += missing_faults([(pair, who) for pair, who in missing if pair.name not in checked.faulty])
    faults += checked.faults
    if faults:
        head = f"{count(len(faults), 'fault')} in what came back:"
        raise InputError.listing(faults, head, most=_LISTED)
    if checked.restored:
        warn(
            f"{count(len(checked.restored), 'id')} changed by a spreadsheet, restored by the names of the pairs: "
            f"{'; '.join(checked.restored[:3])}{_more(len(checked.restored) - 3)}."
        )
    if checked.odd_times:
        warn(
            f"{count(len(checked.odd_times), 'time')} that cannot be read, taken to be when the file was written: "
            f"{'; '.join(checked.odd_times[:3])}{_more(len(checked.odd_times) - 3)}."
        )
    if checked.again:
        warn(
            f"{count(len(checked.again), 'label')} twice alike, counted once: {'; '.join(checked.again[:3])}"
            f"{_more(len(checked.again) - 3)}."
        )
    return returned_labels(checked, missing, manifest, [path.name for path in paths])


def _checked_annotators(annotators: Any) -> dict[str, str]:
    given = {} if annotators is None else annotators
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given.values()):
        raise InputError(
            Argument("annotators"),
            f" must be a dict of a tool's user or a file's name -> annotator, got {told(annotators)}.",
            argument="annotators",
        )
    return {str(user): name for user, name in given.items()}


def _paths(home: Path, files: Any, manifest: Manifest) -> Iterator[Path]:
    """Yield the files that came back, each of which exists.

    Raises:
        InputError: there is none, or one that is named does not exist.
    """
    found: list[Path] = []
    if files is None:
        if manifest.form.filled_in_place:
            found += [home / name for name in manifest.files if (home / name).is_file()]
        found += _inside(home / RETURNED)
        if not found:
            raise InputError(
                f"{home} has no file that came back. Put what people or the tool give you into its folder {RETURNED}.",
                argument="folder",
            )
        yield from found
        return
    listed = [files] if isinstance(files, str | Path) else list(files) if isinstance(files, Iterable) else []
    if not all(isinstance(path, str | Path) and str(path) for path in listed):
        raise InputError(Argument("files"), f" must be paths of files or folders, got {told(files)}.", argument="files")
    for path in map(user_path, listed):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder.", argument="files")
        inside = _inside(path) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path} has no file.", argument="files")
        found += inside
    if not found:
        raise InputError("files names no file.", argument="files")
    yield from found


def _inside(folder: Path) -> list[Path]:
    paths = sorted(folder.rglob("*")) if folder.is_dir() else []
    visible = [path for path in paths if not any(p.startswith(_HIDDEN) for p in path.relative_to(folder).parts)]
    return [path for path in visible if path.is_file()]


def _read(paths: Iterable[Path], home: Path) -> tuple[list[Answer], list[InputError]]:
    """Return what stands in files, and the fault of each that cannot be read."""
    answers: list[Answer] = []
    faults: list[InputError] = []
    for path in paths:
        name = path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path)
        try:
            if path.suffix.lower() not in ENDINGS:
                with located(name):
                    raise InputError(f"no file that can be read. Save a sheet as CSV; read are {', '.join(ENDINGS)}.")
            answers += read_answers(path, name)
        except InputError as error:
            faults.append(error)
    return answers, faults


def _missing(checked: Checked, manifest: Manifest) -> Iterator[tuple[Pair, str | None]]:
    """Yield what was asked and has no label: the pair, and the annotator; None for anybody."""
    given: dict[str, set[str]] = {}
    for name, annotator in checked.labels:
        given.setdefault(name, set()).add(annotator)
    for pair in manifest.pairs:
        there = given.get(pair.name, set())
        if manifest.named:
            yield from ((pair, annotator) for annotator in pair.asked if annotator not in there)
        else:
            yield from ((pair, None) for _ in range(max(pair.wanted - len(there), 0)))


def _more(n: int) -> str:
    return f"; and {n:,} more" if n > 0 else ""
