"""leave_out_dynamic: teams left out where a classifier goes on judging after the pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays.kernels import UNJUDGED, Changes
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import count
from pt_reuse.inputs import Inputs, interval_settings, settings_of
from pt_reuse.judge import Judge, as_judge
from pt_reuse.judging.continuous import TopicJudging, check_queries, warn_of_strangers
from pt_reuse.judging.protocols import Protocol
from pt_reuse.judging.session import Judged
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.fit import MOSTLY, PoolFit
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.scorers import Scorer, TfIdf, checked_corpus, places_of
from pt_reuse.scoring.caveats import UNPOOLED, Caveat, alone, beware, none_relevant, not_pooled, noted, tell
from pt_reuse.scoring.perturbed import PerturbedScores
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import scores_of
from pt_reuse.studies.leave_one_out import LeaveOneOutResult, count_uniques, draw_scores, leave_one_out
from pt_reuse.study import study

_TOPICS = "qid judged pooled chosen relevant chosen_relevant unlabelled units"


def _draw(result: DynamicUniques, measure: str, place: Place, view: str = "scores", by: str | None = None) -> Axes:
    """Draw each run's score under LOU-FULL against its score when judged without its own unit."""
    unit = result.units.by
    own = "it" if unit == "run" else f"its {unit}"
    titles = "LOU-FULL", f"judged without {own}", f"Runs judged without their {unit}, dynamically"
    return draw_scores(result, measure, place, view, by, said=titles)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DynamicUniques(LeaveOneOutResult):
    """What leaving each unit out of a pool does to every run where a classifier judges on after the pool.

    The first scores are those under *LOU-FULL*: the pool of all contributors and one batch that the classifier chose.
    """

    title = "Leave-out-uniques, judged dynamically"
    valid_for = (
        "{compared}; judgments of the depth-{depth} pool and what the classifier {scorer} chose; contributors: "
        "{contributors}; a chosen document without a label: {chosen without a label}; relevant: {relevant}."
    )
    not_covered = "what another classifier would choose, and systems unlike these."
    plots = {"scores": _draw}
    columns = f"""{LeaveOneOutResult.columns}
    found_again     | Found again     | count | unique relevant documents that the classifier chose without the unit
    pooled          | Pooled          | count | documents of its pool that are judged
    chosen          | Chosen          | count | documents that the classifier chose in LOU-FULL
    chosen_relevant | Chosen relevant | count | those of them that are relevant
    unlabelled      | Unlabelled      | count | chosen documents without a label, which count as not relevant
    units           | Units           | count | units with a unique relevant document, and so judgments of their own
    """

    unique_counts: Annotated[
        pd.DataFrame,
        Table(
            "unit, in order of appearance",
            "unit runs contributing unique unique_relevant unique_nonrelevant found_again relevant",
            report="unit runs unique unique_relevant found_again",
        ),
    ]
    topics: Annotated[pd.DataFrame, Table("topic", _TOPICS, noun="topics")]


