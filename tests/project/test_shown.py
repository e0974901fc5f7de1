"""What results and nouns show: a report each, texts of 100 columns, pages with every name escaped."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pandas as pd
import pytest
from annotator_parts import labelled

import pt_reuse as ptr
from pt_reuse._report import Report
from pt_reuse._result import HOMES, Record, read_result
from pt_reuse._text import WIDTH, display_width

pytestmark = pytest.mark.filterwarnings("ignore:subcollections. :pt_reuse.ReuseWarning")
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
    field = ptr.simulate_field(seed=7)
    table = field.runs.run_table
    frames = {f"{name} {ODD}": field.runs[name] for name in table["name"]}
    given = table.assign(name=list(frames), team=table["team"] + ODD, type=table["type"] + ODD)
    return ptr.RunSet.from_frames(frames, metadata=given), field.qrels, field.all_qrels


def of_annotators(field, runs, qrels):
    """Return results about annotators, by a name of their own."""
    labels, odd = labelled(seed=6, gaps=0.1), labelled(seed=6).assign(annotator=lambda f: f["annotator"] + ODD)
    odd["docno"] += ODD.replace("\N{COMBINING ACUTE ACCENT}", "")
    passages = pd.DataFrame({"qid": "1", "docno": [f"d{i // 3}#{i % 3}" for i in range(9)], "label": [1, 0, 0] * 3})
    found = {
        "AnnotatorAgreement": ptr.annotator_agreement(labels, gold=ptr.majority_vote(labels), rel=2, resamples=20),
        "AnnotatorAgreement, odd": ptr.annotator_agreement(odd, resamples=20),
        "LabelDistributions": ptr.judging.label_distributions(labels, least=2),
        "LabelDistributions, odd": ptr.judging.label_distributions(odd),
        "PassagePositions": ptr.judging.passage_positions(passages, separator="#"),
    }
    for name, systems, judged in (("", field.runs, field.qrels), (", odd", runs, qrels)):
        strict = judged.to_frame().assign(label=lambda f: (f["label"] - 1).clip(lower=0))[["qid", "docno", "label"]]
        rankings = ptr.judging.rankings_by_annotator(systems, {f"strict{name and ODD}": strict}, judged, MEASURES[:3])
        found[f"AnnotatorRankings{name}"] = rankings
    return found


def of_relevants(field, runs, qrels):
    """Return what there is to say of relevant documents, by a name of their own."""
    found = {}
    for name, some, labels in (("", field.runs, field.qrels), (", odd", runs, qrels)):
        docnos = sorted(set(labels.to_frame()["docno"]))
        scorer = ptr.judging.Vectors({docno: [1.0, n % 7] for n, docno in enumerate(docnos)})
        topics, judge = pd.DataFrame({"qid": labels.topics}), ptr.judging.Oracle(labels, unknown="not relevant")
        found |= {
            f"Density{name}": ptr.density(labels, runs=some, depths=[1, 5]),
            f"Saturation{name}": ptr.saturation(ptr.score(some, labels, MEASURES[:2])),
            f"LabelPlan{name}": (plan := ptr.plan_labels(labels, width=0.3, by_topic=bool(name))),
            f"LabelEstimate{name}": plan.estimate(labels.restrict(plan.sample)),
            f"MinimumRanks{name}": ptr.minimum_ranks(some, labels),
            f"PoolCosts{name}": ptr.pool_costs(some, labels, MEASURES[:2], depths=[1, 5, 10], resamples=2),
            f"DynamicUniques{name}": ptr.leave_out_dynamic(
                some, labels, MEASURES[:2], scorer, topics, depth=5, judge=judge
            ),
        }
    return found


def judged_by_people(folder):
    """Return the tasks and the labels of people of names that are hard to show; some are missing."""
    pool = ptr.Pool.from_frame(pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3", "d4"]}))
    people, shown = ["ann", ODD], {"topics": {"1": "a query"}, "texts": dict.fromkeys(["d1", "d2", "d3", "d4"], "t")}
    tasks = ptr.export_tasks(pool, folder, annotators=people, overlap=2, labels={0: "no", 1: ODD}, **shown)
    for name in tasks.table["file"]:
        rows = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
        rows["label"] = ["1", ODD, "", "0"]
        rows.to_csv(folder / name, index=False)
    return tasks, ptr.import_labels(folder, partial=True)


def judged(docnos, qids):
    """Return what comes of judging documents for topics, of names that may be hard to show."""
    scorer = ptr.judging.Vectors({docno: [1.0, n] for n, docno in enumerate(docnos)})
    known = {qid: {docno: n % 3 for n, docno in enumerate(docnos)} for qid in qids}
    topics, protocol = pd.DataFrame({"qid": qids}), ptr.judging.AutoTAR(topic_budget=9)
    return ptr.judge_continuously(scorer, topics, known, protocol=protocol, rel=2)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return results of every kind, by a name of their own; a new kind of result is to be added."""
    field, (runs, qrels, complete) = ptr.simulate_field(seed=7), odd_field()
    mine = figures(tmp_path_factory.mktemp("figures"))
    tasks, labels = judged_by_people(tmp_path_factory.mktemp("tasks"))
    return {
        "ExportedTasks, odd": tasks,
        "ReturnedLabels, odd": labels,
        "LeaveOutUniques": ptr.leave_out_uniques(field.runs, field.qrels, MEASURES[:3], depth=field.depth),
        "LeaveOutUniques, odd": ptr.leave_out_uniques(runs, qrels, MEASURES, depth=field.depth),
        "LeaveOutUniques, odd runs": ptr.leave_out_uniques(runs, qrels, "AP", depth=field.depth, by="run"),
        "Scores": ptr.score(field.runs, field.qrels, MEASURES[:2]),
        "Scores, odd": ptr.score(runs, qrels, MEASURES),
        "Agreement": ptr.score(field.runs, field.all_qrels, MEASURES[:2]).compare(
            ptr.score(field.runs, field.qrels, MEASURES[:2]), names=("complete", "depth 10")
        ),
        "Agreement, odd": ptr.score(runs, complete, "AP").compare(ptr.score(runs, qrels, "AP"), names=(ODD, "other")),
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
        "DiscriminativePower": ptr.discriminative_power(ptr.score(field.runs, field.qrels, MEASURES[:2])),
        "DiscriminativePower, odd": ptr.discriminative_power(
            {ODD: ptr.score(runs, complete, "AP"), "other": ptr.score(runs, qrels, "AP")}
        ),
        **of_annotators(field, runs, qrels),
        "Coverage": ptr.coverage(field.runs, field.qrels, MEASURES[1:3], depths=[5, 10], depth=field.depth),
        "Coverage, odd": ptr.coverage(runs, qrels, "AP", depth=field.depth),
        "Sensitivity": ptr.sensitivity(
            ptr.leave_out_uniques, field.runs, field.qrels, "AP", grid=["remove", "depth"], depth=field.depth
        ),
        "Sensitivity, odd": ptr.sensitivity(
            ptr.leave_out_uniques, runs, qrels, "AP", grid={"contributors": {ODD: runs.names[:3]}}, depth=field.depth
        ),
        "InferredPool": ptr.infer_pool(field.runs, field.qrels),
        "InferredPool, odd": ptr.infer_pool(runs, qrels),
        "Stability": ptr.stability(
            ptr.score(field.runs, field.qrels, MEASURES[:2]), sizes=[5, 25], pairs=20, resamples=5
        ),
        "Stability, odd": ptr.stability({ODD: ptr.score(runs, qrels, "AP")}, sizes=3, pairs=5),
        "StrategyComparison": ptr.compare_strategies(
            field.runs,
            field.qrels,
            ["rank", "random"],
            budgets=[0.1, 0.5],
            measures=MEASURES[:2],
            depth=field.depth,
            repeats=2,
        ),
        "StrategyComparison, odd": ptr.compare_strategies(
            runs, qrels, "rank", budgets=3, measures="AP", depth=field.depth, leave_out="team", repeats=1
        ),
        "PoolsByType": ptr.by_type(field.runs, field.qrels, MEASURES[:2], resamples=5, types="lexical", depth=10),
        "PoolsByType, odd": ptr.by_type(runs, qrels, "AP", depth=field.depth, unit="run", splits=2),
        "FoundByDepth": ptr.found_by_depth(field.runs, field.qrels),
        "FoundByDepth, odd": ptr.found_by_depth(runs, qrels, depths=[1, 10]),
        "LeftOutTypes": ptr.leave_out_type(field.runs, field.qrels, MEASURES[:2], depth=field.depth),
        "LeftOutTypes, odd": ptr.leave_out_type(runs, qrels, "AP", depth=field.depth),
        "Subcollections": ptr.subcollections(
            field.runs, field.qrels, MEASURES[:2], how="random", sizes=[20, 50], repeats=2, resamples=3
        ),
        "Subcollections, odd": ptr.subcollections(runs, qrels, MEASURES, sources=lambda docno: docno[-1] + ODD),
        "Verification": ptr.verify("mine", runs=field.runs, qrels=field.qrels, figures=mine),
        "SimulatedField": field,
        **of_relevants(field, runs, qrels),
        "ContinuousJudging": judged([f"d{n}" for n in range(20)], ["1", "2"]),
        "ContinuousJudging, odd": judged([f"{n} {ODD}" for n in range(20)], [ODD, f"{ODD} too"]),
    }


