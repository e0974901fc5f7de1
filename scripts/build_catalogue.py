"""Build the catalogue of TREC test collections in ``pt_reuse/collections/data/catalogue``.

Needs nothing but Python and a folder with the sources (``--data``, or ``PT_REUSE_DATA``):

- ``catalogue/runs-2026.csv.gz``: runs of all tracks, from NIST's TREC browser,
- ``trec8-adhoc/runs_table.adhoc``: which runs of TREC-8 ad hoc were pooled,
- ``trec-covid-round5/leaderboard.csv``: which runs of TREC-COVID round 5 were.

What a person decided is in ``scripts/catalogue`` beside this script, and its README says where from.

    python scripts/build_catalogue.py --data FOLDER            # write
    python scripts/build_catalogue.py --data FOLDER --check    # compare with what is there; 1 if it differs
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CURATED = Path(__file__).resolve().parent / "catalogue"
OUT = ROOT / "pt_reuse" / "collections" / "data" / "catalogue"
#: the list of runs, below the folder of the sources
LIST = Path("catalogue") / "runs-2026.csv.gz"
#: where the facts are from, and what is asked of who uses them; at the head of both files
ORIGIN = (
    "runs, teams, types, tasks and addresses: github.com/usnistgov/trec-browser "
    "@ bc0f032cf0245308c45aabeb6a7e43017027e810, a database of NIST for academic, non-commercial use: see NOTICE",
    "who was pooled in TREC-8: github.com/isoboroff/trec8-scores @ 2d3c9555462f326b435413c90b7bc14d720e0b96",
    "who was pooled in TREC-COVID: leaderboards of github.com/castorini/TREC-COVID, "
    "rounds 1 and 4 @ a4b6e8dc73cfe86df744afa3ac5e6d1f4b6f5eb3, round 2 @ a6a68cb0f0d0b616fc8130a18faf61191d6e4b65, "
    "round 3 @ e991ced49f3fd7229faada9ceb90676463893edc, round 5 @ be3ed3fccac421da94cd3fb983904f7c0831834b",
)
COLUMNS = ("collection", "name", "team", "type", "official_type", "task", "pooled")
RESULTS = "https://trec.nist.gov/results/"
OPEN = "https://ir.nist.gov/"
#: names that stand for two runs, which only capital letters tell apart
BY_CASE = {("trec-9/web", "pir0wttd")}
#: what ir_datasets may lack of a collection
PARTS = ("documents", "topics", "judgments")


def main(data: Path, check: bool) -> int:
    """Write both files, or compare them."""
    collections, runs = build(data)
    files = {
        OUT / "collections.json": as_json(collections),
        OUT / "runs.csv": as_csv(runs),
    }
    differing = []
    for path, text in files.items():
        content = text.encode("utf-8")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            differing.append(str(path.relative_to(ROOT)))
    print(f"{len(collections)} collections, {len(runs)} runs, {sum(len(text) for text in files.values())} characters")
    for name in differing:
        print(f"{name} is not what this script builds: run it without --check", file=sys.stderr)
    return 1 if differing else 0


def build(data: Path) -> tuple[list[dict], list[dict]]:
    """Return the collections and their runs, checked against one another."""
    of_track: dict[tuple[str, str], list[dict[str, str]]] = {}
    for run in table(data / LIST):
        of_track.setdefault((run["trec"], run["track_dir"]), []).append(run)
    types = {row["official_type"]: row["type"] for row in table(CURATED / "types.csv")}
    topics = {row["name"]: row["topic_ids"].split() for row in table(CURATED / "topics.csv")}
    schemes: dict[str, dict[str, str]] = {}
    for row in table(CURATED / "sources.csv"):
        schemes.setdefault(row["scheme"], {})[row["prefix"]] = row["source"]
    own_types: dict[str, dict[str, str]] = {}
    for row in table(CURATED / "run_types.csv"):
        own_types.setdefault(row["collection"], {})[row["name"]] = row["type"]
    conventions = {row["collection"]: row for row in table(CURATED / "conventions.csv")}
    pooled = records(data)
    collections: list[dict] = []
    runs: list[dict] = []
    taken: set[int] = set()
    for row in table(CURATED / "collections.csv"):
        chosen = [run for run in of_track.get((row["trec"], row["track"]), []) if is_of(row, run)]
        need(bool(chosen) == bool(row["track"]), f"{row['name']}: {len(chosen)} runs")
        check_parts(row)
        need(not taken & {id(run) for run in chosen}, f"{row['name']}: runs of another collection")
        taken |= {id(run) for run in chosen}
        published = check_urls(row, chosen)
        check_names(row["name"], chosen)
        how = conventions.pop(row["name"], {})
        who = pooled.pop(row["name"], None)
        if how.get("pooled"):
            need(who is None and how["pooled"] == "all", f"{row['name']}: pooled is 'all' or on record, not both")
            who = {run["run"]: "yes" for run in chosen}
        own = own_types.pop(row["name"], {})
        need(set(own) == ({run["run"] for run in chosen} if how.get("types_from") else set()), f"{row['name']}: types")
        need(
            who is None or set(who) == {run["run"] for run in chosen}, f"{row['name']}: the pooled record names others"
        )
        stated = {key: int(how[key]) for key in ("rel", "pool_depth") if how.get(key)}
        stated |= {"types_from": how["types_from"]} if how.get("types_from") else {}
        collections.append(described(row, published, topics, schemes) | stated)
        for run in sorted(chosen, key=lambda run: run["run"]):
            need(run["type"] in types, f"{row['name']}: types.csv lacks {run['type']!r}")
            runs.append({
                "collection": row["name"], "name": run["run"], "team": run["group"],
                "type": own.get(run["run"], types[run["type"]]), "official_type": run["type"], "task": run["task"],
                "pooled": who[run["run"]] if who else "",
            })  # fmt: skip
    odd = sorted({*pooled, *conventions, *own_types})
    need(not odd, f"records of no collection: {odd}")
    order = [(row["year"], row["name"]) for row in collections]
    need(order == sorted(set(order)), "collections.csv is not in the order of year and name")
    check_aliases(collections)
    return collections, runs


def is_of(row: dict[str, str], run: dict[str, str]) -> bool:
    """Return whether a run of its track belongs to a collection."""
    of_task = row["tasks"] == "*" or run["task"] in row["tasks"].split("|")
    return of_task and re.fullmatch(row["tags"] or ".*", run["run"]) is not None


def records(data: Path) -> dict[str, dict[str, str]]:
    """Return who was pooled on record: collection -> run -> yes or no."""
    found: dict[str, dict[str, str]] = {}
    lines = (data / "trec8-adhoc" / "runs_table.adhoc").read_text(encoding="latin-1").splitlines()
    cells = [line.split(":") for line in lines if line]
    found["trec-8/adhoc"] = {row[0]: "yes" if row[12].strip() else "no" for row in cells}
    board = table(data / "trec-covid-round5" / "leaderboard.csv")
    found["trec-covid/round5"] = {row["tag"]: row["contributed judgments"] for row in board}
    for row in table(CURATED / "pooled.csv"):
        found.setdefault(row["collection"], {})[row["name"]] = row["pooled"]
    for name, who in found.items():
        need(set(who.values()) <= {"yes", "no"}, f"{name}: pooled must be yes or no")
    return found


def check_urls(row: dict[str, str], runs: list[dict[str, str]]) -> bool:
    """Return whether a collection's runs are published; fail where its template does not give their addresses."""
    others = dict(part.split("=", 1) for part in row["url_of_tasks"].split("|") if part)
    for run in runs:
        template = others.get(run["task"], row["url"])
        expected = template.replace("{tag}", run["run"])
        need(run["input_url"] == expected, f"{row['name']}: {run['run']} is at {run['input_url']!r}, not {expected!r}")
    need(all(url.startswith((RESULTS, OPEN)) for url in [row["url"], *others.values()] if url), row["name"])
    return bool(row["url"])


