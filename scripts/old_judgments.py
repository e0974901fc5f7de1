"""Redo Voorhees, Soboroff and Lin 2022 on TREC-8 and Deep Learning, for the page of the paper, in a minute."""

import pandas as pd
from ir_measures import AP, RR, P, nDCG
from store import deep, labels, trec8

import pt_reuse as ptr

#: what a text table shows of a comparison
NUMBERS = ["tau_b", "tau_b_low", "tau_b_high", "gamma", "max_drop", "max_rise"]


def numbers_of(*compared, **options):
    """Return the numbers of a comparison."""
    return ptr.compare_judgments(*compared, depth=10, **options).table.iloc[0][NUMBERS]


def with_people(data, runs, qrels, resamples):
    """Return a row per re-annotator: the official judgments against those with the person's labels put in."""
    rows = []
    for path in sorted((data / "dl19-passages" / "re-annotators").glob("annotator-*.txt")):
        theirs = ptr.read_qrels(path, rel=2)
        official = qrels.select(theirs.topics)
        both, names = (official, theirs.union(official, conflict="first")), ("NIST", path.stem)
        found = numbers_of(runs, *both, nDCG @ 10, names=names, resamples=resamples)
        rows.append({"annotator": path.stem, "topics": len(theirs.topics), **found})
    return rows


def with_other_labels(data, official, dense, resamples):
    """Return a row per pair of labels: strict and lenient ones, sparse and dense ones."""
    runs, graded = deep(data, 21)
    frame = dense.to_frame()
    best = frame[frame["label"] == frame.groupby("qid")["label"].transform("max")].drop_duplicates("qid")
    sparse, lenient = ptr.Qrels(best.assign(label=1), topics=dense.topics), graded.with_rel(1)
    strict, rows = lenient.threshold(2), []
    for what, field, a, b, pairs in (
        ("2021, grades 1-3 and 2-3", runs, lenient, strict, [(one, one) for one in (AP, P @ 10, RR, nDCG @ 10)]),
        ("2021, both binary", runs, lenient.threshold(1), strict, [(nDCG @ 10, nDCG @ 10)]),
        ("2019, dense and sparse", official, dense, sparse, [(nDCG @ 10, RR @ 10), (nDCG @ 10, nDCG @ 10)]),
    ):
        for measure, other in pairs:
            found = numbers_of(field, a, b, measure, measures_b=other, resamples=resamples)
            rows.append({"labels": what, "measures": f"{measure}, {other}", **found})
    return rows


def results(given):
    """Compute and store."""
    data, resamples = given.data, given.size(1000, 20)
    runs, qrels = trec8(data)
    alone = ptr.depth_pool(runs, depth=100).uniques(by="type")
    both, names = (qrels - alone[alone["type"] == "manual"], qrels), ("automatic pool", "official")
    found = ptr.compare_judgments(runs, *both, [AP, P @ 10], names=names, depth=100, resamples=resamples)
    given.save("old-judgments-manual", found, found, found.report("selected"))

    official, nist = deep(data, 19)
    family = pd.read_csv(data / "dl19-passages" / "later.csv").set_index("name")["family"]
    options = {"names": "file", "pooled": False, "order": "trec_eval9", "pool_order": "file"}
    later = ptr.read_runs(data / "dl19-passages" / "later", **options)
    kinds = {name: "GPT, later" if family.get(name) == "gpt" else "other, later" for name in later.names}
    field = official | later.with_metadata(types=kinds)
    for model, rel in (("umbrela-gpt-4", 2), ("binary-llama-3.2", 1)):
        of_model = ptr.read_qrels(labels(data, 19)[model], rel=rel)
        options = {"names": ("people", model), "selected": later.names, "depth": 10, "resamples": resamples}
        found = ptr.compare_judgments(field, nist, of_model, nDCG @ 10, **options)
        given.save(f"old-judgments-{model}", found, found, found.report("selected"))
    tables = {"people": with_people(data, official, nist, resamples)}
    tables["labels"] = with_other_labels(data, official, nist, resamples)
    for name, rows in tables.items():
        table = pd.DataFrame(rows).astype({"max_drop": int, "max_rise": int})
        given.write(f"old-judgments-{name}", table.to_string(index=False, float_format="{:.4f}".format))
