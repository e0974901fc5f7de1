"""Folders of results as MTEB keeps them: what stands for a model, whose scores these are, and faults."""

from __future__ import annotations

import gzip
import json

import pytest

import pt_reuse as ptr
from pt_reuse.data.task_columns import ResultChoice, is_results_folder, read_results
from pt_reuse.errors import InputError

ANY = {"score": "main_score", "split": None, "revisions": "most", "external": "no", "tasks": None, "ignore": None}


def result(task, value, *, split="test", version="1.18.0", **more):
    part = {"hf_subset": "default", "main_score": value}
    return {"task_name": task, "mteb_version": version, "scores": {split: [part]}, **more}


def put(folder, model, revision, task, found):
    file = folder / model / revision / f"{task}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(found if isinstance(found, str) else json.dumps(found))
    return file


def read(folder, **given):
    return read_results(folder, ResultChoice.of(**{**ANY, **given}))


def values(found):
    return {(name, qid): value for name, qid, value, _ in found.rows.itertuples(index=False)}


@pytest.fixture
def folder(tmp_path):
    """Return a folder of two models: one with two revisions and the authors' own scores."""
    for task, value in {"A": 0.5, "B": 0.25}.items():
        put(tmp_path, "org__one", "aaaaaaaaaa", task, result(task, value))
    put(tmp_path, "org__one", "bbbbbbbbbb", "A", result("A", 0.75))
    put(tmp_path, "org__one", "external", "A", result("A", 0.9))
    put(tmp_path, "org__one", "external", "MSMARCO", result("MSMARCO", 0.8))
    put(tmp_path, "two", "c", "A", result("A", 0.625))
    put(tmp_path, "two", "c", "MSMARCO", result("MSMARCO", 0.375, split="dev"))
    put(tmp_path, "two", "c", "model_meta", {"name": "two"})
    put(tmp_path, "three", "external", "A", result("A", 0.3))
    return tmp_path


def test_the_revision_with_the_most_tasks_stands_for_a_model(folder):
    assert is_results_folder(folder)
    assert not is_results_folder(folder / "two")
    found = read(folder)
    assert values(found) == {
        ("org/one", "A"): 0.5,
        ("org/one", "B"): 0.25,
        ("two", "A"): 0.625,
        ("two", "MSMARCO"): 0.375,
    }
    assert "2 models have such" in found.settings["whose scores"]
    assert "1 model with several: 'org/one'" in found.settings["revisions"]


@pytest.mark.filterwarnings("error")
def test_systems_are_those_that_are_left(folder):
    found = ptr.read_leaderboard(folder, tasks=["A", "B"], missing="drop_systems")
    assert (found.names, found.settings["systems"]) == (["org/one"], "1 system of 1 model")
    assert ptr.read_leaderboard(folder).settings["systems"] == "2 systems of 2 models"


def test_each_revision_is_a_system(folder):
    found = read(folder, revisions="each", tasks=["A"])
    assert values(found) == {("org/one@aaaaaaa", "A"): 0.5, ("org/one@bbbbbbb", "A"): 0.75, ("two@c", "A"): 0.625}
    assert found.runs.values.tolist() == [
        ["org/one@aaaaaaa", "org", "org/one", "aaaaaaaaaa"],
        ["org/one@bbbbbbb", "org", "org/one", "bbbbbbbbbb"],
        ["two@c", "two", "two", "c"],
    ]


def test_of_revisions_with_as_many_tasks_the_newest_stands(folder):
    put(folder, "two", "b", "A", result("A", 0.1, version="2.1.0"))
    put(folder, "two", "b", "B", result("B", 0.1, version="1.9.0"))
    assert values(read(folder))["two", "A"] == 0.1


def test_scores_of_authors_alone_and_among_the_others(folder):
    with pytest.warns(UserWarning, match="MSMARCO without the split 'dev'"):
        assert values(read(folder, external="only")) == {("org/one", "A"): 0.9, ("three", "A"): 0.3}
    with pytest.warns(UserWarning, match="MSMARCO without the split 'test'"):
        found = values(read(folder, external="yes", revisions="each", split={"MSMARCO": "test"}, ignore="A"))
    assert found == {("org/one@aaaaaaa", "B"): 0.25, ("org/one@external", "MSMARCO"): 0.8}


