"""What is not surely a score of a task asks; measures, Markdown and the output of tools are read."""

from __future__ import annotations

import json
import time

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, nDCG

import pt_reuse as ptr
from pt_reuse.data.task_columns import doubtful_names, is_measure_name

BOARD = pd.DataFrame(
    {"model": ["m1", "m2", "m3"], "QA": [0.52, 0.49, 0.31], "Search": [0.61, 0.57, 0.44], "News": [0.33, 0.35, 0.2]}
)
TASKS = ["QA", "Search", "News"]


def read(given, format=None, **options):
    return ptr.read_leaderboard(given, format, **options)


def write(path, text):
    path.write_bytes(text.encode())
    return path


def both(frame, path):
    """Yield a frame, and the file of it."""
    frame.to_csv(path, index=False)
    yield frame
    yield path


DOUBTFUL = """
    QA_std|QA ±|std|Std. dev.|StdDev|QA CI|ci95|stderr|n|N|#|#queries|num_samples|count|time|Latency (ms)|mrt|QPS|VRAM|
    GPU memory|params|Model Size (B)|seed|id|run_id|version|revision|p|p-value|pval|QA p-value|delta|Δ|Δ QA|QA Δ|QA +|
    QA -|diff|improvement|Avg|Avg.|AVG|avgScore|Mean|Average|Overall|Total|macro avg|Durchschnitt|Mittelwert|Gesamt|
    Moyenne|Médiane|Media|Promedio|Média|Gemiddelde|Rang|平均|平均分|总分|順位|標準偏差|среднее|QA low|QA_max|qastd|
    QA.1|QA vs BM25|SE|Zero-shot|Max Tokens|nDCG@10|map|score|epoch|kWh|Borda|win rate
"""
#: names of tasks, of MTEB and others
SURE = """
    TREC-COVID|TRECCOVID|Touche2020|Touche2020Retrieval.v3|NFCorpus|HotpotQA|HotpotQAHardNegatives|ClimateFEVER|FEVER|
    FiQA2018|SCIDOCS|SciFact|QuoraRetrieval|DBPedia|NQ|MSMARCO|ArguAna|CQADupstackAndroidRetrieval|STS12|MIRACL (de)|
    AskUbuntuDupQuestions|MindSmallReranking|Banking77Classification|AmazonCounterfactualClassification|SummEval|
    StackExchangeClusteringP2P|C++|C|C#|HellaSwag|MMLU|GSM8K|ARC-Challenge|WinoGrande|TruthfulQA|BRIGHT|QA nDCG@10|
    NQ-PL|1|51
"""


def test_names_that_are_in_doubt_and_names_of_tasks():
    names = [name.strip() for name in DOUBTFUL.split("|")]
    assert [name for name in names if doubtful_names([*TASKS, name]) != [name]] == []
    assert doubtful_names([name.strip() for name in SURE.split("|")]) == []


@pytest.mark.parametrize("name", ["QA_std", "平均", "nDCG@10"])
def test_both_arguments_answer(name, tmp_path, messages):
    # values that say nothing themselves
    frame = BOARD.assign(**{name: [0.14, 0.37, 0.21]})
    for given in both(frame, tmp_path / "board.csv"):
        error = messages.refused(lambda given=given: read(given), argument="path")
        said = str(error)
        assert all(word in said for word in (name, "tasks=", "ignore="))
        left = read(given, ignore=name)
        assert (left.topics, left.mean["score"].tolist()) == (TASKS, pytest.approx(BOARD[TASKS].mean(axis=1)))
        assert read(given, tasks=TASKS).topics == TASKS
        assert read(given, tasks=[name, "QA"]).topics == [name, "QA"]
        messages.refused(lambda given=given: read(given, tasks=name, ignore=name), argument="ignore")
    lines = frame.melt("model", var_name="task")
    messages.refused(lambda: read(lines), argument="path")
    assert read(lines, ignore=name).topics == TASKS
    assert read(lines, tasks=["News", "QA"]).topics == ["News", "QA"]


