"""Parts of a corpus, by source, at random or mixed, and systems that are restricted to a part or run anew on it."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, product
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.prediction_powered import share_of
from pt_reuse.data.frame_columns import as_ids
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, ReuseWarning, columns, count, examples, fraction, shown, warn

#: ``docno``, ``text`` and whatever else an index takes
Document: TypeAlias = Mapping[str, Any]
_Index = TypeVar("_Index")


@dataclass(frozen=True)
class RestrictedRuns:
    """Runs that exist, of which each part keeps its documents."""

    runs: RunSet
    settings: ClassVar[dict[str, Any]] = {"systems": "runs restricted to the documents of each part"}

    @property
    def names(self) -> list[str]:
        return self.runs.names

    def docnos(self) -> list[str]:
        return self.runs.docnos()

    def on_part(self, docnos: Iterable[str]) -> RunSet:
        with warnings.catch_warnings():
            # lists that are left empty are counted in the table of parts
            warnings.simplefilter("ignore", ReuseWarning)
            return self.runs.restrict(docnos)


class Systems(Generic[_Index]):
    """Retrieval systems that can be built and run on any part of a corpus.

    :func:`~pt_reuse.profile.subcollections` takes them instead of runs, to index each part and run every system on it.

    Args:
        factories: system name -> a function that makes its pipeline from what `index` returned for the documents of a
            part or, without `index`, from these documents.
        documents: the corpus, each document a dict with ``docno`` and what an index takes: a list, or a function that
            returns an iterator over them, such as a dataset's ``get_corpus_iter``.
        topics: frame with the columns ``qid``, ``query``.
        index: indexes the documents of a part, once for all systems; default None: each factory gets the documents.

    Raises:
        InputError: a factory or an index that is no function, documents that can be read only once, topics without
            ``qid``.

    Example:
        >>> import pandas as pd, pyterrier as pt, pt_reuse as ptr
        >>> documents = [{"docno": "d1", "text": "oak"}, {"docno": "d2", "text": "elm"}]
        >>> def first(documents):
        ...     docno = next(iter(documents))["docno"]
        ...     return pt.Transformer.from_df(pd.DataFrame({"qid": ["1"], "docno": [docno], "score": [1.0]}))
        >>> systems = ptr.profile.Systems({"first": first}, documents, pd.DataFrame({"qid": ["1"], "query": ["oak"]}))
        >>> systems
        Systems: 1 system on 1 topic, indexed by each system
        >>> systems.on_part(["d2"]).to_frame()["docno"].tolist()
        ['d2']
    """

    def __init__(
        self,
        factories: Mapping[str, Callable[[_Index], pt.Transformer]],
        documents: Iterable[Document] | Callable[[], Iterable[Document]],
        topics: pd.DataFrame,
        *,
        index: Callable[[Iterable[Document]], _Index] | None = None,
    ):
        wrong = {
            "factories must be a dict of system name -> function that returns a pipeline": not (
                isinstance(factories, Mapping) and factories and all(map(callable, factories.values()))
            ),
            "documents must be read more than once: a list": not callable(documents) and iter(documents) is documents,
            "index must be a function": index is not None and not callable(index),
            "topics must be a frame with qid and query": not isinstance(topics, pd.DataFrame),
        }
        if problem := next((text for text, is_so in wrong.items() if is_so), ""):
            raise InputError(f"{problem}.", argument=problem.partition(" ")[0])
        columns("topics", topics.columns, ("qid",))
        self._factories, self._documents, self._topics, self._index = dict(factories), documents, topics, index

    @property
    def names(self) -> list[str]:
        """Return the names of the systems."""
        return list(self._factories)

    @property
    def settings(self) -> dict[str, Any]:
        """Return how the systems are run on a part."""
        by = "once for all systems" if self._index is not None else "by each system"
        return {"systems": f"run anew on each part, indexed {by}"}

    def docnos(self) -> list[str]:
        """Return the documents of the corpus, in its order.

        Raises:
            InputError: a document without a docno, or two with the same one.
        """
        docnos: dict[str, None] = {}
        for n, document in enumerate(self._all_documents()):
            docno = document.get("docno") if isinstance(document, Mapping) else None
            if not isinstance(docno, str) or not docno or docno in docnos:
                problem = f"has the docno {docno!r} again" if docno in docnos else "has no docno"
                raise InputError(f"document {n:,} {problem}: {shown(document)}.", argument="documents")
            docnos[docno] = None
        return list(docnos)

    def on_part(self, docnos: Iterable[str]) -> RunSet:
        """Index the documents of a part, by their `docnos`, run every system on them, and return the runs.

        Raises:
            InputError: a system that retrieves a document which the part does not have.
        """
        wanted = frozenset(docnos)
        part = _PartDocuments(self._all_documents, wanted)
        index: Any = part if self._index is None else self._index(part)
        pipelines = {}
        for name, factory in self._factories.items():
            pipelines[name] = factory(index)
            if not isinstance(pipelines[name], pt.Transformer):
                problem = f"its factory must return a pipeline, got {shown(pipelines[name])}."
                raise InputError(problem, place=f"system {name!r}", argument="factories")
        runs = RunSet.from_pipelines(pipelines, self._topics)
        if outside := [docno for docno in runs.docnos() if docno not in wanted]:
            of = next(name for name in runs.names if not wanted.issuperset(runs[name]["docno"]))
            problem = f"retrieves documents that the part does not have, {examples(outside)}."
            raise InputError(problem, place=f"system {of!r}", argument="factories")
        return runs

    def check_topics(self, judged: Iterable[str]) -> None:
        """Raise if none of the topics is judged."""
        run_on, known = as_ids("qid", self._topics["qid"].tolist()), list(judged)
        if not set(run_on) & set(known):
            problem = f"none of the topics of the systems, {examples(run_on) or 'none'}, is judged: {examples(known)}."
            raise InputError(problem, argument="runs")

    def _all_documents(self) -> Iterator[Document]:
        return iter(self._documents() if callable(self._documents) else self._documents)

    def __repr__(self) -> str:
        n_systems, n_topics = count(len(self._factories), "system"), count(len(self._topics), "topic")
        return f"Systems: {n_systems} on {n_topics}, indexed {self.settings['systems'].rsplit('indexed ')[-1]}"


@dataclass(frozen=True)
class _PartDocuments:
    """The documents of a part, which can be read as often as one likes."""

    everything: Callable[[], Iterator[Document]]
    docnos: frozenset[str]

    def __iter__(self) -> Iterator[Document]:
        return (document for document in self.everything() if document["docno"] in self.docnos)


_LETTERS = re.compile(r"[^\W\d_]+")
#: the part that has the documents of all sources
WHOLE = "whole"
#: shares of a mixed part where nobody says
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: advice that needs no source
_BY_CHANCE = "Give sources=, or how='random' with sizes=."


@dataclass(frozen=True)
class SourceRule:
    """Says of a docno its source, None for none; sources that the user `named` must each have a document."""

    of: Callable[[str], Any]
    named: tuple[str, ...]
    words: str

    def members(self, docnos: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Return source -> positions of its documents; a warning tells of documents without a source."""
        of_source: dict[str | None, list[int]] = {}
        for i, docno in enumerate(docnos):
            source = self.of(docno)
            if source is not None and not _texts([source]):
                problem = f"must return the name of a source or None, got {shown(source)} for {shown(docno)}."
                raise InputError(f"sources {problem}", argument="sources")
            of_source.setdefault(source, []).append(i)
        lacking = of_source.pop(None, [])
        if not of_source or not set(self.named) <= set(of_source):
            empty = examples([name for name in self.named if name not in of_source]) or "any source"
            tried = f"{count(len(docnos), 'document')}, such as {examples(docnos)}, by {self.words}"
            raise InputError(f"no document comes from {empty}, of {tried}. {_BY_CHANCE}", argument="sources")
        if lacking:
            some = examples([docnos[i] for i in lacking[:3]])
            what = f"{count(len(lacking), 'document')} of {len(docnos):,} to be split without a source, such as {some}"
            warn(f"{what}: they are in no part. The rule is {self.words}.")
        names = self.named or sorted(name for name in of_source if name is not None)
        return {name: np.array(of_source[name], dtype=np.int64) for name in names}


