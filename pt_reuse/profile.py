"""The profile of a collection: what is unjudged, how many documents are relevant, how stable its rankings are."""

from pt_reuse._plugin import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
