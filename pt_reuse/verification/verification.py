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
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_reading import Reading, as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, located, warn
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
    usual = {name: u[0] if isinstance(u, tuple) else u for name, u in KINDS[kind][1].items()} | {"rounding": "half"}
    given = {**figure.parameters, **overlay}
    if odd := [name for name in given if name not in usual]:
        raise InputError(f"kind {kind!r} has no parameter {examples(odd)}; it has {examples(usual, 20)}.")
    options = usual | {name: checked_parameter(kind, name, value, scored) for name, value in given.items()}
    if lacking := [name for name, value in options.items() if value is ...]:
        raise InputError(f'the figure needs {lacking[0]}, such as {lacking[0]} = "AP".', argument=lacking[0])
    for name, value in figure.values.items():
        # 0 would stand for all from -.5 to .5
        if {kind, name, options.get("statistic")} & FRACTIONS and value.unit >= 1 and not value.declared:
            decimals = "Write the decimals that were published, or say how many there were, decimals = 4."
            raise InputError(
                f"{value.number:.10g} is a whole number, and this is no count. {decimals}", place=repr(name)
            )

    def is_usual(name: str) -> bool:
        if name == "measure":
            # the figure tells cutoffs of measures
            return not any(set(measure.params) - {"cutoff"} for measure in options[name])
        return bool(options[name] == usual[name])

    # what is computed is told by the figure; what a convention lays over the rest comes last
    first = [name for name in ("order", "contributors") if name in options]
    others = [n for n in options if n not in ("by", "statistic", "count", *first, *overlay) and not is_usual(n)]
    names = [*first, *others, *(name for name in overlay if name not in first)]
    return options, ", ".join(f"{name}={_told(options[name])}" for name in names)


