"""Published figures: their kinds, and the files that hold them."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples, told
from pt_reuse._choices import ORDERS
from pt_reuse._errors import Argument, InputError, Option, located
from pt_reuse._files import open_file, user_path
from pt_reuse.arrays.correlation import correlations
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.studies.uniques import LeaveOutUniques
from pt_reuse.verification.replay import (
    COMPLETE,
    CONTRIBUTORS,
    FILE_TIES,
    GRADE,
    TRUTH,
    CheckName,
    Computed,
    Given,
    NotComputedError,
    Parameter,
    PoolKey,
    Reason,
    Replay,
    any_name,
    because,
    by_name,
    counts_of_runs,
    finite_numbers,
    first_and_last,
    listed,
    measures,
    one_of,
    ranks,
    type_of,
    whole_number,
)


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


_NO_RECORD = because("who was pooled is not on record")


def count_runs(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count runs, teams, topics and rows of run files, and the runs of each type."""
    runs = replay.runs(given["order"])
    numbers = {"runs": len(runs), "topics": len(runs.topics), "rows": runs.field.n_rows}
    reasons: dict[str, Reason] = {}
    if no_team := lacking(runs.run_table, "team"):
        reasons["teams"] = no_team
    else:
        numbers["teams"] = len(runs.teams)
    if runs.pool_is_on_record:
        numbers["pooled runs"] = int(runs.pooled.sum())
    else:
        reasons["pooled runs"] = _NO_RECORD
    of_types = [name for name in names if name not in numbers and name not in reasons]
    types = runs.run_table["type"].value_counts()
    if no_type := lacking(runs.run_table, "type"):
        reasons.update(dict.fromkeys(of_types, no_type))
    else:
        numbers.update({name: int(types.get(type_of(name), 0)) for name in of_types})
    return Computed(numbers, reasons)


