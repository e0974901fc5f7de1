"""Every kind of published figure, against numbers worked out by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest
from figure_parts import figure, replay, small_qrels

from pt_reuse.verification.verification import KINDS

# every kind, by hand: MAP is C .5833, A .5, B .4167; without x's na and we B .5, C .25, A 0; without y's wd and ng
# A 1, C .6667, B .1667

BY_HAND = [
    ("judgments", {
        "topics": 2, "judgments": 9, "judged": 7, "relevant": 4, "unjudged": 1, "junk": 1, "smallest topic": 3,
        "largest topic": 4, "mean density": "0.58333", "largest density": "0.66667", "topics denser than 1/3": 2,
        "topics denser than 1/2": 1, "mean topic": "3.50", "fewest relevant": 2,
    }),
    ("judgments; rel=2", {
        "judged": 7, "relevant": 1, "fewest relevant": 0, "largest density": "0.250", "topics denser than 1/3": 0,
    }),
    ("prefixes", {"n": 4, "w": 3, "we": 1, "q": 0}),
    ("prefixes; count=relevant", {"n": 2, "w": 2}),
    ("prefixes; count=relevant; rel=2", {"n": 1, "w": 0}),
    ("field", {
        "runs": 3, "teams": 3, "pooled runs": 2, "topics": 2, "rows": 15, "automatic runs": 2, "manual runs": 1,
    }),
    ("pool; depth=2", {
        "contributing runs": 2, "documents": 6, "relevant": 4, "smallest topic": 3, "largest topic": 3,
        "not judged": 0, "judged but not pooled": 1, "topics denser than 1/3": 2, "topics denser than 1/2": 2,
    }),
    ("pool; depth=2; rel=2", {"documents": 6, "relevant": 1, "topics denser than 1/3": 0}),
    ("pool; depth=2; contributors=B", {"contributing runs": 1, "documents": 4, "relevant": 2}),
    ("pool; depth=2; contributors=all", {
        "contributing runs": 3, "documents": 8, "smallest topic": 3, "largest topic": 5, "not judged": 2,
    }),
    ("scores; measure=AP", {"A": "0.5", "B": "0.4167", "C": "0.5833"}),
    ("scores; measure=P@1 + AP", {"A": "0.75", "B": "0.2083", "C": "0.5417"}),
    ("score_statistic; measure=AP", {"automatic": "0.5833", "manual": "0.4167"}),
    ("score_statistic; measure=AP; by=pooled; statistic=mean", {
        "pooled": "0.4583", "unpooled": "0.5833",
    }),
    ("score_statistic; measure=AP; by=all; statistic=median", {"all": "0.500"}),
    ("score_statistic; measure=AP; by=team; statistic=min", {"x": "0.500", "z": "0.5833"}),
    ("saturation; measure=P@1", {"1.0": 1, "0.5": 1, "0": 2}),
    ("uniques; depth=2", {"total": 4, "x": 2, "y": 2, "z": 0}),
    ("uniques; depth=2; contributors=all", {"total": 2, "x": 1, "y": 1, "z": 0}),
    ("uniques; depth=2; rel=2", {"total": 1, "x": 0, "y": 1, "z": 0}),
    ("uniques; depth=2; by=run; count=unique_nonrelevant", {"total": 0, "A": 0}),
    ("left_out; measure=AP; depth=2", {"x": "-0.333", "y": "0.333", "z": "1.000"}),
    ("left_out; measure=AP; depth=2; statistic=max_drop", {"x": 1, "y": 1, "z": 0}),
    ("left_out; measure=AP; depth=2; by=type; statistic=removed", {
        "automatic": 2, "manual": 2,
    }),
    ("left_out; measure=AP; depth=2; by=run; statistic=gamma", {"A": "-0.333", "C": "1.0"}),
    ("left_out; measure=AP(rel=2); depth=2; rel=2; statistic=removed", {"x": 0, "y": 1, "z": 0}),
    ("worst_left_out; measure=AP; depth=2", {
        "smallest tau_b": "-0.333", "largest drop": 1, "large drops": 0,
    }),
    ("own_changes; measure=AP; depth=2", {"x": "-0.500", "y": "-0.2500", "z": "0.000"}),
    ("own_uniques; measure=AP; depth=2", {"tau_b": "0.3333", "gamma": "0.3333", "max_drop": 1}),
    ("own_losses; measure=AP; depth=2", {"automatic": "50.00", "manual": "60.00", "all": "53.33"}),
    ("own_losses; measure=AP; depth=2; statistic=max", {"automatic": "100.0", "all": "100.0"}),
    ("shallow_pool; measure=AP; depth=1", {
        "documents": 4, "judged": 4, "relevant": 2, "tau_b": "0.3333", "max_drop": 1,
    }),
    ("shallow_pool; measure=AP; depth=1; contributors=all", {"documents": 5, "judged": 4}),
    # of B's documents wd and ng are relevant: B .5, C .25, A 0
    ("shallow_pool; measure=AP; depth=2; contributors=B", {"relevant": 2, "tau_b": "-0.333"}),
    ("shallow_pool; measure=AP; depth=2; contributors=B; rel=2", {"relevant": 1}),
    ("shallow_pool; measure=AP; depth=2; contributors=B; among=other types", {
        "judged": 4, "tau_b": "1.000",
    }),
    ("shallow_pool; measure=AP; depth=2; contributors=B; among=others", {"tau_b": "1.000"}),
    # rounded to 1, 0 and 1, two runs tie
    ("shallow_pool; measure=AP; depth=1; decimals_of_scores=1; pool_order=trec_eval9", {
        "tau_b": "0.33333",
    }),
    ("minimum_rank; depth=3", {"1-1": 2, "2-3": 2, "never": 0}),
    ("minimum_rank; depth=1; contributors=pooled", {"1-1": 2, "never": 2}),
    ("minimum_rank; depth=3; rel=2", {"1-1": 0, "2-3": 1, "never": 0}),
]  # fmt: skip


def test_kinds_by_hand(tmp_path):
    assert {kind.partition(";")[0] for kind, _ in BY_HAND} == set(KINDS)
    figures, off = [], []
    for n, (kind, values) in enumerate(BY_HAND):
        exact = {name: Decimal(value) for name, value in values.items()}
        # one unit of the last digit off is too much, and never what the number was rounded from
        wrong = {name: value + Decimal(1).scaleb(value.as_tuple().exponent) for name, value in exact.items()}
        figures.append(figure(kind, values, f"{n}: {kind}"))
        off.append(figure(kind, wrong, f"{n}: {kind}"))
    found = replay(tmp_path, *figures).table
    assert found["name"].tolist() == [name for _, values in BY_HAND for name in values]
    assert found["equal"].eq(True).all(), found[~found["equal"].eq(True)]
    assert replay(tmp_path, *off).table["equal"].eq(False).all()


def test_against_published_scores(tmp_path):
    """The truth is what was published, C .6, A .5, B .4; the depth-1 pool gives 1, .6667, .1667, or 1, 1 and 0."""
    shallow = "shallow_pool; measure=AP; depth=1; truth=MAP"
    scores = figure("scores; measure=AP", {"C": "0.6", "A": "0.5", "B": "0.4"}, "MAP")
    found = replay(tmp_path, scores, figure(shallow, {"tau_b": "0.333333"}))
    assert found.table["equal"].tolist() == [True, True, True, True]
    # the same published scores the other way round
    scores = figure("scores; measure=AP", {"C": "0.1", "A": "0.2", "B": "0.0"}, "MAP")
    found = replay(tmp_path, scores, figure(shallow, {"tau_b": "1.000000"}))
    assert found.summary["convention"].tolist() == [
        "order=trec_eval",
        "order=trec_eval, contributors=pooled, depth=1, truth=MAP",
    ]
    assert found.table["equal"].tolist() == [False, False, False, True]


@pytest.mark.parametrize("rel", [1, 2])
def test_a_figure_counts_from_the_label_that_it_says(tmp_path, rel):
    """What the judgments say of it changes nothing, so that a file of figures means one thing."""
    stricter = figure("judgments; rel=2", {"relevant": 1}, "stricter")
    found = replay(tmp_path, stricter, figure("judgments", {"relevant": 4}), qrels=small_qrels().with_rel(rel))
    assert found.holds
    assert found.summary["convention"].tolist() == ["rel=2", ""]
