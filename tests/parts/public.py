"""What is public: names of the package, of its namespaces such as `judging.Judge`, and the classes of results."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType

import pt_reuse as ptr
from pt_reuse.experiment.artifact import Packed
from pt_reuse.result import Record

#: what functions return that is no record of tables
OTHERS = {
    "Report": "pt_reuse._report",
    "ReuseDataset": "pt_reuse.collections.dataset",
    "ExperimentResult": "pt_reuse.experiment.experiment_result",
}
NAMESPACES = {name: value for name in ptr.__all__ if isinstance(value := getattr(ptr, name), ModuleType)}
#: name, with that of the namespace -> what it is
PUBLIC = {name: getattr(ptr, name) for name in ptr.__all__ if name not in {*NAMESPACES, "__version__"}}
PUBLIC |= {f"{space}.{name}": getattr(module, name) for space, module in NAMESPACES.items() for name in module.__all__}


def kinds() -> dict[str, type[Record]]:
    """Return every kind of record by its name; what others are made of is no kind of its own."""
    for module in pkgutil.walk_packages(ptr.__path__, "pt_reuse."):
        importlib.import_module(module.name)
    found, todo = set[type[Record]](), [Record]
    while todo:
        todo += (more := todo.pop().__subclasses__())
        # what an artifact is made of is shown by nobody
        found |= {kind for kind in more if kind.__module__.startswith("pt_reuse.") and kind is not Packed}
    return {kind.__name__: kind for kind in found if not kind.__subclasses__()}


#: what functions return, which nobody makes: kind -> the class
RESULTS = {**kinds(), **{name: getattr(importlib.import_module(home), name) for name, home in OTHERS.items()}}
RESULTS = {name: kind for name, kind in RESULTS.items() if name not in PUBLIC}


def functions() -> Iterator[tuple[str, Callable]]:
    """Yield (name, function) of every public function, and of every public method of a class of ours but errors."""
    for name, value in {**PUBLIC, **RESULTS}.items():
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and "pt_reuse" in value.__module__ and not issubclass(value, Exception):
            for member in dir(value):
                found = inspect.getattr_static(value, member)
                found = getattr(found, "__func__", found)
                if inspect.isfunction(found) and not member.startswith("_"):
                    yield f"{name}.{member}", found
