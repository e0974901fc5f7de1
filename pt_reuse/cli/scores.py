"""`pt-reuse runs`, `score` and `unjudged`: what is in run files, their scores, and what of them was never judged."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pt_reuse._check import checked_jobs, choice, count, plural, positive
from pt_reuse.cli.declared import flags_of
from pt_reuse.cli.field import add_field, plan_field
from pt_reuse.cli.output import (
    out_folder,
    print_table,
    say,
    say_answers,
    show,
    shows_bars,
    table_file,
    write_files,
    write_result,
)
from pt_reuse.cli.parser import OUTPUT, Parser, add_jobs, add_out, chosen_measures, numbers
from pt_reuse.cli.study_commands import add_flag

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.studies.coverage.judged_lists import UnjudgedDocuments


def add_runs(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "With --qrels: which runs lack topics or judged documents, have scores that rise with "
        "the rank, or scores so equal that their order changes a mean."
    )
    add_field(parser, judged=None)
    add_flag(parser, flags_of("leave_out_uniques")["measures"])
    add_out(parser, "every run and what was left out, and how runs fit the judgments (CSV),")
    parser.set_defaults(run=_run_runs)


def _run_runs(options: argparse.Namespace) -> None:
    from pt_reuse.studies.check_runs import check_runs

    plan, folder = plan_field(options), out_folder(options)
    judgments = plan.judgments if options.qrels is not None else None
    measures = None if judgments is None else chosen_measures(options.measures, judgments.rel)
    qrels, runs = None if judgments is None else judgments.read(), plan.read_runs()
    sizes, dropped = runs.sizes().dropna(axis="columns", how="all"), runs.dropped
    tables = {"runs.csv": sizes, "left_out.csv": dropped}
    say(repr(runs))
    spare = [*sizes.columns[8:][::-1], "shortest", "longest", "type", "team"]
    print_table(sizes, "runs; --out DIR writes all", spare=spare)
    if len(dropped):
        say("\nLeft out:")
        print_table(dropped, "rows; --out DIR writes all", spare=("qid", "docno"))
    if qrels is not None:
        say()
        fit = check_runs(runs, qrels, measures)
        show(fit)
        tables |= {"fit.csv": fit.table, "ties.csv": fit.ties}
    if folder is not None:
        write_files(tables, folder, options, earlier=("fit.csv", "ties.csv"))


def add_score(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "The mean is over all topics of the judgments; a topic for which a run returns nothing "
        "counts 0, as in trec_eval -c. A rank is 1 plus the number of runs with a higher mean, for every measure."
    )
    add_field(parser)
    add_flag(parser, flags_of("leave_out_uniques")["measures"])
    parser.add_option("--own-topics", "", "mean over the topics that a run has")
    parser.add_option("--per-topic", "", "also show a line for every run and topic", group=OUTPUT)
    add_jobs(parser)
    add_out(parser, "the tables, one with every topic among them (CSV), and the settings (JSON)")
    parser.set_defaults(run=_run_score)


def _run_score(options: argparse.Namespace) -> None:
    from pt_reuse.scoring.scores import score

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    measures, jobs = chosen_measures(options.measures, judgments.rel), checked_jobs(options.jobs)
    folder = out_folder(options)
    qrels, runs = judgments.read(), plan.read_runs()
    scores = score(runs, qrels, measures, complete=not options.own_topics, n_jobs=jobs, verbose=shows_bars(options))
    report = scores.report()
    say_answers(scores)
    say(f"\n{report.caption}")
    print_table(report.shown(), "runs; --out DIR writes all")
    if options.per_topic:
        say("\nPer topic; where a run returns nothing, an empty list is scored:")
        print_table(scores.per_topic, "lines; --out DIR writes all")
    say("\n".join(["", *scores.conditions()]))
    if folder is not None:
        write_result(scores, folder, options, {}, {"per_topic.csv": table_file(scores.per_topic)})


_BY = ("run", "team", "type", "family")


def add_unjudged(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "Unjudged@k is the share of a run's first k documents that have no judgment, as a mean "
        "over the topics of the judgments; a topic for which the run returns nothing has 1. Judged is a label of at "
        "least 0: a document labelled -1 (pooled and not judged) or less counts as unjudged."
    )
    add_field(parser)
    parser.add_option("--cutoff", "LIST", "comma-separated ranks k; default 10,100", default=[10, 100], type=numbers)
    parser.add_option("--by", "UNIT", "also a table by team, type or family; default run alone", default="run")
    add_jobs(parser)
    add_out(parser, "the tables, one with a row per run and topic among them (CSV), and the settings (JSON)")
    parser.set_defaults(run=_run_unjudged)


def _run_unjudged(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.scoring.caveats import relevant_only, tell
    from pt_reuse.scoring.run_fit import misfits
    from pt_reuse.scoring.scores import check_topics
    from pt_reuse.studies.coverage.judged_lists import UnjudgedDocuments

    plan = plan_field(options, pooled_matters=False)
    judgments, jobs = plan.needed_judgments(), checked_jobs(options.jobs)
    cutoffs = list(dict.fromkeys(positive("cutoff", k, "documents") for k in options.cutoff))
    check_unit_is_given(choice("by", options.by, _BY), plan.columns)
    folder = out_folder(options)
    qrels, runs = judgments.read(), plan.read_runs()
    check_topics(runs, qrels)
    # the answer tells of topics that runs lack, which count 1 here
    tell([*relevant_only(qrels), *misfits(runs, qrels, without_topics="zero")])
    found = UnjudgedDocuments.of(runs, qrels, cutoffs, n_jobs=jobs, verbose=shows_bars(options))
    tables = {"by_run.csv": (by_run := found.by_run()), "by_topic.csv": found.by_topic()}
    say(_in_words(found, by_run))
    if below := int((qrels.arrays.labels < 0).sum()):
        say(f"{count(below, 'document')} of the judgments with a label below 0 counted as unjudged.")
    if options.by != "run":
        runs.units(options.by)
        tables[f"by_{options.by}.csv"] = units = found.by_unit(options.by)
        say(f"\nBy {options.by}, the mean of the runs:")
        print_table(_in_brief(units, [options.by, "runs"], cutoffs), plural(options.by))
    say("\nPer run, the share that was never judged, the mean over all topics of the judgments:")
    known = [column for column in ("name", "team", "pooled") if by_run[column].notna().any()]
    print_table(_in_brief(by_run, known, cutoffs), "runs; --out DIR writes all", spare=("team",))
    if folder is not None:
        judged = "judged: a label of at least 0; a label below 0 (pooled and not judged, junk) counts as unjudged"
        settings = {**runs.settings, "cutoffs": cutoffs, "convention": judged, "topics": len(qrels.topics)}
        write_files(tables, folder, options, settings, [f"by_{unit}.csv" for unit in _BY])


def _in_words(found: UnjudgedDocuments, table: pd.DataFrame) -> str:
    """Return the answer in a sentence: the median of pooled and of other runs, and the run with the largest share."""
    k, worst = found.cutoffs[0], table.iloc[0]
    share, pooled = f"Unjudged@{k}", table["pooled"].astype("boolean")
    groups = {"pooled": pooled.fillna(False), "not pooled": ~pooled.fillna(True), "not on record": pooled.isna()}
    medians = [
        f"{rows[share].median():.1%} ({count(len(rows), 'run')} {which})"
        for which, of in groups.items()
        if len(rows := table[of.astype(bool)])
    ]
    most = f"{worst[share]:.1%} ({worst['name']}: {worst[f'unjudged@{k}']:,} of {worst[f'documents@{k}']:,} documents)"
    lacking = int((table["topics"] < len(found.topics)).sum())
    more = f" {count(lacking, 'run')} without documents for some topics; these count as 1." if lacking else ""
    return f"{share}: median {', '.join(medians)}; largest {most}.{more}"


def _in_brief(table: pd.DataFrame, first: list[str], cutoffs: list[int]) -> pd.DataFrame:
    """Return what the screen shows: each share with the numbers behind it."""
    shown = table[first].copy()
    for k in cutoffs:
        counts = zip(table[f"unjudged@{k}"], table[f"documents@{k}"], strict=True)
        shown[f"Unjudged@{k}"] = table[f"Unjudged@{k}"]
        shown[f"of the top {k}"] = [f"{n:,} of {m:,}" for n, m in counts]
    return shown
