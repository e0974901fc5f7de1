"""The files of trec_eval's own tests: comments, text after the last column, and every score that trec_eval printed."""

from __future__ import annotations

import gzip
import warnings

import pytest
from ir_measures import AP, RBP, RR, Bpref, P, R, Rprec, Success, nDCG

from pt_reuse.data.judgments import read_qrels
from pt_reuse.data.run_set import read_runs
from pt_reuse.errors import ReuseWarning
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.scores import score

PRINTED = 5e-5 + 1e-9
CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def trec_eval_measures(rel):
    """Return what trec_eval calls each measure that the kernels score."""
    return {
        "map": AP(rel=rel),
        "Rprec": Rprec(rel=rel),
        "bpref": Bpref(rel=rel),
        "recip_rank": RR(rel=rel),
        "ndcg": nDCG,
        **({"rbp": RBP(rel=rel, p=0.9)} if rel == 1 else {}),  # there the gain of a grade counts, here relevant or not
        **{f"P_{k}": P(rel=rel) @ k for k in CUTS},
        **{f"recall_{k}": R(rel=rel) @ k for k in CUTS},
        **{f"ndcg_cut_{k}": nDCG @ k for k in CUTS},
        **{f"map_cut_{k}": AP(rel=rel) @ k for k in CUTS},
        **{f"success_{k}": Success(rel=rel) @ k for k in (1, 5, 10)},
        **{f"unj_{k}": Unjudged(of_cutoff=True) @ k for k in (5, 10, 20)},
    }


#: what trec_eval printed: (output, qrels, run, complete, grade from which a document is relevant)
TESTS = {
    "out.test.aq": ("qrels.test", "results.test", False, 1),
    "out.test.aq with comments": ("qrels.test.with-comments", "results.test", False, 1),
    "out.test.aqc": ("qrels.test", "results.trunc", True, 1),
    "out.test.aql": ("qrels.rel_level", "results.test", False, 2),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", False, 1),
}


@pytest.fixture(scope="module")
def files(data):
    folder = data / "trec-eval-tests"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec-eval-tests")
    return folder


def printed(path):
    """Return (measure, topic) -> number as printed; ``all`` is the mean."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {(measure, topic): value for measure, topic, value in lines}


@pytest.mark.parametrize("test", TESTS)
def test_every_score_is_that_of_trec_eval(test, files):
    qrels_file, run_file, complete, rel = TESTS[test]
    expected = printed(files / test.split()[0])
    measures = trec_eval_measures(rel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)  # text after the sixth column; topics that the run lacks
        runs = read_runs(files / f"{run_file}.gz", order="trec_eval")
        qrels = read_qrels(files / f"{qrels_file}.gz")
        native = score(runs, qrels, list(measures.values()), complete=complete)
    assert runs.names == [expected["runid", "all"]]
    topics = set(qrels.topics) if complete else set(qrels.topics) & set(runs.topics)
    assert int(expected["num_q", "all"]) == len(topics)
    if not complete:
        assert int(expected["num_ret", "all"]) == sum(runs.to_frame()["qid"].isin(topics))
    compared = 0
    for m, (name, measure) in enumerate(measures.items()):
        assert native.measures[m] == repr(measure)
        ours = {"all": float(native.mean_values[m, 0])}
        ours |= {topic: float(native.values[m, t, 0]) for t, topic in enumerate(native.topics)}
        for topic, value in ours.items():
            if (name, topic) in expected:
                assert value == pytest.approx(float(expected[name, topic]), abs=PRINTED), (name, topic)
                compared += 1
    # the official measures, all of them, or all of them for the mean and each topic
    assert compared == (13 if test == "out.comment.test" else len(measures) * (4 if "q" in test else 1))


# the same on small files of our own

RUN = (
    b"# tag: t\n1 Q0 a 1 3 t\n \t# blank before it\n1 Q0 b 2 2 t of a run\n"
    b"1 Q0 #c 3 1 t #\n#2 Q0 a 1 1 other\n2 Q0 a 1 1 t\n#"
)
QRELS = b"# judgments\n1 0 a 1\n# of\n# two topics\n1 0 #c 2\n  # indented\n2 0 b 1\n1 0 b 0\n#2 0 a 1\n"


def test_comments_and_text_after_the_last_column(messages, tmp_path):
    packed = gzip.compress
    (tmp_path / "run").write_bytes(packed(RUN))
    (tmp_path / "more").write_bytes(packed(RUN.replace(b" t\n", b" t2\n").replace(b" t ", b" t2 ")))
    (tmp_path / "qrels").write_bytes(packed(QRELS))
    runs = messages.warned(read_runs, source=[tmp_path / "run", tmp_path / "more"])
    for name in ("t", "t2"):
        assert runs[name][["qid", "docno", "score"]].to_numpy().tolist() == [
            *[["1", "a", 3], ["1", "b", 2], ["1", "#c", 1], ["2", "a", 1]]
        ]
    frame = read_qrels(tmp_path / "qrels").to_frame()
    assert sorted(map(tuple, frame[["qid", "docno", "label"]].to_numpy().tolist())) == [
        *[("1", "#c", 2), ("1", "a", 1), ("1", "b", 0), ("2", "b", 1)]
    ]
    assert score(runs, read_qrels(tmp_path / "qrels"), [AP]).mean_values[0].tolist() == [pytest.approx(5 / 12)] * 2
