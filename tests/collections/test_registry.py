"""Collections by name: the catalogue's, and those of the user that can be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.collections import definition


def test_unknown_names_say_what_is_near(messages):
    """PyTerrier has words of its own for a KeyError of a provider; ours are the last that the user sees."""
    for name in ("trec-9/adhoc", "wrong"):
        with pytest.raises(KeyError) as error:
            pt.get_dataset(f"reuse:{name}")
        messages.told(error.value)
        assert isinstance(error.value, ptr.InputError)
        assert error.value.__cause__ is None
    with pytest.raises(KeyError, match="missing provider"):
        pt.get_dataset("reus:trec-8/adhoc")
    messages.refused(lambda: definition.find_collection(8))


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("trec-9/adhoc", "trec-8/adhoc"), ("robust99", "trec-2004/robust"),
        ("dl-2019-psgs", "trec-2019/deep/passages"), ("covid round", "trec-covid/round5"),
        ("msmarco-passage/trec-dl-2019/judge", "trec-2019/deep/passages"), ("core 2016", "trec-2017/core"),
    ],
)  # fmt: skip
def test_near_names(wanted, near):
    with pytest.raises(definition.UnknownCollectionError) as error:
        definition.find_collection(wanted)
    told = str(error.value)
    assert f"'reuse:{near}'" in told[told.index("Did you mean") :]


def test_a_failed_registration_leaves_nothing(messages, home):
    messages.refused(lambda: ptr.register_collection("ref/x", topics="irds:reuse/nope"))
    assert "ref/x" not in definition.collection_names()
    ptr.register_collection("ref/x", topics="irds:reuse/demo")
    # the same again is no error, another is
    ptr.register_collection("ref/x", topics="irds:reuse/demo")
    messages.refused(lambda: ptr.register_collection("ref/x", qrels="irds:reuse/demo"))
    ptr.register_collection("ref/y", topics="irds:reuse/ref/x")
    messages.refused(lambda: ptr.register_collection("ref/x", topics="irds:reuse/ref/y", overwrite=True))
    assert definition.find_collection("ref/x").topics == "irds:reuse/demo"


BROKEN = {
    "an absurd year": "year = 999999999999999999999",
    "a number of many digits": f"year = {'9' * 5000}",
    "lists in lists": f"topics = {'[' * 5000}",
    "a home of nobody": 'topics = "~nobody-of-that-name/topics.tsv"',
}


def test_broken_definitions_leave_the_others(home):
    folder = home / "collections"
    folder.mkdir(parents=True)
    (folder / "a.toml").write_text('name = "fine/one"\ntopics = "irds:reuse/demo"\nyear = 2024\n')
    for i, text in enumerate(BROKEN.values()):
        (folder / f"b{i}.toml").write_text(f'name = "broken/{i}"\n{text}\n')
    (folder / "c.toml").write_text('name = "fine/two"\ntopics = "irds:reuse/demo"\n')
    with pytest.warns(ptr.ReuseWarning) as caught:
        table = ptr.list_collections("fine/")
    assert len(caught) == len(BROKEN)
    for i, one in enumerate(caught):
        assert f"b{i}.toml" in str(one.message)
        assert len(str(one.message)) < 500
    assert table[["name", "year"]].to_numpy().tolist() == [["fine/one", 2024], ["fine/two", pd.NA]]
    assert "trec-8/adhoc" in definition.collection_names()
    with pytest.raises(definition.UnknownCollectionError):
        definition.find_collection("broken/1")


def test_list_collections(messages, trec8_home):
    table = ptr.list_collections("trec-8 ad hoc")
    row = table.iloc[0]
    assert (row["name"], row["year"], row["topics"], row["judged"]) == ("trec-8/adhoc", 1999, 50, 86830)
    assert (row["runs"], row["teams"], row["pooled"], row["here"]) == (129, 41, 71, 4)
    assert (row["irds"], row["published"]) == ("disks45/nocr/trec8", "password")
    # of the names, all are distinct and known to PyTerrier
    every = ptr.list_collections()
    assert every["name"].is_unique
    known = pt.datasets.list_datasets(en_only=False)["dataset"]
    assert {f"reuse:{name}" for name in every["name"]} <= set(known)
    assert {"irds:disks45/nocr/trec8", "vaswani"} <= set(known)
    assert ptr.list_collections(here=True)["name"].tolist() == ["demo", "trec-8/adhoc"]
    assert ptr.list_collections("no such thing").empty
    assert ptr.list_collections(np.int64(2019))["year"].tolist() == [2019] * 7
    assert ptr.list_collections("robust04")["name"].tolist() == ["trec-2004/robust"]
    for wrong in (True, 2019.0, None, ["2019"]):
        messages.refused(ptr.list_collections, search=wrong)
