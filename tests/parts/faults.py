"""Small files and frames, the recurring parts of messages, and the check of a whole message."""

from __future__ import annotations

import pandas as pd
import pytest

from pt_reuse._errors import InputError

RUN = b"1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n"
OTHER = RUN.replace(b"bm25", b"dense")
QRELS = b"1 0 d1 1\n1 0 d2 0\n"
TWO = {"r/a": RUN, "r/b": OTHER}
LONG = b"".join(b"%d Q0 d%d %d %d bm25\n" % (topic, i, i, 2000 - i) for topic in range(5) for i in range(200))
FRAME = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
LABELS = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})

SIX = "six columns: qid Q0 docno rank score tag"
FOUR = "four columns: qid iteration docno label"
EMPTY = f"the file is empty; expected one line per document of {SIX}."
WHITE = f"the file holds nothing but white space; expected one line per document of {SIX}."
NUL = f"a NUL byte, so this is not a plain text file (an image, an archive, or UTF-16?). Expected UTF-8 text of {SIX}."
LOOKS_LIKE_QRELS = "This looks like qrels (four columns): give it to read_qrels."
LOOKS_LIKE_RUN = "This looks like a run file (six columns): give it to read_runs."
MEND = "Mend or remove the line; names must not hold white space."
AWAY = "If this is no such file, move it away or give a pattern such as 'input.*'."
GIVE_RUN, GIVE_QRELS = f"Give a run file, {SIX}.", f"Give qrels, {FOUR}."
FINITE = "must be a finite decimal number, got"
LEAVE_OUT = "Mend the line, or leave the document out of the run."
WHOLE = "must be a whole number from -32768 to 32767, got"
MAP = "Map the labels to whole grades (0 not relevant, 1, 2, ... relevant) first."
ORDERS = "'trec_eval', 'trec_eval9', 'rank', 'file'"
NO_ORDER = "so order='rank' has no order to follow. Use order='trec_eval' (by score) or order='file'."
TAGS = "Are these the run tags? names='file' takes run names from the file names instead."
SEVERAL = "read_runs: source must be a folder, a pattern, or several files, got"
FRAMES = "RunSet.from_frames: frames must be a dict of run name -> result frame, got"
TWO_COLUMNS = "Give a file with two columns, run tag and team, or a dict."
SPACES = "cannot be written to a TREC file, whose columns are separated by white space. Rename it first."


def put(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def check(folder, call, message):
    """Call with the folder and compare the whole message, the folder's path written {d}."""
    with pytest.raises(InputError) as caught:
        call(folder)
    assert str(caught.value).replace(str(folder), "{d}") == message
