"""Steps of a pipeline that keep some documents, the pool of several pipelines, and measures of matched answers."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, product
from typing import Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.data.answers import Answers, as_answers
from pt_reuse.data.coding import run_names
from pt_reuse.data.frame_columns import LABELS, as_ids, as_pairs, number_column
from pt_reuse.data.judgments import as_qrels
from pt_reuse.data.units import OfDocno, holds
from pt_reuse.errors import InputError, columns, count, examples, listed, located, positive, shown, warn
from pt_reuse.studies.item_banks import leave_out_items


def _values(
    answers: Answers,
    runs_of: Mapping[tuple[str, str], list[str]],
    of_runs: pd.DataFrame,
    unmatched: float,
    qrels: pd.DataFrame,
    run: pd.DataFrame,
) -> Iterator[tuple[str, float]]:
    """Yield of each topic that the qrels and the results have the value of the run whose answers most results are."""
    results = run[run["query_id"].isin(set(qrels["query_id"]))].drop_duplicates("query_id")
    if not answers.texts and "name" not in results:
        problem = "no text of an answer was read. Read answers with a column qanswer, or give results a column name."
        raise InputError(problem, argument="answers")
    names, runs = results["name"] if "name" in results else [""] * len(results), dict[str, list[str]]()
    for qid, text, name in zip(results["query_id"], results["qanswer"], names, strict=True):
        named = name in answers.names and answers.texts.get((qid, name), text) == text
        runs[qid] = [name] if named else runs_of.get((qid, text), [])
    ((best, _),) = Counter(name for of_topic in runs.values() for name in of_topic).most_common(1) or [("", 0)]
    if others := [qid for qid, of_topic in runs.items() if best not in of_topic]:
        taken = f", of a system taken for run {best!r}," if best else ""
        odd = f"{len(others):,} of {count(len(runs), 'answer')}{taken} are none of those that were matched"
        warn(f"{odd}, and score 0: topics {examples(others)}.")
    for qid in results["query_id"]:
        yield qid, unmatched if qid in others else float(of_runs.loc[qid, best])


def answer_measures(answers: Any, measures: Any = None, *, by: str = "team", judge: str | None = None) -> list[Any]:
    """Return scores by items as measures of ir_measures, for ``pt.Experiment`` of pipelines that return answers.

    For each score there are two measures, such as ``all_score``, and ``all_score LOU`` by the bank without the items
    that the run's team alone found; and there is ``unmatched``, the share of a topic's items without a match. A system
    is the run whose answers it has, word for word in the column ``qanswer``, or that its results name in a column
    ``name``. An answer that is none of the run's scores 0, all of it is unmatched, and a warning says so.

    Args:
        answers: what :func:`~pt_reuse.read_answers` returned, with texts of answers, or what it reads.
        measures: as of :func:`score_answers`.
        by: whose items are taken out: ``"team"``, ``"run"``, ``"type"`` or ``"family"``.
        judge: whose matches count; default the only judge.

    Returns:
        list: measures; the judgments beside them are ``answers.items``, from which topics are taken.

    Raises:
        InputError: as of :func:`leave_out_items`; when asked, answers without texts and results without names.

    Warns:
        ReuseWarning: a system with answers that were not matched; as of :func:`leave_out_items`.

    Example:
        >>> import pandas as pd, pyterrier as pt, pt_reuse as ptr
        >>> matches = [("a", "A", 1), ("b", "A", 0.5), ("a", "B", 1), ("b", "B", 0)]
        >>> rows = [(f"q{t}", *match, f"{match[1]} says {t}") for t in range(5) for match in matches]
        >>> frame = pd.DataFrame(rows, columns=["qid", "item", "run", "match", "qanswer"])
        >>> answers = ptr.read_answers(frame, teams={"A": "x", "B": "y"})
        >>> topics = pd.DataFrame({"qid": [f"q{t}" for t in range(5)], "query": "?"})
        >>> says = topics.assign(qanswer=[f"A says {t}" for t in range(5)])
        >>> found = pt.Experiment({"mine": says}, topics, answers.items, ptr.items.answer_measures(answers))
        >>> found[["name", "all_score", "all_score LOU", "unmatched"]]
           name  all_score  all_score LOU  unmatched
        0  mine       0.75            1.0        0.0

    Source: as :func:`leave_out_items`.
    """
    judged = as_answers(answers)
    left_out, made = leave_out_items(judged, measures, by=by, judge_name=judge), []
    runs_of = dict[tuple[str, str], list[str]]()
    for (qid, run), text in judged.texts.items():
        runs_of.setdefault((qid, text), []).append(run)
    missing = pd.DataFrame(np.isnan(judged.matches[judged.of_judge(judge)])).groupby(judged.topic).mean().to_numpy()
    names = [name for measure in left_out.scores.measures for name in (measure, f"{measure} LOU")]
    pairs = zip(left_out.scores.values, left_out.own_scores.values, strict=True)
    for name, values in zip([*names, "unmatched"], [*chain.from_iterable(pairs), missing], strict=True):
        unmatched, of_runs = float(name == "unmatched"), pd.DataFrame(values, judged.topics, judged.names)
        given: dict[str, Any] = {"run_inputs": ["query_id", "qanswer"], "qrel_inputs": ["query_id"]}
        of_topics = partial(_values, judged, runs_of, of_runs, unmatched)
        measure = ir_measures.define(of_topics, name, support_cutoff=False, **given)
        # of a topic without an answer
        measure.DEFAULT = unmatched
        made.append(measure)
    return made


class _Kept(pt.Transformer):
    """Keeps some rows of results: scores stay, and ranks are closed up, from 0 as in pyterrier."""

    transform_inputs: ClassVar[list[list[str]]] = [["qid", "docno"]]

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that are kept, in their order, with ranks that have no gaps.

        Args:
            inp: ``qid docno``; where there is a ``rank``, it is numbered anew, from 0, in the order that it gives.
        """
        if not len(inp.columns):
            return inp  # a batch without results, whatever it looks like
        pt.validate.columns(inp, includes=["qid", "docno"], context=self)
        kept = inp[self._kept(inp)].reset_index(drop=True)
        if "rank" in kept:
            rank = kept.groupby("qid")["rank"].rank(method="first").astype("int64")
            kept["rank"] = rank - 1 + pt.model.FIRST_RANK
        return kept

    @abstractmethod
    def _kept(self, inp: pd.DataFrame) -> NDArray[np.bool_]:
        """Return which rows are kept."""


