"""Labels of people and of a judge for the same documents, brought to one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse._errors import Attribute, InputError, located, warn
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.qrels.judgments import Qrels

#: what becomes of a document that people judged and the judge gave no label
MISSING = ("unjudged", "drop")


@dataclass(frozen=True)
class ComparedLabels:
    """What people and one judge say of the documents that people judged.

    Attributes:
        name: of the judge.
        family: of the judge, None where nobody says.
        human: the judgments of people on the topics that count; with ``missing="drop"`` those of the documents alone
            that the judge labelled, too.
        judge: the labels of the judge for these documents, on its own scale.
        judge_rel: the lowest label of the judge that is relevant, on its own scale.
        pairs: ``qid docno human judge``, one row per document that both labelled.
        left: ``qid docno human``, the documents on the topics that count that people judged and the judge did not.
        without: topics in which people judged and the judge labelled nothing, which do not count.
    """

    name: str
    family: str | None
    human: Qrels
    judge: Qrels
    judge_rel: int
    pairs: pd.DataFrame
    left: pd.DataFrame
    without: tuple[str, ...]

    @property
    def missing(self) -> int:
        """Return how many documents on the topics that count people judged and the judge did not."""
        return len(self.left)

    @property
    def rel(self) -> int:
        """Return the lowest label of people that is relevant."""
        return self.human.rel

    @property
    def on_scale(self) -> Qrels:
        """Return the labels of the judge as measures take them, so that people and judge agree what is relevant.

        Measures count a label as relevant from one bound on, for either. So labels of the judge that are relevant for
        it are raised to the lowest relevant label of people where they are below, and the others are lowered below it
        where they are not: a binary 1 becomes 2 where people count from 2, which leaves nDCG as it is. With the same
        bound for both nothing changes.
        """
        return on_scale(self.judge, self.judge_rel, self.rel)

    def words(self) -> str:
        """Return what counts as relevant for the judge, and what is missing, for settings."""
        told = f"relevant from label {self.judge_rel}; {count(len(self.pairs), 'document')} of both"
        told += f", {self.missing:,} missing" if self.missing else ""
        return told + (f", {count(len(self.without), 'topic')} without labels" if self.without else "")


def compared_labels(
    human: Qrels, judge: NamedJudge, *, missing: str = "unjudged", texts: pd.DataFrame | None = None
) -> ComparedLabels:
    """Ask a judge for labels of the documents that people judged, and put both beside each other.

    Args:
        human: the judgments of people; documents with a negative label were not judged.
        judge: who is asked.
        missing: a document that people judged and the judge gave no label is ``"unjudged"`` for the judge (default),
            or is dropped for both (``"drop"``).
        texts: ``qid docno`` and what the judge reads of each document, where it reads more than ids; default nothing.

    Returns:
        ComparedLabels: on the topics in which the judge labelled a document.

    Raises:
        InputError: the judge labelled none of the documents, or what it answers is no label.

    Warns:
        ReuseWarning: topics in which people judged, or the judge labelled, nothing, which do not count; labels of
            people on which the judge was fitted, with which it agrees better than with others.
    """
    choice("missing", missing, MISSING)
    frame = human.to_frame()
    asked = frame.loc[frame["label"] >= 0, ["qid", "docno", "label"]].rename(columns={"label": "human"})
    shown = asked[["qid", "docno"]] if texts is None else asked[["qid", "docno"]].merge(texts, how="left")
    labels = judge.labels(shown.reset_index(drop=True))
    _warn_of_fitted(human, judge)
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    if not known.any():
        with located(judge.name):
            raise InputError(
                f"the judge labelled none of the {count(len(asked), 'document')} that people judged. Are these labels "
                "of the same collection, with ids written alike?",
                argument="judge",
            )
    pairs = asked.assign(judge=labels.to_numpy(dtype=float, na_value=np.nan))[known]
    pairs = pairs.assign(judge=pairs["judge"].astype(np.int64)).reset_index(drop=True)
    there = set(pairs["qid"])
    judged = set(asked["qid"])
    topics = [topic for topic in human.topics if topic in there]
    without = tuple(topic for topic in human.topics if topic in judged and topic not in there)
    if unjudged := [topic for topic in human.topics if topic not in judged]:
        warn(
            f"people judged nothing in {count(len(unjudged), 'topic')} of their judgments, where every label is "
            f"negative: {examples(unjudged)}. The study is of the other {len(judged):,}."
        )
    if without:
        with located(judge.name):
            warn(
                f"the judge labelled nothing in {count(len(without), 'topic')} that people judged: "
                f"{examples(without)}. The study is of the other {len(topics):,}."
            )
    left = asked[asked["qid"].isin(there).to_numpy() & ~known].reset_index(drop=True)
    theirs = Qrels(pairs.rename(columns={"judge": "label"})[["qid", "docno", "label"]], topics=topics)
    both = human.select(topics) if len(topics) < len(human.topics) else human
    if missing == "drop":
        both = both.restrict(theirs)
    lowest = lowest_of(judge, pairs["judge"], human.rel)
    return ComparedLabels(
        name=judge.name,
        family=judge.family,
        human=both,
        judge=theirs.with_rel(lowest),
        judge_rel=lowest,
        pairs=pairs,
        left=left,
        without=without,
    )


def on_scale(labels: Qrels, judge_rel: int, rel: int) -> Qrels:
    """Return labels that are relevant from `judge_rel` on as ones that are relevant from `rel` on.

    Args:
        labels: of a judge.
        judge_rel: the lowest of them that is relevant.
        rel: the lowest label of people that is relevant.
    """
    if judge_rel == rel:
        return labels.with_rel(rel)
    frame = labels.to_frame()
    scaled = values_on_scale(frame["label"].to_numpy(), judge_rel, rel)
    return Qrels(frame.assign(label=scaled), topics=labels.topics, rel=rel)


def _warn_of_fitted(human: Qrels, judge: NamedJudge) -> None:
    if judge.fitted_on is None:
        return
    n = int((judge.fitted_on.arrays.documents.find(human.arrays.documents) >= 0).sum())
    if n:
        with located(judge.name):
            warn(
                f"the judge was fitted on {n:,} of the {count(len(human), 'judgment')} of people, and agrees with "
                "these better than with others. Audit it on what it was not fitted on: ",
                Attribute("judge.held_out"),
                ".",
            )


def values_on_scale(given: NDArray[np.int64], judge_rel: int, rel: int) -> NDArray[np.int64]:
    """Return labels of a judge as :func:`on_scale` does, as numbers.

    Args:
        given: the labels, each of at least 0.
        judge_rel: the lowest of them that is relevant.
        rel: the lowest label of people that is relevant.
    """
    if judge_rel == rel:
        return given
    return np.where(given >= judge_rel, np.maximum(given, rel), np.minimum(given, rel - 1))


def lowest_of(judge: NamedJudge, labels: pd.Series | NDArray[np.int64], rel: int) -> int:
    """Return the lowest label of a judge that is relevant: what is said of it, else what its labels tell.

    Args:
        judge: who gave the labels.
        labels: what it answered, each of at least 0.
        rel: the lowest label of people that is relevant.
    """
    if judge.rel is not None:
        return judge.rel
    lowest = rel if len(labels) == 0 else lowest_relevant(labels, rel)
    known = judge.judge.known_pairs() if lowest < rel else None
    if known is None:
        return lowest
    # few documents may have low labels alone, of a judge that has higher ones for others
    return lowest_relevant(judge.labels(known).dropna(), rel)


def lowest_relevant(labels: pd.Series | NDArray[np.int64], rel: int) -> int:
    """Return from which label on a judge's labels are relevant, where nobody says: 1 of binary ones, else as people.

    Args:
        labels: of the judge.
        rel: the lowest label of people that is relevant.
    """
    return 1 if labels.max() <= 1 else rel