@pytest.fixture(scope="module")
def nouns():
    """Return the nouns, of names that are hard to show."""
    runs, qrels, _ = odd_field()
    return {
        "RunSet": runs,
        "Qrels": qrels,
        "Pool": ptr.depth_pool(runs, depth=10).without(team=runs.run_table["team"][0]),
        "ReuseDataset": ptr.ReuseDataset("trec-8/adhoc"),
    }


def kinds():
    for module in pkgutil.walk_packages(ptr.__path__, "pt_reuse."):
        importlib.import_module(module.name)
    found, todo = set(), [Record]
    while todo:
        todo += (more := todo.pop().__subclasses__())
        found |= {kind for kind in more if kind.__module__.startswith("pt_reuse.")}
    return {kind.__name__: kind for kind in found if kind.__name__ != "Result"}


def test_every_kind_of_result_says_what_a_paper_prints(results):
    assert set(kinds()) == set(HOMES) == {name.split(",")[0] for name in results}
    for name, kind in kinds().items():
        assert kind.report is not Record.report, name
        assert inspect.signature(kind.report).return_annotation == "Report"
        assert not [
            parameter
            for parameter in list(inspect.signature(kind.report).parameters.values())[1:]
            if parameter.default is parameter.empty
        ], f"{name}.report() works without arguments"


