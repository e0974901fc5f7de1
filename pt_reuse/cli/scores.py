"""`pt-reuse runs`, `score`, `unjudged`, `pool` and `infer-pool`: run files, their scores and their pool."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from pt_reuse.cli.field import add_field, plan_field
from pt_reuse.cli.output import (
    out_folder,
    print_table,
    put,
    say,
    say_answers,
    show,
    shows_bars,
    table_file,
    write_files,
    write_result,
)
from pt_reuse.cli.parser import (
    OUTPUT,
    Parser,
    chosen_contributors,
    chosen_measures,
    number_or_numbers,
    number_or_text,
    numbers,
)
from pt_reuse.errors import InputError, checked_jobs, checked_seed, choice, count, plural, positive
from pt_reuse.options import FIXED, LEARNING, METHODS

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.pooling.pool import Pool
    from pt_reuse.studies.coverage import JudgedLists


#: the documents to be judged, as a file of judgments in which every label is still to come
_TO_JUDGE = "to_judge.txt"
#: strategies that ask judgments for the label of each document
_ASKING = (*LEARNING, *(name for name in FIXED if name not in ("rank", *METHODS)))
#: name -> the options that a strategy has; those of --strategy, in the order of the help
STRATEGIES: dict[str, tuple[str, ...]] = {
    "depth": ("jobs",),
    "take": ("n", "per"),
    **{method: ("n", "per") for method in METHODS},
    "sample": ("share", "n", "strata", "bands", "seed", "jobs"),
    **{name: ("n", "rel", "seed") for name in _ASKING},
}
_STRATEGY_HELP = (
    "depth: all documents to the depth (default); take: the best-ranked of these; "
    f"{', '.join(METHODS)}: the highest by a fusion of the runs; sample: a random sample, with the probability with "
    f"which each document came into it; {', '.join(_ASKING)}: judged one by one, each chosen by the labels of "
    "--qrels for those before it"
)
#: option -> how its text is read, and what the help says
_OPTIONS: dict[str, tuple[Any, str]] = {
    "n": (number_or_numbers, "how many documents to take, of each topic or in all; of sample: of each stratum"),
    "per": (str, "N is the number of each topic (topic, default) or of all (all)"),
    "share": (number_or_numbers, "of sample: the part of each topic's stratum, or one for each band"),
    "strata": (str, "of sample: divide topics by rank, runs, teams, types; default not at all"),
    "bands": (numbers, "of sample: the last value of each band of --strata: 10,50,inf"),
    "rel": (int, "lowest label of --qrels that is relevant for a strategy"),
    "jobs": (int, "of depth and sample: how many topics at a time, -1 for all cores; default 1"),
    "seed": (int, "decides what a strategy draws; default 0"),
}


def add_pool(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "The pool has the first documents of every contributing run, or with --strategy those of "
        "them that the strategy chooses. With --qrels it is said what of it is judged: a label of at least 0; a "
        "document labelled below 0 is still to be judged."
    )
    add_field(parser, judged=None)
    parser.add_option("--depth", "K", "pool depth; default that of the collection, else 100", type=int)
    parser.add_option("--strategy", "NAME", _STRATEGY_HELP, default="depth")
    for name, (kind, text) in _OPTIONS.items():
        parser.add_option(f"--{name}", name.upper(), text, type=kind)
    parser.add_option("--by", "UNIT", "who contributed what: by team, run, type or family; default team if known")
    parser.add_contributors()
    parser.called["n_jobs"] = "jobs"
    parser.checks.append(_given)
    parser.add_out(f"the pool, its counts (CSV), and what is to be judged (a qrels file, labels -1, {_TO_JUDGE})")
    parser.set_defaults(run=_run_pool)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that are given to the strategy."""
    name = choice("strategy", options.strategy, tuple(STRATEGIES), most=len(STRATEGIES))
    given = {option: value for option in _OPTIONS if (value := getattr(options, option)) is not None}
    for option in given:
        if option not in STRATEGIES[name]:
            having = ", ".join(other for other, known in STRATEGIES.items() if option in known)
            raise InputError(f"{option} is no option of strategy {name!r}; it is one of {having}.", argument=option)
    if name in _ASKING and options.qrels is None:
        raise InputError(f"strategy {name!r} needs qrels=.", argument="qrels")
    if name not in ("depth", "sample") and "n" not in given:
        raise InputError(f"strategy {name!r} needs n=.", argument="n")
    checked_seed(given.get("seed", 0))
    return given


