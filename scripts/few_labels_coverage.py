"""Simulate how often intervals hold that are made with few labels of people: planned, of a pilot, prediction-powered.

*Planned*: of a set of documents all labels of a judge and of people are known. A plan is made for it once. Then 4,000
times as many documents of each stratum are drawn as it says, and the interval is made from what people say of these.
*Pilot*: three annotators give labels from 0 to 3 to tasks that are chosen at random; each sees the true label with some
chance, else gives any. *Prediction-powered*: a law that topics are drawn from, real ones or normal scores, has the
scores of all runs by people's labels and by a model's. A field is a sample of 400 topics, or of 53, of which people
label n and the model all. Pairs of runs that score alike on more than seven topics of ten are left out: a field may
have no other topic. For documents, people label a random share of each topic's pool of depth 10; the intervals are
those of the sampling alone. All take a quarter of an hour of the processor.
"""

import numpy as np
import pandas as pd
from ir_measures import AP, P, nDCG
from store import deep, labels, laid_out

import pt_reuse as ptr
from pt_reuse.arrays.prediction_powered import PLAIN, TopicValues, powered_means, t_interval
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.studies.plan_labels import Strata, numbers_of

#: name -> documents of each label, and how many of these people find relevant
MADE = {
    "good judge": ((7000, 140), (2000, 900), (1000, 930)),
    "poor judge": ((4000, 800), (4000, 1400), (2000, 900)),
    "rare errors": ((9000, 9), (1000, 995)),
    "small": ((60, 3), (25, 9), (15, 14)),
}
#: plans, as the table names them; a pilot is as many documents that people labelled before
PLANS = {
    "mean": {"target": "mean", "width": 0.1},
    "mean, pilot of 100": {"target": "mean", "width": 0.1, "pilot": 100},
    "precision": {"target": "precision", "width": 0.2},
    "precision, pilot of 100": {"target": "precision", "width": 0.1, "pilot": 100},
}
#: of a pilot
SHARES, TARGET = (0.5, 0.25, 0.15, 0.1), 0.4
#: topics that people labelled, and topics in all
LABELLED = ((10, 400), (20, 400), (30, 400), (50, 400), (20, 53))
MODELS = ("umbrela-gpt-4", "binary-gpt-4o", "binary-llama-3.2")


def made(groups, n_topics=20):
    """Return the judge's labels and people's, of documents that are spread over topics at random."""
    parts = [pd.DataFrame({"label": at, "people": np.arange(n) < found}) for at, (n, found) in enumerate(groups)]
    every = pd.concat(parts, ignore_index=True)
    every["qid"] = np.random.default_rng(1).integers(0, n_topics, len(every)).astype(str)
    every["docno"] = [f"d{n}" for n in range(len(every))]
    return every[["qid", "docno", "label"]], every[["qid", "docno"]].assign(label=every["people"].astype(int))


def cases(data):
    """Yield populations and plans, both as the table names them, the judge's labels, people's, and options."""
    for name, groups in MADE.items():
        for words in PLANS if name != "small" else ("mean", "precision"):
            yield name, words, *made(groups), PLANS[words]
    runs, people = deep(data, 21, order="trec_eval")
    judge = ptr.read_qrels(labels(data, 21)["umbrela-gpt-4"])
    said, truth = (qrels.to_frame()[["qid", "docno", "label"]] for qrels in (judge, people.threshold()))
    for words, options in PLANS.items():
        yield "DL 2021, UMBRELA", words, said, truth, options
    for names in (runs.names[:1], [runs.names[0], runs.names[20]]):
        target = "mean" if len(names) == 1 else "difference"
        for width in (0.05, 0.1):
            options = {"target": target, "width": width, "runs": runs.select(names), "measure": "P@10"}
            yield "DL 2021, UMBRELA", f"{target} of P@10", said, truth, options


