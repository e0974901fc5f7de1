"""Calibrated: a judge whose labels are brought to people's, by those of them that people judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, count, examples, names, shown, told
from pt_reuse._check import columns as check_columns
from pt_reuse._errors import InputError, door, located, wrong
from pt_reuse.data.asking import name_of
from pt_reuse.data.frame_columns import checked_labels
from pt_reuse.data.judgments import Qrels, as_qrels, relevant_from
from pt_reuse.judging.judge import Judge

#: what is calibrated where nobody says: the first of these that the model's answer has
USUAL = ("probability", "judge_score", "score", "label")


@dataclass(frozen=True)
class Model:
    """A model that says something of documents, in whatever form the user gives it: a callable, or judgments."""

    name: str
    ask: Callable[[pd.DataFrame], Any]

    @classmethod
    def of(cls, model: Any) -> Model:
        if callable(model):
            return cls(name_of(model), model)
        judged = as_qrels(model, "model").to_frame()[["qid", "docno", "label"]]
        return cls("model", lambda pairs: judged)

    def answer(self, pairs: pd.DataFrame) -> Any:
        """Return what the model says of documents, one a row; numbers become the column ``score``."""
        said = self.ask(pairs.copy())
        if isinstance(said, pd.DataFrame | str | bytes) or not isinstance(said, Iterable):
            return said
        scores = list(said)
        if len(scores) != len(pairs):
            raise InputError(
                f"the model returned {count(len(scores), 'number')} for {count(len(pairs), 'document')}.",
                argument="model",
            )
        return pairs[["qid", "docno"]].assign(score=scores)

    def says(self, shown: pd.DataFrame, columns: tuple[str, ...] | None) -> ModelSays:
        """Return what the model says of documents that it is shown, ``qid docno`` and what it reads."""
        answer = self.answer(shown)
        with located("model"):
            columns = _columns_of(answer, columns)
            keys = pd.MultiIndex.from_frame(answer[["qid", "docno"]].astype(str))
            if keys.has_duplicates:
                qid, docno = keys[keys.duplicated()][0]
                raise InputError(
                    f"topic {qid!r} has document {docno!r} more than once in the answer.", argument="model"
                )
            places = keys.get_indexer(pd.MultiIndex.from_frame(shown[["qid", "docno"]]))
            own = checked_labels(answer["label"] if "label" in answer else [None] * len(answer), answer)
            # a label below 0 is none, as in judgments
            answer = answer.assign(label=own.mask(own < 0))
            features = np.column_stack([_numbers(answer, column)[places] for column in columns])
        features[places < 0] = np.nan
        mine = answer["label"].reset_index(drop=True).reindex(places).reset_index(drop=True)
        return ModelSays(columns, features, mine.mask(places < 0))


@dataclass(frozen=True)
class ModelSays:
    """What a model says: (documents, columns) numbers, NaN for nothing, and (documents,) its own labels."""

    columns: tuple[str, ...]
    features: NDArray[np.float64]
    labels: pd.Series

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return (documents,) of which it says all that is calibrated."""
        return np.asarray(~np.isnan(self.features).any(axis=1))


def _columns_of(answer: Any, columns: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the columns of a model's answer that are calibrated, or say what it lacks."""
    if not isinstance(answer, pd.DataFrame):
        raise InputError(f"a model must return a frame, got {told(answer)}.", argument="model")
    check_columns("the answer", answer.columns, ("qid", "docno", *(columns or ())))
    found = columns or tuple(column for column in USUAL if column in answer)[:1]
    if not found:
        raise InputError(
            f"the answer has neither {' nor '.join(map(repr, USUAL))}, but {examples(answer.columns, 12)}.",
            argument="column",
        )
    return found


def checked_columns(column: Any) -> tuple[str, ...] | None:
    """Return a user's ``column=`` as names, None for None."""
    return None if column is None else names("column", column)


def _numbers(answer: pd.DataFrame, column: str) -> NDArray[np.float64]:
    said = answer[column]
    found = pd.to_numeric(said, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    odd = np.flatnonzero((np.isnan(found) & said.notna().to_numpy()) | np.isinf(found))
    if len(odd):
        row = answer.iloc[int(odd[0])]
        raise InputError(
            f"column {column!r} of the answer must hold finite numbers, or none where the model says nothing, got "
            f"{told(row[column])} for topic {shown(str(row['qid']))}, document {shown(str(row['docno']))}.",
            argument="column",
        )
    return np.append(found, np.nan)


#: of logistic regression: the inverse of the strength of its penalty, scikit-learn's default
C = 1.0
#: at which steepness its fit ends: probabilities are then right to seven digits, on every machine
TOLERANCE = 1e-8


#: the mean and the standard deviation of each feature
Scale: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64]]"


def scale_of(features: NDArray[np.float64]) -> Scale:
    """Return what brings (documents, features) to mean 0 and standard deviation 1; what never changes becomes 0."""
    if not len(features):
        return np.zeros(features.shape[1]), np.ones(features.shape[1])
    spread = features.std(axis=0)
    return features.mean(axis=0), np.where(spread > 0, spread, 1.0)


