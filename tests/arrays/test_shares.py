"""Shares of a number of documents: the nearest whole number, halves up."""

from __future__ import annotations

from fractions import Fraction

from pt_reuse.arrays.stratified import share_of


def test_halves_are_rounded_up_and_the_last_bit_decides_nothing():
    assert [share_of(0.5, n) for n in range(6)] == [0, 1, 1, 2, 2, 3]
    assert [share_of(1 / 3, n) for n in (0, 1, 3, 30)] == [0, 0, 1, 10]
    assert (share_of(0.29, 50), share_of(0.1 / 0.3, 3), share_of(1.0, 7), share_of(0.0, 7)) == (15, 1, 7, 0)


def test_shares_of_a_hundred_equal_those_of_fractions():
    for hundredths in range(101):
        for n in (1, 7, 50, 86_830):
            exact = Fraction(hundredths, 100) * n
            assert share_of(hundredths / 100, n) == int(exact + Fraction(1, 2))
