"""A damaged cache of a parsed field: never used, and written anew."""

from __future__ import annotations

import json
import random
import re
import shutil
import warnings

import numpy as np
import pytest
from cache_parts import SETTINGS, block, header_of, place, same, sources_of, tables

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.data import store
from pt_reuse.data.array_file import ArrayFile
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.store import FORMAT, HEADER, StaleCacheError, load_whole


def warned_of_fault(messages, source, cache):
    """Read past a cache that cannot be read; what Python, numpy or the system say of it is no wording of ours."""
    with pytest.warns(ReuseWarning) as caught:
        runs = read_runs(source, cache=cache)
    (said,) = [str(warning.message) for warning in caught if warning.category is ReuseWarning]
    fault = re.search(r"cannot be read \((.+)\); ", said)
    if fault:
        messages.hidden[fault[1]] = "{fault}"
    messages.told(said)
    return runs


HOW = ["one bit", "zeros", "swapped words", "cut", "removed", "text"]


def damage(data, how, begin, end):
    """Return what a file would be whose bytes from `begin` to `end` were damaged."""
    data, middle = bytearray(data), begin + (end - begin) * 2 // 3
    if how == "one bit":
        data[middle] ^= 4
    elif how == "zeros":
        data[begin : max(end, begin + 1)] = bytes(len(data[begin : max(end, begin + 1)]))
    elif how == "swapped words":
        data[begin : begin + 16] = data[begin + 8 : begin + 16] + data[begin : begin + 8]
    elif how == "cut":
        del data[middle:]
    elif how == "text":
        data[:] = b"not an array"
    return bytes(data)


def places_of_arrays(path):
    """Return where each array of a file begins and ends, but for those without a byte."""
    header, begin = ArrayFile(path)._read
    places = {
        name: (begin + said["offset"], begin + said["offset"] + said["length"] * np.dtype(said["dtype"]).itemsize)
        for name, said in header["arrays"].items()
    }
    return {name: (a, b) for name, (a, b) in places.items() if b > a}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("file", [block, tables])
def test_a_damaged_file(how, file, messages, source, cache):
    (source / "3").write_bytes(b"1 Q0 a 0 1.5 run3 more\n1 Q0 b 0 1.5 run3\nbad\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        runs = read_runs(source, cache=cache, bad_lines="skip")
    path, settings = file(cache), {**SETTINGS, "bad_lines": "skip"}
    sources = sources_of(cache)
    good, said = path.read_bytes(), set()
    for begin, end in places_of_arrays(path).values():
        data = damage(good, how, begin, end)
        if data == good:  # words that were the same, or zeros
            continue
        path.unlink()
        if how != "removed":
            path.write_bytes(data)
        with pytest.raises(StaleCacheError) as caught:
            load_whole(cache, sources, settings)
        said.add(str(caught.value).replace(path.name, "{file}"))
    for text in sorted(said):
        messages.told(text)
    with pytest.warns(ReuseWarning):
        assert same(read_runs(source, cache=cache, bad_lines="skip"), runs)
    assert load_whole(cache, sources, settings).names == runs.names
    assert not path.exists() or path.read_bytes() == good


def test_every_byte_of_the_header_matters(source, cache):
    runs = read_runs(source, cache=cache)
    path = cache / HEADER
    good = path.read_bytes()
    sources = sources_of(cache)
    chance = random.Random(5)
    folder = cache.parent / "copy"
    for _ in range(150):
        data = bytearray(good)
        how = chance.choice(["flip", "cut", "delete", "insert"])
        at = chance.randrange(len(data))
        if how == "flip":
            data[at] ^= 1 << chance.randrange(8)
        elif how == "cut":
            del data[at:]
        elif how == "delete":
            del data[at]
        else:
            data[at:at] = bytes([chance.randrange(256)])
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(cache, folder)
        (folder / HEADER).write_bytes(data)
        try:
            kept = load_whole(folder, sources, SETTINGS)
        except (StaleCacheError, InputError):
            continue
        # white space between the values may change, nothing else
        assert kept.names == runs.names
        assert np.array_equal(kept.field.codes, runs.field.codes)
        assert json.loads(data) == json.loads(good)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "{}", json.dumps({"format": FORMAT}), "[" * 100_000, "\ud800"])
def test_a_header_that_is_none(text, messages, source, cache):
    read_runs(source, cache=cache)
    (cache / HEADER).write_bytes(text.encode("utf-8", "surrogatepass"))
    runs = warned_of_fault(messages, source, cache)
    assert same(runs, read_runs(source, cache=cache))


def test_a_header_that_points_elsewhere(source, cache, reread, tmp_path):
    read_runs(source, cache=cache)
    header = header_of(cache)
    header.pop("check")
    header["place"] = "../elsewhere"
    header["check"] = store._digest(header)
    shutil.copytree(place(cache), tmp_path / "elsewhere")
    before = sorted(path.name for path in (tmp_path / "elsewhere").iterdir())
    (cache / HEADER).write_text(json.dumps(header))
    reread(source, cache)
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == before


def test_a_newer_format(source, cache, messages):
    read_runs(source, cache=cache)
    header = header_of(cache)
    (cache / HEADER).write_text(json.dumps({**header, "format": FORMAT + 1}))
    before = (cache / HEADER).read_bytes()
    messages.refused(read_runs, source=source, cache=cache, argument="cache")
    messages.refused(read_runs, source=source, cache=cache, memory="64MB", argument="cache")
    assert (cache / HEADER).read_bytes() == before
    assert place(cache).exists()


@pytest.mark.parametrize("depth", [900, 100_000])
def test_a_deep_header(depth, source, cache):
    # no snapshot: how deep Python goes differs between versions
    read_runs(source, cache=cache)
    header = header_of(cache)
    text = json.dumps({**header, "runs": "DEEP"}).replace('"DEEP"', "[" * depth + "]" * depth)
    (cache / HEADER).write_text(text)
    with pytest.warns(ReuseWarning, match="is not used: its header"):
        assert read_runs(source, cache=cache).names == header["runs"]
