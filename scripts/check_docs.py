"""Check what Sphinx does not in pages that were built: links, anchors, public names, markup that was not understood.

    python scripts/check_docs.py docs/_build

Prints each fault, with its page, and the words of the pages written for users, which are not to be more than 47,000.
Ends with status 1 if there is any fault.
"""

import re
import sys
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

import pt_reuse

SOURCES = Path(__file__).resolve().parents[1] / "docs"
#: made by Sphinx, and the card that a page links to, of no page of ours
MADE = ("genindex", "search", "py-modindex", "_modules/", "demo-card.html")
#: public names that are no function or class; the API says what they are under another heading
OBJECTS = {"Unjudged", "__version__"}
MARKUP = re.compile(r"``|:(?:doc|ref|term|func|class|meth|value|mod|attr):`|\.\. [a-z-]+::")
#: words of the pages written for users at most; those that are made of docstrings do not count
MOST_WORDS = 47_000
#: pages for contributors, and folders of what is made
OTHERS = ("architecture.rst", "contributing.rst", "api", "_build")


def target_of(folder, name, link):
    """Return the path in the folder that a link of a page leads to, and the place in it."""
    parts, base = urlsplit(link), folder.resolve()
    path = (base / name).parent.joinpath(unquote(parts.path)).resolve() if parts.path else base / name
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path), unquote(parts.fragment)


def of_page(folder, name, page, ids):
    """Yield the faults of a page; takes code out of it."""
    for link in (one["href"] for one in page.find_all("a", href=True)):
        target, anchor = target_of(folder, name, link)
        if urlsplit(link).scheme or link.startswith("//"):
            continue
        if not (folder / target).is_file():
            yield f"links to {link}, which is no page"
        elif anchor and anchor not in ids.get(target, {anchor}):
            yield f"links to {link}, and there is no such place"
    if len(page.find_all("h1")) != 1:
        yield "has not one heading of the first level"
    for row in page.select("table.autosummary tr"):
        if row.td and not row.td.a:
            yield f"names {row.td.get_text().strip()!r} in a summary, and has no entry for it"
    for picture in page.find_all("img"):
        if not picture.get("alt", "").strip() and not picture["src"].startswith("data:"):
            yield f"says nothing of the picture {picture['src']}"
    for code in page(["pre", "code", "script", "style", "title"]):
        code.decompose()
    yield from (f"shows markup: {words[:60]!r}" for words in page.stripped_strings if MARKUP.search(words))


def faults(folder):
    """Return every fault of the pages in a folder, with the page."""
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html")))
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in names if not name.startswith("_static/")}
    ids = {name: {*re.findall(r'\bid="([^"]*)"', text)} for name, text in texts.items()}
    ours = {name: BeautifulSoup(text, "html.parser") for name, text in texts.items() if not name.startswith(MADE)}
    first = ours["index.html"].find_all("a", href=True)
    linked = {"index.html", *(target_of(folder, "index.html", link["href"])[0] for link in first)}
    found = [f"{name}: the first page does not lead to it" for name in ours if name not in linked]
    for source in sorted(SOURCES.rglob("*.rst")):
        name = source.relative_to(SOURCES).with_suffix(".html").as_posix()
        shows = re.search(r"^\.\. run::", source.read_text(encoding="utf-8"), re.MULTILINE)
        if shows and not (name in ours and ours[name].select(".run-output")):
            found.append(f"{name}: nothing that its code shows is there")
    for name, page in ours.items():
        found += [f"{name}: {fault}" for fault in of_page(folder, name, page, ids)]
    public = {name: getattr(pt_reuse, name) for name in pt_reuse.__all__ if name not in OBJECTS}
    entries = [f"{name}.{inner}" for name, of in public.items() if isinstance(of, ModuleType) for inner in of.__all__]
    entries += [name for name, of in public.items() if not isinstance(of, ModuleType)]
    every = set().union(*(ids[name] for name in ours))
    return found + [f"the API has no {name}" for name in entries if f"pt_reuse.{name}" not in every]


if __name__ == "__main__":
    told, words = faults(Path(sys.argv[1])), 0
    for source in SOURCES.rglob("*.rst"):
        if source.relative_to(SOURCES).parts[0] not in OTHERS:
            words += len(source.read_text(encoding="utf-8").split())
    print(f"{words:,} words for users")
    if words > MOST_WORDS:
        told.append(f"the pages have more than {MOST_WORDS:,} words")
    print("\n".join(told) or f"{sys.argv[1]}: every page and link is whole")
    sys.exit(bool(told))
