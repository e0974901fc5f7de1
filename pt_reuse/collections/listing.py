"""The table of all collections."""

from __future__ import annotations

import pandas as pd

from pt_reuse._check import flag
from pt_reuse._errors import InputError, door
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.registry import collection_names, find_collection
from pt_reuse.collections.run_files import find_run_files, own_run_files


@door
def list_collections(search: str = "", *, here: bool = False) -> pd.DataFrame:
    """List the test collections that ``pt.get_dataset("reuse:NAME")`` knows.

    Args:
        search: words that must all stand in a collection's name, title, year or ir_datasets id, such as
            ``"deep learning"`` or ``"robust 2004"``; default all collections.
        here: list only collections of which at least one run file is on this machine.

    Returns:
        DataFrame: one row per collection, by year: ``name title year``; ``topics`` and ``judged``, judged topics and
        judgments; ``runs`` and ``teams`` submitted; ``pooled``, how many runs are on record as pooled, missing where
        nobody recorded it; ``irds``, the ir_datasets id; ``published``, how the run files can be had: ``"open"``,
        ``"password"`` or ``"no"``; ``here``, how many of them are on this machine.

    Raises:
        InputError: a `search` that is no text, a `here` that is neither True nor False.

    Example:
        >>> import pt_reuse as ptr
        >>> found = ptr.list_collections("trec-8 ad hoc")
        >>> found[["name", "topics", "judged", "runs", "teams", "pooled"]].values.tolist()
        [['trec-8/adhoc', 50, 86830, 129, 41, 71]]
    """
    if not isinstance(search, str):
        raise InputError(f"search must be words in one text, got {search!r}.")
    only_here = flag("here", here)
    words = search.lower().split()
    rows = []
    for name in collection_names():
        collection = find_collection(name)
        text = f"{name} {collection.title} {collection.year} {collection.irds_id} {collection.note}".lower()
        if not all(word in text for word in words):
            continue
        row = _row(collection)
        if row["here"] or not only_here:
            rows.append(row)
    columns = ["name", "title", "year", "topics", "judged", "runs", "teams", "pooled", "irds", "published", "here"]
    frame = pd.DataFrame(rows, columns=columns)
    numbers = ["year", "topics", "judged", "runs", "teams", "pooled", "here"]
    return frame.astype(dict.fromkeys(numbers, "Int64"))


def _row(collection: Collection) -> dict[str, object]:
    row: dict[str, object] = {
        "name": collection.name,
        "title": collection.title,
        "year": collection.year,
        "topics": collection.n_topics,
        "judged": collection.n_judged,
        "irds": collection.irds_id,
        "published": collection.access or "no",
    }
    submitted = collection.submitted
    if submitted is None:
        n_files = len(own_run_files(collection))
        return {**row, "runs": n_files, "here": n_files}
    pooled = int(submitted["pooled"].sum()) if collection.pooled_is_on_record else None
    here = len(find_run_files(collection, submitted["name"]))
    return {**row, "runs": len(submitted), "teams": submitted["team"].nunique(), "pooled": pooled, "here": here}
