"""Doing jobs by whatever the user has configured joblib to use, and the folders that this takes."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from enum import Enum
from functools import partial
from itertools import islice
from pathlib import Path
from pickle import PicklingError
from typing import Any, TypeVar

import pyterrier as pt

from pt_reuse._files import Alone, alone, is_stale, machine
from pt_reuse._job_tasks import Job, Outcome, Task, run_away, run_task, unpacked, unsendable, value_of
from pt_reuse.errors import InputError

Done = TypeVar("Done")
#: jobs for each worker that are handed out at a time, so that results do not pile up
_IN_GROUP = 16
#: what the names of folders for workers begin with; locks of another machine may not be seen from here
_PREFIX = f"pt_reuse-jobs-{machine()}-"
#: seconds in which a folder that is made anew gets its lock
_UNLOCKED = 60.0


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
    """Yield what each job returns, in their order, whoever does them."""
    tasks = (
        Task(job, getattr(job, "place", None) or f"number {number:,} of {total:,}")
        for number, job in enumerate(jobs, 1)
    )
    told: set[tuple[type, str]] = set()
    with (
        pt.tqdm(total=total, desc=desc, unit=unit, disable=not verbose) as bar,
        closing(_outcomes(tasks, n_jobs, prefer)) as outcomes,
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
        return _configured(n_jobs, prefer)[0]


def _configured(n_jobs: int | None, prefer: str | None) -> tuple[JobPlace, int, Any]:
    """Return where jobs are done, how many at a time, and joblib's backend."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer=prefer)
    # with a preference joblib forgets the number of a configuration that names no backend
    asked = n_jobs if n_jobs is not None else get_active_backend()[1] or 1
    try:
        n = backend.effective_n_jobs(asked)
    except Exception as error:
        raise _broken(error) from error
    if n == 1 and not hasattr(backend, "client"):
        return JobPlace.HERE, 1, backend
    if type(backend).__name__ == "MultiprocessingBackend" and pt.java.started():
        raise InputError(
            "joblib's backend 'multiprocessing' copies this process as it is, and hangs where a Java machine runs in "
            "it, as PyTerrier's does here. Use joblib.parallel_config('loky')."
        )
    threads = getattr(backend, "supports_sharedmem", False)
    return JobPlace.THREADS if threads else JobPlace.PROCESSES, n, backend


def _outcomes(
    tasks: Iterator[Task[Done]], n_jobs: int | None, prefer: str | None
) -> Generator[Outcome[Done], None, None]:
    """Yield what comes of each task, in order."""
    place, n, backend = _configured(n_jobs, prefer)
    if place is JobPlace.HERE:
        yield from map(run_task, tasks)
        return
    from joblib import Parallel, delayed

    how = "generator" if backend.supports_return_generator else "list"
    with ExitStack() as stack:
        work: Any = run_task
        if place is JobPlace.PROCESSES:
            # on one machine large results go through files, as pipes are slow
            filed = type(backend).__name__ == "LokyBackend" and os.access(temporary_folder(), os.W_OK)
            work = partial(run_away, folder=stack.enter_context(folder_for_jobs()) if filed else None)

        def begun(group: list[Task[Done]]) -> Any:
            if hasattr(backend, "client"):
                return _by_dask(backend, group)
            # arrays of jobs are small
            parallel = Parallel(n_jobs=n, prefer=prefer, return_as=how, max_nbytes=None)
            return parallel(delayed(work)(task) for task in group)

        while group := list(islice(tasks, n * _IN_GROUP)):
            with closing(_results(begun, group)) as done:
                yield from map(unpacked, done)


def _by_dask(backend: Any, tasks: list[Task[Any]]) -> Generator[Any, None, None]:
    # joblib's own door waits for ever for a job whose workers died
    options = getattr(backend, "submit_kwargs", None) or {}
    futures = [backend.client.submit(run_away, task, pure=False, **options) for task in tasks]
    try:
        # inside of a worker of the cluster this leaves its place to the jobs
        with backend.retrieval_context():
            for future in futures:
                yield future.result()
    finally:
        # the scheduler forgets what nobody waits for
        for future in futures:
            future.release()


def _results(begun: Callable[[list[Any]], Any], tasks: list[Any]) -> Generator[Any, None, None]:
    done: Any = []
    try:
        done = begun(tasks)
        # not `yield from`, which would end them itself
        for outcome in done:  # noqa: UP028
            yield outcome
    except InputError:
        raise
    except (PicklingError, TypeError, AttributeError) as error:
        raise unsendable(error) from error
    except Exception as error:
        # what a job raises comes as its outcome
        raise _broken(error) from error
    finally:
        # where the caller wants no more, joblib warns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(done, "close", list)()


def _broken(error: Exception) -> InputError:
    said = str(error).strip().split("\n")[0].split(". ")[0].rstrip(".")
    return InputError(
        f"workers died, or their cluster does not answer ({type(error).__name__}: {said}). Most often memory was "
        "too small: do fewer jobs at a time (n_jobs=1) or give workers more of it. A cluster must run, and have "
        "workers."
    )


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
    """Make a folder for files for workers, which goes in the end; those that killed processes left go before."""
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
