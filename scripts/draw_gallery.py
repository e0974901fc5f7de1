"""Draw every figure of the studies of a collection, in grey and at the width of a column, on one sheet to look at.

    python scripts/draw_gallery.py COLLECTION FOLDER

COLLECTION is a name such as trec-8/adhoc, dl19, dl21, covid or demo, whose runs are at hand. FOLDER gets a PNG for each
figure and ``sheet.png``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import pyterrier as pt
from ir_measures import AP, nDCG
from PIL import Image

import pt_reuse as ptr

#: inches of a column, dots of an inch
WIDTH, DOTS = 3.3, 150
#: figures beside one another on the sheet
COLUMNS = 4


def studies(runs: ptr.RunSet, qrels: ptr.Qrels, rel: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each study, and what computes it."""
    measures = [AP(rel=rel), nDCG @ 10]
    pool = ptr.depth_pool(runs, depth=5)
    shallow = qrels.restrict(pool)
    yield "lou", lambda: ptr.leave_out_uniques(runs, qrels, measures, fill=qrels)
    yield "by-type", lambda: ptr.by_type(runs, qrels, measures)
    yield "compare", lambda: ptr.compare_judgments(runs, shallow, qrels, measures)
    yield "agreement", lambda: ptr.score(runs, qrels, measures).compare(ptr.score(runs, shallow, measures))
    yield "coverage", lambda: ptr.profile.coverage(runs, shallow, measures)
    yield "density", lambda: ptr.profile.density(qrels)
    yield "saturation", lambda: ptr.profile.saturation(ptr.score(runs, qrels, measures))
    yield "stability", lambda: ptr.profile.stability(ptr.score(runs, qrels, measures))
    both = {"all": ptr.score(runs, qrels, measures), "depth 5": ptr.score(runs, shallow, measures)}
    yield "power", lambda: ptr.profile.discriminative_power(both)
    yield "sensitivity", lambda: ptr.profile.sensitivity(ptr.leave_out_uniques, runs, qrels, measures)
    yield "minimum-ranks", lambda: ptr.pools.minimum_ranks(runs, qrels)
    yield "costs", lambda: ptr.pools.pool_costs(runs, qrels, measures, depths=[1, 2, 5, 10, 20, 50, 100])
    yield "found", lambda: ptr.pools.found_by_depth(runs, qrels, depths=[1, 2, 5, 10])
    yield "leave-out-type", lambda: ptr.pools.leave_out_type(runs, qrels, measures)
    how = {"budgets": [0.05, 0.1, 0.25, 0.5], "measures": measures}
    yield (
        "strategies",
        lambda: ptr.pools.compare_strategies(runs, qrels, ["rank", "rrf", "mtf", "hedge", "random"], **how),
    )
    yield "infer-pool", lambda: ptr.infer_pool(runs, qrels)


def main(collection: str, folder: Path) -> None:
    """Draw the figures and the sheet."""
    dataset = pt.get_dataset(f"reuse:{collection}")
    runs, qrels = dataset.get_runs(), dataset.get_judgments()
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    warnings.simplefilter("ignore")
    for name, study in studies(runs, qrels, qrels.rel):
        try:
            result = study()
            for kind in result.plots:
                path = folder / f"{name}-{kind}.png"
                result.plot(kind=kind, width=WIDTH).figure.savefig(path, dpi=DOTS)
                mpl.pyplot.close("all")
                Image.open(path).convert("L").save(path)
                drawn.append(path)
        except ptr.InputError as error:
            print(f"{name}: {error}")
    pictures = [Image.open(path) for path in drawn]
    rows = [pictures[i : i + COLUMNS] for i in range(0, len(pictures), COLUMNS)]
    heights = [max(picture.height for picture in row) for row in rows]
    sheet = Image.new("L", (max(sum(p.width + 10 for p in row) for row in rows), sum(h + 10 for h in heights)), 255)
    for i, row in enumerate(rows):
        left = 0
        for picture in row:
            sheet.paste(picture, (left, sum(h + 10 for h in heights[:i])))
            left += picture.width + 10
    sheet.save(folder / "sheet.png")
    print(f"{len(drawn)} figures, {folder / 'sheet.png'}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
