"""Agreement of annotators: every number against fractions by hand, the libraries, and resamples drawn one by one."""

from __future__ import annotations

import statistics
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from annotator_parts import by_item, labelled, slow_alpha, slow_kappa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

import pt_reuse as ptr
from pt_reuse.judging.annotators.measuring import (
    Comparison,
    all_items,
    band,
    cohen_kappa,
    coincidence_tables,
    confusion_tables,
    krippendorff_alpha,
)


def slow_fleiss(items):
    """Return Fleiss' kappa of items, each a list of labels, equally many."""
    n = len(items[0])
    agree = sum(Fraction(sum(a == b for a, b in permutations(item, 2)), n * (n - 1)) for item in items) / len(items)
    totals = Counter(label for item in items for label in item)
    chance = sum(Fraction(times, n * len(items)) ** 2 for times in totals.values())
    return None if chance == 1 else (agree - chance) / (1 - chance)


def in_common(items, first, second):
    """Return the pairs of labels that two annotators gave to the same items."""
    return [(item[first], item[second]) for item in items.values() if first in item and second in item]


def annotators_of(items):
    return sorted({name for item in items.values() for name in item})


def couples(items):
    return [(a, b) for a, b in combinations(annotators_of(items), 2) if in_common(items, a, b)]


SCALE = (0, 1, 2, 3)
FRAMES = {
    "three, complete": labelled(seed=1),
    "four, with gaps": labelled(seed=2, n_annotators=4, gaps=0.25),
    "two": labelled(seed=3, n_annotators=2, gaps=0.1),
    "binary": labelled(seed=4, scale=(0, 1), gaps=0.1),
}


@pytest.fixture(scope="module", params=FRAMES)
def case(request):
    frame = FRAMES[request.param]
    return (
        frame,
        by_item(frame),
        ptr.judging.annotator_agreement(frame, rel=2 if frame["label"].max() > 1 else 1, resamples=50),
    )


def ways(items, rel):
    """Yield items, labels and the items of each way in which they are compared."""
    binary = {item: {who: int(label >= rel) for who, label in given.items()} for item, given in items.items()}
    for labels, taken in (("grades", items), ("binary", binary)):
        if labels == "grades" or len({label for given in items.values() for label in given.values()}) > 2:
            yield "all", labels, taken
            yield "relevant", labels, {i: g for i, g in taken.items() if max(items[i].values()) >= rel}


def value(result, items, labels, coefficient):
    table = result.table
    at = (table["items"] == items) & (table["labels"] == labels) & (table["coefficient"] == coefficient)
    return table[at].iloc[0]


def test_all_together_is_what_the_definitions_say(case):
    _, given, result = case
    for items, labels, taken in ways(given, result.rel):
        lists = [list(item.values()) for item in taken.values() if len(item) > 1]
        scale = result.scale if labels == "grades" else (0, 1)
        pairs = [two for item in lists for two in permutations(item, 2)]
        expected = {"agreement": np.mean([a == b for a, b in pairs])}
        kappas = [slow_kappa(in_common(taken, *two), scale) for two in couples(taken)]
        expected["cohen_kappa"] = np.mean([float(kappa) for kappa in kappas if kappa is not None])
        sizes = [len(item) for item in lists]
        usual = max(sorted(set(sizes), reverse=True), key=sizes.count)
        fixed = [item for item in lists if len(item) == usual]
        expected["fleiss_kappa"] = slow_fleiss(fixed)
        for level in ("nominal", "ordinal") if labels == "grades" else ("nominal",):
            expected[f"alpha_{level}"] = slow_alpha(lists, scale, level)
        for name, number in expected.items():
            row = value(result, items, labels, name)
            assert row["value"] == pytest.approx(float(number), abs=1e-12), (items, labels, name)
            assert row["n_items"] == len(fixed if name == "fleiss_kappa" else lists)
            assert row["band"] == ("" if name == "agreement" else band(row["value"]))
            assert row["low"] <= row["high"]
    assert len(result.table) == (9 + 9 if len(result.scale) > 2 else 10)


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_each_two_are_what_the_libraries_say(case, weights):
    frame, given, result = case
    result = ptr.judging.annotator_agreement(frame, rel=result.rel, weights=weights, resamples=0)
    found = zip(result.pairs["first"], result.pairs["second"], strict=True)
    assert {frozenset(two) for two in found} == {frozenset(two) for two in couples(given)}
    for row in result.pairs[(result.pairs["items"] == "all") & (result.pairs["labels"] == "grades")].itertuples():
        pairs = in_common(given, row.first, row.second)
        mine, theirs = zip(*pairs, strict=True)
        matrix = confusion_matrix(mine, theirs, labels=result.scale)
        assert row.kappa == pytest.approx(
            cohen_kappa_score(mine, theirs, labels=result.scale, weights=weights), abs=1e-14
        )
        assert row.kappa == pytest.approx(float(slow_kappa(pairs, result.scale, weights)), abs=1e-12)
        assert row.agreement == pytest.approx(np.trace(matrix) / matrix.sum())
        relevant = [sum(label >= result.rel for label in labels) for labels in (mine, theirs)]
        assert [row.n_items, row.n_relevant, row.other_relevant] == [len(pairs), *relevant]


