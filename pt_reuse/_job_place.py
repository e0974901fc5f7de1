"""Where jobs are done, which says what may be handed to them."""

from __future__ import annotations

from enum import Enum

from pt_reuse._workers import Here, JoblibWorkers, chosen_workers


class JobPlace(Enum):
    """Where the jobs of a call are done."""

    HERE = "by the caller"
    THREADS = "by threads of this process"
    PROCESSES = "by other processes"

    @classmethod
    def of(cls, n_jobs: int | None, prefer: str | None = None) -> JobPlace:
        """Return where jobs are done that are run with these arguments, see :func:`run_jobs`."""
        workers = chosen_workers(n_jobs, prefer)
        if isinstance(workers, Here):
            return cls.HERE
        return cls.THREADS if isinstance(workers, JoblibWorkers) and workers.share_memory else cls.PROCESSES
