"""`pt-reuse audit`: what labels by judges do to the ranking of runs, in tables, pictures and sentences."""

from __future__ import annotations

import argparse
from pathlib import Path

from pt_reuse._check import choice, count, positive
from pt_reuse._choices import CORRECTION
from pt_reuse._errors import Argument, InputError, Option, arguments_as, located
from pt_reuse._files import check_writable
from pt_reuse.cli.audit_parts import PARTS, Answer, Audited, Field, Part, PartOptions
from pt_reuse.cli.audit_text import NAME, findings_text, write_findings
from pt_reuse.cli.field import FieldPlan, add_field, plan_field
from pt_reuse.cli.intervals import add_intervals, drawn
from pt_reuse.cli.judgments import QRELS_HELP, JudgmentSource, judgment_source
from pt_reuse.cli.measures import add_measures, chosen_measures
from pt_reuse.cli.output import out_folder, remove_result, write_result
from pt_reuse.cli.parser import (
    Commands,
    Parser,
    add_all,
    add_command,
    add_judge_rel,
    add_out,
    given_judge_rel,
    listed,
)
from pt_reuse.cli.screen import SHOWN, say, shows_bars

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
