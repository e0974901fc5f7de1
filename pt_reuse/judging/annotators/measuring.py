"""annotator_agreement: how far people who judge agree, by which coefficients, with which intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._text import with_ends
from pt_reuse.arrays.bootstrap import drawn_counts
from pt_reuse.columns import Table
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import InputError, count, examples, per_cent
from pt_reuse.judging.annotators.labels import (
    NO_LABEL,
    TIES,
    AnnotatorLabels,
    Labels,
    as_annotator_labels,
    label_counts,
    vote,
)
from pt_reuse.plots.forests import plot_kappas
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result, only
from pt_reuse.studies.judged_fields import as_declared
from pt_reuse.study import study

#: the lowest value of a band -> its name (McHugh 2012; her "almost perfect", above .90, is "strong" here)
BANDS = {0.8: "strong", 0.6: "moderate", 0.4: "weak", 0.21: "minimal"}
#: whose bands these are
SOURCE_OF_BANDS = "McHugh 2012: strong from .80, moderate from .60, weak from .40, minimal from .21, below none"
#: why a coefficient has no value
NO_ITEMS, ONE_LABEL = "no item with two labels", "all labels are the same"
_ROUND = 12
#: (n,) values, NaN where there is none, of (n, ...) sums of tables
OfSums: TypeAlias = "Callable[[NDArray[np.float64]], NDArray[np.float64]]"


def band(value: float) -> str:
    """Return what a coefficient is called by its size, nothing where it has no value.

    Example:
        >>> [band(value) for value in (0.8, 0.79, 0.4, 0.21, 0.2, -1, float("nan"))]
        ['strong', 'moderate', 'weak', 'minimal', 'none', 'none', '']
    """
    if math.isnan(value):
        return ""
    return next((name for least, name in BANDS.items() if round(value, _ROUND) >= least), "none")


#: of some items each: (n,) their numbers, and (n, ...) the tables that each adds to the sums
Parts: TypeAlias = "Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]]"


def all_items(tables: NDArray[np.float64]) -> Parts:
    """Return the part that has every item."""
    return [(np.arange(len(tables)), tables)]


def values_by(parts: Parts, coefficient: OfSums, group: NDArray[np.int64], n: int) -> dict[str, Any]:
    """Return for each of n groups of the items ``value n_items why``.

    These are the mean of a coefficient over the parts in which it has a value, how many items are in any part, and why
    there is no value.
    """
    value = _mean_of_parts(coefficient, _sums_by(parts, group, n), n)
    n_items = np.bincount(group[_items_in(parts)], minlength=n)
    why = np.where(np.isnan(value), np.where(n_items > 0, ONE_LABEL, NO_ITEMS), "")
    return {"value": value, "n_items": n_items, "why": why.tolist()}


def _items_in(parts: Parts) -> NDArray[np.int64]:
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(items for items, _ in parts)]))


def _sums_by(parts: Parts, group: NDArray[np.int64], n: int) -> list[NDArray[np.float64]]:
    """Return of each part (n, ...) the sums of its tables over the items of each of n groups."""
    sums = [np.zeros((n, *tables.shape[1:])) for _, tables in parts]
    for (items, tables), of_part in zip(parts, sums, strict=True):
        np.add.at(of_part, group[items], tables)
    return sums


def _mean_of_parts(coefficient: OfSums, sums: Sequence[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """Return (n,) the mean over the parts in which a coefficient has a value."""
    values = np.stack([coefficient(of_part) for of_part in sums]) if sums else np.full((1, n), np.nan)
    return share(np.nan_to_num(values).sum(axis=0), (~np.isnan(values)).sum(axis=0))


# tables: what an item adds; counts are (items, labels), how many annotators gave each label


def confusion_tables(first: NDArray[np.int64], second: NDArray[np.int64], scale: Sequence[int]) -> NDArray[np.float64]:
    """Return (items, labels, labels): 1 where two annotators, each of whom labelled every item, gave these labels."""
    tables = np.zeros((len(first), len(scale), len(scale)))
    tables[np.arange(len(first)), np.searchsorted(scale, first), np.searchsorted(scale, second)] = 1
    return tables


def coincidence_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, labels, labels): coincidences, pairs of labels over the number of labels less one."""
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    return pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]


