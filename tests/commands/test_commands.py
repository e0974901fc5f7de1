"""The commands that know collections by name, and `--collection` of the others."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.cli import main
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.listing import list_collections
from pt_reuse.studies.pool_inference.inference import infer_pool

HEADER = "name title year topics judged runs teams pooled published here"


@pytest.fixture(autouse=True)
def user_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path / "home"


@pytest.fixture(scope="module")
def field():
    return ptr.simulate_field(seed=3, n_topics=5, n_docs=200, n_teams=4, length=30, depth=5)


@pytest.fixture
def definition(tmp_path, field):
    """Return the definition of a collection of one's own, with runs, teams, types and who was pooled."""
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return (
        f'name = "mine/sim"\ntitle = "Simulated"\nyear = 2024\nnote = "For tests."\nqrels = "{tmp_path}/qrels.txt"\n'
        f'[runs]\nfolder = "{tmp_path}/runs"\nmetadata = "{tmp_path}/runs.csv"\n'
    )


@pytest.fixture
def own(tmp_path, definition):
    """Return the file of that definition."""
    path = tmp_path / "mine.toml"
    path.write_text(definition)
    return path


@pytest.fixture
def at_home(user_home, definition):
    """Return the name of that collection, its definition being in the user's folder."""
    (user_home / "collections").mkdir(parents=True)
    (user_home / "collections" / "sim.toml").write_text(definition)
    return "mine/sim"