@study(
    question="What does a team lose if a classifier chose documents to judge?",
    aim="fair",
    group="pools",
    page="leave-out-uniques",
    papers="[V22b]_",
)
def leave_out_dynamic(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures,
    corpus: Annotated[
        Any,
        options.Option(
            "the documents, one dict each with ``docno`` and ``text``, or a frame with these columns, or a "
            ":class:`~pt_reuse.judging.Scorer`, as of :func:`~pt_reuse.judging.judge_continuously`.",
            check=checked_corpus,
        ),
    ],
    topics: Annotated[pd.DataFrame, options.Option("a frame with ``qid`` and ``query``.")],
    *,
    by: options.Unit = "team",
    depth: options.Depth = None,
    judge: Annotated[
        Any,
        options.Option(
            "who labels chosen documents that have no label in `qrels`: a Judge, a function, or judgments in any form. "
            "Default nobody: they count as not relevant, and ``.topics`` count them.",
            check=as_judge,
        ),
    ] = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    seed: options.Seed = 0,
    complete: options.Complete = True,
    without_topics: options.WithoutTopics = "error",
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
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
        InputError: a judged topic that is not among the topics, runs without a type or family; no scikit-learn.

    Warns:
        ReuseWarning: most documents that the classifier chose have no label; most of the pool has no judgment; pooled
            documents that the corpus lacks; a corpus with too few documents.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_topics=5)
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
    protocol = Protocol(batch=1, topic_budget=1)
    texts = TopicTexts(topics)
    queries = texts.queries()
    check_queries(queries, corpus)
    inputs = Inputs.read(runs, qrels, measures, rel, complete=complete, without_topics=without_topics)
    people, lowest, units = inputs.qrels, inputs.rel, inputs.runs.units(by)
    texts.check([qid for qid, n in zip(people.topics, people.arrays.documents.sizes, strict=True) if n])

    pooling = inputs.pooled(depth, contributors, pool_order)
    contributed = pooling.contributors.runs
    pool = pool_to_depth(pooling.ranked, pooling.depth, pooling.contributors)
    rows = people.arrays.documents.find(pool.documents)
    judged = (rows >= 0) & (np.append(people.arrays.labels, UNJUDGED)[rows] >= 0)
    sole, contributing = pool.sole(by)
    owner = np.append(units.positions(contributing.names), -1)[sole]
    scorer = corpus if isinstance(corpus, Scorer) else TfIdf(corpus, keep_text=judge is not None)
    made = list(_pooled_topics(people, pool, rows, judged, owner, lowest))
    places = places_of(scorer, [topic.qid for topic in made])
    warn_of_strangers({topic.qid: list(topic.labels) for topic in made}, places)
    jobs = [
        _Choosing(topic, queries.get(topic.qid), places[topic.qid], scorer, protocol, seed, lowest) for topic in made
    ]
    chosen = run_jobs(jobs, len(jobs), desc="judging", unit="topic", n_jobs=n_jobs, verbose=verbose)
    for topic, batches in zip(made, chosen, strict=True):
        topic.chosen = batches
    texts.texts = scorer.texts
    _label(people, made, judge, texts)
    unpooled = list(not_pooled(units, contributed))
    tell(unpooled)
    beware(
        alone(units, contributed),
        PoolFit.of(pool, people, depth=pooling.depth).of_pool(),
        none_relevant(people, lowest),
        _caveats(made),
    )
    bootstrap = inputs.bootstrap(resamples, seed, confidence, n_jobs)

    n = len(units)
    base, changes = _judgments(people, made, n)
    # the set after those of the units is LOU-FULL
    scored = PerturbedScores.of(
        rescore(inputs.runs, base, inputs.measures, changes, verbose=verbose),
        inputs.runs,
        base,
        inputs.measures,
        n + 1,
        units=units,
        whole=(n,),
        complete=complete,
        with_cells=bootstrap is not None,
    )
    scores = scores_of(inputs.runs, base, inputs.measures, scored.whole[n], complete=complete)
    unique = judged & (owner >= 0)
    relevant = people.arrays.labels[rows[unique]] >= lowest
    counts = count_uniques(units, contributed, owner[unique], relevant)
    lost, found_again, now_relevant = _of_units(made, n, lowest)
    parts = leave_one_out(
        inputs.runs.run_table,
        contributed,
        units,
        replace(scores, settings={**scores.settings, "judgments": "LOU-FULL"}),
        replace(scored, base=scored.whole[n]),
        bootstrap,
        judgments=f"made without the run's own {by}, depth {pooling.depth}",
        counts=counts.assign(found_again=found_again, relevant=now_relevant),
        removed=lost,
        verbose=verbose,
    )
    settings = settings_of(
        pooling,
        units,
        inputs,
        interval_settings(bootstrap, "; of a change of score the percentile interval"),
        noted(unpooled, UNPOOLED),
        by=by,
        scorer=type(scorer).__name__,
        presumed_not_relevant=protocol.presumed_negatives,
        chosen_without_a_label="not relevant" if judge is None else "asked of the judge, else not relevant",
        seed=seed,
    )
    table = pd.DataFrame([topic.row(lowest) for topic in made], columns=_TOPICS.split())
    return DynamicUniques(**parts, topics=table, settings=settings)


