from .experiment.steps import answer_measures as answer_measures
from .scoring.leaderboards import score_answers as score_answers
from .studies.item_banks import bank_growth as bank_growth
from .studies.item_banks import check_answers as check_answers
from .studies.item_banks import leave_out_items as leave_out_items
