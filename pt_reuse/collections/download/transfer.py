"""Transfer: files over HTTP, with redirects, credentials and resumption under rules of our own."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from http.client import HTTPException
from pathlib import Path
from threading import Event, Lock
from typing import Any

from requests import PreparedRequest, Response, exceptions
from urllib3.exceptions import HTTPError, NewConnectionError

from pt_reuse._check import count
from pt_reuse.collections.download.partial import Partial, content_length, content_range
from pt_reuse.collections.download.patience import (
    BUSY,
    LEAST_RATE,
    LONGEST_WAIT,
    Pace,
    StoppedError,
    asked_to_wait,
    backoff,
    patient_session,
)
from pt_reuse.collections.download.run_check import DamagedError
from pt_reuse.collections.download.servers import (
    Address,
    Login,
    Origin,
    TransferError,
    find_login,
    how_to_log_in,
    parse_address,
)

#: bytes of the largest file that is downloaded
MOST_BYTES = 2 * 10**9
MOST_REDIRECTS = 5
_BLOCK = 1 << 14
_REDIRECTS = (301, 302, 303, 307, 308)
#: those of requests are OSErrors; a ValueError is an address or a header that cannot be sent, or a closed answer
_CONNECTION_ERRORS = (HTTPError, HTTPException, OSError, ValueError)


class _BrokenOffError(Exception):
    """A file of which only a part arrived; the message is a clause."""


class Transfer:
    """Downloads of one call: what is known of the servers, and a way to stop them all."""

    def __init__(self, *, timeout: float, tries: int, connections: int):
        self.stop = Event()
        self.connections = connections
        self._timeout, self._tries = timeout, tries
        self._session = patient_session(tries, connections, self.stop, timeout)
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
        address, reason = parse_address(url), ""
        for tried in range(self._tries):
            if tried:
                self.stop.wait(backoff(tried))
            try:
                if not part.complete():
                    self._try(address, part)
                return whole(part.path)
            except DamagedError as error:
                part.discard()
                reason = str(error)
            except _BrokenOffError as error:
                reason = str(error)
        kept = " What arrived is kept: the next call goes on from there." if part.validator() else ""
        raise TransferError(f"{reason} (tried {count(self._tries, 'time')}).{kept}")

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
                if self._is_file(response, address, part, "Range" in headers):
                    self._store(response, part)
            finally:
                with self._lock:
                    self._open.discard(response)

    def _is_file(self, response: Response, address: Address, part: Partial, resumed: bool) -> bool:
        """Return whether an answer brings bytes of the file; False where there are no more of it."""
        status, shown = response.status_code, address.shown()
        if status == 416 and resumed and content_range(response.headers)[1] == part.size():
            return False
        if (status == 416 and resumed) or (status == 206 and resumed and not part.continued_by(response.headers)):
            part.discard()
            raise _BrokenOffError("the server sent another part of the file than was asked for")
        if status in (404, 410):
            raise TransferError(f"{shown}: there is no such file ({status}).")
        if status == 407:
            raise TransferError("the proxy asks for a user name and password (407).")
        if status in BUSY:
            wait = asked_to_wait(response)
            if wait > LONGEST_WAIT:
                raise TransferError(
                    f"{shown}: the server answered {status} and asks to wait {wait:,.0f} seconds. Try again later."
                )
            raise TransferError(f"{shown}: the server answered {status} (tried {count(self._tries, 'time')}).")
        if status != 200 and not (status == 206 and resumed):
            raise TransferError(f"{shown}: the server answered {status}, not with a file.")
        if status == 200:
            part.start(response.headers)
        return True

    def _store(self, response: Response, part: Partial) -> None:
        # what there is of a block at once; before its version 2.1 urllib3 waits for all of one, so these are short
        read, length = response.raw.read, LEAST_RATE
        if hasattr(response.raw, "read1"):
            read, length = response.raw.read1, _BLOCK
        said = max(content_length(response.headers) or 0, part.length or 0)
        size, lost = part.size(), ""
        pace = Pace(size)
        with part.path.open("ab") as file:
            while max(size, said) <= MOST_BYTES and not lost:
                try:
                    block = read(length, decode_content=False)
                except _CONNECTION_ERRORS as error:
                    lost, block = self._loss(error), b""
                self.raise_if_stopped()
                if not block:
                    break
                size += file.write(block)
                if pace.is_too_slow(size):
                    lost = f"fewer than {LEAST_RATE:,} bytes a second came"
        if max(size, said) > MOST_BYTES:
            part.discard()
            raise TransferError(f"the file is larger than {MOST_BYTES:,} bytes; no run is that long.")
        if lost or (part.length is not None and size != part.length):
            of = f" of {part.length:,}" if part.length is not None else ""
            if size > (part.length or size):
                part.discard()
            raise _BrokenOffError(f"{lost or 'the connection ended'} after {size:,}{of} bytes")

    def _follow(self, address: Address, headers: Mapping[str, str]) -> Response:
        first = address
        for _ in range(MOST_REDIRECTS + 1):
            response = self._ask(address, headers, first)
            target = response.headers.get("Location")
            if response.status_code not in _REDIRECTS or target is None:
                return response
            response.close()
            try:
                following = parse_address(target, address.url)
            except TransferError as error:
                raise TransferError(f"{first.shown()} redirects to another address, but {error}") from None
            if (address.origin.scheme, following.origin.scheme) == ("https", "http"):
                raise TransferError(f"{first.shown()} redirects from https to http, which is not followed.")
            address = following
        raise TransferError(f"{first.shown()} redirects more than {MOST_REDIRECTS} times.")

    def _ask(self, address: Address, headers: Mapping[str, str], first: Address) -> Response:
        # credentials are sent to a server only once it has asked for them, and never to one that a redirect chose
        origin = address.origin
        login = self._accepted.get(origin) if origin == first.origin else None
        response = self._get(address, headers, login)
        if response.status_code in (401, 403) and origin != first.origin:
            response.close()
            asks = "asks for a user name and password" if response.status_code == 401 else "refuses the file"
            raise TransferError(
                f"{first.shown()} redirects to {origin.shown()}. There, {origin.host} {asks} ({response.status_code}). "
                f"A user name and password are sent only to the server of an address itself, never to one that a "
                f"redirect chose."
            )
        if response.status_code == 401 and login is None:
            response.close()
            if "basic" not in response.headers.get("WWW-Authenticate", "basic").lower():
                raise TransferError(f"{origin.host} asks for a login of a kind that is not supported (not basic).")
            with self._login_lock:  # one thread tries them, so that wrong ones are sent once
                if origin in self._refused:
                    raise self._refusal(origin)
                login = self._accepted.get(origin) or self._find_login(origin)
                response = self._get(address, headers, login)
                if response.status_code == 401:
                    self._refused.add(origin)
                else:
                    self._accepted[origin] = login
        if response.status_code in (401, 403):
            response.close()
        if response.status_code == 401:
            raise self._refusal(origin)
        if response.status_code == 403:
            sent = "although a user name and password were sent" if login else "and may want a user name and password"
            raise TransferError(f"{origin.host} refuses {address.shown()} (403), {sent}. {how_to_log_in(origin)}")
        return response

    def _find_login(self, origin: Origin) -> Login:
        asks = f"{origin.host} asks for a user name and password"
        try:
            login = find_login(origin)
        except TransferError as error:
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

        reason = ""
        try:
            response = self._session.request(
                "GET",
                address.url,
                headers=headers,
                auth=authorize,
                stream=True,
                allow_redirects=False,
                timeout=self._timeout,
            )
        except _CONNECTION_ERRORS as error:
            reason = self._no_answer(address, error)
        if reason:
            # raised here, so that it carries nothing of the library's own error
            self.raise_if_stopped()
            if address.origin not in self._reached:
                self._dead[address.origin] = reason
            raise TransferError(reason)
        self._reached.add(address.origin)
        if self.stop.is_set():
            response.close()
            raise StoppedError
        return response

    def _no_answer(self, address: Address, error: Exception) -> str:
        kinds = _kinds(error)
        if ssl.SSLCertVerificationError in kinds:
            return f"the certificate of {address.origin.host} could not be verified."
        known = {
            exceptions.ConnectTimeout: f"it did not answer within {self._timeout:g} seconds",
            socket.gaierror: "its name is not known here",
            exceptions.ProxyError: "the proxy that the environment names cannot be reached or refuses",
            ConnectionRefusedError: "it refuses connections",
            NewConnectionError: "it cannot be reached",
        }
        why = next((why for kind, why in known.items() if any(issubclass(found, kind) for found in kinds)), None)
        if why is not None:
            return f"no connection to {address.origin.host}: {why}. Is there a network?"
        if isinstance(error, ValueError):
            return f"{address.shown()}, or the proxy's address in the environment, cannot be used."
        return f"{address.origin.host}: {self._loss(error)} (tried {count(self._tries, 'time')})."

    def _loss(self, error: Exception) -> str:
        silent = any(issubclass(kind, TimeoutError) or "Timeout" in kind.__name__ for kind in _kinds(error))
        return f"nothing came for {self._timeout:g} seconds" if silent else "the connection broke"


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
