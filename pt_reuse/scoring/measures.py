"""Measures: the names users give, the native kernel behind each, and the ir_measures measures that are ours."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from copy import copy
from functools import lru_cache
from importlib import import_module
from io import StringIO
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import Metric
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import Spec
from pt_reuse.errors import InputError, did_you_mean, examples, listed, warn

#: no measure has these in its name
_NO_PART = re.compile(r"[#;\\]|[0-9]_[0-9]|\b0[xXoObB]")
#: names of trec_eval, with a cutoff or several
_OF_TREC = re.compile(r"(?:11pt_avg|[A-Za-z_]+?)(?:[_.]-?[0-9]+(?:\.[0-9]+)?(?:,-?[0-9]+(?:\.[0-9]+)?)*)?")
#: a measure's name, and a cutoff or parameters behind it
_NAME = re.compile(r"([^\W\d]+?)(_?(?:\W.*|(\d+)))?")
#: how a measure is written in results, as ir_measures writes it
MeasureLike = Any


class OwnMeasure(ir_measures.Measure):
    """A measure of ours, which is equal to its name: pt.GridSearch looks a measure up among the names of its table."""

    def __eq__(self, other: object) -> bool:
        return repr(self) == other if isinstance(other, str) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    #: what is known of the judgments of which those given are a part
    _whole: Any = None

    def of_judgments(self, whole: Any) -> OwnMeasure:
        """Return the same measure for parts of judgments of which all is known, a Whole, and was told."""
        known = copy(self)
        known._whole = whole._replace(relevant_only=False)
        return known

    def _tell_relevant_only(self, qrels: pd.DataFrame) -> None:
        # PyTerrier loads this file at its start
        import_module("pt_reuse.scoring.caveats").tell_of_frame(self, qrels, self._whole)


class _Unjudged(OwnMeasure):
    """The share of the top k documents that have no judgment: with high values the scores are unreliable.

    ``Unjudged@k`` = 1 - judged / min(k, returned), where *judged* means a label of at least ``min_label``. It is the
    complement of ``Judged@k`` of ir_measures, with two differences: that one counts the labels -1 (pooled but not
    judged) and -2 as judged (``min_label=-2`` does, too), and breaks score ties by ascending docno, where this one
    follows the order of AP and P (float32 scores, docno descending; in `pt_reuse.score` the order of the RunSet). A
    topic without results has 1, as Judged has 0. ``Unjudged(of_cutoff=True)@k`` divides the number of unjudged
    documents by k, as trec_eval 10 does, so that places a short list leaves empty count as judged, and a topic without
    results has 0.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.Unjudged@10, ptr.Unjudged(of_cutoff=True)@10
        (Unjudged@10, Unjudged(of_cutoff=True)@10)
    """

    NAME = "Unjudged"
    __name__ = "Unjudged"
    PRETTY_NAME = "Unjudged rate at k"
    SHORT_DESC = "The share of the top k documents that have no judgment."
    SUPPORTED_PARAMS = {
        "cutoff": ir_measures.ParamInfo(dtype=int, required=False, desc="ranking cutoff threshold"),
        "min_label": ir_measures.ParamInfo(dtype=int, default=0, desc="lowest label that counts as judged"),
        "of_cutoff": ir_measures.ParamInfo(dtype=bool, default=False, desc="divide by the cutoff, not by the returned"),
    }
    RUN_INPUTS = ("query_id", "doc_id", "score")
    QREL_INPUTS = ("query_id", "doc_id", "relevance")

    @property
    def DEFAULT(self) -> float:  # noqa: N802 - ir_measures' name
        """Return the value of a topic without results."""
        return 0.0 if self.params.get("of_cutoff", False) else 1.0

    def runtime_impl(self, qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[Metric]:
        """Yield one value per topic that both the qrels and the run have; called by ir_measures."""
        cutoff, of_cutoff = self.params.get("cutoff"), self.params.get("of_cutoff", False)
        fault = _fault(self)
        if fault:
            raise InputError(fault)
        self._tell_relevant_only(qrels)
        judged = qrels.loc[qrels["relevance"] >= self.params.get("min_label", 0), ["query_id", "doc_id"]]
        rows = run.loc[run["query_id"].isin(set(qrels["query_id"])), ["query_id", "doc_id", "score"]]
        with np.errstate(over="ignore"):
            rows = rows.assign(score=rows["score"].astype(np.float32))
        rows = rows.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, False])
        if cutoff is not None:
            rows = rows.groupby("query_id").head(cutoff)
        pairs = pd.MultiIndex.from_frame(judged)
        rows = rows.assign(judged=pd.MultiIndex.from_frame(rows[["query_id", "doc_id"]]).isin(pairs))
        for qid, group in rows.groupby("query_id")["judged"]:
            n = len(group)
            yield Metric(qid, self, float((n - group.sum()) / cutoff if of_cutoff else 1.0 - group.sum() / n))


Unjudged = _Unjudged()
# lets ir_measures.parse_measure("Unjudged@10") and its command line find it
ir_measures.measures.registry["Unjudged"] = Unjudged


def parse_measures(measures: MeasureLike | Iterable[MeasureLike]) -> list[ir_measures.Measure]:
    """Return ir_measures measures for measures, their names (``"nDCG@10"``) or trec_eval's (``"ndcg_cut_10"``)."""
    if isinstance(measures, str | ir_measures.Measure):
        measures = [measures]
    elif not isinstance(measures, Iterable):
        raise _unknown(measures)
    parsed: list[ir_measures.Measure] = []
    for measure in measures:
        named = _found(measure) if isinstance(measure, str) else [measure]
        if not named or not isinstance(named[0], ir_measures.Measure):
            raise _unknown(measure)
        parsed += named
    if not parsed:
        raise InputError("no measure given. Give one or several, such as AP or nDCG@10.", argument="measures")
    for measure in parsed:
        try:
            measure.validate_params()
        except AssertionError:
            known = measure.SUPPORTED_PARAMS
            wrong = [name for name in measure.params if name not in known]
            wrong += [name for name, info in known.items() if not info.validate(measure[name])]
            kinds = [
                f"{name} ({'/'.join(info.choices) if isinstance(info.choices, list) else info.dtype.__name__})"
                for name, info in known.items()
            ]
            raise InputError(
                f"measure {measure.NAME}: the parameter {wrong[0]} is unknown, wrong or missing. It has "
                f"{listed(kinds)}, given as in nDCG@10 or AP(rel=2).",
                argument="measures",
            ) from None
        fault = _fault(measure)
        if fault:
            raise InputError(fault, argument="measures")
    return list(dict.fromkeys(parsed))


