"""The shipped catalogue: its numbers against the records, ir_datasets and real judgments, and how it is built."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest

from pt_reuse.collections.catalogue import catalogue_names, catalogued
from pt_reuse.collections.collection import Collection
from pt_reuse.qrels.reading import read_qrels

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "build_catalogue.py"
CURATED = ROOT / "scripts" / "catalogue"
SHIPPED = ROOT / "pt_reuse" / "collections" / "data" / "catalogue"
COLUMNS = ["name", "team", "type", "official_type", "task", "pooled", "published", "url"]
RESULTS = "https://trec.nist.gov/results/"

#: collection -> runs, teams, runs pooled on record
SIZES = {
    "trec-2/adhoc": (35, 20, None), "trec-3/adhoc": (37, 20, None), "trec-4/adhoc": (39, 23, None),
    "trec-5/adhoc": (80, 29, None), "trec-6/adhoc": (79, 31, None), "trec-7/adhoc": (103, 42, None),
    "trec-8/adhoc": (129, 41, 71),
    "trec-2003/robust": (78, 16, None), "trec-2004/robust": (110, 14, None),
    "trec-2004/terabyte": (70, 17, None),
    "trec-2011/medical": (127, 29, None),
    "trec-2017/core": (75, 15, None), "trec-2018/core": (72, 11, None),
    "trec-covid/round1": (143, 56, 56), "trec-covid/round2": (136, 51, 52), "trec-covid/round3": (79, 31, 31),
    "trec-covid/round4": (72, 27, 51), "trec-covid/round5": (126, 28, 99),
}  # fmt: skip
#: collection -> runs
RUNS = {
    "trec-2019/deep/docs": 38, "trec-2019/deep/passages": 37, "trec-2020/deep/docs": 64, "trec-2020/deep/passages": 59,
    "trec-2021/deep/docs": 66, "trec-2021/deep/passages": 63, "trec-2022/deep/docs": 42,
    "trec-2022/deep/passages": 100, "trec-2023/deep/docs": 5, "trec-2023/deep/passages": 35,
    "trec-2006/terabyte/adhoc": 80, "trec-2013/web/adhoc": 34, "trec-2014/web/adhoc": 30, "trec-4/spanish": 19,
}  # fmt: skip
#: collection -> file of its judgments
QRELS = {
    "trec-7/adhoc": "qrels/qrels.adhoc.351-400.txt.gz", "trec-8/adhoc": "trec8-adhoc/trec8.qrels.gz",
    "trec-2005/robust": "qrels/qrels.robust05.txt.gz", "trec-2013/web/adhoc": "qrels/qrels.web.201-250.txt.gz",
    "trec-2017/core": "qrels/qrels.core17.txt.gz", "trec-2018/core": "qrels/qrels.core18.txt.gz",
    "trec-2019/deep/docs": "qrels/qrels.dl19-doc.txt.gz", "trec-2019/deep/passages": "qrels/qrels.dl19-passage.txt.gz",
    "trec-2020/deep/docs": "qrels/qrels.dl20-doc.txt.gz", "trec-2020/deep/passages": "qrels/qrels.dl20-passage.txt.gz",
    "trec-2021/deep/docs": "qrels/qrels.dl21-doc.txt.gz", "trec-2021/deep/passages": "qrels/qrels.dl21-passage.txt.gz",
    **{f"trec-covid/round{n}": f"qrels/qrels.covid-round{n}.txt.gz" for n in range(1, 5)},
    "trec-covid/round5": "trec-covid-round5/qrels.covid-round5.txt.gz",
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", catalogue_names())
WITH_IRDS = [name for name in catalogue_names() if catalogued(name).irds_id]


@pytest.fixture(scope="module")
def build():
    """Return the script that builds the catalogue, as a module."""
    spec = importlib.util.spec_from_file_location("build_catalogue", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def submitted(data):
    """Return NIST's list of runs: (year, track folder, run) -> rows."""
    path = data / "catalogue" / "runs.csv.gz"
    if not path.is_file():
        pytest.skip("the test data has no list of runs")
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@lru_cache(maxsize=1)
def listed():
    """Return ir_datasets' own list of what its datasets hold."""
    import ir_datasets

    return json.loads((Path(ir_datasets.__file__).parent / "etc" / "metadata.json").read_text(encoding="utf-8"))


def metadata(irds, part):
    """Return what the list says of a part of a dataset."""
    entries = listed()
    entry = entries[irds]
    entry = entries[entry["_ref"]] if "_ref" in entry else entry
    value = entry[part]
    return entries[value["_ref"]][part] if "_ref" in value else value


