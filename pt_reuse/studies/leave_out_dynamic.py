"""leave_out_dynamic: teams left out where a classifier goes on judging after the pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, flag, whole
from pt_reuse._errors import Call, Option, warn, wrong
from pt_reuse._jobs import run_jobs
from pt_reuse._report import Digits
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.continuous import TopicJudging, check_queries, places_of, queries_of
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.judges import as_judge
from pt_reuse.judging.protocols import Protocol
from pt_reuse.judging.scorers import Scorer, TfIdf, checked_corpus
from pt_reuse.judging.session import Judged
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.options import Parameter
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.fit import MOSTLY, PoolFit
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import KeyFigures, Shown, View
from pt_reuse.scoring.caveats import (
    UNPOOLED,
    Caveat,
    alone,
    few_topics,
    none_relevant,
    not_pooled,
    noted,
    tell,
)
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import scores_of
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.leave_out_uniques import BY
from pt_reuse.studies.without_units import (
    OF_FIELD,
    OF_MEASURE,
    OF_SUMMARY,
    UNIT,
    WithoutUnits,
    count_uniques,
    draw_scores,
    interval_words,
    score_sets,
    without_units,
)
from pt_reuse.study import Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


def _draw(result: DynamicUniques, measure: str, place: Place, view: str = "scores", by: str | None = None) -> Axes:
    """Draw each run's score under LOU-FULL against its score when judged without its own unit."""
    unit = result.units.by
    whose = "it" if unit == "run" else f"its {unit}"
    said = "LOU-FULL", f"judged without {whose}", f"Runs judged without their {unit}, dynamically"
    return draw_scores(result, measure, place, view, by, said=said)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DynamicUniques(WithoutUnits):
    """What leaving each unit out of a pool does to every run where a classifier judges on after the pool.

    The first scores are those under *LOU-FULL*: the pool of all contributors and one batch that the classifier chose.

    Its figure has a point per run: its score under LOU-FULL against the one when judged without its own unit; ``view=``
    ``"scores"`` (default), the ``"change"`` of the score, or ``"percent"`` of it (figure 3 of the paper); ``by=`` gives
    colour and marker.

    Attributes:
        table: one row per left-out unit and measure, the whole field re-ranked under the judgments made without the
            unit: the columns of ``LeaveOutUniques.table``; ``removed`` counts judged documents of LOU-FULL that
            are not judged without the unit.
        by_run: one row per run and measure, the run under the judgments made without its own unit: the columns of
            ``LeaveOutUniques.by_run``.
        summary: one row per measure, the columns of ``LeaveOutUniques.summary``. All three have the ends of
            intervals where these were asked for.
        unique_counts: one row per unit: its ``runs``, those ``contributing``, the judged documents that it alone
            contributed, ``unique unique_relevant unique_nonrelevant``; ``found_again``, how many of its unique relevant
            documents the classifier chose without it; ``relevant``, how many documents of its judgments are so.
        topics: one row per topic: ``qid judged pooled`` and ``chosen``, by the classifier in LOU-FULL; ``relevant``, in
            LOU-FULL, ``chosen_relevant``, of those chosen; ``unlabelled``, chosen documents without a label, which
            count as not relevant; ``units``, how many have a unique relevant document there and so judgments of their
            own.
        scores: the runs under LOU-FULL.
        own_scores: each run under the judgments made without its own unit.
        reduced: (measures, units, runs) means of all runs under the judgments made without each unit.
        units: the left-out units: ``.names`` and, for each run, its unit among them (``.of_run``).
        depth: the pool's.
        rel: the lowest label that counts as relevant.
    """

    title = "Leave-out-uniques, judged dynamically"
    condition = (
        "It holds for these {compared}, judgments of the depth-{depth} pool and what the classifier {scorer} chose, "
        "contributors: {contributors}; a chosen document without a label: {chosen without a label}; relevant: "
        "{relevant}."
    )
    limit = "It does not say what another classifier would choose, nor what a system unlike all of these would lose."
    views = {
        "measure": View(
            table="summary",
            columns=OF_MEASURE,
            caption="Leave-out-uniques by {by} under dynamic judging: the runs each judged without their own {by}, the "
            "first drop where the runs of one {by} alone are, and the whole field without each {by}, against LOU-FULL.",
            noun="measures",
        ),
        "unit": View(
            table="of_units",
            columns=(
                *UNIT,
                Shown("Relevant uniques", "unique_relevant", Digits.COUNT),
                Shown("Found again", "found_again", Digits.COUNT, unless="tau_b_low"),
                *OF_FIELD,
            ),
            caption="Leave-out-uniques by {by} under dynamic judging and {measure}: the runs judged without each {by}, "
            "against LOU-FULL.",
            noun="units",
        ),
    }
    plots = {"scores": _draw}
    key = (OF_SUMMARY, KeyFigures(("unique_relevant", "found_again", "chosen", "unlabelled"), "counts"))
    sentences = {
        "scorer": "LOU-FULL is the depth-{depth} pool and what the classifier {scorer} chose; a chosen document "
        "without a label: {chosen without a label}."
    }

    topics: pd.DataFrame

    def of_units(self) -> pd.DataFrame:
        """Return the table with how many of its unique relevant documents the classifier chose without each unit."""
        return self.table.merge(
            self.unique_counts[[self.units.column, "found_again"]], on=self.units.column, sort=False
        )

    def counts(self) -> pd.DataFrame:
        """Return in a row how many relevant uniques there are and were found again, and what the classifier chose."""
        sums = {"unique_relevant": self.unique_counts, "found_again": self.unique_counts}
        sums |= {"chosen": self.topics, "unlabelled": self.topics}
        return pd.DataFrame({name: [frame[name].sum()] for name, frame in sums.items()})

    def words(self) -> dict[str, Any]:
        """Return what captions, notes and the verdict speak of; each run is without all that its unit brought in."""
        return {**super().words(), "own": "itself" if self.units.by == "run" else f"its own {self.units.by}"}

    def _further(self) -> list[str]:
        """Return how many of the unique relevant documents the classifier found without their units."""
        again, unique = (int(self.unique_counts[name].sum()) for name in ("found_again", "unique_relevant"))
        return [f"{again:,} of {count(unique, 'relevant unique')} found again."]


