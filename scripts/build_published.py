"""Make the CSV files of published scores from what NIST published.

    python scripts/build_published.py --data FOLDER [--out pt_reuse/verification/data]

FOLDER holds `trec8-adhoc/official-scores.map` and `leaderboard.csv` of TREC-COVID in `trec-covid-round1` and
`trec-covid-round5`; what is not there is passed over. Scores are taken over as text, digit for digit. The figures
beside the scores are written by hand, in figures.csv.
"""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "pt_reuse" / "verification" / "data"
#: file -> what NIST published, its column of run names, and column -> what it is called here
SOURCES = {
    "trec-8-adhoc.csv": ("trec8-adhoc/official-scores.map", None, {"map": "map"}),
    "trec-covid-round1.csv": (
        "trec-covid-round1/leaderboard.csv",
        "run",
        {"ndcg@10": "ndcg@10", "p@5": "P@5", "bpref": "bpref", "MAP": "map"},
    ),
    "trec-covid-round5.csv": (
        "trec-covid-round5/leaderboard.csv",
        "tag",
        {name: name for name in ("ndcg@20", "P@20", "rbp_p5", "bpref", "map")},
    ),
}


def as_csv(header: list[str], rows: list[list[str]]) -> bytes:
    """Return a CSV file, its rows by name."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(sorted(rows))
    return text.getvalue().encode("utf-8")


def build(path: Path, key: str | None, columns: dict[str, str]) -> bytes:
    """Return the CSV file of one collection.

    Args:
        path: what NIST published: a CSV, or lines of a run and its score.
        key: the column of run names; None for lines.
        columns: column -> what it is called here.
    """
    text = path.read_text(encoding="utf-8-sig")
    if key is None:
        rows = [line.split() for line in text.splitlines() if line.strip()]
    else:
        table = list(csv.reader(io.StringIO(text)))
        odd = [number for number, row in enumerate(table, start=1) if len(row) != len(table[0])]
        if odd:
            raise SystemExit(f"{path}, line {odd[0]}: not as many cells as the header has, {len(table[0])}")
        at = [table[0].index(column) for column in (key, *columns)]
        rows = [[row[column] for column in at] for row in table[1:]]
    return as_csv(["name", *columns.values()], rows)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of what NIST published")
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, (source, key, columns) in SOURCES.items():
        if not (arguments.data / source).is_file():
            print(f"{name}: passed over, no {arguments.data / source}")
            continue
        content = build(arguments.data / source, key, columns)
        (arguments.out / name).write_bytes(content)
        print(f"{arguments.out / name}: {len(content.splitlines()) - 1} runs")


if __name__ == "__main__":
    main()
