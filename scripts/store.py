"""Run what makes the results that the documentation shows, and store them.

    python scripts/store.py NAME [DATA] [JOBS] [--smallest]

NAME is a script beside this one, such as interval_coverage; its `results`, one function or some, are run. DATA is the
folder of the tracks (default: PT_REUSE_DATA, else shared/data beside the checkout), JOBS the processes (default 2). The
smallest run is of a few fields, and stores nothing. Beside the command, here is what these scripts share.
"""

import argparse
import importlib
import os
import warnings
from pathlib import Path

from joblib import Parallel, delayed

import pt_reuse as ptr

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS, STORED = ROOT / "docs" / "experiments", ROOT / "docs" / "papers" / "stored"
#: whose labels the passages of Deep Learning have
JUDGES = ("umbrela-gpt-4", "binary-gpt-4o", "binary-gpt-4", "exam-gpt-4", "binary-llama-3.2")


class Given(argparse.Namespace):
    """What the command line says, and what follows from it."""

    def size(self, usual, smallest):
        """Return how many of something there are."""
        return smallest if self.smallest else usual

    def each(self, function, cases):
        """Return what a function gives for each case, in several processes."""
        return Parallel(n_jobs=self.size(self.jobs, 1))(delayed(function)(*case) for case in cases)

    def write(self, name, text):
        """Print a text, and store it as docs/experiments/NAME.txt."""
        text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
        print(text, flush=True)
        if not self.smallest:
            (EXPERIMENTS / f"{name}.txt").write_text(text, encoding="utf-8")

    def save(self, name, found, *reports):
        """Print reports of a result, and store it in docs/papers/stored."""
        print(name, *(reports or [found]), sep="\n", flush=True)
        if not self.smallest:
            found.save(STORED / name, overwrite=True)


def laid_out(rows, left=1):
    """Return rows of cells under each other as text, so many first columns to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    places = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    lines = ("  ".join(place(*of) for place, *of in zip(places, row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def trec8(data, **options):
    """Return TREC-8 ad hoc, 129 runs of which 71 were pooled to depth 100, and its judgments."""
    folder = data / "trec8-adhoc"
    rows = [line.split(":") for line in (folder / "runs_table.adhoc").read_text("latin-1").splitlines() if line]
    options = {
        "types": {row[0]: row[4] for row in rows},
        "pooled": [row[0] for row in rows if row[12].strip()],
    } | options
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", **options)
    return runs, ptr.read_qrels(folder / "trec8.qrels.gz")


def deep(data, year, **options):
    """Return the runs of the passages of Deep Learning, which were pooled to 10 in file order, and the judgments."""
    folder = data / f"dl{year}-passages"
    types = folder / "types" if (folder / "types").exists() else None
    options = {"types": types, "pooled": True, "order": "trec_eval9", "pool_order": "file"} | options
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", **options)
    return runs, ptr.read_qrels(folder / "qrels.gz", rel=2)


def labels(data, year, names=JUDGES):
    """Return judge -> the file of its labels."""
    return {name: data / f"dl{year}-passages" / "llm-labels" / f"{name}.gz" for name in names}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", help="a script beside this one, such as interval_coverage")
    data = os.environ.get("PT_REUSE_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("data", nargs="?", type=Path, default=Path(data), help="the folder of the tracks")
    parser.add_argument("jobs", nargs="?", type=int, default=2, help="processes; default 2")
    parser.add_argument("--smallest", action="store_true", help="a few fields, stored nowhere")
    given = parser.parse_args(namespace=Given())
    # what a caveat says stands in the settings, and on the page
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    results = importlib.import_module(given.name).results
    for make in results if isinstance(results, tuple) else [results]:
        make(given)
