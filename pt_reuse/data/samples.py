"""Judgments of a stratified sample: whether all that was drawn has a label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse.errors import InputError

#: rounding of probabilities that were written to a file
_ROUNDING = 1e-6


def check_all_labelled(
    topic: pd.Series, stratum: pd.Series, label: pd.Series, inclusion: pd.Series, *, argument: str
) -> None:
    """Raise where fewer documents of a stratum have a label than were drawn: the pooled ones times their probability.

    An estimate takes the labelled ones for all that were drawn, so it is wrong where, say, relevant ones alone are.
    """
    keys = [topic.to_numpy(), stratum.to_numpy()]
    drawn = pd.Series(pd.to_numeric(inclusion, errors="coerce").to_numpy(dtype=np.float64)).groupby(keys, sort=False)
    judged = pd.Series((label >= 0).to_numpy()).groupby(keys, sort=False).sum()
    strata = pd.DataFrame({"judged": judged, "drawn": drawn.sum(min_count=1)})
    few = strata[strata["judged"] < strata["drawn"] - _ROUNDING]
    if not len(few):
        return
    lacking = int(np.ceil((few["drawn"] - few["judged"] - _ROUNDING).sum()))
    where = [
        f"{row.judged:,.0f} of {row.drawn:,.0f} in stratum {row.Index[1]} of topic {row.Index[0]}"
        for row in few.itertuples()
    ]
    raise InputError(
        f"{count(lacking, 'document')} of the sample without a label: {examples(where)} have one. The estimate holds "
        "for the whole sample alone. Judge all that was drawn, also those that are not relevant.",
        argument=argument,
    )
