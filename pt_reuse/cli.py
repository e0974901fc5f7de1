"""The command line `pt-reuse`: its commands are in :mod:`pt_reuse.commands`; errors and warnings are told here."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from pt_reuse._check import InputError, ReuseWarning
from pt_reuse._version import __version__
from pt_reuse.commands import collections, demo, fetch, infer_pool, lou, runs, verify

_COMMANDS = (lou, runs, infer_pool, collections, fetch, verify, demo)
#: what errors and warnings advise in Python -> the same as options
_OPTIONS = {
    "overwrite=True": "--overwrite", "names='file'": "--names file", "duplicates='best'": "--duplicates best",
    "Give teams= when reading the runs": "Give --teams", "Give types= when reading the runs": "Give --types",
    "by='run'": "--by run", "order='trec_eval'": "--order trec_eval", "order='file'": "--order file",
    "give it to read_qrels": "give it as --qrels", "give it to read_runs": "give it as --runs",
    "pass runs='FOLDER'": "pass --runs FOLDER", "read_runs('FOLDER')": "--runs FOLDER",
    "pass qrels='FILE'": "pass --qrels FILE", "figures='FILE.toml'": "--figures FILE.toml",
    "missing='error'": "--missing error", 'missing="error"': "--missing error", "depth='topic'": "--depth topic",
    "pass download=True": "fetch them with `pt-reuse fetch NAME`", "infer_pool(runs, qrels)": "`pt-reuse infer-pool`",
    "runs.with_metadata(pooled=...) keeps it": "--pooled FILE names those to lou",
    "list_collections() shows": "`pt-reuse collections` shows",
    "list_collections('deep learning')": "`pt-reuse collections deep learning`",
    "Leave out pooled=, and let": "Leave out --only-pooled, and let", "`submitted()`": "`pt-reuse collections NAME`",
    "n_jobs must be": "--jobs must be",
    "Without a network, put it into": "Without a network, give it as --qrels, or put it into",
}  # fmt: skip


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\nSee {self.prog} --help.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        int: 0; 1 when the answer is no (a published number is not met, no collection is found); 2 after an error that
        the user can mend; 130 after ctrl-C.
    """
    options = _parser().parse_args(arguments)
    warnings.showwarning = _show_warning
    try:
        status: int | None = options.run(options)
        # a short answer meets a closed pipe only here
        sys.stdout.flush()
    except InputError as error:
        print(f"pt-reuse: {_in_options(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader of a pipe, such as head, has seen enough; what is left in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"pt-reuse: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("pt-reuse: interrupted; files already written are whole.", file=sys.stderr)
        return 130
    return status or 0


def _in_options(message: str) -> str:
    """Return an error or a warning with what to do said in options of the command line, not in Python."""
    for python, option in _OPTIONS.items():
        message = message.replace(python, option)
    return message


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    parser.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    for command in _COMMANDS:
        command.add_to(commands)
    return parser


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    prefix = "note" if issubclass(category, ReuseWarning) else category.__name__
    print(f"pt-reuse: {prefix}: {_in_options(str(message))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
