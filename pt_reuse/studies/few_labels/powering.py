"""prediction_powered: scores by few labels of people and many of a model, with intervals that hold for people's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, fraction, told
from pt_reuse._errors import Argument, InputError, Option, arguments_as, door, located
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.prediction_powered import ESTIMATED, JACKKNIFE, VARIANCES
from pt_reuse.arrays.significance import checked_correction
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.judges import JudgeRel, NamedJudge, as_judges
from pt_reuse.scoring.caveats import Caveat, few_topics, noted, tell, told_elsewhere
from pt_reuse.scoring.grades import warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike, parse_measures
from pt_reuse.scoring.run_scores import check_scoring, checked_measures
from pt_reuse.scoring.topic_sets import check_every_topic, check_topics, topics_of_runs
from pt_reuse.studies.few_labels.asked_documents import checked_pool, documents_to_label
from pt_reuse.studies.few_labels.document_level import document_estimates, pool_labels, sample_of
from pt_reuse.studies.few_labels.estimates import Asked, Estimates, pair_table, rank_table
from pt_reuse.studies.few_labels.linear_measures import linear_of
from pt_reuse.studies.few_labels.powered_result import PredictionPowered
from pt_reuse.studies.few_labels.topic_level import score_as_asked, split_topics, topic_estimates

#: what people labelled few of
LEVELS = ("topics", "documents")


@dataclass(frozen=True)
class _Found:
    """What is estimated with one judge.

    Attributes:
        judge: its name.
        estimates: of each measure.
        words: what there is of its labels, for settings.
        caveats: what keeps the intervals from meaning what they seem to mean.
    """

    judge: NamedJudge
    estimates: list[Estimates]
    words: str
    caveats: list[Caveat]


@door
def prediction_powered(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    level: str = "topics",
    pool: Any = None,
    lam: float | None = None,
    variance: str | None = None,
    correction: str = "bonferroni",
    confidence: float = 0.95,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> PredictionPowered:
    """Estimate scores, differences and ranks by people's labels, where people labelled little and a model all.

    The estimates are of what people would say of everything, with intervals that hold however wrong the model is: its
    labels only make them narrower, the more so the better they agree with people's. What is estimated is never the
    score by the model's labels.

    **By topics** people judged n topics in full, and the model labelled these and N others. A run's mean is Ybar_n +
    lambda (Fbar_N - Fbar_n): the mean by people's labels, moved by how much the model says the other topics differ. The
    n topics must be a random part of all n + N, and the model must not have been tuned on their labels.

    **By documents** people labelled a random sample of each topic's pool, with known probability, and the model all of
    it. A run's score on a topic is the sum over its documents of weight times gain, by the model's labels, corrected by
    what people say of the sampled ones, each of which stands for 1 / probability. This takes measures that are such
    sums: ``P@k``, ``RBP(rel=...)``, ``SDCG(max_rel=...)@k`` (DCG over its largest possible value), ``SetP``,
    ``NumRet(rel=...)`` and ``NumRel``, the number of relevant documents of the pool. nDCG and AP are refused.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`. Pipelines come in by
            :meth:`RunSet.from_pipelines`.
        human: labels of people, in any form. By topics: of some topics, in full. By documents: of a sample, as
            :func:`~pt_reuse.pools.sample_pool` and :meth:`Pool.judge` make them, with the column ``stratum`` and label
            -1 for what was pooled and not sampled; or with the column ``inclusion``, the probability with which each
            document was drawn, each by itself.
        judge: labels of a model, in any form, a :class:`judging.Judge`, a function or a pipeline; or a dict of name ->
            one of these. Its own labels count, also of documents that people did not label. A document that it gave no
            label is unjudged for it.
        measures: ir_measures measures, or their names, one or several.
        level: ``"topics"`` (default) or ``"documents"``: what people labelled a part of.
        pool: the documents that the judge is to label: a Pool, or a frame with ``qid``, ``docno`` and what the judge
            reads. Default those whose labels exist already; a judge that has to be asked needs it by topics.
        lam: lambda, how far the model is trusted, from 0 (people's labels alone) to 1; default the best one, estimated:
            by topics of each run and of each pair, by documents of all runs and of all pairs. By documents 1 is
            unbiased also where few documents are labelled.
        variance: by topics, how that of an estimate is estimated where lambda is: ``"jackknife"`` (default), in which
            lambda is estimated anew without each of the n topics; or ``"plain"``, PPI++'s var(Y - lambda F)/n, which
            takes lambda for known, and whose intervals cover one to three in a hundred less. With a given `lam` both
            are the same.
        correction: of the tests of pairs for their number: ``"bonferroni"`` (default), under which the intervals of all
            ranks hold at once; ``"holm"``, ``"benjamini-hochberg"``; or ``"none"``.
        confidence: of the intervals; pairs are tested at the level 1 - confidence.
        rel: the lowest label of people that is relevant; default what the judgments say, else 1. Measures have their
            own.
        judge_rel: the same of the judge's labels, or a dict of its label -> the label of people, as in
            :func:`audit_labels`.
        families: judge -> the family of models that it belongs to.
        complete: the mean is over all topics, a topic that a run lacks counting 0 (default). False: over the topics
            that the run has, which is refused where a run lacks some.
        without_topics: a run with none of the topics that people labelled, or none of the others, is an ``"error"``
            (default), or scores ``"zero"``.
        verbose: show progress bars.

    Returns:
        PredictionPowered: ``.table`` per judge, measure and run, ``.pairs``, ``.ranks``, ``.findings()``, ``.plot()``.

    Raises:
        InputError: fewer than two topics of either kind, or than three of people where lambda is estimated; a sample
            that does not say how it was drawn; by documents a measure that is no sum over documents; a judge that has
            to be asked without a pool; statsmodels missing.

    Warns:
        CaveatWarning: fewer than 20 topics that people labelled, for which intervals are known to cover less than they
            say; fewer topics of the judge alone than of both; other numbers of the judge's labels on the two kinds of
            topics; a lambda of 0 for half of the runs, for which the judge is of no use; by documents fewer than five
            topics.
        ReuseWarning: topics that do not count, documents without a label of the judge.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7, n_topics=80)
        >>> people = field.all_qrels.select(field.all_qrels.topics[:25])
        >>> judge = ptr.judging.Noisy(field.all_qrels, ptr.judging.flips(0.1, range(3)), seed=1)
        >>> found = ptr.labels.prediction_powered(field.runs, people, judge, "nDCG@10")
        >>> found.table[["name", "human", "estimate", "estimate_low", "estimate_high", "n_eff"]].round(3).head(2)
            name  human  estimate  estimate_low  estimate_high   n_eff
        0  lex1a  0.560     0.502         0.430          0.573  32.761
        1  lex1b  0.572     0.513         0.433          0.593  24.214

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered Inference,
    https://arxiv.org/abs/2311.01453; Oosterhuis, Jagerman, Qin, Wang and Bendersky 2024, Reliable Confidence Intervals
    for Information Retrieval Evaluation Using Generative A.I., KDD. Equal to ppi-python where conventions agree.
    """
    choice("level", level, LEVELS)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    asked = Asked(
        _checked_measures(measures, level),
        None if lam is None else _checked_weight(lam),
        fraction("confidence", confidence, ends=False),
        _checked(correction),
        bool(complete),
        without_topics,
        bool(verbose),
        _checked_variance(variance, level),
    )
    lowest, texts = checked_rel(rel), checked_pool(pool)
    judges = as_judges(judge, rel=judge_rel, families=families)
    if level == "topics":
        for each in judges:
            documents_to_label(each, texts)
    with arguments_as(qrels="human"):
        runs, human = as_runs_before(runs, human)
    people = _labelled(as_qrels(human, "human"), lowest, level)
    if level == "documents":
        # by topics scoring says it
        warn_of_lower_grades(asked.measures, people.rel)
    if without_topics == "error":
        check_topics(runs, people)
    if not complete:
        check_every_topic(runs.names, topics_of_runs(runs, people), "complete", what="The estimate")
    if level == "topics":
        found = _by_topics(runs, people, judges, texts, asked)
    else:
        found = _by_documents(runs, people, judges, texts, asked)
    for one in found:
        with located(one.judge.name):
            tell(one.caveats)
    notes = [
        Caveat(f"{one.judge.name}: {caveat.note}" if len(found) > 1 else caveat.note, caveat.parts)
        for one in found
        for caveat in one.caveats
    ]
    settings = {
        **runs.settings,
        "complete": complete,
        "human": f"relevant from label {people.rel}",
        "judges": "; ".join(f"{one.judge.name} ({one.words})" for one in found),
        "lambda": ESTIMATED_OF[level] if asked.weight is None else f"{asked.weight:g}, given",
        "intervals": f"{100 * asked.confidence:.4g} %, {_intervals(level, asked)}",
        "pairs": f"two-sided t tests at {1 - asked.confidence:.4g}, correction {correction}",
        "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        **noted(notes),
    }
    return _result(found, runs, asked, settings, level)


#: what lambda is where it is estimated, and what an interval is, for settings
ESTIMATED_OF = {
    "topics": f"estimated: {ESTIMATED}",
    "documents": "estimated: cov / var over the samples that there could be, summed over topics and runs (or pairs)",
}
INTERVALS = {
    "topics": "t with n - 1 degrees, standard error root of var(Y - lambda F)/n + lambda^2 var(F)/N",
    "jackknife": "t with n - 1 degrees, standard error root of J + lambda^2 var(F)/N, J the variance by the jackknife "
    "over the n topics, lambda estimated anew without each",
    "documents": "over topics: t with topics - 1 degrees; of the sampling alone, on these topics: normal",
}


def _checked_measures(measures: Any, level: str) -> list[ir_measures.Measure]:
    if level == "topics":
        return checked_measures(measures)
    parsed = parse_measures(measures)
    for measure in parsed:
        linear_of(measure)
    return parsed


def _checked_weight(lam: Any) -> float:
    if isinstance(lam, bool) or not isinstance(lam, int | float | np.number) or not 0 <= lam <= 1:
        raise InputError(Argument("lam"), f" must be a number from 0 to 1, got {told(lam)}.", argument="lam")
    return float(lam)


def _checked_variance(variance: Any, level: str) -> str:
    if variance is None:
        return JACKKNIFE
    choice("variance", variance, VARIANCES)
    if level == "documents":
        raise InputError(
            "the variance by documents is that of the sample, and there is one way to estimate it. Leave ",
            Argument("variance"),
            " out, or give ",
            Option("level", "topics"),
            ".",
            argument="variance",
        )
    return str(variance)


def _intervals(level: str, asked: Asked) -> str:
    by_jackknife = level == "topics" and asked.weight is None and asked.variance == JACKKNIFE
    return INTERVALS[JACKKNIFE if by_jackknife else level]


def _checked(correction: Any) -> str:
    checked_correction(correction)
    return str(correction)


def _labelled(human: Qrels, rel: int | None, level: str) -> Qrels:
    """Return the labels of people; by topics on the topics alone in which they labelled a document."""
    labels, topic = human.arrays.labels, human.arrays.documents.topic
    there = np.unique(topic[labels >= 0])
    if not len(there):
        raise InputError("people labelled no document.", argument="human")
    kept = human if level == "documents" else human.select([human.topics[t] for t in there.tolist()])
    return kept if rel is None else kept.with_rel(rel)


def _by_topics(
    runs: RunSet, people: Qrels, judges: Sequence[NamedJudge], pool: pd.DataFrame | None, asked: Asked
) -> list[_Found]:
    splits = [split_topics(runs, people, judge, pool, asked) for judge in judges]
    with told_elsewhere():
        mine = score_as_asked(runs, people, asked)
    found = []
    for judge, split in zip(judges, splits, strict=True):
        with located(judge.name):
            estimates = list(topic_estimates(runs, mine, split, asked))
        caveats = [*split.caveats(), *_useless(estimates, asked)]
        found.append(_Found(judge, estimates, split.words(), caveats))
    return found


def _by_documents(
    runs: RunSet,
    people: Qrels,
    judges: Sequence[NamedJudge],
    pool: pd.DataFrame | None,
    asked: Asked,
) -> list[_Found]:
    measures = [linear_of(measure) for measure in asked.measures]
    found = []
    for judge in judges:
        sample = sample_of(people, judge.judge.known_pairs() if pool is None else pool)
        said = pool_labels(judge, sample, pool)
        estimates = list(document_estimates(runs, sample, said.labels, measures, asked))
        topics = count(len(people.topics), "topic")
        words = f"{said.scale_words()}, people labelled {sample.words()}, {topics}"
        caveats = [*few_topics(len(people.topics)), *_useless(estimates, asked)]
        found.append(_Found(judge, estimates, words, caveats))
    return found


def _useless(estimates: Sequence[Estimates], asked: Asked) -> list[Caveat]:
    """Return a caveat for the measures for which the judge is of no use."""
    if asked.weight is not None:
        return []
    # where people labelled everything, there is nothing that a judge could add
    shares = {each.measure: float(((each.means["lambda"] == 0) & (each.means["N"] > 0)).mean()) for each in estimates}
    useless = [f"{measure} ({share:.0%})" for measure, share in shares.items() if share >= 0.5]
    if not useless:
        return []
    return [
        Caveat(
            f"lambda is 0 for {', '.join(useless)} of the runs",
            (
                f"lambda is 0 for {', '.join(useless)} of the runs: the judge's labels do not go with those of people, "
                "and the estimates are by people's labels alone. Another judge, or more labels of people, may help.",
            ),
        )
    ]


def _result(
    found: Sequence[_Found], runs: RunSet, asked: Asked, settings: dict[str, Any], level: str
) -> PredictionPowered:
    names, known = runs.names, runs.run_table[["name", "team", "type"]].reset_index(drop=True)
    tables: list[pd.DataFrame] = []
    pairs: list[pd.DataFrame] = []
    ranked: list[pd.DataFrame] = []
    for one in found:
        for each in one.estimates:
            of_pairs = pair_table(each.pairs, names, asked)
            means = pd.concat([known, each.means.drop(columns=["p", "human_p"])], axis=1)
            key = {"judge": one.judge.name, "family": one.judge.family, "measure": each.measure}
            for frames, frame in (
                (tables, means),
                (pairs, of_pairs),
                (ranked, rank_table(each.means, of_pairs, names)),
            ):
                frames.append(pd.DataFrame(key, index=frame.index).join(frame))
    return PredictionPowered(
        table=pd.concat(tables, ignore_index=True),
        settings=settings,
        pairs=pd.concat(pairs, ignore_index=True),
        ranks=pd.concat(ranked, ignore_index=True),
        level=level,
        confidence=asked.confidence,
        correction=asked.correction,
    )
