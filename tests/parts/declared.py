"""Every declared study, and how it is called with runs and judgments alone: what all studies are held to."""

from __future__ import annotations

import warnings

from pt_reuse.errors import ReuseWarning
from pt_reuse.study import studies, study_of

#: name -> the public function
STUDIES = studies()


def call(name, runs, qrels, other, **options):
    """Return what a study finds of runs and judgments, by its defaults, whatever it warns of."""
    study = study_of(STUDIES[name])
    data = {"runs": runs, "qrels": qrels, "qrels_a": qrels, "qrels_b": other}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        return STUDIES[name](**{part: data[part] for part in study.parameters if part in data}, **options)
