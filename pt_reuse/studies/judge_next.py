"""judge_next: which documents to judge next for a decision between runs, how many that takes, and when to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, positive, told
from pt_reuse._errors import InputError, door, warn, wrong
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.expected import Floats, conformal_quantile
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.inputs import Inputs, Pooled
from pt_reuse.options import SHARED, Flag, Parameter
from pt_reuse.plots.forests import plot_labels_needed
from pt_reuse.pooling.pool import INCLUSION, SAMPLED, Pool, contributors_of
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import few_topics
from pt_reuse.scoring.run_fit import misfits
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.new_runs.calibration import check_predicted, spec_of, units_needed
from pt_reuse.studies.new_runs.effects import Effects, wrong_stop
from pt_reuse.studies.new_runs.estimators import named_estimators
from pt_reuse.studies.new_runs.predictor import (
    DECLARED,
    NewRunPredictor,
    PredictionConfig,
    RunInCase,
    as_new_runs,
)
from pt_reuse.studies.new_runs.sample_plan import frame_of, with_plan
from pt_reuse.studies.new_runs.sampling import check_estimable, draw, inclusion
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

RANKING, SCORE = "ranking", "score"
_CLOSE = 10.0**-DECIMALS
#: how often the labels to come are drawn, to say how many are needed
_DRAWS = 200


def _draw(result: JudgingPlan, _: str, place: Place, top: int | None = None) -> Axes:
    """Draw how many labels the decision on each pair takes, the most on top."""
    return plot_labels_needed(result.table, confidence=result.confidence, top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgingPlan(Result):
    """Which documents to judge for a decision, in which order, and what is decided so far.

    Its figure has a row per pair: the labels that its decision takes on average, and a line to what most need.

    Attributes:
        table: one row per pair of runs of the decision: ``measure first second``, the one that is expected to be better
            first; ``difference`` of expected means and ``half``, by how much a decision needs it to differ;
            ``decided``: ``"as judged"``, where no document that the measure sees in its new runs is unjudged; ``"under
            every completion"`` of the new runs' documents, all others as judged, ``"at 90 %"`` (as `confidence` says)
            or ``""``; whether it ``abstains``, since a new run is unlike those left out
            (:func:`check_new_run`), so that only bounds decide; ``expected`` and ``most``, the number of labels until
            it is decided, the mean and what nine in ten (`confidence`) drawn courses need at most; ``by_bounds``, the
            mean number until it is decided under every completion, where each document adds the same whatever the
            others are, and nearly so by other measures than P and RBP; ``significant``, how likely the difference is
            significant over topics (paired t test, 0.05) once every document is judged.
        documents: the unjudged documents of the decision, those to judge first on top: ``qid docno rank``, the best one
            in the new runs; ``priority``; ``chance``, how likely each is relevant; with ``goal="score"`` those that
            were drawn, with ``inclusion``, the probability of each, ``drawn``, how many they are, and ``plan``, a
            digest by which :func:`check_new_run` knows a whole sample.
        scores: one row per run of the decision: ``name score``, the mean expected for new runs, as judged for others;
            ``zero``, as judged; ``deviation`` of what is expected.
        reach: how many deviations a difference must have for a decision; infinite where too few units can be left out.
        labels: how many documents of the plan must be judged, from its top, until every open pair is decided: the mean
            over drawn courses. A document counts once, however many pairs it decides.
        labels_most: what nine in ten (`confidence`) drawn courses need at most.
        unjudged: how many documents of the decision are unjudged, drawn into a sample or not.
    """

    title = "What to judge next"
    condition = (
        "It holds for new runs like those of the {units}, judged in the order of the plan, however often one looks "
        "({calibrated})."
    )
    limit = "It does not say what other topics would change; `significant` tells where topics are the limit."
    views = {
        "pair": View(
            columns=(
                Shown("Better", "first"),
                Shown("Worse", "second"),
                Shown("Difference", "difference", Digits.SCORE),
                Shown("Needed", "half", Digits.SCORE),
                Shown("Labels", "expected", Digits.TENTHS),
                Shown("Significant", "significant", Digits.SCORE),
            ),
            caption="Pairs of runs by {measure}: the expected difference, how large it must be for a decision, the "
            "labels that takes, and how likely it is significant over topics then.",
            noun="pairs",
        ),
        "document": View(
            table="documents",
            columns=(
                Shown("Topic", "qid"),
                Shown("Document", "docno"),
                Shown("Best rank", "rank", Digits.COUNT),
                Shown("Chance", "chance", Digits.SCORE),
                Shown("Priority", "priority", Digits.SCORE),
            ),
            caption="The documents to judge, first to last: their best rank in the new runs, and how likely each is "
            "relevant.",
            noun="documents",
        ),
    }
    plots = {"labels": _draw}
    key = (KeyFigures(("pairs", "decided", "labels", "limited_by_topics"), "summary"),)
    answer = ("summary", "{verdict}")
    derived = {"summary": "summary"}

    documents: pd.DataFrame
    scores: pd.DataFrame
    reach: float
    labels: float
    labels_most: float
    unjudged: int
    confidence: float

    def summary(self) -> pd.DataFrame:
        """Return in a row how many pairs there are, what is open, and how many labels that takes.

        Returns:
            DataFrame: ``measure pairs decided open``; ``labels`` and ``labels_most``, how many documents must be judged
            until every open pair is decided, the mean and what nine in ten (`confidence`) courses need, with
            ``goal="score"`` the size of the sample; ``abstains``, pairs of which nothing but bounds decides;
            ``limited_by_topics``, pairs of which ``significant`` is below a half; ``documents`` of the plan, and
            ``unjudged``, all that are; ``verdict``, the answer in words.
        """
        is_sample, n = INCLUSION in self.documents, len(self.documents)
        row = {
            "measure": self.table["measure"].iloc[0] if len(self.table) else "",
            "pairs": len(self.table),
            "decided": int((self.table["decided"] != "").sum()),
            "open": int((self.table["decided"] == "").sum()),
            "labels": float(n) if is_sample else self.labels,
            "labels_most": float(n) if is_sample else self.labels_most,
            "abstains": int(self.table["abstains"].sum()),
            "limited_by_topics": int((self.table["significant"] < 0.5).sum()),
            "documents": n,
            "unjudged": self.unjudged,
        }
        said = self._of_sample(row) if is_sample else self._of_pairs(row)
        return pd.DataFrame([{**row, "verdict": f"{row['measure']}: {said}"}])

    def _of_sample(self, row: Mapping[str, Any]) -> str:
        if not row["unjudged"]:
            return "no document of the new runs is unjudged, so there is nothing to sample; they score as judged"
        return (
            f"a sample of {count(row['documents'], 'document')} was drawn, of {row['unjudged']:,} unjudged; judge all "
            "of it to estimate the scores of the new runs"
        )

    def _of_pairs(self, row: Mapping[str, Any]) -> str:
        parts = [f"{row['decided']:,} of {count(row['pairs'], 'pair')} are decided"]
        as_judged = int((self.table["decided"] == "as judged").sum())
        if as_judged:
            parts[0] += f", {as_judged:,} of them as judged"
        if row["open"]:
            parts.append(
                f"to decide the others takes {row['labels']:,.0f} labels on average, {row['labels_most']:,.0f} in one "
                f"of ten courses, of {count(row['unjudged'], 'unjudged document')}"
            )
        if row["abstains"]:
            parts.append(f"of {count(row['abstains'], 'pair')} only bounds decide")
        parts.append(f"{row['limited_by_topics']:,} are unlikely to be significant over topics, whatever is judged")
        return "; ".join(parts)

    @property
    def pool(self) -> Pool:
        """Return the documents as a pool, in the order of the plan, to export as tasks or to judge."""
        return self.next(n=max(len(self.documents), 1))

    @door
    def next(self, *, n: int = 20) -> Pool:
        """Return the next `n` documents of the plan as a pool; a sample is whole, since a part of it is none.

        Raises:
            InputError: a number that is none.
        """
        columns, is_sample = ["qid", "docno", "priority"], INCLUSION in self.documents
        n = positive("n", n, "documents")
        first = self.documents[[*columns, *SAMPLED]] if is_sample else self.documents.head(n)[columns]
        return Pool.from_frame(first, settings={"strategy": "judge-next"})


def _how(n_left: int, apart: float, half: float, ends: Floats, confidence: float) -> str:
    if not n_left:
        return "as judged"
    if ends[0] > _CLOSE or ends[1] < -_CLOSE:
        return "under every completion"
    return f"at {100 * confidence:.4g} %" if abs(apart) > half else ""


@study(
    replace(
        SHARED["measures"],
        meaning="an ir_measures measure or its name, only one; default ``nDCG@10``.",
        flag=Flag(help="of the decision, only one", metavar="MEASURE", kind="list", default="nDCG@10"),
    ),
    *DECLARED,
    Parameter(
        name="new",
        meaning="new runs in any form, as :func:`check_new_run` takes them; default the runs of the field that were "
        "not pooled.",
        flag=Flag(help="files of the new runs, each taken for a team of its own", metavar="FILE", kind="runs"),
    ),
    Parameter(
        name="goal",
        meaning='what is to be decided: ``"ranking"`` (default), all pairs with a new run; the name of a new run, that '
        'run against every other; a pair of names; or ``"score"``, a sample of which the scores of the new runs are '
        "estimated.",
        flag=Flag(help="ranking, score, the name of a run, or two names", metavar="GOAL", kind="list"),
    ),
    Parameter(
        name="n",
        meaning='with ``goal="score"``, how many documents are sampled; otherwise all are in the plan.',
        check=lambda value: positive("n", value, "documents"),
        flag=Flag(help="documents of a sample"),
    ),
    Parameter(
        name="judged",
        meaning="labels of documents of the plan that were judged since, and are not among the judgments.",
        flag=Flag(help="labels of the plan's documents that were judged since", metavar="FILE", kind="judgments"),
    ),
    Parameter(name="topics", meaning="a frame with ``qid`` and ``query``, for pipelines."),
    command=Command(
        name="judge-next",
        summary="which documents to judge next to tell runs apart, and when to stop",
        details="Each team is left out of the pool to learn how likely unjudged documents are relevant, and how far "
        "estimates are off while documents are judged one by one.",
        screen=("pair", "document"),
    ),
    measures=lambda rel: [ir_measures.nDCG @ 10],
    entry=Entry(question="What should I judge next?", papers="[C06]_"),
)
def judge_next(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    new: Any = None,
    goal: Any = RANKING,
    n: int = 40,
    judged: Any = None,
    topics: pd.DataFrame | None = None,
    by: str = "team",
    judge: Any = None,
    corpus: Any = None,
    depth: int | None = None,
    rel: int | None = None,
    contributors: Any = "pooled",
    pool_order: str | None = None,
    confidence: float = 0.9,
    seed: int = 0,
) -> JudgingPlan:
    """Plan which unjudged documents to judge for a decision, how many that takes, and when the decision stands.

    Documents of new runs are judged in the order of what their label can change, times how unsure it is by the document
    model (:func:`~pt_reuse.profile.compare_estimators`). After each label a run is expected to score what is known, and
    what is expected of the rest. A pair is decided once the expected difference exceeds `reach` predicted deviations.
    That number is calibrated on left-out teams, whose labels are known: with a probability of `confidence` no decision
    on a run of one more team is wrong, however often one looks. So keep the judgments as they were, pass the labels so
    far as `judged`, and look as often as you like.

    How many labels a decision takes is simulated by drawing labels. Where a paired t test over topics would not find
    the difference even then, no label settles it: topics limit it.

    With ``goal="score"`` a sample of `n` documents is drawn with probabilities proportional to the same sizes. Its
    labels estimate scores by P and RBP without trusting the model, and nearly so by nDCG, for which the model's chances
    are shifted to what the sample has: :func:`check_new_run` takes them as `sampled`.

    Returns:
        JudgingPlan: ``.table`` (per pair), ``.documents`` and ``.pool``, ``.next(n=)``, ``.summary()``.

    Raises:
        InputError: no new run, or an unknown one as `goal`; more than one measure, or one other than AP, nDCG, P, R,
            RBP(rel=1), RR and Success; new runs of another collection; a field of which nothing can be learned.

    Warns:
        CaveatWarning: fewer than five topics.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7, n_teams=12)
        >>> names = field.runs.names
        >>> new, others = field.runs.select(names=names[:1]), field.runs.select(names=names[1:])
        >>> known = field.qrels.restrict(ptr.depth_pool(others, depth=10))
        >>> plan = ptr.judge_next(others, known, "nDCG@10", new=new, depth=10)
        >>> labels = plan.next(n=10).judge(field.qrels)
        >>> later = ptr.judge_next(others, known, "nDCG@10", new=new, depth=10, judged=labels)
        >>> len(plan.table), *(int((each.table["decided"] != "").sum()) for each in (plan, later))
        (23, 22, 23)

    Source: the order, minimal test collections, Carterette, Allan and Sitaraman, SIGIR 2006; the sample, Horvitz and
    Thompson 1952 with a model's predictions as a baseline, and Hajek's variance.
    """
    asked = Asked(judge_next, locals())
    runs, qrels, measures = asked.runs, asked.qrels, asked.measures
    check_predicted(measures)
    if goal in (SCORE, [SCORE]):
        check_estimable(measures)
    if len(measures) != 1:
        raise InputError(f"a decision is by one measure, got {len(measures)}.", argument="measures")
    asked.units("by")
    if new is None:
        pooled = runs.pooled.fillna(True).to_numpy(dtype=bool)
        if pooled.all():
            raise wrong(
                "new",
                " is missing. Without it the new runs are those of the field that were not pooled, and all "
                f"{len(runs)} were.",
            )
        found = runs.select(names=[name for name, was in zip(runs.names, pooled.tolist(), strict=True) if not was])
        runs = runs.select(pooled=True)
    else:
        found = new
    found = as_new_runs(found, runs, qrels, topics)
    config = PredictionConfig(by, named_estimators(["documents"], judge=judge, corpus=None), confidence, judge, corpus)
    contributing = contributors_of(runs, asked["contributors"])
    pooled_runs = Pooled(runs, asked.depth.value, asked.depth.origin.value, contributing, asked["pool_order"])
    inputs = Inputs(runs, qrels, measures, asked.rel, complete=True)
    outlook = NewRunPredictor(inputs, pooled_runs, found, replace(config, corpus=asked["corpus"]))
    outlook.check()
    # without new runs, those of the field are all told of with the settings
    fitting = misfits(found, qrels, measures) if new is not None else ()
    asked.tell(few_topics(len(qrels.topics)), outlook.gap.caveats(), fitting)
    given = None if judged is None else as_qrels(judged, "judged")
    return _planned(outlook, asked, given)


def _planned(outlook: NewRunPredictor, asked: Asked, judged: Qrels | None) -> JudgingPlan:
    measure, goal, seed = repr(outlook.measures[0]), asked["goal"], asked["seed"]
    if not isinstance(goal, str) and isinstance(goal, Sequence) and len(goal) == 1:
        goal = goal[0]
    rows = {outlook.name(row): row for row in outlook.rows()}
    pairs = _pairs(goal, list(rows), [name for name in outlook.runs.names if name not in rows])
    wanted = [name for name in dict.fromkeys(name for pair in pairs for name in pair) if name in rows]
    known = _known(outlook, judged)
    reach = _stopping_reach(outlook)
    states = {name: _State.of(outlook, rows[name], known) for name in wanted}
    documents = _ordered(outlook, states)
    course = _Course(outlook, states, documents["row"].to_numpy(), reach, seed)
    table = pd.DataFrame([{"measure": measure, **course.pair(first, second)} for first, second in pairs])
    scores = [{"name": name, **course.start(name)} for name in dict.fromkeys(name for pair in pairs for name in pair)]
    labels, unjudged = course.labels(), len(documents)
    if goal == SCORE:
        probability = inclusion(documents["priority"].to_numpy(), asked["n"])
        documents = documents.assign(**{INCLUSION: probability}).iloc[draw(probability, seed)]
        cutoff = spec_of(outlook.measures[0]).cutoff
        documents = with_plan(documents, frame_of(outlook.evidence, cutoff, known >= 0), cutoff)
    settings = {
        "goal": goal if isinstance(goal, str) else " against ".join(goal),
        "units": f"{asked['by']}s that are left out",
        "calibrated": f"at {100 * outlook.config.confidence:.4g} %, {count(len(outlook.train), asked['by'])}, it takes "
        f"{units_needed(outlook.config.confidence)}",
        "significance": "paired t test over topics, 0.05",
        "judged since": int((known >= 0).sum()),
        "draws": _DRAWS,
        "seed": seed,
    }
    return JudgingPlan(
        table=table,
        documents=documents.drop(columns=["row"]).reset_index(drop=True),
        scores=pd.DataFrame(scores),
        reach=reach,
        labels=float(labels.mean()),
        labels_most=float(np.quantile(labels, outlook.config.confidence, method="inverted_cdf")),
        unjudged=unjudged,
        confidence=outlook.config.confidence,
        settings=asked.settings(**settings),
    )


def _known(outlook: NewRunPredictor, judged: Qrels | None) -> NDArray[np.int16]:
    """Return (documents,) labels that were given since, below 0 where there is none."""
    found = np.full(len(outlook.evidence.labels), UNJUDGED)
    if judged is None:
        return found
    rows, labels = outlook.evidence.qrels.arrays.documents.find(judged.arrays.documents), judged.arrays.labels
    highest = int(outlook.evidence.labels.max())
    if int(labels.max(initial=0)) > highest:
        raise wrong("judged", f" has the label {int(labels.max())}, and the highest of the judgments is {highest}.")
    before = np.where(rows >= 0, np.append(outlook.evidence.labels, UNJUDGED)[rows], UNJUDGED)
    given: NDArray[np.bool_] = labels >= 0
    other: NDArray[np.bool_] = given & (before >= 0) & (before != labels)
    if other.any():
        qid, docno = (names[rows[other][0]] for names in outlook.evidence.names)
        raise InputError(
            f"document {docno!r} of topic {qid!r} has the label {labels[other][0]}, and {before[other][0]} in the "
            "judgments. Keep the judgments as they were when the plan was made.",
            argument="judged",
        )
    strange = int((given & (rows < 0)).sum())
    if strange:
        warn(f"{count(strange, 'document')} of `judged` is none that a new run has at the top; it says nothing here.")
    new = given & (rows >= 0) & (before < 0)
    found[rows[new]] = labels[new]
    return found


def _stopping_reach(outlook: NewRunPredictor) -> float:
    """Return how many deviations a difference must have for decisions on one more unit to be right."""
    predicted = outlook.predicted[0]
    worst, unit = [], []
    for row in outlook.left_out():
        effects, field, model = outlook.effects(0, row), predicted.ranked[row.at], predicted.model
        course = model.course(row.at, row.place, effects, row.case.labels[effects.row], field.by_topic)
        # what the others gain deeper than the pool shows once all is judged
        truth = course.score[-1] - (course.others[:, -1] if model.dilutes else field.true)
        worst.append(wrong_stop(course.score - course.others, truth, effects.spread()))
        unit.append(row.case.unit)
    return conformal_quantile(np.array(worst), np.array(unit), outlook.config.confidence)


@dataclass(frozen=True)
class _State:
    """A new run: what it is expected to score now, and the documents that are left."""

    row: RunInCase
    mine: tuple[Floats, ...]  # (topics,) what it is expected to score, and at least and at most
    others: tuple[Floats, ...]  # (topics, runs) the same of every other run beside it
    shared: frozenset[str]  # the others that have some of its unjudged documents where the measure looks
    left: Effects
    whole: bool  # whether no document of a new run is unjudged

    @classmethod
    def of(cls, outlook: NewRunPredictor, row: RunInCase, known: NDArray[np.int16]) -> _State:
        """Return what is expected of a run, given labels of some documents."""
        effects = outlook.effects(0, row)
        left = effects.take(known[effects.row] < 0)
        evidence = outlook.evidence
        whole = not ((evidence.labels < 0) & (known < 0) & (evidence.n_brought > 0)).any()
        return cls(row, *outlook.expected(0, row, known), outlook.sharing(0, left), left, whole)


def _pairs(goal: Any, new: Sequence[str], others: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of a decision, a new run in each."""
    names = [*new, *others]
    given = [goal] if isinstance(goal, str) else list(goal) if isinstance(goal, Sequence) else None
    if given is None or not all(isinstance(name, str) for name in given) or len(given) not in (1, 2):
        raise wrong("goal", f" must be 'ranking', 'score', the name of a run or two names, got {told(goal)}.")
    if given in ([RANKING], [SCORE]):
        return [(one, other) for at, one in enumerate(new) for other in [*new[at + 1 :], *others]]
    for name in given:
        if name not in names:
            raise wrong("goal", f" names {name!r}, which is no run here.{did_you_mean(name, names)}")
    if not set(given) & set(new):
        raise wrong("goal", f" names no new run: whatever is unjudged of {' and '.join(given)} is not known here.")
    if len(given) == 2:
        if given[0] == given[1]:
            raise wrong("goal", f" names {given[0]!r} twice.")
        return [(given[0], given[1])]
    return [(given[0], other) for other in names if other != given[0]]


