"""check_runs: whether runs fit judgments: topics, documents, the direction of scores, and equal scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse.columns import Table
from pt_reuse.data.run_set import as_runs_before
from pt_reuse.errors import count
from pt_reuse.inputs import read_judgments
from pt_reuse.result import Result
from pt_reuse.scoring import caveats
from pt_reuse.scoring.measures import cutoff_of
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.scoring.scores import mean_over_topics, provided_measures
from pt_reuse.study import study

#: what does not fit -> what is said of runs of which that is so
_MISFITS = {
    "topics": "topics of the judgments are missing",
    "documents": "no document is judged",
    "distances": "scores rise with the rank",
    "ties": "the order of equal scores matters",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunCheck(Result):
    """How the runs of a field fit judgments."""

    title = "Runs and judgments"
    valid_for = "these runs and judgments, documents ranked in the order {order}; a topic that a run lacks counts 0."
    not_covered = "whether enough of what the runs retrieve is judged; see unjudged shares and check_new_run."
    columns = """
    topics    | Topics           | count | topics of the judgments that it has
    lacking   | Topics it lacks  | count | those that it lacks; they count 0
    unknown   | Other topics     | count | topics that the judgments lack
    documents | Documents        | count | documents on its judged topics
    judged    | Judged documents | count | how many of these have a judgment
    lists     | Lists            | count | lists of two documents and more
    constant  | Constant lists   | count | of these, lists in which all scores are equal
    rising    | Rising lists     | count | of these, lists whose scores rise with the rank, or the row without ranks
    misfit    | What does not fit |      | what changes its scores: ``topics``, ``documents``, ``distances``, ``ties``
    tied      | Tied             | score | share of documents down to the cutoff that have the score of the next
    low       | Lowest           | score | the lowest over all orders of equal scores; <NA> for measures of ir_measures
    mean      | Mean             | score | the mean over them, each as likely
    high      | Highest          | score | the highest
    """

    table: Annotated[
        pd.DataFrame,
        Table("run", "name* topics* lacking* unknown documents judged* lists constant rising* misfit*", noun="runs"),
    ]
    ties: Annotated[
        pd.DataFrame,
        Table("run and measure", "name* measure tied* score* low* mean* high*", noun="runs"),
    ]

    def answers(self) -> list[str]:
        reasons = [reason for text in self.table["misfit"] for reason in text.split(",")]
        parts = [f"{words} ({count(n, 'run')})" for why, words in _MISFITS.items() if (n := reasons.count(why))]
        n, of = int((self.table["misfit"] != "").sum()), count(len(self.table), "run")
        return [f"{n:,} of {of} {'does' if n == 1 else 'do'} not fit: {'; '.join(parts)}" if n else f"All {of} fit"]


@study(question="Do the runs fit the judgments?", aim="new run", page="runs", command="runs")
def check_runs(runs: options.Runs, qrels: options.Judgments, measures: options.Measures = None) -> RunCheck:
    """Check whether runs fit judgments: topics and docnos, the direction of scores, and what equal scores change.

    :func:`score`, :func:`Experiment` and the studies warn of what changes scores; this tells all of it, run by run. A
    run fits where it has every topic of the judgments and some judged document, where its scores fall with the rank,
    and where no order of documents with equal scores makes a mean more than .1 higher than another order does.

    Returns:
        RunCheck: ``.table`` (per run), ``.ties`` (per run and measure).

    Raises:
        InputError: an unknown measure.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> run = pd.DataFrame({"qid": "1", "docno": ["p", "a", "z"], "score": [0.5, 0.5, 0.5]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["p", "a", "z"], "label": [1, 0, 0]})
        >>> found = ptr.check_runs({"A": run}, qrels, "RR")
        >>> found.table[["name", "lacking", "judged", "constant", "misfit"]]
          name  lacking  judged  constant misfit
        0    A        0       3         1   ties
        >>> found.ties.round(4)
          name measure  tied  score     low    mean  high
        0    A      RR   1.0    0.5  0.3333  0.6111   1.0

    Source: McSherry and Najork 2008, Computing information retrieval performance measures efficiently in the presence
    of tied scores, ECIR (the mean over all orders).
    """
    field, given = as_runs_before(runs, qrels)
    people = read_judgments(given)
    chosen = caveats.usual_measures(people.rel) if measures is None else measures
    caveats.warn_of_lower_grades(chosen, people.rel)
    values, n_measures = base_scores(field, people, chosen), len(chosen)
    orders = caveats.over_tied_orders(field, people, chosen, values, complete=True)
    ties = pd.DataFrame(
        {
            "name": np.repeat(field.names, n_measures),
            "measure": [repr(measure) for measure in chosen] * len(field),
            "tied": caveats.tied_shares(field, people, [cutoff_of(measure) for measure in chosen]).T.ravel(),
            "score": mean_over_topics(values, None).T.ravel(),
            **{name: getattr(orders, name).T.ravel() for name in ("low", "mean", "high")},
        }
    )
    fit = caveats.RunFit.of(field, people)
    documents, judged = caveats.judged_documents(field, people)
    wide = (ties["high"] - ties["low"]).to_numpy(dtype=float, na_value=0.0) > caveats.WIDE
    misfits = {
        "topics": fit.lacking > 0,
        "documents": (documents > 0) & (judged == 0),
        "distances": fit.turned_round,
        "ties": wide.reshape(len(field), n_measures).any(axis=1),
    }
    about = {name: getattr(fit, name) for name in ("topics", "lacking", "unknown")}
    table = pd.DataFrame(
        {"name": field.names, **about, "documents": documents, "judged": judged}
        | {name: getattr(fit, name) for name in ("lists", "constant", "rising")}
        | {"misfit": [",".join(why for why, of in misfits.items() if of[run]) for run in range(len(field))]}
    )
    provided = provided_measures(chosen)
    settings = {"judgments": repr(people), **field.settings, "complete": True}
    settings |= {"by ir_measures": provided} if provided else {}
    return RunCheck(table=table, ties=ties, settings=settings)
