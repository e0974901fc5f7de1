"""What Doccano and Label Studio export, made as their own exporters make it, comes back as it was given."""

from __future__ import annotations

import io
import json
import os
import random
import warnings
import zipfile

import pandas as pd
import pytest
from faults import altered
from hypothesis import given, settings
from hypothesis import strategies as st
from packing_parts import zip_bomb
from people_parts import MARCH, PAIRS, WORDS, as_asked, export, labels_of, returned, rows_of, truth, write_rows

import pt_reuse as ptr
from pt_reuse.data import packed_files as files
from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.judging.people.importing import import_labels


def doccano_records(rows, labels, comments=()):
    """Return records as Doccano's exporter makes them: its own id, the text, what was imported, labels, comments."""
    return [
        {
            "id": 100 + i,
            "text": row["text"],
            **{name: value for name, value in row.items() if name not in ("text", "label")},
            "label": labels(row),
            "Comments": list(comments),
        }
        for i, row in enumerate(rows)
    ]


def doccano_file(records, kind="jsonl"):
    """Return a file of Doccano's: what pandas writes, as its exporter does; labels joined by # in CSV."""
    made = pd.DataFrame(records)
    if kind == "csv":
        joined = {name: ["#".join(sorted(value)) for value in made[name]] for name in ("label", "Comments")}
        return made.assign(**joined).to_csv(index=False).encode()
    return made.to_json(orient="records", force_ascii=False, lines=kind == "jsonl").encode()


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def annotation(number, who, labels, note=None, **further):
    """Return an annotation as Label Studio has it in its JSON export."""
    result = [
        {
            "id": f"r{number}",
            "type": "choices",
            "value": {"choices": labels},
            "origin": "manual",
            "to_name": "text",
            "from_name": "label",
        }
    ]
    if note is not None:
        said = {"id": f"n{number}", "type": "textarea", "value": {"text": [note]}, "origin": "manual"}
        result.append({**said, "to_name": "text", "from_name": "note"})
    return {
        "id": number,
        "completed_by": who,
        "result": result if labels else [],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-03-01T10:00:00.123456Z",
        "updated_at": "2026-03-02T11:30:00.893578Z",
        "lead_time": 8.65,
        "result_count": 1,
        **further,
    }


def label_studio(rows, annotations):
    """Return tasks as Label Studio exports them; `annotations` makes those of a row."""
    tasks = [
        {
            "id": 7 + i,
            "annotations": annotations(i, row),
            "file_upload": "1-tasks.json",
            "drafts": [],
            "predictions": [],
            "data": row,
            "meta": {},
            "created_at": "2026-02-01T00:00:00.000000Z",
            "updated_at": "2026-03-02T11:30:00.923985Z",
            "inner_id": i + 1,
            "total_annotations": 1,
            "cancelled_annotations": 0,
            "project": 1,
        }
        for i, row in enumerate(rows)
    ]
    return json.dumps(tasks).encode()


def label_studio_min(rows, annotations):
    """Return what Label Studio's converter makes of the same: one flat record for each annotation."""
    records = []
    for i, row in enumerate(rows):
        for one in annotations(i, row):
            values = {part["from_name"]: part["value"] for part in one["result"]}
            short = {}
            for name, key in (("label", "choices"), ("note", "text")):
                if name in values:
                    found = values[name][key]
                    short[name] = found[0] if len(found) == 1 else {key: found}
            times = {name: one[name] for name in ("created_at", "updated_at", "lead_time")}
            who = {"annotator": one["completed_by"], "annotation_id": one["id"]}
            records.append({**row, "id": 7 + i, **short, **who, **times})
    return json.dumps(records, indent=2, ensure_ascii=False).encode()


#: what stands in the place of something else
ODD = (
    *(None, True, False, 0, 1, 2, -1, 1.5, float("nan"), float("inf"), 10**30, -8.65),
    *("", " ", "1", "relevant", "x" * 500, "\ud800", "1e9999999", "-1", "2026-03-01", "2026-03-01T10:00:00"),
    *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-13-45T99:00:00Z"),
    *([], {}, [[]], [None], ["relevant"], ["relevant", "relevant"], [1], [0, 5, "relevant"], [{"choices": 1}]),
    *({"choices": None}, {"choices": {"a": 1}}, {"choices": [["relevant"]]}, {"email": [], "id": {}}),
)


