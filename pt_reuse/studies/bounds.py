"""bounds: what the unjudged documents of a field can do to scores, to ranks, and to each comparison of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import P
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.completions import AT_MOST, LARGEST, CompletionLists, Floats
from pt_reuse.arrays.correlation import CLOSE, rounded
from pt_reuse.arrays.kernels import Labels
from pt_reuse.arrays.pairs import ranks
from pt_reuse.arrays.rescore import Hits
from pt_reuse.arrays.significance import PairTests, check_test, pair_tests
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, count, examples, whole
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.options import CORRECTION, TESTS
from pt_reuse.plots.forests import plot_rank_intervals
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.fit import unjudged_tops, with_unjudged
from pt_reuse.result import Result
from pt_reuse.scoring.bounds import Bounds, has_bounds, may_be_relevant, not_reached, score_bounds
from pt_reuse.scoring.caveats import beware, few_topics, usual_measures
from pt_reuse.scoring.measures import spec_of
from pt_reuse.scoring.rescoring import Rescoring, base_scores
from pt_reuse.study import study


def _draw(result: UnjudgedBounds, measure: str, place: Place, top: int | None = None) -> Axes:
    rows = result.table[result.table["measure"] == measure]
    return plot_rank_intervals(rows, measure=measure, said="under every completion", noun="runs", top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnjudgedBounds(Result):
    """What the unjudged documents of a field can do to scores, to ranks, and to each comparison of two runs."""

    title = "Bounds"
    answer = (
        "summary",
        "{measure}: the order of {holds} of {pairs:pair} holds under every completion, {both} of them also differ "
        "significantly; a run's possible ranks span {mean_width} on average",
    )
    valid_for = (
        "every completion: {completions}; {exactness}; significant: {test}, p at most {alpha:g}, correction: "
        "{correction}."
    )
    not_covered = "which completions are likely, and what other topics would change."
    key = "holds significant both neither mean_width"
    plots = {"ranks": _draw}
    columns = """
    low         | Lowest      | score      | the lowest under any completion
    high        | Highest     | score      | the highest under any completion
    rank_low    | Best rank   | count      | 1 and the number of runs that are better under every completion
    rank_high   | Worst rank  | count      | 1 and the number of runs that are better under some completion
    first       | Better      |            | the better run as judged
    second      | Worse       |            | the other; pairs that tie as judged are left out
    p           | p           | p          | of the test over topics as judged, corrected
    holds       | Hold        | count      | whether the first is better under every completion, or how many pairs
    verdict     | Verdict     |            | "both", "holds only", "significant only" or "neither"
    both        | Both        | count      | pairs that hold and are significant
    neither     | Neither     | count      | pairs that do not hold and are not significant
    mean_width  | Ranks of a run | tenths  | the ranks that a run may have, the mean
    unjudged    | Unjudged    | count      | documents that may be relevant
    exact       | Exact       |            | whether the ends of each difference are reached; else they may be wider
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and run, the best first",
            "measure name* score* low* high* rank rank_low* rank_high*",
            caption="Scores by {measure} and ranks, and between which they are under every completion.",
            about="No single completion need reach an end of the ranks.",
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table("measure and pair", "measure first* second* difference* low* high* p holds significant verdict*"),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "measure",
            "measure* runs pairs* holds* significant* both* neither mean_width* unjudged exact",
            caption="Pairs of runs whose order holds under every completion, is significant, or both.",
        ),
    ]


