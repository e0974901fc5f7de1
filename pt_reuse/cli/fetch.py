"""`pt-reuse fetch`: download the runs of a collection from where they are published."""

from __future__ import annotations

import argparse

from pt_reuse._check import count, examples
from pt_reuse.cli.field import collection_of
from pt_reuse.cli.parser import Commands, Parser, add_command, add_quiet
from pt_reuse.cli.screen import SHOWN, complain, say, shows_bars


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "fetch", "download the run files of a collection that are not here yet")
    parser.add_argument("collection", metavar="NAME", help="a collection known by name, such as trec-8/adhoc")
    parser.add_argument("--only-pooled", action="store_true", help="only runs that are on record as pooled")
    parser.add_argument("--type", metavar="T", help="only runs of this type, such as automatic")
    parser.add_argument("--team", metavar="T", help="only runs of this team")
    parser.add_argument("--jobs", default=8, type=int, metavar="N", help="downloads at a time; default 8")
    add_quiet(parser)
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    from pt_reuse.collections.dataset import ReuseDataset
    from pt_reuse.collections.download.runs import FAULTY_FOLDER
    from pt_reuse.collections.getting import FetchStatus, runs_by_reason
    from pt_reuse.collections.run_files import download_folder

    collection = collection_of(options.collection)
    try:
        files = ReuseDataset(collection).fetch(
            pooled=True if options.only_pooled else None,
            type=options.type,
            team=options.team,
            n_jobs=options.jobs,
            verbose=shows_bars(options),
        )
    except KeyboardInterrupt:
        complain(
            f"pt-reuse: interrupted; what has arrived is kept, and `pt-reuse fetch {options.collection}` goes on from "
            f"there."
        )
        return 130
    n = {status: int((files["status"] == status).sum()) for status in FetchStatus}
    failed = files[files["status"].isin([FetchStatus.FAILED, FetchStatus.FAULTY])]
    aside = f", {n[FetchStatus.FAULTY]:,} kept aside" if n[FetchStatus.FAULTY] else ""
    say(
        f"{collection.name}: {count(len(files), 'run')}: {n[FetchStatus.HERE]:,} were here, "
        f"{n[FetchStatus.FETCHED]:,} fetched, {n[FetchStatus.FAILED]:,} failed{aside}."
    )
    if n[FetchStatus.HERE] < len(files):
        say(f"New files go to {download_folder(collection)}")
    reasons = runs_by_reason(collection, dict(zip(failed["name"], failed["reason"], strict=True)))
    groups = list(reasons.items())
    for reason, runs in groups[:SHOWN]:
        say(f"  {count(len(runs), 'run')} ({examples(runs)}): {reason}")
    if len(groups) > SHOWN:
        say(f"  ... and {len(groups) - SHOWN:,} more reasons")
    if aside:
        folder = download_folder(collection)
        say(
            f"Kept aside in {folder / FAULTY_FOLDER}: runs with bad lines. `--bad-lines skip` of the other commands "
            f"reads their good lines. Or mend a file and move it to {folder}. Or delete it, so that it is fetched "
            f"again."
        )
    return 2 if len(failed) else 0
