"""Jobs that other processes do, for tests of what does them."""

from __future__ import annotations

import os
import pickle
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pt_reuse.errors import InputError, shown, warn


def assert_small(job, most=10_000):
    """Assert that a job goes to another process in a few bytes."""
    size = len(pickle.dumps(job))
    assert size <= most, f"{type(job).__name__} takes {size:,} bytes"


@dataclass(frozen=True)
class Draws:
    """Draws of a seed of its own: the same wherever they are made."""

    number: int
    seconds: float = 0.0

    def run(self):
        time.sleep(self.seconds)
        return np.random.default_rng([7, self.number]).normal(size=5)


@dataclass(frozen=True)
class Where:
    """Which process does the job."""

    number: int

    def run(self):
        time.sleep(0.05)
        return os.getpid()


@dataclass(frozen=True)
class Wrong:
    """A job that cannot be done."""

    number: int
    kind: str
    place: str = "topics '101' to '116' of runs/blocks-3"

    def run(self):
        if self.number != 3:
            return self.number
        if self.kind == "input":
            raise InputError(f"depth must be 1 or more, got {shown(0)}.", argument="depth")
        raise OddError("alpha", 2)


class OddError(Exception):
    """An error that cannot be made anew from what it keeps."""

    def __init__(self, name, number):
        super().__init__(f"{name} {number}")


@dataclass(frozen=True)
class Warned:
    """A job that warns, as every other job does."""

    number: int

    def run(self):
        warn("odd but usable.")
        return self.number


@dataclass(frozen=True)
class Dying:
    """A job whose worker dies."""

    number: int
    marks: Path

    def run(self):
        if self.number == 3:
            (self.marks / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.02)
        return self.number


@dataclass(frozen=True)
class Noted:
    """A job that leaves a mark when it begins, and then takes a while."""

    number: int
    marks: Path
    seconds: float

    def run(self):
        (self.marks / f"{self.number}-{os.getpid()}").touch()
        time.sleep(self.seconds)
        return self.number