def test_within_topics_and_over_topics():
    frame = FRAMES["four, with gaps"]
    result = ptr.judging.annotator_agreement(frame, rel=2, resamples=0)
    wide = result.by_topic()
    of_topic = {
        qid: ptr.judging.annotator_agreement(part, rel=2, resamples=0) for qid, part in frame.groupby("qid", sort=False)
    }
    for (items, labels), part in wide.groupby(["items", "labels"], sort=False):
        assert part["agreement"].is_monotonic_increasing
        for row in part.itertuples():
            alone = of_topic[row.qid]
            for name in ("agreement", "cohen_kappa", "alpha_nominal", "alpha_ordinal"):
                if (labels, name) != ("binary", "alpha_ordinal"):
                    expected = value(alone, items, labels, name)
                    assert getattr(row, name) == pytest.approx(expected["value"], nan_ok=True)
                    assert row.n_items == expected["n_items"]
    assert wide["items"].iloc[0] == "all"
    spread = result.over_topics().set_index(["items", "labels", "coefficient"])
    for row in spread.itertuples():
        items, labels, name = row.Index
        rows = result.per_topic.query("items == @items and labels == @labels and coefficient == @name")
        known = {qid: each for qid, each in zip(rows["qid"], rows["value"], strict=True) if each == each}
        assert row.n_topics == len(known)
        if known:
            assert row.mean == pytest.approx(sum(known.values()) / len(known))
            assert row.lowest == min(known.values()) == known[row.lowest_topic]
        if len(known) > 1:
            assert row.sd == pytest.approx(statistics.stdev(known.values()))


@pytest.mark.parametrize("ties", ["lower", "higher", "median", "unresolved"])
def test_each_against_the_majority_of_the_others(ties):
    frame = FRAMES["four, with gaps"]
    given, result = by_item(frame), ptr.judging.annotator_agreement(frame, ties=ties, resamples=0)
    for name in annotators_of(given):
        rest = ptr.judging.majority_vote(frame[frame["annotator"] != name], ties=ties).to_frame()
        vote = {(row.qid, row.docno): row.label for row in rest.itertuples()}
        both = [(item[name], vote.get(key, -1)) for key, item in given.items() if name in item and key in vote]
        pairs = [(a, b) for a, b in both if b != -1]
        row = result.others[(result.others["first"] == name)].iloc[0]
        assert (row["second"], row["n_items"], row["n_unresolved"]) == ("others", len(pairs), len(both) - len(pairs))
        assert row["kappa"] == pytest.approx(float(slow_kappa(pairs, SCALE)), abs=1e-12)


def test_each_against_gold():
    frame, gold = FRAMES["four, with gaps"], ptr.judging.majority_vote(labelled(seed=9, n_docs=8, n_annotators=1))
    unknown = pd.DataFrame({"qid": ["1", "77"], "docno": ["nobody", "d1"], "label": [1, 1]})
    result = ptr.judging.annotator_agreement(frame, gold=gold | unknown, resamples=0)
    truth = {(row.qid, row.docno): row.label for row in gold.to_frame().itertuples()}
    for row in result.gold[(result.gold["items"] == "all") & (result.gold["labels"] == "grades")].itertuples():
        pairs = [
            (item[row.first], truth[key]) for key, item in by_item(frame).items() if row.first in item and key in truth
        ]
        assert (row.second, row.n_items) == ("gold", len(pairs))
        assert row.kappa == pytest.approx(float(slow_kappa(pairs, SCALE)), abs=1e-12)
    labelled_gold = set(truth) & set(by_item(frame))
    assert result.settings["gold labels"] == len(truth) + 2
    assert result.settings["gold labels of items nobody labelled"] == len(truth) + 2 - len(labelled_gold)
    assert len(ptr.judging.annotator_agreement(frame, resamples=0).gold) == 0
    # a label of gold alone belongs to the scale
    strange = gold.to_frame()[["qid", "docno"]].assign(label=7)
    assert ptr.judging.annotator_agreement(frame, gold=strange, resamples=0).scale == (0, 1, 2, 3, 7)
    assert ptr.judging.annotator_agreement(frame, gold=ptr.Qrels(strange, rel=7), resamples=0).rel == 7


