"""A web server on this machine for the tests of downloads: each path has a plan of how to answer."""

from __future__ import annotations

import base64
import socket
import threading
from collections import defaultdict
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def named(headers):
    """Return headers by the names they are sent with, those without a value left out."""
    return {name.replace("_", "-"): value for name, value in headers.items() if value is not None}


@dataclass
class Asked:
    """A request as it came in."""

    path: str
    headers: dict[str, str]


class RunServer:
    """Serves what `plans` says: path -> one plan, or a list of plans of which the last one repeats.

    A plan is a function of the handler; those of this file are made by `whole`, `cut`, `status` and others.
    """

    def __init__(self):
        self.plans = {}
        self.asked = []
        self._lock = threading.Lock()
        self._times = defaultdict(int)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                path = self.path.split("?")[0]
                with outer._lock:
                    outer.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}))
                    plan = outer.plans.get(path, status(404))
                    if isinstance(plan, list):
                        plan = plan[min(outer._times[path], len(plan) - 1)]
                    outer._times[path] += 1
                try:
                    plan(self)
                except (ConnectionError, TimeoutError):
                    self.close_connection = True

            def log_message(self, *args):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request, client_address):
                pass  # a client that goes away is part of the tests

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *args):
        self._server.shutdown()
        self._server.server_close()

    def headers(self, path):
        """Return the headers of each request for a path, in order."""
        return [asked.headers for asked in self.asked if asked.path.split("?")[0] == path]


def answer(handler, code, body=b"", headers=None, length=None):
    """Send an answer; `length` is what it says of itself, -1 for nothing."""
    handler.send_response(code)
    length = len(body) if length is None else length
    for name, value in {**({"Content-Length": str(length)} if length >= 0 else {}), **(headers or {})}.items():
        handler.send_header(name, value)
    if length != len(body):
        handler.send_header("Connection", "close")
        handler.close_connection = True
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()


def whole(body, **more):
    """Answer with a file."""
    return lambda handler: answer(handler, 200, body, named(more))


def cut(body, after, *, length=True):
    """Answer with the first bytes of a file and drop the connection."""

    def plan(handler):
        answer(handler, 200, body[:after], length=len(body) if length else -1)

    return plan


def reset(body, after):
    """Answer with the first bytes of a file and reset the connection."""

    def plan(handler):
        cut(body, after)(handler)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        handler.connection.close()

    return plan


def chunked(body, blocks):
    """Answer in chunks, without a length."""

    def plan(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        size = -(-len(body) // blocks)
        for at in range(0, len(body), size):
            block = body[at : at + size]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
        handler.wfile.write(b"0\r\n\r\n")

    return plan


def paused(body, gate, after):
    """Answer with the first bytes, and with the rest only when the gate opens."""

    def plan(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[:after])
        handler.wfile.flush()
        gate.wait(300)
        handler.wfile.write(body[after:])

    return plan


def status(code, body=b"", **headers):
    """Answer with a status and headers."""
    return lambda handler: answer(handler, code, body, named(headers))


def locked(plan, username, password):
    """Answer only who sends this user name and password."""
    right = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()

    def locked_plan(handler):
        if handler.headers.get("Authorization") == right:
            return plan(handler)
        return answer(handler, 401, b"<html>log in</html>", {"WWW-Authenticate": 'Basic realm="results"'})

    return locked_plan
