"""compare_labels: how far the labels of judges agree with those of people, and other people with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from pt_reuse._check import choice, count, did_you_mean, examples
from pt_reuse._errors import Call, InputError, Option, located, warn
from pt_reuse._report import Digits
from pt_reuse._text import with_ends
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.annotators.labels import AnnotatorLabels, as_annotator_labels
from pt_reuse.judging.annotators.measuring import SOURCE_OF_BANDS
from pt_reuse.judging.judge import Oracle
from pt_reuse.judging.judges import ComparedLabels, JudgeRel, NamedJudge, Scale, compared_labels, lowest_relevant
from pt_reuse.options import Parameter
from pt_reuse.plots.forests import plot_beside_people
from pt_reuse.plots.maps import plot_label_confusion
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import few_topics
from pt_reuse.studies.judged_fields import NOTES, AskedJudges, verdict
from pt_reuse.studies.label_counts import (
    COMPARED,
    ITEMS,
    TAKEN,
    BothLabelled,
    Compared,
    LabelCounts,
    beside_rows,
    scale_of,
)
from pt_reuse.study import Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: what other people are called where all of them count as one
TOGETHER = "people together"
#: what can be drawn and compared, in words
FIGURE_WORDS = {
    "agreement": "share of equal labels",
    "kappa": "Cohen's kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "precision": "precision of the label relevant",
    "recall": "recall of the label relevant",
}
#: what shares of a confusion matrix are of -> the column
_SHARES = {
    "label": ("of_label", "in per cent: of the row"),
    "judge_label": ("of_judge_label", "in per cent: of the column"),
    "all": ("share", "in per cent: of all documents"),
}


def _draw_figure(
    result: LabelAgreement,
    _: str | None,
    place: Place | None,
    *,
    figure: str = "kappa",
    items: str = "all",
    labels: str = "binary",
) -> Axes:
    """Draw a figure of each judge, and of each other person, with its interval."""
    choice("figure", figure, COMPARED)
    names, columns = [figure, f"{figure}_low", f"{figure}_high"], ["judge", "value", "low", "high"]
    rows = result.by_judge(items=items, labels=labels)
    own = rows[["judge", *names]].set_axis(columns, axis=1).assign(kind=rows["kind"])
    people, shared = result.beside, "on all documents that each labelled"
    if items != "all":
        shared = "on the documents that people or the judge call relevant"
    if people["person"].eq(TOGETHER).any():
        people = people[people["person"] == TOGETHER]
    people = people[(people["figure"] == figure) & (people["labels"] == labels)]
    if len(people) and items == "all":
        mine = people[["judge", "value", "value_low", "value_high"]].set_axis(columns, axis=1).assign(kind="model")
        own, shared = (
            pd.concat([mine, own[own["kind"] == "people"]]),
            "on the documents that other people labelled, too",
        )
    said = f"{FIGURE_WORDS[figure]}, {'relevant or not' if labels == 'binary' else 'labels as they are'}; {shared}"
    own = own.assign(together=own["judge"] == TOGETHER).reset_index(drop=True)
    return plot_beside_people(own, said=said, banded=figure == "kappa", place=place)


def _draw_confusion(
    result: LabelAgreement, _: str | None, place: Place | None, *, judge: str | None = None, of: str = "label"
) -> Axes:
    """Draw how often each label of people meets each label of a judge, and where relevant and not relevant part."""
    choice("of", of, tuple(_SHARES))
    name = result.judges[0] if judge is None else judge
    rows, bounds = result.of(name, result.confusion), result.bounds[result.bounds["judge"] == name]
    lowest = (None, None) if bounds.empty else (int(bounds["rel"].iloc[0]), int(bounds["judge_rel"].iloc[0]))
    column, said = _SHARES[of]
    rows = rows[["label", "judge_label", "n", column]].rename(columns={column: "share"})
    return plot_label_confusion(rows, said=f"label of {name} ({said})", lowest=lowest, place=place)


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

    title = "Agreement of labels"
    views = {
        "judge": View(
            table="by_judge",
            columns=(
                Shown("Judge", "judge"),
                Shown("Relevant", "judge_relevant", Digits.SCORE),
                Shown("Kappa", "kappa", Digits.SCORE),
                Shown("Interval of kappa", "kappa", Digits.SCORE, interval=True),
                Shown("Precision", "precision", Digits.SCORE),
                Shown("Recall", "recall", Digits.SCORE),
            ),
            caption="Labels of judges beside those of people, over {items} documents, labels: {labels}. Relevant is "
            "the share that the judge calls relevant.",
            noun="judges",
        ),
        "grade": View(
            table="grades",
            columns=(
                Shown("Judge and label", "grade"),
                Shown("Documents", "n", Digits.COUNT),
                Shown("Share", "share", Digits.SCORE),
                Shown("Relevant", "relevant", Digits.SCORE),
                Shown("Interval of relevant", "relevant", Digits.SCORE, interval=True),
            ),
            caption="How precise each label of a judge is: the share of its documents that people call relevant.",
            noun="labels",
        ),
        "person": View(
            table="persons",
            columns=(
                Shown("Judge, person", "pair"),
                Shown("Labels", "n_items", Digits.COUNT),
                Shown("Judge", "value", Digits.SCORE),
                Shown("Person", "person_value", Digits.SCORE),
                Shown("Difference", "difference", Digits.SCORE),
                Shown("Interval of difference", "difference", Digits.SCORE, interval=True),
            ),
            caption="Judges beside other people, each against the judgments of people, on the documents that both "
            "labelled: {figure}, labels: {labels}.",
            noun="pairs",
        ),
        "topic": View(
            table="topics",
            columns=(
                Shown("Judge, topic", "pair"),
                Shown("Documents", "n_items", Digits.COUNT),
                Shown("Missing", "missing", Digits.COUNT),
                Shown("Kappa", "kappa", Digits.SCORE),
                Shown("Relevant, people", "human_relevant", Digits.SCORE),
                Shown("Relevant, judge", "judge_relevant", Digits.SCORE),
            ),
            caption="Labels of judges beside those of people on each topic, over {items} documents, labels: {labels}; "
            "the lowest kappa first, topics without one last.",
            noun="topics",
            long=True,
        ),
    }
    plots = {"beside": _draw_figure, "confusion": _draw_confusion}
    key = (KeyFigures(("kappa", "agreement", "surplus", "precision", "recall"), "models", "{judge}"),)
    answer = "models", "kappa of {judge} with people, relevant or not: {kappa:.3f}"
    sentences = {"kappa": "Kappa: {kappa}.", **NOTES}

    per_topic: pd.DataFrame
    by_grade: pd.DataFrame
    confusion: pd.DataFrame
    beside: pd.DataFrame
    between: pd.DataFrame
    bounds: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name, the main one, ``agreement``, first."""
        return {"agreement" if name == "table" else name: table for name, table in super().tables().items()}

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges, without the other people."""
        return self.table.loc[self.table["kind"] == "model", "judge"].unique().tolist()

    def models(self) -> pd.DataFrame:
        """Return the rows of the judges over all documents, relevant or not, the largest kappa first."""
        rows = self.by_judge()
        return rows[rows["kind"] == "model"]

    def by_judge(self, judge: str | None = None, items: str = "all", labels: str = "binary") -> pd.DataFrame:
        """Return the rows of the table of one way to look, judges before other people, the largest kappa first."""
        rows = self.of(judge, _chosen(self.table, items, labels))
        return rows.sort_values(["kind", "kappa"], ascending=[True, False], kind="stable", na_position="last")

    def grades(self, judge: str | None = None) -> pd.DataFrame:
        """Return the labels that judges, or one of all, give."""
        rows = self.by_grade[self.by_grade["given_by"] == "judge"]
        rows = rows[rows["kind"] == "model"] if judge is None else self.of(judge, rows)
        return rows.assign(grade=rows["judge"] + ": " + rows["label"].astype(str))

    def persons(self, judge: str | None = None, figure: str = "kappa", labels: str = "binary") -> pd.DataFrame:
        """Return a figure of judges and other people on the same documents."""
        if not len(self.beside):
            raise InputError("there are no other people to stand beside; give ", Option("people", ...), ".")
        choice("figure", figure, COMPARED)
        rows = self.beside[
            (self.beside["figure"] == figure) & (self.beside["labels"] == choice("labels", labels, TAKEN))
        ]
        rows = self.of(judge, rows)
        return rows.assign(pair=rows["judge"] + ", " + rows["person"])

    def topics(self, judge: str | None = None, items: str = "all", labels: str = "binary") -> pd.DataFrame:
        """Return the topics of judges, or of one of all, the lowest kappa first."""
        rows = _chosen(self.per_topic, items, labels)
        rows = rows[rows["kind"] == "model"] if judge is None else self.of(judge, rows)
        rows = rows.sort_values("kappa", kind="stable", na_position="last")
        return rows.assign(pair=rows["judge"] + ", " + rows["qid"])

    def of(self, judge: str | None, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of one judge, of all for None."""
        known = self.table["judge"].unique().tolist()
        if judge is not None and judge not in known:
            raise InputError(
                f"there is no judge {judge!r}; there are {examples(known, 12)}.{did_you_mean(str(judge), known)}",
                argument="judge",
            )
        found = rows if judge is None else rows[rows["judge"] == judge]
        if not len(found):
            raise InputError(
                "there is no row of this kind: labels are two, or no grades on the scale of people, or nobody else "
                "labelled the same documents.",
                argument="labels" if judge is None else "judge",
            )
        return found

    def findings(self) -> list[str]:
        """Return of each judge kappa, how much it calls relevant, what it left out, and how it stands beside people."""
        people = self.beside[(self.beside["figure"] == "kappa") & (self.beside["labels"] == "binary")]
        if TOGETHER in set(people["person"]):
            people = people[people["person"] == TOGETHER]
        found: list[str] = []
        for row in self.models().to_dict("records"):
            beside = people[(people["judge"] == row["judge"]) & people["difference"].notna()]
            found += [*_of_judge(row), *map(_of_person, beside.to_dict("records"))]
        return found

    def _shown(self) -> pd.DataFrame:
        rows = self.table[self.table["items"] == "all"]
        columns = ["judge", "kind", "labels", "n_items", "missing", "agreement", "kappa", "judge_relevant"]
        return rows[[*columns, "precision", "recall"]].reset_index(drop=True)

    def _rest(self) -> str:
        return "rows, and the relevant documents, intervals and shares in .table"


