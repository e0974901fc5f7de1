"""The command line `pt-reuse`: its commands are in :mod:`pt_reuse.commands`; errors and warnings are told here."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse._version import __version__
from pt_reuse.commands import collections, demo, fetch, infer_pool, lou, runs, verify
from pt_reuse.commands.options import in_options

_COMMANDS = (lou, runs, infer_pool, collections, fetch, verify, demo)


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
        print(f"pt-reuse: {in_options(str(error))}", file=sys.stderr)
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


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    parser.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    for command in _COMMANDS:
        command.add_to(commands)
    return parser


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    prefix = "note" if issubclass(category, ReuseWarning) else category.__name__
    print(f"pt-reuse: {prefix}: {in_options(str(message))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
