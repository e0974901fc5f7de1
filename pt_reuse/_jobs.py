"""Doing jobs by whatever the user has configured joblib to use, with a progress bar, and again where a worker died."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyterrier as pt

from pt_reuse._errors import InputError, Option
from pt_reuse._files import Alone, alone, is_stale, machine
from pt_reuse._job_tasks import Job, Outcome, Task, run_packed, run_task, unpacked, value_of

Done = TypeVar("Done")
#: times that workers may die with the next job among what they do: with others, with others again, and with it alone
_TRIES = 3
#: jobs for each worker that are handed out, or have come back and are not fetched
_AHEAD = 4
#: the same where joblib hands them out, a group at a time; the next group waits for the last of them
_IN_GROUP = 16
#: what the names of folders for workers begin with; locks of another machine may not be seen from here
_PREFIX = f"pt_reuse-jobs-{machine()}-"
#: seconds in which a folder that is made anew gets its lock
_UNLOCKED = 60.0
#: whether this worker process looks whether its caller lives, and every how many seconds
_WATCHED, _SECONDS = threading.Event(), 0.5


def run_jobs(
    jobs: Iterable[Job[Done]],
    total: int,
    *,
    desc: str,
    unit: str,
    n_jobs: int | None,
    verbose: bool,
    prefer: str | None = None,
) -> Iterator[Done]:
    """Yield what each job returns, in their order, whoever does them.

    A few jobs for each worker are handed out ahead of the result that is asked for, no more: results do not pile up.
    Jobs whose worker died are done again. Warnings of jobs are given here, each once. Where the caller wants no more
    results, or is interrupted, no further job begins, and processes that are ours to end are ended.

    Args:
        jobs: made one by one, as they are handed out. To other processes they go as pickles, so they should be small;
            a job may say where it works, see `Job`.
        total: how many there are.
        desc: what the progress bar is called.
        unit: what it counts.
        n_jobs: jobs at a time, as joblib takes it; None for what ``joblib.parallel_config`` says, else 1.
        verbose: whether there is a progress bar.
        prefer: joblib's, ``"threads"`` for work that holds no lock.

    Raises:
        InputError: a job's own; its workers died again and again; a cluster does not answer, or its workers do not have
            what the job needs.
        Exception: what else a job raises, with the job's place before its text.
    """
    tasks = (
        Task(job, getattr(job, "place", None) or f"number {number:,} of {total:,}")
        for number, job in enumerate(jobs, 1)
    )
    told: set[tuple[type, str]] = set()
    with (
        pt.tqdm(total=total, desc=desc, unit=unit, disable=not verbose) as bar,
        closing(_outcomes(_chosen_workers(n_jobs, prefer), tasks)) as outcomes,
    ):
        for outcome in outcomes:
            bar.update()
            yield value_of(outcome, told)


class JobPlace(Enum):
    """Where the jobs of a call are done, which says what may be handed to them."""

    HERE = "by the caller"
    THREADS = "by threads of this process"
    PROCESSES = "by other processes"

    @classmethod
    def of(cls, n_jobs: int | None, prefer: str | None = None) -> JobPlace:
        """Return where jobs are done that are run with these arguments, see :func:`run_jobs`."""
        workers = _chosen_workers(n_jobs, prefer)
        if isinstance(workers, _Here):
            return cls.HERE
        return cls.THREADS if getattr(workers, "share_memory", False) else cls.PROCESSES


def _outcomes(workers: _Workers, tasks: Iterator[Task[Done]]) -> Generator[Outcome[Done], None, None]:
    """Yield what comes of each task, in order, and do again what has not come back where workers died."""
    out: deque[Task[Done]] = deque()

    def noted() -> Iterator[Task[Done]]:
        for task in tasks:
            out.append(task)
            yield task

    losses = 0
    while True:
        alone = losses >= _TRIES - 1
        try:
            with closing(workers.outcomes([out[0]] if alone else chain(tuple(out), noted()))) as outcomes:
                for outcome in outcomes:
                    out.popleft()
                    losses = 0
                    yield outcome
        except _LostError as lost:
            losses += lost.times
            if alone or lost.times == _TRIES:
                raise _given_up(out[0], str(lost)) from lost
        else:
            if not alone:
                return


def _given_up(task: Task[Any], said: str) -> InputError:
    first = said.strip().split(". ")[0].rstrip(".")
    return InputError(
        f"worker processes died again and again, the last time with the job {task.named} alone. Most often memory was "
        "too small: do fewer jobs at a time (",
        Option("n_jobs", 1),
        f") or give workers more of it. What was said last: {first}.",
    )


# ---- who does them


class _LostError(Exception):
    """Workers died; what they had, and what has come back from others and is not fetched, is to be done again."""

    def __init__(self, said: object, *, times: int = 1):
        super().__init__(str(said))
        #: how often a worker has died with the next job, `_TRIES` where it is known that this job was all it did
        self.times = times


class _Workers(Protocol):
    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task, in order; raise _LostError where workers died."""


