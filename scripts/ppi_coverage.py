"""Simulate how often prediction-powered intervals cover the truth.

A *population* is a law that topics are drawn from, with the scores of all runs by people's labels and by a model's:
real topics, each as likely, or normal scores. Its means are known. A *field* is a sample of 400 topics, or of 53, of
which people label n and the model all. An interval of 95 % should contain the mean of the population in 95 of 100
fields. Pairs of runs that score alike on more than seven topics of ten are left out: a field may have no other topic.
For documents, people label a random share of each topic's pool of depth 10; the intervals are those of the sampling
alone, and should contain the score by all of people's labels. It takes about four minutes of the processor.
"""

import numpy as np
from ir_measures import AP, P, nDCG
from store import deep, labels, laid_out

import pt_reuse as ptr
from pt_reuse.arrays.prediction_powered import PLAIN, TopicValues, powered_means, t_interval
from pt_reuse.scoring.caveats import told_elsewhere

#: topics that people labelled, and topics in all
LABELLED = ((10, 400), (20, 400), (30, 400), (50, 400), (20, 53))
MODELS = ("umbrela-gpt-4", "binary-gpt-4o", "binary-llama-3.2")


def of_topics(name, human, judge):
    """Return the population of which each of the given topics is as likely: name, sample and means by people."""

    def sample(random, n):
        drawn = random.integers(0, len(human), n)
        return human[drawn], judge[drawn]

    return name, sample, human.mean(axis=0)


def differences(name, human, judge):
    """Return the population of differences of 100 pairs of runs."""
    first, second = np.triu_indices(human.shape[1], 1)
    often = ((human[:, first] != human[:, second]).mean(axis=0) >= 0.3).nonzero()[0]
    chosen = np.sort(np.random.default_rng(0).permutation(often)[:100])
    first, second = first[chosen], second[chosen]
    return of_topics(name, human[:, first] - human[:, second], judge[:, first] - judge[:, second])


def of_normal(agreement):
    """Return normal scores of 60 systems; `agreement` is the correlation of people's with the model's."""
    mean, noise = np.random.default_rng(1).normal(0.4, 0.1, 60), 0.2 * np.sqrt(1 / agreement**2 - 1)

    def sample(random, n):
        human = mean + random.normal(0, 0.2, (n, 60))
        return human, 0.2 + human + random.normal(0, noise, (n, 60))

    return f"normal scores, correlation {agreement:g}", sample, mean


def scaled(human, path):
    """Return the labels of a judge, binary ones such that 1 is as relevant as people's 2."""
    frame = ptr.read_qrels(path).to_frame()
    if frame["label"].max() <= 1:
        frame = frame.assign(label=frame["label"] * human.rel)
    return ptr.Qrels(frame, topics=human.topics)


def populations(data):
    """Yield the populations."""
    measures = [nDCG @ 10, P(rel=2) @ 10, AP(rel=2)]
    for year in (21, 19):
        runs, human = deep(data, year)
        mine = ptr.score(runs, human, measures)
        for judge, path in labels(data, year, MODELS if year == 21 else MODELS[:1]).items():
            theirs = ptr.score(runs, scaled(human, path), measures)
            for measure, a, b in zip(mine.measures, mine.values, theirs.values, strict=True):
                if measure == "nDCG@10" or judge == MODELS[0]:
                    yield of_topics(f"20{year}, {measure}, {judge}: means", a, b)
                    yield differences(f"20{year}, {measure}, {judge}: pairs", a, b)
    yield from map(of_normal, (0.9, 0.7, 0.3))


def covered(sample, truth, n, topics, seed, fields):
    """Return means over fields and columns: three coverages, three widths, and the effective number of topics.

    These are by people's labels alone, with the model, and with the model and a variance for a lambda that is known.
    """
    random, found = np.random.default_rng(seed), []
    for _ in range(fields):
        human, judge = sample(random, topics)
        values = TopicValues(human[:n], judge[:n], judge[n:])
        means, plain = powered_means(values), powered_means(values, variance=PLAIN)
        sides = ((means.human, means.human_se), (means.estimate, means.se), (plain.estimate, plain.se))
        ends = [t_interval(*side, n, 0.95) for side in sides]
        hits = [((low <= truth) & (truth <= high)).mean() for low, high in ends]
        found.append([*hits, *((high - low).mean() for low, high in ends), np.nanmean(means.n_eff)])
    return np.mean(found, axis=0)


