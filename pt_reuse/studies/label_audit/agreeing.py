"""label_agreement: how far labels of judges agree with those of people, beside what people reach with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.stats.bootstrap import TopicBootstrap
from pt_reuse.studies.label_audit.agreement_tables import BY_GRADE, CONFUSION, OVERALL, PER_TOPIC, Compared
from pt_reuse.studies.label_audit.label_agreement import TOGETHER, LabelAgreement
from pt_reuse.studies.label_audit.label_counts import LabelCounts, together

_WHO = ("judge", "kind")


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
    names = Counter(one.name for one in (*pairs, *people))
    if several := [name for name, times in names.items() if times > 1 or (name == TOGETHER and len(people) > 1)]:
        raise InputError(
            f"{examples(several)} is the name of more than one. Give each judge, and each of the people, a name of its "
            "own.",
            argument="people" if people else "judge",
        )
    compared = [_compared(one, "model") for one in pairs] + [_compared(one, "people") for one in people]
    if len(people) > 1:
        compared.append(_all_of(people))
    between = list(_between(people))
    family = {one.name: one.family for one in pairs}
    rels = {one.name: (one.rel, one.judge_rel) for one in (*pairs, *people)}
    table = pd.DataFrame([row for one in compared for row in one.overall(bootstrap)], columns=[*_WHO, *OVERALL])
    table.insert(2, "family", table["judge"].map(family).astype(object))
    return LabelAgreement(
        table=table,
        settings=_settings(pairs, people, compared, bootstrap),
        per_topic=pd.concat([one.per_topic() for one in compared], ignore_index=True)[[*_WHO, *PER_TOPIC]],
        by_grade=pd.DataFrame([row for one in compared for row in one.by_grade(bootstrap)], columns=[*_WHO, *BY_GRADE]),
        confusion=pd.concat([one.confusion() for one in compared], ignore_index=True)[[*_WHO, *CONFUSION]],
        between=pd.DataFrame(
            [row for one in between for row in one.overall(bootstrap)], columns=["judge", "other", *OVERALL]
        ),
        bounds=pd.DataFrame([(name, *bounds) for name, bounds in rels.items()], columns=["judge", "rel", "judge_rel"]),
    )


def _compared(labels: ComparedLabels, kind: str) -> Compared:
    who = {"judge": labels.name, "kind": kind}
    return Compared(who, LabelCounts.compared(labels), Counter(labels.left["qid"]), len(labels.without))


def _all_of(people: Sequence[ComparedLabels]) -> Compared:
    """Return all other people as one: what a document is called by each of them counts."""
    counts = together(TOGETHER, people)
    left = Counter(qid for one in people for qid in one.left["qid"])
    asked = {topic for one in people for topic in (*one.human.topics, *one.without)}
    return Compared({"judge": TOGETHER, "kind": "people"}, counts, left, len(asked - set(counts.topics)))


def _between(people: Sequence[ComparedLabels]) -> list[Compared]:
    """Return each two people with documents in common, the first in the place of people, the second of the judge."""
    found = []
    for one, other in combinations(people, 2):
        both = one.pairs.merge(other.pairs[["qid", "docno", "judge"]], on=["qid", "docno"], suffixes=("", "_other"))
        if len(both):
            both = both.assign(human=both["judge"], judge=both["judge_other"])
            counts = LabelCounts.of(other.name, both, one.judge_rel, other.judge_rel)
            found.append(Compared({"judge": other.name, "other": one.name}, counts, {}, 0))
    return found


def _settings(
    pairs: Sequence[ComparedLabels],
    people: Sequence[ComparedLabels],
    compared: Sequence[Compared],
    bootstrap: TopicBootstrap | None,
) -> dict[str, object]:
    found: dict[str, object] = {
        "human": ", ".join(f"relevant from label {rel}" for rel in sorted({one.rel for one in (*pairs, *people)})),
        **{one.name: one.words() for one in (*pairs, *people)},
    }
    ungraded = [str(one.who["judge"]) for one in compared if not one.counts.graded and one.who["kind"] == "model"]
    if ungraded:
        found["relevant or not alone"] = (
            f"{examples(ungraded, 12)}: the labels are two, or not on the scale of people (relevant from the same "
            "label on, and none above the highest of people)"
        )
    if people:
        found["people"] = f"{len(people):,} others; a document that several of them labelled counts for each"
    words = (
        "none"
        if bootstrap is None
        else (
            f"{100 * bootstrap.confidence:.4g} % percentile bootstrap over the topics of each judge, "
            f"{bootstrap.resamples:,} resamples, seed {bootstrap.seed}"
        )
    )
    return found | {"documents": "those that both labelled", "kappa": "Cohen's, without weights", "intervals": words}
