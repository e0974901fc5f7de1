"""stability: how often other topics would reverse a comparison of two runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, checked_seed, choice, count, examples, flag, fraction, positive, told, whole
from pt_reuse._choices import USUAL_RATE
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse._jobs import run_jobs
from pt_reuse._report import Column, Digits, Report
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.swaps import MOST_BINS, MOST_SCORE, Bins, Ints, TopicSums, count_swaps
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, Caveat, few_topics, noted, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.score_sets import UNNAMED, named_scores, score_in_words
from pt_reuse.scoring.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: pairs of samples that one job counts
_SHARE = 2500
#: resamples that one job counts
_RESAMPLES = 10


@dataclass(frozen=True)
class Sampling:
    """How samples of topics are drawn; the same for every field with as many topics.

    Attributes:
        pairs: how many pairs of samples of each size.
        replace: whether a sample can have a topic twice, and both samples the same topic.
        seed: of the draws; those of one size do not depend on the other sizes.
    """

    pairs: int
    replace: bool
    seed: int

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
class Task:
    """What one job counts; it needs nothing else, so that it can run anywhere.

    Attributes:
        sums: the scores.
        drawn: (draws, 2, size) numbers of topics.
        bins: of the differences.
        topics: (resamples, topics) what each number stands for, one count for each row; None for itself.
    """

    sums: TopicSums
    drawn: Ints
    bins: Bins
    topics: Ints | None = None

    def run(self) -> Ints:
        """Return (resamples, 2, bins) pairs and swaps; of one resample where the topics stand for themselves."""
        drawn = [self.drawn] if self.topics is None else (topics[self.drawn] for topics in self.topics)
        return np.stack([count_swaps(self.sums, topics, self.bins) for topics in drawn])


def counted(
    fields: Sequence[TopicSums],
    sizes: Sequence[int],
    sampling: Sampling,
    bins: Bins,
    *,
    n_jobs: int | None,
    verbose: bool,
) -> Ints:
    """Count pairs and swaps of each field in the samples of its size.

    Returns:
        (fields, 2, bins).
    """
    lines, starts = _alike_together(fields, sizes), range(0, sampling.pairs, _SHARE)
    tasks = (
        Task(fields[line], drawn[start : start + _SHARE], bins)
        for line, drawn in _drawn(lines, fields, sizes, sampling)
        for start in starts
    )
    found = np.zeros((len(fields), 2, bins.n), dtype=np.int64)
    done = _counts(tasks, len(lines) * len(starts), n_jobs=n_jobs, verbose=verbose)
    for number, counts in enumerate(done):
        found[lines[number // len(starts)]] += counts[0]
    return found


def counted_again(
    fields: Sequence[TopicSums],
    sizes: Sequence[int],
    sampling: Sampling,
    resampled: Mapping[int, Ints],
    bins: Bins,
    *,
    n_jobs: int | None,
    verbose: bool,
) -> Iterator[tuple[int, Ints]]:
    """Yield for each field (resamples, 2, bins) pairs and swaps, its topics drawn anew for each resample.

    Args:
        fields: scores, one for each size.
        sizes: of the samples.
        sampling: how these are drawn; the same ones for every resample.
        resampled: number of topics -> (resamples, topics), which topics there are.
        bins: of the differences.
        n_jobs: as joblib takes it.
        verbose: whether to show a progress bar.

    Yields:
        Which field it is, and its counts.
    """
    lines = _alike_together(fields, sizes)
    starts = range(0, min(map(len, resampled.values())), _RESAMPLES)
    tasks = (
        Task(fields[line], drawn, bins, resampled[len(fields[line].scores)][start : start + _RESAMPLES])
        for line, drawn in _drawn(lines, fields, sizes, sampling)
        for start in starts
    )
    done = _counts(tasks, len(lines) * len(starts), n_jobs=n_jobs, verbose=verbose)
    for line in lines:
        yield line, np.concatenate([next(done) for _ in starts])


def _alike_together(fields: Sequence[TopicSums], sizes: Sequence[int]) -> list[int]:
    """Return the numbers of the fields, those that see the same samples one after the other."""
    return sorted(range(len(fields)), key=lambda line: (sizes[line], len(fields[line].scores)))


def _drawn(
    lines: Sequence[int], fields: Sequence[TopicSums], sizes: Sequence[int], sampling: Sampling
) -> Iterator[tuple[int, Ints]]:
    """Yield each field's number and samples, drawn when it is its turn: those of all sizes would not fit in memory."""
    at, drawn = (0, 0), np.empty(0, dtype=np.int64)
    for line in lines:
        wanted = sizes[line], len(fields[line].scores)
        if wanted != at:
            at, drawn = wanted, sampling.draws(*wanted)
        yield line, drawn


