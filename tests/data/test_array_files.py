"""Checksums of files, against plain Python, and what they notice."""

from __future__ import annotations

import hashlib
import random
import struct
from functools import cache
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.data import array_file
from pt_reuse.data.array_file import ArrayFile, DamagedError, checksums, write_arrays

PAGE = 4096


@cache
def plainly(data):
    """Compute the checksum word by word."""
    digest = hashlib.sha256(len(data).to_bytes(8, "little"))
    lower, more = ([int(weight) for weight in weights] for weights in array_file._WEIGHTS)
    weights = [weight for a, b in zip(lower, more, strict=True) for weight in (a, ((a << 32) + b) % 2**64)]
    assert all(weight % 2 for weight in weights)
    assert len(set(weights)) == PAGE // 4
    whole = len(data) // PAGE * PAGE
    for at in range(0, whole, PAGE):
        total = sum(map(mul, struct.unpack_from(f"<{PAGE // 4}I", data, at), weights))
        digest.update((total % 2**64).to_bytes(8, "little"))
    digest.update(data[whole:])
    return digest.hexdigest()


@pytest.mark.parametrize("size", [0, 1, PAGE - 1, PAGE, PAGE + 1, 128 * PAGE, 1024 * PAGE - 1, 1025 * PAGE + 5])
@pytest.mark.parametrize("threads", [1, 3])
def test_as_written_down(size, threads, tmp_path):
    datas = [random.Random(seed).randbytes(size + seed) for seed in range(3)]
    paths = [tmp_path / str(i) for i in range(3)]
    for path, data in zip(paths, datas, strict=True):
        path.write_bytes(data)
    assert checksums(paths, threads) == [plainly(data) for data in datas]


@settings(max_examples=50)
@given(data=st.data())
def test_changes_are_noticed(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sums")
    before = bytearray(random.Random(data.draw(st.integers(0, 9))).randbytes(3 * PAGE + 100))
    after = bytearray(before)
    changes = data.draw(st.dictionaries(st.integers(0, len(before) - 1), st.integers(1, 255), min_size=1, max_size=6))
    for at, bits in changes.items():
        after[at] ^= bits
    (folder / "a").write_bytes(before)
    (folder / "b").write_bytes(after)
    first, second = checksums([folder / "a", folder / "b"], 1)
    assert first != second


@pytest.mark.parametrize("bit", [0, 8, 24, 28, 31])
@pytest.mark.parametrize("apart", [1, 2, 3, 4, 8])
def test_the_same_change_at_several_places_is_noticed(bit, apart, tmp_path):
    # as when one digit is edited in the lines of a run that are all equally long
    before = np.frombuffer(random.Random(bit).randbytes(PAGE), dtype="<u4")
    paths = [tmp_path / "before"]
    before.tofile(paths[0])
    for first in range(0, 1000, 2):
        after = before.copy()
        after[[first, first + apart, first + 10, first + 10 + apart]] ^= np.uint32(1 << bit)
        paths.append(tmp_path / str(first))
        after.tofile(paths[-1])
    assert len(set(checksums(paths, 2))) == len(paths)


@pytest.mark.parametrize("at", [0, 9, 60, -1])
def test_a_changed_byte_of_arrays_is_noticed(tmp_path, at):
    path = tmp_path / "arrays"
    write_arrays(path, {"a": np.arange(16.0)}, {"depth": 5})
    assert ArrayFile(path).notes["depth"] == 5
    assert ArrayFile(path).read("a")[0].tolist() == list(range(16))
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedError):
        ArrayFile(path).read("a")
