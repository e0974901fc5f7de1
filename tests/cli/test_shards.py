"""`--shard` and `pt-reuse merge`: the result of shards is the result of the whole, to the last bit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_parts import run
from joblib import parallel_config
from real_runs import PARSED
from shard_parts import SHARDED, contents, shards, write_field

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def field(tmp_path_factory):
    folder = tmp_path_factory.mktemp("field")
    write_field(folder)
    return folder


@pytest.fixture
def here(field, tmp_path, monkeypatch, request):
    """Stand in a folder of one's own with the files of the field; one of the commands draws its pictures."""
    if "in the order of the files" not in request.node.name:
        request.getfixturevalue("no_pictures")
    for path in field.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def whole(field, tmp_path_factory):
    """Return what a call prints and writes without shards, made once for each call."""
    made = {}

    def of(call, capsys, *more):
        if (call, more) not in made:
            status, out, err = run(capsys, *call.split(), *more, "--out", "results")
            folder = tmp_path_factory.mktemp("whole")
            assert status == 0
            made[call, more] = out, err, contents(folder.__class__("results"))
        return made[call, more]

    return of


#: each command in many ways, and each with further options in one
CASES = [(call, n) for call in SHARDED for n in ((3,) if " " in call else (1, 12))]


@pytest.mark.parametrize(("call", "n"), CASES)
def test_shards_are_merged_to_the_result_of_the_whole(call, n, here, whole, capsys):
    expected = whole(SHARDED[call], capsys)
    said = shards(capsys, SHARDED[call], n)
    assert said[-1].endswith(
        f"{n} of {n} shard{'s are' if n > 1 else ' is'} there. `pt-reuse merge shards` makes the result.\n"
    )
    assert run(capsys, "merge", "shards", "--out", "results", "--overwrite")[1:] == expected[:2]
    assert contents(here / "results") == expected[2]


SCORE = SHARDED["score"]


@pytest.mark.parametrize("call", ["score", "lou", "pool", "unjudged"])
def test_shards_do_several_topics_at_a_time(call, here, whole, capsys):
    expected = whole(SHARDED[call], capsys)
    with parallel_config("loky" if call == "lou" else "threading"):
        shards(capsys, f"{SHARDED[call]} --jobs 2", 2)
    assert run(capsys, "merge", "shards", "--out", "results", "--overwrite")[1] == expected[0]
    assert contents(here / "results") == expected[2]


def test_a_shard_writes_one_file_and_prints_no_number(here, capsys):
    before = set(here.iterdir())
    assert shards(capsys, SCORE, 12, folder="new/shards", numbers=[3]) == [
        "Written to new/shards: shard-03-of-12.ptr, topic 3 (1 of 9). 1 of 12 shards is there.\n"
    ]
    assert set(here.iterdir()) - before == {here / "new"}
    assert list(contents(here / "new" / "shards")) == ["shard-03-of-12.ptr"]


def test_a_shard_that_is_there_is_not_computed_again(here, capsys, monkeypatch):
    shards(capsys, SCORE, 2)
    before = contents(here / "shards")

    def reached(*_, **__):
        pytest.fail("the runs are not to be read")

    monkeypatch.setattr("pt_reuse.data.run_files.parse_files", reached)
    # means and what is shown make no difference, nor do other paths to the same files
    said = shards(capsys, f"{SCORE.replace('runs', './runs', 1)} --quiet --cache kept --jobs 2", 2)
    assert said == [
        f"shards/shard-{k}-of-2.ptr is there already, made alike, and is not computed again. 2 of 2 shards are there. "
        "`pt-reuse merge shards` makes the result.\n"
        for k in (1, 2)
    ]
    assert contents(here / "shards") == before


@pytest.mark.parametrize("harm", ["cut off", "another byte", "empty"])
def test_a_damaged_shard_is_computed_again(harm, here, capsys, messages):
    shards(capsys, SCORE, 2)
    path = here / "shards" / "shard-2-of-2.ptr"
    whole = path.read_bytes()
    path.write_bytes({"cut off": whole[:-100], "another byte": whole[:-70] + b"\xff" + whole[-69:], "empty": b""}[harm])
    status, _, err = run(capsys, "merge", "shards")
    assert status == 2
    messages.told(err)
    status, out, err = run(capsys, *SCORE.split(), "--shard", "2/2", "--out", "shards")
    assert status == 0
    assert out.startswith("Written to shards: shard-2-of-2.ptr, ")
    messages.told(err)
    assert path.read_bytes() == whole


#: what differs -> options of the other call
OTHERS = {
    "option": f"{SCORE} --own-topics",
    "value": f"{SCORE} --measures AP",
    "judgments": SCORE.replace("qrels.txt", "other.txt"),
    "runs": SCORE.replace("runs ", "fewer ", 1),
    "table of runs": SCORE.replace("--metadata runs.csv", ""),
    "command": SCORE.replace("score", "unjudged"),
}


@pytest.fixture
def others(here):
    (here / "other.txt").write_text((here / "qrels.txt").read_text().replace(" 1\n", " 0\n", 1))
    (here / "fewer").mkdir()
    for path in sorted((here / "runs").iterdir())[1:]:
        (here / "fewer" / path.name).write_bytes(path.read_bytes())
    return here


@pytest.mark.parametrize("what", OTHERS)
def test_shards_of_other_calls_are_refused(what, others, capsys, messages):
    shards(capsys, SCORE, 3, numbers=[1])
    for share in ("1/3", "2/3", "1/4"):
        status, out, err = run(capsys, *OTHERS[what].split(), "--shard", share, "--out", "shards")
        assert (status, out) == (2, "")
        messages.told(err)
    assert list(contents(others / "shards")) == ["shard-1-of-3.ptr"]


def test_another_version_is_refused(here, capsys, messages, monkeypatch):
    shards(capsys, SCORE, 2)
    monkeypatch.setattr("pt_reuse.cli.shards.__version__", "9.9")
    for call in (["merge", "shards"], [*SCORE.split(), "--shard", "1/2", "--out", "shards"]):
        status, out, err = run(capsys, *call)
        assert (status, out) == (2, "")
        messages.told(err)
    monkeypatch.setattr("pt_reuse.cli.shards.FORMAT", 9)
    assert run(capsys, "merge", "shards")[0] == 2


# ---- real data


REAL = {
    "lou": "lou --runs {f}/inputs --measures AP --depth 100 --contributors all",
    "score": "score {f}/inputs --measures AP,Bpref",
    "unjudged": "unjudged {f}/inputs --by team",
}


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(("command", "n"), [("lou", 2), ("score", 2), ("unjudged", 1)])
def test_shards_of_real_runs_are_merged_to_the_result_of_the_whole(command, n, data, tmp_path, capsys, monkeypatch):
    folder = data / "trec8-adhoc"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec8-adhoc")
    monkeypatch.chdir(tmp_path)
    store = Path(os.environ[PARSED]) / "trec8 within memory"
    files = "--qrels {f}/trec8.qrels.gz --teams {f}/runs-pids --memory 500MB --cache"
    call = f"{REAL[command]} {files}".format(f=folder)
    status, out, _ = run(capsys, *call.split(), store, "--out", "results")
    assert status == 0
    expected = contents(tmp_path / "results")
    for k in range(1, n + 1):
        assert run(capsys, *call.split(), store, "--shard", f"{k}/{n}", "--out", "shards")[0] == 0
    assert run(capsys, "merge", "shards", "--out", "results", "--overwrite")[:2] == (0, out)
    assert contents(tmp_path / "results") == expected
