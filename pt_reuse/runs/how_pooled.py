"""How a collection pooled its runs: in which order, and how deep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pt_reuse._check import positive
from pt_reuse._errors import InputError, Option
from pt_reuse.runs.ordering import check_order_or_none


@dataclass(frozen=True)
class HowPooled:
    """How the pool of a field was made; one that is made has been checked.

    Attributes:
        order: the order in which documents were taken; None where it is that of scoring, as far as is known.
        depth: documents per run and topic; None where nobody says.
    """

    order: str | None = None
    depth: int | None = None

    def __post_init__(self) -> None:
        check_order_or_none("pool_order", self.order)
        if self.depth is not None:
            positive("pool_depth", self.depth, "documents per run and topic")

    def __or__(self, other: HowPooled) -> HowPooled:
        """Return what either says; raise where they say two things."""
        if self.order and other.order and self.order != other.order:
            raise _two("pool_order", f"made in the order {self.order!r}", f"in {other.order!r}")
        if self.depth and other.depth and self.depth != other.depth:
            raise _two("pool_depth", f"made to depth {self.depth:,}", f"to {other.depth:,}")
        return HowPooled(self.order or other.order, self.depth or other.depth)

    def in_words(self, order: str) -> Iterator[str]:
        """Yield what the repr of a field in some ranking order says of its pool."""
        if self.order not in (None, order):
            yield f"pool_order={self.order!r}"
        if self.depth is not None:
            yield f"pool_depth={self.depth}"


#: nobody says
UNKNOWN = HowPooled()


def _two(option: str, mine: str, theirs: str) -> InputError:
    return InputError(
        f"the pool of one field was {mine}, that of the other {theirs}. Give both the same ",
        Option(option, ...),
        ".",
        argument="other",
    )
