"""Labels of other people beside judgments: the yardstick, each on the topics of which it has any."""

from __future__ import annotations

from collections.abc import Sequence

from pt_reuse._check import count
from pt_reuse._errors import InputError, arguments_as, located
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import ComparedLabels, compared_labels
from pt_reuse.qrels.judgments import Qrels


def compared_people(human: Qrels, people: Sequence[NamedJudge]) -> list[ComparedLabels]:
    """Put labels of other people beside judgments, each on the topics of which it has any.

    People are often given a part of the topics. So nothing is missing of the others, and nobody is warned.

    Args:
        human: the judgments.
        people: the other people.

    Raises:
        InputError: one who labelled none of the documents that are judged.
    """
    frame = human.to_frame()
    asked = frame.loc[frame["label"] >= 0, ["qid", "docno"]].reset_index(drop=True)
    found = []
    for person in people:
        given = person.labels(asked)
        there = set(asked.loc[(given >= 0).fillna(False).to_numpy(dtype=bool), "qid"])
        if not there:
            with located(person.name):
                raise InputError(
                    f"this person labelled none of the {count(len(asked), 'document')} that are judged. Are these "
                    "labels of the same collection, with ids written alike?",
                    argument="people",
                )
        with arguments_as(judge="people"):
            found.append(compared_labels(human.select([topic for topic in human.topics if topic in there]), person))
    return found
