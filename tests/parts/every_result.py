"""Results of every kind, some of names that are hard to show."""

from __future__ import annotations

import pandas as pd
from annotator_parts import labelled
from declared import STUDIES, call
from few_label_parts import of_few_labels

import pt_reuse as ptr
from pt_reuse.study import study_of

#: names that break pages, tables and terminals that are not careful
ODD = "<script>alert('x')</script> & a run of a very long name, 日本語, \N{COMBINING ACUTE ACCENT} 50%_#$~^\\{}"
MEASURES = ["AP", "P@10", "nDCG@10", "RR", "Rprec", "Bpref", "Judged@10"]


def figures(folder):
    path = folder / "figures.toml"
    path.write_text(
        f"""collection = "mine"
title = '''{ODD}'''
[[figure]]
what = "AP of a group of runs that takes more room than there is in a line of eighty columns or so, by far"
kind = "scores"
measure = "AP"
values = {{ lex1a = "0.4242", neu2a = "0.1", nobody = "0.2" }}
source = "nowhere"
[[figure]]
what = "judgments"
kind = "judgments"
values = {{ topics = 25 }}
source = "nowhere"
""",
        encoding="utf-8",
    )
    return path


def odd_field():
    """Return the runs of a field under names, teams and types that are hard to show."""
    field = ptr.simulate_field(seed=7, n_topics=12, n_teams=7)
    table = field.runs.run_table
    frames = {f"{name} {ODD}": field.runs[name] for name in table["name"]}
    given = table.assign(name=list(frames), team=table["team"] + ODD, type=table["type"] + ODD)
    return ptr.RunSet.from_frames(frames, metadata=given), field.qrels, field.all_qrels


def with_families(runs):
    """Return runs whose types are families, too."""
    return runs.with_metadata(metadata=runs.run_table[["name"]].assign(family=runs.run_table["type"]))


def of_annotators(field, runs, qrels):
    """Return results about annotators, by a name of their own."""
    labels, odd = labelled(seed=6, gaps=0.1), labelled(seed=6).assign(annotator=lambda f: f["annotator"] + ODD)
    odd["docno"] += ODD.replace("\N{COMBINING ACUTE ACCENT}", "")
    passages = pd.DataFrame({"qid": "1", "docno": [f"d{i // 3}#{i % 3}" for i in range(9)], "label": [1, 0, 0] * 3})
    found = {
        "AnnotatorAgreement": ptr.judging.annotator_agreement(
            labels, gold=ptr.judging.majority_vote(labels), rel=2, resamples=20
        ),
        "AnnotatorAgreement, odd": ptr.judging.annotator_agreement(odd, resamples=20),
        "LabelDistributions": ptr.judging.label_distributions(labels, least=2),
        "LabelDistributions, odd": ptr.judging.label_distributions(odd),
        "PassagePositions": ptr.judging.passage_positions(passages, separator="#"),
    }
    for name, systems, judged in (("", field.runs, field.qrels), (", odd", runs, qrels)):
        strict = judged.to_frame().assign(label=lambda f: (f["label"] - 1).clip(lower=0))[["qid", "docno", "label"]]
        rankings = ptr.judging.rankings_by_annotator(systems, {f"strict{name and ODD}": strict}, judged, MEASURES[:3])
        found[f"AnnotatorRankings{name}"] = rankings
    return found


def one_label_else(labels):
    """Return judgments by someone who takes the first document to be what it is not."""
    frame = labels.to_frame()
    first = frame.index == 0
    return frame.assign(label=frame["label"].where(~first, (frame["label"] < labels.rel).astype(int)))


def of_relevants(field, runs, qrels):
    """Return what there is to say of relevant documents, by a name of their own."""
    found = {}
    for name, some, labels in (("", field.runs, field.qrels), (", odd", runs, qrels)):
        docnos = sorted(set(labels.to_frame()["docno"]))
        scorer = ptr.judging.Vectors({docno: [1.0, n % 7] for n, docno in enumerate(docnos)})
        topics, judge = pd.DataFrame({"qid": labels.topics}), ptr.judging.Oracle(labels, unknown="not relevant")
        found |= {
            f"Density{name}": ptr.profile.density(labels, runs=some, depths=[1, 5]),
            f"Saturation{name}": ptr.profile.saturation(ptr.score(some, labels, MEASURES[:2])),
            f"LabelPlan{name}": (plan := ptr.labels.plan_labels(labels, width=0.3, by_topic=bool(name))),
            f"LabelEstimate{name}": plan.estimate(one_label_else(labels.restrict(plan.sample))),
            f"MinimumRanks{name}": ptr.pools.minimum_ranks(some, labels),
            f"DynamicUniques{name}": ptr.pools.leave_out_dynamic(
                some, labels, MEASURES[:2], scorer, topics, depth=5, judge=judge
            ),
        }
    return found


