"""What tests ask of errors and warnings: class, argument, place and number, and rules that every wording keeps."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pt_reuse._errors import InputError, Message, ReuseWarning, in_python

#: arguments that messages call by what they hold
NOUNS = ("path", "source", "folder")

#: what no message says -> what it looks like
NEVER = {
    "two spaces": r"\S  +\S",
    "a space before a mark": r"\w [.,;?](?:$|\s[A-Z])",
    "the same word twice": r"(?<![\w'.-])([a-z]{2,}) \1(?![\w'.])",
    "two full stops": r"(?<!\.)\.\.(?:\s|$)",
    "an object as Python shows it": r"<[\w.]+ (?:object|at|of) |<(?:function|class|module|bound) |\b0x[0-9a-f]{6,}",
    "a value as numpy or pandas shows it": r"\bnp\.\w+\(|\bdtype: |\bTimestamp\(|\bIndex\(\[|\barray\(",
    "1 of several": r"(?<![\w.,:'*/-])1 (?:topics|runs|documents|files|lines|labels|systems|teams|judgments|judges)\b",
    "None in the place of a word": r"(?<!or )(?<!be )(?<!has )(?<!measure )(?<!format )(?<!is )(?<!was )"
    r"\bNone\b(?! takes)",
}
#: how a message ends: a sentence or question, or what another library said behind a colon
ENDS = re.compile(r"[.?]\W*$|: [^.]*$|\n- [^\n]*$")

_NEVER = {name: re.compile(pattern) for name, pattern in NEVER.items()}


def faults_of(text: str) -> list[str]:
    """Return which rules of all messages a text does not keep."""
    # what stands between quotes or behind `got` is the user's
    own = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'x'", text)
    own = re.sub(r"(?m)\b(got|chose) .*?(?=\. [A-Z]|$)", r"\1 x", own)
    return [name for name, pattern in _NEVER.items() if pattern.search(own)]


def check_message(message: Message, hidden: Mapping[str, str]) -> None:
    """Hold an error or a warning to the rules."""
    text = shown(str(message), hidden)
    assert not faults_of(text), f"{faults_of(text)}: {text}"
    assert ENDS.search(text), f"it ends in no full stop or question mark: {text}"
    advice = repr([part for part in message.parts if not isinstance(part, str | Message)])
    assert shown(advice, hidden) == advice, f"advice has a path of this machine: {text}"
    if isinstance(message, InputError):
        named = re.match(r"(\w+) must (?:be|name|hold|map) ", message.worded(in_python, function=False))
        if named and message.argument and message.argument not in NOUNS:
            assert named[1] == message.argument, f"about {message.argument!r}: {text}"


def shown(text: str, hidden: Mapping[str, str]) -> str:
    """Return a text with what stands for what is hidden, the longest first."""
    for secret, stands in sorted(hidden.items(), key=lambda item: -len(item[0])):
        text = text.replace(secret, stands)
    return text


class Messages:
    """What a test is told: held to the rules of all messages."""

    def __init__(self, hidden: dict[str, str]):
        self.hidden = hidden

    def told(self, message: Any) -> None:
        """Hold a message, or the text that a user reads of it, to the rules."""
        if isinstance(message, Message):
            check_message(message, self.hidden)
        else:
            text = shown(str(message), self.hidden)
            assert not faults_of(text), f"{faults_of(text)}: {text}"

    def refused(
        self, call: Callable[..., Any], *, argument: str | None = None, place: str | None = None, **given: Any
    ) -> InputError:
        """Call, expect an InputError about an argument at a place, hold it to the rules, and return it."""
        with pytest.raises(InputError) as caught:
            call(**given)
        error = caught.value
        found = shown(error.place or "", self.hidden)
        assert argument is None or error.argument == argument, f"about {error.argument!r}: {error}"
        assert place is None or found == place, f"at {found!r}: {error}"
        self.told(error)
        return error

    def warned(self, call: Callable[..., Any], *, times: int = 1, **given: Any) -> Any:
        """Call, expect so many ReuseWarnings, hold them to the rules, and return what was returned."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call(**given)
        mine = [w.message for w in caught if issubclass(w.category, ReuseWarning)]
        assert len(mine) == times, [str(message) for message in mine]
        for message in mine:
            assert isinstance(message, Message)
            self.told(message)
        return result
