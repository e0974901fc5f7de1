"""leave_out_uniques: what becomes of a system whose team was not pooled, also where a judge labels what is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.kernels import UNJUDGED, Changes
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError, choice, count, examples, listed
from pt_reuse.inputs import Inputs, interval_settings, settings_of
from pt_reuse.judge import HoleLabels, NamedJudge, Scale, as_judges, labels_of_holes
from pt_reuse.plots.bars import plot_unique_counts, plot_unit_drops
from pt_reuse.plots.forests import plot_filled
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.fit import PoolFit, find_uniques, unjudged_tops, with_unjudged
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import cells, records
from pt_reuse.scoring.caveats import UNPOOLED, Caveat, alone, beware, none_relevant, not_pooled, noted, tell, twins
from pt_reuse.scoring.measures import adds_up
from pt_reuse.scoring.perturbed import PerturbedScores
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import Scores, scores_of
from pt_reuse.studies.leave_one_out import (
    LeaveOneOutResult,
    count_uniques,
    draw_scores,
    drawn_changes,
    leave_one_out,
    scores_without,
)
from pt_reuse.study import study

#: which documents a judge labels: the uniques that are taken out, or every unjudged one at the top of a run besides
HOLES = ("uniques", "unjudged")
#: the three ways to score a unit's runs had nobody judged its uniques, as columns begin
WAYS = ("removed", "filled", "judge_alone")
#: what is counted of the uniques
COUNTS = ("removed", "labelled", "unknown", "judge_relevant", "relevant")


def _check(given: Mapping[str, Any]) -> None:
    if given.get("fill") is None:
        for name in ("judge_rel", "holes"):
            if given.get(name) not in (None, HOLES[0]):
                raise InputError(f"{name} is of a judge. Give one by fill=.", argument=name)


@dataclass(frozen=True)
class Filling:
    """What judges say of the documents that people judged, and of those that nobody did."""

    judgments: Qrels  # those of people, and as unjudged the documents that nobody judged and a judge is asked for
    rel: int  # the lowest label that is relevant
    asked: NDArray[np.int64]  # (documents,) rows of the judgments that judges are asked for: those of people first
    n_judged: int  # how many of them people judged
    owner: NDArray[np.int64]  # (uniques,) the unit of each document that is taken out
    row: NDArray[np.int64]  # (uniques,) its row of the judgments
    judges: tuple[HoleLabels, ...]  # what each judge says of `asked`

    @classmethod
    def of(
        cls,
        qrels: Qrels,
        rel: int,
        removed: tuple[NDArray[np.int64], NDArray[np.int64]],
        further: Pool | None,
        judges: Sequence[NamedJudge],
    ) -> Filling:
        """Ask each judge once: for what people judged, and for `further` documents; `removed` has owners and rows."""
        base = qrels if further is None else with_unjudged(qrels, further)
        at = base.arrays.documents.find(qrels.arrays.documents)
        judged = np.sort(at[qrels.arrays.labels >= 0])
        holes = at[:0] if further is None else base.arrays.documents.find(further.documents)
        asked = np.concatenate([judged, np.setdiff1d(holes, judged)])
        frame = base.to_frame()[["qid", "docno"]].iloc[asked]
        labels = tuple(labels_of_holes(judge, frame, Scale.of(qrels, rel)) for judge in judges)
        for of_judge in labels:
            if len(asked) and not of_judge.known.any():
                text = f"the judge labelled none of {count(len(asked), 'document')}. Are ids written alike?"
                raise InputError(text, argument="fill", place=of_judge.name)
        owner, row = removed
        return cls(base, rel, asked, len(judged), owner, at[row], labels)

    def scored(
        self, inputs: Inputs, units: Units, *, with_cells: bool, n_jobs: int | None, verbose: bool
    ) -> PerturbedScores:
        """Score the runs without each unit's uniques, then by each judge filled for each, and by its labels alone."""
        holes, n = self.asked[self.n_judged :], len(units)
        in_set, rows, label = [self.owner], [self.row], [np.full(len(self.row), UNJUDGED)]
        firsts = [n + j * (n + 1) for j in range(len(self.judges))]
        for j, first in enumerate(firsts):
            of_holes = np.repeat(np.arange(n), len(holes))
            in_set += [first + self.owner, first + of_holes, np.full(len(self.asked), first + n)]
            every = np.concatenate([self.row, np.tile(holes, n), self.asked])
            rows.append(every)
            label.append(self._by_row(j)[every])
        row, labels = np.concatenate(rows), np.concatenate(label).astype(np.int16)
        n_sets = firsts[-1] + n + 1
        changes = Changes(n_sets, np.concatenate(in_set), row, labels).take(labels != self.judgments.arrays.labels[row])
        data = inputs.runs, self.judgments, inputs.measures
        return PerturbedScores.of(
            rescore(*data, changes, n_jobs=n_jobs, verbose=verbose),
            *data,
            n_sets,
            units=units,
            own=(0, *firsts),
            whole=[first + n for first in firsts],
            complete=inputs.complete,
            with_cells=with_cells,
        )

    def counts(self, judge: int, n_units: int) -> pd.DataFrame:
        """Return :data:`COUNTS` of the uniques of each unit; the relevant ones are of those that the judge labelled."""
        by_judge, truth = self._by_row(judge)[self.row], self.judgments.arrays.labels[self.row]
        known = by_judge != UNJUDGED
        relevant = (known & (labels >= self.rel) for labels in (by_judge, truth))
        of_kinds = zip(COUNTS, (np.ones(len(known), dtype=bool), known, ~known, *relevant), strict=True)
        return pd.DataFrame({name: np.bincount(self.owner[kind], minlength=n_units) for name, kind in of_kinds})

    def caveats(self, judges: Sequence[NamedJudge], remove: str) -> Iterator[Caveat]:
        """Yield what keeps filled scores from being those of a judge that knows all documents, and learnt of none."""
        topic = self.judgments.arrays.documents.topic[self.asked]
        for of_judge in self.judges:
            if unknown := int((~of_judge.known).sum()):
                note = f"gave no label to {unknown:,} of {count(len(of_judge.labels), 'document')}"
                silent = [self.judgments.topics[t] for t in np.setdiff1d(topic, topic[of_judge.known]).tolist()]
                whole = f", none in {count(len(silent), 'topic')} ({examples(silent)})" if silent else ""
                text = f"judge {of_judge.name!r} {note} that it was asked for{whole}. These stay unjudged."
                yield Caveat(f"{of_judge.name} {note}", text)
        for judge in judges:
            if judge.fitted_on is not None:
                known = judge.fitted_on.arrays.documents.find(self.judgments.arrays.documents) >= 0
                if n := int(known[self.row].sum()):
                    note = f"{judge.name} was fitted on {count(n, 'removed unique')}"
                    text = f"{note} of {len(self.row):,} that it labels. So filling looks better than it is."
                    yield Caveat(note, text)
        if remove == "relevant":
            note = "only uniques that are relevant are filled"
            text = f"{note}, by {listed([judge.name for judge in judges])}. So filling looks better than it is."
            yield Caveat(note, text)

    def _by_row(self, judge: int) -> NDArray[np.int16]:
        """Return (rows of the judgments,): the label that a judge gave, unjudged where there is none."""
        labels = np.full(len(self.judgments), UNJUDGED, dtype=np.int16)
        labels[self.asked] = self.judges[judge].labels
        # what nobody judged stays as it is, pooled or not, where the judge does not know it either
        holes = self.asked[self.n_judged :]
        unknown = holes[labels[holes] == UNJUDGED]
        labels[unknown] = self.judgments.arrays.labels[unknown]
        return labels


