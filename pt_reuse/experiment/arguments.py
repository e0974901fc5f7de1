"""The arguments of Experiment: read, and checked before any pipeline runs, also those that pt.Experiment gets."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._files import check_writable
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.metadata import RunLabels, given_metadata
from pt_reuse.data.run_set import RunSet, as_runs
from pt_reuse.data.units import column_of
from pt_reuse.errors import InputError, choice, columns, count, did_you_mean, examples, flag, located, shown, warn
from pt_reuse.experiment.columns import DEFAULTS, REUSE, Measures
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.scoring.rescoring import check_provided
from pt_reuse.scoring.scores import check_topics, topics_of_runs

# what pt.Experiment would notice only after all systems have run


def check_pt_arguments(arguments: Mapping[str, Any], ours: Callable[..., Any]) -> None:
    """Raise where pt.Experiment has no such argument, or could not end with its value."""
    known = inspect.signature(pt.Experiment).parameters
    names = [name for name, p in known.items() if p.kind is not p.VAR_KEYWORD]
    unknown = sorted(set(arguments) - set(names))
    if unknown:
        hint = did_you_mean(unknown[0], [*names, *inspect.signature(ours).parameters])
        problem = f"neither ptr.Experiment nor pt.Experiment has an argument {examples(unknown)}.{hint}"
        raise InputError(problem, argument=unknown[0])
    for name, value in arguments.items():
        default = known[name].default
        # verbose="auto" is its default in some versions
        if (isinstance(default, bool) or name == "verbose") and not (isinstance(value, str) and value == default):
            flag(name, value)
    if arguments.get("baseline") is not None:
        test, alpha = arguments.get("test", "t"), arguments.get("correction_alpha", 0.05)
        method = arguments.get("correction")
        if not isinstance(test, str) and not callable(test):
            raise InputError(f"test must be 't', 'wilcoxon' or a function, got {shown(test)}.", argument="test")
        try:
            if method is not None:
                from statsmodels.stats.multitest import multipletests

                multipletests([0.01, 0.5], alpha=alpha, method=method)
        except Exception as error:  # whatever it makes of a word or number unknown to it, or that it is not there
            raise InputError(
                f"statsmodels computes no correction={method!r} with correction_alpha={alpha!r} "
                f"({type(error).__name__}). Give a method such as 'bonferroni' or 'holm' and a level such as 0.05, or "
                "`pip install 'pt-reuse[studies]'`.",
                argument="correction",
            ) from error
    folder = arguments.get("save_dir")
    if isinstance(folder, str | Path) and os.path.isdir(folder):
        check_writable(Path(folder), [], overwrite=True, argument="save_dir")


def check_baseline(arguments: Mapping[str, Any], n_systems: int) -> None:
    """Raise where pt.Experiment could not test against the baseline."""
    baseline = arguments.get("baseline")
    if baseline is not None and arguments["perquery"] is not False:
        problem = "baseline adds tests of the means, which pt.Experiment gives alone. Leave perquery= out."
        raise InputError(problem, argument="baseline")
    if isinstance(baseline, int | np.integer) and not 0 <= baseline < n_systems:
        problem = f"baseline must be the name of a system, or its number from 0 to {n_systems - 1}, got {baseline}."
        raise InputError(problem, argument="baseline")


def significance(systems: Sequence[str], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return what settings say of the test against a baseline; nothing without one."""
    baseline, test = arguments.get("baseline"), arguments.get("test", "t")
    if baseline is None:
        return {}
    names = {"t": "paired t-test", "wilcoxon": "Wilcoxon signed-rank test"}
    named = names.get(test) if isinstance(test, str) else f"the test {getattr(test, '__name__', type(test).__name__)}"
    corrected = {"correction": str(arguments["correction"])} if arguments.get("correction") is not None else {}
    name = baseline if isinstance(baseline, str) else systems[int(baseline)]
    return {"baseline": name, "test": str(named or test), **corrected}


