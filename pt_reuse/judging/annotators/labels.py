"""Labels that several annotators gave: their majorities, distributions, and the ranking of systems under each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._files import user_path
from pt_reuse.arrays.correlation import correlations, rank_changes
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.lists import natural_order
from pt_reuse.columns import Table
from pt_reuse.data.frame_columns import LABELS as ALLOWED
from pt_reuse.data.frame_columns import (
    check_frame,
    in_our_columns,
    not_labels,
    number_column,
    provenance_first,
    row_in_words,
    text_groups,
)
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel, read_qrels
from pt_reuse.data.packed_files import (
    BEGINNING,
    LABEL_COLUMNS,
    TIMES,
    check_label_columns,
    headed_judgments,
    read_beginning,
    read_csv_labels,
)
from pt_reuse.errors import InputError, choice, count, examples, located, shown, warn
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.result import Result
from pt_reuse.scoring.perturbed import scores_under
from pt_reuse.scoring.scores import of_all_topics
from pt_reuse.study import study

#: in the place of a label that an annotator did not give; in judgments it is "pooled, not judged"
NO_LABEL = -1
#: what is known of a label, and not of its document
_OF_A_LABEL = ("judge", "note", *TIMES)
_FORMS = "a frame with the columns 'qid', 'docno', 'label' and 'annotator', or a dict of annotator -> judgments"
#: options of the studies of annotators
Labels: TypeAlias = Annotated[
    Any,
    options.Option(
        "a frame ``qid docno label annotator`` (or with the columns of ir_measures), a dict of annotator -> judgments "
        "in any form, or what :func:`~pt_reuse.judging.import_labels` returns. A missing label, or -1, is none."
    ),
]


def check_label_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return paths of files that exist and name each annotator once."""
    files = [user_path(path) for path in paths]
    if missing := [path for path in files if not path.is_file()]:
        raise InputError(f"{examples(missing)}: no such file.", argument="files")
    names = [_annotator(path) for path in files]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        problem = f"several files are those of {examples(twice)}; a file is called as its annotator. "
        raise InputError(f"{problem}Rename them, or give one CSV file with the column 'annotator'.", argument="files")
    return files


def read_label_rows(paths: Sequence[str | Path]) -> pd.DataFrame:
    """Read labels as rows ``qid docno label annotator``, with what CSV files say beside."""
    frames = []
    for path in check_label_files(paths):
        with located(str(path)):
            # by its name, or by the names of columns in its first line
            named = re.search(r"\.csv(\.\w+)?\Z", path.name, re.IGNORECASE)
            is_csv = named or headed_judgments(read_beginning(path, BEGINNING)) is not None
            frame = read_csv_labels(path) if is_csv else read_qrels(path).to_frame()
        frames.append(frame if "annotator" in frame else frame.assign(annotator=_annotator(path)))
    return pd.concat(frames, ignore_index=True)


def _annotator(path: Path) -> str:
    # notes.txt.gz is that of notes
    return path.name.split(".")[0] or path.name


@dataclass(frozen=True)
class AnnotatorLabels:
    """The labels of several annotators; an item is a document of a topic. Items stand topic by topic."""

    annotators: tuple[str, ...]
    topics: tuple[str, ...]  # in natural order
    topic: NDArray[np.int64]  # (items,) positions among the topics
    docnos: NDArray[np.object_]  # (items,)
    values: NDArray[np.int64]  # (items, annotators) labels, -1 where an annotator gave none
    rel: int | None = None  # the lowest label that is relevant, None where nobody says
    #: (items) how each item was chosen, as far as the labels say it: strategy, round, reason and whatever else is the
    #: same for all labels of an item; and the ``time`` of its last label
    chosen: pd.DataFrame = field(default_factory=pd.DataFrame)
    seconds: NDArray[np.float64] | None = None  # (items, annotators) that each label took, NaN where it is not said

    def __len__(self) -> int:
        return len(self.docnos)

    @property
    def given(self) -> NDArray[np.bool_]:
        return self.values != NO_LABEL

    @cached_property
    def qids(self) -> NDArray[np.object_]:
        return np.array([*self.topics, None], dtype=object)[self.topic]

    @cached_property
    def scale(self) -> tuple[int, ...]:
        return tuple(np.unique(self.values[self.given]).tolist())

    def place(self, item: int) -> str:
        return f"topic {shown(self.qids[item])}, document {shown(self.docnos[item])}"

    def labels_in(self, judged: Qrels) -> NDArray[np.int64]:
        """Return (items,): the label that judgments have for each item, -1 where they have none."""
        frame = pd.DataFrame({"qid": self.qids, "docno": self.docnos})
        theirs = judged.to_frame()[["qid", "docno", "label"]]
        labels = frame.merge(theirs, on=["qid", "docno"], how="left")["label"]
        return labels.fillna(NO_LABEL).to_numpy(dtype=np.int64)