def filled_tables(
    units: Units, scores: Scores, scored: PerturbedScores, filling: Filling, bootstrap: TopicBootstrap | None
) -> dict[str, Any]:
    """Return ``filled`` and ``filled_summary`` of ``LeaveOutUniques``: what uniques are worth in each of the ways."""
    n, of_units, of_all = len(units), [], []
    has, added = None if scores.complete else scores.has_topic, adds_up(scores.measures).tolist()
    # (runs, units), each column a mean over the unit's runs
    member = units.of_run[:, None] == np.arange(n)
    of_unit = member / np.maximum(member.sum(axis=0), 1)
    for j, judge in enumerate(filling.judges):
        counts, first = filling.counts(j, n), n + j * (n + 1)
        over = of_unit[:, counts["removed"] > 0]
        mean = over.mean(axis=1, keepdims=True) if over.size else np.zeros((len(over), 1))
        for m, measure in enumerate(scores.measures):
            full, means = TopicScores(scored.base[m], has, added[m]), scored.means[m]
            fields = means[:n], means[first : first + n], np.broadcast_to(means[first + n], (n, means.shape[1]))
            values = (scored.own[0][m], scored.own[first][m], scored.whole[first + n][m])
            changes, ranks = dict[str, Any](), dict[str, Any]()
            total: dict[str, Any] = {"judge": judge.name, "measure": measure, "units": over.shape[1]}
            total |= {name: int(counts[name].sum()) for name in COUNTS}
            agreement, before = dict[str, float](), np.round(full.means()[0], DECIMALS)
            for way, of_own, field in zip(WAYS, (TopicScores(v, has, added[m]) for v in values), fields, strict=True):
                change = of_own.means() - full.means()
                drawn = None if bootstrap is None else drawn_changes(full, of_own, bootstrap)
                changes |= _ends(f"{way}_change", (change @ of_unit)[0], drawn, of_unit, bootstrap)
                of_mean = _ends(f"{way}_change", (change @ mean)[0], drawn, mean, bootstrap)
                total |= {name: cells[0] for name, cells in of_mean.items()}
                total[f"{way}_above"] = above = int((np.round(change @ over, DECIMALS) > 0).sum())
                if bootstrap is not None and drawn is not None:
                    of_over = drawn @ over
                    n_above = (np.round(of_over, DECIMALS) > 0).sum(axis=1)
                    n_above = np.where(np.isnan(of_over).any(axis=1), np.nan, n_above)
                    ends = bootstrap.percentiles(float(above), n_above)
                    total[f"{way}_above_low"], total[f"{way}_above_high"] = ends
                numbers = pairs.coefficients(before, np.round(field, DECIMALS), ("tau_b",))
                ranks |= {f"{way}_{name}": numbers[name] for name in ("tau_b", "max_drop", "max_rise")}
                own = np.round(of_own.means()[0], DECIMALS)
                # its unit alone is scored anew; by a judge alone all are
                rank = pairs.ranks(own) if way == "judge_alone" else pairs.rank_alone(before, own, units.of_run)
                drops = [(rank - pairs.ranks(before))[units.of_run == unit] for unit in range(n)]
                ranks[f"{way}_own_drop"] = [int(of.max(initial=0)) for of in drops]
                ranks[f"{way}_own_rise"] = [int(-of.min(initial=0)) for of in drops]
                for name, value in ranking_agreement(full, of_own, bootstrap, coefficients=("tau_b",)).items():
                    of_ranks = not (name.startswith("tau") or np.isnan(value))
                    agreement[f"{way}_{name}"] = int(value) if of_ranks else value
            columns = {units.column: list(units.names), "measure": measure, "runs": units.runs(), **counts}
            rows = pd.DataFrame({"judge": judge.name, **columns, **changes, **ranks})
            order = ["removed", units.column]
            of_units.append(rows.sort_values(order, ascending=[False, True], ignore_index=True))
            of_all.append(total | agreement)
    return {"filled": pd.concat(of_units, ignore_index=True), "filled_summary": pd.DataFrame(of_all)}


