"""A result with a field of every kind, and a table with a cell of every kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pandas as pd

from pt_reuse.result import Result


class Kind(Enum):
    ONE = "one"
    OTHER = "other"


@dataclass(frozen=True)
class Part:
    names: tuple[str, ...]
    of_run: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Whole(Result):
    """A result with a field of every kind."""

    frame: pd.DataFrame
    part: Part
    parts: list[Part]
    kind: Kind | None
    values: np.ndarray
    words: np.ndarray
    number: float
    listed: list[str]
    pair: tuple[int, str]
    by_name: dict[str, float]

    def tables(self):
        return {"table": self.table, "odd name": self.frame, "derived": self.table.head(1)}


ODD = [
    "a,b", 'say "x"', "two\nlines", "one\r", "\r\n", "", " ", "é", "\udcff", "None", "nan", "NaN", "1", "True", "<NA>",
]  # fmt: skip


def odd_frame():
    n = len(ODD)
    cells = np.empty(n, dtype=object)
    cells[:] = [None, math.nan, pd.NA, True, False, 3, 0.1, "text", "", "None", -(2**70), np.int64(4), "x", "y", 1e300]
    return pd.DataFrame(
        {
            "text": pd.Series(ODD, dtype=object),
            "mixed": cells,
            "float": [0.1, math.nan, math.inf, -math.inf, -0.0, 5e-324, *range(n - 6)],
            "int": np.arange(n),
            "small": np.arange(n, dtype=np.uint8),
            "bool": np.arange(n) % 2 == 0,
            "some": pd.array([1, None] * (n // 2) + [3], dtype="Int64"),
            "maybe": pd.array([True, None, False] * (n // 3), dtype="boolean"),
            "none": np.full(n, None, dtype=object),
            "strings": pd.Series([*ODD[:-1], None], dtype=object),
            'q"u,o\nte': pd.Series(ODD[::-1], dtype=object),
            "single": np.linspace(0, 1, n, dtype=np.float32),
        }
    )


def whole(**changes):
    given_fields = {
        "table": odd_frame(),
        "settings": {"depth": np.int64(3), "share": math.nan, "who": "ü\udcff", "none": None, "list": [1, "a"]},
        "frame": odd_frame()[["mixed"]],
        "part": Part(("a", "b"), np.array([1, 0])),
        "parts": [Part((), np.zeros(0))],
        "kind": Kind.OTHER,
        "values": np.random.default_rng(0).random((2, 3, 4)),
        "words": np.array(["a", None], dtype=object),
        "number": math.inf,
        "listed": ["x", "\n"],
        "pair": (1, "b"),
        "by_name": {"a": 0.1, "b": math.nan},
    }
    return Whole(**given_fields | changes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Numbered(Result):
    """A result all of whose parts say one number."""

    other: pd.DataFrame
    values: np.ndarray
    number: int

    @classmethod
    def of(cls, number):
        # of different sizes, and with a table that not every number has
        table = pd.DataFrame({"number": np.full(300 + number % 7, number)})
        return cls(
            table=table, other=table.head(2), values=np.full(500, number), number=number, settings={"of": number}
        )

    def tables(self):
        return {"table": self.table, "again": self.table} if self.number % 2 else {"table": self.table}

    def numbers(self):
        """Return the numbers that its parts say: one, unless they are of several results."""
        parts = (self.table["number"], self.other["number"], self.values, [self.number, self.settings["of"]])
        return {int(number) for part in parts for number in part}
