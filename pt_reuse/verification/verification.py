"""Verification: published figures of a collection, replayed on the user's files, each within its tolerance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import pairwise, product
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._files import user_path
from pt_reuse.arrays.correlation import correlations
from pt_reuse.arrays.field import Field
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset, judgments_of
from pt_reuse.collections.definition import UnknownCollectionError, find_collection, real_name
from pt_reuse.collections.runs import find_run_files, plan_runs
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.packed_files import read_csv
from pt_reuse.data.run_set import Reading, RunSet, as_runs
from pt_reuse.data.units import check_every_run_has
from pt_reuse.errors import InputError, choice, count, did_you_mean, examples, flag, located, positive, shown
from pt_reuse.options import ORDERS
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import Result, records
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.scoring.scores import Scores, check_topics, score
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"(?=\D*\d)[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_COLUMNS = ("collection", "what", "kind", "arguments", "name", "value", "source")
#: the package's own figures
FIGURES = Path(str(files("pt_reuse.verification") / "data")) / "figures.csv"


@dataclass(frozen=True)
class PublishedValue:
    """A published number; one step of its last digit is worth `unit`."""

    number: float
    unit: float

    @classmethod
    def of(cls, text: str) -> PublishedValue:
        """Return a value by its digits as they are written."""
        if not _NUMBER.fullmatch(text):
            raise InputError(f"a value must be a number with all its digits, such as 0.1230 or 1,130, got {text!r}.")
        number = Decimal(text.replace(",", ""))
        return cls(float(number), float(Decimal(10) ** int(number.as_tuple().exponent)))

    def agrees(self, computed: float) -> bool:
        """Return whether a computed number is published as this one, either way of rounding."""
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        return bool(abs(computed - self.number) <= self.unit / 2 + slack)


@dataclass(frozen=True)
class PublishedFigure:
    """Published values of one kind, from one source, by the name of a run, a team or a statistic."""

    what: str
    kind: str
    arguments: Mapping[str, list[str]]  # the texts to try for each
    source: str
    place: str
    values: dict[str, PublishedValue] = field(default_factory=dict)
    #: what is computed in place of a value, and why
    known: dict[str, tuple[PublishedValue, str]] = field(default_factory=dict)


def read_published(path: str | Path = FIGURES) -> dict[str, list[PublishedFigure]]:
    """Read a table of published figures; return those of each collection.

    A row that says ``what`` begins a figure, and those below have its further values. A collection holds for the rows
    below. A row without a name has a file beside the table and one of its columns, ``FILE.csv: COLUMN``.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"figures must be the path of a CSV file, got {shown(path)}.", argument="figures")
    path, published, collection = user_path(path), dict[str, list[PublishedFigure]](), ""
    with located(str(path)):
        table = read_csv(path, "figures", utf8=True)
        table.need(_COLUMNS, "figures")
        for at, row in enumerate(records(table.frame)):
            with located(table.place(at)):
                cells = {"computed": "", "differs": ""} | {name: cell.strip() for name, cell in row.items()}
                collection = cells["collection"] or collection
                figures = published.setdefault(collection, [])
                if not collection or not (cells["what"] or figures) or cells["what"] in [f.what for f in figures]:
                    raise InputError("a figure needs a collection, and a name (`what`) of its own in it.")
                if cells["what"]:
                    if not cells["kind"] or not cells["source"]:
                        raise InputError("a figure needs its `kind` and its `source`.")
                    arguments = [part.partition("=") for part in cells["arguments"].split(";") if part]
                    texts = {name.strip(): list(map(str.strip, text.split("|"))) for name, _, text in arguments}
                    if len(texts) < len(arguments) or not all(equals for _, equals, _ in arguments):
                        problem = f"arguments must be such as 'depth=10; order=file|rank', got {cells['arguments']!r}."
                        raise InputError(problem)
                    place = f"{path}, {table.place(at)}"
                    figures.append(PublishedFigure(cells["what"], cells["kind"], texts, cells["source"], place))
                _add(figures[-1], cells, path.parent)
    return published