def test_a_result_that_does_not_is_refused():
    with pytest.raises(NotImplementedError, match="Record has no report"):
        Record(settings={}).report()
    with pytest.raises(NotImplementedError, match="Record has no headline"):
        Record(settings={}).headline()


def test_reports_have_readable_headings_and_at_most_five_columns_beside_the_name(results):
    for name, result in results.items():
        found = result.report()
        assert isinstance(found, Report)
        frame = found.to_frame()
        assert 2 <= len(frame.columns) <= 6, name
        assert len(frame) > 0
        # a type's name stays as it is
        assert not [heading for heading in frame if "_" in heading and ODD not in heading], name
        # a measure's name stays as it is
        assert all(heading[0].isupper() or heading in ("nDCG@10", "tau-b", "tau-AP", "gamma") for heading in frame)
        assert re.match(r"[A-Z].*[.]$", found.caption, re.DOTALL), name
        assert all(re.match(r"[A-Z].*[.]$", note, re.DOTALL) for note in found.notes), name
        assert max(map(display_width, str(found).split("\n"))) <= 80
        assert r"\begin{tabular}" in found.to_latex()
        if "odd" not in name and name != "Verification":
            assert max(map(len, frame.to_string(index=False).split("\n"))) <= WIDTH, name


def test_no_printed_line_is_wider_than_100_columns(results, nouns):
    for name, shown in {**results, **nouns}.items():
        lines = str(shown).split("\n")
        assert max(map(display_width, lines)) <= WIDTH == 100, name
        assert "\n" not in repr(shown), f"the repr of {name} is one line"
        assert "\x1b" not in str(shown)


def test_what_is_printed_says_as_much_as_the_repr(results, nouns):
    for name, shown in {**results, **nouns}.items():
        printed = re.sub(r"\s", "", str(shown))
        title, _, settings = repr(shown).partition(" [")
        # the explanation and the runs in doubt have lines of their own where they are printed
        title = title.partition(". ")[0] if name.startswith("InferredPool") else title
        assert re.sub(r"\s", "", title) in printed, name
        assert re.sub(r"\s", "", settings) in printed, name


def test_pages_escape_every_name_and_scroll_and_fold(results, nouns):
    for name, shown in {**results, **nouns}.items():
        page = shown._repr_html_()
        assert "<script" not in page, name
        if isinstance(shown, Record):
            assert page.count("<details>") == 1, name
            assert all(f">{key}</th>" in page for key in shown.settings), name
        assert page.count("<table") == page.count("overflow-x:auto"), name
        for report in [shown.report()] if isinstance(shown, Record) else []:
            assert "<script" not in report._repr_html_(), name


def test_a_page_says_how_much_it_leaves_out(results, nouns):
    lou, runs = results["LeaveOutUniques"], nouns["RunSet"]
    assert f"... and {len(lou.table) - 16} more rows in .table" in lou._repr_html_()
    assert f"... and {len(runs) - 12} more runs in .sizes()" in runs._repr_html_()
    assert lou._repr_html_().count("<tr>") == 1 + 16 + len(lou.settings)


