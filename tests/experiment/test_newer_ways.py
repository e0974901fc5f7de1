"""What pyterrier 1.1 brought: named baselines, CSVs under save_dir, plans, and the name of the caller in errors."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, retrievers
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
