"""Downloads: servers, credentials, transfers that are tried again."""

from __future__ import annotations

import base64
import netrc
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPException
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple
from urllib.parse import urljoin

from requests import PreparedRequest, Request, RequestException, Response, Session, exceptions
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, InvalidHeader, NewConnectionError
from urllib3.util import Retry, parse_url

from pt_reuse._check import count

USERNAME, PASSWORD = "PT_REUSE_TREC_USERNAME", "PT_REUSE_TREC_PASSWORD"
#: the variables of a user name and password, those of ir_datasets' trec-browser-provider after our own
VARIABLES = ((USERNAME, PASSWORD), ("IRDS_TREC_BROWSER_USERNAME", "IRDS_TREC_BROWSER_PASSWORD"))
AGREEMENT = "https://trec.nist.gov/results.html"
_PORTS = {"http": 80, "https": 443}
#: bytes of the largest file that is downloaded
MOST_BYTES = 2 * 10**9
MOST_REDIRECTS = 5
#: seconds before the second try, doubled before each further one; and those that a server may ask to wait
BACKOFF, LONGEST_WAIT = 1.0, 60.0
_BLOCK = 1 << 14
_REDIRECTS = (301, 302, 303, 307, 308)
#: answers after which the same is asked for again
_BUSY = frozenset({408, 425, 429, *range(500, 600)} - {501})
#: those of requests are OSErrors; a ValueError is an address or a header that cannot be sent, or a closed answer
_CONNECTION_ERRORS = (HTTPError, HTTPException, OSError, ValueError)


class TransferError(Exception):
    """A file that did not arrive; the message is for a person, holds no credentials, and no try more would help."""


class StoppedError(Exception):
    """The transfer was told to stop."""


class BrokenOffError(Exception):
    """A try after which another may help: the message is a clause, `wait` the seconds that the server asks for."""

    def __init__(self, message: str, wait: float = 0.0):
        super().__init__(message)
        self.wait = wait


class Origin(NamedTuple):
    """A server: what must be the same for credentials to be sent again."""

    scheme: str
    host: str
    port: int


#: the only servers that are given the credentials of the environment
ENVIRONMENT_ORIGINS = {Origin("https", "trec.nist.gov", 443)}
#: the only schemes over which credentials of a netrc file are sent
NETRC_SCHEMES = {"https"}


class Address(NamedTuple):
    """A URL of http or https without credentials, and its server."""

    url: str
    origin: Origin

    def shown(self) -> str:
        """Return the URL without its query, which may hold what is not for everybody."""
        return self.url.split("?")[0].split("#")[0]


def parse_address(url: str, base: str = "") -> Address:
    """Cut up a URL, relative to another, with the code that will connect: no other server is meant by it."""
    problem = "it is no valid URL"
    try:
        whole = urljoin(base, url) if base else url
        given = parse_url(whole)
        if given.auth is not None:
            problem = "it has a user name or password in it, which are taken from the environment or a netrc file"
        elif given.scheme not in _PORTS:
            problem = "it is not one of http or https"
        else:
            sent = Request("GET", whole).prepare().url or ""
            parts = parse_url(sent)
            if parts.scheme in _PORTS and parts.auth is None and parts.host:
                return Address(sent, Origin(parts.scheme, parts.host.lower(), parts.port or _PORTS[parts.scheme]))
    except (RequestException, HTTPError, ValueError):
        pass  # raised below, so that it carries nothing of their texts, which hold the URL
    raise TransferError(f"the address cannot be used: {problem}.")


