"""Times of labels against slow, obvious versions, in every form in which files have them."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from annotator_parts import labelled

import pt_reuse as ptr
from pt_reuse.errors import InputError

KEYS = ["qid", "docno", "annotator"]


@pytest.fixture(scope="module")
def frame():
    """Return labels that took some seconds each; some have no time, some were left lying, some are odd."""
    random = np.random.default_rng(5)
    frame = labelled(seed=9, n_topics=3, n_docs=12, gaps=0.1)
    frame["seconds"] = np.exp(random.normal(3, 0.5, len(frame))).round(1)
    frame.loc[[4, 30], "seconds"] = np.nan
    frame.loc[11, "seconds"] = 5000
    frame.loc[[20, 21], "seconds"] = [700, 0.0]
    return frame


def quartiles(values):
    """Return quartiles and mean, by linear interpolation as numpy and R have it."""
    cut = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return [*cut, statistics.fmean(values)]


def test_each_annotator(frame):
    found = ptr.judging.label_times(frame, rate=30)
    rows = found.table.set_index("annotator")
    assert found.table["annotator"].tolist() == ["all", "ann0", "ann1", "ann2"]
    hours = 0.0
    for name, part in frame.groupby("annotator"):
        known = [s for s in part["seconds"] if s <= 1800]
        row = rows.loc[name]
        assert row[["labels", "timed"]].tolist() == [len(part), len(known)]
        assert row["left"] == sum(s > 1800 for s in part["seconds"])
        assert row["missing"] == sum(math.isnan(s) for s in part["seconds"])
        assert row[["q1", "median", "q3", "mean"]].tolist() == pytest.approx(quartiles(known))
        assert row["hours"] == pytest.approx(sum(known) / 3600)
        assert row["hours_of_all"] == pytest.approx(statistics.fmean(known) * len(part) / 3600)
        assert row["cost"] == pytest.approx(30 * row["hours_of_all"])
        hours += row["hours_of_all"]
    every = [s for s in frame["seconds"] if s <= 1800]
    assert rows.loc["all", ["q1", "median", "q3", "mean"]].tolist() == pytest.approx(quartiles(every))
    assert rows.loc["all", ["left", "missing"]].tolist() == [1, 2]
    assert rows.loc["all", "hours"] == pytest.approx(sum(every) / 3600)
    assert rows.loc["all", "hours_of_all"] == pytest.approx(hours)
    assert found.table["cost"].notna().all()
    assert ptr.judging.label_times(frame).table["cost"].isna().all()


def test_each_label_and_topic(frame):
    found = ptr.judging.label_times(frame)
    frame = frame[frame["seconds"] <= 1800]
    rows = found.by_label.set_index(["annotator", "label"])
    for (annotator, label), part in frame.groupby(["annotator", "label"]):
        assert rows.loc[(annotator, label), "timed"] == len(part)
        assert rows.loc[(annotator, label), ["q1", "median", "q3", "mean"]].tolist() == pytest.approx(
            quartiles(part["seconds"].tolist())
        )
    for label, part in frame.groupby("label"):
        assert rows.loc[("all", label), "median"] == pytest.approx(statistics.median(part["seconds"]))
    hours = frame.groupby("qid")["seconds"].sum() / 3600
    assert found.by_topic["hours"].is_monotonic_decreasing
    assert dict(zip(found.by_topic["qid"], found.by_topic["hours"], strict=True)) == pytest.approx(hours.to_dict())


def test_odd_ones(frame):
    found = ptr.judging.label_times(frame)
    expected = {}
    for _, part in frame.groupby("annotator"):
        known = part[part["seconds"] <= 1800]
        logs = [math.log(1 + s) for s in known["seconds"]]
        first, _, third = statistics.quantiles(logs, n=4, method="inclusive")
        reach = 1.5 * (third - first)
        for row, log in zip(known.itertuples(), logs, strict=True):
            side = "fast" if log < first - reach else "slow" if log > third + reach else None
            if side:
                expected[(row.qid, row.docno, row.annotator)] = side
    odd = found.times[found.times["odd"] != ""]
    assert {(r.qid, r.docno, r.annotator): r.odd for r in odd.itertuples()} == expected
    assert {"fast", "slow"} == set(expected.values())
    assert found.table.set_index("annotator").loc["all", ["fast", "slow"]].tolist() == [
        sum(side == which for side in expected.values()) for which in ("fast", "slow")
    ]


def test_times_that_are_all_alike_are_not_odd(frame):
    found = ptr.judging.label_times(frame.assign(seconds=12.3))
    assert (found.times["odd"] == "").all()
    few = frame.groupby("annotator").head(3).assign(seconds=[1.0, 2.0, 1000.0] * 3)
    found = ptr.judging.label_times(few)
    assert found.fences["high"].isna().all()
    assert (found.times["odd"] == "").all()


@pytest.mark.parametrize("form", ["lead_time", "texts", "moments", "zones", "numbers", "both"])
def test_every_form_gives_the_same(frame, form):
    given = frame[[*KEYS, "label"]].copy()
    start = pd.Timestamp("2026-03-01T10:00:00Z") + pd.to_timedelta(np.arange(len(frame)) * 100, unit="s")
    end = start + pd.to_timedelta(frame["seconds"].to_numpy(), unit="s")
    if form == "lead_time":
        given["lead_time"] = frame["seconds"]
    elif form == "texts":
        given["seconds"] = [None if math.isnan(s) else f" {s} " for s in frame["seconds"]]
    elif form == "numbers":
        given["start"] = np.arange(len(frame)) * 100.0
        given["end"] = given["start"] + frame["seconds"]
    elif form == "both":
        # where no seconds are known, start and end are taken
        given["seconds"] = frame["seconds"].where(frame.index % 2 == 0)
        given["start"], given["end"] = start, end
    else:
        zone = "Europe/Vienna" if form == "zones" else "UTC"
        given["start"] = [moment.tz_convert(zone).isoformat() for moment in start]
        given["end"] = ["" if moment is pd.NaT else moment.isoformat() for moment in end]
    found, expected = ptr.judging.label_times(given), ptr.judging.label_times(frame)
    pd.testing.assert_frame_equal(found.table, expected.table)
    np.testing.assert_allclose(found.times["seconds"], expected.times["seconds"], atol=1e-6)


def test_time_since_the_label_before():
    moments = ["10:00:00", "10:00:40", "10:00:40", "10:02:00", "13:00:00", None]
    frame = pd.DataFrame({"qid": "1", "docno": list("abcdef"), "label": 1, "annotator": "ann"})
    frame["time"] = [None if moment is None else f"2026-03-01T{moment}+00:00" for moment in moments]
    other = frame.assign(annotator="bob", time=[f"2026-03-01T10:0{i}:30Z" for i in range(6)])
    # files need not be in the order of time
    found = ptr.judging.label_times(pd.concat([frame, other]).sample(frac=1, random_state=2))
    seconds = found.times.set_index(["annotator", "docno"])["seconds"]
    assert seconds["bob"].dropna().tolist() == [60.0] * 5
    # one of two at once has a time, what follows a break of hours was left lying
    assert sorted(seconds["ann"].dropna().tolist()) == [40.0, 80.0]
    assert found.table.set_index("annotator").loc["ann", ["timed", "left", "missing"]].tolist() == [2, 1, 3]
    assert found.settings["source"] == "the time since the label before"
    assert ptr.judging.label_times(frame, longest=20000).table["left"].sum() == 0


def test_labels_of_people_that_came_back():
    """A dict of frames, and labels that are none, are taken as everywhere; -1 is no label."""
    frame = pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": [1, 0, -1, 1], "seconds": [10, 20, 30, 40]})
    found = ptr.judging.label_times({"ann": frame, "bob": frame.assign(seconds=100)})
    assert found.table["labels"].tolist() == [6, 3, 3]
    assert found.table["median"].tolist() == pytest.approx([70, 20, 100])


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("seconds", ["12", "soon"], "the seconds 'soon' of topic '1', document 'b' is no number of seconds"),
        ("seconds", [12, -3], "the seconds -3 of topic '1', document 'b' is no time that a label can take"),
        (
            "time",
            ["2026-03-01T10:00:00", "at noon"],
            "the time 'at noon' of topic '1', document 'b' is no moment in ISO",
        ),
        ("seconds", [None, None], "no label has a time by seconds, of 2 labels"),
        ("start", ["2026-03-01", "2026-03-02"], "must have 'start' and 'end' together"),
        ("note", ["x", "y"], "labels has no column of times"),
    ],
)
def test_faults_are_told(column, values, said):
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "label": [1, 0], "annotator": "ann", column: values})
    with pytest.raises(InputError) as caught:
        ptr.judging.label_times(frame)
    assert said in str(caught.value)


def test_a_label_that_ends_before_it_starts():
    frame = pd.DataFrame(
        {"qid": "1", "docno": ["a", "b"], "label": 1, "annotator": "ann", "start": [5, 9], "end": [7, 8]}
    )
    with pytest.raises(InputError, match="the start 9 of topic '1', document 'b' ends before it starts"):
        ptr.judging.label_times(frame)
