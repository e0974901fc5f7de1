"""annotator_agreement: how far people who judge agree, and its result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, shown, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.judging.annotators.coefficients import (
    NO_ITEMS,
    ONE_LABEL,
    SOURCE_OF_BANDS,
    Bootstrap,
    Coefficient,
    CohenKappa,
    Interval,
    KrippendorffAlpha,
    Part,
    band,
    check_libraries,
    cohen_kappa,
    coincidence_tables,
    confusion_tables,
    equal_share,
    fleiss_kappa,
    fleiss_of,
    fleiss_tables,
    krippendorff_alpha,
    pair_tables,
    pairs_equal,
    ratio,
    share_equal,
    sums_by,
)
from pt_reuse.judging.annotators.labels import NO_LABEL, AnnotatorLabels, as_annotator_labels, checked_scale
from pt_reuse.judging.annotators.voting import TIES, Vote
from pt_reuse.result import Result

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


#: two names, and (items,) labels of each, -1 for none
Two: TypeAlias = tuple[str, str, NDArray[np.int64], NDArray[np.int64]]
_COLUMNS = (
    "first", "second", "items", "labels", "n_topics", "n_items", "n_relevant", "other_relevant", "agreement",
    "agreement_low", "agreement_high", "kappa", "kappa_low", "kappa_high", "band", "why",
)  # fmt: skip
_CONFUSION = ("first", "second", "label", "other_label", "n")


@dataclass(frozen=True)
class Comparison:
    """How labels are compared.

    Attributes:
        scale: the labels there are, in order.
        rel: the lowest that is relevant.
        weights: of Cohen's kappa.
        bootstrap: how intervals are made.
        topic: (items,) the topic of each item.
    """

    scale: tuple[int, ...]
    rel: int
    weights: str | None
    bootstrap: Bootstrap
    topic: NDArray[np.int64]

    def ways(self, values: NDArray[np.int64]) -> Iterator[Way]:
        """Yield the labels over all items and over those that anyone called relevant, as grades and as binary ones.

        Args:
            values: (items, two or more) labels, -1 for none.
        """
        relevant = (values >= self.rel).any(axis=1)
        binary = np.where(values == NO_LABEL, NO_LABEL, values >= self.rel)
        for labels, taken, scale in (("grades", values, self.scale), ("binary", binary, (0, 1))):
            if labels == "grades" or len(self.scale) > 2:
                for items, kept in (("all", np.ones(len(values), dtype=bool)), ("relevant", relevant)):
                    yield Way(items, labels, taken[kept], scale, self.topic[kept])


@dataclass(frozen=True)
class Way:
    """Labels in one of the ways in which they are compared.

    Attributes:
        items: over which items, ``"all"`` or ``"relevant"``.
        labels: what of the labels, ``"grades"`` or ``"binary"``.
        values: (items, annotators) the labels, -1 for none.
        scale: the labels there are.
        topic: (items,) the topic of each item.
    """

    items: str
    labels: str
    values: NDArray[np.int64]
    scale: tuple[int, ...]
    topic: NDArray[np.int64]


def paired_table(compared: Iterable[Two], how: Comparison) -> pd.DataFrame:
    """Return a row for each two, items and labels, with agreement and kappa and their intervals."""
    rows = []
    for first, second, mine, theirs in compared:
        both = (mine != NO_LABEL) & (theirs != NO_LABEL)
        # those that one of the two left out count for neither, nor are they relevant here
        values = np.column_stack([mine[both], theirs[both]])
        for way in replace(how, topic=how.topic[both]).ways(values):
            rows.append({"first": first, "second": second, "items": way.items, "labels": way.labels} | _row(way, how))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _row(way: Way, how: Comparison) -> dict[str, object]:
    (mine, theirs), topic = way.values.T, way.topic
    lowest = how.rel if way.labels == "grades" else 1
    equal, kappa = share_equal(mine, theirs), cohen_kappa(mine, theirs, way.scale, how.weights)
    tables = confusion_tables(mine, theirs, way.scale)
    of_equal = how.bootstrap.interval(tables, topic, equal_share)
    of_kappa = how.bootstrap.interval(tables, topic, CohenKappa(how.weights))
    return {
        "n_topics": len(np.unique(topic)),
        "n_items": len(mine),
        "n_relevant": int((mine >= lowest).sum()),
        "other_relevant": int((theirs >= lowest).sum()),
        "agreement": equal.value,
        "agreement_low": of_equal.low,
        "agreement_high": of_equal.high,
        "kappa": kappa.value,
        "kappa_low": of_kappa.low,
        "kappa_high": of_kappa.high,
        "band": band(kappa.value),
        "why": kappa.why,
    }


def together(given: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return each two annotators, as positions, who labelled an item both.

    Args:
        given: (items, annotators) whether an annotator gave a label.
    """
    times = given.T.astype(np.float32) @ given.astype(np.float32)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(times, 1) > 0)]


