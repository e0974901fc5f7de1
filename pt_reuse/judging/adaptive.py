"""Adaptive judging: a strategy says which document is next, a judge gives its label, and the strategy learns it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from os import PathLike
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import checked_seed, count, flag, positive
from pt_reuse._errors import door, warn
from pt_reuse.judging.asking import Asked, Asking
from pt_reuse.judging.budget import Budget
from pt_reuse.judging.field_mark import FieldMark
from pt_reuse.judging.given import as_judge
from pt_reuse.judging.session import Session, Terms, checked_folder, open_session
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.judging.turns import TopicTurns, turn_by_turn
from pt_reuse.judging.verdicts import qrels_of
from pt_reuse.pooling.adaptive.lists import topic_lists
from pt_reuse.pooling.adaptive.strategy import as_strategy
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import checked_depth, depth_of
from pt_reuse.qrels.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.runs.given import as_runs


@door
def judge_adaptively(
    runs: Any,
    strategy: Any,
    judge: Any,
    *,
    budget: int | float | None = None,
    total: int | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
    rel: int | None = None,
    known: Any = None,
    topics: pd.DataFrame | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    session: str | PathLike[str] | None = None,
    verbose: bool = False,
) -> Qrels:
    """Have documents judged that a strategy chooses, each in the light of the labels before it.

    Topics take turns: each round asks the judge about one document of every topic that has budget and documents left.
    A budget counts labels: a document to which the judge gives none costs nothing and is not asked about again; its
    topic is asked about another one before the next round. So each budget is a prefix: the judgments of a smaller one
    are the first of a larger one.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        strategy: what chooses: the name of a strategy, a Strategy, or a subclass of Chooser.
        judge: who gives labels: a Judge, a pipeline that ends in one, a function of a frame, or judgments in any form,
            in which labels are looked up.
        budget: labels of each topic: a whole number (0 or more), or a share of all documents of the topic's pool as a
            float from 0.0 to 1.0, rounded to the nearest whole number, halves up. ``1`` is one label, ``1.0`` as many
            as the pool has documents. None (default): the whole pool.
        total: labels in all; the last round may be of the first topics alone. None: no such bound.
        depth: documents per run and topic that can be chosen; default as in :func:`depth_pool`.
        contributors: which runs count, as in :func:`depth_pool`.
        order: the order in which the runs are pooled, as in :func:`depth_pool`.
        rel: the lowest label that a strategy takes for relevant; default what the judge says of itself, else 1.
        known: judgments that are there already, in any form. When the strategy chooses a document with such a label (0
            or more), it is told the label at once: the judge is not asked, and it costs nothing. They are not in what
            is returned: ``known | new`` has both.
        topics: a frame with ``qid`` and what the judge reads of a topic, such as ``query``.
        batch_size: documents per call of the judge. None (default): all of a round, as suits a model. 1 suits a person:
            each answer is kept before the next document is shown.
        seed: decides all that is random; the same judgments in every process.
        session: a folder that keeps each answer as soon as the judge has given it. The same call goes on where the last
            one was stopped, however that ended, and ends as if it had not been. The budget may be another one.
        verbose: show a progress bar.

    Returns:
        Qrels: what the judge said, of each topic in the order of asking, with the columns ``judge time strategy round
        reason``; ``round`` says the how manieth label of its topic one is. The topic set is the field's. Documents to
        which the judge gives no label are left out, with a warning that counts them. A label below 0 (not judged, junk)
        stays, but it costs nothing and teaches nothing, like none.

    Raises:
        InputError: an argument that cannot be used; a judge that returns something else than labels; a session of
            another field, begun otherwise, written in another format, or open elsewhere.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d4"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True)
        >>> qrels = {"1": {"d1": 1, "d2": 1, "d3": 0, "d4": 0}}
        >>> ptr.judge_adaptively(runs, "mtf", qrels, budget=3, seed=1)
        Qrels: 1 topic, 3 judgments, 2 relevant (labels 0: 1, 1: 2)
    """
    chosen, asked = as_strategy(strategy), as_judge(judge)
    limits, folder = Budget.checked(budget, total), checked_folder(session)
    texts, seed, verbose = TopicTexts(topics), checked_seed(seed), flag("verbose", verbose)
    lowest = checked_rel(rel)
    rel = lowest if lowest is not None else asked.rel
    if batch_size is not None:
        positive("batch_size", batch_size, "documents per call")
    if depth is not None:
        checked_depth(depth)
    known_labels = _by_topic(known)
    runs = as_runs(runs)
    to_depth = depth_of(runs, depth).value
    ranked = runs.in_pool_order(order)
    lists = list(topic_lists(ranked, to_depth, contributors_of(runs, contributors).runs))
    texts.check([one.qid for one in lists])
    terms = Terms(
        FieldMark.of(lists),
        {
            "strategy": chosen.name,
            "seed": seed,
            "depth": to_depth,
            "order": ranked.order,
            "rel": rel or 1,
            "known": _mark(known_labels),
        },
    )
    with open_session(folder, "session of adaptive judging", terms) as kept:
        turns = [
            TopicTurns(
                chosen.start(one, seed),
                limits.of_pool(len(one)),
                rel=rel or 1,
                known=known_labels.get(one.qid, {}),
                kept=kept.answers.get(one.qid, ()),
            )
            for one in lists
        ]
        with pt.tqdm(total=_most(turns, limits), desc="judging", unit="d", disable=not verbose) as bar:
            for now in turn_by_turn(turns, limits.total):
                for n in _judge(now, Asking(asked, texts, batch_size), kept):
                    bar.update(n)
    answers = [answer for topic in turns for answer in topic.answers]
    without = sum(answer.label is None for answer in answers)
    if without:
        warn(f"{count(without, 'document')} of {len(answers):,} without a label, left out; no budget is spent on them.")
    return qrels_of(answers, chosen.name, [one.qid for one in lists], rel)


def _judge(now: Sequence[tuple[TopicTurns, Asked]], asking: Asking, session: Session) -> Iterator[int]:
    """Have one document of each topic judged and learnt; yield how many labels there are, batch by batch."""
    open_questions: list[Asked] = []
    n_kept = 0
    for topic, asked in now:
        kept = topic.kept_answer(asked)
        if kept is None:
            open_questions.append(asked)
        else:
            topic.learn(kept)
            n_kept += kept.has_label
    yield n_kept
    topics = {topic.qid: topic for topic, _ in now}
    for answers in asking.answers(open_questions):
        session.keep(answers)
        for answer in answers:
            topics[answer.qid].learn(answer)
        yield sum(answer.has_label for answer in answers)


def _most(turns: Sequence[TopicTurns], limits: Budget) -> int:
    of_topics = sum(topic.most for topic in turns)
    return of_topics if limits.total is None else min(of_topics, limits.total)


def _by_topic(known: Any) -> dict[str, dict[str, int]]:
    """Return topic -> document -> label of judgments, of those that are judged: label 0 or more."""
    found: dict[str, dict[str, int]] = {}
    if known is not None:
        frame = as_qrels(known, "known").to_frame()
        for qid, docno, label in frame.loc[frame["label"] >= 0, ["qid", "docno", "label"]].itertuples(index=False):
            found.setdefault(qid, {})[docno] = label
    return found


def _mark(known: Mapping[str, Mapping[str, int]]) -> str:
    """Return by what known judgments are known again."""
    if not known:
        return "none"
    text = json.dumps({qid: dict(known[qid]) for qid in sorted(known)}, sort_keys=True)
    return f"{count(sum(map(len, known.values())), 'judgment')}, {blake2b(text.encode(), digest_size=8).hexdigest()}"
