"""The kinds of published figures: how each is computed, with which parameters, from what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._choices import ORDERS
from pt_reuse.arrays.correlation import correlations
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.studies.uniques import LeaveOutUniques
from pt_reuse.verification.parameters import (
    COMPLETE,
    CONTRIBUTORS,
    GRADE,
    TRUTH,
    CheckName,
    Given,
    Parameter,
    any_name,
    counts_of_runs,
    finite_numbers,
    first_and_last,
    listed,
    measures,
    one_of,
    ranks,
    type_of,
    whole_number,
)
from pt_reuse.verification.replay import (
    FILE_TIES,
    Computed,
    NotComputedError,
    PoolKey,
    Reason,
    Replay,
    because,
    by_name,
)


def count_judgments(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count judgments: in all, by label, by topic."""
    summary = replay.qrels.counts(rel=given["rel"])
    judged, density = summary["judged"], summary["density"]
    labels = summary[["judged", "relevant", "unjudged", "junk"]].sum().astype(int)
    return Computed(
        {
            "topics": len(summary),
            "judgments": len(replay.qrels),
            **labels,
            "smallest topic": int(judged.min()),
            "largest topic": int(judged.max()),
            "mean topic": float(judged.mean()),
            "fewest relevant": int(summary["relevant"].min()),
            "mean density": float(density.mean()),
            "largest density": float(density.max()),
            "topics denser than 1/3": int((density > 1 / 3).sum()),
            "topics denser than 1/2": int((density > 1 / 2).sum()),
        }
    )


