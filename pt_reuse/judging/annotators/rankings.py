"""rankings_by_annotator: what the ranking of systems is under the labels of each annotator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, flag
from pt_reuse._errors import InputError, door, warn
from pt_reuse._report import MOST, Column, Digits, Report
from pt_reuse.arrays.correlation import DECIMALS, correlations, rank_changes
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.annotators.labels import AnnotatorLabels, LabelSet, LabelSets, as_annotator_labels
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.run_scores import checked_measures, provided_measures
from pt_reuse.scoring.topic_sets import check_topics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatorRankings(Result):
    """The ranking of systems under each annotator's labels, against the one under the judgments given.

    Attributes:
        table: one row per annotator and measure: ``annotator measure``; ``topics``, those with labels of this
            annotator, over which all means of the row are; ``labels``, how many there are; ``changed``, how many of
            these documents had another label, or none, in the judgments; ``tau_b tau_ap_b`` of the two rankings;
            ``max_drop``, the most ranks that a run loses under the annotator, and ``dropped``, that run (the best one
            of several, None where none loses any).
        by_run: one row per annotator, measure and run: ``annotator measure name team type score other_score rank
            other_rank drop``, first under the judgments, ``other_`` under the annotator.
        between: one row per two annotators with items in common and measure: ``first second measure topics items
            tau_b tau_ap_b max_drop``, means over the topics of these items.
        others: whether documents without a label of the annotator kept that of the judgments.
    """

    title: ClassVar[str] = "Rankings by annotator"

    by_run: pd.DataFrame
    between: pd.DataFrame
    others: str

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"rankings": self.table, "by_run": self.by_run, "between": self.between}

    def headline(self) -> str:
        """Return the smallest and the largest tau_b of each measure."""
        parts = []
        for measure, rows in self.table.groupby("measure", sort=False):
            low, high = rows["tau_b"].min(), rows["tau_b"].max()
            parts.append(f"{measure} tau_b {low:.4f} to {high:.4f}")
        return f"{count(self.table['annotator'].nunique(), 'annotator')} against the judgments: {'; '.join(parts)}"

    @door
    def report(self) -> Report:
        """Return what a paper prints: per annotator the topics, the labels that differ, and tau-b of three measures."""
        measures = list(dict.fromkeys(self.table["measure"]))
        rows = self.table[self.table["measure"] == measures[0]]
        shown = measures[: MOST - 2]
        taus = self.table.pivot_table(index="annotator", columns="measure", values="tau_b", dropna=False)
        kept = "kept its judgment" if self.others == "keep" else "counts as not judged, in both rankings"
        notes = [f"Not shown: {', '.join(measures[MOST - 2 :])}."] if len(measures) > len(shown) else []
        return Report(
            [
                Column("Annotator", rows["annotator"]),
                Column("Topics", rows["topics"], Digits.COUNT),
                Column("Changed", rows["changed"], Digits.COUNT),
                *(Column(name, taus.loc[rows["annotator"], name], Digits.SCORE) for name in shown),
            ],
            caption=(
                f"Rank correlation (tau-b) of {count(self.by_run['name'].nunique(), 'run')} under the labels of each "
                "annotator and under the judgments, over the topics of the annotator; a document that the annotator "
                f"did not label {kept}."
            ),
            notes=["Changed: labels that differ from the judgments.", *notes],
        )

    @door
    def plot(
        self,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw tau_b of the ranking under each annotator with the one under the judgments, a dot for each measure.

        Args:
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row per annotator, with a dot for each of six measures at most.
        """
        from pt_reuse.plots.forests import plot_annotator_taus
        from pt_reuse.plots.sheet import Place

        return plot_annotator_taus(self.table, place=Place(ax, title, legend, width))


#: what becomes of documents that the annotator did not label
OTHERS = ("keep", "drop")
_TABLE = ("annotator", "measure", "topics", "labels", "changed", "tau_b", "tau_ap_b", "max_drop", "dropped")
_BETWEEN = ("first", "second", "measure", "topics", "items", "tau_b", "tau_ap_b", "max_drop")


