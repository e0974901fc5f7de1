"""Run every script of benchmarks, scripts and examples at its smallest size, and tell which have rotted.

    python scripts/run_all.py [SCRIPT ...]

SCRIPT is a path such as scripts/demo_numbers.py; default is all. They run in a copy of the tracked files, so that what
they write goes with it; the data (PT_REUSE_DATA, else ../shared/data) is linked beside the copy. A script is made small
by its arguments, or by other values of the constants at its head, which are put into the copy. A line for each script
says ok, failed with the last line of its error, or skipped with the reason. Ends with status 1 where any failed.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("benchmarks", "examples", "scripts")
ENDINGS = (".py", ".ipynb", ".sh", ".sbatch")
#: seconds by the clock after which a script has failed
LONGEST = 3600
TREC8, DL19, DL21, IRDS = "trec8-adhoc", "dl19-passages", "dl21-passages", "irds-cache"


@dataclass(frozen=True)
class Smallest:
    """How a script runs at its smallest.

    Attributes:
        arguments: of the command; ``DATA`` stands for the folder of the data, ``OUT`` for an empty one.
        needs: folders of the data, without which it is skipped.
        modules: what it imports beyond the package and its extra ``test``.
        constants: name -> the value, as Python, of constants at its head.
        not_run: why it is not run at all.
    """

    arguments: Sequence[str] = ()
    needs: Sequence[str] = ()
    modules: Sequence[str] = ()
    constants: dict[str, str] = field(default_factory=dict)
    not_run: str = ""


BY_CI = "needs what .ci/run has at hand, which runs it"

SCRIPTS = {
    "benchmarks/audit.py": Smallest(needs=[DL21], constants={"RESAMPLES": "20"}),
    "benchmarks/bootstrap.py": Smallest(needs=[TREC8], constants={"RESAMPLES": "200", "OF_LOOP": "20"}),
    "benchmarks/cal.py": Smallest(needs=[IRDS], constants={"N_TOPICS": "1", "BUDGET": "40"}),
    "benchmarks/costs.py": Smallest(constants={"TAGS": "3_000", "DEPTH": "100", "TOPICS": "5_000"}),
    "benchmarks/experiment.py": Smallest(["DATA", "1"], needs=[TREC8], constants={"SYSTEMS": "3"}),
    "benchmarks/importing.py": Smallest(["1"]),
    "benchmarks/lou.py": Smallest(needs=[TREC8], constants={"TEAMS": "2"}),
    "benchmarks/made_field.py": Smallest(["OUT", "--runs", "5", "--topics", "2", "--docs", "20"]),
    "benchmarks/pooling.py": Smallest(needs=[TREC8], constants={"DEPTH": "5"}),
    "benchmarks/process_tree.py": Smallest(not_run="is a part of benchmarks/scale.py"),
    "benchmarks/scale.py": Smallest(
        ["--share", "0"],
        constants={"FEWER": "2", "PARSED": "Size(topics=1)", "SCORED": "Size(topics=1)", "TIMES": "2", "PEAKS": "1"},
    ),
    "benchmarks/stability.py": Smallest(
        needs=[TREC8], constants={"PAIRS": "100", "LOOPED": "1", "CHUNKED": "20", "CHUNK": "10"}
    ),
    "examples/experiment_in_a_field.py": Smallest(),
    "examples/fifty_labels.ipynb": Smallest(not_run="scripts/build_notebook.py runs its cells"),
    "examples/five_systems.py": Smallest(modules=["pyterrier_pisa"]),
    "examples/judge_with_a_model.py": Smallest(),
    "examples/judge_with_people.py": Smallest(),
    "examples/lou_on_run_files.py": Smallest(),
    "examples/pool_bm25_and_neural.py": Smallest(modules=["pyterrier_pisa"]),
    "examples/simulate_on_an_old_collection.py": Smallest(),
    "examples/studies_on_live_pipelines.py": Smallest(modules=["pyterrier_pisa"]),
    "examples/ten_minutes.ipynb": Smallest(not_run="scripts/build_notebook.py runs its cells"),
    "examples/who_was_pooled.py": Smallest(),
    "scripts/build_catalogue.py": Smallest(["--check"], needs=["catalogue", TREC8, "trec-covid-round5"]),
    "scripts/build_decisions.py": Smallest(
        needs=[TREC8, DL19, DL21],
        constants={"SEEDS": "1", "LEFT_OUT": '["DL 2019"]', "BINARY": '["P@10"]', "GRADED": '["P(rel=2)@10"]'},
    ),
    "scripts/build_demo.py": Smallest(["--only-judgments"]),
    "scripts/build_experiments.py": Smallest(["DATA", "dl19"], needs=[DL19]),
    "scripts/build_notebook.py": Smallest(),
    "scripts/build_published.py": Smallest(["--data", "DATA"], needs=[TREC8]),
    "scripts/build_strategies.py": Smallest(
        ["DATA", "dl19"], needs=[DL19], constants={"BUDGETS": "[0.1]", "REPEATS": "1"}
    ),
    "scripts/check_docs.py": Smallest(not_run=BY_CI),
    "scripts/check_pages.py": Smallest(not_run=BY_CI),
    "scripts/check_user_script.py": Smallest(not_run=BY_CI),
    "scripts/circle_coverage.py": Smallest(needs=[DL21], constants={"FIELDS": "5", "RESAMPLES": "20"}),
    "scripts/demo_numbers.py": Smallest(),
    "scripts/family_coverage.py": Smallest(["2", "1"]),
    "scripts/fidelity_coverage.py": Smallest(needs=[DL21], constants={"FIELDS": "2", "RESAMPLES": "10", "MANY": "5"}),
    "scripts/inference_table.py": Smallest(["--seeds", "1"]),
    "scripts/run_interval_coverage.py": Smallest(["--smallest"]),
    "scripts/task_family_coverage.py": Smallest(["--smallest"]),
    "scripts/interval_coverage.py": Smallest(["--smallest", "DATA", "1"], needs=[TREC8, DL19, DL21]),
    "scripts/kill_writers.py": Smallest(["4", "2"]),
    "scripts/label_interval_coverage.py": Smallest(needs=[DL19, DL21], constants={"FIELDS": "2", "RESAMPLES": "20"}),
    "scripts/label_plan_coverage.py": Smallest(needs=[DL21], constants={"DRAWS": "20"}),
    "scripts/mutants.py": Smallest(["pt_reuse/arrays/tokens.py", "--n", "1"]),
    "scripts/papers/claims_and_circles.py": Smallest(
        needs=[DL19, DL21], constants={"JUDGES": '("umbrela-gpt-4", "exam-gpt-4")', "CORRECTIONS": '("holm",)'}
    ),
    "scripts/papers/families.py": Smallest(needs=[DL19]),
    "scripts/papers/hole_filling.py": Smallest(needs=[DL19, DL21], constants={"RESAMPLES": "20"}),
    "scripts/papers/label_agreement.py": Smallest(needs=[DL19, DL21]),
    "scripts/papers/label_audit.py": Smallest(needs=[DL19, DL21]),
    "scripts/papers/old_judgments.py": Smallest(needs=[TREC8, DL19, DL21], constants={"RESAMPLES": "20"}),
    "scripts/papers/pools_of_one_type.py": Smallest(needs=[TREC8, DL19], constants={"RESAMPLES": "20"}),
    "scripts/papers/stability.py": Smallest(needs=[TREC8, DL21], constants={"RESAMPLES": "2"}),
    "scripts/papers/subcollections.py": Smallest(
        ["DATA", "four", "trec8", "pisa"], needs=["corpora", IRDS, TREC8], constants={"TOPICS": "2"}
    ),
    "scripts/papers/too_many_relevants.py": Smallest(needs=[TREC8, DL21], constants={"RESAMPLES": "20"}),
    "scripts/pilot_coverage.py": Smallest(["--pilots", "2"], constants={"SEEN": "(0.7,)", "TASKS": "(20,)"}),
    "scripts/ppi_coverage.py": Smallest(["DATA", "1"], needs=[DL19, DL21], constants={"FIELDS": "2", "SAMPLES": "1"}),
    "scripts/run_all.py": Smallest(not_run="is this command"),
    "scripts/swap_rate_coverage.py": Smallest(
        ["DATA", "1"],
        needs=[TREC8],
        constants={
            "FIELDS": "2",
            "RESAMPLES": "10",
            "PAIRS": "200",
            "RESAMPLED": "50",
            "OF_POPULATION": "500",
            "POPULATION": "2_000",
        },
    ),
}


def tracked(*folders: str) -> list[str]:
    """Return the files that git keeps in some folders, or all."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *folders]
    return [
        name for name in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0") if name
    ]


