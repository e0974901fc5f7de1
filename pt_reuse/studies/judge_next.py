"""judge_next: which documents to judge next for a decision between runs, how many that takes, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.expected import Floats
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.errors import InputError, count, did_you_mean, number, positive, shown, warn
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.plots.forests import plot_labels_needed
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.pool import INCLUSION, SAMPLED, Pool
from pt_reuse.result import Result, records
from pt_reuse.scoring.caveats import beware, few_topics, misfits
from pt_reuse.scoring.measures import spec_of
from pt_reuse.studies.new_runs.estimators import Effects
from pt_reuse.studies.new_runs.predictor import (
    Confidence,
    Corpus,
    Judge,
    LeftOut,
    NewRunPredictor,
    as_new_runs,
    check_predicted,
    units_needed,
)
from pt_reuse.studies.new_runs.rivals import AS_JUDGED, CONFIDENT, EVERY, Expectations, Rivals
from pt_reuse.studies.new_runs.sampling import check_estimable, draw, frame_of, inclusion, with_plan
from pt_reuse.study import study

RANKING, SCORE = "ranking", "score"
#: how often the labels to come are drawn, to say how many are needed
_DRAWS = 200
#: how durations are written: the unit, its seconds, the format
_UNITS = (("seconds", 1, ",.0f"), ("minutes", 60, ",.0f"), ("hours", 3600, ",.1f"))


def _draw(result: JudgingPlan, _: str, place: Place, top: int | None = None) -> Axes:
    open_pairs = result.table[result.table["decided"] == ""]
    return plot_labels_needed(open_pairs, confidence=result.confidence, top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgingPlan(Result):
    """Which documents to judge next for a decision, how many labels it takes, and what is decided so far.

    Attributes:
        critical_value: how many deviations a difference must have for a decision; infinite where too few units can be
            left out.
        confidence: of decisions and of the numbers of labels that most courses need.
    """

    title = "What to judge next"
    about = "{documents} of {unjudged:,} unjudged documents, for {goal} by {measure}"
    answer = (
        "summary",
        "{open:pair} open: to decide {all} takes {labels:label} on average, in {level} of courses at most "
        "{labels_most} ({cost}); {here} {pairs_settled} on average",
    )
    valid_for = (
        "new runs like those of the {units} ({calibrated}), judged in this order, however often one looks; "
        "depth-{depth} pool, contributors: {contributors}; relevant: {relevant}."
    )
    not_covered = "what other topics would change, and runs unlike those that are left out."
    key = "pairs decided labels limited_by_topics"
    plots = {"labels": _draw}
    columns = """
    first        | Expected better |    | the run that is expected to be better
    second       | Worse       |        | the other
    difference   | Expected difference | score | of the means that are expected once all is judged
    half         | Needed      | score  | by how much the means must differ for a decision at the confidence level
    decided      | Decided     |        | under what it (of a run: its ranks) holds: "as judged", where nothing that \
the measure sees in the new runs is unjudged; "under every completion" of their documents; "at 90%"; or "", open
    abstains     | Abstains    |        | whether only bounds decide: a new run is unlike those left out, or another \
run has its documents
    expected     | Labels      | tenths | labels until it is decided, the mean over drawn courses
    most         | At most     | count  | what nine in ten (`confidence`) drawn courses need at most
    by_bounds    | By bounds   | tenths | mean labels until it is decided under every completion, runs apart: at most
    significant  | Chance of significance | score | how likely a paired t test over topics finds it (0.05) once \
all is judged
    rank         | Rank        | ranks  | of a document: the best in the new runs; of a new run: the one expected, and \
between which it is
    priority     | Priority    | score  | how much the label decides: what it can change, times how unsure it is
    chance       | Chance      | score  | how likely the document is relevant
    inclusion    | Inclusion   | score  | the probability with which it was drawn
    drawn        | Drawn       | count  | how many documents were drawn
    plan         | Plan        |        | a digest by which check_new_run knows a whole sample
    score        | Score       | score  | mean score that is expected of new runs, that of others as judged
    zero         | As judged   | score  | mean score as judged
    deviation    | Deviation   | score  | of what is expected
    leader       | Leader      |        | the run that is expected to be the best
    settled      | Settled     | tenths | open pairs that the documents of the plan decide, the mean over drawn courses
    open         | Open        | count  | pairs that are not decided
    labels       | Labels      | count  | documents to judge, from the top, each once, until all open pairs are \
