"""Run PyTerrier pipelines on topics, for the frames that a field is made of."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pyterrier as pt

from pt_reuse._check import columns, flag, positive, shown
from pt_reuse._errors import InputError


def pipeline_frames(
    pipelines: Mapping[str, pt.Transformer], topics: pd.DataFrame, *, batch_size: int | None, verbose: bool
) -> dict[str, pd.DataFrame]:
    """Return the results of each pipeline by its name; see :meth:`RunSet.from_pipelines`."""
    if batch_size is not None:
        positive("batch_size", batch_size, "topics")
    if not isinstance(topics, pd.DataFrame):
        raise InputError(f"topics must be a frame with qid and query, got {type(topics).__name__}.", argument="topics")
    columns("topics", topics.columns, ("qid",))
    flag("verbose", verbose)
    for name, pipeline in pipelines.items():
        if not isinstance(pipeline, pt.Transformer):
            raise InputError(f"{shown(name)} must be a pipeline, got {type(pipeline).__name__}.", argument="pipelines")
    frames = {}
    for name, pipeline in pt.tqdm(pipelines.items(), desc="pipelines", disable=not verbose):
        if batch_size is None:
            frames[name] = pipeline.transform(topics)
        else:
            frames[name] = pd.concat(list(pipeline.transform_gen(topics, batch_size=batch_size)), ignore_index=True)
    return frames
