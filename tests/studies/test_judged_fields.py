"""What all studies of a field under judges' labels have in common: what they refuse, and what they say."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.studies.judged_fields import usable

FIELD = ptr.demo.simulate_field(seed=7, n_topics=8)
RUNS = FIELD.runs.with_metadata(metadata=FIELD.run_table[["name"]].assign(family=FIELD.run_table["type"]))
JUDGE = ptr.judging.Noisy(FIELD.qrels, ptr.judging.flips(0.2, range(3)), seed=1)
STUDIES = [ptr.audit_labels, ptr.labels.circularity, ptr.labels.family_effect, ptr.labels.significance_fidelity]


def test_judgments_of_people_are_refused_by_the_name_of_their_argument():
    for study in STUDIES:
        for human in (3, pd.DataFrame({"qid": ["1"], "docno": ["d"], "label": [-1]})):
            with pytest.raises(ptr.InputError) as refused:
                study(RUNS, human, JUDGE, "P@5")
            assert refused.value.argument == "human"


def test_a_caveat_is_told_once_and_kept():
    """Judgments of relevant documents only say nothing of unjudged ones, whoever made them."""
    for study in STUDIES:
        frame = FIELD.qrels.to_frame()[["qid", "docno", "label"]]
        relevant = frame[frame["label"] > 0]
        with pytest.warns(ptr.ReuseWarning) as told:
            found = study(RUNS, relevant, relevant, "Judged@5", resamples=0)
        of_people = [str(one.message) for one in told if "relevant documents only" in str(one.message)]
        assert sum("judge" not in text.partition("the judgments")[0] for text in of_people) == 1
        assert "judgments of relevant documents only" in found.settings["beware"]


def test_a_bound_above_all_labels_is_told():
    for study in STUDIES:
        with pytest.warns(ptr.ReuseWarning, match=r"at least rel=9"):
            found = study(RUNS, FIELD.qrels, JUDGE, "nDCG@5", rel=9, resamples=0)
        assert "relevant from label 9" in found.settings["beware"]


def test_what_labels_are_usable_for_is_told_by_the_interval():
    nan = float("nan")
    for number, low, high, at_least, at_most in (
        (0.95, 0.9, 0.99, "yes", "unclear"),
        (0.95, 0.91, 0.99, "yes", "no"),
        (0.95, 0.8, 0.99, "unclear", "unclear"),
        (0.85, 0.8, 0.89, "no", "yes"),
        (0.9, None, None, "yes", "yes"),
        (0.5, None, None, "no", "yes"),
        (nan, nan, nan, "unclear", "unclear"),
    ):
        row = {"x": number} | ({} if low is None else {"x_low": low, "x_high": high})
        assert (usable(row, "x", 0.9), usable(row, "x", 0.9, most=True)) == (at_least, at_most)


def test_significance_with_another_winner_is_not_usable():
    turned = FIELD.qrels.to_frame()[["qid", "docno", "label"]].assign(label=lambda frame: 2 - frame["label"].clip(0, 2))
    found = ptr.labels.significance_fidelity(
        RUNS, FIELD.qrels, {"turned": turned, "same": FIELD.qrels}, "P@5", resamples=0
    )
    turned, same = found.answers()
    assert turned.endswith("Usable for significance: no")
    assert same.endswith("Usable for significance: yes")
