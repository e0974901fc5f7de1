"""The runs of a collection: those on record, their terms, where their files are, downloaded, checked and read."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from glob import has_magic
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import user_path
from pt_reuse.arrays.lists import natural_order
from pt_reuse.collections.collection import Collection, catalogue_names, catalogued, home, places
from pt_reuse.collections.download import Fetched, check_run_file, fetch_runs, tag_of
from pt_reuse.data.coding import HowPooled
from pt_reuse.data.metadata import GivenMetadata, RunLabels, given_metadata, is_blank, run_paths
from pt_reuse.data.parsing import file_run_names
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_set import Reading, RunSet, as_runs
from pt_reuse.data.units import checked_conditions, chosen_rows
from pt_reuse.errors import InputError, ReuseWarning, choice, count, examples, flag, warn

_ENDING = re.compile(r"\.(gz|bz2|xz|zst|lz4|z|txt|run|trec|res)$")
#: what stands between a name and what programs and people add to it
_BETWEEN = re.compile(r"[.\s()\[\],;]+")
_WORD = re.compile(r"[^\W\d_]+")
#: words of which anybody makes names of runs
_WORDS = """
a ance anserini auto automatic b base baseline basic bert best bge bm colbert colbertv combined cross crossencoder
default dense desc description dfr dirichlet distilbert doc docs dpr elastic elasticsearch electra ensemble expansion
feedback final first full fused fusion gpt hybrid idf in indri inl jm kl lemur llm lm lucene manual max maxp method
minilm model mono monobert monot mt my okapi our own pass passage pl pooled prf pyserini qe ql query rag rank ranker
rerank reranked reranker reranking retrieval rf rm roberta rocchio rrf run runs search second simple solr sparse
splade spladev sum system systems t tas tasb tct term terrier test tf tfidf title top tuned v vector vsm weighted
"""
_ANYBODYS = frozenset(_WORDS.split())
#: with more words than these, a name is somebody's
_FEW_WORDS = 2
#: a shorter name may be given by chance, but hardly two
_SHORT = 5


def check_shareable(names: Iterable[str], allow: str) -> None:
    """Raise where some of the runs have names of runs under NIST's agreement, and more than by chance."""
    known, theirs = _under_agreement(), dict[str, str]()
    ours = list(dict.fromkeys(names))
    for name in ours:
        whole = _plain(name)
        # the known name may stand between dots and blanks, as in ``NAME (1).csv``
        parts = [part.removeprefix("run_").removeprefix("run-") for part in _BETWEEN.split(whole)]
        parts = [whole] if whole in known else [part for part in parts if sum(map(str.isalnum, part)) >= _SHORT]
        for part in filter(known.__contains__, reversed(parts)):
            words = _WORD.findall(part)
            if len(words) > _FEW_WORDS or not set(words) <= _ANYBODYS:
                theirs[name] = part
    if len(theirs) < 2 and all(sum(map(str.isalnum, part)) < _SHORT for part in theirs.values()):
        return
    titles = list(dict.fromkeys(known[part] for part in theirs.values()))
    raise InputError(
        f"not shared: {count(len(theirs), 'run')} of {len(ours):,} ({examples(theirs)}) named as runs submitted to "
        f"{examples(titles)}. NIST's agreement does not let those who signed it pass the runs on. Share scores or "
        f"judgments instead, or say who allows it and why, on your own responsibility: {allow}."
    )


@lru_cache(maxsize=1)
def _under_agreement() -> Mapping[str, str]:
    """Return the plain name of every run that NIST gives under its agreement, and the collection that it is of."""
    titles: dict[str, str] = {}
    for name in catalogue_names():
        known = catalogued(name)
        if known is not None and known.access == "password" and known.submitted is not None:
            for run in known.submitted["name"]:
                titles.setdefault(_plain(run), known.title)
    return titles


def _plain(name: str) -> str:
    """Return a run's name without what its file adds, and without capital letters."""
    seen = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    last = re.split(r"[/\\]", seen.casefold().strip())[-1].removeprefix("input.")
    while (bare := _ENDING.sub("", last)) != last:
        last = bare
    return last


