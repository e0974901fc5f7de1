"""Importing the package: next to nothing is loaded before it is used, and everything public is there when it is."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from public import NAMESPACES, PUBLIC

import pt_reuse as ptr


def stub(module):
    """Return name -> the module that defines it, of the stub of a namespace; namespaces are in the package itself."""
    file = Path(module.__file__)
    text = file.with_suffix(".pyi").read_text(encoding="utf-8")
    package = module.__name__ if file.stem == "__init__" else ptr.__name__
    aliases = [(alias, (node.level, node.module)) for node in ast.parse(text).body for alias in node.names]
    assert len({alias.name for alias, _ in aliases}) == len(aliases)
    assert all(alias.asname == alias.name for alias, _ in aliases), "type checkers take `x as x` for public"
    return {
        alias.name: importlib.util.resolve_name(f"{'.' * level}{home or ''}", package).rstrip(".")
        for alias, (level, home) in aliases
    }


STUBS = {name: stub(module) for name, module in {"": ptr, **NAMESPACES}.items()}
HIDE = (
    "import importlib.metadata as metadata\n"
    "every = metadata.entry_points\n"
    "def others(**given):\n"
    "    return metadata.EntryPoints(p for p in every(**given) if not p.value.startswith('pt_reuse'))\n"
    "metadata.entry_points = others\n"
)


def said(code):
    """Return the one line of JSON that a fresh interpreter prints."""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(finished.stdout)


def test_pyterrier_loads_of_us_nothing_but_the_names():
    modules = "import json, sys, pyterrier; print(json.dumps([hasattr(pyterrier, 'reuse'), list(sys.modules)]))"
    (here, with_us), (hidden, without) = said(modules), said(HIDE + modules)
    assert here, "the entry point is not installed"
    assert not hidden
    more = set(with_us) - set(without)
    assert {"pt_reuse", "pt_reuse._plugin"} <= more <= {"pt_reuse", "pt_reuse._plugin", "wrapt"}


#: text -> name in the registry, and in the package
OF_PLUGIN = {
    "Unjudged@10": ("Unjudged", "Unjudged"),
    "Unjudged": ("Unjudged", "Unjudged"),
    "xinfAP": ("xinfAP", "pools.xinfAP"),
    "xinfNDCG@5": ("xinfNDCG", "pools.xinfNDCG"),
}


def test_a_measure_is_known_by_its_name_and_loaded_when_it_is_used():
    code = (
        "import json, sys, pyterrier, ir_measures\n"
        "from importlib import import_module\nfrom operator import attrgetter\n"
        "before, found = 'pt_reuse.scoring' in sys.modules, []\n"
        f"for text, (name, public) in {OF_PLUGIN!r}.items():\n"
        "    parse = import_module('pt_reuse.scoring.measures').parse_measures\n"
        "    measure, own = ir_measures.parse_measure(text), attrgetter(public)(pyterrier.reuse)\n"
        "    same = measure == own(**measure.params) == parse(text)[0]\n"
        "    found.append([text, repr(measure), same, ir_measures.measures.registry[name] is own])\n"
        "print(json.dumps([before, found]))\n"
    )
    assert said(code) == [False, [[text, text, True, True] for text in OF_PLUGIN]]


def test_first_use_brings_none_of_the_heavy_libraries():
    code = (
        "import json, sys, pt_reuse\n"
        "for name in pt_reuse.__all__: getattr(pt_reuse, name)\n"
        "for space in ('judging', 'items', 'labels', 'pools', 'profile', 'rankings', 'demo'):\n"
        "    for name in getattr(pt_reuse, space).__all__: getattr(getattr(pt_reuse, space), name)\n"
        "heavy = {'scipy', 'matplotlib', 'joblib', 'isal', 'statsmodels', 'sklearn', 'jnius', 'distributed', 'ray'}\n"
        "print(json.dumps(sorted(heavy & set(sys.modules))))\n"
    )
    assert said(code) == []


# PyTerrier comes first in the tests above
@pytest.mark.parametrize("order", ["pt_reuse, pyterrier", "pt_reuse.data.run_set, pyterrier"])
def test_every_import_order_works(order):
    code = (
        f"import json, {order}, ir_datasets, ir_measures\n"
        "unjudged, demo = ir_measures.parse_measure('Unjudged@10'), ir_datasets.load('reuse/demo')\n"
        "print(json.dumps([pyterrier.reuse is pt_reuse, repr(unjudged), demo.docs_count()]))"
    )
    assert said(code) == [True, "Unjudged@10", 480]


def test_the_stub_names_what_is_public_once():
    assert sorted(STUBS[""]) == ptr.__all__
    for name, module in NAMESPACES.items():
        assert sorted(STUBS[name]) == module.__all__ == dir(module)


def test_a_public_name_is_what_its_module_defines():
    for public in [*PUBLIC, *NAMESPACES, "__version__"]:
        space, _, name = public.rpartition(".")
        home = STUBS[space][name]
        value = getattr(NAMESPACES.get(space, ptr), name)
        assert value is getattr(importlib.import_module(home), name), public
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__module__ == home, f"the stub names the module that defines {public}"
            assert pickle.loads(pickle.dumps(value)) is value


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="depth_pol"):
        ptr.depth_pol  # noqa: B018
    assert not hasattr(ptr, "no_such_name")
