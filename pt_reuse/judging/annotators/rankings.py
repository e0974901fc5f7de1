"""rankings_by_annotator: what the ranking of systems is under the labels of each annotator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

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
_BY_RUN = "annotator measure name team type score other_score rank other_rank drop"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatorRankings(Result):
    """The ranking of systems under each annotator's labels, against the one under the judgments given."""

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
            _BY_RUN,
            "name score other_score rank other_rank drop",
            select={"annotator": None},
            noun="runs",
        ),
    ]

    def answers(self) -> list[str]:
        lines = []
        for measure, rows in self.table.groupby("measure", sort=False):
            low, high = rows["tau_b"].min(), rows["tau_b"].max()
            number = "undefined" if pd.isna(low) else f"{low:.4f}" + (f" to {high:.4f}" if low < high else "")
            lines.append(f"{measure}: tau_b to the judgments {number}, {count(len(rows), 'annotator')}")
        return lines


def _checked_majority(majority: Any) -> list[str]:
    several = isinstance(majority, Iterable) and not isinstance(majority, str | bytes)
    return [choice("majority", rule, TIES[:-1]) for rule in (dict.fromkeys(majority) if several else [majority])]


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
    if strange := [topic for topic in given.topics if topic not in set(inputs.qrels.topics)]:
        lacking = f"labels of {count(len(strange), 'topic')} that the judgments do not have: {examples(strange)}. "
        raise InputError(f"{lacking}The judgments have {examples(inputs.qrels.topics)}.", argument="labels")
    # items stand topic by topic as the documents of judgments do, so that each has the row of its document
    items = Qrels(pd.DataFrame({"qid": given.qids, "docno": given.docnos, "label": NO_LABEL}))
    base = inputs.qrels.union(items)
    documents, known = base.arrays.documents, base.arrays.labels
    rows = documents.find(items.arrays.documents)
    judged = np.where(inputs.qrels.arrays.documents.find(documents) < 0, UNJUDGED, known).astype(np.int16)
    sets = []
    for mine, said in zip(given.given.T, given.values.T, strict=True):
        truth = judged
        if others == "drop":
            truth = np.full_like(judged, UNJUDGED)
            truth[rows[mine]] = judged[rows[mine]]
        sets += [truth, truth.copy()]
        sets[-1][rows[mine]] = said[mine]
    scores = scores_under(inputs.runs, base, inputs.measures, np.stack(sets), verbose=verbose)
    tables, by_run = [], []
    for a, name in enumerate(given.annotators):
        mine = given.given[:, a]
        changed = int((mine & (given.values[:, a] != known[rows])).sum())
        topics = sorted({documents.place[given.topics[t]] for t in given.topic[mine].tolist()})
        sides = [of_all_topics(values[:, topics], inputs.measures) for values in scores[2 * a : 2 * a + 2]]
        for measure, x, y in zip(map(repr, inputs.measures), *sides, strict=True):
            about = {"annotator": name, "measure": measure}
            moved = rank_changes(x, y, inputs.runs.names).assign(**about)
            moved[["team", "type"]] = inputs.runs.run_table[["team", "type"]].to_numpy()
            by_run.append(moved)
            # of several the best one
            lost = moved[moved["drop"] == max(moved["drop"].max(), 1)].sort_values("rank", kind="stable")
            about |= {"topics": len(topics), "labels": int(mine.sum()), "changed": changed}
            dropped = pd.Series(lost["name"].head(1).tolist() or [None], dtype=object)
            tables.append(correlations(x, y[None]).assign(**about, dropped=dropped))
    table = pd.concat(tables, ignore_index=True)[_TABLE.split()]
    warn_of_ties(table, "the judgments", "annotator")
    how = {
        "documents without a label of the annotator": "their judgment" if others == "keep" else "not judged",
        "topics": "those with labels of the annotator",
    }
    return AnnotatorRankings(
        table=table, by_run=pd.concat(by_run, ignore_index=True)[_BY_RUN.split()], settings=settings_of(how, inputs)
    )


def warn_of_ties(table: pd.DataFrame, truth: str, who: str) -> None:
    """Warn of the rows without a tau_b: all runs tie under the truth, or under who is in a column."""
    none = table[table["tau_b"].isna()]
    if len(none):
        tie = f"all runs tie under {truth} or under the {who}, so that there is no ranking to compare"
        where = examples(none["measure"] + " of " + none[who])
        warn(f"{tie}: {where}. Is any document of these topics relevant by the measure?")