def fleiss_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, 1 + labels + 1): the share of equal pairs of labels, how many there are of each label, and 1."""
    equal, pairs = pair_tables(counts).T
    return np.column_stack([equal / np.maximum(pairs, 1), counts, np.ones(len(counts))])


def pair_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, 2): pairs of labels that are equal, and all pairs."""
    n = counts.sum(axis=1)
    return np.column_stack([(counts * (counts - 1)).sum(axis=1), n * (n - 1)]).astype(np.float64)


# coefficients of (n, ...) sums of these


def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return parts over wholes, NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of equal pairs of labels, of sums of :func:`pair_tables`."""
    return share(sums[:, 0], sums[:, 1])


def equal_share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share on the diagonal of (n, labels, labels) confusion matrices."""
    return share(np.trace(sums, axis1=1, axis2=2), sums.sum(axis=(1, 2)))


def cohen_kappa(sums: NDArray[np.float64], weights: str | None = None) -> NDArray[np.float64]:
    """Return Cohen's kappa of (n, labels, labels) confusion matrices."""
    steps = np.abs(np.subtract.outer(np.arange(sums.shape[1]), np.arange(sums.shape[1])))
    weight = {None: steps > 0, "linear": steps, "quadratic": steps**2}[weights].astype(np.float64)
    expected = np.einsum("ri,rj,ij->r", sums.sum(axis=2), sums.sum(axis=1), weight)
    return 1 - share((sums * weight).sum(axis=(1, 2)) * sums.sum(axis=(1, 2)), expected)


def fleiss_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Fleiss' kappa of sums of :func:`fleiss_tables` over items with equally many labels."""
    items, totals = sums[:, -1], sums[:, 1:-1]
    expected = share((totals**2).sum(axis=1), totals.sum(axis=1) ** 2)
    single = (totals > 0).sum(axis=1) < 2
    return np.where(single, np.nan, share(share(sums[:, 0], items) - expected, 1 - expected))


def distances(totals: NDArray[np.float64], level: str) -> NDArray[np.float64]:
    """Return (n, labels, labels) how far labels lie apart, nominal or ordinal, that are given so often, (n, labels)."""
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(totals.shape[1]), (*totals.shape, totals.shape[1]))
    # labels between two, and half of each of the two
    middle = totals.cumsum(axis=1) - totals / 2
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def krippendorff_alpha(sums: NDArray[np.float64], level: str) -> NDArray[np.float64]:
    """Return Krippendorff's alpha of (n, labels, labels) coincidences."""
    totals = sums.sum(axis=2)
    distance = distances(totals, level)
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    observed = (sums * distance).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
    return 1 - share(observed, expected)


#: coefficient -> how it is written
WORDS = {
    "agreement": "Agreement",
    "cohen_kappa": "Cohen's kappa, mean of pairs",
    "fleiss_kappa": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
}
#: whose rows are shown: over all items or the relevant ones, of grades or of relevant or not; default the first
_WAY: Mapping[str, None] = {"items": None, "labels": None}
#: the columns of tables
_OVERALL = "items labels coefficient value low high resamples band n_items why"
_BY_TOPIC = "qid items labels coefficient value n_items why"


def _draw(
    part: str, result: AnnotatorAgreement, _: str | None, place: Place, *, items: str = "all", labels: str = "grades"
) -> Axes:
    """Draw the kappa of each two that are compared, with its interval, and where bands begin."""
    return plot_kappas(only(result.frame(part), {"items": items, "labels": labels})[0], place=place)


def value_in_words(row: pd.Series, form: str) -> str:
    """Return the value of a coefficient with its interval, or why it has none."""
    ends = {"value": row["value"], "value_low": row["low"], "value_high": row["high"]}
    return f"undefined ({row['why']})" if pd.isna(row["value"]) else with_ends(ends, "value", form)


