"""`pt-reuse pool` and `infer-pool`: what a pool of runs is, and which runs must have been pooled."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pt_reuse._check import checked_jobs, checked_seed, choice, count, examples, plural
from pt_reuse._choices import LEARNING, METHODS, NORM_NAMES, RANDOM_ORDER
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import (
    SHOWN,
    Drawing,
    out_folder,
    print_table,
    say,
    say_answer,
    say_command,
    say_end,
    settings_file,
    shows_bars,
    table_file,
    write_files,
    write_result,
)
from pt_reuse.cli.parser import (
    Commands,
    Parser,
    add_command,
    add_contributors,
    add_jobs,
    add_out,
    add_verbose,
    amounts,
    bands,
    chosen_contributors,
    whole_amounts,
    whole_number,
)
from pt_reuse.cli.study_commands import files_of
from pt_reuse.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.pooling.pool import Pool
    from pt_reuse.studies.infer_pool.infer_pool import InferredPool

#: the documents to be judged, as a file of judgments in which every label is still to come
_TO_JUDGE = "to_judge.txt"
#: strategies that ask judgments for the label of each document
_ASKING = (*LEARNING, RANDOM_ORDER)
#: name -> the options that a strategy has; those of --strategy, in the order of the help
STRATEGIES: dict[str, tuple[str, ...]] = {
    "depth": ("jobs",),
    "take": ("n", "per"),
    **{method: ("n", "per", *options) for method, options in METHODS.items()},
    "sample": ("share", "n", "strata", "bands", "seed", "jobs"),
    **{name: ("n", "rel", "seed") for name in _ASKING},
}
#: what a depth-k pool knows of each document, by which topics can be divided
_STRATA = ("rank", "runs", "teams", "types")
_STRATEGY_HELP = (
    "depth: all documents to the depth (default); take: the best-ranked of these; "
    f"{', '.join(METHODS)}: the highest by a fusion of the runs; sample: a random sample, with the probability with "
    f"which each document came into it; {', '.join(_ASKING)}: judged one by one, each chosen by the labels of "
    "--qrels for those before it"
)
#: option -> how its text is read, and what the help says
_OPTIONS: dict[str, tuple[Any, str]] = {
    "n": (whole_amounts, "how many documents to take, of each topic or in all; of sample: of each topic's stratum"),
    "per": (str, "N is the number of each topic (topic, default) or of all (all)"),
    "k": (float, "of rrf: 1 / (K + rank); default 60"),
    "p": (float, "of rbp: (1 - P) P^(rank - 1); default .8"),
    "norm": (str, f"of combsum and combmnz: one of {', '.join(NORM_NAMES)}; default min-max"),
    "share": (amounts, "of sample: the part of each topic's stratum, or one for each band"),
    "strata": (str, f"of sample: divide topics by {', '.join(_STRATA)}; default not at all"),
    "bands": (bands, "of sample: the last value of each band of --strata: 10,50,inf"),
    "rel": (int, "lowest label of --qrels that is relevant for a strategy"),
    "jobs": (int, "of depth and sample: how many topics at a time, -1 for all cores; default 1"),
    "seed": (int, "decides what a strategy draws; default 0"),
}


def add_pool(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "pool",
        "the documents in a pool of the runs",
        "The pool has the first documents of every contributing run, or with --strategy those of them that the "
        "strategy chooses. With --qrels it is said what of it is judged: a label of at least 0; a document labelled "
        "below 0 is still to be judged.",
    )
    add_field(parser, qrels=Judgments.OPTIONAL)
    parser.add_option("--depth", "K", "pool depth; default that of the collection, else 100", type=int)
    parser.add_option("--strategy", "NAME", _STRATEGY_HELP, default="depth")
    parser.checks.append(_check_name)
    for name, (kind, text) in _OPTIONS.items():
        parser.add_option(f"--{name}", name.upper(), text, type=kind)
    parser.add_option("--by", "UNIT", "who contributed what: by team, run, type or family; default team if known")
    add_contributors(parser)
    add_verbose(parser)
    add_out(
        parser, f"the pool and its counts (CSV), and what is to be judged (a qrels file with labels -1, {_TO_JUDGE})"
    )
    parser.set_defaults(run=_run_pool)
    return parser


def _check_name(options: argparse.Namespace) -> None:
    choice("strategy", options.strategy, tuple(STRATEGIES), most=len(STRATEGIES))


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that are given to the strategy, checked before any run is read."""
    _check_name(options)
    name, takes = options.strategy, STRATEGIES[options.strategy]
    given = {option: value for option in _OPTIONS if (value := getattr(options, option)) is not None}
    for option in given:
        if option not in takes:
            having = ", ".join(other for other, known in STRATEGIES.items() if option in known)
            raise InputError(f"{option} is no option of strategy {name!r}; it is one of {having}.", argument=option)
    lacking = "n" if "n" in takes and "n" not in given and name != "sample" else None
    if name in _ASKING and options.qrels is None:
        lacking = "qrels"
    if lacking:
        raise InputError(f"strategy {name!r} needs {lacking}=.", argument=lacking)
    _check_values(name, given)
    return given


