"""Outlook: what judgments say of new runs beside a field, measure by measure, before it is put into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse.arrays.expected import Floats
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_reading import as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, located
from pt_reuse.options import SHARED, Flag, Parameter
from pt_reuse.pooling.depth import PoolDepth, pool_to_depth
from pt_reuse.pooling.fit import SLACK
from pt_reuse.pooling.pool import Contributors
from pt_reuse.pooling.scorers import checked_corpus
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.scoring.scores import check_topics
from pt_reuse.studies.new_runs.calibration import Completed, How, Predicted, Ranked, ranked_among, units_needed
from pt_reuse.studies.new_runs.effects import Effects
from pt_reuse.studies.new_runs.estimators import Cases, chances_of
from pt_reuse.studies.new_runs.evidence import Case, Evidence, Pooling, World, signals_of
from pt_reuse.studies.new_runs.sampling import Sample, shifted

#: a single result without a name
NEW = "new run"
#: with a larger share of the pool unjudged nothing is predicted: of DL 2019, DL 2021 and TREC-8 with some teams taken
#: for pooled that were not, intervals of 90 % cover 86 to 100 % at .08 to .24, and 57 to 100 % from .39 on
_BROKEN = 0.2
#: weighs what is below a pool so little that judging it hardly matters
_TOP_HEAVY = "rbp"


CONFIDENCE = Parameter(
    name="confidence",
    meaning="the confidence level of intervals; at 0.9 it takes nine teams to calibrate one, at 0.95 nineteen.",
    check=SHARED["confidence"].check,
    flag=SHARED["confidence"].flag,
)
JUDGE = Parameter(
    name="judge",
    meaning="a model's labels for documents that nobody judged and for judged ones: judgments in any form, a "
    ":class:`judging.Judge`, a function or a pipeline. They are one more thing that is known of a document.",
    flag=Flag(help="a model's labels of documents, judged ones among them", metavar="FILE", kind="judgments"),
)
CORPUS = Parameter(
    name="corpus",
    meaning="texts, one dict each with ``docno`` and ``text``, or a frame with these columns, or a "
    ":class:`~pt_reuse.judging.Scorer`. What a classifier says that is trained on the judged texts of a topic is one "
    "more thing that is known of a document.",
    check=lambda corpus: corpus if corpus is None else checked_corpus(corpus),
)
LEFT_OUT = Parameter(
    name="by",
    meaning='what is left out to learn from: each ``"team"`` (default) or ``"run"``.',
    choices=("team", "run"),
    flag=Flag(help="what is left out to learn from: team or run", metavar="UNIT", kind="text"),
)


@dataclass(frozen=True)
class PoolGap:
    """How much of the pool of a field nobody judged."""

    depth: int
    documents: int
    unjudged: int

    @classmethod
    def of(cls, runs: RunSet, qrels: Qrels, depth: PoolDepth, contributors: Contributors) -> PoolGap:
        """Count what the pooled runs have down to the depth, on the topics of the judgments."""
        counts = pool_to_depth(runs, depth.value, contributors).counts(qrels)
        n, unjudged = counts.loc[counts["qid"].isin(qrels.topics), ["documents", "to_judge"]].sum()
        return cls(depth.value, int(n), int(unjudged))

    @property
    def share(self) -> float:
        """Return which share of the pool is unjudged."""
        return self.unjudged / self.documents if self.documents else 0.0

    @property
    def in_words(self) -> str:
        """Return that, or nothing where it is only a little."""
        return f"{self.share:.0%} of the pool is unjudged" if self.share > SLACK else ""

    def caveats(self) -> Iterator[Caveat]:
        """Yield a caveat where it is more than a little."""
        if self.in_words:
            yield Caveat(
                self.in_words,
                f"{self.unjudged:,} of the {self.documents:,} documents that the pooled runs have down to depth "
                f"{self.depth} ({self.share:.0%}) are unjudged. They count as not relevant, and new runs are "
                "predicted as if theirs were judged. Give the depth of the pool, and the runs that were pooled. "
                "infer_pool(runs, qrels) says which fit the judgments.",
            )


def as_new_runs(new: Any, runs: RunSet, qrels: Qrels, topics: pd.DataFrame | None) -> RunSet:
    """Return new runs in the order of the field, which have topics of the judgments: runs, a result or pipelines."""
    if isinstance(new, pt.Transformer):
        new = {NEW: new}
    if isinstance(new, Mapping) and new and all(isinstance(each, pt.Transformer) for each in new.values()):
        if topics is None:
            raise InputError("pipelines need topics. Pass topics=, a frame of qid and query.", argument="new")
        found = RunSet.from_pipelines(dict(new), topics, order=runs.order)
    elif isinstance(new, pd.DataFrame) and "name" not in new:
        found = RunSet.from_frames({NEW: new}, order=runs.order)
    else:
        found = as_runs(new, argument="new", order=runs.order)
    if found.order != runs.order:
        found = found.reorder(runs.order)
    both = [name for name in found.names if name in runs]
    if both:
        raise InputError(
            f"{examples(both)} is among the runs of the field. Leave it out there, or rename it.",
            argument="new",
        )
    with located("new"):
        check_topics(found, qrels)
    # a run without a team is one of its own; a team of the field keeps its pooled runs for itself
    teams = [name if team is None else team for name, team in zip(found.names, found.run_table["team"], strict=True)]
    known = set(runs.teams)
    teams = [f"{team} (new)" if team in known else team for team in teams]
    return found.with_metadata(teams=dict(zip(found.names, teams, strict=True)), pooled=False)


@dataclass(frozen=True)
class Setting:
    """How a field was pooled, and how predictions are made of it."""

    by: str
    depth: PoolDepth
    contributors: Contributors
    pool_order: str | None
    gap: PoolGap
    how: How
    judge: Any = None
    corpus: Any = None


@dataclass(frozen=True)
class Row:
    """A run of a case under a measure."""

    case: Case
    at: int  # the case among all, first those to learn from
    place: int  # the run in it


class Outlook:
    """New runs beside a field: their unjudged documents, and what is predicted of them."""

    def __init__(
        self, runs: RunSet, new: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], setting: Setting
    ):
        both = runs.union(new)
        contributing = np.append(setting.contributors.runs, np.zeros(len(new), dtype=bool))
        pooled = Contributors(setting.contributors.rule, contributing, setting.contributors.assumed)
        pooling = Pooling(setting.depth.value, pooled, setting.pool_order or runs.pool_order)
        self.runs, self.measures, self.how = both, list(measures), setting.how
        self.gap = setting.gap
        self.new = set(new.names)
        self.units = both.units("run" if setting.by == "run" else "team")
        self.evidence = Evidence(both, new.names, qrels, self.units, pooling)
        signals = signals_of(self.evidence, [self.evidence.new], judge=setting.judge, corpus=setting.corpus)
        evidence = self.evidence
        #: the units that are left out to learn from
        self.train = [unit for unit in evidence.pooled if unit not in evidence.new]
        world = World(evidence, evidence.new, evidence.every_label(self.measures), signals)
        self.cases = Cases(world, self.train, evidence.new)
        self._effects: dict[tuple[int, int, int], Effects] = {}
        #: (measures, topics, runs) with what is judged
        self.scores = base_scores(both, evidence.qrels, self.measures)

    @cached_property
    def predicted(self) -> list[Predicted]:
        """Return what is predicted by each measure."""
        ranked = ranked_among(self.cases, self.measures, self.scores.mean(axis=1))
        return [
            Predicted.of(self.cases, measure, fields, self.how)
            for measure, fields in zip(self.measures, ranked, strict=True)
        ]

    def check(self) -> None:
        """Raise where new runs are of another collection, or fewer than two units can be left out to learn from."""
        for row in self.rows():
            if not row.case.known[row.case.row[row.case.of_run(row.place)]].any():
                self._check_shared(self.name(row))
        n, unit = sum(len(case.holes) > 0 for case in self.cases.train), self.units.by
        if n < 2:
            raise InputError(
                f"{count(n, unit)} of the field brought judged documents that no other {unit} brought to depth "
                f"{self.evidence.depth}; it takes two to learn from. Are these the pooled runs, and the depth?",
                argument="runs",
            )

    def _check_shared(self, name: str) -> None:
        """Raise where a new run, of which nothing is judged, shares no document with the field either."""
        others = self.runs.select(names=[other for other in self.runs.names if other != name]).docnos()
        if not set(others).intersection(self.runs.select(names=[name]).docnos()):
            raise InputError(
                f"run {name!r} shares no document with the runs of the field. Is it a run of this collection, with "
                "document ids written alike?",
                argument="new",
            )

    @cached_property
    def _bounds(self) -> list[tuple[Floats, Floats]]:
        every = (self.evidence.bounds(case, self.measures) for case in self.cases.targets)
        return [(low.mean(axis=1), high.mean(axis=1)) for low, high in every]

    def bounds(self, m: int, row: Row) -> tuple[Floats, Floats]:
        """Return (runs,) the lowest and the highest mean scores of the unit of a new run, its own documents unknown."""
        low, high = self._bounds[row.at - len(self.train)]
        return low[m], high[m]

    @cached_property
    def _completed(self) -> list[tuple[Floats, Floats]]:
        evidence = self.evidence
        return [evidence.bounds(case, self.measures, evidence.unknown) for case in self.cases.targets]

    def completed(self, m: int, row: Row) -> Completed:
        """Return what every completion of the documents of all new runs allows a new run, topic by topic."""
        low, high = (ends[m, :, row.place] for ends in self._completed[row.at - len(self.train)])
        predicted = self.predicted[m]
        others = predicted.ranked[row.at].by_topic
        unknown = np.bincount(self.evidence.topic[self.evidence.unknown], minlength=len(low)).astype(float)
        return Completed(low, high, others * predicted.learned.least_part(row.case, unknown)[:, None], others)

    @property
    def completions(self) -> str:
        """Return which documents have which labels in a completion."""
        depth, n = self.evidence.depth, len(self.new)
        whose = "the new run" if n == 1 else f"all {n:,} new runs"
        return (
            f"any label for each unjudged document of {whose} down to depth {depth}, and below it for those that the "
            "measure sees in the run itself; all others as judged"
        )

    @property
    def predicted_for(self) -> str:
        """Return what is judged beside the judgments where a new run has the score that is predicted."""
        unit = self.units.by
        whose = f"its own {unit}'s" if unit != "run" else "its own"
        return f"{whose} documents down to depth {self.evidence.depth} judged, and no others"

    def as_sampled(self, m: int, row: Row, sample: Sample) -> tuple[float, Effects, Ranked]:
        """Return the mean score of a run by the document model, what labels do to it, and what it is ranked among.

        Where what a document adds depends on the others, chances are first shifted to the share of the sample that is
        relevant, so that the divisor is not that of the model alone.
        """
        predicted = self.predicted[m]
        learned, case, field = predicted.learned, row.case, predicted.ranked[row.at]
        chances: Mapping[int, Floats] = chances_of(learned)[row.at]
        if self.is_linear(m):
            score = float(learned.likely(case, chances).score[row.place])
            return score, self.effects(m, row), field
        at = np.searchsorted(case.holes, sample.row)
        mine = at < len(case.holes)
        mine[mine] = case.holes[at[mine]] == sample.row[mine]
        chances = {
            label: shifted(chance, at[mine], sample.label[mine] >= label, sample.probability[mine])
            for label, chance in chances.items()
        }
        score = float(learned.likely(case, chances).score[row.place])
        return score, learned.effects(row.at, row.place, chances), field.diluted(learned.dilution(case, chances)[0])

    def rows(self) -> list[Row]:
        """Return the new runs."""
        n = len(self.train)
        return [
            Row(case, n + at, place) for at, case in enumerate(self.cases.targets) for place in range(len(case.runs))
        ]

    def left_out(self) -> list[Row]:
        """Return the runs of the units that are left out to learn from."""
        return [Row(case, at, place) for at, case in enumerate(self.cases.train) for place in range(len(case.runs))]

    def name(self, row: Row) -> str:
        """Return the name of a run."""
        return self.runs.names[int(row.case.runs[row.place])]

    def why_not(self, m: int, row: Row) -> list[str]:
        """Return why nothing is said of a run at the confidence level; nothing where something is."""
        predicted = self.predicted[m]
        n, least = len(self.train), units_needed(self.how.confidence)
        depth = min(predicted.learned.spec.cutoff or self.evidence.depth, self.evidence.depth)
        share, usual = self.cases.unjudged(depth)[row.at][row.place], predicted.usual
        condensed = float(predicted.learned.condensed(usual.spec)[row.at][row.place].mean())
        unit = self.units.by
        said = [self.gap.in_words] if self.gap.share > _BROKEN else []
        if n < least:
            said.append(f"{count(n, unit)} left out, and it takes {least}")
        if share > usual.unjudged + 1e-9:
            said.append(
                f"{share:.0%} of its first {depth} documents are unjudged, of left-out {unit}s {usual.unjudged:.0%}"
            )
        if condensed > usual.condensed + 1e-9:
            by = "a precision of" if usual.spec != predicted.learned.spec else "a score of"
            said.append(
                f"without its unjudged documents it has {by} {condensed:.4f}, more than any left-out run "
                f"({usual.condensed:.4f})"
            )
        return said

    def caveats(self, m: int) -> list[str]:
        """Return what is known to make intervals by a measure too narrow here."""
        spec, depth = self.predicted[m].learned.spec, self.evidence.depth
        said = [self.gap.in_words] if self.gap.in_words else []
        if spec.kernel != _TOP_HEAVY and (spec.cutoff or depth + 1) > depth:
            said.append(
                f"{self.measures[m]!r} looks below the pool, and this is with no other new run judged: with all 58 "
                "unpooled runs of TREC-8 judged at once, intervals covered 44 % by AP, 51 % by P@20, 86 % by nDCG@20 "
                "and 4 % by R@100"
            )
        return said

    def effects(self, m: int, row: Row) -> Effects:
        """Return what the labels of the unjudged documents of a run do to its mean score."""
        if (m, row.at, row.place) not in self._effects:
            self._effects[m, row.at, row.place] = self.predicted[m].learned.effects(row.at, row.place)
        return self._effects[m, row.at, row.place]

    def expected(
        self, m: int, row: Row, known: NDArray[np.int16]
    ) -> tuple[tuple[Floats, Floats, Floats], tuple[Floats, Floats, Floats]]:
        """Return (topics,) what a run is expected to score given (documents,) further labels, and the others beside it.

        Each is expected, at least and at most, whatever is relevant of the documents of new runs that have no label.
        The others are (topics, others), in the order of the field.
        """
        learned = self.predicted[m].learned
        case, left = row.case.judged_since(known)
        chances = {label: chance[left] for label, chance in chances_of(learned)[row.at].items()}
        score = case.scored(learned.spec, chances, learned.gains)[0][row.place]
        others = self.judged_since(m, known)
        unknown = self.evidence.unknown
        unknown = unknown[known[unknown] < 0]
        of_topic = np.bincount(self.evidence.topic[unknown], minlength=len(score)).astype(float)
        expected, least = learned.dilution(case, chances)[0], learned.least_part(case, of_topic)
        low, high = (ends[0, :, row.place] for ends in self.evidence.bounds(case, [self.measures[m]], unknown))
        return (score, low, high), (others * expected[:, None], others * least[:, None], others)

    def judged_since(self, m: int, known: NDArray[np.int16]) -> Floats:
        """Return (topics, runs) scores with (documents,) further labels; below 0 is none."""
        if not (known >= 0).any():
            return self.scores[m]
        arrays = self.evidence.qrels.arrays
        labels = np.where(known >= 0, known, self.evidence.labels).astype(np.int16)
        return base_scores(self.runs, Qrels.of_arrays(arrays.labelled(labels)), [self.measures[m]])[0]

    def sharing(self, m: int, effects: Effects) -> frozenset[str]:
        """Return the runs of the field that have some documents where the measure looks."""
        spec, evidence = self.predicted[m].learned.spec, self.evidence
        mine = np.zeros(len(evidence.labels), dtype=bool)
        mine[effects.row] = True
        lists = evidence.lists
        seen = mine[lists.row] & (lists.rank <= (spec.cutoff or evidence.depth))
        names = (self.runs.names[run] for run in lists.runs_of(seen))
        return frozenset(name for name in names if name not in self.new)

    def is_linear(self, m: int) -> bool:
        """Return whether each document adds the same to a score by a measure, whatever the others are."""
        return self.predicted[m].learned.spec.kernel in ("p", "rbp")

    def bounds_are_exact(self, m: int) -> bool:
        """Return whether nothing but a run's own documents in the plan can move it against others by a measure."""
        spec, depth = self.predicted[m].learned.spec, self.evidence.depth
        if spec.cutoff is None or spec.cutoff > depth:
            return False
        return spec.cutoff == depth or spec.kernel not in ("ap", "ndcg", "r")
