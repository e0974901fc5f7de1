"""What can be judged of a call on a collection is judged before a file is read or fetched, or judgments looked for."""

from __future__ import annotations

import pytest

from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.verification.verification import verify

#: arguments of get_runs with a value that none of them takes
WRONG = {
    "order": "x", "pool_order": "x", "duplicates": "x", "bad_lines": "x", "other_files": "x", "missing": "x",
    "download": "no", "verbose": "no", "n_jobs": 0, "cache": 5, "pooled": "yes", "team": 5, "types": 5,
    "task": "nobody's",
}  # fmt: skip


@pytest.fixture
def reached(monkeypatch, tmp_path):
    """Return what of reading, fetching and looking for judgments a call has come to."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    found = []
    for long in (
        "pt_reuse.data.run_files.parse_files",
        "pt_reuse.data.store.fingerprints",
        "pt_reuse.collections.runs.fetch_runs",
        "pt_reuse.collections.dataset.ReuseDataset.get_qrels",
    ):
        monkeypatch.setattr(long, lambda *_, long=long, **__: found.append(long))
    return found


def test_arguments(reached, messages):
    for argument, value in WRONG.items():
        messages.refused(ReuseDataset("trec-8/adhoc").get_runs, argument=argument, **{argument: value})
    assert reached == []


def test_a_folder_without_runs_is_named(reached, messages, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    calls = {
        "get_runs": lambda: ReuseDataset("trec-8/adhoc").get_runs(runs=folder),
        "verify": lambda: verify("trec-8/adhoc", runs=folder),
    }
    for name, call in calls.items():
        assert str(folder) in str(messages.refused(call)), name
    assert reached == []