def altered_json(value, chance):
    """Return what JSON holds with one change somewhere in it."""
    inside = list(value) if isinstance(value, dict | list) else []
    if not inside or chance.random() < 0.15:
        return _changed(value, chance)
    at = chance.randrange(len(inside))
    if isinstance(value, list):
        return [*value[:at], altered_json(value[at], chance), *value[at + 1 :]]
    return {**value, inside[at]: altered_json(value[inside[at]], chance)}


def _changed(value, chance):
    how = chance.choice(["odd", "odd", "less", "more", "wrap", "name"])
    if isinstance(value, dict) and value and how in ("less", "more", "name"):
        name = chance.choice(list(value))
        if how == "more":
            return {
                **value,
                chance.choice(["label", "labels", "skipped", "meta", "created_at", "annotator"]): _odd(chance),
            }
        rest = {other: value[other] for other in value if other != name}
        return rest if how == "less" else {**rest, name.upper(): value[name]}
    if isinstance(value, list) and value and how in ("less", "more"):
        at = chance.randrange(len(value))
        return [*value[:at], *value[at + 1 :]] if how == "less" else [*value, chance.choice([*value, _odd(chance)])]
    return [value] if how == "wrap" else _odd(chance)


def _odd(chance):
    return chance.choice(ODD)


def word(row):
    return [WORDS[truth(row["qid"], row["docno"])]]


def tasks_of(folder, *people):
    """Return the rows of several annotators' files, as they stand in one project to which all were given."""
    return [row for who in people for row in rows_of(next(folder.glob(f"{who}-round1.json*")))]


# ---- Doccano


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv"])
def test_doccano_a_project_for_each_annotator(kind, tmp_path):
    export(tmp_path, format="doccano", overlap=2)
    for who in ("ann", "bob"):
        records = doccano_records(tasks_of(tmp_path, who), word, ["a comment", "and more"])
        # the file of a shared project is called all, whoever worked in it
        archive = returned(tmp_path) / f"export of {who}.zip"
        zipped(archive, {f"all.{kind}": doccano_file(records, kind)})
        os.utime(archive, (MARCH, MARCH))
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == as_asked(tmp_path)
    assert set(result.table["time"]) == {"2026-03-01T12:00:00+00:00"}
    assert set(result.table["note"]) == {"a comment#and more" if kind == "csv" else "a comment\nand more"}


def test_doccano_one_project_in_which_everybody_has_labels_of_their_own(tmp_path):
    export(tmp_path, format="doccano", annotators=None, overlap=2)
    rows = rows_of(tmp_path / "tasks-round1.jsonl")
    files = {
        "ann.jsonl": doccano_file(doccano_records(rows, word)),
        "bob.jsonl": doccano_file(doccano_records(rows, lambda row: ["relevant"])),
        # an administrator who judged nothing is a member, too
        "admin.jsonl": doccano_file(doccano_records(rows, lambda row: [])),
        "__MACOSX/ann.jsonl": b"\0",
    }
    zipped(returned(tmp_path) / "export.zip", files)
    found = labels_of(ptr.judging.import_labels(tmp_path))
    expected = {("ann", q, d): truth(q, d) for q, docnos in PAIRS.items() for d in docnos}
    assert found == expected | {("bob", q, d): 1 for _, q, d in expected}


def test_doccano_users_are_matched_by_whose_rows_they_answered(tmp_path, messages):
    export(tmp_path, format="doccano")
    rows = tasks_of(tmp_path, "ann", "bob")
    mine = {who: (lambda row, who=who: word(row) if row["assigned"] == who else []) for who in ("ann", "bob")}

    def bring(**users):
        files = {f"{user}.jsonl": doccano_file(doccano_records(rows, labels)) for user, labels in users.items()}
        zipped(returned(tmp_path) / "export.zip", files)

    bring(ann=mine["ann"], robert=mine["bob"])
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == as_asked(tmp_path)
    assert result.settings["users"] == "robert=bob"
    # two users answered tasks of one annotator: nobody knows who is meant
    bring(
        ann=mine["ann"],
        rob=lambda row: mine["bob"](row) if row["docno"] < "b" else [],
        bert=lambda row: mine["bob"](row) if row["docno"] >= "b" else [],
    )
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert len(error.faults) == 2
    assert labels_of(ptr.judging.import_labels(tmp_path, annotators={"rob": "bob", "bert": "bob"})) == as_asked(
        tmp_path
    )
    # somebody answered what was asked of another
    bring(ann=word)
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert len(error.faults) == 4


