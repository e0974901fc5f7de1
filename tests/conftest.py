"""Rules that every error and warning keeps, and real data: read once a session, skipped with a reason where absent."""

from __future__ import annotations

import gc
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import settings
from real_runs import PARSED, read_real

from pt_reuse.cards import figures
from pt_reuse.collections import definition
from pt_reuse.data.answers import Answers, read_answers
from pt_reuse.data.judgments import Qrels, read_qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, ReuseWarning

# errors and warnings: class, argument, place and number, and rules that every wording keeps

#: arguments that messages call by what they hold
NOUNS = ("path", "source", "folder")

#: what no message says -> what it looks like
NEVER = {
    "two spaces": r"\S  +\S",
    "a space before a mark": r"\w [.,;?](?:$|\s[A-Z])",
    "the same word twice": r"(?<![\w'.-])([a-z]{2,}) \1(?![\w'.])",
    "two full stops": r"(?<!\.)\.\.(?:\s|$)",
    "an object as Python shows it": r"<[\w.]+ (?:object|at|of) |<(?:function|class|module|bound) |\b0x[0-9a-f]{6,}",
    "a value as numpy or pandas shows it": r"\bnp\.\w+\(|\bdtype: |\bTimestamp\(|\bIndex\(\[|\barray\(",
    "1 of several": r"(?<![\w.,:'*/-])1 (?:topics|runs|documents|files|lines|labels|systems|teams|judgments|judges)\b",
    "None in the place of a word": r"(?<!or )(?<!be )(?<!has )(?<!measure )(?<!format )(?<!is )(?<!was )"
    r"\bNone\b(?! takes)",
}
#: how a message ends: a sentence or question, or what another library said behind a colon
ENDS = re.compile(r"[.?]\W*$|: [^.]*$|\n- [^\n]*$")


def shown(text: str, hidden: Mapping[str, str]) -> str:
    """Return a text with what stands for what is hidden, the longest first."""
    for secret, stands in sorted(hidden.items(), key=lambda item: -len(item[0])):
        text = text.replace(secret, stands)
    return text


class Messages:
    """What a test is told: held to the rules of all messages."""

    def __init__(self, hidden: dict[str, str]):
        self.hidden = hidden

    def told(self, message: Any) -> None:
        """Hold a message, or the text that a user reads of it, to the rules."""
        text = shown(str(message), self.hidden)
        # what stands between quotes or behind `got` is the user's
        own = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'x'", text)
        own = re.sub(r"(?m)\b(got|chose) .*?(?=\. [A-Z]|$)", r"\1 x", own)
        assert not [name for name, pattern in NEVER.items() if re.search(pattern, own)], text
        if isinstance(message, InputError | ReuseWarning):
            assert ENDS.search(text), f"it ends in no full stop or question mark: {text}"
        if isinstance(message, InputError):
            named = re.match(r"(\w+) must (?:be|name|hold|map) ", message.text)
            if named and message.argument and message.argument not in NOUNS:
                assert named[1] == message.argument, f"about {message.argument!r}: {text}"

    def refused(
        self, call: Callable[..., Any], *, argument: str | None = None, place: str | None = None, **given: Any
    ) -> InputError:
        """Call, expect an InputError about an argument at a place, hold it to the rules, and return it."""
        with pytest.raises(InputError) as caught:
            call(**given)
        error = caught.value
        found = shown(error.place or "", self.hidden)
        assert argument is None or error.argument == argument, f"about {error.argument!r}: {error}"
        assert place is None or found == place, f"at {found!r}: {error}"
        self.told(error)
        return error

    def warned(self, call: Callable[..., Any], *, times: int = 1, unpooled: bool = False, **given: Any) -> Any:
        """Call, expect so many ReuseWarnings, hold them to the rules, and return what was returned.

        That runs did not contribute to the pool, which is so in most fields, counts where `unpooled` asks for it.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if not unpooled:
                warnings.filterwarnings("ignore", message=".*did not contribute to the pool")
            result = call(**given)
        mine = [w.message for w in caught if issubclass(w.category, ReuseWarning)]
        assert len(mine) == times, [str(message) for message in mine]
        for message in mine:
            self.told(message)
        return result


#: how pandas keeps texts: with pyarrow tests take a sixth longer. Commands, pages and examples have its own choice
TEXTS = "python"


#: of tests that name no number of examples; HYPOTHESIS_PROFILE=default takes four times as many
settings.register_profile("quick", max_examples=25, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_configure(config: pytest.Config) -> None:
    """Have tests and package compiled once, not by each process that tests start, and each process keep to one core."""
    pd.set_option("mode.string_storage", TEXTS)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # inherited by workers and processes: threads of matrix products that wait for each other take time from the others
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # else Ray takes over signals without which Java crashes, in tests that come later
    os.environ.setdefault("RAY_DISABLE_FAILURE_SIGNAL_HANDLER", "1")
    if PARSED not in os.environ:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        os.environ[PARSED] = folder.name


def pytest_xdist_auto_num_workers() -> int:
    """Have one worker more than cores: some tests wait for processes and clusters."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of the garbage collector's way: statsmodels calls it by name."""
    gc.collect()
    gc.freeze()


