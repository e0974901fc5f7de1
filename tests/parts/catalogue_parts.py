"""Where the shipped catalogue is, and what it is made of."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from pt_reuse.collections.collection import catalogue_names, catalogued

ROOT = Path(__file__).parents[2]
RESULTS = "https://trec.nist.gov/results/"
#: collections of which ir_datasets has anything
WITH_IRDS = [name for name in catalogue_names() if catalogued(name).irds_id]


@lru_cache(maxsize=1)
def listed():
    """Return ir_datasets' own list of what its datasets hold."""
    import ir_datasets

    return json.loads((Path(ir_datasets.__file__).parent / "etc" / "metadata.json").read_text(encoding="utf-8"))


def metadata(irds, part):
    """Return what the list says of a part of a dataset."""
    entries = listed()
    entry = entries[irds]
    entry = entries[entry["_ref"]] if "_ref" in entry else entry
    value = entry[part]
    return entries[value["_ref"]][part] if "_ref" in value else value
