"""The shipped catalogue: its collections and runs against the records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pt_reuse.collections.collection import Collection, catalogue_names, catalogued

COLUMNS = ["name", "team", "type", "official_type", "task", "pooled", "published", "url"]
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
#: two runs that only capital letters tell apart
BY_CASE = {"pir0WTTD", "pir0Wttd"}


# what it has


def test_runs_teams_and_who_was_pooled():
    for name in SIZES:
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


def test_what_is_relevant_and_how_deep_was_pooled():
    every = {name: catalogued(name) for name in catalogue_names()}
    deep = {(year, kind): f"trec-{year}/deep/{kind}" for year in range(2019, 2024) for kind in ("docs", "passages")}
    stated = {name: collection.rel for name, collection in every.items() if collection.rel is not None}
    assert stated == {name: 2 if kind == "passages" else 1 for (_, kind), name in deep.items()}
    depths = {name: collection.pool_depth for name, collection in every.items() if collection.pool_depth is not None}
    assert depths == {"trec-8/adhoc": 100, deep[2019, "passages"]: 10, deep[2021, "passages"]: 10}
    for year, runs in ((2019, 37), (2021, 63)):
        assert every[deep[year, "passages"]].submitted["pooled"].tolist() == [True] * runs


def test_a_collection_is_sound():
    for name in catalogue_names():
        collection = catalogued(name)
        assert isinstance(collection, Collection)
        assert (collection.name, collection.origin) == (name, "catalogue")
        # all parts come from one dataset of ir_datasets; judgments that it does not have are published somewhere
        sources = {collection.documents, collection.topics, collection.qrels} - {None}
        assert sources <= {f"irds:{collection.irds_id}"}
        assert (collection.qrels is None) == (collection.judgments_at is not None)
        assert collection.judgments_at is None or collection.judgments_at.startswith("https://trec.nist.gov/data/")
        assert (collection.url is None) == (collection.access is None)
        if collection.n_relevant is not None:
            assert 0 < collection.n_relevant <= collection.n_judged
        if collection.topic_ids is not None and collection.n_topics is not None:
            assert collection.n_topics <= len(collection.topic_ids)
        assert collection.note == "" or collection.note.endswith(".")
        frame = collection.submitted
        if frame is None:
            continue
        assert list(frame.columns) == [*COLUMNS, *(["type_source"] if collection.types_from else [])]
        assert len(frame) > 0
        assert frame["name"].tolist() == sorted(frame["name"])
        others = frame["name"][~frame["name"].isin(BY_CASE)]
        assert others.str.lower().is_unique, "two files that some file systems take for one"
        assert frame["name"].str.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9 .,_+-]*[A-Za-z0-9._+-])?").all()
        assert (frame["team"].str.strip() != "").all()
        if collection.types_from is None:
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


# types and addresses


def test_sources():
    cases = [
        ("trec-3/adhoc", "WSJ870324-0001", "WSJ"), ("trec-3/adhoc", "FR89103-0001", "FR"),
        ("trec-4/adhoc", "SJMN91-06182001", "SJMN"), ("trec-5/adhoc", "FR940104-0-00001", "FR94"),
        ("trec-5/adhoc", "FT921-1", "FT"), ("trec-6/adhoc", "CR93E-1", "CR"), ("trec-2004/robust", "FBIS3-1", "FBIS"),
        ("trec-2019/cast", "MARCO_1", "MARCO"), ("trec-8/adhoc", "GX000-00-0000000", None),
    ]  # fmt: skip
    assert [catalogued(name).sources.of(docno) for name, docno, _ in cases] == [source for *_, source in cases]
