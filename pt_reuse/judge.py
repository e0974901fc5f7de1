"""Judge: whoever gives documents their labels; judges by name, as studies take them, and the scale of their labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.data.frame_columns import LABELS, as_pairs, checked_labels, in_rows, row_in_words, with_provenance
from pt_reuse.data.judgment_changes import Asked, labels_by, name_of, rel_of, telling_of_texts, without_texts
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel, is_collection
from pt_reuse.errors import InputError, choice, count, did_you_mean, examples, located, shown, warn
from pt_reuse.scoring.judge_folder import ALONE, JudgeFolder, read_judges


class Judge(pt.Transformer):
    """Gives labels to documents: qrels, a person, a model.

    A judge is a transformer: it adds ``label`` (whole numbers, <NA> for a document to which it gives none), ``judge``
    (who gave it) and ``time`` (when, ISO 8601 in UTC). It can end a pipeline, and :meth:`pt_reuse.Pool.judge` takes it.
    A judge of your own has the methods :meth:`needs` and :meth:`labels_of`.

    Args:
        name: what the judge is called in the provenance of its labels.
        rel: the lowest of its labels that is relevant, >= 1; default not stated, which counts as 1.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> class Short(ptr.judging.Judge):
        ...     def needs(self):
        ...         return ("qid", "docno", "text")
        ...
        ...     def labels_of(self, pairs):
        ...         return [int(len(text) < 10) for text in pairs["text"]]
        >>> found = Short("short")(pd.DataFrame({"qid": "1", "docno": ["a", "b"], "text": ["brief", "rather long"]}))
        >>> found[["docno", "label", "judge"]].values.tolist()
        [['a', 1, 'short'], ['b', 0, 'short']]
    """

    # without an address of its own pyterrier would look the documentation up on the network
    schematic: ClassVar[dict[str, Any]] = {"label": "judge", "help_url": None}

    def __init__(self, name: str, *, rel: int | None = None):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"name must be a text that says who judges, got {shown(name)}.", argument="name")
        self.name, self.rel = name, checked_rel(rel)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the frame `inp` of documents, ``qid docno`` and the columns read, with ``label judge time`` and more.

        Raises:
            InputError: another number of labels than of documents, or a label that is no whole number of the range.
        """
        try:
            pt.validate.columns(inp, includes=list(self.needs()))
        except pt.validate.InputValidationError as error:
            lacking = [column for column in self.needs() if column not in inp and column not in ("qid", "docno")]
            if not lacking:
                raise
            # PyTerrier infers from its own error what a step reads
            hint = without_texts(lacking, inp.columns)
            raise pt.validate.InputValidationError(f"{error.args[0]}: {hint}", error.modes) from None
        with located(f"judge {self.name}"), telling_of_texts(inp.columns):
            answer = self.labels_of(inp)
            if isinstance(answer, pd.DataFrame) or (isinstance(answer, Mapping) and "label" not in answer):
                what = "one label per document, or a mapping of columns with 'label'"
                raise InputError(f"labels_of must return {what}, got {shown(answer)}.")
            further = dict(answer) if isinstance(answer, Mapping) else {"label": answer}
            label = checked_labels(further.pop("label"), inp)
            for column, cells in further.items():
                rows = in_rows(cells, inp.index, f"labels_of must return one {column} per document", len(inp))
                if len(rows) != len(inp):
                    raise InputError(f"labels_of must return {len(inp):,} {column}, got {len(rows):,}.")
                if isinstance(cells, pd.Series) or not hasattr(cells, "__len__"):
                    # a Series would be put beside the rows by its index, and an iterator is used up
                    further[column] = cells.array if isinstance(cells, pd.Series) else rows
        columns = with_provenance(label, further, self.name)
        if label.notna().all():
            # pt.Experiment takes judgments with plain whole numbers alone
            columns["label"] = label.astype(np.int64)
        return inp.assign(**columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def needs(self) -> tuple[str, ...]:
        """Return the columns that the judge reads."""
        return ("qid", "docno")

    def known_pairs(self) -> pd.DataFrame | None:
        """Return ``qid docno`` of the documents whose labels exist already; None if the judge has to be asked."""
        return None

    def declared_labels(self) -> tuple[int, ...] | None:
        """Return the labels that the judge may give, if they are stated beforehand."""
        return None

    @abstractmethod
    def labels_of(self, pairs: pd.DataFrame) -> Iterable[Any] | Mapping[str, Sequence[Any]]:
        """Return one label for each of `pairs`, one document per row, in their order; None if the judge gives none.

        Instead of labels, it may return a mapping of columns: ``label`` and further ones, such as ``judge``, ``time``,
        a probability.
        """


#: what a judge with judgments may say of a document that they do not know
UNKNOWN = ("skip", "not relevant", "error")


class KnownJudge(Judge):
    """Looks labels up in judgments; a label below 0 (pooled and not judged, junk) is none."""

    def __init__(self, qrels: Any, unknown: str, name: str):
        judgments = as_qrels(qrels)
        super().__init__(name, rel=judgments.stated_rel)
        self._unknown = choice("unknown", unknown, UNKNOWN)
        self._known = judgments.to_frame()[judgments.arrays.labels >= 0]
        pairs = zip(self._known["qid"], self._known["docno"], strict=True)
        self._rows = {pair: row for row, pair in enumerate(pairs)}
        self._labels: list[int] = self._known["label"].tolist()

    def __repr__(self) -> str:
        known = count(len(self._labels), "judgment")
        return f"{type(self).__name__}({self.name!r}, {known}, unknown={self._unknown!r})"

    def known_pairs(self) -> pd.DataFrame:
        return pd.DataFrame(list(self._rows), columns=["qid", "docno"], dtype=object)

    def _find(self, pairs: pd.DataFrame) -> tuple[list[int], list[int | None]]:
        """Return the judgment of each document, -1 where there is none, and its label."""
        rows = [self._rows.get(pair, -1) for pair in zip(*as_pairs(pairs), strict=True)]
        if self._unknown == "error" and -1 in rows:
            such = f"{count(rows.count(-1), 'document')} without a judgment, such as"
            where = row_in_words(pairs.iloc[rows.index(-1)])
            raise InputError(f"{such} {where}. Pass unknown='skip' or 'not relevant'.", argument="unknown")
        without = 0 if self._unknown == "not relevant" else None
        return rows, [self._labels[row] if row >= 0 else without for row in rows]


class Oracle(KnownJudge):
    """Gives the labels of existing judgments.

    A document with a label of -1 or less (pooled and not judged, or junk) counts as one without a judgment.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`).
        unknown: the label of a document without a judgment: ``"skip"`` (no label; default), ``"not relevant"`` (label
            0), or ``"error"``.
        name: what the oracle is called in the provenance of its labels. If the judgments have the columns ``judge`` and
            ``time``, these are kept; else they are the oracle and the present time.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [2, 0, -1]})
        >>> asked = pd.DataFrame({"qid": "1", "docno": ["b", "a", "c", "z"]})
        >>> ptr.judging.Oracle(qrels)(asked)["label"].tolist()
        [0, 2, <NA>, <NA>]
    """

    def __init__(self, qrels: Any, unknown: str = "skip", name: str = "oracle"):
        super().__init__(qrels, unknown, name)
        self._more = {column: self._known[column].tolist() for column in ("judge", "time") if column in self._known}

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        rows, labels = self._find(pairs)
        more = {name: [cells[row] if row >= 0 else None for row in rows] for name, cells in self._more.items()}
        return {"label": labels, **more}


class AskedJudge(Judge):
    """A function of a frame, or a pipeline, that gives labels."""

    def __init__(self, asked: Asked):
        super().__init__(name_of(asked), rel=rel_of(asked))
        self._asked = asked

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, Any]:
        answer = labels_by(self._asked, pairs.drop(columns=["label", "judge", "time"], errors="ignore"), self.name)
        return {column: answer[column].array for column in answer.columns}


