"""check_new_run: what a run that came after the pool would score, where it would rank, and which runs it beats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.columns import Table
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import InputError, count, listed
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.options import TESTS, Flag, Option
from pt_reuse.plots.forests import plot_new_runs
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result, records
from pt_reuse.scoring.caveats import beware, copies, few_topics, misfits, topics_of_runs, usual_measures
from pt_reuse.studies.new_runs.predictor import (
    Confidence,
    Corpus,
    Judge,
    LeftOut,
    NewRunPredictor,
    RunInCase,
    as_new_runs,
    check_predicted,
    rank_among,
    units_needed,
)
from pt_reuse.studies.new_runs.rivals import ALPHA, EVERY_LABELLING, OPEN, Rivals, named_rivals, neighbours
from pt_reuse.studies.new_runs.sampling import ESTIMABLE, Sample, check_estimable, needed, sampled_labels
from pt_reuse.study import study

_usual = partial(usual_measures, binary=ir_measures.P @ 10)
#: the key of `settings` for topics that new runs lack
LACKING = "topics missing"
#: what is known of a new run beside other names of the same in ``Predicted.table``
_CALLED = {
    "zero": "score",
    "lowest": "score_low",
    "highest": "score_high",
    "rank_best": "rank_low",
    "rank_worst": "rank_high",
    "low": "predicted_low",
    "high": "predicted_high",
    "rank_low": "predicted_rank_low",
    "rank_high": "predicted_rank_high",
}


def _draw(result: NewRunCheck, measure: str, place: Place, top: int | None = None) -> Axes:
    rows, against = (frame[frame["measure"] == measure] for frame in (result.table, result.against))
    named = "against" in result.settings
    scores = dict(zip(against["rival"], against["rival_score"], strict=True)) if named else {}
    return plot_new_runs(rows, scores, measure=measure, confidence=result.confidence, top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NewRunCheck(Result):
    """What new runs would score and where they would rank, had their documents been judged, and which runs they beat.

    Attributes:
        confidence: the level of the intervals.
    """

    title = "New runs"
    valid_for = (
        "runs like those of the {units} left out; depth-{depth} pool, contributors: {contributors}; relevant: "
        "{relevant}; predictions: {calibrated}; significant: {test}, p at most {alpha:g}, correction: {correction}."
    )
    not_covered = (
        "documents that no run found; unjudged documents that only other runs found, which stay unjudged; how likely a "
        "labelling is."
    )
    plots = {"scores": _draw}
    columns = """
    unjudged       | Unjudged   | score | share of its first documents without a judgment; of topics and pairs a number
    usual_unjudged | Usual      | score | what nine in ten runs have at most when their team is left out
    estimator      | Estimator  |       | which one predicts, ``"sample"`` with `sampled`
    score          | As judged  | score | mean score as judged, and its ends under every completion
    predicted      | Predicted  | score | what is predicted, inside the bounds; NaN where nothing is
    clipped        | At a bound |       | whether the estimate was outside the bounds
    predicted_rank | Rank       | ranks | rank by what is predicted, and its interval
    rank           | Rank       | ranks | rank as judged, and under every completion, of each run apart
    topics_low     | From       | score | lower end by the choice of topics alone
    topics_high    | To         | score | upper end
    both_low       | From       | score | lower end by topics and unjudged documents together
    both_high      | To         | score | upper end
    both_rank_low  | Best, with topics   | count | best rank by both
    both_rank_high | Worst, with topics  | count | worst rank by both
    abstains       | Abstains   |       | whether nothing is predicted; the interval is then that of the bounds
    why            | Why        |       | why nothing is predicted
    caveat         | Caveat     |       | what makes the interval too narrow
    to_judge       | To judge   | count | documents of a sample that would say as much as is usual
    deviation      | Deviation  | score | that of the prediction of the topic
    rival          | Rival      |       | the run that it is compared with
    rival_score    | Of the rival | score | that run's mean score as judged
    difference     | Difference | difference | score less the rival's as judged, and its ends under every labelling
    p              | p          | p     | of the test over topics, not corrected, of what is predicted, else as judged
    decided_by     | Decided by |       | ``"every labelling"``, the confidence, or ``"not decided"``
    winner         | Winner     |       | the better run, ``"neither"`` of a tie, empty where it is not decided
    significant    | Significant |      | whether p is at most `alpha`, 0.05
    exact          | Exact      |       | whether some labelling reaches the ends, or they may be wider
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and new run",
            "measure name* unjudged usual_unjudged estimator score~* rank~ predicted~* clipped predicted_rank~* "
            "topics_low topics_high both_low both_high both_rank_low* both_rank_high* abstains why caveat to_judge",
            caption="{measure} of new runs: as judged and under every completion; predicted, with its interval.",
            noun="runs",
        ),
    ]
    against: Annotated[
        pd.DataFrame,
        Table(
            "measure, new run and rival",
            "measure name rival rival_score difference~ predicted~ p decided_by winner significant topics_low "
            "topics_high both_low both_high unjudged exact",
            report="name rival difference decided_by predicted p",
            caption="New runs against others by {measure}: as judged and under every labelling; predicted, with its "
            "interval.",
            noun="comparisons",
        ),
    ]
    topics: Annotated[
        pd.DataFrame,
        Table("measure, new run and topic", "measure name qid unjudged score predicted deviation", noun="topics"),
    ]
    confidence: float

    def _shown(self) -> pd.DataFrame:
        # the answers say of which measure, if it is one
        measure = "measure " if len(self.measures) > 1 else ""
        if "against" not in self.settings:
            ends = {"interval": "predicted", "ranks": "predicted_rank", "with_topics": "both_rank"}
            return _with_ends(self.table, f"{measure}name predicted", ends).assign(as_judged=self.table["score"])
        rows = self.against
        won = [(rows["winner"] == rows[side]).to_numpy() for side in ("name", "rival")]
        winner = np.select([*won, rows["winner"] == "neither"], ["new", "rival", "neither"], "")
        shown = rows[f"{measure}name rival".split()].assign(winner=winner, decided_by=rows["decided_by"])
        shown = shown.join(_with_ends(rows, "", {"difference": "difference"}))
        p = rows["p"].map(Digits.P.written)
        return shown.assign(p=p).join(_with_ends(rows, "", {"predicted": "predicted"}))

    def _rest(self) -> str:
        return f"rows in .{'against' if 'against' in self.settings else 'table'}"

    def answers(self) -> list[str]:
        lines = []
        for measure in self.measures:
            runs, pairs = (frame[frame["measure"] == measure] for frame in (self.table, self.against))
            if "against" in self.settings:
                why = runs[["name", "why", "caveat"]]
                line = self._against(records(pairs.merge(why))[0]) if len(pairs) == 1 else _all_against(pairs)
            else:
                line = self._predicted(records(runs)[0]) if len(runs) == 1 else _all_predicted(runs)
                n_decided = int((pairs["decided_by"] != OPEN).sum())
                line += f"; {n_decided:,} of {count(len(pairs), 'comparison')} with neighbours in rank decided"
            silent = records(runs[runs["abstains"].astype(bool)])
            # of one alone it is said already
            if silent and len(pairs if "against" in self.settings else runs) > 1:
                such = "" if len({row["why"] for row in silent}) == 1 else f", such as {silent[0]['name']}"
                line += f"; no prediction for {count(len(silent), 'run')}{such}: {silent[0]['why']}"
            lines.append(f"{measure}: {line}")
        lacking = self.settings.get(LACKING)
        return [f"topics that a new run lacks count 0: {lacking}", *lines] if lacking else lines

    def _against(self, row: Mapping[str, Any]) -> str:
        level, (name, rival, winner) = f"at {100 * self.confidence:.4g}%", (row["name"], row["rival"], row["winner"])
        sign, beats = (-1, f"{rival} beats {name}") if winner == rival else (1, f"{name} beats {rival}")
        ends = (
            f"{_ends(row, 'difference', sign)} under every labelling of {count(row['unjudged'], 'unjudged document')}"
        )
        labelled = ends if row["unjudged"] else "all judged, as of a run that was pooled"
        todo = "nothing more to judge" if row["significant"] else "more topics would tell more than labels"
        if winner == "neither":
            line = f"{name} and {rival} tie, {labelled}"
        elif row["decided_by"] == EVERY_LABELLING:
            line = f"{beats} by {sign * row['difference']:.4f} ({labelled})"
        elif winner:
            # NaN is not above 0
            is_apart = row["predicted_low"] > 0 or row["predicted_high"] < 0
            by = f"by {sign * row['predicted']:.4f} ({_ends(row, 'predicted', sign)} {level}; {labelled})"
            line = f"{beats} {by if is_apart else f'{level}, as judge_next decides with no label ({labelled})'}"
            line += f", though {row['caveat'].partition(':')[0]}" if row["caveat"] else ""
        else:
            new = self.table[(self.table["measure"] == row["measure"]) & (self.table["name"] == rival)]
            why = row["why"]
            if not (why or new.empty or "sampled" in self.settings):
                least = units_needed((1 + self.confidence) / 2)
                why = new["why"].iloc[0] or f"two new runs take {least} left-out {self.settings['units']}"
            missing = ": ".join(filter(None, ["no prediction", why]))
            known = missing if np.isnan(row["predicted"]) else f"{_ends(row, 'predicted')} {level}"
            line = f"{name} against {rival} is not decidable: {labelled}, {known}"
            todo = f"judge more: judge_next(..., goal={[name, rival]})"
        over = f"{'' if row['significant'] else 'not '}significant over topics (p {Digits.P.written(row['p'])})"
        return f"{line}; {over if np.isfinite(row['p']) else 'one topic'}; {todo}"

    def _predicted(self, row: Mapping[str, Any]) -> str:
        if row["abstains"]:
            return (
                f"{row['name']} scores {row['score']:.4f} as judged, {_ends(row, 'score')} under every completion, and "
                f"ranks {_ends(row, 'rank')}; no prediction: {row['why']}; judge a sample of "
                f"{count(row['to_judge'], 'document')}"
            )
        return (
            f"{row['name']} would score {row['predicted']:.4f} ({_ends(row, 'predicted')} at "
            f"{100 * self.confidence:.4g}%; as judged {row['score']:.4f}) and rank {_ends(row, 'predicted_rank')} "
            f"({_ends(row, 'both_rank')} with other topics){'; ' if row['caveat'] else ''}{row['caveat']}"
        )


