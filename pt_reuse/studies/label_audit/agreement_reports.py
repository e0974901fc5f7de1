"""What a paper prints of labels by judges and by people, and the sentences that say what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import count
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.judging.annotators.coefficients import SOURCE_OF_BANDS, band
from pt_reuse.scoring.caveats import BEWARE

#: what the rows of a report can be
ROWS = ("judge", "grade", "person", "topic")
#: of which documents and labels a report or a figure is, in words
ITEMS_WORDS = {"all": "all documents", "relevant": "documents that people or the judge call relevant"}
LABELS_WORDS = {"grades": "labels as they are", "binary": "relevant or not"}
FIGURE_WORDS = {
    "agreement": "share of equal labels",
    "kappa": "Cohen's kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "precision": "precision of the label relevant",
    "recall": "recall of the label relevant",
}


def of_judges(rows: pd.DataFrame, way: tuple[str, str], settings: Mapping[str, Any]) -> Report:
    """Return a row per judge, and per other person: how much each calls relevant, kappa, precision and recall."""
    whys = dict.fromkeys(f"{row.judge}: {row.why}" for row in rows[["judge", "why"]].itertuples() if row.why)
    ordered = _best_first(rows)
    same = rows.loc[rows["kind"] == "model", "human_relevant"].dropna().round(3).unique()
    human = f"; of the documents of the judges people call {same[0]:.3f} relevant" if len(same) == 1 else ""
    return Report(
        [
            Column("Judge", ordered["judge"]),
            Column("Relevant", ordered["judge_relevant"], Digits.SCORE),
            Column("Kappa", ordered["kappa"], Digits.SCORE),
            intervals("kappa", ordered["kappa_low"], ordered["kappa_high"], Digits.SCORE),
            Column("Precision", ordered["precision"], Digits.SCORE),
            Column("Recall", ordered["recall"], Digits.SCORE),
        ],
        caption=(
            f"Labels of judges beside those of people: {ITEMS_WORDS[way[0]]}, {LABELS_WORDS[way[1]]}. Relevant is the "
            f"share that the judge calls relevant{human}."
        ),
        notes=[*_notes(settings, with_intervals=True, with_kappa=True), *(f"Without a value: {why}." for why in whys)],
    )


def of_grades(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and label of the judge: how often it is given, and how precise it is."""
    return Report(
        [
            Column("Judge and label", [f"{row.judge}: {row.label}" for row in rows[["judge", "label"]].itertuples()]),
            Column("Documents", rows["n"], Digits.COUNT),
            Column("Share", rows["share"], Digits.SCORE),
            Column("Relevant", rows["relevant"], Digits.SCORE),
            intervals("relevant", rows["relevant_low"], rows["relevant_high"], Digits.SCORE),
        ],
        caption="How precise each label of a judge is: the share of its documents that people call relevant.",
        notes=_notes(settings, with_intervals=True, with_kappa=False),
    )


