"""ModelSays: what a model says of the documents of a pool, as numbers to calibrate and as labels of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import columns as check_columns
from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import InputError, located
from pt_reuse.qrels.asking import name_of
from pt_reuse.qrels.judgments import as_qrels
from pt_reuse.qrels.labelling import checked_labels

#: what is calibrated where nobody says: the first of these that the model's answer has
USUAL = ("probability", "judge_score", "score", "label")


@dataclass(frozen=True)
class Model:
    """A model that says something of documents, in whatever form the user gives it.

    Attributes:
        name: what it is called in the provenance of its labels.
        ask: what it says of documents: a frame of them -> a frame, or one number per row.
    """

    name: str
    ask: Callable[[pd.DataFrame], Any]

    @classmethod
    def given(cls, model: Any) -> Model:
        """Return what a user gives as a model as one: something to be called, or judgments in any form."""
        if callable(model):
            return cls(name_of(model), model)
        judged = as_qrels(model, "model").to_frame()[["qid", "docno", "label"]]
        return cls("model", lambda pairs: judged)

    def answer(self, pairs: pd.DataFrame) -> Any:
        """Return what the model says of documents, one a row; numbers become the column ``score``."""
        said = self.ask(pairs.copy())
        if isinstance(said, pd.DataFrame | str | bytes) or not isinstance(said, Iterable):
            return said
        scores = list(said)
        if len(scores) != len(pairs):
            raise InputError(
                f"the model returned {count(len(scores), 'number')} for {count(len(pairs), 'document')}.",
                argument="model",
            )
        return pairs[["qid", "docno"]].assign(score=scores)


@dataclass(frozen=True)
class ModelSays:
    """What a model says of documents.

    Attributes:
        columns: of its answer that are calibrated.
        features: (documents, columns), NaN where it says nothing.
        labels: (documents,) its own labels, <NA> where it gives none.
    """

    columns: tuple[str, ...]
    features: NDArray[np.float64]
    labels: pd.Series

    @classmethod
    def of(cls, answer: pd.DataFrame, pairs: pd.DataFrame, columns: tuple[str, ...] | None) -> ModelSays:
        """Return what the answer of a model says of documents.

        Args:
            answer: ``qid docno`` and what it says of each; of other documents it may say something, too.
            pairs: the documents, ``qid docno``, each once.
            columns: of the answer that are calibrated; None for the usual ones.

        Raises:
            InputError: an answer that lacks a column, a document twice, a label that is none, or something that is no
                finite number.
        """
        with located("model"):
            if not isinstance(answer, pd.DataFrame):
                raise InputError(f"a model must return a frame, got {told(answer)}.", argument="model")
            check_columns("the answer", answer.columns, ("qid", "docno", *(columns or ())))
            if columns is None:
                found = [column for column in USUAL if column in answer]
                if not found:
                    raise InputError(
                        f"the answer has neither {' nor '.join(map(repr, USUAL))}, but {examples(answer.columns, 12)}.",
                        argument="column",
                    )
                columns = (found[0],)
            keys = pd.MultiIndex.from_frame(answer[["qid", "docno"]].astype(str))
            if keys.has_duplicates:
                qid, docno = keys[keys.duplicated()][0]
                raise InputError(
                    f"topic {qid!r} has document {docno!r} more than once in the answer.", argument="model"
                )
            places = keys.get_indexer(pd.MultiIndex.from_frame(pairs[["qid", "docno"]]))
            own = checked_labels(answer["label"] if "label" in answer else [None] * len(answer), answer)
            # a label below 0 is none, as in judgments
            answer = answer.assign(label=own.mask(own < 0))
            features = np.column_stack([_numbers(answer, column)[places] for column in columns])
        features[places < 0] = np.nan
        mine = answer["label"].reset_index(drop=True).reindex(places).reset_index(drop=True)
        return cls(columns, features, mine.mask(places < 0))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return (documents,) of which it says all that is calibrated."""
        return np.asarray(~np.isnan(self.features).any(axis=1))


def checked_columns(column: Any) -> tuple[str, ...] | None:
    """Return a user's ``column=`` as names, None for None."""
    if column is None or isinstance(column, str):
        return None if column is None else (column,)
    names = tuple(column) if isinstance(column, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"column must be the name of a column or several, got {told(column)}.", argument="column")
    return names


def _numbers(answer: pd.DataFrame, column: str) -> NDArray[np.float64]:
    said = answer[column]
    found = pd.to_numeric(said, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    odd = np.flatnonzero(np.isnan(found) & said.notna().to_numpy())
    if len(odd):
        raise InputError(
            f"column {column!r} of the answer must hold numbers, got {told(said.iloc[int(odd[0])])}.", argument="column"
        )
    numbers = np.append(found, np.nan)
    endless = np.flatnonzero(np.isinf(numbers))
    if len(endless):
        row = answer.iloc[int(endless[0])]
        raise InputError(
            f"column {column!r} of the answer must hold finite numbers, or none where the model says nothing, got "
            f"{numbers[endless[0]]} for topic {shown(str(row['qid']))}, document {shown(str(row['docno']))}.",
            argument="column",
        )
    return numbers
