"""Simulate how often intervals over topics cover the value of the population, and write it into docs/experiments.

    python scripts/interval_coverage.py [DATA] [JOBS]
    python scripts/interval_coverage.py --ranks [DATA] [JOBS]

DATA is a folder with trec8-adhoc and dl19-passages (default: PT_REUSE_DATA), JOBS the processes (default 2). A
*population* is a law that topics are drawn from: real topics, each as likely, with the scores of all runs under two
judgment sets; or normal scores of simulated systems. Its value is the coefficient of the two rankings by the means of
the population, which is known. A *field* is a sample of 20, 25 or 50 topics; from it comes the estimate, and by drawing
its topics again an interval. An interval of 95 % should contain the value of the population in 95 of 100 fields. It
takes about 15 minutes of the processor.

``--ranks`` simulates rank_intervals instead, in about a minute: how often all intervals of a field hold the ranks by
the means of the population, equal ones sharing all their ranks. ``--smallest`` draws 3 fields and writes nothing.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ir_measures import AP, P, nDCG
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import special

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import USUAL_COEFFICIENTS, TopicBootstrap, TopicScores, numbers_of
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.studies.rank_intervals import significant_pairs

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "interval-coverage.txt"
FIELDS, RESAMPLES, CONFIDENCE, TOPICS = 500, 1000, 0.95, (20, 25, 50)
SHOWN = ("tau_b", "gamma", "tau_ap_b", "max_drop")
#: of rank intervals
RANKS = TARGET.with_name("rank-interval-coverage.txt")
RANK_FIELDS, RANK_TOPICS = 500, (10, 25, 50)
#: Fisher's z has no value at 1
MOST = 1 - 1e-4

Floats = NDArray[np.float64]
Both = tuple[Floats, Floats]
#: (number, way) -> the shares of fields whose interval lies above the value and below it, and its width
Covered = dict[tuple[str, str], Floats]


@dataclass(frozen=True)
class Population:
    """What topics are drawn from.

    Attributes:
        name: in the table.
        sample: n topics, (n, runs) scores on both sides, of a generator and n.
        value: name -> the number of the population.
        change: (runs,) by how much the mean of each is higher on the second side.
    """

    name: str
    sample: Callable[[np.random.Generator, int], Both]
    value: dict[str, float]
    change: Floats


def of_topics(name: str, truth: Floats, estimate: Floats) -> Population:
    """Return the population of which each of the given topics is as likely."""

    def sample(random: np.random.Generator, n: int) -> Both:
        drawn = random.integers(0, len(truth), n)
        return truth[drawn], estimate[drawn]

    before, after = truth.mean(axis=0), estimate.mean(axis=0)
    return Population(name, sample, value_of(before, after), after - before)


def of_systems(n_runs: int, unfair: float) -> Population:
    """Return a population of normal scores; `unfair` is the standard deviation of what a system gains in truth."""
    random = np.random.default_rng(n_runs)
    mean, gain = random.normal(0.3, 0.1, n_runs), random.normal(0, unfair, n_runs)

    def sample(random: np.random.Generator, n: int) -> Both:
        truth = mean + random.normal(0, 0.1, (n, 1)) + random.normal(0, 0.15, (n, n_runs))
        return truth, truth + gain + random.normal(0, 0.06, (n, n_runs))

    name = f"{n_runs} simulated, unfair by {unfair}"
    return Population(name, sample, value_of(mean, mean + gain), gain)


def value_of(truth: Floats, estimate: Floats) -> dict[str, float]:
    """Return the numbers of two rankings by means."""
    return {name: float(value[0]) for name, value in numbers_of(truth[None], estimate[None]).items()}


def populations(data: Path) -> Iterator[Population]:
    """Yield the populations."""
    folder = data / "trec8-adhoc"
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids")
    qrels = ptr.read_qrels(folder / "trec8.qrels.gz")
    ap, p10 = ptr.score(runs, qrels, [AP, P @ 10]).values
    for depth in (10, 2):
        pooled = qrels.restrict(ptr.depth_pool(runs, depth=depth))
        yield of_topics(f"TREC-8, AP, pool of depth {depth}", ap, ptr.score(runs, pooled, AP).values[0])
    yield of_topics("TREC-8, AP against P@10", ap, p10)
    lou = ptr.leave_out_uniques(runs, qrels, [AP, P @ 10])
    for measure, full, own in zip(("AP", "P@10"), lou.scores.values, lou.own_scores.values, strict=True):
        yield of_topics(f"TREC-8, {measure}, no own uniques", full, own)
    folder = data / "dl19-passages"
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", types=folder / "types")
    qrels, table = ptr.read_qrels(folder / "qrels.gz"), runs.run_table
    traditional = runs.select(table.loc[table["type"] == "traditional", "name"].tolist())
    pooled = qrels.restrict(ptr.depth_pool(traditional, depth=10))
    full, other = (ptr.score(runs, judgments, nDCG @ 10).values[0] for judgments in (qrels, pooled))
    yield of_topics("DL 2019, traditional pool", full, other)
    for n_runs, unfair in ((60, 0.01), (60, 0.05), (20, 0.03), (100, 0.2)):
        yield of_systems(n_runs, unfair)


def of_judges(data: Path) -> Iterator[Population]:
    """Yield the fields of Deep Learning under people and under a judge whose ranking is near to theirs."""
    for track in ("dl19-passages", "dl21-passages"):
        folder = data / track
        runs = ptr.read_runs(folder / "inputs")
        people, judge = (ptr.read_qrels(folder / name) for name in ("qrels.gz", "llm-labels/umbrela-gpt-4.gz"))
        truth, estimate = (ptr.score(runs, judgments, nDCG @ 10).values[0] for judgments in (people, judge))
        yield of_topics(f"{track}, UMBRELA", truth, estimate)


@dataclass(frozen=True)
class Systems:
    """What the scores of systems are drawn from.

    Attributes:
        name: in the table.
        sample: (topics, systems) scores, of a generator and the number of topics.
        means: (systems,) of the population.
    """

    name: str
    sample: Callable[[np.random.Generator, int], Floats]
    means: Floats


def of_errors(name: str, draw: Callable[[np.random.Generator, int], Floats], means: Floats) -> Systems:
    """Return systems with given means; what is drawn beside them has a mean of 0."""

    def sample(random: np.random.Generator, n: int) -> Floats:
        return means + random.normal(0, 0.2, (n, 1)) + draw(random, n)

    return Systems(name, sample, means)


def simulated_systems() -> Iterator[Systems]:
    """Yield systems whose errors are of many kinds."""
    n, equal, apart = 12, np.full(12, 0.5), 0.5 + 0.02 * np.arange(12)
    size = 0.02 * 1.5 ** np.arange(n)

    def normal(random: np.random.Generator, n_topics: int) -> Floats:
        return random.normal(0, 0.1, (n_topics, n))

    def lognormal(random: np.random.Generator, n_topics: int) -> Floats:
        return size * (random.lognormal(0, 1, (n_topics, n)) - np.exp(0.5))

    def exponential(random: np.random.Generator, n_topics: int) -> Floats:
        return size * (random.exponential(1, (n_topics, n)) - 1)

    def correlated(random: np.random.Generator, n_topics: int) -> Floats:
        # two of each team share most of what they do
        team = np.repeat(random.normal(0, 0.1, (n_topics, n // 2)), 2, axis=1)
        return team + random.normal(0, 0.03, (n_topics, n))

    yield of_errors("normal, equal means", normal, equal)
    yield of_errors("normal, means .02 apart", normal, apart)
    yield of_errors("t of 2.2 degrees, equal means", lambda r, k: 0.1 * r.standard_t(2.2, (k, n)), equal)
    yield of_errors("correlated in pairs, means .02 apart", correlated, apart)
    pairs_of_equals = 0.5 + 0.06 * (np.arange(n) // 2)

    def rounded_to_a_tenth(random: np.random.Generator, n_topics: int) -> Floats:
        # a shift that is uniform over a tenth leaves means as they are
        shift = random.uniform(0, 0.1, (n_topics, n))
        return np.floor((pairs_of_equals + random.normal(0, 0.1, (n_topics, n)) + shift) * 10) / 10

    yield Systems("ties: rounded to a tenth, equal in pairs", rounded_to_a_tenth, pairs_of_equals)
    chance = np.linspace(0.3, 0.8, n)
    yield Systems("binary, .3 to .8", lambda r, k: (r.random((k, n)) < chance).astype(float), chance)
    yield Systems("binary, all .6", lambda r, k: (r.random((k, n)) < 0.6).astype(float), np.full(n, 0.6))
    yield of_errors("lognormal of unequal size, means .02 apart", lognormal, apart)
    yield of_errors("exponential of unequal size, equal means", exponential, equal)
    yield of_errors("lognormal of unequal size, equal means", lognormal, equal)


def real_systems(data: Path) -> Iterator[Systems]:
    """Yield the runs of tracks: of their topics each is as likely."""
    tracks = (("trec8-adhoc", "trec8.qrels.gz", AP), ("dl19-passages", "qrels.gz", nDCG @ 10))
    for track, judged, measure in (*tracks, ("dl21-passages", "qrels.gz", nDCG @ 10)):
        values = ptr.score(ptr.read_runs(data / track / "inputs"), ptr.read_qrels(data / track / judged), measure)
        real = values.values[0]

        def sample(random: np.random.Generator, n: int, real: Floats = real) -> Floats:
            return real[random.integers(0, len(real), n)]

        yield Systems(f"{track}, {measure}, {real.shape[1]} runs", sample, real.mean(axis=0))


def all_ranks_held(systems: Systems, n_topics: int, fields: int, seed: int) -> float:
    """Return the share of fields whose rank intervals all hold the ranks of the population."""
    random, means = np.random.default_rng(seed), systems.means.round(9)
    best = 1 + (means[None] > means[:, None]).sum(axis=1)
    worst = len(means) - (means[None] < means[:, None]).sum(axis=1)
    held = []
    for _ in range(fields):
        differs = significant_pairs(systems.sample(random, n_topics), 1 - CONFIDENCE)[1]
        low, high = 1 + (differs < 0).sum(axis=1), len(means) - (differs > 0).sum(axis=1)
        held.append(bool(((low <= best) & (high >= worst)).all()))
    return float(np.mean(held))


def rank_table(data: Path, jobs: int, fields: int) -> str:
    """Return how often all rank intervals of a field hold at once."""
    with told_elsewhere():
        every = [*simulated_systems(), *real_systems(data)]
    cases = [(systems, n) for systems in every for n in RANK_TOPICS]
    found = Parallel(n_jobs=jobs)(delayed(all_ranks_held)(*case, fields, seed) for seed, case in enumerate(cases))
    rows = [["systems", *(f"{n} topics" for n in RANK_TOPICS)]]
    for at, systems in enumerate(every):
        mine = found[at * len(RANK_TOPICS) : (at + 1) * len(RANK_TOPICS)]
        rows.append([systems.name, *(f"{share:.3f}" for share in mine)])
    return (
        f"The share of {fields} fields in which all rank intervals of 95 % hold the ranks of the population.\n"
        "12 simulated systems, if no other number is given.\n\n" + table(rows)
    )


def jackknifed(left_out: Floats) -> float:
    """Return the acceleration of BCa."""
    away = left_out.mean() - left_out
    spread = (away**2).sum()
    return float((away**3).sum() / (6 * spread**1.5)) if spread > 0 else 0.0


def intervals(name: str, estimate: float, drawn: Floats, left_out: Floats) -> dict[str, tuple[float, float]]:
    """Return the ends by each way of making them; all but the percentile interval are made to contain the estimate."""
    tail = (1 - CONFIDENCE) / 2
    ends = np.array([tail, 1 - tail])
    low, high = np.quantile(drawn, ends)
    below = ((drawn < estimate).sum() + (drawn == estimate).sum() / 2) / len(drawn)
    z0 = special.ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    z, a = z0 + special.ndtri(ends), jackknifed(left_out)
    bias = drawn.mean() - estimate
    reach = np.quantile(np.abs(drawn - estimate), CONFIDENCE)
    made = {
        "basic": (2 * estimate - high, 2 * estimate - low),
        "symmetric (Hall)": (estimate - reach, estimate + reach),
        "BC": tuple(np.quantile(drawn, special.ndtr(2 * z0 + special.ndtri(ends)))),
        "BCa": tuple(np.quantile(drawn, special.ndtr(z0 + z / (1 - a * z)))),
        "moved by the bias": (low - bias, high - bias),
        "moved by twice the bias": (low - 2 * bias, high - 2 * bias),
    }
    if name in USUAL_COEFFICIENTS:
        fisher = np.arctanh(np.clip(drawn, -MOST, MOST))
        middle = np.arctanh(np.clip(estimate, -MOST, MOST))
        z_low, z_high = np.quantile(fisher, ends)
        z_bias = fisher.mean() - middle
        made["Fisher's z"] = tuple(np.tanh([z_low - z_bias, z_high - z_bias]))
        made["Fisher's z, twice"] = tuple(np.tanh([z_low - 2 * z_bias, z_high - 2 * z_bias]))
    first, last = (-1, 1) if name in USUAL_COEFFICIENTS else (0, np.inf)
    made = {way: (min(max(a, first), estimate), max(min(b, last), estimate)) for way, (a, b) in made.items()}
    of_library = TopicBootstrap(RESAMPLES, 0, CONFIDENCE)
    joined = of_library.interval(estimate, drawn, within=(first, last), integer=name not in USUAL_COEFFICIENTS)
    return {"percentile": (low, high), **made, "joined": joined}


def covered(population: Population, n_topics: int, seed: int, fields: int) -> Covered:
    """Return (number, way) -> the shares of fields whose interval lies above the value and below it, and its width."""
    random = np.random.default_rng(seed)
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for _ in range(fields):
        truth, estimate = (TopicScores(side) for side in population.sample(random, n_topics))
        all_once, one_less = np.ones((1, n_topics), dtype=int), 1 - np.eye(n_topics, dtype=int)
        counts = TopicBootstrap(RESAMPLES, int(random.integers(1 << 31)), CONFIDENCE).counts(n_topics)
        weights = np.concatenate([all_once, one_less, counts])
        numbers = numbers_of(truth.means(weights), estimate.means(weights))
        for name in SHOWN:
            first, left_out, drawn = np.split(numbers[name], [1, 1 + n_topics])
            made = intervals(name, float(first[0]), drawn[~np.isnan(drawn)], left_out[~np.isnan(left_out)])
            value = population.value[name]
            for way, (low, high) in made.items():
                missed = (value < low - 1e-9, value > high + 1e-9, high - low)
                found.setdefault((name, way), []).append(missed)
    return {key: np.mean(rows, axis=0) for key, rows in found.items()}


def covered_changes(population: Population, n_topics: int, seed: int, fields: int) -> float:
    """Return the share of percentile intervals of a run's mean change that contain that of the population.

    Runs that change on fewer than three of the population's topics in ten are left out: a field may have none of them.
    """
    random, every = np.random.default_rng(seed), population.sample(np.random.default_rng(0), 20_000)
    change = every[1] - every[0]
    runs, hits = np.flatnonzero((change != 0).mean(axis=0) >= 0.3), []
    for _ in range(fields):
        truth, estimate = population.sample(random, n_topics)
        of_topic = (estimate - truth)[:, runs]
        bootstrap = TopicBootstrap(RESAMPLES, int(random.integers(1 << 31)), CONFIDENCE)
        drawn = bootstrap.counts(n_topics) @ of_topic / n_topics
        low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
        value = population.change[runs]
        hits.append(((low <= value) & (value <= high)).mean())
    return float(np.mean(hits))


def table(rows: list[list[str]]) -> str:
    """Return rows of cells under each other, the first cell to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def by_case(
    cases: list[tuple[Population, int]], found: list[Covered], name: str, shape: str, ways: tuple[str, ...]
) -> str:
    """Return in how many of 100 fields of each case an interval covers a number, in brackets how many lie too low."""
    rows = [["population", "topics", name, *ways]]
    for (population, n), case in zip(cases, found, strict=True):
        of_case = [case[name, way] for way in ways]
        cells = [f"{100 * (1 - above - below):.0f} ({100 * below:.0f})" for above, below, _ in of_case]
        rows.append([population.name, str(n), f"{population.value[name]:{shape}}", *cells])
    return table(rows)