def as_judge(value: Any, argument: str = "judge") -> Judge:
    """Return what a user gives as a judge as one."""
    if isinstance(value, Judge):
        return value
    if callable(value):
        return AskedJudge(value)
    return Oracle(as_qrels(value, argument))


#: what a user says of the scale of judges: from which label on they are relevant, or which label of people each label
#: is; one for all, or by judge
JudgeRel: TypeAlias = "int | Mapping[int, int] | Mapping[str, int | Mapping[int, int]] | None"


@dataclass(frozen=True)
class NamedJudge:
    """A judge under the name that it has in a study."""

    name: str  # what it is called
    judge: Judge  # who gives the labels
    rel: int | None = None  # the lowest of its labels that is relevant, None where neither the user nor the judge says
    family: str | None = None  # the family of models that it belongs to, None where nobody says
    grades: Mapping[int, int] | None = None  # its label -> the label of people that it stands for

    @property
    def fitted_on(self) -> Qrels | None:
        """Return the labels of people that the judge was fitted on, None where it was not."""
        fitted = getattr(self.judge, "fitted_on", None)
        return fitted if isinstance(fitted, Qrels) else None

    def labels(self, pairs: pd.DataFrame) -> pd.Series:
        """Return the label of each document, as `grades` say it, <NA> where the judge gives none."""
        with located(self.name):
            lacking = [column for column in self.judge.needs() if column not in pairs]
            if lacking:
                raise without_texts(lacking, pairs.columns)
            labels: pd.Series = self.judge(pairs)["label"].astype("Int64")
            return labels if self.grades is None else in_grades(labels, self.grades)


