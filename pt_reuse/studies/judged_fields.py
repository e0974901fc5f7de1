"""The labels of judges beside those of people: what studies of both read, and what their results share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_set import RunSet, as_runs_before
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError, choice, count, examples, located, positive, warn
from pt_reuse.inputs import Inputs
from pt_reuse.judge import NamedJudge, Scale, lowest_of, on_scale, scale_words
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import beware, few_topics, none_relevant, of_judged, one_run, relevant_only
from pt_reuse.scoring.scores import Scores, check_topics, scored

#: what becomes of a document that a judge did not label, for settings
_MISSING = {
    "unjudged": "a document without a label of the judge is unjudged under the judge",
    "drop": "a document without a label of the judge counts for neither",
}
Best: TypeAlias = Annotated[
    int,
    options.Option(
        "how many runs are the best by people, over all topics, also in resamples: tau of these is *tau at k*. Those "
        "that tie with the last of them belong to them.",
        check=partial(positive, "best", unit="runs"),
        flag=options.Flag(help="tau of the K best runs", metavar="K"),
    ),
]
#: `by` of the parts that are no groups, and what the first is called
ALL, BEST = "all", "best"


@dataclass(frozen=True)
class ComparedLabels:
    """What people and one judge say of the documents that people judged."""

    name: str
    family: str | None
    human: Qrels  # the judgments of people on the topics that count; with ``missing="drop"`` of what the judge labelled
    judge: Qrels  # the labels of the judge for these documents, on its own scale, relevant from `judge_rel` on
    judge_rel: int
    pairs: pd.DataFrame  # ``qid docno human judge``, one row per document that both labelled
    left: pd.DataFrame  # ``qid docno human`` on the topics that count of what the judge did not label
    without: tuple[str, ...]  # topics in which people judged and the judge labelled nothing, which do not count
    grades: Mapping[int, int] | None = None  # label of the judge -> the label of people for which it is taken

    @property
    def on_scale(self) -> Qrels:
        return on_scale(self.judge, self.judge_rel, self.human.rel)

    def words(self) -> str:
        parts = [f"{scale_words(self.judge_rel, self.grades)}; {count(len(self.pairs), 'document')} of both"]
        parts += [f"{len(self.left):,} missing"] if len(self.left) else []
        return ", ".join(parts + ([f"{count(len(self.without), 'topic')} without labels"] if self.without else []))


def compared_labels(human: Qrels, judge: NamedJudge, *, missing: str = "unjudged") -> ComparedLabels:
    """Ask a judge for labels of the documents that people judged, and put both beside each other."""
    frame = human.to_frame()
    asked = frame.loc[frame["label"] >= 0, ["qid", "docno", "label"]].rename(columns={"label": "human"})
    labels = judge.labels(asked[["qid", "docno"]].reset_index(drop=True))
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    judged, there = set(asked["qid"]), set(asked["qid"][known])
    topics = [topic for topic in human.topics if topic in there]
    without = tuple(topic for topic in human.topics if topic in judged - there)
    with located(judge.name):
        if not topics:
            none = f"the judge labelled none of the {count(len(asked), 'document')} that people judged"
            raise InputError(f"{none}. Are ids written alike?", argument="judge")
        fitted = None if judge.fitted_on is None else judge.fitted_on.arrays.labels_of(human.arrays.documents) >= 0
        if fitted is not None and (n := int(fitted.sum())):
            warn(
                f"the judge was fitted on {n:,} of the {count(len(human), 'judgment')} of people, and agrees with "
                "these better than with others. Audit it on what it was not fitted on: judge.held_out."
            )
        if without:
            warn(
                f"the judge labelled nothing in {count(len(without), 'topic')} that people judged: "
                f"{examples(without)}. The study is of the other {len(topics):,}."
            )
    if unjudged := [topic for topic in human.topics if topic not in judged]:
        warn(
            f"people judged nothing in {count(len(unjudged), 'topic')} of their judgments, where every label is "
            f"negative: {examples(unjudged)}. The study is of the other {len(judged):,}."
        )
    both = asked[known].assign(judge=labels[known].astype(np.int64).to_numpy()).reset_index(drop=True)
    theirs = Qrels(both.rename(columns={"judge": "label"})[["qid", "docno", "label"]], topics=topics)
    lowest = lowest_of(judge, both["judge"], Scale.of(human))
    people = human.select(topics) if len(topics) < len(human.topics) else human
    return ComparedLabels(
        name=judge.name,
        family=judge.family,
        human=people.restrict(theirs) if missing == "drop" else people,
        judge=theirs.with_rel(lowest),
        judge_rel=lowest,
        pairs=both,
        left=asked[~known & asked["qid"].isin(there).to_numpy()].reset_index(drop=True),
        without=without,
        grades=judge.grades,
    )


@dataclass(frozen=True)
class JudgedInputs:
    """What is read by a study that holds the labels of judges against those of people."""

    inputs: Inputs  # the field, the judgments of people and the measures
    judges: Sequence[NamedJudge]
    missing: str  # what becomes of documents without a label of a judge
    without_topics: str

    @classmethod
    def read(
        cls,
        runs: Any,
        human: Any,
        judges: Sequence[NamedJudge],
        measures: Any,
        rel: int | None,
        *,
        missing: str,
        complete: bool = True,
        without_topics: str = "error",
    ) -> JudgedInputs:
        """Read a field and the judgments of people; nobody is asked for a label yet."""
        field, given = as_runs_before(runs, human)
        people = as_people(given, rel)
        inputs = Inputs.read(field, people, measures, rel, complete=complete, without_topics=without_topics)
        return cls(inputs, judges, missing, without_topics)

    @cached_property
    def compared(self) -> list[ComparedLabels]:
        """Return the labels that each judge, who is asked here, gives to what people judged, beside theirs."""
        labels = [compared_labels(self.inputs.qrels, judge, missing=self.missing) for judge in self.judges]
        for labelled in labels:
            if labelled.without:
                self.check_topics(labelled)
        return labels

    def check_topics(self, labels: ComparedLabels) -> None:
        """Raise where a run has no topic of those that count beside somebody's labels, unless it may score 0."""
        if self.without_topics == "error":
            with located(labels.name):
                check_topics(self.inputs.runs, labels.human)

    def beware(self, n_topics: int | None = None) -> None:
        """Say what keeps numbers over so many topics, default the fewest of a judge, from meaning what they seem."""
        few = min(len(labels.human.topics) for labels in self.compared) if n_topics is None else n_topics
        seen = self.compared if of_judged(self.inputs.measures) else ()
        beware(
            one_run(len(self.inputs.runs)),
            few_topics(few),
            none_relevant(self.inputs.qrels, self.inputs.qrels.rel),
            *(relevant_only(labels.judge, labels.name) for labels in seen),
        )

    def scored(self, qrels: Qrels, runs: RunSet | None = None, *, verbose: bool = False) -> Scores:
        inputs = self.inputs
        return scored(runs or inputs.runs, qrels, list(inputs.measures), complete=inputs.complete, verbose=verbose)

    def both_scored(self, *, verbose: bool = False) -> Iterator[tuple[ComparedLabels, Scores, Scores]]:
        """Yield the labels of each judge with the scores under those of people, and under its own."""
        # most judges label a document of every topic, and are compared with the same judgments
        known: dict[int, Scores] = {}
        for labels in self.compared:
            if id(labels.human) not in known:
                known[id(labels.human)] = self.scored(labels.human, verbose=verbose)
            yield labels, known[id(labels.human)], self.scored(labels.on_scale, verbose=verbose)

    @property
    def settings(self) -> dict[str, Any]:
        return {"judges": judges_in_words(self.compared), "missing": _MISSING[self.missing], **self.inputs.settings}


