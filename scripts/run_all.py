"""Run every script of benchmarks, scripts and examples at its smallest size, and tell which have rotted.

    python scripts/run_all.py [SCRIPT ...]

SCRIPT is a path; default is all. They run in a copy of the checkout, so that what they write goes with it; the data is
at PT_REUSE_DATA, else ../shared/data. A benchmark is made small by other values of its constants. A line for each says
ok, failed with the last line of its error, or skipped with the reason. Ends with status 1 where any failed.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: what is run, and seconds by the clock after which it has failed
SOUGHT, LONGEST = ("benchmarks/*.py", "examples/*.py", "scripts/*.py"), 3600
#: a command, and what scripts/store.py runs
MAIN, STORED = 'if __name__ == "__main__":\n', "\nfrom store import "


#: what others run, a part of benchmarks/scale.py and what .ci/run has at hand, and this command
OTHERS = [f"scripts/{name}.py" for name in ("run_all", "store", "check_docs", "check_pages", "check_user_script")]
OTHERS += ["benchmarks/process_tree.py"]
#: folders of the data, without which a script is skipped that names them
NEEDED = ("trec8-adhoc", "dl19-passages", "dl21-passages", "irds-cache", "corpora", "catalogue")
#: arguments of the command, DATA for the folder of the data and OUT for an empty one; and other values of constants
SCRIPTS = {
    "benchmarks/audit.py": ("", "RESAMPLES = 20"),
    "benchmarks/bootstrap.py": ("", "RESAMPLES = 200, OF_LOOP = 20"),
    "benchmarks/cal.py": ("", "N_TOPICS = 1, BUDGET = 40"),
    "benchmarks/costs.py": ("", "TAGS = 3_000, DEPTH = 100, TOPICS = 5_000"),
    "benchmarks/experiment.py": ("DATA 1", "SYSTEMS = 3"),
    "benchmarks/importing.py": ("1", ""),
    "benchmarks/lou.py": ("", "TEAMS = 2"),
    "benchmarks/made_field.py": ("OUT --runs 5 --topics 2 --docs 20", ""),
    "benchmarks/pooling.py": ("", "DEPTH = 5"),
    "benchmarks/scale.py": ("--share 0", "FEWER = 2, PARSED = Size(topics=1), SCORED = PARSED, TIMES = 2, PEAKS = 1"),
    "benchmarks/stability.py": ("", "PAIRS = 100, LOOPED = 1, CHUNKED = 20, CHUNK = 10"),
    "scripts/build_catalogue.py": ("--check", ""),
    "scripts/build_demo.py": ("--only-judgments", ""),
    "scripts/build_published.py": ("--data DATA", ""),
}


def found():
    """Return script -> its text."""
    paths = (path for sought in SOUGHT for path in sorted(ROOT.glob(sought)))
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {name: text for name, text in texts.items() if name not in OTHERS}


def changed(source, constants):
    """Return a script with other values of constants; a KeyError names one that it does not have."""
    lines = constants.split(", ") if constants else []
    for name in (line.partition(" ")[0] for line in lines):
        if not re.search(rf"^(\w+, )*{name}\b.* = ", source, re.MULTILINE):
            raise KeyError(name)
    return source.replace(MAIN, "".join(f"{line}\n" for line in lines) + MAIN)


def lacking(text, data):
    """Return which folders a script names that are not here; what scripts/store.py runs reads all tracks."""
    names = [name for name in NEEDED if f'"{name}' in text or (STORED in text and name in NEEDED[:3])]
    pisa = ["pyterrier_pisa"] if "\nfrom pyterrier_pisa" in text else []
    return [name for name in names + pisa if not (data / name).is_dir() and not importlib.util.find_spec(name)]


def run(path, environment):
    """Run a script of the copy, and return the last line of its error, or nothing."""
    text = path.read_text(encoding="utf-8")
    arguments, constants = SCRIPTS.get(path.relative_to(path.parents[1]).as_posix(), ("", ""))
    command = [sys.executable, str(path)]
    if STORED in text:
        command = [sys.executable, str(path.with_name("store.py")), path.stem, "--smallest"]
    path.write_text(changed(text, constants), encoding="utf-8")
    with tempfile.TemporaryDirectory() as out:
        stands_for = {"DATA": environment["PT_REUSE_DATA"], "OUT": out}
        command += [stands_for.get(word, word) for word in arguments.split()]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return f"did not end within {LONGEST} seconds"
    if done.returncode == 0:
        return ""
    return (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[-1]


def main(names):
    """Run scripts, and return 1 where any failed."""
    texts, failed = found(), False
    if unknown := sorted({*names} - {*texts}):
        sys.exit(f"{', '.join(unknown)}: not run by this command; give paths such as scripts/build_demo.py.")
    data = Path(os.environ.get("PT_REUSE_DATA") or ROOT.parent / "shared" / "data").resolve()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "*venv", "_build"))
        environment = {**os.environ, "PT_REUSE_DATA": str(data), "PYTHONPATH": str(copy), "MPLBACKEND": "agg"}
        for name in names or texts:
            begun, lacks = time.perf_counter(), lacking(texts[name], data)
            if lacks:
                print(f"{name}: skipped, needs {', '.join(lacks)}", flush=True)
                continue
            error = run(copy / name, environment)
            failed |= bool(error)
            said = f"failed, {error}" if error else "ok"
            print(f"{name}: {said} ({time.perf_counter() - begun:.0f} s)", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
