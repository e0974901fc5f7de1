"""`pt-reuse profile stability`: how often other topics would turn a comparison of two runs round."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import fraction
from pt_reuse._choices import USUAL_RATE
from pt_reuse.cli.common_options import add_intervals, add_measures, chosen_measures, drawn, picture, whole_amounts
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.judgments import QRELS_HELP, different_names, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_command, add_jobs, add_out
from pt_reuse.cli.screen import print_table, say, shows_bars

if TYPE_CHECKING:
    from pt_reuse.studies.swap_rates import Stability

_FILES = ("table.csv", "differences.csv", "topics.csv", "settings.json", "result.json")


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "stability",
        "how often other topics would turn a comparison of two runs round",
        "Two samples of topics are drawn many times. A swap is a pair of runs that the second sample orders the other "
        "way round than the first. The rate of swaps is told by how far the first sample has the two apart, in bins, "
        "and by how many topics a sample has.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    parser.add_argument("--other", metavar="FILE", help=f"other judgments, to compare with: {QRELS_HELP}")
    add_measures(parser)
    parser.add_argument(
        "--sizes",
        type=whole_amounts,
        metavar="LIST",
        help="topics of a sample; default 5,10,... up to all topics, 50 sizes at most",
    )
    parser.add_argument(
        "--pairs", type=int, default=5000, metavar="N", help="pairs of samples of each size; default 5000"
    )
    parser.add_argument(
        "--bin-width", type=float, default=0.01, metavar="D", help="of the differences, in scores; default .01"
    )
    parser.add_argument(
        "--bins", type=int, default=21, metavar="N", help="how many; the last holds all larger differences; default 21"
    )
    parser.add_argument(
        "--no-replace", action="store_true", help="two samples share no topic; default: drawn with replacement"
    )
    parser.add_argument(
        "--rate", type=float, default=USUAL_RATE, metavar="R", help="the largest swap rate that is wanted; default .05"
    )
    parser.add_argument("--own-topics", action="store_true", help="means over the topics that a run has")
    add_intervals(parser)
    add_jobs(parser, "jobs")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.scoring.run_scores import score
    from pt_reuse.studies.swap_rates import check_stability, stability

    plan = plan_field(options, pooled_matters=False)
    sources = [plan.needed_judgments()]
    if options.other is not None:
        sources.append(judgment_source(options.other, plan.collection))
    names = different_names(sources)
    rels = {source.rel for source in sources}
    measures = chosen_measures(options, rels.pop() if len(rels) == 1 else None)
    wanted = fraction("rate", options.rate, ends=False)
    how = {
        "sizes": options.sizes,
        "pairs": options.pairs,
        "bin_width": options.bin_width,
        "bins": options.bins,
        "replace": not options.no_replace,
        **drawn(options),
        "n_jobs": options.jobs,
        "verbose": shows_bars(options),
    }
    check_stability(**how)
    pictures = {
        (measure, number): picture("swaps" if len(names) == 1 else f"swaps-{number}", repr(measure))
        for measure in measures
        for number in range(1, len(names) + 1)
    }
    folder = out_folder(options, [*_FILES, *pictures.values()])
    judged = [source.read() for source in sources]
    runs = plan.read_runs()
    say(repr(runs))
    for name, qrels in zip(names, judged, strict=True):
        say(f"{name}: {qrels!r}")
    fields = {
        name: score(runs, qrels, measures, complete=not options.own_topics, verbose=shows_bars(options))
        for name, qrels in zip(names, judged, strict=True)
    }
    result = stability(fields, **how)
    _report(result, wanted)
    if folder is not None:
        drawings: dict[str, Drawing] = {
            file: partial(result.plot, measure, judgments=names[number - 1])
            for (measure, number), file in pictures.items()
        }
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _report(result: Stability, wanted: float) -> None:
    import pandas as pd

    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    needed = result.differences_needed(wanted)
    several = len(result.judgments) > 1
    for measure in result.measures:
        rows = needed[needed["measure"] == measure]
        say(
            f"\nBy {measure}, for each number of topics: how often another sample turns a pair round, from which "
            f"difference on at most {100 * wanted:g} % of the pairs of every bin are, and how many are so far apart:"
        )
        shown = pd.DataFrame(
            {
                **({"judgments": rows["judgments"]} if several else {}),
                "topics": rows["size"],
                "swap rate": rows["rate"],
                "difference needed": rows["difference"],
                "share of pairs": rows["share"],
            }
        )
        print_table(shown, len(shown), "sizes")
    topics = result.topics_needed(wanted)
    topics = topics[(topics["measure"] == result.measures[0]) & topics["topics"].notna()]
    # from the first difference on that the smallest samples tell apart, they tell all
    done = topics["topics"] == result.table["size"].min()
    topics = topics[~(done & done.groupby(topics["judgments"]).shift(1, fill_value=False))]
    if len(topics):
        say(
            f"\nBy {result.measures[0]}, how many topics it takes for at most {100 * wanted:g} % swaps, by the "
            "difference; where none of the samples is large enough, by a curve fitted to the rates:"
        )
        shown = pd.DataFrame(
            {
                **({"judgments": topics["judgments"]} if several else {}),
                "difference from": topics["at_least"],
                "topics": topics["topics"].astype(int),
                "how": topics["extrapolated"].map({True: "extrapolated", False: "measured"}),
            }
        )
        print_table(shown, len(shown), "bins")
    if "rate_low" in result.table:
        say("\nThe intervals are of the rate of each bin: in table.csv and in the pictures, which --out DIR writes.")
    say(f"\n{result.headline()}")
