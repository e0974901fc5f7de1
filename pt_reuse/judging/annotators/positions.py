"""Where relevant passages lie within their documents, as labels of passages tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import count, examples, shown, whole
from pt_reuse.columns import Table
from pt_reuse.data.frame_columns import as_ids, in_our_columns, number_column
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import InputError
from pt_reuse.judging.annotators.labels import TIES, majority_vote
from pt_reuse.result import Result
from pt_reuse.study import study

#: what passages are held against -> in words
CHANCE = {
    "labelled": "the relevant passages of each document were any of its labelled ones alike",
    "uniform": "relevant passages lay anywhere in their documents alike",
}
#: rounding of positions
_SLACK = 1e-12


def _placed(frame: pd.DataFrame, given: pd.DataFrame | None, separator: str) -> tuple[pd.DataFrame, str]:
    """Return passages with their ``document position n`` (0 where it can begin anywhere), and how they are told."""
    names = set() if given is None else set(given.columns)
    columns = [name for name in ("document", "start", "end", "length", "passage", "n_passages") if name in names]
    if columns and given is not None:
        places = given[["qid", "docno", *columns]].astype({"qid": str, "docno": str})
        frame = frame.merge(places.drop_duplicates(["qid", "docno"]), on=["qid", "docno"], how="left")
    if {"start", "length"} <= names:
        start, length = _numbers(frame, "start"), _numbers(frame, "length")
        end, n = _numbers(frame, "end") if "end" in names else start, np.zeros(len(frame))
        position = (start + end) / 2 / np.where(length > 0, length, np.nan)
        how = "middle of start and end over length" if "end" in names else "start over length"
        bad = ~((start >= 0) & (end >= start) & (end <= length) & (length > 0))
    else:
        if {"passage", "n_passages"} <= names:
            number, n = _numbers(frame, "passage"), _numbers(frame, "n_passages")
            how = "(passage + 1/2) / n_passages"
        else:
            frame, number, n = _from_docnos(frame, separator)
            how = f"(number after {separator!r} + 1/2) over one more than the document's largest number"
        position = (number + 0.5) / np.where(n > 0, n, np.nan)
        bad = ~((number >= 0) & (number < n))
    if bad.any():
        row = frame.iloc[int(np.flatnonzero(bad)[0])]
        at = ", ".join(f"{name} {shown(row[name])}" for name in columns if name != "document")
        raise InputError(
            f"topic {shown(row['qid'])}, passage {shown(row['docno'])} does not lie within its document: {at} "
            f"({count(int(bad.sum()), 'such passage')} in all). Passages are numbered from 0 on.",
            argument="labels",
        )
    if "document" not in frame:
        # a docno without the separator is a document of its own
        frame["document"] = frame["docno"].str.rpartition(separator)[0].where(lambda name: name != "", frame["docno"])
    found = frame[["qid", "docno", "label"]].assign(
        document=as_ids("document", frame["document"].tolist()),
        position=position,
    )
    return found.assign(n=n.astype(np.int64)), how


def _numbers(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    values = number_column(frame[column])
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        row = frame.iloc[int(odd[0])]
        place = f"topic {shown(row['qid'])}, passage {shown(row['docno'])}"
        raise InputError(f"the {column} of {place} must be a number, got {shown(row[column])}.", argument="labels")
    return values


def _from_docnos(frame: pd.DataFrame, separator: str) -> tuple[pd.DataFrame, NDArray[np.float64], NDArray[np.float64]]:
    """Return the frame with its documents, the number of each passage, and how many its document has."""
    parts = frame["docno"].str.rpartition(separator)
    odd = ~(parts[2].str.fullmatch(r"[0-9]{1,6}") & (parts[1] != "") & (parts[0] != ""))
    if odd.any():
        raise InputError(
            f"{count(int(odd.sum()), 'docno')} without a number after {separator!r}, such as "
            f"{examples(frame['docno'][odd].head(2))}. Choose separator='#', or give the columns 'passage' and "
            "'n_passages', or 'start' and 'length'.",
            argument="separator",
        )
    number = parts[2].astype(np.float64)
    largest = number.groupby(parts[0]).transform("max")
    return frame.assign(document=parts[0]), number.to_numpy(), largest.to_numpy() + 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PassagePositions(Result):
    """Where relevant passages lie within documents: 0 is the beginning of a document, 1 its end.

    Attributes:
        chi_square: the statistic of Pearson's test of ``relevant`` against ``expected``, NaN where it cannot be made.
        p: its p value.
        rel: the lowest label that is relevant.
    """

    title, main = "Positions of relevant passages", "positions"
    valid_for = (
        "documents with relevant passages ({documents with relevant passages}), relevant: {relevant}; expected if "
        "{expected}."
    )
    not_covered = "why they lie there, and passages without a label."
    columns = """
    low | From | share | where the bin begins
    high | To | share | where it ends
    relevant | Relevant | count | relevant passages in it; of a passage, whether it is relevant
    labelled | Labelled | count | all passages in it with a label
    expected | Expected | tenths | relevant passages that would be in it by chance
    share | Share | score | share of all relevant passages
    expected_share | Expected share | score | the share by chance
    part | Part | share | how much of the document from its beginning
    document | Document | | whose passage it is
    docno | Passage | | the passage
    position | Position | score | its position
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "bin",
            "low high relevant labelled expected share expected_share",
            "low high relevant share expected_share",
            noun="parts of the document",
        ),
    ]
    first: Annotated[pd.DataFrame, Table("part from the beginning", "part share expected_share")]
    passages: Annotated[pd.DataFrame, Table("passage with a label", "qid docno document position relevant")]
    chi_square: float
    p: float
    rel: int

    def answers(self) -> list[str]:
        """Return how many of the relevant passages lie at the beginning, and the test."""
        row, n = self.first.iloc[0], int(self.table["relevant"].sum())
        return [
            f"{row['share']:.1%} of {count(n, 'relevant passage')} lie in the first {row['part']:.0%} of their "
            f"documents, expected {row['expected_share']:.1%}; {self.settings['test']}"
        ]


