"""check_new_run: what a run that came after the pool would score and where it would rank, or why nobody can say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.expected import Floats
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.data.judgments import as_qrels
from pt_reuse.options import PRECISION_AND_GAIN, Flag, Parameter
from pt_reuse.plots.forests import plot_rank_intervals
from pt_reuse.result import Result, Shown, View
from pt_reuse.scoring.caveats import few_topics, usual_measures
from pt_reuse.scoring.run_fit import misfits
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.new_runs.calibration import Completed, How, check_predicted
from pt_reuse.studies.new_runs.estimators import ESTIMATORS, PLAIN, named_estimators
from pt_reuse.studies.new_runs.outlook import (
    CONFIDENCE,
    CORPUS,
    JUDGE,
    LEFT_OUT,
    Outlook,
    PoolGap,
    Row,
    Setting,
    as_new_runs,
)
from pt_reuse.studies.new_runs.sampling import ESTIMABLE, Sample, check_estimable, needed, sampled_labels
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


_CLOSE = 10.0**-DECIMALS


def _draw(result: NewRunCheck, measure: str, place: Place) -> Axes:
    """Draw the predicted rank of each new run as a point, and its interval as a line, the best on top."""
    rows = result.table[result.table["measure"] == measure]
    # without a prediction there is no point
    rows = rows.assign(rank=rows["predicted_rank"], place=rows["predicted_rank"].fillna(rows["rank"]))
    rows = rows.sort_values("place", kind="stable")
    said = f"{100 * result.confidence:.4g} % intervals, the bounds where nothing more can be said; thin: with topics"
    return plot_rank_intervals(rows, measure=measure, said=said, noun="runs", place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NewRunCheck(Result):
    """What new runs would score and where they would rank, had their documents been judged.

    Its figure has a point at the predicted rank of each new run, none where it abstains, a line over its interval, and
    a thin one over that with topics.

    Attributes:
        table: one row per measure and new run: ``measure name``; ``unjudged``, the share of its first documents that
            nobody judged, and ``usual_unjudged``, what nine in ten runs have at most when their team is left out;
            ``score`` and ``rank`` with these not relevant; ``lowest highest`` and ``rank_best rank_worst`` under every
            completion: any label for each unjudged document of all new runs down to `depth`, and below it for each that
            the measure sees in the run (RBP adds p^n for what is below its n documents), as ``settings["completions"]``
            says. The other runs are as judged; by nDCG and R down to the pool's depth or less they also lose what these
            documents add to their divisor, deeper they could gain by them; ``estimator``, ``predicted`` and
            ``predicted_rank`` with their intervals ``low high`` and ``rank_low rank_high``, with the documents of its
            own team judged alone (``settings["predicted"]``); where it ``abstains`` nothing is predicted (NaN), and the
            ends are those under every completion; ``clipped``, whether the estimate was outside the bounds, so that
            ``predicted`` is their nearest end; ``topics_low topics_high``, the interval of the predicted score from
            the choice of topics alone; ``both_low both_high`` and ``both_rank_low both_rank_high`` from topics and
            unjudged documents together; ``why`` it abstains, and ``caveat``, what is known to make the interval too
            narrow; ``to_judge``, how many documents of a sample would say as much as is usual; ``verdict``.
        topics: one row per measure, new run and topic: ``measure name qid unjudged`` (documents), ``score``;
            ``predicted``, NaN where it abstains; ``deviation``, that of the prediction of the topic; the topics that
            decide most first.
        documents: one row per measure, new run and unjudged document inside the cutoff: ``measure name qid docno
            rank``; ``chance``, how likely it is relevant by the document model; ``change``, what the highest label
            changes in the mean score at most; those that decide most first.
        calibration: one row per measure, run of a left-out unit: ``measure name team``, ``score predicted`` and
            ``unjudged``, what the interval is calibrated on.
    """

    title = "New runs"
    condition = (
        "It holds for runs of the same kind as those of the {units} left out, judged to depth {depth}; the interval is "
        "theirs ({calibrated})."
    )
    limit = "It does not say what documents that no run found would change."
    views = {
        "run": View(
            columns=(
                Shown("Run", "name"),
                Shown("As judged", "score", Digits.SCORE),
                Shown("Predicted", "predicted", Digits.SCORE),
                Shown("Interval", "interval"),
                Shown("Ranks (other topics)", "ranks"),
                Shown("Under any labels", "bounds"),
            ),
            table="_shown_runs",
            caption="{measure} of new runs: as judged, as predicted with its {confidence:.0%} interval, the ranks, "
            "in brackets those on other topics, and the scores that every completion allows.",
            noun="runs",
        ),
        "document": View(
            table="documents",
            columns=(
                Shown("Topic", "qid"),
                Shown("Document", "docno"),
                Shown("Run", "name"),
                Shown("Rank", "rank", Digits.COUNT),
                Shown("Chance", "chance", Digits.SCORE),
                Shown("Change", "change", Digits.SCORE),
            ),
            caption="Unjudged documents that decide {measure}, the first ones most: how likely each is relevant, and "
            "what it would change in the mean.",
            noun="documents",
        ),
    }
    plots = {"ranks": _draw}
    answer = ("table", "{verdict}")

    topics: pd.DataFrame
    documents: pd.DataFrame
    calibration: pd.DataFrame
    confidence: float

    def _shown_runs(self) -> pd.DataFrame:
        def ends(low: str, high: str, form: str) -> list[str]:
            pairs = zip(self.table[low], self.table[high], strict=True)
            return [f"{a:{form}} to {b:{form}}" for a, b in pairs]

        said = ends("low", "high", ".4f")
        ranks = [ends(f"{of}rank_low", f"{of}rank_high", "d") for of in ("", "both_")]
        return self.table.assign(
            interval=["abstains" if no else text for no, text in zip(self.table["abstains"], said, strict=True)],
            ranks=[f"{one} ({other})" for one, other in zip(*ranks, strict=True)],
            bounds=ends("lowest", "highest", ".4f"),
        )


@study(
    PRECISION_AND_GAIN,
    CONFIDENCE,
    JUDGE,
    CORPUS,
    LEFT_OUT,
    Parameter(
        name="new",
        meaning="the new runs: a RunSet, a dict of name -> results, run files, one result, a pipeline or a dict of "
        "name -> pipeline, which are run on the `topics`. One without a team counts as a team of its own.",
        flag=Flag(help="files of the new runs, each taken for a team of its own", metavar="FILE", kind="runs"),
    ),
    Parameter(name="topics", meaning="a frame with ``qid`` and ``query``, for pipelines."),
    Parameter(
        name="estimator",
        meaning='one of those of :func:`~pt_reuse.profile.compare_estimators`, or ``"best"`` (default), that with the '
        "smallest error for the units that are left out.",
        check=lambda value: value if value == "best" else choice("estimator", value, ["best", *ESTIMATORS]),
        flag=Flag(help=f"best, {', '.join(PLAIN)}", metavar="WHICH", kind="text"),
    ),
    Parameter(
        name="sampled",
        meaning='labels of a sample of the unjudged documents, that of :func:`judge_next` with ``goal="score"``, with '
        "its columns ``inclusion drawn plan``, or a CSV file of them; the score is then estimated from them.",
        check=sampled_labels,
        flag=Flag(
            help="CSV with qid, docno, label, inclusion, drawn, plan: the documents of judge-next --goal score, judged",
            metavar="FILE",
            kind="text",
        ),
    ),
    command=Command(
        name="check-new-run",
        summary="what a run that was not pooled would score, or why that cannot be said",
        details="Each team is left out of the pool to learn what its runs would score; the same is said of new runs, "
        "with an interval, unless they are unlike any run that was left out.",
        screen=("run",),
    ),
    measures=partial(usual_measures, binary=ir_measures.P @ 10),
    entry=Entry(question="May I score my new system with these judgments?", page="studies/new-runs", papers="[W09]_"),
)
def check_new_run(
    new: Any,
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    topics: pd.DataFrame | None = None,
    by: str = "team",
    estimator: str = "best",
    judge: Any = None,
    corpus: Any = None,
    sampled: Any = None,
    depth: int | None = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    confidence: float = 0.9,
) -> NewRunCheck:
    """Say what new runs would score and where they would rank, had they been pooled like the field, and when it cannot.

    Of each new run the first `depth` documents that nobody judged are taken for unknown; what is below stays not
    relevant, as for the runs of the field. What each estimator predicts is compared with the truth for each team of the
    field as if it had not been pooled (:func:`~pt_reuse.profile.compare_estimators`); the best one predicts the new
    runs. The interval is conformal by team: one more team errs by more, in units of the predicted deviation, with a
    probability of at most 1 - `confidence`, if it is like those of the field.

    It *abstains* where that cannot be assumed: fewer than nine teams (for 90 %); a field more than a
    fifth of whose pool is unjudged; a larger share of unjudged documents than nine in ten runs of left-out teams have;
    a higher score without its unjudged documents than any such run. Then nothing is predicted, the interval is that of
    the bounds, and a sample of the unjudged documents can say more: see ``to_judge``, :func:`judge_next` and `sampled`.

    Returns:
        NewRunCheck: ``.table`` (per measure and new run), ``.topics``, ``.documents``, ``.calibration``, ``.plot()``.

    Raises:
        InputError: new runs that are in the field, share no topic with the judgments or no document with the field,
            pipelines without topics; a measure other than AP, nDCG, P, R, RBP(rel=1), RR and Success; fewer than two
            teams whose documents are judged; a sample that is not whole (the missing documents are named), of judged
            documents, or of another plan.

    Warns:
        CaveatWarning: fewer than five topics; runs without a team, each of which counts as a team of its own.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_teams=12)
        >>> name = field.runs.names[0]
        >>> new, others = field.runs.select(names=[name]), field.runs.select(names=field.runs.names[1:])
        >>> known = field.qrels.restrict(ptr.depth_pool(others, depth=10))
        >>> found = ptr.check_new_run(new, others, known, "nDCG@10", depth=10)
        >>> found.table[["score", "low", "predicted", "high", "lowest", "highest"]].round(3)
           score    low  predicted   high  lowest  highest
        0  0.591  0.591      0.596  0.605   0.591    0.626

    Source: as for :func:`~pt_reuse.profile.compare_estimators`.
    """
    asked = Asked(check_new_run, locals())
    runs, qrels, measures = asked.runs, asked.qrels, asked.measures
    check_predicted(measures)
    found = as_new_runs(new, runs, qrels, topics)
    asked.units("by")
    gap = PoolGap.of(asked.ranked, qrels, asked.depth, asked.contributors)
    wanted = None if estimator == "best" else [estimator]
    how = How(named_estimators(wanted, judge=judge, corpus=asked["corpus"]), confidence)
    outlook = Outlook(
        runs,
        found,
        qrels,
        measures,
        Setting(by, asked.depth, asked.contributors, asked["pool_order"], gap, how, judge, asked["corpus"]),
    )
    outlook.check()
    asked.tell(few_topics(len(qrels.topics)), gap.caveats(), misfits(found, qrels, measures))
    if sampled is not None:
        check_estimable(measures)
    sample = None if sampled is None else Sample.of(as_qrels(asked["sampled"], "sampled"), outlook.evidence, measures)
    rows = [(m, row) for m in range(len(measures)) for row in outlook.rows()]
    table = pd.DataFrame([_row(outlook, m, row, sample) for m, row in rows])
    settings = {
        "units": f"{by}s",
        "calibrated": f"{100 * confidence:.4g} %, conformal by {by}, {count(len(outlook.train), by)}",
        "completions": outlook.completions,
        "unjudged documents": len(outlook.evidence.unknown),
        "predicted": outlook.predicted_for,
        **({"sampled": f"{len(sample.row):,} documents"} if sample is not None else {}),
    }
    return NewRunCheck(
        table=table,
        topics=pd.concat(
            [_topics(outlook, m, row, no) for (m, row), no in zip(rows, table["abstains"], strict=True)],
            ignore_index=True,
        ),
        documents=pd.concat([_documents(outlook, m, row) for m, row in rows], ignore_index=True),
        calibration=pd.concat([_calibration(outlook, m) for m in range(len(measures))], ignore_index=True),
        confidence=confidence,
        settings=asked.settings(**settings),
    )


def _row(outlook: Outlook, m: int, row: Row, sample: Sample | None) -> dict[str, Any]:
    predicted, at = outlook.predicted[m], row.at
    told = predicted.table(at, predicted.chosen, outlook.bounds(m, row)).iloc[row.place]
    said: dict[str, Any] = {str(column): value for column, value in told.items()}
    why = outlook.why_not(m, row)
    holes = len(outlook.effects(m, row).row)
    field = predicted.ranked[at]
    depth = min(predicted.learned.spec.cutoff or outlook.evidence.depth, outlook.evidence.depth)
    found: dict[str, Any] = {
        "measure": repr(outlook.measures[m]),
        "name": outlook.name(row),
        "unjudged": outlook.cases.unjudged(depth)[at][row.place],
        "usual_unjudged": predicted.usual.unjudged,
        "estimator": predicted.chosen,
    }
    if sample is not None:
        said |= _sampled(outlook, m, row, sample, said)
        found["estimator"] = "sample"
        why = []
    completed = outlook.completed(m, row)
    said |= completed.table()
    # where the bounds are one number, it is known
    abstains = bool(why) and holes > 0 and said["highest"] - said["lowest"] > _CLOSE
    doubts = _with_topics(outlook, m, row, said)
    if abstains:
        doubts = _ends_with_topics(outlook, completed)
        said |= {"predicted": np.nan, "predicted_rank": np.nan, "low": said["lowest"], "high": said["highest"]}
        said |= {"rank_low": said["rank_best"], "rank_high": said["rank_worst"]}
    # the doubt from topics alone never makes ranks fewer
    doubts["both_rank_low"] = min(doubts["both_rank_low"], said["rank_low"])
    doubts["both_rank_high"] = max(doubts["both_rank_high"], said["rank_high"])
    found |= {
        "score": said.pop("zero"),
        "rank": int(field.rank_as_judged(predicted.learned.zero[at].mean(axis=1))[row.place]),
        **said,
        **doubts,
        "abstains": abstains,
        "why": "; ".join(why) if abstains else "",
        "caveat": "; ".join(outlook.caveats(m)) if holes and not abstains and sample is None else "",
        "to_judge": _to_judge(outlook, m, row, said),
    }
    for column in ("rank_low", "rank_high", "rank_best", "rank_worst", "both_rank_low", "both_rank_high"):
        found[column] = int(found[column])
    # NaN where it abstains
    found["predicted_rank"] = float(found["predicted_rank"])
    n = len(field.known) + 1
    estimable = predicted.learned.spec.kernel in ESTIMABLE
    return {**found, "verdict": _verdict(found, outlook, n, holes, estimable=estimable)}


def _verdict(row: dict[str, Any], outlook: Outlook, n: int, holes: int, *, estimable: bool) -> str:
    who, level = f"{row['measure']}: {row['name']}", f"{100 * outlook.how.confidence:.4g} %"
    whose = "its unjudged documents" if len(outlook.new) == 1 else "the unjudged documents of all new runs"
    under = f"{row['lowest']:.4f} to {row['highest']:.4f}"
    if not holes:
        known = f"{who} scores {row['score']:.4f} and ranks {row['rank']:,} of {n:,}"
        if row["highest"] - row["lowest"] <= _CLOSE:
            return f"{known}; every document that counts is judged"
        return (
            f"{known}; its documents are judged to the depth of the pool, and under every completion of what is below "
            f"and of {whose} it scores {under}"
        )
    ranks = _ends(row["rank_low"], row["rank_high"])
    with_topics = f"{_ends(row['both_rank_low'], row['both_rank_high'])} on other topics"
    if row["abstains"]:
        return (
            f"{who}: nothing can be said at {level}, since {row['why']}; under every completion of {whose} it scores "
            f"{under} and ranks {ranks} of {n:,} ({with_topics}), the other runs as judged; judge "
            + (
                f"a sample of {count(row['to_judge'], 'document')}"
                if estimable
                else f"its {count(holes, 'unjudged document')}"
            )
        )
    clipped = ", the nearest that any labels give: its estimate was outside the bounds" if row["clipped"] else ""
    return (
        f"{who} would score {row['predicted']:.4f}{clipped} ({row['low']:.4f} to {row['high']:.4f}, as judged "
        f"{row['score']:.4f}) and rank {ranks} of {n:,}, at {level} ({with_topics})"
        + (f"; but {row['caveat']}" if row["caveat"] else "")
    )


def _ends(low: int, high: int) -> str:
    return f"{low:,} to {high:,}" if low < high else f"{low:,}"


def _sampled(outlook: Outlook, m: int, row: Row, sample: Sample, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimate of a score from a sample, and the ranks that it may have, inside the bounds `said` before."""
    from scipy.stats import t

    start, effects, field = outlook.as_sampled(m, row, sample)
    place = np.full(len(row.case.known), -1)
    place[effects.row] = np.arange(len(effects.row))
    where = place[sample.row]
    inside = np.flatnonzero(where >= 0)
    mine = effects.take(where[inside])
    changes, variances = np.zeros((2, len(sample.row)))
    changes[inside] = mine.of_labels(sample.label[inside]) - mine.mean
    variances[inside] = np.square(mine.size)
    score, error = sample.estimate(start, changes, variances)
    if (sample.probability[inside] == 1).all():
        if len(inside) == len(effects.row):
            # what the measure sees is judged, so that nothing is estimated
            known = np.full(len(place), UNJUDGED)
            known[sample.row] = sample.label
            score = float(outlook.expected(m, row, known)[0][0].mean())
        elif len(inside) < int((effects.size > 0).sum()):
            # what was not sampled has no probability, so that nothing is known of it
            error = np.inf
    lowest, highest = said["lowest"], said["highest"]
    half = t.ppf((1 + outlook.how.confidence) / 2, max(len(sample.row) - 1, 1)) * error
    ends = np.clip([score - half, score, score + half], lowest, highest)
    best, worst = said["rank_best"], said["rank_worst"]
    return {
        "predicted": float(ends[1]),
        "low": float(ends[0]),
        "high": float(ends[2]),
        "clipped": bool(abs(score - ends[1]) > _CLOSE),
        "predicted_rank": int(np.clip(field.rank(ends[1:2])[0], best, worst)),
        "rank_low": int(np.clip(field.rank(ends[2:])[0], best, worst)),
        "rank_high": int(np.clip(field.rank(ends[:1], worst=True)[0], best, worst)),
    }


