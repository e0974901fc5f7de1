"""Rows of any text, written in each format and read again."""

from __future__ import annotations

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from own_files import documents, topics, written

from pt_reuse.collections.own_files import TOPIC_IDS

WORDS = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1, max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(WORDS, TEXTS, min_size=1, max_size=8), st.booleans())
def test_every_format_gives_back_what_was_written(tmp_path_factory, rows, packed):
    folder = tmp_path_factory.mktemp("rows")
    end = ".gz" if packed else ""
    frame = pd.DataFrame({"qid": list(rows), "query": list(rows.values())})
    as_documents = frame.set_axis(["docno", "text"], axis=1)
    for part, given_rows, read in (("t", frame, topics), ("d", as_documents, documents)):
        given_rows.to_json(folder / f"{part}.jsonl{end}", orient="records", lines=True)
        given_rows.to_csv(folder / f"{part}.csv{end}", index=False)
        lines = "".join(f"{i}\t{text}\n" for i, text in rows.items())
        # a first topic called "id" is taken for a header
        kinds = ["jsonl", "csv"] + (["tsv"] if next(iter(rows)).lower() not in TOPIC_IDS else [])
        written(folder / f"{part}.tsv{end}", lines)
        for kind in kinds:
            component = read(folder / f"{part}.{kind}{end}")
            found = component.queries_iter() if part == "t" else component.docs_iter()
            assert {row[0]: row[1] for row in found} == rows
