"""What tests ask of errors and warnings: class, argument, place and number, and rules and forms for what they say.

The wording is free: each message that a test sees is held to the rules, and each refusal has one of the forms below. A
refusal of another form is either worded as the others are, or its form is added here, where a review sees it.
"""

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

#: the forms of refusals, the most frequent first
FORMS = {
    "what a value must be": r"\bmust (?!not\b)\w+",
    "what a value may be": r"\bis one of\b",
    "what a value must not be": r"\bmust not \w+",
    "what was expected": r"\bexpected\b|\bExpected\b",
    "what was given in its place": r"\bgot \S",
    "one of several that are not the name": r"\bnot among\b|\bno \w+ .+ among\b|\bnone of\b",
    "a file that is not there": r"\bno such (?:file|folder)\b|\bwithout files\b",
    "something that is not known": r"\bunknown \w+|\bno such\b|\bno collection\b|\bnot known\b",
    "a name of nobody": r"\bnames? (?:labels|none|no|'|judges?)",
    "what did not come out": r"\bcould not\b|\bcould be computed\b|\bfailed\b",
    "what stands twice": r"\bmore than once\b|\btwice\b|\bagain\b|\bseveral\b|\btwo \w+",
    "two that exclude each other": r"\b(?:in|call) both\b|\bboth\b|\beither\b|\bnot together\b",
    "what cannot be": r"\bcannot\b|\bcan be\b",
    "two without anything in common": r"\bin common\b",
    "what is missing": r"\bwithout\b|\black\b|\blacks\b|\bmissing\b|\bempty\b|\bleft\b",
    "what is needed": r"\bneeds?\b|\btakes?\b|\bhas to\b",
    "what is not there": r"\b(?:has|have|had|holds?|is|are|gives?|there is|there are) (?:no|none|nothing)\b",
    "what there is none of": r"\b[Nn]o \w+|\b[Nn]othing\b|\bnone\b",
    "what was not computed": r"\bwas not\b|\bwere not\b",
    "what is not so": r"\b(?:is|are) not\b|: not an? |\bdoes not\b|\bdo not\b|, not\b",
    "what there is instead": r"\bthere (?:is|are)\b",
    "faults of several files": r"\bare at fault\b",
    "what ties": r"\bruns tie\b",
    "what is damaged": r"\bdamaged\b|\bcut off\b|\bends in the middle\b",
    "what is another than it was": r"\bchanged\b|\banother\b|\bother\b|\bdiffer",
    "too many or too few": r"\bnot as many\b|\b(?:more|fewer|longer|less|larger|deeper) .*than\b|\bonly\b|\bat most\b",
    "the longest that can be": r"\blongest\b|\blargest\b|\btoo (?:long|deep|large|few|many)\b",
    "a mark that is read otherwise": r"\bNUL byte\b|\bcarriage return\b|\bUTF-8\b|\bwhite space\b",
    "what a column or a line holds": r"\bholds?\b|\bstands?\b",
    "what judgments count": r"\bcounts? \w+",
    "what somebody else may be doing": r"\banother (?:call|process)\b",
    "two that do not fit": r"\bhas the shape\b|\bis given\b",
    "a version": r"\bversion\b",
    "a package to install": r"`pip install ",
    "an option without what it belongs to": r"\bsays how\b|\bis (?:of|for)\b|\bare (?:of|for)\b",
    "a function that was called": r"\breturned\b",
    "what is neither here nor there": r"\bneither\b",
    "an order that was another": r"\bin the order\b",
    "what to do": r"(?:^|[.:;,] |\n)(?:[Gg]ive|[Ss]ay|[A-Z][a-z]+) (?:\w|-)",
}
_FORMS = [re.compile(form, re.DOTALL) for form in FORMS.values()]
_NEVER = {name: re.compile(pattern) for name, pattern in NEVER.items()}


def faults_of(text: str) -> list[str]:
    """Return which rules of all messages a text does not keep."""
    # what stands between quotes or behind `got` is the user's
    own = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'x'", text)
    own = re.sub(r"(?m)\b(got|chose) .*?(?=\. [A-Z]|$)", r"\1 x", own)
    return [name for name, pattern in _NEVER.items() if pattern.search(own)]


def check_message(message: Message, hidden: Mapping[str, str]) -> None:
    """Hold an error or a warning to the rules; an error to the forms, too.

    Args:
        message: what a user reads.
        hidden: text -> what stands for it, such as the folder of a test, which no advice holds.
    """
    text = shown(str(message), hidden)
    assert not faults_of(text), f"{faults_of(text)}: {text}"
    assert ENDS.search(text), f"it ends in no full stop or question mark: {text}"
    advice = repr([part for part in message.parts if not isinstance(part, str | Message)])
    assert shown(advice, hidden) == advice, f"advice has a path of this machine: {text}"
    if isinstance(message, InputError):
        assert any(form.search(text) for form in _FORMS), f"a form that parts/messages.py does not have: {text}"
        named = re.match(r"(\w+) must (?:be|name|hold|map) ", message.worded(in_python, function=False))
        if named and message.argument and message.argument not in NOUNS:
            assert named[1] == message.argument, f"about {message.argument!r}: {text}"


def shown(text: str, hidden: Mapping[str, str]) -> str:
    """Return a text with what stands for what is hidden, the longest first."""
    for secret, stands in sorted(hidden.items(), key=lambda item: -len(item[0])):
        text = text.replace(secret, stands)
    return text


class Messages:
    """What a test is told: held to the rules of all messages.

    Args:
        hidden: text -> what stands for it in a place, such as a folder's path.
    """

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
