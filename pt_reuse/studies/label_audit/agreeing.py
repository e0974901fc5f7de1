"""label_agreement: how far labels of judges agree with those of people, beside what people reach with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.studies.label_audit.agreement_tables import BY_GRADE, CONFUSION, OVERALL, PER_TOPIC, Compared
from pt_reuse.studies.label_audit.both_labelled import BothLabelled, scale_of
from pt_reuse.studies.label_audit.label_agreement import LabelAgreement
from pt_reuse.studies.label_audit.label_counts import LabelCounts
from pt_reuse.studies.label_audit.same_documents import TOGETHER, beside_people

_WHO = ("judge", "kind")
#: of two people nobody is asked for what the other one labelled
_BETWEEN = ("judge", "other", *(column for column in OVERALL if column not in ("missing", "without")))


def label_agreement(
    pairs: Sequence[ComparedLabels], bootstrap: TopicBootstrap | None, *, people: Sequence[ComparedLabels] = ()
) -> LabelAgreement:
    """Say how far labels of judges agree with those of people, on the documents that both labelled.

    All figures are made of how often each two labels meet, topic by topic, so that a resample of the topics is a
    weighted sum of these counts.

    Args:
        pairs: labels of judges beside those of people, one or more.
        bootstrap: how intervals are made; None for none.
        people: labels of other people beside those of the same people, to read the judges against.

    Returns:
        LabelAgreement: a row per judge, and per other person, in each table.

    Raises:
        InputError: two judges, or a judge and another person, of one name.
    """
    check_names([one.name for one in pairs], [one.name for one in people])
    scale = scale_of((*pairs, *people))
    judges = {one.name: BothLabelled.of(one, scale) for one in pairs}
    others = {one.name: BothLabelled.of(one, scale) for one in people}
    compared = [_compared(one, "model", judges[one.name]) for one in pairs]
    compared += [_compared(one, "people", others[one.name]) for one in people]
    all_others = others
    if len(people) > 1:
        all_others = {**others, TOGETHER: BothLabelled.together(list(others.values()))}
        compared.append(_all_of(people, all_others[TOGETHER]))
    family = {one.name: one.family for one in pairs}
    bounds = [(one.name, one.rel, one.judge_rel) for one in (*pairs, *people)]
    table = pd.DataFrame([row for one in compared for row in one.overall(bootstrap)], columns=[*_WHO, *OVERALL])
    table.insert(2, "family", table["judge"].map(family).astype(object))
    return LabelAgreement(
        table=table,
        settings=_settings(pairs, people, compared, bootstrap),
        per_topic=pd.concat([one.per_topic() for one in compared], ignore_index=True)[[*_WHO, *PER_TOPIC]],
        by_grade=pd.DataFrame([row for one in compared for row in one.by_grade(bootstrap)], columns=[*_WHO, *BY_GRADE]),
        confusion=pd.concat([one.confusion() for one in compared], ignore_index=True)[[*_WHO, *CONFUSION]],
        beside=beside_people(judges, all_others, bootstrap),
        between=pd.DataFrame(
            [row for one in _between(others) for row in one.overall(bootstrap)], columns=list(_BETWEEN)
        ),
        bounds=pd.DataFrame(bounds, columns=["judge", "rel", "judge_rel"]),
    )


def check_names(judges: Sequence[str], people: Sequence[str]) -> None:
    """Raise where two of those who are compared have one name."""
    taken = Counter([*judges, *people, *([TOGETHER] if len(people) > 1 else [])])
    if several := [name for name, times in taken.items() if times > 1]:
        raise InputError(
            f"{examples(several)} is the name of more than one. Give each judge, and each of the other people, a name "
            "of its own.",
            argument="people" if people else "judge",
        )


def _compared(labels: ComparedLabels, kind: str, both: BothLabelled) -> Compared:
    who, missing = {"judge": labels.name, "kind": kind}, Counter(labels.left["qid"])
    return Compared(who, LabelCounts.of(both), missing, len(labels.without))


def _all_of(people: Sequence[ComparedLabels], both: BothLabelled) -> Compared:
    """Return all other people as one: what a document is called by each of them counts."""
    counts, left = LabelCounts.of(both), Counter(qid for one in people for qid in one.left["qid"])
    asked = {topic for one in people for topic in (*one.human.topics, *one.without)}
    return Compared({"judge": TOGETHER, "kind": "people"}, counts, left, len(asked - set(counts.topics)))


def _between(people: Mapping[str, BothLabelled]) -> Iterator[Compared]:
    """Yield each two people with documents in common, the first in the place of people, the second of the judge."""
    for (first, one), (second, other) in combinations(people.items(), 2):
        both = other.against(one)
        if len(both.pairs):
            yield Compared({"judge": second, "other": first}, LabelCounts.of(both), {}, 0)


def _settings(
    pairs: Sequence[ComparedLabels],
    people: Sequence[ComparedLabels],
    compared: Sequence[Compared],
    bootstrap: TopicBootstrap | None,
) -> dict[str, object]:
    found: dict[str, object] = {
        "human": f"relevant from label {pairs[0].rel}",
        "judges": "; ".join(f"{one.name} ({one.words()})" for one in pairs),
    }
    ungraded = [str(one.who["judge"]) for one in compared if not one.counts.graded and one.who["kind"] == "model"]
    if ungraded:
        found["relevant or not alone"] = (
            f"{examples(ungraded, 12)}: the labels are two, or not on the scale of people (relevant from the same "
            "label on, and none above the highest of people)"
        )
    if people:
        found["people"] = (
            f"{'; '.join(f'{one.name} ({one.words()})' for one in people)}. Together, a document counts for each "
            "of them who labelled it"
        )
    words = "none"
    if bootstrap is not None:
        words = (
            f"{100 * bootstrap.confidence:.4g} % bootstrap over the topics of each judge, {bootstrap.resamples:,} "
            f"resamples, seed {bootstrap.seed}: the percentile interval, expanded as Student's t is for few topics; "
            "that of recall is too narrow where most of what a judge misses is in few topics"
        )
    return found | {"documents": "those that both labelled", "kappa": "Cohen's, without weights", "intervals": words}
