"""Every study by its function and by its command, all defaults: the same tables and settings, and no warning."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_parts import COMMANDS, COMMANDS_OF_STUDIES, run
from declared import STUDIES
from small_field import write_field

import pt_reuse as ptr
from pt_reuse.scoring.caveats import usual_measures
from pt_reuse.study import study_of


@dataclass(frozen=True)
class Given:
    """A field, as files and as Python has them read."""

    options: dict[str, Any]
    folder: Path
    runs: ptr.RunSet
    qrels: ptr.Qrels

    def words(self, command):
        """Return the options that name it."""
        named = {"qrels": "human"} if command == "audit" else {}
        return [word for name, path in self.options.items() for word in (f"--{named.get(name, name)}", path)]

    @property
    def name(self):
        """Return what a command calls the judgments."""
        return "mine/graded" if "collection" in self.options else "qrels.txt"

    @property
    def measures(self):
        return usual_measures(self.qrels.rel)

    @property
    def scores(self):
        return ptr.score(self.runs, self.qrels, self.measures)

    @property
    def labels(self):
        return ptr.judging.read_judges(self.folder / "judges").labels

    def people(self, read):
        return {name: read(self.folder / "people" / f"{name}.qrels") for name in ("ann", "bob")}

    def answers(self):
        return ptr.read_answers(self.folder / "items.csv", metadata=pd.read_csv(self.folder / "items-runs.csv"))


ITEMS = "--answers {}/items.csv --metadata {}/items-runs.csv"
#: what a study needs beside runs and judgments -> words of its command, {} being the folder, and arguments
MORE = {
    "check_new_run": ("--new {}/new/input.new", lambda f: {"new": f.folder / "new" / "input.new"}),
    "judge_next": ("--new {}/new/input.new", lambda f: {"new": f.folder / "new" / "input.new"}),
    "compare_judgments": (
        "--other {}/other.qrels --judgment-names first,other",
        lambda f: {"names": ("first", "other")},
    ),
    # of a collection the judgments alone are read, unless pools are asked for
    "density": ("", lambda f: {"runs": f.runs if "runs" in f.options else None}),
    # few topics of a small field are usable by default
    "plan_collection": (
        "--max-density 1 --min-relevant 0 --depths 5",
        lambda f: {"max_density": 1.0, "min_relevant": 0, "depths": [5]},
    ),
    "leave_out_items": (ITEMS, lambda f: {"answers": f.answers()}),
    "bank_growth": (ITEMS, lambda f: {"answers": f.answers()}),
    "check_answers": (
        f"{ITEMS} --new {{}}/new-items.csv",
        lambda f: {"answers": f.answers(), "new": f.folder / "new-items.csv"},
    ),
    "subcollections": ("--sources doc000,doc001,doc002", lambda f: {"sources": ["doc000", "doc001", "doc002"]}),
}


def of_study(declared):
    """Return the words of a command that is made of a declaration, and what its function says."""
    name, words = declared.name, "--other {}/other.qrels " if "other" in declared.flags else ""
    more, arguments = MORE.get(name, ("", lambda f: {}))

    def find(f):
        study, other = study_of(STUDIES[name]), ptr.read_qrels(f.folder / "other.qrels", rel=f.qrels.rel)
        data = {"runs": f.runs, "qrels": f.qrels, "qrels_a": f.qrels, "qrels_b": other, "other": other}
        if "scores" in study.parameters:
            scores = ptr.score(f.runs, f.qrels, (study.measures or usual_measures)(f.qrels.rel))
            data["scores"] = {f.name: scores} if declared.words.several else scores
        return STUDIES[name](**{part: data[part] for part in study.parameters if part in data} | arguments(f))

    return words + more, {name: find}


def by_topic(f):
    """Return what is unjudged on each run and topic, by the measure."""
    scores = ptr.score(f.runs, f.qrels, [ptr.Unjudged @ 10, ptr.Unjudged @ 100]).per_topic
    scores["cutoff"] = scores["measure"].str.partition("@")[2].astype(int)
    found = scores.sort_values(["name", "qid", "cutoff"], ignore_index=True)[["name", "qid", "cutoff", "value"]]
    return found.rename(columns={"value": "Unjudged"})


TWO = "{}/people/ann.qrels {}/people/bob.qrels"
#: command -> further words, and what functions say, by their names, those of `audit` by the folder of the part, too
CALLS = {declared.words.command: of_study(declared) for declared in COMMANDS_OF_STUDIES} | {
    "score": ("", {"score": lambda f: f.scores}),
    "infer-pool": ("", {"infer_pool": lambda f: ptr.infer_pool(f.runs, f.qrels)}),
    "pool": ("", {"pool.csv: depth_pool": lambda f: ptr.depth_pool(f.runs).to_frame()}),
    "unjudged": ("", {"by_topic.csv: score": by_topic}),
    "audit": (
        "--judges {}/judges",
        {
            "rankings: audit_labels": lambda f: ptr.audit_labels(f.runs, f.qrels, f.labels, f.measures),
            "leaderboards: compare_leaderboards": lambda f: ptr.labels.compare_leaderboards(
                f.scores, ptr.judging.read_judges(f.folder / "judges").leaderboards
            ),
            **{
                f"{part}: {name}": lambda f, name=name: STUDIES[name](f.runs, f.qrels, f.labels, f.measures)
                for part, name in (
                    ("families", "family_effect"),
                    ("significance", "significance_fidelity"),
                    ("circularity", "circularity"),
                )
            },
            "holes: leave_out_uniques": lambda f: ptr.leave_out_uniques(f.runs, f.qrels, f.measures, fill=f.labels),
        },
    ),
    "judge agreement": (
        TWO,
        {"annotator_agreement": lambda f: ptr.judging.annotator_agreement(f.people(ptr.read_qrels))},
    ),
    "judge pilot": (
        TWO,
        {"pilot_agreement": lambda f: ptr.judging.pilot_agreement(f.people(lambda p: ptr.read_qrels(p).to_frame()))},
    ),
    "judge plan-labels": (
        "--judge {}/people/ann.qrels --width .2",
        {"plan_labels": lambda f: ptr.labels.plan_labels(f.folder / "people" / "ann.qrels", width=0.2)},
    ),
}
#: what has no study: files in and out, tested where they are made
NO_STUDY = {
    "judge export", "judge import", "runs", "collections", "fetch", "verify", "demo", "report", "atlas", "leaderboard",
}  # fmt: skip
NO_FIELD = ("judge agreement", "judge pilot", "judge plan-labels", "items lou", "items growth", "items check")


def test_every_command_is_compared():
    assert set(COMMANDS) - set(CALLS) == NO_STUDY


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_field(tmp_path_factory.mktemp("defaults"))
    items = pd.DataFrame(
        {"qid": list("112345"), "item": list("abcdef"), "x": [1, 0, 1, 0.5, 0, 1], "y": [0.5, 1, 0, 1, 1, 0]}
    )
    items.to_csv(folder / "items.csv", index=False)
    pd.DataFrame({"name": ["x", "y"], "team": ["one", "two"]}).to_csv(folder / "items-runs.csv", index=False)
    items[["qid", "item"]].assign(mine=1).to_csv(folder / "new-items.csv", index=False)
    return folder


def given(kind, folder):
    """Return the field from files, or as a collection whose documents are relevant from label 2."""
    if kind == "collection":
        dataset = ptr.register_collection(folder / "graded.toml")
        return Given({"collection": folder / "graded.toml"}, folder, dataset.get_runs(), dataset.get_judgments())
    options = {"runs": folder / "runs", "qrels": folder / "qrels.txt", "metadata": folder / "runs.csv"}
    runs = ptr.read_runs(folder / "runs", metadata=folder / "runs.csv")
    return Given(options, folder, runs, ptr.read_qrels(folder / "qrels.txt"))


#: one door reads files for all commands
FROM_FILES = ("lou", "profile rank-intervals")


@pytest.mark.parametrize(
    ("command", "kind"), [*((name, "collection") for name in CALLS), *((name, "files") for name in FROM_FILES)]
)
@pytest.mark.usefixtures("no_pictures")
def test_the_command_finds_what_the_function_finds(command, kind, folder, tmp_path, capsys):
    (further, calls), field_of = CALLS[command], given(kind, folder)
    field = [] if command in NO_FIELD else field_of.words(command)
    words = further.replace("{}", str(folder)).split()
    status, _, err = run(capsys, *command.split(), *field, *words, "--out", tmp_path / "out")
    assert status == 0, err
    assert "note:" not in err
    for call, function in calls.items():
        part, _, name = call.rpartition(": ")
        found, place = function(field_of), tmp_path / "out" / part
        if part.endswith(".csv"):
            there = pd.read_csv(place, dtype={"qid": str})[found.columns]
            pd.testing.assert_frame_equal(there, found, check_dtype=False, check_exact=name != "score")
            continue
        for path in found.save(tmp_path / name):
            there, expected = (place / path.name).read_bytes(), path.read_bytes()
            if path.name == "result.json":
                # a command writes pictures beside it
                there = {key: part for key, part in json.loads(there).items() if key != "beside"}
                expected = json.loads(expected)
            assert there == expected, path.name
