"""coverage: how far the judgments cover each run, and which runs the pool puts at a disadvantage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, fraction, positive, told
from pt_reuse._report import Column, Digits, Report
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import COLUMNS, described
from pt_reuse.errors import InputError
from pt_reuse.options import SHARED, Flag, Parameter
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import few_topics, told_elsewhere
from pt_reuse.scoring.measures import MeasureLike, cutoff_of
from pt_reuse.scoring.scores import checked_measures, mean_over_topics, provided_measures, score, topics_of_runs
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.coverage.figures import plot_depths, plot_residual, plot_rises, plot_unjudged_runs
from pt_reuse.studies.coverage.judged_lists import (
    JudgedLists,
    RankBounds,
    UnjudgedDocuments,
    flag_table,
    record_of,
)
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

Values = NDArray[np.float64]
#: the shares of a depth that are averaged over runs
SHARES = ("unjudged", "judged", "unjudged_of_k", "unjudged_without_own")


@dataclass(frozen=True)
class Shares:
    """Shares of unjudged documents on each topic, and whose topics they are."""

    lists: JudgedLists  # what was counted
    has_topic: NDArray[np.bool_] | None  # (topics, runs) the topics of each run, where means are over these

    @property
    def of_topics(self) -> Values:
        """Return (topics, runs): what each topic weighs in the mean of a run."""
        counted = self.counted.astype(float)
        return counted / np.maximum(counted.sum(axis=0), 1)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Return (topics, runs): which topics count for which run."""
        return np.ones(self.lists.lengths.shape, dtype=bool) if self.has_topic is None else self.has_topic

    def mean(self, values: Values) -> Values:
        """Return the means over topics of (..., topics, runs) values."""
        return mean_over_topics(values, self.has_topic)


def depth_table(run_table: pd.DataFrame, shares: Shares) -> pd.DataFrame:
    """Return one row per depth and run, see ``Coverage``; `run_table` is ``name team type pooled contributed``."""
    lists, n_depths, n_runs = shares.lists, len(shares.lists.depths), len(run_table)
    table = run_table.iloc[np.tile(np.arange(n_runs), n_depths)].reset_index(drop=True)
    unjudged = shares.mean(lists.unjudged)
    return table.assign(
        depth=np.repeat(np.array(lists.depths), n_runs),
        documents=lists.documents.sum(axis=1).ravel(),
        unjudged_documents=(lists.documents - lists.judged).sum(axis=1).ravel(),
        unjudged=unjudged.ravel(),
        judged=1 - unjudged.ravel(),
        unjudged_of_k=shares.mean(lists.of_k).ravel(),
        unjudged_without_own=shares.mean(lists.without_own).ravel(),
    )


