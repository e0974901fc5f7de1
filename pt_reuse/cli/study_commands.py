"""The commands of studies, made of what the studies declare: options, checks before anything is read, screen, files."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, get_type_hints

from pt_reuse._errors import Argument, InputError, Option, arguments_as, located, wrong
from pt_reuse.cli.field import (
    QRELS_HELP,
    FieldPlan,
    Judgments,
    JudgmentSource,
    add_field,
    collection_of,
    different_names,
    judgment_source,
    judgments_named,
    plan_field,
    runs_beside,
)
from pt_reuse.cli.output import (
    Drawing,
    out_folder,
    pictures,
    print_table,
    say,
    say_answer,
    say_end,
    shows_bars,
    write_result,
)
from pt_reuse.cli.parser import (
    Commands,
    Group,
    Parser,
    add_command,
    add_contributors,
    add_out,
    add_verbose,
    budgets,
    chosen_contributors,
    given_judge_rel,
    listed,
    whole_amounts,
)
from pt_reuse.study import DECLARED, study_of

if TYPE_CHECKING:
    from pt_reuse._report import Report
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.result import Result
    from pt_reuse.scoring.scores import Scores
    from pt_reuse.study import Study


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
    "runs": str,
    "rounds": listed,
    "budgets": budgets,
    "judges": str,
    "labels": str,
    "names": str,
}
#: of these, what names files
_INPUT = ("judgments", "judges", "rounds", "runs")
_SWITCHES = {"switch": "store_true", "off": "store_false"}


#: rows of all long tables on the screen together, and of each at least
_ROWS, _LEAST_ROWS = 22, 6
#: a topic that a run lacks, in scores that are read
_LEFT_OUT = Option("missing_scores", "leave_out")
#: what has no place beside such scores
_OF_RUNS = ("runs", "qrels", "collection", "teams", "types", "pooled", "metadata")
#: where the option for names of judgments stands
_JUDGMENT_NAMES = "judgment_names"


class StudyCommand:
    """The command of a study."""

    def __init__(self, declared: Mapping[str, Any]):
        self._declared, self._command = declared, declared["command"]
        self._of_scores = "scores" in declared["data"]

    @property
    def name(self) -> str:
        """Return the name of the command within its family."""
        return str(self._command["name"]).rpartition(" ")[2]

    def add_to(self, commands: Commands) -> Parser:
        """Add the command and return its parser."""
        declared = self._declared
        parser = add_command(commands, self.name, *(self._command[part] for part in ("summary", "details")))
        add_field(parser, qrels=Judgments.NEEDED, unless=self._without_runs)
        if self._command["several"]:
            with parser.group(Group.INPUT):
                parser.add_option("--other", "FILE", f"other judgments, to compare with: {QRELS_HELP}")
        if self._of_scores:
            _add_scores(parser)
        for flag in declared["flags"]:
            add_flag(parser, flag)
        if declared["contributors"] is not None:
            add_contributors(parser, default=declared["contributors"])
        add_verbose(parser)
        add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
        parser.set_defaults(run=self._run)
        return parser

    def _without_runs(self, options: argparse.Namespace) -> bool:
        """Return whether the judgments are read alone: the study can do without runs, and nobody asks for any."""
        if self._of_scores:
            return options.scores is not None
        if "runs" in self._declared["data"]:
            return False
        return options.runs is None and all(getattr(options, name) is None for name in self._command["runs_for"])

    def _run(self, options: argparse.Namespace) -> None:
        # --names is what runs are named by
        with arguments_as(names=_JUDGMENT_NAMES) if self._dests("names") else nullcontext():
            self._find(options)

    def _find(self, options: argparse.Namespace) -> None:
        function = getattr(importlib.import_module(self._declared["module"]), self._declared["function"])
        study = study_of(function)
        given = {flag["dest"]: _given(flag, options) for flag in self._declared["flags"]}
        sets = given.get("rounds")
        scored = self._of_scores and options.scores is not None
        alone = sets is not None or self._without_runs(options)
        plan = None if alone else plan_field(options, pooled_matters=self._declared["contributors"] == "pooled")
        sources = {} if scored else self._sources(options, sets, plan)
        collection = plan.collection if plan else None
        named = [name for name in self._dests("judgments") if given[name] is not None]
        others = {name: judgments_named(given[name], collection, name) for name in named}
        for name in self._dests("names"):
            usual = different_names([*sources.values(), *others.values()])
            given[name] = tuple(usual if options.judgment_names is None else listed(options.judgment_names))
        # a leaderboard may have measures that nobody here knows
        checked = study.checked(given | ({"measures": None} if scored else {}))
        given |= _of_field(study, plan, options)
        if self._of_scores and not scored:
            _check_no_scores(options)
        scores = _read_scores(options, given, several=self._command["several"]) if scored else None
        measures = scores.measures if scores else _measures(study, checked, {one.rel for one in sources.values()})
        names = list(sources) if self._of_scores else []
        drawn = _pictures(study, [str(measure) for measure in measures], names, given)
        folder = out_folder(options, [*files_of(study.result), *drawn])
        data = {"qrels": {}} if scored else self._data(plan, sources, sets is not None)
        # what is relevant in the collection is no word on the scale of a file
        given |= {
            name: source.read() if source.file is None else source.read().with_rel(None)
            for name, source in others.items()
        }
        judged = data["qrels"].values() if isinstance(data["qrels"], Mapping) else [data["qrels"]]
        read = [*([data["runs"]] if plan else []), *judged, *(given[name] for name in others)]
        known = data["qrels"] if options.collection is None and "rel" in given else {}
        if "qrels_a" in study.parameters:
            data["qrels_a"] = data.pop("qrels")
        given["verbose"] = shows_bars(options)
        if scores is not None:
            data = {"scores": scores}
        elif self._of_scores:
            data = {"scores": _scores(data, measures, several=self._command["several"], given=given)}
        taken = {name: value for name, value in given.items() if name in study.parameters}
        result = function(**data, **taken)
        show(result, study, options, given, read)
        _tell_collections(known)
        if folder is not None:
            drawings: dict[str, Drawing] = {name: partial(result.plot, **told) for name, told in drawn.items()}
            write_result(result, folder, options, drawings)

    def _dests(self, kind: str) -> list[str]:
        """Return the arguments of a kind."""
        return [flag["dest"] for flag in self._declared["flags"] if flag["kind"] == kind]

    def _sources(
        self, options: argparse.Namespace, sets: Sequence[str] | None, plan: FieldPlan | None
    ) -> dict[str, JudgmentSource]:
        """Return where the judgments are, by their names."""
        if sets is not None:
            beside = [name for name in ("qrels", "runs", "collection") if getattr(options, name) is not None]
            if beside or not sets:
                problem = " names no file." if not sets else " are the judgments: no others have a place beside them."
                raise wrong("rounds", problem)
            sources = [judgment_source(text) for text in sets]
        elif plan is not None:
            sources = [plan.needed_judgments()]
            if self._command["several"] and options.other is not None:
                sources.append(judgment_source(options.other, plan.collection))
        else:
            collection = None if options.collection is None else collection_of(options.collection)
            sources = [judgments_named(options.qrels, collection)]
        return dict(zip(different_names(sources), sources, strict=True))

    def _data(self, plan: FieldPlan | None, sources: Mapping[str, JudgmentSource], in_sets: bool) -> dict[str, Any]:
        """Read judgments, then runs."""
        judged = {}
        for name, source in sources.items():
            with located(name) if in_sets else nullcontext():
                judged[name] = source.read()
        data: dict[str, Any] = {"qrels": judged if in_sets or self._of_scores else next(iter(judged.values()))}
        if plan is not None:
            data = {"runs": plan.read_runs(), **data}
        return data


def declared_flags(*functions: str) -> dict[str, dict[str, Any]]:
    """Return the options that studies declare, by their arguments; of the same in two studies that of the first."""
    flags = {declared["function"]: declared["flags"] for declared in DECLARED}
    return {flag["dest"]: flag for function in reversed(functions) for flag in flags[function]}


def add_flag(parser: Parser, flag: Mapping[str, Any]) -> None:
    """Add the option that a study declares."""
    usual, name = flag["usual"], flag["name"] or f"--{flag['dest'].replace('_', '-')}"
    if flag["kind"] in _SWITCHES:
        parser.add_argument(name, dest=flag["dest"], action=_SWITCHES[flag["kind"]], help=flag["help"])
        return
    shown = ",".join(map(str, usual)) if isinstance(usual, list) else usual
    default = flag["default"] or ("" if usual is None else shown)
    with parser.group(Group.INPUT if flag["kind"] in _INPUT else Group.COMPUTED):
        parser.add_option(
            name,
            flag["metavar"],
            "; default ".join(filter(None, [flag["help"], str(default)])).replace("%", "%%"),
            dest=_JUDGMENT_NAMES if flag["kind"] == "names" else flag["dest"],
            type=_KINDS[flag["kind"]],
            default=None if flag["kind"] == "names" else usual,
            nargs="+" if flag["kind"] in ("judges", "runs") else None,
            required=flag["needed"],
        )


def _add_scores(parser: Parser) -> None:
    """Add the options of scores that are read, and not computed."""
    with parser.group(Group.INPUT):
        parser.add_option(
            "--scores",
            "FILE",
            "scores by topic or task instead of runs and judgments: a leaderboard of AutoJudge, CSV",
        )
    with parser.group(Group.READING):
        parser.add_option("--scores-format", "FORMAT", "of --scores, where its lines do not tell: long, table, tot ...")
        parser.add_option("--tasks", "LIST", "columns of --scores that are scores of a task", type=listed)
        parser.add_option("--ignore", "LIST", "columns of --scores to leave out, which are none", type=listed)
        parser.add_switch("--transposed", "--scores has a line for each topic and a column for each system")
        parser.add_option("--missing-scores", "WHAT", "error (default), drop_tasks, drop_systems, zero or leave_out")


def _check_no_scores(options: argparse.Namespace) -> None:
    """Raise where an option of scores that are read is given, and none are."""
    for name in ("scores_format", "tasks", "ignore", "transposed", "missing_scores"):
        if getattr(options, name):
            raise wrong(name, " is for scores that are read. Give ", Option("scores", ...), ", or leave it out.")


def _read_scores(options: argparse.Namespace, given: Mapping[str, Any], *, several: bool) -> Scores:
    """Return the scores of a file, by the measures that are named or by all."""
    from pt_reuse.scoring.leaderboards import read_leaderboard
    from pt_reuse.scoring.measures import measure_among

    names = [*_OF_RUNS, *(["other"] if several else [])]
    beside = [name for name in names if getattr(options, name) is not None]
    if beside:
        raise wrong("scores", " are read instead of runs and judgments. Leave out ", Argument(beside[0]), ".")
    if not given.get("complete", True):
        raise wrong("complete", " is for scores that are computed. Leave it out, or give ", _LEFT_OUT, ".")
    called = {"path": "scores", "format": "scores_format", "missing": "missing_scores"}
    with arguments_as("read_leaderboard", tasks="tasks", ignore="ignore", transposed="transposed", **called):
        scores = read_leaderboard(
            options.scores,
            options.scores_format,
            missing="error" if options.missing_scores is None else options.missing_scores,
            tasks=options.tasks,
            ignore=options.ignore,
            transposed=options.transposed,
        )
    if not given["measures"]:
        return scores
    with arguments_as(measure="measures"):
        places = [scores.measures.index(measure_among(scores.measures, name)) for name in given["measures"]]
    return replace(scores, measures=[scores.measures[place] for place in places], values=scores.values[places])


def _of_field(study: Study, plan: FieldPlan | None, options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options of the field say to the study; raise where the table of runs will lack what it needs."""
    given: dict[str, Any] = {}
    if "contributors" in study.parameters:
        given["contributors"] = chosen_contributors(options, plan.names if plan else None)
    if plan is not None:
        _check_columns(study, plan, options)
    elif "pool_order" in study.parameters:
        given["pool_order"] = options.pool_order
    return given


