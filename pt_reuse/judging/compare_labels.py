"""compare_labels: how far the labels of judges agree with those of people, and other people with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.lists import natural_order
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, choice, count, examples, per_cent, warn
from pt_reuse.inputs import graded, read_judgments
from pt_reuse.judge import NamedJudge, Oracle, Scale, as_judges, lowest_relevant
from pt_reuse.judging.annotators.labels import AnnotatorLabels, as_annotator_labels
from pt_reuse.judging.annotators.measuring import (
    NO_ITEMS,
    ONE_LABEL,
    SOURCE_OF_BANDS,
    band,
    cohen_kappa,
    equal_share,
    krippendorff_alpha,
    share,
)
from pt_reuse.plots.bars import plot_label_confusion
from pt_reuse.plots.forests import plot_beside_people
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import KeyFigures, Result, cells, records
from pt_reuse.scoring.caveats import beware, few_topics
from pt_reuse.studies.judged_fields import (
    ComparedLabels,
    as_declared,
    as_people,
    compared_labels,
    judges_in_words,
    usable,
)
from pt_reuse.study import study

Floats = NDArray[np.float64]
#: over which documents, and what of the labels
ITEMS, TAKEN = ("all", "relevant"), ("grades", "binary")
#: one of each: how documents and labels are looked at
Way: TypeAlias = tuple[str, str]
#: what is compared beside other people; how much each calls relevant is in the table of all documents
COMPARED = ("agreement", "kappa", "alpha_nominal", "alpha_ordinal", "precision", "recall")
#: what is computed of each way of looking, in the order of the columns
FIGURES = (*COMPARED[:4], "human_relevant", "judge_relevant", "surplus", *COMPARED[4:])
#: why a figure has no value
NONE_BY_JUDGE, NONE_BY_PEOPLE = "the judge calls none relevant", "people call none relevant"
#: what other people are called where all of them count as one
TOGETHER = "people together"
#: the least kappa of labels that are usable in the place of people's
ADEQUATE = 0.6
#: what shares of a confusion matrix are of -> the column
_SHARES = {
    "label": ("of_label", "in per cent: of the row"),
    "judge_label": ("of_judge_label", "in per cent: of the column"),
    "all": ("share", "in per cent: of all documents"),
}
_ALL = {"items": "all", "labels": "binary"}


def _draw_figure(result: LabelAgreement, _: str | None, place: Place | None) -> Axes:
    """Draw kappa of each judge, and of each other person, with its interval."""
    columns = ["judge", "kind", "value", "low", "high"]
    people, shared = result.of_kappa().assign(kind="model"), "on all documents that each labelled"
    drawn = result.by_judge()[["judge", "kind", "kappa", "kappa_low", "kappa_high"]].set_axis(columns, axis=1)
    if len(people):
        models = people[["judge", "kind", "value", "value_low", "value_high"]].set_axis(columns, axis=1)
        drawn = pd.concat([models, drawn[drawn["kind"] == "people"]])
        shared = "on the documents that other people labelled, too"
    drawn = drawn.assign(together=drawn["judge"] == TOGETHER).reset_index(drop=True)
    return plot_beside_people(drawn, said=f"Cohen's kappa, relevant or not; {shared}", place=place)


def _draw_confusion(
    result: LabelAgreement, _: str | None, place: Place | None, *, judge: str | None = None, of: str = "label"
) -> Axes:
    """Draw how often each label of people meets each label of a judge, and where relevant and not relevant part."""
    choice("of", of, tuple(_SHARES))
    known = list(dict.fromkeys(result.table["judge"]))
    name = result.judges[0] if judge is None else choice("judge", judge, known)
    rows, bounds = (table[table["judge"] == name] for table in (result.confusion, result.bounds))
    lowest = (None, None) if bounds.empty else (int(bounds["rel"].iloc[0]), int(bounds["judge_rel"].iloc[0]))
    column, share_of = _SHARES[of]
    rows = rows[["label", "judge_label", "n", column]].rename(columns={column: "share"})
    return plot_label_confusion(rows, said=f"label of {name} ({share_of})", lowest=lowest, place=place)


_FIGURES = " ".join(f"{name}~" for name in FIGURES)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAgreement(Result):
    """How far the labels of judges agree with those of people, on the documents that both labelled.

    ``judge`` is who is compared with people: a model, or, as ``kind`` says, another person (``"people"``), to read the
    models against; ``"people together"`` counts the labels of several others. There are rows of grades where the judge
    is on the scale of people: relevant from the same label on, no label above the highest of people, and more than two
    labels. Over the relevant documents alone kappa and alpha are low: read `agreement`.
    """

    title, main = "Agreement of labels", "agreement"
    valid_for = "the documents that people and the judge labelled, relevant from label {rel}."
    not_covered = "whether people are right, and how a judge ranks runs."
    plots = {"beside": _draw_figure, "confusion": _draw_confusion}
    key = (KeyFigures(("kappa", "agreement", "surplus", "precision", "recall"), "models", "{judge}"),)
    columns = """
    n | Documents | count | how many documents there are
    missing | Missing | count | documents that people judged and the judge did not
    without | Without labels | count | topics in which the judge labelled nothing
    human_relevant | Relevant, people | score | share of the documents that people call relevant
    judge_relevant | Relevant, judge | score | share of the documents that the judge calls relevant
    surplus | Surplus | difference | the judge's share less that of people
    precision | Precision | score | share of what the judge calls relevant that people do, too
    recall | Recall | score | share of what people call relevant that the judge does, too
    given_by | Given by | | whose label it is, "human" or "judge"
    relevant_label | Relevant label | | whether it is relevant for who gives it
    relevant | Relevant | score | share of its documents that the other one calls relevant
    share | Share | score | share of all documents
    judge_label | Label, judge | number | the label of the judge
    of_label | Of the label | score | share of those with this label of people
    of_judge_label | Of the judge's | score | share of those with this label of the judge
    figure | Figure | | which figure
    value | Value, judge | score | that of the judge
    person_value | Value, person | score | that of the person
    difference | Difference | difference | the judge's less the person's, on the same draws
    rel | Relevant from | number | the lowest label of people that is relevant
    judge_rel | Judge from | number | that of the judge
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge, items and labels",
            f"judge kind family items labels n_topics n_items missing without {_FIGURES} band why",
            "judge kind judge_relevant kappa precision recall",
            select=_ALL,
            descending=("kappa",),
            noun="judges",
        ),
    ]
    per_topic: Annotated[
        pd.DataFrame,
        Table(
            "judge, topic, items and labels",
            f"judge kind qid items labels n_items missing {' '.join(FIGURES)} why",
            "qid n_items missing kappa human_relevant judge_relevant",
            select={"judge": None, **_ALL},
            noun="topics",
        ),
    ]
    by_grade: Annotated[
        pd.DataFrame,
        Table(
            "judge, and label of people and of the judge",
            "judge kind given_by label relevant_label n share~ relevant~",
            "judge label n share relevant",
            select={"judge": ..., "kind": "model", "given_by": "judge"},
            noun="labels",
        ),
    ]
    confusion: Annotated[
        pd.DataFrame,
        Table(
            "judge, label of people and label of the judge",
            "judge kind label judge_label n share of_label of_judge_label",
            "label judge_label n share of_label of_judge_label",
            select={"judge": None},
        ),
    ]
    beside: Annotated[
        pd.DataFrame,
        Table(
            "judge, other person, labels and figure, both on the documents that both labelled",
            "judge person labels figure n_topics n_items value~ person_value~ difference~",
            "judge person n_items value person_value difference",
            select={"judge": ..., "figure": "kappa", "labels": "binary"},
            about="Other people often labelled documents that were chosen for them: so a judge is read against people.",
            noun="pairs",
        ),
    ]
    bounds: Annotated[pd.DataFrame, Table("judge", "judge rel judge_rel")]

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges, without the other people."""
        return self.table.loc[self.table["kind"] == "model", "judge"].unique().tolist()

    def words(self) -> dict[str, Any]:
        return {**super().words(), "rel": ", ".join(map(str, sorted(set(self.bounds["rel"]))))}

    def by_judge(self) -> pd.DataFrame:
        """Return the rows of all documents, relevant or not: judges before other people, the largest kappa first."""
        rows = self.table[(self.table["items"] == "all") & (self.table["labels"] == "binary")]
        return rows.sort_values(["kind", "kappa"], ascending=[True, False], kind="stable", na_position="last")

    def models(self) -> pd.DataFrame:
        """Return those of judges."""
        return self.by_judge().query("kind == 'model'")

    def of_kappa(self) -> pd.DataFrame:
        """Return kappa of each judge beside people, beside all together where they are several."""
        rows = self.beside[(self.beside["figure"] == "kappa") & (self.beside["labels"] == "binary")]
        together = rows[rows["person"] == TOGETHER]
        return together if len(together) else rows

    def answers(self) -> list[str]:
        people, lines = self.of_kappa(), []
        for row in records(self.models()):
            line = f"{{judge}}: kappa {{kappa}}, {row['band'] or row['why']}".format_map(cells(row, self.columns))
            can, what = usable(row, "kappa", ADEQUATE), f"Kappa of at least {ADEQUATE} (McHugh 2012)"
            for other in records(people[(people["judge"] == row["judge"]) & people["difference"].notna()]):
                line += ", {difference} against {person}".format_map(cells(other, self.columns))
                can, what = usable(other, "difference", 0), "As high as that of other people"
            called = f"calls {row['judge_relevant']:.1%} relevant, people {row['human_relevant']:.1%}"
            lines.append(f"{line}; {called}. {what}: {can}")
        return lines

    def _shown(self) -> pd.DataFrame:
        return self.by_judge()[list(self.declared["table"].reported)]


@dataclass(frozen=True)
class BothLabelled:
    """Documents that two labelled, ``qid docno human judge``; `scale` is that of both, None without grades of both."""

    pairs: pd.DataFrame
    rel: int
    judge_rel: int
    scale: tuple[int, ...] | None

    @classmethod
    def of(cls, compared: ComparedLabels, scale: tuple[int, ...]) -> BothLabelled:
        """Return the documents that people, who have these labels, and a judge labelled."""
        given, rel = compared.pairs["judge"], compared.human.rel
        # labels 0 and 1 beside grades say relevant or not, but where they are relevant from 2 on
        graded = len(scale) > 2 and (given.max() > 1 or compared.judge_rel > 1)
        same = graded and given.max() <= scale[-1] and scale[0] <= given.min() and rel == compared.judge_rel
        known = tuple(np.union1d(scale, given.unique()).tolist()) if same else None
        return cls(compared.pairs, rel, compared.judge_rel, known)

    @classmethod
    def together(cls, several: Sequence[BothLabelled]) -> BothLabelled:
        """Return the documents of several judges as if one had labelled them; one of two judges counts twice."""
        if len({(part.rel, part.judge_rel) for part in several}) > 1:
            several = [part.binary() for part in several]
        scales = [part.scale for part in several]
        known = None if None in scales else tuple(sorted({label for scale in scales for label in scale or ()}))
        pairs = pd.concat([part.pairs for part in several], ignore_index=True)
        return cls(pairs, several[0].rel, several[0].judge_rel, known)

    def binary(self) -> BothLabelled:
        """Return the same documents with labels 1 for relevant and 0 for not."""
        human, judge = self.pairs["human"] >= self.rel, self.pairs["judge"] >= self.judge_rel
        return BothLabelled(self.pairs.assign(human=human.astype(np.int64), judge=judge.astype(np.int64)), 1, 1, None)

    @cached_property
    def topics(self) -> list[str]:
        topics = pd.unique(self.pairs["qid"]).tolist()
        return [topics[t] for t in natural_order(topics)]

    @cached_property
    def labels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the labels of people and of the judge, in order."""
        if self.scale is not None:
            return np.array(self.scale), np.array(self.scale)
        human, judge = (np.unique(self.pairs[who].to_numpy()) for who in ("human", "judge"))
        return human, judge

    @cached_property
    def counts(self) -> Floats:
        """Return (topics, human, judge): how often each two labels meet."""
        (human, judge), place = self.labels, pd.Index(self.topics).get_indexer(self.pairs["qid"])
        counts = np.zeros((len(self.topics), len(human), len(judge)))
        at = np.searchsorted(human, self.pairs["human"]), np.searchsorted(judge, self.pairs["judge"])
        np.add.at(counts, (place, *at), 1)
        return counts

    @property
    def relevant(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (human,) and (judge,): which labels are relevant."""
        return self.labels[0] >= self.rel, self.labels[1] >= self.judge_rel

    def ways(self, sums: Floats) -> dict[Way, Floats]:
        """Return (n, labels, labels) counts by items and labels, of (n, human, judge) sums; 1 is relevant of binary."""
        rows, columns = (np.stack([~side, side]).astype(float) for side in self.relevant)
        views = [("grades", sums, np.logical_or.outer(*self.relevant))] if self.scale else []
        views.append(("binary", rows @ sums @ columns.T, np.array([[False, True], [True, True]])))
        return {
            (items, labels): seen if items == "all" else seen * anyone
            for labels, seen, anyone in views
            for items in ITEMS
        }

    def sums(self, bootstrap: TopicBootstrap | None) -> tuple[TopicBootstrap | None, Floats]:
        """Return how intervals are made, and (1 + resamples, human, judge) counts: of all topics, then of each draw."""
        total, n_topics = self.counts.sum(axis=0, keepdims=True), len(self.topics)
        if bootstrap is None or n_topics < 2:
            return None, total
        times = bootstrap.counts(n_topics).astype(float)
        drawn = (times @ self.counts.reshape(n_topics, -1)).reshape(len(times), *self.counts.shape[1:])
        return bootstrap.expanded(n_topics), np.concatenate([total, drawn])

    def overall(
        self, about: Mapping[str, Any], bootstrap: TopicBootstrap | None, **missing: int
    ) -> Iterator[dict[str, Any]]:
        """Yield a row for all and for the relevant documents, in grades and as relevant or not, with intervals."""
        how, sums = self.sums(bootstrap)
        ways = self.ways(sums)
        for (items, labels), seen in ways.items():
            row = {**about, "items": items, "labels": labels, "n_topics": len(self.topics)}
            row |= {"n_items": int(seen[0].sum()), **missing}
            for figure, values in figures_of(ways, (items, labels)).items():
                row |= figure_with_ends(figure, values, how)
            yield row | {"band": band(row["kappa"]), "why": _why(seen[0], ways[items, "binary"][0])}

    def per_topic(self, who: Mapping[str, Any], missing: Mapping[str, int]) -> Iterator[pd.DataFrame]:
        """Yield a row per topic, for all and for the relevant documents, in grades and as relevant or not."""
        ways = self.ways(self.counts)
        for (items, labels), seen in ways.items():
            yield pd.DataFrame({**who, "qid": self.topics, "items": items, "labels": labels}).assign(
                n_items=seen.sum(axis=(1, 2)).astype(np.int64),
                missing=[missing.get(topic, 0) for topic in self.topics],
                **figures_of(ways, (items, labels)),
                why=[_why(matrix, two) for matrix, two in zip(seen, ways[items, "binary"], strict=True)],
            )

    def by_grade(self, who: Mapping[str, Any], bootstrap: TopicBootstrap | None) -> Iterator[dict[str, Any]]:
        """Yield a row per label of people and of the judge: how often it is given, how often the other one agrees."""
        how, sums = self.sums(bootstrap)
        # the labels of either as rows, those of the other as columns
        for side, given_by, seen in ((0, "human", sums), (1, "judge", sums.transpose(0, 2, 1))):
            own, other = self.relevant[side], self.relevant[1 - side]
            given, called = seen.sum(axis=2), seen.compress(other, axis=2).sum(axis=2)
            for at, label in enumerate(self.labels[side].tolist()):
                row = {**who, "given_by": given_by, "label": label, "relevant_label": bool(own[at])}
                row |= {"n": int(given[0, at])}
                row |= figure_with_ends("share", share(given[:, at], given.sum(axis=1)), how)
                yield row | figure_with_ends("relevant", share(called[:, at], given[:, at]), how)

    def confusion(self, who: Mapping[str, Any]) -> pd.DataFrame:
        """Return a row per label of people and label of the judge: how often the two meet."""
        n, (human, judge) = self.counts.sum(axis=0), self.labels
        wholes = {"share": n.sum(), "of_label": n.sum(axis=1, keepdims=True), "of_judge_label": n.sum(axis=0)}
        shares = {name: share(n, np.broadcast_to(whole, n.shape)).ravel() for name, whole in wholes.items()}
        labels = {"label": np.repeat(human, len(judge)), "judge_label": np.tile(judge, len(human))}
        return pd.DataFrame({**who, **labels, "n": n.ravel().astype(np.int64), **shares})


def figures_of(ways: Mapping[Way, Floats], way: Way) -> dict[str, Floats]:
    """Return the :data:`FIGURES` of confusion matrices, (n,) each, NaN where a figure has no value."""
    seen, relevant = ways[way], ways[way[0], "binary"]
    total, both = relevant.sum(axis=(1, 2)), relevant[:, 1, 1]
    human, judge = relevant[:, 1].sum(axis=1), relevant[:, :, 1].sum(axis=1)
    # of two labels of one document, each meets the other once
    coincidences = seen + seen.transpose(0, 2, 1)
    # of two labels there is no order to count steps in
    several = seen.shape[1] > 2
    figures = (
        equal_share(seen),
        cohen_kappa(seen),
        krippendorff_alpha(coincidences, "nominal"),
        krippendorff_alpha(coincidences, "ordinal") if several else np.full(len(seen), np.nan),
        share(human, total),
        share(judge, total),
        share(judge - human, total),
        share(both, judge),
        share(both, human),
    )
    return dict(zip(FIGURES, figures, strict=True))


def figure_with_ends(figure: str, values: Floats, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    """Return a figure of all topics, and the ends of its percentile interval by the draws behind it, as columns."""
    value, ends = float(values[0]), (np.nan, np.nan)
    if bootstrap is not None:
        ends = bootstrap.percentiles(value, values[1:])
    return {figure: value, f"{figure}_low": ends[0], f"{figure}_high": ends[1]}


def _why(seen: Floats, relevant: Floats) -> str:
    """Return why figures of a confusion matrix have no value, nothing where all have one."""
    if not seen.any():
        return NO_ITEMS
    reasons = [ONE_LABEL] if ((seen.sum(axis=0) + seen.sum(axis=1)) > 0).sum() == 1 else []
    reasons += [] if relevant[:, 1].any() else [NONE_BY_JUDGE]
    return "; ".join(reasons + ([] if relevant[1].any() else [NONE_BY_PEOPLE]))


def beside_rows(
    person: BothLabelled, judge: BothLabelled, bootstrap: TopicBootstrap | None
) -> Iterator[dict[str, Any]]:
    """Yield what a judge and another person reach with people on documents that both labelled, on the same draws."""
    ids = ["qid", "docno"]
    sides = [
        replace(side, pairs=side.pairs.merge(other.pairs[ids], on=ids))
        for side, other in ((judge, person), (person, judge))
    ]
    if not len(sides[0].pairs):
        return
    how = sides[0].sums(bootstrap)[0]
    ways = [side.ways(side.sums(bootstrap)[1]) for side in sides]
    for labels in TAKEN:
        if not all(("all", labels) in each for each in ways):
            continue
        of_judge, of_person = (figures_of(each, ("all", labels)) for each in ways)
        for figure in COMPARED:
            value, other = of_judge[figure], of_person[figure]
            row: dict[str, Any] = {"labels": labels, "figure": figure}
            row |= {"n_topics": len(sides[0].topics), "n_items": len(sides[0].pairs)}
            row |= figure_with_ends("value", value, how) | figure_with_ends("person_value", other, how)
            yield row | figure_with_ends("difference", value - other, how)


def agreement_of_labels(
    pairs: Sequence[ComparedLabels], bootstrap: TopicBootstrap | None, *, people: Sequence[ComparedLabels] = ()
) -> LabelAgreement:
    """Say how far labels of judges, and of other people, agree with those of the same people."""
    both = (*pairs, *people)
    scale = tuple(np.unique(np.concatenate([part["human"] for of in both for part in (of.pairs, of.left)])).tolist())
    judges, others = ({labels.name: BothLabelled.of(labels, scale) for labels in some} for some in (pairs, people))
    family = {labels.name: labels.family for labels in pairs}
    compared = [("model", judges[of.name], [of]) for of in pairs] + [("people", others[of.name], [of]) for of in people]
    every = others
    if len(people) > 1:
        # what a document is called by each of them counts
        every = {**others, TOGETHER: BothLabelled.together(list(others.values()))}
        compared.append(("people", every[TOGETHER], list(people)))
    tables: dict[str, list[Any]] = {"table": [], "per_topic": [], "by_grade": [], "confusion": []}
    for kind, shared, of in compared:
        who = {"judge": of[0].name if len(of) == 1 else TOGETHER, "kind": kind}
        missing = Counter(qid for labels in of for qid in labels.left["qid"])
        topics = {topic for labels in of for topic in (*labels.human.topics, *labels.without)}
        left = {"missing": missing.total(), "without": len(topics - set(shared.topics))}
        tables["table"] += shared.overall({**who, "family": None}, bootstrap, **left)
        tables["per_topic"] += shared.per_topic(who, missing)
        tables["by_grade"] += shared.by_grade(who, bootstrap)
        tables["confusion"].append(shared.confusion(who))
    table = pd.DataFrame(tables["table"])
    beside = [
        {"judge": judge, "person": person, **row}
        for judge, labels_of in judges.items()
        for person, theirs in every.items()
        for row in beside_rows(theirs, labels_of, bootstrap)
    ]
    bounds = [(labels.name, labels.human.rel, labels.judge_rel) for labels in both]
    kappa = f"Cohen's, without weights; {SOURCE_OF_BANDS}"
    settings = {"documents": "those that both labelled", "kappa": kappa, "intervals": "none"}
    if bootstrap is not None:
        drawn = f"{bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
        settings["intervals"] = (
            f"{per_cent(bootstrap.confidence)} bootstrap over the topics of each judge, {drawn}: the percentile "
            "interval, expanded as Student's t is for few topics; that of recall is too narrow where most of what a "
            "judge misses is in few topics"
        )
    if people:
        settings = {"people": judges_in_words(people), **settings}
    if ungraded := [name for name, labels_of in judges.items() if labels_of.scale is None]:
        alone = f"{examples(ungraded, 12)}: two labels, or not on the scale of people"
        settings = {"relevant or not alone": alone, **settings}
    return LabelAgreement(
        table=table.assign(family=table["judge"].map(family).astype(object)),
        per_topic=pd.concat(tables["per_topic"], ignore_index=True),
        by_grade=pd.DataFrame(tables["by_grade"]),
        confusion=pd.concat(tables["confusion"], ignore_index=True),
        beside=as_declared(LabelAgreement, "beside", beside, ends=True),
        bounds=pd.DataFrame(bounds, columns=["judge", "rel", "judge_rel"]),
        settings=settings,
    )


def check_names(judges: Sequence[str], people: Sequence[str]) -> None:
    """Raise where two of those who are compared have one name."""
    taken = Counter([*judges, *people, *([TOGETHER] if len(people) > 1 else [])])
    if several := [name for name, times in taken.items() if times > 1]:
        what = f"{examples(several)} is the name of more than one. Give each a name of its own."
        raise InputError(what, argument="people" if people else "judge")


def compared_people(human: Qrels, people: AnnotatorLabels) -> Iterator[ComparedLabels]:
    """Yield the labels of each other person beside judgments."""
    # of people whose labels are 0 and 1 beside others who gave grades, few labels may happen to be the lowest
    highest = people.values.max(axis=0)
    low = [name for name, most in zip(people.annotators, highest.tolist(), strict=True) if most <= 1]
    if low and people.rel is None and human.rel > 1 and highest.max() > 1:
        taken = f"the labels of {examples(low)} are 0 and 1, taken as not relevant and relevant; others gave more. "
        warn(f"{taken}Where they are grades, say from which one on they are relevant: Qrels(..., rel={human.rel}).")
    frame = human.to_frame()
    judged = frame.loc[frame["label"] >= 0, ["qid", "docno"]]
    for number, name in enumerate(people.annotators):
        given = pd.DataFrame({"qid": people.qids, "docno": people.docnos, "label": people.values[:, number]})
        # below 0 there is no label, as in judgments
        given = given[given["label"] >= 0]
        there = set(judged.merge(given, on=["qid", "docno"])["qid"])
        if not there:
            what = f"this person labelled none of the {count(len(judged), 'document')} that are judged."
            raise InputError(f"{what} Are the ids written alike?", argument="people", place=name)
        # people are taken to grade on one scale, whichever of its labels each of them gave
        scale = Scale(human.rel, int(given["label"].max()))
        lowest = lowest_relevant(given["label"], scale) if people.rel is None else people.rel
        person = NamedJudge(name, Oracle(Qrels(given)), lowest)
        yield compared_labels(human.select([topic for topic in human.topics if topic in there]), person)


OtherPeople: TypeAlias = Annotated[
    Any,
    options.Option(
        "labels of other people for some of the same documents: a dict of name -> judgments in any form, a frame ``qid "
        "docno label annotator``, or what :func:`~pt_reuse.judging.import_labels` returns. Each is compared with "
        "`human` on the documents that this person labelled, and so is each judge once more beside it. Default none.",
        check=lambda value: None if value is None else as_annotator_labels(value, "people"),
    ),
]


@study(question="Do a model's labels agree with those of people?", aim="models", command="audit", group="labels")
def compare_labels(
    human: options.HumanJudgments,
    judge: options.JudgeLabels,
    *,
    people: OtherPeople = None,
    rel: options.Rel = None,
    judge_rel: options.JudgeGrade = None,
    families: options.Families = None,
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
) -> LabelAgreement:
    """Compare the labels of judges with those of people; no runs are needed.

    All figures are of the documents that both people and the judge labelled; those that it left out are counted.

    Returns:
        LabelAgreement: ``.table`` (overall), ``.per_topic``, ``.by_grade``, ``.confusion``, ``.beside`` (other people
        on the same documents), ``.plot()``.

    Raises:
        InputError: no judgments, no judge, invalid labels (such as probabilities), a judge that labelled nothing that
            people judged, two of the same name.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> frame = pd.DataFrame({"qid": list("123456"), "docno": list("abcdef")})
        >>> people, model = (frame.assign(label=label) for label in ([3, 2, 0, 0, 1, 0], [3, 2, 1, 0, 2, 2]))
        >>> found = ptr.labels.compare_labels(people, model, rel=2, resamples=0)
        >>> found.by_judge()[["judge", "kappa", "precision", "recall"]]
           judge  kappa  precision  recall
        2  judge    0.4        0.5     1.0

    Source: Cohen 1960, A coefficient of agreement for nominal scales; Krippendorff 2004, Content analysis, chapter 11.
    """
    judges = as_judges(judge, rel=judge_rel, families=families)
    check_names([named.name for named in judges], () if people is None else people.annotators)
    judgments = read_judgments(as_people(human, rel), "human")
    lowest, _ = graded(judgments, (), rel)
    # labels of people are there already, a judge may take its time
    beside = [] if people is None else list(compared_people(judgments, people))
    compared = [compared_labels(judgments, named) for named in judges]
    beware(*(few_topics(len(labels.judge.topics), labels.name) for labels in compared))
    bootstrap = TopicBootstrap(resamples, seed, confidence) if resamples else None
    agreement = agreement_of_labels(compared, bootstrap, people=beside)
    judged = {"relevant": f"label of at least {lowest}", "judges": judges_in_words(compared)}
    return replace(agreement, settings={**agreement.settings, **judged})
