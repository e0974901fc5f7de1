"""ExperimentResult: the frame that Experiment returns, its report, and how the ranking of the field changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import ir_measures
import pandas as pd

from pt_reuse._report import MOST, Column, Digits, Report, intervals
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, choice, count, examples, listed, shown, warn
from pt_reuse.experiment.columns import BEWARE_OF_UNIQUES, NO_FIELD, NOT_POOLED, SUMMED, TIME, like, sentence
from pt_reuse.scoring.caveats import BEWARE, CaveatWarning
from pt_reuse.scoring.measures import MeasureLike, adds_up


@dataclass(frozen=True, eq=False)
class Executed:
    """What an experiment executed, beside the frame that shows it."""

    runs: RunSet
    means: pd.DataFrame | None
    n_topics: int
    settings: Mapping[str, Any]


class ExperimentResult(pd.DataFrame):
    """What :func:`Experiment` returns: a DataFrame in every respect, which knows the runs that were executed.

    Frames that pandas makes of it know them, too: a copy, other columns or rows, another order, an unpickled one, a
    join with a frame of one's own. Files that hold a frame alone (CSV, Parquet) do not;
    ``result.runs.write(folder)`` keeps the runs. Tables joined of several experiments know none.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_topics=3)
        >>> topics = pd.DataFrame({"qid": field.runs.topics, "query": "q"})
        >>> result = ptr.Experiment(field.runs.select(["lex1a", "neu2a"]), topics, field.qrels, ["AP"])
        >>> result.sort_values("AP")[["name", "AP"]].runs.names
        ['lex1a', 'neu2a']
        >>> ptr.depth_pool(result.runs, depth=10).settings["depth"]
        10
    """

    # pandas hands on what is named here
    _metadata: ClassVar[list[str]] = ["_executed"]
    _executed: Executed | None = None

    @property
    def _constructor(self) -> Callable[..., ExperimentResult]:
        return ExperimentResult

    def __finalize__(self, other: Any, method: str | None = None, **arguments: Any) -> ExperimentResult:
        """Hand on what was executed; pandas itself does not where it joins frames."""
        parent: Any = super()  # what pandas hides from type checkers
        made: ExperimentResult = parent.__finalize__(other, method=method, **arguments)
        if isinstance(other, pd.DataFrame | pd.Series):
            return made
        frames = _joined(other)
        known = [frame for frame in frames if getattr(frame, "_executed", None) is not None]
        # rows of a frame of one's own would be systems that are not among the runs, columns are not
        asked = frames if method == "concat" else known
        if known and all(getattr(frame, "_executed", None) is known[0]._executed for frame in asked):
            made._executed = known[0]._executed
            made.attrs = {**known[0].attrs, **made.attrs}
        return made

    @classmethod
    def of(cls, frame: pd.DataFrame, executed: Executed) -> ExperimentResult:
        """Return a frame of scores with the systems that were executed for it."""
        made = cls(frame)
        made.attrs = frame.attrs
        made._executed = executed
        return made

    @property
    def runs(self) -> RunSet:
        """Return the systems as they were executed, in the order of pt.Experiment's scores (``"trec_eval9"``).

        All systems of the call, whichever rows are at hand, with their teams, types, and whether they were pooled:
        with a field as :func:`Experiment` counted them, without one as far as somebody said so.

        Raises:
            InputError: the frame was joined of several experiments, or made of something else.
        """
        return self._kept().runs

    def report(self, measures: MeasureLike | Iterable[MeasureLike] | None = None) -> Report:
        """Return what a paper prints: of the systems at hand, in their order, a row per measure.

        Its scores are means over all topics, also where the frame at hand has rows of some topics alone.

        Args:
            measures: which of them, as the columns name them, ``"nDCG@10"``; default all that are at hand.

        Returns:
            Report: it prints as a table of 80 columns; ``.to_latex()``, ``.to_frame()``.

        Raises:
            InputError: an unknown measure, a name that is no system's, a frame joined of several experiments, or one by
                topic of an experiment that neither ranks nor leaves out, so that nothing has a mean.
        """
        kept = self._kept()
        if kept.means is None:
            raise InputError(
                "pt.Experiment computed no means. Call Experiment with perquery='both', and report the averages."
            )
        return _report_of(kept, kept.means, measures, self)

    def reuse_summary(self) -> pd.DataFrame:
        """Return, per measure, how the ranking of the field changes when each unit is scored without its uniques.

        Returns:
            DataFrame: the ``summary`` of ``LeaveOutUniques``: ``measure own_tau_b alone_max_drop`` and more;
            empty, with a ReuseWarning that says what to pass, where nothing was left out.

        Raises:
            InputError: an operation of pandas lost it.
        """
        kept = self.attrs.get("reuse")
        if kept is None:
            raise InputError("this frame has no summary: an operation of pandas lost it. Ask the result itself.")
        if not kept["summary"]:
            hint = f" {sentence(kept['hint'])}" if kept["hint"] else ""
            warn(f"nothing was left out, so there is no summary. Name 'lou' in reuse=, beside a field.{hint}")
        summary = pd.DataFrame(kept["summary"])
        beware = kept["settings"].get(BEWARE_OF_UNIQUES)
        if beware is not None:
            warn(f"beware: {beware}. Experiment says more with reuse=['lou'].", category=CaveatWarning)
        # a unit that does not exist is None, whatever pandas makes of one among names
        worst = pd.Series([row["field_worst"] for row in kept["summary"]], dtype=object)
        return summary.assign(field_worst=worst) if kept["summary"] else summary

    def _kept(self) -> Executed:
        if self._executed is None:
            raise InputError("this frame was made of several, so it knows no runs. Ask the result of ptr.Experiment.")
        return self._executed


def _joined(operation: Any) -> list[Any]:
    """Return the frames that an operation of pandas joins; versions name them differently."""
    for names in (("input_objs",), ("objs",), ("left", "right")):
        if all(hasattr(operation, name) for name in names):
            frames = [getattr(operation, name) for name in names]
            return list(frames[0]) if len(names) == 1 else frames
    return []


def carrying(result: Any, executed: Executed) -> Any:
    """Return what pt.Experiment returned, its frames with what was executed."""
    if isinstance(result, tuple):
        return like(result, carrying(result[0], executed), carrying(result[1], executed))
    if isinstance(result, pd.DataFrame):
        return ExperimentResult.of(result, executed)
    return ExperimentResult.of(result.data, executed).style.use(result.export())


#: heads the column of what a score may be
_BOUNDS = "Lowest to highest"


def _report_of(
    executed: Executed,
    means: pd.DataFrame,
    measures: MeasureLike | Iterable[MeasureLike] | None,
    frame: pd.DataFrame,
) -> Report:
    """Return the report of the systems that a frame shows under some measures, by default those that it shows."""
    settings, every = executed.settings, list(dict.fromkeys(means["name"]))
    names = every
    if "name" in frame.columns:
        names = list(dict.fromkeys(frame["name"]))
    elif "name" in frame.index.names:
        names = list(dict.fromkeys(frame.index.get_level_values("name")))
    if strangers := [name for name in names if name not in every]:
        raise InputError(
            f"{examples(strangers)} in the column 'name' names no system of the experiment, which had "
            f"{examples(every, 12)}. Report first, then rename."
        )
    known = [measure for measure in means["measure"].unique() if measure != TIME]
    if measures is None:
        at_hand = set(frame["measure"] if "measure" in frame.columns else frame.columns)
        chosen = [measure for measure in known if measure in at_hand] or known
    else:
        several = [measures] if isinstance(measures, str | ir_measures.Measure) else measures
        wanted = [str(measure) for measure in several] if isinstance(several, Iterable) else []
        if not wanted:
            problem = f"measures must name some of {examples(known, 12)}, got {shown(measures)}."
            raise InputError(problem, argument="measures")
        chosen = [choice("measures", measure, known) for measure in dict.fromkeys(wanted)]
    rows = means[means["measure"].isin(chosen) & means["name"].isin(names)]
    places = [
        (chosen.index(measure), names.index(name)) for measure, name in zip(rows["measure"], rows["name"], strict=True)
    ]
    rows = rows.iloc[sorted(range(len(rows)), key=places.__getitem__)]
    alone = len(chosen) == 1
    labels = rows["name"].map(str) if alone else rows["name"].map(str) + ", " + rows["measure"]
    lou = next((column for column in ("LOU %", f"LOU %{NO_FIELD}") if column in rows), "")
    # the zeros of systems that nothing can be taken from are no finding
    says = bool(lou) and (settings["systems"] != NOT_POOLED or bool(rows[lou].fillna(0).any()))
    p = ("p, corrected", "p-value corrected") if "p-value corrected" in rows else ("p", "p-value")
    columns = [Column("System" if alone else "System, measure", labels.tolist())]
    for heading, column, digits in (
        (chosen[0] if alone else "Score", "value", Digits.SCORE),
        (*p, Digits.P),
        (f"{lou[:3]}, change in %{lou[5:]}", lou if says else "", Digits.PERCENT),
        ("Rank", "rank", Digits.COUNT),
        ("Filled", "filled", Digits.SCORE),
        ("Unjudged share", "unjudged", Digits.SCORE),
    ):
        # a report has no room for all of them, and what is filled says more
        if column in rows and (column != "unjudged" or len(columns) <= MOST):
            columns.append(Column(heading, rows[column].tolist(), digits))
    if "low" in rows and len(columns) <= MOST:
        columns.append(replace(intervals("", rows["low"], rows["high"], Digits.SCORE), heading=_BOUNDS))
    notes = _notes(settings, columns, not says and settings.get("systems") == NOT_POOLED)
    return Report(columns, caption=_caption(chosen, settings, columns, executed.n_topics), notes=notes)


def _caption(measures: list[str], settings: Mapping[str, Any], columns: list[Column], n_topics: int) -> str:
    headings = {column.heading.split(",")[0] for column in columns}
    summed = [measure for measure in measures if measure in SUMMED]
    how = "sums" if len(summed) == len(measures) else "means"
    over = f", {how} over {count(n_topics, 'topic')}"
    if summed and how == "means":
        over += f" ({listed(summed)}: the sum)"
    # pt.Experiment adds up by name, and the name of NumRelRet is NumRet(rel=1)
    averaged = [name for name, added in zip(measures, adds_up(measures), strict=True) if added and name not in SUMMED]
    if averaged:
        over += f" ({listed(averaged)}: the mean, as pt.Experiment gives it; ptr.score gives the sum)"
    parts = [f"{listed(measures)} of the systems of an experiment{over}"]
    if "p" in headings:
        corrected = f" (correction: {settings['correction']})" if "correction" in settings else ""
        # a finished result does not say by which test
        test = "p as pt.Experiment gave it"
        known = f"p by {settings['test']} against {settings['baseline']}" if "test" in settings else test
        parts.append(f"{known}{corrected}")
    if "Rank" in headings:
        parts.append(f"rank among {settings['ranked among']}")
    if "LOU" in headings:
        parts.append(
            f"LOU: the score without the unique documents of the system's own {settings['by']} "
            f"(pool depth {settings['depth']})"
        )
    return f"{'; '.join(parts)}."


def _notes(settings: Mapping[str, Any], columns: list[Column], idle: bool) -> list[str]:
    notes = [f"Documents are ranked in the order {settings['order']}, as pt.Experiment ranks them."]
    if "other order" in settings:
        notes.append(f"In another order: {settings['other order']}.")
    if idle:
        notes.append("No system counts as pooled, so that leaving out its uniques changes nothing and is not shown.")
    if columns[-1].heading == _BOUNDS:
        without = f". No bounds are known of {settings['no bounds']}" if "no bounds" in settings else ""
        notes.append(f"{_BOUNDS}: {settings['bounds']}{without}.")
    if "fill" in settings:
        notes.append(f"Filled: the score with {settings['filled']}, labelled by a judge ({settings['fill']}).")
    if BEWARE in settings:
        notes.append(f"Beware: {settings[BEWARE]}.")
    return notes
