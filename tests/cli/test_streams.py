"""Standard streams that are closed, or that nobody reads to the end: the work and its status do not depend on them."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

from command_parts import run

from pt_reuse.studies import leave_out_uniques
from pt_reuse.study import _STUDIES, study_of

#: the command line without matplotlib: pictures take half of the time, and that there are none is told on stderr
WITHOUT_PICTURES = "import sys; sys.modules['matplotlib'] = None; from pt_reuse.cli.entry import main; sys.exit(main())"
COMMAND = [sys.executable, "-c", WITHOUT_PICTURES]


def words(files, *more):
    given = ("--runs", files / "runs", "--qrels", files / "qrels.txt", "--measures", "AP", "--depth", "5")
    return [str(word) for word in ("lou", *given, "--out", files / "out", *more)]


def test_the_work_goes_on_when_the_reader_has_gone(files):
    given, pipes = {**os.environ, "PYTHONWARNINGS": "always"}, dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*COMMAND, *words(files)], env=given, **pipes) as process:
        process.stdout.close()
        process.stderr.close()
    assert process.returncode == 0
    assert {"table.csv", "result.json"} <= {path.name for path in (files / "out").iterdir()}


def test_a_closed_stream_is_as_one_that_nobody_reads(files):
    line = '"$@" >&- 2>&-'
    finished = subprocess.run(["sh", "-c", line, "sh", *COMMAND, *words(files)], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert "Traceback" not in finished.stderr
    assert (files / "out" / "table.csv").read_text().startswith("team,measure,")


def test_a_warning_that_is_to_be_an_error_is_told_as_one(files):
    code = "import sys, warnings\nfrom pt_reuse.errors import ReuseWarning\nfrom pt_reuse.cli.entry import main\n"
    code += "warnings.simplefilter('error', ReuseWarning)\nsys.exit(main(sys.argv[1:]))"
    finished = subprocess.run([sys.executable, "-c", code, *words(files)], capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr.startswith("pt-reuse: 8 runs without a team")
    assert not (files / "out").exists()


def test_filters_that_libraries_set_meanwhile_stay(files, capsys, monkeypatch):
    study = leave_out_uniques.leave_out_uniques
    monkeypatch.setattr(warnings, "filters", [*warnings.filters])

    def with_filter(*arguments, **options):
        warnings.filterwarnings("ignore", message="set meanwhile")
        return study(*arguments, **options)

    monkeypatch.setitem(_STUDIES, with_filter, study_of(study))
    monkeypatch.setattr(leave_out_uniques, "leave_out_uniques", with_filter)
    shown = warnings.showwarning
    status, _, err = run(capsys, *words(files, "--metadata", files / "runs.csv"))
    assert status == 0, err
    assert any(message is not None and message.pattern == "set meanwhile" for _, message, *_ in warnings.filters)
    assert warnings.showwarning is shown