def _chosen(rows: pd.DataFrame, items: str, labels: str) -> pd.DataFrame:
    return rows[(rows["items"] == choice("items", items, ITEMS)) & (rows["labels"] == choice("labels", labels, TAKEN))]


def _of_judge(row: Mapping[Any, Any]) -> Iterator[str]:
    judge, documents = row["judge"], f"{count(row['n_items'], 'document')} of {count(row['n_topics'], 'topic')}"
    if pd.isna(row["kappa"]):
        yield f"{judge} has no kappa with people on {documents}: {row['why']}."
    else:
        yield (
            f"{judge} and people have a kappa of {with_ends(row, 'kappa', '.3f')} on {documents}, relevant or not "
            f"({row['band']} in the bands of McHugh 2012)."
        )
    tendency = verdict(row, "surplus", "; it is more lenient than people", "; it is stricter than people")
    yield (
        f"{judge} calls {100 * row['judge_relevant']:.1f} % of the documents relevant, people "
        f"{100 * row['human_relevant']:.1f} %: a difference of {with_ends(row, 'surplus', '+.1f', factor=100)} points"
        f"{tendency}."
    )
    if not pd.isna(row["precision"]) and not pd.isna(row["recall"]):
        yield (
            f"Of what {judge} calls relevant, people call {with_ends(row, 'precision', '.1f', factor=100)} % "
            "relevant; of "
            f"what people call relevant, {judge} calls {with_ends(row, 'recall', '.1f', factor=100)} % relevant."
        )
    if row["missing"] or row["without"]:
        yield (
            f"{judge} left {count(row['missing'], 'judged document')} and all documents of "
            f"{count(row['without'], 'topic')} without a label."
        )


