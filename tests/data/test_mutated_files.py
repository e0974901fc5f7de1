"""Mutated run files, plain and packed, many at once: rows, faults and lines left out are those of a naive reader."""

from __future__ import annotations

import random
import re
import struct
import warnings

import pytest
from naive_reader import NoRunError, RejectedError, mutated, naive_run, packed

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.data.packed_files import packed_with
from pt_reuse.data.run_reading import read_runs

#: how files are read: strictly, or leaving out what is bad
WAYS = {
    "strict": {},
    "strict, the better of two": {"best": True},
    "bad lines left out": {"skip": True},
    "all left out": {"skip": True, "best": True},
    "all left out, in the order of the file": {"skip": True, "best": True, "order": "file"},
    "all left out, in the order of the ranks": {"skip": True, "best": True, "order": "rank"},
}


def write(folder, seeds):
    """Write a mutated file for each seed and return {file: its text, None where it cannot be unpacked}."""
    texts = {}
    for seed in seeds:
        chance = random.Random(seed)
        raw, text = packed(chance, mutated(chance))
        if raw != text or packed_with(raw) is None:
            (folder / f"f{seed}").write_bytes(raw)
            texts[str(folder / f"f{seed}")] = text
    return texts


def naive(texts, way):
    """Return ({file: (topics, lines left out)}, the files without a run line, the other files that are refused)."""
    good, none, refused = {}, set(), set()
    for file, text in texts.items():
        try:
            if text is None:
                raise RejectedError
            good[file] = naive_run(text, by_tag=False, **way)[1:]
        except NoRunError:
            none.add(file)
        except RejectedError:
            refused.add(file)
    return good, none, refused


def read(files, way, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        return read_runs(
            files,
            names="file",
            order=way.get("order", "trec_eval"),
            bad_lines="skip" if way.get("skip") else "error",
            duplicates="best" if way.get("best") else "error",
            **options,
        )


def faulty(files, way, **options):
    """Return the files with a fault, as the error for all of them says."""
    with pytest.raises(InputError) as caught:
        read(files, way, **options)
    faults = [set(re.findall(r"/[^ ,:)]*/f[0-9]+", f"{fault.place} {fault}")) for fault in caught.value.faults]
    assert all(len(fault) == 1 for fault in faults)
    return [file for fault in faults for file in fault]


def check_rows(runs, expected, files):
    as_bytes = {name: name.encode("utf-8", "surrogateescape") for name in {*runs.topics, *runs.to_frame()["docno"]}}
    for file, (topics, dropped) in expected.items():
        found = {}
        for row in runs[file.rpartition("/")[2]].itertuples():
            found.setdefault(as_bytes[row.qid], []).append((as_bytes[row.docno], struct.pack("d", row.score)))
        assert found == {t: [(d, struct.pack("d", score)) for d, score in rows] for t, rows in topics.items()}, file
        mine = runs.dropped[runs.dropped["file"] == file]
        assert mine["line"].tolist() == dropped, file
    assert set(runs.dropped["file"]) <= set(files)


def compare_many(folder, seeds, way):
    """Compare the readers on the mutated files of some seeds; return how many files were read, and how many not."""
    texts = write(folder, seeds)
    good, none, refused = naive(texts, way)
    if none or refused:
        assert faulty(list(texts), way) == [file for file in texts if file in none | refused]
    check_rows(read(list(good), way), good, list(good))
    readable = [file for file in texts if file not in refused]
    runs = read(readable, way, other_files="skip")
    check_rows(runs, good, readable)
    whole = runs.dropped[runs.dropped["line"].isna()]
    assert whole["file"].tolist() == [file for file in readable if file in none]
    assert whole["name"].isna().all()
    return len(good), len(none) + len(refused)


@pytest.mark.parametrize("way", WAYS)
def test_mutated_files(way, tmp_path):
    read_ones, refused = compare_many(tmp_path, range(100), WAYS[way])
    assert read_ones > 30
    assert refused > 10
