"""`pt-reuse profile discriminative-power`: which share of the pairs of runs a measure tells apart."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import checked_jobs, checked_seed, fraction, positive
from pt_reuse._choices import CORRECTION, CORRECTIONS, SAMPLES, TESTS
from pt_reuse.cli.common_options import add_measures, chosen_measures, picture
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.judgments import QRELS_HELP, different_names, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars

if TYPE_CHECKING:
    from pt_reuse.studies.significant_pairs import DiscriminativePower

_FILES = ("table.csv", "against_first.csv", "changed.csv", "pairs.csv", "settings.json", "result.json")
#: what the screen shows of a measure and a set of judgments -> its heading
_SHOWN = {
    "judgments": "judgments",
    "measure": "measure",
    "pairs": "pairs",
    "significant": "significant",
    "power": "power",
    "always_significant_from": "always from",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "discriminative-power",
        "which share of the pairs of runs differ significantly",
        "Each pair of runs is tested over topics, by each measure; with --other under these judgments, too, and the "
        "pairs are counted whose verdict changes.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    parser.add_argument("--other", metavar="FILE", help=f"other judgments, to be held against --qrels: {QRELS_HELP}")
    add_measures(parser)
    parser.add_argument("--test", default="t", metavar="TEST", help=f"one of {', '.join(TESTS)}; default t")
    parser.add_argument("--alpha", type=float, default=0.05, metavar="P", help="level of significance; default .05")
    parser.add_argument(
        "--correction",
        default=CORRECTION,
        metavar="WHAT",
        help=f"for the number of pairs, one of {', '.join(CORRECTIONS)}; default {CORRECTION}",
    )
    parser.add_argument(
        "--samples", type=int, default=SAMPLES, metavar="N", help=f"of tests that draw at random; default {SAMPLES:,}"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what they draw; default 0")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="how many measures at a time, -1 for all cores; default 1"
    )
    add_all(parser, "pair that changes")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.arrays.significance import check_test
    from pt_reuse.scoring.run_scores import score
    from pt_reuse.studies.significant_pairs import discriminative_power

    plan = plan_field(options, pooled_matters=False)
    sources = [plan.needed_judgments()]
    if options.other is not None:
        sources.append(judgment_source(options.other, plan.collection))
    check_test(options.test, options.correction)
    fraction("alpha", options.alpha, ends=False)
    positive("samples", options.samples, "draws")
    checked_seed(options.seed)
    checked_jobs(options.jobs)
    names = different_names(sources)
    rels = {source.rel for source in sources}
    measures = chosen_measures(options, rels.pop() if len(rels) == 1 else None)
    pictures = [picture("levels", repr(measure)) for measure in measures]
    folder = out_folder(options, [*_FILES, *pictures])
    judgments, runs = [source.read() for source in sources], plan.read_runs()
    say(repr(runs))
    for name, qrels in zip(names, judgments, strict=True):
        say(f"{name}: {qrels!r}")
    scores = {
        name: score(runs, qrels, measures, verbose=shows_bars(options))
        for name, qrels in zip(names, judgments, strict=True)
    }
    result = discriminative_power(
        scores,
        test=options.test,
        alpha=options.alpha,
        correction=options.correction,
        samples=options.samples,
        seed=options.seed,
        n_jobs=options.jobs,
        verbose=shows_bars(options),
    )
    _report(result, options.all)
    if folder is not None:
        drawings: dict[str, Drawing] = {
            name: partial(result.plot, measure) for name, measure in zip(pictures, result.measures, strict=True)
        }
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _report(result: DiscriminativePower, every: bool) -> None:
    import pandas as pd

    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    say('\nPairs of runs that differ significantly; from "always from" on, every difference is significant:')
    print_table(result.table[list(_SHOWN)].rename(columns=_SHOWN), len(result.table), "rows")
    if len(result.judgments) == 1:
        return
    first, other = result.judgments
    say(f"\nPairs by what becomes of the verdict by {first} under {other}:")
    counted = result.against_first.drop(columns="judgments")
    print_table(counted, len(counted), "measures")
    moved = result.changed.drop(columns="judgments")
    if len(moved):
        say(f'\nThe pairs that change (p is corrected, "other" is by {other}):')
        shown = moved.rename(columns={"p_corrected": "p", "other_p_corrected": "other p"})
        shown = shown.rename(columns={"other_difference": "other difference"})
        shown[["p", "other p"]] = shown[["p", "other p"]].map(_small)
        print_table(pd.DataFrame(shown), len(shown) if every else SHOWN, "pairs; --all shows every one")


def _small(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"
