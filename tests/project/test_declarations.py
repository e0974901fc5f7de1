"""What studies declare: the table that the command line reads, docstrings with every argument, and checks."""

from __future__ import annotations

from types import ModuleType

import pytest
from declared import STUDIES

import pt_reuse as ptr
from pt_reuse.cli.parser import commands, declaration
from pt_reuse.options import Option, documented
from pt_reuse.study import study_of


def test_what_is_read_off_the_source_is_what_the_study_declares():
    for study in map(study_of, STUDIES.values()):
        read = declaration(study.name)
        assert (read.call.__module__, read.words, read.data) == (study.call.__module__, study.words, study.data)
        assert list(read.flags.items()) == list(study.flags.items())
        assert read.defaults.get("contributors") == study.defaults.get("contributors")


def test_commands_are_those_of_the_studies():
    expected = {s.words.command: (s.name, s.words) for s in map(study_of, STUDIES.values()) if s.words.summary}
    assert commands() == expected


NAMESPACES = {name: value for name in ptr.__all__ if isinstance(value := getattr(ptr, name), ModuleType)}


def test_a_namespace_has_its_studies_under_their_names():
    for group in ("", "judging", "labels", "pools", "profile"):
        space = NAMESPACES[group] if group else ptr
        expected = {study_of(call).public: call for call in STUDIES.values() if study_of(call).words.group == group}
        for name, call in expected.items():
            assert name in space.__all__, f"{space.__name__}: write {name} in the stub"
            if call.__name__ == name:  # what is studied by a command alone has a name of its own
                assert getattr(space, name) is call
        assert not ({study_of(call).public for call in STUDIES.values()} - expected.keys()) & set(space.__all__)


def test_an_entry_of_the_docstring_comes_first():
    def call(depth, own, rel):
        """Say what.

        Args:
            own: of this alone,
                in two lines.

        Returns:
            int: it.
        """

    lines = documented(call, {"depth": Option("of mine.", name="depth")}).splitlines()
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


def test_an_option_refuses_what_it_cannot_take_by_its_name():
    faults = []
    for name, argument in OPTIONS:
        refused = set()
        for value in ODD:
            try:
                study_of(STUDIES[name]).parameters[argument].checked(value)
            except ptr.InputError as error:
                refused.add(error.argument)
        faults += [] if refused == {argument} else [(name, argument, refused)]
    assert faults == []
