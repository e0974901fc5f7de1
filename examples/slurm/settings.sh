# What the jobs of this folder have in common: sourced by each of them, in the folder in
# which sbatch was called.

# the runs, and how they are read; a store of them is made once and serves all tasks
runs=runs
reading=(--order trec_eval --cache lou-work/store --memory 2GB)
# what is asked of them
study=(--qrels qrels.txt --teams teams --pooled pooled --measures AP,nDCG@10 --depth 100)
# as many as lou.sbatch has tasks; SLURM_ARRAY_TASK_COUNT is another number where only
# some are run again
shards=40