def wanted_kinds(reuse: str | Iterable[str] | None, *, with_field: bool, with_judge: bool = False) -> tuple[str, ...]:
    """Return the kinds of columns to add, some of `REUSE`: those asked for, or those that mean something."""
    if reuse is None:
        return (*DEFAULTS[with_field], *(["filled"] if with_judge else []))
    if not isinstance(reuse, Iterable):
        raise InputError(f"reuse must name columns, {examples(REUSE, 9)}, or be [], got {reuse!r}.", argument="reuse")
    kinds = tuple(choice("reuse", value, REUSE) for value in ((reuse,) if isinstance(reuse, str) else reuse))
    if "predicted" in kinds and not with_field:
        raise InputError(
            "what systems would score is learned from the runs of a field. Pass field=, or leave out 'predicted'.",
            argument="reuse",
        )
    return kinds


# topics, judgments, measures


def read_topics(topics: Any) -> pd.DataFrame:
    """Return topics as a frame with ``qid``, ids as text; those of ir_datasets have ``query_id``, and ``text`` asks."""
    if isinstance(topics, str | Path):
        return _topics_file(str(topics))
    if not isinstance(topics, pd.DataFrame):
        rows = list(topics) if isinstance(topics, Iterable) and not isinstance(topics, Mapping) else []
        if not rows or not all(hasattr(row, "_asdict") for row in rows):
            problem = f"topics must be a DataFrame or a file, got {type(topics).__name__}."
            raise InputError(problem, argument="topics")
        topics = pd.DataFrame(rows)
    if "query_id" in topics.columns:
        theirs = {"query_id": "qid", "text": "query"}
        topics = topics.rename(columns={name: ours for name, ours in theirs.items() if ours not in topics.columns})
    columns("topics", topics.columns, ("qid",))
    # ids are strings, as all that pyterrier reads has them; pt.Experiment cannot score with others
    return topics.astype({"qid": str}) if pd.api.types.is_numeric_dtype(topics["qid"]) else topics


def _topics_file(path: str) -> pd.DataFrame:
    """Return the topics of a file: TREC's, XML, or a line for each, its qid first."""
    try:
        with pt.io.autoopen(path, "rt") as file:
            start = file.read(1 << 16).lower()
        if "<top>" in start:
            return pt.io.read_topics(path)
        if "<topic" in start:
            return pt.io.read_topics(path, "trecxml")
        topics = pt.io.read_topics(path, "singleline", tokenise=False)
        twice = topics["qid"][topics["qid"].duplicated()].tolist()
        problem = f"has topic {twice[0]!r} twice" if twice else "holds no topic" if topics.empty else ""
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    # python-terrier has no word on a line without a query
    except (ValueError, LookupError, NameError):
        problem = "cannot be read as topics"
    if problem:
        forms = "Give TREC topics (<top>), XML, a line for each topic (its qid, a tab or blank, the query), or a frame."
        raise InputError(f"topics {path!r} {problem}. {forms}", argument="topics")
    return topics


def judgments_asked(topics: pd.DataFrame, qrels: Qrels, arguments: Mapping[str, Any], rel: int | None) -> Qrels:
    """Return the judgments that pt.Experiment averages over: of topics that have some; relevant from a label on."""
    judged, asked = set(qrels.to_frame()["qid"]), set(topics["qid"])
    shared = [topic for topic in qrels.topics if topic in judged and topic in asked]
    by_topics = arguments.get("filter_by_topics", True)
    if not shared and (by_topics or arguments.get("filter_by_qrels", False)):
        raise InputError(
            f"topics and qrels have no topic in common: {examples(topics['qid']) or 'none'} are asked, "
            f"{examples(qrels.topics) or 'none'} judged.",
            argument="topics",
        )
    chosen = shared if by_topics else [topic for topic in qrels.topics if topic in judged]
    return qrels.with_rel(qrels.stated_rel if rel is None else rel).select(chosen)


def parse_metrics(eval_metrics: Any) -> tuple[list[Any], dict[str, ir_measures.Measure]]:
    """Return the measures for pt.Experiment, and column name -> measure as it names its columns."""
    if isinstance(eval_metrics, str | ir_measures.Measure) or not isinstance(eval_metrics, Iterable):
        eval_metrics = [eval_metrics]
    metrics: list[Any] = []
    measures: list[ir_measures.Measure] = []
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
        metrics.append(metric)
        measures += [measure for measure in parsed if measure != "mrt"]
    parsed = parse_measures(measures) if measures else []
    return metrics, {nickname.get(measure, str(measure)): measure for measure in parsed}


