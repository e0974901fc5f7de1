"""`pt-reuse audit`: what labels by models do to the ranking of runs: declared studies over a folder of judges."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._check import choice
from pt_reuse._check import listed as in_words
from pt_reuse._files import check_writable, replacing
from pt_reuse.cli.field import QRELS_HELP, add_field, judgments_named, plan_field
from pt_reuse.cli.output import (
    SHOWN,
    Drawing,
    out_folder,
    pictures,
    print_table,
    remove_result,
    save_result,
    say,
    say_end,
    shows_bars,
)
from pt_reuse.cli.parser import (
    Commands,
    Group,
    Parser,
    add_command,
    add_out,
    add_verbose,
    chosen_measures,
    given_judge_rel,
    in_shell,
    listed,
)
from pt_reuse.cli.study_commands import add_flag, declared_flags
from pt_reuse.errors import InputError, in_parts, located
from pt_reuse.study import DECLARED, study_of

if TYPE_CHECKING:
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.judge import NamedJudge
    from pt_reuse.result import Result
    from pt_reuse.scoring.judge_folder import JudgeFolder

#: what an audit knows -> the option that says it
_SHELL = {"judge": "judges", "missing": "missing_labels", "boards": "judges"}
#: the text of all findings
NAME = "findings.md"


@dataclass(frozen=True, eq=False)
class Part:
    """One question of an audit."""

    name: str  # of its folder
    question: str  # that it answers
    function: str  # the study
    lacks: Callable[[Mapping[str, Any]], str | None]  # says why it cannot be answered of what an audit knows
    #: argument -> what an audit calls it, None for its default
    told: Mapping[str, str | None] = field(default_factory=dict)
    #: key figure of each judge that the screen shows -> its heading, which of the `Digits` it is written with, and what
    #: it is
    figures: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    #: whether the screen has of several judges the ends of the key figures, and not the headline, which is of the first
    ends: bool = False

    def study(self) -> Callable[..., Result]:
        """Return the study."""
        (home,) = (study["module"] for study in DECLARED if study["function"] == self.function)
        study: Callable[..., Result] = getattr(importlib.import_module(home), self.function)
        return study

    def answer(self, given: Mapping[str, Any]) -> Result:
        """Compute the answer: every argument that an audit knows is told."""
        study = self.study()
        names = {argument: self.told.get(argument, argument) for argument in signature(study).parameters}
        told = {argument: given[name] for argument, name in names.items() if name is not None and name in given}
        if self.name == "significance" and given["test"] != "t":
            # the t test alone is computed anew in every draw
            told["resamples"] = 0
        return study(**told)


def _labels_lacking(given: Mapping[str, Any]) -> str | None:
    if "runs" not in given:
        return "it takes runs and judgments (--runs, --human)"
    return None if given["judge"] else "no judge in the folder has labels that can be compared"


def _families_lacking(given: Mapping[str, Any]) -> str | None:
    table = given["runs"].run_table if "runs" in given else {}
    several = "family" in table and len(set(table["family"].dropna())) > 1
    why = "the runs are not of two families (--metadata FILE with a column family)"
    return _labels_lacking(given) or (None if several else why)


def _teams_lacking(given: Mapping[str, Any]) -> str | None:
    lacking = _labels_lacking(given)
    if lacking:
        return lacking
    table = given["runs"].run_table
    return None if len(set(table["team"].fillna(table["name"]))) > 1 else "all runs are of one team (--teams)"


def _boards_lacking(given: Mapping[str, Any]) -> str | None:
    return None if given["boards"] else "no judge in the folder has a leaderboard"


PARTS = (
    Part(
        "rankings",
        "How far do labels and rankings agree with those of people?",
        "audit_labels",
        _labels_lacking,
        figures={
            "tau_b": ("tau_b", "SCORE", "tau_b of the rankings"),
            "max_drop": ("Largest drop", "COUNT", "the most ranks that a run loses"),
        },
    ),
    Part(
        "leaderboards",
        "How far do the judges' leaderboards rank runs as people do?",
        "compare_leaderboards",
        _boards_lacking,
        {"human": "scores", "leaderboards": "boards", "families": "board_families", "measures": None, "missing": None},
    ),
    Part("families", "Do judges favour the runs of a family, such as their own?", "family_effect", _families_lacking),
    Part(
        "significance",
        "Which differences do judges claim or miss?",
        "significance_fidelity",
        _labels_lacking,
        figures={
            "false_share": ("False claims", "SHARE", "significant differences that people do not confirm"),
            "missed_share": ("Missed", "SHARE", "those of people that it misses"),
        },
        ends=True,
    ),
    Part(
        "circularity",
        "What do runs gain that re-rank by a judge's labels?",
        "circularity",
        _labels_lacking,
        {"depth": None},
        figures={"excess_gain": ("Gain", "DIFFERENCE", "what re-ranked runs gain by the judge beyond people")},
        ends=True,
    ),
    Part(
        "holes",
        "What if judges label the documents that only one team found?",
        "leave_out_uniques",
        _teams_lacking,
        {"qrels": "human", "fill": "judge", "by": None},
        figures={"filled_tau_b": ("Filled", "SCORE", "tau_b where it labels the uniques of a run's own team")},
    ),
)


def _drawings(result: Result, judges: Mapping[str, str]) -> dict[str, Drawing]:
    # of uniques that judges fill, what leaving them out does is no matter of judges
    plots = {"fill": result.plots["fill"]} if "fill" in result.plots else result.plots
    told = pictures(plots, result.measures, {"judge": judges})
    found: dict[str, Drawing] = {name: partial(result.plot, **how) for name, how in told.items()}
    labels = getattr(result, "labels", None)
    return found if labels is None else found | _drawings(labels, judges)


def findings_text(given: Mapping[str, Any], answers: Mapping[Part, Result], unanswered: Mapping[Part, str]) -> str:
    """Return what was found in all parts, what was not answered, and the settings, as Markdown."""
    lines = ["# Labels by judges: what they do to the ranking of systems", "", *_about(given), "", "## In short", ""]
    lines += [f"- {given['left_out']}"] if "left_out" in given else []
    lines += [f"- {part.question} {result.headline()}." for part, result in answers.items()]
    notes = {part: result.settings["beware"] for part, result in answers.items() if "beware" in result.settings}
    if notes:
        lines += ["", "## Beware", "", *(f"- {part.question} {note}." for part, note in notes.items())]
    for part, result in answers.items():
        tables = in_words([f"`{name}.csv`" for name in result.tables()])
        lines += ["", f"## {part.question}", "", *(f"- {sentence}" for sentence in result.verdict())]
        lines += ["", f"In the folder `{part.name}`: {tables}, and pictures."]
    if unanswered:
        lines += ["", "## What is not answered", ""]
        lines += [f"- {part.question} Not computed: {why}" for part, why in unanswered.items()]
    lines += ["", "## How the numbers were computed"]
    for part, result in answers.items():
        lines += ["", f"### {part.question}", "", *(f"- {name}: {value}" for name, value in result.settings.items())]
    return "\n".join(lines) + "\n"


def _about(given: Mapping[str, Any]) -> list[str]:
    folder: JudgeFolder = given["folder"]
    by_people = {"runs": "Runs", "human": "Judgments by people", "scores": "Scores by people"}
    lines = [f"- {words}: {given[what]!r}." for what, words in by_people.items() if what in given]
    lines += [f"- Other people: {in_words(list(given['people']))}."] if given.get("people") else []
    for judge, rows in folder.table.groupby("judge", sort=False):
        holds = in_words([f"{row.holds} ({row.file})" for row in rows.itertuples()])
        family = folder.families.get(str(judge))
        lines.append(f"- Judge {judge}: {holds}{'' if family is None else f', family {family}'}.")
    if folder.skipped:
        lines.append(f"- Left out of the folder of judges: {in_words([f'`{name}`' for name in folder.skipped])}.")
    return lines


def add_audit(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "audit",
        "how labels by models change the ranking of runs",
        "Compares the labels of a folder of judges with those of people: how far labels and rankings agree, which "
        "families of runs a judge favours, which significant differences it claims or misses, what runs gain that "
        "re-rank by its labels, and how teams are ranked whose documents it labels. Leaderboards of judges are "
        "compared where there are any.",
    )
    add_field(parser, unless=_has_scores_alone)
    given = (
        ("human", "FILE", f"judgments by people: {QRELS_HELP}; default of --collection"),
        ("judges", "DIR", "folder with the labels or leaderboard of each judge, or one file"),
        ("families", "FILE", "CSV of judges with name and family; default DIR/judges.csv"),
        ("people", "DIR", "folder with the labels of other people, to compare judges with"),
        ("scores", "FILE", "a leaderboard by people, for judges with leaderboards: no runs are needed"),
        ("scores-format", "FORMAT", "format of --scores, where its lines do not tell: tot, ir_measures ..."),
    )
    with parser.group(Group.INPUT):
        for name, metavar, what in given:
            parser.add_option(f"--{name}", metavar, what, required=name == "judges")
    parser.add_option("--parts", "LIST", f"comma-separated: {', '.join(part.name for part in PARTS)}; default all")
    flags = declared_flags("audit_labels", "significance_fidelity", "leave_out_uniques")
    for name in (
        "depth", "judge_rel", "measures", "rel", "missing", "by", "best", "test", "correction", "resamples",
        "confidence", "seed",
    ):  # fmt: skip
        add_flag(parser, flags[name] | {"dest": _SHELL.get(name, name), "needed": False})
    # each study has its own default
    parser.set_defaults(resamples=None)
    add_verbose(parser)
    add_out(parser, f"{NAME}, and for each part a folder of tables (CSV), settings (JSON) and pictures (PNG)")
    parser.called |= {"path": "scores", "format": "scores_format", "folder": "judges", "missing": "missing_labels"}
    parser.set_defaults(run=_run)
    return parser


def _has_scores_alone(options: argparse.Namespace) -> bool:
    return options.scores is not None and not (options.runs or options.collection)


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.judge import as_judges
    from pt_reuse.scoring.judge_folder import checked_folder, checked_table, read_judges
    from pt_reuse.scoring.leaderboards import read_leaderboard

    given, parts = _checked_options(options), _chosen_parts(options.parts)
    plan = None if _has_scores_alone(options) else plan_field(options)
    source = None
    if plan is not None:
        source = judgments_named(options.human, plan.collection, "human", "judgments by people")
    known = None if source is None else source.rel
    given["measures"] = chosen_measures(options.measures, known if options.rel is None else options.rel)
    if options.by is not None and plan is not None:
        check_unit_is_given(options.by, plan.columns, grouping=True)
    places = [checked_folder(options.judges, "judges")]
    places += [] if options.people is None else [checked_folder(options.people, "people")]
    table = checked_table(options.families)
    folder = _out(options, parts, places)
    if options.scores is not None:
        given["scores"] = read_leaderboard(options.scores, options.scores_format)
    human = None if source is None else source.read()
    judges = read_judges(places[0], families=table)
    given["people"] = (read_judges(places[1]).labels or None) if len(places) > 1 else None
    boards, labels = judges.leaderboards, dict(judges.labels)
    # before runs are read: a label of a judge that is not there
    named = as_judges(labels, "judges", rel=given["judge_rel"]) if labels else []
    if human is not None:
        given["human"] = human if options.rel is None else human.with_rel(options.rel)
        faults = _faults_of_scales(named, given["human"])
        for judge in faults:
            del labels[judge]
        if faults:
            left_out = _left_out(faults, options.judge_rel)
            if not (labels or boards):
                raise InputError(left_out, argument="judge_rel")
            given["left_out"] = f"Left out: {in_shell(left_out, options.parser)}"
    given |= {"folder": judges, "judge": labels, "boards": boards}
    for name, of in (("families", labels), ("board_families", boards)):
        given[name] = {judge: family for judge, family in judges.families.items() if judge in of} or None
    if plan is not None and human is not None:
        given["runs"] = plan.read_runs()
    _audit(given, parts, folder, options)


def _faults_of_scales(judges: Sequence[NamedJudge], human: Qrels) -> dict[str, InputError]:
    """Return why it is not known which labels of some judges are relevant, by their names."""
    import numpy as np

    from pt_reuse.judge import Scale, lowest_of

    people, faults = Scale.of(human), {}
    for judge in judges:
        try:
            lowest_of(judge, np.zeros(0, dtype=np.int64), people)
        except InputError as error:
            faults[judge.name] = error
    return faults


def _left_out(faults: Mapping[str, InputError], said: str | None) -> str:
    """Return which judges are left out, why, and the option that takes them in beside what it says already."""
    # what begins a message says what is wrong
    why = "; ".join(f"{judge}: {in_parts(fault.text)[0].rstrip('.')}" for judge, fault in faults.items())
    labels = ",".join(filter(None, [said, *(f"{judge}=LABEL" for judge in faults)]))
    return f"{why}. Say the lowest label that is relevant: judge_rel={labels!r}."


def _audit(given: dict[str, Any], parts: list[Part], folder: Path | None, options: argparse.Namespace) -> None:
    from pt_reuse.scoring.scores import score

    answers: dict[Part, Result] = {}
    unanswered: dict[Part, str] = {}
    for part in parts:
        lacks = part.lacks(given)
        if lacks is not None:
            unanswered[part] = f"{lacks}."
            continue
        try:
            if part.name == "leaderboards" and "scores" not in given:
                given = {**given, "scores": score(given["runs"], given["human"], given["measures"])}
            answers[part] = part.answer(given)
        except InputError as error:
            # the other parts can be answered all the same
            unanswered[part] = in_shell(error, options.parser)
            continue
        if folder is not None:
            drawings = _drawings(answers[part], {judge: judge for judge in given["judge"]})
            save_result(answers[part], folder / part.name, options, drawings)
    if "left_out" in given:
        say(f"{given['left_out']}\n")
    _say_answers(answers, unanswered, list(given["judge"]), options.verbose)
    if not answers:
        raise InputError("no part of the audit could be computed, for the reasons above.", argument="judges")
    _say_reports(answers, options.verbose)
    # the tables name the judges
    names = ("folder", "runs", "human") if options.verbose else ("runs", "human")
    read = [given[name] for name in names if name in given]
    say_end(_shared_settings(answers), read, verbose=options.verbose)
    if folder is not None:
        for part in PARTS if options.overwrite else ():
            if part not in answers:
                # of an earlier call, whose judges or runs may be others
                remove_result(folder / part.name)
        with replacing(folder / NAME) as file:
            file.write(findings_text(given, answers, unanswered).encode("utf-8", "surrogateescape"))
        say(f"\nWritten to {folder}: {', '.join([NAME, *(f'{part.name}/' for part in answers)])}")


def _say_answers(
    answers: Mapping[Part, Result], unanswered: Mapping[Part, str], judges: Sequence[str], verbose: bool
) -> None:
    """Print what each part found, after the first of them the key figures of all, and why others found nothing."""
    for number, (part, result) in enumerate(answers.items()):
        found = result.verdict() if verbose else []
        headline = _ends(part, result, judges) if part.ends and len(judges) > 1 else result.headline()
        say("\n".join([part.question, *(f"- {sentence}" for sentence in found or [f"{headline}."])]))
        if "beware" in result.settings:
            say(f"- Note: {result.settings['beware']}.")
        if number == 0:
            _say_figures(answers, judges, verbose)
    for why in dict.fromkeys(unanswered.values()):
        questions = [part.question for part, other in unanswered.items() if other == why]
        say("\n".join([f"Not computed: {why}", *(f"- {question}" for question in questions)]))


def _ends(part: Part, result: Result, judges: Sequence[str]) -> str:
    """Return by each measure the least and the largest of each key figure, and whose these are."""
    from pt_reuse._report import Digits
    from pt_reuse.result import key_numbers

    told, figures = [], key_numbers(result)
    for measure, of_measure in figures.groupby("measure", sort=False):
        values, said = of_measure.set_index("figure")["value"], []
        for name, (heading, digits, _) in part.figures.items():
            ranked = values.reindex([f"{name}, {judge}" for judge in judges]).set_axis(judges).dropna().sort_values()
            if len(ranked):
                ends = [f"{Digits[digits].written(ranked.iloc[at])} ({ranked.index[at]})" for at in (0, -1)]
                said.append(f"{heading.lower()} {' to '.join(ends)}")
        told.append(f"by {measure} {', '.join(said) or 'nothing is defined'}")
    return "; ".join(told)


def _say_figures(answers: Mapping[Part, Result], judges: Sequence[str], verbose: bool) -> None:
    """Print the key figures of each judge by each measure."""
    import pandas as pd

    from pt_reuse._report import Column, Digits
    from pt_reuse.result import key_numbers

    known = {part: key_numbers(result) for part, result in answers.items() if part.figures}
    measures = list(dict.fromkeys(name for figures in known.values() for name in figures["measure"].dropna()))
    for number, measure in enumerate(measures):
        columns = [Column("Judge", judges)]
        for part, figures in known.items():
            values = figures[figures["measure"] == measure].set_index("figure")["value"]
            for name, (heading, digits, _) in part.figures.items():
                of_judges = values.reindex([f"{name}, {judge}" for judge in judges])
                columns.append(Column(heading, of_judges, Digits[digits]))
        frame = pd.DataFrame({column.heading: list(column.cells()) for column in columns})
        if number:
            say(f"\nThe same by {measure}:")
        else:
            said = in_words([what for part in known for _, _, what in part.figures.values()])
            say(f"\nEach judge against people by {measure}: {said}:")
        print_table(frame, len(frame) if verbose else SHOWN, "judges; --verbose shows every one")
    if measures:
        say()


def _say_reports(answers: Mapping[Part, Result], verbose: bool) -> None:
    """Print the first report of each part, where told to or where no key figures say it."""
    for part, result in answers.items():
        if verbose or not any(each.figures for each in answers):
            report = result.report()
            say(f"\n{part.question} {report.caption.rstrip('.')}:")
            frame = report.shown()
            print_table(frame, len(frame) if verbose else SHOWN, "rows; --verbose shows every one")


def _shared_settings(answers: Mapping[Part, Result]) -> dict[str, Any]:
    """Return the settings in which all parts agree that have them."""
    found: dict[str, set[str]] = {}
    for result in answers.values():
        for name, value in result.settings.items():
            found.setdefault(name, set()).add(str(value))
    return {name: next(iter(values)) for name, values in found.items() if len(values) == 1 and name != "beware"}


def _checked_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the parts are told, checked before anything is read."""
    from pt_reuse.arrays.significance import check_test
    from pt_reuse.pooling.depth import checked_depth

    of_labels = study_of(PARTS[0].study())
    names = ("by", "best", "missing", "rel", "resamples", "confidence", "seed")
    told = {name: getattr(options, _SHELL.get(name, name)) for name in names}
    told = of_labels.checked({name: value for name, value in told.items() if value is not None})
    told.pop("rel", None)
    check_test(options.test, options.correction)
    depth = None if options.depth is None else checked_depth(options.depth)
    how = {"verbose": shows_bars(options), "judge_rel": given_judge_rel(options.judge_rel)}
    return {**told, **how, "depth": depth, "test": options.test, "correction": options.correction}


def _chosen_parts(text: str | None) -> list[Part]:
    known = [part.name for part in PARTS]
    names = known if text is None else [choice("parts", name, known) for name in listed(text)]
    if not names:
        raise InputError(f"parts must be some of {', '.join(known)}.", argument="parts")
    return [part for part in PARTS if part.name in names]


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
                raise InputError(f"{place} exists, and it is no folder. Give another place.", argument="out")
            there = [file.name for file in place.iterdir()] if place.is_dir() else []
            check_writable(place, there, overwrite=options.overwrite, argument="out")
    return folder
