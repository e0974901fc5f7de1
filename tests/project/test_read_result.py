"""What a result is saved as reads back equal: every table, array, setting and attribute, whatever stands in them."""

from __future__ import annotations

import csv
import math
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import assert_same
from saved_parts import whole

from pt_reuse._saving import read_result
from pt_reuse.collections.own_files import read_rows, reading
from pt_reuse.data.metadata import read_metadata
from pt_reuse.demo.simulated import simulate_field
from pt_reuse.errors import InputError
from pt_reuse.result import Result
from pt_reuse.scoring.judge_folder import read_judges
from pt_reuse.verification.verification import verify


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


def test_equal_results_are_equal_files_at_any_time(tmp_path, monkeypatch):
    written = []
    for year in (2001, 2031):
        monkeypatch.setattr(time, "localtime", lambda *_, year=year: time.struct_time((year, 1, 1, 0, 0, 0, 0, 1, 0)))
        whole().save(tmp_path / str(year))
        written.append({path.name: path.read_bytes() for path in (tmp_path / str(year)).iterdir()})
    assert written[0] == written[1]


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


@settings(deadline=None, max_examples=50)
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


# the package's own results


@pytest.fixture(scope="module")
def field():
    return simulate_field(seed=4, n_topics=5, n_docs=200, n_teams=4, length=30)


def test_a_simulated_field(tmp_path):
    field = simulate_field(seed=3, n_topics=2, n_docs=30, n_teams=3, length=5, depth=2)
    field.save(tmp_path)
    again = read_result(tmp_path)
    assert_same(field, again)
    assert repr(again) == repr(field)
    assert_same(again.runs.run_table, field.runs.run_table)
    for order in ("trec_eval", "rank", "file"):
        assert_same(again.runs.reorder(order).to_frame(), field.runs.reorder(order).to_frame())
    for judgments in ("qrels", "all_qrels"):
        assert_same(getattr(again, judgments).to_frame(), getattr(field, judgments).to_frame())
    assert again.settings == {"seed": 3, "n_topics": 2, "n_docs": 30, "n_teams": 3, "length": 5, "depth": 2}


# CSV of others

LONG = "x" * 200_000


def read_corpus(folder):
    (folder / "docs.csv").write_text(f'id,text\nd1,"{LONG}"\n')
    with reading(folder / "docs.csv") as file:
        return [row["text"] for row in read_rows(file, "csv", ["id"], ["id", "text"])]


def read_metadata_file(folder):
    (folder / "m.csv").write_text(f'name,note\na,"{LONG}"\n')
    return read_metadata(folder / "m.csv")["note"].tolist()


def read_families(folder):
    (folder / "a.qrels").write_text("1 0 d1 1\n1 0 d2 0\n")
    (folder / "judges.csv").write_text(f'name,family\na,"{LONG}"\n')
    return list(read_judges(folder).families.values())


@pytest.mark.parametrize("read", [read_corpus, read_metadata_file, read_families])
def test_long_cells_of_others_are_read_whatever_the_library_s_limit_is(tmp_path, read):
    before = csv.field_size_limit()
    assert before < len(LONG)
    assert read(tmp_path) == [LONG]
    assert csv.field_size_limit() == before


def test_a_published_value_is_no_long_cell(tmp_path):
    (tmp_path / "x.csv").write_text(f'name,map\na,"{LONG}"\n')
    (tmp_path / "mine.toml").write_text(
        'collection = "mine"\ntitle = "Mine"\n[[figure]]\nwhat = "AP"\nkind = "scores"\nmeasure = "AP"\n'
        'file = "x.csv"\ncolumn = "map"\nsource = "nowhere"\n'
    )
    with pytest.raises(InputError):
        verify("mine", figures=tmp_path / "mine.toml")
