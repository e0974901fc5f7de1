"""Qrels: judgments, and the algebra that makes new ones of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse import _text
from pt_reuse._text import Printed
from pt_reuse.data.frame_columns import (
    LABELS,
    as_ids,
    as_pairs,
    check_frame,
    frame_of,
    in_judgment_columns,
    warn_of_white_space,
)
from pt_reuse.data.qrels_files import (
    CONFLICTS,
    QrelsArrays,
    count_labels,
    judged_rows,
    read_arrays,
    tell_bare_topics,
    topic_set,
    united,
    write_arrays,
)
from pt_reuse.data.sharing import Shareable
from pt_reuse.errors import InputError, checked_seed, choice, columns, count, examples, flag, shown

#: what a frame of judgments, or each tuple, must have
COLUMNS = ("qid", "docno", "label")
#: where the frame that pt.Experiment takes apart says of which judgments it is, see :class:`Whole`
WHOLE = "pt_reuse"


class Whole(NamedTuple):
    """What a part of judgments, such as those of some topics, does not tell of all of them."""

    highest: int  # their highest label
    relevant_only: bool


class Qrels(Printed, Shareable):
    """Judgments of documents for topics; immutable, every operation returns a new one.

    Labels: > 0 relevant at that grade, 0 judged not relevant, -1 pooled but not judged, -2 junk. *Judged* means a label
    >= 0, *relevant* a label >= :attr:`rel`; measures have a `rel` of their own. The topic set is kept by all operations
    but :meth:`select`: a topic that loses its last document stays, and counts 0 in means.

    pt.Experiment and the functions of ir_measures accept it, see :meth:`merge`.

    Args:
        frame: columns ``qid``, ``docno``, ``label``, or those of ir_measures, BEIR, ranx and trectools; further columns
            (who judged, which round) are carried along. Whole numbers and bytes of UTF-8 become texts.
        topics: the topic set, when it is larger than the topics of the rows.
        rel: the lowest label that is relevant, >= 1; None (default): not stated, which counts as 1.

    Attributes:
        arrays: the judgments underneath.
        stated_rel: `rel` as given, None if not stated.

    Raises:
        InputError: a missing column, an id that is no text, a label that is no whole number, one document with two
            labels, a `rel` that is no grade.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> old = ptr.Qrels(pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]}))
        >>> new = ptr.Qrels(pd.DataFrame({"qid": ["1", "2"], "docno": ["c", "a"], "label": [2, 0]}))
        >>> old | new
        Qrels: 2 topics, 4 judgments, 2 relevant (labels 0: 2, 1: 1, 2: 1)
        >>> (old | new).threshold(2).to_frame()["label"].tolist()
        [0, 0, 1, 0]
        >>> (old | new).with_rel(2)
        Qrels: 2 topics, 4 judgments, 1 relevant from label 2 (labels 0: 2, 1: 1, 2: 1)
    """

    _artifact_type: ClassVar[str] = "qrels"

    def __init__(self, frame: pd.DataFrame, *, topics: Iterable[str] | None = None, rel: int | None = None):
        self.stated_rel = checked_rel(rel)
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"expected a DataFrame, got {type(frame).__name__}. Use read_qrels for a file.")
        frame = in_judgment_columns(frame)
        check_frame(frame, ("qid", "docno", "label"))
        self.arrays = judged_rows(frame).to_arrays(topic_set(topics))
        warn_of_white_space(self.arrays.documents.topics, self.arrays.documents.words)

    @classmethod
    def of_arrays(cls, arrays: QrelsArrays, rel: int | None = None) -> Qrels:
        """Return the judgments of `arrays`, which are valid already; `rel` is None if not stated."""
        made = cls.__new__(cls)
        made.arrays, made.stated_rel = arrays, rel
        return made

    @property
    def rel(self) -> int:
        """Return the lowest label that is relevant; 1 if it is not given."""
        return 1 if self.stated_rel is None else self.stated_rel

    def with_rel(self, rel: int | None) -> Qrels:
        """Return the same judgments, relevant from another label on; the labels stay, see :meth:`threshold`.

        `rel` is the lowest label that is relevant, >= 1; None forgets it.
        """
        return Qrels.of_arrays(self.arrays, checked_rel(rel))

    @property
    def topics(self) -> list[str]:
        """Return the topic set, in natural order."""
        return list(self.arrays.documents.topics)

    @property
    def whole(self) -> Whole:
        """Return what a part of the judgments does not tell of all of them."""
        labels = self.arrays.labels
        return Whole(self.arrays.highest, is_relevant_only(labels))

    def __len__(self) -> int:
        return len(self.arrays.labels)

    def to_frame(self) -> pd.DataFrame:
        """Return the judgments as a PyTerrier frame: ``qid docno label`` and all further columns."""
        documents, labels, extra = self.arrays.documents, self.arrays.labels, self.arrays.extra
        frame = pd.DataFrame({"qid": documents.qids(), "docno": documents.docnos(), "label": labels.astype(np.int64)})
        return frame if extra is None else pd.concat([frame, extra], axis=1)

    def __iter__(self) -> Iterator[ir_measures.Qrel]:
        """Yield the judgments as ir_measures has them, so that its functions take a Qrels."""
        tell_bare_topics(self.arrays)
        documents, labels = self.arrays.documents, self.arrays.labels
        yield from map(ir_measures.Qrel, documents.qids().tolist(), documents.docnos().tolist(), labels.tolist())

    def __getitem__(self, columns: Any) -> Any:
        """Return columns of :meth:`to_frame`."""
        return self.to_frame()[columns]

    def merge(self, *right: Any, **options: Any) -> pd.DataFrame:
        """Return :meth:`to_frame`, merged with `right` and `options` as pandas does: what pt.Experiment asks.

        A warning names topics without judgments, which a frame cannot hold. With ``filter_by_topics=False``, and in
        pt.Evaluate, PyTerrier takes only a frame: give ``qrels.to_frame()``.
        """
        tell_bare_topics(self.arrays)
        merged = self.to_frame().merge(*right, **options)
        # to measures that need more than the topics asked; pandas keeps it in what is taken of the frame
        merged.attrs[WHOLE] = self.whole
        return merged

    def counts(self, *, rel: int | None = None, by: str | None = None) -> pd.DataFrame:
        """Return per topic: ``qid judged relevant unjudged junk density``.

        ``unjudged`` counts label -1, ``junk`` all labels below; ``density`` is relevant / judged, 0 where none is
        judged. `rel` is the lowest label that is relevant, by default :attr:`rel`. `by` is a further column, such as
        ``"round"`` or ``"judge"``: it comes after ``qid``, and there is a row for each topic and each of its values.

        Raises:
            InputError: a `rel` that is no grade, a column that the judgments do not have.

        Example:
            >>> import pandas as pd, pt_reuse as ptr
            >>> qrels = ptr.Qrels(pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "label": [2, 1, 0]}))
            >>> qrels.counts()
              qid  judged  relevant  unjudged  junk  density
            0   1       2         2         0     0      1.0
            1   2       1         0         0     0      0.0
        """
        return count_labels(self.arrays, relevant_from(self, rel), by)

    def __or__(self, other: Any) -> Qrels:
        """Unite; a document with two labels is an error. Use :meth:`union` to choose another rule."""
        # an operator takes no option
        return self.union(other)

    def union(self, other: Any, *, conflict: str = "error") -> Qrels:
        """Return the judgments of both, all (topic, document) pairs of either.

        Args:
            other: further judgments, in any form. If only one side states `rel`, the union has it.
            conflict: the label of a document that has two: ``"error"`` (default), the label of the ``"first"`` or
                ``"second"`` Qrels, the ``"higher"`` or the ``"lower"`` one. A label of -1 (pooled, not judged) is
                replaced by any judgment without a conflict.

        Raises:
            InputError: two labels of one document under ``conflict="error"``, or two different `rel`.
        """
        choice("conflict", conflict, CONFLICTS)
        theirs = as_qrels(other, "other")
        rels = {rel for rel in (self.stated_rel, theirs.stated_rel) if rel is not None}
        if len(rels) > 1:
            problem = f"relevant is from label {self.rel} on here, from {theirs.rel} there. Use Qrels.with_rel(rel)."
            raise InputError(problem, argument="other")
        return Qrels.of_arrays(united(self.arrays, theirs.arrays, conflict), *rels)

    def __sub__(self, other: Any) -> Qrels:
        """Remove every judgment whose (topic, document) stands in `other`: a Pool, a frame, judgments in any form."""
        return self.keep(self._find_rows(other, "other") < 0)

    def restrict(self, pool: Any) -> Qrels:
        """Keep the judgments of the documents in `pool`: a Pool, a frame, judgments in any form."""
        return self.keep(self._find_rows(pool, "pool") >= 0)

    def threshold(self, rel: int | None = None) -> Qrels:
        """Make the labels binary: 1 at grade `rel` or above, 0 for lower judged grades; negative labels stay.

        `rel` is by default :attr:`rel`. Relevant documents then have label 1, also for nDCG; :meth:`with_rel` keeps the
        grades.
        """
        lowest, labels = relevant_from(self, rel), self.arrays.labels
        binary = np.where(labels >= lowest, 1, np.where(labels < 0, labels, 0)).astype(np.int16)
        return Qrels.of_arrays(replace(self.arrays, labels=binary, scale=0), 1)

    def sample(self, share: float, *, seed: int) -> Qrels:
        """Keep a random `share` of the judgments of each topic, between 0 and 1, rounded to whole documents.

        The same `seed` gives the same sample in every process; it is drawn without replacement, and all topics stay.
        """
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise InputError(f"share must be a number between 0 and 1, got {share!r}.", argument="share")
        random = np.random.default_rng(checked_seed(seed))
        kept = np.zeros(len(self), dtype=bool)
        starts = self.arrays.documents.starts.tolist()
        for start, stop in pairwise(starts):
            kept[start + random.permutation(stop - start)[: round(share * (stop - start))]] = True
        return self.keep(kept)

    def select(self, topics: Iterable[str]) -> Qrels:
        """Return the judgments of these topics alone; the scale of labels stays, in :func:`Low` and :func:`High`."""
        if not isinstance(topics, Iterable) or isinstance(topics, bytes):
            raise InputError(f"topics must be topic ids, got {topics!r}.", argument="topics")
        wanted = list(dict.fromkeys([topics] if isinstance(topics, str) else as_ids("topic", topics)))
        place = self.arrays.documents.place
        unknown = [topic for topic in wanted if topic not in place]
        if unknown:
            raise InputError(f"{examples(unknown)} not among the topics {examples(self.topics)}.", argument="topics")
        return Qrels.of_arrays(self.arrays.of_topics(sorted(place[topic] for topic in wanted)), self.stated_rel)

    def write(self, path: str | Path, *, overwrite: bool = False, strata: bool = False) -> Path:
        """Write a TREC qrels file to `path`: ``qid 0 docno label``, or with `strata` ``qid 0 docno stratum label``.

        The file cannot hold topics without judgments and further columns: they are left out, with a warning. Nor does
        it hold :attr:`rel`: give it again when the file is read. `overwrite` replaces a file that exists.

        Raises:
            InputError: no judgments, or no strata, a file that exists or cannot be written, a name with white space.
        """
        return write_arrays(self.arrays, path, overwrite=overwrite, strata=strata)

    def __repr__(self) -> str:
        values, counts = np.unique(self.arrays.labels, return_counts=True)
        labels = ", ".join(f"{v}: {c:,}" for v, c in zip(values.tolist(), counts.tolist(), strict=True))
        relevant = f"{int((self.arrays.labels >= self.rel).sum()):,} relevant"
        if self.rel > 1:
            relevant += f" from label {self.rel}"
        head = f"{count(len(self.topics), 'topic')}, {count(len(self), 'judgment')}, {relevant}"
        whole = f"; of all topics up to {self.whole.highest}" if self.whole.highest > values.max(initial=0) else ""
        return f"Qrels: {head} (labels {labels or 'none'}{whole})"

    def _repr_html_(self) -> str:
        return _text.html_headline(repr(self)) + _text.html_table(self.counts(), most=12, what="topics in .counts()")

    def keep(self, kept: NDArray[np.bool_]) -> Qrels:
        """Return the judgments marked in (judgments,) `kept`, in the order of :meth:`to_frame`; the topic set stays."""
        return Qrels.of_arrays(self.arrays.take(np.flatnonzero(kept)), self.stated_rel)

    def _find_rows(self, other: Any, argument: str) -> NDArray[np.int64]:
        if hasattr(other, "to_qrels"):  # a Pool
            other = other.to_qrels()
        elif isinstance(other, pd.DataFrame) and "label" not in (other := in_judgment_columns(other)).columns:
            columns("the frame", other.columns, ("qid", "docno"))
            pairs = pd.DataFrame(dict(zip(("qid", "docno"), as_pairs(other), strict=True)), dtype=object)
            other = Qrels(pairs.drop_duplicates().assign(label=0))
        return as_qrels(other, argument).arrays.documents.find(self.arrays.documents)


def is_relevant_only(labels: NDArray[np.integer]) -> bool:
    """Return whether labels are of relevant documents only, so that unjudged and not relevant are the same."""
    return bool((labels >= 0).any() and not (labels == 0).any())


def checked_rel(rel: Any, argument: str = "rel") -> int | None:
    """Return a user's ``rel=`` as an int, None for None, or say that it is no grade."""
    if rel is None:
        return None
    if isinstance(rel, bool) or not isinstance(rel, int | np.integer) or not 1 <= rel <= LABELS[1]:
        raise InputError(
            f"{argument} must be a whole number from 1 to {LABELS[1]}, got {shown(rel)}.", argument=argument
        )
    return int(rel)