@dataclass
class _Topic:
    """A topic: what is pooled, and what is chosen in LOU-FULL and then without each unit that loses there."""

    qid: str
    labels: dict[str, int]  # of the judged documents that contributors pooled; then of those that are chosen, too
    sole: dict[str, int]  # pooled document -> the unit that alone contributed it, -1 where there are several
    judged: int  # how many documents of the topic are judged in all
    losers: list[int]  # the units that alone contributed a relevant document, ascending
    chosen: list[tuple[str, ...]] = field(default_factory=list)
    unlabelled: int = 0  # how many that are chosen in LOU-FULL have no label

    @cached_property
    def pools(self) -> list[list[str]]:
        """Return the documents of the pool of all, and then those without the uniques of each loser."""
        return [list(self.sole), *([d for d, owner in self.sole.items() if owner != unit] for unit in self.losers)]

    @cached_property
    def sets(self) -> list[set[str]]:
        """Return the documents that are judged in LOU-FULL, and then without each loser."""
        return [{*pool, *batch} for pool, batch in zip(self.pools, self.chosen, strict=True)]

    def relevant(self, docnos: Iterable[str], rel: int) -> int:
        return sum(self.labels[docno] >= rel for docno in docnos)

    def row(self, rel: int) -> tuple[Any, ...]:
        """Return the topic as a row of ``DynamicUniques.topics``."""
        chosen_relevant = self.relevant(self.chosen[0], rel)
        sizes = self.judged, len(self.sole), len(self.chosen[0]), self.relevant(self.sole, rel) + chosen_relevant
        return self.qid, *sizes, chosen_relevant, self.unlabelled, len(self.losers)


def _pooled_topics(
    qrels: Qrels, pool: Pool, rows: NDArray[np.int64], judged: NDArray[np.bool_], owner: NDArray[np.int64], rel: int
) -> Iterator[_Topic]:
    """Yield the judged documents of the pool, topic by topic of the judgments."""
    docnos, every = pool.documents.docnos(), qrels.arrays.labels
    n_judged = qrels.arrays.documents.counts(every >= 0).tolist()
    for qid, n in zip(qrels.topics, n_judged, strict=True):
        at = pool.documents.place.get(qid)
        own = np.zeros(0, dtype=np.int64) if at is None else np.arange(*pool.documents.starts[at : at + 2])
        own = own[judged[own]]
        labels, sole, names = every[rows[own]].astype(np.int64), owner[own], docnos[own].tolist()
        losers = np.unique(sole[(sole >= 0) & (labels >= rel)]).tolist()
        of_labels, of_units = (dict(zip(names, values.tolist(), strict=True)) for values in (labels, sole))
        yield _Topic(qid, of_labels, of_units, n, losers)


@dataclass(frozen=True)
class _Choosing:
    """The job of a topic: what the classifier chooses, which learns from the labels of each of its pools."""

    topic: _Topic
    query: str | None
    places: Mapping[str, int]
    scorer: Scorer
    protocol: Protocol
    seed: int
    rel: int

    def run(self) -> list[tuple[str, ...]]:
        """Return for each pool the documents that make the judgments as many as they are."""
        batches, qid = list[tuple[str, ...]](), self.topic.qid
        for docnos in self.topic.pools:
            # made anew for each pool: the same seed, the same order of documents with equal scores
            topic = TopicJudging(qid, self.query, self.scorer, self.places, self.seed)
            pooled = [Judged(qid, docno, 1, "pool", "", self.topic.labels[docno]) for docno in docnos]
            if pooled:
                topic.learn(pooled, self.rel)
            size = self.topic.judged - len(docnos)
            chosen = topic.next_batch(self.protocol, 2, size) if size else ()
            batches.append(tuple(document.docno for document in chosen))
        return batches


