"""pilot_agreement: do annotators agree on a few tasks that all of them label first, so that the rest can follow?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.columns import Table
from pt_reuse.errors import InputError, count, number, per_cent
from pt_reuse.judging.annotators.labels import (
    AnnotatorLabels,
    Labels,
    as_annotator_labels,
    label_counts,
    labelled_by_all,
    votes_of,
)
from pt_reuse.judging.annotators.measuring import (
    WORDS,
    Comparison,
    coincidence_tables,
    distances,
    krippendorff_alpha,
    pair_tables,
    ratio,
    value_in_words,
)
from pt_reuse.plots.forests import plot_kappas
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result, records
from pt_reuse.studies.judged_fields import as_declared
from pt_reuse.study import study

#: what may be decided
GO, STOP, OPEN = "go on", "do not go on", "undecided"
#: the coefficient that decides
DECIDES = "alpha_ordinal"
#: tasks from which on nobody labels so many to decide
_TOO_MANY = 1000
_TABLE = "labels coefficient value low high band n_tasks why"


def _draw_pairs(result: PilotAgreement, _: str | None, place: Place) -> Axes:
    """Draw the kappa of each two annotators, with its interval."""
    return plot_kappas(result.pairs, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PilotAgreement(Result):
    """How far annotators agree on the tasks (documents of topics) of a pilot, and whether that is enough to go on.

    Attributes:
        decision: ``"go on"``, ``"do not go on"`` or ``"undecided"``.
        needed: with how many tasks it would be decided if the value stayed, NaN where it is decided or none would do.
        target: the least value of ordinal alpha to go on.
    """

    title, main = "Pilot of annotators", "pilot"
    valid_for = "the tasks that {tasks}, with labels {scale}."
    not_covered = "which label is right, and tasks unlike these: draw a pilot at random from all topics."
    plots = {"pairs": _draw_pairs}
    columns = """
    n_tasks | Tasks | count | how many tasks
    difference | Above others by | score | its mean label less that of the others
    relevant | Called relevant | share | share of its labels that call a task relevant
    without | Without | score | the coefficient of the others alone, NaN of two annotators
    change | Change | score | what is gained without it
    n | Labels | count | how many labels it has
    votes | Labels | | who gave what
    spread | Spread | count | the highest label less the lowest
    share | Share | share | share of all disagreement, weighted as the coefficient does
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "form of the labels and coefficient",
            _TABLE,
            "coefficient value low high band n_tasks",
            select={"labels": None},
            noun="coefficients",
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table("two annotators, those who agree least first", "first second n_tasks agreement kappa~", noun="pairs"),
    ]
    by_annotator: Annotated[
        pd.DataFrame,
        Table(
            "annotator, whose labels lower the coefficient most first",
            "annotator n_tasks relevant difference agreement without change",
            "annotator relevant difference agreement without",
            noun="annotators",
        ),
    ]
    tasks: Annotated[
        pd.DataFrame,
        Table(
            "task, those that are disagreed on most first",
            "qid docno n votes spread agreement share",
            "qid docno votes spread share",
            noun="tasks",
        ),
    ]
    decision: str
    needed: float
    target: float

    def answers(self) -> list[str]:
        row = self.table.set_index(["labels", "coefficient"]).loc[("grades", DECIDES)]
        people, tasks = len(self.by_annotator), count(len(self.tasks), "task")
        lines = [f"{self.decision.capitalize()}: {self.settings['in words']}"]
        lines += [f"{WORDS[DECIDES]} {value_in_words(row, '.3f')} of {people} annotators on {tasks}"]
        pair, task = self.pairs.iloc[0], self.tasks.iloc[0]
        if (self.tasks["spread"] > 0).any():
            apart = f"{pair['first']} and {pair['second']} (kappa {pair['kappa']:.3f})"
            lines += [f"most apart: {apart}; topic {task['qid']}, document {task['docno']} ({task['votes']})"]
        return lines

    def _shown(self) -> pd.DataFrame:
        return self.table.loc[self.table["labels"] == "grades", self.declared["table"].report.split()]


def _checked_target(target: Any) -> float:
    least = number("target", target, least=-1)
    if not -1 < least < 1:
        raise InputError(f"target must be between -1 and 1, such as 0.4, got {target!r}.", argument="target")
    return least