def test_the_mean_of_subsets_and_another_score(folder):
    parts = [{"hf_subset": name, "main_score": 0.5, "map": value} for name, value in (("en", 0.25), ("de", 0.5))]
    put(folder, "four", "d", "A", {"task_name": "A", "scores": {"test": parts}})
    for file in folder.glob("*/*/*.json"):
        if "four" not in str(file):
            file.unlink()
    assert values(read(folder))["four", "A"] == 0.5
    assert values(read(folder, score="map"))["four", "A"] == 0.375


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ('{"scores": {"test": [', "no JSON"),
        (
            '{"task_name": "A", "scores": {"test": [{"main_score": 0.1, "main_score": 0.2}]}}',
            "'main_score' stands twice",
        ),
        ("[]", "no result of a task"),
        ({"task_name": "A"}, "no key 'scores'"),
        (result("B", 0.1), "the result of 'B', and not of 'A'"),
        (result("A", float("nan")), "scores.test\\[0\\].main_score must be a number"),
        (result("A", None), "scores.test\\[0\\].main_score must be a number"),
        ({"task_name": "A", "scores": {"test": {}}}, "must be a list of objects"),
        ({"task_name": "A", "scores": {"test": [{"main_score": 1}, {"main_score": 1}]}}, "more than once"),
        (result("A", 62.5), "beyond 1"),
    ],
)
def test_a_fault_has_its_file_and_key(folder, found, said):
    put(folder, "two", "c", "A", found)
    with pytest.raises(InputError, match=f"two/c/A.json: .*{said}"):
        read(folder)


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_a_task_in_per_cent_beside_others_asks(folder):
    put(folder, "org__one", "aaaaaaaaaa", "B", result("B", 25.0))
    with pytest.raises(InputError, match=r"org__one/aaaaaaaaaa/B\.json: .*'B'"):
        read(folder)
    with pytest.warns(ptr.ReuseWarning, match="'B'"):
        assert values(read(folder, tasks=["A", "B"]))["org/one", "B"] == 25.0


def test_a_mean_over_other_subsets_is_no_score_of_the_task(folder):
    parts = [{"hf_subset": name, "main_score": 0.9} for name in ("en", "de")]
    put(folder, "four", "d", "A", {"task_name": "A", "scores": {"test": parts}})
    with pytest.warns(ptr.ReuseWarning, match="1 result left out: A with other subsets .*four/d/A.json"):
        assert ("four", "A") not in values(read(folder, tasks="A"))


def test_several_faults_are_told_together(folder):
    put(folder, "two", "c", "A", "{")
    put(folder, "org__one", "aaaaaaaaaa", "B", "{")
    with pytest.raises(InputError) as caught:
        read(folder)
    assert [fault.place for fault in caught.value.faults] == ["org__one/aaaaaaaaaa/B.json", "two/c/A.json"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tasks": ["a"]}, "Did you mean 'A'"),
        ({"ignore": ["Z"]}, "no result"),
        ({"split": {"Z": "dev"}}, "no result"),
        ({"revisions": "newest"}, "revisions must be one of"),
        ({"external": "often"}, "external must be one of"),
        ({"score": ""}, "score must be"),
        ({"split": "train"}, "no result has a score"),
    ],
)
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_what_cannot_be_chosen_is_an_error(folder, given, said):
    with pytest.raises(InputError, match=said):
        read(folder, **given)


def test_results_of_old_versions_are_told(folder):
    put(folder, "two", "c", "B", {"mteb_dataset_name": "B", "test": {"ndcg_at_10": 0.5}})
    with pytest.warns(UserWarning, match="1 result left out: written by MTEB before"):
        assert ("two", "B") not in values(read(folder))


def test_packed_results_are_read_and_a_task_stands_once(folder):
    file = put(folder, "two", "c", "B", result("B", 0.5))
    file.with_name("B.json.gz").write_bytes(gzip.compress(file.read_bytes()))
    with pytest.raises(InputError, match=r"two/c/B\.json\.gz: a second file of this task and revision"):
        read(folder)
    file.unlink()
    assert values(read(folder))["two", "B"] == 0.5


def test_a_task_is_not_chosen_and_ignored():
    with pytest.raises(InputError, match="ignore and tasks both name 'A'"):
        ResultChoice.of(**{**ANY, "tasks": ["A", "B"], "ignore": "A"})
