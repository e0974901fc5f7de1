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
    "a field": {"field": OTHERS, "depth": 8},
    "by topic": {"perquery": True},
    "batches by topic": {"batch_size": 4, "perquery": True, "field": OTHERS, "depth": 8},
    "long": {"layout": "long"},
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


def test_it_goes_on_after_an_error(tmp_path):
    class Failing(Retriever):
        def transform(self, inp):
            if len(inp) and ALL[4] in inp["qid"].tolist():
                raise RuntimeError("no")
            return super().transform(inp)

    systems = {**retrievers(), "man3a": Failing(FIELD.runs["man3a"])}
    with pytest.raises(ptr.InputError, match="run 'man3a' failed for the topics"):
        experiment(systems, cache=tmp_path, batch_size=2)
    assert asked(systems) == {"lex1a": ALL, "neu2a": ALL, "man3a": ALL[:4]}
    systems = retrievers()
    pd.testing.assert_frame_equal(
        experiment(systems, cache=tmp_path, batch_size=2), experiment(retrievers(), batch_size=2), check_exact=True
    )
    assert asked(systems) == {"lex1a": [], "neu2a": [], "man3a": ALL[4:]}


REFUSED = {
    "mrt": ("eval_metrics", {"measures": ["map", "mrt"]}),
    "a tree": ("plan", {"plan": "tree"}),
    "a prefix": ("precompute_prefix", {"precompute_prefix": True}),
    "a batch size": ("batch_size", {"batch_size": 0}),
    "no names": ("retr_systems", {"systems": [Retriever(FIELD.runs["neu2a"])]}),
    "one name": (
        "retr_systems",
        {"systems": [Retriever(FIELD.runs[name]) for name in NAMES[:2]], "names": ["a", "a"], "reuse": []},
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_does_not_go_with_it(fault, tmp_path, messages):
    argument, given = REFUSED[fault]
    experiment(retrievers(), cache=tmp_path, reuse=[])
    systems = given.get("systems", retrievers())
    given = {"systems": systems, "cache": tmp_path, **given}
    if fault == "no names":
        # how it prints is another at each call
        with pytest.raises(ptr.InputError, match="is another in every process") as told:
            experiment(**given)
        assert told.value.argument == argument
    else:
        messages.refused(lambda: experiment(**given), argument=argument)
    of_systems = systems.values() if isinstance(systems, dict) else systems
    assert all(system.asked == [] for system in of_systems if isinstance(system, Retriever))
