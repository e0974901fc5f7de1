"""Writing: the files that people get, in each format, and what goes beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.sax.saxutils import quoteattr

from pt_reuse.judging.people.manifest import Manifest, Pair, TaskFormat
from pt_reuse.judging.people.sheet import drawn, sheet_text, storable, write_sheet
from pt_reuse.judging.people.texts import TOPIC_FIELDS

#: the file that says what to do
INSTRUCTIONS = "instructions.txt"
_DOCCANO_LABELS, _LABEL_STUDIO_CONFIG = "doccano-labels.json", "label-studio.xml"
#: all that go beside the tasks
BESIDE = (INSTRUCTIONS, _DOCCANO_LABELS, _LABEL_STUDIO_CONFIG)
#: the longest beginning of a file's name that an annotator's name makes
_LONGEST = 40
#: colours of labels, which can be read under white letters
_COLOURS = ("#737373", "#3182bd", "#31a354", "#756bb1", "#e6550d")


@dataclass(frozen=True)
class Shown:
    """What people read: topic -> field -> text, and name of the pair -> text of the document."""

    topics: Mapping[str, Mapping[str, str]]
    documents: Mapping[str, str]

    @cached_property
    def fields(self) -> list[str]:
        """Return what any topic has."""
        return [field for field in TOPIC_FIELDS if any(field in texts for texts in self.topics.values())]


def file_name(annotator: str, number: int, ending: str) -> str:
    """Return the name of an annotator's file of a round; it has no character that a path or a system could mind."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", annotator)[:_LONGEST].strip("_-")
    if plain != annotator or plain != plain.lower():
        # what was changed may be what told two names apart, as capitals do on some systems
        plain = f"{plain}-{drawn(0, annotator)[:6]}".lstrip("-")
    return f"{plain if annotator else 'tasks'}-round{number}.{ending}"


def task_file(form: TaskFormat, task: str, annotator: str, pairs: Sequence[Pair], shown: Shown) -> bytes:
    """Return the file of one annotator. It has nothing of runs, ranks, scores or strategies."""
    if form is TaskFormat.CSV:
        header = ["label", "note", *shown.fields, "text", "qid", "docno", "pair", "annotator", "task"]
        rows = []
        for pair in pairs:
            topic = [sheet_text(shown.topics[pair.qid].get(field, "")) for field in shown.fields]
            ids = [storable(pair.qid), storable(pair.docno), pair.name, annotator, task]
            rows.append(["", "", *topic, sheet_text(shown.documents[pair.name]), *ids])
        return write_sheet(header, rows)
    records = (_record(form, task, annotator, pair, shown) for pair in pairs)
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    if form is TaskFormat.LABEL_STUDIO:
        return ("[" + ",\n".join(lines) + "]\n").encode()
    return "".join(line + "\n" for line in lines).encode()


def _record(form: TaskFormat, task: str, annotator: str, pair: Pair, shown: Shown) -> dict[str, object]:
    """Return a pair as JSON of a tool, or of ours, has it."""
    topic = {field: storable(text) for field, text in shown.topics[pair.qid].items() if field in shown.fields}
    text = storable(shown.documents[pair.name])
    ids = {"qid": storable(pair.qid), "docno": storable(pair.docno), "pair": pair.name}
    if form is TaskFormat.JSONL:
        return {"label": None, "note": "", **topic, "text": text, **ids, "annotator": annotator, "task": task}
    if form is TaskFormat.DOCCANO:
        parts = [f"{field.upper()}: {said}" for field, said in topic.items()]
        whole = "\n\n".join([*parts, "DOCUMENT:", text])
        return {"text": whole, "label": [], **ids, "assigned": annotator, "task": task}
    blank = dict.fromkeys(shown.fields, "")
    return {"data": {**blank, **topic, "text": text, **ids, "assigned": annotator, "task": task}}


def files_beside(manifest: Manifest, fields: Sequence[str]) -> dict[str, bytes]:
    """Return the files that go with the tasks: what to do, and what sets up a tool."""
    files = {INSTRUCTIONS: _instructions(manifest).encode()}
    if manifest.form is TaskFormat.DOCCANO:
        files[_DOCCANO_LABELS] = _doccano_labels(manifest).encode()
    if manifest.form is TaskFormat.LABEL_STUDIO:
        files[_LABEL_STUDIO_CONFIG] = _label_studio_config(manifest, fields).encode()
    return files


def _label_studio_config(manifest: Manifest, fields: Sequence[str]) -> str:
    """Return the labelling interface of Label Studio, as the XML that its settings take."""
    lines = ["<View>", "  <Style>.htx-text { white-space: pre-wrap; }</Style>"]
    if manifest.instructions:
        # a dollar sign would stand for a field of the task
        told = " ".join(manifest.instructions.replace("$", "\N{FULLWIDTH DOLLAR SIGN}").split())
        lines.append(f'  <Header value={quoteattr(storable(told))} size="5"/>')
    lines += [
        *(f'  <Text name="{field}" value="${field}"/>' for field in fields),
        '  <Text name="text" value="$text"/>',
        '  <Choices name="label" toName="text" choice="single" required="true">',
        *(f"    <Choice value={quoteattr(word)}/>" for word in manifest.scale.words.values()),
        "  </Choices>",
        '  <TextArea name="note" toName="text" placeholder="note" maxSubmissions="1" editable="true"/>',
        "</View>",
    ]
    return "\n".join(lines) + "\n"


def _doccano_labels(manifest: Manifest) -> str:
    types = []
    for place, (label, word) in enumerate(manifest.scale.words.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        key = str(label) if 0 <= label <= 9 else None
        types.append({"text": word, "suffix_key": key, "background_color": colour, "text_color": "#ffffff"})
    return json.dumps(types, indent=1, ensure_ascii=False) + "\n"


def _instructions(manifest: Manifest) -> str:
    scale = [f"  {label}: {word}" for label, word in manifest.scale.words.items()]
    how = {
        TaskFormat.CSV: "Write a label, as a number or in words, into the column `label` of each row, and what else "
        "you want to say into `note`. Leave the other columns as they are, and save the file as CSV.",
        TaskFormat.JSONL: "Write a label, as a number or in words, as `label` of each line, and what else you want to "
        "say as `note`. Leave the rest as it is.",
        TaskFormat.DOCCANO: "Choose one label for each text.",
        TaskFormat.LABEL_STUDIO: "Choose one label for each text.",
    }[manifest.form]
    parts = [storable(manifest.instructions), "\n".join(["The labels:", *scale]), how]
    return "\n\n".join(part for part in parts if part) + "\n"
