"""Session: a folder in which the answers of a judge are kept, so that judging can stop and go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pt_reuse._check import shown, told
from pt_reuse._errors import InputError, arguments_as
from pt_reuse._files import user_path
from pt_reuse.judging.field_mark import FieldMark
from pt_reuse.judging.journal import Heading, Journal, open_journal, read_journal
from pt_reuse.judging.verdicts import Verdict

#: the file of a session's folder
JOURNAL = "journal.jsonl"
#: of the lines of a session; to be raised when what is in them, or how they are replayed, changes
FORMAT = 1


@dataclass(frozen=True)
class Terms:
    """What decides which documents are asked about, and must be the same when a session goes on.

    Attributes:
        field: the lists that are judged.
        settings: name -> value, as JSON holds them: strategy, seed, depth, order, ...
    """

    field: FieldMark
    settings: Mapping[str, Any]

    def heading(self, kind: str) -> Heading:
        """Return the first line of the session's file."""
        return Heading(kind, FORMAT, {**self.settings, "field": self.field.to_dict()})

    def differences(self, kept: Mapping[str, Any]) -> list[str]:
        """Return in words what was otherwise when the session was begun; `kept` is what its heading has."""
        changed = [name for name, value in self.settings.items() if kept.get(name) != value]
        if changed:
            return [f"{name} was {shown(kept.get(name))} and is now {shown(self.settings[name])}" for name in changed]
        return FieldMark.read(kept["field"]).differences(self.field)


class Session:
    """The answers of a judge so far, and where further ones are kept; made by :func:`open_session`.

    Attributes:
        answers: topic -> those that were there when the session was opened, in their order.
    """

    def __init__(self, answers: Mapping[str, Sequence[Verdict]], journal: Journal | None):
        self.answers, self._journal = answers, journal

    def keep(self, answers: Sequence[Verdict]) -> None:
        """Keep answers; when this returns they are on the disk."""
        if self._journal is not None:
            records = [_record(answer) for answer in answers]
            with arguments_as(path="session"):
                self._journal.append(*records)


def _record(answer: Verdict) -> dict[str, Any]:
    """Return an answer as a line of the session's file has it."""
    record = answer.to_dict()
    try:
        # JSON makes texts of numbers that are keys, and lists of tuples within others
        kept = Verdict.read(json.loads(json.dumps(record, allow_nan=False))) == answer
    except (TypeError, ValueError):
        kept = False
    if not kept:
        raise InputError(
            f"the judge says something of a label that a session cannot keep: {told(record['more'])}. Let it say "
            "texts and finite numbers alone.",
            argument="judge",
        )
    return record


def checked_folder(session: Any) -> Path | None:
    """Return a user's ``session=`` as a path, or say that it is none."""
    if session is None:
        return None
    given = os.fspath(session) if isinstance(session, str | os.PathLike) else None
    if not isinstance(given, str) or not given or "\0" in given:
        raise InputError(f"session must be a folder, got {told(session)}.", argument="session")
    folder = user_path(given)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file. Give a folder; it is made if missing.", argument="session")
    return folder


@contextmanager
def open_session(folder: Path | None, kind: str, terms: Terms) -> Iterator[Session]:
    """Open the session of a folder, or begin it; None keeps nothing.

    Args:
        folder: where.
        kind: what is judged, as a message says it.
        terms: what must be the same when the session goes on.

    Raises:
        InputError: a session of another field, begun otherwise, or written in another format; a damaged one; one that
            somebody else has open.
    """
    if folder is None:
        yield Session({}, None)
        return
    path, heading = folder / JOURNAL, terms.heading(kind)
    with arguments_as(path="session"):
        try:
            journal = open_journal(path, heading)
        except InputError:
            kept = _kept_heading(path, heading, terms)
            if kept is None:
                raise
            journal = open_journal(path, kept)
    with journal:
        answers: dict[str, list[Verdict]] = {}
        for record in journal.records:
            answer = Verdict.read(record)
            answers.setdefault(answer.qid, []).append(answer)
        yield Session(answers, journal)


def _kept_heading(path: Path, heading: Heading, terms: Terms) -> Heading | None:
    """Return a heading that says the same of runs in another order, None where that is not what is wrong.

    Raises:
        InputError: the session was begun otherwise than it is to go on.
    """
    found = None
    with suppress(InputError):
        found = read_journal(path).heading
    if found is None or (found.kind, found.format) != (heading.kind, heading.format):
        return None
    differences = terms.differences(found.belongs)
    if differences:
        raise InputError(
            f"the session in {path.parent} was begun otherwise: {'; '.join(differences)}. Give what it was begun with, "
            "or another folder.",
            argument="session",
        ) from None
    return None if found.belongs == heading.belongs else found
