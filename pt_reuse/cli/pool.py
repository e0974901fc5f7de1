"""`pt-reuse pool` and `infer-pool`: what a pool of runs is, and which runs must have been pooled."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from pt_reuse._check import checked_seed, choice, count, plural
from pt_reuse.cli.field import add_field, plan_field
from pt_reuse.cli.output import out_folder, print_table, put, say, show, shows_bars, write_files, write_result
from pt_reuse.cli.parser import (
    Parser,
    add_contributors,
    add_out,
    chosen_contributors,
    number_or_numbers,
    number_or_text,
    numbers,
)
from pt_reuse.errors import InputError
from pt_reuse.options import LEARNING, METHODS, RANDOM_ORDER

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.pooling.pool import Pool

#: the documents to be judged, as a file of judgments in which every label is still to come
_TO_JUDGE = "to_judge.txt"
#: strategies that ask judgments for the label of each document
_ASKING = (*LEARNING, RANDOM_ORDER)
#: name -> the options that a strategy has; those of --strategy, in the order of the help
STRATEGIES: dict[str, tuple[str, ...]] = {
    "depth": ("jobs",),
    "take": ("n", "per"),
    **{method: ("n", "per") for method in METHODS},
    "sample": ("share", "n", "strata", "bands", "seed", "jobs"),
    **{name: ("n", "rel", "seed") for name in _ASKING},
}
_STRATEGY_HELP = (
    "depth: all documents to the depth (default); take: the best-ranked of these; "
    f"{', '.join(METHODS)}: the highest by a fusion of the runs; sample: a random sample, with the probability with "
    f"which each document came into it; {', '.join(_ASKING)}: judged one by one, each chosen by the labels of "
    "--qrels for those before it"
)
#: option -> how its text is read, and what the help says
_OPTIONS: dict[str, tuple[Any, str]] = {
    "n": (number_or_numbers, "how many documents to take, of each topic or in all; of sample: of each stratum"),
    "per": (str, "N is the number of each topic (topic, default) or of all (all)"),
    "share": (number_or_numbers, "of sample: the part of each topic's stratum, or one for each band"),
    "strata": (str, "of sample: divide topics by rank, runs, teams, types; default not at all"),
    "bands": (numbers, "of sample: the last value of each band of --strata: 10,50,inf"),
    "rel": (int, "lowest label of --qrels that is relevant for a strategy"),
    "jobs": (int, "of depth and sample: how many topics at a time, -1 for all cores; default 1"),
    "seed": (int, "decides what a strategy draws; default 0"),
}


def add_pool(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "The pool has the first documents of every contributing run, or with --strategy those of "
        "them that the strategy chooses. With --qrels it is said what of it is judged: a label of at least 0; a "
        "document labelled below 0 is still to be judged."
    )
    add_field(parser, judged=None)
    parser.add_option("--depth", "K", "pool depth; default that of the collection, else 100", type=int)
    parser.add_option("--strategy", "NAME", _STRATEGY_HELP, default="depth")
    for name, (kind, text) in _OPTIONS.items():
        parser.add_option(f"--{name}", name.upper(), text, type=kind)
    parser.add_option("--by", "UNIT", "who contributed what: by team, run, type or family; default team if known")
    add_contributors(parser)
    parser.called["n_jobs"] = "jobs"
    parser.checks.append(_given)
    add_out(parser, f"the pool, its counts (CSV), and what is to be judged (a qrels file, labels -1, {_TO_JUDGE})")
    parser.set_defaults(run=_run_pool)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that are given to the strategy."""
    name = choice("strategy", options.strategy, tuple(STRATEGIES), most=len(STRATEGIES))
    takes = STRATEGIES[name]
    given = {option: value for option in _OPTIONS if (value := getattr(options, option)) is not None}
    for option in given:
        if option not in takes:
            having = ", ".join(other for other, known in STRATEGIES.items() if option in known)
            raise InputError(f"{option} is no option of strategy {name!r}; it is one of {having}.", argument=option)
    lacking = "n" if "n" in takes and "n" not in given and name != "sample" else None
    lacking = "qrels" if name in _ASKING and options.qrels is None else lacking
    if lacking:
        raise InputError(f"strategy {name!r} needs {lacking}=.", argument=lacking)
    checked_seed(given.get("seed", 0))
    return given


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
    from pt_reuse._files import read_file
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.data.units import COLUMNS, check_unit_is_given
    from pt_reuse.pooling.depth import checked_depth, depth_of

    given, plan = _given(options), plan_field(options)
    if options.depth is not None:
        checked_depth(options.depth)
    contributors = chosen_contributors(options, plan.names)
    if options.by is not None:
        check_unit_is_given(choice("by", options.by, tuple(COLUMNS)), plan.columns)
    folder = out_folder(options)
    to_judge = None if folder is None else folder / _TO_JUDGE
    lines = read_file(to_judge).splitlines() if to_judge is not None and to_judge.is_file() else []
    if any(line.split()[-1] != b"-1" for line in lines if line.strip()):
        problem = "it has labels in place of -1, which would be lost. Move it, or give another out=."
        raise InputError(problem, place=str(to_judge), argument="out")
    qrels = None if options.qrels is None or plan.judgments is None else plan.judgments.read()
    runs = plan.read_runs()
    depth = depth_of(runs, options.depth)
    pool = _pool_of(runs, qrels, options, given, depth=depth.value, contributors=contributors)
    rest = pool if qrels is None else pool.remainder(qrels)
    by = options.by or ("team" if pool.run_table["team"].notna().any() else "run")
    origin = "given" if options.depth is not None else f"that of {depth.origin}"
    say(f"{_in_words(pool, rest, qrels)} The depth, {depth.value}, is {origin}.")
    units = _by_unit(pool, rest, by)
    if qrels is None:
        units = units.drop(columns=["to_judge", "to_judge_unique"])
    say(f"\nBy {by}, most documents first (unique: that no other {by} contributed):")
    print_table(units.rename(columns=lambda name: name.replace("_", " ")), f"{plural(by)}; --out DIR writes all")
    if folder is not None:
        settings = {**pool.settings, "order": pool.order, **runs.settings}
        settings |= {"contributors": contributors} if isinstance(contributors, list) else {}
        files: dict[str, Any] = {
            "pool.csv": pool.to_frame(), "by_topic.csv": pool.counts(qrels), "by_unit.csv": units
        }  # fmt: skip
        if len(rest):
            some = [qid for qid, n in zip(rest.topics, rest.documents.sizes.tolist(), strict=True) if n]
            files[_TO_JUDGE] = qrels_file(rest.to_qrels().select(some).arrays)
        write_files(files, folder, options, settings, [_TO_JUDGE])


