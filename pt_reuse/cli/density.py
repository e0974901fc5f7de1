"""`pt-reuse profile density`: which share of what was judged is relevant."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pt_reuse._errors import Argument, InputError, located
from pt_reuse.cli.common_options import add_contributors, chosen_contributors, whole_amounts
from pt_reuse.cli.field import Judgments, add_field, collection_of, plan_field
from pt_reuse.cli.judgments import JudgmentSource, judgment_source
from pt_reuse.cli.output import out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, add_rel, listed
from pt_reuse.cli.screen import SHOWN, print_table, say

if TYPE_CHECKING:
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.studies.relevant_density import Density

_PICTURE = "density.png"
_FILES = ("table.csv", "rounds.csv", "summary.csv", "settings.json", "result.json", _PICTURE)
#: what the screen shows of a round -> its heading
_OF_A_ROUND = {
    "round": "round",
    "judgments": "judgments",
    "per_topic": "per topic",
    "relevant": "relevant",
    "mean_density": "mean density",
    "largest_density": "largest",
    "above_third": "above 1/3",
    "above_half": "above 1/2",
}
_OF_A_TOPIC = {"qid": "topic", "judged": "judged", "relevant": "relevant", "density": "density"}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "density",
        "which share of what was judged is relevant, topic by topic",
        "The relevant density of a topic is relevant / judged. Above 1/3, what nobody judged may not be taken for not "
        "relevant; above 1/2, more of what is judged is relevant than is not.",
        "The rounds of judging are those of --rounds, those of a column of the judgments, or pools of --depths.",
    )
    add_field(parser, qrels=Judgments.NEEDED, unless=_has_judgments_alone)
    parser.add_argument(
        "--rounds", metavar="FILES", help="judgments of several rounds in order, files between commas, for --qrels"
    )
    parser.add_argument(
        "--depths",
        type=whole_amounts,
        metavar="LIST",
        help="depths between commas of pools of the runs, which stand for rounds; needs --runs or --collection",
    )
    add_rel(parser)
    add_contributors(parser)
    add_all(parser, "topic")
    add_out(parser, "the tables (CSV), the settings (JSON) and the picture (PNG)")
    parser.set_defaults(run=_run)
    return parser


@dataclass(frozen=True)
class _Read:
    """What was read.

    Attributes:
        judgments: a Qrels, or a dict of round -> Qrels.
        runs: the runs whose pools are rounds; None for none.
        contributors: which of them are pooled.
    """

    judgments: Any
    runs: RunSet | None
    contributors: str | list[str]


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.judgments import checked_rel
    from pt_reuse.studies.judging_rounds import checked_depths
    from pt_reuse.studies.relevant_density import density

    checked_rel(options.rel)
    depths = None if options.depths is None else checked_depths(options.depths)
    folder = out_folder(options, _FILES)
    read = _read(options)
    result = density(
        read.judgments,
        runs=read.runs,
        depths=depths,
        rel=options.rel,
        contributors=read.contributors,
    )
    _report(result, options.all)
    if folder is not None:
        written = write_result(result, folder, options, {_PICTURE: result.plot})
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _has_judgments_alone(options: argparse.Namespace) -> bool:
    return options.rounds is not None or (options.runs is None and options.depths is None)


def _read(options: argparse.Namespace) -> _Read:
    if options.rounds is not None:
        _check_alone(options)
        sources = [judgment_source(text) for text in listed(options.rounds)]
        if not sources:
            raise InputError(Argument("rounds"), " names no file.", argument="rounds")
        names = [source.name for source in sources]
        sets = {}
        for n, source in enumerate(sources, 1):
            name = source.name if names.count(source.name) == 1 else f"{source.name} ({n})"
            with located(name):
                sets[name] = source.read()
            say(f"{name}: {sets[name]!r}")
        return _Read(sets, None, "pooled")
    if options.runs is None and options.depths is None:
        _check_no_pools(options)
        qrels = _judgments(options).read()
        say(f"{qrels!r}")
        return _Read(qrels, None, "pooled")
    plan = plan_field(options)
    contributors = chosen_contributors(options, plan.names)
    qrels, runs = plan.needed_judgments().read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    return _Read(qrels, runs, contributors)


def _check_alone(options: argparse.Namespace) -> None:
    _check_no_pools(options)
    beside = [name for name in ("qrels", "runs", "collection", "depths") if getattr(options, name) is not None]
    if beside:
        raise InputError(
            Argument("rounds"),
            " are the judgments and the rounds; beside them ",
            Argument(beside[0]),
            " has no place. Give one of the two.",
            argument="rounds",
        )


def _check_no_pools(options: argparse.Namespace) -> None:
    """Raise where somebody says how runs are pooled, and wants no pools."""
    given = {"contributors": options.contributors != "pooled", "pool_order": options.pool_order is not None}
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(
            Argument(name), " says how runs are pooled. Give ", Argument("depths"), " of pools as well.", argument=name
        )


def _judgments(options: argparse.Namespace) -> JudgmentSource:
    """Return where the judgments are, for a call without runs."""
    collection = None if options.collection is None else collection_of(options.collection)
    if options.qrels is not None:
        return judgment_source(options.qrels, collection)
    if collection is None:
        raise InputError(
            "no judgments are named. Give ", Argument("qrels"), " or ", Argument("rounds"), ".", argument="qrels"
        )
    return JudgmentSource(None, collection)


def _report(result: Density, every: bool) -> None:
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    say("\nAfter each round (topics above a density of 1/3, of 1/2):")
    rounds = result.summary[list(_OF_A_ROUND)].assign(per_topic=result.summary["per_topic"].map("{:.1f}".format))
    print_table(rounds.rename(columns=_OF_A_ROUND), len(rounds), "rounds")
    say("\nPer topic, the densest first:")
    rows = result.table.sort_values("density", ascending=False, kind="stable", na_position="last")
    shown = rows[list(_OF_A_TOPIC)].rename(columns=_OF_A_TOPIC)
    print_table(shown, len(shown) if every else SHOWN, "topics; --all shows every one")
    say(f"\n{result.headline()}.")
