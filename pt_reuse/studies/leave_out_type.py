"""leave_out_type: what is lost when a type of system takes no part, and which runs would have found it all the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import choice, count, names
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.plots.bars import plot_recovery
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.fit import find_uniques
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.result import KeyFigures, Result, cells, records
from pt_reuse.studies.by_type import types_of
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques
from pt_reuse.study import study

#: types of which the answer speaks
_TOLD = 3


def _draw(result: LeftOutTypes, _: str, place: Place, left_out: str | None = None, top: int | None = None) -> Axes:
    name = result.chosen(left_out)
    rows = result.recovery[result.recovery["left_out"] == name]
    lost = int((result.documents["left_out"] == name).sum())
    return plot_recovery(rows, left_out=name, lost=lost, top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeftOutTypes(Result):
    """What leaving out each type of system loses, what that does to the ranking, and who recovers how much of it.

    Attributes:
        uniques: leave-out-uniques by type, with the scores under all judgments and every further table.
    """

    title = "Types left out"
    valid_for = "the types {left out}; depth-{depth} pool, contributors: {contributors}; relevant: {relevant}."
    not_covered = "types without a run here, and whether other runs rank the lost documents high enough."
    plots = {"recovery": _draw}
    key = (KeyFigures(("tau_b", "max_drop", "lost", "recovered"), row="without {type}"),)
    columns = """
    lost         | Lost          | count | relevant documents that the type alone contributed to the pool
    recovered    | Recovered     | count | how many of these other types retrieve; in a row of a run, how many it does
    dropped      | Dropped run   |       | the run with the largest drop
    left_out     | Left out      |       | the type that is left out
    median_rank  | Median rank   | count | the median of the ranks at which the run has lost documents
    deepest_rank | Deepest rank  | count | the largest of them; of a pooled run all are below the depth of the pool
    runs         | Runs          | count | runs of the type; in a row of a document, those of others that retrieve it
    best_rank    | Best rank     | count | the best rank of a lost document among them, missing where none retrieves it
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and left-out type, all runs ranked without the lost documents",
            "type* measure runs lost* recovered* tau_b~* gamma~* tau_ap_b~ max_drop~* dropped",
        ),
    ]
    recovery: Annotated[
        pd.DataFrame,
        Table(
            "left-out type and run of another type, most recovered first",
            "left_out name* team type* pooled recovered* share* median_rank* deepest_rank*",
            caption="Who retrieves the relevant documents that only {left_out} runs contributed.",
            select={"left_out": None},
        ),
    ]
    documents: Annotated[
        pd.DataFrame,
        Table("lost document", "left_out qid docno label runs best_rank", select={"left_out": None}),
    ]
    uniques: LeaveOutUniques

    def answers(self) -> list[str]:
        """Return for each of the first types how runs rank without it, and what is lost."""
        lines = []
        for name, rows in list(self.table.groupby("type", sort=False))[:_TOLD]:
            taus = ", ".join(f"{row['measure']} {cells(row, self.columns)['tau_b']}" for row in records(rows))
            lost, recovered = rows["lost"].iloc[0], rows["recovered"].iloc[0]
            found = f"{count(lost, 'relevant document')} lost, {recovered:,} of them in other runs"
            lines.append(f"Without {name}: tau_b {taus}; {found}")
        return lines

    def chosen(self, left_out: str | None) -> str:
        """Return a left-out type, the one that loses most for None."""
        kinds = self.table["type"]
        if left_out is not None:
            return choice("left_out", left_out, list(dict.fromkeys(kinds)))
        return str(kinds.iloc[int(self.table["lost"].to_numpy().argmax())])


