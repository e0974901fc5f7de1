"""Parts of other libraries that these do not promise: a test that fails when one changes, and a way without it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from threading import Event
from types import ModuleType, SimpleNamespace

import ir_datasets
import joblib
import numpy as np
import pyterrier as pt
import pytest
from toy_jobs import Draws

from pt_reuse import _job_files, _workers
from pt_reuse._jobs import run_jobs
from pt_reuse._loky_workers import LokyWorkers
from pt_reuse.collections import irds
from pt_reuse.collections.dataset import IRDSDataset
from pt_reuse.collections.download import patience
from pt_reuse.collections.registry import find_collection

JOBS = 6


def draws(n_jobs=None):
    return np.array(list(run_jobs(map(Draws, range(JOBS)), JOBS, desc="", unit="", n_jobs=n_jobs, verbose=False)))


# ---- joblib


def test_joblib_says_what_is_configured(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2, temp_folder=str(tmp_path)):
        assert isinstance(_workers.chosen_workers(None, None), LokyWorkers)
        assert _job_files.temporary_folder() == str(tmp_path)
    assert isinstance(_workers.chosen_workers(None, None), _workers.Here)
    # by these names they are told apart, and these of their attributes are asked
    names = {kind: joblib.parallel.BACKENDS[kind].__name__ for kind in ("loky", "multiprocessing")}
    assert names == {"loky": "LokyBackend", "multiprocessing": "MultiprocessingBackend"}
    for method in ("submit", "abort_everything", "effective_n_jobs", "retrieval_context"):
        assert hasattr(joblib.ParallelBackendBase, method)


def test_joblib_does_not_say_which_backend_is_configured(monkeypatch):
    expected = draws()
    monkeypatch.setitem(sys.modules, "joblib.parallel", ModuleType("joblib.parallel"))
    assert isinstance(_workers.chosen_workers(None, None), _workers.Here)
    with joblib.parallel_config("threading"):
        assert isinstance(_workers.chosen_workers(2, None), _workers.JoblibWorkers)
        assert np.array_equal(draws(2), expected)


def test_joblib_does_not_say_where_temporary_files_go(monkeypatch, tmp_path):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with monkeypatch.context() as patched:
        patched.delattr(joblib.parallel, "_backend")
        assert _job_files.temporary_folder() == str(tmp_path)


def test_what_loky_raises_when_its_workers_are_ended():
    # told by its name and its kind alone
    from joblib.externals.loky import process_executor

    assert issubclass(process_executor.ShutdownExecutorError, RuntimeError)
    assert issubclass(process_executor.TerminatedWorkerError, BrokenProcessPool)


# ---- requests and urllib3


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("proxy", [None, "http://127.0.0.1:9"])
def test_the_head_of_an_answer_is_watched(scheme, proxy):
    session = patience.patient_session(1, 1, Event(), 1.0)
    adapter = session.get_adapter(f"{scheme}://127.0.0.1")
    manager = adapter.poolmanager if proxy is None else adapter.proxy_manager_for(proxy)
    pool = manager.connection_from_url(f"{scheme}://127.0.0.1:9/")
    assert any(kind.__name__ == "Head" for kind in pool.ConnectionCls.__mro__)
    assert "getresponse" in vars(next(kind for kind in pool.ConnectionCls.__mro__ if kind.__name__ == "Head"))


def test_urllib3_does_not_say_in_which_pool_it_tries_again():
    session = patience.patient_session(2, 1, Event(), 1.0)
    retry = session.get_adapter("http://127.0.0.1").max_retries

    closed = []
    busy = SimpleNamespace(headers={"Retry-After": "3600"}, status=503, close=lambda: closed.append(True))
    with pytest.raises(patience.MaxRetryError):
        retry.increment("GET", "/", busy)
    assert closed


# ---- PyTerrier and ir_datasets


def test_the_class_of_datasets_is_that_of_pyterrier():
    assert type(pt.get_dataset("irds:vaswani")) is IRDSDataset


def test_pyterrier_has_the_class_elsewhere():
    code = (
        "import sys, types, pyterrier as pt\n"
        "from pyterrier.datasets import _irds\n"
        "other = types.ModuleType(_irds.__name__)\n"
        "other.IRDSDatasetProvider = _irds.IRDSDatasetProvider\n"
        "sys.modules[_irds.__name__] = other\n"
        "import pt_reuse.collections.dataset as ours\n"
        "assert ours.IRDSDataset is _irds.IRDSDataset\n"
        "assert len(pt.get_dataset('reuse:trec-8/adhoc').submitted()) == 129\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ir_datasets_names_its_datasets_in_another_way(monkeypatch):
    collection = find_collection("trec-8/adhoc")
    assert irds.build_irds(collection).dataset_id() == "reuse/trec-8/adhoc"
    monkeypatch.delattr(ir_datasets.util, "MetadataComponent")
    without = irds.build_irds(collection)
    assert without.dataset_id() == "reuse/trec-8/adhoc"
    assert without.has_qrels()
    assert not hasattr(without, "nothing")