def covered_by_plan(name, words, judge, truth, options, draws):
    """Return one row per number: its truth, how often it is covered, and the mean width."""
    if "pilot" in options:
        options = {**options, "pilot": truth.sample(options["pilot"], random_state=1)}
    plan = ptr.labels.plan_labels(judge, judge_rel=judge["label"].max(), **options)
    random, table = np.random.default_rng(2), plan.table
    left = pd.concat([plan.sample, plan.rest]).merge(truth, on=["qid", "docno"], how="left", suffixes=("", "_p"))
    relevant = left.assign(r=left["label_p"].fillna(0)).groupby("stratum")["r"].sum().reindex(table["stratum"])
    relevant = relevant.fillna(0).to_numpy(dtype=int)
    size, drawn = (table["documents"] - table["known"]).to_numpy(), table["labels"].to_numpy()
    numbers = numbers_of(table, plan.target, plan.number, plan.judge_rel)
    every = np.divide(relevant, size, out=np.zeros(len(size)), where=size > 0)
    true = [number.constant + number.weights @ every for number in numbers]
    strata, found = Strata.of(table, every), []
    for _ in range(draws):
        hits = random.hypergeometric(relevant, size - relevant, drawn)
        share = np.divide(hits, drawn, out=np.zeros(len(drawn)), where=drawn > 0)
        counted = Strata(strata.units, share, strata.cells)
        ends = [counted.interval(one, drawn.astype(float), plan.confidence, counted=True) for one in numbers]
        found.append([(end.low - 1e-9 <= at <= end.high + 1e-9, end.width) for at, end in zip(true, ends, strict=True)])
    shares = np.mean(found, axis=0)
    shown = [number.name.split(" of ")[0].removeprefix("precision, ").split(",")[0] for number in numbers]
    given = {"population": name, "plan": words, "number": shown, "labels": len(plan.sample), "truth": true}
    given["planned width"] = plan.summary["width"]
    return pd.DataFrame({**given, "width": shares[:, 1], "covered": 100 * shares[:, 0]})


def planned(given):
    """Simulate, and write the table."""
    draws = given.size(4000, 20)
    found = pd.concat(given.each(covered_by_plan, [(*case, draws) for case in cases(given.data)]), ignore_index=True)
    form = dict.fromkeys(("truth", "planned width", "width"), "{:.3f}".format) | {"covered": "{:.1f}".format}
    hits = found["covered"]
    head = f"{draws:,} draws of each plan: how many of 100 intervals of 95 % contain the truth, and their mean width.\n"
    head += f"Of {len(found)} numbers the least covered {hits.min():.1f}, the mean is {hits.mean():.1f}.\n\n"
    given.write("label-plan-coverage", head + found.to_string(index=False, formatters=form))


def given_labels(seen, n, random):
    """Return the labels that three annotators give to n tasks."""
    truth, frames = random.choice(4, n, p=SHARES), []
    for name in ("ann", "bob", "cid"):
        given = np.where(random.random(n) < seen, truth, random.choice(4, n, p=SHARES))
        frames.append(pd.DataFrame({"qid": "1", "docno": [f"d{i}" for i in range(n)], "label": given}))
        frames[-1]["annotator"] = name
    return pd.concat(frames, ignore_index=True)


def alpha(table):
    """Return the row of ordinal alpha."""
    return table[table["coefficient"] == "alpha_ordinal"].iloc[0]


def row_of_pilot(seen, n, pilots):
    """Return one row of the table."""
    random, found = np.random.default_rng([n, int(1000 * seen)]), []
    truth = alpha(ptr.judging.pilot_agreement(given_labels(seen, 40_000, random), resamples=0).table)["value"]
    for seed in range(pilots):
        frame = given_labels(seen, n, random)
        pilot = ptr.judging.pilot_agreement(frame, resamples=500, seed=seed, target=TARGET)
        mine = alpha(pilot.table)
        if np.isnan(mine["low"]):
            continue
        usual = ptr.judging.annotator_agreement(frame, over="items", resamples=500, seed=seed).table
        hits = [ends["low"] <= truth <= ends["high"] for ends in (mine, alpha(usual[usual["items"] == "all"]))]
        wrong = pilot.decision == ("do not go on" if truth >= TARGET else "go on")
        found.append([*hits, pilot.decision != "undecided", wrong])
    return [f"{truth:.2f}", str(n), *(f"{100 * share:.1f} %" for share in np.mean(found, axis=0))]


def pilots(given):
    """Simulate, and write the table."""
    # the chance to see the true label, from little agreement to much
    seen, tasks, n_pilots = given.size(((0.45, 0.7, 0.9, 0.97), (10, 20, 40), 300), ((0.7,), (20,), 2))
    rows = [["alpha", "tasks", "interval", "plain", "decided", "wrong"]]
    given.write(
        "pilot-coverage", laid_out([*rows, *(row_of_pilot(chance, n, n_pilots) for chance in seen for n in tasks)])
    )


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


def powered(given):
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


results = (planned, pilots, powered)
