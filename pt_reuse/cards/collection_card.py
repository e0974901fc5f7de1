"""report: the card of a collection, of runs or of answers by items."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse.cards.card import Card, losses, paragraph, top, verdict
from pt_reuse.cards.parts import (
    AT_EQUAL_DEPTH,
    EQUAL_DEPTH,
    PARTS,
    SECTIONS,
    Asking,
    Part,
    ask_all,
    judged_of_types,
    losses_of,
)
from pt_reuse.cards.questions import (
    LOSS,
    NEW_RUN,
    NEW_TYPE,
    NO_TEAM,
    QUESTIONS,
    TAU,
    Found,
    Question,
    Threshold,
    answered,
    lost,
)
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import facts_of, summary_of
from pt_reuse.collections.definition import collection_names, find_collection, real_name
from pt_reuse.data.answers import Answers
from pt_reuse.data.judgments import as_qrels, check_not_empty, is_collection
from pt_reuse.data.run_set import RunSet, as_runs
from pt_reuse.errors import InputError, count, listed, warn
from pt_reuse.options import SHARED, described
from pt_reuse.pooling.depth import checked_depth
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import FEW_TOPICS, grade_unstated, misfits, noted, relevant_only, tell, usual_measures
from pt_reuse.scoring.leaderboards import item_measures, score_answers
from pt_reuse.studies.compare_leaderboards import compare_leaderboards
from pt_reuse.studies.item_banks import bank_growth, leave_out_items


class AskingAnswers(Asking):
    """What the studies of a card of answers are asked with; the first judge's matches count."""

    def __init__(self, answers: Any, measures: Any, how: Mapping[str, Any]):
        super().__init__(given_runs=answers, qrels=answers, measures=measures, given_depth=None, how=how)

    answers = property(lambda self: self.given_runs)
    judge = property(lambda self: self.answers.judges[0])
    teams = property(lambda self: self.answers.run_table["team"].nunique())
    by = property(lambda self: "team" if self.teams else "run")
    scores = property(lambda self: score_answers(self.answers, self.measures, judge=self.judge))


def _items_left_out(a: Any, bank: str) -> Result:
    return leave_out_items(a.answers, a.measures, by=a.by, bank=bank, judge_name=a.judge, **a.how)


def _growth(a: Any) -> Result:
    return bank_growth(a.answers, by=a.by, judge_name=a.judge)


def _judges(a: Any) -> Result:
    others = a.answers.judges[1:]
    if not others:
        raise InputError("one judge matched the answers. Those of a second judge, joined to them with |, are compared.")
    by_others = {judge: score_answers(a.answers, a.measures, judge=judge) for judge in others}
    return compare_leaderboards(a.scores, by_others, measures=[a.main], judge_measures=[a.main], **a.how)


def _fair(asking: Asking, result: Any) -> Found:
    if asking.by == "run":
        raise InputError(NO_TEAM)
    condition = "Each run without the items that its own team alone found, of all items of the bank. "
    return lost(asking, result, "team", f"{condition}It speaks of systems like these. {_SIMULATION}")


def _bank_complete(_: Asking, result: Any) -> Found:
    row = result.summary.iloc[0]
    # one item that a single team found leaves no interval
    low, high = (None if pd.isna(row[end]) else row[end] for end in ("chao2_low", "chao2_high"))
    return Found(
        f"{int(row['found']):,} items found, at least {row['chao2']:,.1f} there; the next {result.settings['by']} "
        f"would add {row['next_unit']:.1f}",
        "none" if low is None else f"at least {low:,.0f} to {high:,.0f} there",
        (_FOUND.verdict(row["found"] / row["chao2"], None if high is None else row["found"] / high),),
        "Items that systems of this kind find (Chao2, a lower bound).",
    )


def _alike(asking: Any, result: Any) -> Found:
    rows = result.table[result.table["part"].str.startswith("all")]
    row = rows.loc[rows["tau_b"].idxmin()]
    interval = f"tau_b {row['tau_b_low']:.3f} to {row['tau_b_high']:.3f}" if "tau_b_low" in row else "none"
    verdict = TAU.verdict(row["tau_b"], row.get("tau_b_low"))
    least = f"Of the judges beside {asking.judge!r} the one who agrees least."
    return Found(f"tau_b {row['tau_b']:.3f}, {row['judge']}", interval, (verdict,), least)