@dataclass(frozen=True, repr=False)
class Login:
    """A user name and password; they show in no repr."""

    username: str
    password: str

    def header(self) -> str:
        """Return the value of an Authorization header (basic)."""
        return f"Basic {self._token()}"

    def hide(self, text: str) -> str:
        """Return a text without what must not be shown, should a server have sent it back."""
        for secret in sorted((self._token(), self.password, self.username), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def _token(self) -> str:
        return base64.b64encode(f"{self.username}:{self.password}".encode("utf-8", "surrogateescape")).decode("ascii")


def find_login(origin: Origin) -> Login | None:
    """Return what may be sent to a server: from the environment, else from a netrc file; None where there is none."""
    for pair in VARIABLES if origin in ENVIRONMENT_ORIGINS else ():
        username, password = (os.environ.get(variable) for variable in pair)
        if username and password:
            return _login(username, password, pair[0])
        if username or password:
            there, missing = pair if username else reversed(pair)
            raise TransferError(f"{there} is set but {missing} is not. Set both, or neither and use a netrc file.")
    return _from_netrc(origin.host) if origin.scheme in NETRC_SCHEMES else None


def how_to_log_in(origin: Origin) -> str:
    """Say what to do so that credentials are sent to a server."""
    if origin.scheme not in NETRC_SCHEMES:
        return "Credentials are only sent over https: use an https address."
    entry = f"a line 'machine {origin.host} login ... password ...' in ~/.netrc"
    if origin not in ENVIRONMENT_ORIGINS:
        return f"Put {entry}."
    return (
        f"Set {USERNAME} and {PASSWORD}, or put {entry}. NIST gives both to those who sign its agreement: {AGREEMENT}."
    )


def _from_netrc(host: str) -> Login | None:
    named = os.environ.get("NETRC")
    paths = [Path(os.path.expanduser(path)) for path in ([named] if named else ["~/.netrc", "~/_netrc"])]
    path = next((path for path in paths if path.is_file()), None)
    if path is None and named:
        raise TransferError("NETRC names a file that does not exist. Set it to your netrc file, or unset it.")
    if path is None:
        return None
    try:
        # the entry 'default' would give a password to whoever asks
        found, problem = netrc.netrc(str(path)).hosts.get(host), ""
    except (netrc.NetrcParseError, OSError, ValueError, AssertionError) as error:
        found, line = None, getattr(error, "lineno", None)
        problem = f" at line {line}" if line else f" ({type(error).__name__})"
    if problem:
        # raised here, since the library's own error quotes the file
        raise TransferError(
            f"the netrc file {path} cannot be read{problem}. Mend it, or set the environment variables."
        )
    if found is None:
        return None
    entry = f"the entry for machine {host} in the netrc file {path}"
    if not found[0] or not found[2]:
        raise TransferError(f"{entry} lacks its login or password.")
    return _login(found[0], found[2], entry)


def _login(username: str, password: str, where: str) -> Login:
    if ":" in username:
        raise TransferError(f"{where}: a user name with a colon cannot be sent (basic authentication).")
    return Login(username, password)


class _OneHop(Session):
    def get_redirect_target(self, resp: Response) -> str | None:
        # asked even if redirects are not followed, it would read the whole answer
        return None


class Transfer:
    """Downloads of one call: what is known of the servers, and a way to stop them all."""

    def __init__(self, *, timeout: float, tries: int, connections: int):
        self.stop, self.connections = Event(), connections
        self._timeout, self._tries = timeout, tries
        self._session = _OneHop()
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._session.headers["Accept-Encoding"] = "identity"  # a .gz file should be stored as it is
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=connections))
        self._open: set[Response] = set()
        self._reached: set[Origin] = set()
        self._dead: dict[Origin, str] = {}
        self._accepted: dict[Origin, Login] = {}
        self._refused: set[Origin] = set()
        self._sent: list[Login] = []
        self._lock, self._login_lock = Lock(), Lock()

    def fetch(self, url: str, path: Path, whole: Callable[[Path], str]) -> str:
        """Download a file and return what `whole` says of it; what breaks off or is busy is asked for again."""
        address, reason, wait = parse_address(url), "", 0.0
        for tried in range(self._tries):
            if tried:
                self.stop.wait(wait or min(BACKOFF * 2 ** (tried - 1), LONGEST_WAIT))
            try:
                with closing(self._follow(address)) as response:
                    _check_status(response, address)
                    self._store(response, path)
                return whole(path)
            except BrokenOffError as error:
                reason, wait = str(error), error.wait
        reason = f"{reason} (tried {count(self._tries, 'time')})."
        if address.origin not in self._reached:
            self._dead[address.origin] = reason
        raise TransferError(reason)

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

    def _store(self, response: Response, path: Path) -> None:
        length = response.headers.get("Content-Length", "").strip()
        announced = int(length) if length.isascii() and length.isdigit() else None
        with self._lock:
            self._open.add(response)
        try:
            size, lost = self._receive(response, path, announced or 0)
        finally:
            with self._lock:
                self._open.discard(response)
        if max(size, announced or 0) > MOST_BYTES:
            raise TransferError(f"the file is larger than {MOST_BYTES:,} bytes; no run is that long.")
        if lost or announced not in (None, size):
            of = "" if announced is None else f" of {announced:,}"
            raise BrokenOffError(f"{lost or 'the connection ended'} after {size:,}{of} bytes")

    def _receive(self, response: Response, path: Path, announced: int) -> tuple[int, str]:
        """Write what comes to a file; return its size, and why no more came where the connection was lost."""
        # what there is of a block at once; urllib3 has it since 2.1
        read = getattr(response.raw, "read1", response.raw.read)
        size = 0
        with path.open("wb") as file:
            while max(size, announced) <= MOST_BYTES:
                try:
                    block = read(_BLOCK, decode_content=False)
                except _CONNECTION_ERRORS as error:
                    self.raise_if_stopped()
                    return size, self._loss(error)
                self.raise_if_stopped()
                if not block:
                    break
                size += file.write(block)
        return size, ""

    def _follow(self, address: Address) -> Response:
        first = address
        for _ in range(MOST_REDIRECTS + 1):
            response = self._ask(address, first)
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

    def _ask(self, address: Address, first: Address) -> Response:
        # credentials are sent to a server only once it has asked for them, and never to one that a redirect chose
        origin = address.origin
        login = self._accepted.get(origin) if origin == first.origin else None
        response = self._get(address, login)
        if response.status_code in (401, 403) and origin != first.origin:
            response.close()
            asks = "asks for a user name and password" if response.status_code == 401 else "refuses the file"
            raise TransferError(
                f"{first.shown()} redirects to {address.shown()}. There, {origin.host} {asks} "
                f"({response.status_code}). A user name and password are sent only to the server of an address itself, "
                "never to one that a redirect chose."
            )
        if response.status_code == 401 and login is None:
            response.close()
            if "basic" not in response.headers.get("WWW-Authenticate", "basic").lower():
                raise TransferError(f"{origin.host} asks for a login of a kind that is not supported (not basic).")
            login, response = self._logged_in(address)
        if response.status_code in (401, 403):
            response.close()
        if response.status_code == 401:
            raise _refusal(origin)
        if response.status_code == 403:
            sent = "although a user name and password were sent" if login else "and may want a user name and password"
            raise TransferError(f"{origin.host} refuses {address.shown()} (403), {sent}. {how_to_log_in(origin)}")
        return response

    def _logged_in(self, address: Address) -> tuple[Login, Response]:
        """Ask with credentials; one thread tries them, so that wrong ones are sent once."""
        origin = address.origin
        with self._login_lock:
            if origin in self._refused:
                raise _refusal(origin)
            login = self._accepted.get(origin) or self._find_login(origin)
            response = self._get(address, login)
            if response.status_code == 401:
                self._refused.add(origin)
            else:
                self._accepted[origin] = login
        return login, response

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

    def _get(self, address: Address, login: Login | None) -> Response:
        self.raise_if_stopped()
        if address.origin in self._dead:
            raise TransferError(self._dead[address.origin])

        def authorize(request: PreparedRequest) -> PreparedRequest:
            # given always, for without it requests looks into a netrc file by rules of its own
            if login:
                request.headers["Authorization"] = login.header()
            return request

        failure: Exception | None = None
        try:
            response = self._session.get(
                address.url, auth=authorize, stream=True, allow_redirects=False, timeout=self._timeout
            )
        except _CONNECTION_ERRORS as error:
            failure = self._no_answer(address, error)
        if failure is not None:
            # raised here, so that it carries nothing of the library's own error
            self.raise_if_stopped()
            if isinstance(failure, TransferError) and address.origin not in self._reached:
                self._dead[address.origin] = str(failure)
            raise failure
        self._reached.add(address.origin)
        if self.stop.is_set():
            response.close()
            raise StoppedError
        return response

    def _no_answer(self, address: Address, error: Exception) -> TransferError | BrokenOffError:
        kinds = _kinds(error)
        if ssl.SSLCertVerificationError in kinds:
            return TransferError(f"the certificate of {address.origin.host} could not be verified.")
        known = {
            exceptions.ConnectTimeout: f"it did not answer within {self._timeout:g} seconds",
            socket.gaierror: "its name is not known here",
            exceptions.ProxyError: "the proxy that the environment names cannot be reached or refuses",
            ConnectionRefusedError: "it refuses connections",
            NewConnectionError: "it cannot be reached",
        }
        why = next((why for kind, why in known.items() if any(issubclass(found, kind) for found in kinds)), None)
        if why is not None:
            return TransferError(f"no connection to {address.origin.host}: {why}. Is there a network?")
        if isinstance(error, ValueError):
            return TransferError(f"{address.shown()}, or the proxy's address in the environment, cannot be used.")
        return BrokenOffError(f"{address.origin.host}: {self._loss(error)}")

    def _loss(self, error: Exception) -> str:
        silent = any(issubclass(kind, TimeoutError) or "Timeout" in kind.__name__ for kind in _kinds(error))
        return f"nothing came for {self._timeout:g} seconds" if silent else "the connection broke"


