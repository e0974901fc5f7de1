"""Teams and types that run files say of themselves."""

from __future__ import annotations

import bz2
import gzip
import lzma
from itertools import pairwise

import pandas as pd
import pytest
from packing_parts import compressed

from pt_reuse._errors import ReuseWarning
from pt_reuse.data.ir_metadata import OF_FOLDER, Note, read_notes, yaml_files_of
from pt_reuse.data.run_reading import read_runs

LINES = "1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n"
#: the example of the schema's own pages, shortened
ABOUT = """\
schema-version: 0.1
run-version: 1.0
tag: bm25
platform:
  software:
    libraries:
      python:
      - scikit-learn==0.20.1
      - tag: none
research goal:
  venue:
    name: SIGIR
method:
  automatic: true
  indexing:
    tokenizer: org.apache.lucene.analysis.en.StandardTokenizer
  retrieval:
  - name: bm25
    method: org.apache.lucene.search.similarities.Similarity.BM25Similarity
actor:
  name: Somebody Else
  orcid: 0000-0000-0000-0000
  team: h2oloo
  fields:
  - nlp
  mail: somebody@example.org
"""


def header(about: str = ABOUT, lines: str = LINES) -> bytes:
    """Return a run file as repro_eval annotates it: a blank behind each mark, and one at the end."""
    text = "".join(f"# {line} \n" for line in about.splitlines())
    return f"# ir_metadata.start\n{text}# ir_metadata.end\n{lines}".encode()


