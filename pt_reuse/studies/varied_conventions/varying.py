"""sensitivity: what a study would say under other conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pyterrier as pt

from pt_reuse._check import flag, told
from pt_reuse._errors import InputError, Option, ReuseWarning, door
from pt_reuse._result import Result
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.studies.varied_conventions.grid import Choice, Convention, checked_grid
from pt_reuse.studies.varied_conventions.kept_orders import KeptOrders
from pt_reuse.studies.varied_conventions.sensitivity_result import (
    KEYS,
    Sensitivity,
    change_table,
    frame_of,
    span_table,
)
from pt_reuse.studies.varied_conventions.study_call import ORDER, Study, StudyCall


@door
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
    """Run a study under the grid of its conventions, and say which key figures move and by how much.

    Each convention is varied alone, the others at their defaults: what the user gives in `options`, else what the study
    would take on this field. With ``full=True`` every combination is run as well.

    The conventions that are varied by default, as far as the study has an option of that name:

    - ``order``, in which documents are ranked for scoring (of the runs; every study has it). The order of pooling stays
      as it is meanwhile;
    - ``pool_order``, in which runs were pooled: both in the orders by score, in that of the file, and by the rank
      column where all runs have one;
    - ``contributors``: ``"pooled"`` and ``"all"``, where these differ;
    - ``depth`` of the pool: half of it, the default, and twice that;
    - ``rel``, the lowest label that is relevant: each label above 0 of the judgments;
    - ``complete``: means over all topics of the judgments, or over those that a run has;
    - ``remove``: unique documents that are relevant, or that are judged.

    Args:
        study: a function of runs, judgments and measures that returns a result with ``key_figures()``: any study of
            this library, such as :func:`leave_out_uniques`, :func:`by_type` or :func:`~pt_reuse.pools.pool_costs`, or
            one's own, such as a function that scores twice and returns an ``Agreement``. A study of scores
            (:func:`~pt_reuse.profile.stability`, :func:`~pt_reuse.profile.discriminative_power`,
            :func:`~pt_reuse.profile.saturation`; its first argument is called ``scores``) is given those of the runs by
            the judgments, and takes ``complete`` and ``without_topics`` besides its own options. A study of judgments
            (:func:`~pt_reuse.profile.density`) is given these, and the runs where it takes any.
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        measures: ir_measures measures or their names, one or several, where the study takes any.
        grid: what to vary: names of the conventions above, or a dict of ``"order"``, or any option of the study, ->
            values, or -> a dict of label -> value; default all conventions above.
        key_figures: a function of a result that returns name -> number, for a result that has no ``key_figures()`` or
            where others are wanted.
        full: run every combination, too, see ``.figures``.
        verbose: show a progress bar.
        **options: further options of the study, such as ``qrels_b`` of :func:`compare_judgments`, the same in every
            combination where they are not varied.

    Returns:
        Sensitivity: ``.table`` (per convention, value and key figure), ``.spans`` (per convention and key figure),
        ``.figures`` and ``.combinations``, ``.plot()``.

    Raises:
        InputError: what is no study, an option or convention that it does not have, one that it needs and nobody
            gives, a result without key figures, and what the study raises under the defaults. A combination that the
            study refuses is reported as refused.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
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
    call.check_complete(wanted.values)
    if key_figures is not None and not callable(key_figures):
        raise InputError(
            f"key_figures must be a function of a result, got {told(key_figures)}.", argument="key_figures"
        )
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    conventions = wanted.conventions(call, runs, qrels)
    names = [convention.name for convention in conventions]
    kept = [name for name in wanted.values if name not in names]
    work = _Work(call, runs, qrels, key_figures)
    combinations = _combinations(conventions, full=full)
    rows: list[tuple[Any, ...]] = []
    parts = []
    for chosen in pt.tqdm(combinations, desc="conventions", unit="combination", disable=not verbose):
        default = not rows
        found = work.told(chosen) if default else work.recorded(chosen)
        labels = [choice.label for choice in chosen.values()]
        rows.append((*labels, default, found.refused, found.warned))
        parts += [(*labels, *row) for row in found.figures]
    figures = frame_of(parts, [*names, *KEYS, "value"], texts=(*names, *KEYS))
    table = change_table(conventions, figures)
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
            **{f"{one.name} at": f"{one.default.label} (tried: {_labels(one)})" for one in conventions},
        },
    )


