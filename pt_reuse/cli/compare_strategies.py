"""`pt-reuse judge compare-strategies`: what ways of judging find, and what their judgments say of the runs."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import choice
from pt_reuse._choices import FIXED, LEARNING
from pt_reuse.cli.common_options import (
    add_contributors,
    add_measures,
    budgets,
    chosen_contributors,
    chosen_measures,
    picture,
)
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_command, add_jobs, add_out, add_rel, listed
from pt_reuse.cli.screen import print_table, say, shows_bars

if TYPE_CHECKING:
    from pt_reuse.pooling.adaptive.strategy import Strategy
    from pt_reuse.studies.strategy_comparison.comparing import StrategyComparison

_FILES = (
    "table.csv", "by_seed.csv", "curve.csv", "groups.csv", "left_out.csv", "settings.json", "result.json",
)  # fmt: skip
#: strategies by name, in the order of the help
_STRATEGIES = (*LEARNING, *FIXED)
#: the picture of what is found, and the beginning of the name of that of the ranking by a measure
_FOUND, _RANKING = "relevant.png", "tau_b"
#: what the screen shows of a strategy at a budget -> its heading
_OF_A_STRATEGY = {
    "strategy": "strategy",
    "recall": "found",
    "tau_b": "tau_b",
    "tau_b_low": "lowest tau_b",
    "tau_b_high": "highest tau_b",
    "max_drop": "largest drop",
}
#: and of what leaving out a unit does to its judgments
_LEFT_OUT = {
    "strategy": "strategy",
    "own_tau_b": "own tau_b",
    "alone_max_drop": "own largest drop",
    "largest_loss_pct": "largest loss (%)",
    "field_max_drop": "field largest drop",
    "field_worst": "by leaving out",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "compare-strategies",
        "what ways of choosing documents to judge would have found, and how they would rank the runs",
        "Each strategy asks for documents of the pool, topic by topic, and the judgments answer. At each budget it is "
        "counted how many relevant documents were found, and the runs are ranked by the judgments that there would "
        "have been, and by all judgments.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    parser.add_argument(
        "--strategies", metavar="LIST", help=f"comma-separated, of: {', '.join(_STRATEGIES)}; default all of them"
    )
    parser.add_argument(
        "--budgets",
        type=budgets,
        default=[0.01, 0.05, 0.1, 0.25, 0.5],
        metavar="LIST",
        help="shares of each topic's judged pool (.1,.25), or whole numbers of judgments per topic (10,50); default "
        ".01,.05,.1,.25,.5",
    )
    add_measures(parser)
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 100")
    add_rel(parser)
    add_contributors(parser)
    parser.add_argument(
        "--leave-out",
        metavar="UNIT",
        help="also leave out every team, type, family or run in turn, and say what that does to the runs",
    )
    parser.add_argument(
        "--repeats", type=int, default=5, metavar="N", help="how many seeds; numbers are means over these; default 5"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first of them; default 0")
    add_jobs(parser, "topics")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.studies.strategy_comparison.built import checked_budgets
    from pt_reuse.studies.strategy_comparison.comparing import check_comparing, compare_strategies

    plan = plan_field(options)
    judgments = plan.needed_judgments()
    strategies = _strategies(options.strategies)
    checked_budgets(options.budgets)
    check_comparing(
        depth=options.depth,
        rel=options.rel,
        leave_out=options.leave_out,
        repeats=options.repeats,
        seed=options.seed,
        n_jobs=options.jobs,
    )
    measures = chosen_measures(options, judgments.rel if options.rel is None else options.rel)
    contributors = chosen_contributors(options, plan.names)
    if options.leave_out is not None:
        check_unit_is_given(options.leave_out, plan.columns, argument="leave_out")
    pictures = [picture(_RANKING, repr(measure)) for measure in measures]
    folder = out_folder(options, [*_FILES, _FOUND, *pictures])
    qrels, runs = judgments.read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    result = compare_strategies(
        runs,
        qrels,
        strategies,
        budgets=options.budgets,
        measures=measures,
        depth=options.depth,
        contributors=contributors,
        rel=options.rel,
        leave_out=options.leave_out,
        repeats=options.repeats,
        seed=options.seed,
        n_jobs=options.jobs,
        verbose=shows_bars(options),
    )
    _report(result, options.leave_out)
    if folder is not None:
        drawings: dict[str, Drawing] = {_FOUND: result.plot}
        drawings |= {
            name: partial(result.plot, "tau_b", measure=measure)
            for name, measure in zip(pictures, result.measures, strict=True)
        }
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _strategies(text: str | None) -> list[Strategy]:
    from pt_reuse.studies.strategy_comparison.comparing import checked_strategies

    if text is None:
        return checked_strategies(None)
    names = [choice("strategies", name, _STRATEGIES, most=len(_STRATEGIES)) for name in listed(text)]
    return checked_strategies(names)


def _report(result: StrategyComparison, unit: str | None) -> None:
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    first = result.measures[0]
    rows = result.table[result.table["measure"] == first]
    say(
        f"\nPer budget, the strategy that finds most first (found: share of the pool's relevant documents; tau_b and "
        f"largest drop: of the ranking by {first} against that by all judgments; means over seeds, with the lowest and "
        "the highest tau_b):"
    )
    for budget, at in rows.groupby("budget"):
        best_first = at.sort_values("recall", ascending=False, kind="stable")
        say(f"\nAt {result.said(budget)}, {_judged(best_first['judged'].iloc[0])}:")
        shown = best_first[list(_OF_A_STRATEGY)].rename(columns=_OF_A_STRATEGY)
        print_table(shown, len(shown), "strategies", spare=("lowest tau_b", "highest tau_b"))
    if unit is not None:
        _report_left_out(result, unit, first)
    say("\n--out DIR writes all measures, columns and rows (CSV).")
    say(f"\n{result.headline()}")


def _report_left_out(result: StrategyComparison, unit: str, measure: str) -> None:
    rows = result.left_out[result.left_out["measure"] == measure]
    say(
        f"\nBy {measure}, each run judged without what its own {unit} alone would have had judged (own), and the whole "
        f"field ranked anew without one {unit} (field); by the first seed:"
    )
    for budget, at in rows.groupby("budget"):
        say(f"\nAt {result.said(budget)}:")
        shown = at[list(_LEFT_OUT)].rename(columns=_LEFT_OUT)
        print_table(shown, len(shown), "strategies", spare=("by leaving out", "own largest drop"))


def _judged(n: float) -> str:
    return f"{n:,.0f} judgments in all"
