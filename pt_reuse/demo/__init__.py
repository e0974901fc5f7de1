"""A simulated field of runs with judgments, to try things on."""

from pt_reuse._plugin import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