def _all_against(pairs: pd.DataFrame) -> str:
    won, lost = (int((pairs["winner"] == pairs[side]).sum()) for side in ("name", "rival"))
    n_sure, n_open = (int((pairs["decided_by"] == how).sum()) for how in (EVERY_LABELLING, OPEN))
    rivals = pairs["rival"].unique()
    against = rivals[0] if len(rivals) == 1 else count(len(rivals), "rival")
    return (
        f"{count(pairs['name'].nunique(), 'new run')} against {against}: {won:,} of {len(pairs):,} comparisons won, "
        f"{lost:,} lost ({n_sure:,} decided under every labelling), {n_open:,} not decidable"
        f"{' (judge_next plans what to judge)' if n_open else ''}; {pairs['significant'].sum():,} significant over "
        "topics"
    )


def _all_predicted(runs: pd.DataFrame) -> str:
    made = runs[~runs["abstains"].astype(bool)]
    wide = f", intervals {(made['predicted_high'] - made['predicted_low']).mean():.4f} wide on average"
    return f"{len(made):,} of {len(runs):,} new runs predicted{wide if len(made) else ''}"


def _with_ends(frame: pd.DataFrame, kept: str, ends: Mapping[str, str]) -> pd.DataFrame:
    rows = records(frame)
    return frame[kept.split()].assign(**{name: [_ends(row, of) for row in rows] for name, of in ends.items()})


