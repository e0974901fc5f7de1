"""Asking a function, a transformer or a judge for the labels of documents, whatever form its answer has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pandas as pd
import pyterrier as pt

from pt_reuse._check import examples
from pt_reuse.data.frame_columns import as_pairs, checked_labels, in_judgment_columns, in_rows, with_provenance
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.errors import InputError

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
        label, said = beside["label"], {column: beside[column].array for column in beside if column != "label"}
    else:
        what = "the judge must return a frame with qid, docno and label, or one label per document"
        label, said = checked_labels(in_rows(answer, pairs.index, what, len(pairs)), pairs), {}
    return pd.DataFrame(with_provenance(label, said, name or name_of(judge)), index=pairs.index)


@contextmanager
def telling_of_texts(columns: Iterable[str]) -> Iterator[None]:
    """Say what to add where somebody who is asked reads a query or a text that is not among the columns given."""
    try:
        yield
    except (KeyError, AttributeError) as error:
        lacking = [column for column in _missed(error) if column in _READ and column not in columns]
        if not lacking:
            raise
        raise without_texts(lacking, columns) from error


def without_texts(lacking: Iterable[str], columns: Iterable[str]) -> InputError:
    """Return the error for a judge that reads what it is not given."""
    return InputError(
        f"the judge reads {examples(lacking)}, and is given {examples(columns, 12)}. Hand it queries and texts, for "
        "instance by judging.WithTexts(judge, topics=..., texts=...).",
        argument="judge",
    )


def _missed(error: KeyError | AttributeError) -> list[Any]:
    if isinstance(error, pt.validate.InputValidationError):
        return [column for mode in error.modes for column in mode.missing_columns or ()]
    return [error.name] if isinstance(error, AttributeError) else list(error.args)


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
