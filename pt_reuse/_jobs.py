"""Doing jobs by whatever the user has configured joblib to use; errors and warnings come as in one process."""

from __future__ import annotations

import os
import pickle
import socket
import tempfile
import threading
import traceback
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from pickle import PicklingError
from typing import Any, Generic, Protocol, TypeVar, cast

import pyterrier as pt

from pt_reuse._files import TREE, temporary
from pt_reuse.errors import InputError, ReuseWarning, give, hearing, located, places

Done = TypeVar("Done")
Given = TypeVar("Given", covariant=True)


class Job(Protocol[Given]):
    """What one job works on; it needs nothing else, so that it can run anywhere."""

    def run(self) -> Given:
        """Do the work, and return what comes of it."""


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
    given: set[str] = set()
    # joblib asks for further tasks in whichever thread has just finished one
    at, sender = places(), _here()
    tasks = (_Task(job, at, sender) for job in jobs)
    with (
        pt.tqdm(total=total, desc=desc, unit=unit, disable=not verbose) as bar,
        closing(_outcomes(tasks, n_jobs, prefer)) as outcomes,
    ):
        for outcome in outcomes:
            bar.update()
            for message in outcome.heard:
                if str(message) not in given:
                    given.add(str(message))
                    give(message)
            error = outcome.error
            if error is None:
                yield cast(Done, outcome.value)
            elif outcome.trace is None:
                raise error
            else:
                raise error from None if isinstance(error, InputError) else _RemoteError(f"\n{outcome.trace}")


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


def _here() -> tuple[str, int, int]:
    # processes on two machines may have one number
    return socket.gethostname(), os.getpid(), threading.get_ident()


@dataclass(frozen=True)
class _Task(Generic[Done]):
    """A job, and what its worker must know of the caller."""

    job: Job[Done]
    places: tuple[str, ...]
    sender: tuple[str, int, int]


@dataclass(frozen=True)
class _Outcome(Generic[Done]):
    """What came of a job: a value or an error, and its trace from another process."""

    value: Done | None = None
    error: Exception | None = None
    heard: list[ReuseWarning] = field(default_factory=list)
    trace: str | None = None


def _run(task: _Task[Done]) -> _Outcome[Done]:
    """Do a job, here or in a worker, and return what came of it; an interruption alone is raised."""
    from joblib import parallel_config

    place, away = getattr(task.job, "place", None), _here()[:2] != task.sender[:2]
    heard: list[ReuseWarning] = []
    with ExitStack() as stack:
        if _here() != task.sender:
            stack.enter_context(hearing(heard, task.places))
        if away:
            # the cores are those of the jobs beside this one
            stack.enter_context(parallel_config("threading", n_jobs=1))
        stack.enter_context(located(place) if place else nullcontext())
        try:
            return _Outcome(task.job.run(), heard=heard)
        except Exception as error:
            return _failed(error, place, heard, away=away)


def _failed(error: Exception, place: str | None, heard: list[ReuseWarning], *, away: bool) -> _Outcome[Any]:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    trace = "".join(traceback.format_exception(error)) if away else None
    if away:
        try:
            # many a class of errors is made from other arguments than it keeps
            travels = str(pickle.loads(pickle.dumps(error))) == str(error)
        except Exception:
            travels = False
        error = error if travels else RuntimeError(text)
    # ours begin with the place already
    if place is not None and not isinstance(error, InputError):
        if error.args == (str(error),):
            error.args = (f"{place}: {error.args[0]}",)
        else:
            cause, error = error, RuntimeError(f"{place}: {text}")
            error.__cause__ = cause
    return _Outcome(error=error, heard=heard, trace=trace)


class _RemoteError(Exception):
    """Where an error was raised in a worker, printed as its cause."""


def _outcomes(
    tasks: Iterator[_Task[Done]], n_jobs: int | None, prefer: str | None
) -> Generator[_Outcome[Done], None, None]:
    """Yield what comes of each task, in order."""
    place, n, backend = _configured(n_jobs, prefer)
    if place is JobPlace.HERE:
        yield from map(_run, tasks)
        return
    from joblib import Parallel, delayed

    done: Any = []
    try:
        if hasattr(backend, "client"):
            done = _by_dask(backend, tasks)
        else:
            # Ray gives all results at the end; arrays of jobs are small
            how = "generator" if backend.supports_return_generator else "list"
            parallel = Parallel(n_jobs=n, prefer=prefer, return_as=how, max_nbytes=None)
            done = parallel(delayed(_run)(task) for task in tasks)
        # not `yield from`, which would end them itself
        for outcome in done:  # noqa: UP028
            yield outcome
    except InputError:
        raise
    except (PicklingError, TypeError, AttributeError) as error:
        # loky's cause is a printed traceback
        reason = str(error.__cause__ or error).strip('"\n').split("\n")[-1]
        raise InputError(
            f"a job cannot be sent to another process: {reason}. Use threads, joblib.parallel_config('threading'), or "
            "n_jobs=1."
        ) from error
    except Exception as error:
        # what a job raises comes as its outcome
        raise _broken(error) from error
    finally:
        # where the caller wants no more, joblib warns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(done, "close", list)()


def _by_dask(backend: Any, tasks: Iterator[_Task[Any]]) -> Iterator[_Outcome[Any]]:
    # joblib's own door waits for ever for a job whose workers died
    options = getattr(backend, "submit_kwargs", None) or {}
    futures = [backend.client.submit(_run, task, pure=False, **options) for task in tasks]
    try:
        # inside of a worker of the cluster this leaves its place to the jobs
        with backend.retrieval_context():
            for future in futures:
                yield future.result()
    finally:
        # the scheduler forgets what nobody waits for
        for future in futures:
            future.release()


def _broken(error: Exception) -> InputError:
    reason = str(error).strip().split("\n")[0].split(". ")[0].rstrip(".")
    return InputError(
        f"workers died, or their cluster does not answer ({type(error).__name__}: {reason}). Most often memory was too "
        "small: do fewer jobs at a time (n_jobs=1) or give workers more of it."
    )


@contextmanager
def folder_for_jobs() -> Iterator[str]:
    """Make a folder for files for workers, which goes in the end; those that killed processes left go before."""
    from joblib import parallel

    # what parallel_config(temp_folder=...) says; joblib has no public way to ask
    settings = getattr(getattr(parallel, "_backend", None), "config", None) or {}
    inside = settings.get("temp_folder")
    if not isinstance(inside, str | os.PathLike):
        inside = os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary(Path(inside).expanduser(), of_files=True)) / TREE
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise InputError(
                f"the folder in which joblib puts files for workers cannot be written to: {inside} "
                f"({error.strerror or error}). Make it, or name another one with "
                "joblib.parallel_config(temp_folder=...)."
            ) from error
        yield str(folder)
