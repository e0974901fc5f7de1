"""Leave-out-uniques with the documents of a team labelled by a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, listed
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.changes import Changes
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError
from pt_reuse.inputs import Inputs
from pt_reuse.judge import HoleLabels, NamedJudge, Scale, labels_of_holes
from pt_reuse.pooling.fit import with_unjudged
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import adds_up
from pt_reuse.scoring.perturbed import PerturbedScores
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.leave_one_out import drawn_changes

#: which documents a judge labels: the uniques that are taken out, or every unjudged one at the top of a run besides
HOLES = ("uniques", "unjudged")
#: the three ways to score a unit's runs had nobody judged its uniques, as columns begin
WAYS = ("removed", "filled", "judge_alone")
#: what is counted of the uniques
COUNTS = ("removed", "labelled", "unknown", "judge_relevant", "relevant")


def check_fill(fill: Any, judge_rel: Any, holes: str | None) -> None:
    """Raise where there is an option of a judge, and no judge."""
    for name, idle in (("judge_rel", judge_rel is None), ("holes", holes in (None, HOLES[0]))):
        if fill is None and not idle:
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
        for said in labels:
            if len(asked) and not said.known.any():
                text = f"the judge labelled none of {count(len(asked), 'document')}. Are ids written alike?"
                raise InputError(text, argument="fill", place=said.name)
        owner, row = removed
        return cls(base, rel, asked, len(judged), owner, at[row], labels)

    def changes(self, n_units: int) -> Changes:
        """Return the sets of judgments: without each unit's uniques, and of each judge filled for each and alone."""
        holes, start = self.asked[self.n_judged :], n_units
        in_set, rows, label = [self.owner], [self.row], [np.full(len(self.row), UNJUDGED)]
        for said in self.judges:
            of_holes = np.repeat(np.arange(n_units), len(holes))
            in_set += [start + self.owner, start + of_holes, np.full(len(self.asked), start + n_units)]
            every = np.concatenate([self.row, np.tile(holes, n_units), self.asked])
            rows.append(every)
            label.append(self._by_row(said)[every])
            start += n_units + 1
        row, labels = np.concatenate(rows), np.concatenate(label).astype(np.int16)
        changed = labels != self.judgments.arrays.labels[row]
        return Changes(start, np.concatenate(in_set), row, labels).take(changed)

    def scored(
        self, inputs: Inputs, units: Units, *, with_cells: bool, n_jobs: int | None, verbose: bool
    ) -> PerturbedScores:
        """Score the runs without each unit's uniques, then by each judge filled, and then by its labels alone."""
        n, changes, measures = len(units), self.changes(len(units)), inputs.measures
        blocks = rescore(inputs.runs, self.judgments, measures, changes, n_jobs=n_jobs, verbose=verbose)
        own = (0, *range(n, changes.n_sets, n + 1))
        return PerturbedScores.of(
            blocks,
            inputs.runs,
            self.judgments,
            measures,
            changes.n_sets,
            units=units,
            own=own,
            whole=[first + n for first in own[1:]],
            complete=inputs.complete,
            with_cells=with_cells,
        )

    def counts(self, judge: int, n_units: int) -> pd.DataFrame:
        """Return :data:`COUNTS` of the uniques of each unit; the relevant ones are of those that the judge labelled."""
        said, truth = self._by_row(self.judges[judge])[self.row], self.judgments.arrays.labels[self.row]
        known = said != UNJUDGED
        relevant = (known & (labels >= self.rel) for labels in (said, truth))
        found = dict(zip(COUNTS, (np.ones(len(known), dtype=bool), known, ~known, *relevant), strict=True))
        return pd.DataFrame({name: np.bincount(self.owner[some], minlength=n_units) for name, some in found.items()})

    def settings(self) -> dict[str, str]:
        """Return the conventions of filling, for display."""
        n_holes = len(self.asked) - self.n_judged
        further = f" and {count(n_holes, 'document')} that nobody judged" if n_holes else ""
        return {"fill": "; ".join(said.words() for said in self.judges), "holes": f"the removed uniques{further}"}

    def caveats(self, judges: Sequence[NamedJudge], remove: str) -> Iterator[Caveat]:
        """Yield what keeps filled scores from being those of a judge that knows all documents, and learnt of none."""
        topic = self.judgments.arrays.documents.topic[self.asked]
        for said in self.judges:
            if unknown := int((~said.known).sum()):
                silent = np.setdiff1d(topic, topic[said.known])
                names = examples([self.judgments.topics[t] for t in silent])
                none = f", none in {count(len(silent), 'topic')} ({names})" if len(silent) else ""
                of = f"{unknown:,} of {count(len(said.labels), 'document')}"
                text = f"judge {said.name!r} gave no label to {of} that it was asked for{none}. These stay unjudged."
                yield Caveat(f"{said.name} gave no label to {of}", text)
        for judge in judges:
            if judge.fitted_on is not None:
                known = judge.fitted_on.arrays.documents.find(self.judgments.arrays.documents) >= 0
                if n := int(known[self.row].sum()):
                    note = f"{judge.name} was fitted on {count(n, 'removed unique')}"
                    yield Caveat(
                        note, f"{note} of {len(self.row):,} that it labels. So filling looks better than it is."
                    )
        if remove == "relevant":
            note = "only uniques that are relevant are filled"
            text = f"{note}, by {listed([judge.name for judge in judges])}. So filling looks better than it is."
            yield Caveat(note, text)

    def _by_row(self, said: HoleLabels) -> NDArray[np.int16]:
        """Return (rows of the judgments,): the label that a judge gave, unjudged where there is none."""
        labels = np.full(len(self.judgments), UNJUDGED, dtype=np.int16)
        labels[self.asked] = said.labels
        # what nobody judged stays as it is, pooled or not, where the judge does not know it either
        holes = self.asked[self.n_judged :]
        unknown = holes[labels[holes] == UNJUDGED]
        labels[unknown] = self.judgments.arrays.labels[unknown]
        return labels


