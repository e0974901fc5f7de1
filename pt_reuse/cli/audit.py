"""`pt-reuse audit`: what labels by models do to the ranking of runs, part by part."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from pt_reuse._check import choice, count, positive
from pt_reuse._check import listed as in_words
from pt_reuse._choices import CORRECTION
from pt_reuse._errors import Argument, InputError, Option, arguments_as, located
from pt_reuse._files import check_writable, replacing
from pt_reuse.cli.common_options import Drawn, add_intervals, add_measures, chosen_measures, drawn, picture
from pt_reuse.cli.field import FieldPlan, add_field, plan_field
from pt_reuse.cli.judgments import QRELS_HELP, JudgmentSource, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, remove_result, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_judge_rel, add_out, given_judge_rel, listed
from pt_reuse.cli.screen import SHOWN, say, shows_bars

if TYPE_CHECKING:
    import ir_measures

    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.judging.judge_folder import JudgeFolder
    from pt_reuse.judging.judges import JudgeRel
    from pt_reuse.result import Result
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


NAME = "findings.md"


def findings_text(given: Audited, answers: Mapping[Part, Answer], unanswered: Mapping[Part, str]) -> str:
    """Return the text."""
    from pt_reuse.scoring.caveats import BEWARE

    lines = ["# Labels by judges: what they do to the ranking of systems", "", *_about(given)]
    lines += ["", "## In short", ""]
    lines += [f"- {part.question} {answer.result.headline()}." for part, answer in answers.items()]
    beware = {part: answer.result.settings.get(BEWARE) for part, answer in answers.items()}
    if any(beware.values()):
        lines += ["", "## Beware", "", *(f"- {part.question} {note}." for part, note in beware.items() if note)]
    for part, answer in answers.items():
        lines += ["", f"## {part.question}", "", *(f"- {sentence}" for sentence in answer.result.findings())]
        tables = in_words([f"`{name}.csv`" for name in answer.result.tables()])
        lines += ["", f"In the folder `{part.name}`: {tables}, and pictures."]
    if unanswered:
        lines += ["", "## What is not answered", ""]
        lines += [f"- {part.question} Not computed: {why}" for part, why in unanswered.items()]
    lines += ["", "## How the numbers were computed"]
    for part, answer in answers.items():
        lines += ["", f"### {part.question}", ""]
        lines += [f"- {name}: {value}" for name, value in answer.result.settings.items()]
    return "\n".join(lines) + "\n"


def write_findings(text: str, folder: Path) -> str:
    """Write the text to a folder and return the name of the file."""
    with replacing(folder / NAME) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return NAME


def _about(given: Audited) -> list[str]:
    lines = []
    if given.field is not None:
        human = given.field.human
        relevant = "" if human.rel == 1 else f", relevant from label {human.rel} on"
        lines.append(
            f"- Runs: {len(given.field.runs):,}, on {count(len(human.topics), 'topic')} with "
            f"{count(len(human), 'judgment')} by people{relevant}."
        )
        if given.field.people:
            lines.append(f"- Other people: {in_words(list(given.field.people))}.")
    elif given.scores is not None:
        runs, topics = count(len(given.scores.names), "run"), count(len(given.scores.topics), "topic")
        lines.append(f"- Scores by people: {runs}, {topics}, {', '.join(given.scores.measures)}.")
    said = given.judges.table
    for judge in dict.fromkeys(said["judge"]):
        rows = said[said["judge"] == judge]
        family = given.judges.families.get(judge)
        holds = in_words([f"{row.holds} ({row.file})" for row in rows.itertuples()])
        lines.append(f"- Judge {judge}: {holds}{'' if family is None else f', family {family}'}.")
    if given.judges.skipped:
        lines.append(f"- Left out of the folder of judges: {in_words([f'`{name}`' for name in given.judges.skipped])}.")
    return lines


#: what runs can be grouped by
_GROUPS = ("team", "type", "family")


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "audit",
        "what labels by models do to the ranking of runs",
        "Compares the labels of a folder of judges with those of people: how far labels and rankings agree, which "
        "families of runs a judge favours, which significant differences it claims or misses, what runs gain that "
        "re-rank by its labels, and what becomes of teams whose documents it labels. Leaderboards of judges are "
        "compared where there are any.",
    )
    add_field(parser, unless=_has_scores_alone)
    parser.add_argument("--human", metavar="FILE", help=f"judgments by people: {QRELS_HELP}; default of --collection")
    parser.add_argument(
        "--judges",
        metavar="DIR",
        required=True,
        help="folder with the labels or leaderboard of each judge, or one file",
    )
    parser.add_argument("--families", metavar="FILE", help="CSV of judges with name and family; default DIR/judges.csv")
    parser.add_argument(
        "--people", metavar="DIR", help="folder with the labels of other people, to compare judges with"
    )
    parser.add_argument(
        "--scores", metavar="FILE", help="a leaderboard by people, for judges with leaderboards: no runs are needed"
    )
    parser.add_argument(
        "--scores-format",
        metavar="FORMAT",
        help="format of --scores, where its lines do not tell: tot, ir_measures ...",
    )
    add_measures(parser)
    parser.add_argument("--rel", type=int, metavar="LABEL", help="lowest label of people that is relevant")
    add_judge_rel(parser)
    parser.add_argument(
        "--missing-labels",
        default="unjudged",
        metavar="WHAT",
        help="documents without a label of a judge: unjudged for it (default), or drop, for people, too",
    )
    parser.add_argument("--by", metavar="UNIT", help="rank the runs of each team, type or family apart, too")
    parser.add_argument("--best", type=int, default=10, metavar="K", help="tau of the K best runs; default 10")
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 100")
    parser.add_argument(
        "--test", default="t", metavar="TEST", help="of significance: t (default), wilcoxon, randomisation or tukey"
    )
    parser.add_argument(
        "--correction",
        default=CORRECTION,
        metavar="WHICH",
        help="for the number of pairs: none (default), holm, bonferroni or benjamini-hochberg",
    )
    parser.add_argument(
        "--parts", metavar="LIST", help=f"comma-separated: {', '.join(part.name for part in PARTS)}; default all"
    )
    add_intervals(parser, resamples=None)
    add_all(parser, "finding")
    add_out(parser, f"{NAME}, and for each part a folder of tables (CSV), settings (JSON) and pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _has_scores_alone(options: argparse.Namespace) -> bool:
    return options.scores is not None and not (options.runs or options.collection)


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.judging.judge_folder import checked_folder, checked_table, read_judges
    from pt_reuse.judging.judges import as_judges
    from pt_reuse.scoring.leaderboards import read_leaderboard

    checked, parts = _part_options(options), _chosen_parts(options.parts)
    plan = None if _has_scores_alone(options) else plan_field(options)
    source = None if plan is None else _human(options, plan)
    known = None if source is None else source.rel
    measures = chosen_measures(options, known if options.rel is None else options.rel)
    if options.by is not None and plan is not None:
        check_unit_is_given(options.by, plan.columns, grouping=True)
    places = [checked_folder(options.judges, "judges")]
    places += [] if options.people is None else [checked_folder(options.people, "people")]
    table = checked_table(options.families)
    folder = _out(options, parts, places)
    with arguments_as(path="scores", format="scores_format"):
        scores = None if options.scores is None else read_leaderboard(options.scores, options.scores_format)
    human = None if source is None else source.read()
    with arguments_as(folder="judges"):
        judges = read_judges(places[0], families=table)
    with arguments_as(folder="people"):
        people = read_judges(places[1]).labels if len(places) > 1 else {}
    if judges.labels:
        # before runs are read: a label of a judge that is not there
        as_judges(dict(judges.labels), "judges", rel=checked.judge_rel)
    say(repr(judges))
    field = None
    if plan is not None and human is not None:
        human = human if options.rel is None else human.with_rel(options.rel)
        runs = plan.read_runs()
        say(f"{runs!r}\n{human!r}")
        field = Field(runs, human, people)
    _audit(Audited(judges, measures, field, scores, checked), parts, folder, options)


def _audit(given: Audited, parts: list[Part], folder: Path | None, options: argparse.Namespace) -> None:
    answers: dict[Part, Answer] = {}
    unanswered: dict[Part, str] = {}
    for part in parts:
        lacks = part.lacks(given)
        if lacks is not None:
            unanswered[part] = f"{lacks}."
            continue
        try:
            with arguments_as(judge="judges", missing="missing_labels"):
                answer = part.answer(given)
        except InputError as error:
            # the other parts can be answered all the same
            unanswered[part] = error.worded(options.shell.in_shell, function=False)
            continue
        answers[part] = answer
        _say_findings(part, answer, options.all)
        if folder is not None:
            write_result(answer.result, folder / part.name, options, answer.drawings)
    for part, why in unanswered.items():
        say(f"\n{part.question}\n- Not computed: {why}")
    if not answers:
        raise InputError("no part of the audit could be computed, for the reasons above.", argument="judges")
    if folder is not None:
        for part in PARTS if options.overwrite else ():
            if part not in answers:
                # of an earlier call, whose judges or runs may be others
                remove_result(folder / part.name)
        write_findings(findings_text(given, answers, unanswered), folder)
        say(f"\nWritten to {folder}: {', '.join([NAME, *(f'{part.name}/' for part in answers)])}")


def _say_findings(part: Part, answer: Answer, every: bool) -> None:
    say(f"\n{part.question}")
    found = answer.result.findings()
    shown = found if every else found[:SHOWN]
    for sentence in shown:
        say(f"- {sentence}")
    if len(shown) < len(found):
        rest = count(len(found) - len(shown), "finding")
        say(f"... and {rest} more; --all shows every one, --out writes them")


def _part_options(options: argparse.Namespace) -> PartOptions:
    """Return what the parts are told, checked before anything is read."""
    from pt_reuse.arrays.significance import check_test
    from pt_reuse.data.judgments import checked_rel
    from pt_reuse.judging.label_pairs import MISSING
    from pt_reuse.pooling.depth import checked_depth

    with arguments_as(missing="missing_labels"):
        missing = choice("missing", options.missing_labels, MISSING)
    check_test(options.test, options.correction)
    checked_rel(options.rel)
    return PartOptions(
        drawn=drawn(options),
        judge_rel=given_judge_rel(options.judge_rel),
        missing=missing,
        by=None if options.by is None else choice("by", options.by, _GROUPS),
        best=positive("best", options.best, "runs"),
        depth=None if options.depth is None else checked_depth(options.depth),
        test=options.test,
        correction=options.correction,
        bars=shows_bars(options),
    )


def _chosen_parts(text: str | None) -> list[Part]:
    if text is None:
        return list(PARTS)
    known = [part.name for part in PARTS]
    names = [choice("parts", name, known) for name in listed(text)]
    if not names:
        raise InputError(Argument("parts"), f" must be some of {', '.join(known)}.", argument="parts")
    return [part for part in PARTS if part.name in names]


def _human(options: argparse.Namespace, plan: FieldPlan) -> JudgmentSource:
    if options.human is not None:
        with arguments_as(qrels="human"):
            return judgment_source(options.human, plan.collection)
    if plan.collection is None:
        raise InputError("no judgments by people are named. Give ", Option("human", ...), ".", argument="human")
    return JudgmentSource(None, plan.collection)


def _out(options: argparse.Namespace, parts: list[Part], judges: list[Path]) -> Path | None:
    """Return the folder of --out; raise when files of a part would be replaced unasked, or cannot be written."""
    folder = out_folder(options, [NAME])
    if folder is None:
        return None
    with located("--out"):
        if any(folder.resolve() == place.resolve() for place in judges):
            raise InputError(
                f"{folder} is a folder of judges, and what is written there would be read as judges. Give another.",
                argument="out",
            )
        for part in parts:
            place = folder / part.name
            if place.exists() and not place.is_dir():
                raise InputError(
                    f"{folder} has {part.name!r} already, and it is no folder. Give another place.", argument="out"
                )
            there = [file.name for file in place.iterdir()] if place.is_dir() else []
            check_writable(place, there, overwrite=options.overwrite, argument="out")
    return folder
