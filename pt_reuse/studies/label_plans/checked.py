"""What people found when they checked the documents of a plan, counted by stratum."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pt_reuse._check import count, examples, shown
from pt_reuse._errors import Attribute, InputError, warn
from pt_reuse.data.judgments import as_qrels

#: so many labels that all equal the judge's are more likely its own than what people said
_SUSPECT = 10


def counted_labels(
    table: pd.DataFrame, sample: pd.DataFrame, known: pd.DataFrame, checked: Any, *, rel: int
) -> pd.DataFrame:
    """Return the strata of a plan with ``checked`` and ``relevant``, how many people checked and found relevant.

    Raises:
        InputError: a label of a document that is not in the plan, another label of one that was known before, or a
            stratum of which nothing was checked.

    Warns:
        ReuseWarning: documents that were not checked; labels that are all those of the judge.
    """
    judgments = as_qrels(checked, "checked")
    if judgments.stated_rel not in (None, rel):
        raise InputError(
            f"documents are relevant from label {judgments.stated_rel} here, and from label {rel} in the plan. Plan "
            "with the same, or give the labels as they are meant in the plan.",
            argument="checked",
        )
    said = judgments.to_frame()[["qid", "docno", "label"]].rename(columns={"label": "said"})
    said = said[said["said"] >= 0]
    keys = ["qid", "docno"]
    found = said.merge(known[[*keys, "people"]], on=keys, how="left").merge(
        sample[[*keys, "stratum"]], on=keys, how="left"
    )
    before = found["people"].notna()
    other = found[before & (found["people"] != found["said"]).fillna(False)]
    if len(other):
        row = other.iloc[0]
        raise InputError(
            f"topic {shown(row['qid'])}, document {shown(row['docno'])} has label {row['said']}, and had label "
            f"{row['people']} in the pilot ({count(len(other), 'such document')}). Give the same labels, or plan anew.",
            argument="checked",
        )
    odd = found[found["stratum"].isna() & ~before]
    if len(odd):
        pairs = [f"{qid} {docno}" for qid, docno in odd[keys].itertuples(index=False, name=None)]
        raise InputError(
            f"{count(len(odd), 'document')} of {len(said):,} not in the plan, such as {examples(pairs)}. What people "
            "chose themselves is no random sample: give the labels of the documents to check alone, ",
            Attribute("plan.sample"),
            ".",
            argument="checked",
        )
    mine = found[found["stratum"].notna()]
    counts = mine.assign(relevant=mine["said"] >= rel).groupby("stratum")["relevant"].agg(["size", "sum"])
    counts = counts.reindex(table["stratum"]).fillna(0).astype("int64")
    counted = table.assign(checked=counts["size"].to_numpy(), relevant=counts["sum"].to_numpy())
    empty = counted[(counted["labels"] > 0) & (counted["checked"] == 0)]
    if len(empty):
        raise InputError(
            f"nothing was checked of {count(len(empty), 'stratum').replace('stratums', 'strata')} of the plan: "
            f"{examples(empty['stratum'])}. Have people check at least one document of each stratum: ",
            Attribute("plan.sample"),
            ".",
            argument="checked",
        )
    same = mine.merge(sample[[*keys, "label"]], on=keys)
    if len(same) >= _SUSPECT and (same["said"] == same["label"]).all():
        warn(
            f"all {len(same):,} labels are those of the judge. Are they what people said, and not the judge's own "
            "labels of the documents to check?"
        )
    missing = len(sample) - len(mine)
    if missing:
        warn(
            f"{count(missing, 'document')} of {len(sample):,} in the plan not checked. Those that were count as a "
            "random sample of their strata, which they are only if nothing of the documents decided which were checked."
        )
    return counted
