"""leave_out_items: what answers would score by a bank of items that was made without their team."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import flag
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.item_banks import found_by_units, unique_to
from pt_reuse.data.answers import MEASURES, Answers, as_answers
from pt_reuse.data.units import Units, units_of
from pt_reuse.errors import InputError
from pt_reuse.inputs import interval_settings
from pt_reuse.options import Flag, Option
from pt_reuse.scoring.answers import item_measures, scores_of_answers
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.perturbed import UnitScores, PerturbedScores
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.leave_one_out import LeaveOneOutResult, count_uniques, draw_scores, leave_one_out
from pt_reuse.study import study

Judged: TypeAlias = Annotated[
    Any,
    Option(
        "the answers: what :func:`read_answers` returned, or what it reads.",
        check=as_answers,
        flag=Flag(help="file or folder of judged answers", metavar="FILE", kind="answers"),
    ),
]
ItemMeasures: TypeAlias = Annotated[
    Any,
    Option(
        f"of {', '.join(f'``{name}``' for name in MEASURES)}; default ``all_score``, and ``weighted_score`` where "
        "items weigh differently.",
        flag=Flag(help="comma-separated", metavar="LIST", kind="list", default="all_score, weighted_score"),
    ),
]
JudgeName: TypeAlias = Annotated[
    str | None, Option("whose matches count; default the only judge.", flag=Flag(metavar="NAME", kind="text"))
]
Bank: TypeAlias = Annotated[
    str,
    Option(
        '``"all"`` keeps items that nobody found; ``"found"`` has only what some run found, as if made of the answers.',
        choices=("all", "found"),
        flag=Flag(metavar="WHICH", kind="text"),
    ),
]
Strict: TypeAlias = Annotated[
    bool,
    Option("a match of 1 finds an item, not a partial one.", check=partial(flag, "strict"), flag=Flag(kind="switch")),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOutItems(LeaveOneOutResult):
    """What leaving out the items that each unit alone found does to every run; figures as of `LeaveOutUniques`."""

    title = "Leave-out-uniques of items"
    valid_for = "{compared}; {bank}, {items} items, {found} found; a match is that of {judge}; {uniques}."
    not_covered = "systems unlike these; items that nobody found, unless assessors wrote them."
    plots = {"scores": draw_scores}
    columns = f"""{LeaveOneOutResult.columns}
    unique          | Unique items  | count | items that its runs alone found
    unique_relevant | Of weight     | count | those of them that weigh anything
    unique_nonrelevant | Of no weight | count | the others
    """


@study(
    question="Would the bank of nuggets be fair to a system whose team took no part?",
    command="items lou",
    aim="fair",
    summary="leave-out-uniques on answers that were judged by items",
    details="An item is unique to a team when its runs alone found it. Each run is scored without the items of its own "
    "team, and all runs without those of each team.",
    screen=("summary", "table"),
    group="items",
    page="studies/items",
)
def leave_out_items(
    answers: Judged,
    measures: ItemMeasures = None,
    *,
    by: options.Unit = "team",
    bank: Bank = "all",
    strict: Strict = False,
    judge_name: JudgeName = None,
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    verbose: options.Verbose = False,
) -> LeaveOutItems:
    """Leave out the items that each team, run, type or family alone found, and compute how scores and ranks change.

    It is leave-out-uniques with items in the place of documents. It says what a bank made without the team would score
    where the bank was made of the answers, or of documents that the systems brought. Of a bank that assessors wrote it
    is a simulation.

    Returns:
        LeaveOutItems: ``.summary``, ``.table`` (per unit), ``.by_run``, ``.unique_counts``, ``.plot()``.

    Raises:
        InputError: an unknown measure or judge, several judges and none named, runs without a type or family, no item
            that some run found.

    Warns:
        ReuseWarning: runs without a team, fewer than five topics, matches that are missing.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> rows = [(qid, *row) for qid in "12345" for row in [("a", 1, 0), ("b", 1, 1), ("c", 0, 1)]]
        >>> wide = pd.DataFrame(rows, columns=["qid", "item", "A", "B"])
        >>> answers = ptr.read_answers(wide, teams={"A": "x", "B": "y"})
        >>> ptr.items.leave_out_items(answers).by_run[["name", "score", "reduced_score"]]
          name     score  reduced_score
        0    A  0.666667            0.5
        1    B  0.666667            0.5

    Source: leave-out-uniques, Zobel 1998, SIGIR, of items; scores, Pradeep et al. 2025, The great nugget recall, SIGIR.
    """
    chosen, units = item_measures(answers, measures), units_of(answers.run_table, by)
    found = answers.found(judge_name, strict=strict)
    by_unit = found_by_units(found, units.of_run, len(units))
    owner, some = unique_to(by_unit), by_unit.sum(axis=1) > 0
    if not some.any():
        raise InputError("no run found an item, so nothing is left out.", argument="answers")
    kept = some if bank == "found" else np.ones(len(some), dtype=bool)
    scores = scores_of_answers(answers, chosen, judge_name, kept)
    missing = int(np.isnan(answers.matches[answers.of_judge(judge_name)]).sum())
    lacking = Caveat(
        f"{missing:,} of {found.size:,} matches missing",
        f"{missing:,} of {found.size:,} matches are missing. They count as not found.",
    )
    beware(few_topics(len(answers.topics)), [lacking] if missing else [])
    bootstrap = TopicBootstrap(resamples, seed, confidence, None) if resamples else None
    scored = _without_units(answers, scores, judge_name, units, owner, kept)
    everyone, unique = np.ones(len(answers.run_table), dtype=bool), owner >= 0
    counts = count_uniques(units, everyone, owner[unique], answers.weights("weighted_score")[unique] > 0)
    said, own = f"without the items of the run's own {by}", counts["unique"].to_numpy()
    left_out = partial(leave_one_out, judgments=said, counts=counts, removed=own, verbose=verbose)
    parts = left_out(answers.run_table, everyone, units, scores, scored, bootstrap)
    settings = {
        "by": by,
        "bank": f"bank={bank!r}",
        "items": int(kept.sum()),
        "found": int(some.sum()),
        "uniques": f"unique: found by one {by} alone, a match {'of 1' if strict else 'above 0'}",
        **{key: value for key, value in scores.settings.items() if key != "complete"},
        **units.settings,
        **interval_settings(bootstrap, "; of a change of score the percentile interval"),
    }
    return LeaveOutItems(**parts, settings=settings)


def _without_units(
    answers: Answers, scores: Scores, judge: str | None, units: Units, owner: NDArray[np.int64], kept: NDArray[np.bool_]
) -> PerturbedScores:
    """Return all scores without the items of each unit."""
    own, means, cells = scores.values.copy(), np.empty((len(scores.measures), len(units), len(scores.names))), []
    for unit in range(len(units)):
        reduced = scores_of_answers(answers, scores.measures, judge, kept & (owner != unit)).values
        means[:, unit] = replace(scores, values=reduced).mean_values
        mine, topics = units.of_run == unit, np.unique(answers.topic[owner == unit])
        own[:, :, mine] = reduced[:, :, mine]
        cells.append((topics, np.full(len(topics), unit), reduced[:, topics]))
    topic, of_unit, values = zip(*cells, strict=True)
    joined = UnitScores(np.concatenate(topic), np.concatenate(of_unit), np.concatenate(values, axis=1))
    return PerturbedScores(scores.values, means, {0: own}, {}, joined)
