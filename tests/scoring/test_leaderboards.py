"""Leaderboards: read back as they were written, by us and by the tools of TREC AutoJudge; others refused."""

from __future__ import annotations

import json
import tarfile

import pandas as pd
import pytest
from autojudge_parts import autojudge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.data.score_tables import COLUMNS, FORMATS, NO_NAME

FIELD = ptr.demo.simulate_field(seed=7, n_topics=4, n_docs=40, n_teams=3, length=8, depth=3)
SCORES = ptr.score(FIELD.runs, FIELD.qrels, ["AP", "nDCG@10"])
#: three runs on two topics as `Leaderboard.write` of autojudge-base 1.0.0 has them: MeasureSpec("GRADE") and
#: MeasureSpec("COUNT", int), built with LeaderboardBuilder.build()
THEIRS = {
    "tot": (
        "r1\tGRADE\tt1\t0.1\nr1\tCOUNT\tt1\t3\nr1\tGRADE\tt2\t0.30000000000000004\nr1\tCOUNT\tt2\t1\n"
        "r2\tGRADE\tt1\t1.0\nr2\tCOUNT\tt1\t0\nr2\tGRADE\tt2\t1e-05\nr2\tCOUNT\tt2\t2\n"
        "r1\tGRADE\tall\t0.2\nr1\tCOUNT\tall\t2.0\nr2\tGRADE\tall\t0.500005\nr2\tCOUNT\tall\t1.0\n"
    ),
    "jsonl": (
        '{"run_id": "r1", "topic_id": "t1", "measure": "GRADE", "value": 0.1}\n'
        '{"run_id": "r1", "topic_id": "t1", "measure": "COUNT", "value": 3}\n'
        '{"run_id": "r1", "topic_id": "all", "measure": "GRADE", "value": 0.1}\n'
        '{"run_id": "r1", "topic_id": "all", "measure": "COUNT", "value": 3.0}\n'
    ),
}


def write(path, text):
    path.write_bytes(text.encode())
    return path


def same(found, expected):
    assert (found.names, found.topics, found.measures) == (expected.names, expected.topics, expected.measures)
    assert (found.values == expected.values).all()
    assert (found.mean_values == expected.mean_values).all()


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_read_back_and_its_format_told(format, tmp_path):
    path = SCORES.write_leaderboard(tmp_path / "board", format)
    found = ptr.read_leaderboard(path)
    if format == "trec_eval":
        assert sorted(file.name for file in path.iterdir()) == sorted(SCORES.names)
        expected = ptr.Scores.from_frame(SCORES.per_topic.sort_values("name", kind="stable"))
        same(found, expected)
    else:
        same(found, SCORES)
        first = path.read_text().splitlines()[0]
        value = SCORES.values[0, 0, 0]
        cells = {"name": SCORES.names[0], "qid": SCORES.topics[0], "measure": "AP", "value": repr(float(value))}
        if format == "jsonl":
            row = {"run_id": cells["name"], "topic_id": cells["qid"], "measure": "AP", "value": float(value)}
            assert first == json.dumps(row)
        else:
            rest = {"Q0": "Q0", "rank": "0"}
            assert first.split("\t") == [{**cells, **rest}[column] for column in COLUMNS[format]]
    assert found.settings["scores"] == f"leaderboard board ({format})"
    assert found.settings["rows"] == "by topic"


NAME = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5).filter(
    lambda name: name.split() == [name] and name != "all"
)
FILE_NAME = NAME.filter(
    lambda name: not name.startswith(".") and not {"/", "\\"} & set(name) and name.lower() not in NO_NAME
)