def as_annotator_labels(given: Any, argument: str = "labels") -> AnnotatorLabels:
    """Return what a user gives as labels of annotators, under the name of an argument: in any form of `LABELS`."""
    if isinstance(given, AnnotatorLabels):
        return given
    if isinstance(given, Mapping):
        frames, rels = [], set()
        for name, judged in given.items():
            if not isinstance(name, str) or not name.strip():
                problem = f"{argument} must name each annotator by a text, got {shown(name)}."
                raise InputError(problem, argument=argument)
            with located(f"annotator {name}"):
                qrels = as_qrels(judged, argument)
            rels |= {qrels.stated_rel} - {None}
            frames.append(qrels.to_frame().assign(annotator=name))
        if not frames:
            raise InputError(f"{argument} names no annotator.", argument=argument)
        if len(rels) > 1:
            differ = f"annotators differ in which label is relevant: from {examples(sorted(rels))} on."
            raise InputError(f"{differ} Say the same of all.", argument=argument)
        return _of_frame(pd.concat(frames, ignore_index=True), argument, rel=next(iter(rels), None))
    if not isinstance(given, pd.DataFrame | pd.Series | pd.Index) and hasattr(given, "to_frame"):
        given = given.to_frame()
    if not isinstance(given, pd.DataFrame):
        raise InputError(f"{argument} must be {_FORMS}, got {shown(given)}.", argument=argument)
    return _of_frame(in_our_columns(given), argument)


def _of_frame(frame: pd.DataFrame, argument: str, rel: int | None = None) -> AnnotatorLabels:
    check_label_columns(frame, LABEL_COLUMNS, argument, argument)
    check_frame(frame, ("qid", "docno", "annotator"))
    topic, topics = text_groups("qid", frame["qid"])
    document, docnos = text_groups("docno", frame["docno"], frame["qid"])
    annotator, annotators = text_groups("annotator", frame["annotator"])
    values = number_column(frame["label"].where(frame["label"].notna(), NO_LABEL))
    allowed = f"a whole number from {ALLOWED[0]} to {ALLOWED[1]}, -1 or missing for none"
    _refuse_first(frame, "label", not_labels(values), allowed, argument)
    order = natural_order(topics)
    keys = pd.DataFrame({"topic": np.argsort(order)[topic], "document": document})
    items = keys.drop_duplicates().sort_values("topic", kind="stable")
    item = pd.MultiIndex.from_frame(items).get_indexer(pd.MultiIndex.from_frame(keys))
    times = _seconds(frame, argument)
    seconds = None if times is None else np.full((len(items), len(annotators)), np.nan)
    labels = AnnotatorLabels(
        annotators=tuple(annotators),
        topics=tuple(topics[i] for i in order),
        topic=items["topic"].to_numpy(dtype=np.int64),
        docnos=np.array([*docnos, None], dtype=object)[items["document"].to_numpy()],
        values=np.full((len(items), len(annotators)), NO_LABEL, dtype=np.int64),
        rel=rel,
        chosen=_chosen(frame, item),
        seconds=seconds,
    )
    rows = pd.DataFrame({"item": item, "annotator": annotator, "label": values.astype(np.int64), "seconds": times})
    rows = rows[rows["label"] != NO_LABEL]
    if not len(rows):
        raise InputError(f"{argument} holds no label.", argument=argument)
    first = rows.drop_duplicates(["item", "annotator"])
    labels.values[first["item"], first["annotator"]] = first["label"]
    clash = rows[rows["label"] != labels.values[rows["item"], rows["annotator"]]]
    if len(clash):
        i, who, label = clash[["item", "annotator", "label"]].iloc[0].tolist()
        several = f"{labels.place(i)} has the labels {labels.values[i, who]} and {label} of this annotator"
        advice = f"({count(len(clash), 'conflicting label')} in all). Keep one label of an annotator for a document."
        raise InputError(f"{several} {advice}", place=f"annotator {annotators[who]}", argument=argument)
    if again := len(rows) - len(first):
        warn(f"{count(again, 'label')} given more than once by one annotator with the same value; each counts once.")
    if seconds is not None:
        # of a label that is given twice the first time that is said
        timed = rows.dropna(subset="seconds").drop_duplicates(["item", "annotator"])
        seconds[timed["item"], timed["annotator"]] = timed["seconds"]
    return labels


