"""The figures of a card, by Altair: a table in, a chart out; a point bears a run's name and is clicked for its team."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from pt_reuse.cards.parts import Asking
from pt_reuse.errors import InputError

#: colours that show on white and on black, in the order in which types have them; each type has a shape, too
_COLOURS = ["#3b8bd0", "#d8581c", "#00986b", "#c06aa0", "#9a7d0a", "#7a6fd6", "#7f8a94", "#c2405a"]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]
#: whether a mark is of the team that is shown
_OF_TEAM = "picked === null || datum.team === picked"
_UNKNOWN = "not recorded"
_MAIN, _SECOND = _COLOURS[:2]


def library() -> Any:
    """Return Altair, or say how to get it."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise InputError(
            "the figures of a card need Altair and vl-convert; `pip install pt-reuse[report]` brings them."
        ) from error
    return altair


def figure(name: str, result: Any, measure: str, asking: Asking) -> dict[str, Any] | None:
    """Return the specification of a figure, None where there is nothing to draw."""
    chart = _FIGURES[name](library(), result, measure, asking)
    if chart is None:
        return None
    chart = chart.configure(background="transparent", font="system-ui, sans-serif").configure_view(stroke=None)
    ink: dict[str, Any] = {"labelColor": "currentColor", "titleColor": "currentColor"}
    ink |= {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    chart = chart.configure_axis(gridColor="#8884", domainColor="#8884", tickColor="#8884", **ink)
    chart = chart.configure_axisX(grid=False).configure_legend(orient="top", columns=4, labelLimit=90, **ink)
    # rows are in the specification, as many as there are
    with library().data_transformers.enable("default", max_rows=None):
        found: dict[str, Any] = chart.to_dict()
    return found


def bundle() -> str:
    """Return the JavaScript that draws figures, to be put into a page."""
    library()
    import vl_convert

    bundled: Any = vl_convert.javascript_bundle
    return str(bundled())


def _data(alt: Any, rows: pd.DataFrame) -> Any:
    return alt.Data(values=json.loads(rows.to_json(orient="records")))


def _labelled(rows: pd.DataFrame, asking: Asking) -> pd.DataFrame:
    known = asking.runs.run_table.set_index("name")[["team", "type"]]
    known = known.astype(object).where(known.notna(), _UNKNOWN)
    return rows.drop(columns=["team", "type"], errors="ignore").join(known, on="name")


def _of_runs(alt: Any, rows: pd.DataFrame, asking: Asking, *about: Any) -> Any:
    """Return a chart of runs whose marks are clicked for a team; a legend shows one type alone."""
    picked = alt.param(name="picked", value=None)
    kind = alt.selection_point(name="kind", fields=["type"], bind="legend")
    chart = alt.Chart(_data(alt, rows)).encode(
        color=alt.Color("type:N", **_look(alt, rows, asking, _COLOURS)),
        opacity=alt.when(kind).then(alt.value(1)).otherwise(alt.value(0.1)),
        fillOpacity=alt.condition(_OF_TEAM, alt.value(0.85), alt.value(0.05)),
        strokeOpacity=alt.condition(_OF_TEAM, alt.value(0.9), alt.value(0.08)),
        tooltip=[*_tips(alt, "name|run", "team", "type"), *about],
    )
    return chart.add_params(picked, kind)


def _look(alt: Any, rows: pd.DataFrame, asking: Asking, looks: list[str]) -> dict[str, Any]:
    """Return the scale and the legend of the types in the rows, each with the look that it has in every figure."""
    every = [*asking.runs.types, _UNKNOWN]
    kinds = [kind for kind in every if kind in set(rows["type"])]
    scale = alt.Scale(domain=kinds, range=[looks[every.index(kind) % len(looks)] for kind in kinds])
    return {"scale": scale, "legend": alt.Legend(title="Type") if len(kinds) > 1 else None}


def _shapes(alt: Any, rows: pd.DataFrame, asking: Asking) -> Any:
    return alt.Shape("type:N", **_look(alt, rows, asking, _SHAPES))


def _tips(alt: Any, *columns: str) -> list[Any]:
    """Return what a mark says when it is pointed at: ``column`` or ``column|title|format`` each."""
    found = []
    for said in columns:
        name, title, form, *_ = (*said.split("|"), "", "")
        more = {"type": "nominal"} if not form else {"type": "quantitative", "format": form}
        found.append(alt.Tooltip(name, title=title or name, **more))
    return found


def _sized(chart: Any, height: int, description: str) -> Any:
    return chart.properties(width="container", height=height, description=description)


def _losses(alt: Any, result: Any, measure: str, asking: Asking) -> Any:
    rows = result.by_run[result.by_run["measure"] == measure].dropna(subset=["change_pct"])
    if rows.empty:
        return None
    rows = _labelled(rows[["name", "score", "change_pct", "drop"]], asking)
    about = _tips(alt, "score|score|.4f", "change_pct|change, %|+.1f", "drop|ranks lost")
    chart = _of_runs(alt, rows, asking, *about).mark_point(filled=True, size=90, cursor="pointer")
    chart = chart.encode(
        x=alt.X("score:Q", title=f"{measure}, all judgments", scale=alt.Scale(zero=False)),
        y=alt.Y("change_pct:Q", title="change without own uniques, %"),
        shape=_shapes(alt, rows, asking),
    )
    return _sized(chart, 320, "Each run: its score, and what it loses without its own uniques.")


def _topics(alt: Any, result: Any, _: str, __: Asking) -> Any:
    rows = result.table.dropna(subset=["density"])
    if rows.empty:
        return None
    rows = rows[["qid", "judged", "relevant", "density"]]
    x = alt.X("qid:N", sort=alt.SortField("density"), title="topics", axis=alt.Axis(labels=False, ticks=False))
    tips = _tips(alt, "qid|topic", "density|density|.3f", "relevant", "judged")
    bars = alt.Chart(_data(alt, rows)).encode(x=x, tooltip=tips).mark_bar(color=_MAIN)
    bars = bars.encode(y=alt.Y("density:Q", title="relevant / judged", scale=alt.Scale(domain=[0, 1])))
    levels = alt.Data(values=[{"level": 1 / 3}, {"level": 1 / 2}])
    rules = alt.Chart(levels).mark_rule(color=_SECOND, strokeDash=[4, 3]).encode(y="level:Q")
    return _sized(bars + rules, 240, "The relevant density of each topic, with lines at 1/3 and 1/2.")


def _ranks(alt: Any, result: Any, measure: str, asking: Asking) -> Any:
    rows = result.table[result.table["measure"] == measure].reset_index(drop=True)
    if rows.empty:
        return None
    rows = _labelled(rows[["name", "score", "rank", "rank_low", "rank_high"]], asking)
    rows = rows.assign(place=range(1, len(rows) + 1))
    about = _tips(alt, "score|score|.4f", "rank", "rank_low|best rank", "rank_high|worst rank")
    place = alt.X("place:Q", title=f"runs, the best by {measure} first", scale=alt.Scale(zero=False, nice=False))
    base = _of_runs(alt, rows, asking, *about).encode(x=place)
    down = alt.Scale(reverse=True, domain=[1, max(len(rows), 2)], nice=False)
    lines = base.mark_rule(strokeWidth=3, cursor="pointer").encode(
        y=alt.Y("rank_low:Q", title="rank", scale=down),
        y2="rank_high:Q",
        strokeOpacity=alt.condition(_OF_TEAM, alt.value(0.5), alt.value(0.05)),
    )
    points = base.mark_point(filled=True, size=36, cursor="pointer")
    points = points.encode(y=alt.Y("rank:Q", scale=down), shape=_shapes(alt, rows, asking))
    # parameters are those of the first layer
    points.params = alt.Undefined
    return _sized(lines + points, 320, f"Each run: its rank by {measure}, and the ranks that it may have.")


def _swaps(alt: Any, result: Any, measure: str, _: Asking) -> Any:
    rows = result.table[(result.table["measure"] == measure) & result.table["rate"].notna()]
    if rows.empty:
        return None
    rows = rows.assign(topics=rows["size"].astype(str))
    columns = [name for name in ("topics", "at_least", "pairs", "rate", "rate_low", "rate_high") if name in rows]
    legend, colours = alt.Legend(title="Topics in a sample", symbolOpacity=1), alt.Scale(range=_COLOURS)
    axis = alt.Axis(format=".2f", tickCount=10)
    base = alt.Chart(_data(alt, rows[columns])).encode(
        x=alt.X("at_least:Q", title=f"difference of two runs by {measure}, from", axis=axis),
        color=alt.Color("topics:N", scale=colours, sort=None, legend=legend),
    )
    lines = base.mark_line(point=True).encode(
        y=alt.Y("rate:Q", title="swap rate"),
        strokeDash=alt.StrokeDash("topics:N", legend=None, sort=None),
        tooltip=_tips(alt, "topics", "at_least|difference from|.2f", "rate|swap rate|.4f", "pairs|pairs|,"),
    )
    bands = base.mark_area(opacity=0.15).encode(y="rate_low:Q", y2="rate_high:Q")
    usual = alt.Chart(alt.Data(values=[{"level": 0.05}])).mark_rule(strokeDash=[4, 3], color="#888").encode(y="level:Q")
    chart = alt.layer(usual, lines) if "rate_low" not in rows else alt.layer(usual, bands, lines)
    return _sized(chart, 280, f"Swap rate by the difference of two runs by {measure}.")


def _depths(alt: Any, result: Any, _: str, __: Asking) -> Any:
    rows = result.groups[result.groups["by"] == "type"]
    if rows.empty:
        of_all = result.table.groupby("depth", as_index=False)["unjudged"].mean()
        rows = of_all.assign(group="all runs", runs=result.table["name"].nunique())
    axis = alt.Axis(values=result.depths)
    chart = alt.Chart(_data(alt, rows[["group", "runs", "depth", "unjudged"]])).mark_line(point=True)
    chart = chart.encode(
        x=alt.X("depth:Q", title="down to rank", scale=alt.Scale(type="log"), axis=axis),
        y=alt.Y("unjudged:Q", title="share of unjudged documents"),
        color=alt.Color("group:N", title="Type", scale=alt.Scale(range=_COLOURS), sort=None),
        strokeDash=alt.StrokeDash("group:N", title="Type", sort=None),
        tooltip=_tips(alt, "group|type", "runs", "depth", "unjudged|unjudged|.3f"),
    )
    return _sized(chart, 260, "The mean share of unjudged documents by depth.")


_FIGURES = {
    "losses": _losses,
    "losses_of_types": lambda alt, result, *rest: _losses(alt, result.uniques, *rest),
    "topics": _topics,
    "ranks": _ranks,
    "swaps": _swaps,
    "depths": _depths,
}