@given(
    names=st.lists(FILE_NAME, min_size=1, max_size=3, unique_by=str.casefold),
    topics=st.lists(NAME, min_size=1, max_size=3, unique=True),
    values=st.lists(st.floats(-1e6, 1e6), min_size=18, max_size=18),
    format=st.sampled_from(FORMATS),
    gap=st.booleans(),
)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("ignore:.*beyond 1:pt_reuse.ReuseWarning")
def test_any_scores_are_read_back(names, topics, values, format, gap, tmp_path_factory):
    numbers = iter(values)
    rows = [(name, qid, m, next(numbers)) for name in names for qid in topics for m in ("AP", "mine")]
    if gap and len(names) > 1 and len(topics) > 1:
        rows = [row for row in rows if row[:2] != (names[-1], topics[-1])]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    scores = ptr.Scores.from_frame(frame, missing="leave_out")
    path = scores.write_leaderboard(tmp_path_factory.mktemp("any") / "board", format)
    found = ptr.read_leaderboard(path, format, missing="leave_out")
    keys = ["name", "qid", "measure"]
    expected = scores.per_topic.sort_values(keys, ignore_index=True)
    assert found.per_topic.sort_values(keys, ignore_index=True).equals(expected)
    means = [s.mean.sort_values("name", ignore_index=True) for s in (found, scores)]
    assert means[0].equals(means[1][list(means[0])])
    of_all = ptr.read_leaderboard(path, format, rows="all")
    assert of_all.topics == ["all"]
    assert of_all.mean.sort_values("name", ignore_index=True)["AP"].equals(means[1]["AP"])


def test_files_of_their_tools_are_read_equal(tmp_path):
    with autojudge() as theirs:
        spec = theirs.board.LeaderboardSpec(
            measures=(theirs.board.MeasureSpec("GRADE"), theirs.board.MeasureSpec("COUNT", int))
        )
        builder = theirs.board.LeaderboardBuilder(spec)
        for run, topic, grade, number in (
            ("r1", "t1", 0.1, 3), ("r1", "t2", 0.1 + 0.2, 1), ("r2", "t1", 1.0, 0), ("r2", "t2", 1e-5, 2),
        ):  # fmt: skip
            builder.add(run_id=run, topic_id=topic, GRADE=grade, COUNT=number)
        board = builder.build()
        for format in ("tot", "ir_measures", "rag4reports", "jsonl"):
            board.write(tmp_path / format, format=format)
            found = ptr.read_leaderboard(tmp_path / format)
            assert (found.names, found.topics, found.measures) == (["r1", "r2"], ["t1", "t2"], ["GRADE", "COUNT"])
            assert found.of("GRADE").to_numpy().tolist() == [[0.1, 1.0], [0.1 + 0.2, 1e-5]]
            assert found.of("COUNT").to_numpy().tolist() == [[3.0, 0.0], [1.0, 2.0]]
        assert (tmp_path / "tot").read_text() == THEIRS["tot"]
        # and what their other tool makes of it
        read = theirs.results.load(tmp_path / "tot", "tot", recompute_aggregates=False, verify=True, on_missing="error")
        theirs.results.write_by_run(read, tmp_path / "folder", "trec_eval")
    same(
        ptr.read_leaderboard(tmp_path / "folder"),
        ptr.read_leaderboard(write(tmp_path / "mine", THEIRS["tot"])),
    )


@pytest.mark.parametrize("format", FORMATS)
def test_our_files_are_read_equal_by_their_tools(format, tmp_path):
    path = SCORES.write_leaderboard(tmp_path / "board", format)
    expected = {
        (name, qid, measure): value for name, qid, measure, value in SCORES.per_topic.itertuples(index=False, name=None)
    }
    means = {
        (name, "all", m): SCORES.mean_values[i, r]
        for r, name in enumerate(SCORES.names)
        for i, m in enumerate(SCORES.measures)
    }
    with autojudge() as theirs:
        if format != "rag4reports":
            read = theirs.results.load(path, format, recompute_aggregates=False, verify=True, on_missing="error")
            assert {(e.run_id, e.topic_id, e.measure): e.value for e in read.entries} == expected | means
            again = theirs.results.load(path, format, recompute_aggregates=True, verify=True, on_missing="error")
            found = {(e.run_id, e.topic_id, e.measure): e.value for e in again.entries if e.topic_id == "all"}
            assert found.keys() == means.keys()
            assert all(abs(found[key] - means[key]) < 1e-15 for key in found)
        board = theirs.board.Leaderboard.load(path, format)
    found = {(e.run_id, e.topic_id, m): float(v) for e in board.entries for m, v in e.values.items()}
    assert found == expected | means


