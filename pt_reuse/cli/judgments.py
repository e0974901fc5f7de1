"""The judgments a command works on: a file, or those of a collection known by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pt_reuse._check import did_you_mean
from pt_reuse._errors import InputError
from pt_reuse.cli.screen import complain

if TYPE_CHECKING:
    from pt_reuse.collections.collection import Collection
    from pt_reuse.data.judgments import Qrels

QRELS_HELP = "a TREC qrels file, or a collection known by name, NAME:WHICH where it has several"


@dataclass(frozen=True)
class JudgmentSource:
    """Where judgments come from."""

    file: str | None
    collection: Collection | None
    which: str | None = None

    @property
    def rel(self) -> int | None:
        """Return the lowest label that is relevant, None where nobody says."""
        return None if self.collection is None else self.collection.rel

    @property
    def name(self) -> str:
        """Return a short name: of the file, or of the collection and which of its judgments."""
        if self.file is not None:
            return Path(self.file).name
        name = "" if self.collection is None else self.collection.name
        return name if self.which is None else f"{name}:{self.which}"

    def read(self) -> Qrels:
        """Read the judgments."""
        import pyterrier as pt

        from pt_reuse.collections.dataset import judgments_of
        from pt_reuse.data.judgments import Qrels, read_qrels

        if self.file is not None:
            return read_qrels(self.file, rel=self.rel)
        if self.collection is None:
            raise InputError("no judgments are named.", argument="qrels")
        if self.which is None:
            return judgments_of(self.collection)
        try:
            frame = pt.get_dataset(f"reuse:{self.collection.name}").get_qrels(self.which)
        except InputError as error:
            raise InputError(error, place=self.name, argument="qrels") from error
        return Qrels(frame[["qid", "docno", "label"]], rel=self.rel)


def judgment_source(text: str, beside: Collection | None = None) -> JudgmentSource:
    """Return where the judgments are that a user names."""
    from pt_reuse.collections.definition import read_definition
    from pt_reuse.collections.registry import collection_names, find_collection, real_name

    if text.endswith(".toml"):
        return JudgmentSource(None, read_definition(text))
    if not os.path.exists(text):
        name, _, which = text.removeprefix("reuse:").partition(":")
        if real_name(name) in collection_names():
            # of the collection whose runs are read it was said already
            known = beside is not None and beside.name == real_name(name)
            return JudgmentSource(None, find_collection(name if known else told_name(name)), which or None)
        near = did_you_mean(name, collection_names())
        raise InputError(f"no such file, and no collection of this name.{near}", place=text, argument="qrels")
    return JudgmentSource(text, beside)


def different_names(sources: Sequence[JudgmentSource]) -> list[str]:
    """Return a name for each of the judgments: of its file or collection, numbered where two have the same."""
    names = [source.name for source in sources]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]


def told_name(name: str) -> str:
    """Return the name that an alias stands for, and say so; any other name as it is."""
    from pt_reuse.collections.registry import real_name

    real = real_name(name)
    if real != name.removeprefix("reuse:").strip("/"):
        complain(f"pt-reuse: {name} is {real}.")
    return real
