"""Running tasks by joblib, under whatever backend the user has configured, with a progress bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

import pyterrier as pt

Done = TypeVar("Done", covariant=True)


class Job(Protocol[Done]):
    """What one job works on; it needs nothing else, so that it can run anywhere."""

    def run(self) -> Done:
        """Do the work, and return what comes of it."""


def run_jobs(
    jobs: Iterable[Job[Done]],
    total: int,
    *,
    desc: str,
    unit: str,
    n_jobs: int | None,
    verbose: bool,
    prefer: str | None = None,
) -> Iterator[Done]:
    """Yield what each job returns, in their order.

    Args:
        jobs: made one by one, as they are handed out.
        total: how many there are.
        desc: what the progress bar is called.
        unit: what it counts.
        n_jobs: jobs at a time, as joblib takes it; None for what ``joblib.parallel_config`` says, else 1.
        verbose: whether there is a progress bar.
        prefer: joblib's, ``"threads"`` for work that holds no lock.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    generates = get_active_backend(prefer=prefer)[0].supports_return_generator
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator" if generates else "list")
    done: Iterable[Any] = parallel(delayed(_run)(job) for job in jobs)
    yield from pt.tqdm(done, total=total, desc=desc, unit=unit, disable=not verbose)


def _run(job: Job[Done]) -> Done:
    return job.run()
