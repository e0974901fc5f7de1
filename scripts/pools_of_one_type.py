"""Redo Yilmaz, Craswell, Mitra and Campos 2020 on the passages of Deep Learning 2019, for the page of the paper."""

from itertools import combinations

import numpy as np
import pandas as pd
from ir_measures import AP, P
from scipy.stats import kendalltau
from store import deep, trec8

import pt_reuse as ptr

#: as the paper: all runs of a group go together
UNITS = {unit: {"unit": unit, "gold": "judgments"} for unit in ("team", "run")}
BY_TEAM, BY_RUN = UNITS.values()
CONDENSED = ["RR(rel=2,judged_only=True)", "nDCG(judged_only=True)@10"]
#: what the paper's table 2 may have been computed from: in words, depth, measures, options
WAYS = (
    ("teams", 10, None, BY_TEAM),
    ("runs", 10, None, BY_RUN),
    ("teams, pool of all is gold", 10, None, {**BY_TEAM, "gold": "pool"}),
    ("runs, pool of all is gold", 10, None, {**BY_RUN, "gold": "pool"}),
    ("runs, pooled as scored", 10, None, {**BY_RUN, "pool_order": "trec_eval9"}),
    ("teams, condensed lists", 10, CONDENSED, BY_TEAM),
    ("runs, condensed lists", 10, CONDENSED, BY_RUN),
    *((f"{way}s, depth {depth}", depth, None, by) for depth in (40, 100) for way, by in UNITS.items()),
)
GROUPS = ["traditional", "neural", "all"]


def wide(table, way):
    """Return one row per pool and measure: the mean tau_b of each tested group, with its standard deviation."""
    table["cell"] = [f"{tau:6.3f} ({sd:.2f})" for tau, sd in zip(table["tau_b"], table["tau_b_sd"], strict=True)]
    groups = ["way", "pool", "splits", "measure"]
    return table.assign(way=way).pivot_table("cell", groups, "tested", "first", sort=False).reset_index()


def by_study(runs, qrels, ways, both):
    """Yield table 2 by ways of the study, of so many first ones the pools of both types.

    There are all halves of 11 traditional runs or neural teams, 462, and of 3 teams; of 26 neural runs 40.
    """
    for n, (way, depth, measures, options) in enumerate(ways):
        for kind in GROUPS[: 2 if n < both else 1]:
            splits = 40 if kind == "neural" and options["unit"] == "run" else "all"
            table = ptr.by_type(runs, qrels, measures, pools=kind, splits=splits, depth=depth, **options).table
            # of few splits a group may have fewer with a tau
            table["splits"] = table.groupby(["pool", "measure"])["splits"].transform("max")
            table["measure"] = table["measure"].str.replace(r"\(judged_only=True\)|,judged_only=True", "", regex=True)
            yield wide(table, way)


def closures(runs):
    """Return other readings of "all runs of a group go together", each with masks of the pooled and the tested runs."""
    table = runs.run_table
    team, traditional = table["team"].to_numpy(dtype=object), (table["type"] == "traditional").to_numpy()
    parts = np.where(table["name"].str.startswith("bm25base"), "base", team)
    parts = np.where(table["name"].str.startswith("bm25tuned"), "tuned", parts)
    teams, every, four = (sorted(set(names)) for names in (team[traditional], team, parts[traditional]))
    mine = [(one, traditional & (team == one)) for one in teams]
    pairs = (traditional & np.isin(parts, two) for two in combinations(four, 2))
    halves = ((traditional & inside, ~inside) for inside in (np.isin(team, of) for of in combinations(every, 6)))
    return {
        "teams, their neural runs not tested": [(inside, team != one) for one, inside in mine],
        "teams, their neural runs pooled": [(team == one, team != one) for one in teams],
        "teams, 2 of 3 pooled": [(traditional & (team != one), ~traditional | inside) for one, inside in mine],
        "baselines as 2 teams, 2 of 4 pooled": [(inside, ~inside) for inside in pairs],
        "halves of all 12 teams": [(pooled, tested) for pooled, tested in halves if pooled.any()],
    }


def by_hand(runs, qrels, splits):
    """Return the mean tau_b and its deviation over splits, of scores under the depth-10 pool of the pooled runs."""
    names, kinds = runs.run_table["name"], runs.run_table["type"].to_numpy()
    measures, scored, rows = ["RR(rel=2)", "nDCG@10"], {}, []

    def means(judged):
        return ptr.score(runs, judged, measures).mean.set_index("name").loc[names, measures].to_numpy().round(12)

    gold = means(qrels)
    for pooled, tested in splits:
        key = pooled.tobytes()
        if key not in scored:
            pool = ptr.depth_pool(runs.select(names[pooled].tolist()), depth=10)
            scored[key] = means(qrels.restrict(pool))
        for group in GROUPS:
            who = tested & ((kinds == group) | (group == "all"))
            for m, measure in enumerate(measures):
                tau = kendalltau(gold[who, m], scored[key][who, m]).statistic if who.sum() > 1 else np.nan
                rows.append((measure, group, tau))
    of_all = pd.DataFrame(rows, columns=["measure", "tested", "tau_b"]).groupby(["measure", "tested"])["tau_b"]
    table = of_all.agg(tau_b="mean", tau_b_sd="std").reset_index()
    return table.assign(pool="traditional", splits=len(splits))


def results(given):
    """Compute and store."""
    runs, qrels = deep(given.data, 19, pool_depth=10)
    every = closures(runs)
    tried = given.size(every, dict(list(every.items())[:2]))
    parts = [*by_study(runs, qrels, *given.size((WAYS, 2), (WAYS[:1], 0)))]
    parts += [wide(by_hand(runs, qrels, splits), way) for way, splits in tried.items()]
    table = pd.concat(parts, ignore_index=True)[["way", "pool", "splits", "measure", *GROUPS]]
    given.write("types-dl19-ways", table.to_string(index=False))
    splits, resamples = given.size((10, 1000), (2, 20))
    for unit, options in UNITS.items():
        found = ptr.by_type(runs, qrels, splits=splits, resamples=resamples, **options)
        given.save(f"pools-of-one-type-{unit}s", found)
    given.save("pools-of-one-type-found", ptr.pools.found_by_depth(runs, qrels))
    runs, qrels = trec8(given.data, pool_depth=100)
    left = ptr.pools.leave_out_type(runs, qrels, [AP, P @ 10])
    reports = [left.report(), left.report(measure=P @ 10), left.report("recovery", left_out="manual").head(10)]
    given.write("types-trec8", "\n\n".join(map(str, reports)))
