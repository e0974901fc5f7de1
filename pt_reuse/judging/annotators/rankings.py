"""rankings_by_annotator: what the ranking of systems is under the labels of each annotator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import choice, count, examples
from pt_reuse.arrays.correlation import correlations, rank_changes
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, warn
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.judging.annotators.labels import NO_LABEL, TIES, AnnotatorLabels, Labels, as_annotator_labels, vote
from pt_reuse.result import Result
from pt_reuse.scoring.perturbed import scores_under
from pt_reuse.scoring.scores import of_all_topics
from pt_reuse.study import study

_TABLE = "annotator measure topics labels changed tau_b tau_ap_b max_drop dropped"
_BY_RUN = ("annotator", "measure", "name", "team", "type", "score", "other_score", "rank", "other_rank", "drop")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatorRankings(Result):
    """The ranking of systems under each annotator's labels, against the one under the judgments given.

    Attributes:
        others: whether documents without a label of the annotator kept that of the judgments.
    """

    title, main = "Rankings by annotator", "rankings"
    valid_for = (
        "the judgments as the truth, the topics of each annotator; documents without a label of the annotator: "
        "{documents without a label of the annotator}."
    )
    not_covered = "whether an annotator or the judgments are right, and other topics."
    columns = """
    topics | Topics | count | topics with labels of the annotator, over which means are
    labels | Labels | count | labels of the annotator
    changed | Changed | count | how many of these documents had another label, or none, in the judgments
    dropped | Dropped run | | that run, the best one of several; None where no run loses any
    other_ | annotator | | the same under the annotator
    """

    table: Annotated[
        pd.DataFrame,
        Table("annotator and measure", _TABLE, "annotator topics changed tau_b tau_ap_b max_drop", noun="annotators"),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "annotator, measure and run",
            " ".join(_BY_RUN),
            "name score other_score rank other_rank drop",
            select={"annotator": None},
            noun="runs",
        ),
    ]
    others: str

    def answers(self) -> list[str]:
        """Return the smallest and the largest tau_b of each measure."""
        lines = []
        for measure, rows in self.table.groupby("measure", sort=False):
            low, high = rows["tau_b"].min(), rows["tau_b"].max()
            number = "undefined" if pd.isna(low) else f"{low:.4f}" + (f" to {high:.4f}" if low < high else "")
            lines.append(f"{measure}: tau_b to the judgments {number}, {count(len(rows), 'annotator')}")
        return lines


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


@study(question="How do systems rank under each annotator?", aim="judging", group="judging", page="judging/annotators")
def rankings_by_annotator(
    runs: options.Runs,
    labels: Labels,
    qrels: options.Judgments,
    measures: options.Measures,
    *,
    others: Annotated[
        str,
        options.Option(
            'documents that the annotator did not label: ``"keep"`` (default) their label of the judgments, so that '
            'the annotator\'s labels are put into them; ``"drop"``, they are not judged, under the judgments neither, '
            "so that both rankings rest on the documents that the annotator labelled.",
            choices=("keep", "drop"),
        ),
    ] = "keep",
    majority: Annotated[
        Any,
        options.Option(
            "how ties of :func:`~pt_reuse.judging.majority_vote` are decided, one rule or several. Each adds the "
            "ranking under the majority of the annotators, as that of one more, called ``majority (lower)`` after its "
            "rule. Default none.",
            check=_checked_majority,
        ),
    ] = (),
    verbose: options.Verbose = False,
) -> AnnotatorRankings:
    """Rank the systems under the labels of each annotator, and compare with the ranking under other judgments.

    For each annotator, both rankings use only the topics that this annotator labelled; a topic that a run lacks counts
    0.

    Returns:
        AnnotatorRankings: ``.table`` per annotator and measure, ``.by_run``.

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
    given = _with_majorities(as_annotator_labels(labels), majority)
    inputs = Inputs.read(runs, qrels, measures)
    _check_topics_of(given, inputs.qrels)
    field, names = _Rescored(inputs, given), given.annotators
    mine = list(given.given.T)
    only = [None if others == "keep" else items for items in mine]
    sides = [(field.add(None, only[a]), field.add(a, only[a])) for a in range(len(names))]
    field.score(verbose)
    tables, by_run = [], []
    for a, name in enumerate(names):
        moved, found = field.compared(*sides[a], mine[a])
        by_run.append(moved.assign(annotator=name))
        changed = int((mine[a] & (given.values[:, a] != field.judged)).sum())
        tables.append(found.assign(annotator=name, labels=int(mine[a].sum()), changed=changed))
    table = pd.concat(tables, ignore_index=True)[_TABLE.split()]
    _warn_of_ties(table)
    how = {
        "documents without a label of the annotator": "their judgment" if others == "keep" else "not judged",
        "topics": "those with labels of the annotator",
    }
    return AnnotatorRankings(
        table=table,
        by_run=pd.concat(by_run, ignore_index=True)[list(_BY_RUN)],
        others=others,
        settings=settings_of(how, inputs),
    )


class _Rescored:
    """Scores of the runs under many sets of judgments, each what it changes in one base, which has a row for each item.

    `judged` is (items,) what the judgments say of each, -1 where nothing; `values` (sets, measures, topics, runs).
    """

    def __init__(self, inputs: Inputs, labels: AnnotatorLabels):
        items = Qrels(pd.DataFrame({"qid": labels.qids, "docno": labels.docnos, "label": NO_LABEL}))
        self._runs, self._labels, self._measures = inputs.runs, labels, list(inputs.measures)
        self._base = inputs.qrels.union(items)
        documents, known = self._base.arrays.documents, self._base.arrays.labels
        # items stand topic by topic as the documents of judgments do, so that each has the row of its document
        self._rows = documents.find(items.arrays.documents)
        self._before = np.where(inputs.qrels.arrays.documents.find(documents) < 0, UNJUDGED, known)
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
        self.values = scores_under(self._runs, self._base, self._measures, np.stack(self._sets), verbose=verbose)

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
