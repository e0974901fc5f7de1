"""`pt-reuse compare`: how the ranking of runs changes from one set of judgments to another."""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, examples
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.commands.field import Judgments, add_field, plan_field
from pt_reuse.commands.judgments import QRELS_HELP, judgment_source
from pt_reuse.commands.measures import add_measures, chosen_measures, picture
from pt_reuse.commands.output import Drawing, draw, out_folder
from pt_reuse.commands.parser import Commands, Parser, add_all, add_command, add_out, listed
from pt_reuse.commands.screen import SHOWN, print_table, say, shows_bars
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.scoring.agreement import Agreement
from pt_reuse.scoring.run_scores import score

_FILES = ("agreement.csv", "changes.csv", "per_topic.csv", "settings.json", "result.json")
#: what the screen shows of a measure -> its heading
_OF_A_MEASURE = {
    "measure": "measure",
    "tau_b": "tau_b",
    "tau_ap": "tau_ap",
    "tau_ap_b": "tau_ap_b",
    "gamma": "gamma",
    "max_drop": "largest drop",
    "max_rise": "largest rise",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "compare",
        "how the ranking of runs changes from one set of judgments to another",
        "The ranking by --qrels is taken as right, that by --other as the estimate: a drop is how many ranks a run "
        "loses under --other.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    parser.add_argument("--other", metavar="FILE", required=True, help=f"the other judgments: {QRELS_HELP}")
    parser.add_argument(
        "--judgment-names", metavar="A,B", help="what to call the two; default the names of their files or collections"
    )
    add_measures(parser)
    parser.add_argument("--shared-topics", action="store_true", help="score on the topics that both have")
    parser.add_argument("--colour", metavar="UNIT", help="of the picture: type (default) or team")
    add_all(parser, "run")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    plan = plan_field(options, pooled_matters=False)
    first, second = plan.needed_judgments(), judgment_source(options.other, plan.collection)
    names = _names(options.judgment_names, first.name, second.name)
    rel = first.rel if first.rel == second.rel else None
    measures = chosen_measures(options, rel)
    _check_colour(options.colour, plan.columns)
    pictures = [picture("scores", repr(measure)) for measure in measures]
    folder = out_folder(options, [*_FILES, *pictures])
    both, runs = (first.read(), second.read()), plan.read_runs()
    if options.shared_topics:
        both = _on_shared_topics(*both)
    say(repr(runs))
    for name, qrels in zip(names, both, strict=True):
        say(f"{name}: {qrels!r}")
    _tell_topics(names, *both, shared=options.shared_topics)
    one, other = (score(runs, qrels, measures, verbose=shows_bars(options)) for qrels in both)
    result = one.compare(other, names)
    _report(result, options.all)
    if folder is not None:
        written = [path.name for path in result.save(folder, overwrite=options.overwrite)]
        drawings: dict[str, Drawing] = {
            name: partial(result.plot, measure, by=options.colour)
            for name, measure in zip(pictures, one.measures, strict=True)
        }
        say(f"\nWritten to {folder}: {', '.join([*written, *draw(drawings, folder)])}")


def _report(result: Agreement, every: bool) -> None:
    names = result.names
    say(f"\nAgreement of the rankings by {names[0]} (taken as right) and by {names[1]}:")
    table = result.table[list(_OF_A_MEASURE)].rename(columns=_OF_A_MEASURE)
    print_table(table, len(table), "measures")
    measures = result.table["measure"].tolist()
    moving = result.changes.loc[result.changes["drop"] != 0, "measure"].tolist()
    if moving or every:
        _report_moves(result, moving[0] if moving else measures[0], every)
    say()
    for measure in measures:
        say(in_words(result, measure))


def _report_moves(result: Agreement, measure: str, every: bool) -> None:
    names = result.names
    changes = result.changes[result.changes["measure"] == measure]
    moved = changes.loc[changes["drop"].abs().sort_values(ascending=False, kind="stable").index]
    say(f"\nBy {measure}, the runs that move most first (a drop above 0 is a loss of ranks):")
    shown = pd.DataFrame(
        {
            "name": moved["name"],
            **{column: moved[column] for column in ("team", "type") if moved[column].notna().any()},
            f"score: {names[0]}": moved["score"],
            f"score: {names[1]}": moved["other_score"],
            f"rank: {names[0]}": moved["rank"],
            f"rank: {names[1]}": moved["other_rank"],
            "drop": moved["drop"],
        }
    )
    print_table(shown, len(shown) if every else SHOWN, "runs; --all shows every one", spare=("type", "team"))


def in_words(result: Agreement, measure: str) -> str:
    """Return in a sentence how many runs change their rank by a measure, and which falls and which rises furthest."""
    row = result.table[result.table["measure"] == measure].iloc[0]
    changes = result.changes[result.changes["measure"] == measure]
    if len(changes) > 1 and np.isnan(row["tau_b"]):
        # a warning has told whose scores tie
        return f"{measure}: no ranking to compare."
    n_moved = int((changes["drop"] != 0).sum())
    if not n_moved:
        return f"{measure}: no run changes its rank."
    parts = []
    for word, most in (("falls", changes["drop"].max()), ("rises", changes["drop"].min())):
        if most * (1 if word == "falls" else -1) > 0:
            run = changes[changes["drop"] == most].sort_values("rank", kind="stable").iloc[0]
            parts.append(
                f"{run['name']!r} {word} furthest, by {count(abs(int(most)), 'rank')} (from {run['rank']} to "
                f"{run['other_rank']})"
            )
    verb = "changes its rank" if n_moved == 1 else "change their rank"
    return (
        f"{measure}: {n_moved:,} of {count(len(changes), 'run')} {verb} (tau_b {row['tau_b']:.4f}); {', '.join(parts)}."
    )


def _check_colour(colour: str | None, columns: set[str]) -> None:
    if colour is not None and choice("colour", colour, ("type", "team")) not in columns:
        raise InputError(
            Option("colour", colour),
            f" needs the {colour}s of runs, and no run has one. Give ",
            Option(f"{colour}s", ...),
            ".",
            argument="colour",
        )


def _names(text: str | None, first: str, second: str) -> tuple[str, str]:
    if text is None:
        return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")
    names = listed(text)
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(
            Argument("judgment_names"),
            f" must be two names with a comma between them, such as complete,pool, got {text!r}.",
            argument="judgment_names",
        )
    return names[0], names[1]


def _on_shared_topics(first: Qrels, second: Qrels) -> tuple[Qrels, Qrels]:
    there = set(second.topics)
    shared = [topic for topic in first.topics if topic in there]
    if not shared:
        raise InputError(
            f"the two have no topic in common: {examples(first.topics)}; {examples(second.topics)}.", argument="other"
        )
    return first.select(shared), second.select(shared)


def _tell_topics(names: tuple[str, str], first: Qrels, second: Qrels, *, shared: bool) -> None:
    if shared:
        say(f"Scored on the {count(len(first.topics), 'topic')} that both have.")
    elif set(first.topics) != set(second.topics):
        say(
            f"The topics differ: {names[0]} has {len(first.topics):,}, {names[1]} has {len(second.topics):,}, "
            f"{len(set(first.topics) & set(second.topics)):,} of them in common. Each mean is over all topics of its "
            "own judgments; --shared-topics scores both on those in common."
        )
    else:
        say(f"Each mean is over {count(len(first.topics), 'topic')}; one that a run lacks counts 0.")
