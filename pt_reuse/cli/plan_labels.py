"""`pt-reuse judge plan-labels`: how many labels of a judge people must check, which, and what is known then."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._choices import TARGETS
from pt_reuse._errors import InputError, located
from pt_reuse.cli.judgments import QRELS_HELP, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, table_file, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, listed
from pt_reuse.cli.screen import SHOWN, print_table, say

if TYPE_CHECKING:
    from pt_reuse.studies.label_plans.plan import LabelPlan

_PICTURE, _TO_CHECK = "plan.png", "to_check.csv"
_TABLES = ("table", "summary", "curve", "sample", "rest", "known")
_FILES = (*(f"{name}.csv" for name in _TABLES), "settings.json", "result.json", _TO_CHECK, _PICTURE)
_ESTIMATED = ("table.csv", "strata.csv", "settings.json", "result.json", "estimate.png")


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
    parser.add_argument("--target", default="mean", metavar="WHAT", help=f"one of {', '.join(TARGETS)}; default mean")
    parser.add_argument("--width", type=float, metavar="W", help="of the interval, from its lower to its upper end")
    parser.add_argument("--budget", type=int, metavar="N", help="labels that people can check, in place of --width")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the interval; default .95")
    parser.add_argument(
        "--prior", metavar="SHARE", help="what is expected: .3, or by label 0=.05,1=.6; default .5, or the pilot"
    )
    parser.add_argument("--by-topic", action="store_true", help="strata within each topic, two labels each at least")
    parser.add_argument("--runs", nargs="+", metavar="RUN", help="run files: one for a mean, two for a difference")
    parser.add_argument("--measure", metavar="M", help="P with its cutoff, of --runs; default P@10")
    parser.add_argument("--rel", type=int, metavar="LABEL", help="lowest label of people that is relevant; default 1")
    parser.add_argument("--judge-rel", type=int, metavar="LABEL", help="lowest label of the judge that is relevant")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the documents that are drawn; default 0")
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
    if options.plan is not None:
        _estimate(options)
    else:
        _plan(options)


def _plan(options: argparse.Namespace) -> None:
    from pt_reuse.data.judgments import checked_rel
    from pt_reuse.data.run_reading import read_runs
    from pt_reuse.studies.label_plans.plan import plan_labels

    lowest = checked_rel(options.rel)
    expected = None if options.prior is None else _prior(options.prior)
    folder = out_folder(options, _FILES)
    judge = judgment_source(options.judge)
    pilot = None if options.pilot is None else judgment_source(options.pilot)
    labels = judge.read()
    plan = plan_labels(
        labels,
        target=options.target,
        width=options.width,
        budget=options.budget,
        confidence=options.confidence,
        pilot=None if pilot is None else pilot.read(),
        prior=expected,
        by_topic=options.by_topic,
        runs=None if options.runs is None else read_runs(options.runs),
        measure=options.measure,
        rel=lowest,
        judge_rel=options.judge_rel,
        seed=options.seed,
    )
    # what the judge calls relevant is known now
    say(f"{labels.with_rel(plan.judge_rel)!r}")
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in plan.settings.items())}")
    say("\nLabels to check:")
    shown = plan.table[["stratum", "documents", "known", "share", "labels", "probability"]]
    most = len(shown) if options.all else SHOWN
    print_table(shown.rename(columns={"share": "expected share"}), most, "strata; --all shows every one")
    say("\nWhat other widths take:")
    print_table(plan.curve, len(plan.curve), "widths")
    for sentence in plan.findings():
        say(sentence)
    say(f"\n{plan.headline()[0].upper()}{plan.headline()[1:]}.")
    if folder is None:
        return
    drawings: dict[str, Drawing] = {_PICTURE: partial(plan.plot)}
    # a stratum would tell those who check what the judge says
    beside = {_TO_CHECK: partial(table_file, plan.sample[["qid", "docno"]])}
    written = write_result(plan, folder, options, drawings, beside)
    say(f"\nWritten to {folder}: {', '.join(written)}")
    say(f"\nTo have them checked: pt-reuse judge export --pool {folder / _TO_CHECK} --out DIR ...")


def _estimate(options: argparse.Namespace) -> None:
    folder = out_folder(options, _ESTIMATED)
    source = judgment_source(options.checked)
    plan = _read(options.plan)
    found = plan.estimate(source.read())
    say(f"Settings: {', '.join(f'{name}={value}' for name, value in found.settings.items())}")
    say("\nWhat people found:")
    shown = found.table.drop(columns=["target", "planned_width"])
    print_table(shown, len(shown), "numbers", spare=["bias_low", "bias_high", "bias"])
    say()
    for sentence in found.findings():
        say(f"- {sentence}")
    if folder is not None:
        drawings: dict[str, Drawing] = {_ESTIMATED[-1]: partial(found.plot)}
        written = write_result(found, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _read(path: str) -> LabelPlan:
    from pt_reuse._result import read_result
    from pt_reuse.studies.label_plans.plan import LabelPlan

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
