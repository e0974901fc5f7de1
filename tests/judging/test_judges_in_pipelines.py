"""A judge that reads, from a prompt to a study: in batches, once for each document, kept, and nothing sent."""

from __future__ import annotations

import re
import socket

import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.judging.judges import as_judges
from pt_reuse.judging.label_pairs import compared_labels

N = 30
TEXTS = {f"d{n:02}": f"passage {n} says {'much' if n % 3 else 'nothing'} of tides" for n in range(N)}
TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["what makes tides", "who measured tides"]})
PEOPLE = ptr.Qrels(
    pd.DataFrame(
        [(q, d, (int(d[1:]) % 3) * int(q)) for q in ("1", "2") for d in TEXTS], columns=["qid", "docno", "label"]
    ),
    rel=2,
)
GRADES = {"nothing": 0, "much": 2}


@pytest.fixture(autouse=True)
def nobody_sends(monkeypatch):
    """Fail where anything opens a connection."""

    def refuse(*arguments):
        raise AssertionError(f"something is sent: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


class Model:
    """A stub of a language model that counts what it is asked, and answers as UMBRELA's prompt has it answer."""

    def __init__(self):
        self.batches = []

    def __call__(self, queries, texts):
        self.batches.append(len(texts))
        return [self.read(f"Query: {q}\nPassage: {t}") for q, t in zip(queries, texts, strict=True)]

    @staticmethod
    def read(prompt):
        word = prompt.split(" says ")[1].split()[0]
        answer = f"The passage says {word} of it.\n##final score: {GRADES[word]}"
        found = re.search(r"##\s*final score:\s*(\d)", answer)
        return None if found is None else int(found[1])


class AddText(pt.Transformer):
    """A stub of pt.text.get_text: adds the text of each document."""

    def __init__(self):
        self.asked = 0

    def transform(self, inp):
        pt.validate.columns(inp, includes=["docno"])
        self.asked += len(inp)
        return inp.assign(text=[TEXTS[docno] for docno in inp["docno"]])


def reader(model, cache=None, batch_size=8):
    options = {} if cache is None else {"cache": cache, "version": "stub, prompt 1"}
    return ptr.judging.Callable(model, name="stub", batch_size=batch_size, rel=2, **options)


def expected():
    return [GRADES["much" if int(d[1:]) % 3 else "nothing"] for _ in ("1", "2") for d in TEXTS]


@pytest.mark.parametrize(
    "texts", [TEXTS, AddText(), pd.DataFrame({"docno": list(TEXTS), "text": list(TEXTS.values())})]
)
def test_a_study_hands_a_judge_queries_and_texts(texts):
    model = Model()
    judge = ptr.judging.WithTexts(reader(model), topics=TOPICS, texts=texts)
    found = compared_labels(PEOPLE, as_judges(judge)[0])
    assert found.pairs["judge"].tolist() == expected()
    assert (found.name, found.judge_rel) == ("stub", 2)
    # sixty documents, each once, in batches
    assert model.batches == [8] * 7 + [4]


def test_a_pipeline_is_called_in_batches_and_its_answers_are_kept(tmp_path):
    sizes = []

    def grade(frame):
        sizes.append(len(frame))
        assert list(frame) == ["qid", "docno", "query", "text"]
        found = frame.assign(label=[Model.read(f"Passage: {text}") for text in frame["text"]])
        # sorted otherwise, and without a row for one
        return found[found["docno"] != "d07"].sort_values("docno", ascending=False)

    for _ in range(2):
        judge = ptr.judging.Callable(pt.apply.generic(grade), name="graded", batch_size=16, cache=tmp_path, version="1")
        handed = ptr.judging.WithTexts(judge, topics=TOPICS, texts=TEXTS)
        found = handed(PEOPLE.to_frame()[["qid", "docno"]])
        labels = found["label"].astype(object).where(found["label"].notna(), None).tolist()
        assert labels == [None if n % N == 7 else grade for n, grade in enumerate(expected())]
    assert sizes == [16, 16, 16, 12]
    one = ptr.judging.Callable(pt.apply.generic(grade), name="one by one")
    assert ptr.judging.WithTexts(one, topics=TOPICS, texts=TEXTS)(PEOPLE.to_frame().head(3))["label"].tolist() == [
        0,
        2,
        2,
    ]
    assert sizes[4:] == [1, 1, 1]
