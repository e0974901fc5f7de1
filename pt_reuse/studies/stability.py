"""stability: how often other topics would reverse a comparison of two runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, flag, fraction, positive, told, whole
from pt_reuse._choices import USUAL_RATE
from pt_reuse._jobs import run_jobs
from pt_reuse._report import Digits
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.swaps import MOST_BINS, MOST_SCORE, Bins, Ints, TopicSums, count_swaps
from pt_reuse.errors import InputError
from pt_reuse.options import SHARED, Flag, Parameter
from pt_reuse.plots.lines import evenly, plot_swap_rates
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import BEWARE, Caveat, few_topics
from pt_reuse.scoring.scores import ONLY_SET, Scores, score_in_words
from pt_reuse.studies.asked import Asked
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: pairs of samples that one job counts
_SHARE = 2500
#: resamples that one job counts
_RESAMPLES = 10


@dataclass(frozen=True)
class Sampling:
    """How samples of topics are drawn; the same for every field with as many topics."""

    pairs: int  # how many pairs of samples of each size
    replace: bool  # whether a sample can have a topic twice, and both samples the same topic
    seed: int  # of the draws; those of one size do not depend on the other sizes

    def most(self, n_topics: int) -> int:
        """Return the largest size of the samples that is drawn where nobody names sizes."""
        return n_topics if self.replace else n_topics // 2

    def draws(self, size: int, n_topics: int) -> Ints:
        """Return (pairs, 2, size) topics."""
        random = np.random.default_rng([self.seed, size])
        if self.replace:
            return random.integers(0, n_topics, (self.pairs, 2, size))
        shuffled = random.random((self.pairs, n_topics)).argsort(axis=1)
        return shuffled[:, : 2 * size].reshape(self.pairs, 2, size)


@dataclass(frozen=True)
class Line:
    """One judgments, measure and size of the samples."""

    judgments: str  # their name
    measure: str
    size: int  # of the samples
    sums: TopicSums  # the scores
    tied: bool  # whether all runs tie on every topic

    @property
    def n_topics(self) -> int:
        """Return how many topics there are."""
        return len(self.sums.scores)


@dataclass(frozen=True)
class Task:
    """What one job counts; it needs nothing else, so that it can run anywhere."""

    sums: TopicSums  # the scores
    drawn: Ints  # (draws, 2, size) numbers of topics
    bins: Bins  # of the differences
    topics: Ints | None = None  # (resamples, topics) what each number stands for, one count for each row

    def run(self) -> Ints:
        """Return (resamples, 2, bins) pairs and swaps; of one resample where the topics stand for themselves."""
        drawn = [self.drawn] if self.topics is None else (topics[self.drawn] for topics in self.topics)
        return np.stack([count_swaps(self.sums, topics, self.bins) for topics in drawn])


def counted(
    lines: Sequence[Line],
    sampling: Sampling,
    bins: Bins,
    resampled: Mapping[int, Ints] | None = None,
    *,
    n_jobs: int | None,
    verbose: bool,
) -> Iterator[tuple[int, Ints]]:
    """Yield the number of each line and (resamples, 2, bins) pairs and swaps in its samples.

    `resampled` says which topics there are in each resample, of so many topics; without it there is one, of all. Jobs
    run in threads, unless the user has configured otherwise.
    """

    def seen(number: int) -> tuple[int, int]:
        return lines[number].size, lines[number].n_topics

    def tasks() -> Iterator[Task]:
        # samples are drawn when it is their turn: those of all sizes would not fit in memory
        for (size, n_topics), alike in groupby(order, seen):
            drawn = sampling.draws(size, n_topics)
            for number, some, start in product(alike, resamples, shares):
                topics = None if resampled is None else resampled[n_topics][some : some + _RESAMPLES]
                yield Task(lines[number].sums, drawn[start : start + _SHARE], bins, topics)

    order = sorted(range(len(lines)), key=seen)
    shares = range(0, sampling.pairs, _SHARE)
    resamples = range(0, 1 if resampled is None else min(map(len, resampled.values())), _RESAMPLES)
    total = len(lines) * len(resamples) * len(shares)
    how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose, "prefer": "threads"}
    done = run_jobs(tasks(), total, desc="counting swaps", unit="part", **how)
    for number in order:
        yield number, np.concatenate([np.sum([next(done) for _ in shares], axis=0) for _ in resamples])


def topics_of(counts: NDArray[np.int64]) -> Ints:
    """Return (resamples, topics): which topics there are, from how often each is drawn."""
    return np.stack([np.repeat(np.arange(len(row)), row) for row in counts])


_OF_A_LINE = ["judgments", "measure"]
#: sizes with swaps that a curve is fitted to, at least
_LEAST_SIZES = 3


def _few_from(rates: pd.Series, rate: float) -> int:
    """Return the place of the first rate from which on none is larger than wanted, their number where there is none."""
    too_many = np.flatnonzero((rates > rate).to_numpy())
    return int(too_many[-1]) + 1 if len(too_many) else 0


def _difference(bins: pd.DataFrame, rate: float) -> dict[str, Any]:
    """Return for one size the smallest difference from which on no bin has more swaps than wanted."""
    pairs, swaps = int(bins["pairs"].sum()), int(bins["swaps"].sum())
    known, first = bins["rate"].notna().any(), _few_from(bins["rate"], rate)
    enough = int(bins["pairs"].iloc[first:].sum())
    found = known and enough > 0
    return {
        "pairs": pairs,
        "swaps": swaps,
        "rate": swaps / pairs if known else np.nan,
        "difference": float(bins["at_least"].iloc[first]) if found else np.nan,
        "share": enough / pairs if found else np.nan,
    }


def _topics(sizes: pd.DataFrame, rate: float) -> dict[str, Any]:
    """Return for one bin how many topics it takes to have no more swaps than wanted."""
    sizes = sizes.sort_values("size")
    start, decay = _fit(sizes)
    known = sizes[sizes["rate"].notna()]
    first = _few_from(known["rate"], rate)
    measured, needed = first < len(known), np.nan
    if measured:
        needed = float(known["size"].iloc[first])
    elif len(known) and decay > 0:
        needed = float(max(np.ceil(np.log(start / rate) / decay), known["size"].iloc[-1] + 1))
    return {
        "at_least": sizes["at_least"].iloc[0],
        "below": sizes["below"].iloc[0],
        "topics": needed,
        "extrapolated": not measured and not np.isnan(needed),
        "start": start,
        "decay": decay,
    }


def _fit(sizes: pd.DataFrame) -> tuple[float, float]:
    """Return a and b of rate = a exp(-b size), by least squares of the logarithm, each size by its number of swaps."""
    seen = sizes[sizes["swaps"] > 0]
    if len(seen) < _LEAST_SIZES:
        return np.nan, np.nan
    weight = np.sqrt(seen["swaps"].to_numpy(dtype=float))
    slope, level = np.polyfit(seen["size"].to_numpy(dtype=float), np.log(seen["rate"].to_numpy()), 1, w=weight)
    return float(np.exp(level)), float(-slope)


def _draw(
    result: Stability,
    measure: str,
    place: Place,
    judgments: str | None = None,
) -> Axes:
    """Draw the swap rate against the difference, a line for each size of the samples."""
    which = result.judgments[0] if judgments is None else choice("judgments", judgments, result.judgments)
    rows = result.table[(result.table["measure"] == measure) & (result.table["judgments"] == which)]
    known = [int(size) for size in dict.fromkeys(rows["size"])]
    rows = rows[rows["size"].isin(evenly(known, 4))]
    return plot_swap_rates(rows, measure=measure, wanted=USUAL_RATE, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stability(Result):
    """How often two samples of topics order a pair of runs differently.

    Its figure has a line per size of the samples against the difference, of one of the ``judgments=``, with a rate of
    .05 marked. Intervals are bands around the lines where these are three at most, else around the darkest alone.

    Attributes:
        table: one row per judgments, measure, size of the samples and bin: ``judgments measure size bin``; ``at_least``
            and ``below``, the differences that fall into the bin, the last one open; ``pairs``, how many pairs of runs
            and samples did; ``swaps``, how many of these the second sample orders differently; ``rate`` = swaps /
            pairs, NaN where no pair fell into the bin, where all runs tie on every topic, and where there is one topic
            only. With ``resamples``, ``rate_low`` and ``rate_high``, the ends of its interval over topics.
    """

    title = "Stability"
    condition = "It holds for these samples of topics: {samples}; swaps: {swaps}."
    limit = "It does not say which run is better, nor what happens with more topics than there are in a sample."
    views = {
        "sizes": View(
            table="differences_needed",
            columns=(
                Shown("Judgments", "judgments"),
                Shown("Topics", "size", Digits.COUNT),
                Shown("Swap rate", "rate", Digits.SCORE),
                Shown("Difference needed", "difference", Digits.SIZE),
                Shown("Pairs so far apart", "share", Digits.SCORE),
            ),
            caption="How often two samples of so many topics order a pair of runs differently by {measure}; the "
            "difference on the first from which on at most {rate:g} of the pairs in any bin are swaps; and the share "
            "of pairs at least so far apart.",
            noun="sizes",
        ),
        "topics": View(
            table="topics_needed",
            columns=(
                Shown("Judgments", "judgments"),
                Shown("Difference from", "at_least", Digits.SIZE),
                Shown("Topics", "topics", Digits.COUNT),
                Shown("Extrapolated", "extrapolated"),
            ),
            caption="How many topics it takes for a swap rate of {rate:g} at most by {measure}, by the difference; "
            "where none of the samples is large enough, by a curve fitted to the rates.",
            noun="bins",
        ),
    }
    plots = {"bins": _draw}
    key = (KeyFigures(("swap_rate", "difference"), "_largest", row="{named}"),)
    answer = (
        "_largest",
        "{measure}{of}: two samples of {size:topic} swap pairs of runs at a rate of {swap_rate:.4f}{why}, and of at "
        "most .05 from {apart} on",
    )
    sentences = {
        "samples": "Samples: {samples}.",
        "bins": "Bins: {bins}.",
        "swaps": "Swaps: {swaps}.",
        "ties": "Ties: {ties}.",
    }
    derived = {"differences": "differences_needed", "topics": "topics_needed"}

    @property
    def judgments(self) -> list[str]:
        """Return the names of the judgments."""
        return list(dict.fromkeys(self.table["judgments"]))

    def _largest(self) -> pd.DataFrame:
        """Return what the largest samples say of each judgments and measure, for a rate of .05."""
        rows = self.differences_needed().groupby(["judgments", "measure"], sort=False).tail(1)
        several = len(self.judgments) > 1
        named = rows["judgments"] if several else ""
        apart = ["no difference" if pd.isna(least) else f"a difference of {least:.4g}" for least in rows["difference"]]
        of = " by " + named if several else ""
        why = np.where(rows["rate"].isna(), " (all runs tie, or there is one topic only)", "")
        return rows.rename(columns={"rate": "swap_rate"}).assign(named=named, of=of, apart=apart, why=why)

    def differences_needed(self, rate: float = USUAL_RATE) -> pd.DataFrame:
        """Return how far apart two runs must be, by the number of topics, for another sample to agree.

        Args:
            rate: the largest swap rate that is wanted, above 0 and below 1.

        Returns:
            DataFrame: one row per judgments, measure and size: ``judgments measure size``; ``pairs swaps rate`` of all
            bins together; ``difference``, the lower end of the first bin from which on no bin has a larger rate, NaN
            where the last bin has; ``share`` of the pairs that are at least so far apart.
        """
        limit = fraction("rate", rate, ends=False)
        lines = self.table.groupby([*_OF_A_LINE, "size"], sort=False)
        rows = [dict(zip((*_OF_A_LINE, "size"), of, strict=True)) | _difference(bins, limit) for of, bins in lines]
        return pd.DataFrame(rows)

    def topics_needed(self, rate: float = USUAL_RATE) -> pd.DataFrame:
        """Return how many topics it takes, by the difference of two runs, for another sample to agree.

        Args:
            rate: the largest swap rate that is wanted, above 0 and below 1.

        Returns:
            DataFrame: one row per judgments, measure and bin: ``judgments measure bin at_least below``; ``topics``, the
            smallest size of the samples from which on none has a larger rate; where none of them is large enough, what
            the curve ``start * exp(-decay * topics)`` says, fitted to the logarithms of the rates of three sizes or
            more, each weighted by its number of swaps. ``extrapolated`` says which of the two; NaN topics where neither
            can be told.

        Source: Voorhees and Buckley 2002, The effect of topic set size on retrieval experiment error, SIGIR: they
        measured up to 25 topics, and extrapolated.
        """
        limit = fraction("rate", rate, ends=False)
        bins = self.table.groupby([*_OF_A_LINE, "bin"], sort=False)
        rows = [dict(zip((*_OF_A_LINE, "bin"), of, strict=True)) | _topics(sizes, limit) for of, sizes in bins]
        return pd.DataFrame(rows)


#: from one size of the samples to the next
_STEP = 5
#: sizes by default: more topics are taken in larger steps, as sizes times topics would be their square
_MOST_SIZES = 50
#: pairs of samples of each resample
_RESAMPLED_PAIRS = 500
#: narrower bins than the differences are rounded to would be none
_LEAST_WIDTH = 1e-6


def _checked_sizes(sizes: Any) -> list[int]:
    """Return a user's ``sizes=``, each once, the smallest first."""
    given = [sizes] if isinstance(sizes, int | np.integer) else sizes
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"sizes must be numbers of topics, such as [10, 25, 50], got {told(sizes)}.", argument="sizes")
    found = sorted({positive("sizes", size, "topics") for size in given})
    if not found:
        raise InputError("sizes is empty. Give a number of topics.", argument="sizes")
    return found


