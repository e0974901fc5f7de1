"""What ptr.Experiment says of columns that are not what they seem, and which it adds by default."""

from __future__ import annotations

import json

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import (
    ALL,
    NAMES,
    NO_FIELD,
    OTHERS,
    QRELS,
    TOPICS,
    frames,
    recorded,
)
from ir_measures import AP, P, nDCG

import pt_reuse as ptr
from pt_reuse.experiment.columns import RANKS, hint_of
from pt_reuse.scoring.caveats import CaveatWarning

QUIET = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def experiment(**arguments):
    given = {"field": OTHERS, "depth": 8, **arguments}
    return ptr.Experiment(frames(), TOPICS, QRELS, [AP], **given)


# the columns by default


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
        ({"reuse": "rank"}, 0, None),
        ({"reuse": "lou"}, 1, "beware"),
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
    assert ("unjudged." in " ".join(result.report().notes)) is (noted == "beware")


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
    messages.warned(lambda: ptr.reuse_summary(result))
    # asked for by name, leave-out-uniques brings it with its own warning; a depth of 1 keeps half of the judgments out
    with pytest.warns(CaveatWarning, match='reuse:trec-2002/web/namedpage"'):
        ptr.Experiment(*arguments[:1], arguments[1].head(75), *arguments[2:], reuse="lou", pool_order="file", depth=1)


def test_other_judgments_get_none():
    assert ptr.Experiment(frames(), TOPICS, QRELS, [AP]).attrs["reuse"]["hint"] == ""
    _, _, qrels = namepage()
    assert hint_of(qrels)
    assert not hint_of(qrels.iloc[:-1])
    assert not hint_of(qrels.assign(label=[0, *[1] * 169]))
    assert not hint_of(qrels.assign(qid="1"))
    assert experiment().attrs["reuse"]["hint"] == ""
