"""The promises around the code: examples that run, README commands and documentation in step."""

from __future__ import annotations

import ast
import io
import runpy
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import P
from real_runs import read_real

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


def executed(code, space, pretty):
    """Return what a cell of a notebook prints, and its last value as text."""
    body, last = ast.parse(code).body, None
    if body and isinstance(body[-1], ast.Expr):
        last = ast.Expression(body.pop().value)
    with redirect_stdout(printed := io.StringIO()):
        exec(compile(ast.Module(body, []), "notebook", "exec"), space)
        value = eval(compile(last, "notebook", "eval"), space) if last else None
    return [text for text in (printed.getvalue(), pretty(value) if value is not None else "") if text]


@pytest.mark.parametrize("page", ["ten-minutes", "questions/fifty-labels"])
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_a_notebook_is_its_page_and_gives_the_outputs_it_keeps(page, tmp_path, request, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("nbclient", reason="nbclient is not installed")
    pretty = pytest.importorskip("IPython.lib.pretty", reason="IPython is not installed").pretty
    if page != "ten-minutes":
        request.getfixturevalue("deep_learning_2019")
    script = runpy.run_path(str(ROOT / "scripts" / "build_notebook.py"))
    kept, made = nbformat.read(script["NOTEBOOKS"][page], as_version=4), script["notebook"](page)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in made.cells]
    monkeypatch.chdir(tmp_path)
    space, n_outputs = {}, 0
    # a kernel takes longer to start than all cells together
    for cell in (cell for cell in kept.cells if cell.cell_type == "code"):
        said = [str(output.get("text") or output.data["text/plain"]) for output in cell.outputs]
        assert executed(cell.source, space, pretty)[: len(said)] == said
        n_outputs += len(said)
    assert n_outputs >= 6


@pytest.fixture
def deep_learning_2019(data, tmp_path, monkeypatch):
    """Put its judgments and runs where its name is looked for."""
    file = data / "dl19-passages" / "qrels.gz"
    if not file.is_file():
        pytest.skip(f"the test data has no file {file}")
    (tmp_path / "trec-2019/deep/passages").mkdir(parents=True)
    shutil.copyfile(file, tmp_path / "trec-2019/deep/passages" / "qrels.txt.gz")
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.setenv("PT_REUSE_DATA", str(data))


@pytest.fixture(scope="module")
def fields(data, trec8):
    """Return runs and judgments of the fields of the pages by name; TREC-8 is cut to a depth-10 pool."""
    found = {"TREC-8": (trec8.runs, trec8.qrels.restrict(ptr.depth_pool(trec8.runs, depth=10)))}
    for year in ("2019", "2021"):
        folder = data / f"dl{year[2:]}-passages"
        if not folder.is_dir():
            pytest.skip(f"the test data has no folder {folder.name}")
        runs = read_real(folder / "inputs", teams=folder / "runs-pids", pooled=True, pool_order="file", pool_depth=10)
        found[year] = (runs, ptr.read_qrels(folder / "qrels.gz", rel=2))
    return found


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
    runs, judgments = fields["2021"]
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