def measure_among(names: Sequence[str], measure: MeasureLike | None) -> str:
    """Return the name of a measure that is among those given, the first of them for None."""
    # a frame of scores may have measures that nobody here knows
    own = isinstance(measure, str) and measure in names
    name = names[0] if measure is None else measure if own else repr(parse_measures(measure)[0])
    if name not in names:
        raise InputError(f"{name} was not computed; there is {examples(names, 12)}.", argument="measure")
    return name


def canonical_name(name: str) -> str:
    """Return a measure's name as ir_measures writes it, ``"AP"`` for ``"map"``; one that it does not know, as given."""
    return repr(_found(name)[0]) if is_measure(name) else name


def is_measure(name: Any) -> bool:
    """Return whether a name is that of one measure."""
    try:
        return isinstance(name, str) and len(_found(name)) == 1
    except InputError:
        return False


def is_of_subtopics(measure: ir_measures.Measure) -> bool:
    """Return whether a measure, or what it is made of, asks for which subtopic of its topic a document is relevant."""
    of = made_of(measure)
    return measure.NAME in _OF_SUBTOPICS or (of is not measure and is_of_subtopics(of))


def check_no_subtopics(measures: Iterable[ir_measures.Measure], argument: str = "measures") -> None:
    """Raise where a measure is of subtopics: judgments as they are read here have one label per document."""
    found = [measure for measure in measures if is_of_subtopics(measure)]
    if found:
        raise InputError(
            f"{examples(found)} {'is' if len(found) == 1 else 'are'} of subtopics, and judgments are read without "
            "them. Leave it out; pt.Experiment and ir_measures compute it of a frame with a column 'iteration'.",
            argument=argument,
        )


def adds_up(measures: Iterable[MeasureLike]) -> NDArray[np.bool_]:
    """Return (measures,): which are added up over topics, as counts are; the others are averaged.

    Example:
        >>> adds_up([ir_measures.NumRet, "NumRel", "AP", "of somebody's own"]).tolist()
        [True, True, False, False]
    """
    return np.array([_adds_up(measure) for measure in measures], dtype=np.bool_)


@lru_cache(maxsize=1024)
def _adds_up(measure: MeasureLike) -> bool:
    if not isinstance(measure, ir_measures.Measure):
        if not is_measure(measure):
            return False
        (measure,) = _found(measure)
    return isinstance(measure.aggregator(), ir_measures.SumAgg)


def _found(name: str) -> list[ir_measures.Measure]:
    """Return the measures of a name, none where nobody knows it."""
    # the parsers read a part of a name, `P_1_0` as P@1, and what Python takes for a comment or a number
    if name != name.strip() or not name.isprintable() or not name.isascii() or _NO_PART.search(name):
        return []
    derived = _derived(name)
    if derived is not None:
        return [derived]
    try:
        with warnings.catch_warnings():
            # its parser asks for what Python 3.12 calls deprecated; that is nothing that a user could mend
            warnings.simplefilter("ignore", DeprecationWarning)
            return [ir_measures.parse_measure(name)]
    except (NameError, ValueError, SyntaxError, AssertionError, KeyError, AttributeError, TypeError):
        pass
    if not _OF_TREC.fullmatch(name):
        return []
    try:
        with redirect_stdout(StringIO()) as said:
            found = list(ir_measures.parse_trec_measure(name))
    except (ValueError, KeyError, AssertionError):
        return []
    if found and said.getvalue():
        warn(f"{name!r} of trec_eval: {said.getvalue().strip()}.")
    return found


