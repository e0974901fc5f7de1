"""What a result is saved as reads back equal: every table, array, setting and attribute, whatever stands in them."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same import assert_same
from saved_parts import whole

from pt_reuse._saving import read_result
from pt_reuse.collections.own_files import read_rows, reading
from pt_reuse.data.metadata import read_metadata
from pt_reuse.result import Result


def test_every_kind_of_field_and_cell(tmp_path):
    saved = whole()
    names = [path.name for path in saved.save(tmp_path)]
    assert names == ["table.csv", "odd name.csv", "derived.csv", "settings.json", "arrays.npz", "result.json"]
    assert_same(saved, read_result(tmp_path))
    assert_same(saved, read_result(str(tmp_path)))
    # saved anew, the files are the same
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    read_result(tmp_path).save(tmp_path, overwrite=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(),
        pd.DataFrame(index=range(3)),
        pd.DataFrame({"a": []}),
        pd.DataFrame({"a": pd.Series([], dtype=object), "b": pd.Series([], dtype=np.int64)}),
        pd.DataFrame({"a": [None, None]}),
        pd.DataFrame({"a": [""]}),
        pd.DataFrame({"a": [math.nan]}),
        pd.DataFrame([[1, "x"]], columns=[0, 1]),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
    ],
)
def test_small_and_empty_tables(table, tmp_path):
    Result(table=table, settings={}).save(tmp_path)
    assert_same(table, read_result(tmp_path).table)


#: any character, and what Python makes of a byte that is not UTF-8
TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.just("\udcff")), max_size=5)
CELLS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.just(pd.NA), TEXTS)


@given(st.lists(st.tuples(CELLS, st.text(max_size=4), st.floats()), max_size=6))
def test_any_cell(tmp_path_factory, rows):
    table = pd.DataFrame(
        {
            "mixed": pd.Series([row[0] for row in rows], dtype=object),
            "text": [row[1] for row in rows],
            "float": np.array([row[2] for row in rows], dtype=float),
        }
    )
    folder = tmp_path_factory.mktemp("any")
    Result(table=table, settings={}).save(folder)
    assert_same(table, read_result(folder).table)


# CSV of others

LONG = "x" * 200_000


def read_corpus(folder):
    (folder / "docs.csv").write_text(f'id,text\nd1,"{LONG}"\n')
    with reading(folder / "docs.csv") as file:
        return [row["text"] for row in read_rows(file, "csv", ["id"], ["id", "text"])]


def read_metadata_file(folder):
    (folder / "m.csv").write_text(f'name,note\na,"{LONG}"\n')
    return read_metadata(folder / "m.csv")["note"].tolist()


@pytest.mark.parametrize("read", [read_corpus, read_metadata_file])
def test_long_cells_of_others_are_read_whatever_the_library_s_limit_is(tmp_path, read):
    before = csv.field_size_limit()
    assert before < len(LONG)
    assert read(tmp_path) == [LONG]
    assert csv.field_size_limit() == before


def test_results_that_pages_show_are_read_and_printed():
    for folder in sorted((Path(__file__).parents[2] / "docs" / "papers" / "stored").iterdir()):
        found = read_result(folder)
        assert found.heading() in " ".join(str(found).split())
        assert found.report().notes, folder
