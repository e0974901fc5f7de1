"""What Label Studio exports, made as its own exporter makes it, comes back as it was given, or is refused."""

from __future__ import annotations

import json

import pytest
from people_parts import PAIRS, WORDS, as_asked, export, labels_of, returned, rows_of, truth, write_rows

import pt_reuse as ptr
from pt_reuse.errors import InputError
from pt_reuse.judging.people.importing import import_labels


def annotation(number, who, labels, note=None, **further):
    """Return an annotation as Label Studio has it in its JSON export."""
    said = [("choices", "choices", labels, "label")]
    said += [] if note is None else [("textarea", "text", [note], "note")]
    result = [
        {"id": f"{name}{number}", "type": kind, "value": {key: value}, "to_name": "text", "from_name": name}
        for kind, key, value, name in said
    ]
    times = {"created_at": "2026-03-01T10:00:00.123456Z", "updated_at": "2026-03-02T11:30:00.893578Z"}
    common = {"id": number, "completed_by": who, "result": result if labels else [], "was_cancelled": False}
    return {**common, **times, "lead_time": 8.65, "result_count": 1, **further}


def label_studio(rows, annotations):
    """Return tasks as Label Studio exports them; `annotations` makes those of a row."""
    more = {"drafts": [], "predictions": [], "meta": {}, "created_at": "2026-02-01T00:00:00.000000Z", "project": 1}
    tasks = [{"id": 7 + i, "annotations": annotations(i, row), "data": row, **more} for i, row in enumerate(rows)]
    return json.dumps(tasks).encode()


def word(row):
    return [WORDS[truth(row["qid"], row["docno"])]]


def tasks(folder):
    """Export tasks of one annotator, and return the rows that the tool has of them."""
    export(folder, format="label-studio", annotators=["ann"])
    return rows_of(folder / "ann-round1.json")


def users(*people):
    """Return annotations of several users for each task: all of them, with a note of the first."""
    return lambda i, row: [
        annotation(10 * i + n, who, word(row), "because" if n == 0 else None) for n, who in enumerate(people)
    ]


def test_label_studio_several_annotators_in_one_project(tmp_path):
    export(tmp_path, format="label-studio", annotators=None, overlap=2)
    rows = rows_of(tmp_path / "tasks-round1.json")
    (returned(tmp_path) / "export.json").write_bytes(label_studio(rows, users(3, 5)))
    expected = {(who, q, d): truth(q, d) for q, docnos in PAIRS.items() for d in docnos for who in "35"}
    assert labels_of(ptr.judging.import_labels(tmp_path)) == expected
    named = labels_of(ptr.judging.import_labels(tmp_path, annotators={"3": "cem", 5: "dot"}))
    assert named == {({"3": "cem", "5": "dot"}[who], q, d): label for (who, q, d), label in expected.items()}


def test_label_studio_skipped_drafts_and_none(tmp_path):
    rows = tasks(tmp_path)

    def given(i, row):
        odd = [[], [annotation(i, 1, word(row), "no text", was_cancelled=True)], [annotation(i, 1, [])]]
        return odd[i] if i < 3 else [annotation(i, 1, word(row))]

    (returned(tmp_path) / "e.json").write_bytes(label_studio(rows, given))
    result = ptr.judging.import_labels(tmp_path, partial=True)
    assert len(result.table) == len(rows) - 3
    assert set(result.missing["docno"]) == {row["docno"] for row in rows[:3]}


def test_label_studio_two_annotations_of_one(tmp_path, messages):
    rows = tasks(tmp_path)
    path = returned(tmp_path) / "e.json"
    path.write_bytes(label_studio(rows, users(1, 1)))
    assert labels_of(messages.warned(lambda: ptr.judging.import_labels(tmp_path))) == as_asked(tmp_path)
    other = annotation(99, 1, [WORDS[(truth(rows[3]["qid"], rows[3]["docno"]) + 1) % 3]])
    path.write_bytes(label_studio(rows, lambda i, row: [annotation(i, 1, word(row)), *([other] if i == 3 else [])]))
    messages.refused(lambda: ptr.judging.import_labels(tmp_path), place="returned/e.json, record 4, annotation 99")


