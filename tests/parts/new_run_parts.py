"""A small field of which the last team came later, and judgments without and with what it brought."""

from __future__ import annotations

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=12, n_docs=600, n_teams=14, length=40)
NEW = FIELD.runs.select(team=FIELD.runs.select(pooled=True).teams[-1], pooled=True)
#: the first of its runs alone
ONE = NEW.select(names=NEW.names[:1])
OTHERS = FIELD.runs.select(names=[name for name in FIELD.runs.names if name not in NEW.names])
KNOWN = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS, depth=10))
#: judged had the new runs been pooled, too
WHOLE = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS | NEW, depth=10))
