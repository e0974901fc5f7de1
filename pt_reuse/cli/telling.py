"""How warnings and errors are told on the screen, in the words of the command that runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.cli.screen import complain
from pt_reuse.cli.shell import Shell


@contextmanager
def tell_warnings(shell: Shell) -> Iterator[None]:
    """Have every warning meanwhile said as a note, worded for a command."""
    # what was shown before is shown again; the filters that libraries set meanwhile stay
    with warnings.catch_warnings():
        pass
    before = warnings.showwarning
    warnings.showwarning = partial(_show_warning, shell)
    try:
        yield
    finally:
        warnings.showwarning = before


def tell_error(shell: Shell, error: InputError | ReuseWarning) -> None:
    """Say an error, worded for a command."""
    complain(f"pt-reuse: {error.worded(shell.in_shell, function=False)}")


def _show_warning(shell: Shell, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if isinstance(message, ReuseWarning):
        complain(f"pt-reuse: note: {message.worded(shell.in_shell, function=False)}")
    else:
        complain(f"pt-reuse: {category.__name__}: {message}")