def test_doccano_files_of_an_archive_that_was_unpacked(tmp_path, messages):
    export(tmp_path, format="doccano")
    rows = tasks_of(tmp_path, "ann", "bob")
    for who in ("ann", "bob"):
        mine = doccano_records(rows, lambda row, who=who: word(row) if row["assigned"] == who else [])
        (returned(tmp_path) / f"{who}.jsonl").write_bytes(doccano_file(mine))
    assert labels_of(ptr.judging.import_labels(tmp_path)) == as_asked(tmp_path)
    # the file says who it was, and not for whom the rows were written
    (returned(tmp_path) / "ann.jsonl").write_bytes(doccano_file(doccano_records(rows, word)))
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert {fault.place.split(",")[0] for fault in error.faults} == {"returned/ann.jsonl"}


# ---- Label Studio


def users(*people):
    """Return annotations of several users for each task: all of them, with a note of the first."""
    return lambda i, row: [
        annotation(10 * i + n, who, word(row), "because" if n == 0 else None) for n, who in enumerate(people)
    ]


@pytest.mark.parametrize("made", [label_studio, label_studio_min])
def test_label_studio_several_annotators_in_one_project(made, tmp_path):
    export(tmp_path, format="label-studio", annotators=None, overlap=2)
    rows = rows_of(tmp_path / "tasks-round1.json")
    (returned(tmp_path) / "export.json").write_bytes(made(rows, users(3, 5)))
    expected = {(who, q, d): truth(q, d) for q, docnos in PAIRS.items() for d in docnos for who in "35"}
    assert labels_of(ptr.judging.import_labels(tmp_path)) == expected
    named = labels_of(ptr.judging.import_labels(tmp_path, annotators={"3": "cem", 5: "dot"}))
    assert named == {({"3": "cem", "5": "dot"}[who], q, d): label for (who, q, d), label in expected.items()}


def test_label_studio_skipped_drafts_and_none(tmp_path):
    export(tmp_path, format="label-studio", annotators=["ann"])
    rows = tasks_of(tmp_path, "ann")

    def given(i, row):
        if i == 0:
            return []
        if i == 1:
            return [annotation(i, 1, word(row), "no text", was_cancelled=True)]
        if i == 2:
            return [annotation(i, 1, [])]
        return [annotation(i, 1, word(row))]

    (returned(tmp_path) / "e.json").write_bytes(label_studio(rows, given))
    result = ptr.judging.import_labels(tmp_path, partial=True)
    assert len(result.table) == len(rows) - 3
    lacking = result.missing.set_index("docno")
    assert set(lacking.index) == {row["docno"] for row in rows[:3]}
    assert lacking["skipped"].to_dict() == {row["docno"]: i == 1 for i, row in enumerate(rows[:3])}
    assert lacking["note"][rows[1]["docno"]] == "no text"


def test_label_studio_two_annotations_of_one(tmp_path, messages):
    export(tmp_path, format="label-studio", annotators=["ann"])
    rows = tasks_of(tmp_path, "ann")
    path = returned(tmp_path) / "e.json"
    path.write_bytes(label_studio(rows, users(1, 1)))
    assert labels_of(messages.warned(lambda: ptr.judging.import_labels(tmp_path))) == as_asked(tmp_path)
    other = lambda row: [WORDS[(truth(row["qid"], row["docno"]) + 1) % 3]]  # noqa: E731
    path.write_bytes(
        label_studio(
            rows, lambda i, row: [annotation(i, 1, word(row)), *([annotation(99, 1, other(row))] if i == 3 else [])]
        )
    )
    messages.refused(lambda: ptr.judging.import_labels(tmp_path), place="returned/e.json, record 4, annotation 99")


@pytest.mark.parametrize(("separator", "ending"), [(",", "csv"), ("\t", "tsv")])
def test_label_studio_as_a_table(separator, ending, tmp_path):
    export(tmp_path, format="label-studio", annotators=["ann"])
    rows = []
    for i, row in enumerate(tasks_of(tmp_path, "ann")):
        more = {"id": 7 + i, "label": word(row)[0], "annotator": "x@y.org", "annotation_id": i, "lead_time": 1.5}
        times = {"created_at": "2026-03-01T10:00:00.1Z", "updated_at": "2026-03-02T11:30:00.893578Z"}
        rows.append(dict(sorted({**row, **more, **times}.items())))
    write_rows(returned(tmp_path) / f"project.{ending}", rows, separator)
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == as_asked(tmp_path)
    assert result.table["time"][0] == "2026-03-02T11:30:00+00:00"
    assert (result.table["seconds"] == 1.5).all()
    assert ptr.judging.label_times(result).table["median"].tolist() == [1.5, 1.5]


