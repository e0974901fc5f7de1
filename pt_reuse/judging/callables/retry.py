"""Retry: after which errors a function is called again, how often, and after how long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pt_reuse._check import positive, told
from pt_reuse._errors import InputError


@dataclass(frozen=True)
class Retry:
    """Call a function again after errors that pass.

    Args:
        on: the error, or errors, after which it is called again: those of a server that is busy, for instance.
        times: how often it is called again for the same documents, before the error stands.
        wait: seconds before it is called again the first time.
        factor: by how much longer each further wait is than the one before.
        longest: seconds that no wait exceeds.
        sleep: what waits; :func:`time.sleep` by default.

    Raises:
        InputError: what is no error, or a wait that is none.

    Example:
        >>> import pt_reuse as ptr
        >>> list(ptr.judging.Retry(TimeoutError, times=4, wait=10).waits())
        [10.0, 20.0, 40.0, 60.0]
    """

    on: type[Exception] | tuple[type[Exception], ...]
    times: int = 4
    wait: float = 1.0
    factor: float = 2.0
    longest: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        errors = self.on if isinstance(self.on, tuple) and self.on else (self.on,)
        if not all(isinstance(error, type) and issubclass(error, Exception) for error in errors):
            raise InputError(
                f"on must be a class of errors or several in a tuple, such as TimeoutError, got {told(self.on)}.",
                argument="on",
            )
        positive("times", self.times, "further calls")
        for name, least in (("wait", 0), ("factor", 1), ("longest", 0)):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not least <= value < np.inf:
                raise InputError(f"{name} must be a number, at least {least}, got {told(value)}.", argument=name)

    def waits(self) -> Iterator[float]:
        """Yield the seconds before each further call."""
        wait = float(self.wait)
        for _ in range(self.times):
            yield min(wait, float(self.longest))
            wait *= self.factor
