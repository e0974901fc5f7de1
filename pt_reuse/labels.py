"""Labels of models beside those of people: what they do to the ranking, and how many people must check."""

from pt_reuse._plugin import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