def test_their_stored_files_are_read(tmp_path):
    found = ptr.read_leaderboard(write(tmp_path / "board.txt", THEIRS["tot"]))
    assert found.of("GRADE").to_numpy().tolist() == [[0.1, 1.0], [0.30000000000000004, 1e-5]]
    assert found.mean["COUNT"].tolist() == [2.0, 1.0]
    found = ptr.read_leaderboard(write(tmp_path / "board.jsonl", THEIRS["jsonl"]))
    assert found.per_topic["value"].tolist() == [0.1, 3.0]


TREC_EVAL = (
    "runid                 \tall\tmine\nnum_q                 \tall\t2\nnum_ret               \t1\t3\n"
    "map                   \t1\t0.1250\nnum_ret               \t2\t5\nmap                   \t2\t0.3334\n"
    "num_ret               \tall\t8\nmap                   \tall\t0.2292\ngm_map                \tall\t0.2041\n"
)


def test_what_trec_eval_prints(tmp_path):
    folder = tmp_path / "judge"
    folder.mkdir()
    write(folder / "mine.eval", TREC_EVAL)
    write(folder / ".hidden", "nothing of the kind")
    found = ptr.read_leaderboard(folder)
    # the run is called as the file, as AutoJudge has it, and the measures as ir_measures has them
    assert (found.names, found.topics, found.measures) == (["mine.eval"], ["1", "2"], ["NumRet", "AP"])
    assert found.mean.iloc[0].tolist() == ["mine.eval", 8.0, 0.2292]
    assert found.settings["left out"] == "runid, num_q, gm_map"
    assert ptr.read_leaderboard(folder, names="tag").names == ["mine"]
    of_all = ptr.read_leaderboard(folder / "mine.eval", rows="all")
    assert of_all.measures == ["NumQ", "NumRet", "AP", "gm_map"]
    assert of_all.mean["NumRet"].tolist() == [8.0]


def test_rows_all_alone(tmp_path):
    path = write(tmp_path / "board", "a all AP .5\nb all AP .25\nb all GRADE 2\na all GRADE 3\n")
    found = ptr.read_leaderboard(path)
    assert found.topics == ["all"]
    assert found.mean.to_numpy().tolist() == [["a", 0.5, 3.0], ["b", 0.25, 2.0]]
    assert found.settings["rows"] == "'all' alone: none by topic"
    again = found.write_leaderboard(tmp_path / "again", "tot")
    assert again.read_text() == "a\tAP\tall\t0.5\na\tGRADE\tall\t3.0\nb\tAP\tall\t0.25\nb\tGRADE\tall\t2.0\n"


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_ends_of_lines_that_their_readers_know(end, tmp_path):
    path = write(tmp_path / "board", end.join(["a 1 AP .5", "a 2 AP 1e-1", "a all AP .3", ""]))
    with autojudge() as theirs:
        read = theirs.results.load(path, "ir_measures", recompute_aggregates=False, verify=True, on_missing="error")
    found = ptr.read_leaderboard(path)
    assert [(e.run_id, e.topic_id, e.measure, e.value) for e in read.entries][:2] == [
        tuple(row) for row in found.per_topic.to_numpy().tolist()
    ]


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_what_is_left_out_and_what_is_no_mean_is_told(tmp_path, messages):
    text = "a 1 F1 .5\na 2 F1 .1\na 1 WORD x\na 2 WORD y\na all F1 .45\na all BEST .5\n"
    path = write(tmp_path / "board", text)
    found = messages.warned(lambda: ptr.read_leaderboard(path), times=3)
    assert found.mean["F1"].tolist() == [0.3]
    assert found.settings["left out"] == "WORD, BEST"
    of_all = messages.warned(lambda: ptr.read_leaderboard(path, rows="all"), times=1)
    assert of_all.mean.to_numpy().tolist() == [["a", 0.45, 0.5]]