def _refuse_first(frame: pd.DataFrame, column: str, odd: NDArray[np.bool_], wanted: str, argument: str) -> None:
    """Raise for the first row whose cell is odd."""
    for row in frame[odd].head(1).to_dict("records"):
        problem = f"the {column} of {row_in_words(row)} must be {wanted}, got {shown(row[column])}."
        raise InputError(problem, place=f"annotator {row['annotator']}", argument=argument)


def labelled_by_all(labels: AnnotatorLabels) -> NDArray[np.bool_]:
    """Return (items,) whether every annotator labelled an item; raise where there is one annotator or no such item."""
    if len(labels.annotators) < 2:
        raise InputError(f"the labels are of one annotator, {labels.annotators[0]!r}.", argument="labels")
    if not labels.given.all(axis=1).any():
        advice = "Leave out who labelled few, or use annotator_agreement, which takes documents that two labelled."
        problem = f"no document has labels of all {len(labels.annotators)} annotators. {advice}"
        raise InputError(problem, argument="labels")
    return np.asarray(labels.given.all(axis=1))


def label_counts(values: NDArray[np.int64], scale: Iterable[int]) -> NDArray[np.int64]:
    """Return (items, labels): how many annotators gave each label of a scale, of (items, annotators) labels."""
    return np.stack([(values == label).sum(axis=1) for label in scale], axis=1)


def _chosen(frame: pd.DataFrame, item: NDArray[np.int64]) -> pd.DataFrame:
    """Return (items) what labels, a row each, say of how their items were chosen, and when the last was given."""
    further = frame.drop(columns=[*LABEL_COLUMNS, *_OF_A_LABEL], errors="ignore").set_axis(item)
    of_item = further[~further.index.duplicated()].sort_index()
    alike = [column for column in further if further[column].astype(str).eq(of_item[column].astype(str)[item]).all()]
    of_item = of_item[alike].copy()
    if "time" in frame and frame["time"].map(lambda time: isinstance(time, str) or time is None or time != time).all():
        # times in ISO 8601 and UTC are in the order of their texts
        of_item["time"] = frame["time"].dropna().groupby(item[frame["time"].notna()]).max().reindex(of_item.index)
    return of_item.reset_index(drop=True)


def _seconds(frame: pd.DataFrame, argument: str) -> NDArray[np.float64] | None:
    """Return how long each label, a row each, took by ``seconds`` or ``lead_time``, NaN where it is not said."""
    column = next((name for name in ("seconds", "lead_time") if name in frame), None)
    if column is None:
        return None
    cells = frame[column].where(frame[column].notna() & (frame[column].astype(str).str.strip() != ""), None)
    seconds = number_column(cells)
    odd = (cells.notna() & ~(seconds >= 0)).to_numpy() | np.isinf(seconds)
    _refuse_first(frame, column, odd, "a number of seconds, or empty where it is not known", argument)
    return seconds


#: what becomes of an item for which two labels or more have the most votes
TIES = ("lower", "higher", "median", "unresolved", "error")