@study(
    question="Do annotators agree enough on a pilot to go on?",
    aim="judging",
    command="judge pilot",
    group="judging",
    page="judging/annotators",
)
def pilot_agreement(
    labels: Labels,
    *,
    target: Annotated[
        float,
        options.Option(
            "the least value of ordinal alpha with which to go on; default .4, below which McHugh (2012) calls "
            "agreement minimal. Assessors of relevance seldom agree with .6.",
            check=_checked_target,
            flag=options.Flag(help="the least value to go on", metavar="X", kind="float"),
        ),
    ] = 0.4,
    rel: options.Rel = None,
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
) -> PilotAgreement:
    """Decide by a few tasks that all annotators labelled whether to have the rest labelled.

    If the interval of ordinal alpha lies above the target, go on; if it lies below, revise the instructions and try
    again; else it is undecided, and ``needed`` says how many tasks would decide. Tasks that not all annotators
    labelled are left out.

    Intervals are percentile intervals over tasks, with tails as wide as Student's t asks for so few (Hesterberg 2015).
    The lower end is at most what it is for n tasks without any disagreement, of which a share of
    1 - (1 - confidence)^(1/n) may be disagreed on, with labels that differ as by chance.

    Returns:
        PilotAgreement: ``.decision``, ``.needed``, ``.table``, ``.by_annotator``, ``.pairs``, ``.tasks``.

    Raises:
        InputError: only one annotator, fewer than two tasks with enough labels.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> tasks = pd.DataFrame({"qid": "1", "docno": list("abcdefgh")})
        >>> given = {"ann": [0, 0, 1, 1, 2, 2, 0, 1], "bob": [0, 0, 1, 1, 2, 2, 0, 1], "cid": [2, 1, 0, 1, 0, 2, 1, 0]}
        >>> pilot = ptr.judging.pilot_agreement({name: tasks.assign(label=label) for name, label in given.items()})
        >>> pilot.decision
        'undecided'
        >>> pilot.by_annotator[["annotator", "agreement", "without"]].round(2).values.tolist()
        [['cid', 0.25, 1.0], ['ann', 0.62, -0.21], ['bob', 0.62, -0.21]]

    Source: Krippendorff 2004, Content analysis, chapter 11; Hesterberg 2015, What teachers should know about the
    bootstrap, The American Statistician 69.
    """
    given = as_annotator_labels(labels)
    kept, known, lowest = labelled_by_all(given), given.scale, rel or given.rel or 1
    n = int(kept.sum())
    if n < 2:
        raise InputError("there is one task that all labelled. Have a few more labelled.", argument="labels")
    pilot = replace(given, topic=given.topic[kept], docnos=given.docnos[kept], values=given.values[kept])
    wide = TopicBootstrap(resamples, seed, confidence).expanded(n)
    how = Comparison(known, lowest, None, "items", resamples, seed, wide.confidence)
    table = _table(how, pilot, confidence)
    value, low, high = table.set_index(["labels", "coefficient"]).loc[("grades", DECIDES), ["value", "low", "high"]]
    decision, words, needed = _decided(value, low, high, target, n)
    drawn = f"{per_cent(confidence)} percentile bootstrap over tasks, expanded as Student's t is for so few"
    return PilotAgreement(
        table=table,
        pairs=_pairs(how, pilot),
        by_annotator=_annotators(how, pilot, value),
        tasks=_tasks(pilot, known),
        decision=decision,
        needed=needed,
        target=target,
        settings={
            "tasks": f"all {len(given.annotators)} annotators labelled",
            "left out": int((~kept).sum()),
            "relevant": f"label of at least {lowest}",
            "scale": ", ".join(map(str, known)),
            "in words": words,
            "intervals": f"{drawn}, {resamples:,} resamples" if resamples else "none",
            "seed": seed,
        },
    )


