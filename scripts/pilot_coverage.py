"""How often the interval of a pilot has ordinal alpha in it, and how often what it decides is wrong.

    python scripts/pilot_coverage.py [--pilots N]

Three annotators give labels from 0 to 3 to tasks that are chosen at random; each sees the true label with some chance,
else gives any. Writes docs/experiments/pilot-coverage.txt; about seven minutes.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import pt_reuse as ptr
from pt_reuse.judging.annotators.pilot import PilotAgreement

TEXT = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "pilot-coverage.txt"
SHARES, LABELS = (0.5, 0.25, 0.15, 0.1), range(4)
#: chance to see the true label, from little agreement to much
SEEN = (0.45, 0.7, 0.9, 0.97)
TASKS, TARGET = (10, 20, 40), 0.4


def labels(seen: float, n: int, random: np.random.Generator) -> pd.DataFrame:
    """Return the labels that three annotators give to n tasks."""
    truth = random.choice(4, n, p=SHARES)
    frames = []
    for name in ("ann", "bob", "cid"):
        given = np.where(random.random(n) < seen, truth, random.choice(4, n, p=SHARES))
        frames.append(pd.DataFrame({"qid": "1", "docno": [f"d{i}" for i in range(n)], "label": given}))
        frames[-1]["annotator"] = name
    return pd.concat(frames, ignore_index=True)


def alpha(found: PilotAgreement) -> pd.Series:
    """Return the row of ordinal alpha."""
    return found.table[found.table["coefficient"] == "alpha_ordinal"].iloc[0]


def row_of(seen: float, n: int, pilots: int) -> dict[str, object]:
    """Return one row of the table."""
    random = np.random.default_rng([n, int(1000 * seen)])
    truth = alpha(ptr.judging.pilot_agreement(labels(seen, 40_000, random), resamples=0))["value"]
    hits = plain = wrong = decided = known = 0
    for seed in range(pilots):
        frame = labels(seen, n, random)
        found = ptr.judging.pilot_agreement(frame, resamples=500, seed=seed, target=TARGET)
        row = alpha(found)
        if np.isnan(row["low"]):
            continue
        known += 1
        hits += row["low"] <= truth <= row["high"]
        usual = ptr.judging.annotator_agreement(frame, over="items", resamples=500, seed=seed).table
        usual = usual[(usual["items"] == "all") & (usual["coefficient"] == "alpha_ordinal")].iloc[0]
        plain += usual["low"] <= truth <= usual["high"]
        decided += found.decision != "undecided"
        wrong += found.decision == ("do not go on" if truth >= TARGET else "go on")
    shares = {"interval": hits, "plain": plain, "decided": decided, "wrong": wrong}
    return {"alpha": f"{truth:.2f}", "tasks": n, **{name: f"{100 * m / known:.1f} %" for name, m in shares.items()}}


def main() -> None:
    """Read the command line, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pilots", type=int, default=300, help="per row")
    pilots = parser.parse_args().pilots
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        rows = [row_of(seen, n, pilots) for seen in SEEN for n in TASKS]
    TEXT.write_text(pd.DataFrame(rows).to_string(index=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
