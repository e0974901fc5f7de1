"""coverage: how far the judgments cover each run, and which runs the pool puts at a disadvantage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.field import AnyField
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import TOPICS, Arrays, part_topics, run_topics, topics_array
from pt_reuse.data.units import COLUMNS, described
from pt_reuse.errors import InputError, count, fraction
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.plots import marks
from pt_reuse.plots.run_scores import draw_points, groups_of, largest_first
from pt_reuse.plots.sheet import DARK, FIRST, SECOND, Axes, Place, Sheet, looks
from pt_reuse.pooling.depth import checked_depths
from pt_reuse.pooling.fit import JudgedTopics, find_uniques
from pt_reuse.result import KeyFigures, Result, drawn_by_measure
from pt_reuse.scoring.caveats import Caveat, beware, one_unit, told_elsewhere
from pt_reuse.scoring.measures import cutoff_of
from pt_reuse.scoring.scores import checked_measures, mean_over_topics, provided_measures, score, topics_of_runs
from pt_reuse.study import study

Values = NDArray[np.float64]
Ints = NDArray[np.int64]
#: the shares of a depth that are averaged over runs
_SHARES = ("unjudged", "judged", "unjudged_of_k", "unjudged_without_own")
#: the depth that runs are compared at where the first measure has no cutoff among the depths
_USUAL = 10
#: what documents may weigh that are not looked at, as nothing compared is so exact
_NOTHING = 1e-14
#: runs whose unjudged documents are drawn at most
_DRAWN = 20


@dataclass(frozen=True)
class JudgedLists:
    """What of each list is judged, with a label of at least 0; a list is what a run returns for a topic."""

    depths: tuple[int, ...]  # ranks down to which documents are counted
    topics: list[str]  # the topics of the judgments
    run_table: pd.DataFrame  # ``name team type pooled``, one row per run
    lengths: Ints  # (topics, runs) how many documents each list has
    documents: Ints  # (depths, topics, runs) how many of them down to each depth
    unjudged_documents: Ints  # (depths, topics, runs) how many of these are unjudged
    own: Ints | None  # (depths, topics, runs) judged ones of the run's own unit alone; None if unknown
    unbroken: Ints  # (topics, runs) how many documents are judged before the first that is not
    weight: Values  # (topics, runs) what the judged documents weigh in RBP

    @classmethod
    def of(
        cls,
        runs: RunSet,
        qrels: Qrels,
        depths: Sequence[int],
        *,
        p: float = 0.8,
        owners: tuple[Ints, Ints] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> JudgedLists:
        """Count on the topics of the judgments.

        `owners` are the unit that alone brought each judged document, -1 for none or several, and the unit of each run.
        """
        owner, unit = (np.full(len(qrels), -1), np.zeros(len(runs), dtype=np.int64)) if owners is None else owners
        work = JudgedWork(runs.field, qrels, depths, p, owner, unit)
        shape = (len(qrels.topics), len(runs))
        lengths = np.array([work.index.lengths(t) for t in work.index.topics], dtype=np.int64).reshape(shape)
        counts = np.zeros((2, len(depths), *shape), dtype=np.int64)
        unbroken, weight = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        for part in run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="scoring"):
            topics = part_topics(part)
            here = slice(topics.start, topics.stop)
            counts[:, :, here], weight[here], unbroken[here] = part["counts"], part["weight"], part["unbroken"]
        documents = np.minimum(lengths, np.array(depths, dtype=np.int64).reshape(-1, 1, 1))
        return cls(
            tuple(depths),
            qrels.topics,
            described(runs.run_table),
            lengths=lengths,
            documents=documents,
            unjudged_documents=documents - counts[0],
            own=None if owners is None else counts[1],
            unbroken=unbroken,
            weight=weight,
        )

    @property
    def unjudged(self) -> Values:
        """Return (depths, topics, runs): ``Unjudged@k``, 1 on a topic for which a run returns nothing."""
        return self._share(self.unjudged_documents)

    @property
    def of_k(self) -> Values:
        """Return (depths, topics, runs): of as many documents as the depth, places left empty counting as judged."""
        return self.unjudged_documents / np.array(self.depths, dtype=np.float64).reshape(-1, 1, 1)

    @property
    def without_own(self) -> Values:
        """Return (depths, topics, runs): as `unjudged`, had the run's own unit not been in the pool; NaN if unknown."""
        if self.own is None:
            return np.full(self.documents.shape, np.nan)
        return self._share(self.unjudged_documents + self.own)

    @property
    def residual(self) -> Values:
        """Return (topics, runs): what unjudged documents and the unseen rest weigh, the residual of RBP."""
        return np.maximum(1.0 - self.weight, 0.0)

    @property
    def judged_to(self) -> Values:
        """Return (topics, runs): the deepest rank above which nothing is unjudged, NaN where a list is empty."""
        longest = np.broadcast_to(self.lengths.max(axis=0, initial=0), self.lengths.shape)
        ranks = np.where(self.unbroken < self.lengths, self.unbroken, longest).astype(np.float64)
        return np.where(self.lengths > 0, ranks, np.nan)

    def _share(self, some: Ints) -> Values:
        return np.where(self.documents > 0, some / np.maximum(self.documents, 1), 1.0)

    def by_run(self) -> pd.DataFrame:
        """Return one row per run, the one with most unjudged at the first depth first."""
        table = self.run_table.reset_index(drop=True).assign(topics=(self.documents[0] > 0).sum(axis=0))
        for d, depth in enumerate(self.depths):
            table[f"Unjudged@{depth}"] = self.unjudged[d].mean(axis=0)
            table[f"documents@{depth}"] = self.documents[d].sum(axis=0)
            table[f"unjudged@{depth}"] = self.unjudged_documents[d].sum(axis=0)
        return table.sort_values(f"Unjudged@{self.depths[0]}", ascending=False, kind="stable", ignore_index=True)

    def by_unit(self, by: str) -> pd.DataFrame:
        """Return one row per team, type or family, the mean of its runs and the numbers of them all, the worst first.

        Args:
            by: ``"team"``, ``"type"`` or ``"family"``.
        """
        how = {"Unjudged": "mean", "documents": "sum", "unjudged": "sum"}
        wanted = {f"{what}@{depth}": (f"{what}@{depth}", how[what]) for depth in self.depths for what in how}
        table = self.by_run().groupby(by, sort=False).agg(runs=("name", "size"), **wanted).reset_index()
        return table.sort_values(f"Unjudged@{self.depths[0]}", ascending=False, kind="stable", ignore_index=True)

    def by_topic(self) -> pd.DataFrame:
        """Return one row per run, topic and depth: ``name qid cutoff documents unjudged Unjudged``."""
        every = pd.MultiIndex.from_product([self.run_table["name"], self.topics, self.depths])
        counts = {"documents": self.documents, "unjudged": self.unjudged_documents, "Unjudged": self.unjudged}
        rows = every.set_names(["name", "qid", "cutoff"]).to_frame(index=False)
        return rows.assign(**{name: values.transpose(2, 1, 0).ravel() for name, values in counts.items()})


