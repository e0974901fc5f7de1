"""check_answers: what new answers would score by a bank of items, had their team taken part when it was made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import count, examples, shown, whole
from pt_reuse.arrays.correlation import rounded
from pt_reuse.arrays.expected import conformal_quantile
from pt_reuse.arrays.item_banks import found_by_units, unique_to, weighted_recall
from pt_reuse.columns import Table
from pt_reuse.data.answers import Answers, as_answers
from pt_reuse.data.units import Units, units_of
from pt_reuse.errors import InputError
from pt_reuse.options import Flag, Option
from pt_reuse.result import Result, cells, records
from pt_reuse.scoring.answers import item_measures
from pt_reuse.scoring.caveats import beware, few_topics
from pt_reuse.studies.leave_out_items import ItemMeasures, Judged, JudgeName, Strict
from pt_reuse.studies.new_runs.calibration import mean_of_units, units_needed
from pt_reuse.study import study

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NewAnswers(Result):
    """What new answers score by a bank, and would score had the items that they alone have been in it."""

    title = "New answers"
    valid_for = "{bys} like the {units} left out ({confidence}); items of its own: at most {own} a topic; bank: {bank}."
    not_covered = "answers unlike those of the field; other judges."
    columns = """
    score      | As it is   | score | by the bank as it is, and with any missing matches and items of its own
    predicted  | Predicted  | score | had its own items been in the bank; NaN where nothing is said
    rank       | Rank       | count | rank among the field by the bank as it is
    predicted_rank | Rank, predicted | count | rank by what is predicted
    systems    | Systems    | count | how many are ranked
    missing    | Missing    | count | matches that nobody gave
    abstains   | Abstains   |       | whether nothing is predicted
    item       | Item       |       | the item
    change     | Change     | score | what a match of 1 changes in the mean score
    likely     | Likely     | score | the share of the field that has the item
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and new run",
            "measure name score~ predicted~ rank predicted_rank~ systems missing abstains",
            report="name score predicted rank predicted_rank missing",
            noun="runs",
        ),
    ]
    matches: Annotated[
        pd.DataFrame,
        Table("measure and missing match of a new run, the largest expected change first",
              "measure name qid item change likely", noun="matches"),
    ]  # fmt: skip

    def answers(self) -> list[str]:
        """Return what each new run scores, and what is predicted or why nothing is."""
        predicted = f"no prediction: {self.settings['why']}" if "why" in self.settings else "predicted {predicted}"
        said = "{name}, {measure}: {score} by the bank as it is, in brackets with any items of its own"
        text = f"{said}; {predicted}; rank {{rank}} of {{systems}}"
        return [text.format_map(cells(row, self.columns)) for row in records(self.table)]