# ---- any text


@settings(deadline=None, max_examples=15)
@given(
    st.text(max_size=60).filter(str.strip),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9),
)
def test_any_text_goes_there_and_back(tmp_path_factory, text, name):
    pairs = {"1": [f"d{name}"], "2": [f"e{name}", "="]}
    for form in ("doccano", "label-studio"):
        folder = tmp_path_factory.mktemp(form)
        export(folder, pairs, format=form, annotators=["ann"], texts=dict.fromkeys([f"d{name}", f"e{name}", "="], text))
        rows = tasks_of(folder, "ann")
        made = doccano_file(doccano_records(rows, lambda row: ["relevant"])) if form == "doccano" else None
        made = made or label_studio(rows, lambda i, row: [annotation(i, 4, ["relevant"])])
        (returned(folder) / ("all.jsonl" if form == "doccano" else "all.json")).write_bytes(made)
        result = ptr.judging.import_labels(folder)
        assert sorted(zip(result.table["qid"], result.table["docno"], strict=True)) == sorted(
            (qid, docno) for qid, docnos in pairs.items() for docno in docnos
        )


#: how many files of each kind, of which the large form has a thousand
CASES = 60
ARCHIVES = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


def by_ann(i, row):
    return [annotation(i, "ann", word(row), "a note")]


#: kind of file -> how an export reads that has it, and its records
KINDS = {
    "doccano": ("doccano", "ann.jsonl", lambda rows: doccano_records(rows, word, ["a comment"])),
    "label-studio": ("label-studio", "ann.json", lambda rows: json.loads(label_studio(rows, by_ann))),
    "label-studio-min": ("label-studio", "ann.json", lambda rows: json.loads(label_studio_min(rows, by_ann))),
}


