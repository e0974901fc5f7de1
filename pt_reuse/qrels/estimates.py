"""estimate_relevant: how many relevant documents a pool has, as far as a sample of it tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, InputError, door
from pt_reuse.qrels.judgments import as_qrels, relevant_from


@door
def estimate_relevant(qrels: Any, *, rel: int | None = None) -> pd.DataFrame:
    """Estimate the number of relevant documents in the pool of each topic from judgments of a stratified sample.

    The estimate is that of Horvitz and Thompson: each relevant document that was sampled counts 1 / inclusion, the
    pooled by the judged documents of its stratum. Its standard error is that of a stratified sample without
    replacement: the root of the sum over strata of N^2 (1 - n/N) s^2 / n, with s^2 = p (1 - p) n / (n - 1), where n of
    N documents are judged and p of these are relevant.

    Args:
        qrels: judgments of a sample, as :func:`sample_pool` and :meth:`Pool.judge` make them: with the column
            ``stratum``, and label -1 for what was pooled and not sampled.
        rel: the lowest label that is relevant; default what the judgments say.

    Returns:
        DataFrame: one row per topic: ``qid pooled judged relevant estimate se``. ``relevant`` counts the judged ones.
        ``se`` is 0 where everything was judged, and NaN where a stratum has one judged document of several, which tells
        nothing of its spread. A stratum whose judged documents are all relevant, or none of them, adds 0 to it: where
        relevant documents are rare and the sample is small, it is too small. A stratum without a judged document makes
        the estimate NaN.

    Raises:
        InputError: judgments without strata.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> judged = pd.DataFrame({"qid": "1", "docno": list("abcdefgh"), "label": [1, 0, 1, 0, -1, -1, -1, -1]})
        >>> ptr.estimate_relevant(ptr.Qrels(judged.assign(stratum="all"))).round(3)
          qid  pooled  judged  relevant  estimate     se
        0   1       8       4         2       4.0  1.633

    Source: Horvitz and Thompson, 1952; the variance as in Cochran, Sampling Techniques, 3rd edition, theorem 5.3 and
    equation 3.7.
    """
    judgments = as_qrels(qrels)
    lowest = relevant_from(judgments, rel)
    frame = judgments.to_frame()
    if "stratum" not in frame or frame["stratum"].isna().any():
        lacking = len(frame) if "stratum" not in frame else int(frame["stratum"].isna().sum())
        raise InputError(
            f"{count(lacking, 'judgment')} of {len(frame):,} without a stratum, which only a sample has. Give what ",
            Call("sample_pool", "...).judge(judge"),
            f" returns; there is {examples(frame.columns, 12)}.",
            argument="qrels",
        )
    frame = frame.assign(judged=frame["label"] >= 0, relevant=frame["label"] >= lowest, pooled=1)
    strata = frame.groupby(["qid", "stratum"], sort=False)[["pooled", "judged", "relevant"]].sum()
    pooled, judged, relevant = (strata[name].to_numpy(dtype=float) for name in strata)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = relevant / judged
        spread = np.where(judged == pooled, 0.0, share * (1 - share) / (judged - 1))
        strata["estimate"], strata["variance"] = pooled * share, pooled**2 * (1 - judged / pooled) * spread
    # a topic with a stratum of which nothing is known is not known
    topics = strata.groupby("qid").sum().mask(strata.isna().groupby("qid").any())
    table = topics.reindex(judgments.topics, fill_value=0)
    table["se"] = np.sqrt(table["variance"])
    return table.drop(columns="variance").rename_axis("qid").reset_index()
