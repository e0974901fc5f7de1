"""Prediction-powered scores over topics: people label some topics in full, a judge all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option, located, warn
from pt_reuse.arrays.prediction_powered import (
    JACKKNIFE,
    LEAST_FOR_JACKKNIFE,
    PLAIN,
    TopicValues,
    powered_differences,
    powered_means,
)
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import Scale
from pt_reuse.scoring.caveats import Caveat, told_elsewhere
from pt_reuse.scoring.run_scores import score
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_every_topic, check_topics, topics_of_runs
from pt_reuse.studies.few_labels.asked_documents import JudgeLabels, documents_to_label, labels_for
from pt_reuse.studies.few_labels.estimates import Asked, Estimates, columns_of

#: with fewer topics intervals are known to cover less than they say
ENOUGH_TOPICS = 20
#: labels a topic on one side over those on the other from which on the two are not of one kind
UNLIKE = 1.5


@dataclass(frozen=True)
class SplitTopics:
    """The topics of one judge.

    Attributes:
        labelled: those that people labelled, too.
        unlabelled: those that the judge alone labelled.
        of_judge: what the judge said.
    """

    labelled: list[str]
    unlabelled: list[str]
    of_judge: JudgeLabels

    def words(self) -> str:
        """Return what there is, for settings."""
        rel = self.of_judge.scale_words()
        missing = f", {self.of_judge.missing:,} documents without a label" if self.of_judge.missing else ""
        return (
            f"{rel}, n={len(self.labelled):,} topics with labels of people, N={len(self.unlabelled):,} with the "
            f"judge's alone{missing}"
        )

    def caveats(self) -> Iterator[Caveat]:
        """Yield what keeps the intervals from meaning what they seem to mean."""
        n, more = len(self.labelled), len(self.unlabelled)
        if n < ENOUGH_TOPICS:
            yield Caveat(
                f"{n:,} topics with labels of people only",
                (
                    f"people labelled {n:,} topics. With fewer than {ENOUGH_TOPICS} the intervals are known to cover "
                    "less than they say: of 95 % intervals as few as 92 in 100 with 10 topics, and 89 with ",
                    Option("variance", PLAIN),
                    ". Have people label more.",
                ),
            )
        if more < n:
            yield Caveat(
                f"fewer topics with the judge's labels alone ({more:,}) than with those of people ({n:,})",
                (
                    f"the judge labelled {count(more, 'topic')} that people did not, fewer than the {n:,} that both "
                    f"labelled. Even a perfect judge makes them worth {n + more:,}; have it label more.",
                ),
            )
        sizes = dict(
            zip(self.of_judge.labels.topics, self.of_judge.labels.arrays.documents.sizes.tolist(), strict=True)
        )
        both, alone = (float(np.mean([sizes[t] for t in some])) for some in (self.labelled, self.unlabelled))
        if max(both, alone) > UNLIKE * min(both, alone):
            yield Caveat(
                f"the judge labelled {both:,.1f} documents a topic where people did, and {alone:,.1f} elsewhere",
                (
                    f"the judge labelled {both:,.1f} documents a topic on the topics that people labelled, and "
                    f"{alone:,.1f} on the others. The estimate takes the two for one kind of labels: give the judge "
                    "the documents of one pool on all topics, by ",
                    Option("pool", ...),
                    ".",
                ),
            )


def split_topics(runs: RunSet, human: Qrels, judge: NamedJudge, pool: pd.DataFrame | None, asked: Asked) -> SplitTopics:
    """Ask a judge, and say which topics people labelled and which it alone did.

    Raises:
        InputError: fewer than two topics of either kind, fewer than three of people where lambda is estimated anew
            without each.

    Warns:
        ReuseWarning: topics that do not count, of people without labels of the judge, of the judge without any run.
    """
    said = labels_for(judge, documents_to_label(judge, pool), Scale.of(human))
    theirs, mine = set(said.labels.topics), set(human.topics)
    labelled = [topic for topic in human.topics if topic in theirs]
    lost = [topic for topic in human.topics if topic not in theirs]
    others = [topic for topic in said.labels.topics if topic not in mine]
    there = set(runs.topics)
    alone = [topic for topic in others if topic in there]
    with located(judge.name):
        _check_topics(human, labelled, others, alone)
        if asked.weight is None and asked.variance == JACKKNIFE and len(labelled) < LEAST_FOR_JACKKNIFE:
            raise InputError(
                f"people and the judge labelled {count(len(labelled), 'topic')}. To estimate lambda anew without each "
                f"takes {LEAST_FOR_JACKKNIFE}, a trusted interval {ENOUGH_TOPICS}. Have people label more, or give ",
                Option("lam", 1),
                ".",
                argument="human",
            )
        if lost:
            warn(
                f"the judge labelled nothing in {count(len(lost), 'topic')} that people judged: {examples(lost)}. "
                f"The estimates are of the other {len(labelled):,}."
            )
        if len(alone) < len(others):
            gone = [topic for topic in others if topic not in there]
            warn(
                f"no run has documents for {count(len(gone), 'topic')} of the judge: {examples(gone)}. They are left "
                "out."
            )
    return SplitTopics(labelled, alone, said)


def _check_topics(human: Qrels, labelled: list[str], others: list[str], alone: list[str]) -> None:
    if not labelled:
        raise InputError(
            f"the judge labelled no topic that people judged: {examples(human.topics)}; {examples(others)}. Are "
            "these labels of the same collection, with ids written alike?",
            argument="judge",
        )
    if len(labelled) < 2:
        raise InputError(
            f"people and the judge labelled one topic only, {labelled[0]!r}. A variance takes 2, a trusted interval "
            f"{ENOUGH_TOPICS}.",
            argument="human",
        )
    if len(alone) < 2:
        of_runs = (
            f", and no run has documents for {len(others) - len(alone):,} of them" if len(alone) < len(others) else ""
        )
        raise InputError(
            f"the judge labelled {count(len(others), 'topic')} beyond those that people did{of_runs}. There is "
            "nothing to gain from fewer than 2. Give labels of the judge for topics that people did not judge, by ",
            Option("pool", ...),
            " where it has to be asked. Where people judged some documents of each topic, give ",
            Option("level", "documents"),
            ".",
            argument="judge",
        )


def score_as_asked(runs: RunSet, qrels: Qrels, asked: Asked) -> Scores:
    """Score the field by some labels."""
    return score(
        runs,
        qrels,
        asked.measures,
        complete=asked.complete,
        without_topics=asked.without_topics,
        verbose=asked.verbose,
    )


def topic_estimates(runs: RunSet, human: Scores, split: SplitTopics, asked: Asked) -> Iterator[Estimates]:
    """Yield the estimates of each measure."""
    labels, n = split.of_judge.labels, len(split.labelled)
    # measures that count lower grades are named once, for people's labels
    by_judge = labels.select([*split.labelled, *split.unlabelled]).with_rel(None)
    if asked.without_topics == "error":
        # a run that has the topics of people alone would score 0 on all others
        check_topics(runs, labels.select(split.unlabelled))
    if not asked.complete:
        check_every_topic(runs.names, topics_of_runs(runs, by_judge), "complete", what="The estimate")
    with told_elsewhere():
        found = score_as_asked(runs, by_judge, asked)
    rows = [human.topics.index(topic) for topic in split.labelled]
    place = {topic: t for t, topic in enumerate(found.topics)}
    order = [place[topic] for topic in (*split.labelled, *split.unlabelled)]
    for name, mine, theirs in zip(human.measures, human.values, found.values, strict=True):
        values = TopicValues(mine[rows], theirs[order[:n]], theirs[order[n:]])
        yield Estimates(
            measure=name,
            means=columns_of(powered_means(values, asked.weight, asked.variance), asked.confidence),
            pairs=columns_of(powered_differences(values, asked.weight, asked.variance), asked.confidence),
        )