def rows_of(name):
    with (CURATED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def urls(collection):
    """Return run -> where it is published."""
    frame = collection.submitted
    template = collection.url or ""
    return {row.name: row.url or template.replace("{tag}", row.name) for row in frame.itertuples(index=False)}


# what it has ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIZES)
def test_runs_teams_and_who_was_pooled(name):
    collection = catalogued(name)
    frame = collection.submitted
    runs, teams, pooled = SIZES[name]
    assert (len(frame), frame["team"].nunique()) == (runs, teams)
    assert collection.pooled_is_on_record == (pooled is not None)
    if pooled is None:
        assert frame["pooled"].tolist() == [None] * runs
    else:
        assert frame["pooled"].dtype == bool
        assert frame["pooled"].sum() == pooled


def test_every_team_of_trec_covid_was_heard():
    per_team = [catalogued(f"trec-covid/round{n}").submitted.groupby("team")["pooled"].sum() for n in range(1, 5)]
    assert [Counter(counts) for counts in per_team] == [{1: 56}, {1: 50, 2: 1}, {1: 31}, {2: 24, 1: 3}]


@pytest.mark.parametrize("name", RUNS)
def test_runs_of_a_task(name):
    assert len(catalogued(name).submitted) == RUNS[name]


def test_every_family_is_there():
    wanted = {f"trec-{n}/adhoc" for n in range(1, 9)} | {f"trec-{y}/robust" for y in (2003, 2004, 2005)}
    wanted |= {"trec-2004/terabyte", "trec-2005/terabyte/adhoc", "trec-2006/terabyte/adhoc", "trec-2011/medical"}
    wanted |= {f"trec-{y}/web/adhoc" for y in range(2009, 2015)} | {"trec-2017/core", "trec-2018/core"}
    wanted |= {f"trec-{y}/deep/{kind}" for y in range(2019, 2024) for kind in ("docs", "passages")}
    wanted |= {f"trec-covid/round{n}" for n in range(1, 6)}
    assert wanted <= set(catalogue_names())


def test_names_are_in_order_and_say_what_they_are():
    names = catalogue_names()
    assert names == sorted(names, key=lambda name: (catalogued(name).year, name))
    assert len(set(names)) == len(names) == 95
    assert all(re.fullmatch(r"trec-(\d+|covid)(/[a-z0-9-]+){1,2}", name) for name in names)
    # TREC-1 was in 1992; from 2001 on the year stands in the name
    for name in names:
        number = re.match(r"trec-(\d+)", name)
        if number:
            value = int(number[1])
            assert catalogued(name).year == (value if value > 2000 else 1991 + value)


def test_the_order_in_which_a_pool_was_made():
    made = {name for name in catalogue_names() if catalogued(name).pool_order == "file"}
    deep = {f"trec-{year}/deep/{kind}" for year in (2019, 2020, 2021) for kind in ("docs", "passages")}
    assert made == {f"trec-covid/round{n}" for n in range(1, 6)} | deep
    assert {catalogued(name).pool_order for name in catalogue_names()} == {None, "file"}


def test_trec1_has_no_runs_on_record():
    assert catalogued("trec-1/adhoc").submitted is None


@EVERY
def test_a_collection_is_sound(name):
    collection = catalogued(name)
    assert isinstance(collection, Collection)
    assert (collection.name, collection.origin) == (name, "catalogue")
    assert collection.topics == collection.qrels
    assert collection.documents == (None if name == "trec-2020/news/background" else collection.qrels)
    assert (collection.url is None) == (collection.access is None)
    assert (collection.n_judged is None) == (collection.n_relevant is None)
    if collection.n_judged is not None:
        assert 0 < collection.n_relevant <= collection.n_judged
    if collection.topic_ids is not None and collection.n_topics is not None:
        assert collection.n_topics <= len(collection.topic_ids)
    assert collection.note == "" or collection.note.endswith(".")
    frame = collection.submitted
    if frame is None:
        return
    assert list(frame.columns) == COLUMNS
    assert len(frame) > 0
    assert frame["name"].tolist() == sorted(frame["name"])
    assert frame["name"].str.lower().is_unique, "two files that some file systems take for one"
    assert frame["name"].str.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*").all()
    assert (frame["team"].str.strip() != "").all()
    assert set(frame["type"]) <= {"automatic", "manual", "feedback", "unknown"}
    assert (frame["published"] == (collection.url is not None)).all()
    assert frame["url"].isna().all() or name in {"trec-4/adhoc", "trec-5/adhoc", "trec-6/adhoc"}


def test_folders_of_two_collections_are_the_same_only_within_a_track():
    tracks = {}
    for name in catalogue_names():
        for folder in catalogued(name).folders:
            assert not Path(folder).is_absolute()
            assert ".." not in Path(folder).parts
            tracks.setdefault(folder, set()).add("/".join(name.split("/")[:2]))
    assert {folder: found for folder, found in tracks.items() if len(found) > 1} == {}


def test_runs_of_one_track_do_not_take_one_name():
    """Files are found by name in the folder of a track: two tasks must not mean different files by one."""
    seen = Counter()
    for name in catalogue_names():
        collection = catalogued(name)
        if collection.submitted is not None:
            seen.update(("/".join(name.split("/")[:2]), run) for run in collection.submitted["name"])
    assert [run for run, times in seen.items() if times > 1] == []


def test_folders_known_by_name():
    assert {"trec-8-adhoc", "trec8/adhoc", "trec8-adhoc"} <= set(catalogued("trec-8/adhoc").folders)
    assert {"trec-covid-round5", "round5"} <= set(catalogued("trec-covid/round5").folders)
    assert "trec28/deep" in catalogued("trec-2019/deep/docs").folders


def test_what_is_given_out_is_the_callers():
    first = catalogued("trec-8/adhoc")
    first.submitted["team"] = "somebody"
    first.submitted.insert(0, "mine", 1)
    first.sources.prefixes["FT"] = "changed"
    catalogue_names().clear()
    again = catalogued("trec-8/adhoc")
    assert list(again.submitted.columns) == COLUMNS
    assert again.submitted["team"].nunique() == 41
    assert again.sources.of("FT911-1") == "FT"
    assert catalogue_names()


def test_no_collection_of_an_unknown_name():
    assert catalogued("trec-8") is None
    assert catalogued("../trec-8/adhoc") is None


def test_nothing_is_read_before_it_is_asked_for():
    code = (
        "import sys, pt_reuse.collections.catalogue as c\n"
        "print(c._entries.cache_info().currsize, c._runs.cache_info().currsize, 'ir_datasets' in sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.split()[:2] == ["0", "0"]


def test_topic_ids():
    assert catalogued("trec-8/adhoc").topic_ids == frozenset(str(n) for n in range(401, 451))
    robust = catalogued("trec-2004/robust")
    assert (len(robust.topic_ids), robust.n_topics) == (250, 249)
    assert len(catalogued("trec-2005/robust").topic_ids) == 50
    assert len(catalogued("trec-2020/deep/docs").topic_ids) == 200
    assert len(catalogued("trec-2021/deep/passages").topic_ids) == 477
    assert catalogued("trec-2003/robust").topic_ids is None


# types and addresses -------------------------------------------------------------------------------------------------


def test_types_are_those_of_the_table():
    table = {row["official_type"]: row["type"] for row in rows_of("types.csv")}
    used = set()
    for name in catalogue_names():
        frame = catalogued(name).submitted
        if frame is not None:
            assert frame["type"].tolist() == [table[word] for word in frame["official_type"]]
            used |= set(frame["official_type"])
    assert used >= {"", "auto", "automatic", "feedback", "human-assisted", "interactive", "manual", "relauto"}
    assert all(row["reason"] for row in rows_of("types.csv"))


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("trec-8/adhoc", {"automatic": 116, "manual": 13}),
        ("trec-2018/core", {"automatic": 34, "feedback": 31, "manual": 7}),
        ("trec-2005/robust", {"automatic": 70, "manual": 4}),
        ("trec-covid/round5", {"feedback": 68, "automatic": 49, "manual": 9}),
        ("trec-2019/deep/docs", {"automatic": 38}),
        ("trec-2/adhoc", {"unknown": 35}),
    ],
)
def test_types(name, counts):
    assert Counter(catalogued(name).submitted["type"]) == counts


