"""Credentials: where the user name and password for a server come from, and which servers may be given them."""

from __future__ import annotations

import base64
import netrc
import os
from dataclasses import dataclass
from pathlib import Path

from pt_reuse.collections.download.address import Origin

USERNAME, PASSWORD = "PT_REUSE_TREC_USERNAME", "PT_REUSE_TREC_PASSWORD"
AGREEMENT = "https://trec.nist.gov/results.html"

#: the only servers that are given the credentials of the environment
ENVIRONMENT_ORIGINS = {Origin("https", "trec.nist.gov", 443)}
#: the only schemes over which credentials of a netrc file are sent
NETRC_SCHEMES = {"https"}


class LoginError(Exception):
    """Credentials that cannot be used; the message names where they are from and never holds them."""


@dataclass(frozen=True, repr=False)
class Login:
    """A user name and password; they show in no repr."""

    username: str
    password: str

    def __repr__(self) -> str:
        return "Login(hidden)"

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

    Raises:
        LoginError: only one of the two variables is set, or a netrc file that cannot be used.
    """
    if origin in ENVIRONMENT_ORIGINS:
        username, password = os.environ.get(USERNAME), os.environ.get(PASSWORD)
        if username and password:
            return _login(username, password, USERNAME)
        if username or password:
            there, missing = (USERNAME, PASSWORD) if username else (PASSWORD, USERNAME)
            raise LoginError(f"{there} is set but {missing} is not. Set both, or neither and use a netrc file.")
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
    if named and not Path(os.path.expanduser(named)).is_file():
        raise LoginError("NETRC names a file that does not exist. Set it to your netrc file, or unset it.")
    paths = [Path(os.path.expanduser(path)) for path in ([named] if named else ["~/.netrc", "~/_netrc"])]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    problem = ""
    try:
        # the entry 'default' would give a password to whoever asks
        found = netrc.netrc(str(path)).hosts.get(host)
    except netrc.NetrcParseError as error:
        problem = f" at line {error.lineno}" if error.lineno else " (it is not as netrc files are)"
    except (OSError, ValueError, AssertionError) as error:
        problem = f" ({type(error).__name__})"
    if problem:
        # raised here, since the library's own error quotes the file
        raise LoginError(f"the netrc file {path} cannot be read{problem}. Mend it, or set the environment variables.")
    if found is None:
        return None
    entry = f"the entry for machine {host} in the netrc file {path}"
    if not found[0] or not found[2]:
        raise LoginError(f"{entry} lacks its login or password.")
    return _login(found[0], found[2], entry)


def _login(username: str, password: str, where: str) -> Login:
    if ":" in username:
        raise LoginError(f"{where}: a user name with a colon cannot be sent (basic authentication).")
    return Login(username, password)
