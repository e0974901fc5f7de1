"""Agreement: how far the rankings of systems by two scorings agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, told
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse.arrays.bootstrap import OF_DROPS, TopicBootstrap, ranking_agreement, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, correlations, rank_changes, weighted_tau
from pt_reuse.errors import InputError, located, warn
from pt_reuse.result import Result, Told, clauses, key_figures_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place
    from pt_reuse.scoring.scores import Scores


#: what two scorings are called where nobody says
UNNAMED = ("first judgments", "other judgments")
#: the coefficients of a row
_COEFFICIENTS = ("tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_b")
#: the entry of `settings` that says how intervals were made
INTERVALS = "intervals"


def _report(result: Agreement) -> Report:
    """Return per measure tau_b, tau_AP (the one for rankings with ties) and gamma, and the largest changes of rank."""
    table, (truth, other) = result.table, result.names
    tau, tau_ap = Column("tau_b", table["tau_b"], Digits.SCORE), Column("tau_AP", table["tau_ap_b"], Digits.SCORE)
    drop = Column("Largest drop", table["max_drop"], Digits.COUNT)
    if result.has_intervals:
        of_tau = intervals("tau_b", table["tau_b_low"], table["tau_b_high"], Digits.SCORE)
        of_drop = intervals("the drop", table["max_drop_low"], table["max_drop_high"], Digits.COUNT)
        columns = [tau, of_tau, tau_ap, drop, of_drop]
    else:
        gamma = Column("gamma", table["gamma"], Digits.SCORE)
        columns = [tau, tau_ap, gamma, drop, Column("Largest rise", table["max_rise"], Digits.COUNT)]
    said = "truth", "estimate", *((INTERVALS, *OF_DROPS) if result.has_intervals else ())
    return Report(
        [Column("Measure", table["measure"]), *columns],
        caption=(
            f"The ranking of {count(result.changes['name'].nunique(), 'run')} by {other} against the one by {truth}: "
            "correlations (tau_AP symmetric and with ties), and the most ranks that a run loses or gains."
        ),
        # a result of an earlier version, read back, says less
        notes=[f"{name.capitalize()}: {result.settings[name]}." for name in said if name in result.settings],
    )


def of_ranking(measure: str, row: Mapping[Any, Any]) -> str:
    """Return in words how far two rankings by a measure agree."""
    return f"{measure} tau_b {Told(row, 'tau_b'):.4f}, largest drop {Told(row, 'max_drop'):rank}"


def draw_scores(result: Any, measure: str, place: Place, view: str = "change", by: str | None = None) -> Axes:
    """Draw a point per run, its score under both: as ``"change"``, ``"percent"`` of it or ``"scores"``."""
    from pt_reuse.plots.run_scores import check_view, plot_two_scores

    check_view(view, by, ("type", "team"), result.changes)
    return plot_two_scores(result.changes, measure=measure, kind=view, by=by, judgments=result.names, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Agreement(Result):
    """How far two rankings of the same systems agree.

    Attributes:
        table: per measure ``tau_a tau_b gamma tau_ap tau_ap_b weighted_tau max_drop max_rise``; with intervals, each
            except weighted_tau is followed by its ends, ``tau_b_low tau_b_high`` and so on.
        changes: per run and measure ``name measure score other_score rank other_rank drop team type``.
        per_topic: per topic and measure ``qid measure tau_b``, the systems ranked on this topic alone; NaN if all
            systems tie in one of the two.
        names: the names of the two, the truth first, in printed text and on the axes of the figure.
    """

    title: ClassVar[str] = "Agreement"
    condition = "It takes {first} as the truth, for these {compared} and the topics of either."
    limit = "It does not say which of the two is right, nor how they would rank other runs."
    views = {"measure": _report}
    plots = {"scores": draw_scores}

    changes: pd.DataFrame
    per_topic: pd.DataFrame
    names: tuple[str, str] = UNNAMED

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"agreement": self.table, "changes": self.changes, "per_topic": self.per_topic}

    @property
    def measured(self) -> list[str]:
        """Return in words by what the runs of each row of the table are scored."""
        return self.table["measure"].tolist()

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals were asked for."""
        return "tau_b_low" in self.table

    def key_figures(self) -> pd.DataFrame:
        """Return the coefficients and largest changes of rank, see :meth:`Result.key_figures`."""
        figures = ["tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"]
        return key_figures_of(self.table.assign(measure=self.measured), figures)

    def headline(self) -> str:
        """Return what is compared with what, and tau_b and the largest drop of each measure."""
        rows = zip(self.measured, self.table.to_dict("records"), strict=True)
        said = clauses([of_ranking(measure, row) for measure, row in rows])
        return f"{self.names[1]} against {self.names[0]}: {said}"

    def words(self) -> dict[str, Any]:
        """Return the words of the verdict, with the number of runs."""
        return {**super().words(), "compared": count(self.changes["name"].nunique(), "run"), "first": self.names[0]}


