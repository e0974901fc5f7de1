"""Judge: whoever gives documents their labels; a transformer that adds `label`, who gave it, and when."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import pandas as pd
import pyterrier as pt

from pt_reuse._check import told
from pt_reuse._errors import InputError, located, wrong
from pt_reuse.data.asking import telling_of_texts, without_texts
from pt_reuse.data.frame_columns import checked_labels, in_rows, with_provenance
from pt_reuse.data.judgments import checked_rel


class Judge(pt.Transformer):
    """Gives labels to documents: qrels, a person, a model.

    A judge is a transformer: it adds ``label`` (whole numbers, <NA> for a document to which it gives none), ``judge``
    (who gave it) and ``time`` (when, ISO 8601 in UTC). So it stands at the end of a pipeline, and
    :meth:`pt_reuse.Pool.judge` takes it. A judge of your own says what it needs, and gives the labels.

    Args:
        name: what the judge is called in the provenance of its labels.
        rel: the lowest of its labels that is relevant, >= 1; None (default): nobody says, which counts as 1.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> class Short(ptr.judging.Judge):
        ...     def needs(self):
        ...         return ("qid", "docno", "text")
        ...
        ...     def labels_of(self, pairs):
        ...         return [int(len(text) < 10) for text in pairs["text"]]
        >>> found = Short("short")(pd.DataFrame({"qid": "1", "docno": ["a", "b"], "text": ["brief", "rather long"]}))
        >>> found[["docno", "label", "judge"]].values.tolist()
        [['a', 1, 'short'], ['b', 0, 'short']]
    """

    # without an address of its own pyterrier would look the documentation up on the network
    schematic: ClassVar[dict[str, Any]] = {"label": "judge", "help_url": None}

    def __init__(self, name: str, *, rel: int | None = None):
        if not isinstance(name, str) or not name.strip():
            raise wrong("name", f" must be a text that says who judges, got {told(name)}.")
        self.name, self.rel = name, checked_rel(rel)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the frame `inp` of documents, ``qid docno`` and what is read, with ``label judge time`` and more.

        Raises:
            InputError: another number of labels than of documents, or a label that is no whole number of the range.
        """
        try:
            pt.validate.columns(inp, includes=list(self.needs()))
        except pt.validate.InputValidationError as error:
            lacking = [column for column in self.needs() if column not in inp and column not in ("qid", "docno")]
            if not lacking:
                raise
            # PyTerrier infers from its own error what a step reads
            hint = without_texts(lacking, inp.columns)
            raise pt.validate.InputValidationError(f"{error.args[0]}: {hint}", error.modes) from None
        with located(f"judge {self.name}"), telling_of_texts(inp.columns):
            said = _columns(self.labels_of(inp), inp.index)
            label = checked_labels(said.pop("label"), inp)
        return inp.assign(**with_provenance(label, said, self.name))

    def needs(self) -> tuple[str, ...]:
        """Return the columns that the judge reads."""
        return ("qid", "docno")

    def known_pairs(self) -> pd.DataFrame | None:
        """Return ``qid docno`` of the documents whose labels exist already; None where the judge has to be asked."""
        return None

    def declared_labels(self) -> tuple[int, ...] | None:
        """Return the labels that the judge may give, where that is said beforehand."""
        return None

    @abstractmethod
    def labels_of(self, pairs: pd.DataFrame) -> Iterable[Any] | Mapping[str, Sequence[Any]]:
        """Return one label for each of `pairs`, a document a row, in their order; None where the judge gives none.

        Instead of labels, a mapping of columns with ``label`` and what else is said of each: ``judge``, ``time``, a
        probability.
        """


def _columns(answer: Any, rows: pd.Index) -> dict[str, Any]:
    """Return the answer of a judge by column, ``label`` among them, each of which has a cell for each document."""
    if isinstance(answer, pd.DataFrame) or (isinstance(answer, Mapping) and "label" not in answer):
        raise InputError(
            f"labels_of must return one label per document, or a mapping of columns with 'label', got {told(answer)}."
        )
    said = dict(answer) if isinstance(answer, Mapping) else {"label": answer}
    for column, cells in said.items():
        if column == "label":
            continue
        listed = in_rows(cells, rows, f"labels_of must return one {column} per document")
        if len(listed) != len(rows):
            raise InputError(
                f"labels_of must return one {column} per document, {len(rows):,} here, got {len(listed):,}."
            )
        if isinstance(cells, pd.Series) or not hasattr(cells, "__len__"):
            # a Series would be put beside the rows by its index, and an iterator is used up
            said[column] = cells.array if isinstance(cells, pd.Series) else listed
    return said