class OnlyJudged(_Kept):
    """Keeps the documents that have a judgment, so that what comes out is a condensed list.

    Measures of condensed lists take unjudged documents as if they had not been retrieved. ``bm25 >> OnlyJudged(qrels)``
    scores as ``bm25`` does under measures with ``judged_only=True``, and for every measure.

    Args:
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        min_label: the lowest label that counts as judged; default 0, since -1 means pooled and not judged.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "label": [1, 0]})
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
        >>> ptr.OnlyJudged(qrels)(run)
          qid docno  score  rank
        0   1    d2    2.0     0
        1   1    d3    1.0     1

    Source: Sakai, SIGIR 2007, "Alternatives to bpref".
    """

    # without an address of its own pyterrier would look the documentation up on the network
    schematic: ClassVar[dict[str, Any]] = {"label": "judged", "help_url": None}
    _judged = True

    def __init__(self, qrels: Any, *, min_label: int = 0):
        if isinstance(min_label, bool) or not isinstance(min_label, int | np.integer):
            raise InputError(
                f"min_label must be a whole number from {LABELS[0]} to {LABELS[1]}, got {shown(min_label)}.",
                argument="min_label",
            )
        self.qrels, self.min_label = as_qrels(qrels), int(min_label)
        documents, judged = self.qrels.arrays.documents, self.qrels.arrays.labels >= self.min_label
        self._pairs = pd.MultiIndex.from_arrays([documents.qids()[judged], documents.docnos()[judged]])

    def _kept(self, inp: pd.DataFrame) -> NDArray[np.bool_]:
        pairs = pd.MultiIndex.from_arrays(as_pairs(inp))
        return np.asarray((self._pairs.get_indexer(pairs) >= 0) == self._judged)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({count(len(self.qrels), 'judgment')}, min_label={self.min_label})"


