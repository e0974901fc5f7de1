"""The systems of an experiment: their names, what records and keeps their results, and the runs that these make."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse.data.coding import UNKNOWN, code_runs, frame_rows, run_names
from pt_reuse.data.frame_columns import COLUMNS, as_id, as_ids, as_pairs, has_fields, is_nested, result_frame
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.pipelines import KeptPipeline, has_address, results_folder
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_set import RunSet, as_runs
from pt_reuse.errors import InputError, columns, count, examples, located, positive, shown, warn
from pt_reuse.experiment.columns import ORDER, Wanted
from pt_reuse.scoring.scores import topics_of_runs

_NEEDED = ["qid", "docno", "score"]
_ALWAYS_KEPT = [*_NEEDED, "rank"]  # a pool may have followed the rank column
#: columns that say nothing of a document to whom judges it: of the run, and what is kept anyway
_NO_TEXTS = (*_ALWAYS_KEPT, "name", "team", "type")
#: the share of the topics that a system may lack, as a query without a match does
_FEW = 0.1
#: the longest label of a schematic that pyterrier draws well
_LABEL = 20


@dataclass(frozen=True)
class KeptColumns:
    """Which further columns of results are kept for a judge to read: those of some names, or all columns of texts."""

    names: tuple[str, ...] = ()
    texts: bool = False

    @property
    def any(self) -> bool:
        return bool(self.names) or self.texts

    def of(self, frame: pd.DataFrame) -> list[str]:
        """Return the columns of a frame that are kept, besides those that ranks are made of."""
        if not self.texts or frame.empty:
            return [column for column in self.names if column in frame.columns]
        # the first document may lack what others have
        once = frame.columns[~frame.columns.duplicated(keep=False)].difference(_NO_TEXTS)
        first = {column: next(iter(frame[column].dropna()), None) for column in once}
        return [column for column in frame.columns if isinstance(first.get(column), str)]


class Recorder(pt.Transformer):
    """Passes results through unchanged and keeps a copy of what it saw."""

    #: what pt.inspect says that it takes; it is asked of results alone, since a batch may have none
    transform_inputs: ClassVar[list[list[str]]] = [_NEEDED]

    def __init__(self, label: str, kept: KeptColumns | None = None):
        self.label, self._kept = label, kept or KeptColumns()
        self._seen: list[pd.DataFrame] = []

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Keep ``qid docno score rank``, and what else is asked, of the results and return them as they are."""
        if len(inp):  # pyterrier inspects transformers by empty frames
            pt.validate.columns(inp, includes=_NEEDED, context=self)
            columns = [*(column for column in _ALWAYS_KEPT if column in inp.columns), *self._kept.of(inp)]
            self._seen.append(inp[columns].copy())
        return inp

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return input_columns

    def schematic(self, *, input_columns: list[str] | None = None) -> dict[str, Any]:
        """Return what pt.schematic shows: the name of the system."""
        label = self.label if len(self.label) <= _LABEL else f"{self.label[: _LABEL - 3]}..."
        return {"label": label, "help_url": None}  # else pyterrier looks for one on the network

    def results(self) -> pd.DataFrame:
        """Return all that has passed, batch after batch; what a later batch repeats stands once."""
        if not self._seen:
            return pd.DataFrame(columns=_NEEDED)
        seen = pd.concat(self._seen, ignore_index=True)
        if len(self._seen) == 1 or not seen.duplicated().any():
            return seen
        # a source that answers every batch with all it has; a repeat within one batch is the pipeline's own
        batch = np.repeat(np.arange(len(self._seen)), [len(part) for part in self._seen])
        first = pd.Series(batch).groupby([seen[column] for column in seen.columns], dropna=False).transform("min")
        return seen[batch == first.to_numpy()].reset_index(drop=True)

    def __repr__(self) -> str:
        return self.label  # pyterrier's errors say "in transformer" and this