def _add(figure: PublishedFigure, cells: Mapping[str, str], folder: Path) -> None:
    name, value = cells["name"], cells["value"]
    values = [(name, PublishedValue.of(value))] if name else _of_file(folder, *value.partition(": ")[::2])
    for each, number in values:
        if each in figure.values:
            raise InputError(f"the figure has a value of {each!r} already.")
        figure.values[each] = number
    if cells["computed"] or cells["differs"]:
        instead = PublishedValue.of(cells["computed"])
        if not name or not cells["differs"] or figure.values[name].agrees(instead.number):
            raise InputError("a known difference needs another number as `computed`, and why it `differs`.")
        figure.known[name] = instead, cells["differs"]


def _of_file(folder: Path, file: str, column: str) -> list[tuple[str, PublishedValue]]:
    if not file or not column or Path(file).name != file:
        raise InputError("a row needs a name and a value, or the value 'FILE.csv: COLUMN' of a file beside the table.")
    with located(str(folder / file)):
        table = read_csv(folder / file, utf8=True)
        table.need(("name", column))
        table.check_filled("name", column)
        values = dict[str, PublishedValue]()
        for at, row in enumerate(records(table.frame)):
            with located(table.place(at)):
                if row["name"] in values:
                    raise InputError(f"{row['name']!r} stands there twice.")
                values[row["name"]] = PublishedValue.of(row[column].strip())
    return list(values.items())


#: by score, documents of one score as they stand in the file: how NIST pooled in 2025
FILE_TIES = "file_ties"
#: how a ranking of runs compares with another, as in :func:`pt_reuse.arrays.correlation.correlations`
AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
#: a parameter -> what it is if a figure does not say: of several words the first, ``...`` where it has to
_REL = {"rel": 1}
_ORDER = {"order": (*ORDERS, FILE_TIES)}
_POOL = {**_ORDER, "depth": 100, "contributors": "pooled"}
_SCORES = {**_ORDER, "measure": ...}
_UNIQUES = {**_POOL, "pool_order": ("same", *ORDERS), **_REL, "by": ("team", "run", "type")}
_OWN = {**_UNIQUES, "measure": ...}
_AMONG = ("all", "others", "others of the type", "other types")
_SHALLOW = {"pool_order": ("same", *ORDERS, FILE_TIES), "among": _AMONG, "truth": None, "decimals_of_scores": None}
_STATISTIC = {"by": ("type", "team", "pooled", "all"), "statistic": ("max", "mean", "median", "min")}
#: kind -> its parameters; a method of :class:`Replay` computes it
KINDS: dict[str, dict[str, Any]] = {
    "judgments": _REL,
    "prefixes": {"count": ("judged", "relevant"), **_REL},
    "field": _ORDER,
    "scores": _SCORES,
    "score_statistic": {**_SCORES, **_STATISTIC},
    "saturation": _SCORES,
    "pool": {**_POOL, **_REL},
    "shallow_pool": {**_POOL, **_SCORES, **_REL, **_SHALLOW},
    "minimum_rank": {**_POOL, "contributors": ("all", "pooled"), **_REL},
    "uniques": {**_UNIQUES, "count": ("unique_relevant", "unique", "unique_nonrelevant")},
    "left_out": {**_OWN, "statistic": (*AGREEMENT, "removed")},
    "worst_left_out": {**_OWN, "ranks": 10},
    "own_uniques": _OWN,
    "own_losses": {**_OWN, "statistic": ("mean", "max")},
    "own_changes": _OWN,
}
#: kinds, statistics and names whose values are no counts
FRACTIONS = {"scores", "score_statistic", "own_losses", "own_changes", *AGREEMENT[:3]}
FRACTIONS |= {"smallest tau_b", "mean topic", "mean density", "largest density"}


