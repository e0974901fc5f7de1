"""export_tasks: documents for people, as sheets or for the tools in which they label."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import checked_seed, choice, count, examples, flag, shown
from pt_reuse._files import Alone, alone, check_writable, checked_path, read_file, replacing
from pt_reuse.arrays.lists import natural_order
from pt_reuse.arrays.stratified import share_of
from pt_reuse.columns import Table
from pt_reuse.errors import InputError, warn
from pt_reuse.judging.people.manifest import (
    DEFAULT,
    LONGEST_CELL,
    MANIFEST,
    RETURNED,
    Cell,
    Key,
    Manifest,
    Pair,
    Round,
    Scale,
    TaskFile,
    TaskFormat,
    drawn,
    read_manifest,
    sheet_text,
    storable,
    write_sheet,
)
from pt_reuse.judging.topic_texts import TOPIC_FIELDS, document_texts, shown_topics
from pt_reuse.pooling.pool import Pool, provenance_of
from pt_reuse.result import Result

#: files beside the tasks: what to do, and what sets up a tool
INSTRUCTIONS, _DOCCANO_LABELS, _LABEL_STUDIO_CONFIG = "instructions.txt", "doccano-labels.json", "label-studio.xml"
BESIDE = (INSTRUCTIONS, _DOCCANO_LABELS, _LABEL_STUDIO_CONFIG)
#: the longest beginning of a file's name that an annotator's name makes
_LONGEST = 40
#: colours of labels, which can be read under white letters
_COLOURS = ("#737373", "#3182bd", "#31a354", "#756bb1", "#e6550d")
#: columns of a pool that have a place of their own in what comes back, and those that are counted from its runs
_PROVENANCE, _COUNTED = ("strategy", "round", "reason"), ("rank", "runs", "teams", "types")
#: what anybody is called who may answer
_ANYBODY = ""


def file_name(annotator: str, number: int, ending: str) -> str:
    """Return the name of an annotator's file of a round; it has no character that a path or a system could mind."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", annotator)[:_LONGEST].strip("_-")
    if plain != annotator or plain != plain.lower():
        # what was changed may be what distinguished two names, as capitals do on some systems
        plain = f"{plain}-{drawn(0, annotator)[:6]}".lstrip("-")
    return f"{plain if annotator else 'tasks'}-round{number}.{ending}"


def _record(
    form: TaskFormat, task: str, annotator: str, pair: Pair, topic: Mapping[str, str], text: str
) -> dict[str, Any]:
    """Return a pair as its file has it; it has nothing of runs, ranks, scores or strategies."""
    kept = sheet_text if form is TaskFormat.CSV else storable
    query, text = {field: kept(words) for field, words in topic.items()}, kept(text)
    asked = "annotator" if form.filled_in_place else "assigned"
    ids = {"qid": storable(pair.qid), "docno": storable(pair.docno), "pair": pair.name, asked: annotator, "task": task}
    if form.filled_in_place:
        return {"label": None, "note": "", **query, "text": text, **ids}
    if form is TaskFormat.DOCCANO:
        parts = [f"{field.upper()}: {words}" for field, words in query.items()]
        return {"text": "\n\n".join([*parts, "DOCUMENT:", text]), "label": [], **ids}
    return {**query, "text": text, **ids}


def _files_beside(manifest: Manifest, fields: Sequence[str]) -> dict[str, bytes]:
    """Return the files that go with the tasks: what to do, and what sets up a tool."""
    files = {INSTRUCTIONS: _instructions(manifest)}
    if manifest.form is TaskFormat.DOCCANO:
        types = [
            {
                "text": word,
                "suffix_key": str(label) if 0 <= label <= 9 else None,
                "background_color": _COLOURS[place % len(_COLOURS)],
                "text_color": "#ffffff",
            }
            for place, (label, word) in enumerate(manifest.scale.words.items())
        ]
        files[_DOCCANO_LABELS] = json.dumps(types, indent=1, ensure_ascii=False) + "\n"
    if manifest.form is TaskFormat.LABEL_STUDIO:
        files[_LABEL_STUDIO_CONFIG] = _label_studio_config(manifest, fields)
    return {name: text.encode() for name, text in files.items()}


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


