"""`pt-reuse judge`: documents of a pool to people and back, how far annotators agree, which labels to check."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._check import count, did_you_mean, shown
from pt_reuse._files import check_writable, checked_path, open_file, read_file
from pt_reuse.cli.field import QRELS_HELP, Judgments, add_field, add_run_files, judgment_source, plan_field, told_name
from pt_reuse.cli.output import (
    SHOWN,
    Drawing,
    out_file,
    out_folder,
    print_table,
    say,
    say_answer,
    shows_bars,
    table_file,
    write_result,
    write_table,
)
from pt_reuse.cli.parser import (
    Commands,
    Group,
    Parser,
    add_command,
    add_contributors,
    add_out,
    add_verbose,
    chosen_contributors,
    decimal_number,
    listed,
    whole_number,
    whole_numbers,
)
from pt_reuse.cli.study_commands import add_flag, declared_flags, files_of, show
from pt_reuse.errors import InputError, located
from pt_reuse.study import study_of

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.data.judgments import Qrels
    from pt_reuse.judging.annotators.measuring import AnnotatorAgreement
    from pt_reuse.pooling.pool import Pool
    from pt_reuse.studies.plan_labels import LabelPlan

TOPICS_HELP = "topics: a CSV file with qid and query, a file of qid, tab and query, or a collection known by name"
TEXTS_HELP = "texts: a CSV or JSONL file with docno and text, a file of docno, tab and text, or a collection by name"
_IRDS = "irds:"
#: by which names files that may be packed are CSV, and JSON by lines
_CSV, _JSON = (re.compile(rf"\.({kind})(\.\w+)?$", re.IGNORECASE) for kind in ("csv", "jsonl?"))


def read_topics(text: str) -> pd.DataFrame:
    """Return the topics that a user names: a file, a collection, or ``irds:`` and an id of ir_datasets."""
    if os.path.isfile(text):
        return _table(Path(text), "topics", ("qid", "query"))
    return _dataset(text, "topics").get_topics()


def named_texts(text: str) -> Iterable[Mapping[str, Any]]:
    """Return the texts that a user names, to be read one by one: a file, a collection, or an id of ir_datasets."""
    if not os.path.isfile(text):
        dataset = _dataset(text, "texts")
        return dataset.get_corpus_iter(verbose=False)
    path = Path(text)
    if _JSON.search(path.name):
        return _lines(path)
    frame = _table(path, "texts", ("docno", "text"))
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _table(path: Path, argument: str, columns: tuple[str, str]) -> pd.DataFrame:
    """Read CSV with a header, or two columns with a tab between them, which may have one."""
    import pandas as pd

    from pt_reuse.data.csv_files import lines_of, read_csv, read_utf8

    with located(str(path)):
        if _CSV.search(path.name):
            frame = read_csv(path, argument, utf8=True).frame
        else:
            rows = [(n, line.split("\t", 1)) for n, line in enumerate(lines_of(read_utf8(path, argument)), 1)]
            rows = [(n, row) for n, row in rows if "".join(row).strip()]
            odd = next(((n, row) for n, row in rows if len(row) < 2), None)
            if odd is not None:
                raise InputError(
                    f"must be {columns[0]}, a tab and {columns[1]}, got {shown(odd[1][0])}. Give such lines, or a "
                    "file called .csv with a header.",
                    argument=argument,
                    place=f"line {odd[0]:,}",
                )
            listed = [row for _, row in rows]
            frame = pd.DataFrame(listed[1:] if listed[:1] == [list(columns)] else listed, columns=list(columns))
        lacking = [column for column in columns if column not in frame]
        if lacking and not (lacking == ["query"] and "title" in frame):
            raise InputError(
                f"must have the columns {columns[0]} and {columns[1]}, got {', '.join(map(str, frame.columns))}.",
                argument=argument,
            )
        return frame


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    from pt_reuse.data.packed_files import UnreadableError, read_blocks

    try:
        # a corpus may be larger than memory
        for n, line in enumerate(_each_line(read_blocks(path)), 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise InputError(
                    f"no JSON ({error}). Give a document a line, with docno and text.",
                    argument="texts",
                    place=f"{path}, line {n:,}",
                ) from error
    except UnreadableError as error:
        raise InputError(f"{error}.", argument="texts", place=str(path)) from error


def _each_line(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for i, block in enumerate(blocks):
        *lines, rest = (rest + (block if i else block.removeprefix(b"\xef\xbb\xbf"))).split(b"\n")
        yield from lines
    yield rest


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


def add_export(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "export",
        "write the documents of a pool as files for people to judge",
        "The pool is a file that `pt-reuse pool --out` wrote, or is made of runs. People see topics and texts, "
        "shuffled within a topic, and nothing of ranks and runs. A further export to the same folder adds a round: "
        "it asks nobody the same again.",
    )
    with parser.group(Group.INPUT):
        parser.add_option("--pool", "FILE", "pool.csv or to_judge.txt of `pt-reuse pool`, instead of runs")
        parser.add_option("--topics", "FILE", f"{TOPICS_HELP}; default those of --collection")
        parser.add_option("--texts", "FILE", f"{TEXTS_HELP}; default those of --collection")
    parser.add_option("--format", "FORMAT", "one of csv, jsonl, doccano, label-studio; default csv")
    parser.add_option("--annotators", "NAMES", "comma-separated names of who judges; default: one file for anybody")
    parser.add_option("--overlap", "N", "annotators for each pair, or a share that all judge", type=_number, default=1)
    parser.add_switch("--whole-topics", "give topics to the same people as a whole")
    parser.add_option("--labels", "SCALE", "such as '0=not relevant,1=relevant', which is the default")
    parser.add_option("--instructions", "FILE", "a text that people read beside the labels")
    parser.add_option("--seed", "N", "of the order and of who judges what; default 0", type=int, default=0)
    with parser.group(Group.OUTPUT):
        parser.add_option("--out", "DIR", "the folder of the tasks", required=True)
        parser.add_switch("--overwrite", "replace tasks in --out that have no answers")
    parser.add_option("--depth", "K", "pool depth; default that of the collection, else 100", type=int)
    add_contributors(parser)
    parser.checks.append(partial(_check_pool, parser))
    add_field(parser, qrels=Judgments.OPTIONAL, unless=lambda options: options.pool is not None)
    parser.called["folder"] = "out"
    parser.set_defaults(run=_run_export)
    return parser


def _check_pool(parser: Parser, options: argparse.Namespace) -> None:
    if options.pool is not None and options.runs is not None:
        parser.error("--pool and --runs are two pools. Give one of them.")
    if options.pool is None and options.runs is None and options.collection is None:
        parser.error("no pool is named. Give --pool, --runs or --collection.")


def _run_export(options: argparse.Namespace) -> None:
    from pt_reuse.judging.people.export import ExportPlan
    from pt_reuse.judging.people.manifest import RETURNED

    plan = ExportPlan.of(
        options.out,
        format=options.format,
        annotators=None if options.annotators is None else listed(options.annotators),
        overlap=options.overlap,
        whole_topics=options.whole_topics,
        labels=None if options.labels is None else _scale(options.labels),
        instructions=None if options.instructions is None else _text(options.instructions),
        seed=options.seed,
        overwrite=options.overwrite,
    )
    read_pool = _pool_of(options)
    topics = read_topics(_named(options, "topics"))
    texts = named_texts(_named(options, "texts"))
    made = plan.write(read_pool(), topics, texts, verbose=shows_bars(options))
    say(f"{made.headline()}.")
    if len(made.table):
        shown = made.table.assign(annotator=[who or "anybody" for who in made.table["annotator"]])
        print_table(shown, len(shown), "files")
        say(
            f"\nWhat comes back goes to {made.folder}/{RETURNED}; "
            f"then: pt-reuse judge import {made.folder} --out FILE.csv"
        )


def _named(options: argparse.Namespace, name: str) -> str:
    given = getattr(options, name)
    if given is None and options.collection is None:
        raise InputError(f"no {name} are named. Give {name}=.", argument=name)
    return options.collection if given is None else given


def _pool_of(options: argparse.Namespace) -> Callable[[], Pool]:
    """Return what makes the pool; what can be checked before is."""
    from pt_reuse.pooling.depth import checked_depth, depth_of, depth_pool

    if options.pool is not None:
        pool = _read_pool(Path(options.pool))
        rest = pool if options.qrels is None else pool.remainder(judgment_source(options.qrels).read())
        return lambda: rest
    plan = plan_field(options)
    if options.depth is not None:
        checked_depth(options.depth)
    contributors = chosen_contributors(options, plan.names)
    judgments = plan.judgments if options.qrels is not None else None

    def make() -> Pool:
        qrels = None if judgments is None else judgments.read()
        runs = plan.read_runs()
        pool = depth_pool(runs, depth=depth_of(runs, options.depth).value, contributors=contributors)
        return pool if qrels is None else pool.remainder(qrels)

    return make


def _read_pool(path: Path) -> Pool:
    """Read a pool as `pt-reuse pool` writes it: a table, or judgments that are still to come."""
    import pandas as pd

    from pt_reuse.data.csv_files import read_csv
    from pt_reuse.data.judgments import read_qrels
    from pt_reuse.pooling.pool import Pool

    settings = {"strategy": "given"}
    with suppress(OSError, ValueError, KeyError, TypeError):
        # how the pool was made, as `pt-reuse pool` writes it beside the pool
        settings["strategy"] = str(json.loads(read_file(path.parent / "settings.json"))["strategy"])
    with located(str(path)):
        if not _CSV.search(path.name):
            return Pool.from_frame(read_qrels(path).to_frame()[["qid", "docno"]], settings=settings)
        frame = read_csv(path, "pool").frame
        frame = frame.drop(columns=[column for column in ("rank", "runs", "teams", "types") if column in frame])
        for column in frame.columns.difference(["qid", "docno"]):
            numbers = pd.to_numeric(frame[column], errors="coerce")
            frame[column] = frame[column] if numbers.isna().any() else numbers
        return Pool.from_frame(frame, settings=settings)


def _scale(text: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in listed(text):
        number, _, word = part.partition("=")
        try:
            found[whole_number(number)] = word.strip()
        except ValueError:
            raise InputError(
                f"--labels must be numbers and their words, such as '0=not relevant,1=relevant', got {part!r}.",
                argument="labels",
            ) from None
    return found


def _text(path: str) -> str:
    try:
        with open_file(path) as file:
            return file.read().decode("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise InputError(f"cannot be read ({_reason(error)}).", place=path, argument="instructions") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _number(text: str) -> float:
    try:
        return decimal_number(text) if "." in text else whole_number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a number of annotators, or a share such as .1, got {text!r}"
        ) from None


def add_import(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "import",
        "read the files that people judged, and check them",
        "All faults are listed at once: unknown pairs, labels out of the scale, two labels of one annotator, files of "
        "another task, missing labels. Spreadsheets may have saved CSV in any way; what Doccano and Label Studio "
        "export is read as it is.",
    )
    came_back = "what came back; default the sheets in DIR, and all in DIR/returned"
    with parser.group(Group.INPUT):
        parser.add_option("folder", "DIR", "the folder that `pt-reuse judge export` wrote")
        parser.add_option("files", "FILE", came_back, nargs="*")
    parser.add_option("--annotators", "USER=NAME", "who the users of a tool are, or whose a file is")
    parser.add_switch("--partial", "take what is there while labels are missing")
    as_qrels = "write them as a TREC qrels file, where one annotator judged each document"
    with parser.group(Group.OUTPUT):
        parser.add_option("--out", "FILE", "write the labels there (CSV), with who, when and why")
        parser.add_option("--as-qrels", "FILE", as_qrels)
        parser.add_switch("--overwrite", "replace files that exist")
    parser.set_defaults(run=_run_import)
    return parser


def _run_import(options: argparse.Namespace) -> None:
    import pandas as pd

    from pt_reuse.judging.people.importing import import_labels

    table, judgments = out_file(options), None
    if options.as_qrels is not None:
        with located("--as-qrels"):
            judgments = checked_path(options.as_qrels)
            check_writable(judgments.parent, [judgments.name], overwrite=options.overwrite, argument="as_qrels")
    if table is not None and judgments is not None and table.resolve() == judgments.resolve():
        raise InputError("--out and --as-qrels name the same file. Give two.", argument="as_qrels")
    annotators = None if options.annotators is None else _people(options.annotators)
    labels = import_labels(options.folder, options.files or None, annotators=annotators, partial=options.partial)
    qrels = None if judgments is None else labels.to_qrels()
    say(f"{labels.headline()}.")
    if labels.settings["users"] != "as named":
        say(f"Users of the tool: {labels.settings['users']}.")
    say()
    people = labels.report().to_frame()
    print_table(people, max(SHOWN, len(people)), "annotators")
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


def _people(text: str) -> dict[str, str]:
    found = {}
    for part in listed(text):
        user, equals, name = part.partition("=")
        if not equals or not user.strip() or not name.strip():
            raise InputError(
                f"--annotators must be a user or a file and a name, such as 'user3=ann', got {part!r}.",
                argument="annotators",
            )
        found[user.strip()] = name.strip()
    return found


_OF_AGREEMENT = (
    "agreement.csv", "pairs.csv", "others.csv", "gold.csv", "per_topic.csv", "by_label.csv", "confusion.csv",
    "settings.json", "result.json",
)  # fmt: skip
_LABEL_FILES = "TREC qrels files, each called as its annotator, or CSV files with columns qid, docno, label, annotator"
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
    with parser.group(Group.INPUT):
        parser.add_option("files", "FILES", _LABEL_FILES, nargs="+")
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
    add_verbose(parser, "every pair of annotators")
    add_out(parser, "the tables (CSV), the majority (qrels), the settings (JSON) and the pictures (PNG)")
    parser.called |= {"labels": "files", "qrels": "gold"}
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
    source = None if options.gold is None else judgment_source(options.gold)
    gold = None if source is None else source.read()
    names = [name for part, name in _PICTURES.items() if part != "gold" or gold is not None]
    folder = out_folder(options, [*_OF_AGREEMENT, _MAJORITY, *names])
    labels = read_labels(files)
    result = annotator_agreement(labels, gold=gold, scale=options.scale, **given)
    say_answer(result, verbose=options.verbose)
    _report(result, options.verbose)
    majority = majority_vote(labels, ties=options.ties, rel=result.rel)
    say(f"\nMajority of the annotators: {majority!r}")
    tied = majority.to_frame()["tied"]
    say(f"{count(int(tied.sum()), 'tie')}, decided by --ties {options.ties}.")
    documents = f"{count(len(labels), 'document')} of {count(len(labels.topics), 'topic')}"
    say(f"Read: {count(len(labels.annotators), 'annotator')}, {documents}.")
    if folder is not None:
        drawings: dict[str, Drawing] = {
            name: partial(result.plot, part)
            for part, name in _PICTURES.items()
            if name in names and result.frame(part)["kappa"].notna().any()
        }
        write_result(result, folder, options, drawings, {_MAJORITY: partial(qrels_file, majority.arrays)})


def _report(result: AnnotatorAgreement, every: bool) -> None:
    ways = result.table[["items", "labels"]].drop_duplicates().itertuples(index=False)
    reports = [(result.report(items=items, labels=labels), True) for items, labels in ways]
    further = ("pairs", "others", *(["gold"] if len(result.gold) else []), "by_topic", "over_topics")
    reports += [(result.report(part), every) for part in further]
    for report, whole in reports:
        frame = report.shown()
        say(f"\n{report.caption.rstrip('.')}:")
        most = len(frame) if whole else SHOWN
        print_table(frame, most, "rows; --verbose shows every one", spare=("Band", "From", "To"))
    say()
    for note in dict.fromkeys(note for report, _ in reports for note in report.notes):
        say(note)
    say(f"Fleiss' kappa: {result.settings['Fleiss']}.")
    unlabelled = result.settings.get("gold labels of items nobody labelled")
    if unlabelled:
        say(f"Of {result.settings['gold labels']:,} gold labels {unlabelled:,} are of documents that nobody labelled.")


def add_pilot(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "pilot",
        "whether annotators agree enough on a pilot to go on",
        "By the tasks that all annotators labelled: go on, do not, or undecided; who disagrees with whom, and on what.",
    )
    with parser.group(Group.INPUT):
        parser.add_option("files", "FILES", _LABEL_FILES, nargs="+")
    parser.add_option(
        "--scale", "LIST", "comma-separated: the labels there are; default those that occur", type=whole_numbers
    )
    _end_of_labels(parser, "pilot_agreement", "and a picture (PNG)")
    return parser


def add_times(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "times",
        "how long labels took, and what they cost",
        "By annotator, label and topic: the median with quartiles, and which labels are odd. The columns are seconds "
        "or lead_time, else start and end, else time.",
    )
    with parser.group(Group.INPUT):
        parser.add_option("files", "FILES", "CSV files with columns qid, docno, label, annotator and times", nargs="+")
    _end_of_labels(parser, "label_times", "")
    return parser


def _end_of_labels(parser: Parser, function: str, beside: str) -> None:
    """Add what commands of studies of labels take alike."""
    for flag in declared_flags(function).values():
        add_flag(parser, flag)
    add_verbose(parser)
    add_out(parser, " ".join(filter(None, ["the tables (CSV), the settings (JSON)", beside])))
    parser.called["labels"] = "files"
    parser.set_defaults(run=partial(_run_of_labels, function))


def _run_of_labels(function: str, options: argparse.Namespace) -> None:
    import pt_reuse.judging
    from pt_reuse.judging.annotators.labels import check_label_files, read_label_rows

    call = getattr(pt_reuse.judging, function)
    declared = study_of(call)
    given = {name: getattr(options, name) for name in declared.parameters.keys() & vars(options).keys()}
    declared.checked(given)
    files = check_label_files(options.files)
    pictures = [f"{kind}.png" for kind in declared.result.plots]
    folder = out_folder(options, [*files_of(declared.result), *pictures])
    rows = read_label_rows(files)
    result = call(rows, **given)
    show(result, declared, options, {})
    if folder is not None:
        write_result(result, folder, options, {name: partial(result.plot, name[:-4]) for name in pictures})


_TO_CHECK = "to_check.csv"


def add_plan(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "plan-labels",
        "how many labels of a judge people must check, and which",
        "The documents are divided by the judge's label, and of each part a random sample is checked. Afterwards the "
        "same command reads what people say (--plan, --checked), and tells the number with its interval.",
    )
    with parser.group(Group.INPUT):
        parser.add_option("--judge", "FILE", f"the judge's labels: {QRELS_HELP}")
        parser.add_option("--pilot", "QRELS", f"judgments that people made before: {QRELS_HELP}")
        parser.add_option("--plan", "DIR", "a plan that --out wrote; with --checked, in place of --judge")
        parser.add_option("--checked", "QRELS", "what people say of the documents of --plan")
    parser.add_option("--prior", "SHARE", "what is expected: .3, or by label 0=.05,1=.6; default .5, or the pilot")
    add_run_files(parser, "run files: one for a mean, two for a difference")
    for flag in declared_flags("plan_labels").values():
        add_flag(parser, flag)
    add_verbose(parser)
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
    from pt_reuse.studies.plan_labels import LabelEstimate, LabelPlan, plan_labels

    estimates = options.plan is not None
    picture = "estimate.png" if estimates else "plan.png"
    files = files_of(LabelEstimate) if estimates else (*files_of(LabelPlan), _TO_CHECK)
    names = study_of(plan_labels).parameters.keys() & vars(options).keys() - {"pilot", "prior", "runs"}
    given = {name: getattr(options, name) for name in names}
    given["prior"] = None if options.prior is None else _prior(options.prior)
    if not estimates:
        study_of(plan_labels).checked(given | {"runs": options.runs})
    folder = out_folder(options, [*files, picture])
    result: Any
    labels: Qrels | None = None
    if estimates:
        checked = judgment_source(options.checked)
        result = _read(options.plan).estimate(checked.read())
    else:
        result, labels = _plan(options, given)
    show(result, study_of(plan_labels), options, {}, [] if labels is None else [labels])
    if folder is None:
        return
    # a stratum would tell those who check what the judge says
    beside = {} if estimates else {_TO_CHECK: partial(table_file, result.sample[["qid", "docno"]])}
    write_result(result, folder, options, {picture: result.plot}, beside)
    if not estimates:
        say(f"\nTo have them checked: pt-reuse judge export --pool {folder / _TO_CHECK} --out DIR ...")


def _plan(options: argparse.Namespace, given: dict[str, Any]) -> tuple[LabelPlan, Qrels | None]:
    from pt_reuse.data.run_reading import read_runs
    from pt_reuse.studies.plan_labels import plan_labels

    judge, pilot = (None if name is None else judgment_source(name) for name in (options.judge, options.pilot))
    labels = None if judge is None else judge.read()
    given["pilot"] = None if pilot is None else pilot.read()
    plan = plan_labels(labels, runs=None if options.runs is None else read_runs(options.runs), **given)
    # what the judge calls relevant is known now
    return plan, None if labels is None else labels.with_rel(plan.judge_rel)


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
            return decimal_number(text)
        pairs = [part.split("=") for part in listed(text)]
        return {whole_number(label): decimal_number(share) for label, share in pairs}
    except ValueError:
        raise InputError(
            f"must be a share, such as .3, or one for each label, such as 0=.05,1=.6, got {text!r}.",
            place="--prior",
            argument="prior",
        ) from None
