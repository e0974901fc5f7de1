"""prediction_powered: how good systems are, by few labels of people and many of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.prediction_powered import ESTIMATED, JACKKNIFE, VARIANCES, TopicValues
from pt_reuse.columns import Table
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import InputError, count, fraction, located, per_cent
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.plots.forests import plot_forest
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.scoring.scores import check_topics, checked_measures, scored
from pt_reuse.studies.few_labels import (
    Estimates,
    LinearMeasure,
    SplitTopics,
    checked_pool,
    document_estimates,
    documents_to_label,
    pair_table,
    pool_labels,
    rank_table,
    sample_of,
    split_topics,
    topic_estimates,
)
from pt_reuse.studies.judged_fields import OfJudges, drawn_by_judge, under
from pt_reuse.study import study

#: what lambda is where it is estimated, and what an interval is, for settings
_LAMBDA = {
    "topics": f"estimated: {ESTIMATED}",
    "documents": "estimated: cov / var over the samples that there could be, summed over topics and runs (or pairs)",
}
_INTERVALS = {
    "topics": "t with n - 1 degrees, standard error root of var(Y - lambda F)/n + lambda^2 var(F)/N",
    "jackknife": "t with n - 1 degrees, standard error root of J + lambda^2 var(F)/N, J the variance by the jackknife "
    "over the n topics, lambda estimated anew without each",
    "documents": "over topics: t with topics - 1 degrees; of the sampling alone, on these topics: normal",
}
_SAMPLED = "se_sampling? sampling_low? sampling_high?"


def _draw(result: PredictionPowered, measure: str, place: Place | None, *, judge: str | None = None) -> Axes:
    return drawn_by_judge(partial(plot_forest, confidence=result.confidence))(result, measure, place, judge=judge)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictionPowered(OfJudges):
    """What people would say of all runs, estimated by few labels of theirs and many of a model.

    The effective number is n times the variance by people's labels alone over that of the estimate, NaN where both are
    0 or unknown; by documents the variances are those of sampling.

    Attributes:
        level: what people labelled a part of, ``"topics"`` or ``"documents"``.
        confidence: the confidence level of the intervals.
        correction: of the tests of pairs, which is that of the ranks. With ``"bonferroni"`` the intervals of all ranks
            under a measure hold at once, since all differences lie in their intervals at once.
    """

    title = "Prediction-powered scores"
    answer = (
        "summary",
        "{measure} by {judge}: {n} {level} labelled by people are worth {n_eff}; a score is known to ±{reach}, to "
        "±{human_reach} by people alone; {significant} of {pairs:pair} differ significantly, {human_significant} by "
        "people alone",
    )
    key = "n_eff lambda reach human_reach significant human_significant"
    valid_for = (
        "{level} labelled by people that were drawn at random from all; medians over runs, ± at confidence "
        "{confidence:g}."
    )
    not_covered = "the judge on other topics or for other runs."
    plots = {"intervals": _draw}
    columns = """
    human       | People alone | score  | mean by people's labels alone, by documents each counted 1 / inclusion
    by_judge    | Judge alone  | score  | mean by the judge's labels of all topics, or of the whole pool
    estimate    | Estimate     | score  | the estimate
    difference  | Difference   | score  | the estimate of first minus second
    se          | Standard error | score | of the estimate
    lambda      | Lambda       | score  | how far the judge is trusted
    n           | Labelled     | count  | topics (documents) that people labelled
    N           | By the judge | count  | those that the judge alone labelled
    n_eff       | Effective | tenths | how many people would label for as narrow an interval without the judge
    se_sampling | Standard error, sampling | score | how far other samples of these topics' documents lead elsewhere
    sampling_low  | Low, sampling  | score | lower end by that, NaN where a stratum has one labelled document of several
    sampling_high | High, sampling | score | upper end by that
    first       | First        |        | a run
    second      | Second       |        | another one
    significant | Significant  | count  | whether that is significant, or how many pairs are
    human_      | people alone |        | by people's labels alone
    rank        | Rank         | count  | from 1 + the significantly better runs to the runs less the worse ones
    judge_rank  | Rank, judge  | count  | rank by the judge's labels
    reach       | Reach        | score  | half the width of the interval
    outside     | Outside      | count  | runs whose mean by the judge's labels is outside of the interval
    rank_width  | Rank width   | tenths | mean of highest less lowest rank
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and run",
            f"judge family measure name* team type human~* by_judge* estimate~* se lambda* n N n_eff* {_SAMPLED}",
            select={"judge": None},
            descending=("estimate",),
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and pair of runs",
            f"judge family measure first* second* human~* by_judge difference~* se lambda n N n_eff {_SAMPLED} p "
            "human_p p_corrected* significant human_p_corrected human_significant",
            select={"judge": None},
        ),
    ]
    ranks: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and run",
            "judge family measure name* rank~* human_rank~* judge_rank*",
            select={"judge": None},
        ),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "judge and measure, medians over runs",
            "judge measure n N human_reach reach n_eff lambda outside runs pairs significant human_significant "
            "rank_width human_rank_width",
            report="measure judge reach human_reach n_eff significant",
        ),
    ]
    level: str
    confidence: float
    correction: str


