"""What can be judged of a command's options is judged before anything long begins, and nothing is left on the disk."""

from __future__ import annotations

import pytest
from command_parts import run


@pytest.fixture(scope="module")
def files(tmp_path_factory, field):
    """Return a folder with runs, judgments and labels, and with things that stand in the way."""
    folder = tmp_path_factory.mktemp("files")
    field.runs.write(folder / "runs", compress=False)
    field.qrels.write(folder / "qrels.txt")
    table = field.runs.run_table
    (folder / "teams").write_text("".join(f"{n} {t}\n" for n, t in zip(table["name"], table["team"], strict=True)))
    table[["name", "team"]].to_csv(folder / "teams.csv", index=False)
    table[["name", "type"]].assign(team="").to_csv(folder / "types.csv", index=False)
    table.rename(columns={"name": "run"}).to_csv(folder / "nameless.csv", index=False)
    (folder / "strangers").write_text("nobody solo\n")
    (folder / "blank").write_text(" \n")
    (folder / "taken").mkdir()
    (folder / "judges").mkdir()
    field.all_qrels.write(folder / "judges" / "all.qrels")
    (folder / "audited" / "rankings").mkdir(parents=True)
    (folder / "audited" / "rankings" / "table.csv").write_text("mine")
    for name in (
        "2-lexical-pool.csv",
        "curve.csv",
        "splits.csv",
        "summary.csv",
        "all.csv",
        "per_topic.csv",
        "by_topic.csv",
    ):
        (folder / "taken" / name).write_text("mine")
    definition = f'title = "Mine"\nqrels = "{folder}/qrels.txt"\n[runs]\nfolder = "{folder}/runs"\n'
    (folder / "teamless.toml").write_text(f'name = "teamless"\n{definition}')
    (folder / "lost.toml").write_text(f'name = "lost"\n{definition}teams = "{folder}/nowhere"\n')
    (folder / "figures.csv").write_text("collection,what\ntrec-8/adhoc,MAP\n")
    return folder


@pytest.fixture
def unreached(monkeypatch):
    """Fail a test that comes to read or to fetch runs or judgments, or to run pipelines."""

    def reached(*_, **__):
        pytest.fail("the options were to be judged before")

    for long in (
        "pt_reuse.data.run_files.parse_files",
        "pt_reuse.data.store.fingerprints",
        "pt_reuse.collections.runs.fetch_runs",
        "pt_reuse.data.qrels_files.read_bytes",
        "pt_reuse.collections.dataset.ReuseDataset.get_qrels",
        "pt_reuse.demo.walk.answer",
    ):
        monkeypatch.setattr(long, reached)


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


FIELD = "--runs {f}/runs --qrels {f}/qrels.txt"
LOU = f"lou {FIELD} --teams {{f}}/teams"
AUDIT = "audit --runs {f}/runs --human {f}/qrels.txt --judges {f}/judges"
CALLS = {
    # options of every command that reads a field
    "order": "runs {f}/runs --order best",
    "order of pooling": "runs {f}/runs --pool-order best",
    "missing": "infer-pool trec-8/adhoc --missing eror",
    "no such runs": "runs {f}/nowhere",
    "no such collection": "lou --collection trec-9/adhoc",
    "no such qrels": "lou --runs {f}/runs --teams {f}/teams --qrels {f}/nowhere",
    "no such teams": "runs {f}/runs --teams {f}/nowhere",
    "no such teams of an own collection": "runs --collection {f}/lost.toml",
    "blank file of pooled": "infer-pool --pooled {f}/blank " + FIELD,
    "metadata without names": "runs {f}/runs --metadata {f}/nameless.csv",
    "the cache is a file": "runs {f}/runs --cache {f}/teams",
    "the cache holds the runs": "runs {f}/runs --cache {f}",
    # lou
    "measure": f"{LOU} --measures AP,Foo@3",
    "unit without types": f"lou {FIELD} --metadata {{f}}/teams.csv --by type",
    "no contributor": f"{LOU} --contributors ,",
    "grades of no judge": f"{LOU} --judge-rel 2",
    # unjudged, score, compare, pool
    "cutoff": "unjudged {f}/runs --qrels {f}/qrels.txt --cutoff 0",
    "other judgments": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/nowhere",
    "unit of a pool without types": "pool {f}/runs --by type",
    "judgments that a strategy asks": "pool {f}/runs --strategy mtf --n 3",
    # audit
    "measure of an audit": f"{AUDIT} --measures Foo@3",
    "judges of an audit": "audit --runs {f}/runs --human {f}/qrels.txt --judges {f}/nowhere",
    "parts of an audit": f"{AUDIT} --parts ranking",
    # fetch
    "downloads": "fetch trec-8/adhoc --jobs 0",
    # verify
    "runs of verify": "verify trec-8/adhoc --runs {f}/nowhere",
    "figures of verify": "verify trec-8/adhoc --figures {f}/figures.csv",
    # --out
    "lou into a file": f"{LOU} --out {{f}}/teams",
    "lou on what exists": f"{LOU} --out {{f}}/taken",
    "audit on what exists": f"{AUDIT} --out {{f}}/audited",
    "verify on what exists": "verify trec-8/adhoc --out {f}/taken/all.csv",
}


def test_bad_options_are_told_at_once(files, unreached, capsys, messages):
    messages.hidden[str(files)] = "{f}"
    before = contents(files)
    for fault, call in CALLS.items():
        status, out, err = run(capsys, *call.format(f=files).split())
        assert (status, out) == (2, ""), fault
        messages.told(err)
        assert contents(files) == before, fault


OUT = {
    "lou": (f"{LOU} --out", ""),
    "audit": (f"{AUDIT} --parts rankings --measures nDCG --resamples 0 --out", ""),
    "pool": ("pool {f}/runs --out", ""),
    "verify": ("verify trec-8/adhoc --out", "/all.csv"),
}


def test_a_folder_that_may_not_be_written_to_is_told_at_once(files, unreached, capsys, messages, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pt_reuse._files.tempfile.TemporaryFile", denied)
    messages.hidden[str(files)] = "{f}"
    before = contents(files)
    for call, name in OUT.values():
        for folder in ("new/deep", "taken/new"):
            status, out, err = run(capsys, *call.format(f=files).split(), f"{files}/{folder}{name}")
            assert (status, out) == (2, ""), call
            messages.told(err)
    assert contents(files) == before
