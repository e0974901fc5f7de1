"""subcollections: whether the same systems differ significantly on parts of the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, told
from pt_reuse._choices import CORRECTION, SAMPLES
from pt_reuse._jobs import run_jobs
from pt_reuse._report import Digits
from pt_reuse._text import with_ends
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import RANDOM, PairTests, check_test, winners
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import InputError
from pt_reuse.options import SHARED, Flag, Parameter
from pt_reuse.result import KeyFigures, Result, Shown, View, clauses, records
from pt_reuse.scoring.caveats import Caveat, few_topics, relevant_only
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.subcollections.figures import plot_parts_grid, plot_sizes, plot_source_shares
from pt_reuse.studies.subcollections.part_scores import SETTING, PartTask, ScoredParts, Testing, averaged
from pt_reuse.studies.subcollections.sources import WHOLE, Corpus, checked_drawing, source_rule
from pt_reuse.studies.subcollections.systems import RestrictedRuns, Systems
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: kind of figure -> what its upright axis, or a cell, shows
KINDS = {
    "agree": "agree-SSa",
    "active": "active disagreement",
    "passive": "passive disagreement",
    "tau_b": "tau_b",
}
_AGREEMENT = (
    Shown("Agree-SSa", "agree", Digits.SCORE),
    Shown("SE", "agree_se", Digits.SCORE),
    Shown("Active", "active", Digits.SCORE),
    Shown("Passive", "passive", Digits.SCORE),
    Shown("tau_b", "tau_b", Digits.SCORE),
)


def _draw(kind: str, result: Subcollections, measure: str, place: Place) -> Axes:
    """Draw the agreement of parts: by their sizes, by the share of one source, or of each two parts."""
    label = f"{KINDS[kind]} ({measure})"
    rows = result.table[result.table["measure"] == measure]
    if rows["share"].notna().any():
        return plot_source_shares(rows, column=kind, label=label, place=place)
    if rows["size"].notna().any():
        return plot_sizes(rows, column=kind, label=label, place=place)
    by_pair = result.by_pair[result.by_pair["measure"] == measure]
    return plot_parts_grid(by_pair, column=kind, label=label, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Subcollections(Result):
    """How far the same pairs of systems differ significantly on two parts of a corpus.

    Of two parts, SS_a pairs of systems are significant on both with the same winner, SS_d with opposite winners, SN and
    NS on one part only, NN on neither. agree-SS_a is ``2 SS_a / (2 SS_a + 2 SS_d + SN + NS)``, active disagreement has
    ``2 SS_d`` above the line and passive disagreement ``SN + NS``: the three add to 1, and are NaN where no pair is
    significant. Columns that end in ``_se`` are standard errors; ``_low`` and ``_high``, where there are resamples, the
    ends of intervals over topics.

    Its figures are ``"agree"``, ``"active"``, ``"passive"`` and ``"tau_b"``: for parts of several sizes a line for each
    size of the one part against that of the other; for mixed parts a line for each two sources against the share of
    each part that is of its own source, with standard errors; else a grid of parts.

    Attributes:
        table: one row per measure and setting: ``source share size other_size`` as far as these are fixed (None or NaN
            where not); ``part_pairs``, pairs of parts, of so many ``draws``; the means of ``agree active passive
            tau_b`` over the pairs that have one, with their standard errors.
        by_pair: one row per pair of parts and measure: ``part other_part draw``, the setting, ``ss_a ss_d sn ns nn
            untested``, ``agree active passive``, ``tau_b`` of the rankings by means.
        between_measures: one row per part and pair of measures, ``part draw measure other_measure``: ``agree active
            passive tau_b`` of the two on that part.
        by_part: one row per part and measure: ``part draw measure``; ``pairs`` of systems, how many are ``significant``
            and which share of them, ``significant_share``; the ``least`` and the ``most`` mean; ``agree`` and
            ``tau_b``, means over the parts that it is compared with, and ``agree_se``.
        parts: one row per part: ``part draw source share``; documents ``drawn`` for it, and all its ``documents`` with
            those added to every part; ``judged``, its judgments; ``topics`` that count; ``per_list``, documents in a
            list of a run, on average; ``empty_lists``.
        names: of the systems.
        means: (parts, measures, systems) means of scores.
        p: (parts, measures, pairs) p-values of the pairs of systems, not corrected.
        alpha: the level.
        correction: of p-values for the number of pairs.
    """

    title = "Subcollections"
    condition = "It holds for these parts: {parts}; topics: {topics}; test: {test}."
    limit = "It does not say which part is right, nor how parts of another corpus or other documents would agree."
    views = {
        "parts": View(
            table="by_setting",
            columns=(Shown("Measure", "called"), *_AGREEMENT),
            caption="Agreement of two parts of a corpus about which of the {systems compared} systems differ, means "
            "over pairs of parts; active and passive disagreement.",
            noun="measures",
        ),
        "measures": View(
            table="by_measures",
            columns=(Shown("Measures", "called"), *_AGREEMENT),
            caption="Agreement of two measures on the same part about which of the {systems compared} systems differ, "
            "means over parts; active and passive disagreement.",
            noun="pairs of measures",
        ),
        "part": View(
            table="by_part",
            columns=(
                Shown("Part", "part"),
                Shown("Measure", "measure"),
                Shown("Agree-SSa", "agree", Digits.SCORE),
                Shown("SE", "agree_se", Digits.SCORE),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("Significant", "significant_share", Digits.SCORE),
            ),
            caption="Agreement of each part with the others, means, and the share of pairs of the {systems compared} "
            "systems that differ significantly on it.",
            noun="parts",
        ),
        "split": View(
            table="parts",
            columns=(
                Shown("Part", "part"),
                Shown("Draw", "draw"),
                Shown("Drawn", "drawn", Digits.COUNT),
                Shown("Judged", "judged", Digits.COUNT),
                Shown("Topics", "topics", Digits.COUNT),
                Shown("In a list", "per_list", Digits.TENTHS),
            ),
            caption="The parts: documents drawn, judgments with those of the documents that every part has, topics "
            "that count, and documents in a list of a run.",
            noun="parts",
        ),
        "pair": View(
            table="by_pair",
            columns=(
                Shown("Part", "part"),
                Shown("Other part", "other_part"),
                Shown("SS_a", "ss_a", Digits.COUNT),
                Shown("SS_d", "ss_d", Digits.COUNT),
                Shown("Agree-SSa", "agree", Digits.SCORE),
                Shown("tau_b", "tau_b", Digits.SCORE),
            ),
            caption="Each two parts by {measure}: pairs of systems that differ significantly on both, with the same "
            "winner and with opposite ones.",
            noun="pairs of parts",
        ),
    }
    plots = {kind: partial(_draw, kind) for kind in KINDS}
    key = (KeyFigures(("agree", "active", "passive", "tau_b"), "by_setting", row="{setting}"),)
    sentences = {
        "test": "Test: {test}.",
        "topics": "Topics: {topics}.",
        "parts": "Parts: {parts}.",
        "documents": "Documents: {documents}.",
        "standard error": "Standard error: {standard error}.",
        "systems": "Systems: {systems}.",
    }

    by_pair: pd.DataFrame
    between_measures: pd.DataFrame
    by_part: pd.DataFrame
    parts: pd.DataFrame
    names: list[str]
    measures: list[str]
    means: NDArray[np.float64]
    p: NDArray[np.float64]
    alpha: float
    correction: str = "none"

    def words(self) -> dict[str, Any]:
        """Return what captions and notes speak of, with how many systems there are."""
        return {**super().words(), "systems compared": len(self.names)}

    def by_setting(self) -> pd.DataFrame:
        """Return the table with its ``setting`` in words, and what each row is ``called``."""
        settings = [", ".join(fixed) for fixed in _settings(self.table)]
        called = [", ".join(filter(None, both)) for both in zip(self.table["measure"], settings, strict=True)]
        return self.table.assign(setting=settings, called=called)

    def by_measures(self) -> pd.DataFrame:
        """Return means of `between_measures` over ``parts``, a row per pair of measures, and what it is ``called``."""
        if self.between_measures.empty:
            raise InputError("there is one measure, so there is nothing to compare between measures.", argument="by")
        rows = averaged(self.between_measures, ["measure", "other_measure"], "parts")
        both = zip(rows["measure"], rows["other_measure"], strict=True)
        return rows.assign(called=[f"{one} and {other}" for one, other in both])

    def significance(self, part: str, measure: MeasureLike | None = None, *, draw: int = 1) -> pd.DataFrame:
        """Return the test of every pair of systems on one part.

        Args:
            part: its name, as in `parts`.
            measure: one of the measures; default the first.
            draw: which of the draws, from 1.

        Returns:
            DataFrame: ``name other_name``, ``difference`` of their means, ``p``, ``p_corrected`` for the number of
            pairs, and ``winner``, the system that is significantly better (None where neither is).

        Raises:
            InputError: no such part, measure or draw.
        """
        m = self.measures.index(measure_among(self.measures, measure))
        of_draw = self.parts[self.parts["draw"] == draw]
        if of_draw.empty:
            raise InputError(
                f"draw must be one of {examples(sorted(set(self.parts['draw'])))}, got {told(draw)}.", argument="draw"
            )
        choice("part", part, of_draw["part"].tolist())
        i = of_draw.index[of_draw["part"] == part][0]
        first, second = np.triu_indices(len(self.names), 1)
        mean, names = self.means[i, m], np.array(self.names, dtype=object)
        tests = PairTests(first, second, mean[first] - mean[second], self.p[i, m])
        better = winners(tests, self.alpha, self.correction)
        winner = pd.Series(np.where(better > 0, names[first], names[second]), dtype=object)
        return pd.DataFrame(
            {
                "name": names[first],
                "other_name": names[second],
                "difference": tests.difference,
                "p": tests.p,
                "p_corrected": tests.corrected(self.correction),
                "winner": winner.where(better != 0, None),
            }
        )

    def headline(self) -> str:
        """Return how many systems and parts there are, and the agreement by each measure, lowest and highest."""
        n_parts = count(len(self.parts), "part")
        said = []
        for measure in self.measures:
            rows = self.table[self.table["measure"] == measure]
            low, high = rows["agree"].min(), rows["agree"].max()
            number = with_ends(records(rows)[0], "agree", ".3f")
            if len(rows) > 1:
                number = f"{low:.3f}" + (f" to {high:.3f}" if low < high else "")
            number = "undefined: nothing is significant" if pd.isna(low) else number
            said.append(f"{measure} agree-SSa {number}")
        return f"{count(len(self.names), 'system')} on {n_parts}: {clauses(said)}"


def _settings(rows: pd.DataFrame) -> Iterator[list[str]]:
    """Yield what the setting of each row fixes, in words."""
    for source, share, size, other in zip(*(rows[name] for name in SETTING), strict=True):
        mixed = [] if pd.isna(share) else [f"{100 * share:g} % {source}"]
        mixed += ["with the whole"] if source == WHOLE else []
        yield mixed + ([] if pd.isna(size) else [f"{size:,.0f} x {other:,.0f}"])


_DRAWN = ("how", "sizes", "shares", "whole", "repeats", "seed")
_TESTED = ("test", "alpha", "correction", "samples", "seed")


def _check(given: Mapping[str, Any]) -> None:
    """Raise where parts cannot be drawn, or tested, so."""
    if "how" in given:
        checked_drawing(**{name: given[name] for name in _DRAWN})
        check_test(given["test"], given["correction"])


@study(
    Parameter(
        name="sources",
        meaning='which source a document comes from: prefixes of docnos (``["FBIS", "FT"]``, each the name of its '
        "source, or a dict of name -> list of prefixes), a dict of docno -> source, a compiled regular expression "
        "whose first group is the source (or a list of one text that begins with ``^``), or a function of a docno that "
        "returns its source or None. Default: the letters with which the docno begins. Documents without a source are "
        "in no part, with a warning.",
        check=source_rule,
        flag=Flag(
            help="comma-separated prefixes of docnos, each a source (FBIS,FT,LA), or a regular expression that begins "
            "with ^, whose first group is the source",
            metavar="LIST",
            kind="list",
            default="the letters a docno begins with",
        ),
    ),
    Parameter(
        name="how",
        meaning='``"source"`` (default): a part for each source; ``"random"``: parts drawn at random, two and two '
        "without a document in common, of all `sizes`, or as many and as large as the sources are; "
        '``"mixed"``: for each two sources and each share two parts, of which that share comes from the one and from '
        "the other source, and the rest from all but that source, without a document in common but relevant ones.",
        flag=Flag(help="how to split: source, random or mixed", metavar="HOW", kind="text"),
    ),
    Parameter(
        name="shares",
        meaning="from 0 to 1, for mixed parts; default the quarters.",
        flag=Flag(
            help="of a mixed part that come from one source", metavar="LIST", kind="budgets", default="the quarters"
        ),
    ),
    Parameter(
        name="whole",
        meaning='whether the documents of all sources are one more part, with ``how="source"``.',
        flag=Flag(help="all documents as one more part", kind="switch"),
    ),
    Parameter(
        name="sizes",
        meaning="documents drawn for a part: whole numbers, or fractions of all documents to be split; one or several. "
        "Default: all of a source; for mixed parts the largest size that two sources allow.",
        flag=Flag(
            help="documents drawn for a part: whole numbers, or shares of all (.1,.25)",
            metavar="LIST",
            kind="budgets",
            default="those of the sources",
        ),
    ),
    Parameter(
        name="repeats",
        meaning="how often parts are drawn, where anything is left to chance.",
        flag=Flag(help="how often to draw"),
    ),
    Parameter(
        name="relevant",
        meaning='``"all"`` (default) adds all relevant documents to each part; ``"own"`` splits them like all others, '
        "and on each part the topics count that have a relevant document in it.",
        choices=("all", "own"),
        flag=Flag(help="which relevant documents a part has: all or own", metavar="WHAT", kind="text"),
    ),
    replace(SHARED["alpha"], flag=Flag(help="p-values up to it are significant", metavar="P", kind="float")),
    replace(SHARED["samples"], flag=Flag(help="of tests that draw at random")),
    command=Command(
        name="profile subcollections",
        summary="whether the same runs differ significantly on parts of the corpus",
        details="Documents that are not relevant are split, by source or at random, and each part also gets all "
        "relevant documents. The runs and the judgments are restricted to each part, every pair of runs is tested on "
        "it, and the pairs on which two parts agree are counted.",
        screen=("split", "parts", "pair"),
    ),
    together=_check,
    entry=Entry(
        question="Would the same systems differ on another part of the corpus?",
        group="profile",
        papers="[J14]_, [S12]_",
    ),
)
def subcollections(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    sources: Any = None,
    how: str = "source",
    shares: float | Iterable[float] | None = None,
    sizes: float | Iterable[float] | None = None,
    whole: bool = False,
    repeats: int = 10,
    relevant: str = "all",
    rel: int | None = None,
    test: str = "t",
    alpha: float = 0.05,
    correction: str = CORRECTION,
    samples: int = SAMPLES,
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
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
        qrels: the judgments, in any form. Each part has those of its documents. Means are over all topics of the
            judgments, a topic that a run lacks counting 0.
        resamples: draws of topics for intervals of tau_b and agree-SS_a, each testing all pairs again; default 0, none.
        seed: of all random draws.
        n_jobs: parts at a time, as joblib takes it; the numbers do not depend on it. Systems must be able to run in
            other processes.

    Returns:
        Subcollections: ``.table`` (means over pairs of parts), ``.by_pair``, ``.between_measures``, ``.by_part``,
        ``.parts``, ``.significance(part)``, ``.report()``, ``.plot()``.

    Raises:
        InputError: one system, a source without documents, only one source, sizes larger than the corpus, no relevant
            document, a part without a topic that counts, a system that retrieves documents outside its part.

    Warns:
        ReuseWarning: judged documents that are not among the documents of the systems; fewer than five topics; systems
            that all tie on a part; lists of runs that keep no document; pairs of parts on which no pair of systems is
            significant. All but the first are in ``settings["beware"]``, too.

    Example:
        >>> import pyterrier as pt, pt_reuse as ptr
        >>> demo = pt.get_dataset("reuse:demo")
        >>> found = ptr.profile.subcollections(demo.get_runs(), demo.get_judgments(), ["AP", "nDCG@10"])
        >>> found.parts[["part", "drawn"]].values.tolist()
        [['ENC', 58], ['FORUM', 65], ['NEWS', 89]]

    Source: Jones, Turpin, Mizzaro, Scholer and Sanderson 2014, Size and source matter: understanding inconsistencies in
    test collection-based evaluation, CIKM; ``relevant="own"`` follows Sanderson, Turpin, Zhang and Scholer 2012,
    Differences in effectiveness across sub-collections, CIKM. The counts are those of Moffat, Scholer and Thomas 2012,
    Models and metrics: IR evaluation as a user process, ADCS.
    """
    asked = Asked(subcollections, locals())
    rule = source_rule(None) if sources is None else asked["sources"]
    drawing = checked_drawing(**{name: asked[name] for name in _DRAWN})
    testing = Testing(bootstrap=asked.bootstrap, **{name: asked[name] for name in _TESTED})
    systems = _systems(asked)
    corpus = Corpus.of(systems, asked.qrels, asked.rel, shared=relevant == "all")
    by_source = drawing.needs_sources or sources is not None
    parts = drawing.parts(corpus.members(rule) if by_source else {"all": np.arange(len(corpus.split))})
    counting = [corpus.counting(part) for part in parts]
    several = drawing.n_draws > 1
    tasks = (
        PartTask(
            f"{part.name}, draw {part.draw}" if several else part.name,
            systems,
            *corpus.part(part),
            counts,
            asked.measures,
            testing,
        )
        for part, counts in zip(parts, counting, strict=True)
    )
    scored = list(run_jobs(tasks, len(parts), desc="parts", unit="part", **asked.how))
    names = [repr(measure) for measure in asked.measures]
    found = ScoredParts(parts, scored, names, testing)
    by_pair, drawn = found.by_pair(drawing)
    by_part = found.by_part(by_pair)
    asked.tell(_caveats(found, by_part, by_pair, len(systems.names)))
    by_chance = several or testing.bootstrap or testing.test in RANDOM
    of_what = "draws, each with its pairs of parts" if several else "pairs of parts"
    settings = asked.settings(
        parts=_PARTS[drawing.how],
        **({"sources": rule.words} if by_source else {}),
        **({"sizes": ", ".join(map(str, drawing.sizes))} if drawing.sizes else {}),
        draws=drawing.n_draws,
        **({"seed": drawing.seed} if by_chance else {}),
        documents=corpus.in_words(),
        relevant=f"label of at least {asked.rel}, {_RELEVANT[relevant]}",
        **systems.settings,
        topics=_topics_in_words(counting, own=relevant == "own"),
        **testing.in_settings,
        standard_error=f"of the mean, as a bootstrap over {of_what} gives it",
    )
    if testing.bootstrap is None:
        del settings["intervals"]
    return Subcollections(
        table=averaged(by_pair, [*SETTING, "measure"], "part_pairs", drawn, testing.bootstrap),
        by_pair=by_pair,
        between_measures=found.between_measures(),
        by_part=by_part,
        parts=found.table(corpus.n_added),
        names=systems.names,
        measures=names,
        means=np.array([one.means for one in scored]),
        p=np.array([[tests.p for tests in one.tests] for one in scored]),
        alpha=testing.alpha,
        correction=testing.correction,
        settings=settings,
    )


