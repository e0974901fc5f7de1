"""Teams, types and pooled flags from whatever table the user has."""

from __future__ import annotations

import bz2
import gzip
import lzma
from itertools import pairwise

import faults
import numpy as np
import pandas as pd
from packing_parts import compressed

from pt_reuse.data.metadata import given_metadata, header_of
from pt_reuse.data.run_set import RunSet, read_runs

NAMES = ["r1", "r2", "r3"]
TEAMS = ["A", "B", "A"]


def make_run_table(names, *, base=None, complete=True, strict=False, **labels):
    return given_metadata(**labels).table(names, base, complete=complete, strict=strict)


def column(name, names=NAMES, **arguments):
    return make_run_table(names, **arguments)[name].tolist()


def put(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# by hand


def test_teams_in_memory():
    for teams in (
        {"r1": "A", "r2": "B", "r3": "A"},
        pd.Series(TEAMS, index=NAMES),
        pd.DataFrame({"name": NAMES, "team": TEAMS, "year": 1}),
        pd.DataFrame({"team": TEAMS, "name": pd.Categorical(NAMES)}, index=[7, 7, 7]),
        pd.DataFrame({"team": TEAMS}, index=NAMES),
        pd.DataFrame({"team": TEAMS, "x": 1}, index=pd.Index(NAMES, name="name")),
        pd.DataFrame({"team": TEAMS}, index=pd.Index(NAMES, name="run")),
        pd.DataFrame({"team": TEAMS}, index=pd.Index(pd.Categorical(NAMES), name="system")),
    ):
        assert column("team", teams=teams) == TEAMS


def test_teams_in_a_file(tmp_path):
    for text in (
        "r1 A\nr2 B\nr3 A\n",
        "r1\tA\nr2\t\tB\nr3\tA",
        "r1,A\nr2, B\nr3 ,A\n",
        "\ufeffr1 A\r\n\r\n# a comment\r\nr2   B\r\n r3 A \r\n",
        "name,team\nr1,A\nr2,B\nr3,A\n",
        "team;name;other\nA;r1;x\nB;r2;\nA;r3;z\n",
        'name\tteam\nr1\t"A"\nr2\tB\n\nr3\tA\n',
        '"name","team"\n"r1","A"\n"r2","B"\n"r3","A"\n',
        "r1 A\nr2 B\nr3 A\nr1 A\n",
    ):
        assert column("team", teams=put(tmp_path / "t", text)) == TEAMS, text
        assert column("team", teams=str(put(tmp_path / "t.gz", gzip.compress(text.encode())))) == TEAMS
        assert column("type", types=put(tmp_path / "t", text.replace("team", "type"))) == TEAMS


def test_odd_names_in_a_file(tmp_path):
    names = ["a,b", "\udce9quipe", "NA", "x\u00a0y", '"q"']
    text = b'a,b T2\n\xe9quipe T3\nNA T4\nx\xc2\xa0y T5\n"q" T, six\n# none\n'
    assert column("team", names, teams=put(tmp_path / "t", text)) == ["T2", "T3", "T4", "T5", "T, six"]


def test_pooled_in_memory():
    for pooled, flags in (
        (True, [True] * 3),
        (np.False_, [False] * 3),
        (["r2"], [False, True, False]),
        ({"r2", "r3"}, [False, True, True]),
        (pd.Index(["r1"]), [True, False, False]),
        (np.array(["r1", "r3"]), [True, False, True]),
        ([], [False] * 3),
        ({"r1": True, "r2": "no", "r3": 1}, [True, False, True]),
        (pd.Series([1.0, 0.0, 1.0], index=NAMES), [True, False, True]),
        (pd.DataFrame({"name": NAMES, "pooled": ["Yes", "N", "pooled"]}), [True, False, True]),
    ):
        assert column("pooled", pooled=pooled) == flags


def test_pooled_in_a_file(tmp_path):
    for text in ("r1\nr3\n", "# judged\nr1\r\n\nr3", "r1 1\nr2 0\nr3 yes\n", "name,pooled\nr1,true\nr2,no\nr3,1\n"):
        assert column("pooled", pooled=put(tmp_path / "p", text)) == [True, False, True], text


def test_metadata_in_memory():
    frame = pd.DataFrame(
        {"name": ["r3", "r1", "r2"], "team": ["C", "A", "B"], "year": [3, 1, 2], "note": ["z", None, "y"]}
    )
    table = make_run_table(NAMES, metadata=frame)
    assert list(table.columns) == ["name", "team", "type", "pooled", "year", "note"]
    assert table.to_numpy().tolist() == [
        ["r1", "A", None, pd.NA, 1, None],
        ["r2", "B", None, pd.NA, 2, "y"],
        ["r3", "C", None, pd.NA, 3, "z"],
    ]
    assert table["note"].dtype == object


def test_arguments_win_over_metadata():
    frame = pd.DataFrame({"name": NAMES, "team": TEAMS, "type": "x", "pooled": False})
    table = make_run_table(NAMES, metadata=frame, teams=dict.fromkeys(NAMES, "T"), pooled=["r1"])
    assert table["team"].tolist() == ["T"] * 3
    assert table["type"].tolist() == ["x"] * 3
    assert table["pooled"].tolist() == [True, False, False]


# whether a run was pooled may not be on record


def test_an_empty_cell_records_nothing():
    frames = [
        pd.DataFrame({"name": NAMES, "pooled": pd.array([True, pd.NA, False], dtype="boolean")}),
        pd.DataFrame({"name": NAMES, "pooled": ["yes", " ", "no"]}),
    ]
    for pooled in ({"r1": True, "r2": None, "r3": "no"}, pd.Series([1, np.nan, 0], index=NAMES), *frames):
        assert column("pooled", pooled=pooled) == [True, pd.NA, False]
    for metadata in frames:
        assert column("pooled", metadata=metadata) == [True, pd.NA, False]


def test_the_record_goes_through_a_field():
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0]})
    bare = RunSet.from_frames({"A": frame, "B": frame})
    marked = RunSet.from_frames({"C": frame, "D": frame, "E": frame}, pooled=["C", "D"])
    assert (bare.pool_is_on_record, marked.pool_is_on_record) == (False, True)
    assert bare.pooled.tolist() == [pd.NA, pd.NA]
    both = bare | marked
    assert repr(both).startswith("RunSet: 5 runs (2 pooled, 2 not on record), ")
    assert repr(bare).startswith("RunSet: 2 runs (pooled: not on record), ")
    assert repr(marked).startswith("RunSet: 3 runs (2 pooled), ")
    for field in (both, both.select(["A", "C", "E"]), both.restrict(["a"]), both.reorder("trec_eval9"), marked | bare):
        assert field.pooled.dtype == field.run_table["pooled"].dtype == "boolean"
        assert not field.pool_is_on_record
    assert both.with_metadata(pooled={"A": True, "B": False}).pool_is_on_record
    assert RunSet.from_frames({"A": frame}, pooled=True).pool_is_on_record


