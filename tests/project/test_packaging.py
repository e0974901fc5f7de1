"""What is packed: every file of the package, data and type information included, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pt_reuse as ptr

ROOT = Path(__file__).parents[2]
NEVER = ("__pycache__", ".pyc")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel as pip does, without the network, and return what is in it."""
    builder = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = builder.WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    paths = [path.relative_to(ROOT).as_posix() for path in (ROOT / "pt_reuse").rglob("*") if path.is_file()]
    expected = {path for path in paths if not any(part in path for part in NEVER)}
    info = f"pt_reuse-{ptr.__version__}.dist-info/"
    assert {name for name in wheel if not name.startswith(info)} == expected
    packed = {name.removeprefix(info) for name in wheel if name.startswith(info)}
    assert packed == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE"}


def test_the_wheel_says_whose_facts_it_holds(wheel):
    (notice,) = (text for name, text in wheel.items() if name.endswith("licenses/NOTICE"))
    assert notice == (ROOT / "NOTICE").read_bytes()
    assert b"academic, non-commercial use" in notice
    page = " ".join((ROOT / "docs" / "collections.rst").read_text(encoding="utf-8").split())
    assert "academic, non-commercial use" in page
    assert "NOTICE" in page


#: types of PyTerrier's artifacts -> the classes that load them
ARTIFACTS = [("pool", "Pool"), ("qrels", "Qrels"), ("run_set", "Runs"), ("scores", "Scores")]


def test_the_wheel_says_where_others_find_it(wheel):
    (entry_points,) = (text.decode() for name, text in wheel.items() if name.endswith("entry_points.txt"))
    kinds = "\n".join(f"{kind}.reuse = pt_reuse.experiment.artifact:{name}Artifact" for kind, name in ARTIFACTS)
    assert entry_points.split("\n\n") == [
        "[console_scripts]\npt-reuse = pt_reuse.cli.entry:main",
        f"[pyterrier.artifact]\n{kinds}",
        "[pyterrier.dataset_provider]\nreuse = pt_reuse.collections.provider:ReuseDatasets",
        "[pyterrier.modules]\nreuse = pt_reuse._plugin:plugin\n",
    ]
    (metadata,) = (text.decode() for name, text in wheel.items() if name.endswith("METADATA"))
    assert f"\nVersion: {ptr.__version__}\n" in metadata


def test_a_folder_of_the_same_name_does_not_hide_the_package(tmp_path):
    (tmp_path / "pt_reuse" / "docs").mkdir(parents=True)
    code = "import pt_reuse; print(pt_reuse.__version__)"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert finished.stdout.strip() == ptr.__version__
