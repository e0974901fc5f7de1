"""`pt-reuse unjudged`: how much of what runs return was never judged."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pt_reuse._check import checked_jobs, choice, count, plural, positive
from pt_reuse._errors import wrong
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import out_folder, settings_file, table_file, write_files
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_jobs, add_out, listed
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars
from pt_reuse.cli.shards import add_shard

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.studies.coverage.judged_lists import UnjudgedDocuments

_BY = ("run", "team", "type", "family")
_CONVENTION = "judged: a label of at least 0; a label below 0 (pooled and not judged, junk) counts as unjudged"


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "unjudged",
        "how much of what runs return was never judged",
        "Unjudged@k is the share of a run's first k documents that have no judgment, as a mean over the topics of the "
        "judgments; a topic for which the run returns nothing has 1.",
        "Judged is a label of at least 0: a document labelled -1 (pooled and not judged) or less counts as unjudged.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    parser.add_argument("--cutoff", default="10,100", metavar="LIST", help="ranks k between commas; default 10,100")
    parser.add_argument(
        "--by", default="run", metavar="UNIT", help="also a table by team, type or family; default run alone"
    )
    add_jobs(parser, "topics")
    add_all(parser, "run")
    add_out(parser, "the tables, one with a row per run and topic among them (CSV), and the settings (JSON)")
    add_shard(parser, _run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.scoring.caveats import relevant_only, tell
    from pt_reuse.scoring.run_scores import check_topics
    from pt_reuse.studies.coverage.judged_lists import UnjudgedDocuments

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    cutoffs, jobs = _cutoffs(options.cutoff), checked_jobs(options.jobs)
    check_unit_is_given(choice("by", options.by, _BY), plan.columns)
    units = [] if options.by == "run" else [f"by_{options.by}.csv"]
    folder = out_folder(options, ["by_run.csv", "by_topic.csv", *units, "settings.json"])
    qrels, runs = plan.read_judgments(judgments), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    check_topics(runs, qrels)
    tell(relevant_only(qrels, [f"Unjudged@{k}" for k in cutoffs]))
    found = UnjudgedDocuments.of(runs, qrels, cutoffs, n_jobs=jobs, verbose=shows_bars(options))
    if options.by != "run":
        runs.units(options.by)
        say(f"\nBy {options.by}, the mean of the runs:")
        table = found.by_unit(options.by)
        print_table(
            _in_brief(table, [options.by, "runs"], cutoffs), len(table) if options.all else SHOWN, plural(options.by)
        )
    table = found.by_run()
    n_topics = len(found.topics)
    over = f"the mean over all {n_topics:,} topics" if n_topics > 1 else "on the only topic"
    say(f"\nPer run, what was never judged (Unjudged@k: {over} of the judgments):")
    shown = _in_brief(table, [*_known(table, ("name", "team", "pooled"))], cutoffs)
    print_table(shown, len(table) if options.all else SHOWN, "runs; --all shows every one", spare=("team",))
    say(f"\n{in_words(found)}")
    below = int((qrels.arrays.labels < 0).sum())
    if below:
        say(f"{count(below, 'document')} of the judgments with a label below 0 counted as unjudged.")
    if folder is not None:
        tables = {"by_run.csv": table, "by_topic.csv": found.by_topic()}
        tables |= {f"by_{options.by}.csv": found.by_unit(options.by)} if units else {}
        kept = {**runs.settings, "cutoffs": list(cutoffs), "convention": _CONVENTION, "topics": len(qrels.topics)}
        files = {name: table_file(frame) for name, frame in tables.items()} | {"settings.json": settings_file(kept)}
        written = write_files(files, folder, options, [f"by_{unit}.csv" for unit in (*_BY, "topic")])
        say(f"\nWritten to {folder}: {', '.join(written)}")


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
        raise wrong("cutoff", f" must be ranks between commas, such as 10,100, got {text!r}.")
    return list(dict.fromkeys(positive("cutoff", int(word), "documents") for word in words))