@pytest.mark.parametrize(
    ("name", "run", "url", "access"),
    [
        ("trec-8/adhoc", "ok8alx", "trec8/trec8.results.input/adhoc/input.ok8alx.gz", "password"),
        ("trec-4/adhoc", "KU1", "trec4/trec4.results.input/adhoc/Categoryb/input.KU1.Z", "password"),
        ("trec-2003/robust", "uwmtCR0", "trec12/robust/inputs/input.uwmtCR0.gz", "password"),
        ("trec-2019/deep/docs", "idst_bert_v1", "trec28/deep/input.idst_bert_v1.gz", "password"),
        (
            "trec-covid/round5",
            "covidex.r5.1s",
            "https://ir.nist.gov/trec-covid/archive/round5/covidex.r5.1s.gz",
            "open",
        ),
        ("trec-covid/round1", "run1", "https://ir.nist.gov/trec-covid/archive/round1/run1", "open"),
    ],
)
def test_addresses(name, run, url, access):
    collection = catalogued(name)
    assert urls(collection)[run] == (url if url.startswith("https") else RESULTS + url)
    assert collection.access == access


@EVERY
def test_runs_are_where_and_whose_the_list_says(name, submitted):
    collection = catalogued(name)
    if collection.submitted is None:
        return
    curated = {row["name"]: row for row in rows_of("collections.csv")}[name]
    rows = submitted[(submitted["trec"] == curated["trec"]) & (submitted["track_dir"] == curated["track"])]
    if curated["tasks"] != "*":
        rows = rows[rows["task"].isin(curated["tasks"].split("|"))]
    rows = rows.set_index("run").loc[collection.submitted["name"]]
    assert len(rows) == len(collection.submitted)
    assert rows["input_url"].tolist() == list(urls(collection).values())
    assert rows["group"].tolist() == collection.submitted["team"].tolist()
    assert rows["type"].tolist() == collection.submitted["official_type"].tolist()
    assert rows["task"].tolist() == collection.submitted["task"].tolist()


