"""What is public: the names of the package, and those of its namespaces under theirs, such as `judging.Judge`."""

from __future__ import annotations

from types import ModuleType

import pt_reuse as ptr

NAMESPACES = {name: value for name in ptr.__all__ if isinstance(value := getattr(ptr, name), ModuleType)}
#: name, with that of the namespace -> what it is
PUBLIC = {name: getattr(ptr, name) for name in ptr.__all__ if name not in {*NAMESPACES, "__version__"}}
PUBLIC |= {f"{space}.{name}": getattr(module, name) for space, module in NAMESPACES.items() for name in module.__all__}
