"use strict";
(() => {
  const read = id => JSON.parse(document.getElementById(id).textContent);
  const teams = read("data-runs"), said = document.getElementById("said");
  const select = document.getElementById("team"), views = [];

  // figures: no code is made of text, so that the page's policy holds
  for (const place of document.querySelectorAll(".chart")) {
    vegaEmbed(place, read(place.dataset.spec), {ast: true, actions: false, renderer: "svg"}).then(({view}) => {
      const picks = view.getState({signals: name => name === "picked", data: () => false}).signals;
      if (!("picked" in (picks || {}))) return;
      views.push(view);
      view.addEventListener("click", (_, item) => {
        const team = item && item.datum && item.datum.name !== undefined ? item.datum.team : undefined;
        if (team !== undefined) pick(select && select.value === team ? "" : team);
      });
      if (select && select.value) show(view);
    });
  }
  const show = view => view.signal("picked", select.value || null).runAsync();

  // one team in figures and tables
  function pick(team) {
    if (!select || ![...select.options].some(option => option.value === team)) return;
    select.value = team;
    views.forEach(show);
    for (const row of document.querySelectorAll("tr[data-run]"))
      row.hidden = team !== "" && teams[row.dataset.run] !== team;
    said.textContent = team === "" ? "All teams are shown." : `Runs of ${team} alone are shown.`;
  }
  if (select) {
    select.addEventListener("change", () => pick(select.value));
    if (select.value) pick(select.value);
  }

  // tables
  const value = cell => cell.dataset.v !== undefined ? +cell.dataset.v : cell.textContent;
  for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0], at = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending", sign = down ? -1 : 1;
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const number = head.classList.contains("n");
    const known = row => !number || row.cells[at].dataset.v !== undefined;
    const compare = (a, b) => {
      if (!known(a) || !known(b)) return known(b) - known(a);
      const x = value(a.cells[at]), y = value(b.cells[at]);
      return sign * (number ? x - y : x.localeCompare(y, "en", {numeric: true}));
    };
    body.append(...[...body.rows].sort(compare));
    said.textContent = `Sorted by ${button.textContent}, ${down ? "descending" : "ascending"}.`;
  });
  const quoted = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  for (const button of document.querySelectorAll(".csv")) button.addEventListener("click", () => {
    const rows = [...button.parentElement.querySelector("table").rows].filter(row => !row.hidden);
    const lines = rows.map(row => [...row.cells].map(cell => quoted(String(value(cell)))).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], {type: "text/csv"}));
    link.download = `${button.dataset.name}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
})();
