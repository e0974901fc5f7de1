"""Figures that need the judgments alone."""

from __future__ import annotations

from pt_reuse.verification.computed import Computed
from pt_reuse.verification.parameters import Given
from pt_reuse.verification.replay import Replay


def count_judgments(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count judgments: in all, by label, by topic."""
    summary = replay.qrels.counts(rel=given["rel"])
    judged, density = summary["judged"], summary["density"]
    labels = summary[["judged", "relevant", "unjudged", "junk"]].sum().astype(int)
    return Computed(
        {
            "topics": len(summary),
            "judgments": len(replay.qrels),
            **labels,
            "smallest topic": int(judged.min()),
            "largest topic": int(judged.max()),
            "mean topic": float(judged.mean()),
            "fewest relevant": int(summary["relevant"].min()),
            "mean density": float(density.mean()),
            "largest density": float(density.max()),
            "topics denser than 1/3": int((density > 1 / 3).sum()),
            "topics denser than 1/2": int((density > 1 / 2).sum()),
        }
    )


def count_prefixes(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the judged or relevant documents whose docno begins with each name."""
    frame = replay.qrels.to_frame()
    docnos = frame.loc[frame["label"] >= (given["rel"] if given["count"] == "relevant" else 0), "docno"]
    return Computed({name: int(docnos.str.startswith(name).sum()) for name in names})
