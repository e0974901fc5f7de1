"""Steps of a pipeline that keep some of the documents: judged ones, unjudged ones, those of a part of the corpus."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import count, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse.data.judgments import as_qrels
from pt_reuse.data.labelling import LABELS
from pt_reuse.data.selection import OfDocno, holds


class _Kept(pt.Transformer):
    """Keeps some rows of results: scores stay, and ranks are closed up, from 0 as in pyterrier."""

    transform_inputs: ClassVar[list[list[str]]] = [["qid", "docno"]]

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that are kept, in their order, with ranks that have no gaps.

        Args:
            inp: results, or any documents: ``qid docno``. Where there is a ``rank``, it is numbered anew, from 0, in
                the order that it gives.

        Raises:
            pyterrier.validate.InputValidationError: a frame without ``qid`` or ``docno``.
        """
        if not len(inp.columns):
            return inp  # a batch without results, whatever it looks like
        pt.validate.columns(inp, includes=["qid", "docno"], context=self)
        kept = inp[self._kept(inp)].reset_index(drop=True)
        if "rank" in kept:
            rank = kept.groupby("qid")["rank"].rank(method="first").astype("int64")
            kept["rank"] = rank - 1 + pt.model.FIRST_RANK
        return kept

    @abstractmethod
    def _kept(self, inp: pd.DataFrame) -> NDArray[np.bool_]:
        """Return which rows are kept."""


class OnlyJudged(_Kept):
    """Keeps the documents that have a judgment, so that what comes out is a condensed list.

    Measures of condensed lists take unjudged documents as if they had not been retrieved. ``bm25 >> OnlyJudged(qrels)``
    scores as ``bm25`` does under measures with ``judged_only=True``, and for every measure.

    Args:
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        min_label: the lowest label that counts as judged; default 0, since -1 means pooled and not judged.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "label": [1, 0]})
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
        >>> ptr.OnlyJudged(qrels)(run)
          qid docno  score  rank
        0   1    d2    2.0     0
        1   1    d3    1.0     1

    Source: Sakai, SIGIR 2007, "Alternatives to bpref".
    """

    # without an address of its own pyterrier would look the documentation up on the network
    schematic: ClassVar[dict[str, Any]] = {"label": "judged", "help_url": None}
    _judged = True

    @door
    def __init__(self, qrels: Any, *, min_label: int = 0):
        if isinstance(min_label, bool) or not isinstance(min_label, int | np.integer):
            raise InputError(
                Argument("min_label"),
                f" must be a whole number from {LABELS[0]} to {LABELS[1]}, got {told(min_label)}.",
                argument="min_label",
            )
        self.qrels, self.min_label = as_qrels(qrels), int(min_label)
        documents, judged = self.qrels.arrays.documents, self.qrels.arrays.labels >= self.min_label
        self._pairs = pd.MultiIndex.from_arrays([documents.qids()[judged], documents.docnos()[judged]])

    def _kept(self, inp: pd.DataFrame) -> NDArray[np.bool_]:
        pairs = pd.MultiIndex.from_arrays([inp["qid"].astype(str), inp["docno"].astype(str)])
        return np.asarray((self._pairs.get_indexer(pairs) >= 0) == self._judged)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({count(len(self.qrels), 'judgment')}, min_label={self.min_label})"


class OnlyUnjudged(OnlyJudged):
    """Keeps the documents that have no judgment yet: what is left to judge.

    Args:
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        min_label: the lowest label that counts as judged; default 0, since -1 means pooled and not judged.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "label": [1, 0]})
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
        >>> ptr.OnlyUnjudged(qrels)(run)
          qid docno  score  rank
        0   1    d1    3.0     0
    """

    schematic: ClassVar[dict[str, Any]] = {"label": "unjudged", "help_url": None}
    _judged = False


class OnlyDocuments(_Kept):
    """Keeps the documents of a part of the corpus: a subsample, one source, a list of names.

    Args:
        docnos: the names of the documents to keep.
        where: in their place, a function of a name that returns whether to keep the document. A pipeline that goes to
            other processes needs a function of a module, which can be pickled.

    Raises:
        InputError: neither or both, one text in place of several, a `where` that is no function.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> run = pd.DataFrame({"qid": "1", "docno": ["FT1", "LA1", "FT2"], "score": [3.0, 2.0, 1.0]})
        >>> ptr.OnlyDocuments(where=lambda docno: docno.startswith("FT"))(run)["docno"].tolist()
        ['FT1', 'FT2']
        >>> ptr.OnlyDocuments(["LA1", "LA2"])(run)["docno"].tolist()
        ['LA1']
    """

    schematic: ClassVar[dict[str, Any]] = {"label": "part of corpus", "help_url": None}

    @door
    def __init__(self, docnos: Iterable[str] | None = None, *, where: OfDocno | None = None):
        if (docnos is None) == (where is None):
            raise InputError("say which documents to keep: either docnos, their names, or where, a function of a name.")
        if where is not None and not callable(where):
            raise InputError(f"where must be a function of a docno, got {told(where)}.", argument="where")
        if docnos is not None and (isinstance(docnos, str | bytes | pd.DataFrame) or not isinstance(docnos, Iterable)):
            raise InputError(f"docnos must be several names of documents, got {told(docnos)}.", argument="docnos")
        self.docnos = None if docnos is None else frozenset(str(docno) for docno in docnos)
        self.where = where

    def _kept(self, inp: pd.DataFrame) -> NDArray[np.bool_]:
        names = inp["docno"].astype(str)
        if self.docnos is not None:
            return np.array([name in self.docnos for name in names], dtype=bool)
        found = {name: self.where is not None and holds(self.where, name) for name in dict.fromkeys(names)}
        return np.array([found[name] for name in names], dtype=bool)

    def __repr__(self) -> str:
        what = f"{len(self.docnos):,} documents" if self.docnos is not None else f"where={self.where!r}"
        return f"OnlyDocuments({what})"
