"""The arguments of Experiment: read, checked before anything is run, and brought into the form that columns need."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import choice, columns, count, examples
from pt_reuse._errors import Call, InputError, Option, Part, located, warn
from pt_reuse.experiment.columns import DEFAULTS, REUSE
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.metadata import OF_SYSTEMS, make_run_table
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import native_spec, parse_measures
from pt_reuse.scoring.provider import check_provided
from pt_reuse.scoring.topic_sets import check_topics, topics_of_runs


def wanted_kinds(reuse: str | Iterable[str] | None, *, with_field: bool) -> tuple[str, ...]:
    """Return the kinds of columns to add, keys of `REUSE`: those asked for, or those that mean something."""
    if reuse is None:
        return DEFAULTS[with_field]
    if not isinstance(reuse, Iterable):
        raise InputError(f"reuse must name columns, {examples(REUSE)}, or be [], got {reuse!r}.", argument="reuse")
    wanted = (reuse,) if isinstance(reuse, str) else tuple(reuse)
    return tuple(choice("reuse", value, tuple(REUSE)) for value in wanted)


def read_frame(argument: str, value: Any, needed: Sequence[str], reader: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """Return topics or qrels as a frame that has the columns needed, ids as text."""
    if isinstance(value, Qrels):
        frame = value.to_frame()
    elif isinstance(value, str | Path):
        if not os.path.isfile(value):
            raise InputError(f"{argument} {str(value)!r}: no such file. Give a file or a DataFrame.", argument=argument)
        frame = reader(str(value))
    elif isinstance(value, pd.DataFrame):
        frame = value
    else:
        raise InputError(f"{argument} must be a DataFrame or a file, got {type(value).__name__}.", argument=argument)
    columns(argument, frame.columns, needed)
    # ids are strings, as all that pyterrier reads has them; pt.Experiment cannot score with others
    ids = [column for column in ("qid", "docno") if column in frame]
    numbers = [column for column in ids if pd.api.types.is_numeric_dtype(frame[column])]
    return frame.astype(dict.fromkeys(numbers, str)) if numbers else frame


def parse_metrics(eval_metrics: Any) -> tuple[list[Any], dict[str, ir_measures.Measure]]:
    """Return the measures for pt.Experiment, and column name -> measure as it names its columns."""
    if isinstance(eval_metrics, str | ir_measures.Measure):
        eval_metrics = [eval_metrics]
    given: list[Any] = []
    found: list[ir_measures.Measure] = []
    nickname: dict[ir_measures.Measure, str] = {}
    for metric in eval_metrics:
        parsed = [metric]
        if isinstance(metric, str) and metric != "mrt":
            try:
                with redirect_stdout(StringIO()):  # pt.Experiment itself says which it skips
                    parsed = ir_measures.parse_trec_measure(metric)
            except ValueError:
                metric, *more = parse_measures(metric)
                parsed = [metric, *more]
            if len(parsed) == 1 and isinstance(metric, str):
                nickname[parsed[0]] = metric
        given.append(metric)
        found += [measure for measure in parsed if measure != "mrt"]
    parsed = parse_measures(found) if found else []
    return given, {nickname.get(measure, str(measure)): measure for measure in parsed}


def judgments_asked(topics: pd.DataFrame, qrels: pd.DataFrame, arguments: Mapping[str, Any], rel: int | None) -> Qrels:
    """Return the judgments that pt.Experiment averages over, relevant from a label on."""
    judged = Qrels(qrels[["qid", "docno", "label"]], rel=rel)
    asked = set(topics["qid"])
    shared = [topic for topic in judged.topics if topic in asked]
    by_topics = arguments.get("filter_by_topics", True)
    if not shared and (by_topics or arguments.get("filter_by_qrels", False)):
        raise InputError(
            f"topics and qrels have no topic in common: {examples(topics['qid'])} are asked, "
            f"{examples(judged.topics)} judged.",
            argument="topics",
        )
    return judged.select(shared) if by_topics else judged


def system_table(
    names: Sequence[str],
    teams: RunLabels | None,
    types: RunLabels | None,
    pooled: RunLabels | Collection[str] | bool | None,
    *,
    pooled_by_default: bool,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the run table of the systems, and those of which no team is said: each is a team of its own.

    Where nothing else is said of it, a system is pooled or not as `pooled_by_default`.
    """
    own = pd.DataFrame({"name": list(names), "team": None, "type": None, "pooled": pooled_by_default}, dtype=object)
    table = make_run_table(names, teams=teams, types=types, pooled=pooled, base=own, naming=OF_SYSTEMS)
    unsaid = table["team"].isna()
    team = table["team"].where(~unsaid, table["name"])
    return table.assign(team=team, pooled=table["pooled"].astype(bool)), table["name"][unsaid].tolist()


