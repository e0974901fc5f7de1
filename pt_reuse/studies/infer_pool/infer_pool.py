"""infer_pool: which runs must have been pooled, and to which depth; what speaks for each, and how certain that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, count, examples
from pt_reuse._choices import ORDERS
from pt_reuse._report import Column, Digits, Report
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError
from pt_reuse.options import Parameter
from pt_reuse.result import KeyFigures, Result
from pt_reuse.scoring.caveats import noted, relevant_only, tell
from pt_reuse.studies.infer_pool.judged_ranks import JudgedRanks, passes
from pt_reuse.studies.infer_pool.search import (
    BY_TOPIC,
    COMMON,
    MOST_UNJUDGED,
    Cliff,
    Curves,
    Fit,
    Fitter,
    Search,
    Try,
    best_of,
    checked_depth,
    checked_tolerance,
    depth_range,
)
from pt_reuse.study import Entry, study, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


class Evidence(Enum):
    """What speaks for a run, from proof to none, in the words that tables show."""

    NEEDED = "needed"
    TOGETHER = "needed together"
    COVERED = "covered"
    NOT_POOLED = "not pooled"
    NO_DOCUMENTS = "no documents"


#: evidence that leaves it open whether a run was pooled
UNSURE = (Evidence.COVERED.value, Evidence.TOGETHER.value)
_WORDS = tuple(kind.value for kind in Evidence)
_NEEDED, _TOGETHER, _COVERED, _NOT_POOLED, _ = _WORDS
#: where a judged document that the pool does not have comes from
_ORIGINS = ("below the depth", "other run", "no run")
_NODES = 10_000  # of the search for the fewest runs


def run_evidence(
    fit: Fit, has_documents: NDArray[np.bool_]
) -> tuple[NDArray[np.object_], NDArray[np.int64], tuple[int, int]]:
    """Return (runs,) the evidence, in words, and the group of runs needed together, from 1, 0 for none.

    And how many runs contributed, at least and at most, if the depths are right.
    """
    from scipy.sparse.csgraph import connected_components

    tops, pooled = fit.tops, fit.runs
    needed = pooled & (tops.alone(pooled)[0] > 0)
    # the judged documents of the pool that no needed run has
    left_open = tops.has[:, tops.judged & (tops.times(pooled) > 0) & (tops.times(needed) == 0)]
    together = pooled & (left_open.sum(axis=1) > 0)
    has, group, least = left_open[together], np.zeros(len(pooled), dtype=np.int64), int(needed.sum())
    if together.any():
        # runs that share a document are one group
        group[together] = connected_components(has @ has.T)[1] + 1
        least += _fewest(np.unique(has.toarray().T > 0, axis=0))
    kind = np.select([needed, together, pooled, has_documents], [0, 1, 2, 3], default=4)
    return np.array(_WORDS, dtype=object)[kind], group, (least, int(pooled.sum()))


def _fewest(has: NDArray[np.bool_]) -> int:
    """Return how few columns it takes, at least, that every row has a mark in one of them; each row has a mark."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = has.shape[1]
    # where the search ends early, its bound holds all the same
    found = milp(
        np.ones(n),
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(has.astype(float), lb=1),
        options={"node_limit": _NODES},
    )
    return max(1, int(np.ceil(found.mip_dual_bound - 1e-6)))


