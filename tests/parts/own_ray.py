"""A Ray cluster of two processors for tests, which nothing outside of this machine reaches."""

from __future__ import annotations

import logging
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock


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