def _with_topics(outlook: Outlook, m: int, row: Row, said: dict[str, Any]) -> dict[str, Any]:
    """Return what topics add: intervals of the score from topics alone and from both doubts, ranks from both."""
    predicted = outlook.predicted[m]
    mine = _by_topic(outlook, m, row)
    n, reach = len(mine), _topic_reach(outlook)
    spread = reach * mine.std(ddof=1) if n > 1 else np.nan
    below, above = said["predicted"] - said["low"], said["high"] - said["predicted"]
    outside = np.isin(predicted.learned.of.world.evidence.units.of_run, outlook.evidence.new)
    others = outlook.scores[m][:, ~outside]
    apart = others - mine[:, None]
    doubt = reach * apart.std(axis=0, ddof=1) if n > 1 else np.full(others.shape[1], np.nan)
    mean = others.mean(axis=0) - said["predicted"]
    both = {
        "both_low": said["predicted"] - np.hypot(below, spread),
        "both_high": said["predicted"] + np.hypot(above, spread),
        "both_rank_low": 1 + int((mean > np.hypot(above, doubt)).sum()) if n > 1 else 1,
        "both_rank_high": 1 + int((mean > -np.hypot(below, doubt)).sum()) if n > 1 else len(mean) + 1,
    }
    return {"topics_low": said["predicted"] - spread, "topics_high": said["predicted"] + spread, **both}


