from __future__ import annotations

import logging
import threading

import joblib
import pytest
from job_checks import AnyBackend, AnyProcesses, done
from toy_jobs import Draws

from pt_reuse.errors import InputError

dask = pytest.importorskip("dask", reason="needs `pip install 'pt-reuse[dask]'`")
distributed = pytest.importorskip("distributed", reason="needs `pip install 'pt-reuse[dask]'`")
#: nothing that is reached from outside of this machine
LOCAL = {
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
    "threads_per_worker": 1,
    "silence_logs": logging.CRITICAL,
}


@pytest.fixture(scope="module")
def client():
    with (
        # Dask itself tries twice, not four times
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(n_workers=2, **LOCAL) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class TestDask(AnyProcesses):
    @pytest.fixture(autouse=True)
    def _configured(self, client):
        with joblib.parallel_config("dask", client=client):
            yield


def test_workers_with_threads_hear_warnings_of_their_own_jobs():
    several = {**LOCAL, "threads_per_worker": 2}
    with (
        distributed.LocalCluster(n_workers=1, **several) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        AnyBackend().test_a_warning_of_many_jobs_is_given_once()


def test_a_cluster_without_workers_is_told():
    with (
        distributed.LocalCluster(n_workers=0, **LOCAL) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask", wait_for_workers_timeout=0.3),
        pytest.raises(InputError, match=r"no worker after 0\.3 seconds"),
    ):
        done(map(Draws, range(3)))


def test_a_scheduler_that_went_away_is_told():
    with (
        # it tries to connect again for 30 seconds, also while it is being closed
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        distributed.LocalCluster(n_workers=1, **LOCAL) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        gone = threading.Timer(0.5, client.loop.add_callback, [cluster.scheduler.close])
        gone.start()
        with pytest.raises(InputError, match="their cluster does not answer"):
            done(Draws(number, 60.0) for number in range(3))
        gone.join()
        with pytest.raises(InputError, match="their cluster does not answer"):
            done(map(Draws, range(3)))
