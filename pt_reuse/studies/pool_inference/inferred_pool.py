"""Who was pooled: which runs must have contributed to the pool behind a set of judgments, and to which depth."""

from __future__ import annotations

import html
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, positive
from pt_reuse._errors import InputError, door
from pt_reuse._result import Result
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.studies.pool_inference.evidence import (
    confusion,
    evidence_table,
    rank_table,
    run_evidence,
    topic_table,
    totals,
    unexplained_documents,
)
from pt_reuse.studies.pool_inference.judged_ranks import JudgedRanks, Settled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEARLY, _MOST = 0.95, 0.5  # share of the judgments explained, and of the pool judged
_DEEPEST = int(np.iinfo(np.int32).max)
#: evidence that leaves it open whether a run was pooled
_UNSURE = ("covered", "needed together")
_NAMED, _ROWS = 6, 8  # names in a line, rows in a table on the screen
_COLUMNS = (
    "name", "team", "type", "pooled", "evidence", "group", "judged_to", "entries", "missing", "first_missing", "alone",
    "nearest", "common",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InferredPool(Result):
    """Which runs must have been pooled, and to which depth, as far as the judgments tell.

    Attributes:
        table: one row per run, in field order: ``name team type``; ``pooled``, what is on record, missing when the
            RunSet marks every run as pooled, as it does when nothing is; ``contributed``, what was inferred;
            ``evidence``, one of

            - ``needed``: judged documents in the pool that no other run in it has;
            - ``needed together``: documents that none of the needed runs has, but several others: at least one run
              of each ``group`` (numbered from 1) contributed, the judgments do not tell which;
            - ``covered``: judged as deep, but the runs above explain all its documents: pooled or judged by accident;
            - ``not pooled``: unjudged documents down to the depth, more than tolerated, or more than the judged ones
              that it alone would explain;
            - ``no documents``: it retrieves nothing for these topics;

            ``judged_to``, the largest depth to which it is judged; ``entries`` and ``missing``, its documents down to
            the depth and how many of them are unjudged; ``first_missing``, its best rank with an unjudged document;
            ``alone`` and ``alone_unjudged``, judged and unjudged documents down to the depth that no other run of the
            pool has; ``nearest``, the contributor with most of its documents, and ``common``, their share.
        by_topic: one row per topic: ``qid``; ``depth``, the one used, 0 when no run has the topic; ``own_depth``, at
            which the pool of these runs fits this topic best; ``judged`` documents and how many are ``explained``; of
            the others those that a run of the pool has below the depth (``deeper``), that only other runs have
            (``other``), that no run has (``nowhere``); ``unjudged``, documents in the pool without judgment.
        by_rank: one row per rank: documents of the runs judged as deep there (``entries``) and the share of them that
            is ``judged``; the same of all other runs (``other_entries``, ``other_judged``); the documents that no run
            judged as deep has at a better rank (``new``) and the share of them that is judged (``new_judged``): the
            latter falls at the depth of a pool. NaN where there is none.
        unexplained: the judged documents that are not in the pool: ``qid docno label``, ``origin`` (``"below the
            depth"`` of a run judged as deep, ``"other run"``, ``"no run"``), ``best_rank`` and ``best_run``, who
            retrieves it best.
        confusion: the record against the inference: runs by ``pooled`` and evidence; one row with ``pooled`` missing
            when nothing is on record.
        summary: the numbers behind the headline, one row: ``judged explained deeper other nowhere``; ``unjudged`` in
            the pool; ``at_depth`` and ``below``, the share that is judged of the documents that the runs judged as
            deep have at the depth and one rank below, and ``new_at_depth``, ``new_below``, the same of documents that
            are new there; ``depth_up_to``, the largest depth for all topics that fits as well.
        depth: the depth, None when topics differ; 0 when no pool was found.
        contributors: the runs that are needed, alone or together.
        certainty: how far the pool explains the judgments and the judgments fill the pool, in words.

    The runs *judged as deep* are those that are needed, needed together or covered. The pool is theirs; the covered add
    nothing to it.
    """

    title: ClassVar[str] = "Inferred pool"

    by_topic: pd.DataFrame
    by_rank: pd.DataFrame
    unexplained: pd.DataFrame
    confusion: pd.DataFrame
    summary: pd.DataFrame
    depth: int | None
    contributors: list[str]
    certainty: str

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table, "by_topic": self.by_topic, "by_rank": self.by_rank, "unexplained": self.unexplained,
            "confusion": self.confusion, "summary": self.summary,
        }  # fmt: skip

    def headline(self) -> str:
        """Return depth, contributors and what they explain; whether that is a small part only."""
        row = self.summary.iloc[0]
        explained = f"{int(row['explained']):,} of {count(int(row['judged']), 'judgment')} explained"
        if self._certain == "partial":
            explained += " (partial)"
        if self._certain == "none":
            given = f" to depth {self.depth:,}" if self.depth else ""
            return f"no pool found{given}, {explained}"
        covered = int((self.table["evidence"] == "covered").sum())
        more = f" ({covered:,} more {'is' if covered == 1 else 'are'} judged as deep)" if covered else ""
        runs = f"{len(self.contributors):,} of {count(len(self.table), 'run')} contributed{more}"
        return f"{_depths_in_words(self.by_topic)}, {runs}, {explained}"

    @property
    def _certain(self) -> str:
        return self.certainty.partition(":")[0]

    def _unsure(self) -> list[str]:
        """Return a line for the covered runs, and one for each group of runs needed together."""
        lines = []
        for evidence in _UNSURE:
            rows = self.table[self.table["evidence"] == evidence]
            groups = [rows] if evidence == "covered" else [group for _, group in rows.groupby("group")]
            lines += [f"{evidence}: {examples(group['name'], _NAMED)}" for group in groups if len(group)]
        rest = len(lines) - _NAMED
        return [*lines[:_NAMED], f"{count(rest, 'more group')} in .table"] if rest > 0 else lines

    def _shown(self) -> pd.DataFrame:
        """Return the table with the runs first of which it is open whether they were pooled."""
        rank = self.table["evidence"].map({evidence: at for at, evidence in enumerate(_UNSURE)}).fillna(len(_UNSURE))
        shown = self.table.loc[rank.sort_values(kind="stable").index, list(_COLUMNS)]
        return shown[[column for column in shown if shown[column].notna().any()]]

    def __repr__(self) -> str:
        unsure = "".join(f" {line}." for line in self._unsure())
        return f"{self.title}: {self.headline()}. {self.certainty}{unsure} [{self._settings_line()}]"

    def __str__(self) -> str:
        head = [f"{self.title}: {self.headline()}", self.certainty, *self._unsure(), f"[{self._settings_line()}]"]
        shown = self._shown().astype(object)
        shown = shown.where(shown.notna(), "-").head(_ROWS)
        rest = len(self.table) - len(shown)
        more = [f"... and {rest:,} more rows in .table"] if rest > 0 else []
        return "\n".join([*head, shown.to_string(index=False, float_format="{:.4f}".format), *more])

    def _repr_html_(self) -> str:
        lines = [html.escape(line) for line in (self.certainty, *self._unsure())]
        head, settings = html.escape(f"{self.title}: {self.headline()}"), html.escape(self._settings_line())
        shown = self._shown().astype(object)
        shown = shown.where(shown.notna(), "-")
        body = shown.head(2 * _ROWS).to_html(index=False, escape=True, float_format="{:.4f}".format)
        rest = len(shown) - 2 * _ROWS
        more = f"<p>... and {rest:,} more rows in .table</p>" if rest > 0 else ""
        return f"<p><b>{head}</b><br>{'<br>'.join(lines)}<br><small>{settings}</small></p>{body}{more}"

    @door
    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the share of judged documents by rank, of the runs judged as deep and all others."""
        from pt_reuse.plots.inference import plot_judged_by_rank

        return plot_judged_by_rank(self.by_rank, self.by_topic, ax=ax)


@door
def infer_pool(runs: RunSet, qrels: Any, *, depth: int | str | None = None, tolerance: float = 0.0) -> InferredPool:
    """Say which runs must have contributed to the pool behind a set of judgments, and to which depth.

    A run *is judged to depth k* when all its first k documents of every topic are judged. For each k, the runs judged
    to k pool their first k documents; the depth is the k whose pool differs least from the judged set, the smallest
    of several. Every pair of topic and document with any label counts as judged, -1 (pooled, not judged) too.

    Args:
        runs: the field; the more of the submitted runs, the surer the answer. Its order decides who is at rank k.
        qrels: the judgments: a Qrels, a frame or a file; its topics are used.
        depth: None (default) finds one depth for all topics; ``"topic"`` one for each topic, for pools that were
            made as deep as a topic's budget allowed; a whole number is taken as it is.
        tolerance: share of a run's documents down to the depth that may be unjudged, at least 0 (default, strict) and
            below 1; for collections whose documents were dropped or renamed after pooling. A run that alone brings
            more unjudged than judged documents is not taken as pooled all the same.

    Returns:
        InferredPool: ``.depth``, ``.contributors`` (for ``runs.with_metadata(pooled=...)``), ``.certainty``,
        ``.table``, ``.by_topic``, ``.by_rank``, ``.unexplained``, ``.confusion``, ``.plot()``.

    Raises:
        InputError: no judgments, no topic in common, a depth or tolerance out of range.

    Example:
        >>> import pt_reuse as ptr
        >>> from pt_reuse.studies.pool_inference.inferred_pool import infer_pool
        >>> field = ptr.simulate_field(seed=7)
        >>> found = infer_pool(field.runs, field.qrels)
        >>> found.depth, len(found.contributors), len(found.unexplained)
        (10, 16, 0)
        >>> found.confusion["needed"].tolist()
        [16, 0]

    Source: the record of TREC-8 ad hoc, which this gives back: depth 100, 71 of 129 runs, all 86,830 judgments.
    """
    if not isinstance(runs, RunSet):
        swapped = " The runs come first, then the qrels." if isinstance(qrels, RunSet) else ""
        raise InputError(
            f"runs must be a RunSet (read_runs or get_runs() makes one), got {type(runs).__name__}.{swapped}"
        )
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= tolerance < 1:
        raise InputError(f"tolerance must be a share, at least 0 and below 1, got {tolerance!r}.")
    if isinstance(depth, str) and depth != "topic":
        raise InputError(f"depth must be None, 'topic' or a whole number, got {depth!r}.")
    if depth is not None and not isinstance(depth, str):
        depth = positive("depth", depth, "documents per run and topic")
        if depth > _DEEPEST:
            raise InputError(f"depth must be at most {_DEEPEST:,}, got {depth!r}.")
    qrels = as_qrels(qrels)
    _check_overlap(runs, qrels)

    ranks = JudgedRanks(runs, qrels, float(tolerance))
    if depth is None:
        settled = ranks.common_depth()
    elif depth == "topic":
        settled = ranks.own_depths()
    else:
        settled = ranks.settle(ranks.depths(int(depth)), int(depth))
    evidence, group = run_evidence(settled, ranks.lengths > 0)
    table = evidence_table(runs, ranks, settled, evidence, group)
    unexplained = unexplained_documents(runs, qrels, ranks, settled)
    by_topic = topic_table(qrels, ranks, settled, unexplained)
    used = by_topic["depth"][[topic is not None for topic in ranks.topics]]
    summary = totals(ranks, settled, by_topic)
    better = ranks.own_depths() if depth is None and settled.difference else settled
    how = {None: "inferred", "topic": "inferred for each topic"}.get(depth, "given")
    return InferredPool(
        table=table, by_topic=by_topic, by_rank=rank_table(ranks, settled.runs), unexplained=unexplained,
        summary=summary, contributors=table["name"][table["contributed"]].tolist(),
        confusion=confusion(table), depth=int(used.iloc[0]) if len(set(used)) == 1 else None,
        certainty=_certainty(summary, settled, better),
        settings={
            "depth": _depths_in_words(by_topic).removeprefix("depth ") + f" ({how})", "tolerance": float(tolerance),
            "order": runs.order, "topics": len(qrels.topics), "judged": "any label", "record": _record(table),
        },
    )  # fmt: skip


def _check_overlap(runs: RunSet, qrels: Qrels) -> None:
    if not len(qrels):
        raise InputError("the qrels hold no judgments, so there is no pool to infer.")
    if not set(runs.topics) & set(qrels.topics):
        raise InputError(
            f"the runs and the qrels have no topic in common: runs {examples(runs.topics)}; "
            f"qrels {examples(qrels.topics)}. Are they of the same track, and are the topic ids written alike?"
        )


def _certainty(summary: pd.DataFrame, settled: Settled, better: Settled) -> str:
    row = summary.iloc[0]
    judged, explained, unjudged = int(row["judged"]), int(row["explained"]), int(row["unjudged"])
    if not settled.runs.any():
        where = f"to depth {int(settled.depths.max())}" if settled.depths.any() else "to any depth"
        words = (
            f"none: no run is judged closely enough {where}. The judgments are a sample, or of other runs, or "
            "documents were dropped or renamed after pooling (try a tolerance)."
        )
    elif explained == judged and not unjudged:
        words = "exact: the pool of these runs is the judged set."
    else:
        share = min(explained / judged, explained / (explained + unjudged))
        word = "nearly exact" if share >= _NEARLY else "most" if share >= _MOST else "partial"
        words = f"{word}: these runs explain {_percent(explained, judged)} of the judgments"
        if unjudged:
            part = _percent(unjudged, explained + unjudged)
            lack = "lacks" if unjudged == 1 else "lack"
            words += f", and {count(unjudged, 'document')} in their pool ({part}) {lack} a judgment"
        words += (
            "; the rest has another origin, or some pooled runs are not in the field or not recognised."
            if explained < judged
            else "."
        )
    if better.difference < settled.difference:
        low, high = _range(better.depths)
        words += f" With a depth for each topic ({low} to {high}) a pool fits better: depth='topic'."
    return words


def _range(depths: NDArray[np.int64]) -> tuple[int, int]:
    used = depths[depths > 0]
    return int(used.min(initial=int(used.max(initial=0)))), int(used.max(initial=0))


def _depths_in_words(by_topic: pd.DataFrame) -> str:
    low, high = _range(by_topic["depth"].to_numpy())
    return f"depth {high}" if low == high else f"depth {low} to {high} by topic"


def _percent(part: int, whole: int) -> str:
    """Write a share; one that is not all or nothing never looks like it."""
    if 0 < part < whole:
        return "below 0.1%" if part / whole < 0.001 else f"{min(part / whole, 0.999):.1%}"
    return "all" if part else "none"


def _record(table: pd.DataFrame) -> str:
    if table["pooled"].isna().all():
        return "unknown (the RunSet marks every run as pooled)"
    return f"{int(table['pooled'].sum()):,} of {count(len(table), 'run')} pooled"
