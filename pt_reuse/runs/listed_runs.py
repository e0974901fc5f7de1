"""ListedRuns: the runs of a field with their lists of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import positive
from pt_reuse._errors import door
from pt_reuse.engine import tokens
from pt_reuse.engine.lists import ranges
from pt_reuse.engine.open_field import AnyField
from pt_reuse.runs.dropped import Dropped
from pt_reuse.runs.frames import run_frame, run_sizes
from pt_reuse.runs.how_pooled import UNKNOWN, HowPooled
from pt_reuse.runs.named_runs import NamedRuns
from pt_reuse.runs.stored_run import StoredRun


class ListedRuns(NamedRuns):
    """Runs with a list of documents for each topic, and what is on record of them.

    Args:
        field: the lists.
        run_table: one row per run, with ``name team type pooled``.
        order: the ranking order in which the lists stand.
        how_pooled: in which order and to which depth the collection pooled the runs, as far as somebody says.
        dropped: what was left out when the runs were read.
    """

    def __init__(
        self,
        field: AnyField,
        run_table: pd.DataFrame,
        order: str,
        how_pooled: HowPooled = UNKNOWN,
        dropped: Dropped | None = None,
    ):
        super().__init__(run_table)
        self.field = field
        self.order = order
        self.how_pooled = how_pooled
        self._dropped = Dropped.none() if dropped is None else dropped

    @door
    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return one run as a PyTerrier frame: ``qid docno rank score name``, ranks from 0."""
        return run_frame(self.field, self.row(name), name)

    def systems(self) -> dict[str, pt.Transformer]:
        """Return each run as a system that looks its results up, so that an experiment has it beside live ones.

        A system returns ``qid docno rank score`` and the further columns of the topics; of a topic that its run lacks
        it returns nothing. Its documents stand in :attr:`order`, and scores say so: PyTerrier and ir_measures sort by
        score, in float32, so that a score which would not give the order (a tie, or runs in the order of their files)
        is lowered to the next smaller number. So ``pt.Experiment`` has the scores of :func:`score`.

        Returns:
            dict: run name -> Transformer, in field order.

        Example:
            >>> import pyterrier as pt
            >>> demo = pt.get_dataset("reuse:demo")
            >>> systems = {"mine": demo.get_dense_retriever(), **demo.get_runs(type="lexical").systems()}
            >>> found = pt.Experiment(systems, demo.get_topics(), demo.get_judgments(), ["ndcg_cut_10"])
            >>> found["name"].tolist()[:2]
            ['mine', 'furrow-bm25-desc']
        """
        return {name: StoredRun(self.field, row, name) for row, name in enumerate(self.names)}

    def to_frame(self) -> pd.DataFrame:
        """Return all runs as one PyTerrier frame: ``qid docno rank score name``."""
        return pd.concat([self[name] for name in self.names], ignore_index=True)

    @property
    def topics(self) -> list[str]:
        """Return the topic names, in natural order."""
        return list(self.field.topics)

    @door
    def docnos(self, *, depth: int | None = None) -> list[str]:
        """Return the documents that the runs retrieve, whatever the topic, each once, in the order of their bytes.

        Args:
            depth: only the first documents of each list, >= 1; default all of them. The documents to depth 100 are a
                small corpus: ``runs.restrict(runs.docnos(depth=100))``.

        Example:
            >>> import pandas as pd, pt_reuse as ptr
            >>> a = pd.DataFrame({"qid": "1", "docno": ["d2", "d1"], "score": [2.0, 1.0]})
            >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
            >>> ptr.RunSet.from_frames({"A": a, "B": b}).docnos(depth=1)
            ['d2']
        """
        most = None if depth is None else positive("depth", depth, "documents per run and topic")
        names: set[bytes] = set()
        for i in range(len(self.field.parts)):
            block = self.field.part(i)
            lengths = np.diff(block.starts)
            lengths = lengths if most is None else np.minimum(lengths, most)
            retrieved = np.zeros(len(block.vocabulary), dtype=bool)
            retrieved[block.docs_of(ranges(block.starts[:-1], lengths))] = True
            names.update(tokens.names_of(block.vocabulary[retrieved]))
        return tokens.as_texts(sorted(names))

    def sizes(self) -> pd.DataFrame:
        """Return per run: ``name team type pooled topics rows shortest longest`` and all further metadata."""
        return pd.concat([self.run_table, run_sizes(self.field)], axis=1)

    @property
    def pool_order(self) -> str | None:
        """Return the order in which the collection made its pool of the runs; None where it is `order`, too."""
        return self.how_pooled.order

    @property
    def pool_depth(self) -> int | None:
        """Return to which depth the collection pooled; None where nobody says."""
        return self.how_pooled.depth

    @property
    def dropped(self) -> pd.DataFrame:
        """Return what was left out when the runs were read, one row per line, row of a frame, or whole file.

        The columns are ``file line reason name qid docno``: the line is <NA> for a file without any run line, and for a
        row of a frame; ``name`` is the run, ``qid`` and ``docno`` say which document of a list stood there again. After
        :meth:`select` it is that of the runs selected, and the whole files.
        """
        return self._dropped.frame.copy()

    @property
    def settings(self) -> dict[str, Any]:
        """Return what the settings of a result say of the field, its order and how much was left out, if anything."""
        return {"order": self.order, **({"dropped": self.left_out} if self.left_out else {})}

    @property
    def left_out(self) -> str:
        """Return how much `dropped` is, in words such as ``3 lines and 1 file``; empty where nothing was left out."""
        return self._dropped.in_words()
