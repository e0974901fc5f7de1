"""The studies that a card is made of: each is asked of the runs and judgments, or says why it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, listed
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.measures import cutoff_of
from pt_reuse.scoring.scores import Scores, score
from pt_reuse.studies.bounds import bounds
from pt_reuse.studies.by_type import by_type, leave_out_type
from pt_reuse.studies.coverage import coverage
from pt_reuse.studies.density import density
from pt_reuse.studies.infer_pool import Certainty, infer_pool
from pt_reuse.studies.leave_out_uniques import leave_out_uniques
from pt_reuse.studies.rank_intervals import rank_intervals
from pt_reuse.studies.saturation import saturation
from pt_reuse.studies.significance import discriminative_power
from pt_reuse.studies.stability import stability

EQUAL_DEPTH = 10  # at which collections are compared
AT_EQUAL_DEPTH = f" at depth {EQUAL_DEPTH}"  # the end of the names of parts about the pool of that depth
#: the relevant documents of each topic that no run has, in the second number about unjudged documents, and its part
FURTHER, FURTHER_PART = 3, "bounds, further documents"
_OF_SWAPS = 100  # resamples of swap rates, each of which draws samples of topics anew


@dataclass(frozen=True)
class Asking:
    """What the studies of a card are asked with: a field and judgments, as they are or cut to the pool of a depth."""

    given_runs: RunSet | None
    qrels: Qrels
    measures: list[ir_measures.Measure]  # the first is the main one
    given_depth: int | None  # that the user says, or that is on record
    how: Mapping[str, Any]  # ``resamples`` and ``seed``
    without_runs: str = ""  # why there are none
    found: dict[str, Result] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> RunSet:
        """Return the runs, or say why there are none."""
        if self.given_runs is None:
            raise InputError(self.without_runs)
        return self.given_runs

    @cached_property
    def scores(self) -> Scores:
        """Return the scores of the runs."""
        return score(self.runs, self.qrels, self.measures)

    @property
    def main(self) -> str:
        """Return the name of the main measure."""
        return str(self.measures[0])

    @property
    def by(self) -> str:
        """Return who is left out: teams, or runs where no run has a team."""
        return "team" if self.runs.teams else "run"

    @property
    def typed(self) -> RunSet:
        """Return the runs, where they are of several types."""
        kinds = self.runs.types
        if len(kinds) < 2:
            only = f"all runs are of one type, {kinds[0]!r}" if kinds else "no run has a type"
            raise InputError(f"{only}: nothing can be said of a new kind of system.")
        return self.runs

    @property
    def depth(self) -> int | None:
        """Return the depth of the pool: on record, else the one that most judgments tell; None where there is none."""
        pool: Any = self.found.get("pool")
        if self.given_depth is not None or pool is None:
            return self.given_depth
        certain = pool.certainty in (Certainty.EXACT, Certainty.NEARLY, Certainty.MOST)
        return pool.depth if certain and pool.depth else None

    @property
    def known_depth(self) -> int:
        """Return the depth of the pool, or say that it is not known."""
        if self.depth is None:
            raise InputError(f"the depth of the pool is not known. See the numbers at depth {EQUAL_DEPTH}.")
        return self.depth

    @cached_property
    def cut(self) -> Asking:
        """Return the same with the judgments of the depth at which collections are compared."""
        if self.depth is not None and self.depth < EQUAL_DEPTH:
            raise InputError(f"the pool has depth {self.depth}, which is less than {EQUAL_DEPTH}.")
        shallow = self.qrels.restrict(depth_pool(self.runs, depth=EQUAL_DEPTH))
        if len(shallow) == len(self.qrels) and self.depth == EQUAL_DEPTH:
            raise InputError(f"the judgments are those of the depth-{EQUAL_DEPTH} pool: see above.")
        return replace(self, qrels=shallow, given_depth=EQUAL_DEPTH)


def _bounds(a: Asking, further: int = 0) -> Result:
    # without a cutoff each list has hundreds of unjudged documents
    bounded = [measure for measure in a.measures if cutoff_of(measure) is not None]
    if not bounded:
        names = listed(list(map(repr, a.measures)))
        raise InputError(f"no cutoff: {names}, and without one nearly every order can be reversed.")
    return bounds(a.runs, a.qrels, bounded, further=further)


def upper_loss(uniques: Any, measure: str) -> float:
    """Return the largest loss in per cent of a run whose score is not in the lowest quarter.

    A run that finds next to nothing loses much of it with one document.
    """
    rows = uniques.by_run[uniques.by_run["measure"] == measure]
    upper = rows[rows["score"] >= rows["score"].quantile(0.25)]
    return max(0.0, -float(upper["change_pct"].min()))


def losses_of(asking: Asking, part: str, before: str = "") -> dict[str, Any]:
    """Return how far scores and ranks hold without what a unit alone brought, where that was computed."""
    if part not in asking.found:
        return {}
    result: Any = asking.found[part]
    uniques = getattr(result, "uniques", result)
    of = uniques.summary.set_index("measure").loc[asking.main]
    row = {f"{before}tau_b": of["own_tau_b"], f"{before}loss": of["largest_loss_pct"]}
    row[f"{before}upper_loss"] = upper_loss(uniques, asking.main)
    return row | ({} if before else {"drop": of["alone_max_drop"]})


def judged_of_types(covered: Any) -> pd.Series:
    """Return the share of judged documents of each type, had it not been pooled: the mean over its runs."""
    rows = covered.groups[covered.groups["by"] == "type"]
    return 1 - rows.set_index("group")["unjudged_without_own"]


@dataclass(frozen=True)
class Part:
    """A study of a card."""

    name: str  # in ``Card.results``
    title: str  # on the page
    ask: Callable[[Asking], Result]
    tables: Sequence[str]  # of the result, which are shown
    figure: str = ""  # a function of ``figures``
    cut: bool = False  # whether it is asked with judgments cut to the pool of equal depth


def _both(part: Part) -> tuple[Part, Part]:
    title = f"{part.title}: judgments of the depth-{EQUAL_DEPTH} pool"
    return part, replace(part, name=f"{part.name}{AT_EQUAL_DEPTH}", title=title, cut=True)


def _of_teams(a: Asking) -> Result:
    return leave_out_uniques(a.runs, a.qrels, a.measures, by=a.by, depth=a.known_depth, **a.how)


def _of_types(a: Asking) -> Result:
    return leave_out_type(a.typed, a.qrels, a.measures, depth=a.known_depth, **a.how)


def _pools(a: Asking) -> Result:
    # pools are made anew, so that any depth will do
    return by_type(a.typed, a.qrels, a.measures, depth=a.depth or EQUAL_DEPTH, seed=a.how["seed"])


def _coverage_of_types(a: Asking) -> Result:
    return coverage(a.typed, a.qrels, a.measures, depths=EQUAL_DEPTH, by="type", depth=a.known_depth)


def _stability(a: Asking) -> Result:
    n, resamples = len(a.scores.topics), min(a.how["resamples"], _OF_SWAPS)
    return stability(a.scores, sizes=sorted({max(n // 2, 1), n}), resamples=resamples, seed=a.how["seed"])


def _coverage(a: Asking) -> Result:
    return coverage(a.runs, a.qrels, a.measures, by=a.by if a.depth else None, depth=a.depth)


_FURTHER_TITLE = f"Bounds with {FURTHER} relevant documents per topic that no run has"
#: the sections of the page; further studies of a collection are added here
SECTIONS: dict[str, Sequence[Part]] = {
    "Who was pooled": [
        Part("pool", "The pool behind the judgments", lambda a: infer_pool(a.runs, a.qrels), ("summary",)),
    ],
    "Density and saturation": [
        Part("density", "Relevant density", lambda a: density(a.qrels), ("table",), "topics"),
        Part("saturation", "Saturation", lambda a: saturation(a.scores), ("summary", "table")),
    ],
    "A new run like those pooled": _both(
        Part("teams", "One team left out", _of_teams, ("summary", "table", "by_run"), "losses")
    ),
    "A new kind of system": [
        *_both(Part("types", "One type left out", _of_types, ("table",), "losses_of_types")),
        Part("by_type", "Pools of one type", _pools, ("table",)),
        *_both(Part("type_coverage", "What is judged of a new type", _coverage_of_types, ("groups",))),
    ],
    "Stability": [
        Part("stability", "Other topics", _stability, ("differences_needed",), "swaps"),
        Part("ranks", "Which ranks are real", lambda a: rank_intervals(a.scores), ("table",), "ranks"),
        *_both(Part("power", "Discriminative power", lambda a: discriminative_power(a.scores), ("table",))),
    ],
    "What unjudged documents can do": [
        Part("bounds", "Bounds", _bounds, ("summary", "table"), "ranks"),
        Part(FURTHER_PART, _FURTHER_TITLE, lambda a: _bounds(a, FURTHER), ("summary",)),
        Part("coverage", "Coverage", _coverage, ("groups", "by_run"), "depths"),
    ],
}
PARTS = tuple(part for parts in SECTIONS.values() for part in parts)


def ask_all(asking: Asking, sections: Mapping[str, Sequence[Part]], *, verbose: bool) -> None:
    """Ask every part, and keep what is found and why the rest is missing; caveats stand beside the numbers."""
    bar = pt.tqdm(
        [part for parts in sections.values() for part in parts], desc="card", unit="study", disable=not verbose
    )
    for part in bar:
        bar.set_postfix_str(part.name)
        try:
            with told_elsewhere():
                asking.found[part.name] = part.ask(asking.cut if part.cut else asking)
        except InputError as error:
            text = str(error)
            asking.missing[part.name] = text[:1].upper() + text[1:]