@study(
    question="What do systems lose if none of their type was pooled?",
    aim="fair",
    group="pools",
    page="studies/by-type",
    papers="[Y20]_",
)
def leave_out_type(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    types: Annotated[
        str | Iterable[str] | None,
        options.Option("the types to leave out, one at a time; default each.", check=partial(names, "types")),
    ] = None,
    depth: options.Depth = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    verbose: options.Verbose = False,
) -> LeftOutTypes:
    """Leave a type of system out of the pool, and show what is lost and which other runs would have found it.

    The pool has all types but one, where :func:`by_type` makes pools of one type. The numbers are those of
    :func:`leave_out_uniques` with ``by="type"``, and in addition which runs recover the lost documents. Every run can
    recover documents.

    Raises:
        InputError: as of :func:`leave_out_uniques`, or an unknown type.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> left = ptr.pools.leave_out_type(field.runs, field.qrels, "AP", types="manual", depth=field.depth)
        >>> left.table[["lost", "recovered", "max_drop"]].values.tolist()
        [[29, 29, 4]]

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?,
    https://arxiv.org/abs/2201.11086, section 5: TREC-8 without its manual runs, where this loses 1,130 relevant
    documents, with tau_b .9806 of MAP and gamma .9961 of ``P@10``.
    """
    field, given = as_runs_before(runs, qrels)
    judgments, kinds = as_qrels(given), types_of(field)
    left_out = [choice("types", name, kinds.names) for name in dict.fromkeys(types or kinds.names)]
    how: dict[str, Any] = {"depth": depth, "rel": rel, "contributors": contributors, "pool_order": pool_order}
    how |= {"resamples": resamples, "confidence": confidence, "seed": seed, "verbose": verbose}
    uniques = leave_out_uniques(field, judgments, measures, by="type", **how)
    who = contributors_of(field, contributors)
    found = find_uniques(field, judgments, kinds, who, depth=uniques.depth, pool_order=pool_order)
    owner, row = found.of_label(uniques.rel)
    lost = {name: np.sort(row[owner == kinds.names.index(name)]) for name in left_out}
    parts = [_recovered(field, judgments, rows, name) for name, rows in lost.items()]
    recovery, documents = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    again = documents[documents["runs"] > 0].groupby("left_out").size()
    table = uniques.table[uniques.table["type"].isin(left_out)].reset_index(drop=True)
    table = table.rename(columns={"removed": "lost"}).drop(columns=["unique", "unique_relevant"])
    table.insert(table.columns.get_loc("lost") + 1, "recovered", table["type"].map(again).fillna(0).astype(int))
    settings = {"left out": ", ".join(left_out), "recovered": "at any rank", **uniques.settings}
    return LeftOutTypes(table=table, recovery=recovery, documents=documents, uniques=uniques, settings=settings)


def _recovered(runs: RunSet, qrels: Qrels, rows: NDArray[np.int64], name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return who recovers how much of the documents lost without a type, and of each document who does."""
    table, wanted = runs.run_table, np.zeros(len(qrels), dtype=bool)
    other = (table["type"] != name).to_numpy()
    wanted[rows] = True
    hits = HitIndex(runs.field, qrels.arrays.documents).gather(range(len(qrels.topics)), wanted)
    found = pd.DataFrame({"run": hits.of % len(runs), "row": hits.row, "rank": hits.rank})
    found = found[other[found["run"]]]
    of_run = found.groupby("run")["rank"].agg(["size", "median", "max"]).reindex(np.flatnonzero(other))
    recovered = of_run["size"].fillna(0).to_numpy(dtype=np.int64)
    recovery = table.loc[other, ["name", "team", "type", "pooled"]].assign(
        recovered=recovered,
        share=recovered / len(rows) if len(rows) else np.nan,
        median_rank=of_run["median"].to_numpy(dtype=float),
        deepest_rank=of_run["max"].astype("Int64").array,
    )
    recovery.insert(0, "left_out", name)
    of_row = found.groupby("row").agg(runs=("run", "size"), best_rank=("rank", "min")).reindex(rows)
    documents = qrels.arrays.documents.take(rows)
    return recovery.sort_values("recovered", ascending=False, kind="stable", ignore_index=True), pd.DataFrame(
        {
            "left_out": name,
            "qid": documents.qids(),
            "docno": documents.docnos(),
            "label": qrels.arrays.labels[rows].astype(np.int64),
            "runs": of_row["runs"].fillna(0).to_numpy(dtype=np.int64),
            "best_rank": of_row["best_rank"].astype("Int64").array,
        }
    )
