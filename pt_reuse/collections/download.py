"""Run files from where they are published into a folder: each is checked before it gets its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TypeAlias
from urllib.parse import urlsplit

import pyterrier as pt
import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth
from urllib3.util import Retry

from pt_reuse._files import temporary
from pt_reuse.collections.collection import Collection
from pt_reuse.data.lines import RUN_LINE, RunParts
from pt_reuse.data.packed_files import (
    DamagedFileError,
    UnreadableError,
    chunks_of_lines,
    in_memory,
    packed_with,
    read_beginning,
)
from pt_reuse.errors import InputError, count, examples, located

#: raises where a file is not the run of a name
Check: TypeAlias = Callable[[str, Path], None]
#: the variables of a user name and password, those of ir_datasets' trec-browser-provider after our own
VARIABLES = (
    ("PT_REUSE_TREC_USERNAME", "PT_REUSE_TREC_PASSWORD"),
    ("IRDS_TREC_BROWSER_USERNAME", "IRDS_TREC_BROWSER_PASSWORD"),
)
#: the only server that is given them, or those of a netrc file
PASSWORD_FOR = "https://trec.nist.gov/"
#: bytes of the largest file that is downloaded
MOST_BYTES = 2 * 10**9
#: seconds before the second further try, doubled before each other
BACKOFF = 1.0
#: answers after which the same is asked for again
_BUSY = [408, 425, 429, 500, 502, 503, 504]
_SUFFIX = {None: "", "gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "compress": ".Z"}
#: bytes of a run that are looked at together, what is made of them takes some twenty times as many; and of a line
_PART, _LONGEST_LINE = 1 << 22, 1 << 22
_HEAD = 1 << 14
_BOM = b"\xef\xbb\xbf"
_LONGEST_NAME = 200  # bytes; file systems take 255, and a beginning and an end are added
_PATIENCE = 2.0  # seconds that ctrl-C waits for what is under way to end
_PACKED = (".gz", ".bz2", ".xz", ".lz4", ".zst", ".z")


class TransferError(Exception):
    """A file that did not arrive; the message is for a person, and holds no credentials."""


class BrokenOffError(Exception):
    """A file that arrived in part or damaged, so that another try may help; the message is a clause."""


@dataclass
class Fetched:
    """What came of runs: name -> its file, or why it is not there."""

    files: dict[str, Path] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def __or__(self, other: Fetched) -> Fetched:
        return Fetched(self.files | other.files, self.failed | other.failed)


# is it a whole run of these topics?


def _packing(path: Path) -> str | None:
    with path.open("rb") as file:
        return packed_with(file.read(_HEAD))


def check_run_file(name: str, path: Path, collection: Collection) -> None:
    """Raise unless a file, packed or not, is the run of a name, with topics of the collection.

    Some published runs have bad lines, which whoever reads them is told.
    """
    source, ends, packed = f"the file of run {name!r}", [0, b""], _packing(path)
    if packed not in _SUFFIX:
        raise InputError(f"it is packed with {packed}; expected gzip, bzip2, xz, compress, or plain text.")

    def chunks() -> Iterator[bytes]:
        n_lines = 0
        for chunk in chunks_of_lines(path, _PART, _LONGEST_LINE):
            n_lines += chunk.count(b"\n")
            ends[:] = n_lines + 1, chunk[-1:]
            yield chunk

    run = RunParts(chunks, "file", skip=True)
    topics: dict[str, None] = {}
    with located(source), in_memory():
        try:
            for rows in run.read():
                topics |= dict.fromkeys(rows.topics)
        except DamagedFileError as error:
            raise BrokenOffError(f"the {packed} file is cut off or damaged ({error.__cause__})".rstrip(".")) from None
        except UnreadableError as error:
            raise InputError(f"it {error}. Expected a run file, {RUN_LINE}.") from None
    if read_beginning(path, _HEAD).removeprefix(_BOM).lstrip().startswith(b"<"):
        raise InputError(f"{source} begins like a web page. Is a login needed, or has the file moved?")
    tags, bad = list(run.tags), [line for line, _ in run.bad]
    # a packed file that was cut off would be damaged
    is_cut = (len(tags) > 1 and tags[0].startswith(tags[-1])) or (ends[0] in bad and packed is None)
    if is_cut and ends[1] not in (b"\n", b"\r"):
        raise InputError(f"{source} ends in the middle of its last line. It was cut off on its way.")
    if len(bad) >= run.n_rows:
        raise InputError(
            f"{source} has {count(len(bad), 'bad line')} of {len(bad) + run.n_rows:,}; the first is line {bad[0]:,}: "
            f"{run.bad[0][1]}. Expected a run file, {RUN_LINE}."
        )
    others = () if collection.submitted is None else set(collection.submitted["name"])
    other = next((tag for tag in tags if tag != name and tag in others), None)
    if other is not None:
        raise InputError(f"{source} holds run {other!r} by the last column of its lines.")
    known = collection.topic_ids or collection.some_topics or frozenset(topics)
    odd = [topic for topic in topics if topic not in known]
    # of a collection of which some topics are known a run has others, too
    if len(odd) == len(topics) or (odd and collection.topic_ids is not None):
        raise InputError(
            f"{source} has {count(len(odd), 'topic')} of {len(topics):,} that {collection.title} does not have: "
            f"{examples(odd)}. Expected topics such as {examples(sorted(known))}."
        )


def tag_of(path: Path) -> str | None:
    """Return the tag in the first line of a run file, None where it cannot be told without reading all of it."""
    try:
        head = read_beginning(path, _HEAD)
    except UnreadableError:
        # whoever reads it says what is wrong with it
        return None
    cells = head.removeprefix(_BOM).lstrip().partition(b"\n")[0].split()
    return cells[5].decode("utf-8", "surrogateescape") if len(cells) == 6 else None


# from a server


class _Session(requests.Session):
    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Send no credentials where a redirect leads, not even those of a netrc file."""
        prepared_request.headers.pop("Authorization", None)


