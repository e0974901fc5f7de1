"""Who gives documents their labels, and how they are asked: judges, and what stands behind them."""

import lazy_loader

# as in the package itself: a name is loaded when it is first used, from where the stub beside this file says
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