def _scores(data: Mapping[str, Any], measures: Sequence[Any], *, several: bool, given: Mapping[str, Any]) -> Any:
    """Return the scores of the runs under each of the judgments, by their names where a study takes several."""
    from pt_reuse.scoring.scores import score

    complete = given.get("complete", True)
    found = {
        name: score(data["runs"], qrels, measures, complete=complete, verbose=given["verbose"])
        for name, qrels in data["qrels"].items()
    }
    return found if several else next(iter(found.values()))


def _measures(study: Study, checked: Mapping[str, Any], rels: set[int | None]) -> list[Any]:
    """Return the measures, those of the study where nobody names any."""
    from pt_reuse.scoring.caveats import usual_measures

    if "measures" not in checked:
        return []
    said = rels.pop() if len(rels) == 1 else None
    lowest = checked["rel"] if checked.get("rel") is not None else said
    return checked["measures"] or (study.measures or usual_measures)(lowest or 1)


def _given(flag: Mapping[str, Any], options: argparse.Namespace) -> Any:
    """Return the value of an option as the function takes it; judges are read."""
    name, value = flag["dest"], getattr(options, flag["dest"], None)
    if flag["kind"] == "labels":
        return given_judge_rel(value)
    if flag["kind"] == "runs" and value is not None:
        with arguments_as("read_runs", source=name):
            return runs_beside(options, value)
    if flag["kind"] != "judges" or value is None:
        return value
    from pt_reuse.judging.judges import as_judges

    found = [judge for place in value for judge in as_judges(place, name)]
    judges = {judge.name: judge.judge for judge in found}
    if len(judges) < len(found):
        raise InputError("two files of one name. A judge has the name of its file: rename one.", argument=name)
    return judges


