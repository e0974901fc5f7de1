"""Scores: systems x topics x measures, and their agreement with other scores of the same systems."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, flag
from pt_reuse._errors import InputError, door
from pt_reuse._result import Result
from pt_reuse.engine import pairs
from pt_reuse.engine.hits import HitIndex
from pt_reuse.engine.rescore import score_field
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import MeasureLike, native_spec, parse_measures
from pt_reuse.stats.correlation import DECIMALS, correlations, rank_changes, weighted_tau

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Scores:
    """Scores of every run on every topic under every measure.

    Attributes:
        run_table: one row per run with ``name``, ``team`` and ``type``.
        topics: topic names, those of the qrels.
        measures: measures as ir_measures writes them, ``"nDCG@10"``.
        values: (measures, topics, runs) array.
        settings: ranking order, topic set, and where each measure was computed.
    """

    def __init__(
        self,
        run_table: pd.DataFrame,
        topics: list[str],
        measures: list[str],
        values: NDArray[np.float64],
        has_topic: NDArray[np.bool_],
        settings: Mapping[str, Any],
    ):
        self.run_table, self.topics, self.measures, self.values = run_table, topics, measures, values
        self.settings = dict(settings)
        self._has_topic = has_topic

    @property
    def names(self) -> list[str]:
        """Return the run names."""
        return self.run_table["name"].tolist()

    @property
    def mean_values(self) -> NDArray[np.float64]:
        """Return (measures, runs): the mean over the topic set."""
        return mean_over_topics(self.values, self._has_topic if not self.settings["complete"] else None)

    @property
    def mean(self) -> pd.DataFrame:
        """Return one row per run: ``name`` and the mean of each measure, also of counts that others add up (NumRet)."""
        return self._frame(self.mean_values)

    @property
    def ranks(self) -> pd.DataFrame:
        """Return one row per run: ``name`` and its rank under each measure, 1 + the number of strictly better runs.

        Means are compared after rounding to 12 decimals, so that equal runs tie.
        """
        return self._frame(pairs.ranks(np.round(self.mean_values, DECIMALS)))

    @property
    def per_topic(self) -> pd.DataFrame:
        """Return ``name qid measure value``, one row each, as pt.Experiment's ``perquery`` does."""
        n_measures, n_topics, n_runs = self.values.shape
        return pd.DataFrame({
            "name": np.repeat(np.array(self.names, dtype=object), n_topics * n_measures),
            "qid": np.tile(np.repeat(np.array(self.topics, dtype=object), n_measures), n_runs),
            "measure": np.tile(np.array(self.measures, dtype=object), n_runs * n_topics),
            "value": self.values.transpose(2, 1, 0).ravel(),
        })  # fmt: skip

    @door
    def of(self, measure: MeasureLike) -> pd.DataFrame:
        """Return one measure as a table, a row per topic and a column per run."""
        name = repr(parse_measures(measure)[0])
        if name not in self.measures:
            raise InputError(f"{name} was not computed; there is {examples(self.measures, 12)}.")
        values = self.values[self.measures.index(name)]
        return pd.DataFrame(values, index=pd.Index(self.topics, name="qid"), columns=self.names)

    @door
    def compare(self, other: Scores) -> Agreement:
        """Compare the rankings of systems: these scores are the truth, `other` the estimate.

        Args:
            other: scores of the same runs under the same measures, for example under other judgments.

        Returns:
            Agreement: per measure the correlations and largest changes of rank, per run its changes, per topic tau_b.
        """
        if not isinstance(other, Scores):
            raise InputError(f"expected Scores, got {type(other).__name__}.")
        for what, mine, theirs in (("runs", self.names, other.names), ("measures", self.measures, other.measures)):
            if set(mine) != set(theirs):
                odd = sorted(set(mine) ^ set(theirs))
                raise InputError(f"both need the same {what}; {examples(odd)} in one of them only.")
        return _compare(self, other)

    def _frame(self, values: NDArray) -> pd.DataFrame:
        return pd.DataFrame({"name": self.names, **dict(zip(self.measures, values, strict=True))})

    def __repr__(self) -> str:
        sizes = f"{count(len(self.names), 'run')}, {count(len(self.topics), 'topic')}, {', '.join(self.measures)}"
        return f"Scores: {sizes} ({', '.join(f'{k}={v}' for k, v in self.settings.items())})"

    def _repr_html_(self) -> str:
        table = self.mean.to_html(max_rows=16, index=False, escape=True, float_format="{:.4f}".format)
        return f"<p><b>{html.escape(repr(self))}</b></p>{table}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Agreement(Result):
    """How far two rankings of the same systems agree.

    Attributes:
        table: per measure ``tau_a tau_b gamma tau_ap tau_ap_b weighted_tau max_drop max_rise``.
        changes: per run and measure ``name measure score other_score rank other_rank drop team type``.
        per_topic: per topic and measure ``qid measure tau_b``, the systems ranked on this topic alone; NaN where all
            systems tie under one of the two.
    """

    title: ClassVar[str] = "Agreement"

    changes: pd.DataFrame
    per_topic: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"agreement": self.table, "changes": self.changes, "per_topic": self.per_topic}

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        by: str = "type",
        judgments: tuple[str, str] = ("first judgments", "other judgments"),
        ax: Axes | None = None,
    ) -> Axes:
        """Draw each run's score under the truth against the other, coloured by ``"type"`` or ``"team"``.

        Args:
            measure: one of the measures; default the first.
            by: what gives the colour.
            judgments: what to call the two sets of judgments on the axes.
            ax: where to draw; default a new figure.
        """
        from pt_reuse.plots.agreement import plot_two_scores

        measures = self.table["measure"].tolist()
        name = measures[0] if measure is None else repr(parse_measures(measure)[0])
        choice("measure", name, measures)
        choice("by", by, ("type", "team"))
        return plot_two_scores(self.changes, measure=name, by=by, judgments=judgments, ax=ax)

    def headline(self) -> str:
        """Return tau_b and the largest drop of each measure."""
        return "; ".join(f"{row.measure} tau_b {row.tau_b:.4f}, drop {row.max_drop}" for row in self.table.itertuples())


