"""The systems of an experiment: their names, what records and keeps their results, and the runs that these make."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

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
        return [column for column in frame.columns if column not in _NO_TEXTS and _is_text(frame[column])]


def _is_text(cells: pd.Series) -> bool:
    # the first document may lack what others have
    there = cells[cells.notna()]
    return len(there) > 0 and isinstance(there.iloc[0], str)


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
        # without an address of its own pyterrier would look the documentation up on the network
        return {"label": label, "help_url": None}

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
    recorders: dict[str, Recorder]
    runs: RunSet | None = None
    saved: Mapping[str, Reader] = field(default_factory=dict)
    only: set[str] | None = None

    @property
    def names(self) -> list[str]:
        return list(self.by_name)

    def recorded(self) -> list[Any]:
        """Return what pt.Experiment is to evaluate."""
        recorders = self.recorders
        return [_Recorded(one, recorders[name]) if name in recorders else one for name, one in self.by_name.items()]

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
            frames[name] = system if self.only is None else system[self._asked(system["qid"])]
        return frames

    def _asked(self, qids: pd.Series) -> NDArray[np.bool_]:
        return np.array([qid in (self.only or ()) for qid in as_ids("qid", qids.tolist())], dtype=bool)

    def results(self) -> dict[str, pd.DataFrame]:
        """Return what pt.Experiment evaluated: a saved file, what was recorded, or a frame."""
        results = self.frames() | {name: read() for name, read in self.saved.items()}
        results |= {name: recorder.results() for name, recorder in self.recorders.items() if name not in self.saved}
        return {name: results[name] for name in self.by_name}


def as_systems(systems: Any) -> Any:
    """Return a user's systems as a RunSet, or a dict or list of pipelines and result frames."""
    systems = held(systems)
    if isinstance(systems, RunSet):
        return systems
    if is_files(systems) or isinstance(systems, pd.DataFrame) or _is_one_run(systems):
        return as_runs(systems, argument="retr_systems")
    if not isinstance(systems, Mapping | list | tuple):
        raise InputError(
            "retr_systems must be a dict of name -> pipeline or results, a list of them, or runs (a RunSet, a frame "
            f"with a column 'name', files), got {type(systems).__name__}.",
            argument="retr_systems",
        )
    if not systems:
        raise InputError("retr_systems holds no system.", argument="retr_systems")
    if isinstance(systems, Mapping):
        called = run_names("retr_systems", systems, "system")
        return {name: _pipeline_or_frame(name, system) for name, system in zip(called, systems.values(), strict=True)}
    return [_pipeline_or_frame(i, system) for i, system in enumerate(systems)]


def given_names(names: Sequence[Any] | None) -> list[str] | None:
    """Return the names that a user gives to systems as texts, None for none; what is no text would become another."""
    try:
        return None if names is None else [as_id("name of a system", name) for name in names]
    except InputError as error:
        raise InputError(error.text, argument="names") from error


def _is_one_run(systems: Any) -> bool:
    if isinstance(systems, Mapping):
        return is_nested(systems) and any(systems.values())
    return isinstance(systems, list | tuple) and bool(systems) and has_fields(systems[0], *COLUMNS)


def _pipeline_or_frame(name: str | int, system: Any) -> Any:
    if isinstance(system, str | os.PathLike):
        return as_runs({str(name): system}, argument="retr_systems")[str(name)].drop(columns="name")
    if isinstance(system, pt.Transformer) or not isinstance(system, Iterable):
        return system
    with located(f"system {shown(name)}"):
        return result_frame(system)


def name_systems(systems: Any, names: Sequence[str] | None, kept: KeptColumns | None = None) -> Systems:
    """Return what :func:`as_systems` does under names that are all different; `names` are those of a list."""
    if isinstance(systems, RunSet):
        return Systems({name: systems[name] for name in systems}, {}, systems)
    values = list(systems.values()) if isinstance(systems, Mapping) else systems
    called = [str(name) for name in (systems if isinstance(systems, Mapping) or names is None else names)]
    if len(called) != len(values):
        few = f"{count(len(values), 'system')} but {count(len(called), 'name')}. Give one name each."
        raise InputError(few, argument="names")
    twice = [name for name in dict.fromkeys(called) if called.count(name) > 1]
    if twice:
        which = ", ".join(str(i) for i, name in enumerate(called) if name == twice[0])
        # a frame prints as several lines
        problem = f"the systems at {which} have one name, {shown(' '.join(twice[0].split()))}. Give a dict of name -> "
        raise InputError(f"{problem}system, or distinct names=.", argument="retr_systems")
    by_name = dict(zip(called, values, strict=True))
    recorders = {name: Recorder(name, kept) for name, one in by_name.items() if isinstance(one, pt.Transformer)}
    return Systems(by_name, recorders)


