"""check_answers: what new answers would score by a bank of items, had their team taken part when it was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import count, examples, whole
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import rounded
from pt_reuse.arrays.expected import conformal_quantile
from pt_reuse.arrays.item_banks import found_by_units, unique_to
from pt_reuse.columns import Table
from pt_reuse.data.answers import Answers, as_answers
from pt_reuse.data.units import Units, units_of
from pt_reuse.errors import InputError
from pt_reuse.options import Flag, Option
from pt_reuse.result import Result, cells, records
from pt_reuse.scoring.answers import default_measures, scores_of_answers
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
    score      | As it is   | score | by the bank as it is, missing matches not found, and what its items may make of it
    predicted  | Predicted  | score | had its own items been in the bank; NaN where nothing is said
    rank       | Rank       | count | rank among the field by the bank as it is
    predicted_rank | Rank, predicted | count | rank by what is predicted
    systems    | Systems    | count | how many are ranked
    missing    | Missing    | count | matches that nobody gave
    abstains   | Abstains   |       | whether nothing is predicted
    why        | Why        |       | why
    item       | Item       |       | the item
    change     | Change     | score | what a match of 1 changes in the mean score
    own_change | One's own item | score | what one further item of its own would change, which it has
    gain       | Gain       | difference | score with its unit's items less without
    reduced_score | Without own | score | score by the bank without its unit's items
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and new run",
            "measure name score~ predicted~ rank predicted_rank~ systems missing abstains why",
            report="name score predicted rank predicted_rank missing",
            noun="runs",
        ),
    ]
    matches: Annotated[
        pd.DataFrame,
        Table("measure and missing match of a new run, the largest change first", "measure name qid item change",
              noun="matches"),
    ]  # fmt: skip
    topics: Annotated[
        pd.DataFrame,
        Table("measure, new run and topic, where own items change most", "measure name qid score own_change",
              descending=("own_change",), noun="topics"),
    ]  # fmt: skip
    calibration: Annotated[
        pd.DataFrame,
        Table("measure and run of a left-out unit", "measure name team score reduced_score gain", noun="runs"),
    ]

    def answers(self) -> list[str]:
        """Return what each new run scores by the bank, and would score with its own items in it."""
        lines = []
        for row in records(self.table):
            said = cells(row, self.columns)
            predicted = f"no prediction: {row['why']}" if row["abstains"] else f"predicted {said['predicted']}"
            lines.append(
                f"{row['name']}, {row['measure']}: {row['score']:.4f} by the bank as it is, {row['score_low']:.4f} to "
                f"{row['score_high']:.4f} with items of its own; {predicted}; rank {row['rank']} of {row['systems']}"
            )
        return lines


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
        NewAnswers: ``.table``, ``.matches`` (missing ones, the largest change first), ``.topics``, ``.calibration``.

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
    chosen, units = default_measures(answers, measures), units_of(answers.run_table, by)
    every = _joined(new, answers)
    own_items = unique_to(found_by_units(answers.found(judge_name, strict=strict), units.of_run, len(units)))
    counts = [np.bincount(answers.topic[own_items == unit], minlength=1).max(initial=0) for unit in range(len(units))]
    most = int(max(counts, default=0)) if own is None else own
    beware(few_topics(len(answers.topics)))
    needed = units_needed(confidence)
    tables: list[list[pd.DataFrame]] = [[], [], [], []]
    for measure in chosen:
        calibration = _calibration(answers, measure, judge_name, units, own_items)
        gain, half, rank_half = _learned(calibration, units, confidence)
        rows = list(_rows(every, new.names, measure, judge_name, (gain, half, rank_half), by=by, most=most))
        if len(units) < needed:
            why = f"it needs {needed} left-out {by}s, and this field has {len(units)}"
            nothing = {name: None if "rank" in name else np.nan for name in rows[0] if name.startswith("predicted")}
            rows = [row | nothing | {"abstains": True, "why": why} for row in rows]
        tables[0].append(pd.DataFrame(rows))
        tables[1].append(_missing(every, new.names, measure, judge_name))
        tables[2].append(_by_topic(every, new.names, measure, judge_name))
        tables[3].append(calibration.drop(columns=["unit", "rank_gain"]))
    table, matches, topics, calibrations = (pd.concat(parts, ignore_index=True) for parts in tables)
    ranks = ["predicted_rank", "predicted_rank_low", "predicted_rank_high"]
    table = table.astype(dict.fromkeys(ranks, "Int64"))
    settings = {
        "by": by,
        "bys": f"{by}s",
        "units": len(units),
        "confidence": f"{100 * confidence:.4g}%, conformal by {by}, it takes {needed}",
        "own": most,
        "bank": f"{len(answers.items):,} items, as it was made without the new answers",
        "judge": answers.judges[answers.of_judge(judge_name)],
    }
    return NewAnswers(table=table, matches=matches, topics=topics, calibration=calibrations, settings=settings)


def _joined(new: Answers, answers: Answers) -> Answers:
    """Return the field with the new answers, which have no other item."""
    known = set(map(tuple, answers.items[["qid", "item"]].to_numpy().tolist()))
    odd = [item for item in map(tuple, new.items[["qid", "item"]].to_numpy().tolist()) if item not in known]
    if odd:
        raise InputError(
            f"new has {count(len(odd), 'item')} that the bank lacks: {examples(odd)}. Match new answers with the items "
            "of the bank; what else they have is what is predicted.",
            argument="new",
        )
    again = sorted(set(new.names) & set(answers.names))
    if again:
        raise InputError(f"new has runs of the field: {examples(again)}. Take them out of one.", argument="new")
    # a run without a team is one of its own
    names, known = new.run_table["name"], set(answers.run_table["team"])
    own = names.where(~names.isin(known), names + " (new)")
    return answers | replace(new, run_table=new.run_table.assign(team=new.run_table["team"].fillna(own)))


def _calibration(
    answers: Answers, measure: str, judge: str | None, units: Units, own_items: NDArray[np.int64]
) -> pd.DataFrame:
    """Return of each run of the field what its unit's items add to its score, and to its rank."""
    every = np.ones(len(own_items), dtype=bool)
    full = scores_of_answers(answers, [measure], judge, every).mean_values[0]
    frames, rank = [], pairs.ranks(rounded(full))
    for unit in range(len(units)):
        reduced = scores_of_answers(answers, [measure], judge, own_items != unit).mean_values[0]
        mine = np.flatnonzero(units.of_run == unit)
        before = pairs.ranks(rounded(reduced))[mine]
        columns = {"score": full[mine], "reduced_score": reduced[mine], "gain": full[mine] - reduced[mine]}
        frames.append(pd.DataFrame({"unit": unit, **columns, "rank_gain": rank[mine] - before}, index=mine))
    found = pd.concat(frames).sort_index()
    return found.assign(measure=measure, name=answers.names, team=answers.run_table["team"].to_numpy())[
        ["measure", "name", "team", "score", "reduced_score", "gain", "unit", "rank_gain"]
    ].reset_index(drop=True)


