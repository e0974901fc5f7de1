"""compare_judgments and new_documents: rankings under two sets of judgments, and what the later one adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.pairs import rank_drops, ranks
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_set import as_runs_before
from pt_reuse.data.units import check_known
from pt_reuse.errors import InputError, count, examples, located, positive, warn
from pt_reuse.errors import names as run_names
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.judge import Scale, checked_grades, in_grades, lowest_relevant, on_scale, scale_words
from pt_reuse.plots.bars import plot_topic_taus
from pt_reuse.plots.run_scores import check_view, plot_new_by_run, plot_new_by_topic
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import cells, records
from pt_reuse.scoring.agreement import COLUMNS, OF_RANKING, UNNAMED, Agreement, checked_names, draw_scores
from pt_reuse.scoring.caveats import beware, misfits, one_run, relevant_only, usual_measures, warn_of_lower_grades
from pt_reuse.scoring.scores import Scores, check_topics, checked_measures, compare_scores, scored
from pt_reuse.studies.judged_fields import number_with_ends, under
from pt_reuse.study import study

Ints = NDArray[np.int64]


def _on_scale_of(
    first: Qrels, qrels: Qrels, *, rel: int | None, judge_rel: Any, same_measures: bool
) -> tuple[Qrels, str]:
    """Return the second judgments, brought to the scale of the first where the measures are the same, and in words."""
    if judge_rel is None and (rel is not None or qrels.stated_rel is not None):
        graded = qrels if rel is None else qrels.with_rel(rel)
        return graded, f"label of at least {graded.rel}"
    people = Scale.of(first)
    if isinstance(judge_rel, Mapping):
        grades = checked_grades(judge_rel)
        labels = in_grades(pd.Series(qrels.arrays.labels, dtype="Int64"), grades)
        arrays = qrels.arrays.labelled(labels.fillna(UNJUDGED).to_numpy(dtype=np.int16))
        return Qrels.of_arrays(arrays, people.rel), scale_words(people.rel, grades)
    lowest = checked_rel(judge_rel)
    if lowest is None:
        lowest = lowest_relevant(qrels.arrays.labels, people)
    scaled = on_scale(qrels, lowest, people.rel) if same_measures else qrels.with_rel(lowest)
    return scaled, f"label of at least {lowest}"


def new_documents(pool: Pool, before: Qrels, after: Qrels, topics: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what later judgments know and earlier ones do not, see ``JudgmentComparison``: by run, and by topic."""
    known, later, places = before.arrays, after.arrays, {topic: t for t, topic in enumerate(topics)}
    # (documents,) the place of the topic of each among those that count, -1 for another
    of_pool, of_known, of_later = (
        np.array([places.get(topic, -1) for topic in documents.topics], dtype=np.int64)[documents.topic]
        for documents in (pool.documents, known.documents, later.documents)
    )
    unjudged, label = known.labels_of(pool.documents) < 0, later.labels_of(pool.documents)
    shape = len(topics), len(pool.run_table)

    def per_topic(marked: NDArray[np.bool_]) -> Ints:
        rows = (marked & (of_pool >= 0))[pool.entries.document]
        cell = of_pool[pool.entries.document[rows]] * shape[1] + pool.entries.run[rows]
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)

    returned, unseen = per_topic(of_pool >= 0), per_topic(unjudged)
    by_run = pool.run_table[["name", "team", "type", "pooled"]].assign(
        documents=returned.sum(axis=0),
        unjudged=unseen.sum(axis=0),
        # as of Unjudged@k: a topic without documents has 1
        unjudged_rate=np.where(returned > 0, unseen / np.maximum(returned, 1), 1.0).mean(axis=0),
        new=per_topic(unjudged & (label >= 0)).sum(axis=0),
        new_relevant=per_topic(unjudged & (label >= after.rel)).sum(axis=0),
    )

    def counted(at: Ints, marked: NDArray[np.bool_]) -> Ints:
        return np.bincount(at[marked & (at >= 0)], minlength=len(topics))

    new = known.labels_of(later.documents) < 0
    by_topic = {
        "qid": np.array(topics, dtype=object),
        "judged": counted(of_known, known.labels >= 0),
        "relevant": counted(of_known, known.labels >= before.rel),
        "remainder": counted(of_pool, unjudged),
        "new": counted(of_later, new & (later.labels >= 0)),
        "new_relevant": counted(of_later, new & (later.labels >= after.rel)),
    }
    return by_run, pd.DataFrame(by_topic)