@dataclass(frozen=True)
class _Found:
    """What one combination gave.

    Attributes:
        figures: measure, name and value of each key figure, none where it was refused.
        refused: why, None where it was not.
        warned: what was warned of, None for nothing.
    """

    figures: Sequence[tuple[str | None, str, float]]
    refused: str | None = None
    warned: str | None = None


class _Work:
    """Runs a study under conventions."""

    def __init__(
        self,
        call: StudyCall,
        runs: RunSet,
        qrels: Qrels,
        key_figures: Callable[[Result], Mapping[str, float]] | None,
    ):
        self._call, self._qrels, self._key_figures = call, qrels, key_figures
        self._runs = KeptOrders.of(runs)

    def told(self, chosen: Mapping[str, Choice]) -> _Found:
        """Return the key figures; what the study raises or warns of goes to the user."""
        values = {name: choice.value for name, choice in chosen.items()}
        runs = self._runs.reorder(values.pop(ORDER, self._runs.order))
        return _Found(self._figures(self._call.under(runs, self._qrels, values)))

    def recorded(self, chosen: Mapping[str, Choice]) -> _Found:
        """Return the key figures, or why the study refuses, and what it warns of."""
        with catch_warnings(record=True) as caught:
            simplefilter("always")
            try:
                found = self.told(chosen)
            except _NoKeyFiguresError:
                raise
            except InputError as error:
                found = _Found((), refused=str(error))
        said = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, ReuseWarning))
        return _Found(found.figures, found.refused, "; ".join(said) or None)

    def _figures(self, result: Result) -> list[tuple[str | None, str, float]]:
        if self._key_figures is None:
            own = getattr(type(result), "key_figures", Result.key_figures)
            if own is Result.key_figures:
                raise _NoKeyFiguresError(
                    f"{self._call.name} returns {_a(result)} without key figures. Give ",
                    Option("key_figures", ...),
                    ", a function of the result that returns name -> number.",
                    argument="key_figures",
                )
            found = result.key_figures()
            return list(zip(found["measure"], found["figure"], found["value"], strict=True))
        given = self._key_figures(result)
        if not isinstance(given, Mapping) or not given:
            raise _NoKeyFiguresError(
                f"key_figures must return a dict of name -> number, got {told(given)}.", argument="key_figures"
            )
        odd = [name for name, value in given.items() if not isinstance(value, int | float | np.number)]
        if odd:
            raise _NoKeyFiguresError(
                f"key_figures must return numbers; {told(odd[0])} is {told(given[odd[0]])}.", argument="key_figures"
            )
        return [(None, str(name), float(value)) for name, value in given.items()]


class _NoKeyFiguresError(InputError):
    """The result of the study says nothing that could be compared."""


def _combinations(conventions: Sequence[Convention], *, full: bool) -> list[dict[str, Choice]]:
    """Return the defaults, each other value alone, and with `full` all further combinations."""
    default = {convention.name: convention.default for convention in conventions}
    alone = [{**default, one.name: choice} for one in conventions for choice in one.others]
    return [default, *alone, *(_further(conventions) if full else ())]


def _further(conventions: Sequence[Convention]) -> Iterator[dict[str, Choice]]:
    for chosen in product(*(convention.choices for convention in conventions)):
        others = sum(one.label != of.default.label for one, of in zip(chosen, conventions, strict=True))
        if others > 1:
            yield {of.name: one for one, of in zip(chosen, conventions, strict=True)}


def _labels(convention: Convention) -> str:
    return ", ".join(choice.label for choice in convention.choices)


def _in_words(value: Any) -> Any:
    if isinstance(value, str | int | float) or value is None:
        return value
    return ", ".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset | range) else told(value)


def _a(result: Any) -> str:
    kind = type(result).__name__
    return f"an {kind}" if kind[0] in "AEIOU" else f"a {kind}"