_FOUND = Threshold("items found, of those that there are at least", 0.9, 0.7, ".0%")
_SIMULATION = (
    "Where the bank was made of these answers, or of documents that the systems brought, it depends on who took part; "
    "of a bank that assessors wrote this is a simulation."
)
_BY_NAME = {part.name: part for part in PARTS}
_SECTIONS = {
    "A new system like these": [
        Part(
            "teams", "One team left out", lambda a: _items_left_out(a, "all"), ("summary", "table", "by_run"), "losses"
        ),
        Part("found", "The same, of items that some run found", lambda a: _items_left_out(a, "found"), ("summary",)),
    ],
    "Items that nobody found yet": [Part("growth", "Growth of the bank", _growth, ("summary", "table", "topics"))],
    "Stability": [_BY_NAME[name] for name in ("stability", "ranks", "power", "saturation")],
    "Who matched": [Part("judges", "Other judges", _judges, ("table",))],
}
_QUESTIONS = (
    Question("Is the bank fair to a new system like these, by {main}?", "teams", _fair, (TAU, LOSS),
             ("yes", "yes, with the loss in mind", "no: it may lose much")),
    Question("Are most items found that systems like these find?", "growth", _bank_complete, (_FOUND,),
             ("yes", "many are missing", "no: further systems find more")),
    *(each for each in QUESTIONS if each.part in ("stability", "ranks", "saturation")),
    Question("Do other judges rank the runs alike, by {main}?", "judges", _alike, (TAU,),
             ("yes", "with care", "no: the ranking is the judge's")),
)  # fmt: skip
_ANSWER_METHODS = (
    "Each section is a study of the Python package pt_reuse {version} and repeats what the study says. Scores: "
    "{measures}; {main} is the main one. Matches are those of {judge}; a missing one counts as not found. "
    "Intervals are at 95%, from {resamples:,} resamples of the topics where a study has any (100 of swap rates), seed "
    "{seed}. A question is answered yes where the worse end of the interval reaches the first threshold, no where the "
    "number itself misses the second, else with care; of several numbers the worst counts. With fewer than 5 topics "
    "nothing is said. The thresholds are conventions of this card:"
)


def card_of_answers(answers: Answers, measures: Any, name: str, how: Mapping[str, Any], *, verbose: bool) -> Card:
    """Return the card of answers that were judged by items."""
    asking = AskingAnswers(answers, item_measures(answers, measures), how)
    ask_all(asking, _SECTIONS, verbose=verbose)
    summary = f"{repr(answers).partition(': ')[2]}. Scores by the matches of {asking.judge}."
    said = _verdict(asking)
    sizes = {"collection": name, "topics": len(answers.topics), "runs": len(answers.names), "teams": asking.teams}
    return Card(
        name=name,
        verdict=said,
        summary=summary,
        flag=_SIMULATION,
        facts=[],
        results=asking.found,
        missing=asking.missing,
        questions=answered(asking, _QUESTIONS),
        row=pd.DataFrame([{**sizes, **losses_of(asking, "teams")}]),
        asking=asking,
        sections=_SECTIONS,
        asked=_QUESTIONS,
        methods=_ANSWER_METHODS,
        said=f"{name}: {summary} {' '.join(said)} {_SIMULATION}",
        settings={"measures": ", ".join(asking.measures), "judge": asking.judge, **how},
    )


def _verdict(asking: AskingAnswers) -> list[str]:
    """Return what becomes of a new system, what the bank lacks, and what of the top ranks, a sentence each."""
    if len(asking.answers.topics) < FEW_TOPICS:
        return [f"Fewer than {FEW_TOPICS} topics: nothing can be said of other ones."]
    sentences = []
    if asking.by != "team":
        sentences.append("Nothing is known of a new system: no run has a team.")
    elif "teams" in asking.found:
        sentences.append(f"No system here loses more than {losses(asking.found['teams'], asking)} without its team.")
    if "growth" in asking.found:
        row = asking.found["growth"].frame("summary").iloc[0]
        at_least = f"at least {row['chao2']:,.0f} are there, and the next {asking.by} would add {row['next_unit']:.1f}"
        sentences.append(f"{count(int(row['units']), asking.by)} found {int(row['found']):,} items; {at_least}.")
    return [*sentences, top(asking)]


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
    of_runs = None if runs is None else as_runs(runs)
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
