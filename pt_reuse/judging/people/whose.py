"""Whose: who gave an answer, by what the user says, by what a tool or a row says, and by whom it was written for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pt_reuse._check import did_you_mean, examples, shown
from pt_reuse._errors import Aside, Option, Part
from pt_reuse.judging.people.answers import Answer
from pt_reuse.judging.people.manifest import Manifest
from pt_reuse.judging.people.sheet import restored


@dataclass(frozen=True)
class Nobody:
    """That it is not known who answered.

    Attributes:
        what: in a word, by which it is told once for a file.
        parts: of the message.
    """

    what: str
    parts: tuple[Part, ...]


class Whose:
    """Who gave an answer.

    What the user says of a tool's user or of a file comes first, then the name that a tool or a row gives. A tool's
    user whose name is none of the annotators' is taken for the annotator for whom the rows were written that the user
    answered, where these are those of one annotator, and no other such user answered any of them.

    Args:
        manifest: what was asked.
        given: user of a tool, or name of a file -> annotator.
        answers: all that came back.

    Attributes:
        taken: user of a tool -> annotator for whom the user was taken.
        names: the users and the files that there are.
    """

    def __init__(self, manifest: Manifest, given: Mapping[str, str], answers: Iterable[Answer]):
        self._manifest, self._given = manifest, given
        self.taken: dict[str, str] = {}
        self.names: set[str] = set()
        rows_of: dict[str, set[str]] = {}
        users_of: dict[str, set[str]] = {}
        for answer in answers:
            self.names.update(_names(answer))
            if manifest.named and answer.said and self._known(answer) is None:
                rows_of.setdefault(answer.said[0], set()).add(answer.assigned)
                users_of.setdefault(answer.assigned, set()).add(answer.said[0])
        for user, rows in rows_of.items():
            one = next(iter(rows))
            if len(rows) == 1 and one in manifest.annotators and users_of[one] == {user}:
                self.taken[user] = one

    def of(self, answer: Answer) -> str | Nobody:
        """Return who gave an answer, or why that is not known."""
        known = self._known(answer)
        if known is not None:
            return known
        if not answer.said:
            written = self._manifest.files.get(_base(answer))
            whose = answer.assigned or (written.annotator if written is not None else None)
            fill_in = " Fill in `annotator`, or say whose it is by "
            return whose or Nobody("nobody", ("it does not say who judged.", fill_in, *naming(_base(answer))))
        user = answer.said[0]
        if user in self.taken:
            return self.taken[user]
        people = self._manifest.annotators
        what = f"{shown(user)} is none of the annotators {examples(people, 6)}.{did_you_mean(user, people)}"
        return Nobody(f"user {user}", (what, " Say who it is by ", *naming(user)))

    def _known(self, answer: Answer) -> str | None:
        for name in _names(answer):
            if name in self._given:
                return self._given[name]
        # a file that is called as somebody is, as Doccano's are of an archive that was unpacked
        stem = answer.source.stem
        said = answer.said or ((stem,) if stem in self._manifest.annotators else ())
        for name in said:
            for form in (name, restored(name)):
                if not self._manifest.named or form in self._manifest.annotators:
                    return form
        return None


def naming(name: str) -> tuple[Part, ...]:
    """Return the advice to say who somebody is that a tool or a file calls by a name."""
    return Option("annotators", ...), Aside(str({name: "NAME"})), "."


def _names(answer: Answer) -> tuple[str, ...]:
    """Return by what names a user may say whose an answer is, the one that says most first."""
    return (*answer.said, answer.source.name, _base(answer), answer.source.stem)


def _base(answer: Answer) -> str:
    return answer.source.name.rpartition(", ")[2].rpartition("/")[2]
