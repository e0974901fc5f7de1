"""The ranking of systems under each annotator, against judgments put together by hand and scored on their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from annotator_parts import by_item
from scipy.stats import kendalltau

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=6, n_docs=60, n_teams=4, length=15, depth=6)
RUNS, QRELS = FIELD.runs, FIELD.qrels
MEASURES = ["AP", "nDCG@5", "P@3"]


def labels():
    """Return labels of three annotators of parts of the judgments, and of a few documents that have none."""
    random = np.random.default_rng(4)
    judged = QRELS.to_frame()[["qid", "docno", "label"]]
    others = FIELD.all_qrels.to_frame()[["qid", "docno", "label"]]
    unjudged = others.merge(judged[["qid", "docno"]], how="left", indicator=True).query("_merge == 'left_only'")
    frames = []
    topics = QRELS.topics
    for name, mine in {"ann": topics[:4], "bob": topics[2:], "cid": topics[:3]}.items():
        part = pd.concat([judged, unjudged.drop(columns="_merge").head(40)])
        part = part[part["qid"].isin(mine)].sample(frac=0.7, random_state=len(frames))
        flips = random.random(len(part)) < 0.4
        label = np.where(flips, random.integers(0, 3, len(part)), part["label"])
        frames.append(part.assign(label=label, annotator=name))
    return pd.concat(frames, ignore_index=True)


LABELS = labels()


def by_hand(annotator, others):
    """Return the judgments with an annotator's labels put in, or cut down to its items, as a dict."""
    held = {(row.qid, row.docno): row.label for row in QRELS.to_frame().itertuples()}
    given = {item: found[annotator] for item, found in by_item(LABELS).items() if annotator in found}
    if others == "drop":
        return given, {item: label for item, label in held.items() if item in given}
    return {**held, **given}, held


def means(judgments, topics, measure):
    rows = [(qid, docno, label) for (qid, docno), label in judgments.items() if qid in topics]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    return ptr.score(RUNS, ptr.Qrels(frame, topics=topics), measure).mean_values[0].round(12)


@pytest.mark.parametrize("others", ["keep", "drop"])
def test_rankings_are_those_of_judgments_put_together_by_hand(others):
    result = ptr.judging.rankings_by_annotator(RUNS, LABELS, QRELS, MEASURES, others=others)
    assert result.table["annotator"].unique().tolist() == ["ann", "bob", "cid"]
    for row in result.table.itertuples():
        mine, truth = by_hand(row.annotator, others)
        given = LABELS[LABELS["annotator"] == row.annotator]
        topics = sorted(given["qid"].unique())
        x, y = means(truth, topics, row.measure), means(mine, topics, row.measure)
        assert (row.topics, row.labels) == (len(topics), len(given))
        assert row.tau_b == pytest.approx(kendalltau(x, y).statistic, abs=1e-12, nan_ok=True)
        held = {(r.qid, r.docno): r.label for r in QRELS.to_frame().itertuples()}
        assert row.changed == sum(held.get((r.qid, r.docno)) != r.label for r in given.itertuples())
        runs = result.by_run[(result.by_run["annotator"] == row.annotator) & (result.by_run["measure"] == row.measure)]
        assert runs["name"].tolist() == RUNS.names
        assert runs["score"].tolist() == pytest.approx(x.tolist(), abs=1e-11)
        assert runs["other_score"].tolist() == pytest.approx(y.tolist(), abs=1e-11)
        drops = [int((y > b).sum() - (x > a).sum()) for a, b in zip(x, y, strict=True)]
        assert runs["drop"].tolist() == drops
        assert row.max_drop == max(drops)
        assert (row.dropped is None) == (max(drops) == 0)
    assert (result.table["changed"] > 5).all()


def test_unjudged_stays_unjudged():
    # Judged counts a label of -1 as a judgment, so that a row made for an item must not stand there as one
    some = FIELD.all_qrels.to_frame()[["qid", "docno", "label"]].head(30)
    given = {"x": some, "y": QRELS}
    result = ptr.judging.rankings_by_annotator(RUNS, given, QRELS, "Judged@5")
    found = result.by_run[result.by_run["annotator"] == "y"]
    assert found["score"].tolist() == ptr.score(RUNS, QRELS, "Judged@5").mean_values[0].tolist()
    assert found["other_score"].tolist() == found["score"].tolist()


def test_what_has_no_ranking_is_told(messages):
    nothing = QRELS.to_frame()[["qid", "docno"]].assign(label=0, annotator="nobody")
    result = messages.warned(lambda: ptr.judging.rankings_by_annotator(RUNS, nothing, QRELS, MEASURES[:2]))
    assert result.table["tau_b"].isna().all()


def test_what_is_wrong_is_named(messages):
    rankings = ptr.judging.rankings_by_annotator
    strange = LABELS.assign(qid="7" + LABELS["qid"])
    messages.refused(lambda: rankings(RUNS, strange, QRELS, "AP"), argument="labels")
    messages.refused(lambda: rankings("unread", "unread", "unread", "AP", others="ignore"), argument="others")
    messages.refused(lambda: rankings("unread", "unread", "unread", "Ap"), argument="measures")
    messages.refused(lambda: rankings(RUNS, "one.txt", QRELS, "AP"), argument="labels")
