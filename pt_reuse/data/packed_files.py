"""Files that may be packed, within bounds of what they unpack to; and CSV files as frames."""

from __future__ import annotations

import bz2
import csv
import ctypes
import gzip
import lzma
import os
import re
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import open_file, user_path
from pt_reuse._saving import CsvReader
from pt_reuse.arrays import tokens
from pt_reuse.data.frame_columns import plain_decimal
from pt_reuse.errors import InputError, count, examples, listed, shown

#: bytes of the largest block that is unpacked at once, about
STEP = 1 << 20


def _streams(file: IO[bytes], chunk: int, step: int, packed: str) -> Iterator[bytes]:
    # stream after stream: the convenience functions of these modules pass over what is wrong behind the first
    made: Callable[[], Any]
    if packed == "lz4":
        import lz4.frame

        made = lz4.frame.LZ4FrameDecompressor
    elif packed == "zstandard":
        import zstandard

        # what one kibibyte holds at most is unpacked at once, since its library knows no other bound
        chunk = 1 << 10
        made = zstandard.ZstdDecompressor().decompressobj
    else:
        made = bz2.BZ2Decompressor if packed == "bzip2" else lzma.LZMADecompressor
    chunks = _chunks(file, chunk)
    rest = next(chunks, b"")
    while rest:
        stream: Any = made()
        while True:
            yield stream.decompress(rest) if packed == "zstandard" else stream.decompress(rest, step)
            if stream.eof:
                break
            rest = b""
            if (packed == "zstandard" or stream.needs_input) and not (rest := next(chunks, b"")):
                raise EOFError("it ends before its end mark")
        # streams may be padded with zeros
        rest = (stream.unused_data or b"").lstrip(b"\0")
        while not rest and (more := next(chunks, b"")):
            rest = more.lstrip(b"\0")