def parts_of(
    truth: NDArray[np.float64], best: int, groups: Units | None = None
) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Yield ``by``, name and positions of all runs, of the best of them by (runs,) means, and of each group."""
    yield ALL, ALL, np.arange(len(truth))
    chosen = np.flatnonzero(pairs.ranks(rounded(truth)) <= best)
    if len(chosen) < len(truth):
        yield BEST, f"{BEST} {best:,}", chosen
    if groups is not None:
        for number, name in enumerate(groups.names):
            yield groups.by, name, np.flatnonzero(groups.of_run == number)


def as_people(human: Any, rel: int | None) -> Qrels:
    """Return the judgments of people, relevant from `rel` on, by default from where they say."""
    people = as_qrels(human, "human")
    if not (people.arrays.labels >= 0).any():
        raise InputError("people judged no document: no label is 0 or more.", argument="human")
    return people if checked_rel(rel) is None else people.with_rel(rel)


def judges_in_words(compared: Sequence[ComparedLabels]) -> str:
    """Return what counts as relevant for each of several, for settings."""
    return "; ".join(f"{labels.name} ({labels.words()})" for labels in compared)


class OfJudges(Result):
    """What is said of judges, whose names are in the column ``judge`` of its tables."""

    @property
    def judges(self) -> list[str]:
        return self.table["judge"].unique().tolist()


def drawn_by_judge(draw: Callable[..., Axes], table: str = "table") -> Callable[..., Axes]:
    """Return what draws the rows of a table under a measure and one judge, the first unless `judge` names another."""

    def drawn(result: Any, measure: str, place: Place | None, *, judge: str | None = None) -> Axes:
        rows = result.frame(table)
        rows = rows[rows["measure"] == measure]
        which = result.judges[0] if judge is None else choice("judge", judge, list(rows["judge"].unique()))
        return draw(rows[rows["judge"] == which], measure=measure, judge=which, place=place)

    return drawn


def number_with_ends(
    name: str,
    statistic: Callable[[NDArray[np.int64] | None], NDArray[np.float64]],
    n_topics: int,
    bootstrap: TopicBootstrap | None,
    within: tuple[float, float] | None,
) -> dict[str, float]:
    """Return a number of all topics, and the ends of its interval by draws of them, as columns.

    `statistic` returns (draws,) numbers of (draws, topics) counts, one number for None. What lies `within` no bounds is
    a mean over topics, and has a t interval.
    """
    value = float(statistic(None)[0])
    if bootstrap is None:
        return {name: value}
    # one topic is always itself, so that nothing says what another one would do
    blocks = bootstrap.blocks(n_topics) if n_topics > 1 else ()
    drawn = np.concatenate([np.full(1, np.nan), *(statistic(counts) for counts in blocks)])
    if within is None:
        low, high = bootstrap.t_interval(value, drawn, n_topics)
    else:
        low, high = bootstrap.interval(value, drawn, within=within)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def usable(row: Mapping[Any, Any], name: str, bound: float, *, most: bool = False) -> str:
    """Return ``"yes"`` where a number, with its interval, is at least, or at most, a bound, ``"no"``, or ``"unclear"``.

    Example:
        >>> usable({"tau_b": 0.93, "tau_b_low": 0.88, "tau_b_high": 0.95}, "tau_b", 0.9)
        'unclear'
    """
    ends = [row.get(f"{name}_{end}", math.nan) for end in ("low", "high")]
    values = [row[name]] if math.isnan(ends[0]) else ends
    inside = [value <= bound if most else value >= bound for value in values]
    return "unclear" if math.isnan(row[name]) or len(set(inside)) > 1 else "yes" if inside[0] else "no"


def under(about: Mapping[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with columns of one value each before its own."""
    return pd.DataFrame(dict(about), index=frame.index).join(frame)


def as_declared(kind: type[Result], table: str, rows: Sequence[Mapping[str, Any]], *, ends: bool) -> pd.DataFrame:
    """Return rows as a frame with the columns that a table declares, also without rows; `ends` of numbers with them."""
    marks = {"~": ("", "_low", "_high") if ends else ("",)}
    names = [f"{name}{end}" for name, mark in kind.declared[table].names for end in marks.get(mark, ("",))]
    return pd.DataFrame(list(rows), columns=names)


def with_names(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a table whose column ``family`` has None where there is none."""
    return pd.DataFrame(list(rows)).assign(family=pd.Series([row["family"] for row in rows], dtype=object))
