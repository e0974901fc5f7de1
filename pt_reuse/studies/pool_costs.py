"""pool_costs: what a pool of each depth costs, what it finds, and how the runs rank by its judgments alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse.arrays.bootstrap import ranking_agreement, whole_changes
from pt_reuse.columns import Table
from pt_reuse.inputs import Inputs, interval_settings, settings_of
from pt_reuse.options import POOL_DEPTHS
from pt_reuse.plots.lines import plot_pool_costs
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.depth import checked_depths
from pt_reuse.pooling.fit import ranks_of_documents
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import Caveat, beware, none_relevant, one_run
from pt_reuse.scoring.scores import scores_of
from pt_reuse.studies.leave_one_out import scores_without
from pt_reuse.study import study

#: the shares of the known relevant documents for which a depth is looked for, and the one that the answer is about
SHARES, _NEEDED_SHARE = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0), 0.9


def _draw_found(result: PoolCosts, _: str, place: Place) -> Axes:
    label = "share of the known relevant documents"
    return plot_pool_costs(result.table, "share", title="What a pool of each depth finds", label=label, place=place)


def _draw_tau(result: PoolCosts, measure: str, place: Place) -> Axes:
    rows = result.agreement[result.agreement["measure"] == measure].merge(result.table[["depth", "documents"]])
    label = f"tau_b by {measure} to all judgments"
    return plot_pool_costs(rows, "tau_b", title="How a pool of each depth ranks", label=label, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PoolCosts(Result):
    """What a pool of each depth costs and finds, and how runs rank by its judgments alone.

    Attributes:
        rel: the lowest label that counts as relevant.
    """

    title = "Pool costs"
    answer = ("most_found", "{share:.0%} of the relevant documents: depth {depth}, {documents:document}")
    key = "depth documents"
    valid_for = "the judgments given, relevant: {relevant}; contributors: {contributors}."
    not_covered = "unjudged relevant documents, in these pools or beyond."
    plots = {"found": _draw_found, "tau_b": _draw_tau}
    columns = """
    documents     | Documents     | count  | documents of the pool
    per_topic     | Per topic     | tenths | documents of a topic with judgments
    share         | Share         | score  | of all known relevant documents, NaN where there are none
    new_documents | New documents | count  | documents beyond the depth before
    cost          | New per new relevant | tenths | new documents for each new relevant one, NaN where there is none
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "depth",
            "depth documents per_topic judged unjudged relevant share new_documents new_relevant cost",
            report="depth documents relevant share cost unjudged",
            noun="depths",
        ),
    ]
    agreement: Annotated[
        pd.DataFrame,
        Table(
            "depth and measure, the ranking by the judgments of the pool alone against the one by all judgments",
            "depth* measure tau_b~* gamma~ tau_ap_b~* max_drop~* max_rise~*",
            noun="depths",
        ),
    ]
    needed: Annotated[
        pd.DataFrame,
        Table(
            "share of the known relevant documents",
            "share relevant depth documents",
            about="The depth is the smallest whose pool has the share, <NA> where no depth does.",
            noun="shares",
        ),
    ]
    rel: int

    def most_found(self) -> pd.DataFrame:
        """Return the row of `needed` for nine tenths of the relevant documents."""
        return self.needed[self.needed["share"] == _NEEDED_SHARE]

    def answers(self) -> list[str]:
        """Return how deep a pool must be to find nine tenths, and what the deepest one here finds."""
        last = self.table.iloc[-1]
        if np.isnan(last["share"]):
            return ["No relevant document is known"]
        depth = f"Depth {last['depth']:,.0f}: {last['documents']:,.0f} documents, {last['share']:.0%} of the relevant"
        return [*(super().answers() if self.most_found()["depth"].notna().all() else []), depth]


Depths: TypeAlias = Annotated[
    Any,  # one or several
    options.Option(
        "of the pools, documents per run and topic; default 1, 2, 5, 10, 20, 50 and 100.",
        check=checked_depths,
        flag=options.Flag(metavar="LIST", kind="counts"),
    ),
]


