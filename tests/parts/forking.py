"""Fork a process that is to be killed, and what one leaves that was killed while it wrote."""

from __future__ import annotations

import os
import signal
import threading

import pyterrier as pt

from pt_reuse._files import replacing


def fork():
    """Fork, as os.fork does; the child shares no lock with its parent, which would wait for ever for a killed one's."""
    child = os.fork()
    if not child:
        # that of progress bars is one for all processes
        pt.tqdm.set_lock(threading.RLock())
    return child


def killed_in(work):
    """Run a function in a process that kills itself there; return when it is dead."""
    worker = fork()
    if not worker:
        try:
            work()
        finally:
            os._exit(3)
    assert os.WIFSIGNALED(os.waitpid(worker, 0)[1])


def kill_oneself(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def half_a_file(folder):
    """Write a file of a folder, and be killed."""
    with replacing(folder / "a") as file:
        file.write(b"half")
        kill_oneself()
