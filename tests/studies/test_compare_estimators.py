"""compare_estimators: what is said of left-out runs against ir_measures, sets and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from ir_measures import AP, RBP, P, nDCG
from reference_lou import pairs_of
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.inputs import Pooled
from pt_reuse.studies.new_runs.estimators import LEAST
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


def test_the_truth_is_the_score_and_lies_inside_the_bounds(found):
    scores = ptr.score(FIELD.runs, FIELD.qrels, MEASURES).mean.set_index("name")
    for measure in MEASURES:
        rows = of(found, measure, "chosen")
        assert rows["score"].to_numpy() == pytest.approx(scores[measure].loc[rows.index].to_numpy(), abs=1e-12)
        assert (rows["lowest"] <= rows["score"] + 1e-12).all()
        assert (rows["score"] <= rows["highest"] + 1e-12).all()
        assert (rows[["low", "high"]].to_numpy() >= rows[["lowest"]].to_numpy() - 1e-12).all()
        others = scores[measure].to_dict()
        for name, row in rows.iterrows():
            rivals = [others[other] for other, team in FIELD.runs.run_table[["name", "team"]].itertuples(index=False)
                      if team != row["team"]]  # fmt: skip
            # P@10 of others does not depend on what a team alone brought
            better = sum(rival > row["predicted"] + 1e-12 for rival in rivals)
            assert row["predicted_rank"] == 1 + better or measure != "P@10", name
            assert row["rank_low"] <= row["predicted_rank"] or row["rank_best"] > row["predicted_rank"]


def test_pairs_that_are_decided_and_wrong_pair_by_pair():
    # unjudged documents as not relevant, by a measure without a divisor that sees documents below the pool's depth
    field = ptr.demo.simulate_field(seed=1, n_topics=6, n_docs=200, n_teams=6, length=40, depth=5)
    measure = RBP(rel=1, p=0.97)
    row = (
        ptr.profile.compare_estimators(field.runs, field.qrels, measure, depth=5, estimators=["zero"], confidence=0.6)
        .table.set_index("estimator")
        .loc["zero"]
    )
    pooled, frame = field.runs.select(pooled=True), field.qrels.to_frame()[["qid", "docno", "label"]]
    team_of = field.runs.run_table.set_index("name")["team"]
    of_team = {team: pairs_of(ptr.depth_pool(pooled.select(team=team), depth=5).to_frame()) for team in pooled.teams}
    assert pairs_of(frame) == set().union(*of_team.values())

    def without(*teams):
        rest = set().union(*(of_team[team] for team in pooled.teams if team not in teams))
        return np.array([pair in rest for pair in zip(frame["qid"], frame["docno"], strict=True)])

    def means(rows):
        return ptr.score(field.runs, Qrels(rows, topics=field.qrels.topics), measure).mean.set_index("name")[
            repr(measure)
        ]

    def without_and_spread(known, judged):
        # the most that its documents can bring, all of them relevant
        score, most = means(frame[known]), means(frame.assign(label=frame["label"].where(known, 1))[judged])
        return score, 0.1 * (most - score) + LEAST

    truth, outcomes = means(frame), []
    for team in pooled.teams:
        known, spread = without_and_spread(without(team), without())
        errors = []
        for other in set(pooled.teams) - {team}:
            names = pooled.select(team=other).names
            left, its_spread = without_and_spread(without(team, other), without(team))
            errors += [(error, 1 / len(names)) for error in ((known - left).abs() / its_spread)[names]]
        errors.sort()
        # each team has one weight, the one that is predicted too
        enough = np.cumsum([weight for _, weight in errors]) >= 0.6 * len(pooled.teams) - 1e-9
        critical = errors[int(np.flatnonzero(enough)[0])][0]
        for name in pooled.select(team=team).names:
            for rival in team_of.index[team_of != team]:
                apart = known[name] - known[rival]
                if abs(apart) <= critical * spread[name]:
                    outcomes.append("open")
                else:
                    outcomes.append("right" if (truth[name] - truth[rival]) * np.sign(apart) > 1e-12 else "wrong")
    n_wrong, n_right = outcomes.count("wrong"), outcomes.count("right")
    assert min(n_wrong, n_right, outcomes.count("open")) > 0
    assert row["decided"] == pytest.approx((n_wrong + n_right) / len(outcomes))
    assert row["wrong"] == pytest.approx(n_wrong / (n_wrong + n_right))
