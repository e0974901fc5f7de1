"""ExperimentResult: the frame that Experiment returns, with the runs that it executed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from pt_reuse._errors import Call, InputError, Option, door
from pt_reuse._report import Report
from pt_reuse.data.run_set import RunSet
from pt_reuse.experiment.reporting import at_hand, report_of
from pt_reuse.scoring.measures import MeasureLike


@dataclass(frozen=True, eq=False)
class Executed:
    """What an experiment executed, beside the frame that shows it."""

    runs: RunSet
    means: pd.DataFrame | None
    n_topics: int
    settings: Mapping[str, Any]


class ExperimentResult(pd.DataFrame):
    """What :func:`Experiment` returns: a DataFrame in every respect, which knows the runs that were executed.

    All that pandas makes of it knows them, too: a copy, other columns or rows, another order, what comes out of a
    pickle, a join with a frame of one's own. Files that hold a frame alone (CSV, Parquet) do not;
    ``result.runs.write(folder)`` keeps the runs. Tables joined of several experiments know none.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7, n_topics=3)
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
        """Return a frame with what was executed."""
        made = cls(frame)
        made.attrs = frame.attrs
        made._executed = executed
        return made

    @property
    @door
    def runs(self) -> RunSet:
        """Return the systems as they were executed, in the order of pt.Experiment's scores (``"trec_eval9"``).

        All systems of the call, whichever rows are at hand, with their teams, types, and whether they were pooled:
        with a field as :func:`Experiment` counted them, without one as far as somebody said so.

        Raises:
            InputError: the frame was joined of several experiments, or made of something else.
        """
        return self._kept().runs

    @door
    def report(self, measures: MeasureLike | Iterable[MeasureLike] | None = None) -> Report:
        """Return what a paper prints: of the systems at hand, in their order, a row per measure.

        The columns are the score, the mean over all topics also where the frame at hand has rows of some topics alone;
        ``p`` against the baseline, corrected where a correction was asked for; the change by leave-out-uniques in per
        cent, where some system counts as pooled; the rank; the share that is unjudged; and the lowest and highest score
        that this allows, see :func:`Experiment`.

        Args:
            measures: which of them, as the columns name them, ``"nDCG@10"``; default all that are at hand.

        Returns:
            Report: it prints as a table of 80 columns; ``.to_latex()``, ``.to_frame()``.

        Raises:
            InputError: an unknown measure, a name that is no system's, a frame joined of several experiments, or one by
                topic of an experiment that neither ranks nor leaves out, so that nothing has a mean.

        Example:
            >>> import pt_reuse as ptr
            >>> field = ptr.simulate_field(seed=7, n_topics=3)
            >>> topics = pd.DataFrame({"qid": field.runs.topics, "query": "q"})
            >>> systems = field.runs.select(["lex1a", "neu2a"])
            >>> result = ptr.Experiment(systems, topics, field.qrels, ["AP", "P@5"], baseline="lex1a")
            >>> list(result.report("AP").to_frame())
            ['System', 'AP', 'p', 'Rank', 'Unjudged share', 'Lowest to highest']
        """
        kept = self._kept()
        if kept.means is None:
            raise InputError(
                "pt.Experiment computed no means. Call Experiment with ",
                Option("perquery", "both"),
                ", and report the averages.",
            )
        return report_of(kept.means, at_hand(self, kept.means), measures, kept.settings, kept.n_topics)

    def _kept(self) -> Executed:
        if self._executed is None:
            where = Call("ptr.Experiment", "...")
            raise InputError(
                "this frame knows no runs: it was made of several frames. Ask the result of ", where, " itself."
            )
        return self._executed


def _joined(operation: Any) -> list[Any]:
    """Return the frames that an operation of pandas joins; versions name them differently."""
    for names in (("input_objs",), ("objs",), ("left", "right")):
        if all(hasattr(operation, name) for name in names):
            found = [getattr(operation, name) for name in names]
            return list(found[0]) if len(names) == 1 else found
    return []


def carrying(result: Any, executed: Executed) -> Any:
    """Return what pt.Experiment returned, its frames with what was executed; dicts stay as they are."""
    if isinstance(result, tuple):
        parts = [carrying(part, executed) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    if isinstance(result, dict):
        return result
    if isinstance(result, pd.DataFrame):
        return ExperimentResult.of(result, executed)
    return ExperimentResult.of(result.data, executed).style.use(result.export())