def _ordered(outlook: NewRunPredictor, states: Mapping[str, _State]) -> pd.DataFrame:
    """Return the documents of a decision in the order of the plan: ``qid docno rank priority chance row``."""
    (qids, docnos), parts = outlook.evidence.names, []
    for state in states.values():
        rank, mine = state.row.case.ranks(state.row.place), state.left
        parts.append(
            pd.DataFrame({"row": mine.row, "rank": rank[mine.row], "chance": mine.chance[:, 0], "priority": mine.size})
        )
    every = pd.concat(parts, ignore_index=True)
    found = every.groupby("row", as_index=False).agg({"rank": "min", "chance": "mean", "priority": "max"})
    found = found.sort_values(["priority", "row"], ascending=[False, True], kind="stable").reset_index(drop=True)
    row = found["row"].to_numpy()
    found = found.assign(qid=qids[row], docno=docnos[row])
    return found[["qid", "docno", "rank", "priority", "chance", "row"]]


class _Course:
    """The judging to come: labels are drawn by their chances, and each pair stops where it is decided."""

    def __init__(
        self, outlook: NewRunPredictor, states: Mapping[str, _State], order: NDArray[np.int64], reach: float, seed: int
    ):
        self._outlook, self._states, self._reach = outlook, states, reach
        self._place = np.full(len(outlook.evidence.labels), len(order))
        self._place[order] = np.arange(len(order))
        #: (draws, documents) labels, in the order of the plan; a document has the same beside every run
        self._labels = self._net({name: 1.0 for name in states}).drawn(np.random.default_rng(seed), _DRAWS)
        #: (draws,) how many documents must be judged until each open pair is decided
        self._needed: list[NDArray[np.int64]] = []
        self._n_topics = outlook.evidence.n_topics
        # relevant documents of any new run enlarge the divisor of all
        self._whole = all(state.whole for state in states.values())

    def start(self, name: str) -> dict[str, float]:
        """Return the mean score of a run: expected, and as judged; and the deviation of the former."""
        zero = float(self._zero(name).mean())
        if name not in self._states:
            return {"score": zero, "zero": zero, "deviation": 0.0}
        state = self._states[name]
        deviation = float(state.left.spread()[0]) if len(state.left.row) else 0.0
        return {"score": float(state.mine[0].mean()), "zero": zero, "deviation": deviation}

    def _beside(self, name: str, other: str) -> tuple[Floats, ...]:
        """Return (topics,) what a run is expected to score beside another, and at least and at most."""
        if name in self._states:
            return self._states[name].mine
        if other not in self._states:
            return (self._zero(name),) * 3
        row = self._outlook.runs.row(name)
        return tuple(scores[:, row] for scores in self._states[other].others)

    def _share(self, first: str, second: str) -> bool:
        """Return whether a run of the field has some of the unjudged documents of the new one."""
        pairs = ((first, second), (second, first))
        return any(one in self._states and other in self._states[one].shared for one, other in pairs)

    def _abstains(self, name: str) -> bool:
        return name in self._states and bool(self._outlook.why_not(0, self._states[name].row))

    def _zero(self, name: str) -> Floats:
        found: Floats = self._outlook.scores[0][:, self._outlook.runs.row(name)]
        return found

    def pair(self, one: str, other: str) -> dict[str, Any]:
        """Return what is known of a pair, and how many labels it takes."""
        sides = {name: self._beside(name, against) for name, against in ((one, other), (other, one))}
        first, second = sorted((one, other), key=lambda name: -float(sides[name][0].mean()))
        by_topic = sides[first][0] - sides[second][0]
        signs = {name: sign for name, sign in ((first, 1.0), (second, -1.0)) if name in self._states}
        mine, confidence = self._net(signs), self._outlook.config.confidence
        # another run that has its documents gains by their labels, too, by how much is not known here
        share = self._share(first, second)
        # of a run unlike those left out nothing but the bounds is known, and of what is judged the scores
        abstains = bool(len(mine.row)) and (share or any(self._abstains(name) for name in (first, second)))
        whole = self._whole
        reach = np.inf if abstains else self._reach
        spread, labels = mine.spread(), self._labels[:, self._place[mine.row]]
        difference = float(by_topic.mean())
        gained = np.cumsum(mine.of_labels(labels) - mine.mean, axis=1)
        course = difference + np.concatenate([np.zeros((_DRAWS, 1)), gained], axis=1)
        least, most = mine.ends()
        # a run of the field has a larger or smaller divisor, too
        (low_1, high_1), (low_2, high_2) = (self._moved(name, sides[name]) for name in (first, second))
        least, most = least + low_1 - high_2, most + high_1 - low_2
        ends = np.array([difference + least[0], difference + most[0]])
        if whole:
            ends[:] = difference
        elif share or not self._outlook.bounds_are_exact(0):
            least, most = np.full_like(least, -np.inf), np.full_like(most, np.inf)
            ends[:] = -np.inf, np.inf
        elif not self._outlook.is_linear(0):
            ends[:] = [(sides[first][at] - sides[second][3 - at]).mean() for at in (1, 2)]
        sure = (course + least > _CLOSE) | (course + most < -_CLOSE)
        sure[:, 0] = ends[0] > _CLOSE or ends[1] < -_CLOSE
        sure[:, -1] = True
        decided = sure | (np.abs(course) > reach * spread)
        step = np.append(0, self._place[mine.row] + 1)
        needed, by_bounds = (step[np.argmax(stops, axis=1)] for stops in (decided, sure))
        half = reach * float(spread[0]) if len(mine.row) else 0.0
        how = _how(len(mine.row), difference, half, ends, confidence)
        if not how:
            self._needed.append(needed)
        return {
            "first": first,
            "second": second,
            "difference": difference,
            "half": half,
            "decided": how,
            "abstains": abstains,
            "expected": float(needed.mean()),
            "most": float(np.quantile(needed, confidence, method="inverted_cdf")),
            "by_bounds": float(by_bounds.mean()),
            "significant": self._significant(by_topic, mine, labels),
        }

    def _moved(self, name: str, scores: tuple[Floats, ...]) -> tuple[float, float]:
        """Return by how much documents that a run has not may lower and raise its mean score."""
        if name in self._states:
            return 0.0, 0.0
        expected, low, high = (float(part.mean()) for part in scores)
        return low - expected, high - expected

    def labels(self) -> NDArray[np.int64]:
        """Return (draws,) how many documents of the plan must be judged until all pairs are decided that are open."""
        return np.max([np.zeros(_DRAWS, dtype=np.int64), *self._needed], axis=0)

    def _net(self, signs: Mapping[str, float]) -> Effects:
        """Return the effects on a sum of new runs, each with its sign, in the order of the plan.

        A document of several runs is one.
        """
        parts = [(self._states[name].left, sign) for name, sign in signs.items()]
        rows = np.concatenate([mine.row for mine, _ in parts])
        every, at = np.unique(rows, return_inverse=True)
        labels = parts[0][0].labels
        change, chance = np.zeros((2, len(every), len(labels)))
        np.add.at(change, at, np.concatenate([sign * mine.change for mine, sign in parts]))
        np.add.at(chance, at, np.concatenate([mine.chance for mine, _ in parts]))
        chance /= np.bincount(at, minlength=len(every))[:, None]
        found = Effects(every, labels, chance, change)
        return found.take(np.argsort(self._place[every], kind="stable"))

    def _significant(self, by_topic: Floats, mine: Effects, labels: NDArray[np.int64]) -> float:
        """Return how often a paired t test finds the difference once every document is judged."""
        from scipy.stats import t

        n = self._n_topics
        if n < 2:
            return 0.0
        topic = self._outlook.evidence.topic[mine.row]
        moved = np.zeros((_DRAWS, n))
        np.add.at(moved.T, topic, n * (mine.of_labels(labels) - mine.mean).T)
        drawn = by_topic + moved
        error = drawn.std(axis=1, ddof=1) / np.sqrt(n)
        return float((np.abs(drawn.mean(axis=1)) > t.ppf(0.975, n - 1) * error).mean())