#: types of runs that the user gives, and where they come from: a file, or ``"given"``
OwnTypes: TypeAlias = "tuple[GivenMetadata, str] | None"
#: below each folder of a collection: NIST's, trec_eval users' and our own ways to keep run files
_BELOW = ("runs", "inputs", "input", "")
#: where NIST publishes runs
_RESULTS = "https://trec.nist.gov/results/"
_ENDINGS = (".gz", "", ".bz2", ".xz", ".zst", ".lz4", ".Z")
_WHO = "infer_pool(runs, qrels) says which runs must have been"


class PoolUnknownWarning(ReuseWarning):
    """Nobody recorded which runs were pooled."""


# what is on record


def submitted_runs(collection: Collection) -> pd.DataFrame:
    """Return one row per run on record, or raise where there is no record."""
    if collection.submitted is None:
        raise InputError("no run of it is on record. get_runs() reads what its folder, or runs='FOLDER', holds.")
    return collection.submitted


def choose_runs(
    collection: Collection, types: OwnTypes, pooled: bool | None, **conditions: str | Iterable[str] | None
) -> pd.DataFrame:
    """Return the runs on record that meet all conditions, with the user's types over those on record."""
    table = with_types(submitted_runs(collection), types)
    if pooled is not None and not collection.pooled_is_on_record:
        raise InputError(f"who was pooled is not on record. Leave out pooled; {_WHO}.", argument="pooled")
    chosen = chosen_rows(table, pooled=pooled, shown_by="`submitted()`", **conditions)
    return table[chosen].reset_index(drop=True)


def run_metadata(collection: Collection, table: pd.DataFrame) -> pd.DataFrame:
    """Return what a RunSet keeps of each run; warn where nobody recorded who was pooled."""
    frame = table.drop(columns=["published", "url"], errors="ignore")
    if not collection.pooled_is_on_record:
        warn(
            f"who was pooled is not on record, so every run counts as a contributor. {_WHO}; "
            "runs.with_metadata(pooled=...) keeps it.",
            category=PoolUnknownWarning,
        )
    blank = [column for column in ("task", "official_type") if not any(filter(None, frame[column]))]
    return frame.drop(columns=blank)


def read_types(types: RunLabels | None) -> OwnTypes:
    """Read a user's ``types=``, None where none are given."""
    if types is None:
        return None
    return given_metadata(types=types), str(types) if isinstance(types, str | Path) else "given"


def with_types(table: pd.DataFrame, types: OwnTypes, *, before: str = "catalogue") -> pd.DataFrame:
    """Return a table of runs with the user's types over those it had `before`; ``type_source`` says whose each is."""
    if types is None:
        return table.copy()
    labels, origin = types
    base = table[["name"]].assign(team=None, type=None, pooled=True)
    given = labels.table(table["name"].tolist(), base, complete=False)
    named = given["type"].notna().to_numpy()
    known = table["type_source"] if "type_source" in table.columns else before
    return table.assign(
        type=np.where(named, given["type"], table["type"]), type_source=np.where(named, origin, known).astype(object)
    )


# where files are


def download_folder(collection: Collection) -> Path:
    """Return the folder that downloads go to, and in which run files are expected first."""
    return home() / collection.name / "runs"


def folders_of(collection: Collection, runs: str | Path | None = None) -> list[Path]:
    """Return the folders that may hold run files: those below `runs`, else below the user's; the likeliest first."""
    if runs is not None:
        tops = [given_folder(runs)]
    else:
        tops = [place / name for place in places() for name in collection.folder_names]
    return [folder for folder in dict.fromkeys(top / name for top in tops for name in _BELOW) if os.path.isdir(folder)]


