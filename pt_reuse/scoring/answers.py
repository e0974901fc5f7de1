"""Scores of answers that were judged by items: weighted recall, as Scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, names
from pt_reuse.arrays.item_banks import weighted_recall
from pt_reuse.data.answers import MEASURES, Answers, as_answers
from pt_reuse.scoring.scores import Scores


def item_measures(answers: Answers, given: Any) -> list[str]:
    """Return the scores that are asked for, else those of items that weigh alike, or by their weights, too."""
    if given is None:
        differ = len(set(answers.items["weight"])) > 1
        return ["all_score", "weighted_score"] if differ else ["all_score"]
    return list(dict.fromkeys(choice("measures", name, MEASURES) for name in names("measures", given)))


def score_answers(answers: Any, measures: Any = None, *, judge: str | None = None) -> Scores:
    """Score answers by a bank of items, so that studies of scores can be asked of them.

    Args:
        answers: what :func:`~pt_reuse.read_answers` returned, or what it reads.
        measures: ``all_score`` (every item alike), ``weighted_score`` (vital items weigh 1, okay ones .5, or as given),
            ``vital_score`` (vital items alone; where no importance is given, those that weigh 1 or more), and each with
            ``strict_`` before it, where partial matches count nothing; default ``all_score``, and ``weighted_score``
            where items weigh differently.
        judge: whose matches count; default the only judge.

    Returns:
        Scores: by topic; a missing match counts as not found, and a topic without weighing items 0.

    Raises:
        InputError: an unknown measure or judge, several judges and none named.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> wide = pd.DataFrame({"qid": ["1", "1"], "item": ["a", "b"], "A": [1, 0.5], "B": [0, 1]})
        >>> ptr.items.score_answers(wide, ["all_score", "strict_all_score"]).mean
          name  all_score  strict_all_score
        0    A       0.75               0.5
        1    B       0.50               0.5

    Source: Pradeep et al. 2025, The great nugget recall, SIGIR (the AutoNuggetizer).
    """
    judged = as_answers(answers)
    return scores_of_answers(judged, item_measures(judged, measures), judge, np.ones(len(judged.items), dtype=bool))


def scores_of_answers(answers: Answers, measures: list[str], judge: str | None, keep: NDArray[np.bool_]) -> Scores:
    """Return the scores of answers, in which only some items count."""
    topic, n_topics = answers.topic, len(answers.topics)
    values = [
        weighted_recall(answers.credit(name, judge), np.where(keep, answers.weights(name), 0.0), topic, n_topics)
        for name in measures
    ]
    matches = answers.matches[answers.of_judge(judge)]
    has_topic = pd.DataFrame(~np.isnan(matches)).groupby(topic).any().to_numpy()
    whose = answers.judges[answers.of_judge(judge)]
    return Scores(
        run_table=answers.run_table[["name", "team", "type"]],
        topics=answers.topics,
        measures=measures,
        values=np.stack(values),
        complete=True,
        has_topic=has_topic,
        settings={"scores": "weighted recall of items", "judge": whose, "complete": True},
    )