def score_runs(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Score each run; of several measures, take the mean of the scores."""
    return Computed(by_name(replay.means(given["order"], given["measure"], given["complete"])))


def summarise_scores(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the largest, smallest, mean or median score of the runs of each type or team, or pooled and unpooled."""
    means = replay.means(given["order"], given["measure"], given["complete"])
    runs = replay.runs(given["order"])
    table = runs.run_table.set_index("name")
    reasons: dict[str, Reason] = {}
    if given["by"] == "all":
        group = pd.Series("all", index=means.index)
    elif given["by"] == "pooled":
        if not runs.pool_is_on_record:
            raise NotComputedError(_NO_RECORD)
        group = table["pooled"].map({True: "pooled", False: "unpooled"})
        reasons = {name: because(f"no run is {name}") for name in ("pooled", "unpooled") if name not in set(group)}
    else:
        if none := lacking(runs.run_table, given["by"]):
            raise NotComputedError(none)
        group = table[given["by"]]
    return Computed(by_name(means.groupby(group).agg(given["statistic"])), reasons)


def count_saturated(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the topics on which the median run scores at least each value that is given as a name."""
    scores = [replay.scores(given["order"], measure).values[0] for measure in given["measure"]]
    median = np.median(np.mean(scores, axis=0), axis=1)
    # 9 relevant of 10 are .9, also where floating point falls short of it
    return Computed({name: int((median >= float(name) - 1e-12).sum()) for name in names})


def lacking(table: pd.DataFrame, column: str) -> Reason | None:
    """Return that some runs of a table have no team or no type, None where all have."""
    names = table["name"][table[column].isna()].unique()
    if not len(names):
        return None
    return because(f"needs the {column} of every run: {count(len(names), 'run')} without: {examples(names)}")


#: how a ranking of runs compares with another, as in :func:`pt_reuse.arrays.correlation.correlations`
AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
#: the order of the pool where it is that of scoring
SAME = "same"


def pool_of(given: Given) -> PoolKey:
    """Return which pool the parameters of a figure name."""
    order = given["order"] if given.get("pool_order", SAME) == SAME else given["pool_order"]
    return PoolKey(order, given["depth"], given["contributors"])


def count_pool(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents of a depth-k pool, and those by which it differs from the judged ones."""
    pool, judged = replay.pool(pool_of(given)), replay.judged_in(pool_of(given)).counts(rel=given["rel"])
    # runs may have topics that were not judged
    sizes = pool.documents.sizes[np.isin(pool.topics, replay.qrels.topics)]
    missed = replay.judged_in(pool_of(given), outside=True).counts()
    return Computed(
        {
            "contributing runs": len(pool.run_table),
            "documents": int(sizes.sum()),
            "relevant": int(judged["relevant"].sum()),
            "smallest topic": int(sizes.min(initial=sizes.max(initial=0))),
            "largest topic": int(sizes.max(initial=0)),
            "not judged": int(sizes.sum()) - int(judged["judged"].sum()),
            "judged but not pooled": int(missed["judged"].sum()),
            "topics denser than 1/3": int((judged["density"] > 1 / 3).sum()),
            "topics denser than 1/2": int((judged["density"] > 1 / 2).sum()),
        }
    )


def compare_shallow(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Keep the judgments of another pool and rank the runs by them."""
    key = pool_of(given)
    pool, kept = replay.pool(key), replay.judged_in(key)
    means = replay.means(given["order"], given["measure"], given["complete"], within=key)
    if given["decimals_of_scores"] is not None:
        means = means.round(given["decimals_of_scores"])
    if given["truth"] is None:
        truth = replay.means(given["order"], given["measure"], given["complete"])
    else:
        truth = replay.published(given["truth"])
    if given["among"] != "all":
        means = means[_compared(replay, given)]
    found = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return Computed(
        {
            "documents": int(pool.documents.sizes[np.isin(pool.topics, replay.qrels.topics)].sum()),
            "judged": len(kept),
            "relevant": int(kept.counts(rel=given["rel"])["relevant"].sum()),
            **{name: float(found[name]) for name in AGREEMENT},
        }
    )


def count_by_best_rank(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the relevant documents by the best rank at which a contributing run has them: ``"1-10"``, ``"never"``."""
    pool, labels = replay.pool(pool_of(given)), replay.qrels.arrays.labels
    rows = replay.rows_in(pool_of(given))
    relevant = (rows >= 0) & (np.append(labels, np.int16(-1))[rows] >= given["rel"])
    rank = pool.to_frame().loc[relevant, "rank"]
    found = {name: int(rank.between(*first_and_last(name)).sum()) for name in names if name != "never"}
    return Computed({**found, "never": int((labels >= given["rel"]).sum() - relevant.sum())})


def _compared(replay: Replay, given: Given) -> list[str]:
    """Return the runs that did not make the pool: all of them, or those of its runs' types or of other types."""
    table = replay.runs(given["order"]).run_table
    if given["among"] != "others" and (none := lacking(table, "type")):
        raise NotComputedError(none)
    made = table["name"].isin(replay.pool(pool_of(given)).run_table["name"])
    alike = table["type"].isin(table["type"][made])
    chosen = {"others": ~made, "others of the type": ~made & alike, "other types": ~alike}[given["among"]]
    return table["name"][chosen].tolist()


def count_uniques(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents that each team, run or type alone put into the pool; ``total`` adds them up."""
    found = _left_out(replay, given).unique_counts
    counts = found.set_index(_unit(given))[given["count"]]
    return Computed({**by_name(counts), "total": int(counts.sum())})


def leave_out(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Leave one team, run or type out and rank all runs again."""
    table = _left_out(replay, given).table
    return Computed(by_name(table.set_index(_unit(given))[given["statistic"]]))


def compare_without_own(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Rank runs by their scores without the uniques of their own team, run or type."""
    row = _left_out(replay, given).summary.iloc[0]
    return Computed({name: float(row[f"own_{name}"]) for name in AGREEMENT})


def take_worst(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the smallest tau_b and the largest drop over all that are left out, and count the drops of many ranks."""
    table = _left_out(replay, given).table
    return Computed(
        {
            "smallest tau_b": float(table["tau_b"].min()),
            "largest drop": int(table["max_drop"].max()),
            "large drops": int((table["max_drop"] > given["ranks"]).sum()),
        }
    )


def take_losses(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the mean or largest loss of score in per cent, by type, without the uniques of the run's own unit."""
    rows = _left_out(replay, given).by_run
    loss, statistic = -rows["change_pct"], given["statistic"]
    every = {"all": float(loss.agg(statistic))}
    if none := lacking(rows, "type"):
        return Computed(every, {name: none for name in names if name != "all"})
    return Computed({**by_name(loss.groupby(rows["type"]).agg(statistic)), **every})


def take_changes(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the mean change of the scores of each team's, type's or single run without its own uniques."""
    rows = _left_out(replay, given).by_run
    return Computed(by_name(rows.groupby(_unit(given))["change"].mean()))


def _left_out(replay: Replay, given: Given) -> LeaveOutUniques:
    # uniques do not depend on the measure: any will do that counts no label as relevant of itself
    measure = given["measure"][0] if "measure" in given else parse_measures("nDCG@10")[0]
    return replay.left_out(pool_of(given), measure, given)


def _unit(given: Given) -> str:
    return "name" if given["by"] == "run" else given["by"]


class Needs(Enum):
    """What must be here for a figure to be computed."""

    JUDGMENTS = "the judgments"
    #: each value concerns one run
    RUNS = "the runs that are here"
    ALL_RUNS = "all runs"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How figures of one kind are computed.

    Attributes:
        compute: returns what it knows of the names, from a replay, the parameters, and the names asked.
        parameters: those that a figure may have, by name.
        check_name: raises where no value can have a name.
        needs: what must be here.
        counts: the names, or statistics, that are counts, None where all numbers are; other numbers have decimals.
    """

    compute: Callable[[Replay, Given, list[str]], Computed]
    parameters: Mapping[str, Parameter]
    check_name: CheckName = any_name
    needs: Needs = Needs.ALL_RUNS
    counts: tuple[str, ...] | None = ()

    def is_count(self, name: str, given: Given) -> bool:
        """Return whether the value of a name is a count."""
        return self.counts is None or name in self.counts or given.get("statistic") in self.counts


_ORDER = one_of(*ORDERS, FILE_TIES)
_POOL: dict[str, Parameter] = {
    "order": _ORDER,
    "depth": whole_number("documents", 100),
    "contributors": CONTRIBUTORS,
}
_UNIQUES: dict[str, Parameter] = {
    **_POOL,
    # the order of the pool is that of scoring, but where the two differ
    "pool_order": one_of(SAME, *ORDERS),
    "rel": GRADE,
    "by": one_of("team", "run", "type", says_what=True),
    "remove": one_of("relevant", "judged"),
    "complete": COMPLETE,
}
_UNIQUES_BY_ONE: dict[str, Parameter] = {**_UNIQUES, "measure": measures(alone=True)}
_SCORES: dict[str, Parameter] = {"order": _ORDER, "measure": measures(), "complete": COMPLETE}
_COUNTS_OF_JUDGMENTS = (
    "topics", "judgments", "judged", "relevant", "unjudged", "junk", "smallest topic", "largest topic",
    "fewest relevant", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip
_COUNTS_OF_A_POOL = (
    "contributing runs", "documents", "relevant", "smallest topic", "largest topic", "not judged",
    "judged but not pooled", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip

#: every kind that a data file can name
KINDS: dict[str, Kind] = {
    "judgments": Kind(
        compute=count_judgments,
        parameters={"rel": GRADE},
        check_name=listed(*_COUNTS_OF_JUDGMENTS, "mean topic", "mean density", "largest density"),
        needs=Needs.JUDGMENTS,
        counts=_COUNTS_OF_JUDGMENTS,
    ),
    "prefixes": Kind(
        compute=count_prefixes,
        parameters={"count": one_of("judged", "relevant", says_what=True), "rel": GRADE},
        needs=Needs.JUDGMENTS,
        counts=None,
    ),
    "field": Kind(compute=count_runs, parameters={"order": _ORDER}, check_name=counts_of_runs, counts=None),
    "pool": Kind(
        compute=count_pool, parameters={**_POOL, "rel": GRADE}, check_name=listed(*_COUNTS_OF_A_POOL), counts=None
    ),
    "scores": Kind(compute=score_runs, parameters=_SCORES, needs=Needs.RUNS),
    "score_statistic": Kind(
        compute=summarise_scores,
        parameters={
            **_SCORES,
            "by": one_of("type", "team", "pooled", "all", says_what=True),
            "statistic": one_of("max", "mean", "median", "min", says_what=True),
        },
    ),
    "saturation": Kind(
        compute=count_saturated,
        parameters={"order": _ORDER, "measure": measures()},
        check_name=finite_numbers,
        counts=None,
    ),
    "uniques": Kind(
        compute=count_uniques,
        parameters={**_UNIQUES, "count": one_of("unique_relevant", "unique", "unique_nonrelevant", says_what=True)},
        counts=None,
    ),
    "left_out": Kind(
        compute=leave_out,
        parameters={**_UNIQUES_BY_ONE, "statistic": one_of(*AGREEMENT, "removed", says_what=True)},
        counts=("max_drop", "removed"),
    ),
    "worst_left_out": Kind(
        compute=take_worst,
        parameters={**_UNIQUES_BY_ONE, "ranks": whole_number("ranks", 10)},
        check_name=listed("smallest tau_b", "largest drop", "large drops"),
        counts=("largest drop", "large drops"),
    ),
    "own_uniques": Kind(
        compute=compare_without_own,
        parameters=_UNIQUES_BY_ONE,
        check_name=listed(*AGREEMENT),
        counts=("max_drop",),
    ),
    "own_losses": Kind(
        compute=take_losses,
        parameters={**_UNIQUES_BY_ONE, "statistic": one_of("mean", "max", says_what=True)},
    ),
    "own_changes": Kind(compute=take_changes, parameters=_UNIQUES_BY_ONE),
    "shallow_pool": Kind(
        compute=compare_shallow,
        parameters={
            **_POOL,
            **_SCORES,
            "pool_order": one_of(SAME, *ORDERS, FILE_TIES),
            "rel": GRADE,
            "among": one_of("all", "others", "others of the type", "other types"),
            "truth": TRUTH,
            "decimals_of_scores": whole_number("decimals"),
        },
        check_name=listed("documents", "judged", "relevant", *AGREEMENT),
        counts=("documents", "judged", "relevant", "max_drop"),
    ),
    "minimum_rank": Kind(
        compute=count_by_best_rank,
        parameters={**_POOL, "contributors": one_of("all", "pooled"), "rel": GRADE},
        check_name=ranks,
        counts=None,
    ),
}


#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_FILE_KEYS = ("collection", "title", "figure")
_FIGURE_KEYS = (
    "what", "kind", "source", "values", "file", "column", "decimals", "places", "conventions", "differs", "computed",
)  # fmt: skip


class Rounding(Enum):
    """How a number was rounded before it was published: to the nearest, or by cutting off further digits."""

    HALF = "half"
    TRUNCATE = "truncate"


@dataclass(frozen=True)
class PublishedValue:
    """A number as it was published: it stands for all numbers that round to it.

    Attributes:
        number: the value.
        unit: what one step of its last published digit is worth.
        declared: whether `decimals` or `places` gave the unit, and not the digits that are written.
    """

    number: float
    unit: float
    declared: bool = False

    def agrees(self, computed: float, rounding: Rounding = Rounding.HALF) -> bool:
        """Return whether a computed number is published as this one.

        Rounded to the nearest, it may be off by half a unit of the last published digit, on either side: a number that
        lies between two is right however it was rounded. One part in a hundred thousand of a unit is granted to
        floating point, and four steps between doubles.
        """
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        off = computed - self.number
        if rounding is Rounding.TRUNCATE:
            # away from 0, and from 0 itself either way
            outwards = abs(off) if self.number == 0 else off * np.sign(self.number)
            return bool(-slack <= outwards <= self.unit + slack)
        return bool(abs(off) <= self.unit / 2 + slack)


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """Published values of one kind, from one source.

    Attributes:
        what: what they are, unique in the file; the group in a verification's summary.
        kind: how they are computed, one of those in :mod:`pt_reuse.verification.published`.
        values: name (a run, a team, a statistic) -> value.
        parameters: what the kind needs to know: measure, depth, ...
        conventions: parameters to lay over the others, one set after the other, until all values agree.
        source: where they were published, in words.
        differs: why some are known not to agree; empty where all should.
        computed: name -> what is known to be computed in place of the published value.
        place: file and figure, for errors.
    """

    what: str
    kind: str
    values: Mapping[str, PublishedValue]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    conventions: tuple[Mapping[str, Any], ...] = ({},)
    source: str
    differs: str = ""
    computed: Mapping[str, PublishedValue] = field(default_factory=dict)
    place: str = ""


@dataclass(frozen=True)
class PublishedFigures:
    """All published figures of a collection; see :func:`read_published`."""

    collection: str
    title: str
    figures: tuple[PublishedFigure, ...]


def published_names() -> list[str]:
    """Return the collections of which the package has published figures.

    Example:
        >>> "trec-8/adhoc" in published_names()
        True
    """
    return [_parse_toml(path)["collection"] for path in sorted(_folder().glob("*.toml"))]


def published_figures(name: str) -> PublishedFigures:
    """Return the published figures of a collection of the package.

    Raises:
        InputError: nothing is published here for a collection of that name.
    """
    path = _folder() / f"{name.replace('/', '-')}.toml"
    known = published_names()
    if name not in known or not path.is_file():
        raise InputError(
            f"no published figures of {name!r}; there are those of {examples(known, 20)}. Give your own with ",
            Option("figures", "FILE.toml"),
            ".",
        )
    return read_published(path)


def read_published(path: str | Path) -> PublishedFigures:
    """Read a file of published figures.

    Raises:
        InputError: naming the file, the figure and what to do.
    """
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(
            Argument("figures"), f" must be the path of a TOML file, got {told(path)}.", argument="figures"
        )
    path = user_path(path)
    content = _parse_toml(path)
    with located(str(path)):
        odd = [key for key in content if key not in _FILE_KEYS]
        if odd:
            raise InputError(f"the file has {examples(odd)}, not among {examples(_FILE_KEYS)}.")
        for key in ("collection", "title"):
            if not isinstance(content.get(key), str) or not content[key]:
                raise InputError(f'the file needs {key} = "...", got {content.get(key)!r}.')
        entries = content.get("figure")
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            raise InputError("there is no figure in it. Write one or several [[figure]].")
        figures = tuple(_figure(path, number, entry) for number, entry in enumerate(entries, start=1))
        names = [figure.what for figure in figures]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"two figures are named {examples(twice)}. Give each its own `what`.")
    return PublishedFigures(content["collection"], content["title"], figures)


def _folder() -> Path:
    return Path(str(files("pt_reuse.verification") / "data"))


def _parse_toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open_file(path) as file:
            return tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}.", place=str(path)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the file cannot be read as TOML: {error}.", place=str(path)) from error


def _figure(path: Path, number: int, entry: dict[str, Any]) -> PublishedFigure:
    what = entry.get("what")
    if not isinstance(what, str) or not what:
        raise InputError(f'the figure needs what = "...", got {what!r}.', place=f"figure {number}")
    place = f"figure {what!r}"
    with located(place):
        for key, needed in (("kind", True), ("source", True), ("differs", False)):
            if not isinstance(entry.get(key, "" if not needed else None), str) or (needed and not entry[key]):
                raise InputError(f"{key} must be a text, got {entry.get(key)!r}.")
        digits = _digits(entry)
        values = _values(entry, path.parent, digits)
        return PublishedFigure(
            what=what,
            kind=entry["kind"],
            source=entry["source"],
            differs=entry.get("differs", ""),
            values=values,
            computed=_known(entry, values, digits),
            place=f"{path}, {place}",
            parameters={key: value for key, value in entry.items() if key not in _FIGURE_KEYS},
            conventions=_conventions(entry.get("conventions", [{}])),
        )


@dataclass(frozen=True)
class _Digits:
    """How many digits values have behind the point, or significant ones, where the file says so."""

    decimals: int | None
    places: int | None

    @property
    def declared(self) -> bool:
        return self.decimals is not None or self.places is not None

    def __str__(self) -> str:
        return f"decimals = {self.decimals}" if self.decimals is not None else f"places = {self.places}"


def _digits(entry: dict[str, Any]) -> _Digits:
    given = {key: entry[key] for key in ("decimals", "places") if key in entry}
    if len(given) == 2 or any(type(n) is not int or n < 0 for n in given.values()) or given.get("places") == 0:
        raise InputError(f"give decimals = 4 or places = 6 (significant digits), got {given}.")
    return _Digits(given.get("decimals"), given.get("places"))


def _values(entry: dict[str, Any], folder: Path, digits: _Digits) -> dict[str, PublishedValue]:
    if ("values" in entry) == ("file" in entry):
        raise InputError('give either values = { name = "0.1234" } or file and column.')
    if "values" in entry:
        return _table(entry["values"], "values", digits)
    file, column = entry["file"], entry.get("column")
    if not isinstance(file, str) or Path(file).name != file or not isinstance(column, str):
        raise InputError("file must be the name of a CSV beside the TOML file, with its column.")
    with located(str(folder / file)):
        return _column(folder / file, column, digits)


def _table(given: Any, what: str, digits: _Digits) -> dict[str, PublishedValue]:
    if not isinstance(given, dict) or not given:
        raise InputError(f"{what} must be a table of names and values, got {given!r}.")
    found = {}
    for name, value in given.items():
        with located(repr(name)):
            found[name] = _value(value, digits)
    return found


def _known(entry: dict[str, Any], values: Mapping[str, PublishedValue], digits: _Digits) -> dict[str, PublishedValue]:
    """Return name -> the number that is known to be computed in place of the published one."""
    if not entry.get("differs") and "computed" not in entry:
        return {}
    name = next(iter(values))
    if not entry.get("differs") or "computed" not in entry:
        raise InputError(
            f"a known difference needs both differs, why it is, and computed, the number that is known to come out in "
            f"place of the published one: computed = {{ {name} = 1_130 }}."
        )
    known = _table(entry["computed"], "computed", digits)
    for name, value in known.items():
        if name not in values:
            raise InputError(f"computed has {name!r}, which is not among the values {examples(values)}.")
        if values[name].agrees(value.number):
            raise InputError(f"{value.number:.10g} is equal to what was published: no difference.", place=repr(name))
    return known


def _conventions(given: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise InputError(f'conventions must be a list such as [{{ order = "trec_eval" }}], got {given!r}.')
    return tuple(given)


def _value(given: Any, digits: _Digits) -> PublishedValue:
    if type(given) is float and not digits.declared:
        raise InputError(f'{given!r} does not tell its digits. Write it as text, "0.1230", or give decimals.')
    text = repr(given) if type(given) in (int, float) else given
    if not isinstance(text, str):
        raise InputError(f'a value must be a number as text, such as "0.1234", got {given!r}.')
    text = text.strip()
    comma = " Write a decimal point, not a comma." if "," in text else ""
    if type(given) is not float and (not _NUMBER.fullmatch(text) or not re.search(r"\d", text)):
        raise InputError(f'a value must be a number such as "0.1234" or 86830, got {given!r}.{comma}')
    number = Decimal(text.replace(",", ""))
    if not number.is_finite():
        raise InputError(f"a value must be a finite number, got {given!r}.")
    exponent = int(number.as_tuple().exponent) if digits.decimals is None else -digits.decimals
    if digits.places is not None:
        exponent = number.adjusted() - digits.places + 1
    if number and int(number.normalize().as_tuple().exponent) < exponent:
        raise InputError(f"{given!r} has more digits than {digits} says.")
    return PublishedValue(float(number), float(Decimal(10) ** exponent), digits.declared)


def _column(path: Path, column: str, digits: _Digits) -> dict[str, PublishedValue]:
    """Return the values of a column of a CSV file, by the column ``name``."""
    try:
        with open_file(path) as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    rows = csv.DictReader(io.StringIO(text))
    try:
        header, lines = list(rows.fieldnames or []), [(rows.line_num, row) for row in rows]
    except csv.Error as error:
        raise InputError(f"the file is no CSV ({error}). Mend it.") from error
    lacking = [needed for needed in ("name", column) if needed not in header]
    if lacking:
        raise InputError(f"the table has no column {examples(lacking)}; it has {examples(header, 12)}.")
    found: dict[str, PublishedValue] = {}
    for line, row in lines:
        with located(f"line {line}"):
            over: Any = row.pop(None, [])
            if not row["name"] or row[column] is None:
                raise InputError(f"a row needs a name and a value of {column!r}, got {list(row.values())!r}.")
            if over:
                raise InputError(
                    f"the row has {examples(over)} beyond the {len(header)} columns of the header. Numbers have a "
                    f"decimal point, not a comma."
                )
            if row["name"] in found:
                raise InputError(f"{row['name']!r} stands there twice.")
            with located(f"{row['name']!r}, column {column!r}"):
                found[row["name"]] = _value(row[column], digits)
    if not found:
        raise InputError("the table has a header and no values.")
    return found
