"""Can I trust this test collection for my system? Pools, leave-out-uniques and reusability for PyTerrier."""

from pt_reuse._plugin import lazily

# PyTerrier imports every plugin at its own start: a public name is loaded when it is first used
__getattr__, __dir__, __all__ = lazily(__name__, __file__)
