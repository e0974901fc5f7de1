"""`pt-reuse lou`: leave-out-uniques on a field of run files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import checked_jobs, count, listed, plural
from pt_reuse._errors import InputError
from pt_reuse.cli.common_options import (
    add_contributors,
    add_intervals,
    add_measures,
    add_removal,
    chosen_contributors,
    chosen_measures,
    drawn,
    interval,
    picture,
)
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import (
    Commands,
    Parser,
    add_all,
    add_command,
    add_jobs,
    add_judge_rel,
    add_out,
    given_judge_rel,
)
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars
from pt_reuse.cli.shards import add_shard, refuse_with_shard

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.data.judgments import Qrels
    from pt_reuse.judging.judge import Judge
    from pt_reuse.studies.uniques import LeaveOutUniques

_FILES = (
    "summary.csv", "table.csv", "by_run.csv", "unique_counts.csv", "scores.run_table.csv", "own_scores.run_table.csv",
    "settings.json", "arrays.npz", "result.json",
)  # fmt: skip
#: those that a judge adds
_FILLED = ("filled.csv", "filled_by_run.csv", "filled_summary.csv")
#: the pictures of a measure: what runs lose without the uniques of their own unit, and the ranking without each unit
_PICTURES = ("scores", "drops")
#: what the screen shows of the summary -> its heading
_OF_A_MEASURE = {
    "measure": "measure",
    "own_tau_b": "own tau_b",
    "own_max_drop": "own largest drop",
    "largest_loss_pct": "largest loss (%)",
    "field_max_drop": "field largest drop",
    "field_worst": "by leaving out",
}
#: and of a unit, which stands before
_OF_A_UNIT = {
    "runs": "runs",
    "unique": "unique",
    "unique_relevant": "unique relevant",
    "tau_b": "tau_b",
    "max_drop": "largest drop",
    "dropped": "of run",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "lou",
        "leave-out-uniques on a field of run files",
        "A unique document is one that a single team put into the pool. Each run is judged without the uniques of its "
        "own team, and the whole field is ranked anew without those of each team.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    add_measures(parser)
    add_removal(parser)
    _add_fill(parser)
    add_contributors(parser)
    add_intervals(parser)
    add_jobs(parser, "topics")
    add_all(parser, "unit")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    add_shard(parser, _run)
    return parser


def _add_fill(parser: Parser) -> None:
    parser.add_argument(
        "--fill",
        nargs="+",
        metavar="FILE",
        help="files with the labels of judges, such as language models, or a folder of them, as `audit --judges` takes "
        "it: label the removed uniques by each of them, and say what becomes of the scores; then --remove is judged by "
        "default",
    )
    add_judge_rel(parser)
    parser.add_argument(
        "--holes",
        default="uniques",
        metavar="WHICH",
        help="what a judge labels: the removed uniques (default), or also what is unjudged at the top of any run",
    )


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.pooling.fit import SLACK
    from pt_reuse.studies.uniques import check_removal, leave_out_uniques

    if options.fill is not None:
        refuse_with_shard(options, "fill", "a judge is asked about the uniques of all topics. Leave out one of them.")
    plan = plan_field(options)
    judgments = plan.needed_judgments()
    check_removal(by=options.by, depth=options.depth, remove=options.remove or "relevant", rel=options.rel)
    asked, jobs = drawn(options), checked_jobs(options.jobs)
    measures = chosen_measures(options, judgments.rel if options.rel is None else options.rel)
    contributors = chosen_contributors(options, plan.names)
    check_unit_is_given(options.by, plan.columns)
    judges = _judges(options)
    drawn_of = [*_PICTURES, *map(_of_judge, judges or ())]
    pictures = [picture(what, repr(measure)) for measure in measures for what in drawn_of]
    folder = out_folder(options, [*_FILES, *(_FILLED if judges else ()), *pictures, "uniques.png"])
    qrels, runs = plan.read_judgments(judgments), plan.read_runs()
    if options.rel is not None:
        qrels = qrels.with_rel(options.rel)
    say(f"{runs!r}\n{qrels!r}")
    result = leave_out_uniques(
        runs,
        qrels,
        measures,
        by=options.by,
        depth=options.depth,
        remove=options.remove,
        contributors=contributors,
        fill=judges,
        judge_rel=given_judge_rel(options.judge_rel),
        holes=options.holes,
        **asked,
        n_jobs=jobs,
        verbose=shows_bars(options),
    )
    _report(result, options.all)
    if options.collection is None:
        _tell_collections(qrels, unexplained=result.fit.stranger_share > SLACK, rel_given=options.rel is not None)
    if folder is not None:
        written = write_result(result, folder, options, _drawings(result))
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _judges(options: argparse.Namespace) -> dict[str, Judge] | None:
    """Return the judges by the names of their files, read before any run is; None where nothing is to be filled."""
    from pt_reuse.judging.judges import as_judges
    from pt_reuse.studies.filled_uniques import checked_fill

    judges: dict[str, Judge] = {}
    for place in options.fill or ():
        found = {one.name: one.judge for one in as_judges(place, "fill")}
        twice = [name for name in found if name in judges]
        if twice:
            problem = f"two files of one name, {listed(twice)}. A judge has the name of its file: rename one."
            raise InputError(problem, argument="fill")
        judges |= found
    wanted = checked_fill(judges or None, judge_rel=given_judge_rel(options.judge_rel), holes=options.holes)
    return None if wanted is None else {judge.name: judge.judge for judge in wanted.judges}


def _of_judge(name: str) -> str:
    """Return what a judge's picture is called, before the measure."""
    return f"fill-{name}"


