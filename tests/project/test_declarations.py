"""What studies declare: the table that the command line reads, docstrings with every argument, and checks."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import pytest
from declared import STUDIES

import pt_reuse as ptr
from pt_reuse.options import SHARED, Parameter, documented
from pt_reuse.study import DECLARED, study_of

SCRIPT = Path(__file__).parents[2] / "scripts" / "declare.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("declare", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_study_that_is_gone_leaves_the_stubs(script, monkeypatch):
    expected, read = script.written(), Path.read_text
    gone = "from .studies.gone import gone as gone\nfrom .studies.stability import gone as gone_too\n"
    monkeypatch.setattr(Path, "read_text", lambda self, **options: gone + read(self, **options))
    assert script.written() == expected


def test_what_is_made_of_declarations_is_in_step_with_them(script):
    for path, text in script.written().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run scripts/declare.py"


def test_docstrings_have_every_argument_once():
    for declared in DECLARED:
        function = STUDIES[declared["function"]]
        lines = inspect.getdoc(function).splitlines()
        entries = [line.split(":")[0].strip() for line in lines[lines.index("Args:") :] if line[4:5].strip()]
        for name in inspect.signature(function).parameters:
            assert entries.count(name) == 1, f"{declared['function']}, {name}"
        assert max(map(len, lines)) <= 120


def test_an_entry_of_the_docstring_comes_first():
    def call(depth, own, rel):
        """Say what.

        Args:
            own: of this alone,
                in two lines.

        Returns:
            int: it.
        """

    lines = documented(call, {"depth": Parameter(name="depth", meaning="of mine.")}).splitlines()
    assert lines[2:7] == ["Args:", "    depth: of mine.", "    own: of this alone, in two lines.", *lines[5:7]]
    assert lines[5].startswith("    rel: the lowest label that is relevant")
    assert lines[-2:] == ["Returns:", "    int: it."]


def test_what_is_documented_and_not_taken_is_an_error_of_ours():
    def call():
        """Say.

        Args:
            depth: of nothing.
        """

    with pytest.raises(TypeError, match="depth"):
        documented(call, {})


def test_arguments_are_checked_before_data_are_read():
    study = study_of(ptr.by_type)
    assert study.checked({"runs": 1, "depth": None, "splits": "all", "rel": 2}) == {
        "runs": 1,
        "depth": None,
        "splits": None,
        "rel": 2,
    }
    for name, value in {"depth": 0, "splits": "some", "unit": "type", "n_jobs": 0, "verbose": "no"}.items():
        with pytest.raises(ptr.InputError) as caught:
            study.checked({name: value})
        assert caught.value.argument == name


#: what no option takes
ODD = (-7, 1.5e300, object(), "nonsense that nobody means")
#: data, and options of a command alone
LATER = {"leaderboards", "judge_labels", "labels", "gold", "scale", "runs", "human", "judge", "vary"}
OPTIONS = [
    (name, argument)
    for name, study in STUDIES.items()
    for argument, parameter in study_of(study).parameters.items()
    if (parameter.check or parameter.choices) and argument not in LATER and name != "sensitivity_of_uniques"
]


@pytest.mark.parametrize(("name", "argument"), OPTIONS)
def test_an_option_refuses_what_it_cannot_take_by_its_name(name, argument):
    refused = []
    for value in ODD:
        try:
            study_of(STUDIES[name]).parameters[argument].checked(value)
        except ptr.InputError as error:
            refused.append(error.argument)
    assert set(refused) == {argument}


@pytest.mark.parametrize("name", SHARED)
def test_shared_options_say_what_they_mean(name):
    assert SHARED[name].meaning.endswith(".")
