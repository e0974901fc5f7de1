"""The table of all collections."""

from __future__ import annotations

import numpy as np
import pyterrier as pt

import pt_reuse as ptr


def test_list_collections(messages, trec8_home):
    table = ptr.list_collections("trec-8 ad hoc")
    row = table.iloc[0]
    assert (row["name"], row["year"], row["topics"], row["judged"]) == ("trec-8/adhoc", 1999, 50, 86830)
    assert (row["runs"], row["teams"], row["pooled"], row["here"]) == (129, 41, 71, 4)
    assert (row["irds"], row["published"]) == ("disks45/nocr/trec8", "password")
    assert set(ptr.list_collections("deep learning")["year"]) == {2019, 2020, 2021, 2022, 2023}
    # of the names, all are distinct and known to PyTerrier
    every = ptr.list_collections()
    assert every["name"].is_unique
    known = pt.datasets.list_datasets(en_only=False)["dataset"]
    assert {f"reuse:{name}" for name in every["name"]} <= set(known)
    assert {"irds:disks45/nocr/trec8", "vaswani"} <= set(known)
    assert ptr.list_collections(here=True)["name"].tolist() == ["demo", "trec-8/adhoc"]
    assert ptr.list_collections("no such thing").empty
    assert set(ptr.list_collections(2019)["year"]) == {2019}
    assert len(ptr.list_collections(2019)) == 7
    assert ptr.list_collections(np.int64(2025))["name"].equals(ptr.list_collections(2025)["name"])
    assert ptr.list_collections(1234).empty
    assert ptr.list_collections("robust04")["name"].tolist() == ["trec-2004/robust"]
    for wrong in (True, 2019.0, None, ["2019"]):
        messages.refused(ptr.list_collections, search=wrong)


def test_one_odd_folder_does_not_keep_the_others_from_being_listed(messages, home):
    folder = home / "trec-covid" / "round2"
    folder.mkdir(parents=True)
    for name in ("qrels", "qrels.txt"):
        (folder / name).write_text("1 0 x 0\n")
    table = messages.warned(lambda: ptr.list_collections("trec-8 ad hoc"))
    assert len(table) == 1
