"""Servers: what a URL means, where the user name and password for a server come from, and who may be given them."""

from __future__ import annotations

import base64
import netrc
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from requests import Request, RequestException
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

USERNAME, PASSWORD = "PT_REUSE_TREC_USERNAME", "PT_REUSE_TREC_PASSWORD"
#: the variables of a user name and password, those of ir_datasets' trec-browser-provider after our own
VARIABLES = ((USERNAME, PASSWORD), ("IRDS_TREC_BROWSER_USERNAME", "IRDS_TREC_BROWSER_PASSWORD"))
AGREEMENT = "https://trec.nist.gov/results.html"
_PORTS = {"http": 80, "https": 443}


class TransferError(Exception):
    """A file that did not arrive; the message is for a person, holds no credentials, and no try more would help."""


class Origin(NamedTuple):
    """A server: what must be the same for credentials to be sent again."""

    scheme: str
    host: str
    port: int

    def shown(self) -> str:
        """Return the server as the beginning of a URL, with its port where that is not the usual one."""
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


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
    """Cut up a URL, relative to another, with the code that will connect: no other server is meant by it.

    Raises:
        TransferError: no URL of http or https, or one with a user name or password in it; it does not hold the URL.
    """
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
    """Return what may be sent to a server: from the environment, else from a netrc file; None where there is none.

    A netrc file names no ports. So its entry is for the very server that the user's address names, and it is for the
    caller not to ask for one that a server chose.

    Raises:
        TransferError: only one of two variables is set, or a netrc file that cannot be used.
    """
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
    problem, found = "", None
    try:
        # the entry 'default' would give a password to whoever asks
        found = netrc.netrc(str(path)).hosts.get(host)
    except (netrc.NetrcParseError, OSError, ValueError, AssertionError) as error:
        line = getattr(error, "lineno", None)
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
