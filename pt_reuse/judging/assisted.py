"""Judging with a model: people judge where the calibrated model is least sure, the calibrated model labels the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, flag, positive, shown, told
from pt_reuse._errors import InputError, Option, door, warn
from pt_reuse.judging.asking import Asked, Asking
from pt_reuse.judging.budget import Budget
from pt_reuse.judging.calibration import logistic_regression
from pt_reuse.judging.field_mark import FieldMark
from pt_reuse.judging.given import as_judge
from pt_reuse.judging.least_sure import Batches, LeastSure
from pt_reuse.judging.model_says import Model, ModelSays, checked_columns
from pt_reuse.judging.session import Session, Terms, checked_folder, open_session
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.judging.verdicts import Verdict, qrels_of
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels, checked_rel
from pt_reuse.qrels.labelling import now

#: what shares a calibration
CALIBRATE = ("all", "topic")
#: what the strategy is called in the provenance of labels
STRATEGY = "lara"


@door
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
        people: who checks: a judge, or whatever becomes one, as in :func:`judge_adaptively`.
        model: what labels the rest: a judge, a pipeline or a function of a frame, that returns a frame with ``qid
            docno`` and a column of numbers, or one number per row (a score); or judgments in any form.
        budget: labels that people give for each topic: a whole number, or a share of the topic's pool as a float, as
            in :func:`judge_adaptively`. Give this, or `total`, or both.
        total: labels that people give in all, of whichever topics the model is least sure of.
        batch_size: documents between two calibrations: of every topic where `budget` is given, else of all together.
        calibrate: ``"all"`` (default): one calibration for all topics. ``"topic"``: each topic has its own, as soon as
            people have found both relevant documents and others there; till then that of all topics.
        column: what of the model's answer is calibrated, a column of numbers or several; default the first that it has
            of ``probability``, ``judge_score`` (both as :class:`judging.Callable` gives them), ``score`` and ``label``.
        rel: the lowest label that is relevant; default what `people` say, else 1.
        topics: a frame with ``qid`` and what people and model read of a topic, such as ``query``.
        seed: decides which of equally sure documents people judge first.
        session: a folder that keeps what people say, as in :func:`judge_adaptively`. What the model says is not kept.
        verbose: show a progress bar.

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
        >>> judged = ptr.judge_with_model(pool, people, model, total=20, batch_size=5, seed=1)
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
        raise InputError(f"pool must be a Pool, got {told(pool)}. depth_pool makes one of runs.", argument="pool")
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
    judge, asked_model, columns = as_judge(people, "people"), Model.given(model), checked_columns(column)
    positive("batch_size", batch_size, "documents")
    by_topic = choice("calibrate", calibrate, CALIBRATE) == "topic"
    lowest = checked_rel(rel)
    rel = judge.rel if lowest is None else lowest
    texts, seed, verbose = TopicTexts(topics), checked_seed(seed), flag("verbose", verbose)
    texts.check(pool.topics)
    logistic_regression()
    pairs = pool.to_frame()[["qid", "docno"]]
    says = ModelSays.of(asked_model.answer(texts.beside(pairs)), pairs, columns)
    sizes = np.diff(pool.documents.starts).tolist()
    most = np.array([limits.of_pool(n) for n in sizes], dtype=np.int64)
    batches = Batches(batch_size, budget is not None, most, total)
    chooser = LeastSure(pool.documents, says, batches, rel=rel or 1, by_topic=by_topic, seed=seed)
    settings = {
        "seed": seed,
        "rel": rel or 1,
        "batch_size": batch_size,
        "calibrate": calibrate,
        "model": _mark(says),
        # another share would have topics end at other moments, after which all else is chosen otherwise
        "budget": "per topic" if isinstance(limits.per_topic, int) else limits.per_topic,
    }
    with open_session(folder, "session of judging with a model", Terms(_field_mark(pairs), settings)) as kept:
        judging = PeopleJudging(pairs, chooser, Asking(judge, texts), kept)
        n_most = int(most.sum()) if total is None else min(int(most.sum()), total)
        with pt.tqdm(total=n_most, desc="people", unit="d", disable=not verbose) as bar:
            while n := judging.next_batch():
                bar.update(n)
    rest = _rest(pairs, judging, asked_model.name)
    return qrels_of([*judging.answers, *rest], STRATEGY, pool.topics, rel)


class PeopleJudging:
    """The batches that people judge, and what they say.

    Args:
        pairs: the documents of the pool.
        chooser: who chooses.
        asking: how people are asked.
        session: what they have said before, and where it is kept.

    Attributes:
        chooser: as given.
        answers: so far, in the order of asking.
        labelled: the rows of the documents to which they gave a label.
        rounds: how many batches there were.
    """

    def __init__(self, pairs: pd.DataFrame, chooser: LeastSure, asking: Asking, session: Session):
        self._qids, self._docnos = pairs["qid"].tolist(), pairs["docno"].tolist()
        self.chooser, self._asking, self._session = chooser, asking, session
        self._kept = {qid: list(reversed(answers)) for qid, answers in session.answers.items()}
        self.answers: list[Verdict] = []
        self.labelled: list[int] = []
        self.rounds = 0

    def next_batch(self) -> int:
        """Have people judge a batch; return how many documents it had, 0 when they are done."""
        rows = self.chooser.next()
        if not len(rows):
            return 0
        self.rounds += 1
        found: dict[tuple[str, str], Verdict] = {}
        for qid, docno in self._pairs(rows):
            if self._kept.get(qid):
                found[qid, docno] = self._kept_answer(qid, docno)
        probability = dict(zip(self._pairs(rows), self.chooser.probability[rows].tolist(), strict=True))
        known = self.chooser.is_known[rows].tolist()
        asked = [
            Asked(*pair, self.rounds, _reason(p, says))
            for (pair, p), says in zip(probability.items(), known, strict=True)
            if pair not in found
        ]
        for answers in self._asking.answers(asked):
            answers = [_with_probability(one, probability[one.qid, one.docno]) for one in answers]
            self._session.keep(answers)
            found |= {(one.qid, one.docno): one for one in answers}
        said = [found[pair] for pair in self._pairs(rows)]
        self.chooser.learn(rows, [one.label for one in said])
        self.answers += said
        self.labelled += [row for row, one in zip(rows.tolist(), said, strict=True) if one.label is not None]
        return len(rows)

    def _pairs(self, rows: NDArray[np.int64]) -> list[tuple[str, str]]:
        return [(self._qids[row], self._docnos[row]) for row in rows.tolist()]

    def _kept_answer(self, qid: str, docno: str) -> Verdict:
        answer = self._kept[qid].pop()
        if answer.docno != docno:
            raise InputError(
                f"topic {shown(qid)}: document {shown(docno)} is chosen, where the session has {shown(answer.docno)}. "
                "Is another version of scikit-learn installed than when it was begun? Begin another session.",
                argument="session",
            )
        return answer


def _rest(pairs: pd.DataFrame, judging: PeopleJudging, model: str) -> list[Verdict]:
    """Return the labels of the model for the documents that people did not label."""
    chooser, labels = judging.chooser, judging.chooser.labels()
    left = np.ones(len(pairs), dtype=bool)
    left[judging.labelled] = False
    without = left & labels.isna().to_numpy()
    if left.any() and not chooser.is_calibrated:
        warn(
            f"people have not found both relevant documents and others ({count(len(judging.labelled), 'label')}): the "
            "model is not calibrated, and its own labels stand. Let people judge more."
        )
    if without.any():
        warn(
            f"{count(int(without.sum()), 'document')} of {len(pairs):,} without a label, left out: the model has none "
            "for them."
        )
    time, judge = now(), f"{model}, calibrated" if chooser.is_calibrated else model
    qids, docnos = pairs["qid"].tolist(), pairs["docno"].tolist()
    numbers, probability = labels.tolist(), chooser.probability.tolist()
    return [
        Verdict(
            qids[row],
            docnos[row],
            int(numbers[row]),
            judge,
            time,
            judging.rounds + 1,
            "the rest",
            {"probability": _known(probability[row])},
        )
        for row in np.flatnonzero(left & ~without).tolist()
    ]


def _reason(probability: float, known: bool) -> str:
    if not known:
        return "the model says nothing"
    return "at random" if np.isnan(probability) else f"nearest to .5 ({probability:.3f})"


def _known(probability: float) -> float | None:
    return None if np.isnan(probability) else probability


def _with_probability(answer: Verdict, probability: float) -> Verdict:
    return replace(answer, more={**answer.more, "probability": _known(probability)})


def _mark(says: ModelSays) -> str:
    """Return by what the words of a model are known again."""
    digest = blake2b(says.features.astype("<f8").tobytes(), digest_size=8)
    digest.update(says.labels.fillna(-(2**15)).to_numpy(dtype="<i8").tobytes())
    return f"{', '.join(says.columns)} {digest.hexdigest()}"


def _field_mark(pairs: pd.DataFrame) -> FieldMark:
    marks: Mapping[str, str] = {
        str(qid): blake2b("\0".join(part["docno"]).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        for qid, part in pairs.groupby("qid", sort=False)
    }
    return FieldMark((), marks)