def of_judges(plain, odd, name):
    """Return what there is to say of labels by a model, by a name of their own."""
    found = {}
    for end, (runs, labels), by in (("", plain, "type"), (", odd", odd, "team")):
        people, odd_name = labels.sample(0.5, seed=1), name if end else ""
        judge = ptr.judging.Noisy(labels, ptr.judging.flips(0.2, [0, 1, 2]), seed=2, name=f"noisy{odd_name}")
        found[f"LabelAudit{end}"] = ptr.audit_labels(
            runs, labels, judge, MEASURES[:2], people={f"ann{odd_name}": people}, by=by, resamples=5
        )
        judges = {judge.name: judge, "other": labels} if end else {judge.name: judge}
        found[f"SignificanceFidelity{end}"] = ptr.labels.significance_fidelity(
            runs, labels, judges, MEASURES[:2], resamples=9, families={judge.name: name}
        )
        found[f"Circularity{end}"] = ptr.labels.circularity(runs, labels, judges, MEASURES[:2], resamples=9)
    return found


def labels_compared(human, model, person):
    """Return what there is to say of labels by a model, with errors, beside those of a person who errs less."""
    judges = {model: ptr.judging.Noisy(human, ptr.judging.flips(0.3, (0, 1, 2)), seed=1)}
    labels = ptr.judging.Noisy(human, ptr.judging.flips(0.1, (0, 1, 2)), seed=2)(human.to_frame()[["qid", "docno"]])
    people = {person: labels[["qid", "docno", "label"]]}
    return ptr.labels.compare_labels(human, judges, people=people, rel=2, resamples=5)


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
    field, (runs, qrels, complete) = ptr.simulate_field(seed=7), odd_field()
    mine = figures(new_folder("figures"))
    tasks, labels = judged_by_people(new_folder("tasks"))
    found = {
        "ExportedTasks, odd": tasks,
        "ReturnedLabels, odd": labels,
        "LeaveOutUniques": ptr.leave_out_uniques(field.runs, field.qrels, MEASURES[:3], depth=field.depth),
        "LeaveOutUniques, odd": ptr.leave_out_uniques(runs, qrels, MEASURES, depth=field.depth),
        "LeaveOutUniques, filled": ptr.leave_out_uniques(
            runs, qrels, MEASURES[:2], depth=field.depth, fill={ODD: complete, "b": qrels}, resamples=9
        ),
        "LeaveOutUniques, odd runs": ptr.leave_out_uniques(runs, qrels, "AP", depth=field.depth, by="run"),
        "Scores": ptr.score(field.runs, field.qrels, MEASURES[:2]),
        "Scores, odd": ptr.score(runs, qrels, MEASURES),
        "Agreement": ptr.score(field.runs, field.all_qrels, MEASURES[:2]).compare(
            ptr.score(field.runs, field.qrels, MEASURES[:2]), names=("complete", "depth 10")
        ),
        "Agreement, odd": ptr.score(runs, complete, "AP").compare(ptr.score(runs, qrels, "AP"), names=(ODD, "other")),
        "LeaderboardAgreement": ptr.labels.compare_leaderboards(
            ptr.score(field.runs, field.all_qrels, MEASURES[:2]), ptr.score(field.runs, field.qrels, "AP"), resamples=9
        ),
        "LeaderboardAgreement, odd": ptr.labels.compare_leaderboards(
            ptr.score(runs, complete, "AP"), {ODD: ptr.score(runs, qrels, MEASURES)}, resamples=0
        ),
        "FamilyEffect": ptr.labels.family_effect(
            with_families(field.runs), field.qrels, field.qrels, "AP", resamples=9
        ),
        "FamilyEffect, odd": ptr.labels.family_effect(with_families(runs), qrels, {ODD: qrels}, "AP", resamples=0),
        "JudgmentComparison": ptr.compare_judgments(
            field.runs,
            field.qrels,
            field.all_qrels,
            MEASURES[:2],
            names=("depth 10", "complete"),
            depth=10,
            resamples=9,
        ),
        "JudgmentComparison, odd": ptr.compare_judgments(
            runs,
            qrels,
            complete.select(complete.topics[:9]),
            "AP",
            measures_b="RR",
            topics="own",
            names=(ODD, "other"),
        ),
        **of_judges((field.runs, field.qrels), (runs, qrels), ODD),
        "LabelAgreement": labels_compared(field.all_qrels, "model", "ann"),
        "LabelAgreement, odd": labels_compared(complete, ODD, f"{ODD} too"),
        "DiscriminativePower": ptr.profile.discriminative_power(ptr.score(field.runs, field.qrels, MEASURES[:2])),
        "DiscriminativePower, odd": ptr.profile.discriminative_power(
            {ODD: ptr.score(runs, complete, "AP"), "other": ptr.score(runs, qrels, "AP")}
        ),
        **of_annotators(field, runs, qrels),
        "Coverage": ptr.profile.coverage(field.runs, field.qrels, MEASURES[1:3], depths=[5, 10], depth=field.depth),
        "Coverage, odd": ptr.profile.coverage(runs, qrels, "AP", depth=field.depth),
        "Sensitivity": ptr.profile.sensitivity(
            ptr.leave_out_uniques, field.runs, field.qrels, "AP", grid=["remove", "depth"], depth=field.depth
        ),
        "Sensitivity, odd": ptr.profile.sensitivity(
            ptr.leave_out_uniques, runs, qrels, "AP", grid={"contributors": {ODD: runs.names[:3]}}, depth=field.depth
        ),
        "InferredPool": ptr.infer_pool(field.runs, field.qrels),
        "InferredPool, odd": ptr.infer_pool(runs, qrels),
        "Stability": ptr.profile.stability(
            ptr.score(field.runs, field.qrels, MEASURES[:2]), sizes=[5, 25], pairs=20, resamples=5
        ),
        "Stability, odd": ptr.profile.stability({ODD: ptr.score(runs, qrels, "AP")}, sizes=3, pairs=5),
        "StrategyComparison": ptr.pools.compare_strategies(
            field.runs,
            field.qrels,
            ["rank", "random"],
            budgets=[0.1, 0.5],
            measures=MEASURES[:2],
            depth=field.depth,
            repeats=2,
        ),
        "StrategyComparison, odd": ptr.pools.compare_strategies(
            runs, qrels, "rank", budgets=3, measures="AP", depth=field.depth, leave_out="team", repeats=1
        ),
        "PoolsByType": ptr.by_type(field.runs, field.qrels, MEASURES[:2], resamples=5, pools="lexical", depth=10),
        "PoolsByType, odd": ptr.by_type(runs, qrels, "AP", depth=field.depth, unit="run", splits=2),
        "LeftOutTypes": ptr.pools.leave_out_type(field.runs, field.qrels, MEASURES[:2], depth=field.depth),
        "LeftOutTypes, odd": ptr.pools.leave_out_type(runs, qrels, "AP", depth=field.depth),
        "Subcollections": ptr.profile.subcollections(
            field.runs, field.qrels, MEASURES[:2], how="random", sizes=[20, 50], repeats=2, resamples=3
        ),
        "Subcollections, odd": ptr.profile.subcollections(runs, qrels, MEASURES, sources=lambda docno: docno[-1] + ODD),
        "Verification": ptr.verify("mine", runs=field.runs, qrels=field.qrels, figures=mine),
        "SimulatedField": field,
        **of_relevants(field, runs, qrels),
        **of_few_labels(field, (runs, qrels), ODD),
        "ContinuousJudging": judged([f"d{n}" for n in range(20)], ["1", "2"]),
        "ContinuousJudging, odd": judged([f"{n} {ODD}" for n in range(20)], [ODD, f"{ODD} too"]),
    }
    for name, study in STUDIES.items():
        kind = study_of(study).result.__name__
        if kind not in found:
            found[kind] = call(name, field.runs, field.qrels, field.all_qrels)
            found[f"{kind}, odd"] = call(name, runs, qrels, complete)
    return found
