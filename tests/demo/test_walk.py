"""`pt-reuse demo`: what it answers, prints and draws."""

from __future__ import annotations

import re
import sys

import pytest

from pt_reuse.cli.entry import main
from pt_reuse.demo.walk import SUBJECTS, answer


@pytest.fixture(scope="module")
def report():
    pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    return answer()


def test_a_full_pool_is_fair_to_dense_runs(report):
    changes = report.full.changes[report.full.changes["measure"] == "nDCG@10"]
    assert changes.loc[changes["type"] == "dense", "drop"].abs().max() <= 1
    assert report.full.table["tau_b"].min() > 0.98 > report.partial.table["tau_b"].min()


def test_the_demo_command_prints_and_draws(capfd, tmp_path, monkeypatch):
    pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "out"

    def command():
        """Return status, output and errors; the command sets streams of its own, which are closed here."""
        before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
        try:
            status = main(["demo", "--out", str(out)])
        finally:
            for name, stream in before.items():
                own = getattr(sys, name)
                own.flush()
                if own is not stream:
                    setattr(sys, name, stream)
                    own.close()
        return status, *capfd.readouterr()

    status, printed, errors = command()
    assert (status, errors) == (0, "")
    lines = printed.splitlines()
    assert [line[:2] for line in lines[:6]] == [f"{number}." for number in range(1, 7)]
    assert all(re.search(r"\d", line[2:]) for line in lines[:6])
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 80
    assert "2. What if only lexical systems had been pooled?" in printed
    # PISA writes past Python
    assert "Create index" not in printed
    assert "[info]" not in printed
    assert {path.suffix for path in out.iterdir()} == {".csv", ".png"}
    assert sorted(path.stem for path in out.glob("*.csv")) == [f"{n}-{name}" for n, name in enumerate(SUBJECTS, 1)]
    status, _, errors = command()
    assert status == 2
    assert "Pass --overwrite to replace them." in " ".join(errors.split())
