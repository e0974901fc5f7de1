"""What runs would score had their documents been judged: estimators, which predict every unit from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.expected import Floats, Likely, Logistic, divisor, expected_scores
from pt_reuse.arrays.kernels import Spec
from pt_reuse.arrays.lists import offsets, ranges
from pt_reuse.errors import InputError, examples
from pt_reuse.studies.new_runs.evidence import Case, LeaveOneOutSetting

#: how much of an error all documents of a run share, and what no error falls below: chosen on Deep Learning 2019 and
#: 2021 and TREC-8; the intervals are calibrated whatever they are
_SHARED, LEAST = 0.06, 0.001
#: a document that the model is sure of may be another one all the same
_UNSURE = 0.15
#: labels drawn for an unjudged document count so many documents of the run as a whole among those of the topic
_PRIOR = 2.0


def together(variance: Floats, deviations: Floats) -> Floats:
    """Return the deviation of sums of documents, whose variances and deviations are summed: part of it is shared."""
    return np.sqrt(variance + np.square(_SHARED * deviations) + LEAST**2)


@dataclass(frozen=True)
class Effects:
    """What the labels of some unjudged documents do to the mean score of a run."""

    row: NDArray[np.int64]  # (documents,) of the judgments
    labels: Sequence[int]  # at which something changes, ascending
    chance: Floats  # (documents, labels) that a document has at least that
    change: Floats  # (documents, labels) what it adds to the mean score

    def take(self, chosen: NDArray[Any]) -> Effects:
        return Effects(self.row[chosen], self.labels, self.chance[chosen], self.change[chosen])

    @property
    def mean(self) -> Floats:
        return np.sum(self.chance * self.change, axis=1)

    @property
    def variance(self) -> Floats:
        reached = np.cumsum(self.change, axis=1)
        squares = np.diff(np.square(reached), axis=1, prepend=0.0)
        return np.maximum((squares * self.chance).sum(axis=1) - np.square(self.mean), 0.0)

    @property
    def size(self) -> Floats:
        """Return (documents,) how much each decides: what it can change, and how unsure its label is."""
        unsure = np.maximum(self.chance * (1 - self.chance), _UNSURE * (1 - _UNSURE))
        return np.sum(np.abs(self.change) * np.sqrt(unsure), axis=1)

    def ends(self) -> tuple[Floats, Floats]:
        """Return (documents + 1,) by how much the labels that are left may lower and raise what is expected."""
        reached = np.concatenate([np.zeros((len(self.row), 1)), np.cumsum(self.change, axis=1)], axis=1)
        off = reached - self.mean[:, None]
        return _left(off.min(axis=1)), _left(off.max(axis=1))

    def of_labels(self, label: NDArray[Any]) -> Floats:
        """Return (..., documents) what labels of these documents add."""
        return np.sum((label[..., None] >= np.array(self.labels)) * self.change, axis=-1)

    def spread(self) -> Floats:
        """Return (documents + 1,) the deviation of what is left, after so many of them are judged."""
        return together(*(_left(part) for part in (self.variance, np.sqrt(self.variance))))

    def drawn(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """Return (n, documents) labels drawn by their chances, 0 below the lowest that changes anything."""
        where = rng.random((n, len(self.row), 1)) < self.chance
        return np.append(0, self.labels)[where.sum(axis=2)]


def _left(values: Floats) -> Floats:
    sums = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    return np.concatenate([sums, np.zeros((*values.shape[:-1], 1))], axis=-1)


def wrong_stop(apart: Floats, truth: Floats, spread: Floats) -> float:
    """Return how many deviations a run must be apart from others for no decision ever to be wrong.

    (others, documents + 1) says how far it is expected to be apart after so many labels, (others,) how far it is. With
    the last label nothing is left to be wrong about.
    """
    true = np.where(np.abs(truth) <= CLOSE, 0.0, np.sign(truth))[:, None]
    wrong = (np.sign(apart) != true) & (true != 0)
    wrong[:, -1] = False
    return float((np.abs(apart) / spread * wrong).max(initial=0.0))


@dataclass(frozen=True)
class Prediction:
    """What the runs of a unit would score."""

    score: Floats  # (runs,)
    spread: Floats  # (runs,) what the error is divided by, to compare it with that of other runs
    by_topic: Floats | None = None  # (runs, topics), None where an estimator knows of means alone


@dataclass(frozen=True)
class Course:
    """What a run and others are expected to score while its documents are judged one by one."""

    score: Floats  # (documents + 1,)
    others: Floats  # (others, documents + 1) expected
    least: Floats  # and at least and at most
    most: Floats


class Cases:
    """The cases to learn from, and those to predict, in one setting."""

    def __init__(self, setting: LeaveOneOutSetting, train: Sequence[int], targets: Sequence[int]):
        self.setting = setting
        self.train = [setting.case(unit) for unit in train]
        self.targets = [setting.case(unit) for unit in targets]
        self.every = [*self.train, *self.targets]
        self._by_what: dict[Any, list[Floats]] = {}

    def _kept(self, what: Any, of_case: Callable[[Case], Floats]) -> list[Floats]:
        if what not in self._by_what:
            self._by_what[what] = [of_case(case) for case in self.every]
        return self._by_what[what]

    def unjudged(self, depth: int) -> list[Floats]:
        return self._kept(("unjudged", depth), lambda case: case.unjudged(depth))

    def condensed(self, spec: Spec, gains: Mapping[int, float], labels: Sequence[int]) -> list[Floats]:
        return self._kept(("condensed", spec, *labels), lambda case: case.condensed(spec, gains, labels))

    def chances(self, label: int, columns: tuple[int, ...]) -> list[Floats]:
        """Return (unjudged_docs,) of each case how likely a document has at least a label, by the document model.

        A logistic regression of some features, the constant first, learned from the documents of all other cases to
        learn from.
        """
        from scipy.special import expit

        key = "chances", label, columns
        if key in self._by_what:
            return self._by_what[key]
        found = [np.full(len(case.unjudged_docs), 0.5) for case in self.every]
        if self.train:
            features = np.concatenate([case.features[:, columns] for case in self.train])
            positive = np.concatenate([case.labels[case.unjudged_docs] >= label for case in self.train])
            ends = np.cumsum([0, *(len(case.unjudged_docs) for case in self.train)])
            whole = Logistic.fit(features, positive)
            for at, case in enumerate(self.every):
                learned = at < len(self.train) and len(case.unjudged_docs)
                fitted = whole.without(slice(ends[at], ends[at + 1])) if learned else whole.found
                found[at] = expit(case.features[:, columns] @ fitted)
        self._by_what[key] = found
        return found


class MeasureModel:
    """Cases under one measure; what is learned of those to learn from, each without itself."""

    def __init__(self, cases: Cases, spec: Spec):
        self.of, self.train, self.cases, self.spec = cases, cases.train, cases.every, spec
        every = cases.setting.evidence.labels
        self.gains = {int(k): v for k, v in spec.gain_of_label(np.unique(every[every >= 0])).items()}
        #: labels at which the score changes
        self.labels = sorted(self.gains) if spec.kernel == "ndcg" else [spec.rel]

    @cached_property
    def _as_judged(self) -> list[tuple[Floats, Floats]]:
        """Return of each case (runs, topics) scores with what is known, and (runs,) what the unknown weigh."""
        found = []
        for case in self.cases:
            nothing = {label: np.zeros(len(case.unjudged_docs)) for label in self.labels}
            score, changes_of = case.scored(self.spec, nothing, self.gains)
            changes = changes_of()
            unknown = case.dense(_at(case, np.ones(len(case.unjudged_docs))), case.cutoff(self.spec))
            most = np.abs(np.sum([changes[label] for label in self.labels], axis=0)) * unknown
            found.append((score, most.sum(axis=(1, 2)) / case.shape[1]))
        return found

    @property
    def zero(self) -> list[Floats]:
        return [score for score, _ in self._as_judged]

    @cached_property
    def truth(self) -> list[Floats]:
        every = (
            {label: (case.labels[case.unjudged_docs] >= label).astype(float) for label in self.labels}
            for case in self.cases
        )
        return [case.scored(self.spec, labels, self.gains)[0] for case, labels in zip(self.cases, every, strict=True)]

    @property
    def room(self) -> list[Floats]:
        """Return (runs,) of each case what the documents weigh that are unknown, in the mean."""
        return [room for _, room in self._as_judged]

    def condensed(self, spec: Spec) -> list[Floats]:
        labels = self.labels if spec.kernel == "ndcg" else [spec.rel]
        return self.of.condensed(spec, self.gains, labels)

    def others(self, at: int) -> NDArray[np.int64]:
        """Return the cases that a case is predicted from: all to learn from but itself."""
        return np.array([i for i in range(len(self.train)) if i != at], dtype=np.int64)

    @cached_property
    def losses(self) -> list[Floats]:
        n = len(self.train)
        return [(truth - zero).mean(axis=1) for truth, zero in zip(self.truth[:n], self.zero[:n], strict=True)]

    def likely(self, case: Case, chances: Mapping[int, Floats]) -> Prediction:
        score, changes_of = case.scored(self.spec, chances, self.gains)
        changes = changes_of()
        labels, depth = sorted(chances), case.cutoff(self.spec)
        dense = {label: case.dense(_at(case, chances[label]), depth) for label in labels}
        mean = np.sum([changes[label] * dense[label] for label in labels], axis=0)
        variance, steps = np.zeros(mean.shape), np.zeros(mean.shape)
        for label in labels:
            # the square of what is gained, threshold by threshold
            after = steps + changes[label]
            variance = variance + (after**2 - np.square(steps)) * dense[label]
            steps = after
        variance = np.maximum(variance - np.square(mean), 0)
        n = case.shape[1]
        deviation = together(variance.sum(axis=(1, 2)) / n**2, np.sqrt(variance).sum(axis=(1, 2)) / n)
        return Prediction(score.mean(axis=1), deviation, score)

    def effects(self, at: int, place: int, chances: Mapping[int, Floats] | None = None) -> Effects:
        """Return what labels do to the mean score of a run of a case, the weightiest first.

        By label -> (unjudged_docs,) chances, default those of the document model.
        """
        return self.effects_in(self.cases[at], place, chances_of(self)[at] if chances is None else chances)

    def effects_in(self, case: Case, place: int, chances: Mapping[int, Floats]) -> Effects:
        """Return the same for a case, which may have other runs in its place."""
        changes = case.scored(self.spec, chances, self.gains)[1]()
        hole = np.full(len(case.known), -1)
        hole[case.unjudged_docs] = np.arange(len(case.unjudged_docs))
        hits = case.of_run(place)
        rank, row = case.rank[hits], case.row[hits].astype(np.int64)
        seen = (rank <= case.cutoff(self.spec)) & (hole[row] >= 0)
        row, labels = row[seen], sorted(changes)
        where = place, case.topic_of[row], rank[seen] - 1
        change = np.stack([changes[label][where] / case.shape[1] for label in labels], axis=1)
        chance = np.stack([chances[label][hole[row]] for label in labels], axis=1)
        effects = Effects(row, labels, chance, change)
        return effects.take(np.argsort(-effects.size, kind="stable"))

    @property
    def dilutes(self) -> bool:
        """Return whether others, without a unit's documents where the measure looks, share its divisor alone."""
        return self.spec.cutoff is not None and self.spec.cutoff <= self.of.setting.evidence.depth

    def dilution(self, case: Case, chances: Mapping[int, Floats]) -> tuple[Floats, Floats]:
        """Return (topics,) what scores of others become a part of once documents of a case are judged: expected, least.

        Relevant documents of a unit enlarge what nDCG and R divide by. Where a measure looks deeper than the pool,
        others may have them, too, and gain about as much: their scores stay as they are.
        """
        if not self.dilutes:
            return np.ones(case.shape[1]), np.ones(case.shape[1])
        found = {label: case.found[label] for label in self.labels}
        expected = {label: case.expected_total(label, chances[label]) for label in found}
        unknown = case.expected_total(self.labels[0], np.ones(len(case.unjudged_docs))) - case.found[self.labels[0]]
        whole = divisor(self.spec, found, self.gains)
        return whole / divisor(self.spec, expected, self.gains), self.least_part(case, unknown)

    def least_part(self, case: Case, unknown: Floats) -> Floats:
        """Return the same where (topics,) so many unknown documents are relevant, the highest label each."""
        if not self.dilutes:
            return np.ones(case.shape[1])
        found = {label: case.found[label] for label in self.labels}
        most = {label: known + unknown for label, known in found.items()}
        return divisor(self.spec, found, self.gains) / divisor(self.spec, most, self.gains)

    def course(self, at: int, place: int, effects: Effects, label: NDArray[Any], others: Floats) -> Course:
        """Return what a run and others are expected to score after so many of its documents have their labels.

        It is not summed from effects: on each topic the list is scored anew with the labels that are there by then.
        The others, (topics, others) by what is known, share a larger divisor with it.
        """
        case, n_topics = self.cases[at], self.cases[at].shape[1]
        chances, cutoff = chances_of(self)[at], case.cutoff(self.spec)
        topic = case.topic_of[effects.row]
        sizes = np.bincount(topic, minlength=n_topics)
        # a list for each topic and number of its documents that have labels
        starts = offsets(sizes + 1)
        of_list = np.repeat(np.arange(n_topics), sizes + 1)
        by_topic = np.argsort(topic, kind="stable")
        among = np.empty(len(topic), dtype=np.int64)
        among[by_topic] = np.arange(len(topic)) - offsets(sizes)[:-1][topic[by_topic]]
        after = starts[topic] + among + 1
        later = sizes[topic] - among
        where = ranges(after, later)
        left = sizes[of_list] - (np.arange(len(of_list)) - starts[of_list])
        rank = case.ranks(place)
        at_least: dict[int, Floats] = {}
        # relevant documents of a topic: expected, known before, known now, and with all that are left
        expected, before, now, most = (dict[int, Floats]() for _ in range(4))
        for n, least in enumerate(effects.labels):
            values = (case.judged_or_hole & (case.labels >= least)).astype(float)
            values[case.unjudged_docs] = chances[least]
            lists = case.dense(values, cutoff)[place][of_list]
            is_so = (label >= least).astype(float)
            lists[where, np.repeat(rank[effects.row] - 1, later)] = np.repeat(is_so, later)
            expected[least] = case.expected_total(least, chances[least])[of_list]
            np.add.at(expected[least], where, np.repeat(is_so - effects.chance[:, n], later))
            at_least[least] = lists[None]
            before[least] = case.found[least][of_list]
            now[least] = before[least].copy()
            np.add.at(now[least], where, np.repeat(is_so, later))
            most[least] = now[least] + left
        score = expected_scores(self.spec, Likely(at_least, expected, self.gains))[0][0]
        whole = divisor(self.spec, before, self.gains)
        parts = [whole / divisor(self.spec, total, self.gains) for total in (expected, most, now)]
        parts = parts if self.dilutes else [np.ones(len(whole))] * 3
        # sums over topics after each document: of the run, and of others, of which each list leaves a part
        run = score[starts[:-1]].sum() + np.append(0.0, np.cumsum(score[after] - score[after - 1]))
        of_others = []
        for part in parts:
            first, steps = part[starts[:-1]] @ others, (part[after] - part[after - 1])[:, None] * others[topic]
            of_others.append(np.concatenate([first[None], first + np.cumsum(steps, axis=0)]).T / n_topics)
        return Course(run / n_topics, *of_others)

    def without_chances(self, at: int, score: Floats, by_topic: Floats | None = None) -> Prediction:
        return Prediction(score, 0.1 * self.room[at] + LEAST, by_topic)


