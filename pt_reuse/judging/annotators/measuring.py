"""annotator_agreement: percent agreement, kappa and alpha of annotators, overall, by pair, by topic and by label."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, examples, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse.judging.annotators.agreement import AnnotatorAgreement
from pt_reuse.judging.annotators.coefficients import check_libraries
from pt_reuse.judging.annotators.comparing import Comparison, confusion_table, others_of, paired_table, together
from pt_reuse.judging.annotators.labels import NO_LABEL, AnnotatorLabels, as_annotator_labels, checked_scale
from pt_reuse.judging.annotators.resampling import Bootstrap
from pt_reuse.judging.annotators.together import by_label_table, fleiss_words, overall_table, per_topic_table
from pt_reuse.judging.annotators.voting import TIES
from pt_reuse.qrels.judgments import Qrels, as_qrels, checked_rel

#: of Cohen's kappa
WEIGHTS = ("linear", "quadratic")
#: what is drawn for intervals
OVER = ("topics", "items")


@door
def annotator_agreement(
    labels: Any,
    *,
    rel: int | None = None,
    gold: Any = None,
    scale: Any = None,
    weights: str | None = None,
    ties: str = "lower",
    over: str = "topics",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> AnnotatorAgreement:
    """Say how far annotators agree: with one another, each with the rest, and each with gold labels.

    Values are those of scikit-learn (Cohen's kappa), statsmodels (Fleiss' kappa) and krippendorff, which
    ``pip install 'pt-reuse[judging]'`` brings. Everything is said over all items, and over those that at least one of
    the annotators compared called relevant; of the labels as they are, and of relevant or not.

    Args:
        labels: a frame ``qid docno label annotator`` (or with the columns of ir_measures), a dict of annotator ->
            judgments in any form, or what :func:`import_labels` returns. A missing label, or -1, is none.
        rel: the lowest label that is relevant, >= 1; default what the judgments given say, else 1.
        gold: judgments in any form to hold each annotator against; default none.
        scale: the labels that there are, such as ``(0, 1, 2, 3)``; one that is not of it is an error. Default those
            that occur. The weights of kappa and the ordinal alpha count steps of the scale.
        weights: of Cohen's kappa, ``"linear"`` or ``"quadratic"``; default none, every disagreement counts alike.
        ties: what the majority of the others is where it ties, see :func:`majority_vote`; with ``"unresolved"`` the
            item is left out.
        over: what the bootstrap draws with replacement, ``"topics"`` (default) or ``"items"``. Each interval draws
            among the topics, or items, that the annotators compared have in common.
        resamples: of the bootstrap; default 1,000; 0 for no intervals.
        seed: of the bootstrap: the same seed gives the same intervals in every process.
        confidence: of the intervals, between 0 and 1; default .95. They are percentile intervals.

    Returns:
        AnnotatorAgreement: ``.table`` (all together), ``.pairs``, ``.others``, ``.gold``, ``.per_topic``,
        ``.by_label``, ``.confusion``, ``.plot()``.

    Raises:
        InputError: one annotator alone, annotators without an item in common, a label out of the scale, two labels of
            one annotator for a document, gold labels of which nobody labelled any, a library that is missing.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> given = {"ann": [1, 1, 0, 0, 2], "bob": [1, 0, 0, 0, 2]}
        >>> frame = pd.DataFrame({"qid": ["1", "1", "1", "2", "2"], "docno": list("abcde")})
        >>> found = ptr.annotator_agreement({name: frame.assign(label=label) for name, label in given.items()})
        >>> found.pairs[["items", "labels", "n_items", "agreement", "kappa"]].round(4).head(2)
              items  labels  n_items  agreement   kappa
        0       all  grades        5     0.8000  0.6875
        1  relevant  grades        3     0.6667  0.5000

    Source: Cohen 1960, A coefficient of agreement for nominal scales; Fleiss 1971, Measuring nominal scale agreement
    among many raters; Krippendorff 2004, Content analysis, chapter 11; McHugh 2012, Interrater reliability: the kappa
    statistic (the bands).
    """
    bootstrap = check_measuring(
        rel=rel, weights=weights, ties=ties, over=over, resamples=resamples, seed=seed, confidence=confidence
    )
    lowest, rule = checked_rel(rel), ties
    given = as_annotator_labels(labels)
    truth = None if gold is None else as_qrels(gold, "gold")
    stated = given.rel if given.rel is not None or truth is None else truth.stated_rel
    lowest = lowest if lowest is not None else 1 if stated is None else stated
    _check_comparable(given)
    gold_labels = None if truth is None else _gold_labels(given, truth)
    in_gold = () if gold_labels is None else np.unique(gold_labels[gold_labels != NO_LABEL]).tolist()
    known = checked_scale(scale, given)
    if scale is None:
        known = tuple(sorted({*known, *in_gold}))
    elif out := sorted(set(in_gold) - set(known)):
        raise InputError(
            f"gold labels {examples(out)} are not of the scale {', '.join(map(str, known))}.",
            argument="gold",
        )
    how = Comparison(known, lowest, weights, bootstrap, given.topic)
    values, names = given.values, given.annotators
    both = together(given.given)
    paired = [(names[i], names[j], values[:, i], values[:, j]) for i, j in both]
    rest = [(names[i], "others", values[:, i], others_of(values, i, rule)) for i in range(len(names))]
    against = [] if gold_labels is None else [(name, "gold", values[:, i], gold_labels) for i, name in enumerate(names)]
    others = paired_table(rest, how)
    others["n_unresolved"] = [
        _unresolved(given, names.index(row.first), rule) if row.items == "all" else pd.NA
        for row in others[["first", "items"]].itertuples()
    ]
    others["n_unresolved"] = others["n_unresolved"].astype("Int64")
    n_pairs = math.comb(len(names), 2)
    settings = {
        "annotators": len(names),
        "pairs of annotators": f"{len(both)} of {n_pairs} have items in common",
        "relevant": f"label of at least {lowest}",
        "scale": ", ".join(map(str, known)),
        "weights of kappa": weights or "none",
        "Fleiss": fleiss_words(given, how),
        "items with one label": int((given.given.sum(axis=1) == 1).sum()),
        "ties of the others": rule,
        "intervals": bootstrap.words(),
        "seed": seed,
        **({} if truth is None or gold_labels is None else _gold_settings(truth, given, gold_labels)),
    }
    return AnnotatorAgreement(
        table=overall_table(given, how),
        settings=settings,
        pairs=paired_table(paired, how),
        others=others,
        gold=paired_table(against, how),
        per_topic=per_topic_table(given, how),
        by_label=by_label_table(given, how),
        confusion=confusion_table([*paired, *rest, *against], known),
        annotators=names,
        scale=known,
        rel=lowest,
    )


def check_measuring(
    *, rel: Any, weights: Any, ties: Any, over: Any, resamples: Any, seed: Any, confidence: Any
) -> Bootstrap:
    """Return how intervals are made; raise where an argument of :func:`annotator_agreement` is nothing of the kind.

    Args:
        rel: the lowest label that is relevant, or None.
        weights: one of :data:`WEIGHTS`, or None.
        ties: a rule for ties that is no error.
        over: one of :data:`OVER`.
        resamples: of the bootstrap.
        seed: of the bootstrap.
        confidence: of the intervals.

    Raises:
        InputError: it is not, or a library is missing.
    """
    checked_rel(rel)
    if weights is not None:
        choice("weights", weights, WEIGHTS)
    choice("ties", ties, [rule for rule in TIES if rule != "error"])
    choice("over", over, OVER)
    for argument, value in (("resamples", resamples), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise InputError(
                Argument(argument), f" must be a whole number, 0 or more, got {told(value)}.", argument=argument
            )
    number = isinstance(confidence, Real) and not isinstance(confidence, bool)
    if not number or not 0 < confidence < 1:
        raise InputError(
            Argument("confidence"),
            f" must be a number between 0 and 1, such as 0.95, got {told(confidence)}.",
            argument="confidence",
        )
    check_libraries()
    return Bootstrap(over, int(resamples), int(seed), float(confidence))


def _check_comparable(labels: AnnotatorLabels) -> None:
    names = labels.annotators
    if len(names) < 2:
        raise InputError(
            f"the labels are of one annotator, {examples(names)}, and agreement needs two or more. To hold one against "
            "gold labels, give both as annotators.",
            argument="labels",
        )
    if not (labels.given.sum(axis=1) > 1).any():
        raise InputError(
            f"no document has labels of two annotators: {examples(names)} have no (qid, docno) in common. Are their "
            "ids written alike?",
            argument="labels",
        )


def _gold_labels(labels: AnnotatorLabels, gold: Qrels) -> np.ndarray:
    found = labels.labels_in(gold)
    if not (found != NO_LABEL).any():
        raise InputError(
            f"nobody labelled any of the {count(len(gold), 'gold document')}, such as "
            f"{examples(gold.to_frame()['docno'].head(1))} of topic {examples(gold.topics[:1])}. Are their ids written "
            "alike?",
            argument="gold",
        )
    return found


def _gold_settings(gold: Qrels, labels: AnnotatorLabels, found: np.ndarray) -> dict[str, int]:
    judged = int((gold.arrays.labels != NO_LABEL).sum())
    labelled = int(((found != NO_LABEL) & labels.given.any(axis=1)).sum())
    return {"gold labels": judged, "gold labels of items nobody labelled": judged - labelled}


def _unresolved(labels: AnnotatorLabels, annotator: int, ties: str) -> int:
    mine = labels.given[:, annotator]
    someone = np.delete(labels.given, annotator, axis=1).any(axis=1)
    return int((mine & someone & (others_of(labels.values, annotator, ties) == NO_LABEL)).sum())
