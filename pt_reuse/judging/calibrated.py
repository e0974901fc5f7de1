"""Calibrated: a judge whose labels are brought to people's, by those of them that people judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, count, examples, told
from pt_reuse._errors import Argument, InputError, door, located
from pt_reuse.judging.calibration import Calibration, Scale
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.model_says import Model, ModelSays, checked_columns
from pt_reuse.qrels.judgments import Qrels, as_qrels, relevant_from


class Calibrated(Judge):
    """A judge whose labels are brought to those of people.

    Logistic regression on what the judge says, fitted to some labels of people, gives the probability that people's
    label reaches each grade. A document gets the highest grade that it reaches with at least .5. The calibration is
    that of :func:`judge_with_model`.

    **Labels that it was fitted on must not be used to audit it**: on these it is better than on others. Fit it on a
    part, and audit it on :attr:`held_out`. A study warns where the judgments of people hold labels that the judge was
    fitted on.

    Args:
        judge: who is calibrated: a :class:`Judge`, a function or a pipeline, or labels, judgments in any form. It is
            asked once here, for the documents of `on` that it is fitted on.
        on: judgments of people, in any form.
        share: the part of them that it is fitted on, drawn at random in each topic; or the topics that it is fitted on,
            as a list. Default: all.
        column: what of the judge's answer is calibrated, a column of numbers or several; default the first that it has
            of ``probability``, ``judge_score``, ``score`` and ``label``.
        rel: the lowest label of people that is relevant; default what they say.
        seed: decides which part is drawn.
        name: default that of the judge with ``, calibrated``.

    Attributes:
        name: what the judge is called.
        rel: as people have it.
        fitted_on: (Qrels) the labels of people that it was fitted on.
        held_out: (Qrels) the others, with which it can be audited; without topics where there are none.

    Raises:
        InputError: no scikit-learn, people who found no relevant document or nothing else among the labels that it is
            fitted on, a judge that says nothing of them.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> people = pd.DataFrame({"qid": "1", "docno": [f"d{n:02}" for n in range(60)], "label": [0] * 40 + [1] * 20})
        >>> def generous(frame):
        ...     return frame.assign(label=1, score=[float(docno[1:]) for docno in frame["docno"]])
        >>> judge = ptr.judging.Calibrated(generous, on=people, share=0.5, seed=1)
        >>> judge(people)["label"].tolist().count(1)
        18
        >>> len(judge.fitted_on), len(judge.held_out)
        (30, 30)
    """

    @door
    def __init__(
        self,
        judge: Any,
        on: Any,
        *,
        share: float | Iterable[str] = 1.0,
        column: str | Iterable[str] | None = None,
        rel: int | None = None,
        seed: int = 0,
        name: str | None = None,
    ):
        people, columns = as_qrels(on, "on"), checked_columns(column)
        lowest = relevant_from(people, rel)
        judged = people.keep(people.arrays.labels >= 0)
        self.fitted_on, self.held_out = _parted(judged.with_rel(lowest), share, checked_seed(seed))
        self._model = Model.given(judge)
        super().__init__(f"{self._model.name}, calibrated" if name is None else name, rel=lowest)
        self.family = getattr(judge, "family", None)
        self._needs = judge.needs() if isinstance(judge, Judge) else ("qid", "docno")
        frame = self.fitted_on.to_frame()
        with located(f"judge {self.name}"):
            says = self._says(frame[["qid", "docno"]], columns)
            self._columns, labels = says.columns, frame["label"].to_numpy()
            taught, seen = says.features[says.known], labels[says.known]
            found = Calibration.fit(taught, seen, rel=lowest, scale=Scale.of(taught))
            if not len(seen):
                raise InputError(
                    f"the judge says nothing of the {count(len(labels), 'document')} that people judged: nothing "
                    "can be fitted. Are the ids written alike?",
                    argument="on",
                )
            if found is None:
                raise InputError(
                    f"people found {'nothing but' if (seen >= lowest).any() else 'no'} relevant documents among the "
                    f"{count(len(seen), 'label')} to fit on, of which the judge says something. Give more of them.",
                    argument="on",
                )
        self._calibration = found

    def needs(self) -> tuple[str, ...]:
        """Return the columns that the judge reads."""
        return self._needs

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the calibrated label of each document, and the probability that it is relevant.

        A document of which the judge says nothing gets no label.

        Args:
            pairs: the documents, one a row: ``qid docno``, and what the judge reads.
        """
        known = pairs.astype({"qid": str, "docno": str}).drop_duplicates(["qid", "docno"]).reset_index(drop=True)
        says = self._says(known.drop(columns=["label", "judge", "time", "probability"], errors="ignore"), self._columns)
        labels: list[int | None] = [None] * len(known)
        probability: NDArray[np.float64] = np.full(len(known), np.nan)
        rows = np.flatnonzero(says.known)
        if len(rows):
            probability[rows] = self._calibration.relevant(says.features[rows])
            for row, label in zip(rows.tolist(), self._calibration.labels(says.features[rows]).tolist(), strict=True):
                labels[row] = label
        place = {pair: row for row, pair in enumerate(zip(known["qid"], known["docno"], strict=True))}
        at = [place[str(qid), str(docno)] for qid, docno in zip(pairs["qid"], pairs["docno"], strict=True)]
        return {"label": [labels[row] for row in at], "probability": probability[at].tolist()}

    def _says(self, pairs: pd.DataFrame, columns: tuple[str, ...] | None) -> ModelSays:
        return ModelSays.of(self._model.answer(pairs), pairs, columns)


def _parted(people: Qrels, share: Any, seed: int) -> tuple[Qrels, Qrels]:
    """Return the labels to fit on, and the others."""
    number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
    if number and 0 < share <= 1:
        fitted = people if share == 1 else people.sample(float(share), seed=seed)
    elif isinstance(share, Iterable) and not isinstance(share, str | bytes):
        topics = [str(topic) for topic in share]
        odd = [topic for topic in topics if topic not in people.topics]
        if odd or not topics:
            raise InputError(
                f"share must be topics that people judged, {examples(people.topics)}, got {examples(odd or topics)}.",
                argument="share",
            )
        return people.select(topics), _of_topics(people, topics)
    else:
        raise InputError(
            Argument("share"),
            f" must be above 0 and at most 1, or a list of topics, got {told(share)}.",
            argument="share",
        )
    rest = people - fitted
    return fitted, rest


def _of_topics(people: Qrels, without: list[str]) -> Qrels:
    left = [topic for topic in people.topics if topic not in without]
    return people.select(left) if left else people.keep(np.zeros(len(people), dtype=bool))
