"""Simulate how often intervals over topics cover the value of the population: of coefficients, and of swap rates.

A *population* is a law that topics are drawn from: real topics, each as likely, with the scores of all runs under two
judgment sets; or normal scores of simulated systems. Its value is the coefficient of the two rankings by the means of
the population, which is known. A *field* is a sample of 20, 25 or 50 topics; from it comes the estimate, and by drawing
its topics again an interval. The swap rate of a population is that of two samples of topics drawn from it; from a field
come swap rates by bin, of 22 runs of TREC-8 or 22 simulated systems. It takes 25 minutes of the processor.
"""

import numpy as np
from ir_measures import AP, P, nDCG
from scipy import special
from store import deep, labels, laid_out, trec8

import pt_reuse as ptr
from pt_reuse.arrays import bootstrap
from pt_reuse.studies.stability import Sampling, topics_of

RESAMPLES, CONFIDENCE, TOPICS = 1000, 0.95, (20, 25, 50)
SHOWN, WAYS = ("tau_b", "gamma", "tau_ap_b", "max_drop"), ("percentile", "BC", "BCa", "joined")
#: of swap rates: bins with fewer pairs or swaps in the population are left out
RUNS, BINS, LEAST_PAIRS, LEAST_SWAPS = 22, bootstrap.Bins.of(0.01, 21), 2000, 200


def value_of(truth, estimate):
    """Return the numbers of two rankings by means."""
    return {name: float(value[0]) for name, value in bootstrap.numbers_of(truth[None], estimate[None]).items()}


def of_topics(name, truth, estimate):
    """Return the population of which each of the given topics is as likely: name, sample, values, changes of runs."""

    def sample(random, n):
        drawn = random.integers(0, len(truth), n)
        return truth[drawn], estimate[drawn]

    before, after = truth.mean(axis=0), estimate.mean(axis=0)
    return name, sample, value_of(before, after), after - before


def of_systems(n_runs, unfair):
    """Return a population of normal scores; `unfair` is the standard deviation of what a system gains in truth."""
    random = np.random.default_rng(n_runs)
    mean, gain = random.normal(0.3, 0.1, n_runs), random.normal(0, unfair, n_runs)

    def sample(random, n):
        truth = mean + random.normal(0, 0.1, (n, 1)) + random.normal(0, 0.15, (n, n_runs))
        return truth, truth + gain + random.normal(0, 0.06, (n, n_runs))

    return f"{n_runs} simulated, unfair by {unfair}", sample, value_of(mean, mean + gain), gain


def populations(data):
    """Yield the populations."""
    runs, qrels = trec8(data, types=None, pooled=None)
    ap, p10 = ptr.score(runs, qrels, [AP, P @ 10]).values
    for depth in (10, 2):
        pooled = qrels.restrict(ptr.depth_pool(runs, depth=depth))
        yield of_topics(f"TREC-8, AP, pool of depth {depth}", ap, ptr.score(runs, pooled, AP).values[0])
    yield of_topics("TREC-8, AP against P@10", ap, p10)
    lou = ptr.leave_out_uniques(runs, qrels, [AP, P @ 10])
    for measure, full, own in zip(("AP", "P@10"), lou.scores.values, lou.own_scores.values, strict=True):
        yield of_topics(f"TREC-8, {measure}, no own uniques", full, own)
    runs, qrels = deep(data, 19, order="trec_eval", pool_order=None)
    pooled = qrels.restrict(ptr.depth_pool(runs.select(type="traditional"), depth=10))
    full, other = (ptr.score(runs, judgments, nDCG @ 10).values[0] for judgments in (qrels, pooled))
    yield of_topics("DL 2019, traditional pool", full, other)
    for n_runs, unfair in ((60, 0.01), (60, 0.05), (20, 0.03), (100, 0.2)):
        yield of_systems(n_runs, unfair)


def of_judges(data):
    """Yield the fields of Deep Learning under people and under a judge whose ranking is near to theirs."""
    for year in (19, 21):
        runs, people = deep(data, year, order="trec_eval")
        judge = ptr.read_qrels(labels(data, year)["umbrela-gpt-4"])
        truth, estimate = (ptr.score(runs, judgments, nDCG @ 10).values[0] for judgments in (people, judge))
        yield of_topics(f"dl{year}-passages, UMBRELA", truth, estimate)


