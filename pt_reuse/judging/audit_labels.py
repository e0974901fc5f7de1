"""audit_labels: what labels by a model do to the ranking of systems and to the score of each run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Annotated, Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import OF_DROPS, TopicBootstrap, TopicScores, ranking_agreement, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.kernels import KERNELS, UNJUDGED, Cells, Changes, Judgments, Spec, discounts
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.arrays.significance import agreement_of_tests, drawn_agreement, pair_tests
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import COLUMNS, Units, units_of
from pt_reuse.errors import InputError, ReuseWarning, choice, located
from pt_reuse.inputs import Inputs, interval_settings, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.judging.annotators.labels import warn_of_ties
from pt_reuse.judging.compare_labels import (
    LabelAgreement,
    OtherPeople,
    agreement_of_labels,
    check_names,
    compared_people,
)
from pt_reuse.plots.forests import plot_judge_taus
from pt_reuse.plots.lines import plot_judge_ranks
from pt_reuse.plots.run_scores import plot_squares
from pt_reuse.plots.sheet import Axes, Place, of_tau
from pt_reuse.result import KeyFigures, Result, cells, drawn_by_measure, records
from pt_reuse.scoring.caveats import FEW_TOPICS, beware, few_topics, one_unit
from pt_reuse.scoring.measures import adds_up, native_spec
from pt_reuse.scoring.perturbed import scores_under
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import topics_of_runs
from pt_reuse.studies.judged_fields import (
    ALL,
    BEST,
    Best,
    ComparedLabels,
    JudgedInputs,
    as_declared,
    drawn_by_judge,
    parts_of,
    under,
    usable,
    with_names,
)
from pt_reuse.study import study

Floats = NDArray[np.float64]
#: a label for each document that people judged, `UNJUDGED` for none
Labels: TypeAlias = NDArray[np.int16]
#: the effects of one topic: (documents,) rows of the judgments, and (documents, runs) what each adds to mean scores
Effects: TypeAlias = tuple[NDArray[np.int64], Floats]
#: kernels whose score is a sum over documents, divided by something of the topic
_ADDITIVE = ("p", "r", "ndcg", "rbp")
#: so many documents of a run are kept
KEPT = 10
_NOTHING = 1e-12  # a change of a score that is no more is of rounding


def is_sum(measure: ir_measures.Measure) -> bool:
    """Return whether the effects on scores by a measure are parts of one sum."""
    spec = native_spec(measure)
    return spec is not None and spec.kernel in _ADDITIVE and not spec.judged_only


@dataclass(frozen=True)
class DocumentEffects:
    """What each document whose label is another one under a judge adds to the mean score of each run."""

    runs: RunSet
    human: Qrels

    @cached_property
    def _index(self) -> HitIndex:
        return HitIndex(self.runs.field, self.human.arrays.documents)

    @cached_property
    def _ranks(self) -> NDArray[np.int32]:
        """Return (judgments, runs) the rank of each judged document in each run, 0 for none."""
        ranks = np.zeros((len(self.human), len(self.runs)), dtype=np.int32)
        for topic in self._index.topics:
            hits = self._index.gather(range(topic, topic + 1))
            ranks[self.human.arrays.documents.rows(topic)][hits.row, hits.of] = hits.rank
        return ranks

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Return (judgments,) the place of each where they are sorted by document and topic."""
        order = self.human.to_frame()[["docno", "qid"]].reset_index(drop=True).sort_values(["docno", "qid"]).index
        return np.argsort(order.to_numpy())

    def between(
        self,
        measure: ir_measures.Measure,
        topics: NDArray[np.int64],
        has_topic: NDArray[np.bool_] | None,
        truth: Labels,
        estimate: Labels,
    ) -> Iterator[Effects]:
        """Yield the effects of each topic with documents whose labels differ; nothing of a measure that is not ours."""
        spec = native_spec(measure)
        if spec is None:
            return
        share = 1 / np.maximum(len(topics) if has_topic is None else has_topic.sum(axis=0), 1)
        of_sum = self._of_sum(spec, topics, truth, estimate)
        for rows, effects in of_sum if is_sum(measure) else self._alone(measure, topics, truth, estimate):
            # a topic that a run lacks has no documents of it, so that its share may be of any
            yield rows, effects * share

    def _of_sum(self, spec: Spec, topics: NDArray[np.int64], truth: Labels, estimate: Labels) -> Iterator[Effects]:
        documents, kernel = self.human.arrays.documents, KERNELS[spec.kernel]
        every = np.unique(np.concatenate([truth, estimate]))
        by_people, by_judge = (
            kernel.of_cell(Cells(Judgments(documents.starts, labels)), spec, every) for labels in (truth, estimate)
        )
        divisor = np.where(by_judge > 0, by_judge, by_people)
        gains = (every >= spec.rel).astype(np.float64)
        if spec.kernel == "ndcg":
            of_label = spec.gain_of_label(every)
            gains = np.array([of_label.get(label, 0.0) for label in every.tolist()])
        gained = gains[np.searchsorted(every, estimate)] - gains[np.searchsorted(every, truth)]
        for topic in topics.tolist():
            rows = documents.rows(topic)
            changed = np.flatnonzero(gained[rows])
            if not len(changed) or divisor[topic] == 0:
                continue
            hits = self._index.gather(range(topic, topic + 1))
            weight, weights = np.ones(len(hits.rank)), np.zeros((rows.stop - rows.start, hits.n_runs))
            if spec.kernel == "ndcg":
                weight /= discounts(int(hits.rank.max(initial=1)))[hits.rank]
            elif spec.kernel == "rbp":
                weight *= (1 - spec.p) * spec.p ** (hits.rank - 1.0)
            # of the rank of a document in the score of each run, 0 where it has not
            weights[hits.row, hits.of] = (
                weight if spec.cutoff is None else np.where(hits.rank <= spec.cutoff, weight, 0.0)
            )
            yield changed + rows.start, weights[changed] * (gained[rows][changed] / divisor[topic])[:, None]

    def _alone(
        self, measure: ir_measures.Measure, topics: NDArray[np.int64], truth: Labels, estimate: Labels
    ) -> Iterator[Effects]:
        changed = np.flatnonzero((truth != estimate) & np.isin(self.human.arrays.documents.topic, topics))
        # each label is a set of judgments of its own
        changes = Changes(len(changed), np.arange(len(changed)), changed, estimate[changed])
        base = Qrels.of_arrays(self.human.arrays.labelled(truth))
        for block in rescore(self.runs, base, [measure], changes):
            for at, topic in enumerate(block.topics):
                cells = block.cells_of(topic)
                if cells.stop > cells.start:
                    yield changed[block.set[cells]], block.values[0, cells] - block.base[0, at]

    def moving(
        self, by_topic: Iterable[Effects], moved: pd.DataFrame, truth: Labels, given: Labels
    ) -> tuple[pd.DataFrame, Floats]:
        """Return ``name qid docno label judge_label rank effect`` of the documents that push each run the way it moves.

        Behind it are (runs,) sums over all documents.
        """
        relative, rise = moved["relative"].to_numpy(dtype=float), moved["rise"].to_numpy()
        way = np.sign(np.where(rise != 0, rise, np.where(np.abs(relative) > _NOTHING, relative, 0.0)))
        rows, pushes = np.full((0, len(way)), -1, dtype=np.int64), np.zeros((0, len(way)))
        totals = np.zeros(len(way))
        for of_topic, effects in by_topic:
            own = effects - effects.mean(axis=1, keepdims=True)
            totals += own.sum(axis=0)
            both = np.concatenate([pushes, own * way])
            numbers = np.concatenate([rows, np.broadcast_to(of_topic[:, None], own.shape)])
            best = np.lexsort((self._places[numbers], -np.round(both, DECIMALS)), axis=0)[:KEPT]
            rows, pushes = np.take_along_axis(numbers, best, axis=0), np.take_along_axis(both, best, axis=0)
        run, place = np.nonzero(pushes.T > _NOTHING)
        row, documents = rows[place, run], self.human.arrays.documents
        label, judge_label = (pd.Series(of[row], dtype="Int64").mask(of[row] == UNJUDGED) for of in (truth, given))
        rank = pd.Series(self._ranks[row, run], dtype="Int64")
        texts = {
            "name": np.array(self.runs.names, dtype=object)[run],
            "qid": np.array(documents.topics, dtype=object)[documents.topic[row]],
            "docno": np.array([documents.docno(place) for place in row.tolist()], dtype=object),
        }
        table = pd.DataFrame(texts, dtype=object).assign(
            label=label, judge_label=judge_label, rank=rank.mask(rank == 0)
        )
        return table.assign(effect=pushes[place, run] * way[run]), totals


