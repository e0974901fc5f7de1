"""LabelAgreement: how far the labels of judges agree with those of people, and other people with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, did_you_mean, examples, shown
from pt_reuse._errors import InputError, Option, door
from pt_reuse._report import Report
from pt_reuse._result import Result, key_figures_of
from pt_reuse.studies.label_audit.agreement_reports import (
    FIGURE_WORDS,
    LABELS_WORDS,
    ROWS,
    of_grades,
    of_judges,
    of_persons,
    of_topics,
    sentences,
)
from pt_reuse.studies.label_audit.label_counts import ITEMS, TAKEN
from pt_reuse.studies.label_audit.same_documents import COMPARED, TOGETHER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: on which documents judges are drawn
DOCUMENTS = ("shared", "own")
DOCUMENTS_WORDS = {
    ("shared", "all"): "on the documents that other people labelled, too",
    ("own", "all"): "on all documents that each labelled",
    ("own", "relevant"): "on the documents that people or the judge call relevant",
}
#: what shares of a confusion matrix are of -> the column
SHARES = {
    "label": ("of_label", "in per cent: of the row"),
    "judge_label": ("of_judge_label", "in per cent: of the column"),
    "all": ("share", "in per cent: of all documents"),
}
#: columns of the table that are shown
_SHOWN = (
    "judge", "kind", "labels", "n_items", "missing", "agreement", "kappa", "judge_relevant", "precision", "recall",
)  # fmt: skip
#: the numbers that sum a judge up
_KEY_FIGURES = ("kappa", "agreement", "surplus", "precision", "recall")
_NO_GRADES = (
    "no judge has grades that can be held against those of people: labels are two, or not on the scale of people."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAgreement(Result):
    """How far the labels of judges agree with those of people, on the documents that both labelled.

    ``judge`` is who is compared with people: a model, or, as ``kind`` says, another person (``"people"``), to read the
    models against; where there are several other people, ``"people together"`` counts the labels of all.

    Rows say over which documents and labels they are: ``items`` is ``"all"``, or ``"relevant"`` for the documents that
    people or the judge call relevant; ``labels`` is ``"grades"`` for the labels as they are, or ``"binary"`` for
    relevant or not. There are rows of grades where the judge is on the scale of people: relevant from the same label
    on, no label above the highest of people, and more than two labels. Columns that end in ``_low`` and ``_high`` are
    the ends of expanded percentile intervals over topics, NaN where there is none. A figure that is not defined is NaN,
    and ``why`` says so in words. Over the relevant documents alone kappa and alpha are low, often below 0, because
    nobody can agree on "not relevant" there; read `agreement` beside them.

    Attributes:
        table: per judge, items and labels ``judge kind family items labels n_topics n_items missing without agreement
            kappa alpha_nominal alpha_ordinal human_relevant judge_relevant surplus precision recall band why``, with
            the ends of the interval after each figure. ``missing`` are documents that people judged and the judge did
            not, ``without`` topics in which the judge labelled nothing; `agreement` is the share of equal labels; kappa
            is Cohen's, without weights; alpha Krippendorff's (ordinal in grades alone); `human_relevant` and
            `judge_relevant` the shares of documents that each calls relevant, `surplus` the second less the first;
            `precision` the share of what the judge calls relevant that people do, too, `recall` the share of what
            people call relevant that the judge does, too. The interval of recall is too narrow where most of what the
            judge misses is in few topics.
        per_topic: the same per topic, without intervals: ``judge kind qid items labels n_items missing agreement ...
            recall why``.
        by_grade: per judge and label of people (``given_by`` is ``"human"``) and of the judge (``"judge"``): ``judge
            kind given_by label relevant_label n``; ``share``, the share of all documents with this label;
            ``relevant``, the share of these that the *other* one calls relevant: how precise a label of the judge is,
            or how much of a grade of people the judge finds.
        confusion: per judge, label of people and label of the judge: ``judge kind label judge_label n``; ``share`` of
            all documents; ``of_label``, of those with this label of people; ``of_judge_label``, of those with this
            label of the judge.
        beside: each judge and each other person (and ``"people together"``) *on the same documents*, those that both
            labelled, which is how a judge is read against people: other people often labelled documents that were
            chosen for them. ``judge person labels figure n_topics n_items value person_value difference``, with the
            ends of intervals; ``figure`` is `agreement`, `kappa`, `alpha_nominal`, `alpha_ordinal`, `precision` or
            `recall`, ``value`` that of the judge, ``difference`` the judge's less the person's, both on the same draws.
        between: each two other people on the documents that both labelled, ``judge other``, and the columns of `table`
            from ``items`` on but ``missing`` and ``without``; `other` stands in the place of people.
        bounds: per judge ``judge rel judge_rel``, the lowest label of people and of the judge that is relevant.
    """

    title: ClassVar[str] = "Agreement of labels"

    per_topic: pd.DataFrame
    by_grade: pd.DataFrame
    confusion: pd.DataFrame
    beside: pd.DataFrame
    between: pd.DataFrame
    bounds: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "agreement": self.table,
            "per_topic": self.per_topic,
            "by_grade": self.by_grade,
            "confusion": self.confusion,
            "beside": self.beside,
            "between": self.between,
            "bounds": self.bounds,
        }

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges, without the other people."""
        return self.table.loc[self.table["kind"] == "model", "judge"].unique().tolist()

    def headline(self) -> str:
        """Return each judge's kappa of relevant or not, the best first, and what other people reach."""
        rows = self._chosen(self.table, "all", "binary")
        models = rows[rows["kind"] == "model"].sort_values("kappa", ascending=False, kind="stable")
        said = [
            f"{judge} {'has none' if pd.isna(kappa) else f'{kappa:.3f}'}"
            for judge, kappa in models[["judge", "kappa"]].itertuples(index=False)
        ]
        people = rows.loc[rows["kind"] == "people", "kappa"].dropna()
        beside = f"; other people {people.min():.3f} to {people.max():.3f}" if len(people) else ""
        return f"kappa with people, relevant or not: {', '.join(said)}{beside}"

    def findings(self) -> list[str]:
        """Return what was found in sentences, each with its number and its interval.

        Of each judge: kappa, how much more it calls relevant than people do, precision and recall of its label
        "relevant", what it left out; and beside other people the difference on the same documents.
        """
        return list(sentences(self.table, self.beside, TOGETHER))

    def key_figures(self) -> pd.DataFrame:
        """Return kappa, share of equal labels, surplus, precision and recall of each judge, relevant or not."""
        rows = self._chosen(self.table, "all", "binary")
        rows = rows[rows["kind"] == "model"]
        return key_figures_of(rows, _KEY_FIGURES, rows=rows["judge"].tolist())

    def _shown(self) -> pd.DataFrame:
        rows = self.table[self.table["items"] == "all"]
        return rows[list(_SHOWN)].set_axis(range(len(rows)))

    def _rest(self) -> str:
        return "rows, and the relevant documents, intervals and shares in .table"

    @door
    def report(
        self,
        by: str = "judge",
        *,
        judge: str | None = None,
        items: str = "all",
        labels: str = "binary",
        figure: str = "kappa",
    ) -> Report:
        """Return what a paper prints.

        Args:
            by: the rows: each ``"judge"`` (default), with other people below; each ``"grade"`` that a judge gives, with
                how precise it is; each ``"person"`` beside each judge on the same documents; or each ``"topic"``.
            judge: one judge alone; default all.
            items: of judges and topics, ``"all"`` documents (default), or the ``"relevant"`` ones, those that people or
                the judge call relevant.
            labels: of judges, persons and topics, ``"binary"`` for relevant or not (default), or ``"grades"``.
            figure: of persons, ``"kappa"`` (default), ``"agreement"``, ``"alpha_nominal"``, ``"alpha_ordinal"``,
                ``"precision"`` or ``"recall"``.
        """
        choice("by", by, ROWS)
        choice("figure", figure, COMPARED)
        way = (choice("items", items, ITEMS), choice("labels", labels, TAKEN))
        if by == "judge":
            return of_judges(self._of(judge, self._chosen(self.table, *way)), way, self.settings)
        if by == "topic":
            rows = self._chosen(self.per_topic, *way)
            rows = rows[rows["kind"] == "model"] if judge is None else self._of(judge, rows)
            return of_topics(rows, way, self.settings)
        if by == "grade":
            rows = self.by_grade[self.by_grade["given_by"] == "judge"]
            rows = rows[rows["kind"] == "model"] if judge is None else self._of(judge, rows)
            return of_grades(rows, self.settings)
        rows = self._of(judge, self._beside(figure, labels))
        return of_persons(rows, figure, labels, self.settings)

    @door
    def plot(
        self,
        figure: str = "kappa",
        *,
        items: str = "all",
        labels: str = "binary",
        documents: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw a figure of each judge, and of each other person, with its interval.

        Args:
            figure: ``"kappa"`` (default), ``"agreement"``, ``"alpha_nominal"``, ``"alpha_ordinal"``, ``"precision"`` or
                ``"recall"``.
            items: ``"all"`` documents (default), or the ``"relevant"`` ones, those that people or the judge call
                relevant.
            labels: ``"binary"`` for relevant or not (default), or ``"grades"``.
            documents: of judges, ``"shared"`` for the documents that other people labelled, too (default where there
                are other people of one scale), or ``"own"`` for all that the judge labelled. Other people are drawn on
                what they labelled either way.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, below the axes, where there are other people.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row for each judge, the largest value on top, and below them one for each other person.
        """
        from pt_reuse.plots.forests import plot_beside_people
        from pt_reuse.plots.sheet import Place

        choice("figure", figure, COMPARED)
        way = (choice("items", items, ITEMS), choice("labels", labels, TAKEN))
        usual = "shared" if len(self._on_shared(figure, labels)) and items == "all" else "own"
        documents = usual if documents is None else choice("documents", documents, DOCUMENTS)
        place = Place(ax, title, legend, width)
        rows = self._chosen(self.table, *way)[["judge", "kind", figure, f"{figure}_low", f"{figure}_high"]]
        rows = rows.set_axis(["judge", "kind", "value", "low", "high"], axis=1)
        if documents == "shared":
            if items != "all":
                raise InputError(
                    Option("documents", "shared"), " needs ", Option("items", "all"), ".", argument="items"
                )
            self._beside(figure, labels)
            mine = self._on_shared(figure, labels)[["judge", "value", "value_low", "value_high"]]
            if not len(mine):
                raise InputError(
                    "other people together have no grades, since they differ in what is relevant: choose ",
                    Option("documents", "own"),
                    ".",
                    argument="documents",
                )
            mine = mine.set_axis(["judge", "value", "low", "high"], axis=1).assign(kind="model")
            rows = pd.concat([mine, rows[rows["kind"] == "people"]], ignore_index=True)
        said = f"{FIGURE_WORDS[figure]}, {LABELS_WORDS[labels]}; {DOCUMENTS_WORDS[documents, items]}"
        rows = rows.assign(together=rows["judge"] == TOGETHER)
        return plot_beside_people(rows, said=said, banded=figure == "kappa", place=place)

    @door
    def plot_confusion(
        self,
        judge: str | None = None,
        *,
        of: str = "label",
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how often each label of people meets each label of a judge.

        Args:
            judge: a judge or another person; default the first judge.
            of: what the shares in the cells, and their shades, are of: the documents with this ``"label"`` of people
                (default), with this ``"judge_label"``, or ``"all"`` documents.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: there is none; all figures take this argument.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a cell for each two labels, with the number of documents and the share; the lowest labels at the lower
            left, and lines between what is relevant and what is not.
        """
        from pt_reuse.plots.maps import plot_label_confusion
        from pt_reuse.plots.sheet import Place

        choice("of", of, tuple(SHARES))
        name = self.judges[0] if judge is None else judge
        rows = self._of(name, self.confusion)
        bounds = self.bounds[self.bounds["judge"] == name]
        lowest = (None, None) if bounds.empty else (int(bounds["rel"].iloc[0]), int(bounds["judge_rel"].iloc[0]))
        place = Place(ax, title, legend, width)
        column, said = SHARES[of]
        rows = rows[["label", "judge_label", "n", column]].rename(columns={column: "share"})
        return plot_label_confusion(rows, said=f"label of {name} ({said})", lowest=lowest, place=place)

    def _chosen(self, table: pd.DataFrame, items: str, labels: str) -> pd.DataFrame:
        rows = table[(table["items"] == items) & (table["labels"] == labels)]
        if not len(rows):
            raise InputError(_NO_GRADES, argument="labels")
        return rows

    def _of(self, judge: str | None, rows: pd.DataFrame) -> pd.DataFrame:
        if judge is None:
            return rows
        known = self.table["judge"].unique().tolist()
        if judge not in known:
            raise InputError(
                f"there is no judge {shown(judge)}; there are {examples(known, 12)}.{did_you_mean(str(judge), known)}",
                argument="judge",
            )
        found = rows[rows["judge"] == judge]
        if not len(found):
            raise InputError(
                f"{shown(judge)} has no row here: its labels are no grades on the scale of people, or nobody else "
                "labelled a document that it labelled.",
                argument="judge",
            )
        return found

    def _on_shared(self, figure: str, labels: str) -> pd.DataFrame:
        """Return a row per judge on the documents of all other people, none where these have no such labels."""
        several = self.beside["person"].eq(TOGETHER).any()
        rows = self.beside[(self.beside["person"] == TOGETHER) | (not several)]
        return rows[(rows["figure"] == figure) & (rows["labels"] == labels)]

    def _beside(self, figure: str, labels: str) -> pd.DataFrame:
        if not len(self.beside):
            raise InputError("there are no other people to stand beside; give ", Option("people", ...), ".")
        rows = self.beside[(self.beside["figure"] == figure) & (self.beside["labels"] == labels)]
        if not len(rows):
            raise InputError(_NO_GRADES, argument="labels")
        return rows
