"""Cost: how often a function was called, for how many documents, tokens, and how much money."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pt_reuse._check import count, positive, told
from pt_reuse._errors import InputError


@dataclass(frozen=True)
class Price:
    """What tokens cost.

    Args:
        input: money for so many tokens that are sent.
        output: money for so many tokens that come back.
        per: how many tokens that money is for; 1,000,000 by default, 1,000 where prices are per 1,000.
        currency: of the money, as it is shown.

    Raises:
        InputError: a price below 0, or one for no whole number of tokens.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.Price(0.15, 0.6)
        Price(input=0.15, output=0.6, per=1000000, currency='USD')
    """

    input: float
    output: float
    per: int = 1_000_000
    currency: str = "USD"

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
                raise InputError(f"{name} must be a price of 0 or more, got {told(value)}.", argument=name)
        positive("per", self.per, "tokens")

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the money for tokens.

        Args:
            input_tokens: tokens that were sent.
            output_tokens: tokens that came back.
        """
        return (self.input * input_tokens + self.output * output_tokens) / self.per


@dataclass(frozen=True)
class Cost:
    """What a judge has cost so far.

    Attributes:
        calls: how often the function was called.
        failed: how many of these calls ended with an error.
        documents: how many documents it answered for.
        from_cache: how many documents had their answers from the cache, at no cost.
        input_tokens: tokens that were sent, as far as the function told.
        output_tokens: tokens that came back, as far as it told.
        told: calls of which it told how many tokens they took.
        price: of the tokens, None where nobody says.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.Cost(calls=2, documents=64, input_tokens=40_000, output_tokens=64, told=2,
        ...                  price=ptr.judging.Price(0.15, 0.6))
        Cost: 64 documents, 2 calls, 40,000 tokens in, 64 out, 0.006038 USD (0.15 in, 0.6 out per 1,000,000 tokens)
    """

    calls: int = 0
    failed: int = 0
    documents: int = 0
    from_cache: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    told: int = 0
    price: Price | None = None

    @property
    def money(self) -> float | None:
        """Return what the tokens cost that the function told of, in the currency of the price.

        None without a price, or where the function was called and told nothing.
        """
        if self.price is None or (self.calls and not self.told):
            return None
        return self.price.of(self.input_tokens, self.output_tokens)

    def plus(self, **more: int) -> Cost:
        """Return the cost with more of something."""
        return replace(self, **{name: getattr(self, name) + value for name, value in more.items()})

    def __repr__(self) -> str:
        parts = [count(self.documents, "document")]
        if self.from_cache:
            parts.append(f"{self.from_cache:,} more from the cache")
        parts.append(count(self.calls, "call") + (f" ({self.failed:,} failed)" if self.failed else ""))
        if self.told:
            parts.append(f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out")
        if self.told < self.calls - self.failed:
            parts.append(f"tokens told of {self.told:,} of {count(self.calls - self.failed, 'answered call')}")
        money: Any = self.money
        if money is not None and self.price is not None:
            price = f"{self.price.input:g} in, {self.price.output:g} out per {self.price.per:,} tokens"
            parts.append(f"{money:.6f} {self.price.currency} ({price})")
        return f"Cost: {', '.join(parts)}"