def test_a_result_read_back_reports_the_same(results, tmp_path):
    for name, result in results.items():
        result.save(tmp_path / name)
        again = read_result(tmp_path / name)
        assert str(again.report()) == str(result.report()), name
        assert again.report().to_latex() == result.report().to_latex()


# each report against the tables that it is made of


def test_the_report_of_scores(results):
    scores = results["Scores"]
    frame, mean = scores.report().to_frame(), scores.mean.set_index("name")
    assert frame.columns.tolist() == ["Run", "AP", "P@10"]
    pd.testing.assert_frame_equal(frame.set_index("Run").loc[mean.index], mean, check_names=False)
    assert frame["AP"].is_monotonic_decreasing
    assert frame["Run"][0] == scores.ranks.set_index("name")["AP"].idxmin()
    assert "over 25 topics (a topic that a run lacks counts 0), the best by AP first." in scores.report().caption
    assert "order trec_eval" in scores.report().notes[0]


def test_the_report_of_some_of_the_measures(results, messages):
    scores = results["Scores, odd"]
    assert scores.report().to_frame().columns.tolist() == ["Run", *MEASURES[:5]]
    assert scores.report().notes[-1] == "Not shown: Bpref, Judged@10."
    asked = scores.report(["Judged@10", "AP"])
    assert asked.to_frame().columns.tolist() == ["Run", "Judged@10", "AP"]
    assert asked.to_frame()["Judged@10"].is_monotonic_decreasing
    assert len(asked.notes) == 1
    assert scores.report("RR").to_frame().columns.tolist() == ["Run", "RR"]
    messages.refused(lambda: scores.report(MEASURES), argument="measures")
    messages.refused(lambda: scores.report("P@5"), argument="measure")


def test_the_report_of_scores_that_are_not_what_they_seem():
    field = ptr.simulate_field(seed=7)
    labels = field.qrels.to_frame()
    with pytest.warns(ptr.ReuseWarning):
        scores = ptr.score(field.runs, labels[labels["label"] > 0], ["AP", "Judged@10"])
    assert scores.report().notes[-1] == "Beware: judgments of relevant documents only."


def test_the_report_of_means_over_the_topics_of_a_run():
    field = ptr.simulate_field(seed=7)
    scores = ptr.score(field.runs, field.qrels, "AP", complete=False)
    assert "(for each run over those that it has)" in scores.report().caption


def test_the_report_of_an_agreement(results):
    found = results["Agreement"]
    frame = found.report().to_frame()
    expected = found.table[["measure", "tau_b", "tau_ap_b", "gamma", "max_drop", "max_rise"]]
    assert frame.columns.tolist() == ["Measure", "tau-b", "tau-AP", "gamma", "Largest drop", "Largest rise"]
    assert frame.to_numpy().tolist() == expected.to_numpy().tolist()
    assert found.report().caption.startswith("The ranking of 18 runs by depth 10 against the one by complete: ")
    assert found.report().notes == (
        "Truth: complete (order=trec_eval, complete=True).",
        "Estimate: depth 10 (order=trec_eval, complete=True).",
    )
    assert r"$\tau_{\mathrm{AP}}$" in found.report().to_latex()


def test_the_report_of_a_simulated_field(results):
    found = results["SimulatedField"].report().to_frame()
    assert found.values.tolist() == [["lexical", 6, 3, 6], ["neural", 6, 3, 4], ["manual", 6, 3, 6]]


def test_the_report_of_an_inferred_pool(results):
    found = results["InferredPool"]
    assert found.report().to_frame().to_dict("records") == [
        {
            "Depth": "10",
            "Order": "trec_eval",
            "Contributors": "16",
            "Judged": 894,
            "Explained": 894,
            "Unjudged in the pool": 0,
        }
    ]
    field = ptr.simulate_field(seed=7)
    nothing = field.qrels.restrict(pd.DataFrame({"qid": ["1"], "docno": [field.qrels.to_frame()["docno"][0]]}))
    assert ptr.infer_pool(field.runs, nothing).report().to_frame()["Judged"].tolist() == [len(nothing)]


def test_the_report_of_a_verification(results):
    found = results["Verification"]
    frame = found.report().to_frame()
    assert frame[["Figures", "Equal", "Unequal", "Not computed"]].to_numpy().tolist() == [[3, 0, 3, 0], [1, 1, 0, 0]]
    assert frame["Published"].tolist() == found.summary["what"].tolist()
    assert frame["Largest difference"].tolist() == found.summary["largest_difference"].tolist()
    assert found.report().notes == (f"Under order=trec_eval: {found.summary['what'][0]}.",)