BAD = {
    "columns": (("a 1 AP .5\na 2 AP .5 x\na all AP .5\n",), "path"),
    "columns of another format": (("a 1 AP .5\na 2 AP .5\n", "trec_eval"), "path"),
    "no format": (("one\ntwo\n",), "path"),
    "two formats": (("a 1 AP .5\na 2 AP .5\n",), "format"),
    "all in two columns": (("a 1 all .5\nall all AP .5\nb all AP .5\n",), "format"),
    "topics or measures": (("1 d1 1\n2 d1 0\n",), "format"),
    "nothing": (("\n \n",), "path"),
    "a heading alone": (("run topic measure value\n", "ir_measures"), "path"),
    "twice": (("a 1 AP .5\nb 1 AP .1\na 1 AP .4\na all AP .5\n",), "path"),
    "no number": (("a 1 AP .5\na 2 AP none\na all AP .5\n",), "path"),
    "texts alone": (("a 1 AP 0,5\na all AP 0,5\n",), "path"),
    "JSON of nothing": (('{"run_id": "a", "topic_id": "1", "measure": "AP", "value": null}\n',), "path"),
    "a name that is null": (('{"run_id": null, "topic_id": "1", "measure": "AP", "value": 1}\n',), "path"),
    "a name that is a list": (('{"run_id": "a", "topic_id": ["1"], "measure": "AP", "value": 1}\n',), "path"),
    "not finite": (("a 1 AP nan\na all AP .5\n",), "path"),
    "no JSON": (('{"run_id": "a", "topic_id": "1", "measure": "AP", "value": 1}\nrun_id\n',), "path"),
    "a key that is missing": (('{"run_id": "a", "topic_id": "1", "value": 1}\n',), "path"),
    "a topic that a run lacks": (("a 1 AP .5\na 2 AP .1\nb 1 AP .1\na all AP .3\n",), "frame"),
    "a run without topics": (("a 1 AP .5\na all AP .5\nb all AP .3\n",), "path"),
    "an unknown format": (("a 1 AP .5\n", "totes"), "format"),
    "no UTF-8": (("a 1 AP .5\n\udcff all AP .5\n",), "path"),
}


def test_what_is_no_leaderboard_is_refused(tmp_path, messages):
    for fault, ((text, *format), argument) in BAD.items():
        path = tmp_path / f"{fault}.txt"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        messages.refused(lambda path=path, format=format: ptr.read_leaderboard(path, *format), argument=argument)


def test_places_and_options_that_are_wrong(tmp_path, messages):
    messages.refused(lambda: ptr.read_leaderboard(tmp_path / "nowhere"), argument="path")
    messages.refused(lambda: ptr.read_leaderboard(3), argument="path")
    (tmp_path / "empty").mkdir()
    messages.refused(lambda: ptr.read_leaderboard(tmp_path / "empty"), argument="path")
    path = write(tmp_path / "board", "a 1 AP .5\nall 1 AP .5\n")
    messages.refused(lambda: ptr.read_leaderboard(path, "tot", rows="mean"), argument="rows")
    messages.refused(lambda: ptr.read_leaderboard(path, "ir_measures", rows="all"), argument="rows")
    messages.refused(lambda: ptr.read_leaderboard(path, names="run"), argument="names")
    tagless = write(tmp_path / "tagless", "map 1 .5\nmap all .5\n")
    messages.refused(lambda: ptr.read_leaderboard(tagless, names="tag"), argument="names")