def _checked_width(width: Any) -> float:
    number = isinstance(width, int | float | np.number) and not isinstance(width, bool)
    if not number or not _LEAST_WIDTH <= width <= MOST_SCORE:
        raise InputError(
            f"bin_width must be a difference of scores, {_LEAST_WIDTH:g} or more, got {told(width)}.",
            argument="bin_width",
        )
    return float(width)


def _checked_bins(n: Any) -> int:
    if whole("bins", n, "bins", least=1) > MOST_BINS:
        raise InputError(f"bins must be at most {MOST_BINS}, got {told(n)}.", argument="bins")
    return int(n)


@study(
    SHARED["measures"],
    SHARED["complete"],
    Parameter(
        name="rate",
        check=lambda value: fraction("rate", value, ends=False),
        flag=Flag(help="the largest swap rate that is wanted", metavar="R", kind="float", usual=USUAL_RATE),
    ),
    Parameter(
        name="sizes",
        meaning="of the samples, in topics; default 5, 10, ... up to all topics (half of them without `replace`), and "
        "as many as there are; of more than 250 in the least steps of 10, 15, ... that make 50 sizes at most. With "
        "`replace`, samples can be larger than the topics that there are.",
        check=_checked_sizes,
        flag=Flag(
            help="topics of a sample",
            metavar="LIST",
            kind="counts",
            default="5,10,... up to all topics, 50 sizes at most",
        ),
    ),
    Parameter(
        name="pairs",
        meaning="how many pairs of samples of each size.",
        check=partial(positive, "pairs", unit="pairs of samples"),
        flag=Flag(help="pairs of samples of each size"),
    ),
    Parameter(
        name="bin_width",
        meaning="of the differences, in scores.",
        check=_checked_width,
        flag=Flag(help="of the differences, in scores", metavar="D", kind="float"),
    ),
    Parameter(
        name="bins",
        meaning="how many; the last holds all larger differences. Default 21: 0 to .01, ..., .19 to .2, .2 and above.",
        check=_checked_bins,
        flag=Flag(help="how many; the last holds all larger differences"),
    ),
    Parameter(
        name="replace",
        meaning="whether topics are drawn with replacement, for both samples from all topics (default); False: the two "
        "samples share no topic, as in Voorhees and Buckley 2002.",
        check=partial(flag, "replace"),
        flag=Flag(name="--no-replace", help="two samples share no topic; default: drawn with replacement", kind="off"),
    ),
    command=Command(
        name="profile stability",
        summary="how often other topics would reverse a comparison of two runs",
        details="Two samples of topics are drawn many times. A swap is a pair of runs that the second sample orders "
        "the other way than the first. Swap rates are shown by the difference of the two runs on the first sample, in "
        "bins, and by the number of topics.",
        several=True,
    ),
    entry=Entry(question="Would other topics reverse this comparison?", group="profile", papers="[V02]_, [V22b]_"),
)
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
    """Compute how often another sample of topics would reverse a comparison of two runs, by their difference.

    Two samples of topics of the same size are drawn. Each pair of runs falls into the bin of the difference of its
    means on the first sample. It is a *swap* if the second sample orders the two runs in reverse. The *swap rate* of a
    bin is the share of swaps among its pairs, over all pairs of runs and of samples: the probability that other topics
    reverse a difference of this size, found on this number of topics.

    Means are rounded to 12 decimals before they are compared, and differences to 9 before they are put into bins: those
    of ``P@10`` lie on the edges of bins. Two equal means are in the first bin, and no swap. If means are over the
    topics that a run has, a run with none of the drawn topics scores 0.

    Returns:
        Stability: ``.table`` (by judgments, measure, size and bin), ``.differences_needed()``, ``.topics_needed()``,
        ``.plot()``.

    Raises:
        InputError: anything but Scores, only one run, different measures, scores that are no finite numbers, sizes that
            cannot be drawn.

    Warns:
        ReuseWarning: fewer than five topics; runs that all tie on every topic, whose rates are NaN; the same runs on
            different, overlapping topic sets. ``settings["beware"]`` has it, too.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.profile.stability(ptr.score(field.runs, field.qrels, "AP"), sizes=[5, 25], pairs=100)
        >>> found.differences_needed()[["size", "rate", "difference"]].round(3)
           size   rate  difference
        0     5  0.219        0.15
        1    25  0.160        0.11

    Source: Voorhees and Buckley 2002, The effect of topic set size on retrieval experiment error, SIGIR; with samples
    drawn with replacement: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?,
    SIGIR.
    """
    asked = Asked(stability, locals())
    fields = _fields(asked)
    sampling, in_bins = Sampling(pairs, asked["replace"], seed), Bins.of(asked["bin_width"], bins)
    lines = [line for name, found in fields.items() for line in _lines(name, found, asked["sizes"], sampling)]
    asked.tell(_few_topics(fields), _ties(lines), _other_topics(fields))
    counts = dict(counted(lines, sampling, in_bins, **asked.how))
    table = _table(lines, np.concatenate([counts[number] for number in range(len(lines))]), in_bins)
    bootstrap, words = asked.bootstrap, {}
    if bootstrap is not None:
        lists = {n: topics_of(bootstrap.counts(n)) for n in {line.n_topics for line in lines}}
        fewer = Sampling(min(pairs, _RESAMPLED_PAIRS), sampling.replace, seed)
        _add_intervals(table, counted(lines, fewer, in_bins, lists, **asked.how), bootstrap)
        words = {"intervals": f"{bootstrap.words()}; each resample has {fewer.pairs:,} pairs of samples of each size"}
    drawn = "drawn with replacement" if sampling.replace else "without a topic in common"
    settings = {
        "judgments": "; ".join(f"{name} ({_in_words(found)})" for name, found in fields.items()),
        "samples": f"{pairs:,} pairs of each size, {drawn}",
        "bins": f"{bins:,} of {bin_width:g}, the last open, of differences on the first sample rounded to 9 decimals",
        "swaps": "differences of opposite signs; a difference of 0 is none",
        "ties": f"means equal to {DECIMALS} decimals",
        "seed": seed,
    }
    settings |= {name: value for name, value in asked.settings().items() if name == BEWARE}
    return Stability(table=table, settings={**settings, **words})


