"""The command line: `pt-reuse lou`, `pt-reuse runs`, `pt-reuse demo`."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from pt_reuse._check import InputError, ReuseWarning, examples
from pt_reuse._files import replacing
from pt_reuse._version import __version__
from pt_reuse.engine.order import ORDERS
from pt_reuse.measures import parse_measures
from pt_reuse.qrels import read_qrels
from pt_reuse.reading import read_runs
from pt_reuse.report.demo import answer, narrate
from pt_reuse.runs import RunSet
from pt_reuse.studies.uniques import LeaveOutUniques, describe, leave_out_uniques

_SHOWN = 12
_TABLES = ("summary.csv", "table.csv", "by_run.csv", "uniques.csv", "settings.json")
#: what errors advise in Python -> the same as options
_OPTIONS = {
    "overwrite=True": "--overwrite", "names='file'": "--names file", "duplicates='best'": "--duplicates best",
    "Give teams= when reading the runs": "Give --teams", "Give types= when reading the runs": "Give --types",
    "by='run'": "--by run", "order='trec_eval'": "--order trec_eval", "order='file'": "--order file",
    "give it to read_qrels": "give it as --qrels", "give it to read_runs": "give it as --runs",
}  # fmt: skip
#: width and height in inches, and what draws into axes
Figure = tuple[float, float, Callable[..., Any]]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\nSee {self.prog} --help.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, or 2 after an error that the user can mend, or 130 after ctrl-C."""
    options = _parser().parse_args(arguments)
    warnings.showwarning = _show_warning
    try:
        options.run(options)
    except InputError as error:
        print(f"pt-reuse: {_in_options(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader of a pipe, such as head, has seen enough
        sys.stderr.close()
        return 0
    except OSError as error:
        print(f"pt-reuse: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("pt-reuse: interrupted; files already written are whole.", file=sys.stderr)
        return 130
    return 0


def _in_options(message: str) -> str:
    """Return an error with what to do said in options of the command line, not in Python."""
    for python, option in _OPTIONS.items():
        message = message.replace(python, option)
    return message


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    parser.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)

    lou = commands.add_parser("lou", help="leave-out-uniques on a field of run files")
    _field_arguments(lou, positional=False)
    lou.add_argument("--qrels", required=True, metavar="FILE", help="the judgments, a TREC qrels file")
    lou.add_argument("--measures", default="AP,nDCG@10", metavar="LIST", help="comma-separated; default AP,nDCG@10")
    lou.add_argument("--by", default="team", metavar="UNIT", help="what to leave out: team (default), run or type")
    lou.add_argument("--depth", default=100, type=int, metavar="K", help="pool depth; default 100")
    lou.add_argument(
        "--remove", default="relevant", metavar="WHAT", help="unique documents to remove: relevant (default) or judged"
    )
    lou.add_argument("--contributors", default="pooled", metavar="WHICH", help="pooled (default) or all")
    lou.add_argument(
        "--out", metavar="DIR", help="write the tables (CSV), the settings (JSON) and the pictures (PNG) there"
    )
    lou.add_argument("--overwrite", action="store_true", help="replace files in --out")
    lou.set_defaults(run=_lou)

    runs = commands.add_parser("runs", help="describe a field of run files")
    _field_arguments(runs, positional=True)
    runs.add_argument("--all", action="store_true", help="one line for every run, however many")
    runs.set_defaults(run=_runs)

    demo = commands.add_parser(
        "demo", help="the main questions, answered on the embedded collection with live pipelines"
    )
    demo.add_argument("--out", metavar="DIR", help="write the tables (CSV) and the pictures (PNG) there")
    demo.add_argument("--overwrite", action="store_true", help="replace files in --out")
    demo.set_defaults(run=_demo)
    return parser


def _field_arguments(parser: argparse.ArgumentParser, *, positional: bool) -> None:
    where = "folder or pattern of TREC run files"
    if positional:
        parser.add_argument("runs", metavar="DIR", help=where)
    else:
        parser.add_argument("--runs", required=True, metavar="DIR", help=where)
    parser.add_argument("--teams", metavar="FILE", help="two columns: run tag and team")
    parser.add_argument("--types", metavar="FILE", help="two columns: run tag and type")
    parser.add_argument("--pooled", metavar="FILE", help="names of the pooled runs, one a line; default all runs")
    parser.add_argument("--metadata", metavar="FILE", help="CSV with name and any of team, type, pooled and others")
    parser.add_argument(
        "--order", default="trec_eval", metavar="ORDER", help=f"one of {', '.join(ORDERS)}; default trec_eval"
    )
    parser.add_argument("--names", default="tag", metavar="FROM", help="name runs by tag (default) or file")
    parser.add_argument(
        "--duplicates", default="error", metavar="WHAT", help="a document twice: error (default) or best"
    )
    parser.add_argument("--cache", metavar="DIR", help="keep the parsed field there for the next time")


def _read(options: argparse.Namespace) -> RunSet:
    return read_runs(
        options.runs, teams=options.teams, types=options.types, pooled=options.pooled, metadata=options.metadata,
        order=options.order, names=options.names, duplicates=options.duplicates,
        cache=options.cache, verbose=sys.stderr.isatty(),
    )  # fmt: skip


def _runs(options: argparse.Namespace) -> None:
    runs = _read(options)
    print(repr(runs))
    _print_table(runs.summary(), len(runs) if options.all else _SHOWN, "runs; --all shows every one")


def _lou(options: argparse.Namespace) -> None:
    measures = parse_measures(_split(options.measures), "--measures")
    if options.out:
        pictures = [f"scores-{measure!r}.png".replace("/", "-") for measure in measures]
        _refuse_existing(Path(options.out), [*_TABLES, *pictures, "uniques.png"], options.overwrite)
    runs, qrels = _read(options), read_qrels(options.qrels)
    print(f"{runs!r}\n{qrels!r}")
    result = leave_out_uniques(
        runs, qrels, measures, by=options.by, depth=options.depth, remove=options.remove,
        contributors=options.contributors, verbose=sys.stderr.isatty(),
    )  # fmt: skip
    _report(result, options)


def _demo(options: argparse.Namespace) -> None:
    _mute_libraries()
    report = answer(lambda text: print(text, flush=True))
    print("\nThe collection was made to teach and to test: its effect sizes are evidence of nothing but itself.")
    tables = {}
    for number, (name, question, table, words) in enumerate(narrate(report), 1):
        print(f"\n{number}. {question}\n")
        _print_table(table, len(table), "rows")
        print(f"\n{words}")
        tables[f"{number}-{name}.csv"] = table.to_csv(index=False)
    if not options.out:
        return
    folder = Path(options.out)
    figures: dict[str, Figure] = {
        "lexical-pool.png": (
            7.6,
            5.0,
            partial(report.partial.plot, "nDCG@10", judgments=("complete judgments", "pool of lexical runs only")),
        ),
        "leave-out-team.png": (7.6, 5.0, partial(report.by_team.plot, "nDCG@10")),
        "uniques-by-type.png": (7.2, 2.6, report.by_type.plot_uniques),
    }
    _refuse_existing(folder, [*tables, *figures], options.overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in tables.items():
        with replacing(folder / name) as file:
            file.write(text.encode("utf-8"))
    drawn = _draw(figures, folder)
    print(f"\nWritten to {folder}: {', '.join([*tables, *drawn])}")


def _mute_libraries() -> None:
    """Keep what C++ libraries write past Python off the screen; Python's own streams go on to it."""
    for descriptor, stream in ((1, "stdout"), (2, "stderr")):
        getattr(sys, stream).flush()
        own = os.fdopen(os.dup(descriptor), "w", encoding="utf-8", errors="backslashreplace")
        setattr(sys, stream, own)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _report(result: LeaveOutUniques, options: argparse.Namespace) -> None:
    print(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    print("\nPer measure (own: each run without the uniques of its own unit; field: all runs re-ranked):")
    _print_table(result.summary, len(result.summary), "measures")
    first = result.scores.measures[0]
    print(f"\nLeaving out one {result.settings['by']} at a time, the whole field by {first}:")
    _print_table(result.table[result.table["measure"] == first], _SHOWN, "units")
    print(f"\n{describe(result)}")
    if options.out:
        folder, figures = Path(options.out), _pictures(result)
        written = [path.name for path in result.save(folder, overwrite=options.overwrite)] + _draw(figures, folder)
        print(f"\nWritten to {folder}: {', '.join(written)}")


def _pictures(result: LeaveOutUniques) -> dict[str, Figure]:
    figures: dict[str, Figure] = {
        f"scores-{measure.replace('/', '-')}.png": (7.6, 5.0, partial(result.plot, measure))
        for measure in result.scores.measures
    }
    n_bars = min(len(result.uniques), 30)
    figures["uniques.png"] = (7.2, 1.4 + 0.24 * max(n_bars, 3), result.plot_uniques)
    return figures


def _draw(figures: Mapping[str, Figure], folder: Path) -> list[str]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        print("No pictures: drawing needs matplotlib; `pip install pt-reuse[plots]` brings it.", file=sys.stderr)
        return []
    for name, (width, height, draw) in figures.items():
        figure = Canvas(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        draw(ax=figure.subplots())
        with replacing(folder / name) as file:
            figure.savefig(file, format="png", dpi=150)
    return list(figures)


def _refuse_existing(folder: Path, names: Sequence[str], overwrite: bool) -> None:
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise InputError(f"--out: {folder} has {examples(there)} already. Pass --overwrite to replace them.")


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


def _print_table(frame: pd.DataFrame, most: int, what: str) -> None:
    shown = frame.head(most).astype(object).where(frame.head(most).notna(), "-")
    print(shown.to_string(index=False, float_format="{:.4f}".format))
    if len(frame) > most:
        print(f"... and {len(frame) - most:,} more {what}")


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    prefix = "note" if issubclass(category, ReuseWarning) else category.__name__
    print(f"pt-reuse: {prefix}: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
