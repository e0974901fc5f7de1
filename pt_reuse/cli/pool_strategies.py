"""The strategies of `pt-reuse pool`: one row of a table each, with its options and what makes its pool."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import checked_jobs, checked_seed, choice, count
from pt_reuse._choices import LEARNING, METHODS, NORM_NAMES, RANDOM_ORDER
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.cli.common_options import amounts, bands, whole_amounts
from pt_reuse.cli.parser import Parser
from pt_reuse.cli.screen import shows_bars

if TYPE_CHECKING:
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.pooling.pool import Pool
    from pt_reuse.pooling.taking import PoolSize


@dataclass(frozen=True)
class PoolAsked:
    """What a strategy makes a pool of.

    Attributes:
        runs: the field.
        depth: documents per run and topic.
        contributors: which runs make the pool.
        qrels: the judgments, None where none are given.
        options: of the command.
    """

    runs: RunSet
    depth: int
    contributors: str | list[str]
    qrels: Qrels | None
    options: argparse.Namespace


def _always(options: argparse.Namespace) -> None:
    """Find no fault with the options."""


def _nothing(options: argparse.Namespace) -> str:
    return ""


@dataclass(frozen=True)
class PoolStrategy:
    """A strategy that the command knows.

    Attributes:
        what: what it pools, for the help.
        make: makes the pool.
        needs: the options that it cannot do without, by their names.
        takes: further options that it has.
        check: raises, before runs are read, where an option is out of range.
        in_words: what is said of the options beside the pool, a sentence and a blank, or nothing.
        asks: whether it asks judgments, so that it cannot do without these.
    """

    what: str
    make: Callable[[PoolAsked], Pool]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    check: Callable[[argparse.Namespace], None] = _always
    in_words: Callable[[argparse.Namespace], str] = _nothing
    asks: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Return the names of the options that it has."""
        return (*self.needs, *self.takes)

    @property
    def by_topics(self) -> bool:
        """Return whether its work goes by topics, so that it can be shared out."""
        return "jobs" in self.takes


def _to_depth(asked: PoolAsked) -> Pool:
    from pt_reuse.pooling.depth import depth_pool

    return depth_pool(asked.runs, depth=asked.depth, contributors=asked.contributors, n_jobs=asked.options.jobs)


def _check_jobs(options: argparse.Namespace) -> None:
    checked_jobs(options.jobs)


def _size(options: argparse.Namespace) -> PoolSize:
    from pt_reuse.pooling.taking import Per, PoolSize

    return PoolSize.of(options.n, Per.TOPIC.value if options.per is None else options.per)


def _check_size(options: argparse.Namespace) -> None:
    _size(options)


def _take(asked: PoolAsked) -> Pool:
    from pt_reuse.pooling.depth import take_pool

    size = _size(asked.options)
    return take_pool(asked.runs, n=size.n, per=size.per.value, depth=asked.depth, contributors=asked.contributors)


def _check_fusion(method: str, options: argparse.Namespace) -> None:
    from pt_reuse.arrays.fusion import Fusion

    _size(options)
    Fusion.of(method, k=options.k, p=options.p, norm=options.norm)


def _fuse(method: str, asked: PoolAsked) -> Pool:
    from pt_reuse.pooling.depth import fusion_pool

    size = _size(asked.options)
    return fusion_pool(
        asked.runs,
        n=size.n,
        method=method,
        per=size.per.value,
        k=asked.options.k,
        p=asked.options.p,
        norm=asked.options.norm,
        depth=asked.depth,
        contributors=asked.contributors,
    )


def _cut(by: str, options: argparse.Namespace) -> str:
    from pt_reuse.pooling.taking import Per

    size = _size(options)
    of = "of each topic" if size.per is Per.TOPIC else "of all topics together"
    return f"It has the {size.n:,} best {of} by {by}. "


def _fused(method: str, name: str) -> PoolStrategy:
    return PoolStrategy(
        f"the highest by {name}",
        partial(_fuse, method),
        needs=("n",),
        takes=("per", *METHODS[method]),
        check=partial(_check_fusion, method),
        in_words=partial(_cut, name),
    )


def _seed(options: argparse.Namespace) -> int:
    return checked_seed(0 if options.seed is None else options.seed)


def _check_adaptive(options: argparse.Namespace) -> None:
    from pt_reuse.data.judgments import checked_rel
    from pt_reuse.pooling.taking import Per, PoolSize

    PoolSize.of(options.n, Per.TOPIC.value)
    checked_rel(options.rel)
    _seed(options)


def _ask(name: str, asked: PoolAsked) -> Pool:
    from pt_reuse.pooling.adaptive.oracle import adaptive_pool

    return adaptive_pool(
        asked.runs,
        asked.qrels,
        name,
        n=asked.options.n,
        depth=asked.depth,
        contributors=asked.contributors,
        rel=asked.options.rel,
        seed=_seed(asked.options),
        verbose=shows_bars(asked.options),
    )


def _asked(name: str, options: argparse.Namespace) -> str:
    return (
        f"It has the first {count(options.n, 'document')} of each topic that {name} had judged (seed "
        f"{_seed(options)}); one without a label is passed over. "
    )


def _adaptive(name: str) -> PoolStrategy:
    return PoolStrategy(
        "judged one by one, each in the light of the labels of --qrels so far"
        if name != RANDOM_ORDER
        else "judged in a random order, by --qrels",
        partial(_ask, name),
        needs=("n",),
        takes=("rel", "seed"),
        check=_check_adaptive,
        in_words=partial(_asked, name),
        asks=True,
    )


