"""What to say of documents, topics or judgments that cannot be had: what is known, and which file goes where."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pt_reuse._errors import Call, InputError
from pt_reuse.collections.collection import Collection, home

#: part of a dataset of ir_datasets -> our word, the key of a definition, and the user's file that stands in for it
_WORDS = {
    "docs": ("documents", "documents", None),
    "queries": ("topics", "topics", "topics.tsv (qid and query, or NIST's own file as topics.txt or topics.xml)"),
    "qrels": ("judgments", "qrels", "qrels.txt"),
}
_DEEP = 4
#: how ir_datasets begins to log that an address failed
_FAILED = ("download error:", "Download failed:")


@contextmanager
def quiet_downloads() -> Iterator[None]:
    """Keep ir_datasets from logging every address that it tried in vain, where an error of ours says it.

    What it logs of a download that succeeds in the end comes when that is done; all else comes at once.
    """
    held: list[logging.LogRecord] = []

    def passes(record: logging.LogRecord) -> bool:
        failed = record.getMessage().startswith(_FAILED)
        if failed:
            held.append(record)
        return not failed

    logger = logging.getLogger("ir_datasets")
    logger.addFilter(passes)
    try:
        yield
    finally:
        logger.removeFilter(passes)
    for record in held:
        logger.handle(record)


def not_known(collection: Collection, part: str) -> InputError:
    """Return the error for a part of which nobody knows where it is."""
    word, key, file = _WORDS[part]
    said, place = f"no {word} are known for it. ", f"reuse:{collection.name}"
    if collection.origin == "own":
        return InputError(f"{said}Add {key} = ... to its definition.", place=place)
    if file is None:
        call = Call("register_collection")
        return InputError(said, "Define a collection of your own that names them: ", call, ".", place=place)
    at = collection.judgments_at
    if part == "qrels" and at is not None:
        said = f"ir_datasets does not have its judgments. They are published at {at}. "
    return InputError(f"{said}Put them into {home() / collection.name} as {file}.", place=place)


def not_readable(collection: Collection, dataset: Any, part: str, error: Exception) -> InputError:
    """Return the error for a part that ir_datasets could not read: why, and where a file of it must be put."""
    text = " ".join(_reason(error).split()).rstrip(".") or type(error).__name__
    word, _, file = _WORDS[part]
    advice = [] if file is None else [f"put it into {home() / collection.name} as {file}"]
    expected = sorted(_cache_files(getattr(dataset, f"{part}_handler")(), _DEEP))
    if expected:
        places = ", ".join(str(path) for path in expected[:3])
        which = "it" if len(expected) == 1 else "them"
        advice.append(f"put {which}, packed as NIST publishes {which}, where ir_datasets looks: {places}")
    else:
        advice.append("see the page of the dataset at https://ir-datasets.com for where it must be")
    return InputError(
        f"its {word} come through ir_datasets{f' ({collection.irds_id})' if collection.irds_id else ''}, which could "
        f"not read them: {text if len(text) <= 160 else text[:157] + '...'}. "
        f"Without a network, {', or '.join(advice)}.",
        place=f"reuse:{collection.name}",
    )


def _reason(error: Exception) -> str:
    """Return why ir_datasets could not read; of several addresses that it tried, why the first one failed."""
    import requests

    tried = error.args[1] if isinstance(error, RuntimeError) and len(error.args) > 1 else None
    first = tried[0][1] if isinstance(tried, list) and tried and isinstance(tried[0], tuple) else error
    url = getattr(getattr(first, "request", None), "url", None)
    if isinstance(first, requests.ConnectionError) and url:
        return f"no connection to {urlsplit(url).hostname}"
    return str(error.args[0]) if isinstance(error, RuntimeError) and error.args else str(error)


def _cache_files(handler: Any, depth: int) -> set[Path]:
    # ir_datasets has no public way to say where a file will be without downloading it
    kept = getattr(handler, "_cache_path", None)
    if isinstance(kept, str | Path):
        return {Path(kept)}
    if depth == 0:
        return set()
    inner = list(vars(handler).values()) if hasattr(handler, "__dict__") else []
    inner = [part for value in inner for part in (value if isinstance(value, list | tuple) else [value])]
    ours = [part for part in inner if type(part).__module__.startswith("ir_datasets.")]
    return {path for part in ours for path in _cache_files(part, depth - 1)}
