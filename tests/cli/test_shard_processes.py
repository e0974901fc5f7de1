"""Shards as processes: killed and done again, twice at the same time, and as the jobs of a cluster."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_parts import run
from shard_parts import SHARDED, contents, shards, write_field

CALL = SHARDED["score"]
EXAMPLES = Path(__file__).parents[2] / "examples" / "slurm"
#: begins the command line in a process that ends like `kill -9` where a function is called
KILLED = """
import importlib, os, signal, sys
module, _, name = sys.argv[1].rpartition(".")
setattr(importlib.import_module(module), name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
from pt_reuse.cli.entry import main
sys.exit(main(sys.argv[2:]))
"""
#: stands for Slurm: runs the tasks of a job one after another, elsewhere than the script lies, once others were fine
SBATCH = """#!/bin/bash
set -euo pipefail
echo "sbatch $*" >> sbatch.log
for word; do case $word in
    --dependency=afterok:*) [ -e "done-${word#--dependency=afterok:}" ] ;;
    --array=*) array=${word#--array=} ;;
    --parsable) parsable=1 ;;
    *) script=$word ;;
esac; done
cp "$script" "$PWD/spool"
array=${array:-$(sed -n 's/^#SBATCH --array=//p' spool)}
id=$(($(ls | grep -c ^done- || true) + 100))
tasks=$(seq $(echo "${array:-1-1}" | tr - ' '))
for task in $tasks; do
    SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=7 bash spool > "out-$id-$task" 2>&1
done
touch "done-$id"
[ -n "${parsable:-}" ] && echo "$id" || echo "Submitted batch job $id"
"""


@pytest.fixture(autouse=True)
def rough_pictures():
    """Have pictures drawn as they are: those of other processes are, and both are compared byte by byte."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    write_field(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("moment", ["pt_reuse.arrays.rescore.score_topics", "os.replace"])
def test_a_shard_that_was_killed_is_done_again(moment, here, capsys):
    expected = run(capsys, *CALL.split(), "--out", "whole")
    shards(capsys, CALL, 3, numbers=[1, 3])
    call = [*CALL.split(), "--shard", "2/3", "--out", "shards"]
    finished = subprocess.run([sys.executable, "-c", KILLED, moment, *call], capture_output=True, check=False)
    assert finished.returncode == -signal.SIGKILL, finished.stderr
    assert not (here / "shards" / "shard-2-of-3.ptr").exists()
    status, _, err = run(capsys, "merge", "shards")
    assert status == 2
    assert "1 of 3 shards is missing: 2." in err
    shards(capsys, CALL, 3, numbers=[2])
    _, out, _ = run(capsys, "merge", "shards", "--out", "merged")
    assert out == expected[1].replace("whole", "merged")
    assert contents(here / "merged") == contents(here / "whole")


def test_two_tasks_may_do_one_shard_at_the_same_time(here, capsys):
    shards(capsys, CALL, 2)
    before = contents(here / "shards")
    call = [*CALL.split(), "--shard", "2/2", "--out", "shards"]
    (here / "shards" / "shard-2-of-2.ptr").unlink()
    tasks = [
        subprocess.Popen([sys.executable, "-m", "pt_reuse.cli.entry", *call], stdout=subprocess.PIPE) for _ in range(3)
    ]
    said = [task.communicate()[0].decode() for task in tasks]
    assert [task.returncode for task in tasks] == [0, 0, 0], said
    assert contents(here / "shards") == before


@pytest.fixture
def slurm(here, monkeypatch):
    """Return a folder with the scripts of the example, beside a field, where there is an `sbatch`."""
    for path in EXAMPLES.iterdir():
        shutil.copy(path, here)
    bin_ = here / "bin"
    bin_.mkdir()
    (bin_ / "sbatch").write_text(SBATCH)
    (bin_ / "pt-reuse").write_text(f'#!/bin/bash\nexec {sys.executable} -m pt_reuse.cli.entry "$@"\n')
    for path in bin_.iterdir():
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_), prepend=os.pathsep)
    return here


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_the_example_for_slurm_gives_the_result_of_the_whole(slurm, capsys):
    settings = slurm / "settings.sh"
    text = settings.read_text()
    study = "--qrels qrels.txt --metadata runs.csv --measures AP --depth 5"
    for old, new in (("shards=40", "shards=3"), (re.search(r"study=\((.*)\)", text)[1], study), ("2GB", "64MB")):
        assert old in text
        text = text.replace(old, new)
    settings.write_text(text)
    array = slurm / "lou.sbatch"
    assert "--array=1-40\n" in array.read_text()
    array.write_text(array.read_text().replace("--array=1-40\n", "--array=1-3\n"))
    finished = subprocess.run(["bash", "submit.sh"], capture_output=True, text=True, check=False)
    logs = "".join(path.read_text() for path in sorted(slurm.glob("out-*")))
    assert finished.returncode == 0, finished.stderr + logs
    assert (slurm / "sbatch.log").read_text().splitlines() == [
        "sbatch --parsable store.sbatch",
        "sbatch --parsable --dependency=afterok:100 lou.sbatch",
        "sbatch --dependency=afterok:101 merge.sbatch",
    ]
    call = ["lou", "--runs", "runs", *study.split(), "--out", "whole", "--verbose"]
    status, out, _ = run(capsys, *call)
    assert status == 0
    assert out == (slurm / "out-102-1").read_text().replace("lou-work/results", "whole")
    assert contents(slurm / "whole") == contents(slurm / "lou-work" / "results")
    # a task is run again by its number
    (slurm / "lou-work" / "shards" / "shard-2-of-3.ptr").unlink()
    subprocess.run(["bash", "-c", "sbatch --array=2-2 lou.sbatch"], check=True, capture_output=True)
    assert run(capsys, "merge", "lou-work/shards")[0] == 0
