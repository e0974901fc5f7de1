"""Agreement: how far the rankings of systems by two scorings agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, shown
from pt_reuse.arrays.bootstrap import OF_DROPS, TopicBootstrap, ranking_agreement, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, correlations, rank_changes, weighted_tau
from pt_reuse.columns import Table
from pt_reuse.errors import InputError, located, warn
from pt_reuse.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place
    from pt_reuse.scoring.scores import Scores


#: what two scorings are called where nobody says
UNNAMED = ("first judgments", "other judgments")
#: the coefficients of a row
_COEFFICIENTS = ("tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_b")
#: the numbers of a row, as a table declares them
COLUMNS = f"{'~ '.join(_COEFFICIENTS)}~ weighted_tau max_drop~ max_rise~"
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


def compare_scores(
    truth: Scores, estimate: Scores, names: tuple[str, str], bootstrap: TopicBootstrap | None = None
) -> Agreement:
    """Compare two scorings of the same runs under the same measures, each mean over the topics of its own."""
    runs = [estimate.names.index(name) for name in truth.names]
    shared = [topic for topic in truth.topics if topic in set(estimate.topics)]
    if bootstrap is not None and not len(shared) == len(truth.topics) == len(estimate.topics):
        raise InputError(
            f"intervals draw the same topics for both, and the two share {len(shared):,} of {len(truth.topics):,} "
            f"and {len(estimate.topics):,}. Score both on those that they share, or give resamples=0.",
            argument="resamples",
        )
    at, other_at = ([scores.topics.index(topic) for topic in shared] for scores in (truth, estimate))
    rows, changes, topics = [], [], []
    for m, measure in enumerate(truth.measures):
        o = estimate.measures.index(measure)
        means, other_means = truth.mean_values[m], estimate.mean_values[o][runs]
        # without intervals the topics may be others, and their order is of no matter
        drawn = other_at if bootstrap is not None else range(len(estimate.topics))
        with located(measure):
            found = ranking_agreement(
                truth.topic_means[measure],
                estimate.topic_means[measure].of(drawn, runs),
                bootstrap,
                coefficients=_COEFFICIENTS,
            )
        tying = [
            n for n, of in zip(names, (means, other_means), strict=True) if len(np.unique(of.round(DECIMALS))) == 1
        ]
        if tying and len(runs) > 1:
            warn(f"{measure}: all {len(runs):,} runs tie by {' and by '.join(tying)}: no coefficient has a value.")
        ranked = len(runs) > 1 and not tying
        rows.append(
            {"measure": measure, **found, "weighted_tau": weighted_tau(means, other_means) if ranked else np.nan}
        )
        moved = rank_changes(means, other_means, truth.names)
        moved[["team", "type"]] = truth.run_table[["team", "type"]].to_numpy()
        moved.insert(1, "measure", measure)
        changes.append(moved)
        of_both = zip(truth.values[m][at], estimate.values[o][other_at][:, runs], strict=True)
        taus = [float(correlations(x, y[None])["tau_b"].iloc[0]) for x, y in of_both]
        topics.append(pd.DataFrame({"qid": shared, "measure": measure, "tau_b": taus}))
    table = whole_changes(pd.DataFrame(rows))
    # in the order in which it is declared, ends behind their number
    table.insert(list(table).index("max_drop"), "weighted_tau", table.pop("weighted_tau"))
    conventions = (", ".join(f"{name}={value}" for name, value in s.settings.items()) for s in (truth, estimate))
    of_each = [f"{name} ({words})" for name, words in zip(names, conventions, strict=True)]
    return Agreement(
        table=table,
        settings={
            "truth": of_each[0],
            "estimate": of_each[1],
            "ties": f"means equal to {DECIMALS} decimals",
            **({"intervals": bootstrap.words(), **OF_DROPS} if bootstrap else {}),
        },
        changes=pd.concat(changes, ignore_index=True),
        per_topic=pd.concat(topics, ignore_index=True),
        names=names,
    )


def checked_names(names: Any) -> tuple[str, str]:
    """Return a user's ``names=`` as two texts that differ."""
    found = tuple(names) if isinstance(names, Sequence) and not isinstance(names, str | bytes) else ()
    if len(found) != 2 or not all(isinstance(name, str) and name.strip() for name in found) or found[0] == found[1]:
        problem = f"names must be two texts that differ, what to call the two that are compared, got {shown(names)}."
        raise InputError(problem, argument="names")
    return found[0], found[1]
