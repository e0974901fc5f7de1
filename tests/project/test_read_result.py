"""What a result is saved as reads back equal: every table, array, setting and attribute, whatever stands in them."""

from __future__ import annotations

import json
import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, Bpref, P, infAP
from same import assert_same

from pt_reuse._errors import InputError
from pt_reuse._result import ARRAYS, CONTENTS, Result, read_result
from pt_reuse.demo.simulated import simulate_field
from pt_reuse.scoring.run_scores import score
from pt_reuse.studies.pool_inference.inference import infer_pool
from pt_reuse.studies.uniques import leave_out_uniques
from pt_reuse.verification.verification import verify


class Kind(Enum):
    ONE = "one"
    OTHER = "other"


@dataclass(frozen=True)
class Part:
    names: tuple[str, ...]
    of_run: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Whole(Result):
    """A result with a field of every kind."""

    frame: pd.DataFrame
    part: Part
    parts: list[Part]
    kind: Kind | None
    values: np.ndarray
    words: np.ndarray
    number: float
    listed: list[str]
    pair: tuple[int, str]
    by_name: dict[str, float]

    def tables(self):
        return {"table": self.table, "odd name": self.frame, "derived": self.table.head(1)}


ODD = [
    "a,b",
    'say "x"',
    "two\nlines",
    "one\r",
    "\r\n",
    "",
    " ",
    "é",
    "\udcff",
    "None",
    "nan",
    "NaN",
    "1",
    "True",
    "<NA>",
]


