"""`pt-reuse compare`: how the ranking of runs changes from one set of judgments to another."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import choice, count
from pt_reuse._errors import Argument, InputError, Option, arguments_as, located
from pt_reuse.cli.common_options import add_intervals, add_measures, chosen_measures, drawn, picture
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.judgments import QRELS_HELP, JudgmentSource, different_names, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import (
    Commands,
    Parser,
    add_all,
    add_command,
    add_judge_rel,
    add_out,
    given_judge_rel,
    listed,
)
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars

if TYPE_CHECKING:
    import ir_measures

    from pt_reuse.studies.judgment_comparison.comparison import JudgmentComparison

_FILES = (
    "agreement.csv", "changes.csv", "per_topic.csv", "selected.csv", "by_run.csv", "by_topic.csv", "settings.json",
    "result.json",
)  # fmt: skip
#: the pictures that are of no measure
_PICTURES = ("remainder", "relevant", "runs")
#: what the screen shows of a measure -> its heading
_OF_A_MEASURE = {
    "measure": "measure",
    "tau_b": "tau_b",
    "tau_b_low": "lower end",
    "tau_b_high": "upper end",
    "tau_ap": "tau_ap",
    "tau_ap_b": "tau_ap_b",
    "gamma": "gamma",
    "max_drop": "largest drop",
    "max_rise": "largest rise",
}
#: of a topic
_OF_A_TOPIC = {
    "qid": "topic",
    "tau_b": "tau_b",
    "max_drop": "largest drop",
    "dropped": "of run",
    "max_rise": "largest rise",
    "risen": "by run",
}
#: of a run that has documents which only one of the two judged
_OF_A_RUN = {
    "name": "name",
    "team": "team",
    "documents": "documents",
    "unjudged": "unjudged",
    "unjudged_rate": "share",
    "new": "judged anew",
    "new_relevant": "relevant",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "compare",
        "how the ranking of runs changes from one set of judgments to another",
        "The ranking by --qrels is taken as right, that by --other as the estimate: a drop is how many ranks a run "
        "loses under --other. It also says what only one of the two has judged, and which runs have it.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    parser.add_argument("--other", metavar="FILE", required=True, help=f"the other judgments: {QRELS_HELP}")
    parser.add_argument(
        "--judgment-names", metavar="A,B", help="what to call the two; default the names of their files or collections"
    )
    add_measures(parser)
    parser.add_argument(
        "--other-measures",
        metavar="LIST",
        help="measures under --other: one, or as many as --measures, compared one by one; default the same",
    )
    parser.add_argument(
        "--topics",
        default="shared",
        metavar="WHICH",
        help="shared: score on the topics that both have (default); own: each on those of its own judgments",
    )
    parser.add_argument(
        "--selected",
        metavar="LIST",
        help="runs to show beside the best of each type and the median; default those not pooled, ten at most",
    )
    parser.add_argument(
        "--depth", type=int, metavar="K", help="rank down to which unjudged documents count; default the pool's, or 100"
    )
    parser.add_argument(
        "--rel", type=int, metavar="LABEL", help="lowest label of a new relevant document; default that of each, else 1"
    )
    add_judge_rel(parser)
    add_intervals(parser)
    parser.add_argument("--colour", metavar="UNIT", help="of the picture: type (default) or team")
    add_all(parser, "run")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    with arguments_as(measures_b="other_measures"):
        _compare(options)


def _compare(options: argparse.Namespace) -> None:
    from pt_reuse.studies.judgment_comparison.comparison import check_comparing, compare_judgments

    judge_rel = given_judge_rel(options.judge_rel)
    plan = plan_field(options, pooled_matters=False)
    first, second = plan.needed_judgments(), judgment_source(options.other, plan.collection)
    names = _names(options.judgment_names, (first, second))
    rel = first.rel if first.rel == second.rel else None
    measures = chosen_measures(options, rel if options.rel is None else options.rel)
    others = _other_measures(options.other_measures)
    selected = None if options.selected is None else listed(options.selected)
    intervals = drawn(options)
    check_comparing(
        measures,
        others,
        topics=options.topics,
        selected=selected,
        runs=plan.names,
        depth=options.depth,
        rel=options.rel,
        **intervals,
    )
    _check_colour(options.colour, plan.columns)
    pictures = [picture(what, repr(measure)) for measure in measures for what in ("scores", "topics")]
    folder = out_folder(options, [*_FILES, *pictures, *(f"{kind}.png" for kind in _PICTURES)])
    qrels, other, runs = first.read(), second.read(), plan.read_runs()
    # what is relevant in the collection is no word on the scale of a file
    both = (qrels, other if second.file is None else other.with_rel(None))
    say(repr(runs))
    for name, qrels in zip(names, both, strict=True):
        say(f"{name}: {qrels!r}")
    result = compare_judgments(
        runs,
        *both,
        measures,
        names=names,
        measures_b=others,
        topics=options.topics,
        selected=selected,
        depth=options.depth,
        rel=options.rel,
        judge_rel=judge_rel,
        **intervals,
        verbose=shows_bars(options),
    )
    say(f"Topics: {result.settings['topics']}; one that a run lacks counts 0.")
    _report(result, options.all)
    if folder is not None:
        written = write_result(result, folder, options, _drawings(result, options.colour))
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _drawings(result: JudgmentComparison, colour: str | None) -> dict[str, Drawing]:
    drawings: dict[str, Drawing] = {}
    for measure in result.measures:
        drawings[picture("scores", measure)] = partial(result.plot, measure, by=colour)
        drawings[picture("topics", measure)] = partial(result.plot, measure, kind="topics")
    drawings |= {f"{kind}.png": partial(result.plot, kind=kind) for kind in _PICTURES[:2]}
    return drawings | {"runs.png": partial(result.plot, kind="runs", by=colour)}


def _report(result: JudgmentComparison, every: bool) -> None:
    names = result.names
    say(f"\nAgreement of the rankings by {names[0]} (taken as right) and by {names[1]}:")
    table = result.table.assign(measure=result.measured)
    shown = [column for column in _OF_A_MEASURE if column in table]
    print_table(table[shown].rename(columns=_OF_A_MEASURE), len(table), "measures")
    if "intervals" in result.settings:
        say(f"The ends are of tau_b: {result.settings['intervals']}.")
    moving = result.changes.loc[result.changes["drop"] != 0, "measure"].tolist()
    if moving or every:
        _report_moves(result, moving[0] if moving else result.measures[0], every)
        _report_topics(result, moving[0] if moving else result.measures[0], every)
    _report_selected(result)
    _report_new(result, every)
    say()
    for measure in result.measures:
        say(in_words(result, measure))


def _report_moves(result: JudgmentComparison, measure: str, every: bool) -> None:
    import pandas as pd

    names = result.names
    changes = result.changes[result.changes["measure"] == measure]
    moved = changes.loc[changes["drop"].abs().sort_values(ascending=False, kind="stable").index]
    say(f"\nBy {_measured(result, measure)}, the runs that move most first (a drop above 0 is a loss of ranks):")
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


def _report_topics(result: JudgmentComparison, measure: str, every: bool) -> None:
    rows = result.per_topic[result.per_topic["measure"] == measure].sort_values("tau_b", kind="stable")
    moving = rows[(rows["max_drop"] > 0) | (rows["max_rise"] > 0)]
    say(
        f"\nBy {_measured(result, measure)}, the runs ranked on one topic alone: on {len(moving):,} of "
        f"{count(len(rows), 'topic')} a run changes its rank; those that agree least first:"
    )
    shown = (rows if every else moving)[list(_OF_A_TOPIC)].rename(columns=_OF_A_TOPIC)
    print_table(
        shown, len(shown) if every else SHOWN, "topics; --all shows every one", spare=("by run", "largest rise")
    )


def _report_selected(result: JudgmentComparison) -> None:
    import pandas as pd

    names, measure = result.names, result.measures[0]
    rows = result.selected[result.selected["measure"] == measure]
    say(
        f"\nBy {_measured(result, measure)}, some runs and why they are shown, the best by {names[0]} first (unjudged: "
        f"share of their first {count(result.depth, 'document')} that {names[0]} does not know):"
    )
    shown = pd.DataFrame(
        {
            "why": rows["why"],
            "name": rows["name"],
            f"score: {names[0]}": rows["score"],
            f"score: {names[1]}": rows["other_score"],
            f"rank: {names[0]}": rows["rank"],
            f"rank: {names[1]}": rows["other_rank"],
            "unjudged": rows["unjudged_rate"],
        }
    )
    print_table(shown, len(shown), "runs", spare=("why",))


def _report_new(result: JudgmentComparison, every: bool) -> None:
    """Say what only one of the two has judged, and which runs have it."""
    topics = result.by_topic.groupby("new_by", sort=False)[["new", "new_relevant"]].sum()
    if not topics["new"].any():
        say("\nOn the topics that both have, they have judged the same documents.")
        return
    say()
    for name in topics.index[topics["new"] > 0]:
        new, relevant = topics.loc[name, "new"], topics.loc[name, "new_relevant"]
        say(f"Judged by {name} alone: {count(int(new), 'document')}, {relevant:,} of them relevant.")
    newer = result.newer
    rows = result.by_run[(result.by_run["new_by"] == newer) & (result.by_run["unjudged"] > 0)]
    older = result.names[result.names[0] == newer]
    if rows.empty:
        say(f"No run has a document among its first {result.depth:,} that {older} does not know.")
        return
    rows = rows.sort_values("unjudged", ascending=False, kind="stable")
    say(
        f"Of the first {count(result.depth, 'document')} of a run on each topic, those that {older} does not know "
        f"(share: mean over topics), and what {newer} says of them:"
    )
    shown = rows[[column for column in _OF_A_RUN if rows[column].notna().any()]].rename(columns=_OF_A_RUN)
    print_table(shown, len(shown) if every else SHOWN, "runs; --all shows every one", spare=("team",))


def in_words(result: JudgmentComparison, measure: str) -> str:
    """Return in a sentence how many runs change their rank by a measure, and which falls and which rises furthest."""
    import numpy as np

    row = result.table[result.table["measure"] == measure].iloc[0]
    changes, said = result.changes[result.changes["measure"] == measure], _measured(result, measure)
    if len(changes) > 1 and np.isnan(row["tau_b"]):
        # a warning has told whose scores tie
        return f"{said}: no ranking to compare."
    n_moved = int((changes["drop"] != 0).sum())
    if not n_moved:
        return f"{said}: no run changes its rank."
    parts = []
    for word, most in (("falls", changes["drop"].max()), ("rises", changes["drop"].min())):
        if most * (1 if word == "falls" else -1) > 0:
            run = changes[changes["drop"] == most].sort_values("rank", kind="stable").iloc[0]
            parts.append(
                f"{run['name']!r} {word} furthest, by {count(abs(int(most)), 'rank')} (from {run['rank']} to "
                f"{run['other_rank']})"
            )
    verb = "changes its rank" if n_moved == 1 else "change their rank"
    return f"{said}: {n_moved:,} of {count(len(changes), 'run')} {verb} (tau_b {row['tau_b']:.4f}); {', '.join(parts)}."


def _measured(result: JudgmentComparison, measure: str) -> str:
    return dict(zip(result.measures, result.measured, strict=True))[measure]


def _check_colour(colour: str | None, columns: set[str]) -> None:
    if colour is not None and choice("colour", colour, ("type", "team")) not in columns:
        raise InputError(
            Option("colour", colour),
            f" needs the {colour}s of runs, and no run has one. Give ",
            Option(f"{colour}s", ...),
            ".",
            argument="colour",
        )


def _names(text: str | None, sources: Sequence[JudgmentSource]) -> tuple[str, str]:
    names = different_names(sources) if text is None else listed(text)
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(
            Argument("judgment_names"),
            f" must be two names with a comma between them, such as complete,pool, got {text!r}.",
            argument="judgment_names",
        )
    return names[0], names[1]


def _other_measures(text: str | None) -> list[ir_measures.Measure] | None:
    from pt_reuse.scoring.run_scores import checked_measures

    if text is None:
        return None
    with located("--other-measures"):
        return checked_measures(listed(text))
