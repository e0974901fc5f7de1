"""Tables that were cut off or altered: refused in words, or read as they are; the process goes on."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pandas as pd
import pytest
from faults import altered
from table_parts import KINDS, pa, put, table_of

from pt_reuse._choices import ORDERS
from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.data.packed_files import kind_of_table
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet

ROWS = [(str(t), f"d{i}", 1 / (i + 3), i, name) for t in range(3) for name in "ab" for i in range(12)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["string", "dictionary", "view"])
def test_altered_files_are_refused_in_words_or_read(kind, text, tmp_path):
    whole = put(tmp_path / "whole", table_of(ROWS, text=text), kind=kind, rows=10).read_bytes()
    found = {"read": 0, "refused": 0}
    for seed in range(60):
        chance = random.Random(f"{kind} {text} {seed}")
        (tmp_path / "f").write_bytes(altered(whole, chance))
        order, how = chance.choice(list(ORDERS)), chance.choice(["error", "skip"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReuseWarning)
            try:
                runs = read_runs(tmp_path / "f", order=order, bad_lines=how, duplicates="best")
            except InputError:
                found["refused"] += 1
            else:
                assert np.isfinite(runs.field.scores).all()
                found["read"] += 1
    assert found["refused"] > 20


def test_parquet_of_ours_never_gives_other_rows(tmp_path):
    frames = {
        name: pd.DataFrame([row[:4] for row in ROWS if row[4] == name], columns=["qid", "docno", "score", "rank"])
        for name in "ab"
    }
    runs = RunSet.from_frames(frames)
    whole = runs.write_table(tmp_path / "whole.parquet").read_bytes()
    rows_end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refused = 0
    for at in range(4, rows_end, 3):
        data = bytearray(whole)
        data[at] ^= 1 << (at % 8)
        (tmp_path / "f.parquet").write_bytes(data)
        try:
            assert read_runs(tmp_path / "f.parquet").to_frame().equals(runs.to_frame()), at
        except InputError:
            refused += 1
    # pages have checksums; what is read all the same is an index that nobody asks
    assert refused > 0.5 * len(range(4, rows_end, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_was_cut_off(kind, messages, tmp_path):
    path = put(tmp_path / "t", table_of(ROWS), kind=kind)
    path.write_bytes(path.read_bytes()[:-40] if kind != "stream" else path.read_bytes()[:-400])
    with pytest.raises(InputError) as caught:
        read_runs(path, bad_lines="skip", other_files="skip")
    assert caught.value.place == str(path)
    # what the library finds differs between versions
    head, _, tail = str(caught.value).partition(" file (")
    messages.told(f"{head} file ({{why}}{tail[tail.rindex(')') :]}")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_small_file_of_very_many_rows_is_taken_for_an_attack(kind, messages, tmp_path):
    n = 5_000_000
    one = pa.array(np.zeros(n, dtype=np.int64))
    table = pa.table({"qid": one, "docno": one, "score": one})
    if kind == "parquet":
        put(tmp_path / "t", table, compression="zstd")
    else:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(str(tmp_path / "t"), table.schema, options=options) as writer:
            writer.write_table(table)
    with pytest.raises(InputError, match=r"unpacks to more than 100,000,000 bytes, from [\d,]+, which is taken"):
        read_runs(tmp_path / "t", duplicates="best")


@pytest.mark.parametrize(
    "start",
    [b"", b"PAR1", b"PAR1 Q0 d 1 2 r", b"PAR1\t\x15", b"ARROW1 Q0", b"ARROW1", b"\xff\xff\xff\xff", b"FEA1\0\0"],
)
def test_texts_are_no_tables(start):
    assert kind_of_table(start) is None


@pytest.mark.parametrize("kind", ["arrow", "stream"])
def test_lengths_that_lead_out_of_the_file_do_not_end_the_process(kind, tmp_path):
    whole = put(tmp_path / "whole", table_of(ROWS[:20], text="dictionary"), kind=kind, rows=10).read_bytes()
    refused = 0
    for at in range(0, len(whole) - 8, 8):
        # where a length or a place in the file can be
        if not any(whole[at + 1 : at + 8]):
            (tmp_path / "t").write_bytes(whole[: at + 6] + bytes([26]) + whole[at + 7 :])
            try:
                read_runs(tmp_path / "t")
            except InputError:
                refused += 1
    assert refused >= 8