def changed(source: str, constants: dict[str, str]) -> str:
    """Return a script with other values of constants at its head; a KeyError names those that it does not have."""
    lines, places, missing = source.encode().splitlines(keepends=True), [], dict(constants)
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign):
            continue
        pairs = [(node.targets[0], node.value)]
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(node.targets[0].elts, node.value.elts, strict=True))
        places += [(of, missing.pop(to.id)) for to, of in pairs if isinstance(to, ast.Name) and to.id in missing]
    if missing:
        raise KeyError(*missing)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    content = b"".join(lines)
    for of, value in reversed(places):
        begin, end = starts[of.lineno - 1] + of.col_offset, starts[of.end_lineno - 1] + of.end_col_offset
        content = content[:begin] + value.encode() + content[end:]
    return content.decode()


def lacking(script: Smallest, data: Path) -> str:
    """Return why a script is not run here, or nothing."""
    folders = [name for name in script.needs if not (data / name).is_dir()]
    modules = [name for name in script.modules if importlib.util.find_spec(name) is None]
    return script.not_run or (
        f"needs the data {', '.join(folders)}" if folders else f"needs {', '.join(modules)}" if modules else ""
    )


def run(name: str, script: Smallest, copy: Path, environment: dict[str, str]) -> str:
    """Run a script in the copy, and return the last line of its error, or nothing."""
    path = copy / name
    with tempfile.TemporaryDirectory() as out:
        stands_for = {"DATA": environment["PT_REUSE_DATA"], "OUT": out}
        command = [sys.executable, str(path), *(stands_for.get(word, word) for word in script.arguments)]
        try:
            path.write_text(changed(path.read_text(encoding="utf-8"), script.constants), encoding="utf-8")
            done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=LONGEST)
        except KeyError as error:
            return f"has no constant {', '.join(error.args)} at its head"
        except subprocess.TimeoutExpired:
            return f"did not end within {LONGEST} seconds"
    if done.returncode <= 0:
        return f"ended by signal {-done.returncode}" if done.returncode else ""
    return (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[-1]


def main(names: Sequence[str]) -> int:
    """Run scripts, and return 1 where any failed."""
    unknown = sorted({*names} - {*SCRIPTS})
    if unknown:
        sys.exit(f"{', '.join(unknown)}: not in the list of this command; give paths such as scripts/build_demo.py.")
    given = Path(os.environ.get("PT_REUSE_DATA") or ROOT.parent / "shared" / "data").resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy, data = Path(folder, "copy"), Path(folder, "shared", "data")
        for name in tracked():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
        data.parent.mkdir()
        if given.is_dir():
            data.symlink_to(given)
        environment = {**os.environ, "PT_REUSE_DATA": str(data), "PYTHONPATH": str(copy), "MPLBACKEND": "agg"}
        for name in names or SCRIPTS:
            why, before = lacking(SCRIPTS[name], data), resource.getrusage(resource.RUSAGE_CHILDREN)
            if why:
                print(f"{name}: skipped, {why}", flush=True)
                continue
            error = run(name, SCRIPTS[name], copy, environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{name}: {f'failed, {error}' if error else 'ok'} ({spent:.0f} s of the processor)", flush=True)
            failed += bool(error)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
