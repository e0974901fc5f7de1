"""The columns of Experiment that say what a system would score with its unjudged documents labelled by a judge."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, Shift, frames, retrievers
from ir_measures import AP, P, nDCG

import pt_reuse as ptr

#: hand-made judgments are no pool of these runs
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

MEASURES = [AP, P @ 5, nDCG @ 10]
#: half of what was judged, so that systems have holes, all of which somebody knows
HALF = FIELD.qrels.sample(0.5, seed=3).to_frame()
TRUTH = FIELD.all_qrels.to_frame()
ADDED = ("filled", "filled docs", "filled unknown")


def labels_of(frame):
    return {(qid, docno): label for qid, docno, label in frame[["qid", "docno", "label"]].itertuples(index=False)}


def brute_force(run, measure, said, cutoff, judged=HALF, others=()):
    """Fill the holes of all runs down to a cutoff, score one by ir_measures: mean, by topic, labelled of it and not."""
    known = labels_of(judged)
    filled, labelled, unknown = dict(known), 0, 0
    for system in (run, *others):
        for qid, documents in system.groupby("qid"):
            # the order of pt.Experiment's scores; no score here ties
            for docno in documents.sort_values("score", ascending=False)["docno"].head(cutoff):
                if known.get((qid, docno), -1) < 0 and qid in set(judged["qid"]):
                    if system is run:
                        labelled, unknown = labelled + ((qid, docno) in said), unknown + ((qid, docno) not in said)
                    filled |= {(qid, docno): said[qid, docno]} if (qid, docno) in said else {}
    qrels = pd.DataFrame(
        [(*pair, label) for pair, label in filled.items()], columns=["query_id", "doc_id", "relevance"]
    )
    scored = run.rename(columns={"qid": "query_id", "docno": "doc_id"})
    by_topic = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, scored)}
    return sum(by_topic.values()) / judged["qid"].nunique(), by_topic, labelled, unknown


CUTOFFS = {AP: None, P @ 5: 5, nDCG @ 10: 10}


def experiment(systems, fill, **options):
    options = {"reuse": ["filled"], **options}
    return ptr.Experiment(systems, TOPICS, HALF, MEASURES, fill=fill, **options)


def test_the_columns_equal_the_brute_force():
    seed = 11
    judge = TRUTH.sample(frac=0.8, random_state=seed)
    said = labels_of(judge.assign(label=judge["label"].sample(frac=1, random_state=seed).to_numpy()))
    judge = pd.DataFrame([(*pair, label) for pair, label in said.items()], columns=["qid", "docno", "label"])
    with pytest.warns(ptr.ReuseWarning, match="gave no label to"):
        means, topics = experiment(retrievers(), judge, perquery="both")
    assert list(means) == ["name", *map(str, MEASURES), *(f"{m} {column}" for m in MEASURES for column in ADDED)]
    for row in means.to_dict("records"):
        for measure in MEASURES:
            others = [FIELD.runs[name] for name in NAMES if name != row["name"]]
            expected = brute_force(FIELD.runs[row["name"]], measure, said, CUTOFFS[measure], others=others)
            found = [row[f"{measure} {column}"] for column in ADDED]
            assert found == [pytest.approx(expected[0], abs=1e-9), *expected[2:]]
            mine = topics[(topics["name"] == row["name"]) & (topics["measure"] == str(measure))]
            assert dict(zip(mine["qid"], mine["filled"], strict=True)) == pytest.approx(expected[1], abs=1e-9)
            assert mine["filled docs"].sum() == expected[2]
            assert mine["filled unknown"].sum() == expected[3]


class Texts(pt.Transformer):
    """Adds the text of each document."""

    def transform(self, inp):
        return inp.assign(text="text of " + inp["docno"].astype(str))

    def transform_outputs(self, input_columns):
        return [*input_columns, "text"]


def reader(asked):
    def fn(query, text):
        asked.append((query, text))
        return int(text.endswith("1"))

    return ptr.judging.Callable(fn, name="reader", reads=("query", "text"))


@pytest.mark.filterwarnings("ignore:There are shared pipeline components")
@pytest.mark.parametrize("plan", ["default", "tree"])
def test_a_judge_that_reads_is_asked_once_for_all_documents_of_pipelines(plan):
    first, asked = Retriever(FIELD.runs["lex1a"]), []
    systems = {"a": first >> Texts(), "b": first >> Shift(5) >> Texts()}
    options = {} if plan == "default" else {"plan": "tree"}
    found = experiment(systems, reader(asked), **options)
    holes = FIELD.runs["lex1a"].merge(HALF, how="left", on=["qid", "docno"])
    holes = holes[holes["label"].isna()]
    assert sorted(asked) == sorted(
        (f"about {qid}", f"text of {docno}") for qid, docno in holes[["qid", "docno"]].itertuples(index=False)
    )
    said = {(qid, docno): int(docno.endswith("1")) for qid, docno in holes[["qid", "docno"]].itertuples(index=False)}
    expected = brute_force(FIELD.runs["lex1a"], nDCG @ 10, said, 10)
    assert found.set_index("name").loc["a", "nDCG@10 filled"] == pytest.approx(expected[0], abs=1e-9)


WRONG = {
    "no judge": ({"fill": None}, "reuse"),
    "no column": ({"fill": TRUTH, "reuse": ["rank"]}, "fill"),
    "several judges": ({"fill": {"a": TRUTH, "b": TRUTH}}, "fill"),
    "no text": ({"fill": reader([])}, "fill"),
    "a grade of nobody": ({"fill": None, "reuse": ["rank"], "judge_rel": 2}, "judge_rel"),
    "no grade": ({"fill": TRUTH, "judge_rel": 0}, "judge_rel"),
    "no judgments": ({"fill": 3}, "fill"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_told_before_anything_is_run(what, messages):
    options, argument = WRONG[what]
    systems = retrievers()
    messages.refused(lambda: experiment(systems, **options), argument=argument)
    assert not any(system.calls for system in systems.values())


def bad_label(frame):
    return [0.5] * len(frame)


def no_machine(frame):
    raise MemoryError("the model does not fit")


@pytest.mark.parametrize(
    "fails", [bad_label, no_machine, lambda frame: [1], ptr.judging.Callable(int, name="c", reads=("query",))]
)
def test_a_judge_that_fails_loses_nothing_that_systems_did(fails, messages):
    systems = retrievers()
    means, topics = messages.warned(lambda: experiment(systems, fails, perquery="both", reuse=["rank", "filled"]))
    plain = pt.Experiment(retrievers(), TOPICS, HALF, MEASURES)
    pd.testing.assert_frame_equal(means[list(plain)], plain, check_frame_type=False)
    assert "nothing is filled" in means.attrs["reuse"]["settings"]["beware"]
    good = experiment(frames(), TRUTH)
    again = experiment(means.runs, TRUTH)
    for measure in MEASURES:
        assert means[f"{measure} filled"].isna().all()
        assert not means[f"{measure} filled docs"].any()
        assert means[f"{measure} filled unknown"].tolist() == good[f"{measure} filled docs"].tolist()
        assert again[f"{measure} filled"].tolist() == good[f"{measure} filled"].tolist()
        assert means[f"{measure} rank"].notna().all()
    assert topics["filled"].isna().all()
    assert all(system.calls == 1 for system in systems.values())
    assert means.report("AP").to_frame()["Filled"].isna().all()


class Rewrite(pt.Transformer):
    """Rewrites the query, as feedback does."""

    def transform(self, inp):
        return inp.assign(query="expanded^2 " + inp["query"])

    def transform_outputs(self, input_columns):
        return input_columns


def test_a_judge_reads_the_query_of_the_topic_and_not_a_rewritten_one():
    first, asked = Retriever(FIELD.runs["lex1a"]), []
    seen = experiment(
        {"a": Rewrite() >> first >> Texts(), "b": Retriever(FIELD.runs["neu2a"]) >> Texts()}, reader(asked)
    )
    assert asked
    assert {query for query, _ in asked} == set(TOPICS["query"])
    assert seen["AP filled docs"].all()


def test_which_labels_of_a_judge_are_relevant_does_not_hang_on_the_documents_asked(messages):
    run = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
    judged = pd.DataFrame({"qid": "1", "docno": ["a", "z"], "label": [3, 0]})
    grades = pd.DataFrame({"qid": "1", "docno": ["a", "z", "b", "c"], "label": [3, 0, 1, 0]})
    measure, given = P(rel=2) @ 2, {"reuse": ["filled"], "rel": 2}
    topics = TOPICS.head(1).assign(qid="1")

    def value(fill, **more):
        return ptr.Experiment({"s": run}, topics, judged, [measure], fill=fill, **given, **more)[f"{measure} filled"][0]

    # b has label 1 by a judge that grades from 0 to 3: not relevant, as for people
    assert value(grades) == value(ptr.judging.Oracle(grades)) == 0.5
    assert value(grades[grades["docno"] != "a"]) == 1.0
    # a function says nothing of other documents: which is told, and is not where the user says it
    assert messages.warned(lambda: value(lambda frame: [1] * len(frame))) == 1.0
    assert value(lambda frame: [1] * len(frame), judge_rel=2) == 0.5


# where documents are relevant from another label than 1, and where the field knows its depth
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

TWO = [AP(rel=2), nDCG @ 5]


def table(qrels, **given):
    return ptr.Experiment(frames(), TOPICS, qrels, TWO, reuse=["lou", "rank"], depth=8, **given)


def test_from_the_judgments_or_the_call():
    judged = ptr.Qrels(QRELS)
    low, high = table(judged), table(judged.with_rel(2))
    assert high.attrs["reuse"]["settings"]["relevant"] == "label of at least 2"
    assert low.attrs["reuse"]["settings"]["relevant"] == "label of at least 1"
    pd.testing.assert_frame_equal(high, table(QRELS, rel=2))
    pd.testing.assert_frame_equal(low, table(QRELS))
    pd.testing.assert_frame_equal(low, table(judged.with_rel(2), rel=1))
    # AP counts from 2 in both; nDCG keeps what label 1 is worth only where its documents stay judged
    columns = [column for column in low if column.startswith("AP(rel=2)")]
    pd.testing.assert_frame_equal(low[columns], high[columns])
    assert (high["nDCG@5 LOU (no field)"] >= low["nDCG@5 LOU (no field)"]).all()
    assert (high["nDCG@5 LOU (no field)"] > low["nDCG@5 LOU (no field)"]).any()


def test_a_label_that_no_judgment_has_is_told_once(messages):
    result = messages.warned(lambda: table(QRELS, rel=4, field=OTHERS, pooled=True))
    assert (result["nDCG@5 drop"] == 0).all()
    assert result.attrs["reuse"]["settings"]["beware"] == "no judgment is relevant from label 4"


def test_a_column_that_stands_twice_is_no_text():
    class Twice(Retriever):
        def transform(self, inp):
            results = super().transform(inp).assign(text="a", more="b")
            return pd.concat([results, results[["more"]]], axis=1)

    system, label = Twice(FIELD.runs[NAMES[0]]), {"fill": lambda rows: [1] * len(rows), "judge_rel": 1}
    found = ptr.Experiment({"x": system}, TOPICS, HALF, [P @ 5], **label)
    assert found["P@5 filled"].notna().all()