def of_persons(rows: pd.DataFrame, figure: str, labels: str, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and other person: a figure of both on the same documents, and the difference."""
    pairs = [f"{row.judge}, {row.person}" for row in rows[["judge", "person"]].itertuples()]
    return Report(
        [
            Column("Judge, person", pairs),
            Column("Labels", rows["n_items"], Digits.COUNT),
            Column("Judge", rows["value"], Digits.SCORE),
            Column("Person", rows["person_value"], Digits.SCORE),
            Column("Difference", rows["difference"], Digits.SCORE),
            intervals("difference", rows["difference_low"], rows["difference_high"], Digits.SCORE),
        ],
        caption=(
            f"Judges beside other people, each against the judgments of people, on the documents that both labelled: "
            f"{FIGURE_WORDS[figure]}, {LABELS_WORDS[labels]}."
        ),
        notes=_notes(settings, with_intervals=True, with_kappa=figure == "kappa"),
    )


def of_topics(rows: pd.DataFrame, way: tuple[str, str], settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and topic, the lowest kappa first."""
    ordered = rows.sort_values("kappa", kind="stable", na_position="last")
    return Report(
        [
            Column("Judge, topic", [f"{row.judge}, {row.qid}" for row in ordered[["judge", "qid"]].itertuples()]),
            Column("Documents", ordered["n_items"], Digits.COUNT),
            Column("Missing", ordered["missing"], Digits.COUNT),
            Column("Kappa", ordered["kappa"], Digits.SCORE),
            Column("Relevant, people", ordered["human_relevant"], Digits.SCORE),
            Column("Relevant, judge", ordered["judge_relevant"], Digits.SCORE),
        ],
        caption=(
            f"Labels of judges beside those of people on each topic: {ITEMS_WORDS[way[0]]}, {LABELS_WORDS[way[1]]}; "
            "the lowest kappa first, topics without one last."
        ),
        notes=_notes(settings, with_intervals=False, with_kappa=True),
    )


def sentences(table: pd.DataFrame, beside: pd.DataFrame, together: str) -> Iterator[str]:
    """Yield what was found in sentences, each with its number and its interval."""
    rows = table[(table["items"] == "all") & (table["labels"] == "binary")]
    chosen = beside[(beside["figure"] == "kappa") & (beside["labels"] == "binary")]
    if together in set(chosen["person"]):
        chosen = chosen[chosen["person"] == together]
    for row in _best_first(rows[rows["kind"] == "model"]).to_dict("records"):
        judge, documents = row["judge"], f"{count(row['n_items'], 'document')} of {count(row['n_topics'], 'topic')}"
        if pd.isna(row["kappa"]):
            yield f"{judge} has no kappa with people on {documents}: {row['why']}."
        else:
            yield (
                f"{judge} and people have a kappa of {_number(row, 'kappa')} on {documents}, relevant or not "
                f"({band(row['kappa'])} in the bands of McHugh 2012)."
            )
        yield _surplus(row)
        if not pd.isna(row["precision"]) and not pd.isna(row["recall"]):
            yield (
                f"Of what {judge} calls relevant, people call {_number(row, 'precision', 100)} % relevant; of what "
                f"people call relevant, {judge} calls {_number(row, 'recall', 100)} % relevant."
            )
        left = [f"left {count(row['missing'], 'judged document')} without a label"] if row["missing"] else []
        left += [f"has no label in {count(row['without'], 'topic')}"] if row["without"] else []
        if left:
            yield f"{judge} {', and '.join(left)}."
        for other in chosen[chosen["judge"] == judge].dropna(subset=["difference"]).to_dict("records"):
            person = "other people" if other["person"] == together else other["person"]
            yield (
                f"On the documents that {person} labelled, too ({count(other['n_items'], 'label')}), the "
                f"kappa of {judge} is {other['value']:.3f} and that of {person} "
                f"{other['person_value']:.3f}: a difference of {_number(other, 'difference', signed=True)}"
                f"{_verdict(other)}."
            )


def _surplus(row: Mapping[Any, Any]) -> str:
    low, high = row["surplus_low"], row["surplus_high"]
    said = (
        f"{row['judge']} calls {100 * row['judge_relevant']:.1f} % of the documents relevant, people "
        f"{100 * row['human_relevant']:.1f} %: a difference of {_number(row, 'surplus', 100, signed=True)} points"
    )
    if low > 0:
        return f"{said}; it is more lenient than people."
    return f"{said}; it is stricter than people." if high < 0 else f"{said}."


def _verdict(row: Mapping[Any, Any]) -> str:
    if row["difference_low"] > 0:
        return ", more than people reach"
    if row["difference_high"] < 0:
        return ", less than people reach"
    return "" if pd.isna(row["difference_low"]) else ", which the topics do not tell from none"


def _number(row: Mapping[Any, Any], figure: str, factor: float = 1, *, signed: bool = False) -> str:
    form = f"{'+' if signed else ''}.{1 if factor == 100 else 3}f"
    return with_ends(row, figure, form, factor=factor)


def _best_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Return judges before other people, the largest kappa first."""
    return rows.sort_values(["kind", "kappa"], ascending=[True, False], kind="stable", na_position="last")


def _notes(settings: Mapping[str, Any], *, with_intervals: bool, with_kappa: bool) -> list[str]:
    notes = [f"Intervals: {settings['intervals']}."] if with_intervals else []
    notes += [f"Kappa: {settings['kappa']}.", f"Bands of kappa: {SOURCE_OF_BANDS}."] if with_kappa else []
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes
