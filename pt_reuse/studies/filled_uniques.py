"""Leave-out-uniques with the documents of a team labelled by a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, listed
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.judging.judges import NamedJudge, as_judges
from pt_reuse.judging.label_pairs import HoleLabels, Scale, labels_of_holes
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.unique_sets import RemovedUniques, SetScores, UniqueSets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: which documents a judge labels: the uniques that are taken out, or every unjudged one at the top of a run besides
HOLES = ("uniques", "unjudged")


@dataclass(frozen=True)
class Filling:
    """What judges say of the documents that people judged, and of those that nobody did.

    Attributes:
        judgments: those of people, and as unjudged the documents that nobody judged and a judge is asked for.
        rel: the lowest label that is relevant.
        asked: (documents,) rows of the judgments that judges are asked for: those of people first.
        n_judged: how many of them people judged.
        removed: the uniques, in rows of these judgments.
        judges: what each judge says of `asked`.
    """

    judgments: Qrels
    rel: int
    asked: NDArray[np.int64]
    n_judged: int
    removed: RemovedUniques
    judges: tuple[HoleLabels, ...]

    @classmethod
    def of(
        cls, qrels: Qrels, rel: int, removed: RemovedUniques, further: pd.DataFrame, judges: Sequence[NamedJudge]
    ) -> Filling:
        """Ask the judges.

        Args:
            qrels: the judgments of people.
            rel: the lowest label that is relevant.
            removed: the uniques.
            further: ``qid docno`` of documents to label besides, on topics of the judgments; those that people judged
                do not count.
            judges: who is asked, each once, for all documents.

        Raises:
            InputError: a judge that labelled none of the documents, or whose labels go beyond those of people.
        """
        base = with_unjudged(qrels, further)
        at = base.arrays.documents.find(qrels.arrays.documents)
        judged = np.sort(at[qrels.arrays.labels >= 0])
        holes = base.arrays.documents.find(Qrels(further.assign(label=0)).arrays.documents) if len(further) else at[:0]
        asked = np.concatenate([judged, np.setdiff1d(holes, judged)])
        frame = base.to_frame()[["qid", "docno"]].iloc[asked]
        labels = tuple(labels_of_holes(judge, frame, Scale.of(qrels, rel)) for judge in judges)
        for given in labels:
            if len(asked) and not given.known.any():
                raise InputError(
                    f"the judge labelled none of {count(len(asked), 'document')}. Are these labels of the same "
                    "collection, with ids written alike?",
                    argument="fill",
                    place=given.name,
                )
        return cls(base, rel, asked, len(judged), RemovedUniques(removed.owner, at[removed.row]), labels)

    def sets(self, n_units: int) -> UniqueSets:
        """Return the sets of judgments: without each unit's uniques, and of each judge filled and alone."""
        owner, row = self.removed.owner, self.removed.row
        first = Changes(n_units, owner, row, np.full(len(row), UNJUDGED))
        parts, holes = [first], self.asked[self.n_judged :]
        for judge, given in enumerate(self.judges):
            start = n_units + judge * (n_units + 1)
            labels = self._by_row(given)
            of_holes = np.repeat(np.arange(n_units), len(holes))
            alone = np.full(len(self.asked), n_units)
            every = np.concatenate([row, np.tile(holes, n_units), self.asked])
            parts.append(Changes(0, start + np.concatenate([owner, of_holes, alone]), every, labels[every]))
        n_sets = n_units + len(self.judges) * (n_units + 1)
        in_set, rows = (np.concatenate([getattr(part, name) for part in parts]) for name in ("in_set", "row"))
        label = np.concatenate([part.label for part in parts]).astype(np.int16)
        changed = label != self.judgments.arrays.labels[rows]
        return UniqueSets(self.judgments, Changes(n_sets, in_set, rows, label).take(changed), n_units, len(self.judges))

    def counts(self, judge: int, n_units: int) -> pd.DataFrame:
        """Return, per unit, of the uniques that were taken out: ``removed labelled unknown judge_relevant relevant``.

        ``judge_relevant`` and ``relevant`` are of those that the judge labelled.
        """
        owner, row = self.removed.owner, self.removed.row
        said, truth = self._by_row(self.judges[judge])[row], self.judgments.arrays.labels[row]
        known = said != UNJUDGED
        found = {
            "removed": np.ones(len(row), dtype=bool),
            "labelled": known,
            "unknown": ~known,
            "judge_relevant": known & (said >= self.rel),
            "relevant": known & (truth >= self.rel),
        }
        return pd.DataFrame({name: np.bincount(owner[chosen], minlength=n_units) for name, chosen in found.items()})

    def settings(self) -> dict[str, str]:
        """Return the conventions of filling, for display."""
        n_holes = len(self.asked) - self.n_judged
        said = "the removed uniques"
        if n_holes:
            said += f" and {count(n_holes, 'document')} that nobody judged"
        return {"fill": "; ".join(given.words() for given in self.judges), "holes": said}

    def caveats(self) -> Iterator[Caveat]:
        """Yield what keeps filled scores from being those of a judge that knows all documents."""
        topic = self.judgments.arrays.documents.topic[self.asked]
        topics = np.array(self.judgments.topics, dtype=object)
        for given in self.judges:
            unknown = int((~given.known).sum())
            if not unknown:
                continue
            silent = np.setdiff1d(topic, topic[given.known])
            of = f"{unknown:,} of {count(len(given.labels), 'document')}"
            none = f", none in {count(len(silent), 'topic')} ({examples(topics[silent])})" if len(silent) else ""
            yield Caveat(
                f"{given.name} gave no label to {of}",
                (
                    f"judge {given.name!r} gave no label to {of} that it was asked for{none}. These stay unjudged, "
                    "filled as well as under the judge alone, and count as not relevant in most measures.",
                ),
            )

    def _by_row(self, given: HoleLabels) -> NDArray[np.int16]:
        """Return (rows of the judgments,): the label that a judge gave, unjudged where there is none."""
        labels = np.full(len(self.judgments), UNJUDGED, dtype=np.int16)
        labels[self.asked] = given.labels
        # what nobody judged stays as it is, pooled or not, where the judge does not know it either
        holes = self.asked[self.n_judged :]
        unknown = holes[labels[holes] == UNJUDGED]
        labels[unknown] = self.judgments.arrays.labels[unknown]
        return labels


