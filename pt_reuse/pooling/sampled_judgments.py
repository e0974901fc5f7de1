"""The judgments of a sampled pool: labels of what was sampled, -1 for the rest, and how probable each document was."""

from __future__ import annotations

import pandas as pd

from pt_reuse.pooling.chosen import Chosen
from pt_reuse.qrels.judgments import Qrels

#: what a sample knows of each document, sampled or not: its stratum, and the probability that it came into the sample
STRATUM, INCLUSION = "stratum", "inclusion"


def with_unsampled(judged: Qrels, pool: Chosen) -> Qrels:
    """Return the judgments of a pool with -1 for what was not sampled, or has no label; as they are for a full pool.

    Args:
        judged: labels of the documents of the pool.
        pool: the pool that was judged.
    """
    if pool.unsampled is None:
        return judged
    known = ["qid", "docno", STRATUM, INCLUSION]
    every = pd.concat([_known(part) for part in (pool, pool.unsampled)], ignore_index=True)
    labels = judged.to_frame().drop(columns=known[2:], errors="ignore")
    frame = every.merge(labels, on=known[:2], how="left")
    return Qrels(frame.assign(label=frame["label"].fillna(-1)), topics=judged.topics, rel=judged.stated_rel)


def counted_anew(pool: Chosen, unsampled: Chosen) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns of both parts of a sampled pool, inclusion probabilities counted in what is left.

    Given how many documents of a stratum are left and how many of these are sampled, every subset of so many was as
    probable as every other: the sample of the part is a sample of its own.

    Args:
        pool: what is left of the sampled documents.
        unsampled: what is left of the others.
    """
    every = pd.concat([_known(part) for part in (pool, unsampled)], ignore_index=True)
    every = every.assign(sampled=[1.0] * len(pool) + [0.0] * len(unsampled))
    inclusion = every.groupby(["qid", STRATUM])["sampled"].transform("mean").to_numpy()
    sampled, rest = inclusion[: len(pool)], inclusion[len(pool) :]
    return pool.columns.assign(**{INCLUSION: sampled}), unsampled.columns.assign(**{INCLUSION: rest})


def _known(part: Chosen) -> pd.DataFrame:
    pairs = pd.DataFrame({"qid": part.documents.qids(), "docno": part.documents.docnos()})
    return pairs.assign(**{name: part.columns[name] for name in (STRATUM, INCLUSION)})
