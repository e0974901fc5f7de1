from .experiment.matched_answers import answer_measures as answer_measures
from .scoring.answers import score_answers as score_answers
from .studies.bank_growth import bank_growth as bank_growth
from .studies.check_answers import check_answers as check_answers
from .studies.leave_out_items import leave_out_items as leave_out_items
