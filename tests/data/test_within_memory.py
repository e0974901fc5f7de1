"""Reading within memory: the same runs, errors and warnings as reading in memory gives, whatever the files hold."""

from __future__ import annotations

import gzip
import random

import pytest
from naive_reader import mutated, packed
from store_parts import assert_same, in_pieces

from pt_reuse._choices import ORDERS
from pt_reuse.data.run_reading import read_runs


def scattered(seed, topics=9, rows=80, rank=None, text=False):
    """Return a run file whose topics are scattered over it."""
    chance = random.Random(seed)
    lines = []
    for topic in range(topics):
        for i, doc in enumerate(chance.sample(range(200), rows // topics)):
            place = i if rank is None else rank(chance, i)
            name = f"d{doc}" if not text else f"{'d' * chance.choice([3, 10, 70])}{doc}"
            lines.append(f"{topic} Q0 {name} {place} {chance.randrange(8) / 4} run{seed}\n")
    chance.shuffle(lines)
    return "".join(lines).encode()


RANKS = {
    "counting": None,
    "one for all": lambda chance, i: 1,
    "by chance": lambda chance, i: chance.randrange(9),
    "fractions": lambda chance, i: f"{i / 3:.3f}",
    "not all numbers": lambda chance, i: chance.choice([i, "x", "01", "-1"]),
}


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ranks", RANKS)
def test_scattered_topics(ranks, order, tmp_path, cache, monkeypatch):
    in_pieces(monkeypatch, chunk=200)
    for seed in range(4):
        (tmp_path / f"{seed}").write_bytes(scattered(seed, rank=RANKS[ranks], text=seed == 3))
    files = [tmp_path / f"{seed}" for seed in range(4)]
    runs = assert_same(files, cache, order=order)
    assert runs is None or len(runs.field.parts) > 3


WAYS = {
    "strict": {},
    "best": {"duplicates": "best"},
    "skip": {"bad_lines": "skip"},
    "skip all": {"bad_lines": "skip", "other_files": "skip", "duplicates": "best"},
    "skip all by rank": {"bad_lines": "skip", "other_files": "skip", "duplicates": "best", "order": "rank"},
    "by rank": {"order": "rank"},
    "file, by its names": {"order": "file", "names": "file", "other_files": "skip"},
}


@pytest.mark.parametrize("way", WAYS)
def test_mutated_files(way, tmp_path, monkeypatch):
    chance = random.Random(way)
    read = 0
    for trial in range(25):
        folder = tmp_path / f"{trial}"
        folder.mkdir()
        for seed in range(chance.choice([1, 1, 2, 3])):
            raw, _ = packed(chance, mutated(chance))
            (folder / f"{seed}").write_bytes(raw)
        in_pieces(monkeypatch, chunk=chance.choice([1, 30, 200, 10_000]), rows=chance.choice([1, 7, 1000]))
        read += assert_same(folder, tmp_path / f"cache{trial}", **WAYS[way]) is not None
    assert read


def test_packed_files(tmp_path, cache, monkeypatch):
    in_pieces(monkeypatch)
    for seed in range(3):
        (tmp_path / f"{seed}.gz").write_bytes(gzip.compress(scattered(seed)))
    assert assert_same([tmp_path / f"{seed}.gz" for seed in range(3)], cache) is not None


def test_blocks_are_found_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run.txt").write_bytes(scattered(1))
    monkeypatch.chdir(tmp_path)
    in_pieces(monkeypatch, rows=20)
    expected = read_runs("run.txt").to_frame()
    made, opened = (read_runs("run.txt", cache="cache", memory="64MB") for _ in range(2))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert made.to_frame().equals(expected)
    assert opened.to_frame().equals(expected)
