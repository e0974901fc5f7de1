"""Pools: how they are made, what they cost and find, and what leaving a part of them out does."""

from pt_reuse._plugin import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
