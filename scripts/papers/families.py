"""Compute what five judges make of families of later runs on Deep Learning 2019 passages, for the docs.

    python scripts/papers/families.py [DATA]

DATA is a folder with dl19-passages (default: PT_REUSE_DATA). The results go to docs/papers/stored: the families of the
24 runs that came after the pool, read off their names, over which the 37 official runs are others; and the same with
three groups, GPT re-rankers, other later runs and official ones. It takes about ten seconds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pandas as pd
from ir_measures import nDCG

import pt_reuse as ptr

TARGET = Path(__file__).resolve().parents[2] / "docs" / "papers" / "stored"


def main(data: Path) -> None:
    """Compute and save."""
    folder = data / "dl19-passages"
    later = pd.read_csv(folder / "later.csv")[["name", "family"]]
    official = ptr.read_runs(
        folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file"
    )
    runs = official | ptr.read_runs(
        folder / "later", names="file", metadata=later, pooled=False, order="trec_eval9", pool_order="file"
    )
    human = ptr.read_qrels(folder / "qrels.gz", rel=2)
    judges = {path.stem: path for path in sorted((folder / "llm-labels").glob("*.gz"))}
    families = {name: "llama" if "llama" in name else "gpt" for name in judges}
    # EXAM labels from 0 to 5; published figures take the label 2 of people for it, too
    given = {"families": families, "judge_rel": {"exam-gpt-4": 2}}
    found = ptr.labels.family_effect(runs, human, judges, nDCG @ 10, **given)
    found.save(TARGET / "families-dl19", overwrite=True)
    print(found.report(), found.report("score"), found, sep="\n")

    groups = dict.fromkeys(official.names, "official")
    groups |= {row.name: "gpt" if row.family == "gpt" else "other later" for row in later.itertuples(index=False)}
    table = pd.DataFrame({"name": list(groups), "family": list(groups.values())})
    found = ptr.labels.family_effect(runs.with_metadata(metadata=table), human, judges, nDCG @ 10, **given, resamples=0)
    found.save(TARGET / "families-dl19-groups", overwrite=True)
    print(found.cells().pivot_table("rise", index="judge", columns="family").round(1))


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
