"""Which source each document of a corpus comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import Argument, InputError, Option, Part, warn

#: entries of a dict that a message shows in full
_FEW = 5
_LETTERS = re.compile(r"[^\W\d_]+")


#: what needs no source
BY_CHANCE: tuple[Part, ...] = (Option("how", "random"), " with ", Option("sizes", ...))


@dataclass(frozen=True)
class SourceRule:
    """Says of a document which source it comes from; one that is made has been checked.

    Attributes:
        of: docno -> source, None for a document of none.
        named: sources that the user named, each of which must have a document.
        words: the rule in words, for settings.
    """

    of: Callable[[str], str | None]
    named: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class Sources:
    """The sources of documents.

    Attributes:
        names: of the sources, in alphabetical order, or as the user named them.
        code: (documents,) the source of each, as a position among the names; -1 for none.
        words: the rule in words, for settings.
    """

    names: tuple[str, ...]
    code: NDArray[np.int64]
    words: str


def source_rule(sources: Any) -> SourceRule:
    """Return what a user's ``sources=`` says.

    Args:
        sources: None for the letters with which a docno begins; a function of a docno; a compiled regular expression,
            whose first group is the source; a mapping, or a Series, of docno -> source (None for none); a mapping of
            source -> its prefixes (a list); or prefixes, which are the names of their sources, too.

    Raises:
        InputError: something else, a prefix that is no text, an expression without a group.
    """
    if sources is None:
        return SourceRule(_letters, (), "the letters with which docnos begin")
    if isinstance(sources, re.Pattern):
        if not sources.groups or not isinstance(sources.pattern, str):
            raise InputError(
                Argument("sources"),
                f" must have a group that is the source, such as '^([A-Z]+)', got {sources.pattern!r}.",
                argument="sources",
            )
        return SourceRule(_grouped(sources), (), f"the first group of {sources.pattern!r}")
    if isinstance(sources, pd.Series):
        return _mapped(sources.to_dict())
    if isinstance(sources, Mapping):
        return _mapped(sources)
    if callable(sources):
        return SourceRule(_checked(sources), (), f"the function {getattr(sources, '__name__', 'given')}")
    if isinstance(sources, Iterable) and not isinstance(sources, str | bytes):
        several = list(sources)
        if several and all(isinstance(one, str) and one for one in several):
            return _prefixed({one: [one] for one in several})
    raise InputError(
        Argument("sources"),
        " must be prefixes of docnos (a list), a dict of source -> prefixes or of docno -> source, a compiled regular "
        f"expression with a group, or a function of a docno, got {told(sources)}.",
        argument="sources",
    )


def sources_of(rule: SourceRule, docnos: Sequence[str]) -> Sources:
    """Return the source of each document.

    Raises:
        InputError: no document has a source, or a source that the user named has no document.

    Warns:
        ReuseWarning: documents without a source.
    """
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
    return Sources(names, code, rule.words)


def _letters(docno: str) -> str | None:
    found = _LETTERS.match(docno)
    return found.group() if found else None


def _grouped(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
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
    if values and all(isinstance(value, list | tuple) for value in values):
        texts = [one for value in values for one in value]
        if all(values) and all(isinstance(one, str) and one for one in [*texts, *given]):
            return _prefixed(given)
    named = {value for value in values if value is not None and not isinstance(value, list | tuple)}
    if named and all(isinstance(one, str) and one for one in [*named, *given]):
        return SourceRule(given.get, tuple(sorted(named)), f"a dict of {count(len(given), 'docno')}")
    raise InputError(
        Argument("sources"),
        " must be a dict of docno -> source, or of source -> a list of prefixes, all of them texts, got "
        f"{_first_odd(given)}.",
        argument="sources",
    )


def _first_odd(given: Mapping[Any, Any]) -> str:
    """Return the first entry of a dict that is no text for a text, or all of a short dict."""
    odd = [(one, value) for one, value in given.items() if not (isinstance(one, str) and isinstance(value, str))]
    return told(dict(odd[:1] if len(given) > _FEW else given))


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