def relevant_from(qrels: Qrels, rel: int | None) -> int:
    """Return the lowest label that is relevant: the user's ``rel=``, or what the judgments say where that is None."""
    chosen = checked_rel(rel)
    return qrels.rel if chosen is None else chosen


def check_not_empty(qrels: Qrels) -> None:
    """Raise where judgments have no topic, of which nothing can be said."""
    if not qrels.topics:
        raise InputError("the qrels hold no judgment. Give judgments of one topic or more.", argument="qrels")


#: rounding of probabilities that were written to a file
_ROUNDING = 1e-6


def check_all_labelled(
    topic: pd.Series, stratum: pd.Series, label: pd.Series, inclusion: pd.Series, *, argument: str
) -> None:
    """Raise where fewer documents of a stratum have a label than were drawn: the pooled ones times their probability.

    An estimate takes the labelled ones for all that were drawn, so it is wrong where, say, relevant ones alone are.
    """
    keys = [topic.to_numpy(), stratum.to_numpy()]
    drawn = pd.Series(pd.to_numeric(inclusion, errors="coerce").to_numpy(dtype=np.float64)).groupby(keys, sort=False)
    judged = pd.Series((label >= 0).to_numpy()).groupby(keys, sort=False).sum()
    strata = pd.DataFrame({"judged": judged, "drawn": drawn.sum(min_count=1)})
    few = strata[strata["judged"] < strata["drawn"] - _ROUNDING]
    if not len(few):
        return
    lacking = int(np.ceil((few["drawn"] - few["judged"] - _ROUNDING).sum()))
    where = [
        f"{row.judged:,.0f} of {row.drawn:,.0f} in stratum {row.Index[1]} of topic {row.Index[0]}"
        for row in few.itertuples()
    ]
    problem = f"{count(lacking, 'document')} of the sample without a label: {examples(where)} have one. Judge all."
    raise InputError(problem, argument=argument)


