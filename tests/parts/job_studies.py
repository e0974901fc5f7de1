"""Every study that is cut into jobs, on a small field: its numbers must not depend on who does them."""

from __future__ import annotations

from functools import cache

import pandas as pd
from relevant_parts import Near

import pt_reuse as ptr
from pt_reuse.judge import Oracle
from pt_reuse.studies.by_type import by_type


@cache
def small():
    """Return a simulated field."""
    return ptr.demo.simulate_field(seed=6, n_topics=8, n_docs=120, n_teams=4, length=50, depth=10)


def _source(docno):
    return "xyz"[int(docno[-1]) % 3]


def _scores():
    return ptr.score(small().runs, small().qrels, ["AP", "P@5"])


def _dynamic(**options):
    field = small()
    topics = pd.DataFrame({"qid": field.runs.topics, "query": "q"})
    docnos = sorted({row.docno for row in field.all_qrels.to_frame().itertuples()})
    known = Oracle(field.all_qrels, unknown="not relevant")
    given = {"depth": 3, "judge": known, "seed": 2, **options}
    return ptr.pools.leave_out_dynamic(field.runs, field.qrels, ["AP"], Near(docnos), topics, **given)


#: name -> what computes it, given ``n_jobs=``
STUDIES = {
    "stability": lambda **o: ptr.profile.stability(_scores(), sizes=[2, 4], pairs=50, resamples=20, **o),
    "discriminative_power": lambda **o: ptr.profile.discriminative_power(
        _scores(), test="randomisation", samples=50, correction="none", **o
    ),
    "compare_strategies": lambda **o: ptr.pools.compare_strategies(
        small().runs, small().qrels, budgets=[5], measures="AP", depth=5, repeats=2, leave_out="team", **o
    ),
    "leave_out_dynamic": _dynamic,
    "by_type": lambda **o: by_type(
        small().runs, small().qrels, ["AP"], unit="run", splits=4, depth=2, contributors="all", **o
    ),
    "subcollections": lambda **o: ptr.profile.subcollections(
        small().runs, small().qrels, ["AP"], sources=_source, how="random", repeats=2, resamples=5, seed=4, **o
    ),
}


@cache
def study_alone(name):
    """Return what a study finds in this process."""
    return STUDIES[name](n_jobs=1)
