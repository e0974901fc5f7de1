"""Every kind of published figure, against numbers worked out by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest
from figure_parts import figure, replay, small_qrels

from pt_reuse.verification.kinds import KINDS

# every kind, by hand: MAP is C .5833, A .5, B .4167; without x's na and we B .5, C .25, A 0; without y's wd and ng
# A 1, C .6667, B .1667

BY_HAND = [
    ('kind = "judgments"', {
        "topics": 2, "judgments": 9, "judged": 7, "relevant": 4, "unjudged": 1, "junk": 1, "smallest topic": 3,
        "largest topic": 4, "mean density": "0.58333", "largest density": "0.66667", "topics denser than 1/3": 2,
        "topics denser than 1/2": 1, "mean topic": "3.50", "fewest relevant": 2,
    }),
    ('kind = "judgments"\nrel = 2', {
        "judged": 7, "relevant": 1, "fewest relevant": 0, "largest density": "0.250", "topics denser than 1/3": 0,
    }),
    ('kind = "prefixes"', {"n": 4, "w": 3, "we": 1, "q": 0}),
    ('kind = "prefixes"\ncount = "relevant"', {"n": 2, "w": 2}),
    ('kind = "prefixes"\ncount = "relevant"\nrel = 2', {"n": 1, "w": 0}),
    ('kind = "field"', {
        "runs": 3, "teams": 3, "pooled runs": 2, "topics": 2, "rows": 15, "automatic runs": 2, "manual runs": 1,
    }),
    ('kind = "pool"\ndepth = 2', {
        "contributing runs": 2, "documents": 6, "relevant": 4, "smallest topic": 3, "largest topic": 3,
        "not judged": 0, "judged but not pooled": 1, "topics denser than 1/3": 2, "topics denser than 1/2": 2,
    }),
    ('kind = "pool"\ndepth = 2\nrel = 2', {"documents": 6, "relevant": 1, "topics denser than 1/3": 0}),
    ('kind = "pool"\ndepth = 2\ncontributors = ["B"]', {"contributing runs": 1, "documents": 4, "relevant": 2}),
    ('kind = "pool"\ndepth = 2\ncontributors = "all"', {
        "contributing runs": 3, "documents": 8, "smallest topic": 3, "largest topic": 5, "not judged": 2,
    }),
    ('kind = "scores"\nmeasure = "AP"', {"A": "0.5", "B": "0.4167", "C": "0.5833"}),
    ('kind = "scores"\nmeasure = ["P@1", "AP"]', {"A": "0.75", "B": "0.2083", "C": "0.5417"}),
    ('kind = "score_statistic"\nmeasure = "AP"', {"automatic": "0.5833", "manual": "0.4167"}),
    ('kind = "score_statistic"\nmeasure = "AP"\nby = "pooled"\nstatistic = "mean"', {
        "pooled": "0.4583", "unpooled": "0.5833",
    }),
    ('kind = "score_statistic"\nmeasure = "AP"\nby = "all"\nstatistic = "median"', {"all": "0.500"}),
    ('kind = "score_statistic"\nmeasure = "AP"\nby = "team"\nstatistic = "min"', {"x": "0.500", "z": "0.5833"}),
    ('kind = "saturation"\nmeasure = "P@1"', {"1.0": 1, "0.5": 1, "0": 2}),
    ('kind = "uniques"\ndepth = 2', {"total": 4, "x": 2, "y": 2, "z": 0}),
    ('kind = "uniques"\ndepth = 2\ncontributors = "all"', {"total": 2, "x": 1, "y": 1, "z": 0}),
    ('kind = "uniques"\ndepth = 2\nrel = 2', {"total": 1, "x": 0, "y": 1, "z": 0}),
    ('kind = "uniques"\ndepth = 2\nby = "run"\ncount = "unique_nonrelevant"', {"total": 0, "A": 0}),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2', {"x": "-0.333", "y": "0.333", "z": "1.000"}),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2\nstatistic = "max_drop"', {"x": 1, "y": 1, "z": 0}),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2\nby = "type"\nstatistic = "removed"', {
        "automatic": 2, "manual": 2,
    }),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2\nby = "run"\nstatistic = "gamma"', {"A": "-0.333", "C": "1.0"}),
    ('kind = "left_out"\nmeasure = "AP(rel=2)"\ndepth = 2\nrel = 2\nstatistic = "removed"', {"x": 0, "y": 1, "z": 0}),
    ('kind = "worst_left_out"\nmeasure = "AP"\ndepth = 2', {
        "smallest tau_b": "-0.333", "largest drop": 1, "large drops": 0,
    }),
    ('kind = "own_changes"\nmeasure = "AP"\ndepth = 2', {"x": "-0.500", "y": "-0.2500", "z": "0.000"}),
    ('kind = "own_uniques"\nmeasure = "AP"\ndepth = 2', {"tau_b": "0.3333", "gamma": "0.3333", "max_drop": 1}),
    ('kind = "own_losses"\nmeasure = "AP"\ndepth = 2', {"automatic": "50.00", "manual": "60.00", "all": "53.33"}),
    ('kind = "own_losses"\nmeasure = "AP"\ndepth = 2\nstatistic = "max"', {"automatic": "100.0", "all": "100.0"}),
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1', {
        "documents": 4, "judged": 4, "relevant": 2, "tau_b": "0.3333", "max_drop": 1,
    }),
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1\ncontributors = "all"', {"documents": 5, "judged": 4}),
    # of B's documents wd and ng are relevant: B .5, C .25, A 0
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 2\ncontributors = ["B"]', {"relevant": 2, "tau_b": "-0.333"}),
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 2\ncontributors = ["B"]\nrel = 2', {"relevant": 1}),
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 2\ncontributors = ["B"]\namong = "other types"', {
        "judged": 4, "tau_b": "1.000",
    }),
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 2\ncontributors = ["B"]\namong = "others"', {"tau_b": "1.000"}),
    # rounded to 1, 0 and 1, two runs tie
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1\ndecimals_of_scores = 1\npool_order = "trec_eval9"', {
        "tau_b": "0.33333",
    }),
    ('kind = "minimum_rank"\ndepth = 3', {"1-1": 2, "2-3": 2, "never": 0}),
    ('kind = "minimum_rank"\ndepth = 1\ncontributors = "pooled"', {"1-1": 2, "never": 2}),
    ('kind = "minimum_rank"\ndepth = 3\nrel = 2', {"1-1": 0, "2-3": 1, "never": 0}),
]  # fmt: skip


def test_kinds_by_hand(tmp_path):
    assert {lines.split('"')[1] for lines, _ in BY_HAND} == set(KINDS)
    for lines, values in BY_HAND:
        given = ", ".join(f'"{name}" = {value!r}' for name, value in values.items())
        found = replay(tmp_path, figure(f"{lines}\nvalues = {{ {given} }}"))
        assert found.table["name"].tolist() == list(values)
        assert found.table["equal"].tolist() == [True] * len(values), found.table
        # one unit of the last digit off is too much, and never what the number was rounded from
        exact = {name: Decimal(value) for name, value in values.items()}
        wrong = {name: str(value + Decimal(1).scaleb(value.as_tuple().exponent)) for name, value in exact.items()}
        given = ", ".join(f'"{name}" = {value!r}' for name, value in wrong.items())
        found = replay(tmp_path, figure(f"{lines}\nvalues = {{ {given} }}"))
        assert found.table["equal"].tolist() == [False] * len(values), found.table


def test_against_published_scores(tmp_path):
    """The truth is what was published, C .6, A .5, B .4; the depth-1 pool gives 1, .6667, .1667, or 1, 1 and 0."""
    scores = figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.6", A = "0.5", B = "0.4" }', "MAP")
    shallow = 'kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1\ntruth = "MAP"\nvalues = { tau_b = "0.333333" }'
    found = replay(tmp_path, scores, figure(shallow))
    assert found.table["equal"].tolist() == [True, True, True, True]
    # the same published scores the other way round
    scores = figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.1", A = "0.2", B = "0.0" }', "MAP")
    found = replay(tmp_path, scores, figure(shallow.replace("0.333333", "1.000000")))
    assert found.summary["convention"].tolist() == [
        "order=trec_eval",
        "order=trec_eval, contributors=pooled, depth=1, truth=MAP",
    ]
    assert found.table["equal"].tolist() == [False, False, False, True]


@pytest.mark.parametrize("rel", [1, 2])
def test_a_figure_counts_from_the_label_that_it_says(tmp_path, rel):
    """What the judgments say of it changes nothing, so that a file of figures means one thing."""
    lines = "values = { relevant = 1 }\nconventions = [{ rel = 2 }]"
    found = replay(tmp_path, figure(f'kind = "judgments"\n{lines}'), qrels=small_qrels().with_rel(rel))
    assert found.holds
    assert found.summary["convention"].tolist() == ["rel=2"]
    found = replay(tmp_path, figure('kind = "judgments"\nvalues = { relevant = 4 }'), qrels=small_qrels().with_rel(rel))
    assert found.holds
