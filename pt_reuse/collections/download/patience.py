"""Patience: how often and after how long a server is asked again, by urllib3's rules with two limits of ours."""

from __future__ import annotations

from http.cookiejar import DefaultCookiePolicy
from threading import Event
from typing import Any

from requests import Response, Session
from requests.adapters import HTTPAdapter
from urllib3.exceptions import InvalidHeader, MaxRetryError, ResponseError
from urllib3.util import Retry

#: seconds before the second try; doubled before each further one
BACKOFF = 1.0
#: seconds that a server may ask to wait
LONGEST_WAIT = 60.0
#: answers after which the same is asked for again
BUSY = frozenset({408, 425, 429, *range(500, 600)} - {501})


class StoppedError(Exception):
    """The transfer was told to stop."""


def backoff(tried: int) -> float:
    """Return the seconds to wait before the next try."""
    return float(min(BACKOFF * 2 ** (tried - 1), LONGEST_WAIT))


class OneHop(Session):
    """A session that follows no redirect by itself."""

    def get_redirect_target(self, resp: Response) -> str | None:
        """Return None: asked even if redirects are not followed, it would read the whole answer."""
        return None


def patient_session(tries: int, connections: int, stop: Event) -> Session:
    """Return a session that asks again where the connection breaks before an answer or the server is busy.

    It follows no redirect, keeps no cookies, and hands over the last answer of a server that stays busy. A server that
    cannot be reached is not asked again.
    """

    class Patience(Retry):
        def parse_retry_after(self, retry_after: str) -> float:
            try:
                return super().parse_retry_after(retry_after)
            except (InvalidHeader, ValueError, OverflowError):
                return 0.0

        def increment(self, method: Any = None, url: Any = None, response: Any = None, *more: Any, **named: Any) -> Any:
            if response is not None and (self.get_retry_after(response) or 0) > LONGEST_WAIT:
                raise MaxRetryError(named["_pool"], url, ResponseError("it asks to wait too long"))
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
        session.mount(f"{scheme}://", HTTPAdapter(pool_maxsize=connections, max_retries=patience))
    return session


def asked_to_wait(response: Response) -> float:
    """Return how many seconds a busy server asks to wait, 0 where it does not say."""
    retries = response.raw.retries
    return (retries.get_retry_after(response.raw) or 0.0) if retries is not None else 0.0
