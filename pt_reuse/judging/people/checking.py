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
        labels: (name of the pair, annotator) -> label.
        faults: what cannot be used.
        whole: whether no file was left out as a whole.
        faulty: names of the pairs with an answer that cannot be used.
        restored: ids that a spreadsheet changed and the names of the pairs gave back: where, and what they were.
        odd_times: where something stands as the time that is none, and what.
        again: labels that stand in several places alike: the places.
        skipped: (name of the pair, annotator) -> what was said where somebody gave no label.
        people: user of a tool -> annotator, where one was taken for the other.
        names: the users and the files that there are.
    """

    labels: dict[tuple[str, str], Labelled] = field(default_factory=dict)
    faults: list[InputError] = field(default_factory=list)
    whole: bool = True
    faulty: set[str] = field(default_factory=set)
    restored: list[str] = field(default_factory=list)
    odd_times: list[str] = field(default_factory=list)
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
    check = _Check(manifest)
    check.take([answer for answer in answers if check.is_of_the_task(answer)], annotators)
    return check.found


class _Check:
    """Checks answers one after the other, and gathers what it finds."""

    def __init__(self, manifest: Manifest):
        self.manifest, self.found = manifest, Checked()
        self._told: set[tuple[str, str]] = set()

    def is_of_the_task(self, answer: Answer) -> bool:
        """Return whether an answer says which pair of the task it is about; what has no label says nothing."""
        if answer.task and answer.task != self.manifest.task:
            other = f"of another task, {shown(answer.task)}, where this folder's is {shown(self.manifest.task)}."
            self._once(answer, answer.task, other, " Import a file with the folder of its own task.")
        elif answer.is_unanswered:
            return False
        elif not answer.pair and (answer.qid is None or answer.docno is None):
            self._once(
                answer, "ids", "no `pair`, and not both `qid` and `docno`.", " Keep what stands beside the texts."
            )
        else:
            return bool(answer.labels) or answer.skipped
        self.found.whole = False
        return False

    def take(self, answers: Sequence[Answer], annotators: Mapping[str, str]) -> None:
        """Take the labels of answers."""
        whose = Whose(self.manifest, annotators, answers)
        self.found.people, self.found.names = whose.taken, whose.names
        for answer in answers:
            pair = self._pair(answer)
            if pair is not None and answer.odd_time is not None:
                self.found.odd_times.append(f"{_where(answer)}: {shown(answer.odd_time)} for {_named(pair)}")
            if pair is not None and not self._is_taken(answer, pair, whose):
                self.found.faulty.add(pair.name)

    def _is_taken(self, answer: Answer, pair: Pair, whose: Whose) -> bool:
        label = None if answer.skipped else self._label(answer, pair)
        if label is None and not answer.skipped:
            return False
        annotator = whose.of(answer)
        if isinstance(annotator, Nobody):
            self._once(answer, annotator.what, *annotator.parts)
            return False
        if self.manifest.named and annotator not in pair.asked:
            what = f"{_named(pair)} was asked of {examples(pair.asked, 6)}, not of {shown(annotator)}."
            advice = (" Take the row out, or say who it was by ", *naming(answer.said[0] if answer.said else "FILE"))
            return self._is_refused(answer, what, *advice)
        if label is None:
            self.found.skipped.setdefault((pair.name, annotator), answer.note)
            return True
        return self._is_kept(Labelled(pair, annotator, label, answer))

    def _pair(self, answer: Answer) -> Pair | None:
        """Return the pair that an answer is about, None where it is none of the task, or another than it says."""
        pair = self.manifest.by_name.get(answer.pair)
        if pair is None:
            by_ids = self.manifest.by_ids.get((_plain(answer.qid), _plain(answer.docno)), [])
            if len(by_ids) == 1:
                return by_ids[0]
            what = f"topic {shown(answer.qid)}, document {shown(answer.docno)} is no pair of the task."
            self._is_refused(answer, what, " Take the row out, or put back its ids as they were written.")
            return None
        for what, stands, was in (("topic", answer.qid, pair.qid), ("document", answer.docno, pair.docno)):
            if stands is None or storable(was) in (stands, _plain(stands)):
                continue
            # what is another pair of the task was rather moved than changed
            other = (
                (storable(pair.qid), _plain(stands)) if what == "document" else (_plain(stands), storable(pair.docno))
            )
            if other not in self.manifest.by_ids and (not stands.strip() or changed_by_sheet(stands, storable(was))):
                self.found.restored.append(f"{_where(answer)}: {shown(stands)} is {what} {shown(was)}")
                continue
            wrong = f"{what} {shown(stands)} stands beside pair {pair.name}, which is {_named(pair)}."
            self._is_refused(
                answer, wrong, " Put back the ids of the row as they were written: cells may have been moved."
            )
            self.found.faulty.add(pair.name)
            return None
        return pair

    def _label(self, answer: Answer, pair: Pair) -> int | None:
        if len(answer.labels) > 1:
            what = f"{_named(pair)} has {count(len(answer.labels), 'label')}, {examples(answer.labels)}."
            advice = " Leave one. A tool gives one where a text may have a single label and annotations are not shared."
            self._is_refused(answer, what, advice)
            return None
        label = self.manifest.scale.read(answer.labels[0])
        if label is None:
            what = f"{_named(pair)} has label {shown(answer.labels[0])}."
            self._is_refused(answer, what, f" A label is one of {self.manifest.scale}, as a number or in words.")
        return label

    def _is_kept(self, new: Labelled) -> bool:
        key = new.pair.name, new.annotator
        old = self.found.labels.get(key)
        if old is not None and old.label != new.label:
            what = f"{shown(new.annotator)} gives {_named(new.pair)} label {new.label}, but {old.label} in "
            return self._is_refused(new.answer, f"{what}{_where(old.answer)}.", " Leave the label that is meant.")
        if old is not None:
            self.found.again.append(f"{_where(new.answer)} and {_where(old.answer)}")
        if old is None or new.answer.time < old.answer.time:
            self.found.labels[key] = new
        return True

    def _is_refused(self, answer: Answer, *parts: Part) -> bool:
        self.found.faults.append(InputError(*parts, place=_where(answer)))
        return False

    def _once(self, answer: Answer, what: str, *parts: Part) -> None:
        """Tell what is the same of each row of a file, once."""
        if (answer.source.name, what) not in self._told:
            self._told.add((answer.source.name, what))
            self._is_refused(answer, *parts)


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
