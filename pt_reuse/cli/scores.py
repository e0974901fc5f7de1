"""`pt-reuse runs`, `score` and `unjudged`: what is in run files, their scores, and what of them was never judged."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pt_reuse._check import checked_jobs, choice, count, plural, positive
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import (
    SHOWN,
    out_folder,
    print_table,
    say,
    say_answer,
    say_end,
    settings_file,
    shows_bars,
    table_file,
    write_files,
    write_result,
)
from pt_reuse.cli.parser import (
    Commands,
    Group,
    Parser,
    add_command,
    add_jobs,
    add_out,
    add_verbose,
    chosen_measures,
    listed,
)
from pt_reuse.cli.study_commands import add_flag, declared_flags
from pt_reuse.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.scoring.scores import Scores
    from pt_reuse.studies.coverage.judged_lists import UnjudgedDocuments

#: what a person wants to see first of a run, and can do without where a line is short
_FIRST = ("name", "team", "type", "pooled", "topics", "rows", "shortest", "longest")
_LAST = ("shortest", "longest", "type")


def add_runs(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "runs",
        "describe a field of run files, and check whether it fits judgments",
        "With --qrels: which runs lack topics or judged documents, have scores that rise with the rank, or scores so "
        "equal that their order changes a mean.",
    )
    add_field(parser, qrels=Judgments.OPTIONAL)
    add_flag(parser, declared_flags("leave_out_uniques")["measures"])
    add_verbose(parser, "every run and column")
    parser.set_defaults(run=_run_runs)
    return parser


def _run_runs(options: argparse.Namespace) -> None:
    plan = plan_field(options)
    judgments = plan.judgments if options.qrels is not None else None
    measures = None if judgments is None else chosen_measures(options.measures, judgments.rel)
    qrels = None if judgments is None else judgments.read()
    runs = plan.read_runs()
    say(repr(runs))
    sizes = runs.sizes()
    known = [str(column) for column in sizes if sizes[column].notna().any()]
    shown = known if options.verbose else [column for column in _FIRST if column in known]
    print_table(
        sizes[shown],
        len(runs) if options.verbose else SHOWN,
        "runs; --verbose shows every one",
        spare=() if options.verbose else _LAST,
    )
    if len(shown) < len(known):
        rest = ", ".join(column for column in known if column not in shown)
        say(f"Also on record: {rest}; --verbose shows every column.")
    dropped = runs.dropped
    if len(dropped):
        say("\nLeft out:")
        most = len(dropped) if options.verbose else SHOWN
        for row in dropped.head(most).to_dict("records"):
            say(f"- {_place(row)}: {row['reason']}")
        if len(dropped) > most:
            say(f"... and {len(dropped) - most:,} more; --verbose shows every one")
    if qrels is not None:
        _say_fit(runs, qrels, measures, verbose=options.verbose)


def _say_fit(runs: RunSet, qrels: Qrels, measures: Any, *, verbose: bool) -> None:
    """Print how runs fit judgments: those that do not first, and what equal scores change."""
    from pt_reuse.studies.check_runs import check_runs

    found = check_runs(runs, qrels, measures)
    say("")
    say_answer(found, verbose=verbose)
    most, more = (len(found.ties), "") if verbose else (SHOWN, "; --verbose shows every one")
    say("\nPer run, how it fits the judgments; those that do not fit first:")
    table = found.table.sort_values("misfit", key=lambda column: column == "", kind="stable")
    print_table(table, most, f"runs{more}", spare=("lists", "constant", "unknown", "documents"))
    say("\nOver all orders of documents with equal scores, the widest range first:")
    width = found.ties["high"] - found.ties["low"]
    print_table(found.ties.loc[width.sort_values(ascending=False, kind="stable").index], most, f"lines{more}")
    say_end(found.settings, [runs, qrels], verbose=verbose)


def _place(row: Mapping[str, Any]) -> str:
    """Return where something was left out: the file, its line where it is not the whole file, the document if known."""
    import pandas as pd

    parts = [str(row["file"])]
    if not pd.isna(row["line"]):
        parts.append(f"line {row['line']:,}")
    if row["docno"] is not None:
        parts.append(f"topic {row['qid']}, document {row['docno']}")
    return ", ".join(parts)


_PER_TOPIC = "per_topic.csv"
_OF_SCORES = ("mean.csv", "ranks.csv", "run_table.csv", "settings.json", "arrays.npz", "result.json", _PER_TOPIC)


def add_score(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "score",
        "mean scores and ranks of runs",
        "The mean is over all topics of the judgments; a topic for which a run returns nothing counts 0, as in "
        "trec_eval -c. A rank is 1 plus the number of runs with a higher mean, for every measure.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    add_flag(parser, declared_flags("leave_out_uniques")["measures"])
    parser.add_switch("--own-topics", "mean over the topics that a run has")
    with parser.group(Group.OUTPUT):
        parser.add_switch("--per-topic", "also show a line for every run and topic")
    add_jobs(parser, "topics")
    add_verbose(parser)
    add_out(parser, "the tables, one with every topic among them (CSV), and the settings (JSON)")
    parser.set_defaults(run=_run_score)
    return parser


def _run_score(options: argparse.Namespace) -> None:
    from pt_reuse.scoring.scores import score

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    measures = chosen_measures(options.measures, judgments.rel)
    jobs = checked_jobs(options.jobs)
    folder = out_folder(options, _OF_SCORES)
    qrels, runs = judgments.read(), plan.read_runs()
    scores = score(runs, qrels, measures, complete=not options.own_topics, n_jobs=jobs, verbose=shows_bars(options))
    say_answer(scores, verbose=options.verbose)
    over = _over(scores) if scores.complete else "the topics that a run has"
    say(f"\nMean over {over}, and rank; the best by {scores.measures[0]} first:")
    table = _ranked(scores)
    print_table(
        table, len(table) if options.verbose else SHOWN, "runs; --verbose shows every one", spare=("type", "team")
    )
    if options.per_topic:
        say("\nPer topic; where a run returns nothing, an empty list is scored:")
        topics = _by_topic(scores)
        print_table(topics, len(topics) if options.verbose else SHOWN, "lines; --verbose shows every one")
    say_end(scores.settings, [runs, qrels], verbose=options.verbose)
    if folder is not None:
        write_result(scores, folder, options, {}, {_PER_TOPIC: partial(table_file, scores.per_topic)})


def _over(scores: Scores) -> str:
    n = len(scores.topics)
    return f"all {n:,} topics" if n > 1 else "the only topic"


def _ranked(scores: Scores) -> pd.DataFrame:
    """Return one row per run: ``name team type`` where known, and each measure with the rank by it, the best first."""
    known = [column for column in ("name", "team", "type") if scores.run_table[column].notna().any()]
    table = scores.run_table[known].copy()
    for measure in scores.measures:
        table[measure], table[f"{measure} rank"] = scores.mean[measure], scores.ranks[measure]
    return table.sort_values(f"{scores.measures[0]} rank", kind="stable", ignore_index=True)


def _by_topic(scores: Scores) -> pd.DataFrame:
    """Return one row per run and topic, with a column per measure."""
    import numpy as np
    import pandas as pd

    names, qids = np.repeat(scores.names, len(scores.topics)), np.tile(scores.topics, len(scores.names))
    values = scores.values.transpose(0, 2, 1).reshape(len(scores.measures), -1)
    return pd.DataFrame({"name": names, "qid": qids, **dict(zip(scores.measures, values, strict=True))})


_BY = ("run", "team", "type", "family")
_CONVENTION = "judged: a label of at least 0; a label below 0 (pooled and not judged, junk) counts as unjudged"


def add_unjudged(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "unjudged",
        "how much of each run is unjudged",
        "Unjudged@k is the share of a run's first k documents that have no judgment, as a mean over the topics of the "
        "judgments; a topic for which the run returns nothing has 1.",
        "Judged is a label of at least 0: a document labelled -1 (pooled and not judged) or less counts as unjudged.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    parser.add_option("--cutoff", "LIST", "comma-separated ranks k; default 10,100", default="10,100")
    parser.add_option("--by", "UNIT", "also a table by team, type or family; default run alone", default="run")
    add_jobs(parser, "topics")
    add_verbose(parser)
    add_out(parser, "the tables, one with a row per run and topic among them (CSV), and the settings (JSON)")
    parser.set_defaults(run=_run_unjudged)
    return parser


def _run_unjudged(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.scoring.caveats import relevant_only, tell
    from pt_reuse.scoring.run_fit import misfits
    from pt_reuse.scoring.scores import check_topics
    from pt_reuse.studies.coverage.judged_lists import UnjudgedDocuments

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    cutoffs, jobs = _cutoffs(options.cutoff), checked_jobs(options.jobs)
    check_unit_is_given(choice("by", options.by, _BY), plan.columns)
    units = [] if options.by == "run" else [f"by_{options.by}.csv"]
    folder = out_folder(options, ["by_run.csv", "by_topic.csv", *units, "settings.json"])
    qrels, runs = judgments.read(), plan.read_runs()
    check_topics(runs, qrels)
    # the answer tells of topics that runs lack, which count 1 here
    tell([*relevant_only(qrels), *misfits(runs, qrels, without_topics="zero")])
    found = UnjudgedDocuments.of(runs, qrels, cutoffs, n_jobs=jobs, verbose=shows_bars(options))
    say(in_words(found))
    below = int((qrels.arrays.labels < 0).sum())
    if below:
        say(f"{count(below, 'document')} of the judgments with a label below 0 counted as unjudged.")
    if options.by != "run":
        runs.units(options.by)
        say(f"\nBy {options.by}, the mean of the runs:")
        table = found.by_unit(options.by)
        print_table(
            _in_brief(table, [options.by, "runs"], cutoffs),
            len(table) if options.verbose else SHOWN,
            plural(options.by),
        )
    table = found.by_run()
    n_topics = len(found.topics)
    over = f"the mean over all {n_topics:,} topics" if n_topics > 1 else "on the only topic"
    say(f"\nPer run, what was never judged (Unjudged@k: {over} of the judgments):")
    shown = _in_brief(table, [*_known(table, ("name", "team", "pooled"))], cutoffs)
    print_table(shown, len(table) if options.verbose else SHOWN, "runs; --verbose shows every one", spare=("team",))
    kept = {**runs.settings, "cutoffs": list(cutoffs), "convention": _CONVENTION, "topics": len(qrels.topics)}
    say_end(kept, [runs, qrels], verbose=options.verbose)
    if folder is not None:
        tables = {"by_run.csv": table, "by_topic.csv": found.by_topic()}
        tables |= {f"by_{options.by}.csv": found.by_unit(options.by)} if units else {}
        files = {name: table_file(frame) for name, frame in tables.items()} | {"settings.json": settings_file(kept)}
        write_files(files, folder, options, [f"by_{unit}.csv" for unit in (*_BY, "topic")])


def in_words(found: UnjudgedDocuments) -> str:
    """Return the answer in a sentence: the run at hand, or the median of pooled and of other runs and the worst run."""
    table, k = found.by_run(), found.cutoffs[0]
    share = f"Unjudged@{k}"
    worst = table.iloc[0]
    of_worst = f"{worst[share]:.1%} ({worst[f'unjudged@{k}']:,} of {worst[f'documents@{k}']:,} documents)"
    if len(table) == 1:
        deeper = [f"{worst[f'Unjudged@{d}']:.1%} of its top {d}" for d in found.cutoffs[1:]]
        return f"Never judged of the top {k} of {worst['name']}: {of_worst}{''.join(f'; {text}' for text in deeper)}."
    known = table["pooled"].notna()
    groups = {
        ("pooled run", ""): table[known & (table["pooled"] == True)],  # noqa: E712 - <NA> is neither
        ("run", " not pooled"): table[known & (table["pooled"] == False)],  # noqa: E712
        ("run", " of which nobody recorded whether they were pooled"): table[~known],
    }
    medians = [
        f"{rows[share].median():.1%} for {count(len(rows), noun)}{which}"
        for (noun, which), rows in groups.items()
        if len(rows)
    ]
    lacking = int((table["topics"] < len(found.topics)).sum())
    some = f" {count(lacking, 'run')} without documents for some topics; these count as 1." if lacking else ""
    return (
        f"Never judged of the top {k}, in the median: {', '.join(medians)}; most for {worst['name']}: {of_worst}.{some}"
    )


def _in_brief(table: pd.DataFrame, first: Sequence[str], cutoffs: Sequence[int]) -> pd.DataFrame:
    """Return what the screen shows: each share with the numbers behind it."""
    shown = table[list(first)].copy()
    for k in cutoffs:
        shown[f"Unjudged@{k}"] = table[f"Unjudged@{k}"]
        shown[f"of the top {k}"] = [
            f"{n:,} of {of:,}" for n, of in zip(table[f"unjudged@{k}"], table[f"documents@{k}"], strict=True)
        ]
    return shown


def _known(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    return [column for column in columns if table[column].notna().any()]


def _cutoffs(text: str) -> list[int]:
    words = listed(text)
    if not words or not all(word.isdecimal() for word in words):
        raise InputError(f"cutoff must be ranks between commas, such as 10,100, got {text!r}.", argument="cutoff")
    return list(dict.fromkeys(positive("cutoff", int(word), "documents") for word in words))