def _instructions(manifest: Manifest) -> str:
    how = "Choose one label for each text."
    if manifest.form.filled_in_place:
        sheet = manifest.form is TaskFormat.CSV
        cell = "into the column `label` of each row" if sheet else "as `label` of each line"
        how = (
            f"Write a label, as a number or in words, {cell}, and what else you want to say as `note`. Leave the rest "
            f"as it is{', and save the file as CSV' if sheet else ''}."
        )
    scale = [f"  {label}: {word}" for label, word in manifest.scale.words.items()]
    parts = [storable(manifest.instructions), "\n".join(["The labels:", *scale]), how]
    return "\n\n".join(part for part in parts if part) + "\n"


def _checked_overlap(overlap: Any, n_annotators: int) -> float:
    """Return how many annotators judge a pair, an int, or the share of pairs that all of them judge."""
    if isinstance(overlap, float | np.floating) and 0 < overlap < 1 and n_annotators:
        return float(overlap)
    whole = isinstance(overlap, int | np.integer) and not isinstance(overlap, bool)
    if whole and 1 <= overlap <= (n_annotators or overlap):
        return int(overlap)
    raise InputError(
        "overlap must be a whole number of annotators for each pair, at least 1, or the share of pairs that all "
        f"named annotators judge, between 0 and 1; {count(n_annotators, 'annotator')} named, got {shown(overlap)}.",
        argument="overlap",
    )


def wanted_for(overlap: float, keys: Sequence[Key], n_annotators: int, seed: int) -> list[int]:
    """Return for each pair how many annotators it is to have; pairs for all are drawn, the same share of topics."""
    if isinstance(overlap, int):
        return [overlap] * len(keys)
    of_topic: dict[str, list[int]] = {}
    for i, (qid, _) in enumerate(keys):
        of_topic.setdefault(qid, []).append(i)
    wanted, before = [1] * len(keys), 0
    for places in of_topic.values():
        # cumulated, so that the shares of small topics add up to that of all
        after = before + len(places)
        n = share_of(overlap, after) - share_of(overlap, before)
        for i in sorted(places, key=lambda i: drawn(seed, "for all", *keys[i]))[:n]:
            wanted[i] = n_annotators
        before = after
    return wanted


def assign(
    pairs: Sequence[Pair], annotators: Sequence[str], loads: Counter[str], seed: int, *, whole_topics: bool
) -> list[tuple[str, ...]]:
    """Return for each pair who is asked it now, so that as many are as it wants, nobody twice."""
    loads, of_topic = Counter(loads), {pair.qid: Counter[str]() for pair in pairs}
    for pair in pairs:
        of_topic[pair.qid].update(pair.asked)
    teams = _teams(pairs, annotators, loads, of_topic, seed) if whole_topics else {}
    given: list[tuple[str, ...]] = [()] * len(pairs)
    for i in sorted(range(len(pairs)), key=lambda i: drawn(seed, "turn", *pairs[i].key)):
        pair, had = pairs[i], of_topic[pairs[i].qid]
        free = [a for a in annotators if a not in pair.asked]
        if whole_topics:
            free.sort(key=teams[pair.qid].index)
        else:
            free.sort(key=lambda a: (loads[a], had[a], drawn(seed, "who", *pair.key, a)))
        given[i] = tuple(sorted(free[: max(pair.wanted - len(pair.asked), 0)]))
        loads.update(given[i])
        had.update(given[i])
    return given


