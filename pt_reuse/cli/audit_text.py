"""What an audit found, as a text for people: sentences by question, what is not answered, and the conventions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pt_reuse._check import count, listed
from pt_reuse._files import replacing
from pt_reuse.cli.audit_parts import Answer, Audited, Part

NAME = "findings.md"


def findings_text(given: Audited, answers: Mapping[Part, Answer], unanswered: Mapping[Part, str]) -> str:
    """Return the text."""
    from pt_reuse.scoring.caveats import BEWARE

    lines = ["# Labels by judges: what they do to the ranking of systems", "", *_about(given)]
    lines += ["", "## In short", ""]
    lines += [f"- {part.question} {answer.result.headline()}." for part, answer in answers.items()]
    beware = {part: answer.result.settings.get(BEWARE) for part, answer in answers.items()}
    if any(beware.values()):
        lines += ["", "## Beware", "", *(f"- {part.question} {note}." for part, note in beware.items() if note)]
    for part, answer in answers.items():
        lines += ["", f"## {part.question}", "", *(f"- {sentence}" for sentence in answer.result.findings())]
        tables = listed([f"`{name}.csv`" for name in answer.result.tables()])
        lines += ["", f"In the folder `{part.name}`: {tables}, and pictures."]
    if unanswered:
        lines += ["", "## What is not answered", ""]
        lines += [f"- {part.question} Not computed: {why}" for part, why in unanswered.items()]
    lines += ["", "## How the numbers were computed"]
    for part, answer in answers.items():
        lines += ["", f"### {part.question}", ""]
        lines += [f"- {name}: {value}" for name, value in answer.result.settings.items()]
    return "\n".join(lines) + "\n"


def write_findings(text: str, folder: Path) -> str:
    """Write the text to a folder and return the name of the file."""
    with replacing(folder / NAME) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return NAME


def _about(given: Audited) -> list[str]:
    lines = []
    if given.field is not None:
        human = given.field.human
        relevant = "" if human.rel == 1 else f", relevant from label {human.rel} on"
        lines.append(
            f"- Runs: {len(given.field.runs):,}, on {count(len(human.topics), 'topic')} with "
            f"{count(len(human), 'judgment')} by people{relevant}."
        )
        if given.field.people:
            lines.append(f"- Other people: {listed(list(given.field.people))}.")
    elif given.scores is not None:
        runs, topics = count(len(given.scores.names), "run"), count(len(given.scores.topics), "topic")
        lines.append(f"- Scores by people: {runs}, {topics}, {', '.join(given.scores.measures)}.")
    said = given.judges.table
    for judge in dict.fromkeys(said["judge"]):
        rows = said[said["judge"] == judge]
        family = given.judges.families.get(judge)
        holds = listed([f"{row.holds} ({row.file})" for row in rows.itertuples()])
        lines.append(f"- Judge {judge}: {holds}{'' if family is None else f', family {family}'}.")
    if given.judges.skipped:
        lines.append(f"- Left out of the folder of judges: {listed([f'`{name}`' for name in given.judges.skipped])}.")
    return lines
