"""Input that says little or nothing: told by name, before work starts where it can be."""

from __future__ import annotations

import numpy as np
import pandas as pd

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=3, n_topics=3, n_docs=60, n_teams=3, length=20, depth=3)
QRELS = FIELD.qrels.to_frame()


def source(docno):
    return "xy"[int(docno[-1]) % 2]


def study(runs=FIELD.runs, qrels=FIELD.qrels, measures="AP", **options):
    return ptr.profile.subcollections(runs, qrels, measures, **{"sources": source, **options})


LITTLE = {
    "judgments of other topics": ("runs", {"qrels": QRELS.assign(qid="x" + QRELS["qid"])}),
    "one source": ("sources", {"sources": None}),
    "nothing relevant": ("qrels", {"qrels": QRELS.assign(label=0)}),
    "no label that high": ("qrels", {"rel": 3, "measures": "nDCG@5"}),
    "nothing to split": ("qrels", {"qrels": pd.DataFrame({"qid": "1", "docno": FIELD.runs.docnos(), "label": 1})}),
    "a part without a judged topic": (
        "relevant",
        {"qrels": QRELS[QRELS["docno"].map(source) == "x"], "relevant": "own"},
    ),
}


def test_too_little_to_compare(messages):
    for fault in LITTLE:
        argument, given = LITTLE[fault]
        # what is only relevant is told as well: a caveat of the judgments, whatever is asked of them
        messages.warned(
            lambda given=given, argument=argument: messages.refused(study, argument=argument, **given),
            times=int(fault == "nothing to split"),
            unpooled=True,
        )


def test_fewer_than_five_topics(messages):
    found = messages.warned(lambda: study(alpha=0.9))
    assert "part 'x': 3 topics only" in found.settings["beware"]
    found = messages.warned(lambda: study(qrels=QRELS[QRELS["qid"] == FIELD.qrels.topics[0]]), times=2)
    assert found.by_pair["untested"].tolist() == [15]
    assert np.isnan(found.table["agree"].item())


def test_means_that_differ_in_the_last_bit_tie(messages):
    """Thirds and halves that are added in another order make another sum."""

    def run(ranks):
        lists = [[*(f"{s}{n}" for n in range(1, rank) for s in "xy"), "d0"] for rank in ranks]
        rows = [(str(q), docno, -r) for q, docnos in enumerate(lists) for r, docno in enumerate(docnos)]
        return pd.DataFrame(rows, columns=["qid", "docno", "score"])

    qrels = pd.DataFrame({"qid": [str(q) for q in range(6)], "docno": "d0", "label": 1})
    runs = {"up": run([3, 3, 3, 2, 2, 3]), "down": run([2, 2, 3, 3, 3, 3])}
    found = messages.warned(lambda: study(runs, qrels, "RR", sources=["x", "y"]), times=2)
    assert "judgments of relevant documents only" in found.settings["beware"].split("; ")
    assert (np.ptp(found.means, axis=2) > 0).all()
    assert np.isnan(found.by_pair["tau_b"].item())