def _teams(
    pairs: Sequence[Pair],
    annotators: Sequence[str],
    loads: Counter[str],
    of_topic: Mapping[str, Counter[str]],
    seed: int,
) -> dict[str, list[str]]:
    """Return topic -> annotators, those first who know it or have least to do; the longest topics choose first."""
    wanted: dict[str, list[int]] = {}
    for pair in pairs:
        wanted.setdefault(pair.qid, []).append(pair.wanted)
    planned, teams = Counter(loads), {}
    for qid in sorted(wanted, key=lambda qid: (-len(wanted[qid]) * max(wanted[qid]), drawn(seed, "topic", qid))):
        known = of_topic[qid]
        teams[qid] = sorted(annotators, key=lambda a: (-known[a], planned[a], drawn(seed, "team", qid, a)))
        planned.update({a: len(wanted[qid]) for a in teams[qid][: min(wanted[qid])]})
    return teams


def _agreed(
    before: Manifest | None, *, format: str | None, labels: Any, instructions: str | None, annotators: Any
) -> tuple[TaskFormat, Scale, str, tuple[str, ...]]:
    """Return format, labels, instructions and people: those of the folder where a user says nothing, or the usual."""
    form = None if format is None else TaskFormat(choice("format", format, [each.value for each in TaskFormat]))
    scale = None if labels is None else Scale.of(labels)
    people = None if annotators is None else _checked_people(annotators)
    if instructions is not None and not isinstance(instructions, str):
        raise InputError(f"instructions must be a text, got {shown(instructions)}.", argument="instructions")
    if before is None:
        agreed = form or TaskFormat.CSV, scale or Scale.of(DEFAULT), instructions or "", people or ()
    else:
        for argument, differs, words in (
            ("format", form not in (None, before.form), before.form.value),
            ("labels", scale not in (None, before.scale), str(before.scale)),
            ("instructions", instructions not in (None, before.instructions), shown(before.instructions)),
            ("annotators", people is not None and not before.named, "named or not"),
        ):
            if differs:
                advice = "Leave it out, or give a folder of its own."
                raise InputError(
                    f"{argument} cannot be another in a further round than before: {words}. {advice}", argument=argument
                )
        agreed = before.form, before.scale, before.instructions, people or before.rounds[-1].annotators
    odd = [word for word in agreed[1].words.values() if "$" in word]
    if agreed[0] is TaskFormat.LABEL_STUDIO and odd:
        field = f"Label Studio, which takes {shown(odd[0])} for a field of the task"
        raise InputError(f"labels cannot have a dollar sign in {field}. Use another word.", argument="labels")
    return agreed


def _checked_people(annotators: Any) -> tuple[str, ...]:
    listed = isinstance(annotators, Iterable) and not isinstance(annotators, str)
    people = list(annotators) if listed else []
    plain = [isinstance(name, str) and name and name == name.strip() and name.isprintable() for name in people]
    if not people or not all(plain) or len({name.casefold() for name in people}) < len(people):
        what = "a list of names on one line each, without white space around them, no name twice"
        raise InputError(f"annotators must be {what}; got {shown(annotators)}.", argument="annotators")
    return tuple(people)


def _cell(value: Any) -> Cell:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else str(value)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExportedTasks(Result):
    """Files for people who judge; :func:`~pt_reuse.judging.import_labels` reads what comes back.

    Attributes:
        settings: task, format, round, seed, overlap, and how the pool was made.
        folder: where the files are.
        asked_before: pairs of the pool that are not asked now, since enough people were asked in earlier rounds.
    """

    title = "ExportedTasks"
    valid_for = "{format} files (task {task}, round {round}, seed {seed}) as they were written."
    not_covered = "what was judged since; import_labels reads that."
    columns = """
    file      | File      |       | the file that was written
    annotator | Annotator |       | who answers it, None where anybody may
    pairs     | Pairs     | count | how many documents it asks for
    """

    table: Annotated[pd.DataFrame, Table("file", "file annotator topics pairs", noun="files")]
    folder: str
    asked_before: int

    def answers(self) -> list[str]:
        """Return how many pairs are in how many files, and where."""
        pairs, files = int(self.table["pairs"].sum()), count(len(self.table), "file")
        before = f", {self.asked_before:,} of the pool asked before" if self.asked_before else ""
        return [f"{count(pairs, 'pair')} to judge in {files} in {self.folder}{before}"]


