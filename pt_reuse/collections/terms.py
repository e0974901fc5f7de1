"""Which runs may be passed on: those that NIST gives to people who sign its agreement may not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pt_reuse._check import count, examples
from pt_reuse.collections.collection import catalogue_names, catalogued, without_runs
from pt_reuse.errors import InputError

_ENDING = re.compile(r"\.(gz|bz2|xz|zst|lz4|z|txt|run|trec|res)$")
#: what stands between a name and what programs and people add to it
_BETWEEN = re.compile(r"[.\s()\[\],;]+")
_WORD = re.compile(r"[^\W\d_]+")
#: words of which anybody makes names of runs
_WORDS = """
a ance anserini auto automatic b base baseline basic bert best bge bm colbert colbertv combined cross crossencoder
default dense desc description dfr dirichlet distilbert doc docs dpr elastic elasticsearch electra ensemble expansion
feedback final first full fused fusion gpt hybrid idf in indri inl jm kl lemur llm lm lucene manual max maxp method
minilm model mono monobert monot mt my okapi our own pass passage pl pooled prf pyserini qe ql query rag rank ranker
rerank reranked reranker reranking retrieval rf rm roberta rocchio rrf run runs search second simple solr sparse
splade spladev sum system systems t tas tasb tct term terrier test tf tfidf title top tuned v vector vsm weighted
"""
_ANYBODYS = frozenset(_WORDS.split())
#: with more words than these, a name is somebody's
_FEW_WORDS = 2
#: a shorter name may be given by chance, but hardly two
_SHORT = 5


def check_shareable(names: Iterable[str], allow: str) -> None:
    """Raise where some of the runs have names of runs under NIST's agreement, and more than by chance."""
    known = _under_agreement()
    mine = list(dict.fromkeys(names))
    meant = {name: _meant(name, known) for name in mine}
    both = [name for name, plain in meant.items() if plain in known and not _is_anybodys(plain)]
    if len(both) < 2 and all(_is_short(meant[name]) for name in both):
        return
    titles = list(dict.fromkeys(known[meant[name]] for name in both))
    have = "have names" if len(both) > 1 else "has the name"
    raise InputError(
        f"not shared: {count(len(both), 'run')} of {len(mine):,} ({examples(both)}) {have} of runs submitted to "
        f"{examples(titles)}. NIST's agreement does not let those who signed it pass the runs on. Share scores or "
        f"judgments instead, or say who allows it and why, on your own responsibility: {allow}."
    )


@lru_cache(maxsize=1)
def _under_agreement() -> Mapping[str, str]:
    """Return the plain name of every run that NIST gives under its agreement, and the collection that it is of."""
    found: dict[str, str] = {}
    for name in catalogue_names():
        collection = without_runs(name)
        if collection is None or collection.access != "password":
            continue
        known = catalogued(name)
        submitted = [] if known is None or known.submitted is None else known.submitted["name"].tolist()
        for run in submitted:
            found.setdefault(_plain(run), collection.title)
    return found


def _meant(name: str, known: Mapping[str, str]) -> str:
    """Return the plain name, or the known one that stands between dots and blanks in it, as in ``NAME (1).csv``."""
    plain = _plain(name)
    parts = () if plain in known else (part.removeprefix("run_").removeprefix("run-") for part in _BETWEEN.split(plain))
    return next((part for part in parts if part in known and not (_is_short(part) or _is_anybodys(part))), plain)


def _plain(name: str) -> str:
    """Return a run's name without what its file adds, and without capital letters."""
    seen = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    last = re.split(r"[/\\]", seen.casefold().strip())[-1].removeprefix("input.")
    while (bare := _ENDING.sub("", last)) != last:
        last = bare
    return last


def _is_anybodys(plain: str) -> bool:
    """Return whether anybody may give a name."""
    words = _WORD.findall(plain)
    return len(words) <= _FEW_WORDS and all(word in _ANYBODYS for word in words)


def _is_short(plain: str) -> bool:
    return sum(map(str.isalnum, plain)) < _SHORT
