r"""``.. command::`` executes `pt-reuse` when the pages are built, and shows the line and what it prints.

.. code-block:: rst

   .. command::

      pt-reuse unjudged --collection demo

Each line is a command, and nothing but `pt-reuse` is executed. A command goes on in the next line behind a ``\``, as in
a shell. Options are those of ``.. run::``.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
import warnings
from typing import Any

from docutils import nodes
from execution import Output
from run import Run, page_of
from sphinx.application import Sphinx

from pt_reuse.cli.entry import main

#: of lines, so that they fit the page
COLUMNS = 88
#: between the lines of one command
_GOES_ON = "\\\n"


def as_python(command: str) -> str:
    """Return code that does what a command line of `pt-reuse` does."""
    words = shlex.split(command)
    if words[:1] != ["pt-reuse"]:
        raise ValueError(f"not a line of pt-reuse: {command!r}")
    return f"_shell({words[1:]!r})"


def shell(words: list[str]) -> None:
    """Print what a terminal shows of a command; an error where it ends with one."""
    before, notes = os.environ.get("COLUMNS"), io.StringIO()
    os.environ["COLUMNS"] = str(COLUMNS)
    try:
        with contextlib.redirect_stderr(notes), warnings.catch_warnings():
            for kind in (DeprecationWarning, PendingDeprecationWarning):  # which no shell shows, either
                warnings.simplefilter("ignore", kind)
            status = main(words)
    finally:
        del os.environ["COLUMNS"]
        os.environ |= {} if before is None else {"COLUMNS": before}
    if status:
        raise RuntimeError(f"pt-reuse ended with status {status}: {notes.getvalue()}")
    sys.stdout.write(notes.getvalue())


class Command(Run):
    """Execute lines of `pt-reuse`."""

    def executed(self, code: str, line: int) -> Output:
        """Return what the commands print."""
        page_of(self)[0].namespace["_shell"] = shell
        commands = code.replace(_GOES_ON, " ").splitlines()
        return super().executed("\n".join(map(as_python, commands)), line)

    def shown(self, code: str) -> nodes.literal_block:
        """Return the lines as in a terminal."""
        commands = code.replace(_GOES_ON, "\0").splitlines()
        lines = "\n".join(f"$ {each}" for each in commands).replace("\0", _GOES_ON)
        return nodes.literal_block(lines, lines, language="console", classes=["run-code"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("command", Command)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