def _of_person(row: Mapping[Any, Any]) -> str:
    person = "other people" if row["person"] == TOGETHER else row["person"]
    ahead, behind = ", more than people reach", ", less than people reach"
    said = verdict(row, "difference", ahead, behind, ", which the topics do not tell from none")
    return (
        f"On the documents that {person} labelled, too ({count(row['n_items'], 'label')}), the kappa of "
        f"{row['judge']} is {row['value']:.3f} and that of {person} {row['person_value']:.3f}: a difference of "
        f"{with_ends(row, 'difference', '+.3f')}{said}."
    )


def agreement_of_labels(
    pairs: Sequence[ComparedLabels],
    bootstrap: TopicBootstrap | None,
    *,
    people: Sequence[ComparedLabels] = (),
    settings: Mapping[str, Any] | None = None,
) -> LabelAgreement:
    """Say how far labels of judges, and of other people, agree with those of the same people."""
    check_names([one.name for one in pairs], [one.name for one in people])
    scale = scale_of((*pairs, *people))
    judges, others = ({one.name: BothLabelled.of(one, scale) for one in some} for some in (pairs, people))
    compared = [_compared(one, "model", judges[one.name]) for one in pairs]
    compared += [_compared(one, "people", others[one.name]) for one in people]
    every = others
    if len(people) > 1:
        # what a document is called by each of them counts
        every = {**others, TOGETHER: BothLabelled.together(list(others.values()))}
        counts, left = LabelCounts.of(every[TOGETHER]), Counter(qid for one in people for qid in one.left["qid"])
        asked = {topic for one in people for topic in (*one.human.topics, *one.without)}
        who = {"judge": TOGETHER, "kind": "people"}
        compared.append(Compared(who, counts, left, len(asked - set(counts.topics))))
    table = pd.DataFrame([row for one in compared for row in one.overall(bootstrap)])
    table.insert(2, "family", table["judge"].map({one.name: one.family for one in pairs}).astype(object))
    between = [row for one in _between(others) for row in one.overall(bootstrap)]
    of_two = ["judge", "other", *(name for name in list(table)[3:] if name not in ("missing", "without"))]
    beside = [
        {"judge": judge, "person": person, **row}
        for judge, mine in judges.items()
        for person, theirs in every.items()
        for row in beside_rows(theirs, mine, bootstrap)
    ]
    ends = [f"{name}{end}" for name in ("value", "person_value", "difference") for end in ("", "_low", "_high")]
    bounds = [(one.name, one.rel, one.judge_rel) for one in (*pairs, *people)]
    return LabelAgreement(
        table=table,
        settings={**_settings(compared, people, bootstrap), **(settings or {})},
        per_topic=pd.concat([frame for one in compared for frame in one.per_topic()], ignore_index=True),
        by_grade=pd.DataFrame([row for one in compared for row in one.by_grade(bootstrap)]),
        confusion=pd.concat([one.confusion() for one in compared], ignore_index=True),
        beside=pd.DataFrame(beside, columns=["judge", "person", "labels", "figure", "n_topics", "n_items", *ends]),
        between=pd.DataFrame(between, columns=of_two),
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
    who = {"judge": labels.name, "kind": kind}
    return Compared(who, LabelCounts.of(both), Counter(labels.left["qid"]), len(labels.without))


def _between(people: Mapping[str, BothLabelled]) -> Iterator[Compared]:
    """Yield each two people with documents in common, the first in the place of people, the second of the judge."""
    for (first, one), (second, other) in combinations(people.items(), 2):
        both = other.against(one)
        if len(both.pairs):
            yield Compared({"judge": second, "other": first}, LabelCounts.of(both), {}, 0)


def _settings(
    compared: Sequence[Compared], people: Sequence[ComparedLabels], bootstrap: TopicBootstrap | None
) -> dict[str, object]:
    found: dict[str, object] = {}
    ungraded = [str(one.who["judge"]) for one in compared if not one.counts.graded and one.who["kind"] == "model"]
    if ungraded:
        found["relevant or not alone"] = (
            f"{examples(ungraded, 12)}: the labels are two, or not on the scale of people (relevant from the same "
            "label on, and none above the highest of people)"
        )
    if people:
        found["people"] = "; ".join(f"{one.name} ({one.words()})" for one in people)
    words = "none"
    if bootstrap is not None:
        words = (
            f"{100 * bootstrap.confidence:.4g} % bootstrap over the topics of each judge, {bootstrap.resamples:,} "
            f"resamples, seed {bootstrap.seed}: the percentile interval, expanded as Student's t is for few topics; "
            "that of recall is too narrow where most of what a judge misses is in few topics"
        )
    kappa = f"Cohen's, without weights; {SOURCE_OF_BANDS}"
    return {**found, "documents": "those that both labelled", "kappa": kappa, "intervals": words}


def compared_people(human: Qrels, people: AnnotatorLabels) -> Iterator[ComparedLabels]:
    """Yield the labels of each other person beside judgments."""
    _warn_of_few_grades(human, people)
    frame = human.to_frame()
    judged = frame.loc[frame["label"] >= 0, ["qid", "docno"]]
    for number, name in enumerate(people.annotators):
        given = pd.DataFrame({"qid": people.qids, "docno": people.docnos, "label": people.values[:, number]})
        # below 0 there is no label, as in judgments
        given = given[given["label"] >= 0]
        there = set(judged.merge(given, on=["qid", "docno"])["qid"])
        if not there:
            with located(name):
                raise InputError(
                    f"this person labelled none of the {count(len(judged), 'document')} that are judged. Are these "
                    "labels of the same collection, with ids written alike?",
                    argument="people",
                )
        # people are taken to grade on one scale, whichever of its labels each of them gave
        scale = Scale(human.rel, int(given["label"].max()))
        lowest = lowest_relevant(given["label"], scale) if people.rel is None else people.rel
        person = NamedJudge(name, Oracle(Qrels(given)), lowest)
        yield compared_labels(human.select([topic for topic in human.topics if topic in there]), person)


def _warn_of_few_grades(human: Qrels, people: AnnotatorLabels) -> None:
    """Warn of people whose labels are 0 and 1 beside others who gave grades: few labels may happen to be the lowest."""
    highest = people.values.max(axis=0)
    if people.rel is not None or human.rel == 1 or highest.max() <= 1:
        return
    low = [name for name, most in zip(people.annotators, highest.tolist(), strict=True) if most <= 1]
    if low:
        warn(
            f"the labels of {examples(low)} are 0 and 1, and others gave up to {highest.max()}. They are taken as not "
            f"relevant and relevant. Where they are grades, say of all people from which one on they are relevant: ",
            Call("Qrels", f"..., rel={human.rel}"),
            ".",
        )


OTHER_PEOPLE = Parameter(
    name="people",
    meaning="labels of other people for some of the same documents: a dict of name -> judgments in any form, a frame "
    "``qid docno label annotator``, or what :func:`~pt_reuse.judging.import_labels` returns. Each is compared with "
    "`human` on the documents that this person labelled, and so is each judge once more beside it. Default none.",
    check=lambda value: None if value is None else as_annotator_labels(value, "people"),
)


@study(OTHER_PEOPLE, entry=Entry(question="Does a model label as people do?", group="labels"))
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

    Returns:
        LabelAgreement: ``.table`` (overall), ``.per_topic``, ``.by_grade``, ``.confusion``, ``.beside`` (other people
        on the same documents), ``.between`` (other people with each other), ``.plot()``.

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
    asked = AskedJudges(compare_labels, locals())
    others = asked["people"]
    check_names([one.name for one in asked.judges], () if others is None else others.annotators)
    # labels of people are there already, a judge may take its time
    beside = [] if others is None else list(compared_people(asked.qrels, others))
    asked.tell(caveat for one in asked.compared for caveat in few_topics(len(one.judge.topics), one.name))
    settings = {"relevant": f"label of at least {asked.rel}", **asked.settings()}
    del settings["intervals"]
    return agreement_of_labels(asked.compared, asked.bootstrap, people=beside, settings=settings)
