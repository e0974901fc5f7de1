"""Random parts: teams of a field, documents of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import checked_seed, count, examples, shown, told
from pt_reuse._errors import Argument, InputError, door, warn
from pt_reuse.engine import tokens
from pt_reuse.engine.shares import share_of
from pt_reuse.runs.units import units_of


@door
def subsample_corpus(corpus: Iterable[str] | Iterable[Mapping[str, Any]], *, share: float, seed: int) -> list[str]:
    """Draw a random share of a corpus: the documents are shuffled once, and the first share is kept.

    Runs are restricted to it by :meth:`RunSet.restrict`, as if nothing else had been in the corpus. A smaller share of
    the same seed is a part of a larger one.

    Args:
        corpus: document names, or documents with a ``docno``, as ``get_corpus_iter()`` of a PyTerrier dataset yields
            them. Where there is no corpus at hand, ``runs.docnos()`` has the documents that any run retrieves: the same
            share of these stays, although how many of them a real third of the corpus has would vary a little.
        share: above 0, at most 1; ``1/3`` keeps a third. The number of documents is rounded, half up.
        seed: the same seed draws the same documents in every process, in whichever order the corpus comes.

    Returns:
        list of str: document names, in the order in which they were drawn.

    Raises:
        InputError: no documents, something that is no document, a share out of range or one of no document.

    Warns:
        ReuseWarning: a document that is in the corpus more than once, which counts once.

    Example:
        >>> import pt_reuse as ptr
        >>> third = ptr.subsample_corpus((f"d{i}" for i in range(90)), share=1 / 3, seed=1)
        >>> len(third), third[:10] == ptr.subsample_corpus((f"d{i}" for i in range(90)), share=1 / 9, seed=1)
        (30, True)
    """
    part, number = _share(share, whole_allowed=True), checked_seed(seed)
    names = _docnos(corpus)
    distinct = sorted(set(names))
    if len(distinct) < len(names):
        warn(f"the corpus has {len(names) - len(distinct):,} documents more than once; each counts once.")
    n = share_of(part, len(distinct))
    if not n:
        raise InputError(
            Argument("share"), f" {told(share)} of {count(len(distinct), 'document')} is no document.", argument="share"
        )
    drawn = np.random.default_rng(number).permutation(len(distinct))[:n]
    return tokens.as_texts([distinct[i] for i in drawn.tolist()])


def drawn_teams(run_table: pd.DataFrame, share: Any, seed: Any) -> tuple[list[str], list[str]]:
    """Return the runs of a random share of the teams, and those of the others; both have at least one team.

    Args:
        run_table: of the runs, with ``name`` and ``team``.
        share: between 0 and 1.
        seed: the same teams and seed draw the same ones, in whichever order the runs stand.
    """
    part, number = _share(share, whole_allowed=False), checked_seed(seed)
    units = units_of(run_table, "team")
    teams = sorted(units.names, key=lambda team: team.encode("utf-8", "surrogateescape"))
    if len(teams) < 2:
        raise InputError(f"there is no second team beside {examples(teams)}, so teams cannot be split.")
    shuffled = [teams[i] for i in np.random.default_rng(number).permutation(len(teams)).tolist()]
    n = min(max(share_of(part, len(teams)), 1), len(teams) - 1)
    drawn = np.isin(units.of_run, units.positions(shuffled[:n]))
    names = run_table["name"].to_numpy()
    return names[drawn].tolist(), names[~drawn].tolist()


def _share(share: Any, *, whole_allowed: bool) -> float:
    number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
    if number and (0 < share < 1 or (whole_allowed and share == 1)):
        return float(share)
    upto = "at most 1" if whole_allowed else "below 1"
    raise InputError(Argument("share"), f" must be a number above 0 and {upto}, got {told(share)}.", argument="share")


def _docnos(corpus: Any) -> list[bytes]:
    if isinstance(corpus, str | bytes | Mapping | pd.DataFrame) or not isinstance(corpus, Iterable):
        got = "one string" if isinstance(corpus, str) else type(corpus).__name__
        raise InputError(
            Argument("corpus"),
            f" must be document names, or documents with a docno, got {got}.",
            argument="corpus",
        )
    names: list[Any] = [document.get("docno") if isinstance(document, Mapping) else document for document in corpus]
    if not names:
        raise InputError(Argument("corpus"), " has no documents.", argument="corpus")
    odd = next((i for i, name in enumerate(names) if not isinstance(name, str) or not name), None)
    if odd is not None:
        raise InputError(
            Argument("corpus"),
            f" must be document names, or documents with a docno; document {odd:,} has {shown(names[odd])}.",
            argument="corpus",
        )
    return tokens.encoded(names)