def _at(case: Case, values: Floats) -> Floats:
    found = np.zeros(len(case.known))
    found[case.unjudged_docs] = values
    return found


#: predicts each case of what is learned of those to learn from
Estimator: TypeAlias = Callable[[MeasureModel], list[Prediction]]


def _of_scores(scores: Callable[[MeasureModel], list[Floats]]) -> Estimator:
    """Return the estimator that takes (runs, topics) scores of each case as they are."""

    def estimator(model: MeasureModel) -> list[Prediction]:
        found = enumerate(scores(model))
        return [model.without_chances(at, by_topic.mean(axis=1), by_topic) for at, by_topic in found]

    return estimator


def _with_gain(gain_of: Callable[[MeasureModel, int], Floats | float]) -> Estimator:
    """Return the estimator that adds something to the mean scores with what is known."""

    def estimator(model: MeasureModel) -> list[Prediction]:
        zero = enumerate(model.zero)
        return [model.without_chances(at, scores.mean(axis=1) + gain_of(model, at)) for at, scores in zero]

    return estimator


def _mean_loss(model: MeasureModel, at: int) -> float:
    means = np.array([lost.mean() for lost in model.losses])
    return float(means[model.others(at)].mean())


def _loss_by_room(model: MeasureModel, at: int) -> Floats | float:
    rooms = model.room[: len(model.train)]
    products = np.array([(lost * room).mean() for lost, room in zip(model.losses, rooms, strict=True)])
    squares = np.array([(room**2).mean() for room in rooms])
    others = model.others(at)
    below = squares[others].sum()
    return model.room[at] * (products[others].sum() / below) if below > 0 else 0.0


