"""What runs, judgments, pools and scores have in common: each can be written as an artifact of PyTerrier."""

from __future__ import annotations

import json
import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

import pyterrier as pt

from pt_reuse._files import TREE, checked_path, read_file, temporary
from pt_reuse._saving import CONTENTS, digests_of
from pt_reuse.errors import InputError, shown

#: what PyTerrier reads of every artifact, and in it the digest of the file that has the digests of all others
META, DIGEST = "pt_meta.json", "digest"


class Shareable:
    """Something that can be written as an artifact."""

    #: under which type PyTerrier knows the artifact
    _artifact_type: ClassVar[str]

    def to_artifact(
        self,
        folder: str | Path,
        *,
        title: str | None = None,
        description: str | None = None,
        source: str | None = None,
        license: str | None = None,
    ) -> pt.Artifact:
        """Write it to a new folder, as an artifact of PyTerrier: ``run_set``, ``qrels``, ``pool`` or ``scores``.

        ``pt.Artifact.load(folder).content`` has it back, and so have ``from_hf``, ``from_zenodo`` and ``from_url`` once
        it was shared: ``artifact.build_package()`` makes one file, ``to_hf`` and ``to_zenodo`` upload it, with a card
        of its `title`, `description`, `source` (such as a paper), `license` (such as ``"cc-by-4.0"``) and conventions.
        Runs that NIST gives to people who sign its agreement are neither packed nor uploaded, unless
        ``artifact.allowed(who)`` says who allows it.

        Raises:
            InputError: a folder that exists or cannot be written to, a run whose name cannot be a file's.

        Example:
            >>> import pyterrier as pt, pt_reuse as ptr, tempfile
            >>> field = ptr.demo.simulate_field(seed=7, n_topics=3)
            >>> folder = tempfile.mkdtemp() + "/field"
            >>> artifact = field.runs.to_artifact(folder, title="A simulated field", license="cc0-1.0")
            >>> pt.Artifact.load(folder).content.names == field.runs.names
            True
        """
        # as PyTerrier itself finds the class of an artifact
        (entry,) = entry_points(group="pyterrier.artifact", name=f"{self._artifact_type}.reuse")
        kind = entry.load()
        path = checked_path(folder).absolute()
        if path.exists():
            raise InputError(f"{path} exists. Give a new folder.", argument="folder")
        card = {"title": title, "description": description, "source": source, "license": license}
        odd = [name for name, text in card.items() if not isinstance(text, str | None)]
        if odd:
            raise InputError(f"{odd[0]} must be a text, got {shown(card[odd[0]])}.", argument=odd[0])
        settings = {name: str(value) for name, value in (getattr(self, "settings", None) or {}).items()}
        meta = {"type": kind.ARTIFACT_TYPE, "format": kind.ARTIFACT_FORMAT, "package_hint": kind.ARTIFACT_PACKAGE_HINT}
        meta["card"] = {**card, "what": " ".join(repr(self).split()), "settings": settings}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # what a writer leaves that was killed, the next one beside it sweeps
            with temporary(path.parent, of_files=True) as stage:
                part = stage / TREE
                part.mkdir()
                kind.write(self, part)
                meta |= {DIGEST: digests_of({CONTENTS: read_file(part / CONTENTS)})[CONTENTS]}
                (part / META).write_bytes(as_json(meta))
                os.replace(part, path)
        except OSError as error:
            raise InputError(f"{path} cannot be written to: {error.strerror or error}.", argument="folder") from error
        return kind(path)


def as_json(value: Any) -> bytes:
    """Return a value as PyTerrier's file about an artifact has it."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")
