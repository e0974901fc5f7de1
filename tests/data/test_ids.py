"""Ids that are no text: bytes and whole numbers are read, all else is refused with its place, at every door."""

from __future__ import annotations

import warnings
from decimal import Decimal
from itertools import product

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP

import pt_reuse as ptr
from pt_reuse.errors import ReuseWarning

RUN = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d1", "é", "NA"], "score": [3.0, 2.0, 1.0]})
JUDGED = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d1", "é", "NA"], "label": [0, 1, 1]})
#: AP of topic 1 is 1/2, of topic 2 it is 1
RIGHT = 0.75


def encoded(values):
    return [value.encode() for value in values]


#: another form of the same ids
ALIKE = {
    "bytes": encoded,
    "numpy S": lambda values: np.array(encoded(values)),
    "numpy bytes objects": lambda values: np.array([*map(np.bytes_, encoded(values)), None], dtype=object)[:-1],
    "bytes and texts": lambda values: [*encoded(values[:-1]), values[-1]],
    "category": lambda values: pd.Categorical(values),
    "category of bytes": lambda values: pd.Categorical(encoded(values)),
    "string": lambda values: pd.array(list(values), dtype="string"),
    "numpy U": lambda values: np.array(values, dtype="U"),
}
#: what is no id, and stands in the place of one
NO_ID = {
    "list": ["d1"], "tuple": ("d1",), "dict": {"d": 1}, "set": frozenset(["d1"]), "array": np.array(["d1", "d2"]),
    "None": None, "NaN": float("nan"), "NA": pd.NA, "NaT": pd.NaT,
    "float": 1.0, "decimal": Decimal("1.0"), "flag": True, "numpy flag": np.True_, "complex": 1j,
    "not UTF-8": b"\xff1", "nothing": "", "no bytes": b"", "NUL": "d\0", "NUL in bytes": b"d\0", "surrogate": "\ud800",
    "long": "d" * 1025, "large": 10**5000, "date": pd.Timestamp("2026-01-01"),
    "object": object(), "bytearray": bytearray(b"d"),
}  # fmt: skip


def mean_ap(run, judged):
    return float(ptr.score({"A": run}, judged, AP).mean_values[0, 0])


def named(frame, values="score"):
    """Return a frame as the named tuples of ir_measures."""
    kind = ir_measures.Qrel if values == "label" else ir_measures.ScoredDoc
    return [kind(*row) for row in frame[["qid", "docno", values]].itertuples(index=False, name=None)]


def nested(frame, values="score"):
    found = {}
    for qid, docno, value in frame[["qid", "docno", values]].itertuples(index=False, name=None):
        found.setdefault(qid, {})[docno] = value
    return found


#: doors that take (run, judgments) and give the mean AP
DOORS = {
    "score": mean_ap,
    "tuples": lambda run, judged: mean_ap(named(run), named(judged, "label")),
    "dicts": lambda run, judged: mean_ap(nested(run), nested(judged, "label")),
    "one frame of runs": lambda run, judged: float(
        ptr.score(run.assign(name="A"), ptr.Qrels(judged), AP).mean_values[0, 0]
    ),
    "judged pool": lambda run, judged: mean_ap(run, ptr.Pool.from_frame(run[["qid", "docno"]]).judge(judged)),
    "union": lambda run, judged: mean_ap(run, ptr.Qrels(judged.iloc[:1]) | judged.iloc[1:]),
    "restrict": lambda run, judged: mean_ap(run, ptr.Qrels(JUDGED).restrict(judged[["qid", "docno"]])),
}  # fmt: skip


def test_the_same_ids_in_another_form_give_the_same():
    wrong = []
    for door, (form, change) in product(DOORS, ALIKE.items()):
        run, judged = RUN.copy(), JUDGED.copy()
        for frame in (run, judged):
            frame["docno"], frame["qid"] = change(frame["docno"].tolist()), change(frame["qid"].tolist())
        # the first door with either alone, too
        given = [(run, judged), *([(run, JUDGED), (RUN, judged)] if door == "score" else [])]
        wrong += [] if {DOORS[door](*one) for one in given} == {RIGHT} else [(door, form)]
    assert wrong == []


def with_cell(frame, column, row, value):
    cells = frame[column].tolist()
    cells[row] = value
    return frame.assign(**{column: pd.Series(cells, dtype=object, index=frame.index)})


def test_what_is_no_id_is_refused_with_run_topic_and_row(messages):
    for what in NO_ID:
        check_no_id(what, messages)


