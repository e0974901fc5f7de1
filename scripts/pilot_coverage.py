"""How often the interval of a pilot has ordinal alpha in it, and how often what it decides is wrong.

Three annotators give labels from 0 to 3 to tasks that are chosen at random; each sees the true label with some chance,
else gives any. It takes about seven minutes.
"""

import numpy as np
import pandas as pd
from store import laid_out

import pt_reuse as ptr

SHARES, TARGET = (0.5, 0.25, 0.15, 0.1), 0.4


def labels(seen, n, random):
    """Return the labels that three annotators give to n tasks."""
    truth, frames = random.choice(4, n, p=SHARES), []
    for name in ("ann", "bob", "cid"):
        given = np.where(random.random(n) < seen, truth, random.choice(4, n, p=SHARES))
        frames.append(pd.DataFrame({"qid": "1", "docno": [f"d{i}" for i in range(n)], "label": given}))
        frames[-1]["annotator"] = name
    return pd.concat(frames, ignore_index=True)


def alpha(table):
    """Return the row of ordinal alpha."""
    return table[table["coefficient"] == "alpha_ordinal"].iloc[0]


def row(seen, n, pilots):
    """Return one row of the table."""
    random, found = np.random.default_rng([n, int(1000 * seen)]), []
    truth = alpha(ptr.judging.pilot_agreement(labels(seen, 40_000, random), resamples=0).table)["value"]
    for seed in range(pilots):
        frame = labels(seen, n, random)
        pilot = ptr.judging.pilot_agreement(frame, resamples=500, seed=seed, target=TARGET)
        mine = alpha(pilot.table)
        if np.isnan(mine["low"]):
            continue
        usual = ptr.judging.annotator_agreement(frame, over="items", resamples=500, seed=seed).table
        hits = [ends["low"] <= truth <= ends["high"] for ends in (mine, alpha(usual[usual["items"] == "all"]))]
        wrong = pilot.decision == ("do not go on" if truth >= TARGET else "go on")
        found.append([*hits, pilot.decision != "undecided", wrong])
    return [f"{truth:.2f}", str(n), *(f"{100 * share:.1f} %" for share in np.mean(found, axis=0))]


def results(given):
    """Simulate, and write the table."""
    # the chance to see the true label, from little agreement to much
    seen, tasks, pilots = given.size(((0.45, 0.7, 0.9, 0.97), (10, 20, 40), 300), ((0.7,), (20,), 2))
    rows = [["alpha", "tasks", "interval", "plain", "decided", "wrong"]]
    given.write("pilot-coverage", laid_out([*rows, *(row(chance, n, pilots) for chance in seen for n in tasks)]))