#: first bytes of a packed file -> the format's name
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"\x1f\x9d": "compress",
}
#: what begins a table -> its kind; in a text that begins alike, a printable character or white space would follow
_TABLES = ((re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]"), "Parquet"), (re.compile(rb"ARROW1\x00\x00"), "Arrow"))
#: bytes that tell of a table
LONGEST_START = 8
#: bytes that any packed file may unpack to
ANY_UNPACKED = 10**8
#: how often its own size a larger one may unpack to: runs and judgments are packed to a third or a tenth
MOST_TIMES = 100
#: bytes that no packed file may unpack to more than
MOST_UNPACKED = 8 * 10**9
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # what follows BZh and a digit; a topic may be called BZh9
_BOM = b"\xef\xbb\xbf"
_LONGEST_MAGIC = 10
_CHUNK, _LEAST = 1 << 17, 1 << 13
#: where a tar archive says that it is one
_TAR = slice(257, 262)


class UnreadableError(Exception):
    """A file that cannot be read or unpacked; the message is a clause that follows the file's name."""


class DamagedFileError(UnreadableError):
    """A packed file that was cut off or altered."""


class TooLargeError(UnreadableError):
    """A packed file that unpacks to more than is read."""


def read_bytes(path: Path) -> bytes:
    """Return the contents of a file, unpacked as its first bytes say."""
    with _reading():
        with open_file(path) as file:
            is_plain = packed_with(file.read(_LONGEST_MAGIC)) is None
        # plain files at once, without a copy
        return b"".join(_blocks(path, -1, STEP) if is_plain else read_blocks(path))


def read_blocks(path: Path, most: int = STEP) -> Iterator[bytes]:
    """Yield the contents of a file in blocks of a few MB at most, unpacked as its first bytes say."""
    yield from _blocks(path, min(_CHUNK, most), min(STEP, most))


def read_beginning(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, unpacked as its first bytes say; no more of it is unpacked than it takes."""
    found = b""
    with closing(_blocks(path, max(size, _LEAST), size)) as blocks:
        while len(found) < size and (block := next(blocks, b"")):
            found += block
    return found[:size]


def _only_member(path: Path) -> bytes:
    """Return the contents of the one file in a zip archive."""
    blocks: list[bytes] = []
    with _reading(), open_file(path) as packed, _reading_packed("zip"), zipfile.ZipFile(packed) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        # programs of macOS put files of their own beside what they pack
        hidden = (".", "__MACOSX")
        parts = {member.filename: PurePosixPath(member.filename).parts for member in members}
        names = [name for name, of in parts.items() if not any(part.startswith(hidden) for part in of)]
        if len(names) != 1:
            raise UnreadableError(f"is an archive of {count(len(names), 'file')}; an archive of one can be read")
        if archive.getinfo(names[0]).flag_bits & 1:
            raise UnreadableError("is encrypted")
        with archive.open(names[0]) as file:
            while block := file.read(STEP):
                blocks.append(block)
                _check_unpacked(sum(map(len, blocks)), path.stat().st_size)
    return b"".join(blocks)


def _check_unpacked(found: int, size: int) -> None:
    most = most_unpacked(size)
    if found > most:
        raise TooLargeError(
            f"unpacks to more than {most:,} bytes, from {size:,}, which is taken for damage or an attack (unpack it "
            "first if it is right)"
        )


def most_unpacked(size: int) -> int:
    """Return how many bytes a packed file of a size may unpack to; more is taken for damage, or for an attack."""
    return min(MOST_UNPACKED, max(ANY_UNPACKED, MOST_TIMES * size))


def packed_with(raw: bytes) -> str | None:
    """Return the name of the format that the first bytes tell, None for plain bytes."""
    for magic, name in MAGIC.items():
        if raw.startswith(magic):
            return name if name != "bzip2" or raw[4:10] in _BZIP2_BLOCKS else None
    return None


def kind_of_table(start: bytes) -> str | None:
    """Return which kind of table begins like this, ``"Parquet"`` or ``"Arrow"``; None for none."""
    return next((kind for begins, kind in _TABLES if begins.match(start)), None)


def guarded(text: bytes) -> bytes:
    """Put a byte order mark before a text that would be taken for a packed one or a table, or would lose its mark."""
    return _BOM + text if text.startswith((_BOM, *MAGIC)) or kind_of_table(text) is not None else text


@contextmanager
def in_memory() -> Iterator[None]:
    """Say of a file whose text is worked on inside that it does not fit in memory, where it does not."""
    try:
        yield
    except MemoryError as error:
        raise InputError(
            "the text does not fit in memory, or what is made of it. Read a part of it, or with more memory."
        ) from error


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise UnreadableError("does not fit in memory") from error


def _blocks(path: Path, chunk: int, step: int) -> Generator[bytes, None, None]:
    with _reading(), open_file(path, buffering=0) as file:
        packed, size = packed_with(file.read(_LONGEST_MAGIC)), file.seek(0, 2)
        file.seek(0)
        blocks = _chunks(file, chunk) if packed is None else _unpacked(file, chunk, packed, size, step)
        for n, block in enumerate(blocks):
            if n == 0 and block[_TAR] == b"ustar":
                raise UnreadableError("is a tar archive. Unpack it, and give the files or the folder")
            yield block


def _chunks(file: IO[bytes], chunk: int) -> Iterator[bytes]:
    # what a disk says is not taken for damage of what is packed
    with _reading():
        while found := file.read(chunk):
            yield found


def _unpacked(file: IO[bytes], chunk: int, packed: str, size: int, step: int) -> Iterator[bytes]:
    found = 0
    with _reading_packed(packed):
        if packed == "compress":
            blocks = _uncompressed(b"".join(_chunks(file, chunk)))
        elif packed == "gzip":
            unpacker: Any = gzip.GzipFile
            # the beginning of a file is left to gzip, which reads less of it at once
            if step >= _CHUNK:
                with suppress(ImportError):
                    from isal.igzip import IGzipFile

                    unpacker = IGzipFile
            blocks = iter(partial(unpacker(fileobj=file, mode="rb").read, step), b"")
        else:
            blocks = _streams(file, chunk, step, packed)
        for block in blocks:
            found += len(block)
            _check_unpacked(found, size)
            if block:
                yield block


@contextmanager
def _reading_packed(packed: str) -> Iterator[None]:
    try:
        yield
    except UnreadableError:
        raise
    except ImportError as error:
        raise UnreadableError(f"is packed with {packed}; reading it needs `pip install {packed}`") from error
    except MemoryError as error:
        raise UnreadableError(f"is a damaged {packed} file, or does not fit in memory") from error
    except Exception as error:
        # each library has classes of its own for what it finds wrong; all of them mean that the file cannot be used
        raise DamagedFileError(f"is a damaged or truncated {packed} file ({error})") from error


def chunks_of_lines(path: Path, size: int, most: int) -> Iterator[bytes]:
    """Yield a file in chunks that end with a line's end, but for the last one."""
    held: list[bytes] = []
    n = 0
    for block in read_blocks(path, max(1, size // 4)):
        held.append(block)
        n += len(block)
        if n < size:
            continue
        cut = block.rfind(b"\n") + 1
        if cut:
            held[-1] = block[:cut]
            yield b"".join(held)
            held, n = [block[cut:]], len(block) - cut
        elif n > most:
            raise InputError(f"a line of more than {most:,} bytes, which is too long to be read. Is this a run file?")
    if n:
        yield b"".join(held)


def give_back() -> None:
    """Have the C library give back to the system what was freed, where it can: it keeps a part for each thread."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


_HEADER, _CLEAR = 3, 256


def _uncompressed(data: bytes) -> Iterator[bytes]:
    """Yield what Unix ``compress`` packed (``.Z``), as some runs of the nineties are published, in blocks.

    A code stands for a byte, or for a string seen before: the string of the code before it and one byte more. As both
    were written one behind the other, each string is a slice of the text itself, and no table of strings is kept.
    """
    flags = data[2] if len(data) >= _HEADER else 0
    # a width of nine bits at most is not what compress means by it
    widest, clears = max(flags & 0x1F, 10), flags >> 7
    if flags & 0x60 or not 9 <= flags & 0x1F <= 16:
        raise ValueError("its header is none that compress writes")
    # code -> where its string begins in the text, and how long it is; those of bytes are not looked up
    begins, lengths = [0] * (_CLEAR + clears), [1] * (_CLEAR + clears)
    text, done, kept, begun, length, at, bits = bytearray(), 0, 0, 0, 0, _HEADER, 9
    while at < len(data):
        # codes of one width come in groups of eight
        group = data[at : at + bits]
        codes, n = int.from_bytes(group, "little"), 8 * len(group) // bits
        if len(group) < bits and 8 * len(group) - n * bits >= 8:
            raise EOFError("it ends within a code")
        first, at = at == _HEADER, at + bits
        for i in range(n):
            code, here = codes >> i * bits & (1 << bits) - 1, len(text)
            if code < _CLEAR:
                text.append(code)
            elif clears and code == _CLEAR and (length or not first):
                yield bytes(text[done:])
                begins, lengths = [0] * (_CLEAR + 1), [1] * (_CLEAR + 1)
                text, done, length, bits = bytearray(), 0, 0, 9
                break
            elif length and code < len(begins):
                text += text[begins[code] : begins[code] + lengths[code]]
            elif length and code == len(begins) < 1 << widest:
                # the string that this very code makes
                text += text[begun:]
                text.append(text[begun])
            else:
                raise ValueError("it has a code that stands for nothing")
            if length and len(begins) < 1 << widest:
                begins.append(begun)
                lengths.append(length + 1)
                kept = len(text)
            begun, length = here, len(text) - here
            if here - done > STEP:
                yield bytes(text[done:])
                if len(begins) == 1 << widest:
                    # every code is taken: the strings stay as they are
                    del text[kept:]
                done = len(text)
            if len(begins) == 1 << bits and bits < widest:
                bits += 1
                break
    yield bytes(text[done:])


#: what stands between the cells; in many languages a spreadsheet writes semicolons
SEPARATORS = (",", ";", "\t", "|")
#: white space of bytes; a no-break space may be part of a name
WHITE = " \t\n\r\v\f"
#: what a frame of labels of several annotators must have
LABEL_COLUMNS = ("qid", "docno", "label", "annotator")
#: columns that say how long a label took, or when it was given
TIMES = ("seconds", "lead_time", "start", "end", "time")
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class CsvTable:
    """The rows of a CSV file."""

    frame: pd.DataFrame  # a text in every cell, an empty one where nothing stands
    lines: NDArray[np.int64]  # (rows,) the line on which each row begins

    def place(self, row: int, column: str | None = None) -> str:
        """Return the line of a row in words, and the column."""
        return f"line {int(self.lines[row]):,}" + ("" if column is None else f", column {shown(column)}")

    def of_judgments(self) -> CsvTable:
        """Return the same with our names of columns of judgments."""
        return replace(self, frame=self.frame.rename(columns=judgment_header(list(self.frame.columns))))

    def need(self, columns: Iterable[str], argument: str | None = None) -> None:
        """Raise where the file has no such column."""
        lacking = [column for column in columns if column not in self.frame]
        if lacking:
            problem = f"there is no column {examples(lacking)} among {examples(self.frame.columns, 12)}. Name the "
            raise InputError(f"{problem}columns in the first line.", argument=argument)

    def check_filled(self, *columns: str, argument: str | None = None) -> None:
        """Raise where a cell of some columns is empty."""
        for column in columns:
            blank = np.flatnonzero([not cell.strip(WHITE) for cell in self.frame[column]])
            if len(blank):
                place = self.place(int(blank[0]), column)
                raise InputError("the cell is empty. Fill it in or drop the line.", argument=argument, place=place)

    def numbers(self, column: str, argument: str | None = None) -> NDArray[np.float64]:
        """Return a column of numbers, NaN for an empty cell."""
        cells = [cell.strip(WHITE) for cell in self.frame[column]]
        values = np.array([plain_decimal(cell.encode("utf-8", "replace")) for cell in cells], dtype=np.float64)
        odd = [row for row in np.flatnonzero(~np.isfinite(values)).tolist() if cells[row]]
        if odd:
            problem = f"expected a finite decimal number, got {shown(cells[odd[0]])}. Mend the line."
            raise InputError(problem, argument=argument, place=self.place(odd[0], column))
        return values


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file that may be packed, an archive of one file included; an UnreadableError says why not.

    Bytes that are not UTF-8 are kept as in run files.
    """
    file = user_path(path)
    try:
        if "\0" in str(file) or not file.exists():
            raise UnreadableError("does not exist")
        if file.is_dir():
            raise UnreadableError("is a folder")
    except OSError as error:
        raise UnreadableError(f"cannot be looked up: {error.strerror or error}") from error
    data = read_bytes(file)
    if data.startswith(_ZIP):
        data = _only_member(file)
    if b"\0" in data:
        raise UnreadableError("has a NUL byte, so it is not a plain text file of UTF-8 (UTF-16?)")
    if not data.strip():
        raise UnreadableError("is empty")
    return tokens.as_texts([data.removeprefix(_BOM)])[0]


def read_csv(path: str | os.PathLike[str], argument: str | None = None, *, utf8: bool = False) -> CsvTable:
    """Read CSV with a header; with `utf8`, bytes that are not UTF-8 are refused."""
    return parse_csv(lines_of(read_utf8(path, argument, any_bytes=not utf8)), argument)


def read_utf8(path: str | os.PathLike[str], argument: str | None = None, *, any_bytes: bool = False) -> str:
    """Return the text of a file as :func:`read_text` does; what is no UTF-8 is an InputError, except with any_bytes."""
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise InputError(f"the file {error}. Give text in UTF-8.", argument=argument) from error
    if not any_bytes and (odd := re.search("[\udc80-\udcff]", text)):
        problem = f"the byte 0x{ord(odd[0]) - 0xDC00:02X} is no UTF-8. Save the file as UTF-8."
        raise InputError(problem, argument=argument, place=f"line {text.count(chr(10), 0, odd.start()) + 1:,}")
    return text


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, whichever system wrote it; a carriage return alone ends none."""
    return [line.removesuffix("\r") for line in text.split("\n")]


#: our name of a column of judgments -> what files call it, without case, spaces and marks, the likeliest first
_ROLES = {
    "qid": ("qid", "queryid", "topicid", "topic", "query", "q"),
    "docno": ("docno", "docid", "corpusid", "documentid", "passageid", "pid", "did", "document", "doc"),
    "label": ("label", "relevance", "rel", "grade", "judgment", "judgement", "qrel", "score"),
}
#: columns of results, beside which a score is no label
_OF_RESULTS = {"rank", "name", "system", "run", "runid", "tag"}
#: of judgments known by a header, further columns that have a name of ours
_OTHERS = {"iter": "iteration", "q0": "iteration"}
#: how far a header is looked for, in bytes
BEGINNING = 1 << 16


def judgment_header(cells: Sequence[str]) -> dict[str, str]:
    """Return the names of columns of judgments -> ours, nothing where they do not name topic, document and label."""
    plain = {re.sub(r"[\s_-]", "", cell.strip(' "')).lower(): cell for cell in reversed(cells)}
    found: dict[str, str] = {}
    for ours, names in _ROLES.items():
        there = next((plain[name] for name in names if name in plain), None)
        if there is None or there in found or (plain.get("score") == there and _OF_RESULTS & set(plain)):
            return {}
        found[there] = ours
    free = {theirs: ours for theirs, ours in _OTHERS.items() if theirs in plain and ours not in plain}
    return found | {plain[theirs]: ours for theirs, ours in free.items()}


def headed_judgments(data: bytes) -> list[str] | None:
    """Return the names in the first line of judgments, where it has names in place of values, else None."""
    for line in data[:BEGINNING].removeprefix(_BOM).split(b"\n"):
        if line.strip() and not line.lstrip().startswith(b"#"):
            header = line.decode("utf-8", "replace").rstrip("\r")
            separator = separator_of(header)
            cells = [cell.strip(' "') for cell in (header.split(separator) if separator in header else header.split())]
            return cells if judgment_header(cells) else None
    return None


def read_judgment_rows(data: bytes, argument: str | None = None) -> CsvTable:
    """Return judgments that have a header as ``qid docno label`` and what else stands there."""
    lines = lines_of(tokens.as_texts([data.removeprefix(_BOM)])[0])
    first = next(i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    lines = lines[first:]
    if separator_of(lines[0]) not in lines[0]:
        lines = ["\t".join(line.split()) for line in lines]
    return parse_csv(lines, argument, first_line=first + 1).of_judgments()


def separator_of(header: str) -> str:
    """Return what stands between the cells of a header: a tab where it has one, else what it has most of."""
    return "\t" if "\t" in header else max(SEPARATORS, key=header.count)


def parse_csv(lines: Sequence[str], argument: str | None = None, *, first_line: int = 1) -> CsvTable:
    """Return the rows of CSV; the first line that is not blank is the header."""
    blank = next((i for i, line in enumerate(lines) if line.strip(WHITE)), 0)
    lines, first_line = lines[blank:], first_line + blank
    header: list[str] | None = None
    rows: list[list[str]] = []
    at: list[int] = []
    reader = CsvReader((f"{line}\n" for line in lines), delimiter=separator_of(lines[0]), strict=True)
    line = 0
    try:
        for row in reader:
            if header is None:
                header = [cell.strip(WHITE) for cell in row]
            elif any(cell.strip(WHITE) for cell in row):
                if len(row) != len(header):
                    raise csv.Error(f"{count(len(row), 'cell')} where the header has {len(header):,}")
                rows.append(row)
                at.append(first_line + line)
            # the next row begins here
            line = reader.line_num
    except csv.Error as error:
        problem = f"the line cannot be read as CSV ({error}). Mend it."
        raise InputError(problem, argument=argument, place=f"line {first_line + line:,}") from error
    header = header or []
    columns = {i: pd.Series([row[i] for row in rows], dtype=object) for i in range(len(header))}
    # spreadsheets write separators behind the last column
    kept = [i for i, name in enumerate(header) if name or any(cell.strip(WHITE) for cell in columns[i])]
    frame = pd.DataFrame({i: columns[i] for i in kept}).set_axis([header[i] for i in kept], axis=1)
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise InputError(f"more than one column {examples(twice)}.", argument=argument, place=f"line {first_line:,}")
    return CsvTable(frame, np.array(at, dtype=np.int64))


def read_csv_labels(path: Path) -> pd.DataFrame:
    """Return ``qid docno label``, and ``annotator`` and times where they are there, as texts; None where empty."""
    table = read_csv(path, "files").of_judgments()
    frame = table.frame
    check_label_columns(frame, LABEL_COLUMNS[:3], "a CSV file of labels", "files")
    table.check_filled(*(name for name in ("qid", "docno", "annotator") if name in frame), argument="files")
    table.numbers("label", "files")
    kept = frame[[column for column in (*LABEL_COLUMNS, *TIMES) if column in frame]]
    return kept.apply(lambda cells: cells.where(cells.str.strip() != "", None) if cells.name != "annotator" else cells)


def check_label_columns(frame: pd.DataFrame, needed: Sequence[str], what: str, argument: str) -> None:
    """Raise where a frame of labels lacks a column."""
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        problem = f"{examples(missing)} not among {examples(frame.columns, 12)}"
        raise InputError(f"{what} must have the columns {listed(LABEL_COLUMNS)}; {problem}.", argument=argument)