def check_measures(measures: Measures, judged: Iterable[str]) -> None:
    """Raise where a measure needs more than results and judgments (of the columns `judged`), or nobody computes it."""
    for name, measure in measures.items():
        of_judgments = set(getattr(measure, "QREL_INPUTS", ())) - set(judged)
        needed = {*getattr(measure, "RUN_INPUTS", ()), *of_judgments}
        more = sorted(needed - {"query_id", "doc_id", "score", "relevance"})
        if more:
            raise InputError(
                f"{name} reads {examples(more)} of the results or qrels; ranks and LOU are computed from qid, docno, "
                "score and label alone. Leave the measure out, or pass reuse=['unjudged'].",
                argument="eval_metrics",
            )
    # pt.Experiment computes those, too, that we know ourselves
    check_provided(measures.values())


# systems and field


def system_tables(
    systems: Sequence[str] | RunSet,
    teams: RunLabels | None,
    types: RunLabels | None,
    pooled: RunLabels | Collection[str] | bool | None,
    *,
    pooled_by_default: bool,
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return the run table as it was stated, the same with every system pooled or not, and who was given no team.

    A RunSet says of its runs what the other arguments do not.
    """
    if isinstance(systems, RunSet):
        base = systems.run_table
    else:
        base = pd.DataFrame({"name": list(systems), "team": None, "type": None, "pooled": pd.NA}, dtype=object)
    given = given_metadata(teams=teams, types=types, pooled=pooled)
    table = given.table(base["name"].tolist(), base, complete=False, strict=True, noun="system")
    unsaid = table["team"].isna()
    stated = table.assign(team=table["team"].where(~unsaid, table["name"]))
    counted = stated.assign(pooled=stated["pooled"].fillna(pooled_by_default))
    return stated, counted, table["name"][unsaid].tolist()


def as_field(field: Any) -> RunSet | None:
    """Return the field of anything that holds runs; of results, which cannot say a team, each is a team of its own."""
    if field is None:
        return None
    runs = as_runs(field, argument="field")
    return (
        runs.with_metadata(teams={name: name for name in runs}) if isinstance(field, Mapping | pd.DataFrame) else runs
    )


def check_field(field: RunSet | None, systems: Sequence[str], judgments: Qrels) -> RunSet | None:
    """Return the runs of the field that have some of the topics."""
    if field is None:
        return None
    both = [name for name in systems if name in field]
    if both:
        raise InputError(
            f"the field has {count(len(both), 'run')} of a system's name: {examples(both)}. Give the system another "
            "name, or take the run out of the field.",
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


def check_units(field: RunSet | None, table: pd.DataFrame, by: str, own_teams: Sequence[str]) -> RunSet | None:
    """Raise where leave-out-uniques would have no pool, or not know whom to leave out; return the field."""
    tables = [table] if field is None else [table, field.run_table]
    if not any(part["pooled"].fillna(True).astype(bool).any() for part in tables):
        raise InputError(
            "no system, and no run of a field, is pooled, so that there is no pool. pooled=True counts the systems, "
            "field.with_metadata(pooled=...) says who of the field was.",
            argument="pooled",
        )
    if by == "run":
        return field
    lacking = table["name"][column_of(table, by).isna()].tolist()
    if lacking:
        # systems that are pipelines have no metadata
        give = "RunSet.from_pipelines(..., metadata=...)" if by == "family" else f"{by}s="
        raise InputError(
            f"by={by!r} needs the {by} of every system; {count(len(lacking), 'system')} without: "
            f"{examples(lacking)}. Give {give}, or use by='run'.",
            argument="by",
        )
    if field is None:
        return None
    with located("field"):
        units = field.units(by)
    clash = [name for name in own_teams if name in field.teams]
    if by == "team" and clash:
        problem = f"{examples(clash)} is a team of the field, and a system without a team is a team of its own name"
        raise InputError(f"{problem}. Give teams=, or give the system another name.", argument="teams")
    if by != "team" or not field.run_table["team"].isna().any():
        return field
    # runs without one are their own teams, which was told
    return field.with_metadata(teams={name: units.names[u] for name, u in zip(field, units.of_run, strict=True)})


def check_pool_order(field: RunSet | None, systems: RunSet | None, pool_order: str | None) -> None:
    """Raise where runs are to be pooled by their rank column and have none; they can be put into any other order."""
    for place, runs in (("field", field), ("retr_systems", systems)):
        if runs is not None and pool_order == "rank":
            with located(place):
                runs.in_pool_order(pool_order)
