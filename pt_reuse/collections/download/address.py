"""Address: a URL as it is sent, and the server that it means."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urljoin

_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """A server: what must be the same for credentials to be sent again."""

    scheme: str
    host: str
    port: int


class AddressError(Exception):
    """An address that cannot be used; the message is a clause and does not hold the address."""


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
        AddressError: no URL of http or https, or one with a user name or password in it.
    """
    from requests import Request, RequestException
    from urllib3.exceptions import HTTPError
    from urllib3.util import parse_url

    problem = "it is no valid URL"
    try:
        given = parse_url(urljoin(base, url) if base else url)
        if given.auth is not None:
            problem = "it has a user name or password in it, which are taken from the environment or a netrc file"
        elif given.scheme not in _PORTS:
            problem = "it is not one of http or https"
        else:
            sent = Request("GET", urljoin(base, url) if base else url).prepare().url or ""
            parts = parse_url(sent)
            if parts.scheme in _PORTS and parts.auth is None and parts.host:
                return Address(sent, Origin(parts.scheme, parts.host.lower(), parts.port or _PORTS[parts.scheme]))
    except (RequestException, HTTPError, ValueError):
        pass  # raised below, so that it carries nothing of their texts, which hold the URL
    raise AddressError(f"the address cannot be used: {problem}")
