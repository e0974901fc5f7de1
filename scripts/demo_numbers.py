"""Print every number of the demo collection's datasheet, computed from its files.

    python scripts/demo_numbers.py

Each line is a sentence as it must stand in DATASHEET.md; one that does not is marked, and the exit code is 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import ArrayLike

import pt_reuse as ptr
from pt_reuse.collections.provider import DemoDataset

#: words that say nothing of what a text is about
_FREQUENT = (
    "a an the of in on at for to and or with by from as is are was were be been it its this that these those what "
    "which who how why when where do does did can could should would will may might not no than then so if into about "
    "over under my your their his her our"
)
STOP = frozenset(_FREQUENT.split())
ASSESSORS = ("first", "second", "third")
PAIRS = tuple(combinations(ASSESSORS, 2))


def sentences(demo: DemoDataset) -> Iterator[str]:
    """Yield what the datasheet says in numbers."""
    yield from of_texts(demo)
    yield from of_judgments(demo)
    yield from of_further_assessors(demo)
    yield from of_words(demo)
    yield from of_runs(demo)


def of_texts(demo: DemoDataset) -> Iterator[str]:
    """Yield how many texts there are, and how long they are."""
    documents, topics = pd.DataFrame(demo.documents()), demo.get_topics()
    words, queries = (texts.str.split().str.len() for texts in (documents["text"], topics["query"]))
    (each,) = set(documents["source"].value_counts())
    yield f"{len(documents)} documents of {words.min()} to {words.max()} words with a title, {each} from each of three"
    yield f"{len(topics)} topics, each with a query of {queries.min()} to {queries.max()} words"


def of_judgments(demo: DemoDataset) -> Iterator[str]:
    """Yield how many pairs are relevant, of all and in the pool."""
    complete, pool = demo.get_qrels("complete"), demo.get_qrels()
    relevant = complete[complete["label"] > 0]
    by_topic = relevant.groupby("qid").size()
    (empty,) = set(complete["qid"]) - set(by_topic.index)
    query = dict(demo.get_topics().to_numpy())[empty]
    yield f'Topic {empty}, "{query}", has no relevant document; the others have {by_topic.min()} to {by_topic.max()}'
    yield (
        f"{len(relevant)} relevant pairs ({(relevant['label'] == 2).sum()} of label 2, "
        f"{(relevant['label'] == 1).sum()} of label 1)"
    )
    found = (pool["label"] > 0).sum()
    yield (
        f"{len(pool)} pairs, {found} of them relevant: {found / len(relevant):.1%} of all relevant pairs, so that "
        f"{len(relevant) - found} are unjudged"
    )


def of_further_assessors(demo: DemoDataset) -> Iterator[str]:
    """Yield how far the assessors agree."""
    labels = labels_of(demo)
    yield f"{len(labels):,} pairs each"
    before = labels.copy()
    for (qid, docno), label in reviewed(demo).items():
        before.loc[(qid, docno), "first"] = label
    for when, given in (("", labels), ("before the review, ", before)):
        for name, of in (("all", given), ("relevant", given[(given > 0).any(axis=1)])):
            row = ", ".join(f"{kappa(of[one], of[other]):.3f}" for one, other in PAIRS)
            yield f"{when}{name} {len(of):,}: {row}"
    differ = (labels.max(axis=1) > labels.min(axis=1)).sum()
    yield f"The three differ on {differ} pairs"


def labels_of(demo: DemoDataset) -> pd.DataFrame:
    """Return the labels of the three assessors on the pairs that all of them saw."""
    of = {name: demo.get_qrels(name) for name in ("complete", *ASSESSORS[1:])}
    columns = [frame.set_index(["qid", "docno"])["label"] for frame in of.values()]
    return pd.concat(columns, axis=1, join="inner", keys=ASSESSORS)


def reviewed(demo: DemoDataset) -> dict[tuple[str, str], int]:
    """Return the pairs that the review looked at again, with the first assessor's label before."""
    rows = re.findall(r"^\| (\d+)/(\w+-\d+) \| (\d) \|", demo.datasheet(), re.MULTILINE)
    return {(qid, docno): int(label) for qid, docno, label in rows}


