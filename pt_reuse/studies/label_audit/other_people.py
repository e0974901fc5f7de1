"""Labels of other people beside judgments: the yardstick, each on the topics of which it has any."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import InputError, located
from pt_reuse.judging.annotators.labels import AnnotatorLabels
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import ComparedLabels, compared_labels
from pt_reuse.judging.oracle import Oracle
from pt_reuse.qrels.judgments import Qrels


def compared_people(human: Qrels, people: AnnotatorLabels) -> Iterator[ComparedLabels]:
    """Yield the labels of each other person beside judgments.

    People are often given a part of the topics. So the topics that a person has no label of do not count as missing.

    Args:
        human: the judgments.
        people: the other people; labels 0 and 1 are relevant from 1 on, others from where the labels say, or as those
            of the judgments.

    Raises:
        InputError: one who labelled none of the documents that are judged.
    """
    frame = human.to_frame()
    judged = frame.loc[frame["label"] >= 0, ["qid", "docno"]]
    for number, name in enumerate(people.annotators):
        mine = people.given[:, number]
        columns = {"qid": people.qids, "docno": people.docnos, "label": people.values[:, number]}
        given = pd.DataFrame({column: values[mine] for column, values in columns.items()})
        there = set(judged.merge(given, on=["qid", "docno"])["qid"])
        if not there:
            with located(name):
                raise InputError(
                    f"this person labelled none of the {count(len(judged), 'document')} that are judged. Are these "
                    "labels of the same collection, with ids written alike?",
                    argument="people",
                )
        person = NamedJudge(name, Oracle(Qrels(given, rel=people.rel)), people.rel)
        yield compared_labels(human.select([topic for topic in human.topics if topic in there]), person)
