"""Answers judged by items (nuggets, rubric answers, claims): banks without a team, their growth, new systems."""

from pt_reuse._plugin import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
