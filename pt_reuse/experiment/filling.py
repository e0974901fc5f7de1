"""The columns of filled holes: what systems would score with their unjudged documents labelled by a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import UNJUDGED, Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, count, examples
from pt_reuse.experiment.columns import Columns, Measures, Values, times_of
from pt_reuse.experiment.systems import KeptColumns
from pt_reuse.judge import AskedJudge, HoleLabels, NamedJudge, Scale, as_judges, labels_of_holes
from pt_reuse.pooling.fit import unjudged_tops, with_unjudged
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import cutoff_of
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import scores_of

#: what every judge is told
IDS = ["qid", "docno"]
#: what topics know best
QUERY = "query"


def checked_filler(fill: Any, judge_rel: Any, kinds: Iterable[str]) -> NamedJudge | None:
    """Return the judge that fills holes, None where no column of filled scores is asked for."""
    if fill is None:
        if "filled" in kinds:
            raise InputError("'filled' needs a judge. Give one by fill=.", argument="reuse")
        if judge_rel is not None:
            raise InputError("judge_rel is of a judge. Give one by fill=.", argument="judge_rel")
        return None
    if "filled" not in kinds:
        problem = "a judge fills holes for the columns of 'filled' alone. Name it in reuse=['filled']."
        raise InputError(problem, argument="fill")
    judges = as_judges(fill, "fill", rel=judge_rel)
    if len(judges) > 1:
        names = examples([judge.name for judge in judges])
        problem = f"one judge fills the holes of an experiment, got {len(judges)}: {names}. Give one of them."
        raise InputError(problem, argument="fill")
    return judges[0]


def filled_columns(
    columns: Columns,
    systems: RunSet,
    qrels: Qrels,
    measures: Measures,
    *,
    judge: NamedJudge,
    people: Scale,
    texts: pd.DataFrame,
) -> Columns:
    """Return columns with ``filled``, ``filled docs`` and ``filled unknown`` besides."""
    longest = max(1, int(systems.field.lengths.max(initial=0)))
    depths = {name: cutoff_of(measure) or longest for name, measure in measures.items()}
    pool = unjudged_tops(systems, qrels, max(depths.values()))
    documents = with_texts(pool.to_frame()[IDS], texts)
    labels = np.full(len(documents), UNJUDGED, dtype=np.int16)
    readable = documents[[column for column in kept_for(judge).names if column in documents]].notna().all(axis=1)
    holes = HoleLabels(judge.name, people.rel if judge.rel is None else judge.rel, labels)
    failure: Exception | None = None
    if readable.any():
        try:
            answered = labels_of_holes(judge, documents[readable], people)
            labels[readable.to_numpy(dtype=bool)] = answered.labels
            holes = replace(answered, labels=labels)
        except Exception as error:  # whatever a model raises: what the systems took hours for is not lost by it
            failure = error
    added = _Holes.of(systems, qrels, pool, labels).columns(measures, depths)
    if failure is not None:
        # a score with nothing filled would pass for a filled one
        unknown = {n: v.apply(lambda each: np.full_like(each, np.nan)) for n, v in added["filled"].items()}
        added["filled"] = unknown
    settings = {"fill": holes.words(), "filled": "the unjudged documents of all systems, to the cutoff"}
    caveats = tuple(_caveats(judge, holes, int((~readable).sum()), failure, qrels.rel))
    return replace(
        columns.with_settings(settings), added={**columns.added, **added}, caveats=(*columns.caveats, *caveats)
    )


def _caveats(
    judge: NamedJudge, holes: HoleLabels, unread: int, failure: Exception | None, rel: int
) -> Iterator[Caveat]:
    """Yield that documents stay unjudged, where the judge does not know some, and what is guessed of its labels."""
    name, unknown, n = judge.name, int((~holes.known).sum()), len(holes.known)
    if failure is not None:
        # the text of another library may hold an address with a key
        what = f"{type(failure).__name__}. Call the judge alone to read it."
        yield Caveat(
            f"{name} failed, nothing is filled",
            f"judge {name!r} failed, so that the columns 'filled' are empty; all others are there. To fill without "
            "running the systems again, give result.runs in their place, and a judge that reads as "
            "judging.WithTexts(judge, ...). It failed with: "
            f"{failure if isinstance(failure, InputError) else what}",
        )
    elif unknown:
        of = f"{unknown:,} of {count(n, 'unjudged document')}"
        not_asked = f" It was not asked for {unread:,} of them, which lack what it reads." if unread else ""
        all_of_them = " So these columns are the scores as they are." if unknown == n else ""
        yield Caveat(
            f"{name} gave no label to {of}",
            f"judge {name!r} gave no label to {of} of the systems; they stay unjudged in the columns 'filled', "
            f"and 'filled unknown' counts them.{not_asked}{all_of_them}",
        )
    unsaid = judge.rel is None and judge.grades is None and judge.judge.declared_labels() is None
    if unsaid and holes.judge_rel < rel and judge.judge.known_pairs() is None:
        yield Caveat(
            f"labels 0 and 1 of {name} taken for binary",
            f"judge {name!r} gave the labels 0 and 1 alone, of which 1 is taken for relevant, where people count "
            f"from {rel}. judge_rel=1 says that this is right, judge_rel={rel!r} that it grades as people do.",
        )


@dataclass(frozen=True)
class _Holes:
    """Unjudged documents of systems: (entries,) row in the judgments `base`, system, rank from 1, and judge's label."""

    systems: RunSet
    base: Qrels
    row: NDArray[np.int64]
    run: NDArray[np.int64]
    rank: NDArray[np.int64]
    label: NDArray[np.int16]

    @classmethod
    def of(cls, systems: RunSet, qrels: Qrels, pool: Pool, labels: NDArray[np.int16]) -> _Holes:
        """Return the entries of the documents of a pool, and their labels."""
        base = with_unjudged(qrels, pool)
        row, document = base.arrays.documents.find(pool.documents), pool.entries.document
        at = np.array([systems.row(name) for name in pool.run_table["name"]], dtype=np.int64)
        rank = pool.entries.rank.astype(np.int64)
        return cls(systems, base, row[document], at[pool.entries.run], rank, labels[document])

    def columns(self, measures: Measures, depths: Mapping[str, int]) -> dict[str, dict[str, Values]]:
        distinct, levels = list(dict.fromkeys(measures.values())), sorted(set(depths.values()))
        known, scores = self.label != UNJUDGED, self._scores(distinct, levels)
        added: dict[str, dict[str, Values]] = {"filled": {}, "filled docs": {}, "filled unknown": {}}
        shape = len(self.base.topics), len(self.systems)
        at = self.base.arrays.documents.topic[self.row] * shape[1] + self.run
        for name, measure in measures.items():
            values = scores[levels.index(depths[name]), [distinct.index(measure)]]
            filled = scores_of(self.systems, self.base, [measure], values, complete=True)
            added["filled"][name] = Values(filled.mean_values[0] * times_of(name, measure, self.base), filled.values[0])
            for column, chosen in (("filled docs", known), ("filled unknown", ~known)):
                numbers = np.bincount(at[chosen & (self.rank <= depths[name])], minlength=shape[0] * shape[1])
                added[column][name] = Values(numbers.reshape(shape).sum(axis=0), numbers.reshape(shape))
        return added

    def _scores(self, measures: list[Any], levels: list[int]) -> NDArray[np.float64]:
        """Return (levels, measures, topics, systems) scores, the documents of all systems filled down to the level."""
        known = self.label != UNJUDGED
        # several systems may have a document
        here = [np.flatnonzero(known & (self.rank <= depth)) for depth in levels]
        entries = [some[np.unique(self.row[some], return_index=True)[1]] for some in here]
        in_set, entry = np.repeat(np.arange(len(levels)), list(map(len, entries))), np.concatenate(entries)
        changes = Changes(len(levels), in_set, self.row[entry], self.label[entry].astype(np.int16))
        scores = np.empty((len(levels), len(measures), len(self.base.topics), len(self.systems)))
        for block in rescore(self.systems, self.base, measures, changes):
            scores[:, :, block.topics.start : block.topics.stop] = block.base
            scores[block.set, :, block.topic] = block.values.transpose(1, 0, 2)
        return scores


