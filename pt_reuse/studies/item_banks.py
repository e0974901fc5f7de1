"""Banks of items: check_answers for new answers, leave_out_items without a team, bank_growth with further ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import rounded
from pt_reuse.arrays.expected import Floats, conformal_quantile
from pt_reuse.arrays.item_banks import bank_size, found_by_units, rarefaction, unique_to, weighted_recall
from pt_reuse.columns import Table
from pt_reuse.data.answers import MEASURES, Answers, as_answers
from pt_reuse.data.units import Units, units_of
from pt_reuse.errors import InputError, count, examples, flag, shown, whole
from pt_reuse.inputs import interval_settings
from pt_reuse.options import Flag, Option
from pt_reuse.plots.lines import plot_growth
from pt_reuse.result import Result, cells, records
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.leaderboards import item_measures, scores_of_answers
from pt_reuse.scoring.perturbed import PerturbedScores, UnitScores
from pt_reuse.studies.leave_one_out import LeaveOneOutResult, count_uniques, draw_scores, leave_one_out
from pt_reuse.studies.new_runs.predictor import mean_of_units, units_needed
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

    It is leave-out-uniques with items in the place of documents. Of a bank that assessors wrote it is a simulation.

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
    lacking = f"{missing:,} of {found.size:,} matches missing"
    counted = f"{lacking}. They count as not found."
    beware(few_topics(len(answers.topics)), [Caveat(lacking, counted)] if missing else [])
    bootstrap = TopicBootstrap(resamples, seed, confidence, None) if resamples else None
    # all scores without the items of each unit
    alone, means, cells = scores.values.copy(), np.empty((len(chosen), len(units), len(scores.names))), []
    for unit in range(len(units)):
        reduced = scores_of_answers(answers, chosen, judge_name, kept & (owner != unit)).values
        means[:, unit] = replace(scores, values=reduced).mean_values
        of_unit, topics = units.of_run == unit, np.unique(answers.topic[owner == unit])
        alone[:, :, of_unit] = reduced[:, :, of_unit]
        cells.append((topics, np.full(len(topics), unit), reduced[:, topics]))
    topic, left_out, values = zip(*cells, strict=True)
    joined = UnitScores(np.concatenate(topic), np.concatenate(left_out), np.concatenate(values, axis=1))
    scored = PerturbedScores(scores.values, means, {0: alone}, {}, joined)
    everyone, unique = np.ones(len(answers.run_table), dtype=bool), owner >= 0
    counts = count_uniques(units, everyone, owner[unique], answers.weights("weighted_score")[unique] > 0)
    parts = leave_one_out(
        answers.run_table,
        everyone,
        units,
        scores,
        scored,
        bootstrap,
        judgments=f"without the items of the run's own {by}",
        counts=counts,
        removed=counts["unique"].to_numpy(),
        verbose=verbose,
    )
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BankGrowth(Result):
    """How many items some of the units find, in the mean over all choices, and how many there are at least."""

    title = "Growth of a bank of items"
    answer = (
        "summary",
        "{found:item} found by {units} {bys}, {unique} of them by one alone; the next would add {next_unit}; at least "
        "{chao2} there are",
    )
    key = "found unique next_unit chao2"
    valid_for = (
        "{bys} like these, in any order; a match is that of {judge}, {uniques}; interval of the bound: {interval}."
    )
    not_covered = "items that no system of this kind finds; the bound is a lower one."
    plots = {"growth": lambda a, _, place: plot_growth(a.table, a.summary, by=str(a.settings["by"]), place=place)}
    columns = """
    units     | Units     | count  | how many units
    expected  | Found     | tenths | how many items they find, the mean over all choices of so many units
    exactly   | By so many | count | how many items exactly so many units found
    found     | Found     | count  | items that some unit found
    unique    | By one alone | count | items that one unit alone found
    by_two    | By two    | count  | items that two found
    next_unit | Next one  | tenths | how many items one more unit would add, the slope at the end
    chao2     | At least  | tenths | Chao's bound of how many there are; no ends where a single item is of one unit
    items     | Items     | count  | items of the bank
    """

    table: Annotated[pd.DataFrame, Table("number of units", "units expected exactly", noun="numbers")]
    summary: Annotated[pd.DataFrame, Table("bank", "units* items found* unique* by_two next_unit* chao2~*")]
    topics: Annotated[pd.DataFrame, Table("topic", "qid* items* found* unique* by_two next_unit chao2~*")]


@study(
    question="How many items would further systems add to the bank?",
    command="items growth",
    aim="building",
    summary="how many items further teams would add to a bank",
    details="The expected number of items that some of the teams find, exactly, over all choices; what the next one "
    "would add; Chao's bound of how many there are.",
    group="items",
    page="studies/items",
)
def bank_growth(
    answers: Judged,
    *,
    by: options.Unit = "team",
    strict: Strict = False,
    judge_name: JudgeName = None,
    confidence: options.Confidence = 0.95,
) -> BankGrowth:
    """Compute how many items 1, 2 and more teams find, what the next one would add, and how many there are at least.

    Returns:
        BankGrowth: ``.table`` (per number of units), ``.summary``, ``.topics``, ``.plot()``.

    Raises:
        InputError: fewer than two units, an unknown judge, runs without a type or family.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> rows = [("1", "a", 1, 0), ("1", "b", 1, 1), ("2", "c", 0, 1), ("2", "d", 0, 0)]
        >>> wide = pd.DataFrame(rows, columns=["qid", "item", "A", "B"])
        >>> answers = ptr.read_answers(wide, teams={"A": "x", "B": "y"})
        >>> ptr.items.bank_growth(answers).table["expected"].tolist()
        [2.0, 3.0]

    Source: Colwell et al. 2004, Ecology 85, for the curve; Chao 1987, Biometrics 43, bias corrected, with the
    log-normal interval.
    """
    units = units_of(answers.run_table, by)
    if len(units) < 2:
        raise InputError(f"it takes two {by}s, and there is one.", argument="by")
    by_unit = found_by_units(answers.found(judge_name, strict=strict), units.of_run, len(units))
    n, exactly = np.arange(1, len(units) + 1), np.bincount(by_unit.sum(axis=1), minlength=len(units) + 1)[1:]
    table = pd.DataFrame({"units": n, "expected": rarefaction(by_unit), "exactly": exactly})
    sizes = [bank_size(by_unit[answers.topic == topic], confidence) for topic in range(len(answers.topics))]
    topics = pd.DataFrame([{"qid": qid, **size} for qid, size in zip(answers.topics, sizes, strict=True)])
    summary = pd.DataFrame([{"units": len(units), **bank_size(by_unit, confidence)}])
    settings = {
        "by": by,
        "bys": f"{by}s",
        "judge": answers.judges[answers.of_judge(judge_name)],
        "uniques": f"found: a match {'of 1' if strict else 'above 0'}",
        "interval": f"{100 * confidence:.4g}%, log-normal, none where one {by} alone found a single item",
        **units.settings,
    }
    return BankGrowth(table=table, summary=summary, topics=topics, settings=settings)


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
            "measure name* score~* predicted~* rank* predicted_rank~* systems missing* abstains",
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
        score = "{name}, {measure}: {score} by the bank as it is, in brackets with any items of its own"
        text = f"{score}; {predicted}; rank {{rank}} of {{systems}}"
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
        problem = f"new has matches of {examples(new.judges)}, and the field is scored by those of {shown(judge)}."
        raise InputError(problem, argument="new")
    bank, matched = (set(map(tuple, each.items[["qid", "item"]].to_numpy().tolist())) for each in (answers, new))
    if odd := sorted(matched - bank):
        problem = f"{count(len(odd), 'item')} that the bank lacks: {examples(odd)}. Match answers with its items."
        raise InputError(f"new has {problem}", argument="new")
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
    gain = whole.mean - np.array([reduced[of].mean[run] for run, of in enumerate(unit)])
    of_unit = np.bincount(unit, weights=gain) / units.runs()
    of_others = (of_unit.sum() - of_unit) / max(len(units) - 1, 1)
    tried = []
    for added, gains in ((0.0, np.zeros(len(units))), (mean_of_units(gain, unit), of_others)):
        errors, rank_errors = np.empty((2, len(unit)))
        for each, bank in enumerate(reduced):
            own = unit == each
            predicted, true = bank.predicted(gains[each])[own], whole.mean[own]
            errors[own] = np.abs(predicted - true)
            rank_errors[own] = np.abs(bank.ranks(predicted, ~own) - whole.ranks(true, ~own))
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
