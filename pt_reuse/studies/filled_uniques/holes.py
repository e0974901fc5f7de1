"""Holes in judgments: which documents a judge is to label, what it says, and the sets of judgments that this makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, listed
from pt_reuse._errors import InputError
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import HoleLabels, Scale, labels_of_holes
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.studies.unique_sets import RemovedUniques, UniqueSets

#: which documents a judge labels: the uniques that are taken out, or every unjudged one at the top of a run besides
HOLES = ("uniques", "unjudged")


@dataclass(frozen=True)
class Filling:
    """What judges say of the documents that people judged, and of those that nobody did.

    Attributes:
        judgments: those of people, and as unjudged the documents that nobody judged and a judge is asked for.
        rel: the lowest label that is relevant.
        asked: (documents,) rows of the judgments that judges are asked for: those of people first.
        n_judged: how many of them people judged.
        removed: the uniques, in rows of these judgments.
        judges: what each judge says of `asked`.
    """

    judgments: Qrels
    rel: int
    asked: NDArray[np.int64]
    n_judged: int
    removed: RemovedUniques
    judges: tuple[HoleLabels, ...]

    @classmethod
    def of(
        cls, qrels: Qrels, rel: int, removed: RemovedUniques, further: pd.DataFrame, judges: Sequence[NamedJudge]
    ) -> Filling:
        """Ask the judges.

        Args:
            qrels: the judgments of people.
            rel: the lowest label that is relevant.
            removed: the uniques.
            further: ``qid docno`` of documents to label besides, on topics of the judgments; those that people judged
                do not count.
            judges: who is asked, each once, for all documents.

        Raises:
            InputError: a judge that labelled none of the documents, or whose labels go beyond those of people.
        """
        base = with_unjudged(qrels, further)
        at = base.arrays.documents.find(qrels.arrays.documents)
        judged = np.sort(at[qrels.arrays.labels >= 0])
        holes = base.arrays.documents.find(Qrels(further.assign(label=0)).arrays.documents) if len(further) else at[:0]
        asked = np.concatenate([judged, np.setdiff1d(holes, judged)])
        frame = base.to_frame()[["qid", "docno"]].iloc[asked]
        labels = tuple(labels_of_holes(judge, frame, Scale.of(qrels, rel)) for judge in judges)
        for given in labels:
            if len(asked) and not given.known.any():
                raise InputError(
                    f"the judge labelled none of {count(len(asked), 'document')}. Are these labels of the same "
                    "collection, with ids written alike?",
                    argument="fill",
                    place=given.name,
                )
        return cls(base, rel, asked, len(judged), RemovedUniques(removed.owner, at[removed.row]), labels)

    def sets(self, n_units: int) -> UniqueSets:
        """Return the sets of judgments: without each unit's uniques, and of each judge filled and alone."""
        owner, row = self.removed.owner, self.removed.row
        first = Changes(n_units, owner, row, np.full(len(row), UNJUDGED))
        parts, holes = [first], self.asked[self.n_judged :]
        for judge, given in enumerate(self.judges):
            start = n_units + judge * (n_units + 1)
            labels = self._by_row(given)
            of_holes = np.repeat(np.arange(n_units), len(holes))
            alone = np.full(len(self.asked), n_units)
            every = np.concatenate([row, np.tile(holes, n_units), self.asked])
            parts.append(Changes(0, start + np.concatenate([owner, of_holes, alone]), every, labels[every]))
        n_sets = n_units + len(self.judges) * (n_units + 1)
        in_set, rows = (np.concatenate([getattr(part, name) for part in parts]) for name in ("in_set", "row"))
        label = np.concatenate([part.label for part in parts]).astype(np.int16)
        changed = label != self.judgments.arrays.labels[rows]
        return UniqueSets(self.judgments, Changes(n_sets, in_set, rows, label).take(changed), n_units, len(self.judges))

    def counts(self, judge: int, n_units: int) -> pd.DataFrame:
        """Return, per unit, of the uniques that were taken out: ``removed labelled unknown judge_relevant relevant``.

        ``judge_relevant`` and ``relevant`` are of those that the judge labelled.
        """
        owner, row = self.removed.owner, self.removed.row
        said, truth = self._by_row(self.judges[judge])[row], self.judgments.arrays.labels[row]
        known = said != UNJUDGED
        found = {
            "removed": np.ones(len(row), dtype=bool),
            "labelled": known,
            "unknown": ~known,
            "judge_relevant": known & (said >= self.rel),
            "relevant": known & (truth >= self.rel),
        }
        return pd.DataFrame({name: np.bincount(owner[chosen], minlength=n_units) for name, chosen in found.items()})

    def settings(self) -> dict[str, str]:
        """Return the conventions of filling, for display."""
        n_holes = len(self.asked) - self.n_judged
        said = "the removed uniques"
        if n_holes:
            said += f" and {count(n_holes, 'document')} that nobody judged"
        return {"fill": "; ".join(given.words() for given in self.judges), "holes": said}

    def caveats(self) -> Iterator[Caveat]:
        """Yield what keeps filled scores from being those of a judge that knows all documents."""
        topic = self.judgments.arrays.documents.topic[self.asked]
        topics = np.array(self.judgments.topics, dtype=object)
        for given in self.judges:
            unknown = int((~given.known).sum())
            if not unknown:
                continue
            silent = np.setdiff1d(topic, topic[given.known])
            of = f"{unknown:,} of {count(len(given.labels), 'document')}"
            none = f", none in {count(len(silent), 'topic')} ({examples(topics[silent])})" if len(silent) else ""
            yield Caveat(
                f"{given.name} gave no label to {of}",
                (
                    f"judge {given.name!r} gave no label to {of} that it was asked for{none}. These stay unjudged, "
                    "filled as well as under the judge alone, and count as not relevant in most measures.",
                ),
            )

    def _by_row(self, given: HoleLabels) -> NDArray[np.int16]:
        """Return (rows of the judgments,): the label that a judge gave, unjudged where there is none."""
        labels = np.full(len(self.judgments), UNJUDGED, dtype=np.int16)
        labels[self.asked] = given.labels
        # what nobody judged stays as it is, pooled or not, where the judge does not know it either
        holes = self.asked[self.n_judged :]
        unknown = holes[labels[holes] == UNJUDGED]
        labels[unknown] = self.judgments.arrays.labels[unknown]
        return labels


