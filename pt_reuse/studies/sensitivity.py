"""sensitivity: how far the conventions of a study move the numbers that sum its result up."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse import options
from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.columns import Table
from pt_reuse.data.coding import HowPooled
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_set import RunSet, as_runs_before
from pt_reuse.errors import InputError, ReuseWarning, choice, count, examples, flag, shown
from pt_reuse.options import USUAL, described
from pt_reuse.plots.bars import plot_tornado
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result, key_numbers
from pt_reuse.scoring.caveats import noted, relevant_only
from pt_reuse.scoring.scores import score
from pt_reuse.studies.leave_out_uniques import leave_out_uniques
from pt_reuse.study import study

#: what figures call conventions
_NAMES = {
    "order": "order of documents",
    "pool_order": "order of pooling",
    "depth": "depth of the pool",
    "rel": "lowest relevant label",
    "complete": "topics in a mean",
    "remove": "uniques removed",
    "by": "unit left out",
}
#: options of scoring, which a study of scores has besides its own
_OF_SCORING = {"measures": inspect.Parameter.empty, "complete": True, "without_topics": "error"}
#: a number by its measure and name
_KEYS = ["measure", "figure"]


def _draw(result: Sensitivity, measure: str | None, place: Place, figure: str | None = None) -> Axes:
    rows = result.of_figure(figure, measure)
    figure = rows["figure"].iloc[0]
    points = result.table[(result.table["figure"] == figure) & result.table["measure"].isin(rows["measure"])]
    label = figure if rows["measure"].isna().all() else f"{figure} by {measure}"
    return plot_tornado(rows, points, names=_NAMES, label=label, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sensitivity(Result):
    """Which numbers of a study move with which convention, and by how much.

    Its report and its figure are of one number, ``figure=``, default the first: a bar per convention from the lowest to
    the highest value, and a point for each value.

    Attributes:
        figures: one row per combination and number: a column for each convention, ``measure figure value``.
        combinations: one row per combination: a column for each convention; ``default``, whether it is the one of
            defaults; ``refused`` and ``warned``, what the study says of it, None for nothing.
        study: what the study is called.
    """

    title = "Sensitivity"
    about = "{study}"
    valid_for = "{study} on these data; conventions are varied {varied}, at the values that settings name."
    not_covered = "which convention is right, and values that were not tried."
    plots = {"conventions": _draw}
    columns = """
    convention | Convention |        | the convention
    value      | Value      |        | what its value is called
    is_default | Is default |        | whether it is the default
    measure    | Measure    |        | the measure, None where the number is of none
    figure     | Number     |        | the name of the number
    default    | Default    | number | the number under the defaults
    here       | Here       | number | the number under this value alone
    change     | Change     | number | here - default
    lowest     | Lowest     | number | the lowest over the values
    highest    | Highest    | number | the highest over them
    largest_change | Largest change | number | the largest change, NaN where the number is undefined at one of the two
    at         | Under      |        | the value with that change, None where none changes the number
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "convention, value and number, the other conventions at their defaults",
            "convention value is_default measure figure default here change",
            report="figure measure? convention value here change",
            select={"figure": None},
        ),
    ]
    spans: Annotated[
        pd.DataFrame,
        Table(
            "convention and number",
            "convention measure figure default lowest highest largest_change at",
            report="measure? convention default lowest highest at",
            select={"figure": None},
        ),
    ]
    figures: pd.DataFrame
    combinations: pd.DataFrame
    study: str

    def _shown(self) -> pd.DataFrame:
        if self.table.empty:
            return self.table
        rows = pd.concat([self.of_figure(None, measure) for measure in list[str | None](self.measures) or [None]])
        return rows[self.declared["spans"].reported_of(rows)]

    def _rest(self) -> str:
        return "rows in .spans"

    def answers(self) -> list[str]:
        """Return which convention moves the first number most, by each measure, and how much the study refuses."""
        lines = []
        for measure in list[str | None](self.measures) or [None]:
            rows = self.of_figure(None, measure)
            name = " ".join(filter(None, [measure, rows["figure"].iloc[0]]))
            words, moved = " under every convention", rows[rows["at"].notna()]
            if len(moved):
                most = moved.loc[moved["largest_change"].abs().fillna(-1).idxmax()]
                change = f"{most['largest_change']:.4f}".replace("nan", "unknown size")
                words = f", and a change of {change} under {most['convention']} {most['at']}; {len(moved):,} of "
                words += f"{count(len(rows), 'convention')} move it"
            lines.append(f"{name}: {rows['default'].iloc[0]:.4f}{words}")
        refused = int(self.combinations["refused"].notna().sum())
        return [*lines, *([f"{count(refused, 'combination')} refused by the study"] if refused else [])]

    def of_figure(self, figure: str | None = None, measure: str | None = None) -> pd.DataFrame:
        """Return the rows of `spans` of a number by a measure, the firsts by default; what moves it furthest first."""
        names = list(dict.fromkeys(self.spans["figure"]))
        rows = self.spans[self.spans["figure"] == (names[0] if figure is None else choice("figure", figure, names))]
        if rows["measure"].notna().any():
            rows = rows[rows["measure"] == (measure or rows["measure"].iloc[0])]
        return rows.iloc[np.argsort((rows["lowest"] - rows["highest"]).fillna(1), kind="stable")].reset_index(drop=True)