def group_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per team and type and depth: the means of its runs, and the run with most unjudged."""
    parts = []
    for by in ("type", "team"):
        known = table[table[by].notna()]
        grouped = known.groupby(["depth", by], sort=False)
        means = {share: (share, "mean") for share in SHARES}
        sums = {name: (name, "sum") for name in ("documents", "unjudged_documents")}
        part = grouped.agg(runs=("name", "size"), **sums, **means, max_unjudged=("unjudged", "max")).reset_index()
        parts.append(part.rename(columns={by: "group"}).assign(by=by))
    first = ["by", "group", "runs", "depth"]
    both = pd.concat(parts, ignore_index=True)
    return both[[*first, *(column for column in both if column not in first)]]


def topic_table(topics: Sequence[str], shares: Shares) -> pd.DataFrame:
    """Return one row per depth and topic: the mean over runs, the largest, and where the first unjudged one stands."""
    lists, n_depths, counted = shares.lists, len(shares.lists.depths), shares.counted
    runs = counted.sum(axis=1)

    def over_runs(values: Values) -> Values:
        return np.where(runs > 0, np.where(counted, values, 0.0).sum(axis=2) / np.maximum(runs, 1), np.nan).ravel()

    most = np.where(counted, lists.unjudged, -1.0).max(axis=2, initial=-1.0).ravel()
    judged_to = np.where(np.isnan(lists.judged_to), np.inf, lists.judged_to).min(axis=1, initial=np.inf)
    return pd.DataFrame(
        {
            "qid": np.tile(np.array(topics, dtype=object), n_depths),
            "depth": np.repeat(np.array(lists.depths), len(topics)),
            "runs": np.tile(runs, n_depths),
            "unjudged": over_runs(lists.unjudged),
            "unjudged_of_k": over_runs(lists.of_k),
            "max_unjudged": np.where(most < 0, np.nan, most),
            "judged_to": np.tile(np.where(np.isinf(judged_to), np.nan, judged_to), n_depths),
        }
    )


def run_figures(shares: Shares) -> pd.DataFrame:
    """Return one row per run, in the order of the field: how deep it is judged, and its residual."""
    lists = shares.lists
    to, has = lists.judged_to, lists.lengths > 0
    some = has.any(axis=0)
    medians = [np.median(of_run[here]) if here.any() else np.nan for of_run, here in zip(to.T, has.T, strict=True)]
    residual = shares.mean(lists.residual)
    return pd.DataFrame(
        {
            "topics": has.sum(axis=0),
            "judged_to": np.where(some, np.where(has, to, np.inf).min(axis=0, initial=np.inf), np.nan),
            "median_judged_to": medians,
            "residual": residual,
            "residual_without_own": residual + shares.mean(lists.own_weight),
        }
    )


def above_contributors(shares: pd.DataFrame, contributed: NDArray[np.bool_] | None) -> Values:
    """Return (runs,) the share of the contributing runs that have less without their own unit; NaN where unknown."""
    reference = shares["unjudged_without_own"].to_numpy(dtype=float)
    if contributed is None or np.isnan(reference).any():
        return np.full(len(shares), np.nan)
    below = np.sort(np.round(reference[contributed], DECIMALS))
    found = np.searchsorted(below, np.round(shares["unjudged"].to_numpy(dtype=float), DECIMALS), side="left")
    return found / len(below)


def condensed_table(run_table: pd.DataFrame, measures: Sequence[str], full: Values, condensed: Values) -> pd.DataFrame:
    """Return one row per measure and run: score and rank by (measures, runs) means, of full and condensed lists."""
    n_measures, n_runs = full.shape
    frame = run_table.iloc[np.tile(np.arange(n_runs), n_measures)].reset_index(drop=True)
    rank, of_condensed = (pairs.ranks(np.round(means, DECIMALS)) for means in (full, condensed))
    return frame.assign(
        measure=np.repeat(list(measures), n_runs).tolist(),
        score=full.ravel(),
        rank=rank.ravel(),
        condensed_score=condensed.ravel(),
        condensed_rank=of_condensed.ravel(),
        rise=(rank - of_condensed).ravel(),
    )


#: columns of shares that a report of groups has room for
_DEPTHS = 4


def _per_group(by: str) -> Callable[[Coverage], Report]:
    """Return what reports a row per team or type: the mean share of unjudged documents of its runs at some depths."""

    def report(result: Coverage) -> Report:
        depths, rows = result.depths, result.groups[result.groups["by"] == by]
        shown = depths if len(depths) <= _DEPTHS else [depths[round(i * (len(depths) - 1) / 3)] for i in range(_DEPTHS)]
        wide = rows.pivot_table(index="group", columns="depth", values="unjudged", sort=False)
        runs = rows.drop_duplicates("group").set_index("group")["runs"].reindex(wide.index)
        return Report(
            [
                Column(by.capitalize(), list(wide.index)),
                Column("Runs", runs, Digits.COUNT),
                *(Column(f"Unjudged at {k}", wide[k], Digits.SCORE) for k in shown if k in wide),
            ],
            caption=f"The share of unjudged documents down to a rank, the mean over the runs of each {by}.",
            notes=result.notes(),
        )

    return report


def _draw_runs(result: Coverage, _: str, place: Place, depth: int | None = None, by: str | None = None) -> Axes:
    """Draw the share of unjudged documents of each run, the mean and the quartiles of the topics."""
    at, counts = result.depth_of(depth), result.counts
    row = result.depths.index(at)
    shares = np.where(counts.documents[row] > 0, counts.shares[row], np.nan)
    return plot_unjudged_runs(shares, result.by_run, depth=at, by=result.group_of(by), place=place)


def _draw_depths(result: Coverage, _: str, place: Place, by: str | None = None) -> Axes:
    """Draw a line per type over the depths."""
    return plot_depths(result.table, by=result.group_of(by), place=place)


def _draw_residual(result: Coverage, _: str, place: Place, depth: int | None = None, by: str | None = None) -> Axes:
    """Draw a point per run: the share unjudged, and the residual of RBP."""
    at, label = result.depth_of(depth), f"residual of RBP (p = {result.p:g})"
    rows = result.by_run.assign(unjudged=result.table.loc[result.table["depth"] == at, "unjudged"].to_numpy())
    return plot_residual(rows, label=label, by=result.group_of(by), depth=at, place=place)


def _draw_rise(result: Coverage, measure: str, place: Place) -> Axes:
    """Draw the ranks that each run that moves gains on condensed lists."""
    return plot_rises(result.condensed[result.condensed["measure"] == measure], measure=measure, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Coverage(Result):
    """How far judgments cover runs, teams, types and topics.

    Its figures are ``"runs"``, what is unjudged of the runs with most, the mean and the quartiles of topics;
    ``"depths"``, a line per type over the depths; ``"residual"``, a point per run: the share unjudged, and the residual
    of RBP; ``"rise"``, a bar per run that moves: the ranks it gains on condensed lists by a measure. Options of the
    first three: ``by=``, ``"type"`` or ``"team"`` for colour and marker (default the first of these that any run has),
    and, but of ``"depths"``, ``depth=``, one of the depths (default `at`).

    Attributes:
        table: one row per depth and run: ``name team type pooled``, ``contributed`` (whether it contributed to the pool
            at hand, <NA> where that is not known), ``depth``; ``documents`` returned down to it on all topics, and how
            many are unjudged, ``unjudged_documents``; means over topics of ``unjudged``, the share of the documents
            returned (``Unjudged@k``: 1 on a topic for which a run returns nothing), of ``judged`` = 1 - unjudged, of
            ``unjudged_of_k``, the share of k (``Unjudged(of_cutoff=True)@k``: places left empty count as judged, so
            that such a topic has 0), and of ``unjudged_without_own``, as `unjudged` without what the run's own team
            alone brought into the pool, NaN where that is not known.
        by_run: one row per run: as above, with ``unjudged`` and ``unjudged_without_own`` at the depth `at`, and
            ``above_contributors``, the share of the contributing runs that have less without their own team; ``topics``
            for which it returns documents; ``judged_to``, the deepest rank to which it is judged without a gap on every
            such topic, and ``median_judged_to``, the median over them (a list without a gap counts as deep as the run's
            longest); ``residual`` of RBP, and ``residual_without_own``; ``RBP`` and the run's ``rank`` by it, with
            unjudged documents not relevant; ``best_rank`` and ``worst_rank``, 1 + the number of runs that are better
            whatever the labels of unjudged documents are, and under some labels; ``flags``, how many it has.
        condensed: one row per measure and run: ``score rank``, unjudged documents not relevant; ``condensed_score
            condensed_rank``, all runs without unjudged documents; ``rise`` = rank - condensed_rank.
        groups: one row per type and team (``by group runs``) and depth: sums and means over its runs of the columns of
            `table`, and ``max_unjudged`` of a run.
        by_topic: one row per depth and topic: ``qid depth runs``, means over runs of ``unjudged unjudged_of_k``,
            ``max_unjudged`` of a run, and ``judged_to``, the rank to which every run is judged.
        flags: one row per run and reason to think that the pool puts it at a disadvantage: ``name reason value limit``.
        counts: the numbers behind the shares, on each topic.
        at: the depth that runs are compared at.
        p: the persistence of RBP and its residual.
        left_out: who was left out of the pool for ``unjudged_without_own``: ``"team"``, ``"run"`` or ``"type"``; None
            for nobody.
    """

    title = "Coverage"
    condition = "It holds for the first {at} documents of each run; judged is {judged}; relevant: {relevant}."
    limit = "It does not say how many of the unjudged documents are relevant, so not by how much a score is too low."
    views = {
        "run": View(
            table="_runs",
            columns=(
                Shown("Run", "name"),
                Shown("Unjudged at {at}", "unjudged", Digits.SCORE),
                Shown("Without own {left_out}", "without_own", Digits.SCORE),
                Shown("Judged to rank", "median_judged_to", Digits.COUNT),
                Shown("Residual", "residual", Digits.SCORE),
                Shown("Rise", "rise", Digits.COUNT),
            ),
            caption="How far the judgments cover {rows} runs, that with the largest residual first: the share of "
            "unjudged documents down to rank {at} (and had the run's own {left_out} not been in the pool), the rank to "
            "which a list is judged without a gap (median over topics), the residual of RBP (p = {p:g}), and the ranks "
            "gained by {measure} when unjudged documents are dropped from all lists.",
            descending=("residual",),
            noun="runs",
        ),
        "type": _per_group("type"),
        "team": _per_group("team"),
        "topic": View(
            table="_topics",
            columns=(
                Shown("Topic", "qid"),
                Shown("Runs", "runs", Digits.COUNT),
                Shown("Unjudged at {at}", "unjudged", Digits.SCORE),
                Shown("Of the worst run", "max_unjudged", Digits.SCORE),
                Shown("All runs judged to", "judged_to", Digits.COUNT),
            ),
            caption="The share of unjudged documents down to rank {at} on each topic, the mean over runs and that of "
            "the worst run, and the rank to which every run is judged.",
            descending=("unjudged",),
            noun="topics",
        ),
        "flags": View(
            table="flags",
            columns=(
                Shown("Run", "name"),
                Shown("Reason", "reason"),
                Shown("Value", "value", Digits.SIZE),
                Shown("Limit", "limit", Digits.SIZE),
            ),
            caption="Why the pool may put a run at a disadvantage.",
            noun="flags",
        ),
    }
    plots = {"runs": _draw_runs, "depths": _draw_depths, "residual": _draw_residual, "rise": _draw_rise}
    key = (
        KeyFigures(("mean_unjudged", "max_unjudged", "mean_residual", "max_residual", "flagged"), "_whole"),
        KeyFigures(("max_rise", "max_fall"), "_rises"),
    )
    sentences = {"judged": "Judged is {judged}; shares are of the documents returned, and 1 where a run returns none."}

    by_run: pd.DataFrame
    condensed: pd.DataFrame
    groups: pd.DataFrame
    by_topic: pd.DataFrame
    flags: pd.DataFrame
    counts: UnjudgedDocuments
    measures: list[str]
    at: int
    p: float
    left_out: str | None

    @property
    def depths(self) -> list[int]:
        """Return the depths, ascending."""
        return list(self.counts.cutoffs)

    def per_topic(self) -> pd.DataFrame:
        """Return one row per run, topic and depth: ``name qid depth documents unjudged_documents unjudged``."""
        names = {"cutoff": "depth", "unjudged": "unjudged_documents", "Unjudged": "unjudged"}
        return self.counts.by_topic().rename(columns=names)

    def headline(self) -> str:
        """Return how much is unjudged of pooled and of other runs, the worst run, and how many runs have a flag."""
        rows, parts = self.by_run, []
        for what, which in (("pooled runs", True), ("other runs", False)):
            of = rows[rows["pooled"].notna() & (rows["pooled"] == which)]
            parts += [f"{what} {of['unjudged'].mean():.4f}"] if len(of) else []
        rest = rows[rows["pooled"].isna()]
        parts += [f"{'runs' if not parts else 'runs not on record'} {rest['unjudged'].mean():.4f}"] if len(rest) else []
        worst = rows.iloc[int(rows["unjudged"].to_numpy().argmax())]
        flagged = count(int((rows["flags"] > 0).sum()), "run")
        return (
            f"Unjudged@{self.at} in the mean: {', '.join(parts)}; most {worst['unjudged']:.4f} ({worst['name']}); "
            f"{flagged} of {len(rows):,} with a flag"
        )

    def _runs(self, measure: str) -> pd.DataFrame:
        rise = self.condensed.loc[self.condensed["measure"] == measure, "rise"].to_numpy()
        without = {} if self.left_out is None else {"without_own": self.by_run["unjudged_without_own"]}
        return self.by_run.assign(rise=rise, **without)

    def _topics(self) -> pd.DataFrame:
        return self.by_topic[self.by_topic["depth"] == self.at]

    def _whole(self) -> pd.DataFrame:
        rows = self.by_run
        whole = {f"{of}_{name}": [rows[name].agg(of)] for name in ("unjudged", "residual") for of in ("mean", "max")}
        return pd.DataFrame({**whole, "flagged": [float((rows["flags"] > 0).sum())]})

    def _rises(self) -> pd.DataFrame:
        rises = self.condensed.groupby("measure", sort=False)["rise"].agg(max_rise="max", max_fall="min")
        return rises.assign(max_fall=-rises["max_fall"]).reset_index()

    def depth_of(self, depth: int | None) -> int:
        """Return one of the depths, that at which runs are compared for None."""
        at = self.at if depth is None else depth
        if at not in self.depths:
            known = ", ".join(map(str, self.depths))
            raise InputError(f"depth must be one of {known}, got {told(depth)}.", argument="depth")
        return at

    def group_of(self, by: str | None) -> str | None:
        """Return the column that groups runs, the first that any run has for None."""
        if by is None:
            return next((column for column in ("type", "team") if self.by_run[column].notna().any()), None)
        choice("by", by, ("type", "team"))
        if self.by_run[by].isna().all():
            raise InputError(f"by is {by}, and no run has one.", argument="by")
        return by


#: the depth that runs are compared at where the first measure has no cutoff among the depths
_USUAL = 10


class _CondensedRBP(type(ir_measures.RBP)):  # type: ignore[misc]  # its class has no public name
    """RBP of condensed lists, which ir_measures does not have; computed here alone, so that `rel` must be given."""

    SUPPORTED_PARAMS = {
        **ir_measures.RBP.SUPPORTED_PARAMS,
        "judged_only": ir_measures.ParamInfo(dtype=bool, default=False, desc="ignore unjudged documents"),
    }


def condensed_form(measure: ir_measures.Measure) -> ir_measures.Measure:
    """Return a measure as it scores lists without unjudged documents."""
    if "judged_only" in measure.SUPPORTED_PARAMS:
        return measure(judged_only=True)
    if measure.NAME == ir_measures.RBP.NAME and "rel" in measure.params:
        return _CondensedRBP(**measure.params, judged_only=True)
    raise InputError(
        f"{measure!r} has no form for condensed lists (judged_only), by which runs are compared. Take others, such as "
        "nDCG@10, AP, P@10 or RBP(rel=1).",
        argument="measures",
    )


def checked_depths(depths: Any) -> tuple[int, ...]:
    """Return a user's ``depths=`` as ranks that ascend, each once, or say that they are none."""
    given = list(depths) if isinstance(depths, Iterable) and not isinstance(depths, str | bytes) else [depths]
    if not given:
        raise InputError(f"depths must be one rank or several, got {told(depths)}.", argument="depths")
    return tuple(sorted({positive("depths", one, "documents") for one in given}))


