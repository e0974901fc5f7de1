"""Files that are taken for a collection's but are not quite what is on record."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pandas as pd
import pytest
from collection_parts import TREC8, offline, write_run

import pt_reuse as ptr
from pt_reuse.collections.getting import compare_judgments
from pt_reuse.collections.registry import find_collection


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_judgments_that_are_not_the_official_ones_are_told(home):
    folder = home / "trec-covid" / "round5"
    folder.mkdir(parents=True)
    (folder / "qrels.txt").write_text("1 0 ug7v899j 2\n51 0 x 0\n")
    ds = offline("trec-covid/round5")
    named = f"ReuseDataset('reuse:trec-covid/round5', qrels={str(folder / 'qrels.txt')!r})"
    assert repr(ds).startswith(f"{named}: TREC-COVID round 5, 2020; 50 topics, ")
    with pytest.warns(ptr.ReuseWarning) as caught:
        assert len(ds.get_qrels()) == 2
    message = next(str(one.message) for one in caught if one.category is ptr.ReuseWarning)
    assert "2 judgments instead of 23,151; 1 relevant instead of 10,910; topics that are not its own: '51'" in message


def test_the_official_judgments_in_the_users_folder_are_not_told(data, home):
    folder = home / "trec-covid-round5"
    folder.mkdir(parents=True)
    shutil.copy(data / "trec-covid-round5" / "qrels.covid-round5.txt.gz", folder / "qrels.txt.gz")
    assert len(offline("trec-covid/round5").get_qrels()) == 23_151


def test_a_run_of_another_collection_is_an_error(messages, trec8_home):
    path = trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz"
    write_run(path, "1", topics=("351", "352"))
    with pytest.raises(ptr.InputError) as error:
        offline().get_runs(missing="ignore")
    assert f"{path}, taken for run '1', has no topic of the collection: it has '351', '352'" in str(error.value)
    write_run(path, "1", topics=("352", "401"))
    messages.warned(lambda: offline().get_runs(missing="ignore"))


def test_a_file_of_another_run_is_told(messages, trec8_home):
    path = trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz"
    write_run(path, "INQ604")
    messages.warned(lambda: offline().get_runs(missing="ignore"))
    # a tag that no other run has says nothing
    write_run(path, "someone")
    assert offline().get_runs(missing="ignore").names == TREC8


def test_a_run_with_few_topics_is_told(messages, trec8_home):
    write_run(trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz", "1", topics=("401",))
    for name in TREC8[1:]:
        write_run(trec8_home / "trec-8" / "adhoc" / "runs" / f"input.{name}.gz", name, topics=("401", "402", "403"))
    messages.warned(lambda: offline().get_runs(missing="ignore"))


def test_graded_judgments_are_counted_by_label(messages):
    """What is on record counts labels above 0, which are not all relevant."""
    collection = replace(find_collection("trec-2019/deep/passages"), qrels=("q.txt",))
    frame = pd.DataFrame({"qid": ["19335"] * 2, "docno": ["a", "b"], "label": [1, 2]})
    messages.warned(lambda: compare_judgments(collection, frame))
