"""Open every page that was built in Chromium, 390 and 1,280 pixels wide, and tell what is wider than the page.

    python scripts/check_pages.py docs/_build

Chromium is the one at CHROMIUM, else on the path. Without one, says so and ends well. Ends with status 1 where a page
can be pushed sideways, or an element outside of a box that scrolls ends beyond the page.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WIDTHS = (390, 1280)
#: pages that are looked at by one browser, one after the other in a frame
TOGETHER = 24
#: says of each page what is too wide
SCRIPT = Path(__file__).with_suffix(".js")


def look_at(chromium, pages, folder):
    """Return page and width -> what is too wide there."""
    listed = json.dumps([[page.as_uri(), page.relative_to(folder).as_posix()] for page in pages])
    script = SCRIPT.read_text(encoding="utf-8").replace("PAGES", listed).replace("WIDTHS", json.dumps(WIDTHS))
    with tempfile.TemporaryDirectory() as home:
        start = Path(home) / "look.html"
        start.write_text(f"<!doctype html><meta charset=utf-8><body><script>{script}</script>", encoding="utf-8")
        options = "--headless --no-sandbox --disable-gpu --allow-file-access-from-files"
        command = [chromium, *options.split(), f"--user-data-dir={home}/profile"]
        command += ["--window-size=1400,1000", "--virtual-time-budget=600000", "--dump-dom"]
        done = subprocess.run([*command, start.as_uri()], capture_output=True, text=True, check=False, timeout=300)
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    if text is None:
        raise SystemExit(f"{chromium} did not look at the pages: {done.stderr[-500:]}")
    return json.loads(html.unescape(text[1]))


def main(folder):
    """Look at all pages, print the faults, and return the status."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    chromium = next((path for name in names if name and (path := shutil.which(name))), None)
    if chromium is None:
        print("not looked at: there is no Chromium here (CHROMIUM names one)")
        return 0
    pages = [page for page in sorted(folder.rglob("*.html")) if not {"_static", "_modules"} & {*page.parts}]
    parts, found = [pages[first : first + TOGETHER] for first in range(0, len(pages), TOGETHER)], {}
    with ThreadPoolExecutor(2) as pool:
        for part in pool.map(lambda part: look_at(chromium, part, folder), parts):
            found |= part
    for page, faults in found.items():
        print(f"{page}: {'; '.join(faults)}")
    print(f"{len(pages)} pages at {' and '.join(map(str, WIDTHS))} pixels, {len(found)} with something too wide")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