#: what one judge may be given as
_JUDGES = (pd.DataFrame, Qrels, Judge, str, Path)


def as_judges(given: Any, argument: str = "judge", *, rel: Any = None, families: Any = None) -> list[NamedJudge]:
    """Return what a user gives as one judge, or as a dict of name -> judge, as judges by name; `rel` is `judge_rel`."""
    if isinstance(given, list | tuple) and given and all(isinstance(part, _JUDGES) or callable(part) for part in given):
        raise InputError(
            f"{argument} is a list of {len(given):,}. Give one judge, or a dict of name -> judge.", argument=argument
        )
    if isinstance(given, str | Path) and not is_collection(given):
        given = read_judges(given)
    if isinstance(given, JudgeFolder):
        families = given.label_families if families is None else families
        if not given.labels:
            raise InputError(f"{given.folder}: a leaderboard has no labels. Give files of labels.", argument=argument)
        if boards := [name for name in given.leaderboards if name not in given.labels]:
            warn(f"{given.folder}: {examples(boards)} left out: a leaderboard has no labels.")
        given = given.labels
    several: dict[Any, Any] = {ALONE: given}
    if callable(given):
        judge = as_judge(given, argument)
        several = {judge.name: judge}
    elif isinstance(given, Mapping):
        inner = [value for value in given.values() if isinstance(value, Mapping)]
        # one judge may be topic -> document -> label
        is_one = len(inner) == len(given) > 0 and not any(isinstance(v, Mapping) for of in inner for v in of.values())
        several = several if is_one else dict(given)
    if not several or not all(isinstance(name, str) and name.strip() for name in several):
        what = "one judge or more, each with a text as its name"
        raise InputError(f"{argument} must have {what}, got {shown(list(several))}.", argument=argument)
    by_judge = isinstance(rel, Mapping) and any(isinstance(key, str) for key in rel)
    rels = of_each(rel, several, "judge_rel") if by_judge else dict.fromkeys(several, rel)
    groups = of_each(families, several, "families")
    named = []
    for name, each in several.items():
        with located(name):
            judge = as_judge(each, argument)
        of_judge = rels.get(name)
        grades = checked_grades(of_judge) if isinstance(of_judge, Mapping) else None
        lowest = judge.rel if of_judge is None else checked_rel(of_judge, "judge_rel") if grades is None else None
        family = groups.get(name, getattr(judge, "family", None))
        named.append(NamedJudge(name, judge, lowest, None if family is None else str(family), grades))
    return named


def in_grades(labels: pd.Series, grades: Mapping[int, int]) -> pd.Series:
    """Return the labels of people that labels stand for, <NA> where there is none (<NA>, or below 0)."""
    lacking = sorted(set(labels[labels >= 0].unique().tolist()) - set(grades))
    if lacking:
        raise InputError(
            f"judge_rel does not say which label of people {examples(lacking, 12)} of the judge stands for.",
            argument="judge_rel",
        )
    return labels.mask(labels < 0).map(grades, na_action="ignore").astype("Int64")


def checked_grades(given: Mapping[Any, Any]) -> dict[int, int]:
    """Return a user's mapping of a judge's labels to those of people, or say what is wrong with it."""
    if not given or not all(is_label(value) for pair in given.items() for value in pair):
        what = "a label, or a dict of the judge's label -> the label of people"
        raise InputError(f"judge_rel must be {what}, got {shown(dict(given))}.", argument="judge_rel")
    return {int(label): int(grade) for label, grade in given.items()}


