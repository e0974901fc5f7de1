"""Simulate how often intervals of studies of a judge cover what they should.

A *population* is a law that topics are drawn from: the topics of Deep Learning, each as likely, under people and under
a model. A *field* is a sample of its topics. Of *significance* the share of false claims hangs on the number of topics,
so the value to cover is the mean share of all fields of that size, which 2,000 of them give; scores are those of every
second run of 2021, or normal ones of simulated systems. *Gains* are those of every second run of 2021 when it is
re-ranked by the model's labels. *Agreement* is how often each label of people meets each of the judge.

For *families* fields are simulated: 18 runs of nine teams, with true labels, which people know. A judge without bias
errs at random: the interval of its effect on any family should contain 0. One with a bias then raises by one the label
of some documents that the family has among its first ten: the interval should lie above 0. All take 25 minutes.
"""

import warnings

import numpy as np
import pandas as pd
from ir_measures import nDCG
from store import deep, labels, laid_out

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import agreement_of_tests, drawn_agreement, pair_tests
from pt_reuse.data.judgment_changes import rerank_by_labels
from pt_reuse.judge import as_judges
from pt_reuse.judging.compare_labels import BothLabelled, figures_of
from pt_reuse.studies.judged_fields import compared_labels

FIGURES = ("agreement", "kappa", "alpha_nominal", "judge_relevant", "surplus", "precision", "recall")
CONFUSION = {0: [0.85, 0.10, 0.05], 1: [0.20, 0.60, 0.20], 2: [0.10, 0.20, 0.70]}
#: the family in words -> which runs are of it
FAMILIES = {
    "6 runs, each type": lambda table: table["team"].isin(["team-1", "team-2", "team-3"]),
    "6 runs, best type": lambda table: table["type"] == "manual",
    "1 run": lambda table: table["name"] == table["name"].iloc[7],
}
#: of the documents that the family has among its first ten, the share that a biased judge raises
BIASES = (0.0, 0.1, 0.3)
NUMBERS = [("rank", "others"), ("rank", "matched"), ("rank", "alone"), ("score", "others"), ("score", "matched")]


def of_2021(data, names):
    """Return every second run of 2021, the judgments of people, and the labels of judges."""
    runs, people = deep(data, 21)
    files = labels(data, 21, names)
    return runs.select(runs.names[::2]), people, {name: ptr.read_qrels(path) for name, path in files.items()}


def score(runs, qrels):
    """Return (topics, runs) scores."""
    return ptr.score(runs, qrels, nDCG @ 10).values[0]


def shares_of_claims(human, judge, correction):
    """Return the shares of false claims, of those missed, and of agreement in one field."""
    found = agreement_of_tests(pair_tests(human), pair_tests(judge), 0.05, correction)
    by_judge, by_people = found.ss_a + found.ss_d + found.ns, found.ss_a + found.ss_d + found.sn
    return np.array([found.ns / max(1, by_judge), found.sn / max(1, by_people), found.agree])


def covered_claims(human, judge, n_topics, correction, fields, resamples, many):
    """Return (shares, percentile and joined, 2): how many fields cover the value, and how widely."""
    random, found = np.random.default_rng(n_topics), []

    def field():
        drawn = random.integers(0, len(human), n_topics)
        return human[drawn], judge[drawn]

    value = np.nanmean([shares_of_claims(*field(), correction) for _ in range(many)], axis=0)
    for seed in range(fields):
        sides, bootstrap = field(), TopicBootstrap(resamples, seed, 0.95)
        drawn = drawn_agreement(*sides, bootstrap, 0.05, correction)
        estimates, row = shares_of_claims(*sides, correction), []
        for at, draws in enumerate((drawn.only_second, drawn.only_first, drawn.agree)):
            ends = bootstrap.percentiles(estimates[at], draws), bootstrap.interval(estimates[at], draws, within=(0, 1))
            row.append([(low <= value[at] <= high, high - low) for low, high in ends])
        found.append(row)
    return np.mean(found, axis=0)