def _topic_reach(outlook: Outlook) -> float:
    """Return how many deviations of its scores on topics the interval of a mean takes to each side."""
    from scipy.stats import t

    n = outlook.evidence.n_topics
    return float(t.ppf((1 + outlook.how.confidence) / 2, n - 1) / np.sqrt(n)) if n > 1 else np.nan


def _ends_with_topics(outlook: Outlook, completed: Completed) -> dict[str, Any]:
    """Return what topics add to the bounds of a run of which nothing more can be said."""
    nothing = {"topics_low": np.nan, "topics_high": np.nan}
    if outlook.evidence.n_topics > 1:
        return {**nothing, **completed.with_topics(_topic_reach(outlook))}
    others = completed.others_most.shape[1]
    return {**nothing, "both_low": np.nan, "both_high": np.nan, "both_rank_low": 1, "both_rank_high": others + 1}


def _by_topic(outlook: Outlook, m: int, row: Row) -> Floats:
    predicted, at = outlook.predicted[m], row.at
    said, zero = predicted.by[predicted.chosen][at], predicted.learned.zero[at][row.place]
    if said.by_topic is None:
        # an estimator of means says nothing of single topics, so that all gain alike
        return zero + (said.score[row.place] - zero.mean())
    found: Floats = said.by_topic[row.place]
    return found