def read(folder):
    """Return the labels that are read, None where something is refused; other errors are faults of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        try:
            labels = import_labels(folder, partial=True)
        except InputError:
            return None
    rows = labels.table[["qid", "docno", "label"]].itertuples(index=False, name=None)
    repr(labels)
    str(labels)
    return {(qid, docno): label for qid, docno, label in rows}


def tasks(folder, form):
    """Export tasks of one annotator, and return the rows that a tool has of them."""
    export(folder, format=form, annotators=["ann"])
    return rows_of(next(folder.glob("*-round1.*")))


@pytest.mark.parametrize("kind", KINDS)
def test_records_that_were_altered(kind, tmp_path):
    form, name, records_of = KINDS[kind]
    records = records_of(tasks(tmp_path, form))
    keys = [(row["qid"], row["docno"]) for row in (record.get("data", record) for record in records)]
    found = {"read": 0, "refused": 0}
    for seed in range(CASES * 5):
        chance, changed = random.Random(f"{kind} {seed}"), list(records)
        touched = {chance.randrange(len(records)) for _ in range(chance.choice([1, 1, 2]))}
        for at in touched:
            changed[at] = altered_json(changed[at], chance)
        text = json.dumps(changed) if name.endswith(".json") else "\n".join(map(json.dumps, changed))
        (returned(tmp_path) / name).write_text(text)
        labels = read(tmp_path)
        found["refused" if labels is None else "read"] += 1
        if labels is not None:
            # what nothing happened to is there
            assert {(key, truth(*key)) for i, key in enumerate(keys) if i not in touched} <= set(labels.items()), text
    # most get past the door, and some are refused
    assert found["read"] > CASES
    assert found["refused"] > CASES / 4


def sheet_zip(folder, packing):
    rows = tasks(folder, "csv")
    write_rows(folder / "s.csv", [{**row, "label": str(truth(row["qid"], row["docno"]))} for row in rows])
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for who in ("ann", "bob"):
            archive.writestr(f"{who}.csv", (folder / "s.csv").read_bytes())
    (folder / "s.csv").unlink()
    return held.getvalue()


@pytest.mark.parametrize("packing", ARCHIVES)
def test_archives_that_were_altered(packing, tmp_path):
    whole = sheet_zip(tmp_path, ARCHIVES[packing])
    refused = 0
    for seed in range(CASES):
        (returned(tmp_path) / "export.zip").write_bytes(altered(whole, random.Random(f"{packing} {seed}")))
        refused += read(tmp_path) is None
    assert refused > CASES / 2


@pytest.mark.parametrize(
    "case",
    ["../out.csv", "/out.csv", "a/../../out.csv", "..\\out.csv", "C:\\out.csv", "inner.zip", "more.csv.gz", "more.tar"],
)
def test_members_that_are_not_read(case, tmp_path):
    rows = doccano_file(doccano_records(tasks(tmp_path, "doccano"), word))
    with zipfile.ZipFile(returned(tmp_path) / "export.zip", "w") as archive:
        archive.writestr("ann.jsonl", rows)
        archive.writestr(case, rows)
    with pytest.raises(InputError) as error:
        import_labels(tmp_path)
    assert error.value.place.startswith("returned/export.zip")


def test_an_archive_that_unpacks_too_far_or_has_too_many_members(tmp_path, monkeypatch):
    rows = doccano_file(doccano_records(tasks(tmp_path, "doccano"), word))
    archive = returned(tmp_path) / "export.zip"
    monkeypatch.setattr(files, "ANY_UNPACKED", 10**6)
    # what they unpack to counts together
    for sizes in ([10**7], [400_000, 400_000, 400_000]):
        archive.write_bytes(zip_bomb(sizes))
        with pytest.raises(InputError, match="attack"):
            import_labels(tmp_path)
    monkeypatch.setattr(files, "MOST_MEMBERS", 3)
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("ann.jsonl", rows)
        for i in range(3):
            made.writestr(f".{i}", b"")
    with pytest.raises(InputError, match="members"):
        import_labels(tmp_path)
    monkeypatch.setattr(files, "MOST_MEMBERS", 4)
    assert len(import_labels(tmp_path).table) == 8


ODD_RESULTS = [5, "relevant", {"value": 1}, [5], [None], [{"from_name": "label", "value": 3}], [{"from_name": "label"}]]


@pytest.mark.parametrize(
    "change",
    [
        *({"result": result} for result in ODD_RESULTS),
        {"was_cancelled": "false"},
        {"skipped": []},
        *(
            {"result": [{"from_name": "label", "value": {"choices": odd}}]}
            for odd in ([{}], [["relevant"]], [True], {"a": 1})
        ),
        {"result": 2 * annotation(0, "ann", ["relevant"])["result"]},
    ],
)
def test_odd_annotations_are_told_with_record_and_document(change, tmp_path):
    rows = tasks(tmp_path, "label-studio")
    made = label_studio(rows, lambda i, row: [annotation(i, "ann", word(row), **(change if i == 2 else {}))])
    (returned(tmp_path) / "ann.json").write_bytes(made)
    with pytest.raises(InputError) as error:
        import_labels(tmp_path, partial=True)
    assert error.value.place == "returned/ann.json, record 3, annotation 2"
    assert repr(rows[2]["docno"]) in str(error.value)


TIMES = {
    "2026-03-02T13:30:00+02:00": "2026-03-02T11:30:00+00:00",
    "2026-03-02T11:30:00": "2026-03-02T11:30:00+00:00",
    "2026-03-02 06:30:00-0500": "2026-03-02T11:30:00+00:00",
    None: "2026-03-01T10:00:00+00:00",
    "": "2026-03-01T10:00:00+00:00",
}


@pytest.mark.parametrize("said", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "soon", -5, 1e300, {}, [1]])
def test_what_is_no_time_is_told_and_that_of_the_file_is_taken(said, tmp_path):
    rows = tasks(tmp_path, "label-studio")
    odd = {"updated_at": said, "created_at": None, "lead_time": -3.5}
    made = label_studio(rows, lambda i, row: [annotation(i, "ann", word(row), **(odd if i == 2 else {}))])
    (returned(tmp_path) / "ann.json").write_bytes(made)
    with pytest.warns(ReuseWarning) as told:
        labels = import_labels(tmp_path)
    assert repr(rows[2]["docno"]) in str(told[0].message)
    assert "record 3, annotation 2" in str(told[0].message)
    assert len(labels.table) == 8
    # a time below 0 is none
    seconds = labels.table.set_index("docno")["seconds"]
    assert seconds.isna().sum() == 1
    assert pd.isna(seconds[rows[2]["docno"]])
    assert set(seconds.dropna()) == {8.65}
