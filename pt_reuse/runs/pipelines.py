"""Run PyTerrier pipelines on topics, for the frames that a field is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyterrier as pt

from pt_reuse._check import columns, flag, positive, shown
from pt_reuse._errors import InputError
from pt_reuse.runs.kept_pipeline import KeptPipeline
from pt_reuse.runs.kept_results import KeptResults

#: the columns that a field is made of
_COLUMNS = ("qid", "docno", "score", "rank")


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
            pipeline = KeptPipeline(
                str(name), pipelines[name], results, batch_size=batch_size, only=_COLUMNS, verbose=verbose
            )
            pipeline.kept = kept[str(name)]
            return pipeline.transform(topics)

        yield frames(resumed)


def _results(pipeline: pt.Transformer, topics: pd.DataFrame, batch_size: int | None) -> pd.DataFrame:
    if batch_size is None:
        return pipeline.transform(topics)
    return pd.concat(list(pipeline.transform_gen(topics, batch_size=batch_size)), ignore_index=True)
