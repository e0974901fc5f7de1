"""What a pipeline is known by: the same in every process, and another where a step, an attribute or a function is."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse.data.kept_results import difference, has_address, python_version, steps_of

FRAME = pd.DataFrame({"qid": ["1"], "docno": ["d"], "score": [1.0]})
WEIGHT = 2.0
CALLS = 0


class Step(pt.Transformer):
    def __init__(self, value, other=None, *, verbose=False):
        self.value, self._other, self.verbose = value, other, verbose
        self.calls = []

    def transform(self, inp):
        self.calls.append(1)
        return inp


class Hidden(pt.Transformer):
    """Keeps nothing under its name."""

    def __init__(self, value):
        self._kept = value

    def transform(self, inp):
        return inp


class Unwilling(pt.Transformer):
    def transform(self, inp):
        return inp

    def attributes(self):
        raise RuntimeError("no")


def weighted(row):
    """Weigh."""
    return helper(row["score"]) * WEIGHT


def helper(score):
    return score


def counting(row):
    global CALLS
    CALLS += 1
    return CALLS * 0 + row["score"]


def scorer(factor):
    return pt.apply.doc_score(lambda row: row["score"] * factor)


def lines(pipeline):
    return [*steps_of(pipeline), python_version()]


SAME = {
    "the same": lambda: Step(1),
    "numbers of numpy": lambda: Step(np.int64(1)),
    "an object": lambda: Step(object()),
    "what a step does not keep": lambda: Hidden(object()),
    "a step that does not tell": Unwilling,
    "verbose": lambda flags=[True, False]: Step(1, verbose=flags.pop()),
    "a set": lambda: Step({"a", "b", "c"}),
    "a closure": lambda: scorer(2),
    "steps in steps": lambda: Step(Step(1)) >> Step([Step(2), Step(3)]),
    "a frame": lambda: Step(FRAME.copy()),
    "vectors": lambda: Step(np.arange(3.0)),
    "a frame of lists": lambda: Step(FRAME.assign(v=[[1]])),
    "a method": lambda: Step("x".join),
}


@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
def test_the_same_pipeline_made_again(make):
    once, again = make(), make()
    if hasattr(once, "calls"):
        once.transform(FRAME)
    assert difference(lines(once), lines(again)) is None


OTHER = {
    "an attribute": (Step(1), Step(2), ("Step value=1", "Step value=2")),
    "of another type": (Step(1), Step(1.0), ("Step value=1", "Step value=1.0")),
    "a private attribute": (Step(1, "a"), Step(1, "b"), ("Step other='a'", "Step other='b'")),
    "a step": (Step(1), Hidden(1), None),
    "one step more": (Step(1) >> Step(2), Step(1) >> Step(2) >> Step(3), ("nothing more", "Compose > 3 Step value=3")),
    "one step less": (Step(1) >> Step(2) >> Step(3), Step(1) >> Step(2), ("Compose > 3 Step value=3", "nothing more")),
    "an inner step": (Step(Step(1)), Step(Step(2)), ("Step > 1 Step value=1", "Step > 1 Step value=2")),
    "an operator": (Step(1) + Step(2), Step(1) ^ Step(2), ("Sum", "Concatenate")),
    "a function": (pt.apply.doc_score(weighted), pt.apply.doc_score(counting), None),
    "a lambda": (pt.apply.doc_score(lambda r: r["a"]), pt.apply.doc_score(lambda r: r["b"]), None),
    "a number that it uses": (scorer(2), scorer(3), None),
    "a frame": (Step(FRAME), Step(FRAME.assign(score=2.0)), None),
    "vectors": (Step(np.arange(3.0)), Step(np.arange(1, 4.0)), None),
    "what it prints": (pt.RankCutoff(3), pt.RankCutoff(4), ("RankCutoff k=3", "RankCutoff k=4")),
    "far behind in a long line": (
        Step("x" * 500 + "a"), Step("x" * 500 + "b"),
        tuple(f"Step value='{13 * 'x'}...{25 * 'x'}{last}'" for last in "ab"),
    ),
    "beyond what is kept of a line": (Step("x" * 9000 + "a"), Step("x" * 9000 + "b"), None),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "told"), OTHER.values(), ids=OTHER)
def test_another_pipeline(one, other, told):
    found = difference(lines(one), lines(other))
    assert found is not None
    assert told is None or found == told


def test_globals_of_functions(monkeypatch):
    before = lines(pt.apply.doc_score(weighted))
    monkeypatch.setattr(sys.modules[__name__], "WEIGHT", 3.0)
    assert "WEIGHT=2.0" in difference(before, lines(pt.apply.doc_score(weighted)))[0]
    monkeypatch.undo()
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda score: -score)
    assert difference(before, lines(pt.apply.doc_score(weighted))) is not None


def test_counters_are_no_part_of_it():
    before = lines(pt.apply.doc_score(counting))
    counting({"score": 1.0})
    assert difference(before, lines(pt.apply.doc_score(counting))) is None


def test_under_another_python_code_is_not_compared():
    one, other = (lines(pt.apply.doc_score(fn)) for fn in (lambda r: r["a"], lambda r: r["b"]))
    assert difference(one, other) is not None
    assert difference([*one[:-1], "Python 3.99"], other) is None
    assert difference([*lines(Step(1))[:-1], "Python 3.99"], lines(Step(2))) == ("Step value=1", "Step value=2")


def test_other_processes_say_the_same():
    code = (
        "import pyterrier as pt; from pt_reuse.data.kept_results import steps_of\n"
        "print(steps_of(pt.apply.doc_score(lambda r: r['x'] in {'a', 'b', 'c'}) >> pt.Transformer.identity()))"
    )
    told = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
        for env in ({"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": str(seed)} for seed in (1, 2))
    }
    assert len(told) == 1
    assert "0x" not in told.pop()


def test_names_with_addresses():
    assert has_address(str(Step(1)))
    assert has_address("org.terrier.Index@5e91993f")
    assert not has_address("BM25 @10, 0x")