@door
def score(
    runs: RunSet,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> Scores:
    """Score every run of a field.

    AP, P, R, nDCG, RR, Rprec, Bpref, RBP, Success, Judged and Unjudged, with their parameters, are computed here, in
    the runs' ranking order and bit for bit as trec_eval does; every other measure is computed by ir_measures, run by
    run, in the same order.

    Args:
        runs: the field.
        qrels: a Qrels, a frame or a file. Documents without a judgment count as not relevant.
        measures: ir_measures measures, or their names.
        complete: the mean is over all topics of the qrels, a topic that a run lacks counting 0 (trec_eval -c; default);
            False: over the topics that the run has.
        without_topics: a run with none of the topics of the qrels is an ``"error"`` (default), or scores ``"zero"``.
        verbose: show a progress bar while ir_measures works.

    Returns:
        Scores: ``.mean``, ``.per_topic``, ``.ranks``, ``.compare(other)``.

    Raises:
        InputError: an unknown measure, a run that has no topic in common with the qrels.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "label": [1, 1]})
        >>> ptr.score(ptr.RunSet.from_frames({"A": run}), qrels, ["AP", "P@1", "Judged@2"]).mean
          name    AP  P@1  Judged@2
        0    A  0.25  0.0       0.5

    Differences: ir_measures' default provider, pytrec_eval, orders by float32 scores (``order="trec_eval9"``), and its
    result is undefined (it may crash or never end) for a topic whose labels are all negative, which here scores 0. Its
    Judged and RR@k break ties by ascending docno, which no RunSet order does. As in trec_eval, a negative label is the
    same as no judgment; Judged alone counts it. Measures that ir_measures computes get minus the rank as score, so
    that every provider follows the order of the runs.
    """
    if not isinstance(runs, RunSet):
        raise InputError(f"runs must be a RunSet (read_runs or get_runs() makes one), got {type(runs).__name__}.")
    flag("complete", complete)
    qrels = as_qrels(qrels)
    parsed = parse_measures(measures)
    check_topics(runs, qrels, without_topics)
    specs = [native_spec(measure) for measure in parsed]
    native = [m for m, spec in enumerate(specs) if spec is not None]
    values = np.empty((len(parsed), len(qrels.topics), len(runs)))
    if native:
        base, _ = score_field(hit_index(runs, qrels), qrels.arrays.labels, [s for s in specs if s is not None])
        values[native] = base
    others = [m for m, spec in enumerate(specs) if spec is None]
    if others:
        values[others] = _score_by_provider(runs, qrels, [parsed[m] for m in others], verbose)
    provided = ", ".join(repr(parsed[m]) for m in others)
    return make_scores(runs, qrels, [repr(measure) for measure in parsed], values, complete, provided)


def make_scores(
    runs: RunSet,
    qrels: Qrels,
    measures: list[str],
    values: NDArray[np.float64],
    complete: bool,
    provided: str = "",
    judgments: str = "",
) -> Scores:
    """Label (measures, topics, runs) values.

    Args:
        runs: the field.
        qrels: the judgments whose topics count.
        measures: their names.
        values: the scores.
        complete: whether the mean is over all topics.
        provided: the measures that ir_measures computed.
        judgments: what to say of the judgments, where they are not `qrels` as it is.
    """
    settings: dict[str, Any] = {"order": runs.order, "complete": complete}
    settings |= {name: value for name, value in (("by ir_measures", provided), ("judgments", judgments)) if value}
    labels = runs.run_table[["name", "team", "type"]]
    return Scores(labels, qrels.topics, measures, values, topics_of_runs(runs, qrels), settings)


def hit_index(runs: RunSet, qrels: Qrels) -> HitIndex:
    """Return where the runs have judged documents."""
    return HitIndex(runs.field, qrels.arrays.documents)


def mean_over_topics(values: NDArray[np.float64], has_topic: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Average (..., topics, runs) over the topics: all of them, or those that `has_topic` (topics, runs) marks."""
    if has_topic is None:
        return values.sum(axis=-2) / max(values.shape[-2], 1)
    return np.where(has_topic, values, 0.0).sum(axis=-2) / np.maximum(has_topic.sum(axis=0), 1)


def topics_of_runs(runs: RunSet, qrels: Qrels) -> NDArray[np.bool_]:
    """Return (topics of the qrels, runs): whether the run has documents for the topic."""
    rows = [runs.field.topic_row.get(topic, -1) for topic in qrels.topics]
    lengths = np.vstack([runs.field.lengths, np.zeros((1, len(runs)), dtype=np.int64)])
    return lengths[rows] > 0


def check_topics(runs: RunSet, qrels: Qrels, without_topics: str = "error") -> None:
    """Raise when a run has no topic in common with the qrels, unless it is to score zero."""
    if choice("without_topics", without_topics, ("error", "zero")) == "zero":
        return
    has = np.asarray(topics_of_runs(runs, qrels).any(axis=0))
    if has.all():
        return
    lost = [name for name, some in zip(runs.names, has, strict=True) if not some]
    row = runs.row(lost[0])
    mine = [topic for topic, n in zip(runs.topics, runs.field.lengths[:, row].tolist(), strict=True) if n]
    stripped = {topic.lstrip("0") or "0" for topic in qrels.topics}
    padded = any((topic.lstrip("0") or "0") in stripped for topic in mine)
    hint = "They differ in leading zeros only: write the ids alike." if padded else "Are these the qrels of this track?"
    raise InputError(
        f"{count(len(lost), 'run')} without any topic of the qrels: {examples(lost)}. Run {lost[0]!r} has "
        f"the topics {examples(mine)}, the qrels {examples(qrels.topics)}. {hint}"
    )


def _score_by_provider(
    runs: RunSet, qrels: Qrels, measures: list[ir_measures.Measure], verbose: bool
) -> NDArray[np.float64]:
    judgments = pt.model.to_ir_measures(qrels.to_frame())
    # trec_eval takes all negative labels alike, and crashes on a topic that has none above -2
    best = judgments.groupby("query_id")["relevance"].transform("max")
    judgments.loc[best < -1, "relevance"] = -1
    row = {topic: t for t, topic in enumerate(qrels.topics)}
    values = np.zeros((len(measures), len(qrels.topics), len(runs)))
    evaluators = []
    for m, measure in enumerate(measures):
        values[m] = getattr(measure, "DEFAULT", 0.0)
        try:
            # one by one: together, the parameters of one measure can leak into another
            evaluators.append(ir_measures.evaluator([measure], judgments))
        except (ValueError, TypeError, AssertionError, RuntimeError) as error:
            hint = " Give the lowest grade that counts as relevant: RBP(rel=1)." if measure.NAME == "RBP" else ""
            raise InputError(f"ir_measures cannot compute {measure!r}: {error}{hint}") from error
    for r, name in enumerate(pt.tqdm(runs.names, desc="ir_measures", unit="run", disable=not verbose)):
        # every provider sorts by score, and Compat takes 0 for the score of what is not retrieved: counting down to 1
        # gives each of them the runs' own order
        ordered = {
            topic: dict(zip(rows["docno"], (len(rows) - rows["rank"]).astype(float), strict=True))
            for topic, rows in runs[name].groupby("qid", sort=False)
        }
        for m, evaluator in enumerate(evaluators):
            try:
                found = list(evaluator.iter_calc(ordered))
            except Exception as error:  # a provider may run other programs, and a measure may be the user's own
                what = f"{measures[m]!r} of run {name!r}"
                raise InputError(f"ir_measures cannot compute {what}: {error}") from error
            for metric in found:
                if metric.query_id in row:
                    values[m, row[metric.query_id], r] = metric.value
    return values


def _compare(truth: Scores, estimate: Scores) -> Agreement:
    runs = [estimate.names.index(name) for name in truth.names]
    measures = [estimate.measures.index(measure) for measure in truth.measures]
    mine, theirs = truth.mean_values, estimate.mean_values[measures][:, runs]
    rows, changes, topics = [], [], []
    shared = [topic for topic in truth.topics if topic in set(estimate.topics)]
    at = [[scores.topics.index(topic) for topic in shared] for scores in (truth, estimate)]
    for m, measure in enumerate(truth.measures):
        found = correlations(mine[m], theirs[m][None])
        found.insert(0, "measure", measure)
        found["weighted_tau"] = weighted_tau(mine[m], theirs[m]) if len(truth.names) > 1 else np.nan
        rows.append(found)
        moved = rank_changes(mine[m], theirs[m], truth.names)
        moved[["team", "type"]] = truth.run_table[["team", "type"]].to_numpy()
        moved.insert(1, "measure", measure)
        changes.append(moved)
        by_topic = [
            float(correlations(x, y[None])["tau_b"].iloc[0])
            for x, y in zip(truth.values[m][at[0]], estimate.values[measures[m]][at[1]][:, runs], strict=True)
        ]
        topics.append(pd.DataFrame({"qid": shared, "measure": measure, "tau_b": by_topic}))
    return Agreement(
        table=pd.concat(rows, ignore_index=True),
        settings={
            "truth": str(truth.settings),
            "estimate": str(estimate.settings),
            "ties": f"means equal to {DECIMALS} decimals",
        },
        changes=pd.concat(changes, ignore_index=True),
        per_topic=pd.concat(topics, ignore_index=True),
    )  # fmt: skip
