"""What ptr.Experiment says of columns that are not what they seem, and which it adds by default."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import (
    ALL,
    FIELD,
    NAMES,
    NO_FIELD,
    OTHERS,
    QRELS,
    TOPICS,
    frames,
    recorded,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, P, nDCG

import pt_reuse as ptr
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import ReuseWarning
from pt_reuse.experiment.columns import RANKS
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.caveats import CaveatWarning

QUIET = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def experiment(**arguments):
    given = {"field": OTHERS, "depth": 8, **arguments}
    return ptr.Experiment(frames(), TOPICS, QRELS, [AP], **given)


# systems that did not contribute


def not_contributing(**arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = experiment(**arguments)
    told = [w.message for w in caught if isinstance(w.message, CaveatWarning)]
    return result, [message for message in told if "did not contribute" in str(message)]


def test_a_column_of_lou_tells_which_systems_did_not_contribute():
    # LOU is not shown where it says nothing of any system
    result, told = not_contributing(pooled=False)
    assert not told
    assert "AP LOU" not in result
    for pooled, times in ((False, 1), ({name: name == NAMES[0] for name in NAMES}, 1), (True, 0)):
        result, told = not_contributing(pooled=pooled, reuse=ALL)
        assert len(told) == times
        rows = result[~result["pooled"]] if times else result.head(0)
        assert (rows["AP LOU"] == rows["AP"]).all()
        assert times == ("did not contribute" in result.attrs["reuse"]["settings"].get("beware", ""))
    # nor of runs of the field that no column shows
    unpooled = OTHERS.with_metadata(pooled=[name for name in OTHERS.names if name != OTHERS.names[0]])
    assert not not_contributing(pooled=True, field=unpooled, reuse=ALL)[1]
    added = ptr.add_columns(
        pd.DataFrame({"name": NAMES, "AP": experiment(pooled=True)["AP"]}), frames(), QRELS, field=OTHERS, depth=8,
        pooled=True,
    )  # fmt: skip
    assert "AP LOU" in added


# leave-out-uniques without a field


@QUIET
def test_lou_without_a_field_is_named_for_what_it_is_not():
    result = ptr.Experiment(frames(), TOPICS, QRELS, [AP], reuse=ALL, depth=8)
    assert list(result) == [
        "name", "AP", "AP LOU (no field)", "AP LOU % (no field)", "AP rank", "AP LOU rank (no field)",
        "AP drop (no field)", "AP unjudged", "pooled",
    ]  # fmt: skip
    long = ptr.Experiment(frames(), TOPICS, QRELS, [AP], reuse=ALL, depth=8, perquery=True)
    assert set(NO_FIELD) < set(long)
    assert [str(long[name].dtype) for name in RANKS if name in long] == ["int64"] * 3
    rounded = ptr.Experiment(frames(), TOPICS, QRELS, [AP], reuse=ALL, depth=8, round=1)
    assert rounded["AP LOU (no field)"].tolist() == result["AP LOU (no field)"].round(1).tolist()
    # the numbers are those of the study, the systems being the field
    runs = ptr.RunSet.from_frames(frames(), teams={name: name for name in NAMES}, pooled=True, order="trec_eval9")
    by_run = ptr.leave_out_uniques(runs, QRELS, AP, depth=8).by_run
    assert result["AP LOU (no field)"].tolist() == pytest.approx(by_run["reduced_score"].tolist())
    assert result["AP drop (no field)"].tolist() == by_run["drop"].tolist()


# systems that run now did not contribute then


def test_systems_in_a_field_are_not_pooled():
    result = experiment(reuse=ALL)
    assert result["pooled"].tolist() == [False] * 3
    assert result["pooled"].dtype == bool
    assert result.attrs["reuse"]["settings"]["systems"] == "not pooled"
    # without contributions there is nothing to lose
    assert result["AP LOU"].tolist() == result["AP"].tolist()
    assert result["AP drop"].tolist() == [0, 0, 0]
    # the pool is that of the field, whoever runs now
    field = OTHERS.reorder("trec_eval9")
    lou = ptr.leave_out_uniques(field, QRELS, AP, depth=8)
    settings = result.attrs["reuse"]["settings"]
    for name in ("judged", "judged without contributor", "pool", "pool without judgment"):
        assert settings[name] == lou.settings[name]
    assert settings["contributors"].startswith(f"pooled ({OTHERS.pooled.sum()} of ")
    assert result.equals(experiment(pooled=False, reuse=ALL))
    # by default no column says so, and what is said of the field stays
    assert experiment().attrs["reuse"]["summary"] == result.attrs["reuse"]["summary"]


# judgments and pools that are not what they seem


@pytest.mark.parametrize(
    ("more", "told", "noted"),
    [
        ({}, 0, "beware of uniques"),
        # also that no system contributed
        ({"reuse": "lou"}, 2, "beware"),
        ({"pooled": True}, 1, "beware"),
    ],
    ids=str,
)
def test_the_fit_of_the_pool_is_told_where_uniques_are_shown(more, told, noted):
    given = {"field": OTHERS, "depth": 25, **more}
    result, _, warned = recorded(ptr.Experiment, frames(), TOPICS, QRELS, [AP], **given)
    assert len(warned) == told
    found = {name: text for name, text in result.attrs["reuse"]["settings"].items() if name.startswith("beware")}
    assert list(found) == [noted][: noted is not None]
    assert all("of the pool is unjudged" in text for text in found.values())
    assert ("of the pool is unjudged" in " ".join(result.report().notes)) is (noted == "beware")


@pytest.mark.parametrize("arguments", [{}, {"field": OTHERS, "reuse": ["unjudged", "rank"]}], ids=["alone", "field"])
def test_judgments_of_relevant_documents_only(arguments, messages):
    relevant = QRELS[QRELS["label"] > 0]
    metrics = [P @ 5, ptr.Unjudged @ 5]
    result = messages.warned(lambda: ptr.Experiment(frames(), TOPICS, relevant, metrics, **arguments))
    assert (result["P@5"] + result["P@5 unjudged"]).tolist() == pytest.approx([1, 1, 1])
    assert result.attrs["reuse"]["settings"]["beware"] == "judgments of relevant documents only"
    _, _, warned = recorded(ptr.Experiment, frames(), TOPICS, relevant, [P @ 5], reuse="rank")
    assert warned == []


# judgments of a known collection


def namepage(n_topics=150, n_judged=170):
    """Return topics, one system, and judgments with the counts of the named-page task of TREC 2002."""
    rows = [(str(i % n_topics), f"d{i}", 1) for i in range(n_judged)]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    topics = pd.DataFrame({"qid": [str(i) for i in range(n_topics)], "query": "q"})
    run = qrels.drop(columns="label").assign(score=1.0)
    return {"A": run}, topics, pd.concat([qrels])


def test_a_hint_says_how_to_get_the_field(messages):
    arguments = (*namepage(), [nDCG @ 10])
    result, _, warned = recorded(ptr.Experiment, *arguments)
    told = [text for text in warned if "reuse:" in text]
    assert len(told) == 1
    messages.told(told[0])
    hint = result.attrs["reuse"]["hint"]
    assert hint == (
        "these are the judgments of reuse:trec-2002/web/namedpage; "
        'field=pt.get_dataset("reuse:trec-2002/web/namedpage").get_runs() brings its field of 70 runs'
    )
    assert json.loads(json.dumps(result.attrs)) == result.attrs
    # it can be done as it is said
    assert len(pt.get_dataset("reuse:trec-2002/web/namedpage").submitted()) == 70
    # whoever names the columns knows what they want; the hint stays where it can be looked up
    result, _, warned = recorded(ptr.Experiment, *arguments, reuse="rank")
    assert warned == []
    assert result.attrs["reuse"]["hint"] == hint
    messages.warned(lambda: result.reuse_summary())
    # asked for by name, leave-out-uniques brings it with its own warning; a depth of 1 keeps half of the judgments out
    with pytest.warns(CaveatWarning, match='reuse:trec-2002/web/namedpage"'):
        ptr.Experiment(*arguments[:1], arguments[1].head(75), *arguments[2:], reuse="lou", pool_order="file", depth=1)


# pt.Experiment orders by float32 scores, ptr.score by float64 ones: where that makes a difference, it is said


def judged(**labels):
    return pd.DataFrame({"qid": "1", "docno": list(labels), "label": list(labels.values())})


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_it_is_told_where_ptr_score_differs_and_nowhere_else(seed):
    chance = np.random.default_rng(seed)
    docnos = np.array([f"d{i}" for i in range(8)])
    topics = pd.DataFrame({"qid": ["1", "2"], "query": "q"})

    def run():
        parts = []
        for qid in topics["qid"]:
            scores = 1 + chance.integers(0, 4, 8) * chance.choice([1e-12, 1.0], 8)
            parts.append(pd.DataFrame({"qid": qid, "docno": chance.permutation(docnos), "score": scores}))
        return pd.concat(parts, ignore_index=True)

    systems = {name: run() for name in "AB"}
    rows = [
        (qid, docno, int(label))
        for qid in topics["qid"]
        for docno, label in zip(docnos, chance.integers(-1, 3, 8), strict=True)
    ]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    measures = [AP, P @ 2, nDCG @ 3]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ptr.Experiment(systems, topics, qrels, measures)
    mine = [str(w.message) for w in caught if issubclass(w.category, ReuseWarning) and "float32" in str(w.message)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = [*measures, ptr.Unjudged, ptr.Unjudged @ 2, ptr.Unjudged @ 3]
        usual_runs = ptr.RunSet.from_frames(systems)
        usual = ptr.score(usual_runs, qrels, shown)
        here = ptr.score(result.runs, qrels, shown)
        ends = [score_bounds(runs, as_qrels(qrels), measures) for runs in (usual_runs, result.runs)]
    differ = (usual.values != here.values).any(axis=0)
    if not differ.any():
        moved = [np.abs(getattr(ends[0], end) - getattr(ends[1], end)) > 1e-9 for end in ("low", "high")]
        differ = np.concatenate(moved).any(axis=0)
    assert len(mine) == int(differ.any())
    for name, n in zip("AB", differ.sum(axis=0), strict=True):
        assert not mine or (f"{name!r} on {n} topic" in mine[0]) == bool(n)
    for measure in measures:
        assert result[str(measure)].tolist() == pytest.approx(here.mean[str(measure)].tolist())


def test_what_is_not_judged_at_all_or_not_there_is_told(messages):
    strange = {"A": FIELD.runs[NAMES[0]].assign(docno=lambda frame: "x" + frame["docno"])}
    result = messages.warned(lambda: ptr.Experiment(strange, TOPICS, QRELS, [nDCG @ 10], field=OTHERS))
    assert result["nDCG@10 unjudged"].tolist() == [1.0]
    assert "1 run without a judged document" in result.attrs["reuse"]["settings"]["beware"].split("; ")
    half = {"A": FIELD.runs[NAMES[0]], "B": FIELD.runs[NAMES[1]]}
    half["B"] = half["B"][half["B"]["qid"].isin(TOPICS["qid"][:3])]
    messages.warned(lambda: ptr.Experiment(half, TOPICS, QRELS, [nDCG @ 10], field=OTHERS))
    # of the topics that are asked
    messages.warned(lambda: ptr.Experiment(half, TOPICS[:3], QRELS, [nDCG @ 10], field=OTHERS), times=0)
