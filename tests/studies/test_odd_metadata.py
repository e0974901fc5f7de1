"""Studies whose question the metadata cannot answer: an error, or a warning and a note in the settings."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.scoring.caveats import BEWARE, CaveatWarning

FIELD = ptr.demo.simulate_field(seed=5, n_topics=6, n_docs=120, n_teams=9, length=10, depth=10)
QRELS, TABLE = FIELD.qrels, FIELD.runs.run_table.assign(family=lambda f: f["type"].replace("manual", "lexical"))
JUDGED = QRELS.to_frame()[["qid", "docno", "label"]]
SCORER = ptr.judging.Vectors({docno: [1.0, n % 7] for n, docno in enumerate(sorted(set(JUDGED["docno"])))})


def runs_of(table):
    frames = {name: FIELD.runs[name] for name in table["name"]}
    return ptr.RunSet.from_frames(frames, metadata=table)


def dynamic(runs, **options):
    judge, topics = ptr.judging.Oracle(QRELS, unknown="not relevant"), pd.DataFrame({"qid": QRELS.topics})
    return ptr.pools.leave_out_dynamic(runs, QRELS, "AP", SCORER, topics, judge=judge, depth=5, **options)


def audited(study, **options):
    return lambda runs: study(runs, QRELS, JUDGED, "AP", resamples=0, **options)


def of_strategies(**options):
    return lambda runs: ptr.pools.compare_strategies(
        runs, QRELS, ["rank"], budgets=0.2, measures="AP", repeats=1, **options
    )


#: study -> how it is called, by the unit that it is about
STUDIES = {
    "leave_out_uniques": lambda by: lambda runs: ptr.leave_out_uniques(runs, QRELS, "AP", by=by),
    "leave_out_dynamic": lambda by: lambda runs: dynamic(runs, by=by),
    "found_by_depth": lambda by: lambda runs: ptr.pools.found_by_depth(runs, QRELS, by=by),
    "coverage": lambda by: lambda runs: ptr.profile.coverage(runs, QRELS, by=by),
    "compare_strategies": lambda by: of_strategies(leave_out=by),
    "audit_labels": lambda by: audited(ptr.audit_labels, by=by),
}
OF_TYPES = {
    "by_type": lambda runs: ptr.by_type(runs, QRELS, "AP", splits=2),
    "by_type of runs": lambda runs: ptr.by_type(runs, QRELS, "AP", splits=2, unit="run"),
    "leave_out_type": lambda runs: ptr.pools.leave_out_type(runs, QRELS, "AP"),
}
CALLS = {(name, "team"): call("team") for name, call in STUDIES.items()}
CALLS |= {(name, "family"): STUDIES[name]("family") for name in ("leave_out_uniques", "audit_labels")}
CALLS |= {(name, "type"): call for name, call in OF_TYPES.items()}


def told(call, runs):
    with pytest.warns(CaveatWarning) as caught:
        found = call(runs)
    said = [str(one.message) for one in caught]
    assert len(said) == len(set(said))
    return found.settings[BEWARE].split("; ")


def test_one_unit_alone_is_told_and_enough_of_them_are_not():
    for key, call in CALLS.items():
        assert f"1 {key[1]} only" in told(call, runs_of(TABLE.assign(**{key[1]: "one"}))), key
        assert BEWARE not in call(runs_of(TABLE)).settings, key
        # a run without a team is a team of its own
        if key[1] != "team":
            with pytest.raises(ptr.InputError):
                call(runs_of(TABLE.drop(columns=key[1])))


@pytest.mark.parametrize("key", [*(key for key in CALLS if key[1] == "team"), ("by_type", "type")], ids=" ".join)
def test_runs_without_a_team_are_told_and_stand_in_the_settings(key):
    first, second = TABLE["name"][:2]
    with pytest.warns(ptr.ReuseWarning, match="without a team"):
        runs = runs_of(TABLE.assign(team=TABLE["team"].where(~TABLE["name"].isin([first, second]))))
    with pytest.warns(ptr.ReuseWarning, match="without a team"):
        found = CALLS[key](runs)
    assert found.settings["teams"] == "2 runs without a team, each a team of its own"
    assert "teams" not in CALLS[key](runs_of(TABLE)).settings


def test_teams_that_cannot_be_split():
    with pytest.raises(ptr.InputError):
        OF_TYPES["by_type"](runs_of(TABLE.assign(team="one")))


@pytest.mark.parametrize("pooled", [False, None], ids=["none", "unknown"])
def test_nobody_can_be_left_out_who_was_asked_for(pooled):
    odd = TABLE.assign(pooled=pd.array([pooled] * len(TABLE), dtype="boolean"))
    assert "nobody is left out" in told(STUDIES["coverage"]("team"), runs_of(odd))
    for name in ("leave_out_uniques", "leave_out_dynamic", "compare_strategies") if pooled is not None else ():
        with pytest.raises(ptr.InputError):
            STUDIES[name]("team")(runs_of(odd))


RANKINGS = {
    "leave_out_uniques": CALLS["leave_out_uniques", "team"],
    "leave_out_uniques by run": lambda runs: ptr.leave_out_uniques(runs, QRELS, "AP", by="run"),
    "leave_out_dynamic": CALLS["leave_out_dynamic", "team"],
    "leave_out_type": OF_TYPES["leave_out_type"],
    "compare_strategies": of_strategies(),
    "compare_judgments": lambda runs: ptr.compare_judgments(runs, QRELS, FIELD.all_qrels, "AP"),
    "pool_costs": lambda runs: ptr.pools.pool_costs(runs, QRELS, "AP"),
    "circularity": audited(ptr.labels.circularity),
    "saturation": lambda runs: ptr.profile.saturation(ptr.score(runs, QRELS, "AP")),
}
REFUSING = {
    "audit_labels": audited(ptr.audit_labels),
    "family_effect": audited(ptr.labels.family_effect),
    "significance_fidelity": audited(ptr.labels.significance_fidelity),
    "stability": lambda runs: ptr.profile.stability(ptr.score(runs, QRELS, "AP"), pairs=5, sizes=[3]),
    "discriminative_power": lambda runs: ptr.profile.discriminative_power(ptr.score(runs, QRELS, "AP")),
    "by_type": OF_TYPES["by_type"],
    "subcollections": lambda runs: ptr.profile.subcollections(runs, QRELS, "AP", how="random", sizes=20, repeats=2),
}


def test_one_run_has_no_ranking():
    runs = runs_of(TABLE[:1])
    for name, call in RANKINGS.items():
        assert told(call, runs).count("1 run only") == 1, name
    for call in REFUSING.values():
        with pytest.raises(ptr.InputError):
            call(runs)


def test_groups_of_one_type_are_none():
    found = of_strategies()(runs_of(TABLE.assign(type="one", pooled=True)))
    assert found.groups.empty
