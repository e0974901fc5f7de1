"""`pt-reuse profile subcollections`: do the runs differ alike on parts of the corpus?"""

from __future__ import annotations

import argparse
import re
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._choices import CORRECTION, CORRECTIONS, SAMPLES, TESTS
from pt_reuse._errors import Argument, InputError
from pt_reuse.cli.common_options import add_intervals, add_measures, budgets, chosen_measures, drawn, picture
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_jobs, add_out, add_rel, listed
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars

if TYPE_CHECKING:
    from pt_reuse.studies.corpus_parts.splitting import Subcollections

_FILES = (
    "table.csv", "by_pair.csv", "between_measures.csv", "by_part.csv", "parts.csv", "settings.json", "arrays.npz",
    "result.json",
)  # fmt: skip
#: what the screen shows of a mean over pairs of parts -> its heading; settings stand before where they are fixed
_OF_A_MEASURE = {
    "measure": "measure",
    "part_pairs": "pairs of parts",
    "agree": "agree-SSa",
    "agree_se": "SE",
    "active": "active",
    "passive": "passive",
    "tau_b": "tau_b",
}
_SETTING = {"source": "source", "share": "share", "size": "documents", "other_size": "of the other"}
_OF_A_PAIR = {
    "part": "part", "other_part": "other part", "ss_a": "SS_a", "ss_d": "SS_d", "sn": "SN", "ns": "NS", "nn": "NN",
    "agree": "agree-SSa", "tau_b": "tau_b",
}  # fmt: skip


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "subcollections",
        "whether the same runs differ significantly on parts of the corpus",
        "Documents that are not relevant are split, by source or at random, and each part gets all relevant ones back. "
        "The runs and the judgments are restricted to each part, every pair of runs is tested on it, and it is counted "
        "on which pairs two parts agree.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    add_measures(parser)
    parser.add_argument(
        "--sources",
        metavar="LIST",
        help="comma-separated prefixes of docnos, each a source (FBIS,FT,LA); default the letters a docno begins with",
    )
    parser.add_argument(
        "--source-pattern", metavar="REGEX", help="instead of a list: an expression whose first group is the source"
    )
    parser.add_argument(
        "--how", default="source", metavar="HOW", help="how to split: source (default), random or mixed"
    )
    parser.add_argument(
        "--sizes",
        type=budgets,
        metavar="LIST",
        help="documents drawn for a part: whole numbers, or shares of all (.1,.25); default those of the sources",
    )
    parser.add_argument(
        "--shares", type=budgets, metavar="LIST", help="of a mixed part that come from one source; default the quarters"
    )
    parser.add_argument("--repeats", type=int, default=10, metavar="N", help="how often to draw; default 10")
    parser.add_argument(
        "--relevant", default="all", metavar="WHAT", help="which relevant documents a part has: all (default) or own"
    )
    add_rel(parser)
    parser.add_argument(
        "--test", default="t", metavar="TEST", help=f"of two runs, one of {', '.join(TESTS)}; default t, paired"
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, metavar="P", help="p-values up to it are significant; default .05"
    )
    parser.add_argument(
        "--correction",
        default=CORRECTION,
        metavar="WHAT",
        help=f"for the number of pairs, one of {', '.join(CORRECTIONS)}; default none",
    )
    parser.add_argument(
        "--samples", type=int, default=SAMPLES, metavar="N", help=f"of tests that draw at random; default {SAMPLES:,}"
    )
    add_intervals(parser)
    add_jobs(parser, "parts")
    add_all(parser, "pair of parts")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.studies.corpus_parts.sources import checked_drawing, source_rule
    from pt_reuse.studies.corpus_parts.splitting import check_splitting, checked_testing, subcollections

    plan = plan_field(options)
    judgments = plan.needed_judgments()
    sources = _sources(options)
    source_rule(sources)
    how = {name: getattr(options, name) for name in ("how", "sizes", "shares", "repeats")}
    checked_drawing(**how, seed=options.seed)
    settled = {name: getattr(options, name) for name in ("test", "alpha", "correction", "samples")}
    tested = {**settled, **drawn(options)}
    checked_testing(**tested)
    further = {"relevant": options.relevant, "rel": options.rel, "n_jobs": options.jobs}
    check_splitting(**further)
    measures = chosen_measures(options, judgments.rel if options.rel is None else options.rel)
    pictures = [picture("agree", repr(measure)) for measure in measures]
    folder = out_folder(options, [*_FILES, *pictures])
    qrels, runs = judgments.read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    result = subcollections(
        runs, qrels, measures, sources=sources, verbose=shows_bars(options), **how, **tested, **further
    )
    _report(result, every=options.all)
    if folder is not None:
        drawings: dict[str, Drawing] = {
            name: partial(result.plot, measure=measure) for name, measure in zip(pictures, result.measures, strict=True)
        }
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _sources(options: argparse.Namespace) -> list[str] | re.Pattern[str] | None:
    """Return what says which source a document comes from, None for the letters of its docno."""
    if options.source_pattern is None:
        return None if options.sources is None else listed(options.sources)
    if options.sources is not None:
        raise InputError(
            Argument("sources"),
            " and ",
            Argument("source_pattern"),
            " say the same thing. Give one.",
            argument="sources",
        )
    try:
        return re.compile(options.source_pattern)
    except re.error as error:
        problem = f" is no regular expression: {error}."
        raise InputError(Argument("source_pattern"), problem, argument="source_pattern") from error


def _report(result: Subcollections, *, every: bool) -> None:
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    n = len(result.parts)
    say("\nThe parts (documents drawn, and judgments with those of the documents that every part has):")
    shown = result.parts[["part", "draw", "drawn", "judged", "topics", "per_list"]]
    print_table(
        shown.rename(columns={"per_list": "documents in a list"}), n if every else SHOWN, "parts; --all shows every one"
    )
    say(
        "\nOf two parts, the share of significant pairs of runs that are significant on both with the same winner "
        "(agree-SSa), with opposite winners (active) or on one alone (passive); means over pairs of parts:"
    )
    fixed = {name: heading for name, heading in _SETTING.items() if result.table[name].notna().any()}
    columns = {**fixed, **_OF_A_MEASURE}
    print_table(
        result.table[list(columns)].rename(columns=columns),
        len(result.table),
        "rows",
        spare=("SE", "active", "passive"),
    )
    if not fixed:
        first = result.measures[0]
        rows = result.by_pair[result.by_pair["measure"] == first]
        say(f"\nEach two parts by {first} (SS_a, SS_d, SN, NS, NN: pairs of runs):")
        of_pair = rows[list(_OF_A_PAIR)].rename(columns=_OF_A_PAIR)
        print_table(of_pair, len(rows) if every else SHOWN, "pairs of parts; --all shows every one", spare=("NN",))
    if len(result.between_measures):
        say("\nOf two measures on the same part, means over parts:")
        wanted = ["measure", "other_measure", "parts", "agree", "active", "passive", "tau_b"]
        shown = result.between_measures[wanted].rename(columns={"agree": "agree-SSa", "other_measure": "other measure"})
        print_table(shown, len(shown), "pairs of measures")
    say("\n--out DIR writes all columns and rows (CSV).")
    say(f"\n{result.headline()}")
