"""Collections by name: the catalogue's, and those of the user that can be used."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.collections import registry


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
    messages.refused(lambda: registry.find_collection(8))


def test_an_unknown_name_is_told_as_the_last_line_of_an_interpreter():
    code = "import pyterrier as pt; pt.get_dataset('reuse:dl-91')"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = finished.stderr.strip().splitlines()[-1]
    assert last.startswith("pt_reuse.collections.registry.UnknownCollectionError: no collection 'reuse:dl-91'. Did you")
    assert "'reuse:trec-2019/deep/passages'" in last


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("trec-9/adhoc", "trec-8/adhoc"), ("robust99", "trec-2004/robust"), ("trec28/deep", "trec-2019/deep/docs"),
        ("dl-2019-psgs", "trec-2019/deep/passages"), ("covid round", "trec-covid/round5"),
        ("msmarco-passage/trec-dl-2019/judge", "trec-2019/deep/passages"), ("core 2016", "trec-2017/core"),
        ("trec-2013/web/risk", "trec-2013/web/adhoc"),
    ],
)  # fmt: skip
def test_near_names(wanted, near):
    with pytest.raises(registry.UnknownCollectionError) as error:
        registry.find_collection(wanted)
    told = str(error.value)
    assert f"'reuse:{near}'" in told[told.index("Did you mean") :]


def test_a_failed_registration_leaves_nothing(messages, home):
    messages.refused(lambda: ptr.register_collection("ref/x", topics="irds:reuse/nope"))
    assert "ref/x" not in registry.collection_names()
    ptr.register_collection("ref/x", topics="irds:reuse/demo")
    # the same again is no error, another is
    ptr.register_collection("ref/x", topics="irds:reuse/demo")
    messages.refused(lambda: ptr.register_collection("ref/x", qrels="irds:reuse/demo"))
    ptr.register_collection("ref/y", topics="irds:reuse/ref/x")
    messages.refused(lambda: ptr.register_collection("ref/x", topics="irds:reuse/ref/y", overwrite=True))
    assert registry.find_collection("ref/x").topics == "irds:reuse/demo"


def test_definitions_in_the_users_folder_that_cannot_be_used_are_left_out(messages, home):
    folder = home / "collections"
    folder.mkdir(parents=True)
    (folder / "a.toml").write_text('name = "same"\ntopics = "irds:reuse/demo"\n')
    (folder / "b.toml").write_text('name = "same"\nqrels = "irds:reuse/demo"\n')
    (folder / "c.toml").write_text('name = "lost"\nqrels = "irds:reuse/gone"\n')
    (folder / "d.toml").write_text('name = "demo"\n')
    (folder / "e.toml").write_text("name = \n")
    with pytest.warns(ptr.ReuseWarning) as caught:
        names = registry.collection_names()
    assert "same" in names
    assert "lost" not in names
    told = " ".join(str(warning.message) for warning in caught)
    assert f"{folder / 'a.toml'} has the name 'same', too" in told
    assert "no such collection" in told
    assert "is one of the package's" in told
    assert "no TOML" in told
    # told once, however often names are looked up
    messages.refused(lambda: ptr.register_collection("same", qrels="irds:reuse/demo"))


def test_folders_that_cannot_be(messages, monkeypatch, tmp_path):
    monkeypatch.setenv("PT_REUSE_HOME", "~nobody-of-that-name/x")
    messages.refused(lambda: registry.find_collection("trec-8/adhoc"))
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.setenv("PT_REUSE_DATA", str(tmp_path / "gone"))
    messages.warned(lambda: registry.find_collection("trec-8/adhoc"))


BROKEN = {
    "an absurd year": "year = 999999999999999999999",
    "a year before Christ": "year = -44",
    "a year of five digits": "year = 12024",
    "a number of many digits": f"year = {'9' * 5000}",
    "a long number in hexadecimal": f"note = 0x{'f' * 5000}",
    "lists in lists": f"topics = {'[' * 5000}",
    "tables in tables": f"sources = {'{a = ' * 300}1{'}' * 300}",
    "a home of nobody": 'topics = "~nobody-of-that-name/topics.tsv"',
}


@pytest.mark.parametrize("broken", BROKEN)
def test_one_broken_definition_leaves_the_others(broken, home):
    # no snapshot: Python's own words differ between versions
    folder = home / "collections"
    folder.mkdir(parents=True)
    (folder / "a.toml").write_text('name = "fine/one"\ntopics = "irds:reuse/demo"\nyear = 2024\n')
    (folder / "b.toml").write_text(f'name = "broken/one"\n{BROKEN[broken]}\n')
    (folder / "c.toml").write_text('name = "fine/two"\ntopics = "irds:reuse/demo"\n')
    with pytest.warns(ptr.ReuseWarning) as caught:
        table = ptr.list_collections("fine/")
    assert len(caught) == 1
    assert "b.toml" in str(caught[0].message)
    assert len(str(caught[0].message)) < 500
    assert table[["name", "year"]].to_numpy().tolist() == [["fine/one", 2024], ["fine/two", pd.NA]]
    assert "trec-8/adhoc" in registry.collection_names()
    with pytest.raises(registry.UnknownCollectionError):
        registry.find_collection("broken/one")