def _ends(
    name: str,
    values: NDArray[np.float64],
    drawn: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
    bootstrap: TopicBootstrap | None,
) -> dict[str, NDArray[np.float64]]:
    """Return (columns of the weights,) values, and their ends by weighted means over (draws, runs)."""
    if bootstrap is None or drawn is None:
        return {name: values}
    weighted = drawn @ weights
    ends = [bootstrap.percentiles(float(value), weighted[:, i]) for i, value in enumerate(values)]
    low, high = np.array(ends).reshape(-1, 2).T
    return {name: values, f"{name}_low": low, f"{name}_high": high}


def _draw_fill(result: LeaveOutUniques, measure: str, place: Place, judge: str | None = None) -> Axes:
    if result.filled is None:
        raise InputError("no document was labelled by a judge. Call leave_out_uniques with fill=.", argument="kind")
    column, judges = result.units.column, list(dict.fromkeys(result.filled["judge"]))
    who = judges[0] if judge is None else choice("judge", judge, judges)
    rows = result.filled[(result.filled["judge"] == who) & (result.filled["measure"] == measure)]
    rows = rows.sort_values(["removed_change", column], kind="stable")
    return plot_filled(rows.reset_index(drop=True), unit=column, place=place)


_WAY = "{removed,filled,judge_alone}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOutUniques(LeaveOneOutResult):
    """What leaving each unit (team, run, type or family) out of the pool does to every run.

    Attributes:
        depth: the pool's.
        rel: the lowest label that counts as relevant.
        remove: which uniques were removed, ``"relevant"`` or ``"judged"``.
        fit: how many documents are judged, how many of them no contributing run has down to the depth, and how many
            of the pool are not judged.
    """

    title = "Leave-out-uniques"
    valid_for = (
        "{compared}; depth-{depth} pool, contributors: {contributors}; {remove} uniques of the {by} taken out; "
        "relevant: {relevant}."
    )
    not_covered = "systems unlike these, and relevant documents that no run found."
    plots = {
        "scores": draw_scores,
        "drops": lambda a, measure, place, top=None: plot_unit_drops(a.table, measure=measure, top=top, place=place),
        "uniques": lambda a, _, place, top=None: plot_unique_counts(a.unique_counts, top=top, place=place),
        "fill": _draw_fill,
    }
    columns = f"""{LeaveOneOutResult.columns}
    removed_         | removed             |       | without the uniques
    filled_          | filled              |       | with the uniques labelled by the judge
    judge_alone_     | judge alone         |       | under the judge's labels of all judged documents
    removed          | Uniques             | count | uniques that are taken out
    labelled         | Labelled            | count | how many of them the judge labelled
    unknown          | Unknown             | count | to how many it gave no label; these stay unjudged
    judge_relevant   | Relevant, judge     | count | of those labelled, how many are relevant by the judge
    relevant         | Relevant, people    | count | how many of those are relevant by people
    change           | Change              | difference | mean of the unit's own runs less the true one
    own_drop         | Largest own drop    | ranks | the most ranks that a run of the unit loses when it is scored anew
    own_rise         | Largest own rise    | ranks | the most ranks that a run of the unit gains then
    units            | Units               | count | units with uniques
    above            | Above the truth     | count | how many units have a mean above the true one
    """

    depth: int
    rel: int
    remove: str
    fit: PoolFit
    filled: Annotated[
        pd.DataFrame | None,
        Table(
            "judge, left-out unit and measure",
            f"judge unit measure runs {' '.join(COUNTS)} {_WAY}_change~ {_WAY}_tau_b {_WAY}_max_drop {_WAY}_max_rise "
            f"{_WAY}_own_drop {_WAY}_own_rise",
            report="unit removed removed_change filled_change removed_max_drop filled_max_rise",
            select={"judge": None},
            about="Only with fill=.",
        ),
    ] = None
    filled_summary: Annotated[
        pd.DataFrame | None,
        Table(
            "judge and measure",
            f"judge measure units {' '.join(COUNTS)} {_WAY}_change~ {_WAY}_above~ {_WAY}_tau_b~ {_WAY}_max_drop~ "
            f"{_WAY}_max_rise~",
            report="judge measure filled_above filled_change filled_tau_b removed_tau_b",
            about="Only with fill=.",
        ),
    ] = None

    def answers(self) -> list[str]:
        """Return what each run loses without the uniques of its own unit, or keeps where a judge labels them."""
        if not self.table["removed"].any():
            n = count(int(self.unique_counts["unique"].sum()), "unique document")
            return [
                f"No score changes: none of {n} is taken out, and of {self.fit.judged:,} judged documents "
                f"{self.fit.strangers:,} are not in the depth-{self.depth} pool"
            ]
        if self.filled_summary is None:
            return super().answers()
        line = (
            "{measure}, {by}s' uniques labelled by {judge}: tau_b to the truth {filled_tau_b}, {removed_tau_b} without "
            "labels; mean change {filled_change}, {filled_above} of {units} {by}s above the truth"
        )
        rows = records(self.filled_summary)
        return [line.format_map({**self.words(), **cells(row, self.columns)}) for row in rows]

    def whole_field(self) -> pd.DataFrame:
        """Return every run under every unit's reduced judgments, one row per left-out unit, measure and run.

        Returns:
            DataFrame: the left-out unit under ``team``, ``type`` or, for a run, ``left_out``; ``measure name score
            reduced_score rank reduced_rank drop``, all runs re-scored and re-ranked.
        """
        left_out = "left_out" if self.units.by == "run" else self.units.by
        every = {"measure": self.scores.measures, left_out: self.units.names, "name": self.scores.names}
        rows = pd.MultiIndex.from_product(list(every.values()), names=list(every)).to_frame(index=False)
        score = np.broadcast_to(self.scores.mean_values[:, None], self.reduced.shape)
        rank, reduced_rank = (pairs.ranks(np.round(means, DECIMALS)).ravel() for means in (score, self.reduced))
        return rows[[left_out, "measure", "name"]].assign(
            score=score.ravel(),
            reduced_score=self.reduced.ravel(),
            rank=rank,
            reduced_rank=reduced_rank,
            drop=reduced_rank - rank,
        )