def kappa(one: ArrayLike, other: ArrayLike) -> float:
    """Return Cohen's kappa of two lists of labels."""
    x, y = np.asarray(one), np.asarray(other)
    expected = sum((x == label).mean() * (y == label).mean() for label in np.union1d(x, y))
    return float(((x == y).mean() - expected) / (1 - expected))


def of_words(demo: DemoDataset) -> Iterator[str]:
    """Yield how many relevant documents share no word with the query, and how many others share half of them."""
    texts = {doc["docno"]: stems(f"{doc['title']} {doc['text']}") for doc in demo.documents()}
    queries = {qid: stems(query) for qid, query in demo.get_topics().to_numpy()}
    frame = demo.get_qrels("complete")
    frame["shared"] = [len(queries[q] & texts[d]) for q, d in zip(frame["qid"], frame["docno"], strict=True)]
    relevant = frame[frame["label"] > 0]
    by_topic = (relevant["shared"] == 0).groupby(relevant["qid"]).mean()
    yield (
        f"{(relevant['shared'] == 0).mean():.1%} of the relevant pairs share no content word with the query: "
        f"{by_topic.min():.0%} at least, and {by_topic.max():.0%} at most, in every topic that has any"
    )
    yield f"{len(STOP)} frequent words left aside"
    half = frame["qid"].map(lambda qid: (len(queries[qid]) + 1) // 2)
    misses = frame[(frame["label"] == 0) & (frame["shared"] >= half)].groupby("qid").size()
    misses = misses.reindex(list(queries), fill_value=0)
    yield f"{misses.min()} to {misses.max()} documents a topic that are not relevant share at least half of the words"


def stems(text: str) -> set[str]:
    """Return content words cut to their first five letters, a generous idea of "the same word"."""
    return {word[:5] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP}


def of_runs(demo: DemoDataset) -> Iterator[str]:
    """Yield how many runs there are, and how alike the lexical ones with short queries."""
    runs = demo.get_runs()
    shortest, longest = runs.field.lengths.min(), runs.field.lengths.max()
    yield (
        f"{len(runs)} runs of {len(runs.teams)} teams and {len(runs.types)} types, at most {longest} documents a topic "
        f"each (at least {shortest})"
    )
    yield f"{int(runs.pooled.sum())} of them count as pooled"
    alike = ("quarry-bm25-stem", "quarry-dph", "quarry-qld", "ridge-bm25", "ridge-hiemstra")
    overlaps = [overlap(runs, one, other) for one, other in combinations(alike, 2)]
    yield f"two of these five share {min(overlaps):.2f} to {max(overlaps):.2f} of their top ten"


def overlap(runs: ptr.RunSet, one: str, other: str) -> float:
    """Return how many documents two runs share in their top ten, of ten, averaged over the topics."""
    tops = [runs[name][runs[name]["rank"] < 10].groupby("qid")["docno"].agg(set) for name in (one, other)]
    return float(np.mean([len(a & b) / 10 for a, b in zip(*tops, strict=True)]))


def missing_from(datasheet: str, said: list[str]) -> list[str]:
    """Return the sentences that a datasheet does not have, whatever its line breaks."""
    text = " ".join(datasheet.replace("|", " ").replace("`", "").split())
    return [sentence for sentence in said if sentence not in text]


if __name__ == "__main__":
    dataset = pt.get_dataset("reuse:demo")
    every = list(sentences(dataset))
    wrong = missing_from(dataset.datasheet(), every)
    for line in every:
        print(f"{'NOT IN THE DATASHEET: ' if line in wrong else ''}{line}")
    sys.exit(bool(wrong))
