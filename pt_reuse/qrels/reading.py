"""read_qrels: the door to qrels files."""

from __future__ import annotations

from pathlib import Path

from pt_reuse._check import flag
from pt_reuse._errors import door
from pt_reuse.qrels.files import read_arrays
from pt_reuse.qrels.judgments import Qrels, checked_rel


@door
def read_qrels(path: str | Path, *, rel: int | None = None, strata: bool = False) -> Qrels:
    r"""Read a TREC qrels file: four columns, ``qid iteration docno label``, separated by any white space.

    As in trec_eval, a line that begins with ``#`` is a comment, and text after the fourth column is an error. Here a
    comment may be indented, and comments may follow one another.

    Args:
        path: the file; packed files are recognised by their first bytes.
        rel: the lowest label that is relevant, >= 1; default 1. On the passages of Deep Learning it is 2.
        strata: the file is of a sample, with five columns: ``qid iteration docno stratum label``, as NIST's
            sample_eval.pl takes them and :meth:`Qrels.write` writes them. Label -1 is pooled and not sampled. The
            judgments get the columns ``stratum`` and ``inclusion``, the part of the topic's stratum that is judged.

    Returns:
        Qrels: all judgments, negative labels included.

    Raises:
        InputError: naming the file, the line and what to do.

    Example:
        >>> import tempfile, pathlib, pt_reuse as ptr
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
        >>> _ = file.write_text("1 0 d1 2\n1 0 d2 0\n")
        >>> ptr.read_qrels(file)
        Qrels: 1 topic, 2 judgments, 1 relevant (labels 0: 1, 2: 1)
    """
    lowest = checked_rel(rel)
    return Qrels.of_arrays(read_arrays(path, strata=flag("strata", strata)), lowest)
