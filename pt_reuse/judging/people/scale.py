"""Scale: the labels that people choose from, with the word that stands for each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pt_reuse._check import listed, shown, told
from pt_reuse._errors import Argument, InputError
from pt_reuse.formats.grades import LABELS

#: the scale where nobody gives another
DEFAULT = {0: "not relevant", 1: "relevant"}
#: what means "in the pool, not judged" in judgments, and so cannot be what somebody says
_UNJUDGED = -1
#: a number, and perhaps its word behind it: "1", "1.0", "1: relevant", "1 = relevant"
_NUMBERED = re.compile(r"(-?\d{1,5})(?:[.,]0+)?(?:\s*[-:=.)–—]?\s*(\D.*))?", re.DOTALL)


@dataclass(frozen=True)
class Scale:
    """The labels that people may give.

    Attributes:
        words: label -> its word, lowest label first.
    """

    words: Mapping[int, str]

    @classmethod
    def of(cls, labels: Any) -> Scale:
        """Return the scale that a user gives as label -> word.

        Raises:
            InputError: fewer than two labels, a label that none can be, words that are none or not told apart.
        """
        if not isinstance(labels, Mapping) or len(labels) < 2:
            raise _refused("must be a dict of at least two labels and their words", told(labels))
        words: dict[int, str] = {}
        for label, word in labels.items():
            if isinstance(label, bool) or not isinstance(label, int | np.integer):
                raise _refused("must have whole numbers as labels", told(label))
            if not LABELS[0] <= label <= LABELS[1] or label == _UNJUDGED:
                raise _refused(
                    f"must have labels from {LABELS[0]} to {LABELS[1]}, and not -1, which means pooled and not judged",
                    str(label),
                )
            if not isinstance(word, str) or not word.strip() or not word.isprintable():
                raise _refused(f"must have a word, on one line, for label {label}", told(word))
            if _NUMBERED.fullmatch(word.strip()):
                raise _refused(f"must have words that are no numbers, for label {label}", told(word))
            words[int(label)] = " ".join(word.split())
        alike = [word for word in words.values() if sum(_plain(word) == _plain(other) for other in words.values()) > 1]
        if alike:
            raise _refused("must have a different word for each label", f"{shown(alike[0])} more than once")
        return cls(dict(sorted(words.items())))

    @cached_property
    def _by_word(self) -> dict[str, int]:
        return {_plain(word): label for label, word in self.words.items()}

    def read(self, said: Any) -> int | None:
        """Return the label that somebody's answer means, None where it is none of the scale.

        Args:
            said: a label as a number or a text, as a spreadsheet may have changed it (``1.0``), its word in capitals or
                not, or both (``1: relevant``).
        """
        if isinstance(said, bool) or not isinstance(said, str | int | float):
            return None
        if not isinstance(said, str):
            return int(said) if said in self.words else None
        by_word = self._by_word
        if _plain(said) in by_word:
            return by_word[_plain(said)]
        found = _NUMBERED.fullmatch(said.strip())
        if found is None or int(found[1]) not in self.words:
            return None
        label = int(found[1])
        return label if found[2] is None or by_word.get(_plain(found[2])) == label else None

    def __str__(self) -> str:
        return listed([f"{label} ({word})" for label, word in self.words.items()])


def _plain(word: str) -> str:
    return " ".join(word.split()).casefold()


def _refused(requirement: str, got: str) -> InputError:
    return InputError(Argument("labels"), f" {requirement}, such as {DEFAULT}, got {got}.", argument="labels")
