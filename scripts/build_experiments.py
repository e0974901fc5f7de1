"""Run ptr.Experiment with and without a field on two collections, and write what is seen into docs/experiments.

    python scripts/build_experiments.py [DATA] [COLLECTION ...]

DATA is a folder with trec8-adhoc and dl19-passages (default: PT_REUSE_DATA); COLLECTION is trec8 or dl19 (default:
both).
"""

from __future__ import annotations

import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from ir_measures import AP, RR, P, nDCG

import pt_reuse as ptr
from pt_reuse.errors import ReuseWarning

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments"
WIDTH = 100


def seen(call: str, **arguments: Any) -> str:
    """Return a call, the table that it returns (a row per column) and what it warns of, as text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ptr.Experiment(**arguments)
    columns = [column for column in result if column != "name"]
    shown = [[column, *(_cell(column, value) for value in result[column].tolist())] for column in columns]
    rows = [["", *result["name"]], *shown]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ["  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]) for first, *rest in rows]
    ours = [w for w in caught if issubclass(w.category, ReuseWarning)]
    said = [textwrap.fill(f"{w.category.__name__}: {w.message}", WIDTH, break_on_hyphens=False) for w in ours]
    text = "\n".join([f">>> {call}", *(line.rstrip() for line in lines), *said])
    assert max(map(len, text.splitlines())) <= WIDTH, call
    return text + "\n"


def printed(call: str, result: Any) -> str:
    """Return a call and what it prints, as text."""
    text = f">>> {call}\n{result}\n"
    assert max(map(len, text.splitlines())) <= WIDTH, call
    return text


def _cell(column: str, value: Any) -> str:
    if isinstance(value, bool | int) or not isinstance(value, float):
        return str(value)
    return f"{value:+.3f}" if "LOU %" in column else f"{value:.4f}"


def trec8(data: Path) -> Iterator[tuple[str, str]]:
    """Yield the two automatic runs acsys8alo and Dm8TFbn as if they ran now, and the 127 others as the field."""
    folder = data / "trec8-adhoc"
    table = [line.split(":") for line in (folder / "runs_table.adhoc").read_text("latin-1").splitlines() if line]
    pooled = [row[0] for row in table if row[12].strip()]
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", pooled=pooled)
    yield from trec8_of(runs, ptr.read_qrels(folder / "trec8.qrels.gz"))


def trec8_of(runs: ptr.RunSet, qrels: ptr.Qrels) -> Iterator[tuple[str, str]]:
    """Yield what is seen on TREC-8, of runs and judgments that are read already."""
    names = ["acsys8alo", "Dm8TFbn"]
    given: dict[str, Any] = {
        "retr_systems": {name: runs[name] for name in names},
        "topics": pd.DataFrame({"qid": qrels.topics, "query": "as read"}),
        "qrels": qrels,
        "eval_metrics": [AP],
    }
    field = runs.select([name for name in runs if name not in names])
    teams = runs.run_table.set_index("name").loc[names, "team"].to_dict()
    yield "trec8-alone", seen("ptr.Experiment(two, topics, qrels, [AP])", **given)
    yield "trec8-lou", seen('ptr.Experiment(two, topics, qrels, [AP], reuse="lou")', **given, reuse="lou")
    yield "trec8-field", seen("ptr.Experiment(two, topics, qrels, [AP], field=field)", **given, field=field)
    call = "ptr.Experiment(two, topics, qrels, [AP], field=field, teams=teams, pooled=True)"
    yield "trec8-pooled", seen(call, **given, field=field, teams=teams, pooled=True)
    yield "trec8-report", trec8_report({**given, "field": field, "teams": teams})
    yield "trec8-orders", trec8_orders({**given, "retr_systems": runs.select(["acsys8alo", "uwmt8a0"])})


def trec8_report(given: dict[str, Any]) -> str:
    """Return what a paper prints of the two, as text."""
    given = {**given, "eval_metrics": [AP, nDCG @ 10, P @ 10], "pooled": True, "baseline": "Dm8TFbn"}
    call = "ptr.Experiment(two, topics, qrels, [AP, nDCG@10, P@10],\n...     "
    call += 'field=field, teams=teams, pooled=True, baseline="Dm8TFbn").report()'
    return printed(call, ptr.Experiment(**given).report())


def trec8_orders(given: dict[str, Any]) -> str:
    """Return what is seen of a run whose scores float32 cannot tell apart, and its scores in either order."""
    call = 'result = ptr.Experiment(runs.select(["acsys8alo", "uwmt8a0"]), topics, qrels, [AP])'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ptr.Experiment(**given)
    parts = [seen(call, **given)]
    for order in ("trec_eval9", "trec_eval"):
        scores = ptr.score(result.runs.reorder(order), given["qrels"], given["eval_metrics"])
        call = f'ptr.score(result.runs.reorder("{order}"), qrels, [AP]).mean'
        parts.append(printed(call, scores.mean.to_string(index=False)))
    return "".join(parts)


def dl19(data: Path) -> Iterator[tuple[str, str]]:
    """Yield a re-ranker of 2024 and BM25, with the 37 runs of 2019 as the field."""
    folder = data / "dl19-passages"
    named = {"SPLADE": "maik-froebe-splade", "RankZephyr": "maik-froebe-rank-zephyr"}
    later = {name: ptr.read_runs(folder / "later" / f"input.{run}.gz") for name, run in named.items()}
    field = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", pooled=True, pool_order="file")
    qrels = ptr.read_qrels(folder / "qrels.gz", rel=2)
    given: dict[str, Any] = {
        "retr_systems": {name: runs[runs.names[0]] for name, runs in later.items()},
        "topics": pd.DataFrame({"qid": qrels.topics, "query": "as read"}),
        "qrels": qrels,
        "eval_metrics": [nDCG @ 10],
    }
    yield "dl19-alone", seen("ptr.Experiment(two, topics, qrels, [nDCG@10])", **given)
    call = "ptr.Experiment(two, topics, qrels, [nDCG@10], field=field, depth=10)"
    yield "dl19-field", seen(call, **given, field=field, depth=10)
    call = "ptr.Experiment(two, topics, qrels, [nDCG@10], field=field, depth=10, pooled=True)"
    yield "dl19-pooled", seen(call, **given, field=field, depth=10, pooled=True)
    given |= {"eval_metrics": [nDCG @ 10, AP(rel=2), RR(rel=2)], "baseline": "SPLADE", "layout": "long", "round": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        long = ptr.Experiment(**given, field=field, depth=10, pooled=True)
    call = "ptr.Experiment(two, topics, qrels, [nDCG@10, AP(rel=2), RR(rel=2)], field=field, depth=10,\n"
    call += '...     pooled=True, baseline="SPLADE", round=4, layout="long")'
    yield "dl19-long", printed(call, long.to_string(index=False))


COLLECTIONS: dict[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    "trec8": trec8, "dl19": dl19
}  # fmt: skip


def main(data: Path, names: list[str]) -> None:
    """Write what is seen on some collections."""
    for name in names:
        for file, text in COLLECTIONS[name](data):
            (TARGET / f"{file}.txt").write_text(text, encoding="utf-8")
            print(f"docs/experiments/{file}.txt\n{text}")


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if word in COLLECTIONS]
    folders = [word for word in sys.argv[1:] if word not in COLLECTIONS]
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    main(Path(folders[0] if folders else default), chosen or list(COLLECTIONS))
