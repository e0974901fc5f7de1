"""Open every page that was built in Chromium, 390 and 1,280 pixels wide, and tell what is wider than the page.

    python scripts/check_pages.py docs/_build [--jobs N]

Chromium is the one at CHROMIUM, else on the path. Without one, says so and ends well. Ends with status 1 where a page
can be pushed sideways, or an element outside of a box that scrolls ends beyond the page.
"""

from __future__ import annotations

import argparse
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
_TOGETHER = 24
#: says of each page what is too wide; a frame has the width that is asked, whatever the window has
_SCRIPT = """
const found = {};
function odd(frame, width) {
  const page = frame.contentDocument, faults = [], root = page.documentElement;
  if (root.scrollWidth > width + 1) faults.push(`the page is ${root.scrollWidth} pixels wide`);
  for (const one of page.querySelectorAll("article *")) {
    const box = one.getBoundingClientRect();
    if (box.width === 0 || box.right <= width + 1) continue;
    let scrolls = false;
    for (let up = one; up && up !== page.body; up = up.parentElement) {
      const flow = frame.contentWindow.getComputedStyle(up).overflowX;
      if (flow === "auto" || flow === "scroll") { scrolls = true; break; }
    }
    if (!scrolls) {
      faults.push(`<${one.tagName.toLowerCase()} class="${one.className}"> ends at ${Math.round(box.right)}: ` +
        (one.textContent || "").trim().slice(0, 50));
      break;
    }
  }
  return faults;
}
async function look(address, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = address; });
  const faults = odd(frame, width);
  frame.remove();
  return faults;
}
(async () => {
  for (const [address, name] of PAGES)
    for (const width of WIDTHS) {
      const faults = await look(address, width);
      if (faults.length) found[`${name} at ${width}`] = faults;
    }
  document.title = "looked";
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.replaceChildren(out);
})();
"""


def browser() -> str | None:
    """Return the path of Chromium, None where there is none."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def look_at(chromium: str, pages: list[Path], folder: Path) -> dict[str, list[str]]:
    """Return page and width -> what is too wide there."""
    listed = json.dumps([[page.as_uri(), page.relative_to(folder).as_posix()] for page in pages])
    script = _SCRIPT.replace("PAGES", listed).replace("WIDTHS", json.dumps(WIDTHS))
    with tempfile.TemporaryDirectory() as home:
        start = Path(home) / "look.html"
        start.write_text(f"<!doctype html><meta charset=utf-8><body><script>{script}</script>", encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--window-size=1400,1000",
        ]
        options += [f"--user-data-dir={home}/profile", "--virtual-time-budget=600000", "--dump-dom"]
        done = subprocess.run(
            [chromium, *options, start.as_uri()], capture_output=True, text=True, check=False, timeout=300
        )
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    if text is None:
        raise SystemExit(f"{chromium} did not look at the pages: {done.stderr[-500:]}")
    found: dict[str, list[str]] = json.loads(html.unescape(text[1]))
    return found


def main() -> int:
    """Look at all pages, print the faults, and return the status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="browsers at a time")
    options = parser.parse_args()
    chromium = browser()
    if chromium is None:
        print("not looked at: there is no Chromium here (CHROMIUM names one)")
        return 0
    folder = options.folder.resolve()
    pages = [page for page in sorted(folder.rglob("*.html")) if not {"_static", "_modules"} & {*page.parts}]
    parts = [pages[first : first + _TOGETHER] for first in range(0, len(pages), _TOGETHER)]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = [
            fault for part in pool.map(lambda part: look_at(chromium, part, folder), parts) for fault in part.items()
        ]
    for page, faults in found:
        print(f"{page}: {'; '.join(faults)}")
    print(f"{len(pages)} pages at {' and '.join(map(str, WIDTHS))} pixels, {len(found)} with something too wide")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
