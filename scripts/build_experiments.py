"""Run ptr.Experiment with and without a field on TREC-8 and Deep Learning 2019, and show what is seen."""

import textwrap
import warnings

import pandas as pd
from ir_measures import AP, RR, P, nDCG
from store import deep, trec8

import pt_reuse as ptr
from pt_reuse.errors import ReuseWarning

WIDTH = 100


def printed(call, result, warned=()):
    """Return a call, what it prints and what it warns of, as text."""
    said = [textwrap.fill(f"{w.category.__name__}: {w.message}", WIDTH, break_on_hyphens=False) for w in warned]
    text = "\n".join([f">>> {call}", str(result), *said])
    assert max(map(len, text.splitlines())) <= WIDTH, call
    return text + "\n"


def seen(call, **arguments):
    """Return a call, the table that it returns (a row per column) and what it warns of, as text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ptr.Experiment(**arguments)

    def cell(column, value):
        if isinstance(value, bool | int) or not isinstance(value, float):
            return str(value)
        return f"{value:+.3f}" if "LOU %" in column else f"{value:.4f}"

    rows = [["", *result["name"]]]
    rows += [[name, *(cell(name, value) for value in result[name].tolist())] for name in result if name != "name"]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ["  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]).rstrip() for first, *rest in rows]
    return printed(call, "\n".join(lines), [w for w in caught if issubclass(w.category, ReuseWarning)])


def trec8_of(runs, qrels):
    """Yield acsys8alo and Dm8TFbn of TREC-8 as if they ran now, the 127 others as the field; and in either order."""
    names, topics = ["acsys8alo", "Dm8TFbn"], pd.DataFrame({"qid": qrels.topics, "query": "as read"})
    given = {"retr_systems": {name: runs[name] for name in names}, "topics": topics, "qrels": qrels}
    given["eval_metrics"] = [AP]
    teams = {"teams": runs.run_table.set_index("name").loc[names, "team"].to_dict(), "pooled": True}
    field = {"field": runs.select([name for name in runs if name not in names])}
    yield "trec8-alone", seen("ptr.Experiment(two, topics, qrels, [AP])", **given)
    yield "trec8-lou", seen('ptr.Experiment(two, topics, qrels, [AP], reuse="lou")', **given, reuse="lou")
    yield "trec8-field", seen("ptr.Experiment(two, topics, qrels, [AP], field=field)", **given, **field)
    call = "ptr.Experiment(two, topics, qrels, [AP], field=field, teams=teams, pooled=True)"
    yield "trec8-pooled", seen(call, **given, **field, **teams)
    call = "ptr.Experiment(two, topics, qrels, [AP, nDCG@10, P@10],\n...     "
    call += 'field=field, teams=teams, pooled=True, baseline="Dm8TFbn").report()'
    given["eval_metrics"] = [AP, nDCG @ 10, P @ 10]
    yield "trec8-report", printed(call, ptr.Experiment(**given, **field, **teams, baseline="Dm8TFbn").report())
    # the scores of one of these float32 cannot tell apart
    given |= {"retr_systems": runs.select(["acsys8alo", "uwmt8a0"]), "eval_metrics": [AP]}
    text = seen('result = ptr.Experiment(runs.select(["acsys8alo", "uwmt8a0"]), topics, qrels, [AP])', **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ptr.Experiment(**given)
    for order in ("trec_eval9", "trec_eval"):
        scores = ptr.score(result.runs.reorder(order), qrels, [AP]).mean.to_string(index=False)
        text += printed(f'ptr.score(result.runs.reorder("{order}"), qrels, [AP]).mean', scores)
    yield "trec8-orders", text


def dl19(data):
    """Yield a re-ranker of 2024 and BM25, with the 37 runs of 2019 as the field."""
    later = {"SPLADE": "maik-froebe-splade", "RankZephyr": "maik-froebe-rank-zephyr"}
    runs = [ptr.read_runs(data / "dl19-passages" / "later" / f"input.{run}.gz") for run in later.values()]
    field, qrels = deep(data, 19, types=None, order="trec_eval")
    given = {"retr_systems": {name: one[one.names[0]] for name, one in zip(later, runs, strict=True)}}
    given |= {"topics": pd.DataFrame({"qid": qrels.topics, "query": "as read"}), "qrels": qrels}
    given["eval_metrics"], in_field = [nDCG @ 10], {"field": field, "depth": 10}
    yield "dl19-alone", seen("ptr.Experiment(two, topics, qrels, [nDCG@10])", **given)
    call = "ptr.Experiment(two, topics, qrels, [nDCG@10], field=field, depth=10"
    yield "dl19-field", seen(f"{call})", **given, **in_field)
    yield "dl19-pooled", seen(f"{call}, pooled=True)", **given, **in_field, pooled=True)
    given |= {"eval_metrics": [nDCG @ 10, AP(rel=2), RR(rel=2)], "baseline": "SPLADE", "layout": "long", "round": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        long = ptr.Experiment(**given, **in_field, pooled=True)
    call = "ptr.Experiment(two, topics, qrels, [nDCG@10, AP(rel=2), RR(rel=2)], field=field, depth=10,\n"
    call += '...     pooled=True, baseline="SPLADE", round=4, layout="long")'
    yield "dl19-long", printed(call, long.to_string(index=False))


def results(given):
    """Write what is seen."""
    shown = dict(dl19(given.data))
    if not given.smallest:
        shown |= dict(trec8_of(*trec8(given.data, types=None)))
    for name, text in shown.items():
        given.write(name, text)