def _checked_parts(parts: Any) -> list[float]:
    listed = list(parts) if isinstance(parts, Iterable) and not isinstance(parts, str | bytes) else []
    if not listed or any(not isinstance(part, int | float) or not 0 < part < 1 for part in listed):
        what = "shares of the document between 0 and 1, such as (0.25, 0.5)"
        raise InputError(f"parts must be {what}, got {shown(parts)}.", argument="parts")
    return sorted({float(part) for part in listed})


def _checked_separator(separator: Any) -> str:
    if not isinstance(separator, str) or not separator:
        raise InputError(f"separator must be a text, got {shown(separator)}.", argument="separator")
    return separator


@study(question="Do annotators mark what stands early in a document?", group="judging", page="judging/annotators")
def passage_positions(
    labels: Annotated[
        Any,
        options.Option(
            "labels of passages: a frame with ``qid docno label``, and ``annotator`` where there are several, whose "
            "majority counts. A passage is placed by the columns ``start`` and ``length``, where it begins and how "
            "long its document is, in the same unit, with ``end`` where the passage ends (default: it is a point); or "
            "by ``passage`` and ``n_passages``, its number from 0 on and how many its document has; or by the number "
            "at the end of its docno. Where they are given ``document`` says whose passage it is. Judgments in any "
            "other form have their numbers in the docnos."
        ),
    ],
    *,
    rel: options.Rel = None,
    separator: Annotated[
        str,
        options.Option(
            "what stands before the number at the end of a docno, as in ``D17%p3``; default that of PyTerrier. A "
            "document has as many passages as the largest number among all its labels says.",
            check=_checked_separator,
        ),
    ] = "%p",
    bins: Annotated[
        int,
        options.Option(
            "how many parts of equal length the document is cut into, >= 2; default 10.",
            check=lambda value: whole("bins", value, "bins", least=2),
        ),
    ] = 10,
    parts: Annotated[
        Any,
        options.Option(
            "shares of the document from its beginning; default its first quarter and half.", check=_checked_parts
        ),
    ] = (0.25, 0.5),
    against: Annotated[
        str,
        options.Option(
            'what chance is. ``"labelled"`` (default): each document has as many relevant passages as it has, and they '
            'are any of its labelled ones alike, so that it does not matter which were labelled. ``"uniform"``: a '
            "relevant passage is any passage of its document alike, or lies anywhere in it alike where ``start`` tells "
            "the position; for labels of relevant passages alone.",
            choices=tuple(CHANCE),
        ),
    ] = "labelled",
    ties: Annotated[
        str,
        options.Option(
            'of the majority of annotators, see :func:`~pt_reuse.judging.majority_vote`; default ``"lower"``.',
            choices=TIES,
        ),
    ] = "lower",
) -> PassagePositions:
    """Test where relevant passages are within their documents: at the beginning, or uniformly.

    The position of a passage is that of its middle. Observed positions are compared with chance by a chi square test
    (``scipy.stats.chisquare``, over the bins in which any relevant passage is expected). The test assumes independent
    passages, so it is a rough guide if few documents have many passages.

    Returns:
        PassagePositions: ``.table`` per bin, ``.first`` per part, ``.chi_square``, ``.p``.

    Raises:
        InputError: a passage without a position, or one beyond the end of its document; no relevant passage; no
            document with relevant and other labels, if chance is ``"labelled"``.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> docnos = [f"d{d}%p{p}" for d in range(30) for p in range(4)]
        >>> labels = pd.DataFrame({"qid": "1", "docno": docnos, "label": [1, 1, 0, 0] * 30})
        >>> found = ptr.judging.passage_positions(labels, bins=2)
        >>> found.table[["low", "high", "relevant", "expected"]]
           low  high  relevant  expected
        0  0.0   0.5        60      30.0
        1  0.5   1.0         0      30.0
        >>> found.chi_square
        60.0

    Source: Hofstaetter, Zlabinger, Sertkan, Schroeder and Hanbury 2020, Fine-grained relevance annotations for
    multi-task document ranking and question answering, CIKM.
    """
    frame = in_our_columns(labels) if isinstance(labels, pd.DataFrame) else None
    several = frame is not None and "annotator" in frame.columns
    judged = majority_vote(frame, ties=ties) if several else as_qrels(labels if frame is None else frame, "labels")
    lowest = judged.rel if rel is None else rel
    passages, how = _placed(judged.to_frame()[["qid", "docno", "label"]], frame, separator)
    passages = passages[passages["label"] >= 0].reset_index(drop=True)
    passages["relevant"] = passages["label"] >= lowest
    relevant = passages[passages["relevant"]]
    n, position = len(relevant), passages["position"].to_numpy()
    if not n:
        raise InputError(f"no passage has a label of {lowest} or more: there is no position to tell.", argument="rel")
    document = passages.groupby(["qid", "document"], sort=False).ngroup()
    if against == "labelled":
        where, weight = position, _labelled(passages["relevant"], document)
    else:
        where, weight = _anywhere(relevant["n"].to_numpy(), bins, parts)
    edges, seen = np.linspace(0, 1, bins + 1), _in_bins(relevant["position"].to_numpy(), bins)
    expected = _in_bins(where, bins, weight).astype(np.float64)
    statistic, p, words = _test(seen.astype(np.float64), expected)
    table = pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "relevant": seen,
            "labelled": _in_bins(position, bins),
            "expected": expected,
            "share": seen / n,
            "expected_share": expected / n,
        }
    )
    first = pd.DataFrame(
        {
            "part": parts,
            "share": [float((relevant["position"] < cut - _SLACK).sum() / n) for cut in parts],
            "expected_share": [float(weight[where < cut - _SLACK].sum() / n) for cut in parts],
        }
    )
    return PassagePositions(
        table=table,
        settings={
            "relevant": f"label of at least {lowest}",
            "position": how,
            "expected": CHANCE[against],
            "documents": document.nunique(),
            "documents with relevant passages": document[passages["relevant"]].nunique(),
            "test": words,
            **({"ties of annotators": ties} if several else {}),
        },
        first=first,
        passages=passages[["qid", "docno", "document", "position", "relevant"]],
        chi_square=statistic,
        p=p,
        rel=lowest,
    )


