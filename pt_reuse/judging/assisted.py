"""Judging with a model: people judge where the calibrated model is least sure, the calibrated model labels the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, flag, positive, told
from pt_reuse._errors import InputError, Option, warn, wrong
from pt_reuse.arrays.topic_docs import TopicDocs
from pt_reuse.data.frame_columns import now
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.judging.adaptive import Budget
from pt_reuse.judging.calibrated import Calibration, Model, ModelSays, checked_columns, logistic_regression, scale_of
from pt_reuse.judging.judges import as_judge
from pt_reuse.judging.session import Judged, Session, checked_folder, open_session, qrels_of
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.options import described
from pt_reuse.pooling.adaptive.chooser import random_of_topic
from pt_reuse.pooling.pool import Pool

#: probabilities that differ by less are equal, so that rounding does not decide who is asked
DECIMALS = 12


class LeastSure:
    """Chooses the documents whose calibrated probability of being relevant is nearest to .5."""

    def __init__(
        self,
        documents: TopicDocs,
        says: ModelSays,
        *,
        size: int,
        of_each_topic: bool,
        most: NDArray[np.int64],
        total: int | None,
        rel: int,
        by_topic: bool,
        seed: int,
    ):
        self._topic, self.says = documents.topic, says
        self._size, self._of_each_topic, self._total = size, of_each_topic, total
        self._rel, self._by_topic = rel, by_topic
        self._scale = scale_of(says.features[says.known])
        sizes = np.diff(documents.starts).tolist()
        ties = [random_of_topic(seed, qid).random(n) for qid, n in zip(documents.topics, sizes, strict=True)]
        self._ties = np.concatenate([np.zeros(0), *ties])
        self._left = most.copy()
        self._n_labels = 0
        self._asked = np.zeros(len(self._topic), dtype=bool)
        self._labels = np.zeros(len(self._topic), dtype=np.int64)
        self._labelled = np.zeros(len(self._topic), dtype=bool)
        self._of: dict[int, Calibration] = {}  # topic -> calibration, -1 for all of them
        self.probability = np.full(len(self._topic), np.nan)

    def next(self) -> NDArray[np.int64]:
        """Return the documents of the next batch, those of which the model is least sure first; none at the end."""
        rows = np.flatnonzero(~self._asked & (self._left[self._topic] > 0))
        # where nobody knows, each document is as good as any other
        unsure = np.round(np.abs(np.nan_to_num(self.probability[rows], nan=0.5) - 0.5), DECIMALS)
        rows = rows[np.lexsort((self._ties[rows], unsure, ~self.says.known[rows]))]
        place = pd.Series(self._topic[rows]).groupby(self._topic[rows]).cumcount().to_numpy()
        most = np.minimum(self._left, self._size) if self._of_each_topic else self._left
        rows = rows[place < most[self._topic[rows]]]
        size = len(rows) if self._of_each_topic else self._size
        return rows[: size if self._total is None else min(size, self._total - self._n_labels)]

    def learn(self, rows: NDArray[np.int64], labels: list[int | None]) -> None:
        """Take what people say of a batch; a label below 0 teaches nothing, like none."""
        self._asked[rows] = True
        for row, label in zip(rows.tolist(), labels, strict=True):
            if label is not None and label >= 0:
                self._n_labels += 1
                self._left[self._topic[row]] -= 1
                # what the model says nothing of cannot teach what its words mean
                self._labels[row], self._labelled[row] = label, self.says.known[row]
        changed = {-1, *(self._topic[rows].tolist() if self._by_topic else ())}
        for topic in sorted(changed):
            taught = self._labelled & (self._topic == topic) if topic >= 0 else self._labelled
            found = Calibration.fit(self.says.features[taught], self._labels[taught], rel=self._rel, scale=self._scale)
            if found is not None:
                self._of[topic] = found
        for calibration, known in self._calibrations():
            self.probability[known] = calibration.relevant(self.says.features[known])

    def labels(self) -> pd.Series:
        """Return (documents,) the labels of the calibrated model, else its own; <NA> where it has none."""
        labels = self.says.labels.copy()
        for calibration, known in self._calibrations():
            labels[known] = calibration.labels(self.says.features[known])
        return labels

    @property
    def is_calibrated(self) -> bool:
        """Return whether people have found both relevant documents and others."""
        return -1 in self._of

    def _calibrations(self) -> list[tuple[Calibration, NDArray[np.bool_]]]:
        # that of all topics first, which stands where a topic has none of its own
        return [
            (self._of[topic], self.says.known & (self._topic == topic) if topic >= 0 else self.says.known)
            for topic in sorted(self._of)
        ]


#: what shares a calibration
CALIBRATE = ("all", "topic")
#: what the strategy is called in the provenance of labels
STRATEGY = "lara"


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
    column: str | Iterable[str] | None = None,
    rel: int | None = None,
    topics: pd.DataFrame | None = None,
    seed: int = 0,
    session: str | PathLike[str] | None = None,
    verbose: bool = False,
) -> Qrels:
    """Judge a pool with a model that people check: they judge where it is least sure, it labels the rest (LARA).

    The model says something of every document. People judge batches. After each, logistic regression on all their
    labels turns what the model says into the probability that a document is relevant; the next batch is of documents
    whose probability is nearest to .5. The first batch is a random one, and so are the next until people have found
    both relevant documents and others. In the end the calibrated model labels what people did not.

    Graded labels: there is one regression for each grade that people gave, of whether a label reaches it; a document
    gets the highest grade that it reaches with a probability of at least .5. Which documents people judge hangs on the
    probability of being relevant alone.

    Args:
        pool: the documents.
        people: who checks: a judge, or whatever becomes one, as in :func:`~pt_reuse.judging.judge_adaptively`.
        model: what labels the rest: a judge, a pipeline or a function of a frame, that returns a frame with ``qid
            docno`` and a column of numbers, or one number per row (a score); or judgments in any form.
        budget: labels that people give for each topic: a whole number, or a share of the topic's pool as a float, as
            in :func:`~pt_reuse.judging.judge_adaptively`. Give this, or `total`, or both.
        total: labels that people give in all, of whichever topics the model is least sure of.
        batch_size: documents between two calibrations: of every topic where `budget` is given, else of all together.
        calibrate: ``"all"`` (default): one calibration for all topics. ``"topic"``: each topic has its own, as soon as
            people have found both relevant documents and others there; till then that of all topics.
        column: what of the model's answer is calibrated, a column of numbers or several; default the first that it has
            of ``probability``, ``judge_score`` (both as :class:`judging.Callable` gives them), ``score`` and ``label``.
        rel: the lowest label that is relevant; default what `people` say, else 1.
        topics: a frame with ``qid`` and what people and model read of a topic, such as ``query``.
        seed: decides which of equally sure documents people judge first.
        session: a folder that keeps what people say, as in :func:`~pt_reuse.judging.judge_adaptively`. What the model
            says is not kept.

    Returns:
        Qrels: with the columns ``judge time strategy round reason``, which tell people from the model, and
        ``probability``, that of being relevant when the document was chosen or labelled (missing while it was not
        known). Of each topic first what people judged, in their order. A document to which people give no label has the
        model's. Documents of which the model says nothing are the last that people judge; those that they did not are
        left out, with a warning that counts them.

    Raises:
        InputError: an argument that cannot be used, no scikit-learn, an answer that cannot be calibrated, or a session
            that belongs to something else.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> pool = ptr.Pool.from_frame(pd.DataFrame({"qid": "1", "docno": [f"d{i:02}" for i in range(40)]}))
        >>> def people(frame):
        ...     return [int(docno >= "d30") for docno in frame["docno"]]
        >>> def model(frame):
        ...     return [float(docno[1:]) for docno in frame["docno"]]
        >>> judged = ptr.judging.judge_with_model(pool, people, model, total=20, batch_size=5, seed=1)
        >>> judged
        Qrels: 1 topic, 40 judgments, 10 relevant (labels 0: 30, 1: 10)
        >>> judged.to_frame()["judge"].value_counts().to_dict()
        {'people': 20, 'model, calibrated': 20}

    Source: Takehi, Voorhees, Sakai and Soboroff, LLM-Assisted Relevance Assessments: When Should We Ask LLMs for Help?
    SIGIR 2025. There the calibration takes one step of gradient descent per label, from the model's own probability;
    here it is fitted to all labels, with scikit-learn's default penalty, on what the model says brought to mean 0 and
    standard deviation 1.
    """
    if not isinstance(pool, Pool):
        raise wrong("pool", f" must be a Pool, got {told(pool)}. depth_pool makes one of runs.")
    limits, folder = Budget.checked(budget, total), checked_folder(session)
    if budget is None and total is None:
        raise InputError(
            "say how many documents people judge: ",
            Option("budget", ...),
            " of each topic or ",
            Option("total", ...),
            " in all.",
            argument="budget",
        )
    judge, asked_model, columns = as_judge(people, "people"), Model.of(model), checked_columns(column)
    positive("batch_size", batch_size, "documents")
    by_topic = choice("calibrate", calibrate, CALIBRATE) == "topic"
    lowest = checked_rel(rel)
    rel = judge.rel if lowest is None else lowest
    texts, seed, verbose = TopicTexts(topics), checked_seed(seed), flag("verbose", verbose)
    texts.check(pool.topics)
    logistic_regression()
    pairs = pool.to_frame()[["qid", "docno"]]
    says = asked_model.says(texts.beside(pairs), columns)
    most = np.array([limits.of_pool(n) for n in pool.documents.sizes.tolist()], dtype=np.int64)
    chooser = LeastSure(
        pool.documents,
        says,
        size=batch_size,
        of_each_topic=budget is not None,
        most=most,
        total=total,
        rel=rel or 1,
        by_topic=by_topic,
        seed=seed,
    )
    belongs = {
        "seed": seed,
        "rel": rel or 1,
        "batch_size": batch_size,
        "calibrate": calibrate,
        "model": _mark(says),
        # another share would have topics end at other moments, after which all else is chosen otherwise
        "budget": "per topic" if isinstance(limits.per_topic, int) else limits.per_topic,
        "topics": _documents(pairs),
    }
    with (
        open_session(folder, "session of judging with a model", belongs, judge, texts) as kept,
        pt.tqdm(total=limits.most(most.tolist()), desc="people", unit="d", disable=not verbose) as bar,
    ):
        by_people = _judged_by_people(pairs, chooser, kept, bar)
    rest = _rest(pairs, by_people, chooser, asked_model.name)
    return qrels_of([*by_people.values(), *rest], pool.topics, rel)


def _judged_by_people(pairs: pd.DataFrame, chooser: LeastSure, session: Session, bar: Any) -> dict[int, Judged]:
    """Return row of the pool -> what people say of the document, in the order of asking."""
    qids, docnos = pairs["qid"].tolist(), pairs["docno"].tolist()
    found: dict[int, Judged] = {}
    number = 0
    while len(rows := chooser.next()):
        number += 1
        chosen = []
        for row in rows.tolist():
            probability = float(chooser.probability[row])
            why = "at random" if np.isnan(probability) else f"nearest to .5 ({probability:.3f})"
            why = why if chooser.says.known[row] else "the model says nothing"
            chosen.append(Judged(qids[row], docnos[row], number, STRATEGY, why, more=_more(probability)))
        said = {(one.qid, one.docno): one for batch in session.judged(chosen) for one in batch}
        answers = {row: said[qids[row], docnos[row]] for row in rows.tolist()}
        chooser.learn(rows, [one.label for one in answers.values()])
        found |= answers
        bar.update(len(rows))
    return found


def _rest(pairs: pd.DataFrame, by_people: Mapping[int, Judged], chooser: LeastSure, model: str) -> list[Judged]:
    """Return the labels of the model for the documents that people did not label."""
    labels = chooser.labels()
    labelled = [row for row, one in by_people.items() if one.label is not None]
    left = np.ones(len(pairs), dtype=bool)
    left[labelled] = False
    without = left & labels.isna().to_numpy()
    if left.any() and not chooser.is_calibrated:
        warn(
            f"people have not found both relevant documents and others ({count(len(labelled), 'label')}): the "
            "model is not calibrated, and its own labels stand. Let people judge more."
        )
    if without.any():
        warn(
            f"{count(int(without.sum()), 'document')} of {len(pairs):,} without a label, left out: the model has none "
            "for them."
        )
    time, judge = now(), f"{model}, calibrated" if chooser.is_calibrated else model
    qids, docnos = pairs["qid"].tolist(), pairs["docno"].tolist()
    last = 1 + max((one.round for one in by_people.values()), default=0)
    numbers, probability = labels.tolist(), chooser.probability.tolist()
    return [
        Judged(
            qids[row], docnos[row], last, STRATEGY, "the rest", int(numbers[row]), judge, time, _more(probability[row])
        )
        for row in np.flatnonzero(left & ~without).tolist()
    ]


def _more(probability: float) -> dict[str, float | None]:
    return {"probability": None if np.isnan(probability) else probability}


def _mark(says: ModelSays) -> str:
    """Return by what the words of a model are known again."""
    digest = blake2b(says.features.astype("<f8").tobytes(), digest_size=8)
    digest.update(says.labels.fillna(-(2**15)).to_numpy(dtype="<i8").tobytes())
    return f"{', '.join(says.columns)} {digest.hexdigest()}"


def _documents(pairs: pd.DataFrame) -> dict[str, str]:
    return {
        str(qid): blake2b("\0".join(part["docno"]).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        for qid, part in pairs.groupby("qid", sort=False)
    }
