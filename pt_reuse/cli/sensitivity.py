"""`pt-reuse profile sensitivity`: how far the conventions of leave-out-uniques move its figures."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from pt_reuse._check import choice, count
from pt_reuse._choices import USUAL
from pt_reuse._errors import arguments_as
from pt_reuse.cli.common_options import (
    add_contributors,
    add_measures,
    add_removal,
    chosen_contributors,
    chosen_measures,
    picture,
    whole_numbers,
)
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_command, add_out, listed
from pt_reuse.cli.screen import print_table, say, shows_bars

if TYPE_CHECKING:
    from pt_reuse.studies.varied_conventions.varying import Sensitivity

_FILES = ("table.csv", "spans.csv", "figures.csv", "combinations.csv", "settings.json", "result.json")
#: the key figures that are shown and drawn
_SHOWN = ("own_tau_b", "own_max_drop", "field_max_drop", "largest_loss_pct")
#: what the screen shows of a convention -> its heading
_OF_A_CONVENTION = {
    "convention": "convention",
    "lowest": "lowest",
    "highest": "highest",
    "largest_change": "largest change",
    "at": "under",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "sensitivity",
        "how far the conventions of leave-out-uniques move its figures",
        "Leave-out-uniques is run under other values of one convention at a time: the order in which documents are "
        "ranked for scoring, the order of the pool, who contributed to it and how deep, which label is relevant, over "
        "which topics means are, and which uniques are removed.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    add_measures(parser)
    add_removal(parser)
    add_contributors(parser)
    parser.add_argument(
        "--vary", metavar="LIST", help=f"conventions between commas, of: {', '.join(USUAL)}; default all of them"
    )
    parser.add_argument(
        "--depths", type=whole_numbers, metavar="LIST", help="pool depths to try; default half of it and twice that"
    )
    parser.add_argument("--full", action="store_true", help="run every combination, too; --out writes them")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.studies.uniques import check_removal, leave_out_uniques
    from pt_reuse.studies.varied_conventions.varying import sensitivity

    plan = plan_field(options)
    judgments = plan.needed_judgments()
    check_removal(by=options.by, depth=options.depth, remove=options.remove or "relevant", rel=options.rel)
    measures = chosen_measures(options, judgments.rel if options.rel is None else options.rel)
    contributors = chosen_contributors(options, plan.names)
    check_unit_is_given(options.by, plan.columns)
    grid = _grid(options)
    pictures = [picture(figure, repr(measure)) for measure in measures for figure in _SHOWN]
    folder = out_folder(options, [*_FILES, *pictures])
    qrels, runs = judgments.read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    result = sensitivity(
        leave_out_uniques,
        runs,
        qrels,
        measures,
        grid=grid,
        full=options.full,
        by=options.by,
        depth=options.depth,
        remove=options.remove,
        rel=options.rel,
        contributors=contributors,
        verbose=shows_bars(options),
    )
    _report(result)
    if folder is not None:
        drawings: dict[str, Drawing] = {
            picture(figure, measure): partial(result.plot, figure, measure=measure)
            for measure in result.measures
            for figure in _SHOWN
        }
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _grid(options: argparse.Namespace) -> dict[str, Any]:
    """Return the conventions that the options name, and the depths where they list any."""
    from pt_reuse.pooling.depth import checked_depth

    named = USUAL if options.vary is None else [choice("vary", name, USUAL) for name in listed(options.vary)]
    grid: dict[str, Any] = dict.fromkeys(named)
    if options.depths is not None:
        with arguments_as(depth="depths"):
            grid["depth"] = [checked_depth(depth) for depth in options.depths]
    return grid


def _report(result: Sensitivity) -> None:
    from pt_reuse.studies.varied_conventions.varying import in_words

    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    first = result.measures[0]
    for figure in _SHOWN:
        rows = result.of_figure(figure, first)
        if rows.empty:
            continue
        say(f"\n{in_words(figure)} by {first}, {rows['default'].iloc[0]:.6g} at the defaults:")
        shown = rows[list(_OF_A_CONVENTION)].rename(columns=_OF_A_CONVENTION)
        print_table(shown, len(shown), "conventions", numbers="{:.6g}")
    refused = result.combinations[result.combinations["refused"].notna()]
    for row in refused.to_dict("records")[:3]:
        say(f"Refused: {row['refused']}")
    warned = int(result.combinations["warned"].notna().sum())
    if warned:
        say(f"\n{count(warned, 'combination')} came with notes of their own: column warned of combinations.csv.")
    say("--out DIR writes all measures, figures and combinations (CSV).")
    say(f"\n{result.headline()}.")