def with_unjudged(qrels: Qrels, further: pd.DataFrame) -> Qrels:
    """Return judgments in which further documents stand as unjudged, so that sets can change their labels.

    Args:
        qrels: the judgments.
        further: ``qid docno`` of documents on topics of the judgments; those with a judgment keep it.
    """
    if further.empty:
        return qrels
    base = qrels.union(Qrels(further[["qid", "docno"]].assign(label=-1)))
    added = qrels.arrays.documents.find(base.arrays.documents) < 0
    labels = np.where(added, UNJUDGED, base.arrays.labels).astype(np.int16)
    return Qrels.of_arrays(base.arrays.labelled(labels), qrels.stated_rel)


def fitted_on_uniques(judge: NamedJudge, filling: Filling) -> Iterator[Caveat]:
    """Yield that a judge was fitted on what people said of the uniques, which nobody would know without their units."""
    if judge.fitted_on is None:
        return
    known = judge.fitted_on.arrays.documents.find(filling.judgments.arrays.documents) >= 0
    n = int(known[filling.removed.row].sum())
    if n:
        yield Caveat(
            f"{judge.name} was fitted on {count(n, 'removed unique')}",
            (
                f"judge {judge.name!r} was fitted on what people said of {n:,} of "
                f"{count(len(filling.removed.row), 'unique')} that it labels. So filling looks better than it is. Fit "
                "it on other topics, or on documents that several units contributed.",
            ),
        )


