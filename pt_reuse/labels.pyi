from .data.judgment_changes import grade_scores as grade_scores
from .judging.compare_labels import compare_labels as compare_labels
from .studies.circularity import circularity as circularity
from .studies.compare_leaderboards import compare_leaderboards as compare_leaderboards
from .studies.family_effect import family_effect as family_effect
from .studies.plan_labels import plan_labels as plan_labels
from .studies.prediction_powered import prediction_powered as prediction_powered
from .studies.significance import significance_fidelity as significance_fidelity