def test_no_value_where_chance_agreement_is_certain():
    same = {name: pd.DataFrame({"qid": "1", "docno": list("abc"), "label": 0}) for name in ("x", "y")}
    result = ptr.judging.annotator_agreement(same, gold=same["x"])
    none = result.table[result.table["coefficient"] != "agreement"]
    assert none["value"].isna().all()
    assert none["low"].isna().all()
    assert none[none["items"] == "all"]["why"].unique().tolist() == ["all labels are the same"]
    assert none[none["items"] == "relevant"]["why"].unique().tolist() == ["no item with two labels"]
    assert result.table["value"].iloc[0] == 1
    assert result.pairs["why"].tolist() == ["all labels are the same", "no item with two labels"]
    assert result.answers()[0].startswith("ordinal alpha undefined (all labels are the same)")


def test_what_cannot_be_compared_is_named(messages):
    frame = FRAMES["two"]
    alone = frame[frame["annotator"] == "ann0"]
    messages.refused(lambda: ptr.judging.annotator_agreement(alone), argument="labels")
    apart = pd.concat([alone, frame[frame["annotator"] == "ann1"].assign(qid=lambda part: "x" + part["qid"])])
    messages.refused(lambda: ptr.judging.annotator_agreement(apart), argument="labels")
    nobody = pd.DataFrame({"qid": ["1"], "docno": ["nowhere"], "label": [1]})
    messages.refused(lambda: ptr.judging.annotator_agreement(frame, gold=nobody), argument="gold")
    for argument, value in {"weights": "cubic", "ties": "error", "over": "runs", "confidence": 95}.items():
        messages.refused(
            lambda a=argument, v=value: ptr.judging.annotator_agreement("unread", **{a: v}), argument=argument
        )


@settings(deadline=None, max_examples=15)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=10))
def test_alpha_is_that_of_krippendorff(rows):
    counts = np.array(rows)
    counts = counts[counts.sum(axis=1) > 1]
    assume((counts.sum(axis=0) > 0).sum() > 1)
    for level in ("nominal", "ordinal"):
        (value,) = krippendorff_alpha(coincidence_tables(counts).sum(axis=0)[None], level)
        expected = krippendorff.alpha(value_counts=counts, level_of_measurement=level)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("over", ["topics", "items"])
def test_intervals_of_all_together_are_those_drawn_one_by_one(over):
    frame = labelled(seed=17, n_topics=5, n_docs=4, n_annotators=4, gaps=0.4)
    items = by_item(frame)
    # in the order of the items, topic by topic
    items = [(int(qid) - 1, given) for (qid, _), given in items.items() if len(given) > 1]
    unit = np.array([topic for topic, _ in items]) if over == "topics" else np.arange(len(items))
    units, random = unit.max() + 1, np.random.default_rng(3)
    values = {"cohen_kappa": [], "alpha_ordinal": []}
    for drawn in random.integers(0, units, (40, units)):
        taken = dict(enumerate(items[row][1] for u in drawn for row in np.flatnonzero(unit == u)))
        kappas = [slow_kappa(in_common(taken, *two), SCALE) for two in couples(taken)]
        values["cohen_kappa"].append(np.mean([float(kappa) for kappa in kappas if kappa is not None]))
        values["alpha_ordinal"].append(
            float(slow_alpha([list(given.values()) for given in taken.values()], SCALE, "ordinal"))
        )
    table = ptr.judging.annotator_agreement(frame, over=over, resamples=40, seed=3, confidence=0.8).table
    for name, drawn in values.items():
        row = table[(table["items"] == "all") & (table["labels"] == "grades") & (table["coefficient"] == name)].iloc[0]
        assert [row["low"], row["high"]] == pytest.approx(np.percentile(drawn, [10, 90]).tolist(), abs=1e-12)


def test_one_topic_has_no_interval_over_topics_and_resamples_without_a_value_are_counted():
    one = labelled(seed=15, n_topics=1)
    assert ptr.judging.annotator_agreement(one).table["low"].isna().all()
    assert ptr.judging.annotator_agreement(one, over="items", resamples=50).table["low"].notna().all()
    # in a resample of one topic twice, all labels are the same
    tables = confusion_tables(np.array([0, 0, 1]), np.array([0, 0, 0]), (0, 1))
    how = Comparison((0, 1), 1, None, "items", 400, 1, 0.95)
    found = how.measured(all_items(tables), cohen_kappa, np.arange(3))
    assert 400 * (1 - 2 * (2 / 3) ** 3) < found["resamples"] < 400
    assert found["low"] <= found["high"]
