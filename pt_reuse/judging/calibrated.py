"""Models whose labels are brought to people's: a calibrated judge, and judging where people check a model."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.lists import TopicDocs
from pt_reuse.data.frame_columns import as_pairs, checked_labels, now, row_in_words
from pt_reuse.data.judgment_changes import USUAL, name_of
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel, relevant_from
from pt_reuse.errors import (
    InputError,
    checked_seed,
    choice,
    count,
    examples,
    flag,
    fraction,
    located,
    positive,
    shown,
    warn,
)
from pt_reuse.errors import columns as check_columns
from pt_reuse.judge import Judge, as_judge
from pt_reuse.judging.protocols import check_budgets, labels_within
from pt_reuse.judging.session import Judged, checked_folder, open_session, qrels_of
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.options import described
from pt_reuse.pooling.adaptive.bandits import random_of_topic
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.scorers import digest, logistic_regression


@dataclass(frozen=True)
class ModelSays:
    """What a model says: (documents, 1) numbers of a column, NaN for nothing, and (documents,) its own labels."""

    column: str
    features: NDArray[np.float64]
    labels: pd.Series

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return (documents,) of which it says what is calibrated."""
        return np.asarray(~np.isnan(self.features[:, 0]))

    @classmethod
    def of(cls, model: Any, pairs: pd.DataFrame, column: str | None) -> ModelSays:
        """Return what a model, a callable or judgments, says of documents, ``qid docno`` and what it reads."""
        if callable(model):
            answer = model(pairs.copy())
        else:
            answer = as_qrels(model, "model").to_frame()
            # judgments are labels, whatever else stands beside them, unless a column is named
            answer = answer[["qid", "docno", "label"]] if column is None else answer
        if isinstance(answer, Iterable) and not isinstance(answer, pd.DataFrame | str | bytes):
            scores = list(answer)
            if len(scores) != len(pairs):
                numbers, documents = count(len(scores), "number"), count(len(pairs), "document")
                raise InputError(f"the model returned {numbers} for {documents}.", argument="model")
            answer = pairs[["qid", "docno"]].assign(score=scores)
        with located("model"):
            if not isinstance(answer, pd.DataFrame):
                raise InputError(f"a model must return a frame, got {shown(answer)}.", argument="model")
            column = next((name for name in USUAL if name in answer), None) if column is None else column
            if column is None:
                lacking = f"neither {' nor '.join(map(repr, USUAL))}"
                raise InputError(f"the answer has {lacking}, but {examples(answer.columns, 12)}.", argument="column")
            check_columns("the answer", answer.columns, ("qid", "docno", column))
            keys = pd.MultiIndex.from_arrays(as_pairs(answer))
            if keys.has_duplicates:
                twice = examples([" ".join(keys[keys.duplicated()][0])])
                raise InputError(f"the answer has topic and document {twice} more than once.", argument="model")
            own = checked_labels(answer["label"] if "label" in answer else [None] * len(answer), answer)
            # a label below 0 is none, as in judgments
            answer = answer.assign(label=own.mask(own < 0))
            numbers = pd.to_numeric(answer[column], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
            odd = (np.isnan(numbers) & answer[column].notna().to_numpy()) | np.isinf(numbers)
            for row in answer[odd].head(1).to_dict("records"):
                what = f"column {column!r} of the answer must hold finite numbers, or none where the model says nothing"
                raise InputError(f"{what}, got {shown(row[column])} for {row_in_words(row)}.", argument="column")
        # a place of -1 is none
        places = keys.get_indexer(pd.MultiIndex.from_frame(pairs[["qid", "docno"]]))
        features = pd.DataFrame({column: numbers}).reindex(places).to_numpy()
        return cls(column, features, answer["label"].reset_index(drop=True).reindex(places).reset_index(drop=True))


def _named(model: Any) -> str:
    return name_of(model) if callable(model) else "model"


class Scaling:
    """What brings (documents, features) to mean 0 and standard deviation 1; what never changes becomes 0."""

    def __init__(self, features: NDArray[np.float64]):
        some = features if len(features) else np.zeros((1, features.shape[1]))
        spread = some.std(axis=0)
        self._mean, self._spread = some.mean(axis=0), np.where(spread > 0, spread, 1.0)

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        return (features - self._mean) / self._spread


#: of logistic regression: the inverse of the strength of its penalty, scikit-learn's default, and at which steepness
#: its fit ends: probabilities are then right to seven digits, on every machine
C, TOLERANCE = 1.0, 1e-8


@dataclass(frozen=True)
class Calibration:
    """Probabilities that people give at least a grade, by logistic regression on what a model says."""

    scaling: Scaling
    grades: list[int]  # all that people gave, the lowest first
    fits: list[Any]  # a regression for each grade but the lowest
    rel: int

    @classmethod
    def fit(
        cls, features: NDArray[np.float64], labels: NDArray[np.int64], *, rel: int, scaling: Scaling
    ) -> Calibration | None:
        """Return the calibration that (documents,) labels of people teach; None without both kinds of documents."""
        if not ((labels >= rel).any() and (labels < rel).any()):
            return None
        grades, scaled = np.unique(labels).tolist(), scaling(features)
        regression = partial(logistic_regression(), C=C, tol=TOLERANCE, solver="newton-cholesky")
        return cls(scaling, grades, [regression().fit(scaled, labels >= grade) for grade in grades[1:]], rel)

    def at_least(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents, grades but the lowest): the probability that the label is at least each grade."""
        chances = [fit.predict_proba(self.scaling(features))[:, 1] for fit in self.fits]
        return np.minimum.accumulate(np.column_stack(chances), axis=1)

    def relevant(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.at_least(features)[:, bisect_left(self.grades[1:], self.rel)]

    def labels(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return (documents,) the highest grade that is reached with a probability of at least .5."""
        return np.array(self.grades)[(self.at_least(features) >= 0.5).sum(axis=1)]


class Calibrated(Judge):
    """A judge whose labels are calibrated to those of people.

    Logistic regression on the judge's output, fitted to some labels of people, gives the probability that people's
    label reaches each grade. A document gets the highest grade that it reaches with at least .5.

    **Labels that it was fitted on must not be used to audit it**: audit it on :attr:`held_out`. Studies warn if the
    judgments of people contain labels that the judge was fitted on.

    Args:
        judge: the judge to calibrate: a :class:`Judge`, a function, a pipeline, or judgments in any form.
        on: judgments of people, in any form.
        share: the share of them to fit on, above 0, drawn at random in each topic. Default: all.
        column: the column of numbers of the judge's answer to calibrate; default the first that exists of
            ``probability``, ``judge_score``, ``score`` and ``label``.
        rel: the lowest label of people that is relevant; default that of `on`.
        seed: decides which part is drawn.
        name: default that of the judge with ``, calibrated``.

    Attributes:
        fitted_on: (Qrels) the labels of people that it was fitted on.
        held_out: (Qrels) the others, with which it can be audited; without topics if there are none.

    Raises:
        InputError: no scikit-learn, or not both relevant and other documents that the judge answers for.

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

    def __init__(
        self,
        judge: Any,
        on: Any,
        *,
        share: float = 1.0,
        column: str | None = None,
        rel: int | None = None,
        seed: int = 0,
        name: str | None = None,
    ):
        people, seed = as_qrels(on, "on"), checked_seed(seed)
        lowest = relevant_from(people, rel)
        judged = people.keep(people.arrays.labels >= 0).with_rel(lowest)
        if not fraction("share", share):
            raise InputError("share must be above 0.", argument="share")
        self.fitted_on = judged if share == 1 else judged.sample(float(share), seed=seed)
        self.held_out = judged - self.fitted_on
        self._model = judge if callable(judge) else as_qrels(judge, "model")
        super().__init__(f"{_named(judge)}, calibrated" if name is None else name, rel=lowest)
        self.family = getattr(judge, "family", None)
        self._needs = judge.needs() if isinstance(judge, Judge) else ("qid", "docno")
        frame = self.fitted_on.to_frame()
        with located(f"judge {self.name}"):
            says = ModelSays.of(self._model, frame[["qid", "docno"]], checked_column(column))
            taught, seen = says.features[says.known], frame["label"].to_numpy()[says.known]
            calibration = Calibration.fit(taught, seen, rel=lowest, scaling=Scaling(taught))
            if calibration is None:
                known = f"{count(len(seen), 'document')} of {len(frame):,}, {(seen >= lowest).sum():,} of them relevant"
                both = "To fit on there must be relevant ones and others: are the ids written alike?"
                raise InputError(f"the judge says something of {known}. {both}", argument="on")
        self._column, self._calibration = says.column, calibration

    def needs(self) -> tuple[str, ...]:
        return self._needs

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        known = pairs.astype({"qid": str, "docno": str}).drop_duplicates(["qid", "docno"]).reset_index(drop=True)
        shown = known.drop(columns=["label", "judge", "time", "probability"], errors="ignore")
        says = ModelSays.of(self._model, shown, self._column)
        labels: NDArray[np.object_] = np.full(len(known), None, dtype=object)
        probability: NDArray[np.float64] = np.full(len(known), np.nan)
        if says.known.any():
            features = says.features[says.known]
            probability[says.known] = self._calibration.relevant(features)
            labels[says.known] = self._calibration.labels(features).tolist()
        place = pd.MultiIndex.from_frame(known[["qid", "docno"]])
        at = place.get_indexer(pd.MultiIndex.from_arrays(as_pairs(pairs)))
        return {"label": labels[at].tolist(), "probability": probability[at].tolist()}


def checked_column(column: Any) -> str | None:
    """Return a user's ``column=``, or say what is wrong with it."""
    if not isinstance(column, str | None):
        raise InputError(f"column must be the name of a column, got {shown(column)}.", argument="column")
    return column


#: probabilities that differ by less are equal, so that rounding does not decide who is asked
DECIMALS = 12
#: what the strategy is called in the provenance of labels
STRATEGY = "lara"


@dataclass
class LeastSure:
    """Chooses the documents whose calibrated probability of being relevant is nearest to .5."""

    documents: TopicDocs
    says: ModelSays
    budget: int | float | None
    total: int | None
    size: int  # of a batch: of each topic where there is a budget
    rel: int
    by_topic: bool
    seed: int

    def __post_init__(self) -> None:
        self._topic = self.documents.topic
        #: (topics,) how many labels each may still have
        self.left = np.array([labels_within(self.budget, n) for n in self.documents.sizes.tolist()], dtype=np.int64)
        self._scaling = Scaling(self.says.features[self.says.known])
        sizes = zip(self.documents.topics, self.documents.sizes.tolist(), strict=True)
        self._ties = np.concatenate([np.zeros(0), *(random_of_topic(self.seed, qid).random(n) for qid, n in sizes)])
        self._asked, self._labelled = np.zeros((2, len(self._topic)), dtype=bool)
        self._labels, self._n_labels = np.zeros(len(self._topic), dtype=np.int64), 0
        self._of: dict[int, Calibration] = {}  # topic -> calibration, -1 for all of them
        self.probability = np.full(len(self._topic), np.nan)

    def next(self) -> NDArray[np.int64]:
        """Return the documents of the next batch, those of which the model is least sure first; none at the end."""
        rows = np.flatnonzero(~self._asked & (self.left[self._topic] > 0))
        # where nobody knows, each document is as good as any other
        unsure = np.round(np.abs(np.nan_to_num(self.probability[rows], nan=0.5) - 0.5), DECIMALS)
        rows = rows[np.lexsort((self._ties[rows], unsure, ~self.says.known[rows]))]
        place = pd.Series(self._topic[rows]).groupby(self._topic[rows]).cumcount().to_numpy()
        of_all = self.budget is None
        most = self.left if of_all else np.minimum(self.left, self.size)
        rows = rows[place < most[self._topic[rows]]]
        size = self.size if of_all else len(rows)
        return rows[: size if self.total is None else min(size, self.total - self._n_labels)]

    def learn(self, rows: NDArray[np.int64], labels: list[int | None]) -> None:
        """Take what people say of a batch; a label below 0 teaches nothing, like none."""
        self._asked[rows] = True
        for row, label in zip(rows.tolist(), labels, strict=True):
            if label is not None and label >= 0:
                self._n_labels += 1
                self.left[self._topic[row]] -= 1
                # what the model says nothing of cannot teach what its words mean
                self._labels[row], self._labelled[row] = label, self.says.known[row]
        for topic in sorted({-1, *(self._topic[rows].tolist() if self.by_topic else ())}):
            taught = self._labelled & (self._topic == topic) if topic >= 0 else self._labelled
            features, seen = self.says.features[taught], self._labels[taught]
            calibrated = Calibration.fit(features, seen, rel=self.rel, scaling=self._scaling)
            if calibrated is not None:
                self._of[topic] = calibrated
        for calibration, known in self._calibrations():
            self.probability[known] = calibration.relevant(self.says.features[known])

    def labels(self) -> pd.Series:
        """Return (documents,) the labels of the calibrated model, else its own; <NA> where it has none."""
        labels = self.says.labels.copy()
        for calibration, known in self._calibrations():
            labels[known] = calibration.labels(self.says.features[known])
        return labels

    def probability_of(self, row: int) -> float | None:
        return None if np.isnan(self.probability[row]) else float(self.probability[row])

    @property
    def is_calibrated(self) -> bool:
        return -1 in self._of

    def _calibrations(self) -> list[tuple[Calibration, NDArray[np.bool_]]]:
        # that of all topics first, which stands where a topic has none of its own
        return [
            (self._of[topic], self.says.known & (self._topic == topic) if topic >= 0 else self.says.known)
            for topic in sorted(self._of)
        ]


@described
def judge_with_model(
    pool: Pool,
    people: Any,
    model: Any,
    *,
    budget: int | float | None = None,
    total: int | None = None,
    batch_size: int = 10,
    calibrate: str = "all",
    column: str | None = None,
    rel: int | None = None,
    topics: pd.DataFrame | None = None,
    seed: int = 0,
    session: str | PathLike[str] | None = None,
    verbose: bool = False,
) -> Qrels:
    """Judge a pool by people and a model: people judge where the model is least sure, it labels the rest (LARA).

    People judge batches. After each, logistic regression on all their labels turns the model's output into the
    probability that a document is relevant; the next batch has the documents nearest to .5. Batches are random until
    people have found both relevant and other documents. In the end the calibrated model labels the rest, as
    :class:`~pt_reuse.judging.Calibrated` does.

    Args:
        pool: the documents.
        people: a judge, in any form, as in :func:`~pt_reuse.judging.judge_adaptively`.
        model: a judge, a pipeline or a function of a frame that returns a frame with ``qid docno`` and a column of
            numbers, or one number per row (a score); or judgments in any form.
        budget: labels that people give for each topic: a whole number, or a share of the topic's pool as a float. Give
            this, or `total`, or both.
        total: labels that people give in all, for the documents of any topic of which the model is least sure.
        batch_size: documents between two calibrations: of every topic if `budget` is given, else of all together.
        calibrate: ``"all"`` (default): one calibration for all topics. ``"topic"``: each topic has its own as soon as
            people have found both relevant and other documents there.
        column: the column of numbers of the model's answer to calibrate; default the first that exists of
            ``probability``, ``judge_score``, ``score`` and ``label``.
        rel: the lowest label that is relevant; default what `people` say, else 1.
        topics: a frame with ``qid`` and what people and model read of a topic, such as ``query``.
        seed: decides which of equally sure documents people judge first.
        session: a folder that keeps the labels of people, as in :func:`~pt_reuse.judging.judge_adaptively`.

    Returns:
        Qrels: with the columns ``judge time strategy round reason``, where ``judge`` is people or the model, and
            ``probability``, that of relevance when the document was chosen or labelled. Each topic has first the
            documents that people judged, in their order. A document to which people give no label gets the model's.
            People judge documents without an output of the model last; others are left out, with a warning.

    Raises:
        InputError: no scikit-learn, an answer that cannot be calibrated, or a session of another task.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> pool = ptr.Pool.from_frame(pd.DataFrame({"qid": "1", "docno": [f"d{i:02}" for i in range(40)]}))
        >>> def people(frame):
        ...     return [int(docno >= "d30") for docno in frame["docno"]]
        >>> def model(frame):
        ...     return [float(docno[1:]) for docno in frame["docno"]]
        >>> ptr.judging.judge_with_model(pool, people, model, total=20, batch_size=5, seed=1)
        Qrels: 1 topic, 40 judgments, 10 relevant (labels 0: 30, 1: 10)

    Source: Takehi, Voorhees, Sakai and Soboroff, LLM-Assisted Relevance Assessments: When Should We Ask LLMs for Help?
    SIGIR 2025. There the calibration takes one step of gradient descent per label; here it is fitted to all labels,
    with scikit-learn's default penalty, on what the model says, standardised.
    """
    if not isinstance(pool, Pool):
        raise InputError(f"pool must be a Pool, got {shown(pool)}. depth_pool makes one of runs.", argument="pool")
    budget, folder = check_budgets(budget, total), checked_folder(session)
    if budget is None and total is None:
        problem = "say how many documents people judge: budget= of each topic or total= in all."
        raise InputError(problem, argument="budget")
    judge, column = as_judge(people, "people"), checked_column(column)
    positive("batch_size", batch_size, "documents")
    by_topic = choice("calibrate", calibrate, ("all", "topic")) == "topic"
    lowest = checked_rel(rel)
    rel = judge.rel if lowest is None else lowest
    texts, seed, verbose = TopicTexts(topics), checked_seed(seed), flag("verbose", verbose)
    texts.check(pool.topics)
    logistic_regression()
    pairs = pool.to_frame()[["qid", "docno"]]
    says = ModelSays.of(model, texts.beside(pairs), column)
    chooser = LeastSure(pool.documents, says, budget, total, batch_size, rel or 1, by_topic, seed)
    belongs = {
        "seed": seed,
        "rel": rel or 1,
        "batch_size": batch_size,
        "calibrate": calibrate,
        "model": digest([says.column], says.features, says.labels.fillna(-(2**15)).to_numpy(dtype=np.int64)),
        # another share would have topics end at other moments, after which all else is chosen otherwise
        "budget": "per topic" if isinstance(budget, int) else budget,
        "topics": {str(qid): digest(part["docno"]) for qid, part in pairs.groupby("qid", sort=False)},
    }
    keys: list[tuple[str, str]] = list(zip(pairs["qid"], pairs["docno"], strict=True))
    by_people: dict[int, Judged] = {}  # by row of the pool
    most, number = int(chooser.left.sum()), 0
    with (
        open_session(folder, "session of judging with a model", belongs, judge, texts) as kept,
        pt.tqdm(total=most if total is None else min(most, total), desc="people", unit="d", disable=not verbose) as bar,
    ):
        while len(rows := chooser.next()):
            number += 1
            chosen = []
            for row in rows.tolist():
                probability = chooser.probability_of(row)
                why = "at random" if probability is None else f"nearest to .5 ({probability:.3f})"
                why = why if says.known[row] else "the model says nothing"
                qid, docno = keys[row]
                chosen.append(Judged(qid, docno, number, STRATEGY, why, more={"probability": probability}))
            answers = {(answer.qid, answer.docno): answer for batch in kept.judged(chosen) for answer in batch}
            by_people |= {row: answers[keys[row]] for row in rows.tolist()}
            chooser.learn(rows, [by_people[row].label for row in rows.tolist()])
            bar.update(len(rows))
    rest = _rest(keys, by_people, chooser, _named(model))
    return qrels_of([*by_people.values(), *rest], pool.topics, rel)


def _rest(
    keys: Sequence[tuple[str, str]], by_people: Mapping[int, Judged], chooser: LeastSure, model: str
) -> list[Judged]:
    """Return the labels of the model for the documents that people did not label."""
    labels = chooser.labels()
    labelled = {row for row, answer in by_people.items() if answer.label is not None}
    left = [row for row in range(len(keys)) if row not in labelled]
    kept = [row for row in left if pd.notna(labels[row])]
    if left and not chooser.is_calibrated:
        lacking = f"people have not found both relevant documents and others ({count(len(labelled), 'label')})"
        warn(f"{lacking}: the model's own labels stand. Let people judge more.")
    if len(kept) < len(left):
        n = count(len(left) - len(kept), "document")
        warn(f"{n} of {len(keys):,} without a label, left out: the model has none for them.")
    time, judge = now(), f"{model}, calibrated" if chooser.is_calibrated else model
    last = 1 + max((answer.round for answer in by_people.values()), default=0)
    said = ({"probability": chooser.probability_of(row)} for row in kept)
    return [
        Judged(*keys[row], last, STRATEGY, "the rest", int(labels[row]), judge, time, more)
        for row, more in zip(kept, said, strict=True)
    ]