decided: the mean over drawn courses; of a sample its size
    labels_most  | At most     | count  | what nine in ten (`confidence`) drawn courses need at most
    limited_by_topics | Limited by topics | count | pairs of which `significant` is below a half
    open_limited | Open, limited | count   | those of them that are open
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "pair of runs of the decision",
            "measure first* second* difference* half decided* abstains expected* most by_bounds significant*",
            caption="Pairs of runs by {measure}, how each is decided, and the labels that it takes.",
            noun="pairs",
        ),
    ]
    documents: Annotated[
        pd.DataFrame,
        Table(
            "unjudged document to judge, the first on top",
            "qid docno rank priority chance inclusion? drawn? plan?",
            report="qid docno rank chance priority",
            caption="The documents to judge, first to last.",
            noun="documents",
        ),
    ]
    scores: Annotated[
        pd.DataFrame,
        Table(
            "run of the decision",
            "name* score* zero* deviation rank~* decided*",
            caption="Expected scores, and the ranks that are still open.",
            noun="runs",
        ),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "decision",
            "measure leader* pairs* decided* open settled labels* labels_most* abstains limited_by_topics* "
            "open_limited documents unjudged",
            noun="decisions",
        ),
    ]
    critical_value: float
    confidence: float

    @property
    def pool(self) -> Pool:
        """Return the documents as a pool, in their order, to export as tasks or to judge."""
        columns = ["qid", "docno", "priority", *(SAMPLED if INCLUSION in self.documents else ())]
        return Pool.from_frame(self.documents[columns], settings={"strategy": self.settings["strategy"]})

    def words(self) -> dict[str, Any]:
        row, seconds = records(self.summary)[0], self.settings["seconds"]
        # of few courses that need many labels the mean is beyond what most need
        ends = sorted(seconds * row[name] for name in ("labels", "labels_most"))
        cost = f"{_duration(*ends)} at {seconds:g} seconds a label"
        one = row["documents"] == 1
        said = {
            "level": f"{100 * self.confidence:.4g}%",
            "cost": cost,
            "all": "it" if row["open"] == 1 else "all",
            "here": "1 document here decides" if one else f"the {count(row['documents'], 'document')} here decide",
            "pairs_settled": f"{round(row['settled'], 1):,g} of {count(row['open'], 'pair')}",
        }
        return {**super().words(), **row, **said}

    def heading(self) -> str:
        words = self.words()
        if words["goal"] == SCORE or words["open"]:
            return super().heading()
        return f"{self.title}: nothing, for {words['goal']} by {words['measure']}"

    @property
    def _is_sample(self) -> bool:
        return self.settings["goal"] == SCORE and len(self.documents) > 0

    def _shown(self) -> pd.DataFrame:
        name, rows = ("documents", self.documents) if self._is_sample else ("table", self.table)
        return self._ordered(name, rows)[self.declared[name].reported_of(rows)]

    def _ordered(self, name: str, rows: pd.DataFrame) -> pd.DataFrame:
        if name != "table":
            return rows
        # the open pairs first
        return rows.sort_values("decided", key=lambda decided: decided != "", kind="stable")

    def _rest(self) -> str:
        return f"rows in .{'documents' if self._is_sample else 'table'}"

    def answers(self) -> list[str]:
        words = self.words()
        if words["goal"] == SCORE:
            if not words["unjudged"]:
                return ["No document of the new runs is unjudged: they score as judged"]
            text = "A sample of {documents:,} of {unjudged:,} unjudged documents: judge all of it ({cost})"
            return [f"{text.format_map(words)} to estimate the scores of the new runs"]
        labels = (
            super().answers()
            if words["open"]
            else ["No label is needed: every pair is decided; what is listed would settle pairs under every labelling"]
        )
        limits = []
        if n := words["limited_by_topics"]:
            which = f"{count(n, 'pair')} ({words['open_limited']:,} open)"
            limits.append(f"Topics are the limit for {which}: labels will hardly make these significant")
        if n := words["abstains"]:
            limits.append(f"{'only' if limits else 'Only'} bounds decide {count(n, 'pair')}: {words['only bounds']}")
        return [f"{words['measure']}: {'; '.join(self._ranking())}", *labels, *filter(None, ["; ".join(limits)])]

    def _ranking(self) -> Iterator[str]:
        leader = self.summary["leader"].iloc[0]
        pairs = self.table[(self.table[["first", "second"]] == leader).any(axis=1)]
        rivals = pairs.loc[pairs["decided"] == "", ["first", "second"]].to_numpy().ravel()
        rivals = [name for name in rivals.tolist() if name != leader]
        open_to = rivals[0] if len(rivals) == 1 else count(len(rivals), "run")
        yield f"{leader} is ahead, open against {open_to}" if rivals else f"{leader} leads {_weakest(pairs)}"
        ranked = records(self.scores[self.scores["rank"].notna()].sort_values("rank", kind="stable"))
        for run in ranked[:1] if len(self.scores) > 2 else ():
            ranks = " to ".join(dict.fromkeys(f"{run[name]:,}" for name in ("rank_low", "rank_high")))
            who = "it" if run["name"] == leader else run["name"]
            yield f"{who} is rank {ranks} of {len(self.scores):,} {run['decided']}".rstrip()
        if len(ranked) > 1:
            yield f"{count(len(ranked) - 1, 'more new run')} in .scores"


