"""infer_pool: which runs must have been pooled, and to which depth; what speaks for each, and how certain that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from enum import Enum
from functools import partial
from itertools import chain, compress
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet, as_runs_before
from pt_reuse.errors import InputError, choice, count, examples, fraction
from pt_reuse.inputs import read_judgments, settings_of
from pt_reuse.options import ORDERS
from pt_reuse.plots.lines import plot_judged_by_rank
from pt_reuse.pooling.depth import checked_depth as depth_of_pool
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import Caveat, beware
from pt_reuse.studies.pool_search import (
    BY_TOPIC,
    MOST_UNJUDGED,
    Curves,
    Fit,
    Fitter,
    JudgedRanks,
    Search,
    Try,
    depth_range,
)
from pt_reuse.study import study

Bools = NDArray[np.bool_]

#: what speaks for a run, from proof to none
EVIDENCE = ("needed", "needed together", "covered", "not pooled", "no documents")
_NEEDED, _TOGETHER, _COVERED, _NOT_POOLED, _ = EVIDENCE
#: where a judged document that the pool does not have comes from
_ORIGINS = ("below the depth", "other run", "no run")
_NODES = 10_000  # of the search for the fewest runs


class Certainty(Enum):
    """How nearly the pool of the inferred runs is the judged set, from all to nothing."""

    EXACT = "exact"
    NEARLY = "nearly exact"
    MOST = "most"
    PARTIAL = "partial"
    NONE = "none"


#: the least share, of the judgments that are explained and of the pool that is judged, for each but the last
_LEAST = {Certainty.NEARLY: 0.95, Certainty.MOST: 0.5, Certainty.PARTIAL: 0.0}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InferredPool(Result):
    """Which runs must have been pooled, and to which depth, as far as the judgments tell.

    A run is *needed* if it has judged documents in the pool that no other run in it has; of each group *needed
    together* at least one contributed; a *covered* one is judged as deep, but the runs above have all its documents;
    one *not pooled* has more unjudged documents down to the depth than tolerated, or alone more than judged ones;
    one of *no documents* retrieves nothing for these topics. The pool is that of the first three, the
    runs *judged as deep*. All tables but ``by_topic`` and ``unexplained`` are of the topics that are not set apart.

    Attributes:
        depth: the depth of the topics that are not set apart, None when they differ; 0 when no pool was found.
        order: the order of the runs in which the pool was found.
        contributors: the runs that are taken to have contributed, those ``contributed`` in `table`.
        certainty: how far the pool explains the judgments and the judgments fill the pool.
    """

    title = "Inferred pool"
    valid_for = "these runs in the order {order}; topics judged: {topics}; tolerance {tolerance}."
    not_covered = "who was pooled on record, and runs that are not here."
    answer = ("summary", "")
    key = "depth explained unjudged least_contributors most_contributors depth_up_to topics_apart"
    plots = {"ranks": lambda a, _, place: plot_judged_by_rank(a.by_rank, a.by_topic, place=place)}
    columns = """
    evidence        | Evidence        |        | what speaks for it, see above
    group           | Group           | count  | its group of runs needed together, of which one at least contributed
    judged_to       | Judged to       | count  | largest depth to which it is judged
    entries         | Documents       | count  | its documents down to the depth; by rank of all runs judged as deep
    missing         | Unjudged        | count  | how many of them are unjudged
    first_missing   | First unjudged  | count  | its best rank with an unjudged document
    alone           | Alone           | count  | judged documents down to the depth that no other run of the pool has
    alone_          | alone           |        | that no other run of the pool has
    nearest         | Nearest         |        | the contributor with most of its documents
    common          | In common       | score  | their share
    judged          | Judged          | number | judged documents; by rank the share that is judged
    explained       | Explained       | count  | judged documents in the pool
    deeper          | Below           | count  | judged documents that a run of the pool has below the depth
    other           | Other runs      | count  | judged documents that only other runs have
    nowhere         | No run          | count  | judged documents that no run has
    apart           | Set apart       |        | whether it is set apart; then its depth is 0
    rank            | Rank            | count  | the rank
    other_          | other runs      |        | of all other runs
    new             | New             | count  | documents that no run judged as deep has at a better rank
    new_            | new             |        | of the documents that are new there; falls at a pool's depth
    at_depth        | At the depth    | score  | judged share of what is new at the depth
    below           | One rank below  | score  | judged share of what is new one rank below
    origin          | Origin          |        | ``"below the depth"``, ``"other run"``, ``"no run"``
    best_rank       | Best rank       | count  | the best rank at which a run has it
    needed          | Needed          | count  | runs with this evidence, as the next ones
    needed_together | Needed together | count  | see there
    covered         | Covered         | count  | see there
    not_pooled      | Not pooled      | count  | see there
    no_documents    | No documents    | count  | see there
    depth_up_to     | Depth up to     | count  | the largest depth for all topics that fits as well
    least_          | least           |        | the fewest that have all judged documents of the pool
    most_           | most            |        | all runs judged as deep
    contributors    | Contributors    | count  | how many runs contributed
    bits            | Bits            | tenths | what it takes to write the judged set down
    topics_apart    | Topics apart    | count  | topics that are set apart
    judged_apart    | Judged apart    | count  | the judgments there
    order           | Order           |        | the order of the runs
    tolerance       | Tolerance       | number | share of a run that may be unjudged
    way             | Depth by        |        | how the depth came about
    depth_from      | Least depth     | count  | the least depth of a topic
    depth_to        | Largest depth   | count  | the largest depth of a topic
    best            | Best            |        | whether this is the answer given
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "run, in field order",
            "name team type pooled contributed evidence group judged_to entries missing first_missing alone "
            "alone_unjudged nearest common",
            report="name evidence judged_to missing first_missing? alone",
            noun="runs",
        ),
    ]
    by_topic: Annotated[pd.DataFrame, Table("topic", "qid depth judged explained deeper other nowhere unjudged apart")]
    by_rank: Annotated[pd.DataFrame, Table("rank", "rank entries judged other_entries other_judged new new_judged")]
    unexplained: Annotated[pd.DataFrame, Table("judged document outside the pool", "qid docno label origin best_rank")]
    confusion: Annotated[pd.DataFrame, Table("record", "pooled needed needed_together covered not_pooled no_documents")]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "answer",
            "depth judged explained deeper other nowhere unjudged new_at_depth new_below depth_up_to "
            "least_contributors most_contributors bits topics_apart judged_apart",
            report="least_contributors most_contributors judged explained unjudged new_below",
            caption="Inferred pool of depth {depth}, runs in the order {order}.",
        ),
    ]
    tried: Annotated[
        pd.DataFrame,
        Table(
            "answer tried", "order* tolerance* way* depth_from depth_to* runs explained* unjudged new_below bits* best"
        ),
    ]
    depth: int | None
    order: str
    contributors: list[str]
    certainty: Certainty

    @property
    def contributor_range(self) -> tuple[int, int]:
        """Return how many runs contributed, at least and at most, if the depths are right."""
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

    def words(self) -> dict[str, Any]:
        """Return what captions and answers speak of, with the depth of every topic."""
        return {**super().words(), "depth": _depths_in_words(self.by_topic)}

    def answers(self) -> list[str]:
        """Return depth and contributors, where the pool ends, and which topics are set apart."""
        row, (least, most) = self.summary.iloc[0], self.contributor_range
        explained = f"{row['explained']:,.0f} of {count(int(row['judged']), 'judgment')} explained"
        if self.certainty is Certainty.NONE:
            deep = f" to depth {self.depth:,}" if self.depth else ""
            return [f"no pool found: no run is judged closely enough{deep}; {explained}"]
        number, apart = f"{least:,}" if least == most else f"{least:,} to {most:,}", self.apart
        kinds = ", ".join(f"{n:,} {kind}" for kind in EVIDENCE[:3] if (n := (self.table["evidence"] == kind).sum()))
        lines = [
            f"depth {_depths_in_words(self.by_topic)}; {number} of {count(len(self.table), 'run')} contributed "
            f"({kinds}); {explained}: {self.certainty.value}"
        ]
        if self.certainty is not Certainty.EXACT:
            at, below = row["new_at_depth"], row["new_below"]
            ends = f"; of new documents {at:.1%} are judged at the depth, {below:.1%} one rank below"
            lines += [
                f"{count(int(row['unjudged']), 'document')} of the pool unjudged{'' if np.isnan(at + below) else ends}"
            ]
        if apart:
            topics = f"{count(len(apart), 'topic')} of {len(self.by_topic):,} set apart ({examples(apart)})"
            lines += [f"{topics}: the pool does not explain their {count(int(row['judged_apart']), 'judgment')}"]
        return lines

    def _shown(self) -> pd.DataFrame:
        """Return the table with the runs first of which it is open whether they were pooled."""
        rows = self.table.sort_values("evidence", key=lambda words: ~words.isin([_COVERED, _TOGETHER]), kind="stable")
        return rows[self.declared["table"].reported_of(rows)]