def _ends(row: Mapping[str, Any], name: str, sign: int = 1) -> str:
    low, high = sorted((sign * row[f"{name}_low"], sign * row[f"{name}_high"]))
    digits = "," if "rank" in name else ".4f"
    return "-" if np.isnan(low) else f"{low:{digits}} to {high:{digits}}" if low < high else f"{low:{digits}}"


@study(
    question="May I score my new system with these judgments, and does it beat another one?",
    command="check-new-run",
    aim="new run",
    summary="what a run that was not pooled would score, and which runs it beats, or why that cannot be said",
    details="Each team is left out of the pool to learn what its runs would score; the same is said of new runs, with "
    "an interval, unless they are unlike any run that was left out.",
    screen=("table", "against"),
    measures=_usual,
    page="studies/new-runs",
    papers="[W09]_",
)
def check_new_run(
    new: Annotated[
        Any,
        Option(
            "the new runs: a RunSet, a dict of name -> results, run files, one result, a pipeline or a dict of name -> "
            "pipeline, which are run on the `topics`. One without a team counts as a team of its own.",
            flag=Flag(help="files of the new runs, each taken for a team of its own", metavar="FILE", kind="runs"),
        ),
    ],
    runs: options.Runs,
    qrels: options.Judgments,
    measures: Annotated[Any, options.PRECISION_AND_GAIN] = None,
    *,
    against: Annotated[
        Any,
        Option(
            "the runs that new ones are compared with, by name: of the field, or another new one; default those of the "
            "field next above and below each.",
            flag=Flag(help="names of the runs to compare the new ones with", metavar="NAMES", kind="list"),
        ),
    ] = None,
    topics: Annotated[pd.DataFrame | None, Option("a frame with ``qid`` and ``query``, for pipelines.")] = None,
    by: LeftOut = "team",
    judge: Judge = None,
    corpus: Corpus = None,
    sampled: Annotated[
        Any,
        Option(
            'labels of a sample of the unjudged documents, that of :func:`judge_next` with ``goal="score"``, with its '
            "columns ``inclusion drawn plan``, or a CSV file of them; the score is then estimated from them.",
            check=sampled_labels,
            flag=Flag(
                help="CSV with qid, docno, label, inclusion, drawn, plan: the documents of judge-next --goal score, "
                "judged",
                metavar="FILE",
                kind="text",
            ),
        ),
    ] = None,
    depth: options.Depth = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    confidence: Confidence = 0.9,
) -> NewRunCheck:
    """Say which runs a new run beats, what it would score had it been pooled like the field, and when nobody can say.

    A comparison is *decided under every labelling* where one run is ahead whatever the labels of the documents are that
    nobody judged and the measure sees in either run; a document of both has one label. Else it may be decided *at 90%*
    (as `confidence` says): by the prediction less the rival's score, give or take what left-out teams' differences to
    that rival are off by, or as :func:`judge_next` decides with no label. Topics are a doubt of their own.

    Scores are predicted by the estimator that errs least for teams of the field that are left out
    (:func:`~pt_reuse.profile.compare_estimators`), of documents down to `depth`; what is below stays not relevant. It
    *abstains* with fewer than nine left-out teams (for 90%), a pool over a fifth unjudged, or a run unlike those left
    out. Then bounds alone are known, and judging a sample says more: ``to_judge``, :func:`judge_next`, `sampled`.

    Returns:
        NewRunCheck: ``.against`` (per new run and rival), ``.table`` (per new run), ``.topics``, ``.plot()``.

    Raises:
        InputError: new runs that are in the field, share no topic with the judgments or no document with the field; an
            unknown run as `against`; pipelines without topics; a measure other than AP, nDCG, P, R, RBP(rel=1), RR and
            Success; a sample that is not whole, of judged documents, or of another plan.

    Warns:
        CaveatWarning: fewer than five topics; runs without a team, each of which counts as a team of its own.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_teams=12)
        >>> name, rival, *_ = field.runs.names
        >>> new, others = field.runs.select(names=[name]), field.runs.select(names=field.runs.names[1:])
        >>> known = field.qrels.restrict(ptr.depth_pool(others, depth=10))
        >>> found = ptr.check_new_run(new, others, known, "nDCG@10", against=rival, depth=10)
        >>> found.against[["difference", "difference_low", "difference_high", "decided_by"]].round(3)
           difference  difference_low  difference_high       decided_by
        0       0.037           0.037            0.075  every labelling

    Source: as for :func:`~pt_reuse.profile.compare_estimators`; the ends of a difference as in minimal test
    collections, Carterette, Allan and Sitaraman, SIGIR 2006, checked against every labelling of small fields.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, usual=_usual)
    check_predicted(inputs.measures)
    later = as_new_runs(new, inputs.runs, inputs.qrels, topics, call="check_new_run(new, runs, qrels)")
    pooled, units = inputs.pooled(depth, contributors, pool_order), inputs.runs.units(by)
    rivals = None if against is None else named_rivals(against, [*inputs.runs.names, *later.names])
    predictor = NewRunPredictor(inputs, pooled, later, by=by, confidence=confidence, judge=judge, corpus=corpus)
    if predictor.n_telling < 2:
        predictor.learn_nothing()
    gap = predictor.gap.caveats() if predictor.train else ()
    beware(few_topics(len(inputs.qrels.topics)), gap, misfits(later, inputs.qrels, inputs.measures))
    beware(copies(predictor.runs, later.names))
    n_topics = len(inputs.qrels.topics)
    absent = (~topics_of_runs(later, inputs.qrels)).sum(axis=0).tolist()
    lacking = [f"{name} {n:,} of {n_topics:,}" for name, n in zip(later.names, absent, strict=True) if n]
    sample = None
    if sampled is not None:
        check_estimable(inputs.measures)
        predictor.sample = sample = Sample.of(as_qrels(sampled, "sampled"), predictor.evidence, inputs.measures)

    own: dict[tuple[int, str], dict[str, Any]] = {}
    by_topic, pairs = [], []
    for m, row in ((m, row) for m in range(len(inputs.measures)) for row in predictor.rows()):
        name = predictor.name(row)
        own[m, name] = about = _row(predictor, m, row, sample)
        topics_of = _topics(predictor, m, row) | ({"predicted": np.nan} if about["abstains"] else {})
        by_topic.append(pd.DataFrame({"measure": about["measure"], "name": name, **topics_of}))
        near = neighbours(predictor, m, about["score" if about["abstains"] else "predicted"])
        pairs += [(m, name, rival) for rival in (near if rivals is None else rivals) if rival != name]
    if not pairs:
        raise InputError("against names the new run alone.", argument="against")
    settings = settings_of(
        pooled,
        units,
        inputs,
        {} if rivals is None else {"against": ", ".join(rivals)},
        {LACKING: listed(lacking)} if lacking else {},
        {} if sample is None else {"sampled": count(len(sample.row), "document")},
        units=f"{by}s",
        calibrated=f"{100 * confidence:.4g}%, conformal by {by}, {count(len(predictor.train), by)}",
        test=f"{TESTS['t']}, two-sided",
        alpha=ALPHA,
        correction="none",
        completions=f"any label for each unjudged document of the new runs down to depth {pooled.depth}, and below it "
        "for those that the measure sees in the run itself; all others as judged",
        unjudged_documents=len(predictor.evidence.unknown),
        predicted=f"the documents of its own {by} down to depth {pooled.depth} judged, and no others",
    )
    table = pd.DataFrame(list(own.values()))
    rivals_of = Rivals(predictor, own, inputs.qrels, {name for _, *pair in pairs for name in pair})
    ranks = [name for name in table if name == "rank" or "rank_" in name]
    return NewRunCheck(
        table=table.astype({**dict.fromkeys(ranks, "int64"), "predicted_rank": float}),
        against=pd.DataFrame([rivals_of.row(*pair) for pair in pairs]),
        topics=pd.concat(by_topic, ignore_index=True),
        confidence=confidence,
        settings=settings,
    )


def _row(predictor: NewRunPredictor, m: int, row: RunInCase, sample: Sample | None) -> dict[str, Any]:
    predicted, at = predictor.predicted[m], row.at
    of_case = predicted.columns(at, predicted.chosen, predictor.bounds(m, row))
    made = {name: values[row.place].item() for name, values in of_case.items()}
    if sample is not None:
        made |= _sampled(predictor, m, row, sample, made)
    completed, abstains = predictor.completed(m, row), predictor.only_bounds(m, row)
    made |= completed.table()
    if abstains:
        doubts: dict[str, Any] = {"topics_low": np.nan, "topics_high": np.nan}
        if predictor.evidence.n_topics > 1:
            doubts |= completed.with_topics(predictor.topic_critical)
        made |= {"predicted": np.nan, "predicted_rank": np.nan, "low": made["lowest"], "high": made["highest"]}
        made |= {"rank_low": made["rank_best"], "rank_high": made["rank_worst"]}
    else:
        doubts = _with_topics(predictor, m, row, made)
    if predictor.evidence.n_topics < 2:
        last = len(predicted.ranked[at].true) + 1
        doubts |= {"both_low": np.nan, "both_high": np.nan, "both_rank_low": 1, "both_rank_high": last}
    # the doubt from topics alone never makes ranks fewer
    doubts["both_rank_low"] = min(doubts["both_rank_low"], made["rank_low"])
    doubts["both_rank_high"] = max(doubts["both_rank_high"], made["rank_high"])
    predicts = len(predictor.effects(m, row).row) and not abstains and sample is None
    caveat = "; ".join(predictor.caveats(m)) if predicts else ""
    rank = rank_among(predicted.ranked[at].as_judged, predicted.model.zero[at].mean(axis=1))[row.place]
    return {
        "measure": repr(predictor.measures[m]),
        "name": predictor.name(row),
        "unjudged": predictor.unjudged(m, row),
        "usual_unjudged": predicted.limits.unjudged,
        "estimator": predicted.chosen if sample is None else "sample",
        "rank": rank,
        **{_CALLED.get(name, name): value for name, value in made.items()},
        **doubts,
        "abstains": abstains,
        "why": "; ".join(predictor.why_not(m, row)) if abstains else "",
        "caveat": caveat,
        "to_judge": _to_judge(predictor, m, row, made),
    }


def _sampled(
    predictor: NewRunPredictor, m: int, row: RunInCase, sample: Sample, made: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the estimate of a score from a sample, and the ranks that it may have, inside the bounds known before."""
    from scipy.stats import t

    start, effects, field = predictor.as_sampled(m, row, sample)
    place = np.full(len(row.case.known), -1)
    place[effects.row] = np.arange(len(effects.row))
    where = place[sample.row]
    inside = np.flatnonzero(where >= 0)
    drawn = effects.take(where[inside])
    changes, variances = np.zeros((2, len(sample.row)))
    changes[inside] = drawn.of_labels(sample.label[inside]) - drawn.mean
    variances[inside] = np.square(drawn.size)
    score, error = sample.estimate(start, changes, variances)
    if (sample.probability[inside] == 1).all():
        if len(inside) == len(effects.row):
            # what the measure sees is judged, so that nothing is estimated
            score = float(predictor.by_topic(m, row).mean())
        elif len(inside) < int((effects.size > 0).sum()):
            # what was not sampled has no probability, so that nothing is known of it
            error = np.inf
    half = t.ppf((1 + predictor.confidence) / 2, max(len(sample.row) - 1, 1)) * error
    ends = np.clip([score - half, score, score + half], made["lowest"], made["highest"])
    ranks = [field.rank(ends[1:2])[0], field.rank(ends[2:])[0], field.rank(ends[:1], worst=True)[0]]
    ranks = np.clip(ranks, made["rank_best"], made["rank_worst"]).tolist()
    return {
        **dict(zip(("low", "predicted", "high"), ends.tolist(), strict=True)),
        "clipped": bool(abs(score - ends[1]) > CLOSE),
        **dict(zip(("predicted_rank", "rank_low", "rank_high"), ranks, strict=True)),
    }


