"""Fill the holes of Deep Learning 2019 and 2021 passages by language models' labels, and save the results for the docs.

    python scripts/papers/hole_filling.py [DATA]

DATA is a folder with dl19-passages and dl21-passages (default: PT_REUSE_DATA). The results go to docs/papers/stored,
and a table of all judges to docs/experiments. It takes half a minute.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ir_measures import nDCG

import pt_reuse as ptr
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESAMPLES = 1000
TARGET, TABLES = DOCS / "papers" / "stored", DOCS / "experiments"
TRACKS = {"dl21": "dl21-passages", "dl19": "dl19-passages"}
JUDGES = ("umbrela-gpt-4", "binary-gpt-4o", "binary-gpt-4", "exam-gpt-4", "binary-llama-3.2")
#: EXAM labels from 0 to 5
SCALES = {"exam-gpt-4": 4}
_WAYS = ("removed", "filled", "judge_alone")
_COLUMNS = ("track", "judge", "removed", "filled", "interval", "above", "tau removed", "filled", "alone")


def field(data: Path, track: str) -> tuple[ptr.RunSet, ptr.Qrels, Mapping[str, Path]]:
    """Return the runs, the judgments and the files of labels of a track.

    Runs were pooled to depth 10 in the order of their lines; scores are in the order of trec_eval 9.

    Args:
        data: the folder of all tracks.
        track: its folder there.
    """
    folder = data / track
    runs = ptr.read_runs(
        folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file"
    )
    judges = {judge: folder / "llm-labels" / f"{judge}.gz" for judge in JUDGES}
    return runs, ptr.read_qrels(folder / "qrels.gz", rel=2), judges


def rows(track: str, found: LeaveOutUniques) -> Iterator[tuple[str, ...]]:
    """Yield a row of the table for each judge.

    Args:
        track: the short name.
        found: uniques filled by every judge.
    """
    if found.filled_summary is None:
        return
    for row in found.filled_summary.to_dict("records"):
        ends = [f"{row[f'filled_change_{end}']:+.4f}" for end in ("low", "high")]
        taus = [f"{row[f'{way}_tau_b']:.3f}" for way in _WAYS]
        changes = [f"{row[f'{way}_change']:+.4f}" for way in _WAYS[:2]]
        above = f"{row['filled_above']} of {row['units']}"
        yield track, row["judge"], *changes, f"{ends[0]} to {ends[1]}", above, *taus


def text(cells: list[tuple[str, ...]]) -> str:
    """Return rows as a text table."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compute and save every result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=os.environ.get("PT_REUSE_DATA"), metavar="DATA")
    options = parser.parse_args()
    if not options.data:
        parser.error("give DATA")
    # what a caveat says stands in the settings, and on the page
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    cells: list[tuple[str, ...]] = [_COLUMNS]
    given: dict[str, Any] = {"depth": 10, "resamples": RESAMPLES, "seed": 1}
    for name, track in TRACKS.items():
        runs, qrels, judges = field(Path(options.data), track)
        first = {JUDGES[0]: judges[JUDGES[0]]}
        found = ptr.leave_out_uniques(runs, qrels, nDCG @ 10, fill=first, **given)
        found.save(TARGET / f"hole-filling-{name}", overwrite=True)
        cells += rows(name, ptr.leave_out_uniques(runs, qrels, nDCG @ 10, fill=judges, judge_rel=SCALES, **given))
        print(f"{name}: {found.answers()[0]}", flush=True)
    (TABLES / "hole-filling.txt").write_text(text(cells), encoding="utf-8")


if __name__ == "__main__":
    main()
