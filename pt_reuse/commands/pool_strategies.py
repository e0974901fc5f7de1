"""The strategies of `pt-reuse pool`: one row of a table each, with its options and what makes its pool."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pt_reuse._check import choice
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.commands.parser import Parser
from pt_reuse.engine.fusion import METHODS, NORMS, Fusion
from pt_reuse.pooling.candidates import Budget, Per
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.fused import fusion_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.take import take_pool
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet


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
    """

    what: str
    make: Callable[[PoolAsked], Pool]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    check: Callable[[argparse.Namespace], None] = _always
    in_words: Callable[[argparse.Namespace], str] = _nothing


def _to_depth(asked: PoolAsked) -> Pool:
    return depth_pool(asked.runs, depth=asked.depth, contributors=asked.contributors)


def _budget(options: argparse.Namespace) -> Budget:
    return Budget.of(options.n, Per.TOPIC.value if options.per is None else options.per)


def _check_budget(options: argparse.Namespace) -> None:
    _budget(options)


def _take(asked: PoolAsked) -> Pool:
    budget = _budget(asked.options)
    return take_pool(asked.runs, n=budget.n, per=budget.per.value, depth=asked.depth, contributors=asked.contributors)


def _check_fusion(method: str, options: argparse.Namespace) -> None:
    _budget(options)
    Fusion.of(method, k=options.k, p=options.p, norm=options.norm)


def _fuse(method: str, asked: PoolAsked) -> Pool:
    budget = _budget(asked.options)
    return fusion_pool(
        asked.runs,
        n=budget.n,
        method=method,
        per=budget.per.value,
        k=asked.options.k,
        p=asked.options.p,
        norm=asked.options.norm,
        depth=asked.depth,
        contributors=asked.contributors,
    )


def _cut(by: str, options: argparse.Namespace) -> str:
    budget = _budget(options)
    of = "of each topic" if budget.per is Per.TOPIC else "of all topics together"
    return f"It has the {budget.n:,} best {of} by {by}. "


def _fused(method: str, name: str) -> PoolStrategy:
    return PoolStrategy(
        f"the highest by {name}",
        partial(_fuse, method),
        needs=("n",),
        takes=("per", *METHODS[method]),
        check=partial(_check_fusion, method),
        in_words=partial(_cut, name),
    )


#: name -> strategy; those of --strategy, in the order of the help
STRATEGIES = {
    "depth": PoolStrategy("all documents to the depth", _to_depth),
    "take": PoolStrategy(
        "the best-ranked of these",
        _take,
        needs=("n",),
        takes=("per",),
        check=_check_budget,
        in_words=partial(_cut, "best rank"),
    ),
    "rrf": _fused("rrf", "reciprocal rank fusion"),
    "rbp": _fused("rbp", "rank-biased centroids"),
    "combsum": _fused("combsum", "CombSUM"),
    "combmnz": _fused("combmnz", "CombMNZ"),
    "borda": _fused("borda", "Borda count"),
}


def add_strategy(parser: Parser) -> None:
    """Add the option that says how documents are chosen, and the options that strategies have."""
    known = "; ".join(f"{name}: {strategy.what}" for name, strategy in STRATEGIES.items())
    parser.add_argument("--strategy", default="depth", metavar="NAME", help=f"{known}. Default depth")
    parser.add_argument("--n", type=int, metavar="N", help="how many documents to take, of each topic or in all")
    parser.add_argument("--per", metavar="WHAT", help="N is the number of each topic (topic, default) or of all (all)")
    parser.add_argument("--k", type=float, metavar="K", help="of rrf: 1 / (K + rank); default 60")
    parser.add_argument("--p", type=float, metavar="P", help="of rbp: (1 - P) P^(rank - 1); default .8")
    parser.add_argument(
        "--norm", metavar="NORM", help=f"of combsum and combmnz: one of {', '.join(NORMS)}; default min-max"
    )


def chosen_strategy(options: argparse.Namespace) -> PoolStrategy:
    """Return the strategy that the options name, checked with the options that it has.

    Raises:
        InputError: an unknown strategy, an option that it needs and lacks or has no use for, or one out of range.
    """
    name = choice("strategy", options.strategy, tuple(STRATEGIES))
    strategy = STRATEGIES[name]
    every = dict.fromkeys(option for one in STRATEGIES.values() for option in (*one.needs, *one.takes))
    for option in every:
        given = getattr(options, option) is not None
        if given and option not in (*strategy.needs, *strategy.takes):
            having = [other for other, one in STRATEGIES.items() if option in (*one.needs, *one.takes)]
            raise InputError(
                Argument(option),
                f" is no option of strategy {name!r}; it is one of {', '.join(having)}.",
                argument=option,
            )
        if not given and option in strategy.needs:
            raise InputError(f"strategy {name!r} needs ", Option(option, ...), ".", argument=option)
    strategy.check(options)
    return strategy
