"""`pt-reuse judge`: documents go out to people, what they say comes back, and how far they agree."""

from __future__ import annotations

from pt_reuse.cli import judge_agreement, judge_export, judge_import
from pt_reuse.cli.parser import Commands, Parser, add_family

#: each has `add_to(commands)`, as a command of its own has; another is added here and in its own file
_MEMBERS = (judge_export, judge_import, judge_agreement)


def add_to(commands: Commands) -> Parser:
    """Add the commands of the family and return the parser above them."""
    summary = "give documents to people to be judged, read what they said, and see how far they agree"
    return add_family(commands, "judge", summary, [member.add_to for member in _MEMBERS])