def majority_vote(labels: Any, *, ties: str = "lower", rel: int | None = None) -> Qrels:
    """Combine the labels of several annotators: for each document the label that most of them gave.

    A plurality is enough: the labels 0, 0, 1, 2, 3 give 0.

    Args:
        labels: a frame ``qid docno label annotator``, a dict of annotator -> judgments in any form, or what
            :func:`~pt_reuse.judging.import_labels` returns. A missing label, or -1, is no vote.
        ties: the label of a document for which two labels or more have the most votes: the ``"lower"`` (default) or the
            ``"higher"`` of them; the ``"median"`` of all its labels (the lower of two middle ones); ``"unresolved"``,
            -1, which judgments read as pooled and not judged; or an ``"error"``.
        rel: the lowest label that is relevant, for :attr:`Qrels.rel`; default that of the given judgments.

    Returns:
        Qrels: a judgment per document, with the columns ``judge`` (whose vote it is) and ``decided`` (``"majority"``,
        how a tie was decided, or ``"no label"``), ``labels`` (how many there are), ``majority`` (how many have the most
        votes), ``tied`` (whether several labels have them), and ``votes``, who voted what: ``"ann 2, bob 0"``. Columns
        that are equal for all labels of a document are kept, such as ``strategy round reason``, and so is the ``time``
        of its last label.

    Raises:
        InputError: two labels of one annotator for a document, no label at all, a tie under ``"error"``.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> votes = pd.DataFrame({"qid": "1", "docno": ["a", "a", "a", "b", "b"], "label": [2, 2, 0, 1, 3],
        ...                       "annotator": ["ann", "bob", "cid", "ann", "bob"]})
        >>> voted = ptr.judging.majority_vote(votes)
        >>> voted.to_frame()[["docno", "label", "decided", "votes"]].to_dict("records")
        [{'docno': 'a', 'label': 2, 'decided': 'majority', 'votes': 'ann 2, bob 2, cid 0'},
         {'docno': 'b', 'label': 1, 'decided': 'tie: lower', 'votes': 'ann 1, bob 3'}]
    """
    choice("ties", ties, TIES)
    lowest, given = checked_rel(rel), as_annotator_labels(labels)
    voted = vote(given.values, ties)
    if ties == "error" and voted.tied.any():
        item = int(voted.tied.argmax())
        tie = f"{given.place(item)} has a tie: {votes_of(given, item)} ({voted.tied.sum():,} in all). "
        raise InputError(f"{tie}Choose ties='lower', 'higher', 'median' or 'unresolved'.", argument="ties")
    decided = np.where(voted.tied, f"tie: {ties}", np.where(voted.labels > 0, "majority", "no label"))
    frame = pd.DataFrame(
        {
            "qid": given.qids,
            "docno": given.docnos,
            "label": voted.label,
            "judge": f"majority of {len(given.annotators)} annotators",
            "decided": decided.astype(object),
            "labels": voted.labels,
            "majority": voted.majority,
            "tied": voted.tied,
            "votes": [votes_of(given, item) for item in range(len(given))],
        }
    )
    known = given.chosen.drop(columns=frame.columns, errors="ignore")
    frame = provenance_first(pd.concat([frame, known], axis=1))
    return Qrels(frame, topics=given.topics, rel=given.rel if lowest is None else lowest)


class Vote(NamedTuple):
    """The vote on each of (items,)."""

    label: NDArray[np.int64]  # -1 for none
    labels: NDArray[np.int64]  # how many there are
    majority: NDArray[np.int64]  # how many have the most votes
    tied: NDArray[np.bool_]  # whether two labels or more have them


def vote(values: NDArray[np.int64], ties: str) -> Vote:
    """Return the vote on (items, annotators) labels, -1 for none; with ``ties="error"`` a tie is unresolved."""
    scale = np.unique(np.append(values[values != NO_LABEL], 0))
    counts = label_counts(values, scale.tolist())
    most = counts.max(axis=1)
    best = counts == most[:, None]
    tied = (best.sum(axis=1) > 1) & (most > 0)
    label = scale[best.argmax(axis=1)]
    if ties == "higher":
        label = scale[len(scale) - 1 - best[:, ::-1].argmax(axis=1)]
    elif ties == "median":
        half = (counts.sum(axis=1) + 1) // 2
        label = np.where(tied, scale[(counts.cumsum(axis=1) >= half[:, None]).argmax(axis=1)], label)
    elif ties in ("unresolved", "error"):
        label[tied] = NO_LABEL
    return Vote(np.where(most > 0, label, NO_LABEL), counts.sum(axis=1), most, tied)