def _learned(calibration: pd.DataFrame, units: Units, confidence: float) -> tuple[float, float, float]:
    """Return what is added to a score, and how far a score and a rank may then be off."""
    unit, gain = calibration["unit"].to_numpy(), calibration["gain"].to_numpy()
    of_unit = calibration.groupby("unit")["gain"].mean().to_numpy()
    others = (of_unit.sum() - of_unit) / max(len(of_unit) - 1, 1)
    errors = {"none": np.abs(gain), "mean": np.abs(gain - others[unit])}
    best = min(errors, key=lambda name: mean_of_units(errors[name], unit))
    half = conformal_quantile(errors[best], unit, confidence)
    rank_half = conformal_quantile(np.abs(calibration["rank_gain"].to_numpy(dtype=float)), unit, confidence)
    return float(of_unit.mean()) if best == "mean" and len(units) > 1 else 0.0, half, rank_half


def _rows(
    whole: Answers,
    new: list[str],
    measure: str,
    judge: str | None,
    learned: tuple[float, float, float],
    *,
    by: str,
    most: int,
) -> Iterator[dict[str, Any]]:
    """Yield what is said of each new run."""
    scores = scores_of_answers(whole, [measure], judge, np.ones(len(whole.items), dtype=bool))
    field = scores.mean_values[0][[name not in new for name in scores.names]]
    weights = whole.weights(measure)
    of_topic = np.bincount(whole.topic, weights=weights, minlength=len(whole.topics))
    gain, half, rank_half = learned
    heaviest = float(weights.max(initial=1.0))
    units = units_of(whole.run_table, by)
    for name in new:
        # an item of its unit may be that of another run of it alone
        alone = (units.of_run == units.of_run[scores.names.index(name)]).sum() == 1
        least = 0.0 if not alone else 1.0 if measure.startswith("strict_") else 0.5
        run = scores.names.index(name)
        by_topic, mean = scores.values[0][:, run], float(scores.mean_values[0][run])
        with_own = [(by_topic * of_topic + c * most * heaviest) / np.maximum(of_topic + most * heaviest, 1e-300)
                    for c in (least, 1.0)]  # fmt: skip
        low, high = np.minimum(by_topic, with_own[0]).mean(), np.maximum(by_topic, with_own[1]).mean()
        predicted = float(np.clip(mean + gain, low, high))
        ends = np.clip([predicted - half, predicted + half], low, high)
        rank = 1 + int((rounded(field) > rounded(np.array([mean]))[0]).sum())
        place = 1 + int((rounded(field) > predicted).sum())
        n = len(field) + 1
        spread = rank_half if np.isfinite(rank_half) else n
        yield {
            "measure": measure,
            "name": name,
            "score": mean,
            "score_low": float(low),
            "score_high": float(high),
            "predicted": predicted,
            "predicted_low": float(ends[0]),
            "predicted_high": float(ends[1]),
            "rank": rank,
            "predicted_rank": place,
            "predicted_rank_low": max(1, place - int(spread)),
            "predicted_rank_high": min(n, place + int(spread)),
            "systems": n,
            "missing": int(np.isnan(whole.matches[whole.of_judge(judge)][:, run]).sum()),
            "abstains": False,
            "why": "",
        }


