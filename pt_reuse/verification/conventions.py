"""Conventions: the ways to compute a figure, of which its file lists one or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pt_reuse._check import choice, examples
from pt_reuse._errors import InputError, located
from pt_reuse.verification.kinds import KINDS, Kind
from pt_reuse.verification.parameters import Choice, Given, Parameter
from pt_reuse.verification.published import PublishedFigure, Rounding

#: what a convention always tells, in this order; all else where it is not as usual
_ALWAYS = ("order", "contributors")
_ROUNDING = Choice(tuple(rounding.value for rounding in Rounding))


@dataclass(frozen=True)
class Convention:
    """One way to compute a figure.

    Attributes:
        given: all its parameters.
        rounding: how the published numbers were rounded.
        hangs_on: what the numbers hang on: name -> value in words.
    """

    given: Given
    rounding: Rounding
    hangs_on: Mapping[str, str]

    @property
    def label(self) -> str:
        """Return what the numbers hang on, in one line: ``order=trec_eval, depth=5``."""
        return ", ".join(f"{name}={value}" for name, value in self.hangs_on.items())


def conventions_of(figure: PublishedFigure, figures: Sequence[PublishedFigure]) -> list[Convention]:
    """Return the ways to compute a figure, in the order in which its file lists them.

    Args:
        figure: the figure.
        figures: all figures of its file, among which its ``truth`` must be.

    Raises:
        InputError: a kind, a parameter or a name that there is not.
    """
    scored = [other.what for other in figures if other.kind == "scores"]
    with located(figure.place):
        kind = KINDS[choice("kind", figure.kind, tuple(KINDS))]
        return [_convention(figure, kind, overlay, scored) for overlay in figure.conventions]


def _convention(figure: PublishedFigure, kind: Kind, overlay: Mapping[str, Any], scored: Sequence[str]) -> Convention:
    parameters: dict[str, Parameter] = {**kind.parameters, "rounding": _ROUNDING}
    own = {**figure.parameters, **overlay}
    odd = [name for name in own if name not in parameters]
    if odd:
        known = examples(parameters, 20)
        raise InputError(f"kind {figure.kind!r} has no parameter {examples(odd)}; it has {known}.")
    given = {
        name: parameter.checked(name, own[name], scored) if name in own else parameter.usual()
        for name, parameter in parameters.items()
    }
    _check_values(figure, kind, given)
    return Convention(given, Rounding(given["rounding"]), _hangs_on(parameters, given, overlay))


def _hangs_on(parameters: Mapping[str, Parameter], given: Given, overlay: Mapping[str, Any]) -> dict[str, str]:
    """Return what the numbers hang on: order and contributors, and whatever else is not as usual."""
    first = [name for name in _ALWAYS if name in parameters]
    # what a convention lays over the rest comes last, even where it is as usual
    last = [name for name in overlay if name not in first]
    between = [
        name
        for name, parameter in parameters.items()
        # what is computed is told by the figure, how it is computed here
        if name not in first and name not in last and not parameter.says_what and not parameter.is_usual(given[name])
    ]
    return {name: parameters[name].told(given[name]) for name in (*first, *between, *last)}


def _check_values(figure: PublishedFigure, kind: Kind, given: Given) -> None:
    for name, value in figure.values.items():
        kind.names.check(name, given)
        # 0 would stand for all from -.5 to .5
        if not kind.is_count(name, given) and value.unit >= 1 and not value.declared:
            raise InputError(
                f"{value.number:.10g} is a whole number, and this is no count: write the decimals that were published, "
                f'"{value.number:.4f}", or say how many there were, decimals = 4.',
                place=repr(name),
            )
