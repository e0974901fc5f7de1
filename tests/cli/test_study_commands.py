"""Commands that are made of declarations, with options of every kind, compared with the functions."""

from __future__ import annotations

from functools import partial

import pytest
from command_parts import run
from same import assert_same

import pt_reuse as ptr
from pt_reuse.collections.provider import DemoDataset
from pt_reuse.result import first_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.*no pair can agree:pt_reuse.ReuseWarning"),
    pytest.mark.filterwarnings("ignore:.*for these judgments they are so from label 2:pt_reuse.ReuseWarning"),
    pytest.mark.filterwarnings("ignore:.*to be split without a source:pt_reuse.ReuseWarning"),
]


class Files:
    """A field as files, and as Python reads these."""

    def __init__(self, folder):
        self.folder = folder
        self.runs = ptr.read_runs(folder / "runs", metadata=folder / "runs.csv")
        self.qrels, self.all = (ptr.read_qrels(folder / name) for name in ("qrels.txt", "all.txt"))

    def scores(self, *measures, both=True, complete=True):
        judged = {"qrels.txt": self.qrels, "all.txt": self.all}
        found = {name: ptr.score(self.runs, each, measures, complete=complete) for name, each in judged.items()}
        return found if both else {"qrels.txt": found["qrels.txt"]}


@pytest.fixture
def files(files, field):
    field.all_qrels.write(files / "all.txt")
    field.all_qrels.threshold(1).write(files / "lenient.qrels")
    return Files(files)


