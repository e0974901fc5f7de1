"""The promises around the code: examples that run, README commands and documentation in step."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import sys
from pathlib import Path

import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import P, nDCG

import pt_reuse as ptr

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example, capsys, monkeypatch, tmp_path):
    if "pisa" in example.read_text():
        pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    monkeypatch.setattr(sys, "argv", [str(example)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert len(capsys.readouterr().out) > 200
    assert 20 <= len(example.read_text().splitlines()) <= 85


@pytest.mark.parametrize("page", ["ten-minutes", "questions/fifty-labels"])
def test_a_notebook_is_its_page_and_gives_the_outputs_it_keeps(page, tmp_path, request):
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    if page != "ten-minutes":
        request.getfixturevalue("datasets")
    script = runpy.run_path(str(ROOT / "scripts" / "build_notebook.py"))
    kept, run = nbformat.read(script["NOTEBOOKS"][page], as_version=4), script["notebook"](page)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in run.cells]
    client.NotebookClient(run, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()

    def texts(book):
        outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
        pictured = [output for output in outputs if "image/png" in output.get("data", {})]
        return [str(output.get("text") or output.data["text/plain"]) for output in outputs if output not in pictured]

    assert len(texts(kept)) >= 6
    assert texts(run) == texts(kept)


@pytest.fixture(scope="module")
def datasets(data, tmp_path_factory):
    """Return TREC-8 and Deep Learning 2019 and 2021 by name, with runs and judgments of the test data."""
    home = tmp_path_factory.mktemp("home")
    judged = {
        "trec-8/adhoc": "trec8-adhoc/trec8.qrels.gz",
        "trec-2019/deep/passages": "dl19-passages/qrels.gz",
        "trec-2021/deep/passages": "dl21-passages/qrels.gz",
    }
    for name, file in judged.items():
        if not (data / file).is_file():
            pytest.skip(f"the test data has no file {file}")
        (home / name).mkdir(parents=True)
        shutil.copyfile(data / file, home / name / "qrels.txt.gz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PT_REUSE_HOME", str(home))
        patch.setenv("PT_REUSE_DATA", str(data))
        yield [pt.get_dataset(f"reuse:{name}") for name in ("trec-8/adhoc", "dl19", "dl21")]


@pytest.fixture(scope="module")
def fields(datasets):
    """Return runs, judgments and options of the fields of the pages: the last is TREC-8 cut to a depth-10 pool."""
    found = [(dataset.get_runs(), dataset.get_judgments(), {}) for dataset in datasets]
    runs, judgments, _ = found[0]
    return [*found, (runs, judgments.restrict(ptr.depth_pool(runs, depth=10)), {"depth": 10})]


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_shows_what_its_first_block_gives():
    assert len(README.splitlines()) <= 80
    first, table = README.split("```\n\n|", 1)
    statements = ast.parse(first.split("```python\n")[1]).body
    space: dict[str, object] = {}
    exec(compile(ast.Module(statements[:-1], []), "README.md", "exec"), space)
    found = eval(compile(ast.Expression(statements[-1].value), "README.md", "eval"), space)
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.split("\n\n")[0].splitlines()]
    shown = pd.DataFrame(rows[2:], columns=rows[0]).set_index("name").astype(float)
    # the order of pt.Experiment's columns changes from process to process
    pd.testing.assert_frame_equal(found.set_index("name")[list(shown)], shown)
    assert len(found.columns) == len(rows[0])


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_the_figures_of_the_readme_are_what_its_call_gives(fields):
    runs, judgments, _ = fields[2]
    lou = ptr.leave_out_uniques(runs, judgments, ["nDCG@10"])
    half, most = -lou.by_run["change_pct"].median(), lou.summary["largest_loss_pct"][0]
    assert f"half of the runs lose less than {half:.1f}% of their `nDCG@10`, one loses {most:.1f}%" in " ".join(
        README.split()
    )
    demo = pt.get_dataset("reuse:demo")
    true = pt.Evaluate(
        demo.get_dense_retriever()(demo.get_topics()), demo.get_judgments("complete").to_frame(), [P @ 10]
    )
    assert f"(by complete judgments: {true['P@10']:.3f})".replace("0.", ".") in README


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_the_errors_of_guesses_at_the_unjudged_are_what_the_pages_say(fields):
    """Each team left out: the error of its runs' scores with 0 for what is unjudged, without it, and corrected."""
    found = {}
    for name, rel, (runs, judgments, _) in zip(("2019", "2021", "TREC-8"), (2, 2, 1), fields[1:], strict=True):
        measures = [P(rel=rel) @ 10, P(rel=rel, judged_only=True) @ 10, nDCG @ 10, nDCG(judged_only=True) @ 10]
        lou = ptr.leave_out_uniques(runs, judgments, measures, depth=10, remove="judged")
        pooled = lou.by_run[lou.by_run["contributed"]]
        true, reduced = (
            pooled.pivot_table(index=["team", "name"], columns="measure", values=of)
            for of in ("score", "reduced_score")
        )
        plain, condensed, gains, condensed_gains = map(str, measures)
        loss = true[gains] - reduced[gains]
        of_team = loss.groupby("team").mean()
        others = (of_team.sum() - of_team) / (len(of_team) - 1)
        errors = [
            *(true[of] - reduced[to] for of, to in ((plain, plain), (plain, condensed), (gains, gains))),
            true[gains] - reduced[condensed_gains],
            loss - loss.index.get_level_values("team").map(others).to_numpy(),
        ]
        means = [f"{error.abs().groupby('team').mean().mean():.3f}".removeprefix("0") for error in errors]
        found[name] = (means, len(of_team))
    page = (ROOT / "docs" / "questions" / "unjudged.rst").read_text(encoding="utf-8")
    rows = re.findall(r"^   \* - .*?(\S+)(?: cut to depth 10)?, (\d+) teams\n((?:     - \S+\n)+)", page, re.MULTILINE)
    assert {name: (cells.split()[1::2], int(teams)) for name, teams, cells in rows} == {
        name: (means[:4], teams) for name, (means, teams) in found.items()
    }
    fair = " ".join((ROOT / "docs" / "questions" / "fair.rst").read_text(encoding="utf-8").split())
    (new, _), (old, _), (cut, _) = found["2021"], found["2019"], found["TREC-8"]
    assert f"off by {new[4]} on Deep Learning 2021 ({new[2]} uncorrected), {old[4]} on 2019 ({old[2]})" in fair
    assert f"and {cut[4]} on TREC-8 cut to depth 10 ({cut[2]})" in fair