@study(
    question="What would new answers score, had their team taken part when the bank was made?",
    command="items check",
    aim="new run",
    summary="what new answers would score by a bank that was made without them",
    details="Each team's own items are taken out to learn what its runs gain by them; the same is said of new answers.",
    group="items",
    page="studies/items",
    screen=("table", "matches"),
)
def check_answers(
    new: Annotated[
        Any,
        Option(
            "the new answers, matched with the items of the bank: Answers, or what :func:`read_answers` reads.",
            check=lambda value: as_answers(value, "new"),
            flag=Flag(help="file of the new answers", metavar="FILE", kind="answers"),
        ),
    ],
    answers: Judged,
    measures: ItemMeasures = None,
    *,
    by: options.Unit = "team",
    own: Annotated[
        int | None,
        Option(
            "how many items of its own a new run may have on a topic, for the bounds; default the most that a left-out "
            "unit has.",
            check=lambda value: None if value is None else whole("own", value, "items", least=0),
        ),
    ] = None,
    strict: Strict = False,
    judge_name: JudgeName = None,
    confidence: options.Confidence = 0.9,
) -> NewAnswers:
    """Score new answers by a bank, with bounds and a prediction for the items of their own that the bank lacks.

    A bank that was made of the answers of a field has no item that only a new system has. Each unit of the field is
    left out in turn: what its runs gain when its own items come back is what a new run may gain. The prediction adds
    the mean gain of the units, or nothing, whichever errs less for left-out units; its interval is conformal by unit.
    With fewer units than the confidence takes, 9 at 90%, it abstains, and gives the bounds alone.

    Returns:
        NewAnswers: ``.table``, ``.matches`` (missing ones, the largest expected change first).

    Raises:
        InputError: new answers with other items than the bank, or without an item of it; an unknown measure or judge.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> bank = [("a", 1, 0, 1), ("b", 1, 1, 0), ("c", 0, 1, 1)]
        >>> rows = [(qid, *row) for qid in "12345" for row in bank]
        >>> wide = pd.DataFrame(rows, columns=["qid", "item", "A", "B", "mine"])
        >>> both = ptr.read_answers(wide, teams={"A": "x", "B": "y", "mine": "z"})
        >>> found = ptr.items.check_answers(both.select("mine"), both.select(["A", "B"]))
        >>> found.table[["score", "score_high", "abstains"]].round(4).values.tolist()
        [[0.6667, 0.75, True]]

    Source: leave-out-uniques of items; prediction and interval as of :func:`check_new_run`.
    """
    chosen, units = item_measures(answers, measures), units_of(answers.run_table, by)
    judge = answers.judges[answers.of_judge(judge_name)]
    every = _joined(new, answers, judge)
    alone = unique_to(found_by_units(answers.found(judge, strict=strict), units.of_run, len(units)))
    if own is None:
        own = int(max(np.bincount(answers.topic[alone == unit], minlength=1).max() for unit in range(len(units))))
    beware(few_topics(len(answers.topics)))
    needed, tables = units_needed(confidence), []
    for measure in chosen:
        # what an item that a run found counts at least: a partial match counts nothing in a strict score
        credit = answers.credit(measure, judge)
        least = 0.0 if measure.startswith("strict_") else min(0.5, float(credit[credit > 0].min(initial=1)))
        bank = partial(_bank, measure=measure, judge=judge, own=own, least=1.0 if strict else least)
        reduced = [bank(answers, units, alone != unit) for unit in range(len(units))]
        added, errors, rank_errors = _calibrated(bank(answers, units), reduced, units)
        half, of_rank = (conformal_quantile(each, units.of_run, confidence) for each in (errors, rank_errors))
        rows = _rows(bank(every, units_of(every.run_table, by)), len(answers.names), added, half, of_rank)
        rows.insert(0, "name", new.names)
        rows["missing"] = np.isnan(every.matches[every.of_judge(judge)]).sum(axis=0)[len(answers.names) :]
        rows["abstains"] = len(units) < needed
        if len(units) < needed:
            rows[[name for name in rows.columns if str(name).startswith("predicted")]] = np.nan
        tables.append((rows, _missing(every, new.names, measure, judge)))
        for part in tables[-1]:
            part.insert(0, "measure", measure)
    table, matches = (pd.concat(parts, ignore_index=True) for parts in zip(*tables, strict=True))
    settings = {
        "by": by,
        "bys": f"{by}s",
        "units": len(units),
        "confidence": f"{100 * confidence:.4g}%, conformal by {by}, it takes {needed}",
        "own": own,
        "bank": f"{len(answers.items):,} items, as it was made without the new answers",
        "judge": judge,
    }
    if len(units) < needed:
        settings["why"] = f"it needs {needed} left-out {by}s, and this field has {len(units)}"
    table = table.astype(dict.fromkeys(("predicted_rank", "predicted_rank_low", "predicted_rank_high"), "Int64"))
    return NewAnswers(table=table, matches=matches, settings=settings)


def _joined(new: Answers, answers: Answers, judge: str) -> Answers:
    """Return the field with the new answers, which have no other item, and whose matches are of the same judge."""
    if judge not in new.judges:
        said = f"new has matches of {examples(new.judges)}, and the field is scored by those of {shown(judge)}."
        raise InputError(f"{said} Name a judge of both.", argument="new")
    known, mine = (set(map(tuple, one.items[["qid", "item"]].to_numpy().tolist())) for one in (answers, new))
    if odd := sorted(mine - known):
        said = f"{count(len(odd), 'item')} that the bank lacks: {examples(odd)}. Match answers with its items."
        raise InputError(f"new has {said}", argument="new")
    if again := sorted(set(new.names) & set(answers.names)):
        raise InputError(f"new has runs of the field: {examples(again)}. Take them out of one.", argument="new")
    # a run without a team is one of its own
    teams = set(answers.run_table["team"])
    own = new.run_table["name"].map(lambda name: f"{name} (new)" if name in teams else name)
    items = new.items
    if items["importance"].isna().all() and (items["weight"] == 1).all():
        # they say nothing of what items weigh
        items = items[["qid", "item"]].merge(answers.items, on=["qid", "item"])
    return answers | replace(new, items=items, run_table=new.run_table.assign(team=new.run_table["team"].fillna(own)))


