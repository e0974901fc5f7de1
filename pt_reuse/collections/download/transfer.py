"""Transfer: files over HTTP, with redirects, credentials, tries and resumption under rules of our own."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from pt_reuse.collections.download.address import Address, AddressError, Origin, parse_address
from pt_reuse.collections.download.credentials import Login, LoginError, find_login, how_to_log_in
from pt_reuse.collections.download.partial import Partial, content_length, content_range
from pt_reuse.collections.download.run_check import DamagedError

if TYPE_CHECKING:
    from requests import PreparedRequest, Response, Session

#: bytes of the largest file that is downloaded
MOST_BYTES = 2 * 10**9
#: seconds before the second try; doubled before each further one
BACKOFF = 1.0
#: seconds that a server may ask to wait
LONGEST_WAIT = 60.0
MOST_REDIRECTS = 5
_BLOCK = 1 << 14
_REDIRECTS = (301, 302, 303, 307, 308)


class TransferError(Exception):
    """A file that did not arrive; the message is for a person, and no try more would help."""


class _TryAgainError(TransferError):
    def __init__(self, reason: str, wait: float = 0.0):
        super().__init__(reason)
        self.wait = wait


class StoppedError(Exception):
    """The transfer was told to stop."""


class Transfer:
    """Downloads of one call: what is known of the servers, and a way to stop them all.

    Args:
        timeout: seconds without a byte after which a connection is given up.
        tries: how often a file is asked for.
        connections: how many at a time.
    """

    def __init__(self, *, timeout: float, tries: int, connections: int):
        self.stop = Event()
        self.connections = connections
        self._timeout, self._tries = timeout, tries
        self._session = _session(connections)
        self._open: set[Response] = set()
        self._reached: set[Origin] = set()
        self._dead: dict[Origin, str] = {}
        self._accepted: dict[Origin, Login] = {}
        self._refused: set[Origin] = set()
        self._sent: list[Login] = []
        self._lock, self._login_lock = Lock(), Lock()

    def fetch(self, url: str, part: Partial, whole: Callable[[Path], str]) -> str:
        """Download one file and return what `whole` says of it; a file it finds damaged is asked for again.

        Raises:
            TransferError: the file did not arrive.
            StoppedError: :meth:`close` was called.
        """
        address, tried = self._address(url), 0
        while True:
            tried += 1
            try:
                if not part.complete():
                    self._try(address, part)
                return whole(part.path)
            except DamagedError as error:
                part.discard()
                reason, wait = str(error), 0.0
            except _TryAgainError as error:
                reason, wait = str(error), error.wait
            if wait > LONGEST_WAIT:
                raise TransferError(f"{reason} and asks to wait {wait:,.0f} seconds. Try again later.")
            if tried >= self._tries:
                reason = f"{reason} (tried {tried} {'time' if tried == 1 else 'times'})."
                if address.origin not in self._reached:
                    self._dead[address.origin] = reason
                kept = " What arrived is kept: the next call goes on from there." if part.validator() else ""
                raise TransferError(reason + kept)
            self.stop.wait(max(wait, min(BACKOFF * 2 ** (tried - 1), LONGEST_WAIT)))

    def raise_if_stopped(self) -> None:
        """Raise StoppedError when :meth:`close` was called."""
        if self.stop.is_set():
            raise StoppedError

    def hide(self, text: str) -> str:
        """Return a text without any credentials that were sent to a server."""
        for login in list(self._sent):
            text = login.hide(text)
        return text

    def close(self) -> None:
        """Stop what is under way, at once where the libraries can."""
        self.stop.set()
        with self._lock:
            still_open = list(self._open)
        for response in still_open:
            with suppress(AttributeError, OSError, ValueError, RuntimeError):
                response.raw.shutdown()  # wakes a thread that waits for bytes; urllib3 has it since 2.3
        self._session.close()

    def _try(self, address: Address, part: Partial) -> None:
        offset, validator = part.size(), part.validator()
        headers = {"Accept-Encoding": "identity"}  # a .gz file should be stored as it is
        if offset and validator:
            headers |= {"Range": f"bytes={offset}-", "If-Range": validator}
        with closing(self._follow(address, headers)) as response:
            with self._lock:
                self._open.add(response)
            try:
                self._take(response, address, part, "Range" in headers)
            finally:
                with self._lock:
                    self._open.discard(response)

    def _take(self, response: Response, address: Address, part: Partial, resumed: bool) -> None:
        status = response.status_code
        if status == 416 and resumed:
            if content_range(response.headers)[1] == part.size():
                return  # there is no more of it
            part.discard()
            raise _TryAgainError("the server has no more of the file, yet it is not whole")
        if status == 206 and resumed:
            if not part.continued_by(response.headers):
                part.discard()
                raise _TryAgainError("the server sent another part of the file than was asked for")
        elif status == 200:
            part.start(response.headers)
        else:
            raise _bad_status(response, address)
        if max(content_length(response.headers) or 0, part.length or 0) > MOST_BYTES:
            part.discard()
            raise TransferError(f"the file is larger than {MOST_BYTES:,} bytes; no run is that long.")
        self._store(response, part)
        size = part.size()
        if part.length is not None and size != part.length:
            if size > part.length:
                part.discard()
            raise _TryAgainError(f"the connection ended after {size:,} of {part.length:,} bytes")

    def _store(self, response: Response, part: Partial) -> None:
        blocks = response.raw.stream(_BLOCK, decode_content=False)
        size, lost = part.size(), ""
        with part.path.open("ab") as file:
            while True:
                try:
                    block = next(blocks, b"")
                except _connection_errors() as error:
                    lost, block = self._loss(error), b""
                self.raise_if_stopped()
                if not block:
                    break
                size += len(block)
                if size > MOST_BYTES:
                    break
                file.write(block)
        if size > MOST_BYTES:
            part.discard()
            raise TransferError(f"the file is larger than {MOST_BYTES:,} bytes; no run is that long.")
        if lost:
            of = f" of {part.length:,}" if part.length is not None else ""
            raise _TryAgainError(f"{lost} after {size:,}{of} bytes")

    def _address(self, url: str, before: str = "", base: str = "") -> Address:
        try:
            return parse_address(url, base)
        except AddressError as error:
            raise TransferError(f"{before}{error}.") from None

    def _follow(self, address: Address, headers: Mapping[str, str]) -> Response:
        first = address
        for _ in range(MOST_REDIRECTS + 1):
            response = self._ask(address, headers)
            target = response.headers.get("Location")
            if response.status_code not in _REDIRECTS or target is None:
                return response
            response.close()
            following = self._address(target, f"{first.shown()} redirects to another address, but ", address.url)
            if (address.origin.scheme, following.origin.scheme) == ("https", "http"):
                raise TransferError(f"{first.shown()} redirects from https to http, which is not followed.")
            address = following
        raise TransferError(f"{first.shown()} redirects more than {MOST_REDIRECTS} times.")

    def _ask(self, address: Address, headers: Mapping[str, str]) -> Response:
        # credentials are sent to a server only once it has asked for them
        host, login = address.origin.host, self._accepted.get(address.origin)
        response = self._get(address, headers, login)
        if response.status_code == 401 and login is None:
            response.close()
            if "basic" not in response.headers.get("WWW-Authenticate", "basic").lower():
                raise TransferError(f"{host} asks for a login of a kind that is not supported (not basic).")
            login, response = self._log_in(address, headers)
        if response.status_code == 401:
            response.close()
            raise self._refusal(address.origin)
        if response.status_code == 403:
            response.close()
            sent = "although a user name and password were sent" if login else "and may want a user name and password"
            raise TransferError(f"{host} refuses {address.shown()} (403), {sent}. {how_to_log_in(address.origin)}")
        return response

    def _log_in(self, address: Address, headers: Mapping[str, str]) -> tuple[Login, Response]:
        origin = address.origin
        with self._login_lock:  # one thread tries them, so that wrong ones are sent once
            login = self._accepted.get(origin)
            if login is None:
                if origin in self._refused:
                    raise self._refusal(origin)
                login = self._find_login(origin)
                response = self._get(address, headers, login)
                if response.status_code == 401:
                    self._refused.add(origin)
                else:
                    self._accepted[origin] = login
                return login, response
        return login, self._get(address, headers, login)

    def _find_login(self, origin: Origin) -> Login:
        asks = f"{origin.host} asks for a user name and password"
        try:
            login = find_login(origin)
        except LoginError as error:
            raise TransferError(f"{asks}, but {error}") from None
        if login is None:
            raise TransferError(f"{asks}. {how_to_log_in(origin)}")
        self._sent.append(login)
        return login

    def _refusal(self, origin: Origin) -> TransferError:
        return TransferError(
            f"{origin.host} refused the user name and password that were sent. Are they right? {how_to_log_in(origin)}"
        )

    def _get(self, address: Address, headers: Mapping[str, str], login: Login | None) -> Response:
        self.raise_if_stopped()
        if address.origin in self._dead:
            raise TransferError(self._dead[address.origin])

        def authorize(request: PreparedRequest) -> PreparedRequest:
            # given always, for without it requests looks into a netrc file by rules of its own
            if login:
                request.headers["Authorization"] = login.header()
            return request

        failure: TransferError
        try:
            response = self._session.request(
                "GET", address.url, headers=headers, auth=authorize, stream=True, allow_redirects=False,
                timeout=(self._timeout, self._timeout),
            )  # fmt: skip
        except _connection_errors() as error:
            failure = self._no_answer(address, error)
        else:
            self._reached.add(address.origin)
            if self.stop.is_set():
                response.close()
                raise StoppedError
            return response
        # raised here, so that it carries nothing of the library's own error
        raise failure

    def _no_answer(self, address: Address, error: Exception) -> TransferError:
        from requests import exceptions
        from urllib3.exceptions import NewConnectionError

        host, kinds = address.origin.host, _kinds(error)

        def has(kind: type) -> bool:
            return any(issubclass(found, kind) for found in kinds)

        if has(ssl.SSLCertVerificationError):
            return self._give_up(address.origin, f"the certificate of {host} could not be verified.")
        if isinstance(error, exceptions.ConnectTimeout):
            why = f"it did not answer within {self._timeout:g} seconds"
        elif has(socket.gaierror):
            why = "its name is not known here"
        elif isinstance(error, exceptions.ProxyError):
            why = "the proxy that the environment names cannot be reached or refuses"
        elif has(ConnectionRefusedError):
            why = "it refuses connections"
        elif has(NewConnectionError):
            why = "it cannot be reached"
        elif isinstance(error, ValueError):
            return TransferError(f"{address.shown()}, or the proxy's address in the environment, cannot be used.")
        else:
            return _TryAgainError(f"{host}: {self._loss(error)}")
        reason = f"no connection to {host}: {why}"
        if address.origin in self._reached:
            return _TryAgainError(reason)
        return self._give_up(address.origin, f"{reason}. Is there a network?")

    def _give_up(self, origin: Origin, reason: str) -> TransferError:
        self._dead[origin] = reason
        return TransferError(reason)

    def _loss(self, error: Exception) -> str:
        silent = any(issubclass(kind, TimeoutError) or "Timeout" in kind.__name__ for kind in _kinds(error))
        return f"nothing came for {self._timeout:g} seconds" if silent else "the connection broke"


def _bad_status(response: Response, address: Address) -> TransferError:
    status, what = response.status_code, f"{address.shown()}: the server answered {response.status_code}"
    if status in (404, 410):
        return TransferError(f"{address.shown()}: there is no such file ({status}).")
    if status == 407:
        return TransferError("the proxy asks for a user name and password (407).")
    if status in (408, 425, 429) or (status >= 500 and status != 501):
        return _TryAgainError(what, _asked_to_wait(response.headers.get("Retry-After", "")))
    return TransferError(f"{what}, not with a file.")


def _asked_to_wait(text: str) -> float:
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _kinds(error: BaseException) -> set[type]:
    # the classes of an error and of all that it wraps; the texts of those are not for the user
    found: dict[int, type] = {}
    waiting: list[Any] = [error]
    while waiting:
        item = waiting.pop()
        if isinstance(item, BaseException) and id(item) not in found:
            found[id(item)] = type(item)
            waiting += [item.__cause__, item.__context__, getattr(item, "reason", None), *item.args]
    return set(found.values())


def _connection_errors() -> tuple[type[Exception], ...]:
    # those of requests are OSErrors; a ValueError is an address or a header that cannot be sent, or a closed answer
    from urllib3.exceptions import HTTPError

    return HTTPError, HTTPException, OSError, ValueError


def _session(connections: int) -> Session:
    import requests
    from requests.adapters import HTTPAdapter

    class OneHop(requests.Session):
        def get_redirect_target(self, resp: Response) -> str | None:
            # asked even if redirects are not followed, and then reads the whole answer
            return None

    session = OneHop()
    session.cookies.set_policy(_no_cookies())
    for scheme in ("http", "https"):
        session.mount(f"{scheme}://", HTTPAdapter(pool_maxsize=connections))
    return session


def _no_cookies() -> Any:
    from http.cookiejar import DefaultCookiePolicy

    return DefaultCookiePolicy(allowed_domains=[])
