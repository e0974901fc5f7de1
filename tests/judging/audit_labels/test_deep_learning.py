"""Audits of the judges of Deep Learning: their labels, and the rankings of passage runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from label_parts import meeting, row_of
from real_runs import read_real
from sklearn import metrics

import pt_reuse as ptr
from pt_reuse.data.judgments import read_qrels
from pt_reuse.judging.compare_labels import LabelAgreement

#: judge -> share relevant, kappa; people .316; relevant from label 2, or 1 for binary judges
DL21 = {
    "umbrela-gpt-4": (0.453, 0.473),
    "binary-gpt-4o": (0.565, 0.449),
    "binary-gpt-4": (0.605, 0.400),
    "exam-gpt-4": (0.811, 0.189),
    "binary-llama-3.2": (0.688, 0.232),
}
#: pairs that a judge left out
MISSING = {
    "dl19-passages": {"binary-gpt-4": 2, "binary-gpt-4o": 4},
    "dl21-passages": {"binary-gpt-4": 7, "binary-gpt-4o": 4},
}
SIZE = {"dl19-passages": (43, 9260), "dl21-passages": (53, 10828)}


@dataclass(frozen=True)
class Track:
    """Judgments of a track, and what others say of the same documents."""

    name: str
    human: ptr.Qrels
    files: dict
    found: LabelAgreement


@pytest.fixture(scope="module", params=["dl19-passages", "dl21-passages"])
def track(request, data):
    folder = data / request.param
    if not (folder / "llm-labels").is_dir():
        pytest.skip(f"the test data has no labels of judges in {request.param}")
    files = {path.name.removesuffix(".gz"): path for path in sorted((folder / "llm-labels").glob("*.gz"))}
    people = {path.stem: path for path in sorted((folder / "re-annotators").glob("*.txt"))}
    human = read_qrels(folder / "qrels.gz", rel=2)
    # the reference takes the label 2 of people for EXAM, too, which grades from 0 to 5
    options = {"judge_rel": {"exam-gpt-4": 2}, "resamples": 1000 if people else 20}
    found = ptr.labels.compare_labels(human, files, people=people or None, **options)
    return Track(request.param, human, files | people, found)


def test_kappa_and_shares_of_the_judges(track):
    topics, documents = SIZE[track.name]
    assert sorted(track.found.judges) == sorted(DL21)
    for judge, (relevant, kappa) in DL21.items():
        row = row_of(track.found.table, judge=judge, items="all", labels="binary")
        missing = MISSING[track.name].get(judge, 0)
        assert (row["n_topics"], row["n_items"], row["missing"]) == (topics, documents - missing, missing)
        if track.name == "dl21-passages":
            assert (round(row["judge_relevant"], 3), round(row["kappa"], 3)) == (relevant, kappa)
            # people call .317 of the documents relevant that the two judges labelled who left some out
            assert round(row["human_relevant"], 3) == (0.317 if missing else 0.316)
        labels = np.array(list(meeting(track.human, read_qrels(track.files[judge])).values()))
        bound = 1 if judge.startswith("binary") else 2
        assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(labels[:, 0] >= 2, labels[:, 1] >= bound))
        assert row["kappa_low"] < row["kappa"] < row["kappa_high"]
    graded = track.found.table.query("kind == 'model' and labels == 'grades'")["judge"].unique()
    assert graded.tolist() == ["umbrela-gpt-4"]


#: DL 2019, relevant or not: other person -> documents, kappa with the judgments
PEOPLE = {
    "annotator-1": (1115, 0.201), "annotator-2": (1115, 0.339), "annotator-3": (1128, 0.527),
    "annotator-4": (1128, 0.190), "annotator-5": (1135, 0.160), "annotator-6": (1135, 0.133),
    "annotator-7": (1124, 0.228), "annotator-8": (1124, 0.275), "people together": (9004, 0.243),
}  # fmt: skip
#: DL 2019: judge -> kappa on all documents, and on those that the other people labelled, each of them
BESIDE = {
    "umbrela-gpt-4": (0.512, 0.374), "binary-gpt-4o": (0.479, 0.342), "binary-gpt-4": (0.428, 0.291),
    "exam-gpt-4": (0.219, 0.110), "binary-llama-3.2": (0.262, 0.156),
}  # fmt: skip


def test_other_people_are_the_yardstick(track):
    found = track.found
    if track.name != "dl19-passages":
        assert len(found.beside) == 0
        return
    for person, (documents, kappa) in PEOPLE.items():
        row = row_of(found.table, judge=person, items="all", labels="binary")
        assert (row["n_items"], round(row["kappa"], 3), row["without"]) == (documents, kappa, 0)
        if person != "people together":
            labels = np.array(list(meeting(track.human, read_qrels(track.files[person])).values()))
            assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(*(labels.T >= 2)))
    for judge, kappas in BESIDE.items():
        row = row_of(found.beside, judge=judge, person="people together", labels="binary", figure="kappa")
        mine = row_of(found.table, judge=judge, items="all", labels="binary")
        assert (round(mine["kappa"], 3), round(row["value"], 3)) == kappas
        assert round(row["person_value"], 3) == 0.243
    # the people saw other documents than all: twice as many of theirs are relevant
    shares = found.table.query("items == 'all' and labels == 'binary'").set_index("judge")["human_relevant"]
    assert (round(shares["umbrela-gpt-4"], 3), round(shares["people together"], 3)) == (0.270, 0.556)
    above = found.beside.query("person == 'people together' and labels == 'binary' and figure == 'kappa'")
    assert above.loc[above["difference_low"] > 0, "judge"].tolist() == ["umbrela-gpt-4"]
    assert sorted(above.loc[above["difference_high"] < 0, "judge"]) == ["binary-llama-3.2", "exam-gpt-4"]


#: judge -> tau_b of means and largest change of rank of nDCG@10, over the 63 runs of 2021
OF_2021 = {
    "umbrela-gpt-4": (0.924, 6),
    "binary-gpt-4o": (0.906, 9),
    "binary-gpt-4": (0.896, 9),
    "exam-gpt-4": (0.845, 12),
    "binary-llama-3.2": (0.790, 17),
}
MISSING_2021 = {"binary-gpt-4o": 4, "binary-gpt-4": 7}


@pytest.fixture(scope="module")
def of_2021(data):
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    judges = {path.name.removesuffix(".gz"): path for path in sorted((folder / "llm-labels").iterdir())}
    runs = read_real(folder / "inputs", teams=folder / "runs-pids", order="trec_eval9")
    human = ptr.read_qrels(folder / "qrels.gz", rel=2)
    return ptr.audit_labels(runs, human, judges, "nDCG@10", judge_rel={"exam-gpt-4": 2}, resamples=0)


def test_rankings_of_2021(of_2021):
    rows = of_2021.table[of_2021.table["by"] == "all"].set_index("judge")
    assert (rows["runs"].unique().tolist(), rows["topics"].unique().tolist()) == ([63], [53])
    found = {judge: (round(row["tau_b"], 3), max(row["max_drop"], row["max_rise"])) for judge, row in rows.iterrows()}
    assert found == OF_2021
    assert {judge: 10_828 - n for judge, n in rows["documents"].items() if n < 10_828} == MISSING_2021
    moved = of_2021.movers.groupby("judge")["rise"]
    assert {judge: int(abs(rises).max()) for judge, rises in moved} == {judge: n for judge, (_, n) in OF_2021.items()}
