"""What errors and warnings say is kept in one place, the folder tests/messages; tests ask for it by their own names.

A test asserts the kind of a message, the argument and the place. Its whole wording is compared with the snapshot of the
test file: a change of words shows there, and only there. To write the snapshots anew, and read the difference:

    PT_REUSE_WRITE_MESSAGES=1 python -m pytest -n0 tests && git diff tests/messages
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pt_reuse._errors import InputError, Message, ReuseWarning

FOLDER = Path(__file__).parents[1] / "messages"
WRITING = bool(os.environ.get("PT_REUSE_WRITE_MESSAGES"))


class Messages:
    """The wordings of one test: what it was told, compared with the snapshot.

    Args:
        file: the snapshot of the test's file.
        test: the name of the test, its parameters included.
        hidden: text -> what stands for it in the snapshot, such as a folder's path.
    """

    def __init__(self, file: Path, test: str, hidden: dict[str, str]):
        self.file, self.test, self.hidden = file, test, hidden
        self._told: list[str] = []

    def told(self, message: Any) -> None:
        """Compare one more message of the test with the snapshot."""
        text = str(message)
        for secret, shown in sorted(self.hidden.items(), key=lambda item: -len(item[0])):
            text = text.replace(secret, shown)
        self._told.append(text)
        if not WRITING:
            kept = self._kept().get(self.test, [])
            n = len(self._told)
            assert kept[n - 1 : n] == [text], f"message {n} of {self.test} is not that of {self.file.name}"

    def refused(
        self, call: Callable[..., Any], *, argument: str | None = None, place: str | None = None, **given: Any
    ) -> InputError:
        """Call, expect an InputError about an argument at a place, and compare its wording with the snapshot."""
        with pytest.raises(InputError) as caught:
            call(**given)
        error = caught.value
        found = error.place or ""
        for secret, shown in self.hidden.items():
            found = found.replace(secret, shown)
        assert argument is None or error.argument == argument, f"about {error.argument!r}: {error}"
        assert place is None or found == place, f"at {found!r}: {error}"
        self.told(error)
        return error

    def warned(self, call: Callable[..., Any], *, times: int = 1, **given: Any) -> Any:
        """Call, expect so many ReuseWarnings, compare their wording with the snapshot, and return what was returned."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call(**given)
        mine = [w.message for w in caught if issubclass(w.category, ReuseWarning)]
        assert len(mine) == times, [str(message) for message in mine]
        for message in mine:
            assert isinstance(message, Message)
            self.told(message)
        return result

    def keep(self) -> None:
        """Write what the test was told into the snapshot, where snapshots are being written."""
        if WRITING and self._told:
            kept = {**self._kept(), self.test: self._told}
            self.file.parent.mkdir(exist_ok=True)
            text = json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False)
            self.file.write_text(text + "\n", encoding="utf-8", errors="surrogateescape")

    def _kept(self) -> dict[str, list[str]]:
        if not self.file.exists():
            return {}
        return json.loads(self.file.read_text(encoding="utf-8", errors="surrogateescape"))