def topics_of(counts: NDArray[np.int64]) -> Ints:
    """Return (resamples, topics): which topics there are, from how often each is drawn."""
    return np.stack([np.repeat(np.arange(len(row)), row) for row in counts])


def _counts(tasks: Iterable[Task], total: int, *, n_jobs: int | None, verbose: bool) -> Iterator[Ints]:
    """Return the counts in order, counted in threads unless the user has configured otherwise."""
    return run_jobs(tasks, total, desc="counting swaps", unit="part", n_jobs=n_jobs, verbose=verbose, prefer="threads")


_OF_A_LINE = ["judgments", "measure"]
#: sizes with swaps that a curve is fitted to, at least
_LEAST_SIZES = 3


def differences(table: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Return for each size the smallest difference from which on no bin has more swaps than wanted.

    Returns:
        DataFrame: ``judgments measure size pairs swaps rate difference share``, see
        ``Stability.differences_needed``.
    """
    rows = []
    for (judgments, measure, size), bins in table.groupby([*_OF_A_LINE, "size"], sort=False):
        pairs, swaps = int(bins["pairs"].sum()), int(bins["swaps"].sum())
        known = bins["rate"].notna().any()
        too_many = np.flatnonzero((bins["rate"] > rate).to_numpy())
        first = int(too_many[-1]) + 1 if len(too_many) else 0
        found = known and first < len(bins) and bool(bins["pairs"].iloc[first:].any())
        rows.append(
            {
                "judgments": judgments,
                "measure": measure,
                "size": size,
                "pairs": pairs,
                "swaps": swaps,
                "rate": swaps / pairs if known else np.nan,
                "difference": float(bins["at_least"].iloc[first]) if found else np.nan,
                "share": bins["pairs"].iloc[first:].sum() / pairs if found else np.nan,
            }
        )
    return pd.DataFrame(rows)


def topics(table: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Return for each bin how many topics it takes to have no more swaps than wanted.

    Returns:
        DataFrame: ``judgments measure bin at_least below topics extrapolated start decay``, see
        ``Stability.topics_needed``.
    """
    return pd.DataFrame(list(_topics(table, rate)))


def _topics(table: pd.DataFrame, rate: float) -> Iterator[dict[str, Any]]:
    for (judgments, measure, number), sizes in table.groupby([*_OF_A_LINE, "bin"], sort=False):
        sizes = sizes.sort_values("size")
        start, decay = _fit(sizes)
        known = sizes[sizes["rate"].notna()]
        too_many = np.flatnonzero((known["rate"] > rate).to_numpy())
        first = int(too_many[-1]) + 1 if len(too_many) else 0
        measured = first < len(known)
        needed = float(known["size"].iloc[first]) if measured else np.nan
        if not measured and len(known) and decay > 0:
            needed = float(max(np.ceil(np.log(start / rate) / decay), known["size"].iloc[-1] + 1))
        yield {
            "judgments": judgments,
            "measure": measure,
            "bin": number,
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


KINDS = ("bins", "sizes")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stability(Result):
    """How often two samples of topics order a pair of runs differently.

    Attributes:
        table: one row per judgments, measure, size of the samples and bin: ``judgments measure size bin``; ``at_least``
            and ``below``, the differences that fall into the bin, the last one open; ``pairs``, how many pairs of runs
            and samples did; ``swaps``, how many of these the second sample orders differently; ``rate`` = swaps /
            pairs, NaN where no pair fell into the bin, where all runs tie on every topic, and where there is one topic
            only. With ``resamples``, ``rate_low`` and ``rate_high``, the ends of its interval over topics.
    """

    title: ClassVar[str] = "Stability"

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name; what a rate needs is told for one of .05."""
        return {"table": self.table, "differences": self.differences_needed(), "topics": self.topics_needed()}

    @property
    def judgments(self) -> list[str]:
        """Return the names of the judgments."""
        return list(dict.fromkeys(self.table["judgments"]))

    @door
    def differences_needed(self, rate: float = USUAL_RATE) -> pd.DataFrame:
        """Return how far apart two runs must be, by the number of topics, for another sample to agree.

        Args:
            rate: the largest swap rate that is wanted, above 0 and below 1.

        Returns:
            DataFrame: one row per judgments, measure and size: ``judgments measure size``; ``pairs swaps rate`` of all
            bins together; ``difference``, the lower end of the first bin from which on no bin has a larger rate, NaN
            where the last bin has; ``share`` of the pairs that are at least so far apart.
        """
        return differences(self.table, fraction("rate", rate, ends=False))

    @door
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
        return topics(self.table, fraction("rate", rate, ends=False))

    def key_figures(self) -> pd.DataFrame:
        """Return the swap rate of the largest samples, and the difference that they need for one of .05."""
        rows = self.differences_needed().groupby(["judgments", "measure"], sort=False).tail(1)
        several = len(self.judgments) > 1
        named = [name if several else "" for name in rows["judgments"]]
        rows = rows.rename(columns={"rate": "swap_rate"})
        return key_figures_of(rows, ["swap_rate", "difference"], rows=named)

    def headline(self) -> str:
        """Return of each judgments and measure the difference that the largest samples need."""
        parts = []
        for row in self.differences_needed().groupby(["judgments", "measure"], sort=False).tail(1).to_dict("records"):
            where = f"{row['judgments']}, {row['measure']}" if len(self.judgments) > 1 else row["measure"]
            if pd.isna(row["rate"]):
                parts.append(f"{where}: nothing that could be turned round")
                continue
            need = "no bin" if pd.isna(row["difference"]) else f"differences from {row['difference']:.4g}"
            parts.append(
                f"{where} at {count(row['size'], 'topic')}: swaps {row['rate']:.2%}, {need} at most {USUAL_RATE:.0%}"
            )
        return "; ".join(parts)

    @door
    def report(self, measure: MeasureLike | None = None, *, rate: float = USUAL_RATE) -> Report:
        """Return what a paper prints: by size of the samples, how often they disagree and what a difference must be.

        Args:
            measure: one of the measures; default the first.
            rate: the largest swap rate that is wanted.
        """
        name = measure_among(self.measures, measure)
        rows = self.differences_needed(rate)
        rows = rows[rows["measure"] == name]
        said = ("samples", "bins", "swaps", "ties")
        notes = [
            " ".join(f"{what.capitalize()}: {self.settings[what]}." for what in said),
            *([f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else []),
        ]
        return Report(
            [
                Column("Judgments", rows["judgments"]),
                Column("Topics", rows["size"], Digits.COUNT),
                Column("Swap rate", rows["rate"], Digits.SCORE),
                Column("Difference needed", rows["difference"], Digits.SIZE),
                Column("Pairs so far apart", rows["share"], Digits.SCORE),
            ],
            caption=(
                f"How often two samples of so many topics order a pair of runs differently by {name}; the difference "
                f"on the first from which on at most {100 * rate:g} % of the pairs in any bin are swaps; "
                "and the share of pairs at least so far apart."
            ),
            notes=notes,
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        judgments: str | None = None,
        kind: str = "bins",
        sizes: Iterable[int] | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the swap rate against the difference, a line for each size of the samples.

        Args:
            measure: one of the measures; default the first.
            judgments: one of the judgments; default the first.
            kind: ``"bins"`` (default), a line per size against the difference; ``"sizes"``, a line per bin against the
                size.
            sizes: which sizes to draw; default all.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the lines, the largest samples and the smallest differences dark, and a rate of .05. Intervals are
            bands around the lines where these are three at most, else around the darkest alone.
        """
        from pt_reuse.plots.lines import plot_swap_rates
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        which = self.judgments[0] if judgments is None else choice("judgments", judgments, self.judgments)
        choice("kind", kind, KINDS)
        rows = self.table[(self.table["measure"] == name) & (self.table["judgments"] == which)]
        rows = rows[rows["size"].isin(self._sizes(sizes, rows))]
        place = Place(ax, title, legend, width)
        return plot_swap_rates(rows, by_size=kind == "sizes", measure=name, wanted=USUAL_RATE, place=place)

    def _sizes(self, sizes: Any, rows: pd.DataFrame) -> list[int]:
        known = [int(size) for size in dict.fromkeys(rows["size"])]
        chosen = known if sizes is None else [sizes] if isinstance(sizes, int) else list(sizes)
        odd = [size for size in chosen if size not in known]
        if odd or not chosen:
            problem = f" must be among {examples(known, 12)}, got {told(sizes)}."
            raise InputError(Argument("sizes"), problem, argument="sizes")
        return chosen


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