def _check_values(name: str, given: Mapping[str, Any]) -> None:
    from pt_reuse.arrays.fusion import Fusion
    from pt_reuse.data.judgments import checked_rel
    from pt_reuse.pooling.depth import checked_size
    from pt_reuse.pooling.sampling import check_sampling

    checked_jobs(given.get("jobs"))
    checked_rel(given.get("rel"))
    checked_seed(given.get("seed", 0))
    if name in METHODS:
        Fusion.of(name, **{option: given.get(option) for option in ("k", "p", "norm")})
    if name == "sample":
        if "strata" in given:
            choice("strata", given["strata"], _STRATA)
        check_sampling(**{option: given.get(option) for option in ("share", "n", "strata", "bands")}, seed=0)
    elif "n" in given:
        checked_size(given["n"], given.get("per", "topic"))


def _pool_of(
    runs: RunSet, qrels: Qrels | None, options: argparse.Namespace, given: dict[str, Any], **common: Any
) -> Pool:
    """Return the pool that the strategy makes; `common` are depth and contributors."""
    from pt_reuse.pooling.adaptive.strategy import adaptive_pool
    from pt_reuse.pooling.depth import depth_pool, fusion_pool, take_pool
    from pt_reuse.pooling.sampling import sample_pool

    name = options.strategy
    if name in ("depth", "sample"):
        pool = depth_pool(runs, **common, n_jobs=given.pop("jobs", None))
        return pool if name == "depth" else sample_pool(pool, **{"seed": 0, **given})
    if name == "take":
        return take_pool(runs, **given, **common)
    if name in METHODS:
        return fusion_pool(runs, method=name, **given, **common)
    return adaptive_pool(runs, qrels, name, **given, **common, verbose=shows_bars(options))


def _run_pool(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import COLUMNS, check_unit_is_given
    from pt_reuse.pooling.depth import checked_depth, depth_of

    plan = plan_field(options)
    if options.depth is not None:
        checked_depth(options.depth)
    given = _given(options)
    contributors = chosen_contributors(options, plan.names)
    if options.by is not None:
        check_unit_is_given(choice("by", options.by, tuple(COLUMNS)), plan.columns)
    files = ["pool.csv", "by_topic.csv", "by_unit.csv", _TO_JUDGE, "settings.json"]
    folder = out_folder(options, files)
    if folder is not None:
        _check_unlabelled(folder / _TO_JUDGE)
    qrels = None if options.qrels is None or plan.judgments is None else plan.judgments.read()
    runs = plan.read_runs()
    asked = depth_of(runs, options.depth)
    pool = _pool_of(runs, qrels, options, given, depth=asked.value, contributors=contributors)
    rest = pool if qrels is None else pool.remainder(qrels)
    by = options.by or ("team" if pool.run_table["team"].notna().any() else "run")
    depth = "given" if options.depth is not None else f"that of {asked.origin.value}"
    say(f"{in_words(pool, rest, None if qrels is None else set(qrels.topics))} The depth, {asked.value}, is {depth}.")
    units, topics = by_unit(pool, rest, by), pool.counts(qrels)
    if qrels is None:
        units = units.drop(columns=["to_judge", "to_judge_unique"])
    say(f"\nBy {by}, most documents first (unique: that no other {by} contributed):")
    shown = units.rename(columns=lambda name: name.replace("_", " "))
    print_table(shown, len(shown) if options.verbose else SHOWN, f"{plural(by)}; --verbose shows every one")
    say_end(pool.settings, [runs] if qrels is None else [runs, qrels], verbose=options.verbose)
    if folder is not None:
        kept = {**pool.settings, "order": pool.order, **runs.settings}
        if isinstance(contributors, list):
            kept["contributors"] = contributors
        made = _made({"pool.csv": pool.to_frame(), "by_topic.csv": topics, "by_unit.csv": units}, kept, rest)
        write_files(made, folder, options, files)


def _made(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any], rest: Pool) -> dict[str, Any]:
    """Return name -> contents of the files; what is to be judged has one where there is something."""
    from pt_reuse.data.qrels_files import qrels_file

    made: dict[str, Any] = {name: table_file(frame) for name, frame in tables.items()}
    made["settings.json"] = settings_file(settings)
    if len(rest):
        some = [qid for qid, n in zip(rest.topics, rest.documents.sizes.tolist(), strict=True) if n]
        made[_TO_JUDGE] = qrels_file(rest.to_qrels().select(some).arrays)
    return made


