"""Who does the jobs: this process, the workers of loky, Dask or Ray, or those of any other backend of joblib."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import pyterrier as pt

from pt_reuse._dask_workers import DaskWorkers
from pt_reuse._errors import InputError
from pt_reuse._job_tasks import AHEAD, LostError, Outcome, Task, import_failure, run_task, unsendable
from pt_reuse._loky_workers import LokyWorkers
from pt_reuse._ray_workers import RayWorkers

#: jobs for each worker in a group, where their results come one by one; the next group waits for the last of them
IN_GROUP = 16


class Workers(Protocol):
    """What does tasks."""

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task, in order; raise LostError where workers died."""


def chosen_workers(n_jobs: int | None, prefer: str | None) -> Workers:
    """Return the workers that the user has configured.

    Args:
        n_jobs: jobs at a time, as joblib takes it; None for what ``joblib.parallel_config`` says, else 1.
        prefer: joblib's, ``"threads"`` for work that holds no lock.
    """
    try:
        from joblib.parallel import get_active_backend
    except ImportError:  # a version of joblib that does not say which backend is configured; Parallel knows
        from joblib import effective_n_jobs

        n = effective_n_jobs(1 if n_jobs is None else n_jobs)
        return Here() if n == 1 else JoblibWorkers(n, prefer, generates=False, share_memory=prefer == "threads")
    backend, _ = get_active_backend(prefer=prefer)
    # with a preference joblib forgets the number of a configuration that names no backend
    asked = n_jobs if n_jobs is not None else get_active_backend()[1] or 1
    kinds = [kind.__name__ for kind in type(backend).__mro__]
    if "DaskDistributedBackend" in kinds:
        return DaskWorkers(backend)
    if "RayBackend" in kinds:
        return Here() if asked == 1 else RayWorkers(backend, asked)
    n = backend.effective_n_jobs(asked)
    if n == 1:
        return Here()
    if kinds[0] == "MultiprocessingBackend" and pt.java.started():
        raise InputError(
            "joblib's backend 'multiprocessing' copies this process as it is, and hangs where a Java machine runs in "
            "it, as PyTerrier's does here. Use joblib.parallel_config('loky')."
        )
    if "LokyBackend" in kinds:
        return LokyWorkers(backend, n)
    share_memory = getattr(backend, "supports_sharedmem", False)
    return JoblibWorkers(n, prefer, generates=backend.supports_return_generator, share_memory=share_memory)


@dataclass(frozen=True)
class Here:
    """This process, one job after the other."""

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task."""
        yield from map(run_task, tasks)


@dataclass(frozen=True)
class JoblibWorkers:
    """Those of any other backend of joblib: threads, or what somebody registered.

    joblib hands out jobs however late results are fetched; it gets them in groups, so that results do not pile up.

    Attributes:
        n: how many.
        prefer: joblib's.
        generates: whether results come one by one, else a group at a time.
        share_memory: whether they are threads of this process.
    """

    n: int
    prefer: str | None
    generates: bool
    share_memory: bool

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task."""
        from concurrent.futures.process import BrokenProcessPool

        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self.n, prefer=self.prefer, return_as="generator" if self.generates else "list")
        following = iter(tasks)
        while group := list(islice(following, self.n * (IN_GROUP if self.generates else AHEAD))):
            try:
                with closing(_quiet(parallel(delayed(run_task)(task) for task in group))) as done:
                    yield from done
            except BrokenProcessPool as error:
                raise import_failure(error) or LostError(str(error)) from error
            except pickle.PicklingError as error:
                raise unsendable(error) from error


def _quiet(done: Iterable[Outcome[Any]]) -> Generator[Outcome[Any], None, None]:
    """Yield results; where the caller wants no more of them, end the workers without joblib's warning."""
    try:
        # not `yield from`, which would end them itself
        for outcome in done:  # noqa: UP028
            yield outcome
    finally:
        if hasattr(done, "close"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done.close()
