"""`pt-reuse judge`: documents of a pool to people and back, how far annotators agree, which labels to check."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._files import read_file
from pt_reuse.cli.field import QRELS_HELP, add_field, add_run_files, judgment_source, plan_field, told_name
from pt_reuse.cli.output import (
    out_file,
    out_folder,
    pictures,
    print_table,
    say,
    say_answers,
    show,
    shows_bars,
    table_file,
    write_result,
    write_table,
)
from pt_reuse.cli.parser import INPUT, OUTPUT, Parser, chosen_contributors, listed
from pt_reuse.errors import InputError, count, did_you_mean, located
from pt_reuse.study import study_of

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.pooling.pool import Pool

TOPICS_HELP = "topics: a file of qid, tab and query, or in a form that collections have (CSV, JSONL, TREC), or a name"
TEXTS_HELP = "texts: a file of docno, tab and text, or in a form that collections have (CSV, JSONL, TREC), or a name"
_IRDS = "irds:"


def read_topics(text: str) -> pd.DataFrame:
    """Return the topics that a user names: a file, a collection, or ``irds:`` and an id of ir_datasets."""
    import pandas as pd

    from pt_reuse.collections.own_files import QUERY_FIELDS, OwnTopics

    if not os.path.isfile(text):
        return _dataset(text, "topics").get_topics()
    frame = pd.DataFrame(OwnTopics(text, "topics").queries_iter()).rename(columns={"query_id": "qid"})
    query = next((name for name in QUERY_FIELDS if name in frame), frame.columns[1])
    return frame if "query" in frame else frame.rename(columns={query: "query"})


def named_texts(text: str) -> Iterable[Mapping[str, Any]]:
    """Yield the texts that a user names, read one by one: of a file, a collection, or an id of ir_datasets."""
    from pt_reuse.collections.own_files import OwnDocuments

    if not os.path.isfile(text):
        return _dataset(text, "texts").get_corpus_iter(verbose=False)
    documents = OwnDocuments([text], "texts")
    documents.docs_cls()
    return ({"docno": each.doc_id, **each._asdict()} for each in documents.read())


def _dataset(text: str, argument: str) -> Any:
    import pyterrier as pt

    from pt_reuse.collections.dataset import ReuseDataset
    from pt_reuse.collections.definition import collection_names, read_definition, real_name

    if text.endswith(".toml"):
        return ReuseDataset(read_definition(text))
    name = text.removeprefix("reuse:")
    if not text.startswith(_IRDS) and real_name(name) not in collection_names():
        near = did_you_mean(name, collection_names())
        raise InputError(f"no such file, and no collection of this name.{near}", place=text, argument=argument)
    try:
        return pt.get_dataset(text if text.startswith(_IRDS) else f"reuse:{told_name(name)}")
    except (KeyError, ValueError) as error:
        raise InputError(f"no data set that ir_datasets knows ({error}).", place=text, argument=argument) from error


def add_export(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "The pool is a file that `pt-reuse pool --out` wrote, or is made of runs. People see "
        "topics and texts, shuffled within a topic, and nothing of ranks and runs. A further export to the same folder "
        "adds a round: it asks nobody the same again."
    )
    named = {
        "--pool": ("FILE", "pool.csv or to_judge.txt of `pt-reuse pool`, instead of runs"),
        "--topics": ("FILE", f"{TOPICS_HELP}; default those of --collection"),
        "--texts": ("FILE", f"{TEXTS_HELP}; default those of --collection"),
    }
    parser.add_options(named, group=INPUT)
    parser.add_option("--format", "FORMAT", "csv or label-studio; default csv")
    scale = "such as '0=not relevant,1=relevant'; default those of --qrels or --collection, else these two"
    parser.add_option("--labels", "SCALE", scale)
    parser.add_option("--annotators", "NAMES", "names of who judges; default: one file for anybody", type=listed)
    parser.add_option("--seed", "N", "of the order and of who judges what; default 0", type=int, default=0)
    parser.add_option("--depth", "K", "pool depth; default that of the collection, else 100", type=int)
    parser.add_option("--out", "DIR", "the folder of the tasks", group=OUTPUT, required=True)
    parser.add_contributors()
    add_field(parser, judged=None, unless=lambda options: options.pool is not None)
    parser.called["folder"] = "out"
    parser.set_defaults(run=_run_export)


def _run_export(options: argparse.Namespace) -> None:
    from pt_reuse.judging.people.export import RETURNED, export_tasks

    qrels = None if options.qrels is None else judgment_source(options.qrels).read()
    labels: Any = qrels
    if options.labels is not None:
        words = _pairs(options.labels, "labels", "'0=not relevant,1=relevant'")
        if odd := [number for number in words if not re.fullmatch(r"[-+]?\d+", number)]:
            raise InputError(f"labels must have a whole number for each label, got {odd[0]!r}.", argument="labels")
        labels = {int(number): word for number, word in words.items()}
    if labels is None and options.collection is not None:
        # a collection that is being built has none
        with suppress(InputError):
            labels = judgment_source(options.collection).read()
    topics, texts = read_topics(_named(options, "topics")), named_texts(_named(options, "texts"))
    pool = _pool_of(options)
    made = export_tasks(
        pool if qrels is None else pool.remainder(qrels),
        options.out,
        topics=topics,
        texts=texts,
        format=options.format,
        annotators=options.annotators,
        labels=labels,
        seed=options.seed,
        verbose=shows_bars(options),
    )
    say_answers(made)
    if len(made.table):
        shown = made.table.assign(annotator=[who or "anybody" for who in made.table["annotator"]])
        print_table(shown, "files", most=None)
        back = f"{made.folder}/{RETURNED}"
        where = f"Fill in sheets where they are, or put what comes back into {back}"
        say(f"\n{where}; then: pt-reuse judge import {made.folder} --out FILE.csv")


def _named(options: argparse.Namespace, name: str) -> str:
    given = getattr(options, name)
    if given is None and options.collection is None:
        raise InputError(f"no {name} are named. Give {name}=.", argument=name)
    return options.collection if given is None else given


def _pool_of(options: argparse.Namespace) -> Pool:
    from pt_reuse.pooling.depth import checked_depth, depth_of, depth_pool

    if options.pool is not None:
        if options.runs is not None:
            options.parser.error("--pool and --runs are two pools. Give one of them.")
        return _read_pool(Path(options.pool))
    plan = plan_field(options)
    if options.depth is not None:
        checked_depth(options.depth)
    contributors = chosen_contributors(options, plan.names)
    runs = plan.read_runs()
    return depth_pool(runs, depth=depth_of(runs, options.depth).value, contributors=contributors)


def _read_pool(path: Path) -> Pool:
    """Read a pool as `pt-reuse pool` writes it: a table, or judgments that are still to come."""
    import pandas as pd

    from pt_reuse.data.judgments import read_qrels
    from pt_reuse.data.packed_files import read_csv
    from pt_reuse.pooling.pool import Pool

    settings = {"strategy": "given"}
    with suppress(OSError, ValueError, KeyError, TypeError):
        # how the pool was made, as `pt-reuse pool` writes it beside the pool
        settings["strategy"] = str(json.loads(read_file(path.parent / "settings.json"))["strategy"])
    with located(str(path)):
        if not re.search(r"\.csv(\.\w+)?$", path.name, re.IGNORECASE):
            return Pool.from_frame(read_qrels(path).to_frame()[["qid", "docno"]], settings=settings)
        frame = read_csv(path, "pool").frame.drop(columns=["rank", "runs", "teams", "types"], errors="ignore")
        for column in frame.columns.difference(["qid", "docno"]):
            as_numbers = pd.to_numeric(frame[column], errors="coerce")
            frame[column] = frame[column] if as_numbers.isna().any() else as_numbers
        return Pool.from_frame(frame, settings=settings)


def _pairs(text: str, argument: str, such_as: str) -> dict[str, str]:
    """Return what stands before and behind each sign =."""
    pairs = [part.partition("=") for part in listed(text)]
    if not all(before.strip() and equals and after.strip() for before, equals, after in pairs):
        raise InputError(f"{argument} must be such as {such_as}, got {text!r}.", argument=argument)
    return {before.strip(): after.strip() for before, _, after in pairs}


def add_import(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "All faults are listed at once: unknown pairs, labels out of the scale, two labels of "
        "one annotator, files of another task, missing labels. Spreadsheets may have saved CSV in any way; what "
        "Label Studio exports is read as it is."
    )
    came_back = "what came back; default the sheets in DIR, and all in DIR/returned"
    parser.add_option("folder", "DIR", "the folder that `pt-reuse judge export` wrote", group=INPUT)
    parser.add_option("files", "FILE", came_back, group=INPUT, nargs="*")
    parser.add_option("--annotators", "USER=NAME", "who the users of a tool are, or whose a file is")
    parser.add_option("--partial", "", "take what is there while labels are missing")
    as_qrels = "write them as a TREC qrels file, where one annotator judged each document"
    parser.add_option("--out", "FILE", "write the labels there (CSV), with who, when and why", group=OUTPUT)
    parser.add_option("--as-qrels", "FILE", as_qrels, group=OUTPUT)
    parser.add_option("--overwrite", "", "replace files that exist", group=OUTPUT)
    parser.set_defaults(run=_run_import)


def _run_import(options: argparse.Namespace) -> None:
    import pandas as pd

    from pt_reuse.judging.people.importing import import_labels

    table, judgments = out_file(options), out_file(options, "as_qrels")
    if table is not None and judgments is not None and table.resolve() == judgments.resolve():
        raise InputError("--out and --as-qrels name the same file. Give two.", argument="as_qrels")
    people = None if options.annotators is None else _pairs(options.annotators, "annotators", "'user3=ann'")
    labels = import_labels(options.folder, options.files or None, annotators=people, partial=options.partial)
    qrels = None if judgments is None else labels.to_qrels()
    say_answers(labels)
    print_table(labels.report().to_frame(), "annotators", most=None)
    if table is not None:
        write_table(labels.table, table)
        say(f"\nWritten to {table}: {len(labels.table):,} labels.")
    if judgments is not None and qrels is not None:
        qrels.write(judgments, overwrite=options.overwrite)
        say(f"Written to {judgments}: {qrels!r}.")
        if (labels.table.get("inclusion", pd.Series(dtype="float64")) < 1).any():
            say(
                "They are of a sample. What was pooled and not sampled is not among them, and estimates such as infAP "
                "are wrong without it: sample.judge(labels.to_qrels()) in Python has it."
            )


def add_agreement(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_option("--gold", "FILE", f"labels to hold each annotator against: {QRELS_HELP}", group=INPUT)
    parser.add_option("--ties", "RULE", "of a majority: lower (default), higher, median or unresolved", default="lower")
    _add_of_labels(parser, "annotator_agreement", "the majority (qrels) and the pictures (PNG)")
    parser.called["qrels"] = "gold"


def add_pilot(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "By the tasks that all annotators labelled: go on, do not, or undecided; who disagrees with whom, and on what."
    )
    _add_of_labels(parser, "pilot_agreement", "and a picture (PNG)")


def _add_of_labels(parser: Parser, function: str, beside: str) -> None:
    """Add what commands of studies of labels take alike."""
    files = "TREC qrels files, each called as its annotator, or CSV files with columns qid, docno, label, annotator"
    parser.add_option("files", "FILES", files, group=INPUT, nargs="+")
    parser.add_flags(function)
    parser.add_out(f"the tables (CSV), the settings (JSON) {beside}")
    parser.called["labels"] = "files"
    parser.set_defaults(run=partial(_run_of_labels, function))


def _run_of_labels(function: str, options: argparse.Namespace) -> None:
    import pt_reuse.judging
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.judging.annotators.labels import check_label_files, majority_vote, read_label_rows

    call = getattr(pt_reuse.judging, function)
    study = study_of(call)
    given = {name: getattr(options, name) for name in study.parameters.keys() & vars(options).keys()}
    study.checked({name: value for name, value in given.items() if name != "gold"})
    files = check_label_files(options.files)
    if given.get("gold") is not None:
        given["gold"] = judgment_source(given["gold"]).read()
    folder, beside = out_folder(options), {}
    labels = read_label_rows(files)
    result = call(labels, **given)
    show(result)
    if function == "annotator_agreement":
        majority = majority_vote(labels, ties=options.ties, rel=result.rel)
        tied = count(int(majority.to_frame()["tied"].sum()), "tie")
        say(f"\nMajority of the annotators: {majority!r}; {tied}, decided by --ties {options.ties}")
        beside = {"majority.qrels": qrels_file(majority.arrays)}
    drawn = pictures(result, {}, {"gold": given.get("gold")})
    if function == "annotator_agreement":
        # of annotators that no two labels compare there is nothing to draw
        kappas = {name: result.frame(how["kind"]).get("kappa") for name, how in drawn.items()}
        drawn = {name: how for name, how in drawn.items() if kappas[name] is None or kappas[name].notna().any()}
    write_result(result, folder, options, drawn, beside)


_TO_CHECK = "to_check.csv"


def add_plan(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell(
        "The documents are divided by the judge's label, and of each part a random sample is "
        "checked. Afterwards the same command reads what people say (--plan, --checked), and tells the number with its "
        "interval."
    )
    named = {
        "--judge": ("FILE", f"the judge's labels: {QRELS_HELP}"),
        "--plan": ("DIR", "a plan that --out wrote; with --checked, in place of --judge"),
        "--checked": ("QRELS", "what people say of the documents of --plan"),
    }
    parser.add_options(named, group=INPUT)
    parser.add_option("--prior", "SHARE", "what is expected: .3, or by label 0=.05,1=.6; default .5")
    add_run_files(parser, "run files: one for a mean, two for a difference")
    parser.add_flags("plan_labels")
    parser.add_out("the plan or the estimate: tables (CSV), settings (JSON), a picture (PNG); and to_check.csv")
    parser.checks.append(_check_plan)
    parser.set_defaults(run=_run_plan)


def _check_plan(options: argparse.Namespace) -> None:
    if (options.plan is None) != (options.checked is None):
        options.parser.error("--plan and --checked go together: the folder of a plan, and what people say.")
    if (options.plan is None) == (options.judge is None):
        options.parser.error("give the labels of a judge with --judge, or a plan with --plan and --checked.")


def _run_plan(options: argparse.Namespace) -> None:
    from pt_reuse._saving import read_result
    from pt_reuse.data.run_set import read_runs
    from pt_reuse.studies.plan_labels import LabelPlan, plan_labels

    names = study_of(plan_labels).parameters.keys() & vars(options).keys() - {"prior", "runs", "judge"}
    given = {name: getattr(options, name) for name in names}
    given["prior"] = None if options.prior is None else _prior(options.prior)
    if options.plan is None and options.width is None:
        options.parser.error("say how wide the interval may be, such as --width 0.05.")
    if options.plan is None:
        study_of(plan_labels).checked(given | {"runs": options.runs})
    folder = out_folder(options)
    if options.plan is not None:
        with located("--plan"):
            planned: Any = read_result(Path(options.plan))
            if not isinstance(planned, LabelPlan):
                problem = f"{options.plan} holds no plan, but a {type(planned).__name__}."
                raise InputError(problem, argument="plan")
        estimate = planned.estimate(judgment_source(options.checked).read())
        show(estimate)
        write_result(estimate, folder, options, {"estimate.png": {}})
        return
    labels = judgment_source(options.judge).read()
    plan = plan_labels(labels, runs=None if options.runs is None else read_runs(options.runs), **given)
    show(plan)
    # a stratum would tell those who check what the judge says
    beside = {_TO_CHECK: table_file(plan.sample[["qid", "docno"]])}
    write_result(plan, folder, options, {"plan.png": {}}, beside)
    if folder is not None:
        say(f"\nTo have them checked: pt-reuse judge export --pool {folder / _TO_CHECK} --out DIR ...")


def _prior(text: str) -> Any:
    """Return a share, or a dict of label -> share."""
    try:
        if "=" not in text:
            return float(text)
        return {int(label): float(share) for label, share in _pairs(text, "prior", "0=.05,1=.6").items()}
    except ValueError:
        raise InputError(
            f"must be a share, such as .3, or one for each label, such as 0=.05,1=.6, got {text!r}.",
            place="--prior",
            argument="prior",
        ) from None