class OnlyUnjudged(OnlyJudged):
    """Keeps the documents that have no judgment yet: what is left to judge.

    Args:
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        min_label: the lowest label that counts as judged; default 0, since -1 means pooled and not judged.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "label": [1, 0]})
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
        >>> ptr.OnlyUnjudged(qrels)(run)
          qid docno  score  rank
        0   1    d1    3.0     0
    """

    schematic: ClassVar[dict[str, Any]] = {"label": "unjudged", "help_url": None}
    _judged = False


class OnlyDocuments(_Kept):
    """Keeps the documents of a part of the corpus: a subsample, one source, a list of names.

    Args:
        docnos: the names of the documents to keep.
        where: in their place, a function of a name that returns whether to keep the document. A pipeline that goes to
            other processes needs a function of a module, which can be pickled.

    Raises:
        InputError: neither or both, one text in place of several, a `where` that is no function.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> run = pd.DataFrame({"qid": "1", "docno": ["FT1", "LA1", "FT2"], "score": [3.0, 2.0, 1.0]})
        >>> ptr.OnlyDocuments(where=lambda docno: docno.startswith("FT"))(run)["docno"].tolist()
        ['FT1', 'FT2']
        >>> ptr.OnlyDocuments(["LA1", "LA2"])(run)["docno"].tolist()
        ['LA1']
    """

    schematic: ClassVar[dict[str, Any]] = {"label": "part of corpus", "help_url": None}

    def __init__(self, docnos: Iterable[str] | None = None, *, where: OfDocno | None = None):
        if (docnos is None) == (where is None):
            raise InputError("say which documents to keep: either docnos, their names, or where, a function of a name.")
        if where is not None and not callable(where):
            raise InputError(f"where must be a function of a docno, got {shown(where)}.", argument="where")
        if docnos is not None and (isinstance(docnos, str | bytes | pd.DataFrame) or not isinstance(docnos, Iterable)):
            raise InputError(f"docnos must be several names of documents, got {shown(docnos)}.", argument="docnos")
        self.docnos = None if docnos is None else frozenset(as_ids("docno", docnos))
        self.where = where

    def _kept(self, inp: pd.DataFrame) -> NDArray[np.bool_]:
        names = as_ids("docno", inp["docno"].tolist(), inp["qid"].tolist())
        if self.docnos is not None:
            return np.array([name in self.docnos for name in names], dtype=bool)
        found = {name: self.where is not None and holds(self.where, name) for name in dict.fromkeys(names)}
        return np.array([found[name] for name in names], dtype=bool)

    def __repr__(self) -> str:
        what = f"{len(self.docnos):,} documents" if self.docnos is not None else f"where={self.where!r}"
        return f"OnlyDocuments({what})"


def _asked_topics(inp: pd.DataFrame) -> list[str] | None:
    """Return the topics that a frame asks for, None of a batch without any; each stands once, or once a document."""
    if not len(inp.columns):
        return None
    columns("inp", inp.columns, ["qid"])
    with located("topics"):
        qids = as_ids("qid", inp["qid"].tolist())
        rows = list(zip(qids, as_ids("docno", inp["docno"].tolist(), qids), strict=True)) if "docno" in inp else qids
    again = [row for row, times in Counter(rows).items() if times > 1]
    if again:
        raise InputError(
            f"{count(len(again), 'row')} given more than once: {examples(again)}. Keep one row per "
            f"{'document' if 'docno' in inp else 'topic'}, or documents would have the ranks of others.",
            argument="inp",
        )
    return list(dict.fromkeys(qids))


def _checked_results(results: pd.DataFrame, asked: Collection[str] | None) -> pd.DataFrame:
    """Return results with texts as ids, or say what would be lost of them, or added."""
    columns("the results", results.columns, ["qid", "docno"])
    qids, docnos = as_pairs(results)
    twice = next((pair for pair, times in Counter(zip(qids, docnos, strict=True)).items() if times > 1), None)
    if twice is not None:
        raise InputError(
            f"document {shown(twice[1])} is returned more than once for topic {shown(twice[0])}, so that its rank is "
            "unclear. Return each document once."
        )
    others = [] if asked is None else [qid for qid in dict.fromkeys(qids) if qid not in asked]
    if others:
        raise InputError(f"there are results of {count(len(others), 'topic')} not asked for: {examples(others)}.")
    return results.assign(
        qid=pd.Series(qids, index=results.index, dtype=object),
        docno=pd.Series(docnos, index=results.index, dtype=object),
    )