def _check_unlabelled(path: Path) -> None:
    """Raise where somebody has given labels to what was to be judged, in the file that would be replaced or go."""
    from pt_reuse._files import read_file

    lines = read_file(path).splitlines() if path.is_file() else []
    if any(line.split()[-1] != b"-1" for line in lines if line.strip()):
        raise InputError(
            "it has labels in place of -1, which would be lost. Move it, or give another out=.",
            place=str(path),
            argument="out",
        )


def by_unit(pool: Pool, rest: Pool, by: str) -> pd.DataFrame:
    """Return one row per team, run, type or family: its runs, documents and uniques, of the pool and to be judged."""
    import numpy as np
    import pandas as pd

    _, units = pool.sole(by)
    table = pd.DataFrame({units.column: units.names, "runs": units.runs()})
    for part, documents, unique in ((pool, "documents", "unique"), (rest, "to_judge", "to_judge_unique")):
        sole, _ = part.sole(by)
        of_row = units.of_run[part.entries.run]
        pairs = np.unique(part.entries.document * max(len(units), 1) + of_row)
        table[documents] = np.bincount(pairs % max(len(units), 1), minlength=len(units))
        table[unique] = np.bincount(sole[sole >= 0], minlength=len(units))
    return table.sort_values("documents", ascending=False, kind="stable", ignore_index=True)


def in_words(pool: Pool, rest: Pool, judged: set[str] | None) -> str:
    """Return how large the pool is, and what of it is to be judged, given the topics that have judgments, if any do."""
    sizes = pool.documents.sizes
    made = f"{count(len(pool), 'document')} of {count(len(pool.run_table), 'contributing run')}"
    each = f"{sizes.min():,} to {sizes.max():,} per topic, {sizes.mean():,.1f} on average"
    text = f"The pool: {made} on {count(len(sizes), 'topic')}, {each}."
    if judged is None:
        return text
    share = len(rest) / max(len(pool), 1)
    text += f" Judged are {len(pool) - len(rest):,}, to be judged {len(rest):,} ({share:.1%})"
    without = [qid not in judged for qid in pool.topics]
    if any(without):
        n = int(sizes[without].sum())
        text += f", {n:,} of them on {count(sum(without), 'topic')} without any judgment"
    return f"{text}."


_PICTURE = "judged-by-rank.png"
_CONTRIBUTORS = "contributors.txt"
_JUDGMENTS = "judgments.txt"
_TRIED = 5  # answers shown
#: what the screen shows of a run
_SHOWN = ["name", "pooled", "evidence", "judged_to", "missing", "first_missing", "alone"]


