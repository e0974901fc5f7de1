"""loky's processes, which are joblib's own: they get jobs as their results are fetched, and none of them waits."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any

from pt_reuse._job_files import Parcel, run_packing, temporary_folder
from pt_reuse._job_tasks import AHEAD, LostError, Outcome, Task, import_failure, unsendable


@dataclass(frozen=True)
class LokyWorkers:
    """Processes of this machine.

    Attributes:
        n: how many.
    """

    n: int

    def outcomes(self, tasks: Iterable[Task[Any]]) -> Generator[Outcome[Any], None, None]:
        """Yield what comes of each task, in order."""
        from concurrent.futures.process import BrokenProcessPool

        from joblib import Parallel

        following, pending = iter(tasks), deque[Any]()
        folder = TemporaryDirectory(prefix="pt_reuse-", dir=temporary_folder(), ignore_cleanup_errors=True)
        # as the user has configured them; arrays of jobs are small
        with folder as place, Parallel(self.n, max_nbytes=None) as parallel:
            backend = parallel._backend
            submit = getattr(backend, "submit", None) or backend.apply_async
            try:
                while self._fill(pending, following, submit, place):
                    done = pending[0].result()
                    yield done.opened() if isinstance(done, Parcel) else done
                    pending.popleft()
            except BrokenProcessPool as error:
                # loky says so, too, of results that cannot be read here
                raise import_failure(error) or LostError(str(error)) from error
            except pickle.PicklingError as error:
                raise unsendable(error) from error
            finally:
                if pending:
                    # jobs that have begun would run on
                    backend.abort_everything(ensure_ready=False)

    def _fill(self, pending: deque[Any], tasks: Iterator[Task[Any]], submit: Any, place: str) -> int:
        for task in islice(tasks, AHEAD * self.n - len(pending)):
            pending.append(submit(partial(run_packing, task, place)))
        return len(pending)
