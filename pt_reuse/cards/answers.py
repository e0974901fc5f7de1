"""What the card of answers asks that were judged by items: the studies and questions of a bank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import count
from pt_reuse.cards.card import Card
from pt_reuse.cards.opening import losses, top
from pt_reuse.cards.parts import PARTS, Asking, Part, ask_all, losses_of
from pt_reuse.cards.questions import LOSS, NO_TEAM, QUESTIONS, TAU, Found, Question, Threshold, answered, lost
from pt_reuse.data.answers import Answers
from pt_reuse.errors import InputError
from pt_reuse.result import Result
from pt_reuse.scoring.answers import item_measures, score_answers
from pt_reuse.scoring.caveats import FEW_TOPICS
from pt_reuse.studies.bank_growth import bank_growth
from pt_reuse.studies.compare_leaderboards import compare_leaderboards
from pt_reuse.studies.leave_out_items import leave_out_items


class AskingAnswers(Asking):
    """What the studies of a card of answers are asked with; the first judge's matches count."""

    def __init__(self, answers: Any, measures: Any, how: Mapping[str, Any]):
        super().__init__(given_runs=answers, qrels=answers, measures=measures, given_depth=None, how=how)

    answers = property(lambda self: self.given_runs)
    judge = property(lambda self: self.answers.judges[0])
    teams = property(lambda self: self.answers.run_table["team"].nunique())
    by = property(lambda self: "team" if self.teams else "run")
    scores = property(lambda self: score_answers(self.answers, self.measures, judge=self.judge))


def _left_out(a: Any, bank: str) -> Result:
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


def _complete(_: Asking, result: Any) -> Found:
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
    said = f"Of the judges beside {asking.judge!r} the one who agrees least."
    return Found(f"tau_b {row['tau_b']:.3f}, {row['judge']}", interval, (verdict,), said)


_FOUND = Threshold("items found, of those that there are at least", 0.9, 0.7, ".0%")
_SIMULATION = (
    "Where the bank was made of these answers, or of documents that the systems brought, it depends on who took part; "
    "of a bank that assessors wrote this is a simulation."
)
_BY_NAME = {part.name: part for part in PARTS}
_SECTIONS = {
    "A new system like these": [
        Part("teams", "One team left out", lambda a: _left_out(a, "all"), ("summary", "table", "by_run"), "losses"),
        Part("found", "The same, of items that some run found", lambda a: _left_out(a, "found"), ("summary",)),
    ],
    "Items that nobody found yet": [Part("growth", "Growth of the bank", _growth, ("summary", "table", "topics"))],
    "Stability": [_BY_NAME[name] for name in ("stability", "ranks", "power", "saturation")],
    "Who matched": [Part("judges", "Other judges", _judges, ("table",))],
}
_QUESTIONS = (
    Question("Is the bank fair to a new system like these, by {main}?", "teams", _fair, (TAU, LOSS),
             ("yes", "yes, with the loss in mind", "no: it may lose much")),
    Question("Are most items found that systems like these find?", "growth", _complete, (_FOUND,),
             ("yes", "many are missing", "no: further systems find more")),
    *(each for each in QUESTIONS if each.part in ("stability", "ranks", "saturation")),
    Question("Do other judges rank the runs alike, by {main}?", "judges", _alike, (TAU,),
             ("yes", "with care", "no: the ranking is the judge's")),
)  # fmt: skip
_METHODS = (
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
        methods=_METHODS,
        said=f"{name}: {summary} {' '.join(said)} {_SIMULATION}",
        settings={"measures": ", ".join(asking.measures), "judge": asking.judge, **how},
    )


def _verdict(asking: AskingAnswers) -> list[str]:
    """Return what becomes of a new system, what the bank lacks, and what of the top ranks, a sentence each."""
    if len(asking.answers.topics) < FEW_TOPICS:
        return [f"Fewer than {FEW_TOPICS} topics: nothing can be said of other ones."]
    said = []
    if asking.by != "team":
        said.append("Nothing is known of a new system: no run has a team.")
    elif "teams" in asking.found:
        said.append(f"No system here loses more than {losses(asking.found['teams'], asking)} without its team.")
    if "growth" in asking.found:
        row = asking.found["growth"].frame("summary").iloc[0]
        at_least = f"at least {row['chao2']:,.0f} are there, and the next {asking.by} would add {row['next_unit']:.1f}"
        said.append(f"{count(int(row['units']), asking.by)} found {int(row['found']):,} items; {at_least}.")
    return [*said, top(asking)]
