"""Nothing that a command prints is wider than the terminal."""

from __future__ import annotations

import sys

import pytest
from annotator_parts import labelled
from command_parts import COMMANDS, run

import pt_reuse as ptr
from pt_reuse.cli import entry as cli
from pt_reuse.cli.output import PIPED, say_end, width_of

WIDTHS = (80, 120)
EVERY_WIDTH = pytest.mark.parametrize("width", WIDTHS)
pytestmark = pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a field of long names, whose pool is not quite what was judged."""
    simulated = ptr.demo.simulate_field(seed=3, n_topics=5, n_docs=200, n_teams=4, length=30, depth=5)
    long = {name: f"{name}-reranked-by-a-cross-encoder-with-a-long-name-{'x' * 40}" for name in simulated.runs.names}
    table = simulated.runs.run_table
    runs = ptr.RunSet.from_frames(
        {long[name]: simulated.runs[name] for name in simulated.runs.names},
        metadata=table.assign(
            name=table["name"].map(long),
            team=table["team"] + " of the Department of Information Retrieval",
            remark="a remark of some length that nobody needs, which stands in a column of its own " * 2,
        ),
    )
    folder = tmp_path_factory.mktemp("wide")
    runs.write(folder / "runs", compress=False)
    runs.run_table.to_csv(folder / "runs.csv", index=False)
    simulated.qrels.sample(0.9, seed=1).write(folder / "qrels.txt")
    simulated.all_qrels.write(folder / "all-the-judgments-that-there-are-of-this-simulated-field.txt")
    labels = labelled(seed=32, n_docs=9).replace({"ann0": "an annotator, whose name nobody would have made as long"})
    labels.to_csv(folder / "labels.csv", index=False)
    ptr.judging.majority_vote(labels, ties="higher").write(folder / "gold.txt")
    (folder / "faulty").mkdir()
    run_lines = "".join(f"1 Q0 d{i} {i} {-i}.0 a-run-with-faults\n" for i in range(1, 9))
    (folder / "faulty" / "a").write_text(run_lines + "too short\n1 Q0 d9 9 nan a-run-with-faults\n")
    (folder / "faulty" / "picture").write_bytes(b"\x89PNG\0")
    values = ", ".join(f'"{name}" = "0.1234"' for name in long.values())
    (folder / "figures.toml").write_text(
        'collection = "mine"\ntitle = "Simulated"\n[[figure]]\nkind = "scores"\nmeasure = "AP"\nsource = "nowhere"\n'
        f'what = "mean average precision of every run, with four decimals in a table"\nvalues = {{ {values} }}\n'
    )
    (folder / "home" / "collections").mkdir(parents=True)
    (folder / "home" / "collections" / "mine.toml").write_text(
        f'name = "mine"\nqrels = "{folder}/qrels.txt"\n[runs]\nfolder = "{folder}/runs"\n'
    )
    return folder


FIELD = "--metadata runs.csv"
OTHER = "all-the-judgments-that-there-are-of-this-simulated-field.txt"
CALLS = {
    "unjudged": f"unjudged runs --qrels qrels.txt {FIELD} --by team --verbose",
    "lou": f"lou --runs runs --qrels qrels.txt {FIELD} --depth 5",
    "score": f"score runs --qrels qrels.txt {FIELD} --per-topic --measures AP,P(rel=2)@10,Judged@10,Unjudged@10",
    "compare": f"compare runs --qrels {OTHER} --other qrels.txt {FIELD} --verbose",
    "pool": f"pool runs --qrels qrels.txt {FIELD} --depth 9",
    "adaptive pool of the demo": "pool --collection demo --qrels demo --strategy ucb1-tuned --n 7",
    "strategies": f"judge compare-strategies --runs runs --qrels qrels.txt {FIELD} --budgets 2 --leave-out run",
    "profile stability": f"profile stability runs --qrels qrels.txt --other {OTHER} {FIELD} --pairs 9 --sizes 2,5",
    "by-type on the demo": "by-type --collection demo --splits 2 --measures RR --resamples 2",
    "runs": f"runs runs {FIELD} --verbose",
    "runs with faults": "runs faulty --bad-lines skip --other-files skip",
    "infer-pool": f"infer-pool --runs runs --qrels qrels.txt {FIELD}",
    "collections, one": "collections trec-2019/deep/passages",
    "verify": "verify mine --figures figures.toml",
    "faults": "runs faulty",
    "no such option": "lou --runs runs --nonsense-that-no-command-of-this-name-has-ever-known and-more-of-it and-more",
    "no such measure": f"lou --runs runs --qrels qrels.txt {FIELD} --measures AP,Foo@3",
}
#: how the calls end that do not end well
STATUS = {"verify": 1, **dict.fromkeys(["faults", "no such option", "no such measure"], 2)}


@EVERY_WIDTH
@pytest.mark.parametrize("call", CALLS)
def test_no_line_is_wider(call, width, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("PT_REUSE_HOME", str(folder / "home"))
    status, out, err = run(capsys, *CALLS[call].split())
    assert status == STATUS.get(call, 0)
    assert out or err
    wide = [line for line in (out + err).splitlines() if len(line) > width and str(folder) not in line]
    assert wide == []


@EVERY_WIDTH
@pytest.mark.parametrize("command", ["", "profile", "judge", *COMMANDS])
def test_no_line_of_help_is_wider(command, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, _ = run(capsys, *command.split(), "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= width


def test_every_command_is_looked_at():
    commands = cli._parser().members().values()
    runnable = [one for command in commands for one in command.members().values() or [command]]
    assert {parser.prog.removeprefix("pt-reuse ") for parser in runnable} == set(COMMANDS)


def test_output_to_a_file_is_as_wide_as_always(monkeypatch, tmp_path):
    monkeypatch.delenv("COLUMNS")
    with (tmp_path / "out").open("w") as file:
        assert width_of(file) == PIPED == 100
        for said, columns in (("50", 50), ("0", 100), ("wide", 100), ("", 100)):
            monkeypatch.setenv("COLUMNS", said)
            assert width_of(file) == columns


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_a_terminal_says_how_wide_it_is(monkeypatch):
    import fcntl
    import os
    import pty
    import struct
    import termios

    monkeypatch.delenv("COLUMNS")
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 77, 0, 0))
        assert width_of(terminal) == 77
    os.close(leader)


def test_a_long_setting_is_clipped_at_a_word(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    record = "all 12 runs (who was pooled is not on record, so that all count)"
    say_end({"contributors": record, "order": "x" * 60, "pool order": "file"}, (), verbose=False)
    told = capsys.readouterr().out.split("contributors=")[1]
    clipped = " ".join(told.split()).partition(" ...,")[0]
    assert record.startswith(f"{clipped} ")
    assert clipped.endswith(" not on")
    assert len(clipped) <= 48
