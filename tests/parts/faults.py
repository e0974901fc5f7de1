"""Small files and frames for the tests of faults."""

from __future__ import annotations

import pandas as pd

RUN = b"1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n"
OTHER = RUN.replace(b"bm25", b"dense")
QRELS = b"1 0 d1 1\n1 0 d2 0\n"
TWO = {"r/a": RUN, "r/b": OTHER}
LONG = b"".join(b"%d Q0 d%d %d %d bm25\n" % (topic, i, i, 2000 - i) for topic in range(5) for i in range(200))
FRAME = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
LABELS = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})


def put(folder, files):
    """Put files, name -> bytes or text, into a folder, and return it."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder
