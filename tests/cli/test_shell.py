"""Messages in the words of the command that runs: its flags for the arguments of Python."""

from __future__ import annotations

from pt_reuse.cli.entry import parser as top
from pt_reuse.cli.parser import in_shell
from pt_reuse.errors import InputError

LOU = ("lou", "--runs", "r", "--qrels", "q")
TEXTS = [
    # command, argument, in Python, in a shell
    (LOU, None, "Pass names='file'.", "Pass --names file."),
    (LOU, None, "Pass overwrite=True to replace them.", "Pass --overwrite to replace them."),
    (LOU, None, "Give teams= with the runs.", "Give --teams with the runs."),
    (LOU, None, "Pass n_jobs=1.", "Pass --jobs 1."),
    (LOU, None, "pool_order='rank' has no order.", "--pool-order rank has no order."),
    (LOU, "depth", "depth must be 1 or more.", "--depth must be 1 or more."),
    (LOU, "depth", "depth='x' is none.", "--depth x is none."),
    (LOU, "depth", "no depth is given.", "no depth is given."),
    (LOU, None, "Give gains= or P(rel=2)@10.", "Give gains= or P(rel=2)@10."),
    (LOU, None, "runs.with_metadata(pooled=...) says it.", "runs.with_metadata(pooled=...) says it."),
    (("runs", "r"), "runs", "runs must be files.", "--runs must be files."),
]


def test_arguments_have_the_names_that_the_running_command_gives_them():
    for command, argument, python, shell in TEXTS:
        parser = top().parse_args(command).parser
        assert in_shell(InputError(python, argument=argument), parser) == shell
        assert in_shell(InputError(python, argument=argument, place="a.toml"), parser) == f"a.toml: {shell}"
        assert argument or in_shell(python, parser) == shell
