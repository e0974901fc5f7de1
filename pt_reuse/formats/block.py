"""A block of a field in a file of its own: neighbouring topics, with a vocabulary of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import long_names, tokens
from pt_reuse.engine.field import Field, Late, LateField
from pt_reuse.engine.places import Places
from pt_reuse.formats.array_file import ArrayFile, DamagedError, write_arrays

#: array -> the kind of its numbers: those that counting needs, and those that are read when somebody asks for them
_EARLY = {
    "vocabulary": "S", "topic_docs": "i", "doc_starts": "i", "starts": "i", "codes": "u", "ranked": "b",
    "long_names": "u",
}  # fmt: skip
_LATE = {
    "scores": "f", "file_lists": "i", "file_starts": "i", "file_at": "u", "file_values": "u", "rank_lists": "i",
    "rank_starts": "i", "rank_at": "u", "rank_values": "u",
}  # fmt: skip
_PLACES = ("lists", "starts", "at", "values")


def write_block(path: Path, field: Field) -> None:
    """Write a block; the file takes its place only when it is whole.

    Raises:
        OSError: it cannot be written.
    """
    long = tokens.long_names_in(tokens.as_words(field.vocabulary))
    arrays = {name: getattr(field, name) for name in _EARLY if name != "long_names"}
    arrays["long_names"] = np.frombuffer(b"\0".join(long), dtype=np.uint8)
    arrays["scores"] = field.scores
    for order in ("file", "rank"):
        arrays |= {f"{order}_{part}": getattr(getattr(field, order), part) for part in _PLACES}
    write_arrays(path, arrays, {"topics": list(field.topics), "runs": field.n_runs})


def read_block(path: Path, told: Callable[[DamagedError], Exception] = lambda error: error) -> Field:
    """Read a block; its scores and its places in other orders are read when one of them is asked for.

    Args:
        path: of the file.
        told: gives what is raised where it is not as it was written, of what is read later when it is asked for.

    Raises:
        DamagedError: it is not as it was written, unless `told` says otherwise.
    """
    file = ArrayFile(path)
    try:
        early = _arrays(file, _EARLY)
        topics, n_runs = tuple(file.notes["topics"]), int(file.notes["runs"])
        if len(early["starts"]) != len(topics) * n_runs + 1 or not _are_coded(early):
            raise DamagedError("its arrays do not fit each other")
    except DamagedError as error:
        raise told(error) from error
    if len(long := early.pop("long_names")):
        long_names.keep(long.tobytes().split(b"\0"))
    starts = early["starts"]

    def late() -> Late:
        try:
            found = _arrays(file, _LATE)
            places = [Places(*(found[f"{order}_{part}"] for part in _PLACES)) for order in ("file", "rank")]
            if len(found["scores"]) != starts[-1] or not all(_fit(part, starts) for part in places):
                raise DamagedError("its arrays do not fit each other")
        except DamagedError as error:
            raise told(error) from error
        return Late(found["scores"], *places)

    return LateField(late=late, n_runs=n_runs, topics=topics, **early)


def check_block(path: Path, topics: tuple[str, ...], n_runs: int) -> NDArray[np.int64]:
    """Return (topics, runs), the rows of each list, of a block of which every byte is looked at.

    Raises:
        DamagedError: it is not whole, or another block than that of some topics.
    """
    file = ArrayFile(path)
    if file.notes != {"topics": list(topics), "runs": n_runs}:
        raise DamagedError("it is another block")
    file.check()
    return np.diff(file.read("starts")[0]).reshape(len(topics), n_runs)


def _arrays(file: ArrayFile, kinds: Mapping[str, str]) -> dict[str, NDArray]:
    arrays = dict(zip(kinds, file.read(*kinds), strict=True))
    for name, kind in kinds.items():
        if arrays[name].dtype.kind != kind:
            raise DamagedError(f"its array {name} is damaged")
    return arrays


def _are_coded(arrays: Mapping[str, NDArray]) -> bool:
    starts, doc_starts, docs, codes = (arrays[name] for name in ("starts", "doc_starts", "topic_docs", "codes"))
    vocabulary, n_runs = arrays["vocabulary"], len(arrays["ranked"])
    if not _are_starts(starts, len(codes)) or not _are_starts(doc_starts, len(docs)):
        return False
    if n_runs * (len(doc_starts) - 1) != len(starts) - 1 or vocabulary.dtype.itemsize % 8:
        return False
    if len(docs) and not 0 <= docs.min() <= docs.max() < len(vocabulary):
        return False
    full = np.flatnonzero(np.diff(starts[::n_runs])) if n_runs else starts[:0]
    tops = np.maximum.reduceat(codes, starts[full * n_runs]) if len(full) else codes
    return bool((tops < np.diff(doc_starts)[full]).all())


def _are_starts(starts: NDArray[np.int64], end: int) -> bool:
    return bool(len(starts) and starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())


def _fit(places: Places, starts: NDArray[np.int64]) -> bool:
    lists = places.lists
    if len(places.starts) != len(lists) + 1 or len(places.at) != len(places.values):
        return False
    if not _are_starts(places.starts, len(places.values)) or not np.diff(places.starts).all():
        return False
    if len(lists) and not (lists[0] >= 0 and lists[-1] < len(starts) - 1 and (np.diff(lists) > 0).all()):
        return False
    if not len(lists):
        return True
    # in each list the rows ascend from 1 on, and neither they nor their places go beyond its end
    ascend = places.at[1:] > places.at[:-1]
    ascend[places.starts[1:-1] - 1] = True
    ends = np.maximum(places.at[places.starts[1:] - 1], np.maximum.reduceat(places.values, places.starts[:-1]))
    return bool(ascend.all() and (places.at[places.starts[:-1]] > 0).all() and (ends <= np.diff(starts)[lists]).all())
