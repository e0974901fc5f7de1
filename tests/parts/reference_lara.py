"""LARA, slow and obvious: logistic regression by a general minimiser, choices by loops over lists."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize


def slow_probability(numbers, relevant, about):
    """Return the probabilities that logistic regression with the penalty w w / 2 gives for some numbers."""

    def loss(parameters):
        weight, intercept = parameters
        logits = [weight * x + intercept for x in numbers]
        return weight**2 / 2 + sum(
            math.log1p(math.exp(-abs(z))) + max(z, 0) - (z if y else 0) for z, y in zip(logits, relevant, strict=True)
        )

    weight, intercept = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-8}).x
    return [1 / (1 + math.exp(-(weight * x + intercept))) for x in about]


def slow_grades(numbers, labels, about):
    """Return for each number the highest grade that it reaches with at least .5, and so all grades below."""
    lowest, *grades = sorted(set(labels))
    found = []
    reached = {g: slow_probability(numbers, [label >= g for label in labels], about) for g in grades}
    for row in range(len(about)):
        grade = lowest
        for g in grades:
            if reached[g][row] < 0.5:
                break
            grade = g
        found.append(grade)
    return found


def check_choices(judged, scores, truth, *, rel, batch_size):
    """Check that each batch after the random ones is of the documents nearest to .5 by a slow calibration."""
    frame = judged.to_frame()
    people = frame[frame["judge"] == "people"]
    values = np.array([scores[qid, docno] for qid, docno in zip(frame["qid"], frame["docno"], strict=True)])
    scaled = dict(zip(scores, (np.array(list(scores.values())) - values.mean()) / values.std(), strict=True))
    known = []
    for _, batch in people.groupby("round"):
        pairs = list(zip(batch["qid"], batch["docno"], strict=True))
        labels = [truth[pair] >= rel for pair in known]
        if any(labels) and not all(labels):
            open_pairs = [pair for pair in scores if pair not in known]
            found = slow_probability([scaled[p] for p in known], labels, [scaled[p] for p in open_pairs])
            distance = {pair: abs(p - 0.5) for pair, p in zip(open_pairs, found, strict=True)}
            farthest = max(distance[pair] for pair in pairs)
            nearer = [pair for pair in open_pairs if distance[pair] < farthest - 1e-5 and pair not in pairs]
            assert not nearer
            told = dict(zip(open_pairs, found, strict=True))
            np.testing.assert_allclose(batch["probability"].to_numpy(float), [told[p] for p in pairs], atol=1e-6)
        else:
            assert batch["probability"].isna().all()
        assert len(pairs) <= batch_size
        known += pairs
    return known, scaled


def check_topic_batches(judged, scores, truth, *, rel, batch_size, budget, by_topic):
    """Check batch by batch what people judge where each topic has a budget of its own, and the labels of the rest."""
    frame = judged.to_frame()
    values = np.array(list(scores.values()))
    scaled = dict(zip(scores, (values - values.mean()) / values.std(), strict=True))
    topics = list(dict.fromkeys(qid for qid, _ in scores))
    known = []

    def taught(qid):
        """Return what calibrates a topic: its own labels where they are of both kinds, else those of all, if any."""
        mine = [pair for pair in known if pair[0] == qid]
        for pairs in (mine, known) if by_topic else (known,):
            labels = [truth[pair] >= rel for pair in pairs]
            if any(labels) and not all(labels):
                return pairs
        return []

    rounds = math.ceil(budget / batch_size)
    for number in range(1, rounds + 1):
        new = []
        for qid in topics:
            mine = frame[(frame["judge"] == "people") & (frame["qid"] == qid) & (frame["round"] == number)]
            batch = [(qid, docno) for docno in mine["docno"]]
            assert len(batch) == min(batch_size, budget - batch_size * (number - 1))
            left = [pair for pair in scores if pair[0] == qid and pair not in known]
            teachers = taught(qid)
            if teachers:
                labels = [truth[pair] >= rel for pair in teachers]
                found = slow_probability([scaled[p] for p in teachers], labels, [scaled[p] for p in left])
                distance = {pair: abs(p - 0.5) for pair, p in zip(left, found, strict=True)}
                nearest = sorted(left, key=distance.get)[: len(batch)]
                assert sorted(batch) == sorted(nearest)
                assert [distance[pair] for pair in batch] == sorted(distance[pair] for pair in batch)
            new += batch
        known += new
    for qid in topics:
        rest = frame[(frame["judge"] != "people") & (frame["qid"] == qid)]
        about, teachers = [scaled[qid, docno] for docno in rest["docno"]], taught(qid)
        expected = slow_grades([scaled[p] for p in teachers], [truth[p] for p in teachers], about)
        assert rest["label"].tolist() == expected
        probability = slow_probability([scaled[p] for p in teachers], [truth[p] >= rel for p in teachers], about)
        # the probability of being relevant is no smaller than that of a higher grade
        assert (rest["probability"].to_numpy(float) <= np.array(probability) + 1e-6).all()