@described
def sensitivity(
    study: Callable[..., Any],
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    grid: Mapping[str, Any] | Iterable[str] | None = None,
    full: bool = False,
    verbose: bool = False,
    **options: Any,
) -> Sensitivity:
    """Run a study with other values of its conventions, and show which of its numbers change and by how much.

    Each convention is varied alone, with the others at their defaults. These are varied by default, if the study has an
    option of that name: ``order``, in which documents are ranked for scoring (of the runs; the order of pooling stays),
    ``pool_order``, ``contributors`` (``"pooled"`` and ``"all"``, if these differ), ``depth`` of the pool (half of it
    and twice that), ``rel`` (each label above 0), ``complete`` and ``remove``.

    Args:
        study: a study of this library, or a function of your own: of ``runs, qrels`` (and measures), of ``qrels``, or
            of ``scores``, which gets the scores of the runs and takes ``complete`` and ``without_topics`` in addition
            to its own options. It returns a result, or a dict of name -> number.
        measures: ir_measures measures or their names, one or several, if the study takes any.
        grid: what to vary: names of the conventions above, or a dict of ``"order"``, or any option of the study, ->
            values, or -> a dict of label -> value; default all conventions above.
        full: also run every combination, see ``.figures``.
        **options: further options of the study, such as ``qrels_b`` of :func:`compare_judgments`, the same in every
            combination unless varied.

    Returns:
        Sensitivity: ``.table``, ``.spans`` (per convention and number), ``.figures``, ``.combinations``, ``.plot()``.

    Raises:
        InputError: something that is no study, a result that no few numbers sum up, and what the study raises under
            the defaults. A combination that the study refuses is reported as refused.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.profile.sensitivity(
        ...     ptr.leave_out_uniques, field.runs, field.qrels, "AP", depth=field.depth, grid=["rel", "contributors"]
        ... )
        >>> rows = found.spans[found.spans["figure"] == "own_max_drop"]
        >>> rows[["convention", "default", "lowest", "highest", "at"]].values.tolist()
        [['rel', 2.0, 2.0, 3.0, '2'], ['contributors', 2.0, 2.0, 3.0, 'all']]

    Source: published figures differ by conventions of the pool (Voorhees, Craswell and Lin 2022, SIGIR), and by those
    of scoring in trec_eval 9 and 10.
    """
    flag("full", full), flag("verbose", verbose)
    own = dict(inspect.signature(study).parameters) if callable(study) and not isinstance(study, type) else {}
    first = next(iter(own), None)
    if first not in ("runs", "qrels", "scores"):
        problem = f"study must be a function of runs and qrels, of qrels, or of scores, got {shown(study)}."
        raise InputError(problem, argument="study")
    name = getattr(getattr(study, "func", study), "__name__", "study")
    usual = {option: parameter.default for option, parameter in own.items()}
    usual |= {"order": None} if first != "qrels" else {}
    usual |= _OF_SCORING if first == "scores" else {}
    wanted = _checked_grid([option for option in USUAL if option in usual] if grid is None else grid, usual)
    runs, qrels = as_runs_before(runs, qrels)
    qrels, kept = as_qrels(qrels), HowPooled(runs.pool_order or runs.order, runs.pool_depth)
    options |= {} if measures is None else {"measures": measures}

    def result_of(changed: Mapping[str, Any]) -> Any:
        given = {**options, **changed}
        field = runs.pooled_as(kept).reorder(given.pop("order", runs.order))
        if first == "scores":
            how = {option: given.pop(option) for option in _OF_SCORING if option in given}
            return study(score(field, qrels, **how), **given)
        if first == "qrels":
            return study(qrels, **({"runs": field} if "runs" in own else {}), **given)
        return study(field, qrels, **given)

    at_default = result_of({})
    base = _numbers(name, at_default)
    chosen = {"order": runs.order, "pool_order": kept.order, "rel": qrels.rel, **getattr(at_default, "settings", {})}
    default, varied = {}, {}
    for option, given in wanted.items():
        value = options.get(option, usual[option])
        value = chosen.get(option) if value is None else value
        values = {_label(v): v for v in _usual(option, value, runs, qrels)} if given is None else given
        label = next((label for label, other in values.items() if other is value), _label(value))
        # the default stands first where it is none of the values
        values = values if label in values else {label: value, **values}
        if len(values) > 1:
            default[option], varied[option] = label, values
    as_usual = tuple(default.values())
    alone = {(o, label): tuple((default | {o: label}).values()) for o, values in varied.items() for label in values}
    every = dict.fromkeys([as_usual, *alone.values(), *(product(*varied.values()) if full else ())])
    numbers, combinations = {as_usual: base}, [(*as_usual, True, None, None)]
    for labels in pt.tqdm([labels for labels in every if labels != as_usual], desc="conventions", disable=not verbose):
        # what is at its default is left to the study
        changed = {o: varied[o][label] for o, label in zip(varied, labels, strict=True) if label != default[o]}
        numbers[labels], refused = {}, None
        with catch_warnings(record=True) as caught:
            simplefilter("always")
            try:
                numbers[labels] = _numbers(name, result_of(changed))
            except InputError as error:
                refused = str(error)
        heard = dict.fromkeys(str(warning.message) for warning in caught if isinstance(warning.message, ReuseWarning))
        combinations.append((*labels, False, refused, "; ".join(heard) or None))
    table = _frame(
        [
            (option, label, label == default[option], *key, base.get(key, np.nan), here.get(key, np.nan))
            for (option, label), labels in alone.items()
            if (here := numbers[labels])
            for key in base | here
        ],
        {"convention": object, "value": object, "is_default": bool, "measure": object, "figure": object}
        | {"default": float, "here": float},
    )
    table["change"] = table["here"] - table["default"]
    figures = [(*labels, *key, value) for labels, found in numbers.items() for key, value in found.items()]
    labelled = dict.fromkeys(varied, object)
    return Sensitivity(
        table=table,
        spans=_spans(table),
        figures=_frame(figures, {**labelled, **dict.fromkeys(_KEYS, object), "value": float}),
        combinations=_frame(combinations, {**labelled, "default": bool, "refused": object, "warned": object}),
        study=name,
        settings={
            "study": name,
            **{o: _label(v) for o, v in options.items() if o not in varied and repr(v) != repr(usual.get(o))},
            **({} if "order" in varied else {"order": runs.order}),
            "varied": "each alone" if not full else "each alone and in every combination",
            "not varied": ", ".join(option for option in wanted if option not in varied) or "none",
            **{f"{o} at": f"{default[o]} (tried: {', '.join(values)})" for o, values in varied.items()},
            **noted(relevant_only(qrels)),
        },
    )


