"""Every study, pool, judge, reader and command over its options: what each comes to is what it came to before.

Kept are prints of all tables. With PT_REUSE_WRITE_GOLDEN=1 they are written anew; with PT_REUSE_GOLDEN=FOLDER the
grid is larger, and all tables are written whole, to be compared with those of another version by ``diff -r``.
"""

from __future__ import annotations

import json
import os
import random
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from command_parts import run
from every_result import every_result
from golden_grid import BAD, COMMANDS, GROUPS, Golden, Small
from golden_prints import differences, outcome, prints

import pt_reuse as ptr
from pt_reuse.plots import sheet

KEPT = Path(__file__).parent
#: one result of every kind, saved by the version that the others are held against
SAVED = KEPT / "saved.zip"
WHOLE = os.environ.get("PT_REUSE_GOLDEN")
WRITE = os.environ.get("PT_REUSE_WRITE_GOLDEN") == "1"
ALL = {name: (group, golden) for group, those in GROUPS.items() for name, golden in those.items()}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return Given(tmp_path_factory.mktemp("golden"))


class Given(Small):
    """The small field, with what options stand for that take data."""

    def __init__(self, folder):
        super().__init__(folder)
        self.judge_labels, self.boards, self.ann = self.judges.labels, self.judges.leaderboards, self.people["ann"]
        self.both_scores = {"own": self.scores, "other": self.scores_of_other}

    def stands_for(self, value):
        if value == ("STRATEGY", "epsilon-greedy"):
            return ptr.pools.Strategy("epsilon-greedy", epsilon=0.3)
        data = {"FILL": self.judge_labels, "PEOPLE": self.people, "GOLD": self.qrels, "RUNS": self.runs}
        return data.get(value, value) if isinstance(value, str) else value


def calls_of(name: str, golden: Golden) -> dict[str, dict]:
    """Return the options of every call by what it is called: all defaults, each value alone, some of all together."""
    found = {"defaults": {}}
    found |= {f"{o}={v!r}": {o: v} for o, values in golden.options.items() for v in values}
    drawn = random.Random(name)
    for n in range(20 if WHOLE else 1):
        found[f"drawn {n}"] = {o: drawn.choice(v) for o, v in golden.options.items() if drawn.random() < 0.4}
    for option in golden.options:
        for n, value in enumerate(BAD):
            # one of them for each option, unless all is asked for
            if WHOLE or (len(option) + n) % len(BAD) == 0:
                found[f"{option}={value!r}, bad"] = {option: value}
    return found


def check(name: str, now: dict[str, dict]) -> None:
    """Compare outcomes with those that are kept; keep them where that is asked for."""
    if WHOLE:
        write_whole(Path(WHOLE) / name, now)
        return
    file, found = KEPT / f"{name}.json", {call: prints(one) for call, one in now.items()}
    if WRITE:
        lines = (f" {json.dumps(call)}: {json.dumps(one)}" for call, one in found.items())
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    wrong = differences(json.loads(json.dumps(found)), json.loads(file.read_text(encoding="utf-8")))
    assert not wrong, "\n".join(wrong[:40])


def write_whole(folder: Path, now: dict[str, dict]) -> None:
    for call, one in now.items():
        place = folder / call.replace("/", "_")[:100]
        place.mkdir(parents=True, exist_ok=True)
        for table, frame in one.pop("tables", {}).items():
            (file := place / f"{table}.csv").parent.mkdir(parents=True, exist_ok=True)
            frame.to_csv(file)
        (place / "about.json").write_text(json.dumps(one, indent=1, default=str, sort_keys=True), encoding="utf-8")


@pytest.mark.parametrize("name", ALL)
def test_calls_come_to_what_they_came_to(name, small):
    golden = ALL[name][1]
    now = {}
    for call, options in calls_of(name, golden).items():
        given = {option: small.stands_for(value) for option, value in {**golden.base, **options}.items()}
        now[call] = outcome(lambda given=given: golden.call(small, **given))
    check(name, now)


@pytest.mark.filterwarnings("default")
def test_commands_write_what_they_wrote(small, tmp_path, capsys, monkeypatch):
    def no_pictures():
        raise sheet.NoMatplotlibError("not drawn")

    monkeypatch.setattr(sheet, "off_screen", no_pictures)
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    now = {}
    for n, words in enumerate(COMMANDS):
        out = tmp_path / str(n)
        status, _, err = run(capsys, *words.replace("{}", str(small.folder)).split(), "--out", out)
        assert status == 0, err
        files = sorted(path for path in out.rglob("*") if path.is_file()) if out.is_dir() else [out]
        tables = {str(path.relative_to(out)): pd.read_csv(path) for path in files if path.suffix == ".csv"}
        others = {
            str(path.relative_to(out)): len(path.read_bytes().splitlines()) for path in files if path.suffix != ".csv"
        }
        now[words] = {"tables": tables, "settings": others, "warnings": []}
    check("commands", now)


def save_every_result(folder: Path) -> None:
    """Save one result of every kind, as this version does, for the versions to come."""
    with zipfile.ZipFile(SAVED, "w", zipfile.ZIP_LZMA) as packed:
        of_kind = {}
        for result in every_result(lambda name: new_folder(folder / name)).values():
            of_kind.setdefault(type(result).__name__, result)
        for kind, result in of_kind.items():
            for path in result.save(folder / kind):
                packed.write(path, f"{kind}/{path.name}")


def new_folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.filterwarnings("ignore")
def test_results_saved_by_an_earlier_version_are_read(tmp_path):
    if WRITE:
        save_every_result(tmp_path)
    with zipfile.ZipFile(SAVED) as packed:
        packed.extractall(tmp_path / "saved")
    folders = sorted((tmp_path / "saved").iterdir())
    now = {folder.name: outcome(lambda folder=folder: ptr.read_result(folder)) for folder in folders}
    assert len(now) == 37
    check("saved", now)
