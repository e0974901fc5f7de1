"""`pt-reuse unjudged`: how much of what runs return was never judged."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, positive
from pt_reuse._errors import Argument, InputError
from pt_reuse.commands.field import Judgments, add_field, plan_field
from pt_reuse.commands.output import out_folder, write_settings, write_table
from pt_reuse.commands.parser import Commands, Parser, add_all, add_command, add_out, listed
from pt_reuse.commands.screen import SHOWN, print_table, say, shows_bars
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.units import check_unit_is_given
from pt_reuse.scoring.caveats import relevant_only, tell, told_elsewhere
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.run_scores import score

_BY = ("run", "team", "type")
_CONVENTION = "judged: a label of at least 0; a label below 0 (pooled and not judged, junk) counts as unjudged"


@dataclass(frozen=True)
class UnjudgedDocuments:
    """How many of the documents at the top of runs have no judgment.

    Attributes:
        cutoffs: the ranks down to which documents are counted.
        topics: the topics of the judgments.
        run_table: ``name team type pooled``, one row per run.
        documents: (cutoffs, topics, runs) how many documents a run returns down to a cutoff.
        unjudged: (cutoffs, topics, runs) how many of them have no judgment.
    """

    cutoffs: Sequence[int]
    topics: list[str]
    run_table: pd.DataFrame
    documents: NDArray[np.int64]
    unjudged: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Return (cutoffs, topics, runs): ``Unjudged@k``, 1 on a topic for which a run returns nothing."""
        return np.where(self.documents > 0, self.unjudged / np.maximum(self.documents, 1), 1.0)

    def by_run(self) -> pd.DataFrame:
        """Return one row per run, the one with most unjudged at the first cutoff first.

        The columns are ``name team type pooled topics`` and for each cutoff k ``Unjudged@k``, the mean over the topics,
        ``documents@k`` and ``unjudged@k``, the numbers behind it over all topics.
        """
        table = self.run_table.reset_index(drop=True).assign(topics=(self.documents[0] > 0).sum(axis=0))
        for c, cutoff in enumerate(self.cutoffs):
            table[f"Unjudged@{cutoff}"] = self.shares[c].mean(axis=0)
            table[f"documents@{cutoff}"] = self.documents[c].sum(axis=0)
            table[f"unjudged@{cutoff}"] = self.unjudged[c].sum(axis=0)
        return table.sort_values(f"Unjudged@{self.cutoffs[0]}", ascending=False, kind="stable", ignore_index=True)

    def by_unit(self, by: str) -> pd.DataFrame:
        """Return one row per team or type, with the mean of its runs and the numbers of them all, the worst first."""
        means = {f"Unjudged@{k}": (f"Unjudged@{k}", "mean") for k in self.cutoffs}
        sums = {f"{what}@{k}": (f"{what}@{k}", "sum") for k in self.cutoffs for what in ("documents", "unjudged")}
        groups = self.by_run().groupby(by, sort=False)
        table = groups.agg(runs=("name", "size"), **means, **sums).reset_index()
        ordered = [column for k in self.cutoffs for column in (f"Unjudged@{k}", f"documents@{k}", f"unjudged@{k}")]
        first = f"Unjudged@{self.cutoffs[0]}"
        return table.sort_values(first, ascending=False, kind="stable", ignore_index=True)[[by, "runs", *ordered]]

    def by_topic(self) -> pd.DataFrame:
        """Return one row per run, topic and cutoff: ``name qid cutoff documents unjudged Unjudged``."""
        n_cutoffs, n_topics, n_runs = self.documents.shape
        return pd.DataFrame(
            {
                "name": np.repeat(self.run_table["name"].to_numpy(dtype=object), n_topics * n_cutoffs),
                "qid": np.tile(np.repeat(np.array(self.topics, dtype=object), n_cutoffs), n_runs),
                "cutoff": np.tile(np.array(self.cutoffs), n_runs * n_topics),
                "documents": self.documents.transpose(2, 1, 0).ravel(),
                "unjudged": self.unjudged.transpose(2, 1, 0).ravel(),
                "Unjudged": self.shares.transpose(2, 1, 0).ravel(),
            }
        )


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
        "--by", default="run", metavar="UNIT", help="also a table by team or by type; default run alone"
    )
    add_all(parser, "run")
    add_out(parser, "the tables, one with a row per run and topic among them (CSV), and the settings (JSON)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    cutoffs = _cutoffs(options.cutoff)
    check_unit_is_given(choice("by", options.by, _BY), plan.columns)
    units = [] if options.by == "run" else [f"by_{options.by}.csv"]
    folder = out_folder(options, ["by_run.csv", "by_topic.csv", *units, "settings.json"])
    qrels, runs = judgments.read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    found = unjudged_documents(runs, qrels, cutoffs, verbose=shows_bars(options))
    if options.by != "run":
        runs.units(options.by)
        say(f"\nBy {options.by}, the mean of the runs:")
        table = found.by_unit(options.by)
        print_table(
            _in_brief(table, [options.by, "runs"], cutoffs), len(table) if options.all else SHOWN, f"{options.by}s"
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
        for name, frame in tables.items():
            write_table(frame, folder / name)
        write_settings(
            {**runs.settings, "cutoffs": list(cutoffs), "convention": _CONVENTION, "topics": len(qrels.topics)},
            folder / "settings.json",
        )
        say(f"\nWritten to {folder}: {', '.join([*tables, 'settings.json'])}")


def unjudged_documents(
    runs: RunSet, qrels: Qrels, cutoffs: Sequence[int], *, verbose: bool = False
) -> UnjudgedDocuments:
    """Count the documents at the top of runs, and those of them that have no judgment.

    Args:
        runs: the field.
        qrels: the judgments, whose topics are counted.
        cutoffs: the ranks down to which documents are counted.
        verbose: show a progress bar.
    """
    tell(relevant_only(qrels, [f"Unjudged@{k}" for k in cutoffs]))
    with told_elsewhere():
        scores = score(runs, qrels, [Unjudged(of_cutoff=True) @ k for k in cutoffs], verbose=verbose)
    depths = np.array(cutoffs)[:, None, None]
    row = [runs.field.topic_row.get(topic, -1) for topic in qrels.topics]
    # a topic that no run has is the row of zeros at the end
    lengths = np.vstack([runs.field.lengths, np.zeros((1, len(runs)), dtype=runs.field.lengths.dtype)])[row]
    return UnjudgedDocuments(
        cutoffs=cutoffs,
        topics=qrels.topics,
        run_table=runs.run_table[["name", "team", "type", "pooled"]],
        documents=np.minimum(lengths, depths).astype(np.int64),
        unjudged=np.rint(scores.values * depths).astype(np.int64),
    )


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
        raise InputError(
            Argument("cutoff"), f" must be ranks between commas, such as 10,100, got {text!r}.", argument="cutoff"
        )
    return list(dict.fromkeys(positive("cutoff", int(word), "documents") for word in words))