@door
def rankings_by_annotator(
    runs: Any,
    labels: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    others: str = "keep",
    verbose: bool = False,
) -> AnnotatorRankings:
    """Rank the systems under the labels of each annotator, and compare with the ranking under other judgments.

    For each annotator only the topics count of which there are labels of this annotator, in both rankings; a topic that
    a run lacks counts 0.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        labels: a frame ``qid docno label annotator`` (or with the columns of ir_measures), a dict of annotator ->
            judgments in any form, or what :func:`~pt_reuse.judging.import_labels` returns. A missing label, or -1, is
            none.
        qrels: the judgments to compare with, in any form.
        measures: ir_measures measures or their names, one or several.
        others: documents that the annotator did not label: ``"keep"`` (default) their label of the judgments, so that
            the annotator's labels are put into them; ``"drop"``, they are not judged, under the judgments neither, so
            that both rankings rest on the documents that the annotator labelled (between two annotators, that both
            labelled).
        verbose: show a progress bar.

    Returns:
        AnnotatorRankings: ``.table`` per annotator and measure, ``.by_run``, ``.between`` two annotators, ``.plot()``.

    Raises:
        InputError: labels of a topic that the judgments do not have, an unknown measure, a run that has no topic in
            common with the judgments.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> strict = field.qrels.to_frame().assign(label=lambda judged: (judged["label"] - 1).clip(lower=0))
        >>> found = ptr.judging.rankings_by_annotator(field.runs, {"strict": strict}, field.qrels, "AP")
        >>> found.table[["annotator", "measure", "topics"]]
          annotator measure  topics
        0    strict      AP      25

    Source: Voorhees 2000, Variations in relevance judgments and the measurement of retrieval effectiveness, Information
    Processing and Management 36; Parry et al. 2025, Variations in relevance judgments and the shelf life of test
    collections, SIGIR.
    """
    parsed = checked_measures(measures)
    choice("others", others, OTHERS)
    flag("verbose", verbose)
    given = as_annotator_labels(labels)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    warn_of_lower_grades(parsed, qrels.rel)
    check_topics(runs, qrels)
    _check_topics_of(given, qrels)
    sets = LabelSets(given, qrels)
    names = given.annotators
    columns: list[NDArray[np.bool_]] = list(given.given.T)
    only = [None if others == "keep" else mine for mine in columns]
    whole = [(sets.add(LabelSet(None, only[a])), sets.add(LabelSet(a, only[a]))) for a in range(len(names))]
    common: dict[tuple[int, int], NDArray[np.bool_]] = {
        (i, j): both
        for i, j in combinations(range(len(names)), 2)
        if (both := np.asarray(columns[i] & columns[j], dtype=bool)).any()
    }

    def half(annotator: int, both: NDArray[np.bool_]) -> int:
        return whole[annotator][1] if others == "keep" else sets.add(LabelSet(annotator, both))

    halves = {(i, j): (half(i, both), half(j, both)) for (i, j), both in common.items()}
    compared = _Compared(runs, [repr(measure) for measure in parsed], sets.scores(runs, parsed, verbose=verbose))
    tables, by_run, between, dropped = [], [], [], []
    for a, name in enumerate(names):
        mine = columns[a]
        topics = sets.topics(mine)
        moved = compared.by_run(*whole[a], topics)
        by_run.append(moved)
        moved.insert(0, "annotator", name)
        found = compared.table(*whole[a], topics).assign(annotator=name, labels=int(mine.sum()))
        found["changed"] = int((mine & (given.values[:, a] != sets.judged)).sum())
        dropped += [_most_dropped(moved, measure) for measure in found["measure"]]
        tables.append(found)
    for (i, j), both in common.items():
        found = compared.table(*halves[i, j], sets.topics(both))
        between.append(found.assign(first=names[i], second=names[j], items=int(both.sum())))
    table = pd.concat(tables, ignore_index=True).assign(dropped=pd.Series(dropped, dtype=object))[list(_TABLE)]
    _warn_of_ties(table)
    provided = provided_measures(parsed)
    return AnnotatorRankings(
        table=table,
        settings={
            "documents without a label of the annotator": "their judgment" if others == "keep" else "not judged",
            "topics": "those with labels of the annotator",
            **runs.settings,
            "complete": True,
            "ties": f"means equal to {DECIMALS} decimals",
            **({"by ir_measures": provided} if provided else {}),
        },
        by_run=pd.concat(by_run, ignore_index=True),
        between=pd.concat(between, ignore_index=True)[list(_BETWEEN)] if between else pd.DataFrame(columns=_BETWEEN),
        others=others,
    )


class _Compared:
    """Rankings of the runs under two sets of judgments.

    Args:
        runs: the field.
        measures: names of the measures.
        values: (sets, measures, topics, runs) scores.
    """

    def __init__(self, runs: RunSet, measures: list[str], values: NDArray[np.float64]):
        self._runs, self._measures, self._values = runs, measures, values

    def table(self, truth: int, estimate: int, topics: NDArray[np.int64]) -> pd.DataFrame:
        """Return per measure ``measure topics tau_b tau_ap_b max_drop`` over some topics."""
        rows = []
        for m, measure in enumerate(self._measures):
            x, y = (self._values[which, m, topics].mean(axis=0) for which in (truth, estimate))
            found = correlations(x, y[None])[["tau_b", "tau_ap_b", "max_drop"]]
            rows.append(found.assign(measure=measure, topics=len(topics)))
        return pd.concat(rows, ignore_index=True)

    def by_run(self, truth: int, estimate: int, topics: NDArray[np.int64]) -> pd.DataFrame:
        """Return per measure and run ``measure name team type score other_score rank other_rank drop``."""
        frames = []
        for m, measure in enumerate(self._measures):
            x, y = (self._values[which, m, topics].mean(axis=0) for which in (truth, estimate))
            moved = rank_changes(x, y, self._runs.names)
            moved[["team", "type"]] = self._runs.run_table[["team", "type"]].to_numpy()
            frames.append(moved.assign(measure=measure))
        found = pd.concat(frames, ignore_index=True)
        first = ["measure", "name", "team", "type"]
        return found[[*first, *(name for name in found.columns if name not in first)]]


def _most_dropped(moved: pd.DataFrame, measure: str) -> str | None:
    """Return the run that loses most ranks, of several the best one, None where none loses any."""
    rows = moved[(moved["measure"] == measure) & (moved["drop"] > 0)]
    if not len(rows):
        return None
    most = rows[rows["drop"] == rows["drop"].max()].sort_values("rank", kind="stable")
    return str(most["name"].iloc[0])


def _warn_of_ties(table: pd.DataFrame) -> None:
    """Warn of rankings that do not exist, since all runs tie."""
    none = table[table["tau_b"].isna()]
    if len(none):
        which = [f"{row.measure} of {row.annotator}" for row in none.itertuples()]
        warn(
            f"all runs tie under the judgments or under the annotator, so that there is no ranking to compare: "
            f"{examples(which)}. Is any document of these topics relevant by the measure?"
        )


def _check_topics_of(labels: AnnotatorLabels, qrels: Qrels) -> None:
    known = set(qrels.topics)
    strange = [topic for topic in labels.topics if topic not in known]
    if strange:
        raise InputError(
            f"labels of {count(len(strange), 'topic')} that the judgments do not have: {examples(strange)}; the "
            f"judgments have {examples(qrels.topics)}. Are the ids written alike?",
            argument="labels",
        )
