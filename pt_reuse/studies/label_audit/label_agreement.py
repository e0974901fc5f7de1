"""LabelAgreement: how far the labels of judges agree with those of people, and other people with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from pt_reuse._result import Result

#: what other people are called where all of them count as one
TOGETHER = "people together"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAgreement(Result):
    """How far the labels of judges agree with those of people, on the documents that both labelled.

    ``judge`` is who is compared with people: a model, or, as ``kind`` says, another person (``"people"``), to read the
    models against; where there are several other people, ``"people together"`` counts the labels of all.

    Rows say over which documents and labels they are: ``items`` is ``"all"``, or ``"relevant"`` for the documents that
    people or the judge call relevant; ``labels`` is ``"grades"`` for the labels as they are, or ``"binary"`` for
    relevant or not. There are rows of grades where the judge is on the scale of people: relevant from the same label
    on, no label above the highest of people, and more than two labels. Columns that end in ``_low`` and ``_high`` are
    the ends of percentile intervals over topics, NaN where there is none. A figure that is not defined is NaN, and
    ``why`` says so in words. Over the relevant documents alone kappa and alpha are low, often below 0, because nobody
    can agree on "not relevant" there; read `agreement` beside them.

    Attributes:
        table: per judge, items and labels ``judge kind family items labels n_topics n_items missing without agreement
            kappa alpha_nominal alpha_ordinal human_relevant judge_relevant surplus precision recall band why``, with
            the ends of the interval after each figure. ``missing`` are documents that people judged and the judge did
            not, ``without`` topics in which the judge labelled nothing; `agreement` is the share of equal labels; kappa
            is Cohen's, without weights; alpha Krippendorff's (ordinal in grades alone); `human_relevant` and
            `judge_relevant` the shares of documents that each calls relevant, `surplus` the second less the first;
            `precision` the share of what the judge calls relevant that people do, too, `recall` the share of what
            people call relevant that the judge does, too.
        per_topic: the same per topic, without intervals: ``judge kind qid items labels n_items missing agreement ...
            recall why``.
        by_grade: per judge and label of people (``given_by`` is ``"human"``) and of the judge (``"judge"``): ``judge
            kind given_by label relevant_label n``; ``share``, the share of all documents with this label;
            ``relevant``, the share of these that the *other* one calls relevant: how precise a label of the judge is,
            or how much of a grade of people the judge finds.
        confusion: per judge, label of people and label of the judge: ``judge kind label judge_label n``; ``share`` of
            all documents; ``of_label``, of those with this label of people; ``of_judge_label``, of those with this
            label of the judge.
        between: each two other people on the documents that both labelled, ``judge other``, and the columns of `table`
            from ``items`` on; `other` stands in the place of people.
        bounds: per judge ``judge rel judge_rel``, the lowest label of people and of the judge that is relevant.
    """

    title: ClassVar[str] = "Agreement of labels"

    per_topic: pd.DataFrame
    by_grade: pd.DataFrame
    confusion: pd.DataFrame
    between: pd.DataFrame
    bounds: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "agreement": self.table,
            "per_topic": self.per_topic,
            "by_grade": self.by_grade,
            "confusion": self.confusion,
            "between": self.between,
            "bounds": self.bounds,
        }

    def headline(self) -> str:
        """Return each judge's kappa of relevant or not, the best first, and that of other people."""
        rows = self.table[(self.table["items"] == "all") & (self.table["labels"] == "binary")]
        models = rows[rows["kind"] == "model"].sort_values("kappa", ascending=False, kind="stable")
        said = [f"{judge} {kappa:.3f}" for judge, kappa in models[["judge", "kappa"]].itertuples(index=False)]
        people = rows.loc[rows["kind"] == "people", "kappa"].dropna()
        beside = f"; other people {people.min():.3f} to {people.max():.3f}" if len(people) else ""
        return f"kappa with people, relevant or not: {', '.join(said)}{beside}"