def only_relevant(judges: Sequence[NamedJudge]) -> Caveat:
    """Return what is wrong with letting a judge label those uniques alone that people found relevant."""
    names = listed([judge.name for judge in judges])
    return Caveat(
        "only uniques that are relevant are filled",
        (
            f"only the uniques that people found relevant are taken out and labelled by {names}. So what the judge "
            "calls relevant and people do not cannot be seen, and filling looks better than it is.",
        ),
    )


@dataclass(frozen=True)
class Fill:
    """What a user wants filled.

    Attributes:
        judges: who labels.
        holes: which documents, one of :data:`HOLES`.
    """

    judges: tuple[NamedJudge, ...]
    holes: str

    def ask(self, runs: RunSet, qrels: Qrels, rel: int, removed: RemovedUniques, depth: int) -> Filling:
        """Ask the judges for every document that people judged, and for the holes that nobody did."""
        further = pd.DataFrame({"qid": [], "docno": []}, dtype=object)
        if self.holes == "unjudged":
            top = pool_to_depth(runs, depth, contributors_of(runs, "all")).remainder(qrels).to_frame()[["qid", "docno"]]
            further = top[top["qid"].isin(qrels.topics)].reset_index(drop=True)
        return Filling.of(qrels, rel, removed, further, self.judges)

    def caveats(self, filling: Filling, remove: str) -> list[Caveat]:
        """Return what keeps filled scores from meaning what they seem to."""
        found = list(filling.caveats())
        for judge in self.judges:
            found += fitted_on_uniques(judge, filling)
        return [*found, only_relevant(self.judges)] if remove == "relevant" else found


def checked_fill(fill: Any, *, judge_rel: Any, holes: Any) -> Fill | None:
    """Return what the arguments of a study ask for, None where nothing is to be filled.

    Args:
        fill: a judge, a dict of name -> judge, or None.
        judge_rel: the lowest label of a judge that is relevant, as :func:`as_judges` takes it.
        holes: one of :data:`HOLES`.

    Raises:
        InputError: no judge, an unknown word, or a `judge_rel` or `holes` without a judge.
    """
    choice("holes", holes, HOLES)
    if fill is not None:
        return Fill(tuple(as_judges(fill, "fill", rel=judge_rel)), holes)
    for name, idle in (("judge_rel", judge_rel is None), ("holes", holes == HOLES[0])):
        if not idle:
            raise InputError(Argument(name), " is of a judge. Give one by ", Option("fill", ...), ".", argument=name)
    return None


def filled_tables(
    sets: UniqueSets,
    found: SetScores,
    filling: Filling,
    scores: Scores,
    units: Units,
    contributed: NDArray[np.bool_],
    *,
    bootstrap: TopicBootstrap | None,
    field: pd.DataFrame,
) -> FilledTables:
    """Return the tables of what filling does.

    Args:
        sets: the sets of judgments.
        found: the scores under them.
        filling: what the judges said.
        scores: the runs under the full judgments.
        units: the units of the field.
        contributed: (runs,) whether the run contributed to the pool.
        bootstrap: over topics; None for no intervals.
        field: the runs' ``name team type pooled``.
    """
    make, n = FilledRows(units, scores, contributed, bootstrap), len(units)
    has_topic = None if scores.complete else scores.has_topic
    of_units, of_runs, summary = {}, {}, []
    for j, judge in enumerate(filling.judges):
        counts, first = filling.counts(j, n), sets.filled(j)
        for m, measure in enumerate(scores.measures):
            removed, filled, alone = (
                TopicScores(values[m], has_topic) for values in (found.removed, found.filled[j], found.alone[j])
            )
            means = found.means[m]
            of_alone = np.broadcast_to(means[sets.alone(j)], (n, means.shape[1]))
            ways = (Way(removed, means[:n]), Way(filled, means[first : first + n]), Way(alone, of_alone, alone=True))
            mine = FilledScores(TopicScores(found.full[m], has_topic), dict(zip(WAYS, ways, strict=True)))
            rows = of_units[judge.name, measure] = make.of_units(mine, counts)
            of_runs[judge.name, measure] = make.of_runs(mine, field)
            summary.append({"judge": judge.name, "measure": measure, **make.summary(mine, rows)})
    return FilledTables(stacked(of_units, units.column), stacked(of_runs, "contributed"), pd.DataFrame(summary))


#: the three ways to score a unit's runs had nobody judged its uniques, as columns begin
WAYS = ("removed", "filled", "judge_alone")
#: what is counted of the uniques
COUNTS = ("removed", "labelled", "unknown", "judge_relevant", "relevant")
#: what a summary says of a ranking
_OF_RANKING = ("tau_b", "max_drop", "max_rise")


@dataclass(frozen=True)
class FilledTables:
    """What filling does.

    Attributes:
        units: one row per judge, measure and unit.
        runs: one row per judge, measure and run.
        summary: one row per judge and measure.
    """

    units: pd.DataFrame
    runs: pd.DataFrame
    summary: pd.DataFrame


@dataclass(frozen=True)
class Way:
    """Scores in one of the three ways.

    Attributes:
        own: (topics, runs) each run as its own unit is treated.
        field: (units, runs) means of all runs, ranked anew for each unit.
        alone: whether ranks are among runs that are all scored like this, and not with one unit's runs alone.
    """

    own: TopicScores
    field: NDArray[np.float64]
    alone: bool = False


@dataclass(frozen=True)
class FilledScores:
    """Scores of one judge and measure.

    Attributes:
        full: under the judgments as they are.
        ways: name of a way -> its scores.
    """

    full: TopicScores
    ways: Mapping[str, Way]

    def drops(self, name: str, units: Units) -> NDArray[np.int64]:
        """Return (runs,): the ranks that each run loses, negative where it gains, when its unit alone is re-scored."""
        way = self.ways[name]
        full, own = (np.round(scores.means()[0], DECIMALS) for scores in (self.full, way.own))
        rank = pairs.ranks(own) if way.alone else pairs.rank_alone(full, own, units.of_run)
        return rank - pairs.ranks(full)


class FilledRows:
    """Makes the rows of the tables.

    Args:
        units: the units of the field.
        scores: the runs under the full judgments.
        contributed: (runs,) whether the run contributed to the pool.
        bootstrap: over topics; None for no intervals.
    """

    def __init__(self, units: Units, scores: Scores, contributed: NDArray[np.bool_], bootstrap: TopicBootstrap | None):
        self._units, self._scores, self._bootstrap = units, scores, bootstrap
        self._contributed = contributed
        # (runs, units), each column a mean over the unit's runs
        member = units.of_run[:, None] == np.arange(len(units))
        self._of_unit = member / np.maximum(member.sum(axis=0), 1)

    def of_units(self, found: FilledScores, counts: pd.DataFrame) -> pd.DataFrame:
        """Return a row per unit, most uniques first."""
        units = self._units
        columns: dict[str, Any] = {units.column: list(units.names), "runs": units.runs()}
        columns |= {name: counts[name].to_numpy() for name in COUNTS}
        ranks: dict[str, Any] = {}
        for name, way in found.ways.items():
            columns |= self._changes(f"{name}_change", found.full, way.own, self._of_unit)
            field = pairs.coefficients(
                np.round(found.full.means()[0], DECIMALS), np.round(way.field, DECIMALS), ("tau_b",)
            )
            drops = found.drops(name, units)
            mine = [drops[units.of_run == unit] for unit in range(len(units))]
            ranks |= {f"{name}_{number}": field[number] for number in _OF_RANKING}
            ranks[f"{name}_own_drop"] = [int(of.max(initial=0)) for of in mine]
            ranks[f"{name}_own_rise"] = [int(-of.min(initial=0)) for of in mine]
        order = ["removed", units.column]
        return pd.DataFrame(columns | ranks).sort_values(order, ascending=[False, True], ignore_index=True)

    def of_runs(self, found: FilledScores, field: pd.DataFrame) -> pd.DataFrame:
        """Return a row per run.

        Args:
            found: the scores.
            field: the runs' ``name team type pooled``.
        """
        full = found.full.means()[0]
        rank = pairs.ranks(np.round(full, DECIMALS))
        columns: dict[str, Any] = {"score": full}
        columns |= {f"{name}_score": way.own.means()[0] for name, way in found.ways.items()}
        for name, way in found.ways.items():
            columns |= self._changes(f"{name}_change", found.full, way.own, np.eye(len(full)))
        columns["rank"] = rank
        for name in found.ways:
            drop = found.drops(name, self._units)
            columns |= {f"{name}_rank": rank + drop, f"{name}_drop": drop}
        return field.reset_index(drop=True).assign(contributed=self._contributed).assign(**columns)

    def summary(self, found: FilledScores, rows: pd.DataFrame) -> dict[str, Any]:
        """Return the row of a judge and measure."""
        names = set(rows[self._units.column][rows["removed"] > 0])
        concerned = np.array([name in names for name in self._units.names])
        said: dict[str, Any] = {"units": int(concerned.sum())}
        said |= {name: int(rows[name].sum()) for name in COUNTS}
        over = self._of_unit[:, concerned]
        for name, way in found.ways.items():
            mean = over.mean(axis=1, keepdims=True) if concerned.any() else np.zeros((len(over), 1))
            said |= {key: cells[0] for key, cells in self._changes(f"{name}_change", found.full, way.own, mean).items()}
            said |= self._above(f"{name}_above", found.full, way.own, over)
        for name, way in found.ways.items():
            numbers = ranking_agreement(found.full, way.own, self._bootstrap, coefficients=("tau_b",))
            said |= {f"{name}_{number}": _whole(number, value) for number, value in numbers.items()}
        return said

    def _changes(
        self, column: str, full: TopicScores, own: TopicScores, weights: NDArray[np.float64]
    ) -> dict[str, NDArray[np.float64]]:
        """Return signed changes of weighted means over runs, (columns of the weights,), with their ends after them."""
        change = ((own.means() - full.means()) @ weights)[0]
        found = {column: change}
        if self._bootstrap is not None:
            drawn = self._drawn(full, own) @ weights
            ends = [self._bootstrap.percentiles(float(c), drawn[:, i]) for i, c in enumerate(change)]
            low, high = np.array(ends).reshape(-1, 2).T
            found |= {f"{column}_low": low, f"{column}_high": high}
        return found

    def _above(self, column: str, full: TopicScores, own: TopicScores, over: NDArray[np.float64]) -> dict[str, float]:
        """Return how many units have runs with a mean above the true one, with its ends after it."""
        n = int((np.round((own.means() - full.means()) @ over, DECIMALS) > 0).sum())
        if self._bootstrap is None:
            return {column: n}
        change = self._drawn(full, own) @ over
        drawn = np.where(np.isnan(change).any(axis=1), np.nan, (np.round(change, DECIMALS) > 0).sum(axis=1))
        low, high = self._bootstrap.percentiles(float(n), drawn)
        return {column: n, f"{column}_low": low, f"{column}_high": high}

    def _drawn(self, full: TopicScores, own: TopicScores) -> NDArray[np.float64]:
        """Return (draws, runs) changes of the mean; one draw without a value where there is nothing to draw."""
        n_topics, n_runs = full.values.shape
        if self._bootstrap is None or n_topics < 2:
            return np.full((1, n_runs), np.nan)
        blocks = self._bootstrap.blocks(n_topics)
        return np.concatenate([own.means(counts) - full.means(counts) for counts in blocks])


def _whole(name: str, value: float) -> float:
    """Return a number of ranks, or the end of one, as a whole number."""
    return value if name.startswith("tau") or np.isnan(value) else int(value)


def stacked(parts: Mapping[tuple[str, str], pd.DataFrame], column: str) -> pd.DataFrame:
    """Return tables of each judge and measure as one, with ``judge`` first and ``measure`` after a column.

    Args:
        parts: (judge, measure) -> table.
        column: after which the measure stands, ``judge`` for none.
    """
    found = []
    for (judge, measure), table in parts.items():
        named = table.copy()
        named.insert(0, "judge", judge)
        named.insert(int(named.columns.get_indexer([column])[0]) + 1, "measure", measure)
        found.append(named)
    return pd.concat(found, ignore_index=True)


