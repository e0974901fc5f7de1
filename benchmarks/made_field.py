"""A made field of any size: run files, teams, types, pooled runs and judgments, the same for the same seed.

    python benchmarks/made_field.py FOLDER [--runs 200] [--topics 349] [--docs 1000] [--plain] [--seed 1]

A topic has strata of candidate documents. A run takes one document of each stratum, and the better the run, the less it
shuffles them; runs of a team often take the same. A topic depends on the seed and its number alone, so topic 17 is the
same in a field of 349 topics and in one of 6,980, and run 3 the same in a field of 20 runs and in one of 200. One topic
is in memory at a time. Documents are numbers of seven digits from a corpus of 7.8 million, as in MS MARCO.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CORPUS, FIRST_DOC = 7_841_823, 1_000_000  # documents and the first of them: seven digits each
TEAMS = 41
TYPES = ("automatic", "manual", "neural", "fused", "sparse")
POOL_DEPTH = 10  # of the deep judgments
KINDS = ("sparse", "deep")
_FOURS = np.array([f"{i:04}" for i in range(10_000)], dtype="S4")
_THREES = np.array([f"{i:03}" for i in range(1_000)], dtype="S3")
_TENS = np.array([f"{i:02}." for i in range(100)], dtype="S3")


@dataclass(frozen=True)
class Size:
    """What a field has: runs, topics, documents a list, and the seed."""

    runs: int = 200
    topics: int = 6_980
    docs: int = 1_000
    seed: int = 1

    @property
    def rows(self) -> int:
        return self.runs * self.topics * self.docs


@dataclass(frozen=True)
class Topic:
    """One topic: `lists` and `scores` are (runs, docs), the lists as positions among `docnos`, the scores in 1/10,000.

    `stratum` says of each document how far down it belongs.
    """

    qid: str
    docnos: NDArray[np.bytes_]
    stratum: NDArray[np.int64]
    lists: NDArray[np.int64]
    scores: NDArray[np.int64]


def make_topic(size: Size, t: int) -> Topic:
    # a generator for each array, so that the first runs do not depend on how many there are
    strata, corpus, own, shared, noise, steps = (np.random.default_rng([size.seed, t, i]) for i in range(6))
    n = size.docs
    members = 3 + (12 * strata.uniform(0.7, 2.0) * np.arange(n) / n).astype(np.int64)
    first = np.cumsum(members) - members
    drawn = FIRST_DOC + corpus.choice(CORPUS, int(members.sum()), replace=False, shuffle=False)
    docnos = np.empty(len(drawn), dtype=[("high", "S3"), ("low", "S4")])
    docnos["high"], docnos["low"] = _THREES[drawn // 10_000], _FOURS[drawn % 10_000]
    team = np.arange(size.runs) % TEAMS
    u = own.random((size.runs, n), dtype=np.float32)
    of_team = shared.random((TEAMS, 2, n), dtype=np.float32)
    u = np.where(of_team[team, 0] < 0.6, of_team[team, 1], u)
    taken = first + (u * u * u * members).astype(np.int64)
    place = np.arange(n) + noise.standard_normal((size.runs, n), dtype=np.float32) * spread(size)[:, None]
    bits = n.bit_length()
    order = ((place + 10_000).astype(np.int64) << bits) | np.arange(n)
    order.sort(axis=1)
    order &= (1 << bits) - 1
    lists = np.take_along_axis(taken, order, axis=1)
    down = np.cumsum(steps.integers(0, 1_000_000 // (n + 1), (size.runs, n)), axis=1)  # a step of 0 is a tie
    return Topic(str(100_000 + 137 * t), docnos.view("S7"), np.repeat(np.arange(n), members), lists, 999_999 - down)


def spread(size: Size) -> NDArray[np.float32]:
    """Return (runs,) how far a run shuffles: the less, the better it is."""
    return np.random.default_rng([size.seed]).lognormal(3.3, 1.1, size.runs).astype(np.float32)


def pooled(size: Size) -> NDArray[np.bool_]:
    return np.arange(size.runs) % 3 != 2


def rows_of(topic: Topic) -> NDArray[np.uint8]:
    """Return (runs, bytes): what the topic is in each run's file."""
    n_runs, n = topic.lists.shape
    docnos, high, low = topic.docnos[topic.lists], _TENS[topic.scores // 10_000], _FOURS[topic.scores % 10_000]
    blocks, start = [], 0
    while start < n:  # ranks of the same number of digits make rows of the same length
        stop = min(n, 10 ** len(str(start + 1)) - 1)
        kinds = [
            ("qid", f"S{len(topic.qid)}"),
            ("Q0", "S4"),
            ("docno", "S7"),
            ("a", "S1"),
            ("rank", f"S{len(str(stop))}"),
        ]
        kinds += [("b", "S1"), ("high", "S3"), ("low", "S4"), ("c", "S1"), ("tag", "S6"), ("end", "S1")]
        part = np.empty((n_runs, stop - start), dtype=kinds)
        part["qid"], part["Q0"], part["end"] = topic.qid.encode(), b" Q0 ", b"\n"
        part["a"] = part["b"] = part["c"] = b" "
        part["docno"], part["high"], part["low"] = docnos[:, start:stop], high[:, start:stop], low[:, start:stop]
        part["rank"] = np.arange(start + 1, stop + 1).astype(f"S{len(str(stop))}")
        part["tag"] = np.array(names(n_runs), dtype="S6")[:, None]
        blocks.append(part.view(np.uint8).reshape(n_runs, -1))
        start = stop
    return np.concatenate(blocks, axis=1)


def names(n_runs: int) -> list[str]:
    return [f"s{r:05}" for r in range(n_runs)]


def sparse_labels(size: Size, t: int, topic: Topic) -> Iterator[tuple[str, int]]:
    """Yield about 1.1 relevant documents, one in sixteen of them retrieved by nobody, as clicks and sentences give."""
    rng, by_stratum = (
        np.random.default_rng([size.seed, t, 10]),
        np.searchsorted(topic.stratum, np.arange(size.docs + 1)),
    )
    for docno in {
        str(rng.integers(FIRST_DOC, FIRST_DOC + CORPUS))
        if rng.random() < 1 / 16
        else topic.docnos[first + int((stop - first) * rng.random() ** 3)].decode()
        for first, stop in [
            by_stratum[s : s + 2].tolist()
            for s in np.minimum(rng.exponential(15, 1 + (rng.random() < 0.1)), size.docs - 1).astype(int).tolist()
        ]
    }:
        yield docno, 1


def deep_labels(size: Size, t: int, topic: Topic) -> Iterator[tuple[str, int]]:
    """Yield the pool of depth ten of the pooled runs, labelled: about 13 in 250 are relevant."""
    rng = np.random.default_rng([size.seed, t, 11])
    relevant = rng.random(len(topic.docnos)) < np.minimum(0.9, rng.lognormal(-2.4, 0.5) * np.exp(-topic.stratum / 60))
    label = np.where(relevant, rng.integers(1, 4, len(relevant)), 0)
    for code in np.unique(topic.lists[pooled(size), :POOL_DEPTH]).tolist():
        yield topic.docnos[code].decode(), int(label[code])


class _Plain:
    def compress(self, rows: bytes) -> bytes:
        return rows

    def flush(self) -> bytes:
        return b""


def _packer(packed: bool) -> object:
    if not packed:
        return _Plain()
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.compressobj(1, zlib.DEFLATED, 31)
    return isal_zlib.compressobj(1, isal_zlib.DEFLATED, 31)


def make_field(folder: Path, size: Size, *, packed: bool = True) -> Path:
    """Write the field: ``runs``, ``metadata.csv``, ``sparse.qrels`` and ``deep.qrels``, with packed runs or plain ones."""
    (folder / "runs").mkdir(parents=True)
    table = [
        f"{name},team{r % TEAMS:02},{TYPES[r % len(TYPES)]},{bool(pooled(size)[r])}\n"
        for r, name in enumerate(names(size.runs))
    ]
    (folder / "metadata.csv").write_text("name,team,type,pooled\n" + "".join(table))
    files = [
        (open(folder / "runs" / (name + ".gz" * packed), "wb"), _packer(packed))  # noqa: SIM115
        for name in names(size.runs)
    ]
    with (
        ThreadPoolExecutor(2) as threads,
        open(folder / "sparse.qrels", "w") as sparse,
        open(folder / "deep.qrels", "w") as deep,
    ):
        for t in range(size.topics):
            topic = make_topic(size, t)
            for file, labels in ((sparse, sparse_labels), (deep, deep_labels)):
                file.writelines(f"{topic.qid} 0 {docno} {label}\n" for docno, label in labels(size, t, topic))
            rows = rows_of(topic)
            list(
                threads.map(
                    lambda pair: pair[0][0].write(pair[0][1].compress(pair[1])),
                    zip(files, rows, strict=True),
                    chunksize=16,
                )
            )
    for file, packer in files:
        file.write(packer.flush())
        file.close()
    (folder / "size.json").write_text(json.dumps(asdict(size)))
    return folder


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folder", type=Path)
    for name, value in asdict(Size(topics=349)).items():
        asked.add_argument(f"--{name}", type=int, default=value)
    asked.add_argument("--plain", action="store_true")
    given = vars(asked.parse_args())
    where, plain = given.pop("folder"), given.pop("plain")
    begun = time.perf_counter()
    make_field(where, Size(**given), packed=not plain)
    spent = time.perf_counter() - begun
    print(f"{Size(**given).rows:,} rows in {spent:.1f} s, {Size(**given).rows / spent / 1e6:.1f} million a second")
