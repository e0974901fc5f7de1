"""`pt-reuse judge plan-labels`: how many labels of a judge people must check, which, and what is known then."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._errors import InputError, located
from pt_reuse.cli.judgments import QRELS_HELP, judgment_source
from pt_reuse.cli.output import out_folder, table_file, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, listed
from pt_reuse.cli.screen import say
from pt_reuse.cli.study_commands import add_flag, show
from pt_reuse.study import DECLARED, study_of

if TYPE_CHECKING:
    from pt_reuse.studies.plan_labels import LabelPlan

_TO_CHECK, _SAVED = "to_check.csv", ("table.csv", "settings.json", "result.json")
_TABLES = ("summary.csv", "curve.csv", "sample.csv", "rest.csv", "known.csv")


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "plan-labels",
        "how many labels of a judge people must check, and which",
        "The documents are divided by the judge's label, and of each part a random sample is checked. Afterwards the "
        "same command reads what people say (--plan, --checked), and tells the number with its interval.",
    )
    parser.add_argument("--judge", metavar="FILE", help=f"the judge's labels: {QRELS_HELP}")
    parser.add_argument("--pilot", metavar="QRELS", help=f"judgments that people made before: {QRELS_HELP}")
    parser.add_argument(
        "--prior", metavar="SHARE", help="what is expected: .3, or by label 0=.05,1=.6; default .5, or the pilot"
    )
    parser.add_argument("--runs", nargs="+", metavar="RUN", help="run files: one for a mean, two for a difference")
    for flag in next(declared["flags"] for declared in DECLARED if declared["function"] == "plan_labels"):
        add_flag(parser, flag)
    parser.add_argument("--plan", metavar="DIR", help="a plan that --out wrote; with --checked, in place of --judge")
    parser.add_argument("--checked", metavar="QRELS", help="what people say of the documents of --plan")
    add_all(parser, "stratum")
    add_out(parser, "the plan or the estimate: tables (CSV), settings (JSON), a picture (PNG); and to_check.csv")
    parser.set_defaults(run=_run)
    parser.checks.append(partial(_check, parser))
    return parser


def _check(parser: Parser, options: argparse.Namespace) -> None:
    if (options.plan is None) != (options.checked is None):
        parser.error("--plan and --checked go together: the folder of a plan, and what people say.")
    if (options.plan is None) == (options.judge is None):
        parser.error("give the labels of a judge with --judge, or a plan with --plan and --checked.")


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.studies.plan_labels import plan_labels

    estimates = options.plan is not None
    pictures = {f"{'estimate' if estimates else 'plan'}.png": None}
    others = ("strata.csv",) if estimates else (*_TABLES, _TO_CHECK)
    names = study_of(plan_labels).parameters.keys() & vars(options).keys() - {"pilot", "prior", "runs"}
    given = {name: getattr(options, name) for name in names}
    study_of(plan_labels).checked(given)
    given["prior"] = None if options.prior is None else _prior(options.prior)
    folder = out_folder(options, [*_SAVED, *others, *pictures])
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
