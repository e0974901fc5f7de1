"""What a pipeline is made of, in words that are the same in every process, to know it again."""

from __future__ import annotations

import dis
import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

#: where an object lies in memory, as Python and Java print it
_ADDRESS = re.compile(r"(?<=0x)[0-9a-fA-F]+|(?<=@)[0-9a-f]{4,}")
#: attributes that change nothing of the results
_IDLE = ("verbose", "label")
#: the longest words that are kept as they are
_LONG = 2000
#: characters of two long lines that are shown before they differ, and of their beginning
_AROUND = 25
#: how deep pipelines, lists and functions lie in one another at most
_DEEP = 12
_CODE = re.compile(r"code [0-9a-f]+ ")


def steps_of(pipeline: pt.Transformer) -> list[str]:
    """Return the steps of a pipeline with their attributes, a line for each.

    What a step was made with is known as far as it keeps it under its name, as PyTerrier's own inspection expects:
    texts, numbers, lists of these, frames, other steps, and the code of functions. An index, a model or another object
    is known by its type alone, and what it holds is not.

    Example:
        >>> steps_of(pt.RankCutoff(10))
        ['RankCutoff k=10', 'RankCutoff RankCutoff(10)']
    """
    return list(_lines(pipeline, "", _DEEP))


def difference(kept: Sequence[str], now: Sequence[str]) -> tuple[str, str] | None:
    """Return the first of the lines in which two pipelines differ, of each where it does, or None where none does.

    The code of functions is told apart by the same version of Python alone.
    """
    comparable = kept[-1] == now[-1]
    kept, now = ([line if comparable else _CODE.sub("", line) for line in lines[:-1]] for lines in (kept, now))
    if kept == now:
        return None
    first = next((i for i, pair in enumerate(zip(kept, now, strict=False)) if pair[0] != pair[1]), None)
    if first is None:
        first = min(len(kept), len(now))
    before, after = ((lines[first] if first < len(lines) else "nothing more") for lines in (kept, now))
    alike = next((i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0) - _AROUND
    if alike <= _AROUND:
        return before, after
    # of long lines, where they begin to differ
    return f"{before[:_AROUND]}...{before[alike:]}", f"{after[:_AROUND]}...{after[alike:]}"


def python_version() -> str:
    """Return the version of Python, as far as the code of functions hangs on it."""
    return "Python {}.{}".format(*sys.version_info)


def has_address(name: str) -> bool:
    """Return whether a name holds where an object lies in memory, which is elsewhere in every process."""
    return _ADDRESS.search(name) is not None


def _lines(step: pt.Transformer, before: str, deep: int) -> Iterator[str]:
    name = f"{before}{type(step).__name__}"
    parts = _parts(step) if deep else {}
    inner = [part for value in parts.values() for part in _steps_in(value)]
    for attribute, value in parts.items():
        if not _steps_in(value):
            yield _short(f"{name} {attribute}={_words(value, deep - 1)}")
    # the text of a pipeline is that of its steps
    own_text = type(step).__repr__ is not object.__repr__ and not inner
    yield _short(f"{name} {_ADDRESS.sub('', repr(step))}" if own_text else name)
    for i, part in enumerate(inner, 1):
        yield from _lines(part, f"{name} > {i} ", deep - 1)


def _parts(step: pt.Transformer) -> dict[str, Any]:
    try:
        attributes = pt.inspect.transformer_attributes(step, strict=False)
    except Exception:  # whatever a transformer of the user's makes of being asked
        return {}
    missing = pt.inspect.TransformerAttribute.MISSING
    return {
        attribute.name: attribute.value
        for attribute in attributes
        if attribute.value is not missing and attribute.name not in _IDLE
    }


def _steps_in(value: Any) -> list[pt.Transformer]:
    if isinstance(value, pt.Transformer):
        return [value]
    several = isinstance(value, list | tuple) and value and all(isinstance(part, pt.Transformer) for part in value)
    return list(value) if several else []


def _words(value: Any, deep: int) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bytes | bool | int | float | complex):
        return repr(value)
    if deep <= 0:
        return type(value).__name__
    if isinstance(value, list | tuple):
        return f"[{', '.join(_words(part, deep - 1) for part in value)}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(_words(part, deep - 1) for part in value))}}}"
    if isinstance(value, dict):
        pairs = (f"{_words(key, deep - 1)}: {_words(part, deep - 1)}" for key, part in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, pd.DataFrame | pd.Series):
        return _of_frame(pd.DataFrame(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        return f"array {value.shape} {_digest(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, FunctionType):
        return _of_function(value, deep)
    if isinstance(value, pt.Transformer):
        return "; ".join(_lines(value, "", deep - 1))
    if isinstance(value, type):
        return value.__name__
    # methods and the like have names; an object has none, and what it holds is not looked at
    return str(getattr(value, "__qualname__", type(value).__name__))


def _of_frame(frame: pd.DataFrame) -> str:
    try:
        rows = _digest(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    except TypeError:
        rows = "of lists"
    return f"frame of {len(frame)} rows {list(map(str, frame.columns))} {rows}"


def _of_function(fn: FunctionType, deep: int) -> str:
    code = fn.__code__
    changed = {step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_GLOBAL", "STORE_DEREF")}
    used = {name: fn.__globals__[name] for name in code.co_names if name in fn.__globals__}
    for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True):
        # one may be empty still
        with suppress(ValueError):
            used[name] = cell.cell_contents
    given = [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
    # lists may be counters of calls; of what a function uses besides, only what it does not change counts
    known = []
    for name, value in sorted(used.items()):
        if isinstance(value, FunctionType):
            known.append(f"{name}={_named(value)}")
        elif name not in changed and (value is None or isinstance(value, str | bool | int | float)):
            known.append(f"{name}={value!r}")
    defaults = ", ".join(_words(value, deep - 1) for value in given)
    return f"{_named(fn)}({defaults})" + (f" with {', '.join(known)}" if known else "")


def _named(fn: FunctionType) -> str:
    return f"function {fn.__name__} code {_digest(_of_code(fn.__code__, fn.__doc__))} "


def _of_code(code: CodeType, documented: str | None = None) -> bytes:
    constants: list[str] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_digest(_of_code(constant)))
        elif isinstance(constant, frozenset):
            constants.append(repr(sorted(map(repr, constant))))
        elif documented is None or constant != documented:
            constants.append(repr(constant))
    return repr((code.co_code, constants, code.co_names, code.co_varnames)).encode("utf-8", "surrogatepass")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _short(line: str) -> str:
    if len(line) <= _LONG:
        return line
    return f"{line[:_LONG]}... {_digest(line.encode('utf-8', 'surrogatepass'))}"