@study(
    question="Does a number depend on a convention?",
    command="profile sensitivity",
    aim="fair",
    summary="how much the conventions of leave-out-uniques change its figures",
    details="Leave-out-uniques is run with other values of one convention at a time.",
    group="profile",
    name="sensitivity",
    page="studies/sensitivity",
    screen=("spans",),
)
def sensitivity_of_uniques(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    by: options.Unit = "team",
    depth: options.Depth = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    vary: Annotated[
        Sequence[str] | None,
        options.Option(
            "the conventions that are varied; default all of them.",
            check=lambda value: [choice("vary", name, USUAL) for name in value],
            flag=options.Flag(help=f"of {', '.join(USUAL)}", metavar="LIST", kind="list", default="all"),
        ),
    ] = None,
    verbose: options.Verbose = False,
) -> Sensitivity:
    """Run leave-out-uniques under the grid of its conventions: what the command does.

    Returns:
        Sensitivity: as of :func:`sensitivity`.
    """
    given: dict[str, Any] = {"by": by, "depth": depth, "rel": rel, "contributors": contributors}
    return sensitivity(leave_out_uniques, runs, qrels, measures, grid=vary, verbose=verbose, **given)


def _checked_grid(grid: Any, known: Iterable[str]) -> dict[str, dict[str, Any] | None]:
    """Return convention -> label -> value, None for the usual values, as a user asks for them."""
    if isinstance(grid, str) or not isinstance(grid, Iterable) or not (names := list(grid)):
        raise InputError(f"grid must be a dict of convention -> values, or names, got {shown(grid)}.", argument="grid")
    wanted: dict[str, dict[str, Any] | None] = {}
    for name in names:
        if name not in known:
            raise InputError(f"grid names {shown(name)}; the study has {examples(known, 20)}.", argument="grid")
        values = grid[name] if isinstance(grid, Mapping) else None
        if values is None and name in USUAL:
            wanted[name] = None
            continue
        listed = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else []
        pairs = dict(values if isinstance(values, Mapping) else {_label(value): value for value in listed})
        if not listed or len(pairs) < len(listed):
            problem = f"grid must have values of {name} of different names, got {shown(values)}."
            raise InputError(problem, argument="grid")
        wanted[name] = {str(label): value for label, value in pairs.items()}
    return wanted


