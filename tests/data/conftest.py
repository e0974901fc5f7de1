"""What the tests of caches and stores begin with."""

import gzip
import warnings

import pytest
from cache_parts import run_bytes, same

from pt_reuse.data.run_set import read_runs


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.gz").write_bytes(gzip.compress(run_bytes(f"run{i}", seed=i)))
    return folder


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def reread(messages):
    """Read past a cache that does not serve, expecting the warning that says why, and see that it serves again."""

    def read(source, cache, **arguments):
        runs = messages.warned(read_runs, source=source, cache=cache, **arguments)
        assert same(runs, read_runs(source, **arguments))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert same(runs, read_runs(source, cache=cache, **arguments))
        return runs

    return read
