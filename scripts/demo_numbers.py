"""Print every number of the demo collection's datasheet, computed from its files.

Each line is a sentence as it must stand in DATASHEET.md; one that does not is marked, and the exit code is 1.
"""

import re
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pyterrier as pt

#: words that say nothing of what a text is about
FREQUENT = (
    "a an the of in on at for to and or with by from as is are was were be been it its this that these those what "
    "which who how why when where do does did can could should would will may might not no than then so if into about "
    "over under my your their his her our"
)
STOP = frozenset(FREQUENT.split())
#: runs that are lexical, with short queries
ALIKE = ("quarry-bm25-stem", "quarry-dph", "quarry-qld", "ridge-bm25", "ridge-hiemstra")


def sentences(demo):
    """Yield what the datasheet says in numbers."""
    documents, topics = pd.DataFrame(demo.documents()), demo.get_topics()
    words, asked = (texts.str.split().str.len() for texts in (documents["text"], topics["query"]))
    (each,) = set(documents["source"].value_counts())
    yield f"{len(documents)} documents of {words.min()} to {words.max()} words with a title, {each} from each of three"
    yield f"{len(topics)} topics, each with a query of {asked.min()} to {asked.max()} words"

    complete, pool = demo.get_qrels("complete"), demo.get_qrels()
    relevant = complete[complete["label"] > 0]
    by_topic, (n_2, n_1) = relevant.groupby("qid").size(), ((relevant["label"] == label).sum() for label in (2, 1))
    (empty,) = set(complete["qid"]) - set(by_topic.index)
    queries = dict(topics.to_numpy())
    least, most = by_topic.min(), by_topic.max()
    yield f'Topic {empty}, "{queries[empty]}", has no relevant document; the others have {least} to {most}'
    yield f"{len(relevant)} relevant pairs ({n_2} of label 2, {n_1} of label 1)"
    found, n = (pool["label"] > 0).sum(), len(relevant)
    of_pool = f"{len(pool)} pairs, {found} of them relevant: {found / n:.1%} of all relevant pairs"
    yield f"{of_pool}, so that {n - found} are unjudged"
    yield from of_assessors(demo)

    texts = {doc["docno"]: stems(f"{doc['title']} {doc['text']}") for doc in demo.documents()}
    queries, pairs = {qid: stems(query) for qid, query in queries.items()}, complete[["qid", "docno"]].to_numpy()
    shared = complete.assign(shared=[len(queries[qid] & texts[docno]) for qid, docno in pairs])
    unlike = shared[shared["label"] > 0].assign(none=lambda rows: rows["shared"] == 0)
    none, share = unlike.groupby("qid")["none"].mean(), unlike["none"].mean()
    ends = f"{none.min():.0%} at least, and {none.max():.0%} at most, in every topic that has any"
    yield f"{share:.1%} of the relevant pairs share no content word with the query: {ends}"
    yield f"{len(STOP)} frequent words left aside"
    half = shared["qid"].map(lambda qid: (len(queries[qid]) + 1) // 2)
    misses = shared[(shared["label"] == 0) & (shared["shared"] >= half)].groupby("qid").size()
    misses = misses.reindex(list(queries), fill_value=0)
    yield f"{misses.min()} to {misses.max()} documents a topic that are not relevant share at least half of the words"

    runs = demo.get_runs()
    lengths, said = runs.field.lengths, f"{len(runs)} runs of {len(runs.teams)} teams and {len(runs.types)} types"
    yield f"{said}, at most {lengths.max()} documents a topic each (at least {lengths.min()})"
    yield f"{int(runs.pooled.sum())} of them count as pooled"
    tops = [runs[name][runs[name]["rank"] < 10].groupby("qid")["docno"].agg(set) for name in ALIKE]
    overlaps = [np.mean([len(a & b) / 10 for a, b in zip(*two, strict=True)]) for two in combinations(tops, 2)]
    yield f"two of these five share {min(overlaps):.2f} to {max(overlaps):.2f} of their top ten"


def of_assessors(demo):
    """Yield how far the assessors agree, on the pairs that all of them saw."""
    columns = [demo.get_qrels(name).set_index(["qid", "docno"])["label"] for name in ("complete", "second", "third")]
    labels = pd.concat(columns, axis=1, join="inner", keys=["first", "second", "third"])
    yield f"{len(labels):,} pairs each"
    before = labels.copy()
    for qid, docno, label in re.findall(r"^\| (\d+)/(\w+-\d+) \| (\d) \|", demo.datasheet(), re.MULTILINE):
        before.loc[(qid, docno), "first"] = int(label)
    for when, given in (("", labels), ("before the review, ", before)):
        for name, of in (("all", given), ("relevant", given[(given > 0).any(axis=1)])):
            row = ", ".join(f"{kappa(of[one], of[other]):.3f}" for one, other in combinations(of, 2))
            yield f"{when}{name} {len(of):,}: {row}"
    yield f"The three differ on {(labels.max(axis=1) > labels.min(axis=1)).sum()} pairs"


def kappa(one, other):
    """Return Cohen's kappa of two lists of labels."""
    expected = sum((one == label).mean() * (other == label).mean() for label in np.union1d(one, other))
    return ((one == other).mean() - expected) / (1 - expected)


def stems(text):
    """Return content words cut to their first five letters, a generous idea of "the same word"."""
    return {word[:5] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP}


def missing_from(datasheet, said):
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