def run(capsys, *arguments):
    """Return status, output and errors of the command line."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as exit_:
        status = exit_.code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return status, printed.out, printed.err


# ---- collections


def test_collections_lists_what_a_search_finds(capsys):
    status, out, err = run(capsys, "collections", "deep", "learning", "2019")
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[0].split() == HEADER.split()
    assert [line.split()[0] for line in lines[1:]] == ["trec-2019/deep/docs", "trec-2019/deep/passages"]
    assert lines[1].startswith("trec-2019/deep/docs     TREC 2019 Deep Learning, documents")


@pytest.mark.parametrize("width", [60, 70, 80, 100, 120, 200])
def test_collections_fits_the_terminal(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = run(capsys, "collections", "--all")
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    assert {"name", "runs", "here"} <= set(lines[0].split())
    assert ("title" in lines[0]) == (width >= 100)
    assert ("irds" in lines[0]) == (width >= 200)


def test_a_long_list_is_cut_unless_all_is_asked_for(capsys):
    total = len(list_collections())
    _, out, _ = run(capsys, "collections")
    assert len(out.splitlines()) == 1 + 40 + 1
    assert f"... and {total - 40} more collections; --all shows every one" in out
    _, out, _ = run(capsys, "collections", "--all")
    assert len(out.splitlines()) == 1 + total


def test_csv_has_everything(capsys):
    _, out, _ = run(capsys, "collections", "--csv")
    assert out == list_collections().to_csv(index=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["treq8"], "no collection with 'treq8'. Did you mean 'trec-8'? `pt-reuse collections --all` shows all"),
        (["deap", "2019"], "no collection with 'deap 2019'. Did you mean 'deep 2019'?"),
        (["qqqqqq"], "no collection with 'qqqqqq'. `pt-reuse collections --all` shows all"),
        (["robust", "--here"], "no collection with 'robust' has run files on this machine."),
        (["qqqqqq", "--csv"], "no collection with 'qqqqqq'."),
    ],
)
def test_nothing_found_is_said_with_status_1(words, message, capsys):
    status, out, err = run(capsys, "collections", *words)
    assert status == 1
    assert message in err
    assert len(out.splitlines()) == ("--csv" in words)


def test_here_lists_collections_with_run_files(at_home, capsys):
    _, out, _ = run(capsys, "collections", "--here")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["demo", "mine/sim"]


def test_an_exact_name_is_described(capsys, user_home):
    status, out, err = run(capsys, "collections", "reuse:trec-8/adhoc")
    assert (status, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0] == "trec-8/adhoc: TREC-8 ad hoc (1999)"
    assert "topics     50, from irds:disks45/nocr/trec8" in lines
    assert "judged     86,830 (4,728 relevant), from irds:disks45/nocr/trec8" in lines
    assert "runs       129 runs of 41 teams: 116 automatic, 13 manual" in lines
    assert "pooled     71 of 129 runs, on record" in lines
    assert "here       0 of 129 runs" in lines
    assert f"looked at  {user_home}/trec-8/adhoc/runs (does not exist yet)" in lines
    assert "NIST asks for a user name and password" in out
    assert "'FBIS', 'FR94', 'FT', 'LA'" in out


def test_who_was_pooled_is_said_to_be_unknown(capsys):
    _, out, _ = run(capsys, "collections", "trec-2019/deep/passages")
    assert "not on record; `pt-reuse infer-pool` says which runs must have been" in out


def test_an_own_collection_is_described_by_name_and_by_file(at_home, own, capsys, tmp_path):
    _, by_name, _ = run(capsys, "collections", at_home)
    _, by_file, _ = run(capsys, "collections", own)
    assert by_name == by_file
    assert f"runs       8, from {tmp_path}/runs" in by_name
    assert f"judged     {tmp_path}/qrels.txt" in by_name
    assert "note       For tests." in by_name


# ---- --collection


def test_lou_on_a_collection_is_lou_on_its_files(own, field, capsys):
    status, out, err = run(capsys, "lou", "--collection", own, "--depth", 5, "--measures", "AP")
    expected = ptr.leave_out_uniques(field.runs, field.qrels, ["AP"], depth=5)
    assert (status, err) == (0, "")
    assert "RunSet: 8 runs (6 pooled), 4 teams, 3 types" in out
    assert f"{expected.summary['own_tau_b'].iloc[0]:.4f}" in out


def test_runs_of_a_collection_take_labels_of_ones_own(own, field, tmp_path, capsys):
    name = field.runs.names[0]
    (tmp_path / "types").write_text(f"{name} special\n")
    (tmp_path / "pooled").write_text(f"{name}\n")
    (tmp_path / "teams").write_text(f"{name} solo\n")
    labels = ("--types", tmp_path / "types", "--pooled", tmp_path / "pooled", "--teams", tmp_path / "teams")
    status, out, err = run(capsys, "runs", "--collection", own, "--all", *labels)
    assert (status, err) == (0, "")
    assert out.startswith("RunSet: 8 runs (1 pooled), 5 teams, 4 types")
    line = next(line for line in out.splitlines() if line.split()[0] == name)
    assert line.split()[1:4] == ["solo", "special", "True"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lou", "--collection", "trec-9/adhoc"], "no collection 'reuse:trec-9/adhoc'. Did you mean 'reuse:trec-"),
        (["lou", "--collection", "nowhere.toml"], "nowhere.toml cannot be read: No such file or directory."),
        (["lou", "--collection", "broken.toml"], "broken.toml is no TOML"),
        (["collections", "broken.toml"], "broken.toml is no TOML"),
        (["lou", "--runs", "x"], "the following arguments are required: --qrels (or --collection)"),
        (["runs"], "the following arguments are required: DIR (or --collection)"),
        (["infer-pool"], "the following arguments are required: --runs, --qrels (or NAME)"),
        (["infer-pool", "trec-9/adhoc"], "no collection 'reuse:trec-9/adhoc'"),
        (["infer-pool", "--runs", "x", "--qrels", "x", "--depth", "deep"], "argument --depth: invalid"),
        (["runs", "x", "--missing", "error"], "--missing is for the runs of a collection. Give it with --collection."),
        (["runs", "x", "--no-download"], "--no-download is for the runs of a collection."),
        (["runs", "--collection", "demo", "--names", "file"], "--names is for run files alone"),
        (["runs", "--collection", "trec-8/adhoc", "--missing", "eror"], "missing must be one of 'warn', 'error'"),
        (["fetch", "trec-9/adhoc"], "no collection 'reuse:trec-9/adhoc'"),
        (["fetch", "trec-8/adhoc", "--type", "neural"], "neural"),
        (["fetch", "trec-2019/deep/docs", "--only-pooled"], "not on record"),
        (["fetch", "demo"], "no run of it is on record"),
        (["verify", "trec-7/adhoc"], "no published figures of 'trec-7/adhoc'"),
        (["verify", "trec-8/adhoc", "--qrels", "nowhere"], "nowhere"),
    ],
)
def test_errors_say_what_to_do_with_status_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.toml").write_text("name = ")
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert message in err
    assert out == ""
    assert "read_runs('" not in err
    assert "list_collections(" not in err


# ---- infer-pool


def test_infer_pool_finds_what_was_simulated_and_saves_it(own, field, tmp_path, capsys):
    out_folder = tmp_path / "out"
    status, out, err = run(capsys, "infer-pool", own, "--out", out_folder)
    expected = infer_pool(field.runs, field.qrels)
    assert (status, err) == (0, "")
    assert expected.depth == 5
    assert f"{expected.headline()}\n{expected.explanation}\n" in out
    saved = pd.read_csv(out_folder / "table.csv")
    assert sorted(saved["name"][saved["contributed"]]) == sorted(expected.contributors)
    assert (out_folder / "judged-by-rank.png").read_bytes().startswith(b"\x89PNG")
    status, _, err = run(capsys, "infer-pool", own, "--out", out_folder)
    assert status == 2
    assert "Pass --overwrite" in err
    assert run(capsys, "infer-pool", own, "--out", out_folder, "--overwrite")[0] == 0


def test_infer_pool_takes_files_and_a_given_depth(own, field, tmp_path, capsys):
    files = ("--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt")
    status, out, _ = run(capsys, "infer-pool", *files, "--depth", 3, "--tolerance", 0.1)
    assert status == 0
    assert infer_pool(field.runs, field.qrels, depth=3, tolerance=0.1).headline() in out
    assert "Runs by what is on record" not in out
    assert run(capsys, "infer-pool", *files, "--depth", "topic")[0] == 0
    status, _, err = run(capsys, "infer-pool", *files, "--tolerance", 2)
    assert status == 2
    assert "tolerance must be a share" in err


# ---- verify


def test_verify_tells_equal_from_unequal_by_its_status(at_home, field, tmp_path, capsys):
    means = ptr.score(field.runs, field.qrels, ["AP"]).mean.set_index("name")["AP"]
    first, second = field.runs.names[:2]
    figures = tmp_path / "figures.toml"

    def publish(value):
        figures.write_text(
            'collection = "mine/sim"\ntitle = "Simulated"\n[[figure]]\nwhat = "MAP"\nkind = "scores"\n'
            f'measure = "AP"\nsource = "nowhere"\nvalues = {{ {first} = "{means[first]:.4f}", {second} = "{value}" }}\n'
        )

    publish(f"{means[second]:.4f}")
    status, out, _ = run(capsys, "verify", at_home, "--figures", figures, "--brief")
    assert status == 0
    assert "2 of 2 figures equal" in out
    assert first not in out
    _, out, _ = run(capsys, "verify", at_home, "--figures", figures)
    assert "2 of 2 figures equal" in out
    rows = [line.split() for line in out.splitlines()]
    assert ["what", "name", "published", "computed", "equal", "difference", "convention"] in rows
    assert [row[:3] + row[4:5] for row in rows if row[1:2] == [first]] == [
        ["MAP", first, f"{means[first]:.4f}".rstrip("0"), "True"]
    ]
    publish("0.9999")
    status, out, _ = run(capsys, "verify", at_home, "--figures", figures, "--out", tmp_path / "new" / "all.csv")
    assert status == 1
    assert "1 of 2 figures equal, 1 unequal" in out
    assert "0.9999" in out
    assert pd.read_csv(tmp_path / "new" / "all.csv")["equal"].tolist() == [True, False]
    status, _, err = run(capsys, "verify", at_home, "--figures", figures, "--out", tmp_path / "new" / "all.csv")
    assert status == 2
    assert "Pass --overwrite" in err


def test_verify_of_nothing_is_an_error(at_home, tmp_path, capsys):
    figures = tmp_path / "figures.toml"
    figures.write_text(
        'collection = "mine/sim"\ntitle = "Simulated"\n[[figure]]\nwhat = "MAP"\nkind = "scores"\n'
        'measure = "AP"\nsource = "nowhere"\nvalues = { stranger = "0.1234" }\n'
    )
    status, _, err = run(capsys, "verify", at_home, "--figures", figures)
    assert status == 2
    assert "verify: no figure could be computed" in err


# ---- fetch


class _Server(BaseHTTPRequestHandler):
    runs: ClassVar[dict[str, bytes]] = {}

    def do_GET(self):
        content = self.runs.get(self.path.strip("/"))
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


@pytest.fixture
def published(monkeypatch):
    """Serve two of four runs of a collection from this machine; the first is pooled."""
    _Server.runs = {name: f"1 Q0 d1 1 2.0 {name}\n".encode() for name in ("a", "b")}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    submitted = pd.DataFrame({
        "name": ["a", "b", "gone", "lost"], "team": list("ABBC"), "type": ["automatic", "manual", "manual", "manual"],
        "official_type": "", "task": "", "pooled": [True, False, False, False], "published": True,
    })  # fmt: skip
    collection = Collection(
        name="small", title="Small", submitted=submitted, url=f"http://127.0.0.1:{server.server_port}/{{tag}}",
        access="open", topic_ids=frozenset("1"),
    )  # fmt: skip
    monkeypatch.setattr("pt_reuse.commands.field.find_collection", lambda name: collection)
    yield collection
    server.shutdown()
    server.server_close()
    thread.join()


def test_fetch_says_what_came_and_what_failed(published, user_home, capsys):
    status, out, err = run(capsys, "fetch", "small", "--jobs", 2)
    lines = out.splitlines()
    assert (status, err) == (2, "")
    assert lines[:2] == [
        "small: 4 runs: 0 were here, 2 fetched, 2 failed.", f"New files go to {user_home}/small/runs"
    ]  # fmt: skip
    assert lines[2:] == [f"  2 runs ('gone', 'lost'): {published.url}: there is no such file (404)."]
    assert (user_home / "small" / "runs" / "input.a").read_text() == "1 Q0 d1 1 2.0 a\n"
    status, out, _ = run(capsys, "fetch", "small", "--team", "A")
    assert status == 0
    assert "small: 1 run: 1 were here, 0 fetched, 0 failed." in out


def test_fetch_takes_a_part(published, user_home, capsys):
    status, out, _ = run(capsys, "fetch", "small", "--only-pooled")
    assert (status, out.split(".")[0]) == (0, "small: 1 run: 0 were here, 1 fetched, 0 failed")
    _, out, _ = run(capsys, "fetch", "small", "--type", "manual")
    assert out.startswith("small: 3 runs: 0 were here, 1 fetched, 2 failed.")


@pytest.mark.filterwarnings("default")
def test_missing_runs_are_a_note_or_an_error(published, user_home, capsys):
    status, out, err = run(capsys, "runs", "--collection", "small", "--no-download")
    assert status == 2
    assert "none of 4 runs is on this machine" in err
    assert "fetch them with `pt-reuse fetch NAME`" in err
    status, out, err = run(capsys, "runs", "--collection", "small")
    assert status == 0
    assert out.startswith("RunSet: 2 runs (1 pooled), 2 teams")
    assert "2 of 4 runs missing, 2 there (missing 'gone', 'lost'; 1 team without any run left: C)" in err
    assert run(capsys, "runs", "--collection", "small", "--missing", "ignore")[2] == ""
    status, out, err = run(capsys, "runs", "--collection", "small", "--missing", "error")
    assert (status, out) == (2, "")
    assert "2 of 4 runs missing" in err


def test_a_folder_of_runs_is_labelled_by_the_collection(published, tmp_path, capsys):
    (tmp_path / "a").write_text("1 Q0 d1 1 2.0 a\n")
    status, out, err = run(capsys, "runs", tmp_path, "--collection", "small", "--missing", "ignore")
    assert (status, err) == (0, "")
    assert out.startswith("RunSet: 1 run (1 pooled), 1 team, 1 type, 1 topic, 1 row")
    (tmp_path / "a").unlink()
    status, _, err = run(capsys, "runs", tmp_path, "--collection", "small")
    assert status == 2
    assert "none of 4 runs" in err


@pytest.mark.filterwarnings("default")
def test_an_unknown_pool_is_noted_unless_the_user_names_it(published, monkeypatch, tmp_path, capsys):
    unknown = replace(published, submitted=published.submitted.assign(pooled=None))
    monkeypatch.setattr("pt_reuse.commands.field.find_collection", lambda name: unknown)
    (tmp_path / "a").write_text("1 Q0 d1 1 2.0 a\n")
    (tmp_path / "b").write_text("1 Q0 d1 1 2.0 b\n")
    (tmp_path / "pooled").write_text("b\n")
    command = ["runs", tmp_path, "--collection", "small", "--missing", "ignore"]
    _, out, err = run(capsys, *command)
    assert out.startswith("RunSet: 2 runs (pooled: not on record)")
    assert err.startswith("pt-reuse: note: get_runs of reuse:small: who was pooled is not on record")
    assert "`pt-reuse infer-pool` says which must have been; --pooled FILE names those to lou." in err
    _, out, err = run(capsys, *command, "--pooled", tmp_path / "pooled")
    assert out.startswith("RunSet: 2 runs (1 pooled)")
    assert err == ""


def test_ctrl_c_says_that_fetching_can_go_on(published, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ReuseDataset, "fetch", interrupted)
    status, out, err = run(capsys, "fetch", "small")
    assert (status, out) == (130, "")
    assert "what has arrived is kept, and `pt-reuse fetch small` goes on from there" in err


# ---- the process


def test_help_is_quick_to_come():
    code = (
        "import sys\nfrom pt_reuse.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'scipy', 'matplotlib', 'ir_datasets', 'joblib'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stderr == "[]\n"
    for command in ("lou", "runs", "infer-pool", "collections", "fetch", "verify", "demo"):
        assert re.search(rf"^    {command}\s", finished.stdout, re.MULTILINE)


@pytest.mark.parametrize("arguments", [["collections", "trec-8/adhoc"], ["collections", "--csv"]])
def test_a_closed_pipe_is_no_error(arguments):
    command = [sys.executable, "-m", "pt_reuse.cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, b"")


# ---- real data


@pytest.fixture
def data_home(data, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(data))
    return data


def test_real_runs_are_found(data_home, capsys):
    _, out, _ = run(capsys, "collections", "--here")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["demo", "trec-8/adhoc", "trec-covid/round5"]
    _, out, _ = run(capsys, "collections", "trec-8/adhoc")
    assert "here       129 of 129 runs" in out
    assert str(data_home / "trec8-adhoc" / "inputs") in out


def test_real_figures_hold(data_home, capsys):
    qrels = data_home / "trec8-adhoc" / "trec8.qrels.gz"
    status, out, err = run(capsys, "verify", "trec-8/adhoc", "--qrels", qrels)
    assert (status, err) == (0, "")
    assert "runs=129 of 129" in out
    assert "not computed" not in out


def test_the_real_pool_is_inferred(data_home, capsys):
    qrels = data_home / "trec8-adhoc" / "trec8.qrels.gz"
    status, out, err = run(capsys, "infer-pool", "trec-8/adhoc", "--qrels", qrels)
    assert (status, err) == (0, "")
    assert "depth 100, 71 of 129 runs contributed (1 more is judged as deep)" in out
    assert "covered: 'Dm8TFidf'" in out
