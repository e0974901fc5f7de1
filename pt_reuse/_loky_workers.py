"""loky's processes, which are joblib's own: they get jobs as their results are fetched, and none of them waits."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from pt_reuse._job_files import Parcel, folder_for_results, run_packing
from pt_reuse._job_tasks import AHEAD, LostError, Outcome, Task, import_failure, unsendable


@dataclass(frozen=True)
class LokyWorkers:
    """Processes of this machine.

    Attributes:
        backend: joblib's, as the user has configured it.
        n: how many.
    """

    backend: Any
    n: int

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task, in order."""
        from concurrent.futures.process import BrokenProcessPool

        from joblib import Parallel

        following, pending = iter(tasks), deque[Any]()
        # of this call alone: when another one inside of it ends, this one goes on
        backend = copy(self.backend)
        # arrays of jobs are small
        with folder_for_results() as place, Parallel(self.n, backend=backend, max_nbytes=None):
            submit = getattr(backend, "submit", None) or backend.apply_async
            try:
                while self._fill(pending, following, submit, place):
                    done = pending[0].result()
                    yield done.opened() if isinstance(done, Parcel) else done
                    pending.popleft()
            except RuntimeError as error:
                # another call of this process, whose workers are the same, has been given up, or they died;
                # loky says so, too, of results that cannot be read here
                if not isinstance(error, BrokenProcessPool) and type(error).__name__ != "ShutdownExecutorError":
                    raise
                raise import_failure(error) or LostError(str(error)) from error
            except pickle.PicklingError as error:
                raise unsendable(error) from error
            finally:
                if pending:
                    # jobs that have begun would run on
                    backend.abort_everything(ensure_ready=False)

    def _fill(self, pending: deque[Any], tasks: Iterator[Task[Any]], submit: Any, place: str | None) -> int:
        for task in islice(tasks, AHEAD * self.n - len(pending)):
            pending.append(submit(partial(run_packing, task, place)))
        return len(pending)