def with_unjudged(qrels: Qrels, further: pd.DataFrame) -> Qrels:
    """Return judgments in which further documents stand as unjudged, so that sets can change their labels.

    Args:
        qrels: the judgments.
        further: ``qid docno`` of documents on topics of the judgments; those with a judgment keep it.
    """
    if further.empty:
        return qrels
    base = qrels.union(Qrels(further[["qid", "docno"]].assign(label=-1)))
    added = qrels.arrays.documents.find(base.arrays.documents) < 0
    labels = np.where(added, UNJUDGED, base.arrays.labels).astype(np.int16)
    return Qrels.of_arrays(base.arrays.labelled(labels), qrels.stated_rel)


def fitted_on_uniques(judge: NamedJudge, filling: Filling) -> Iterator[Caveat]:
    """Yield that a judge was fitted on what people said of the uniques, which nobody would know without their units."""
    if judge.fitted_on is None:
        return
    known = judge.fitted_on.arrays.documents.find(filling.judgments.arrays.documents) >= 0
    n = int(known[filling.removed.row].sum())
    if n:
        yield Caveat(
            f"{judge.name} was fitted on {count(n, 'removed unique')}",
            (
                f"judge {judge.name!r} was fitted on what people said of {n:,} of "
                f"{count(len(filling.removed.row), 'unique')} that it labels. So filling looks better than it is. Fit "
                "it on other topics, or on documents that several units contributed.",
            ),
        )


def only_relevant(judges: Sequence[NamedJudge]) -> Caveat:
    """Return what is wrong with letting a judge label those uniques alone that people found relevant."""
    names = listed([judge.name for judge in judges])
    return Caveat(
        "only uniques that are relevant are filled",
        (
            f"only the uniques that people found relevant are taken out and labelled by {names}. So what the judge "
            "calls relevant and people do not cannot be seen, and filling looks better than it is.",
        ),
    )