def test_a_selection_takes_what_is_on_record(messages):
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0]})
    bare = RunSet.from_frames({"A": frame, "B": frame})
    marked = RunSet.from_frames({"C": frame, "D": frame}, pooled=["C"])
    assert messages.warned(lambda: (bare | marked).select(pooled=True)).names == ["C"]
    assert messages.warned(lambda: (bare | marked).select(["B", "D"], pooled=False)).names == ["D"]
    assert messages.warned(lambda: (bare | marked).select(["C", "D"], pooled=False), times=0).names == ["D"]
    messages.refused(lambda: bare.select(pooled=True), argument="pooled")
    messages.refused(lambda: bare.select(pooled="yes"), argument="pooled")


# a table at hand


def test_base_keeps_what_is_not_given():
    base = make_run_table(NAMES, teams=dict(zip(NAMES, TEAMS, strict=True)), pooled=["r1"])
    new = make_run_table(
        NAMES,
        base=base,
        types={"r2": "manual"},
        metadata=pd.DataFrame({"name": ["r3"], "year": [3]}),
        complete=False,
    )
    assert new["team"].tolist() == TEAMS
    assert new["type"].tolist() == [None, "manual", None]
    assert new["pooled"].tolist() == [True, False, False]
    assert new["year"].isna().tolist() == [True, True, False]
    assert list(base.columns) == ["name", "team", "type", "pooled"]
    assert base["type"].tolist() == [None] * 3


# some are given, and some are misspelt


def systems(**arguments):
    """Return the team and the flag of each, which are its own name and True where nothing is given."""
    own = pd.DataFrame({"name": NAMES, "team": NAMES, "type": None, "pooled": True})
    table = make_run_table(NAMES, base=own, complete=False, **arguments)
    return table["team"].tolist(), table["pooled"].tolist()


def test_the_rest_has_the_default_of_the_caller():
    assert systems() == (NAMES, [True] * 3)
    assert systems(teams={"r1": "us", "r3": "us"}) == (["us", "r2", "us"], [True] * 3)
    assert systems(pooled={"r2": False}) == (NAMES, [True, False, True])
    assert systems(pooled={"r2": None}) == (NAMES, [True] * 3)
    assert systems(pooled=False) == (NAMES, [False] * 3)
    # names alone are those of all that were pooled
    assert systems(pooled=["r2"]) == (NAMES, [False, True, False])


def test_all_labels_by_index():
    frame = pd.DataFrame({"team": TEAMS, "type": "t", "pooled": [True, False, None], "year": [1, 2, 3]}, index=NAMES)
    wanted = make_run_table(NAMES, metadata=frame.reset_index(names="name"))
    assert make_run_table(NAMES, metadata=frame).equals(wanted)
    assert column("type", types=frame) == ["t"] * 3
    assert column("pooled", pooled=frame) == [True, False, pd.NA]
    assert column("pooled", pooled=frame["pooled"]) == [True, False, pd.NA]
    # the names of runs may be numbers, where the index says what it is
    numbered = pd.DataFrame({"team": TEAMS}, index=pd.Index([1, 2, 3], name="name"))
    assert column("team", ["3", "1", "2"], teams=numbered) == ["A", "A", "B"]
    # a column of names is what it says it is
    both = pd.DataFrame({"name": NAMES, "team": TEAMS}, index=["r3", "r2", "r1"])
    assert column("team", metadata=both) == TEAMS


