"""Experiment: pt.Experiment with columns that say how far the judgments can be trusted for each system."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import choice, columns, count, examples, positive
from pt_reuse._errors import InputError, door, warn
from pt_reuse.experiment.columns import ORDER, REUSE, Adding, compute_columns
from pt_reuse.experiment.tap import Tap
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.metadata import make_run_table
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.scoring.topic_sets import check_topics, topics_of_runs


@door
def Experiment(
    retr_systems: Mapping[str, Any] | Sequence[Any],
    topics: pd.DataFrame | str | Path,
    qrels: pd.DataFrame | Qrels | str | Path,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    perquery: bool | str = False,
    dataframe: bool = True,
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    field: RunSet | None = None,
    reuse: str | Iterable[str] = ("lou", "rank", "unjudged"),
    by: str = "team",
    depth: int = 100,
    round: int | dict[str, int] | None = None,
    **experiment_arguments: Any,
) -> Any:
    """Run pt.Experiment and add, for every measure, what the scores would be had the system not been pooled.

    Each pipeline is executed once, by pt.Experiment, which does all that it does without this function. Its results
    are then placed in the `field` (or among themselves), pooled to `depth`, and scored without the uniques of their
    team, as :func:`leave_out_uniques` does. The added columns of a measure m, right of all others:

    - ``m LOU``, ``m LOU %``: the score without the uniques of the system's own unit, and its change in per cent
    - ``m rank``: rank in the field, 1 + the number of strictly better runs
    - ``m LOU rank``, ``m drop``: the rank when the unit's runs are scored without its uniques, and the ranks it lost
    - ``m unjudged``: the share of the top k documents without a judgment (label >= 0), k the measure's cutoff; all
      documents for a measure without one

    With ``perquery=True`` the columns are ``LOU``, ``LOU %``, ``rank``, ``LOU rank``, ``drop``, ``unjudged``, for the
    measure and topic of the row. ``result.attrs["reuse"]`` (of both frames, where there are two) holds the settings
    and, per measure, tau_b, gamma and the largest drop over the field; :func:`reuse_summary` shows it.

    Args:
        retr_systems: dict of name -> pipeline or result frame, or a list of them.
        topics: frame with ``qid`` and ``query``, or a topics file.
        qrels: frame with ``qid docno label``, a Qrels, or a qrels file.
        eval_metrics: measures, as for pt.Experiment; the names that ir_measures gives (``"nDCG@10"``) do, too.
        names: names of the systems of a list, all different; default is how they print.
        perquery: as for pt.Experiment.
        dataframe: as for pt.Experiment; the dicts of ``dataframe=False`` get the same values, but hold no summary.
        teams: who belongs together: system -> team, as in :func:`read_runs`; default each system is its own team.
        types: system -> type; default none.
        pooled: which systems count as contributors to the pool; default all.
        field: the collection's official runs, so that ranks and pools include them; their order becomes that of
            pt.Experiment's scores.
        reuse: which columns to add: any of ``"lou"``, ``"rank"``, ``"unjudged"``; default all three.
        by: the unit left out, ``"team"`` (default), ``"run"`` or ``"type"``.
        depth: pool depth, documents per run and topic.
        round: as for pt.Experiment; the added columns of a measure are rounded as the measure is.
        **experiment_arguments: every other argument of pt.Experiment: ``baseline``, ``correction``, ``highlight``,
            ``batch_size``, ``save_dir``, ``plan``, ``verbose`` and so on.

    Returns:
        What pt.Experiment returns for these arguments, with more columns.

    Raises:
        InputError: before anything is run, where an added column could not be computed: systems of one name, a system
            named as a run of the field, a system without a team or type, a field without the topics asked, an unknown
            argument.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> from ir_measures import P
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "label": [1, 1, 0]})
        >>> topics = pd.DataFrame({"qid": ["1"], "query": ["one"]})
        >>> ptr.Experiment({"A": a, "B": b}, topics, qrels, [P@2], reuse=["lou", "rank"])
          name  P@2  P@2 LOU  P@2 LOU %  P@2 rank  P@2 LOU rank  P@2 drop
        0    A  1.0      0.5      -50.0         1             1         0
        1    B  0.5      0.5        0.0         2             2         0

    Source: leave-out-uniques as in :func:`leave_out_uniques`; documents are ranked as pt.Experiment's own scores rank
    them (float32 scores, ties by docno descending). Where the provider of a measure does otherwise (RR@k and Judged@k
    break ties by docno ascending), a ReuseWarning names the measure and the systems that it concerns.
    """
    _check_arguments(experiment_arguments)
    wanted = _wanted_columns(reuse)
    choice("by", by, ("team", "run", "type"))
    depth = positive("depth", depth, "documents per run and topic")
    arguments = {**experiment_arguments, "perquery": perquery, "dataframe": dataframe, "round": round}
    asked = _read(topics, "topics", ("qid",), pt.io.read_topics)
    judged = _read(qrels, "qrels", ("qid", "docno", "label"), pt.io.read_qrels)
    metrics, measures = _metrics(eval_metrics)
    if not wanted:
        return pt.Experiment(_as_dict_or_list(retr_systems), asked, judged, metrics, names, **arguments)
    if not measures:
        raise InputError("eval_metrics has no measure to add columns to. Give one, or pass reuse=[].")

    systems = _named(retr_systems, names)
    judgments = _judgments(asked, judged, arguments)
    teams_or_own = {name: name for name in systems} if teams is None else teams
    table = make_run_table(list(systems), teams=teams_or_own, types=types, pooled=pooled)
    if "lou" in wanted or "rank" in wanted:
        _check_measures(measures)
        field = _check_field(field, table, judgments)
    if "lou" in wanted:
        _check_units(field, table, by, named_by_default=teams is None)
    saved = _saved_files(list(systems), arguments)

    taps = {name: Tap(name) for name, system in systems.items() if isinstance(system, pt.Transformer)}
    tapped = [system >> taps[name] if name in taps else system for name, system in systems.items()]
    if isinstance(retr_systems, Mapping):
        result = pt.Experiment(dict(zip(retr_systems, tapped, strict=True)), asked, judged, metrics, **arguments)
    else:
        given = list(systems) if names is None else list(names)
        result = pt.Experiment(tapped, asked, judged, metrics, given, **arguments)

    frames = {}
    for name, system in systems.items():
        if name in saved:
            frames[name] = _read_saved(saved[name], arguments.get("save_format", "trec"))
        elif name in taps:
            frames[name] = taps[name].results()
        elif arguments.get("plan") == "tree":  # there pt.Experiment joins a result frame with the topics
            frames[name] = system[system["qid"].astype(str).isin(set(asked["qid"]))]
        else:
            frames[name] = system
    runs = _as_runs(frames, table)
    some = np.asarray(topics_of_runs(runs, judgments).any(axis=0))
    if not some.all():
        lost = [runs.names[row] for row in np.flatnonzero(~some)]
        nothing = f"{count(len(lost), 'system')} without a result on any judged topic"
        warn(
            f"{nothing}, scored 0: {examples(lost)}.",
        )
    verbose = experiment_arguments.get("verbose") is True
    added = Adding(compute_columns(runs, field, judgments, measures, wanted, by, depth, verbose), round)
    wide = added.to(result, perquery)
    added.warn_of_differences()
    return wide


@door
def reuse_summary(result: Any) -> pd.DataFrame:
    """Return, per measure, how the ranking of the whole field changes when each unit is scored without its uniques.

    Args:
        result: what :func:`Experiment` returned; not a dict, which has no place for it.

    Returns:
        DataFrame: the ``summary`` of :class:`LeaveOutUniques`: ``measure own_tau_b own_gamma own_max_drop`` and more;
        empty when ``reuse`` had no ``"lou"``.

    Raises:
        InputError: something that holds no summary.
    """
    frame = result[0] if isinstance(result, tuple) and result else result
    kept = getattr(getattr(frame, "data", frame), "attrs", {}).get("reuse")
    if kept is None and isinstance(frame, dict):
        raise InputError("a dict holds no summary. Call Experiment with dataframe=True.")
    if kept is None:
        raise InputError(
            f"expected what ptr.Experiment returned, got {type(frame).__name__} without it: made by "
            f"pt.Experiment, with reuse=[], or by an operation of pandas that drops attrs."
        )
    return pd.DataFrame(kept["summary"])


def _check_arguments(given: Mapping[str, Any]) -> None:
    known = [name for name, p in inspect.signature(pt.Experiment).parameters.items() if p.kind is not p.VAR_KEYWORD]
    unknown = sorted(set(given) - set(known))
    if unknown:
        ours = list(inspect.signature(Experiment).parameters)
        near = get_close_matches(unknown[0], [*known, *ours], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        hint = " It is now filter_by_qrels." if unknown[0] == "drop_unused" else hint
        raise InputError(f"neither pt.Experiment nor this function has an argument {examples(unknown)}.{hint}")


def _wanted_columns(reuse: str | Iterable[str]) -> list[str]:
    if not isinstance(reuse, Iterable):
        raise InputError(f"reuse must name columns, {examples(REUSE)}, or be [], got {reuse!r}.")
    wanted = [reuse] if isinstance(reuse, str) else list(reuse)
    for value in wanted:
        choice("reuse", value, tuple(REUSE))
    return wanted


def _read(value: Any, what: str, needed: Sequence[str], reader: Any) -> pd.DataFrame:
    if isinstance(value, Qrels):
        frame = value.to_frame()
    elif isinstance(value, str | Path):
        if not os.path.isfile(value):
            raise InputError(f"{what} {str(value)!r}: no such file. Give a file or a DataFrame.")
        frame = reader(str(value))
    elif isinstance(value, pd.DataFrame):
        frame = value
    else:
        raise InputError(f"{what} must be a DataFrame or a file, got {type(value).__name__}.")
    columns(what, frame.columns, needed)
    # ids are strings, as all that pyterrier reads has them; pt.Experiment cannot score with others
    numbers = [
        column for column in ("qid", "docno") if column in frame and pd.api.types.is_numeric_dtype(frame[column])
    ]
    return frame.astype(dict.fromkeys(numbers, str)) if numbers else frame


def _as_dict_or_list(systems: Any) -> Any:
    return list(systems) if isinstance(systems, tuple) else systems


def _named(systems: Any, names: Sequence[str] | None) -> dict[str, Any]:
    if isinstance(systems, Mapping):
        found, values = [str(name) for name in systems], list(systems.values())
    elif isinstance(systems, list | tuple):
        found, values = [str(name) for name in (systems if names is None else names)], list(systems)
        if len(found) != len(values):
            raise InputError(f"{count(len(values), 'system')} but {count(len(found), 'name')}. Give one name each.")
    else:
        raise InputError(f"retr_systems must be a dict or a list, got {type(systems).__name__}.")
    twice = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    if twice:
        which = ", ".join(str(i) for i, name in enumerate(found) if name == twice[0])
        short = " ".join(twice[0].split())  # a frame prints as several lines
        short = short if len(short) <= 60 else short[:60] + "..."
        raise InputError(
            f"the systems at {which} have one name, {short!r}. Give a dict of name -> system, or distinct names=."
        )
    return dict(zip(found, values, strict=True))


def _metrics(eval_metrics: Any) -> tuple[list[Any], dict[str, ir_measures.Measure]]:
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


def _judgments(topics: pd.DataFrame, qrels: pd.DataFrame, arguments: Mapping[str, Any]) -> Qrels:
    """Return the judgments that pt.Experiment averages over."""
    judged = Qrels(qrels[["qid", "docno", "label"]])
    asked = set(topics["qid"])
    shared = [topic for topic in judged.topics if topic in asked]
    by_topics = arguments.get("filter_by_topics", True)
    if not shared and (by_topics or arguments.get("filter_by_qrels", False)):
        raise InputError(
            f"topics and qrels have no topic in common: {examples(topics['qid'])} are asked, "
            f"{examples(judged.topics)} judged."
        )
    return judged.select(shared) if by_topics else judged


def _check_measures(measures: Mapping[str, ir_measures.Measure]) -> None:
    for name, measure in measures.items():
        needed = {*getattr(measure, "RUN_INPUTS", ()), *getattr(measure, "QREL_INPUTS", ())}
        more = sorted(needed - {"query_id", "doc_id", "score", "relevance"})
        if more:
            raise InputError(
                f"{name} reads {examples(more)} of the results or qrels; ranks and LOU are computed from "
                f"qid, docno, score and label alone. Leave the measure out, or pass reuse=['unjudged']."
            )


def _check_field(field: Any, table: pd.DataFrame, judgments: Qrels) -> RunSet | None:
    """Return the runs of the field that have some of the topics."""
    if field is None:
        return None
    if not isinstance(field, RunSet):
        raise InputError(f"field must be a RunSet (read_runs or get_runs() makes one), got {type(field).__name__}.")
    both = [name for name in table["name"] if name in field]
    if both:
        raise InputError(f"{examples(both)} is a run of the field, too. Give the system another name.")
    has = topics_of_runs(field, judgments).any(axis=0)
    if not has.any():
        check_topics(field, judgments)
    if has.all():
        return field
    lost = [field.names[row] for row in np.flatnonzero(~has)]
    n_topics = count(len(judgments.topics), "topic")
    warn(
        f"{count(len(lost), 'run')} of the field without any of the {n_topics} asked, left out of ranks "
        f"and pools: {examples(lost)}.",
    )
    return field.select([field.names[row] for row in np.flatnonzero(has)])


def _check_units(field: RunSet | None, table: pd.DataFrame, by: str, named_by_default: bool) -> None:
    # a run of which nobody recorded it counts as pooled
    if not table["pooled"].fillna(True).any() and (field is None or not field.pooled.fillna(True).any()):
        raise InputError("no system is pooled, so that there is no pool. Mark some with pooled=, or give field=.")
    if by == "run":
        return
    lacking = table["name"][table[by].isna()].tolist()
    if lacking:
        raise InputError(
            f"by={by!r} needs the {by} of every system; {count(len(lacking), 'system')} without: "
            f"{examples(lacking)}. Give {by}s=, or use by='run'."
        )
    if field is None:
        return
    field.units(by)
    clash = [name for name in table["name"] if name in field.teams]
    if by == "team" and named_by_default and clash:
        raise InputError(
            f"{examples(clash)} is a team of the field, and a system that is given no team is a team of "
            f"its own name. Give teams=, or give the system another name."
        )


def _saved_files(names: list[str], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that pt.Experiment will evaluate in place of systems."""
    folder, form = arguments.get("save_dir"), arguments.get("save_format", "trec")
    if folder is None or arguments.get("save_mode") != "reuse":
        return {}
    ending = "res.gz" if form == "trec" else "mod" if isinstance(form, ModuleType) else "custom"
    paths = {name: os.path.join(folder, f"{name}.{ending}") for name in names}
    return {name: path for name, path in paths.items() if os.path.exists(path)}


def _read_saved(path: str, form: Any) -> pd.DataFrame:
    if form == "trec":
        return pt.io.read_results(path)
    with pt.io.autoopen(path, "rb") as file:
        return form.load(file) if isinstance(form, ModuleType) else form[0](file)


def _as_runs(frames: Mapping[str, pd.DataFrame], table: pd.DataFrame) -> RunSet:
    try:
        return RunSet.from_frames(frames, metadata=table, order=ORDER)
    except InputError:
        _refuse_repeats(frames)
        raise


def _refuse_repeats(frames: Mapping[str, pd.DataFrame]) -> None:
    for name, frame in frames.items():
        pairs = frame[["qid", "docno"]].astype(str)
        again = pairs.duplicated()
        if again.any():
            row = pairs[again].iloc[0]
            raise InputError(
                f"system {name!r} has document {row['docno']!r} more than once for topic {row['qid']!r}, "
                f"so that ranks and LOU are undefined. Mend the pipeline, or pass reuse=[] to do without them."
            )