def claims(given):
    """Write the table of significance."""
    runs, people, judges = of_2021(given.data, ("umbrela-gpt-4", "exam-gpt-4", "binary-llama-3.2"))
    known = {name: (score(runs, people), score(runs, judge)) for name, judge in judges.items()}
    random = np.random.default_rng(5)
    mean, gain = random.normal(0.4, 0.08, 30), random.normal(0, 0.03, 30)
    human = mean + random.normal(0, 0.1, (20_000, 1)) + random.normal(0, 0.15, (20_000, 30))
    known["30 simulated"] = human, human + gain + random.normal(0, 0.1, human.shape)
    cases = [(name, n, "none") for name in known for n in (20, 53)]
    cases += [(name, n, "holm") for name in list(known)[-2:] for n in (20, 53)]
    sizes = given.size((300, 400, 2000), (2, 10, 5))
    rows = [["population", "topics", "correction", "false claims", "missed", "agreement"]]
    every = given.each(covered_claims, [(*known[name], *rest, *sizes) for name, *rest in cases])
    for (name, n, correction), found in zip(cases, every, strict=True):
        cells = [f"{100 * plain:.0f} / {100 * joined:.0f} ({wide:.3f})" for (plain, _), (joined, wide) in found]
        rows.append([name, str(n), correction, *cells])
    head = f"{sizes[0]} fields of each population, {sizes[1]} resamples a field, tests at the level .05.\n"
    head += "How many of 100 fields have a 95 % interval that contains the mean share of all fields of that size:\n"
    head += "the percentile interval / the one that is used, joined with its mirror image; in brackets the width\n"
    head += "of that one.\n\n"
    given.write("fidelity-coverage", head + laid_out(rows))


def covered_gains(gains, n_topics, fields, resamples):
    """Return how many fields cover the mean by percentiles and by the t interval, and how wide the latter is."""
    random, mean, found = np.random.default_rng(n_topics), gains.mean(), []
    for field in range(fields):
        drawn = gains[random.integers(0, len(gains), n_topics)]
        bootstrap = TopicBootstrap(resamples, field, 0.95)
        means, estimate = bootstrap.counts(n_topics) @ drawn / n_topics, float(drawn.mean())
        ends = bootstrap.percentiles(estimate, means), bootstrap.t_interval(estimate, means, n_topics)
        found.append([*(low <= mean <= high for low, high in ends), ends[1][1] - ends[1][0]])
    return np.mean(found, axis=0)


def gains_of_judges(given):
    """Write the table of gains."""
    (fields, draws), topics = given.size((2000, 400), (5, 20)), (10, 20, 53)
    rows = [["re-ranked by", "gain under", "skew", *(f"{n} topics" for n in topics)]]
    runs, people, judges = of_2021(given.data, ("umbrela-gpt-4", "binary-gpt-4o", "exam-gpt-4", "binary-llama-3.2"))
    for name, judge in judges.items():
        reranked = rerank_by_labels(runs, judge, 10)
        honest, own = ((score(reranked, qrels) - score(runs, qrels)).mean(axis=1) for qrels in (people, judge))
        for scorer, gains in (("people", honest), ("the judge", own), ("difference", own - honest)):
            skew = ((gains - gains.mean()) ** 3).mean() / gains.std() ** 3
            found = given.each(covered_gains, [(gains, n, fields, draws) for n in topics])
            cells = [f"{100 * plain:.1f} / {100 * student:.1f} ({width:.3f})" for plain, student, width in found]
            rows.append([name, scorer, f"{skew:+.1f}", *cells])
    head = f"Mean gains in nDCG@10 of runs re-ranked by a judge, {fields:,} fields of each law, {draws} resamples.\n"
    head += "How many of 100 fields have a 95 % interval that contains the mean of the law: the percentile\n"
    head += "interval / the one that is used, t from the same draws; in brackets the width of that one.\n"
    head += "gain under: people, the judge itself, or the gain under the judge less that under people.\n"
    head += "skew: of the law, over topics.\n\n"
    given.write("circle-coverage", head + laid_out(rows, left=2))


def covered_agreement(population, n, random, fields, resamples):
    """Return (percentile and expanded, figures): in which share of the fields the interval contains the truth."""
    counts, found = population.counts, np.zeros((2, len(FIGURES)))

    def figures(sums):
        found = figures_of(population.ways(sums), ("all", "binary"))
        return np.stack([found[figure] for figure in FIGURES])

    truth = figures(counts.sum(axis=0, keepdims=True))[:, 0]
    for _ in range(fields):
        field = counts[random.integers(0, len(counts), n)]
        bootstrap = TopicBootstrap(resamples, int(random.integers(1 << 31)), 0.95)
        sums = bootstrap.counts(n).astype(float) @ field.reshape(n, -1)
        drawn = figures(sums.reshape(resamples, *field.shape[1:]))
        estimate = figures(field.sum(axis=0, keepdims=True))[:, 0]
        for way, how in enumerate((bootstrap, bootstrap.expanded(n))):
            for at, value in enumerate(truth):
                low, high = how.percentiles(float(estimate[at]), drawn[at])
                found[way, at] += low <= value <= high
    return found / fields


