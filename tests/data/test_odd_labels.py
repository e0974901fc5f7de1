"""What stands beside runs, oddly: flags, columns of names, cells and notes of tables, headers, encrypted archives."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.data.metadata import header_of
from pt_reuse.data.parsing import memory_bytes

RUN = "1 Q0 d1 1 2.0 a\n1 Q0 d2 2 1.0 a\n"


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "runs").mkdir()
    for name in "ab":
        (tmp_path / "runs" / name).write_text(RUN.replace(" a\n", f" {name}\n"))
    return tmp_path / "runs"


def test_a_flag_in_a_file_that_is_none_tells_its_line(runs, tmp_path):
    (tmp_path / "pooled").write_text("a yes\nb perhaps\n")
    with pytest.raises(ptr.InputError, match=r"pooled, line 2.*'perhaps'"):
        ptr.read_runs(runs, pooled=tmp_path / "pooled")


def test_metadata_name_their_columns(runs):
    with pytest.raises(ptr.InputError, match="no column 'name'"):
        ptr.read_runs(runs, metadata=pd.DataFrame({"Run": ["a", "b"], "Team": ["x", "y"]}))
    found = ptr.read_runs(runs, teams=pd.DataFrame({"Run": ["a", "b"], "team": ["x", "y"]}))
    assert found.run_table["team"].tolist() == ["x", "y"]


def test_a_table_keeps_empty_cells_and_is_not_changed_unnoticed(runs, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    metadata = pd.DataFrame({"name": ["a", "b"], "team": ["x", None], "note": [None, 1.5], "when": pd.Timestamp(0)})
    with pytest.warns(UserWarning, match="without a team"):
        field = ptr.read_runs(runs, metadata=metadata)
    path = field.write_table(tmp_path / "t.parquet")
    table = pq.read_table(path)
    _, text = json.loads(table.schema.metadata[b"pt_reuse"])
    written = json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert [run["note"] for run in written["runs"]] == [None, 1.5]
    assert ptr.read_runs(path).run_table["team"].tolist() == ["x", None]
    for notes in (b'["0", "{}"]', table.schema.metadata[b"pt_reuse"].replace(b"x", b"y"), b"[1, 2]", b'{"order": 1}'):
        pq.write_table(table.replace_schema_metadata({b"pt_reuse": notes}), path)
        with pytest.warns(UserWarning, match="left aside"):
            assert ptr.read_runs(path).run_table["team"].isna().all()


def test_headers_with_keys_that_are_no_text(tmp_path):
    about = ["# ir_metadata.start", "# 2020-01-01: x", "# [a, b]: y", "# actor:", "#   team: <<", "# ir_metadata.end"]
    (tmp_path / "a").write_text("\n".join(about) + "\n" + RUN)
    assert header_of(tmp_path / "a") == {"team": "<<"}


def test_memory_needs_a_unit_before_ib():
    assert memory_bytes("100000000B") == 10**8
    assert memory_bytes("1 GiB") == 2**30
    with pytest.raises(ptr.InputError, match="memory must be"):
        memory_bytes("100000000iB")