def _check_status(response: Response, address: Address) -> None:
    status, shown = response.status_code, address.shown()
    if status == 200:
        return
    wait = 0.0
    with suppress(InvalidHeader, ValueError, OverflowError):
        wait = Retry().get_retry_after(response.raw) or 0.0
    if status in _BUSY and wait <= LONGEST_WAIT:
        raise BrokenOffError(f"{shown}: the server answered {status}", wait)
    if status in _BUSY:
        asks = f" and asks to wait {wait:,.0f} seconds. Try again later"
        raise TransferError(f"{shown}: the server answered {status}{asks}.")
    why = {
        404: "there is no such file",
        410: "there is no such file",
        407: "the proxy asks for a user name and password",
    }
    raise TransferError(f"{shown}: {why.get(status, 'the server sent no file')} ({status}).")


def _refusal(origin: Origin) -> TransferError:
    return TransferError(
        f"{origin.host} refused the user name and password that were sent. Are they right? {how_to_log_in(origin)}"
    )


def _kinds(error: BaseException) -> set[type]:
    """Return the classes of an error and of all that it wraps; the texts of those are not for the user."""
    found: dict[int, type] = {}
    waiting: list[Any] = [error]
    while waiting:
        item = waiting.pop()
        if isinstance(item, BaseException) and id(item) not in found:
            found[id(item)] = type(item)
            waiting += [item.__cause__, item.__context__, getattr(item, "reason", None), *item.args]
    return set(found.values())
