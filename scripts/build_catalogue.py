"""Build the catalogue of TREC test collections in ``pt_reuse/collections/data/catalogue``.

Needs nothing but Python and a folder with the sources (``--data``, or ``PT_REUSE_DATA``):

- ``catalogue/runs-2026.csv.gz``: runs of all tracks, from NIST's TREC browser,
- ``trec8-adhoc/runs_table.adhoc``: which runs of TREC-8 ad hoc were pooled,
- ``trec-covid-round5/leaderboard.csv``: which runs of TREC-COVID round 5 were.

What a person decided is in ``scripts/catalogue`` beside this script, and its README says where from.

    python scripts/build_catalogue.py --data FOLDER            # write
    python scripts/build_catalogue.py --data FOLDER --check    # compare with what is there; 1 if it differs
"""

import argparse
import csv
import gzip
import io
import json
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

CURATED = Path(__file__).resolve().parent / "catalogue"
OUT = CURATED.parents[1] / "pt_reuse" / "collections" / "data" / "catalogue"
#: the list of runs, below the folder of the sources
LIST = Path("catalogue") / "runs-2026.csv.gz"
#: where the facts are from, and what is asked of who uses them; at the head of both files
ORIGIN = (CURATED / "origin.txt").read_text(encoding="utf-8").splitlines()
RESULTS, OPEN, DATA = "https://trec.nist.gov/results/", "https://ir.nist.gov/", "https://trec.nist.gov/data/"
#: what ir_datasets may lack of a collection
PARTS = {"documents", "topics", "judgments"}
SAFE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9 .,_+-]*[A-Za-z0-9._+-])?")