@pytest.mark.parametrize(("separator", "ending"), [(",", "csv"), ("\t", "tsv")])
def test_label_studio_as_a_table(separator, ending, tmp_path):
    rows = []
    for i, row in enumerate(tasks(tmp_path)):
        more = {"id": 7 + i, "label": word(row)[0], "annotator": "x@y.org", "annotation_id": i, "lead_time": 1.5}
        times = {"created_at": "2026-03-01T10:00:00.1Z", "updated_at": "2026-03-02T11:30:00.893578Z"}
        rows.append(dict(sorted({**row, **more, **times}.items())))
    write_rows(returned(tmp_path) / f"project.{ending}", rows, separator)
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == as_asked(tmp_path)
    assert result.table["time"][0] == "2026-03-02T11:30:00+00:00"
    assert (result.table["seconds"] == 1.5).all()


def test_users_are_matched_by_whose_rows_they_answered(tmp_path, messages):
    export(tmp_path, format="label-studio")
    rows = [row for who in ("ann", "bob") for row in rows_of(tmp_path / f"{who}-round1.json")]

    def bring(user_of):
        made = label_studio(rows, lambda i, row: [annotation(i, user, word(row)) for user in user_of(row)])
        (returned(tmp_path) / "export.json").write_bytes(made)

    bring(lambda row: ["ann" if row["assigned"] == "ann" else "robert"])
    result = import_labels(tmp_path)
    assert labels_of(result) == as_asked(tmp_path)
    assert result.settings["users"] == "robert=bob"
    # two users answered tasks of one annotator: nobody knows who is meant
    bring(lambda row: ["ann" if row["assigned"] == "ann" else "rob" if row["docno"] < "b" else "bert"])
    assert len(messages.refused(lambda: import_labels(tmp_path)).faults) == 2
    assert labels_of(import_labels(tmp_path, annotators={"rob": "bob", "bert": "bob"})) == as_asked(tmp_path)
    # somebody answered what was asked of another
    bring(lambda row: ["ann"])
    assert len(messages.refused(lambda: import_labels(tmp_path)).faults) == 4


ODD_CHOICES = [[{}], [["relevant"]], {"a": 1}]
ODD_RESULTS = [5, "relevant", {"value": 1}, [5], [None], [{"from_name": "label", "value": 3}], [{"from_name": "label"}]]


def test_odd_annotations_are_told_with_their_record(tmp_path):
    rows = tasks(tmp_path)
    changes = [{"result": result} for result in ODD_RESULTS]
    changes += [{"result": [{"from_name": "label", "value": {"choices": each}}]} for each in ODD_CHOICES]
    changes.append({"result": 2 * annotation(0, "ann", ["relevant"])["result"]})
    for change in changes:
        made = label_studio(
            rows, lambda i, row, change=change: [annotation(i, "ann", word(row), **(change if i == 2 else {}))]
        )
        (returned(tmp_path) / "ann.json").write_bytes(made)
        with pytest.raises(InputError) as error:
            import_labels(tmp_path, partial=True)
        assert error.value.place.startswith("returned/ann.json, record 3"), change


def test_what_is_no_time_is_that_of_the_file(tmp_path):
    rows = tasks(tmp_path)
    for said in ("0001-01-01T00:00:00+23:59", "soon", -5, {}):
        odd = {"updated_at": said, "created_at": None, "lead_time": -3.5}
        made = label_studio(rows, lambda i, row, odd=odd: [annotation(i, "ann", word(row), **(odd if i == 2 else {}))])
        (returned(tmp_path) / "ann.json").write_bytes(made)
        table = import_labels(tmp_path).table.set_index("docno")
        assert table["time"].value_counts().tolist() == [7, 1]
        # a time below 0 is none
        assert table.index[table["seconds"].isna()].tolist() == [rows[2]["docno"]]
