"""bounds: what the unjudged documents of a field can do to scores, to ranks, and to each comparison of two runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import P
from numpy.typing import NDArray

from pt_reuse._check import count, examples, whole
from pt_reuse._choices import CORRECTION, SAMPLES, TESTS
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.kernels import Spec
from pt_reuse.arrays.pair_bounds import AT_MOST, LARGEST, Floats, TopicLists
from pt_reuse.arrays.pairs import ranks
from pt_reuse.arrays.rescore import Hits
from pt_reuse.arrays.significance import RANDOM, PairTests, check_test, pair_tests
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError
from pt_reuse.options import PRECISION_AND_GAIN, Flag, Parameter
from pt_reuse.plots.forests import plot_rank_intervals
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.bounds import Bounds, has_bounds, may_be_relevant, not_reached, score_bounds
from pt_reuse.scoring.caveats import few_topics, usual_measures
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import Rescoring, base_scores
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.filled_uniques import with_unjudged
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: what becomes of a comparison: whether it holds under every completion, and whether it is significant
VERDICTS = ("both", "holds only", "significant only", "neither")


def _draw(result: UnjudgedBounds, measure: str, place: Place, top: int | None = None) -> Axes:
    """Draw the rank of each run as a point, and the ranks that it may have under any completion as a line."""
    rows = result.table[result.table["measure"] == measure]
    return plot_rank_intervals(rows, measure=measure, said="under every completion", noun="runs", top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnjudgedBounds(Result):
    """What the unjudged documents of a field can do to scores, to ranks, and to each comparison of two runs.

    Its figure has a point at the rank of each run and a line over the ranks that it may have, the best run on top.

    Attributes:
        table: one row per measure and run, the best first: ``measure name score low high``, the score as judged and the
            lowest and the highest under any completion; ``rank rank_low rank_high``, the rank, 1 and the number of runs
            that are better under every completion, 1 and the number of those that are better under some. No single
            completion need reach an end of the ranks.
        pairs: one row per measure and pair: ``measure first second``, the better one as judged first; ``difference``,
            ``low`` and ``high``, its ends over all completions; ``p`` of the test over topics as judged, corrected;
            ``holds``, whether the first one is better under every completion, ``significant``, and ``verdict``:
            ``"both"``, ``"holds only"``, ``"significant only"`` or ``"neither"``. Pairs that tie as judged are left
            out.
        summary: one row per measure: ``measure runs pairs holds significant both neither``, counts of pairs;
            ``mean_width``, the ranks that a run may have; ``unjudged``, the documents that may be relevant; ``exact``,
            whether some completion reaches the ends of each difference, or they may be wider than that.
    """

    title = "Bounds"
    condition = (
        "It holds for every completion: {completions}; {exactness}; significant: {test}, p at most {alpha:g}, "
        "correction: {correction}."
    )
    limit = "It does not say which of the completions are likely, nor what other topics would change."
    views = {
        "measure": View(
            table="summary",
            columns=(
                Shown("Measure", "measure"),
                Shown("Pairs", "pairs", Digits.COUNT),
                Shown("Hold", "holds", Digits.COUNT),
                Shown("Significant", "significant", Digits.COUNT),
                Shown("Both", "both", Digits.COUNT),
                Shown("Ranks of a run", "mean_width", Digits.RANKS),
            ),
            caption="Pairs of runs whose order holds under every completion, is significant, or both; and how many "
            "ranks a run may have on average.",
            noun="measures",
        ),
        "run": View(
            columns=(
                Shown("Run", "name"),
                Shown("Score", "score", Digits.SCORE),
                Shown("Lowest", "low", Digits.SCORE),
                Shown("Highest", "high", Digits.SCORE),
                Shown("Best rank", "rank_low", Digits.COUNT),
                Shown("Worst rank", "rank_high", Digits.COUNT),
            ),
            caption="Scores by {measure} and ranks, and between which they are under every completion.",
            noun="runs",
        ),
    }
    plots = {"ranks": _draw}
    key = (KeyFigures(("holds", "significant", "both", "neither", "mean_width"), "summary"),)
    answer = (
        "summary",
        "{measure}: the order of {holds:,} of {pairs:pair} holds under every completion, {both:,} of them also differ "
        "significantly; a run may have {mean_width:.1f} ranks on average",
    )

    pairs: pd.DataFrame
    summary: pd.DataFrame


@study(
    PRECISION_AND_GAIN,
    Parameter(
        name="further",
        meaning="how many documents of each topic that no run has may have the highest label, too; they lower AP, nDCG "
        "and R, and no other measure.",
        check=lambda value: whole("further", value, "documents", least=0),
        flag=Flag(help="documents per topic that no run has and that may be relevant"),
    ),
    command=Command(
        name="profile bounds",
        summary="what unjudged documents can do to ranks and comparisons",
        details="Every unjudged document that some run has may have any label. Said of each run: between which scores "
        "and ranks it is; of each pair: whether its order holds under every completion, and is significant.",
        screen=("measure", "run"),
    ),
    measures=partial(usual_measures, binary=P @ 10),
    entry=Entry(question="Which comparisons could unjudged documents reverse?", group="profile", papers="[M08]_"),
)
def bounds(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    rel: int | None = None,
    further: int = 0,
    test: str = "t",
    alpha: float = 0.05,
    correction: str = CORRECTION,
    samples: int = SAMPLES,
    seed: int = 0,
    verbose: bool = False,
) -> UnjudgedBounds:
    """Compute between which scores and ranks runs are, whatever the labels of unjudged documents are.

    A *completion* gives every unjudged document that some run has, down to the cutoff of the measure, a label from 0 to
    the highest of the judgments, at least 1 (also where the judgments are a part of others, by ``Qrels.select``);
    `further` documents of each topic that no run has may have the highest, too. Where no such label is relevant to a
    measure, P(rel=3)@10 on labels up to 2, the bounds are the score. A document that two runs have helps both, so a
    difference has narrower ends than two scores. For P, Success, RR, R and RBP(rel=1) some completion reaches them. For
    AP and nDCG they may be wider: both scores have one divisor, and one of them is taken to gain nothing.
    RBP counts the ranks below the n documents that it sees as documents of its own, p^n, as :func:`High` does. A run
    scores 0 on a topic that it lacks.

    Returns:
        UnjudgedBounds: ``.table`` (per measure and run), ``.pairs``, ``.summary``, ``.plot(measure)``.

    Raises:
        InputError: a measure that is not AP, nDCG, P, R, RBP(rel=1), RR or Success, fewer than two runs, an unknown
            test or correction.

    Warns:
        CaveatWarning: fewer than five topics; with one there is no test, and no pair is significant; judgments of
            relevant documents only.

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
    asked = Asked(bounds, locals())
    check_test(test, correction)
    runs, qrels, measures = asked.runs, asked.qrels, asked.measures
    unknown = [repr(measure) for measure in measures if not _is_known(measure)]
    if unknown:
        said = f"no bounds are known of {examples(unknown)}; they are of AP, nDCG, P, R, RBP(rel=1), RR and Success."
        raise InputError(said, argument="measures")
    if len(runs) < 2:
        raise InputError(f"it takes two runs to compare, got {examples(runs.names) or 'none'}.", argument="runs")
    asked.tell(few_topics(len(qrels.topics)))
    work = _Completions.of(runs, qrels, measures, further)
    found = score_bounds(runs, work.base, measures, others=work.others)
    largest = work.largest(found, verbose=verbose)
    reached = [measure for measure in measures if may_be_relevant(measure, work.highest)]
    tables, pairs, summary = [], [], []
    for m, measure in enumerate(measures):
        values = work.scores[m]
        tests = pair_tests(values, test, samples=samples, seed=seed)
        tests = replace(tests, p=tests.corrected(correction))
        apart = largest[m]
        tables.append(_table(repr(measure), runs.names, values, found, m, apart))
        pairs.append(_pairs(repr(measure), runs.names, tests, apart, tests.significant(alpha)))
        exact = _spec(measure).kernel in LARGEST or measure not in reached
        summary.append(_summed(repr(measure), tables[-1], pairs[-1], work.n_unjudged[m], exact))
    wider = [repr(measure) for measure in reached if _spec(measure).kernel not in LARGEST]
    more = f", and {count(further, 'document')} per topic that no run has may have the highest" if further else ""
    below = "; RBP adds p^n for the ranks below n documents" if any(m.NAME == "RBP" for m in reached) else ""
    ends = "some completion reaches each end of a difference"
    settings = {
        "completions": f"any label from 0 to {work.highest} for every unjudged document that some run has down to "
        f"the cutoff{more}{below}{not_reached(measures, work.highest)}",
        "exactness": f"differences by {', '.join(wider)} may have narrower ends" if wider else ends,
        "test": f"{TESTS[test]}, two-sided",
        "alpha": alpha,
        "correction": correction if test != "tukey" else "by the test itself",
        **({"samples": samples, "seed": seed} if test in RANDOM else {}),
    }
    return UnjudgedBounds(
        table=pd.concat(tables, ignore_index=True),
        pairs=pd.concat(pairs, ignore_index=True),
        summary=pd.DataFrame(summary),
        settings=asked.settings(**settings, **runs.settings),
    )