def agreement(given):
    """Write the table of agreement."""
    known, random = [], np.random.default_rng(0)
    for year in (19, 21):
        people, files = deep(given.data, year)[1], labels(given.data, year)
        for judge in as_judges({name: files[name] for name in sorted(files)}, rel={"exam-gpt-4": 2}):
            both = compared_labels(people, judge)
            scale = np.unique([*both.pairs["human"], *both.left["human"]]).tolist()
            known.append(BothLabelled.of(both, tuple(scale)))
    fields, draws = given.size((1000, 500), (2, 20))
    rows = [["topics", "interval", *FIGURES]]
    for n in (10, 20, 40, 80):
        found = np.stack([covered_agreement(one, n, random, fields, draws) for one in known])
        for way, name in enumerate(("percentile", "expanded")):
            cells = [f"{100 * part.mean():.1f} ({100 * part.min():.0f})" for part in found[:, way].T]
            rows.append([str(n), name, *cells])
    head = f"{fields:,} fields of each number of topics, {draws} resamples, relevant or not: in how many of 100 an\n"
    head += "interval of 95 % contains the figure of the population; the mean of ten populations (five judges on\n"
    head += "Deep Learning 2019 and 2021), and in brackets the least.\n\n"
    given.write("label-agreement-coverage", head + laid_out(rows, left=0))


def judged(field, family, bias, seed):
    """Return the labels of a judge that errs at random, and raises some documents of a family."""
    labels = field.all_qrels.to_frame()[["qid", "docno"]]
    judge = ptr.judging.Noisy(field.all_qrels, CONFUSION, seed=seed)
    labels["label"] = judge(labels)["label"].astype(int).to_numpy()
    mine = field.results["name"].isin(family) & (field.results["rank"] < 10)
    theirs = labels.merge(field.results.loc[mine, ["qid", "docno"]].drop_duplicates(), how="left", indicator=True)
    raised = (theirs["_merge"] == "both").to_numpy() & (np.random.default_rng(seed).random(len(labels)) < bias)
    return ptr.Qrels(labels.assign(label=np.minimum(labels["label"] + raised, 2)))


def effects(seed, n_topics, family, bias):
    """Return the effect and the ends of its interval, for each of the numbers."""
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    field = ptr.demo.simulate_field(seed=seed, n_topics=n_topics, n_docs=400, length=30)
    mine = FAMILIES[family](field.run_table)
    metadata = pd.DataFrame({"name": field.run_table["name"], "family": np.where(mine, "family", None)})
    labels = judged(field, set(field.run_table["name"][mine]), bias, seed + 1000)
    runs = field.runs.with_metadata(metadata=metadata)
    table = ptr.labels.family_effect(runs, field.all_qrels, labels, "nDCG@10").table.set_index("against")
    return [[table.loc[against, f"{of}_effect{end}"] for end in ("", "_low", "_high")] for of, against in NUMBERS]


def families(given):
    """Simulate, and write the table."""
    seeds, rows = given.size(200, 2), [["family", "effect on", "topics", "bias", "fields", "cover", "above", "mean"]]
    for n, family, bias in [(n, family, bias) for n in (25, 50) for family in FAMILIES for bias in BIASES]:
        every = given.each(effects, [(seed, n, family, bias) for seed in range(seeds)])
        for (of, against), found in zip(NUMBERS, np.array(every).transpose(1, 0, 2), strict=True):
            effect, low, high = found[~np.isnan(found[:, 1])].T
            cells = ["", "", ""]
            if len(effect):
                cover, above = (100 * np.mean(hits) for hits in ((low <= 0) & (high >= 0), low > 0))
                cells = [f"{cover:.1f}", f"{above:.1f}", f"{effect.mean():+.3f}"]
            rows.append([family, f"{of}, {against}", str(n), f"{bias:.1f}", str(len(effect)), *cells])
    head = f"The effect of a judge on a family of 18 simulated runs by nDCG@10, {seeds} fields each, 1,000 resamples.\n"
    head += "cover: of 100 intervals of 95 %, how many contain 0. above: how many lie above it.\n"
    head += "mean: of the effect.\n"
    head += "family: each type is three teams, one of each type; best type is the three teams of the best one.\n"
    head += "bias: the share of the family's first ten documents that the judge raises by one label.\n"
    head += "fields: those with an interval; where runs are matched, those with a matched run.\n\n"
    given.write("family-coverage", head + laid_out(rows, left=2))


results = (claims, gains_of_judges, agreement, families)
