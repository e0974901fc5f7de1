"""The atlas: the cards of several collections, and one table of them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from pt_reuse._report import Column, Digits
from pt_reuse.cards.card import Card
from pt_reuse.cards.page import document, plain, table
from pt_reuse.cards.parts import EQUAL_DEPTH

#: heading, column and form of the cells
_SHOWN = (
    ("Collection", "collection", Digits.TEXT),
    ("Judgments", "judgments", Digits.TEXT),
    ("Relevant from", "rel", Digits.COUNT),
    ("New run", "run_answer", Digits.TEXT),
    ("New type", "type_answer", Digits.TEXT),
    ("Runs", "runs", Digits.COUNT),
    ("tau_b", "tau_b", Digits.SCORE),
    ("Largest loss, %", "loss", Digits.TENTHS),
    ("Without lowest quarter", "upper_loss", Digits.TENTHS),
    ("Largest drop", "drop", Digits.COUNT),
    ("tau_b, types", "type_tau_b", Digits.SCORE),
    ("Largest loss, types, %", "type_loss", Digits.TENTHS),
    ("Types, without lowest quarter", "type_upper_loss", Digits.TENTHS),
    ("Judged of a new type", "type_judged", Digits.SHARE),
    ("Power", "power", Digits.SHARE),
)
_CAPTION = (
    f"Collections by {{measures}}, with the judgments as they are, and cut to the depth-{EQUAL_DEPTH} pool, where they "
    "compare. tau_b, largest loss and drop: each run without the relevant documents that its own team alone put into "
    "the pool, the loss of all runs and without the lowest quarter by score, the drop if its team alone is scored so; "
    f"of types the same by type. Judged of a new type: of the first {EQUAL_DEPTH} documents of the type least covered, "
    "had it not been pooled. Power: the pairs of runs that differ significantly. New run and new type: whether a run "
    "like those pooled, and a new kind of system, may be scored."
)


def atlas_table(cards: Mapping[str, Card]) -> pd.DataFrame:
    """Return the rows of all cards."""
    return pd.concat([card.row for card in cards.values()], ignore_index=True)


def atlas_page(cards: Mapping[str, Card], missing: Mapping[str, str]) -> str:
    """Return the page with the table, links to the cards by their files, and why others have none."""
    rows = atlas_table(cards)
    depths = [
        f" to depth {depth:.0f}" if known else ""
        for depth, known in zip(rows["depth"], rows["depth"].notna(), strict=True)
    ]
    rows["judgments"] = rows["judgments"].where(rows["judgments"] != "as judged", rows["judgments"] + depths)
    columns = [Column(heading, list(rows[column]), digits) for heading, column, digits in _SHOWN]
    mains = dict.fromkeys(card.asking.main for card in cards.values())
    links = {card.name: file for file, card in cards.items()}
    others = "".join(f"<li>{plain(name)}: {plain(reason)}</li>" for name, reason in missing.items())
    without = f"<h2>Without a card</h2><ul>{others}</ul>" if others else ""
    shown = table(columns, _CAPTION.format(measures=", ".join(mains)), "atlas", links=links)
    return document("Atlas of test collections", "Atlas", f"{shown}{without}", {}, {})
