"""A field in memory that is kept in a store, of one block, and loaded from one, of any."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pt_reuse._files import Alone, alone, read_file
from pt_reuse.engine.field import Field
from pt_reuse.engine.open_field import AnyField, OpenField, forget_blocks
from pt_reuse.formats.block import write_block
from pt_reuse.formats.read_field import ReadField
from pt_reuse.formats.store import DamagedStoreError, Layer, Source, StaleCacheError, Stored, check_sources, load, write
from pt_reuse.formats.store_folder import HEADER, new_name, remove, sweep, sweep_in_passing
from pt_reuse.formats.stored_blocks import DamagedBlockError, block_name

_OVERTAKEN = 20  # times that another process may replace the store while it is being read


def load_whole(folder: Path, sources: Mapping[str, str], settings: Mapping[str, Any]) -> ReadField:
    """Return the field kept in `folder`, or say why it does not serve.

    What writers that were killed left behind there is removed.

    Raises:
        StaleCacheError: it does not serve.
        InputError: it was written by a newer version.
    """
    for _ in range(_OVERTAKEN):
        seen = _manifest(folder)
        try:
            stored = load(folder, settings)
            check_sources(stored.sources, sources)
            field = _in_memory(stored.read.field)
        except DamagedStoreError:
            # another process may have replaced the store since its manifest was read
            if _manifest(folder) == seen:
                raise
            continue
        sweep_in_passing(folder)
        return dataclasses.replace(stored.read, field=field)
    raise StaleCacheError("other processes keep replacing it")


def keep_whole(folder: Path, read: ReadField, sources: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Keep a field in memory: the block goes to a new folder, then the manifest is replaced, then all others go.

    One process writes at a time. Where another one is writing now, nothing is kept.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder) as whether:
        if whether is Alone.NO:
            return
        sweep(folder, whether)
        place, field = new_name("arrays"), _in_memory(read.field)
        (folder / place).mkdir()
        try:
            write_block(folder / place / block_name(0, field.n_topics), field)
            columns, lengths = tuple(range(field.n_runs)), field.lengths.astype(np.int32)
            layer = Layer(place, columns, field.topics, (field.n_topics,), lengths, tuple(field.ranked.tolist()))
            write(folder, Stored({path: Source(check) for path, check in sources.items()}, read, (layer,)), settings)
        except BaseException:
            remove(folder / place)
            raise
        sweep(folder, whether)


def _in_memory(field: AnyField) -> Field:
    if isinstance(field, OpenField):
        try:
            blocks = len(field.parts)
            found = field.source.load(0) if blocks == 1 else field.take_topics(range(field.n_topics))
            forget_blocks()
            field = Field(**{item.name: getattr(found, item.name) for item in dataclasses.fields(Field)})
        except DamagedBlockError as error:
            raise DamagedStoreError(error.clause) from error
    return field


def _manifest(folder: Path) -> bytes | None:
    try:
        return read_file(folder / HEADER)
    except OSError:
        return None