_PARTS = {
    "source": "one for each source",
    "random": "drawn at random, two and two apart",
    "mixed": "a share from one source, against one with that share from another source",
}
_RELEVANT = {"all": "all of them in every part", "own": "each in the part that it falls into"}


def _systems(asked: Asked) -> RestrictedRuns | Systems[Any]:
    """Return the systems, which have topics in common with the judgments."""
    systems = asked["runs"]
    if isinstance(systems, Systems):
        asked.qrels = as_qrels(asked["qrels"])
        asked.tell(relevant_only(asked.qrels))
        systems.check_topics(asked.qrels.topics)
    else:
        systems = RestrictedRuns(asked.runs)
    if len(systems.names) < 2:
        raise InputError(
            f"there is one system, {examples(systems.names)}, and it takes two to differ.", argument="runs"
        )
    return systems


def _topics_in_words(counting: Sequence[NDArray[np.bool_]], *, own: bool) -> str:
    """Return over which topics the means and tests on a part are."""
    n_topics, found = len(counting[0]), sorted(int(counts.sum()) for counts in counting)
    if not own:
        return f"all {n_topics:,} of the judgments on every part, a topic that a run lacks counting 0"
    some = f"{found[0]:,}" if found[0] == found[-1] else f"{found[0]:,} to {found[-1]:,}"
    return f"on each part those with a relevant document in it, {some} of {n_topics:,}; a topic that a run lacks is 0"