def _report(result: LeaveOutUniques, every: bool) -> None:
    from pt_reuse.studies.uniques import in_words

    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    by, first = result.units.by, result.scores.measures[0]
    say(
        f"\nPer measure, each run judged without the uniques of its own {by} (own), and the whole field ranked anew "
        f"without those of one {by} (field):"
    )
    shown = _with_intervals(result.summary[list(_OF_A_MEASURE)].rename(columns=_OF_A_MEASURE), result.summary, "own_")
    print_table(shown, len(result.summary), "measures")
    say(f"\nLeaving out one {by} at a time, the whole field by {first}:")
    columns = {result.units.column: by if by != "run" else "name", **_OF_A_UNIT}
    rows = result.table[result.table["measure"] == first]
    print_table(
        _with_intervals(rows[list(columns)].rename(columns=columns), rows, ""),
        len(rows) if every else SHOWN,
        f"{plural(by)}; --all shows every one",
        spare=("runs", "of run"),
    )
    say("--out DIR writes all measures, columns and rows (CSV).")
    say("\n" + "\n".join([*_nothing_lost(result), in_words(result)]))
    if result.filled is not None:
        for judge in dict.fromkeys(result.filled["judge"]):
            say(f"\n{result.report('fill', judge=judge)}")
        say("\n" + "\n".join(result.findings()))


def _with_intervals(shown: pd.DataFrame, table: pd.DataFrame, of: str) -> pd.DataFrame:
    """Return what is shown with the intervals of tau_b and of the largest drop beside them, where there are any."""
    for name, written in (("tau_b", ".4f"), ("max_drop", "g")):
        low, high = f"{of}{name}_low", f"{of}{name}_high"
        if low in table:
            heading = {"tau_b": "tau_b", "max_drop": "largest drop"}[name]
            ends = [interval(a, b, written) for a, b in zip(table[low], table[high], strict=True)]
            at = list(shown).index(f"{'own ' if of else ''}{heading}")
            shown.insert(at + 1, f"interval of {heading}", ends)
    return shown


def _nothing_lost(result: LeaveOutUniques) -> Iterator[str]:
    """Yield why leaving out changes no judgment, nothing where it changes some."""
    if int(result.table["removed"].sum()):
        return
    by, n_unique = result.units.by, int(result.unique_counts["unique"].sum())
    pool = f"the pool of depth {result.depth}"
    if result.fit.strangers == result.fit.judged:
        why = f"no judged document is in {pool} of the contributing runs"
    elif n_unique:
        uniques = f"{count(n_unique, 'unique document')}, none of them relevant (label of at least {result.rel})"
        why = f"what one {by} alone put into {pool} is {uniques}"
    else:
        why = f"every judged document in {pool} was contributed by at least two {plural(by)}"
    yield f"Nothing to leave out: {why}, so every score stays as it is, whichever {by} is left out."


def _tell_collections(qrels: Qrels, *, unexplained: bool, rel_given: bool) -> None:
    from pt_reuse.collections.collection import catalogued, judged_alike

    labels = qrels.arrays.labels
    for name in judged_alike(len(qrels.topics), len(labels), int((labels > 0).sum())):
        collection = catalogued(name)
        rel = None if rel_given or collection is None or collection.rel in (None, qrels.rel) else collection.rel
        brings = f"--collection {name} brings its runs, teams and who was pooled."
        if rel is not None:
            say(
                f"These are the judgments of {name}, in which documents are relevant from label {rel} on, and not from "
                f"{qrels.rel}: {brings} --rel {rel} alone changes that."
            )
        elif unexplained:
            say(f"These are the judgments of {name}: {brings}")


def _drawings(result: LeaveOutUniques) -> dict[str, Drawing]:
    drawings: dict[str, Drawing] = {}
    for measure in result.scores.measures:
        drawn: tuple[Drawing, ...] = (partial(result.plot, measure), partial(result.plot_drops, measure))
        drawings |= {picture(what, measure): drawing for what, drawing in zip(_PICTURES, drawn, strict=True)}
        for judge in () if result.filled is None else dict.fromkeys(result.filled["judge"]):
            drawings[picture(_of_judge(judge), measure)] = partial(result.plot_fill, measure, judge=judge)
    return {**drawings, "uniques.png": result.plot_uniques}
