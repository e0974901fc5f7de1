"""compare_estimators: what is said of left-out runs against ir_measures, sets and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from ir_measures import AP, P, nDCG
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.inputs import Pooled
from pt_reuse.studies.new_runs.evidence import FEATURES, Evidence, LeaveOneOutSetting, signals_of

FIELD = ptr.demo.simulate_field(seed=7, n_topics=12, n_docs=600, n_teams=11, length=40)
MEASURES = ["P@10", "nDCG@10", "AP"]


@pytest.fixture(scope="module")
def found():
    return ptr.profile.compare_estimators(FIELD.runs, FIELD.qrels, MEASURES, depth=10)


def of(found, measure, estimator):
    rows = found.by_run[(found.by_run["measure"] == measure) & (found.by_run["estimator"] == estimator)]
    return rows.set_index("name")


def without(*teams):
    """Return the judgments without what some teams alone brought, by sets."""
    brought = {}
    for name in FIELD.runs.select(pooled=True).names:
        frame = FIELD.runs[name].sort_values(["qid", "score", "docno"], ascending=[True, False, False])
        of_team = FIELD.runs.run_table.set_index("name")["team"][name]
        for qid, docno in frame.groupby("qid").head(10)[["qid", "docno"]].itertuples(index=False):
            brought.setdefault((qid, docno), set()).add(of_team)
    pairs = FIELD.qrels.to_frame()[["qid", "docno"]].itertuples(index=False, name=None)
    kept = [not brought.get(pair) or bool(brought[pair] - set(teams)) for pair in pairs]
    return FIELD.qrels.keep(np.array(kept))


def test_zero_and_condensed_are_scores_by_the_judgments_without_the_team(found):
    for team in FIELD.runs.teams[:4]:
        reduced = without(team)
        mine = FIELD.runs.select(team=team, pooled=True).names
        scores = ptr.score(FIELD.runs, reduced, [P @ 10, nDCG @ 10, AP]).mean.set_index("name").loc[mine]
        for measure in MEASURES:
            rows = of(found, measure, "zero").loc[mine]
            assert rows["predicted"].to_numpy() == pytest.approx(scores[measure].to_numpy(), abs=1e-12)
            assert (rows["zero"] == rows["predicted"]).all()
        condensed = ptr.score(FIELD.runs, reduced, [P(judged_only=True) @ 10, AP(judged_only=True)])
        means = condensed.mean.set_index("name").loc[mine]
        for measure, column in zip(("P@10", "AP"), condensed.measures, strict=True):
            rows = of(found, measure, "condensed").loc[mine]
            assert rows["predicted"].to_numpy() == pytest.approx(means[column].to_numpy(), abs=1e-12)


def test_the_mean_loss_of_the_other_teams(found):
    # of one team: each other one is left out of what is known without the first
    teams = FIELD.runs.select(pooled=True).teams
    out, rest = teams[0], teams[1:]
    truth = mean_of(without(out))
    losses = []
    for team in rest:
        mine = FIELD.runs.select(team=team, pooled=True).names
        losses.append((truth.loc[mine] - mean_of(without(out, team)).loc[mine]).mean())
    for measure in MEASURES:
        rows = of(found, measure, "webber_park")
        rows = rows[rows["team"] == out]
        expected = rows["zero"] + np.mean([loss[measure] for loss in losses])
        assert rows["predicted"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)


def mean_of(qrels):
    return ptr.score(FIELD.runs, qrels, MEASURES).mean.set_index("name")[MEASURES]


def test_nothing_is_learned_from_the_team_that_is_predicted(found):
    # its uniques get other labels, and what is predicted of it is the same
    team = FIELD.runs.teams[2]
    known = set(without(team).to_frame()[["qid", "docno"]].itertuples(index=False, name=None))
    frame = FIELD.qrels.to_frame()[["qid", "docno", "label"]]
    alone = [pair not in known for pair in frame[["qid", "docno"]].itertuples(index=False, name=None)]
    assert sum(alone) > 2
    turned = frame.assign(label=frame["label"].where(~np.array(alone), 2 - frame["label"].clip(upper=2)))
    other = ptr.profile.compare_estimators(
        FIELD.runs, Qrels(turned, topics=FIELD.qrels.topics), "P@10", depth=10, estimators=["documents", "hole_slope"]
    )
    for estimator in ("documents", "hole_slope"):
        before, after = (of(each, "P@10", estimator) for each in (found, other))
        mine = before["team"] == team
        columns = ["predicted", "zero"]
        assert np.allclose(before.loc[mine, columns], after.loc[mine, columns], rtol=0, atol=1e-9)
        assert not np.allclose(before.loc[mine, "score"], after.loc[mine, "score"], rtol=0, atol=1e-9)


def test_features_of_a_document_by_hand():
    units = FIELD.runs.units("team")
    contributors = ptr.depth_pool(FIELD.runs, depth=10).contributors
    evidence = Evidence(FIELD.runs, (), FIELD.qrels, units, Pooled(FIELD.runs, 10, "", contributors))
    unit = evidence.pooled[1]
    case = LeaveOneOutSetting(evidence, [], [1], {}).case(unit)
    assert case.features.shape == (len(case.unjudged_docs), len(FEATURES))
    table = FIELD.runs.run_table
    places = FIELD.runs.to_frame()
    qids, docnos = evidence.names
    for at in range(0, len(case.unjudged_docs), 7):
        hole = case.unjudged_docs[at]
        rows = places[(places["qid"] == qids[hole]) & (places["docno"] == docnos[hole])].merge(table[["name", "team"]])
        mine, others = rows[rows["team"] == units.names[unit]], rows[rows["team"] != units.names[unit]]
        assert case.features[at, 2] == pytest.approx(np.log1p(len(others)))
        assert case.features[at, 3] == pytest.approx(np.log1p(others["team"].nunique()))
        pooled = mine[mine["name"].isin(FIELD.runs.select(pooled=True).names)]
        assert np.exp(case.features[at, 1]) == pytest.approx(pooled["rank"].min() + 1)


def test_by_run_and_by_type():
    by_run = ptr.profile.compare_estimators(FIELD.runs, FIELD.qrels, "P@10", depth=10, by="run", estimators="zero")
    assert len(by_run.by_run) == len(by_run.table) * len(FIELD.runs.select(pooled=True))
    by_type = ptr.profile.compare_estimators(FIELD.runs, FIELD.qrels, "P@10", depth=10, by="type", estimators="zero")
    kinds = by_type.by_run[by_type.by_run["estimator"] == "zero"]
    lexical = FIELD.runs.select(type=[kind for kind in FIELD.runs.types if kind != "lexical"])
    known = FIELD.qrels.restrict(ptr.depth_pool(lexical, depth=10))
    expected = ptr.score(FIELD.runs, known, "P@10").mean.set_index("name")["P@10"]
    mine = kinds[kinds["type"] == "lexical"].set_index("name")
    assert mine["predicted"].to_numpy() == pytest.approx(expected.loc[mine.index].to_numpy(), abs=1e-12)


def texts(seed=3):
    """Return a corpus in which a document has a word of each topic for which it is relevant, four times in five."""
    rng, words = np.random.default_rng(seed), {}
    for qid, docno, label in FIELD.all_qrels.to_frame()[["qid", "docno", "label"]].itertuples(index=False):
        said = [f"topic{qid}"] if (label > 0) == (rng.random() < 0.8) else []
        words.setdefault(docno, [f"word{rng.integers(30)}" for _ in range(6)]).extend(said)
    return [{"docno": docno, "text": " ".join(each)} for docno, each in words.items()]


def test_what_is_said_of_texts_is_that_of_a_classifier_of_known_ones():
    corpus = texts()
    units = FIELD.runs.units("team")
    evidence = Evidence(
        FIELD.runs,
        (),
        FIELD.qrels,
        units,
        Pooled(FIELD.runs, 10, "", ptr.depth_pool(FIELD.runs, depth=10).contributors),
    )
    setting = LeaveOneOutSetting(evidence, [], [1], signals_of(evidence, [[]], judge=None, corpus=corpus))
    case = setting.case(evidence.pooled[1])
    by_name = {each["docno"]: place for place, each in enumerate(corpus)}
    features = TfidfVectorizer(sublinear_tf=True).fit_transform([each["text"] for each in corpus])
    docnos = evidence.names[1]
    for topic in np.unique(evidence.topic[case.unjudged_docs]).tolist():
        known = np.flatnonzero(case.known & (evidence.topic == topic))
        model = LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=5000)
        model.fit(features[[by_name[docnos[row]] for row in known]], evidence.labels[known] > 0)
        mine = evidence.topic[case.unjudged_docs] == topic
        expected = model.decision_function(features[[by_name[docnos[row]] for row in case.unjudged_docs[mine]]])
        assert case.features[mine][:, setting.columns("texts")[1]] == pytest.approx(expected, abs=1e-5)
        assert not case.features[mine][:, setting.columns("texts")[0]].any()
