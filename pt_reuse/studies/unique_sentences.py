"""Leave-out-uniques in sentences, for the command line and the demo."""

from __future__ import annotations

import numpy as np

from pt_reuse._check import count
from pt_reuse.pooling.fit import MOSTLY, SLACK
from pt_reuse.studies.uniques import LeaveOutUniques


def in_words(result: LeaveOutUniques) -> str:
    """Return what the result says, in words, one line per measure."""
    by, lines = result.units.by, []
    for row in result.summary.to_dict("records"):
        if row["field_worst"] is None:
            field = f"over the whole field, leaving out any one {by} changes no rank."
        else:
            moved = f"moves a run down by up to {count(row['field_max_drop'], 'rank')}"
            field = f"over the whole field, leaving out {by} {row['field_worst']!r} {moved}."
        alone, all_at_once = count(row["alone_max_drop"], "rank"), count(row["own_max_drop"], "rank")
        mean = "" if np.isnan(row["mean_change_pct"]) else f"mean change {row['mean_change_pct']:+.2f} %; "
        lines.append(
            f"{row['measure']}: judged without its own {by}, a run loses at most {row['largest_loss_pct']:.2f} % of "
            f"its score, {alone} if its {by} alone is, {all_at_once} if all are "
            f"({mean}tau_b {row['own_tau_b']:.4f}); {field}"
        )
    # of a larger share a warning has told
    if SLACK < result.fit.stranger_share <= MOSTLY:
        lines.append(
            f"Beware: {result.fit.in_words()}. If the depth, the contributors, the order or the runs are not those of "
            "the real pool, uniques are not what they were. Documents that were chosen otherwise, by a classifier for "
            "instance, stay whoever is left out."
        )
    return "\n".join(lines)
