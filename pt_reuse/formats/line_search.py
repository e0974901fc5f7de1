"""Where in a run file rows and documents stand, found by reading it once more, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.run_rows import FileRows
from pt_reuse.formats.lines import Fields
from pt_reuse.formats.trec_lines import BOM, RUN_LINE, fields_of_part, lines_of_run, topics_in


def find_document(chunks: Iterable[bytes], topic: str, docno: str, most: int) -> list[int]:
    """Return the first lines, from 1, on which a document stands for a topic.

    Args:
        chunks: the text of the file, in chunks of whole lines.
        topic: the topic.
        docno: the document.
        most: how many lines are looked for.
    """
    wanted = [name.encode("utf-8", "surrogateescape") for name in (topic, docno)]
    found: list[int] = []
    before = 0
    for data in _without_mark(chunks):
        lines = data.split(b"\n")
        if wanted[1] in data:
            found += [before + i for i, line in enumerate(lines, 1) if line.split()[:3:2] == wanted]
        if len(found) >= most:
            break
        before += len(lines) - 1
    return found[:most]


def lines_of_rows(
    chunks: Iterable[bytes], order: str, topics: Sequence[str], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the lines, from 1, on which rows of a run stand that was read leaving out bad lines or none.

    Args:
        chunks: the text of the file, in chunks of whole lines.
        order: the ranking order in which it was read.
        topics: (n,) the topic of each row.
        places: (n,) its place among the rows of the topic as they stand in the file, from 1.
    """
    lines = np.zeros(len(topics), dtype=np.int64)
    for fields, wanted, rows in rows_in_file(chunks, order, topics, places):
        lines[wanted] = fields.lines_of(rows)
    return lines


def rows_in_file(
    chunks: Iterable[bytes], order: str, topics: Sequence[str], places: NDArray[np.int64]
) -> Iterator[tuple[Fields, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the fields of each chunk that has some of the rows, which rows these are, and which of the fields'."""
    number = {name: t for t, name in enumerate(dict.fromkeys(topics))}
    topic_of = np.array([number[name] for name in topics], dtype=np.int64)
    before, n_lines = np.zeros(len(number), dtype=np.int64), 0
    for data in _without_mark(chunks):
        if data and not data.isspace():
            fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=True, before=n_lines)
            lines = lines_of_run(fields, order, skip=True)
            if len(fields):
                names, topic = topics_in(fields)
                rows = FileRows(names, topic, lambda rows: np.zeros((len(rows), 1), dtype="<u8"), lines.scores)
                local = {name: t for t, name in enumerate(names) if name in number}
                starts, sizes = np.zeros((2, len(number)), dtype=np.int64)
                for name, t in local.items():
                    starts[number[name]], sizes[number[name]] = rows.starts[t], rows.starts[t + 1] - rows.starts[t]
                here = places - before[topic_of]
                wanted = np.flatnonzero((here >= 1) & (here <= sizes[topic_of]))
                grouped = starts[topic_of[wanted]] + here[wanted] - 1
                if len(wanted):
                    yield fields, wanted, grouped if rows.grouping is None else rows.grouping[grouped]
                before += sizes
        n_lines += data.count(b"\n")


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for i, data in enumerate(chunks):
        yield data if i else data.removeprefix(BOM)