# what the judge reads


def kept_for(judge: NamedJudge | None) -> KeptColumns:
    """Return which columns of results are kept for a judge: those that it reads, all texts where nobody says which."""
    if judge is None:
        return KeptColumns()
    if isinstance(judge.judge, AskedJudge):
        return KeptColumns(texts=True)
    return KeptColumns(tuple(column for column in judge.judge.needs() if column not in IDS))


def check_texts(kept: KeptColumns, topics: pd.DataFrame, systems: Mapping[str, Any]) -> None:
    """Raise, before any pipeline is executed, where a judge reads a column that nobody gives."""
    missing = set(kept.names) - set(topics.columns)
    for system in systems.values():
        if isinstance(system, pd.DataFrame):
            missing -= set(system.columns)
        elif missing and isinstance(system, pt.Transformer):
            outputs = pt.inspect.transformer_outputs(system, list(topics.columns), strict=False)
            # who does not say what it returns may return it
            missing = set() if outputs is None else missing - set(outputs)
    if missing:
        raise InputError(
            f"the judge reads {examples(sorted(missing))}, which neither the topics nor any system has. Let pipelines "
            "end with it, such as `>> pt.text.get_text(dataset, 'text')`.",
            argument="fill",
        )


def with_texts(documents: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Return documents with what a judge reads of them: what systems say first, then what their topics do."""
    columns = [column for column in texts if column not in IDS]
    if not columns:
        return documents
    of_topics = texts["docno"].isna() if "docno" in texts else pd.Series(True, index=texts.index)
    read = documents.copy()
    for keys, rows in ((IDS, texts[~of_topics]), (["qid"], texts[of_topics])):
        if not len(rows):
            continue
        # the first that says something
        here = documents.merge(rows.groupby(keys, sort=False)[columns].first().reset_index(), how="left", on=keys)
        for column in columns:
            text, before = here[column], read.get(column)
            if before is not None:
                text = text.fillna(before) if column == QUERY else before.fillna(text)
            read[column] = text
    return read


def texts_of(frames: Iterable[pd.DataFrame], topics: pd.DataFrame, kept: KeptColumns) -> pd.DataFrame:
    """Return what a judge reads: rows of systems, ``qid docno`` and texts; rows of topics, without a docno."""
    parts = [pd.DataFrame(columns=IDS)]
    for keys, some in ((IDS, list(frames)), (["qid"], [topics])):
        for frame in some if kept.any else ():
            columns = [column for column in kept.of(frame) if column not in IDS]
            if columns:
                parts.append(frame[[*keys, *columns]].astype(dict.fromkeys(keys, str)))
    return pd.concat(parts[1:], ignore_index=True) if len(parts) > 1 else parts[0]