def others_of(values: NDArray[np.int64], annotator: int, ties: str) -> NDArray[np.int64]:
    """Return (items,): the majority of all other annotators, -1 where nobody else gave a label or a tie is unresolved.

    Args:
        values: (items, annotators) labels, -1 for none.
        annotator: who is left out, as a position.
        ties: what becomes of a tie.
    """
    return Vote.of(np.delete(values, annotator, axis=1), ties).label


def confusion_table(compared: Iterable[Two], scale: tuple[int, ...]) -> pd.DataFrame:
    """Return for each two with items in common how often each two labels meet, a row per pair of labels."""
    frames = []
    for first, second, mine, theirs in compared:
        found = confusion_tables(mine, theirs, scale).sum(axis=0).astype(np.int64)
        if not found.any():
            continue
        frames.append(
            pd.DataFrame(
                {
                    "first": first,
                    "second": second,
                    "label": np.repeat(scale, len(scale)),
                    "other_label": np.tile(scale, len(scale)),
                    "n": found.ravel(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(_CONFUSION))


@dataclass(frozen=True)
class _Counted:
    """The items of one way of comparing that have two labels or more.

    Attributes:
        way: over which items and labels.
        values: (items, annotators) their labels, -1 for none.
        counts: (items, labels) how many annotators gave each label.
        topic: (items,) their topics.
    """

    way: Way
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    topic: NDArray[np.int64]

    def take(self, kept: NDArray[np.bool_]) -> _Counted:
        return _Counted(self.way, self.values[kept], self.counts[kept], self.topic[kept])

    @property
    def of_fleiss(self) -> NDArray[np.bool_]:
        """Return (items,): whether an item has as many labels as most of these items, which Fleiss' kappa takes."""
        n = self.counts.sum(axis=1)
        found = np.bincount(n, minlength=1)
        # of several numbers that are equally frequent the largest
        chosen: NDArray[np.bool_] = n == len(found) - 1 - found[::-1].argmax()
        return chosen


def fleiss_words(labels: AnnotatorLabels, how: Comparison) -> str:
    """Return how many labels the items have that Fleiss' kappa is of, for settings."""
    told = {}
    for found in _ways(labels, how):
        fixed = found.counts[found.of_fleiss]
        if len(fixed):
            told[found.way.items] = f"items with {int(fixed[0].sum())} labels each: {count(len(fixed), 'item')}"
    relevant = told.get("relevant", "none")
    return f"{told['all']}; of the relevant ones {relevant}"


def _ways(labels: AnnotatorLabels, how: Comparison) -> Iterator[_Counted]:
    for way in how.ways(labels.values):
        n = (way.values != NO_LABEL).sum(axis=1)
        values = way.values[n > 1]
        counts = np.stack([(values == label).sum(axis=1) for label in way.scale], axis=1)
        yield _Counted(way, values, counts, way.topic[n > 1])


def _coefficients(found: _Counted, kappa: Coefficient) -> Iterator[tuple[str, Coefficient, NDArray[np.int64]]]:
    """Yield the name of each coefficient, its value, and (items, labels) the counts that it is of."""
    yield "agreement", pairs_equal(found.counts), found.counts
    yield "cohen_kappa", kappa, found.counts
    fixed = found.counts[found.of_fleiss]
    yield "fleiss_kappa", fleiss_kappa(fixed), fixed
    yield "alpha_nominal", krippendorff_alpha(found.counts, "nominal"), found.counts
    if found.way.labels == "grades":
        yield "alpha_ordinal", krippendorff_alpha(found.counts, "ordinal"), found.counts


def _parts(found: _Counted) -> list[Part]:
    """Return the items that each two annotators have in common, and how their labels meet there."""
    parts = []
    for i, j in together(found.values != NO_LABEL):
        items = np.flatnonzero((found.values[:, [i, j]] != NO_LABEL).all(axis=1))
        parts.append(Part(items, confusion_tables(found.values[items, i], found.values[items, j], found.way.scale)))
    return parts


def _mean_kappas(parts: Sequence[Part], how: Comparison, group: NDArray[np.int64], n: int) -> list[Coefficient]:
    """Return the mean kappa over pairs for each of n groups of items; pair by pair scikit-learn takes its time."""
    total, known, some = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    for part in parts:
        own, place = np.unique(group[part.items], return_inverse=True)
        kappas = CohenKappa(how.weights)(sums_by(part.tables, place, len(own)))
        total[own] += np.nan_to_num(kappas)
        known[own] += ~np.isnan(kappas)
        some[own] = True
    return [
        Coefficient(float(total[g] / known[g])) if known[g] else Coefficient(np.nan, ONE_LABEL if some[g] else NO_ITEMS)
        for g in range(n)
    ]


def overall_table(labels: AnnotatorLabels, how: Comparison) -> pd.DataFrame:
    """Return a row for each items, labels and coefficient, with its interval."""
    rows = []
    for found in _ways(labels, how):
        parts = _parts(found)
        (kappa,) = _mean_kappas(parts, how, np.zeros(len(found.topic), dtype=np.int64), 1)
        for name, coefficient, counts in _coefficients(found, kappa):
            interval = _interval(name, found, parts, how)
            rows.append(
                {
                    "items": found.way.items,
                    "labels": found.way.labels,
                    "coefficient": name,
                    "value": coefficient.value,
                    "low": interval.low,
                    "high": interval.high,
                    "resamples": interval.defined,
                    "band": "" if name == "agreement" else band(coefficient.value),
                    "n_items": len(counts),
                    "n_labels": int(counts.sum()),
                    "why": coefficient.why,
                }
            )
    return pd.DataFrame(rows)


def _interval(name: str, found: _Counted, parts: Sequence[Part], how: Comparison) -> Interval:
    draw, topic = how.bootstrap.interval, found.topic
    if name == "agreement":
        return draw(pair_tables(found.counts), topic, ratio)
    if name == "fleiss_kappa":
        return draw(fleiss_tables(found.counts[found.of_fleiss]), topic[found.of_fleiss], fleiss_of)
    if name == "cohen_kappa":
        return how.bootstrap.mean_interval(parts, topic, CohenKappa(how.weights))
    return draw(coincidence_tables(found.counts), topic, KrippendorffAlpha(name.removeprefix("alpha_")))


def per_topic_table(labels: AnnotatorLabels, how: Comparison) -> pd.DataFrame:
    """Return a row for each topic, items, labels and coefficient."""
    rows = []
    for found in _ways(labels, how):
        kappas = _mean_kappas(_parts(found), how, found.topic, len(labels.topics))
        for t, qid in enumerate(labels.topics):
            for name, coefficient, counts in _coefficients(found.take(found.topic == t), kappas[t]):
                rows.append(
                    {
                        "qid": qid,
                        "items": found.way.items,
                        "labels": found.way.labels,
                        "coefficient": name,
                        "value": coefficient.value,
                        "n_items": len(counts),
                        "why": coefficient.why,
                    }
                )
    return pd.DataFrame(rows)


def by_label_table(labels: AnnotatorLabels, how: Comparison) -> pd.DataFrame:
    """Return a row for each items, labels and label: how often it is given, and how far annotators agree on it."""
    rows = []
    for found in _ways(labels, how):
        n = found.counts.sum(axis=1)
        for k, label in enumerate(found.way.scale):
            own = found.counts[:, k]
            # for each time that the label is given, the other labels of the item
            chances = int((own * (n - 1)).sum())
            alpha = krippendorff_alpha(np.column_stack([n - own, own]), "nominal")
            rows.append(
                {
                    "items": found.way.items,
                    "labels": found.way.labels,
                    "label": label,
                    "n": int(own.sum()),
                    "agreement": float((own * (own - 1)).sum() / chances) if chances else np.nan,
                    "alpha": alpha.value,
                    "why": alpha.why,
                }
            )
    return pd.DataFrame(rows)


#: of Cohen's kappa
WEIGHTS = ("linear", "quadratic")
#: what is drawn for intervals
OVER = ("topics", "items")


@door
def annotator_agreement(
    labels: Any,
    *,
    rel: int | None = None,
    gold: Any = None,
    scale: Any = None,
    weights: str | None = None,
    ties: str = "lower",
    over: str = "topics",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> AnnotatorAgreement:
    """Say how far annotators agree: with one another, each with the rest, and each with gold labels.

    Values are those of scikit-learn (Cohen's kappa), statsmodels (Fleiss' kappa) and krippendorff, which
    ``pip install 'pt-reuse[judging]'`` brings. Everything is said over all items, and over those that at least one of
    the annotators compared called relevant; of the labels as they are, and of relevant or not.

    Args:
        labels: a frame ``qid docno label annotator`` (or with the columns of ir_measures), a dict of annotator ->
            judgments in any form, or what :func:`~pt_reuse.judging.import_labels` returns. A missing label, or -1, is
            none.
        rel: the lowest label that is relevant, >= 1; default what the judgments given say, else 1.
        gold: judgments in any form to hold each annotator against; default none.
        scale: the labels that there are, such as ``(0, 1, 2, 3)``; one that is not of it is an error. Default those
            that occur. The weights of kappa and the ordinal alpha count steps of the scale.
        weights: of Cohen's kappa, ``"linear"`` or ``"quadratic"``; default none, every disagreement counts alike.
        ties: what the majority of the others is where it ties, see :func:`~pt_reuse.judging.majority_vote`; with
            ``"unresolved"`` the item is left out.
        over: what the bootstrap draws with replacement, ``"topics"`` (default) or ``"items"``. Each interval draws
            among the topics, or items, that the annotators compared have in common.
        resamples: of the bootstrap; default 1,000; 0 for no intervals.
        seed: of the bootstrap: the same seed gives the same intervals in every process.
        confidence: of the intervals, between 0 and 1; default .95. They are percentile intervals.

    Returns:
        AnnotatorAgreement: ``.table`` (all together), ``.pairs``, ``.others``, ``.gold``, ``.per_topic``,
        ``.by_label``, ``.confusion``, ``.plot()``.

    Raises:
        InputError: one annotator alone, annotators without an item in common, a label out of the scale, two labels of
            one annotator for a document, gold labels of which nobody labelled any, a library that is missing.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> given = {"ann": [1, 1, 0, 0, 2], "bob": [1, 0, 0, 0, 2]}
        >>> frame = pd.DataFrame({"qid": ["1", "1", "1", "2", "2"], "docno": list("abcde")})
        >>> found = ptr.judging.annotator_agreement({name: frame.assign(label=label) for name, label in given.items()})
        >>> found.pairs[["items", "labels", "n_items", "agreement", "kappa"]].round(4).head(2)
              items  labels  n_items  agreement   kappa
        0       all  grades        5     0.8000  0.6875
        1  relevant  grades        3     0.6667  0.5000

    Source: Cohen 1960, A coefficient of agreement for nominal scales; Fleiss 1971, Measuring nominal scale agreement
    among many raters; Krippendorff 2004, Content analysis, chapter 11; McHugh 2012, Interrater reliability: the kappa
    statistic (the bands).
    """
    bootstrap = check_measuring(
        rel=rel, weights=weights, ties=ties, over=over, resamples=resamples, seed=seed, confidence=confidence
    )
    lowest, rule = checked_rel(rel), ties
    given = as_annotator_labels(labels)
    truth = None if gold is None else as_qrels(gold, "gold")
    stated = given.rel if given.rel is not None or truth is None else truth.stated_rel
    lowest = lowest if lowest is not None else 1 if stated is None else stated
    _check_comparable(given)
    gold_labels = None if truth is None else _gold_labels(given, truth)
    in_gold = () if gold_labels is None else np.unique(gold_labels[gold_labels != NO_LABEL]).tolist()
    known = checked_scale(scale, given)
    if scale is None:
        known = tuple(sorted({*known, *in_gold}))
    elif out := sorted(set(in_gold) - set(known)):
        raise InputError(
            f"gold labels {examples(out)} are not of the scale {', '.join(map(str, known))}.",
            argument="gold",
        )
    how = Comparison(known, lowest, weights, bootstrap, given.topic)
    values, names = given.values, given.annotators
    both = together(given.given)
    paired = [(names[i], names[j], values[:, i], values[:, j]) for i, j in both]
    rest = [(names[i], "others", values[:, i], others_of(values, i, rule)) for i in range(len(names))]
    against = [] if gold_labels is None else [(name, "gold", values[:, i], gold_labels) for i, name in enumerate(names)]
    others = paired_table(rest, how)
    others["n_unresolved"] = [
        _unresolved(given, names.index(row.first), rule) if row.items == "all" else pd.NA
        for row in others[["first", "items"]].itertuples()
    ]
    others["n_unresolved"] = others["n_unresolved"].astype("Int64")
    n_pairs = math.comb(len(names), 2)
    settings = {
        "annotators": len(names),
        "pairs of annotators": f"{len(both)} of {n_pairs} have items in common",
        "relevant": f"label of at least {lowest}",
        "scale": ", ".join(map(str, known)),
        "weights of kappa": weights or "none",
        "Fleiss": fleiss_words(given, how),
        "items with one label": int((given.given.sum(axis=1) == 1).sum()),
        "ties of the others": rule,
        "intervals": bootstrap.words(),
        "seed": seed,
        **({} if truth is None or gold_labels is None else _gold_settings(truth, given, gold_labels)),
    }
    return AnnotatorAgreement(
        table=overall_table(given, how),
        settings=settings,
        pairs=paired_table(paired, how),
        others=others,
        gold=paired_table(against, how),
        per_topic=per_topic_table(given, how),
        by_label=by_label_table(given, how),
        confusion=confusion_table([*paired, *rest, *against], known),
        annotators=names,
        scale=known,
        rel=lowest,
    )


def check_measuring(
    *, rel: Any, weights: Any, ties: Any, over: Any, resamples: Any, seed: Any, confidence: Any
) -> Bootstrap:
    """Return how intervals are made; raise where an argument is nothing of the kind."""
    checked_rel(rel)
    if weights is not None:
        choice("weights", weights, WEIGHTS)
    choice("ties", ties, [rule for rule in TIES if rule != "error"])
    choice("over", over, OVER)
    for argument, value in (("resamples", resamples), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise InputError(
                Argument(argument), f" must be a whole number, 0 or more, got {told(value)}.", argument=argument
            )
    number = isinstance(confidence, Real) and not isinstance(confidence, bool)
    if not number or not 0 < confidence < 1:
        raise InputError(
            Argument("confidence"),
            f" must be a number between 0 and 1, such as 0.95, got {told(confidence)}.",
            argument="confidence",
        )
    check_libraries()
    return Bootstrap(over, int(resamples), int(seed), float(confidence))


def _check_comparable(labels: AnnotatorLabels) -> None:
    names = labels.annotators
    if len(names) < 2:
        raise InputError(
            f"the labels are of one annotator, {examples(names)}, and agreement needs two or more. To hold one against "
            "gold labels, give both as annotators.",
            argument="labels",
        )
    if not (labels.given.sum(axis=1) > 1).any():
        raise InputError(
            f"no document has labels of two annotators: {examples(names)} have no (qid, docno) in common. Are their "
            "ids written alike?",
            argument="labels",
        )


def _gold_labels(labels: AnnotatorLabels, gold: Qrels) -> np.ndarray:
    found = labels.labels_in(gold)
    if not (found != NO_LABEL).any():
        raise InputError(
            f"nobody labelled any of the {count(len(gold), 'gold document')}, such as "
            f"{examples(gold.to_frame()['docno'].head(1))} of topic {examples(gold.topics[:1])}. Are their ids written "
            "alike?",
            argument="gold",
        )
    return found


def _gold_settings(gold: Qrels, labels: AnnotatorLabels, found: np.ndarray) -> dict[str, int]:
    judged = int((gold.arrays.labels != NO_LABEL).sum())
    labelled = int(((found != NO_LABEL) & labels.given.any(axis=1)).sum())
    return {"gold labels": judged, "gold labels of items nobody labelled": judged - labelled}


def _unresolved(labels: AnnotatorLabels, annotator: int, ties: str) -> int:
    mine = labels.given[:, annotator]
    someone = np.delete(labels.given, annotator, axis=1).any(axis=1)
    return int((mine & someone & (others_of(labels.values, annotator, ties) == NO_LABEL)).sum())
