"""rankings_by_annotator: what the ranking of systems is under the labels of each annotator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS, correlations, rank_changes
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, warn
from pt_reuse.judging.annotators.labels import LABELS, NO_LABEL, TIES, AnnotatorLabels, as_annotator_labels, vote
from pt_reuse.options import Parameter
from pt_reuse.result import Result, Shown, View, clauses
from pt_reuse.scoring.caveats import noted, relevant_only, tell, warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.run_fit import misfits
from pt_reuse.scoring.scores import check_topics, of_all_topics, provided_measures
from pt_reuse.study import Entry, study, study_of

_TABLE = ("annotator", "measure", "topics", "labels", "changed", "tau_b", "tau_ap_b", "max_drop", "dropped")
_BETWEEN = ("first", "second", "measure", "topics", "items", "tau_b", "tau_ap_b", "max_drop")


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

    title, main = "Rankings by annotator", "rankings"
    condition = (
        "It takes the judgments as the truth, on the topics of each annotator; documents without a label of the "
        "annotator: {documents without a label of the annotator}."
    )
    limit = (
        "It does not say whether an annotator or the judgments are right, nor how far other topics would lead "
        "elsewhere."
    )
    views = {
        "annotator": View(
            columns=(
                Shown("Annotator", "annotator"),
                Shown("Topics", "topics", Digits.COUNT),
                Shown("Changed", "changed", Digits.COUNT),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("tau_AP", "tau_ap_b", Digits.SCORE),
                Shown("Largest drop", "max_drop", Digits.COUNT),
            ),
            caption="Rank correlation of the runs by {measure} under the labels of each annotator and under the "
            "judgments, over the topics of the annotator; changed are labels that differ from the judgments. Documents "
            "that the annotator did not label: {documents_without_a_label_of_the_annotator}.",
            noun="annotators",
        )
    }

    by_run: pd.DataFrame
    between: pd.DataFrame
    others: str

    def headline(self) -> str:
        """Return the smallest and the largest tau_b of each measure."""
        parts = []
        for measure, rows in self.table.groupby("measure", sort=False):
            low, high = rows["tau_b"].min(), rows["tau_b"].max()
            number = "undefined" if pd.isna(low) else f"{low:.4f}" + (f" to {high:.4f}" if low < high else "")
            parts.append(f"{measure} tau_b {number}")
        return f"{count(self.table['annotator'].nunique(), 'annotator')} against the judgments: {clauses(parts)}"


def _checked_majority(majority: Any) -> list[str]:
    several = isinstance(majority, Iterable) and not isinstance(majority, str | bytes)
    rules = [rule for rule in TIES if rule != "error"]
    return [choice("majority", rule, rules) for rule in (dict.fromkeys(majority) if several else [majority])]


def _with_majorities(labels: AnnotatorLabels, rules: Sequence[str]) -> AnnotatorLabels:
    """Return labels with the majority of their annotators, by each rule for ties, as annotators of their own."""
    votes = [vote(labels.values, rule).label for rule in rules]
    names = [f"majority ({rule})" for rule in rules]
    if taken := set(names) & set(labels.annotators):
        raise InputError(f"an annotator is called {examples(taken)}. Give another name.", argument="labels")
    values = np.column_stack([labels.values, *votes])
    return replace(labels, annotators=(*labels.annotators, *names), values=values)


@study(
    LABELS,
    Parameter(
        name="others",
        meaning='documents that the annotator did not label: ``"keep"`` (default) their label of the judgments, so '
        'that the annotator\'s labels are put into them; ``"drop"``, they are not judged, under the judgments neither, '
        "so that both rankings rest on the documents that the annotator labelled (between two annotators, that both "
        "labelled).",
        choices=("keep", "drop"),
    ),
    Parameter(
        name="majority",
        meaning="how ties of :func:`~pt_reuse.judging.majority_vote` are decided, one rule or several. Each adds the "
        "ranking under the majority of the annotators, as that of one more, called ``majority (lower)`` after its "
        "rule. Default none.",
        check=_checked_majority,
    ),
    entry=Entry(question="How do systems rank under each annotator?", group="judging", page="judging/annotators"),
)
def rankings_by_annotator(
    runs: Any,
    labels: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    others: str = "keep",
    majority: str | Iterable[str] = (),
    verbose: bool = False,
) -> AnnotatorRankings:
    """Rank the systems under the labels of each annotator, and compare with the ranking under other judgments.

    For each annotator, both rankings use only the topics that this annotator labelled; a topic that a run lacks counts
    0.

    Args:
        qrels: the judgments to compare with, in any form.
        measures: ir_measures measures or their names, one or several.

    Returns:
        AnnotatorRankings: ``.table`` per annotator and measure, ``.by_run``, ``.between`` two annotators.

    Raises:
        InputError: labels of a topic that the judgments do not have, an unknown measure, a run that has no topic in
            common with the judgments.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> strict = field.qrels.to_frame().assign(label=lambda judged: (judged["label"] - 1).clip(lower=0))
        >>> found = ptr.judging.rankings_by_annotator(field.runs, {"strict": strict}, field.qrels, "AP")
        >>> found.table[["annotator", "measure", "topics"]]
          annotator measure  topics
        0    strict      AP      25

    Source: Voorhees 2000, Variations in relevance judgments and the measurement of retrieval effectiveness, Information
    Processing and Management 36; Parry et al. 2025, Variations in relevance judgments and the shelf life of test
    collections, SIGIR.
    """
    asked = study_of(rankings_by_annotator).checked(locals())
    parsed, given = asked["measures"], _with_majorities(as_annotator_labels(labels), asked["majority"])
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    tell(relevant_only(qrels))
    warn_of_lower_grades(parsed, qrels.rel)
    check_topics(runs, qrels)
    tell(fitting := list(misfits(runs, qrels, parsed)))
    _check_topics_of(given, qrels)
    field, names = _Rescored(runs, given, qrels, parsed), given.annotators
    mine = list(given.given.T)
    only = [None if others == "keep" else items for items in mine]
    sides = [(field.add(None, only[a]), field.add(a, only[a])) for a in range(len(names))]
    between = []
    for i, j in combinations(range(len(names)), 2):
        both = mine[i] & mine[j]
        if both.any():
            halves = [sides[a][1] if others == "keep" else field.add(a, both) for a in (i, j)]
            between.append((names[i], names[j], halves[0], halves[1], both))
    field.score(verbose)
    tables, by_run = [], []
    for a, name in enumerate(names):
        moved, found = field.compared(*sides[a], mine[a])
        by_run.append(moved.assign(annotator=name))
        changed = int((mine[a] & (given.values[:, a] != field.judged)).sum())
        tables.append(found.assign(annotator=name, labels=int(mine[a].sum()), changed=changed))
    table = pd.concat(tables, ignore_index=True)[[*_TABLE]]
    _warn_of_ties(table)
    rows = [
        field.compared(truth, estimate, both)[1].assign(first=first, second=second, items=int(both.sum()))
        for first, second, truth, estimate, both in between
    ]
    provided = provided_measures(parsed)
    each_run = pd.concat(by_run, ignore_index=True)
    ahead = ["annotator", "measure", "name", "team", "type"]
    return AnnotatorRankings(
        table=table,
        settings={
            "documents without a label of the annotator": "their judgment" if others == "keep" else "not judged",
            "topics": "those with labels of the annotator",
            **runs.settings,
            **noted(fitting),
            "complete": True,
            "ties": f"means equal to {DECIMALS} decimals",
            **({"by ir_measures": provided} if provided else {}),
            **noted(relevant_only(qrels)),
        },
        by_run=each_run[[*ahead, *(name for name in each_run if name not in ahead)]],
        between=pd.concat(rows, ignore_index=True)[list(_BETWEEN)] if rows else pd.DataFrame(columns=_BETWEEN),
        others=others,
    )


class _Rescored:
    """Scores of the runs under many sets of judgments, each what it changes in one base, which has a row for each item.

    `judged` is (items,) what the judgments say of each, -1 where nothing; `values` (sets, measures, topics, runs).
    """

    def __init__(self, runs: RunSet, labels: AnnotatorLabels, qrels: Qrels, measures: list[ir_measures.Measure]):
        items = Qrels(pd.DataFrame({"qid": labels.qids, "docno": labels.docnos, "label": NO_LABEL}))
        self._runs, self._labels, self._measures = runs, labels, measures
        self._base = qrels.union(items)
        documents, known = self._base.arrays.documents, self._base.arrays.labels
        # items stand topic by topic as the documents of judgments do, so that each has the row of its document
        self._rows = documents.find(items.arrays.documents)
        self._before = np.where(qrels.arrays.documents.find(documents) < 0, UNJUDGED, known)
        self.judged = known[self._rows].astype(np.int64)
        self._sets: list[NDArray[np.int16]] = []

    def add(self, annotator: int | None, only: NDArray[np.bool_] | None) -> int:
        """Add the judgments, or those with an annotator's labels in them, cut down to some items; return its number."""
        new = self._before.copy()
        if only is not None:
            new[:] = UNJUDGED
            new[self._rows[only]] = self._before[self._rows[only]]
        if annotator is not None:
            mine = self._labels.given[:, annotator] & (True if only is None else only)
            new[self._rows[mine]] = self._labels.values[mine, annotator]
        self._sets.append(new.astype(np.int16))
        return len(self._sets) - 1

    def score(self, verbose: bool) -> None:
        labels = np.stack(self._sets)
        in_set, row = np.nonzero(labels != self._base.arrays.labels)
        changes = Changes(len(labels), in_set, row, labels[in_set, row])
        self.values = np.empty((len(labels), len(self._measures), len(self._base.topics), len(self._runs)))
        for block in rescore(self._runs, self._base, self._measures, changes, verbose=verbose):
            self.values[:, :, block.topics.start : block.topics.stop] = block.base[None]
            self.values[block.set, :, block.topic] = block.values.transpose(1, 0, 2)

    def compared(self, truth: int, estimate: int, items: NDArray[np.bool_]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return two rankings over the topics of some items: one row per measure and run, and one row per measure."""
        place, names = self._base.arrays.documents.place, self._labels.topics
        topics = sorted({place[names[t]] for t in self._labels.topic[items].tolist()})
        by_run, rows = [], []
        sides = [of_all_topics(self.values[which][:, topics], self._measures) for which in (truth, estimate)]
        for measure, x, y in zip(map(repr, self._measures), *sides, strict=True):
            moved = rank_changes(x, y, self._runs.names).assign(measure=measure)
            moved[["team", "type"]] = self._runs.run_table[["team", "type"]].to_numpy()
            by_run.append(moved)
            found = correlations(x, y[None])[["tau_b", "tau_ap_b", "max_drop"]]
            # of several the best one
            lost = moved[moved["drop"] == max(moved["drop"].max(), 1)].sort_values("rank", kind="stable")
            dropped = pd.Series(lost["name"].head(1).tolist() or [None], dtype=object)
            rows.append(found.assign(measure=measure, topics=len(topics), dropped=dropped))
        return pd.concat(by_run, ignore_index=True), pd.concat(rows, ignore_index=True)


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
