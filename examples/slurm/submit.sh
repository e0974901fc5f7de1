#!/bin/bash
# Leave-out-uniques on a cluster: one job reads the runs, 40 tasks share out the topics,
# one job merges what they found. Copy this folder beside your runs, change settings.sh,
# and call `bash submit.sh` there.
set -euo pipefail
store=$(sbatch --parsable store.sbatch)
tasks=$(sbatch --parsable --dependency="afterok:$store" lou.sbatch)
sbatch --dependency="afterok:$tasks" merge.sbatch