class JudgedWork(JudgedTopics):
    """Counting down lists; (judgments,) units say who alone brought a document, (runs,) which unit each run is of."""

    axes: ClassVar[Mapping[str, int]] = {"counts": 2}
    of_a_row = 4

    def __init__(self, field: AnyField, qrels: Qrels, depths: Sequence[int], p: float, owner: Ints, unit: Ints):
        super().__init__(field, qrels)
        self.depths, self.p, self.owner, self.unit = list(depths), p, owner, unit

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return the counts of some neighbouring topics."""
        shape = (len(topics), self.field.n_runs)
        rows = slice(self.rows_before(topics.start), self.rows_before(topics.stop))
        hits = self.index.gather(topics, self.qrels.arrays.labels[rows] >= 0)

        def per_list(lists: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[Any]:
            return np.bincount(lists, weights, minlength=len(hits.lengths)).reshape(shape)

        own = self.owner[rows][hits.row] == self.unit[hits.of % self.field.n_runs]
        counts = [[per_list(hits.of[some & (hits.rank <= k)]) for k in self.depths] for some in (np.True_, own)]
        # ranks ascend, so a document stands as deep as judged ones stand above it only before the first gap
        place = np.arange(len(hits.rank)) - hits.starts[:-1][hits.of]
        return {
            TOPICS: topics_array(topics),
            "counts": np.array(counts),
            "weight": per_list(hits.of, (1 - self.p) * self.p ** (hits.rank - 1.0)),
            "unbroken": per_list(hits.of[hits.rank == place + 1]),
        }

    def of_topics(self, topics: range, field: AnyField) -> JudgedWork:
        some = super().of_topics(topics, field)
        some.owner = self.owner[self.rows_before(topics.start) : self.rows_before(topics.stop)]
        return some


def _draw_runs(result: Coverage, _: str, place: Place) -> Axes:
    """Draw the share of unjudged documents of the runs with most: the mean and the quartiles over topics."""
    sheet, counts, row, by = Sheet.open(place, "runs"), result.counts, result.depths.index(result.at), result.drawn_by
    shares = np.where(counts.documents[row] > 0, counts.unjudged[row], np.nan)
    known = ~np.isnan(shares)
    mean = np.where(known, shares, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    low, high = pd.DataFrame(shares).quantile([0.25, 0.75]).to_numpy()
    table = pd.DataFrame({"name": result.by_run["name"], "mean": mean, "group": groups_of(result.by_run, by)})
    table = table.assign(low=low, high=high).sort_values("mean", ascending=False, kind="stable")
    some = table[table["mean"] > 0]
    rows = some.head(marks.most_rows(sheet, None if sheet.narrow else _DRAWN))
    kinds = {
        name: marks.Kind(sheet.legend_name(name), look.stroke, look.marker)
        for name, look in looks(table["group"]).items()
    }
    entries = marks.draw_kinds(sheet, rows, ("mean", "low", "high"), kinds, "group")
    sheet.limit("x", (0, max(0.1, 1.05 * float(np.nanmax(rows[["mean", "high"]], initial=0.0)))))
    others = (len(some) - len(rows), "with less"), (len(table) - len(some), "with none")
    x = f"share unjudged: mean, quartiles of topics{marks.notes(*others, noun='run')}"
    sheet.label(title=f"Unjudged documents down to rank {result.at}", x=x)
    return marks.finish_rows(sheet, rows["name"].tolist(), entries, title=by)


def _draw_depths(result: Coverage, _: str, place: Place) -> Axes:
    """Draw the mean share of unjudged documents of each group over the depths."""
    sheet, by, table, depths = Sheet.open(place), result.drawn_by, result.table, result.depths
    grouped = table.assign(group=groups_of(table, by))
    wide = grouped.pivot_table(index="group", columns="depth", values="unjudged")
    shown = largest_first(grouped[grouped["depth"] == depths[-1]], "group", "unjudged")
    field, runs = looks(grouped["group"]), grouped.groupby("group")["name"].nunique()
    entries: list[tuple[Any, str]] = []
    for name in shown:
        line = marks.draw_line(
            sheet, range(len(depths)), wide.loc[name, depths], field[name].stroke, marker=field[name].marker
        )
        entries.append((line, sheet.legend_name(name, f" ({count(int(runs[name]), 'run')})")))
    known = table[table["contributed"].fillna(False).astype(bool) & table["unjudged_without_own"].notna()]
    without = known.groupby("depth")["unjudged_without_own"].mean()
    if len(known):
        at = [depths.index(depth) for depth in without.index]
        line = marks.draw_line(sheet, at, without, DARK, linestyle=":", zorder=2)
        entries.append((line, "contributors, had they not taken part"))
    sheet.ax.set_xticks(range(len(depths)), [f"{depth:,}" for depth in depths])
    sheet.limit("x", (-0.3, len(depths) - 0.7))
    sheet.limit("y", (0, 1.08 * max([0.05, float(wide.loc[shown].to_numpy().max()), *without])))
    x = f"documents from the top{marks.not_shown(len(wide) - len(shown), str(by))}"
    sheet.label(title="Unjudged documents by depth", x=x, y="share unjudged, mean over runs")
    return sheet.finish(entries, (0.62, 0.42), grid="y", numbers="y", title=by)


def _draw_residual(result: Coverage, _: str, place: Place) -> Axes:
    """Draw a ring for each run: its share of unjudged documents, and the residual of RBP that these leave open."""
    sheet, by = Sheet.open(place), result.drawn_by
    points = result.by_run.assign(x=result.by_run["unjudged"], y=result.by_run["residual"])
    entries = draw_points(sheet, points, by, largest_first(points, by, "x") if by else [], hollow=True)
    marks.draw_level(sheet, "y", 0, zorder=2)
    # what lies on the edge is seen whole
    sheet.limit_around("x", [0.0, 0.05, *points["x"]], air=0.06)
    sheet.limit_around("y", [0.0, 0.05, *points["y"]], air=0.06)
    x, y = f"share unjudged down to rank {result.at}", f"residual of RBP (p = {result.p:g})"
    sheet.label(title="Unjudged documents and what they may do", x=x, y=y)
    sheet.finish(entries, (0.7, 0.45), title=by)
    worst = points[points["x"] > 0].sort_values("x", ascending=False, kind="stable")
    marks.name_points(sheet, worst, points[["x", "y"]].to_numpy(dtype=float), share=0.4)
    return sheet.ax


def plot_rises(rows: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw the ranks that each run that moves gains on condensed lists, to the left what it loses; most first."""
    sheet = Sheet.open(place, "bars")
    moved = rows[rows["rise"] != 0]
    # of many those that move furthest
    shown = moved.iloc[np.sort(np.argsort(-moved["rise"].abs(), kind="stable")[: marks.most_rows(sheet)])]
    shown = shown.sort_values("rise", ascending=False, kind="stable")
    rise, at = shown["rise"].to_numpy(dtype=float), marks.down(len(shown))
    colours = [FIRST if up else SECOND for up in rise > 0]
    sheet.ax.barh(at, rise, 0.76, color=colours, edgecolor=DARK, linewidth=0.3, zorder=2)
    marks.draw_level(sheet, "x", 0, zorder=3)
    sheet.limit_around("x", [0.0, 1.0, *rise])
    keep = f"; {count(len(rows) - len(moved), 'run')} keep their rank" if len(moved) < len(rows) else ""
    more = marks.not_shown(len(moved) - len(shown), "run")
    sheet.label(title="Ranks without unjudged documents", x=f"ranks gained by {measure}, condensed lists{keep}{more}")
    return marks.finish_rows(sheet, shown["name"].tolist(), whole=True)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Coverage(Result):
    """How far judgments cover runs, teams, types and topics.

    Its figures are ``"runs"``, the share unjudged of each; ``"depths"``, a line per type; ``"residual"`` and
    ``"rise"``, the residual of RBP of each run, and the ranks that it gains on condensed lists.

    Attributes:
        counts: the numbers behind the shares, on each topic.
        at: the depth that runs are compared at.
        p: the persistence of RBP and its residual.
        left_out: the unit that was left out for ``unjudged_without_own``; None for nobody.
    """

    title = "Coverage"
    about = "Unjudged@{at}"
    answer = (
        "summary",
        "{which}: mean {mean_unjudged:.4f}, most {max_unjudged:.4f} ({most}); {flagged:,.0f} of {runs} with a flag",
    )
    key = (KeyFigures(("mean_unjudged", "max_unjudged", "mean_residual", "max_residual"), "summary", "{which}"),)
    valid_for = "the first {at} documents of each run; judged is {judged}; relevant: {relevant}; left out: {left out}."
    not_covered = "how many of the unjudged documents are relevant, and so by how much a score is too low."
    plots = {
        "runs": _draw_runs,
        "depths": _draw_depths,
        "residual": _draw_residual,
        "rise": drawn_by_measure(plot_rises, "condensed"),
    }
    columns = """
    contributed    | Contributed    |       | whether it contributed to the pool at hand, <NA> where that is not known
    depth          | Depth          | count | the rank down to which documents are counted
    documents      | Documents      | count | documents returned down to it, on all topics
    unjudged_documents | Unjudged   | count | how many of them are unjudged
    unjudged       | Share unjudged | score | share of the documents returned, 1 on a topic without any
    judged         | Share judged   | score | 1 - unjudged
    unjudged_of_k  | Unjudged of k  | score | share of k: places left empty count as judged
    unjudged_without_own | Without own | score | as `unjudged`, had the run's own unit not been pooled; NaN if not known
    above_contributors | Above contributors | score | share of the contributing runs that have less without their own
    topics         | Topics         | count | for which it returns documents
    judged_to      | Judged to      | count | the deepest rank without a gap: of a run on all topics, of a topic for all
    median_judged_to | Judged to rank | count | the median over topics; a list without a gap counts as the run's longest
    residual       | Residual       | score | the most that unjudged documents may add to its RBP
    RBP            | RBP            | score | RBP, unjudged documents not relevant
    best_rank      | Best rank      | ranks | 1 + the runs that are better whatever the labels of unjudged documents are
    worst_rank     | Worst rank     | ranks | 1 + the runs that are better under some labels of them
    flags          | Flags          | count | how many flags it has
    condensed_score | Condensed score | score | the mean score of all runs without unjudged documents
    condensed_rank | Condensed rank | ranks | the rank by it
    rise           | Rise           | count | rank less condensed rank
    by             | By             |       | "type" or "team"
    group          | Group          |       | the type or team
    max_unjudged   | Most unjudged  | score | the largest share of a run
    reason         | Reason         |       | why the pool may put the run at a disadvantage
    value          | Value          | size  | its number
    limit          | Limit          | size  | what the number is above
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "depth and run",
            "name* team type pooled family? contributed depth* documents* unjudged_documents unjudged* judged "
            "unjudged_of_k* unjudged_without_own*",
            select={"depth": None},
            noun="runs",
        ),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "run",
            "name* team type pooled family? contributed unjudged* unjudged_without_own* above_contributors topics "
            "judged_to median_judged_to* residual* RBP rank best_rank worst_rank flags*",
            descending=("residual",),
            noun="runs",
        ),
    ]
    condensed: Annotated[
        pd.DataFrame,
        Table(
            "measure and run",
            "name* team type pooled family? contributed measure score* rank* condensed_score* condensed_rank* rise*",
            noun="runs",
        ),
    ]
    groups: Annotated[
        pd.DataFrame,
        Table(
            "type or team, and depth: sums and means over its runs",
            f"by group runs depth documents unjudged_documents {' '.join(_SHARES)} max_unjudged",
            report="group runs depth unjudged unjudged_without_own max_unjudged",
            select={"by": None},
            noun="groups",
        ),
    ]
    by_topic: Annotated[
        pd.DataFrame,
        Table(
            "depth and topic, means over runs",
            "qid depth runs unjudged unjudged_of_k judged_to",
            select={"depth": None},
            descending=("unjudged",),
            noun="topics",
        ),
    ]
    flags: Annotated[
        pd.DataFrame,
        Table("run and reason to think that it is at a disadvantage", "name reason value limit", noun="flags"),
    ]
    counts: JudgedLists
    at: int
    p: float
    left_out: str | None

    @property
    def depths(self) -> list[int]:
        """Return the depths, ascending."""
        return list(self.counts.depths)

    def summary(self) -> pd.DataFrame:
        """Return what is unjudged, one row for pooled runs, for others, and for runs of which it is not on record."""
        pooled, rows = self.by_run["pooled"].astype("boolean"), []
        parts = {"pooled runs": pooled, "other runs": ~pooled, "runs not on record": pooled.isna()}
        for which, chosen in parts.items():
            of = self.by_run[chosen.fillna(False).to_numpy(dtype=bool)]
            if len(of):
                means = {f"{how}_{n}": of[n].agg(how) for n in ("unjudged", "residual") for how in ("mean", "max")}
                most, flagged = of["name"].iloc[int(of["unjudged"].argmax())], int((of["flags"] > 0).sum())
                rows.append({"which": which, "runs": len(of), **means, "most": most, "flagged": flagged})
        return pd.DataFrame(rows)

    @property
    def drawn_by(self) -> str | None:
        """Return what figures tell runs apart by, type or team: the first that any run has."""
        return next((column for column in ("type", "team") if self.by_run[column].notna().any()), None)


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
    what = f"{measure!r} has no form for condensed lists (judged_only). Take others, such as nDCG@10 or RBP(rel=1)."
    raise InputError(what, argument="measures")


def _checked_measures(measures: Any) -> list[ir_measures.Measure]:
    chosen = checked_measures(measures)
    for measure in chosen:
        condensed_form(measure)
    return chosen


@study(
    question="How much of each run is judged?",
    command="profile coverage",
    aim="fair",
    summary="how much of each run is judged, and which runs the pool may put at a disadvantage",
    details="The share of unjudged documents by run, group and topic, and what these may do to ranks.",
    group="profile",
    papers="[M08]_",
    screen=("groups", "by_run", "flags"),
)
def coverage(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: Annotated[
        Any,
        options.Option(
            "ir_measures measures or their names with a form for condensed lists (``judged_only``), or RBP with its "
            "`rel`; flags go by the first. Default AP, from the relevant grade on, and ``nDCG@10``.",
            check=_checked_measures,
            flag=options.SHARED["measures"].flag,
        ),
    ] = None,
    *,
    depths: Annotated[
        Any,
        options.Option(
            "ranks k down to which documents are counted. Runs are compared at the cutoff of the first measure, where "
            "that is among them, else at 10, else at the first.",
            check=checked_depths,
            flag=options.Flag(help="comma-separated ranks", metavar="LIST", kind="counts", default="1,5,10,20,50,100"),
        ),
    ] = (1, 5, 10, 20, 50, 100),
    p: Annotated[
        float,
        options.Option(
            "the persistence of RBP and its residual, above 0 and below 1.", check=partial(fraction, "p", ends=False)
        ),
    ] = 0.8,
    by: Annotated[
        str | None,
        options.Option(
            'what is left out of the pool: ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"``.',
            choices=tuple(COLUMNS),
            flag=options.Flag(metavar="UNIT", kind="text", default="team where all have one"),
        ),
    ] = None,
    depth: options.Depth = None,
    contributors: Annotated[
        str | Iterable[str],
        options.Option(
            'who made the pool: ``"pooled"`` (default), the runs on record, without which nobody is left out; '
            '``"all"``, or run names.'
        ),
    ] = "pooled",
    pool_order: options.PoolOrder = None,
    rel: options.Rel = None,
    complete: options.Complete = True,
    verbose: options.Verbose = False,
) -> Coverage:
    """Compute how much of each run is judged, and which runs the pool may put at a disadvantage.

    A document is *judged* when it has a label of at least 0. At each depth k the share of unjudged documents is given
    of the documents that the run returns down to k (``Unjudged@k``, 1 on a topic without any; the complement of
    ``Judged@k``), and of k (``Unjudged(of_cutoff=True)@k``, as trec_eval 10 does: empty places count as judged).

    The *residual* is the most that unjudged documents may add to RBP: the sum of (1 - p) p^(rank - 1) over them, and
    p^n for ranks below a list of n documents. The *condensed* score is that of lists without unjudged documents, which
    favours less judged runs. The share *without its own team* is that of unjudged documents had the team not been
    pooled: a new run with a higher share than any contributor is covered less than any participant was.

    Raises:
        InputError: a measure without a form for condensed lists, a depth below 1, a unit that some runs do not have, a
            run that has no topic in common with the qrels.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.profile.coverage(field.runs, field.qrels, depths=[5, 10, 20], depth=field.depth)
        >>> found.groups.query("by == 'type' and depth == 20")[["group", "unjudged"]].round(3).values.tolist()
        [['lexical', 0.248], ['neural', 0.281], ['manual', 0.155]]

    Source: residuals after Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness,
    ACM TOIS 27; condensed lists after Sakai 2007, Alternatives to bpref, SIGIR.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, complete=complete)
    field, people, parsed = inputs.runs, inputs.qrels, list(inputs.measures)
    units = None if by is None else field.units(by)
    pooled, owners, why = None, None, "no run is on record as pooled"
    if not isinstance(contributors, str) or contributors != "pooled" or field.pooled.fillna(True).any():
        pooled = inputs.pooled(depth, contributors, pool_order)
        if assumed := pooled.contributors.assumed:
            pooled, why = None, f"who was pooled is not on record for {count(len(assumed), 'run')}"
    if pooled is not None:
        units = units or field.units("team")
        uniques = find_uniques(field, people, units, pooled.contributors, depth=pooled.depth, pool_order=pool_order)
        owners = np.full(len(people), -1, dtype=np.int64), units.of_run
        owners[0][uniques.row] = uniques.owner
        so = "without it nothing that these runs pooled is judged"
        beware(one_unit(units, pooled.contributors.runs, so), uniques.fit.caveats())
    elif by is not None:
        text = f"nobody can be left out: {why}. So no share without the own {by} is known."
        beware([Caveat("nobody is left out", text)])

    lists = JudgedLists.of(field, people, depths, p=p, owners=owners, verbose=verbose)
    counted = np.ones(lists.lengths.shape, dtype=bool) if complete else topics_of_runs(field, people)
    condensing, rbp = [condensed_form(measure) for measure in parsed], ir_measures.RBP(p=p, rel=inputs.rel)
    with told_elsewhere():
        scores = score(field, people, [*parsed, *condensing, rbp], complete=complete, verbose=verbose)
    means = dict(zip(scores.measures, scores.mean_values, strict=True))
    contributed = None if pooled is None else pooled.contributors.runs
    named = described(field.run_table).assign(
        contributed=pd.array([pd.NA] * len(field) if contributed is None else contributed, dtype="boolean")
    )
    unjudged, of_k, without_own, residual = (
        mean_over_topics(values, None if complete else counted)
        for values in (lists.unjudged, lists.of_k, lists.without_own, lists.residual)
    )
    of_depths = [
        named.assign(
            depth=k,
            documents=lists.documents[d].sum(axis=0),
            unjudged_documents=lists.unjudged_documents[d].sum(axis=0),
            unjudged=unjudged[d],
            judged=1 - unjudged[d],
            unjudged_of_k=of_k[d],
            unjudged_without_own=without_own[d],
        )
        for d, k in enumerate(depths)
    ]
    of_measures = []
    for measure, short in zip(parsed, condensing, strict=True):
        full, of_condensed = means[repr(measure)], means[repr(short)]
        rank, condensed_rank = (pairs.ranks(np.round(values, DECIMALS)) for values in (full, of_condensed))
        rows = named.assign(measure=repr(measure), score=full, rank=rank, condensed_score=of_condensed)
        of_measures.append(rows.assign(condensed_rank=condensed_rank, rise=rank - condensed_rank))
    table, condensed = (pd.concat(rows, ignore_index=True) for rows in (of_depths, of_measures))
    at: int = next(filter(depths.__contains__, (cutoff_of(parsed[0]), _USUAL)), depths[0])
    here, to = depths.index(at), pd.DataFrame(lists.judged_to)
    above = np.full(len(field), np.nan)
    if contributed is not None:
        reference = np.sort(np.round(without_own[here][contributed], DECIMALS))
        above = np.searchsorted(reference, np.round(unjudged[here], DECIMALS), side="left") / len(reference)
    by_run = named.assign(
        unjudged=unjudged[here],
        unjudged_without_own=without_own[here],
        above_contributors=above,
        topics=(lists.lengths > 0).sum(axis=0),
        judged_to=to.min().to_numpy(),
        median_judged_to=to.median().to_numpy(),
        residual=residual,
        RBP=means[repr(rbp)],
        **_rank_bounds(inputs, p, counted, means[repr(rbp)], residual),
    )
    flags = _flag_table(by_run, condensed["rise"].iloc[: len(field)].to_numpy(dtype=float))
    provided = provided_measures([*parsed, *condensing])
    left_out = None if pooled is None or units is None else units.by
    settings = settings_of(
        {} if pooled is None else pooled,
        units,
        {"by ir_measures": provided} if provided else {},
        inputs,
        judged="a label of at least 0",
        unjudged="of the documents returned down to a depth, 1 where there are none",
        unjudged_of_k="of as many documents as the depth, 0 where there are none",
        compared_at=at,
        p=p,
        left_out=f"nobody: {why}" if left_out is None else f"each {left_out}",
    )
    return Coverage(
        table=table,
        by_run=by_run.assign(flags=by_run["name"].map(flags["name"].value_counts()).fillna(0).astype(np.int64)),
        condensed=condensed,
        groups=_group_table(table),
        by_topic=_topic_table(lists, counted),
        flags=flags,
        counts=lists,
        at=at,
        p=p,
        left_out=left_out,
        settings=settings,
    )