def _by_unit(pool: Pool, rest: Pool, by: str) -> pd.DataFrame:
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


def _in_words(pool: Pool, rest: Pool, qrels: Qrels | None) -> str:
    """Return how large the pool is, and what of it is to be judged, given judgments."""
    sizes = pool.documents.sizes
    text = (
        f"The pool: {count(len(pool), 'document')} of {count(len(pool.run_table), 'contributing run')} on "
        f"{count(len(sizes), 'topic')}, {sizes.min():,} to {sizes.max():,} per topic, {sizes.mean():,.1f} on average."
    )
    if qrels is None:
        return text
    share = len(rest) / max(len(pool), 1)
    return f"{text} Judged are {len(pool) - len(rest):,}, to be judged {len(rest):,} ({share:.1%})."


#: what `infer-pool` writes for `lou`
_CONTRIBUTORS, _JUDGMENTS = "contributors.txt", "judgments.txt"


def add_infer_pool(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_field(parser)
    depth = "pool depth, or 'topic' for one per topic, 'common' for one for all; default what fits best"
    parser.add_option("--depth", "K", depth, type=number_or_text)
    parser.add_option("--tolerance", "T", "share of a run that may be unjudged; default what fits best", type=float)
    add_out(parser, "the tables (CSV), the settings (JSON) and the picture")
    parser.set_defaults(run=_run_infer)


def _run_infer(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.studies.infer_pool.infer_pool import infer_pool
    from pt_reuse.study import study_of

    plan = plan_field(options, pooled_matters=False)
    given = {"depth": options.depth, "tolerance": options.tolerance}
    study_of(infer_pool).checked(given)
    folder = out_folder(options)
    qrels, runs = plan.needed_judgments().read(), plan.read_runs()
    result = infer_pool(runs, qrels, **given, order=options.pool_order, verbose=shows_bars(options))
    show(result)
    say("\nRuns by what is on record (pooled, NA: nothing) and what speaks for them:")
    print_table(result.confusion, "rows")
    if folder is not None:
        names = "".join(f"{name}\n" for name in result.contributors)
        beside = {_CONTRIBUTORS: names.encode("utf-8", "surrogateescape")}
        beside |= {_JUDGMENTS: qrels_file(qrels.select(result.topics).arrays)} if result.apart else {}
        write_result(result, folder, options, {"judged-by-rank.png": {}}, beside)
    if result.contributors:
        at, depth = folder or "OUT", f" --depth {result.depth}" if result.depth else ""
        judged = f"{at}/{_JUDGMENTS}" if result.apart else options.qrels
        given_runs = options.runs or ["--collection", options.collection]
        field = shlex.join([*given_runs, *(["--qrels", judged] if judged else [])])
        pooled = f"--pooled {shlex.quote(f'{at}/{_CONTRIBUTORS}')}"
        say(f"\nTo go on{'' if folder else ' (--out OUT writes what is named)'}:")
        put(f"  pt-reuse lou {field} {pooled}{depth} --pool-order {result.order}")
