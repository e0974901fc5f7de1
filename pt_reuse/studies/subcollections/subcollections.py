"""subcollections: whether the same systems differ significantly on parts of the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays import pairs as rank_pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import RANDOM, SHARES, PairTests, agreement_of_tests, check_test, pair_tests, winners
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, count, examples, flag, located, positive
from pt_reuse.inputs import Inputs, graded, interval_settings, read_judgments, settings_of
from pt_reuse.options import CORRECTION, SAMPLES, TESTS
from pt_reuse.plots.marks import STROKES, draw_cells, shading
from pt_reuse.plots.sheet import Axes, Place, Sheet, Style, look, plain
from pt_reuse.result import Result, Told, only, records
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.measures import MeasureLike, adds_up, measure_among
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.scoring.scores import of_all_topics, provided_measures
from pt_reuse.studies.subcollections.sources import (
    Corpus,
    Drawing,
    Part,
    RestrictedRuns,
    Systems,
    checked_drawing,
    compared,
    source_rule,
)
from pt_reuse.study import study

#: what pairs of parts have in common over which means are taken
SETTING = ("source", "share", "size", "other_size")
#: what is averaged over pairs of parts
_AVERAGED = (*SHARES, "tau_b")
_WITH_INTERVALS = {"agree": (0.0, 1.0), "tau_b": (-1.0, 1.0)}


@dataclass(frozen=True)
class Testing:
    """How differences are tested; without a bootstrap over topics there are no intervals."""

    test: str
    alpha: float
    correction: str
    samples: int
    seed: int
    bootstrap: TopicBootstrap | None

    def pairs(self, values: NDArray[np.float64]) -> PairTests:
        """Return the tests of all pairs of systems with these (topics, systems) scores."""
        return pair_tests(values, self.test, samples=self.samples, seed=self.seed)

    def winners(self, tests: PairTests) -> NDArray[np.int8]:
        """Return (pairs,) who is significantly better: 1 the first system, -1 the second, 0 neither."""
        return winners(tests, self.alpha, self.correction)


@dataclass(frozen=True)
class ScoredPart:
    """What systems score on a part."""

    counts: NDArray[np.bool_]  # (topics,) whether a topic counts
    means: NDArray[np.float64]  # (measures, systems) over the topics that count
    tests: list[PairTests]  # of all pairs of systems, for each measure
    # for each measure (resamples, pairs) who is better, and (resamples, systems) means, in each resample of topics
    drawn: list[tuple[NDArray[np.int8], NDArray[np.float64]]]
    judged: int  # how many judgments the part has
    retrieved: float  # documents in a list of a run, on average
    emptied: int  # lists of a run and a topic without a document


@dataclass(frozen=True)
class PartTask:
    """A part to be scored: its documents, their judgments, and whether each topic counts."""

    name: str
    systems: RestrictedRuns | Systems[Any]
    docnos: Sequence[str]
    qrels: Qrels
    counts: NDArray[np.bool_]
    measures: Sequence[ir_measures.Measure]
    testing: Testing

    def run(self) -> ScoredPart:
        """Have the systems on the part, score them, and test all pairs."""
        topics, testing = self.qrels.topics, self.testing
        with located(f"part {self.name!r}"):
            runs = self.systems.on_part(self.docnos).select(self.systems.names)
            values = base_scores(runs, self.qrels, self.measures)
        every = None if self.counts.all() else np.repeat(self.counts[:, None], len(runs), axis=1)
        at = [runs.field.topic_row.get(topic, -1) for topic in topics]
        lengths = np.vstack([runs.field.lengths, np.zeros((1, len(runs)), dtype=np.int64)])[at][self.counts]
        drawn = []
        if testing.bootstrap is not None:
            resamples = testing.bootstrap.counts(len(topics))
            for scores, added in zip(values, adds_up(self.measures).tolist(), strict=True):
                samples = (np.repeat(scores, np.where(self.counts, times, 0), axis=0) for times in resamples)
                better = np.stack([testing.winners(testing.pairs(sample)) for sample in samples])
                drawn.append((better, TopicScores(scores, every, added).means(resamples)))
        return ScoredPart(
            counts=self.counts,
            means=of_all_topics(values, self.measures, every),
            tests=[testing.pairs(scores[self.counts]) for scores in values],
            drawn=drawn,
            judged=len(self.qrels),
            retrieved=float(lengths.mean()),
            emptied=int((lengths == 0).sum()),
        )


@dataclass(frozen=True)
class ScoredParts:
    """All parts, what systems score on each, and the tables of these."""

    parts: list[Part]
    scored: list[ScoredPart]
    measures: list[str]
    testing: Testing

    def by_pair(self, drawing: Drawing) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """Return a row per pair of parts and measure, and (rows, numbers, resamples) of their resamples of topics."""
        rows, drawn = [], []
        for i, j in compared(self.parts):
            first, second = self.parts[i], self.parts[j]
            key = {"part": first.name, "other_part": second.name, "draw": first.draw, **drawing.setting(first, second)}
            for m, measure in enumerate(self.measures):
                numbers, resampled = self._compared((i, m), (j, m))
                rows.append({**key, "measure": measure, **numbers})
                drawn.append(resampled)
        return pd.DataFrame(rows).astype({"share": float, "size": "Int64", "other_size": "Int64"}), np.array(drawn)

    def between_measures(self) -> pd.DataFrame:
        """Return a row per part and pair of measures."""
        rows = [
            {"part": part.name, "draw": part.draw, "measure": self.measures[m], "other_measure": self.measures[k]}
            | self._compared((i, m), (i, k))[0]
            for i, part in enumerate(self.parts)
            for m, k in combinations(range(len(self.measures)), 2)
        ]
        return pd.DataFrame(rows, columns=["part", "draw", "measure", "other_measure", *_AVERAGED])

    def by_part(self, by_pair: pd.DataFrame) -> pd.DataFrame:
        """Return a row per part and measure: how many pairs of systems differ significantly, how others agree."""
        ends = pd.concat([by_pair.assign(part=by_pair[name]) for name in ("part", "other_part")])
        agreed = dict(iter(ends.groupby(["part", "draw", "measure"], sort=False)))
        rows = []
        for part, scored in zip(self.parts, self.scored, strict=True):
            for measure, tests, means in zip(self.measures, scored.tests, scored.means, strict=True):
                differs, others = self.testing.winners(tests) != 0, agreed[part.name, part.draw, measure]
                row = {"part": part.name, "draw": part.draw, "measure": measure, "pairs": len(differs)}
                row |= {"significant": int(differs.sum()), "significant_share": differs.mean()}
                row |= {"least": means.min(), "most": means.max(), "agree": others["agree"].mean()}
                row["agree_se"] = standard_error(others["agree"].to_numpy(), others["draw"].to_numpy())
                rows.append({**row, "tau_b": others["tau_b"].mean()})
        return pd.DataFrame(rows)

    def table(self, added: int) -> pd.DataFrame:
        """Return a row per part: what it is, and what is left of judgments and runs on it."""
        rows = [
            {
                "part": part.name,
                "draw": part.draw,
                "source": part.source,
                "share": part.share,
                "drawn": len(part.documents),
                "documents": len(part.documents) + added,
                "judged": scored.judged,
                "topics": int(scored.counts.sum()),
                "per_list": scored.retrieved,
                "empty_lists": scored.emptied,
            }
            for part, scored in zip(self.parts, self.scored, strict=True)
        ]
        return pd.DataFrame(rows).astype({"share": float})

    def _compared(self, one: tuple[int, int], other: tuple[int, int]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Return the numbers of two (part, measure), and (numbers, resamples) of those with intervals."""
        (i, m), (j, k), testing = one, other, self.testing
        a, b = self.scored[i], self.scored[j]
        numbers = agreement_of_tests(a.tests[m], b.tests[k], testing.alpha, testing.correction).row()
        numbers["tau_b"] = _tau(a.means[m], b.means[k])
        if testing.bootstrap is None:
            return numbers, np.empty((len(_WITH_INTERVALS), 0))
        (better, means), (others_better, others_means) = a.drawn[m], b.drawn[k]
        # agree-SS_a of winners in each resample
        alike = 2 * ((better == others_better) & (better != 0)).sum(axis=1)
        agree = _ratio(alike, (better != 0).sum(axis=1) + (others_better != 0).sum(axis=1))
        taus = [_tau(x, y) for x, y in zip(means, others_means, strict=True)]
        resampled = np.stack([agree, np.array(taus)])
        for (name, within), values in zip(_WITH_INTERVALS.items(), resampled, strict=True):
            ends = testing.bootstrap.interval(numbers[name], values, within=within)
            numbers[f"{name}_low"], numbers[f"{name}_high"] = ends
        return numbers, resampled