#: who gives the labels that are compared with those of people
MODEL, PEOPLE = "model", "people"
#: rankings with this tau_b, and scores that are so near, are alike; the level of significance
ALIKE, NEAR, ALPHA = 0.9, 0.01, 0.05


def _draw_scores(result: LabelAudit, measure: str, place: Place, *, judge: str | None = None) -> Axes:
    """Draw the score of each run by a judge against the one by people; of all judges in a new figure, a panel each."""
    rows = result.of_all()
    taus = rows[rows["measure"] == measure].set_index("judge")["tau_b"].to_dict()
    movers = result.movers[result.movers["measure"] == measure].rename(columns={"score": "x", "judge_score": "y"})
    chosen = result.judges
    if judge is not None or place.ax is not None:
        chosen = [result.judges[0] if judge is None else choice("judge", judge, list(taus))]
    panels = {f"{name}\n{of_tau(taus[name])}": movers[movers["judge"] == name] for name in chosen}
    x, y = f"{measure}, people", f"{measure}, {'judge' if len(panels) > 1 else chosen[0]}"
    return plot_squares(panels, x=x, y=y, title="Scores by each judge against those by people", place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAudit(Result):
    """What labels by a model do to the ranking of systems.

    ``judge`` names who is compared with people: a model (``kind`` is ``"model"``), on the topics in which it labelled
    something, or another person (``"people"``), on the documents of this person.

    Attributes:
        labels: how far the labels agree.
    """

    title, main = "Audit of labels", "rankings"
    valid_for = "these runs, the labels of people as the truth, relevant: {relevant}; {missing}. Usable: {usable}."
    not_covered = "whether people are right; other runs, and runs built with the judge's labels."
    plots = {
        "agreement": drawn_by_measure(plot_judge_taus, "of_all"),
        "scores": _draw_scores,
        "ranks": drawn_by_judge(plot_judge_ranks, "movers"),
    }
    key = (KeyFigures(("tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"), "of_all", "{judge}"),)
    columns = """
    by | By | | "all" runs, the "best" under people, or those of one type, team or family
    part | Part | | the runs that are ranked
    tau_b | tau_b | score | Kendall's tau_b of the rankings of these runs; of the best, tau at k
    max_drop | Largest drop | ranks | the most ranks that a run loses; where a judge is good its interval lies too high
    mean_rise | Mean rise | places | mean number of ranks that they gain in the whole field
    judge_score | Judge's score | score | mean score under the labels of the judge
    relative | Relative | difference | the change less the mean change of all runs
    by_documents | By documents | difference | its part that is of changed labels; NaN where effects do not add up
    rank | Rank | ranks | rank under people; of a document, where the run has it
    judge_rank | Judge's rank | ranks | rank under the judge
    rise | Rise | rise | ranks gained under the judge
    label | People | number | the label of people
    judge_label | Judge | number | that of the judge on its own scale, or the one that judge_rel= says it stands for
    effect | Effect | effect | what the judge's label adds to the run's mean score beyond that of all runs: as a part \
of the sum; by measures that are no sums, such as AP, as if it alone were changed: such effects need not add up
    judge_significant | Claims | count | pairs of runs that differ significantly by the judge
    false_share | False claims | score | share of these that do not by people
    opposite | Opposite | count | pairs that differ significantly by both, with the other winner
    people | People | count | other people under whom there is a ranking
    person_tau_b | Person's tau_b | score | that of the ranking under the person
    people_tau_b | People's tau_b | score | mean of those of the rankings under other people
    difference | Difference | difference | tau_b of the judge less that of people; one topic has no interval
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and part of the field; a part whose runs all tie has no coefficient, NaN",
            "judge kind family measure by part runs topics documents tau_b~ gamma~ tau_ap_b~ max_drop~ max_rise~ "
            "mean_rise~",
            "judge part runs tau_b max_drop mean_rise",
            select={"judge": ..., "part": ...},
            noun="parts",
        ),
    ]
    movers: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and run, the one that gains most ranks first",
            "judge kind measure name team type score judge_score change relative by_documents rank judge_rank rise~",
            "name score judge_score rank judge_rank rise",
            select={"judge": None},
            noun="runs",
        ),
    ]
    claims: Annotated[
        pd.DataFrame,
        Table(
            "model and measure; claims are differences with p at most .05 by Student's paired t test, uncorrected",
            "judge measure judge_significant false_share~ opposite",
            noun="judges",
        ),
    ]
    documents: Annotated[
        pd.DataFrame,
        Table(
            "model, measure, run and document, the ten that push the run most the way that it moves, in rank or, where "
            "it keeps its rank, relative to all runs",
            "judge measure name qid docno label judge_label rank effect",
            "qid docno label judge_label rank effect",
            select={"judge": None, "name": None},
            about="For a document that the run has not, the effect is what others gain or lose by it.",
            noun="documents",
        ),
    ]
    beside: Annotated[
        pd.DataFrame,
        Table(
            "judge, other person and measure, both on the documents that this person labelled",
            "judge person measure topics documents tau_b person_tau_b difference~",
            "person topics tau_b person_tau_b difference",
            select={"judge": None},
            about="Empty without other people.",
            noun="people",
        ),
    ]
    yardstick: Annotated[
        pd.DataFrame,
        Table(
            "judge and measure, means over other people, each on the documents that this person labelled",
            "judge measure people tau_b people_tau_b difference~",
            "judge people tau_b people_tau_b difference",
            noun="judges",
        ),
    ]
    labels: LabelAgreement

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name; those of the labels are called ``labels`` and ``labels_...``."""
        of_labels = {f"labels_{name}": table for name, table in self.labels.tables().items()}
        return super().tables() | {name.removesuffix("_agreement"): table for name, table in of_labels.items()}

    def words(self) -> dict[str, Any]:
        usable = (
            f"tau_b of at least {ALIKE}, or as high as that of other people; scores off by at most {NEAR}; of "
            f"significant differences (paired t tests) at most {ALPHA:.0%} false, none with the other winner"
        )
        return {**super().words(), "usable": usable}

    @property
    def judges(self) -> list[str]:
        """Return the names of the models, without other people."""
        return self.table.loc[self.table["kind"] == MODEL, "judge"].unique().tolist()

    def of_all(self) -> pd.DataFrame:
        """Return the rows of all runs."""
        return self.table[self.table["by"] == ALL]

    def answers(self) -> list[str]:
        rows = self.of_all()
        rows = rows[rows["kind"] == MODEL].sort_values("tau_b", ascending=False, kind="stable")
        lines: list[str] = []
        for measure in self.measures:
            ranked = records(rows[rows["measure"] == measure].dropna(subset="tau_b"))
            lines += map(self._answer, ranked)
            lines += [] if ranked else [f"{measure}: no ranking, all runs tie under people or under the judge"]
        return lines

    def _answer(self, row: dict[str, Any]) -> str:
        best, moved, people, claims = (
            table[(table["judge"] == row["judge"]) & (table["measure"] == row["measure"])]
            for table in (self.table[self.table["by"] == BEST], self.movers, self.yardstick, self.claims)
        )
        off = {"change": float(moved["change"].abs().max())}
        line = "{measure}, {judge}: tau_b {tau_b}".format_map(cells(row, self.columns))
        uses = {"the ranking of all runs": usable(row, "tau_b", ALIKE)}
        for part in records(best):
            line += f", of the {part['part']} {cells(part, self.columns)['tau_b']}"
            uses |= {f"of the {part['part']}": usable(part, "tau_b", ALIKE)}
        for other in records(people[people["people"] > 0]):
            line += "; {difference} against other people".format_map(cells(other, self.columns))
            uses["the ranking of all runs"] = usable(other, "difference", 0)
        low, high = moved["change"].min(), moved["change"].max()
        side = ", all too high" if low > 0 else ", all too low" if high < 0 else ""
        use = f"scores (off by up to {off['change']:.4f}{side})"
        uses[use] = usable(off, "change", NEAR, most=True)
        (claim,) = records(claims)
        can = "no" if claim["opposite"] else usable(claim, "false_share", ALPHA, most=True)
        n, false = int(claim["judge_significant"]), f"{claim['false_share']:.1%} of "
        uses[f"significance ({false if n else ''}{n:,} claims{' false' if n else ''})"] = can
        return f"{line}. Usable for {', '.join(f'{use}: {can}' for use, can in uses.items())}"


@study(question="Do a model's labels rank the systems as people's labels do?", aim="models", command="audit")
def audit_labels(
    runs: options.Runs,
    human: options.HumanJudgments,
    judge: options.JudgeLabels,
    measures: options.Measures = None,
    *,
    people: OtherPeople = None,
    by: Annotated[
        str | None,
        options.Option(
            'rank the runs of each ``"type"``, ``"team"`` or ``"family"`` among themselves, too. Default none.',
            choices=tuple(name for name in COLUMNS if name != "run"),
            flag=options.Flag(metavar="UNIT", kind="text"),
        ),
    ] = None,
    best: Best = 10,
    rel: options.Rel = None,
    judge_rel: options.JudgeGrade = None,
    families: options.Families = None,
    missing: options.Missing = "unjudged",
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    complete: options.Complete = True,
    without_topics: options.WithoutTopics = "error",
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> LabelAudit:
    """Compare the ranking of systems by the labels of models with that by people, and the labels with people's labels.

    The field is ranked under the labels of people and under those of each judge, on the same documents and topics.
    Labels of other people, if given, show how far people agree with each other.

    Returns:
        LabelAudit: ``.table`` (how far rankings agree), ``.movers`` (each run), ``.documents`` (what moves it),
        ``.labels`` (how far labels agree), ``.yardstick`` and ``.beside`` (judges and other people on the same
        documents), ``.plot()``.

    Raises:
        InputError: only one run, an unknown measure, a judge that labelled none of the documents, a label that is no
            whole number (a probability), a judge and a person of one name, runs without a type.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> people = field.qrels.threshold()
        >>> judge = ptr.judging.Noisy(people, ptr.judging.flips(0.2), seed=1)
        >>> found = ptr.audit_labels(field.runs, people, judge, "P@10", resamples=200)
        >>> found.table[["part", "tau_b", "tau_b_low", "tau_b_high"]].round(4)
              part   tau_b  tau_b_low  tau_b_high
        0      all  0.6756     0.5044      0.8468
        1  best 10  0.7909     0.4470      1.0000

    Source: Voorhees 2000, Variations in relevance judgments and the measurement of retrieval effectiveness, Information
    Processing and Management 36; Voorhees 2001, Evaluation by highly relevant documents, SIGIR, for tau of .9; Upadhyay
    et al. 2024, UMBRELA, https://arxiv.org/abs/2406.06519.
    """
    judges = as_judges(judge, rel=judge_rel, families=families)
    check_names([named.name for named in judges], () if people is None else people.annotators)
    of_topics: dict[str, Any] = {"complete": complete, "without_topics": without_topics, "missing": missing}
    judged = JudgedInputs.read(runs, human, judges, measures, rel, **of_topics)
    inputs = judged.inputs
    if len(inputs.runs) < 2:
        raise InputError("there is 1 run, and a ranking takes 2 at least.", argument="runs")
    groups = None if by is None else units_of(inputs.runs.run_table, by, grouping=True)
    # labels of people are there already, a judge may take its time
    persons = [] if people is None else list(compared_people(inputs.qrels, people))
    for person in persons:
        judged.check_topics(person)
    n_topics, every = len(inputs.qrels.topics), np.ones(len(inputs.runs), dtype=bool)
    judged.beware(n_topics)
    of_each = (*judged.compared, *persons) if n_topics >= FEW_TOPICS else ()
    beware(
        () if groups is None else one_unit(groups, every, "they are no other group than all runs"),
        *(few_topics(len(labels.human.topics), labels.name) for labels in of_each),
    )
    bootstrap = inputs.bootstrap(resamples, seed, confidence, n_jobs)

    each = [(of, MODEL) for of in judged.compared] + [(of, PEOPLE) for of in persons]
    sets = [_set_of(inputs.qrels, of, kind) for of, kind in each]
    both = [_beside(inputs.qrels, of, person, drop=missing == "drop") for of in judged.compared for person in persons]
    scored = list(_scored(inputs, [*sets, *both], n_jobs=n_jobs, verbose=verbose))
    tables = _ranked(inputs, scored[: len(sets)], groups, best, bootstrap)
    tables |= _beside_people(inputs, scored[len(sets) :], bootstrap)
    warn_of_ties(tables["table"][tables["table"]["by"] == ALL], "people", "judge")
    labels = agreement_of_labels(judged.compared, bootstrap, people=persons)
    settings = settings_of(
        judged,
        groups,
        {name: labels.settings[name] for name in ("people",) if name in labels.settings},
        {
            f"documents, {measure!r}": "not known, since ir_measures computes the measure"
            for measure in inputs.measures
            if native_spec(measure) is None
        },
        interval_settings(bootstrap, "; of resamples in which a part of the runs does not tie"),
        {} if bootstrap is None else dict(OF_DROPS),
        {} if groups is None else {"by": groups.by},
        topics="those in which the judge labelled a document; of a person, those that the person labelled",
        best=f"the {best:,} best runs under the labels of people, over all topics",
        intervals_of_labels=labels.settings["intervals"],
    )
    return LabelAudit(**tables, labels=labels, settings=settings)


@dataclass(frozen=True)
class ComparedSets:
    """Labels of the documents that people judged, by people and by those compared, and the topics that count."""

    about: dict[str, Any]  # the first columns: ``judge kind family``, or ``judge person`` of the two beside each other
    truth: Labels
    estimates: tuple[Labels, ...]  # one, or that of the judge and that of the person
    topics: NDArray[np.int64]  # positions
    documents: int
    given: Labels | None = None  # the labels of a model on its own scale
    scores: Sequence[list[TopicScores]] = ()  # by measure, on the topics: by people and by each estimate


def _topics_of(human: Qrels, labels: ComparedLabels) -> NDArray[np.int64]:
    return np.array([human.arrays.documents.place[topic] for topic in labels.human.topics], dtype=np.int64)


def _set_of(human: Qrels, of: ComparedLabels, kind: str) -> ComparedSets:
    """Return the labels of a judge, or of another person, and those of people beside them."""
    truth, estimate, given = (
        qrels.arrays.labels_of(human.arrays.documents) for qrels in (of.human, of.on_scale, of.judge)
    )
    if kind == PEOPLE:
        # what a person did not label is no concern of this person's
        truth = np.where(estimate != UNJUDGED, truth, UNJUDGED)
    about, own = {"judge": of.name, "kind": kind, "family": of.family}, given if kind == MODEL else None
    return ComparedSets(about, truth, (estimate,), _topics_of(human, of), len(of.pairs), own)


def _beside(human: Qrels, judge: ComparedLabels, person: ComparedLabels, *, drop: bool) -> ComparedSets:
    """Return a judge and a person on the documents of the person, and of the judge, too, where others drop out."""
    documents = human.arrays.documents
    by_judge, by_person = (labels.on_scale.arrays.labels_of(documents) for labels in (judge, person))
    common = np.intersect1d(_topics_of(human, judge), _topics_of(human, person))
    kept = (by_person != UNJUDGED) & ((by_judge != UNJUDGED) | (not drop)) & np.isin(documents.topic, common)
    truth, *estimates = (np.where(kept, side, UNJUDGED) for side in (human.arrays.labels, by_judge, by_person))
    about = {"judge": judge.name, "person": person.name}
    return ComparedSets(about, truth, tuple(estimates), np.unique(documents.topic[kept]), int(kept.sum()))


def _scored(inputs: Inputs, compared: Sequence[ComparedSets], **how: Any) -> Iterator[ComparedSets]:
    """Yield those compared with their scores."""
    labels = np.stack([side for of in compared for side in (of.truth, *of.estimates)])
    # equal sets are scored once
    sets, number = np.unique(labels, axis=0, return_inverse=True)
    values = scores_under(inputs.runs, inputs.qrels, inputs.measures, sets, **how)
    has_topic = None if inputs.complete else topics_of_runs(inputs.runs, inputs.qrels)
    added, numbers = adds_up(inputs.measures).tolist(), iter(number.ravel().tolist())
    for of in compared:
        own = [next(numbers) for _ in (of.truth, *of.estimates)]
        has = None if has_topic is None else has_topic[of.topics]
        scores = [[TopicScores(values[n, m, of.topics], has, adds) for n in own] for m, adds in enumerate(added)]
        yield replace(of, scores=scores)


def _ranked(
    inputs: Inputs, compared: Sequence[ComparedSets], groups: Units | None, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, pd.DataFrame]:
    """Return the table, each run, and under models the documents that move it."""
    rows, claims = list[dict[str, Any]](), list[dict[str, Any]]()
    movers, documents = list[pd.DataFrame](), list[pd.DataFrame]()
    effects = DocumentEffects(inputs.runs, inputs.qrels)
    for (m, measure), of in product(enumerate(inputs.measures), compared):
        truth, estimate = of.scores[m]
        field = RankedField(truth, estimate, bootstrap)
        rows += field.agreement(of, repr(measure), best, groups)
        moved = field.moved(of, repr(measure), inputs.runs.run_table)
        if of.given is not None:
            claims.append({"judge": of.about["judge"], "measure": repr(measure), **field.claims()})
            by_topic = effects.between(measure, of.topics, truth.has_topic, of.truth, of.estimates[0])
            table, totals = effects.moving(by_topic, moved, of.truth, of.given)
            documents.append(under({"judge": of.about["judge"], "measure": repr(measure)}, table))
            moved = moved.assign(by_documents=totals if is_sum(measure) else np.nan)
        # of runs that gain as much the best one under people comes first
        movers.append(moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable"))
    return {
        "table": whole_changes(with_names(rows)),
        "movers": whole_changes(pd.concat(movers, ignore_index=True)),
        "claims": pd.DataFrame(claims),
        "documents": pd.concat(documents, ignore_index=True),
    }


@dataclass(frozen=True)
class RankedField:
    """The field ranked under the labels of people and of a judge by one measure, on the same topics."""

    truth: TopicScores
    estimate: TopicScores
    bootstrap: TopicBootstrap | None

    def _rises(self, counts: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return (draws, runs): how many ranks each run gains under the judge, negative where it loses."""
        return pairs.rank_drops(rounded(self.estimate.means(counts)), rounded(self.truth.means(counts)))

    @cached_property
    def _drawn(self) -> NDArray[np.float64]:
        """Return (draws, runs) ranks gained in each draw; one draw of NaN where there is nothing to draw."""
        n_topics, n_runs = self.truth.values.shape
        if self.bootstrap is None or n_topics < 2:
            return np.full((1, n_runs), np.nan)
        return np.concatenate([self._rises(counts) for counts in self.bootstrap.blocks(n_topics)]).astype(np.float64)

    def mean_rise(self, name: str, runs: NDArray[np.int64], *, integer: bool) -> dict[str, float]:
        """Return the mean rise of some runs with the ends of its interval, as columns."""
        mean, most = float(self._rises()[0][runs].mean()), float(self.truth.values.shape[1] - 1)
        drawn = self._drawn[:, runs].mean(axis=1)
        return _with_ends(name, mean, drawn, self.bootstrap, within=(-most, most), integer=integer)

    def agreement(self, of: ComparedSets, measure: str, best: int, groups: Units | None) -> Iterator[dict[str, Any]]:
        """Yield a row per part of the field: how far the two rank its runs alike, and how many ranks these gain."""
        topics = range(len(self.truth.values))
        for by, part, runs in parts_of(self.truth.means()[0], best, groups):
            truth, estimate = (side.of(topics, runs.tolist()) for side in (self.truth, self.estimate))
            with located(f"{of.about['judge']}, {measure}"), warnings.catch_warnings():
                if by != ALL:
                    # of a few runs all tie in some draws as a rule, which settings tell
                    warnings.simplefilter("ignore", ReuseWarning)
                agreed = ranking_agreement(truth, estimate, self.bootstrap)
            about = {**of.about, "measure": measure, "by": by, "part": part, "runs": len(runs), "topics": len(topics)}
            risen = self.mean_rise("mean_rise", runs, integer=False)
            yield {**about, "documents": of.documents, **agreed, **risen}

    def claims(self) -> dict[str, float]:
        """Return how many differences are significant under the judge, and how many of these are not under people."""
        sides = self.truth.values, self.estimate.values
        people, judge = map(pair_tests, sides)
        agreement = agreement_of_tests(people, judge, ALPHA)
        n, share, drawn = agreement.ss_a + agreement.ss_d + agreement.ns, agreement.only_second, np.full(1, np.nan)
        if self.bootstrap is not None and len(sides[0]) > 1:
            drawn = drawn_agreement(*sides, self.bootstrap, ALPHA).only_second
        row: dict[str, float] = {"judge_significant": n, "false_share": share, "opposite": agreement.ss_d}
        return row | _with_ends("false_share", share, drawn, self.bootstrap, within=(0, 1))

    def moved(self, of: ComparedSets, measure: str, run_table: pd.DataFrame) -> pd.DataFrame:
        """Return a row per run, in the order of the field; ``by_documents`` is not known here, NaN."""
        score, judge_score = self.truth.means()[0], self.estimate.means()[0]
        change, rank = judge_score - score, pairs.ranks(rounded(score))
        rises = pd.DataFrame([self.mean_rise("rise", np.array([run]), integer=True) for run in range(len(score))])
        about = {"judge": of.about["judge"], "kind": of.about["kind"], "measure": measure}
        columns: dict[str, Any] = {name: run_table[name].to_numpy() for name in ("name", "team", "type")}
        columns |= {"score": score, "judge_score": judge_score, "change": change, "relative": change - change.mean()}
        columns |= {"by_documents": np.nan, "rank": rank, "judge_rank": rank - rises["rise"].astype(np.int64)}
        return pd.DataFrame(about | columns).join(rises)


def _with_ends(
    name: str, value: float, drawn: Floats, bootstrap: TopicBootstrap | None, **how: Any
) -> dict[str, float]:
    """Return a number, and the ends of its interval where there are any, as columns."""
    ends = () if bootstrap is None else bootstrap.interval(value, drawn, **how)
    return {name: value, **dict(zip((f"{name}_low", f"{name}_high"), ends, strict=False))}


def _beside_people(
    inputs: Inputs, beside: Sequence[ComparedSets], bootstrap: TopicBootstrap | None
) -> dict[str, pd.DataFrame]:
    """Return a row per judge, other person and measure, and one per judge and measure, the mean over the others.

    All are of the same draws of all topics.
    """
    every = None if bootstrap is None else bootstrap.counts(len(inputs.qrels.topics))
    unknown = np.full(1 if every is None else len(every), np.nan)

    def compared(person: str, by_judge: float, by_person: float, drawn: NDArray[np.float64]) -> dict[str, float]:
        difference = _with_ends("difference", by_judge - by_person, drawn, bootstrap, within=(-2, 2))
        return {"tau_b": by_judge, person: by_person, **difference}

    rows, means, there = [], [], [of for of in beside if len(of.topics)]
    judges = dict.fromkeys(of.about["judge"] for of in there)
    for (m, measure), judge in product(enumerate(map(repr, inputs.measures)), judges):
        ranked = []
        for of in (of for of in there if of.about["judge"] == judge):
            truth, *others = of.scores[m]
            by_judge, by_person = (float(_tau_b(truth, other)[0]) for other in others)
            drawn = unknown
            # one topic is always itself, so that nothing says what another one would do
            if every is not None and len(of.topics) > 1:
                drawn = np.subtract(*(_tau_b(truth, other, every[:, of.topics]) for other in others))
            about = {**of.about, "measure": measure, "topics": len(of.topics), "documents": of.documents}
            rows.append({**about, **compared("person_tau_b", by_judge, by_person, drawn)})
            if not np.isnan(by_judge - by_person):
                ranked.append((by_judge, by_person, drawn))
        columns = zip(*(ranked or [(np.nan, np.nan, unknown)]), strict=True)
        about = {"judge": judge, "measure": measure, "people": len(ranked)}
        means.append({**about, **compared("people_tau_b", *(np.mean(values, axis=0) for values in columns))})
    tables = {"beside": rows, "yardstick": means}
    return {name: as_declared(LabelAudit, name, each, ends=every is not None) for name, each in tables.items()}


def _tau_b(truth: TopicScores, estimate: TopicScores, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return (draws,) tau_b of two rankings; NaN where all runs tie."""
    x, y = rounded(truth.means(counts)), rounded(estimate.means(counts))
    return pairs.coefficients(x, y, ("tau_b",))["tau_b"].astype(np.float64)
