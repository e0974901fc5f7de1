"""What is sent to a worker, and what comes back: a value or an error, with the warnings that were given on the way."""

from __future__ import annotations

import errno
import os
import pickle
import socket
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from tempfile import mkstemp
from typing import Any, Generic, Protocol, TypeVar, cast

from pt_reuse.errors import InputError, ReuseWarning, give, hearing, located, places

Done = TypeVar("Done")
Given = TypeVar("Given", covariant=True)
#: bytes of arrays from which on what a job returns goes through a file
_LARGE = 1 << 16
#: warnings of other libraries that are given inside of a job in a worker process: text, kind, file and line of each
_SHOWN: ContextVar[list[tuple[str, type[Warning], str, int]] | None] = ContextVar("pt_reuse_shown", default=None)


class Job(Protocol[Given]):
    """What one job works on; it needs nothing else, so that it can run anywhere."""

    def run(self) -> Given:
        """Do the work, and return what comes of it."""


def _here() -> tuple[str, int, int]:
    # processes on two machines may have one number
    return socket.gethostname(), os.getpid(), threading.get_ident()


@dataclass(frozen=True)
class Task(Generic[Done]):
    """A job, what it is called, and what its worker must know of the caller."""

    job: Job[Done]
    named: str
    places: tuple[str, ...] = field(default_factory=places)
    sender: tuple[str, int, int] = field(default_factory=_here)


@dataclass(frozen=True)
class Outcome(Generic[Done]):
    """What came of a job: a value or an error, and from another process its trace and the missing file it tells of."""

    value: Done | None = None
    error: Exception | None = None
    trace: str | None = None
    absent: str | None = None
    host: str = ""
    heard: list[ReuseWarning] = field(default_factory=list)
    shown: list[tuple[str, type[Warning], str, int]] = field(default_factory=list)


def run_task(task: Task[Done]) -> Outcome[Done]:
    """Do a job, here or in a worker, and return what came of it; an interruption alone is raised."""
    place, away = getattr(task.job, "place", None), _here()[:2] != task.sender[:2]
    outcome: Outcome[Done] = Outcome()
    with ExitStack() as stack:
        if _here() != task.sender:
            stack.enter_context(hearing(outcome.heard, task.places))
        if place:
            stack.enter_context(located(place))
        if away:
            _listen()
            stack.callback(_SHOWN.reset, _SHOWN.set(outcome.shown))
        try:
            return Outcome(task.job.run(), heard=outcome.heard, shown=outcome.shown)
        except Exception as error:
            return _failed(error, place, outcome, away=away)


def run_away(task: Task[Any], folder: str | None = None) -> Outcome[Any] | bytes | str:
    """Do a job in another process, and return what came of it as a pickle, or the path of a file in a folder with it.

    Other parallel work inside of the job is done one at a time: the cores are those of the jobs beside it.
    """
    import cloudpickle
    from joblib import parallel_config

    with parallel_config("threading", n_jobs=1):
        outcome = run_task(task)
    try:
        if folder is not None and isinstance(outcome.value, dict):
            arrays = sum(getattr(value, "nbytes", 0) for value in outcome.value.values())
            # where the disk is full, pipes need none
            with suppress(OSError):
                if arrays >= _LARGE:
                    return _written(outcome, folder)
        return cast(bytes, cloudpickle.dumps(outcome))
    except Exception as error:
        return _failed(unsendable(error), None, Outcome(), away=True)


def _written(outcome: Outcome[Any], folder: str) -> str:
    import cloudpickle

    handle, path = mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            cloudpickle.dump(outcome, file, protocol=5)
    except BaseException:
        os.unlink(path)
        raise
    return path


def unpacked(result: Outcome[Any] | bytes | str) -> Outcome[Any]:
    """Return what came of a task; a file that held it goes."""
    if isinstance(result, Outcome):
        return result
    if isinstance(result, bytes):
        return cast("Outcome[Any]", pickle.loads(result))
    with open(result, "rb") as file:
        outcome: Outcome[Any] = pickle.load(file)
    os.unlink(result)
    return outcome


def value_of(outcome: Outcome[Done], told: set[tuple[type, str]]) -> Done:
    """Return what a job returned or raise what it raised, and give the warnings that were not told yet."""
    for message in outcome.heard:
        if (type(message), str(message)) not in told:
            told.add((type(message), str(message)))
            give(message)
    for text, category, file, line in outcome.shown:
        if (category, text) not in told:
            told.add((category, text))
            warnings.warn_explicit(text, category, file, line)  # noqa: TID251
    if outcome.error is not None:
        _raise(outcome.error, outcome)
    # None is what the job returned
    return cast(Done, outcome.value)


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


def unsendable(error: BaseException) -> InputError:
    """Return the error for a job, or what it returns, that is no pickle."""
    # loky's cause is a printed traceback
    said = str(error.__cause__ or error).strip('"\n').split("\n")[-1]
    return InputError(
        f"a job cannot be sent to another process: {said}. Use threads, joblib.parallel_config('threading'), or "
        "n_jobs=1."
    )


def _failed(error: Exception, place: str | None, told: Outcome[Any], *, away: bool) -> Outcome[Any]:
    absent = next((e.filename for e in _chain(error) if isinstance(e, OSError) and e.errno == errno.ENOENT), None)
    path = os.fsdecode(absent) if isinstance(absent, str | bytes | os.PathLike) else None
    trace = "".join(traceback.format_exception(error)) if away else None
    if away and not _travels(error):
        error = RuntimeError(_text(error))
    return Outcome(None, _placed(error, place), trace, path, _here()[0], told.heard, told.shown)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and what it was raised from or while handling."""
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or following.__context__


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
    before = warnings.showwarning
    if getattr(before, "is_of_jobs", False):
        return

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        shown = _SHOWN.get()
        if shown is None:
            before(message, category, filename, lineno, file, line)
        else:
            shown.append((str(message), category, filename, lineno))

    # a function has no attributes that types know of
    show.is_of_jobs = True  # type: ignore[attr-defined]
    warnings.showwarning = show
