"""What errors and notes advise in Python, said in options of the command line."""

from __future__ import annotations

#: what errors and warnings advise in Python -> the same as options
_OPTIONS = {
    "overwrite=True": "--overwrite", "names='file'": "--names file", "duplicates='best'": "--duplicates best",
    "Give teams= when reading the runs": "Give --teams", "Give types= when reading the runs": "Give --types",
    "by='run'": "--by run", "order='trec_eval'": "--order trec_eval", "order='file'": "--order file",
    "give it to read_qrels": "give it as --qrels", "give it to read_runs": "give it as --runs",
    "pass runs='FOLDER'": "pass --runs FOLDER", "read_runs('FOLDER')": "--runs FOLDER",
    "pass qrels='FILE'": "pass --qrels FILE", "figures='FILE.toml'": "--figures FILE.toml",
    "missing='error'": "--missing error", 'missing="error"': "--missing error", "depth='topic'": "--depth topic",
    "pass download=True": "fetch them with `pt-reuse fetch NAME`", "infer_pool(runs, qrels)": "`pt-reuse infer-pool`",
    "runs.with_metadata(pooled=...) keeps it": "--pooled FILE names those to lou",
    "list_collections() shows": "`pt-reuse collections` shows",
    "list_collections('deep learning')": "`pt-reuse collections deep learning`",
    "Leave out pooled=, and let": "Leave out --only-pooled, and let", "`submitted()`": "`pt-reuse collections NAME`",
    "n_jobs must be": "--jobs must be",
    "Without a network, put it into": "Without a network, give it as --qrels, or put it into",
}  # fmt: skip


def in_options(message: str) -> str:
    """Return a message with what to do said in options of the command line, not in Python."""
    for python, option in _OPTIONS.items():
        message = message.replace(python, option)
    return message
