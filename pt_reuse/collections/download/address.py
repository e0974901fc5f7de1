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
    """Cut up a URL with the code that will connect, so that no other server is meant by it.

    Args:
        url: the URL.
        base: what it may be relative to.

    Raises:
        AddressError: no URL of http or https, or one with a user name or password in it.
    """
    from requests import Request, RequestException
    from urllib3.exceptions import HTTPError
    from urllib3.util import parse_url

    problem = "the address cannot be used: it is no valid URL"
    try:
        url = urljoin(base, url) if base else url
        given = parse_url(url)
        sent = Request("GET", url).prepare().url or "" if given.scheme in _PORTS and given.auth is None else ""
        parts = parse_url(sent)
    except (RequestException, HTTPError, ValueError):
        pass  # raised below, so that it carries nothing of their texts, which hold the URL
    else:
        if given.auth is not None:
            problem = (
                "the address has a user name or password in it. Leave them out: they are taken from the environment "
                "or a netrc file"
            )
        elif given.scheme not in _PORTS:
            problem = "the address is not one of http or https"
        elif parts.scheme in _PORTS and parts.auth is None and parts.host:
            return Address(sent, Origin(parts.scheme, parts.host.lower(), parts.port or _PORTS[parts.scheme]))
    raise AddressError(problem)