#: what a depth-k pool knows of each document, by which topics can be divided
_STRATA = ("rank", "runs", "teams", "types")


def _check_sample(options: argparse.Namespace) -> None:
    from pt_reuse.pooling.sampling import check_sampling

    _check_jobs(options)
    if options.strata is not None:
        choice("strata", options.strata, _STRATA)
    check_sampling(share=options.share, n=options.n, strata=options.strata, bands=options.bands, seed=_seed(options))


def _sample(asked: PoolAsked) -> Pool:
    from pt_reuse.pooling.sampling import sample_pool

    options = asked.options
    return sample_pool(
        _to_depth(asked),
        share=options.share,
        n=options.n,
        strata=options.strata,
        bands=options.bands,
        seed=_seed(options),
    )


def _sampled(options: argparse.Namespace) -> str:
    of = "each topic" if options.strata is None else f"each topic's strata by {options.strata}"
    given = options.share if options.n is None else options.n
    what = "/".join(f"{amount:g}" for amount in (given if isinstance(given, list) else [given]))
    amount = f"a share of {what}" if options.n is None else f"{what} documents"
    return f"It is a random sample, {amount} of {of} (seed {_seed(options)}). "


#: name -> strategy; those of --strategy, in the order of the help
STRATEGIES = {
    "depth": PoolStrategy("all documents to the depth", _to_depth, takes=("jobs",), check=_check_jobs),
    "take": PoolStrategy(
        "the best-ranked of these",
        _take,
        needs=("n",),
        takes=("per",),
        check=_check_size,
        in_words=partial(_cut, "best rank"),
    ),
    "rrf": _fused("rrf", "reciprocal rank fusion"),
    "rbp": _fused("rbp", "rank-biased centroids"),
    "combsum": _fused("combsum", "CombSUM"),
    "combmnz": _fused("combmnz", "CombMNZ"),
    "borda": _fused("borda", "Borda count"),
    "sample": PoolStrategy(
        "a random sample, with the probability with which each document came into it",
        _sample,
        takes=("share", "n", "strata", "bands", "seed", "jobs"),
        check=_check_sample,
        in_words=_sampled,
    ),
    **{name: _adaptive(name) for name in (*LEARNING, RANDOM_ORDER)},
}


def add_strategy(parser: Parser) -> None:
    """Add the option that says how documents are chosen, and the options that strategies have."""
    words: dict[str, list[str]] = {}
    for name, strategy in STRATEGIES.items():
        words.setdefault(strategy.what, []).append(name)
    known = "; ".join(f"{', '.join(names)}: {what}" for what, names in words.items())
    parser.add_argument("--strategy", default="depth", metavar="NAME", help=f"{known}. Default depth")
    parser.checks.append(_check_name)
    parser.add_argument(
        "--n",
        type=whole_amounts,
        metavar="N",
        help="how many documents to take, of each topic or in all; of sample: of each topic's stratum",
    )
    parser.add_argument("--per", metavar="WHAT", help="N is the number of each topic (topic, default) or of all (all)")
    parser.add_argument("--k", type=float, metavar="K", help="of rrf: 1 / (K + rank); default 60")
    parser.add_argument("--p", type=float, metavar="P", help="of rbp: (1 - P) P^(rank - 1); default .8")
    parser.add_argument(
        "--norm", metavar="NORM", help=f"of combsum and combmnz: one of {', '.join(NORM_NAMES)}; default min-max"
    )
    parser.add_argument(
        "--share", type=amounts, metavar="P", help="of sample: the part of each topic's stratum, or one for each band"
    )
    parser.add_argument(
        "--strata", metavar="WHAT", help=f"of sample: divide topics by {', '.join(_STRATA)}; default not at all"
    )
    parser.add_argument(
        "--bands", type=bands, metavar="LIST", help="of sample: the last value of each band of --strata: 10,50,inf"
    )
    parser.add_argument(
        "--rel", type=int, metavar="LABEL", help="lowest label of --qrels that a strategy is told is relevant"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="of depth and sample: how many topics at a time, -1 for all cores; default 1",
    )
    parser.add_argument("--seed", type=int, metavar="S", help="decides what a strategy draws; default 0")


def chosen_strategy(options: argparse.Namespace) -> PoolStrategy:
    """Return the strategy that the options name, checked with the options that it has.

    Raises:
        InputError: an unknown strategy, an option that it needs and lacks or has no use for, or one out of range.
    """
    _check_name(options)
    name, strategy = options.strategy, STRATEGIES[options.strategy]
    for option in _options_of(STRATEGIES.values()):
        given = getattr(options, option) is not None
        if given and option not in strategy.options:
            having = [other for other, one in STRATEGIES.items() if option in one.options]
            raise InputError(
                Argument(option),
                f" is no option of strategy {name!r}; it is one of {', '.join(having)}.",
                argument=option,
            )
        if not given and option in strategy.needs:
            raise InputError(f"strategy {name!r} needs ", Option(option, ...), ".", argument=option)
    if strategy.asks and options.qrels is None:
        raise InputError(
            f"strategy {name!r} asks judgments for its labels. Give ", Option("qrels", ...), ".", argument="qrels"
        )
    strategy.check(options)
    return strategy


def _check_name(options: argparse.Namespace) -> None:
    choice("strategy", options.strategy, tuple(STRATEGIES), most=len(STRATEGIES))


def _options_of(strategies: Iterable[PoolStrategy]) -> Iterable[str]:
    return dict.fromkeys(option for one in strategies for option in one.options)