def _changes(whole: Answers, measure: str) -> Floats:
    """Return (items,) what a match of 1 adds to a mean score."""
    weights = whole.weights(measure)
    of_topic = np.bincount(whole.topic, weights=weights, minlength=len(whole.topics))[whole.topic]
    return np.divide(weights, of_topic * len(whole.topics), out=np.zeros_like(weights), where=of_topic > 0)


def _missing(whole: Answers, new: list[str], measure: str, judge: str | None) -> pd.DataFrame:
    runs = [whole.names.index(name) for name in new]
    item, run = np.nonzero(np.isnan(whole.matches[whole.of_judge(judge)][:, runs]))
    frame = whole.items.iloc[item][["qid", "item"]].assign(
        measure=measure, name=np.array(new, dtype=object)[run], change=_changes(whole, measure)[item]
    )
    frame = frame.sort_values("change", ascending=False, kind="stable", ignore_index=True)
    return frame[["measure", "name", "qid", "item", "change"]]


def _by_topic(whole: Answers, new: list[str], measure: str, judge: str | None) -> pd.DataFrame:
    scores = scores_of_answers(whole, [measure], judge, np.ones(len(whole.items), dtype=bool)).values[0]
    of_topic = np.bincount(whole.topic, weights=whole.weights(measure), minlength=len(whole.topics))
    frames = []
    for name in new:
        mine = scores[:, whole.names.index(name)]
        change = (1 - mine) / (of_topic + 1) / len(whole.topics)
        columns = {"measure": measure, "name": name, "qid": whole.topics, "score": mine, "own_change": change}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)
