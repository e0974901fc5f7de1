"""What the answers on the embedded collection say, in words."""

from __future__ import annotations

import pandas as pd

from pt_reuse.demo.pipelines import LIVE
from pt_reuse.demo.walk import DEPTH, DemoReport
from pt_reuse.studies.uniques import in_words

#: short names of what is narrated
SUBJECTS = ("live-pipelines", "lexical-pool", "gains-and-losses", "leave-out-type", "leave-out-team")


def narrate(report: DemoReport) -> list[tuple[str, pd.DataFrame, str]]:
    """Return (question, table, answer in words) for each of the subjects."""
    coverage = report.coverage.set_index("group")
    dense, held = coverage.loc["dense"], coverage.loc["lexical, held out"]
    partial, full = (a.table.set_index("measure") for a in (report.partial, report.full))
    n, changes = "nDCG@10", report.partial.changes
    moved = (
        changes[changes["measure"] == n]
        .sort_values("rank")[["name", "type", "score", "other_score", "rank", "other_rank", "drop"]]
        .rename(columns={"score": "complete judgments", "other_score": "lexical pool", "other_rank": "new rank"})
    )
    unjudged, fallers = f"{n} unjudged", report.partial.changes
    fallers = fallers[(fallers["measure"] == n) & (fallers["type"] == "dense") & (fallers["drop"] > 0)]
    live = report.experiment.set_index("name")
    columns = ["name", n, f"{n} rank", f"{n} unjudged", "AP", "AP rank"]
    return [
        (
            "How do live pipelines stand among the stored runs, and how much of what they return was judged?",
            report.experiment[columns],
            f"Judged is the depth-{DEPTH} pool of the pooled runs. BM25 on the query has a twin among these, so all "
            "of its top 10 is judged; BM25 and MiniLM with descriptions have none, and "
            f"{live.loc[LIVE[1], unjudged]:.1%} and {live.loc[LIVE[2], unjudged]:.1%} of theirs never were. They "
            f"rank {live.loc[LIVE[0], f'{n} rank']}, "
            f"{live.loc[LIVE[1], f'{n} rank']} and {live.loc[LIVE[2], f'{n} rank']} of the "
            f"{len(report.runs) + len(LIVE)} runs, stored and live, by {n}.",
        ),
        (
            "What if only lexical systems had been pooled?",
            report.coverage,
            f"Of the top 10 of dense runs {dense['Unjudged@10']:.1%} would be unjudged, of lexical runs that were not "
            f"pooled either {held['Unjudged@10']:.1%}. Dense runs fall {dense['drop']:+.2f} ranks on average, lexical "
            f"runs held out {held['drop']:+.2f} (positive: down). The lead of dense over held-out lexical runs shrinks "
            f"from {dense[n] - held[n]:.3f} to {dense[f'{n} lexical pool'] - held[f'{n} lexical pool']:.3f}. The dense "
            f"runs that fall are {' and '.join(fallers['name'])}; MiniLM keeps its place, with a smaller lead.",
        ),
        (
            "Which runs gain and lose by it?",
            moved,
            f"tau_b to the ranking under complete judgments: {partial.loc[n, 'tau_b']:.3f} with the lexical pool, "
            f"{full.loc[n, 'tau_b']:.3f} with the pool of all types; largest drop {partial.loc[n, 'max_drop']} and "
            f"{full.loc[n, 'max_drop']}.",
        ),
        (
            "What if a type of system had not taken part in the pool?",
            report.by_type.table[report.by_type.table["measure"] == n].drop(columns="measure"),
            in_words(report.by_type),
        ),
        ("And a team?", report.by_team.summary, in_words(report.by_team)),
    ]
