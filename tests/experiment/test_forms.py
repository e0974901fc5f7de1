"""Experiment takes runs and judgments in every form in which they come."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, frames
from ir_measures import AP

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
TUPLES = [ir_measures.Qrel(row.qid, row.docno, int(row.label)) for row in QRELS.itertuples()]
BY_TOPIC = {qid: dict(zip(rows["docno"], rows["label"].astype(int), strict=True)) for qid, rows in QRELS.groupby("qid")}


@pytest.fixture(scope="module")
def usual():
    return ptr.Experiment(frames(), TOPICS, QRELS, [AP])


@pytest.mark.parametrize(
    "qrels",
    [
        TUPLES,
        BY_TOPIC,
        QRELS.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"}),
        ptr.Qrels(QRELS),
    ],
    ids=["tuples", "by topic", "columns of ir_measures", "Qrels"],
)
def test_judgments(qrels, usual):
    given = iter(qrels) if isinstance(qrels, list) else qrels
    pd.testing.assert_frame_equal(ptr.Experiment(frames(), TOPICS, given, [AP]), usual)


def test_systems_from_files(tmp_path, usual):
    FIELD.runs.select(NAMES).write(tmp_path)
    found = ptr.Experiment(tmp_path, TOPICS, QRELS, [AP]).set_index("name").loc[usual["name"]].reset_index()
    assert found["AP"].tolist() == usual["AP"].tolist()


def test_fields(tmp_path):
    OTHERS.write(tmp_path)
    expected = ptr.Experiment(frames(), TOPICS, QRELS, [AP], field=OTHERS, reuse="rank")
    for field in (tmp_path, OTHERS.to_frame(), {name: OTHERS[name] for name in OTHERS}):
        found = ptr.Experiment(frames(), TOPICS, QRELS, [AP], field=field, reuse="rank")
        pd.testing.assert_frame_equal(found, expected)
