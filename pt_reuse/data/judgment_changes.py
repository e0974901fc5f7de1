"""Judgments made otherwise: asked of a judge, estimated, expanded, of scores; and runs reranked by them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.field import Field
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.frame_columns import (
    as_pairs,
    checked_labels,
    in_judgment_columns,
    in_our_columns,
    in_rows,
    number_column,
    row_in_words,
    with_provenance,
)
from pt_reuse.data.judgments import Qrels, as_qrels, check_all_labelled, checked_rel, relevant_from
from pt_reuse.data.packed_files import UnreadableError, lines_of, read_text
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, count, examples, located, shown
from pt_reuse.errors import columns as check_columns

#: whoever is asked with a frame of ``qid docno`` and answers with one label a row, or with a frame that has labels
Asked: TypeAlias = "Callable[[pd.DataFrame], Iterable[Any] | pd.DataFrame]"
#: what there is to read of topics and documents; a function may miss a key of its own, which is another matter
_READ = {"query", "text", "title", "body", "description", "narrative", "url"}
#: columns of PyTerrier's that say something of a topic, a document or a ranking, and nothing of a label
_OF_RANKING = re.compile(r"query(_\d+)?|query_toks|query_vec|docid|rank|score|text|toks|doc_vec")


def labels_by(judge: Asked, pairs: pd.DataFrame, name: str | None = None) -> pd.DataFrame:
    """Return the labels that somebody gives documents."""
    with telling_of_texts(pairs.columns):
        answer: Any = judge(pairs.copy())
    if isinstance(answer, pd.DataFrame):
        beside = _beside(pairs, answer)
        label, further = beside["label"], {column: beside[column].array for column in beside if column != "label"}
    else:
        what = "the judge must return a frame with qid, docno and label, or one label per document"
        label, further = checked_labels(in_rows(answer, pairs.index, what, len(pairs)), pairs), {}
    return pd.DataFrame(with_provenance(label, further, name or name_of(judge)), index=pairs.index)


@contextmanager
def telling_of_texts(columns: Iterable[str]) -> Iterator[None]:
    """Say what to add where somebody who is asked reads a query or a text that is not among the columns given."""
    try:
        yield
    except (KeyError, AttributeError) as error:
        missed = [error.name] if isinstance(error, AttributeError) else list(error.args)
        if isinstance(error, pt.validate.InputValidationError):
            missed = [column for mode in error.modes for column in mode.missing_columns or ()]
        lacking = [column for column in missed if column in _READ and column not in columns]
        if not lacking:
            raise
        raise without_texts(lacking, columns) from error


def without_texts(lacking: Iterable[str], columns: Iterable[str]) -> InputError:
    """Return the error for a judge that reads what it is not given."""
    problem = (
        f"the judge reads {examples(lacking)}, and is given {examples(columns, 12)}. Hand it texts, for instance by "
    )
    return InputError(f"{problem}judging.WithTexts(judge, topics=..., texts=...).", argument="judge")


def name_of(judge: Any) -> str:
    """Return what a function, a transformer or a judge is called in the provenance of its labels."""
    judge = _last(judge)
    for attribute in ("name", "__name__"):
        name = getattr(judge, attribute, None)
        if isinstance(name, str) and name:
            return "function" if name == "<lambda>" else name
    return type(judge).__name__


def rel_of(judge: Any) -> int | None:
    """Return from which label on the labels of a judge are relevant, None where it does not say."""
    return checked_rel(getattr(_last(judge), "rel", None))


def _last(judge: Any) -> Any:
    while isinstance(judge, pt.Transformer) and hasattr(judge, "__getitem__"):
        judge = judge[-1]
    return judge


def _beside(pairs: pd.DataFrame, answer: pd.DataFrame) -> pd.DataFrame:
    named = in_judgment_columns(answer)
    given = Qrels(named.dropna(subset="label") if "label" in named else named).to_frame()
    rows = {pair: row for row, pair in enumerate(zip(given["qid"], given["docno"], strict=True))}
    found = [rows.get(pair, -1) for pair in zip(*as_pairs(pairs), strict=True)]
    kept = [column for column in given.columns if not (column in ("qid", "docno") or _OF_RANKING.fullmatch(column))]
    # a row that is not there has <NA> and None
    beside = given[kept].astype({"label": "Int64"}).reindex(found)
    return beside.set_axis(pairs.index)


def estimate_relevant(qrels: Any, *, rel: int | None = None) -> pd.DataFrame:
    """Estimate the number of relevant documents in the pool of each topic from judgments of a stratified sample.

    The estimate is that of Horvitz and Thompson: each relevant document that was sampled counts 1 / inclusion, the
    pooled divided by the judged documents of its stratum. Its standard error is that of a stratified sample without
    replacement: the root of the sum over strata of N^2 (1 - n/N) s^2 / n, with s^2 = p (1 - p) n / (n - 1), where n of
    N documents are judged and p of these are relevant.

    Args:
        qrels: judgments of a sample, as :func:`~pt_reuse.pools.sample_pool` and :meth:`Pool.judge` make them: with the
            column ``stratum``, and label -1 for what was pooled and not sampled.
        rel: the lowest label that is relevant; default what the judgments say.

    Returns:
        DataFrame: one row per topic: ``qid pooled judged relevant estimate se``. ``relevant`` counts the judged ones.
        ``se`` is NaN if only one document of a larger stratum is judged, and too small if relevant documents are rare
        and the sample is small. A stratum without a judged document makes the estimate NaN.

    Raises:
        InputError: judgments without strata, or a sample of which not every document has a label.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> judged = pd.DataFrame({"qid": "1", "docno": list("abcdefgh"), "label": [1, 0, 1, 0, -1, -1, -1, -1]})
        >>> ptr.pools.estimate_relevant(ptr.Qrels(judged.assign(stratum="all"))).round(3)
          qid  pooled  judged  relevant  estimate     se
        0   1       8       4         2       4.0  1.633

    Source: Horvitz and Thompson, 1952; the variance as in Cochran, Sampling Techniques, 3rd edition, theorem 5.3 and
    equation 3.7.
    """
    judgments = as_qrels(qrels)
    lowest = relevant_from(judgments, rel)
    frame = judgments.to_frame()
    if "stratum" not in frame or frame["stratum"].isna().any():
        lacking = len(frame) if "stratum" not in frame else int(frame["stratum"].isna().sum())
        what = f"{count(lacking, 'judgment')} of {len(frame):,} without a stratum, which only a sample has. Give what "
        there = f" returns; there is {examples(frame.columns, 12)}."
        raise InputError(f"{what}sample_pool(...).judge(judge){there}", argument="qrels")
    if "inclusion" in frame:
        check_all_labelled(*(frame[name] for name in ("qid", "stratum", "label", "inclusion")), argument="qrels")
    frame = frame.assign(judged=frame["label"] >= 0, relevant=frame["label"] >= lowest, pooled=1)
    strata = frame.groupby(["qid", "stratum"], sort=False)[["pooled", "judged", "relevant"]].sum()
    pooled, judged, relevant = (strata[name].to_numpy(dtype=float) for name in strata)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = relevant / judged
        spread = np.where(judged == pooled, 0.0, share * (1 - share) / (judged - 1))
        strata["estimate"], strata["variance"] = pooled * share, pooled**2 * (1 - judged / pooled) * spread
    # a topic with a stratum of which nothing is known is not known
    topics = strata.groupby("qid").sum().mask(strata.isna().groupby("qid").any())
    table = topics.reindex(judgments.topics, fill_value=0)
    table["se"] = np.sqrt(table["variance"])
    return table.drop(columns="variance").rename_axis("qid").reset_index()


_MOST = 2**31


def expand_judgments(old: Any, new: Any, *, conflict: str = "error") -> Qrels:
    """Combine old judgments with those of a further round, each with its round.

    The new ones are, for instance, those of :meth:`Pool.remainder`: the unjudged documents in the pool of new runs.
    They are united as by :meth:`Qrels.union`, and every judgment has a ``round``: its own if it has one, else 1. If
    rounds of the new ones do not come after the last old one, they are numbered on from it. A document with the same
    label in both is old; one that was only pooled (label -1) and is judged now is new.

    Args:
        old: the judgments so far, in any form, see :doc:`runs`.
        new: the new judgments, in any form.
        conflict: the label of a document that has two, as in :meth:`Qrels.union`: ``"error"`` (default), ``"first"``,
            the old one, ``"second"``, ``"higher"`` or ``"lower"``; each judgment has the round of its label.

    Returns:
        Qrels: all judgments of either, with the column ``round``; the topics of both.

    Raises:
        InputError: a document with two labels under ``conflict="error"``, a round that is no whole number from 1 on.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> old = ptr.Qrels(pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]}))
        >>> new = pd.DataFrame({"qid": ["1", "1"], "docno": ["c", "d"], "label": [1, 1]})
        >>> expanded = ptr.judging.expand_judgments(old, new)
        >>> expanded.counts(by="round")[["qid", "round", "judged", "relevant"]]
          qid  round  judged  relevant
        0   1      1       2         1
        1   1      2       2         2

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?
    """
    before, after = as_qrels(old, "old"), as_qrels(new, "new")
    rounds, further = _rounds(before, "old"), _rounds(after, "new")
    last = int(rounds.max(initial=0))
    if len(further) and further.min() <= last:
        further += last
    return _in_rounds(before, rounds).union(_in_rounds(after, further), conflict=conflict)


def _rounds(qrels: Qrels, argument: str) -> NDArray[np.int64]:
    """Return (judgments,): the round that each says, 1 where it says none."""
    frame = qrels.to_frame()
    values = np.ones(len(frame))
    if "round" in frame:
        given = frame["round"].notna().to_numpy()
        values[given] = number_column(frame["round"][given])
        odd = np.flatnonzero(~((values >= 1) & (values < _MOST)) | (values != np.floor(values)))
        if len(odd):
            row = frame.iloc[int(odd[0])]
            document, got = row_in_words(row[["qid", "docno"]]), shown(row["round"])
            raise InputError(f"the round of {document} must be a whole number from 1 on, got {got}.", argument=argument)
    return values.astype(np.int64)


def _in_rounds(qrels: Qrels, rounds: NDArray[np.int64]) -> Qrels:
    extra = pd.DataFrame(index=range(len(rounds))) if qrels.arrays.extra is None else qrels.arrays.extra
    return Qrels.of_arrays(replace(qrels.arrays, extra=extra.assign(round=rounds)), qrels.stated_rel)


#: which column holds the numbers where nobody says: the first of these
USUAL = ("probability", "judge_score", "score", "label")
#: fields of a line of a file -> which of them is the number: qrels with numbers for labels, and runs
_NUMBER_IN = {4: 3, 6: 4}


def grade_scores(
    scores: Any, thresholds: float | Iterable[float], *, column: str | None = None, rel: int | None = None
) -> Qrels:
    """Turn scores, or probabilities of relevance, into labels, at thresholds that you state.

    A score below the first threshold becomes label 0, from the first on label 1, from the second on label 2.

    Args:
        scores: a judge's scores of documents: a frame with ``qid docno`` and a column of numbers, as retrieval and
            re-ranking return it; or a file: lines of ``qid iteration docno number``, or those of a TREC run. A document
            without a number (NaN) gets no label.
        thresholds: the lowest score of each label from 1 on: one number, or several that ascend.
        column: the column with the numbers; default the first that exists of ``probability``, ``judge_score``,
            ``score`` and ``label``.
        rel: the lowest label that is relevant; default: not stated, which counts as 1.

    Returns:
        Qrels: the labels, with the number that each comes from in the column ``judge_score``.

    Raises:
        InputError: thresholds that do not ascend, a file or a frame without numbers, no number at all, a document that
            is there twice.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> said = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "probability": [0.2, 0.5, 0.97]})
        >>> ptr.labels.grade_scores(said, 0.5).to_frame()
          qid docno  label  judge_score
        0   1     a      0         0.20
        1   1     b      1         0.50
        2   1     c      1         0.97
        >>> ptr.labels.grade_scores(said, [0.4, 0.6, 0.9]).to_frame()["label"].tolist()
        [0, 1, 3]
    """
    bounds, lowest = _bounds(thresholds), checked_rel(rel)
    frame = _read(scores) if isinstance(scores, str | os.PathLike) else scores
    if not isinstance(frame, pd.DataFrame):
        problem = f"scores must be a frame with qid, docno and numbers, or a file, got {shown(scores)}."
        raise InputError(problem, argument="scores")
    frame = in_our_columns(frame)
    check_columns("scores", frame.columns, ("qid", "docno"))
    name = column or next((known for known in USUAL if known in frame), None)
    if name is None or name not in frame:
        wanted = " or ".join(map(repr, USUAL if name is None else [name]))
        raise InputError(f"scores has no column {wanted}, but {examples(frame.columns, 12)}.", argument="column")
    has = frame[name].notna().to_numpy()
    numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    odd = np.flatnonzero(has & ~np.isfinite(numbers))
    if len(odd):
        row = frame.iloc[int(odd[0])]
        document, got = row_in_words(row[["qid", "docno"]]), shown(row[name])
        raise InputError(f"the {name} of {document} must be a finite number, got {got}.", argument="scores")
    if len(has) and not has.any():
        raise InputError(f"no document has a number in the column {shown(name)}.", argument="scores")
    labels = np.searchsorted(bounds, numbers, side="right")
    graded = frame[["qid", "docno"]].assign(label=labels, judge_score=numbers)[has]
    return Qrels(graded.reset_index(drop=True), topics=dict.fromkeys(frame["qid"].tolist()), rel=lowest)


def _bounds(thresholds: Any) -> np.ndarray:
    listed = isinstance(thresholds, Iterable) and not isinstance(thresholds, str | bytes)
    given = [] if isinstance(thresholds, str | bytes | bool | None) else [*thresholds] if listed else [thresholds]
    bounds = number_column(pd.Series(given, dtype=object))
    if not len(bounds) or not np.isfinite(bounds).all() or (np.diff(bounds) <= 0).any():
        problem = f"thresholds must be a number, or several that ascend, got {shown(thresholds)}."
        raise InputError(problem, argument="thresholds")
    return bounds


def _read(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a file of numbers: qrels with numbers in place of labels, or a run."""
    with located(str(path)):
        try:
            lines = lines_of(read_text(path))
        except UnreadableError as error:
            raise InputError(f"the file {error}.", argument="scores") from error
        cells: list[list[str]] = []
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if fields and (len(fields) not in _NUMBER_IN or (cells and len(fields) != len(cells[0]))):
                problem = f"expected lines of qid, iteration, docno and number, or those of a run, got {shown(line)}."
                raise InputError(problem, argument="scores", place=f"line {number:,}")
            cells += [fields] if fields else []
        rows = [(row[0], row[2], row[_NUMBER_IN[len(row)]]) for row in cells]
        return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def rerank_by_labels(runs: RunSet, labels: Qrels, depth: int) -> RunSet:
    """Return runs whose first documents of each list are sorted by their labels, the best label first."""
    changed = runs.field.changed(partial(_reranked, labels, depth), runs.field.lengths)
    return RunSet(changed, runs.run_table, runs.order, runs.how_pooled)


def _reranked(every_label: Qrels, depth: int, field: Field) -> Field:
    labels = every_label.select([topic for topic in every_label.topics if topic in field.topic_row])
    first = np.repeat(field.starts[:-1], np.diff(field.starts))
    place = np.arange(len(field.codes)) - first
    of_row = np.full(len(field.codes), -1, dtype=np.int64)
    index, given = HitIndex(field, labels.arrays.documents), labels.arrays.labels.astype(np.int64)
    for at, row_of_code in zip(index.field_topic, index.rows_of_codes(index.topics), strict=True):
        if row_of_code is not None:
            rows = field.rows(at)
            judgment = row_of_code.take(field.codes[rows])
            of_row[rows] = np.where(judgment >= 0, given.take(judgment), -1) if len(given) else -1
    # the places that have a label among the first of their list; each list's are filled by its own, the best first
    places = np.flatnonzero((of_row >= 0) & (place < depth))
    order = np.arange(len(field.codes))
    order[places] = places[np.lexsort((places, -of_row[places], first[places]))]
    return field.ranked_anew(order)
