"""Run PyTerrier pipelines on topics, for the frames that a field is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import columns, count, examples, flag, positive, shown
from pt_reuse._errors import InputError, Option
from pt_reuse._text import shorten
from pt_reuse.data.coding import frame_rows
from pt_reuse.data.frame_columns import in_our_columns
from pt_reuse.data.kept_results import BATCH, KeptResults, KeptRun, TopicInputs

#: topics that an error lists
_LISTED = 10
#: the longest error of a pipeline that ours shows, in characters
_LONG = 300


class KeptPipeline(pt.Transformer):
    """Gives the results of a pipeline, those that are kept first, and keeps those that come."""

    def __init__(
        self,
        name: str,
        pipeline: pt.Transformer,
        results: KeptResults,
        *,
        batch_size: int | None = None,
        verbose: bool = False,
    ):
        self.name, self.pipeline, self._results = name, pipeline, results
        self._batch_size, self._verbose = batch_size or BATCH, verbose
        self.kept: KeptRun | None = None

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the results for all topics of a frame; the pipeline runs for those alone that are not kept."""
        if self.kept is None or not len(inp):  # pyterrier inspects transformers by empty frames
            return self.pipeline.transform(inp)
        inputs = TopicInputs.of(inp)
        pieces = list(self.kept.pieces(inputs))
        there = {topic for topics, _ in pieces for topic in topics}
        missing = [topic for topic in inputs.topics if topic not in there]
        progress = {"total": len(inputs.topics), "initial": len(there), "desc": self.name, "unit": "topic"}
        with pt.tqdm(**progress, leave=False, disable=not self._verbose) as bar:
            for at in range(0, len(missing), self._batch_size):
                batch = missing[at : at + self._batch_size]
                results = self._run(batch, inputs, done=len(there) + at)
                try:
                    pieces.append((batch, self.kept.write(batch, inputs, results)))
                except OSError as error:
                    raise self._results.unwritable(error, self.name) from error
                del results
                bar.update(len(batch))
        self.kept.forget_damaged()
        return _in_order([piece for _, piece in pieces], inputs)

    def _run(self, topics: Sequence[str], inputs: TopicInputs, *, done: int) -> pd.DataFrame:
        kept = f" What it gave for {count(done, 'topic')} is kept; call again to go on from there." if done else ""
        try:
            results = self.pipeline.transform(inputs.rows(topics))
        except Exception as error:  # whatever a pipeline raises
            what = shorten(" ".join(f"{type(error).__name__}: {error}".split()).rstrip("."), _LONG)
            problem = f"run {shown(self.name)} failed for the topics {examples(topics, _LISTED)}: {what}.{kept}"
            raise InputError(problem, argument="pipelines") from error
        return self._checked(results, topics)

    def _checked(self, results: Any, topics: Sequence[str]) -> pd.DataFrame:
        """Return results as a frame in PyTerrier's columns; what no field takes is not kept."""
        if not isinstance(results, pd.DataFrame):
            problem = f"run {shown(self.name)} returned a {type(results).__name__} where a frame was expected."
            raise InputError(problem, argument="pipelines")
        if not len(results):
            return results
        results = in_our_columns(results)
        frame_rows(self.name, results, "trec_eval")
        asked = set(topics)
        others = [qid for qid in dict.fromkeys(map(str, results["qid"].tolist())) if qid not in asked]
        if others:
            problem = f"run {shown(self.name)} returned results of {count(len(others), 'topic')} for which it was not "
            problem += f"asked at this moment, {examples(others)}, and results are kept topic by topic. Do without "
            advice = (Option("cache", ...), ", or pass the results as a frame.")
            raise InputError(problem, *advice, argument="pipelines")
        return results

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out: those of the pipeline."""
        return pt.inspect.transformer_outputs(self.pipeline, input_columns)

    def __repr__(self) -> str:
        return repr(self.pipeline)


def _in_order(pieces: Sequence[pd.DataFrame], inputs: TopicInputs) -> pd.DataFrame:
    full = [piece for piece in pieces if len(piece)]
    if not full:
        return pieces[0]
    results = full[0] if len(full) == 1 else pd.concat(full, ignore_index=True)
    numbers = {topic: number for number, topic in enumerate(inputs.topics)}
    place = np.array([numbers[str(qid)] for qid in results["qid"].tolist()])
    return results if (np.diff(place) >= 0).all() else results.iloc[place.argsort(kind="stable")].reset_index(drop=True)


@contextmanager
def pipeline_frames(
    pipelines: Mapping[str, pt.Transformer],
    topics: pd.DataFrame,
    *,
    batch_size: int | None,
    verbose: bool,
    cache: str | Path | None = None,
) -> Iterator[Iterator[pd.DataFrame]]:
    """Give the results of one pipeline after the other, each run when it is asked for; see :meth:`from_pipelines`."""
    if batch_size is not None:
        positive("batch_size", batch_size, "topics")
    if not isinstance(topics, pd.DataFrame):
        raise InputError(f"topics must be a frame with qid and query, got {type(topics).__name__}.", argument="topics")
    columns("topics", topics.columns, ("qid",))
    flag("verbose", verbose)
    for name, pipeline in pipelines.items():
        if not isinstance(pipeline, pt.Transformer):
            raise InputError(f"{shown(name)} must be a pipeline, got {type(pipeline).__name__}.", argument="pipelines")

    def frames(run: Callable[[str], pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from map(run, pt.tqdm(pipelines, desc="pipelines", disable=not verbose))

    if cache is None:
        yield frames(lambda name: _results(pipelines[name], topics, batch_size))
        return
    results = KeptResults(cache)
    with results.opened({str(name): pipeline for name, pipeline in pipelines.items()}, topics) as kept:

        def resumed(name: str) -> pd.DataFrame:
            pipeline = KeptPipeline(str(name), pipelines[name], results, batch_size=batch_size, verbose=verbose)
            pipeline.kept = kept[str(name)]
            return pipeline.transform(topics)

        yield frames(resumed)


def _results(pipeline: pt.Transformer, topics: pd.DataFrame, batch_size: int | None) -> pd.DataFrame:
    if batch_size is None:
        return pipeline.transform(topics)
    return pd.concat(list(pipeline.transform_gen(topics, batch_size=batch_size)), ignore_index=True)