def add_infer_pool(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "infer-pool", "say which runs must have been pooled, and to which depth")
    add_field(parser, qrels=Judgments.NEEDED)
    parser.add_option(
        "--depth",
        "K",
        "pool depth, or 'topic' for one per topic, 'common' for one for all; default what fits best",
        type=_depth,
    )
    parser.add_option("--tolerance", "T", "share of a run that may be unjudged; default what fits best", type=float)
    add_jobs(parser, "topics")
    add_verbose(parser)
    add_out(parser, "the tables (CSV), the settings (JSON) and the picture")
    parser.set_defaults(run=_run_infer)
    return parser


def _run_infer(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.studies.infer_pool.infer_pool import InferredPool, infer_pool
    from pt_reuse.study import study_of

    plan = plan_field(options, pooled_matters=False)
    given = {"depth": options.depth, "tolerance": options.tolerance, "n_jobs": options.jobs}
    study_of(infer_pool).checked(given)
    folder = out_folder(options, [*files_of(InferredPool), _PICTURE, _CONTRIBUTORS, _JUDGMENTS])
    qrels, runs = plan.needed_judgments().read(), plan.read_runs()
    result = infer_pool(runs, qrels, **given, order=options.pool_order, verbose=shows_bars(options))
    say_answer(result, verbose=options.verbose)
    _report(result, options.verbose)
    say_end(result.settings, [runs, qrels], verbose=options.verbose)
    if folder is not None:
        drawings: dict[str, Drawing] = {_PICTURE: result.plot}
        names = "".join(f"{name}\n" for name in result.contributors)
        beside = {_CONTRIBUTORS: partial(names.encode, "utf-8", "surrogateescape")}
        if result.apart:
            beside[_JUDGMENTS] = partial(qrels_file, qrels.select(result.topics).arrays)
        write_result(result, folder, options, drawings, beside)
    if result.contributors:
        _tell_how_to_go_on(result, folder)


def _tell_how_to_go_on(result: InferredPool, folder: Path | None) -> None:
    at, depth = "OUT" if folder is None else str(folder), [f"--depth {result.depth}"] if result.depth else []
    say(f"\nTo go on{' (--out OUT writes what is named)' if folder is None else ''}:")
    if result.apart:
        say(f"{_JUDGMENTS} has the judgments without those of the topics that are set apart.")
    pooled, judged = shlex.quote(f"{at}/{_CONTRIBUTORS}"), shlex.quote(f"{at}/{_JUDGMENTS}")
    qrels = [f"--qrels {judged}"] if result.apart else []
    say_command(["pt-reuse lou", f"--pooled {pooled}", *qrels, *depth, f"--pool-order {result.order}"])


def _report(result: InferredPool, every: bool) -> None:
    from pt_reuse.studies.infer_pool.infer_pool import UNSURE

    table = result.table
    say("\nRuns by what is on record (pooled, NA: nothing) and what speaks for them:")
    print_table(result.confusion, len(result.confusion), "rows")
    unsure = table[table["evidence"].isin(UNSURE)]
    for (evidence, _), rows in unsure.groupby(["evidence", "group"], dropna=False):
        say(f"{evidence}: {examples(rows['name'], SHOWN)}")
    if len(result.tried) > 1:
        _tell_tried(result, every)
    say("\nPer run, those first that the judgments leave open (missing, alone: unjudged documents to the depth,")
    say("and judged ones that no other run of the pool has):")
    shown = table.loc[[*unsure.index, *table.index.difference(unsure.index, sort=False)], _SHOWN]
    more = "runs; --verbose shows every one, --out DIR writes all columns"
    print_table(shown.dropna(axis="columns", how="all"), len(table) if every else SHOWN, more, spare=("first_missing",))


def _tell_tried(result: InferredPool, every: bool) -> None:
    tried = result.tried.sort_values(["best", "bits"], ascending=[False, True], kind="stable")
    say("\nTried, the best first (new_below: judged of what is new one rank below the depth):")
    shown = tried.drop(columns="best").round({"new_below": 3, "bits": 0})
    print_table(shown, len(shown) if every else _TRIED, "tried; --verbose shows every one")


def _depth(text: str) -> int | str:
    try:
        return text if text in ("topic", "common") else whole_number(text)
    except ValueError:
        problem = f"invalid depth {text!r}: give a whole number, 'topic' for one per topic, or 'common' for one for all"
        raise argparse.ArgumentTypeError(problem) from None