def _group_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per type and team and depth: the means of its runs, and the run with most unjudged."""
    parts = []
    for by in ("type", "team"):
        grouped = table[table[by].notna()].groupby(["depth", by], sort=False)
        means = {share: (share, "mean") for share in _SHARES}
        sums = {name: (name, "sum") for name in ("documents", "unjudged_documents")}
        part = grouped.agg(runs=("name", "size"), **sums, **means, max_unjudged=("unjudged", "max")).reset_index()
        parts.append(part.rename(columns={by: "group"}).assign(by=by))
    columns = [name for name, _ in Coverage.declared["groups"].names]
    return pd.concat(parts, ignore_index=True)[columns]


def _topic_table(lists: JudgedLists, counted: NDArray[np.bool_]) -> pd.DataFrame:
    """Return one row per depth and topic: the mean over runs, and where the first unjudged document stands."""
    n_depths, runs = len(lists.depths), counted.sum(axis=1)

    def over_runs(values: Values) -> Values:
        return np.where(runs > 0, np.where(counted, values, 0.0).sum(axis=2) / np.maximum(runs, 1), np.nan).ravel()

    judged_to = pd.DataFrame(lists.judged_to).min(axis=1).to_numpy()
    return pd.DataFrame(
        {
            "qid": np.tile(np.array(lists.topics, dtype=object), n_depths),
            "depth": np.repeat(np.array(lists.depths), len(lists.topics)),
            "runs": np.tile(runs, n_depths),
            "unjudged": over_runs(lists.unjudged),
            "unjudged_of_k": over_runs(lists.of_k),
            "judged_to": np.tile(judged_to, n_depths),
        }
    )


def _rank_bounds(
    inputs: Inputs, p: float, counted: NDArray[np.bool_], low: Values, residual: Values
) -> dict[str, NDArray[np.int64]]:
    """Return ``rank best_rank worst_rank`` of each run by RBP; unjudged documents that two runs share cancel."""
    high = low + residual
    # which of the columns can be better than which of the rows, the bounds of each by itself
    open_pairs = (high[None] > low[:, None]) & (high[:, None] > low[None])
    np.fill_diagonal(open_pairs, False)
    chosen = np.flatnonzero(open_pairs.any(axis=0) & (residual > 0))
    # what the unjudged documents of two runs weigh in both: the smaller of two weights
    shared, both = np.zeros((len(low), len(low))), np.zeros((len(chosen), len(chosen)))
    field, judged = inputs.runs.field, inputs.qrels.arrays
    index, share = HitIndex(field, judged.documents), counted.astype(float) / np.maximum(counted.sum(axis=0), 1)
    weight = (1 - p) * p ** np.arange(math.ceil(math.log(_NOTHING) / math.log(p)), dtype=float)
    for t, row_of_code in zip(index.topics, index.rows_of_codes(index.topics, judged.labels >= 0), strict=True):
        if row_of_code is None or not len(chosen):
            continue
        block, at = field.of(index.field_topic[t])
        unjudged, weights = [], np.zeros((len(row_of_code), len(chosen)))
        for column, run in enumerate(chosen.tolist()):
            top = block.codes[block.list_of(at, run)][: len(weight)]
            places = np.flatnonzero(row_of_code[top] < 0)
            unjudged.append(top[places])
            weights[top[places], column] = weight[places] * share[t, run]
        for column, codes in enumerate(unjudged):
            both[column] += np.minimum(weights[codes], weights[codes, column][:, None]).sum(axis=0)
    shared[np.ix_(chosen, chosen)] = both
    least = np.round(low[None] - high[:, None] + shared, DECIMALS)
    most = np.round(high[None] - low[:, None] - shared, DECIMALS)
    np.fill_diagonal(most, 0.0)
    rank = pairs.ranks(np.round(low, DECIMALS))
    return {"rank": rank, "best_rank": 1 + (least > 0).sum(axis=1), "worst_rank": 1 + (most > 0).sum(axis=1)}


def _flag_table(runs: pd.DataFrame, rise: Values) -> pd.DataFrame:
    """Return one row per run and reason why it may be better than its score says, the runs in their order."""
    contributed = runs["contributed"].fillna(False).to_numpy(dtype=bool)
    limits = runs.loc[contributed, ["unjudged_without_own", "residual"]].max().to_numpy(dtype=float)
    unjudged, residual = (runs[name].to_numpy(dtype=float) for name in ("unjudged", "residual"))
    reasons = (
        ("less covered than any contributor", unjudged, limits[0]),
        ("rises on condensed lists", rise, 0.0),
        ("residual above every contributor's", residual, limits[1]),
    )
    # a limit that is not known is NaN, which nothing is above
    rows = [
        (name, reason, value[run], limit)
        for run, name in enumerate(runs["name"])
        for reason, value, limit in reasons
        if value[run] > limit and unjudged[run] > 0
    ]
    types = {"name": object, "reason": object, "value": float, "limit": float}
    return pd.DataFrame(rows, columns=list(types)).astype(types)