def test_misspelt_names(messages):
    names = ["BM25", "MiniLM"]
    for complete in (True, False):
        for arguments in (
            {"teams": {"MiniML": "us"}},
            {"teams": {"BM25": "we", "MiniML": "us"}},
            {"types": {"BM25": "lexical", "MiniML": "neural"}},
            {"pooled": ["MiniML"]},
            {"pooled": {"MiniML": True}},
            {"metadata": pd.DataFrame({"team": ["us"]}, index=["MiniML"])},
        ):
            call = lambda given=arguments, how=complete: make_run_table(names, complete=how, strict=True, **given)  # noqa: E731
            messages.refused(call, argument=next(iter(arguments)))


# teams and types that run files say of themselves


LINES = "1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n"
ABOUT = """\
schema-version: 0.1
tag: bm25
platform:
  software:
    libraries:
      python:
      - scikit-learn==0.20.1
      - tag: none
method:
  automatic: true
  retrieval:
  - name: bm25
    method: org.apache.lucene.search.similarities.Similarity.BM25Similarity
actor:
  name: Somebody Else
  team: h2oloo
  fields:
  - nlp
"""


def header(about: str = ABOUT, lines: str = LINES) -> bytes:
    """Return a run file as repro_eval annotates it: a blank behind each mark, and one at the end."""
    text = "".join(f"# {line} \n" for line in about.splitlines())
    return f"# ir_metadata.start\n{text}# ir_metadata.end\n{lines}".encode()


def said(folder, data):
    return header_of(faults.put(folder, {"r": data}) / "r")


def test_a_header(tmp_path):
    for form in (bytes, gzip.compress, bz2.compress, lzma.compress, compressed, b"\xef\xbb\xbf".__add__):
        assert said(tmp_path, form(header())) == {"team": "h2oloo", "type": "automatic"}


def test_what_is_read_of_it(tmp_path):
    for about, wanted in (
        ("actor:\n  team: T\n", {"team": "T"}),
        ("method: {automatic: false}\nactor: {team: 'A & B'}\n", {"team": "A & B", "type": "manual"}),
        ("tag: &t x\nactor:\n  team: *t\n", {"team": "x"}),
        ("tag: ENTER_VALUE_HERE\nactor:\n  team:\nmethod:\n  automatic: ~\n", {}),
        ("actor:\n- team: T\nmethod: automatic\nteam: U\n", {}),
        ("actor:\n  team: [T, U]\ntag: {a: b}\n", {}),
        ("actor: {name: {team: U}, team: 5}\n", {"team": "5"}),
        ("actor: {team: one}\n---\nactor: {team: two}\n", {"team": "one"}),
        ("", {}),
        ("words\n", {}),
    ):
        assert said(tmp_path, header(about)) == wanted, about


def test_what_is_no_yaml_is_left_aside(messages, tmp_path):
    for about in ("tag: [", "tag: a: b", "a: 1\n\tb: 2", "[" * 500, "- " * 500 + "x"):
        assert messages.warned(lambda about=about: said(tmp_path, header(about))) == {}, about
    for about in ("method: {automatic: perhaps}", "actor:\n  team: " + "T" * 201, 'actor: {team: "a\\0b"}'):
        assert said(tmp_path, header(about)) == {}, about


def test_references_are_not_followed(tmp_path):
    # ten references to ten references ...: a billion of them, were they followed
    names = "abcdefghij"
    about = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, name in pairwise(names):
        about += f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n"
    assert said(tmp_path, header(about + "actor: {team: T}\n")) == {"team": "T"}


def test_what_the_user_gives_wins(messages, tmp_path):
    about = {"a": "actor: {team: A}\nmethod: {automatic: yes}\n", "b": "actor: {team: B}\n", "c": ""}
    files = {name: header(text, LINES.replace("bm25", name)) for name, text in about.items()}
    folder = faults.put(tmp_path / "runs", {**files, "0": "none"})

    def table(**given):
        runs = messages.warned(lambda: read_runs(folder, other_files="skip", **given))
        return runs.run_table[["name", "team", "type"]].to_numpy().tolist()

    assert table() == [["a", "A", "automatic"], ["b", "B", None], ["c", None, None]]
    assert table(names="file", teams={"c": "C"}) == [["a", "A", "automatic"], ["b", "B", None], ["c", "C", None]]
    assert table(teams={"a": "X", "b": "B", "c": "C"})[0] == ["a", "X", "automatic"]
    frame = pd.DataFrame({"team": ["A", " ", "C"], "type": ["manual", None, "x"]}, index=["a", "b", "c"])
    assert table(metadata=frame) == [["a", "A", "manual"], ["b", "B", None], ["c", "C", "x"]]
