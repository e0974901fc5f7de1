"""Options: what every option of a study means, how it is checked, what a command calls it, what can be chosen."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ParamSpec, TypeAlias, TypeVar, get_type_hints

from pt_reuse.errors import checked_jobs, checked_seed, choice, flag, fraction, positive, whole

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: the width of a docstring, which is indented
_WIDTH = 116
#: what stands before the arguments in a docstring, their entries, and the sections after them
_DOC = re.compile(
    r"(.*?)(?:^Args:\n((?:(?: [^\n]*)?\n)*)|(?=^(?:Returns|Raises|Warns|Examples?):$|^Source: |\Z))(.*)",
    re.MULTILINE | re.DOTALL,
)
_ENTRY = re.compile(r"^ {4}\*{0,2}(\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Flag:
    """How a command takes an option."""

    help: str = ""  # in a line; the default is added; default the first sentence of the option's meaning
    metavar: str = "N"  # what stands for the value
    # how the text is read: text, int, float, list (texts between commas), switch, or a kind of ``study_commands``
    kind: str = "int"
    name: str = ""  # ``"--depth"``; default the name of the option with dashes
    default: str = ""  # in words, where the default is None
    usual: Any = None  # the default, said here for what the function does not take
    needed: bool = False  # whether the command cannot do without; the signature says it


@dataclass(frozen=True)
class Option:
    """What an argument of studies is: ``Depth = Annotated[int | None, Option("of the pool.", check=...)]``."""

    meaning: str = ""  # what the docstring says of it
    # returns the value as it is used; ``"module:function"`` where the function is imported late
    check: Callable[[Any], Any] | str | None = field(default=None, kw_only=True)
    choices: tuple[str, ...] = field(default=(), kw_only=True)  # the words that it takes, instead of a check
    flag: Flag | None = field(default=None, kw_only=True)  # how a command takes it; None where it has none
    name: str = field(default="", kw_only=True)  # of the argument, where an option is declared beside a signature

    @property
    def shell(self) -> Flag | None:
        """Return how a command takes it, with its help."""
        if self.flag is None or self.flag.help:
            return self.flag
        plain = re.sub(r":\w+:`~?([^`]*)`|``\"?([^`\"]*)\"?``|`([^`]*)`", r"\1\2\3", self.meaning)
        return replace(self.flag, help=re.split(r"[.;] |[.;]$|, see ", plain)[0])

    def checked(self, value: Any, name: str = "") -> Any:
        """Return the value of an argument as it is used."""
        if self.choices:
            return choice(name or self.name, value, self.choices)
        check = self.check
        if isinstance(check, str):
            module, _, function = check.partition(":")
            check = getattr(importlib.import_module(module), function)
        return value if check is None else check(value)


# what can be chosen, and what is taken where nobody says

#: what each ranking order does; the first is the default
ORDERS = {
    "trec_eval": "score descending as float64, ties by docno descending in byte order (trec_eval 10)",
    "trec_eval9": "score descending as float32, ties by docno descending in byte order (trec_eval 9, pytrec_eval)",
    "rank": "the rank column ascending",
    "file": "as read",
}
#: test of significance -> what it is
TESTS = {
    "t": "Student's paired t test",
    "wilcoxon": (
        "Wilcoxon's signed-rank test (zeros left out, normal approximation without continuity correction, variance "
        "corrected for ties)"
    ),
    "randomisation": "sign-flip randomisation test (every way of turning signs, if no more than samples)",
    "tukey": "randomised Tukey HSD test of all systems together",
}
#: corrections for many tests
CORRECTIONS = ("none", "bonferroni", "holm", "benjamini-hochberg")
#: which of them studies of significance make where nobody says: none, as in most papers
CORRECTION = "none"
#: random signs, or scores that change places, if nobody says how many
SAMPLES = 10_000
#: method of fusion -> the options that it has
METHODS: dict[str, tuple[str, ...]] = {
    "rrf": ("k",),
    "rbp": ("p",),
    "combsum": ("norm",),
    "combmnz": ("norm",),
    "borda": (),
}
#: how the scores of a list are made comparable with those of others
NORM_NAMES = ("min-max", "max", "sum", "zmuv", "rank")
#: strategies that learn from labels, and those whose order is fixed
LEARNING = ("mtf", "max-mean", "max-mean-ns", "epsilon-greedy", "ucb1-tuned", "thompson", "hedge", "mtc")
RANDOM_ORDER = "random"
FIXED = ("rank", *METHODS, RANDOM_ORDER)
#: upper ends of the bins of minimum ranks, and of the shades of their figure, of the paper
EDGES = (1, 5, 10, 30, 50)
#: the depths of pools whose costs are told where nobody names any
POOL_DEPTHS = (1, 2, 5, 10, 20, 50, 100)
#: the swap rate that is asked for where nobody says
USUAL_RATE = 0.05
#: what a plan of labels can be for
MEAN, DIFFERENCE, PRECISION = "mean", "difference", "precision"
TARGETS = (MEAN, DIFFERENCE, PRECISION)
#: the conventions that are varied where nobody says which, as far as a study has them
USUAL = ("order", "pool_order", "contributors", "depth", "rel", "complete", "remove")


#: the options that studies share, each with its name where that is the same everywhere
Runs: TypeAlias = Annotated[
    Any, Option("the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.", name="runs")
]
Judgments: TypeAlias = Annotated[
    Any, Option("the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.", name="qrels")
]
ScoresOf: TypeAlias = Annotated[
    Any,
    Option(
        "what :func:`score` returned, or a dict of a name -> Scores for each of several judgments, under the same "
        "measures; those of pipelines by :meth:`Scores.from_frame`.",
        name="scores",
    ),
]
OtherJudgments: TypeAlias = Annotated[
    Any,
    Option(
        "the other judgments, in any form.",
        name="other",
        flag=Flag(name="--other", help="the other judgments: a file or a collection", metavar="FILE", kind="judgments"),
    ),
]
HumanJudgments: TypeAlias = Annotated[
    Any, Option("the judgments of people, in any form, see :doc:`runs`; a negative label is none.", name="human")
]
JudgeLabels: TypeAlias = Annotated[
    Any,
    Option(
        "who is compared with people: judgments in any form, a :class:`judging.Judge`, a function or a pipeline, "
        "which is asked for the documents that people judged; a dict of name -> one of these; or a folder of judges, "
        "read as :func:`judging.read_judges` reads it.",
        name="judge",
    ),
]
JudgeGrade: TypeAlias = Annotated[
    Any,
    Option(
        "the lowest label of a judge that is relevant, or a dict of its label -> the label of people that it stands "
        "for; one for all, or a dict of judge -> one of these. Default: what the judge says; else 1 where all its "
        "labels are 0 and 1, and as for people where none is above the highest of theirs. Labels above it are "
        "refused.",
        name="judge_rel",
    ),
]
Families: TypeAlias = Annotated[Any, Option("judge -> family of models; default what the judges say.", name="families")]
Unit: TypeAlias = Annotated[
    str,
    Option(
        'leave out one ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"`` at a time.',
        name="by",
        choices=("team", "run", "type", "family"),
        flag=Flag(help="what to leave out: team, run, type or family", metavar="UNIT", kind="text"),
    ),
]
Missing: TypeAlias = Annotated[
    str,
    Option(
        'a document that people judged and the judge did not is ``"unjudged"`` under the judge (default), or counts '
        'for neither (``"drop"``).',
        name="missing",
        choices=("unjudged", "drop"),
        flag=Flag(
            name="--missing-labels",
            help="documents without a label of the judge: unjudged for the judge, or drop: left out for both",
            metavar="WHAT",
            kind="text",
        ),
    ),
]
_MEASURES = Flag(help="comma-separated", metavar="LIST", kind="list")
Measures: TypeAlias = Annotated[
    Any,
    Option(
        "ir_measures measures or their names, one or several; default AP, from the grade from which documents are "
        "relevant, and ``nDCG@10``.",
        name="measures",
        check="pt_reuse.scoring.scores:checked_measures",
        flag=replace(_MEASURES, default="AP,nDCG@10, and AP(rel=2) where documents are relevant from label 2"),
    ),
]
Depth: TypeAlias = Annotated[
    int | None,
    Option(
        "of the pool, documents per run and topic; default the one on record for the collection "
        "(``runs.pool_depth``), else 100.",
        name="depth",
        check="pt_reuse.pooling.depth:checked_depth",
        flag=Flag(help="pool depth", metavar="K", default="that of the collection, else 100"),
    ),
]
Contributing: TypeAlias = Annotated[
    str | Iterable[str],
    Option('the runs that are pooled: ``"pooled"`` (default), ``"all"``, or run names.', name="contributors"),
]
PoolOrder: TypeAlias = Annotated[
    Any,
    Option(
        "the order in which the runs were pooled, where it is not the one in which they are scored; default that of "
        "the field.",
        name="pool_order",
        check="pt_reuse.data.coding:checked_pool_order",
    ),
]
Order: TypeAlias = Annotated[
    Any,
    Option(
        'the order in which the runs are pooled, ``"trec_eval"``, ``"trec_eval9"``, ``"rank"`` or ``"file"``; default '
        "that of the field. Scores do not depend on it.",
        name="order",
    ),
]
Rel: TypeAlias = Annotated[
    int | None,
    Option(
        "the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1. Measures have "
        "a `rel` of their own.",
        name="rel",
        check="pt_reuse.data.judgments:checked_rel",
        flag=Flag(help="lowest label that is relevant", metavar="LABEL", default="that of the collection, else 1"),
    ),
]
Complete: TypeAlias = Annotated[
    bool,
    Option(
        "the mean is over all topics of the judgments (default), or over those that the run has.",
        name="complete",
        check=partial(flag, "complete"),
        flag=Flag(name="--own-topics", help="means over the topics that a run has", kind="off", usual=True),
    ),
]
WithoutTopics: TypeAlias = Annotated[
    str,
    Option(
        'a run with none of the judgments\' topics is an ``"error"`` (default), or scores ``"zero"``.',
        name="without_topics",
        choices=("error", "zero"),
    ),
]
Resamples: TypeAlias = Annotated[
    int,
    Option(
        "how often topics are drawn with replacement for intervals; 0 for none.",
        name="resamples",
        check=partial(whole, "resamples", unit="draws", least=0),
        flag=Flag(help="draw the topics N times for intervals, 0 for none"),
    ),
]
Confidence: TypeAlias = Annotated[
    float,
    Option(
        "the confidence level of intervals.",
        name="confidence",
        check=partial(fraction, "confidence", ends=False),
        flag=Flag(help="confidence level of intervals", metavar="P", kind="float"),
    ),
]
Seed: TypeAlias = Annotated[
    int,
    Option(
        "the seed of the random numbers: the same seed gives the same numbers in every process.",
        name="seed",
        check=checked_seed,
        flag=Flag(help="seed of the random numbers"),
    ),
]
Jobs: TypeAlias = Annotated[
    int | None,
    Option(
        "jobs at a time, as joblib takes it; default what ``joblib.parallel_config`` says, else 1. The numbers do not "
        "depend on it.",
        name="n_jobs",
        check=checked_jobs,
        flag=Flag(name="--jobs", help="how many jobs at a time, -1 for all cores", default="1"),
    ),
]
Test: TypeAlias = Annotated[
    str,
    Option(
        'two-sided, over topics: ``"t"`` (default), ``"wilcoxon"``, ``"randomisation"`` or ``"tukey"``, see '
        ":func:`~pt_reuse.profile.discriminative_power`.",
        name="test",
        choices=tuple(TESTS),
        flag=Flag(help=f"significance test: {', '.join(TESTS)}", metavar="TEST", kind="text"),
    ),
]
Alpha: TypeAlias = Annotated[
    float,
    Option(
        "the level of significance: a p-value of at most that is significant.",
        name="alpha",
        check=partial(fraction, "alpha", ends=False),
        flag=Flag(help="level of significance", metavar="P", kind="float"),
    ),
]
Correction: TypeAlias = Annotated[
    str,
    Option(
        'the correction for the number of pairs, of each measure and set of labels alone: ``"none"``, ``"holm"``, '
        '``"bonferroni"`` or ``"benjamini-hochberg"``.',
        name="correction",
        choices=tuple(CORRECTIONS),
        flag=Flag(help=f"correction for the number of pairs: {', '.join(CORRECTIONS)}", metavar="WHICH", kind="text"),
    ),
]
Samples: TypeAlias = Annotated[
    int,
    Option(
        "how often tests that use random numbers draw, at least 1.",
        name="samples",
        check=partial(positive, "samples", unit="draws"),
    ),
]
Verbose: TypeAlias = Annotated[bool, Option("show a progress bar.", name="verbose", check=partial(flag, "verbose"))]

#: those that are named alike everywhere, by their argument
SHARED: dict[str, Option] = {
    option.name: option for alias in [*globals().values()] for option in getattr(alias, "__metadata__", ())
}

#: the measures of studies of what stands at the top of lists
PRECISION_AND_GAIN = replace(
    SHARED["measures"],
    meaning="ir_measures measures or their names, one or several; default ``P@10``, from the grade from which "
    "documents are relevant, and ``nDCG@10``.",
    flag=replace(_MEASURES, default="P@10,nDCG@10, and P(rel=2)@10 where documents are relevant from label 2"),
)


def options_of(call: Callable[..., Any]) -> dict[str, Option]:
    """Return the options that a signature declares, by their arguments."""
    hints = get_type_hints(call, include_extras=True)
    found = {
        name: [o for o in getattr(hint, "__metadata__", ()) if isinstance(o, Option)] for name, hint in hints.items()
    }
    return {name: replace(declared[-1], name=name) for name, declared in found.items() if declared}


def documented(call: Callable[..., Any], own: Mapping[str, Option], returns: str = "") -> str:
    """Return the docstring of a function with an entry for each argument, and what it returns where it does not say."""
    head, args, tail = _DOC.findall(f"{inspect.cleandoc(call.__doc__ or '')}\n")[0]
    if returns and not re.search("^Returns:$", tail, re.MULTILINE):
        tail = f"Returns:\n{_indented(returns, '    ')}\n\n{tail}"
    written = {name: " ".join(text.split()) for name, text in _ENTRY.findall(args)}
    entries = []
    for name in inspect.signature(call).parameters:
        meaning = written.pop(name, None)
        if meaning is None:
            meaning = own[name].meaning if name in own else SHARED[name].meaning
        entries.append(_indented(f"{name}: {meaning}", "        "))
    if written:
        raise TypeError(f"{call.__name__} documents {', '.join(written)}, which it does not take.")
    return "\n".join([head.rstrip(), "", "Args:", *entries, "", tail]).rstrip() + "\n"


def _indented(text: str, others: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent="    ", subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )


def described(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a public function that is no study have an entry in its docstring for each shared option."""
    call.__doc__ = documented(call, {})
    return call