def find_run_files(collection: Collection, names: Iterable[str], runs: str | Path | None = None) -> dict[str, Path]:
    """Return the file of each run that has one, in the order of the names."""
    paths: dict[str, Path] = {}
    names = list(names)
    for folder in folders_of(collection, runs):
        there = _files_in(folder)
        for name in names if there else ():
            files = [folder / file for file in file_names(name) if file in there]
            first = paths.setdefault(name, files[0]) if files else None
            # the same file in two places is nothing to tell
            others = [file for file in files if first and file != first and not _is_copy(first, file)]
            if others:
                warn(f"run {name!r} is there more than once: {first} is read, {examples(others)} not. Keep one.")
    top = provider_folder()
    for name in names if runs is None and os.path.isdir(top) else ():
        address = collection.url_of(name) or ""
        below = address.removeprefix(_RESULTS)
        if name in paths or below == address or ".." in below.split("/"):
            continue
        # a name that is written otherwise in an address would be that of another run
        downloaded = [path for path in (top / f"{below}.raw", top / below) if path.is_file()]
        if downloaded and file_run_names(downloaded[:1]) == [name]:
            paths[name] = downloaded[0]
    return {name: paths[name] for name in names if name in paths}


def file_names(name: str) -> list[str]:
    """Return the file names under which a run is looked for."""
    return [f"{prefix}{name}{packed}" for prefix in ("input.", "") for packed in _ENDINGS]


def _is_copy(taken: Path, other: Path) -> bool:
    if taken.parent == other.parent:
        return False
    try:
        return taken.name != other.name or taken.stat().st_size == other.stat().st_size
    except OSError:  # a link that leads nowhere; reading it says so
        return True


def _files_in(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if not os.path.isdir(entry)}
    except OSError as error:
        warn(f"{folder} cannot be looked into ({error.strerror or error}): run files in it are not found.")
        return set()


def provider_folder() -> Path:
    """Return the folder in which ir_datasets' trec-browser-provider keeps what it downloaded; it need not exist."""
    return Path(os.environ.get("IR_DATASETS_HOME") or Path.home() / ".ir_datasets") / "trec-browser"


def looked_at(collection: Collection) -> list[Path]:
    """Return every folder there is in which run files are looked for, the trec-browser-provider's as the last."""
    return [*folders_of(collection), *filter(os.path.isdir, [provider_folder()])]


def own_run_files(collection: Collection) -> list[Path]:
    """Return the run files of an own collection, none where its folder is gone or it names none."""
    try:
        return [] if collection.runs is None else run_paths(collection.runs)
    except InputError:
        return []


def given_folder(runs: str | os.PathLike[str]) -> Path:
    """Return the folder of run files that the user gives, or say that it is none."""
    top = user_path(runs)
    if os.path.isdir(top):
        return top
    raise InputError(
        f"runs must be a folder of run files named input.TAG.gz, TAG.gz or TAG; {str(runs)[:200]!r} is none.",
        argument="runs",
    )


# downloads


def get_run_files(
    collection: Collection, names: Sequence[str], *, download: bool = True, n_jobs: int = 8, verbose: bool = False
) -> Fetched:
    """Return the file of each run that can be had, and why others that are published could not be downloaded."""
    had, folder = Fetched(find_run_files(collection, names)), download_folder(collection)
    lacking = [name for name in names if name not in had.files] if download else []
    if lacking:
        submitted = submitted_runs(collection)
        published = dict(zip(submitted["name"], submitted["published"], strict=True))
        urls = {name: url for name in lacking if published[name] and (url := collection.url_of(name)) is not None}
        unpublished = [name for name in lacking if name not in urls]
        had |= Fetched(failed=dict.fromkeys(unpublished, "not published anywhere that is known."))
        try:
            check = partial(check_run_file, collection=collection)
            had |= fetch_runs(urls, folder, check=check, n_jobs=n_jobs, verbose=verbose) if urls else Fetched()
        except InputError as error:
            # a folder that cannot be written to keeps nobody from the runs that are there
            had |= Fetched(failed=dict.fromkeys(urls, str(error)))
        finally:
            # where nothing came, nothing is left; a folder with anything in it stays
            with suppress(OSError):
                while urls and folder != home():
                    folder.rmdir()
                    folder = folder.parent
    return Fetched({name: had.files[name] for name in names if name in had.files}, had.failed)