def evidence_table(runs: RunSet, found: Try, words: NDArray[np.object_], groups: NDArray[np.int64]) -> pd.DataFrame:
    """Return the table of an inferred pool."""
    ranks, fit = found.fitter.ranks, found.fit
    covered = [] if (words == _NOT_POOLED).any() else [_COVERED]
    contributed = np.isin(words.astype(str), [_NEEDED, _TOGETHER, *covered])
    tops = fit.tops
    alone, alone_unjudged = tops.alone(fit.runs)
    names = np.array(runs.names, dtype=object)
    nearest, common = np.full(len(runs), None, dtype=object), np.full(len(runs), np.nan)
    shared = tops.in_common(contributed)
    shared[np.flatnonzero(contributed), np.arange(int(contributed.sum()))] = 0  # a run is not its own nearest
    some = shared.max(axis=1, initial=0) > 0
    if some.any():
        nearest[some] = names[contributed][shared[some].argmax(axis=1)]
        common[some] = shared[some].max(axis=1) / tops.entries[some]
    # lists differ in length: the first unjudged rank of a run is where its count of missing documents leaves 0
    first = (ranks.counts[1] == 0).sum(axis=1)
    return runs.run_table[["name", "team", "type", "pooled"]].assign(
        contributed=contributed,
        evidence=pd.Series(words, dtype=object),
        group=pd.Series(groups, dtype="Int64").mask(groups == 0),
        judged_to=found.fitter.judged_to,
        entries=tops.entries,
        missing=tops.missing,
        first_missing=pd.Series(first, dtype="Int64").mask(first > ranks.longest),
        alone=alone,
        alone_unjudged=alone_unjudged,
        nearest=pd.Series(nearest, dtype=object),
        common=common,
    )


def unexplained_documents(runs: RunSet, qrels: Qrels, ranks: JudgedRanks, fit: Fit) -> pd.DataFrame:
    """Return the judged documents that are not in the pool."""
    tops, judgments = fit.tops, qrels.arrays
    explained = np.zeros(len(qrels), dtype=bool)
    explained[tops.row[tops.judged & (tops.times(fit.runs) > 0)]] = True
    best_rank, best_run = np.zeros(len(qrels), dtype=np.int64), np.full(len(qrels), -1, dtype=np.int64)
    deeper = np.zeros(len(qrels), dtype=bool)
    every = np.ones(len(runs), dtype=bool)
    for topic in ranks.each():
        judged = np.flatnonzero(topic.judged)
        of = topic.row[judged]
        best_rank[of], best_run[of] = topic.best(every)[judged], topic.best_run()[judged]
        deeper[of] = topic.best(fit.runs)[judged] > 0
    rows = np.flatnonzero(~explained)
    origin = np.select([deeper[rows], best_run[rows] >= 0], _ORIGINS[:2], default=_ORIGINS[2])
    documents = judgments.documents.take(rows)
    return pd.DataFrame(
        {
            "qid": documents.qids(),
            "docno": pd.Series(documents.docnos(), dtype=object),
            "label": judgments.labels[rows].astype(np.int64),
            "origin": origin.astype(object),
            "best_rank": pd.Series(best_rank[rows], dtype="Int64").mask(best_rank[rows] == 0),
            "best_run": pd.Series(np.array([*runs.names, None], dtype=object)[best_run[rows]], dtype=object),
        }
    )


def topic_table(
    qrels: Qrels, ranks: JudgedRanks, fit: Fit, unexplained: pd.DataFrame, apart: NDArray[np.bool_]
) -> pd.DataFrame:
    """Return what the pool explains on each topic, and which topics are set apart."""
    tops, topics = fit.tops, qrels.topics
    pool = tops.times(fit.runs) > 0
    unjudged = np.bincount(tops.topic[pool & ~tops.judged], minlength=len(topics))
    judged = qrels.arrays.documents.sizes
    left = pd.crosstab(unexplained["qid"], unexplained["origin"]).reindex(index=topics, columns=_ORIGINS, fill_value=0)
    deeper, other, nowhere = left.to_numpy(dtype=np.int64).T
    return pd.DataFrame(
        {
            "qid": topics,
            "depth": fit.depths,
            "own_depth": ranks.topic_depths(fit.runs),
            "judged": judged,
            "explained": judged - deeper - other - nowhere,
            "deeper": deeper,
            "other": other,
            "nowhere": nowhere,
            "unjudged": unjudged,
            "apart": apart,
        }
    )


