"""report: the card of a collection, one page of what it is, what was computed of it, and what it can answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, listed
from pt_reuse.cards.answers import card_of_answers
from pt_reuse.cards.card import Card
from pt_reuse.cards.opening import paragraph, verdict
from pt_reuse.cards.parts import AT_EQUAL_DEPTH, EQUAL_DEPTH, SECTIONS, Asking, ask_all, judged_of_types, losses_of
from pt_reuse.cards.questions import NEW_RUN, NEW_TYPE, QUESTIONS, answered
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import facts_of, summary_of
from pt_reuse.collections.definition import collection_names, find_collection, real_name
from pt_reuse.data.answers import Answers
from pt_reuse.data.judgments import as_qrels, check_not_empty, is_collection
from pt_reuse.data.run_reading import as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, warn
from pt_reuse.options import SHARED, described
from pt_reuse.pooling.depth import checked_depth
from pt_reuse.scoring.caveats import grade_unstated, noted, relevant_only, tell, usual_measures
from pt_reuse.scoring.run_fit import misfits

#: facts of a collection that say nothing of this machine
_FACTS = ("also", "runs", "types", "pooled", "pool order", "pool depth", "published", "judgments", "note")
#: the share of pooled runs from which on a pool is that of one kind of system
_ONE_KIND = 0.9
_OFFICIAL = {"automatic", "manual", "feedback"}


_METHODS = (
    "Each section is a study of the Python package pt_reuse {version} and repeats what the study says: the answer, "
    "when it holds, and what it does not say. Measures: {measures}; {main} is the main one. Relevant: "
    "{relevant}. Intervals are at 95%, from {resamples:,} resamples of the topics where a study has any (100 of swap "
    "rates), seed {seed}. Leave-out-uniques scores each run without the relevant documents that its own team, or type, "
    "alone put into the pool. To compare collections, the judgments are also cut to the depth-10 pool of the runs on "
    "record as pooled. A question is answered yes where the worse end of the interval reaches the first threshold, no "
    "where the number itself misses the second, else with care; of several numbers the worst counts. With fewer "
    "than 5 topics nothing is said. The thresholds of tau_b are the usual ones, the others conventions of this card:"
)


@described
def report(
    runs: Any = None,
    qrels: Any = None,
    measures: Any = None,
    *,
    name: str | None = None,
    depth: int | None = None,
    rel: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
    verbose: bool = False,
) -> Card:
    """Make the card of a collection: what it is, who was pooled, how reusable it is, and what it can answer.

    It asks the studies of this package and shows their results on one page. Studies that cannot be asked, for want of
    teams, types or runs, say why. Reusability is computed at the depth of the pool and, to compare collections, for the
    judgments in the depth-10 pool. The page shows the thresholds behind each answer.

    Args:
        runs: the field, in any form, see :doc:`runs`; or the name of a collection, ``"reuse:dl21"`` or ``"dl21"``,
            whose judgments are taken, too. None for judgments alone. Or Answers, see :func:`read_answers`: the card
            asks then whether the bank is fair to a new system, and whether its items are most that there are.
        qrels: the judgments, in any form, see :doc:`runs`; default those of the collection.
        measures: ir_measures measures or their names; the first is the main one. Default ``nDCG@10`` and AP, from the
            grade from which documents are relevant.
        name: of the collection, for the page. The facts of one that is known by this name are shown.
        resamples: how often topics are drawn with replacement for intervals; 0 for none.

    Returns:
        Card: ``.save(path)``, ``.questions``, ``.results``, ``.row``, ``.html``.

    Raises:
        InputError: neither runs nor judgments, judgments that cannot be read, a measure that does not exist.

    Warns:
        ReuseWarning: runs of the collection that cannot be read, so that the card is of the judgments alone; runs
            without a team, each taken for a team of its own; judgments of a known collection without the label from
            which its track counts documents as relevant. What else studies warn of stands beside their numbers.

    Example:
        >>> import pt_reuse as ptr
        >>> card = ptr.report("demo", resamples=0)
        >>> card.questions.iloc[1][["question", "answer", "number"]].tolist()
        ['Are the top ranks real, by nDCG@10?', 'with care', '3 of 22 may be the best']
        >>> sorted(card.missing)[:2]
        ['power at depth 10', 'teams at depth 10']
    """
    how = {"resamples": resamples, "seed": seed}
    for option, value in {**how, "verbose": verbose}.items():
        SHARED[option].checked(value)
    if isinstance(runs, Answers):
        for option, value in {"qrels": qrels, "depth": depth, "rel": rel}.items():
            if value is not None:
                raise InputError(f"{option} has no meaning beside answers. Leave it out.", argument=option)
        return card_of_answers(runs, measures, name or "Answers", how, verbose=verbose)
    depth = None if depth is None else checked_depth(depth)
    chosen = None if measures is None else SHARED["measures"].checked(measures)
    collection, without = collection_named(runs), "no runs are given."
    dataset = None if collection is None else pt.get_dataset(f"reuse:{collection.name}")
    if qrels is None and dataset is not None:
        qrels = dataset.get_judgments()
    if qrels is None:
        if isinstance(runs, str) and not os.path.exists(runs):
            find_collection(runs)  # which says what names there are
        raise InputError("a card needs judgments, or the name of a collection.", argument="qrels")
    # first: runs take longer to read
    judged = as_qrels(qrels) if rel is None else as_qrels(qrels).with_rel(rel)
    check_not_empty(judged)
    if dataset is not None:
        try:
            runs = dataset.get_runs(verbose=verbose)
        except InputError as error:
            runs, without = None, str(error)
            warn(f"the card is of the judgments alone: {error}")
    known = collection or collection_named(name)
    of_runs = None if runs is None else as_runs(runs, judged)
    asked = usual_measures(judged.rel)[::-1] if chosen is None else chosen
    caveats = [
        *grade_unstated(judged, known=None if known is None else (known.name, known.rel or 1)),
        *relevant_only(judged),
        *(() if of_runs is None else misfits(of_runs, judged, asked, without_topics="zero")),
    ]
    tell(caveats)
    asking = Asking(
        given_runs=of_runs,
        qrels=judged,
        measures=asked,
        given_depth=depth if of_runs is None or depth is not None else of_runs.pool_depth,
        how=how,
        without_runs=without,
    )
    ask_all(asking, SECTIONS, verbose=verbose)
    title = known.title if known is not None and name in (None, known.name) else name or "The collection"
    flags = [] if of_runs is None else [_flag(of_runs, known)]
    return Card(
        name=title,
        verdict=verdict(asking),
        summary=_summary(asking),
        flag=" ".join([*flags, *(f"Beware: {c.note}." for c in caveats)]),
        facts=list(_facts(known)),
        results=asking.found,
        missing=asking.missing,
        questions=answered(asking, QUESTIONS),
        row=_rows(title, asking),
        asking=asking,
        sections=SECTIONS,
        asked=QUESTIONS,
        methods=_METHODS,
        said=paragraph(title, asking),
        settings={**_settings(asking), **noted(caveats)},
    )


def collection_named(given: Any) -> Collection | None:
    """Return the collection of a name, None where something is no name of one."""
    if not isinstance(given, str) or (os.path.exists(given) and not is_collection(given)):
        return None
    known = is_collection(given) or real_name(given) in collection_names()
    return find_collection(given.removeprefix("reuse:")) if known else None


def _facts(collection: Collection | None) -> Iterator[tuple[str, str]]:
    if collection is not None and collection.origin == "catalogue":
        yield "collection", summary_of(collection)
        yield from (fact for fact in facts_of(collection) if fact[0] in _FACTS)
    elif collection is not None and collection.note:
        yield "note", collection.note


def _summary(asking: Asking) -> str:
    labels, rel, runs, depth = asking.qrels.arrays.labels, asking.qrels.rel, asking.given_runs, asking.depth
    grades = ", ".join(f"{label}: {n:,}" for label, n in pd.Series(labels).value_counts().sort_index().items())
    judged = f"{count(len(asking.qrels.topics), 'topic')}, {count(len(labels), 'judgment')} (labels {grades})"
    judged += f", {count(int((labels >= rel).sum()), 'relevant document')} (label of at least {rel})."
    if runs is None:
        return f"{judged} {asking.without_runs[:1].upper()}{asking.without_runs[1:]}"
    units = [count(len(names), noun) for names, noun in ((runs.teams, "team"), (runs.types, "type")) if names]
    origin = "on record or given" if asking.given_depth is not None else "as the judgments tell"
    pool = "not known" if depth is None else f"{depth:,} documents per run and topic, {origin}"
    return f"{', '.join([count(len(runs), 'run'), *units])}; {judged} Pool depth: {pool}."


def _flag(runs: RunSet, collection: Collection | None) -> str:
    """Return what kind of system was pooled, and what cannot be learned of others."""
    pooled, record = runs.pooled.fillna(True).to_numpy(dtype=bool), ""
    if not runs.pool_is_on_record:
        record = " (not on record for all: runs that nobody recorded count)"
        if collection is not None and collection.submitted is not None:
            read = f"pt.get_dataset('reuse:{collection.name}').get_runs(runs=...)"
            record = f" (not said with the runs: {read} labels them as on record, with their teams and types)"
    flag = f"Pooled: {pooled.sum():,} of {count(len(runs), 'run')}{record}"
    kinds = runs.run_table["type"][pooled].dropna().value_counts()
    if kinds.empty:
        return f"{flag}. No run has a type, so nothing is known of what kind of system was pooled."
    flag += f": {listed([f'{n:,} {kind}' for kind, n in kinds.items()])}."
    if kinds.iloc[0] >= _ONE_KIND * pooled.sum():
        share = "All" if kinds.iloc[0] == pooled.sum() else "Nearly all"
        flag += f" {share} are {kinds.index[0]}: of other kinds of system these numbers say little."
    official = set(kinds.index) <= _OFFICIAL
    return f"{flag} These types say how queries were made, not how documents are found." if official else flag


def _rows(name: str, asking: Asking) -> pd.DataFrame:
    runs = asking.given_runs
    n_runs, n_teams = (0, 0) if runs is None else (len(runs), len(runs.teams))
    whole = {"collection": name, "topics": len(asking.qrels.topics), "runs": n_runs, "teams": n_teams}
    cut = [_row(asking, AT_EQUAL_DEPTH)] if f"power{AT_EQUAL_DEPTH}" in asking.found else []
    return pd.DataFrame([whole | row for row in (_row(asking, ""), *cut)]).reindex(columns=_COLUMNS.split())


def _row(asking: Asking, at: str) -> dict[str, Any]:
    main, found = asking.main, asking.found
    depth = EQUAL_DEPTH if at else asking.depth
    row: dict[str, Any] = {"judgments": f"depth-{EQUAL_DEPTH} pool" if at else "as judged", "depth": depth}
    row["rel"] = asking.qrels.rel
    row |= {"run_answer": NEW_RUN.row(asking, at)["answer"], "type_answer": NEW_TYPE.row(asking, at)["answer"]}
    row |= losses_of(asking, f"teams{at}") | losses_of(asking, f"types{at}", "type_")
    if f"type_coverage{at}" in found:
        row["type_judged"] = judged_of_types(found[f"type_coverage{at}"]).min()
    if f"power{at}" in found:
        row["power"] = found[f"power{at}"].table.set_index("measure")["power"][main]
    return row


_COLUMNS = (
    "collection judgments depth rel topics runs teams tau_b loss upper_loss drop type_tau_b type_loss type_upper_loss "
    "type_judged power run_answer type_answer"
)


def _settings(asking: Asking) -> dict[str, Any]:
    order = {} if asking.given_runs is None else {"order": asking.runs.order}
    depth = {} if asking.given_depth is None else {"depth": asking.depth}
    measures = ", ".join(map(repr, asking.measures))
    return {"measures": measures, "relevant": f"label of at least {asking.qrels.rel}", **order, **depth, **asking.how}
