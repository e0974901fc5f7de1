"""Published figures replayed: their parameters, and the calls that compute them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, did_you_mean, examples, flag, positive
from pt_reuse._errors import Advice, Call, InputError, Message, Part, in_python, warn, worded
from pt_reuse.arrays.field import Field
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import judgments_of
from pt_reuse.collections.getting import plan_runs
from pt_reuse.collections.registry import UnknownCollectionError, find_collection
from pt_reuse.collections.run_files import find_run_files
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_reading import Reading, as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import check_every_run_has
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.measures import native_spec, parse_measures
from pt_reuse.scoring.run_scores import score
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques

#: the parameters of a figure, complete and checked: name -> value
Given: TypeAlias = Mapping[str, Any]
#: raises where no value of a figure can have a name under these parameters
CheckName: TypeAlias = Callable[[str, Given], None]

_RANKS = re.compile(r"(\d+)-(\d+)")
_COUNTED = ("runs", "teams", "pooled runs", "topics", "rows")


@dataclass(frozen=True)
class Parameter:
    """What a parameter of a figure may be.

    Attributes:
        checked: returns the value of a name as it is used, or raises; the third argument are the figures of the file
            that are scores of runs.
        usual: the value where none is given.
        needed: whether one must be given.
        says_what: whether it says what is computed, which the figure tells; else it says how, which the convention
            tells.
        told: returns the value as a convention tells it.
        untold: whether a convention need not tell a value; default the usual one.
    """

    checked: Callable[[str, Any, Sequence[str]], Any]
    usual: Any = None
    needed: str = ""
    says_what: bool = False
    told: Callable[[Any], str] = str
    untold: Callable[[Any], bool] | None = None

    def default(self) -> Any:
        """Return the usual value, or raise where one must be given."""
        if self.needed:
            raise InputError(f"the figure needs {self.needed}.", argument="measure")
        return self.usual

    def is_usual(self, value: Any) -> bool:
        """Return whether a convention need not tell the value."""
        return bool(value == self.usual) if self.untold is None else self.untold(value)


def one_of(*words: str, says_what: bool = False) -> Parameter:
    """Return a parameter that is one of several words, of which the first is the usual one."""
    return Parameter(lambda name, value, _: choice(name, value, words), words[0], says_what=says_what)


def whole_number(unit: str, usual: int | None = None) -> Parameter:
    """Return a parameter that is a whole number of at least 1; None where there need be none."""
    return Parameter(lambda name, value, _: positive(name, value, unit), usual)


def measures(*, alone: bool = False) -> Parameter:
    """Return a parameter that is a measure, or several, of which the mean is taken; `alone` where it must be one."""

    def checked(name: str, value: Any, scored: Sequence[str]) -> list[ir_measures.Measure]:
        found = parse_measures(value)
        if alone and len(found) > 1:
            raise InputError(f"the figure takes one measure, got {value!r}.", argument="measure")
        return found

    return Parameter(
        checked,
        needed='measure = "AP"' if alone else 'measure = "AP", or several to take the mean of',
        told=lambda value: " and ".join(map(str, value)),
        # the figure tells cutoffs
        untold=lambda value: not any(set(measure.params) - {"cutoff"} for measure in value),
    )


def _checked_truth(name: str, value: Any, scored: Sequence[str]) -> str:
    if not scored:
        raise InputError(f"{name} must be a figure of kind 'scores', and the file has none; got {value!r}.")
    return choice(name, value, scored)


def _checked_contributors(name: str, value: Any, scored: Sequence[str]) -> str | tuple[str, ...]:
    if isinstance(value, list) and value and all(isinstance(run, str) for run in value):
        return tuple(value)
    return choice(name, value, ("pooled", "all"))


#: whether scores are over all topics
COMPLETE = Parameter(lambda name, value, _: flag(name, value), True)
#: the published scores to compare with, by the name of their figure; None for the computed ones
TRUTH = Parameter(_checked_truth)
#: the lowest label that is relevant, 1 where none is given: a figure does not depend on what judgments say
GRADE = Parameter(lambda name, value, _: checked_rel(value) or 1, 1)
#: the runs that made a pool: those on record as pooled, all, or several by name
CONTRIBUTORS = Parameter(
    _checked_contributors, "pooled", told=lambda value: value if isinstance(value, str) else count(len(value), "run")
)


def any_name(name: str, given: Given) -> None:
    """Take runs, teams, types or prefixes: whether there is one of a name shows when it is computed."""


def listed(*names: str) -> CheckName:
    """Return a check that a name is listed."""

    def check(name: str, given: Given) -> None:
        if name not in names:
            raise InputError(
                f"the name of a value must be one of {examples(names, 12)}, got {name!r}.{did_you_mean(name, names)}"
            )

    return check


def ranks(name: str, given: Given) -> None:
    """Raise where a name is neither ``never`` nor ranks such as ``11-50``, no deeper than the pool."""
    if name == "never":
        return
    if _RANKS.fullmatch(name) is None:
        raise InputError(f"the names of the values must be ranks such as '11-50', or 'never', got {name!r}.")
    first, last = first_and_last(name)
    if not 1 <= first <= last <= given["depth"]:
        raise InputError(
            f"the names of the values must be ranks from 1 to the depth {given['depth']}, the better one first, "
            f"got {name!r}."
        )


def first_and_last(ranks: str) -> tuple[int, int]:
    """Return the ranks that a name such as ``11-50`` spans."""
    first, _, last = ranks.partition("-")
    return int(first), int(last)


def finite_numbers(name: str, given: Given) -> None:
    """Raise where a name is no finite number."""
    try:
        finite = math.isfinite(float(name))
    except ValueError:
        raise InputError(f"the names of the values must be numbers such as '0.9', got {name!r}.") from None
    if not finite:
        raise InputError(f"the names of the values must be finite numbers, got {name!r}.")


def counts_of_runs(name: str, given: Given) -> None:
    """Raise where a name is neither what is counted in run files, nor ``TYPE runs``."""
    if name not in _COUNTED and not type_of(name):
        raise InputError(
            f"the names of the values must be one of {examples(_COUNTED, 5)}, or a type as in 'manual runs', got "
            f"{name!r}."
        )


def type_of(name: str) -> str:
    """Return the type of which the runs are counted, empty where a name is no such count."""
    kind = name.removesuffix(" runs")
    return kind if kind != name and kind.strip() else ""


@dataclass(frozen=True)
class Reason:
    """Why there is no number: texts, and advice between them, as in a :class:`~pt_reuse._errors.Message`."""

    parts: tuple[str | Advice, ...]

    def worded(self, advice: Callable[[Advice], str]) -> str:
        """Return the reason with advice put into words by a function."""
        return worded(self.parts, advice)

    def __str__(self) -> str:
        return self.worded(in_python)


def because(*parts: Part) -> Reason:
    """Return a reason made of texts, advice, and what errors say."""

    def flat(parts: Iterable[Part]) -> Iterator[str | Advice]:
        for part in parts:
            if isinstance(part, Message):
                yield from [f"{part.place}: "] if part.place else []
                yield from flat(part.parts)
            else:
                yield part

    return Reason(tuple(flat(parts)))


class NotComputedError(Exception):
    """None of a group's figures can be computed from what is here."""

    def __init__(self, reason: Reason):
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Computed:
    """What was computed for the figures of a group; a name that is in neither names nothing.

    Attributes:
        numbers: name -> number.
        reasons: name -> why it has none.
    """

    numbers: Mapping[str, float]
    reasons: Mapping[str, Reason] = field(default_factory=dict)


