"""The documents that move each run most: what people and the judge say of them, and what that does to its score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import Qrels
from pt_reuse.studies.label_audit.document_effects import TopicEffects
from pt_reuse.studies.label_audit.field_scores import Labels

#: so many documents of a run are kept
KEPT = 10
_NOTHING = 1e-12  # a change of a score that is no more is of rounding


@dataclass(frozen=True)
class MovingDocuments:
    """The documents that do most for the change of each run.

    Attributes:
        rows: (at most :data:`KEPT`, runs) rows of the judgments, the most important first; -1 for none.
        effects: the same shape: what the label adds to the mean score of the run, less the mean of that over all runs.
        totals: (runs,) the sum of such effects over all documents.
    """

    rows: NDArray[np.int64]
    effects: NDArray[np.float64]
    totals: NDArray[np.float64]

    @classmethod
    def of(cls, found: Iterable[TopicEffects], moved: pd.DataFrame, by_name: NDArray[np.int64]) -> MovingDocuments:
        """Return the documents that push each run the way it moves.

        Args:
            found: effects, topic by topic.
            moved: one row per run: ``rise``, the ranks that it gains, which say the way; where it stays, ``relative``,
                the change of its score less the mean change of all runs, does.
            by_name: (rows of the judgments,) the place of each by document and topic: of equal effects the first comes
                first, so that the order of the judgments has no part in it.
        """
        places = np.append(by_name, len(by_name))
        relative = moved["relative"].to_numpy(dtype=float)
        way = np.sign(np.where(moved["rise"] != 0, moved["rise"], np.where(np.abs(relative) > _NOTHING, relative, 0.0)))
        rows, pushes = np.full((0, len(way)), -1, dtype=np.int64), np.zeros((0, len(way)))
        totals = np.zeros(len(way))
        for topic in found:
            effects = topic.relative()
            totals += effects.sum(axis=0)
            both = np.concatenate([pushes, effects * way])
            numbers = np.concatenate([rows, np.broadcast_to(topic.rows[:, None], effects.shape)])
            best = np.lexsort((places[numbers], -np.round(both, DECIMALS)), axis=0)[:KEPT]
            rows, pushes = np.take_along_axis(numbers, best, axis=0), np.take_along_axis(both, best, axis=0)
        there = pushes > _NOTHING
        return cls(np.where(there, rows, -1), np.where(there, pushes * way, 0.0), totals)

    def table(
        self,
        human: Qrels,
        labels: tuple[Labels, Labels],
        names: list[str],
        ranks: list[NDArray[np.int32]],
    ) -> pd.DataFrame:
        """Return a row per run and document: ``name qid docno label judge_label rank effect``.

        Args:
            human: the judgments of people, whose rows these are.
            labels: (rows,) those of people and of the judge, each on its own scale.
            names: of the runs.
            ranks: per topic (documents, runs) the rank of each document in each run, 0 for none.
        """
        documents = human.arrays.documents
        place, run = np.nonzero(self.rows.T >= 0)[::-1]
        row = self.rows[place, run]
        topic = documents.topic[row]
        at = row - documents.starts[topic]
        rank = [int(ranks[t][d, r]) for t, d, r in zip(topic.tolist(), at.tolist(), run.tolist(), strict=True)]
        qids = np.array([*documents.topics, None], dtype=object)
        distinct, back = np.unique(row, return_inverse=True)
        docnos = np.array([*(documents.docno(one) for one in distinct.tolist()), None], dtype=object)
        return pd.DataFrame(
            {
                "name": np.array([*names, None], dtype=object)[run],
                "qid": qids[topic],
                "docno": docnos[back],
                "label": _known(labels[0][row]),
                "judge_label": _known(labels[1][row]),
                "rank": pd.Series(rank, dtype="Int64").mask(np.array(rank, dtype=np.int64) == 0),
                "effect": self.effects[place, run],
            }
        )


def places_by_name(human: Qrels) -> NDArray[np.int64]:
    """Return (rows of the judgments,) the place of each where they are sorted by document and topic."""
    order = human.to_frame()[["docno", "qid"]].reset_index(drop=True).sort_values(["docno", "qid"]).index.to_numpy()
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def _known(labels: Labels) -> pd.Series:
    """Return labels as whole numbers, <NA> for none."""
    return pd.Series(labels.astype(np.int64), dtype="Int64").mask(labels == UNJUDGED)
