"""Chosen: documents that were chosen for judging, with what is known of each; a Pool is one."""

from __future__ import annotations

from typing import Protocol

import pandas as pd

from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.pooling.contributions import Contributions


class Chosen(Protocol):
    """Documents that were chosen for judging, see :class:`~pt_reuse.Pool`."""

    def __len__(self) -> int:
        """Return how many documents there are."""

    @property
    def documents(self) -> TopicDocs:
        """Return the documents by topic."""

    @property
    def topics(self) -> list[str]:
        """Return the topic names."""

    @property
    def columns(self) -> pd.DataFrame:
        """Return what is known of each document, one row each."""

    @property
    def entries(self) -> Contributions:
        """Return the contributions to each document."""

    @property
    def run_table(self) -> pd.DataFrame:
        """Return the contributing runs, one row each."""

    @property
    def strategy(self) -> str | None:
        """Return by which strategy they were chosen, None where nobody says."""

    @property
    def unsampled(self) -> Chosen | None:
        """Return what was pooled and not sampled, None where they are no sample."""
