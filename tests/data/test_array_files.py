"""Checksums of files, against plain Python, and what they notice."""

from __future__ import annotations

import hashlib
import itertools
import random
import re
import struct
from functools import cache
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pt_reuse._check import ShardNumber
from pt_reuse._errors import InputError
from pt_reuse.data import array_file
from pt_reuse.data.array_file import DamagedError, checksums
from pt_reuse.data.topic_jobs import ShardFile, in_ranges, shards_in

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


# the files of shards: what is written is read, and what is damaged is told


SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
KINDS = st.sampled_from(["f8", "f4", "i8", "i4", "i2", "u1", "?", "S5", "U3"])
PARTS = st.lists(
    st.dictionaries(st.sampled_from(["topics", "base", "a/b"]), KINDS.flatmap(lambda k: arrays.arrays(k, SHAPES))),
    max_size=4,
)


@given(parts=PARTS)
def test_parts_are_read_as_they_were_written(parts, tmp_path_factory):
    file = ShardFile.of(ShardNumber(2, 10), tmp_path_factory.mktemp("shard"))
    file.write(parts, {"settings": {"depth": 5}})
    file.check()
    assert file.notes()["settings"] == {"depth": 5}
    read = list(file.parts())
    assert [list(part) for part in read] == [list(part) for part in parts]
    for mine, theirs in zip(read, parts, strict=True):
        for name in mine:
            assert (mine[name].dtype, mine[name].shape) == (theirs[name].dtype, theirs[name].shape)
            assert mine[name].tobytes() == theirs[name].tobytes()


@pytest.mark.parametrize("at", [0, 9, 60, -1])
def test_a_changed_byte_is_noticed(tmp_path, at):
    file = ShardFile.of(ShardNumber(1, 1), tmp_path)
    file.write([{"a": np.arange(16.0)}], {})
    data = bytearray(file.path.read_bytes())
    data[at] ^= 1
    file.path.write_bytes(data)
    with pytest.raises(DamagedError):
        file.check()


def test_files_are_found_in_their_order_and_others_passed_over(tmp_path):
    for number in (ShardNumber(10, 12), ShardNumber(2, 12), ShardNumber(2, 3)):
        ShardFile.of(number, tmp_path).write([], {})
    for name in ("shard-2-of-12.ptr", "shard-3-of-12.txt", ".pt_reuse-shard-03-of-12.ptr", "notes"):
        (tmp_path / name).touch()
    assert [file.path.name for file in shards_in(tmp_path)] == [
        "shard-2-of-3.ptr", "shard-02-of-12.ptr", "shard-10-of-12.ptr",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "-1/4", "1/0", "a/b", "1/4/4", " 1/4", "1.0/4", "1/9999999"])
def test_what_is_no_share_is_told(text):
    with pytest.raises(InputError, match=re.escape(repr(text))) as caught:
        ShardNumber.parse(text)
    assert caught.value.argument == "shard"


@given(numbers=st.sets(st.integers(1, 60)))
def test_ranges_name_all_numbers_and_no_other(numbers):
    text = in_ranges(sorted(numbers))
    ends = [part.split("-") for part in text.split(", ")] if text else []
    assert {n for first, *last in ends for n in range(int(first), int(last[0] if last else first) + 1)} == numbers
    assert all(int(b[0]) > int(a[-1]) + 1 for a, b in itertools.pairwise(ends))
