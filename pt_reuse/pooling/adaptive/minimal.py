"""MinimalTestCollection: judge what tells most of which run has the higher average precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.pooling.adaptive.chooser import Chooser
from pt_reuse.pooling.adaptive.lists import TopicLists
from pt_reuse.pooling.adaptive.open_rows import OpenRows
from pt_reuse.pooling.adaptive.ties import first_of_best

#: inverse ranks are counted in whole multiples of this, so that their sums are exact; of a list of 100,000 documents
#: they sum to less than 16
_UNIT = 2.0**-58


class MinimalTestCollection(Chooser):
    """Judge the document whose label, relevant or not, changes the differences of average precision most (MTC).

    Average precision times the number of relevant documents, which all runs share, is the sum of x_i x_j / max(rank_i,
    rank_j) over all pairs of documents i <= j, x being 1 for a relevant document and 0 for another; a run that lacks
    one of the two adds nothing, so this is the average precision of the lists down to the pool's depth. For two runs,
    with c_ij the difference of these terms, a relevant document i adds c_ii + sum c_ij over the documents j known to be
    relevant to the difference that is certain. One that is not takes c_ii + sum c_ij over all other documents j that
    are not known to be not relevant from the difference that is possible. The paper weighs a document by the
    larger of the two, in absolute terms, because its label is not known.

    The paper compares two runs. Here there are many, and each of the two is the mean of its squares over all pairs of
    runs; the larger of the two means is the document's weight. Squares, because the mean over all pairs then follows
    from two sums over the runs, n sum v^2 - (sum v)^2, and because no single run decides, as it does where the largest
    pair counts: that is nearly always the pair of the run that ranks the document highest with one that lacks it.
    With two runs this is the paper's choice. Of documents whose weights are within 1e-12 of the largest the first is
    judged: the one of the best rank in any run. So it is with a single run, where there is nothing to compare. Terms
    are added up as whole numbers of 2^-58, so the weights depend on which labels there are and not on their order, and
    their rounding error does not grow with the number of labels.

    A document that gets no label remains one that may be relevant.

    Source: Carterette, Allan and Sitaraman, Minimal test collections for retrieval evaluation, SIGIR 2006, section 3.
    The rule for two runs is the paper's as others describe it; its text was not at hand. The mean over pairs is ours.
    """

    name = "mtc"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        longest = int(topic.lengths.max(initial=0))
        one = round(1 / _UNIT)
        of_rank = one // np.arange(1, longest + 1)
        sums = np.append(0, np.cumsum(of_rank))
        self._starts, rows = topic.by_document
        self._run, self._rank = topic.run[rows], topic.rank[rows]
        self._open = OpenRows(topic)
        # (rows,) what a document adds to its run: 1 / rank by itself, and 1 / the larger rank with each other one
        self._of_rank = of_rank[self._rank - 1]
        self._if_relevant = self._of_rank.copy()
        self._if_not = one + sums[topic.lengths[self._run]] - sums[self._rank]
        self._inverse = self._of_rank
        self._weigh()

    def choose(self) -> int:
        """Return the first document of the largest weight."""
        weights = np.maximum(self._relevant_weight, self._other_weight)
        weights += self._open.judged
        return int(self._open.documents[first_of_best(weights)])

    def leave(self, document: int) -> None:
        """Take a document out."""
        kept = self._open.leave(document)
        if kept is not None:
            self._inverse = self._inverse[kept]
            self._if_relevant, self._if_not = self._if_relevant[kept], self._if_not[kept]
            self._weigh()

    def observe(self, document: int, relevant: bool) -> None:
        """Change what the other documents of its runs add: there is one more relevant one, or one less that may be."""
        rows = slice(self._starts[document], self._starts[document + 1])
        inverse: NDArray[np.int64] = np.zeros(self.topic.n_runs, dtype=np.int64)
        inverse[self._run[rows]] = self._of_rank[rows]
        both = inverse.take(self._open.run)
        np.minimum(both, self._inverse, out=both)
        if relevant:
            self._if_relevant += both
            self._relevant_weight = self._mean_of_squares(self._if_relevant)
        else:
            self._if_not -= both
            self._other_weight = self._mean_of_squares(self._if_not)

    def reason(self, document: int) -> str:
        """Return how much the label changes differences, by the root of the mean of squares over pairs of runs."""
        place = self._open.place_of(document)
        either = self._relevant_weight[place], self._other_weight[place]
        relevant, other = (float(np.sqrt(max(value, 0.0))) for value in either)
        return f"differences change by {relevant:.3g} if relevant, by {other:.3g} if not"

    def _weigh(self) -> None:
        self._relevant_weight = self._mean_of_squares(self._if_relevant)
        self._other_weight = self._mean_of_squares(self._if_not)

    def _mean_of_squares(self, whole: NDArray[np.int64]) -> NDArray[np.float64]:
        n = self.topic.n_runs
        if n < 2:
            return np.zeros(len(self._open.documents))
        values: NDArray[np.float64] = whole.astype(np.float64) * _UNIT
        sums, mean = self._open.sums(values), self._open.sums(values * values)
        sums *= sums
        mean *= n
        mean -= sums
        mean /= n * (n - 1) / 2
        return mean
