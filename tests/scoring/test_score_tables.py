"""Tables of systems by tasks and CSV by lines: read back as written; what may be no score is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.data.task_columns import doubtful_names

SEPARATORS = (",", ";", "\t")
MTEB = (
    'Rank,Model,"Memory (GB, fp32)",Embedding Dimensions,Average (3 sets),Reranking Average,QA,Search,MindReranking\n'
    '1,"large, tuned",13.2,4096,61.0,60.5,62.1,60.4,60.5\n'
    "2,base,1.3,,50.5,50.0,51.5,,50.0\n"
    "3,small,,384,40.5,41.0,40.0,40.5,41.0\n"
)


def write(path, text):
    path.write_bytes(text.encode())
    return path


def read(path, **options):
    return ptr.read_leaderboard(path, **options)


#: no word that is none of a task, no sign of spread and the like, and no separator but a quoted one
LETTERS = st.characters(categories=["Lo", "Nd", "P", "S"], exclude_characters="#,;|-–—±∆∑№%⌀ªº")
NAMES = st.lists(
    st.text(LETTERS, min_size=1, max_size=5).filter(lambda name: not doubtful_names([name])),
    min_size=1,
    max_size=5,
    unique=True,
)


@given(
    systems=NAMES,
    tasks=NAMES,
    values=st.lists(st.floats(-1, 1), min_size=25, max_size=25),
    empty=st.lists(st.booleans(), min_size=25, max_size=25),
    separator=st.sampled_from(SEPARATORS),
    transposed=st.booleans(),
)
@settings(suppress_health_check=list(HealthCheck))
def test_a_table_is_read_back(systems, tasks, values, empty, separator, transposed, tmp_path_factory):
    # a name with a separator is quoted
    systems, tasks = [f"{name}{separator}0" if separator != "\t" else name for name in systems], tasks
    expected = pd.DataFrame(np.reshape(values, (5, 5))[: len(systems), : len(tasks)], index=systems, columns=tasks)
    holes = np.reshape(empty, (5, 5))[: len(systems), : len(tasks)] & (np.arange(len(tasks)) > 0)
    # a task that no system has is none
    holes[0] = False
    expected = expected.mask(holes)
    path = tmp_path_factory.mktemp("any") / "table.csv"
    frame = expected.T.rename_axis("topic") if transposed else expected.rename_axis("Model")
    frame.to_csv(path, sep=separator)
    found = read(path, format="table", transposed=transposed, missing="leave_out" if holes.any() else "error")
    assert (set(found.names), set(found.topics), found.measures) == (set(systems), set(tasks), ["score"])
    got = found.of("score").where(found.has_topic).T
    pd.testing.assert_frame_equal(got.loc[systems, tasks], expected, check_names=False, check_exact=True)
    assert read(frame, transposed=transposed, missing="leave_out").to_frame().equals(found.to_frame())
    if separator != "\t":
        again = read(path, transposed=transposed, missing="leave_out" if holes.any() else "error")
        assert again.to_frame().equals(found.to_frame())


@given(names=NAMES, topics=NAMES, separator=st.sampled_from(SEPARATORS), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_lines_of_scores_are_read_back_and_told(names, topics, separator, seed, tmp_path_factory):
    index = pd.MultiIndex.from_product([names, topics, ["AP", "P@5"]], names=["name", "qid", "measure"])
    frame = pd.Series(np.random.default_rng(seed).random(len(index)), index=index, name="value").reset_index()
    scores = ptr.Scores.from_frame(frame)
    path = tmp_path_factory.mktemp("any") / "board"
    columns = {"name": "Run ID", "qid": "Topic", "measure": "metric", "value": "Score"}
    shuffled = frame[["value", "qid", "name", "measure"]].rename(columns=columns).assign(note="x")
    shuffled.to_csv(path, sep=separator, index=False)
    found = read(path)
    assert found.to_frame().equals(scores.to_frame())
    assert found.settings["scores"] == "leaderboard board (long)"
    assert read(shuffled).to_frame().equals(scores.to_frame())
    frame.loc[frame["measure"] == "AP", ["name", "qid", "value"]].to_csv(path, sep=separator, index=False)
    assert (
        read(path, measure="map").to_frame().equals(scores.to_frame().query("measure == 'AP'").reset_index(drop=True))
    )


def test_a_leaderboard_of_models(tmp_path, messages):
    path = write(tmp_path / "mteb.csv", MTEB)
    messages.refused(lambda: read(path), argument="path")
    tasks = ["MindReranking", "QA"]
    found = read(path, tasks=tasks)
    assert (found.names, found.topics) == (["large, tuned", "base", "small"], tasks)
    assert found.of("score").to_numpy().tolist() == [[60.5, 50.0, 41.0], [62.1, 51.5, 40.0]]
    # an average is a task where it is asked for
    assert read(path, tasks="Reranking Average").mean["score"].tolist() == [60.5, 50.0, 41.0]
    all_tasks = ["QA", "Search", "MindReranking"]
    messages.refused(lambda: read(path, tasks=all_tasks), argument="path")
    zero, left_out = (read(path, tasks=all_tasks, missing=missing) for missing in ("zero", "leave_out"))
    assert zero.mean["score"].tolist() == pytest.approx([61.0, 101.5 / 3, 40.5])
    assert left_out.mean["score"].tolist() == pytest.approx([61.0, 50.75, 40.5])
    assert (zero.complete, left_out.complete) == (True, False)
    # what is left out is told
    fewer = read(path, tasks=all_tasks, missing="drop_tasks")
    assert fewer.to_frame().equals(read(path, tasks=["QA", "MindReranking"]).to_frame())
    assert fewer.settings["tasks left out, a score missing"] == "Search"
    fewer = read(path, tasks=all_tasks, missing="drop_systems")
    assert (fewer.names, fewer.topics) == (["large, tuned", "small"], all_tasks)
    assert fewer.settings["systems left out, a score missing"] == "base"
    frame = pd.read_csv(path)
    assert read(frame, tasks=all_tasks, missing="zero").to_frame().equals(zero.to_frame())
    by_name = frame.set_index("Model")[["QA", "MindReranking"]]
    for one in (by_name, by_name.rename_axis(None), by_name.reset_index()):
        assert read(one).names == zero.names
    # rows that were chosen have an index, which is no task
    assert read(by_name.reset_index().iloc[1:]).topics == ["QA", "MindReranking"]


def test_links_and_signs_of_per_cent(tmp_path, messages):
    html = '"<a href=""y"" class=z>base</a>"'
    text = f"Model,QA,Search\n[large](https://x.org/a_(b)),45.3%,60 %\n{html},7%,-\n[old] v1,1%,2%\n"
    found = read(write(tmp_path / "x.csv", text), missing="zero")
    assert found.names == ["large", "base", "[old] v1"]
    assert found.of("score").T.to_numpy().tolist() == [[45.3, 60], [7, 0], [1, 2]]
    lines = "model,task,score\n[a](u),x,45%\n[a](v),y,5%\n"
    assert read(write(tmp_path / "y.csv", lines)).to_frame()["value"].tolist() == [45.0, 5.0]
    # one system, from two links
    messages.refused(lambda: read(write(tmp_path / "z.csv", "model,A\n[a](u),.5\n[a](v),.4\n")), argument="path")


def test_what_is_first_in_a_table_is_heeded(tmp_path, messages):
    path = write(tmp_path / "x.csv", "task_name,large,base\nQA,.5,.4\nSearch,.6,.3\n")
    messages.refused(lambda: read(path), argument="transposed")
    assert read(path, transposed=True).names == ["large", "base"]
    messages.refused(lambda: read(write(path, "model,A\nx,.5\ny,.4\n"), transposed=True), argument="transposed")


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_values_of_another_scale_ask(tmp_path, messages):
    path = write(tmp_path / "x.csv", "model,A,B,Loaded\nx,.5,.6,9000\ny,.4,.3,12\n")
    messages.refused(lambda: read(path), argument="path")
    assert read(path, ignore="Loaded").topics == ["A", "B"]
    assert messages.warned(lambda: read(path, tasks=["A", "Loaded"]), times=1).topics == ["A", "Loaded"]


def test_lines_without_a_score(tmp_path, messages):
    path = write(tmp_path / "x.csv", "model,task,score\na,x,.5\na,y,\nb,x,.3\nb,y,.4\n")
    messages.refused(lambda: read(path), argument="path")
    assert read(path, missing="drop_systems").names == ["b"]
    assert read(path, missing="drop_tasks").topics == ["x"]
    assert read(path, missing="leave_out").mean["score"].tolist() == pytest.approx([0.5, 0.35])
    write(path, "model,task,score\na,x,.5\na,y,\nb,x,\nb,y,.4\n")
    for missing in ("drop_tasks", "drop_systems"):
        messages.refused(lambda missing=missing: read(path, missing=missing), argument="missing")
    # a system that has none must not vanish
    messages.refused(
        lambda: read(write(path, "model,task,score\na,x,.5\nb,x,nan\n"), missing="leave_out"), argument="path"
    )


@pytest.mark.parametrize("name", ["board.txt", "board.csv"])
def test_a_table_is_told_from_columns_at_white_space(name, tmp_path):
    for tasks, separator in product((1, 2, 3, 5, 9), SEPARATORS):
        expected = pd.DataFrame({f"t{t}": [0.5, 0.25] for t in range(tasks)}, index=["a", "b"])
        expected.rename_axis("system").to_csv(tmp_path / name, sep=separator)
        found = read(tmp_path / name)
        assert found.settings["scores"] == f"leaderboard {name} (table)"
        assert found.of("score").T.equals(expected.rename_axis(columns="qid"))


def test_topics_without_names_are_numbered(tmp_path, messages):
    path = write(tmp_path / "x.csv", "sys1,sys2\n0.5,1\n0.5,0\n0.25,1\n")
    found = read(path, transposed=True, tasks=["3", "1"], measure="map")
    assert (found.names, found.topics, found.measures) == (["sys1", "sys2"], ["3", "1"], ["AP"])
    assert found.values[0].tolist() == [[0.25, 1.0], [0.5, 1.0]]
    messages.refused(lambda: read(path), argument="path")
    # numbers of topics, or scores of the first system
    messages.refused(lambda: read(write(path, "sys1,sys2\n1,1\n2,0\n"), transposed=True), argument="path")
    assert read(write(path, "qid,sys2\n1,1\n2,0\n"), transposed=True).topics == ["1", "2"]
    # as R and pandas write the names of rows
    assert read(write(path, ',"a","b"\n"1",1,2\n"2",0,3\n')).names == ["1", "2"]


BAD = {
    "a text for a number": ("model,A,B\nx,.4,.6\ny,3%,.4\n", {}),
    "a number with a comma": ("model;A;B\nx;0,4;.5\ny;.3;.4\n", {}),
    "texts alone": ("model,A,B\nx,mit,.6\ny,gpl,.4\n", {}),
    "an infinite number": ("model,A,B\nx,inf,.6\ny,.1,.4\n", {}),
    "a system twice": ("model,A,B\nx,.4,\nx,,.4\n", {}),
    "a system without a name": ("model,A,B\nx,.4,.1\n,.1,.4\n", {}),
    "a system twice, topics as lines": ("qid,x,x\n1,.4,.1\n2,.1,.4\n", {"transposed": True}),
    "a task twice": ("model,A,A\nx,.4,.1\ny,.1,.4\n", {}),
    "a task twice, chosen": ("model,A,A\nx,.4,.1\ny,.1,.4\n", {"tasks": "A"}),
    "an empty cell": ("model,A,B\nx,.4,.1\ny,NA,.4\n", {}),
    "a system without a score": ("model,A,B\nx,.4,.1\ny,,\n", {"missing": "zero"}),
    "a task without a score": ("model,A,B\nx,.4,\ny,.1,-\n", {"missing": "zero"}),
    "a column without a name": ("model,A,\nx,.4,.1\ny,.1,.2\n", {}),
    "a short line": ("model,A,B\nx,.4,.1\ny,.1\n", {}),
    "a long line": ("model,A,B\nx,.4,.1\ny,.1,.2,.3\n", {}),
    "the mean of the systems": ("model,A,B\nx,.4,.1\nMean,.1,.2\n", {}),
    "the mean of the topics": ("qid,x,y\n1,.4,.1\nall,.1,.2\n", {"transposed": True}),
    "names alone": ("model\nx\ny\n", {"format": "table"}),
    "a heading alone": ("model,A,B\n", {}),
    "open quotes": ('model,A,"B\nx,.4,.1\n', {}),
    "lines of scores without a value": ("model,task\nx,A\n", {"format": "long"}),
    "two names of a run": ("model,run,task,score\nx,y,A,.1\n", {}),
    "lines twice": ("model,task,score\nx,A,.1\nx,A,.2\n", {}),
    "a score that is a text": ("model,task,score\nx,A,.1\nx,B,none\n", {}),
}


def test_what_is_no_table_of_scores_is_refused(tmp_path, messages):
    for fault, (text, options) in BAD.items():
        path = write(tmp_path / f"{fault}.csv", text)
        messages.refused(lambda path=path, options=options: read(path, **options), argument="path")


def test_an_error_says_where(tmp_path):
    with pytest.raises(ptr.InputError) as error:
        read(write(tmp_path / "board.csv", "model,A,B\n\nx,.4,.6\n\ny,.3,4%\n"))
    assert error.value.place.endswith("board.csv, line 5")
    assert all(part in str(error.value) for part in ("'y'", "'B'", "'4%'"))


def test_options_that_are_wrong(tmp_path, messages):
    path = write(tmp_path / "board.csv", "model,A,B\nx,.4,.6\ny,.3,.2\n")
    for tasks in ("C", ["A", "A"], [], 3):
        messages.refused(lambda tasks=tasks: read(path, tasks=tasks), argument="tasks")
    for name in ("", 3):
        messages.refused(lambda name=name: read(path, measure=name), argument="measure")
    messages.refused(lambda: read(path, transposed=1), argument="transposed")
    messages.refused(lambda: read(path, header=True), argument="header")
    frame = pd.DataFrame({"model": ["x", "y"], "A": [0.4, 0.5]})
    messages.refused(lambda: read(frame, format="tot"), argument="format")
    for odd in (frame.iloc[:0], frame.assign(A=[True, False]), frame.assign(A=[0.1, None]), [0.1]):
        messages.refused(lambda odd=odd: read(odd), argument="path")
    others = write(tmp_path / "board", "a 1 AP .5\na all AP .5\n")
    for option in ({"tasks": "2"}, {"ignore": "2"}, {"transposed": True}, {"measure": "P@5"}):
        messages.refused(lambda option=option: read(others, **option), argument=next(iter(option)))
    lines = write(tmp_path / "lines.csv", "model,task,score\nx,A,.1\n")
    for wrong in ({"tasks": "B"}, {"ignore": "B"}, {"ignore": 3}, {"tasks": "A", "ignore": "A"}):
        messages.refused(lambda wrong=wrong: read(lines, **wrong), argument=[*wrong][-1])


def folder_of(data, *parts):
    folder = data.joinpath("score-matrices", *parts)
    if not folder.is_dir():
        pytest.skip(f"the test data has no folder score-matrices/{'/'.join(parts)}")
    return folder


@pytest.mark.parametrize(
    ("file", "systems", "topics"),
    [("AH99", 129, 50), ("R04", 110, 249), ("TB06", 61, 149), ("WEB14AP-Binary-0-0", 30, 50)],
)
def test_tables_of_systems_by_topics(data, file, systems, topics):
    path = folder_of(data, "newbestsub") / f"{file}.csv.gz"
    scores = read(path, measure="AP")
    assert (len(scores.names), len(scores.topics), scores.measures) == (systems, topics, ["AP"])
    expected = pd.read_csv(path, index_col=0)
    assert (scores.of("AP").T.to_numpy() == expected.to_numpy()).all()


def test_two_tables_of_one_track_agree(data):
    rows = read(folder_of(data, "newbestsub") / "AH99.csv.gz", measure="AP")
    columns = read(folder_of(data, "urbano", "sigir2016-correlation", "data") / "adhoc8.csv", transposed=True)
    assert (len(columns.names), columns.topics) == (129, [str(n) for n in range(1, 51)])
    # both have the runs in one order, the second without their names
    assert (rows.values == columns.values).all()
    one, other = (ptr.rank_intervals(scores).summary().iloc[0] for scores in (rows, columns))
    assert one.drop("measure").equals(other.drop("measure"))
    # what the page has of the runs themselves
    assert (one["candidates"], round(one["mean_width"], 1)) == (38, 81.2)
    assert (one["adjacent_differ"], one["adjacent"]) == (0, 132)


@pytest.mark.parametrize(("file", "topics", "systems"), [("web2004", 150, 73), ("genomics2004", 50, 47)])
def test_tables_of_topics_by_systems(data, file, topics, systems):
    path = folder_of(data, "urbano", "irj2015-reliability", "data") / f"{file}.csv"
    scores = read(path, transposed=True)
    assert scores.names == [f"sys{n}" for n in range(1, systems + 1)]
    assert (scores.of("score").to_numpy() == pd.read_csv(path).to_numpy()).all()
    assert len(scores.topics) == topics