def _tell_collections(qrels: Qrels | Mapping[str, Qrels]) -> None:
    """Say whose judgments these are, where a collection that is known by name has the same."""
    from pt_reuse.data.catalogue import judged_alike

    if isinstance(qrels, Mapping):
        return
    labels = qrels.arrays.labels
    for name in judged_alike(len(qrels.topics), len(labels), int((labels > 0).sum())):
        say(f"These are the judgments of {name}: --collection {name} brings its runs, teams, grade and who was pooled.")


def _check_columns(study: Study, plan: FieldPlan, options: argparse.Namespace) -> None:
    """Raise, before runs are read, where the table of runs will lack what the study needs."""
    from pt_reuse.data.units import check_unit_is_given, how_to_give

    for column in study.command.needs if study.command is not None else ():
        if column not in plan.columns:
            raise InputError(f"every run must have a {column}, and no run has one. Give ", *how_to_give(column), ".")
    for argument in ("unit", "by", "leave_out"):
        if argument in study.parameters and getattr(options, argument, None) is not None:
            check_unit_is_given(getattr(options, argument), plan.columns, argument=argument)


def files_of(kind: type[Result]) -> Iterator[str]:
    """Yield the names of the files that a result is saved to."""
    import numpy as np
    import pandas as pd

    hints = get_type_hints(kind)
    parts = {field.name: hints[field.name] for field in fields(kind)}
    named = {"table": kind.main}
    yield from (f"{named.get(name, name)}.csv" for name, hint in parts.items() if hint is pd.DataFrame)
    yield from (f"{name}.csv" for name in kind.derived)
    yield from (f"{name}.run_table.csv" for name, hint in parts.items() if is_dataclass(hint))
    yield from ("settings.json", "result.json")
    if any(getattr(hint, "__origin__", None) is np.ndarray or is_dataclass(hint) for hint in parts.values()):
        yield "arrays.npz"


