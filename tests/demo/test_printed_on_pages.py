"""What the pages print of commands on the embedded collection is what these commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_parts import run

PAGE = Path(__file__).parents[2] / "docs" / "command-line.rst"


def blocks_of_the_demo():
    """Return (command on the demo, lines that the page prints below it), up to the end of its block."""
    blocks = re.findall(
        r"^   \$ pt-reuse (.*--collection demo.*)\n((?:(?:   (?!\$ ).*)?\n)*)", PAGE.read_text(), re.MULTILINE
    )
    return [(command, [line.strip() for line in below.splitlines() if line.strip()]) for command, below in blocks]


@pytest.mark.parametrize(("command", "printed"), blocks_of_the_demo())
def test_what_the_page_prints_of_the_demo_is_what_the_command_prints(command, printed, capsys):
    status, out, _ = run(capsys, *shlex.split(command))
    assert status == 0
    assert len(printed) > 5
    said = {" ".join(line.split()) for line in out.splitlines()}
    missing = [line for line in printed if line != "..." and " ".join(line.split()) not in said]
    assert missing == []


def test_both_commands_of_the_page_are_found():
    assert [command.split()[0] for command, _ in blocks_of_the_demo()] == ["unjudged", "compare"]


def test_the_sentence_below_the_table_of_unjudged_documents(capsys):
    _, out, _ = run(capsys, "unjudged", "--collection", "demo", "--by", "type")
    sentence = re.search(r"Never judged of the top 10.*?\)\.", PAGE.read_text(), re.DOTALL).group()
    assert " ".join(sentence.split()) in " ".join(out.split())