NAMED = "--runs {}/runs --qrels {}/qrels.txt --metadata {}/runs.csv "
BARE = "{}/runs --qrels {}/qrels.txt --metadata {}/runs.csv "
#: words of the command -> what the function says, and the pictures
CALLS = {
    f"by-type {NAMED}--depth 4 --measures P(rel=2)@5,nDCG@5 --pools lexical --unit run --splits 3 --gold judgments "
    "--rel 2 --seed 4 --resamples 5 --confidence .9 --jobs 1 --contributors all": (
        lambda f: ptr.by_type(
            f.runs, f.qrels.with_rel(2), ["P(rel=2)@5", "nDCG@5"], pools="lexical", unit="run", splits=3,
            gold="judgments", depth=4, contributors="all", seed=4, resamples=5, confidence=0.9,
        ),
        "tau_b-P(rel=2)@5 tau_b-nDCG@5 scores-P(rel=2)@5 scores-nDCG@5",
    ),
    "profile density --rounds {}/qrels.txt,{}/all.txt": (
        lambda f: ptr.profile.density({"qrels.txt": f.qrels, "all.txt": f.all}), "density",
    ),
    f"profile stability {BARE}--other {{}}/all.txt --measures P@5 --pairs 50 --sizes 2 --no-replace --resamples 4 "
    "--confidence .5 --bins 5 --bin-width .05 --seed 3 --rate .2 --jobs 2 --own-topics": (
        lambda f: ptr.profile.stability(
            f.scores("P@5", complete=False), sizes=2, pairs=50, replace=False, resamples=4, confidence=0.5, bins=5,
            bin_width=0.05, seed=3,
        ),
        "stability-1-P@5 stability-2-P@5",
    ),
    f"judge compare-strategies {NAMED}--depth 5 --strategies mtf,random --budgets .5,.2 --measures AP,Bpref --seed 3 "
    "--rel 2 --leave-out team --repeats 2": (
        lambda f: ptr.pools.compare_strategies(
            f.runs, f.qrels, ["mtf", "random"], budgets=[0.2, 0.5], measures=["AP", "Bpref"], depth=5, repeats=2,
            seed=3, rel=2, leave_out="team",
        ),
        "relevant tau_b-AP tau_b-Bpref tau_ap_b-AP tau_ap_b-Bpref max_drop-AP max_drop-Bpref",
    ),
    f"profile subcollections {NAMED}--sources doc000,doc001 --measures P@5 --how mixed --shares 0,.5 --repeats 2 "
    "--seed 3 --alpha .2 --relevant all --resamples 4 --confidence .9 --test randomisation "
    "--correction holm --jobs 1 --sizes 4 --rel 1": (
        lambda f: ptr.profile.subcollections(
            f.runs, f.qrels, "P@5", sources=["doc000", "doc001"], how="mixed", shares=[0, 0.5], sizes=4,
            repeats=2, seed=3, alpha=0.2, test="randomisation", correction="holm", resamples=4,
            confidence=0.9,
        ),
        "agree-P@5 active-P@5 passive-P@5 tau_b-P@5",
    ),
    f"lou {NAMED}--depth 5 --measures nDCG@10 --fill {{}}/lenient.qrels --judge-rel 1 --resamples 20": (
        lambda f: ptr.leave_out_uniques(
            f.runs, f.qrels, "nDCG@10", depth=5, fill={"lenient": f.folder / "lenient.qrels"}, judge_rel=1,
            resamples=20,
        ),
        "scores-nDCG@10 drops-nDCG@10 uniques fill-nDCG@10",
    ),
    "compare --collection demo --qrels demo:complete --other demo --measures AP": (
        lambda f: ptr.compare_judgments(
            DemoDataset().get_runs(), DemoDataset().get_judgments("complete"), DemoDataset().get_judgments(), "AP",
            names=("demo:complete", "demo"),
        ),
        "scores-AP topics-AP remainder relevant runs",
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", CALLS)
def test_it_writes_and_prints_what_the_function_finds(words, files, capsys):
    find, pictures = CALLS[words]
    out = files.folder / "out"
    status, printed, err = run(capsys, *words.replace("{}", str(files.folder)).split(), "--out", out)
    assert status == 0, err
    found = find(files)
    assert_same(ptr.read_result(out), found)
    assert {path.stem for path in out.glob("*.png")} == set(pictures.split())
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in out.glob("*.png"))
    assert all(line in printed for line in first_of(found.answers()))


def test_rounds_leave_no_room_for_other_judgments(files, capsys):
    words = "--rounds {}/qrels.txt --qrels {}/all.txt".replace("{}", str(files.folder))
    status, _, err = run(capsys, "profile density", *words.split())
    assert status == 2
    assert "--rounds" in err


TABLE = "Rank,Model,QA,Search,News,Code\n1,large,.62,.71,.8,.7\n2,base,.49,.57,,.6\n3,small,.5,.53,.4,.55\n"
TASKS = ["QA", "Search", "News", "Code"]


@pytest.mark.parametrize("name", ["rank-intervals", "saturation", "stability", "discriminative-power"])
def test_studies_of_scores_take_a_file_of_scores(name, tmp_path, capsys):
    (tmp_path / "models.csv").write_text(TABLE)
    words = [f"profile {name}", "--scores", tmp_path / "models.csv"]
    call = partial(run, capsys, *words[:1])
    status, _, err = call(*words[1:])
    assert status == 2
    assert "--tasks" in err
    status, _, err = call(*words[1:], "--tasks", ",".join(TASKS))
    assert status == 2
    assert "--missing-scores drop_tasks" in " ".join(err.split())
    small = ["--sizes", "1", "--pairs", "5"] if name == "stability" else []
    given = [*words[1:], "--tasks", ",".join(TASKS), "--missing-scores", "drop_tasks", *small]
    status, _, err = call(*given, "--measures", "score", "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    scores = ptr.read_leaderboard(tmp_path / "models.csv", tasks=TASKS, missing="drop_tasks")
    function = name.replace("-", "_")
    more = {"sizes": [1], "pairs": 5} if small else {}
    expected = getattr(ptr if function == "rank_intervals" else ptr.profile, function)(scores, **more)
    assert_same(ptr.read_result(tmp_path / "out"), expected)


def test_scores_leave_no_room_for_runs_and_judgments(files, capsys):
    (files.folder / "models.csv").write_text(TABLE.replace(",,", ",.1,"))
    given = ["--scores", files.folder / "models.csv", "--tasks", "QA,Search"]
    for name, beside in (
        ("rank-intervals", [files.folder / "runs"]),
        ("rank-intervals", ["--qrels", files.folder / "qrels.txt"]),
        ("rank-intervals", ["--measures", "AP"]),
        ("stability", ["--other", files.folder / "all.txt"]),
        ("stability", ["--own-topics"]),
        ("rank-intervals", ["--metadata", files.folder / "runs.csv"]),
    ):
        status, printed, err = run(capsys, f"profile {name}", *given, *beside)
        assert (status, printed) == (2, "")
        assert err
    field = [files.folder / "runs", "--qrels", files.folder / "qrels.txt"]
    for idle in (["--tasks", "QA"], ["--missing-scores", "zero"]):
        status, printed, err = run(capsys, "profile rank-intervals", *field, *idle)
        assert (status, printed) == (2, "")
        assert idle[0] in err


def test_new_runs_are_read_as_the_options_say(files, capsys):
    words = f"check-new-run {BARE}--new {{}}/again --names file --measures P@5 --depth 10".format(*[files.folder] * 4)
    first = sorted((files.folder / "runs").iterdir())[0]
    (files.folder / "again").mkdir()
    (files.folder / "again" / "input.another").write_bytes(first.read_bytes())
    status, out, err = run(capsys, *words.split())
    assert (status, "another" in out) == (0, True), err


def test_judges_that_cannot_fill_are_refused(files, capsys):
    labels, words = files.folder / "lenient.qrels", f"lou {NAMED}--depth 5".replace("{}", str(files.folder)).split()
    (files.folder / "board.eval").write_text("lex1a all nDCG@10 0.5\n")
    wrong = {
        "--holes must be one of 'uniques', 'unjudged'": ["--holes", "none", "--fill", labels],
        "a leaderboard has no labels": ["--fill", files.folder / "board.eval"],
        "two files of one name": ["--fill", labels, labels],
    }
    for problem, options in wrong.items():
        status, _, err = run(capsys, *words, *options)
        assert (status, problem in err) == (2, True), err