def _to_judge(outlook: Outlook, m: int, row: Row, said: dict[str, Any]) -> int:
    """Return how many documents to sample for an interval as narrow as is usual, or a quarter of the bounds."""
    from scipy.stats import norm

    predicted = outlook.predicted[m]
    if predicted.learned.spec.kernel not in ESTIMABLE:
        return len(outlook.effects(m, row).row)
    calibration = predicted.calibrations[predicted.chosen]
    usual = 2 * calibration.score * float(np.median(calibration.spreads))
    bounds = said["highest"] - said["lowest"]
    width = usual if np.isfinite(usual) and 0 < usual < bounds else bounds / 4
    size = outlook.effects(m, row).size
    return needed(size, np.square(size), width, float(norm.ppf((1 + outlook.how.confidence) / 2)))


def _topics(outlook: Outlook, m: int, row: Row, abstains: bool) -> pd.DataFrame:
    at, case = row.at, row.case
    learned = outlook.predicted[m].learned
    effects = outlook.effects(m, row)
    topic, variance = outlook.evidence.topic[effects.row], np.square(effects.size)
    n = case.shape[1]
    frame = pd.DataFrame(
        {
            "measure": repr(outlook.measures[m]),
            "name": outlook.name(row),
            "qid": outlook.evidence.qrels.topics,
            "unjudged": np.bincount(topic, minlength=n),
            "score": learned.zero[at][row.place],
            "predicted": np.nan if abstains else _by_topic(outlook, m, row),
            "deviation": n * np.sqrt(np.bincount(topic, weights=variance, minlength=n)),
        }
    )
    return frame.iloc[np.argsort(-frame["deviation"].to_numpy(), kind="stable")]


