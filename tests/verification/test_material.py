"""What a verification works on: collections by name, files of one's own, runs that are missing or strange."""

from __future__ import annotations

import pandas as pd
import pytest
from figure_parts import figure, small_field, small_qrels, written

from pt_reuse.collections import definition
from pt_reuse.collections.collection import Collection
from pt_reuse.data.run_set import read_runs
from pt_reuse.errors import ReuseWarning
from pt_reuse.verification.verification import verify


def trec8_runs(folder, *names):
    folder.mkdir()
    for name in names:
        (folder / f"input.{name}").write_text(f"401 Q0 d1 1 2.0 {name}\n401 Q0 d2 2 1.0 {name}\n")
    return folder


def of_trec8(folder, *figures):
    return written(folder, *(figure(*given, collection="trec-8/adhoc") for given in figures))


QRELS = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
TOPICS = ("judgments", {"topics": 1})


def test_missing_runs_leave_scores_to_be_checked(tmp_path, messages):
    scores = ("scores; measure=P@1", dict.fromkeys(["READWARE2", "orcl99man", "orcl99"], "1.0"), "P@1")
    file = of_trec8(tmp_path, ("field", {"runs": 129}, "runs"), scores, TOPICS)
    folder = trec8_runs(tmp_path / "runs", "READWARE2", "iit99ma1")
    found = verify("reuse:trec-8/adhoc", runs=folder, qrels=QRELS, figures=file)
    assert found.table["equal"].tolist() == [None, True, None, False, True]
    assert found.table["note"][0].startswith("not computed: 127 runs missing: ")
    assert found.table["note"][2] == "not computed: its run file is missing"
    # on record there is none of this name either
    assert "nothing is named 'orcl99', neither in the field nor on record. Did you mean" in found.table["note"][3]
    assert found.settings["runs"] == "2 of 129"
    (tmp_path / "empty").mkdir()
    messages.refused(lambda: verify("trec-8/adhoc", runs=tmp_path / "empty", qrels=QRELS, figures=file))


def test_runs_that_were_not_submitted_are_left_out(tmp_path, messages):
    file = of_trec8(tmp_path, TOPICS)
    both = read_runs(trec8_runs(tmp_path / "runs", "READWARE2", "mine"))
    found = messages.warned(lambda: verify("trec-8/adhoc", runs=both, qrels=QRELS, figures=file))
    assert found.settings["runs"] == "1 of 129"
    messages.refused(lambda: verify("trec-8/adhoc", runs=both.select("mine"), qrels=QRELS, figures=file))


def test_a_collection_of_ones_own(tmp_path, monkeypatch):
    """Its runs, labels and judgments come from its definition."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    small_field().write(tmp_path / "runs")
    qrels = small_qrels().write(tmp_path / "qrels.txt")
    labels = {"teams": {"A": "x", "B": "y", "C": "z"}, "pooled": ["A", "B"]}
    own = Collection(name="mine", title="Mine", qrels=(str(qrels),), runs=str(tmp_path / "runs"), labels=labels)
    monkeypatch.setattr(definition, "_OWN", {"mine": own})
    file = written(
        tmp_path,
        figure("uniques; depth=2", {"total": 4, "x": 2}, "uniques"),
        figure("scores; measure=AP; order=file", {"C": "0.5833"}, "MAP"),
        figure("scores; measure=AP; order=rank", {"C": "0.5833"}, "MAP, by the rank column"),
    )
    found = verify("mine", figures=file)
    assert found.table["equal"].tolist() == [True] * 4, found.table
    assert found.settings["runs"] == "3 of 3"
    # run files may be given one by one, and once
    files = iter(sorted((tmp_path / "runs").iterdir()))
    assert verify("mine", runs=files, figures=file).settings["runs"] == "3 of 3"


def test_no_runs_here_leaves_the_judgments_to_be_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    scores = ("scores; measure=AP", {"READWARE2": "0.5", "READWARE9": "0.5"}, "MAP")
    file = of_trec8(tmp_path, ("field", {"runs": 129}, "runs"), TOPICS, scores)
    found = verify("trec-8/adhoc", qrels=QRELS, figures=file)
    assert found.table["equal"].tolist() == [None, True, None, False]
    assert found.table["note"][0].startswith("not computed: no runs: ")
    assert found.table["note"][2].startswith("not computed: no runs: ")
    assert "nothing is named 'READWARE9'" in found.table["note"][3]
    assert found.settings["runs"] == "none"


def test_a_run_file_that_cannot_be_read_is_an_error(tmp_path, monkeypatch, messages):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    (tmp_path / "trec-8" / "adhoc").mkdir(parents=True)
    (tmp_path / "trec-8" / "adhoc" / "READWARE2").write_text("<html>\n")
    file = of_trec8(tmp_path, TOPICS)
    messages.refused(lambda: verify("trec-8/adhoc", qrels=QRELS, figures=file))
    (tmp_path / "trec-8" / "adhoc" / "acsys8alo").write_text("401 Q0 d1 1 2 acsys8alo\n401 Q0 d2\n")
    with pytest.warns(ReuseWarning):
        found = verify("trec-8/adhoc", qrels=QRELS, figures=file, bad_lines="skip", other_files="skip")
    assert (found.holds, found.settings["dropped"]) == (True, "1 line and 1 file")