def _parameter(kind: str, name: str, text: str, scored: Sequence[str]) -> Any:
    """Return the value of a parameter as it is used; `scored` are the figures of published scores of the collection."""
    several, usual = text.split(" + "), KINDS[kind][name]
    if name == "measure":
        measures = parse_measures(several)
        if len(measures) > 1 and "by" in KINDS[kind] and kind != "score_statistic":
            raise InputError(f"the figure takes one measure, got {text!r}.", argument="measure")
        return measures
    if name in ("rel", "depth", "ranks", "decimals_of_scores"):
        return positive(name, int(text) if text.isdecimal() else text, unit=name)
    if name == "contributors":
        return text if text in ("pooled", "all") else tuple(several)
    return choice(name, text, scored if name == "truth" else usual)


def _ways(figure: PublishedFigure, scored: Sequence[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield all parameters of a figure under each convention, and those that its numbers depend on in a line."""
    kind, given = choice("kind", figure.kind, list(KINDS)), figure.arguments
    usual = {name: value[0] if isinstance(value, tuple) else value for name, value in KINDS[kind].items()}
    if odd := [name for name in given if name not in usual]:
        raise InputError(f"kind {kind!r} has no parameter {examples(odd)}; it has {examples(usual, 20)}.")
    if "measure" not in given and "measure" in usual:
        raise InputError("the figure needs a measure, such as measure=AP.", argument="measure")
    for name, value in figure.values.items():
        # 0 would stand for all from -.5 to .5
        if {kind, name, *given.get("statistic", [usual.get("statistic")])} & FRACTIONS and value.unit >= 1:
            problem = f"{value.number:.10g} is a whole number, and this is no count. Write the published decimals."
            raise InputError(problem, place=repr(name))
    for texts in product(*given.values()):
        chosen = dict(zip(given, texts, strict=True))
        options = usual | {name: _parameter(kind, name, text, scored) for name, text in chosen.items()}
        # what the name of the figure tells is not told again
        by_name = {"by", "statistic", "count"}
        if not any(set(measure.params) - {"cutoff"} for measure in options.get("measure", ())):
            by_name.add("measure")
        words = {name: options[name] for name in ("order", "contributors", *given) if name in usual.keys() - by_name}
        words |= {name: " and ".join(map(str, value)) for name, value in words.items() if isinstance(value, list)}
        words |= {name: count(len(value), "run") for name, value in words.items() if isinstance(value, tuple)}
        yield options, ", ".join(f"{name}={value}" for name, value in words.items())


class Replay:
    """The runs and judgments of a verification: a method for each kind of figure.

    Each takes the parameters of a figure and the `names` of its values, and returns numbers by name, or why there are
    none.
    """

    def __init__(self, runs: RunSet | str, qrels: Qrels, published: Mapping[str, pd.Series], submitted: Sequence[str]):
        self._runs, self.qrels, self.published, self.submitted = runs, qrels, published, submitted
        #: the runs on record that are not here, where any are
        self.missing = [] if isinstance(runs, str) else [name for name in submitted if name not in runs]
        for name in ("_in_order", "_pool", "_judged_in", "_score", "_left_out"):
            setattr(self, name, cache(getattr(self, name)))

    def _in_order(self, order: str) -> RunSet:
        if isinstance(self._runs, str):
            raise InputError(self._runs)
        # pooled in the order that the figure names, whatever the order of the collection's own pool
        runs = RunSet(self._runs.field, self._runs.run_table, self._runs.order)
        if order != FILE_TIES:
            return runs.reorder(order)
        runs = runs.reorder("file")
        return RunSet(runs.field.changed(_stable_by_score, runs.field.lengths), runs.run_table, runs.order)

    def _pool(self, order: str, depth: int, contributors: Any) -> Pool:
        return depth_pool(self._in_order(order), depth=depth, contributors=contributors)

    def _judged_in(self, *pool: Any) -> Qrels:
        return self.qrels.restrict(self._pool(*pool))

    def _score(self, order: str, measure: Any, *pool: Any) -> Scores:
        return score(self._in_order(order), self._judged_in(*pool) if pool else self.qrels, measure)

    def _means(self, o: SimpleNamespace, *pool: Any) -> pd.Series:
        """Return run -> score by all judgments or those in a pool; of several measures, the mean of the scores."""
        scores = [self._score(o.order, measure, *pool) for measure in o.measure]
        return pd.Series(np.mean([each.mean_values[0] for each in scores], axis=0), index=scores[0].names)

    def _left_out(self, order: str, measure: Any, by: str, rel: int, *pool: Any) -> LeaveOutUniques:
        how = {"pool_order": None if pool[0] == order else pool[0], "depth": pool[1], "contributors": pool[2]}
        return leave_out_uniques(self._in_order(order), self.qrels, measure, by=by, rel=rel, **how)

    def _without(self, o: SimpleNamespace) -> LeaveOutUniques:
        # a published figure is of the teams that there were: a run without one must not count as one
        check_every_run_has(self._in_order(o.order).run_table, o.by)
        # uniques do not depend on the measure: any will do that counts no label as relevant of itself
        measure = getattr(o, "measure", parse_measures("nDCG@10"))[0]
        return self._left_out(o.order, measure, o.by, o.rel, *_pool_of(o))

    def judgments(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        summary = self.qrels.counts(rel=o.rel)
        judged, density = summary["judged"], summary["density"]
        return {
            "topics": len(summary),
            "judgments": len(self.qrels),
            **summary[["judged", "relevant", "unjudged", "junk"]].sum(),
            "smallest topic": judged.min(),
            "largest topic": judged.max(),
            "mean topic": judged.mean(),
            "fewest relevant": summary["relevant"].min(),
            "mean density": density.mean(),
            "largest density": density.max(),
            **_denser(density),
        }

    def prefixes(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        frame = self.qrels.to_frame()
        docnos = frame.loc[frame["label"] >= (o.rel if o.count == "relevant" else 0), "docno"]
        return {name: docnos.str.startswith(name).sum() for name in o.names}

    def field(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        runs = self._in_order(o.order)
        pooled = runs.pooled.sum() if runs.pool_is_on_record else "who was pooled is not on record"
        sizes = {"runs": len(runs), "topics": len(runs.topics), "rows": runs.field.n_rows, "pooled runs": pooled}
        sizes["teams"] = _lacking(runs.run_table, "team") or runs.run_table["team"].nunique()
        types = {name for name in o.names if re.fullmatch(".+ runs", name)} - {"pooled runs"}
        lacking = _lacking(runs.run_table, "type")
        return sizes | {name: lacking or (runs.run_table["type"] == name[:-5]).sum() for name in types}

    def scores(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        return dict(self._means(o))

    def score_statistic(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        means, runs = self._means(o), self._in_order(o.order)
        if o.by == "all":
            return {"all": means.agg(o.statistic)}
        groups = runs.run_table.set_index("name")[o.by]
        if o.by != "pooled":
            _need(runs.run_table, o.by)
            return dict(means.groupby(groups).agg(o.statistic))
        if not runs.pool_is_on_record:
            raise InputError("who was pooled is not on record")
        groups = groups.map({True: "pooled", False: "unpooled"})
        absent = {word: f"no run is {word}" for word in ("pooled", "unpooled")}
        return absent | dict(means.groupby(groups).agg(o.statistic))

    def saturation(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        values = [self._score(o.order, measure).values[0] for measure in o.measure]
        median = np.median(np.mean(values, axis=0), axis=1)
        # 9 relevant of 10 are .9, also where floating point falls short of it
        return {n: (median >= float(n) - 1e-12).sum() for n in o.names if re.fullmatch(r"\d*\.?\d+", n)}

    def pool(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        pool = self._pool(*_pool_of(o))
        sizes, judged = self._sizes(pool), self._judged_in(*_pool_of(o)).counts(rel=o.rel)
        return {
            "contributing runs": len(pool.run_table),
            "documents": sizes.sum(),
            "relevant": judged["relevant"].sum(),
            "smallest topic": sizes.min(initial=sizes.max(initial=0)),
            "largest topic": sizes.max(initial=0),
            "not judged": sizes.sum() - judged["judged"].sum(),
            "judged but not pooled": (self.qrels - pool).counts()["judged"].sum(),
            **_denser(judged["density"]),
        }

    def _sizes(self, pool: Pool) -> Any:
        """Return the sizes of a pool by topic; runs may have topics that were not judged."""
        return pool.documents.sizes[np.isin(pool.topics, self.qrels.topics)]

    def shallow_pool(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        pool, table = self._pool(*_pool_of(o)), self._in_order(o.order).run_table
        kept, means = self._judged_in(*_pool_of(o)), self._means(o, *_pool_of(o))
        means = means if o.decimals_of_scores is None else means.round(o.decimals_of_scores)
        truth = self._means(o) if o.truth is None else self.published[o.truth]
        if "type" in o.among:
            _need(table, "type")
        made = table["name"].isin(pool.run_table["name"])
        alike = table["type"].isin(table["type"][made])
        rows = {"all": made.notna(), "others": ~made, "others of the type": ~made & alike, "other types": ~alike}
        means = means[list(table["name"][rows[o.among]])]
        agreement = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
        sizes = {"documents": self._sizes(pool).sum(), "relevant": kept.counts(rel=o.rel)["relevant"].sum()}
        return {**sizes, "judged": len(kept), **agreement[list(AGREEMENT)]}

    def minimum_rank(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        pool, labels = self._pool(*_pool_of(o)), self.qrels.arrays.labels
        relevant = self.qrels.arrays.labels_of(pool.documents) >= o.rel
        rank = pool.to_frame().loc[relevant, "rank"]
        spans = {name: [int(n) for n in name.split("-")] for name in o.names if re.fullmatch(r"\d+-\d+", name)}
        counts = {name: rank.between(a, b).sum() for name, (a, b) in spans.items() if 1 <= a <= b <= o.depth}
        return {**counts, "never": (labels >= o.rel).sum() - relevant.sum()}

    def uniques(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        counts = self._without(o).unique_counts.set_index(_unit(o))[o.count]
        return {**counts, "total": counts.sum()}

    def left_out(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        return dict(self._without(o).table.set_index(_unit(o))[o.statistic])

    def worst_left_out(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        table = self._without(o).table
        drops = table["max_drop"]
        numbers = table["tau_b"].min(), drops.max(), (drops > o.ranks).sum()
        return dict(zip(("smallest tau_b", "largest drop", "large drops"), numbers, strict=True))

    def own_uniques(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        row = self._without(o).summary.iloc[0]
        return {name: row[f"own_{name}"] for name in AGREEMENT}

    def own_losses(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        rows = self._without(o).by_run
        loss, lacking = -rows["change_pct"], _lacking(rows, "type")
        types = dict.fromkeys(o.names, lacking) if lacking else dict(loss.groupby(rows["type"]).agg(o.statistic))
        return {**types, "all": loss.agg(o.statistic)}

    def own_changes(self, o: SimpleNamespace) -> Mapping[Any, Any]:
        return dict(self._without(o).by_run.groupby(_unit(o))["change"].mean())


def _pool_of(o: SimpleNamespace) -> tuple[str, int, Any]:
    own = getattr(o, "pool_order", "same")
    return (o.order if own == "same" else own, o.depth, o.contributors)


def _unit(o: SimpleNamespace) -> str:
    return "name" if o.by == "run" else str(o.by)


def _stable_by_score(block: Field) -> Field:
    scores = -np.asarray(block.scores)
    # list by list, since each of them is nearly sorted as it stands
    order = np.arange(len(scores))
    for start, stop in pairwise(block.starts.tolist()):
        order[start:stop] = start + np.argsort(scores[start:stop], kind="stable")
    return block.permute(order)


def _lacking(table: pd.DataFrame, column: str) -> str:
    names = table["name"][table[column].isna()].unique()
    without = f"{count(len(names), 'run')} without: {examples(names)}"
    return f"needs the {column} of every run: {without}" if len(names) else ""


def _need(table: pd.DataFrame, column: str) -> None:
    if lacking := _lacking(table, column):
        raise InputError(lacking)


def _denser(density: pd.Series) -> Mapping[Any, Any]:
    return {f"topics denser than 1/{k}": (density > 1 / k).sum() for k in (3, 2)}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Verification(Result):
    """Published figures beside what was computed from the user's files; made by :func:`verify`.

    All figures of a group are judged under one convention: the first under which all are equal; if there is none, the
    one under which most are, of several the closest.

    Attributes:
        collection: the title of the collection.
    """

    title: ClassVar[str] = "Verification"
    answer = ("summary", "")
    valid_for = "the runs ({runs}) and judgments ({judgments}) at hand, each figure under its own convention."
    not_covered = "numbers that nobody published."
    columns = """
    what         | Published   |        | the group of the figure
    name         | Name        |        | the run, team or statistic
    published    | Published   | number | the published number
    computed     | Computed    | number | the computed one
    equal        | Equal       |        | True or False (how many, of a group), None if it could not be computed
    known        | Known       |        | whether (how many) it is unequal as it is known to be
    difference   | Difference  | number | computed - published
    last_digit   | Last digit        | number | one step of the last published digit
    convention   | Convention  |        | the one under which it was computed
    source       | Source      |        | who published it
    note         | Note        |        | why it was not computed, or why it is known to differ
    figures      | Figures     | count  | how many figures
    unequal      | Unequal     | count  | how many are not equal
    not_computed | Not computed | count | how many could not be computed
    largest_difference | Largest difference | size | the largest, without its sign
    """
    table: Annotated[
        pd.DataFrame,
        Table("figure", "what name published computed equal known difference last_digit convention source note"),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "group of figures",
            "what figures equal unequal known not_computed largest_difference convention note",
            report="what figures equal unequal not_computed largest_difference",
        ),
    ]
    conventions: Annotated[
        pd.DataFrame, Table("group and convention that was tried", "what convention figures equal largest_difference")
    ]

    @property
    def holds(self) -> bool:
        """Return whether every figure that could be computed is equal, or differs as it is known to."""
        return not (self.table["equal"].eq(False) & ~self.table["known"]).any()

    def answers(self) -> list[str]:
        table = self.table
        unequal, lost = table[table["equal"].eq(False)], table[table["equal"].isna()]
        kinds = {"known to be": unequal["known"].sum(), "of no such name": unequal["computed"].isna().sum()}
        more = ", ".join(f"{n:,} {what}" for what, n in kinds.items() if n)
        equal = f"{table['equal'].eq(True).sum():,} of {count(len(table), 'figure')} equal"
        equal += f", {len(unequal):,} unequal" * bool(len(unequal)) + f" ({more})" * bool(more)
        equal += f", {len(lost):,} not computed" * bool(len(lost))
        lines = [f"{self.settings['collection']}: {equal}"]
        for row in unequal.itertuples(index=False):
            numbers = "" if np.isnan(row.computed) else f"; computed {row.computed:.10g}"
            note = f"; {row.note}" if row.note else ""
            lines.append(f"unequal: {row.what}, {row.name}: published {row.published:.10g}{numbers}{note}")
        return lines + [f"{count(n, 'figure')} {why}" for why, n in lost["note"].value_counts(sort=False).items()]

    def headline(self) -> str:
        return self.answers()[0]

    def _shown(self) -> pd.DataFrame:
        return self.summary[list(self.declared["summary"].reported)] if len(self.table) else self.table

    def _rest(self) -> str:
        return "rows in .summary"


def _attempt(figure: PublishedFigure, options: dict[str, Any], label: str, replay: Replay) -> tuple[pd.DataFrame, str]:
    """Return the rows of a figure under one convention, and why that could not be tried."""
    untried, computed = "", dict[Any, Any]()
    submitted = replay.submitted if figure.kind == "scores" else []
    try:
        if replay.missing and figure.kind not in ("scores", "judgments", "prefixes"):
            raise InputError(f"{count(len(replay.missing), 'run')} missing: {examples(replay.missing)}")
        computed = getattr(replay, figure.kind)(SimpleNamespace(**options, names=list(figure.values)))
    except InputError as error:
        untried = str(error)
    rows = []
    for name, value in figure.values.items():
        number = computed.get(name, np.nan)
        why = number if isinstance(number, str) else "it is not defined for these runs"
        if name not in computed:
            why = untried if name in submitted or not submitted else ""
            why = "its run file is missing" if name in submitted and name in replay.missing else why
        number = np.nan if isinstance(number, str) else float(number)
        equal: bool | None = value.agrees(number)
        instead, differs = figure.known.get(name, (value, ""))
        known = not equal and instead.agrees(number)
        note = differs if known else ""
        if np.isnan(number):
            # a figure of nothing is an error, and no gap
            equal, hint = None if why else False, did_you_mean(name, map(str, [*computed, *submitted]))
            why = why or f"nothing is named {name!r}, neither in the field nor on record.{hint}".rstrip(".")
            note = f"not computed: {why}"
        numbers = value.number, number, equal, known, number - value.number, value.unit
        rows.append((figure.what, name, *numbers, label, figure.source, note))
    columns = Verification.declared["table"].columns.split()
    return pd.DataFrame(rows, columns=columns).astype({"equal": object}), untried


def _judged(attempts: Sequence[tuple[pd.DataFrame, str]]) -> pd.DataFrame:
    """Return the attempt by which a group is judged, the first that explains most, of several the closest."""

    def worth(rows: pd.DataFrame) -> tuple[int, float]:
        off = (rows["difference"].abs() / rows["last_digit"]).max()
        return int((rows["equal"].eq(True) | rows["known"]).sum()), -float(np.nan_to_num(off, nan=np.inf))

    chosen = max((rows for rows, _ in attempts), key=worth)
    if untried := next((why for _, why in attempts if why), ""):
        # it may be equal under the convention that could not be tried
        lost = chosen["equal"].eq(False) & ~chosen["known"] & chosen["computed"].notna()
        chosen.loc[lost, ["computed", "difference"]] = np.nan
        chosen.loc[lost, "note"] = f"not computed: {untried}"
        chosen["equal"] = chosen["equal"].mask(lost, None)
    return chosen.assign(convention=chosen["convention"].where(chosen["computed"].notna(), ""))


def _by_group(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    equal = rows["equal"]
    counts = {"figures": rows["computed"].notna(), "equal": equal.eq(True), "unequal": equal.eq(False)}
    counts |= {"known": rows["known"], "not_computed": equal.isna()}
    groups = rows.assign(**counts, largest_difference=rows["difference"].abs()).groupby([*keys], sort=False)
    sums = groups[list(counts)].sum().astype("int64")
    return sums.join(groups["largest_difference"].max()).reset_index()


def verify(
    name: str | ReuseDataset,
    *,
    runs: Any = None,
    qrels: Any = None,
    figures: str | Path | None = None,
    download: bool = False,
    bad_lines: str = "error",
    other_files: str = "error",
    verbose: bool = False,
) -> Verification:
    """Compute the published figures of a collection from your files, and say which are equal.

    A figure is one published number, such as the MAP of a run. A computed number is equal to it when the two differ by
    no more than half a unit of the last published digit: .4692 stands for .46915 to .46925, either way of rounding.
    Some figures depend on a convention, such as the ranking order. The table has those to try. All figures of a group
    are judged under one of them, and the result says which.

    Args:
        name: the collection, such as ``"trec-8/adhoc"``, or its dataset.
        runs: run files, best their folder, or runs in another form (see :doc:`runs`). They have the teams, types and
            pooled flags on record. Default: the collection's own, as its dataset finds them.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`. Default: the collection's
            own.
        figures: a CSV file of figures instead of the package's.
        download: True fetches run files that are not on this machine; default False.
        bad_lines: lines that are no run line, an ``"error"`` or ``"skip"``, as in :func:`read_runs`; settings
            say how many were left out.
        other_files: files without a run line, as in :func:`read_runs`.
        verbose: show progress bars.

    Returns:
        Verification: ``.table`` has a row per figure, ``.summary`` one per group of them.

    Raises:
        InputError: the package has no figures for the collection, its judgments are not available, a folder without
            runs, an invalid file of figures.

    Example:
        >>> import pt_reuse as ptr, pathlib, tempfile
        >>> field = ptr.demo.simulate_field(seed=8)
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.csv"
        >>> _ = file.write_text('''collection,what,kind,arguments,name,value,source
        ... mine,AP,scores,measure=AP,lex1a,0.4242,nowhere
        ... ,,,,neu2a,0.1,
        ... ''')
        >>> found = verify("mine", runs=field.runs, qrels=field.qrels, figures=file)
        >>> found.headline()
        'mine: 0 of 2 figures equal, 2 unequal'
    """
    name = name.collection.name if isinstance(name, ReuseDataset) else name
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a collection must be a text such as 'trec-8/adhoc', got {name!r}.")
    name, reading = real_name(name), Reading(bad_lines=bad_lines, other_files=other_files, verbose=verbose)
    flag("download", download)
    published = read_published(FIGURES if figures is None else figures)
    groups = next((of for each, of in published.items() if real_name(each) == name), None)
    if groups is None:
        there = f"no published figures of {name!r}; there are those of {examples(published, 20)}."
        raise InputError(f"{there} Give your own with figures='FILE.csv'.", argument="figures")
    collection: Collection | None = None
    try:
        collection = find_collection(name)
    except UnknownCollectionError:
        # figures of one's own need no collection
        if figures is None or runs is None or qrels is None:
            raise
    # before any file is read: all that could be wrong with the figures
    scored = {
        figure.what: pd.Series({run: value.number for run, value in figure.values.items()})
        for figure in groups
        if figure.kind == "scores"
    }
    ways = []
    for figure in groups:
        with located(figure.place):
            ways.append(list(_ways(figure, list(scored))))
    field_of_runs: RunSet | str
    submitted: list[str] = []
    if collection is None:
        field_of_runs, judgments = as_runs(runs), as_qrels(qrels)
    else:
        # before judgments are looked for, maybe by way of the network
        plan = plan_runs(collection, {}, reading, types=None, runs=runs, missing="ignore", download=download)
        judgments, submitted = judgments_of(collection) if qrels is None else as_qrels(qrels), plan.names or []
        try:
            field_of_runs = plan.get()
        except InputError as error:
            # a file that cannot be read is an error; none at all leaves the judgments to be checked
            if runs is not None or download or plan.names is None or find_run_files(collection, submitted):
                raise
            field_of_runs = f"no runs: {error}"
    settings = {"collection": name if collection is None else collection.title, "judgments": f"{len(judgments):,}"}
    replay = Replay(field_of_runs, judgments, scored, submitted)
    if isinstance(field_of_runs, str):
        settings["runs"] = "none"
    else:
        check_topics(field_of_runs, judgments)
        settings["runs"] = f"{len(field_of_runs):,} of {len(field_of_runs) + len(replay.missing):,}"
        settings |= {"dropped": field_of_runs.left_out} if field_of_runs.left_out else {}
    attempts = []
    # a published figure is equal or not, whatever it means
    with told_elsewhere():
        bar = pt.tqdm(zip(groups, ways, strict=True), total=len(groups), desc="verifying", disable=not verbose)
        for figure, conventions in bar:
            attempts.append([_attempt(figure, options, label, replay) for options, label in conventions])
    table = pd.concat([_judged(group) for group in attempts], ignore_index=True)
    tried = pd.concat([rows for group in attempts for rows, _ in group], ignore_index=True)
    of_group = table.groupby("what", sort=False)
    notes = of_group.agg(
        convention=("convention", "max"), note=("note", lambda texts: "; ".join(filter(None, texts.unique())))
    )
    summary = _by_group(table, "what").assign(figures=of_group.size().to_numpy()).merge(notes, on="what")
    declared = {name: part.columns.split() for name, part in Verification.declared.items()}
    return Verification(
        table=table,
        summary=summary[declared["summary"]],
        conventions=_by_group(tried, "what", "convention")[declared["conventions"]],
        settings=settings,
    )