@study(
    question="Does my system lose if its team was not pooled?",
    command="lou",
    aim="fair",
    summary="leave-out-uniques on a field of run files",
    details="A unique document is one that only one team contributed to the pool.",
    screen=("summary", "table"),
    page="leave-out-uniques",
    papers="[Z98]_, [B07]_",
    together=_check,
)
def leave_out_uniques(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    by: options.Unit = "team",
    depth: options.Depth = None,
    remove: Annotated[
        str | None,
        options.Option(
            '``"relevant"`` (default) removes the unique relevant documents; ``"judged"`` (with `fill` the default) '
            "every unique judged one, as NIST's script does.",
            choices=("relevant", "judged"),
            flag=options.Flag(help="relevant or judged uniques", metavar="WHAT", kind="text", default="relevant"),
        ),
    ] = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    fill: Annotated[
        Any,
        options.Option(
            "a judge of the removed uniques: judgments in any form, a :class:`~pt_reuse.judging.Judge`, a function or "
            "a pipeline; or a dict of name -> judge. Each is asked once, for all that people judged.",
            flag=options.Flag(help="labels of judges, as `audit --judges` takes them", metavar="FILE", kind="judges"),
        ),
    ] = None,
    judge_rel: Annotated[
        options.JudgeGrade,
        options.Option(
            "the lowest label of the judge that is relevant, or a dict of its label -> the label of people, as in "
            ":func:`audit_labels`. Labels come to the scale of people, none above their highest, before scoring.",
            flag=options.Flag(
                help="lowest label of the judges that is relevant, or LABEL:GRADE,... for the label of people; "
                "JUDGE=... of one judge alone",
                metavar="LABEL",
                kind="labels",
                default="1 where all are 0 and 1, else as for people",
            ),
        ),
    ] = None,
    holes: Annotated[
        str,
        options.Option(
            '``"uniques"`` (default), the removed ones; ``"unjudged"``: also the unjudged first `depth` of any run.',
            choices=HOLES,
            flag=options.Flag(help="what a judge labels: uniques or unjudged", metavar="WHICH", kind="text"),
        ),
    ] = "uniques",
    complete: options.Complete = True,
    without_topics: options.WithoutTopics = "error",
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> LeaveOutUniques:
    """Leave each team, run, type or family out of the pool, and compute how scores and ranks of all runs change.

    A *unique* of a unit is a judged document (label >= 0) that only this unit's runs contributed to the depth-k pool.
    For each unit the uniques are removed from the judgments and the runs are scored again: these are the scores if the
    unit had not brought them. The topic set stays: a topic that loses its last relevant document counts 0. Intervals
    draw topics, and neither judgments nor uniques.

    Args:
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1. With 2,
            ``remove="relevant"`` keeps uniques of label 1, which are a gain for nDCG.

    Raises:
        InputError: runs without a type or family, an unknown measure, run or option, a run that has no topic in
            common with the qrels.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> lou = ptr.leave_out_uniques(field.runs, field.qrels, ["AP", "nDCG@10"], depth=field.depth)
        >>> lou.summary[["measure", "alone_max_drop"]].shape
        (2, 2)
        >>> generous = lambda documents: [2] * len(documents)
        >>> filled = ptr.leave_out_uniques(field.runs, field.qrels, "nDCG@10", depth=field.depth, fill=generous)
        >>> filled.filled_summary[["units", "filled_above"]].values.tolist()
        [[8, 8]]

    Source: Zobel 1998, How reliable are the results of large-scale information retrieval experiments?, SIGIR; Buckley,
    Dimmick, Soboroff and Voorhees 2007, Information Retrieval 10; Voorhees, Craswell and Lin 2022, SIGIR. On TREC-8 ad
    hoc (71 contributors, depth 100) own-team AP has tau_b .99806 and a largest drop of 2.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, complete=complete, without_topics=without_topics)
    pooled = inputs.pooled(depth, contributors, pool_order)
    units, people = inputs.runs.units(by), inputs.qrels
    judges = [] if fill is None else as_judges(fill, "fill", rel=judge_rel)
    remove = remove or ("judged" if judges else "relevant")
    lowest = inputs.rel if remove == "relevant" else 0
    unpooled = list(not_pooled(units, pooled.contributors.runs))
    tell(unpooled)
    beware(twins(pooled.ranked, pooled.depth, by, units.of_run.tolist(), pooled.contributors.runs))
    beware(alone(units, pooled.contributors.runs), none_relevant(people, inputs.rel) if remove == "relevant" else ())
    bootstrap = inputs.bootstrap(resamples, seed, confidence, n_jobs)

    how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    of_pool: dict[str, Any] = {"depth": pooled.depth, "pool_order": pool_order}
    uniques = find_uniques(inputs.runs, people, units, pooled.contributors, **of_pool, **how)
    fit, (owner, row) = uniques.fit, uniques.of_label(lowest)
    filling, of_filling = None, dict[str, str]()
    if judges:
        further = unjudged_tops(inputs.runs, people, pooled.depth) if holes == "unjudged" else None
        filling = Filling.of(people, inputs.rel, (owner, row), further, judges)
        beware(filling.caveats(judges, remove))
        n_holes = len(filling.asked) - filling.n_judged
        more = f" and {count(n_holes, 'document')} that nobody judged" if n_holes else ""
        of_filling = {"fill": "; ".join(of_judge.words() for of_judge in filling.judges)}
        of_filling["holes"] = f"the removed uniques{more}"
        scored = filling.scored(inputs, units, with_cells=bootstrap is not None, **how)
    else:
        how["with_cells"] = bootstrap is not None
        scored = scores_without(inputs, (owner, row), len(units), units=units, **how)
    beware(fit.caveats())

    parts = leave_one_out(
        inputs.runs.run_table,
        pooled.contributors.runs,
        units,
        scores_of(inputs.runs, people, inputs.measures, scored.base, complete=inputs.complete),
        scored,
        bootstrap,
        judgments=f"without the unique {remove} documents of the run's own {by}, depth {pooled.depth}",
        counts=count_uniques(units, pooled.contributors.runs, uniques.owner, uniques.label >= inputs.rel),
        removed=np.bincount(owner, minlength=len(units)),
        verbose=verbose,
    )
    filled = {} if filling is None else filled_tables(units, parts["scores"], scored, filling, bootstrap)
    settings = settings_of(
        pooled,
        units,
        inputs,
        interval_settings(bootstrap, "; of a change of score the percentile interval"),
        of_filling,
        noted(unpooled, UNPOOLED),
        by=by,
        remove=remove,
        judged=fit.judged,
        judged_without_contributor=fit.strangers,
        pool=fit.pooled,
        pool_without_judgment=fit.unjudged,
    )
    parts |= {"depth": pooled.depth, "rel": inputs.rel, "remove": remove, "fit": fit}
    return LeaveOutUniques(**parts, **filled, settings=settings)