def _draw_scores(
    result: JudgmentComparison, measure: str, place: Place, view: str | None = None, by: str | None = None
) -> Axes:
    other = result.table.set_index("measure").loc[measure, "other_measure"]
    usual = "change" if other == measure else "scores"
    return draw_scores(result, measure, place, usual if view is None else view, by)


def _draw_topics(result: JudgmentComparison, measure: str, place: Place) -> Axes:
    rows = result.per_topic[result.per_topic["measure"] == measure]
    row = result.table.set_index("measure", drop=False).loc[measure]
    return plot_topic_taus(rows, measured=_both(row), overall=float(row["tau_b"]), place=place)


def _draw_new(kind: str, result: JudgmentComparison, _: str, place: Place) -> Axes:
    rows = result.of_newer(result.by_topic)
    return plot_new_by_topic(rows, kind=kind, judgments=result.older_and_newer, depth=result.depth, place=place)


def _draw_runs(result: JudgmentComparison, _: str, place: Place, by: str | None = None) -> Axes:
    check_view("change", by, ("type", "team"), result.by_run)
    rows = result.of_newer(result.by_run)
    return plot_new_by_run(rows, judgments=result.older_and_newer, depth=result.depth, by=by, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgmentComparison(Agreement):
    """The same runs under two sets of judgments: how far the rankings agree, and what only one set knows.

    The first judgments are the older ones, or those taken as right; ``other_`` is what the second say. Both sets count
    on the topics of ``settings["topics"]``. What is *new* was judged by one of the two and not by the other; *judged*
    is a label of at least 0.

    Attributes:
        depth: down to which rank the documents of runs are counted.
    """

    title = "Judgments compared"
    valid_for = "these {compared}; topics: {topics}; relevant: {relevant}."
    plots = {
        "scores": _draw_scores,
        "topics": _draw_topics,
        "remainder": partial(_draw_new, "remainder"),
        "relevant": partial(_draw_new, "relevant"),
        "runs": _draw_runs,
    }
    columns = f"""{Agreement.columns}
    top_runs      | Best          | count | runs among the best `top`, more where runs tie with the last of them
    top_shared    | Best by both  | count | how many of these are among the best by both
    top_overlap   | Overlap       | score | top_shared as a share of the larger number of best runs
    risen         | Risen run     |       | that run, the best one of several, None where no run gains any
    why           | Why           |       | why a paper shows it: best of its type, median, selected or not pooled
    unjudged_rate | Unjudged share | score | share of its documents down to `depth` that they lack, mean over topics
    new_by        | New by        |       | which of the two judged the new documents
    documents     | Documents     | count | documents that it ranks down to `depth`
    unjudged      | Unjudged      | count | how many of these the other judgments lack
    judged        | Judged        | count | documents that the other judgments have
    relevant      | Relevant      | count | relevant ones of them
    remainder     | Remainder     | count | documents that a run ranks down to `depth` and the other judgments lack
    new           | New           | count | documents that ``new_by`` alone judged, of a run among its unjudged ones
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure",
            f"measure other_measure {COLUMNS} top_runs other_top_runs top_shared top_overlap~",
            report="measure other_measure tau_b max_drop max_rise top_overlap",
        ),
    ]
    changes: Annotated[
        pd.DataFrame,
        Table("run and measure", "name* measure other_measure score* other_score* rank* other_rank* drop* team type"),
    ]
    per_topic: Annotated[
        pd.DataFrame,
        Table(
            "topic and measure, the runs ranked on this topic alone",
            "qid* measure other_measure tau_b* max_drop* dropped* max_rise* risen*",
        ),
    ]
    selected: Annotated[
        pd.DataFrame,
        Table(
            "run that a paper shows and measure, the best by the first measure and judgments first",
            "why name team type pooled measure other_measure score other_score change rank other_rank drop "
            "unjudged_rate other_unjudged_rate",
            report="name why rank other_rank change unjudged_rate",
        ),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "one of the two judgments and run",
            "new_by name* team type pooled documents* unjudged* unjudged_rate* new* new_relevant*",
            select={"new_by": None},
            descending=("unjudged",),
        ),
    ]
    by_topic: Annotated[
        pd.DataFrame,
        Table(
            "one of the two judgments and topic",
            "new_by qid* judged* relevant* remainder* new* new_relevant*",
            select={"new_by": None},
        ),
    ]
    depth: int

    @property
    def older_and_newer(self) -> tuple[str, str]:
        """Return the two; last the one that has documents that the other lacks, the second where both have."""
        new = self.by_topic.groupby("new_by")["new"].sum()
        first, second = self.names
        return (second, first) if new[first] and not new[second] else (first, second)

    def of_newer(self, table: pd.DataFrame) -> pd.DataFrame:
        return table[table["new_by"] == self.older_and_newer[1]]

    def answers(self) -> list[str]:
        rows = [{**cells(row, self.columns), "measure": _both(row)} for row in records(self.table)]
        new, relevant = self.of_newer(self.by_topic)[["new", "new_relevant"]].sum()
        alone = f"{count(new, 'document')} judged by {self.older_and_newer[1]} alone, {relevant:,} relevant"
        return [
            *(f"{OF_RANKING}; {{top_shared}} of the best {{top_runs}} by both".format_map(row) for row in rows),
            alone if new else "No document is judged by one of the two alone",
        ]


def _both(row: Mapping[str, Any]) -> str:
    return " and ".join(dict.fromkeys([row["measure"], row["other_measure"]]))


def _one_by_one(measures: Any) -> list[ir_measures.Measure]:
    """Return other measures, of which one may stand several times."""
    several = isinstance(measures, Iterable) and not isinstance(measures, str | ir_measures.Measure)
    given = list(measures) if several else [measures]
    try:
        return [measure for each in given or [given] for measure in checked_measures(each)]
    except InputError as error:
        raise InputError(error.text, argument="measures_b") from None


def _paired(
    measures: Sequence[ir_measures.Measure], others: Sequence[ir_measures.Measure] | None
) -> list[tuple[ir_measures.Measure, ir_measures.Measure]]:
    """Return which measure of the first judgments is compared with which of the second."""
    others = measures if others is None else list(others) * len(measures) if len(others) == 1 else others
    if len(measures) != len(others):
        problem = f"measures_b must be one, or as many as measures, {len(measures):,}: there are {len(others):,}."
        raise InputError(problem, argument="measures_b")
    return list(zip(measures, others, strict=True))


@study(
    question="Would other judgments give the same ranking?",
    command="compare",
    aim="fair",
    summary="how the ranking of runs changes from one set of judgments to another",
    details="The ranking by --qrels is the reference, that by --other the estimate: a drop is the number of ranks that "
    "a run loses under --other. The output also shows what only one of the two has judged, and which runs have it.",
    screen=("table", "selected", "per_topic", "by_run"),
    together=lambda given: given["measures"] and _paired(given["measures"], given["measures_b"]),
    papers="[V22a]_",
)
def compare_judgments(
    runs: options.Runs,
    qrels_a: Annotated[
        options.Judgments,
        options.Option("the judgments that are older, or taken as right: a Qrels, a frame, tuples, a dict or a file."),
    ],
    qrels_b: options.OtherJudgments,
    measures: options.Measures = None,
    *,
    names: Annotated[
        tuple[str, str],
        options.Option(
            'what to call the two, such as ``("1999", "2021")``.',
            check=checked_names,
            flag=options.Flag(
                name="--judgment-names", metavar="A,B", kind="names", default="the names of their files or collections"
            ),
        ),
    ] = UNNAMED,
    measures_b: Annotated[
        Any,
        options.Option(
            "measures under the second judgments where they are others: one for all of `measures`, or as many as these "
            'and compared with them one by one, such as ``"RR"`` for sparse labels beside ``"nDCG@10"`` for dense '
            "ones. Default the same.",
            check=_one_by_one,
            flag=options.Flag(
                name="--other-measures",
                help="measures under --other: one, or as many as --measures, compared one by one",
                metavar="LIST",
                kind="list",
                default="the same",
            ),
        ),
    ] = None,
    topics: Annotated[
        str,
        options.Option(
            '``"shared"`` (default): both count on the topics that both have; ``"own"``: each on its own topics.',
            choices=("shared", "own"),
            flag=options.Flag(
                help="shared: score on the topics that both have; own: each on those of its own judgments",
                metavar="WHICH",
                kind="text",
            ),
        ),
    ] = "shared",
    selected: Annotated[
        Any,
        options.Option(
            "runs to show beside the best of each type and the median, such as the new ones; default those on record "
            "as not pooled, ten at most. Best and median are by the first measure under the first judgments; the "
            "median of an even number of runs is the better of the two in the middle.",
            check=lambda given: (
                [] if isinstance(given, list) and not given else [*dict.fromkeys(run_names("selected", given))]
            ),
            flag=options.Flag(metavar="LIST", kind="list", default="those not pooled, ten at most"),
        ),
    ] = None,
    top: Annotated[
        int,
        options.Option(
            "how many runs are the best; those that tie with the last of them are, too.",
            check=partial(positive, "top", unit="runs"),
            flag=options.Flag(),
        ),
    ] = 10,
    depth: options.Depth = None,
    pool_order: options.PoolOrder = None,
    rel: options.Rel = None,
    judge_rel: Annotated[
        Any,
        options.Option(
            "the lowest label of `qrels_b` that is relevant, or a dict of its label -> the label of `qrels_a` that it "
            "stands for. Default: where neither `rel` nor `qrels_b` says so, 1 where all its labels are 0 and 1, and "
            "as in `qrels_a` where none is above the highest there; labels above it are refused. Without `measures_b` "
            "the labels come to the scale of `qrels_a`, as those of a judge in :func:`audit_labels`; where `rel` or "
            "`qrels_b` says so, or measures of their own are given, they stay as they are.",
            flag=options.Flag(
                help="lowest label of --other that is relevant, or LABEL:GRADE,... for the label of --qrels that each "
                "stands for",
                metavar="LABEL",
                kind="labels",
                default="1 where all are 0 and 1, else as for --qrels",
            ),
        ),
    ] = None,
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    complete: options.Complete = True,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> JudgmentComparison:
    """Compare the rankings of the same runs under two sets of judgments, and what only one of the two contains.

    Args:
        depth: the rank down to which documents are counted that only one of the two has judged; default the pool depth
            on record, else 100.
        pool_order: the order in which these ranks count; default the one in which the field is pooled.
        rel: the lowest label that counts as relevant among new and known documents, in both; default that of each of
            the two, else 1 in the first. Measures have their own.

    Raises:
        InputError: judgments without a common topic, labels of which nobody says which are relevant, an unknown measure
            or run, different numbers of measures, a run without any of the topics, intervals over two sets of topics.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> names = ("depth 10", "complete")
        >>> found = ptr.compare_judgments(field.runs, field.qrels, field.all_qrels, "AP", names=names, depth=10)
        >>> found.table[["tau_b", "max_drop", "top_overlap"]].round(4)
            tau_b  max_drop  top_overlap
        0  0.7516         4          0.8
        >>> found.by_run.loc[found.by_run["new"] > 0, ["name", "unjudged", "new_relevant"]].head(2)
             name  unjudged  new_relevant
        14  neu8a        42            12
        15  neu8b        33            10

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?,
    https://arxiv.org/abs/2201.11086; sections 7.2 of Voorhees, Craswell and Lin 2022, Too many relevants: whither
    Cranfield test collections?, SIGIR, for strict and lenient labels; Fagin, Kumar and Sivakumar
    2003, Comparing top k lists, SIAM Journal on Discrete Mathematics 17, for the best runs.
    """
    field, given = as_runs_before(runs, qrels_a)
    for name in selected or ():
        check_known("run", name, field.names, argument="selected")
    both = as_qrels(given, "qrels_a"), as_qrels(qrels_b, "qrels_b")
    shared, in_words = _common_topics(*both, names, own=topics == "own", intervals=resamples > 0)
    # all topics tell the scales, those that only one has, too
    graded = both[0] if rel is None else both[0].with_rel(rel)
    with located(names[1]):
        scaled, words = _on_scale_of(graded, both[1], rel=rel, judge_rel=judge_rel, same_measures=measures_b is None)
    sides = (graded, scaled) if topics == "own" else (graded.select(shared), scaled.select(shared))
    before, after = sides
    beware(one_run(len(field)))
    pairs = _paired(usual_measures(before.rel) if measures is None else measures, measures_b)
    for side, name in zip(sides, names, strict=True):
        beware(relevant_only(side, name))
    every = []
    for side, name, used in zip(sides, names, zip(*pairs, strict=True), strict=True):
        chosen = list(dict.fromkeys(used))
        with located(name):
            check_topics(field, side)
            warn_of_lower_grades(chosen, side.rel)
            caveats = misfits(field, side, chosen, complete=complete)
            beware(replace(caveat, note=f"{name}: {caveat.note}") for caveat in caveats)
            every.append(scored(field, side, chosen, complete=complete, n_jobs=n_jobs, verbose=verbose))
    first, second = every
    rows = [second.measures.index(repr(other)) for _, other in pairs]
    # each in the place and under the name of its partner
    second = replace(second, measures=first.measures, values=second.values[rows])
    inputs = Inputs(field, before, [measure for measure, _ in pairs], before.rel, complete)
    bootstrap = inputs.bootstrap(resamples, seed, confidence, n_jobs)
    agreement = compare_scores(first, second, names, bootstrap)
    pooled = inputs.pooled(depth, "all", pool_order)
    pool = pool_to_depth(pooled.ranked, pooled.depth, pooled.contributors)
    gone, new = new_documents(pool, after, before, shared), new_documents(pool, before, after, shared)
    rates = pd.DataFrame(
        {name: frame.set_index("name")["unjudged_rate"] for name, (frame, _) in (("", new), ("other_", gone))}
    )
    by_run, by_topic = (
        pd.concat([under({"new_by": names[1]}, later), under({"new_by": names[0]}, earlier)], ignore_index=True)
        for later, earlier in zip(new, gone, strict=True)
    )
    other_of = {repr(measure): repr(other) for measure, other in pairs}
    changes = _with_other(agreement.changes, other_of)
    return JudgmentComparison(
        table=pd.concat([_with_other(agreement.table, other_of), _of_best(first, second, top, bootstrap)], axis=1),
        settings=settings_of(
            agreement,
            pooled,
            topics=in_words,
            relevant=", ".join(dict.fromkeys([f"label of at least {graded.rel}", words])),
            top=top,
        ),
        changes=changes,
        per_topic=_with_other(pd.concat([agreement.per_topic, _moves(first, second, shared)], axis=1), other_of),
        names=names,
        selected=_selected(changes, field.run_table, rates.add_suffix("unjudged_rate"), selected),
        by_run=by_run,
        by_topic=by_topic,
        depth=pooled.depth,
    )


def _common_topics(a: Qrels, b: Qrels, names: tuple[str, str], *, own: bool, intervals: bool) -> tuple[list[str], str]:
    """Return the topics that both have, and in words which topics count."""
    shared = [topic for topic in a.topics if topic in set(b.topics)]
    if not shared:
        topics = [examples(side.topics) or "none" for side in (a, b)]
        problem = f"the two judgments share no topic: {' against '.join(topics)}."
        raise InputError(problem, argument="qrels_b" if a.topics else "qrels_a")
    sizes = len(a.topics), len(b.topics)
    if sizes == (len(shared), len(shared)):
        return shared, f"the same {len(shared):,}"
    if own:
        if intervals:
            problem = f"intervals draw the same topics for both, which have {sizes[0]:,} and {sizes[1]:,}. Give "
            raise InputError(f"{problem}topics='shared'.", argument="topics")
        return shared, f"its own for each: {sizes[0]:,} and {sizes[1]:,}, {len(shared):,} of them in common"
    left = [
        f"{count(n - len(shared), 'topic')} of {name}" for n, name in zip(sizes, names, strict=True) if n > len(shared)
    ]
    warn(f"{' and '.join(left)} left out: both count on the {count(len(shared), 'topic')} that both have.")
    return shared, f"the {len(shared):,} that both have, without {' and '.join(left)}"


def _with_other(frame: pd.DataFrame, other_of: Mapping[str, str]) -> pd.DataFrame:
    both = frame.copy()
    both.insert(both.columns.get_loc("measure") + 1, "other_measure", both["measure"].map(other_of).astype(object))
    return both


def _moves(first: Scores, second: Scores, topics: Sequence[str]) -> pd.DataFrame:
    """Return ``max_drop dropped max_rise risen`` per measure and topic: how far a run moves, and which."""
    rows = []
    at, other_at = ([scores.topics.index(topic) for topic in topics] for scores in (first, second))
    of_both = np.stack([first.values[:, at], second.values[:, other_at]], axis=2).round(DECIMALS)
    for before, after in of_both.reshape(-1, 2, len(first.names)):
        row: dict[str, Any] = {}
        drops, best_first = rank_drops(before, after), np.argsort(-before, kind="stable")
        for most, who, signed in (("max_drop", "dropped", drops), ("max_rise", "risen", -drops)):
            run = best_first[int(signed[best_first].argmax())]
            row |= {most: max(int(signed[run]), 0), who: first.names[run] if signed[run] > 0 else None}
        rows.append(row)
    return pd.DataFrame(rows, dtype=object).astype({"max_drop": np.int64, "max_rise": np.int64})


def _of_best(first: Scores, second: Scores, top: int, bootstrap: TopicBootstrap | None) -> pd.DataFrame:
    """Return how many runs are among the best by each and by both, their share, and the ends of its interval."""
    rows = []
    # draws are of the same topics in the same order
    at = [second.topics.index(topic) for topic in first.topics] if bootstrap else range(len(second.topics))
    for measure in first.measures:
        sides = first.topic_means[measure], second.topic_means[measure].of(at, range(len(second.names)))
        first_best, other_best = (best[0] for best in _best(sides, top))
        row = {"top_runs": first_best.sum(), "other_top_runs": other_best.sum()}
        row["top_shared"] = (first_best & other_best).sum()
        overlap = partial(_overlap, sides, top)
        rows.append(row | number_with_ends("top_overlap", overlap, len(first.topics), bootstrap, (0, 1)))
    return pd.DataFrame(rows)


def _best(sides: tuple[TopicScores, TopicScores], top: int, counts: Ints | None = None) -> list[NDArray[np.bool_]]:
    """Return (draws, runs) of each which runs are among the best, with those that tie with the last of them."""
    return [ranks(rounded(side.means(counts))) <= top for side in sides]


def _overlap(sides: tuple[TopicScores, TopicScores], top: int, counts: Ints | None) -> NDArray[np.float64]:
    """Return (draws,) the share of the best runs that are so by both."""
    first, second = _best(sides, top, counts)
    return np.asarray((first & second).sum(axis=1) / np.maximum(first.sum(axis=1), second.sum(axis=1)))


#: of the runs on record as not pooled so many are shown where nobody says which
_SHOWN = 10


def _selected(
    changes: pd.DataFrame, run_table: pd.DataFrame, rates: pd.DataFrame, wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Return the rows of the runs that a paper shows: the best of each type, the median, and those wanted."""
    measures = list(dict.fromkeys(changes["measure"]))
    best_first = changes[changes["measure"] == measures[0]].sort_values("rank", kind="stable")["name"].tolist()
    of_run = run_table.set_index("name").loc[best_first]
    types = of_run["type"].dropna()
    reasons: dict[str, list[str]] = {}
    for kind in dict.fromkeys(run_table["type"].dropna()):
        reasons.setdefault(types.index[types == kind][0], []).append(f"best {kind}")
    if types.empty:
        reasons[best_first[0]] = ["best"]
    reasons.setdefault(best_first[(len(best_first) - 1) // 2], []).append("median")
    not_pooled = of_run.index[(of_run["pooled"] == False).fillna(False)][:_SHOWN]  # noqa: E712 - <NA> is neither
    for name in not_pooled if wanted is None else wanted:
        reasons.setdefault(name, []).append("not pooled" if wanted is None else "selected")
    shown = [name for name in best_first if name in reasons]
    rows = pd.concat([changes[changes["measure"] == measure].set_index("name").loc[shown] for measure in measures])
    rows = rows.join(of_run[["pooled"]]).join(rates).reset_index(names="name")
    why = rows["name"].map({name: ", ".join(words) for name, words in reasons.items()})
    rows = rows.assign(why=why, change=rows["other_score"] - rows["score"])
    declared = [name for name, _ in JudgmentComparison.declared["selected"].names]
    return rows[declared].astype({"pooled": "boolean", "why": object, "name": object})