def is_label(value: Any) -> bool:
    """Return whether a value is a whole number that may be a label."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(LABELS[0] <= value <= LABELS[1])


def of_each(given: Any, judges: Mapping[str, Any], argument: str) -> dict[str, Any]:
    """Return what a user says of some judges by name."""
    if not isinstance(given, Mapping | None):
        raise InputError(f"{argument} must be a dict by judge, got {shown(given)}.", argument=argument)
    for name in given or ():
        if name not in judges:
            # a short form of a long name is not near it
            near = did_you_mean(next((judge for judge in judges if judge.startswith(str(name))), name), judges)
            there = f"none of the judges {examples(list(judges), 12)}"
            raise InputError(f"{argument} names {shown(name)}, {there}.{near}", argument=argument)
    return dict(given or {})


@dataclass(frozen=True)
class Scale:
    """The scale on which people judge, as far as their judgments tell."""

    rel: int
    highest: int

    @classmethod
    def of(cls, people: Qrels, rel: int | None = None) -> Scale:
        return cls(people.rel if rel is None else rel, people.arrays.highest)


def on_scale(labels: Qrels, judge_rel: int, rel: int) -> Qrels:
    """Return labels that are relevant from `judge_rel` on as ones that are relevant from `rel` on."""
    if judge_rel == rel:
        return labels.with_rel(rel)
    scaled = values_on_scale(labels.arrays.labels.astype(np.int64), judge_rel, rel)
    return Qrels.of_arrays(replace(labels.arrays, labels=scaled.astype(np.int16), scale=0), rel)


def values_on_scale(given: NDArray[np.int64], judge_rel: int, rel: int) -> NDArray[np.int64]:
    """Return labels of a judge as :func:`on_scale` does, as numbers."""
    if judge_rel == rel:
        return given
    return np.where(given >= judge_rel, np.maximum(given, rel), np.minimum(given, rel - 1))


def lowest_of(judge: NamedJudge, labels: pd.Series | NDArray[np.int64], people: Scale) -> int:
    """Return the lowest label of a judge that is relevant: what is said of it, else what its labels tell."""
    if judge.rel is not None:
        return judge.rel
    if judge.grades is not None:
        return people.rel
    # few documents may have low labels alone, of a judge that has higher ones for others
    known, declared = judge.judge.known_pairs(), judge.judge.declared_labels()
    given = np.asarray(labels if known is None else judge.labels(known).dropna(), dtype=np.int64)
    with located(judge.name):
        every = np.append(given, np.array(declared or (), dtype=np.int64))
        return lowest_relevant(every, people, judge=judge.name)


def lowest_relevant(
    labels: pd.Series | NDArray[np.integer[Any]], people: Scale, *, grades: bool = True, judge: str | None = None
) -> int:
    """Return from which label on a judge's labels are relevant where nobody says, the one place with this rule."""
    highest = int(np.asarray(labels, dtype=np.int64).max(initial=0))
    if highest > max(people.highest, 1):
        lowest = highest - 1
        unknown = f"the labels go up to {highest}, those of people to {people.highest}: which are relevant?"
        other = ", or which label of people each of them stands for" if grades else ""
        such = f"judge_rel={(lowest if judge is None else {judge: lowest})!r}"
        raise InputError(f"{unknown} Say from which on they are{other}, such as {such}.", argument="judge_rel")
    return 1 if len(labels) and highest <= 1 else people.rel


def scale_words(judge_rel: int, grades: Mapping[int, int] | None) -> str:
    """Return what counts as relevant for a judge, and for what its labels are taken, for settings."""
    words = f"relevant from label {judge_rel}"
    if grades is None:
        return words
    return f"{words} of people, {', '.join(f'{label} being {grade}' for label, grade in sorted(grades.items()))}"


@dataclass(frozen=True)
class HoleLabels:
    """What one judge says of documents, an array of labels on the scale of people, UNJUDGED where it gave none."""

    name: str
    judge_rel: int
    labels: NDArray[np.int16]
    highest: int | None = None
    grades: Mapping[int, int] | None = None

    @property
    def known(self) -> NDArray[np.bool_]:
        return self.labels != UNJUDGED

    def words(self) -> str:
        words = f"{self.name}: {count(len(self.labels), 'document')} asked, {scale_words(self.judge_rel, self.grades)}"
        words += "" if self.highest is None else f", labels above {self.highest} taken for {self.highest}"
        unknown = int((~self.known).sum())
        return words + (f", {unknown:,} without a label" if unknown else "")


def labels_of_holes(judge: NamedJudge, documents: pd.DataFrame, people: Scale) -> HoleLabels:
    """Ask a judge for the labels of documents, all in one frame, and bring them to the scale of people."""
    given = judge.labels(documents.reset_index(drop=True))
    known = (given >= 0).fillna(False).to_numpy(dtype=bool)
    values = given[known].to_numpy(dtype=np.int64)
    lowest = lowest_of(judge, values, people)
    scaled = values_on_scale(values, lowest, people.rel)
    # beside labels of people a higher one would weigh more than the best that these found
    most = max(people.highest, people.rel)
    lowered = judge.grades is None and bool((scaled > most).any())
    labels = np.full(len(documents), UNJUDGED, dtype=np.int16)
    labels[known] = np.minimum(scaled, most) if lowered else scaled
    return HoleLabels(judge.name, lowest, labels, most if lowered else None, judge.grades)