def source_rule(sources: Any) -> SourceRule:
    """Return what a user's ``sources=`` says."""
    if sources is None:
        return SourceRule(_first_letters, (), "the letters with which docnos begin")
    if callable(sources):
        return SourceRule(sources, (), f"the function {getattr(sources, '__name__', 'given')}")
    several = isinstance(sources, Iterable) and not isinstance(sources, str | bytes | Mapping)
    prefixes = list(sources) if several else []
    if not _texts(prefixes):
        problem = f"sources must be prefixes of docnos, or a function of a docno, got {shown(sources)}."
        raise InputError(problem, argument="sources")
    # of two prefixes that both match, the longer one says more
    longest = sorted(prefixes, key=len, reverse=True)

    def source_of(docno: str) -> str | None:
        return next(filter(docno.startswith, longest), None)

    return SourceRule(source_of, tuple(dict.fromkeys(prefixes)), f"the prefixes {', '.join(longest)}")


def _first_letters(docno: str) -> str | None:
    letters = _LETTERS.match(docno)
    return letters[0] if letters else None


def _texts(values: Iterable[object]) -> bool:
    """Return whether there are values, all of them texts that are not empty."""
    several = list(values)
    return bool(several) and all(isinstance(value, str) and value for value in several)


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
    """How parts are drawn; sizes are documents (int) or shares of those to be split."""

    how: str
    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    whole: bool
    repeats: int
    seed: int

    @property
    def needs_sources(self) -> bool:
        return self.how != "random" or not self.sizes

    @property
    def n_draws(self) -> int:
        # where nothing is left to chance parts are drawn once
        return 1 if self.how == "source" and not self.sizes else self.repeats

    def parts(self, members: Members) -> list[Part]:
        """Return the parts of every draw."""
        if self.needs_sources and len(members) < 2:
            problem = f"all documents come from one source, {examples(members)}. {_BY_CHANCE}"
            raise InputError(problem, argument="sources")
        draw_parts = {"source": self._by_source, "random": self._at_random, "mixed": self._mixed}[self.how]
        return [
            replace(part, draw=draw, documents=np.sort(part.documents))
            for draw in range(1, self.n_draws + 1)
            for part in draw_parts(members, np.random.default_rng([self.seed, draw]))
        ]

    def setting(self, part: Part, other: Part) -> dict[str, Any]:
        """Return what two parts have in common with the pairs over which means are taken; None where not fixed."""
        source = WHOLE if WHOLE in (part.side, other.side) else None
        source = source if part.share is None else f"{part.source} and {other.source}"
        fixed = bool(self.sizes) or self.how == "mixed"
        sizes = sorted((len(part.documents), len(other.documents))) if fixed else [None, None]
        return {"source": source, "share": part.share, "size": sizes[0], "other_size": sizes[1]}

    def _by_source(self, members: Members, random: np.random.Generator) -> Iterator[Part]:
        sizes = self._in_documents(members, {name: len(positions) for name, positions in members.items()})
        for name, positions in members.items():
            if not sizes:
                yield Part(name, positions, name, side=name)
                continue
            shuffled = random.permutation(positions)
            yield from (Part(f"{name} {n}", shuffled[:n], name, side=name) for n in sizes)
        if self.whole:
            yield Part(WHOLE, np.concatenate(list(members.values())), side=WHOLE)

    def _at_random(self, members: Members, random: np.random.Generator) -> Iterator[Part]:
        shuffled = random.permutation(np.concatenate(list(members.values())))
        if not self.sizes:
            ends = np.cumsum([len(positions) for positions in members.values()])
            for name, documents in zip(members, np.split(shuffled, ends[:-1]), strict=True):
                yield Part(f"like {name}", documents, side=name)
            return
        sizes = self._in_documents(members, {"half of all documents": len(shuffled) // 2})
        # one side grows from the front and the other from the back, so that no document is in both
        for side, documents in (("front", shuffled), ("back", shuffled[::-1])):
            yield from (Part(f"{n} {side}", documents[:n], side=side) for n in sizes)

    def _mixed(self, members: Members, random: np.random.Generator) -> Iterator[Part]:
        most = {pair: self._most(members, *pair) for pair in combinations(members, 2)}
        least = min(most, key=lambda pair: most[pair])
        if not most[least]:
            raise InputError(f"too few documents to draw parts of {' and '.join(least)} from.", argument="sources")
        apart = {f"parts of {' and '.join(pair)}, without a document in common": n for pair, n in most.items()}
        sizes = self._in_documents(members, apart)
        for pair, largest in most.items():
            for n, share in product(sizes or [largest], self.shares):
                sized, k = f" of {n}" if len(sizes) > 1 else "", share_of(share, n)
                own = [random.permutation(members[name])[:k] for name in pair]
                taken = np.concatenate(own)
                for name, other, of_source in zip(pair, reversed(pair), own, strict=True):
                    rest = np.concatenate([documents for source, documents in members.items() if source != name])
                    drawn = random.permutation(np.setdiff1d(rest, taken))[: n - k]
                    taken, documents = np.concatenate([taken, drawn]), np.concatenate([of_source, drawn])
                    called = f"{name} {100 * share:g}%{sized}, against {other}"
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
        sizes = {size: size if isinstance(size, int) else share_of(size, total) for size in self.sizes}
        least = min(most, key=lambda name: most[name])
        if odd := [size for size, n in sizes.items() if not 1 <= n <= most[least]]:
            of = f"{shown(odd[0])} of {count(total, 'document')} is {count(int(sizes[odd[0]]), 'document')}"
            raise InputError(f"sizes {of}; they are 1 to {most[least]:,} ({least}).", argument="sizes")
        return sorted({int(n) for n in sizes.values()})


def compared(parts: Sequence[Part]) -> list[tuple[int, int]]:
    """Return which parts are compared, as positions."""
    together = groupby(range(len(parts)), key=lambda i: (parts[i].draw, parts[i].group))
    pairs = (pair for _, group in together for pair in combinations(group, 2))
    return [(i, j) for i, j in pairs if parts[i].side != parts[j].side]


def checked_drawing(*, how: str, sizes: Any, shares: Any, whole: bool, repeats: int, seed: int) -> Drawing:
    """Return how a user wants parts drawn."""
    if shares is not None and how != "mixed":
        raise InputError("shares are those of mixed parts. Give how='mixed'.", argument="shares")
    if whole and (how != "source" or sizes is not None):
        raise InputError("whole is compared with parts that have all documents of a source.", argument="whole")
    chosen = () if sizes is None else _numbers("sizes", sizes)
    if odd := [size for size in chosen if not (size >= 1 if isinstance(size, int) else 0 < size <= 1)]:
        expected = "numbers of documents, or shares of them above 0 and at most 1"
        raise InputError(f"sizes must be {expected}, got {shown(odd[0])}.", argument="sizes")
    mixed = {fraction("shares", share) for share in _numbers("shares", _QUARTERS if shares is None else shares)}
    return Drawing(how, chosen, tuple(sorted(mixed)), whole, repeats, seed)


def _numbers(argument: str, value: Any) -> tuple[float, ...]:
    """Return one number or several of a user's, whole ones as ints and others as floats."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
    if not several or any(isinstance(n, bool) or not isinstance(n, int | float | np.number) for n in several):
        raise InputError(f"{argument} must be a number or several, got {shown(value)}.", argument=argument)
    return tuple(int(n) if isinstance(n, int | np.integer) else float(n) for n in several)


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
        # of runs, what none of them retrieves is not known
        of_corpus = dict.fromkeys(of_judgments) if isinstance(systems, Systems) else ()
        outside = [docno for docno in of_corpus if docno not in known]
        if outside:
            judged = f"{count(len(outside), 'judged document')} not among the documents of the systems"
            warn(f"{judged}, such as {examples(outside)}: no system can retrieve them.")
        relevant = np.asarray(qrels.arrays.labels >= rel)
        if not relevant.any():
            raise InputError(f"no judgment has a label of at least rel={rel}.", argument="qrels")
        docnos = sorted({*known, *of_judgments}, key=lambda docno: docno.encode("utf-8", "surrogateescape"))
        place = {docno: i for i, docno in enumerate(docnos)}
        judged_at = np.array([place[docno] for docno in of_judgments], dtype=np.int64)
        added, there = np.zeros(len(docnos), dtype=bool), np.ones(len(docnos), dtype=bool)
        added[judged_at[relevant]] = shared
        there[[place[docno] for docno in outside]] = False
        split = np.flatnonzero(there & ~added)
        if not len(split):
            raise InputError("every document is relevant to some topic: nothing is left to split.", argument="qrels")
        return cls(docnos, split, np.flatnonzero(added), int((there & added).sum()), qrels, judged_at, relevant)

    def part(self, part: Part) -> tuple[list[str], Qrels, NDArray[np.bool_]]:
        """Return the docnos of a part, its judgments, and (topics,) which count: all, or with `own` relevant ones."""
        has = np.zeros(len(self.docnos), dtype=bool)
        has[self.added] = has[self.split[part.documents]] = True
        of_relevant = self.qrels.arrays.documents.topic[has[self.judged] & self.relevant]
        counts = np.bincount(of_relevant, minlength=len(self.qrels.topics)) > 0
        if not counts.any():
            problem = f"no topic has a relevant document in the part {part.name!r}; relevant='all' adds them to each."
            raise InputError(problem, argument="relevant")
        docnos = [self.docnos[i] for i in np.flatnonzero(has).tolist()]
        return docnos, self.qrels.keep(has[self.judged]), counts | bool(len(self.added))