def compare_scores(
    truth: Scores, estimate: Scores, names: tuple[str, str], bootstrap: TopicBootstrap | None = None
) -> Agreement:
    """Compare two scorings of the same runs under the same measures, each mean over the topics of its own."""
    runs = [estimate.names.index(name) for name in truth.names]
    measures = [estimate.measures.index(measure) for measure in truth.measures]
    mine, theirs = truth.mean_values, estimate.mean_values[measures][:, runs]
    rows, changes, topics = [], [], []
    shared = [topic for topic in truth.topics if topic in set(estimate.topics)]
    at = [[scores.topics.index(topic) for topic in shared] for scores in (truth, estimate)]
    if bootstrap is not None and not len(shared) == len(truth.topics) == len(estimate.topics):
        raise InputError(
            f"intervals draw the same topics for both, and the two share {len(shared):,} of {len(truth.topics):,} "
            f"and {len(estimate.topics):,}. Score both on those that they share, or give resamples=0.",
            argument="resamples",
        )
    for m, measure in enumerate(truth.measures):
        one, other = truth.topic_means[measure], estimate.topic_means[measure]
        # without intervals the topics may be others, and their order is of no matter
        other = other.of(at[1] if bootstrap is not None else range(len(estimate.topics)), runs)
        with located(measure):
            found = ranking_agreement(one, other, bootstrap, coefficients=_COEFFICIENTS)
        ranked = len(truth.names) > 1 and not _all_tie(measure, mine[m], theirs[m], names)
        weighted = {"weighted_tau": weighted_tau(mine[m], theirs[m]) if ranked else np.nan}
        at_drop = list(found).index("max_drop")
        items = list(found.items())
        rows.append({"measure": measure, **dict(items[:at_drop]), **weighted, **dict(items[at_drop:])})
        moved = rank_changes(mine[m], theirs[m], truth.names)
        moved[["team", "type"]] = truth.run_table[["team", "type"]].to_numpy()
        moved.insert(1, "measure", measure)
        changes.append(moved)
        by_topic = [
            float(correlations(x, y[None])["tau_b"].iloc[0])
            for x, y in zip(truth.values[m][at[0]], estimate.values[measures[m]][at[1]][:, runs], strict=True)
        ]
        topics.append(pd.DataFrame({"qid": shared, "measure": measure, "tau_b": by_topic}))
    return Agreement(
        table=whole_changes(pd.DataFrame(rows)),
        settings={
            "truth": f"{names[0]} ({_in_words(truth.settings)})",
            "estimate": f"{names[1]} ({_in_words(estimate.settings)})",
            "ties": f"means equal to {DECIMALS} decimals",
            **({INTERVALS: bootstrap.words(), **OF_DROPS} if bootstrap else {}),
        },
        changes=pd.concat(changes, ignore_index=True),
        per_topic=pd.concat(topics, ignore_index=True),
        names=names,
    )


def checked_names(names: Any) -> tuple[str, str]:
    """Return a user's ``names=`` as two texts that differ, or say that they are nothing of the kind."""
    found = tuple(names) if isinstance(names, Sequence) and not isinstance(names, str | bytes) else ()
    if len(found) != 2 or not all(isinstance(name, str) and name.strip() for name in found) or found[0] == found[1]:
        raise InputError(
            f"names must be two texts that differ, what to call the two that are compared, got {told(names)}.",
            argument="names",
        )
    return found[0], found[1]


def _all_tie(measure: str, mine: NDArray[np.float64], theirs: NDArray[np.float64], names: tuple[str, str]) -> bool:
    """Return whether one of the two ties all runs, so that there is no ranking to compare; warn of it."""
    means = (mine, theirs)
    tying = [name for name, of in zip(names, means, strict=True) if len(np.unique(of.round(DECIMALS))) == 1]
    if tying:
        warn(
            f"{measure}: all {len(mine):,} runs tie by {' and by '.join(tying)}, so there is no ranking to compare, "
            "and no coefficient has a value. Is any document there relevant by this measure?"
        )
    return bool(tying)


def _in_words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
