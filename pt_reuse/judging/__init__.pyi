from .annotators.distributions import LabelDistributions as LabelDistributions
from .annotators.distributions import label_distributions as label_distributions
from .annotators.positions import PassagePositions as PassagePositions
from .annotators.positions import passage_positions as passage_positions
from .annotators.ranking import rankings_by_annotator as rankings_by_annotator
from .annotators.rankings import AnnotatorRankings as AnnotatorRankings
from .judge import Judge as Judge