def _bpref(model: MeasureModel) -> list[Prediction]:
    """Read the score off a line through the bpref of the runs of the other units, fitted with each unit left out."""
    found = [case.bpref(model.spec.rel).mean(axis=1) for case in model.cases]
    truth = [scores.mean(axis=1) for scores in model.truth]
    predictions = []
    for at, bpref in enumerate(found):
        others = model.others(at)
        x, y = (np.concatenate([values[i] for i in others]) for values in (found, truth))
        weight = np.concatenate([np.full(len(found[i]), 1 / len(found[i])) for i in others])
        line = np.polyfit(x, y, 1, w=np.sqrt(weight)) if len(np.unique(x)) > 1 else np.array([0.0, y.mean()])
        predictions.append(model.without_chances(at, np.polyval(line, bpref)))
    return predictions


def _bootstrap(model: MeasureModel) -> list[Prediction]:
    """Draw the labels of a run's unjudged documents from its judged ones of the topic; here, what they are expected."""
    found = []
    depth = model.of.setting.evidence.depth
    for case in model.cases:
        top = (case.rank <= depth) & case.known[case.row]
        cell, size = case.cell, case.lengths.size
        seen = np.bincount(cell[top], minlength=size).reshape(case.shape)
        # of a document that several runs of the unit have, the run that has it first
        first, is_unjudged = np.full(len(case.known), -1), _at(case, np.ones(len(case.unjudged_docs)))
        hits = np.flatnonzero(is_unjudged[case.row])
        hits = hits[np.argsort(-case.rank[hits], kind="stable")]
        first[case.row[hits]] = cell[hits]
        chances = {}
        for label in model.labels:
            good = np.bincount(cell[top & (case.labels[case.row] >= label)], minlength=size).reshape(case.shape)
            whole = (good.sum(axis=1) + 0.5) / (seen.sum(axis=1) + 1)
            chances[label] = ((good + _PRIOR * whole[:, None]) / (seen + _PRIOR)).ravel()[first[case.unjudged_docs]]
        found.append(model.likely(case, chances))
    return found


