"""Parts of a corpus: by source, at random, or mixed of sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, examples, fraction, positive, shown, told
from pt_reuse._errors import Argument, InputError, Option, warn
from pt_reuse._errors import Part as MessagePart
from pt_reuse.arrays.stratified import share_of
from pt_reuse.data.judgments import Qrels
from pt_reuse.studies.subcollections.systems import RestrictedRuns, Systems


@dataclass(frozen=True)
class Corpus:
    """The documents that are split, and the judgments of them.

    Attributes:
        docnos: of all documents, in the order of their bytes.
        split: (documents to be split,) their positions.
        added: documents that every part has; not all are in the corpus of the systems.
        n_added: how many of them are.
        qrels: the judgments.
        judged: (judgments,) the document of each.
        relevant: (judgments,) whether it is relevant.
    """

    docnos: list[str]
    split: NDArray[np.int64]
    added: NDArray[np.int64]
    n_added: int
    qrels: Qrels
    judged: NDArray[np.int64]
    relevant: NDArray[np.bool_]

    @classmethod
    def of(cls, systems: RestrictedRuns | Systems[Any], qrels: Qrels, rel: int, *, shared: bool) -> Corpus:
        """Return the corpus of some systems; with `shared`, relevant documents are added to all parts."""
        of_judgments = qrels.arrays.documents.docnos().tolist()
        known = set(systems.docnos())
        strange = list(dict.fromkeys(docno for docno in of_judgments if docno not in known))
        if systems.knows_corpus and strange:
            so = "no system can retrieve them" if shared else "they are in no part, and count nowhere"
            warn(
                f"{count(len(strange), 'judged document')} not among the documents of the systems, such as "
                f"{examples(strange)}: {so}."
            )
        docnos = sorted({*known, *of_judgments}, key=lambda docno: docno.encode("utf-8", "surrogateescape"))
        place = {docno: i for i, docno in enumerate(docnos)}
        judged = np.array([place[docno] for docno in of_judgments], dtype=np.int64)
        relevant = np.asarray(qrels.arrays.labels >= rel)
        if not relevant.any():
            raise InputError(
                f"no judgment has a label of at least {rel}, so no document is relevant and every score is 0. ",
                Option("rel", ...),
                " is the lowest label that is relevant.",
                argument="qrels",
            )
        is_added = np.zeros(len(docnos), dtype=bool)
        if shared:
            is_added[judged[relevant]] = True
        there = np.ones(len(docnos), dtype=bool)
        if systems.knows_corpus:
            there[[place[docno] for docno in strange]] = False
        rest = np.flatnonzero(~is_added & there)
        if not len(rest):
            raise InputError(
                "every document is relevant to some topic, so there is nothing to split.", argument="qrels"
            )
        n_added = int((is_added & there).sum())
        return cls(docnos, rest, np.flatnonzero(is_added), n_added, qrels, judged, relevant)

    def sources(self, rule: SourceRule, *, needed: bool) -> Sources:
        """Return the sources of the documents to be split; one for all of them where none are needed."""
        if not needed:
            return Sources(("all",), np.zeros(len(self.split), dtype=np.int64))
        return sources_of(rule, [self.docnos[i] for i in self.split.tolist()])

    def part(self, part: Part) -> tuple[list[str], Qrels]:
        """Return the docnos of a part, and its judgments."""
        has = self._has(part)
        return [self.docnos[i] for i in np.flatnonzero(has).tolist()], self.qrels.keep(has[self.judged])

    def counting(self, part: Part) -> NDArray[np.bool_]:
        """Return (topics,) which topics count on a part: all, or those with a relevant document that fell into it."""
        n_topics = len(self.qrels.topics)
        if len(self.added):
            return np.ones(n_topics, dtype=bool)
        found = self.qrels.arrays.documents.topic[self._has(part)[self.judged] & self.relevant]
        counts: NDArray[np.bool_] = np.bincount(found, minlength=n_topics) > 0
        if not counts.any():
            raise InputError(
                f"no topic has a relevant document in the part {part.name!r}, so there is nothing to test. ",
                Option("relevant", "all"),
                " adds all relevant documents to each part.",
                argument="relevant",
            )
        return counts

    def _has(self, part: Part) -> NDArray[np.bool_]:
        """Return (documents,) whether a part has each."""
        has = np.zeros(len(self.docnos), dtype=bool)
        has[self.added] = True
        has[self.split[part.documents]] = True
        return has

    def in_words(self) -> str:
        """Return how many documents there are."""
        added = f", {self.n_added:,} relevant ones added to each part" if len(self.added) else ""
        return f"{len(self.split):,} split{added}"


_LETTERS = re.compile(r"^([^\W\d_]+)")


#: what needs no source
BY_CHANCE: tuple[MessagePart, ...] = (Option("how", "random"), " with ", Option("sizes", ...))


@dataclass(frozen=True)
class SourceRule:
    """Says of a docno its source, None for none; sources that the user `named` must each have a document."""

    of: Callable[[str], str | None]
    named: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class Sources:
    """The names of sources, and (documents,) the source of each as a position among them, -1 for none."""

    names: tuple[str, ...]
    code: NDArray[np.int64]


def source_rule(sources: Any) -> SourceRule:
    """Return what a user's ``sources=`` says."""
    if sources is None:
        return SourceRule(_first_group(_LETTERS), (), "the letters with which docnos begin")
    if isinstance(sources, pd.Series):
        sources = sources.to_dict()
    if isinstance(sources, Mapping):
        return _mapped(sources)
    if isinstance(sources, Iterable) and not isinstance(sources, str | bytes):
        several = list(sources)
        if len(several) == 1 and isinstance(several[0], str) and several[0].startswith("^"):
            try:
                sources = re.compile(several[0])
            except re.error as error:
                problem = f" is no regular expression, {several[0]!r}: {error}."
                raise InputError(Argument("sources"), problem, argument="sources") from error
        elif _texts(several):
            return _prefixed({one: [one] for one in several})
    if isinstance(sources, re.Pattern) and sources.groups and isinstance(sources.pattern, str):
        return SourceRule(_first_group(sources), (), f"the first group of {sources.pattern!r}")
    if callable(sources):
        return SourceRule(_checked(sources), (), f"the function {getattr(sources, '__name__', 'given')}")
    raise InputError(
        Argument("sources"),
        " must be prefixes of docnos (a list), a dict of source -> prefixes or of docno -> source, a regular "
        f"expression with a group that is the source, or a function of a docno, got {told(sources)}.",
        argument="sources",
    )