def fetch_report(collection: Collection, names: Sequence[str], *, n_jobs: int, verbose: bool) -> pd.DataFrame:
    """Download what is not on this machine; return ``name file status reason``, one row per run.

    The status is ``"here"``, ``"fetched"`` or ``"failed"``.
    """
    here = find_run_files(collection, names)
    had = get_run_files(collection, names, n_jobs=n_jobs, verbose=verbose)
    rows = [
        (name, str(had.files[name]), "here" if name in here else "fetched", None)
        if name in had.files
        else (name, None, "failed", had.failed.get(name))
        for name in names
    ]
    return pd.DataFrame(rows, columns=["name", "file", "status", "reason"], dtype=object)


def runs_by_reason(collection: Collection, failed: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the runs behind each reason; a reason that names a run's own address counts as one."""
    grouped: dict[str, list[str]] = {}
    for name, reason in failed.items():
        general = reason.replace(str(collection.url_of(name)), collection.url or "the address")
        grouped.setdefault(general, []).append(name)
    return grouped


def _tell_lacking(
    collection: Collection, table: pd.DataFrame, had: Fetched, folder: Path | None, missing: str, download: bool
) -> None:
    """Raise where no run is to be had; where some are not, raise, warn or pass over it."""
    there = table["name"].isin(had.files).to_numpy()
    lacking = table["name"][~there].tolist()
    if not lacking:
        return
    by_reason = runs_by_reason(collection, had.failed)
    why = " ".join(f"{reason} ({count(len(names), 'run')})" for reason, names in by_reason.items())
    files, place = examples([f"input.{name}.gz" for name in lacking]), folder or download_folder(collection)
    advice = f" Put the files into {place}, named {files} (or without 'input.', packed or not)"
    advice += "." if download or folder else ", or download them with download=True."
    if not there.any():
        looked = folders_of(collection, folder)
        why = f", and none could be downloaded: {why}" if why else "."
        seen = f" Looked in {examples(looked, 4)}." if looked else ""
        raise InputError(f"none of {count(len(table), 'run')} is on this machine{why}{advice}{seen}")
    absent = sorted(set(table["team"]) - set(table["team"][there]))
    gone = f"; {count(len(absent), 'team')} without any run left: {', '.join(absent)}" if absent else ""
    message = (
        f"{len(lacking):,} of {count(len(table), 'run')} missing, {int(there.sum()):,} there "
        f"(missing {examples(lacking)}{gone}).{f' Download: {why}' if why else ''}"
    )
    _tell(missing, f"{message}{advice}")


def _tell_strangers(collection: Collection, folder: Path) -> None:
    """Warn of the files of a folder beside its run files that are no runs on record."""
    known = {file for name in submitted_runs(collection)["name"] for file in file_names(name)}
    for place in folders_of(collection, folder):
        there = {file for file in _files_in(place) if not file.startswith(".")}
        if there & known and (strangers := sorted(there - known)):
            left_out = f"{count(len(strangers), 'file')} of no run of this collection left out"
            warn(f"{left_out}: {examples(strangers)}.", place=str(place))


def _tell(missing: str, message: str, argument: str | None = None) -> None:
    if missing == "error":
        raise InputError(message, argument=argument)
    if missing == "warn":
        warn(message)


# what was read, beside what is on record


def _compare_runs(collection: Collection, runs: RunSet, files: Mapping[str, Path]) -> None:
    """Raise where a run has no topic of the collection; warn where it has others, few, or another run's lines."""
    every = set(submitted_runs(collection)["name"])
    with ThreadPoolExecutor() as pool:
        tags = zip(files, pool.map(tag_of, files.values()), strict=True)
        odd_tags = [f"{files[name]} holds run {tag!r}" for name, tag in tags if tag != name and tag in every]
    if odd_tags:
        warn(
            f"{count(len(odd_tags), 'file')} whose last column has the tag of another run: {'; '.join(odd_tags[:3])}. "
            "Rename or replace it."
        )
    has, topics, known = runs.field.lengths > 0, np.array(runs.topics, dtype=object), collection.topic_ids
    if known is not None:
        own = np.array([topic in known for topic in runs.topics], dtype=bool)
        for row in np.flatnonzero(~has[own].any(axis=0)).tolist():
            ids = list(known)
            raise InputError(
                f"{files[runs.names[row]]}, taken for run {runs.names[row]!r}, has no topic of the collection: it has "
                f"{examples(topics[has[:, row]])}; {collection.title} has topics such as "
                f"{examples(ids[i] for i in natural_order(ids))}."
            )
        strange = np.flatnonzero(has[~own].any(axis=0))
        _warn(runs, strange, f"with topics that are not of the collection: {examples(topics[~own])}")
        has = has[own]
    usual = has[has.mean(axis=1) >= 0.5]  # topics that most runs have
    if len(usual):
        few = np.flatnonzero(usual.mean(axis=0) < 0.5)
        _warn(runs, few, f"with less than half of the {len(usual):,} topics that most runs have")


def _warn(runs: RunSet, rows: NDArray[np.int64], what: str) -> None:
    if len(rows):
        warn(f"{count(len(rows), 'run')} ({examples(runs.names[row] for row in rows.tolist())}) {what}.")


def compare_judgments(collection: Collection, frame: pd.DataFrame) -> None:
    """Warn where judgments that the user put in place of the official ones are not what is on record."""
    if not collection.is_replaced("qrels") or "label" not in frame or not collection.qrels:
        return
    positive = "relevant" if collection.rel in (None, 1) else "with a label above 0"
    counts = {"judgments": len(frame), positive: int((frame["label"] > 0).sum())}
    expected = {"judgments": collection.n_judged, positive: collection.n_relevant}
    odd = [f"{counts[key]:,} {key} instead of {n:,}" for key, n in expected.items() if n not in (None, counts[key])]
    ids = collection.topic_ids
    strange = [] if ids is None else [qid for qid in dict.fromkeys(frame["qid"]) if qid not in ids]
    odd += [f"topics that are not its own: {examples(strange)}"] if strange else []
    if odd:
        warn(
            f"the judgments in {collection.qrels[0]}, which are used in place of the official ones, have "
            f"{'; '.join(odd)}. Are they those of another collection?",
            place=f"reuse:{collection.name}",
        )


# what is to be read


@dataclass(frozen=True)
class RunPlan:
    """Runs of a collection that are wanted, all checked that can be before a file is read."""

    #: finds, downloads and reads them
    get: Callable[[], RunSet]
    #: of the table of runs, in which anything stands
    columns: set[str]
    #: of runs on record, whether or not they can be had; those of own runs stand in their files
    names: list[str] | None = None


def plan_runs(
    collection: Collection,
    conditions: Mapping[str, Any],
    reading: Reading,
    *,
    types: RunLabels | None,
    runs: Any,
    missing: str,
    download: bool,
) -> RunPlan:
    """Return what is to be read of a collection; arguments and `conditions` are those of ``ReuseDataset.get_runs``."""
    choice("missing", missing, ("warn", "error", "ignore"))
    flag("download", download)
    pooled_as = reading.how_pooled
    how_pooled = HowPooled(pooled_as.order or collection.pool_order, pooled_as.depth or collection.pool_depth)
    given = {name: value for name, value in conditions.items() if value is not None}
    if collection.submitted is None:
        return _plan_own(collection, given, replace(reading, how_pooled=how_pooled, names="tag"), types, runs)
    reading = replace(reading, how_pooled=how_pooled, names="file")
    table = choose_runs(collection, read_types(types), given.pop("pooled", None), **given)
    names, folder = table["name"].tolist(), _folder_given(runs)
    columns = {str(column) for column in table.columns if not all(map(is_blank, table[column]))}
    if runs is not None and folder is None:
        get = partial(_get_given, collection, table, _taken(runs, reading), reading, missing)
        return RunPlan(get, columns, names)
    here = None if folder is None else Fetched(find_run_files(collection, names, folder))
    if here is not None and not here.files:
        _tell_lacking(collection, table, here, folder, missing, download)
    if folder is not None:
        _tell_strangers(collection, folder)

    def get_submitted() -> RunSet:
        how: dict[str, Any] = {"n_jobs": reading.n_jobs or 8, "verbose": reading.verbose}
        had = here or get_run_files(collection, names, download=download, **how)
        _tell_lacking(collection, table, had, folder, missing, download)
        kept = table[table["name"].isin(had.files)]
        field = reading.read(run_paths(had.files[name] for name in kept["name"]), given_metadata())
        _compare_runs(collection, field, had.files)
        # a file without a run line may have been left out
        return field.with_metadata(metadata=run_metadata(collection, kept[kept["name"].isin(field.names)]))

    return RunPlan(get_submitted, columns, names)


def _get_given(
    collection: Collection, table: pd.DataFrame, source: RunSet | list[Path], reading: Reading, missing: str
) -> RunSet:
    """Return those of the runs that the user gives in place of a folder that are wanted, labelled as on record."""
    runs, names = _read(source, reading, given_metadata()), table["name"].tolist()
    there = [name for name in runs.names if name in set(names)]
    on_record = set(submitted_runs(collection)["name"])
    strangers = [name for name in runs.names if name not in on_record]
    if not there:
        raise InputError(
            f"none of {count(len(runs), 'run')} ({examples(runs.names)}) is wanted of this collection: "
            f"{examples(names)}.",
            argument="runs",
        )
    if strangers:
        warn(f"{count(len(strangers), 'run')} not of this collection, left out: {examples(strangers)}.")
    lacking = [name for name in names if name not in runs]
    if lacking:
        message = f"{len(lacking):,} of {count(len(names), 'run')} not among the runs given: {examples(lacking)}."
        _tell(missing, message, argument="runs")
    kept = table.set_index("name", drop=False).loc[there].reset_index(drop=True)
    return runs.select(there).with_metadata(metadata=run_metadata(collection, kept))


def _plan_own(
    collection: Collection, conditions: Mapping[str, Any], reading: Reading, types: RunLabels | None, runs: Any
) -> RunPlan:
    source = collection.runs if runs is None else runs
    if source is None:
        raise InputError("no run of it is on record or in its definition. Pass runs='FOLDER'.", argument="runs")
    if "task" in conditions:
        raise InputError("its runs have no tasks.", argument="task")
    checked, labels = checked_conditions(**conditions), given_metadata(**collection.labels)
    own_types, taken = read_types(types), _taken(source, reading)
    if "pooled" in conditions and "pooled" not in labels.columns:
        problem = "who was pooled is not on record. Leave out pooled, or add 'pooled' to its definition"
        raise InputError(f"{problem}; {_WHO}.", argument="pooled")

    def get() -> RunSet:
        field = _read(taken, reading, labels)
        if own_types is not None:
            field = field.with_metadata(metadata=with_types(field.run_table, own_types, before="definition"))
        return field.select(**checked) if checked else field

    return RunPlan(get, labels.columns | ({"type"} if own_types is not None else set()))


def _taken(runs: Any, reading: Reading) -> RunSet | list[Path]:
    """Return runs that the user gives as a RunSet, or as the paths of their files, which are not read yet."""
    runs = held(runs)
    if is_files(runs):
        return run_paths(runs, "runs")
    return as_runs(runs, order=reading.order).pooled_as(reading.how_pooled)


def _read(source: RunSet | list[Path], reading: Reading, labels: GivenMetadata) -> RunSet:
    return source.labelled(labels) if isinstance(source, RunSet) else reading.read(source, labels)


def _folder_given(runs: Any) -> Path | None:
    """Return the folder that is given as runs, None where they are given in another form."""
    if not isinstance(runs, str | os.PathLike) or not str(runs):
        return None
    path = user_path(runs)
    # one file is hardly all that there is, so that it is told as no folder
    return None if has_magic(str(path)) and not os.path.exists(path) else given_folder(runs)