def export_tasks(
    pool: Pool | pd.DataFrame,
    folder: str | Path,
    *,
    topics: pd.DataFrame | Mapping[str, str],
    texts: Mapping[str, str] | pd.DataFrame | Iterable[Mapping[str, Any]] | pt.Transformer,
    format: str | None = None,
    annotators: Sequence[str] | None = None,
    overlap: float = 1,
    whole_topics: bool = False,
    labels: Mapping[int, str] | None = None,
    instructions: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    verbose: bool = False,
) -> ExportedTasks:
    """Write the documents of a pool as files for people to judge: one file for each annotator.

    People see the query and the text, but no ranks, runs, scores or strategies. Topics stay together, in their natural
    order. Within a topic the documents are shuffled differently for each annotator; the order depends only on `seed`
    and on the names of documents. The file ``tasks.json`` keeps what people do not see;
    :func:`~pt_reuse.judging.import_labels` needs it.

    A further pool in the same folder is a new round. It adds files and replaces none. A pair that enough people got in
    an earlier round is not asked again, and nobody gets a pair twice.

    Args:
        pool: the documents to judge: a Pool, or a frame with ``qid`` and ``docno``. Its columns ``strategy``, ``round``
            and ``reason``, and all further ones, come back with the labels.
        folder: where to; made when it does not exist.
        topics: a frame with ``qid`` and ``query`` (or ``title``, which is then the query), and optionally
            ``description`` and ``narrative``, which are also shown; or a dict of qid -> query.
        texts: a dict of docno -> text, a frame or the documents of a corpus with ``docno`` and ``text`` (and
            ``title``), or a transformer that adds ``text``. A warning counts empty texts.
        format: ``"csv"`` or ``"jsonl"``, into which people write; ``"doccano"`` or ``"label-studio"``, which these
            tools read. Default: that of the folder, ``"csv"`` for a new one.
        annotators: their names. None: those of the folder's earlier rounds; in a new folder anybody may answer, and one
            file has all pairs.
        overlap: how many annotators judge each pair, or a share between 0 and 1: all annotators judge this share of the
            pairs, one judges each other pair.
        whole_topics: give a topic to the same annotator, or to the same `overlap` annotators, as a whole, as TREC does.
            Default: pairs are spread, so that everybody has as many pairs as the others, or one more.
        labels: label -> word. Default: those of the folder; ``{0: "not relevant", 1: "relevant"}`` for a new one.
        instructions: a text shown beside the labels.
        seed: of the order and of who judges what, >= 0.
        overwrite: replace a folder of tasks that has no answers; default is to add a round.
        verbose: show a progress bar while the texts of a corpus are looked up.

    Returns:
        ExportedTasks: the files, and how many pairs each has.

    Raises:
        InputError: a pair without query or text, two annotators of one name, more overlap than annotators, labels or a
            format that are not those of the folder, a file in the way, answers that would be overwritten.

    Example:
        >>> import pandas as pd, pt_reuse as ptr, tempfile
        >>> pool = ptr.Pool.from_frame(pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"]}))
        >>> texts = {"d1": "A text.", "d2": "Another."}
        >>> folder = tempfile.mkdtemp()
        >>> both = ["ann", "bob"]
        >>> tasks = ptr.judging.export_tasks(pool, folder, topics={"1": "a query"}, texts=texts, annotators=both)
        >>> tasks.table
                     file annotator  topics  pairs
        0  ann-round1.csv       ann       1      1
        1  bob-round1.csv       bob       1      1
    """
    plan = ExportPlan.of(
        folder,
        format=format,
        annotators=annotators,
        overlap=overlap,
        whole_topics=flag("whole_topics", whole_topics),
        labels=labels,
        instructions=instructions,
        seed=seed,
        overwrite=overwrite,
    )
    return plan.write(pool, topics, texts, verbose=flag("verbose", verbose))


