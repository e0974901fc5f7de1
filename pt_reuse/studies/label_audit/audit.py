"""LabelAudit: what labels by a model do to the ranking of systems, and how far they agree with those of people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import checked_jobs, choice, count, did_you_mean, examples, positive
from pt_reuse._errors import Argument, InputError, Option, door, located, warn
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import ends, with_ends, written
from pt_reuse.arrays.bootstrap import OF_DROPS, checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import units_of
from pt_reuse.judging.annotators.labels import as_annotator_labels
from pt_reuse.judging.judges import JudgeRel
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, FEW_TOPICS, few_topics, noted, one_unit, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.run_scores import provided_measures
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.judged_fields import AskedJudges
from pt_reuse.studies.label_audit.compared_labels import LabelAgreement, check_names, label_agreement
from pt_reuse.studies.label_audit.label_counts import compared_people
from pt_reuse.studies.label_audit.rankings import Asked, FieldAudit, checked_grouping, without_ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENDS = ("low", "high")
#: what the rows of a report can be
ROWS = ("judge", "part", "run", "document", "person")


def of_judges(table: pd.DataFrame, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and per other person: tau-b with its interval, tau at k, the largest moves.

    Args:
        table: the rows of one measure.
        settings: of the audit.
    """
    rows, best = (table[table["by"] == by] for by in ("all", "best"))
    names = [f"{row.judge} (person)" if row.kind == "people" else row.judge for row in rows.itertuples()]
    columns = [Column("Judge", names), Column("tau-b", rows["tau_b"], Digits.SCORE)]
    if "tau_b_low" in rows:
        columns.append(intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE))
    else:
        columns.append(Column("tau-AP", rows["tau_ap_b"], Digits.SCORE))
    if len(best):
        at_k = best.set_index("judge")["tau_b"].reindex(rows["judge"])
        columns.append(Column(f"Tau at {best['part'].iloc[0].removeprefix('best ')}", at_k, Digits.SCORE))
    columns += [
        Column("Largest drop", rows["max_drop"], Digits.COUNT),
        Column("Largest rise", rows["max_rise"], Digits.COUNT),
    ]
    topics = sorted(set(rows["topics"]))
    over = count(topics[0], "topic") if len(topics) == 1 else f"{topics[0]:,} to {topics[-1]:,} topics"
    return Report(
        columns,
        caption=(
            f"The ranking of {count(int(rows['runs'].max()), 'run')} by {rows['measure'].iloc[0]} under the labels "
            f"of each judge against the one under those of people, over {over}: correlations, and the most "
            "ranks that a run loses or gains."
        ),
        notes=[
            *_notes(settings, with_intervals="tau_b_low" in rows, with_people=bool((rows["kind"] == "people").any())),
            *_of_drops(settings),
        ],
    )


def of_parts(table: pd.DataFrame, judge: str, settings: Mapping[str, Any]) -> Report:
    """Return a row per part of the field: the agreement within it, and how many ranks its runs gain on average.

    Args:
        table: the rows of one measure and judge.
        judge: whose they are.
        settings: of the audit.
    """
    columns = [
        Column("Runs", table["part"]),
        Column("Number", table["runs"], Digits.COUNT),
        Column("tau-b", table["tau_b"], Digits.SCORE),
        Column("Largest drop", table["max_drop"], Digits.COUNT),
        Column("Mean rise", [signed(value, 1) for value in table["mean_rise"]]),
    ]
    if "mean_rise_low" in table:
        low, high = ([signed(value, 1) for value in table[f"mean_rise_{end}"]] for end in _ENDS)
        columns.append(intervals("the rise", low, high, Digits.TEXT))
    return Report(
        columns,
        caption=(
            f"Runs ranked by {table['measure'].iloc[0]} under the labels of {judge} against those of people, within "
            "each part of the field; the mean rise is the number of ranks that its runs gain in the whole field."
        ),
        notes=[*_notes(settings, with_intervals="tau_b_low" in table), *_of_drops(settings)],
    )