def _pool_of(
    runs: RunSet, qrels: Qrels | None, options: argparse.Namespace, given: dict[str, Any], **common: Any
) -> Pool:
    """Return the pool that the strategy makes; `common` are depth and contributors."""
    from pt_reuse.pooling.adaptive.strategy import adaptive_pool
    from pt_reuse.pooling.depth import depth_pool, fusion_pool, take_pool
    from pt_reuse.pooling.sampling import sample_pool

    name = options.strategy
    if name in ("depth", "sample"):
        pool = depth_pool(runs, **common, n_jobs=given.pop("jobs", None))
        return pool if name == "depth" else sample_pool(pool, **{"seed": 0, **given})
    if name == "take":
        return take_pool(runs, **given, **common)
    if name in METHODS:
        return fusion_pool(runs, method=name, **given, **common)
    return adaptive_pool(runs, qrels, name, **given, **common, verbose=shows_bars(options))


def _run_pool(options: argparse.Namespace) -> None:
    from pt_reuse._files import read_file
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.data.units import COLUMNS, check_unit_is_given
    from pt_reuse.pooling.depth import checked_depth, depth_of

    given, plan = _given(options), plan_field(options)
    if options.depth is not None:
        checked_depth(options.depth)
    contributors = chosen_contributors(options, plan.names)
    if options.by is not None:
        check_unit_is_given(choice("by", options.by, tuple(COLUMNS)), plan.columns)
    folder = out_folder(options)
    to_judge = None if folder is None else folder / _TO_JUDGE
    lines = read_file(to_judge).splitlines() if to_judge is not None and to_judge.is_file() else []
    if any(line.split()[-1] != b"-1" for line in lines if line.strip()):
        problem = "it has labels in place of -1, which would be lost. Move it, or give another out=."
        raise InputError(problem, place=str(to_judge), argument="out")
    qrels = None if options.qrels is None or plan.judgments is None else plan.judgments.read()
    runs = plan.read_runs()
    depth = depth_of(runs, options.depth)
    pool = _pool_of(runs, qrels, options, given, depth=depth.value, contributors=contributors)
    rest = pool if qrels is None else pool.remainder(qrels)
    by = options.by or ("team" if pool.run_table["team"].notna().any() else "run")
    origin = "given" if options.depth is not None else f"that of {depth.origin}"
    sizes, new, units = pool.documents.sizes, len(rest), _by_unit(pool, rest, by)
    judged = f" Judged are {len(pool) - new:,}, to be judged {new:,} ({new / max(len(pool), 1):.1%})."
    if qrels is None:
        judged, units = "", units.drop(columns=["to_judge", "to_judge_unique"])
    say(
        f"The pool: {count(len(pool), 'document')} of {count(len(pool.run_table), 'contributing run')} on "
        f"{count(len(sizes), 'topic')}, {sizes.min():,} to {sizes.max():,} per topic, {sizes.mean():,.1f} on average."
        f"{judged} The depth, {depth.value}, is {origin}."
    )
    say(f"\nBy {by}, most documents first (unique: that no other {by} contributed):")
    print_table(units.rename(columns=lambda name: name.replace("_", " ")), f"{plural(by)}; --out DIR writes all")
    if folder is not None:
        settings = {**pool.settings, "order": pool.order, **runs.settings}
        settings |= {"contributors": contributors} if isinstance(contributors, list) else {}
        files: dict[str, Any] = {
            "pool.csv": pool.to_frame(), "by_topic.csv": pool.counts(qrels), "by_unit.csv": units
        }  # fmt: skip
        if len(rest):
            some = [qid for qid, n in zip(rest.topics, rest.documents.sizes.tolist(), strict=True) if n]
            files[_TO_JUDGE] = qrels_file(rest.to_qrels().select(some).arrays)
        write_files(files, folder, options, settings, [_TO_JUDGE])


def _by_unit(pool: Pool, rest: Pool, by: str) -> pd.DataFrame:
    """Return one row per team, run, type or family: its runs, documents and uniques, of the pool and to be judged."""
    import numpy as np
    import pandas as pd

    _, units = pool.sole(by)
    table, n = pd.DataFrame({units.column: units.names, "runs": units.runs()}), max(len(units), 1)
    for part, documents, unique in ((pool, "documents", "unique"), (rest, "to_judge", "to_judge_unique")):
        sole, _ = part.sole(by)
        pairs = np.unique(part.entries.document * n + units.of_run[part.entries.run])
        table[documents] = np.bincount(pairs % n, minlength=len(units))
        table[unique] = np.bincount(sole[sole >= 0], minlength=len(units))
    return table.sort_values("documents", ascending=False, kind="stable", ignore_index=True)


#: what `infer-pool` writes for `lou`
_CONTRIBUTORS, _JUDGMENTS = "contributors.txt", "judgments.txt"