def _texts(values: Iterable[object]) -> bool:
    """Return whether there are values, all of them texts that are not empty."""
    several = list(values)
    return bool(several) and all(isinstance(one, str) and one for one in several)


def sources_of(rule: SourceRule, docnos: Sequence[str]) -> Sources:
    """Return the source of each document."""
    found = [rule.of(docno) for docno in docnos]
    present = {source for source in found if source is not None}
    empty = [name for name in rule.named if name not in present]
    if empty or not present:
        what = f"no document comes from {examples(empty)}" if empty else "no document has a source"
        # a corpus without sources can still be split by chance
        hint = () if rule.named else (" Give ", Option("sources", ...), ", or ", *BY_CHANCE, ".")
        raise InputError(
            f"{what}. The rule, {rule.words}, was tried on {count(len(docnos), 'document')} to be split; docnos look "
            f"like {examples(docnos)}.",
            *hint,
            argument="sources",
        )
    names = rule.named or tuple(sorted(present))
    place = {name: i for i, name in enumerate(names)}
    code = np.array([-1 if source is None else place[source] for source in found], dtype=np.int64)
    lacking = np.flatnonzero(code < 0)
    if len(lacking):
        some = examples([docnos[i] for i in lacking[:3].tolist()])
        warn(
            f"{count(len(lacking), 'document')} of {len(docnos):,} to be split without a source, such as {some}: they "
            f"are in no part. The rule is {rule.words}."
        )
    return Sources(names, code)


