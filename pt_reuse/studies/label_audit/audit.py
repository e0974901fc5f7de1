"""LabelAudit: what labels by a model do to the ranking of systems, and how far they agree with those of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, count, did_you_mean, examples
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse._report import Report
from pt_reuse._result import OfMeasures, Result, key_figures_of
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.label_audit.audit_findings import all_findings
from pt_reuse.studies.label_audit.audit_reports import ROWS, of_documents, of_judges, of_parts, of_people, of_runs
from pt_reuse.studies.label_audit.label_agreement import LabelAgreement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: kind of figure -> what it shows
KINDS = ("agreement", "scores", "ranks")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAudit(OfMeasures, Result):
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
