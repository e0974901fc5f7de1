"""annotator_agreement: how far people who judge agree, by which coefficients, with which intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import count, examples
from pt_reuse._text import with_ends
from pt_reuse.columns import Table
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import InputError
from pt_reuse.judging.annotators.coefficients import (
    SOURCE_OF_BANDS,
    Bootstrap,
    OfSums,
    Parts,
    all_items,
    band,
    cohen_kappa,
    coincidence_tables,
    confusion_tables,
    equal_share,
    fleiss_of,
    fleiss_tables,
    krippendorff_alpha,
    pair_tables,
    ratio,
    value_of,
    values_by,
)
from pt_reuse.judging.annotators.labels import (
    NO_LABEL,
    TIES,
    AnnotatorLabels,
    Labels,
    as_annotator_labels,
    label_counts,
    vote,
)
from pt_reuse.result import Result, only
from pt_reuse.studies.judged_fields import as_declared
from pt_reuse.study import study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: coefficient -> how it is written
WORDS = {
    "agreement": "Agreement",
    "cohen_kappa": "Cohen's kappa, mean of pairs",
    "fleiss_kappa": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
}
#: what is compared by twos
PARTS = ("pairs", "others", "gold")
#: whose rows are shown: over all items or the relevant ones, of grades or of relevant or not; default the first
_WAY: Mapping[str, None] = {"items": None, "labels": None}
#: the columns of tables
_PAIRED = "first second items labels n_topics n_items n_relevant other_relevant agreement~ kappa~ band why"
_OVERALL = "items labels coefficient value low high resamples band n_items why"
_BY_TOPIC = "qid items labels coefficient value n_items why"


def _draw(
    part: str, result: AnnotatorAgreement, _: str | None, place: Place, *, items: str = "all", labels: str = "grades"
) -> Axes:
    """Draw the kappa of each two that are compared, with its interval, and where bands begin."""
    from pt_reuse.plots.forests import plot_kappas

    return plot_kappas(only(result.frame(part), {"items": items, "labels": labels})[0], place=place)


def value_in_words(row: pd.Series, form: str) -> str:
    """Return the value of a coefficient with its interval, or why it has none."""
    ends = {"value": row["value"], "value_low": row["low"], "value_high": row["high"]}
    return f"undefined ({row['why']})" if pd.isna(row["value"]) else with_ends(ends, "value", form)


def _paired(rows: str, more: str = "") -> Table:
    report = "first second n_items agreement kappa"
    return Table(f"{rows} and items and labels", _PAIRED + more, report, select=_WAY, noun="pairs")


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
    plots = {part: partial(_draw, part) for part in PARTS}
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
        rows = self.per_topic[self.per_topic["n_items"] > 0]
        wide = rows.pivot_table("value", keys, "coefficient", "first", sort=False, dropna=False)
        # Fleiss' kappa may be of fewer items
        wide["n_items"] = rows[rows["coefficient"] == "agreement"].set_index(keys)["n_items"]
        wide = wide.dropna(subset="n_items").astype({"n_items": np.int64}).reset_index()
        wide = wide.reindex(columns=[*keys, "n_items", *WORDS]).sort_values("agreement", kind="stable")
        order = rows.drop_duplicates(["items", "labels"]).set_index(["items", "labels"]).index
        place = order.get_indexer(pd.MultiIndex.from_frame(wide[["items", "labels"]]))
        return wide.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)

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
        table = pd.DataFrame({"n_topics": values.count(), "mean": values.mean(), "sd": values.std()})
        table["lowest"] = values.min()
        known = self.per_topic.dropna(subset="value")
        first = known.loc[known.groupby(by, sort=False)["value"].idxmin()].set_index(by)["qid"]
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
    """How labels are compared: the scale, the lowest relevant label, the weights of Cohen's kappa, the intervals."""

    scale: tuple[int, ...]
    rel: int
    weights: str | None
    bootstrap: Bootstrap

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
                lowest, n, (mine, theirs) = self.rel if way.labels == "grades" else 1, len(way.values), way.values.T
                parts = all_items(confusion_tables(mine, theirs, way.scale))
                row: dict[str, Any] = {"first": first, "second": second, **way.named, "n_items": n}
                row["n_relevant"], row["other_relevant"] = (way.values >= lowest).sum(axis=0)
                for name, coefficient in of.items():
                    row[name], row["why"] = value_of(parts, coefficient, n)
                    row[f"{name}_low"], row[f"{name}_high"], _ = self.bootstrap.interval(parts, coefficient, way.topic)
                rows.append({**row, "n_topics": len(np.unique(way.topic)), "band": band(row["kappa"])})
        return as_declared(AnnotatorAgreement, "pairs", rows, ends=True)

    def coefficients(self, way: Way, group: NDArray[np.int64]) -> Iterator[tuple[str, Parts, OfSums]]:
        """Yield the name of each coefficient, the parts of the items that it is the mean over, and what it is of them.

        Fleiss' kappa is over the items that have as many labels as most items of their (items,) `group`.
        """
        counts = way.counts
        yield "agreement", all_items(pair_tables(counts)), ratio
        yield "cohen_kappa", _pairs(way), partial(cohen_kappa, weights=self.weights)
        fixed = np.flatnonzero(has_usual_number(counts.sum(axis=1), group))
        yield "fleiss_kappa", [(fixed, fleiss_tables(counts[fixed]))], fleiss_of
        coincidences = all_items(coincidence_tables(counts))
        for level in ("nominal", "ordinal") if way.labels == "grades" else ("nominal",):
            yield f"alpha_{level}", coincidences, partial(krippendorff_alpha, level=level)

    def coefficient_table(self, labels: AnnotatorLabels, *, by_topic: bool) -> pd.DataFrame:
        """Return a row for each items, labels and coefficient: of each topic, or of all items with its interval."""
        frames = []
        for way in self.ways(labels.values, labels.topic):
            counts = way.counts
            group, n = (way.topic, len(labels.topics)) if by_topic else (np.zeros(len(counts), dtype=np.int64), 1)
            blocks = []
            for name, parts, coefficient in self.coefficients(way, group):
                found = values_by(parts, coefficient, group, n)
                if by_topic:
                    found["qid"] = labels.topics
                else:
                    low, high, resamples = self.bootstrap.interval(parts, coefficient, way.topic)
                    named = "" if name == "agreement" else band(found["value"][0])
                    found |= {"low": low, "high": high, "resamples": resamples, "band": named}
                blocks.append(pd.DataFrame({**way.named, "coefficient": name, **found}))
            # topic by topic, in each the coefficients
            frames.append(pd.concat(blocks).sort_index(kind="stable"))
        return pd.concat(frames, ignore_index=True)[(_BY_TOPIC if by_topic else _OVERALL).split()]


