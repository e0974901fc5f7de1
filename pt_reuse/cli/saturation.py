"""`pt-reuse profile saturation`: topics on which most runs have the highest score."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import fraction
from pt_reuse._errors import located
from pt_reuse.cli.common_options import picture
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, listed
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars

if TYPE_CHECKING:
    import ir_measures

    from pt_reuse.studies.score_saturation import Saturation

_FILES = (
    "table.csv", "summary.csv", "scores.run_table.csv", "settings.json", "arrays.npz", "result.json",
)  # fmt: skip
#: what the screen shows of a topic -> its heading
_OF_A_TOPIC = {
    "qid": "topic",
    "median": "median",
    "low_quartile": "low quartile",
    "high_quartile": "high quartile",
    "highest": "highest",
    "at_maximum": "runs at the maximum",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "saturation",
        "topics on which most runs have the highest score",
        "A topic is saturated under a measure where the median score over the runs is the highest possible one: it "
        "tells the better half of the runs apart no more.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    parser.add_argument(
        "--measures",
        metavar="LIST",
        help="comma-separated; default P@10,nDCG@10, and P(rel=2)@10 where documents are relevant from label 2",
    )
    parser.add_argument(
        "--share", type=float, default=0.9, metavar="S", help="share of the maximum that is near it; default .9"
    )
    parser.add_argument(
        "--maximum", type=float, default=1.0, metavar="M", help="highest possible score of the measures; default 1"
    )
    add_all(parser, "topic")
    add_out(parser, "the tables (CSV), the settings (JSON) and a picture of each measure (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.scoring.run_scores import score
    from pt_reuse.studies.score_saturation import checked_maximum, saturation

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    measures = _measures(options, judgments.rel)
    fraction("share", options.share)
    checked_maximum(options.maximum)
    pictures = {picture("saturation", repr(measure)): repr(measure) for measure in measures}
    folder = out_folder(options, [*_FILES, *pictures])
    qrels, runs = judgments.read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    scores = score(runs, qrels, measures, verbose=shows_bars(options))
    result = saturation(scores, share=options.share, maximum=options.maximum)
    _report(result, options.all)
    if folder is not None:
        drawings: dict[str, Drawing] = {name: partial(result.plot, measure) for name, measure in pictures.items()}
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _measures(options: argparse.Namespace, rel: int | None) -> list[ir_measures.Measure]:
    from ir_measures import P

    from pt_reuse.scoring.caveats import usual_measures
    from pt_reuse.scoring.run_scores import checked_measures

    if options.measures is None:
        return usual_measures(rel, P @ 10)
    with located("--measures"):
        return checked_measures(listed(options.measures))


def _report(result: Saturation, every: bool) -> None:
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    level = f"{result.share * result.maximum:g}"
    say(f"\nTopics whose median score is {result.maximum:g} (saturated), or at least {level} (near):")
    summary = result.summary[["measure", "topics", "saturated", "near", "mean_median"]]
    print_table(summary.rename(columns={"mean_median": "mean median"}), len(summary), "measures")
    first = result.scores.measures[0]
    say(f"\nPer topic, {first} over the runs, the highest median first:")
    rows = result.table[result.table["measure"] == first]
    rows = rows.sort_values(["median", "mean"], ascending=False, kind="stable", na_position="last")
    shown = rows[list(_OF_A_TOPIC)].rename(columns=_OF_A_TOPIC)
    print_table(shown, len(shown) if every else SHOWN, "topics; --all shows every one")
    say(f"\n{result.headline()}.")
