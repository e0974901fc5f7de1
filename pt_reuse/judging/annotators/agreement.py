"""AnnotatorAgreement: how far annotators agree with one another, with the rest, and with gold labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, count, shown
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result
from pt_reuse.judging.annotators.coefficients import SOURCE_OF_BANDS, band

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: which items count, and how labels are taken
ITEMS, TAKEN = ("all", "relevant"), ("grades", "binary")
#: what can be shown: each pair of annotators, each against the majority of the others, each against gold
PARTS = ("pairs", "others", "gold")
#: coefficient -> how it is written
WORDS = {
    "agreement": "Agreement",
    "cohen_kappa": "Cohen's kappa, mean of pairs",
    "fleiss_kappa": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatorAgreement(Result):
    """How far annotators agree; an item is a document of a topic that two annotators or more labelled.

    Rows of all tables say over which items and labels they are: ``items`` is ``"all"``, or ``"relevant"`` for the items
    that at least one of the annotators compared called relevant; ``labels`` is ``"grades"`` for the labels as they are,
    or ``"binary"`` for relevant or not, which is there where the scale has more than two labels. ``low`` and ``high``
    are the ends of a bootstrap interval, NaN where there is none. ``band`` is the word for a kappa or an alpha of that
    size. A coefficient that is not defined is NaN, and ``why`` says so in words.

    Over the relevant items alone chance agreement is high or agreement on "not relevant" impossible, so that kappa and
    alpha are low there, often below 0; read the share of equal labels beside them.

    Attributes:
        table: all annotators together, one row per items, labels and coefficient: ``items labels coefficient value low
            high resamples band n_items n_labels why``. The coefficients are ``agreement``, the share of equal
            ones among all pairs of labels of an item; ``cohen_kappa``, the mean over the pairs of annotators that have
            one; ``fleiss_kappa``, over the items that have as many labels as most items of the row have, overall or
            relevant (``n_labels`` over ``n_items``); ``alpha_nominal`` and ``alpha_ordinal`` (in grades alone), for
            which items may have any number of labels from two on.
            ``resamples`` is the number of resamples in which the coefficient has a value.
        pairs: each two annotators with items in common: ``first second items labels n_topics n_items``; ``n_relevant``
            and ``other_relevant``, how many of these items each of the two called relevant; ``agreement agreement_low
            agreement_high kappa kappa_low kappa_high band why``.
        others: each annotator against the majority of the others, ``second`` being ``"others"``; the columns of
            `pairs`, and ``n_unresolved``, the items left out because the others tie.
        gold: each annotator against the gold labels, ``second`` being ``"gold"``; the columns of `pairs`. Without gold
            labels it has no row.
        per_topic: one row per topic, items, labels and coefficient: ``qid items labels coefficient value n_items why``.
        by_label: one row per items, labels and label: ``items labels label n agreement alpha why``: how often the label
            was given where an item has two labels or more; how often, where one annotator gives it, another one does
            (specific agreement); and Krippendorff's alpha of this label against all others.
        confusion: grades over all items: ``first second label other_label n``; ``second`` may be ``"others"`` or
            ``"gold"``.
        annotators: their names.
        scale: the labels, in order.
        rel: the lowest label that is relevant.
    """

    title: ClassVar[str] = "Agreement of annotators"

    pairs: pd.DataFrame
    others: pd.DataFrame
    gold: pd.DataFrame
    per_topic: pd.DataFrame
    by_label: pd.DataFrame
    confusion: pd.DataFrame
    annotators: tuple[str, ...]
    scale: tuple[int, ...]
    rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "agreement": self.table,
            "pairs": self.pairs,
            "others": self.others,
            "gold": self.gold,
            "per_topic": self.per_topic,
            "by_label": self.by_label,
            "confusion": self.confusion,
        }

    def headline(self) -> str:
        """Return how many annotators and items there are, and the ordinal alpha with its interval and band."""
        rows = self.table[(self.table["items"] == "all") & (self.table["labels"] == "grades")]
        row = rows[rows["coefficient"] == "alpha_ordinal"].iloc[0]
        value = "has no value" if pd.isna(row["value"]) else f"{row['value']:.4f} ({band(row['value'])})"
        between = "" if pd.isna(row["low"]) else f", interval {row['low']:.4f} to {row['high']:.4f}"
        items = count(int(row["n_items"]), "item")
        return f"{len(self.annotators)} annotators, {items} with two labels or more: ordinal alpha {value}{between}"

    def of(self, part: str) -> pd.DataFrame:
        """Return `pairs`, `others` or `gold`, by name; `part` is one of these three.

        Raises:
            InputError: another name, or ``"gold"`` where no gold labels were given.
        """
        choice("part", part, PARTS)
        if part == "gold" and not len(self.gold):
            raise InputError(Argument("part"), " cannot be 'gold': no gold labels were given.", argument="part")
        return {"pairs": self.pairs, "others": self.others, "gold": self.gold}[part]

    @door
    def report(self, part: str | None = None, *, items: str = "all", labels: str = "grades") -> Report:
        """Return what a paper prints: the coefficients of all annotators together, or each two that are compared.

        Args:
            part: ``"pairs"``, ``"others"`` (each against the majority of the others) or ``"gold"``; default all
                annotators together.
            items: ``"all"`` (default), or ``"relevant"`` for those that one of the annotators compared called relevant.
            labels: ``"grades"`` (default) or ``"binary"``.
        """
        rows = self._chosen(self.table if part is None else self.of(part), items, labels)
        which = "all items" if items == "all" else "items that one of those compared called relevant"
        how = "labels as they are" if labels == "grades" else f"labels from {self.rel} on against lower ones"
        notes = [
            f"Intervals: {self.settings['intervals']}.",
            f"Bands: {SOURCE_OF_BANDS}.",
            *(f"Without a value: {why}." for why in dict.fromkeys(rows["why"]) if why),
        ]
        if part is None:
            columns = [
                Column("Coefficient", [WORDS[name] for name in rows["coefficient"]]),
                Column("Value", rows["value"], Digits.SCORE),
                Column("From", rows["low"], Digits.SCORE),
                Column("To", rows["high"], Digits.SCORE),
                Column("Band", rows["band"]),
                Column("Items", rows["n_items"], Digits.COUNT),
            ]
            who = count(len(self.annotators), "annotator")
        else:
            columns = [
                Column("Annotators", rows["first"] + " - " + rows["second"]),
                Column("Items", rows["n_items"], Digits.COUNT),
                Column("Agreement", rows["agreement"], Digits.SCORE),
                Column("Kappa", rows["kappa"], Digits.SCORE),
                Column("From", rows["kappa_low"], Digits.SCORE),
                Column("To", rows["kappa_high"], Digits.SCORE),
            ]
            who = {
                "pairs": "each two annotators with items in common",
                "others": "each annotator and the majority of the others",
                "gold": "each annotator and the gold labels",
            }[part]
        return Report(columns, caption=f"Agreement of {who}: {which}, {how}.", notes=notes)

    @door
    def plot(
        self,
        part: str = "pairs",
        *,
        items: str = "all",
        labels: str = "grades",
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the kappa of each two that are compared, with its interval, and where bands begin.

        Args:
            part: ``"pairs"`` (default), ``"others"`` (each against the majority of the others) or ``"gold"``.
            items: ``"all"`` (default), or ``"relevant"`` for those that one of the annotators compared called relevant.
            labels: ``"grades"`` (default) or ``"binary"``.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: there is none; all figures take this argument.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row for each two, those with the largest kappa on top.
        """
        from pt_reuse.plots.forests import plot_kappas
        from pt_reuse.plots.sheet import Place

        place = Place(ax, title, legend, width)
        return plot_kappas(self._chosen(self.of(part), items, labels), place=place)

    @door
    def plot_confusion(
        self,
        first: str,
        second: str,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw which labels an annotator gave to the items to which another one gave a label.

        Args:
            first: an annotator.
            second: another one, ``"others"`` or ``"gold"``.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: there is none; all figures take this argument.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a cell for each two labels, with the number of items in it.
        """
        from pt_reuse.plots.maps import plot_confusion
        from pt_reuse.plots.sheet import Place

        place = Place(ax, title, legend, width)
        return plot_confusion(self.confusion_of(first, second), names=(first, second), place=place)

    @door
    def confusion_of(self, first: str, second: str) -> pd.DataFrame:
        """Return a confusion matrix over all items: the labels of `first` in rows, those of `second` in columns.

        Args:
            first: an annotator.
            second: another one, ``"others"`` or ``"gold"``.

        Raises:
            InputError: two that have no item in common, or are not known.
        """
        table = self.confusion
        rows = table[(table["first"] == first) & (table["second"] == second)]
        turned = table[(table["first"] == second) & (table["second"] == first)]
        if not len(rows) and not len(turned):
            raise InputError(f"{shown(first)} and {shown(second)} have no item in common, or are no annotators.")
        index, columns = ("label", "other_label") if len(rows) else ("other_label", "label")
        found = rows if len(rows) else turned
        return found.pivot_table(index=index, columns=columns, values="n", aggfunc="sum").rename_axis(
            index=first, columns=second
        )

    def _chosen(self, table: pd.DataFrame, items: str, labels: str) -> pd.DataFrame:
        choice("items", items, ITEMS)
        choice("labels", labels, TAKEN)
        chosen = table[(table["items"] == items) & (table["labels"] == labels)]
        if labels == "binary" and not len(chosen):
            raise InputError(
                Argument("labels"),
                " cannot be 'binary': the scale has two labels, which are as binary as they can be.",
                argument="labels",
            )
        return chosen
