"""What can be judged of a call on a collection is judged before a file is read or fetched, or judgments looked for."""

from __future__ import annotations

import pytest

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
        "pt_reuse.collections.runs.fetch_runs",
        "pt_reuse.collections.dataset.ReuseDataset.get_qrels",
    ):
        monkeypatch.setattr(long, reached)


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


def test_runs_on_record(unreached, messages):
    for argument, value in OF_ANY.values():
        given = {argument: value}
        messages.refused(lambda given=given: ReuseDataset("trec-8/adhoc").get_runs(**given), argument=argument)
