"""Whether runs fit judgments: topics, documents, the direction of scores, and equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._report import Digits
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.result import Result, Shown, View
from pt_reuse.scoring.caveats import noted, relevant_only, tell, usual_measures, warn_of_lower_grades
from pt_reuse.scoring.measures import cutoff_of
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.scoring.run_fit import WIDE, RunFit, judged_documents, over_tied_orders, tied_shares
from pt_reuse.scoring.scores import mean_over_topics, provided_measures
from pt_reuse.study import Entry, study, study_of

#: column of the table -> what is said of runs that have something there
_SAID = {
    "topics": "topics of the judgments are missing",
    "documents": "no document is judged",
    "distances": "scores rise with the rank",
    "ties": "the order of equal scores matters",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunCheck(Result):
    """How the runs of a field fit judgments.

    Attributes:
        table: a row per run: ``name``; ``topics`` of the judgments that it has, ``lacking`` those that it lacks (they
            count 0), ``unknown`` topics that the judgments lack; ``documents`` on its judged topics, ``judged`` how
            many of these have a judgment; ``lists`` of two documents and more, and of these ``constant``, where all
            scores are equal, and ``rising``, where scores rise with the rank (or, without ranks, with the row);
            ``misfit``, what of this changes its scores: any of ``topics``, ``documents``, ``distances`` and ``ties``,
            with commas between them, empty where nothing does.
        ties: a row per run and measure: ``name measure``; ``tied``, the share of documents down to the cutoff that have
            the score of the next; ``score``; ``low mean high``, the lowest, mean and highest score over all orders of
            documents with equal scores, each as likely; <NA> for measures that are computed by ir_measures.
    """

    ties: pd.DataFrame

    title = "Runs and judgments"
    condition = (
        "For: these runs and judgments, documents ranked in the order {order}; a topic that a run lacks counts 0."
    )
    limit = "Not covered: whether enough of what the runs retrieve is judged; see unjudged shares and check_new_run."
    views = {
        "runs": View(
            columns=(
                Shown("Run", "name"),
                Shown("Topics", "topics", Digits.COUNT),
                Shown("Topics it lacks", "lacking", Digits.COUNT),
                Shown("Judged documents", "judged", Digits.COUNT),
                Shown("Rising lists", "rising", Digits.COUNT),
                Shown("What does not fit", "misfit"),
            ),
            caption="How runs fit the judgments.",
            noun="runs",
        ),
        "ties": View(
            table="ties",
            columns=(
                Shown("Run", "name"),
                Shown("Tied", "tied", Digits.SCORE),
                Shown("{measure}", "score", Digits.SCORE),
                Shown("Lowest", "low", Digits.SCORE),
                Shown("Mean", "mean", Digits.SCORE),
                Shown("Highest", "high", Digits.SCORE),
            ),
            caption="{measure} over all orders of documents with equal scores.",
            noun="runs",
        ),
    }

    def headline(self) -> str:
        """Return how many runs do not fit, and why."""
        misfits = self.table["misfit"].str.split(",")
        found = {why: int(misfits.map(lambda words, why=why: why in words).sum()) for why in _SAID}
        n = int((self.table["misfit"] != "").sum())
        if not n:
            return f"{count(len(self.table), 'run')}: nothing that changes scores was found"
        parts = [f"{said} ({count(found[why], 'run')})" for why, said in _SAID.items() if found[why]]
        return f"{n:,} of {count(len(self.table), 'run')} {'does' if n == 1 else 'do'} not fit: {'; '.join(parts)}"

    def _answers(self) -> list[str]:
        return ["misfit", "lacking", "judged"]

    def _rest(self) -> str:
        return "runs in .table"


@study(entry=Entry(question="Do the runs fit the judgments?", page="runs", command="runs"))
def check_runs(runs: Any, qrels: Any, measures: Any = None) -> RunCheck:
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
    asked = study_of(check_runs).checked(locals())
    field, judged = as_runs_before(asked["runs"], asked["qrels"])
    judgments = as_qrels(judged)
    tell(caveats := list(relevant_only(judgments)))
    chosen = usual_measures(judgments.rel) if asked["measures"] is None else asked["measures"]
    warn_of_lower_grades(chosen, judgments.rel)
    fit, ties = RunFit.of(field, judgments), _ties(field, judgments, chosen)
    documents, with_judgment = judged_documents(field, judgments)
    misfits = {
        "topics": fit.lacking > 0,
        "documents": (documents > 0) & (with_judgment == 0),
        "distances": fit.turned_round,
        "ties": ((ties["high"] - ties["low"]).to_numpy(dtype=float, na_value=0.0) > WIDE)
        .reshape(len(field), len(chosen))
        .any(axis=1),
    }
    table = pd.DataFrame(
        {
            "name": field.names,
            "topics": fit.topics,
            "lacking": fit.lacking,
            "unknown": fit.unknown,
            "documents": documents,
            "judged": with_judgment,
            "lists": fit.lists,
            "constant": fit.constant,
            "rising": fit.rising,
            "misfit": [",".join(why for why, of in misfits.items() if of[r]) for r in range(len(field))],
        }
    )
    provided = provided_measures(chosen)
    settings = {"judgments": repr(judgments), **field.settings, "complete": True}
    settings |= {"by ir_measures": provided} if provided else {}
    return RunCheck(table=table, ties=ties, settings={**settings, **noted(caveats)})


def _ties(runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure]) -> pd.DataFrame:
    values = base_scores(runs, qrels, measures)
    found = over_tied_orders(runs, qrels, measures, values, complete=True)
    shares = tied_shares(runs, qrels, [cutoff_of(measure) for measure in measures])

    def by_run(of: NDArray[np.float64]) -> NDArray[np.float64]:
        return of.T.ravel()

    ends = {name: by_run(getattr(found, name)) for name in ("low", "mean", "high")}
    return pd.DataFrame(
        {
            "name": np.repeat(np.array(runs.names, dtype=object), len(measures)),
            "measure": np.tile(np.array([repr(measure) for measure in measures], dtype=object), len(runs)),
            "tied": by_run(shares),
            "score": by_run(mean_over_topics(values, None)),
            **ends,
        }
    )