def intervals(name, estimate, drawn, left_out):
    """Return the ends of the interval by percentiles, of both with a correction of the bias, and of the joined one."""
    tail = (1 - CONFIDENCE) / 2
    ends = np.array([tail, 1 - tail])
    below = ((drawn < estimate).sum() + (drawn == estimate).sum() / 2) / len(drawn)
    z0 = special.ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    # the acceleration, by the jackknife
    z, away = z0 + special.ndtri(ends), left_out.mean() - left_out
    spread = (away**2).sum()
    a = (away**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
    within = (-1, 1) if name in bootstrap.USUAL_COEFFICIENTS else (0, np.inf)
    shares = special.ndtr([2 * z0 + special.ndtri(ends), z0 + z / (1 - a * z)])
    low, high = np.clip(np.quantile(drawn, shares), *within).T
    corrected = zip(np.minimum(low, estimate), np.maximum(high, estimate), strict=True)
    library = bootstrap.TopicBootstrap(RESAMPLES, 0, CONFIDENCE)
    joined = library.interval(estimate, drawn, within=within, integer=name not in bootstrap.USUAL_COEFFICIENTS)
    return [np.quantile(drawn, ends), *corrected, joined]


def covered(sample, values, n_topics, seed, fields):
    """Return (numbers, ways, 3): the shares of fields whose interval is above and below the value, and its width."""
    random, found = np.random.default_rng(seed), []
    for _ in range(fields):
        truth, estimate = (bootstrap.TopicScores(side) for side in sample(random, n_topics))
        counts = bootstrap.TopicBootstrap(RESAMPLES, int(random.integers(1 << 31)), CONFIDENCE).counts(n_topics)
        # all topics once, without each one, and drawn again
        weights = np.concatenate([np.ones((1, n_topics), dtype=int), 1 - np.eye(n_topics, dtype=int), counts])
        numbers, of_field = bootstrap.numbers_of(truth.means(weights), estimate.means(weights)), []
        for name in SHOWN:
            first, left_out, drawn = np.split(numbers[name], [1, 1 + n_topics])
            made = intervals(name, float(first[0]), drawn[~np.isnan(drawn)], left_out[~np.isnan(left_out)])
            of_field.append([(values[name] < a - 1e-9, values[name] > b + 1e-9, b - a) for a, b in made])
        found.append(of_field)
    return np.mean(found, axis=0)


def covered_changes(sample, changes, n_topics, fields):
    """Return the share of percentile intervals of a run's mean change that contain that of the population.

    Runs that change on fewer than three of the population's topics in ten are left out: a field may have none of them.
    """
    random, (before, after) = np.random.default_rng(n_topics), sample(np.random.default_rng(0), 20_000)
    runs, hits = np.flatnonzero((after != before).mean(axis=0) >= 0.3), []
    for _ in range(fields):
        truth, estimate = sample(random, n_topics)
        drawing = bootstrap.TopicBootstrap(RESAMPLES, int(random.integers(1 << 31)), CONFIDENCE)
        drawn = drawing.counts(n_topics) @ (estimate - truth)[:, runs] / n_topics
        low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
        hits.append(((low <= changes[runs]) & (changes[runs] <= high)).mean())
    return float(np.mean(hits))


def by_case(given, known, fields, ways):
    """Return the shares of every case, and a table of tau_b and the largest drop by some ways."""
    cases = [(population, n) for population in known for n in TOPICS]
    found = given.each(covered, [(*one[1:3], n, seed, fields) for seed, (one, n) in enumerate(cases)])
    rows = [["population", "topics", "tau_b", *ways, "max_drop", *ways]]
    for ((title, _, values, _), n), shares in zip(cases, found, strict=True):
        rows.append([title, str(n)])
        for name, form in (("tau_b", ".4f"), ("max_drop", ".0f")):
            of_ways = [shares[SHOWN.index(name), WAYS.index(way)] for way in ways]
            hits = [f"{100 * (1 - above - below):.0f} ({100 * below:.0f})" for above, below, _ in of_ways]
            rows[-1] += [format(values[name], form), *hits]
    return np.array(found), laid_out(rows)


def coefficients(given):
    """Simulate, and write the tables."""
    fields, known = given.size(500, 3), list(populations(given.data))
    found, cases = by_case(given, known, fields, ("percentile", "joined"))
    rows, hit = [["interval", *SHOWN, "width (tau_b)"]], 100 * (1 - found[..., :2].sum(axis=-1))
    for at, way in enumerate(WAYS):
        cells = [f"{of_number.mean():.1f} ({of_number.min():.0f})" for of_number in hit[:, :, at].T]
        rows.append([way, *cells, f"{(found[:, 0, at, 2] / found[:, 0, 0, 2]).mean():.2f}"])
    own = next(population for population in known if population[0].endswith("AP, no own uniques"))
    changes = given.each(covered_changes, [(own[1], own[3], n, fields) for n in TOPICS])
    said = ", ".join(f"{100 * hit:.0f} of 100 ({n} topics)" for n, hit in zip(TOPICS, changes, strict=True))
    text = [
        f"{len(known)} populations of topics, {fields} fields each of 20, 25, 50 topics, {RESAMPLES:,} resamples.",
        "How many of 100 fields have a 95 % interval that contains the value of the population: the mean",
        f"over the {len(found)} cases, in brackets the least; and its width, that of the percentile interval being 1.",
        "",
        laid_out(rows),
        "Case by case, tau_b and the largest drop: coverage, and in brackets how many of 100 intervals lie too low.",
        "",
        cases,
        f"The percentile interval of the change of one run's AP without the uniques of its team:\n{said}.",
        "",
        "Judges beside people, nDCG@10: coverage of the joined interval,\nin brackets how many of 100 lie too low.",
        "",
        by_case(given, list(of_judges(given.data)), fields, ("joined",))[1],
    ]
    given.write("interval-coverage", "\n".join(text))


def populations_of_swaps(data):
    """Return name -> what draws topics."""
    runs, qrels = trec8(data)
    ap = ptr.score(runs, qrels, AP).values[0][:, :: -(-len(runs) // RUNS)]
    mean = np.random.default_rng(0).normal(0.3, 0.07, RUNS)

    def simulated(random, n):
        return mean + random.normal(0, 0.1, (n, 1)) + random.normal(0, 0.12, (n, RUNS))

    real = {f"TREC-8, AP, {ap.shape[1]} runs": lambda random, n: ap[random.integers(0, len(ap), n)]}
    return {**real, f"{RUNS} simulated systems": simulated}


def rates(counts):
    """Return (bins,) swap rates, NaN where there is no pair."""
    return np.divide(counts[1], counts[0], out=np.full(counts.shape[1:], np.nan), where=counts[0] > 0)


def covered_swaps(sample, n_topics, size, replace, sizes):
    """Return shares of percentile and of joined intervals that cover, that lie too low, and how far rates are too low.

    The sizes are fields, resamples, pairs of samples (of field, resample, population) and topics of the population.
    """
    fields, resamples, pairs, resampled, of_population, population = sizes
    every, found = bootstrap.TopicSums(sample(np.random.default_rng(5), population)), []
    drawn = np.random.default_rng(1).integers(0, population, (of_population, 2, size))
    counts = sum(bootstrap.count_swaps(every, drawn[at : at + 500], BINS) for at in range(0, of_population, 500))
    right, random = rates(counts), np.random.default_rng(n_topics)
    bins = np.flatnonzero((counts[0] >= LEAST_PAIRS) & (counts[1] >= LEAST_SWAPS))
    for field in range(fields):
        sums, drawing = bootstrap.TopicSums(sample(random, n_topics)), bootstrap.TopicBootstrap(resamples, field, 0.95)
        samples = Sampling(pairs, replace, field).draws(size, n_topics)
        estimates = rates(bootstrap.count_swaps(sums, samples, BINS))
        lists = topics_of(drawing.counts(n_topics))
        again = np.stack([rates(bootstrap.count_swaps(sums, topics[samples[:resampled]], BINS)) for topics in lists])
        for at in bins[~np.isnan(estimates[bins])]:
            estimate = float(estimates[at])
            plain = drawing.percentiles(estimate, again[:, at])
            ends = plain, drawing.interval(estimate, again[:, at], within=(0, 1))
            shares = [share for low, high in ends for share in (low <= right[at] <= high, high < right[at])]
            found.append([*shares, right[at] - estimate])
    return np.mean(found, axis=0)


def swap_rates(given):
    """Simulate, and write the table."""
    known = populations_of_swaps(given.data)
    sizes = given.size((60, 100, 2000, 500, 20_000, 40_000), (2, 10, 200, 50, 500, 2000))
    sampled = [(n, *way) for n in (25, 50) for way in ((n, True), (n // 2, True), (n // 2, False))]
    cases = [(name, *case) for name in known for case in sampled]
    found = given.each(covered_swaps, [(known[name], *case, sizes) for name, *case in cases])
    rows = [["population", "topics", "sample", "replace", "percentile", "joined", "too low by"]]
    for (name, n, size, replace), (plain, below, joined, too_low, lower) in zip(cases, found, strict=True):
        cells = [f"{100 * hit:.0f} ({100 * low:.0f})" for hit, low in ((plain, below), (joined, too_low))]
        rows.append([name, str(n), str(size), "yes" if replace else "no", *cells, f"{lower:.4f}"])
    means = np.mean(found, axis=0)
    rows.append(["mean", "", "", "", f"{100 * means[0]:.0f}", f"{100 * means[2]:.0f}", ""])
    head = f"Swap rates by bins of .01 of {sizes[0]} fields each, {sizes[2]:,} pairs of samples, {sizes[1]} resamples\n"
    head += (
        f"of {sizes[3]} pairs of samples. How many of 100 intervals of 95 % contain the swap rate of the population,\n"
    )
    head += "in brackets how many lie too low; and by how much the rates of fields are too low.\n\n"
    given.write("swap-rate-coverage", head + laid_out(rows))


results = (coefficients, swap_rates)
