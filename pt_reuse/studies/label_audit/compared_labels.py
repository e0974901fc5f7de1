"""LabelAgreement: how far the labels of judges agree with those of people, and other people with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from pt_reuse._check import choice, count, did_you_mean, examples, shown
from pt_reuse._errors import InputError, Option, door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.data.judgments import checked_rel
from pt_reuse.judging.annotators.coefficients import SOURCE_OF_BANDS, band
from pt_reuse.judging.annotators.labels import as_annotator_labels
from pt_reuse.judging.judges import JudgeRel, as_judges
from pt_reuse.judging.label_pairs import ComparedLabels, compared_labels
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, few_topics, noted, tell
from pt_reuse.studies.judged_fields import as_people
from pt_reuse.studies.label_audit.label_counts import (
    BY_GRADE,
    COMPARED,
    CONFUSION,
    ITEMS,
    OVERALL,
    PER_TOPIC,
    TAKEN,
    TOGETHER,
    BothLabelled,
    Compared,
    LabelCounts,
    beside_people,
    compared_people,
    scale_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what the rows of a report can be
ROWS = ("judge", "grade", "person", "topic")
#: of which documents and labels a report or a figure is, in words
ITEMS_WORDS = {"all": "all documents", "relevant": "documents that people or the judge call relevant"}
LABELS_WORDS = {"grades": "labels as they are", "binary": "relevant or not"}
FIGURE_WORDS = {
    "agreement": "share of equal labels",
    "kappa": "Cohen's kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "precision": "precision of the label relevant",
    "recall": "recall of the label relevant",
}


def of_judges(rows: pd.DataFrame, way: tuple[str, str], settings: Mapping[str, Any]) -> Report:
    """Return a row per judge, and per other person: how much each calls relevant, kappa, precision and recall."""
    whys = dict.fromkeys(f"{row.judge}: {row.why}" for row in rows[["judge", "why"]].itertuples() if row.why)
    ordered = _best_first(rows)
    same = rows.loc[rows["kind"] == "model", "human_relevant"].dropna().round(3).unique()
    human = f"; of the documents of the judges people call {same[0]:.3f} relevant" if len(same) == 1 else ""
    return Report(
        [
            Column("Judge", ordered["judge"]),
            Column("Relevant", ordered["judge_relevant"], Digits.SCORE),
            Column("Kappa", ordered["kappa"], Digits.SCORE),
            intervals("kappa", ordered["kappa_low"], ordered["kappa_high"], Digits.SCORE),
            Column("Precision", ordered["precision"], Digits.SCORE),
            Column("Recall", ordered["recall"], Digits.SCORE),
        ],
        caption=(
            f"Labels of judges beside those of people: {ITEMS_WORDS[way[0]]}, {LABELS_WORDS[way[1]]}. Relevant is the "
            f"share that the judge calls relevant{human}."
        ),
        notes=[*_notes(settings, with_intervals=True, with_kappa=True), *(f"Without a value: {why}." for why in whys)],
    )


def of_grades(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and label of the judge: how often it is given, and how precise it is."""
    return Report(
        [
            Column("Judge and label", [f"{row.judge}: {row.label}" for row in rows[["judge", "label"]].itertuples()]),
            Column("Documents", rows["n"], Digits.COUNT),
            Column("Share", rows["share"], Digits.SCORE),
            Column("Relevant", rows["relevant"], Digits.SCORE),
            intervals("relevant", rows["relevant_low"], rows["relevant_high"], Digits.SCORE),
        ],
        caption="How precise each label of a judge is: the share of its documents that people call relevant.",
        notes=_notes(settings, with_intervals=True, with_kappa=False),
    )


