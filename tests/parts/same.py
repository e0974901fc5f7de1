"""Equality of results to the last bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd


def assert_same(one, other, place="result"):
    """Compare two values to the last bit, NaN and None apart."""
    assert type(one) is type(other) or isinstance(one, np.generic), place
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True, obj=place)
        for column in range(one.shape[1]):
            if one.dtypes.iloc[column].kind == "O":
                assert_same(one.iloc[:, column].tolist(), other.iloc[:, column].tolist(), f"{place}[{column}]")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), place
        np.testing.assert_array_equal(one, other)
    elif is_dataclass(one):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name), f"{place}.{field.name}")
    elif isinstance(one, dict):
        assert list(one) == list(other), place
        for key in one:
            assert_same(one[key], other[key], f"{place}[{key}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), place
        for i, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            assert_same(mine, theirs, f"{place}[{i}]")
    else:
        assert one is other or one == other or (one != one and other != other), (place, one, other)
