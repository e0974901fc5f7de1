"""The questions of a card: each is answered by a number of a study, against thresholds that the card prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import count as count_from
from typing import Any

import pandas as pd

from pt_reuse._text import ends, is_missing
from pt_reuse.cards.parts import AT_EQUAL_DEPTH, EQUAL_DEPTH, FURTHER, FURTHER_PART, Asking, judged_of_types, upper_loss
from pt_reuse.data.judgments import is_relevant_only
from pt_reuse.errors import InputError, count
from pt_reuse.scoring.caveats import FEW_TOPICS

NO_TEAM = "No run has a team, and runs of one team find the same. Give teams= with the runs."
#: parts that ask which documents were judged
_OF_JUDGED = ("bounds", "coverage", "density", "pool")
_DEEP = 100  # the rank down to which deep measures need judgments


class Verdict(Enum):
    """What a question is answered with; the worst of several counts."""

    YES = "yes"
    CARE = "with care"
    NO = "no"
    OPEN = "cannot be said"


@dataclass(frozen=True)
class Threshold:
    """From where on a number is good, and from where on it is good enough to be used with care."""

    name: str  # of the number, in words
    yes: float
    care: float
    form: str  # how it is written
    higher: bool = True  # whether higher is better
    of_topics: bool = False  # whether it is a share of topics

    def at(self, topics: int) -> Threshold:
        """Return the threshold for so many topics: yes is what none of them reaches, where few allow no less."""
        least = _wilson(0, topics)[1]
        return replace(self, yes=min(max(self.yes, least), self.care))

    def verdict(self, value: float, worst: float | None = None) -> Verdict:
        """Judge a number: yes where the worse end of its interval is good, no where the number itself is bad."""
        sign = 1 if self.higher else -1
        end = value if worst is None or is_missing(worst) else worst
        if sign * end >= sign * self.yes:
            return Verdict.YES
        return Verdict.CARE if sign * value >= sign * self.care else Verdict.NO

    def __str__(self) -> str:
        at = "at least" if self.higher else "at most"
        few = ""
        if self.of_topics:
            # the fewest topics of which none gives an interval that ends at most there
            fewest, more = (next(n for n in count_from(1) if _wilson(0, n)[1] <= e) for e in (self.care, self.yes))
            few = f", or 0 of {fewest} to {more - 1} topics"
        return f"{self.name}: yes {at} {self.yes:{self.form}}{few}, with care {at} {self.care:{self.form}}"


@dataclass(frozen=True)
class Found:
    """What a question finds."""

    number: str
    interval: str  # or why there is none
    verdicts: tuple[Verdict, ...]
    condition: str


@dataclass(frozen=True)
class Question:
    """A question that a user of a collection has."""

    text: str  # ``{main}`` is the main measure, ``{such}`` an example of a deep one
    part: str  # whose result answers it
    answer: Callable[[Asking, Any], Found]
    thresholds: tuple[Threshold, ...]
    words: tuple[str, str, str]  # what it means where the answer is yes, with care, no

    def row(self, asking: Asking, at: str | None = None) -> dict[str, str]:
        """Return the row of the table: by the judgments as they are, else those of equal depth, or by one of them."""
        last = asking.measures[-1]
        cutoff = getattr(last, "params", {}).get("cutoff", _DEEP)
        such = f", such as {last}" if getattr(cutoff, "real", 0) >= _DEEP else ""
        about = {"question": self.text.format(main=asking.main, such=such), "part": self.part}
        part = self.part + (at or "")
        if at is None and part not in asking.found and part + AT_EQUAL_DEPTH in asking.found:
            part += AT_EQUAL_DEPTH
        try:
            if self.part in _OF_JUDGED and is_relevant_only(asking.qrels.arrays.labels):
                raise InputError("The judgments are of relevant documents only: what else was judged is not known.")
            if part not in asking.found:
                raise InputError(asking.missing[part])
            found = self.answer(asking, asking.found[part])
        except InputError as error:
            empty = {"number": "", "interval": "", "condition": str(error)}
            return {**about, "answer": Verdict.OPEN.value, "words": Verdict.OPEN.value, **empty}
        worst, condition = max(found.verdicts, key=list(Verdict).index), found.condition
        if len(asking.qrels.topics) < FEW_TOPICS and self.part != "pool":
            worst, condition = Verdict.OPEN, f"Fewer than {FEW_TOPICS} topics. {condition}"
        numbers = {"number": found.number, "interval": found.interval, "condition": condition}
        words = Verdict.OPEN.value if worst is Verdict.OPEN else self.words[list(Verdict).index(worst)]
        return {**about, "part": part, "answer": worst.value, "words": words, **numbers}


def row_of(table: pd.DataFrame, asking: Asking) -> dict[str, Any]:
    """Return the row of the main measure."""
    rows = table[table["measure"] == asking.main]
    return {str(name): value for name, value in rows.iloc[0].items()}


def _known(value: Any, why: str) -> float:
    if is_missing(value):
        raise InputError(why)
    return float(value)


def _wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the 95% interval of a share of topics, Wilson's."""
    from scipy.stats import binomtest

    found = binomtest(hits, of).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


