"""Which runs move on each topic, and the runs that a paper shows with their scores and ranks under both judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, examples, told
from pt_reuse._errors import Argument, InputError
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS

#: of the runs on record as not pooled so many are shown where nobody says which
SHOWN = 10
_OF_TOPIC = ("max_drop", "dropped", "max_rise", "risen")
_OF_RUN = ("score", "other_score", "rank", "other_rank", "drop")


def topic_moves(truth: NDArray[np.float64], estimate: NDArray[np.float64], names: Sequence[str]) -> pd.DataFrame:
    """Return per topic the most ranks that a run loses and gains, and which it is.

    Args:
        truth: (topics, runs) scores of the rankings taken as right.
        estimate: (topics, runs) of the others.
        names: of the runs.

    Returns:
        DataFrame: one row per topic: ``max_drop dropped max_rise risen``; of several runs the best one under the truth,
        None where none moves that way.
    """
    found: dict[str, list[Any]] = {name: [] for name in _OF_TOPIC}
    for before, after in zip(np.round(truth, DECIMALS), np.round(estimate, DECIMALS), strict=True):
        drops, best_first = pairs.rank_drops(before, after), np.argsort(-before, kind="stable")
        for most, who, signed in (("max_drop", "dropped", drops), ("max_rise", "risen", -drops)):
            place = best_first[int(signed[best_first].argmax())]
            found[most].append(max(int(signed[place]), 0))
            found[who].append(names[place] if signed[place] > 0 else None)
    return pd.DataFrame(found | {who: pd.Series(found[who], dtype=object) for who in ("dropped", "risen")})


def checked_selected(selected: Any, known: Sequence[str] | None = None) -> list[str] | None:
    """Return a user's ``selected=`` as run names, None for None.

    Args:
        selected: what the user gave.
        known: the runs that there are; None where that is not known yet.

    Raises:
        InputError: something that lists no names, or a name that is not known.
    """
    if selected is None:
        return None
    names = [selected] if isinstance(selected, str) else list(selected) if isinstance(selected, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise InputError(
            Argument("selected"), f" must be a run name or several, got {told(selected)}.", argument="selected"
        )
    strangers = [] if known is None else [name for name in names if name not in set(known)]
    if known is not None and strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        raise InputError(
            Argument("selected"),
            f" names {examples(strangers)}, not among the {count(len(known), 'run')}.{hint}",
            argument="selected",
        )
    return list(dict.fromkeys(names))


def selected_runs(
    changes: pd.DataFrame, run_table: pd.DataFrame, rates: pd.DataFrame, wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Return the rows of the runs that a paper shows, the best first by the first measure, under every measure.

    Args:
        changes: of all runs: ``name measure other_measure score other_score rank other_rank drop``.
        run_table: one row per run: ``name team type pooled``.
        rates: one row per run: ``unjudged_rate other_unjudged_rate``.
        wanted: the runs that a user asks for; None: those on record as not pooled, :data:`SHOWN` of them at most.

    Returns:
        DataFrame: ``why name team type pooled measure other_measure score other_score change rank other_rank drop
        unjudged_rate other_unjudged_rate``. ``why`` is ``best`` (of all, or of a type), ``median``, ``not pooled`` or
        ``selected``, several between commas.
    """
    measures = list(dict.fromkeys(changes["measure"]))
    first = changes[changes["measure"] == measures[0]].sort_values("rank", kind="stable")["name"].tolist()
    of_run = run_table.set_index("name")
    reasons: dict[str, list[str]] = {}
    types = [kind for kind in dict.fromkeys(of_run["type"]) if kind is not None and not pd.isna(kind)]
    for kind in types:
        best = next(name for name in first if of_run.loc[name, "type"] == kind)
        reasons.setdefault(best, []).append(f"best {kind}")
    if not types:
        reasons.setdefault(first[0], []).append("best")
    reasons.setdefault(first[(len(first) - 1) // 2], []).append("median")
    if wanted is None:
        not_pooled = set(of_run.index[(of_run["pooled"] == False).fillna(False)])  # noqa: E712 - <NA> is neither
        for name in [name for name in first if name in not_pooled][:SHOWN]:
            reasons.setdefault(name, []).append("not pooled")
    for name in wanted or ():
        reasons.setdefault(name, []).append("selected")
    shown = [name for name in first if name in reasons]
    by_measure = changes.set_index(["measure", "name"])
    rows = []
    for measure in measures:
        for name in shown:
            found = by_measure.loc[(measure, name)]
            rows.append(
                {
                    "why": ", ".join(reasons[name]),
                    "name": name,
                    **{column: of_run.loc[name, column] for column in ("team", "type", "pooled")},
                    "measure": measure,
                    "other_measure": found["other_measure"],
                    **{column: found[column] for column in _OF_RUN[:2]},
                    "change": found["other_score"] - found["score"],
                    **{column: int(found[column]) for column in _OF_RUN[2:]},
                    **rates.loc[name].to_dict(),
                }
            )
    return pd.DataFrame(rows).astype({"pooled": "boolean", "why": object, "name": object})
