"""Parts of a corpus: the sources of its documents, and parts drawn by source, at random, or mixed of sources."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, examples, flag, fraction, positive, shown, told
from pt_reuse.arrays.stratified import share_of
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, warn
from pt_reuse.studies.subcollections.systems import RestrictedRuns, Systems

_LETTERS = re.compile(r"^([^\W\d_]+)")
#: the part that has the documents of all sources
WHOLE = "whole"
#: shares of a mixed part where nobody says
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: advice that needs no source
_BY_CHANCE = "how='random' with sizes=."


@dataclass(frozen=True)
class SourceRule:
    """Says of a docno its source, None for none; sources that the user `named` must each have a document."""

    of: Callable[[str], Any]
    named: tuple[str, ...]
    words: str

    def members(self, docnos: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Return source -> positions of its documents; documents without a source are told."""
        found: dict[str | None, list[int]] = {}
        for i, docno in enumerate(docnos):
            source = self.of(docno)
            if source is not None and not _texts([source]):
                said = f" must return the name of a source or None, got {told(source)} for {shown(docno)}."
                raise InputError(f"sources{said}", argument="sources")
            found.setdefault(source, []).append(i)
        lacking = found.pop(None, [])
        empty = [name for name in self.named if name not in found]
        if empty or not found:
            what = f"no document comes from {examples(empty)}" if empty else "no document has a source"
            # a corpus without sources can still be split by chance
            hint = "" if self.named else f" Give sources=, or {_BY_CHANCE}"
            raise InputError(
                f"{what}. The rule, {self.words}, was tried on {count(len(docnos), 'document')} to be split; docnos "
                f"look like {examples(docnos)}.{hint}",
                argument="sources",
            )
        if lacking:
            warn(
                f"{count(len(lacking), 'document')} of {len(docnos):,} to be split without a source, such as "
                f"{examples([docnos[i] for i in lacking[:3]])}: they are in no part. The rule is {self.words}."
            )
        names = self.named or sorted(name for name in found if name is not None)
        return {name: np.array(found[name], dtype=np.int64) for name in names}


def source_rule(sources: Any) -> SourceRule:
    """Return what a user's ``sources=`` says."""
    if sources is None:
        return SourceRule(_first_group(_LETTERS), (), "the letters with which docnos begin")
    if isinstance(sources, Mapping | pd.Series):
        return _of_dict(dict(sources))
    if isinstance(sources, Iterable) and not isinstance(sources, str | bytes):
        several = list(sources)
        if _texts(several) and not (len(several) == 1 and several[0].startswith("^")):
            return _by_prefix({one: [one] for one in several})
        if _texts(several):
            try:
                sources = re.compile(several[0])
            except re.error as error:
                raise InputError(
                    f"sources is no regular expression, {several[0]!r}: {error}.", argument="sources"
                ) from error
    if isinstance(sources, re.Pattern) and sources.groups and isinstance(sources.pattern, str):
        return SourceRule(_first_group(sources), (), f"the first group of {sources.pattern!r}")
    if callable(sources):
        return SourceRule(sources, (), f"the function {getattr(sources, '__name__', 'given')}")
    raise InputError(
        "sources must be prefixes of docnos (a list), a dict of source -> prefixes or of docno -> source, a "
        f"regular expression with a group that is the source, or a function of a docno, got {told(sources)}.",
        argument="sources",
    )


def _texts(values: Iterable[object]) -> bool:
    """Return whether there are values, all of them texts that are not empty."""
    several = list(values)
    return bool(several) and all(isinstance(one, str) and one for one in several)