def put(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def note(folder, files, name="r"):
    return read_notes([put(folder, files) / name]).get(folder / name)


@pytest.mark.parametrize(
    "form",
    [bytes, gzip.compress, bz2.compress, lzma.compress, compressed, b"\xef\xbb\xbf".__add__],
    ids=["plain", "gzip", "bzip2", "xz", "compress", "mark"],
)
def test_a_header(form, tmp_path):
    assert note(tmp_path, {"r": form(header())}) == Note("bm25", "h2oloo", "automatic")


@pytest.mark.parametrize(
    ("about", "wanted"),
    [
        ("actor:\n  team: T\n", Note(team="T")),
        ("method: {automatic: false}\nactor: {team: 'A & B'}\n", Note(team="A & B", type="manual")),
        ("tag: &t x\nactor:\n  team: *t\n", Note(tag="x", team="x")),
        ("tag: ENTER_VALUE_HERE\nactor:\n  team:\nmethod:\n  automatic: ~\n", None),
        ("actor:\n- team: T\nmethod: automatic\nteam: U\n", None),
        ("actor:\n  team: [T, U]\ntag: {a: b}\n", None),
        ("? {actor: {team: no}}\n: {team: no}\n? [a]\n: b\nactor: {team: T}\n", Note(team="T")),
        ("actor: {name: {team: U}, team: 5}\n", Note(team="5")),
        ("tag: one\n---\ntag: two\n", Note(tag="one")),
        ("", None),
        ("words\n", None),
    ],
)
def test_what_is_read_of_it(about, wanted, tmp_path):
    assert note(tmp_path, {"r": header(about)}) == wanted
    assert note(tmp_path, {"s": LINES, "s.yaml": about}, "s") == wanted


@pytest.mark.parametrize(
    "about",
    [
        *["tag: [", "tag: a: b", "a: 1\n\tb: 2", "method: {automatic: perhaps}", "[" * 20000, "- " * 20000 + "x"],
        *["actor:\n  team: " + "T" * 201, 'actor: {team: "a\\0b"}', 'tag: "a\\nb"'],
    ],
    ids=range(9),
)
def test_what_is_no_yaml_is_left_aside(about, messages, tmp_path):
    put(tmp_path, {"r": header(about)})
    assert messages.warned(lambda: read_notes([tmp_path / "r"])) == {}


def test_references_are_not_followed(tmp_path):
    # ten references to ten references ...: a billion of them, were they followed
    names = "abcdefghij"
    about = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, name in pairwise(names):
        about += f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n"
    assert note(tmp_path, {"r": header(about + "tag: bm25\n")}) == Note(tag="bm25")


@pytest.mark.parametrize(
    ("run", "beside"),
    [
        ("r.txt.gz", "r.txt.gz.yaml"),
        ("r.txt.gz", "r.txt.yml"),
        ("r.txt.gz", "r.yaml"),
        ("input.r.gz", "input.r.ir_metadata.yaml"),
        ("r", "r.ir-metadata.yml"),
        ("r.run", "r.ir_metadata.yml"),
        ("input.r", "r.yaml"),
        ("input.r.txt.gz", "r.ir_metadata.yml"),
        ("r.k1=0.9", "r.k1=0.9.yaml"),
        *[("r.txt", name) for name in OF_FOLDER],
    ],
)
def test_a_file_beside_the_run(run, beside, tmp_path):
    data = gzip.compress(LINES.encode()) if run.endswith(".gz") else LINES.encode()
    put(tmp_path, {f"runs/{run}": data, f"runs/{beside}": f"ir_metadata.start\n{ABOUT}ir_metadata.end\n"})
    for source in (tmp_path / "runs", tmp_path / "runs" / "*", tmp_path / "runs" / run):
        runs = read_runs(source)
        assert (runs.names, runs.teams, runs.types) == (["bm25"], ["h2oloo"], ["automatic"])


def test_files_that_are_of_no_run(tmp_path):
    assert yaml_files_of(["a", "a.yaml", "b.yml", "c.gz", "c.ir_metadata.yml"]) == {"a.yaml", "c.ir_metadata.yml"}
    assert yaml_files_of(["r.k1=0.9", "r.k1=0.yaml"]) == set()
    assert yaml_files_of(["ir-metadata.yml"]) == set()
    assert yaml_files_of(["a.yaml", "a.yaml.yaml"]) == set()
    # of one run a folder may say something without its name, of two it may not
    both = put(tmp_path, {"a": LINES, "b": LINES, "ir-metadata.yml": ABOUT})
    assert read_notes([both / "a", both / "b"]) == {}


def folder_of_three(tmp_path):
    files = {name: LINES.replace("bm25", name) for name in "abc"}
    about = {"a.yaml": "actor: {team: A}\nmethod: {automatic: yes}\n", "b.yaml": "tag: bb\nactor: {team: B}\n"}
    return put(tmp_path / "runs", {**files, **about})


@pytest.mark.parametrize("names", ["tag", "file"])
def test_what_the_user_gives_wins(names, messages, tmp_path):
    folder = folder_of_three(tmp_path)
    told = names == "tag"

    def table(times, **given):
        runs = messages.warned(lambda: read_runs(folder, names=names, **given), times=times)
        return runs.run_table[["name", "team", "type"]].to_numpy().tolist()

    assert table(told) == [["a", "A", "automatic"], ["b", "B", None], ["c", None, None]]
    assert table(told, teams={"c": "C"}) == [["a", "A", "automatic"], ["b", "B", None], ["c", "C", None]]
    assert table(told + 1, teams={"a": "X", "b": "B", "c": "C"})[0] == ["a", "X", "automatic"]
    frame = pd.DataFrame({"team": ["A", " ", "C"], "type": ["manual", None, "x"]}, index=["a", "b", "c"])
    assert table(told + 1, metadata=frame) == [["a", "A", "manual"], ["b", "B", None], ["c", "C", "x"]]
    # other types than automatic and manual say nothing against these
    assert table(told, types={"a": "neural", "b": "x", "c": "y"})[0] == ["a", "A", "neural"]
    # one run without any
    assert table(told + 1, teams={"a": "A"}) == [["a", "A", "automatic"], ["b", "B", None], ["c", None, None]]


@pytest.mark.parametrize("names", ["tag", "file"])
def test_a_note_is_of_its_run_where_other_files_gave_none(names, tmp_path):
    # without a tag in it, too
    files = {"a": header("actor: {team: A}", LINES.replace("bm25", "a")), "b": LINES.replace("bm25", "b"), "0": "none"}
    folder = put(tmp_path / "runs", {**files, "b.yaml": "actor: {team: B}\n", "0.yaml": "actor: {team: 0}\n"})
    with pytest.warns(ReuseWarning, match="1 file left out"):
        runs = read_runs(folder, names=names, other_files="skip")
    assert (runs.names, runs.teams) == (["a", "b"], ["A", "B"])