class FilledUniques:
    """Says what filling does, for results with the attributes that are named here."""

    filled: pd.DataFrame | None
    filled_summary: pd.DataFrame | None
    scores: Scores
    units: Units
    settings: Mapping[str, Any]

    def findings(self) -> list[str]:
        """Return what filling the holes does to the units, in plain sentences.

        Returns:
            list of str: for each judge how many documents it labelled, and how many of them it calls relevant; for each
            measure the mean change of the units' own runs when their uniques are removed and when the judge labels
            them, how many units it puts above the truth, the unit that gains most, and tau_b of the rankings; each
            number with its interval over topics where there are any. None where nothing was filled.
        """
        rows, summary = self.filled, self.filled_summary
        if rows is None or summary is None:
            return []
        found = []
        for judge, of_judge in summary.groupby("judge", sort=False):
            found.append(_labels(str(judge), of_judge.iloc[0].to_dict(), self.units.by))
            for said in of_judge.to_dict("records"):
                mine = rows[(rows["judge"] == judge) & (rows["measure"] == said["measure"])]
                found += _of_measure(said, mine, self.units)
        # what a unit loses without any judge is said once
        return list(dict.fromkeys(found))

    @door
    def plot_fill(
        self,
        measure: MeasureLike | None = None,
        *,
        judge: str | None = None,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what each unit's own runs score without its uniques, truly, and with these labelled by a judge.

        Args:
            measure: one of the measures; default the first.
            judge: one of the judges; default the first.
            top: how many units at most, those that lose most without their uniques; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. For this and what follows see :meth:`plot`.
            title: what stands above.
            legend: whether there is one.
            width: of a new figure, in inches.

        Returns:
            Axes: a line per unit from "removed", a hollow mark, over the truth, at 0, to "filled"; thin lines beside
            the marks are their intervals over topics, where there are any.

        Raises:
            InputError: nothing was filled, or there is no such judge.
        """
        from pt_reuse.plots.forests import plot_filled
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        rows = _rows_of(self, measure, judge)
        return plot_filled(rows, unit=self.units.column, top=checked_top(top), place=Place(ax, title, legend, width))


def filled_report(
    result: FilledUniques, measure: MeasureLike | None, judge: str | None, notes: Sequence[str]
) -> Report:
    """Return a row per unit: its uniques, and what becomes of its own runs when these are removed or filled.

    Args:
        result: what has the tables.
        measure: one of its measures; None for the first.
        judge: one of its judges; None for the first.
        notes: the conventions of leaving uniques out.
    """
    rows, by = _rows_of(result, measure, judge), result.units.by
    who, name = (rows[column].iloc[0] for column in ("judge", "measure"))
    if "filled_change_low" in rows:
        rest = [
            part
            for way, word in (("removed", "removed"), ("filled", "filled"))
            for part in (
                Column(word.capitalize(), rows[f"{way}_change"], Digits.SCORE),
                intervals(word, rows[f"{way}_change_low"], rows[f"{way}_change_high"], Digits.SCORE),
            )
        ]
        ranks = ""
    else:
        rest = [
            Column("Removed", rows["removed_change"], Digits.SCORE),
            Column("Filled", rows["filled_change"], Digits.SCORE),
            Column("Largest fall, removed", rows["removed_max_drop"], Digits.COUNT),
            Column("Largest rise, filled", rows["filled_max_rise"], Digits.COUNT),
        ]
        ranks = f"; falls and rises are of any run, in ranks, when the whole field is scored anew for the {by}"
    settings = result.settings
    return Report(
        [Column(by.capitalize(), rows[result.units.column]), Column("Uniques", rows["removed"], Digits.COUNT), *rest],
        caption=(
            f"Mean change of {name} of the {by}'s own runs against the truth, when its unique documents are removed "
            f"from the judgments, and when {who} labels them instead{ranks}."
        ),
        notes=[
            f"Filled: {settings['holes']}. Judge: {settings['fill']}.",
            f"Pool of depth {settings['depth']}; {settings['remove']} uniques are removed.",
            *notes,
        ],
    )


def _rows_of(result: FilledUniques, measure: MeasureLike | None, judge: str | None) -> pd.DataFrame:
    """Return the rows of one measure and judge, the first by default, the largest loss by removal first."""
    rows, name = _needed(result.filled), measure_among(result.scores.measures, measure)
    judges = list(dict.fromkeys(rows["judge"]))
    who = judges[0] if judge is None else choice("judge", judge, judges)
    mine = rows[(rows["judge"] == who) & (rows["measure"] == name)]
    return mine.sort_values(["removed_change", result.units.column], kind="stable", ignore_index=True)


def _needed(frame: pd.DataFrame | None) -> pd.DataFrame:
    if frame is None:
        raise InputError("no hole was filled. Call leave_out_uniques with ", Option("fill", ...), ", a judge.")
    return frame


def _labels(judge: str, said: Mapping[Any, Any], by: str) -> str:
    unknown = f", and gave no label to {said['unknown']:,}" if said["unknown"] else ""
    return (
        f"{judge} labelled {said['labelled']:,} of {count(said['removed'], 'document')} that one {by} alone "
        f"contributed{unknown}; it calls {said['judge_relevant']:,} of those relevant, people {said['relevant']:,}."
    )


def _of_measure(said: Mapping[Any, Any], rows: pd.DataFrame, units: Units) -> Iterator[str]:
    measure, judge, by, n = said["measure"], said["judge"], units.by, said["units"]
    if not n:
        yield f"{measure}: no {by} has a unique document, so that there is nothing to fill."
        return
    whose = f"the own runs of {count(n, by)} with uniques"
    yield (
        f"{measure}: without their uniques {whose} change by {with_ends(said, 'removed_change', '+.4f')} on average, "
        f"filled by {judge} by {with_ends(said, 'filled_change', '+.4f')}, by {judge} alone by "
        f"{with_ends(said, 'judge_alone_change', '+.4f')}.{_verdict(said, judge)}"
    )
    yield (
        f"{measure}: filled by {judge}, {with_ends(said, 'filled_above', '.0f')} of {count(n, by)} stand above the "
        f"true score; without their uniques {with_ends(said, 'removed_above', '.0f')}."
    )
    for way, word, best in (("removed", "without its uniques", "idxmin"), ("filled", f"filled by {judge}", "idxmax")):
        row = rows.loc[getattr(rows[f"{way}_change"], best)()].to_dict()
        moved, fall = ("loses", "drop") if way == "removed" else ("gains", "rise")
        change = round(row[f"{way}_change"], DECIMALS)
        if not (change < 0 if way == "removed" else change > 0):
            continue
        ranks = row[f"{way}_own_{fall}"]
        run = f"a run of it {moved} {count(ranks, 'rank')}" if ranks else f"no run of it {moved} a rank"
        yield (
            f"{measure}: {word}, {row[units.column]} {moved} most: {with_ends(row, f'{way}_change', '+.4f')}, and "
            f"{run} when its {by} alone is scored anew."
        )
    yield (
        f"{measure}: tau_b with the true ranking is {with_ends(said, 'removed_tau_b', '.4f')} when each run is scored "
        f"without its own {by}'s uniques, {with_ends(said, 'filled_tau_b', '.4f')} with them filled by {judge}, and "
        f"{with_ends(said, 'judge_alone_tau_b', '.4f')} by {judge} alone."
    )


def _verdict(said: Mapping[Any, Any], judge: str) -> str:
    """Return what the interval of the filled change says, nothing without one."""
    low, high = (said.get(f"filled_change_{end}", float("nan")) for end in ("low", "high"))
    if low > 0:
        return f" So {judge} does not mend the loss: it gives more than people do."
    if high < 0:
        return f" So {judge} does not mend all of the loss."
    return " The interval holds 0: a bias on average is neither shown nor excluded." if low <= 0 <= high else ""