def _tau(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return tau_b of two (systems,) means; NaN where one side ties all."""
    rounded = np.round(one, DECIMALS), np.round(other, DECIMALS)[None]
    return float(rank_pairs.coefficients(*rounded, ("tau_b",))["tau_b"][0])


def _ratio(parts: NDArray[Any], wholes: NDArray[Any]) -> NDArray[np.float64]:
    return np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes > 0)


def averaged(
    rows: pd.DataFrame,
    keys: Sequence[str],
    counted: str,
    drawn: NDArray[np.float64] | None = None,
    bootstrap: TopicBootstrap | None = None,
) -> pd.DataFrame:
    """Return means over rows with the same keys, how many these are under the name `counted`, and standard errors.

    With (rows, numbers, resamples) of the numbers that have intervals, there are intervals over topics.
    """
    means = []
    for key, alike in rows.groupby(list(keys), sort=False, dropna=False):
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        row |= {counted: len(alike), "draws": alike["draw"].nunique()}
        for name in _AVERAGED:
            row[name] = alike[name].mean()
            row[f"{name}_se"] = standard_error(alike[name].to_numpy(dtype=float), alike["draw"].to_numpy())
        if bootstrap is not None and drawn is not None:
            for i, (name, within) in enumerate(_WITH_INTERVALS.items()):
                values = drawn[alike.index, i]
                resampled = _ratio(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))
                row[f"{name}_low"], row[f"{name}_high"] = bootstrap.interval(float(row[name]), resampled, within=within)
        means.append(row)
    return pd.DataFrame(means)


def standard_error(values: NDArray[np.float64], draw: NDArray[np.int64]) -> float:
    """Return the standard error of the mean of (rows,) values that a bootstrap over their draws comes to.

    Whole draws are drawn again where there are several, else the values; NaN counts nowhere, and of one value is left.
    """
    known = ~np.isnan(values)
    values, draw = values[known], draw[known]
    if len(values) < 2:
        return float("nan")
    several = len(np.unique(draw)) > 1
    units = np.unique(draw, return_inverse=True)[1] if several else np.arange(len(values))
    # the mean is a ratio of sums over units, since a unit may have fewer values than another
    off = np.bincount(units, values - values.mean())
    return float(np.sqrt((off**2).sum()) / len(values))


#: kind of figure -> what its upright axis, or a cell, shows
KINDS = {"agree": "agree-SSa", "active": "active disagreement", "passive": "passive disagreement", "tau_b": "tau_b"}


def _draw(kind: str, result: Subcollections, measure: str, place: Place) -> Axes:
    """Draw agreement over the shares of mixed parts, else over their sizes, else a grid of all parts."""
    label, rows = f"{KINDS[kind]} ({measure})", result.table[result.table["measure"] == measure]
    if rows["share"].notna().any():
        keys = ["source", "size"] if len(set(rows["size"])) > 1 else ["source"]
        lines = [
            (f"{source}{f', {int(size[0]):,} documents' if size else ''}", of_sources)
            for (source, *size), of_sources in rows.assign(share=100 * rows["share"]).groupby(keys, sort=False)
        ]
        across, limits, legend, title = "share", (-3.0, 103.0), "sources", "Agreement by the share of the sources"
        x = "share of each part from its source, %"
    elif rows["size"].notna().any():
        swapped = rows.rename(columns={"size": "other_size", "other_size": "size"})
        both = pd.concat([rows, swapped], ignore_index=True).drop_duplicates(["size", "other_size"])
        lines = [(f"{int(size):,}", of_size) for size, of_size in both.groupby("other_size", sort=True)]
        across, limits, legend = "size", (0.0, float(both["size"].max()) * 1.05), "documents of the other part"
        title, x = "Agreement of two parts by their sizes", "documents drawn for one part"
    else:
        return _plot_grid(result.by_pair[result.by_pair["measure"] == measure], kind, label, place)
    sheet = Sheet.open(place)
    sheet.limit("x", limits)
    sheet.label(title=title, x=x, y=label)
    entries: list[tuple[Any, str]] = []
    ends: list[float] = []
    for number, (name, line) in enumerate(lines):
        # neighbours differ in colour, marker and stroke
        ordered, style = line.sort_values(across, kind="stable"), look(number)
        error = ordered[f"{kind}_se"].fillna(0)
        bars: Style = {"elinewidth": 0.7 * sheet.sizes.line, "capsize": 2, "linewidth": sheet.sizes.line, "zorder": 3}
        marks: Style = {"marker": style.marker, "markersize": 0.8 * sheet.sizes.area**0.5, "color": style.colour}
        stroke = STROKES[number % len(STROKES)]
        drawn = sheet.ax.errorbar(ordered[across], ordered[kind], yerr=error, linestyle=stroke, **bars, **marks)
        # the legend shows the line and its marker, without the bar of an error
        entries.append((drawn.lines[0], plain(name)))
        ends += [float((ordered[kind] - error).min()), float((ordered[kind] + error).max())]
    # differences of a few hundredths are what there is to see; 0 need not be in view
    sheet.limit_around("y", ends, air=0.12, least=0.08)
    # as high as its legend at least, where that stands beside the axes
    high = 0.0 if sheet.below else 1.4 * (len(entries) + 1) * sheet.sizes.text / 72 / sheet.width
    return sheet.finish(entries, (0.62, max(0.42, high)), title=legend)


def _plot_grid(by_pair: pd.DataFrame, column: str, label: str, place: Place | None = None) -> Axes:
    sheet = Sheet.open(place)
    names = list(dict.fromkeys([*by_pair["part"], *by_pair["other_part"]]))
    cells: NDArray[np.float64] = np.full((len(names), len(names)), np.nan)
    texts = np.full(cells.shape, "", dtype=object)
    means = by_pair.groupby(["part", "other_part"], sort=False)[column].mean().reset_index()
    for one, other, value in means.itertuples(index=False):
        i, j = sorted((names.index(one), names.index(other)))
        cells[j, i], texts[j, i] = value, "-" if np.isnan(value) else f"{value:.2f}"
    known = cells[~np.isnan(cells)]
    limits = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    # the first part has no row and the last no column: the grid is the lower triangle
    draw_cells(sheet, cells[1:, :-1], texts[1:, :-1], (names[1:], names[:-1]), shading("#F2F2F2", "#B0B0B0"), limits)
    sheet.label(title=f"{label} of two parts", x="", y="")
    sheet.fit(max(0.28 * (len(names) - 1), 0.3 * sheet.width))
    return sheet.ax


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Subcollections(Result):
    """How far the same pairs of systems differ significantly on two parts of a corpus.

    Of two parts, SS_a pairs of systems are significant on both with the same winner, SS_d with opposite winners, SN and
    NS on one part only, NN on neither. agree-SS_a is ``2 SS_a / (2 SS_a + 2 SS_d + SN + NS)``, active disagreement has
    ``2 SS_d`` above the line and passive disagreement ``SN + NS``; all are NaN where no pair is significant.

    Attributes:
        names: of the systems.
        means: (parts, measures, systems) means of scores.
        p: (parts, measures, pairs) p-values of the pairs of systems, not corrected.
        alpha: the level.
        correction: of p-values for the number of pairs.
    """

    title = "Subcollections"
    about = "{systems compared} systems"
    key = "agree active passive tau_b"
    valid_for = "these parts: {parts}; topics: {topics}; test: {test}."
    not_covered = "which part is right, and parts of another corpus or of other documents."
    plots = {kind: partial(_draw, kind) for kind in KINDS}
    columns = """
    part          | Part          |        | the part
    other_part    | Other part    |        | the other part
    draw          | Draw          | count  | which of the repeated draws
    source        | Source        |        | where the documents come from, None where that is left to chance
    share         | Share         | score  | share of a part that comes from its source, NaN where all does
    size          | Size          | count  | documents of the smaller part, where that is fixed
    other_size    | Other size    | count  | documents of the larger part, where that is fixed
    other_measure | Other measure |        | the other measure
    part_pairs    | Pairs of parts | count | how many pairs of parts
    draws         | Draws         | count  | of how many draws
    agree         | Agree-SSa     | score  | agree-SS_a, a mean where there are several
    active        | Active        | score  | active disagreement
    passive       | Passive       | score  | passive disagreement
    agree_se      | SE            | score  | standard error of agree
    active_se     | SE of active  | score  | standard error of active
    passive_se    | SE of passive | score  | standard error of passive
    tau_b_se      | SE of tau_b   | score  | standard error of tau_b
    ss_a          | SS_a          | count  | pairs of systems that are significant on both, with the same winner
    ss_d          | SS_d          | count  | pairs of systems that are significant on both, with opposite winners
    sn            | SN            | count  | pairs of systems that are significant on the first only
    ns            | NS            | count  | pairs of systems that are significant on the other only
    nn            | NN            | count  | pairs of systems that are significant on neither
    significant   | Significant pairs | count | how many of them differ significantly
    significant_share | Significant | score | their share
    least         | Lowest mean   | score  | the lowest mean score
    most          | Highest mean  | score  | the highest mean score
    drawn         | Drawn         | count  | documents drawn for the part
    per_list      | In a list     | tenths | documents in a list of a run, on average
    empty_lists   | Empty lists   | count  | lists of a run and a topic without a document
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and setting, means over pairs of parts",
            "source share size other_size measure part_pairs draws agree~ agree_se active active_se passive passive_se "
            "tau_b~ tau_b_se",
            report="measure source? share? size? other_size? agree tau_b agree_se",
        ),
    ]
    by_pair: Annotated[
        pd.DataFrame,
        Table(
            "pair of parts and measure",
            "part* other_part* draw source share size other_size measure ss_a* ss_d* sn ns nn untested agree~* active "
            "passive tau_b~*",
        ),
    ]
    between_measures: Annotated[
        pd.DataFrame,
        Table(
            "part and pair of measures, the two on the same part",
            "part* draw measure* other_measure* agree* active passive tau_b*",
        ),
    ]
    by_part: Annotated[
        pd.DataFrame,
        Table(
            "part and measure, means over the parts that it is compared with",
            "part draw measure pairs significant significant_share least most agree agree_se tau_b",
            report="part measure agree agree_se tau_b significant_share",
        ),
    ]
    parts: Annotated[
        pd.DataFrame, Table("part", "part* draw* source share drawn* documents judged* topics* per_list* empty_lists")
    ]
    names: list[str]
    measures: list[str]
    means: NDArray[np.float64]
    p: NDArray[np.float64]
    alpha: float
    correction: str = "none"

    def words(self) -> dict[str, Any]:
        """Return what captions and answers speak of, with how many systems there are."""
        return {**super().words(), "systems compared": len(self.names)}

    def by_measures(self) -> pd.DataFrame:
        """Return means of `between_measures` over ``parts``, a row per pair of measures."""
        if self.between_measures.empty:
            raise InputError("there is one measure, so there is nothing to compare between measures.")
        return averaged(self.between_measures, ["measure", "other_measure"], "parts")

    def significance(self, part: str, measure: MeasureLike | None = None, *, draw: int = 1) -> pd.DataFrame:
        """Return the test of every pair of systems on one part.

        Args:
            part: its name, as in `parts`.
            measure: one of the measures; default the first.
            draw: which of the draws, from 1.

        Returns:
            DataFrame: ``name other_name difference p p_corrected winner``, the winner None where neither system is
            significantly better.

        Raises:
            InputError: no such part, measure or draw.
        """
        m = self.measures.index(measure_among(self.measures, measure))
        i = only(self.parts, {"draw": draw, "part": part})[0].index[0]
        first, second = np.triu_indices(len(self.names), 1)
        mean, names = self.means[i, m], np.array([*self.names, None], dtype=object)
        tests = PairTests(first, second, mean[first] - mean[second], self.p[i, m])
        better = winners(tests, self.alpha, self.correction)
        return pd.DataFrame(
            {
                "name": names[first],
                "other_name": names[second],
                "difference": tests.difference,
                "p": tests.p,
                "p_corrected": tests.corrected(self.correction),
                "winner": pd.Series(names[np.select([better > 0, better < 0], [first, second], -1)], dtype=object),
            }
        )

    def answers(self) -> list[str]:
        """Return the agreement by each measure, the lowest and the highest of several settings."""
        lines = []
        for measure in self.measures:
            row, *more = records(self.table[self.table["measure"] == measure].sort_values("agree"))
            ends = "" if not more else f" to {Told(more[-1], 'agree', self.columns):.3f}"
            lines.append(f"{measure}: agree-SSa of two parts {Told(row, 'agree', self.columns):.3f}{ends}")
        return lines