def _chosen_workers(n_jobs: int | None, prefer: str | None) -> _Workers:
    """Return the workers that the user has configured, see :func:`run_jobs`."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer=prefer)
    # with a preference joblib forgets the number of a configuration that names no backend
    asked = n_jobs if n_jobs is not None else get_active_backend()[1] or 1
    kinds = [kind.__name__ for kind in type(backend).__mro__]
    if "DaskDistributedBackend" in kinds:
        return _DaskWorkers(backend)
    if "RayBackend" in kinds:
        return _Here() if asked == 1 else _RayWorkers(backend, asked)
    n = backend.effective_n_jobs(asked)
    if n == 1:
        return _Here()
    if kinds[0] == "MultiprocessingBackend" and pt.java.started():
        raise InputError(
            "joblib's backend 'multiprocessing' copies this process as it is, and hangs where a Java machine runs in "
            "it, as PyTerrier's does here. Use joblib.parallel_config('loky')."
        )
    if "LokyBackend" in kinds:
        return _LokyWorkers(backend, n)
    share_memory = getattr(backend, "supports_sharedmem", False)
    return _JoblibWorkers(n, prefer, generates=backend.supports_return_generator, share_memory=share_memory)


@dataclass(frozen=True)
class _Here:
    """This process, one job after the other."""

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        yield from map(run_task, tasks)


@dataclass(frozen=True)
class _JoblibWorkers:
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
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self.n, prefer=self.prefer, return_as="generator" if self.generates else "list")
        following = iter(tasks)
        while group := list(islice(following, self.n * (_IN_GROUP if self.generates else _AHEAD))):
            done = parallel(delayed(run_task)(task) for task in group)
            try:
                # not `yield from`, which would end them itself
                for outcome in done:  # noqa: UP028
                    yield outcome
            finally:
                # where the caller wants no more, joblib warns
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    getattr(done, "close", list)()


def _windowed(
    workers: _LokyWorkers | _DaskWorkers | _RayWorkers, tasks: Iterable[Task[Any]], pending: deque[Any]
) -> Generator[Outcome[Any], None, None]:
    """Yield what comes of each task, with a few of them handed out ahead; `pending` are those that nobody fetched."""
    following = iter(tasks)
    while True:
        for task in islice(following, max(0, _AHEAD * workers.cores() - len(pending))):
            pending.append(workers.submit(task.packed()))
        if not pending:
            return
        yield unpacked(workers.fetched(pending[0]))
        pending.popleft()


class _LokyWorkers:
    """Processes of this machine, joblib's own: they get jobs as their results are fetched, and none of them waits."""

    def __init__(self, backend: Any, n: int):
        # of this call alone: when another one inside of it ends, this one goes on
        self.backend, self.n = copy(backend), n
        self.folder: str | None = None

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        from joblib import Parallel

        pending: deque[Any] = deque()
        # arrays of jobs are small
        with _folder_for_results() as self.folder, Parallel(self.n, backend=self.backend, max_nbytes=None):
            try:
                yield from _windowed(self, tasks, pending)
            finally:
                if pending:
                    # jobs that have begun would run on
                    self.backend.abort_everything(ensure_ready=False)

    def cores(self) -> int:
        return self.n

    def submit(self, packed: bytes) -> Any:
        with _as_lost():
            return self.backend.submit(partial(_run_watched, packed, self.folder, os.getpid()))

    def fetched(self, future: Any) -> Any:
        with _as_lost():
            return future.result()


@contextmanager
def _as_lost() -> Iterator[None]:
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield
    except RuntimeError as error:
        # another call of this process, whose workers are the same, has been given up, or they died
        if not isinstance(error, BrokenProcessPool) and type(error).__name__ != "ShutdownExecutorError":
            raise
        raise _LostError(error) from error


