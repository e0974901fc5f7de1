"""answer_measures: scores by items as measures, for pipelines that return answers which somebody has matched."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse.data.answers import Answers, as_answers
from pt_reuse.errors import InputError, warn
from pt_reuse.studies.leave_out_items import leave_out_items


class _Known:
    """The answers that were matched."""

    def __init__(self, answers: Answers):
        self.texts, self.runs = answers.texts, set(answers.names)
        self.runs_of: dict[tuple[str, str], list[str]] = {}
        for (qid, run), text in answers.texts.items():
            self.runs_of.setdefault((qid, text), []).append(run)

    def run_of(self, results: pd.DataFrame) -> tuple[str, set[str]]:
        """Return the run whose answers most results are, and the topics on which they are; warn of the others."""
        if not self.texts and "name" not in results:
            said = "no text of an answer was read. Read answers with a column qanswer, or give results a column name."
            raise InputError(said, argument="answers")
        names, found = results["name"] if "name" in results else [""] * len(results), {}
        for qid, text, name in zip(results["query_id"], results["qanswer"], names, strict=True):
            named = name in self.runs and self.texts.get((qid, name), text) == text
            found[qid] = [name] if named else self.runs_of.get((qid, text), [])
        ((best, _),) = Counter(run for runs in found.values() for run in runs).most_common(1) or [("", 0)]
        others = [qid for qid, runs in found.items() if best not in runs]
        if others:
            whose = f", of a system taken for run {best!r}," if best else ""
            said = f"{len(others):,} of {count(len(found), 'answer')}{whose} are none of those that were matched"
            warn(f"{said}, and score 0: topics {examples(others)}.")
        return best, set(found) - set(others)

    def values(
        self, of_runs: pd.DataFrame, unmatched: float, qrels: pd.DataFrame, run: pd.DataFrame
    ) -> Iterator[tuple[str, float]]:
        """Yield of each topic that the qrels and the results have the value of the run whose answers they are."""
        results = run[run["query_id"].isin(set(qrels["query_id"]))].drop_duplicates("query_id")
        name, topics = self.run_of(results)
        yield from ((qid, float(of_runs.loc[qid, name]) if qid in topics else unmatched) for qid in results["query_id"])


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
    found, known, made = leave_out_items(judged, measures, by=by, judge_name=judge), _Known(judged), []
    missing = pd.DataFrame(np.isnan(judged.matches[judged.of_judge(judge)])).groupby(judged.topic).mean().to_numpy()
    names = [name for measure in found.scores.measures for name in (measure, f"{measure} LOU")]
    pairs = zip(found.scores.values, found.own_scores.values, strict=True)
    for name, values in zip([*names, "unmatched"], [*itertools.chain(*pairs), missing], strict=True):
        of_runs, unmatched = pd.DataFrame(values, judged.topics, judged.names), float(name == "unmatched")
        given: dict[str, Any] = {"run_inputs": ["query_id", "qanswer"], "qrel_inputs": ["query_id"]}
        measure = ir_measures.define(partial(known.values, of_runs, unmatched), name, support_cutoff=False, **given)
        # of a topic without an answer
        measure.DEFAULT = unmatched
        made.append(measure)
    return made