def find_login(url: str) -> HTTPBasicAuth | None:
    """Return what may be sent to an address: of the environment, else of a netrc file; None where there is none."""
    if not url.startswith(PASSWORD_FOR):
        return None
    for pair in VARIABLES:
        given = [os.environ.get(variable) for variable in pair]
        if all(given):
            return HTTPBasicAuth(*(str(word).encode("utf-8", "surrogateescape") for word in given))
        if any(given):
            raise TransferError(f"of {pair[0]} and {pair[1]}, one alone is set. Set both, or neither.")
    found = requests.utils.get_netrc_auth(url)
    return HTTPBasicAuth(*found) if found else None


class Transfer:
    """Downloads of one call: requests' session, and what is known of the servers."""

    def __init__(self, *, timeout: float, tries: int, connections: int):
        self.stop = Event()
        self._timeout, self._tries, self._session = timeout, tries, _Session()
        self._session.headers["Accept-Encoding"] = "identity"  # a .gz file should be stored as it is
        again = Retry(
            total=tries - 1,
            connect=0,
            status_forcelist=_BUSY,
            backoff_factor=BACKOFF,
            raise_on_status=False,
            respect_retry_after_header=False,
        )
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=connections, max_retries=again))
        self._reached: set[str] = set()
        #: host -> why it is not asked again
        self._given_up: dict[str, str] = {}

    def fetch(self, name: str, url: str, path: Path, check: Check) -> str:
        """Download a run and return the suffix of its name; what broke off is asked for again."""
        reason = ""
        for _ in range(self._tries):
            try:
                self._store(url, path)
                check(name, path)
                return _SUFFIX[_packing(path)]
            except BrokenOffError as error:
                reason = str(error)
        raise TransferError(f"{reason} (tried {count(self._tries, 'time')}).")

    def _store(self, url: str, path: Path) -> None:
        host, login, failure = urlsplit(url).hostname or url, find_login(url), ""
        if host in self._given_up:
            raise TransferError(self._given_up[host])
        try:
            # with a function of ours requests looks into no netrc file by rules of its own
            auth = login or (lambda request: request)
            response = self._session.get(url, auth=auth, stream=True, timeout=self._timeout)
        except (requests.RequestException, ValueError) as error:
            failure = f"no connection to {host} ({type(error).__name__}). Is there a network, and the address right?"
        # raised here, so that no errors of the libraries are shown beside it
        if failure:
            if host not in self._reached:
                self._given_up[host] = failure
            raise TransferError(failure)
        self._reached.add(host)
        with response, path.open("wb") as file:
            self._check(response, url, host, login)
            try:
                size = 0
                for block in response.iter_content(1 << 16):
                    size += file.write(block)
                    if self.stop.is_set():
                        raise TransferError("it was stopped.")
                    if size > MOST_BYTES:
                        raise TransferError(f"the file is larger than {MOST_BYTES:,} bytes; no run is that long.")
            except requests.RequestException:
                raise BrokenOffError(f"{host}: the connection broke after {size:,} bytes") from None

    def _check(self, response: requests.Response, url: str, host: str, login: HTTPBasicAuth | None) -> None:
        """Raise unless a server sends the file."""
        status, at = response.status_code, urlsplit(response.url)
        if url.startswith("https:") and at.scheme != "https":
            raise TransferError(f"{host} redirects from https to {at.scheme}, which is not followed.")
        if status in (401, 403):
            ours, second = VARIABLES[0]
            advice = (
                f"Set {ours} and {second}, or put 'machine {host} login ... password ...' into ~/.netrc. NIST gives "
                "both to those who sign its agreement: https://trec.nist.gov/results.html."
            )
            if not response.url.startswith(PASSWORD_FOR) or response.history:
                advice = f"They are sent to {PASSWORD_FOR} alone, and never where a redirect leads."
            if login and not response.history:
                self._given_up[host] = f"{host} refused the user name and password ({status}). Are they right?"
                raise TransferError(f"{self._given_up[host]} {advice}")
            raise TransferError(f"{at.hostname} asks for a user name and password ({status}). {advice}")
        if status != 200:
            why = "there is no such file" if status in (404, 410) else "the server sent no file"
            raise TransferError(f"{url}: {why} ({status}).")


