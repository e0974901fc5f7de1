"""Agreement: how far the rankings of systems by two scorings agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd

from pt_reuse.columns import Table
from pt_reuse.errors import InputError, count, shown
from pt_reuse.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


#: what two scorings are called where nobody says
UNNAMED = ("first judgments", "other judgments")
#: the coefficients of a row
COEFFICIENTS = ("tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_b")
#: the numbers of a row, as a table declares them
COLUMNS = f"{'~ '.join(COEFFICIENTS)}~ weighted_tau max_drop~ max_rise~"
#: what is said of a row
OF_RANKING = "{measure}: tau_b {tau_b}, largest drop {max_drop:rank}, largest rise {max_rise:rank}"


def draw_scores(result: Agreement, measure: str, place: Place, view: str = "change", by: str | None = None) -> Axes:
    """Draw a point per run, its score under both: as ``"change"``, ``"percent"`` of it or ``"scores"``."""
    from pt_reuse.plots.run_scores import check_view, plot_two_scores

    check_view(view, by, ("type", "team"), result.changes)
    return plot_two_scores(result.changes, measure=measure, kind=view, by=by, judgments=result.names, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Agreement(Result):
    """How far two rankings of the same systems agree.

    Attributes:
        names: what the two are called, the reference first.
    """

    title, main = "Agreement", "agreement"
    about = "{other} against {first}"
    answer = ("table", OF_RANKING)
    key = "tau_b gamma tau_ap_b max_drop max_rise"
    valid_for = "these {compared}; reference: {first}."
    not_covered = "which of the two is right, and other runs."
    plots = {"scores": draw_scores}
    columns = """
    tau_a        | tau_a        | score | Kendall's tau_a
    tau_ap       | tau_AP       | score | tau_AP, NaN where runs tie
    weighted_tau | Weighted tau | score | the weighted tau of scipy, in which the best runs weigh most
    other_       | other        |       | by the other one
    """

    table: Annotated[
        pd.DataFrame,
        Table("measure", f"measure {COLUMNS}", report="measure tau_b tau_ap_b gamma max_drop max_rise"),
    ]
    changes: Annotated[
        pd.DataFrame,
        Table(
            "run and measure",
            "name measure score other_score rank other_rank drop team type",
            report="name score other_score rank other_rank drop",
            noun="runs",
        ),
    ]
    per_topic: Annotated[
        pd.DataFrame,
        Table("topic and measure, the runs ranked on this topic alone", "qid measure tau_b", noun="topics"),
    ]
    names: tuple[str, str] = UNNAMED

    def words(self) -> dict[str, Any]:
        """Return what sentences speak of, with what the two are called."""
        compared = count(self.changes["name"].nunique(), "run")
        return {**super().words(), "first": self.names[0], "other": self.names[1], "compared": compared}


def checked_names(names: Any) -> tuple[str, str]:
    """Return a user's ``names=`` as two texts that differ."""
    found = tuple(names) if isinstance(names, Sequence) and not isinstance(names, str | bytes) else ()
    if len(found) != 2 or not all(isinstance(name, str) and name.strip() for name in found) or found[0] == found[1]:
        problem = f"names must be two texts that differ, what to call the two that are compared, got {shown(names)}."
        raise InputError(problem, argument="names")
    return found[0], found[1]
