"""The documents that a plan draws from, and their strata: by the judge's label, the run, the topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option, warn
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.studies.label_plans.numbers import SHARE

#: the stratum of documents that the judge did not label
NO_LABEL = "none"
#: how many runs a mean and a difference have
RUNS = {"mean": 1, "difference": 2}


@dataclass(frozen=True)
class Population:
    """The documents that a plan draws from.

    Attributes:
        documents: one row per document: ``qid docno label`` (the judge's, <NA> for none), ``run`` (None where there are
            none), ``gain`` (what it adds to the number if it is relevant), ``people`` (what people said of it before,
            <NA> for nothing).
        name: what the number is called that the gains add up to.
        settings: the conventions by which runs have these documents, for display.
    """

    documents: pd.DataFrame
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def strata(self, *, by_topic: bool, rel: int) -> tuple[pd.DataFrame, pd.Series]:
        """Return one row per stratum, and the name of the stratum of each document."""
        frame = self.documents
        label = frame["label"].astype("string").fillna(NO_LABEL)
        name = label if frame["run"].isna().all() else label + ":" + frame["run"].astype("string")
        name = (frame["qid"].astype("string") + ":" + name if by_topic else name).astype(object)
        known = frame["people"].notna()
        given = frame.assign(
            stratum=name, known=known, relevant_known=(frame["people"] >= rel).fillna(False) & known, documents=1
        )
        if not by_topic:
            given["qid"] = None
        # of a topic and a run the lowest label first, none before all
        at = given["qid"].map({qid: place for place, qid in enumerate(dict.fromkeys(given["qid"]))})
        rows = given.assign(at=at.fillna(0), none=given["label"].notna())
        rows = rows.sort_values(
            ["at", "gain", "run", "none", "label"], ascending=[True, False, True, True, True], kind="stable"
        )
        grouped = rows.groupby("stratum", sort=False)
        table = grouped[["qid", "run", "label", "gain"]].first()
        sums = grouped[["documents", "known", "relevant_known"]].sum().astype(np.int64)
        table = table.join(sums).reset_index()
        for column in ("qid", "run"):
            table[column] = table[column].astype(object).where(table[column].notna(), None)
        return table, given["stratum"]


def labelled_documents(labels: Qrels) -> Population:
    """Return the documents that a judge labelled, each of which adds as much to the share of relevant ones."""
    frame = labels.to_frame()[["qid", "docno", "label"]]
    frame = frame[frame["label"] >= 0].reset_index(drop=True)
    frame = frame.assign(label=frame["label"].astype("Int64"), run=None, gain=1 / max(len(frame), 1))
    return Population(frame, SHARE)


def first_documents(labels: Qrels, runs: RunSet, measure: ir_measures.Measure) -> Population:
    """Return the documents on which ``P@k`` of a run, or of two their difference, depends.

    A document that both runs have among their first k adds nothing to the difference, and is left out.

    Raises:
        InputError: the runs have none of the topics, or the same documents.

    Warns:
        ReuseWarning: topics of the runs that the judge did not label.
    """
    known = labels.to_frame()[["qid", "docno", "label"]]
    known = known[known["label"] >= 0]
    topics = set(known["qid"])
    without = [topic for topic in runs.topics if topic not in topics]
    if len(without) == len(runs.topics):
        raise InputError(
            f"the judge labelled nothing in the topics of the runs, such as {examples(without)}.", argument="runs"
        )
    if without:
        warn(
            f"the judge labelled nothing in {count(len(without), 'topic')} of the runs: {examples(without)}. The plan "
            f"is for the other {len(runs.topics) - len(without):,}."
        )
    k, parts = measure["cutoff"], []
    for name, sign in zip(runs.names, (1.0, -1.0), strict=False):
        top = runs[name].groupby("qid", sort=False).head(k)[["qid", "docno"]]
        parts.append(top[top["qid"].isin(topics)].assign(run=name, gain=sign / (k * len(topics))))
    every = pd.concat(parts, ignore_index=True)
    both = every.duplicated(["qid", "docno"], keep=False)
    frame = every[~both].merge(known, on=["qid", "docno"], how="left")
    if not len(frame):
        raise InputError(
            f"the runs have the same first {k} documents in every topic: their difference is 0, and nothing is to be "
            "checked.",
            argument="runs",
        )
    name = f"{measure!r} of {runs.names[0]}" if len(parts) == 1 else f"{measure!r}, {' - '.join(runs.names)}"
    settings = {**runs.settings, "topics": f"{len(topics):,} that the judge labelled"}
    return Population(frame.assign(label=frame["label"].astype("Int64")), name, settings)


def with_people(population: Population, pilot: Qrels | None) -> Population:
    """Return a population with what people said of its documents before."""
    frame = population.documents
    if pilot is None:
        return replace(population, documents=frame.assign(people=pd.array([pd.NA] * len(frame), dtype="Int64")))
    said = pilot.to_frame()[["qid", "docno", "label"]].rename(columns={"label": "people"})
    beside = frame.merge(said[said["people"] >= 0], on=["qid", "docno"], how="left")
    return replace(population, documents=beside.assign(people=beside["people"].astype("Int64")))


def check_runs(runs: RunSet, target: str) -> None:
    """Raise unless a mean is of one run and a difference of two.

    Raises:
        InputError: another number of runs.
    """
    needed = RUNS[target]
    if len(runs.names) != needed:
        raise InputError(
            f"a plan for a {target} is of {count(needed, 'run')}, got {len(runs.names):,}. Take them with "
            f"runs.select({list(runs.names)[:needed]!r}), or plan for the share of relevant documents without ",
            Option("runs", ...),
            ".",
            argument="runs",
        )