def _first_group(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    def of(docno: str) -> str | None:
        found = pattern.search(docno)
        return (found.group(1) or None) if found else None

    return of


def _checked(rule: Callable[[str], object]) -> Callable[[str], str | None]:
    def of(docno: str) -> str | None:
        source = rule(docno)
        if source is not None and not (isinstance(source, str) and source):
            raise InputError(
                Argument("sources"),
                f" must return the name of a source or None, got {told(source)} for {shown(docno)}.",
                argument="sources",
            )
        return source

    return of


def _mapped(given: Mapping[Any, Any]) -> SourceRule:
    values = list(given.values())
    several = [value for value in values if isinstance(value, list | tuple)]
    if several and len(several) == len(values) and all(_texts(value) for value in [*several, list(given)]):
        return _prefixed(given)
    named = {value for value in values if value is not None} if not several else set()
    if named and _texts([*named, *given]):
        return SourceRule(given.get, tuple(sorted(named)), f"a dict of {count(len(given), 'docno')}")
    raise InputError(
        Argument("sources"),
        " must be a dict of docno -> source, or of source -> a list of prefixes, all of them texts, got "
        f"{told(next(([one] for one in given.items() if not _texts(one)), given))}.",
        argument="sources",
    )


def _prefixed(prefixes: Mapping[str, Sequence[str]]) -> SourceRule:
    several = [one for mine in prefixes.values() for one in set(mine)]
    twice = sorted({one for one in several if several.count(one) > 1})
    if twice:
        raise InputError(
            Argument("sources"),
            f" must have each prefix at one source, got {examples(twice)} at two.",
            argument="sources",
        )
    # of two prefixes that both match, the longer one says more
    longest = sorted(((one, name) for name, several in prefixes.items() for one in several), key=lambda p: -len(p[0]))

    def of(docno: str) -> str | None:
        return next((name for prefix, name in longest if docno.startswith(prefix)), None)

    return SourceRule(of, tuple(prefixes), f"the prefixes {', '.join(prefix for prefix, _ in longest)}")


#: shares of a mixed part where nobody says
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Part:
    """A part of a corpus.

    Attributes:
        name: of the part.
        draw: which of the repeated draws it belongs to, from 1.
        source: where its documents come from, all or a share of them; None where that is left to chance.
        share: of its documents that come from the source; None where nobody fixed it.
        documents: (n,) those drawn, as positions among the documents to be split.
    """

    name: str
    draw: int
    source: str | None
    share: float | None
    documents: NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """What pairs of parts have in common over which agreement is averaged; None where it is not fixed."""

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
    """How parts are drawn, as a user says it, checked; sizes are documents (int) or shares of those to be split."""

    how: str
    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    repeats: int
    seed: int

    @property
    def needs_sources(self) -> bool:
        """Return whether parts hang on the sources of documents."""
        return self.how != "random" or not self.sizes

    @property
    def draws(self) -> range:
        """Return the draws, from 1; where nothing is left to chance there is one."""
        once = self.how == "source" and not self.sizes
        return range(1, 2 if once else self.repeats + 1)

    def split(self, sources: Sources) -> Split:
        """Return the parts."""
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
        draw = {"source": self._by_source, "random": self._at_random, "mixed": self._mixed}[self.how]
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
    """Return how a user wants parts drawn."""
    kind = choice("how", how, ("source", "random", "mixed"))
    if shares is not None and kind != "mixed":
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
        tuple(sorted(set(mixed))) if kind == "mixed" else (),
        positive("repeats", repeats, "draws"),
        checked_seed(seed),
    )


def _numbers_given(argument: str, value: Any) -> list[float]:
    """Return one number or several of a user's, whole ones as ints and others as floats."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
    if not several or any(isinstance(one, bool) or not isinstance(one, int | float | np.number) for one in several):
        raise InputError(Argument(argument), f" must be a number or several, got {told(value)}.", argument=argument)
    return [int(one) if isinstance(one, int | np.integer) else float(one) for one in several]