def table_of_judges(data: Path, jobs: int, fields: int) -> str:
    """Return how often the joined interval of the largest drop covers it, where a judge is audited."""
    with told_elsewhere():
        cases = [(population, n) for population in of_judges(data) for n in TOPICS]
    found = Parallel(n_jobs=jobs)(delayed(covered)(*case, seed, fields) for seed, case in enumerate(cases))
    rows = [["population", "topics", "tau_b", "joined", "max_drop", "joined"]]
    for (population, n), case in zip(cases, found, strict=True):
        cells = [population.name, str(n)]
        for name, shape in (("tau_b", ".4f"), ("max_drop", ".0f")):
            above, below, _ = case[name, "joined"]
            cells += [f"{population.value[name]:{shape}}", f"{100 * (1 - above - below):.0f} ({100 * below:.0f})"]
        rows.append(cells)
    head = (
        "Judges beside people, nDCG@10: coverage of the joined interval,\nin brackets how many of 100 lie too low.\n\n"
    )
    return head + table(rows)


def agreement_tables(data: Path, jobs: int, fields: int) -> str:
    """Return how often intervals of coefficients hold."""
    with told_elsewhere():
        known = list(populations(data))
    cases = [(population, n) for population in known for n in TOPICS]
    found = Parallel(n_jobs=jobs)(delayed(covered)(*case, seed, fields) for seed, case in enumerate(cases))
    own = next(population for population in known if population.name.endswith("AP, no own uniques"))
    changes = Parallel(n_jobs=jobs)(delayed(covered_changes)(own, n, n, fields) for n in TOPICS)
    ways = list(dict.fromkeys(way for _, way in found[0]))
    text = [
        f"{len(known)} populations of topics, {fields} fields each of {', '.join(map(str, TOPICS))} topics, "
        f"{RESAMPLES:,} resamples a field.",
        "How many of 100 fields have a 95 % interval that contains the value of the population: the mean",
        f"over the {len(cases)} cases, in brackets the least; and its width, that of the percentile interval being 1.",
        "",
    ]
    rows = [["interval", *SHOWN, "width (tau_b)"]]
    for way in ways:
        cells = []
        for name in SHOWN:
            if (name, way) not in found[0]:
                cells.append("-")
                continue
            hit = np.array([100 * (1 - case[name, way][:2].sum()) for case in found])
            cells.append(f"{hit.mean():.1f} ({hit.min():.0f})")
        wide = np.mean([case["tau_b", way][2] / case["tau_b", "percentile"][2] for case in found])
        rows.append([way, *cells, f"{wide:.2f}"])
    text += [table(rows), "Case by case, tau_b: coverage, and in brackets how many of 100 intervals lie too low.", ""]
    text += [by_case(cases, found, "tau_b", ".4f", ("percentile", "basic", "BCa", "Fisher's z", "joined"))]
    text += ["The same of the largest drop.", ""]
    text += [by_case(cases, found, "max_drop", ".0f", ("percentile", "basic", "symmetric (Hall)", "joined"))]
    said = ", ".join(f"{100 * hit:.0f} of 100 ({n} topics)" for n, hit in zip(TOPICS, changes, strict=True))
    text += [
        f"The percentile interval of the change of one run's AP without the uniques of its team:\n{said}.",
    ]
    return "\n".join([*text, "", table_of_judges(data, jobs, fields)])


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", nargs="?", type=Path, default=Path(os.environ.get("PT_REUSE_DATA", "../shared/data")))
    parser.add_argument("jobs", nargs="?", type=int, default=2)
    parser.add_argument("--ranks", action="store_true", help="rank intervals instead of coefficients")
    parser.add_argument("--smallest", action="store_true", help="3 fields, written nowhere")
    given = parser.parse_args()
    made, target, fields = (rank_table, RANKS, RANK_FIELDS) if given.ranks else (agreement_tables, TARGET, FIELDS)
    text = made(given.data, given.jobs, 3 if given.smallest else fields)
    if not given.smallest:
        target.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
