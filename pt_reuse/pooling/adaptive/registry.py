"""The strategies by name: the one list that errors, documentation and tests are made from."""

from __future__ import annotations

from pt_reuse.pooling.adaptive.chooser import Chooser
from pt_reuse.pooling.adaptive.epsilon_greedy import EpsilonGreedy
from pt_reuse.pooling.adaptive.fixed import RandomOrder, RankOrder
from pt_reuse.pooling.adaptive.fused import Borda, CombMnz, CombSum, RankBiased, ReciprocalRanks
from pt_reuse.pooling.adaptive.hedge import Hedge
from pt_reuse.pooling.adaptive.max_mean import MaxMean, NonStationaryMaxMean
from pt_reuse.pooling.adaptive.minimal import MinimalTestCollection
from pt_reuse.pooling.adaptive.move_to_front import MoveToFront
from pt_reuse.pooling.adaptive.thompson import Thompson
from pt_reuse.pooling.adaptive.ucb1_tuned import UCB1Tuned

#: those that learn from labels
_LEARNING: tuple[type[Chooser], ...] = (
    MoveToFront,
    MaxMean,
    NonStationaryMaxMean,
    EpsilonGreedy,
    UCB1Tuned,
    Thompson,
    Hedge,
    MinimalTestCollection,
)
_FIXED: tuple[type[Chooser], ...] = (RankOrder, ReciprocalRanks, RankBiased, CombSum, CombMnz, Borda, RandomOrder)

#: name -> chooser; those that learn from labels first, then those whose order is fixed
CHOOSERS: dict[str, type[Chooser]] = {kind.name: kind for kind in (*_LEARNING, *_FIXED)}