class _Recorded(pt.Compose):
    """A pipeline with a recorder at its end, which prints as the pipeline: pt.Experiment names it in its warnings."""

    def __init__(self, pipeline: pt.Transformer, recorder: Recorder):
        super().__init__(*pt.Compose(pipeline, recorder))  # step by step, since a tree plan compares steps
        self._prints = str(pipeline)

    def __repr__(self) -> str:
        return self._prints


# the systems by name


#: reads a file of results
Reader = Callable[[], pd.DataFrame]


def _read_saved(path: str, form: Any) -> pd.DataFrame:
    if form == "trec":
        return pt.io.read_results(path)
    with pt.io.autoopen(path, "rb") as file:
        return form.load(file) if isinstance(form, ModuleType) else form[0](file)


def saved_files(names: Iterable[str], arguments: Mapping[str, Any]) -> dict[str, Reader]:
    """Return what reads the files that pt.Experiment will evaluate in place of systems."""
    folder, form = arguments.get("save_dir"), arguments.get("save_format", "trec")
    if folder is None or arguments.get("save_mode") != "reuse":
        return {}
    ending = "res.gz" if form == "trec" else "mod" if isinstance(form, ModuleType) else "custom"
    paths = {name: os.path.join(folder, f"{name}.{ending}") for name in names}
    return {name: partial(_read_saved, path, form) for name, path in paths.items() if os.path.exists(path)}