# results that stay on the disk


def by_pt(
    systems: Any,
    topics: pd.DataFrame,
    qrels: pd.DataFrame,
    metrics: list[Any],
    names: Sequence[str] | None,
    arguments: Mapping[str, Any],
) -> Any:
    """Return what pt.Experiment returns."""
    if isinstance(systems, RunSet):
        systems = {name: systems[name] for name in systems}
    return pt.Experiment(systems, topics, qrels, metrics, names, **arguments)


def kept_systems(
    cache: Any, systems: Any, names: Sequence[str] | None, metrics: Sequence[Any], arguments: Mapping[str, Any]
) -> Any:
    """Return the systems, those that are pipelines keeping their results in the folder `cache`."""
    if cache is None:
        return systems
    folder = results_folder(cache)
    _check_together(folder, metrics, arguments)
    if isinstance(systems, RunSet):
        return systems
    values = list(systems.values() if isinstance(systems, Mapping) else systems)
    called = [str(name) for name in (systems if isinstance(systems, Mapping) else values if names is None else names)]
    saved, wrapped = saved_files(called, arguments), [*values]
    kept: set[str] = set()
    # names that are too few are told where systems get them
    for i, (name, system) in enumerate(zip(called, values, strict=False)):
        if not isinstance(system, pt.Transformer) or name in saved:
            continue
        if name in kept or has_address(name):
            why = "is that of several" if name in kept else "is another in every process"
            said = f"results are kept by the names of systems, and {examples([name])} {why}. Give a dict of name -> "
            raise InputError(f"{said}system, or names=.", argument="retr_systems")
        kept.add(name)
        wrapped[i] = KeptPipeline(name, system, folder, arguments.get("batch_size"))
    return dict(zip(systems, wrapped, strict=True)) if isinstance(systems, Mapping) else wrapped


def _check_together(cache: Path, metrics: Sequence[Any], arguments: Mapping[str, Any]) -> None:
    """Raise where an argument of pt.Experiment does not go with a folder of results."""
    if arguments.get("batch_size") is not None:
        positive("batch_size", arguments["batch_size"], "topics")
    without = " Leave it out, or cache=."
    if any(isinstance(metric, str) and metric == "mrt" for metric in metrics):
        raise InputError(f"'mrt': the time of results that are kept is not known.{without}", argument="eval_metrics")
    for name, value in (("plan", "tree"), ("precompute_prefix", True)):
        if arguments.get(name) == value:
            said = " runs what systems share for all topics at once, and results are kept system by system."
            raise InputError(f"{name}={value!r}{said}{without}", argument=name)
    folder = arguments.get("save_dir")
    if folder is not None and os.path.realpath(folder) == os.path.realpath(cache):
        same = f" and the cache are one folder, {cache}. Give the cache a folder of its own."
        raise InputError(f"save_dir={same}", argument="cache")


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
        return {name: _by_score(frame) for name, frame in frames.items()}
    if not wanted.left_out or wanted.pool_order != "rank":
        return frames
    unpooled = set(table["name"][~table["pooled"]])
    return {
        name: frame.assign(rank=np.arange(len(frame))) if name in unpooled else frame for name, frame in frames.items()
    }


def _by_score(frame: pd.DataFrame) -> pd.DataFrame:
    """Return results whose rows, and ranks, are in the order of the scores."""
    with np.errstate(over="ignore"):
        score = pd.to_numeric(frame["score"], errors="coerce").astype(np.float32).to_numpy()
    keys = pd.DataFrame({"score": score, "docno": as_ids("docno", frame["docno"].tolist())})
    rows = frame.iloc[keys.sort_values(["score", "docno"], ascending=False, kind="stable").index]
    return rows.assign(rank=np.arange(len(rows)))


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
