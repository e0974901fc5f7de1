"""Parts of a corpus: which documents each has, and which parts are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, examples, fraction, positive, told
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.arrays.stratified import share_of
from pt_reuse.studies.corpus_parts.sources import BY_CHANCE, Sources

#: shares of a mixed part where nobody says
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


class How(Enum):
    """How a corpus is split."""

    SOURCE = "source"
    RANDOM = "random"
    MIXED = "mixed"


@dataclass(frozen=True)
class Part:
    """A part of a corpus.

    Attributes:
        name: of the part.
        draw: which of the repeated draws it belongs to, from 1.
        source: where its documents come from, all or a share of them; None where that is left to chance.
        share: of its documents that come from the source; None where nobody fixed it.
        documents: (n,) those drawn, as positions among the documents of the corpus; without what is added to all parts.
    """

    name: str
    draw: int
    source: str | None
    share: float | None
    documents: NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """What pairs of parts have in common over which agreement is averaged; None where it is not fixed.

    Attributes:
        source: of the part that is mixed, and of the other one.
        share: of the mixed part's documents that come from it.
        size: documents drawn for the smaller part.
        other_size: documents drawn for the larger part.
    """

    source: str | None = None
    share: float | None = None
    size: int | None = None
    other_size: int | None = None


@dataclass(frozen=True)
class PairOfParts:
    """Two parts that are compared, as positions among the parts, and the setting that they belong to."""

    first: int
    second: int
    setting: Setting


@dataclass(frozen=True)
class Split:
    """All parts, and which of them are compared."""

    parts: list[Part]
    pairs: list[PairOfParts]


@dataclass(frozen=True)
class Drawing:
    """How parts are drawn, as a user says it; one that is made has been checked.

    Attributes:
        how: the kind of split.
        sizes: of parts, in documents (whole numbers) or as shares of all documents to be split; none for those of the
            sources, or the largest that can be drawn for mixed parts.
        shares: of a mixed part's documents that come from one source.
        repeats: how often parts are drawn.
        seed: of the draws.
    """

    how: How
    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    repeats: int
    seed: int

    @property
    def needs_sources(self) -> bool:
        """Return whether parts hang on the sources of documents."""
        return self.how is not How.RANDOM or not self.sizes

    @property
    def draws(self) -> range:
        """Return the draws, from 1; where nothing is left to chance there is one."""
        once = self.how is How.SOURCE and not self.sizes
        return range(1, 2 if once else self.repeats + 1)

    def split(self, sources: Sources) -> Split:
        """Return the parts.

        Raises:
            InputError: one source where several are needed, or sizes that are more than there is.
        """
        if self.needs_sources and len(sources.names) < 2:
            raise InputError(
                f"all documents come from one source, {examples(sources.names)}, so there is no part to compare it "
                "with. Give a rule by ",
                Option("sources", ...),
                ", or ",
                *BY_CHANCE,
                ".",
                argument="sources",
            )
        members = [np.flatnonzero(sources.code == s) for s in range(len(sources.names))]
        draw = {How.SOURCE: self._by_source, How.RANDOM: self._at_random, How.MIXED: self._mixed}[self.how]
        parts: list[Part] = []
        pairs: list[PairOfParts] = []
        for number in self.draws:
            draw(_Draw(number, np.random.default_rng([self.seed, number]), parts, pairs), sources.names, members)
        return Split(parts, pairs)

    def _by_source(self, to: _Draw, names: Sequence[str], members: Sequence[NDArray[np.int64]]) -> None:
        if not self.sizes:
            at = [to.add(name, mine, name) for name, mine in zip(names, members, strict=True)]
            to.compare(combinations(at, 2))
            return
        sizes = self._numbers(sum(map(len, members)), most=dict(zip(names, map(len, members), strict=True)))
        drawn = [
            (n, s, to.add(f"{name} {n}", mine[order[:n]], name))
            for s, (name, mine) in enumerate(zip(names, members, strict=True))
            for order in [to.random.permutation(len(mine))]
            for n in sizes
        ]
        for (n, s, first), (m, t, second) in combinations(drawn, 2):
            if s != t:
                to.compare([(first, second)], Setting(size=min(n, m), other_size=max(n, m)))

    def _at_random(self, to: _Draw, names: Sequence[str], members: Sequence[NDArray[np.int64]]) -> None:
        everything = np.concatenate(members)
        shuffled = everything[to.random.permutation(len(everything))]
        if not self.sizes:
            ends = np.cumsum([len(mine) for mine in members])
            at = [
                to.add(f"like {name}", shuffled[end - len(mine) : end])
                for name, mine, end in zip(names, members, ends.tolist(), strict=True)
            ]
            to.compare(combinations(at, 2))
            return
        sizes = self._numbers(len(shuffled), most={"half of all documents": len(shuffled) // 2})
        # one side grows from the front and the other from the back, so that no document is in both
        front = [(n, to.add(f"{n} front", shuffled[:n])) for n in sizes]
        back = [(n, to.add(f"{n} back", shuffled[len(shuffled) - n :])) for n in sizes]
        for n, first in front:
            for m, second in back:
                to.compare([(first, second)], Setting(size=min(n, m), other_size=max(n, m)))

    def _mixed(self, to: _Draw, names: Sequence[str], members: Sequence[NDArray[np.int64]]) -> None:
        total = sum(map(len, members))
        most = {
            f"{name}, of which two parts are drawn": min(len(mine) // 2, total - len(mine))
            for name, mine in zip(names, members, strict=True)
        }
        sizes = self._numbers(total, most=most) if self.sizes else [min(most.values())]
        if not sizes[0]:
            least = min(most, key=lambda name: most[name])
            raise InputError(f"too few documents to draw parts from: {least}.", argument="sources")
        for s, name in enumerate(names):
            others = np.concatenate([mine for t, mine in enumerate(members) if t != s])
            mine = members[s][to.random.permutation(len(members[s]))]
            others = others[to.random.permutation(len(others))]
            for n in sizes:
                sized = f" of {n}" if len(sizes) > 1 else ""
                pure = to.add(f"{name}{sized}", mine[len(mine) - n :], name, 1.0)
                for share in self.shares:
                    k = share_of(share, n)
                    drawn = np.concatenate([mine[:k], others[: n - k]])
                    mixed = to.add(f"{name} {100 * share:g} %{sized}", drawn, name, share)
                    to.compare([(pure, mixed)], Setting(name, share, n, n))

    def _numbers(self, total: int, most: dict[str, int]) -> list[int]:
        """Return the sizes in documents, ascending, or say which of them is more than there is."""
        asked = [(size, size if isinstance(size, int) else share_of(size, total)) for size in self.sizes]
        least = min(most, key=lambda name: most[name])
        for size, n in asked:
            if not 1 <= n <= most[least]:
                raise InputError(
                    Argument("sizes"),
                    f" {told(size)} of {count(total, 'document')} is {count(n, 'document')}; there must be at least "
                    f"1, and at most {most[least]:,} ({least}).",
                    argument="sizes",
                )
        return sorted({n for _, n in asked})


@dataclass(frozen=True)
class _Draw:
    """One draw, which adds its parts and pairs to those of all draws."""

    number: int
    random: np.random.Generator
    parts: list[Part]
    pairs: list[PairOfParts]

    def add(
        self, name: str, documents: NDArray[np.int64], source: str | None = None, share: float | None = None
    ) -> int:
        """Add a part and return its position; the documents of a part ascend."""
        self.parts.append(Part(name, self.number, source, share, np.sort(documents)))
        return len(self.parts) - 1

    def compare(self, pairs: Iterable[tuple[int, int]], setting: Setting | None = None) -> None:
        """Have pairs of parts compared."""
        self.pairs.extend(PairOfParts(first, second, setting or Setting()) for first, second in pairs)


def checked_drawing(*, how: Any, sizes: Any, shares: Any, repeats: Any, seed: Any) -> Drawing:
    """Return how a user wants parts drawn.

    Args:
        how: ``"source"``, ``"random"`` or ``"mixed"``.
        sizes: of parts, one or several, whole numbers of documents or shares; None for none.
        shares: of mixed parts, one or several; None for the quarters from 0 to 1.
        repeats: how often to draw.
        seed: of the draws.

    Raises:
        InputError: one of them is nothing of the kind, or shares for parts that are not mixed.
    """
    kind = How(choice("how", how, [one.value for one in How]))
    if shares is not None and kind is not How.MIXED:
        raise InputError(
            Argument("shares"), " are those of mixed parts. Give ", Option("how", "mixed"), ".", argument="shares"
        )
    asked = () if sizes is None else tuple(_numbers_given("sizes", sizes))
    for size in asked:
        if not (size >= 1 if isinstance(size, int) else 0 < size <= 1):
            raise InputError(
                Argument("sizes"),
                " must be whole numbers of documents, at least 1, or shares of all documents, above 0 and at most 1; "
                f"got {told(size)}.",
                argument="sizes",
            )
    mixed = tuple(
        fraction("shares", share) for share in _numbers_given("shares", _QUARTERS if shares is None else shares)
    )
    return Drawing(
        kind,
        asked,
        tuple(sorted(set(mixed))) if kind is How.MIXED else (),
        positive("repeats", repeats, "draws"),
        checked_seed(seed),
    )


def _numbers_given(argument: str, value: Any) -> list[float]:
    """Return one number or several of a user's, whole ones as ints and others as floats."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
    if not several or any(isinstance(one, bool) or not isinstance(one, int | float | np.number) for one in several):
        raise InputError(Argument(argument), f" must be a number or several, got {told(value)}.", argument=argument)
    return [int(one) if isinstance(one, int | np.integer) else float(one) for one in several]
