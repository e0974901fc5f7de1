"""What goes wrong on the command line: status 2, in words of the command line, and nothing of Python."""

from __future__ import annotations

import pytest
from command_parts import run

#: faults that show only when the runs have been read, and described
AFTER_READING = ("contributor", "high label", "no run is pooled", "other topics")


@pytest.fixture(scope="module")
def files(tmp_path_factory, field):
    """Return a folder with runs, judgments and labels, whole ones and broken ones."""
    folder = tmp_path_factory.mktemp("files")
    field.runs.write(folder / "runs", compress=False)
    field.qrels.write(folder / "qrels.txt")
    table = field.runs.run_table
    pairs = zip(table["name"], table["team"], strict=True)
    (folder / "teams").write_text("".join(f"{name} {team}\n" for name, team in pairs))
    (folder / "by-file").write_text("".join(f"input.{name} team\n" for name in table["name"]))
    (folder / "few").write_text(f"{table['name'][0]} solo\n")
    table.to_csv(folder / "metadata.csv", index=False)
    table.assign(pooled="no").to_csv(folder / "none.csv", index=False)
    table.assign(pooled="perhaps").to_csv(folder / "perhaps.csv", index=False)
    (folder / "header.csv").write_text("name,team\n")
    (folder / "labelled.toml").write_text(
        f'name = "labelled"\n[runs]\nfolder = "{folder}/runs"\nmetadata = "{folder}/metadata.csv"\n'
    )
    broken = {"short": "1 Q0 d1 1 2.0\n", "other": "x99 Q0 d1 1 2.0 R\n", "one": "1 Q0 d1 1 2.0 R\n"}
    for name, text in broken.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "high.txt").write_text("1 0 d1 2000\n")
    (folder / "broken.toml").write_text("name = ")
    (folder / "bare.toml").write_text('name = "bare"\ntitle = "Bare"\n')
    (folder / "other.toml").write_text(
        'collection = "other"\ntitle = "Other"\n[[figure]]\nwhat = "it"\nkind = "judgments"\nsource = "nobody"\n'
        "values = { topics = 5 }\n"
    )
    return folder


FIELD = "--runs {f}/runs --qrels {f}/qrels.txt"
LOU = f"lou {FIELD} --teams {{f}}/teams --depth 5"
#: what is wrong -> how the command line is called, {f} being the folder of files
FAULTS = {
    "teams by file name": f"lou {FIELD} --teams {{f}}/by-file",
    "no run is pooled": f"{LOU} --metadata {{f}}/none.csv",
    "pooled is perhaps": "runs {f}/runs --metadata {f}/perhaps.csv",
    "metadata of no run beside a collection": "runs --collection {f}/labelled.toml --metadata {f}/header.csv",
    "contributor": f"{LOU} --contributors lex1a,nobody",
    "qrels as runs": "runs {f}/qrels.txt",
    "runs as qrels": f"{LOU} --qrels {{f}}/one",
    "short line": "runs {f}/short",
    "other topics": "lou --runs {f}/other --qrels {f}/qrels.txt --by run",
    "high label": "lou --runs {f}/one --qrels {f}/high.txt --by run --measures nDCG(dcg='exp-log2')@5",
    "unknown collection of infer-pool": "infer-pool trec-9/adhoc",
    "no definition": "lou --collection {f}/nowhere.toml",
    "broken definition": "lou --collection {f}/broken.toml",
    "definition without runs": "runs --collection {f}/bare.toml",
    "catalogue without files": "runs --collection trec-8/adhoc --no-download",
    "no figures": "verify trec-7/adhoc",
    "figures of another": "verify trec-8/adhoc --figures {f}/other.toml",
    "figures of nothing": "verify other --figures {f}/other.toml",
}


#: how the command line is called -> what is said of the call; the library's own words differ by its version
CALLS = {
    "": "the following arguments are required: COMMAND",
    "lous": "there is no command 'lous'. Did you mean 'lou'?",
    "lo": "there is no command 'lo'. Did you mean 'lou'?",
    "judge exprt": "there is no command 'exprt'. Did you mean 'export'?",
    "lou x --qrels x --dpeth 3": "there is no option --dpeth. Did you mean '--depth'?",
    "audit --jugdes x": "there is no option --jugdes. Did you mean '--judges'?",
    "lou --runs .": "the following arguments are required: --qrels (or --collection)",
    "lou --runs x": "no such file, and no collection of this name. `pt-reuse collections` lists the names.",
    "lou --qrels x": "the following arguments are required: RUNS (or --collection)",
    "runs": "the following arguments are required: RUNS (or --collection)",
    "infer-pool": "the following arguments are required: RUNS, --qrels (or --collection)",
    "runs . --missing error": "--missing is for the runs of a collection. Give it with --collection.",
    "runs . --no-download": "--no-download is for the runs of a collection. Give it with --collection.",
    "infer-pool --runs x --qrels x --no-download": "--no-download is for the runs of a collection.",
    "check-new-run --collection demo --new {}/nothing --names file": "nothing: there is no such file",
    "runs --collection demo --names file": "--names is for run files alone: with --collection, runs bear the names on",
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_are_not_whole_or_contradict_themselves(call, capsys):
    status, out, err = run(capsys, *call.split())
    assert (status, out) == (2, "")
    assert err.startswith("pt-reuse")
    assert CALLS[call] in err


@pytest.mark.filterwarnings("default:.*though teams are given", "ignore:.*there is one run")
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_in_words_of_the_command_line(fault, files, capsys, messages):
    messages.hidden[str(files)] = "{f}"
    status, out, err = run(capsys, *FAULTS[fault].format(f=files).split())
    assert status == 2
    assert err.startswith("pt-reuse: ")
    assert out == "" or fault in AFTER_READING
    messages.told(err)
