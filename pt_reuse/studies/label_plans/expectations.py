"""What share of each label people are expected to find relevant: from a pilot, or as the user states it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, told
from pt_reuse._errors import InputError, warn

#: with this share the variance is the largest that there is
CAREFUL = 0.5
#: the beta law that is added to the counts of a pilot where the user states none (Jeffreys)
JEFFREYS = (0.5, 0.5)
#: a share, or the two numbers of a beta law
Law: TypeAlias = "float | tuple[float, float]"


@dataclass(frozen=True)
class Expectation:
    """What is expected of the documents of each label before people check them.

    Attributes:
        usual: of every label that is not named.
        of_label: label -> what is expected of it; None for documents without a label.
    """

    usual: Law | None
    of_label: Mapping[int | None, Law]

    @classmethod
    def checked(cls, prior: Any) -> Expectation:
        """Return a user's ``prior=``.

        Raises:
            InputError: neither a share, nor two numbers of a beta law, nor a mapping of label -> one of these.
        """
        if isinstance(prior, Mapping):
            return cls(None, {None if label is None else _label(label): _law(one) for label, one in prior.items()})
        return cls(None if prior is None else _law(prior), {})

    def shares(self, table: pd.DataFrame, counts: pd.DataFrame) -> NDArray[np.float64]:
        """Return (strata,) the expected share of relevant documents.

        Args:
            table: one row per stratum, with ``label``.
            counts: one row per label that a pilot has: ``label judged relevant``.

        Raises:
            InputError: no document has any of the labels that are named.

        Warns:
            ReuseWarning: no document has some of them.
        """
        labels = [None if label is pd.NA else int(label) for label in table["label"]]
        self._check_labels(labels)
        seen = {
            None if label is pd.NA else int(label): (int(judged), int(relevant))
            for label, judged, relevant in counts.itertuples(index=False, name=None)
        }
        return np.array([self._share(label, *seen.get(label, (0, 0))) for label in labels], dtype=np.float64)

    def _check_labels(self, labels: list[int | None]) -> None:
        there = list(dict.fromkeys(labels))
        odd = [label for label in self.of_label if label not in there]
        if not odd:
            return
        if len(odd) == len(self.of_label):
            raise InputError(
                f"prior names labels that no document has: {examples(odd)}. The judge gave {examples(there)}.",
                argument="prior",
            )
        warn(f"prior names labels that no document has: {examples(odd)}. The judge gave {examples(there)}.")

    def _share(self, label: int | None, judged: int, relevant: int) -> float:
        law = self.of_label.get(label, self.usual)
        if not isinstance(law, tuple):
            if not judged:
                return CAREFUL if law is None else law
            law = JEFFREYS
        return (relevant + law[0]) / (judged + sum(law))

    def words(self, judged: int) -> str:
        """Return what is expected, for settings."""
        parts = [f"{count(judged, 'judgment')} of a pilot, with a beta law of 1/2 and 1/2"] if judged else []
        if self.usual is not None or self.of_label:
            stated = self.of_label or self.usual
            parts.append(f"stated: {stated}")
        return "; ".join(parts) or f"{CAREFUL:g} of every label, which needs the most labels"


def _label(label: Any) -> int:
    if isinstance(label, bool) or not isinstance(label, int | np.integer):
        raise InputError(f"prior must be a dict of label -> share, got the label {told(label)}.", argument="prior")
    return int(label)


def _law(given: Any) -> Law:
    if isinstance(given, tuple | list) and len(given) == 2 and all(_is_number(one) and one > 0 for one in given):
        return float(given[0]), float(given[1])
    if _is_number(given) and 0 <= given <= 1:
        return float(given)
    raise InputError(
        "prior must be a share from 0 to 1, the two numbers above 0 of a beta law, or a dict of label -> one of these, "
        f"got {told(given)}.",
        argument="prior",
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))
