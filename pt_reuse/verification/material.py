"""What a verification works on: the judgments and runs of a collection, from the user or from where they are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, InputError, warn
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import judgments_of
from pt_reuse.collections.getting import GivenRuns, OwnRuns, SubmittedRuns, plan_runs
from pt_reuse.collections.registry import UnknownCollectionError, find_collection
from pt_reuse.collections.run_files import find_run_files
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.forms import held, is_files
from pt_reuse.runs.given import as_runs
from pt_reuse.runs.reading import Reading
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.verification.computed import Reason, because


@dataclass(frozen=True)
class Material:
    """Judgments and runs.

    Attributes:
        qrels: the judgments.
        runs: the runs that are here, None where there are none.
        no_runs: why there are none, None where there are some.
        submitted: the names of the runs on record; none where there is no record.
        missing: those of them that are not here.
    """

    qrels: Qrels
    runs: RunSet | None
    no_runs: Reason | None = None
    submitted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sources:
    """Where the judgments and runs of a collection come from, as the user says.

    Attributes:
        name: the collection.
        runs: a RunSet or runs in another form, run files, or None for those of the collection.
        qrels: judgments in any form, or None for those of the collection.
        figures: the user's file of figures, None where they are the package's.
        download: whether to fetch run files that are not on this machine.
        reading: how run files are read.
    """

    name: str
    runs: Any
    qrels: Any
    figures: str | Path | None
    download: bool
    reading: Reading


def gather(sources: Sources) -> Material:
    """Return the judgments and runs, those without runs that were submitted to another collection.

    Args:
        sources: where they come from.

    Raises:
        InputError: no collection of that name, a file that cannot be read, runs without any topic of the judgments.
    """
    sources, given = replace(sources, runs=held(sources.runs)), None
    if sources.runs is not None and not is_files(sources.runs):
        given = as_runs(sources.runs, sources.qrels)
    collection = None if given is not None and sources.qrels is not None else _collection(sources)
    plan = None
    if collection is not None and given is None:
        # before judgments are looked for, maybe by way of the network
        plan = plan_runs(
            collection,
            {},
            sources.reading,
            types=None,
            runs=sources.runs,
            missing="ignore",
            download=sources.download,
        )
    qrels = judgments_of(collection) if collection and sources.qrels is None else as_qrels(sources.qrels)
    if plan is None:
        material = Material(qrels, given)
    else:
        material = _read(Material(qrels, None), plan, sources)
    material = _without_strangers(material, _submitted(sources.name))
    if material.runs is not None:
        check_topics(material.runs, qrels)
    return material


def _collection(sources: Sources) -> Collection:
    """Return the collection of a name; figures of one's own need none."""
    try:
        return find_collection(sources.name)
    except UnknownCollectionError as error:
        if sources.figures is None:
            raise
        raise InputError(
            f"{sources.figures} is about {sources.name!r}, which is no registered collection. Make its name "
            f"known with ",
            Call("register_collection", "..."),
            ". In Python, a RunSet and judgments given beside the figures need no collection. (",
            error,
            ")",
        ) from error


def _read(material: Material, plan: SubmittedRuns | OwnRuns | GivenRuns, sources: Sources) -> Material:
    """Return the material with the runs that were planned, or why there are none."""
    try:
        return replace(material, runs=plan.get())
    except InputError as error:
        # a file that cannot be read is an error; none at all leaves the judgments to be checked
        if sources.runs is not None or sources.download or not isinstance(plan, SubmittedRuns):
            raise
        if find_run_files(plan.collection, plan.names):
            raise
        return replace(material, no_runs=because("no runs: ", error))


def _submitted(name: str) -> tuple[str, ...]:
    """Return the runs that the collection has, where this is on record."""
    try:
        submitted = find_collection(name).submitted
    except UnknownCollectionError:
        return ()
    return () if submitted is None else tuple(submitted["name"])


def _without_strangers(material: Material, submitted: tuple[str, ...]) -> Material:
    """Return the material with the submitted runs alone, and the names of those that it lacks."""
    runs = material.runs
    if runs is None or not submitted:
        return replace(material, submitted=submitted)
    strangers = [name for name in runs.names if name not in set(submitted)]
    missing = tuple(name for name in submitted if name not in runs)
    if len(missing) == len(submitted):
        raise InputError(
            f"none of {count(len(runs), 'run')} was submitted to this collection: {examples(strangers)}. Runs are "
            f"known by their names: {examples(submitted)}."
        )
    if strangers:
        warn(f"{count(len(strangers), 'run')} not of this collection, left out: {examples(strangers)}.")
    own = runs.select([name for name in runs.names if name in set(submitted)])
    return replace(material, runs=own, submitted=submitted, missing=missing)