def by_name(values: pd.Series) -> dict[str, float]:
    """Return the numbers of a series by the texts of its index."""
    return {str(name): float(value) for name, value in values.items()}


@dataclass(frozen=True)
class Material:
    """Judgments and runs.

    Attributes:
        qrels: the judgments.
        runs: the runs that are here, None where there are none.
        no_runs: why there are none, None where there are some.
        submitted: the names of the runs on record; none where there is no record.
        missing: those of them that are not here.
    """

    qrels: Qrels
    runs: RunSet | None
    no_runs: Reason | None = None
    submitted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def gather(
    name: str, runs: Any, qrels: Any, *, figures: str | Path | None, download: bool, reading: Reading
) -> Material:
    """Return the judgments and runs of a collection, those without runs that were submitted to another.

    Args:
        name: the collection.
        runs: a RunSet or runs in another form, run files, or None for those of the collection.
        qrels: judgments in any form, or None for those of the collection.
        figures: the user's file of figures, None where they are the package's.
        download: whether to fetch run files that are not on this machine.
        reading: how run files are read.

    Raises:
        InputError: no collection of that name, a file that cannot be read, runs without any topic of the judgments.
    """
    runs = held(runs)
    given = as_runs(runs, qrels) if runs is not None and not is_files(runs) else None
    collection = None if given is not None and qrels is not None else _collection(name, figures)
    plan = None
    if collection is not None and given is None:
        # before judgments are looked for, maybe by way of the network
        plan = plan_runs(collection, {}, reading, types=None, runs=runs, missing="ignore", download=download)
    material = Material(judgments_of(collection) if collection and qrels is None else as_qrels(qrels), given)
    if plan is not None:
        try:
            material = replace(material, runs=plan.get())
        except InputError as error:
            # a file that cannot be read is an error; none at all leaves the judgments to be checked
            if runs is not None or download or not plan.is_fetched:
                raise
            if collection is None or find_run_files(collection, plan.names or ()):
                raise
            material = replace(material, no_runs=because("no runs: ", error))
    material = _without_strangers(material, _submitted(name))
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
            f"{figures} is about {name!r}, which is no registered collection. Make its name known with ",
            Call("register_collection", "..."),
            ". In Python, a RunSet and judgments given beside the figures need no collection. (",
            error,
            ")",
        ) from error


def _submitted(name: str) -> tuple[str, ...]:
    """Return the runs that the collection has, where this is on record."""
    try:
        submitted = find_collection(name).submitted
    except UnknownCollectionError:
        return ()
    return () if submitted is None else tuple(submitted["name"])