@dataclass
class Systems:
    """The systems by name, each a pipeline or a result frame, what records the pipelines, and what stands for some."""

    by_name: dict[str, Any]
    kept: KeptColumns = field(default_factory=KeptColumns)
    runs: RunSet | None = None
    saved: Mapping[str, Reader] = field(default_factory=dict)
    only: set[str] | None = None

    @classmethod
    def of(cls, given: Any, names: Sequence[Any] | None, kept: KeptColumns) -> Systems:
        """Return a user's systems under names that are all different; `names` are those of a list."""
        given = held(given)
        one_run = isinstance(given, pd.DataFrame) or is_files(given)
        if isinstance(given, Mapping):
            one_run = is_nested(given) and any(given.values())
        elif isinstance(given, list | tuple) and given and not one_run:
            one_run = has_fields(given[0], *COLUMNS)
        if isinstance(given, RunSet) or one_run:
            runs = as_runs(given, argument="retr_systems")
            return cls({name: runs[name] for name in runs}, kept, runs)
        if not isinstance(given, Mapping | list | tuple) or not given:
            raise InputError(
                "retr_systems must be a dict of name -> pipeline or results, a list of them, or runs (a RunSet, a "
                f"frame with a column 'name', files), got {shown(given)}.",
                argument="retr_systems",
            )
        if isinstance(given, Mapping):
            called, values = run_names("retr_systems", given, "system"), list(given.values())
            systems = [_pipeline_or_frame(name, each) for name, each in zip(called, values, strict=True)]
        else:
            systems = [_pipeline_or_frame(i, each) for i, each in enumerate(given)]
            try:
                # what is no text would become another
                called = [str(system) for system in systems] if names is None else [as_id("name", n) for n in names]
            except InputError as error:
                raise InputError(error.text, argument="names") from error
        if len(called) != len(systems):
            few = f"{count(len(systems), 'system')} but {count(len(called), 'name')}. Give one name each."
            raise InputError(few, argument="names")
        if twice := [name for name in called if called.count(name) > 1]:
            at = ", ".join(str(i) for i, name in enumerate(called) if name == twice[0])
            # a frame prints as several lines
            problem = f"the systems at {at} have one name, {shown(' '.join(twice[0].split()))}. Give a dict of name -> "
            raise InputError(f"{problem}system, or distinct names=.", argument="retr_systems")
        return cls(dict(zip(called, systems, strict=True)), kept)

    @property
    def names(self) -> list[str]:
        return list(self.by_name)

    @cached_property
    def recorders(self) -> dict[str, Recorder]:
        pipelines = [name for name, system in self.by_name.items() if isinstance(system, pt.Transformer)]
        return {name: Recorder(name, self.kept) for name in pipelines}

    def keep_in(self, cache: Any, metrics: Sequence[Any], arguments: Mapping[str, Any]) -> None:
        """Have those that are pipelines keep their results in a folder, or say which argument forbids it."""
        folder_of_results = results_folder(cache)
        if arguments.get("batch_size") is not None:
            positive("batch_size", arguments["batch_size"], "topics")
        if any(isinstance(metric, str) and metric == "mrt" for metric in metrics):
            problem = "'mrt': the time of results that are kept is not known. Leave it out, or cache=."
            raise InputError(problem, argument="eval_metrics")
        for name, value in (("plan", "tree"), ("precompute_prefix", True)):
            if arguments.get(name) == value:
                problem = "runs what systems share for all topics at once, and results are kept system by system."
                raise InputError(f"{name}={value!r} {problem} Leave it out, or cache=.", argument=name)
        folder = arguments.get("save_dir")
        if folder is not None and os.path.realpath(folder) == os.path.realpath(folder_of_results):
            same = f"save_dir= and the cache are one folder, {folder_of_results}. Give the cache a folder of its own."
            raise InputError(same, argument="cache")
        saved = saved_files(self.names, arguments)
        for name, system in list(self.by_name.items()):
            if not isinstance(system, pt.Transformer) or name in saved:
                continue
            if has_address(name):
                problem = f"results are kept by the names of systems, and {examples([name])} is another in every "
                raise InputError(f"{problem}process. Give a dict of name -> system.", argument="retr_systems")
            self.by_name[name] = KeptPipeline(name, system, folder_of_results, arguments.get("batch_size"))

    def evaluated(
        self, topics: pd.DataFrame, qrels: pd.DataFrame, metrics: list[Any], arguments: Mapping[str, Any], record: bool
    ) -> Any:
        """Return what pt.Experiment makes of the systems."""
        recorders = self.recorders if record else {}
        systems = self.by_name | {name: _Recorded(self.by_name[name], each) for name, each in recorders.items()}
        return pt.Experiment(systems, topics, qrels, metrics, **arguments)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the systems that are result frames, no file standing for them."""
        frames = {}
        for name, system in self.by_name.items():
            if name in self.saved or name in self.recorders:
                continue
            if not isinstance(system, pd.DataFrame):
                raise InputError(
                    f"system {name!r} must be a pipeline or the results of a run (a frame with the columns 'qid', "
                    "'docno' and 'score', ScoredDoc tuples, a dict of topic -> document -> score, a run file), got "
                    f"{type(system).__name__}.",
                    argument="retr_systems",
                )
            columns(f"system {name!r}", system.columns, ("qid", "docno", "score"))
            frames[name] = system
            if self.only is not None:
                frames[name] = system[[qid in self.only for qid in as_ids("qid", system["qid"].tolist())]]
        return frames

    def results(self) -> dict[str, pd.DataFrame]:
        """Return what pt.Experiment evaluated: a saved file, what was recorded, or a frame."""
        results = self.frames() | {name: read() for name, read in self.saved.items()}
        results |= {name: recorder.results() for name, recorder in self.recorders.items() if name not in self.saved}
        return {name: results[name] for name in self.by_name}


def _pipeline_or_frame(name: str | int, system: Any) -> Any:
    if isinstance(system, str | os.PathLike):
        return as_runs({str(name): system}, argument="retr_systems")[str(name)].drop(columns="name")
    if isinstance(system, pt.Transformer) or not isinstance(system, Iterable):
        return system
    with located(f"system {shown(name)}"):
        return result_frame(system)


# the runs that the results make


def check_frames(frames: Mapping[str, pd.DataFrame], table: pd.DataFrame, wanted: Wanted) -> None:
    """Raise where a result frame is no run that columns can be added for, before any pipeline is executed."""
    order = "rank" if wanted.left_out and wanted.pool_order == "rank" else ORDER
    with _naming_repeats(frames):
        rows = [frame_rows(name, frame, order) for name, frame in _with_ranks(frames, table, wanted).items()]
        code_runs(rows, duplicates="error")


def executed_runs(
    systems: Systems, topics: pd.DataFrame, table: pd.DataFrame, judgments: Qrels, wanted: Wanted
) -> RunSet:
    """Return what pt.Experiment evaluated as runs in the order of its scores, and warn of those that lack topics."""
    if systems.runs is None or systems.saved or systems.only is not None:
        frames = systems.results()
        with _naming_repeats(frames):
            runs = RunSet.from_frames(_with_ranks(frames, table, wanted), metadata=table, order=ORDER)
    else:
        ordered = systems.runs.reorder(ORDER)
        # how the field was pooled is what counts where there is one
        runs = RunSet(ordered.field, table, ORDER, ordered.how_pooled if wanted.alone else UNKNOWN)
    has, asked = np.asarray(topics_of_runs(runs, judgments)), np.isin(judgments.topics, list(topics["qid"]))
    lost = [runs.names[row] for row in np.flatnonzero(~has.any(axis=0))]
    n_topics, n_found = int(asked.sum()), has[asked].sum(axis=0).tolist()
    if lost:
        nothing = f"{count(len(lost), 'system')} without a result on any judged topic"
        warn(f"{nothing}, scored 0: {examples(lost)}.")
    lacking = [
        f"{shown(name)} ({n_topics - n:,})"
        for name, n in zip(runs.names, n_found, strict=True)
        if n > 0 and n_topics - n > _FEW * n_topics
    ]
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        warn(
            f"{count(len(lacking), 'system')} without a result for over a tenth of the {n_topics:,} judged topics: "
            f"{', '.join(lacking[:3])}{more}. On these the scores are 0, as in pt.Experiment, and the unjudged share 1."
        )
    return runs


def _with_ranks(frames: Mapping[str, pd.DataFrame], table: pd.DataFrame, wanted: Wanted) -> Mapping[str, pd.DataFrame]:
    """Return frames that can be put in order with a field pooled by ranks: one that is not pooled may have none."""
    if wanted.left_out and wanted.by_score:
        in_order = {}
        for name, frame in frames.items():
            with np.errstate(over="ignore"):
                score = pd.to_numeric(frame["score"], errors="coerce").astype(np.float32).to_numpy()
            keys = pd.DataFrame({"score": score, "docno": as_ids("docno", frame["docno"].tolist())})
            rows = frame.iloc[keys.sort_values(["score", "docno"], ascending=False, kind="stable").index]
            in_order[name] = rows.assign(rank=np.arange(len(rows)))
        return in_order
    if not wanted.left_out or wanted.pool_order != "rank":
        return frames
    unpooled = set(table["name"][~table["pooled"]])
    return {
        name: frame.assign(rank=np.arange(len(frame))) if name in unpooled else frame for name, frame in frames.items()
    }


@contextmanager
def _naming_repeats(frames: Mapping[str, pd.DataFrame]) -> Iterator[None]:
    """Say of an error which system has a document twice, where one has."""
    try:
        yield
    except InputError:
        for name, frame in frames.items():
            pairs = pd.DataFrame(dict(zip(("qid", "docno"), as_pairs(frame), strict=True)))
            again = pairs.duplicated()
            if again.any():
                row = pairs[again].iloc[0]
                raise InputError(
                    f"system {name!r} has document {row['docno']!r} more than once for topic {row['qid']!r}, so "
                    "that ranks and LOU are undefined. Mend the pipeline, or pass reuse=[] to do without them.",
                    argument="retr_systems",
                ) from None
        raise
