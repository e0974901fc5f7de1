"""sensitivity: how far the conventions of a study move its key figures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import choice, count, did_you_mean, examples, flag, listed, told
from pt_reuse._choices import USUAL
from pt_reuse._report import Column, Digits, Report
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.options import Flag, Parameter, options_of
from pt_reuse.pooling.depth import DepthFrom, checked_depth, depth_of
from pt_reuse.result import Result, Shown, View
from pt_reuse.scoring.caveats import noted, relevant_only
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.scores import score
from pt_reuse.studies.leave_out_uniques import leave_out_uniques
from pt_reuse.study import Command, Entry, study, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: what a key figure is known by
KEYS = ["measure", "figure"]
#: what a change must exceed to be one; sums in another order differ by less
_NOTHING = 1e-12
#: the order in which documents are ranked for scoring: of the runs, not of the study
ORDER = "order"
#: a function of runs and judgments, or of judgments or scores, with options, that returns a result
Study: TypeAlias = Callable[..., Result]
_EMPTY = inspect.Parameter.empty
#: options of scoring, which a study of scores has besides its own -> their defaults
_OF_SCORING = {"measures": _EMPTY, "complete": True, "without_topics": "error"}
#: what figures call conventions
_CONVENTIONS = {
    ORDER: "order of documents",
    "pool_order": "order of pooling",
    "depth": "depth of the pool",
    "rel": "lowest relevant label",
    "complete": "topics in a mean",
    "remove": "uniques removed",
    "by": "unit left out",
}


def _report(result: Sensitivity, figure: str | None = None, measure: MeasureLike | None = None) -> Report:
    """Return a row per convention, the one that moves a key figure (default the first) furthest first."""
    name, of = result.asked(figure, measure)
    rows = result.of_figure(name, of)
    at_default = result.table[result.table["is_default"]].drop_duplicates("convention").set_index("convention")["value"]
    refused = int(result.combinations["refused"].notna().sum())
    ends = rows[["lowest", "highest"]].to_numpy(dtype=float)
    whole = (np.round(ends) == ends)[~np.isnan(ends)].all()
    digits = Digits.COUNT if whole else Digits.SCORE
    return Report(
        [
            Column("Convention", rows["convention"].str.replace("_", " ")),
            Column("Default", at_default.loc[rows["convention"]]),
            Column("Lowest", rows["lowest"], digits),
            Column("Highest", rows["highest"], digits),
            Column("Largest change", rows["largest_change"], digits),
            Column("Under", rows["at"]),
        ],
        caption=f"How {in_words(name)}{f' by {of}' if of else ''} of {result.study.replace('_', ' ')} moves when one "
        "convention at a time takes other values.",
        notes=[f"Not counted: {count(refused, 'combination')} that the study refuses."] if refused else [],
    )


def _draw(result: Sensitivity, measure: str | None, place: Place, figure: str | None = None) -> Axes:
    """Draw a bar per convention from the lowest to the highest value of a key figure, and a point for each value."""
    from pt_reuse.plots.bars import plot_tornado

    name, of = result.asked(figure, measure)
    label = in_words(name) + (f" by {of}" if of else "")
    points = result.table[result.rows_of(result.table, name, of)]
    return plot_tornado(result.of_figure(name, of), points, names=_CONVENTIONS, label=label, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sensitivity(Result):
    """Which key figures of a study move with which convention, and by how much.

    Its report and its figure are of one key figure, ``figure=``, default the first: a bar per convention from the
    lowest to the highest value, those that move it furthest on top, a point for each value, and an upright line at the
    default.

    Attributes:
        table: one row per convention, value and key figure, the other conventions at their defaults: ``convention``,
            ``value`` (what it is called), ``is_default``, ``measure`` (None where the figure is of no measure),
            ``figure``; the figure at the ``default`` values and ``here``, and ``change`` = here - default.
        spans: one row per convention and key figure: ``convention measure figure default lowest highest``, the figure
            at the default and its ends over the values, and ``largest_change`` with the value ``at`` which it is, None
            where none changes it. NaN is a change by nobody knows how much: the figure is defined either at the default
            or at that value alone.
        figures: one row per combination and key figure: a column for each convention, ``measure figure value``.
        combinations: one row per combination: a column for each convention; ``default``, whether it is the one of
            defaults; ``refused``, why the study refuses it, None where it does not; ``warned``, what it warned of,
            None for nothing (of the defaults, the user was warned).
        study: what the study is called.
    """

    title = "Sensitivity"
    condition = "It holds for {study} on these data; conventions are varied {varied}, at the values that settings name."
    limit = "It does not say which convention is right, nor what values would do that were not tried."
    views = {
        "figure": _report,
        "spans": View(
            table="_spans_to_write",
            columns=(
                Shown("Figure", "figure"),
                Shown("Convention", "convention"),
                Shown("Default", "default", Digits.NUMBER),
                Shown("Lowest", "lowest", Digits.NUMBER),
                Shown("Highest", "highest", Digits.NUMBER),
                Shown("Under", "at"),
            ),
            caption="How every key figure by {measure} moves when one convention at a time takes other values",
        ),
    }
    plots = {"conventions": _draw}

    spans: pd.DataFrame
    figures: pd.DataFrame
    combinations: pd.DataFrame
    study: str

    def _spans_to_write(self) -> pd.DataFrame:
        """Return the spans, those of key figures that are always whole, such as ranks, as whole numbers."""
        ends = ["default", "lowest", "highest"]
        values = self.spans[ends]
        whole = (values.isna() | (values.round() == values)).all(axis=1).groupby(self.spans["figure"]).transform("all")
        written = values.astype(object)
        written[whole] = values[whole].astype("Int64").astype(object)
        return self.spans.assign(**{end: written[end] for end in ends})

    @property
    def measures(self) -> list[str]:
        """Return the measures that key figures are of, none where they are of none."""
        return list(dict.fromkeys(self.figures["measure"].dropna()))

    @property
    def figure_names(self) -> list[str]:
        """Return the names of the key figures, the most telling first."""
        return list(dict.fromkeys(self.figures["figure"]))

    def headline(self) -> str:
        """Return which convention moves the first key figure most, and how many combinations were refused."""
        figure, measure = self.asked(None, None)
        rows = self.of_figure(figure, measure)
        name = figure if measure is None else f"{measure} {figure}"
        default = self.figures.loc[self.rows_of(self.figures, figure, measure), "value"].iloc[0]
        moved = rows[rows["at"].notna()]
        if moved.empty:
            said = f"{name} {default:g} stays under {count(len(rows), 'convention')}"
        else:
            most = moved.iloc[int(moved["largest_change"].abs().fillna(-1).to_numpy().argmax())]
            there = most["default"] + most["largest_change"]
            far = "to or from undefined" if np.isnan(there) else f"{there:.6g}"
            said = (
                f"{name} {default:.6g} moves most with {most['convention']}: {far} under {most['at']}; "
                f"moved by {len(moved)} of {count(len(rows), 'convention')}"
            )
        refused = int(self.combinations["refused"].notna().sum())
        return f"{said}; {count(refused, 'combination')} refused" if refused else said

    def of_figure(self, figure: str, measure: str | None = None) -> pd.DataFrame:
        """Return the rows of `spans` of one key figure, the convention that moves it furthest first.

        Args:
            figure: its name.
            measure: the measure that it is of, None where it is of none.
        """
        rows = self.spans[self.rows_of(self.spans, figure, measure)]
        width = (rows["highest"] - rows["lowest"]).fillna(-1)
        return rows.iloc[np.argsort(-width.to_numpy(), kind="stable")].reset_index(drop=True)

    def asked(self, figure: str | None, measure: Any) -> tuple[str, str | None]:
        """Return a key figure and its measure, None where it is of none, as a user asks for them."""
        name = self.figure_names[0] if figure is None else choice("figure", figure, self.figure_names)
        measures = self.figures[self.figures["figure"] == name]["measure"].dropna()
        if measures.empty:
            return name, None
        return name, measures.iloc[0] if measure is None else self._measure(measure)

    @staticmethod
    def rows_of(rows: pd.DataFrame, figure: str, measure: str | None) -> pd.Series:
        """Return which rows are of a key figure and its measure."""
        of = rows["measure"].isna() if measure is None else rows["measure"] == measure
        return (rows["figure"] == figure) & of


def in_words(figure: str) -> str:
    """Return the name of a key figure as people write it: ``own tau_b``."""
    words = figure.removesuffix("_pct").replace("_", " ").replace("tau ap b", "tau_ap_b").replace("tau b", "tau_b")
    return words + ", %" * figure.endswith("_pct")


def sensitivity(
    study: Study,
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    grid: Mapping[str, Any] | Iterable[str] | None = None,
    key_figures: Callable[[Result], Mapping[str, float]] | None = None,
    full: bool = False,
    verbose: bool = False,
    **options: Any,
) -> Sensitivity:
    """Run a study with other values of its conventions, and show which key figures change and by how much.

    Each convention is varied alone, with the others at their defaults: the values in `options`, else those that the
    study takes for this field. With ``full=True`` every combination is run as well.

    These conventions are varied by default, if the study has an option of that name:

    - ``order``, in which documents are ranked for scoring (of the runs; every study has it). The order of pooling stays
      the same;
    - ``pool_order``, in which runs were pooled: both orders by score, that of the file, and that of the rank column if
      all runs have one;
    - ``contributors``: ``"pooled"`` and ``"all"``, if these differ;
    - ``depth`` of the pool: half of it, the default, and twice that;
    - ``rel``, the lowest label that is relevant: each label above 0 of the judgments;
    - ``complete``: means over all topics of the judgments, or over those that a run has;
    - ``remove``: unique documents that are relevant, or that are judged.

    Args:
        study: a function of runs, judgments and measures that returns a result with ``key_figures()``: any study of
            this library, such as :func:`leave_out_uniques`, :func:`by_type` or :func:`~pt_reuse.pools.pool_costs`, or
            your own, such as a function that scores twice and returns an ``Agreement``. A study of scores
            (:func:`~pt_reuse.profile.stability`, :func:`~pt_reuse.profile.discriminative_power`,
            :func:`~pt_reuse.profile.saturation`; its first argument is called ``scores``) gets the scores of the runs
            by the judgments, and takes ``complete`` and ``without_topics`` in addition to its own options. A study of
            judgments (:func:`~pt_reuse.profile.density`) gets these, and the runs if it takes any.
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        measures: ir_measures measures or their names, one or several, if the study takes any.
        grid: what to vary: names of the conventions above, or a dict of ``"order"``, or any option of the study, ->
            values, or -> a dict of label -> value; default all conventions above.
        key_figures: a function of a result that returns name -> number, for a result that has no ``key_figures()``, or
            to choose others.
        full: also run every combination, see ``.figures``.
        verbose: show a progress bar.
        **options: further options of the study, such as ``qrels_b`` of :func:`compare_judgments`, the same in every
            combination unless varied.

    Returns:
        Sensitivity: ``.table`` (per convention, value and key figure), ``.spans`` (per convention and key figure),
        ``.figures`` and ``.combinations``, ``.plot()``.

    Raises:
        InputError: something that is no study, an option or convention that it does not have, a missing option that it
            needs, a result without key figures, and what the study raises under the defaults. A combination that the
            study refuses is reported as refused.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.profile.sensitivity(
        ...     ptr.leave_out_uniques, field.runs, field.qrels, "AP", depth=field.depth, grid=["rel", "contributors"]
        ... )
        >>> rows = found.spans[found.spans["figure"] == "own_max_drop"]
        >>> rows[["convention", "default", "lowest", "highest", "at"]].values.tolist()
        [['rel', 2.0, 2.0, 3.0, '2'], ['contributors', 2.0, 2.0, 3.0, 'all']]

    Source: the conventions are those under which published figures of reusability were found to differ: those of the
    pool by Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR, those of scoring in trec_eval 9 and 10.
    """
    flag("full", full)
    verbose = flag("verbose", verbose)
    call = StudyCall.of(study, measures, options)
    wanted = checked_grid(grid, call)
    call.check_complete(wanted)
    if key_figures is not None and not callable(key_figures):
        raise InputError(
            f"key_figures must be a function of a result, got {told(key_figures)}.", argument="key_figures"
        )
    runs, qrels = as_runs_before(runs, qrels)
    runs, qrels = KeptOrders.of(runs), as_qrels(qrels)
    every = [Convention.of(name, values, call, runs, qrels) for name, values in wanted.items()]
    conventions = [one for one in every if len(one.choices) > 1]
    names = [one.name for one in conventions]
    rows: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    combinations = _combinations(conventions, full=full)
    for labels in pt.tqdm(combinations, desc="conventions", unit="combination", disable=not verbose):
        chosen = {one.name: one.choices[label] for one, label in zip(conventions, labels, strict=True)}
        found, refused, warned = _found(call, runs, qrels, chosen, key_figures, recorded=bool(rows))
        rows.append((*labels, not rows, refused, warned))
        parts += [(*labels, *row) for row in found]
    figures = frame_of(parts, [*names, *KEYS, "value"], texts=(*names, *KEYS))
    table = change_table(conventions, figures)
    kept = [one.name for one in every if len(one.choices) < 2]
    return Sensitivity(
        table=table,
        spans=span_table(table),
        figures=figures,
        combinations=frame_of(rows, [*names, "default", "refused", "warned"], texts=(*names, "refused", "warned")),
        study=call.name,
        settings={
            "study": call.name,
            **{name: _in_words(value) for name, value in call.unusual.items() if name not in names},
            **({} if ORDER in names else {"order": runs.order}),
            "varied": "each alone" if not full else "each alone and in every combination",
            **({"not varied": ", ".join(kept) + " (one value)"} if kept else {}),
            **{f"{one.name} at": f"{one.default} (tried: {', '.join(one.choices)})" for one in conventions},
            **noted(relevant_only(qrels)),
        },
    )


@study(
    options_of(leave_out_uniques)["remove"],
    Parameter(
        name="vary",
        meaning="the conventions that are varied; default all of them.",
        check=lambda value: [choice("vary", name, USUAL) for name in value],
        flag=Flag(
            help=f"comma-separated conventions, of: {', '.join(USUAL)}", metavar="LIST", kind="list", default="all"
        ),
    ),
    Parameter(
        name="depths",
        meaning="pool depths to try; default half of it and twice that.",
        check=lambda value: _depths(value),
        flag=Flag(
            help="comma-separated pool depths to try", metavar="LIST", kind="counts", default="half of it and twice it"
        ),
    ),
    Parameter(
        name="full",
        meaning="run every combination, too.",
        flag=Flag(help="run every combination, too; --out writes them", kind="switch"),
    ),
    command=Command(
        name="profile sensitivity",
        summary="how much the conventions of leave-out-uniques change its figures",
        details="Leave-out-uniques is run with other values of one convention at a time: the ranking order, the pool "
        "order, the contributors and the depth of the pool, the lowest relevant label, the topics of means, and which "
        "uniques are removed.",
    ),
    entry=Entry(
        question="Does a number depend on a convention?",
        group="profile",
        name="sensitivity",
        page="studies/sensitivity",
    ),
)
def sensitivity_of_uniques(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    by: str = "team",
    depth: int | None = None,
    remove: str | None = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    vary: Sequence[str] | None = None,
    depths: Any = None,
    full: bool = False,
    verbose: bool = False,
) -> Sensitivity:
    """Run leave-out-uniques under the grid of its conventions: what the command does.

    Returns:
        Sensitivity: as of :func:`sensitivity`.
    """
    grid: dict[str, Any] = dict.fromkeys(USUAL if vary is None else vary)
    if depths is not None:
        grid["depth"] = _depths(depths)
    options: dict[str, Any] = {"by": by, "depth": depth, "remove": remove, "rel": rel, "contributors": contributors}
    return sensitivity(leave_out_uniques, runs, qrels, measures, grid=grid, full=full, verbose=verbose, **options)


def _depths(value: Any) -> list[int]:
    return [checked_depth(depth, "depths") for depth in ([value] if isinstance(value, int) else value)]


class KeptOrders(RunSet):
    """Runs that keep each ranking order that they are put into, as does what is put into another order."""

    _kept: dict[str, AnyField]

    @classmethod
    def of(cls, runs: RunSet) -> KeptOrders:
        """Return runs so, pooled in the order in which they are pooled, in whatever order they are put."""
        how = HowPooled(runs.pool_order or runs.order, runs.pool_depth)
        return cls._made(runs, runs.order, how, {runs.order: runs.field})

    @classmethod
    def _made(cls, runs: RunSet, order: str, how: HowPooled, kept: dict[str, AnyField]) -> KeptOrders:
        made = cls(kept[order], runs._table, order, how, runs._dropped)
        made._kept = kept
        return made

    def reorder(self, order: str) -> RunSet:
        """Return the runs in another ranking order, see :meth:`RunSet.reorder`."""
        if order not in self._kept:
            self._kept[order] = super().reorder(order).field
        return self._made(self, order, self.how_pooled, self._kept)

    def __reduce__(self) -> Any:
        """Return the runs alone: another process has no use for the other orders."""
        return RunSet, (self.field, self._table, self.order, self.how_pooled, self._dropped)


@dataclass(frozen=True)
class StudyCall:
    """A study, the data that it is a function of, and the options that it is called with."""

    study: Study
    name: str
    data: tuple[str, ...]
    options: Mapping[str, Any]
    takes_any: bool
    fixed: Mapping[str, Any]

    @classmethod
    def of(cls, study: Any, measures: Any, options: Mapping[str, Any]) -> StudyCall:
        """Return the call of a study, or say why it cannot be called so."""
        parameters = _parameters(study)
        # the function within a partial one bears the name
        name: str = getattr(study, "__name__", getattr(getattr(study, "func", study), "__name__", "the study"))
        data, every = _data(name, parameters), parameters.values()
        taken = [one for one in every if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
        own = {one.name: one.default for one in taken if one.name not in data}
        own |= _OF_SCORING if data == ("scores",) else {}
        fixed = options if measures is None else {**options, "measures": measures}
        # what can be read once only is needed in every combination
        fixed = {option: list(one) if isinstance(one, Iterator) else one for option, one in fixed.items()}
        call = cls(study, name, data, own, any(one.kind is one.VAR_KEYWORD for one in every), fixed)
        if measures is not None and not (call.takes_any or "measures" in own):
            raise InputError(f"{name} takes no measures.", argument="measures")
        unknown = next((option for option in options if not call.has(option)), None)
        if unknown is not None:
            known = call.conventions
            said = f"{name} has no option {unknown}; it has {examples(known, 20)}.{did_you_mean(unknown, known)}"
            raise InputError(said, argument=unknown)
        return call

    @property
    def conventions(self) -> list[str]:
        """Return the options that can be varied, as far as their names are known."""
        return [name for name in self.options if name != "measures"]

    @property
    def unusual(self) -> dict[str, Any]:
        """Return what the user gives that is not the study's default."""
        found = {}
        for name, value in self.fixed.items():
            default = self.options.get(name, _EMPTY)
            if not (value is default or (isinstance(value, str | int | float) and value == default)):
                found[name] = value
        return found

    def check_complete(self, varied: Mapping[str, Any]) -> None:
        """Raise where neither the user nor the grid gives an option that the study needs."""
        needed = [name for name, default in self.options.items() if default is _EMPTY and name not in self.fixed]
        for name in needed:
            if not varied.get(name):
                given = ("runs", "qrels") if self.data == ("scores",) else self.data
                said = f"{self.name} needs {listed(needed)} besides {listed(given)}. Give "
                raise InputError(f"{said}{name}=.", argument=name)

    def has(self, name: str) -> bool:
        """Return whether a convention can be varied: the order of the runs, or an option of the study."""
        if name == ORDER:
            return self.data[0] != "qrels"
        not_an_option = name in ("runs", "qrels", "measures", "scores")
        return name in self.conventions or (self.takes_any and name.isidentifier() and not not_an_option)

    def given(self, name: str) -> Any:
        """Return what the user gives for an option, else the study's default, else nothing."""
        return self.fixed.get(name, self.options.get(name, _EMPTY))

    def under(self, runs: RunSet, qrels: Qrels, conventions: Mapping[str, Any]) -> Result:
        """Return the study's result under conventions."""
        options = {**self.fixed, **conventions}
        if self.data[0] == "qrels":
            return self.study(qrels, **({"runs": runs} if "runs" in self.data else {}), **options)
        if self.data[0] != "scores":
            return self.study(runs, qrels, **options)
        of_scoring = {name: options.pop(name) for name in _OF_SCORING if name in options}
        return self.study(score(runs, qrels, **of_scoring), **options)


