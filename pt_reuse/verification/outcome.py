"""What came out for a published figure: the number, whether it is as published, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from pt_reuse.verification.computed import Reason
from pt_reuse.verification.conventions import Convention
from pt_reuse.verification.published import PublishedFigure


class Status(Enum):
    """What came out for a figure."""

    EQUAL = "equal"
    UNEQUAL = "unequal"
    #: unequal, and what was computed is what is known to come out
    KNOWN = "known to differ"
    #: nothing in the field or on record has the name: an error in the figures or in the field, not a gap
    NAMELESS = "of no such name"
    NOT_COMPUTED = "not computed"


#: a figure that is not as published, for whatever reason
DIFFERING = (Status.UNEQUAL, Status.KNOWN, Status.NAMELESS)


@dataclass(frozen=True)
class Verdict:
    """What is said of a figure.

    Attributes:
        status: how it compares with what was published.
        reason: why there is no number; None where there is one.
    """

    status: Status
    reason: Reason | None = None


@dataclass(frozen=True)
class Outcome:
    """What came out for one value of a figure.

    Attributes:
        figure: the group it belongs to.
        name: the run, team or statistic.
        verdict: what is said of it.
        convention: the one that the number was computed under; None where there is no number.
        computed: the number; NaN where there is none.
    """

    figure: PublishedFigure
    name: str
    verdict: Verdict
    convention: Convention | None = None
    computed: float = np.nan

    @property
    def difference(self) -> float:
        """Return computed - published, NaN where there is no number."""
        return self.computed - self.figure.values[self.name].number

    @property
    def note(self) -> str:
        """Return why there is no number, or why it is known to differ."""
        if self.verdict.reason is not None:
            return f"not computed: {self.verdict.reason}"
        return self.figure.differs if self.verdict.status is Status.KNOWN else ""

    def row(self) -> dict[str, Any]:
        """Return the row of a verification's table."""
        value = self.figure.values[self.name]
        # None, True and False: neither a flag nor a number
        equal = None if self.verdict.status is Status.NOT_COMPUTED else self.verdict.status is Status.EQUAL
        return {
            "what": self.figure.what,
            "name": self.name,
            "published": value.number,
            "computed": self.computed,
            "equal": equal,
            "known": self.verdict.status is Status.KNOWN,
            "difference": self.difference,
            "unit": value.unit,
            "convention": "" if self.convention is None else self.convention.label,
            "source": self.figure.source,
            "note": self.note,
        }