def _paired(rows: str, more: str = "") -> Table:
    columns = "first second items labels n_topics n_items n_relevant other_relevant agreement~ kappa~ band why"
    report = "first second n_items agreement kappa"
    return Table(f"{rows} and items and labels", columns + more, report, select=_WAY, noun="pairs")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatorAgreement(Result):
    """How far annotators agree; an item is a document of a topic that two annotators or more labelled.

    The coefficients are ``agreement``, the share of equal ones among all pairs of labels of an item; ``cohen_kappa``,
    the mean over the pairs of annotators that have one; ``fleiss_kappa``, over the items that have as many labels as
    most; ``alpha_nominal`` and ``alpha_ordinal`` (of grades). One that is not defined is NaN, and ``why`` says why.
    Over the relevant items alone kappa and alpha are low, often below 0: read ``agreement`` there.

    Attributes:
        annotators: their names.
        scale: the labels, in order.
        rel: the lowest label that is relevant.
    """

    title, main = "Agreement of annotators", "agreement"
    valid_for = (
        "the items with two labels or more, on the scale {scale}, relevant: {relevant}; left out with one label: "
        "{items with one label}. Bands: {bands}."
    )
    not_covered = "which label is right, and what disagreement does to the ranking of runs."
    plots = {part: partial(_draw, part) for part in ("pairs", "others", "gold")}
    derived: ClassVar[Mapping[str, str]] = {"by_topic": "by_topic", "over_topics": "over_topics"}
    columns = """
    resamples | Resamples | count | resamples in which it has a value
    second | And | | another, "others" for the majority of the others, "gold" for gold labels
    n_relevant | Relevant | count | how many of the items the first called relevant
    other_relevant | Relevant, other | count | how many the other
    n_unresolved | Unresolved | count | items left out because the others tie
    cohen_kappa | Kappa | score | Cohen's kappa, mean of pairs
    fleiss_kappa | Fleiss | score | Fleiss' kappa
    mean | Mean | score | mean over topics
    sd | SD | score | standard deviation of a sample
    lowest | Lowest | score | the lowest value
    lowest_topic | In topic | | the first topic that has it
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "items, labels and coefficient, all annotators together",
            _OVERALL,
            "coefficient value low high band n_items",
            select=_WAY,
            noun="coefficients",
        ),
    ]
    pairs: Annotated[pd.DataFrame, _paired("two annotators with items in common")]
    others: Annotated[pd.DataFrame, _paired("annotator and the majority of the others", " n_unresolved")]
    gold: Annotated[pd.DataFrame, _paired("annotator and the gold labels, none without these,")]
    per_topic: Annotated[
        pd.DataFrame,
        Table("topic, items, labels and coefficient", _BY_TOPIC, "qid coefficient value n_items", select=_WAY),
    ]
    annotators: tuple[str, ...]
    scale: tuple[int, ...]
    rel: int

    def words(self) -> dict[str, Any]:
        return {**super().words(), "bands": SOURCE_OF_BANDS}

    def answers(self) -> list[str]:
        row = self.table.set_index(["items", "labels", "coefficient"]).loc[("all", "grades", "alpha_ordinal")]
        value = ", ".join(filter(None, [value_in_words(row, ".4f"), band(row["value"])]))
        items = count(int(row["n_items"]), "item")
        return [f"ordinal alpha {value} ({len(self.annotators)} annotators, {items} with two labels or more)"]

    def by_topic(
        self,
    ) -> Annotated[
        pd.DataFrame,
        Table(
            "items, labels and topic, those that agree least first",
            f"items labels qid n_items {' '.join(WORDS)}",
            report="qid n_items agreement cohen_kappa alpha_nominal alpha_ordinal",
            select=_WAY,
            noun="topics",
        ),
    ]:
        """Return `per_topic` with a column per coefficient; of each form the topics that agree least come first."""
        keys = ["items", "labels", "qid"]
        # Fleiss' kappa may be of fewer items
        topics = self.per_topic.loc[self.per_topic["coefficient"] == "agreement", [*keys, "n_items"]]
        values = self.per_topic.pivot_table("value", keys, "coefficient", "first", dropna=False)
        wide = topics[topics["n_items"] > 0].join(values, on=keys).reindex(columns=[*keys, "n_items", *WORDS])
        forms = wide.groupby(["items", "labels"], sort=False)
        return pd.concat([part.sort_values("agreement", kind="stable") for _, part in forms], ignore_index=True)

    def over_topics(
        self,
    ) -> Annotated[
        pd.DataFrame,
        Table(
            "items, labels and coefficient, within topics",
            "items labels coefficient n_topics mean sd lowest lowest_topic",
            report="coefficient n_topics mean sd lowest lowest_topic",
            select=_WAY,
            noun="coefficients",
        ),
    ]:
        """Return how coefficients within topics spread over topics."""
        by = ["items", "labels", "coefficient"]
        values = self.per_topic.groupby(by, sort=False)["value"]
        table = values.agg(n_topics="count", mean="mean", sd="std", lowest="min")
        known = self.per_topic.dropna(subset="value").sort_values("value", kind="stable")
        first = known.drop_duplicates(by).set_index(by)["qid"]
        table["lowest_topic"] = first.reindex(table.index).astype(object).where(table["n_topics"] > 0, None)
        return table.reset_index()

    def _shown(self) -> pd.DataFrame:
        return only(self.table, _WAY)[0][self.declared["table"].report.split()]


class Way(NamedTuple):
    """Labels in one of the ways in which they are compared: over which items, as grades or binary, on which scale."""

    items: str
    labels: str
    values: NDArray[np.int64]
    scale: tuple[int, ...]
    topic: NDArray[np.int64]

    @property
    def named(self) -> dict[str, str]:
        return {"items": self.items, "labels": self.labels}

    @property
    def counts(self) -> NDArray[np.int64]:
        return label_counts(self.values, self.scale)


@dataclass(frozen=True)
class Comparison:
    """How labels are compared: the scale, the lowest relevant label, the weights of Cohen's kappa, the bootstrap."""

    scale: tuple[int, ...]
    rel: int
    weights: str | None
    over: str  # what is drawn, "topics" or "items"
    resamples: int
    seed: int
    confidence: float

    def measured(self, parts: Parts, coefficient: OfSums, topic: NDArray[np.int64]) -> dict[str, Any]:
        """Return ``value n_items why low high resamples`` of all items, each of which has its (items,) topic.

        The interval is of percentiles, and only topics, or items, are drawn that have an item in a part; resamples are
        those in which there is a value.
        """
        of_all = {name: at[0] for name, at in values_by(parts, coefficient, np.zeros_like(topic), 1).items()}
        of_all |= {"low": math.nan, "high": math.nan, "resamples": 0}
        unit = topic if self.over == "topics" else np.arange(len(topic))
        there = np.unique(unit[_items_in(parts)])
        if len(there) < 2 or not self.resamples:
            return of_all
        sums, drawn = _sums_by(parts, np.searchsorted(there, unit), len(there)), np.zeros(0)
        for counts in drawn_counts(len(there), resamples=self.resamples, seed=self.seed):
            some = [np.tensordot(counts.astype(np.float64), of_part, 1) for of_part in sums]
            drawn = np.append(drawn, _mean_of_parts(coefficient, some, len(counts)))
        drawn = drawn[~np.isnan(drawn)]
        if len(drawn):
            tail = 50 * (1 - self.confidence)
            of_all["low"], of_all["high"] = np.percentile(drawn, [tail, 100 - tail]).tolist()
        return of_all | {"resamples": len(drawn)}

    def ways(self, values: NDArray[np.int64], topic: NDArray[np.int64]) -> Iterator[Way]:
        """Yield (items, annotators) labels over all items and over those that anyone called relevant, in both forms."""
        several = (values != NO_LABEL).sum(axis=1) > 1
        relevant = (values >= self.rel).any(axis=1)
        binary = np.where(values == NO_LABEL, NO_LABEL, values >= self.rel)
        for labels, taken, scale in (("grades", values, self.scale), ("binary", binary, (0, 1))):
            if labels == "grades" or len(self.scale) > 2:
                for items, kept in (("all", several), ("relevant", several & relevant)):
                    yield Way(items, labels, taken[kept], scale, topic[kept])

    def paired_table(
        self, compared: Iterable[tuple[str, str, NDArray[np.int64], NDArray[np.int64]]], topic: NDArray[np.int64]
    ) -> pd.DataFrame:
        """Return a row for each two who are compared, by name with their (items,) labels, and items and labels."""
        of: dict[str, OfSums] = {"agreement": equal_share, "kappa": partial(cohen_kappa, weights=self.weights)}
        rows = []
        for first, second, *both in compared:
            for way in self.ways(np.column_stack(both), topic):
                lowest, n = self.rel if way.labels == "grades" else 1, len(way.values)
                parts = all_items(confusion_tables(way.values[:, 0], way.values[:, 1], way.scale))
                row: dict[str, Any] = {"first": first, "second": second, **way.named, "n_items": n}
                row["n_relevant"], row["other_relevant"] = (way.values >= lowest).sum(axis=0)
                for name, coefficient in of.items():
                    of_all = self.measured(parts, coefficient, way.topic)
                    row[name], row["why"] = of_all["value"], of_all["why"]
                    row[f"{name}_low"], row[f"{name}_high"] = of_all["low"], of_all["high"]
                rows.append({**row, "n_topics": len(np.unique(way.topic)), "band": band(row["kappa"])})
        return as_declared(AnnotatorAgreement, "pairs", rows, ends=True)

    def coefficients(self, way: Way, group: NDArray[np.int64]) -> Iterator[tuple[str, Parts, OfSums]]:
        """Yield the name of each coefficient, the parts of the items that it is the mean over, and what it is of them.

        Fleiss' kappa is over the items that have as many labels as most items of their (items,) `group`.
        """
        counts, given = way.counts, way.values != NO_LABEL
        yield "agreement", all_items(pair_tables(counts)), ratio
        both = [(i, j, np.flatnonzero(given[:, i] & given[:, j])) for i, j in together(given)]
        met = [(at, confusion_tables(way.values[at, i], way.values[at, j], way.scale)) for i, j, at in both]
        yield "cohen_kappa", met, partial(cohen_kappa, weights=self.weights)
        fixed = np.flatnonzero(has_usual_number(counts.sum(axis=1), group))
        yield "fleiss_kappa", [(fixed, fleiss_tables(counts[fixed]))], fleiss_of
        coincidences = all_items(coincidence_tables(counts))
        for level in ("nominal", "ordinal") if way.labels == "grades" else ("nominal",):
            yield f"alpha_{level}", coincidences, partial(krippendorff_alpha, level=level)

    def coefficient_table(self, labels: AnnotatorLabels, *, by_topic: bool) -> pd.DataFrame:
        """Return a row for each items, labels and coefficient: of each topic, or of all items with its interval."""
        frames = []
        for way in self.ways(labels.values, labels.topic):
            group = way.topic if by_topic else np.zeros_like(way.topic)
            blocks = []
            for name, parts, coefficient in self.coefficients(way, group):
                if by_topic:
                    measured = values_by(parts, coefficient, group, len(labels.topics)) | {"qid": labels.topics}
                else:
                    measured = self.measured(parts, coefficient, way.topic)
                    measured["band"] = "" if name == "agreement" else band(measured["value"])
                about = {**way.named, "coefficient": name}
                blocks.append(pd.DataFrame({**about, **measured}, index=None if by_topic else [0]))
            # topic by topic, in each the coefficients
            frames.append(pd.concat(blocks).sort_index(kind="stable"))
        return pd.concat(frames, ignore_index=True)[(_BY_TOPIC if by_topic else _OVERALL).split()]


