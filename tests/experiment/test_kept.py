"""ptr.Experiment with a cache: the same tables, and pipelines that run once."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, retrievers
from ir_measures import AP, P, nDCG

import pt_reuse as ptr

MEASURES = [AP, P @ 5, nDCG @ 10]
ALL = TOPICS["qid"].tolist()


def experiment(systems, topics=TOPICS, measures=MEASURES, **more):
    return ptr.Experiment(systems, topics, QRELS, measures, **more)


def asked(systems):
    return {name: system.asked for name, system in systems.items() if isinstance(system, pt.Transformer)}


WAYS = {
    "means": {},
    "by topic": {"perquery": True},
    "batches by topic": {"batch_size": 4, "perquery": True, "field": OTHERS, "depth": 8},
    "judged topics alone": {"filter_by_qrels": True},
}


@pytest.mark.parametrize(("way", "before"), [("means", 0), ("means", 6), *((way, 2) for way in WAYS if way != "means")])
def test_the_same_table_however_much_was_kept(way, before, tmp_path):
    given = WAYS[way]
    plain = experiment(retrievers(), **given)
    if before:
        experiment(retrievers(), TOPICS[:before], cache=tmp_path, reuse=[])
        # a batch of the same topics
        assert len(list(tmp_path.glob("*/*.results"))) == len(NAMES)
    experiment(retrievers(), cache=tmp_path, **given)
    systems = retrievers()
    resumed = experiment(systems, cache=tmp_path, **given)
    assert asked(systems) == {name: [] for name in NAMES}
    pd.testing.assert_frame_equal(resumed, plain, check_exact=True)


REFUSED = [
    ("eval_metrics", {"measures": ["map", "mrt"]}),
    ("plan", {"plan": "tree"}),
    ("precompute_prefix", {"precompute_prefix": True}),
    ("batch_size", {"batch_size": 0}),
]


def test_what_does_not_go_with_it(tmp_path, messages):
    experiment(retrievers(), cache=tmp_path, reuse=[])
    for argument, given in REFUSED:
        systems = retrievers()
        call = lambda given={"systems": systems, "cache": tmp_path, **given}: experiment(**given)  # noqa: E731
        messages.refused(call, argument=argument)
        assert not any(system.asked for system in systems.values())
    # how a system without a name prints is another at each call
    with pytest.raises(ptr.InputError, match="is another in every process"):
        experiment([Retriever(FIELD.runs["neu2a"])], cache=tmp_path)
