"""The commands of studies, made of what the studies declare: options, checks before anything is read, screen, files."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

from pt_reuse._errors import InputError, arguments_as
from pt_reuse.cli.common_options import add_contributors, chosen_contributors, picture, whole_amounts
from pt_reuse.cli.field import FieldPlan, Judgments, add_field, plan_field
from pt_reuse.cli.judgments import JudgmentSource, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, listed
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars
from pt_reuse.study import DECLARED, study_of

if TYPE_CHECKING:
    from pt_reuse.result import Result
    from pt_reuse.study import Study

#: what the studies with a command declare
COMMANDS = [declared for declared in DECLARED if declared["command"]]


def _count_or_text(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


_KINDS = {
    "text": str,
    "int": int,
    "float": float,
    "list": listed,
    "counts": whole_amounts,
    "count or text": _count_or_text,
    "judgments": str,
}


class StudyCommand:
    """The command of a study."""

    def __init__(self, declared: Mapping[str, Any]):
        self._declared = declared

    @property
    def name(self) -> str:
        """Return the name of the command within its family."""
        return str(self._declared["command"]["name"]).rpartition(" ")[2]

    def add_to(self, commands: Commands) -> Parser:
        """Add the command and return its parser."""
        declared = self._declared
        parser = add_command(commands, self.name, *(declared["command"][part] for part in ("summary", "details")))
        add_field(parser, qrels=Judgments.NEEDED)
        for flag in declared["flags"]:
            self._add(parser, flag)
        if declared["contributors"] is not None:
            add_contributors(parser, default=declared["contributors"])
        if declared["long"]:
            add_all(parser, "row")
        add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
        parser.set_defaults(run=self._run)
        return parser

    def _add(self, parser: Parser, flag: Mapping[str, Any]) -> None:
        usual, name = flag["usual"], flag["name"] or f"--{flag['dest'].replace('_', '-')}"
        if flag["kind"] == "switch":
            parser.add_argument(name, dest=flag["dest"], action="store_true", help=flag["help"])
            return
        shown = ",".join(map(str, usual)) if isinstance(usual, list) else usual
        default = flag["default"] or ("" if usual is None else shown)
        parser.add_argument(
            name,
            dest=flag["dest"],
            type=_KINDS[flag["kind"]],
            default=usual,
            required=flag["needed"],
            metavar=flag["metavar"],
            help="; default ".join(filter(None, [flag["help"], str(default)])).replace("%", "%%"),
        )

    def _run(self, options: argparse.Namespace) -> None:
        function = getattr(importlib.import_module(self._declared["module"]), self._declared["function"])
        study = study_of(function)
        plan = plan_field(options)
        judgments = plan.needed_judgments()
        given = {flag["dest"]: getattr(options, flag["dest"]) for flag in self._declared["flags"]}
        others = {
            flag["dest"]: _judgments_of(flag["dest"], given[flag["dest"]], plan)
            for flag in self._declared["flags"]
            if flag["kind"] == "judgments" and given[flag["dest"]] is not None
        }
        checked = study.checked(given)
        if "contributors" in study.parameters:
            given["contributors"] = chosen_contributors(options, plan.names)
        _check_columns(study, plan, options)
        measures = self._measures(study, checked, judgments.rel)
        pictures = _pictures(study, measures)
        folder = out_folder(options, [*_files(study.result), *pictures])
        qrels, runs = judgments.read(), plan.read_runs()
        given |= {name: source.read() for name, source in others.items()}
        say("\n".join(map(repr, [runs, qrels, *(given[name] for name in others)])))
        if "verbose" in study.parameters:
            given["verbose"] = shows_bars(options)
        result = function(runs, qrels, **given)
        show(result, study, getattr(options, "all", False))
        if folder is not None:
            drawings: dict[str, Drawing] = {
                name: partial(result.plot, measure, kind=kind) for name, (kind, measure) in pictures.items()
            }
            written = write_result(result, folder, options, drawings)
            say(f"\nWritten to {folder}: {', '.join(written)}")

    @staticmethod
    def _measures(study: Study, checked: Mapping[str, Any], rel: int | None) -> list[str]:
        """Return the names of the measures, those of the study where nobody names any."""
        from pt_reuse.scoring.caveats import usual_measures

        if "measures" not in study.parameters:
            return []
        lowest = checked["rel"] if checked.get("rel") is not None else rel
        chosen = checked["measures"] or (study.measures or usual_measures)(lowest or 1)
        return [repr(measure) for measure in chosen]


def _judgments_of(argument: str, text: str, plan: FieldPlan) -> JudgmentSource:
    with arguments_as(qrels=argument):
        return judgment_source(text, plan.collection)


def _check_columns(study: Study, plan: FieldPlan, options: argparse.Namespace) -> None:
    """Raise, before runs are read, where the table of runs will lack what the study needs."""
    from pt_reuse.data.units import check_unit_is_given, how_to_give

    for column in study.command.needs if study.command is not None else ():
        if column not in plan.columns:
            raise InputError(f"every run must have a {column}, and no run has one. Give ", *how_to_give(column), ".")
    for argument in ("unit", "by"):
        if argument in study.parameters and getattr(options, argument, None) is not None:
            check_unit_is_given(getattr(options, argument), plan.columns, argument=argument)


def _files(kind: type) -> Iterator[str]:
    """Yield the names of the files that a result is saved to."""
    import numpy as np
    import pandas as pd

    hints = get_type_hints(kind)
    parts = {field.name: hints[field.name] for field in fields(kind)}
    yield from (f"{name}.csv" for name, hint in parts.items() if hint is pd.DataFrame)
    yield from (f"{name}.run_table.csv" for name, hint in parts.items() if is_dataclass(hint))
    yield from ("settings.json", "result.json")
    if any(getattr(hint, "__origin__", None) is np.ndarray or is_dataclass(hint) for hint in parts.values()):
        yield "arrays.npz"


def _pictures(study: Study, measures: list[str]) -> dict[str, tuple[str, str | None]]:
    """Return picture -> the kind of figure and the measure that it shows."""
    kinds: Mapping[str, Any] = study.result.plots  # type: ignore[attr-defined]
    command = "" if study.command is None else study.command.name.rpartition(" ")[2]
    beginnings = {kind: kind if len(kinds) > 1 else command for kind in kinds}
    if not measures:
        return {f"{beginning}.png": (kind, None) for kind, beginning in beginnings.items()}
    return {
        picture(beginning, measure): (kind, measure) for measure in measures for kind, beginning in beginnings.items()
    }


def show(result: Result, study: Study, every: bool) -> None:
    """Print the settings, the views and the headline of a result."""
    from pt_reuse.result import View

    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    names = study.command.screen if study.command is not None and study.command.screen else tuple(result.views)
    for name in names:
        view = result.views[name]
        of_measure = isinstance(view, View) and view.of_measure
        for measure in result.measures if of_measure else [None]:
            report = result.report(name, measure=measure)
            noun, long = (view.noun, view.long) if isinstance(view, View) else ("rows", False)
            frame = report.shown()
            say(f"\n{report.caption.rstrip('.')}:")
            most = SHOWN if long and not every else len(frame)
            print_table(frame, most, f"{noun}; --all shows every one" if long else noun, spare=list(frame.columns[2:]))
    say(f"\n{result.headline()}.")
    for finding in result.findings():
        say(finding)
