"""What was computed for a figure, and why where nothing was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

from pt_reuse._errors import Advice, Argument, Aside, Attribute, Call, Message, Option, Part, in_python, worded


@dataclass(frozen=True)
class Reason:
    """Why there is no number.

    Attributes:
        parts: texts, and advice between them, as in a :class:`~pt_reuse._errors.Message`.
    """

    parts: tuple[str | Option | Call | Argument | Attribute | Aside, ...]

    def worded(self, advice: Callable[[Advice], str]) -> str:
        """Return the reason with advice put into words by a function."""
        return worded(self.parts, advice)

    def __str__(self) -> str:
        return self.worded(in_python)


def because(*parts: Part) -> Reason:
    """Return a reason made of texts, advice, and what errors say."""
    return Reason(tuple(_flat(parts)))


def _flat(parts: Iterable[Part]) -> Iterator[str | Option | Call | Argument | Attribute | Aside]:
    for part in parts:
        if isinstance(part, Message):
            yield from [f"{part.place}: "] if part.place else []
            yield from _flat(part.parts)
        else:
            yield part


class NotComputedError(Exception):
    """None of a group's figures can be computed from what is here."""

    def __init__(self, reason: Reason):
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Computed:
    """What was computed for the figures of a group; a name that is in neither names nothing.

    Attributes:
        numbers: name -> number.
        reasons: name -> why it has none.
    """

    numbers: Mapping[str, float]
    reasons: Mapping[str, Reason] = field(default_factory=dict)


def by_name(values: pd.Series) -> dict[str, float]:
    """Return the numbers of a series by the texts of its index."""
    return {str(name): float(value) for name, value in values.items()}