@pytest.mark.parametrize(("systems", "decimals", "place"), [(3, 3, 0), (6, 2, 2), (4, 16, 5), (20, 4, 2)])
def test_a_mean_is_found_whatever_it_is_called(systems, decimals, place, messages):
    rng = np.random.default_rng(systems + place)
    scores = pd.DataFrame(rng.uniform(0.1, 0.9, (systems, 5)).round(decimals), columns=list("ABCDE"))
    frame = scores.assign(model=[f"m{n}" for n in range(systems)])
    assert len(read(frame).topics) == 5
    for name, of in (("Zzz", list("ABCDE")), ("Part", list("ABCDE")[place:] if place < 4 else list("ABCDE")[:place])):
        wider = frame.copy()
        wider.insert(place, name, scores[of].mean(axis=1).round(decimals))
        assert f"'{name}'" in str(messages.refused(lambda wider=wider: read(wider), argument="path"))
        assert read(wider, ignore=name).topics == list("ABCDE")


def test_whole_numbers_beside_decimals_ask(messages):
    for values in ([1, 2, 3], [42, 42, 42], [110, 335, 7000]):
        frame = BOARD.assign(Extra=values)
        messages.refused(lambda frame=frame: read(frame), argument="path")
        per_cent = frame.assign(**{task: 100 * BOARD[task] + 0.25 for task in TASKS})
        messages.refused(lambda per_cent=per_cent: read(per_cent), argument="path")
        assert read(per_cent, ignore="Extra").topics == TASKS
    # shares of one topic, as R writes them
    assert read(BOARD.assign(Extra=[0, 1, 0])).topics == [*TASKS, "Extra"]


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_percentages_beside_fractions(tmp_path, messages):
    system, task, cell = (BOARD.copy() for _ in range(3))
    system.loc[1, TASKS] *= 100
    task["Search"] *= 100
    for frame in (system, task):
        for given in both(frame, tmp_path / "board.csv"):
            messages.refused(lambda given=given: read(given), argument="path")
            messages.warned(lambda given=given: read(given, tasks=TASKS), times=1)
        lines = frame.melt("model", var_name="task", value_name="score")
        messages.refused(lambda lines=lines: read(lines), argument="path")
    cell[TASKS] *= 100
    cell.loc[1, "Search"] /= 100
    messages.warned(lambda: read(cell), times=1)
    rows = "".join(
        f"{run} {qid} AP {value}\n" for run, qid, value in (("a", 1, 45), ("a", 2, 30), ("b", 1, 0.2), ("b", 2, 0.4))
    )
    messages.warned(lambda: read(write(tmp_path / "lines", f"{rows}a all AP 37.5\nb all AP 0.3\n")), times=1)
    # counts are no shares
    counts = rows.replace("AP", "NumRet").replace("0.2", "1").replace("0.4", "0")
    read(write(tmp_path / "lines", f"{counts}a all NumRet 75\nb all NumRet 1\n"))


def experiment_frames():
    import pyterrier as pt

    field = ptr.demo.simulate_field(seed=7, n_topics=6)
    topics = pd.DataFrame({"qid": field.runs.topics, "query": "q"})
    names = field.runs.names[:3]
    systems = [pt.Transformer.from_df(field.runs[name]) for name in names]
    asked = {"names": names, "eval_metrics": [AP, nDCG @ 10, "mrt"], "baseline": 0, "correction": "holm"}
    yield names, pt.Experiment(systems, topics, field.qrels.to_frame(), **asked)
    yield (
        ["x", "y", "z"],
        ptr.Experiment(systems, topics, field.qrels, **{**asked, "names": ["x", "y", "z"]}, field=field.runs, depth=5),
    )


