"""The table of submitted runs: the types on record, and one's own over them."""

from __future__ import annotations

import pandas as pd
from collection_parts import offline, write_run

import pt_reuse as ptr


def test_own_types_over_those_on_record(messages, trec8_home, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("name,type\n1,traditional\nREADWARE,interactive\n")
    runs = offline().get_runs(types=mine, missing="ignore")
    table = runs.run_table.set_index("name")
    assert table["type"].tolist() == ["traditional", "manual", "automatic", "interactive"]
    assert table["type_source"].tolist() == [str(mine), "catalogue", "catalogue", str(mine)]
    assert offline().get_runs(types=mine, type="interactive").names == ["READWARE"]
    messages.warned(lambda: offline().submitted(types={"1": "x", "nobody": "y"}))


def test_types_in_a_frame_may_be_called_as_in_a_file(home):
    types = pd.DataFrame({"run": ["1"], "type": ["traditional"]})
    assert offline().submitted(types=types).set_index("name").loc["1", "type"] == "traditional"


def test_own_types_over_those_of_a_definition(home, tmp_path):
    for name in ("one", "two"):
        write_run(tmp_path / "mine" / name, name)
    ds = ptr.register_collection("mine", runs=tmp_path / "mine", types={"one": "lexical", "two": "neural"})
    table = ds.get_runs(types={"two": "dense"}).run_table
    assert table["type"].tolist() == ["lexical", "dense"]
    assert table["type_source"].tolist() == ["definition", "given"]


def test_official_types_stay(home):
    core = offline("trec-2018/core").submitted()
    assert set(core["official_type"]) == {"automatic", "relauto", "manual"}
    assert set(core.loc[core["official_type"] == "relauto", "type"]) == {"feedback"}


def test_what_is_submitted_cannot_be_changed_by_accident(home):
    frame = offline().submitted()
    frame["team"] = "x"
    assert offline().submitted()["team"].nunique() == 41