def _label(value: Any) -> str:
    """Return what a value is called: a word or number as it is, several by the first of them."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return examples(list(value), 2)
    return "the study's own" if value is None else str(value)


def _usual(name: str, default: Any, runs: RunSet, qrels: Qrels) -> list[Any]:
    if name in ("order", "pool_order"):
        return [*BY_SCORE, "file", *(["rank"] if bool(np.all(runs.field.ranked)) else [])]
    if name == "contributors":
        # where all runs were pooled, or nobody knows, these two are one
        known = set(runs.pooled.fillna(True))
        return ["pooled", "all"] if len(known) > 1 else []
    if name == "depth":
        return [max(1, default // 2), default, 2 * default] if isinstance(default, int) else []
    if name == "rel":
        return [label for label in np.unique(qrels.arrays.labels).tolist() if label >= 1]
    return [True, False] if name == "complete" else ["relevant", "judged"]


def _numbers(name: str, result: Any) -> dict[tuple[str | None, str], float]:
    """Return measure and name -> value of the numbers that sum a result up."""
    if isinstance(result, Mapping):
        return {(None, str(figure)): float(value) for figure, value in result.items()}
    if not isinstance(result, Result) or not result.key:
        problem = f"must return a result that few numbers sum up, or a dict of name -> number, got {shown(result)}."
        raise InputError(f"{name} {problem}", argument="study")
    return {(measure, figure): value for measure, figure, value in key_numbers(result).itertuples(index=False)}


def _frame(rows: list[tuple[Any, ...]], columns: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns), dtype=object).astype(columns)


def _spans(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per convention and number: its ends, and the largest change."""
    rows, keys = [], ["convention", *_KEYS]
    for (convention, measure, figure), part in table.groupby(keys, sort=False, dropna=False):
        default, change = part["default"].iloc[0], part["change"].abs()
        # a number that is defined under some values alone moves, too, by nobody knows how much
        undefined = np.where(part["here"].isna() != np.isnan(default), CLOSE, 0.0)
        size = np.where(change > CLOSE, change, undefined)
        most = part.iloc[int(size.argmax())]
        moved = (most["change"], most["value"]) if size.any() else (0.0, None)
        ends = default, part["here"].min(), part["here"].max()
        rows.append((convention, None if measure != measure else measure, figure, *ends, *moved))
    numbers = ["default", "lowest", "highest", "largest_change"]
    return _frame(rows, dict.fromkeys(keys, object) | dict.fromkeys(numbers, float) | {"at": object})