def _first_group(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    def of(docno: str) -> str | None:
        found = pattern.search(docno)
        return (found.group(1) or None) if found else None

    return of


def _of_dict(given: Mapping[Any, Any]) -> SourceRule:
    """Return the rule of a dict of source -> prefixes, or of docno -> source."""
    values = [value for value in given.values() if value is not None]
    if _texts(given) and all(isinstance(value, list | tuple) and _texts(value) for value in given.values()):
        return _by_prefix(given)
    if values and _texts([*given, *values]):
        return SourceRule(given.get, tuple(sorted(set(values))), f"a dict of {count(len(given), 'docno')}")
    flaw = next(([one] for one in given.items() if not _texts(one)), given)
    raise InputError(
        "sources must be a dict of docno -> source, or of source -> a list of prefixes, all of them texts, got "
        f"{told(flaw)}.",
        argument="sources",
    )


def _by_prefix(prefixes: Mapping[str, Sequence[str]]) -> SourceRule:
    source_of: dict[str, str] = {}
    for source, several in prefixes.items():
        twice = sorted(prefix for prefix in several if source_of.setdefault(prefix, source) != source)
        if twice:
            raise InputError(
                f"sources must have each prefix at one source, got {examples(twice)} at two.", argument="sources"
            )
    # of two prefixes that both match, the longer one says more
    longest = sorted(source_of, key=len, reverse=True)

    def of(docno: str) -> str | None:
        return next((source_of[prefix] for prefix in longest if docno.startswith(prefix)), None)

    return SourceRule(of, tuple(prefixes), f"the prefixes {', '.join(longest)}")


@dataclass(frozen=True)
class Part:
    """A part of a corpus; it is compared with parts of its draw and group that are of another side."""

    name: str
    documents: NDArray[np.int64]  # positions among the documents to be split
    source: str | None = None  # where its documents come from, all or a share; None where that is left to chance
    share: float | None = None  # of its documents that come from the source, the rest from others; None where all do
    side: str = ""
    group: str = ""
    draw: int = 1  # which of the repeated draws it belongs to


#: source -> positions of its documents
Members = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Drawing:
    """How parts are drawn, as a user says it, checked; sizes are documents (int) or shares of those to be split."""

    how: str
    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    whole: bool
    repeats: int
    seed: int

    @property
    def needs_sources(self) -> bool:
        """Return whether parts hang on the sources of documents."""
        return self.how != "random" or not self.sizes

    @property
    def n_draws(self) -> int:
        """Return how often parts are drawn; once where nothing is left to chance."""
        return 1 if self.how == "source" and not self.sizes else self.repeats

    def parts(self, members: Members) -> list[Part]:
        """Return the parts of every draw."""
        if self.needs_sources and len(members) < 2:
            raise InputError(
                f"all documents come from one source, {examples(members)}, so there is no part to compare it with. "
                f"Give a rule by sources=, or {_BY_CHANCE}",
                argument="sources",
            )
        drawn = {"source": self._by_source, "random": self._at_random, "mixed": self._mixed}[self.how]
        return [
            replace(part, draw=draw, documents=np.sort(part.documents))
            for draw in range(1, self.n_draws + 1)
            for part in drawn(members, np.random.default_rng([self.seed, draw]))
        ]

    def setting(self, one: Part, other: Part) -> dict[str, Any]:
        """Return what two parts have in common with the pairs over which means are taken; None where not fixed."""
        found: dict[str, Any] = dict.fromkeys(("source", "share", "size", "other_size"))
        if WHOLE in (one.side, other.side):
            found["source"] = WHOLE
        if one.share is not None:
            found |= {"source": f"{one.source} and {other.source}", "share": one.share}
        if self.sizes or self.how == "mixed":
            found["size"], found["other_size"] = sorted((len(one.documents), len(other.documents)))
        return found

    def _by_source(self, members: Members, random: np.random.Generator) -> Iterator[Part]:
        sizes = self._in_documents(members, {name: len(mine) for name, mine in members.items()})
        for name, mine in members.items():
            if not sizes:
                yield Part(name, mine, name, side=name)
                continue
            shuffled = random.permutation(mine)
            for n in sizes:
                yield Part(f"{name} {n}", shuffled[:n], name, side=name)
        if self.whole:
            yield Part(WHOLE, np.concatenate(list(members.values())), side=WHOLE)

    def _at_random(self, members: Members, random: np.random.Generator) -> Iterator[Part]:
        shuffled = random.permutation(np.concatenate(list(members.values())))
        if not self.sizes:
            ends = np.cumsum([len(mine) for mine in members.values()])
            for name, documents in zip(members, np.split(shuffled, ends[:-1]), strict=True):
                yield Part(f"like {name}", documents, side=name)
            return
        sizes = self._in_documents(members, {"half of all documents": len(shuffled) // 2})
        # one side grows from the front and the other from the back, so that no document is in both
        for side, documents in (("front", shuffled), ("back", shuffled[::-1])):
            for n in sizes:
                yield Part(f"{n} {side}", documents[:n], side=side)

    def _mixed(self, members: Members, random: np.random.Generator) -> Iterator[Part]:
        most = {pair: self._most(members, *pair) for pair in combinations(members, 2)}
        least = min(most, key=lambda pair: most[pair])
        if not most[least]:
            raise InputError(f"too few documents to draw parts of {' and '.join(least)} from.", argument="sources")
        apart = {f"parts of {' and '.join(pair)}, without a document in common": n for pair, n in most.items()}
        sizes = self._in_documents(members, apart)
        for pair, largest in most.items():
            for n, share in product(sizes or [largest], self.shares):
                sized = f" of {n}" if len(sizes) > 1 else ""
                k = share_of(share, n)
                own = [random.permutation(members[name])[:k] for name in pair]
                taken = np.concatenate(own)
                for name, other, mine in zip(pair, reversed(pair), own, strict=True):
                    rest = np.concatenate([documents for source, documents in members.items() if source != name])
                    drawn = random.permutation(np.setdiff1d(rest, taken))[: n - k]
                    taken = np.concatenate([taken, drawn])
                    called = f"{name} {100 * share:g} %{sized}, against {other}"
                    documents = np.concatenate([mine, drawn])
                    yield Part(called, documents, name, share, name, f"{pair} {share}{sized}")

    def _most(self, members: Members, *pair: str) -> int:
        """Return of how many documents two mixed parts may be, whatever is drawn."""
        total, of_pair = sum(map(len, members.values())), [len(members[name]) for name in pair]

        def too_many(n: int) -> bool:
            own = [share_of(share, n) for share in self.shares]
            return max(own) > min(of_pair) or 2 * n - min(own) > total - max(of_pair)

        return bisect_left(range(1, total + 1), True, key=too_many)

    def _in_documents(self, members: Members, most: dict[str, int]) -> list[int]:
        """Return the sizes in documents, ascending, or say which of them is more than there is."""
        total = sum(map(len, members.values()))
        asked = [(size, size if isinstance(size, int) else share_of(size, total)) for size in self.sizes]
        least = min(most, key=lambda name: most[name])
        for size, n in asked:
            if not 1 <= n <= most[least]:
                raise InputError(
                    f"sizes {told(size)} of {count(total, 'document')} is {count(n, 'document')}; there must be at "
                    f"least 1, and at most {most[least]:,} ({least}).",
                    argument="sizes",
                )
        return sorted({n for _, n in asked})


def compared(parts: Sequence[Part]) -> list[tuple[int, int]]:
    """Return which parts are compared, as positions."""
    together = groupby(range(len(parts)), key=lambda i: (parts[i].draw, parts[i].group))
    pairs = (pair for _, mine in together for pair in combinations(mine, 2))
    return [(i, j) for i, j in pairs if parts[i].side != parts[j].side]


def checked_drawing(*, how: Any, sizes: Any, shares: Any, whole: Any, repeats: Any, seed: Any) -> Drawing:
    """Return how a user wants parts drawn."""
    choice("how", how, ("source", "random", "mixed"))
    if shares is not None and how != "mixed":
        raise InputError("shares are those of mixed parts. Give how='mixed'.", argument="shares")
    if flag("whole", whole) and (how != "source" or sizes is not None):
        raise InputError(
            "whole is compared with parts that have all documents of a source. Leave it out.", argument="whole"
        )
    asked = () if sizes is None else tuple(_numbers("sizes", sizes))
    for size in asked:
        if not (size >= 1 if isinstance(size, int) else 0 < size <= 1):
            raise InputError(
                "sizes must be whole numbers of documents, at least 1, or shares of all documents, above 0 and at "
                f"most 1; got {told(size)}.",
                argument="sizes",
            )
    mixed = {fraction("shares", share) for share in _numbers("shares", _QUARTERS if shares is None else shares)}
    draws = positive("repeats", repeats, "draws")
    return Drawing(how, asked, tuple(sorted(mixed)), whole, draws, checked_seed(seed))


def _numbers(argument: str, value: Any) -> list[float]:
    """Return one number or several of a user's, whole ones as ints and others as floats."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
    if not several or any(isinstance(one, bool) or not isinstance(one, int | float | np.number) for one in several):
        raise InputError(f"{argument} must be a number or several, got {told(value)}.", argument=argument)
    return [int(one) if isinstance(one, int | np.integer) else float(one) for one in several]


@dataclass(frozen=True)
class Corpus:
    """The documents that are split, and the judgments of them."""

    docnos: list[str]  # of all documents, in the order of their bytes
    split: NDArray[np.int64]  # positions of the documents to be split
    added: NDArray[np.int64]  # of those that every part has; not all are in the corpus of the systems
    n_added: int  # how many of them are
    qrels: Qrels
    judged: NDArray[np.int64]  # (judgments,) the document of each
    relevant: NDArray[np.bool_]  # (judgments,) whether it is relevant

    @classmethod
    def of(cls, systems: RestrictedRuns | Systems[Any], qrels: Qrels, rel: int, *, shared: bool) -> Corpus:
        """Return the corpus of some systems; with `shared`, relevant documents are added to all parts."""
        of_judgments = qrels.arrays.documents.docnos().tolist()
        known = set(systems.docnos())
        strange = [docno for docno in dict.fromkeys(of_judgments) if systems.knows_corpus and docno not in known]
        if strange:
            so = "no system can retrieve them" if shared else "they are in no part, and count nowhere"
            warn(
                f"{count(len(strange), 'judged document')} not among the documents of the systems, such as "
                f"{examples(strange)}: {so}."
            )
        relevant = np.asarray(qrels.arrays.labels >= rel)
        if not relevant.any():
            raise InputError(
                f"no judgment has a label of at least {rel}, so no document is relevant and every score is 0. rel= "
                "is the lowest label that is relevant.",
                argument="qrels",
            )
        docnos = sorted({*known, *of_judgments}, key=lambda docno: docno.encode("utf-8", "surrogateescape"))
        place = {docno: i for i, docno in enumerate(docnos)}
        judged = np.array([place[docno] for docno in of_judgments], dtype=np.int64)
        added, there = np.zeros(len(docnos), dtype=bool), np.ones(len(docnos), dtype=bool)
        added[judged[relevant]] = shared
        there[[place[docno] for docno in strange]] = False
        split = np.flatnonzero(there & ~added)
        if not len(split):
            raise InputError(
                "every document is relevant to some topic, so there is nothing to split.", argument="qrels"
            )
        return cls(docnos, split, np.flatnonzero(added), int((there & added).sum()), qrels, judged, relevant)

    def members(self, rule: SourceRule) -> Members:
        """Return the documents to be split by their sources."""
        return rule.members([self.docnos[i] for i in self.split.tolist()])

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
        if not len(found):
            raise InputError(
                f"no topic has a relevant document in the part {part.name!r}, so there is nothing to test. "
                "relevant='all' adds all relevant documents to each part.",
                argument="relevant",
            )
        return np.asarray(np.bincount(found, minlength=n_topics) > 0)

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