def _with_topics(predictor: NewRunPredictor, m: int, row: RunInCase, made: Mapping[str, Any]) -> dict[str, Any]:
    """Return what topics add: intervals of the score from topics alone and from both doubts, ranks from both."""
    by_topic, critical = predictor.by_topic(m, row), predictor.topic_critical
    if len(by_topic) < 2:
        return {"topics_low": np.nan, "topics_high": np.nan}
    score, spread = made["predicted"], critical * by_topic.std(ddof=1)
    below, above = score - made["low"], made["high"] - score
    others = predictor.scores[m][:, ~np.isin(predictor.units.of_run, predictor.evidence.new)]
    doubt = critical * (others - by_topic[:, None]).std(axis=0, ddof=1)
    ahead = others.mean(axis=0) - score
    return {
        "topics_low": score - spread,
        "topics_high": score + spread,
        "both_low": score - np.hypot(below, spread),
        "both_high": score + np.hypot(above, spread),
        "both_rank_low": 1 + int((ahead > np.hypot(above, doubt)).sum()),
        "both_rank_high": 1 + int((ahead > -np.hypot(below, doubt)).sum()),
    }


def _to_judge(predictor: NewRunPredictor, m: int, row: RunInCase, made: Mapping[str, Any]) -> int:
    """Return how many documents to sample for an interval as narrow as is usual, or a quarter of the bounds."""
    from scipy.stats import norm

    predicted, size = predictor.predicted[m], predictor.effects(m, row).size
    if predicted.model.spec.kernel not in ESTIMABLE:
        return len(size)
    calibration = predicted.calibrations[predicted.chosen]
    usual = 2 * calibration.score * float(np.median(calibration.spreads)) if len(calibration.spreads) else np.inf
    bounds = made["highest"] - made["lowest"]
    width = usual if np.isfinite(usual) and 0 < usual < bounds else bounds / 4
    return needed(size, np.square(size), width, float(norm.ppf((1 + predictor.confidence) / 2)))


def _topics(predictor: NewRunPredictor, m: int, row: RunInCase) -> dict[str, Any]:
    effects, n = predictor.effects(m, row), row.case.shape[1]
    topic = predictor.evidence.topic[effects.row]
    deviation = n * np.sqrt(np.bincount(topic, weights=np.square(effects.size), minlength=n))
    order = np.argsort(-deviation, kind="stable")
    columns = {
        "qid": np.array(predictor.evidence.qrels.topics, dtype=object),
        "unjudged": np.bincount(topic, minlength=n),
        "score": predictor.predicted[m].model.zero[row.at][row.place],
        "predicted": predictor.by_topic(m, row),
        "deviation": deviation,
    }
    return {name: values[order] for name, values in columns.items()}