def _checked_measures(measures: Any) -> list[ir_measures.Measure]:
    found = checked_measures(measures)
    for measure in found:
        condensed_form(measure)
    return found


@study(
    Parameter(
        name="measures",
        meaning="ir_measures measures or their names, one or several, that have a form for condensed lists "
        "(``judged_only``), or RBP with its `rel`; the flags go by the first. Default AP, from the grade from which "
        "documents are relevant, and ``nDCG@10``.",
        check=_checked_measures,
        flag=SHARED["measures"].flag,
    ),
    Parameter(
        name="depths",
        meaning="ranks k down to which documents are counted, one or several. Runs are compared at the cutoff of the "
        "first measure, where that is among them, else at 10, else at the first.",
        check=checked_depths,
        flag=Flag(help="comma-separated ranks", metavar="LIST", kind="counts", default="1,5,10,20,50,100"),
    ),
    Parameter(
        name="p",
        meaning="the persistence of RBP and its residual, above 0 and below 1.",
        check=partial(fraction, "p", ends=False),
    ),
    Parameter(
        name="by",
        meaning='what is left out of the pool: ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"``.',
        choices=tuple(COLUMNS),
        flag=Flag(
            help="what is left out of the pool: team, run, type or family",
            metavar="UNIT",
            kind="text",
            default="team where all have one",
        ),
    ),
    Parameter(
        name="contributors",
        meaning='who made the pool: ``"pooled"`` (default), the runs on record; ``"all"``, or run names. Where nobody '
        "recorded of some run whether it was pooled, nobody is left out.",
    ),
    Parameter(
        name="pool_order",
        meaning="the order in which the runs were pooled; default the one in which the field is pooled.",
        check=SHARED["pool_order"].check,
    ),
    command=Command(
        name="profile coverage",
        summary="how much of each run is judged, and which runs the pool may put at a disadvantage",
        details="The share of unjudged documents down to several ranks, by run, team, type and topic; the rank to "
        "which each run is judged without a gap; the residual of RBP; the ranks that a run gains if unjudged "
        "documents are dropped from all lists; and, if the pooled runs are known, the share of each run that would be "
        "unjudged without its own team.",
        screen=("type", "run", "flags"),
    ),
    entry=Entry(question="How much of each run is judged?", group="profile", papers="[M08]_"),
)
def coverage(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    depths: int | Iterable[int] = (1, 5, 10, 20, 50, 100),
    p: float = 0.8,
    by: str | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    rel: int | None = None,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> Coverage:
    """Compute how much of each run is judged, and which runs the pool may put at a disadvantage.

    A document is *judged* when it has a label of at least 0. At each depth k the share of unjudged documents is given
    in two conventions: of the documents that the run returns down to k (``Unjudged@k``, 1 on a topic for which it
    returns nothing; ``Judged@k`` of ir_measures is its complement), and of k (``Unjudged(of_cutoff=True)@k``, as
    trec_eval 10 does: empty places of a short list count as judged, so that it is 0 on such a topic).

    Three numbers show the possible effect on a run. Its *residual* is the most that unjudged documents may add to its
    RBP: the sum of (1 - p) p^(rank - 1) over them, and p^n for ranks below a list of n documents. Its *condensed* score
    is that of lists without unjudged documents, with all runs scored like this; condensed lists favour less judged
    runs. If it is known who was pooled, the share of unjudged documents *without its own team* is that share if the
    team had not taken part: a new run with a higher share than any contributor is covered less than any participant
    was.

    Returns:
        Coverage: ``.table`` (per run and depth), ``.by_run``, ``.condensed``, ``.groups``, ``.by_topic``, ``.flags``,
        ``.per_topic()``, ``.plot()``.

    Raises:
        InputError: a measure without a form for condensed lists, a depth below 1, a unit that some runs do not have, a
            run that has no topic in common with the qrels.

    Warns:
        ReuseWarning: judgments of relevant documents only; fewer than five topics; a pool that is not that of the
            judgments, so that the shares without the own team are wrong. ``settings["beware"]`` has it, too. Also
            contributing runs of only one unit, and a `by` if no run is on record as pooled.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.profile.coverage(field.runs, field.qrels, depths=[5, 10, 20], depth=field.depth)
        >>> found.groups.query("by == 'type' and depth == 20")[["group", "unjudged"]].round(3).values.tolist()
        [['lexical', 0.248], ['neural', 0.281], ['manual', 0.155]]

    Source: residuals after Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness,
    ACM TOIS 27; condensed lists after Sakai 2007, Alternatives to bpref, SIGIR. On TREC-8 ad hoc the pooled runs have
    no unjudged document down to rank 100, the others .0465 at 10 in the mean.
    """
    asked = Asked(coverage, locals())
    runs, qrels, cutoffs, parsed, lowest = asked.runs, asked.qrels, asked["depths"], asked.measures, asked.rel
    condensing = [condensed_form(measure) for measure in parsed]
    record = record_of(runs, qrels, by=by, depth=asked.depth, contributors=contributors, pool_order=pool_order)
    at = _compared_at(parsed[0], cutoffs)
    asked.tell(
        few_topics(len(qrels.topics)),
        record.caveats(asked=by is not None),
    )
    lists = JudgedLists.of(runs, qrels, cutoffs, p=p, owners=record.owners, verbose=verbose)
    shares = Shares(lists, None if complete else topics_of_runs(runs, qrels))
    rbp = ir_measures.RBP(p=p, rel=lowest)
    how: dict[str, Any] = {"complete": complete, "without_topics": without_topics, "verbose": verbose}
    with told_elsewhere():
        scores = score(runs, qrels, [*parsed, *condensing, rbp], **how)
    means = dict(zip(scores.measures, scores.mean_values, strict=True))
    contributed = pd.array([pd.NA] * len(runs) if record.contributed is None else record.contributed, dtype="boolean")
    named = described(runs.run_table).assign(contributed=contributed)
    table, figures = depth_table(named, shares), run_figures(shares)
    here = table.loc[table["depth"] == at, ["unjudged", "unjudged_without_own"]].reset_index(drop=True)
    here["above_contributors"] = above_contributors(here, record.contributed)
    bounds = RankBounds(runs, qrels, p, shares.of_topics).table(means[repr(rbp)], figures["residual"].to_numpy())
    by_run = pd.concat([named, here, figures, pd.DataFrame({"RBP": means[repr(rbp)]}), bounds], axis=1)
    names = [repr(measure) for measure in parsed]
    full, short = (np.array([means[repr(one)] for one in each]) for each in (parsed, condensing))
    condensed = condensed_table(named, names, full, short)
    flags = flag_table(by_run, condensed.iloc[: len(runs)])
    provided = provided_measures([*parsed, *condensing])
    own = {
        "left out": record.in_words(),
        "contributors": "nobody" if record.contributors is None else str(record.contributors),
        **({} if record.units is None else record.units.settings),
        **({"pool order": record.order} if record.order else {}),
        **({"by ir_measures": provided} if provided else {}),
    }
    return Coverage(
        table=table,
        by_run=by_run.assign(flags=by_run["name"].map(flags["name"].value_counts()).fillna(0).astype(np.int64)),
        condensed=condensed,
        groups=group_table(table),
        by_topic=topic_table(qrels.topics, shares),
        flags=flags,
        counts=UnjudgedDocuments.of(runs, qrels, cutoffs, lists=lists),
        measures=names,
        at=at,
        p=p,
        left_out=record.by,
        settings={
            "judged": "a label of at least 0",
            "unjudged": "of the documents returned down to a depth, 1 where there are none",
            "unjudged_of_k": "of as many documents as the depth, 0 where there are none",
            "compared at": at,
            "p": p,
            **asked.settings(**own),
        },
    )


def _compared_at(measure: ir_measures.Measure, depths: tuple[int, ...]) -> int:
    cutoff = cutoff_of(measure)
    return next((k for k in (cutoff, _USUAL) if k in depths), depths[0])
