"""Compute what five judges make of the passages of Deep Learning 2019 and 2021, for the pages of the studies.

The folder of the tracks has their llm-labels, and of 2019 the later runs and the re-annotators. So that results are
small, and hold nothing of the judgments, tables have eight decimals, and what pages do not show is left out.
"""

from dataclasses import replace
from functools import reduce
from operator import or_

import pandas as pd
from ir_measures import nDCG
from store import JUDGES, deep, labels, laid_out

import pt_reuse as ptr

DECIMALS = 8
#: EXAM labels from 0 to 5; published figures take the label 2 of people for it, too
SCALES = {"exam-gpt-4": 2}


def again(data, year):
    """Return who judged passages of 2019 again -> the file of their labels."""
    folder = data / f"dl{year}-passages" / "re-annotators"
    return {path.stem: path for path in sorted(folder.glob("*.txt"))}


def later(data):
    """Return the runs that came after the pool of 2019, and run -> its family."""
    folder = data / "dl19-passages"
    table = pd.read_csv(folder / "later.csv")[["name", "family"]]
    options = {"pooled": False, "order": "trec_eval9", "pool_order": "file"}
    return ptr.read_runs(folder / "later", names="file", metadata=table, **options), table


def agreement(given, year):
    """Hold the labels of the judges, and of the people who judged again, beside the official judgments."""
    people, others = given.data / f"dl{year}-passages" / "qrels.gz", again(given.data, year) or None
    judges = labels(given.data, year, sorted(JUDGES))
    found = ptr.labels.compare_labels(people, judges, rel=2, people=others, judge_rel=SCALES)
    topics = found.per_topic[(found.per_topic["kind"] == "model") & (found.per_topic["items"] == "all")]
    tables = {name: table for name, table in found.tables().items() if name not in ("agreement", "per_topic")}
    tables |= {"table": found.table, "per_topic": topics}
    found = replace(found, **{name: table.round(DECIMALS) for name, table in tables.items()})
    given.save(f"label-agreement-dl{year}", found, found.report(), found)


def audit(given, year):
    """Audit the judges; of 2019 with the runs that came later, by when they came."""
    runs, people = deep(given.data, year, types=None, pooled=None, pool_order=None)
    options = {"judge_rel": SCALES}
    if year == 19:
        others, table = later(given.data)
        types = dict.fromkeys(runs.names, "official")
        types |= {name: "later, GPT" if family == "gpt" else "later, other" for name, family in table.to_numpy()}
        runs = (runs | others).with_metadata(types=types)
        options |= {"people": again(given.data, year), "by": "type"}
    found = ptr.audit_labels(runs, people, labels(given.data, year, sorted(JUDGES)), "nDCG@10", **options)
    of_labels = found.labels
    binary = of_labels.table[(of_labels.table["items"] == "all") & (of_labels.table["labels"] == "binary")]
    kept = {name: table.head(0) for name, table in of_labels.tables().items() if name not in ("agreement", "bounds")}
    movers = found.movers[found.movers["kind"] == "model"].round(DECIMALS).reset_index(drop=True)
    tables = {name: getattr(found, name).round(DECIMALS) for name in ("table", "beside", "yardstick")}
    of_labels = replace(of_labels, table=binary.round(DECIMALS).reset_index(drop=True), **kept)
    found = replace(found, movers=movers, documents=found.documents.head(0), labels=of_labels, **tables)
    given.save(f"label-audit-dl{year}", found, found.report(), found)