def _summary(means: pd.DataFrame, pairs: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """Return one row per judge and measure: how far runs are known, and how many pairs differ."""
    keys, significant = ["judge", "measure"], ["significant", "human_significant"]
    beyond = (means["by_judge"] < means["estimate_low"]) | (means["by_judge"] > means["estimate_high"])
    columns = {
        "n": means["n"],
        "N": means["N"],
        "human_reach": (means["human_high"] - means["human_low"]) / 2,
        "reach": (means["estimate_high"] - means["estimate_low"]) / 2,
        "n_eff": means["n_eff"],
        "lambda": means["lambda"],
        "outside": beyond.astype(np.int64),
        "runs": 1,
    }
    how = dict.fromkeys(columns, "median") | {"n": "first", "N": "first", "outside": "sum", "runs": "sum"}
    found = means[keys].assign(**columns).groupby(keys, sort=False).agg(how).reset_index()
    of_pairs = pairs[[*keys, *significant]].assign(pairs=1).groupby(keys, sort=False).sum()
    widths = {f"{name}_width": ranks[f"{name}_high"] - ranks[f"{name}_low"] for name in ("rank", "human_rank")}
    of_ranks = ranks[keys].assign(**widths).groupby(keys, sort=False).mean()
    counts = of_pairs.reindex(pd.MultiIndex.from_frame(found[keys]), columns=["pairs", *significant], fill_value=0)
    return pd.concat([found, counts.reset_index(drop=True).astype(np.int64)], axis=1).join(of_ranks, on=keys)


@study(
    question="How good are the systems, given few labels of people and many of a model?",
    aim="models",
    group="labels",
    papers="[A23]_",
)
def prediction_powered(
    runs: options.Runs,
    human: options.HumanJudgments,
    judge: options.JudgeLabels,
    measures: Annotated[
        Any, options.Option("ir_measures measures, or their names, one or several.", check=parse_measures)
    ],
    *,
    level: Annotated[
        str,
        options.Option(
            '``"topics"`` (default) or ``"documents"``: what people labelled a part of.',
            choices=("topics", "documents"),
        ),
    ] = "topics",
    pool: Annotated[
        Any,
        options.Option(
            "the documents that the judge is to label: a Pool, or a frame with ``qid``, ``docno`` and what the judge "
            "reads. Default those whose labels exist already; a judge that has to be asked needs it by topics.",
            check=checked_pool,
        ),
    ] = None,
    lam: Annotated[
        float | None,
        options.Option(
            "lambda, how far the model is trusted, from 0 (people's labels alone) to 1; default the best one, "
            "estimated: by topics of each run and of each pair, by documents of all runs and of all pairs. By "
            "documents 1 is unbiased also where few documents are labelled.",
            check=partial(fraction, "lam"),
        ),
    ] = None,
    variance: Annotated[
        str | None,
        options.Option(
            'by topics, how that of an estimate is estimated where lambda is: ``"jackknife"`` (default), in which '
            'lambda is estimated anew without each of the n topics; or ``"plain"``, PPI++\'s var(Y - lambda F)/n, '
            "which takes lambda for known, and whose intervals cover one to three in a hundred less.",
            choices=VARIANCES,
        ),
    ] = None,
    correction: Annotated[
        options.Correction,
        options.Option(
            'of the tests of pairs, for their number: ``"bonferroni"`` (default), under which the intervals of all '
            'ranks hold at once; ``"holm"``, ``"benjamini-hochberg"``; or ``"none"``.',
            choices=options.SHARED["correction"].choices,
        ),
    ] = "bonferroni",
    confidence: options.Confidence = 0.95,
    rel: options.Rel = None,
    judge_rel: options.JudgeGrade = None,
    families: options.Families = None,
    without_topics: options.WithoutTopics = "error",
    verbose: options.Verbose = False,
) -> PredictionPowered:
    """Estimate scores, differences and ranks by people's labels from few labels of people and many of a model.

    The estimates are of the scores if people had labelled everything, and intervals are valid even if the model errs.

    **By topics** people judged n topics in full, a random sample of all n + N, and the model labelled all, without
    having been tuned on these labels. A run's mean is Ybar_n + lambda (Fbar_N - Fbar_n).

    **By documents** people labelled a random sample of each topic's pool, and the model all of it. A run's score on a
    topic is a sum by the model's labels, corrected by people's labels, each weighted by 1 / its probability. This needs
    measures that are such sums: ``P@k``, ``RBP(rel=...)``, ``SDCG(max_rel=...)@k``, ``SetP``, ``NumRet(rel=...)`` and
    ``NumRel``.

    Args:
        human: labels of people, in any form. By topics: complete labels of some topics. By documents: of a sample, as
            :func:`~pt_reuse.pools.sample_pool` and :meth:`Pool.judge` make them, with the column ``stratum`` and label
            -1 for what was pooled and not sampled; or with the column ``inclusion``, the probability with which each
            document was drawn, independently.

    Raises:
        InputError: fewer than two topics of either kind, or than three of people if lambda is estimated; a sample
            without its strata or probabilities; by documents, a measure that is no sum over documents; a judge that has
            to be asked, without a pool.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_topics=80)
        >>> people = field.all_qrels.select(field.all_qrels.topics[:25])
        >>> judge = ptr.judging.Noisy(field.all_qrels, ptr.judging.flips(0.1, range(3)), seed=1)
        >>> found = ptr.labels.prediction_powered(field.runs, people, judge, "nDCG@10")
        >>> found.table[["name", "human", "estimate", "estimate_low", "estimate_high", "n_eff"]].round(3).head(2)
            name  human  estimate  estimate_low  estimate_high   n_eff
        0  lex1a  0.560     0.502         0.430          0.573  32.761
        1  lex1b  0.572     0.513         0.433          0.593  24.214

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered Inference, arXiv 2311.01453;
    Oosterhuis, Jagerman, Qin, Wang and Bendersky 2024, KDD. Equal to ppi-python where conventions agree.
    """
    judges = as_judges(judge, rel=judge_rel, families=families)
    by_topics = level == "topics"
    if by_topics:
        checked_measures(measures)
        for each in judges:
            documents_to_label(each, pool)
    elif variance is not None:
        raise InputError("variance is of level='topics': by documents it is that of the sample.", argument="variance")
    linear = [] if by_topics else [LinearMeasure(measure) for measure in measures]
    people = as_qrels(human, "human")
    there = np.unique(people.arrays.documents.topic[people.arrays.labels >= 0])
    if not len(there):
        raise InputError("human has no label of 0 or more: people labelled no document.", argument="human")
    # by topics on the topics alone in which people labelled a document
    people = people.select([people.topics[t] for t in there.tolist()]) if by_topics else people
    # what is no sample is refused before anything is told of it
    more = [] if by_topics else [each.judge.known_pairs() if pool is None else pool for each in judges]
    samples = [sample_of(people, pairs) for pairs in more]
    inputs = Inputs.read(runs, people, measures, rel, without_topics=without_topics)
    inputs = replace(inputs, qrels=inputs.qrels.with_rel(inputs.rel))
    jackknife = by_topics and lam is None and variance in (None, JACKKNIFE)
    if by_topics:
        splits = [split_topics(inputs.runs, inputs.qrels, each, pool, jackknife=jackknife) for each in judges]
        if without_topics == "error":
            for each, split in zip(judges, splits, strict=True):
                # a run that has the topics of people alone would score 0 on all others
                with located(each.name):
                    check_topics(inputs.runs, split.of_judge.labels.select(split.unlabelled))
        found = _by_topics(inputs, splits, verbose=verbose)
    parts: dict[str, list[pd.DataFrame]] = {"table": [], "pairs": [], "ranks": []}
    names, in_words = inputs.runs.names, []
    known = inputs.runs.run_table[["name", "team", "type"]].reset_index(drop=True)
    for n, each in enumerate(judges):
        with located(each.name):
            if by_topics:
                words, caveats = splits[n].words(), splits[n].caveats()
                how = lam, variance or JACKKNIFE, confidence
                estimates = [topic_estimates(values, measure, *how) for measure, values in next(found)]
            else:
                sample, labels = samples[n], pool_labels(each, samples[n], pool)
                estimates = list(document_estimates(inputs.runs, sample, labels.labels, linear, lam, confidence))
                topics = inputs.qrels.topics
                words = f"{labels.words}, people labelled {sample.words()}, {count(len(topics), 'topic')}"
                caveats = few_topics(len(topics))
            beware(caveats, _useless(estimates, lam))
        in_words.append(f"{each.name} ({words})")
        for measure, means, of_pairs in estimates:
            pairs = pair_table(of_pairs, names, correction, 1 - confidence)
            key = {"judge": each.name, "family": each.family, "measure": measure}
            table = pd.concat([known, means.drop(columns=["p", "human_p"])], axis=1)
            for frames, frame in zip(parts.values(), (table, pairs, rank_table(means, pairs, names)), strict=True):
                frames.append(under(key, frame))
    tables = {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    settings = settings_of(
        inputs,
        {"lambda": _LAMBDA[level] if lam is None else f"{lam:g}, given"},
        judges="; ".join(in_words),
        intervals=f"{per_cent(confidence)}, {_INTERVALS[JACKKNIFE if jackknife else level]}",
        pairs=f"two-sided t tests at {1 - confidence:.4g}, correction {correction}",
        ties=f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
    )
    return PredictionPowered(
        **tables,
        summary=_summary(*tables.values()),
        settings=settings,
        level=level,
        confidence=confidence,
        correction=correction,
    )


def _by_topics(
    inputs: Inputs, splits: Sequence[SplitTopics], *, verbose: bool
) -> Iterator[list[tuple[str, TopicValues]]]:
    """Yield of each judge by measure the scores by people, and by the judge on the same topics and on the others."""
    measures = list(inputs.measures)
    by_people = scored(inputs.runs, inputs.qrels, measures, complete=True, verbose=verbose)
    for split in splits:
        labels = split.of_judge.labels.select([*split.labelled, *split.unlabelled]).with_rel(None)
        theirs = scored(inputs.runs, labels, measures, complete=True, verbose=verbose)
        both, alone = ([theirs.topics.index(t) for t in some] for some in (split.labelled, split.unlabelled))
        rows = [by_people.topics.index(topic) for topic in split.labelled]
        of_measures = zip(by_people.measures, by_people.values, theirs.values, strict=True)
        yield [(name, TopicValues(people[rows], judge[both], judge[alone])) for name, people, judge in of_measures]


def _useless(estimates: Sequence[Estimates], lam: float | None) -> Iterator[Caveat]:
    # where people labelled everything, there is nothing that a judge could add
    shares = {name: float(((means["lambda"] == 0) & (means["N"] > 0)).mean()) for name, means, _ in estimates}
    useless = [f"{measure} ({share:.0%})" for measure, share in shares.items() if share >= 0.5]
    if useless and lam is None:
        note = f"lambda is 0 for {', '.join(useless)} of the runs"
        yield Caveat(note, f"{note}: the judge's labels do not go with people's, which alone make the estimates.")
