"""reuse_summary: how the ranking of the field changed, from what Experiment returned."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pt_reuse._errors import InputError, Option, door, warn
from pt_reuse.experiment.columns import BEWARE_OF_UNIQUES
from pt_reuse.experiment.remarks import sentence
from pt_reuse.scoring.caveats import CaveatWarning


@door
def reuse_summary(result: Any) -> pd.DataFrame:
    """Return, per measure, how the ranking of the whole field changes when each unit is scored without its uniques.

    Args:
        result: what :func:`Experiment` returned; not a dict, which has no place for it.

    Returns:
        DataFrame: the ``summary`` of ``LeaveOutUniques``: ``measure own_tau_b own_gamma own_max_drop`` and more;
        empty, with a ReuseWarning that says what to pass, where nothing was left out.

    Raises:
        InputError: something that holds no summary.

    Warns:
        ReuseWarning: nothing was left out; uniques that are not what they seem, where Experiment did not show them.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7, n_topics=3)
        >>> topics = pd.DataFrame({"qid": field.runs.topics, "query": "q"})
        >>> system = {"mine": field.runs["lex1a"]}
        >>> result = ptr.Experiment(system, topics, field.qrels, ["AP", "P@5"], field=field.runs, depth=field.depth)
        >>> ptr.reuse_summary(result)["measure"].tolist()
        ['AP', 'P@5']
    """
    frame = result[0] if isinstance(result, tuple) and result else result
    kept = getattr(getattr(frame, "data", frame), "attrs", {}).get("reuse")
    if kept is None and isinstance(frame, dict):
        raise InputError(
            "a dict holds no summary. Call Experiment with ", Option("dataframe", True), ".", argument="result"
        )
    if kept is None:
        raise InputError(
            f"expected what ptr.Experiment returned, got {type(frame).__name__} without it: made by pt.Experiment, ",
            "with ",
            Option("reuse", []),
            ", or by an operation of pandas that drops attrs.",
            argument="result",
        )
    if not kept["summary"]:
        hint = f" {sentence(kept['hint'])}" if kept["hint"] else ""
        nothing = "nothing was left out, so there is no summary. Give ", Option("field", ...), " or name 'lou' in "
        warn(*nothing, Option("reuse", ...), f".{hint}")
    summary = pd.DataFrame(kept["summary"])
    beware = kept["settings"].get(BEWARE_OF_UNIQUES)
    if beware is not None:
        warn(f"beware: {beware}. Experiment says more with ", Option("reuse", ["lou"]), ".", category=CaveatWarning)
    # a unit that does not exist is None, whatever pandas makes of one among names
    worst = pd.Series([row["field_worst"] for row in kept["summary"]], dtype=object)
    return summary.assign(field_worst=worst) if kept["summary"] else summary
