"""How far two rankings agree: correlations, drops and rises."""

from pt_reuse._plugin import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
