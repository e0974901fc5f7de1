"""Check pages that were built: titles, links, anchors, pictures, public names, and markup that was not understood.

    python scripts/check_docs.py docs/_build

Prints each fault, with its page, and the words of the written pages by part; those for users are not to be more than
47,000. Ends with status 1 if there is any fault.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pt_reuse

ROOT = Path(__file__).resolve().parents[1]
#: made by Sphinx, and the card that a page links to, of no page of ours
_MADE = ("genindex", "search", "py-modindex", "_modules/", "demo-card.html")
#: public names that are no function or class; the API says what they are under another heading
_OBJECTS = {"Unjudged", "__version__"}
_MARKUP = re.compile(r"``|:(?:doc|ref|term|func|class|meth|value|mod|attr):`|\.\. [a-z-]+::")


@dataclass
class Seen(HTMLParser):
    """What a page has: headings, links, pictures, ids, names without an entry, and words outside of code."""

    title: str = ""
    headings: int = 0
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)
    unlinked: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _summary: bool = False
    _cell: str | None = None  # the name of a row of a summary, until it turns out to be a link

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a tag in."""
        found = {name: value or "" for name, value in attrs}
        self.headings += tag == "h1"
        self.ids.add(found.get("id", ""))
        self.classes |= set(found.get("class", "").split())
        if tag == "table":
            self._summary = "autosummary" in found.get("class", "").split()
        if tag == "tr" and self._summary:
            self._cell = ""
        if tag == "a":
            self._cell = None
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "img":
            self.pictures.append((found.get("src", ""), found.get("alt", "")))
        if tag in ("pre", "code", "script", "style", "title"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave a tag."""
        if tag == "td" and self._cell is not None:
            self.unlinked.append(self._cell.strip())
            self._cell = None
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Take words in."""
        if self._cell is not None:
            self._cell += data
        if self._open == ["title"]:
            self.title += data
        elif not self._open:
            self.words.append(data)


def read(folder: Path) -> dict[str, Seen]:
    """Return what each page has, by its path in the folder."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith("_static/"):
            pages[name] = Seen()
            pages[name].feed(path.read_text(encoding="utf-8"))
    return pages


def faults(folder: Path, sources: Path) -> list[str]:
    """Return every fault of the pages in a folder, with the page; `sources` is where they were built from."""
    pages = read(folder)
    ours = {name: page for name, page in pages.items() if not name.startswith(_MADE)}
    found = [f"{name}: {fault}" for name, page in ours.items() for fault in _of_page(page)]
    found += [f"{name}: {fault}" for name, page in ours.items() for fault in _of_links(folder, name, page, pages)]
    linked = (
        {_target(folder, "index.html", link)[0] for link in ours["index.html"].links} if "index.html" in ours else set()
    )
    found += [f"{name}: the first page does not lead to it" for name in ours if name not in linked | {"index.html"}]
    for source in sorted(sources.rglob("*.rst")):
        name = source.relative_to(sources).with_suffix("").as_posix()
        shows = re.search(r"^\.\. run::", source.read_text(encoding="utf-8"), re.MULTILINE)
        if shows and "run-output" not in pages.get(f"{name}.html", Seen()).classes:
            found.append(f"{name}.html: nothing that its code shows is there")
    ids = set().union(*(page.ids for page in ours.values())) if ours else set()
    missing = [name for name in public_names() if f"pt_reuse.{name}" not in ids]
    return found + [f"the API has no {name}" for name in missing]


def public_names() -> list[str]:
    """Return the public names that have entries of their own; those of a namespace with its name before them."""
    found = []
    for name in pt_reuse.__all__:
        value = getattr(pt_reuse, name)
        if isinstance(value, ModuleType):
            found += [f"{name}.{inner}" for inner in value.__all__]
        elif name not in _OBJECTS:
            found.append(name)
    return found


def _of_page(page: Seen) -> list[str]:
    found = []
    if not page.title.strip() or "<no title>" in page.title or page.headings != 1:
        found.append(f"has the title {page.title!r} and {page.headings} headings of the first level")
    if {"system-message", "problematic"} & page.classes:
        found.append("has a message of docutils in its text")
    found += [f"names {name!r} in a summary, and has no entry for it" for name in page.unlinked]
    left = [words.strip() for words in page.words if _MARKUP.search(words)]
    return found + [f"shows markup: {words[:60]!r}" for words in left]


def _of_links(folder: Path, name: str, page: Seen, pages: dict[str, Seen]) -> list[str]:
    found = [f"links to a mail address: {link}" for link in page.links if link.startswith("mailto:")]
    for link in page.links:
        if urlsplit(link).scheme or link.startswith("//"):
            continue
        target, anchor = _target(folder, name, link)
        if not (folder / target).is_file():
            found.append(f"links to {link}, which is no page")
        elif anchor and target in pages and anchor not in pages[target].ids:
            found.append(f"links to {link}, and there is no such place")
    for picture, words in page.pictures:
        if not urlsplit(picture).scheme and not (folder / _target(folder, name, picture)[0]).is_file():
            found.append(f"lacks the picture {picture}")
        if not words.strip() and not picture.startswith("data:"):
            found.append(f"says nothing of the picture {picture}")
    return found


def _target(folder: Path, name: str, link: str) -> tuple[str, str]:
    """Return the path in the folder that a link of a page leads to, and the place in it."""
    parts = urlsplit(link)
    if not parts.path:
        return name, unquote(parts.fragment)
    path = ((folder / name).parent / unquote(parts.path)).resolve()
    base = folder.resolve()
    return (path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)), unquote(parts.fragment)


#: words of the pages written for users at most; those that are made of docstrings do not count
_MOST_WORDS = 47_000
_OTHERS = "for contributors"
#: the part of a page that stands in no folder
_PARTS = {
    "start": ("index", "install", "ten-minutes", "experiment"),
    "concepts": ("concepts", "glossary", "conventions", "leave-out-uniques", "who-was-pooled"),
    "reference": ("studies", "api", "command-line"),
    "about": ("project", "papers", "verification", "demo", "changelog", "cite", "listing"),
    _OTHERS: ("architecture", "contributing"),
}
_OF_FOLDER = {"studies": "reference", "papers": "about"}


def words_by_part(sources: Path) -> dict[str, int]:
    """Return how many words the sources of the written pages have, by part; what is in no other is a how-to."""
    found: dict[str, int] = {}
    parts = {page: part for part, pages in _PARTS.items() for page in pages}
    for source in sorted(sources.rglob("*.rst")):
        *folders, name = source.relative_to(sources).with_suffix("").parts
        if folders[:1] in (["api"], ["_build"]):
            continue
        part = _OF_FOLDER.get(folders[0], "how to") if folders else parts.get(name, "how to")
        found[part] = found.get(part, 0) + len(source.read_text(encoding="utf-8").split())
    return found


if __name__ == "__main__":
    told = faults(Path(sys.argv[1]), ROOT / "docs")
    words = words_by_part(ROOT / "docs")
    users = sum(n for part, n in words.items() if part != _OTHERS)
    print(f"{users:,} words for users: {', '.join(f'{part} {n:,}' for part, n in words.items())}")
    if users > _MOST_WORDS:
        told.append(f"the pages have more than {_MOST_WORDS:,} words")
    print("\n".join(told) or f"{sys.argv[1]}: every page, link and picture is whole")
    sys.exit(bool(told))
