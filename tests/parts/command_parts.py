"""Running the command line in process."""

from __future__ import annotations

from pt_reuse.cli import main


def run(capsys, *arguments):
    """Return status, output and errors of the command line."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as exit_:
        status = exit_.code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return status, printed.out, printed.err
