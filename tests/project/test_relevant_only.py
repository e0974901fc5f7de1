"""Judgments of relevant documents only: no study that reads judgments forgets what they cannot show."""

from __future__ import annotations

import warnings
from functools import cache

from declared import STUDIES
from every_result import arguments_of_field

import pt_reuse as ptr
from pt_reuse.data.judgments import as_qrels
from pt_reuse.scoring.caveats import BEWARE, CaveatWarning
from pt_reuse.study import study_of

#: how judgments are called that a study reads
JUDGMENTS = ("qrels", "qrels_a", "human")
NOTE = "judgments of relevant documents only"
#: what is compared with leaderboards are scores
OF_JUDGMENTS = sorted(
    name
    for name, function in STUDIES.items()
    if {*study_of(function).parameters} & {*JUDGMENTS} and name != "compare_leaderboards"
)


@cache
def given(only):
    """Return the arguments of each study, under all judgments or those of relevant documents only."""
    field = ptr.demo.simulate_field(seed=7, n_topics=12)
    qrels, complete = (
        ptr.Qrels(frame[frame["label"] > 0] if only else frame, topics=field.qrels.topics)
        for frame in (field.qrels.to_frame(), field.all_qrels.to_frame())
    )
    found = arguments_of_field(field.runs, qrels, complete)
    # these read labels from 0 on alone, which somebody has to give
    found["leave_out_dynamic"]["judge"] = ptr.judging.Oracle(field.qrels, unknown="not relevant")
    # topics of which all that is judged is relevant are not usable
    found["plan_collection"]["rel"] = 2
    return found


def told(name, only):
    """Return the notes and the settings of a study that are of relevant documents only."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = STUDIES[name](**given(only)[name])
    notes = [one for one in heard if issubclass(one.category, CaveatWarning) and "relevant documents only" in str(one)]
    return notes, [note for note in found.settings.get(BEWARE, "").split("; ") if note.endswith(NOTE)]


def test_every_study_says_so_once_and_keeps_it():
    faults = []
    for name in OF_JUDGMENTS:
        mine = given(True)[name]
        sets = [mine[part] for part in (*JUDGMENTS, "qrels_b", "other") if part in mine]
        assert all((as_qrels(one).arrays.labels > 0).all() for one in sets)
        notes, kept = told(name, True)
        if not kept or not len({str(one.message) for one in notes}) == len(notes) == len(kept):
            faults.append((name, notes, kept))
    assert faults == []


def test_judgments_with_label_0_are_as_usual():
    for name in ("bounds", "leave_out_uniques", "compare_judgments", "audit_labels", "infer_pool"):
        assert told(name, False) == ([], []), name