def has_usual_number(n: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return (items,) whether an item has as many labels as most of its group, of several numbers the largest."""
    groups, place = np.unique(group, return_inverse=True)
    times = np.zeros((len(groups), int(n.max(initial=0)) + 1))
    np.add.at(times, (place, n), 1)
    usual = times.shape[1] - 1 - times[:, ::-1].argmax(axis=1)
    return np.asarray(n == usual[place])


def together(given: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return each two annotators, as positions, who labelled an item both; `given` is (items, annotators)."""
    times = given.T.astype(np.float32) @ given.astype(np.float32)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(times, 1) > 0)]


def _pairs(way: Way) -> Parts:
    """Return the items that each two annotators have in common, and how their labels meet there."""
    parts = []
    for i, j in together(way.values != NO_LABEL):
        items = np.flatnonzero((way.values[:, [i, j]] != NO_LABEL).all(axis=1))
        parts.append((items, confusion_tables(way.values[items, i], way.values[items, j], way.scale)))
    return parts


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
    bootstrap = Bootstrap(over, resamples, seed, confidence)
    given = as_annotator_labels(labels)
    truth = None if gold is None else as_qrels(gold, "gold")
    stated = given.rel if given.rel is not None or truth is None else truth.stated_rel
    lowest = next(one for one in (rel, stated, 1) if one is not None)
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
    how, topic = Comparison(known, lowest, weights, bootstrap), given.topic
    settings: dict[str, Any] = {
        "annotators": len(names),
        "pairs of annotators": f"{len(both)} of {math.comb(len(names), 2)} have items in common",
        "relevant": f"label of at least {lowest}",
        "scale": ", ".join(map(str, known)),
        "weights of kappa": weights or "none",
        "Fleiss": f"items with {several[has_usual_number(several, np.zeros_like(several))][0]} labels each",
        "items with one label": int((n_labels == 1).sum()),
        "ties of the others": ties,
        "intervals": bootstrap.words(),
        "seed": seed,
    }
    if truth is not None:
        if not (in_gold != NO_LABEL).any():
            nobody = f"nobody labelled any of the {count(len(truth), 'gold document')}. "
            raise InputError(f"{nobody}Are their ids written alike?", argument="gold")
        settings["gold labels"] = judged = int((truth.arrays.labels != NO_LABEL).sum())
        settings["gold labels of items nobody labelled"] = judged - int(((in_gold != NO_LABEL) & (n_labels > 0)).sum())
    against = {"others": majorities, "gold": [] if truth is None else [in_gold] * len(names)}
    others, gold_pairs = (
        how.paired_table([(names[i], what, values[:, i], one) for i, one in enumerate(labels_of)], topic)
        for what, labels_of in against.items()
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