def _depths_in_words(by_topic: pd.DataFrame) -> str:
    low, high = depth_range(by_topic["depth"].to_numpy())
    return f"{high}" if low == high else f"{low} to {high} by topic"


def _checked_tolerance(tolerance: Any) -> float:
    share = fraction("tolerance", tolerance)
    if share == 1:
        raise InputError("tolerance must be below 1: at 1, every run is judged.", argument="tolerance")
    return share


@study(question="Who was pooled, and to which depth?", aim="fair", command="infer-pool", page="who-was-pooled")
def infer_pool(
    runs: options.Runs,
    qrels: options.Judgments,
    *,
    depth: Annotated[
        int | str | None,
        options.Option(
            'None (default) tries one depth for all topics (``"common"``) and one for each (``"topic"``, for pools as '
            "deep as a budget allowed); a whole number is taken as it is.",
            check=lambda depth: (
                choice("depth", depth, ("common", "topic")) if isinstance(depth, str) else depth_of_pool(depth)
            ),
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        options.Option(
            "share of a run's documents down to the depth that may be unjudged, at least 0 (strict) and below 1. None "
            "(default) tries 0, .01, .02, .05 and .1, and leaves out runs that lack far more judgments than the "
            "others.",
            check=_checked_tolerance,
        ),
    ] = None,
    order: Annotated[
        str | None,
        options.Option(
            'the order of documents: ``"trec_eval"``, ``"trec_eval9"``, ``"rank"``, ``"file"``. None (default) tries '
            "the one in which the field is pooled, then the others.",
            choices=tuple(ORDERS),
        ),
    ] = None,
    verbose: options.Verbose = False,
) -> InferredPool:
    """Infer which runs contributed to the pool behind a set of judgments, and to which depth.

    A run *is judged to depth k* if all its first k documents of every topic are judged, except for a tolerated share.
    For each k, the first k documents of the runs judged to k form a pool; the depth is the k whose pool differs least
    from the judged set. Every pair of topic and document with any label counts as judged, also with -1 (pooled, not
    judged).

    Options that are not given are searched. The answer is the one that describes the judged set in the fewest bits; an
    exact one ends the search. Topics whose judgments the pool of the contributors does not explain are set apart, and
    the answer is that of the others, if their pool has a clear depth. With a number or ``"common"`` as `depth`, none is
    set apart.

    Args:
        runs: the field, in any form (:doc:`runs`); the more of the submitted runs, the surer.

    Returns:
        InferredPool: ``.depth``, ``.contributors`` (for ``runs.with_metadata(pooled=...)``), ``.contributor_range``,
        ``.order``, ``.topics``, ``.apart``, ``.certainty``, the tables, ``.plot()``.

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
    field, given = as_runs_before(runs, qrels)
    people = read_judgments(given)
    if not len(people):
        raise InputError("the qrels hold no judgments, so there is no pool to infer.", argument="qrels")
    if not set(field.topics) & set(people.topics):
        topics = f"runs {examples(field.topics)}; qrels {examples(people.topics)}"
        raise InputError(f"the runs and the qrels have no topic in common: {topics}.", argument="qrels")
    asked: dict[str, Any] = {"depth": depth, "tolerance": tolerance, "order": order, "verbose": verbose}

    def searched(kept: Bools, *, split: bool) -> Search:
        some = people if kept.all() else people.select(compress(people.topics, kept.tolist()))
        return Search(field, some, **asked, split=split)

    search, whole, kept = _set_apart(partial(searched, split=False), len(people.topics))
    if BY_TOPIC in search.ways and not (search.best.fit.is_exact or (kept.all() and search.is_sharp)):
        # one depth for some topics may show more clearly than a depth for each
        split = _set_apart(partial(searched, split=True), len(people.topics))
        if split[0].is_clearer(search):
            search, whole, kept = split
    if kept.all():
        search.take_every_topic()
    best, fit, apart = search.best, search.best.fit, ~kept
    depths = np.zeros(len(people.topics), dtype=np.int64)
    depths[kept] = fit.depths
    every = Fitter(whole.ranks(best.order), best.fitter.tolerance, alike=best.fitter.alike)
    of_all = every.settle(depths) if apart.any() else fit
    words, group, least = _evidence(fit, best.fitter.ranks.lengths > 0)
    table = _run_table(field, best, words, group)
    unexplained = _unexplained(people, every.ranks, of_all)
    by_topic = _topic_table(people, of_all, unexplained, apart)
    summary = _summary(best, by_topic, least)
    if may_lack := _may_lack(summary, best):
        most = search.tolerances[-1]
        larger = min(max(2 * most, MOST_UNJUDGED), (1 + most) / 2)
        note = f"topics set apart may lack judgments of the same pool (tolerance={larger:g} allows it)"
        beware([Caveat(note, f"{note}.")])
    n_pooled, unknown = int(field.pooled.sum()), int(field.pooled.isna().sum())
    on_record = f"{n_pooled:,} of {count(len(field), 'run')} pooled{f', {unknown:,} not on record' if unknown else ''}"
    return InferredPool(
        table=table,
        by_topic=by_topic,
        by_rank=_rank_table(best.fitter.ranks, fit.runs),
        unexplained=unexplained,
        confusion=_confusion(table),
        summary=summary,
        tried=search.table(),
        depth=None if summary["depth"].isna().all() else int(summary["depth"].iloc[0]),
        order=best.order,
        contributors=table["name"][table["contributed"]].tolist(),
        certainty=_certainty(summary, best, may_lack),
        settings=settings_of(
            field,
            {"set apart": int(apart.sum())} if apart.any() else {},
            depth=f"{_depths_in_words(by_topic)} ({best.way})",
            tolerance=best.fitter.tolerance,
            order=best.order,
            tried=len(search.tried),
            topics=len(people.topics),
            judged="any label",
            record="not on record" if unknown == len(field) else on_record,
        ),
    )


def _set_apart(searched: Callable[[Bools], Search], n_topics: int) -> tuple[Search, Search, Bools]:
    """Return the search over the topics that are of the pool, the one over all topics, and which are of the pool."""
    kept = np.ones(n_topics, dtype=bool)
    search = whole = searched(kept)
    while (apart := search.best.apart).any():
        kept[np.flatnonzero(kept)[apart]] = False
        search = searched(kept)
    best = search.best
    if not kept.all() and best.fit.runs.any():
        # those that were set apart and that the pool of the others explains all the same
        depths = np.zeros(n_topics, dtype=np.int64)
        depths[kept] = best.fit.depths
        curves = Curves(*whole.ranks(best.order).counted(best.fit.runs), best.fitter.tolerance)
        back = ~kept & (curves.with_others(depths) > 0)
        again = searched(kept | back) if back.any() else search
        # not where they take along others, or blur what the pool of the others shows
        if back.any() and not again.best.apart.any() and again.is_sharp:
            kept, search = kept | back, again
    if not (kept.all() or search.is_sharp):
        kept[:], search = True, whole
    return search, whole, kept


def _evidence(fit: Fit, has_documents: Bools) -> tuple[NDArray[np.object_], NDArray[np.int64], int]:
    """Return (runs,) the evidence and the group of runs needed together, 0 for none; how many contributed at least."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse.csgraph import connected_components

    tops, needed = fit.tops, fit.runs & (fit.tops.alone(fit.runs)[0] > 0)
    # the judged documents of the pool that no needed run has
    left_open = tops.has[:, tops.judged & (tops.times(fit.runs) > 0) & (tops.times(needed) == 0)]
    together = fit.runs & (left_open.sum(axis=1) > 0)
    has, group, least = left_open[together], np.zeros(len(needed), dtype=np.int64), int(needed.sum())
    if together.any():
        # runs that share a document are one group
        group[together] = connected_components(has @ has.T)[1] + 1
        # how few runs have every document; where the search ends early, its bound holds all the same
        of_document = np.unique(has.toarray().T > 0, axis=0).astype(float)
        ones, covers = np.ones(of_document.shape[1]), LinearConstraint(of_document, lb=1)
        limit = {"node_limit": _NODES}
        chosen = milp(ones, integrality=ones, bounds=Bounds(0, 1), constraints=covers, options=limit)
        least += max(1, int(np.ceil(chosen.mip_dual_bound - 1e-6)))
    kind = np.select([needed, together, fit.runs, has_documents], [0, 1, 2, 3], default=4)
    return np.array(EVIDENCE, dtype=object)[kind], group, least


def _frame(table: str, *columns: Any) -> pd.DataFrame:
    """Return a table of the result, its columns in the order in which they are declared."""
    names = [name for name, _ in InferredPool.declared[table].names]
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _run_table(runs: RunSet, best: Try, words: NDArray[np.object_], group: NDArray[np.int64]) -> pd.DataFrame:
    ranks, tops = best.fitter.ranks, best.fit.tops
    covered = [] if (words == _NOT_POOLED).any() else [_COVERED]
    contributed = np.isin(words.astype(str), [_NEEDED, _TOGETHER, *covered])
    names = np.array(runs.names, dtype=object)
    nearest, common = np.full(len(runs), None, dtype=object), np.full(len(runs), np.nan)
    shared = (tops.has @ tops.has[contributed].T).toarray()  # (runs, contributors) documents in common
    shared[np.flatnonzero(contributed), np.arange(int(contributed.sum()))] = 0  # a run is not its own nearest
    some = shared.max(axis=1, initial=0) > 0
    if some.any():
        nearest[some] = names[contributed][shared[some].argmax(axis=1)]
        common[some] = shared[some].max(axis=1) / tops.entries[some]
    # lists differ in length: the first unjudged rank of a run is where its count of missing documents leaves 0
    first = (ranks.counts[1] == 0).sum(axis=1)
    return _frame(
        "table",
        *(runs.run_table[name] for name in ("name", "team", "type", "pooled")),
        *(contributed, pd.Series(words, dtype=object), pd.Series(group, dtype="Int64").mask(group == 0)),
        *(best.fitter.judged_to, tops.entries, tops.missing),
        pd.Series(first, dtype="Int64").mask(first > ranks.longest),
        *(*tops.alone(best.fit.runs), pd.Series(nearest, dtype=object), common),
    )


def _unexplained(qrels: Qrels, ranks: JudgedRanks, fit: Fit) -> pd.DataFrame:
    tops, judgments = fit.tops, qrels.arrays
    explained, deeper = np.zeros((2, len(qrels)), dtype=bool)
    explained[tops.row[tops.judged & (tops.times(fit.runs) > 0)]] = True
    best_rank, every = np.zeros(len(qrels), dtype=np.int64), np.ones(ranks.n_runs, dtype=bool)
    for topic in ranks.each():
        judged = np.flatnonzero(topic.judged)
        best_rank[topic.row[judged]] = topic.best(every)[judged]
        deeper[topic.row[judged]] = topic.best(fit.runs)[judged] > 0
    rows = np.flatnonzero(~explained)
    documents, rank = judgments.documents.take(rows), best_rank[rows]
    origin = np.select([deeper[rows], rank > 0], _ORIGINS[:2], default=_ORIGINS[2]).astype(object)
    return _frame(
        "unexplained",
        *(documents.qids(), pd.Series(documents.docnos(), dtype=object), judgments.labels[rows].astype(np.int64)),
        *(origin, pd.Series(rank, dtype="Int64").mask(rank == 0)),
    )


def _topic_table(qrels: Qrels, fit: Fit, unexplained: pd.DataFrame, apart: Bools) -> pd.DataFrame:
    tops, topics, judged = fit.tops, qrels.topics, qrels.arrays.documents.sizes
    left = pd.crosstab(unexplained["qid"], unexplained["origin"]).reindex(index=topics, columns=_ORIGINS, fill_value=0)
    outside = left.to_numpy(dtype=np.int64).T
    unjudged = np.bincount(tops.topic[(tops.times(fit.runs) > 0) & ~tops.judged], minlength=len(topics))
    explained = judged - outside.sum(axis=0)
    return _frame("by_topic", topics, fit.depths, judged, explained, *outside, unjudged, apart)


def _rank_table(ranks: JudgedRanks, deep: Bools) -> pd.DataFrame:
    entries, missing = np.diff(ranks.counts)
    new, new_judged = np.zeros((2, ranks.longest + 1), dtype=np.int64)
    for topic in ranks.each():
        rank = topic.best(deep)
        new += np.bincount(rank, minlength=ranks.longest + 1)
        new_judged += np.bincount(rank[topic.judged], minlength=ranks.longest + 1)
    with np.errstate(invalid="ignore"):  # of no document there is no share
        of_runs = [(n := entries[some].sum(axis=0), (n - missing[some].sum(axis=0)) / n) for some in (deep, ~deep)]
        return _frame("by_rank", np.arange(1, ranks.longest + 1), *chain(*of_runs), new[1:], new_judged[1:] / new[1:])


def _summary(best: Try, by_topic: pd.DataFrame, least: int) -> pd.DataFrame:
    """Return the numbers over all topics that are not set apart, one row."""
    fit, apart, used = best.fit, by_topic["apart"], np.unique(best.fit.depths[best.fitter.ranks.has_topic])
    sums = by_topic.loc[~apart, ["judged", "explained", "deeper", "other", "nowhere", "unjudged"]].sum()
    numbers = float(used[0]) if len(used) == 1 else np.nan, *sums, *astuple(best.cliff), fit.up_to, least
    of_apart = int(apart.sum()), int(by_topic.loc[apart, "judged"].sum())
    return _frame("summary", *([number] for number in (*numbers, int(fit.runs.sum()), fit.bits, *of_apart)))


def _confusion(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs by what is on record and by evidence; the last row, if any are, is of those not on record."""
    recorded, unknown = table["pooled"], table["pooled"].isna()
    rows = ([] if unknown.all() else [True, False]) + ([pd.NA] if unknown.any() else [])
    chosen = [unknown if row is pd.NA else (recorded == row).fillna(False) for row in rows]
    counts = [table["evidence"][some].value_counts().reindex(EVIDENCE, fill_value=0) for some in chosen]
    frame = pd.DataFrame(counts, columns=EVIDENCE).reset_index(drop=True).rename(columns=lambda n: n.replace(" ", "_"))
    frame.insert(0, "pooled", pd.array(rows, dtype="boolean"))
    return frame


def _certainty(summary: pd.DataFrame, best: Try, may_lack: bool) -> Certainty:
    """Return how certain a pool is; where the judged documents do not end at its depth, it is partial."""
    judged, explained, unjudged = (int(summary[name].iloc[0]) for name in ("judged", "explained", "unjudged"))
    if not best.fit.runs.any():
        return Certainty.NONE
    if explained == judged and not unjudged:
        return Certainty.EXACT
    if may_lack or not (best.cliff.is_there or best.cliff.is_sharp):
        return Certainty.PARTIAL
    share = min(explained / judged, explained / (explained + unjudged))
    return next(certainty for certainty, least in _LEAST.items() if share >= least)


def _may_lack(summary: pd.DataFrame, best: Try) -> bool:
    """Return whether the topics that are set apart may be of the same pool, and only lack more of its judgments."""
    row, limit = summary.iloc[0], max(best.fitter.tolerance, MOST_UNJUDGED)
    return bool(row["topics_apart"]) and row["unjudged"] > limit / 2 * (row["explained"] + row["unjudged"])
