"""stability: how often other topics would reverse a comparison of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, product
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays.bootstrap import MOST_BINS, MOST_SCORE, Bins, Ints, TopicBootstrap, TopicSums, count_swaps
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.columns import Table
from pt_reuse.errors import InputError, ascending, choice, count, flag, fraction, number, positive, shown, whole
from pt_reuse.inputs import interval_settings, settings_of
from pt_reuse.options import USUAL_RATE
from pt_reuse.plots.lines import evenly, plot_swap_rates
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.scores import ONLY_SET, Scores, named_scores, score_in_words, scores_in_words
from pt_reuse.study import study

#: pairs of samples, and resamples, that one job counts
_SHARE, _RESAMPLES = 2500, 10
#: from one size of the samples to the next; with more sizes than these, steps are larger
_STEP, _MOST_SIZES = 5, 50
#: pairs of samples of each resample
_RESAMPLED_PAIRS = 500
#: narrower bins than the differences are rounded to would be none
_LEAST_WIDTH = 1e-6
#: sizes with swaps that a curve is fitted to, at least
_LEAST_SIZES = 3


@dataclass(frozen=True)
class Sampling:
    """How samples of topics are drawn; the same for every field with as many topics."""

    pairs: int  # how many pairs of samples of each size
    replace: bool  # whether a sample can have a topic twice, and both samples the same topic
    seed: int  # of the draws; those of one size do not depend on the other sizes

    def draws(self, size: int, n_topics: int) -> Ints:
        random = np.random.default_rng([self.seed, size])
        if self.replace:
            return random.integers(0, n_topics, (self.pairs, 2, size))
        shuffled = random.random((self.pairs, n_topics)).argsort(axis=1)
        return shuffled[:, : 2 * size].reshape(self.pairs, 2, size)


@dataclass(frozen=True)
class Line:
    """One judgments, measure and size of the samples."""

    judgments: str
    measure: str
    size: int
    sums: TopicSums  # the scores
    tied: bool  # whether all runs tie on every topic

    @property
    def drawn_as(self) -> tuple[int, int]:
        """Return the size and the number of topics, on which alone the draws depend."""
        return self.size, len(self.sums.scores)


@dataclass(frozen=True)
class Task:
    """What one job counts."""

    sums: TopicSums
    drawn: Ints  # (draws, 2, size) numbers of topics
    bins: Bins
    topics: Ints  # (resamples, topics) what each number stands for, one count for each row

    def run(self) -> Ints:
        """Return (resamples, 2, bins) pairs and swaps."""
        return np.stack([count_swaps(self.sums, topics[self.drawn], self.bins) for topics in self.topics])


def counted(
    lines: Sequence[Line], sampling: Sampling, bins: Bins, resampled: Mapping[int, Ints], **how: Any
) -> Iterator[tuple[int, Ints]]:
    """Yield the number of each line and (resamples, 2, bins) pairs and swaps in its samples.

    `resampled` says which topics there are in each resample, of so many topics.
    """
    order = sorted(range(len(lines)), key=lambda n: lines[n].drawn_as)
    shares = range(0, sampling.pairs, _SHARE)
    parts = range(0, min(map(len, resampled.values())), _RESAMPLES)

    def tasks() -> Iterator[Task]:
        # samples are drawn when it is their turn: those of all sizes would not fit in memory
        for (size, n_topics), alike in groupby(order, lambda n: lines[n].drawn_as):
            drawn = sampling.draws(size, n_topics)
            for n, first, start in product(alike, parts, shares):
                topics = resampled[n_topics][first : first + _RESAMPLES]
                yield Task(lines[n].sums, drawn[start : start + _SHARE], bins, topics)

    total = len(lines) * len(parts) * len(shares)
    done = run_jobs(tasks(), total, desc="counting swaps", unit="part", prefer="threads", **how)
    for n in order:
        yield n, np.concatenate([np.sum([next(done) for _ in shares], axis=0) for _ in parts])


def topics_of(counts: NDArray[np.int64]) -> Ints:
    """Return (resamples, topics): which topics there are, from how often each is drawn."""
    return np.stack([np.repeat(np.arange(len(row)), row) for row in counts])


def _from(rates: pd.Series, rate: float) -> int:
    """Return the place from which on no rate is larger than wanted, their number where there is none."""
    too_many = np.flatnonzero(rates > rate)
    return int(too_many[-1]) + 1 if len(too_many) else 0


def _difference(bins: pd.DataFrame, rate: float) -> dict[str, Any]:
    """Return for one size the smallest difference from which on no bin has more swaps than wanted."""
    pairs, swaps, first = int(bins["pairs"].sum()), int(bins["swaps"].sum()), _from(bins["rate"], rate)
    found = {"pairs": pairs, "swaps": swaps, "rate": np.nan, "difference": np.nan, "share": np.nan}
    if bins["rate"].notna().any():
        found["rate"], enough = swaps / pairs, int(bins["pairs"].iloc[first:].sum())
        if enough:
            found |= {"difference": float(bins["at_least"].iloc[first]), "share": enough / pairs}
    return found


def _topics(sizes: pd.DataFrame, rate: float) -> dict[str, Any]:
    """Return for one bin how many topics it takes to have no more swaps than wanted."""
    sizes = sizes.sort_values("size")
    known, swapping, needed, extrapolated = sizes[sizes["rate"].notna()], sizes[sizes["swaps"] > 0], np.nan, False
    start = decay = np.nan
    if len(swapping) >= _LEAST_SIZES:
        # rate = start exp(-decay size), by least squares of the logarithm, each size by its number of swaps
        weight = np.sqrt(swapping["swaps"].to_numpy(dtype=float))
        size, logs = swapping["size"].to_numpy(dtype=float), np.log(swapping["rate"].to_numpy())
        slope, level = np.polyfit(size, logs, 1, w=weight)
        start, decay = float(np.exp(level)), float(-slope)
    if (first := _from(known["rate"], rate)) < len(known):
        needed = float(known["size"].iloc[first])
    elif len(known) and decay > 0:
        extrapolated = True
        needed = float(max(np.ceil(np.log(start / rate) / decay), known["size"].iloc[-1] + 1))
    about = sizes[["at_least", "below"]].iloc[0].to_dict()
    return {**about, "topics": needed, "extrapolated": extrapolated, "start": start, "decay": decay}


def _draw(result: Stability, measure: str, place: Place, judgments: str | None = None) -> Axes:
    which = result.judgments[0] if judgments is None else choice("judgments", judgments, result.judgments)
    rows = result.table[(result.table["measure"] == measure) & (result.table["judgments"] == which)]
    shown = evenly([int(size) for size in dict.fromkeys(rows["size"])], 4)
    return plot_swap_rates(rows[rows["size"].isin(shown)], measure=measure, wanted=USUAL_RATE, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stability(Result):
    """How often two samples of topics order a pair of runs differently."""

    title = "Stability"
    answer = ("largest", "{measure}{of}: {rate:.1%} of pairs swap with {size:topic}; {few} at most 5%")
    key = "rate difference"
    valid_for = "two samples of topics, {samples}; a swap is a change of sign, ties are not counted."
    not_covered = "which run is better, and what more topics would change than a sample has."
    plots = {"bins": _draw}
    derived = {"differences": "differences_needed", "topics": "topics_needed"}
    columns = """
    size       | Topics          | count | topics of a sample
    bin        | Bin             | count | its number
    at_least   | Difference from | size  | the smallest difference in the bin
    below      | Below           | size  | where the bin ends, the last one nowhere
    pairs      | Pairs           | count | how many pairs of runs and samples
    swaps      | Swaps           | count | how many of them the second sample orders differently
    rate       | Swap rate       | score | swaps / pairs; NaN without pairs, of one topic, and where all runs tie
    difference | Difference needed | size | from which on no rate is larger than wanted, NaN where the last is
    share      | Pairs so far apart | score | share of the pairs that are at least so far apart
    topics     | Topics          | count | the smallest size from which on no rate is larger, else by the curve
    extrapolated | Extrapolated  |       | whether it is by the curve
    start      | Start           | score | of the curve ``start * exp(-decay * topics)``, NaN of fewer than three sizes
    decay      | Decay           | score | of the curve, fitted to the logarithms of rates, each weighted by its swaps
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judgments, measure, size of the samples and bin of the difference on the first",
            "judgments* measure size* bin at_least* below pairs* swaps* rate~*",
        ),
    ]

    @property
    def judgments(self) -> list[str]:
        return list(dict.fromkeys(self.table["judgments"]))

    def largest(self) -> pd.DataFrame:
        """Return what the largest samples say of each judgments and measure, for a rate of .05."""
        rows = self.differences_needed().groupby(["judgments", "measure"], sort=False).tail(1)
        apart = "of those at least " + rows["difference"].map("{:.4g}".format) + " apart,"
        few = apart.where(rows["difference"].notna(), "at no difference")
        return rows.assign(few=few, of=" by " + rows["judgments"] if len(self.judgments) > 1 else "")

    def differences_needed(
        self, rate: float = USUAL_RATE
    ) -> Annotated[
        pd.DataFrame,
        Table(
            "judgments, measure and size, all bins together",
            "judgments* measure size* pairs swaps rate* difference* share*",
        ),
    ]:
        """Return how far apart two runs must be, by the number of topics, for another sample to agree.

        Args:
            rate: the largest swap rate that is wanted, above 0 and below 1.

        Returns:
            DataFrame: ``judgments measure size pairs swaps rate difference share``.
        """
        return self._lines_by("size", partial(_difference, rate=fraction("rate", rate, ends=False)))

    def topics_needed(
        self, rate: float = USUAL_RATE
    ) -> Annotated[
        pd.DataFrame,
        Table("judgments, measure and bin", "judgments* measure bin at_least* below topics* extrapolated* start decay"),
    ]:
        """Return how many topics it takes, by the difference of two runs, for another sample to agree.

        Args:
            rate: the largest swap rate that is wanted, above 0 and below 1.

        Returns:
            DataFrame: ``judgments measure bin at_least below topics extrapolated start decay``; NaN topics where none
            of the samples is large enough, and no curve falls.

        Source: Voorhees and Buckley 2002, who measured up to 25 topics, and extrapolated.
        """
        return self._lines_by("bin", partial(_topics, rate=fraction("rate", rate, ends=False)))

    def _lines_by(self, name: str, numbers: partial[dict[str, Any]]) -> pd.DataFrame:
        keys = ["judgments", "measure", name]
        lines = self.table.groupby(keys, sort=False)
        return pd.DataFrame([dict(zip(keys, of, strict=True)) | numbers(rows) for of, rows in lines])