def of_runs(movers: pd.DataFrame, judge: str, measure: str, most: int, settings: Mapping[str, Any]) -> Report:
    """Return a row per run that gains or loses most ranks."""
    rows = furthest(movers, most)
    rise = [signed(value, 0) for value in rows["rise"]]
    columns = [
        Column("Run", rows["name"]),
        Column("Score", rows["score"], Digits.SCORE),
        Column("Judge's score", rows["judge_score"], Digits.SCORE),
        Column("Rank", rows["rank"], Digits.COUNT),
        Column("Rise", rise),
    ]
    if "rise_low" in rows:
        low, high = ([signed(value, 0) for value in rows[f"rise_{end}"]] for end in _ENDS)
        columns.append(intervals("the rise", low, high, Digits.TEXT))
    return Report(
        columns,
        caption=(
            f"The runs that gain and lose most ranks by {measure} under the labels of {judge}, of "
            f"{count(len(movers), 'run')}: scores and rank under people, and the ranks gained under {judge}."
        ),
        notes=[*_none_moves(rows["name"].tolist()), *_notes(settings, with_intervals="rise_low" in rows)],
    )


def of_documents(
    movers: pd.DataFrame,
    documents: pd.DataFrame,
    judge: str,
    measure: str,
    most: int,
    settings: Mapping[str, Any],
) -> Report:
    """Return a row per document that does most for the runs that gain or lose most."""
    names = furthest(movers, most)["name"].tolist()
    parts = [documents[documents["name"] == name].head(most) for name in names]
    rows = pd.concat(parts, ignore_index=True) if parts else documents.head(0)
    rank = [None if pd.isna(value) else int(value) for value in rows["rank"]]
    labels = [
        f"{label} / {'-' if pd.isna(theirs) else theirs}"
        for label, theirs in zip(rows["label"], rows["judge_label"], strict=True)
    ]
    words = settings.get(f"documents, {measure}")
    return Report(
        [
            Column("Run", rows["name"]),
            Column("Topic", rows["qid"]),
            Column("Document", rows["docno"]),
            Column("People / judge", labels),
            Column("At rank", pd.Series(rank, dtype=object), Digits.COUNT),
            Column("Effect", [signed(value, 5) for value in rows["effect"]]),
        ],
        caption=(
            f"The documents that do most for the runs that gain and lose most ranks by {measure} under the labels of "
            f"{judge}: both labels, and what the judge's adds to the run's mean score beyond what it adds to that of "
            "all runs on average."
        ),
        notes=[
            *_none_moves(names),
            *([f"Effect: {words}."] if words else []),
            *_notes(settings, with_intervals=False),
        ],
    )


def of_people(
    beside: pd.DataFrame, yardstick: pd.DataFrame, judge: str, measure: str, settings: Mapping[str, Any]
) -> Report:
    """Return a row per other person: the judge's tau-b and the person's on the same documents, and all in the last.

    Args:
        beside: the rows of one judge and measure.
        yardstick: the same over all people.
        judge: whose they are.
        measure: by which runs are scored.
        settings: of the audit.
    """
    last = yardstick.rename(columns={"people_tau_b": "person_tau_b"}).assign(
        person="all, mean", topics=float("nan"), documents=float("nan")
    )
    rows = pd.concat([beside.astype({"topics": float, "documents": float}), last[list(beside.columns)]])
    columns = [
        Column("Person", rows["person"]),
        Column("Topics", rows["topics"], Digits.COUNT),
        Column("Judge's tau-b", rows["tau_b"], Digits.SCORE),
        Column("Person's tau-b", rows["person_tau_b"], Digits.SCORE),
        Column("Difference", [signed(value, 4) for value in rows["difference"]]),
    ]
    if "difference_low" in rows:
        low, high = ([signed(value, 4) for value in rows[f"difference_{end}"]] for end in _ENDS)
        columns.append(intervals("the difference", low, high, Digits.TEXT))
    return Report(
        columns,
        caption=(
            f"How far the ranking by {measure} under {judge} agrees with the one under people, and how far those under "
            "other people do, on the documents that each of them labelled."
        ),
        notes=[
            *_notes_of_mean(beside, yardstick),
            *_notes(settings, with_intervals="difference_low" in rows),
        ],
    )