def count_prefixes(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the judged or relevant documents whose docno begins with each name."""
    frame = replay.qrels.to_frame()
    docnos = frame.loc[frame["label"] >= (given["rel"] if given["count"] == "relevant" else 0), "docno"]
    return Computed({name: int(docnos.str.startswith(name).sum()) for name in names})


_NO_RECORD = because("who was pooled is not on record")


def count_runs(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count runs, teams, topics and rows of run files, and the runs of each type."""
    runs = replay.runs(given["order"])
    numbers = {"runs": len(runs), "topics": len(runs.topics), "rows": runs.field.n_rows}
    reasons: dict[str, Reason] = {}
    if no_team := lacking(runs.run_table, "team"):
        reasons["teams"] = no_team
    else:
        numbers["teams"] = len(runs.teams)
    if runs.pool_is_on_record:
        numbers["pooled runs"] = int(runs.pooled.sum())
    else:
        reasons["pooled runs"] = _NO_RECORD
    of_types = [name for name in names if name not in numbers and name not in reasons]
    types = runs.run_table["type"].value_counts()
    if no_type := lacking(runs.run_table, "type"):
        reasons.update(dict.fromkeys(of_types, no_type))
    else:
        numbers.update({name: int(types.get(type_of(name), 0)) for name in of_types})
    return Computed(numbers, reasons)


def score_runs(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Score each run; of several measures, take the mean of the scores."""
    return Computed(by_name(replay.means(given["order"], given["measure"], given["complete"])))


def summarise_scores(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the largest, smallest, mean or median score of the runs of each type or team, or pooled and unpooled."""
    means = replay.means(given["order"], given["measure"], given["complete"])
    runs = replay.runs(given["order"])
    table = runs.run_table.set_index("name")
    reasons: dict[str, Reason] = {}
    if given["by"] == "all":
        group = pd.Series("all", index=means.index)
    elif given["by"] == "pooled":
        if not runs.pool_is_on_record:
            raise NotComputedError(_NO_RECORD)
        group = table["pooled"].map({True: "pooled", False: "unpooled"})
        reasons = {name: because(f"no run is {name}") for name in ("pooled", "unpooled") if name not in set(group)}
    else:
        if none := lacking(runs.run_table, given["by"]):
            raise NotComputedError(none)
        group = table[given["by"]]
    return Computed(by_name(means.groupby(group).agg(given["statistic"])), reasons)


def count_saturated(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the topics on which the median run scores at least each value that is given as a name."""
    scores = [replay.scores(given["order"], measure).values[0] for measure in given["measure"]]
    median = np.median(np.mean(scores, axis=0), axis=1)
    # 9 relevant of 10 are .9, also where floating point falls short of it
    return Computed({name: int((median >= float(name) - 1e-12).sum()) for name in names})


def lacking(table: pd.DataFrame, column: str) -> Reason | None:
    """Return that some runs of a table have no team or no type, None where all have."""
    names = table["name"][table[column].isna()].unique()
    if not len(names):
        return None
    return because(f"needs the {column} of every run: {count(len(names), 'run')} without: {examples(names)}")


#: how a ranking of runs compares with another, as in :func:`pt_reuse.arrays.correlation.correlations`
AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
#: the order of the pool where it is that of scoring
SAME = "same"


def pool_of(given: Given) -> PoolKey:
    """Return which pool the parameters of a figure name."""
    order = given["order"] if given.get("pool_order", SAME) == SAME else given["pool_order"]
    return PoolKey(order, given["depth"], given["contributors"])


def count_pool(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents of a depth-k pool, and those by which it differs from the judged ones."""
    pool, judged = replay.pool(pool_of(given)), replay.judged_in(pool_of(given)).counts(rel=given["rel"])
    # runs may have topics that were not judged
    sizes = pool.documents.sizes[np.isin(pool.topics, replay.qrels.topics)]
    missed = replay.judged_in(pool_of(given), outside=True).counts()
    return Computed(
        {
            "contributing runs": len(pool.run_table),
            "documents": int(sizes.sum()),
            "relevant": int(judged["relevant"].sum()),
            "smallest topic": int(sizes.min(initial=sizes.max(initial=0))),
            "largest topic": int(sizes.max(initial=0)),
            "not judged": int(sizes.sum()) - int(judged["judged"].sum()),
            "judged but not pooled": int(missed["judged"].sum()),
            "topics denser than 1/3": int((judged["density"] > 1 / 3).sum()),
            "topics denser than 1/2": int((judged["density"] > 1 / 2).sum()),
        }
    )


def compare_shallow(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Keep the judgments of another pool and rank the runs by them."""
    key = pool_of(given)
    pool, kept = replay.pool(key), replay.judged_in(key)
    means = replay.means(given["order"], given["measure"], given["complete"], within=key)
    if given["decimals_of_scores"] is not None:
        means = means.round(given["decimals_of_scores"])
    if given["truth"] is None:
        truth = replay.means(given["order"], given["measure"], given["complete"])
    else:
        truth = replay.published(given["truth"])
    if given["among"] != "all":
        means = means[_compared(replay, given)]
    found = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return Computed(
        {
            "documents": int(pool.documents.sizes[np.isin(pool.topics, replay.qrels.topics)].sum()),
            "judged": len(kept),
            "relevant": int(kept.counts(rel=given["rel"])["relevant"].sum()),
            **{name: float(found[name]) for name in AGREEMENT},
        }
    )


def count_by_best_rank(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the relevant documents by the best rank at which a contributing run has them: ``"1-10"``, ``"never"``."""
    pool, labels = replay.pool(pool_of(given)), replay.qrels.arrays.labels
    rows = replay.rows_in(pool_of(given))
    relevant = (rows >= 0) & (np.append(labels, np.int16(-1))[rows] >= given["rel"])
    rank = pool.to_frame().loc[relevant, "rank"]
    found = {name: int(rank.between(*first_and_last(name)).sum()) for name in names if name != "never"}
    return Computed({**found, "never": int((labels >= given["rel"]).sum() - relevant.sum())})


def _compared(replay: Replay, given: Given) -> list[str]:
    """Return the runs that did not make the pool: all of them, or those of its runs' types or of other types."""
    table = replay.runs(given["order"]).run_table
    if given["among"] != "others" and (none := lacking(table, "type")):
        raise NotComputedError(none)
    made = table["name"].isin(replay.pool(pool_of(given)).run_table["name"])
    alike = table["type"].isin(table["type"][made])
    chosen = {"others": ~made, "others of the type": ~made & alike, "other types": ~alike}[given["among"]]
    return table["name"][chosen].tolist()


def count_uniques(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents that each team, run or type alone put into the pool; ``total`` adds them up."""
    found = _left_out(replay, given).unique_counts
    counts = found.set_index(_unit(given))[given["count"]]
    return Computed({**by_name(counts), "total": int(counts.sum())})


def leave_out(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Leave one team, run or type out and rank all runs again."""
    table = _left_out(replay, given).table
    return Computed(by_name(table.set_index(_unit(given))[given["statistic"]]))


def compare_without_own(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Rank runs by their scores without the uniques of their own team, run or type."""
    row = _left_out(replay, given).summary.iloc[0]
    return Computed({name: float(row[f"own_{name}"]) for name in AGREEMENT})


def take_worst(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the smallest tau_b and the largest drop over all that are left out, and count the drops of many ranks."""
    table = _left_out(replay, given).table
    return Computed(
        {
            "smallest tau_b": float(table["tau_b"].min()),
            "largest drop": int(table["max_drop"].max()),
            "large drops": int((table["max_drop"] > given["ranks"]).sum()),
        }
    )


def take_losses(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the mean or largest loss of score in per cent, by type, without the uniques of the run's own unit."""
    rows = _left_out(replay, given).by_run
    loss, statistic = -rows["change_pct"], given["statistic"]
    every = {"all": float(loss.agg(statistic))}
    if none := lacking(rows, "type"):
        return Computed(every, {name: none for name in names if name != "all"})
    return Computed({**by_name(loss.groupby(rows["type"]).agg(statistic)), **every})


def take_changes(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the mean change of the scores of each team's, type's or single run without its own uniques."""
    rows = _left_out(replay, given).by_run
    return Computed(by_name(rows.groupby(_unit(given))["change"].mean()))


def _left_out(replay: Replay, given: Given) -> LeaveOutUniques:
    # uniques do not depend on the measure: any will do that counts no label as relevant of itself
    measure = given["measure"][0] if "measure" in given else parse_measures("nDCG@10")[0]
    return replay.left_out(pool_of(given), measure, given)


def _unit(given: Given) -> str:
    return "name" if given["by"] == "run" else given["by"]


class Needs(Enum):
    """What must be here for a figure to be computed."""

    JUDGMENTS = "the judgments"
    #: each value concerns one run
    RUNS = "the runs that are here"
    ALL_RUNS = "all runs"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How figures of one kind are computed.

    Attributes:
        compute: returns what it knows of the names, from a replay, the parameters, and the names asked.
        parameters: those that a figure may have, by name.
        check_name: raises where no value can have a name.
        needs: what must be here.
        counts: the names, or statistics, that are counts, None where all numbers are; other numbers have decimals.
    """

    compute: Callable[[Replay, Given, list[str]], Computed]
    parameters: Mapping[str, Parameter]
    check_name: CheckName = any_name
    needs: Needs = Needs.ALL_RUNS
    counts: tuple[str, ...] | None = ()

    def is_count(self, name: str, given: Given) -> bool:
        """Return whether the value of a name is a count."""
        return self.counts is None or name in self.counts or given.get("statistic") in self.counts


_ORDER = one_of(*ORDERS, FILE_TIES)
_POOL: dict[str, Parameter] = {
    "order": _ORDER,
    "depth": whole_number("documents", 100),
    "contributors": CONTRIBUTORS,
}
_UNIQUES: dict[str, Parameter] = {
    **_POOL,
    # the order of the pool is that of scoring, but where the two differ
    "pool_order": one_of(SAME, *ORDERS),
    "rel": GRADE,
    "by": one_of("team", "run", "type", says_what=True),
    "remove": one_of("relevant", "judged"),
    "complete": COMPLETE,
}
_UNIQUES_BY_ONE: dict[str, Parameter] = {**_UNIQUES, "measure": measures(alone=True)}
_SCORES: dict[str, Parameter] = {"order": _ORDER, "measure": measures(), "complete": COMPLETE}
_COUNTS_OF_JUDGMENTS = (
    "topics", "judgments", "judged", "relevant", "unjudged", "junk", "smallest topic", "largest topic",
    "fewest relevant", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip
_COUNTS_OF_A_POOL = (
    "contributing runs", "documents", "relevant", "smallest topic", "largest topic", "not judged",
    "judged but not pooled", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip

#: every kind that a data file can name
KINDS: dict[str, Kind] = {
    "judgments": Kind(
        compute=count_judgments,
        parameters={"rel": GRADE},
        check_name=listed(*_COUNTS_OF_JUDGMENTS, "mean topic", "mean density", "largest density"),
        needs=Needs.JUDGMENTS,
        counts=_COUNTS_OF_JUDGMENTS,
    ),
    "prefixes": Kind(
        compute=count_prefixes,
        parameters={"count": one_of("judged", "relevant", says_what=True), "rel": GRADE},
        needs=Needs.JUDGMENTS,
        counts=None,
    ),
    "field": Kind(compute=count_runs, parameters={"order": _ORDER}, check_name=counts_of_runs, counts=None),
    "pool": Kind(
        compute=count_pool, parameters={**_POOL, "rel": GRADE}, check_name=listed(*_COUNTS_OF_A_POOL), counts=None
    ),
    "scores": Kind(compute=score_runs, parameters=_SCORES, needs=Needs.RUNS),
    "score_statistic": Kind(
        compute=summarise_scores,
        parameters={
            **_SCORES,
            "by": one_of("type", "team", "pooled", "all", says_what=True),
            "statistic": one_of("max", "mean", "median", "min", says_what=True),
        },
    ),
    "saturation": Kind(
        compute=count_saturated,
        parameters={"order": _ORDER, "measure": measures()},
        check_name=finite_numbers,
        counts=None,
    ),
    "uniques": Kind(
        compute=count_uniques,
        parameters={**_UNIQUES, "count": one_of("unique_relevant", "unique", "unique_nonrelevant", says_what=True)},
        counts=None,
    ),
    "left_out": Kind(
        compute=leave_out,
        parameters={**_UNIQUES_BY_ONE, "statistic": one_of(*AGREEMENT, "removed", says_what=True)},
        counts=("max_drop", "removed"),
    ),
    "worst_left_out": Kind(
        compute=take_worst,
        parameters={**_UNIQUES_BY_ONE, "ranks": whole_number("ranks", 10)},
        check_name=listed("smallest tau_b", "largest drop", "large drops"),
        counts=("largest drop", "large drops"),
    ),
    "own_uniques": Kind(
        compute=compare_without_own,
        parameters=_UNIQUES_BY_ONE,
        check_name=listed(*AGREEMENT),
        counts=("max_drop",),
    ),
    "own_losses": Kind(
        compute=take_losses,
        parameters={**_UNIQUES_BY_ONE, "statistic": one_of("mean", "max", says_what=True)},
    ),
    "own_changes": Kind(compute=take_changes, parameters=_UNIQUES_BY_ONE),
    "shallow_pool": Kind(
        compute=compare_shallow,
        parameters={
            **_POOL,
            **_SCORES,
            "pool_order": one_of(SAME, *ORDERS, FILE_TIES),
            "rel": GRADE,
            "among": one_of("all", "others", "others of the type", "other types"),
            "truth": TRUTH,
            "decimals_of_scores": whole_number("decimals"),
        },
        check_name=listed("documents", "judged", "relevant", *AGREEMENT),
        counts=("documents", "judged", "relevant", "max_drop"),
    ),
    "minimum_rank": Kind(
        compute=count_by_best_rank,
        parameters={**_POOL, "contributors": one_of("all", "pooled"), "rel": GRADE},
        check_name=ranks,
        counts=None,
    ),
}
