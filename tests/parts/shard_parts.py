"""Commands that share out their topics, run as shards."""

from __future__ import annotations

from command_parts import run

import pt_reuse as ptr

FIELD = "--qrels qrels.txt --metadata runs.csv"
#: calls in a folder that :func:`write_field` made
SHARDED = {
    "score": f"score runs {FIELD}",
    "score by ir_measures": f"score runs {FIELD} --measures AP,ERR@10,Bpref --own-topics",
    "lou": f"lou --runs runs {FIELD} --depth 5",
    "lou of types": f"lou --runs runs {FIELD} --by type --depth 4 --measures P@5,ERR@10 --remove judged --resamples 20",
    "lou in the order of the files": f"lou --runs runs {FIELD} --depth 5 --pool-order file --contributors all --rel 2",
    "pool": "pool runs --metadata runs.csv --depth 5",
    "pool to judge": f"pool runs {FIELD} --by run --contributors lex1a,lex4a",
    "sample of a pool": f"pool runs {FIELD} --depth 5 --strategy sample --share .5,.2 --strata rank --bands 3,inf",
    "unjudged": f"unjudged runs {FIELD}",
    "unjudged by type": f"unjudged runs {FIELD} --cutoff 5,20 --by type --order file",
}


def write_field(folder, **options):
    """Write a small field to a folder; one topic has no judgments, and one has no runs."""
    given = {"seed": 3, "n_topics": 9, "n_docs": 200, "n_teams": 4, "length": 30, "depth": 5, **options}
    field = ptr.simulate_field(**given)
    field.runs.write(folder / "runs", compress=False)
    field.qrels.select(field.qrels.topics[1:]).write(folder / "qrels.txt")
    with (folder / "qrels.txt").open("a") as file:
        file.write("77 0 d1 1\n77 0 d2 0\n")
    field.runs.run_table.to_csv(folder / "runs.csv", index=False)


def shards(capsys, call, n, *, folder="shards", numbers=None):
    """Do the shards of a call, all of them or some, and return what each said."""
    said = []
    for k in numbers or range(1, n + 1):
        status, out, _ = run(capsys, *call.split(), "--shard", f"{k}/{n}", "--out", folder)
        assert status == 0
        said.append(out)
    return said


def contents(folder):
    """Return name -> bytes of the files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