def _checked_bins(n: Any) -> int:
    if whole("bins", n, "bins", least=1) > MOST_BINS:
        raise InputError(f"bins must be at most {MOST_BINS}, got {shown(n)}.", argument="bins")
    return int(n)


@study(
    options.SHARED["measures"],
    options.SHARED["complete"],
    options.Option(
        name="rate",
        check=lambda value: fraction("rate", value, ends=False),
        flag=options.Flag(help="the largest swap rate that is wanted", metavar="R", kind="float", usual=USUAL_RATE),
    ),
    question="Would other topics reverse this comparison?",
    command="profile stability",
    aim="ranks",
    summary="how often other topics would reverse a comparison of two runs",
    details="Two samples of topics are drawn many times. A swap is a pair of runs that the second sample orders the "
    "other way than the first. Swap rates are shown by the difference of the two runs on the first sample, in bins, "
    "and by the number of topics.",
    group="profile",
    papers="[V02]_, [V22b]_",
    screen=("differences_needed", "topics_needed"),
    several=True,
)
def stability(
    scores: options.ScoresOf,
    *,
    sizes: Annotated[
        Any,  # one or several
        options.Option(
            "of the samples, in topics; default 5, 10, ... up to all topics (half of them without `replace`), 50 sizes "
            "at most. With `replace`, samples can be larger than the topics that there are.",
            check=partial(ascending, "sizes", unit="topics"),
            flag=options.Flag(
                help="topics of a sample",
                metavar="LIST",
                kind="counts",
                default="5,10,... up to all topics, 50 at most",
            ),
        ),
    ] = None,
    pairs: Annotated[
        int,
        options.Option(
            "how many pairs of samples of each size.",
            check=partial(positive, "pairs", unit="pairs of samples"),
            flag=options.Flag(),
        ),
    ] = 5000,
    bin_width: Annotated[
        float,
        options.Option(
            "of the differences, in scores.",
            check=partial(number, "bin_width", least=_LEAST_WIDTH),
            flag=options.Flag(metavar="D", kind="float"),
        ),
    ] = 0.01,
    bins: Annotated[
        int,
        options.Option(
            "how many bins, the last of all larger differences; default 21: 0 to .01, ..., .19 to .2, .2 and above.",
            check=_checked_bins,
            flag=options.Flag(),
        ),
    ] = 21,
    replace: Annotated[
        bool,
        options.Option(
            "whether topics are drawn with replacement, for both samples from all topics (default); False: the two "
            "samples share no topic, as in Voorhees and Buckley 2002.",
            check=partial(flag, "replace"),
            flag=options.Flag(
                name="--no-replace", help="two samples share no topic; default: drawn with replacement", kind="off"
            ),
        ),
    ] = True,
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> Stability:
    """Compute how often another sample of topics would reverse a comparison of two runs, by their difference.

    Two samples of topics of the same size are drawn. Each pair of runs falls into the bin of the difference of its
    means on the first sample. It is a *swap* if the second sample orders the two runs in reverse. The *swap rate* of a
    bin is the share of swaps among its pairs, over all pairs of runs and of samples.

    Means are rounded to 12 decimals before they are compared, and differences to 9 before they are put into bins. Two
    equal means are no swap. A run with none of the drawn topics scores 0.

    Raises:
        InputError: anything but Scores, only one run, different measures, scores that are no finite numbers, sizes that
            cannot be drawn.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.profile.stability(ptr.score(field.runs, field.qrels, "AP"), sizes=[5, 25], pairs=100)
        >>> found.differences_needed()[["size", "rate", "difference"]].round(3)
           size   rate  difference
        0     5  0.219        0.15
        1    25  0.160        0.11

    Source: Voorhees and Buckley 2002, The effect of topic set size on retrieval experiment error, SIGIR; with samples
    drawn with replacement: Voorhees, Craswell and Lin 2022, SIGIR.
    """
    sets, sampling, in_bins = named_scores(scores), Sampling(pairs, replace, seed), Bins.of(bin_width, bins)
    lines = [line for name, each in sets.items() for line in _lines(name, each, sizes, sampling)]
    beware(*(few_topics(len(each.topics), name if name != ONLY_SET else "") for name, each in sets.items()))
    beware(_ties(lines))
    how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    every = {n: np.arange(n)[None] for _, n in (line.drawn_as for line in lines)}
    counts = {n: of_line[0] for n, of_line in counted(lines, sampling, in_bins, every, **how)}
    edges, parts = np.arange(bins + 1) * in_bins.width / 10**DECIMALS, []
    for n, line in enumerate(lines):
        about = {"judgments": line.judgments, "measure": line.measure, "size": line.size, "bin": np.arange(bins)}
        ends = {"at_least": edges[:-1], "below": np.append(edges[1:-1], np.inf)}
        # one topic is all that either sample can have, so that no second sample differs from the first
        rate = np.nan if line.tied or line.drawn_as[1] < 2 else _rates(*counts[n])
        parts.append(pd.DataFrame({**about, **ends, "pairs": counts[n][0], "swaps": counts[n][1], "rate": rate}))
    table = pd.concat(parts, ignore_index=True)
    bootstrap = TopicBootstrap(resamples, seed, confidence, n_jobs) if resamples else None
    fewer = Sampling(min(pairs, _RESAMPLED_PAIRS), replace, seed)
    if bootstrap is not None:
        lists = {n: topics_of(bootstrap.counts(n)) for n in {line.drawn_as[1] for line in lines}}
        intervals = np.full((len(table), 2), np.nan)
        for n, drawn in counted(lines, fewer, in_bins, lists, **how):
            rates = _rates(drawn[:, 0], drawn[:, 1]).T
            for row, of_bin in enumerate(rates, n * bins):
                intervals[row] = bootstrap.interval(float(table["rate"].iloc[row]), of_bin, within=(0, 1))
        table[["rate_low", "rate_high"]] = intervals
    settings = settings_of(
        interval_settings(bootstrap, f"; each resample has {fewer.pairs:,} pairs of samples of each size"),
        judgments="; ".join(f"{name} ({scores_in_words(each)})" for name, each in sets.items()),
        samples=f"{pairs:,} pairs of each size, {'drawn with replacement' if replace else 'without a topic in common'}",
        bins=f"{bins:,} of {bin_width:g}, the last open, of differences on the first sample rounded to 9 decimals",
        ties=f"means equal to {DECIMALS} decimals",
        seed=seed,
    )
    return Stability(table=table, settings=settings)


def _lines(name: str, scores: Scores, sizes: list[int] | None, sampling: Sampling) -> Iterator[Line]:
    n_topics, place = len(scores.topics), repr(name) if name != ONLY_SET else None
    most = n_topics if sampling.replace else n_topics // 2
    if not most:
        raise InputError(
            f"{count(n_topics, 'topic')} cannot be split into two samples.", argument="scores", place=place
        )
    if len(large := np.argwhere(np.abs(scores.values) > MOST_SCORE)):
        problem = f"{score_in_words(scores, *large[0].tolist())}; it must be at most {MOST_SCORE:,.0f}."
        raise InputError(problem, argument="scores", place=place)
    if sizes is not None and not sampling.replace and sizes[-1] > most:
        problem = f"sizes must be at most {most:,}, half of the {n_topics:,} topics, for samples without a topic in "
        raise InputError(f"{problem}common, got {sizes[-1]:,}. replace=True draws larger ones.", argument="sizes")
    step = _STEP * -(-most // (_STEP * _MOST_SIZES))
    chosen = sizes or sorted({*range(step, most + 1, step), most})
    has = None if scores.complete else scores.has_topic
    for measure, values in zip(scores.measures, scores.values, strict=True):
        rounded = np.round(values if has is None else np.where(has, values, 0.0), DECIMALS)
        tied = bool((rounded == rounded[:, :1]).all()) and (has is None or bool((has == has[:, :1]).all()))
        sums = TopicSums(values, has)
        yield from (Line(name, measure, size, sums, tied) for size in chosen)


def _rates(pairs: Ints, swaps: Ints) -> NDArray[np.float64]:
    return np.divide(swaps, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)


def _ties(lines: list[Line]) -> Iterator[Caveat]:
    for name, measure in dict.fromkeys((line.judgments, line.measure) for line in lines if line.tied):
        text = f"{name}: all runs tie on every topic by {measure}, so no pair can swap. Is any document relevant?"
        yield Caveat(f"{name}: all runs tie by {measure}", text)