def _fields(asked: Asked) -> dict[str, Scores]:
    """Return the scores of each judgments by name, all of them such that means are exact."""
    for name, found in asked.scores.items():
        bad = np.argwhere(np.abs(found.values) > MOST_SCORE)
        if len(bad):
            raise InputError(
                f"{score_in_words(found, *bad[0].tolist())}; it must be at most {MOST_SCORE:,.0f}. Take the measure "
                "out.",
                argument="scores",
                place=repr(name) if name != ONLY_SET else None,
            )
    return asked.scores


def _lines(name: str, scores: Scores, sizes: list[int] | None, sampling: Sampling) -> Iterator[Line]:
    """Yield what is to be counted of some judgments, each measure and size."""
    n_topics = len(scores.topics)
    most = sampling.most(n_topics)
    if not most:
        problem = f"{count(n_topics, 'topic')} cannot be split into two samples."
        raise InputError(problem, argument="scores", place=repr(name) if name != ONLY_SET else None)
    if sizes is not None and not sampling.replace and sizes[-1] > most:
        raise InputError(
            f"sizes must be at most {most:,}, half of the {n_topics:,} topics, for two samples without a topic in "
            f"common, got {sizes[-1]:,}. replace=True draws larger ones.",
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
            yield Line(name, measure, size, sums, tied)


def _table(lines: list[Line], counts: Ints, bins: Bins) -> pd.DataFrame:
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
        yield from few_topics(len(scores.topics), name if name != ONLY_SET else "")


def _ties(lines: list[Line]) -> Iterator[Caveat]:
    for name, measure in dict.fromkeys((line.judgments, line.measure) for line in lines if line.tied):
        yield Caveat(
            f"{name}: all runs tie by {measure}",
            f"{name}: all runs tie on every topic by {measure}, so there is nothing that could be reversed, and the "
            "swap rates are NaN. Is any document there relevant by this measure?",
        )


def _other_topics(fields: Mapping[str, Scores]) -> Iterator[Caveat]:
    """Yield a caveat where the same runs are scored on topic sets that overlap and differ."""
    first, *others = fields.items()
    for name, scores in others:
        mine, theirs = set(first[1].topics), set(scores.topics)
        if set(first[1].names) == set(scores.names) and mine & theirs and mine != theirs:
            yield Caveat(
                f"{first[0]} and {name} have other topics",
                f"{first[0]} and {name} score the same runs on other topics: {len(mine - theirs):,} in the first "
                f"only, {len(theirs - mine):,} in the second only, {len(mine & theirs):,} in both. Their swap rates "
                "differ by the topics, too. Give both the topics that they share.",
            )


def _in_words(scores: Scores) -> str:
    topics = "" if scores.complete else ", means over the topics that a run has"
    return f"{count(len(scores.names), 'run')}, {count(len(scores.topics), 'topic')}{topics}"