def _spec(measure: ir_measures.Measure) -> Spec:
    spec = native_spec(measure)
    if spec is None:
        raise TypeError(f"{measure!r} has no kernel")
    return spec


def _is_known(measure: ir_measures.Measure) -> bool:
    # the worst Rprec does not fall with each relevant document elsewhere
    return has_bounds(measure) and _spec(measure).kernel != "rprec"


@dataclass(frozen=True)
class _Completions:
    """A field with its unjudged documents among the judgments `base`, and how many of them each list lacks."""

    runs: RunSet
    base: Qrels
    work: Rescoring
    measures: list[ir_measures.Measure]
    further: int
    scores: Floats  # (measures, topics, runs)
    others: dict[ir_measures.Measure, NDArray[np.int64]]  # (topics, runs) each
    n_unjudged: list[int]  # of each measure

    @classmethod
    def of(cls, runs: RunSet, qrels: Qrels, measures: list[ir_measures.Measure], further: int) -> _Completions:
        longest = max(1, int(runs.field.lengths.max(initial=0)))
        depths = [_spec(measure).cutoff or longest for measure in measures]
        pool = pool_to_depth(runs, max(depths), contributors_of(runs, "all")).remainder(qrels)
        pool = pool.take(np.flatnonzero(np.isin(pool.documents.qids(), qrels.topics)))
        base = with_unjudged(qrels, pool.to_frame()[["qid", "docno"]])
        reached = [may_be_relevant(measure, max(base.arrays.highest, 1)) for measure in measures]
        n_topics = len(base.topics)
        work = Rescoring(runs.field, runs.names, base, measures)
        others = [np.zeros((n_topics, len(runs)), dtype=np.int64) for _ in measures]
        total = [0] * len(measures)
        for topic in range(n_topics):
            hits, labels = work.index.gather(range(topic, topic + 1)), work.judgments.of(range(topic, topic + 1)).labels
            unjudged = labels[hits.row] < 0
            for m, depth in enumerate(depths):
                seen = unjudged & (hits.rank <= depth)
                here = len(np.unique(hits.row[seen]))
                others[m][topic] = here - np.bincount(hits.of[seen], minlength=len(runs)) + further
                total[m] += here if reached[m] else 0
        scores = base_scores(runs, base, measures)
        return cls(runs, base, work, measures, further, scores, dict(zip(measures, others, strict=True)), total)

    @property
    def highest(self) -> int:
        """Return the highest label that an unjudged document may have."""
        return max(self.base.arrays.highest, 1)

    def largest(self, found: Bounds, *, verbose: bool) -> Floats:
        """Return (measures, runs, runs): the largest mean difference of the first and the second over completions."""
        n_runs, n_topics = len(self.runs), len(self.base.topics)
        sums = np.zeros((len(self.measures), n_runs, n_runs))
        work = self.work
        for topic in pt.tqdm(range(n_topics), desc="bounds", unit="topic", disable=not verbose):
            hits, labels = work.index.gather(range(topic, topic + 1)), work.judgments.of(range(topic, topic + 1)).labels
            for m, measure in enumerate(self.measures):
                spec, score = _spec(measure), self.scores[m, topic]
                if not may_be_relevant(measure, self.highest):
                    sums[m] += score[:, None] - score
                elif spec.kernel in LARGEST:
                    sums[m] += LARGEST[spec.kernel](self._lists(hits, labels, spec, score), spec)
                else:
                    apart = found.high[m, topic][:, None] - found.low[m, topic]
                    sums[m] += np.minimum(AT_MOST[spec.kernel](self._lists(hits, labels, spec, score), spec), apart)
        return sums / max(1, n_topics)

    def _lists(self, hits: Hits, labels: NDArray[np.int16], spec: Spec, score: Floats) -> TopicLists:
        top, n_runs = hits.top(spec.cutoff), len(self.runs)
        label = labels[top.row]
        relevant, unjudged = label >= spec.rel, label < 0
        # hits stand list by list, in the order of the ranks
        rows, column = np.unique(top.row[unjudged], return_inverse=True)
        ranks = np.zeros((n_runs, len(rows)), dtype=np.int32)
        ranks[top.of[unjudged], column] = top.rank[unjudged]
        length = top.lengths if spec.cutoff is None else np.minimum(top.lengths, spec.cutoff)
        return TopicLists(
            ranks=ranks,
            score=score,
            relevant=np.split(top.rank[relevant], np.cumsum(np.bincount(top.of[relevant], minlength=n_runs))[:-1]),
            length=length,
            labels=labels,
            highest=self.highest,
            n_relevant=int((labels >= spec.rel).sum()),
            further=self.further,
        )


