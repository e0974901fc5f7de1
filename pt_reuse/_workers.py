"""Who does the jobs of a call, as joblib and its ``parallel_config`` have it."""

from __future__ import annotations

import os
import tempfile
from enum import Enum


class Workers(Enum):
    """Where the jobs of a call are done."""

    NONE = "by the caller"
    THREADS = "by threads of this process"
    PROCESSES = "by other processes"

    @classmethod
    def of(cls, n_jobs: int | None, prefer: str | None = None) -> Workers:
        """Return where jobs are done that are run with these arguments, see :func:`run_jobs`."""
        from joblib.parallel import get_active_backend

        backend, configured = get_active_backend(prefer=prefer)
        wanted = configured if n_jobs is None else n_jobs
        if backend.effective_n_jobs(backend.default_n_jobs if wanted is None else wanted) == 1:
            return cls.NONE
        return cls.THREADS if getattr(backend, "supports_sharedmem", False) else cls.PROCESSES


def temporary_folder() -> str:
    """Return the folder in which files for workers are put: the one that joblib is told, else the system's."""
    from joblib import parallel

    # what parallel_config(temp_folder=...) says; joblib has no public way to ask
    settings = getattr(getattr(parallel, "_backend", None), "config", None) or {}
    folder = settings.get("temp_folder")
    return folder if isinstance(folder, str) else os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()
