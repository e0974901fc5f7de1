"""Patience: how long a server may take, and how often and after how long it is asked again."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from http.cookiejar import DefaultCookiePolicy
from threading import Event, Timer
from typing import Any

from requests import Response, Session
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import InvalidHeader, MaxRetryError, ResponseError
from urllib3.util import Retry

#: seconds before the second try; doubled before each further one
BACKOFF = 1.0
#: seconds that a server may ask to wait
LONGEST_WAIT = 60.0
#: bytes a second that must come, and the seconds over which they are counted
LEAST_RATE, RATE_WINDOW = 1000, 30.0
#: answers after which the same is asked for again
BUSY = frozenset({408, 425, 429, *range(500, 600)} - {501})


class StoppedError(Exception):
    """The transfer was told to stop."""


def backoff(tried: int) -> float:
    """Return the seconds to wait before the next try."""
    return float(min(BACKOFF * 2 ** (tried - 1), LONGEST_WAIT))


class Pace:
    """Whether the bytes of a file come at the least rate, counted anew in each window."""

    def __init__(self, size: int):
        self._since, self._size = time.monotonic(), size

    def is_too_slow(self, size: int) -> bool:
        """Return, when a window ends, whether too little has come in it; `size` is what has come so far."""
        seconds = time.monotonic() - self._since
        if seconds < RATE_WINDOW:
            return False
        came, self._since, self._size = size - self._size, self._since + seconds, size
        return came < LEAST_RATE * seconds


class OneHop(Session):
    """A session that follows no redirect by itself."""

    def get_redirect_target(self, resp: Response) -> str | None:
        """Return None: asked even if redirects are not followed, it would read the whole answer."""
        return None


def patient_session(tries: int, connections: int, stop: Event, timeout: float) -> Session:
    """Return a session that asks again where the connection breaks before an answer or the server is busy.

    It follows no redirect, keeps no cookies, and hands over the last answer of a server that stays busy. A server that
    cannot be reached is not asked again. The head of an answer must be there in time; its body is for the caller to
    watch.
    """

    class Patience(Retry):
        def parse_retry_after(self, retry_after: str) -> float:
            try:
                return super().parse_retry_after(retry_after)
            except (InvalidHeader, ValueError, OverflowError):
                return 0.0

        def increment(self, method: Any = None, url: Any = None, response: Any = None, *more: Any, **named: Any) -> Any:
            if response is not None:
                # urllib3 would read to its end what a busy server sends, however long that takes
                response.close()
            if response is not None and (self.get_retry_after(response) or 0) > LONGEST_WAIT:
                pool: Any = named.get("_pool")
                raise MaxRetryError(pool, url, ResponseError("it asks to wait too long"))
            return super().increment(method, url, response, *more, **named)

        def sleep(self, response: Any = None) -> None:
            asked = self.get_retry_after(response) if response is not None else None
            if stop.wait(asked or backoff(len(self.history))):
                raise StoppedError

    patience = Patience(
        tries - 1, connect=0, other=0, status_forcelist=BUSY, allowed_methods={"GET"}, raise_on_status=False
    )
    session = OneHop()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    for scheme in ("http", "https"):
        session.mount(f"{scheme}://", _Adapter(timeout, pool_maxsize=connections, max_retries=patience))
    return session


class _Adapter(HTTPAdapter):
    """Connections on which the whole head of an answer must arrive in time, not only each of its bytes."""

    def __init__(self, timeout: float, **options: Any):
        class Head(HTTPConnection):
            def getresponse(self) -> Any:
                late, connected = Event(), self.sock

                def give_up() -> None:
                    late.set()
                    if connected is not None:
                        with suppress(OSError):
                            connected.shutdown(socket.SHUT_RDWR)

                timer = Timer(timeout + RATE_WINDOW, give_up)
                timer.daemon = True
                timer.start()
                try:
                    response = super().getresponse()
                finally:
                    timer.cancel()
                if late.is_set():
                    # what had come by then was taken for a whole head
                    response.close()
                    raise TimeoutError
                return response

        class Plain(HTTPConnectionPool):
            ConnectionCls = Head

        class Secure(HTTPSConnectionPool):
            ConnectionCls = type("Secure", (Head, HTTPSConnection), {})

        self._pools = {"http": Plain, "https": Secure}
        super().__init__(**options)

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        """Make connections by the classes above."""
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, *arguments: Any, **named: Any) -> Any:
        """Make connections to a proxy by the classes above."""
        manager = super().proxy_manager_for(*arguments, **named)
        manager.pool_classes_by_scheme = self._pools
        return manager


def asked_to_wait(response: Response) -> float:
    """Return how many seconds a busy server asks to wait, 0 where it does not say."""
    retries = response.raw.retries
    return (retries.get_retry_after(response.raw) or 0.0) if retries is not None else 0.0