def check_parts(row: dict[str, str]) -> None:
    """Fail where it does not fit which parts of a collection ir_datasets has, and where its judgments are."""
    lacking = row["without"].split()
    need(set(lacking) <= set(PARTS) and bool(lacking) <= bool(row["irds"]), f"{row['name']}: without {lacking}")
    elsewhere = not row["irds"] or "judgments" in lacking
    need(bool(row["judgments"]) == elsewhere, f"{row['name']}: judgments are those of ir_datasets, or at an address")
    need(not elsewhere or row["judgments"].startswith("https://trec.nist.gov/data/"), f"{row['name']}: judgments")


def check_aliases(collections: list[dict]) -> None:
    """Fail where two collections share an alias, or an alias is a name, as people type them."""
    typed = [alias for entry in collections for alias in (entry["name"], *entry.get("aliases", ()))]
    twice = [name for name, times in Counter(map(plain, typed)).items() if times > 1]
    need(not twice, f"aliases of two collections: {twice}")


def plain(name: str) -> str:
    """Return a name without what people type in several ways."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def check_names(name: str, runs: list[dict[str, str]]) -> None:
    """Fail where the name of a run is no safe name of a file, or comes twice."""
    names = [run["run"] for run in runs]
    unsafe = [tag for tag in names if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9 .,_+-]*[A-Za-z0-9._+-])?", tag)]
    need(not unsafe, f"{name}: unsafe names {unsafe}")
    folded = Counter(tag.lower() for tag in names)
    twice = {tag for tag, times in folded.items() if times > 1}
    need(twice <= {tag for of, tag in BY_CASE if of == name}, f"{name}: the same name twice: {sorted(twice)}")
    need(all(run["group"] for run in runs), f"{name}: a run without a team")


def described(row: dict[str, str], published: bool, topics: dict[str, list[str]], schemes: dict) -> dict:
    """Return what the shipped file says of a collection; what is not known is left out."""
    entry: dict = {key: row[key] for key in ("name", "title", "group")}
    entry["year"] = int(row["year"])
    if row["irds"]:
        entry["irds"] = row["irds"]
    if row["aliases"]:
        entry["aliases"] = row["aliases"].split()
    if row["without"]:
        entry["without"] = row["without"].split()
    if row["judgments"]:
        entry["judgments_at"] = row["judgments"]
    entry |= {key: int(row[key]) for key in ("n_topics", "n_judged", "n_relevant") if row[key]}
    for key in ("topic_ids", "some_topics"):
        if row[key]:
            entry[key] = " ".join(topics[row[key]]) if row[key] in topics else row[key]
    if published:
        entry |= {"url": row["url"], "access": "open" if row["url"].startswith(OPEN) else "password"}
        others = dict(part.split("=", 1) for part in row["url_of_tasks"].split("|") if part)
        entry |= {"url_of_tasks": others} if others else {}
    entry["folders"] = folders(row)
    if row["pool_order"]:
        need(row["pool_order"] == "file", f"{row['name']}: pool_order is 'file', or empty where it is that of scoring")
        entry["pool_order"] = row["pool_order"]
    if row["sources"]:
        entry["sources"] = schemes[row["sources"]]
    if row["note"]:
        entry["note"] = row["note"]
    return entry


def folders(row: dict[str, str]) -> list[str]:
    """Return the folders in which people keep the runs of a collection."""
    names = [row["name"].replace("/", "-")]
    if row["trec"] == "trec-covid":
        names += [row["track"]]
    elif row["track"]:
        names += [f"{row['trec']}/{row['track']}", f"{row['trec']}-{row['track']}"]
    if row["url"].startswith(RESULTS):
        names += [row["url"].removeprefix(RESULTS).rpartition("/")[0]]
    return list(dict.fromkeys(names))


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, packed or not."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def as_json(collections: list[dict]) -> str:
    """Return the collections as the shipped JSON."""
    return json.dumps({"origin": ORIGIN, "collections": collections}, indent=1, ensure_ascii=False) + "\n"


def as_csv(runs: list[dict]) -> str:
    """Return the runs as the shipped CSV, below lines that say where from."""
    file = io.StringIO(newline="")
    file.write("".join(f"# {line}\n" for line in ORIGIN))
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(runs)
    return file.getvalue()


def need(holds: bool, message: str) -> None:
    """Stop with a message where something does not hold."""
    if not holds:
        sys.exit(f"build_catalogue: {message}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("PT_REUSE_DATA"), help="folder of the sources")
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say by --data or PT_REUSE_DATA where the sources are")
    sys.exit(main(Path(arguments.data), arguments.check))
