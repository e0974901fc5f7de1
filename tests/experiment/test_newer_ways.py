"""What pyterrier 1.1 brought: named baselines, CSVs under save_dir, plans, and the name of the caller in errors."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, assert_same, frames, recorded, retrievers
from ir_measures import AP, P

import pt_reuse as ptr

MEASURES = [AP, P @ 5]
GIVEN = {"field": OTHERS, "depth": 5, "pooled": True}
TABLES = ("aggregated.csv", "perquery.csv")


def experiment(systems=None, measures=MEASURES, **arguments):
    return ptr.Experiment(systems or retrievers(), TOPICS, QRELS, measures, **{**GIVEN, **arguments})


def saved(folder, name="aggregated.csv"):
    return pd.read_csv(folder / f"reuse-{name}", dtype={"name": str, "qid": str}, keep_default_na=False, na_values=[""])


# a dict of systems, and a baseline by its name


@pytest.mark.parametrize("correction", [None, "bonferroni"])
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_a_dict_with_a_named_baseline(layout, correction):
    named = dict(zip(("BM25", "MiniLM", "manual"), retrievers().values(), strict=True))
    more = {"baseline": "MiniLM", **({"correction": correction} if correction else {})}
    theirs = pt.Experiment(dict(zip(named, frames().values(), strict=True)), TOPICS, QRELS, MEASURES, **more)
    ours = experiment(named, layout=layout, **more)
    if layout == "wide":
        assert_same(ours, theirs)
        assert (ours.filter(like=" LOU %") < 0).any(axis=None)
        assert ours.loc[1, ["AP p-value", "AP +"]].isna().all()
        return
    for measure in map(str, MEASURES):
        rows = ours[ours["measure"] == measure]
        for column in ("+", "-", "p-value", *(("reject", "p-value corrected") if correction else ())):
            expected = theirs[f"{measure} {column}"].to_numpy(dtype=float)
            np.testing.assert_array_equal(rows[column].to_numpy(dtype=float, na_value=np.nan), expected)


def test_an_unknown_baseline_is_refused_before_anything_runs():
    systems = retrievers()
    with pytest.raises(ValueError, match="Unknown baseline 'BM25'"):
        experiment(systems, baseline="BM25")
    assert [system.calls for system in systems.values()] == [0, 0, 0]


# CSVs under save_dir


@pytest.mark.parametrize(
    "more", [{}, {"perquery": True}, {"perquery": "both"}, {"dataframe": False}, {"layout": "long"}], ids=str
)
def test_the_added_columns_are_saved_beside_the_tables_of_pt_experiment(more, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    theirs = {key: value for key, value in more.items() if key != "layout"}
    pt.Experiment(retrievers(), TOPICS, QRELS, MEASURES, save_dir=str(tmp_path / "theirs"), **theirs)
    experiment(save_dir=str(tmp_path / "ours"), **more)
    for name in TABLES:
        assert (tmp_path / "ours" / name).read_text() == (tmp_path / "theirs" / name).read_text()
    both = experiment(perquery="both")
    means, topics = (saved(tmp_path / "ours", name) for name in TABLES)
    assert set(means.pop("ranked among")) == set(topics.pop("ranked among")) == {"5 runs of the field and 3 systems"}
    pd.testing.assert_frame_equal(means[list(both.averages)], pd.DataFrame(both.averages), check_dtype=False)
    pd.testing.assert_frame_equal(
        topics.sort_values(["name", "qid", "measure"], ignore_index=True),
        pd.DataFrame(both.perquery).sort_values(["name", "qid", "measure"], ignore_index=True),
        check_dtype=False,
    )


def test_baselines_and_rounding_are_saved_as_they_are_returned(tmp_path):
    result = experiment(save_dir=str(tmp_path), baseline="lex1a", round={"AP": 2, "P@5": 3})
    means = saved(tmp_path).drop(columns="ranked among")
    pd.testing.assert_frame_equal(means[list(result)], pd.DataFrame(result), check_dtype=False)


def test_rows_of_other_systems_stay(tmp_path):
    experiment({"first": Retriever(FIELD.runs["lex1a"])}, save_dir=str(tmp_path))
    before = {name: saved(tmp_path, name) for name in TABLES}
    second = {"NA": Retriever(FIELD.runs["neu2a"]), "third": FIELD.runs["man3a"]}
    experiment(second, save_dir=str(tmp_path))
    for name in TABLES:
        after = saved(tmp_path, name)
        assert set(after["name"]) == {"NA", "third", "first"}
        old = after[after["name"] == "first"].reset_index(drop=True)
        pd.testing.assert_frame_equal(old[list(before[name])], before[name], check_dtype=False)
        assert set(old["ranked among"]) == {"5 runs of the field and 1 system"}
        assert set(after.loc[after["name"] == "NA", "ranked among"]) == {"5 runs of the field and 2 systems"}
    # a system that runs again takes its own rows
    experiment({"first": FIELD.runs["neu2a"]}, save_dir=str(tmp_path), save_mode="reuse", reuse="rank")
    assert saved(tmp_path)["name"].tolist() == ["first", "NA", "third"]


def test_save_modes_protect_what_they_protect(tmp_path):
    folder = {"save_dir": str(tmp_path)}
    first = experiment(**folder)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    other = {name: Retriever(FIELD.runs["lex1b"]) for name in NAMES}
    with pytest.raises(ValueError, match="already exists"):
        experiment(other, save_mode="error", **folder)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    reused = experiment(other, save_mode="reuse", **folder)
    pd.testing.assert_frame_equal(reused, first)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix == ".csv"} == {
        name: data for name, data in kept.items() if name.endswith(".csv")
    }
    written = experiment(
        {"lex1a": other["neu2a"]}, field=None, pooled=None, depth=None, save_mode="overwrite", **folder
    )
    assert written.runs.names == ["lex1a"]
    assert saved(tmp_path).set_index("name").loc["lex1a", "ranked among"] == "the only system"


def test_a_table_that_is_not_ours_is_refused_before_anything_runs(tmp_path, messages):
    systems = retrievers()
    for text in ("name,AP\nmine,0.5\n", "", '"'):
        (tmp_path / "reuse-aggregated.csv").write_text(text)
        messages.refused(lambda: experiment(systems, save_dir=str(tmp_path)), argument="save_dir")
        assert (tmp_path / "reuse-aggregated.csv").read_text() == text
    assert [system.calls for system in systems.values()] == [0, 0, 0]
    experiment(systems, save_dir=str(tmp_path), reuse=[])
    assert {path.name for path in tmp_path.glob("*.csv")} == {*TABLES, "reuse-aggregated.csv"}


def test_a_disk_that_is_full_after_the_run_costs_no_result(tmp_path, messages, monkeypatch):
    first = experiment(save_dir=str(tmp_path))
    kept = {name: (tmp_path / f"reuse-{name}").read_bytes() for name in TABLES}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pt_reuse.experiment.adding.write_together", full)
    again = {"save_dir": str(tmp_path), "save_mode": "reuse", "pooled": False}
    result = messages.warned(lambda: experiment(**again))
    assert result["AP"].tolist() == first["AP"].tolist()
    assert {name: (tmp_path / f"reuse-{name}").read_bytes() for name in TABLES} == kept


# plans, and what is validated


def test_a_tree_plan_runs_a_shared_prefix_once_and_shows_the_names(capsys):
    first = Retriever(FIELD.runs["lex1a"])
    systems = {"BM25": first, "top 5": first % 5, "top 20": first % 20}
    tree = experiment(systems, plan="tree", verbose=True)
    assert first.calls == 1
    shown = capsys.readouterr().out
    assert all(name in shown for name in systems)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # linear plans point at shared prefixes
        pd.testing.assert_frame_equal(tree, experiment(systems))
    assert tree.runs.names == list(systems)


class Documentless(Retriever):
    def transform_outputs(self, input_columns):
        return [*input_columns, "score"]


@pytest.mark.parametrize("validate", ["warn", "error"])
def test_validation_names_the_system_and_what_it_lacks(validate):
    systems = {"BM25": Documentless(FIELD.runs["lex1a"])}
    if validate == "error":
        with pytest.raises(
            ValueError, match=r"required outputs.*\n - Pipeline #0: BM25 .*Produces \['qid', 'query', 'score'\]"
        ):
            experiment(systems, validate=validate)
        assert systems["BM25"].calls == 0
        return
    _, said, _ = recorded(experiment, systems, validate=validate)
    _, theirs, _ = recorded(pt.Experiment, systems, TOPICS, QRELS, [AP], validate=validate)
    names = [re.search(r"\n - Pipeline #0: .*", text)[0] for text in (*said, *theirs)]
    assert len(names) == 2
    assert names[0] == names[1]
    # of a list without names, too, where pt.Experiment takes a system for its name
    _, said, _ = recorded(experiment, [*systems.values()], validate=validate)
    assert f"\n - Pipeline #0: {systems['BM25']!s}. Produces" in said[0]