def add_infer_pool(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_field(parser)
    depth = "pool depth, or 'topic' for one per topic, 'common' for one for all; default what fits best"
    parser.add_option("--depth", "K", depth, type=number_or_text)
    parser.add_option("--tolerance", "T", "share of a run that may be unjudged; default what fits best", type=float)
    parser.add_out("the tables (CSV), the settings (JSON) and the picture")
    parser.set_defaults(run=_run_infer)


def _run_infer(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.studies.infer_pool import infer_pool
    from pt_reuse.study import study_of

    plan = plan_field(options, pooled_matters=False)
    given = {"depth": options.depth, "tolerance": options.tolerance}
    study_of(infer_pool).checked(given)
    folder = out_folder(options)
    qrels, runs = plan.needed_judgments().read(), plan.read_runs()
    result = infer_pool(runs, qrels, **given, order=options.pool_order, verbose=shows_bars(options))
    show(result)
    say("\nRuns by what is on record (pooled, NA: nothing) and what speaks for them:")
    print_table(result.confusion, "rows")
    names = "".join(f"{name}\n" for name in result.contributors)
    beside = {_CONTRIBUTORS: names.encode("utf-8", "surrogateescape")}
    beside |= {_JUDGMENTS: qrels_file(qrels.select(result.topics).arrays)} if result.apart else {}
    write_result(result, folder, options, {"judged-by-rank.png": {}}, beside)
    if result.contributors:
        at, depth = folder or "OUT", f" --depth {result.depth}" if result.depth else ""
        judged = f"{at}/{_JUDGMENTS}" if result.apart else options.qrels
        given_runs = options.runs or ["--collection", options.collection]
        field = shlex.join([*given_runs, *(["--qrels", judged] if judged else [])])
        pooled = f"--pooled {shlex.quote(f'{at}/{_CONTRIBUTORS}')}"
        say(f"\nTo go on{'' if folder else ' (--out OUT writes what is named)'}:")
        put(f"  pt-reuse lou {field} {pooled}{depth} --pool-order {result.order}")


def add_runs(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "With --qrels: which runs lack topics or judged documents, have scores that rise with "
        "the rank, or scores so equal that their order changes a mean."
    )
    add_field(parser, judged=None)
    parser.add_flags("leave_out_uniques", "measures")
    parser.add_out("every run and what was left out, and how runs fit the judgments (CSV),")
    parser.set_defaults(run=_run_runs)


def _run_runs(options: argparse.Namespace) -> None:
    from pt_reuse.studies.check_runs import check_runs

    plan, folder = plan_field(options), out_folder(options)
    judgments = plan.judgments if options.qrels is not None else None
    measures = None if judgments is None else chosen_measures(options.measures, judgments.rel)
    qrels, runs = None if judgments is None else judgments.read(), plan.read_runs()
    sizes, dropped = runs.sizes().dropna(axis="columns", how="all"), runs.dropped
    tables = {"runs.csv": sizes, "left_out.csv": dropped}
    say(repr(runs))
    spare = [*sizes.columns[8:][::-1], "shortest", "longest", "type", "team"]
    print_table(sizes, "runs; --out DIR writes all", spare=spare)
    if len(dropped):
        say("\nLeft out:")
        print_table(dropped, "rows; --out DIR writes all", spare=("qid", "docno"))
    if qrels is not None:
        say()
        fit = check_runs(runs, qrels, measures)
        show(fit)
        tables |= {"fit.csv": fit.table, "ties.csv": fit.ties}
    write_files(tables, folder, options, earlier=("fit.csv", "ties.csv"))


def add_score(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "The mean is over all topics of the judgments; a topic for which a run returns nothing "
        "counts 0, as in trec_eval -c. A rank is 1 plus the number of runs with a higher mean, for every measure."
    )
    add_field(parser)
    parser.add_flags("leave_out_uniques", "measures")
    parser.add_option("--own-topics", "", "mean over the topics that a run has")
    parser.add_option("--per-topic", "", "also show a line for every run and topic", group=OUTPUT)
    parser.add_jobs()
    parser.add_out("the tables, one with every topic among them (CSV), and the settings (JSON)")
    parser.set_defaults(run=_run_score)


def _run_score(options: argparse.Namespace) -> None:
    from pt_reuse.scoring.scores import score

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    measures, jobs = chosen_measures(options.measures, judgments.rel), checked_jobs(options.jobs)
    folder = out_folder(options)
    qrels, runs = judgments.read(), plan.read_runs()
    scores = score(runs, qrels, measures, complete=not options.own_topics, n_jobs=jobs, verbose=shows_bars(options))
    report = scores.report()
    say_answers(scores)
    say(f"\n{report.caption}")
    print_table(report.shown(), "runs; --out DIR writes all")
    if options.per_topic:
        say("\nPer topic; where a run returns nothing, an empty list is scored:")
        print_table(scores.per_topic, "lines; --out DIR writes all")
    say("\n".join(["", *scores.conditions()]))
    if folder is not None:
        write_result(scores, folder, options, {}, {"per_topic.csv": table_file(scores.per_topic)})


_BY = ("run", "team", "type", "family")


def add_unjudged(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "Unjudged@k is the share of a run's first k documents that have no judgment, as a mean "
        "over the topics of the judgments; a topic for which the run returns nothing has 1. Judged is a label of at "
        "least 0: a document labelled -1 (pooled and not judged) or less counts as unjudged."
    )
    add_field(parser)
    parser.add_option("--cutoff", "LIST", "comma-separated ranks k; default 10,100", default=[10, 100], type=numbers)
    parser.add_option("--by", "UNIT", "also a table by team, type or family; default run alone", default="run")
    parser.add_jobs()
    parser.add_out("the tables, one with a row per run and topic among them (CSV), and the settings (JSON)")
    parser.set_defaults(run=_run_unjudged)


def _run_unjudged(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.scoring.caveats import misfits, relevant_only, tell
    from pt_reuse.scoring.measures import Unjudged
    from pt_reuse.scoring.scores import check_topics
    from pt_reuse.studies.coverage import JudgedLists

    plan = plan_field(options, pooled_matters=False)
    judgments, jobs = plan.needed_judgments(), checked_jobs(options.jobs)
    cutoffs = list(dict.fromkeys(positive("cutoff", k, "documents") for k in options.cutoff))
    check_unit_is_given(choice("by", options.by, _BY), plan.columns)
    folder = out_folder(options)
    qrels, runs = judgments.read(), plan.read_runs()
    check_topics(runs, qrels)
    # the answer tells of topics that runs lack, which count 1 here
    tell([*relevant_only(qrels), *misfits(runs, qrels, [Unjudged @ k for k in cutoffs], without_topics="zero")])
    found = JudgedLists.of(runs, qrels, cutoffs, n_jobs=jobs, verbose=shows_bars(options))
    tables = {"by_run.csv": (by_run := found.by_run()), "by_topic.csv": found.by_topic()}
    say(_judged_in_words(found, by_run))
    if below := int((qrels.arrays.labels < 0).sum()):
        say(f"{count(below, 'document')} of the judgments with a label below 0 counted as unjudged.")
    if options.by != "run":
        runs.units(options.by)
        tables[f"by_{options.by}.csv"] = units = found.by_unit(options.by)
        say(f"\nBy {options.by}, the mean of the runs:")
        print_table(_in_brief(units, [options.by, "runs"], cutoffs), plural(options.by))
    say("\nPer run, the share that was never judged, the mean over all topics of the judgments:")
    known = [column for column in ("name", "team", "pooled") if by_run[column].notna().any()]
    print_table(_in_brief(by_run, known, cutoffs), "runs; --out DIR writes all", spare=("team",))
    judged = "judged: a label of at least 0; a label below 0 (pooled and not judged, junk) counts as unjudged"
    settings = {**runs.settings, "cutoffs": cutoffs, "convention": judged, "topics": len(qrels.topics)}
    write_files(tables, folder, options, settings, [f"by_{unit}.csv" for unit in _BY])


def _judged_in_words(found: JudgedLists, table: pd.DataFrame) -> str:
    """Return the answer in a sentence: the median of pooled and of other runs, and the run with the largest share."""
    k, worst = found.depths[0], table.iloc[0]
    share, pooled = f"Unjudged@{k}", table["pooled"].astype("boolean")
    groups = {
        "pooled": pooled.fillna(False),
        "not pooled": ~pooled.fillna(True),
        "not known whether pooled": pooled.isna(),
    }
    medians = [
        f"{rows[share].median():.1%} ({count(len(rows), 'run')} {which})"
        for which, of in groups.items()
        if len(rows := table[of.astype(bool)])
    ]
    most = f"{worst[share]:.1%} ({worst['name']}: {worst[f'unjudged@{k}']:,} of {worst[f'documents@{k}']:,} documents)"
    lacking = int((table["topics"] < len(found.topics)).sum())
    more = f" {count(lacking, 'run')} without documents for some topics; these count as 1." if lacking else ""
    return f"{share}: median {', '.join(medians)}; largest {most}.{more}"


def _in_brief(table: pd.DataFrame, first: list[str], cutoffs: list[int]) -> pd.DataFrame:
    """Return what the screen shows: each share with the numbers behind it."""
    shown = table[first].copy()
    for k in cutoffs:
        counts = zip(table[f"unjudged@{k}"], table[f"documents@{k}"], strict=True)
        shown[f"Unjudged@{k}"] = table[f"Unjudged@{k}"]
        shown[f"of the top {k}"] = [f"{n:,} of {m:,}" for n, m in counts]
    return shown