def test_labels_agree_with_the_tracks_own_records(trec8, covid):
    for collection, real in ((catalogued("trec-8/adhoc"), trec8), (catalogued("trec-covid/round5"), covid)):
        ours = collection.submitted.set_index("name")
        theirs = real.runs.run_table.set_index("name").loc[ours.index]
        assert ours["team"].tolist() == theirs["team"].tolist()
        assert ours["official_type"].tolist() == theirs["type"].tolist()
        assert ours["pooled"].tolist() == theirs["pooled"].tolist()


# judgments -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_IRDS)
def test_ir_datasets_has_topics_and_judgments(name):
    import ir_datasets

    collection = catalogued(name)
    dataset = ir_datasets.registry[collection.irds_id]
    parts = {part: hasattr(dataset, f"{part}_handler") for part in ("docs", "queries", "qrels")}
    assert parts == {"docs": collection.documents is not None, "queries": True, "qrels": True}
    qrels = metadata(collection.irds_id, "qrels")
    labels = qrels["fields"]["relevance"]["counts_by_value"]
    assert collection.n_judged == qrels["count"]
    assert collection.n_relevant == sum(times for label, times in labels.items() if int(label) > 0)
    queries = metadata(collection.irds_id, "queries")["count"]
    assert collection.n_topics is None or collection.n_topics <= queries
    # a dataset of the judged topics alone has as many of them
    if collection.irds_id.endswith("/judged"):
        assert collection.n_topics == queries


@pytest.mark.parametrize("name", WITH_IRDS)
def test_the_dataset_is_of_the_year_of_the_track(name):
    collection = catalogued(name)
    last = collection.irds_id.split("trec", 1)[-1] if "trec" in collection.irds_id else collection.irds_id
    number = re.match(r"trec-(\d+|covid)", name)[1]
    years = re.findall(r"(?:19|20)\d\d", last)
    if years:
        assert {int(year) for year in years} == {collection.year}
    elif number == "covid":
        assert collection.irds_id.endswith(name)
    elif name == "trec-2017/car/passages":
        assert last == "-y1/manual", "2017 was the first year of the track"
    else:
        assert re.search(r"\d+", last)[0] == number


@pytest.mark.parametrize("name", QRELS)
def test_counts_are_those_of_the_judgments(name, data):
    path = data / QRELS[name]
    if not path.is_file():
        pytest.skip(f"the test data has no {QRELS[name]}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    collection = catalogued(name)
    topics = {row[0] for row in rows}
    assert collection.n_topics == len(topics)
    assert collection.n_judged == len(rows)
    assert collection.n_relevant == sum(int(row[3]) > 0 for row in rows)
    assert collection.topic_ids is None or topics <= collection.topic_ids


def test_sources_of_trec8(data):
    qrels = read_qrels(data / "trec8-adhoc" / "trec8.qrels.gz")
    sources = catalogued("trec-8/adhoc").sources
    counts = Counter(sources.of(docno) for docno in qrels.to_frame()["docno"])
    assert counts == {"FBIS": 28_484, "FT": 22_516, "LA": 21_259, "FR94": 14_571}


def test_sources_of_robust_2005(data):
    qrels = read_qrels(data / "qrels" / "qrels.robust05.txt.gz")
    sources = catalogued("trec-2005/robust").sources
    assert set(map(sources.of, qrels.to_frame()["docno"])) == {"APW", "NYT", "XIE"}


@pytest.mark.parametrize(
    ("name", "docno", "source"),
    [
        ("trec-3/adhoc", "WSJ870324-0001", "WSJ"),
        ("trec-3/adhoc", "FR89103-0001", "FR"),
        ("trec-4/adhoc", "SJMN91-06182001", "SJMN"),
        ("trec-5/adhoc", "FR940104-0-00001", "FR94"),
        ("trec-5/adhoc", "FT921-1", "FT"),
        ("trec-6/adhoc", "CR93E-1", "CR"),
        ("trec-2004/robust", "FBIS3-1", "FBIS"),
        ("trec-2019/cast", "MARCO_1", "MARCO"),
        ("trec-8/adhoc", "GX000-00-0000000", None),
    ],
)
def test_sources(name, docno, source):
    assert catalogued(name).sources.of(docno) == source


def test_no_sources_where_a_docno_tells_none():
    assert catalogued("trec-covid/round5").sources is None
    assert catalogued("trec-2019/deep/passages").sources is None


# how it is built -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["0", "7"])
def test_a_build_gives_what_is_shipped(data, seed):
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, str(SCRIPT), "--data", str(data), "--check"]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_check_says_what_differs(data, build, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "OUT", tmp_path / "out")
    monkeypatch.setattr(build, "PAGE", tmp_path / "page.rst")
    assert build.main(data, check=True) == 1
    assert not list(tmp_path.iterdir())
    assert build.main(data, check=False) == 0
    assert build.main(data, check=True) == 0
    runs = tmp_path / "out" / "runs.csv"
    assert runs.read_bytes() == (SHIPPED / "runs.csv").read_bytes()
    runs.write_bytes(runs.read_bytes().replace(b"yes", b"no", 1))
    capsys.readouterr()
    assert build.main(data, check=True) == 1
    assert "runs.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": "../evil"}, "unsafe names"),
        ({"run": "8MANEXT3D1N0"}, "the same name twice"),
        ({"input_url": "https://example.org/x"}, "is at 'https://example.org/x'"),
        ({"type": "psychic"}, "lacks 'psychic'"),
        ({"group": ""}, "a run without a team"),
        ({"run": "another"}, "names others"),
    ],
)
def test_a_build_stops_at_what_is_wrong(change, message, data, build, monkeypatch):
    rows = build.table(data / "catalogue" / "runs.csv.gz")
    row = next(row for row in rows if row["run"] == "ok8alx")
    row.update(change)
    if "run" in change:
        row["input_url"] = f"{RESULTS}trec8/trec8.results.input/adhoc/input.{change['run']}.gz"
    read = build.table
    monkeypatch.setattr(build, "table", lambda path: rows if path.name == "runs.csv.gz" else read(path))
    with pytest.raises(SystemExit, match=re.escape(message)):
        build.build(data)


def test_the_page_of_the_documentation_is_that_of_the_catalogue(build):
    collections = json.loads((SHIPPED / "collections.json").read_text(encoding="utf-8"))["collections"]
    lines = (SHIPPED / "runs.csv").read_text(encoding="utf-8").splitlines()
    runs = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    text = (ROOT / "docs" / "collections-list.rst").read_text(encoding="utf-8")
    assert build.page(collections, runs) == text
    assert all(f"       | {catalogued(name).irds_id}\n" in text for name in WITH_IRDS)
    assert all(f"   * - | ``{name}``\n" in text for name in catalogue_names())


def test_shipped_files_are_small_plain_and_say_where_from():
    content = {path.name: path.read_bytes() for path in SHIPPED.iterdir()}
    assert set(content) == {"collections.json", "runs.csv"}
    assert sum(map(len, content.values())) < 600_000
    for text in content.values():
        assert b"trec-browser @ 06c261d0" in text
        assert b"round 5 @ be3ed3fc" in text
        assert b"\r" not in text
        assert b"@" not in re.sub(rb" @ [0-9a-f]{40}", b"", text), "an address of a person"