def check_no_id(what, messages):
    run, judged = (with_cell(frame, "docno", 1, NO_ID[what]) for frame in (RUN, JUDGED))
    place = "run 'A', topic '1', row 1"
    messages.refused(lambda: ptr.score({"A": run}, JUDGED, AP), place=place)
    messages.refused(lambda: ptr.RunSet.from_frames({"A": run}), place=place)
    messages.refused(lambda: ptr.Qrels(judged), place="topic '1', row 1")
    messages.refused(lambda: ptr.Pool.from_frame(run[["qid", "docno"]]), place="topic '1', row 1")
    for door in ("judged pool", "restrict", "union", "one frame of runs"):
        messages.refused(lambda door=door: DOORS[door](run, judged))
    messages.refused(
        lambda: ptr.score({"A": with_cell(RUN, "qid", 2, NO_ID[what])}, JUDGED, AP), place="run 'A', row 2"
    )
    if what not in ("nothing", "no bytes", "NUL", "NUL in bytes", "surrogate", "long"):
        # of other texts there is no judgment, that is all
        messages.refused(lambda: ptr.OnlyJudged(JUDGED)(run), place="topic '1', row 1")
        messages.refused(lambda: ptr.judging.Oracle(JUDGED)(run))
        messages.refused(lambda: ptr.OnlyDocuments([NO_ID[what]]))
        messages.refused(lambda: ptr.Qrels(JUDGED).select([NO_ID[what]]))


def test_names_of_runs_are_texts_as_well(messages):
    for name in (("A",), None, float("nan"), 1.5, True, b"\xff"):
        messages.refused(lambda name=name: ptr.RunSet.from_frames({name: RUN}), argument="frames")
        teams = {"A": "T", name: "U"}
        messages.refused(lambda teams=teams: ptr.RunSet.from_frames({"A": RUN}, teams=teams), argument="teams")
    assert ptr.RunSet.from_frames({b"A": RUN, 7: RUN}, teams={b"A": "T", 7: "U"}).names == ["A", "7"]


def test_white_space_around_ids_is_told_and_stays():
    for spaced in ("d1 ", " d1", "d1\n", "d1\u00a0", "\ufeffd1", "\u3000d1"):
        with pytest.warns(ReuseWarning, match="white space"):
            runs = ptr.RunSet.from_frames({"A": with_cell(RUN, "docno", 0, spaced)})
        assert runs["A"]["docno"].tolist()[0] == spaced
        with pytest.warns(ReuseWarning, match="white space"):
            qrels = ptr.Qrels(with_cell(JUDGED, "docno", 0, spaced))
        assert spaced in qrels.to_frame()["docno"].tolist()
        with pytest.warns(ReuseWarning, match="white space"):
            ptr.RunSet.from_frames({"A": with_cell(RUN, "qid", 0, spaced)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ptr.Qrels(with_cell(JUDGED, "docno", 0, "d 1"))


# the names that other tools give columns

RANX = {"qid": "q_id", "docno": "doc_id", "label": "score"}
BEIR = {"qid": "query-id", "docno": "corpus-id", "label": "score"}
TRECTOOLS = {"qid": "query", "docno": "docid", "label": "rel"}


@pytest.mark.parametrize("names", [RANX, BEIR, TRECTOOLS, {"qid": "query_id", "docno": "corpus_id", "label": "score"}])
def test_columns_of_other_tools(names):
    run, judged = RUN.rename(columns={k: v for k, v in names.items() if k != "label"}), JUDGED.rename(columns=names)
    if names is TRECTOOLS:
        run = run.assign(q0="Q0", rank=[1, 2, 1], system="A")
        judged = judged.assign(q0="0")
        assert float(ptr.score(run, judged, AP).mean_values[0, 0]) == RIGHT
    assert mean_ap(run, judged) == mean_ap(run, ptr.Qrels(judged)) == mean_ap(RUN, judged) == RIGHT
    assert ptr.Qrels(JUDGED).restrict(judged).to_frame().equals(ptr.Qrels(JUDGED).to_frame())
    assert mean_ap(RUN, judged.astype({names["label"]: float})) == RIGHT


@pytest.mark.parametrize("names", [RANX, BEIR, {"qid": "query_id", "docno": "doc_id"}, {}])
def test_results_are_no_judgments(names, messages):
    # scores that are whole numbers are those of results where ir_measures or PyTerrier name the columns
    scores = [3, 2, 1] if not names or len(names) == 2 else [2.5, 1.5, 0.5]
    given = RUN.assign(score=scores).rename(columns={k: v for k, v in names.items() if k != "label"})
    messages.refused(lambda: ptr.score({"A": RUN}, given, AP), argument="qrels")


def test_a_frame_of_pyterrier_keeps_its_query():
    run = RUN.assign(query="q", docid=[1, 2, 3])
    assert mean_ap(run, JUDGED) == RIGHT
    assert ptr.RunSet.from_frames({"A": run})["A"]["qid"].tolist() == ["1", "1", "2"]