def _parameters(study: Any) -> Mapping[str, inspect.Parameter]:
    try:
        if callable(study):
            return inspect.signature(study).parameters
    except ValueError:
        # a function of C, of which nobody knows what it takes
        pass
    raise InputError(
        f"study must be a function of runs and judgments, such as leave_out_uniques, got {told(study)}.",
        argument="study",
    )


def _data(name: str, parameters: Mapping[str, inspect.Parameter]) -> tuple[str, ...]:
    """Return the parameters of a study that take data."""
    placed = [one.name for one in parameters.values() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if placed[:1] == ["scores"]:
        return ("scores",)
    if placed[:1] == ["qrels"]:
        return ("qrels", "runs") if "runs" in parameters else ("qrels",)
    # the first two are the runs and the judgments, however they are called
    if len(placed) > 1 and ("runs" not in parameters or placed[0] == "runs"):
        return tuple(placed[:2])
    raise InputError(
        f"{name} is a function of {listed(placed) or 'nothing'}. Give one of runs and judgments, of judgments (qrels), "
        "or of scores.",
        argument="study",
    )


def checked_grid(grid: Any, call: StudyCall) -> dict[str, dict[str, Any] | None]:
    """Return convention -> label -> value, None for the usual values, as a user asks for them."""
    if grid is None:
        return {name: None for name in USUAL if call.has(name)}
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InputError(
            f"grid must be a dict of convention -> values, or names of conventions, got {told(grid)}.", argument="grid"
        )
    given = dict(grid) if isinstance(grid, Mapping) else dict.fromkeys(grid)
    if not given:
        raise InputError("grid names no convention.", argument="grid")
    for name in given:
        if not isinstance(name, str) or not call.has(name):
            known = [*([ORDER] if call.has(ORDER) else []), *call.conventions]
            what = f" names {told(name)}, which is no convention of {call.name}: it has {examples(known, 20)}."
            raise InputError(f"grid{what}{did_you_mean(name, known)}", argument="grid")
    return {name: _checked_values(name, values) for name, values in given.items()}


def _checked_values(name: str, values: Any) -> dict[str, Any] | None:
    """Return label -> value of the values of a convention that are to be tried, None for the usual ones."""
    if values is None:
        if name not in USUAL:
            raise InputError(f"grid must say which values of {name} to try: {{{name!r}: [...]}}.", argument="grid")
        return None
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"grid must list several values of {name}, got {told(values)}.", argument="grid")
    named = list(values.items()) if isinstance(values, Mapping) else [(label_of(one), one) for one in values]
    found = {str(label): value for label, value in named}
    if not named:
        raise InputError(f"grid lists no value of {name}.", argument="grid")
    if len(found) < len(named):
        hint = f"Name them: {{{name!r}: {{'first': ..., 'second': ...}}}}."
        raise InputError(f"grid has two values of {name} of one name. {hint}", argument="grid")
    return found