@study(
    question="Which comparisons could unjudged documents reverse?",
    command="profile bounds",
    aim="ranks",
    summary="what unjudged documents can do to ranks and comparisons",
    details="Every unjudged document that some run has may have any label. Said of each run: between which scores "
    "and ranks it is; of each pair: whether its order holds under every completion, and is significant.",
    group="profile",
    papers="[M08]_",
    screen=("summary", "table"),
    measures=partial(usual_measures, binary=P @ 10),
    together=lambda given: check_test(given["test"], given["correction"]),
)
def bounds(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: Annotated[Any, options.PRECISION_AND_GAIN] = None,
    *,
    rel: options.Rel = None,
    further: Annotated[
        int,
        options.Option(
            "how many documents of each topic that no run has may have the highest label, too; they lower AP, nDCG and "
            "R, and no other measure.",
            check=lambda value: whole("further", value, "documents", least=0),
            flag=options.Flag(help="documents per topic that no run has and that may be relevant"),
        ),
    ] = 0,
    test: options.Test = "t",
    alpha: options.Alpha = 0.05,
    correction: options.Correction = CORRECTION,
    verbose: options.Verbose = False,
) -> UnjudgedBounds:
    """Compute between which scores and ranks runs are, whatever the labels of unjudged documents are.

    A *completion* gives every unjudged document that some run has, down to the cutoff of the measure, a label from 0 to
    the highest of the judgments, at least 1; `further` documents of each topic that no run has may have the highest,
    too. A document that two runs have helps both, so a difference has narrower ends than two scores. For P, Success,
    RR, R and RBP(rel=1) some completion reaches them; for AP and nDCG they may be wider. RBP counts the ranks below the
    n documents that it sees as documents of its own, p^n, as :func:`High` does. A run scores 0 on a topic that it
    lacks.

    Raises:
        InputError: a measure that is not AP, nDCG, P, R, RBP(rel=1), RR or Success, fewer than two runs, an unknown
            test or correction.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, depth=5)
        >>> found = ptr.profile.bounds(field.runs, field.qrels, ["P@5", "P@10"])
        >>> found.summary[["measure", "pairs", "holds", "significant", "both"]]
          measure  pairs  holds  significant  both
        0     P@5    149    130           78    75
        1    P@10    151      0           78     0

    Source: for RBP, Moffat and Zobel, TOIS 2008; bounds of a difference as in minimal test collections, Carterette,
    Allan and Sitaraman, SIGIR 2006. All are checked against every completion of small fields.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, usual=partial(usual_measures, binary=P @ 10))
    field, chosen = inputs.runs, inputs.measures
    # the worst Rprec does not fall with each relevant document elsewhere
    if odd := [repr(m) for m in chosen if not has_bounds(m) or spec_of(m).kernel == "rprec"]:
        known = "AP, nDCG, P, R, RBP(rel=1), RR and Success"
        raise InputError(f"no bounds are known of {examples(odd)}; they are of {known}.", argument="measures")
    if len(field) < 2:
        raise InputError(f"it takes two runs to compare, got {examples(field.names) or 'none'}.", argument="runs")
    beware(few_topics(len(inputs.qrels.topics)))
    work = Completions(field, inputs.qrels, chosen, further)
    others, unjudged = work.others()
    ends = score_bounds(field, work.base, chosen, others=dict(zip(chosen, others, strict=True)))
    largest = work.largest(ends, verbose=verbose)
    tables, pairs, summary = [], [], []
    for m, measure in enumerate(chosen):
        tests = pair_tests(work.scores[m], test)
        tests = replace(tests, p=tests.corrected(correction))
        score, low, high = (values.mean(axis=0) for values in (work.scores[m], ends.low[m], ends.high[m]))
        runs_of = _ranked(field.names, score, low, high, largest[m])
        compared = _pairs(np.array(field.names, dtype=object), tests, largest[m], alpha)
        tables.append(runs_of.assign(measure=repr(measure)))
        pairs.append(compared.assign(measure=repr(measure)))
        verdicts = compared["verdict"].value_counts()
        summary.append(
            {
                "measure": repr(measure),
                "runs": len(field),
                "pairs": len(compared),
                **{name: int(compared[name].sum()) for name in ("holds", "significant")},
                **{verdict: int(verdicts.get(verdict, 0)) for verdict in ("both", "neither")},
                "mean_width": float((runs_of["rank_high"] - runs_of["rank_low"] + 1).mean()),
                "unjudged": unjudged[m],
                "exact": work.specs[m].kernel in LARGEST or not work.reached[m],
            }
        )
    more = f", and {count(further, 'document')} per topic that no run has may have the highest" if further else ""
    rbp = any(of.NAME == "RBP" for of, may_be in zip(chosen, work.reached, strict=True) if may_be)
    below = "; RBP adds p^n for the ranks below n documents" if rbp else ""
    wider = ", ".join(row["measure"] for row in summary if not row["exact"])
    settings = settings_of(
        inputs,
        completions=f"any label from 0 to {work.highest} for every unjudged document that some run has down to the "
        f"cutoff{more}{below}{not_reached(chosen, work.highest)}",
        exactness=f"differences by {wider} may have narrower ends"
        if wider
        else "both ends of a difference are attainable",
        test=f"{TESTS[test]}, two-sided",
        alpha=alpha,
        correction=correction if test != "tukey" else "by the test itself",
    )
    table, compared = (pd.concat(frames, ignore_index=True) for frames in (tables, pairs))
    return UnjudgedBounds(
        table=table[["measure", *table.columns[:-1]]],
        pairs=compared[["measure", *compared.columns[:-1]]],
        summary=pd.DataFrame(summary),
        settings=settings,
    )


class Completions:
    """A field whose unjudged documents, down to the cutoffs of measures, may have any labels; `base` has them."""

    def __init__(self, runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], further: int = 0):
        self.n_runs, self.specs, self.further = len(runs), [spec_of(measure) for measure in measures], further
        longest = max(1, int(runs.field.lengths.max(initial=0)))
        self._depths = [spec.cutoff or longest for spec in self.specs]
        self.base = with_unjudged(qrels, unjudged_tops(runs, qrels, max(self._depths)))
        #: the highest label that an unjudged document may have
        self.highest = max(self.base.arrays.highest, 1)
        self.reached = [may_be_relevant(measure, self.highest) for measure in measures]
        self.scores = base_scores(runs, self.base, measures)
        self._work = Rescoring(runs.field, runs.names, self.base, measures)

    def topics(self) -> Iterator[tuple[int, Hits, Labels]]:
        for topic in range(len(self.base.topics)):
            alone = range(topic, topic + 1)
            yield topic, self._work.index.gather(alone), self._work.judgments.of(alone).labels

    def others(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (measures, topics, runs) unjudged documents that lists lack, and (measures,) how many may matter."""
        others = np.zeros((len(self.specs), len(self.base.topics), self.n_runs), dtype=np.int64)
        total = np.zeros(len(self.specs), dtype=np.int64)
        for topic, hits, labels in self.topics():
            unjudged = labels[hits.row] < 0
            for m, depth in enumerate(self._depths):
                seen = unjudged & (hits.rank <= depth)
                n = len(np.unique(hits.row[seen]))
                others[m, topic] = n - np.bincount(hits.of[seen], minlength=self.n_runs) + self.further
                total[m] += n
        return others, total * self.reached

    def largest(self, ends: Bounds, *, verbose: bool) -> Floats:
        """Return (measures, runs, runs): the largest mean difference of the first and the second over completions."""
        n_topics = len(self.base.topics)
        sums = np.zeros((len(self.specs), self.n_runs, self.n_runs))
        topics = pt.tqdm(self.topics(), total=n_topics, desc="bounds", unit="topic", disable=not verbose)
        for topic, hits, labels in topics:
            for m, spec in enumerate(self.specs):
                lists = self.lists(m, topic, hits, labels)
                if not self.reached[m]:
                    sums[m] += lists.score[:, None] - lists.score
                elif spec.kernel in LARGEST:
                    sums[m] += LARGEST[spec.kernel](lists, spec)
                else:
                    apart = ends.high[m, topic][:, None] - ends.low[m, topic]
                    sums[m] += np.minimum(AT_MOST[spec.kernel](lists, spec), apart)
        return sums / max(1, n_topics)

    def lists(self, m: int, topic: int, hits: Hits, labels: Labels) -> CompletionLists:
        """Return the lists of all runs on a topic, down to the cutoff of a measure."""
        spec, n_runs = self.specs[m], self.n_runs
        top = hits.top(spec.cutoff)
        label = labels[top.row]
        relevant, unjudged = label >= spec.rel, label < 0
        # hits stand list by list, in the order of the ranks
        rows, column = np.unique(top.row[unjudged], return_inverse=True)
        ranks = np.zeros((n_runs, len(rows)), dtype=np.int32)
        ranks[top.of[unjudged], column] = top.rank[unjudged]
        return CompletionLists(
            ranks=ranks,
            score=self.scores[m, topic],
            relevant=np.split(top.rank[relevant], np.cumsum(np.bincount(top.of[relevant], minlength=n_runs))[:-1]),
            length=top.lengths if spec.cutoff is None else np.minimum(top.lengths, spec.cutoff),
            labels=labels,
            highest=self.highest,
            n_relevant=int((labels >= spec.rel).sum()),
            further=self.further,
        )