class _Bank(NamedTuple):
    """(runs,) mean scores by a bank, and between which they are with items of their own and missing matches."""

    mean: Floats
    low: Floats
    high: Floats

    def predicted(self, gain: float) -> Floats:
        """Return scores with items of their own that add so much, within the bounds."""
        return np.clip(self.mean + gain, self.low, self.high)

    def ranks(self, scores: Floats, others: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the rank of each score among those of some runs."""
        return 1 + (rounded(self.mean[others])[:, None] > rounded(scores)).sum(axis=0)


def _bank(
    answers: Answers, units: Units, kept: Any = True, *, measure: str, judge: str, own: int, least: float
) -> _Bank:
    """Return the scores by a bank, or by some items of it."""
    weights = answers.weights(measure)
    further = own * float(weights.max(initial=1.0))
    weights = np.where(kept, weights, 0.0)
    of_topic = np.bincount(answers.topic, weights=weights, minlength=len(answers.topics))[:, None]
    credit, missing = answers.credit(measure, judge), np.isnan(answers.matches[answers.of_judge(judge)])
    as_it_is, at_most = (
        weighted_recall(matched, weights, answers.topic, len(answers.topics))
        for matched in (credit, np.where(missing, 1.0, credit))
    )
    # an item of its unit may be that of another run of it alone
    counts = np.where(units.runs()[units.of_run] == 1, least, 0.0)
    low = (as_it_is * of_topic + counts * further) / np.maximum(of_topic + further, 1e-300)
    high = (at_most * of_topic + further) / np.maximum(of_topic + further, 1e-300)
    ends = np.minimum(as_it_is, low), np.maximum(at_most, high)
    return _Bank(as_it_is.mean(axis=0), *(end.mean(axis=0) for end in ends))


def _calibrated(whole: _Bank, reduced: list[_Bank], units: Units) -> tuple[float, Floats, Floats]:
    """Return what a prediction adds to a score, and how (runs,) scores and ranks so predicted of left-out units err.

    It adds nothing, or the mean gain of the other units by their own items, whichever errs less.
    """
    unit = units.of_run
    gain = whole.mean - np.array([reduced[mine].mean[run] for run, mine in enumerate(unit)])
    of_unit = np.bincount(unit, weights=gain) / units.runs()
    of_others = (of_unit.sum() - of_unit) / max(len(units) - 1, 1)
    tried = []
    for added, gains in ((0.0, np.zeros(len(units))), (mean_of_units(gain, unit), of_others)):
        errors, rank_errors = np.empty(len(unit)), np.empty(len(unit))
        for each, bank in enumerate(reduced):
            mine = unit == each
            predicted, true = bank.predicted(gains[each])[mine], whole.mean[mine]
            errors[mine] = np.abs(predicted - true)
            rank_errors[mine] = np.abs(bank.ranks(predicted, ~mine) - whole.ranks(true, ~mine))
        tried.append((added, errors, rank_errors))
    return min(tried, key=lambda way: mean_of_units(way[1], unit))


def _rows(bank: _Bank, n_field: int, added: float, half: float, of_rank: float) -> pd.DataFrame:
    """Return what is said of the new runs, each ranked among the field without the others."""
    field = np.arange(len(bank.mean)) < n_field
    predicted, spread = bank.predicted(added), int(min(of_rank, n_field + 1))
    ranks = bank.ranks(predicted, field)
    columns = {
        "score": bank.mean,
        "score_low": bank.low,
        "score_high": bank.high,
        "predicted": predicted,
        "predicted_low": np.maximum(predicted - half, bank.low),
        "predicted_high": np.minimum(predicted + half, bank.high),
        "rank": bank.ranks(bank.mean, field),
        "predicted_rank": ranks,
        "predicted_rank_low": np.maximum(ranks - spread, 1),
        "predicted_rank_high": np.minimum(ranks + spread, n_field + 1),
    }
    return pd.DataFrame({**columns, "systems": n_field + 1})[~field].reset_index(drop=True)


def _missing(every: Answers, new: list[str], measure: str, judge: str) -> pd.DataFrame:
    """Return the matches of new runs that nobody gave, those first that are expected to change a score most."""
    matches, n_field = every.matches[every.of_judge(judge)], len(every.names) - len(new)
    item, run = np.nonzero(np.isnan(matches[:, n_field:]))
    field, weights = matches[item, :n_field], every.weights(measure)
    of_topic = np.maximum(np.bincount(every.topic, weights=weights)[every.topic], 1e-300)
    change = (weights / of_topic / len(every.topics))[item]
    likely = (field > 0).sum(axis=1) / np.maximum((~np.isnan(field)).sum(axis=1), 1)
    pairs = {"name": np.array(new, dtype=object)[run], **every.items.iloc[item][["qid", "item"]].to_dict("list")}
    return pd.DataFrame({**pairs, "change": change, "likely": likely}).iloc[np.lexsort((-change, -change * likely))]
