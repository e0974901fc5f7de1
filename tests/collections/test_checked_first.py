"""What can be judged of a call on a collection is judged before a file is read or fetched, or judgments looked for."""

from __future__ import annotations

import pytest

import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset


@pytest.fixture
def unreached(monkeypatch, tmp_path):
    """Fail a test that comes to read or to fetch runs, or to look for judgments."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)

    def reached(*_, **__):
        pytest.fail("the arguments were to be judged before")

    for long in (
        "pt_reuse.data.run_files.parse_files",
        "pt_reuse.data.store.fingerprints",
        "pt_reuse.collections.getting.fetch_runs",
        "pt_reuse.collections.dataset.ReuseDataset.get_qrels",
    ):
        monkeypatch.setattr(long, reached)


@pytest.fixture
def own(tmp_path):
    """Return a collection of one's own, of which teams alone are on record."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r").write_text("1 Q0 d1 1 1.0 r\n")
    (tmp_path / "blank").write_text("")
    return ptr.register_collection("mine/checked", runs=tmp_path / "runs", teams={"r": "A"})


#: what is wrong -> the argument of get_runs and its value, a path being that of a file beside the runs
OF_ANY = {
    "order": ("order", "x"),
    "pool_order": ("pool_order", "x"),
    "duplicates": ("duplicates", "x"),
    "bad_lines": ("bad_lines", "x"),
    "other_files": ("other_files", "x"),
    "missing": ("missing", "x"),
    "download": ("download", "no"),
    "verbose": ("verbose", "no"),
    "n_jobs": ("n_jobs", 0),
    "cache": ("cache", 5),
    "pooled": ("pooled", "yes"),
    "team": ("team", 5),
    "types": ("types", 5),
    "task": ("task", "nobody's"),
}
FILES = {"cache": "blank", "types": "nowhere", "runs": "nowhere"}


@pytest.mark.parametrize("fault", OF_ANY)
def test_runs_on_record(fault, unreached, messages):
    argument, value = OF_ANY[fault]
    messages.refused(lambda: ReuseDataset("trec-8/adhoc").get_runs(**{argument: value}), argument=argument)


@pytest.mark.parametrize("fault", [*OF_ANY, "not on record"])
def test_own_runs(fault, own, unreached, messages):
    argument, value = OF_ANY.get(fault, ("pooled", True))
    messages.refused(lambda: own.get_runs(**{argument: value}), argument=argument)


@pytest.mark.parametrize("argument", FILES)
def test_files(argument, own, unreached, messages, tmp_path):
    for dataset in (ReuseDataset("trec-8/adhoc"), own):
        given = {argument: tmp_path / FILES[argument]}
        messages.refused(lambda dataset=dataset, given=given: dataset.get_runs(**given))


def test_a_cache_that_cannot_be_kept(own, unreached, messages, tmp_path):
    for dataset in (ReuseDataset("trec-8/adhoc"), own):
        cache = tmp_path / "blank" / "below"
        messages.refused(lambda dataset=dataset, cache=cache: dataset.get_runs(cache=cache), argument="cache")


@pytest.mark.parametrize("argument", ["runs", "qrels", "figures", "download", "verbose"])
def test_verify(argument, unreached, messages, tmp_path):
    value = "no" if argument in ("download", "verbose") else tmp_path / "nowhere"
    messages.refused(lambda: ptr.verify("trec-8/adhoc", **{argument: value}))


def test_types_of_ones_own_are_laid_over_those_of_a_definition(own, tmp_path):
    (tmp_path / "types").write_text("r special\n")
    table = own.get_runs(types=tmp_path / "types", team=(team for team in ["A"]), names=["r"]).run_table
    assert table[["name", "team", "type", "type_source"]].values.tolist() == [
        ["r", "A", "special", str(tmp_path / "types")]
    ]