def _told(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    return count(len(value), "run") if isinstance(value, tuple) else str(value)


def _attempt(
    figure: PublishedFigure,
    options: dict[str, Any],
    label: str,
    replay: Replay,
    submitted: list[str],
    missing: list[str],
) -> tuple[pd.DataFrame, str]:
    """Return the rows of a group under one convention, and why nothing could be computed."""
    of_runs, untried, computed = figure.kind == "scores", "", {}
    try:
        if missing and figure.kind not in ("scores", "judgments", "prefixes"):
            raise InputError(f"{count(len(missing), 'run')} missing: {examples(missing)}")
        computed = dict(KINDS[figure.kind][0](replay, SimpleNamespace(**options), list(figure.values)))
    except InputError as error:
        untried = str(error)
    rows = []
    for name, value in figure.values.items():
        found = computed.get(name, "")
        why = found if isinstance(found, str) else "it is not defined for these runs" if np.isnan(found) else ""
        number = np.nan if isinstance(found, str) else float(found)
        equal: bool | None = value.agrees(number, truncated=options["rounding"] == "truncate")
        known = not equal and name in figure.computed and figure.computed[name].agrees(number)
        note = figure.differs if known else ""
        if np.isnan(number):
            # a name of nothing is an error in the figures or in the field, not a gap
            is_name = (of_runs and name in missing) or (
                bool(untried) and not (of_runs and name not in (submitted or [name]))
            )
            equal = None if why or is_name else False
            near = get_close_matches(name, [*computed, *(missing if of_runs else ())], n=1)
            nameless = f"nothing is named {name!r}, neither in the field nor on record"
            nameless += f"; did you mean {near[0]!r}?" if near else ""
            note = f"not computed: {(why or untried or 'its run file is missing') if equal is None else nameless}"
        rows.append(
            {
                "what": figure.what,
                "name": name,
                "published": value.number,
                "computed": number,
                "equal": equal,
                "known": known,
                "difference": number - value.number,
                "last_digit": value.unit,
                "convention": "" if np.isnan(number) else label,
                "source": figure.source,
                "note": note,
            }
        )
    return pd.DataFrame(rows).astype({"equal": object}), untried


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
        chosen.loc[lost, ["convention", "note"]] = ["", f"not computed: {untried}"]
        chosen["equal"] = chosen["equal"].mask(lost, None)
    return chosen


def _summary(rows: pd.DataFrame, convention: str) -> dict[str, Any]:
    return {
        "what": rows["what"].iloc[0],
        "figures": len(rows),
        "equal": int(rows["equal"].eq(True).sum()),
        "unequal": int(rows["equal"].eq(False).sum()),
        "known": int(rows["known"].sum()),
        "not_computed": int(rows["equal"].isna().sum()),
        "largest_difference": rows["difference"].abs().max(),
        "convention": convention,
        "note": "; ".join(note for note in rows["note"].unique() if note),
    }


# the runs and judgments


def _material(
    name: str, runs: Any, qrels: Any, own: bool, download: bool, reading: Reading
) -> tuple[RunSet | str, Qrels, list[str]]:
    """Return the runs, or why there are none; the judgments; the names of the runs on record, if they are."""
    runs = held(runs)
    in_memory = runs is not None and not is_files(runs)
    try:
        collection = find_collection(name)
    except UnknownCollectionError:
        # figures of one's own need no collection
        if not (own and in_memory and qrels is not None):
            raise
        return as_runs(runs, qrels), as_qrels(qrels), []
    found: RunSet | str
    if in_memory:
        found = as_runs(runs, qrels)
        judgments = judgments_of(collection) if qrels is None else as_qrels(qrels)
    else:
        # before judgments are looked for, maybe by way of the network
        plan = plan_runs(collection, {}, reading, types=None, runs=runs, missing="ignore", download=download)
        judgments = judgments_of(collection) if qrels is None else as_qrels(qrels)
        try:
            found = plan.get()
        except InputError as error:
            # a file that cannot be read is an error; none at all leaves the judgments to be checked
            if runs is not None or download or not plan.is_fetched or find_run_files(collection, plan.names or ()):
                raise
            found = f"no runs: {error}"
    submitted = [] if collection.submitted is None else collection.submitted["name"].tolist()
    if not isinstance(found, str):
        strangers = [run for run in found.names if submitted and run not in set(submitted)]
        if len(strangers) == len(found):
            raise InputError(
                f"none of {count(len(found), 'run')} was submitted to this collection: {examples(strangers)}. Runs "
                f"are known by their names: {examples(submitted)}."
            )
        if strangers:
            warn(f"{count(len(strangers), 'run')} not of this collection, left out: {examples(strangers)}.")
            found = found.select([run for run in found.names if run not in set(strangers)])
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
    here = [] if isinstance(found, str) else found.names
    missing = [run for run in submitted if run not in set(here)] if here else []
    replay, parts, summaries, tried = Replay(found, judgments, scored), [], [], []
    # a published figure is equal or not, whatever it means
    with told_elsewhere():
        bar = pt.tqdm(zip(groups, ways, strict=True), total=len(groups), desc="verifying", disable=not verbose)
        for figure, conventions in bar:
            attempts = [_attempt(figure, how, label, replay, submitted, missing) for how, label in conventions]
            for (rows, _), (_, label) in zip(attempts, conventions, strict=True):
                row = _summary(rows, label) | {"figures": int(rows["computed"].notna().sum())}
                tried.append(
                    {key: row[key] for key in ("what", "convention", "figures", "equal", "largest_difference")}
                )
            parts.append(_judged(attempts))
            summaries.append(_summary(parts[-1], max(parts[-1]["convention"])))
    settings = {
        "collection": title,
        "judgments": f"{len(judgments):,}",
        "runs": "none" if isinstance(found, str) else f"{len(here):,} of {len(here) + len(missing):,}",
    }
    if not isinstance(found, str) and found.left_out:
        settings["dropped"] = found.left_out
    return Verification(
        table=pd.concat(parts, ignore_index=True),
        summary=pd.DataFrame(summaries),
        conventions=pd.DataFrame(tried),
        collection=title,
        settings=settings,
    )
