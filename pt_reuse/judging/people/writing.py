"""Writing: the files that people get, in each format, and what goes beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.sax.saxutils import quoteattr

from pt_reuse.judging.people.hashing import drawn
from pt_reuse.judging.people.manifest import Manifest, Pair, TaskFormat
from pt_reuse.judging.people.sheet import sheet_text, storable, write_sheet
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
class Sheet:
    """What one annotator gets.

    Attributes:
        annotator: who, "" for anybody.
        pairs: what is to be judged, in the order in which it is shown.
    """

    annotator: str
    pairs: Sequence[Pair]


@dataclass(frozen=True)
class Shown:
    """What people read.

    Attributes:
        topics: topic -> field -> text.
        documents: name of the pair -> text of the document.
    """

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


def task_file(manifest: Manifest, sheet: Sheet, shown: Shown) -> bytes:
    """Return the file of one annotator. It has nothing of runs, ranks, scores or strategies."""
    return _WRITERS[manifest.form](manifest.task, sheet, shown)


def files_beside(manifest: Manifest, fields: Sequence[str]) -> dict[str, bytes]:
    """Return the files that go with the tasks: what to do, and what sets up a tool.

    Args:
        manifest: of the tasks.
        fields: what is shown of a topic.
    """
    files = {INSTRUCTIONS: _instructions(manifest).encode()}
    if manifest.form is TaskFormat.DOCCANO:
        files[_DOCCANO_LABELS] = _doccano_labels(manifest).encode()
    if manifest.form is TaskFormat.LABEL_STUDIO:
        files[_LABEL_STUDIO_CONFIG] = _label_studio_config(manifest, fields).encode()
    return files


def _csv(task: str, sheet: Sheet, shown: Shown) -> bytes:
    header = ["label", "note", *shown.fields, "text", "qid", "docno", "pair", "annotator", "task"]
    rows = []
    for pair in sheet.pairs:
        topic = [sheet_text(shown.topics[pair.qid].get(field, "")) for field in shown.fields]
        ids = [storable(pair.qid), storable(pair.docno), pair.name, sheet.annotator, task]
        rows.append(["", "", *topic, sheet_text(shown.documents[pair.name]), *ids])
    return write_sheet(header, rows)


def _jsonl(task: str, sheet: Sheet, shown: Shown) -> bytes:
    return _lines(
        {
            "label": None,
            "note": "",
            **_topic(pair, shown),
            "text": storable(shown.documents[pair.name]),
            **_ids(pair),
            "annotator": sheet.annotator,
            "task": task,
        }
        for pair in sheet.pairs
    )


def _doccano(task: str, sheet: Sheet, shown: Shown) -> bytes:
    def text(pair: Pair) -> str:
        parts = [f"{field.upper()}: {said}" for field, said in _topic(pair, shown).items()]
        return "\n\n".join([*parts, "DOCUMENT:", storable(shown.documents[pair.name])])

    return _lines(
        {"text": text(pair), "label": [], **_ids(pair), "assigned": sheet.annotator, "task": task}
        for pair in sheet.pairs
    )


def _label_studio(task: str, sheet: Sheet, shown: Shown) -> bytes:
    tasks = []
    for pair in sheet.pairs:
        topic = {field: "" for field in shown.fields} | _topic(pair, shown)
        text = {"text": storable(shown.documents[pair.name])}
        tasks.append({"data": {**topic, **text, **_ids(pair), "assigned": sheet.annotator, "task": task}})
    return ("[" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in tasks) + "]\n").encode()


#: format -> what writes the file of one annotator
_WRITERS: Mapping[TaskFormat, Callable[[str, Sheet, Shown], bytes]] = {
    TaskFormat.CSV: _csv,
    TaskFormat.JSONL: _jsonl,
    TaskFormat.DOCCANO: _doccano,
    TaskFormat.LABEL_STUDIO: _label_studio,
}


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


def _topic(pair: Pair, shown: Shown) -> dict[str, str]:
    texts = shown.topics[pair.qid]
    return {field: storable(texts[field]) for field in TOPIC_FIELDS if field in texts}


def _ids(pair: Pair) -> dict[str, str]:
    return {"qid": storable(pair.qid), "docno": storable(pair.docno), "pair": pair.name}


def _lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
