"""What a card says first, in three sentences, and the same as a paragraph for a paper."""

from __future__ import annotations

from typing import Any

from pt_reuse._check import count
from pt_reuse._version import __version__
from pt_reuse.cards.parts import AT_EQUAL_DEPTH, EQUAL_DEPTH, Asking, upper_loss
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.caveats import FEW_TOPICS

CITATION = f"""@software{{pt_reuse,
  title   = {{pt_reuse: can I trust this test collection for my system?}},
  author  = {{{{The pt_reuse developers}}}},
  version = {{{__version__}}},
}}"""


def verdict(asking: Asking) -> list[str]:
    """Return what becomes of a new run, of another kind of system, and of the top ranks, a sentence each."""
    if len(asking.qrels.topics) < FEW_TOPICS:
        return [f"Fewer than {FEW_TOPICS} topics: nothing can be said of other ones."]
    return [_new_run(asking), _new_type(asking), top(asking)]


def _found(asking: Asking, part: str) -> tuple[Any, str]:
    """Return the result of a part, with the judgments as they are, else cut to equal depth, and where that is."""
    for name, where in ((part, ""), (part + AT_EQUAL_DEPTH, f"Judged to depth {EQUAL_DEPTH} alone, ")):
        if name in asking.found:
            return asking.found[name], where
    return None, ""


def losses(result: Any, asking: Asking) -> str:
    """Return the largest loss of a run, in per cent."""
    row = result.summary.set_index("measure").loc[asking.main]
    upper = upper_loss(result, asking.main)
    loss = f"{row['largest_loss_pct']:.1f}"
    of_upper = "" if f"{upper:.1f}" == loss else f" ({upper:.1f}% outside the lowest quarter)"
    return f"{loss}% of its {asking.main}{of_upper}"


def _reason(asking: Asking, part: str) -> str:
    why = asking.missing.get(part, "it was not computed")
    why = why.partition(": nothing")[0].rstrip(".")
    return why[:1].lower() + why[1:]


def _new_run(asking: Asking) -> str:
    result, where = _found(asking, "teams")
    if result is None:
        return f"Nothing is known of a new run: {_reason(asking, 'teams')}."
    if asking.by != "team":
        # as the question about a new run: runs of one team find the same, so that leaving out one says too little
        return "Nothing is known of a new run: no run has a team."
    begin = f"{where}no" if where else "No"
    return f"{begin} run of the field loses more than {losses(result, asking)} without its team."


def _new_type(asking: Asking) -> str:
    result, where = _found(asking, "types")
    if result is None:
        return f"Nothing is known of another kind of system: {_reason(asking, 'types')}."
    begin, types = f"{where}no" if where else "No", ", ".join(asking.runs.types)
    return f"{begin} run of the field loses more than {losses(result.uniques, asking)} without its type ({types})."


def top(asking: Asking) -> str:
    """Return how many runs may be the best."""
    result: Any = asking.found.get("ranks")
    if result is None:
        return f"Nothing is known of the ranks: {_reason(asking, 'ranks')}."
    row = result.summary().set_index("measure").loc[asking.main]
    if row["candidates"] == 1:
        return f"{result.table['name'].iloc[0]} is the best of {int(row['systems']):,} runs, on topics like these, too."
    of = f"{int(row['candidates']):,} of {count(int(row['systems']), 'run')}"
    return f"{of} may be the best: topics do not separate them."


def paragraph(name: str, asking: Asking) -> str:
    """Return the sentences with what they hold for, as a paper has them."""
    labels, runs, depth = asking.qrels.arrays.labels, asking.given_runs, asking.depth
    sizes = [count(len(asking.qrels.topics), "topic"), f"{len(labels):,} judgments"]
    if runs is not None:
        sizes.append(count(len(runs), "run") + (f" of {count(len(runs.teams), 'team')}" if runs.teams else ""))
    pool = ""
    if depth is not None:
        pool = f", pool depth {depth:,}"
        if runs is not None and runs.pool_is_on_record:
            n = int(runs.pooled.sum())
            pool = f", {'' if n == len(runs) else f'{n:,} of them '}pooled to depth {depth:,}"
            within = len(asking.qrels.restrict(depth_pool(runs, depth=depth)))
            pool += f", a pool that has {within:,} of the judgments" if within < len(labels) else ""
    resamples = f"; {asking.how['resamples']:,} resamples of the topics" if asking.how["resamples"] else ""
    conventions = f"Relevant: label of at least {asking.qrels.rel}{resamples}."
    limits = (
        "Leave-out-uniques takes out the relevant documents that a team alone put into the pool; it speaks of runs "
        "like the participants', not of other kinds of systems, nor of relevant documents that no run found."
    )
    return f"{name} has {', '.join(sizes)}{pool}. {' '.join(verdict(asking))} {limits} {conventions}"