def _documents(outlook: Outlook, m: int, row: Row) -> pd.DataFrame:
    case = row.case
    effects = outlook.effects(m, row)
    qids, docnos = outlook.evidence.names
    rank = case.ranks(row.place)
    return pd.DataFrame(
        {
            "measure": repr(outlook.measures[m]),
            "name": outlook.name(row),
            "qid": qids[effects.row],
            "docno": docnos[effects.row],
            "rank": rank[effects.row],
            "chance": effects.chance[:, 0],
            "change": effects.change.sum(axis=1),
        }
    )


def _calibration(outlook: Outlook, m: int) -> pd.DataFrame:
    predicted, rows = outlook.predicted[m], []
    table = outlook.runs.run_table
    depth = min(predicted.learned.spec.cutoff or outlook.evidence.depth, outlook.evidence.depth)
    for at, case in enumerate(outlook.cases.train):
        about = table.iloc[case.runs][["name", "team"]].reset_index(drop=True)
        rows.append(
            about.assign(
                measure=repr(outlook.measures[m]),
                score=predicted.learned.truth[at].mean(axis=1),
                predicted=predicted.by[predicted.chosen][at].score,
                unjudged=outlook.cases.unjudged(depth)[at],
            )
        )
    return pd.concat(rows, ignore_index=True)