@pytest.mark.filterwarnings("default")
def test_the_frame_of_an_experiment_gives_measures(tmp_path):
    for names, frame in experiment_frames():
        frame.to_csv(tmp_path / "index.csv")
        frame.to_csv(tmp_path / "plain.csv", index=False)
        (tmp_path / "page.md").write_text("text\n\n" + markdown(frame))
        for given in (frame, frame.set_index("name"), *(tmp_path / n for n in ("index.csv", "plain.csv", "page.md"))):
            found = read(given)
            assert (found.names, found.topics, found.measures) == (names, ["all"], ["AP", "nDCG@10"])
            for measure in found.measures:
                assert found.mean[measure].tolist() == pytest.approx(frame[measure].tolist())
    with pytest.raises(ptr.InputError):
        read(frame, format="table")


def markdown(frame):
    rows = [
        list(map(str, frame.columns)),
        ["---"] * frame.shape[1],
        *(map(str, row) for row in frame.to_numpy().tolist()),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_measures_and_tasks_mixed_ask(tmp_path, messages):
    path = write(tmp_path / "board.csv", "model,QA,Search,MRR@10\na,.1,.2,.3\nb,.2,.1,.4\n")
    messages.refused(lambda: read(path), argument="path")
    assert read(path, ignore="MRR@10").topics == ["QA", "Search"]
    assert messages.warned(lambda: read(path, format="measures"), times=1).measures == ["RR@10"]
    assert read(path, tasks=["QA", "MRR@10"]).topics == ["QA", "MRR@10"]


def test_names_of_measures():
    assert all(
        map(is_measure_name, ("AP", "map", "nDCG@10", "ndcg_cut_10", "P_5", "P.5", "err@20", "ndcg_at_10", "RR"))
    )
    assert all(
        map(is_measure_name, ("P(rel=2)@10", "RBP(p=0.8)", "Low(nDCG@3)", "alpha-nDCG@5", "iprec_at_recall_0.10"))
    )
    assert not any(map(is_measure_name, ("QA", "QA nDCG@10", "Mean(Task)", "AP +", "", "A", "ApTask", "R2D2")))


@pytest.mark.parametrize("tool", ["gdeval", "ndeval"])
def test_csv_of_trecs_tools(tool, tmp_path):
    columns = ["ndcg@20", "err@20"] if tool == "gdeval" else ["ERR-IA@5", "alpha-nDCG@5", "NRBP", "strec@5"]
    values = np.random.default_rng(1).random((2, 2, len(columns))).round(5)
    lines = [f"runid,topic,{','.join(columns)}"]
    for run, of_run in zip("AB", values, strict=True):
        rows = [*zip(("201", "202"), of_run.tolist(), strict=True), ("amean", of_run.mean(axis=0).tolist())]
        lines += [f"{run},{topic},{','.join(f'{value:.5f}' for value in row)}" for topic, row in rows]
    found = read(write(tmp_path / "tool.csv", "\n".join(lines) + "\n"))
    assert (found.names, found.topics) == (["A", "B"], ["201", "202"])
    assert found.values == pytest.approx(values.transpose(2, 1, 0))


def test_what_the_command_of_ir_measures_prints(tmp_path, messages):
    qrels = pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"], "relevance": [1, 0, 1]})
    run = pd.DataFrame({"query_id": ["1", "1", "2", "2"], "doc_id": list("abba"), "score": [2.0, 1.0, 2.0, 1.0]})
    metrics = list(ir_measures.iter_calc([AP, nDCG @ 10], qrels, run))
    means = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
    by_topic = "".join(f"{m.query_id}\t{m.measure}\t{m.value:.4f}\n" for m in metrics)
    of_all = "".join(f"all\t{measure}\t{value:.4f}\n" for measure, value in means.items())
    plain = "".join(f"{measure}\t{value:.4f}\n" for measure, value in means.items())
    by_line = "".join(json.dumps({**m._asdict(), "measure": str(m.measure)}) + "\n" for m in metrics)
    mean_lines = "".join(json.dumps({"measure": str(m), "value": v}) + "\n" for m, v in means.items())
    for text, topics in ((by_topic + of_all, 2), (by_topic, 2), (plain, 1), (by_line, 2), (mean_lines, 1)):
        found = read(write(tmp_path / "bm25", text))
        assert (found.names, len(found.topics), set(found.measures)) == (["bm25"], topics, {"AP", "nDCG@10"})
        assert found.mean["AP"].tolist() == pytest.approx([means[AP]], abs=1e-4)
    write(tmp_path / "bm25", plain)
    write(tmp_path / "dph", plain)
    assert read(tmp_path).names == ["bm25", "dph"]
    messages.refused(lambda: read(write(tmp_path / "bm25", "BM25 0.3\nDPH 0.2\n")), argument="path")


def test_tables_in_markdown(tmp_path, messages):
    rows = "| **Model** | A | B |\n|:--|--:|---|\n| [m1](u) | **0.5** | 0.6 |\n| m\\|2 | 0.4 | _0.7_ |\n"
    text = f"# Results\n\nBest in bold | see below\n\n{rows}\nEnd.\n"
    found = read(write(tmp_path / "page.md", text))
    assert (found.names, found.topics) == (["m1", "m|2"], ["A", "B"])
    assert found.of("score").T.to_numpy().tolist() == [[0.5, 0.6], [0.4, 0.7]]
    again = text.replace("End.", "| Model | A |\n|---|---|\n| x | 1 |")
    messages.refused(lambda: read(write(tmp_path / "page.md", again)), argument="path")
    short = "Model | A | B\n--- | --- | ---\nx | 1\n"
    messages.refused(lambda: read(write(tmp_path / "page.md", short)), argument="path")


def test_json_of_another_form_is_refused(tmp_path, messages):
    result = {"task_name": "NFCorpus", "scores": {"test": [{"main_score": 0.3, "hf_subset": "default"}]}}
    texts = '[{"model": "a", "QA": 1}]', '{"a": {"AP": 1}}', '{"task_name": "x", "scores": {"test": [', "[" * 60_000
    for text in (json.dumps(result, indent=1), *texts):
        path = write(tmp_path / "x.json", text)
        messages.refused(lambda path=path: read(path), argument="path")


def test_what_is_no_number(tmp_path, messages):
    for number in ("1_0", "١٢", "０.5", "1e308", "-1e101", "inf", "-Infinity", "0x1", "1,5", "1 0", "½"):
        table = f'model,A,B\nx,"{number}",0.5\ny,0.4,0.3\n'
        lines = f"x\t1\tAP\t{number.replace(' ', '_')}\ny\t1\tAP\t0.5\ny\tall\tAP\t0.5\n"
        for file, text in (("a.csv", table), ("b", lines)):
            path = write(tmp_path / file, text)
            messages.refused(lambda path=path: read(path), argument="path")


def test_means_do_not_overflow(messages):
    rows = [("A", "1", "AP", 1e308), ("A", "2", "AP", 1.7e308)]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    messages.refused(lambda: ptr.Scores.from_frame(frame), argument="frame")
    messages.refused(lambda: read(frame), argument="path")
    large = ptr.Scores.from_frame(frame.assign(value=[1e100, -1e100]))
    assert np.isfinite(large.mean_values).all()


def test_what_is_no_name_is_no_system(messages):
    for name in (None, float("nan"), pd.NA, "nan", "None", "<NA>", b"m1", ("m", 1), ["m"], {"m": 1}):
        names = np.array(["m1", None, "m3"], dtype=object)
        names[1] = name
        for frame in (BOARD.assign(model=names), pd.DataFrame({"model": names, "task": "QA", "score": 0.5})):
            messages.refused(lambda frame=frame: read(frame), argument="path")


def test_labels_and_runs_are_no_leaderboard(tmp_path, messages):
    texts = {
        "beir.tsv": "query-id\tcorpus-id\tscore\n1\td1\t1\n2\td2\t0\n",
        "qrels.csv": "qid,docno,label\n1,d1,1\n2,d2,0\n",
        "named.csv": "name,qid,docno,score\na,1,d1,1\nb,1,d2,.5\n",
        "qrels.txt": "1 0 d1 1\n2 0 d2 0\n",
        "three.txt": "1 d1 1\n2 d2 0\n",
        "run.txt": "1 Q0 d1 1 12.5 bm25\n2 Q0 d1 1 11.5 bm25\n",
        "labels.jsonl": '{"qid": "1", "docno": "d1", "label": 1}\n',
    }
    for name, text in texts.items():
        path = write(tmp_path / name, text)
        argument = "format" if name.endswith(".txt") else "path"
        messages.refused(lambda path=path: read(path, missing="leave_out"), argument=argument)
        if name.endswith(("csv", "tsv")):
            frame = pd.read_csv(path, sep="\t" if name.endswith("tsv") else ",")
            for transposed in (False, True):
                messages.refused(lambda f=frame, t=transposed: read(f, transposed=t), argument="path")
    for format in ("ir_measures", "tot", "rag4reports"):
        path = write(tmp_path / "qrels.txt", texts["qrels.txt"])
        messages.refused(lambda path=path, format=format: read(path, format), argument="path")
    messages.refused(lambda: read(tmp_path / "run.txt", "ranking"), argument="path")


def test_many_columns_and_brackets_take_no_time(tmp_path):
    n = 2_000
    names = [f"T{t}" for t in range(n)]
    values = np.random.default_rng(0).random((2, n)).round(4)
    rows = [",".join(["model", *names]), *(",".join([s, *map(str, row)]) for s, row in zip("ab", values, strict=True))]
    path = write(tmp_path / "wide.csv", "\n".join(rows))
    start = time.process_time()
    assert read(path).mean["score"].tolist() == pytest.approx(values.mean(axis=1))
    assert len(read(path, tasks=names[: n // 2]).topics) == len(read(path, ignore=names[n // 2 :]).topics) == n // 2
    for brackets in ("[" * 20_000, "[" * 10_000 + "](" * 5_000, "<a " * 7_000, "(" * 20_000, "](" * 10_000):
        for text in (f"model,A\n{brackets},.1\n", f"model,{brackets}\nx,.1\n", f"x 1 {brackets.strip()} .1\n"):
            outcome(write(tmp_path / "brackets.csv", text))
    assert time.process_time() - start < 5


def mutants(seed):
    """Yield frames that are mutants of a board, or files of it in several forms, and the right scores if any."""
    rng = np.random.default_rng(seed)
    n, tasks = int(rng.integers(2, 6)), [f"T{t}q" for t in range(int(rng.integers(2, 7)))]
    systems = [f"s{s}" for s in range(n)]
    right = pd.DataFrame(rng.uniform(0.05, 0.95, (n, len(tasks))).round(int(rng.integers(3, 7))), systems, tasks)
    frame = right.rename_axis("model").reset_index().astype(object)
    kind = ["none", "cell", "header", "column", "row", "scale", "name"][seed % 7]
    s, t = int(rng.integers(n)), tasks[int(rng.integers(len(tasks)))]
    if kind == "cell":
        frame.loc[s, t] = rng.choice(
            ["x", "0,5", "1_0", "٣", "inf", "1e200", "", "NaN", "0.5 ± 0.1", "[0.5]", "*0.5*", "--"]
        )
    if kind == "header":
        frame = frame.rename(
            columns={t: str(rng.choice([*tasks, "", "Mean", "std", "AP", "all", "id", "model", "平均"]))}
        )
    if kind == "column":
        extra = {"rank": np.arange(1, n + 1), "mean": right.mean(axis=1).to_numpy().round(6), "text": ["x"] * n}
        extra |= {"size": rng.integers(100, 9000, n), "small": rng.random(n).round(3) / 100}
        what = str(rng.choice(list(extra)))
        called = {"rank": "Platz", "mean": "Qqq", "text": "Lab", "size": "Www", "small": f"{t}_std"}[what]
        frame.insert(int(rng.integers(1, len(tasks) + 2)), called, extra[what])
        # the mean of few systems and tasks may be one by chance
        kind = "column" if what != "mean" or n > 2 else "unsure"
    if kind == "row":
        frame = pd.concat(
            [frame, frame.iloc[[s]].assign(model=str(rng.choice(["Average", "s0", "", "nan", "Overall"])))]
        )
    if kind == "scale":
        if rng.random() < 0.5:
            frame[t] = frame[t].astype(float) * 100
        else:
            frame.loc[s, tasks] = (frame.loc[s, tasks].astype(float) * 100).to_numpy()
    if kind == "name":
        frame.loc[s, "model"] = rng.choice(np.array([None, "Mean", "s0 ", b"x", 3.5], dtype=object))
    return kind, frame, right


def written(frame, form, path):
    if form == "frame":
        return frame
    if form == "markdown":
        return write(path, markdown(frame))
    frame.to_csv(path, index=form == "index", sep={"tsv": "\t", "semicolons": ";"}.get(form, ","))
    return path


def outcome(given):
    try:
        return read(given)
    except (ptr.InputError, ptr.ReuseWarning):
        return None


@pytest.mark.parametrize("form", ["frame", "csv", "tsv", "semicolons", "index", "markdown"])
def test_a_mutant_gives_the_right_scores_or_an_error(form, tmp_path):
    read_whole = 0
    for seed in range(42):
        kind, frame, right = mutants(seed)
        if kind == "unsure":
            continue
        found = outcome(written(frame.reset_index(drop=True), form, tmp_path / "board.csv"))
        assert found is not None or kind != "none"
        if found is not None and kind != "none":
            # a mutant that means the same: another name, or a score in italics
            assert kind in ("header", "name") or (kind == "cell" and form == "markdown"), (seed, kind)
        if found is not None:
            same = found.values.reshape(-1, len(found.names)).T
            differ = ~np.isclose(same, right.to_numpy())
            assert not differ.any() or (kind == "cell" and same[differ].tolist() == [0.5]), (seed, kind)
            read_whole += 1
    assert read_whole >= 42 // 7


def test_measures_as_lines_are_no_systems(tmp_path, messages):
    turned = pd.DataFrame({"index": ["AP", "nDCG@10"], "a": [0.31, 0.42], "b": [0.22, 0.35]})
    for given in both(turned, tmp_path / "board.csv"):
        messages.refused(lambda given=given: read(given), argument="path")
    # one line may be of a system that is called so
    assert read(turned.head(1)).names == ["AP"]


def test_some_fractions_among_the_percentages_of_a_task_are_told(messages):
    percent = BOARD.assign(**{task: BOARD[task] * 100 for task in TASKS})
    four = pd.concat([percent, percent.head(1).assign(model="m4")], ignore_index=True)
    four["QA"] = [52.5, 0.495, 0.315, 50.5]
    messages.warned(lambda: read(four))
    # where most of them are small the task may be hard
    four["QA"] = [52.5, 0.495, 0.315, 0.505]
    messages.warned(lambda: read(four), times=0)


def test_what_ir_measures_adds_to_a_line_is_no_fault(tmp_path):
    lines = [
        {"query_id": qid, "measure": "RBP(rel=1)", "value": value, "expected_cost": 1.0, "expected_items": 5.0}
        for qid, value in (("1", 0.25), ("2", 0.75))
    ]
    path = write(tmp_path / "board.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert read(path).mean.to_dict("list") == {"name": ["board.jsonl"], "RBP(rel=1)": [0.5]}