def votes_of(labels: AnnotatorLabels, item: int) -> str:
    """Return who gave an item which label, in words."""
    voted = zip(labels.annotators, labels.values[item].tolist(), strict=True)
    return ", ".join(f"{name} {label}" for name, label in voted if label != NO_LABEL)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelDistributions(Result):
    """How the labels of each document spread: relevance as a distribution rather than one label.

    Attributes:
        scale: the labels, in order.
        rel: the lowest label that is relevant.
    """

    title, main = "Label distributions", "distributions"
    valid_for = "the documents that {documents}; scale {scale}; majority: {majority}."
    not_covered = "which label is right, and what other annotators would say."
    columns = """
    n | Labels | count | how many labels it has
    mean | Mean | score | mean label
    majority | Majority | number | the label with the most votes, of several the lowest
    majority_share | Share | score | its share of the labels
    entropy | Entropy | score | entropy of the labels in bits, 0 where all are equal
    relevant_share | Relevant | score | share of the labels that call it relevant
    seconds | Seconds | tenths | mean of the labels that say how long they took, in ``seconds`` or ``lead_time``
    position | Position | score | where a passage lies in its document, 0 to 1, where all are called like ``D17%p3``
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "document, those on which annotators differ most first",
            "qid docno n mean majority majority_share entropy relevant_share seconds? position?",
            "qid docno n majority majority_share entropy",
            noun="documents",
        ),
    ]
    scale: tuple[int, ...]
    rel: int

    def answers(self) -> list[str]:
        unanimous, share = int((self.table["entropy"] == 0).sum()), self.table["majority_share"].mean()
        documents = count(len(self.table), "document")
        return [f"all annotators agree on {unanimous:,} of {documents}; mean share of the majority {share:.4f}"]


@study(question="What do annotators say of each document?", aim="judging", group="judging", page="judging/annotators")
def label_distributions(labels: Labels, *, rel: options.Rel = None) -> LabelDistributions:
    """Compute the distribution of the labels of each document over several annotators.

    Some documents are clear, others are relevant to half of the people. Documents that not all annotators labelled are
    left out.

    Returns:
        LabelDistributions: ``.table`` per document.

    Raises:
        InputError: no document that all annotators labelled, only one annotator.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"]})
        >>> given = {"ann": [2, 0], "bob": [2, 1], "cid": [2, 0], "dee": [2, 2]}
        >>> found = ptr.judging.label_distributions({name: frame.assign(label=label) for name, label in given.items()})
        >>> found.table[["docno", "majority", "majority_share", "entropy"]]
          docno  majority  majority_share  entropy
        0     b         0             0.5      1.5
        1     a         2             1.0      0.0

    Source: Hofstaetter, Zlabinger, Sertkan, Schroeder and Hanbury 2020, Fine-grained relevance annotations for
    multi-task document ranking and question answering, CIKM: ten pairs that all annotators judged.
    """
    given = as_annotator_labels(labels)
    kept, known = labelled_by_all(given), given.scale
    lowest, voted = rel or given.rel or 1, vote(given.values[kept], "lower")
    counts = label_counts(given.values[kept], known)
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    table = pd.DataFrame({"qid": given.qids[kept], "docno": given.docnos[kept], "n": voted.labels})
    table = table.assign(
        mean=shares @ np.array(known, dtype=float),
        majority=voted.label,
        majority_share=voted.majority / voted.labels,
        # adding 0 turns the minus of -0.0 away
        entropy=-(shares * logs).sum(axis=1) + 0.0,
        relevant_share=shares[:, np.array(known) >= lowest].sum(axis=1),
    )
    untimed = {}
    if given.seconds is not None:
        took = given.seconds[kept]
        table["seconds"] = pd.DataFrame(took).mean(axis=1)
        untimed["labels without a time"] = f"{int((given.given[kept] & np.isnan(took)).sum()):,}, not in mean seconds"
    parts = pd.Series(given.docnos).str.extract(r"^(.+)%p(\d{1,6})$")
    if not parts.isna().any(axis=None):
        # a document has as many passages as the largest number among its labelled ones says
        passage = parts[1].astype(np.float64)
        position = (passage + 0.5) / (passage.groupby(parts[0]).transform("max") + 1)
        table["position"] = np.asarray(position)[kept]
    return LabelDistributions(
        table=table.sort_values("entropy", ascending=False, kind="stable", ignore_index=True),
        scale=known,
        rel=lowest,
        settings={
            "documents": f"all {len(given.annotators)} annotators judged",
            "left out": int((~kept).sum()),
            "relevant": f"label of at least {lowest}",
            "scale": ", ".join(map(str, known)),
            "majority": "most votes, of several labels the lowest",
            **untimed,
        },
    )


_TABLE = "annotator measure topics labels changed tau_b tau_ap_b max_drop dropped"
_BY_RUN = "annotator measure name team type score other_score rank other_rank drop"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatorRankings(Result):
    """The ranking of systems under each annotator's labels, against the one under the judgments given."""

    title, main = "Rankings by annotator", "rankings"
    valid_for = (
        "the judgments as the truth, the topics of each annotator; documents without a label of the annotator: "
        "{documents without a label of the annotator}."
    )
    not_covered = "whether an annotator or the judgments are right, and other topics."
    columns = """
    topics | Topics | count | topics with labels of the annotator, over which means are
    labels | Labels | count | labels of the annotator
    changed | Changed | count | how many of these documents had another label, or none, in the judgments
    dropped | Dropped run | | that run, the best one of several; None where no run loses any
    other_ | annotator | | the same under the annotator
    """

    table: Annotated[
        pd.DataFrame,
        Table("annotator and measure", _TABLE, "annotator topics changed tau_b tau_ap_b max_drop", noun="annotators"),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "annotator, measure and run",
            _BY_RUN,
            "name score other_score rank other_rank drop",
            select={"annotator": None},
            noun="runs",
        ),
    ]

    def answers(self) -> list[str]:
        lines = []
        for measure, rows in self.table.groupby("measure", sort=False):
            low, high = rows["tau_b"].min(), rows["tau_b"].max()
            number = "undefined" if pd.isna(low) else f"{low:.4f}" + (f" to {high:.4f}" if low < high else "")
            lines.append(f"{measure}: tau_b to the judgments {number}, {count(len(rows), 'annotator')}")
        return lines