def _without_strangers(material: Material, submitted: tuple[str, ...]) -> Material:
    """Return the material with the submitted runs alone, and the names of those that it lacks."""
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


_T = TypeVar("_T")
#: by score, documents of one score as they stand in the file: how NIST pooled in 2025
FILE_TIES = "file_ties"


class PoolKey(NamedTuple):
    """Which pool: its order, depth and contributors."""

    order: str
    depth: int
    contributors: str | tuple[str, ...]


class Replay:
    """The runs and judgments of a verification; whatever is computed from them is computed once.

    `published` maps figures to their published values, for those that compare with another's.
    """

    def __init__(self, material: Material, *, published: Mapping[str, pd.Series], verbose: bool = False):
        self.material, self.qrels = material, material.qrels
        self._published, self._verbose = published, verbose
        self._made: dict[Hashable, Any] = {}

    def runs(self, order: str) -> RunSet:
        """Return the runs in an order: one of :data:`pt_reuse.arrays.lists.ORDERS`, or :data:`FILE_TIES`."""
        return self._once(("runs", order), lambda: self._ordered(order))

    def pool(self, key: PoolKey) -> Pool:
        """Return the depth-k pool of the contributing runs."""
        return self._once(
            ("pool", key), lambda: depth_pool(self.runs(key.order), depth=key.depth, contributors=key.contributors)
        )

    def rows_in(self, key: PoolKey) -> NDArray[np.int64]:
        """Return for each document of a pool its row among the judgments, or -1."""
        return self._once(("rows in", key), lambda: self.qrels.arrays.documents.find(self.pool(key).documents))

    def judged_in(self, key: PoolKey, *, outside: bool = False) -> Qrels:
        """Return the judgments of the documents in a pool, or of all others."""

        def keep() -> Qrels:
            rows = self.rows_in(key)
            inside = np.zeros(len(self.qrels), dtype=bool)
            inside[rows[rows >= 0]] = True
            return self.qrels.keep(inside != outside)

        return self._once(("judged in", key, outside), keep)

    def scores(
        self, order: str, measure: ir_measures.Measure, complete: bool = True, within: PoolKey | None = None
    ) -> Scores:
        """Return the scores of all runs, under all judgments or those `within` a pool."""

        def make() -> Scores:
            qrels = self.qrels if within is None else self.judged_in(within)
            provided = self._verbose and native_spec(measure) is None
            return score(self.runs(order), qrels, measure, complete=complete, verbose=provided)

        return self._once(("scores", order, measure, complete, within), make)

    def means(
        self, order: str, measures: list[ir_measures.Measure], complete: bool = True, within: PoolKey | None = None
    ) -> pd.Series:
        """Return run -> score; of several measures, the mean of the scores."""
        scores = [self.scores(order, measure, complete, within) for measure in measures]
        return pd.Series(np.mean([one.mean_values[0] for one in scores], axis=0), index=scores[0].names)

    def left_out(self, key: PoolKey, measure: ir_measures.Measure, given: Given) -> LeaveOutUniques:
        """Return what leaving out each team, run or type does, runs scored in an order."""
        # a published figure is of the teams that there were: a run without one must not count as one
        runs, order = self.runs(given["order"]), given["order"]
        check_every_run_has(runs.run_table, given["by"])
        options = {name: given[name] for name in ("by", "remove", "rel", "complete")}
        return self._once(
            ("left out", key, measure, order, *options.values()),
            lambda: leave_out_uniques(
                runs,
                self.qrels,
                measure,
                depth=key.depth,
                pool_order=None if key.order == order else key.order,
                contributors=key.contributors,
                verbose=self._verbose and native_spec(measure) is None,
                **options,
            ),
        )

    def published(self, what: str) -> pd.Series:
        """Return run -> published value of another figure."""
        return self._published[what]

    def _once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        if key not in self._made:
            # a published figure is equal or not, whatever it means
            with told_elsewhere():
                self._made[key] = make()
        return self._made[key]

    def _ordered(self, order: str) -> RunSet:
        if self.material.runs is None:
            raise NotComputedError(self.material.no_runs or because("no runs"))
        # pooled in the order that the figure names, whatever the order of the collection's own pool
        runs = RunSet(self.material.runs.field, self.material.runs.run_table, self.material.runs.order)
        return _by_score(runs.reorder("file")) if order == FILE_TIES else runs.reorder(order)


def _by_score(runs: RunSet) -> RunSet:
    """Return runs in the order of their files by score; documents of one score stay as they stand in the file."""
    field, step = runs.field, _StableByScore()
    changed = step.of(field) if isinstance(field, Field) else field.changed(step, field.lengths)
    return RunSet(changed, runs.run_table, runs.order)


class _StableByScore:
    """Puts the lists of a block in the order of their scores, those of one score as they stand."""

    def of(self, block: Field) -> Field:
        """Return the block in that order."""
        scores = -np.asarray(block.scores)
        # list by list, since each of them is nearly sorted as it stands
        order = np.arange(len(scores))
        for start, stop in pairwise(block.starts.tolist()):
            order[start:stop] = start + np.argsort(scores[start:stop], kind="stable")
        return block.permute(order)
