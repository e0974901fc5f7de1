"""ShardNumber: which of several shares of a study's topics."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pt_reuse._errors import Argument, InputError

#: more are hardly meant, and a folder has a file for each
MOST = 1_000_000
_TEXT = re.compile(r"([0-9]{1,7})/([0-9]{1,7})")


@dataclass(frozen=True, order=True)
class ShardNumber:
    """Which share of how many, counted from 1.

    Example:
        >>> ShardNumber.parse("3/40").file_name
        'shard-03-of-40.ptr'
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> ShardNumber:
        """Return the shard of a text such as ``3/40``.

        Raises:
            InputError: the text is nothing of the kind.
        """
        found = _TEXT.fullmatch(text)
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of <= MOST:
            said = f" must be which share of how many, such as 3/40, from 1/40 to 40/40, got {text!r}."
            raise InputError(Argument("shard"), said, argument="shard")
        return cls(number, of)

    @property
    def file_name(self) -> str:
        """Return the name of its file."""
        width = len(str(self.of))
        return f"shard-{self.number:0{width}}-of-{self.of}.ptr"

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