def check_measures(measures: Mapping[str, ir_measures.Measure]) -> None:
    """Raise where a measure needs more than results and judgments hold, or nobody computes it."""
    for name, measure in measures.items():
        needed = {*getattr(measure, "RUN_INPUTS", ()), *getattr(measure, "QREL_INPUTS", ())}
        more = sorted(needed - {"query_id", "doc_id", "score", "relevance"})
        if more:
            raise InputError(
                f"{name} reads {examples(more)} of the results or qrels; ranks and LOU are computed from qid, docno, "
                f"score and label alone. Leave the measure out, or pass ",
                Option("reuse", ["unjudged"]),
                ".",
                argument="eval_metrics",
            )
    check_provided(measure for measure in measures.values() if native_spec(measure) is None)


def check_field(field: Any, systems: Sequence[str], judgments: Qrels) -> RunSet | None:
    """Return the runs of the field that have some of the topics."""
    if field is None:
        return None
    if not isinstance(field, RunSet):
        made = (Call("read_runs"), " or get_runs() makes one")
        raise InputError("field must be a RunSet (", *made, f"), got {type(field).__name__}.", argument="field")
    both = [name for name in systems if name in field]
    if both:
        raise InputError(
            f"the field has {count(len(both), 'run')} of a system's name: {examples(both)}. Give the system another "
            "name.",
            argument="retr_systems",
        )
    has = topics_of_runs(field, judgments).any(axis=0)
    if has.all():
        return field
    if not has.any():
        with located("field"):
            check_topics(field, judgments)
    lost = [field.names[row] for row in np.flatnonzero(~has)]
    warn(
        f"{count(len(lost), 'run')} of the field without any of the {count(len(judgments.topics), 'topic')} asked, "
        f"left out of ranks and pools: {examples(lost)}."
    )
    return field.select([field.names[row] for row in np.flatnonzero(has)])


def check_units(field: RunSet | None, table: pd.DataFrame, by: str, own_teams: Sequence[str]) -> None:
    """Raise where leave-out-uniques would have no pool, or not know whom to leave out."""
    tables = [table] if field is None else [table, field.run_table]
    if not any(part["pooled"].fillna(True).astype(bool).any() for part in tables):
        parts: tuple[Part, ...] = ("Mark some with ", Option("pooled", ...), ", or give ", Option("field", ...), ".")
        if field is not None:
            marked = Call("field.with_metadata", "pooled=...")
            parts = (marked, " says who of the field was, ", Option("pooled", True), " counts the systems.")
        nobody = "no system" if field is None else "no run of the field and no system"
        raise InputError(f"{nobody} is pooled, so that there is no pool. ", *parts, argument="pooled")
    if by == "run":
        return
    lacking = table["name"][table[by].isna()].tolist()
    if lacking:
        raise InputError(
            f"by={by!r} needs the {by} of every system; {count(len(lacking), 'system')} without: {examples(lacking)}. "
            "Give ",
            Option(f"{by}s", ...),
            ", or use ",
            Option("by", "run"),
            ".",
            argument="by",
        )
    if field is None:
        return
    with located("field"):
        field.units(by)
    clash = [name for name in own_teams if name in field.teams]
    if by == "team" and clash:
        raise InputError(
            f"{examples(clash)} is a team of the field, and a system that is given no team is a team of its own name. "
            "Give ",
            Option("teams", ...),
            ", or give the system another name.",
            argument="teams",
        )


def pooled_in(field: RunSet | None, pool_order: str | None) -> str | None:
    """Return the order in which runs are pooled: the user's, else the field's own, None for that of the scores."""
    return field.pool_order if pool_order is None and field is not None else pool_order


def check_pool_order(field: RunSet | None, pool_order: str | None) -> None:
    """Raise where the field is to be pooled by its rank column and has none; it can be put into any other order."""
    if field is not None and pool_order == "rank":
        with located("field"):
            field.in_pool_order(pool_order)
