"""`pt-reuse pool`: the pool of runs, who contributed what, and what of it is to be judged."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pt_reuse._check import choice, count, plural
from pt_reuse._errors import InputError, Option
from pt_reuse.cli.common_options import add_contributors, chosen_contributors
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import out_folder, settings_file, table_file, write_files
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out
from pt_reuse.cli.pool_strategies import PoolAsked, add_strategy, chosen_strategy
from pt_reuse.cli.screen import SHOWN, print_table, say
from pt_reuse.cli.shards import add_shard, refuse_with_shard

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from pt_reuse.pooling.pool import Pool

#: the documents to be judged, as a file of judgments in which every label is still to come
_TO_JUDGE = "to_judge.txt"


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "pool",
        "the documents that a pool of the runs would have judged",
        "The pool has the first documents of every contributing run, or with --strategy those of them that the "
        "strategy chooses. With --qrels it is said what of it is judged: a label of at least 0; a document labelled "
        "below 0 is still to be judged.",
    )
    add_field(parser, positional="runs", qrels=Judgments.OPTIONAL)
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 100")
    add_strategy(parser)
    parser.add_argument(
        "--by", metavar="UNIT", help="who contributed what: by team, run, type or family; default team if known"
    )
    add_contributors(parser)
    add_all(parser, "unit")
    add_out(
        parser, f"the pool and its counts (CSV), and what is to be judged (a qrels file with labels -1, {_TO_JUDGE})"
    )
    add_shard(parser, _run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.data.units import COLUMNS, check_unit_is_given
    from pt_reuse.pooling.depth import checked_depth, depth_of

    plan = plan_field(options)
    if options.depth is not None:
        checked_depth(options.depth)
    strategy = chosen_strategy(options)
    if not strategy.by_topics:
        refuse_with_shard(
            options, "strategy", f"{options.strategy!r} is not made topic by topic. Leave out one of them."
        )
    contributors = chosen_contributors(options, plan.names)
    if options.by is not None:
        check_unit_is_given(choice("by", options.by, tuple(COLUMNS)), plan.columns)
    files = ["pool.csv", "by_topic.csv", "by_unit.csv", _TO_JUDGE, "settings.json"]
    folder = out_folder(options, files)
    if folder is not None:
        _check_unlabelled(folder / _TO_JUDGE)
    judgments = plan.judgments if options.qrels is not None else None
    qrels = None if judgments is None else plan.read_judgments(judgments)
    runs = plan.read_runs()
    say(repr(runs) if qrels is None else f"{runs!r}\n{qrels!r}")
    asked = depth_of(runs, options.depth)
    pool = strategy.make(PoolAsked(runs, asked.value, contributors, qrels, options))
    rest = pool if qrels is None else pool.remainder(qrels)
    by = options.by or ("team" if pool.run_table["team"].notna().any() else "run")
    judged = None if qrels is None else set(qrels.topics)
    depth = "given" if options.depth is not None else f"that of {asked.origin.value}"
    say(f"\n{in_words(pool, rest, judged)} {strategy.in_words(options)}The depth, {asked.value}, is {depth}.")
    units, topics = by_unit(pool, rest, by), pool.counts(qrels)
    if qrels is None:
        units = units.drop(columns=["to_judge", "to_judge_unique"])
    say(f"\nBy {by}, most documents first (unique: that no other {by} contributed):")
    shown = units.rename(columns=lambda name: name.replace("_", " "))
    print_table(shown, len(shown) if options.all else SHOWN, f"{plural(by)}; --all shows every one")
    if folder is not None:
        tables = {"pool.csv": pool.to_frame(), "by_topic.csv": topics, "by_unit.csv": units}
        kept = {**pool.settings, "order": pool.order, **runs.settings}
        if isinstance(contributors, list):
            kept["contributors"] = contributors
        made = {name: table_file(frame) for name, frame in tables.items()} | {"settings.json": settings_file(kept)}
        if len(rest):
            some = [qid for qid, n in zip(rest.topics, rest.documents.sizes.tolist(), strict=True) if n]
            made[_TO_JUDGE] = qrels_file(rest.to_qrels().select(some).arrays)
        written = write_files(made, folder, options, files)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _check_unlabelled(path: Path) -> None:
    """Raise where somebody has given labels to what was to be judged, in the file that would be replaced or go."""
    from pt_reuse._files import read_file

    lines = read_file(path).splitlines() if path.is_file() else []
    if any(line.split()[-1] != b"-1" for line in lines if line.strip()):
        raise InputError(
            "it has labels in place of -1, which would be lost. Move it, or give another ",
            Option("out", ...),
            ".",
            place=str(path),
            argument="out",
        )


def by_unit(pool: Pool, rest: Pool, by: str) -> pd.DataFrame:
    """Return one row per team, run, type or family, the one with most documents first.

    Returns:
        DataFrame: the unit; its ``runs`` among the contributors; ``documents`` that it contributed, ``unique`` those
        that no other unit did; ``to_judge`` and ``to_judge_unique``, the same of what is to be judged.
    """
    import pandas as pd

    _, units = pool.sole(by)
    columns = {"documents": _contributed(pool, by), "unique": _unique(pool, by)}
    columns |= {"to_judge": _contributed(rest, by), "to_judge_unique": _unique(rest, by)}
    table = pd.DataFrame({units.column: units.names, "runs": units.runs(), **columns})
    return table.sort_values("documents", ascending=False, kind="stable", ignore_index=True)


def in_words(pool: Pool, rest: Pool, judged: set[str] | None) -> str:
    """Return how large the pool is, in all and per topic, and what of it is to be judged.

    Args:
        pool: the pool.
        rest: what of it is to be judged.
        judged: the topics that have judgments; None where no judgments are given.
    """
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


def _contributed(pool: Pool, by: str) -> NDArray[np.int64]:
    """Return (units,): how many documents each unit contributed, in the order of the units of the contributors."""
    import numpy as np

    _, units = pool.sole(by)
    of_row = units.of_run[pool.entries.run]
    pairs = np.unique(pool.entries.document * max(len(units), 1) + of_row)
    return np.bincount(pairs % max(len(units), 1), minlength=len(units))


def _unique(pool: Pool, by: str) -> NDArray[np.int64]:
    import numpy as np

    sole, units = pool.sole(by)
    return np.bincount(sole[sole >= 0], minlength=len(units))
