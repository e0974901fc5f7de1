"""LOU: leave-out-uniques as a measure that carries the field, for PyTerrier's own pt.Experiment."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.data.judgments import checked_rel
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, ReuseWarning, count, shown, warn
from pt_reuse.experiment.arguments import as_field
from pt_reuse.pooling.depth import checked_depth, depth_of, depth_pool
from pt_reuse.pooling.fit import MOSTLY
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.caveats import CaveatWarning, grade_of_known, tell
from pt_reuse.scoring.derived import Derived, calculated
from pt_reuse.scoring.measures import MeasureLike, is_measure

#: columns of pt.Experiment's tables that a measure cannot be called by
_TAKEN = ("name", "qid", "measure", "value", "mrt")

#: topics on which two runs have the same documents that are taken for one run
_TOPICS = 5


class _LeaveOutUniques(Derived):
    """The score without the relevant uniques of the system's team in the pool of a field."""

    NAME = "LOU"
    SHORT_DESC = "The score without the relevant documents that the system alone would have put into the pool."
    SUPPORTED_PARAMS: ClassVar[dict[str, Any]] = {
        **Derived.SUPPORTED_PARAMS,
        "field": ir_measures.ParamInfo(dtype=RunSet, required=True, desc="the runs of the collection"),
        "depth": ir_measures.ParamInfo(dtype=int, required=True, desc="documents per run and topic in the pool"),
        "rel": ir_measures.ParamInfo(default=None, desc="lowest label of a relevant unique, 1 where None"),
        "team": ir_measures.ParamInfo(default=None, desc="the team of the system"),
        "name": ir_measures.ParamInfo(default=None, desc="what the measure is called"),
    }

    def __init__(
        self,
        measure: MeasureLike,
        *,
        field: Any,
        depth: int | None = None,
        rel: int | None = None,
        team: str | None = None,
        name: str | None = None,
    ):
        runs = as_field(field)
        if runs is None:
            raise InputError("LOU needs the runs of the collection, got None.", argument="field")
        taken = depth_of(runs, None if depth is None else checked_depth(depth)).value
        teams = sorted(set(runs.run_table["team"].dropna()))
        if team is not None and team not in teams:
            raise InputError(f"the field has no team {shown(team)}.", argument="team")
        if name is not None and (not isinstance(name, str) or not name.strip() or len(name.splitlines()) > 1):
            raise InputError(f"name must be a text of one line, got {shown(name)}.", argument="name")
        if name is not None and (name in _TAKEN or is_measure(name)):
            problem = f"{shown(name)} is a column of pt.Experiment, or another measure. Give a name of its own."
            raise InputError(problem, argument="name")
        own = {"rel": checked_rel(rel), "team": team, "name": name}
        super().__init__(measure, field=runs, depth=taken, **own)
        self._told: set[str] = set()
        # a table would hold one column for this and for a measure of another field with the same name
        in_use = [other for known in _MADE if (other := known()) is not None]
        _MADE[:] = [weakref.ref(measure) for measure in (*in_use, self)]
        if any(repr(other) == repr(self) and not self._is_like(other) for other in in_use):
            warn(
                f"another measure of another field has the name {shown(repr(self))}, and one table holds one of the "
                "two. Give name= to have both in one experiment."
            )

    def __call__(self, **params: Any) -> ir_measures.Measure:
        # another measure is not what the name was given to
        return super().__call__(**({"name": None, **params} if params else {}))

    def __repr__(self) -> str:
        given = {key: repr(self.params[key]) for key in ("rel", "team") if self.params[key] not in (1, None)}
        parts = {"field": count(len(self.params["field"]), "run"), "depth": str(self.params["depth"]), **given}
        made = f"LOU({self.measure!r},{','.join(f'{key}={value}' for key, value in parts.items())})"
        return str(self.params["name"] or made)

    def _is_like(self, other: _LeaveOutUniques) -> bool:
        if other.params["field"] is self.params["field"]:
            return True
        both = ((self._others, other._others), (self._of_team, other._of_team))
        return all(len(ours) == len(theirs) and ours.isin(theirs).all() for ours, theirs in both)

    def _warn(self, what: str, text: str, category: type[ReuseWarning] = CaveatWarning) -> None:
        """Warn, once."""
        if what not in self._told:
            self._told.add(what)
            warn(f"{self!r}: {text}", category=category)

    @cached_property
    def _pool(self) -> Pool:
        return depth_pool(self.params["field"], depth=self.params["depth"])

    @cached_property
    def _others(self) -> pd.MultiIndex:
        """Return topic and document of all that others brought."""
        team = self.params["team"]
        return _pairs(self._pool if team is None else self._pool.without(team))

    @cached_property
    def _of_team(self) -> pd.MultiIndex:
        """Return topic and document of what the team of the system brought alone, by other runs."""
        return _pairs(self._pool).difference(self._others)

    def _tell(self, strangers: int, judged: int, alone: int, alone_judged: int) -> None:
        """Warn where the pool of the field is not what was judged, or the system was not pooled."""
        depth = self.params["depth"]
        if strangers > MOSTLY * judged:
            self._warn(
                "strangers",
                f"{strangers:,} of {judged:,} judged documents ({strangers / judged:.0%}) are within depth {depth} of "
                "no pooled run of the field, nor of the system, so they stay whoever is left out. Check the field and "
                "the depth: infer_pool(runs, qrels) says which runs and which depth fit the judgments.",
            )
        if alone_judged < (1 - MOSTLY) * alone:
            self._warn(
                "not pooled",
                f"of {count(alone, 'document')} that a system alone has in its first {depth}, {alone_judged:,} "
                f"{'is' if alone_judged == 1 else 'are'} judged: it did not contribute to the pool, and only what is "
                "judged can be taken out. That it loses little or nothing says nothing of the judgments; "
                "check_new_run(new, runs, qrels) predicts what such a run would score.",
            )

    def _tell_twin(self, top: pd.DataFrame, qids: Sequence[str]) -> None:
        """Warn where a pooled run has the documents of the system, none of which is then unique."""
        others, theirs = self._by_run
        own = top.assign(key=_keys(top["doc_id"])).groupby("query_id")["key"].sum()
        here = others.reindex(columns=own.index[own.index.isin(qids)])
        if here.shape[1] < _TOPICS:
            return
        for name in here.index[(here == own[here.columns]).all(axis=1)]:
            if self.params["team"] is None or theirs[name] != self.params["team"]:
                self._warn(
                    name,
                    f"the results are those of run {shown(name)} of the field, which has found all of their documents "
                    f"as well, so that none is unique. Leave the run out of field=, or name its team, "
                    f"team={theirs[name]!r}.",
                    ReuseWarning,
                )

    @cached_property
    def _by_run(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Return for each pooled run and topic a sum over the documents that tells them apart, and run -> team."""
        rows = self._pool.contributions()
        sums = rows.assign(key=_keys(rows["docno"])).pivot_table("key", index="name", columns="qid", aggfunc="sum")
        table = self._pool.run_table
        return sums, dict(zip(table["name"], table["team"], strict=True))

    def _values(self, qrels: pd.DataFrame, run: pd.DataFrame, qids: Sequence[str]) -> Mapping[str, float]:
        with np.errstate(over="ignore"):
            rows = run.assign(score=run["score"].astype(np.float32))
        rows = rows.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, False])
        top = rows.groupby("query_id").head(self.params["depth"])
        self._tell_twin(top, qids)
        if self.params["rel"] is None and "grade" not in self._told:
            self._told.add("grade")
            tell(grade_of_known(qrels["query_id"].nunique(), qrels["relevance"].to_numpy()))
        judged, label = pd.MultiIndex.from_frame(qrels[["query_id", "doc_id"]]), qrels["relevance"].to_numpy()
        own = pd.MultiIndex.from_frame(top.loc[top["query_id"].isin(qids), ["query_id", "doc_id"]])
        of_others, of_team, of_system = (judged.isin(pairs) for pairs in (self._others, self._of_team, own))
        alone, strangers = own[~own.isin(self._others)], ~(of_others | of_team | of_system) & (label >= 0)
        self._tell(int(strangers.sum()), int((label >= 0).sum()), len(alone), int(alone.isin(judged[label >= 0]).sum()))
        unique = of_team | (of_system & ~of_others)
        left = qrels[~(unique & (label >= (self.params["rel"] or 1)))]
        return calculated(self._made_of(qrels), left, run, qids)


#: the measures that are in use
_MADE: list[weakref.ref[_LeaveOutUniques]] = []


def _keys(docnos: pd.Series) -> NDArray[np.float64]:
    """Return a number of each docno, whose sums are exact."""
    return (pd.util.hash_array(docnos.astype(object).to_numpy()) >> np.uint64(24)).astype(np.float64)


def _pairs(pool: Pool) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(pool.to_frame()[["qid", "docno"]])


def LOU(  # noqa: N802 - named as a measure
    measure: MeasureLike,
    *,
    field: Any,
    depth: int | None = None,
    rel: int | None = None,
    team: str | None = None,
    name: str | None = None,
) -> ir_measures.Measure:
    """Return a measure: the score of a system without the relevant documents that it alone would have pooled.

    Leave-out-uniques as a measure: it carries the field, so that ``pt.Experiment`` takes it as it is, with batches and
    any part of the topics. It is of a system that contributed to the pool, to the depth of the field's pool: one that
    did not has nothing judged that can be taken out, so it keeps its score, with a warning. Its uniques are the
    documents in its first `depth` that no pooled run of the field (of another team) has there. Those with a label of at
    least `rel` are taken out of the judgments, and the measure is computed again. Documents are ranked by float32
    score, equal ones by descending docno; the field's runs as they were pooled.

    It is a system of its own team unless `team` names one of the field. :func:`pt_reuse.Experiment` with ``field=``
    knows more: ranks, who was pooled, teams and types of several systems.

    Args:
        measure: any measure of ir_measures, or its name.
        field: the collection's runs: a RunSet, or runs in any form, without the system's own run.
        depth: documents per run and topic, >= 1; default that of the field (``field.pool_depth``), else 100.
        rel: the lowest label that is relevant, for which uniques are taken out; default 1.
        team: the team of the system, one of the field; default its own.
        name: what the measure is called in tables; default of its measure, the size of the field, the depth, and `rel`
            and `team` where they are given. Give one where two fields of one size are compared in one experiment.

    Returns:
        Measure: for pt.Experiment and ir_measures; it computes what it is asked, topic by topic.

    Raises:
        InputError: no field, a depth or label that is none, a team that the field does not have, a name that is taken.

    Warns:
        ReuseWarning: the field, its depth or `rel` do not fit the judgments; the system did not contribute to the pool,
            or is a run of the field; another LOU in use has the same name and another field.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> from ir_measures import P
        >>> theirs = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> mine = pd.DataFrame({"query_id": "1", "doc_id": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"query_id": "1", "doc_id": ["d1", "d2", "d3"], "relevance": [1, 1, 0]})
        >>> lou = ptr.LOU(P@2, field={"theirs": theirs}, depth=2)
        >>> lou, (P@2).calc_aggregate(qrels, mine), lou.calc_aggregate(qrels, mine)
        (LOU(P@2,field=1 run,depth=2), 1.0, 0.5)

    Source: as :func:`leave_out_uniques`.
    """
    return _LeaveOutUniques(measure, field=field, depth=depth, rel=rel, team=team, name=name)
