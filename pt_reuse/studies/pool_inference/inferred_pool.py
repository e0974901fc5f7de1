"""InferredPool: which runs must have been pooled, and to which depth, as far as judgments tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result, key_figures_of
from pt_reuse.studies.pool_inference.certainty import Certainty, depth_range
from pt_reuse.studies.pool_inference.evidence import UNSURE, Evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: names in a line
_NAMED = 6
_COLUMNS = (
    "name", "team", "type", "pooled", "evidence", "group", "judged_to", "entries", "missing", "first_missing", "alone",
    "nearest", "common",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InferredPool(Result):
    """Which runs must have been pooled, and to which depth, as far as the judgments tell.

    Attributes:
        table: one row per run, in field order: ``name team type``; ``pooled``, what is on record, <NA> where
            nobody recorded it; ``contributed``, what was inferred; ``evidence``, the word of an
            :class:`~pt_reuse.studies.pool_inference.evidence.Evidence`, one of

            - ``needed``: judged documents in the pool that no other run in it has;
            - ``needed together``: documents that none of the needed runs has, but several others: at least one run
              of each ``group`` (numbered from 1) contributed, the judgments do not tell which;
            - ``covered``: judged as deep, but the runs above explain all its documents: pooled or judged by accident;
            - ``not pooled``, for the topics that are not set apart: unjudged documents down to the depth, more than
              tolerated, or more than the judged ones that it alone would explain;
            - ``no documents``: it retrieves nothing for these topics;

            ``contributed`` is True for those that are needed, alone or together, and for covered ones where no run of
            the field is ``not pooled``; ``judged_to``, the largest depth to which it is judged; ``entries`` and
            ``missing``, its documents down to the depth and how many of them are unjudged; ``first_missing``, its best
            rank with an unjudged document; ``alone`` and ``alone_unjudged``, judged and unjudged documents down to the
            depth that no other run of the pool has; ``nearest``, the contributor with most of its documents, and
            ``common``, their share.
        by_topic: one row per topic: ``qid``; ``depth``, the one used, 0 when no run has the topic; ``own_depth``, at
            which the pool of these runs fits this topic best; ``judged`` documents and how many are ``explained``; of
            the others those that a run of the pool has below the depth (``deeper``), that only other runs have
            (``other``), that no run has (``nowhere``); ``unjudged``, documents in the pool without judgment; ``apart``,
            whether the topic is set apart: the pool of the contributors does not explain its judgments, and its depth
            is 0.
        by_rank: one row per rank, of the topics that are not set apart: documents of the runs judged as deep there
            (``entries``) and the share of them that is ``judged``; the same of all other runs (``other_entries``,
            ``other_judged``); the documents that no run judged as deep has at a better rank (``new``) and the share of
            them that is judged (``new_judged``): the latter falls at the depth of a pool. NaN where there is none.
        unexplained: the judged documents that are not in the pool: ``qid docno label``, ``origin`` (``"below the
            depth"`` of a run judged as deep, ``"other run"``, ``"no run"``), ``best_rank`` and ``best_run``, who
            retrieves it best.
        confusion: the record against the inference: runs by ``pooled`` and evidence; a row with ``pooled`` <NA> for
            the runs of which nobody recorded it, where there are any.
        summary: the numbers behind the headline, one row, of the topics that are not set apart: ``judged explained
            deeper other nowhere``; ``unjudged`` in the pool; ``at_depth`` and ``below``, the share that is judged of
            the documents that the runs judged as deep have at the depth and one rank below, and ``new_at_depth``,
            ``new_below``, the same of documents that are new there; ``depth_up_to``, the largest depth for all topics
            that fits as well; ``least_contributors``, ``most_contributors``, see :attr:`contributor_range`; ``bits``,
            what it takes to write the judged set down; ``topics_apart``, the topics that are set apart, and
            ``judged_apart``, the judgments there.
        tried: one row per answer tried on the topics that are not set apart: ``order``, ``tolerance`` and ``way`` (how
            the depth came about); the least and the largest depth of its topics (``depth_from``, ``depth_to``);
            ``runs`` judged as deep; the judged documents that their pool ``explained``, and those in it that are
            ``unjudged``; ``new_below``, ``bits``: as in `summary`; ``best``, whether this is the answer given.
        depth: the depth of the topics that are not set apart, None when they differ; 0 when no pool was found.
        order: the order of the runs in which the pool was found.
        contributors: the runs that are taken to have contributed, those ``contributed`` in `table`.
        certainty: how far the pool explains the judgments and the judgments fill the pool.
        explanation: the same as a sentence, with numbers.

    The runs *judged as deep* are those that are needed, needed together or covered. The pool is theirs; the covered add
    nothing to it.
    """

    title: ClassVar[str] = "Inferred pool"

    by_topic: pd.DataFrame
    by_rank: pd.DataFrame
    unexplained: pd.DataFrame
    confusion: pd.DataFrame
    summary: pd.DataFrame
    tried: pd.DataFrame
    depth: int | None
    order: str
    contributors: list[str]
    certainty: Certainty
    explanation: str

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "by_topic": self.by_topic,
            "by_rank": self.by_rank,
            "unexplained": self.unexplained,
            "confusion": self.confusion,
            "summary": self.summary,
            "tried": self.tried,
        }

    @property
    def contributor_range(self) -> tuple[int, int]:
        """Return how many runs contributed, at least and at most, if the depths are right.

        At least the fewest runs judged as deep whose pool has the same judged documents: the needed ones, and of those
        needed together as few as do. At most all runs judged as deep, the covered ones among them.
        """
        row = self.summary.iloc[0]
        return int(row["least_contributors"]), int(row["most_contributors"])

    @property
    def apart(self) -> list[str]:
        """Return the topics that are set apart: the pool of the contributors does not explain their judgments."""
        return self.by_topic["qid"][self.by_topic["apart"]].tolist()

    @property
    def topics(self) -> list[str]:
        """Return the topics that are not set apart, for ``qrels.select(...)``."""
        return self.by_topic["qid"][~self.by_topic["apart"]].tolist()

    def key_figures(self) -> pd.DataFrame:
        """Return the depth, who contributed, and what that explains, see :meth:`Result.key_figures`."""
        figures = ["explained", "unjudged", "least_contributors", "most_contributors", "depth_up_to", "topics_apart"]
        depth = pd.DataFrame({"depth": [self.depth]})
        return pd.concat([key_figures_of(depth, ["depth"]), key_figures_of(self.summary, figures)], ignore_index=True)

    def headline(self) -> str:
        """Return in a line the depth, the number of contributors, and how many judgments they explain."""
        row = self.summary.iloc[0]
        explained = f"{int(row['explained']):,} of {count(int(row['judged']), 'judgment')} explained"
        if self.certainty is Certainty.PARTIAL:
            explained += " (partial)"
        if self.certainty is Certainty.NONE:
            given = f" to depth {self.depth:,}" if self.depth else ""
            return f"no pool found{given}, {explained}"
        least, most = self.contributor_range
        number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        runs = f"{number} of {count(len(self.table), 'run')} contributed"
        apart = f"; {count(len(self.apart), 'topic')} of {len(self.by_topic):,} set apart" if self.apart else ""
        return f"{depths_in_words(self.by_topic)}, {runs}, {explained}{apart}"

    def report(self) -> Report:
        """Return what a paper prints: one row with the depth, who contributed, and how far that is the judged set."""
        row, (least, most) = self.summary.iloc[0], self.contributor_range
        low, high = depth_range(self.by_topic["depth"].to_numpy())
        found = self.certainty is not Certainty.NONE
        depth = "none found" if not found else f"{high}" if low == high else f"{low} to {high}"
        return Report(
            [
                Column("Depth", [depth]),
                Column("Order", [self.order]),
                Column("Contributors", [f"{least:,}" if least == most else f"{least:,} to {most:,}"]),
                Column("Judged", [row["judged"]], Digits.COUNT),
                Column("Explained", [row["explained"]], Digits.COUNT),
                Column("Unjudged in the pool", [row["unjudged"]], Digits.COUNT),
            ],
            caption=(
                f"The pool of some of {count(len(self.table), 'run')} that comes nearest to the judged documents of "
                f"{count(len(self.topics), 'topic')}: its depth, in documents per run and topic in that order of the "
                "runs; how many runs contributed, at least and at most; the judged documents, and those that the pool "
                "explains; and its documents that are not judged."
            ),
            notes=[self.explanation[:1].upper() + self.explanation[1:]],
        )

    def _unsure(self) -> list[str]:
        """Return a line for the covered runs, and one for each group of runs needed together."""
        lines = []
        for evidence in UNSURE:
            rows = self.table[self.table["evidence"] == evidence.value]
            groups = [rows] if evidence is Evidence.COVERED else [group for _, group in rows.groupby("group")]
            lines += [f"{evidence.value}: {examples(group['name'], _NAMED)}" for group in groups if len(group)]
        rest = len(lines) - _NAMED
        return [*lines[:_NAMED], f"{count(rest, 'more group')} in .table"] if rest > 0 else lines

    def best_of_tried(self) -> list[str]:
        """Return a line that tells which of the answers tried is the best, none where only one was tried."""
        if len(self.tried) == 1:
            return []
        best = self.tried[self.tried["best"]].iloc[0]
        orders, tolerances = self.tried["order"].nunique(), self.tried["tolerance"].nunique()
        return [
            f"the best of {len(self.tried):,} tried ({count(orders, 'order')}, {count(tolerances, 'tolerance')}): "
            f"order={best['order']!r}, tolerance={best['tolerance']:g}, depth {best['way']}"
        ]

    def _advice(self) -> list[str]:
        """Return a line that tells how to go on with the answer, none where there is no pool."""
        if not self.contributors:
            return []
        depth = f"depth={self.depth}, " if self.depth else ""
        return [
            f"to go on: runs.with_metadata(pooled=found.contributors), with {depth}pool_order={self.order!r} in "
            "studies and when reading runs"
            + (", and qrels.select(found.topics), without the topics that are set apart" if self.apart else "")
        ]

    def _lines(self) -> list[str]:
        return [self.explanation, *self.best_of_tried(), *self._unsure(), *self._advice()]

    def _shown(self) -> pd.DataFrame:
        """Return the table with the runs first of which it is open whether they were pooled."""
        place = {evidence.value: at for at, evidence in enumerate(UNSURE)}
        rank = self.table["evidence"].map(place).fillna(len(UNSURE))
        shown = self.table.loc[rank.sort_values(kind="stable").index, list(_COLUMNS)]
        return shown[[column for column in shown if shown[column].notna().any()]]

    def __repr__(self) -> str:
        unsure = "".join(f" {line}." for line in self._unsure())
        return f"{self.title}: {self.headline()}. {self.explanation}{unsure} [{self._settings_line()}]"

    @door
    def plot(
        self,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the share of judged documents by rank, of the runs judged as deep and all others.

        Args:
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a line for each kind of runs, and an upright line at every depth.
        """
        from pt_reuse.plots.lines import plot_judged_by_rank
        from pt_reuse.plots.sheet import Place

        return plot_judged_by_rank(self.by_rank, self.by_topic, place=Place(ax, title, legend, width))


def depths_in_words(by_topic: pd.DataFrame) -> str:
    """Return the depth of the topics: one, or from the least to the largest."""
    low, high = depth_range(by_topic["depth"].to_numpy())
    return f"depth {high}" if low == high else f"depth {low} to {high} by topic"
