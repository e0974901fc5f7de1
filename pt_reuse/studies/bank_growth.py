"""bank_growth: how many items further teams would add to a bank, and how many there are at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse.arrays.item_banks import bank_size, found_by_units, rarefaction
from pt_reuse.columns import Table
from pt_reuse.data.units import units_of
from pt_reuse.errors import InputError
from pt_reuse.plots.lines import plot_growth
from pt_reuse.result import Result
from pt_reuse.studies.leave_out_items import Judged, JudgeName, Strict
from pt_reuse.study import study


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
    summary: Annotated[
        pd.DataFrame,
        Table("bank", "units items found unique by_two next_unit chao2~", report="units found unique next_unit chao2"),
    ]
    topics: Annotated[
        pd.DataFrame,
        Table("topic", "qid items found unique by_two next_unit chao2~", report="qid items found unique chao2"),
    ]


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