def _label(qrels: Qrels, made: Sequence[_Topic], judge: Judge | None, texts: TopicTexts) -> None:
    """Put the labels of chosen documents beside those of the pool: of the judgments, else of the judge, else 0."""
    documents, labels = qrels.arrays.documents, qrels.arrays.labels
    triples = zip(documents.qids(), documents.docnos(), labels.tolist(), strict=True)
    known = {(qid, docno): label for qid, docno, label in triples if label >= 0}
    pairs = dict.fromkeys((topic.qid, docno) for topic in made for batch in topic.chosen for docno in batch)
    missing = [pair for pair in pairs if pair not in known]
    if judge is not None and missing:
        asked = texts.beside(pd.DataFrame(missing, columns=["qid", "docno"], dtype=object))
        given = judge.transform(asked)["label"].fillna(-1).astype(int).tolist()
        known |= {pair: label for pair, label in zip(missing, given, strict=True) if label >= 0}
    for topic in made:
        topic.unlabelled = sum((topic.qid, docno) not in known for docno in topic.chosen[0])
        topic.labels |= {docno: known.get((topic.qid, docno), 0) for batch in topic.chosen for docno in batch}


def _judgments(qrels: Qrels, made: Sequence[_Topic], n_units: int) -> tuple[Qrels, Changes]:
    """Return all documents with their labels, and the sets: that without each unit, then LOU-FULL."""
    rows = [(topic.qid, docno, label) for topic in made for docno, label in topic.labels.items()]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    base = Qrels(frame, topics=qrels.topics, rel=qrels.stated_rel)
    in_set, gone = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for topic, start in zip(made, base.arrays.documents.starts[:-1].tolist(), strict=True):
        full, *without = (
            start + np.flatnonzero([docno not in judged for docno in topic.labels]) for judged in topic.sets
        )
        own = dict(zip(topic.losers, without, strict=True))
        for number in range(n_units + 1):
            gone.append(own.get(number, full))
            in_set.append(np.full(len(gone[-1]), number))
    row = np.concatenate(gone)
    return base, Changes(n_units + 1, np.concatenate(in_set), row, np.full(len(row), UNJUDGED))


def _of_units(made: Sequence[_Topic], n_units: int, rel: int) -> NDArray[np.int64]:
    """Return three numbers of each unit, (3, units).

    How many documents of LOU-FULL are not judged without it, how many of its unique relevant documents are chosen
    without it, and how many relevant documents the judgments made without it have.
    """
    counts = np.zeros((3, n_units), dtype=np.int64)
    lost, again, relevant = counts
    for topic in made:
        full = topic.sets[0]
        of_full = topic.relevant(full, rel)
        relevant += of_full
        for unit, judged, batch in zip(topic.losers, topic.sets[1:], topic.chosen[1:], strict=True):
            lost[unit] += len(full - judged)
            again[unit] += topic.relevant([d for d in batch if topic.sole.get(d) == unit], rel)
            relevant[unit] += topic.relevant(judged, rel) - of_full
    return counts


def _caveats(made: Sequence[_Topic]) -> Iterator[Caveat]:
    """Yield a caveat where most of what was chosen after the pool of all has no label, and where a corpus ended."""
    chosen, without = sum(len(topic.chosen[0]) for topic in made), sum(topic.unlabelled for topic in made)
    if without > MOSTLY * chosen:
        yield Caveat(
            f"{without / chosen:.0%} of what the classifier chose has no label",
            f"{without:,} of {count(chosen, 'document')} that the classifier chose after the pool of all contributors "
            "have no label, and count as not relevant: what it would find is not known. judge= may label them.",
        )
    short = sum(min(map(len, topic.sets)) < topic.judged for topic in made)
    if short:
        yield Caveat(
            f"the corpus ended on {count(short, 'topic')}",
            f"on {count(short, 'topic')} of {len(made):,} the corpus ended before there were as many judgments as "
            "there are in qrels, so that what is lost there is not made up for. Has the scorer the whole corpus?",
        )
