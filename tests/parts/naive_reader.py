"""Run files and qrels read line by line, as slow and obvious as can be, and files to try it on."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import re

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
LONGEST = 1024
BOM = b"\xef\xbb\xbf"


class RejectedError(Exception):
    pass


class NoRunError(RejectedError):
    pass


def naive_number(text):
    """Return a finite decimal number, None for anything else."""
    value = float(text) if NUMBER.fullmatch(text) else math.inf
    return None if math.isinf(value) else value


def naive_lines(data):
    """Yield (number, cells) of every line that is neither blank nor a comment; with a NUL byte, or with a
    carriage return behind its sixth word, which may be the end of a line, there are no cells.
    """
    for number, line in enumerate(data.removeprefix(BOM).split(b"\n"), 1):
        if b"\0" in line:
            yield number, []
        elif line.split() and not line.split()[0].startswith(b"#"):
            runs_on = b"\r" in b"".join(line.split(None, 5)[5:]).strip()
            yield number, [] if runs_on else line.split()


def naive_run_lines(data, *, skip, by_rank, by_tag):
    """Return ([(line, qid, docno, rank, score, tag)] of the run lines, numbers of the others)."""
    rows, bad = [], []
    for number, cells in naive_lines(data):
        score = naive_number(cells[4]) if len(cells) >= 6 else None
        rank = naive_number(cells[3]) if len(cells) >= 6 else None
        if score is None or (by_rank and rank is None) or max(len(cells[0]), len(cells[2])) > LONGEST:
            bad.append(number)
        else:
            rows.append((number, cells[0], cells[2], rank, score, cells[5]))
    if not rows:
        raise NoRunError
    if (bad and not skip) or (by_tag and len({row[5] for row in rows}) > 1):
        raise RejectedError
    return rows, bad


def naive_run(data, *, skip=False, best=False, order="trec_eval", by_tag=True):
    """Return (tag, {topic: [(docno, score), ...] in ranking order}, the lines that were left out), names in bytes."""
    rows, dropped = naive_run_lines(data, skip=skip, by_rank=order == "rank", by_tag=by_tag)
    topics = {}
    for row in rows:
        topics.setdefault(row[1], []).append(row)
    kept = {}
    for topic, found in topics.items():
        if order == "trec_eval":
            found = sorted(sorted(found, key=lambda row: row[2], reverse=True), key=lambda row: -row[4])
        elif order == "rank":
            if len({row[3] for row in found}) < len(found):
                raise RejectedError
            found = sorted(found, key=lambda row: row[3])
        seen = {}
        for row in found:
            if row[2] in seen and not best:
                raise RejectedError
            if row[2] in seen:
                dropped.append(row[0])
            seen.setdefault(row[2], row[4])
        kept[topic] = list(seen.items())
    return rows[0][5], kept, sorted(dropped)


def naive_qrels(data):
    """Return {topic: {docno: label}}."""
    topics = {}
    for _, cells in naive_lines(data):
        label = naive_number(cells[3]) if len(cells) == 4 else None
        if label is None or label != int(label) or not -(2**15) <= label < 2**15:
            raise RejectedError
        if max(len(cells[0]), len(cells[2])) > LONGEST:
            raise RejectedError
        if topics.setdefault(cells[0], {}).setdefault(cells[2], int(label)) != int(label):
            raise RejectedError
    if not topics:
        raise RejectedError
    return topics


# files: good ones, and what may happen to them

WORDS = [
    b"1",
    b"001",
    b"NA",
    b"nan",
    b"1e5",
    b'"',
    b"#",
    b"#x",
    b"a#b",
    b"\xc3\xa9",
    b"\xe9",
    b"d" * 20,
    b"Q0",
    b"\xff",
]
SCORES = [b"1", b"1.0", b"0.5", b"-0", b"+2", b".5", b"5.", b"1e-3", b"123456789012345678901234567890", b"0"]
NO_SCORES = [b"nan", b"inf", b"-inf", b"1_0", b"0x1", b"1e999", b"a", b"."]
LINES = [b"# comment", b"#", b" \t# six words of a comment here", b"", b" \t ", b"1 2 3", b"\0", b"# \0", b"x" * 1030]
HEADS = [BOM, b"\n", b" ", BOM + BOM, b"\xff\xfe", b"#", b"# ir_metadata.start\n# tag: t\n"]
SPACES = [b" "] * 6 + [b"\t", b"  ", b" \t", b"\x0b", b"\x0c", b"\r"]
PACKINGS = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
UNPACKINGS = {"plain": bytes, "gzip": gzip.decompress, "bzip2": bz2.decompress, "xz": lzma.decompress}


def run_text(chance):
    """Return a good run file, odd here and there."""
    tag, end, space = chance.choice(WORDS[:4]), chance.choice([b"\n", b"\n", b"\r\n"]), chance.choice(SPACES)
    topics = [chance.choice(WORDS) for _ in range(chance.randint(1, 3))]
    lines = []
    for i in range(chance.randint(1, 14)):
        docno = b"d%d" % i if chance.random() < 0.9 else chance.choice(WORDS)
        score = b"%.3f" % chance.uniform(-9, 9) if chance.random() < 0.8 else chance.choice(SCORES)
        cells = [chance.choice(topics), b"Q0", docno, b"%d" % (i + 1), score, tag]
        cells += chance.choices(WORDS, k=chance.randint(1, 4)) if chance.random() < 0.1 else []
        lines.append((space if chance.random() < 0.9 else chance.choice(SPACES)).join(cells))
    return end.join(lines) + (end if chance.random() < 0.7 else b"")


def mutated(chance):
    """Return a run file to which up to four things happened."""
    data = run_text(chance)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3, 4])):
        lines, at, place = data.split(b"\n"), 0, chance.randint(0, len(data))
        at = chance.randrange(len(lines))
        cells = lines[at].split()
        how = chance.choice(
            [
                "line",
                "cell",
                "score",
                "less",
                "more",
                "swap",
                "double",
                "long",
                "flip",
                "delete",
                "insert",
                "cut",
                "head",
            ]
        )
        if how == "line":
            lines.insert(at, chance.choice(LINES))
        elif how == "double":
            lines.insert(chance.randint(0, len(lines)), lines[at])
        elif how == "swap":
            lines[at], lines[0] = lines[0], lines[at]
        elif cells and how in ("cell", "score", "less", "more", "long"):
            column = {"score": 4, "cell": chance.randrange(len(cells)), "long": chance.choice([0, 2])}.get(how, 0)
            if how == "less":
                del cells[chance.randrange(len(cells)) :]
            elif how == "more":
                cells.insert(chance.randint(0, len(cells)), chance.choice(WORDS))
            elif column < len(cells):
                cells[column] = {"score": chance.choice(NO_SCORES), "long": b"n" * chance.choice([65, 1024, 1025])}.get(
                    how, chance.choice(WORDS + SCORES)
                )
            lines[at] = chance.choice(SPACES).join(cells)
        data = b"\n".join(lines)
        if how == "flip" and place < len(data):
            data = data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
        elif how == "delete":
            data = data[:place] + data[place + chance.randint(1, 8) :]
        elif how == "insert":
            data = data[:place] + chance.randbytes(chance.randint(1, 4)) + data[place:]
        elif how == "cut":
            data = data[:place]
        elif how == "head":
            data = chance.choice(HEADS) + data
    return data


def packed(chance, data):
    """Return (file, text): the text packed in some way, damaged now and then; no text where it cannot be unpacked."""
    kind = chance.choice(["plain", "plain", "gzip", "bzip2", "xz"])
    raw = PACKINGS[kind](data)
    if kind != "plain" and chance.random() < 0.1:
        place = chance.randrange(10, len(raw))
        raw = raw[:place] if chance.random() < 0.5 else raw[:place] + bytes([raw[place] ^ 16]) + raw[place + 1 :]
        try:
            data = UNPACKINGS[kind](raw)
        except Exception:
            return raw, None
    return raw, data
