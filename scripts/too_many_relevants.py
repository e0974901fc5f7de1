"""Redo Voorhees, Craswell and Lin 2022 on the passages of Deep Learning 2021 and on TREC-8, for the page of the paper.

Names of documents become numbers, as judgments may not ship. The swap rates of section 5, all judgments beside those of
the depth-10 pool, are on the page of the study, too. It takes about three minutes.
"""

from dataclasses import replace
from itertools import product

import pandas as pd
from ir_measures import AP, RR, P, nDCG
from store import deep, laid_out, trec8

import pt_reuse as ptr

#: the paper counts the baselines and test runs of four institutions as teams of their own: how these runs' names begin
BASELINES = {"bl_bcai": "bcai", "ielab-roberta": "ielab", "uogTrBase": "uogTr", "p_": "h2oloo", "paug_": "h2oloo"}


def in_19_teams(runs):
    """Return the runs of the passages in the paper's teams."""
    baselines = runs.run_table.loc[runs.run_table["team"] == "BASELINES", "name"]
    teams = {
        name: f"{team} baselines" for name in baselines for start, team in BASELINES.items() if name.startswith(start)
    }
    return runs.with_metadata(teams=teams)


def drops(runs, qrels):
    """Return how many left-out teams have a run that drops more than ten ranks, under each convention, as text."""
    rows, measures = [], [P(rel=2) @ 10, nDCG @ 10]
    for field, scored, rel in product((in_19_teams(runs), runs), ("file", "trec_eval", "trec_eval9"), (1, 2)):
        lou = ptr.leave_out_uniques(field.reorder(scored), qrels.with_rel(rel), measures, depth=10)
        for row in lou.large_drops().to_dict("records"):
            tau = lou.table.loc[lou.table["measure"] == row["measure"], "tau_b"].min()
            names = row["names"].split(", ")
            shown = ", ".join([*names[:2], *(["..."] if len(names) > 2 else [])])
            found = (row["of"], scored, f"label {rel}", row["units"], row["largest"], f"{tau:.4f}", shown)
            rows.append([row["measure"], *map(str, found)])
    head = ["measure", "units", "scored", "uniques", "teams", "largest", "tau_b", "names"]
    return laid_out([head, *sorted(rows, key=lambda row: (row[0], row[3]))], left=len(head))


def thirds(runs, qrels):
    """Return what depth-10 pools of random thirds of the documents cost and find, as text."""
    rows, docnos = [], runs.docnos()
    for seed in (0, 1, 2, 3):
        third = runs.restrict(ptr.profile.subsample_corpus(docnos, share=1 / 3, seed=seed)) if seed else runs
        pool = ptr.depth_pool(third, depth=10)
        end, row = ptr.profile.density(qrels.restrict(pool)).summary.iloc[-1], {}
        row["documents"] = f"a third, seed {seed}" if seed else "all"
        row["pool"] = pool.counts().query("qid in @qrels.topics")["documents"].sum()
        row |= {"judged": end["judgments"], "relevant": end["relevant"], "mean density": f"{end['mean_density']:.3f}"}
        rows.append({**row, "above 1/3": end["above_third"], "above 1/2": end["above_half"]})
    return pd.DataFrame(rows).to_string(index=False)


def agreement(runs, qrels):
    """Return how the rankings by a smaller and a larger set of judgments agree, as text."""
    pool = qrels.restrict(ptr.depth_pool(runs, depth=10))
    pairs = [("all judgments, the depth-10 pool", qrels, pool, [P(rel=2) @ 10, nDCG @ 10, AP(rel=2)])]
    for low, high in ((1, 2), (1, 3), (2, 3)):
        pairs.append((f"relevant from {low}, from {high}", qrels.threshold(low), qrels.threshold(high), [P @ 10]))
    rows = []
    for compared, one, other, measures in pairs:
        found = ptr.score(runs, one, measures).compare(ptr.score(runs, other, measures))
        columns = found.table[["measure", "tau_b", "max_drop", "max_rise"]].round({"tau_b": 4})
        rows.append(columns.assign(compared=compared)[["compared", *columns]])
    return pd.concat(rows).to_string(index=False)


def numbered(found):
    """Return minimum ranks with numbers in place of the names of documents."""
    return replace(found, table=found.table.assign(docno=[str(n) for n in range(1, len(found.table) + 1)]))


def stability(given, name, runs, qrels, measures):
    """Store the swap rates under all judgments and under those of the depth-10 pool."""
    shallow = qrels.restrict(ptr.depth_pool(runs, depth=10))
    scores = {"all judgments": ptr.score(runs, qrels, measures), "depth 10": ptr.score(runs, shallow, measures)}
    found = ptr.profile.stability(scores, resamples=given.size(100, 2), n_jobs=given.jobs)
    given.save(f"stability-{name}", found, found.report(), found.report(found.measures[1]))


def results(given):
    """Compute and store."""
    resamples = given.size(1000, 20)
    runs, qrels = deep(given.data, 21)
    measures = [P(rel=2) @ 10, nDCG @ 10]
    given.save("too-many-density-dl21", ptr.profile.density(qrels, runs=runs, depths=range(1, 11)))
    scores = ptr.score(runs, qrels, [*measures, RR(rel=2)])
    given.save("too-many-saturation-dl21", ptr.profile.saturation(scores))
    given.save("too-many-ranks-dl21", numbered(ptr.pools.minimum_ranks(runs, qrels)))
    costs = ptr.pools.pool_costs(runs, qrels, [AP(rel=2), nDCG @ 10], resamples=resamples)
    given.save("too-many-costs-dl21", costs)
    uniques = ptr.leave_out_uniques(in_19_teams(runs), qrels.with_rel(1), measures, depth=10)
    given.save("too-many-uniques-dl21", uniques)
    for name, table in (("drops", drops), ("thirds", thirds), ("agreement", agreement)):
        given.write(f"too-many-{name}", table(runs, qrels))
    stability(given, "dl21", runs, qrels, [nDCG @ 10, P(rel=2) @ 10, AP(rel=2)])

    runs, qrels = trec8(given.data)
    given.save("too-many-density-trec8", ptr.profile.density(qrels, runs=runs, depths=[10, 100]))
    given.save("too-many-saturation-trec8", ptr.profile.saturation(ptr.score(runs, qrels, P @ 10)))
    # scores as float32, as trec_eval had them then
    given.save("too-many-ranks-trec8", numbered(ptr.pools.minimum_ranks(runs.reorder("trec_eval9"), qrels)))
    costs = ptr.pools.pool_costs(runs, qrels, [AP, P @ 10], depths=[1, 5, 10, 20, 50, 100], resamples=resamples)
    given.save("too-many-costs-trec8", costs)
    stability(given, "trec8", runs, qrels, [AP, P @ 10])
