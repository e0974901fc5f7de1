"""infer_pool: which runs must have been pooled, and to which depth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, count, examples
from pt_reuse._choices import ORDERS
from pt_reuse._errors import InputError
from pt_reuse._report import Column, Digits, Report
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.options import Parameter
from pt_reuse.result import KeyFigures, Result
from pt_reuse.studies.infer_pool import evidence
from pt_reuse.studies.infer_pool.evidence import UNSURE, Certainty
from pt_reuse.studies.infer_pool.fitting import Curves, Fitter
from pt_reuse.studies.infer_pool.judged_ranks import passes
from pt_reuse.studies.infer_pool.search import COMMON, Search, Try, checked_depth, checked_tolerance, depth_range
from pt_reuse.study import Entry, study, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: names in a line
_NAMED = 6
_COLUMNS = (
    "name", "team", "type", "pooled", "evidence", "group", "judged_to", "entries", "missing", "first_missing", "alone",
    "nearest", "common",
)  # fmt: skip


def _report(result: InferredPool) -> Report:
    """Return what a paper prints: one row with the depth, who contributed, and how far that is the judged set."""
    row, (least, most) = result.summary.iloc[0], result.contributor_range
    low, high = depth_range(result.by_topic["depth"].to_numpy())
    found = result.certainty is not Certainty.NONE
    depth = "none found" if not found else f"{high}" if low == high else f"{low} to {high}"
    return Report(
        [
            Column("Depth", [depth]),
            Column("Order", [result.order]),
            Column("Contributors", [f"{least:,}" if least == most else f"{least:,} to {most:,}"]),
            Column("Judged", [row["judged"]], Digits.COUNT),
            Column("Explained", [row["explained"]], Digits.COUNT),
            Column("Unjudged in the pool", [row["unjudged"]], Digits.COUNT),
        ],
        caption=(
            f"The pool of some of {count(len(result.table), 'run')} that comes nearest to the judged documents of "
            f"{count(len(result.topics), 'topic')}: its depth, in documents per run and topic in that order of the "
            "runs; how many runs contributed, at least and at most; the judged documents, and those that the pool "
            "explains; and its documents that are not judged."
        ),
        notes=[result.explanation[:1].upper() + result.explanation[1:]],
    )


def _draw(result: InferredPool, measure: str | None, place: Place) -> Axes:
    """Draw the share of judged documents by rank, of the runs judged as deep and all others, with every depth."""
    from pt_reuse.plots.lines import plot_judged_by_rank

    return plot_judged_by_rank(result.by_rank, result.by_topic, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InferredPool(Result):
    """Which runs must have been pooled, and to which depth, as far as the judgments tell.

    Attributes:
        table: one row per run, in field order: ``name team type``; ``pooled``, what is on record, <NA> where
            nobody recorded it; ``contributed``, what was inferred; ``evidence``, the word of an
            :class:`~pt_reuse.studies.infer_pool.evidence.Evidence`, one of

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
    views = {"pool": _report}
    plots = {"ranks": _draw}
    key = (
        KeyFigures(("depth", "explained", "unjudged", "least_contributors", "most_contributors"), table="numbers"),
        KeyFigures(("depth_up_to", "topics_apart"), table="numbers"),
    )

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

    def numbers(self) -> pd.DataFrame:
        """Return the summary with the depth, one row."""
        return self.summary.assign(depth=np.nan if self.depth is None else float(self.depth))

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

    def _unsure(self) -> list[str]:
        """Return a line for the covered runs, and one for each group of runs needed together."""
        unsure = self.table[self.table["evidence"].isin(UNSURE)]
        lines = [
            f"{word}: {examples(rows['name'], _NAMED)}"
            for (word, _), rows in unsure.groupby(["evidence", "group"], dropna=False)
        ]
        rest = len(lines) - _NAMED
        return [*lines[:_NAMED], f"{count(rest, 'more group')} in .table"] if rest > 0 else lines

    def best_of_tried(self) -> list[str]:
        """Return a line that tells which of the answers tried is the best, none where only one was tried."""
        if len(self.tried) == 1:
            return []
        best = self.tried[self.tried["best"]].iloc[0]
        of = ", ".join(count(self.tried[by].nunique(), by) for by in ("order", "tolerance"))
        return [
            f"the best of {len(self.tried):,} tried ({of}): order={best['order']!r}, "
            f"tolerance={best['tolerance']:g}, depth {best['way']}"
        ]

    def _lines(self) -> list[str]:
        lines = [self.explanation, *self.best_of_tried(), *self._unsure()]
        if self.contributors:
            depth = f"depth={self.depth}, " if self.depth else ""
            rest = ", and qrels.select(found.topics), without the topics that are set apart" if self.apart else ""
            lines.append(
                "to go on: runs.with_metadata(pooled=found.contributors), with "
                f"{depth}pool_order={self.order!r} in studies and when reading runs{rest}"
            )
        return lines

    def _shown(self) -> pd.DataFrame:
        """Return the table with the runs first of which it is open whether they were pooled."""
        rank = self.table["evidence"].map({word: at for at, word in enumerate(UNSURE)}).fillna(len(UNSURE))
        shown = self.table.loc[rank.sort_values(kind="stable").index, list(_COLUMNS)]
        return shown.dropna(axis="columns", how="all")

    def __repr__(self) -> str:
        unsure = "".join(f" {line}." for line in self._unsure())
        return f"{self.title}: {self.headline()}. {self.explanation}{unsure} [{self._settings_line()}]"


