"""Can I trust this test collection for my system? Pools, leave-out-uniques and reusability for PyTerrier."""

import lazy_loader

# PyTerrier imports every plugin at its own start: a public name is loaded when it is first used, from where the stub
# beside this file says
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
