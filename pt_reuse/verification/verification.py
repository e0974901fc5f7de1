"""Verification: published figures of a collection, replayed on the user's files, each within its tolerance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._files import user_path
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset, judgments_of
from pt_reuse.collections.definition import UnknownCollectionError, find_collection, real_name
from pt_reuse.collections.runs import find_run_files, plan_runs
from pt_reuse.columns import Table
from pt_reuse.data.judgments import as_qrels
from pt_reuse.data.packed_files import read_csv
from pt_reuse.data.run_set import Reading, RunSet, as_runs
from pt_reuse.errors import InputError, choice, count, did_you_mean, examples, flag, located, shown
from pt_reuse.result import Result, records
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.scores import check_topics
from pt_reuse.verification.kinds import FRACTIONS, KINDS, Replay, checked_parameter

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"(?=\D*\d)[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_COLUMNS = ("collection", "what", "kind", "arguments", "name", "value", "source")
#: the package's own figures
FIGURES = Path(str(files("pt_reuse.verification") / "data")) / "figures.csv"


@dataclass(frozen=True)
class PublishedValue:
    """A published number; one step of its last digit is worth `unit`."""

    number: float
    unit: float

    @classmethod
    def of(cls, text: str) -> PublishedValue:
        """Return a value by its digits as they are written."""
        if not _NUMBER.fullmatch(text):
            raise InputError(f"a value must be a number with all its digits, such as 0.1230 or 1,130, got {text!r}.")
        number = Decimal(text.replace(",", ""))
        return cls(float(number), float(Decimal(10) ** int(number.as_tuple().exponent)))

    def agrees(self, computed: float) -> bool:
        """Return whether a computed number is published as this one, either way of rounding."""
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        return bool(abs(computed - self.number) <= self.unit / 2 + slack)


@dataclass(frozen=True)
class PublishedFigure:
    """Published values of one kind, from one source, by the name of a run, a team or a statistic."""

    what: str
    kind: str
    source: str
    arguments: Mapping[str, list[str]]  # the texts to try for each
    place: str
    values: dict[str, PublishedValue]
    known: dict[str, tuple[PublishedValue, str]]  # what is computed in place of a value, and why


def read_published(path: str | Path = FIGURES) -> dict[str, list[PublishedFigure]]:
    """Read a table of published figures; return those of each collection.

    A row that says ``what`` begins a figure, and those below have its further values. A collection holds for the rows
    below. A row without a name has a file beside the table and one of its columns, ``FILE.csv: COLUMN``.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"figures must be the path of a CSV file, got {shown(path)}.", argument="figures")
    path, found, collection = user_path(path), dict[str, list[PublishedFigure]](), ""
    with located(str(path)):
        table = read_csv(path, "figures", utf8=True)
        table.need(_COLUMNS, "figures")
        for at, row in enumerate(records(table.frame)):
            with located(table.place(at)):
                cells = {"computed": "", "differs": ""} | {name: cell.strip() for name, cell in row.items()}
                collection = cells["collection"] or collection
                figures = found.setdefault(collection, [])
                if cells["what"]:
                    figures.append(_figure(cells, f"{path}, {table.place(at)}"))
                    if not collection or cells["what"] in [each.what for each in figures[:-1]]:
                        raise InputError("a figure needs a collection, and a name (`what`) of its own in it.")
                if not figures:
                    raise InputError("the first row of a collection must say `what` the figure is.")
                _add(figures[-1], cells, path.parent)
    return found


def _figure(cells: Mapping[str, str], place: str) -> PublishedFigure:
    if not cells["kind"] or not cells["source"]:
        raise InputError("a figure needs its `kind` and its `source`.")
    arguments = dict[str, list[str]]()
    for part in filter(None, cells["arguments"].split(";")):
        name, equals, texts = (text.strip() for text in part.partition("="))
        if not equals or name in arguments:
            raise InputError(f"arguments must be such as 'depth=10; order=file|rank', got {cells['arguments']!r}.")
        arguments[name] = [text.strip() for text in texts.split("|")]
    return PublishedFigure(cells["what"], cells["kind"], cells["source"], arguments, place, {}, {})


