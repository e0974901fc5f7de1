"""stability: how often would another sample of topics turn a comparison of two systems round?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import checked_jobs, checked_seed, count, flag, positive, told, whole
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.swaps import MOST_BINS, MOST_SCORE, Bins, Ints, TopicSums
from pt_reuse.scoring.caveats import Caveat, few_topics, noted, tell
from pt_reuse.scoring.score_sets import UNNAMED, named_scores, score_in_words
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.swap_rates.counting import Sampling, counted, counted_again, topics_of
from pt_reuse.studies.swap_rates.result import Stability

#: from one size of the samples to the next
_STEP = 5
#: sizes by default: more topics are taken in larger steps, as sizes times topics would be their square
_MOST_SIZES = 50
#: pairs of samples of each resample
_RESAMPLED_PAIRS = 500
#: narrower bins than the differences are rounded to would be none
_LEAST_WIDTH = 1e-6


@door
def stability(
    scores: Scores | Mapping[str, Scores],
    *,
    sizes: Iterable[int] | None = None,
    pairs: int = 5000,
    bin_width: float = 0.01,
    bins: int = 21,
    replace: bool = True,
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Stability:
    """Say how often another sample of topics would turn a comparison of two runs round, by the difference found.

    Two samples of so many topics are drawn. Each pair of runs falls into the bin of the difference of its means on the
    first sample. It is a *swap* if the second sample orders the two the other way round. The *swap rate* of a bin is
    the share of swaps among its pairs, over all pairs of runs and of samples: how likely other topics turn a difference
    of this size round that was found on so many topics.

    Means are rounded to 12 decimals before they are compared, and differences to 9 before they are put into bins: those
    of ``P@10`` lie on the edges of bins. Two equal means are in the first bin, and no swap. A run that has none of the
    drawn topics, where means are over the topics that a run has, scores 0.

    Args:
        scores: Scores, or a dict of a name -> Scores for each of several judgments, or collections, under the same
            measures; made by :func:`score`, or of the scores of pipelines by :meth:`Scores.from_frame`.
        sizes: of the samples, in topics; default 5, 10, ... up to all topics (half of them without `replace`), and as
            many as there are; of more than 250 in the least steps of 10, 15, ... that make 50 sizes at most. With
            `replace`, samples can be larger than the topics that there are.
        pairs: how many pairs of samples of each size.
        bin_width: of the differences, in scores.
        bins: how many; the last holds all larger differences. Default 21: 0 to .01, ..., .19 to .2, .2 and above.
        replace: whether topics are drawn with replacement, for both samples from all topics (default); False: the two
            samples share no topic, as in Voorhees and Buckley 2002.
        resamples: how often the topics are drawn anew for intervals of the rates, each time with at most 500 pairs of
            samples of each size; default 0 for none.
        confidence: of the intervals.
        seed: of the draws. Those of one size depend on it and on the number of topics alone.
        n_jobs: jobs at a time, threads unless ``joblib.parallel_config`` says otherwise; default 1. The numbers do not
            depend on it.
        verbose: show a progress bar.

    Returns:
        Stability: ``.table`` (by judgments, measure, size and bin), ``.differences_needed()``, ``.topics_needed()``,
        ``.plot()``.

    Raises:
        InputError: anything but Scores, one run only, other measures in one than in another, scores that are no finite
            numbers, sizes that cannot be drawn.

    Warns:
        ReuseWarning: fewer than five topics; runs that all tie on every topic, whose rates are NaN; the same runs on
            topic sets that overlap and differ. ``settings["beware"]`` says it, too.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = ptr.profile.stability(ptr.score(field.runs, field.qrels, "AP"), sizes=[5, 25], pairs=100)
        >>> found.differences_needed()[["size", "rate", "difference"]].round(3)
           size   rate  difference
        0     5  0.219        0.15
        1    25  0.160        0.11

    Source: Voorhees and Buckley 2002, The effect of topic set size on retrieval experiment error, SIGIR; with samples
    drawn with replacement: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?,
    SIGIR.
    """
    fields = _fields(scores)
    sampling, chosen, in_bins, bootstrap = check_stability(
        sizes=sizes,
        pairs=pairs,
        bin_width=bin_width,
        bins=bins,
        replace=replace,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    lines = [line for name, found in fields.items() for line in _lines(name, found, chosen, sampling)]
    caveats = [*_few_topics(fields), *_ties(lines), *_other_topics(fields)]
    tell(caveats)

    sums, of_line = [line.sums for line in lines], [line.size for line in lines]
    counts = counted(sums, of_line, sampling, in_bins, n_jobs=n_jobs, verbose=verbose)
    table = _table(lines, counts, in_bins)
    if bootstrap is not None:
        lists = {n: topics_of(bootstrap.counts(n)) for n in {line.n_topics for line in lines}}
        fewer = Sampling(min(sampling.pairs, _RESAMPLED_PAIRS), sampling.replace, sampling.seed)
        again = counted_again(sums, of_line, fewer, lists, in_bins, n_jobs=n_jobs, verbose=verbose)
        _add_intervals(table, again, bootstrap)
    settings = {
        "judgments": "; ".join(f"{name} ({_in_words(found)})" for name, found in fields.items()),
        "samples": f"{pairs:,} pairs of each size, "
        + ("drawn with replacement" if replace else "without a topic in common"),
        "bins": f"{bins:,} of {bin_width:g}, the last open, of differences on the first sample rounded to 9 decimals",
        "swaps": "differences of opposite signs; a difference of 0 is none",
        "ties": f"means equal to {DECIMALS} decimals",
        "seed": sampling.seed,
        **({} if bootstrap is None else {"intervals": _of_intervals(bootstrap, pairs)}),
        **noted(caveats),
    }
    return Stability(table=table, settings=settings)


def check_stability(
    *,
    sizes: Any,
    pairs: Any,
    bin_width: Any,
    bins: Any,
    replace: Any,
    resamples: Any,
    confidence: Any,
    seed: Any,
    n_jobs: Any,
    verbose: Any,
) -> tuple[Sampling, list[int] | None, Bins, TopicBootstrap | None]:
    """Return how samples are drawn, their sizes, the bins and the bootstrap.

    Raises:
        InputError: one of them is wrong whatever the scores are.
    """
    sampling = Sampling(positive("pairs", pairs, "pairs of samples"), flag("replace", replace), checked_seed(seed))
    chosen = None if sizes is None else _checked_sizes(sizes)
    in_bins = _bins(bin_width, bins)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    checked_jobs(n_jobs)
    flag("verbose", verbose)
    return sampling, chosen, in_bins, bootstrap


@dataclass(frozen=True)
class _Line:
    """One judgments, measure and size of the samples.

    Attributes:
        judgments: their name.
        measure: the measure.
        size: of the samples.
        sums: the scores.
        tied: whether all runs tie on every topic.
    """

    judgments: str
    measure: str
    size: int
    sums: TopicSums
    tied: bool

    @property
    def n_topics(self) -> int:
        """Return how many topics there are."""
        return len(self.sums.scores)


def _fields(scores: Any) -> dict[str, Scores]:
    """Return the scores of each judgments by name, all of them such that means are exact."""
    fields = named_scores(scores)
    for name, found in fields.items():
        bad = np.argwhere(np.abs(found.values) > MOST_SCORE)
        if len(bad):
            raise InputError(
                f"{score_in_words(found, *bad[0].tolist())}; it must be at most {MOST_SCORE:,.0f}. Take the measure "
                "out.",
                argument="scores",
                place=repr(name) if name != UNNAMED else None,
            )
    return fields


def _checked_sizes(sizes: Any) -> list[int]:
    """Return a user's ``sizes=``, each once, the smallest first."""
    given = [sizes] if isinstance(sizes, int | np.integer) else sizes
    if isinstance(given, str) or not isinstance(given, Iterable):
        problem = f" must be numbers of topics, such as [10, 25, 50], got {told(sizes)}."
        raise InputError(Argument("sizes"), problem, argument="sizes")
    found = sorted({positive("sizes", size, "topics") for size in given})
    if not found:
        raise InputError(Argument("sizes"), " is empty. Give a number of topics.", argument="sizes")
    return found


