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
    (folder / "figures.toml").write_text('collection = "trec-8/adhoc"\ntitle = "T"\n')
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
BY_TYPE = f"by-type {FIELD} --metadata {{f}}/types.csv --unit run"
AUDIT = "audit --runs {f}/runs --human {f}/qrels.txt --judges {f}/judges"
CATALOGUED = "lou --collection trec-8/adhoc"
CALLS = {
    # options of every command that reads a field
    "order": "runs {f}/runs --order best",
    "order of pooling": "runs {f}/runs --pool-order best",
    "an empty order of pooling": "runs {f}/runs --pool-order=",
    "names": "runs {f}/runs --names path",
    "no names": "runs {f}/runs --names=",
    "duplicates": "infer-pool {f}/teamless.toml --duplicates worst",
    "bad lines": "infer-pool {f}/teamless.toml --bad-lines drop",
    "other files": "runs {f}/runs --other-files drop",
    "missing": "infer-pool trec-8/adhoc --missing eror",
    "an empty missing": "infer-pool trec-8/adhoc --missing=",
    "no such runs": "runs {f}/nowhere",
    "no such runs of a collection": f"{CATALOGUED} --runs {{f}}/nowhere",
    "no such runs of an own collection": "lou --collection {f}/teamless.toml --by run --runs {f}/nowhere",
    "no such collection": "lou --collection trec-9/adhoc",
    "no such qrels": "lou --runs {f}/runs --teams {f}/teams --qrels {f}/nowhere",
    "no such teams": "runs {f}/runs --teams {f}/nowhere",
    "no such teams beside a collection": f"{CATALOGUED} --teams {{f}}/nowhere",
    "empty teams beside a collection": f"{CATALOGUED} --teams=",
    "no such teams of an own collection": "runs --collection {f}/lost.toml",
    "no such types": "infer-pool --types {f}/nowhere " + FIELD,
    "no such types beside a collection": f"{CATALOGUED} --types {{f}}/nowhere",
    "no such types beside an own collection": "runs --collection {f}/teamless.toml --types {f}/nowhere",
    "blank file of pooled": "infer-pool --pooled {f}/blank " + FIELD,
    "metadata without names": "runs {f}/runs --metadata {f}/nameless.csv",
    "teams of strangers by file": "runs {f}/runs --names file --teams {f}/strangers",
    "the cache is a file": "runs {f}/runs --cache {f}/teams",
    "the cache of a collection is a file": "runs --collection trec-8/adhoc --cache {f}/teams",
    "the cache holds the runs": "runs {f}/runs --cache {f}",
    "an empty cache": "runs {f}/runs --cache=",
    # lou
    "measure": f"{LOU} --measures AP,Foo@3",
    "a measure that nobody computes": f"{LOU} --measures AP,RBP",
    "unit": f"{LOU} --by nonsense",
    "unit without types": f"lou {FIELD} --metadata {{f}}/teams.csv --by type",
    "depth": f"{LOU} --depth 0",
    "what to remove": f"{LOU} --remove all",
    "no contributor": f"{LOU} --contributors ,",
    "a file without contributors": f"{LOU} --contributors {{f}}/blank",
    "contributors that are not on record": f"{CATALOGUED} --contributors orcl99man,nobody",
    "contributors that are no files": f"{LOU} --names file --contributors nobody",
    # unjudged, score, compare, pool
    "cutoff": "unjudged {f}/runs --qrels {f}/qrels.txt --cutoff 0",
    "unit of unjudged": "unjudged {f}/runs --qrels {f}/qrels.txt --by nonsense",
    "judgments of unjudged": "unjudged {f}/runs --qrels {f}/nowhere",
    "measure of score": "score {f}/runs --qrels {f}/qrels.txt --measures Foo@3",
    "measure of compare": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --measures Foo@3",
    "names of compare": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --judgment-names one",
    "other judgments": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/nowhere",
    "other measures": "compare {f}/runs --qrels {f}/q --other {f}/q --other-measures RR,AP,P@5 --measures AP",
    "unknown other measure": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --other-measures Foo@3,RR",
    "resamples": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --resamples -1",
    "confidence": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --confidence 95",
    "depth of compare": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --depth 0",
    "depth of a pool": "pool {f}/runs --depth 0",
    "unit of a pool": "pool {f}/runs --by nonsense",
    "unit of a pool without types": "pool {f}/runs --by type",
    "contributors of a pool": "pool {f}/runs --contributors ,",
    "judgments of a pool": "pool {f}/runs --qrels {f}/nowhere",
    "judgments that a strategy asks": "pool {f}/runs --strategy mtf --n 3",
    "labels that a strategy asks for": "pool {f}/runs --strategy mtf --qrels {f}/qrels.txt",
    # audit
    "measure of an audit": f"{AUDIT} --measures Foo@3",
    "judges of an audit": "audit --runs {f}/runs --human {f}/qrels.txt --judges {f}/nowhere",
    "people of an audit": f"{AUDIT} --people {{f}}/nowhere",
    "families of judges": f"{AUDIT} --families {{f}}/nowhere",
    "judgments of an audit": "audit --runs {f}/runs --human {f}/nowhere --judges {f}/judges",
    "no judgments of an audit": "audit --runs {f}/runs --judges {f}/judges",
    "no runs of an audit": "audit --human {f}/qrels.txt --judges {f}/judges",
    "parts of an audit": f"{AUDIT} --parts ranking",
    "no parts of an audit": f"{AUDIT} --parts ,",
    "what is relevant": f"{AUDIT} --rel 0",
    "what is relevant for a judge": f"{AUDIT} --judge-rel one",
    "documents without a label": f"{AUDIT} --missing-labels zero",
    "test of significance": f"{AUDIT} --test z",
    "correction for many pairs": f"{AUDIT} --correction all",
    "the best runs of an audit": f"{AUDIT} --best 0",
    "what an audit groups runs by": f"{AUDIT} --by run",
    "groups of an audit without families": f"{AUDIT} --by family",
    "resamples of an audit": f"{AUDIT} --resamples -1",
    "pool depth of an audit": f"{AUDIT} --depth 0",
    "scores of an audit": "audit --scores {f}/nowhere --judges {f}/judges",
    # infer-pool
    "depth of the pool": f"infer-pool {FIELD} --depth 0",
    "tolerance": f"infer-pool {FIELD} --tolerance 2",
    "tolerance that is no number": f"infer-pool {FIELD} --tolerance nan",
    # fetch
    "downloads": "fetch trec-8/adhoc --jobs 0",
    "pool not on record": "fetch trec-2019/deep/docs --only-pooled",
    # verify
    "runs of verify": "verify trec-8/adhoc --runs {f}/nowhere",
    "runs of verify are a file": "verify trec-8/adhoc --runs {f}/qrels.txt",
    "judgments of verify": "verify trec-8/adhoc --qrels {f}/nowhere",
    "figures of verify": "verify trec-8/adhoc --figures {f}/figures.toml",
    # --out
    "lou into a file": f"{LOU} --out {{f}}/teams",
    "lou below a file": f"{LOU} --out {{f}}/teams/new",
    "lou nowhere": f"{LOU} --out=",
    "lou where no folder can be made": f"{LOU} --out {{f}}/new/deep/{'x' * 300}",
    "lou on what exists": f"{LOU} --out {{f}}/taken",
    "unjudged on what exists": "unjudged {f}/runs --qrels {f}/qrels.txt --out {f}/taken",
    "score on what exists": "score {f}/runs --qrels {f}/qrels.txt --out {f}/taken",
    "compare on what exists": "compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --out {f}/taken",
    "audit on what exists": f"{AUDIT} --out {{f}}/audited",
    "audit below a file": f"{AUDIT} --out {{f}}/teams/new",
    "pool on what exists": "pool {f}/runs --out {f}/taken",
    "by-type on what exists": f"{BY_TYPE} --out {{f}}/taken",
    "infer-pool below a file": "infer-pool {f}/teamless.toml --out {f}/teams/new",
    "infer-pool on what exists": "infer-pool {f}/teamless.toml --out {f}/taken",
    "verify below a file": "verify trec-8/adhoc --out {f}/teams/all.csv",
    "verify on what exists": "verify trec-8/adhoc --out {f}/taken/all.csv",
    "verify into a file of too long a name": f"verify trec-8/adhoc --out {{f}}/new/{'x' * 300}",
    "verify on a folder": "verify trec-8/adhoc --out {f}/taken --overwrite",
    "verify nowhere": "verify trec-8/adhoc --out=",
    "demo below a file": "demo --out {f}/teams/new",
    "demo on what exists": "demo --out {f}/taken",
    "demo nowhere": "demo --out=",
}