def _by_model(*names: str) -> Estimator:
    """Return the document model that knows these; of texts what a classifier says, as right as for other units."""

    def estimator(model: MeasureModel) -> list[Prediction]:
        every = zip(model.cases, chances_of(model, *names), strict=True)
        return [model.likely(case, chances) for case, chances in every]

    return estimator


def chances_of(model: MeasureModel, *names: str) -> list[dict[int, Floats]]:
    """Return label -> (unjudged_docs,) chances of each case by the document model; a higher label is never more likely.

    It knows what :meth:`LeaveOneOutSetting.columns` has of some names, by default all.
    """
    found: list[dict[int, Floats]] = [{} for _ in model.cases]
    columns = model.of.setting.columns(*names)
    # the first feature is the constant
    columns = columns if columns[0] == 0 else (0, *columns)
    for label in model.labels:
        for chances, chance in zip(found, model.of.chances(label, columns), strict=True):
            chances[label] = np.minimum(chance, chances[max(chances)]) if chances else chance
    return found


def _judge_scores(model: MeasureModel) -> list[Floats]:
    """Take the labels of a judge as they are; what has none is not relevant."""
    column, found = model.of.setting.columns("judge")[1], []
    for case in model.cases:
        chances = {label: (case.features[:, column] >= label).astype(float) for label in model.labels}
        found.append(case.scored(model.spec, chances, model.gains)[0])
    return found