def _add(figure: PublishedFigure, cells: Mapping[str, str], folder: Path) -> None:
    name, value = cells["name"], cells["value"]
    added = {name: PublishedValue.of(value)} if name else _from_file(folder, *value.partition(": ")[::2])
    if not added.keys().isdisjoint(figure.values):
        raise InputError(f"the figure has a value of {name!r} already.")
    figure.values.update(added)
    if cells["computed"] or cells["differs"]:
        known = PublishedValue.of(cells["computed"])
        if not name or not cells["differs"] or added[name].agrees(known.number):
            raise InputError("a known difference needs another number as `computed`, and why it `differs`.")
        figure.known[name] = known, cells["differs"]


def _from_file(folder: Path, file: str, column: str) -> dict[str, PublishedValue]:
    if not file or not column or Path(file).name != file:
        raise InputError("a row needs a name and a value, or the value 'FILE.csv: COLUMN' of a file beside the table.")
    found = dict[str, PublishedValue]()
    with located(str(folder / file)):
        table = read_csv(folder / file, utf8=True)
        table.need(("name", column))
        table.check_filled("name", column)
        for at, row in enumerate(records(table.frame)):
            with located(table.place(at)):
                if row["name"] in found:
                    raise InputError(f"{row['name']!r} stands there twice.")
                found[row["name"]] = PublishedValue.of(row[column].strip())
    return found


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
        pd.DataFrame, Table("group and convention that was tried", "what convention figures equal largest_difference")
    ]

    @property
    def holds(self) -> bool:
        """Return whether every figure that could be computed is equal, or differs as it is known to."""
        return not (self.table["equal"].eq(False) & ~self.table["known"]).any()

    def answers(self) -> list[str]:
        table = self.table
        unequal, lost = table[table["equal"].eq(False)], table[table["equal"].isna()]
        told = {"known to be": unequal["known"].sum(), "of no such name": unequal["computed"].isna().sum()}
        more = ", ".join(f"{n:,} {what}" for what, n in told.items() if n)
        equal = f"{table['equal'].eq(True).sum():,} of {count(len(table), 'figure')} equal"
        head = f"{self.settings['collection']}: {equal}"
        head += f", {len(unequal):,} unequal" * bool(len(unequal)) + f" ({more})" * bool(more)
        lines = [head + f", {len(lost):,} not computed" * bool(len(lost))]
        for row in unequal.itertuples(index=False):
            numbers = "" if np.isnan(row.computed) else f"; computed {row.computed:.10g}"
            note = f"; {row.note}" if row.note else ""
            lines.append(f"unequal: {row.what}, {row.name}: published {row.published:.10g}{numbers}{note}")
        return lines + [f"{count(n, 'figure')} {why}" for why, n in lost["note"].value_counts(sort=False).items()]

    def headline(self) -> str:
        return self.answers()[0]

    def _shown(self) -> pd.DataFrame:
        return self.summary[list(self.declared["summary"].reported)] if len(self.table) else self.table

    def _rest(self) -> str:
        return "rows in .summary"


