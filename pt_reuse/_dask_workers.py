"""The workers of a Dask cluster: joblib's own door to them waits for ever for a job whose workers died."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Any

from pt_reuse._errors import InputError
from pt_reuse._job_tasks import AHEAD, TRIES, LostError, Outcome, Task, import_failure, packed, run_packed


class DaskWorkers:
    """Those of a cluster, however many there are at the time.

    Args:
        backend: joblib's, which knows the client.
    """

    def __init__(self, backend: Any):
        self.backend, self.client = backend, backend.client
        #: seconds without a worker that the user has configured, None for ever
        self.patience = getattr(backend, "wait_for_workers_timeout", None) or None

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task, in order."""
        following, pending, done = iter(tasks), deque[Any](), 0
        try:
            # inside of a worker of the cluster this leaves its place to the jobs
            with self.backend.retrieval_context():
                n = self._cores()
                while self._fill(pending, following, n):
                    yield self._fetched(pending[0])
                    pending.popleft()
                    done += 1
                    # a cluster may grow and shrink
                    n = self._cores() if done % n == 0 else n
        finally:
            # the scheduler forgets what nobody waits for
            for future in pending:
                future.release()

    def _fill(self, pending: deque[Any], tasks: Iterator[Task[Any]], n: int) -> int:
        from cloudpickle import dumps

        options = getattr(self.backend, "submit_kwargs", None) or {}
        for task in islice(tasks, max(0, AHEAD * n - len(pending))):
            pending.append(self.client.submit(run_packed, packed(task, dumps), pure=False, **options))
        return len(pending)

    def _fetched(self, future: Any) -> Outcome[Any]:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed import TimeoutError as LateError

        nobody = 0
        while True:
            try:
                return future.result(timeout=self.patience)
            except LateError:
                # workers that begin anew are away for a moment
                nobody = 0 if self._cores() else nobody + 1
                if nobody == 2:
                    raise self._unmanned() from None
            except KilledWorker as error:
                # Dask has tried several times, each time with what else the worker had
                raise LostError(str(error), times=TRIES - 1) from error
            except CancelledError as error:
                if self.client.status != "running":
                    raise self._gone() from None
                raise LostError(str(error)) from error
            except OSError:
                raise self._gone() from None
            except Exception as error:
                raise import_failure(error) or error from error

    def _cores(self) -> int:
        from distributed import TimeoutError as LateError

        if self.client.status != "running":
            raise self._gone()
        try:
            # waits for a worker where there is none
            return max(1, self.backend.effective_n_jobs(-1))
        except (LateError, TimeoutError):
            raise self._unmanned() from None
        except OSError:
            raise self._gone() from None

    def _unmanned(self) -> InputError:
        return InputError(
            f"the Dask cluster at {self._address()} has had no worker for {self.patience or 0:g} seconds. Start "
            "workers, or let it wait longer: joblib.parallel_config('dask', wait_for_workers_timeout=600)."
        )

    def _gone(self) -> InputError:
        return InputError(
            f"Dask's scheduler at {self._address()} does not answer. Start it, and make a new distributed.Client."
        )

    def _address(self) -> str:
        return str(getattr(getattr(self.client, "scheduler", None), "address", None) or "an unknown address")