@pytest.mark.parametrize("fault", CALLS)
def test_bad_options_are_told_at_once(fault, files, unreached, capsys, messages):
    messages.hidden[str(files)] = "{f}"
    before = contents(files)
    status, out, err = run(capsys, *CALLS[fault].format(f=files).split())
    assert (status, out) == (2, "")
    messages.told(err)
    assert contents(files) == before


OUT = {
    "lou": (f"{LOU} --out", ""),
    "infer-pool": ("infer-pool {f}/teamless.toml --out", ""),
    "unjudged": ("unjudged {f}/runs --qrels {f}/qrels.txt --out", ""),
    "score": ("score {f}/runs --qrels {f}/qrels.txt --out", ""),
    "compare": ("compare {f}/runs --qrels {f}/qrels.txt --other {f}/qrels.txt --out", ""),
    "audit": (f"{AUDIT} --parts rankings --measures nDCG --resamples 0 --out", ""),
    "pool": ("pool {f}/runs --out", ""),
    "by-type": (f"{BY_TYPE} --splits 2 --contributors all --measures nDCG --out", ""),
    "verify": ("verify trec-8/adhoc --out", "/all.csv"),
    "demo": ("demo --out", ""),
}


@pytest.mark.parametrize("command", OUT)
def test_a_folder_that_may_not_be_written_to_is_told_at_once(command, files, unreached, capsys, messages, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pt_reuse._files.tempfile.TemporaryFile", denied)
    messages.hidden[str(files)] = "{f}"
    before = contents(files)
    call, name = OUT[command]
    for folder in ("new/deep", "taken/new"):
        status, out, err = run(capsys, *call.format(f=files).split(), f"{files}/{folder}{name}")
        assert (status, out) == (2, "")
        messages.told(err)
    assert contents(files) == before