def _ways(figure: PublishedFigure, scored: list[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield all parameters of a figure under each convention, and those that its numbers depend on in a line."""
    kind, given = choice("kind", figure.kind, list(KINDS)), figure.arguments
    usual = {name: u[0] if isinstance(u, tuple) else u for name, u in KINDS[kind].items()}
    if odd := [name for name in given if name not in usual]:
        raise InputError(f"kind {kind!r} has no parameter {examples(odd)}; it has {examples(usual, 20)}.")
    if "measure" not in given and "measure" in usual:
        raise InputError("the figure needs a measure, such as measure=AP.", argument="measure")
    for name, value in figure.values.items():
        # 0 would stand for all from -.5 to .5
        if {kind, name, *given.get("statistic", [usual.get("statistic")])} & FRACTIONS and value.unit >= 1:
            problem = f"{value.number:.10g} is a whole number, and this is no count. Write the published decimals."
            raise InputError(problem, place=repr(name))
    for texts in product(*given.values()):
        chosen = dict(zip(given, texts, strict=True))
        options = usual | {name: checked_parameter(kind, name, text, scored) for name, text in chosen.items()}
        # what the name of the figure tells is not told again
        known = {"by", "statistic", "count"}
        if not any(set(measure.params) - {"cutoff"} for measure in options.get("measure", ())):
            known.add("measure")
        told = [name for name in dict.fromkeys(["order", "contributors", *given]) if name in usual.keys() - known]
        yield options, ", ".join(f"{name}={_told(options[name])}" for name in told)


def _told(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    return count(len(value), "run") if isinstance(value, tuple) else str(value)


def _attempt(figure: PublishedFigure, options: dict[str, Any], label: str, replay: Replay) -> tuple[pd.DataFrame, str]:
    untried, computed = "", dict[Any, Any]()
    try:
        if replay.missing and figure.kind not in ("scores", "judgments", "prefixes"):
            raise InputError(f"{count(len(replay.missing), 'run')} missing: {examples(replay.missing)}")
        computed = getattr(replay, figure.kind)(SimpleNamespace(**options, names=list(figure.values)))
    except InputError as error:
        untried = str(error)
    rows = []
    for name, value in figure.values.items():
        number = np.nan if isinstance(found := computed.get(name, np.nan), str) else float(found)
        equal: bool | None = value.agrees(number)
        instead, why = figure.known.get(name, (value, ""))
        known = not equal and instead.agrees(number)
        note = why if known else ""
        if np.isnan(number):
            equal, note = _not_computed(figure.kind, name, computed, untried, replay)
        numbers = value.number, number, equal, known, number - value.number, value.unit
        rows.append((figure.what, name, *numbers, label, figure.source, note))
    return pd.DataFrame(rows, columns=_columns("table")).astype({"equal": object}), untried


def _not_computed(kind: str, name: str, computed: Any, untried: str, replay: Replay) -> tuple[bool | None, str]:
    """Return why a figure has no number, None before it; False where it is of nothing, an error and no gap."""
    submitted = replay.submitted if kind == "scores" else []
    if name in computed:
        why = computed[name] if isinstance(computed[name], str) else "it is not defined for these runs"
    elif name in submitted and name in replay.missing:
        why = "its run file is missing"
    elif untried and (name in submitted or not submitted):
        why = untried
    else:
        hint = did_you_mean(name, map(str, [*computed, *submitted]))
        return False, f"not computed: nothing is named {name!r}, neither in the field nor on record.{hint}".rstrip(".")
    return None, f"not computed: {why}"


def _judged(attempts: list[tuple[pd.DataFrame, str]]) -> pd.DataFrame:
    """Return the attempt by which a group is judged, the first that explains most, of several the closest."""

    def worth(rows: pd.DataFrame) -> tuple[int, float]:
        off = (rows["difference"].abs() / rows["last_digit"]).max()
        return int((rows["equal"].eq(True) | rows["known"]).sum()), -float(np.nan_to_num(off, nan=np.inf))

    chosen = max((rows for rows, _ in attempts), key=worth)
    untried = next((why for _, why in attempts if why), "")
    if untried:
        # it may be equal under the convention that could not be tried
        lost = chosen["equal"].eq(False) & ~chosen["known"] & chosen["computed"].notna()
        chosen.loc[lost, ["computed", "difference"]] = np.nan
        chosen.loc[lost, "note"] = f"not computed: {untried}"
        chosen["equal"] = chosen["equal"].mask(lost, None)
    return chosen.assign(convention=chosen["convention"].where(chosen["computed"].notna(), ""))


def _by_group(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    equal, groups = rows["equal"], rows.assign(largest_difference=rows["difference"].abs()).groupby([*keys], sort=False)
    counts = {"figures": rows["computed"].notna(), "equal": equal.eq(True), "unequal": equal.eq(False)}
    counted = rows.assign(**counts, not_computed=equal.isna()).groupby([*keys], sort=False)
    sums = counted[[*counts, "known", "not_computed"]].sum().astype("int64")
    return sums.join(groups["largest_difference"].max()).reset_index()


def _columns(table: str) -> list[str]:
    return Verification.declared[table].columns.split()


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
    Some figures depend on a convention, such as the ranking order. The table has those to try. All figures of a group
    are judged under one of them, and the result says which.

    Args:
        name: the collection, such as ``"trec-8/adhoc"``, or its dataset.
        runs: run files, best their folder, or runs in another form (see :doc:`runs`). They have the teams, types and
            pooled flags on record. Default: the collection's own, as its dataset finds them.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`. Default: the collection's
            own.
        figures: a CSV file of figures instead of the package's.
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
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.csv"
        >>> _ = file.write_text('''collection,what,kind,arguments,name,value,source
        ... mine,AP,scores,measure=AP,lex1a,0.4242,nowhere
        ... ,,,,neu2a,0.1,
        ... ''')
        >>> found = verify("mine", runs=field.runs, qrels=field.qrels, figures=file)
        >>> found.headline()
        'mine: 0 of 2 figures equal, 2 unequal'
    """
    name = name.collection.name if isinstance(name, ReuseDataset) else name
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a collection must be a text such as 'trec-8/adhoc', got {name!r}.")
    name, reading = real_name(name), Reading(bad_lines=bad_lines, other_files=other_files, verbose=verbose)
    flag("download", download)
    known = read_published(FIGURES if figures is None else figures)
    groups = next((of for each, of in known.items() if real_name(each) == name), None)
    if groups is None:
        there = f"no published figures of {name!r}; there are those of {examples(known, 20)}."
        raise InputError(f"{there} Give your own with figures='FILE.csv'.", argument="figures")
    found: RunSet | str
    submitted: list[str] = []
    collection: Collection | None = None
    try:
        collection = find_collection(name)
    except UnknownCollectionError:
        # figures of one's own need no collection
        if figures is None or runs is None or qrels is None:
            raise
    # before any file is read: all that could be wrong with the figures
    scored = {
        figure.what: pd.Series({run: value.number for run, value in figure.values.items()})
        for figure in groups
        if figure.kind == "scores"
    }
    ways = []
    for figure in groups:
        with located(figure.place):
            ways.append(list(_ways(figure, list(scored))))
    if collection is None:
        found, judgments = as_runs(runs), as_qrels(qrels)
    else:
        # before judgments are looked for, maybe by way of the network
        plan = plan_runs(collection, {}, reading, types=None, runs=runs, missing="ignore", download=download)
        judgments, submitted = judgments_of(collection) if qrels is None else as_qrels(qrels), plan.names or []
        try:
            found = plan.get()
        except InputError as error:
            # a file that cannot be read is an error; none at all leaves the judgments to be checked
            if runs is not None or download or plan.names is None or find_run_files(collection, submitted):
                raise
            found = f"no runs: {error}"
    if not isinstance(found, str):
        check_topics(found, judgments)
    replay, parts, tried = Replay(found, judgments, scored, submitted), [], []
    # a published figure is equal or not, whatever it means
    with told_elsewhere():
        bar = pt.tqdm(zip(groups, ways, strict=True), total=len(groups), desc="verifying", disable=not verbose)
        for figure, conventions in bar:
            attempts = [_attempt(figure, how, label, replay) for how, label in conventions]
            tried += [rows for rows, _ in attempts]
            parts.append(_judged(attempts))
    table, every = pd.concat(parts, ignore_index=True), pd.concat(tried, ignore_index=True)
    of_group = table.groupby("what", sort=False)
    told = of_group.agg(
        convention=("convention", "max"), note=("note", lambda ns: "; ".join(filter(None, ns.unique())))
    )
    summary = _by_group(table, "what").assign(figures=of_group.size().to_numpy()).merge(told, on="what")
    title = name if collection is None else collection.title
    settings = {"collection": title, "judgments": f"{len(judgments):,}", "runs": "none"}
    if not isinstance(found, str):
        settings["runs"] = f"{len(found):,} of {len(found) + len(replay.missing):,}"
        settings |= {"dropped": found.left_out} if found.left_out else {}
    return Verification(
        table=table,
        summary=summary[_columns("summary")],
        conventions=_by_group(every, "what", "convention")[_columns("conventions")],
        settings=settings,
    )
