"""Verification: published figures of a collection, replayed on the user's files."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, examples, flag
from pt_reuse._errors import InputError, door, warn
from pt_reuse._result import Result
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.registry import UnknownCollectionError, find_collection
from pt_reuse.collections.run_files import find_run_files
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.verification.figures import conventions_of
from pt_reuse.verification.group import replay_group, summarise
from pt_reuse.verification.published import PublishedFigures, published_figures, read_published
from pt_reuse.verification.replay import Replay

#: columns of a figure that is unequal
_SHOWN = ["what", "name", "published", "computed", "difference", "convention", "note"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Verification(Result):
    """Published figures beside what was computed from the user's files; made by :func:`verify`.

    Attributes:
        table: one row per figure: ``what``, the group it belongs to, and ``name``, the run, team or statistic;
            ``published`` and ``computed``; ``equal``, True or False, None where it could not be computed (False where
            nothing has that name); ``known``, whether it is unequal and what was computed is what is known to come out;
            ``difference`` = computed - published; ``unit``, what one step of the last published digit is worth;
            ``convention``, the one of its group; ``source``; ``note``, why it was not computed, or why it is known to
            differ.
        summary: one row per group: ``what figures equal unequal known not_computed largest_difference convention
            note``. The convention is the first under which all figures of the group are equal; where there is none, the
            one under which most are, of several the closest. All figures of the group are judged under it.
        conventions: one row per group and convention that was tried: ``what convention figures equal
            largest_difference``.
    """

    title: ClassVar[str] = "Verification"

    summary: pd.DataFrame
    conventions: pd.DataFrame

    @property
    def holds(self) -> bool:
        """Return whether no figure is unequal, but for those of which the computed number is known."""
        return not (self._unequal & ~self.table["known"]).any()

    @property
    def _unequal(self) -> pd.Series:
        return self.table["equal"].map(lambda equal: equal is False).astype(bool)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"summary": self.summary, "table": self.table, "conventions": self.conventions}

    def headline(self) -> str:
        """Return how many figures are equal, unequal, and not computed."""
        n = self.summary[["figures", "equal", "unequal", "known", "not_computed"]].sum()
        nameless = int((self._unequal & self.table["computed"].isna()).sum())
        parts = [f"{n['equal']:,} of {count(int(n['figures']), 'figure')} equal"]
        if n["unequal"]:
            more = [f"{n['known']:,} known to be"] * bool(n["known"])
            more += [f"{nameless:,} of no such name"] * bool(nameless)
            parts.append(f"{n['unequal']:,} unequal" + (f" ({', '.join(more)})" if more else ""))
        if n["not_computed"]:
            parts.append(f"{n['not_computed']:,} not computed")
        return f"{self.settings['collection']}: {', '.join(parts)}"

    def __str__(self) -> str:
        shown = self.summary.drop(columns=["known", "note"])
        longest = int(shown["convention"].str.len().max())
        # long ones to the left, so that the numbers stay in sight
        shown["convention"] = shown["convention"].str.ljust(longest)
        shown = shown.rename(columns={"convention": "convention".ljust(longest)})
        text = shown.to_string(index=False, float_format="{:.2g}".format)
        lines = [repr(self), *(line.rstrip() for line in text.split("\n"))]
        differing = self.table[self._unequal]
        if len(differing):
            lines += ["unequal:", differing[_SHOWN].to_string(index=False, float_format="{:.10g}".format)]
        lines += self._not_computed()
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        summary = self.summary.drop(columns=["known", "note"]).to_html(
            index=False, escape=True, na_rep="-", float_format="{:.2g}".format
        )
        parts = [f"<p><b>{html.escape(repr(self))}</b></p>", summary]
        differing = self.table[self._unequal]
        if len(differing):
            shown = differing[_SHOWN].to_html(
                index=False, escape=True, na_rep="-", float_format="{:.10g}".format, max_rows=None
            )
            parts += ["<p>unequal:</p>", shown]
        parts += [f"<p>{html.escape(line)}</p>" for line in self._not_computed()]
        return "".join(parts)

    def _not_computed(self) -> list[str]:
        reasons = self.table.loc[self.table["equal"].map(lambda equal: equal is None), "note"].value_counts(sort=False)
        return [f"{count(int(n), 'figure')} {reason}" for reason, n in reasons.items()]


@door
def verify(
    name: str | ReuseDataset,
    *,
    runs: RunSet | str | Path | None = None,
    qrels: Qrels | pd.DataFrame | str | Path | None = None,
    figures: str | Path | None = None,
    download: bool = False,
    verbose: bool = False,
) -> Verification:
    """Replay the published figures of a collection: its files are right, and so is what is computed from them.

    Each figure is computed anew and compared with what was published. It is equal when it differs by no more than half
    a unit of the last published digit (.4692 stands for .46915 to .46925, either way of rounding), or under the
    convention ``rounding = "truncate"`` when further digits were cut off. Where a group of figures hangs on a
    convention (ranking order, who contributed), its file lists those to try; the whole group is judged under one of
    them, which is reported.

    Args:
        name: the collection, such as ``"trec-8/adhoc"``, or its dataset.
        runs: a RunSet, taken as it is with its teams, types and pooled flags; or a folder of run files, which get
            those on record. Default: the collection's own, as its dataset finds them.
        qrels: a Qrels, a frame or a file. Default: the collection's own.
        figures: a TOML file of figures in place of the package's.
        download: fetch run files that are not on this machine. Default: do with those that are.
        verbose: show progress bars.

    Returns:
        Verification: ``.table`` has a row per figure, ``.summary`` one per group of them.

    Raises:
        InputError: nothing is published here for the collection, its judgments cannot be had, a folder without runs, a
            file of figures that is not as it should be.

    Example:
        >>> import pt_reuse as ptr, pathlib, tempfile
        >>> field = ptr.simulate_field(seed=8)
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.toml"
        >>> _ = file.write_text('''
        ... collection = "mine"
        ... title = "Simulated"
        ... [[figure]]
        ... what = "AP"
        ... kind = "scores"
        ... measure = "AP"
        ... values = { lex1a = "0.4242", neu2a = "0.1" }
        ... source = "nowhere"
        ... ''')
        >>> found = verify("mine", runs=field.runs, qrels=field.qrels, figures=file)
        >>> found.headline()
        'Simulated: 0 of 2 figures equal, 2 unequal'
    """
    flag("download", download)
    flag("verbose", verbose)
    if isinstance(name, ReuseDataset):
        name = name.collection.name
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a collection must be a text such as 'trec-8/adhoc', got {name!r}.")
    name = name.removeprefix("reuse:").strip("/")
    published = published_figures(name) if figures is None else read_published(figures)
    if published.collection != name:
        raise InputError(f"{figures} has figures of {published.collection!r}, not of {name!r}.")
    # before any file is read: all that could be wrong with the figures
    ways = {figure.what: conventions_of(figure, published.figures) for figure in published.figures}
    dataset = None if isinstance(runs, RunSet) and qrels is not None else ReuseDataset(_collection(name, figures))
    judgments = dataset.get_judgments() if dataset and qrels is None else as_qrels(qrels)
    orders = {str(order) for way in ways.values() for convention in way for order in convention.given.values()}
    field: RunSet | str = runs if isinstance(runs, RunSet) else ""
    reread: Callable[[str], RunSet] | None = None
    if dataset and not isinstance(runs, RunSet):
        # all other orders follow from that of the file
        first = "file" if orders & {"file", "file_ties"} else "trec_eval"
        reread = partial(_read, dataset, runs, download, verbose)
        try:
            field = reread(first)
        except InputError as error:
            # a file that cannot be read is an error; none at all leaves the judgments to be checked
            if runs is not None or download or _has_run_files(dataset):
                raise
            field = f"no runs: {error}"
    submitted = _submitted(name)
    field, missing = _without_strangers(field, submitted)
    if isinstance(field, RunSet):
        check_topics(field, judgments)
    replay = Replay(judgments, field, reread=reread, published=_published_scores(published), verbose=verbose)
    groups = [
        replay_group(figure, ways[figure.what], replay, submitted, missing)
        for figure in pt.tqdm(published.figures, desc="verifying", unit="group", disable=not verbose)
    ]
    return Verification(
        table=pd.concat([rows for rows, _ in groups], ignore_index=True),
        summary=pd.DataFrame([summarise(rows) for rows, _ in groups]),
        conventions=pd.concat([tried for _, tried in groups], ignore_index=True),
        settings={
            "collection": published.title, "judgments": f"{len(judgments):,}",
            "runs": f"{len(field):,} of {len(field) + len(missing):,}" if isinstance(field, RunSet) else "none",
        },
    )  # fmt: skip


def _collection(name: str, figures: str | Path | None) -> Collection:
    """Return the collection of a name; figures of one's own need none."""
    try:
        return find_collection(name)
    except UnknownCollectionError as error:
        if figures is None:
            raise
        raise InputError(
            f"{figures} is about {name!r}, which is no registered collection. Pass both runs= (a RunSet: "
            f"read_runs(folder) makes one) and qrels=, or make its name known with register_collection. ({error})"
        ) from error


