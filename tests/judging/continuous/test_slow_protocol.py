"""The protocol of the track of 2021, written down once more in plain loops over sets and exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.judging import DenseTopic, FewJudged, FruitfulBatch, NoBatchYet, Scorer, TrecDL2021


def score(place, n_relevant):
    """Return a score that hangs on what is known, without ties."""
    return (place * 7919 + n_relevant * 31) % 10007


class Stirred(Scorer):
    """Scores that change with the number of relevant examples."""

    def __init__(self, documents):
        self.of = {qid: np.array(names, dtype=object) for qid, names in documents.items()}

    def documents(self, qid):
        return self.of[qid]

    def fit(self, qid, query, training):
        return np.array([score(i, int(training.relevant.sum())) for i in range(len(self.of[qid]))], dtype=float)


class Slow:
    """Judges all topics; see what it leaves in its lists and dicts."""

    def __init__(self, documents, pool, labels, options, rel):
        self.documents, self.labels, self.rel = documents, labels, rel
        self.batch, self.few, self.topic_budget, self.total, self.abandon_from = options
        self.asked = {qid: [] for qid in documents}
        self.batches = {qid: [] for qid in documents}
        self.status, self.log, self.densities = dict.fromkeys(documents), [], []
        for qid in documents:
            self.ask(qid, 1, pool[qid], self.topic_budget, {*documents[qid], *pool[qid]})
        number = 1
        while None in self.status.values():
            number += 1
            for qid in [qid for qid in documents if self.status[qid] is None]:
                places = {name: place for place, name in enumerate(documents[qid])}
                known = sum(labels[qid].get(name, -1) >= rel for name in self.asked[qid] if name in places)
                left = [name for name in documents[qid] if name not in self.asked[qid]]
                left.sort(key=lambda name: -score(places[name], known))
                self.ask(qid, number, left, self.batch, {*documents[qid], *pool[qid]})

    def judged(self, qid, names=None):
        """Return whether each judged document is relevant."""
        names = self.asked[qid] if names is None else names
        return [self.labels[qid][name] >= self.rel for name in names if name in self.labels[qid]]

    def share(self, found):
        return Fraction(sum(found), len(found)) if found else Fraction(0)

    def ask(self, qid, number, names, size, everything):
        wanted = names[: min(size, self.topic_budget - len(self.asked[qid]))]
        room = len(wanted) if self.total is None else self.total - sum(map(len, self.asked.values()))
        given = wanted[:room]
        if number > 1 and not given:
            self.status[qid] = "total budget"
            return
        self.asked[qid] += given
        self.log += [(qid, name, self.labels[qid][name], number) for name in given if name in self.labels[qid]]
        if number > 1:
            self.batches[qid].append(self.share(self.judged(qid, given)))
        self.densities.append((qid, number, len(self.judged(qid)), float(self.share(self.judged(qid)))))
        density, batches = self.share(self.judged(qid)), self.batches[qid]
        goes_on = (
            density > Fraction(1, 2)
            or len(self.asked[qid]) < self.few
            or not batches
            or batches[-1] > (Fraction(1, 10) if len(batches) <= 2 else Fraction(1, 5))
        )
        if everything == set(self.asked[qid]):
            self.status[qid] = "exhausted"
        elif len(self.asked[qid]) >= self.abandon_from and density > Fraction(3, 4):
            self.status[qid] = "abandoned"
        elif not goes_on:
            self.status[qid] = "finished"
        elif len(self.asked[qid]) >= self.topic_budget:
            self.status[qid] = "topic budget"
        elif len(given) < len(wanted):
            self.status[qid] = "total budget"

    def evaluated(self, qid):
        found = self.judged(qid)
        return self.status[qid] != "abandoned" and sum(found) >= 3 and self.share(found) <= Fraction(3, 4)


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_labels_densities_ends_and_waste_are_those_of_plain_loops():
    chance, ends = random.Random(5), set()
    for trial in range(30):
        rel, kept = chance.choice([1, 2]), chance.choice([0.8, 1])
        density = chance.choice([0.05, 0.1, 0.2, 0.5, 0.6, 0.75, 0.9])
        documents = {
            str(qid): [f"d{i}" for i in range(chance.choice([1, 5, 30, 50]))] for qid in chance.sample(range(30), 3)
        }
        pool, labels = {}, {"elsewhere": {"d": 1}}
        for qid, names in documents.items():
            # two of the pool that the corpus has not
            both = [*names, "x1", "x2"]
            pool[qid] = chance.sample(both, min(len(both), chance.randint(0, 15)))
            labels[qid] = {name: rel - (chance.random() >= density) for name in sorted(both) if chance.random() < kept}
        rows = [(qid, name) for qid, names in pool.items() for name in names] or [("elsewhere", "d")]
        options = [chance.choice(given) for given in ([1, 5, 10, 20], [5, 15, 20], [8, 25, 40])]
        options += [chance.choice([None, 1, 10, 37, 90]), chance.choice([1, 10, 15])]
        protocol = TrecDL2021(
            batch=options[0],
            goes_on_while=[DenseTopic(), FewJudged(options[1]), NoBatchYet(), FruitfulBatch()],
            topic_budget=options[2],
            total_budget=options[3],
            abandon_from=options[4],
            presumed_negatives=chance.choice([0, 3]),
        )
        found = ptr.judging.judge_continuously(
            Stirred(documents),
            pd.DataFrame({"qid": list(documents)}),
            ptr.judging.Oracle(labels, unknown="skip"),
            protocol=protocol,
            pool=ptr.Pool.from_frame(pd.DataFrame(rows, columns=["qid", "docno"])),
            rel=rel,
            seed=trial,
        )
        slow = Slow(documents, pool, labels, options, rel)
        assert found.labels[["qid", "docno", "label", "round"]].values.tolist() == [list(row) for row in slow.log]
        assert dict(zip(found.topics["qid"], found.topics["status"], strict=True)) == slow.status
        rounds = found.rounds[["qid", "round", "judged", "density"]].fillna({"density": 0})
        assert rounds.values.tolist() == [list(row) for row in slow.densities]
        outside = [qid for qid in documents if not slow.evaluated(qid)]
        assert found.topics.loc[~found.topics["evaluated"], "qid"].tolist() == outside
        wasted = [row for row in slow.log if row[0] in outside]
        counts = found.counts().set_index("judgments_of")[["judgments", "relevant"]]
        for name, mine in {
            "initial pool": [row for row in slow.log if row[3] == 1],
            "CAL": [row for row in slow.log if row[3] > 1],
            "all": slow.log,
            "wasted": wasted,
        }.items():
            assert counts.loc[name].tolist() == [len(mine), sum(row[2] >= rel for row in mine)]
        assert found.wasted == pytest.approx(len(wasted) / max(len(slow.log), 1))
        ends |= set(slow.status.values())
    assert ends == {"exhausted", "abandoned", "finished", "topic budget", "total budget"}
