"""Fork a process that is to be killed."""

from __future__ import annotations

import os
import threading

import pyterrier as pt


def fork():
    """Fork, as os.fork does; the child shares no lock with its parent, which would wait for ever for a killed one's."""
    child = os.fork()
    if not child:
        # that of progress bars is one for all processes
        pt.tqdm.set_lock(threading.RLock())
    return child