def _table(how: Comparison, pilot: AnnotatorLabels, confidence: float) -> pd.DataFrame:
    table = how.coefficient_table(pilot, by_topic=False)
    table = table[table["items"] == "all"].rename(columns={"n_items": "n_tasks"})[_TABLE.split()].reset_index(drop=True)
    if not how.resamples:
        return table
    for way in how.ways(pilot.values, pilot.topic):
        if way.items == "all":
            counts = way.counts
            # of tasks without any disagreement draws say nothing, and of few hardly anything
            disagreed = 1 - (1 - confidence) ** (1 / len(counts))
            by_chance = 1 - float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
            of_way, share = table["labels"] == way.labels, table["coefficient"] == "agreement"
            at_most = np.where(share, 1 - disagreed, 1 - disagreed / (by_chance or 1))
            table["low"] = table["low"].where(~of_way, np.fmin(table["low"], at_most)).where(table["low"].notna())
    return table


def _decided(value: float, low: float, high: float, target: float, n: int) -> tuple[str, str, float]:
    """Return what is decided, why in words, and the tasks that would decide."""
    if np.isnan(value):
        return OPEN, "the coefficient has no value on these tasks, take others", math.nan
    if np.isnan(low):
        return OPEN, "there is no interval, so that nobody knows how much is chance", math.nan
    if low >= target:
        return GO, f"the interval lies above the target {target:g}", math.nan
    if high < target:
        return STOP, f"the interval lies below the target {target:g}; revise the instructions, and try again", math.nan
    inside = f"the interval has the target {target:g} in it"
    side = value - low if value > target else high - value
    ratio = side / abs(value - target) if value != target else math.inf
    if ratio**2 * n > _TOO_MANY:
        return OPEN, f"{inside}; it is too near to decide", math.nan
    needed = math.ceil(n * ratio**2)
    return OPEN, f"{inside}; about {needed:,} tasks would decide if the value stayed", needed


def _pairs(how: Comparison, pilot: AnnotatorLabels) -> pd.DataFrame:
    named = zip(pilot.annotators, pilot.values.T, strict=True)
    compared = [(one, other, own, theirs) for (one, own), (other, theirs) in combinations(named, 2)]
    table = how.paired_table(compared, pilot.topic).rename(columns={"n_items": "n_tasks"})
    table = table[(table["items"] == "all") & (table["labels"] == "grades")]
    table = table.sort_values(["kappa", "agreement"], kind="stable", na_position="last", ignore_index=True)
    return as_declared(PilotAgreement, "pairs", records(table), ends=True)


def _annotators(how: Comparison, pilot: AnnotatorLabels, value: float) -> pd.DataFrame:
    rows = []
    for a, name in enumerate(pilot.annotators):
        # of a pilot all annotators labelled every task
        own, others = pilot.values[:, a], np.delete(pilot.values, a, axis=1)
        sums = coincidence_tables(next(how.ways(others, pilot.topic)).counts).sum(axis=0, keepdims=True)
        without = float(krippendorff_alpha(sums, "ordinal")[0])
        row = {"annotator": name, "n_tasks": len(own), "without": without, "change": without - value}
        row["relevant"] = float((own >= how.rel).mean())
        row["difference"] = float((own - others.sum(axis=1) / others.shape[1]).mean())
        row["agreement"] = float((others == own[:, None]).sum() / others.size)
        rows.append(row)
    table, order = as_declared(PilotAgreement, "by_annotator", rows, ends=False), ["change", "agreement"]
    return table.sort_values(order, ascending=[False, True], kind="stable", ignore_index=True)


def _tasks(pilot: AnnotatorLabels, scale: tuple[int, ...]) -> pd.DataFrame:
    counts = label_counts(pilot.values, scale)
    tables = coincidence_tables(counts)
    distance = distances(tables.sum(axis=(0, 2))[None], "ordinal")[0]
    apart = (tables * distance).sum(axis=(1, 2))
    table = pd.DataFrame({"qid": pilot.qids, "docno": pilot.docnos, "n": counts.sum(axis=1)}).assign(
        votes=[votes_of(pilot, item) for item in range(len(pilot))],
        spread=pilot.values.max(axis=1) - pilot.values.min(axis=1),
        agreement=ratio(pair_tables(counts)),
        share=apart / apart.sum() if apart.any() else 0.0,
    )
    return table.sort_values(["share", "spread"], ascending=False, kind="stable", ignore_index=True)