@dataclass(frozen=True)
class Calibration:
    """Probabilities that people give at least a grade, by logistic regression on what a model says."""

    scale: Scale
    grades: NDArray[np.int64]
    lowest: int
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    rel: int

    @classmethod
    def fit(
        cls, features: NDArray[np.float64], labels: NDArray[np.int64], *, rel: int, scale: Scale
    ) -> Calibration | None:
        """Return the calibration that (documents,) labels of people teach; None without both kinds of documents."""
        if not ((labels >= rel).any() and (labels < rel).any()):
            return None
        regression, scaled = logistic_regression(), (features - scale[0]) / scale[1]
        lowest, *grades = np.unique(labels).tolist()
        fits = [
            regression(C=C, tol=TOLERANCE, solver="newton-cholesky").fit(scaled, labels >= grade) for grade in grades
        ]
        weights = np.concatenate([fit.coef_ for fit in fits])
        intercepts = np.concatenate([fit.intercept_ for fit in fits])
        return cls(scale, np.array(grades), int(lowest), weights, intercepts, rel)

    def at_least(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents, grades): the probability that the label is at least each grade."""
        center, spread = self.scale
        logits = (features - center) / spread @ self.weights.T + self.intercepts
        # the logistic function, written so that it overflows on neither side
        return np.minimum.accumulate(0.5 * (1 + np.tanh(logits / 2)), axis=1)

    def relevant(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.at_least(features)[:, int(np.searchsorted(self.grades, self.rel))]

    def labels(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return (documents,) the highest grade that is reached with a probability of at least .5."""
        reached = (self.at_least(features) >= 0.5).sum(axis=1)
        return np.concatenate([[self.lowest], self.grades])[reached]


def logistic_regression() -> Any:
    """Return scikit-learn's logistic regression."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise InputError("this needs scikit-learn. Install it: pip install 'pt-reuse[judging]'.") from error
    return LogisticRegression


class Calibrated(Judge):
    """A judge whose labels are brought to those of people.

    Logistic regression on what the judge says, fitted to some labels of people, gives the probability that people's
    label reaches each grade. A document gets the highest grade that it reaches with at least .5. The calibration is
    that of :func:`~pt_reuse.judging.judge_with_model`.

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
        self._model = Model.of(judge)
        super().__init__(f"{self._model.name}, calibrated" if name is None else name, rel=lowest)
        self.family = getattr(judge, "family", None)
        self._needs = judge.needs() if isinstance(judge, Judge) else ("qid", "docno")
        frame = self.fitted_on.to_frame()
        with located(f"judge {self.name}"):
            says = self._model.says(frame[["qid", "docno"]], columns)
            self._columns = says.columns
            taught, seen = says.features[says.known], frame["label"].to_numpy()[says.known]
            found = Calibration.fit(taught, seen, rel=lowest, scale=scale_of(taught))
            if found is None:
                raise InputError(
                    f"of the {count(len(frame), 'document')} that people judged, the judge says something of "
                    f"{len(seen):,}, {int((seen >= lowest).sum()):,} of them relevant: to fit on there must be "
                    "relevant ones and others. Are the ids written alike? Else give more labels.",
                    argument="on",
                )
        self._calibration = found

    def needs(self) -> tuple[str, ...]:
        """Return the columns that the judge reads."""
        return self._needs

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the calibrated label of each of `pairs`, and the probability that it is relevant.

        A document of which the judge says nothing gets no label.
        """
        known = pairs.astype({"qid": str, "docno": str}).drop_duplicates(["qid", "docno"]).reset_index(drop=True)
        shown = known.drop(columns=["label", "judge", "time", "probability"], errors="ignore")
        says = self._model.says(shown, self._columns)
        labels: NDArray[np.object_] = np.full(len(known), None, dtype=object)
        probability: NDArray[np.float64] = np.full(len(known), np.nan)
        if says.known.any():
            features = says.features[says.known]
            probability[says.known] = self._calibration.relevant(features)
            labels[says.known] = self._calibration.labels(features).tolist()
        place = pd.MultiIndex.from_frame(known[["qid", "docno"]])
        at = place.get_indexer(pd.MultiIndex.from_frame(pairs[["qid", "docno"]].astype(str)))
        return {"label": labels[at].tolist(), "probability": probability[at].tolist()}


def _parted(people: Qrels, share: Any, seed: int) -> tuple[Qrels, Qrels]:
    """Return the labels to fit on, and the others."""
    if isinstance(share, int | float | np.number) and not isinstance(share, bool) and 0 < share <= 1:
        fitted = people if share == 1 else people.sample(float(share), seed=seed)
        return fitted, people - fitted
    topics = (
        [str(topic) for topic in share] if isinstance(share, Iterable) and not isinstance(share, str | bytes) else []
    )
    if not topics or not set(topics) <= set(people.topics):
        raise wrong(
            "share",
            f" must be above 0 and at most 1, or a list of topics that people judged ({examples(people.topics)}), got "
            f"{told(share)}.",
        )
    left = [topic for topic in people.topics if topic not in topics]
    rest = people.select(left) if left else people.keep(np.zeros(len(people), dtype=bool))
    return people.select(topics), rest
