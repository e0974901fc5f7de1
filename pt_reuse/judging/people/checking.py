"""Checking: what came back against what was asked; every fault is found before any is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pt_reuse._check import count, examples, shown
from pt_reuse._errors import InputError, Option, Part
from pt_reuse.judging.people.answers import Answer
from pt_reuse.judging.people.manifest import Manifest, Pair
from pt_reuse.judging.people.sheet import changed_by_sheet, restored, storable
from pt_reuse.judging.people.whose import Nobody, Whose, naming


@dataclass(frozen=True)
class Labelled:
    """A label that counts.

    Attributes:
        pair: what was judged.
        annotator: by whom.
        label: as which.
        answer: where it stands, and what else was said.
    """

    pair: Pair
    annotator: str
    label: int
    answer: Answer


@dataclass
class Checked:
    """What was found in the files.

    Attributes:
        labels: (pair, annotator) -> label.
        faults: what cannot be used.
        restored: ids that a spreadsheet changed and the names of the pairs gave back: where, and what they were.
        again: labels that stand in several places alike: the places.
        skipped: (pair, annotator) -> what was said where somebody gave no label.
        people: user of a tool -> annotator, where one was taken for the other.
        names: the users and the files that there are.
    """

    labels: dict[tuple[str, str], Labelled] = field(default_factory=dict)
    faults: list[InputError] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


def check_answers(answers: Sequence[Answer], manifest: Manifest, annotators: Mapping[str, str]) -> Checked:
    """Return the labels of answers, and all that is wrong with them.

    Args:
        answers: what stands in the files.
        manifest: what was asked.
        annotators: user of a tool, or name of a file that does not say whose it is -> annotator.
    """
    checked, told, mine = Checked(), set[tuple[str, str]](), []
    for answer in answers:
        if answer.task and answer.task != manifest.task:
            if (answer.source.name, answer.task) not in told:
                told.add((answer.source.name, answer.task))
                other = f"of another task, {shown(answer.task)}, where this folder's is {shown(manifest.task)}."
                checked.faults.append(_fault(answer, other, " Import a file with the folder of its own task."))
        elif answer.labels or answer.skipped:
            mine.append(answer)
    whose = Whose(manifest, annotators, mine)
    checked.people, checked.names = whose.taken, whose.names
    for answer in mine:
        pair = _pair(answer, manifest, checked)
        label = None if pair is None or answer.skipped else _label(answer, pair, manifest, checked)
        if pair is None or (label is None and not answer.skipped):
            continue
        annotator = whose.of(answer)
        if isinstance(annotator, Nobody):
            # once for a file, not for each of its rows
            if (answer.source.name, annotator.what) not in told:
                told.add((answer.source.name, annotator.what))
                checked.faults.append(_fault(answer, *annotator.parts))
        elif manifest.named and annotator not in pair.asked:
            what = f"{_named(pair)} was asked of {examples(pair.asked, 6)}, not of {shown(annotator)}."
            advice = (" Take the row out, or say who it was by ", *naming(answer.said[0] if answer.said else "FILE"))
            checked.faults.append(_fault(answer, what, *advice))
        elif label is None:
            checked.skipped.setdefault((pair.name, annotator), answer.note)
        else:
            _keep(Labelled(pair, annotator, label, answer), checked)
    return checked


def _pair(answer: Answer, manifest: Manifest, checked: Checked) -> Pair | None:
    """Return the pair that an answer is about; a fault where it is none of the task, or another one than it says."""
    pair = manifest.by_name.get(answer.pair)
    if pair is None:
        by_ids = manifest.by_ids.get((_plain(answer.qid), _plain(answer.docno)), [])
        if len(by_ids) == 1:
            return by_ids[0]
        what = f"topic {shown(answer.qid)}, document {shown(answer.docno)} is no pair of the task."
        advice = " Take the row out, or put back its `pair`, `qid` and `docno` as they were written."
        checked.faults.append(_fault(answer, what, advice))
        return None
    for what, stands, was in (("topic", answer.qid, pair.qid), ("document", answer.docno, pair.docno)):
        if stands is None or _plain(stands) == storable(was) or stands == storable(was):
            continue
        if not stands.strip() or changed_by_sheet(stands, storable(was)):
            checked.restored.append(f"{_where(answer)}: {shown(stands)} is {what} {shown(was)}")
            continue
        wrong = f"{what} {shown(stands)} stands beside pair {pair.name}, which is {_named(pair)}."
        advice = " Put back the ids of the row as they were written: cells or rows may have been moved."
        checked.faults.append(_fault(answer, wrong, advice))
        return None
    return pair


def _label(answer: Answer, pair: Pair, manifest: Manifest, checked: Checked) -> int | None:
    if len(answer.labels) > 1:
        what = f"{_named(pair)} has {count(len(answer.labels), 'label')}, {examples(answer.labels)}."
        advice = " Leave one. A tool gives one where a text may have a single label and annotations are not shared."
        checked.faults.append(_fault(answer, what, advice))
        return None
    label = manifest.scale.read(answer.labels[0])
    if label is None:
        what = f"{_named(pair)} has label {shown(answer.labels[0])}."
        advice = f" A label is one of {manifest.scale}, as a number or in words."
        checked.faults.append(_fault(answer, what, advice))
    return label


def _keep(new: Labelled, checked: Checked) -> None:
    key = new.pair.name, new.annotator
    old = checked.labels.get(key)
    if old is None:
        checked.labels[key] = new
    elif old.label != new.label:
        what = f"{shown(new.annotator)} gives {_named(new.pair)} label {new.label}, but {old.label} in "
        checked.faults.append(_fault(new.answer, f"{what}{_where(old.answer)}.", " Leave the label that is meant."))
    else:
        checked.again.append(f"{_where(new.answer)} and {_where(old.answer)}")
        if new.answer.time < old.answer.time:
            checked.labels[key] = new


def missing_faults(missing: Sequence[tuple[Pair, str | None]]) -> list[InputError]:
    """Return a fault for each annotator who has not given all labels."""
    of: dict[str | None, list[Pair]] = {}
    for pair, annotator in missing:
        of.setdefault(annotator, []).append(pair)
    faults = []
    for annotator, pairs in of.items():
        first = ", ".join(map(_named, pairs[:3])) + (f" and {len(pairs) - 3:,} more" if len(pairs) > 3 else "")
        lacking = f"{count(len(pairs), 'label')} missing: {first}."
        advice = (" Wait for the rest, or pass ", Option("partial", True), " to take what is there.")
        place = "asked of anybody" if annotator is None else f"asked of {shown(annotator)}"
        faults.append(InputError(lacking, *advice, place=place))
    return faults


def _plain(cell: str | None) -> str:
    return restored(cell or "")


def _named(pair: Pair) -> str:
    return f"topic {shown(pair.qid)}, document {shown(pair.docno)}"


def _where(answer: Answer) -> str:
    return f"{answer.source.name}, {answer.place}"


def _fault(answer: Answer, *parts: Part) -> InputError:
    return InputError(*parts, place=_where(answer))
