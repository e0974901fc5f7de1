"""The workers of a Ray cluster, as Ray's tasks, which it gives to another worker where one dies."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from itertools import islice
from typing import Any

from pt_reuse._errors import InputError
from pt_reuse._job_tasks import AHEAD, TRIES, LostError, Outcome, Task, import_failure, packed, run_packed

_NONE = "Ray does not run in this process, or its cluster does not answer. Call ray.init(), with the cluster's address."


class RayWorkers:
    """Those of the cluster that this process is connected to.

    What they were given they do, or until this process ends, also where nobody waits for it any more: Ray 2.60 ends the
    process where ``ray.cancel`` comes as a worker answers.

    Args:
        backend: joblib's, which knows what each job needs.
        n_jobs: as joblib takes it; below 0 for all processors of the cluster.
    """

    def __init__(self, backend: Any, n_jobs: int):
        self.backend, self.n_jobs = backend, n_jobs

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task, in order."""
        import ray

        try:
            from ray.cloudpickle import dumps
        except ImportError:  # its copy of the library
            from cloudpickle import dumps
        if not ray.is_initialized():
            raise InputError(_NONE)
        run = ray.remote(run_packed).options(**(getattr(self.backend, "ray_remote_args", None) or {}))
        following, pending = iter(tasks), deque[Any]()
        ahead = AHEAD * self._cores()
        while True:
            few = islice(following, ahead - len(pending))
            pending.extend(run.remote(packed(task, dumps)) for task in few)
            if not pending:
                return
            yield self._fetched(pending[0])
            pending.popleft()

    def _cores(self) -> int:
        import ray

        if self.n_jobs > 0:
            return self.n_jobs
        try:
            return max(1, int(ray.cluster_resources().get("CPU", 1)))
        except (ray.exceptions.RayError, OSError):
            raise InputError(_NONE) from None

    def _fetched(self, reference: Any) -> Outcome[Any]:
        import ray
        from ray import exceptions as failures

        try:
            return ray.get(reference)
        except (failures.WorkerCrashedError, failures.OutOfMemoryError) as error:
            # Ray has tried several times, and a worker of its does one job at a time
            raise LostError(str(error), times=TRIES) from error
        except (failures.NodeDiedError, failures.ObjectLostError) as error:
            raise LostError(str(error)) from error
        except (failures.RaySystemError, failures.LocalRayletDiedError, ConnectionError) as error:
            raise import_failure(error) or InputError(f"{_NONE} Ray said: {error}") from error
        except failures.RayTaskError as error:
            raise import_failure(error.cause or error) or error from error