def table(path):
    """Return the rows of a CSV file, packed or not."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def curated(name, key, columns):
    """Return key -> column -> column of a file of what a person decided."""
    found = defaultdict(dict)
    for row in table(CURATED / f"{name}.csv"):
        found[row[key]][row[columns[0]]] = row[columns[1]]
    return found


def need(holds, message):
    """Stop with a message where something does not hold."""
    if not holds:
        sys.exit(f"build_catalogue: {message}")


def build(data):
    """Return the collections and their runs, checked against one another."""
    of_track = defaultdict(list)
    for run in table(data / LIST):
        of_track[run["trec"], run["track_dir"]].append(run)
    types = {row["official_type"]: row["type"] for row in table(CURATED / "types.csv")}
    topics = {row["name"]: row["topic_ids"].split() for row in table(CURATED / "topics.csv")}
    schemes = curated("sources", "scheme", ("prefix", "source"))
    own_types = curated("run_types", "collection", ("name", "type"))
    conventions = {row["collection"]: row for row in table(CURATED / "conventions.csv")}
    pooled, collections, runs, taken = records(data), [], [], set()
    for row in table(CURATED / "collections.csv"):
        name, tasks = row["name"], None if row["tasks"] == "*" else row["tasks"].split("|")
        of_task = (run for run in of_track[row["trec"], row["track"]] if tasks is None or run["task"] in tasks)
        chosen = [run for run in of_task if re.fullmatch(row["tags"] or ".*", run["run"])]
        names = {run["run"] for run in chosen}
        need(bool(chosen) == bool(row["track"]), f"{name}: {len(chosen)} runs")
        need(not taken & {id(run) for run in chosen}, f"{name}: runs of another collection")
        taken |= {id(run) for run in chosen}
        check(row, chosen)
        how, who = conventions.pop(name, {}), pooled.pop(name, None)
        if how.get("pooled"):
            need(who is None and how["pooled"] == "all", f"{name}: pooled is 'all' or on record, not both")
            who = dict.fromkeys(names, "yes")
        own = own_types.pop(name, {})
        need(set(own) == (names if how.get("types_from") else set()), f"{name}: types")
        need(who is None or set(who) == names, f"{name}: the pooled record names others")
        stated = {key: int(how[key]) for key in ("rel", "pool_depth") if how.get(key)}
        stated |= {"types_from": how["types_from"]} if how.get("types_from") else {}
        collections.append(described(row, topics, schemes) | stated)
        for run in sorted(chosen, key=lambda run: run["run"]):
            need(run["type"] in types, f"{name}: types.csv lacks {run['type']!r}")
            kind = own.get(run["run"], types[run["type"]])
            line = {"collection": name, "name": run["run"], "team": run["group"], "type": kind}
            line |= {"official_type": run["type"], "task": run["task"]}
            runs.append({**line, "pooled": who[run["run"]] if who else ""})
    odd = sorted({*pooled, *conventions, *own_types})
    need(not odd, f"records of no collection: {odd}")
    order = [(row["year"], row["name"]) for row in collections]
    need(order == sorted(set(order)), "collections.csv is not in the order of year and name")
    return collections, runs


def records(data):
    """Return who was pooled on record: collection -> run -> yes or no."""
    found = curated("pooled", "collection", ("name", "pooled"))
    lines = (data / "trec8-adhoc" / "runs_table.adhoc").read_text(encoding="latin-1").splitlines()
    cells = [line.split(":") for line in lines if line]
    found["trec-8/adhoc"] = {row[0]: "yes" if row[12].strip() else "no" for row in cells}
    board = table(data / "trec-covid-round5" / "leaderboard.csv")
    found["trec-covid/round5"] = {row["tag"]: row["contributed judgments"] for row in board}
    for name, who in found.items():
        need(set(who.values()) <= {"yes", "no"}, f"{name}: pooled must be yes or no")
    return found


def urls_of_tasks(row):
    """Return task -> where its runs are, of the tasks whose runs are elsewhere."""
    return dict(part.split("=", 1) for part in row["url_of_tasks"].split("|") if part)


def check(row, runs):
    """Fail where the addresses, the parts or the names of the runs of a collection do not fit."""
    name, lacking, others = row["name"], row["without"].split(), urls_of_tasks(row)
    need(set(lacking) <= PARTS and bool(lacking) <= bool(row["irds"]), f"{name}: without {lacking}")
    elsewhere = not row["irds"] or "judgments" in lacking
    need(bool(row["judgments"]) == elsewhere, f"{name}: judgments are those of ir_datasets, or at an address")
    need(not elsewhere or row["judgments"].startswith(DATA), f"{name}: judgments")
    for run in runs:
        expected = others.get(run["task"], row["url"]).replace("{tag}", run["run"])
        need(run["input_url"] == expected, f"{name}: {run['run']} is at {run['input_url']!r}, not {expected!r}")
    need(all(url.startswith((RESULTS, OPEN)) for url in [row["url"], *others.values()] if url), name)
    unsafe = [run["run"] for run in runs if not SAFE.fullmatch(run["run"])]
    need(not unsafe, f"{name}: unsafe names {unsafe}")
    twice = {tag for tag, times in Counter(run["run"].lower() for run in runs).items() if times > 1}
    # one name stands for two runs, which only capital letters tell apart
    twice -= {"pir0wttd"} if name == "trec-9/web" else set()
    need(not twice, f"{name}: the same name twice: {sorted(twice)}")
    need(all(run["group"] for run in runs), f"{name}: a run without a team")


def described(row, topics, schemes):
    """Return what the shipped file says of a collection; what is not known is left out."""
    entry = {key: row[key] for key in ("name", "title", "group")} | {"year": int(row["year"]), "irds": row["irds"]}
    entry |= {"aliases": row["aliases"].split(), "without": row["without"].split(), "judgments_at": row["judgments"]}
    entry |= {key: int(row[key] or 0) for key in ("n_topics", "n_judged", "n_relevant")}
    entry |= {key: " ".join(topics.get(row[key], [row[key]])) for key in ("topic_ids", "some_topics")}
    if row["url"]:
        entry |= {"url": row["url"], "access": "open" if row["url"].startswith(OPEN) else "password"}
        entry["url_of_tasks"] = urls_of_tasks(row)
    need(row["pool_order"] in ("", "file"), f"{row['name']}: pool_order is 'file', or empty")
    entry |= {"folders": folders(row), "pool_order": row["pool_order"]}
    entry |= {"sources": schemes[row["sources"]] if row["sources"] else None, "note": row["note"]}
    return {key: value for key, value in entry.items() if value}


def folders(row):
    """Return the folders in which people keep the runs of a collection."""
    names = [row["name"].replace("/", "-")]
    if row["trec"] == "trec-covid":
        names += [row["track"]]
    elif row["track"]:
        names += [f"{row['trec']}/{row['track']}", f"{row['trec']}-{row['track']}"]
    if row["url"].startswith(RESULTS):
        names += [row["url"].removeprefix(RESULTS).rpartition("/")[0]]
    return list(dict.fromkeys(names))


def main(data, check_only):
    """Write both files, or compare them."""
    collections, runs = build(data)
    file = io.StringIO(newline="")
    file.write("".join(f"# {line}\n" for line in ORIGIN))
    writer = csv.DictWriter(file, runs[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(runs)
    listed = json.dumps({"origin": ORIGIN, "collections": collections}, indent=1, ensure_ascii=False) + "\n"
    status = 0
    for name, text in (("collections.json", listed), ("runs.csv", file.getvalue())):
        if not check_only:
            OUT.mkdir(parents=True, exist_ok=True)
            (OUT / name).write_bytes(text.encode("utf-8"))
        elif not (OUT / name).is_file() or (OUT / name).read_bytes() != text.encode("utf-8"):
            print(f"{name} is not what this script builds: run it without --check", file=sys.stderr)
            status = 1
    print(f"{len(collections)} collections, {len(runs)} runs")
    return status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("PT_REUSE_DATA"), help="folder of the sources")
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    arguments = parser.parse_args()
    need(arguments.data, "say by --data or PT_REUSE_DATA where the sources are")
    sys.exit(main(Path(arguments.data), arguments.check))
