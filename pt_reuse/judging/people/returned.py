"""ReturnedLabels: what people said of the documents of a task, with what is known of each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from pt_reuse._check import count, examples, shown
from pt_reuse._errors import Call, InputError, door, warn
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result
from pt_reuse.judging.people.checking import Checked, Labelled
from pt_reuse.judging.people.manifest import Manifest, Pair
from pt_reuse.qrels.judgments import Qrels

#: what stands of each label in the table, before what the pool knew of the document
COLUMNS = ("qid", "docno", "label", "annotator", "time", "strategy", "round", "reason", "note")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReturnedLabels(Result):
    """The labels of people, made by :func:`import_labels`; several may have judged one document.

    Attributes:
        table: one row per label: ``qid docno label annotator time strategy round reason note`` and what else the pool
            knew of the document (under ``pool_...`` where its column had a name of ours). ``time`` is ISO 8601 in UTC:
            that of the tool where it keeps one, else when the file that has the label was last written.
        missing: one row per label that was asked and is not there: ``qid docno annotator round skipped note``;
            ``annotator`` is None where anybody may answer, ``skipped`` says that somebody saw the pair and gave no
            label.
        scale: the labels that could be given: ``label word``.
        settings: task, format, files, and what was mended on the way.
    """

    title = "ReturnedLabels"

    missing: pd.DataFrame
    scale: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the labels, what is missing, and the scale."""
        return {"table": self.table, "missing": self.missing, "scale": self.scale}

    def headline(self) -> str:
        """Return how many labels there are, and how many are missing."""
        people = count(self.table["annotator"].nunique(), "annotator")
        pairs = count(len(self.table.drop_duplicates(["qid", "docno"])), "document")
        return f"{count(len(self.table), 'label')} of {people} for {pairs}, {len(self.missing):,} missing"

    def report(self) -> Report:
        """Return how many labels each annotator gave, and how many are missing."""
        lacking = self.missing["annotator"].map(lambda who: "anybody" if who is None else who)
        people = list(dict.fromkeys([*sorted(self.table["annotator"]), *sorted(lacking)]))
        given = self.table["annotator"].value_counts().reindex(people, fill_value=0)
        topics = self.table.groupby("annotator")["qid"].nunique().reindex(people, fill_value=0)
        columns = (
            Column("Annotator", people),
            Column("Topics", topics, Digits.COUNT),
            Column("Labels", given, Digits.COUNT),
            Column("Missing", lacking.value_counts().reindex(people, fill_value=0), Digits.COUNT),
        )
        words = ", ".join(f"{label} {word}" for label, word in self.scale.itertuples(index=False, name=None))
        return Report(columns, caption=f"What people judged (task {self.settings['task']}; labels {words}).")

    @door
    def to_qrels(self, *, rel: int | None = None) -> Qrels:
        """Return the labels as judgments, where one person judged each document.

        Args:
            rel: the lowest label that is relevant; None: nobody says, which counts as 1.

        Returns:
            Qrels: one judgment per document, with ``judge time strategy round reason note`` and what else the pool
            knew of it. A topic without any label yet is none of its topics. Of a sample (:func:`sample_pool`) they lack
            what was not sampled, which estimates need: ``sample.judge(labels.to_qrels())`` has it.

        Raises:
            InputError: a document that several judged, no label at all.
        """
        if not len(self.table):
            raise InputError("there is no label yet.")
        several = self.table[self.table.duplicated(["qid", "docno"], keep=False)]
        if len(several):
            qid, docno = several.iloc[0][["qid", "docno"]]
            n = len(several.drop_duplicates(["qid", "docno"]))
            raise InputError(
                f"{count(n, 'document')} judged by several annotators, such as topic {shown(qid)}, document "
                f"{shown(docno)}. Make one label of theirs by ",
                Call("majority_vote", "labels.table"),
                ".",
            )
        bare = sorted(set(self.missing["qid"]) - set(self.table["qid"]))
        if bare:
            warn(f"{count(len(bare), 'topic')} without any label yet, left out of the judgments: {examples(bare)}.")
        return Qrels(self.table.rename(columns={"annotator": "judge"}), rel=rel)


def returned_labels(
    checked: Checked, missing: Sequence[tuple[Pair, str | None]], manifest: Manifest, files: Sequence[str]
) -> ReturnedLabels:
    """Return what was found as a result.

    Args:
        checked: the labels, without faults.
        missing: what was asked and is not there: the pair, and of whom it was asked.
        manifest: what was asked.
        files: what was read.
    """
    place = {pair.qid: i for i, pair in enumerate(manifest.pairs)}
    labels = sorted(checked.labels.values(), key=lambda one: (place[one.pair.qid], one.pair.docno, one.annotator))
    lacking = sorted(missing, key=lambda one: (place[one[0].qid], one[0].docno, one[1] or ""))
    skipped = checked.skipped
    anybody = {name for name, _ in skipped}
    settings = {
        "task": manifest.task,
        "format": manifest.form.value,
        "files": len(files),
        "rounds": len(manifest.rounds),
        "users": ", ".join(f"{user}={who}" for user, who in sorted(checked.people.items())) or "as named",
        "ids_restored": len(checked.restored),
        "labels_twice_alike": len(checked.again),
    }
    return ReturnedLabels(
        table=_table(labels),
        missing=pd.DataFrame(
            {
                "qid": _texts([pair.qid for pair, _ in lacking]),
                "docno": _texts([pair.docno for pair, _ in lacking]),
                "annotator": _texts([who for _, who in lacking]),
                "round": pd.Series([pair.round for pair, _ in lacking], dtype="int64"),
                "skipped": pd.Series(
                    [(p.name in anybody) if who is None else ((p.name, who) in skipped) for p, who in lacking],
                    dtype=bool,
                ),
                "note": _texts([skipped.get((pair.name, who or ""), "") for pair, who in lacking]),
            }
        ),
        scale=pd.DataFrame(list(manifest.scale.words.items()), columns=["label", "word"]),
        settings=settings,
    )


def _table(labels: Sequence[Labelled]) -> pd.DataFrame:
    pairs, answers = [one.pair for one in labels], [one.answer for one in labels]
    columns = {
        "qid": _texts([pair.qid for pair in pairs]),
        "docno": _texts([pair.docno for pair in pairs]),
        "label": pd.Series([one.label for one in labels], dtype="int64"),
        "annotator": _texts([one.annotator for one in labels]),
        "time": _texts([answer.time for answer in answers]),
        "strategy": _texts([pair.strategy for pair in pairs]),
        "round": pd.Series([pair.round for pair in pairs], dtype="int64"),
        "reason": _texts([pair.reason for pair in pairs]),
        "note": _texts([answer.note for answer in answers]),
    }
    for name in dict.fromkeys(name for pair in pairs for name in pair.further):
        values = [pair.further.get(name) for pair in pairs]
        numbers = all(isinstance(value, float) or value is None for value in values)
        taken = name in columns or name == "judge"
        columns[f"pool_{name}" if taken else name] = pd.Series(values, dtype="float64" if numbers else object)
    return pd.DataFrame(columns)


def _texts(values: Sequence[str | None]) -> pd.Series:
    return pd.Series(list(values), dtype=object)
