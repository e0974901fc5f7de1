"""Verification: published figures of a collection, replayed on the user's files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyterrier as pt

from pt_reuse import _html
from pt_reuse._check import count, flag
from pt_reuse._errors import Advice, InputError, door, in_python
from pt_reuse._report import Column, Digits, Report
from pt_reuse._text import WIDTH, prose, table
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.registry import real_name
from pt_reuse.data.run_reading import Reading
from pt_reuse.result import Result
from pt_reuse.verification.group import DIFFERING, Status, Verdict, conventions_of, replay_group
from pt_reuse.verification.published import PublishedFigures, published_figures, read_published
from pt_reuse.verification.replay import Material, Replay, gather

#: columns of a figure that is unequal
_SHOWN = ["what", "name", "published", "computed", "difference", "convention", "note"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Verification(Result):
    """Published figures beside what was computed from the user's files; made by :func:`verify`.

    Attributes:
        collection: whose figures they are, as people call it.
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
        verdicts: one per row of `table`: its status, and why it was not computed, as values.
    """

    title: ClassVar[str] = "Verification"

    collection: str
    summary: pd.DataFrame
    conventions: pd.DataFrame
    verdicts: tuple[Verdict, ...]

    @property
    def holds(self) -> bool:
        """Return whether every figure that could be computed is equal, or differs as it is known to."""
        return not any(verdict.status in (Status.UNEQUAL, Status.NAMELESS) for verdict in self.verdicts)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"summary": self.summary, "table": self.table, "conventions": self.conventions}

    def headline(self) -> str:
        """Return how many figures are equal, unequal, and not computed."""
        statuses = [verdict.status for verdict in self.verdicts]
        parts = [f"{statuses.count(Status.EQUAL):,} of {count(len(statuses), 'figure')} equal"]
        unequal = sum(map(statuses.count, DIFFERING))
        if unequal:
            known, nameless = statuses.count(Status.KNOWN), statuses.count(Status.NAMELESS)
            more = [f"{known:,} known to be"] * bool(known) + [f"{nameless:,} of no such name"] * bool(nameless)
            parts.append(f"{unequal:,} unequal" + (f" ({', '.join(more)})" if more else ""))
        if Status.NOT_COMPUTED in statuses:
            parts.append(f"{statuses.count(Status.NOT_COMPUTED):,} not computed")
        return f"{self.collection}: {', '.join(parts)}"

    def __str__(self) -> str:
        groups = table(self._groups().drop(columns="convention"), width=WIDTH, numbers="{:.2g}")
        differing, parts = self._differing(), [prose(repr(self), width=WIDTH), groups]
        lines = self._conventions_in_words()
        if len(differing):
            figures = table(differing.drop(columns=["convention", "note"]), width=WIDTH, numbers="{:.10g}")
            lines = [*lines, "unequal:", *figures.split("\n")]
            for row in differing.to_dict("records"):
                lines += [f"- {row['what']}, {row['name']}: {row['note']}"] if row["note"] else []
        lines += self.not_computed(in_python)
        return "\n".join([*parts, *(prose(line, width=WIDTH) for line in lines)])

    def report(self) -> Report:
        """Return what a paper prints: per group of figures how many are equal, unequal and not computed."""
        groups = self.summary
        return Report(
            [
                Column("Published", groups["what"]),
                Column("Figures", groups["figures"], Digits.COUNT),
                Column("Equal", groups["equal"], Digits.COUNT),
                Column("Unequal", groups["unequal"], Digits.COUNT),
                Column("Not computed", groups["not_computed"], Digits.COUNT),
                Column("Largest difference", groups["largest_difference"], Digits.SIZE),
            ],
            caption=(
                f"Published figures of {self.collection}, computed again from its runs and judgments: a figure is "
                "equal when it is off by no more than half a unit of its last published digit, or as its convention "
                "rounds; the largest difference is without its sign."
            ),
            notes=[*self._conventions_in_words(), *self._known_in_words()],
        )

    def _conventions_in_words(self) -> list[str]:
        computed = self.summary[self.summary["convention"] != ""]
        groups = computed.groupby("convention", sort=False)["what"]
        return [f"Under {convention}: {'; '.join(what)}." for convention, what in groups]

    def _known_in_words(self) -> list[str]:
        known = int(self.summary["known"].sum())
        return [f"Known to differ: {count(known, 'figure')}."] if known else []

    def not_computed(self, advice: Callable[[Advice], str]) -> list[str]:
        """Return why figures were not computed, a sentence for each reason.

        Args:
            advice: puts advice into words, such as which argument to give.
        """
        missing = [verdict.reason for verdict in self.verdicts if verdict.status is Status.NOT_COMPUTED]
        reasons = pd.Series([reason.worded(advice) for reason in missing if reason is not None], dtype=object)
        return [
            f"{count(int(n), 'figure')} not computed: {reason}"
            for reason, n in reasons.value_counts(sort=False).items()
        ]

    def _repr_html_(self) -> str:
        head = _html.headline(f"{self.title}: {self.headline()}", *self.not_computed(in_python))
        parts = [head, _html.table(self._groups(), numbers="{:.2g}")]
        differing = self._differing()
        if len(differing):
            parts += ["<p>unequal:</p>", _html.table(differing, numbers="{:.10g}")]
        return "".join([*parts, _html.folded(self.settings)])

    def _groups(self) -> pd.DataFrame:
        return self.summary.drop(columns=["known", "note"])

    def _differing(self) -> pd.DataFrame:
        return self.table.loc[[verdict.status in DIFFERING for verdict in self.verdicts], _SHOWN]


@door
def verify(
    name: str | ReuseDataset,
    *,
    runs: Any = None,
    qrels: Any = None,
    figures: str | Path | None = None,
    download: bool = False,
    bad_lines: str = "error",
    other_files: str = "error",
    verbose: bool = False,
) -> Verification:
    """Compute the published figures of a collection from your files, and say which are equal.

    A figure is one published number, such as the MAP of a run. A computed number is equal to it when the two differ by
    no more than half a unit of the last published digit: .4692 stands for .46915 to .46925, either way of rounding.
    Where further digits were cut off (``rounding = "truncate"``), it stands for .4692 to .4693. Some figures depend on
    a convention, such as the ranking order. Their file lists those to try. All figures of a group are judged under
    one of them, and the result says which.

    Args:
        name: the collection, such as ``"trec-8/adhoc"``, or its dataset.
        runs: a RunSet, taken as it is with its teams, types and pooled flags, or runs in another form that are in
            memory (see :doc:`runs`), which have none; or run files, best their folder, which get those on record.
            Default: the collection's own, as its dataset finds them.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`. Default: the collection's
            own.
        figures: a TOML file of figures in place of the package's.
        download: True fetches run files that are not on this machine; default False.
        bad_lines: lines that are no run line, an ``"error"`` or ``"skip"``, as in :func:`read_runs`; settings
            say how many were left out.
        other_files: files without a run line, as in :func:`read_runs`.
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
    name = _checked(name)
    flag("download", download)
    reading = Reading(bad_lines=bad_lines, other_files=other_files, verbose=verbose)
    published = published_figures(name) if figures is None else read_published(figures)
    if real_name(published.collection) != name:
        raise InputError(f"{figures} has figures of {published.collection!r}, not of {name!r}.")
    # before any file is read: all that could be wrong with the figures
    ways = [conventions_of(figure, published.figures) for figure in published.figures]
    material = gather(name, runs, qrels, figures=figures, download=download, reading=reading)
    replay = Replay(material, published=_published_scores(published), verbose=verbose)
    todo = list(zip(published.figures, ways, strict=True))
    groups = [
        replay_group(figure, conventions, replay)
        for figure, conventions in pt.tqdm(todo, desc="verifying", unit="group", disable=not verbose)
    ]
    outcomes = [outcome for group in groups for outcome in group.outcomes]
    rows = [outcome.row() for outcome in outcomes]
    # None, True and False: neither a flag nor a number
    equal = pd.Series([row["equal"] for row in rows], dtype=object)
    return Verification(
        table=pd.DataFrame(rows).assign(equal=equal),
        summary=pd.DataFrame([group.summary() for group in groups]),
        conventions=pd.DataFrame([attempt.row() for group in groups for attempt in group.attempts]),
        verdicts=tuple(outcome.verdict for outcome in outcomes),
        collection=published.title,
        settings={
            "collection": published.title,
            "judgments": f"{len(material.qrels):,}",
            "runs": _runs_in_words(material),
            **({"dropped": material.runs.left_out} if material.runs is not None and material.runs.left_out else {}),
        },
    )


def _checked(name: str | ReuseDataset) -> str:
    if isinstance(name, ReuseDataset):
        name = name.collection.name
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a collection must be a text such as 'trec-8/adhoc', got {name!r}.")
    return real_name(name)


def _runs_in_words(material: Material) -> str:
    if material.runs is None:
        return "none"
    return f"{len(material.runs):,} of {len(material.runs) + len(material.missing):,}"


def _published_scores(published: PublishedFigures) -> dict[str, pd.Series]:
    scored = [figure for figure in published.figures if figure.kind == "scores"]
    return {figure.what: pd.Series({name: value.number for name, value in figure.values.items()}) for figure in scored}
