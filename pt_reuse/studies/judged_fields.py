"""The labels of judges beside those of people: what studies of both read, and what their results share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError, located, warn
from pt_reuse.inputs import Inputs
from pt_reuse.judge import NamedJudge, Scale, lowest_of, on_scale, scale_words
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import Caveat, beware, few_topics, of_judged, one_run, relevant_only
from pt_reuse.scoring.scores import Scores, check_topics, scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: what becomes of a document that a judge did not label, for settings
_MISSING = {
    "unjudged": "a document without a label of the judge is unjudged under the judge",
    "drop": "a document without a label of the judge counts for neither",
}
#: `by` of the parts that are no groups, and what the first is called
ALL, BEST = "all", "best"
#: what becomes of a document that people judged and the judge gave no label
MISSING = ("unjudged", "drop")


@dataclass(frozen=True)
class ComparedLabels:
    """What people and one judge say of the documents that people judged."""

    name: str
    family: str | None
    human: Qrels  # the judgments of people on the topics that count; with ``missing="drop"`` of what the judge labelled
    judge: Qrels  # the labels of the judge for these documents, on its own scale, relevant from `judge_rel` on
    judge_rel: int
    pairs: pd.DataFrame  # ``qid docno human judge``, one row per document that both labelled
    left: pd.DataFrame  # ``qid docno human``
    without: tuple[str, ...]  # topics in which people judged and the judge labelled nothing, which do not count
    grades: Mapping[int, int] | None = None  # label of the judge -> the label of people for which it is taken

    @property
    def missing(self) -> int:
        """Return how many documents on the topics that count people judged and the judge did not."""
        return len(self.left)

    @property
    def rel(self) -> int:
        return self.human.rel

    @property
    def on_scale(self) -> Qrels:
        """Return the labels of the judge as measures take them, so that people and judge agree what is relevant."""
        return on_scale(self.judge, self.judge_rel, self.rel)

    def words(self) -> str:
        told = f"{scale_words(self.judge_rel, self.grades)}; {count(len(self.pairs), 'document')} of both"
        told += f", {self.missing:,} missing" if self.missing else ""
        return told + (f", {count(len(self.without), 'topic')} without labels" if self.without else "")


def compared_labels(human: Qrels, judge: NamedJudge, *, missing: str = "unjudged") -> ComparedLabels:
    """Ask a judge for labels of the documents that people judged, and put both beside each other."""
    choice("missing", missing, MISSING)
    frame = human.to_frame()
    asked = frame.loc[frame["label"] >= 0, ["qid", "docno", "label"]].rename(columns={"label": "human"})
    labels = judge.labels(asked[["qid", "docno"]].reset_index(drop=True))
    _warn_of_fitted(human, judge)
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    if not known.any():
        with located(judge.name):
            none = f"the judge labelled none of the {count(len(asked), 'document')} that people judged. "
            alike = "Are these labels of the same collection, with ids written alike?"
            raise InputError(f"{none}{alike}", argument="judge")
    pairs = asked.assign(judge=labels.to_numpy(dtype=float, na_value=np.nan))[known]
    pairs = pairs.assign(judge=pairs["judge"].astype(np.int64)).reset_index(drop=True)
    there, judged = set(pairs["qid"]), set(asked["qid"])
    topics = [topic for topic in human.topics if topic in there]
    without = tuple(topic for topic in human.topics if topic in judged and topic not in there)
    unjudged = [topic for topic in human.topics if topic not in judged]
    if unjudged:
        warn(
            f"people judged nothing in {count(len(unjudged), 'topic')} of their judgments, where every label is "
            f"negative: {examples(unjudged)}. The study is of the other {len(judged):,}."
        )
    if without:
        with located(judge.name):
            warn(
                f"the judge labelled nothing in {count(len(without), 'topic')} that people judged: "
                f"{examples(without)}. The study is of the other {len(topics):,}."
            )
    left = asked[asked["qid"].isin(there).to_numpy() & ~known].reset_index(drop=True)
    theirs = Qrels(pairs.rename(columns={"judge": "label"})[["qid", "docno", "label"]], topics=topics)
    both = human.select(topics) if len(topics) < len(human.topics) else human
    if missing == "drop":
        both = both.restrict(theirs)
    lowest = lowest_of(judge, pairs["judge"], Scale.of(human))
    return ComparedLabels(
        name=judge.name,
        family=judge.family,
        human=both,
        judge=theirs.with_rel(lowest),
        judge_rel=lowest,
        pairs=pairs,
        left=left,
        without=without,
        grades=judge.grades,
    )


def _warn_of_fitted(human: Qrels, judge: NamedJudge) -> None:
    if judge.fitted_on is None:
        return
    n = int((judge.fitted_on.arrays.documents.find(human.arrays.documents) >= 0).sum())
    if n:
        with located(judge.name):
            warn(
                f"the judge was fitted on {n:,} of the {count(len(human), 'judgment')} of people, and agrees with "
                "these better than with others. Audit it on what it was not fitted on: judge.held_out."
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
        complete: bool,
        without_topics: str,
        missing: str,
    ) -> JudgedInputs:
        """Read a field and the judgments of people; nobody is asked for a label yet."""
        field, given = as_runs_before(runs, human)
        of_topics: dict[str, Any] = {"complete": complete, "without_topics": without_topics}
        inputs = Inputs.read(field, as_people(given, rel), measures, rel, **of_topics)
        return cls(inputs, judges, missing, without_topics)

    @cached_property
    def compared(self) -> list[ComparedLabels]:
        """Return the labels that each judge, who is asked here, gives to what people judged, beside theirs."""
        found = []
        for judge in self.judges:
            labels = compared_labels(self.inputs.qrels, judge, missing=self.missing)
            if labels.without:
                self.check_topics(labels)
            found.append(labels)
        return found

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
            _nothing_relevant(self.inputs.qrels),
            *(relevant_only(labels.judge, labels.name) for labels in seen),
        )

    def scored(self, qrels: Qrels, runs: RunSet | None = None, *, verbose: bool = False) -> Scores:
        """Return scores of the field, or of other runs, under judgments."""
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
        """Return what was read, with what counts as relevant for each judge."""
        return {"judges": judges_in_words(self.compared), "missing": _MISSING[self.missing], **self.inputs.settings}


def parts_of(
    truth: NDArray[np.float64], best: int, groups: Units | None
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


def _nothing_relevant(human: Qrels) -> Iterator[Caveat]:
    highest = int(human.arrays.labels.max(initial=-1))
    if 0 <= highest < human.rel:
        yield Caveat(
            f"no label of people is relevant from {human.rel}",
            f"people call no document relevant: their highest label is {highest}, and relevant is a label of at least "
            f"{human.rel}. rel= is the lowest label that is relevant.",
        )


class OfJudges(Result):
    """What is said of judges, whose names are in the column ``judge`` of its tables."""

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges."""
        return self.table["judge"].unique().tolist()

    def judge(self, name: str | None) -> str:
        """Return one of the judges, the first for None."""
        return self.judges[0] if name is None else choice("judge", name, self.judges)


def drawn_by_measure(draw: Callable[..., Axes], table: str = "table", **fixed: Any) -> Callable[..., Axes]:
    """Return what draws the rows of a table under a measure."""

    def drawn(result: Result, measure: str, place: Place | None) -> Axes:
        rows = result.frame(table)
        return draw(rows[rows["measure"] == measure], measure=measure, place=place, **fixed)

    return drawn


def drawn_by_judge(draw: Callable[..., Axes], table: str) -> Callable[..., Axes]:
    """Return what draws the rows of a table under a measure and one judge, the first unless `judge` names another."""

    def drawn(result: Any, measure: str, place: Place | None, *, judge: str | None = None) -> Axes:
        rows = result.frame(table)
        rows = rows[rows["measure"] == measure]
        which = result.judges[0] if judge is None else choice("judge", judge, list(rows["judge"].unique()))
        return draw(rows[rows["judge"] == which], measure=measure, judge=which, place=place)

    return drawn


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


def with_names(rows: Sequence[Mapping[str, Any]], column: str = "family") -> pd.DataFrame:
    """Return rows as a table whose column of names has None where there is none."""
    names = pd.Series([row[column] for row in rows], dtype=object)
    return pd.DataFrame(list(rows)).assign(**{column: names})
