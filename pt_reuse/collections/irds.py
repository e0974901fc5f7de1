"""Collections in the form in which ir_datasets keeps a dataset, and what to say of parts that cannot be had."""

# no postponed annotations here: users compare those of a record's fields with `str` itself, as PyTerrier does

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from pt_reuse._check import did_you_mean, examples
from pt_reuse.collections.collection import Collection, Source, catalogued, home
from pt_reuse.collections.own_files import OwnDocuments, OwnJudgments, OwnTopics
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, located

#: part of a dataset of ir_datasets -> our word, the key of a definition, and the user's file that stands in for it
_PARTS = {
    "docs": ("documents", "documents", None),
    "queries": ("topics", "topics", "topics.tsv (qid and query, or NIST's own file as topics.txt or topics.xml)"),
    "qrels": ("judgments", "qrels", "qrels.txt"),
}


def not_known(collection: Collection, part: str) -> InputError:
    """Return the error for a part of which nobody knows where it is."""
    word, key, file = _PARTS[part]
    said, place = f"no {word} are known for it. ", f"reuse:{collection.name}"
    if collection.origin == "own":
        return InputError(f"{said}Add {key} = ... to its definition.", place=place)
    if file is None:
        call = "register_collection()"
        return InputError(f"{said}Define a collection of your own that names them: {call}.", place=place)
    at = collection.judgments_at
    if part == "qrels" and at is not None:
        said = f"ir_datasets does not have its judgments. They are published at {at}. "
    return InputError(f"{said}Put them into {home() / collection.name} as {file}.", place=place)


def not_readable(collection: Collection, part: str, error: Exception) -> InputError:
    """Return the error for a part that ir_datasets could not read: why, and where a file of it must be put."""
    import requests

    word, _, file = _PARTS[part]
    # of several addresses that ir_datasets tried, why the first one failed
    tried = error.args[1] if isinstance(error, RuntimeError) and len(error.args) > 1 else None
    first = tried[0][1] if isinstance(tried, list) and tried and isinstance(tried[0], tuple) else error
    url = getattr(getattr(first, "request", None), "url", None)
    if isinstance(first, requests.ConnectionError) and url:
        text = f"no connection to {urlsplit(url).hostname}"
    else:
        text = str(error.args[0] if isinstance(error, RuntimeError) and error.args else error)
    text = " ".join(text.split()).rstrip(".")[:160] or type(error).__name__
    what = f"Put them into {home() / collection.name} as {file}" if file else "See https://ir-datasets.com"
    more = " Where nothing reads queries, a frame with the column qid is enough." if part == "queries" else ""
    problem = f"its {word} come through ir_datasets ({collection.irds_id}), which could not read them: {text}. {what}."
    return InputError(f"{problem}{more}", place=f"reuse:{collection.name}")


@dataclass(frozen=True)
class SubmittedRun:
    """A run of a collection: who submitted it, whether it was pooled (None where nobody knows), and its documents."""

    run_id: str
    team: str | None
    type: str | None
    pooled: bool | None
    runs: RunSet = field(repr=False)

    def scoreddocs_iter(self) -> Iterator[Any]:
        """Yield ``GenericScoredDoc(query_id, doc_id, score)``, topic by topic in the run's ranking order."""
        from ir_datasets.formats import GenericScoredDoc

        frame = self.runs[self.run_id]
        return map(GenericScoredDoc, frame["qid"], frame["docno"], frame["score"].tolist())


class RunsPart:
    """What a dataset of this package has besides what ir_datasets asks for: its runs, read when they are asked for."""

    def __init__(self, get_runs: Callable[[], RunSet]):
        self._read = cache(get_runs)

    def runs_iter(self) -> Iterator[SubmittedRun]:
        """Yield every run that can be had."""
        runs = self._read()
        for name, team, kind, pooled in runs.run_table[["name", "team", "type", "pooled"]].to_numpy(dtype=object):
            yield SubmittedRun(name, team, kind, None if pd.isna(pooled) else bool(pooled), runs)


class IrdsPart:
    """One part (``"docs"``, ``"queries"``, ``"qrels"``) of a dataset of ir_datasets, opened when it is used."""

    def __init__(self, name: str, part: str, irds_id: str):
        self._name, self._part, self._irds_id = name, part, irds_id

    def __getattr__(self, attribute: str) -> Any:
        part = self.__dict__.get("_part")
        if part is None or not attribute.startswith(f"{part}_"):
            raise AttributeError(attribute)
        if attribute == f"{part}_handler":
            return lambda: getattr(self._dataset, attribute)()
        return getattr(self._dataset, attribute)

    @cached_property
    def _dataset(self) -> Any:
        return find_irds(self._part, self._irds_id, f"reuse:{self._name}")


def find_irds(part: str, irds_id: str, place: str) -> Any:
    """Return a dataset of ir_datasets that has a part, or raise an InputError at a place that says what there is."""
    import ir_datasets

    try:
        with located(place):
            dataset = ir_datasets.load(irds_id)
    except InputError:
        raise  # none of our collections, which says which are near
    except KeyError:
        said = f"ir_datasets {ir_datasets.__version__} has no dataset {irds_id!r}."
        raise InputError(f"{said}{did_you_mean(irds_id, ir_datasets.registry)}", place=place) from None
    if not dataset.has(part):
        there = examples(words[0] for name, words in _PARTS.items() if dataset.has(name))
        raise InputError(f"{irds_id!r} of ir_datasets has no {_PARTS[part][0]}, only {there or 'none'}.", place=place)
    return dataset


def build_irds(collection: Collection, get_runs: Callable[[], RunSet] | None = None) -> Any:
    """Return a collection as ir_datasets has its datasets, named ``reuse/NAME``; nothing is opened before it is used.

    Besides ir_datasets' own functions it has ``runs_iter()``, which yields one :class:`SubmittedRun` a run, but not
    where nobody knows of runs. A part that the collection does not name is absent: ``has_docs()`` is False.
    """
    # ir_datasets takes a third of a second to import, which the commands should not pay for
    import ir_datasets

    name, language = f"reuse/{collection.name}", collection.language

    def part(kind: str, source: Source | None, own: Callable[[Sequence[str]], Any]) -> Any:
        if isinstance(source, str):
            return IrdsPart(collection.name, kind, source.removeprefix("irds:"))
        return None if source is None else own(source)

    parts: list[Any] = [
        part("docs", collection.documents, lambda paths: OwnDocuments(paths, name, language)),
        part("queries", collection.topics, lambda paths: _own_topics(collection, paths[0])),
        part("qrels", collection.qrels, lambda paths: OwnJudgments(paths[0], collection.rel)),
    ]
    if get_runs is not None and (collection.submitted is not None or collection.runs is not None):
        parts.append(RunsPart(get_runs))
    dataset = ir_datasets.Dataset(*parts)
    return ir_datasets.Dataset(ir_datasets.util.MetadataComponent(name, dataset), dataset)


def _own_topics(collection: Collection, path: str) -> OwnTopics:
    name = f"reuse/{collection.name}"

    def fields() -> Sequence[str]:
        # a file in place of ir_datasets' own is called as that, so that a script runs with either
        official = catalogued(collection.name) if collection.origin == "catalogue" else None
        if official is None or not isinstance(official.topics, str):
            return ()
        return find_irds("queries", official.topics.removeprefix("irds:"), name).queries_cls()._fields[1:]

    return OwnTopics(path, name, collection.language, ids=collection.topic_ids, fields=fields)
