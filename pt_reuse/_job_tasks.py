"""What is sent to a worker, and what comes back: a value or an error, with the warnings that were given on the way."""

from __future__ import annotations

import errno
import os
import pickle
import socket
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, cast

from pt_reuse._errors import Circumstances, InputError, Option, ReuseWarning, located, warn_again, warn_as

#: times that workers may die with the next job among what they do: with others, with others again, and with it alone
TRIES = 3
#: jobs for each worker that are handed out, or have come back and are not fetched
AHEAD = 4
Done = TypeVar("Done")
Given = TypeVar("Given", covariant=True)
#: where warnings of other libraries go that are given inside of a job in a worker process
_SHOWN: ContextVar[list[Shown] | None] = ContextVar("pt_reuse_shown", default=None)


class Job(Protocol[Given]):
    """What one job works on; it needs nothing else, so that it can run anywhere.

    It may have a ``place: str``, such as ``topics '101' to '116' of runs/blocks-3``, which its errors begin with.
    """

    def run(self) -> Given:
        """Do the work, and return what comes of it."""


class LostError(Exception):
    """Workers died; what they had, and what has come back from others and is not fetched, is to be done again.

    Args:
        said: what the library said.
        times: how often a worker has died with the next job, `TRIES` where it is known that this job was all it did.
    """

    def __init__(self, said: str, *, times: int = 1):
        super().__init__(said)
        self.times = times


@dataclass(frozen=True)
class Place:
    """Where code runs: processes on two machines may have one number."""

    host: str
    process: int
    thread: int

    @classmethod
    def here(cls) -> Place:
        """Return where this runs."""
        return cls(socket.gethostname(), os.getpid(), threading.get_ident())


@dataclass(frozen=True)
class Shown:
    """A warning of another library, as it can be given again elsewhere."""

    text: str
    category: type[Warning]
    file: str
    line: int


@dataclass(frozen=True)
class Task(Generic[Done]):
    """A job, and what its worker must know of the caller.

    Attributes:
        job: the work.
        number: from 1, in the order of the jobs.
        of: how many jobs there are.
        circumstances: of the caller.
        sender: where the caller runs.
    """

    job: Job[Done]
    number: int
    of: int
    circumstances: Circumstances
    sender: Place

    @property
    def place(self) -> str | None:
        """Return where the job works, None where it does not say."""
        return getattr(self.job, "place", None)

    @property
    def named(self) -> str:
        """Return the job's place, or its number where it has none."""
        return self.place or f"number {self.number:,} of {self.of:,}"


@dataclass(frozen=True)
class Outcome(Generic[Done]):
    """What came of a job.

    Attributes:
        value: what it returned, None where it failed.
        error: what it raised, None where it did not.
        trace: where it was raised, for an error that comes from another process.
        absent: the file that an error says is not there.
        host: the machine that did it.
        heard: our warnings, in order; those of the caller's own thread are given at once.
        shown: warnings of other libraries, of a worker process; those of the caller's process are given at once.
    """

    value: Done | None = None
    error: Exception | None = None
    trace: str | None = None
    absent: str | None = None
    host: str = ""
    heard: list[ReuseWarning] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)


def run_task(task: Task[Done]) -> Outcome[Done]:
    """Do a job, here or in a worker, and return what came of it; an interruption alone is raised."""
    at = Place.here()
    away = (at.host, at.process) != (task.sender.host, task.sender.process)
    heard: list[ReuseWarning] = []
    shown: list[Shown] = []
    with ExitStack() as stack:
        if at != task.sender:
            stack.enter_context(task.circumstances.hearing(heard))
        if task.place:
            stack.enter_context(located(task.place))
        if away:
            _listen()
            token = _SHOWN.set(shown)
            stack.callback(_SHOWN.reset, token)
        try:
            return Outcome(task.job.run(), heard=heard, shown=shown)
        except Exception as error:
            return _failed(error, task.place, heard, shown, away=away)


def packed(task: Task[Any], dumps: Callable[[Any], bytes]) -> bytes:
    """Return a task as the workers of a cluster take it, pickled by their library, or say that it cannot be sent."""
    try:
        return dumps(task)
    except Exception as error:
        raise unsendable(error) from error


def unsendable(error: BaseException) -> InputError:
    """Return what to tell the user where a job, or what it returned, cannot be sent to another process."""
    # loky's text is a whole traceback
    lines = [line for found in chain(error) for line in str(found).splitlines() if line.strip(' "')]
    said = lines[-1] if lines else type(error).__name__
    return InputError(
        f"a job cannot be sent to another process: {said}. Use threads, joblib.parallel_config('threading'), or ",
        Option("n_jobs", 1),
        ".",
    )


