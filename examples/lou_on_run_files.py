"""Leave-out-uniques on a folder of TREC run files: what if a team had not taken part?

    python examples/lou_on_run_files.py RUNS_FOLDER QRELS TEAMS_FILE POOLED_FILE

Without arguments it writes a small simulated field to a temporary folder first, and uses that.
"""

import sys
import tempfile
from pathlib import Path

from ir_measures import AP, nDCG

import pt_reuse as ptr

depth = 100
if len(sys.argv) == 5:
    runs_folder, qrels_file, teams, pooled = sys.argv[1:]
else:
    field = ptr.demo.simulate_field(seed=8)
    folder = Path(tempfile.mkdtemp())
    field.runs.write(folder / "runs")
    qrels_file = field.qrels.write(folder / "qrels.txt")
    runs_folder, depth = folder / "runs", field.depth
    teams, pooled = field.runs.run_table[["name", "team"]], field.runs.select(pooled=True).names
    print("Simulated runs, evidence of nothing:")

runs = ptr.read_runs(runs_folder, teams=teams, pooled=pooled)
qrels = ptr.read_qrels(qrels_file)
print(runs, qrels, sep="\n")

lou = ptr.leave_out_uniques(runs, qrels, [AP, nDCG @ 10], depth=depth)
print("\nEvery run judged without its own team:")
print(lou.summary[["measure", "own_tau_b", "alone_max_drop", "largest_loss_pct"]].to_string(index=False))

worst = lou.by_run.sort_values("change_pct").head(5)
print("\nThe runs that lose most:")
print(worst[["name", "team", "measure", "score", "reduced_score", "drop"]].to_string(index=False))
