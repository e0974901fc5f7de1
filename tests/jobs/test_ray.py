from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec

import joblib
import psutil
import pytest
from job_checks import AnyProcesses, done
from own_ray import own_ray
from toy_jobs import Draws

from pt_reuse._errors import InputError

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