def _pictures(
    study: Study, measures: Sequence[str], judgments: Sequence[str], given: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return what draws each picture, by the name of its file; the judgments in names of files are numbers."""
    kinds = study.result.plots
    command = "" if study.command is None else study.command.name.rpartition(" ")[2]
    numbers = {name: str(number) for number, name in enumerate(judgments, 1)}
    return pictures(
        # what has the name of an option is drawn where this is given
        {kind: figure for kind, figure in kinds.items() if given.get(kind, ...) is not None},
        measures,
        {"judgments": numbers} if len(judgments) > 1 else {},
        beginning=command if len(kinds) == 1 else "",
    )


def show(
    result: Result,
    study: Study,
    options: argparse.Namespace,
    given: Mapping[str, Any],
    read: Sequence[RunSet | Qrels] = (),
) -> None:
    """Print what was found, the tables, and in which settings."""
    say_answer(result, verbose=options.verbose)
    views, before = list(_printed(result, study, given)), None
    # long tables share the screen
    n_long = sum(len(view.report.columns[0].values) > _LEAST_ROWS for view in views)
    few = max(_LEAST_ROWS, _ROWS // max(n_long, 1))
    for view in views:
        say(f"\n{f'The same by {view.measure}' if view.follows(before) else view.caption}:")
        frame, before = view.report.shown(), view
        most = len(frame) if options.verbose else few
        print_table(frame, most, f"{view.noun}; --verbose shows every one", spare=list(frame.columns[2:]))
    if options.verbose and views:
        say("\n" + "\n".join(views[0].report.notes))
    say_end(result.settings, read, verbose=options.verbose)


@dataclass(frozen=True)
class _Printed:
    """A report as a command prints it."""

    report: Report
    measure: str | None  # that it is of, where it is of one
    noun: str  # what its rows are

    @property
    def caption(self) -> str:
        return self.report.caption.rstrip(".")

    def follows(self, other: _Printed | None) -> bool:
        """Return whether it says of its measure what another says of its own."""
        if other is None or self.measure is None or other.measure is None:
            return False
        return self.caption.replace(self.measure, other.measure) == other.caption


def _printed(result: Result, study: Study, given: Mapping[str, Any]) -> Iterator[_Printed]:
    """Yield the views that a command prints, those that are empty left out."""
    from pt_reuse.result import TableReport, View

    names = study.command.screen if study.command is not None and study.command.screen else tuple(result.views)
    # what is shown and drawn where an option of its name is given answers what is asked
    asked = [name for name in result.views if name in result.plots and given.get(name) is not None]
    for name in dict.fromkeys([*asked, *names]):
        view = result.views[name]
        known = isinstance(view, View | TableReport)
        table = result.tables().get(view.name if isinstance(view, TableReport) else view.table) if known else None
        if table is not None and table.empty:
            continue
        of_measure = known and view.of_measure
        taken = view.options(type(result)) if known else list(signature(view).parameters)[1:]
        options = {option: given[option] for option in study.beside if option in taken}
        for measure in result.measures if of_measure else [None]:
            noun = view.noun if known else "rows"
            yield _Printed(result.report(name, measure=measure, **options), measure, noun)
