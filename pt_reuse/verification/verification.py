"""Verification: published figures of a collection, replayed on the user's files."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import choice, count, examples, flag
from pt_reuse.collections.dataset import ReuseDataset, judgments_of
from pt_reuse.collections.definition import UnknownCollectionError, find_collection, real_name
from pt_reuse.collections.runs import find_run_files, plan_runs
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import Reading, as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, located
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.scores import check_topics
from pt_reuse.verification.kinds import FRACTIONS, KINDS, Replay, checked_parameter
from pt_reuse.verification.published import PublishedFigure, published_file, read_published


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Verification(Result):
    """Published figures beside what was computed from the user's files; made by :func:`verify`.

    All figures of a group are judged under one convention: the first under which all are equal; if there is none, the
    one under which most are, of several the closest.

    Attributes:
        collection: the title of the collection.
    """

    title: ClassVar[str] = "Verification"
    answer = ("summary", "")
    valid_for = "the runs ({runs}) and judgments ({judgments}) at hand, each figure under its own convention."
    not_covered = "numbers that nobody published."
    columns = """
    what         | Published   |        | the group of the figure
    name         | Name        |        | the run, team or statistic
    published    | Published   | number | the published number
    computed     | Computed    | number | the computed one
    equal        | Equal       |        | True or False (how many, of a group), None if it could not be computed
    known        | Known       |        | whether (how many) it is unequal as it is known to be
    difference   | Difference  | number | computed - published
    last_digit   | Last digit        | number | one step of the last published digit
    convention   | Convention  |        | the one under which it was computed
    source       | Source      |        | who published it
    note         | Note        |        | why it was not computed, or why it is known to differ
    figures      | Figures     | count  | how many figures
    unequal      | Unequal     | count  | how many are not equal
    not_computed | Not computed | count | how many could not be computed
    largest_difference | Largest difference | size | the largest, without its sign
    """
    table: Annotated[
        pd.DataFrame,
        Table("figure", "what name published computed equal known difference last_digit convention source note"),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "group of figures",
            "what figures equal unequal known not_computed largest_difference convention note",
            report="what figures equal unequal not_computed largest_difference",
        ),
    ]
    conventions: Annotated[
        pd.DataFrame,
        Table("group and convention that was tried", "what convention figures equal largest_difference"),
    ]
    collection: str

    @property
    def holds(self) -> bool:
        """Return whether every figure that could be computed is equal, or differs as it is known to."""
        return not (self.table["equal"].eq(False) & ~self.table["known"]).any()

    def answers(self) -> list[str]:
        """Return how many figures are equal; which are not; and why some are not computed."""
        table = self.table
        unequal, lost = table[table["equal"].eq(False)], table[table["equal"].isna()]
        parts = [f"{self.collection}: {table['equal'].eq(True).sum():,} of {count(len(table), 'figure')} equal"]
        if len(unequal):
            known, nameless = int(unequal["known"].sum()), int(unequal["computed"].isna().sum())
            more = [f"{known:,} known to be"] * bool(known) + [f"{nameless:,} of no such name"] * bool(nameless)
            parts.append(f"{len(unequal):,} unequal" + (f" ({', '.join(more)})" if more else ""))
        parts += [f"{len(lost):,} not computed"] * bool(len(lost))
        lines = []
        for row in unequal.itertuples(index=False):
            numbers = "" if np.isnan(row.computed) else f"; computed {row.computed:.10g}"
            note = f"; {row.note}" if row.note else ""
            lines.append(f"unequal: {row.what}, {row.name}: published {row.published:.10g}{numbers}{note}")
        lines += [f"{count(n, 'figure')} {why}" for why, n in lost["note"].value_counts(sort=False).items()]
        return [", ".join(parts), *lines]

    def headline(self) -> str:
        """Return how many figures are equal, unequal and not computed."""
        return self.answers()[0]

    def _shown(self) -> pd.DataFrame:
        return self.summary[list(self.declared["summary"].reported)] if len(self.table) else self.table

    def _rest(self) -> str:
        return "rows in .summary"


# a group of figures under one convention


def _options_of(figure: PublishedFigure, overlay: dict[str, Any], scored: list[str]) -> tuple[dict[str, Any], str]:
    """Return all parameters of a figure under a convention, and those that its numbers depend on in a line."""
    kind = choice("kind", figure.kind, list(KINDS))
    usual = {name: u[0] if isinstance(u, tuple) else u for name, u in KINDS[kind][1].items()}
    given = {**figure.parameters, **overlay}
    if odd := [name for name in given if name not in usual]:
        raise InputError(f"kind {kind!r} has no parameter {examples(odd)}; it has {examples(usual, 20)}.")
    options = usual | {name: checked_parameter(kind, name, value, scored) for name, value in given.items()}
    if lacking := [name for name, value in options.items() if value is ...]:
        raise InputError(f'the figure needs {lacking[0]}, such as {lacking[0]} = "AP".', argument=lacking[0])
    for name, value in figure.values.items():
        # 0 would stand for all from -.5 to .5
        if {kind, name, options.get("statistic")} & FRACTIONS and value.unit >= 1:
            raise InputError(
                f"{value.number:.10g} is a whole number, and this is no count. Write the decimals that were published.",
                place=repr(name),
            )
    # what the name of the figure tells is not told again
    told = ["by", "statistic", "count"]
    if not any(set(measure.params) - {"cutoff"} for measure in options.get("measure", ())):
        told.append("measure")
    names = dict.fromkeys(name for name in ("order", "contributors", *figure.parameters, *overlay) if name in options)
    return options, ", ".join(f"{name}={_told(options[name])}" for name in names if name not in told)


def _told(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    return count(len(value), "run") if isinstance(value, tuple) else str(value)


def _attempt(
    figure: PublishedFigure, options: dict[str, Any], label: str, replay: Replay, submitted: list[str]
) -> tuple[pd.DataFrame, str]:
    """Return the rows of a group under one convention, and why nothing could be computed."""
    untried, computed = "", {}
    try:
        if replay.missing and figure.kind not in ("scores", "judgments", "prefixes"):
            raise InputError(f"{count(len(replay.missing), 'run')} missing: {examples(replay.missing)}")
        computed = dict(KINDS[figure.kind][0](replay, SimpleNamespace(**options), list(figure.values)))
    except InputError as error:
        untried = str(error)
    rows = []
    for name, value in figure.values.items():
        found = computed.get(name, np.nan)
        number = np.nan if isinstance(found, str) else float(found)
        equal: bool | None = value.agrees(number)
        known = not equal and name in figure.computed and figure.computed[name].agrees(number)
        note = figure.differs if known else ""
        if np.isnan(number):
            known_runs = (replay.missing, submitted) if figure.kind == "scores" else ([], [])
            equal, note = _not_computed(name, computed, untried, *known_runs)
        rows.append((name, value.number, number, equal, known, number - value.number, value.unit, note))
    columns = ["name", "published", "computed", "equal", "known", "difference", "last_digit", "note"]
    frame = pd.DataFrame(rows, columns=columns).astype({"equal": object})
    return frame.assign(what=figure.what, source=figure.source, convention=label), untried


def _not_computed(
    name: str, computed: dict[str, Any], untried: str, missing: list[str], submitted: list[str]
) -> tuple[bool | None, str]:
    """Return why a figure has no number, None before it; False where it is of nothing, an error and no gap."""
    if name in computed:
        why = computed[name] if isinstance(computed[name], str) else "it is not defined for these runs"
    elif name in missing:
        why = "its run file is missing"
    elif untried and not (submitted and name not in submitted):
        why = untried
    else:
        near = get_close_matches(name, [*computed, *missing], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return False, f"not computed: nothing is named {name!r}, neither in the field nor on record{hint}"
    return None, f"not computed: {why}"


def _judged(attempts: list[tuple[pd.DataFrame, str]]) -> pd.DataFrame:
    """Return the attempt by which a group is judged, the first that explains most, of several the closest."""

    def worth(rows: pd.DataFrame) -> tuple[int, float]:
        off = (rows["difference"].abs() / rows["last_digit"]).max()
        return int((rows["equal"].eq(True) | rows["known"]).sum()), -float(np.nan_to_num(off, nan=np.inf))

    chosen = max((rows for rows, _ in attempts), key=worth)
    untried = next((why for _, why in attempts if why), "")
    computed = {name for rows, _ in attempts for name in rows["name"][rows["computed"].notna()]}
    if untried and worth(chosen)[0] < len(computed):
        # it may be equal under the convention that could not be tried
        lost = chosen["equal"].eq(False) & ~chosen["known"] & chosen["computed"].notna()
        chosen.loc[lost, ["computed", "difference"]] = np.nan
        chosen.loc[lost, "note"] = f"not computed: {untried}"
        chosen["equal"] = chosen["equal"].mask(lost, None)
    return chosen.assign(convention=chosen["convention"].where(chosen["computed"].notna(), ""))


def _by_group(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Return how many figures of a group are equal, unequal and not computed."""
    counted = rows.assign(
        figures=rows["computed"].notna(),
        equal=rows["equal"].eq(True),
        unequal=rows["equal"].eq(False),
        not_computed=rows["equal"].isna(),
        largest_difference=rows["difference"].abs(),
    ).groupby([*keys], sort=False)
    sums = counted[["figures", "equal", "unequal", "known", "not_computed"]].sum().astype("int64")
    return sums.join(counted["largest_difference"].max()).reset_index()