#: what a pool says of each document besides what the pipelines do
_ADDED = ["best_rank", "runs", "score", "rank"]


class PoolDocuments(pt.Transformer):
    """Pools the first documents of several pipelines: what to judge, as a step of a pipeline.

    ``PoolDocuments(bm25, dense, depth=10) >> judge`` has the documents of ``(bm25 % 10 | dense % 10) >> judge``, and
    says how each was found: ``best_rank``, the best rank at which a pipeline has it, from 1, and ``runs``, how many
    have it. Documents are ranked by best rank, equal ones by descending docno, so that ``% 50`` after it keeps the 50
    best-ranked documents of each topic. ``score`` counts down and means nothing else.

    The first documents of a pipeline are those of its ``rank`` column, as for ``%``; where it has none, those of
    highest score. A :class:`Pool`, with teams and uniques, is made of the same pipelines by
    ``depth_pool(RunSet.from_pipelines({...}, topics))``, in the ranking order of the RunSet.

    Args:
        *pipelines: pyterrier transformers that return results, or a list of them; or a dict of name -> transformer, as
            :func:`pt_reuse.Experiment` takes it: what it shows and what errors say has these names.
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

    def __init__(
        self, *pipelines: pt.Transformer | Sequence[pt.Transformer] | Mapping[str, pt.Transformer], depth: int
    ):
        given = pipelines[0] if len(pipelines) == 1 else pipelines
        named = given if isinstance(given, Mapping) else None
        self.names = None if named is None else run_names("pipelines", named, "pipeline")
        every = tuple(named.values() if named is not None else given if isinstance(given, list | tuple) else pipelines)
        odd = [shown(pipeline) for pipeline in every if not isinstance(pipeline, pt.Transformer)]
        if odd or not every:
            got = listed(odd) if odd else "none"
            raise InputError(
                f"give one or more pipelines, each a pyterrier Transformer, or a dict of name -> pipeline, got {got}."
            )
        self.pipelines: tuple[pt.Transformer, ...] = every
        self.depth = positive("depth", depth, "documents of each pipeline and topic")

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the pooled documents, each once: the columns of the pipelines, ``best_rank runs score rank``.

        Args:
            inp: what each of the pipelines takes, such as topics, each of which stands once.

        Raises:
            InputError: a topic that stands twice or has no ``qid``; a pipeline whose results have neither ``rank`` nor
                ``score``, a document twice for a topic, a row without ``qid``, or topics that were not asked.
        """
        asked = _asked_topics(inp)
        tops = [self._top(number, pipeline(inp.copy()), asked) for number, pipeline in enumerate(self.pipelines)]
        there = list(dict.fromkeys(chain.from_iterable(tops)))
        # what has no rows has columns of no type, and would take away those of others
        found = pd.concat([top for top in tops if len(top)] or tops[:1], ignore_index=True).reindex(columns=there)
        pair = ["qid", "docno"]
        by_pair = found.groupby(pair, sort=False)["best_rank"]
        found = found.assign(best_rank=by_pair.transform("min"), runs=by_pair.transform("size"))
        # what the topics have, such as the query, some pipelines leave out
        of_topics = inp.set_axis(asked, axis=0) if asked is not None and len(asked) == len(inp) else inp.iloc[:0, :0]
        for column in set(there) & set(of_topics.columns) - set(pair):
            found[column] = found[column].where(found[column].notna(), found["qid"].map(of_topics[column]))
        found = found.drop_duplicates(pair)
        if bare := [qid for qid in asked or () if qid not in set(found["qid"])]:
            warn(f"no pipeline returns a document for {count(len(bare), 'topic')}: {examples(bare)}.")
        topic = found["qid"].map({qid: t for t, qid in enumerate(dict.fromkeys(found["qid"]))})
        found = found.assign(topic=topic).sort_values(["topic", "best_rank", "docno"], ascending=[True, True, False])
        docnos = found.groupby("topic")["docno"]
        rank = docnos.cumcount() + pt.model.FIRST_RANK
        found = found.assign(score=docnos.cumcount(ascending=False) + 1.0, rank=rank)
        return found.drop(columns="topic").reset_index(drop=True)

    def transform_inputs(self) -> list[list[str]]:
        """Return the columns that all pipelines together need, in each way in which they can be asked."""
        ways = product(*map(pt.inspect.transformer_inputs, self.pipelines))
        return [list(way) for way in dict.fromkeys(tuple(dict.fromkeys(chain.from_iterable(way))) for way in ways)]

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out of `input_columns`.

        Args:
            input_columns: those that go in.
        """
        found = [pt.inspect.transformer_outputs(pipeline, input_columns) for pipeline in self.pipelines]
        return [*(column for column in dict.fromkeys(chain.from_iterable(found)) if column not in _ADDED), *_ADDED]

    def compile(self) -> PoolDocuments:
        """Return the same pool of compiled pipelines, which need not rank more than they give to the pool."""
        return self._of([(pipeline % self.depth).compile() for pipeline in self.pipelines], self.depth)

    def apply_attributes(self, *, pipelines: Sequence[pt.Transformer] | None = None, **others: int) -> PoolDocuments:
        """Return the same pool of other pipelines, or to another depth; pipelines keep their names.

        Args:
            pipelines: as many as there are.
            **others: ``depth``.
        """
        return self._of(self.pipelines if pipelines is None else pipelines, **{"depth": self.depth, **others})

    def _of(self, pipelines: Sequence[pt.Transformer], depth: int) -> PoolDocuments:
        if self.names is None:
            return PoolDocuments(*pipelines, depth=depth)
        return PoolDocuments(dict(zip(self.names, pipelines, strict=True)), depth=depth)

    def _top(self, number: int, results: Any, asked: Collection[str] | None) -> pd.DataFrame:
        if not isinstance(results, pd.DataFrame):
            raise InputError(f"pipeline {self._called(number)} must return a frame of results, got {shown(results)}.")
        if not len(results.columns):
            results = pd.DataFrame(columns=["qid", "docno", "rank"])  # a batch without results
        with located(f"pipeline {self._called(number)}"):
            results = _checked_results(results, asked)
        if "rank" not in results:
            if "score" not in results:
                raise InputError(
                    f"pipeline {self._called(number)}, {self.pipelines[number]!r}, returns neither rank nor score, so "
                    f"it has no first documents; its columns are {examples(results.columns, 12)}. The operator | keeps "
                    "no ranks: pool the pipelines that it joins."
                )
            results = pt.model.add_ranks(results.assign(score=self._numbers(number, results, "score")))
        results = results.assign(rank=self._numbers(number, results, "rank"))
        place = results.groupby("qid")["rank"].rank(method="first").astype("int64")
        taken = results.assign(best_rank=place)[place <= self.depth]
        return taken.drop(columns=["score", "rank"], errors="ignore")

    def _numbers(self, number: int, results: pd.DataFrame, column: str) -> NDArray[np.float64]:
        values = number_column(results[column])
        if len(odd := np.flatnonzero(np.isnan(values))):
            qid, docno, got = (results[name].iloc[int(odd[0])] for name in ("qid", "docno", column))
            raise InputError(
                f"the {column} of topic {shown(qid)}, document {shown(docno)} must be a number, got {shown(got)}.",
                place=f"pipeline {self._called(number)}",
            )
        return values

    def _called(self, number: int) -> str:
        return str(number) if self.names is None else repr(self.names[number])

    def __repr__(self) -> str:
        pipelines = [repr(pipeline) for pipeline in self.pipelines]
        if self.names is not None:
            pipelines = [f"{name!r}: {pipeline}" for name, pipeline in zip(self.names, pipelines, strict=True)]
            return f"PoolDocuments({{{', '.join(pipelines)}}}, depth={self.depth})"
        return f"PoolDocuments({', '.join(pipelines)}, depth={self.depth})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PoolDocuments):
            return NotImplemented
        return (self.pipelines, self.names, self.depth) == (other.pipelines, other.names, other.depth)

    def __hash__(self) -> int:
        return hash((PoolDocuments, self.pipelines, self.depth))