def label_of(value: Any) -> str:
    """Return what a value is called: a word or number as it is, several by the first of them."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return examples(list(value), 2)
    return "the study's own" if value is None else str(value)


@dataclass(frozen=True)
class Convention:
    """A convention that is varied: its values by their labels, and the label of the default while others are."""

    name: str
    choices: Mapping[str, Any]
    default: str

    @classmethod
    def of(cls, name: str, values: dict[str, Any] | None, call: StudyCall, runs: RunSet, qrels: Qrels) -> Convention:
        """Return a convention with its values on this field: those of the user, None for the usual ones."""
        value = runs.order if name == ORDER else call.given(name)
        if value is _EMPTY and values:
            return cls(name, values, next(iter(values)))
        if value is _EMPTY or value is None:
            value = default_of(name, call, runs, qrels)
        if values is None:
            values = {label_of(one): one for one in _usual(name, value, runs, qrels)}
        label = next((label for label, one in values.items() if one is value), label_of(value))
        # the default stands first where it is none of the values
        return cls(name, values if label in values else {label: value, **values}, label)


def default_of(convention: str, call: StudyCall, runs: RunSet, qrels: Qrels) -> Any:
    """Return the value that a study takes for a convention that nobody gives, None where it has a way of its own."""
    own: Mapping[str, Mapping[str, Any]] = {
        # the depth is that of the lists, and ranks are those of scoring
        "minimum_ranks": {"depth": int(runs.field.lengths.max(initial=1)), "pool_order": runs.order},
        # the pool is what it looks for
        "infer_pool": {"depth": None},
        # with a judge that fills it is another one, which the result says
        "leave_out_uniques": {"remove": "relevant"},
        # each of the two sets of judgments has its own
        "compare_judgments": {"rel": None},
    }
    if convention in own.get(call.name, {}):
        return own[call.name][convention]
    if convention == "depth":
        asked, usual = depth_of(runs, None), study_of(call.study).depth if hasattr(call.study, "study") else None
        return asked.value if usual is None or asked.origin is not DepthFrom.DEFAULT else usual
    return {"pool_order": runs.pool_order or runs.order, "rel": qrels.rel}.get(convention)


def _usual(name: str, default: Any, runs: RunSet, qrels: Qrels) -> Iterable[Any]:
    """Return the usual values of a convention on a field."""
    values: list[Any]
    if name in (ORDER, "pool_order"):
        values = [*BY_SCORE, "file", *(["rank"] if bool(np.all(runs.field.ranked)) else [])]
    elif name == "contributors":
        some = runs.pooled.notna() & ~runs.pooled.fillna(True).astype(bool)
        # where all runs were pooled, these two are one
        values = ["pooled", "all"] if some.any() and not some.all() else []
    elif name == "depth":
        values = [max(1, default // 2), default, 2 * default] if default else []
    elif name == "rel":
        values = [label for label in np.unique(qrels.arrays.labels).tolist() if label >= 1]
    else:
        values = [True, False] if name == "complete" else ["relevant", "judged"]
    return dict.fromkeys(values)


def _combinations(conventions: Sequence[Convention], *, full: bool) -> list[tuple[str, ...]]:
    """Return labels: the defaults, each other value alone, and with `full` all further combinations."""
    default = tuple(one.default for one in conventions)
    alone = [
        (*default[:n], label, *default[n + 1 :])
        for n, one in enumerate(conventions)
        for label in one.choices
        if label != one.default
    ]
    every = product(*(one.choices for one in conventions)) if full else ()
    return list(dict.fromkeys([default, *alone, *every]))


class _NoKeyFiguresError(InputError):
    """The result of the study says nothing that could be compared."""


def _found(
    call: StudyCall,
    runs: KeptOrders,
    qrels: Qrels,
    chosen: Mapping[str, Any],
    key_figures: Callable[[Result], Mapping[str, float]] | None,
    *,
    recorded: bool,
) -> tuple[list[tuple[str | None, str, float]], str | None, str | None]:
    """Return measure, name and value of each key figure, why the study refuses, and what it warns of."""
    values = dict(chosen)
    ordered = runs.reorder(values.pop(ORDER, runs.order))
    if not recorded:
        return _figures(call.name, call.under(ordered, qrels, values), key_figures), None, None
    found: list[tuple[str | None, str, float]] = []
    refused = None
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        try:
            found = _figures(call.name, call.under(ordered, qrels, values), key_figures)
        except _NoKeyFiguresError:
            raise
        except InputError as error:
            refused = str(error)
    heard = [one.message for one in caught if isinstance(one.message, ReuseWarning)]
    said = dict.fromkeys(str(message) for message in heard)
    return found, refused, "; ".join(said) or None


def _figures(
    name: str, result: Result, key_figures: Callable[[Result], Mapping[str, float]] | None
) -> list[tuple[str | None, str, float]]:
    """Return measure, name and value of each key figure of a result."""
    if key_figures is None:
        try:
            found = result.key_figures()
        except (AttributeError, InputError) as error:
            problem = f"{name} returns a {type(result).__name__} without key figures. Give "
            what = "key_figures=, a function of the result that returns name -> number."
            raise _NoKeyFiguresError(f"{problem}{what}", argument="key_figures") from error
        return list(zip(found["measure"], found["figure"], found["value"], strict=True))
    given: Any = key_figures(result)
    numbers = isinstance(given, Mapping) and all(isinstance(one, int | float | np.number) for one in given.values())
    if not (numbers and given):
        problem = f"key_figures must return a dict of name -> number, got {told(given)}."
        raise _NoKeyFiguresError(problem, argument="key_figures")
    return [(None, str(figure), float(value)) for figure, value in given.items()]


def _in_words(value: Any) -> Any:
    if isinstance(value, str | int | float) or value is None:
        return value
    return ", ".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset | range) else told(value)


def change_table(conventions: Sequence[Convention], figures: pd.DataFrame) -> pd.DataFrame:
    """Return one row per convention, value and key figure, of one row per combination and key figure."""
    at_default = {one.name: (figures[one.name] == one.default).to_numpy() for one in conventions}
    everywhere = np.ones(len(figures), dtype=bool)
    base = _by_key(figures[reduce(np.logical_and, at_default.values(), everywhere)])
    rows = []
    for convention in conventions:
        others = [at_default[name] for name in at_default if name != convention.name]
        alone = reduce(np.logical_and, others, everywhere)
        for label in convention.choices:
            found = _by_key(figures[alone & (figures[convention.name] == label).to_numpy()])
            # refused where there is nothing
            for key in dict.fromkeys([*base, *found]) if found else ():
                default, here = base.get(key, np.nan), found.get(key, np.nan)
                rows.append((convention.name, label, label == convention.default, *key, default, here, here - default))
    columns = ["convention", "value", "is_default", *KEYS, "default", "here", "change"]
    return frame_of(rows, columns, texts=("convention", "value", *KEYS)).astype({"is_default": bool})


def _by_key(figures: pd.DataFrame) -> dict[tuple[str | None, str], float]:
    keys = zip(figures["measure"], figures["figure"], strict=True)
    return dict(zip(keys, figures["value"], strict=True))


def span_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per convention and key figure: its ends, and the largest change."""
    rows = []
    for (convention, measure, figure), part in table.groupby(["convention", *KEYS], sort=False, dropna=False):
        change, here = part["change"].abs().fillna(0).to_numpy(), part["here"].to_numpy()
        # a figure that is defined under some values alone moves, too, by nobody knows how much
        undefined = np.isnan(here) != np.isnan(part["default"].to_numpy())
        moved: tuple[float, str | None] = (0.0, None)
        if change.max() > _NOTHING:
            most = part.iloc[int(change.argmax())]
            moved = (most["change"], most["value"])
        elif undefined.any():
            moved = (np.nan, part["value"].iloc[int(undefined.argmax())])
        ends = (part["default"].iloc[0], part["here"].min(), part["here"].max())
        rows.append((convention, None if measure != measure else measure, figure, *ends, *moved))
    columns = ["convention", *KEYS, "default", "lowest", "highest", "largest_change", "at"]
    return frame_of(rows, columns, texts=("convention", *KEYS, "at"))


def frame_of(rows: Sequence[Sequence[Any]], columns: Sequence[str], *, texts: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame, in whose columns of texts None stays None."""
    cells = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    return pd.DataFrame({name: pd.Series(cells[name], dtype=object if name in texts else None) for name in columns})
