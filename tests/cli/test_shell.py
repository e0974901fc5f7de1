"""Advice in messages, worded for the command that runs."""

from __future__ import annotations

import pytest

from pt_reuse._errors import Argument, Attribute, Call, InputError, Option, in_python
from pt_reuse.cli import entry as cli


def shell_of(*words):
    return cli._parser().parse_args(words).shell


LOU = ("lou", "--runs", "r", "--qrels", "q")
ADVICE = [
    # command, advice, in Python, in a shell
    (LOU, Option("names", "file"), "names='file'", "--names file"),
    (LOU, Option("overwrite", True), "overwrite=True", "--overwrite"),
    (LOU, Option("teams", ...), "teams=", "--teams FILE"),
    (LOU, Option("contributors", "all"), "contributors='all'", "--contributors all"),
    (LOU, Option("contributors", ["A", "B"]), "contributors=['A', 'B']", "--contributors A,B"),
    (LOU, Option("judge_rel", {"a b": 4}), "judge_rel={'a b': 4}", "--judge-rel 'a b=4'"),
    (LOU, Option("runs", "a b"), "runs='a b'", "--runs 'a b'"),
    (LOU, Option("pooled", ...), "pooled=", "--pooled FILE"),
    (LOU, Option("download", False), "download=False", "--no-download"),
    (LOU, Option("download", True), "download=True", "`pt-reuse fetch NAME`"),
    (LOU, Option("gains", ...), "gains=", "gains= in Python"),
    (LOU, Option("figures", "FILE.toml"), "figures='FILE.toml'", "--figures FILE.toml of `pt-reuse verify`"),
    (("verify", "n"), Option("download", True), "download=True", "`pt-reuse fetch NAME`"),
    (LOU, Option("pool_order", ...), "pool_order=", "--pool-order ORDER"),
    (LOU, Option("overwrite", False), "overwrite=False", "no --overwrite"),
    (("fetch", "demo"), Option("pooled", True), "pooled=True", "--only-pooled"),
    (LOU, Argument("depth"), "depth", "--depth"),
    (LOU, Argument("without_topics"), "without_topics", "without_topics"),
    (LOU, Call("read_qrels", "path"), "read_qrels(path)", "--qrels FILE"),
    (LOU, Call("read_runs"), "read_runs()", "--runs RUNS"),
    (LOU, Call("runs.with_metadata", "pooled=..."), "runs.with_metadata(pooled=...)", "--pooled FILE"),
    (LOU, Call("infer_pool", "runs, qrels"), "infer_pool(runs, qrels)", "`pt-reuse infer-pool`"),
    (LOU, Call("Qrels.union", "other"), "Qrels.union(other)", "Qrels.union(other) in Python"),
    (("runs", "r"), Call("read_runs"), "read_runs()", "--runs RUNS"),
    (("runs", "r"), Option("runs", "r"), "runs='r'", "--runs r"),
    (("runs", "r"), Call("read_qrels", "path"), "read_qrels(path)", "--qrels FILE"),
    (("fetch", "demo"), Call("read_qrels", "path"), "read_qrels(path)", "--qrels FILE of `pt-reuse runs`"),
    (("runs", "r"), Attribute("runs.dropped"), "runs.dropped", "below"),
    (LOU, Attribute("runs.dropped"), "runs.dropped", "`pt-reuse runs`"),
    (LOU, Call("score", "runs, qrels, measures"), "score(runs, qrels, measures)", "`pt-reuse score`"),
    (("runs", "r"), Option("contributors", "all"), "contributors='all'", "--contributors all of `pt-reuse pool`"),
    (("infer-pool", "demo"), Call("get_runs"), "get_runs()", "`pt-reuse runs --collection NAME`"),
    (("fetch", "demo"), Option("n_jobs", 4), "n_jobs=4", "--jobs 4"),
    (("fetch", "demo"), Argument("n_jobs"), "n_jobs", "--jobs"),
    (("fetch", "demo"), Option("pooled", ...), "pooled=", "--only-pooled"),
    (("fetch", "demo"), Call("list_collections"), "list_collections()", "`pt-reuse collections`"),
    (
        ("fetch", "demo"),
        Call("list_collections", "'deep learning'"),
        "list_collections('deep learning')",
        "`pt-reuse collections deep learning`",
    ),
]


@pytest.mark.parametrize(("command", "advice", "python", "shell"), ADVICE)
def test_advice_is_worded_for_python_and_for_the_running_command(command, advice, python, shell):
    assert in_python(advice) == python
    assert shell_of(*command).in_shell(advice) == shell


def test_a_message_within_a_message_is_worded_with_it():
    inner = InputError("pass ", Option("order", "file"), ".", place="r")
    error = InputError("left out: ", inner, place="mine.toml")
    assert error.worded(shell_of(*LOU).in_shell, function=False) == "mine.toml: left out: r: pass --order file."
    assert str(error) == "mine.toml: left out: r: pass order='file'."


def test_every_command_has_words_for_its_own_arguments():
    for words in (
        "runs r",
        "unjudged r",
        "score r",
        "pool r",
        "compare r --other q",
        "infer-pool n",
        "collections",
        "fetch n",
        "verify n",
        "demo",
    ):
        shell = shell_of(*words.split())
        for name, action in shell.running.arguments.items():
            told = shell.in_shell(Option(name, ...))
            assert told.startswith(action.option_strings[0] if action.option_strings else action.metavar), name
