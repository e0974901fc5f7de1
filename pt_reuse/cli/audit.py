"""`pt-reuse audit`: what labels by models do to the ranking of runs: declared studies over a folder of judges."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any

from pt_reuse._files import replacing
from pt_reuse.cli.field import QRELS_HELP, add_field, judgments_named, plan_field
from pt_reuse.cli.output import draw, out_folder, pictures, say, show, shows_bars
from pt_reuse.cli.parser import (
    INPUT,
    Parser,
    chosen_measures,
    declaration,
    given_judge_rel,
    in_shell,
    listed,
)
from pt_reuse.errors import InputError, choice
from pt_reuse.errors import listed as in_words
from pt_reuse.study import study_of

if TYPE_CHECKING:
    from pathlib import Path

    from pt_reuse.result import Result

#: the text of all findings
NAME = "findings.md"
#: the options of studies that an audit takes
_OPTIONS = ("depth", "judge_rel", "measures", "rel", "by", "resamples", "confidence", "seed")
#: of these, what the first part is told where it is given
_TOLD = _OPTIONS[3:]


@dataclass(frozen=True, eq=False)
class Part:
    """One question of an audit."""

    name: str  # of its folder
    question: str  # that it answers
    function: str  # the study
    needs: tuple[str, ...]  # what an audit must know
    #: argument -> what an audit calls it, None for its default
    told: Mapping[str, str | None] = field(default_factory=dict)

    def study(self) -> Any:
        """Return the study."""
        return getattr(importlib.import_module(declaration(self.function).call.__module__), self.function)

    def answer(self, given: Mapping[str, Any]) -> Result:
        """Compute the answer: every argument that an audit knows is told."""
        names = {argument: self.told.get(argument, argument) for argument in signature(self.study()).parameters}
        told = {argument: given[name] for argument, name in names.items() if name and name in given}
        answer: Result = self.study()(**told)
        return answer


#: what an audit must know -> why it may not
_LACKING = {
    "runs": "it takes runs and judgments (--runs, --human)",
    "judge": "no judge in the folder has labels that can be compared",
    "boards": "no judge in the folder has a leaderboard",
    "family": "the runs are not of two families (--metadata FILE with a column family)",
    "team": "all runs are of one team (--teams)",
}
_LABELS = ("runs", "judge")
_OF_BOARDS = {"human": "scores", "leaderboards": "boards", "families": "board_families", "measures": None}
_OF_HOLES = {"qrels": "human", "fill": "judge", "by": None}
PARTS = (
    Part("rankings", "How far do labels and rankings agree with those of people?", "audit_labels", _LABELS),
    Part(
        "leaderboards",
        "How far do the judges' leaderboards rank runs as people do?",
        "compare_leaderboards",
        ("boards",),
        _OF_BOARDS,
    ),
    Part(
        "families", "Do judges favour the runs of a family, such as their own?", "family_effect", (*_LABELS, "family")
    ),
    Part("significance", "Which differences do judges claim or miss?", "significance_fidelity", _LABELS),
    Part("circularity", "What do runs gain that re-rank by a judge's labels?", "circularity", _LABELS, {"depth": None}),
    Part(
        "holes",
        "What if judges label the documents that only one team found?",
        "leave_out_uniques",
        (*_LABELS, "team"),
        _OF_HOLES,
    ),
)


def add_audit(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "Compares the labels of a folder of judges with those of people: how far labels and "
        "rankings agree, which families of runs a judge favours, which significant differences it claims or misses, "
        "what runs gain that re-rank by its labels, and how teams are ranked whose documents it labels. Leaderboards "
        "of judges are compared where there are any."
    )
    add_field(parser, judged=False, unless=_has_scores_alone)
    parser.add_option("--judges", "DIR", "folder with the labels or leaderboard of each judge, or one file",
                      group=INPUT, required=True)  # fmt: skip
    named = {
        "--human": ("FILE", f"judgments by people: {QRELS_HELP}; default of --collection"),
        "--families": ("FILE", "CSV of judges with name and family; default DIR/judges.csv"),
        "--people": ("DIR", "folder with the labels of other people, to compare judges with"),
        "--scores": ("FILE", "a leaderboard by people, for judges with leaderboards: no runs are needed"),
    }
    parser.add_options(named, group=INPUT)
    parser.add_option(
        "--parts", "LIST", f"comma-separated: {', '.join(p.name for p in PARTS)}; default all", type=listed
    )
    of_first = declaration(PARTS[0].function).flags
    for name in _OPTIONS:
        parser.add_flags(PARTS[0].function if name in of_first else "leave_out_uniques", name, needed=False)
    parser.add_out(f"{NAME}, and for each part a folder of tables (CSV), settings (JSON) and pictures (PNG)")
    parser.called |= {"path": "scores", "folder": "judges", "judge": "judges"}
    # each study has its own default
    parser.set_defaults(run=_run, resamples=None)


def _has_scores_alone(options: argparse.Namespace) -> bool:
    return options.scores is not None and not (options.runs or options.collection)


def _run(options: argparse.Namespace) -> None:
    from pt_reuse._saving import save_with

    names = [part.name for part in PARTS]
    chosen = names if options.parts is None else [choice("parts", name, names) for name in options.parts]
    if not chosen:
        raise InputError(f"parts must be some of {', '.join(names)}.", argument="parts")
    parts = [part for part in PARTS if part.name in chosen]
    given, folder = _read(options, parts)
    answers: dict[Part, Result] = {}
    unanswered: dict[Part, str] = {}
    for part in parts:
        lacks = next((_LACKING[name] for name in part.needs if not given.get(name)), None)
        try:
            if lacks is None:
                answers[part] = part.answer(given)
        except InputError as error:
            # the other parts can be answered all the same
            lacks = in_shell(error, options.parser)
        if lacks is not None:
            unanswered[part] = lacks
        elif folder is not None:
            drawn = pictures(answers[part], {"judge": {judge: judge for judge in given["judge"]}}, {})
            # what leaving uniques out does is no matter of judges
            drawn = {name: how for name, how in drawn.items() if part.name != "holes" or how["kind"] == "fill"}
            save_with(answers[part], draw(answers[part], drawn), folder / part.name, overwrite=options.overwrite)
    for part, result in answers.items():
        say(part.question)
        show(result, list(result.views)[:1])
        say()
    for why in dict.fromkeys(unanswered.values()):
        questions = [f"- {part.question}" for part, other in unanswered.items() if other == why]
        say("\n".join([f"Not computed: {why}", *questions]))
    if not answers:
        raise InputError("no part of the audit could be computed, for the reasons above.", argument="judges")
    if folder is not None:
        with replacing(folder / NAME) as file:
            file.write(_findings(given, answers, unanswered).encode("utf-8", "surrogateescape"))
        say(f"\nWritten to {folder}: {', '.join([NAME, *(f'{part.name}/' for part in answers)])}")


def _read(options: argparse.Namespace, parts: list[Part]) -> tuple[dict[str, Any], Path | None]:
    """Return what the parts are told, by the names that an audit has for it, and the folder to write to."""
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.judge import as_judges
    from pt_reuse.pooling.depth import checked_depth
    from pt_reuse.scoring.judge_folder import checked_folder, checked_table, read_judges
    from pt_reuse.scoring.leaderboards import read_leaderboard
    from pt_reuse.scoring.scores import score

    told = {name: value for name in _TOLD if (value := getattr(options, name)) is not None}
    given = study_of(PARTS[0].study()).checked(told)
    given.pop("rel", None)
    given |= {"judge_rel": given_judge_rel(options.judge_rel), "verbose": shows_bars(options)}
    given["depth"] = None if options.depth is None else checked_depth(options.depth)
    plan = None if _has_scores_alone(options) else plan_field(options)
    source = None
    if plan is not None:
        source = judgments_named(options.human, plan.collection, "human", "judgments by people")
    known = source.rel if source is not None and options.rel is None else options.rel
    given["measures"] = chosen_measures(options.measures, known)
    if options.by is not None and plan is not None:
        check_unit_is_given(options.by, plan.columns, grouping=True)
    places = [checked_folder(options.judges, "judges")]
    places += [] if options.people is None else [checked_folder(options.people, "people")]
    table = checked_table(options.families)
    folder = out_folder(options, *(part.name for part in parts))
    if folder is not None and any(folder.resolve() == place.resolve() for place in places):
        problem = f"{folder} is a folder of judges: what is written there would be read as judges. Give another."
        raise InputError(problem, argument="out")
    if options.scores is not None:
        given["scores"] = read_leaderboard(options.scores)
    judges = read_judges(places[0], families=table)
    given |= {"folder": judges, "judge": dict(judges.labels), "boards": judges.leaderboards}
    given["people"] = (read_judges(places[1]).labels or None) if len(places) > 1 else None
    # before runs are read: a label of a judge that is not there
    if given["judge"]:
        as_judges(given["judge"], "judges", rel=given["judge_rel"])
    for name, of in (("families", judges.labels), ("board_families", judges.leaderboards)):
        given[name] = {judge: family for judge, family in judges.families.items() if judge in of} or None
    if plan is not None and source is not None:
        human, runs = source.read(), plan.read_runs()
        given["human"] = human if options.rel is None else human.with_rel(options.rel)
        # whether the runs are of several teams and families
        teams = runs.run_table["team"].fillna(runs.run_table["name"])
        families = runs.run_table.get("family", teams.head(0)).dropna()
        given |= {"runs": runs, "team": teams.nunique() > 1, "family": families.nunique() > 1}
        if "scores" not in given and any(part.name == "leaderboards" for part in parts):
            given["scores"] = score(runs, given["human"], given["measures"])
    return given, folder


def _findings(given: Mapping[str, Any], answers: Mapping[Part, Result], unanswered: Mapping[Part, str]) -> str:
    """Return what was found in all parts, what was not answered, and the settings, as Markdown."""
    by_people = {"runs": "Runs", "human": "Judgments by people", "scores": "Scores by people"}
    lines = ["# Labels by judges: what they do to the ranking of systems", ""]
    lines += [f"- {words}: {given[what]!r}." for what, words in by_people.items() if what in given]
    for judge, rows in given["folder"].table.groupby("judge", sort=False):
        lines.append(f"- Judge {judge}: {in_words([f'{row.holds} ({row.file})' for row in rows.itertuples()])}.")
    if given["folder"].skipped:
        lines.append(f"- Left out of the folder of judges: {in_words([f'`{n}`' for n in given['folder'].skipped])}.")
    for part, result in answers.items():
        tables = in_words([f"`{name}.csv`" for name in result.tables()])
        told = [*result.answers(), *result.notes(), f"In the folder `{part.name}`: {tables}, pictures."]
        told += [f"{name}: {value}" for name, value in result.settings.items() if name != "beware"]
        lines += ["", f"## {part.question}", "", *(f"- {line}" for line in told)]
    lines += ["", "## What is not answered", ""] if unanswered else []
    lines += [f"- {part.question} Not computed: {why}" for part, why in unanswered.items()]
    return "\n".join(lines) + "\n"