def _in_bins(
    position: NDArray[np.float64], n_bins: int, weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64 | np.int64]:
    """Return (bins,) positions in each, or their weights; one on an edge is in the bin that begins there."""
    edges = np.linspace(0, 1, n_bins + 1)
    place = np.searchsorted(edges, position + _SLACK, side="right") - 1
    return np.bincount(np.clip(place, 0, n_bins - 1), weights=weight, minlength=n_bins)


def _labelled(relevant: pd.Series, document: pd.Series) -> NDArray[np.float64]:
    """Return (passages,): how likely each is one of its document's relevant ones if these are any of them alike."""
    chance = relevant.groupby(document).transform("mean").to_numpy(dtype=float)
    if not ((chance > 0) & (chance < 1)).any():
        raise InputError(
            "in every document all labelled passages are relevant, or none is, so that there is nothing to compare "
            "with. Say whose passages they are in a column 'document', or choose against='uniform'.",
            argument="against",
        )
    return chance


def _anywhere(
    n_passages: NDArray[np.int64], n_bins: int, cuts: list[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return positions and weights: of the passages of each document alike, or of all its parts alike."""
    where, weight = [], []
    for n, times in zip(*np.unique(n_passages, return_counts=True), strict=True):
        if n:
            where.append((np.arange(n) + 0.5) / n)
            weight.append(np.full(n, times / n))
        else:
            # the pieces into which bins and parts cut the document, each at its middle
            cut = np.unique([*np.linspace(0, 1, n_bins + 1), *cuts])
            where.append((cut[1:] + cut[:-1]) / 2)
            weight.append(np.diff(cut) * times)
    return np.concatenate(where), np.concatenate(weight)


def _test(seen: NDArray[np.float64], expected: NDArray[np.float64]) -> tuple[float, float, str]:
    """Return the statistic, the p value, and what was tested in words."""
    from scipy.stats import chisquare

    possible = expected > 0
    if possible.sum() < 2:
        return float("nan"), float("nan"), "no test: all labelled passages of documents with relevant ones in one part"
    found = chisquare(seen[possible], expected[possible])
    few = int((expected[possible] < 5).sum())
    beware = f", beware: fewer than 5 expected in {count(few, 'part')}" if few else ""
    p = "<0.0001" if found.pvalue < 0.0001 else f"{found.pvalue:.4f}"
    words = f"chi square {found.statistic:.2f} of {possible.sum() - 1} degrees of freedom, p {p}{beware}"
    return float(found.statistic), float(found.pvalue), words
