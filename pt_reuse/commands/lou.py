"""`pt-reuse lou`: leave-out-uniques on a field of run files."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from pt_reuse.commands.field import add_field, read_field, read_judgments
from pt_reuse.commands.output import SHOWN, Drawing, draw, print_table, refuse_existing
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.studies.uniques import LeaveOutUniques, in_words, leave_out_uniques

_TABLES = (
    "summary.csv", "table.csv", "by_run.csv", "unique_counts.csv", "scores.run_table.csv", "own_scores.run_table.csv",
    "settings.json", "arrays.npz", "result.json",
)  # fmt: skip


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("lou", help="leave-out-uniques on a field of run files")
    add_field(parser, qrels=True)
    parser.add_argument("--measures", default="AP,nDCG@10", metavar="LIST", help="comma-separated; default AP,nDCG@10")
    parser.add_argument("--by", default="team", metavar="UNIT", help="what to leave out: team (default), run or type")
    parser.add_argument("--depth", default=100, type=int, metavar="K", help="pool depth; default 100")
    parser.add_argument(
        "--remove", default="relevant", metavar="WHAT", help="unique documents to remove: relevant (default) or judged"
    )
    parser.add_argument("--contributors", default="pooled", metavar="WHICH", help="pooled (default) or all")
    parser.add_argument(
        "--out", metavar="DIR", help="write the tables (CSV), the settings (JSON) and the pictures (PNG) there"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files in --out")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    options.check_field(options)
    measures = parse_measures(_split(options.measures))
    if options.out:
        pictures = [f"scores-{measure!r}.png".replace("/", "-") for measure in measures]
        refuse_existing(Path(options.out), [*_TABLES, *pictures, "uniques.png"], options.overwrite)
    runs, qrels = read_field(options), read_judgments(options)
    print(f"{runs!r}\n{qrels!r}")
    result = leave_out_uniques(
        runs, qrels, measures, by=options.by, depth=options.depth, remove=options.remove,
        contributors=options.contributors, verbose=sys.stderr.isatty(),
    )  # fmt: skip
    _report(result, options)


def _report(result: LeaveOutUniques, options: argparse.Namespace) -> None:
    print(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    print("\nPer measure (own: each run without the uniques of its own unit; field: all runs re-ranked):")
    print_table(result.summary, len(result.summary), "measures")
    first = result.scores.measures[0]
    print(f"\nLeaving out one {result.units.by} at a time, the whole field by {first}:")
    print_table(result.table[result.table["measure"] == first], SHOWN, "units")
    print(f"\n{in_words(result)}")
    if options.out:
        folder, figures = Path(options.out), _pictures(result)
        written = [path.name for path in result.save(folder, overwrite=options.overwrite)] + draw(figures, folder)
        print(f"\nWritten to {folder}: {', '.join(written)}")


def _pictures(result: LeaveOutUniques) -> dict[str, Drawing]:
    figures: dict[str, Drawing] = {
        f"scores-{measure.replace('/', '-')}.png": (7.6, 5.0, partial(result.plot, measure))
        for measure in result.scores.measures
    }
    n_bars = min(len(result.unique_counts), 30)
    figures["uniques.png"] = (7.2, 1.4 + 0.24 * max(n_bars, 3), result.plot_uniques)
    return figures


def _split(measures: str) -> list[str]:
    # a comma inside parentheses belongs to a measure: AP(rel=2),P(rel=2,judged_only=True)@10
    parts, depth = [""], 0
    for character in measures:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
