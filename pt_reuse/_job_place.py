"""Where jobs are done, which says what may be handed to them, and where files for them are put."""

from __future__ import annotations

import os
import tempfile
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


def temporary_folder() -> str:
    """Return the folder in which files for workers are put: the one that joblib is told, else the system's."""
    from joblib import parallel

    # what parallel_config(temp_folder=...) says; joblib has no public way to ask
    settings = getattr(getattr(parallel, "_backend", None), "config", None) or {}
    folder = settings.get("temp_folder")
    return folder if isinstance(folder, str) else os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()
