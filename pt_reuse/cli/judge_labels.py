"""`pt-reuse judge agreement` and `plan-labels`: how far annotators agree, and which labels people must check."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._check import count
from pt_reuse._errors import InputError, arguments_as, located
from pt_reuse.cli.common_options import add_all, add_out, listed, whole_numbers
from pt_reuse.cli.field import QRELS_HELP, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, table_file, write_result
from pt_reuse.cli.parser import Commands, Parser, add_command
from pt_reuse.cli.screen import SHOWN, print_table, say
from pt_reuse.cli.study_commands import add_flag, declared_flags, show
from pt_reuse.study import study_of

if TYPE_CHECKING:
    from pt_reuse.judging.annotators.measuring import AnnotatorAgreement
    from pt_reuse.studies.plan_labels import LabelPlan

_OF_AGREEMENT = (
    "agreement.csv", "pairs.csv", "others.csv", "gold.csv", "per_topic.csv", "by_label.csv", "confusion.csv",
    "settings.json", "result.json",
)  # fmt: skip
#: the judgments by majority, as a TREC qrels file
_MAJORITY = "majority.qrels"
_PICTURES = {"pairs": "pairs.png", "others": "others.png", "gold": "gold.png"}


def add_agreement(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "agreement",
        "how far annotators agree, and what their majority says",
        "Prints agreement, kappa and alpha of all annotators, of each two, of each with the majority of the others, "
        "and of each with gold labels.",
    )
    parser.add_option(
        "files",
        "FILES",
        "TREC qrels files, each called as its annotator, or CSV files with columns qid, docno, label, annotator",
        nargs="+",
    )
    parser.add_option("--gold", "FILE", f"labels to hold each annotator against: {QRELS_HELP}")
    parser.add_option("--rel", "N", "lowest label that is relevant; default 1, or that of --gold", type=int)
    parser.add_option("--ties", "RULE", "of a majority: lower (default), higher, median or unresolved", default="lower")
    parser.add_option(
        "--scale", "LIST", "comma-separated: the labels there are; default those that occur", type=whole_numbers
    )
    parser.add_option("--weights", "W", "of Cohen's kappa: linear or quadratic; default none")
    parser.add_option("--over", "UNIT", "what the bootstrap draws: topics (default) or items", default="topics")
    parser.add_option("--resamples", "N", "of the bootstrap; default 1000", type=int, default=1000)
    parser.add_option("--seed", "N", "of the bootstrap; default 0", type=int, default=0)
    add_all(parser, "pair")
    add_out(parser, "the tables (CSV), the majority (qrels), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run_agreement)
    return parser


def _run_agreement(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.judging.annotators.labels import check_label_files, majority_vote, read_labels
    from pt_reuse.judging.annotators.measuring import annotator_agreement
    from pt_reuse.study import study_of

    given = {name: getattr(options, name) for name in ("rel", "weights", "ties", "over", "resamples", "seed")}
    study_of(annotator_agreement).checked(given)
    files = check_label_files(options.files)
    with arguments_as(qrels="gold"):
        source = None if options.gold is None else judgment_source(options.gold)
        gold = None if source is None else source.read()
    names = [name for part, name in _PICTURES.items() if part != "gold" or gold is not None]
    folder = out_folder(options, [*_OF_AGREEMENT, _MAJORITY, *names])
    labels = read_labels(files)
    documents = f"{count(len(labels), 'document')} of {count(len(labels.topics), 'topic')}"
    say(f"{count(len(labels.annotators), 'annotator')}, {documents}")
    with arguments_as(labels="files"):
        result = annotator_agreement(labels, gold=gold, scale=options.scale, **given)
    _report(result, options.all)
    majority = majority_vote(labels, ties=options.ties, rel=result.rel)
    say(f"\nMajority of the annotators: {majority!r}")
    tied = majority.to_frame()["tied"]
    say(f"{count(int(tied.sum()), 'tie')}, decided by --ties {options.ties}.")
    if folder is not None:
        drawings: dict[str, Drawing] = {
            name: partial(result.plot, part)
            for part, name in _PICTURES.items()
            if name in names and result.of(part)["kappa"].notna().any()
        }
        written = write_result(result, folder, options, drawings, {_MAJORITY: partial(qrels_file, majority.arrays)})
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _report(result: AnnotatorAgreement, every: bool) -> None:
    ways = result.table[["items", "labels"]].drop_duplicates().itertuples(index=False)
    reports = [(result.report(items=items, labels=labels), True) for items, labels in ways]
    reports += [(result.report(part), every) for part in ("pairs", "others", *(["gold"] if len(result.gold) else []))]
    for report, whole in reports:
        frame = report.shown()
        say(f"\n{report.caption.rstrip('.')}:")
        most = len(frame) if whole else SHOWN
        print_table(frame, most, "rows; --all shows every one", spare=("Band", "From", "To"))
    say()
    for note in dict.fromkeys(note for report, _ in reports for note in report.notes):
        say(note)
    say(f"Fleiss' kappa: {result.settings['Fleiss']}.")
    unlabelled = result.settings.get("gold labels of items nobody labelled")
    if unlabelled:
        say(f"Of {result.settings['gold labels']:,} gold labels {unlabelled:,} are of documents that nobody labelled.")


_TO_CHECK, _OF_PLAN = "to_check.csv", ("table.csv", "settings.json", "result.json")
_TABLES = ("summary.csv", "curve.csv", "sample.csv", "rest.csv", "known.csv")


def add_plan(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "plan-labels",
        "how many labels of a judge people must check, and which",
        "The documents are divided by the judge's label, and of each part a random sample is checked. Afterwards the "
        "same command reads what people say (--plan, --checked), and tells the number with its interval.",
    )
    parser.add_option("--judge", "FILE", f"the judge's labels: {QRELS_HELP}")
    parser.add_option("--pilot", "QRELS", f"judgments that people made before: {QRELS_HELP}")
    parser.add_option("--prior", "SHARE", "what is expected: .3, or by label 0=.05,1=.6; default .5, or the pilot")
    parser.add_option("--runs", "RUN", "run files: one for a mean, two for a difference", nargs="+")
    for flag in declared_flags("plan_labels").values():
        add_flag(parser, flag)
    parser.add_option("--plan", "DIR", "a plan that --out wrote; with --checked, in place of --judge")
    parser.add_option("--checked", "QRELS", "what people say of the documents of --plan")
    add_all(parser, "stratum")
    add_out(parser, "the plan or the estimate: tables (CSV), settings (JSON), a picture (PNG); and to_check.csv")
    parser.set_defaults(run=_run_plan)
    parser.checks.append(partial(_check_plan, parser))
    return parser


def _check_plan(parser: Parser, options: argparse.Namespace) -> None:
    if (options.plan is None) != (options.checked is None):
        parser.error("--plan and --checked go together: the folder of a plan, and what people say.")
    if (options.plan is None) == (options.judge is None):
        parser.error("give the labels of a judge with --judge, or a plan with --plan and --checked.")


def _run_plan(options: argparse.Namespace) -> None:
    from pt_reuse.studies.plan_labels import plan_labels

    estimates = options.plan is not None
    pictures = {f"{'estimate' if estimates else 'plan'}.png": None}
    others = ("strata.csv",) if estimates else (*_TABLES, _TO_CHECK)
    names = study_of(plan_labels).parameters.keys() & vars(options).keys() - {"pilot", "prior", "runs"}
    given = {name: getattr(options, name) for name in names}
    study_of(plan_labels).checked(given)
    given["prior"] = None if options.prior is None else _prior(options.prior)
    folder = out_folder(options, [*_OF_PLAN, *others, *pictures])
    result: Any = _estimate(options) if estimates else _plan(options, given)
    show(result, study_of(plan_labels), options.all, {})
    if folder is None:
        return
    # a stratum would tell those who check what the judge says
    beside = {} if estimates else {_TO_CHECK: partial(table_file, result.sample[["qid", "docno"]])}
    written = write_result(result, folder, options, dict.fromkeys(pictures, result.plot), beside)
    say(f"\nWritten to {folder}: {', '.join(written)}")
    if not estimates:
        say(f"\nTo have them checked: pt-reuse judge export --pool {folder / _TO_CHECK} --out DIR ...")


def _plan(options: argparse.Namespace, given: dict[str, Any]) -> Any:
    from pt_reuse.data.run_reading import read_runs
    from pt_reuse.studies.plan_labels import plan_labels

    judge, pilot = (None if name is None else judgment_source(name) for name in (options.judge, options.pilot))
    labels = None if judge is None else judge.read()
    given["pilot"] = None if pilot is None else pilot.read()
    plan = plan_labels(labels, runs=None if options.runs is None else read_runs(options.runs), **given)
    # what the judge calls relevant is known now
    say(repr(None if labels is None else labels.with_rel(plan.judge_rel)))
    return plan


def _estimate(options: argparse.Namespace) -> Any:
    source = judgment_source(options.checked)
    return _read(options.plan).estimate(source.read())


def _read(path: str) -> LabelPlan:
    from pt_reuse._result import read_result
    from pt_reuse.studies.plan_labels import LabelPlan

    with located("--plan"):
        found: Any = read_result(Path(path))
        if not isinstance(found, LabelPlan):
            raise InputError(f"{path} holds no plan, but a {type(found).__name__}.", argument="plan")
    return found


def _prior(text: str) -> Any:
    """Return a share, or a dict of label -> share."""
    try:
        if "=" not in text:
            return float(text)
        pairs = [part.split("=") for part in listed(text)]
        return {int(label): float(share) for label, share in pairs}
    except ValueError:
        raise InputError(
            f"must be a share, such as .3, or one for each label, such as 0=.05,1=.6, got {text!r}.",
            place="--prior",
            argument="prior",
        ) from None
