"""One reader of CSV: packed or not, with places in errors, nothing fetched; judgments whose columns are named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import socket
import urllib.request
import zipfile
from itertools import product

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.cli.judge import named_texts, read_topics
from pt_reuse.data.packed_files import read_csv
from pt_reuse.errors import InputError
from pt_reuse.judging.annotators.labels import read_label_rows
from pt_reuse.pooling.pool import SAMPLED
from pt_reuse.studies.new_runs.sampling import sampled_labels

COLUMNS = ["qid", "docno", "label", *SAMPLED]
SAMPLE = "qid,docno,label,inclusion,drawn,plan\n1,NA,1,1.0,3,00e1\n1,d1,0,0.5,3,00e1\nnull,d2,2,.25,3,00e1\n"
ROWS = [["1", "NA", 1.0, 1.0, 3.0, "00e1"], ["1", "d1", 0.0, 0.5, 3.0, "00e1"], ["null", "d2", 2.0, 0.25, 3.0, "00e1"]]


def zipped(data, *more):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in [("a.csv", data), ("__MACOSX/a.csv", b"x"), *more]:
            archive.writestr(name, content)
    return held.getvalue()


PACKED = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zip": zipped}


FORMS = {
    "plain": SAMPLE,
    "of Windows": "\ufeff" + SAMPLE.replace("\n", "\r\n"),
    "semicolons": "\n" + SAMPLE.replace(",", ";") + "\n\n",
    "tabs": SAMPLE.replace(",", "\t"),
    "quotes": SAMPLE.replace("NA", '"NA"').replace("1.0", '" 1.0 "'),
    "ir_measures": SAMPLE.replace("qid,docno", "query_id,doc_id"),
    "an empty column": SAMPLE.replace("\n", ",\n"),
    "a further column": SAMPLE.replace("\n", ",more\n").replace("plan,more", "plan,note"),
}


def test_a_sample_is_read_in_any_form(tmp_path):
    path = tmp_path / "sample.csv"
    for (form, text), (how, pack) in product(FORMS.items(), PACKED.items()):
        path.write_bytes(pack(text.encode()))
        assert sampled_labels(str(path))[COLUMNS].to_numpy().tolist() == ROWS, (form, how)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (SAMPLE.replace("0.5", "abc"), "line 3, column 'inclusion'"),
        (SAMPLE.replace("0.5", ""), "line 3, column 'inclusion'"),
        (SAMPLE.replace("0.5", "inf"), "line 3, column 'inclusion'"),
        (SAMPLE.replace("0.5", "0_5"), "line 3, column 'inclusion'"),
        (SAMPLE.replace("0.5", "٠"), "line 3, column 'inclusion'"),
        (SAMPLE.replace("d1,0,", "d1,,"), "line 3, column 'label'"),
        (SAMPLE.replace("d1,0,", "d1,yes,"), "line 3, column 'label'"),
        (SAMPLE.replace("0.5,3", "0.5,three"), "line 3, column 'drawn'"),
        (SAMPLE.replace("0.5,3", "0.5,"), "line 3, column 'drawn'"),
        (SAMPLE.replace("0.5,3,00e1", "0.5,3,"), "line 3, column 'plan'"),
        (SAMPLE.replace("d1,0,0.5", "d1,0"), "line 3"),
        (SAMPLE.replace("d1,0,0.5", "d1,0,0.5,7"), "line 3"),
        (SAMPLE.replace("d1", '"d1'), "line 3"),
        (SAMPLE.replace("inclusion", "docno"), "line 1"),
        *[pytest.param(SAMPLE.replace(name, "other"), None, id=f"no {name}") for name in SAMPLED],
        (SAMPLE.encode("utf-16"), None),
        ("", None),
        ("\n \n", None),
        pytest.param(gzip.compress(SAMPLE.encode())[:-9], None, id="cut short"),
        pytest.param(zipped(SAMPLE.encode(), ("b.csv", b"x")), None, id="two files"),
        pytest.param(zipped(SAMPLE.encode())[:60], None, id="zip cut short"),
    ],
)
def test_a_sample_that_cannot_be_read_is_told_with_line_and_column(text, place, tmp_path, messages):
    path = tmp_path / "sample.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    error = messages.refused(lambda: sampled_labels(path), argument="sampled")
    assert (error.place or "").removeprefix(str(path)).removeprefix(", ") == (place or "")


# nothing is fetched, whoever is given an address

ADDRESSES = ["http://localhost:9/x.csv", "s3://bucket/q.csv", "file:///q"]
DOORS = (
    sampled_labels,
    ptr.read_qrels,
    ptr.read_runs,
    ptr.read_leaderboard,
    ptr.judging.read_judges,
    read_topics,
    lambda url: read_label_rows([url]),
    lambda url: ptr.score({"A": url}, {"1": {"d": 1}}, "AP"),
    lambda url: ptr.RunSet.from_frames({"A": {"1": {"d": 1.0}}}, teams=url),
    lambda url: ptr.labels.grade_scores(url, 0.5),
)


def test_no_address_is_fetched(tmp_path, monkeypatch):
    def reached(*_, **__):
        pytest.fail("an address was looked up")

    monkeypatch.setattr(socket, "create_connection", reached)
    monkeypatch.setattr(socket, "getaddrinfo", reached)
    monkeypatch.setattr(urllib.request, "urlopen", reached)
    monkeypatch.chdir(tmp_path)
    for door in DOORS:
        for url in ADDRESSES:
            with pytest.raises(InputError):
                door(url)


# judgments whose first line names the columns

BEIR = "query-id\tcorpus-id\tscore\n1\td1\t2\n1\tNA\t0\n2\td 2\t1\n"
BOARD = [("1", "d1", 2), ("1", "NA", 0), ("2", "d 2", 1)]


@pytest.mark.parametrize(
    "text",
    [
        BEIR,
        BEIR.replace("\n", "\r\n"),
        "\ufeff# a comment\n\n" + BEIR,
        BEIR.replace("\t", ","),
        BEIR.replace("\t", ";").replace("query-id", "Query ID"),
        BEIR.replace("query-id\tcorpus-id\tscore", "query_id\tdoc_id\trelevance"),
        BEIR.replace("query-id\tcorpus-id\tscore", "Topic\tDocument_ID\tRel"),
        BEIR.replace("query-id\tcorpus-id\tscore", "qid\tdocno\tlabel"),
        BEIR.replace("query-id\tcorpus-id\tscore", "q_id\tdoc_id\tscore"),
        BEIR.replace("query-id\tcorpus-id\tscore", '"query-id"\t"corpus-id"\t"score"'),
        "qid,query,docno,docid,label,score\n" + "".join(f'{q},"a, b",{d},7,{label},.5\n' for q, d, label in BOARD),
        "label,iter,docno,qid\n" + "".join(f"{label},0,{d},{q}\n" for q, d, label in BOARD),
        BEIR.replace("2\n", "2.0\n"),
    ],
)
def test_judgments_with_a_header(text, tmp_path):
    for name, data in (("q.tsv", text.encode()), ("q.gz", gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(data)
        frame = ptr.read_qrels(tmp_path / name).to_frame()
        assert sorted(frame[["qid", "docno", "label"]].itertuples(index=False, name=None)) == sorted(BOARD)
        assert ptr.OnlyJudged(str(tmp_path / name)).qrels.to_frame().equals(frame)


def test_a_header_before_columns_at_white_space(tmp_path):
    (tmp_path / "q").write_text("query  iter docid rel\n1 0 d1 1\n1 0   d2 0\n")
    assert ptr.read_qrels(tmp_path / "q").to_frame()["label"].tolist() == [1, 0]
    (tmp_path / "s").write_text("qid iter docno stratum label\n1 0 a s 1\n1 0 b s -1\n")
    assert ptr.read_qrels(tmp_path / "s", strata=True).to_frame()["inclusion"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (BEIR.replace("\t0\n", "\t.5\n"), "line 3"),
        (BEIR.replace("\t0\n", "\t\n"), "line 3, column 'label'"),
        (BEIR.replace("NA", ""), "line 3, column 'docno'"),
        (BEIR.replace("NA\t", ""), "line 3"),
        (BEIR.replace("NA", "d1"), "lines 2 and 3"),
        (BEIR.split("\n")[0], None),
        (BEIR.replace("score", "score\trank").replace("\n1", "\t1\n1"), "line 1"),
        ("query-id\tcorpus-id\n1\td1\n", "line 1"),
    ],
)
def test_judgments_with_a_header_that_cannot_be(text, place, tmp_path, monkeypatch, messages):
    (tmp_path / "q.tsv").write_text(text)
    monkeypatch.chdir(tmp_path)
    messages.refused(lambda: ptr.read_qrels("q.tsv"), place=", ".join(filter(None, ["q.tsv", place])))


def test_white_space_around_ids_in_a_file_is_told(tmp_path):
    (tmp_path / "q").write_text(BEIR.replace("d1", "d1 "))
    with pytest.warns(ptr.ReuseWarning, match="white space"):
        assert "d1 " in ptr.read_qrels(tmp_path / "q").to_frame()["docno"].tolist()


@pytest.mark.parametrize("name", ["gpt", "gpt.csv"])
def test_labels_are_no_leaderboard(name, tmp_path, messages):
    text = BEIR if name != "gpt.csv" else BEIR.replace("\t", ",")
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / name).write_text(text)
    found = ptr.judging.read_judges(tmp_path / "judges")
    assert not found.leaderboards
    assert found.labels["gpt"].counts()[["judged", "relevant"]].sum().tolist() == [3, 2]
    assert "labels" in found.table["holds"].iloc[0]
    assert read_label_rows([tmp_path / "judges" / name])["label"].astype(int).tolist() == [2, 0, 1]
    frame = pd.DataFrame(BOARD, columns=["query-id", "corpus-id", "score"])
    for given in (tmp_path / "judges" / name, frame, frame.rename(columns={"score": "relevance"})):
        messages.refused(lambda given=given: ptr.read_leaderboard(given), argument="path")


# what a user's files may hold besides


def test_topics_and_texts_of_commands(tmp_path):
    for end, pack in {"": bytes, ".gz": gzip.compress}.items():
        (tmp_path / f"t.csv{end}").write_bytes(pack(b"qid,query\nNA,null\n"))
        assert read_topics(str(tmp_path / f"t.csv{end}")).to_numpy().tolist() == [["NA", "null"]]
        (tmp_path / f"t.tsv{end}").write_bytes(pack(b"\xef\xbb\xbfNA\tnull\r\n"))
        assert read_topics(str(tmp_path / f"t.tsv{end}")).to_numpy().tolist() == [["NA", "null"]]
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(b'\xef\xbb\xbf{"docno": "d", "text": "a"}\n\n{"docno": "e"}'))
    assert [row["docno"] for row in named_texts(str(tmp_path / "d.jsonl.gz"))] == ["d", "e"]
    (tmp_path / "bad.csv").write_bytes(b"qid,query\n1,a\n2,\xff\n")
    with pytest.raises(InputError) as caught:
        read_topics(str(tmp_path / "bad.csv"))
    assert caught.value.place.endswith("bad.csv")


# mutants: what an independent reader makes of them, or an error of ours


def test_places_of_rows(tmp_path):
    (tmp_path / "x.csv").write_text('a,b\n\n"1\n2",3\n4,5\n')
    table = read_csv(tmp_path / "x.csv")
    assert table.frame.to_numpy().tolist() == [["1\n2", "3"], ["4", "5"]]
    assert table.lines.tolist() == [3, 5]