def _ranked(names: list[str], score: Floats, low: Floats, high: Floats, largest: Floats) -> pd.DataFrame:
    exact = rounded(score)
    # the first is better under every completion where the second is nowhere ahead
    better, may_be = largest.T < -CLOSE, largest > CLOSE
    np.fill_diagonal(may_be, False)
    places = {"rank": ranks(exact), "rank_low": 1 + better.sum(axis=0), "rank_high": 1 + may_be.sum(axis=0)}
    table = pd.DataFrame({"name": names, "score": score, "low": low, "high": high, **places})
    return table.iloc[np.argsort(-exact, kind="stable")]


def _pairs(names: NDArray[np.object_], tests: PairTests, largest: Floats, alpha: float) -> pd.DataFrame:
    turned, significant = tests.difference < 0, tests.significant(alpha)
    first, second = np.where(turned, (tests.second, tests.first), (tests.first, tests.second))
    difference, low = np.abs(tests.difference), -largest[second, first]
    holds = low > CLOSE
    columns = {
        "first": names[first],
        "second": names[second],
        "difference": difference,
        # sums of the same numbers in another order differ in the last bit
        "low": np.minimum(low, difference) + 0.0,
        "high": np.maximum(largest[first, second], difference),
        "p": tests.p,
        "holds": holds,
        "significant": significant,
        "verdict": np.select(
            [holds & significant, holds, significant], ["both", "holds only", "significant only"], "neither"
        ),
    }
    return pd.DataFrame(columns)[rounded(difference) > 0]
