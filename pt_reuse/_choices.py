"""What can be chosen, and what is taken by default: what functions take and the command line lists."""

from __future__ import annotations

#: what each ranking order does; the first is the default
ORDERS = {
    "trec_eval": "score descending as float64, ties by docno descending in byte order (trec_eval 10)",
    "trec_eval9": "score descending as float32, ties by docno descending in byte order (trec_eval 9, pytrec_eval)",
    "rank": "the rank column ascending",
    "file": "as read",
}
#: test of significance -> what it is
TESTS = {
    "t": "Student's paired t test",
    "wilcoxon": (
        "Wilcoxon's signed-rank test (zeros left out, normal approximation without continuity correction, variance "
        "corrected for ties)"
    ),
    "randomisation": "sign-flip randomisation test (every way of turning signs, if no more than samples)",
    "tukey": "randomised Tukey HSD test of all systems together",
}
#: corrections for many tests
CORRECTIONS = ("none", "bonferroni", "holm", "benjamini-hochberg")
#: which of them studies of significance make where nobody says: none, as in most papers
CORRECTION = "none"
#: random signs, or scores that change places, if nobody says how many
SAMPLES = 10_000
#: method of fusion -> the options that it has
METHODS: dict[str, tuple[str, ...]] = {
    "rrf": ("k",),
    "rbp": ("p",),
    "combsum": ("norm",),
    "combmnz": ("norm",),
    "borda": (),
}
#: how the scores of a list are made comparable with those of others
NORM_NAMES = ("min-max", "max", "sum", "zmuv", "rank")
#: strategies that learn from labels, and those whose order is fixed
LEARNING = ("mtf", "max-mean", "max-mean-ns", "epsilon-greedy", "ucb1-tuned", "thompson", "hedge", "mtc")
RANDOM_ORDER = "random"
FIXED = ("rank", *METHODS, RANDOM_ORDER)
#: upper ends of the bins of minimum ranks, and of the shades of their figure, of the paper
EDGES = (1, 5, 10, 30, 50)
#: the depths of pools whose costs are told where nobody names any
POOL_DEPTHS = (1, 2, 5, 10, 20, 50, 100)
#: the swap rate that is asked for where nobody says
USUAL_RATE = 0.05
#: what a plan of labels can be for
MEAN, DIFFERENCE, PRECISION = "mean", "difference", "precision"
TARGETS = (MEAN, DIFFERENCE, PRECISION)
#: the conventions that are varied where nobody says which, as far as a study has them
USUAL = ("order", "pool_order", "contributors", "depth", "rel", "complete", "remove")
