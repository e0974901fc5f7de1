"""Results of every kind, some of names that are hard to show."""

from __future__ import annotations

import csv
import warnings

import pandas as pd
from annotator_parts import labelled
from declared import STUDIES

import pt_reuse as ptr
from pt_reuse.study import study_of

#: names that break pages, tables and terminals that are not careful
ODD = "<script>alert('x')</script> & a run of a very long name, 日本語, \N{COMBINING ACUTE ACCENT} 50%_#$~^\\{}"
MEASURES = ["AP", "P@10", "nDCG@10", "RR", "Rprec", "Bpref", "Judged@10"]


def figures(folder):
    path = folder / "figures.csv"
    long = "AP of a group of runs that takes more room than there is in a line of eighty columns or so, by far"
    rows = [
        ("collection", "what", "kind", "arguments", "name", "value", "source"),
        ("mine", long, "scores", "measure=AP", "lex1a", "0.4242", "nowhere"),
        ("", "", "", "", "neu2a", "0.1", ""),
        ("", "", "", "", "nobody", "0.2", ""),
        ("", ODD, "judgments", "", "topics", "12", "nowhere"),
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def odd_field():
    """Return the runs of a field under names, teams and types that are hard to show."""
    field = ptr.demo.simulate_field(seed=7, n_topics=12, n_teams=7)
    table = field.runs.run_table
    frames = {f"{name} {ODD}": field.runs[name] for name in table["name"]}
    given = table.assign(name=list(frames), team=table["team"] + ODD, type=table["type"] + ODD)
    return ptr.RunSet.from_frames(frames, metadata=given), field.qrels, field.all_qrels


def one_label_else(labels):
    """Return judgments by someone who takes the first document to be what it is not."""
    frame = labels.to_frame()
    first = frame.index == 0
    return frame.assign(label=frame["label"].where(~first, (frame["label"] < labels.rel).astype(int)))


def arguments_of_field(runs, qrels, complete, odd=""):
    """Return study -> the arguments with which it is called, of a field and of what is made of it."""
    judge = ptr.judging.Noisy(complete, ptr.judging.flips(0.2, range(3)), seed=2, name=odd or "noisy")
    labels = labelled(seed=6, gaps=0 if odd else 0.1)
    labels["annotator"] += odd
    labels["docno"] += odd.replace("\N{COMBINING ACUTE ACCENT}", "")
    strict = qrels.to_frame().assign(label=lambda f: (f["label"] - 1).clip(lower=0))[["qid", "docno", "label"]]
    documents = sorted(set(qrels.to_frame()["docno"]))
    scores, scores_of_all = (ptr.score(runs, judgments, MEASURES[:2]) for judgments in (qrels, complete))
    data = {
        "runs": runs, "qrels": qrels, "other": complete, "qrels_a": qrels, "qrels_b": complete, "human": qrels,
        "judge": judge, "judge_labels": qrels, "labels": labels, "scores": {odd or "own": scores, "other": scores},
        "people": {f"ann{odd}": qrels.sample(0.5, seed=1)}, "measures": MEASURES[:2], "depth": 10, "resamples": 9,
        "repeats": 2,
    }  # fmt: skip
    # one run came later, and what it alone brought is not judged
    one = runs.names[:1]
    new = {
        "new": runs.select(names=one),
        "runs": runs.select(names=[name for name in runs.names if name not in one]),
    }
    table = pd.DataFrame(
        {"qid": ["1", "1", "2"], "item": [f"a{odd}", "b", "c"], f"x{odd}": [1, 0, 1], "y": [0.5, 1, 0]}
    )
    answers = ptr.read_answers(table, teams={f"x{odd}": f"one{odd}", "y": "two"})
    #: study -> what it takes beside, or in the place of it
    more = {
        **{name: {"answers": answers, "measures": None} for name in ("leave_out_items", "bank_growth")},
        "check_answers": {
            "answers": answers,
            "new": ptr.read_answers(table[["qid", "item"]].assign(new=1.0), teams={"new": f"own{odd}"}),
            "measures": None,
        },
        "annotator_agreement": {"gold": None if odd else ptr.judging.majority_vote(labels), "rel": 2},
        "by_type": {"unit": "run", "splits": 2} if odd else {"pools": "lexical"},
        "compare_judgments": {"names": (odd or "depth 10", "complete")},
        "compare_leaderboards": {"human": scores_of_all, "leaderboards": {odd or "it": scores}},
        "check_new_run": new,
        "compare_labels": {"human": complete, "rel": 2},
        "compare_strategies": {"strategies": ["rank", "random"], "budgets": 3 if odd else [0.1, 0.5]},
        "coverage": {"depths": [5, 10], "measures": MEASURES[1:3]},
        "density": {"depths": [1, 5]},
        "family_effect": {"runs": runs.with_metadata(metadata=family_of(runs))},
        "infer_pool": {"depth": None},
        "judge_next": {**new, "measures": "P@10"},
        "leave_out_dynamic": {
            "corpus": ptr.judging.Vectors({docno: [1.0, n % 7] for n, docno in enumerate(documents)}),
            "topics": pd.DataFrame({"qid": qrels.topics}),
            "judge": ptr.judging.Oracle(qrels, unknown="not relevant"),
            "depth": 5,
        },
        "leave_out_uniques": {"measures": MEASURES[: 7 if odd else 3]},
        "plan_collection": {"depths": [1, 5], "topics": [3, 9], "draws": 2, "max_density": 0.9, "judge": judge},
        "plan_labels": {"width": 0.3, "by_topic": bool(odd), "runs": None},
        "prediction_powered": {"human": qrels.select(qrels.topics[:9]), "judge": {odd or "model": qrels}},
        "rank_intervals": {"scores": scores},
        "rankings_by_annotator": {"labels": {f"strict{odd}": strict}},
        "saturation": {"scores": scores},
        "sensitivity_of_uniques": {"vary": ["remove", "depth"]},
        "significance_fidelity": {"families": {judge.name: odd or "gpt"}},
        "stability": {"sizes": [5, 12], "pairs": 20},
        "subcollections": {"sources": lambda docno: docno[-1] + odd} if odd else {"how": "random", "sizes": [20, 50]},
    }
    return {
        name: {
            part: value
            for part, value in {**data, **more.get(name, {})}.items()
            if part in study_of(function).parameters
        }
        for name, function in STUDIES.items()
    }


def of_field(runs, qrels, complete, odd=""):
    """Return what every declared study finds of a field, and of what is made of it, by the class of its result."""
    given = arguments_of_field(runs, qrels, complete, odd)
    found = {study_of(STUDIES[name]).result.__name__: STUDIES[name](**mine) for name, mine in given.items()}
    plan = found["LabelPlan"]
    return {**found, "LabelEstimate": plan.estimate(one_label_else(qrels.restrict(plan.sample)))}


def family_of(runs):
    """Return a table in which types are families, too."""
    return runs.run_table[["name"]].assign(family=runs.run_table["type"])


def judged_by_people(folder):
    """Return the tasks and the labels of people of names that are hard to show; some are missing."""
    pool = ptr.Pool.from_frame(pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3", "d4"]}))
    people, shown = ["ann", ODD], {"topics": {"1": "a query"}, "texts": dict.fromkeys(["d1", "d2", "d3", "d4"], "t")}
    tasks = ptr.judging.export_tasks(pool, folder, annotators=people, overlap=2, labels={0: "no", 1: ODD}, **shown)
    for name in tasks.table["file"]:
        rows = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
        rows["label"] = ["1", ODD, "", "0"]
        rows.to_csv(folder / name, index=False)
    return tasks, ptr.judging.import_labels(folder, partial=True)


def judged(docnos, qids):
    """Return what comes of judging documents for topics, of names that may be hard to show."""
    scorer = ptr.judging.Vectors({docno: [1.0, n] for n, docno in enumerate(docnos)})
    known = {qid: {docno: n % 3 for n, docno in enumerate(docnos)} for qid in qids}
    topics, protocol = pd.DataFrame({"qid": qids}), ptr.judging.AutoTAR(topic_budget=9)
    return ptr.judging.judge_continuously(scorer, topics, known, protocol=protocol, rel=2)


def every_result(new_folder):
    """Return results of every kind, by a name of their own; those of a declared study come by themselves."""
    field, (runs, qrels, complete) = ptr.demo.simulate_field(seed=7, n_topics=12), odd_field()
    tasks, labels = judged_by_people(new_folder("tasks"))
    scores, at_depth = (ptr.score(field.runs, judgments, MEASURES[:2]) for judgments in (field.all_qrels, field.qrels))
    # what studies warn of is told where they are tested
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        return {
            **of_field(field.runs, field.qrels, field.all_qrels),
            **{f"{kind}, odd": result for kind, result in of_field(runs, qrels, complete, ODD).items()},
            "LeaveOutUniques, filled": ptr.leave_out_uniques(
                runs, qrels, MEASURES[:2], depth=10, fill={ODD: complete, "b": qrels}, resamples=9
            ),
            "LeaveOutUniques, odd runs": ptr.leave_out_uniques(runs, qrels, "AP", depth=10, by="run"),
            "Scores": at_depth,
            "Scores, odd": ptr.score(runs, qrels, MEASURES),
            "Agreement": scores.compare(at_depth, names=("complete", "depth 10")),
            "Agreement, odd": ptr.score(runs, complete, "AP").compare(
                ptr.score(runs, qrels, "AP"), names=(ODD, "other")
            ),
            "Sensitivity, odd study": ptr.profile.sensitivity(
                ptr.leave_out_uniques, runs, qrels, "AP", grid={"contributors": {ODD: runs.names[:3]}}, depth=10
            ),
            "Verification": ptr.verify(
                "mine", runs=field.runs, qrels=field.qrels, figures=figures(new_folder("figures"))
            ),
            "SimulatedField": field,
            "ExportedTasks, odd": tasks,
            "ReturnedLabels, odd": labels,
            "ContinuousJudging": judged([f"d{n}" for n in range(20)], ["1", "2"]),
            "ContinuousJudging, odd": judged([f"{n} {ODD}" for n in range(20)], [ODD, f"{ODD} too"]),
        }
