"""The documents that are split into parts, and the judgments of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option, warn
from pt_reuse.data.judgments import Qrels
from pt_reuse.studies.corpus_parts.drawing import Part
from pt_reuse.studies.corpus_parts.sources import SourceRule, Sources, sources_of
from pt_reuse.studies.corpus_parts.systems import OnParts


@dataclass(frozen=True)
class Corpus:
    """The documents that are split, and the judgments of them.

    Attributes:
        docnos: of all documents, in the order of their bytes.
        split: (documents to be split,) their positions.
        added: documents that every part has; not all are in the corpus of the systems.
        n_added: how many of them are.
        qrels: the judgments.
        judged: (judgments,) the document of each.
        relevant: (judgments,) whether it is relevant.
    """

    docnos: list[str]
    split: NDArray[np.int64]
    added: NDArray[np.int64]
    n_added: int
    qrels: Qrels
    judged: NDArray[np.int64]
    relevant: NDArray[np.bool_]

    @classmethod
    def of(cls, systems: OnParts, qrels: Qrels, rel: int, *, shared: bool) -> Corpus:
        """Return the corpus of some systems; with `shared`, relevant documents are added to all parts."""
        of_judgments = qrels.arrays.documents.docnos().tolist()
        known = set(systems.docnos())
        strange = list(dict.fromkeys(docno for docno in of_judgments if docno not in known))
        if systems.knows_corpus and strange:
            so = (
                "no system can retrieve them, and all miss those that are relevant"
                if shared
                else "they are in no part, and count nowhere"
            )
            warn(
                f"{count(len(strange), 'judged document')} not among the documents of the systems, such as "
                f"{examples(strange)}: {so}."
            )
        docnos = sorted({*known, *of_judgments}, key=lambda docno: docno.encode("utf-8", "surrogateescape"))
        place = {docno: i for i, docno in enumerate(docnos)}
        judged = np.array([place[docno] for docno in of_judgments], dtype=np.int64)
        relevant = np.asarray(qrels.arrays.labels >= rel)
        if not relevant.any():
            raise InputError(
                f"no judgment has a label of at least {rel}, so no document is relevant and every score is 0. ",
                Option("rel", ...),
                " is the lowest label that is relevant.",
                argument="qrels",
            )
        is_added = np.zeros(len(docnos), dtype=bool)
        if shared:
            is_added[judged[relevant]] = True
        there = np.ones(len(docnos), dtype=bool)
        if systems.knows_corpus:
            there[[place[docno] for docno in strange]] = False
        rest = np.flatnonzero(~is_added & there)
        if not len(rest):
            raise InputError(
                "every document is relevant to some topic, so there is nothing to split.", argument="qrels"
            )
        n_added = int((is_added & there).sum())
        return cls(docnos, rest, np.flatnonzero(is_added), n_added, qrels, judged, relevant)

    def sources(self, rule: SourceRule, *, needed: bool) -> Sources:
        """Return the sources of the documents to be split; one for all of them where none are needed."""
        if not needed:
            return Sources(("all",), np.zeros(len(self.split), dtype=np.int64), "")
        return sources_of(rule, [self.docnos[i] for i in self.split.tolist()])

    def part(self, part: Part) -> tuple[list[str], Qrels]:
        """Return the docnos of a part, and its judgments."""
        has = self._has(part)
        return [self.docnos[i] for i in np.flatnonzero(has).tolist()], self.qrels.keep(has[self.judged])

    def counting(self, part: Part) -> NDArray[np.bool_]:
        """Return (topics,) which topics count on a part: all, or those with a relevant document that fell into it."""
        n_topics = len(self.qrels.topics)
        if len(self.added):
            return np.ones(n_topics, dtype=bool)
        found = self.qrels.arrays.documents.topic[self._has(part)[self.judged] & self.relevant]
        counts: NDArray[np.bool_] = np.bincount(found, minlength=n_topics) > 0
        if not counts.any():
            raise InputError(
                f"no topic has a relevant document in the part {part.name!r}, so there is nothing to test. ",
                Option("relevant", "all"),
                " adds all relevant documents to each part.",
                argument="relevant",
            )
        return counts

    def _has(self, part: Part) -> NDArray[np.bool_]:
        """Return (documents,) whether a part has each."""
        has = np.zeros(len(self.docnos), dtype=bool)
        has[self.added] = True
        has[self.split[part.documents]] = True
        return has

    def in_words(self) -> str:
        """Return how many documents there are."""
        added = f", {self.n_added:,} relevant ones added to each part" if len(self.added) else ""
        return f"{len(self.split):,} split{added}"