def _bins(width: Any, n: Any) -> Bins:
    number = isinstance(width, int | float | np.number) and not isinstance(width, bool)
    if not number or not _LEAST_WIDTH <= width <= MOST_SCORE:
        problem = f" must be a difference of scores, {_LEAST_WIDTH:g} or more, got {told(width)}."
        raise InputError(Argument("bin_width"), problem, argument="bin_width")
    if whole("bins", n, "bins", least=1) > MOST_BINS:
        raise InputError(Argument("bins"), f" must be at most {MOST_BINS}, got {told(n)}.", argument="bins")
    return Bins.of(float(width), int(n))


def _lines(name: str, scores: Scores, sizes: list[int] | None, sampling: Sampling) -> Iterator[_Line]:
    """Yield what is to be counted of some judgments, each measure and size."""
    n_topics = len(scores.topics)
    most = sampling.most(n_topics)
    if not most:
        problem = f"{count(n_topics, 'topic')} cannot be split into two samples."
        raise InputError(problem, argument="scores", place=repr(name) if name != UNNAMED else None)
    if sizes is not None and not sampling.replace and sizes[-1] > most:
        raise InputError(
            Argument("sizes"),
            f" must be at most {most:,}, half of the {n_topics:,} topics, for two samples without a topic in common, "
            f"got {sizes[-1]:,}. ",
            Option("replace", True),
            " draws larger ones.",
            argument="sizes",
        )
    step = _STEP * -(-most // (_STEP * _MOST_SIZES))
    chosen = sizes or sorted({*range(step, most + 1, step), most})
    has = None if scores.complete else scores.has_topic
    for measure, values in zip(scores.measures, scores.values, strict=True):
        seen = np.round(values if has is None else np.where(has, values, 0.0), DECIMALS)
        tied = bool((seen == seen[:, :1]).all()) and (has is None or bool((has == has[:, :1]).all()))
        sums = TopicSums(values, has)
        for size in chosen:
            yield _Line(name, measure, size, sums, tied)


def _table(lines: list[_Line], counts: Ints, bins: Bins) -> pd.DataFrame:
    edges = np.arange(bins.n + 1) * bins.width / 10**DECIMALS
    pairs, swaps = counts[:, 0], counts[:, 1]
    # one topic is all that either sample can have, so that no second sample differs from the first
    settled = np.array([line.tied or line.n_topics < 2 for line in lines])[:, None]
    rate = np.full(pairs.shape, np.nan)
    np.divide(swaps, pairs, out=rate, where=(pairs > 0) & ~settled)
    return pd.DataFrame(
        {
            "judgments": np.repeat(np.array([line.judgments for line in lines], dtype=object), bins.n),
            "measure": np.repeat(np.array([line.measure for line in lines], dtype=object), bins.n),
            "size": np.repeat([line.size for line in lines], bins.n),
            "bin": np.tile(np.arange(bins.n), len(lines)),
            "at_least": np.tile(edges[:-1], len(lines)),
            "below": np.tile(np.append(edges[1:-1], np.inf), len(lines)),
            "pairs": pairs.ravel(),
            "swaps": swaps.ravel(),
            "rate": rate.ravel(),
        }
    )


def _add_intervals(table: pd.DataFrame, again: Iterable[tuple[int, Ints]], bootstrap: TopicBootstrap) -> None:
    """Add the ends of the interval of each rate, from the line that resamples are of and their counts."""
    low, high = np.full(len(table), np.nan), np.full(len(table), np.nan)
    for line, counts in again:
        pairs, swaps = counts[:, 0], counts[:, 1]
        drawn = np.divide(swaps, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0).T
        for row, rates in enumerate(drawn, line * len(drawn)):
            low[row], high[row] = bootstrap.interval(float(table["rate"].iloc[row]), rates, within=(0, 1))
    table["rate_low"], table["rate_high"] = low, high


def _few_topics(fields: Mapping[str, Scores]) -> Iterator[Caveat]:
    for name, scores in fields.items():
        yield from few_topics(len(scores.topics), name if name != UNNAMED else "")


def _ties(lines: list[_Line]) -> Iterator[Caveat]:
    for name, measure in dict.fromkeys((line.judgments, line.measure) for line in lines if line.tied):
        yield Caveat(
            f"{name}: all runs tie by {measure}",
            (
                f"{name}: all runs tie on every topic by {measure}, so there is nothing that could be turned round, "
                "and the swap rates are NaN. Is any document there relevant by this measure?",
            ),
        )


def _other_topics(fields: Mapping[str, Scores]) -> Iterator[Caveat]:
    """Yield a caveat where the same runs are scored on topic sets that overlap and differ."""
    first, *others = fields.items()
    for name, scores in others:
        mine, theirs = set(first[1].topics), set(scores.topics)
        if set(first[1].names) == set(scores.names) and mine & theirs and mine != theirs:
            yield Caveat(
                f"{first[0]} and {name} have other topics",
                (
                    f"{first[0]} and {name} score the same runs on other topics: {len(mine - theirs):,} in the first "
                    f"only, {len(theirs - mine):,} in the second only, {len(mine & theirs):,} in both. Their swap "
                    "rates differ by the topics, too. Give both the topics that they share.",
                ),
            )


def _in_words(scores: Scores) -> str:
    topics = "" if scores.complete else ", means over the topics that a run has"
    return f"{count(len(scores.names), 'run')}, {count(len(scores.topics), 'topic')}{topics}"


def _of_intervals(bootstrap: TopicBootstrap, pairs: int) -> str:
    return f"{bootstrap.words()}; each resample has {min(pairs, _RESAMPLED_PAIRS):,} pairs of samples of each size"
