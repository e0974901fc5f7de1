"""What is said beside the columns of an experiment: caveats, hints, and scores that another ranking order changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, listed
from pt_reuse._errors import Call, Option, Part, warn
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.collections.collection import catalogued, judged_alike
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.experiment.columns import (
    BEWARE_OF_UNIQUES,
    BOUNDS,
    NO_FIELD,
    ORDER,
    Columns,
    Measures,
    Wanted,
    unjudged_to,
)
from pt_reuse.pooling.fit import SLACK, PoolFit
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.caveats import BEWARE, Caveat, none_relevant, noted, of_judged, relevant_only, tell
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import rescore

#: the order in which `score` and the studies rank what nobody orders otherwise
USUAL = BY_SCORE[0]


def hint_of(qrels: pd.DataFrame) -> str:
    """Return how to get the field of a known collection's judgments, nothing where they are those of none."""
    relevant = pd.to_numeric(qrels["label"], errors="coerce") > 0
    names = judged_alike(qrels["qid"].nunique(), len(qrels), int(relevant.sum()))
    known = [(name, found.submitted) for name in names if (found := catalogued(name)) is not None]
    with_runs = {name: len(submitted) for name, submitted in known if submitted is not None}
    if not with_runs:
        return ""
    names_known = " or ".join(f"reuse:{name}" for name in with_runs)
    name, n_runs = next(iter(with_runs.items()))
    call = f'field=pt.get_dataset("reuse:{name}").get_runs()'
    return f"these are the judgments of {names_known}; {call} brings its field of {count(n_runs, 'run')}"


def tell_remarks(columns: Columns, qrels: Qrels, measures: Measures, wanted: Wanted) -> Columns:
    """Warn of what the columns do not mean, and return them with the same in their settings."""
    of_uniques: list[Caveat] = []
    fit = columns.fit
    if fit is not None:
        alone = [*_among_themselves(fit, len(columns.systems), columns.hint), *fit.of_pool()] if wanted.alone else None
        of_uniques = [*(fit.caveats() if alone is None else alone), *none_relevant(qrels, qrels.rel)]
    unjudged = [column for column in ("unjudged", *BOUNDS) if column in columns.added]
    shares = [f"{name} {column}" for column in unjudged for name in columns.added[column]]
    caveats = [*relevant_only(qrels, [*shares, *of_judged(measures.values())]), *columns.caveats]
    # where no column shows what uniques are worth, the summary alone does
    hidden = "lou" in columns.empty
    shown, for_summary = (caveats, of_uniques) if hidden else ([*of_uniques, *caveats], [])
    tell(shown)
    if wanted.alone and wanted.by_default and (columns.hint or wanted.idle):
        _tell_of_the_default(columns, wanted)
    # what the study noted is said here in other words
    settings = {name: value for name, value in columns.settings.items() if name != BEWARE}
    return replace(columns, settings={**settings, **noted(shown), **noted(for_summary, BEWARE_OF_UNIQUES)})


def _among_themselves(fit: PoolFit, n_systems: int, hint: str) -> Iterator[Caveat]:
    """Yield a caveat where a few systems were taken for the pool, and are not what was judged."""
    if fit.stranger_share <= SLACK:
        return
    systems = count(n_systems, "system")
    get: tuple[Part, ...] = (sentence(hint),) if hint else (Option("field", ...), " takes the runs that were pooled.")
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


def _tell_of_the_default(columns: Columns, wanted: Wanted) -> None:
    n = len(columns.systems)
    where = f"ranks are among the {n:,} systems alone" if n > 1 else "the only system is always of rank 1"
    idle = f", so that {listed(wanted.idle)} changed no column" if wanted.idle else ""
    hint = f"{sentence(columns.hint)} " if columns.hint else ""
    warn(
        f"without a field, {where}, and leave-out-uniques is left out{idle}. {hint}",
        Option("reuse", list(wanted.kinds)),
        " says that these columns are all you want.",
    )


def sentence(hint: str) -> str:
    """Return a hint as a sentence of its own."""
    return f"{hint[0].upper()}{hint[1:]}."


