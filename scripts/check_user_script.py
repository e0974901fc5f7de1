"""Check that mypy and pyright find the package, and check a user's script against it.

    python scripts/check_user_script.py

Run it with the Python of an environment that has the project installed in editable mode, mypy and pyright (extra
``lint``). The script is checked there, and against a normal installation in an environment made for it. One mistake is
then put into it, which both checkers must see: a package without types passes everything.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

PROJECT = Path(__file__).parents[1]
SCRIPT = """\
import pyterrier as pt
import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset
from ir_measures import AP, nDCG

dataset = pt.get_dataset("reuse:demo")
if isinstance(dataset, ReuseDataset):
    runs, qrels = dataset.get_runs(), dataset.get_judgments()
    lou = ptr.leave_out_uniques(runs, qrels, [AP, nDCG @ 10], by="team", depth=10)
    worst: float = float(lou.by_run["change"].min())
    print(worst, len(ptr.depth_pool(runs, depth=10)), ptr.rankings.tau_b([1, 2, 3], [1, 3, 2]))
    print(ptr.depth_pool(runs, depth=10).judge(ptr.judging.Oracle(qrels, unknown="skip")))
"""
MISTAKE = 'depth="ten"'


def main() -> int:
    """Return 0 where every checker passes the script, and none the mistake."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        (there / "right.py").write_text(SCRIPT, encoding="utf-8")
        wrong = SCRIPT.replace("depth=10)\n    worst", f"{MISTAKE})\n    worst")
        (there / "wrong.py").write_text(wrong, encoding="utf-8")
        found = [
            _seen(kind, python, there)
            for kind, python in (("editable", Path(sys.executable)), ("normal", _installed(there / "normal")))
        ]
    return 0 if all(found) else 1


def _installed(folder: Path) -> Path:
    """Return the Python of a new environment with the project as any user installs it, and the packages of this one."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    packages = Path(_told([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip())
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(packages), str(PROJECT)], check=True)
    # its own copy of the project stands before that of this environment
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    home = _told([str(python), "-I", "-c", "import pt_reuse; print(pt_reuse.__file__)"])
    if not Path(home.strip()).is_relative_to(packages):
        raise SystemExit(f"the normal installation is not the one that is found: {home}")
    return python


def _seen(kind: str, python: Path, folder: Path) -> bool:
    checkers = {
        "mypy": [sys.executable, "-m", "mypy", "--python-executable", str(python), "--cache-dir", os.devnull],
        "pyright": [sys.executable, "-m", "pyright", "--pythonpath", str(python)],
    }
    good = True
    for name, command in checkers.items():
        right, wrong = (
            subprocess.run([*command, file], cwd=folder, capture_output=True, text=True, check=False)
            for file in ("right.py", "wrong.py")
        )
        passed = right.returncode == 0
        caught = wrong.returncode == 1 and '"depth"' in wrong.stdout and wrong.stdout.count("error:") == 1
        print(f"{kind} installation, {name}: the script {'passes' if passed else 'FAILS'}, ", end="")
        print(f"the mistake is {'seen' if caught else 'NOT SEEN'}")
        if not (passed and caught):
            print(right.stdout, right.stderr, wrong.stdout, wrong.stderr, sep="\n")
            good = False
    return good


def _told(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
