"""compare_labels: labels of judges beside those of people, where there are no runs, or runs do not matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pt_reuse._errors import door
from pt_reuse.arrays.bootstrap import checked_bootstrap
from pt_reuse.data.judgments import checked_rel
from pt_reuse.judging.annotators.labels import as_annotator_labels
from pt_reuse.judging.judges import JudgeRel, as_judges
from pt_reuse.judging.label_pairs import compared_labels
from pt_reuse.scoring.caveats import few_topics, noted, tell
from pt_reuse.studies.judged_fields import as_people
from pt_reuse.studies.label_audit.agreeing import check_names, label_agreement
from pt_reuse.studies.label_audit.label_agreement import LabelAgreement
from pt_reuse.studies.label_audit.other_people import compared_people


@door
def compare_labels(
    human: Any,
    judge: Any,
    *,
    people: Any = None,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> LabelAgreement:
    """Say how far the labels of judges agree with those of people, with no runs needed.

    Judges are models, or whoever else labels in the place of people. All figures are of the documents that people
    judged and the judge labelled, too; how many it left out is counted. What people reach with each other is the
    yardstick: give labels of other people as `people`, and each judge stands beside them on the same documents.

    Args:
        human: the judgments of people, in any form (see :doc:`runs`); a negative label is none.
        judge: one judge, or a dict of name -> judge: judgments in any form, or whoever gives labels (a function, a
            pipeline, a :class:`judging.Judge`), who is asked for what people judged; or a folder of judges, read as
            :func:`judging.read_judges` reads it.
        people: labels of other people for documents of `human`: a dict of name -> judgments in any form, a frame
            ``qid docno label annotator``, or what :func:`~pt_reuse.judging.import_labels` returns. Each may have
            labelled a part. Default none.
        rel: the lowest label of people that is relevant; default what `human` says, else 1.
        judge_rel: the lowest label of a judge that is relevant, or a dict of its label -> the label of people that it
            stands for; one for all, or a dict of name -> one of these. Default: what the judge says; else 1 where all
            its labels are 0 and 1, and as people where none is above the highest of theirs. Labels above it are
            refused.
        families: a dict of judge -> family of models, which stands beside it in the table.
        resamples: how often the topics are drawn for intervals; default 1,000; 0 for none.
        confidence: of the intervals, between 0 and 1; default .95. They are percentile intervals, expanded for few
            topics as Student's t is (Hesterberg 2015).
        seed: of the draws.

    Returns:
        LabelAgreement: ``.table`` (overall), ``.per_topic``, ``.by_grade``, ``.confusion``, ``.beside`` (other people
        on the same documents), ``.between`` (other people with each other), ``.plot()``, ``.plot_confusion()``.

    Raises:
        InputError: no judgments, no judge, labels that are none (such as probabilities), a judge that labelled nothing
            of what people judged, one name for two.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing; fewer than five topics.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> given = {"ann": [3, 2, 0, 0, 1, 0], "model": [3, 2, 1, 0, 2, 2]}
        >>> frame = pd.DataFrame({"qid": list("123456"), "docno": list("abcdef")})
        >>> labels = {name: frame.assign(label=label) for name, label in given.items()}
        >>> found = ptr.labels.compare_labels(labels["ann"], {"model": labels["model"]}, rel=2, resamples=0)
        >>> found.table[["judge", "items", "labels", "agreement", "kappa", "precision", "recall"]].round(3)
           judge     items  labels  agreement  kappa  precision  recall
        0  model       all  grades      0.500  0.357        0.5     1.0
        1  model  relevant  grades      0.500  0.333        0.5     1.0
        2  model       all  binary      0.667  0.400        0.5     1.0
        3  model  relevant  binary      0.500  0.000        0.5     1.0

    Source: Cohen 1960, A coefficient of agreement for nominal scales; Krippendorff 2004, Content analysis, chapter 11.
    """
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    truth = as_people(human, checked_rel(rel))
    judges = as_judges(judge, rel=judge_rel, families=families)
    others = None if people is None else as_annotator_labels(people, "people")
    check_names([one.name for one in judges], () if others is None else others.annotators)
    # labels of people are there already, a judge may take its time
    beside = [] if others is None else list(compared_people(truth, others))
    compared = [compared_labels(truth, one) for one in judges]
    found = label_agreement(compared, bootstrap, people=beside)
    caveats = [caveat for one in compared for caveat in few_topics(len(one.judge.topics), one.name)]
    tell(caveats)
    return replace(found, settings={**found.settings, **noted(caveats)})