def _run_watched(packed: bytes, folder: str | None, parent: int) -> bytes | str:
    """Do a task in a process that ends when its caller does: it would wait for minutes for a job of one that died."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS)
        os._exit(1)

    # a process of Windows is told nothing of its parent
    if os.name == "posix" and not _WATCHED.is_set():
        _WATCHED.set()
        threading.Thread(target=watch, daemon=True, name="pt_reuse: ends with the caller").start()
    return run_packed(packed, folder)


class _DaskWorkers:
    """The workers of a Dask cluster, however many there are at the time.

    joblib's own door to them waits for ever for a job whose workers died.
    """

    def __init__(self, backend: Any):
        self.backend, self.client = backend, backend.client

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        pending: deque[Any] = deque()
        try:
            # inside of a worker of the cluster this leaves its place to the jobs
            with self.backend.retrieval_context():
                yield from _windowed(self, tasks, pending)
        finally:
            # the scheduler forgets what nobody waits for
            for future in pending:
                future.release()

    def cores(self) -> int:
        try:
            # waits for a worker where there is none
            return max(1, self.backend.effective_n_jobs(-1)) if self.client.status == "running" else self._gone()
        except TimeoutError as error:
            raise InputError(f"{error}.") from error
        except OSError:
            return self._gone()

    def submit(self, packed: bytes) -> Any:
        options = getattr(self.backend, "submit_kwargs", None) or {}
        return self.client.submit(run_packed, packed, pure=False, **options)

    def fetched(self, future: Any) -> Any:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            # Dask has tried several times, each time with what else the worker had
            raise _LostError(error, times=_TRIES - 1) from error
        except CancelledError as error:
            if self.client.status != "running":
                self._gone()
            raise _LostError(error) from error
        except OSError:
            self._gone()

    def _gone(self) -> int:
        address = getattr(getattr(self.client, "scheduler", None), "address", None) or "an unknown address"
        raise InputError(
            f"Dask's scheduler at {address} does not answer. Start it, and make a new distributed.Client."
        ) from None


class _RayWorkers:
    """The workers of the Ray cluster that this process is connected to, as Ray's tasks.

    What they were given they do, or until this process ends, also where nobody waits for it any more: Ray 2.60 ends the
    process where ``ray.cancel`` comes as a worker answers.
    """

    def __init__(self, backend: Any, n_jobs: int):
        self.backend, self.n_jobs = backend, n_jobs

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        import ray

        if not ray.is_initialized():
            raise self._gone("it is not initialised")
        return _windowed(self, tasks, deque())

    def cores(self) -> int:
        import ray

        # below 0 all processors of the cluster
        return self.n_jobs if self.n_jobs > 0 else max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, packed: bytes) -> Any:
        import ray

        # what each job needs
        options = getattr(self.backend, "ray_remote_args", None) or {}
        return ray.remote(run_packed).options(**options).remote(packed)

    def fetched(self, reference: Any) -> Any:
        import ray
        from ray import exceptions as failures

        try:
            return ray.get(reference)
        except (failures.WorkerCrashedError, failures.OutOfMemoryError) as error:
            # Ray has tried several times, and a worker of its does one job at a time
            raise _LostError(error, times=_TRIES) from error
        except (failures.NodeDiedError, failures.ObjectLostError) as error:
            raise _LostError(error) from error
        except (failures.RaySystemError, failures.LocalRayletDiedError, ConnectionError) as error:
            raise self._gone(error) from error

    def _gone(self, said: object) -> InputError:
        return InputError(
            "Ray does not run in this process, or its cluster does not answer. Call ray.init(), with the cluster's "
            f"address. Ray said: {said}"
        )


# ---- folders for files to other processes of this machine, and from them


def temporary_folder() -> str:
    """Return the folder in which files for workers are put: the one that joblib is told, else the system's."""
    from joblib import parallel

    # what parallel_config(temp_folder=...) says; joblib has no public way to ask
    settings = getattr(getattr(parallel, "_backend", None), "config", None) or {}
    folder = settings.get("temp_folder")
    if isinstance(folder, str | os.PathLike):
        return os.path.expanduser(folder)
    return os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()


@contextmanager
def folder_for_jobs() -> Iterator[str]:
    """Make a folder for files for workers, which goes in the end; those that killed processes left go before.

    Raises:
        InputError: joblib's temporary folder cannot be written to.
    """
    inside = temporary_folder()
    _sweep(inside)
    try:
        folder = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=inside, ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(
            f"the folder in which joblib puts files for workers cannot be written to: {inside} "
            f"({error.strerror or error}). Make it, or name another one with joblib.parallel_config(temp_folder=...)."
        ) from error
    # the system ends the lock with the process, however that ends
    with folder as name, alone(Path(name)):
        yield name


def _sweep(inside: str) -> None:
    """Remove the folders of processes that were killed, whose locks are free."""
    with suppress(OSError):
        for path in Path(inside).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink() and is_stale(path, _UNLOCKED):
                    with alone(path) as whether:
                        # where the system has no locks, nobody knows whether one is in use
                        if whether is Alone.YES:
                            shutil.rmtree(path, ignore_errors=True)


def _folder_for_results() -> AbstractContextManager[str | None]:
    """Make a folder for the files of results, which goes in the end; None where there can be none: pipes need none."""
    return folder_for_jobs() if os.access(temporary_folder(), os.W_OK) else nullcontext()