def is_collection(given: Any) -> bool:
    """Return whether something is the name of a collection as PyTerrier has it, which stands for what it has."""
    return isinstance(given, str) and given.startswith("reuse:")


def as_qrels(value: Any, argument: str = "qrels") -> Qrels:
    """Return what a user gives as judgments as a Qrels: the one place that takes judgments of any kind."""
    if isinstance(value, Qrels):
        return value
    if is_collection(value):
        found: Qrels = pt.get_dataset(value).get_judgments()
        return found
    if hasattr(value, "to_qrels") and hasattr(value, "table"):
        # the labels that came back from people; a pool has none
        returned: Qrels = value.to_qrels()
        return returned
    if isinstance(value, str | os.PathLike):
        return Qrels.of_arrays(read_arrays(value, argument=argument))
    frame = in_judgment_columns(value) if isinstance(value, pd.DataFrame) else frame_of(value, COLUMNS)
    if isinstance(frame, pd.DataFrame) and ("label" in frame or not {"qid", "docno", "score"} <= set(frame)):
        return Qrels(frame, topics=list(value) if isinstance(value, Mapping) else None)
    raise InputError(
        f"{argument} must be a Qrels, a frame with 'qid', 'docno' and 'label', Qrel tuples, a dict of topic -> "
        "document -> label, a file, or a collection's name ('reuse:dl19'), got "
        f"{frame if isinstance(frame, str) else 'a frame of results'}.",
        argument=argument,
    )


def read_qrels(path: str | Path, *, rel: int | None = None, strata: bool = False) -> Qrels:
    r"""Read a TREC qrels file, ``qid iteration docno label``, or judgments whose first line names the columns.

    Columns are separated by any white space. As in trec_eval, a line that begins with ``#`` is a comment, and text
    after the fourth column is an error. Here a comment may be indented, and comments may follow one another.

    A first line such as ``query-id corpus-id score`` (BEIR), ``query_id doc_id relevance`` or ``qid docno label`` says
    what stands where; cells are separated by tabs, commas, semicolons or white space, further columns carried along.

    Args:
        path: the file; packed files are recognised by their first bytes.
        rel: the lowest label that is relevant, >= 1; default 1. On the passages of Deep Learning it is 2.
        strata: the file is that of a sample, with five columns: ``qid iteration docno stratum label``, as NIST's
            sample_eval.pl takes them and :meth:`Qrels.write` writes them. Label -1 is pooled and not sampled. The
            judgments get the columns ``stratum`` and ``inclusion``, the share of the topic's stratum that is judged.

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
