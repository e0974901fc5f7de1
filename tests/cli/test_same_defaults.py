"""Every study by its function and by its command, all defaults: the same tables and settings, and no warning."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from annotator_parts import labelled
from command_parts import COMMANDS, run
from command_parts import COMMANDS_OF_STUDIES as DECLARED_COMMANDS
from declared import call as find
from ir_measures import P
from public import PUBLIC
from small_field import write_field

import pt_reuse as ptr
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import usual_measures


@dataclass(frozen=True)
class Given:
    """A field, as files and as Python has them read."""

    options: dict[str, Any]
    folder: Path
    runs: ptr.RunSet
    qrels: ptr.Qrels

    def words(self, command):
        """Return the options, those without a name first that the command takes so."""
        bare, found = POSITIONAL.get(command), []
        for name, path in self.options.items():
            option = "--human" if (command, name) == ("audit", "qrels") else f"--{name}"
            found += [path] if name == bare else [option, path]
        return found

    @property
    def measures(self):
        """Return what a command takes where a function has no default, since it must be told."""
        return usual_measures(self.qrels.rel)

    @property
    def name(self):
        """Return what a command calls the judgments."""
        return "mine/graded" if "collection" in self.options else "qrels.txt"

    @property
    def scores(self):
        return ptr.score(self.runs, self.qrels, self.measures)

    @property
    def other(self):
        return ptr.read_qrels(self.folder / "other.qrels", rel=self.qrels.rel)

    @property
    def people(self):
        return [self.folder / "people" / name for name in ("ann.qrels", "bob.qrels")]

    @property
    def judges(self):
        return ptr.judging.read_judges(self.folder / "judges")


def by_topic(given):
    """Return what is unjudged on each run and topic, by the measure."""
    scores = ptr.score(given.runs, given.qrels, [ptr.Unjudged @ 10, ptr.Unjudged @ 100]).per_topic
    scores["cutoff"] = scores["measure"].str.partition("@")[2].astype(int)
    return scores.sort_values(["name", "qid", "cutoff"], ignore_index=True)[["name", "qid", "cutoff", "value"]].rename(
        columns={"value": "Unjudged"}
    )


#: command -> further words, {} being the folder of files; and what functions of the package say, by their names, those
#: of `audit` by the folder of the part, too
Python = Callable[[Given], Any]
STUDIES: dict[str, tuple[str, dict[str, Python]]] = {
    "score": ("", {"score": lambda f: f.scores}),
    "lou": ("", {"leave_out_uniques": lambda f: ptr.leave_out_uniques(f.runs, f.qrels, f.measures)}),
    "profile coverage": ("", {"coverage": lambda f: ptr.profile.coverage(f.runs, f.qrels)}),
    "compare": (
        "--other {}/other.qrels --judgment-names first,other",
        {
            "compare_judgments": lambda f: ptr.compare_judgments(
                f.runs, f.qrels, f.other, f.measures, names=("first", "other")
            )
        },
    ),
    "audit": (
        "--judges {}/judges",
        {
            "rankings: audit_labels": lambda f: ptr.audit_labels(f.runs, f.qrels, f.judges.labels, f.measures),
            "leaderboards: compare_leaderboards": lambda f: ptr.labels.compare_leaderboards(
                f.scores, f.judges.leaderboards
            ),
            "families: family_effect": lambda f: ptr.labels.family_effect(f.runs, f.qrels, f.judges.labels, f.measures),
            "significance: significance_fidelity": lambda f: ptr.labels.significance_fidelity(
                f.runs, f.qrels, f.judges.labels, f.measures
            ),
            "circularity: circularity": lambda f: ptr.labels.circularity(f.runs, f.qrels, f.judges.labels, f.measures),
            "holes: leave_out_uniques": lambda f: ptr.leave_out_uniques(
                f.runs, f.qrels, f.measures, fill=f.judges.labels
            ),
        },
    ),
    "profile discriminative-power": (
        "",
        {"discriminative_power": lambda f: ptr.profile.discriminative_power({f.name: f.scores})},
    ),
    # of a collection the judgments alone are read, unless pools are asked for
    "profile density": (
        "",
        {"density": lambda f: ptr.profile.density(f.qrels, runs=f.runs if "runs" in f.options else None)},
    ),
    # few topics of a small field are usable by default
    "profile plan-collection": (
        "--max-density 1 --min-relevant 0",
        {"plan_collection": lambda f: ptr.pools.plan_collection(f.runs, f.qrels, max_density=1.0, min_relevant=0)},
    ),
    "profile rank-intervals": (
        "",
        {"rank_intervals": lambda f: ptr.rank_intervals(ptr.score(f.runs, f.qrels, usual_measures(f.qrels.rel)))},
    ),
    "check-new-run": (
        "--new {}/new/input.new",
        {"check_new_run": lambda f: ptr.check_new_run(f.folder / "new" / "input.new", f.runs, f.qrels)},
    ),
    "judge-next": (
        "--new {}/new/input.new",
        {"judge_next": lambda f: ptr.judge_next(f.runs, f.qrels, new=f.folder / "new" / "input.new")},
    ),
    "profile saturation": (
        "",
        {
            "saturation": lambda f: ptr.profile.saturation(
                ptr.score(f.runs, f.qrels, usual_measures(f.qrels.rel, P @ 10))
            )
        },
    ),
    "profile minimum-ranks": ("", {"minimum_ranks": lambda f: ptr.pools.minimum_ranks(f.runs, f.qrels)}),
    "judge compare-strategies": ("", {"compare_strategies": lambda f: ptr.pools.compare_strategies(f.runs, f.qrels)}),
    "profile subcollections": (
        "--sources doc000,doc001,doc002",
        {
            "subcollections": lambda f: ptr.profile.subcollections(
                f.runs, f.qrels, f.measures, sources=["doc000", "doc001", "doc002"]
            )
        },
    ),
    "profile stability": ("", {"stability": lambda f: ptr.profile.stability({f.name: f.scores})}),
    "infer-pool": ("", {"infer_pool": lambda f: ptr.infer_pool(f.runs, f.qrels)}),
    "judge agreement": (
        "{}/people/ann.qrels {}/people/bob.qrels",
        {
            "annotator_agreement": lambda f: ptr.judging.annotator_agreement(
                {p.stem: ptr.read_qrels(p) for p in f.people}
            )
        },
    ),
    "judge pilot": (
        "{}/people/ann.qrels {}/people/bob.qrels",
        {
            "pilot_agreement": lambda f: ptr.judging.pilot_agreement(
                {p.stem: ptr.read_qrels(p).to_frame() for p in f.people}
            )
        },
    ),
    "judge times": (
        "{}/times.csv",
        {"label_times": lambda f: ptr.judging.label_times(pd.read_csv(f.folder / "times.csv", dtype=str))},
    ),
    "judge plan-labels": (
        "--judge {}/people/ann.qrels --width .2",
        {"plan_labels": lambda f: ptr.labels.plan_labels(f.people[0], width=0.2)},
    ),
    "pool": ("", {"pool.csv: depth_pool": lambda f: ptr.depth_pool(f.runs).to_frame()}),
    "unjudged": ("", {"by_topic.csv: score": by_topic}),
}
for declared in DECLARED_COMMANDS:
    if declared["function"] in ("check_new_run", "judge_next"):
        continue
    words = "--other {}/other.qrels" if "other" in declared["flags"] else ""
    function = partial(lambda name, f: find(name, f.runs, f.qrels, f.folder / "other.qrels"), declared["function"])
    STUDIES.setdefault(declared["command"], (words, {declared["function"]: function}))
#: command -> the option that it takes without its name
POSITIONAL = {
    **dict.fromkeys(
        (
            "score",
            "compare",
            "profile discriminative-power",
            "profile saturation",
            "profile minimum-ranks",
            "profile stability",
            "pool",
            "unjudged",
        ),
        "runs",
    ),
    "infer-pool": "collection",
}
#: what has no command, and what is no study
NO_COMMAND = {
    "label_distributions", "passage_positions", "rankings_by_annotator", "compare_labels", "leave_out_dynamic",
    "leave_out_type", "prediction_powered", "sensitivity", "check_runs",
}  # fmt: skip
#: files in and out; what they make is compared where they are tested
NO_STUDY = {
    "judge export",
    "judge import",
    "runs",
    "collections",
    "fetch",
    "verify",
    "demo",
    "report",
    "atlas",
}
FILES_IN_AND_OUT = {"export_tasks", "import_labels", "verify"}


def every_study() -> set[str]:
    """Return the names of the functions that return a result."""
    names = set()
    for place, function in PUBLIC.items():
        name = place.rpartition(".")[2]
        if inspect.isfunction(function):
            kind = inspect.unwrap(function).__globals__.get(str(inspect.signature(function).return_annotation))
            names |= {name} if isinstance(kind, type) and issubclass(kind, Result) else set()
    return names


def test_every_study_and_every_command_is_compared():
    compared = {call.rpartition(": ")[2] for _, calls in STUDIES.values() for call in calls}
    assert every_study() - compared == NO_COMMAND | FILES_IN_AND_OUT
    assert compared - every_study() == {"score", "depth_pool", "sensitivity_of_uniques"}
    assert set(COMMANDS) - set(STUDIES) == NO_STUDY


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_field(tmp_path_factory.mktemp("defaults"))
    labels = labelled(seed=2).assign(seconds=lambda rows: 5 + rows.index % 7)
    labels.to_csv(folder / "times.csv", index=False)
    return folder


@pytest.fixture(params=["files", "collection"])
def given(request, folder):
    """Return the field from files, and as a collection whose documents are relevant from label 2."""
    if request.param == "collection":
        dataset = ptr.register_collection(folder / "graded.toml")
        return Given({"collection": folder / "graded.toml"}, folder, dataset.get_runs(), dataset.get_judgments())
    options = {"runs": folder / "runs", "qrels": folder / "qrels.txt", "metadata": folder / "runs.csv"}
    runs = ptr.read_runs(folder / "runs", metadata=folder / "runs.csv")
    return Given(options, folder, runs, ptr.read_qrels(folder / "qrels.txt"))


@pytest.mark.parametrize("command", STUDIES)
@pytest.mark.usefixtures("no_pictures")
def test_the_command_finds_what_the_function_finds(command, given, tmp_path, capsys):
    further, calls = STUDIES[command]
    no_field = ("judge agreement", "judge pilot", "judge times", "judge plan-labels")
    field = [] if command in no_field else given.words(command)
    words = further.replace("{}", str(given.folder)).split()
    status, _, err = run(capsys, *command.split(), *field, *words, "--out", tmp_path / "out")
    assert status == 0, err
    assert "note:" not in err
    for call, function in calls.items():
        part, _, name = call.rpartition(": ")
        found, place = function(given), tmp_path / "out" / part
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
