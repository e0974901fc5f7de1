"""Judgments as a model are their labels, texts of a store are read one by one, and threads may share a judge."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse import judging

FIELD = ptr.demo.simulate_field(seed=3, n_topics=3, n_docs=40, n_teams=4, length=12, depth=6)
POOL = ptr.depth_pool(FIELD.runs, 6)


@pytest.mark.filterwarnings("ignore:people have not found")
def test_judgments_as_a_model_are_their_labels():
    truth = FIELD.all_qrels.to_frame()
    more = truth.assign(probability=np.nan, score="high")
    frames = [judging.judge_with_model(POOL, FIELD.all_qrels, of, budget=6, seed=3).to_frame() for of in (truth, more)]
    pd.testing.assert_frame_equal(*frames)
    assert frames[0]["label"].notna().all()
    with pytest.raises(ptr.InputError, match="column"):
        judging.judge_with_model(POOL, FIELD.all_qrels, truth, budget=6, column="")


class Store(Mapping):
    """Texts that count how often they are read, and that nobody can list."""

    def __init__(self):
        self.read = 0

    def __getitem__(self, docno):
        self.read += 1
        return f"text of {docno}"

    def __contains__(self, docno):
        return True

    def __iter__(self):
        raise RuntimeError("too many")

    def __len__(self):
        return 10**9


def test_texts_of_a_store_are_read_one_by_one():
    store, topics = Store(), pd.DataFrame({"qid": FIELD.qrels.topics, "query": "what"})
    judge = judging.WithTexts(judging.Callable(lambda query, text: 1, name="m"), topics=topics, texts=store)
    labels = ptr.pools.take_pool(FIELD.runs, 2).judge(judge)
    assert store.read == labels.to_frame()["docno"].nunique() > 0


def test_threads_share_a_judge_and_its_cache(tmp_path):
    how = {"name": "m", "reads": ["docno"], "cache": tmp_path / "c", "version": "1"}
    judge = judging.Callable(lambda docno: 1, **how)
    parts = [pd.DataFrame({"qid": "1", "docno": [f"d{i}-{j}" for j in range(20)]}) for i in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(judge, parts))
    assert [len(answer) for answer in answers] == [20] * 6
    assert judge.cost.calls == 120
    again = judging.Callable(lambda docno: pytest.fail("asked"), **how)
    assert len(again(pd.concat(parts, ignore_index=True))) == 120