def run_packed(packed: bytes) -> Outcome[Any]:
    """Unpack a task and do it in a worker; what cannot be unpacked is told as what came of it.

    Other parallel work inside of the job is done one at a time: the cores are those of the jobs beside it.
    """
    from joblib import parallel_config

    try:
        task = pickle.loads(packed)
    except Exception as error:
        return _failed(error, None, [], [], away=True)
    with parallel_config("threading", n_jobs=1):
        return run_task(task)


def value_of(outcome: Outcome[Done], told: set[tuple[type, str]]) -> Done:
    """Return what a job returned or raise what it raised, in the caller, and give its warnings that were not told yet.

    Args:
        outcome: what came of the job.
        told: kind and text of the warnings that were given already; added to.
    """
    for message in outcome.heard:
        if _is_new(type(message), str(message), told):
            warn_as(message)
    for shown in outcome.shown:
        if _is_new(shown.category, shown.text, told):
            warn_again(shown.text, shown.category, shown.file, shown.line)
    if outcome.error is not None:
        _raise(outcome.error, outcome)
    # None is what the job returned
    return cast(Done, outcome.value)


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and what it was raised from or while handling."""
    seen: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in seen:
        seen.append(following)
        yield following
        following = following.__cause__ or following.__context__


def import_failure(error: BaseException) -> InputError | None:
    """Return what to tell the user where a worker could not import something, None where it is another error."""
    for found in chain(error):
        if isinstance(found, ImportError):
            return InputError(
                f"a worker cannot import what the job needs ({found}). Install for workers the same packages as here."
            )
    return None


class _RemoteError(Exception):
    """Where an error was raised in a worker, printed as its cause."""


def _raise(error: Exception, outcome: Outcome[Any]) -> None:
    if outcome.trace is None:
        raise error
    if outcome.absent is not None and os.path.exists(outcome.absent):
        folder = outcome.absent if os.path.isdir(outcome.absent) else os.path.dirname(os.path.abspath(outcome.absent))
        place = error.place if isinstance(error, InputError) else None
        raise InputError(
            f"the worker on {outcome.host} cannot see {folder}, which is here. Give a folder that all workers share, "
            "by its whole path.",
            place=place,
        ) from None
    if isinstance(error, InputError):
        raise error from None
    raise error from _RemoteError(f"\n{outcome.trace}")


def _is_new(kind: type, text: str, told: set[tuple[type, str]]) -> bool:
    if (kind, text) in told:
        return False
    told.add((kind, text))
    return True


def _failed(
    error: Exception, place: str | None, heard: list[ReuseWarning], shown: list[Shown], *, away: bool
) -> Outcome[Any]:
    absent = next((e.filename for e in chain(error) if isinstance(e, OSError) and e.errno == errno.ENOENT), None)
    trace = "".join(traceback.format_exception(error)) if away else None
    if away and isinstance(error, ImportError):
        error = import_failure(error) or error
    if away and not _travels(error):
        error = RuntimeError(_text(error))
    error = _placed(error, place)
    path = os.fsdecode(absent) if isinstance(absent, str | bytes | os.PathLike) else None
    return Outcome(None, error, trace, path, Place.here().host, heard, shown)


def _placed(error: Exception, place: str | None) -> Exception:
    """Return an error that begins with the place, as ours do already; others keep their kind where they are a text."""
    if place is None or isinstance(error, InputError):
        return error
    if len(error.args) == 1 and isinstance(error.args[0], str) and str(error) == error.args[0]:
        error.args = (f"{place}: {error.args[0]}",)
        return error
    placed = RuntimeError(f"{place}: {_text(error)}")
    placed.__cause__ = error
    return placed


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _travels(error: Exception) -> bool:
    """Return whether an error can be sent: many a class of errors is made from other arguments than it keeps."""
    try:
        return str(pickle.loads(pickle.dumps(error))) == str(error)
    except Exception:
        return False


def _listen() -> None:
    """Have warnings that are given inside of a job go to the job, whichever thread of this worker process it runs in.

    ``warnings.catch_warnings`` is for one thread, and Dask's workers have several.
    """
    if isinstance(warnings.showwarning, _Listening):
        return
    warnings.showwarning = _Listening(warnings.showwarning)


class _Listening:
    """What shows warnings in a worker process."""

    def __init__(self, before: Any):
        self.before = before

    def __call__(
        self, message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
    ) -> None:
        shown = _SHOWN.get()
        if shown is None:
            self.before(message, category, filename, lineno, file, line)
        else:
            shown.append(Shown(str(message), category, filename, lineno))