def test_what_cannot_be_written_is_refused_and_nothing_is(tmp_path, messages):
    path = write(tmp_path / "there", "mine")
    messages.refused(lambda: SCORES.write_leaderboard(path), argument="path")
    assert path.read_text() == "mine"
    SCORES.write_leaderboard(path, overwrite=True)
    same(ptr.read_leaderboard(path), SCORES)
    messages.refused(lambda: SCORES.write_leaderboard(path, "csv"), argument="format")
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "other", "x")
    messages.refused(lambda: SCORES.write_leaderboard(tmp_path / "folder", "trec_eval"), argument="path")
    for row in (("a b", "1", "AP"), ("a", "1 2", "AP"), ("a", "all", "AP")):
        frame = pd.DataFrame([(*row, 0.5), ("c", row[1], row[2], 0.5), (row[0], "3", "AP", 0.1), ("c", "3", "AP", 0.1)])
        scores = ptr.Scores.from_frame(frame.set_axis(["name", "qid", "measure", "value"], axis=1))
        messages.refused(lambda scores=scores: scores.write_leaderboard(tmp_path / "new"))
    for name in ("a/b", ".a"):
        frame = pd.DataFrame({"name": [name], "qid": "1", "measure": "AP", "value": [0.5]})
        scores = ptr.Scores.from_frame(frame)
        messages.refused(lambda scores=scores: scores.write_leaderboard(tmp_path / "new", "trec_eval"))
    assert not (tmp_path / "new").exists()
    spaced = ptr.Scores.from_frame(pd.DataFrame({"name": ["a b"], "qid": "1", "measure": "AP", "value": [0.5]}))
    same(ptr.read_leaderboard(spaced.write_leaderboard(tmp_path / "spaced", "jsonl")), spaced)


@pytest.fixture(scope="module")
def results(data, tmp_path_factory):
    """Return MTEB's results of the test data, unpacked."""
    archive = data / "mteb" / "results.tar.xz"
    if not archive.is_file():
        pytest.skip("the test data has no results of MTEB")
    folder = tmp_path_factory.mktemp("mteb")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "results"


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_repaired_tasks_of_mteb_against_the_first_ones(results):
    # computed by a plain script
    expected = {
        ("Touche2020", "Touche2020Retrieval.v3"): (87, 0.834270684109, 0.542725173210, 40),
        ("HotpotQA", "HotpotQAHardNegatives"): (85, 0.979254275301, 0.949191685912, 4),
        ("FEVER", "FEVERHardNegatives"): (85, 0.980941704036, 0.930715935335, 3),
        ("ClimateFEVER", "ClimateFEVERHardNegatives"): (84, 0.973593570608, 0.916859122402, 4),
    }
    tasks = [task for pair in expected for task in pair]
    scores = ptr.read_leaderboard(results, tasks=tasks, revisions="each")
    for (first, repaired), (systems, tau, best, drop) in expected.items():
        options = {"tasks": [first], "best": 30, "resamples": 0}
        found = ptr.labels.compare_leaderboards(scores, {"repaired": [repaired]}, **options).of_all().iloc[0]
        assert found[["runs", "max_drop"]].tolist() == [systems, drop]
        assert found[["tau_b", "best_tau_b"]].tolist() == pytest.approx([tau, best], abs=1e-9)


def test_how_many_models_of_mteb_there_are(results):
    with pytest.warns(ptr.ReuseWarning) as told:
        scores = ptr.read_leaderboard(results, revisions="each", external="yes")
    said = [str(warning.message).rpartition("results: ")[2].partition(", such as")[0] for warning in told]
    assert said == [
        "224 results left out: written by MTEB before 1.11, without 'scores'",
        "11 results left out: MSMARCO without the split 'dev'",
        said[2],
    ]
    assert said[2].startswith("versions of one task count as tasks each: 'ClimateFEVER', 'DBPedia',")
    assert scores.settings["systems"] == "383 systems of 292 models"
    assert scores.settings["revisions"].startswith("each is a system (90 models with several")