@dataclass(frozen=True)
class Collection:
    """The runs and judgments of one track, and the folder they were read from."""

    runs: RunSet
    qrels: Qrels
    folder: Path


@pytest.fixture(autouse=True)
def no_own_collections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin without collections of one's own, and forget those that the test registers."""
    monkeypatch.setattr(definition, "_OWN", {})
    yield
    opened = getattr(sys.modules.get("ir_datasets"), "registry", ())
    for name in [name for name in opened if name.startswith("reuse/")]:
        del opened._registered[name]


@pytest.fixture(autouse=True)
def texts_as_pandas_keeps_them() -> Iterator[None]:
    """Begin with one way of keeping texts, which a name that is no UTF-8 changes for the process."""
    yield
    pd.set_option("mode.string_storage", TEXTS)


@pytest.fixture
def messages(tmp_path: Path) -> Messages:
    """Return what asks for the class, argument and place of errors, and holds what they say to rules."""
    return Messages({str(tmp_path): "{d}"})


@pytest.fixture
def no_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have cards without the library of figures, which takes a second to put together."""
    monkeypatch.setattr(figures, "bundle", lambda: "")


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real test data, or skip."""
    folder = Path(os.environ.get("PT_REUSE_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no real test data: set PT_REUSE_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def trec8(data: Path) -> Collection:
    """Return the TREC-8 ad hoc field: 129 runs of 41 teams, 71 of them pooled."""
    folder = _folder(data, "trec8-adhoc")
    lines = (folder / "runs_table.adhoc").read_text(encoding="latin-1").splitlines()
    rows = [line.split(":") for line in lines if line]
    runs = read_real(
        folder / "inputs",
        teams=folder / "runs-pids",
        types={row[0]: row[4] for row in rows},
        pooled=[row[0] for row in rows if row[12].strip()],
    )
    return Collection(runs, read_qrels(folder / "trec8.qrels.gz"), folder)


@pytest.fixture(scope="session")
def covid(data: Path) -> Collection:
    """Return the TREC-COVID round 5 field: 126 runs of 28 teams, 99 of them pooled."""
    folder = _folder(data, "trec-covid-round5")
    board = pd.read_csv(folder / "leaderboard.csv")
    table = pd.DataFrame(
        {
            "name": board["tag"],
            "team": board["team"],
            "type": board["runtype"],
            "pooled": board["contributed judgments"] == "yes",
        }
    )
    return Collection(
        read_real(folder / "runs", metadata=table), read_qrels(folder / "qrels.covid-round5.txt.gz"), folder
    )


@pytest.fixture(scope="session")
def dragun(data: Path) -> Answers:
    """Return the answers of DRAGUN 2025, of teams by their prefix, or skip."""
    folder = _folder(data, "nuggets") / "dragun25"
    teams = pd.read_csv(folder / "teams.csv", dtype=str).set_index("run")["team"].to_dict()
    return read_answers(folder / "report_assessments.csv.gz", teams=teams)


def _folder(data: Path, name: str) -> Path:
    if not (data / name).is_dir():
        pytest.skip(f"the test data has no folder {name}")
    return data / name