def rank_table(ranks: JudgedRanks, deep: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the share of documents at each rank that is judged, of the runs judged as deep and of all others."""
    entries, missing = np.diff(ranks.counts)
    new, new_judged = np.zeros((2, ranks.longest + 1), dtype=np.int64)
    for topic in ranks.each():
        rank = topic.best(deep)
        new += np.bincount(rank, minlength=ranks.longest + 1)
        new_judged += np.bincount(rank[topic.judged], minlength=ranks.longest + 1)
    mine, others = entries[deep].sum(axis=0), entries[~deep].sum(axis=0)
    return pd.DataFrame(
        {
            "rank": np.arange(1, ranks.longest + 1),
            "entries": mine,
            "judged": _share(mine - missing[deep].sum(axis=0), mine),
            "other_entries": others,
            "other_judged": _share(others - missing[~deep].sum(axis=0), others),
            "new": new[1:],
            "new_judged": _share(new_judged[1:], new[1:]),
        }
    )


def totals(found: Try, contributors: tuple[int, int], by_topic: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers over all topics that are not set apart, one row."""
    apart = by_topic["apart"]
    sums = by_topic.loc[~apart, ["judged", "explained", "deeper", "other", "nowhere", "unjudged"]].sum()
    return (
        sums.to_frame()
        .T.astype(np.int64)
        .assign(
            **asdict(found.cliff),
            depth_up_to=found.fit.up_to,
            least_contributors=contributors[0],
            most_contributors=contributors[1],
            bits=found.fit.bits,
            topics_apart=int(apart.sum()),
            judged_apart=int(by_topic.loc[apart, "judged"].sum()),
        )
    )


def confusion(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs by what is on record and by evidence; the last row, if any are, is of those not on record."""
    recorded, unknown = table["pooled"], table["pooled"].isna()
    rows = ([] if unknown.all() else [True, False]) + ([pd.NA] if unknown.any() else [])
    chosen = [unknown if row is pd.NA else (recorded == row).fillna(False) for row in rows]
    counts = [table["evidence"][mask].value_counts().reindex(_WORDS, fill_value=0) for mask in chosen]
    found = pd.DataFrame(counts, columns=_WORDS).reset_index(drop=True)
    found.insert(0, "pooled", pd.array(rows, dtype="boolean"))
    return found


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


class Certainty(Enum):
    """How nearly the pool of the inferred runs is the judged set, from all to nothing."""

    EXACT = "exact"
    NEARLY = "nearly exact"
    MOST = "most"
    PARTIAL = "partial"
    NONE = "none"


#: the least share, of the judgments that are explained and of the pool that is judged, for each but the last
_LEAST = {Certainty.NEARLY: 0.95, Certainty.MOST: 0.5, Certainty.PARTIAL: 0.0}


def certainty_of(summary: pd.DataFrame, found: Try) -> Certainty:
    """Return how certain a pool is; where the judged documents do not end at its depth, it is partial."""
    judged, explained, unjudged = _numbers(summary)
    if not found.fit.runs.any():
        return Certainty.NONE
    if explained == judged and not unjudged:
        return Certainty.EXACT
    if not found.cliff.shows or _may_lack(summary, found):
        return Certainty.PARTIAL
    share = min(explained / judged, explained / (explained + unjudged))
    return next(certainty for certainty, least in _LEAST.items() if share >= least)


def _may_lack(summary: pd.DataFrame, found: Try) -> bool:
    """Return whether the topics that are set apart may be of the same pool, and only lack more of its judgments."""
    _, explained, unjudged = _numbers(summary)
    limit = max(found.fitter.tolerance, MOST_UNJUDGED)
    return bool(summary["topics_apart"].iloc[0]) and unjudged > limit / 2 * (explained + unjudged)


def explain(
    certainty: Certainty,
    search: Search,
    better: Fit,
    table: pd.DataFrame,
    by_topic: pd.DataFrame,
    summary: pd.DataFrame,
) -> str:
    """Return the explanation of a result: its certainty, who may have contributed, and topics set apart."""
    judged, explained, unjudged = _numbers(summary)
    found, fit, most = search.best, search.best.fit, search.tolerances[-1]
    larger = f"tolerance={min(max(2 * most, MOST_UNJUDGED), (1 + most) / 2):g}"
    words = f"{certainty.value}: "
    if certainty is Certainty.NONE:
        deep = f" to depth {int(fit.depths.max())}" if fit.depths.any() else ", or the judged documents end at no depth"
        words += (
            f"no run is judged closely enough{deep}. The judgments are a sample, or of other runs, or documents were "
            f"dropped or renamed after pooling ({larger} allows for more of them)."
        )
    elif certainty is Certainty.EXACT:
        words += "the pool of these runs is the judged set."
    else:
        words += f"these runs explain {_per_cent(explained, judged)} of the judgments"
        if unjudged:
            part, lack = _per_cent(unjudged, explained + unjudged), "lacks" if unjudged == 1 else "lack"
            words += f", and {count(unjudged, 'document')} in their pool ({part}) {lack} a judgment"
        if explained < judged:
            words += "; the rest has another origin, or some pooled runs are not in the field or not recognised"
        words += f".{_cliff_in_words(found.cliff)}"
        if _may_lack(summary, found):
            words += f" The topics set apart may be of this pool and lack more of its judgments: {larger} allows it."
    if best_of([fit, better]) is better and better is not fit:
        low, high = depth_range(better.depths)
        words += f" With a depth for each topic ({low} to {high}) a pool fits better: depth='topic'."
    return words + _range_in_words(table, summary) + _apart_in_words(by_topic)


def _cliff_in_words(cliff: Cliff) -> str:
    """Return what the share of new documents that is judged, at the depth and one rank below, says of the depth."""
    if np.isnan(cliff.new_below):
        return ""
    ends = "the pool ends there" if cliff.shows else "there is no cliff, the pool hardly ends there"
    at, below = f"{cliff.new_at_depth:.1%}", f"{cliff.new_below:.1%}"
    return f" Of the new documents {at} are judged at the depth, {below} one rank below: {ends}."


def _range_in_words(table: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Return why it is open how many runs contributed, nothing where it is not."""
    least, most = (int(summary.iloc[0][name]) for name in ("least_contributors", "most_contributors"))
    if least == most:
        return ""
    needed, together, covered = (int((table["evidence"] == kind).sum()) for kind in (_NEEDED, _TOGETHER, _COVERED))
    parts = [f"{needed:,} {'is' if needed == 1 else 'are'} needed"] if needed else []
    parts += [f"at least {least - needed:,} of {together:,} that are needed together"] if together else []
    parts += [f"{covered:,} {'is' if covered == 1 else 'are'} covered"] if covered else []
    named = int(table["contributed"].sum())
    return f" Between {least:,} and {most:,} runs contributed, {named:,} are taken to have: {', '.join(parts)}."


def _apart_in_words(by_topic: pd.DataFrame) -> str:
    """Return which topics are set apart, nothing where none is."""
    apart = by_topic[by_topic["apart"]]
    if apart.empty:
        return ""
    return (
        f" All this holds for {len(by_topic) - len(apart):,} of {count(len(by_topic), 'topic')}. Set apart: "
        f"{count(len(apart), 'topic')} ({examples(apart['qid'])}), of which this pool does not explain the "
        f"{count(int(apart['judged'].sum()), 'judgment')}. Other runs were pooled there "
        "(infer_pool(runs, qrels.select(found.apart)) tries those of this field), or the judgments are a sample."
    )


def _numbers(summary: pd.DataFrame) -> tuple[int, int, int]:
    row = summary.iloc[0]
    return int(row["judged"]), int(row["explained"]), int(row["unjudged"])


def _per_cent(part: int, whole: int) -> str:
    """Write a share; one that is not all or nothing never looks like it."""
    if 0 < part < whole:
        return "below 0.1%" if part / whole < 0.001 else f"{min(part / whole, 0.999):.1%}"
    return "all" if part else "none"


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
            :class:`~pt_reuse.studies.infer_pool.infer_pool.Evidence`, one of

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
    condition = (
        "It holds for these runs in the order {order}, their judgments on {topics} topics, and a tolerance of "
        "{tolerance}."
    )
    limit = (
        "It says which of these runs explain the judgments, not which were pooled on record, and nothing of runs "
        "that are not here."
    )
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
        """Return in a line the depth, who contributed, on which topics, and how many judgments they explain."""
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
        pool = f"{depths_in_words(self.by_topic)}, {runs}"
        if not self.apart:
            return f"{pool}, {explained}"
        topics = f"on {len(self.topics):,} of {count(len(self.by_topic), 'topic')} ({examples(self.topics)})"
        apart = f"{count(len(self.apart), 'topic')} of {len(self.by_topic):,} set apart"
        return f"{pool}, {topics}; {explained} there; {apart}"

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
        return f"{self._head()} {self.explanation}{unsure} [{self._settings_line()}]"


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
    """Infer which runs contributed to the pool behind a set of judgments, and to which depth.

    A run *is judged to depth k* if all its first k documents of every topic are judged, except for a tolerated share.
    For each k, the first k documents of the runs judged to k form a pool; the depth is the k whose pool differs least
    from the judged set. Every pair of topic and document with any label counts as judged, also with -1 (pooled, not
    judged).

    Options that are not given are searched: orders of the runs, tolerances, one depth for all topics and one for each.
    The answer is the one that describes the judged set in the fewest bits; the page *Who was pooled* explains how. An
    exact answer ends the search. Topics whose judgments the pool of the contributors does not explain are set apart,
    and the answer is that of the others, if their pool has a clear depth. With a number or ``"common"`` as `depth`,
    which hold for all topics, none is set apart.

    Returns:
        InferredPool: ``.depth``, ``.contributors`` (for ``runs.with_metadata(pooled=...)``), ``.contributor_range``,
        ``.order``, ``.topics``, ``.apart``, ``.certainty``, ``.explanation``, ``.table``, ``.tried``, ``.by_topic``,
        ``.by_rank``, ``.unexplained``, ``.confusion``, ``.plot()``.

    Raises:
        InputError: no judgments, no topic in common, a depth or tolerance out of range, an order that the field does
            not know.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
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
    tell(relevant_only(qrels))

    with passes(runs.field, n_jobs) as going:
        asked = {name: given[name] for name in ("depth", "tolerance", "order", "verbose")}

        def searched(kept: NDArray[np.bool_], *, split: bool) -> Search:
            some = qrels if kept.all() else qrels.select(compress(qrels.topics, kept.tolist()))
            return Search(runs, some, going, **asked, split=split)

        search, whole, kept = _set_apart(partial(searched, split=False), len(qrels.topics))
        if BY_TOPIC in search.ways and not (search.best.fit.is_exact or (kept.all() and search.is_sharp)):
            # one depth for some topics may show more clearly than a depth for each
            split = _set_apart(partial(searched, split=True), len(qrels.topics))
            if split[0].is_clearer(search):
                search, whole, kept = split
        if kept.all():
            search.take_every_topic()
        return _inferred(runs, qrels, search, whole, ~kept)


def _set_apart(
    searched: Callable[[NDArray[np.bool_]], Search], n_topics: int
) -> tuple[Search, Search, NDArray[np.bool_]]:
    """Return the search over the topics that are of the pool, the one over all topics, and which are of the pool."""
    kept = np.ones(n_topics, dtype=bool)
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
    return search, whole, kept


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
    words, groups, contributors = run_evidence(fit, ranks.lengths > 0)
    table = evidence_table(runs, best, words, groups)
    depths = np.zeros(len(qrels.topics), dtype=np.int64)
    depths[~apart] = fit.depths
    every = Fitter(whole.ranks(best.order), best.fitter.tolerance, alike=best.fitter.alike)
    of_all = every.settle(depths) if apart.any() else fit
    unexplained = unexplained_documents(runs, qrels, every.ranks, of_all)
    by_topic = topic_table(qrels, every.ranks, of_all, unexplained, apart)
    used = fit.depths[ranks.has_topic]
    summary = totals(best, contributors, by_topic)
    better = best.fitter.own_depths() if search.ways == (COMMON,) and not fit.is_exact else fit
    certainty = certainty_of(summary, best)
    return InferredPool(
        table=table,
        by_topic=by_topic,
        by_rank=rank_table(ranks, fit.runs),
        unexplained=unexplained,
        confusion=confusion(table),
        summary=summary,
        tried=search.table(),
        depth=int(used[0]) if len(np.unique(used)) == 1 else None,
        order=best.order,
        contributors=table["name"][table["contributed"]].tolist(),
        certainty=certainty,
        explanation=explain(certainty, search, better, table, by_topic, summary),
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
            **noted(relevant_only(qrels)),
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