def filled_tables(
    units: Units, scores: Scores, scored: PerturbedScores, filling: Filling, bootstrap: TopicBootstrap | None
) -> dict[str, Any]:
    """Return ``filled`` and ``filled_summary`` of ``LeaveOutUniques``."""
    n, of_units, of_all = len(units), [], []
    has, added = None if scores.complete else scores.has_topic, adds_up(scores.measures).tolist()
    for j, judge in enumerate(filling.judges):
        counts, first = filling.counts(j, n), n + j * (n + 1)
        for m, measure in enumerate(scores.measures):
            means, values = scored.means[m], (scored.own[0], scored.own[first], scored.whole[first + n])
            ways = _Ways(
                units,
                bootstrap,
                TopicScores(scored.base[m], has, added[m]),
                {name: TopicScores(of[m], has, added[m]) for name, of in zip(WAYS, values, strict=True)},
                (means[:n], means[first : first + n], np.broadcast_to(means[first + n], (n, means.shape[1]))),
            )
            rows = ways.of_units(counts)
            rows.insert(1, "measure", measure)
            rows.insert(0, "judge", judge.name)
            of_units.append(rows)
            of_all.append({"judge": judge.name, "measure": measure, **ways.summary(rows)})
    return {"filled": pd.concat(of_units, ignore_index=True), "filled_summary": pd.DataFrame(of_all)}


