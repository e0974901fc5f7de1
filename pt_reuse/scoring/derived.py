"""Measures made of another measure: its bounds and their distance, and its value on a condensed list.

They are measures of ir_measures, so that PyTerrier's own ``pt.Experiment`` and ``pt.Evaluate`` take them as they are.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import Metric

from pt_reuse.data.judgments import WHOLE, Whole, as_qrels, checked_rel
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, count, examples, shown, warn
from pt_reuse.scoring.bounds import has_bounds, score_bounds
from pt_reuse.scoring.caveats import of_judged
from pt_reuse.scoring.measures import MeasureLike, OwnMeasure, cutoff_of, parse_measures

#: judged documents have at least this label; -1 means pooled and not judged
_JUDGED = 0


class Derived(OwnMeasure):
    """A measure of another one, `measure`; ``Low(nDCG)@10`` is ``Low(nDCG@10)``."""

    RUN_INPUTS = ("query_id", "doc_id", "score")
    QREL_INPUTS = ("query_id", "doc_id", "relevance")
    SUPPORTED_PARAMS: ClassVar[dict[str, Any]] = {
        "measure": ir_measures.ParamInfo(dtype=ir_measures.Measure, required=True, desc="the measure it is made of"),
    }

    def __init__(self, measure: MeasureLike, **params: Any):
        found = parse_measures(measure)
        if len(found) != 1:
            said = f"{self.NAME} is of one measure, and {shown(measure)} names {examples(found)}."
            raise InputError(said, argument="measure")
        super().__init__(measure=found[0], **params)

    @property
    def __name__(self) -> str:
        return str(self.NAME)

    @property
    def measure(self) -> ir_measures.Measure:
        """Return the measure it is made of."""
        found: ir_measures.Measure = self.params["measure"]
        return found

    def __call__(self, **params: Any) -> ir_measures.Measure:
        # what is no parameter of its own is one of the measure it is made of
        own = {name: value for name, value in params.items() if name in self.SUPPORTED_PARAMS}
        rest = {name: value for name, value in params.items() if name not in own}
        of = {"measure": self.measure(**rest)} if rest else {}
        return type(self)(**{**self.params, **of, **own})

    def __matmul__(self, at_param: Any) -> ir_measures.Measure:
        return self(measure=self.measure @ at_param)

    def __repr__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self.params.items() if name != "measure"]
        return f"{self.NAME}({','.join([repr(self.measure), *options])})"

    def aggregator(self) -> Any:
        """Return what makes one value of those of the topics, as for the measure it is made of."""
        return self.measure.aggregator()

    def runtime_impl(self, qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[Metric]:
        """Yield one value per topic that both the qrels and the run have; called by ir_measures."""
        judged = set(qrels["query_id"].unique())
        qids = [qid for qid in run["query_id"].unique() if qid in judged]
        if qids:
            self._check(run)
            if of_judged([self]):
                self._tell_relevant_only(qrels)
            values = self._values(qrels, run, qids)
            yield from (Metric(qid, self, values[qid]) for qid in qids)

    def _check(self, run: pd.DataFrame) -> None:
        """Raise where the results have no one order, or a document twice."""
        twice, unscored = run.duplicated(["query_id", "doc_id"]), run["score"].isna()
        for fault, at in (("twice", twice), ("without a score (NaN)", unscored)):
            if at.any():
                qid, docno = run.loc[at, ["query_id", "doc_id"]].iloc[0]
                said = f"{self!r}: {count(int(at.sum()), 'row')} {fault} in the results, such as document {docno!r} of "
                raise InputError(f"{said}topic {qid!r}. Give each document once per topic, with a number as score.")

    def _made_of(self, qrels: pd.DataFrame) -> ir_measures.Measure:
        """Return the measure it is made of, as it is under all judgments, some of which it may not get."""
        of = self.measure
        return of.of_judgments(self._whole_of(qrels)) if isinstance(of, OwnMeasure) else of

    def _whole_of(self, qrels: pd.DataFrame) -> Whole:
        """Return what is known of the judgments of which those given may be a part."""
        known: Whole | None = self._whole or qrels.attrs.get(WHOLE)
        if known is not None:
            return known
        highest = int(qrels["relevance"].max())
        self._tell_scale(highest)
        return Whole(highest, relevant_only=False)

    def _tell_scale(self, highest: int) -> None:
        """Warn where it matters that the highest label may be that of a part of the judgments."""
        if isinstance(self.measure, Derived):
            self.measure._tell_scale(highest)

    @abstractmethod
    def _values(self, qrels: pd.DataFrame, run: pd.DataFrame, qids: Sequence[str]) -> Mapping[str, float]:
        """Return the value of each of some topics, which the judgments and the run have."""


class _Bounded(Derived):
    """Bounds of a score: what the unjudged documents that the measure sees in a list allow."""

    SUPPORTED_PARAMS: ClassVar[dict[str, Any]] = {
        **Derived.SUPPORTED_PARAMS,
        "max_label": ir_measures.ParamInfo(dtype=int, required=False, desc="highest label of an unjudged document"),
    }
    #: returns the values, (measures, topics, runs)
    bound: ClassVar[Any]

    def __init__(self, measure: MeasureLike, *, max_label: int | None = None):
        highest = checked_rel(max_label, "max_label")
        super().__init__(measure, **({} if highest is None else {"max_label": highest}))
        if not has_bounds(self.measure):
            known = "AP, P, R, RR, Rprec, Success, RBP(rel=1) and nDCG, without judged_only and gains"
            problem = f"the bounds of {self.measure!r} are not known. They are of {known}."
            raise InputError(problem, argument="measure")

    def _values(self, qrels: pd.DataFrame, run: pd.DataFrame, qids: Sequence[str]) -> Mapping[str, float]:
        judged, given = _JUDGMENTS.of(qrels), self.params.get("max_label")
        highest = max(self._whole_of(qrels).highest, 1) if given is None else int(given)
        # in the order in which the provider of the measure ranks documents of equal scores; cwl-eval leaves them as
        # they stand
        by_docno = self.measure.NAME == "RR" and cutoff_of(self.measure) is not None
        order = "file" if self.measure.NAME == "RBP" else "docno" if by_docno else "trec_eval9"
        bounds = score_bounds(_RUNS[order].of(run), judged, [self.measure], highest)
        return dict(zip(judged.topics, self.bound(bounds)[0, :, 0].tolist(), strict=True))

    def _tell_scale(self, highest: int) -> None:
        highest, of = max(highest, 1), self.measure
        # a binary measure sees relevant or not alone
        if "max_label" in self.params or (of.NAME != "nDCG" and of.params.get("rel", 1) <= highest):
            return
        warn(
            f"{self!r} takes {highest} for the highest label that an unjudged document may have, that of the "
            "judgments it gets, which may be of some topics alone. Say the highest label of all judgments, max_label=, "
            "or give pt.Experiment a Qrels, which knows it."
        )


class _Low(_Bounded):
    """The lowest score that the unjudged documents of a list allow."""

    NAME, SHORT_DESC, bound = "Low", __doc__, staticmethod(attrgetter("low"))


class _High(_Bounded):
    """The highest score that the unjudged documents of a list allow."""

    NAME, SHORT_DESC, bound = "High", __doc__, staticmethod(attrgetter("high"))


class _Residual(_Bounded):
    """The highest less the lowest score that the unjudged documents of a list allow."""

    NAME, SHORT_DESC, bound = "Residual", __doc__, staticmethod(lambda bounds: bounds.high - bounds.low)


class _CondensedList(Derived):
    """A measure of the judged documents of a list alone."""

    NAME = "Condensed"
    SHORT_DESC = "A measure of the list without its unjudged documents."

    def _values(self, qrels: pd.DataFrame, run: pd.DataFrame, qids: Sequence[str]) -> Mapping[str, float]:
        judged = qrels.loc[qrels["relevance"] >= _JUDGED, ["query_id", "doc_id"]]
        pairs = pd.MultiIndex.from_frame(run[["query_id", "doc_id"]])
        kept = run[pairs.isin(pd.MultiIndex.from_frame(judged))]
        return calculated(self._made_of(qrels), qrels, kept, qids)


def Low(measure: MeasureLike, *, max_label: int | None = None) -> ir_measures.Measure:  # noqa: N802 - as a measure
    """Return a measure: the lowest score that the unjudged documents of a list allow.

    Every unjudged document down to the cutoff may have any label from 0 to the highest; documents that the list lacks
    keep their judgments. AP, R, Rprec and nDCG would be lower, even below this bound, if more of these were relevant.
    Ties are broken as by the provider of the measure.

    Args:
        measure: AP, P, R, RR, Rprec, Success, RBP(rel=...) or nDCG, with a cutoff or without, or its name.
        max_label: the highest label that an unjudged document may have, from 1; default the highest of the judgments.
            pt.Experiment hands over those of the topics asked alone: give it there, or judgments as a Qrels, which
            knows it. Where a `rel` is above it, the bounds are the score.

    Returns:
        Measure: for pt.Experiment, ir_measures and this package, which takes its name, too, ``"Low(nDCG@10)"``.

    Raises:
        InputError: a measure whose bounds are not known.

    Warns:
        ReuseWarning: the highest label of all judgments matters and is not known; all judgments are of relevant
            documents.

    Example:
        >>> import ir_measures, pt_reuse as ptr
        >>> from ir_measures import P, nDCG, ScoredDoc, Qrel
        >>> ptr.Low(nDCG@10), ptr.Low("nDCG@10", max_label=3)
        (Low(nDCG@10), Low(nDCG@10,max_label=3))
        >>> run = [ScoredDoc("1", "a", 2.0), ScoredDoc("1", "b", 1.0)]
        >>> qrels = [Qrel("1", "a", 1), Qrel("1", "c", 0)]  # nobody judged b
        >>> ptr.Low(P@2).calc_aggregate(qrels, run), ptr.High(P@2).calc_aggregate(qrels, run)
        (0.5, 1.0)

    Source: Moffat and Zobel, TOIS 2008, for RBP; AP and nDCG are this package's own, checked against all completions.
    """
    return _Low(measure, max_label=max_label)


def High(measure: MeasureLike, *, max_label: int | None = None) -> ir_measures.Measure:  # noqa: N802 - as a measure
    """Return a measure: the highest score that the unjudged documents of a list allow, as :func:`Low` the lowest.

    The highest RBP counts the ranks below the n documents that it sees, too, whose weight is p^n.

    Args:
        measure: as for :func:`Low`.
        max_label: as for :func:`Low`.

    Returns:
        Measure: as :func:`Low`, ``"High(nDCG@10)"``.

    Raises:
        InputError: a measure whose bounds are not known.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.High("AP"), ptr.High("AP(rel=2)@100")
        (High(AP), High(AP(rel=2)@100))

    Source: as :func:`Low`.
    """
    return _High(measure, max_label=max_label)


def Residual(measure: MeasureLike, *, max_label: int | None = None) -> ir_measures.Measure:  # noqa: N802 - as a measure
    """Return a measure: the highest less the lowest score that the unjudged documents of a list allow.

    For RBP it is the residual of Moffat and Zobel: (1 - p) p^(i - 1) of each unjudged document at rank i, and p^n of
    the ranks below the n documents that it sees.

    Args:
        measure: as for :func:`Low`.
        max_label: as for :func:`Low`.

    Returns:
        Measure: as :func:`Low`, ``"Residual(RBP(rel=1))"``.

    Raises:
        InputError: a measure whose bounds are not known.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.Residual("RBP(rel=1, p=0.95)")
        Residual(RBP(rel=1,p=0.95))

    Source: Moffat and Zobel, TOIS 2008, section 4.
    """
    return _Residual(measure, max_label=max_label)


def Condensed(measure: MeasureLike) -> ir_measures.Measure:  # noqa: N802 - as a measure
    """Return a measure of the condensed list: unjudged documents are taken out before it is computed.

    Where ir_measures has it by a name of its own, as ``AP(judged_only=True)``, the measure is that one. A document with
    a label below 0 is unjudged. Condensed lists favour systems with many unjudged documents.

    Args:
        measure: any measure of ir_measures, or its name.

    Returns:
        Measure: as :func:`Low`, ``"Condensed(AP)"``.

    Raises:
        InputError: an unknown measure.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.Condensed("AP"), ptr.Condensed("nDCG@10"), ptr.Condensed("RBP(rel=1)")
        (AP(judged_only=True), nDCG(judged_only=True)@10, Condensed(RBP(rel=1)))

    Source: Sakai, SIGIR 2007, "Alternatives to bpref".
    """
    own = _CondensedList(measure)
    theirs = own.measure(judged_only=True) if "judged_only" in own.measure.SUPPORTED_PARAMS else own
    return theirs if theirs is not own and ir_measures.DefaultPipeline.supports(theirs) else own


#: the derived measures that have a name, as :func:`pt_reuse.scoring.measures.parse_measures` reads it
BY_NAME = {"Low": Low, "High": High, "Residual": Residual, "Condensed": Condensed}


def calculated(
    measure: ir_measures.Measure, qrels: pd.DataFrame, run: pd.DataFrame, qids: Sequence[str]
) -> Mapping[str, float]:
    """Return what ir_measures calculates for topics, the default of the measure where it has nothing."""
    found = ir_measures.iter_calc([measure], qrels, run) if len(run) and len(qrels) else ()
    return {**dict.fromkeys(qids, float(measure.DEFAULT)), **{metric.query_id: metric.value for metric in found}}


def _in_order(order: str, run: pd.DataFrame) -> RunSet:
    rows = run[["query_id", "doc_id", "score"]].set_axis(["qid", "docno", "score"], axis=1)
    if np.isinf(rows["score"]).any():
        # providers rank infinite scores, too, and a run has none
        with np.errstate(over="ignore"):
            scores = rows["score"].astype(np.float32 if order == "trec_eval9" else np.float64)
        rows = rows.assign(score=scores.rank(method="dense"))
    if order == "docno":
        rows, order = rows.sort_values(["qid", "score", "docno"], ascending=[True, False, True]), "file"
    return RunSet.from_frames({"run": rows}, order=order)


_Made = TypeVar("_Made")


class _Last(Generic[_Made]):
    """Keeps what was made of a frame last: ir_measures gives all measures of a call the same frames."""

    def __init__(self, make: Callable[[pd.DataFrame], _Made]):
        self._make = make
        self._kept: tuple[tuple[weakref.ref[pd.DataFrame], _Made], ...] = ()

    def of(self, frame: pd.DataFrame) -> _Made:
        for known, made in self._kept:
            if known() is frame:
                return made
        made = self._make(frame)
        self._kept = ((weakref.ref(frame), made),)
        return made


_JUDGMENTS = _Last(lambda frame: as_qrels(frame[["query_id", "doc_id", "relevance"]]))
_RUNS = {order: _Last(partial(_in_order, order)) for order in ("trec_eval9", "docno", "file")}
