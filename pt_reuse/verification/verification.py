"""Verification: published figures of a collection, replayed on the user's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse import _text
from pt_reuse._check import choice, count, examples, flag
from pt_reuse._report import Column, Digits, Report
from pt_reuse._text import WIDTH, prose, table
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset, judgments_of
from pt_reuse.collections.definition import UnknownCollectionError, find_collection, real_name
from pt_reuse.collections.runs import find_run_files, plan_runs
from pt_reuse.data.judgments import as_qrels
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_reading import Reading, as_runs
from pt_reuse.errors import InputError, located, warn
from pt_reuse.result import Result
from pt_reuse.scoring.scores import check_topics
from pt_reuse.verification.kinds import (
    KINDS,
    Kind,
    Material,
    NotComputedError,
    Options,
    Parameter,
    Reason,
    Replay,
    one_of,
)
from pt_reuse.verification.published import PublishedFigure, PublishedFigures, published_figures, read_published


class Status(Enum):
    """What came out for a figure."""

    EQUAL = "equal"
    UNEQUAL = "unequal"
    #: unequal, and what was computed is what is known to come out
    KNOWN = "known to differ"
    #: nothing in the field or on record has the name: an error in the figures or in the field, not a gap
    NAMELESS = "of no such name"
    NOT_COMPUTED = "not computed"


#: a figure that is not as published, for whatever reason
DIFFERING = (Status.UNEQUAL, Status.KNOWN, Status.NAMELESS)
#: columns of a figure that is unequal
_SHOWN = ["what", "name", "published", "computed", "difference", "convention", "note"]
#: what a convention always tells, in this order; all else where it is not as usual
_ALWAYS = ("order", "contributors")
_ROUNDING = one_of("half", "truncate")


@dataclass(frozen=True)
class Verdict:
    """What is said of a figure: how it compares with what was published, and why there is no number."""

    status: Status
    reason: str | None = None


def _conventions_in_words(result: Verification) -> list[str]:
    computed = result.summary[result.summary["convention"] != ""]
    groups = computed.groupby("convention", sort=False)["what"]
    return [f"Under {convention}: {'; '.join(what)}." for convention, what in groups]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Verification(Result):
    """Published figures beside what was computed from the user's files; made by :func:`verify`.

    Attributes:
        collection: the title of the collection.
        table: one row per figure: ``what``, the group it belongs to, and ``name``, the run, team or statistic;
            ``published`` and ``computed``; ``equal``, True or False, None if it could not be computed (False if nothing
            has that name); ``known``, whether it is unequal and the computed number is the one known to result;
            ``difference`` = computed - published; ``unit``, one step of the last published digit; ``convention``, the
            one of its group; ``source``; ``note``, why it was not computed, or why it is known to differ.
        summary: one row per group: ``what figures equal unequal known not_computed largest_difference convention
            note``. The convention is the first under which all figures of the group are equal; if there is none, the
            one under which most are, of several the closest. All figures of the group are judged under it.
        conventions: one row per group and convention that was tried: ``what convention figures equal
            largest_difference``.
        verdicts: one per row of `table`: its status, and why it was not computed, as values.
    """

    title: ClassVar[str] = "Verification"
    valid_for = "the runs ({runs}) and judgments ({judgments}) at hand, each figure under its own convention."
    not_covered = "numbers that nobody published."

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

    def answers(self) -> list[str]:
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
        return [f"{self.collection}: {', '.join(parts)}"]

    def report(self, by: str | None = None, **options: Any) -> Report:
        """Return what a paper prints: per group of figures how many are equal, unequal and not computed."""
        if by is not None or options:
            raise InputError("a verification has one report, without options.")
        groups, known = self.summary, int(self.summary["known"].sum())
        counts = ("figures", "equal", "unequal", "not_computed")
        return Report(
            [
                Column("Published", groups["what"]),
                *(Column(name.replace("_", " ").capitalize(), groups[name], Digits.COUNT) for name in counts),
                Column("Largest difference", groups["largest_difference"], Digits.SIZE),
            ],
            caption=(
                f"Published figures of {self.collection}, computed again from its runs and judgments: a figure is "
                "equal when it is off by no more than half a unit of its last published digit, or as its convention "
                "rounds; the largest difference is without its sign."
            ),
            notes=[*_conventions_in_words(self), *[f"Known to differ: {count(known, 'figure')}."] * bool(known)],
            verdict=[f"{line}." for line in self.answers()],
        )

    def __str__(self) -> str:
        groups = table(self._groups().drop(columns="convention"), width=WIDTH, numbers="{:.2g}")
        differing, parts = self._differing(), [prose(f"{self.title}: {self.headline()}", width=WIDTH), groups]
        lines = _conventions_in_words(self)
        if len(differing):
            figures = table(differing.drop(columns=["convention", "note"]), width=WIDTH, numbers="{:.10g}")
            lines = [*lines, "unequal:", *figures.split("\n")]
            for row in differing.to_dict("records"):
                lines += [f"- {row['what']}, {row['name']}: {row['note']}"] if row["note"] else []
        lines += [*self.not_computed(), f"[{', '.join(f'{name}={value}' for name, value in self.settings.items())}]"]
        return "\n".join([*parts, *(prose(line, width=WIDTH) for line in lines)])

    def not_computed(self) -> list[str]:
        """Return why figures were not computed, a sentence for each reason."""
        missing = [verdict.reason for verdict in self.verdicts if verdict.status is Status.NOT_COMPUTED]
        reasons = pd.Series([str(reason) for reason in missing if reason is not None], dtype=object)
        return [
            f"{count(int(n), 'figure')} not computed: {reason}"
            for reason, n in reasons.value_counts(sort=False).items()
        ]

    def _repr_html_(self) -> str:
        head = _text.html_headline(f"{self.title}: {self.headline()}", *self.conditions(), *self.not_computed())
        unequal = _text.html_table(self._differing(), numbers="{:.10g}")
        groups, settings = _text.html_table(self._groups(), numbers="{:.2g}"), _text.html_folded(self.settings)
        return f"{head}{groups}<p>unequal:</p>{unequal}{settings}"

    def _groups(self) -> pd.DataFrame:
        return self.summary.drop(columns=["known", "note"])

    def _differing(self) -> pd.DataFrame:
        return self.table.loc[[verdict.status in DIFFERING for verdict in self.verdicts], _SHOWN]


# the conventions under which a figure is computed


@dataclass(frozen=True)
class Convention:
    """One way to compute a figure: all its parameters, and what its numbers depend on, in one line."""

    options: Options
    label: str


def conventions_of(figure: PublishedFigure, figures: Sequence[PublishedFigure]) -> list[Convention]:
    """Return the ways to compute a figure, in the order in which its file lists them; raise where there is none."""
    scored = [other.what for other in figures if other.kind == "scores"]
    with located(figure.place):
        kind = KINDS[choice("kind", figure.kind, tuple(KINDS))]
        return [_convention(figure, kind, overlay, scored) for overlay in figure.conventions]


def _convention(figure: PublishedFigure, kind: Kind, overlay: Mapping[str, Any], scored: Sequence[str]) -> Convention:
    parameters: dict[str, Parameter] = {**kind.parameters, "rounding": _ROUNDING}
    own = {**figure.parameters, **overlay}
    if odd := [name for name in own if name not in parameters]:
        known = examples(parameters, 20)
        raise InputError(f"kind {figure.kind!r} has no parameter {examples(odd)}; it has {known}.")
    if lacking := [name for name, parameter in parameters.items() if parameter.usual is ... and name not in own]:
        raise InputError(f'the figure needs {lacking[0]}, such as {lacking[0]} = "AP".', argument=lacking[0])
    options = {
        name: parameter.checked(name, own[name], scored) if name in own else parameter.usual
        for name, parameter in parameters.items()
    }
    for name, value in figure.values.items():
        kind.check_name(name, options)
        # 0 would stand for all from -.5 to .5
        if not kind.is_count(name, options) and value.unit >= 1 and not value.declared:
            raise InputError(
                f"{value.number:.10g} is a whole number, and this is no count: write the decimals that were published, "
                f'"{value.number:.4f}", or say how many there were, decimals = 4.',
                place=repr(name),
            )
    return Convention(options, _label(parameters, options, overlay))


def _label(parameters: Mapping[str, Parameter], options: Options, overlay: Mapping[str, Any]) -> str:
    """Return what the numbers depend on: order and contributors, and whatever else is not as usual."""
    first = [name for name in _ALWAYS if name in parameters]
    # what a convention lays over the rest comes last, even where it is as usual
    last = [name for name in overlay if name not in first]
    between = [
        name
        for name, parameter in parameters.items()
        # what is computed is told by the figure, how it is computed here
        if name not in (*first, *last) and not parameter.says_what and not _is_usual(parameter, options[name])
    ]
    return ", ".join(f"{name}={_told(options[name])}" for name in (*first, *between, *last))


def _is_usual(parameter: Parameter, value: Any) -> bool:
    if isinstance(value, list):
        # the figure tells cutoffs of measures
        return not any(set(measure.params) - {"cutoff"} for measure in value)
    return bool(value == parameter.usual)


def _told(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    return count(len(value), "run") if isinstance(value, tuple) else str(value)


# a group of figures, computed under every convention, judged under the one that explains it best


@dataclass(frozen=True)
class Attempt:
    """What came out for a group under one convention: numbers and verdicts by name; why nothing could be computed."""

    figure: PublishedFigure
    convention: str
    numbers: Mapping[str, float]
    verdicts: Mapping[str, Verdict]
    untried: Reason | None

    def times(self, *statuses: Status) -> int:
        """Return how many values have one of some statuses."""
        return sum(verdict.status in statuses for verdict in self.verdicts.values())

    def largest_difference(self, *, in_units: bool = False) -> float:
        """Return the largest difference from what was published, or in steps of its last digit; NaN without any."""
        of = self.figure.values
        off = [abs(n - of[name].number) / (of[name].unit if in_units else 1) for name, n in self.numbers.items()]
        return max(off, default=np.nan)

    def row(self) -> dict[str, Any]:
        """Return the row of a verification's conventions."""
        return {
            "what": self.figure.what,
            "convention": self.convention,
            "figures": len(self.numbers),
            "equal": self.times(Status.EQUAL),
            "largest_difference": self.largest_difference(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of a verification's table."""
        return [
            {
                "what": self.figure.what,
                "name": name,
                "published": value.number,
                "computed": self.numbers.get(name, np.nan),
                # None, True and False: neither a flag nor a number
                "equal": None if self.verdicts[name].status is Status.NOT_COMPUTED else self._has(name, Status.EQUAL),
                "known": self._has(name, Status.KNOWN),
                "difference": self.numbers.get(name, np.nan) - value.number,
                "unit": value.unit,
                "convention": self.convention if name in self.numbers else "",
                "source": self.figure.source,
                "note": self._note(name),
            }
            for name, value in self.figure.values.items()
        ]

    def summary(self) -> dict[str, Any]:
        """Return the row of a verification's summary."""
        notes = dict.fromkeys(filter(None, map(self._note, self.figure.values)))
        return {
            "what": self.figure.what,
            "figures": len(self.verdicts),
            "equal": self.times(Status.EQUAL),
            "unequal": self.times(*DIFFERING),
            "known": self.times(Status.KNOWN),
            "not_computed": self.times(Status.NOT_COMPUTED),
            "largest_difference": self.largest_difference(),
            "convention": self.convention if self.numbers else "",
            "note": "; ".join(notes),
        }

    def _has(self, name: str, status: Status) -> bool:
        return self.verdicts[name].status is status

    def _note(self, name: str) -> str:
        """Return why there is no number, or why it is known to differ."""
        if self.verdicts[name].reason is not None:
            return f"not computed: {self.verdicts[name].reason}"
        return self.figure.differs if self._has(name, Status.KNOWN) else ""


def judge_group(attempts: Sequence[Attempt]) -> Attempt:
    """Return the attempt by which a group is judged, the first that explains all figures; else the one that most."""
    off = {id(attempt): attempt.largest_difference(in_units=True) for attempt in attempts}
    explained = {id(attempt): attempt.times(Status.EQUAL, Status.KNOWN) for attempt in attempts}
    chosen = max(attempts, key=lambda a: (explained[id(a)], -np.nan_to_num(off[id(a)], nan=np.inf)))
    untried = next((attempt.untried for attempt in attempts if attempt.untried), None)
    if untried is None or explained[id(chosen)] == len({name for attempt in attempts for name in attempt.numbers}):
        return chosen
    lost = {name for name, verdict in chosen.verdicts.items() if verdict.status is Status.UNEQUAL}
    verdicts = {
        name: Verdict(Status.NOT_COMPUTED, untried and str(untried)) if name in lost else v
        for name, v in chosen.verdicts.items()
    }
    return replace(chosen, verdicts=verdicts, numbers={n: x for n, x in chosen.numbers.items() if n not in lost})


def _attempt(figure: PublishedFigure, convention: Convention, replay: Replay) -> Attempt:
    kind, missing = KINDS[figure.kind], replay.material.missing
    computed: Mapping[str, float | Reason] = {}
    untried = None
    if missing and kind.needs == "all runs":
        untried = Reason(f"{count(len(missing), 'run')} missing: {examples(missing)}")
    else:
        try:
            computed = kind.compute(replay, convention.options, list(figure.values))
        except NotComputedError as error:
            untried = Reason(error)
        except InputError as error:
            untried = Reason(error)
    numbers, verdicts = {}, {}
    for name, published in figure.values.items():
        number = computed.get(name)
        if number is None or isinstance(number, Reason):
            verdicts[name] = _without_number(name, number, computed, kind, replay, untried)
        elif np.isnan(number):
            verdicts[name] = Verdict(Status.NOT_COMPUTED, "it is not defined for these runs")
        else:
            numbers[name] = float(number)
            expected = figure.computed.get(name)
            if published.agrees(number, truncated=convention.options["rounding"] == "truncate"):
                verdicts[name] = Verdict(Status.EQUAL)
            else:
                known = expected is not None and expected.agrees(number)
                verdicts[name] = Verdict(Status.KNOWN if known else Status.UNEQUAL)
    return Attempt(figure, convention.label, numbers, verdicts, untried)


def _without_number(
    name: str,
    reason: Reason | None,
    computed: Mapping[str, float | Reason],
    kind: Kind,
    replay: Replay,
    untried: Reason | None,
) -> Verdict:
    """Return that a name is that of nothing, as far as it is known, or why it has no number."""
    missing, submitted = replay.material.missing, replay.material.submitted
    of_runs = kind.needs == "runs"
    nothing = untried is None or (of_runs and bool(submitted) and name not in submitted)
    if reason is not None or not nothing or (of_runs and name in missing):
        return Verdict(Status.NOT_COMPUTED, str(reason or untried or "its run file is missing"))
    near = get_close_matches(name, [*computed, *(missing if of_runs else ())], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return Verdict(Status.NAMELESS, f"nothing is named {name!r}, neither in the field nor on record{hint}")


# the runs and judgments


def gather(
    name: str, runs: Any, qrels: Any, *, figures: str | Path | None, download: bool, reading: Reading
) -> Material:
    """Return the judgments and runs of a collection, without runs that were submitted to another."""
    runs = held(runs)
    in_memory = as_runs(runs, qrels) if runs is not None and not is_files(runs) else None
    collection = None if in_memory is not None and qrels is not None else _collection(name, figures)
    plan = None
    if collection is not None and in_memory is None:
        # before judgments are looked for, maybe by way of the network
        plan = plan_runs(collection, {}, reading, types=None, runs=runs, missing="ignore", download=download)
    material = Material(judgments_of(collection) if collection and qrels is None else as_qrels(qrels), in_memory)
    if plan is not None:
        try:
            material = replace(material, runs=plan.get())
        except InputError as error:
            # a file that cannot be read is an error; none at all leaves the judgments to be checked
            if runs is not None or download or not plan.is_fetched:
                raise
            if collection is None or find_run_files(collection, plan.names or ()):
                raise
            material = replace(material, no_runs=Reason(f"no runs: {error}"))
    material = _without_strangers(material, name)
    if material.runs is not None:
        check_topics(material.runs, material.qrels)
    return material


def _collection(name: str, figures: str | Path | None) -> Collection:
    try:
        return find_collection(name)
    except UnknownCollectionError as error:
        if figures is None:
            raise
        # figures of one's own need no collection
        raise InputError(
            f"{figures} is about {name!r}, which is no registered collection. Make its name known with "
            "register_collection(...). In Python, a RunSet and judgments given beside the figures need no "
            f"collection. ({error})"
        ) from error


def _without_strangers(material: Material, name: str) -> Material:
    """Return the material with the runs alone that the collection has on record, and those of them that it lacks."""
    try:
        record = find_collection(name).submitted
    except UnknownCollectionError:
        record = None
    submitted = () if record is None else tuple(record["name"])
    runs = material.runs
    if runs is None or not submitted:
        return replace(material, submitted=submitted)
    strangers = [name for name in runs.names if name not in set(submitted)]
    missing = tuple(name for name in submitted if name not in runs)
    if len(missing) == len(submitted):
        raise InputError(
            f"none of {count(len(runs), 'run')} was submitted to this collection: {examples(strangers)}. Runs are "
            f"known by their names: {examples(submitted)}."
        )
    if strangers:
        warn(f"{count(len(strangers), 'run')} not of this collection, left out: {examples(strangers)}.")
    own = runs.select([name for name in runs.names if name in set(submitted)])
    return replace(material, runs=own, submitted=submitted, missing=missing)


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
    no more than half a unit of the last published digit: .4692 stands for .46915 to .46925, either way of rounding. If
    further digits were cut off (``rounding = "truncate"``), it stands for .4692 to .4693. Some figures depend on a
    convention, such as the ranking order. Their file lists the conventions to try. All figures of a group are judged
    under one of them, and the result says which.

    Args:
        name: the collection, such as ``"trec-8/adhoc"``, or its dataset.
        runs: a RunSet, with its own teams, types and pooled flags; runs in another form in memory (see :doc:`runs`),
            which have none; or run files, best their folder, which get those on record. Default: the collection's own,
            as its dataset finds them.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`. Default: the collection's
            own.
        figures: a TOML file of figures instead of the package's.
        download: True fetches run files that are not on this machine; default False.
        bad_lines: lines that are no run line, an ``"error"`` or ``"skip"``, as in :func:`read_runs`; settings
            say how many were left out.
        other_files: files without a run line, as in :func:`read_runs`.
        verbose: show progress bars.

    Returns:
        Verification: ``.table`` has a row per figure, ``.summary`` one per group of them.

    Raises:
        InputError: the package has no figures for the collection, its judgments are not available, a folder without
            runs, an invalid file of figures.

    Example:
        >>> import pt_reuse as ptr, pathlib, tempfile
        >>> field = ptr.demo.simulate_field(seed=8)
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
    if isinstance(name, ReuseDataset):
        name = name.collection.name
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a collection must be a text such as 'trec-8/adhoc', got {name!r}.")
    name = real_name(name)
    flag("download", download)
    reading = Reading(bad_lines=bad_lines, other_files=other_files, verbose=verbose)
    published = published_figures(name) if figures is None else read_published(figures)
    if real_name(published.collection) != name:
        raise InputError(f"{figures} has figures of {published.collection!r}, not of {name!r}.")
    # before any file is read: all that could be wrong with the figures
    ways = [(figure, conventions_of(figure, published.figures)) for figure in published.figures]
    material = gather(name, runs, qrels, figures=figures, download=download, reading=reading)
    replay = Replay(material, published=_published_scores(published), verbose=verbose)
    bar = pt.tqdm(ways, desc="verifying", unit="group", disable=not verbose)
    groups = [[_attempt(figure, convention, replay) for convention in conventions] for figure, conventions in bar]
    judged = [judge_group(attempts) for attempts in groups]
    rows = [row for attempt in judged for row in attempt.rows()]
    here, missing = material.runs, len(material.missing)
    return Verification(
        table=pd.DataFrame(rows).assign(equal=pd.Series([row["equal"] for row in rows], dtype=object)),
        summary=pd.DataFrame([attempt.summary() for attempt in judged]),
        conventions=pd.DataFrame([attempt.row() for attempts in groups for attempt in attempts]),
        verdicts=tuple(verdict for attempt in judged for verdict in attempt.verdicts.values()),
        collection=published.title,
        settings={
            "collection": published.title,
            "judgments": f"{len(material.qrels):,}",
            "runs": "none" if here is None else f"{len(here):,} of {len(here) + missing:,}",
            **({"dropped": here.left_out} if here is not None and here.left_out else {}),
        },
    )


def _published_scores(published: PublishedFigures) -> dict[str, pd.Series]:
    scored = [figure for figure in published.figures if figure.kind == "scores"]
    return {figure.what: pd.Series({name: value.number for name, value in figure.values.items()}) for figure in scored}