#: the estimator by which no unjudged document is relevant
ZERO = "zero"
#: by name, in their order
ESTIMATORS: dict[str, Estimator] = {
    "documents": _by_model("documents"),
    ZERO: _of_scores(lambda model: model.zero),
    "condensed": _of_scores(lambda model: model.condensed(model.spec)),
    "residual": _with_gain(lambda model, at: model.room[at] / 2),
    "webber_park": _with_gain(_mean_loss),
    "hole_slope": _with_gain(_loss_by_room),
    "bpref": _bpref,
    "bootstrap": _bootstrap,
    "judge": _of_scores(_judge_scores),
    "documents_and_judge": _by_model("documents", "judge"),
    "texts": _by_model("texts"),
    "documents_and_texts": _by_model("documents", "texts"),
}
#: name -> the argument that it takes beside the runs and judgments
_TAKES = {"judge": "judge", "documents_and_judge": "judge", "texts": "corpus", "documents_and_texts": "corpus"}


def named_estimators(names: Sequence[str] | None, *, judge: Any, corpus: Any) -> dict[str, Estimator]:
    """Return the estimators that are asked for, by default all of which there is what they take."""
    given = {"judge": judge is not None, "corpus": corpus is not None}
    has = [name for name in ESTIMATORS if name not in _TAKES or given[_TAKES[name]]]
    for name in names or ():
        if name not in has:
            raise InputError(f"{examples([name])} needs {_TAKES[name]}=.", argument="estimators")
    return {name: ESTIMATORS[name] for name in (has if names is None else names)}
