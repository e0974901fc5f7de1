"""What is said beside the columns of an experiment: caveats, hints, and scores that another ranking order changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, Option, Part, warn
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.collections.collection import catalogued, judged_alike
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.experiment.columns import BEWARE_OF_UNIQUES, BOUNDS, NO_FIELD, ORDER, Asked, Columns, unjudged_to
from pt_reuse.experiment.systems import Systems
from pt_reuse.pooling.fit import SLACK, PoolFit
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.caveats import BEWARE, Caveat, none_relevant, noted, of_judged, relevant_only, tell
from pt_reuse.scoring.measures import cutoff_of, native_spec
from pt_reuse.scoring.rescoring import rescore


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
    names_known = " or ".join(f"reuse:{name}" for name in with_runs)
    name, n_runs = next(iter(with_runs.items()))
    call = f'field=pt.get_dataset("reuse:{name}").get_runs()'
    return f"these are the judgments of {names_known}; {call} brings its field of {count(n_runs, 'run')}"


def tell_remarks(columns: Columns, qrels: Qrels, measures: Mapping[str, ir_measures.Measure], asked: Asked) -> Columns:
    """Warn of what the columns do not mean, and return them with the same in their settings."""
    of_uniques: list[Caveat] = []
    fit = columns.fit
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


#: the order in which `score` and the studies rank what nobody orders otherwise
USUAL = BY_SCORE[0]


def _warn_of_order(order: str, topics: Mapping[str, int], systems: str, example: str) -> None:
    """Warn that systems score otherwise in an order, by system on how many topics."""
    equal, what = "", "the order of the runs given"
    if order == USUAL:
        equal, what = ", to which different scores may be equal", "float64, the default of ptr.score and the studies"
    warn(
        f"pt.Experiment ranks documents by float32 scores (order={ORDER!r}){equal}. In order={order!r} ({what}) the "
        f"scores of {len(topics):,} of {systems} are different: {_examples(topics)}. {example} For the scores in that "
        "order use ",
        Call("ptr.score", f"result.runs.reorder({order!r}), qrels, measures"),
        ".",
    )


def own_order(systems: Systems) -> str:
    """Return the order in which `score` ranks the systems: that of a RunSet, the usual one of all else."""
    return USUAL if systems.runs is None else systems.runs.order


def tell_other_order(
    columns: Columns,
    runs: RunSet,
    order: str,
    qrels: Qrels,
    measures: Mapping[str, ir_measures.Measure],
    asked: Asked,
) -> Columns:
    """Warn where the systems score otherwise in another order, and return the columns with a setting that says it."""
    known = [(name, m) for name, m in measures.items() if asked.ranked or native_spec(m) is not None]
    if "unjudged" in asked.kinds:
        shares = {unjudged_to(measure): f"{name} unjudged" for name, measure in reversed(list(measures.items()))}
        known += [(name, share) for share, name in shares.items()]
    bounded = [(name, measures[name]) for name in columns.added.get(BOUNDS[0], {})]
    topics, example = _in_other_order(runs, order, qrels, known, bounded, asked.labels)
    if not topics:
        return columns
    systems = count(len(runs), "system")
    _warn_of_order(order, topics, systems, example)
    differ = f"by {order} the scores of {len(topics):,} of {systems} are different"
    return columns.with_settings({"other order": differ})


def _in_other_order(
    runs: RunSet,
    order: str,
    qrels: Qrels,
    measures: Sequence[tuple[str, ir_measures.Measure]],
    bounded: Sequence[tuple[str, ir_measures.Measure]] = (),
    labels: NDArray[np.int16] | None = None,
) -> tuple[dict[str, int], str]:
    """Return system -> on how many topics it scores otherwise in another order, and one such score in words."""
    if order == runs.order or not (measures or bounded):
        return {}, ""
    ordered = runs.reorder(order)
    cutoffs = [cutoff_of(measure) for _, measure in (*measures, *bounded)]
    deepest = None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)
    moved = _moved(runs, ordered, deepest)
    topics = [topic for topic in qrels.topics if topic in runs.field.topic_row]
    topics = [topic for topic in topics if moved[runs.field.topic_row[topic]].any()]
    if not topics:
        return {}, ""
    names = [runs.names[r] for r in np.flatnonzero(moved.any(axis=0))]
    judged, parts = qrels.select(topics), [part.select(names) for part in (runs, ordered)]
    shown = [name for name, _ in measures]
    here, there = (_scores(part, judged, [measure for _, measure in measures]) for part in parts)
    if bounded and (here == there).all():
        # a document without a label has changed places with one of label 0: no score sees it, its bounds may
        shown = [f"{name} {column}" for column in BOUNDS for name, _ in bounded]
        here, there = (_bounds(part, judged, [measure for _, measure in bounded], labels) for part in parts)
    differ = here != there
    if not differ.any():
        return {}, ""
    n = differ.any(axis=0).sum(axis=0)
    m, t, r = (int(axis[0]) for axis in np.nonzero(differ))
    example = (
        f"{shown[m]} of {names[r]!r} on topic {judged.topics[t]!r} is {here[m, t, r]:.6f} here and "
        f"{there[m, t, r]:.6f} there."
    )
    return {names[i]: int(n[i]) for i in np.flatnonzero(n)}, example


def _examples(topics: Mapping[str, int]) -> str:
    shown = [f"{examples([name])} on {count(n, 'topic')}" for name, n in list(topics.items())[:3]]
    return ", ".join(shown) + (f" and {len(topics) - 3} more" if len(topics) > 3 else "")


def _moved(runs: RunSet, ordered: RunSet, deepest: int | None) -> NDArray[np.bool_]:
    """Return (topics, runs): which lists have other documents at the top."""
    moved = np.zeros((runs.field.n_topics, runs.field.n_runs), dtype=bool)
    for i, topics in enumerate(runs.field.parts):
        field = runs.field.part(i)
        rows = np.flatnonzero(field.codes != ordered.field.part(i).codes)
        lists = np.searchsorted(field.starts, rows, side="right") - 1
        seen = lists if deepest is None else lists[rows - field.starts[lists] < deepest]
        moved[topics.start + seen // field.n_runs, seen % field.n_runs] = True
    return moved


def _scores(runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure]) -> NDArray[np.float64]:
    values = np.empty((len(measures), len(qrels.topics), len(runs)))
    for block in rescore(runs, qrels, list(measures)):
        values[:, block.topics.start : block.topics.stop] = block.base
    return values


def _bounds(
    runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], labels: NDArray[np.int16] | None
) -> NDArray[np.float64]:
    found = score_bounds(runs, qrels, measures, labels)
    # sums of the same numbers in another order differ in the last bit
    return np.round(np.concatenate([found.low, found.high]), DECIMALS)
