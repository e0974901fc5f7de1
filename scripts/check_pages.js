// Says of each page in PAGES what is too wide at each of WIDTHS; a frame has the width that is asked, whatever the
// window has. check_pages.py puts both in.
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
