"""The commands of studies, made of what the studies declare: options, checks before anything is read, screen, files."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pt_reuse.cli.field import (
    METADATA_HELP,
    QRELS_HELP,
    FieldPlan,
    JudgmentSource,
    add_field,
    collection_of,
    different_names,
    judgment_source,
    judgments_named,
    plan_field,
    runs_beside,
)
from pt_reuse.cli.output import out_folder, pictures, show, shows_bars, write_result
from pt_reuse.cli.parser import INPUT, READING, Parser, chosen_contributors, declaration, given_judge_rel, listed
from pt_reuse.errors import InputError, located
from pt_reuse.study import study_of

if TYPE_CHECKING:
    from pt_reuse.scoring.scores import Scores
    from pt_reuse.study import Study

#: what has no place beside scores that are read
_OF_RUNS = ("runs", "qrels", "collection", "teams", "types", "pooled", "metadata", "other")


def add_study(function: str, parser: Parser) -> None:
    """Add the arguments of the command of a study."""
    declared = declaration(function)
    parser.tell(declared.words.details)
    if declared.data:
        add_field(parser, unless=partial(_without_runs, declared))
    else:
        parser.add_quiet()
    if declared.words.several:
        parser.add_option("--other", "FILE", f"other judgments, to compare with: {QRELS_HELP}", group=INPUT)
    if "scores" in declared.data:
        what = "scores by topic or task instead of runs and judgments: a leaderboard of AutoJudge, CSV"
        parser.add_option("--scores", "FILE", what, group=INPUT)
        what = "error (default), drop_tasks, drop_systems, zero or leave_out"
        parser.add_option("--missing-scores", "WHAT", what, group=READING)
        what = "columns of --scores that are scores of a task"
        parser.add_option("--tasks", "LIST", what, group=READING, type=listed)
    parser.add_flags(function)
    if "answers" in declared.flags:
        parser.add_option("--metadata", "FILE", METADATA_HELP, group=READING)
        parser.add_unknown()
    if "contributors" in declared.defaults:
        parser.add_contributors(declared.defaults["contributors"])
    parser.add_out("the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=partial(_run, declared))


def _without_runs(study: Study, options: argparse.Namespace) -> bool:
    """Return whether no runs are read: scores are, or the study can do without and nobody asks for any."""
    if not study.data:
        return True
    if "scores" in study.data:
        return options.scores is not None
    asked = any(getattr(options, name) is not None for name in ("runs", *study.words.runs_for))
    return "runs" not in study.data and not asked


def _run(declared: Study, options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given, how_to_give

    function = getattr(importlib.import_module(declared.call.__module__), declared.name)
    study, several = study_of(function), declared.words.several
    of_scores, kinds = "scores" in study.data, {name: flag.kind for name, flag in study.flags.items()}
    given = {name: _given(name, kind, options) for name, kind in kinds.items()}
    sets, scored = given.get("rounds"), of_scores and options.scores is not None
    alone = sets is not None or _without_runs(study, options)
    plan = None if alone else plan_field(options, pooled_matters=study.defaults.get("contributors") == "pooled")
    sources = {} if scored or not study.data else _sources(options, sets, plan, several=several)
    others = {
        name: judgments_named(given[name], plan.collection if plan else None, name)
        for name, kind in kinds.items()
        if kind == "judgments" and given[name] is not None
    }
    for name in (name for name, kind in kinds.items() if kind == "names"):
        usual = different_names([*sources.values(), *others.values()])
        given[name] = tuple(usual if options.judgment_names is None else listed(options.judgment_names))
    if files := [name for name, kind in kinds.items() if kind == "answers"]:
        given |= labelled_answers({name: given[name] for name in files}, options)
    # a leaderboard may have measures that nobody here knows
    checked = study.checked(given | ({"measures": None} if scored else {}))
    if "contributors" in study.parameters:
        given["contributors"] = chosen_contributors(options, plan.names if plan else None)
    if plan is None and "pool_order" in study.parameters:
        given["pool_order"] = options.pool_order
    if plan is not None:
        # before runs are read, where the table of runs will lack what the study needs
        for column in study.words.needs:
            if column not in plan.columns:
                raise InputError(f"every run must have a {column}, and no run has one. Give {how_to_give(column)}.")
        for name in ("unit", "by", "leave_out"):
            if name in study.parameters and getattr(options, name, None) is not None:
                check_unit_is_given(getattr(options, name), plan.columns, argument=name)
    idle = [name for name in ("tasks", "missing_scores") if of_scores and not scored and getattr(options, name)]
    if idle:
        raise InputError(f"{idle[0]} is for scores that are read. Give scores=, or leave it out.", argument=idle[0])
    folder, given["verbose"] = out_folder(options), shows_bars(options)
    data: dict[str, Any] = {}
    if scored:
        data = {"scores": _read_scores(options, given)}
    elif study.data:
        # what is relevant in the collection is no word on the scale of a file
        given |= {n: other.read() if other.file is None else other.read().with_rel(None) for n, other in others.items()}
        data = _read_data(study, sources, plan, given, checked)
    result = function(**data, **{name: value for name, value in given.items() if name in study.parameters})
    # what is drawn where an option of its name is given answers what is asked
    asked = [name for name in result.views if name in result.plots and given.get(name) is not None]
    beside = {name: value for name, value in given.items() if name in study.beside}
    show(result, list(dict.fromkeys([*asked, *(study.words.screen or result.views)])), beside)
    names = {name: str(number) for number, name in enumerate(sources, 1)}
    each = {"judgments": names} if of_scores and len(names) > 1 else {}
    write_result(result, folder, options, pictures(result, each, given, study.words.command.rpartition(" ")[2]))


def labelled_answers(paths: Mapping[str, str], options: argparse.Namespace) -> dict[str, Any]:
    """Return judged answers of files, whose runs the same tables describe."""
    from pt_reuse.data.answers import as_answers
    from pt_reuse.data.metadata import given_metadata, read_metadata

    found = {name: as_answers(path, name, unknown=options.unknown) for name, path in paths.items()}
    names = list(dict.fromkeys(run for answers in found.values() for run in answers.names))
    named = {name: getattr(options, name, None) for name in ("teams", "types")}
    labels = given_metadata(metadata=options.metadata and read_metadata(options.metadata), **named)
    # a new run that the table does not name is a team of its own
    table = labels.table(names, complete=False, strict=True).set_index("name", drop=False)
    return {
        name: replace(answers, run_table=table.loc[answers.names].reset_index(drop=True))
        for name, answers in found.items()
    }


def _read_data(
    study: Study,
    sources: Mapping[str, JudgmentSource],
    plan: FieldPlan | None,
    given: Mapping[str, Any],
    checked: Mapping[str, Any],
) -> dict[str, Any]:
    """Read runs and judgments, and score them for a study of scores."""
    from pt_reuse.scoring.caveats import usual_measures
    from pt_reuse.scoring.scores import score

    qrels, rounds = {}, given.get("rounds") is not None
    for name, source in sources.items():
        with located(name) if rounds else nullcontext():
            qrels[name] = source.read()
    runs = None if plan is None else plan.read_runs()
    if "scores" not in study.parameters:
        people = "qrels_a" if "qrels_a" in study.parameters else "qrels"
        return {people: qrels if rounds else next(iter(qrels.values())), **({} if runs is None else {"runs": runs})}
    rels = {source.rel for source in sources.values()}
    known = rels.pop() if len(rels) == 1 else None
    lowest = checked["rel"] if checked.get("rel") is not None else known
    measures = checked["measures"] or (study.measures or usual_measures)(lowest or 1)
    how = {"complete": given.get("complete", True), "verbose": given["verbose"]}
    found = {name: score(runs, one, measures, **how) for name, one in qrels.items()}
    return {"scores": found if study.words.several else next(iter(found.values()))}


def _sources(
    options: argparse.Namespace, sets: Sequence[str] | None, plan: FieldPlan | None, *, several: bool
) -> dict[str, JudgmentSource]:
    """Return where the judgments are, by their names."""
    if sets is not None:
        beside = [name for name in ("qrels", "runs", "collection") if getattr(options, name) is not None]
        if beside or not sets:
            problem = " names no file." if not sets else " are the judgments: no others have a place beside them."
            raise InputError(f"rounds{problem}", argument="rounds")
        sources = [judgment_source(text) for text in sets]
    elif plan is not None:
        sources = [plan.needed_judgments()]
        sources += [judgment_source(options.other, plan.collection)] if several and options.other is not None else []
    else:
        collection = None if options.collection is None else collection_of(options.collection)
        sources = [judgments_named(options.qrels, collection)]
    return dict(zip(different_names(sources), sources, strict=True))


def _read_scores(options: argparse.Namespace, given: Mapping[str, Any]) -> Scores:
    """Return the scores of a file, by the measures that are named or by all."""
    from pt_reuse.scoring.leaderboards import read_leaderboard
    from pt_reuse.scoring.measures import measure_among

    beside = [name for name in _OF_RUNS if getattr(options, name, None) is not None]
    if beside:
        raise InputError(f"scores are read instead of runs and judgments. Leave out {beside[0]}.", argument="scores")
    if not given.get("complete", True):
        raise InputError("complete is for scores that are computed. Leave it out.", argument="complete")
    # beside a collection, which is not read here, --missing is of its runs
    options.parser.called |= {"path": "scores", "missing": "missing_scores"}
    scores = read_leaderboard(options.scores, missing=options.missing_scores or "error", tasks=options.tasks)
    if not given["measures"]:
        return scores
    places = [scores.measures.index(measure_among(scores.measures, name)) for name in given["measures"]]
    return replace(scores, measures=[scores.measures[place] for place in places], values=scores.values[places])


def _given(name: str, kind: str, options: argparse.Namespace) -> Any:
    """Return the value of an option as the function takes it; judges are read."""
    value = getattr(options, name, None)
    if kind == "labels":
        return given_judge_rel(value)
    if kind == "runs" and value is not None:
        return runs_beside(options, value)
    if kind != "judges" or value is None:
        return value
    from pt_reuse.judge import as_judges

    found = [judge for place in value for judge in as_judges(place, name)]
    judges = {judge.name: judge.judge for judge in found}
    if len(judges) < len(found):
        raise InputError("two files of one name. A judge has the name of its file: rename one.", argument=name)
    return judges
