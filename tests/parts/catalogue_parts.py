"""Where the shipped catalogue is, and what it is made of."""

from __future__ import annotations

import csv
from pathlib import Path

from pt_reuse.collections.catalogue import catalogue_names, catalogued

ROOT = Path(__file__).parents[2]
CURATED = ROOT / "scripts" / "catalogue"
SHIPPED = ROOT / "pt_reuse" / "collections" / "data" / "catalogue"
RESULTS = "https://trec.nist.gov/results/"
WITH_IRDS = [name for name in catalogue_names() if catalogued(name).irds_id]


def rows_of(name):
    with (CURATED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
