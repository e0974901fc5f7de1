"""The parts of an audit: each asks one question of the judges, where the runs and the judges allow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypedDict

from pt_reuse._errors import InputError, Option, arguments_as
from pt_reuse.cli.intervals import Drawn
from pt_reuse.cli.measures import picture
from pt_reuse.cli.output import Drawing

if TYPE_CHECKING:
    import ir_measures

    from pt_reuse._result import Result
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.judging.judge_folder import JudgeFolder
    from pt_reuse.judging.judges import JudgeRel
    from pt_reuse.scoring.scores import Scores


@dataclass(frozen=True)
class Field:
    """The runs of an audit, and what people say of their documents.

    Attributes:
        runs: the runs.
        human: the judgments by people.
        people: labels of other people by name; empty where there are none.
    """

    runs: RunSet
    human: Qrels
    people: Mapping[str, Qrels]

    def units(self, column: str) -> int:
        """Return how many types or families the runs are of, 0 where a run has none."""
        table = self.runs.run_table
        return len(set(table[column])) if column in table and table[column].notna().all() else 0


@dataclass(frozen=True)
class PartOptions:
    """What the user says of how parts are computed.

    Attributes:
        drawn: how intervals are drawn.
        judge_rel: the lowest label of a judge that is relevant, as :func:`as_judges` takes it.
        missing: what becomes of documents without a label of a judge.
        by: what runs are grouped by; None for nothing.
        best: how many runs are the best.
        depth: of the pool, None for the one on record.
        test: of significance.
        correction: for the number of pairs.
        bars: whether progress bars are shown.
    """

    drawn: Drawn
    judge_rel: JudgeRel
    missing: str
    by: str | None
    best: int
    depth: int | None
    test: str
    correction: str
    bars: bool


class OfJudges(TypedDict):
    """What a study of labels is told of the judges, beside their labels."""

    families: Mapping[str, str] | None
    judge_rel: JudgeRel
    missing: str
    verbose: bool


@dataclass(frozen=True)
class Audited:
    """What is audited, and how.

    Attributes:
        judges: those of the folder.
        measures: the measures.
        field: runs and judgments; None where people's scores alone are given.
        scores: those of people, a leaderboard; None where they follow from the field.
        options: of the parts.
    """

    judges: JudgeFolder
    measures: list[ir_measures.Measure]
    field: Field | None
    scores: Scores | None
    options: PartOptions

    @property
    def known_field(self) -> Field:
        """Return runs and judgments.

        Raises:
            InputError: there are none.
        """
        if self.field is None:
            raise InputError("there are no runs. Give ", Option("runs", ...), ".", argument="runs")
        return self.field

    @property
    def of_judges(self) -> OfJudges:
        """Return what every study of labels is told in the same words."""
        told = self.options
        families = self.judges.label_families or None
        return OfJudges(families=families, judge_rel=told.judge_rel, missing=told.missing, verbose=told.bars)


@dataclass(frozen=True)
class Answer:
    """What a part found.

    Attributes:
        result: with its tables.
        drawings: the pictures, by file.
    """

    result: Result
    drawings: Mapping[str, Drawing]


@dataclass(frozen=True)
class Part:
    """One question of an audit.

    Attributes:
        name: of its folder.
        question: that it answers.
        lacks: says why it cannot be answered of these judges and runs, None where it can.
        answer: computes the answer.
    """

    name: str
    question: str
    lacks: Callable[[Audited], str | None]
    answer: Callable[[Audited], Answer]


def _labels_lacking(given: Audited) -> str | None:
    if given.field is None:
        return "it takes runs and judgments (--runs, --human)"
    return None if given.judges.labels else "no judge in the folder has labels"


def _families_lacking(given: Audited) -> str | None:
    lacking = _labels_lacking(given)
    if lacking:
        return lacking
    table = given.known_field.runs.run_table
    several = "family" in table and len(set(table["family"].dropna())) > 1
    return None if several else "the runs are not of two families (--metadata FILE with a column family)"


def _teams_lacking(given: Audited) -> str | None:
    lacking = _labels_lacking(given)
    if lacking:
        return lacking
    table = given.known_field.runs.run_table
    several = table["team"].fillna(table["name"]).nunique() > 1
    return None if several else "all runs are of one team (--teams)"


def _boards_lacking(given: Audited) -> str | None:
    return None if given.judges.leaderboards else "no judge in the folder has a leaderboard"


def _rankings(given: Audited) -> Answer:
    from pt_reuse.studies.label_audit.audit import audit_labels

    field, options = given.known_field, given.options
    found = audit_labels(
        field.runs,
        field.human,
        given.judges.labels,
        given.measures,
        people=field.people or None,
        by=options.by,
        best=options.best,
        **given.of_judges,
        **options.drawn,
    )
    drawings: dict[str, Drawing] = {"kappa.png": found.labels.plot}
    drawings |= {f"labels-{judge}.png": partial(found.labels.plot_confusion, judge) for judge in found.judges}
    for measure in found.measures:
        drawings[picture("agreement", measure)] = partial(found.plot, measure)
        drawings[picture("scores", measure)] = partial(found.plot, measure, kind="scores")
        for judge in found.judges:
            drawings[picture(f"ranks-{judge}", measure)] = partial(found.plot, measure, kind="ranks", judge=judge)
    return Answer(found, drawings)


def _families(given: Audited) -> Answer:
    from pt_reuse.studies.judge_families.effects import family_effect

    field, options = given.known_field, given.options
    found = family_effect(
        field.runs,
        field.human,
        given.judges.labels,
        given.measures,
        **given.of_judges,
        **options.drawn,
    )
    drawings: dict[str, Drawing] = {}
    for measure in found.measures:
        drawings[picture("map", measure)] = partial(found.plot, measure)
        drawings[picture("forest", measure)] = partial(found.plot, measure, kind="forest")
    return Answer(found, drawings)


def _significance(given: Audited) -> Answer:
    from pt_reuse.studies.judge_claims import significance_fidelity

    field, options = given.known_field, given.options
    # the t test alone is computed anew in every draw
    drawn = options.drawn if options.test == "t" else Drawn(**{**options.drawn, "resamples": 0})
    found = significance_fidelity(
        field.runs,
        field.human,
        given.judges.labels,
        given.measures,
        test=options.test,
        correction=options.correction,
        **given.of_judges,
        **drawn,
    )
    drawings: dict[str, Drawing] = {}
    for measure in found.measures:
        drawings[picture("counts", measure)] = partial(found.plot, measure)
        for judge in given.judges.labels:
            drawings[picture(f"pairs-{judge}", measure)] = partial(found.plot, measure, kind="pairs", judge=judge)
    return Answer(found, drawings)


def _circularity(given: Audited) -> Answer:
    from pt_reuse.studies.judge_circles import circularity

    field, options = given.known_field, given.options
    found = circularity(
        field.runs,
        field.human,
        given.judges.labels,
        given.measures,
        best=options.best,
        **given.of_judges,
        **options.drawn,
    )
    drawings: dict[str, Drawing] = {picture("gains", m): partial(found.plot, m) for m in found.measures}
    return Answer(found, drawings)


def _holes(given: Audited) -> Answer:
    from pt_reuse.studies.uniques import leave_out_uniques

    field, options = given.known_field, given.options
    with arguments_as(qrels="human", fill="judges"):
        found = leave_out_uniques(
            field.runs,
            field.human,
            given.measures,
            depth=options.depth,
            fill=dict(given.judges.labels),
            judge_rel=options.judge_rel,
            **options.drawn,
            verbose=options.bars,
        )
    drawings: dict[str, Drawing] = {
        picture(f"filled-{judge}", measure): partial(found.plot_fill, measure, judge=judge)
        for measure in found.scores.measures
        for judge in given.judges.labels
    }
    return Answer(found, drawings)


def _leaderboards(given: Audited) -> Answer:
    from pt_reuse.scoring.run_scores import score
    from pt_reuse.studies.judged_boards import compare_leaderboards

    scores, options, boards = given.scores, given.options, given.judges.leaderboards
    if scores is None:
        scores = score(given.known_field.runs, given.known_field.human, given.measures)
    with arguments_as(human="scores", leaderboards="judges"):
        found = compare_leaderboards(
            scores,
            boards,
            best=options.best,
            families={name: of for name, of in given.judges.families.items() if name in boards},
            **options.drawn,
        )
    drawings: dict[str, Drawing] = {picture("agreement", m): partial(found.plot, m) for m in found.measures}
    return Answer(found, drawings)


PARTS = (
    Part("rankings", "How far do labels and rankings agree with those of people?", _labels_lacking, _rankings),
    Part("leaderboards", "How far do the judges' leaderboards rank runs as people do?", _boards_lacking, _leaderboards),
    Part("families", "Do judges favour the runs of a family, such as their own?", _families_lacking, _families),
    Part("significance", "Which differences do judges claim or miss?", _labels_lacking, _significance),
    Part("circularity", "What do runs gain that re-rank by a judge's labels?", _labels_lacking, _circularity),
    Part("holes", "What if judges label the documents that only one team found?", _teams_lacking, _holes),
)
