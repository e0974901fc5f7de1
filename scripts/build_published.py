"""Make the CSV files of published scores from what NIST published.

    python scripts/build_published.py --data FOLDER [--out pt_reuse/verification/data]

What is not there is passed over. Scores are taken over as text, digit for digit. The figures beside the scores are
written by hand, in the TOML files.
"""

import argparse
import csv
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "pt_reuse" / "verification" / "data"
#: file -> what NIST published, its columns, of which the first has the names of runs, and what the others are called
#: here; None where lines have a run and its score
SOURCES = {
    "trec-8-adhoc.csv": ("trec8-adhoc/official-scores.map", None, "map"),
    "trec-covid-round1.csv": (
        "trec-covid-round1/leaderboard.csv",
        "run ndcg@10 p@5 bpref MAP",
        "ndcg@10 P@5 bpref map",
    ),
    "trec-covid-round5.csv": (
        "trec-covid-round5/leaderboard.csv",
        "tag ndcg@20 P@20 rbp_p5 bpref map",
        "ndcg@20 P@20 rbp_p5 bpref map",
    ),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of what NIST published")
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name, (source, columns, called) in SOURCES.items():
        if not (given.data / source).is_file():
            print(f"{name}: passed over, no {given.data / source}")
            continue
        lines = (given.data / source).read_text(encoding="utf-8-sig").splitlines()
        rows = [line.split() for line in lines if line.strip()]
        if columns is not None:
            head, *table = csv.reader(lines)
            at = [head.index(column) for column in columns.split()]
            rows = [[row[column] for column in at] for row in table]
        with (given.out / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["name", *called.split()], *sorted(rows)])
        print(f"{given.out / name}: {len(rows)} runs")