def _notes_of_mean(beside: pd.DataFrame, yardstick: pd.DataFrame) -> list[str]:
    notes = ["Mean: each person counts alike."]
    if "difference_low" in beside:
        notes.append(
            "Topics are drawn for all people at once; a draw without a topic of a person is left out of the "
            "intervals of this person and of the mean."
        )
    if len(yardstick) and yardstick["people"].iloc[0] < len(beside):
        notes.append("Where all runs tie there is no ranking: such a person is no part of the mean.")
    if "difference_low" in beside and (beside["topics"] == 1).any():
        notes.append(
            "Of a person with one topic there is no interval, and none of a mean that such a person is part of."
        )
    return notes


def _none_moves(names: Sequence[str]) -> list[str]:
    """Return why a table of the runs that move furthest is empty, nothing where it is not."""
    return [] if names else ["No run: each has the rank that people give it."]


def signed(value: float, decimals: int) -> str | None:
    """Return a difference with its sign, ``+1.4``; without one where it rounds to 0, None where it is missing."""
    return None if value != value else written(value, f"+,.{decimals}f")


def furthest(movers: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the runs that gain most ranks, then those that lose most, each once, without those that stay."""
    n = positive("most", most, "runs")
    up, down = movers[movers["rise"] > 0].head(n), movers[movers["rise"] < 0].tail(n)
    return pd.concat([up, down])


def _notes(settings: Mapping[str, Any], *, with_intervals: bool, with_people: bool = False) -> list[str]:
    notes = [f"Missing: {settings['missing']}."]
    if with_people:
        notes.append("A person is compared on the documents that this person labelled, which are others.")
    if with_intervals:
        notes.append(f"Interval: {settings['intervals']}.")
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes


def _of_drops(settings: Mapping[str, Any]) -> list[str]:
    # without intervals, and in a result of an earlier version, nothing is said
    return [f"{name.capitalize()}: {settings[name]}." for name in OF_DROPS if name in settings]


def all_findings(
    table: pd.DataFrame,
    movers: pd.DataFrame,
    documents: pd.DataFrame,
    yardstick: pd.DataFrame,
    labels: LabelAgreement,
) -> list[str]:
    """Return what an audit found; the arguments are tables of a LabelAudit."""
    rankings: list[str] = []
    beside: list[str] = []
    groups: list[str] = []
    moves: list[str] = []
    for judge in dict.fromkeys(table.loc[table["kind"] == "model", "judge"]):
        for measure in dict.fromkeys(table["measure"]):
            ranked, people, runs, causes = (_of(each, judge, measure) for each in (table, yardstick, movers, documents))
            rankings += _of_ranking(judge, measure, ranked)
            beside += _of_people(judge, measure, people)
            groups += _of_groups(judge, measure, ranked)
            moves += _of_movers(judge, measure, runs, causes, _bounds(labels, judge)) if _is_ranked(ranked) else []
    # a kind of number stands together, so that judges can be read beside each other
    found = [*rankings, *beside, *groups, *moves, *labels.findings()]
    if not len(yardstick):
        found.append(
            "There are no labels of other people here, so that nothing says whether another person would do better "
            "than the judge."
        )
    return found


def _of(table: pd.DataFrame, judge: str, measure: str) -> pd.DataFrame:
    return table[(table["judge"] == judge) & (table["measure"] == measure)]


def _is_ranked(table: pd.DataFrame) -> bool:
    """Return whether there are two rankings: where all runs tie, none moves."""
    return bool(table.loc[table["by"] == "all", "tau_b"].notna().all())


def _bounds(labels: LabelAgreement, judge: str) -> tuple[int, int]:
    """Return the lowest labels that are relevant, of people and of a judge."""
    row = labels.bounds[labels.bounds["judge"] == judge].iloc[0]
    return int(row["rel"]), int(row["judge_rel"])


def _of_ranking(judge: str, measure: str, table: pd.DataFrame) -> Iterator[str]:
    row = table[table["by"] == "all"].iloc[0].to_dict()
    if np.isnan(row["tau_b"]):
        yield f"{judge}: by {measure} all runs tie under people or under the judge, so that there is no ranking."
        return
    at_k = ""
    for best in table[(table["by"] == "best") & table["tau_b"].notna()].to_dict("records"):
        at_k = f"; among the {best['part']} it is {with_ends(best, 'tau_b', '.4f')}"
    yield (
        f"{judge} ranks {count(int(row['runs']), 'run')} by {measure} on {count(int(row['topics']), 'topic')} with "
        f"tau_b {with_ends(row, 'tau_b', '.4f')} to the ranking by people{at_k}."
    )


def _of_people(judge: str, measure: str, yardstick: pd.DataFrame) -> Iterator[str]:
    for row in yardstick.to_dict("records"):
        if not row["people"]:
            yield (
                f"{judge}: on the documents of other people all runs tie by {measure} under people, under the judge or "
                "under them, so that there is no ranking to compare."
            )
            continue
        people = f"{count(row['people'], 'other person')}, who reach{'es' * (row['people'] == 1)}"
        verdict = ""
        if "difference_low" in row and not np.isnan(row["difference_low"]):
            if row["difference_low"] > 0:
                verdict = " So it is nearer to these people than the others are."
            elif row["difference_high"] < 0:
                verdict = " So it is further from these people than the others are."
            else:
                verdict = " So the two are not told apart."
        yield (
            f"{judge} reaches tau_b {row['tau_b']:.4f} by {measure} on the documents of {people} "
            f"{row['people_tau_b']:.4f}: a difference of {with_ends(row, 'difference', '+,.4f')}.{verdict}"
        )


def _of_groups(judge: str, measure: str, table: pd.DataFrame) -> Iterator[str]:
    for row in table[~table["by"].isin(["all", "best"])].to_dict("records"):
        if not row["mean_rise"]:
            continue
        moves = "gain" if row["mean_rise"] > 0 else "lose"
        yield (
            f"{judge}: the {count(row['runs'], 'run')} of {row['by']} {row['part']} {moves}{'s' * (row['runs'] == 1)} "
            f"{abs(row['mean_rise']):.1f} ranks by {measure} on average{_rise_ends(row, 'mean_rise')}."
        )


def _of_movers(
    judge: str, measure: str, movers: pd.DataFrame, documents: pd.DataFrame, bounds: tuple[int, int]
) -> Iterator[str]:
    moved = movers[movers["rise"] != 0]
    if not len(moved):
        yield f"{judge}: by {measure} every run has the rank that people give it."
        return
    for row, way in ((movers.iloc[0], "gains"), (movers.iloc[-1], "loses")):
        if (row["rise"] > 0) != (way == "gains") or row["rise"] == 0:
            continue
        # a run may move since others do
        mine = documents[documents["name"] == row["name"]]
        yield (
            f"{judge}: by {measure} run {row['name']} {way} most, {count(abs(int(row['rise'])), 'rank')}"
            f"{_rise_ends(row.to_dict(), 'rise')}, from {row['rank']:,} to {row['judge_rank']:,}; its score changes by "
            f"{signed(row['change'], 4)}, {signed(row['relative'], 4)} beyond the mean run.{_document(mine, bounds)}"
        )


def _document(mine: pd.DataFrame, bounds: tuple[int, int]) -> str:
    if not len(mine):
        return ""
    row = mine.iloc[0]
    people, theirs = (_label(row[name], bounds, at) for at, name in enumerate(("label", "judge_label")))
    where = "which it has not" if pd.isna(row["rank"]) else f"at rank {row['rank']:,}"
    return (
        f" The document that does most is {row['docno']} of topic {row['qid']}, {where} (people {people}, "
        f"the judge {theirs}): {signed(row['effect'], 5)}."
    )


def _label(label: int, bounds: tuple[int, int], at: int) -> str:
    """Return a label in words; where the same number is relevant on one scale alone, whether it is relevant."""
    if pd.isna(label):
        return "no label"
    if bounds[0] == bounds[1]:
        return f"label {label}"
    return f"label {label}, {'relevant' if label >= bounds[at] else 'not relevant'}"


def _rise_ends(row: Mapping[Any, Any], name: str) -> str:
    """Return the interval of ranks gained, with signs, since an end may be on the other side of 0."""
    between = ends(row, name, "+,.0f" if name == "rise" else "+,.1f")
    return f" ({between} ranks gained)" if between else ""


#: kind of figure -> what it shows
KINDS = ("agreement", "scores", "ranks")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAudit(Result):
    """What labels by a model do to the ranking of systems.

    ``judge`` names who is compared with people: a model (``kind`` is ``"model"``), or another person (``"people"``),
    to read the models against. A model is compared on the topics in which it labelled something; another person on the
    documents that this person labelled, and on their topics. Columns that end in ``_low`` and ``_high`` are the ends
    of intervals over topics; there are none without resamples.

    Attributes:
        table: how far the rankings agree, per judge, measure and part of the field: ``judge kind family measure by part
            runs topics documents``; ``tau_b gamma tau_ap_b`` of the two rankings of the runs of this part, and
            ``max_drop max_rise``, the most ranks that one of them loses and gains among them (their intervals lie too
            high in about 20 of 100 simulated fields where a judge is good); ``mean_rise``, the mean
            number of ranks that they gain in the whole field. ``by`` is ``"all"`` for all runs; ``"best"`` for the best
            under people, whose tau_b is *tau at k*; or ``"type"``, ``"team"`` or ``"family"`` for the runs of one. A
            part of one run, or whose runs all tie, has no coefficient: NaN.
        movers: per judge, measure and run, the one that gains most ranks first: ``judge kind measure name team type
            score judge_score change``; ``relative``, the change less the mean change of all runs; ``by_documents``, the
            part of it that is of documents whose labels differ (NaN for other people, and for measures that are no sum
            over documents); ``rank judge_rank rise``.
        documents: for each model, measure and run the ten documents that push it most the way that it moves (by rank;
            by ``relative`` where it keeps its rank), the most important first: ``judge measure name qid docno``;
            ``label judge_label``, each on its own scale, but the judge's as the label of people that it stands for
            where ``judge_rel=`` says so, <NA> for none; ``rank``, where the run has it, <NA> where it
            has not; ``effect``, what the judge's label adds to the mean score of the run, less what it adds to that of
            all runs on average. For a document that the run has not that is what the others gain or lose. ``settings``
            says how effects of a measure are computed.
        beside: per judge, other person and measure, on the documents that this person labelled: ``judge person measure
            topics documents``; ``tau_b`` of the judge's ranking with the one of people and ``person_tau_b`` of the
            person's; ``difference`` of the first less the second. Empty where there are no other people.
        yardstick: the same over all other people: ``judge measure people``, how many there is a ranking of; the means
            over these ``tau_b people_tau_b`` and their ``difference``, which has no interval where one of them labelled
            a single topic.
        labels: how far the labels agree.
    """

    title: ClassVar[str] = "Audit of labels"

    movers: pd.DataFrame
    documents: pd.DataFrame
    beside: pd.DataFrame
    yardstick: pd.DataFrame
    labels: LabelAgreement

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name; those of the labels are called ``labels`` and ``labels_...``."""
        of_labels = {
            "labels" if name == "agreement" else f"labels_{name}": table for name, table in self.labels.tables().items()
        }
        return {
            "rankings": self.table,
            "movers": self.movers,
            "documents": self.documents,
            "beside": self.beside,
            "yardstick": self.yardstick,
            **of_labels,
        }

    @property
    def judges(self) -> list[str]:
        """Return the names of the models, without other people."""
        return list(dict.fromkeys(self.table.loc[self.table["kind"] == "model", "judge"]))

    def findings(self) -> list[str]:
        """Return what was found in sentences, each with its number, and its interval where there is one.

        Returns:
            list of str: per judge and measure how far the rankings agree; what that is beside other people; which types
            or families gain; who gains and loses most, by which document; and per judge how far the labels agree.

        Example:
            >>> import pt_reuse as ptr
            >>> field = ptr.simulate_field(seed=7)
            >>> people = field.qrels.threshold()
            >>> judge = ptr.judging.Noisy(people, ptr.judging.flips(0.2), seed=1)
            >>> found = ptr.audit_labels(field.runs, people, judge, "P@10", resamples=200)
            >>> said = found.findings()
            >>> said[0].partition(";")[0]
            'noisy ranks 18 runs by P@10 on 25 topics with tau_b 0.6756 (0.5044 to 0.8468) to the ranking by people'
        """
        return all_findings(self.table, self.movers, self.documents, self.yardstick, self.labels)

    def key_figures(self) -> pd.DataFrame:
        """Return tau_b, gamma, tau_ap_b and the largest moves of each judge over all runs."""
        rows = self.table[self.table["by"] == "all"]
        names = ["tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"]
        return key_figures_of(rows, names, rows=rows["judge"].tolist())

    def headline(self) -> str:
        """Return the lowest and the highest tau_b of a judge by each measure, and that of other people."""
        rows = self.table[self.table["by"] == "all"]
        models, people = (rows[rows["kind"] == kind] for kind in ("model", "people"))
        n_runs, n_topics = int(rows["runs"].max()), int(models["topics"].max())
        said = []
        for measure in self.measures:
            mine, theirs = (part[part["measure"] == measure] for part in (models, people))
            beside = f"; {count(len(theirs), 'other person')} {_span(theirs['tau_b'])}" if len(theirs) else ""
            said.append(f"{measure} tau_b {_span(mine['tau_b'])}{beside}")
        who = self.judges[0] if len(self.judges) == 1 else count(len(self.judges), "judge")
        return f"{who} against people, {count(n_runs, 'run')}, {count(n_topics, 'topic')}: {'; '.join(said)}"

    @door
    def report(
        self, by: str = "judge", *, measure: MeasureLike | None = None, judge: str | None = None, most: int = 3
    ) -> Report:
        """Return what a paper prints.

        Args:
            by: the rows: each ``"judge"`` (default) and other person, with tau-b, tau at k and the largest moves; each
                ``"part"`` of the field; the ``"run"`` that move furthest; the ``"document"`` that move these most; each
                ``"person"`` beside the judge.
            measure: default the first.
            judge: of parts, runs, documents and people; default the first.
            most: so many runs that gain, and as many that lose, and so many documents of each.
        """
        choice("by", by, ROWS)
        name, who = measure_among(self.measures, measure), self._judge(judge)
        table = self.table[self.table["measure"] == name]
        if by == "judge":
            return of_judges(table, self.settings)
        if by == "part":
            return of_parts(table[table["judge"] == who], who, self.settings)
        if by == "person":
            if not len(self.beside):
                raise InputError("there are no other people to stand beside; give ", Option("people", ...), ".")
            beside, yardstick = (self._rows(rows, name, who) for rows in (self.beside, self.yardstick))
            return of_people(beside, yardstick, who, name, self.settings)
        movers = self._rows(self.movers, name, who)
        if by == "run":
            return of_runs(movers, who, name, most, self.settings)
        return of_documents(movers, self._rows(self.documents, name, who), who, name, most, self.settings)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "agreement",
        judge: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how far rankings agree, or what becomes of each run under one judge.

        Args:
            measure: default the first.
            kind: ``"agreement"`` (default), tau_b of each judge, and of other people, with its interval; ``"scores"``,
                the score of each run by the judge against the one by people; ``"ranks"``, a line for each run from its
                rank by people to its rank by the judge, those named that move furthest.
            judge: of scores and ranks; default the first, but of scores all in a new figure, a panel each.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the first of them, where there are several.
        """
        from pt_reuse.plots.forests import plot_judge_taus
        from pt_reuse.plots.lines import plot_judge_ranks
        from pt_reuse.plots.run_scores import plot_judge_scores, plot_score_panels
        from pt_reuse.plots.sheet import Place

        choice("kind", kind, KINDS)
        name, place = measure_among(self.measures, measure), Place(ax, title, legend, width)
        table = self.table[(self.table["measure"] == name) & (self.table["by"] == "all")]
        if kind == "agreement":
            return plot_judge_taus(table, measure=name, place=place)
        movers = self.movers[self.movers["measure"] == name]
        if kind == "scores" and judge is None and ax is None and len(self.judges) > 1:
            taus = table.set_index("judge")["tau_b"].to_dict()
            return plot_score_panels(movers, {who: taus[who] for who in self.judges}, measure=name, place=place)
        who = self._judge(judge)
        rows = movers[movers["judge"] == who]
        if kind == "ranks":
            return plot_judge_ranks(rows, judge=who, measure=name, place=place)
        tau = float(table.loc[table["judge"] == who, "tau_b"].iloc[0])
        return plot_judge_scores(rows, judge=who, measure=name, tau=tau, place=place)

    def _judge(self, judge: str | None) -> str:
        known = list(dict.fromkeys(self.table["judge"]))
        if judge is None:
            return known[0]
        if judge not in known:
            raise InputError(
                Argument("judge"),
                f" must be one of {examples(known, 12)}, got {judge!r}.{did_you_mean(judge, known)}",
                argument="judge",
            )
        return judge

    @staticmethod
    def _rows(table: pd.DataFrame, measure: str, judge: str) -> pd.DataFrame:
        return table[(table["measure"] == measure) & (table["judge"] == judge)]


def _span(values: pd.Series) -> str:
    """Return the lowest and the highest value, or the only one; of rankings whose runs all tie, that there is none."""
    low, high = float(values.min()), float(values.max())
    if low != low:
        return "undefined"
    return f"{low:.4f}" if low == high else f"{low:.4f} to {high:.4f}"


@door
def audit_labels(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    people: Any = None,
    by: str | None = None,
    best: int = 10,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    missing: str = "unjudged",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LabelAudit:
    """Say what labels by a model, or by several, do to the ranking of systems, and how far they agree with people's.

    Each judge is asked for labels of the documents that people judged. The field is ranked under the labels of people
    and under those of the judge, on the same documents and topics. Labels of other people, where there are any, show
    what people reach with each other: a judge is to be read against that.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`. Pipelines come in by
            :meth:`RunSet.from_pipelines`.
        human: the judgments of people, in any form.
        judge: who is audited: judgments in any form, a :class:`judging.Judge`, a function or a pipeline; a dict of
            name -> one of these; or a folder of judges, read as :func:`judging.read_judges` reads it.
        measures: ir_measures measures, or their names, one or several.
        people: labels of other people for some of the same documents: a dict of name -> judgments in any form, a frame
            ``qid docno label annotator``, or what :func:`~pt_reuse.judging.import_labels` returns. Each is compared
            with `human` on the documents that this person labelled, whatever `missing` says, and so is each judge once
            more beside it.
        by: ``"type"``, ``"team"`` or ``"family"``: rank the runs of each one among themselves, too. Default none.
        best: how many runs are the best: tau of these is *tau at k*. Which runs are the best follows from all topics
            under `human`, also in resamples; those that tie with the last of them belong to them.
        rel: the lowest label of people that is relevant; default what the judgments say, else 1.
        judge_rel: the lowest label of the judge that is relevant, or a dict of its label -> the label of people that it
            stands for; one for all, or a dict of judge -> one of these. Default: what a judge says; else 1 where all
            its labels are 0 and 1, and as for people where none is above the highest of theirs. Labels above it are
            refused.
        families: judge -> family of models, where the judges do not say.
        missing: a document that people judged and the judge did not is ``"unjudged"`` under the judge (default), or is
            taken from both (``"drop"``).
        resamples: how often the topics are drawn for intervals; 0 for none. Judges on the same topics share the draws.
        confidence: of the intervals.
        seed: of the draws.
        complete: the mean is over all topics that count, a topic that a run lacks counting 0 (default), or over those
            that the run has.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        n_jobs: topics, then parts of the draws, at a time, as joblib takes it; default what
            ``joblib.parallel_config`` says, else 1. The numbers do not depend on it.
        verbose: show progress bars.

    Returns:
        LabelAudit: ``.table`` (how far rankings agree), ``.movers`` (each run), ``.documents`` (what moves it),
        ``.labels`` (how far labels agree), ``.yardstick`` and ``.beside`` (judges and other people on the same
        documents), ``.findings()``, ``.report()``, ``.plot()``.

    Raises:
        InputError: one run alone, an unknown measure, a judge that labelled none of the documents, a label that is no
            whole number (a probability), a judge and a person of one name, runs without a type.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing, fewer than five topics, runs that all tie, a measure
            that counts labels as relevant that are not so for people, a `rel` above every label of people.
            Also runs of one unit (`by`) alone.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> people = field.qrels.threshold()
        >>> judge = ptr.judging.Noisy(people, ptr.judging.flips(0.2), seed=1)
        >>> found = ptr.audit_labels(field.runs, people, judge, "P@10", resamples=200)
        >>> found.headline()
        'noisy against people, 18 runs, 25 topics: P@10 tau_b 0.6756'
        >>> found.movers[["name", "rank", "judge_rank", "rise", "rise_low", "rise_high"]].head(2)
            name  rank  judge_rank  rise  rise_low  rise_high
        0  lex4a    14           8     6        -1         13
        1  lex1b    12           9     3        -4         10

    Source: Voorhees 2000, Variations in relevance judgments and the measurement of retrieval effectiveness, Information
    Processing and Management 36, for rankings under the labels of other people; Upadhyay et al. 2024, UMBRELA,
    https://arxiv.org/abs/2406.06519, for those under the labels of a model.
    """
    asked = AskedJudges.of(
        judge,
        measures,
        rel=rel,
        judge_rel=judge_rel,
        families=families,
        missing=missing,
        complete=complete,
        without_topics=without_topics,
        verbose=verbose,
    )
    grouping, k = checked_grouping(by), positive("best", best, "runs")
    jobs = checked_jobs(n_jobs)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence, n_jobs=n_jobs)
    given = None if people is None else as_annotator_labels(people, "people")
    check_names([one.name for one in asked.judges], () if given is None else given.annotators)
    judged = asked.read(runs, human)
    if len(judged.runs) < 2:
        raise InputError("there is 1 run, and a ranking takes 2 at least.", argument="runs")
    groups = None if grouping is None else units_of(judged.runs.run_table, grouping, grouping=True)
    # labels of people are there already, a judge may take its time
    beside = [] if given is None else list(compared_people(judged.human, given))
    for one in beside:
        with located(one.name):
            if without_topics == "error":
                check_topics(judged.runs, one.human)
    pairs = judged.compared()
    n_topics = len(judged.human.topics)
    caveats = judged.caveats(pairs, n_topics)
    if groups is not None:
        caveats += one_unit(groups, np.ones(len(judged.runs), dtype=bool), "they are no other group than all runs")
    for one in (*pairs, *beside) if n_topics >= FEW_TOPICS else ():
        caveats += few_topics(len(one.human.topics), one.name)
    tell(caveats)
    field = FieldAudit(judged.runs, judged.human, asked.measures, pairs, beside, drop=missing == "drop")
    found = field.ranked(Asked(k, groups, bootstrap), complete=complete, n_jobs=jobs, verbose=verbose)
    _warn_of_ties(found.table)
    labels = label_agreement(pairs, bootstrap, people=beside)
    provided = provided_measures(asked.measures)
    settings = {
        **judged.settings(pairs),
        **({"people": "; ".join(f"{one.name} ({one.words()})" for one in beside)} if beside else {}),
        "topics": "those in which the judge labelled a document; of a person, those that the person labelled",
        "best": f"the {k:,} best runs under the labels of people, over all topics",
        **({} if groups is None else {"by": grouping, **groups.settings}),
        "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        **{f"documents, {measure}": words for measure, words in found.effects.items()},
        "intervals": "none"
        if bootstrap is None
        else f"{bootstrap.words()}; of resamples in which a part of the runs does not tie",
        **({} if bootstrap is None else OF_DROPS),
        "intervals of labels": labels.settings["intervals"],
        **({"by ir_measures": provided} if provided else {}),
        **noted(caveats),
    }
    return LabelAudit(
        table=found.table,
        settings=settings,
        movers=found.movers,
        documents=found.documents,
        beside=found.beside,
        yardstick=found.yardstick,
        labels=labels,
    )


def _warn_of_ties(table: pd.DataFrame) -> None:
    """Warn of rankings that do not exist, since all runs tie."""
    none = without_ranking(table)
    if none:
        warn(
            f"all runs tie under people or under the judge, so that there is no ranking to compare: {examples(none)}. "
            "Is any document of these topics relevant by the measure?"
        )