def depths_in_words(by_topic: pd.DataFrame) -> str:
    """Return the depth of the topics: one, or from the least to the largest."""
    low, high = depth_range(by_topic["depth"].to_numpy())
    return f"depth {high}" if low == high else f"depth {low} to {high} by topic"


@study(
    Parameter(name="runs", meaning="the field, in any form (:doc:`runs`); the more of the submitted runs, the surer."),
    Parameter(
        name="depth",
        meaning='None (default) tries one depth for all topics and one for each; ``"common"`` finds one for all, '
        '``"topic"`` one for each, for pools that were made as deep as a topic\'s budget allowed; a whole number is '
        "taken as it is.",
        check=checked_depth,
    ),
    Parameter(
        name="tolerance",
        meaning="share of a run's documents down to the depth that may be unjudged, at least 0 (strict) and below 1; "
        "for collections whose documents were dropped or renamed after pooling. None (default) tries 0, .01, .02, .05 "
        "and .1, and leaves out runs that lack far more judgments than the others. A run that alone brings more "
        "unjudged than judged documents is not taken as pooled whatever the tolerance.",
        check=checked_tolerance,
    ),
    Parameter(
        name="order",
        meaning='the order that decides which document is at rank k, one of ``"trec_eval"``, ``"trec_eval9"``, '
        '``"rank"``, ``"file"``. None (default) tries the one in which the field is pooled, then the others.',
        choices=tuple(ORDERS),
    ),
    Parameter(
        name="n_jobs",
        meaning="threads that go over the topics, as joblib takes it; default what ``joblib.parallel_config`` says, "
        "else 1. The answer does not depend on it.",
        check=checked_jobs,
    ),
    entry=Entry(question="Who was pooled, and to which depth?", command="infer-pool", page="who-was-pooled"),
)
def infer_pool(
    runs: Any,
    qrels: Any,
    *,
    depth: int | str | None = None,
    tolerance: float | None = None,
    order: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> InferredPool:
    """Say which runs must have contributed to the pool behind a set of judgments, and to which depth.

    A run *is judged to depth k* when all its first k documents of every topic are judged, but for a tolerated share.
    For each k, the runs judged to k pool their first k documents; the depth is the k whose pool differs least from the
    judged set. Every pair of topic and document with any label counts as judged, -1 (pooled, not judged) too.

    What is not given is tried: orders of the runs, tolerances, one depth for all topics and one for each. The answer
    is the one with which the judged set can be written down in the fewest bits; the page *Who was pooled* says how. An
    answer that is exact ends the search. Topics whose judgments the pool of the contributors does not explain are set
    apart, and the answer is that of the others alone, if their pool has a clear depth; not so where `depth` is
    ``"common"`` or a number, which hold for all topics.

    Returns:
        InferredPool: ``.depth``, ``.contributors`` (for ``runs.with_metadata(pooled=...)``), ``.contributor_range``,
        ``.order``, ``.topics``, ``.apart``, ``.certainty``, ``.explanation``, ``.table``, ``.tried``, ``.by_topic``,
        ``.by_rank``, ``.unexplained``, ``.confusion``, ``.plot()``.

    Raises:
        InputError: no judgments, no topic in common, a depth or tolerance out of range, an order that the field does
            not know.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = ptr.infer_pool(field.runs, field.qrels)
        >>> found.depth, len(found.contributors), len(found.unexplained)
        (10, 16, 0)
        >>> found.confusion["needed"].tolist()
        [16, 0]

    Source: the record of TREC-8 ad hoc, which this gives back: depth 100, 71 of 129 runs, all 86,830 judgments.
    """
    given = study_of(infer_pool).checked(locals())
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    _check_overlap(runs, qrels)

    with passes(runs.field, n_jobs) as going:
        asked = {name: given[name] for name in ("depth", "tolerance", "order", "verbose")}

        def searched(kept: NDArray[np.bool_]) -> Search:
            some = qrels if kept.all() else qrels.select(compress(qrels.topics, kept.tolist()))
            return Search(runs, some, going, **asked)

        kept = np.ones(len(qrels.topics), dtype=bool)
        search = whole = searched(kept)
        while (apart := search.best.apart).any():
            kept[np.flatnonzero(kept)[apart]] = False
            search = searched(kept)
        if (back := _explained(whole, search.best, kept)).any():
            again = searched(kept | back)
            # not where they take along others, or blur what the pool of the others shows
            if not again.best.apart.any() and again.is_sharp:
                kept, search = kept | back, again
        if not (kept.all() or search.is_sharp):
            kept[:], search = True, whole
        if kept.all():
            search.take_every_topic()
        return _inferred(runs, qrels, search, whole, ~kept)


def _explained(whole: Search, found: Try, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (topics,): those that were set apart and that the pool of the others explains all the same."""
    if kept.all() or not found.fit.runs.any():
        return np.zeros_like(kept)
    depths = np.zeros(len(kept), dtype=np.int64)
    depths[kept] = found.fit.depths
    curves = Curves(*whole.ranks(found.order).found(found.fit.runs), found.fitter.tolerance)
    return ~kept & (curves.with_others(depths) > 0)


def _inferred(runs: RunSet, qrels: Qrels, search: Search, whole: Search, apart: NDArray[np.bool_]) -> InferredPool:
    """Return the result of a search over the topics that are not set apart."""
    best = search.best
    ranks, fit = best.fitter.ranks, best.fit
    words, groups, contributors = evidence.run_evidence(fit, ranks.lengths > 0)
    table = evidence.evidence_table(runs, best, words, groups)
    depths = np.zeros(len(qrels.topics), dtype=np.int64)
    depths[~apart] = fit.depths
    every = Fitter(whole.ranks(best.order), best.fitter.tolerance, alike=best.fitter.alike)
    of_all = every.settle(depths) if apart.any() else fit
    unexplained = evidence.unexplained_documents(runs, qrels, every.ranks, of_all)
    by_topic = evidence.topic_table(qrels, every.ranks, of_all, unexplained, apart)
    used = fit.depths[ranks.has_topic]
    summary = evidence.totals(best, contributors, by_topic)
    better = best.fitter.own_depths() if search.ways == (COMMON,) and not fit.is_exact else fit
    certainty = evidence.certainty_of(summary, best)
    return InferredPool(
        table=table,
        by_topic=by_topic,
        by_rank=evidence.rank_table(ranks, fit.runs),
        unexplained=unexplained,
        confusion=evidence.confusion(table),
        summary=summary,
        tried=search.table(),
        depth=int(used[0]) if len(np.unique(used)) == 1 else None,
        order=best.order,
        contributors=table["name"][table["contributed"]].tolist(),
        certainty=certainty,
        explanation=evidence.explain(certainty, search, better, table, by_topic, summary),
        settings={
            "depth": f"{depths_in_words(by_topic).removeprefix('depth ')} ({best.way})",
            "tolerance": best.fitter.tolerance,
            **runs.settings,
            "order": best.order,
            "tried": len(search.tried),
            "topics": len(qrels.topics),
            **({"set apart": int(apart.sum())} if apart.any() else {}),
            "judged": "any label",
            "record": _record(runs.pooled),
        },
    )


def _check_overlap(runs: RunSet, qrels: Qrels) -> None:
    if not len(qrels):
        raise InputError("the qrels hold no judgments, so there is no pool to infer.", argument="qrels")
    if not set(runs.topics) & set(qrels.topics):
        raise InputError(
            f"the runs and the qrels have no topic in common: runs {examples(runs.topics)}; "
            f"qrels {examples(qrels.topics)}. Are they of the same track, and are the topic ids written alike?",
            argument="qrels",
        )


def _record(pooled: pd.Series) -> str:
    unknown = int(pooled.isna().sum())
    if unknown == len(pooled):
        return "not on record"
    rest = f", {unknown:,} not on record" if unknown else ""
    return f"{int(pooled.sum()):,} of {count(len(pooled), 'run')} pooled{rest}"