# into the folder


def fetch_runs(
    wanted: Mapping[str, str],
    folder: Path,
    *,
    check: Check,
    n_jobs: int = 8,
    timeout: float = 30,
    tries: int = 3,
    verbose: bool = False,
) -> Fetched:
    """Download run files (name -> URL) into a folder; every name comes back with its file, or why there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # names are compared as they are listed: a file system may not tell upper from lower case, but runs do
        listed = set(os.listdir(folder))
    except OSError as error:
        raise InputError(f"{folder} cannot be used ({error.strerror or error}). Choose one to write to.") from None
    fetched, to_do = Fetched(), []
    for name in wanted:
        files = [folder / f"input.{name}{suffix}" for suffix in _SUFFIX.values()]
        there = [file for file in files if file.name in listed]
        if not _is_safe(name):
            fetched.failed[name] = "the name cannot be that of a file: empty, too long, or with odd characters."
        elif there and there[0].is_file():
            fetched.files[name] = there[0]
        elif there:
            fetched.failed[name] = f"{there[0].name} is in the folder already but is no file. Move it away."
        else:
            to_do.append(name)
    transfer = Transfer(timeout=timeout, tries=tries, connections=n_jobs)
    pool, futures = ThreadPoolExecutor(n_jobs, thread_name_prefix="fetch_runs"), list[Future[Fetched]]()
    with pt.tqdm(total=len(to_do), desc="downloading runs", unit="run", disable=not verbose) as bar:
        try:
            futures += [pool.submit(_fetch, name, wanted[name], folder, check, transfer) for name in to_do]
            for future in as_completed(futures):
                fetched |= future.result()
                bar.update(1)
        finally:
            # after ctrl-C or an error in `check` what has not begun is not begun, and what is under way ends
            transfer.stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            wait([future for future in futures if not future.cancelled()], timeout=_PATIENCE)
    return Fetched({name: fetched.files[name] for name in wanted if name in fetched.files}, fetched.failed)


def _fetch(name: str, url: str, folder: Path, check: Check, transfer: Transfer) -> Fetched:
    try:
        with temporary(folder) as arriving:
            path = folder / f"input.{name}{transfer.fetch(name, url, arriving, check)}"
            if transfer.stop.is_set():
                raise TransferError("it was stopped.")
            if not os.path.lexists(path):
                os.replace(arriving, path)
                return Fetched(files={name: path})
            # what is there by now is as good, if it is the run: another process has downloaded it
            try:
                check(name, path)
            except (InputError, BrokenOffError) as error:
                raise TransferError(f"{path.name} is in the folder already and was left as it is: {error}") from None
            return Fetched(files={name: path})
    except (TransferError, BrokenOffError) as error:
        why = str(error)
    except InputError as error:
        why = f"what arrived is not the run and was removed: {error}"
    except OSError as error:
        why = f"it cannot be stored: {error.strerror or type(error).__name__}."
    return Fetched(failed={name: why})


def _is_safe(name: str) -> bool:
    """Return whether a name, which may be anybody's, neither leads out of the folder nor hides a file."""
    odd = any(letter in "/\\:" or letter.isspace() or not letter.isprintable() for letter in name)
    is_long = len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME
    return not (name in ("", ".", "..") or name.startswith("~") or odd or is_long or name.lower().endswith(_PACKED))