def odd_frame():
    n = len(ODD)
    cells = np.empty(n, dtype=object)
    cells[:] = [None, math.nan, pd.NA, True, False, 3, 0.1, "text", "", "None", -(2**70), np.int64(4), "x", "y", 1e300]
    return pd.DataFrame(
        {
            "text": pd.Series(ODD, dtype=object),
            "mixed": cells,
            "float": [0.1, math.nan, math.inf, -math.inf, -0.0, 5e-324, *range(n - 6)],
            "int": np.arange(n),
            "small": np.arange(n, dtype=np.uint8),
            "bool": np.arange(n) % 2 == 0,
            "some": pd.array([1, None] * (n // 2) + [3], dtype="Int64"),
            "maybe": pd.array([True, None, False] * (n // 3), dtype="boolean"),
            "none": np.full(n, None, dtype=object),
            "strings": pd.Series([*ODD[:-1], None], dtype=object),
            'q"u,o\nte': pd.Series(ODD[::-1], dtype=object),
            "single": np.linspace(0, 1, n, dtype=np.float32),
        }
    )


def whole(**changes):
    given_fields = {
        "table": odd_frame(),
        "settings": {"depth": np.int64(3), "share": math.nan, "who": "ü\udcff", "none": None, "list": [1, "a"]},
        "frame": odd_frame()[["mixed"]],
        "part": Part(("a", "b"), np.array([1, 0])),
        "parts": [Part((), np.zeros(0))],
        "kind": Kind.OTHER,
        "values": np.random.default_rng(0).random((2, 3, 4)),
        "words": np.array(["a", None], dtype=object),
        "number": math.inf,
        "listed": ["x", "\n"],
        "pair": (1, "b"),
        "by_name": {"a": 0.1, "b": math.nan},
    }
    return Whole(**given_fields | changes)


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


def test_settings_that_json_does_not_know_are_texts(tmp_path):
    Result(table=pd.DataFrame({"a": [1]}), settings={"path": tmp_path}).save(tmp_path / "new")
    assert read_result(tmp_path / "new").settings == {"path": str(tmp_path)}


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


def test_scores(field, tmp_path):
    scores = score(field.runs, field.qrels, [AP, P @ 5, infAP], complete=False)
    written = scores.save(tmp_path)
    assert [path.name for path in written] == [
        "mean.csv",
        "ranks.csv",
        "run_table.csv",
        "settings.json",
        "arrays.npz",
        "result.json",
    ]
    again = read_result(tmp_path)
    assert_same(scores, again)
    for name in ("mean", "ranks", "per_topic"):
        assert_same(getattr(scores, name), getattr(again, name))
    assert_same(scores.compare(again), again.compare(scores))
    assert repr(again) == repr(scores)


@pytest.mark.parametrize("by", ["team", "run", "type"])
def test_leave_out_uniques(field, tmp_path, by):
    lou = leave_out_uniques(field.runs, field.qrels, [AP, Bpref], by=by, depth=field.depth, remove="judged")
    lou.save(tmp_path)
    again = read_result(tmp_path)
    assert_same(lou, again)
    assert_same(lou.whole_field(), again.whole_field())
    assert str(lou) == str(again)
    assert lou._repr_html_() == again._repr_html_()


def test_agreement_inferred_pool_and_verification(field, tmp_path):
    truth, other = (score(field.runs, qrels, [AP]) for qrels in (field.all_qrels, field.qrels))
    figures = tmp_path / "mine.toml"
    figures.write_text(
        'collection = "mine"\ntitle = "Mine"\n[[figure]]\nwhat = "AP"\nkind = "scores"\nmeasure = "AP"\n'
        f'values = {{ {field.runs.names[0]} = "0.4242", nobody = "0.1" }}\nsource = "nowhere"\n'
    )
    found = [
        truth.compare(other),
        truth.compare(other, names=("complete", "depth-10 pool")),
        infer_pool(field.runs, field.qrels),
        verify("mine", runs=field.runs, qrels=field.qrels, figures=figures),
    ]
    for number, result in enumerate(found):
        folder = tmp_path / str(number)
        result.save(folder)
        again = read_result(folder)
        assert type(again) is type(result)
        assert_same(result, again)
        assert str(again) == str(result)


# folders that are no result


@pytest.fixture
def folder(tmp_path):
    whole().save(tmp_path / "saved")
    return tmp_path / "saved"


def edit(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_a_newer_version(folder, messages):
    edit(folder / CONTENTS, format=99)
    messages.refused(lambda: read_result(folder), argument="folder", place="{d}/saved")


def test_an_unknown_kind(folder, messages):
    edit(folder / CONTENTS, kind="Nothing")
    messages.refused(lambda: read_result(folder), place="{d}/saved")


def test_a_record_of_another_version(folder, messages):
    contents = json.loads((folder / CONTENTS).read_text())
    fields = contents["fields"]
    for changed in (
        {name: value for name, value in fields.items() if name != "table"},
        {**fields, "table_of_old": 1},
        {"new": 2, **{name: value for name, value in fields.items() if name != "table"}},
    ):
        (folder / CONTENTS).write_text(json.dumps({**contents, "fields": changed}))
        messages.refused(lambda: read_result(folder), place="{d}/saved")


def test_no_folder(tmp_path, messages):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name in ("missing", "file", "empty"):
        messages.refused(lambda name=name: read_result(tmp_path / name), argument="folder", place=f"{{d}}/{name}")
    for odd in (None, "", "a\0b"):
        messages.refused(lambda odd=odd: read_result(odd), argument="folder")


def test_a_table_that_was_cut(folder, messages):
    path = folder / "table.csv"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    messages.refused(lambda: read_result(folder), place="{d}/saved, table.csv")


@pytest.mark.parametrize("damage", ["[]", "{", "null", '{"format": 1}', '{"format": "1", "kind": 2, "fields": []}'])
def test_damaged_contents(folder, damage):
    (folder / CONTENTS).write_text(damage)
    with pytest.raises(InputError) as error:
        read_result(folder)
    assert error.value.argument == "folder"


@pytest.mark.parametrize("name", ["table.csv", ARRAYS])
def test_a_missing_file(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError):
        read_result(folder)


def test_arrays_are_never_unpickled(folder):
    np.savez(folder / ARRAYS, values=np.array([{}], dtype=object))
    with pytest.raises(InputError):
        read_result(folder)


def test_what_cannot_be_written_leaves_the_result_as_it_was(messages, folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pt_reuse._files.os.replace", full)
    messages.refused(lambda: whole().save(folder, overwrite=True), argument="folder")
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_until_all_is_written_there_is_no_result(folder, monkeypatch):
    there, replace = [], os.replace

    def look(*arguments):
        there.append((folder / "result.json").exists())
        replace(*arguments)

    monkeypatch.setattr("pt_reuse._files.os.replace", look)
    names = [path.name for path in whole().save(folder, overwrite=True)]
    assert names[-1] == "result.json"
    assert there == [False] * len(names)
    assert read_result(folder).table.equals(whole().table)


@pytest.mark.parametrize("cell", [b"x", [1], 1j, "a\ud800"], ids=["bytes", "list", "complex", "surrogate"])
def test_a_cell_that_cannot_be_saved(cell, tmp_path, messages):
    cells = np.empty(1, dtype=object)
    cells[0] = cell
    messages.refused(
        Result(table=pd.DataFrame({"a": pd.Series(cells, dtype=object)}), settings={}).save, folder=tmp_path / "new"
    )
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("depth", [50, 500, 900, 5000, 100_000])
@pytest.mark.parametrize("place", ["all of it", "a field"])
def test_a_deep_record(depth, place, folder):
    # no snapshot: how deep Python goes differs between versions
    deep = '{"list": [' * depth + "1" + "]}" * depth
    contents = json.loads((folder / "result.json").read_bytes())
    contents["fields"]["table"] = "DEEP"
    text = deep if place == "all of it" else json.dumps(contents).replace('"DEEP"', deep)
    (folder / "result.json").write_text(text)
    with suppress(InputError):
        read_result(folder)


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x03\x04" + bytes(100), b"\x93NUMPY\x01\x00v\x00{" + b"(" * 400])
def test_arrays_that_are_none(data, folder):
    # no snapshot: numpy words this in several ways
    (folder / "arrays.npz").write_bytes(data)
    with pytest.raises(InputError, match="Save the result anew"):
        read_result(folder)