def of_persons(rows: pd.DataFrame, figure: str, labels: str, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and other person: a figure of both on the same documents, and the difference."""
    pairs = [f"{row.judge}, {row.person}" for row in rows[["judge", "person"]].itertuples()]
    return Report(
        [
            Column("Judge, person", pairs),
            Column("Labels", rows["n_items"], Digits.COUNT),
            Column("Judge", rows["value"], Digits.SCORE),
            Column("Person", rows["person_value"], Digits.SCORE),
            Column("Difference", rows["difference"], Digits.SCORE),
            intervals("difference", rows["difference_low"], rows["difference_high"], Digits.SCORE),
        ],
        caption=(
            f"Judges beside other people, each against the judgments of people, on the documents that both labelled: "
            f"{FIGURE_WORDS[figure]}, {LABELS_WORDS[labels]}."
        ),
        notes=_notes(settings, with_intervals=True, with_kappa=figure == "kappa"),
    )


def of_topics(rows: pd.DataFrame, way: tuple[str, str], settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and topic, the lowest kappa first."""
    ordered = rows.sort_values("kappa", kind="stable", na_position="last")
    return Report(
        [
            Column("Judge, topic", [f"{row.judge}, {row.qid}" for row in ordered[["judge", "qid"]].itertuples()]),
            Column("Documents", ordered["n_items"], Digits.COUNT),
            Column("Missing", ordered["missing"], Digits.COUNT),
            Column("Kappa", ordered["kappa"], Digits.SCORE),
            Column("Relevant, people", ordered["human_relevant"], Digits.SCORE),
            Column("Relevant, judge", ordered["judge_relevant"], Digits.SCORE),
        ],
        caption=(
            f"Labels of judges beside those of people on each topic: {ITEMS_WORDS[way[0]]}, {LABELS_WORDS[way[1]]}; "
            "the lowest kappa first, topics without one last."
        ),
        notes=_notes(settings, with_intervals=False, with_kappa=True),
    )


def sentences(table: pd.DataFrame, beside: pd.DataFrame, together: str) -> Iterator[str]:
    """Yield what was found in sentences, each with its number and its interval."""
    rows = table[(table["items"] == "all") & (table["labels"] == "binary")]
    chosen = beside[(beside["figure"] == "kappa") & (beside["labels"] == "binary")]
    if together in set(chosen["person"]):
        chosen = chosen[chosen["person"] == together]
    for row in _best_first(rows[rows["kind"] == "model"]).to_dict("records"):
        judge, documents = row["judge"], f"{count(row['n_items'], 'document')} of {count(row['n_topics'], 'topic')}"
        if pd.isna(row["kappa"]):
            yield f"{judge} has no kappa with people on {documents}: {row['why']}."
        else:
            yield (
                f"{judge} and people have a kappa of {_number(row, 'kappa')} on {documents}, relevant or not "
                f"({band(row['kappa'])} in the bands of McHugh 2012)."
            )
        yield _surplus(row)
        if not pd.isna(row["precision"]) and not pd.isna(row["recall"]):
            yield (
                f"Of what {judge} calls relevant, people call {_number(row, 'precision', 100)} % relevant; of what "
                f"people call relevant, {judge} calls {_number(row, 'recall', 100)} % relevant."
            )
        left = [f"left {count(row['missing'], 'judged document')} without a label"] if row["missing"] else []
        left += [f"has no label in {count(row['without'], 'topic')}"] if row["without"] else []
        if left:
            yield f"{judge} {', and '.join(left)}."
        for other in chosen[chosen["judge"] == judge].dropna(subset=["difference"]).to_dict("records"):
            person = "other people" if other["person"] == together else other["person"]
            yield (
                f"On the documents that {person} labelled, too ({count(other['n_items'], 'label')}), the "
                f"kappa of {judge} is {other['value']:.3f} and that of {person} "
                f"{other['person_value']:.3f}: a difference of {_number(other, 'difference', signed=True)}"
                f"{_verdict(other)}."
            )


def _surplus(row: Mapping[Any, Any]) -> str:
    low, high = row["surplus_low"], row["surplus_high"]
    said = (
        f"{row['judge']} calls {100 * row['judge_relevant']:.1f} % of the documents relevant, people "
        f"{100 * row['human_relevant']:.1f} %: a difference of {_number(row, 'surplus', 100, signed=True)} points"
    )
    if low > 0:
        return f"{said}; it is more lenient than people."
    return f"{said}; it is stricter than people." if high < 0 else f"{said}."


def _verdict(row: Mapping[Any, Any]) -> str:
    if row["difference_low"] > 0:
        return ", more than people reach"
    if row["difference_high"] < 0:
        return ", less than people reach"
    return "" if pd.isna(row["difference_low"]) else ", which the topics do not tell from none"


def _number(row: Mapping[Any, Any], figure: str, factor: float = 1, *, signed: bool = False) -> str:
    form = f"{'+' if signed else ''}.{1 if factor == 100 else 3}f"
    return with_ends(row, figure, form, factor=factor)


def _best_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Return judges before other people, the largest kappa first."""
    return rows.sort_values(["kind", "kappa"], ascending=[True, False], kind="stable", na_position="last")


def _notes(settings: Mapping[str, Any], *, with_intervals: bool, with_kappa: bool) -> list[str]:
    notes = [f"Intervals: {settings['intervals']}."] if with_intervals else []
    notes += [f"Kappa: {settings['kappa']}.", f"Bands of kappa: {SOURCE_OF_BANDS}."] if with_kappa else []
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes


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


_WHO = ("judge", "kind")
#: of two people nobody is asked for what the other one labelled
_BETWEEN = ("judge", "other", *(column for column in OVERALL if column not in ("missing", "without")))


def label_agreement(
    pairs: Sequence[ComparedLabels], bootstrap: TopicBootstrap | None, *, people: Sequence[ComparedLabels] = ()
) -> LabelAgreement:
    """Say how far labels of judges agree with those of people, on the documents that both labelled.

    All figures are made of how often each two labels meet, topic by topic, so that a resample of the topics is a
    weighted sum of these counts.

    Args:
        pairs: labels of judges beside those of people, one or more.
        bootstrap: how intervals are made; None for none.
        people: labels of other people beside those of the same people, to read the judges against.

    Returns:
        LabelAgreement: a row per judge, and per other person, in each table.

    Raises:
        InputError: two judges, or a judge and another person, of one name.
    """
    check_names([one.name for one in pairs], [one.name for one in people])
    scale = scale_of((*pairs, *people))
    judges = {one.name: BothLabelled.of(one, scale) for one in pairs}
    others = {one.name: BothLabelled.of(one, scale) for one in people}
    compared = [_compared(one, "model", judges[one.name]) for one in pairs]
    compared += [_compared(one, "people", others[one.name]) for one in people]
    all_others = others
    if len(people) > 1:
        all_others = {**others, TOGETHER: BothLabelled.together(list(others.values()))}
        compared.append(_all_of(people, all_others[TOGETHER]))
    family = {one.name: one.family for one in pairs}
    bounds = [(one.name, one.rel, one.judge_rel) for one in (*pairs, *people)]
    table = pd.DataFrame([row for one in compared for row in one.overall(bootstrap)], columns=[*_WHO, *OVERALL])
    table.insert(2, "family", table["judge"].map(family).astype(object))
    return LabelAgreement(
        table=table,
        settings=_settings(pairs, people, compared, bootstrap),
        per_topic=pd.concat([one.per_topic() for one in compared], ignore_index=True)[[*_WHO, *PER_TOPIC]],
        by_grade=pd.DataFrame([row for one in compared for row in one.by_grade(bootstrap)], columns=[*_WHO, *BY_GRADE]),
        confusion=pd.concat([one.confusion() for one in compared], ignore_index=True)[[*_WHO, *CONFUSION]],
        beside=beside_people(judges, all_others, bootstrap),
        between=pd.DataFrame(
            [row for one in _between(others) for row in one.overall(bootstrap)], columns=list(_BETWEEN)
        ),
        bounds=pd.DataFrame(bounds, columns=["judge", "rel", "judge_rel"]),
    )


def check_names(judges: Sequence[str], people: Sequence[str]) -> None:
    """Raise where two of those who are compared have one name."""
    taken = Counter([*judges, *people, *([TOGETHER] if len(people) > 1 else [])])
    if several := [name for name, times in taken.items() if times > 1]:
        raise InputError(
            f"{examples(several)} is the name of more than one. Give each judge, and each of the other people, a name "
            "of its own.",
            argument="people" if people else "judge",
        )


def _compared(labels: ComparedLabels, kind: str, both: BothLabelled) -> Compared:
    who, missing = {"judge": labels.name, "kind": kind}, Counter(labels.left["qid"])
    return Compared(who, LabelCounts.of(both), missing, len(labels.without))


def _all_of(people: Sequence[ComparedLabels], both: BothLabelled) -> Compared:
    """Return all other people as one: what a document is called by each of them counts."""
    counts, left = LabelCounts.of(both), Counter(qid for one in people for qid in one.left["qid"])
    asked = {topic for one in people for topic in (*one.human.topics, *one.without)}
    return Compared({"judge": TOGETHER, "kind": "people"}, counts, left, len(asked - set(counts.topics)))


def _between(people: Mapping[str, BothLabelled]) -> Iterator[Compared]:
    """Yield each two people with documents in common, the first in the place of people, the second of the judge."""
    for (first, one), (second, other) in combinations(people.items(), 2):
        both = other.against(one)
        if len(both.pairs):
            yield Compared({"judge": second, "other": first}, LabelCounts.of(both), {}, 0)


def _settings(
    pairs: Sequence[ComparedLabels],
    people: Sequence[ComparedLabels],
    compared: Sequence[Compared],
    bootstrap: TopicBootstrap | None,
) -> dict[str, object]:
    found: dict[str, object] = {
        "human": f"relevant from label {pairs[0].rel}",
        "judges": "; ".join(f"{one.name} ({one.words()})" for one in pairs),
    }
    ungraded = [str(one.who["judge"]) for one in compared if not one.counts.graded and one.who["kind"] == "model"]
    if ungraded:
        found["relevant or not alone"] = (
            f"{examples(ungraded, 12)}: the labels are two, or not on the scale of people (relevant from the same "
            "label on, and none above the highest of people)"
        )
    if people:
        found["people"] = (
            f"{'; '.join(f'{one.name} ({one.words()})' for one in people)}. Together, a document counts for each "
            "of them who labelled it"
        )
    words = "none"
    if bootstrap is not None:
        words = (
            f"{100 * bootstrap.confidence:.4g} % bootstrap over the topics of each judge, {bootstrap.resamples:,} "
            f"resamples, seed {bootstrap.seed}: the percentile interval, expanded as Student's t is for few topics; "
            "that of recall is too narrow where most of what a judge misses is in few topics"
        )
    return found | {"documents": "those that both labelled", "kappa": "Cohen's, without weights", "intervals": words}


@door
def compare_labels(
    human: Any,
    judge: Any,
    *,
    people: Any = None,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> LabelAgreement:
    """Say how far the labels of judges agree with those of people, with no runs needed.

    Judges are models, or whoever else labels in the place of people. All figures are of the documents that people
    judged and the judge labelled, too; how many it left out is counted. What people reach with each other is the
    yardstick: give labels of other people as `people`, and each judge stands beside them on the same documents.

    Args:
        human: the judgments of people, in any form (see :doc:`runs`); a negative label is none.
        judge: one judge, or a dict of name -> judge: judgments in any form, or whoever gives labels (a function, a
            pipeline, a :class:`judging.Judge`), who is asked for what people judged; or a folder of judges, read as
            :func:`judging.read_judges` reads it.
        people: labels of other people for documents of `human`: a dict of name -> judgments in any form, a frame
            ``qid docno label annotator``, or what :func:`~pt_reuse.judging.import_labels` returns. Each may have
            labelled a part. Default none.
        rel: the lowest label of people that is relevant; default what `human` says, else 1.
        judge_rel: the lowest label of a judge that is relevant, or a dict of its label -> the label of people that it
            stands for; one for all, or a dict of name -> one of these. Default: what the judge says; else 1 where all
            its labels are 0 and 1, and as people where none is above the highest of theirs. Labels above it are
            refused.
        families: a dict of judge -> family of models, which stands beside it in the table.
        resamples: how often the topics are drawn for intervals; default 1,000; 0 for none.
        confidence: of the intervals, between 0 and 1; default .95. They are percentile intervals, expanded for few
            topics as Student's t is (Hesterberg 2015).
        seed: of the draws.

    Returns:
        LabelAgreement: ``.table`` (overall), ``.per_topic``, ``.by_grade``, ``.confusion``, ``.beside`` (other people
        on the same documents), ``.between`` (other people with each other), ``.plot()``, ``.plot_confusion()``.

    Raises:
        InputError: no judgments, no judge, labels that are none (such as probabilities), a judge that labelled nothing
            of what people judged, one name for two.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing; fewer than five topics.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> given = {"ann": [3, 2, 0, 0, 1, 0], "model": [3, 2, 1, 0, 2, 2]}
        >>> frame = pd.DataFrame({"qid": list("123456"), "docno": list("abcdef")})
        >>> labels = {name: frame.assign(label=label) for name, label in given.items()}
        >>> found = ptr.labels.compare_labels(labels["ann"], {"model": labels["model"]}, rel=2, resamples=0)
        >>> found.table[["judge", "items", "labels", "agreement", "kappa", "precision", "recall"]].round(3)
           judge     items  labels  agreement  kappa  precision  recall
        0  model       all  grades      0.500  0.357        0.5     1.0
        1  model  relevant  grades      0.500  0.333        0.5     1.0
        2  model       all  binary      0.667  0.400        0.5     1.0
        3  model  relevant  binary      0.500  0.000        0.5     1.0

    Source: Cohen 1960, A coefficient of agreement for nominal scales; Krippendorff 2004, Content analysis, chapter 11.
    """
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    truth = as_people(human, checked_rel(rel))
    judges = as_judges(judge, rel=judge_rel, families=families)
    others = None if people is None else as_annotator_labels(people, "people")
    check_names([one.name for one in judges], () if others is None else others.annotators)
    # labels of people are there already, a judge may take its time
    beside = [] if others is None else list(compared_people(truth, others))
    compared = [compared_labels(truth, one) for one in judges]
    found = label_agreement(compared, bootstrap, people=beside)
    caveats = [caveat for one in compared for caveat in few_topics(len(one.judge.topics), one.name)]
    tell(caveats)
    return replace(found, settings={**found.settings, **noted(caveats)})
