"""read_qrels: the door to qrels files."""

from __future__ import annotations

from pathlib import Path

from pt_reuse._errors import door
from pt_reuse.qrels.files import read_arrays
from pt_reuse.qrels.judgments import Qrels


@door
def read_qrels(path: str | Path) -> Qrels:
    """Read a TREC qrels file: four columns, ``qid iteration docno label``, separated by any white space.

    Args:
        path: the file; packed files are recognised by their first bytes.

    Returns:
        Qrels: all judgments, negative labels included.

    Raises:
        InputError: naming the file, the line and what to do.
    """
    return Qrels.of_arrays(read_arrays(path))