def _as_declared(frame: pd.DataFrame, table: str) -> pd.DataFrame:
    return frame[Verification.declared[table].columns.split()]


# the runs and judgments


def _material(
    name: str, runs: Any, qrels: Any, own: bool, download: bool, reading: Reading
) -> tuple[RunSet | str, Qrels, list[str]]:
    """Return the runs, or why there are none; the judgments; the names of the runs on record, if they are."""
    found: RunSet | str
    try:
        collection = find_collection(name)
    except UnknownCollectionError:
        # figures of one's own need no collection
        if not own or runs is None or qrels is None:
            raise
        found, judgments, submitted = as_runs(runs, qrels), as_qrels(qrels), []
    else:
        # before judgments are looked for, maybe by way of the network
        plan = plan_runs(collection, {}, reading, types=None, runs=runs, missing="ignore", download=download)
        judgments = judgments_of(collection) if qrels is None else as_qrels(qrels)
        submitted = plan.names or []
        try:
            found = plan.get()
        except InputError as error:
            # a file that cannot be read is an error; none at all leaves the judgments to be checked
            if runs is not None or download or plan.names is None or find_run_files(collection, submitted):
                raise
            return f"no runs: {error}", judgments, submitted
    check_topics(found, judgments)
    return found, judgments, submitted


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
    Some figures depend on a convention, such as the ranking order. Their file lists the conventions to try. All figures
    of a group are judged under one of them, and the result says which.

    Args:
        name: the collection, such as ``"trec-8/adhoc"``, or its dataset.
        runs: run files, best their folder, or runs in another form (see :doc:`runs`). They have the teams, types and
            pooled flags on record. Default: the collection's own, as its dataset finds them.
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
    name = name.collection.name if isinstance(name, ReuseDataset) else name
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a collection must be a text such as 'trec-8/adhoc', got {name!r}.")
    name = real_name(name)
    flag("download", download)
    reading = Reading(bad_lines=bad_lines, other_files=other_files, verbose=verbose)
    about, title, groups = read_published(published_file(name) if figures is None else figures)
    if real_name(about) != name:
        raise InputError(f"{figures} has figures of {about!r}, not of {name!r}.")
    # before any file is read: all that could be wrong with the figures
    scored = {
        figure.what: pd.Series({run: value.number for run, value in figure.values.items()})
        for figure in groups
        if figure.kind == "scores"
    }
    ways = []
    for figure in groups:
        with located(figure.place):
            ways.append([_options_of(figure, dict(overlay), list(scored)) for overlay in figure.conventions])
    found, judgments, submitted = _material(name, runs, qrels, figures is not None, download, reading)
    replay, parts, tried = Replay(found, judgments, scored, submitted), [], []
    # a published figure is equal or not, whatever it means
    with told_elsewhere():
        bar = pt.tqdm(zip(groups, ways, strict=True), total=len(groups), desc="verifying", disable=not verbose)
        for figure, conventions in bar:
            attempts = [_attempt(figure, how, label, replay, submitted) for how, label in conventions]
            tried += [rows for rows, _ in attempts]
            parts.append(_judged(attempts))
    table, every = pd.concat(parts, ignore_index=True), pd.concat(tried, ignore_index=True)
    said = table.groupby("what", sort=False).agg(
        convention=("convention", "max"), note=("note", lambda notes: "; ".join(filter(None, notes.unique())))
    )
    summary = _by_group(table, "what").assign(figures=table.groupby("what", sort=False).size().to_numpy())
    here = 0 if isinstance(found, str) else len(found)
    settings = {
        "collection": title,
        "judgments": f"{len(judgments):,}",
        "runs": "none" if isinstance(found, str) else f"{here:,} of {here + len(replay.missing):,}",
    }
    if not isinstance(found, str) and found.left_out:
        settings["dropped"] = found.left_out
    return Verification(
        table=_as_declared(table, "table"),
        summary=_as_declared(summary.merge(said, on="what"), "summary"),
        conventions=_as_declared(_by_group(every, "what", "convention"), "conventions"),
        collection=title,
        settings=settings,
    )
