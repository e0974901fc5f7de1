from __future__ import annotations

import logging
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import joblib
import psutil
import pytest
from job_checks import AnyProcesses, done
from toy_jobs import Draws

from pt_reuse.errors import InputError

# a cluster


@contextmanager
def own_ray() -> Iterator[None]:
    """Start Ray on the loopback alone, with files and a token of its own, and without telling anybody; then stop it."""
    # sockets have short paths
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        token = Path(folder, "token")
        token.touch(0o600)
        token.write_text(secrets.token_hex(32))
        settings = {
            # else Ray takes the address of the network for 127.0.0.1
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        }
        with mock.patch.dict(os.environ, settings):
            import ray
            from ray._private.ray_constants import ENABLE_RAY_CLUSTER
            from ray.util.joblib import register_ray

            # Ray reads this one as it is imported
            assert not ENABLE_RAY_CLUSTER, "import ray here first, else it listens beyond this machine"
            ray.init(
                num_cpus=2, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False,
                logging_level=logging.ERROR, object_store_memory=80 * 2**20, _temp_dir=folder,
            )  # fmt: skip
            register_ray()
            try:
                yield
            finally:
                ray.shutdown()


# the tests


if find_spec("ray") is None:
    pytest.skip("needs `pip install 'pt-reuse[ray]'`, 240 MB", allow_module_level=True)


@pytest.fixture(scope="module")
def cluster():
    with own_ray():
        yield


class TestRay(AnyProcesses):
    @pytest.fixture(autouse=True)
    def _configured(self, cluster):
        with joblib.parallel_config("ray", n_jobs=-1):
            yield

    def test_nothing_listens_beyond_this_machine(self):
        for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
            found = []
            with suppress(psutil.Error, FileNotFoundError):  # one may just have ended
                found = process.net_connections()
            for connection in found:
                if connection.status == psutil.CONN_LISTEN:
                    assert connection.laddr.ip in ("127.0.0.1", "::ffff:127.0.0.1", "::1"), process.cmdline()


def test_ray_that_does_not_run_is_told(monkeypatch):
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with joblib.parallel_config("ray", n_jobs=2), pytest.raises(InputError, match="their cluster does not answer"):
        done(map(Draws, range(3)))