_SWAPS = Threshold("pairs of runs so far apart that at most 5% swap on other topics", 0.9, 0.5, ".0%")
_BEST = Threshold("runs that may be the best", 1, 5, ".0f", higher=False)
_HOLDS = Threshold("pairs whose order holds under every completion of the stated set", 0.95, 0.8, ".0%")
TAU = Threshold("tau_b to the full ranking", 0.9, 0.8, ".2f")
LOSS = Threshold("largest loss of a run outside the lowest quarter by score, %", 10, 25, ".0f", higher=False)
_OF_TYPE = Threshold(f"judged documents in the first {EQUAL_DEPTH} of the type least covered", 0.9, 0.7, ".0%")
_JUDGED = Threshold(f"judged documents down to rank {_DEEP}", 0.9, 0.6, ".0%")
_DENSE = Threshold("topics with a relevant density above 1/3", 0.05, 0.25, ".0%", higher=False, of_topics=True)
_NEAR = Threshold("topics that are saturated or nearly so", 0.05, 0.2, ".0%", higher=False, of_topics=True)
_EXPLAINED = Threshold("judgments that the pool of these runs explains", 0.95, 0.5, ".0%")
_UNPOOLED_DOCUMENTS = f"unjudged documents in the first {EQUAL_DEPTH} of runs that were not pooled"
_UNPOOLED = Threshold(_UNPOOLED_DOCUMENTS, 0.02, 0.1, ".0%", higher=False)


def _compare(asking: Asking, result: Any) -> Found:
    row = row_of(result.differences_needed().groupby("measure", sort=False).tail(1), asking)
    _known(row["rate"], "All runs tie, or there is one topic only.")
    share = 0.0 if is_missing(row["share"]) else row["share"]
    if not share:
        never = f"no difference is large enough; swap rate {row['rate']:.1%}"
        return Found(never, "", (Verdict.NO,), "Whatever their difference.")
    bins = result.table[(result.table["measure"] == row["measure"]) & (result.table["size"] == row["size"])]
    there = row_of(bins[bins["at_least"] >= row["difference"] - 1e-9], asking)
    interval = ends(there, "rate", lambda rate: f"{100 * rate:.1f}")
    return Found(
        f"from a difference of {row['difference']:.2g} on; {share:.0%} of pairs differ by so much",
        f"swap rate there {interval}%" if interval else "none",
        (_SWAPS.verdict(share),),
        f"Two samples of {count(int(row['size']), 'topic')} like these; all pairs together swap at {row['rate']:.1%}.",
    )


def _top(asking: Asking, result: Any) -> Found:
    row, best = row_of(result.summary(), asking), row_of(result.table, asking)
    return Found(
        f"{row['candidates']:,} of {row['systems']:,} may be the best",
        f"ranks {best['rank_low']} to {best['rank_high']} for {best['name']}",
        (_BEST.verdict(row["candidates"]),),
        f"At {100 * result.confidence:.4g}% for all runs at once, for topics like these.",
    )


def _unjudged(asking: Asking, result: Any) -> Found:
    if asking.main not in result.measures:
        raise InputError(f"{asking.main} has no cutoff, and without one nearly every order can be reversed.")
    row = row_of(result.summary, asking)
    share = _known(row["holds"] / row["pairs"] if row["pairs"] else None, "No two runs differ.")
    number, verdicts = f"{row['holds']:,} of {count(row['pairs'], 'pair')} ({share:.1%}) keep their order", [share]
    if FURTHER_PART in asking.found:
        more = row_of(asking.found[FURTHER_PART].frame("summary"), asking)
        verdicts.append(more["holds"] / more["pairs"])
        number += f"; {more['holds']:,} ({verdicts[-1]:.1%}) with {FURTHER} further documents per topic"
    return Found(
        number,
        f"a run's possible ranks span {row['mean_width']:.1f} on average",
        tuple(map(_HOLDS.verdict, verdicts)),
        f"Completions: {result.settings['completions']}. For the second number {FURTHER} documents per topic that no "
        "run has may have the highest label, too. This is exact, not statistical.",
    )


