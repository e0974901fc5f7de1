"""Labels of other people beside judgments: the yardstick, each on the topics of which it has any."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, InputError, located, warn
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.annotators.labels import AnnotatorLabels
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import ComparedLabels, Scale, compared_labels, lowest_relevant
from pt_reuse.judging.oracle import Oracle


def compared_people(human: Qrels, people: AnnotatorLabels) -> Iterator[ComparedLabels]:
    """Yield the labels of each other person beside judgments.

    People are often given a part of the topics. So the topics that a person has no label of do not count as missing.

    Args:
        human: the judgments.
        people: the other people; labels 0 and 1 are relevant from 1 on, others from where the labels say, or as those
            of the judgments.

    Raises:
        InputError: one who labelled none of the documents that are judged.

    Warns:
        ReuseWarning: one whose labels are 0 and 1 while others gave more, which may be grades, too.
    """
    _warn_of_few_grades(human, people)
    frame = human.to_frame()
    judged = frame.loc[frame["label"] >= 0, ["qid", "docno"]]
    for number, name in enumerate(people.annotators):
        # below 0 there is no label, as in judgments
        mine = people.values[:, number] >= 0
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
        # people are taken to grade on one scale, whichever of its labels each of them gave
        scale = Scale(human.rel, int(given["label"].max()))
        lowest = lowest_relevant(given["label"], scale) if people.rel is None else people.rel
        person = NamedJudge(name, Oracle(Qrels(given)), lowest)
        yield compared_labels(human.select([topic for topic in human.topics if topic in there]), person)


def _warn_of_few_grades(human: Qrels, people: AnnotatorLabels) -> None:
    """Warn of people whose labels are 0 and 1 beside others who gave grades: few labels may happen to be the lowest."""
    highest = people.values.max(axis=0)
    if people.rel is not None or human.rel == 1 or highest.max() <= 1:
        return
    low = [name for name, most in zip(people.annotators, highest.tolist(), strict=True) if most <= 1]
    if low:
        warn(
            f"the labels of {examples(low)} are 0 and 1, and others gave up to {highest.max()}. They are taken as not "
            f"relevant and relevant. Where they are grades, say of all people from which one on they are relevant: ",
            Call("Qrels", f"..., rel={human.rel}"),
            ".",
        )