def _derived(name: str) -> ir_measures.Measure | None:
    """Return the measure of a name such as ``"Low(nDCG@10)"``, which is made of another; None for other names."""
    try:
        node = ast.parse(name.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _DERIVED):
        return None
    try:
        options = {str(option.arg): ast.literal_eval(option.value) for option in node.keywords}
        (of,) = node.args
    except ValueError:
        raise InputError(
            f"{name!r} names no measure: {node.func.id} is of one measure, as in '{node.func.id}(nDCG@10)'.",
            argument="measures",
        ) from None
    # bounds, and what they need, are loaded only when somebody asks for them
    make = import_module("pt_reuse.scoring.derived").BY_NAME[node.func.id]
    try:
        found: ir_measures.Measure = make(ast.get_source_segment(name.strip(), of), **options)
    except TypeError:
        raise InputError(f"{name!r}: {node.func.id} has no option {examples(options)}.", argument="measures") from None
    return found


def _unknown(name: Any) -> InputError:
    several = re.split(r",?\s+", name.strip()) if isinstance(name, str) else []
    advice = f" Several are given as measures={several!r}." if len(several) > 1 else ""
    if isinstance(name, str) and (parts := _NAME.fullmatch(name)):
        # what trec_eval knows is asked of those who wrap it only where a name is unknown; with the cutoff as given
        known = [*ir_measures.measures.registry, *_DERIVED, *sorted(import_module("pytrec_eval").supported_measures)]
        tails = [parts[2] or "", f"@{parts[3]}"] if parts[3] else [parts[2] or ""]
        near = did_you_mean(name, filter(is_measure, (f"{measure}{tail}" for measure in known for tail in tails)))
        advice = near + advice
    return InputError(
        f"unknown measure {name!r}. Give a measure of ir_measures or its name, such as AP, 'nDCG@10', "
        f"'P(rel=2)@10', or a name of trec_eval, such as 'map' or 'ndcg_cut_10'.{advice}",
        argument="measures",
    )


def _fault(measure: ir_measures.Measure) -> str | None:
    """Tell what no provider checks and would turn into a wrong number or a crash."""
    params = measure.params
    for name, lowest in (("cutoff", 1), ("rel", 1 if measure.NAME in _NATIVE else None)):
        value = params.get(name)
        if lowest is not None and isinstance(value, int) and value < lowest:
            return f"measure {measure!r}: {name} must be at least {lowest}, got {value}."
    if measure.NAME == "RBP" and not 0 <= params.get("p", 0.8) < 1:
        return f"measure {measure!r}: p must be at least 0 and below 1, got {params['p']!r}."
    if measure.NAME == "Unjudged" and params.get("of_cutoff") and params.get("cutoff") is None:
        return "Unjudged(of_cutoff=True) divides by the cutoff, so it needs one: Unjudged(of_cutoff=True)@10."
    return None


#: measures that need judgments by subtopic, as NIST's ndeval computes them
_OF_SUBTOPICS = {"alpha_DCG", "alpha_nDCG", "AP_IA", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA", "StRecall"}
#: what is made of another measure
_DERIVED = ("Low", "High", "Residual", "Condensed")
#: measures with a kernel of their name
_NATIVE = ("AP", "P", "R", "nDCG", "RR", "Rprec", "Bpref", "RBP", "Success", "Judged", "Unjudged")


def native_spec(measure: ir_measures.Measure) -> Spec | None:
    """Return how the engine computes a measure that `parse_measures` let pass, None when ir_measures itself must."""
    params = dict(measure.params)
    rel = params.pop("rel", None if measure.NAME == "RBP" else 1)
    if measure.NAME not in _NATIVE or rel is None:
        return None
    if measure.NAME == "Judged":
        params["min_label"] = -(2**15) + 1  # ir_measures counts every document that the qrels hold
    gains = params.pop("gains", {})
    params["exponential"] = params.pop("dcg", "log2") == "exp-log2"
    return Spec(measure.NAME.lower(), rel=rel, gains=tuple(sorted(gains.items())), **params)


def spec_of(measure: ir_measures.Measure) -> Spec:
    """Return the kernel of a measure that has one."""
    spec = native_spec(measure)
    if spec is None:
        raise TypeError(f"{measure!r} has no kernel")
    return spec


def cutoff_of(measure: ir_measures.Measure) -> int | None:
    """Return the cutoff of a measure, or of the one that it is made of; None when it has none."""
    return made_of(measure).params.get("cutoff")


def made_of(measure: ir_measures.Measure) -> ir_measures.Measure:
    """Return the measure that another one is made of, as nDCG@10 of Low(nDCG@10); any other itself."""
    found: ir_measures.Measure = measure.params.get("measure", measure)
    return found
