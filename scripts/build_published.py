"""Make the CSV files of published scores from what NIST published.

    python scripts/build_published.py --data FOLDER [--out pt_reuse/verification/data]

What is not there is passed over. Scores are taken over as text, digit for digit. The figures beside the scores are
written by hand, in figures.csv.
"""

import argparse
import csv
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "pt_reuse" / "verification" / "data"
BOARD = "{}/leaderboard.csv"
#: what NIST published, its columns, of which the first has the names of runs, and what the others are called here; no
#: columns where lines have a run and its score
SOURCES = {
    "trec-8-adhoc": ("trec8-adhoc/official-scores.map", None, "map"),
    "trec-covid-round1": (BOARD, "run ndcg@10 p@5 bpref MAP", "ndcg@10 P@5 bpref map"),
    "trec-covid-round5": (BOARD, "tag ndcg@20 P@20 rbp_p5 bpref map", "ndcg@20 P@20 rbp_p5 bpref map"),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of what NIST published")
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name, (source, columns, called) in SOURCES.items():
        path = given.data / source.format(name)
        if not path.is_file():
            print(f"{name}: passed over, no {path}")
            continue
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        rows = [line.split() for line in lines if line.strip()]
        if columns is not None:
            head, *table = csv.reader(lines)
            at = [head.index(column) for column in columns.split()]
            rows = [[row[column] for column in at] for row in table]
        with (given.out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["name", *called.split()], *sorted(rows)])
        print(f"{name}: {len(rows)} runs")