def _read(dataset: ReuseDataset, folder: str | Path | None, download: bool, verbose: bool, order: str) -> RunSet:
    return dataset.get_runs(runs=folder, missing="ignore", download=download, order=order, verbose=verbose)


def _has_run_files(dataset: ReuseDataset) -> bool:
    submitted = dataset.collection.submitted
    return submitted is None or bool(find_run_files(dataset.collection, submitted["name"]))


def _submitted(name: str) -> list[str]:
    """Return the runs that the collection has, where this is on record."""
    try:
        submitted = find_collection(name).submitted
    except UnknownCollectionError:
        return []
    return [] if submitted is None else submitted["name"].tolist()


def _without_strangers(field: RunSet | str, submitted: list[str]) -> tuple[RunSet | str, list[str]]:
    """Return the submitted runs of a field, and the names of those that it lacks."""
    if isinstance(field, str) or not submitted:
        return field, []
    strangers = [name for name in field.names if name not in set(submitted)]
    missing = [name for name in submitted if name not in field]
    if len(missing) == len(submitted):
        raise InputError(
            f"none of {count(len(field), 'run')} was submitted to this collection: {examples(strangers)}. Runs "
            f"are known by their names: {examples(submitted)}."
        )
    if strangers:
        warn(
            f"{count(len(strangers), 'run')} not of this collection, left out: {examples(strangers)}.",
        )
    return field.select([name for name in field.names if name in set(submitted)]), missing


def _published_scores(published: PublishedFigures) -> dict[str, pd.Series]:
    scored = [figure for figure in published.figures if figure.kind == "scores"]
    return {figure.what: pd.Series({name: value.number for name, value in figure.values.items()}) for figure in scored}
