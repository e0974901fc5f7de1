"""Calling a function for batches of documents: again after errors that pass, several at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from pt_reuse.judging.callables.retry import Retry


@dataclass(frozen=True)
class Batch:
    """Documents that one call is for.

    Attributes:
        keys: what stands for each document, and all that is read of it.
        documents: the topic and the name of each.
        arguments: of the call.
    """

    keys: Sequence[str]
    documents: Sequence[tuple[str, str]]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of the calls for a batch.

    Attributes:
        calls: how often the function was called.
        value: what it returned; meaningless where it failed.
        error: the error after which it was not called again, None where it answered.
    """

    calls: int
    value: Any = None
    error: Exception | None = None

    @property
    def failed(self) -> int:
        """Return how many of the calls failed."""
        return self.calls - (self.error is None)


def attempt(fn: Callable[..., Any], arguments: tuple[Any, ...], retry: Retry | None) -> Outcome:
    """Call a function until it answers, or fails in a way that does not pass.

    Args:
        fn: what is called.
        arguments: with which.
        retry: after which errors again; None: after none.
    """
    waits, calls = iter(retry.waits() if retry else ()), 0
    while True:
        calls += 1
        try:
            return Outcome(calls, fn(*arguments))
        except Exception as error:
            wait = next(waits, None) if retry and isinstance(error, retry.on) else None
            if wait is None or retry is None:
                return Outcome(calls, error=error)
            retry.sleep(wait)


class Calls:
    """Calls for batches, of which those that have not begun can be given up.

    Args:
        ask: what makes the calls for a batch.
        threads: how many are made at once.
    """

    def __init__(self, ask: Callable[[Batch], Outcome], threads: int):
        self._ask, self._threads, self._over = ask, threads, threading.Event()

    def give_up(self) -> None:
        """Begin no further call."""
        self._over.set()

    def outcomes(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Outcome]]:
        """Yield each batch with what became of it, as the calls come back."""
        if self._threads == 1:
            for batch in batches:
                if self._over.is_set():
                    return
                yield batch, self._ask(batch)
            return
        pool = ThreadPoolExecutor(self._threads)
        try:
            futures = {pool.submit(self._unless_over, batch): batch for batch in batches}
            for future in as_completed(futures):
                outcome = future.result()
                if outcome is not None:
                    yield futures[future], outcome
        finally:
            self.give_up()
            pool.shutdown(wait=True, cancel_futures=True)

    def _unless_over(self, batch: Batch) -> Outcome | None:
        return None if self._over.is_set() else self._ask(batch)