@study(
    BY,
    Parameter(
        name="corpus",
        meaning="the documents, one dict each with ``docno`` and ``text``, or a frame with these columns, or a "
        ":class:`~pt_reuse.judging.Scorer`, as of :func:`~pt_reuse.judging.judge_continuously`.",
        check=checked_corpus,
    ),
    Parameter(name="topics", meaning="a frame with ``qid`` and ``query``."),
    Parameter(
        name="judge",
        meaning="who labels chosen documents that have no label in `qrels`: a Judge, a function, or judgments in any "
        "form. Default nobody: they count as not relevant, and ``.topics`` count them.",
        check=as_judge,
    ),
    Parameter(
        name="query_seed",
        meaning="whether the query is one of the relevant examples from which the classifier learns.",
        check=partial(flag, "query_seed"),
    ),
    Parameter(
        name="presumed_negatives",
        meaning="documents drawn at random from which it learns as if they were not relevant.",
        check=lambda value: whole("presumed_negatives", value, "documents", least=0),
    ),
    entry=Entry(
        question="What does a team lose if a classifier chose documents to judge?",
        group="pools",
        page="leave-out-uniques",
        papers="[V22b]_",
    ),
)
def leave_out_dynamic(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None,
    corpus: Any,
    topics: pd.DataFrame,
    *,
    by: str = "team",
    depth: int | None = None,
    judge: Any = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    query_seed: bool = True,
    presumed_negatives: int = 100,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    resamples: int = 0,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> DynamicUniques:
    """Leave each team out and judge again, if a classifier continued judging after the pool.

    *LOU-FULL* represents the judgments: for each topic the judged documents of the depth-k pool of all contributors,
    and one batch chosen by a classifier trained on them, so large that there are as many judgments as in `qrels`. The
    same is done without each team: the pool of the others, and one batch up to the same number. On a topic where a team
    has no unique relevant document, the judgments are those of LOU-FULL. So the classifier may find documents that only
    the left-out team had, and further ones.

    The classifier chooses among all documents of `corpus`. If these are only the judged ones, it chooses them all,
    whichever team is left out.

    Returns:
        DynamicUniques: ``.summary``, ``.table`` (per unit), ``.by_run``, ``.unique_counts``, ``.topics``, ``.plot()``.

    Raises:
        InputError: runs without a type or family, a judged topic that is not among the topics, an unknown
            measure, run or option; scikit-learn is not installed.

    Warns:
        ReuseWarning: most documents that the classifier chose have no label; most of the pool has no judgment; pooled
            documents that the corpus lacks, from which it does not learn; a corpus with too few documents; no relevant
            judgment; intervals over fewer than five topics. Also contributing runs of only one unit (`by`), and a field
            of one run.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7, n_topics=5)
        >>> docnos = sorted(set(field.all_qrels.to_frame()["docno"]))
        >>> words = [{"docno": docno, "text": f"word{n % 7} word{n % 11}"} for n, docno in enumerate(docnos)]
        >>> topics = pd.DataFrame({"qid": field.qrels.topics, "query": "word1 word2"})
        >>> judge = ptr.judging.Oracle(field.all_qrels, unknown="not relevant")
        >>> found = leave_out_dynamic(field.runs, field.qrels, "AP", words, topics, depth=5, judge=judge)
        >>> found.topics[["judged", "pooled", "chosen"]].sum().tolist()
        [174, 87, 87]

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR, section 3
    and figure 3; their judgments and texts are not public. That chosen documents without a label count as not relevant
    is this library's choice.
    """
    asked = Asked(leave_out_dynamic, locals())
    judge, scorer = asked["judge"], asked["corpus"]
    protocol = Protocol(batch=1, topic_budget=1, query_seed=query_seed, presumed_negatives=asked["presumed_negatives"])
    told_of, queries = TopicTexts(topics), queries_of(topics)
    if query_seed:
        check_queries(queries, scorer)
    units, _ = asked.units("by"), asked.contributors
    field, people, measured, lowest = asked.runs, asked.qrels, asked.measures, asked.rel
    _check_topics_given(people, queries)

    pool = pool_to_depth(asked.ranked, asked.depth.value, asked.contributors)
    rows = people.arrays.documents.find(pool.documents)
    judged = (rows >= 0) & (np.append(people.arrays.labels, UNJUDGED)[rows] >= 0)
    sole, contributing = pool.sole(by)
    owner = np.append(units.positions(contributing.names), -1)[sole]
    scorer = scorer if isinstance(scorer, Scorer) else TfIdf(scorer, keep_text=judge is not None)
    pooled = list(_pooled_topics(people, pool, rows, judged, owner, lowest))
    chosen = _chosen(pooled, queries, scorer, protocol, asked)
    made = _labelled(people, pooled, chosen, judge, told_of, None if judge is None else scorer.texts)
    unpooled = list(not_pooled(units, asked.contributors.runs))
    tell(unpooled)
    asked.tell(
        alone(units, asked.contributors.runs),
        PoolFit.of(pool, people, judged, depth=asked.depth.value).of_pool(),
        none_relevant(people, lowest),
        _caveats(made),
        few_topics(len(people.topics)) if asked.bootstrap else (),
    )

    n = len(units)
    base, changes = _judgments(people, made, n)
    blocks = rescore(field, base, measured, changes, verbose=verbose)
    # the set after those of the units is LOU-FULL
    sets: dict[str, Any] = {"alone": (n,), "n_sets": n + 1, "with_cells": asked.bootstrap is not None}
    scored = score_sets(blocks, field, base, measured, units, complete=complete, **sets)
    scores = scores_of(field, base, measured, scored.alone[0], complete=complete)
    scores = replace(scores, settings={**scores.settings, "judgments": "LOU-FULL"})
    unique = judged & (owner >= 0)
    relevant = people.arrays.labels[rows[unique]] >= lowest
    counts = count_uniques(units, asked.contributors.runs, owner[unique], relevant)
    lost, found_again, now_relevant = _of_units(made, n, lowest)
    parts = without_units(
        asked,
        units,
        scores,
        scored,
        judgments=f"made without the run's own {by}, depth {asked.depth.value}",
        counts=counts.assign(found_again=found_again, relevant=now_relevant),
        removed=lost,
    )
    return DynamicUniques(
        **parts,
        topics=_topic_table(made, lowest),
        settings=asked.settings(
            by=by,
            scorer=type(scorer).__name__,
            query_is_an_example=query_seed,
            presumed_not_relevant=protocol.presumed_negatives,
            chosen_without_a_label="not relevant" if judge is None else "asked of the judge, else not relevant",
            seed=asked["seed"],
            **noted(unpooled, UNPOOLED),
            **interval_words(asked),
        ),
    )


@dataclass(frozen=True)
class _PooledTopic:
    """The judged documents of a topic that contributors pooled."""

    qid: str
    docnos: NDArray[np.object_]  # (documents,) their names
    labels: NDArray[np.int64]  # (documents,) their labels
    sole: NDArray[np.int64]  # (documents,) the unit that alone contributed each, -1 where there are several
    judged: int  # how many documents of the topic are judged in all
    losers: list[int]  # the units that alone contributed a relevant document, ascending

    def pools(self) -> list[tuple[list[str], list[int]]]:
        """Return documents and labels of the pool of all, and then of that without the uniques of each loser."""
        kept = [np.ones(len(self.docnos), dtype=bool), *(self.sole != unit for unit in self.losers)]
        return [(self.docnos[some].tolist(), self.labels[some].tolist()) for some in kept]


def _pooled_topics(
    qrels: Qrels, pool: Pool, rows: NDArray[np.int64], judged: NDArray[np.bool_], owner: NDArray[np.int64], rel: int
) -> Iterator[_PooledTopic]:
    """Yield the judged documents of the pool, topic by topic of the judgments."""
    docnos, every = pool.documents.docnos(), qrels.arrays.labels
    n_judged = qrels.arrays.documents.counts(every >= 0).tolist()
    for qid, n in zip(qrels.topics, n_judged, strict=True):
        at = pool.documents.place.get(qid)
        mine = np.zeros(0, dtype=np.int64) if at is None else np.arange(*pool.documents.starts[at : at + 2])
        mine = mine[judged[mine]]
        labels, sole = every[rows[mine]].astype(np.int64), owner[mine]
        losers = np.unique(sole[(sole >= 0) & (labels >= rel)]).tolist()
        yield _PooledTopic(qid, docnos[mine], labels, sole, n, losers)


@dataclass(frozen=True)
class _Choosing:
    """The job of a topic: what the classifier chooses, which learns from the labels of each of its pools."""

    topic: _PooledTopic
    query: str | None
    places: Mapping[str, int]
    scorer: Scorer
    protocol: Protocol
    seed: int
    rel: int

    def run(self) -> list[tuple[str, ...]]:
        """Return for each pool the documents that make the judgments as many as they are."""
        return [self._batch(*pool) for pool in self.topic.pools()]

    def _batch(self, docnos: list[str], labels: list[int]) -> tuple[str, ...]:
        qid, batch = self.topic.qid, self.topic.judged - len(docnos)
        if not batch:
            return ()
        # made anew for each pool: the same seed, the same order of documents with equal scores
        topic = TopicJudging(qid, self.query, self.scorer, self.places, self.seed)
        pooled = [Judged(qid, docno, 1, "pool", "", label) for docno, label in zip(docnos, labels, strict=True)]
        if pooled:
            topic.learn(pooled, self.rel)
        return tuple(one.docno for one in topic.next_batch(self.protocol, min(batch, topic.left), 2))


def _chosen(
    pooled: Sequence[_PooledTopic],
    queries: Mapping[str, str | None],
    scorer: Scorer,
    protocol: Protocol,
    asked: Asked,
) -> list[list[tuple[str, ...]]]:
    """Return for each topic what is chosen after the pool of all, and after that without each unit that loses there."""
    places = places_of(scorer, [topic.qid for topic in pooled])
    n = sum(len(topic.docnos) for topic in pooled)
    strangers = [docno for topic in pooled for docno in topic.docnos.tolist() if docno not in places[topic.qid]]
    if strangers:
        warn(
            f"{count(len(strangers), 'pooled document')} of {n:,} not among the documents of the scorer, such as "
            f"{examples(list(dict.fromkeys(strangers))[:3])}. They are judged, and teach it nothing. Has it the whole "
            "corpus?"
        )
    jobs = [
        _Choosing(topic, queries.get(topic.qid), places[topic.qid], scorer, protocol, asked["seed"], asked.rel)
        for topic in pooled
    ]
    return list(run_jobs(jobs, len(jobs), desc="judging", unit="topic", **asked.how))


@dataclass(frozen=True)
class _MadeTopic:
    """The documents that are judged of a topic, with all contributors (LOU-FULL) and without each unit."""

    pooled: _PooledTopic
    chosen: list[tuple[str, ...]]  # in LOU-FULL, and then without each of its losers
    labels: dict[str, int]  # of every document that is pooled or ever chosen; 0 where nobody gave one
    unlabelled: int  # how many that are chosen in LOU-FULL have none
    sets: list[set[str]]  # the documents that are judged in LOU-FULL, and then without each of its losers


def _labelled(
    qrels: Qrels,
    pooled: Sequence[_PooledTopic],
    chosen: Sequence[list[tuple[str, ...]]],
    judge: Judge | None,
    told_of: TopicTexts,
    texts: Mapping[str, str] | None,
) -> list[_MadeTopic]:
    """Find the label of every document: in the judgments, else of the judge, else 0."""
    documents, labels = qrels.arrays.documents, qrels.arrays.labels
    triples = zip(documents.qids(), documents.docnos(), labels.tolist(), strict=True)
    known = {(qid, docno): label for qid, docno, label in triples if label >= 0}
    pairs = [(topic.qid, d) for topic, batches in zip(pooled, chosen, strict=True) for b in batches for d in b]
    missing = [pair for pair in dict.fromkeys(pairs) if pair not in known]
    if judge is not None and missing:
        known |= _said(judge, missing, told_of, texts)
    made = []
    for topic, batches in zip(pooled, chosen, strict=True):
        of_pool = dict(zip(topic.docnos.tolist(), topic.labels.tolist(), strict=True))
        of_chosen = {docno: known.get((topic.qid, docno), 0) for batch in batches for docno in batch}
        unlabelled = sum((topic.qid, docno) not in known for docno in batches[0])
        sets = [{*docnos, *batch} for (docnos, _), batch in zip(topic.pools(), batches, strict=True)]
        made.append(_MadeTopic(topic, batches, of_pool | of_chosen, unlabelled, sets))
    return made


def _said(
    judge: Judge, pairs: Sequence[tuple[str, str]], told_of: TopicTexts, texts: Mapping[str, str] | None
) -> dict[tuple[str, str], int]:
    """Return the labels that a judge gives to documents; those to which it gives none, or one below 0, are left out."""
    frame = told_of.beside(pd.DataFrame(pairs, columns=["qid", "docno"], dtype=object))
    if texts is not None:
        frame["text"] = pd.Series([texts.get(docno) for _, docno in pairs], dtype=object)
    said: Any = judge.transform(frame)["label"]
    return {pair: int(label) for pair, label in zip(pairs, said, strict=True) if not pd.isna(label) and int(label) >= 0}


def _judgments(qrels: Qrels, made: Sequence[_MadeTopic], n_units: int) -> tuple[Qrels, Changes]:
    """Return all documents with their labels, and the sets: that without each unit, then LOU-FULL."""
    rows = [(topic.pooled.qid, docno, label) for topic in made for docno, label in topic.labels.items()]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    base = Qrels(frame, topics=qrels.topics, rel=qrels.stated_rel)
    in_set, gone = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for topic, start in zip(made, base.arrays.documents.starts[:-1].tolist(), strict=True):
        full, *without = (
            start + np.flatnonzero([docno not in judged for docno in topic.labels]) for judged in topic.sets
        )
        own = dict(zip(topic.pooled.losers, without, strict=True))
        for number in range(n_units + 1):
            gone.append(own.get(number, full))
            in_set.append(np.full(len(gone[-1]), number))
    row = np.concatenate(gone)
    return base, Changes(n_units + 1, np.concatenate(in_set), row, np.full(len(row), UNJUDGED))


def _of_units(made: Sequence[_MadeTopic], n_units: int, rel: int) -> NDArray[np.int64]:
    """Return three numbers of each unit, (3, units).

    How many documents of LOU-FULL are not judged without it, how many of its unique relevant documents are chosen
    without it, and how many relevant documents the judgments made without it have.
    """
    found = np.zeros((3, n_units), dtype=np.int64)
    lost, again, relevant = found
    for topic in made:
        pooled, full = topic.pooled, topic.sets[0]
        of_full = sum(topic.labels[docno] >= rel for docno in full)
        relevant += of_full
        for unit, judged, batch in zip(pooled.losers, topic.sets[1:], topic.chosen[1:], strict=True):
            mine = pooled.docnos[(pooled.sole == unit) & (pooled.labels >= rel)].tolist()
            lost[unit] += len(full - judged)
            again[unit] += len({*mine} & {*batch})
            relevant[unit] += sum(topic.labels[docno] >= rel for docno in judged) - of_full
    return found


def _topic_table(made: Sequence[_MadeTopic], rel: int) -> pd.DataFrame:
    """Return one row per topic, see ``DynamicUniques.topics``."""
    rows = []
    for topic in made:
        pooled, chosen = topic.pooled, topic.chosen[0]
        new = sum(topic.labels[docno] >= rel for docno in chosen)
        rows.append(
            {
                "qid": pooled.qid,
                "judged": pooled.judged,
                "pooled": len(pooled.docnos),
                "chosen": len(chosen),
                "relevant": int((pooled.labels >= rel).sum()) + new,
                "chosen_relevant": new,
                "unlabelled": topic.unlabelled,
                "units": len(pooled.losers),
            }
        )
    return pd.DataFrame(rows)


def _caveats(made: Sequence[_MadeTopic]) -> Iterator[Caveat]:
    """Yield a caveat where most of what was chosen after the pool of all has no label, and where a corpus ended."""
    chosen, without = sum(len(topic.chosen[0]) for topic in made), sum(topic.unlabelled for topic in made)
    if without > MOSTLY * chosen:
        yield Caveat(
            f"{without / chosen:.0%} of what the classifier chose has no label",
            (
                f"{without:,} of {count(chosen, 'document')} that the classifier chose after the pool of all "
                "contributors have no label, and count as not relevant: the judgments were not found by such a "
                "classifier, and what it would find is not known. ",
                Option("judge", ...),
                " may label them.",
            ),
        )
    short = sum(min(map(len, topic.sets)) < topic.pooled.judged for topic in made)
    if short:
        yield Caveat(
            f"the corpus ended on {count(short, 'topic')}",
            (
                f"on {count(short, 'topic')} of {len(made):,} the corpus ended before there were as many judgments "
                "as there are in qrels, with all contributors or without some of them. So what is lost there is not "
                "made up for. Has the scorer the whole corpus?",
            ),
        )


def _check_topics_given(qrels: Qrels, queries: Mapping[str, str | None]) -> None:
    """Raise where a judged topic is not among the topics of which a classifier is told."""
    judged = qrels.arrays.documents.sizes
    lacking = [qid for qid, n in zip(qrels.topics, judged.tolist(), strict=True) if n and qid not in queries]
    if lacking:
        raise wrong(
            "topics",
            f" lack {count(len(lacking), 'judged topic')}: {examples(lacking)}. Give every topic of the judgments, or ",
            Call("Qrels.select", "topics"),
            " judgments of those that you give.",
        )