def _check(given: Mapping[str, Any]) -> None:
    if "how" in given:
        checked_drawing(**{name: given[name] for name in ("how", "sizes", "shares", "whole", "repeats", "seed")})
        check_test(given["test"], given["correction"])


@study(
    question="Would the same systems differ on another part of the corpus?",
    command="profile subcollections",
    aim="fair",
    summary="whether the same runs differ significantly on parts of the corpus",
    details="Documents that are not relevant are split, and every pair of runs is tested on each part.",
    group="profile",
    papers="[J14]_, [S12]_",
    screen=("parts", "table", "by_pair"),
    together=_check,
)
def subcollections(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    sources: Annotated[
        Any,
        options.Option(
            'which source a document comes from: prefixes of docnos, ``["FBIS", "FT"]``, or a function of a docno that '
            "returns its source or None; default the letters with which the docno begins. Documents without a source "
            "are in no part.",
            check=source_rule,
            flag=options.Flag(help="prefixes of docnos", metavar="LIST", kind="list", default="the first letters"),
        ),
    ] = None,
    how: Annotated[
        str,
        options.Option(
            '``"source"`` (default): a part for each source; ``"random"``: disjoint parts drawn at random, of all '
            '`sizes`, or as large as the sources are; ``"mixed"``: for each two sources and each share two disjoint '
            "parts, of which that share comes from their own source, and the rest from all others.",
            choices=("source", "random", "mixed"),
            flag=options.Flag(help="how to split: source, random or mixed", metavar="HOW", kind="text"),
        ),
    ] = "source",
    shares: Annotated[
        Any,  # one or several
        options.Option(
            "of a mixed part that come from one source, from 0 to 1; default the quarters.",
            flag=options.Flag(metavar="LIST", kind="budgets", default="the quarters"),
        ),
    ] = None,
    sizes: Annotated[
        Any,  # one or several
        options.Option(
            "documents drawn for a part: whole numbers, or fractions of all documents to be split; one or several. "
            "Default: all of a source; for mixed parts the largest size that two sources allow.",
            flag=options.Flag(metavar="LIST", kind="budgets", default="those of the sources"),
        ),
    ] = None,
    whole: Annotated[
        bool,
        options.Option(
            'whether the documents of all sources are one more part, with ``how="source"``.',
            check=partial(flag, "whole"),
            flag=options.Flag(kind="switch"),
        ),
    ] = False,
    repeats: Annotated[
        int,
        options.Option(
            "how often parts are drawn, where anything is left to chance.",
            check=partial(positive, "repeats", unit="draws"),
            flag=options.Flag(),
        ),
    ] = 10,
    relevant: Annotated[
        str,
        options.Option(
            '``"all"`` (default) adds all relevant documents to each part; ``"own"`` splits them like all others, and '
            "on each part the topics count that have a relevant document in it.",
            choices=("all", "own"),
            flag=options.Flag(help="relevant documents of a part: all or own", metavar="WHAT", kind="text"),
        ),
    ] = "all",
    rel: options.Rel = None,
    test: options.Test = "t",
    alpha: options.Alpha = 0.05,
    correction: options.Correction = CORRECTION,
    samples: options.Samples = SAMPLES,
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> Subcollections:
    """Test whether the same systems differ significantly on different parts of a corpus.

    The documents that are relevant to any topic are set aside. All others are split: by their source, at random, or so
    that a share of a part comes from one source. Each part gets all relevant documents back, so that parts differ only
    in their other documents. On each part, the systems are either `runs` restricted to the documents of the part (their
    scores stay) or :class:`~pt_reuse.profile.Systems`, indexed and run again. On each part every pair of systems is
    tested over topics; two parts agree to the extent that they find the same pairs significant, with the same winners.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`; or
            :class:`~pt_reuse.profile.Systems`.

    Raises:
        InputError: one system, a source without documents, only one source, sizes larger than the corpus, no relevant
            document, a part without a topic that counts, a system that retrieves documents outside its part.

    Example:
        >>> import pyterrier as pt, pt_reuse as ptr
        >>> demo = pt.get_dataset("reuse:demo")
        >>> found = ptr.profile.subcollections(demo.get_runs(), demo.get_judgments(), ["AP", "nDCG@10"])
        >>> found.parts[["part", "drawn"]].values.tolist()
        [['ENC', 58], ['FORUM', 65], ['NEWS', 89]]

    Source: Jones, Turpin, Mizzaro, Scholer and Sanderson 2014, Size and source matter: understanding inconsistencies in
    test collection-based evaluation, CIKM; ``relevant="own"`` follows Sanderson, Turpin, Zhang and Scholer 2012, CIKM;
    the counts are those of Moffat, Scholer and Thomas 2012, ADCS.
    """
    rule = source_rule(None) if sources is None else sources
    drawing = checked_drawing(how=how, sizes=sizes, shares=shares, whole=whole, repeats=repeats, seed=seed)
    bootstrap = TopicBootstrap(resamples, seed, confidence, n_jobs) if resamples else None
    testing = Testing(test, alpha, correction, samples, seed, bootstrap)
    systems: RestrictedRuns | Systems[Any]
    if isinstance(runs, Systems):
        systems, people = runs, read_judgments(qrels)
        runs.check_topics(people.topics)
        lowest, chosen = graded(people, measures, rel)
        provided = provided_measures(chosen)
        given: Any = {"by ir_measures": provided} if provided else {}
    else:
        given = Inputs.read(runs, qrels, measures, rel)
        systems, people, lowest, chosen = RestrictedRuns(given.runs), given.qrels, given.rel, given.measures
    if len(systems.names) < 2:
        problem = f"there is one system, {examples(systems.names)}, and it takes two to differ."
        raise InputError(problem, argument="runs")
    corpus = Corpus.of(systems, people, lowest, shared=relevant == "all")
    by_source, several = drawing.needs_sources or sources is not None, drawing.n_draws > 1
    every = {"all": np.arange(len(corpus.split))}
    parts = drawing.parts(rule.members([corpus.docnos[i] for i in corpus.split.tolist()]) if by_source else every)
    called = [f"{part.name}, draw {part.draw}" if several else part.name for part in parts]
    tasks = (
        PartTask(name, systems, *corpus.part(part), chosen, testing) for name, part in zip(called, parts, strict=True)
    )
    scored = list(run_jobs(tasks, len(parts), desc="parts", unit="part", n_jobs=n_jobs, verbose=verbose))
    names = [repr(measure) for measure in chosen]
    of_parts = ScoredParts(parts, scored, names, testing)
    by_pair, drawn = of_parts.by_pair(drawing)
    by_part = of_parts.by_part(by_pair)
    beware(_caveats(of_parts, by_part, by_pair, len(systems.names)))
    n_topics = sorted({int(part.counts.sum()) for part in scored})
    on_topics = f"all {len(people.topics):,} of the judgments on every part"
    if relevant == "own":
        some = " to ".join(f"{n:,}" for n in dict.fromkeys([n_topics[0], n_topics[-1]]))
        on_topics = f"on each part those with a relevant document in it, {some} of {len(people.topics):,}"
    added = f", {corpus.n_added:,} relevant ones added to each part" if len(corpus.added) else ""
    corrected = "by the test itself" if test == "tukey" else correction
    settings = settings_of(
        systems,
        given,
        {} if bootstrap is None else interval_settings(bootstrap),
        test=f"{TESTS[test]}, two-sided, p at most {alpha:g}, correction for the number of pairs: {corrected}",
        **({"samples": samples} if test in RANDOM else {}),
        parts=_PARTS[how],
        **({"sources": rule.words} if by_source else {}),
        **({"sizes": ", ".join(map(str, drawing.sizes))} if drawing.sizes else {}),
        draws=drawing.n_draws,
        **({"seed": seed} if several or bootstrap or test in RANDOM else {}),
        documents=f"{len(corpus.split):,} split{added}",
        relevant=f"label of at least {lowest}, {_RELEVANT[relevant]}",
        topics=f"{on_topics}, a topic that a run lacks counting 0",
        standard_error=f"of the mean, as a bootstrap over {'draws' if several else 'pairs of parts'} gives it",
    )
    return Subcollections(
        table=averaged(by_pair, [*SETTING, "measure"], "part_pairs", drawn, bootstrap),
        by_pair=by_pair,
        between_measures=of_parts.between_measures(),
        by_part=by_part,
        parts=of_parts.table(corpus.n_added),
        names=systems.names,
        measures=names,
        means=np.array([part.means for part in scored]),
        p=np.array([[tests.p for tests in part.tests] for part in scored]),
        alpha=alpha,
        correction=correction,
        settings=settings,
    )


_PARTS = {
    "source": "one for each source",
    "random": "drawn at random, two and two apart",
    "mixed": "a share from one source, against one with that share from another source",
}
_RELEVANT = {"all": "all of them in every part", "own": "each in the part that it falls into"}


def _caveats(of_parts: ScoredParts, by_part: pd.DataFrame, by_pair: pd.DataFrame, n_systems: int) -> Iterator[Caveat]:
    named = zip(of_parts.parts, of_parts.scored, strict=True)
    n_topics, where = min((int(scored.counts.sum()), part.name) for part, scored in named)
    yield from few_topics(n_topics, f"part {where!r}")
    tied = by_part[by_part["least"].round(DECIMALS) == by_part["most"].round(DECIMALS)]
    for row in records(tied.head(1)):
        note = f"all systems tie by {row['measure']} on part {row['part']}"
        yield Caveat(note, f"{note} ({count(len(tied), 'such case')} in all).")
    none = by_pair[by_pair["agree"].isna()]
    if len(none) and not len(tied):
        note = f"no pair of systems is significant on {len(none)} of {len(by_pair)} pairs of parts"
        yield Caveat(note, f"{note}.")
    lists = sum(int(scored.counts.sum()) for scored in of_parts.scored) * n_systems
    if emptied := sum(scored.emptied for scored in of_parts.scored):
        note = f"{emptied} of {lists} lists are empty"
        yield Caveat(note, f"{note}: a run has no document of a topic on the part, and scores 0.")
