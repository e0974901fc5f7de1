"""Fields with families of runs, and judges whose favour for a family is known."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd

import pt_reuse as ptr

#: how a judge errs at random: true label -> probabilities of labels 0, 1, 2
CONFUSION = {0: [0.85, 0.10, 0.05], 1: [0.20, 0.60, 0.20], 2: [0.10, 0.20, 0.70]}


@functools.cache
def simulated(seed=7, n_topics=8, n_docs=120, n_teams=6, length=15):
    return ptr.demo.simulate_field(seed=seed, n_topics=n_topics, n_docs=n_docs, n_teams=n_teams, length=length, depth=5)


def with_families(field, family_of):
    """Return the runs of a field with what a function of a row of the table of runs says is their family."""
    table = field.run_table
    families = [family_of(row) for row in table.itertuples()]
    return field.runs.with_metadata(metadata=pd.DataFrame({"name": table["name"], "family": families}))


def noisy(field, seed, *, favoured=(), share=0.0):
    """Return labels of a judge that errs at random, and raises a share of the first ten documents of some runs."""
    labels = field.all_qrels.to_frame()[["qid", "docno"]]
    judge = ptr.judging.Noisy(field.all_qrels, CONFUSION, seed=seed)
    labels["label"] = judge(labels)["label"].astype(int).to_numpy()
    mine = field.results[field.results["name"].isin(favoured) & (field.results["rank"] < 10)]
    theirs = labels.merge(mine[["qid", "docno"]].drop_duplicates(), how="left", indicator=True)["_merge"] == "both"
    raised = theirs.to_numpy() & (np.random.default_rng(seed).random(len(labels)) < share)
    return ptr.Qrels(labels.assign(label=np.minimum(labels["label"] + raised, 2)))
