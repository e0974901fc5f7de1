"""Doing jobs by whatever the user has configured joblib to use, with a progress bar, and again where a worker died."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import TypeVar

import pyterrier as pt

from pt_reuse._errors import Circumstances, InputError, Option
from pt_reuse._job_tasks import TRIES, Job, LostError, Outcome, Place, Task, value_of
from pt_reuse._workers import Workers, chosen_workers

Done = TypeVar("Done")
#: times that workers may die at all
MOST_LOSSES = 10


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
    """Yield what each job returns, in their order, whoever does them.

    A few jobs for each worker are handed out ahead of the result that is asked for, no more: results do not pile up.
    Jobs whose worker died are done again. Warnings of jobs are given here, each once. Where the caller wants no more
    results, or is interrupted, no further job begins, and processes that are ours to end are ended.

    Args:
        jobs: made one by one, as they are handed out. To other processes they go as pickles, so they should be small;
            a job may say where it works, see `Job`.
        total: how many there are.
        desc: what the progress bar is called.
        unit: what it counts.
        n_jobs: jobs at a time, as joblib takes it; None for what ``joblib.parallel_config`` says, else 1.
        verbose: whether there is a progress bar.
        prefer: joblib's, ``"threads"`` for work that holds no lock.

    Raises:
        InputError: a job's own; its workers died again and again; a cluster does not answer, or its workers do not have
            what the job needs.
        Exception: what else a job raises, with the job's place before its text.
    """
    workers = chosen_workers(n_jobs, prefer)
    said, sender = Circumstances.now(), Place.here()
    tasks = (Task(job, number, total, said, sender) for number, job in enumerate(jobs, 1))
    told: set[tuple[type, str]] = set()
    with (
        pt.tqdm(total=total, desc=desc, unit=unit, disable=not verbose) as bar,
        closing(_outcomes(workers, tasks)) as outcomes,
    ):
        for outcome in outcomes:
            bar.update()
            yield value_of(outcome, told)


def _outcomes(workers: Workers, tasks: Iterator[Task[Done]]) -> Generator[Outcome[Done], None, None]:
    """Yield what comes of each task, in order, and do again what has not come back where workers died."""
    out: deque[Task[Done]] = deque()
    losses = ever = 0
    while True:
        alone = losses >= TRIES - 1
        handed = iter([out[0]]) if alone else chain(tuple(out), _noted(tasks, out))
        try:
            with closing(workers.outcomes(handed)) as outcomes:
                for outcome in outcomes:
                    out.popleft()
                    losses = 0
                    yield outcome
        except LostError as lost:
            losses, ever = losses + lost.times, ever + 1
            alone = alone or lost.times == TRIES
            if alone or ever == MOST_LOSSES:
                raise _given_up(out[0], str(lost), alone=alone) from lost
            continue
        if not alone:
            return


def _noted(tasks: Iterator[Task[Done]], out: deque[Task[Done]]) -> Iterator[Task[Done]]:
    for task in tasks:
        out.append(task)
        yield task


def _given_up(task: Task[Done], said: str, *, alone: bool) -> InputError:
    what = f"with the job {task.named} alone" if alone else f"with the job {task.named}, or one beside it, under way"
    first = said.strip().split(". ")[0].rstrip(".")
    return InputError(
        f"worker processes died again and again, the last time {what}. Most often memory was too small: do fewer jobs "
        "at a time (",
        Option("n_jobs", 1),
        f") or give workers more of it. What was said last: {first}.",
    )
