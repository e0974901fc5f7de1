"""Topics, judgments and documents: where they are had from, and what is said where they cannot be had."""

from __future__ import annotations

import gzip
import shutil

import pytest
from collection_parts import TREC8, in_python, offline, write_run

import pt_reuse as ptr


def test_judgments_put_into_the_users_folder(messages, home):
    ds, folder = offline("trec-2/adhoc"), home / "trec-2" / "adhoc"
    messages.refused(lambda: ds.get_qrels())
    folder.mkdir(parents=True)
    (folder / "qrels.txt").write_text("101 0 AP880212-0001 1\n102 0 WSJ1 0\n")
    (folder / "topics.tsv").write_text("101\tdesign of the star wars shield\n")
    assert offline("trec-2/adhoc").get_judgments().topics == ["101", "102"]
    assert offline("trec-2/adhoc").get_topics()["query"].tolist() == ["design of the star wars shield"]


def test_judgments_that_ir_datasets_lacks_are_said_to_be_elsewhere(messages, home):
    """Of some collections it has the documents alone, or no judgments: both are the user's to bring."""
    for name in ("trec-2024/neuclir/zho", "trec-2022/trials", "trec-2024/rag/retrieval"):
        messages.refused(lambda name=name: offline(name).get_qrels())
    ds = offline("neuclir24-zho")
    messages.refused(lambda: ds.get_topics())
    assert (ds.irds_ref().has_docs(), ds.irds_ref().has_queries(), ds.irds_ref().has_qrels()) == (True, False, False)
    folder = home / "trec-2024" / "neuclir" / "zho"
    folder.mkdir(parents=True)
    (folder / "qrels.txt").write_text("300 0 d1 3\n300 0 d2 0\n")
    (folder / "topics.tsv").write_text("300\tsanctions\n")
    ds = offline("neuclir24-zho")
    assert ds.get_topics().to_dict("list") == {"qid": ["300"], "query": ["sanctions"]}
    assert ds.get_judgments().topics == ["300"]
    assert ("judgments", "published at") not in [(what, text[:12]) for what, text in ds.facts()]


def test_parts_where_ir_datasets_looks(data, tmp_path):
    """Judgments of tracks, and an own collection over documents that ir_datasets has beside it."""
    shutil.copytree(data / "irds-cache" / "vaswani", tmp_path / "irds" / "vaswani")
    covid = tmp_path / "irds" / "cord19" / "trec-covid" / "round5"
    covid.mkdir(parents=True)
    with gzip.open(data / "trec-covid-round5" / "qrels.covid-round5.txt.gz") as packed:
        (covid / "qrels").write_bytes(packed.read())
    code = (
        "import pyterrier as pt, ir_datasets, pt_reuse as ptr\n"
        "print(len(pt.get_dataset('reuse:trec-covid/round5').get_qrels()))\n"
        "print(len(pt.get_dataset('irds:reuse/trec-covid/round5').get_qrels()))\n"
        "print(len(pt.get_dataset('irds:cord19/trec-covid/round5').get_qrels()))\n"
        "irds = 'irds:vaswani'\n"
        "ptr.register_collection('my/vaswani', documents=irds, topics=irds, qrels=irds)\n"
        "ds = pt.get_dataset('reuse:my/vaswani')\n"
        "print(sorted(next(iter(ds.get_corpus_iter(verbose=False)))), len(ds.get_topics()), len(ds.get_qrels()))\n"
        "print(len(pt.get_dataset('irds:reuse/my/vaswani').get_topics()), len(pt.get_dataset(irds).get_topics()))\n"
    )
    lines = in_python(code, IR_DATASETS_HOME=tmp_path / "irds", PT_REUSE_HOME=tmp_path / "home").splitlines()
    assert lines == [
        "23151",
        "23151",
        "23151",
        "['docno', 'text'] 93 2083",
        "93 93",
    ]


def test_without_a_network_the_last_line_says_what_to_do(messages, home, monkeypatch):
    import requests

    def fails(self, *arguments, **options):
        failed = requests.ConnectionError("pool", request=requests.Request("GET", "https://trec.nist.gov/x").prepare())
        raise RuntimeError("All download sources failed", [("x", failed)])

    monkeypatch.setattr("ir_datasets.util.download.Download.path", fails)
    for call, file in ((lambda ds: ds.get_topics(), "topics.tsv"), (lambda ds: ds.get_qrels(), "qrels.txt")):
        error = messages.refused(lambda call=call: call(offline()))
        assert f"no connection to trec.nist.gov. Put them into {home / 'trec-8' / 'adhoc'} as {file}" in str(error)
        # no traceback of the libraries is shown above it
        assert error.__suppress_context__
        assert error.__cause__ is None


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


def test_a_run_of_another_collection_is_an_error(messages, trec8_home):
    path = trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz"
    write_run(path, "1", topics=("351", "352"))
    with pytest.raises(ptr.InputError) as error:
        offline().get_runs(missing="ignore")
    assert f"{path}, taken for run '1', has no topic of the collection: it has '351', '352'" in str(error.value)
    write_run(path, "1", topics=("352", "401"))
    messages.warned(lambda: offline().get_runs(missing="ignore"))


def test_a_run_with_few_topics_is_told(messages, trec8_home):
    write_run(trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz", "1", topics=("401",))
    for name in TREC8[1:]:
        write_run(trec8_home / "trec-8" / "adhoc" / "runs" / f"input.{name}.gz", name, topics=("401", "402", "403"))
    messages.warned(lambda: offline().get_runs(missing="ignore"))