def _table(measure: str, names: list[str], values: Floats, found: Bounds, m: int, largest: Floats) -> pd.DataFrame:
    score = values.mean(axis=0)
    exact = rounded(score)
    # the first is better under every completion where the second is nowhere ahead
    better, may_be = largest.T < -(10.0**-DECIMALS), largest > 10.0**-DECIMALS
    np.fill_diagonal(may_be, False)
    frame = pd.DataFrame(
        {
            "measure": measure,
            "name": names,
            "score": score,
            "low": found.low[m].mean(axis=0),
            "high": found.high[m].mean(axis=0),
            "rank": ranks(exact),
            "rank_low": 1 + better.sum(axis=0),
            "rank_high": 1 + may_be.sum(axis=0),
        }
    )
    return frame.iloc[np.argsort(-exact, kind="stable")]


def _pairs(
    measure: str, names: list[str], tests: PairTests, largest: Floats, significant: NDArray[np.bool_]
) -> pd.DataFrame:
    turned = tests.difference < 0
    first, second = np.where(turned, (tests.second, tests.first), (tests.first, tests.second))
    name, difference = np.array(names, dtype=object), np.abs(tests.difference)
    low, high = -largest[second, first], largest[first, second]
    holds = low > 10.0**-DECIMALS
    frame = pd.DataFrame(
        {
            "measure": measure,
            "first": name[first],
            "second": name[second],
            "difference": difference,
            # sums of the same numbers in another order differ in the last bit
            "low": np.minimum(low, difference) + 0.0,
            "high": np.maximum(high, difference),
            "p": tests.p,
            "holds": holds,
            "significant": significant,
            "verdict": np.select([holds & significant, holds, significant], VERDICTS[:3], VERDICTS[3]),
        }
    )
    return frame[rounded(difference) > 0]


def _summed(measure: str, table: pd.DataFrame, pairs: pd.DataFrame, unjudged: int, exact: bool) -> dict[str, Any]:
    return {
        "measure": measure,
        "runs": len(table),
        "pairs": len(pairs),
        "holds": int(pairs["holds"].sum()),
        "significant": int(pairs["significant"].sum()),
        "both": int((pairs["verdict"] == "both").sum()),
        "neither": int((pairs["verdict"] == "neither").sum()),
        "mean_width": float((table["rank_high"] - table["rank_low"] + 1).mean()),
        "unjudged": unjudged,
        "exact": exact,
    }
