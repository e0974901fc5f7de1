"""Simulate how often all rank intervals hold where tasks come in families, into docs/experiments/task-families.txt.

    python scripts/task_family_coverage.py [--smallest]

Ten systems of equal means have normal scores on 5 to 60 tasks, of equal or of unequal variance; where tasks come in
families of two, 70 % of the variance is shared. All intervals of 95 % hold where no pair differs significantly.
"""

import argparse
from pathlib import Path

import numpy as np

from pt_reuse.studies.rank_intervals import significant_pairs

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "task-families.txt"
SYSTEMS, SHARED = 10, 0.7


def held(tasks: int, size: int, *, unequal: bool, told: bool, fields: int) -> float:
    """Return the share of fields in which no pair differs."""
    random, found = np.random.default_rng(0), 0
    family = np.arange(tasks) // size
    deviation = np.where(np.arange(SYSTEMS) % 2, 2.0, 1.0) if unequal else np.ones(SYSTEMS)
    shared = SHARED if size > 1 else 0.0
    for _ in range(fields):
        common = random.normal(0, 1, (family.max() + 1, SYSTEMS))[family] * np.sqrt(shared)
        scores = 0.05 * deviation * (common + random.normal(0, 1, (tasks, SYSTEMS)) * np.sqrt(1 - shared))
        found += not significant_pairs(scores, 0.05, families=family if told else None)[1].any()
    return found / fields


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smallest", action="store_true", help="draw 3 fields and write nothing")
    smallest = parser.parse_args().smallest
    fields = 3 if smallest else 400
    lines = ["tasks  alone  unequal  in twos  unequal  in twos, not told"]
    for tasks in (5, 10, 20, 60):
        alone = [held(tasks, 1, unequal=unequal, told=False, fields=fields) for unequal in (False, True)]
        twos = [held(tasks, 2, unequal=unequal, told=True, fields=fields) for unequal in (False, True)]
        rest = held(tasks, 2, unequal=False, told=False, fields=fields)
        lines.append(f"{tasks:5}  {alone[0]:5.3f}  {alone[1]:7.3f}  {twos[0]:7.3f}  {twos[1]:7.3f}  {rest:16.3f}")
    print("\n".join(lines))
    if not smallest:
        TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