def has_usual_number(n: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return (items,) whether an item has as many labels as most of its group, of several numbers the largest."""
    usual = pd.Series(n).groupby(group).transform(lambda some: some.mode().max())
    return np.asarray(n == usual)


def together(given: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return each two annotators, as positions, who labelled an item both; `given` is (items, annotators)."""
    times = given.T.astype(np.float32) @ given.astype(np.float32)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(times, 1) > 0)]


@study(
    question="Do those who judge agree, and does it matter?",
    aim="judging",
    command="judge agreement",
    group="judging",
    page="judging/annotators",
    papers="[V98]_",
)
def annotator_agreement(
    labels: Labels,
    *,
    rel: options.Rel = None,
    gold: Annotated[Any, options.Option("judgments in any form to hold each annotator against; default none.")] = None,
    weights: Annotated[
        str | None,
        options.Option(
            'of Cohen\'s kappa, ``"linear"`` or ``"quadratic"``; default none, every disagreement counts alike.',
            choices=("linear", "quadratic"),
        ),
    ] = None,
    ties: Annotated[
        str,
        options.Option(
            "what the majority of the others is where it ties, see :func:`~pt_reuse.judging.majority_vote`; with "
            '``"unresolved"`` the item is left out.',
            choices=TIES[:-1],
        ),
    ] = "lower",
    over: Annotated[
        str,
        options.Option(
            'what the bootstrap draws with replacement, ``"topics"`` (default) or ``"items"``. Each interval draws '
            "among the topics, or items, that the annotators compared have in common.",
            choices=("topics", "items"),
        ),
    ] = "topics",
    resamples: options.Resamples = 1000,
    seed: options.Seed = 0,
    confidence: options.Confidence = 0.95,
) -> AnnotatorAgreement:
    """Measure how far annotators agree: with one another, each with the others, and each with gold labels.

    Values are those of scikit-learn (Cohen's kappa), statsmodels (Fleiss' kappa) and krippendorff. Everything is
    computed over all items, and over those that at least one compared annotator labelled relevant; for the labels as
    given, and for binary ones.

    Returns:
        AnnotatorAgreement: ``.table`` (all together), ``.pairs``, ``.others``, ``.gold``, ``.per_topic``, ``.plot()``.

    Raises:
        InputError: no document with two labels, two labels of one annotator for a document, gold labels of documents
            that nobody labelled.

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
    given = as_annotator_labels(labels)
    truth = None if gold is None else as_qrels(gold, "gold")
    stated = given.rel if given.rel is not None or truth is None else truth.stated_rel
    lowest = rel if rel is not None else 1 if stated is None else stated
    names, n_labels = given.annotators, given.given.sum(axis=1)
    several = n_labels[n_labels > 1]
    if not len(several):
        problem = f"no document has labels of two annotators, and the labels are of {examples(names)}."
        advice = "Are ids written alike? To compare one with gold labels, give both as annotators."
        raise InputError(f"{problem} {advice}", argument="labels")
    in_gold = np.full(len(given), NO_LABEL) if truth is None else given.labels_in(truth)
    # labels of gold are of the scale, too
    known = tuple(sorted({*given.scale, *in_gold[in_gold != NO_LABEL].tolist()}))
    values, both = given.values, together(given.given)
    majorities = [vote(np.delete(values, i, axis=1), ties).label for i in range(len(names))]
    how, topic = Comparison(known, lowest, weights, over, resamples, seed, confidence), given.topic
    settings: dict[str, Any] = {
        "annotators": len(names),
        "pairs of annotators": f"{len(both)} of {math.comb(len(names), 2)} have items in common",
        "relevant": f"label of at least {lowest}",
        "scale": ", ".join(map(str, known)),
        "weights of kappa": weights or "none",
        "Fleiss": f"items with {several[has_usual_number(several, np.zeros_like(several))][0]} labels each",
        "items with one label": int((n_labels == 1).sum()),
        "ties of the others": ties,
        "intervals": f"{per_cent(confidence)} percentile bootstrap over {over}, {resamples:,} resamples",
        "seed": seed,
    }
    if not resamples:
        settings["intervals"] = "none"
    if truth is not None:
        if not (in_gold != NO_LABEL).any():
            nobody = f"nobody labelled any of the {count(len(truth), 'gold document')}. "
            raise InputError(f"{nobody}Are their ids written alike?", argument="gold")
        settings["gold labels"] = judged = int((truth.arrays.labels != NO_LABEL).sum())
        settings["gold labels of items nobody labelled"] = judged - int(((in_gold != NO_LABEL) & (n_labels > 0)).sum())
    against = {"others": majorities, "gold": [] if truth is None else [in_gold] * len(names)}
    others, gold_pairs = (
        how.paired_table([(names[i], what, values[:, i], theirs[i]) for i in range(len(theirs))], topic)
        for what, theirs in against.items()
    )
    unresolved = given.given & (np.column_stack(majorities) == NO_LABEL) & (given.given.sum(axis=1) > 1)[:, None]
    n_unresolved = others["first"].map(dict(zip(names, unresolved.sum(axis=0), strict=True)))
    others["n_unresolved"] = n_unresolved.where(others["items"] == "all").astype("Int64")
    return AnnotatorAgreement(
        table=how.coefficient_table(given, by_topic=False),
        settings=settings,
        pairs=how.paired_table(((names[i], names[j], values[:, i], values[:, j]) for i, j in both), topic),
        others=others,
        gold=gold_pairs,
        per_topic=how.coefficient_table(given, by_topic=True),
        annotators=names,
        scale=known,
        rel=lowest,
    )