@study(
    question="How deep must a pool be, and what does it cost?",
    command="profile pool-costs",
    aim="building",
    summary="what pools of several depths cost and find, and how runs rank by them",
    details="The judgments are restricted to each pool, and the ranking of all runs is compared with that by all.",
    group="pools",
    papers="[V00]_, [V22b]_",
    screen=("table", "agreement", "needed"),
)
def pool_costs(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    depths: Depths = POOL_DEPTHS,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    complete: options.Complete = True,
    without_topics: options.WithoutTopics = "error",
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> PoolCosts:
    """Compute what pools of several depths cost and find, and how the runs rank by their judgments alone.

    For each depth the judgments are restricted to the depth-k pool and all runs are scored again; the topic set stays.
    ``.needed`` has the depths at which a pool finds shares of the known relevant documents, down to the end of the
    runs.

    Raises:
        InputError: an invalid depth, an unknown measure or run, runs without any topic of the judgments.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = pool_costs(field.runs, field.qrels, depths=[1, 5, 10])
        >>> found.table[["depth", "documents", "relevant", "new_relevant"]]
           depth  documents  relevant  new_relevant
        0      1        127        89            89
        1      5        450       256           167
        2     10        894       387           131

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR; Zobel 1998,
    SIGIR. On TREC-8 ad hoc (71 contributors) a pool of depth 10 has 10,134 documents, and tau_b of AP is .9133.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, complete=complete, without_topics=without_topics)
    pooled, labels = inputs.pooled(None, contributors, pool_order), inputs.qrels.arrays.labels
    documents, who = inputs.qrels.arrays.documents, pooled.contributors
    longest = max(int(pooled.ranked.field.lengths[:, who.runs].max(initial=1)), 1)
    rank, _, of_runs = ranks_of_documents(pooled.ranked, documents, who, longest)
    found = {"judged": rank[labels >= 0], "relevant": rank[labels >= inputs.rel]}
    counts = {what: np.bincount(at[at > 0], minlength=longest + 1) for what, at in found.items()}
    sizes = pd.DataFrame({"documents": of_runs, **counts}).cumsum()
    n_relevant, n_topics = int((labels >= inputs.rel).sum()), int((documents.sizes > 0).sum())
    # runs that end before a depth bring all they have
    table = sizes.loc[np.minimum(depths, longest)].reset_index(drop=True)
    new, new_relevant = (table[name].diff().fillna(table[name]).astype(int) for name in ("documents", "relevant"))
    table.insert(0, "depth", depths)
    table.insert(2, "per_topic", table["documents"] / max(n_topics, 1))
    table.insert(4, "unjudged", table["documents"] - table["judged"])
    share = table["relevant"] / n_relevant if n_relevant else np.nan
    cost = new / new_relevant.where(new_relevant > 0)
    table = table.assign(share=share, new_documents=new, new_relevant=new_relevant, cost=cost)
    # for each share of the relevant documents the smallest depth whose pool has it, and its size
    wanted = np.ceil(np.round(np.array(SHARES) * n_relevant, 9)).astype(np.int64)
    depth = pd.Series(np.searchsorted(sizes["relevant"], wanted), dtype="Int64")
    depth = depth.mask((depth > longest) | (wanted == 0))
    size = depth.map(sizes["documents"]).astype("Int64")
    needed = pd.DataFrame({"share": SHARES, "relevant": wanted, "depth": depth, "documents": size})
    beware(one_run(len(inputs.runs)), none_relevant(inputs.qrels, inputs.rel), _mostly_unjudged(table))
    bootstrap = inputs.bootstrap(resamples, seed, confidence, n_jobs)

    data = (inputs.runs, inputs.qrels, inputs.measures)
    # the judgments of the pool of each depth as what all judgments lose
    gone = np.nonzero([(labels >= 0) & ((rank == 0) | (rank > depth)) for depth in depths])
    every = range(len(depths))
    scored = scores_without(inputs, gone, len(depths), whole=every, n_jobs=n_jobs, verbose=verbose)
    truth, *by_pool = (
        scores_of(*data, values, complete=complete).topic_means for values in (scored.base, *scored.whole.values())
    )
    agreement = [
        {"depth": depth, "measure": name, **ranking_agreement(truth[name], estimates[name], bootstrap)}
        for depth, estimates in zip(depths, by_pool, strict=True)
        for name in truth
    ]
    of_pool = {name: value for name, value in pooled.settings.items() if not name.startswith("depth")}
    return PoolCosts(
        table=table,
        agreement=whole_changes(pd.DataFrame(agreement)),
        needed=needed,
        rel=inputs.rel,
        settings=settings_of(of_pool, inputs, interval_settings(bootstrap)),
    )


def _mostly_unjudged(table: pd.DataFrame) -> Iterator[Caveat]:
    """Yield a caveat where more than half of what a depth adds was never judged: it would find more than is known."""
    blind = table[table["unjudged"].diff().fillna(table["unjudged"]) > 0.5 * table["new_documents"]]
    if len(blind):
        first, last = blind.iloc[0], table.iloc[-1]
        text = f"from depth {first['depth']:,.0f} on most documents that a pool adds are unjudged: it would find more."
        yield Caveat(f"not judged to depth {last['depth']:,.0f}", text)