@dataclass(frozen=True)
class ExportPlan:
    """An export, as far as it is known before the pool, the topics and the texts are."""

    folder: Path
    before: Manifest | None  # what its earlier rounds asked; None where they are to be written over
    replaced: tuple[str, ...]  # files that are written over, or taken away, since they are of rounds without answers
    seen: bytes  # the manifest as it was found, b"" for none
    form: TaskFormat
    scale: Scale
    instructions: str
    annotators: tuple[str, ...]  # empty where anybody may answer
    overlap: float
    whole_topics: bool
    seed: int

    @classmethod
    def of(
        cls, folder: Any, *, overlap: Any, whole_topics: bool, seed: Any, overwrite: Any, **terms: Any
    ) -> ExportPlan:
        """Check what can be checked before there is a pool; the arguments are those of `export_tasks`."""
        seed, place = checked_seed(seed), checked_path(folder)
        before, replaced, seen = _found_in(place, overwrite=flag("overwrite", overwrite))
        agreed = _agreed(before, **terms)
        chosen = _checked_overlap(overlap, len(agreed[-1]))
        return cls(place, before, replaced, seen, *agreed, chosen, whole_topics, seed)

    def write(self, pool: Any, topics: Any, texts: Any, *, verbose: bool) -> ExportedTasks:
        """Write the files; the arguments are those of :func:`~pt_reuse.judging.export_tasks`."""
        pool = _as_pool(pool)
        with_documents = [qid for qid, n in zip(pool.topics, pool.documents.sizes.tolist(), strict=True) if n]
        queries = shown_topics(topics, with_documents)
        keys = list(zip(pool.documents.qids().tolist(), pool.documents.docnos().tolist(), strict=True))
        task = self._task(keys)
        pairs = self._pairs(pool, task, keys)
        people = self._asked(pairs)
        now = [pair.key for pair, who in zip(pairs, people, strict=True) if who]
        documents = self._documents(texts, now, queries, verbose=verbose)
        every = self._all_pairs(pairs, people)
        fields = [field for field in TOPIC_FIELDS if any(field in texts for texts in queries.values())]
        files, rows = {}, []
        for who, mine in self._sheets(pairs, people, every).items():
            records = [_record(self.form, task, who, pair, queries[pair.qid], documents[pair.key]) for pair in mine]
            file, data = self._file(who, fields, records)
            files[file] = data
            rows.append((file.name, file.annotator, len({pair.qid for pair in mine}), file.pairs))
        made = {name: str(value) for name, value in pool.settings.items()}
        if files:
            record = Round(self._number, self.seed, self.overlap, self.annotators, tuple(files), made)
            rounds, named = (*(self.before.rounds if self.before else ()), record), bool(self.annotators)
            manifest = Manifest(task, self.form, self.scale, self.instructions, named, rounds, every)
            beside = {} if self.before else _files_beside(manifest, fields)
            self._place({**{file.name: data for file, data in files.items()}, **beside}, manifest)
        table = pd.DataFrame(rows, columns=["file", "annotator", "topics", "pairs"])
        return ExportedTasks(
            table=table.astype({"file": object, "annotator": object, "topics": "int64", "pairs": "int64"}),
            settings={
                "task": task,
                "format": self.form.value,
                "round": self._number,
                "labels": str(self.scale),
                "overlap": self.overlap,
                "whole_topics": self.whole_topics,
                "seed": self.seed,
                **{f"pool_{name}": value for name, value in made.items()},
            },
            folder=str(self.folder),
            asked_before=len(pairs) - len(now),
        )

    def _documents(
        self, texts: Any, keys: Sequence[Key], queries: Mapping[str, Mapping[str, str]], *, verbose: bool
    ) -> dict[Key, str]:
        """Return what people read of each document; those that no cell can hold are told."""
        by_topic = {qid: texts["query"] for qid, texts in queries.items()}
        documents = document_texts(texts, keys, by_topic, verbose=verbose)
        n = sum(len(text) >= LONGEST_CELL for text in documents.values())
        if n and self.form is TaskFormat.CSV:
            warn(
                f"{count(n, 'text')} cut, since a cell of a spreadsheet holds {LONGEST_CELL:,} characters. With "
                "format='jsonl' or a tool people see the whole."
            )
        return documents

    def _file(self, who: str, fields: Sequence[str], records: Sequence[Mapping[str, Any]]) -> tuple[TaskFile, bytes]:
        """Return the file of one annotator, of a record for each pair."""
        if self.form is TaskFormat.CSV:
            header = ["label", "note", *fields, "text", "qid", "docno", "pair", "annotator", "task"]
            data = write_sheet(header, [[record.get(name) or "" for name in header] for record in records])
        elif self.form is TaskFormat.LABEL_STUDIO:
            # a field that its interface shows must be there
            tasks = [{"data": {**dict.fromkeys(fields, ""), **record}} for record in records]
            data = ("[" + ",\n".join(json.dumps(task, ensure_ascii=False) for task in tasks) + "]\n").encode()
        else:
            data = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
        name = file_name(who, self._number, self.form.ending)
        return TaskFile(name, who or None, len(records), hashlib.sha256(data).hexdigest()), data

    @property
    def _number(self) -> int:
        return 1 if self.before is None else len(self.before.rounds) + 1

    @property
    def _known(self) -> Mapping[Key, Pair]:
        return {} if self.before is None else self.before.by_key

    def _task(self, keys: Sequence[Key]) -> str:
        if self.before is not None:
            return self.before.task
        terms = self.form.value, str(self.scale), self.instructions, *self.annotators
        return "t" + drawn(self.seed, *terms, *sorted(drawn(self.seed, *key) for key in keys))[:11]

    def _pairs(self, pool: Pool, task: str, keys: Sequence[Key]) -> list[Pair]:
        """Return the pairs of the pool: how many are to judge each now, and who was asked in earlier rounds."""
        found, known = [], provenance_of(pool)
        columns = {str(name): list(map(_cell, known[name].tolist())) for name in known}
        wanted = wanted_for(self.overlap, keys, len(self.annotators), self.seed)
        for i, (key, n) in enumerate(zip(keys, wanted, strict=True)):
            old = self._known.get(key)
            if old is None:
                found.append(self._new_pair(task, key, n, {name: cells[i] for name, cells in columns.items()}))
            elif isinstance(self.overlap, float) or not self.annotators:
                # what all are to judge was drawn when a pair came first, and anybody could answer what is there already
                found.append(old)
            else:
                found.append(replace(old, wanted=n))
        return found

    def _new_pair(self, task: str, key: Key, wanted: int, known: dict[str, Cell]) -> Pair:
        strategy, number, reason = (known.pop(name, None) for name in _PROVENANCE)
        return Pair(
            # a letter that no number has before sixteen digits
            name="p" + drawn(0, task, *key)[:15],
            qid=key[0],
            docno=key[1],
            wanted=wanted,
            asked=(),
            strategy=None if strategy is None else str(strategy),
            round=int(number) if isinstance(number, int | float) else self._number,
            reason=None if reason is None else str(reason),
            further=known,
        )

    def _asked(self, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
        """Return who is asked each pair now."""
        if not self.annotators:
            return [() if pair.key in self._known else (_ANYBODY,) for pair in pairs]
        loads = Counter(who for pair in self._known.values() for who in pair.asked)
        return assign(pairs, self.annotators, loads, self.seed, whole_topics=self.whole_topics)

    def _all_pairs(self, pairs: Sequence[Pair], people: Sequence[tuple[str, ...]]) -> tuple[Pair, ...]:
        """Return the pairs of this and all earlier rounds with who was asked, topic by topic."""
        found = dict(self._known)
        for pair, who in zip(pairs, people, strict=True):
            asked = (*pair.asked, *(one for one in who if one != _ANYBODY))
            found[pair.key] = replace(pair, wanted=max(pair.wanted, len(asked)), asked=asked)
        topics = list(dict.fromkeys(qid for qid, _ in found))
        place = {topics[t]: i for i, t in enumerate(natural_order(topics))}
        # by their names, which say nothing of the order of the pool
        return tuple(sorted(found.values(), key=lambda pair: (place[pair.qid], pair.name)))

    def _sheets(
        self, pairs: Sequence[Pair], people: Sequence[tuple[str, ...]], every: Sequence[Pair]
    ) -> dict[str, list[Pair]]:
        """Return annotator -> what is to be judged, in the order in which it is shown; nobody without a pair."""
        place = {qid: i for i, qid in enumerate(dict.fromkeys(pair.qid for pair in every))}
        sheets = {}
        for who in self.annotators or (_ANYBODY,):
            mine = [pair for pair, asked in zip(pairs, people, strict=True) if who in asked]
            if mine:
                sheets[who] = sorted(mine, key=partial(self._shown_at, who, place))
        return sheets

    def _shown_at(self, who: str, place: Mapping[str, int], pair: Pair) -> tuple[int, str]:
        return place[pair.qid], drawn(self.seed, "order", who, *pair.key)

    def _place(self, files: Mapping[str, bytes], manifest: Manifest) -> None:
        """Write the files of a round, and last the manifest, without which they are none."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with alone(self.folder) as answer:
                if answer is Alone.NO or _bytes(self.folder / MANIFEST) != self.seen:
                    problem = f"{self.folder} is being written to by somebody else. Export again."
                    raise InputError(problem, argument="folder")
                self._check_free(files)
                for name, data in files.items():
                    with replacing(self.folder / name) as file:
                        file.write(data)
                manifest.write(self.folder)
                for name in set(self.replaced) - set(files):
                    with suppress(OSError):
                        (self.folder / name).unlink()
        except OSError as error:
            problem = f"{self.folder} cannot be written to: {error.strerror or error}."
            raise InputError(problem, argument="folder") from error

    def _check_free(self, files: Mapping[str, bytes]) -> None:
        """Raise where a file is in the way that may have answers; what an export left that was killed has none."""
        names = [name for name in files if name not in self.replaced]
        there = [name for name in names if _bytes(self.folder / name) not in (b"", files[name])]
        if there:
            problem = f"{self.folder} has {examples(there)}, which no round of the folder wrote. "
            raise InputError(f"{problem}Take it away, or give another folder.", argument="folder")


def _found_in(folder: Path, *, overwrite: bool) -> tuple[Manifest | None, tuple[str, ...], bytes]:
    """Return the earlier rounds of a folder that stand, the files that are written over, and the manifest's bytes."""
    check_writable(folder, [MANIFEST], overwrite=True, argument="folder")
    seen = _bytes(folder / MANIFEST)
    if not seen:
        return None, (), b""
    before = read_manifest(folder)
    if not overwrite:
        return before, (), seen
    there = [file for name, file in before.files.items() if (folder / name).exists()]
    answered = [f.name for f in there if hashlib.sha256(read_file(folder / f.name)).hexdigest() != f.sha256]
    if (folder / RETURNED).is_dir():
        answered += [f"{RETURNED}/{path.name}" for path in sorted((folder / RETURNED).iterdir())]
    if answered:
        raise InputError(
            f"{folder} has files that people may have written to: {examples(answered)}. They are never written "
            "over: take them away, or give another folder.",
            argument="folder",
        )
    return None, (*before.files, *BESIDE), seen


def _bytes(path: Path) -> bytes:
    try:
        return read_file(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.", place=str(path), argument="folder") from error


def _as_pool(pool: Any) -> Pool:
    if isinstance(pool, pd.DataFrame):
        # a pool's own frame counts its runs, which people are not to see
        pool = Pool.from_frame(pool.drop(columns=[name for name in _COUNTED if name in pool.columns]))
    if not isinstance(pool, Pool):
        raise InputError(f"pool must be a Pool, or a frame with 'qid' and 'docno', got {shown(pool)}.", argument="pool")
    if not len(pool):
        raise InputError("the pool has no document. There is nothing to judge.", argument="pool")
    return pool