class _Ways:
    """What the uniques of units are worth under one measure, in each of the :data:`WAYS`, with the labels of a judge.

    `own` has the scores of each run as its own unit is treated, `fields` (units, runs) means of all runs, by way.
    """

    def __init__(
        self,
        units: Units,
        bootstrap: TopicBootstrap | None,
        full: TopicScores,
        own: Mapping[str, TopicScores],
        fields: Sequence[NDArray[np.float64]],
    ):
        self._units, self._bootstrap, self._full, self._own = units, bootstrap, full, own
        self._fields = dict(zip(WAYS, fields, strict=True))
        # (runs, units), each column a mean over the unit's runs
        member = units.of_run[:, None] == np.arange(len(units))
        self._of_unit = member / np.maximum(member.sum(axis=0), 1)

    def of_units(self, counts: pd.DataFrame) -> pd.DataFrame:
        """Return a row per unit, most uniques first."""
        units = self._units
        columns: dict[str, Any] = {units.column: list(units.names), "runs": units.runs()}
        columns |= {name: counts[name].to_numpy() for name in COUNTS}
        for way in WAYS:
            columns |= self._changes(way, self._of_unit)
        before = np.round(self._full.means()[0], DECIMALS)
        for way in WAYS:
            field = pairs.coefficients(before, np.round(self._fields[way], DECIMALS), ("tau_b",))
            columns |= {f"{way}_{number}": field[number] for number in ("tau_b", "max_drop", "max_rise")}
            drops = self._drops(way)
            mine = [drops[units.of_run == unit] for unit in range(len(units))]
            columns[f"{way}_own_drop"] = [int(of.max(initial=0)) for of in mine]
            columns[f"{way}_own_rise"] = [int(-of.min(initial=0)) for of in mine]
        order = ["removed", units.column]
        return pd.DataFrame(columns).sort_values(order, ascending=[False, True], ignore_index=True)

    def summary(self, rows: pd.DataFrame) -> dict[str, Any]:
        """Return what there is of all units with uniques together."""
        names = set(rows[self._units.column][rows["removed"] > 0])
        over = self._of_unit[:, [name in names for name in self._units.names]]
        mean = over.mean(axis=1, keepdims=True) if names else np.zeros((len(over), 1))
        found: dict[str, Any] = {"units": len(names)} | {name: int(rows[name].sum()) for name in COUNTS}
        for way in WAYS:
            found |= {column: cells[0] for column, cells in self._changes(way, mean).items()}
            found |= self._above(way, over)
        for way in WAYS:
            numbers = ranking_agreement(self._full, self._own[way], self._bootstrap, coefficients=("tau_b",))
            for number, value in numbers.items():
                of_ranks = not (number.startswith("tau") or np.isnan(value))
                found[f"{way}_{number}"] = int(value) if of_ranks else value
        return found

    def _drops(self, way: str) -> NDArray[np.int64]:
        """Return (runs,) the ranks that each loses when its unit alone is re-scored; by a judge alone all are."""
        before, own = (np.round(scores.means()[0], DECIMALS) for scores in (self._full, self._own[way]))
        rank = pairs.ranks(own) if way == "judge_alone" else pairs.rank_alone(before, own, self._units.of_run)
        return rank - pairs.ranks(before)

    def _changes(self, way: str, weights: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return changes of weighted means over runs, (columns of the weights,), with their ends after them."""
        change = ((self._own[way].means() - self._full.means()) @ weights)[0]
        if self._bootstrap is None:
            return {f"{way}_change": change}
        drawn = drawn_changes(self._full, self._own[way], self._bootstrap) @ weights
        ends = [self._bootstrap.percentiles(float(c), drawn[:, i]) for i, c in enumerate(change)]
        low, high = np.array(ends).reshape(-1, 2).T
        return {f"{way}_change": change, f"{way}_change_low": low, f"{way}_change_high": high}

    def _above(self, way: str, over: NDArray[np.float64]) -> dict[str, float]:
        """Return how many units have runs with a mean above the true one, with its ends after it."""
        n = int((np.round((self._own[way].means() - self._full.means()) @ over, DECIMALS) > 0).sum())
        if self._bootstrap is None:
            return {f"{way}_above": n}
        change = drawn_changes(self._full, self._own[way], self._bootstrap) @ over
        drawn = np.where(np.isnan(change).any(axis=1), np.nan, (np.round(change, DECIMALS) > 0).sum(axis=1))
        low, high = self._bootstrap.percentiles(float(n), drawn)
        return {f"{way}_above": n, f"{way}_above_low": low, f"{way}_above_high": high}