def _duration(*seconds: float) -> str:
    unit, size, form = next(unit for unit in _UNITS if max(seconds) < 90 * unit[1] or unit is _UNITS[-1])
    return f"{' to '.join(dict.fromkeys(f'{each / size:{form}}' for each in seconds))} {unit}"


def _weakest(pairs: pd.DataFrame) -> str:
    """Return how pairs are decided, where several ways the weakest, nothing where none is."""
    strength = {"": 3, AS_JUDGED: 2, EVERY: 1}
    return min(pairs["decided"], key=lambda how: strength.get(how, 0))


def checked_goal(goal: Any) -> tuple[str, ...]:
    """Return a user's ``goal=`` as words."""
    words = (goal,) if isinstance(goal, str) else tuple(goal) if isinstance(goal, Sequence) else ()
    if not words or not all(isinstance(word, str) for word in words) or len(set(words)) < len(words):
        allowed = "'ranking', 'score', the name of a run or several names, none twice"
        raise InputError(f"goal must be {allowed}, got {shown(goal)}.", argument="goal")
    return words


def _usual(_: int) -> list[ir_measures.Measure]:
    return [ir_measures.nDCG @ 10]


@study(
    question="What should I judge next?",
    command="judge-next",
    aim="judging",
    summary="which documents to judge next to tell runs apart, and when to stop",
    details="Each team is left out of the pool to learn how likely unjudged documents are relevant, and how far "
    "estimates are off while documents are judged one by one. documents.csv of --out goes to `judge export --pool`, "
    "and what `judge import` writes comes back by --judged.",
    screen=("table", "documents"),
    papers="[C06]_",
    measures=_usual,
)
def judge_next(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: Annotated[
        options.Measures,
        options.Option(
            "an ir_measures measure or its name, only one; default ``nDCG@10``.",
            check="pt_reuse.scoring.scores:checked_measures",
            flag=options.Flag(help="of the decision, only one", metavar="MEASURE", kind="list", default="nDCG@10"),
        ),
    ] = None,
    *,
    new: Annotated[
        Any,
        options.Option(
            "new runs in any form, as :func:`check_new_run` takes them; default the runs of the field that were not "
            "pooled.",
            flag=options.Flag(
                help="files of the new runs, each taken for a team of its own", metavar="FILE", kind="runs"
            ),
        ),
    ] = None,
    n: Annotated[
        int,
        options.Option(
            "how many documents may be judged next, whatever the goal; default 50.",
            check=lambda value: positive("n", value, "documents"),
            flag=options.Flag(),
        ),
    ] = 50,
    goal: Annotated[
        Any,
        options.Option(
            'what is to be decided: ``"ranking"`` (default), all pairs with a new run; the name of a new run, that '
            'run against every other; several names, the pairs of these with a new run; or ``"score"``, a sample of '
            "which the scores of the new runs are estimated.",
            check=checked_goal,
            flag=options.Flag(help="ranking, score, the name of a run, or several names", metavar="GOAL", kind="words"),
        ),
    ] = RANKING,
    judged: Annotated[
        Any,
        options.Option(
            "labels of documents of the plan that were judged since, and are not among the judgments: judgments in any "
            "form, or what :func:`~pt_reuse.judging.import_labels` returns.",
            flag=options.Flag(
                help="labels of the plan's documents that were judged since, such as `judge import` writes",
                metavar="FILE",
                kind="judgments",
            ),
        ),
    ] = None,
    seconds: Annotated[
        float,
        options.Option(
            "how long a label takes, for what the labels cost; default 30.",
            check=lambda value: number("seconds", value),
            flag=options.Flag(help="seconds that a label takes", metavar="S", kind="float"),
        ),
    ] = 30,
    topics: Annotated[pd.DataFrame | None, options.Option("a frame with ``qid`` and ``query``, for pipelines.")] = None,
    by: LeftOut = "team",
    judge: Judge = None,
    corpus: Corpus = None,
    depth: options.Depth = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    confidence: Confidence = 0.9,
    seed: options.Seed = 0,
) -> JudgingPlan:
    """Plan which unjudged documents to judge next for a decision, how many it takes, and when the decision stands.

    Documents of new runs are judged in the order of what their label can change, times how unsure it is by the document
    model (:func:`~pt_reuse.profile.compare_estimators`). A pair is decided once the expected difference exceeds
    `critical_value` predicted deviations, calibrated on left-out teams: with a probability of `confidence` no decision
    on a run of one more team is wrong, however often one looks. So keep the judgments as they were, and pass all labels
    so far as `judged`. How many labels a decision takes is simulated by drawing labels.

    With ``goal="score"`` a sample of `n` documents is drawn with probabilities in proportion to the same sizes, from
    which :func:`check_new_run` estimates scores by P and RBP without trusting the model, and nearly so by nDCG.

    Returns:
        JudgingPlan: ``.table`` (per pair), ``.documents`` and ``.pool`` (at most `n`), ``.scores``, ``.summary``.

    Raises:
        InputError: no new run, or an unknown one as `goal`; more than one measure, or one other than AP, nDCG, P, R,
            RBP(rel=1), RR and Success; new runs of another collection; a field of which nothing can be learned.

    Warns:
        CaveatWarning: fewer than five topics, or a pool that is partly unjudged.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_teams=12)
        >>> names = field.runs.names
        >>> new, others = field.runs.select(names=names[:1]), field.runs.select(names=names[1:])
        >>> known = field.qrels.restrict(ptr.depth_pool(others, depth=10))
        >>> plan = ptr.judge_next(others, known, "nDCG@10", new=new, n=10, depth=10)
        >>> labels = plan.pool.judge(field.qrels)
        >>> later = ptr.judge_next(others, known, "nDCG@10", new=new, n=10, depth=10, judged=labels)
        >>> len(plan.table), *(int((each.table["decided"] != "").sum()) for each in (plan, later))
        (23, 22, 23)

    Source: the order, minimal test collections, Carterette, Allan and Sitaraman, SIGIR 2006; the sample, Horvitz and
    Thompson 1952 with a model's predictions as a baseline, and Hajek's variance.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, usual=_usual)
    check_predicted(inputs.measures)
    if goal == (SCORE,):
        check_estimable(inputs.measures)
    if len(inputs.measures) != 1:
        raise InputError(f"a decision is by one measure, got {len(inputs.measures)}.", argument="measures")
    units = inputs.runs.units(by)
    field, new_runs = _new_runs(inputs, new, topics)
    pooled = replace(inputs, runs=field).pooled(depth, contributors, pool_order)
    how: dict[str, Any] = {"by": by, "confidence": confidence, "judge": judge, "corpus": corpus}
    predictor = NewRunPredictor(replace(inputs, runs=field), pooled, new_runs, **how)
    predictor.check()
    # runs of the field fitted where they were read
    beware(few_topics(len(inputs.qrels.topics)), predictor.gap.caveats())
    beware(misfits(new_runs, inputs.qrels, inputs.measures) if new is not None else ())
    known = _known(predictor, None if judged is None else as_qrels(judged, "judged"))
    since = Qrels.of_arrays(predictor.evidence.qrels.arrays.labelled(known)).keep(known >= 0)
    decision = _Decision(predictor, goal, known, inputs.qrels | since if len(since) else inputs.qrels, seed)
    table = pd.DataFrame([decision.pair(*pair) for pair in decision.pairs])
    table.insert(0, "measure", repr(inputs.measures[0]))
    documents, sampled = decision.documents, goal == (SCORE,)
    if sampled:
        probability = inclusion(documents["priority"].to_numpy(), n)
        cutoff = spec_of(predictor.measures[0]).cutoff
        documents = documents.assign(**{INCLUSION: probability}).iloc[draw(probability, seed)]
        documents = with_plan(documents, frame_of(predictor.evidence, cutoff, known >= 0), cutoff)
    documents = documents.drop(columns="row").head(n).reset_index(drop=True)
    scores = decision.scores(table)
    summary = decision.summed(table, scores, len(documents), sampled=sampled)
    settings = settings_of(
        inputs,
        units,
        pooled,
        goal=" against ".join(goal),
        units=f"{by}s that are left out",
        calibrated=f"at {100 * confidence:.4g}%, {count(len(predictor.train), by)}, it takes "
        f"{units_needed(confidence)}",
        significance="paired t test over topics, two-sided, p at most 0.05, not corrected",
        judged_since=int((known >= 0).sum()),
        only_bounds=decision.why_bounds() or "none",
        strategy="judge-next",
        draws=_DRAWS,
        seconds=seconds,
        seed=seed,
    )
    return JudgingPlan(
        table=table,
        documents=documents,
        scores=scores,
        summary=summary,
        critical_value=decision.critical_value,
        confidence=confidence,
        settings=settings,
    )


def _new_runs(inputs: Inputs, new: Any, topics: pd.DataFrame | None) -> tuple[Any, Any]:
    """Return the field and the new runs; without `new` these are the runs of the field that were not pooled."""
    runs = inputs.runs
    if new is not None:
        return runs, as_new_runs(new, runs, inputs.qrels, topics, call="judge_next(runs, qrels, new=...)")
    pooled = runs.pooled.fillna(True).to_numpy(dtype=bool)
    if pooled.all():
        whose = "all were" if runs.pool_is_on_record else "who was pooled is not on record"
        text = f"new is missing. Without it the new runs are those of the field that were not pooled; {whose}."
        raise InputError(text, argument="new")
    unpooled = runs.select(names=[name for name, was in zip(runs.names, pooled.tolist(), strict=True) if not was])
    field = runs.select(pooled=True)
    return field, as_new_runs(unpooled, field, inputs.qrels, topics)


def _known(predictor: NewRunPredictor, judged: Qrels | None) -> NDArray[np.int16]:
    """Return (documents,) labels that were given since, below 0 where there is none; others have no effect."""
    evidence = predictor.evidence
    known = np.full(len(evidence.labels), UNJUDGED)
    if judged is None:
        return known
    rows, labels = evidence.qrels.arrays.documents.find(judged.arrays.documents), judged.arrays.labels
    if elsewhere := int(((rows < 0) & (labels >= 0)).sum()):
        warn(f"{count(elsewhere, 'document')} of `judged` not at the top of any new run, without effect here.")
    inside = (rows >= 0) & (labels >= 0)
    rows, labels = rows[inside], labels[inside]
    before, highest = evidence.labels[rows], int(evidence.labels.max())
    if (labels > highest).any():
        problem = f"judged has the label {int(labels.max())}, and the highest of the judgments is {highest}."
        raise InputError(problem, argument="judged")
    changed = np.flatnonzero((before >= 0) & (before != labels))
    if len(changed):
        qid, docno = (names[rows[changed[0]]] for names in evidence.names)
        raise InputError(
            f"document {docno!r} of topic {qid!r} has the label {labels[changed[0]]}, and {before[changed[0]]} in the "
            "judgments. Keep the judgments as they were when the plan was made.",
            argument="judged",
        )
    known[rows[before < 0]] = labels[before < 0]
    return known


def _pairs(goal: Sequence[str], new: Sequence[str], others: Sequence[str]) -> list[tuple[str, str]]:
    names = [*new, *others]
    chosen = names if goal in ((RANKING,), (SCORE,)) else goal
    for name in chosen:
        if name not in names:
            raise InputError(f"goal names {name!r}, which is no run here.{did_you_mean(name, names)}", argument="goal")
    if len(chosen) == 1:
        pairs = [(chosen[0], other) for other in names if other != chosen[0] and chosen[0] in new]
    else:
        pairs = [pair for pair in combinations(chosen, 2) if set(pair) & set(new)]
    if not pairs:
        raise InputError("goal names no new run: what is unjudged of others is not known here.", argument="goal")
    return pairs


class _Decision:
    """The pairs of a decision, the documents in the order in which they are judged, and drawn courses of that."""

    def __init__(
        self, predictor: NewRunPredictor, goal: Sequence[str], known: NDArray[np.int16], judged: Qrels, seed: int
    ):
        self.predictor, evidence = predictor, predictor.evidence
        rows = {predictor.name(row): row for row in predictor.rows()}
        self.pairs = _pairs(goal, list(rows), [name for name in predictor.runs.names if name not in rows])
        self.names = list(dict.fromkeys(name for pair in self.pairs for name in pair))
        self.critical_value = predictor.critical_value(0)
        self._now = Expectations(predictor, 0, known)
        own = {(0, name): {"predicted": predictor.predicted_score(0, row)} for name, row in rows.items()}
        self.new = {name: self._now.of(name) for name in self.names if name in rows}
        self.documents = self._ordered()
        order = self.documents["row"].to_numpy()
        self._place = np.full(len(evidence.labels), len(order))
        self._place[order] = np.arange(len(order))
        self._expected = {pair: self._now.pair(*pair, self._place) for pair in self.pairs}
        is_open = [pair for pair, found in self._expected.items() if not found.decided and not found.n_shared]
        self._rivals = Rivals(predictor, own, judged, {name for pair in is_open for name in pair})
        every = self._now.net(dict.fromkeys(self.new, 1.0), self._place)
        #: (draws, documents) labels, in the order of the plan; a document has the same beside every run
        self._labels = every.drawn(np.random.default_rng(seed), _DRAWS)
        #: of each open pair, (draws,) how many documents must be judged until it is decided
        self.needed: list[NDArray[np.int64]] = []

    def _ordered(self) -> pd.DataFrame:
        (qids, docnos), parts = self.predictor.evidence.names, []
        for run in self.new.values():
            rank, left = run.row.case.ranks(run.row.place), run.left
            columns = {"row": left.row, "rank": rank[left.row], "chance": left.chance[:, 0], "priority": left.size}
            parts.append(pd.DataFrame(columns))
        every = pd.concat(parts, ignore_index=True).groupby("row", as_index=False)
        once = every.agg({"rank": "min", "chance": "mean", "priority": "max"})
        once = once.sort_values(["priority", "row"], ascending=[False, True], kind="stable").reset_index(drop=True)
        row = once["row"].to_numpy()
        return once.assign(qid=qids[row], docno=docnos[row])[["qid", "docno", "rank", "priority", "chance", "row"]]

    def why_bounds(self) -> str:
        runs = {name: run for name, run in self.new.items() if len(run.left.row)}
        reasons = [f"{name} ({'; '.join(run.why_bounds)})" for name, run in runs.items() if run.why_bounds]
        reasons[1:] = [count(len(reasons) - 1, "more new run")] if len(reasons) > 1 else []
        if any(run.shared & set(self.names) for run in runs.values()):
            reasons.append("runs of the field have the same unjudged documents")
        return "; ".join(reasons)

    def pair(self, one: str, other: str) -> dict[str, Any]:
        """Return what is known of a pair, and how many labels it takes; those of an open one are kept."""
        pair, confidence = self._expected[one, other], self.predictor.confidence
        labels = self._labels[:, self._place[pair.effects.row]]
        gained = np.cumsum(pair.moves.of_labels(labels) - pair.effects.mean, axis=1)
        course = pair.difference + np.concatenate([np.zeros((_DRAWS, 1)), gained], axis=1)
        decided = pair.decided
        if not decided and not pair.n_shared:
            decided = self._rivals.decides(0, pair.first, pair.second)
        sure = (course + pair.least > CLOSE) | (course + pair.most < -CLOSE)
        sure[:, -1] = True
        sure[:, 0] |= decided in (AS_JUDGED, EVERY)
        stops = sure | (np.abs(course) > pair.reach * pair.spread)
        stops[:, 0] |= bool(decided)
        step = np.append(0, self._place[pair.effects.row] + 1)
        needed, by_bounds = (step[np.argmax(each, axis=1)] for each in (stops, sure))
        if not decided:
            self.needed.append(needed)
        return {
            "first": pair.first,
            "second": pair.second,
            "difference": pair.difference,
            "half": pair.half,
            "decided": f"at {100 * confidence:.4g}%" if decided == CONFIDENT else decided,
            "abstains": pair.abstains,
            "expected": float(needed.mean()),
            "most": float(np.quantile(needed, confidence, method="inverted_cdf")),
            "by_bounds": float(by_bounds.mean()),
            "significant": self._significant(pair.by_topic, pair.effects, labels),
        }

    def _significant(self, by_topic: Floats, effects: Effects, labels: NDArray[np.int64]) -> float:
        from scipy.stats import t

        n = len(by_topic)
        if n < 2:
            return 0.0
        moved = np.zeros((_DRAWS, n))
        np.add.at(moved.T, self.predictor.evidence.topic[effects.row], n * (effects.of_labels(labels) - effects.mean).T)
        drawn = by_topic + moved
        error = drawn.std(axis=1, ddof=1) / np.sqrt(n)
        return float((np.abs(drawn.mean(axis=1)) > t.ppf(0.975, n - 1) * error).mean())

    def scores(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return one row per run: its score, and of new runs that are compared with all others the ranks."""
        columns, rows = ["name", "score", "zero", "deviation", "rank", "rank_low", "rank_high", "decided"], []
        for name in self.names:
            zero, run = float(self._now.judged[:, self.predictor.runs.row(name)].mean()), self.new.get(name)
            row: list[Any] = [name, zero, zero, 0.0, None, None, None, ""]
            if run is not None:
                pairs = table[(table["first"] == name) | (table["second"] == name)]
                if len(run.left.row):
                    row[1], row[3] = float(run.own.expected.mean()), float(run.left.spread()[0])
                if len(pairs) == len(self.names) - 1:
                    behind, is_open = (pairs["second"] == name) & (pairs["difference"] > CLOSE), pairs["decided"] == ""
                    ahead = (behind, behind & ~is_open, behind | is_open)
                    row[4:] = [*(1 + int(runs.sum()) for runs in ahead), _weakest(pairs)]
            rows.append(row)
        return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[4:7], "Int64"))

    def summed(self, table: pd.DataFrame, scores: pd.DataFrame, n: int, *, sampled: bool) -> pd.DataFrame:
        """Return in a row what is decided, and what it takes to decide the rest."""
        losses = scores["name"].map(table.loc[table["difference"] > CLOSE, "second"].value_counts()).fillna(0)
        needed, limited = np.array([np.zeros(_DRAWS), *self.needed]), table["significant"] < 0.5
        labels = np.full(1, n) if sampled else needed.max(axis=0)
        row = {
            "measure": table["measure"].iloc[0],
            "leader": scores["name"].iloc[np.lexsort((-scores["score"], losses))[0]],
            "pairs": len(table),
            "decided": int((table["decided"] != "").sum()),
            "open": len(self.needed),
            "settled": float((needed[1:] <= n).sum() / _DRAWS),
            "labels": float(labels.mean()),
            "labels_most": float(np.quantile(labels, self.predictor.confidence, method="inverted_cdf")),
            "abstains": int(table["abstains"].sum()),
            "limited_by_topics": int(limited.sum()),
            "open_limited": int((limited & (table["decided"] == "")).sum()),
            "documents": n,
            "unjudged": len(self.documents),
        }
        return pd.DataFrame([row])