def _caveats(found: ScoredParts, by_part: pd.DataFrame, by_pair: pd.DataFrame, n_systems: int) -> Iterator[Caveat]:
    n_topics, where = min((int(one.counts.sum()), p.name) for p, one in zip(found.parts, found.scored, strict=True))
    yield from few_topics(n_topics, f"part {where!r}")
    tied = by_part[by_part["least"].round(DECIMALS) == by_part["most"].round(DECIMALS)]
    for row in records(tied.head(1)):
        where = f"{row['measure']} on part {row['part']}"
        said = (
            f"all {n_systems} systems have the same mean by {where} ({count(len(tied), 'such case')} in all): nothing "
            "is significant there, and tau_b is NaN."
        )
        yield Caveat(f"all systems tie by {where}", said)
    none = by_pair[by_pair["agree"].isna()]
    for row in records(none.head(0 if len(tied) else 1)):
        said = (
            f"no pair of systems is significant on either of {row['part']} and {row['other_part']} by {row['measure']} "
            f"({len(none):,} of {len(by_pair):,} rows of such pairs in all): agreement is NaN there, and no part of "
            "the means."
        )
        yield Caveat(f"no significant pair of systems on {len(none)} of {len(by_pair)} pairs of parts", said)
    emptied = sum(one.emptied for one in found.scored)
    lists = sum(int(one.counts.sum()) for one in found.scored) * n_systems
    if emptied:
        said = (
            f"{emptied:,} of {lists:,} lists of a run and a topic ({emptied / lists:.1%}) have no document on their "
            "part, and score 0. The table of parts says where."
        )
        yield Caveat(f"{emptied} of {lists} lists are empty", said)