def families(given):
    """Compute the effects on families of later runs, and the same of GPT re-rankers, other later runs and official."""
    official, people = deep(given.data, 19, types=None)
    others, table = later(given.data)
    judges, runs = labels(given.data, 19, sorted(JUDGES)), official | others
    options = {"families": {name: "llama" if "llama" in name else "gpt" for name in judges}, "judge_rel": SCALES}
    found = ptr.labels.family_effect(runs, people, judges, nDCG @ 10, **options)
    given.save("families-dl19", found, found.report(), found.report(against="matched"))
    groups = dict.fromkeys(official.names, "official")
    groups |= {name: "gpt" if family == "gpt" else "other later" for name, family in table.to_numpy()}
    runs = runs.with_metadata(metadata=pd.DataFrame({"name": list(groups), "family": list(groups.values())}))
    found = ptr.labels.family_effect(runs, people, judges, nDCG @ 10, **options, resamples=0)
    given.save(
        "families-dl19-groups", found, found.cells().pivot_table("rise", index="judge", columns="family").round(1)
    )


def holes(given):
    """Fill what the judgments lack without one team's uniques: a table of all judges, and the result of one."""
    options = {"depth": 10, "resamples": given.size(1000, 20), "seed": 1}
    columns = ["track", "judge", "removed", "filled", "interval", "above", "tau removed", "filled", "alone"]
    rows = [columns]
    for year in (21, 19):
        runs, people = deep(given.data, year, types=None)
        one = ptr.leave_out_uniques(runs, people, nDCG @ 10, fill=labels(given.data, year, JUDGES[:1]), **options)
        given.save(f"hole-filling-dl{year}", one, one.answers()[0])
        judges = labels(given.data, year)
        found = ptr.leave_out_uniques(runs, people, nDCG @ 10, fill=judges, judge_rel={"exam-gpt-4": 4}, **options)
        for row in found.filled_summary.to_dict("records"):
            ends = [f"{row[f'filled_change_{end}']:+.4f}" for end in ("low", "high")]
            changes = [f"{row[f'{way}_change']:+.4f}" for way in ("removed", "filled")]
            taus = [f"{row[f'{way}_tau_b']:.3f}" for way in ("removed", "filled", "judge_alone")]
            above = f"{row['filled_above']} of {row['units']}"
            rows.append([f"dl{year}", row["judge"], *changes, " to ".join(ends), above, *taus])
    given.write("hole-filling", laid_out(rows, left=len(columns)))


def claims_and_circles(given):
    """Compute which significant differences judges claim falsely, and what runs gain that re-rank by their labels."""
    judge = {"judge_rel": SCALES}

    def claims(name, *of, **options):
        found = ptr.labels.significance_fidelity(*of, nDCG @ 10, **judge, **options)
        given.save(f"claims-{name}", replace(found, pairs=found.pairs.head(0)), found.report())

    of_2021 = *deep(given.data, 21, types=None), labels(given.data, 21)
    runs, people = deep(given.data, 19, types=None)
    models = labels(given.data, 19)
    claims("dl21", *of_2021)
    claims("dl21-holm", *of_2021, correction="holm", resamples=0)
    circle = ptr.labels.circularity(*of_2021, nDCG @ 10, **judge)
    shown = circle.by_run["scorer"].isin([JUDGES[0], "people"]) & (circle.by_run["judge"] == JUDGES[0])
    circle = replace(circle, by_run=circle.by_run[shown].reset_index(drop=True))
    given.save("circle-dl21", circle, circle.report(), circle.report("rankings"))
    claims("dl19", runs, people, models)
    # eight people judged a quarter of the topics each, two of them the same quarter
    files = [ptr.read_qrels(path) for path in again(given.data, 19).values()]
    sides = {f"re-annotators, {name}": reduce(or_, files[n::2]) for n, name in enumerate(("first", "second"))}
    people = people.restrict(sides["re-annotators, first"])
    claims("dl19-people", runs, people, {**sides, **models})
    circle = ptr.labels.circularity(runs, people, {**sides, **models}, nDCG @ 10, **judge)
    given.save("circle-dl19-people", replace(circle, by_run=circle.by_run.head(0)), circle.report())


def results(given):
    """Compute and store."""
    for year in (19, 21):
        agreement(given, year)
        audit(given, year)
    families(given)
    holes(given)
    claims_and_circles(given)
