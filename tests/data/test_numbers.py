"""Numbers in a byte buffer against float(), bit for bit."""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.data.frame_columns import parse_numbers, plain_decimal

PLAIN = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parsed(texts):
    """Return (values, set of the rows that hold no number) of tokens that stand one after the other."""
    tokens = [text.encode("utf-8", "surrogatepass") for text in texts]
    buffer = np.frombuffer(b" " * 40 + b" ".join(tokens) + b" " * 24, dtype=np.uint8)
    lengths = np.array([len(token) for token in tokens], dtype=np.int64)
    starts = 40 + np.cumsum(lengths + 1) - lengths - 1
    values, wrong = parse_numbers(buffer, starts, starts + lengths)
    assert wrong.tolist() == sorted(set(wrong.tolist()))
    return values.tolist(), set(wrong.tolist())


def check(texts):
    values, wrong = parsed(texts)
    for row, text in enumerate(texts):
        number = float(text) if PLAIN.fullmatch(text) else float("nan")
        if number - number != 0:  # nan or infinite
            assert row in wrong, text
        else:
            assert row not in wrong, text
            assert struct.pack("d", values[row]) == struct.pack("d", number), text


decimals = st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,30})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?", fullmatch=True)
#: decimals that lie at, or next to, the middle between two float64
middles = st.tuples(st.floats(1e-6, 1e6), st.integers(-2, 2), st.integers(16, 45)).map(
    lambda drawn: f"{Decimal(drawn[0]) + Decimal(math.ulp(drawn[0])) / 2:.{drawn[2]}f}"[: 8 + drawn[2] + drawn[1]]
)


NO_NUMBERS = (
    "nan inf -inf NaN Infinity 1_0 0x1 1e999 -1e999 . - + -. +-1 --1 1.2.3 1..2 e5 1e 1e+ 1,5 １ ٣ 1d5 1.5f .. 1.- 1/2 "
    "0.5. .5. 1234567.8. 1.2345678.9 1.23456789012.3 12345678.1234567. / : 1: 1\u00a0000 " + "9" * 400
)


def test_what_is_no_finite_decimal():
    for text in NO_NUMBERS.split(" "):
        assert parsed([text])[1] == {0}, text
        # the same among other tokens of the same length
        assert parsed(["0" * len(text), text, "0" * len(text)])[1] >= {1}, text
        assert set(text) == {"9"} or not np.isfinite(plain_decimal(text.encode())), text


@given(texts=st.lists(st.one_of(middles, decimals), min_size=1, max_size=20))
def test_long_decimals_are_rounded_once(texts):
    check(texts)


def test_every_length_and_every_place_of_the_dot():
    digits = "98765432109876543210"
    texts = [digits[:n] for n in range(1, 21)]
    texts += [digits[:dot] + "." + digits[dot:n] for n in range(1, 21) for dot in range(n + 1)]
    texts += [text[:at] + odd + text[at:] for text in ("12", "9.87654321") for at in range(3) for odd in "/:.-+Aa"]
    check([sign + text for sign in ("", "-", "+") for text in texts])