def covered_documents(data, share, samples):
    """Return rows: how often the intervals of sampling contain the score by all of people's labels."""
    runs, human = deep(data, 21)
    pool = ptr.depth_pool(runs, depth=10, contributors="all", order="file")  # all of it is judged
    measures = ["P(rel=2)@10", "RBP(rel=2)"]
    truth = dict(zip(measures, ptr.score(runs, pool.judge(human), measures).mean_values, strict=True))
    models, found = labels(data, 21, (MODELS[0], MODELS[-1])), {}
    models = {judge: ptr.Qrels(ptr.read_qrels(path).to_frame()) for judge, path in models.items()}
    for seed in range(samples):
        with told_elsewhere():
            sample = ptr.pools.sample_pool(pool, share=share, seed=seed).judge(human)
            both = [
                ptr.labels.prediction_powered(
                    runs, sample, models, measures, level="documents", lam=lam, correction="none"
                ).table
                for lam in (0.0, None)
            ]
        for alone, best in zip(*(table.groupby(["measure", "judge"]) for table in both), strict=True):
            hits, widths = [], []
            for rows in (alone[1], best[1]):
                right = truth[alone[0][0]]
                hits.append(((rows["sampling_low"] <= right) & (right <= rows["sampling_high"])).mean())
                widths.append((rows["sampling_high"] - rows["sampling_low"]).mean())
            found.setdefault(alone[0], []).append([*hits, *widths, best[1]["n_eff"].mean()])
    n, rows = sample.counts()["judged"].sum(), []
    for measure, judge in [(measure, judge) for measure in measures for judge in models]:
        *numbers, worth = np.mean(found[measure, judge], axis=0)
        cells = [f"{number:.3f}" for number in numbers]
        rows.append([f"2021, {measure}, {judge}", f"{n:,}", *cells, f"{worth:,.0f}"])
    return rows


def results(given):
    """Simulate, and write the tables."""
    (fields, samples), known = given.size((1000, 100), (2, 1)), list(populations(given.data))
    cases = [(population, *of) for population in known for of in LABELLED]
    found = given.each(covered, [(*one[1:], *of, seed, fields) for seed, (one, *of) in enumerate(cases)])
    rows = [["", "", "", "cover", "", "", "width", "", "", ""]]
    rows.append(["population", "n", "of", "alone", "jack", "plain", "alone", "jack", "plain", "n_eff"])
    for ((name, *_), *of), (*numbers, worth) in zip(cases, found, strict=True):
        rows.append([name, *map(str, of), *(f"{number:.3f}" for number in numbers), f"{worth:.1f}"])
    documents = given.each(covered_documents, [(given.data, share, samples) for share in (0.1, 0.3)])
    head = [["", "", "cover", "", "width", "", ""], ["population", "n", "alone", "best", "alone", "best", "n_eff"]]
    text = [
        f"Topics: {fields:,} fields of 400 topics, or of 53, n of them labelled by people and all by the model.",
        "2021, 2019: Deep Learning, passages. means: scores of runs. pairs: differences of two runs.",
        "cover: in how many fields an interval of 95 % contains the truth, mean over runs or pairs of runs.",
        "width: of that interval. alone: by people's labels alone. jack: prediction-powered, variance by the",
        'jackknife. plain: with variance="plain". n_eff: the effective number of topics.',
        "",
        laid_out(rows),
        f"Documents: {samples} samples of the pool of depth 10, 10% and 30% of each topic; n: labelled documents.",
        "cover and width: of intervals of 95 % for the sampling. alone: by people's labels alone. best: with the",
        "best lambda. n_eff: the effective number of documents.",
        "",
        laid_out(head + [row for part in documents for row in part]),
    ]
    given.write("ppi-coverage", "\n".join(text))
