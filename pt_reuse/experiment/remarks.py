"""Remarks: what a careful colleague says beside the columns of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import ir_measures
import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import Option, Part, warn
from pt_reuse.collections.catalogue import catalogued, judged_alike
from pt_reuse.data.judgments import Qrels
from pt_reuse.experiment.columns import BEWARE_OF_UNIQUES, BOUNDS, NO_FIELD, Asked, Columns
from pt_reuse.pooling.fit import SLACK, PoolFit
from pt_reuse.scoring.caveats import BEWARE, Caveat, none_relevant, noted, of_judged, relevant_only, tell


def hint_of(qrels: pd.DataFrame) -> str:
    """Return how to get the field of a known collection's judgments, nothing where they are those of none.

    `qrels`: all judgments that the user gave, ``qid docno label``.
    """
    relevant = pd.to_numeric(qrels["label"], errors="coerce") > 0
    names = judged_alike(qrels["qid"].nunique(), len(qrels), int(relevant.sum()))
    known = [(name, found.submitted) for name in names if (found := catalogued(name)) is not None]
    with_runs = {name: len(submitted) for name, submitted in known if submitted is not None}
    if not with_runs:
        return ""
    whose = " or ".join(f"reuse:{name}" for name in with_runs)
    name, n_runs = next(iter(with_runs.items()))
    call = f'field=pt.get_dataset("reuse:{name}").get_runs()'
    return f"these are the judgments of {whose}; {call} brings its field of {count(n_runs, 'run')}"


def tell_remarks(columns: Columns, qrels: Qrels, measures: Mapping[str, ir_measures.Measure], asked: Asked) -> Columns:
    """Warn of what the columns do not mean, and return them with the same in their settings."""
    of_uniques: list[Caveat] = []
    fit = columns.left_out.fit if columns.left_out else None
    if fit is not None and asked.alone:
        of_uniques += [*_among_themselves(fit, len(columns.systems), columns.hint), *fit.of_pool()]
    elif fit is not None:
        of_uniques += fit.caveats()
    of_uniques += none_relevant(qrels, qrels.rel) if fit is not None else ()
    unjudged = [column for column in ("unjudged", *BOUNDS) if column in columns.added]
    shares = [f"{name} {column}" for column in unjudged for name in columns.added[column]]
    caveats = [*relevant_only(qrels, [*shares, *of_judged(measures.values())]), *columns.caveats]
    # where no column shows what uniques are worth, the summary alone does
    hidden = "lou" in columns.empty
    shown, for_summary = (caveats, of_uniques) if hidden else ([*of_uniques, *caveats], [])
    tell(shown)
    if asked.alone and asked.by_default and (columns.hint or asked.idle):
        _tell_of_the_default(columns, asked)
    # what the study noted is said here in other words
    settings = {name: value for name, value in columns.settings.items() if name != BEWARE}
    return replace(columns, settings={**settings, **noted(shown), **noted(for_summary, BEWARE_OF_UNIQUES)})


def _among_themselves(fit: PoolFit, n_systems: int, hint: str) -> Iterator[Caveat]:
    """Yield a caveat where a few systems were taken for the pool, and are not what was judged."""
    if fit.stranger_share <= SLACK:
        return
    systems = count(n_systems, "system")
    get: tuple[Part, ...] = (Option("field", ...), " takes the runs that were pooled.")
    if hint:
        get = (sentence(hint),)
    known, unique, lacks = (
        f"the {systems} of this experiment alone",
        f"a unique is a judged document that no other of them has in its top {fit.depth}",
        "No system has",
    )
    if n_systems == 1:
        known, unique, lacks = (
            "the only system of this experiment",
            f"every judged document in its top {fit.depth} is its unique",
            "It does not have",
        )
    yield Caveat(
        f"uniques among the {systems} alone, {fit.stranger_share:.0%} of the judgments have no contributor",
        (
            f"the columns that end in{NO_FIELD} know {known}: {unique}. {lacks} "
            f"{fit.strangers:,} of {fit.judged:,} judged documents ({fit.stranger_share:.0%}) there: another pool was "
            "judged, and what a system loses here says nothing of it. ",
            *get,
        ),
    )


def _tell_of_the_default(columns: Columns, asked: Asked) -> None:
    n = len(columns.systems)
    where = f"ranks are among the {n:,} systems alone" if n > 1 else "the only system is always of rank 1"
    *first, last = asked.idle or ("",)
    names = f"{', '.join(first)} and {last}" if first else last
    idle = f", so that {names} changed no column" if names else ""
    hint = f"{sentence(columns.hint)} " if columns.hint else ""
    warn(
        f"without a field, {where}, and leave-out-uniques is left out{idle}. {hint}",
        Option("reuse", list(asked.kinds)),
        " says that these columns are all you want.",
    )


def sentence(hint: str) -> str:
    """Return a hint as a sentence of its own."""
    return f"{hint[0].upper()}{hint[1:]}."
