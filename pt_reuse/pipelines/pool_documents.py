"""PoolDocuments: the documents that several pipelines have among their first, as one step of a pipeline."""

from __future__ import annotations

from itertools import chain, product
from typing import Any, ClassVar

import pandas as pd
import pyterrier as pt

from pt_reuse._check import examples, listed, positive, told
from pt_reuse._errors import InputError, door

#: what a pool says of each document besides what the pipelines do
_ADDED = ["best_rank", "runs", "score", "rank"]


class PoolDocuments(pt.Transformer):
    """Pools the first documents of several pipelines: what to judge, as a step of a pipeline.

    ``PoolDocuments(bm25, dense, depth=10) >> judge`` has the documents of ``(bm25 % 10 | dense % 10) >> judge``, and
    says how each was found: ``best_rank``, the best rank at which a pipeline has it, from 1, and ``runs``, how many
    have it. Documents are ranked by best rank, equal ones by descending docno, so that ``% 50`` behind it judges the 50
    best-ranked ones of each topic. ``score`` counts down and means nothing else.

    The first documents of a pipeline are those of its ``rank`` column, as for ``%``; where it has none, those of
    highest score. A :class:`Pool`, with teams and uniques, is made of the same pipelines by
    ``depth_pool(RunSet.from_pipelines({...}, topics))``, in the ranking order of the RunSet.

    Args:
        *pipelines: pyterrier transformers that return results.
        depth: documents of each pipeline and topic, >= 1.

    Raises:
        InputError: no pipeline, something that is none, a depth that is no whole number of at least 1.

    Example:
        >>> import pandas as pd, pyterrier as pt, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d4", "d5"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
        >>> pool = ptr.PoolDocuments(pt.Transformer.from_df(a), pt.Transformer.from_df(b), depth=2)
        >>> pool(pd.DataFrame({"qid": ["1"], "query": ["q"]}))[["docno", "best_rank", "runs", "rank"]]
          docno  best_rank  runs  rank
        0    d2          1     2     0
        1    d1          1     1     1
        2    d4          2     1     2
    """

    # without an address of its own pyterrier would look the documentation up on the network
    schematic: ClassVar[dict[str, Any]] = {"label": "Pool", "inner_pipelines_mode": "combine", "help_url": None}

    @door
    def __init__(self, *pipelines: pt.Transformer, depth: int):
        odd = [told(one) for one in pipelines if not isinstance(one, pt.Transformer)]
        if odd or not pipelines:
            got = listed(odd) if odd else "none"
            raise InputError(f"give one or more pipelines, each a pyterrier Transformer, got {got}.")
        self.pipelines, self.depth = pipelines, positive("depth", depth, "documents of each pipeline and topic")

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the pooled documents, each once: the columns of the pipelines, ``best_rank runs score rank``.

        Args:
            inp: what each of the pipelines takes, such as topics.

        Raises:
            InputError: a pipeline whose results have neither ``rank`` nor ``score``.
        """
        tops = [self._top(number, pipeline(inp.copy())) for number, pipeline in enumerate(self.pipelines)]
        columns = list(dict.fromkeys(chain.from_iterable(tops)))
        # what has no rows has columns of no type, and would take away those of others
        found = pd.concat([top for top in tops if len(top)] or tops[:1], ignore_index=True).reindex(columns=columns)
        pair = ["qid", "docno"]
        by_pair = found.groupby(pair, sort=False)["best_rank"]
        found = found.assign(best_rank=by_pair.transform("min"), runs=by_pair.transform("size"))
        found = found.drop_duplicates(pair)
        topic = found["qid"].map({qid: t for t, qid in enumerate(dict.fromkeys(found["qid"]))})
        found = found.assign(topic=topic).sort_values(["topic", "best_rank", "docno"], ascending=[True, True, False])
        by_topic = found.groupby("topic")["docno"]
        found = found.assign(score=by_topic.cumcount(ascending=False) + 1.0, rank=by_topic.cumcount() + _FIRST)
        return found.drop(columns="topic").reset_index(drop=True)

    def transform_inputs(self) -> list[list[str]]:
        """Return the columns that all pipelines together need, in each way in which they can be asked."""
        ways = product(*map(pt.inspect.transformer_inputs, self.pipelines))
        return [list(way) for way in dict.fromkeys(tuple(dict.fromkeys(chain.from_iterable(way))) for way in ways)]

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out.

        Args:
            input_columns: those that go in.
        """
        found = [pt.inspect.transformer_outputs(pipeline, input_columns) for pipeline in self.pipelines]
        return [*(column for column in dict.fromkeys(chain.from_iterable(found)) if column not in _ADDED), *_ADDED]

    def compile(self) -> PoolDocuments:
        """Return the same pool of compiled pipelines, which need not rank more than they give to the pool."""
        return PoolDocuments(*((pipeline % self.depth).compile() for pipeline in self.pipelines), depth=self.depth)

    def _top(self, number: int, results: pd.DataFrame) -> pd.DataFrame:
        if not len(results.columns):
            results = pd.DataFrame(columns=["qid", "docno", "rank"])  # a batch without results
        if "rank" not in results:
            if "score" not in results:
                raise InputError(
                    f"pipeline {number}, {self.pipelines[number]!r}, returns neither rank nor score, so it has no "
                    f"first documents; its columns are {examples(results.columns, 12)}. The operator | keeps no ranks: "
                    "pool the pipelines that it joins."
                )
            results = pt.model.add_ranks(results.copy())
        place = results.groupby("qid")["rank"].rank(method="first").astype("int64")
        taken = results.assign(best_rank=place)[place <= self.depth].drop_duplicates(["qid", "docno"])
        return taken.drop(columns=["score", "rank"], errors="ignore")

    def __repr__(self) -> str:
        return f"PoolDocuments({', '.join(map(repr, self.pipelines))}, depth={self.depth})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PoolDocuments):
            return NotImplemented
        return (self.pipelines, self.depth) == (other.pipelines, other.depth)

    def __hash__(self) -> int:
        return hash((PoolDocuments, self.pipelines, self.depth))


#: the rank of the first document in pyterrier
_FIRST = pt.model.FIRST_RANK
