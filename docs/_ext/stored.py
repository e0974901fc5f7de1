"""Outputs that an earlier build made where the data was: kept under docs/outputs, compared where the data is here."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from execution import Output

#: a build with this set writes the outputs anew
REFRESH = "PT_REUSE_REFRESH_DOCS"
_PARTS = ("printed", "warned", "text", "html", "table")
_AS_NEAR = 2e-3  # of numbers in a figure


class StoredError(Exception):
    """A stored output is missing, is of other code, or is not what comes out now."""


@dataclass
class Stored:
    """The outputs of one page.

    Attributes:
        folder: where they are, a file a block.
        written: the values that this build has written.
    """

    folder: Path
    written: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def refreshing(self) -> bool:
        """Return whether outputs are written anew."""
        return os.environ.get(REFRESH) == "1"

    def output(self, name: str, digest: str) -> Output:
        """Return the output of a block; an error where it is of other code than the page has now."""
        found = self._read(f"{name}.json")
        if found is None or found.pop("code") != digest:
            why = "there is no stored output" if found is None else "the code has changed since the output was stored"
            raise StoredError(f"{why} of {name!r}; {_ADVICE}")
        files = [self.folder / file for file in found.pop("figures", [])]
        drawn = tuple(found.pop("drawn", []))
        warned = tuple(found.pop("warned", []))
        return Output(**found, warned=warned, figures=tuple(file.read_bytes() for file in files), drawn=drawn)

    def keep(self, name: str, digest: str, output: Output) -> None:
        """Compare a fresh output with the stored one, or write it where outputs are written anew."""
        if self.refreshing:
            self._write(name, digest, output)
            return
        stored = self.output(name, digest)
        for part in _PARTS:
            fresh, before = getattr(output, part), getattr(stored, part)
            if fresh != before:
                raise StoredError(f"{name!r} now shows another {part}:\n{fresh}\nand showed\n{before}\n{_ADVICE}")
        if not alike(list(output.drawn), list(stored.drawn)):
            raise StoredError(f"{name!r} now draws other figures than are stored; {_ADVICE}")

    def value(self, expression: str, digest: str) -> str:
        """Return the stored text of an expression in a sentence."""
        found = (self._read("values.json") or {}).get(digest, {}).get(expression)
        if found is None:
            raise StoredError(f"there is no stored value of {expression!r}; {_ADVICE}")
        return str(found)

    def keep_value(self, expression: str, digest: str, text: str) -> None:
        """Compare a fresh value with the stored one, or write it where outputs are written anew."""
        if self.refreshing:
            self.written.setdefault(digest, {})[expression] = text
            self._save("values.json", self.written)
        elif self.value(expression, digest) != text:
            raise StoredError(f"{expression!r} is now {text}, and was {self.value(expression, digest)}; {_ADVICE}")

    def _write(self, name: str, digest: str, output: Output) -> None:
        kept: dict[str, Any] = {"code": digest}
        kept |= {part: value for part in _PARTS if (value := getattr(output, part))}
        if output.figures:
            kept["figures"] = [f"{name}-{n}.png" for n in range(1, len(output.figures) + 1)]
            kept["drawn"] = list(output.drawn)
        self._save(f"{name}.json", kept)
        for file, content in zip(kept.get("figures", []), output.figures, strict=True):
            (self.folder / file).write_bytes(content)

    def _read(self, file: str) -> dict[str, Any] | None:
        path = self.folder / file
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def _save(self, file: str, content: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = [f" {json.dumps(key)}: {_dumped(value)}" for key, value in content.items()]
        (self.folder / file).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


_ADVICE = f"build where the data is with {REFRESH}=1 to write it anew"


def _dumped(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def alike(one: Any, other: Any) -> bool:
    """Return whether two lists of words and numbers are the same, numbers but for the last digits."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_AS_NEAR, abs_tol=_AS_NEAR)
    return bool(one == other)