def lost(asking: Asking, result: Any, by: str, condition: str) -> Found:
    """Return what runs lose when each is scored without what its own unit alone brought."""
    row = row_of(result.summary, asking)
    tau, loss = _known(row["own_tau_b"], "All runs tie."), upper_loss(result, row["measure"])
    intervals = f"tau_b {ends(row, 'own_tau_b', '.3f')}; {ends(row, 'alone_max_drop', '.0f')} ranks"
    return Found(
        f"tau_b {tau:.3f} if all runs are scored so; a run loses up to {row['largest_loss_pct']:.1f}% ({loss:.1f}% "
        f"without the lowest quarter), and {count(int(row['alone_max_drop']), 'rank')} if its {by} alone is scored so",
        intervals if "own_tau_b_low" in row else "none",
        (TAU.verdict(tau, row.get("own_tau_b_low")), LOSS.verdict(loss)),
        condition,
    )


def _left_out(asking: Asking, result: Any, by: str, *, cut: bool) -> Found:
    pool = f"the depth-{result.depth} pool" + (", judgments cut to that pool" if cut else "")
    condition = (
        f"Each run without the documents that are relevant ({result.settings['relevant']}) and that its own {by} alone "
        f"put into {pool}. It speaks of runs like these, not of systems unlike them, nor of "
        "relevant documents that no run found."
    )
    return lost(asking, result, by, condition)


def _end_of(asking: Asking, result: Any) -> str:
    """Return how the names of parts end that have the judgments of a result."""
    return AT_EQUAL_DEPTH if any(v is result for n, v in asking.found.items() if n.endswith(AT_EQUAL_DEPTH)) else ""


def _new_run(asking: Asking, result: Any) -> Found:
    if asking.by == "run":
        raise InputError(NO_TEAM)
    return _left_out(asking, result, "team", cut=bool(_end_of(asking, result)))


def _new_type(asking: Asking, result: Any) -> Found:
    end = _end_of(asking, result)
    answer = _left_out(asking, result.uniques, "type", cut=bool(end))
    answer = replace(answer, condition=f"{answer.condition} Types: {', '.join(asking.runs.types)}.")
    covered = asking.found.get(f"type_coverage{end}")
    judged = float("nan") if covered is None else float(judged_of_types(covered).min())
    # not known where teams have runs of several types, or by measures without condensed lists
    if is_missing(judged):
        return answer
    number = f"{answer.number}; {judged:.0%} of its first {EQUAL_DEPTH} documents are judged"
    return replace(answer, number=number, verdicts=(*answer.verdicts, _OF_TYPE.verdict(judged)))


def _deep(asking: Asking, result: Any) -> Found:
    rows = result.table[result.table["depth"] == _DEEP]["judged"]
    mean = float(rows.mean())
    return Found(
        f"{mean:.1%} of the first {_DEEP} documents are judged",
        f"runs: {rows.min():.1%} to {rows.max():.1%}",
        (_JUDGED.verdict(mean),),
        "The mean over runs of the documents that they return; unjudged ones count as not relevant.",
    )


def _complete(asking: Asking, result: Any) -> Found:
    end = result.summary.iloc[-1]
    dense, topics = int(end["above_third"]), int(end["topics"])
    share = _known(dense / topics if topics else None, "Nothing is judged.")
    _known(end["relevant"] or None, "No document is relevant.")
    number = f"relevant density above 1/3 on {dense:,} of {count(topics, 'topic')}"
    condition = (
        f"Relevant: {result.settings['relevant']}. Where much of what is judged is relevant, more is to be found; "
    )
    return _of_topics(number, share, topics, _DENSE, f"{condition}a low density alone does not show that most were.")


