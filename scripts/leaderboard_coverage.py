"""Simulate how often intervals of leaderboards hold: all of the ranks, and those of the agreement of two.

A field is a sample of topics, of systems whose means are known; its intervals of 95 % hold where all of them have the
ranks by these means, equal ones sharing all their ranks. Systems with *families* have equal means and normal scores on
5 to 60 tasks, of equal or of unequal variance; where tasks come in families of two, 70 % of the variance is shared.
Of two leaderboards, 10 to 87 runs have two scores each. *normal* and *heavy* (t of 2 degrees) scores are correlated;
*tied* are normal ones rounded to a quarter of a deviation; of *odd* one run in 20 has a second score of its own. The
truth is that of 24,000 runs. It takes about two minutes.
"""

import numpy as np
from ir_measures import AP, nDCG
from store import deep, laid_out, trec8

import pt_reuse as ptr
from pt_reuse.studies.compare_leaderboards import agreement_of_means, ends_over_runs
from pt_reuse.studies.rank_intervals import significant_pairs

TOPICS, LEVEL = (10, 25, 50), 0.05
NUMBERS = ("tau_b", "gamma", "tau_ap_b", "spearman", "pearson")


def simulated_systems():
    """Yield 12 systems whose errors are of many kinds: name, their means, a sample of a generator and n topics."""
    n, equal, apart = 12, np.full(12, 0.5), 0.5 + 0.02 * np.arange(12)
    size, pairs, chance = 0.02 * 1.5 ** np.arange(n), 0.5 + 0.06 * (np.arange(n) // 2), np.linspace(0.3, 0.8, n)

    def rounded_to_a_tenth(random, k):
        # a shift that is uniform over a tenth leaves means as they are
        shift = random.uniform(0, 0.1, (k, n))
        return np.floor((pairs + random.normal(0, 0.1, (k, n)) + shift) * 10) / 10

    def correlated(random, k):
        # two of each team share most of what they do
        team = np.repeat(random.normal(0, 0.1, (k, n // 2)), 2, axis=1)
        return team + random.normal(0, 0.03, (k, n))

    draws = {
        "normal": lambda random, k: random.normal(0, 0.1, (k, n)),
        "t of 2.2 degrees": lambda random, k: 0.1 * random.standard_t(2.2, (k, n)),
        "correlated in pairs": correlated,
        "lognormal of unequal size": lambda random, k: size * (random.lognormal(0, 1, (k, n)) - np.exp(0.5)),
        "exponential of unequal size": lambda random, k: size * (random.exponential(1, (k, n)) - 1),
    }

    def errors(kind, means):
        words = f"{kind}, {'equal means' if means is equal else 'means .02 apart'}"
        return words, means, lambda random, k: means + random.normal(0, 0.2, (k, 1)) + draws[kind](random, k)

    yield from (errors("normal", means) for means in (equal, apart))
    yield errors("t of 2.2 degrees", equal)
    yield errors("correlated in pairs", apart)
    yield "ties: rounded to a tenth, equal in pairs", pairs, rounded_to_a_tenth
    yield "binary, .3 to .8", chance, lambda random, k: (random.random((k, n)) < chance).astype(float)
    yield "binary, all .6", np.full(n, 0.6), lambda random, k: (random.random((k, n)) < 0.6).astype(float)
    yield errors("lognormal of unequal size", apart)
    yield errors("exponential of unequal size", equal)
    yield errors("lognormal of unequal size", equal)


def real_systems(data):
    """Yield the runs of tracks: of their topics each is as likely."""
    tracks = [("trec8-adhoc", AP, trec8(data))]
    tracks += [(f"dl{year}-passages", nDCG @ 10, deep(data, year, order="trec_eval")) for year in (19, 21)]
    for track, measure, (runs, qrels) in tracks:
        real = ptr.score(runs, qrels, measure).values[0]
        name = f"{track}, {measure}, {real.shape[1]} runs"
        yield name, real.mean(axis=0), lambda random, n, real=real: real[random.integers(0, len(real), n)]


def all_ranks_held(means, sample, n_topics, seed, fields):
    """Return the share of fields whose rank intervals all hold the ranks of the population."""
    random, means, held = np.random.default_rng(seed), means.round(9), []
    best = 1 + (means[None] > means[:, None]).sum(axis=1)
    worst = len(means) - (means[None] < means[:, None]).sum(axis=1)
    for _ in range(fields):
        differs = significant_pairs(sample(random, n_topics), LEVEL)[1]
        low, high = 1 + (differs < 0).sum(axis=1), len(means) - (differs > 0).sum(axis=1)
        held.append(((low <= best) & (high >= worst)).all())
    return np.mean(held)


def held_with_families(tasks, size, unequal, told, fields, systems=10):
    """Return the share of fields in which no pair of equal systems differs."""
    random, family, shared = np.random.default_rng(0), np.arange(tasks) // size, 0.7 if size > 1 else 0.0
    deviation = np.where(np.arange(systems) % 2, 2.0, 1.0) if unequal else np.ones(systems)
    held = []
    for _ in range(fields):
        common = random.normal(0, 1, (family.max() + 1, systems))[family] * np.sqrt(shared)
        scores = 0.05 * deviation * (common + random.normal(0, 1, (tasks, systems)) * np.sqrt(1 - shared))
        held.append(not significant_pairs(scores, LEVEL, families=family if told else None)[1].any())
    return np.mean(held)


def drawn(random, runs, correlation, kind):
    """Return two scores of each run."""
    first = random.normal(size=runs)
    second = correlation * first + np.sqrt(1 - correlation**2) * random.normal(size=runs)
    if kind == "heavy":
        scale = np.sqrt(2 / random.chisquare(2, runs))
        return first * scale, second * scale
    if kind == "tied":
        return np.round(4 * first) / 4, np.round(4 * second) / 4
    if kind == "odd":
        second = np.where(random.random(runs) < 0.05, random.normal(size=runs) - 1, second)
    return first, second


def row(kind, correlation, runs, fields):
    """Return the share of intervals that hold the truth, and the share of fields that have one of tau_b."""
    random = np.random.default_rng(0)
    many = [drawn(random, 3000, correlation, kind) for _ in range(8)]
    of_many = agreement_of_means(*(np.array(side) for side in zip(*many, strict=True)))
    held = {name: [] for name in NUMBERS}
    for _ in range(fields):
        ends = ends_over_runs(*drawn(random, runs, correlation, kind), 0.95)
        for name in NUMBERS:
            if not np.isnan(ends[f"{name}_low"]):
                held[name].append(ends[f"{name}_low"] <= of_many[name].mean() <= ends[f"{name}_high"])
    shares = [f"{np.mean(hits):.3f}" if hits else "-" for hits in held.values()]
    return [kind, f"{of_many['tau_b'].mean():.2f}", str(runs), *shares, f"{len(held['tau_b']) / fields:.3f}"]


def results(given):
    """Simulate, and write the tables."""
    fields, every = given.size(500, 3), [*simulated_systems(), *real_systems(given.data)]
    cases = [(means, sample, n) for _, means, sample in every for n in TOPICS]
    found = given.each(all_ranks_held, [(*case, seed, fields) for seed, case in enumerate(cases)])
    rows = [["systems", *(f"{n} topics" for n in TOPICS)]]
    for (name, *_), shares in zip(every, np.reshape(found, (len(every), len(TOPICS))), strict=True):
        rows.append([name, *(f"{share:.3f}" for share in shares)])
    head = f"The share of {fields} fields in which all rank intervals of 95 % hold the ranks of the population.\n"
    head += "12 simulated systems, if no other number is given.\n\n"
    given.write("rank-interval-coverage", head + laid_out(rows))

    # size of a family, unequal variance, told of families
    ways = ((1, False, False), (1, True, False), (2, False, True), (2, True, True), (2, False, False))
    rows = [["tasks", "alone", "unequal", "in twos", "unequal", "in twos, not told"]]
    for tasks in (5, 10, 20, 60):
        shares = given.each(held_with_families, [(tasks, *way, given.size(400, 3)) for way in ways])
        rows.append([str(tasks), *(f"{share:.3f}" for share in shares)])
    given.write("task-families", laid_out(rows, left=0))

    fields, kinds = given.size(400, 3), given.size(("normal", "heavy", "tied", "odd"), ("tied",))
    cases = [(kind, tau, runs, fields) for kind in kinds for tau in (0.5, 0.9, 0.99) for runs in (10, 30, 87)]
    head = ["scores", "tau", "runs", *NUMBERS, "with an interval"]
    given.write("drawn-runs", laid_out([head, *given.each(row, cases)]))