def _checked_majority(majority: Any) -> list[str]:
    several = isinstance(majority, Iterable) and not isinstance(majority, str | bytes)
    return [choice("majority", rule, TIES[:-1]) for rule in (dict.fromkeys(majority) if several else [majority])]


@study(question="How do systems rank under each annotator?", aim="judging", group="judging", page="judging/annotators")
def rankings_by_annotator(
    runs: options.Runs,
    labels: Labels,
    qrels: options.Judgments,
    measures: options.Measures,
    *,
    others: Annotated[
        str,
        options.Option(
            'documents that the annotator did not label: ``"keep"`` (default) their label of the judgments, so that '
            'the annotator\'s labels are put into them; ``"drop"``, they are not judged, under the judgments neither, '
            "so that both rankings rest on the documents that the annotator labelled.",
            choices=("keep", "drop"),
        ),
    ] = "keep",
    majority: Annotated[
        Any,
        options.Option(
            "how ties of :func:`~pt_reuse.judging.majority_vote` are decided, one rule or several. Each adds the "
            "ranking under the majority of the annotators, as that of one more, called ``majority (lower)`` after its "
            "rule. Default none.",
            check=_checked_majority,
        ),
    ] = (),
    verbose: options.Verbose = False,
) -> AnnotatorRankings:
    """Rank the systems under the labels of each annotator, and compare with the ranking under other judgments.

    For each annotator, both rankings use only the topics that this annotator labelled; a topic that a run lacks counts
    0.

    Returns:
        AnnotatorRankings: ``.table`` per annotator and measure, ``.by_run``.

    Raises:
        InputError: labels of a topic that the judgments do not have, an unknown measure, a run that has no topic in
            common with the judgments.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> strict = field.qrels.to_frame().assign(label=lambda judged: (judged["label"] - 1).clip(lower=0))
        >>> found = ptr.judging.rankings_by_annotator(field.runs, {"strict": strict}, field.qrels, "AP")
        >>> found.table[["annotator", "measure", "topics"]]
          annotator measure  topics
        0    strict      AP      25

    Source: Voorhees 2000, Variations in relevance judgments and the measurement of retrieval effectiveness, Information
    Processing and Management 36; Parry et al. 2025, Variations in relevance judgments and the shelf life of test
    collections, SIGIR.
    """
    given = as_annotator_labels(labels)
    names = [f"majority ({rule})" for rule in majority]
    if taken := set(names) & set(given.annotators):
        raise InputError(f"an annotator is called {examples(taken)}. Give another name.", argument="labels")
    votes = [vote(given.values, rule).label for rule in majority]
    values = np.column_stack([given.values, *votes])
    given = replace(given, annotators=(*given.annotators, *names), values=values)
    inputs = Inputs.read(runs, qrels, measures)
    if strange := [topic for topic in given.topics if topic not in set(inputs.qrels.topics)]:
        lacking = f"labels of {count(len(strange), 'topic')} that the judgments do not have: {examples(strange)}. "
        raise InputError(f"{lacking}The judgments have {examples(inputs.qrels.topics)}.", argument="labels")
    # items stand topic by topic as the documents of judgments do, so that each has the row of its document
    items = Qrels(pd.DataFrame({"qid": given.qids, "docno": given.docnos, "label": NO_LABEL}))
    base = inputs.qrels.union(items)
    documents, known = base.arrays.documents, base.arrays.labels
    rows = documents.find(items.arrays.documents)
    judged = np.where(inputs.qrels.arrays.documents.find(documents) < 0, UNJUDGED, known).astype(np.int16)
    sets = []
    for labelled, labels_of in zip(given.given.T, given.values.T, strict=True):
        truth = judged
        if others == "drop":
            truth = np.full_like(judged, UNJUDGED)
            truth[rows[labelled]] = judged[rows[labelled]]
        sets += [truth, truth.copy()]
        sets[-1][rows[labelled]] = labels_of[labelled]
    scores = scores_under(inputs.runs, base, inputs.measures, np.stack(sets), verbose=verbose)
    tables, by_run = [], []
    for a, name in enumerate(given.annotators):
        labelled = given.given[:, a]
        changed = int((labelled & (given.values[:, a] != known[rows])).sum())
        topics = sorted({documents.place[given.topics[t]] for t in given.topic[labelled].tolist()})
        sides = [of_all_topics(values[:, topics], inputs.measures) for values in scores[2 * a : 2 * a + 2]]
        for measure, x, y in zip(map(repr, inputs.measures), *sides, strict=True):
            about = {"annotator": name, "measure": measure}
            moved = rank_changes(x, y, inputs.runs.names).assign(**about)
            moved[["team", "type"]] = inputs.runs.run_table[["team", "type"]].to_numpy()
            by_run.append(moved)
            # of several the best one
            lost = moved[moved["drop"] == max(moved["drop"].max(), 1)].sort_values("rank", kind="stable")
            about |= {"topics": len(topics), "labels": int(labelled.sum()), "changed": changed}
            dropped = pd.Series(lost["name"].head(1).tolist() or [None], dtype=object)
            tables.append(correlations(x, y[None]).assign(**about, dropped=dropped))
    table = pd.concat(tables, ignore_index=True)[_TABLE.split()]
    warn_of_ties(table, "the judgments", "annotator")
    how = {
        "documents without a label of the annotator": "their judgment" if others == "keep" else "not judged",
        "topics": "those with labels of the annotator",
    }
    return AnnotatorRankings(
        table=table, by_run=pd.concat(by_run, ignore_index=True)[_BY_RUN.split()], settings=settings_of(how, inputs)
    )


def warn_of_ties(table: pd.DataFrame, truth: str, who: str) -> None:
    """Warn of the rows without a tau_b: all runs tie under the truth, or under who is in a column."""
    none = table[table["tau_b"].isna()]
    if len(none):
        tie = f"all runs tie under {truth} or under the {who}, so that there is no ranking to compare"
        where = examples(none["measure"] + " of " + none[who])
        warn(f"{tie}: {where}. Is any document of these topics relevant by the measure?")