def _room(asking: Asking, result: Any) -> Found:
    row = row_of(result.summary, asking)
    near, topics = int(row["near"]), int(row["topics"])
    condition = f"The median run has at least {result.share:g} of the highest score there."
    number = f"{near:,} of {count(topics, 'topic')} saturated or nearly so"
    return _of_topics(number, near / topics, topics, _NEAR, condition)


def _of_topics(number: str, share: float, topics: int, threshold: Threshold, condition: str) -> Found:
    low, high = _wilson(round(share * topics), topics)
    return Found(number, f"{low:.0%} to {high:.0%} of topics", (threshold.at(topics).verdict(share, high),), condition)


def _pooled(asking: Asking, result: Any) -> Found:
    row = result.summary.iloc[0]
    share = _known(row["explained"] / row["judged"] if row["judged"] else None, "Nothing is judged.")
    on_record = asking.runs.pool_is_on_record
    verdicts = (_EXPLAINED.verdict(share), Verdict.YES if on_record else Verdict.CARE)
    return Found(
        f"{row['explained']:,.0f} of {row['judged']:,.0f} judgments ({share:.0%}) explained",
        f"{row['least_contributors']:,.0f} to {row['most_contributors']:,.0f} contributing runs",
        verdicts,
        f"Who was pooled is {'' if on_record else 'not '}on record. Some documents may have been chosen in other ways.",
    )


def _unpooled(asking: Asking, result: Any) -> Found:
    rows = result.table[(result.table["depth"] == EQUAL_DEPTH) & (result.table["pooled"] == False)]  # noqa: E712
    if rows.empty:
        known = asking.runs.pool_is_on_record
        raise InputError("Every run here was pooled." if known else "Who was pooled is not on record.")
    mean, worst = float(rows["unjudged"].mean()), rows.loc[rows["unjudged"].idxmax()]
    return Found(
        f"{mean:.1%} of their first {EQUAL_DEPTH} documents are unjudged",
        f"runs: {rows['unjudged'].min():.1%} to {worst['unjudged']:.1%} ({worst['name']})",
        (_UNPOOLED.verdict(mean),),
        f"{count(len(rows), 'run')} that were not pooled, the mean over runs.",
    )


_ORDER = "Does the order of two runs hold under every completion of the unjudged documents"
_DENSITY = "Is the relevant density so low that most relevant documents may be found?"
QUESTIONS = (
    Question("May I compare two runs of the field by {main}?", "stability", _compare, (_SWAPS,),
             ("yes", "only if they are far apart", "no")),
    Question("Are the top ranks real, by {main}?", "ranks", _top, (_BEST,),
             ("yes", "the first few are not separated", "no: too many may be the best")),
    Question(f"{_ORDER}, by {{main}}?", "bounds", _unjudged, (_HOLDS,),
             ("yes", "for most pairs", "no: unjudged documents may turn it")),
    Question("May I score a new run like those pooled, by {main}?", "teams", _new_run, (TAU, LOSS),
             ("yes", "yes, with the loss in mind", "no: it may lose much")),
    Question("May I score a new kind of system (type), by {main}?", "types", _new_type, (TAU, LOSS, _OF_TYPE),
             ("yes", "yes, with bounds beside it", "no: too little of it is judged")),
    Question("May I score runs of the field that were not pooled?", "coverage", _unpooled, (_UNPOOLED,),
             ("yes", "yes, with bounds beside it", "no: too much is unjudged")),
    Question(f"May I use a measure of the first {_DEEP} ranks{{such}}?", "coverage", _deep, (_JUDGED,),
             ("yes", "with care: a part is unjudged", "no: most is unjudged")),
    Question(_DENSITY, "density", _complete, (_DENSE,), ("yes", "not on some topics", "no: more is to be found")),
    Question("Is there room for better systems, by {main}?", "saturation", _room, (_NEAR,),
             ("yes", "not on some topics", "no: many topics are too easy")),
    Question("Is it known who was pooled?", "pool", _pooled, (_EXPLAINED,), ("yes", "in part", "no")),
)  # fmt: skip
NEW_RUN, NEW_TYPE = (question for question in QUESTIONS if question.part in ("teams", "types"))


def answered(asking: Asking, questions: Sequence[Question]) -> pd.DataFrame:
    """Return one row per question: ``question answer words number interval condition part``."""
    columns = ["question", "answer", "words", "number", "interval", "condition", "part"]
    return pd.DataFrame([question.row(asking) for question in questions])[columns]
