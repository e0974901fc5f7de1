"""Runs that are not on this machine: what is said of those that cannot be downloaded."""

from __future__ import annotations

import pytest
from collection_parts import no_network, offline

import pt_reuse as ptr
from pt_reuse.collections import getting
from pt_reuse.collections.download.runs import FolderInUseError


def test_missing_runs_are_counted_with_the_teams_that_go(messages, trec8_home):
    with pytest.warns(ptr.ReuseWarning) as caught:
        offline().get_runs(pooled=True)
    message = str(caught[0].message)
    assert "67 of 71 runs missing, 4 there" in message
    pooled = offline().submitted().query("pooled")
    absent = set(pooled["team"]) - {"ntexas", "ge", "umass", "miti"}
    assert f"{len(absent)} teams without any run left: {', '.join(sorted(absent))})" in message
    assert "Download: no network. (67 runs)" in message
    assert str(trec8_home / "trec-8" / "adhoc" / "runs") in message
    messages.refused(lambda: offline().get_runs(pooled=True, missing="error"))
    messages.refused(lambda: offline().get_runs(missing="drop"))


def test_without_any_run_the_error_says_which_folder_to_fill(messages, home):
    with pytest.raises(ptr.InputError) as error:
        offline().get_runs()
    message = str(error.value)
    assert "none of 129 runs is on this machine, and none could be downloaded: no network. (129 runs)" in message
    assert f"{home / 'trec-8' / 'adhoc' / 'runs'}, named 'input.1.gz', 'input.8manexT3D1N0.gz'" in message
    messages.refused(lambda: offline().get_runs(download=False))


def test_fetch_reports_each_run(trec8_home):
    report = offline().fetch(type="manual")
    assert report.set_index("name").loc["READWARE", "status"] == getting.FetchStatus.HERE == "here"
    assert set(report["status"]) == {"here", "failed"}
    assert set(report["reason"]) == {None, "no network."}
    assert len(report) == 13


def test_a_folder_in_use_is_an_error_and_no_partial_field(messages, trec8_home, monkeypatch):
    def in_use(*_, **__):
        raise FolderInUseError("fetch_runs: another call is downloading")

    monkeypatch.setattr(getting, "fetch_runs", in_use)
    messages.refused(lambda: offline().get_runs())


def test_a_download_that_brings_nothing_leaves_no_folders(home, monkeypatch):
    def nothing(urls, folder, **_):
        folder.mkdir(parents=True)
        return no_network(urls)

    monkeypatch.setattr(getting, "fetch_runs", nothing)
    home.mkdir()
    assert offline().fetch(names="1")[["status", "reason"]].values.tolist() == [["failed", "no network."]]
    assert list(home.iterdir()) == []