def tell_other_order(
    columns: Columns, runs: RunSet, order: str, qrels: Qrels, measures: Measures, wanted: Wanted
) -> Columns:
    """Warn where the systems score otherwise in another order, and return the columns with a setting that says it."""
    known = {name: m for name, m in measures.items() if wanted.ranked or native_spec(m) is not None}
    if "unjudged" in wanted.kinds:
        known |= {f"{name} unjudged": unjudged_to(measure) for name, measure in measures.items()}
    bounded = [measures[name] for name in columns.added.get(BOUNDS[0], {})]
    ordered = runs if order == runs.order else runs.reorder(order)
    topics = _moved(runs, ordered, qrels)
    if not topics or not (known or bounded):
        return columns
    qrels = qrels.select(topics)
    shown, values = list(known), [_scores(part, qrels, list(known.values())) for part in (runs, ordered)]
    if bounded and (values[0] == values[1]).all():
        # a document without a label has changed places with one of label 0: no score sees it, its bounds may
        shown = [f"{name} {column}" for column in BOUNDS for name in columns.added[BOUNDS[0]]]
        values = [_bounds(part, qrels, bounded, wanted.labels) for part in (runs, ordered)]
    here, there = values
    differ = here != there
    n = differ.any(axis=0).sum(axis=0)
    odd = {runs.names[r]: int(n[r]) for r in np.flatnonzero(n)}
    if not odd:
        return columns
    m, t, r = (int(axis[0]) for axis in np.nonzero(differ))
    where = f"{shown[m]} of {runs.names[r]!r} on topic {qrels.topics[t]!r}"
    _warn_of_order(order, odd, len(runs), f"{where} is {here[m, t, r]:.6f} here and {there[m, t, r]:.6f} there.")
    of = f"by {order} the scores of {len(odd):,} of {count(len(runs), 'system')} are different"
    return columns.with_settings({"other order": of})


def _warn_of_order(order: str, topics: Mapping[str, int], n_systems: int, example: str) -> None:
    """Warn that systems score otherwise in an order, by system on how many topics."""
    equal, what = "", "the order of the runs given"
    if order == USUAL:
        equal, what = ", to which different scores may be equal", "float64, the default of ptr.score and the studies"
    some = [f"{examples([name])} on {count(n, 'topic')}" for name, n in list(topics.items())[:3]]
    more = f" and {len(topics) - 3} more" if len(topics) > 3 else ""
    warn(
        f"pt.Experiment ranks documents by float32 scores (order={ORDER!r}){equal}. In order={order!r} ({what}) the "
        f"scores of {len(topics):,} of {count(n_systems, 'system')} are different: {', '.join(some)}{more}. {example} "
        "For the scores in that order use ",
        Call("ptr.score", f"result.runs.reorder({order!r}), qrels, measures"),
        ".",
    )


def _moved(runs: RunSet, ordered: RunSet, qrels: Qrels) -> list[str]:
    """Return the judged topics on which some list is in another order."""
    moved = np.zeros(runs.field.n_topics, dtype=bool)
    for i, topics in enumerate(runs.field.parts if ordered is not runs else ()):
        field = runs.field.part(i)
        rows = np.flatnonzero(field.codes != ordered.field.part(i).codes)
        moved[topics.start + (np.searchsorted(field.starts, rows, side="right") - 1) // field.n_runs] = True
    return [topic for topic in qrels.topics if moved[runs.field.topic_row.get(topic, [])].any()]


def _scores(runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure]) -> NDArray[np.float64]:
    distinct = list(dict.fromkeys(measures))
    values = np.empty((len(distinct), len(qrels.topics), len(runs)))
    for block in rescore(runs, qrels, distinct):
        values[:, block.topics.start : block.topics.stop] = block.base
    return values[[distinct.index(measure) for measure in measures]]


def _bounds(
    runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], labels: NDArray[np.int16] | None
) -> NDArray[np.float64]:
    bounds = score_bounds(runs, qrels, measures, labels)
    # sums of the same numbers in another order differ in the last bit
    return np.round(np.concatenate([bounds.low, bounds.high]), DECIMALS)
