"""ptr.Experiment with a cache: the same tables, and pipelines that run once."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, retrievers
from ir_measures import AP, P, nDCG

import pt_reuse as ptr

MEASURES = [AP, P @ 5, nDCG @ 10]
ALL = TOPICS["qid"].tolist()


def experiment(systems, topics=TOPICS, measures=MEASURES, **more):
    return ptr.Experiment(systems, topics, QRELS, measures, **more)


def asked(systems):
    return {name: system.asked for name, system in systems.items() if isinstance(system, pt.Transformer)}


WAYS = {
    "means": {},
    "a field": {"field": OTHERS, "depth": 8},
    "by topic": {"perquery": True},
    "a baseline": {"baseline": "neu2a", "correction": "holm"},
    "batches": {"batch_size": 2},
    "batches by topic": {"batch_size": 4, "perquery": True, "field": OTHERS, "depth": 8},
    "dicts": {"dataframe": False},
    "long": {"layout": "long"},
    "plain": {"reuse": []},
    "judged topics alone": {"filter_by_qrels": True},
    "rounded": {"round": 2},
}


@pytest.mark.parametrize(("way", "before"), [("means", 0), ("means", 6), *((way, 2) for way in WAYS)])
def test_the_same_table_however_much_was_kept(way, before, tmp_path):
    given = WAYS[way]
    plain = experiment(retrievers(), **given)
    if before:
        experiment(retrievers(), TOPICS[:before], cache=tmp_path, reuse=[])
    systems = retrievers()
    resumed = experiment(systems, cache=tmp_path, **given)
    assert asked(systems) == dict.fromkeys(NAMES, ALL[before:])
    if isinstance(plain, pd.DataFrame):
        pd.testing.assert_frame_equal(resumed, plain, check_exact=True)
    else:
        assert resumed == plain


def test_it_goes_on_after_an_error(tmp_path):
    class Failing(Retriever):
        def transform(self, inp):
            if len(inp) and ALL[4] in inp["qid"].tolist():
                raise RuntimeError("no")
            return super().transform(inp)

    # prints the same, as a class that was mended does
    Failing.__qualname__ = "Retriever"
    systems = {**retrievers(), "man3a": Failing(FIELD.runs["man3a"])}
    with pytest.raises(ptr.InputError, match="run 'man3a' failed for the topics"):
        experiment(systems, cache=tmp_path, batch_size=2)
    assert asked(systems) == {"lex1a": ALL, "neu2a": ALL, "man3a": ALL[:4]}
    systems = retrievers()
    pd.testing.assert_frame_equal(
        experiment(systems, cache=tmp_path, batch_size=2), experiment(retrievers(), batch_size=2), check_exact=True
    )
    assert asked(systems) == {"lex1a": [], "neu2a": [], "man3a": ALL[4:]}


REFUSED = {
    "mrt": ("eval_metrics", {"measures": ["map", "mrt"]}),
    "a tree": ("plan", {"plan": "tree"}),
    "a prefix": ("precompute_prefix", {"precompute_prefix": True}),
    "a batch size": ("batch_size", {"batch_size": 0}),
    "another pipeline": ("cache", {"systems": {"lex1a": Retriever(FIELD.runs["neu2a"]) % 5}}),
    "no names": ("retr_systems", {"systems": [Retriever(FIELD.runs["neu2a"])]}),
    "one name": (
        "retr_systems",
        {"systems": [Retriever(FIELD.runs[name]) for name in NAMES[:2]], "names": ["a", "a"], "reuse": []},
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_does_not_go_with_it(fault, tmp_path, messages):
    argument, given = REFUSED[fault]
    experiment(retrievers(), cache=tmp_path, reuse=[])
    systems = given.get("systems", retrievers())
    given = {"systems": systems, "cache": tmp_path, **given}
    if fault == "no names":
        # how it prints is another at each call
        with pytest.raises(ptr.InputError, match="is another in every process") as told:
            experiment(**given)
        assert told.value.argument == argument
    else:
        messages.refused(lambda: experiment(**given), argument=argument)
    of_systems = systems.values() if isinstance(systems, dict) else systems
    assert all(system.asked == [] for system in of_systems if isinstance(system, Retriever))


# what pyterrier 1.1 brought: named baselines, CSVs under save_dir, plans, and the name of the caller in errors

PAIR = [AP, P @ 5]
GIVEN = {"field": OTHERS, "depth": 5, "pooled": True}
TABLES = ("aggregated.csv", "perquery.csv")


def compared(systems=None, measures=PAIR, **arguments):
    return ptr.Experiment(systems or retrievers(), TOPICS, QRELS, measures, **{**GIVEN, **arguments})


def saved(folder, name="aggregated.csv"):
    return pd.read_csv(folder / f"reuse-{name}", dtype={"name": str, "qid": str}, keep_default_na=False, na_values=[""])


# CSVs under save_dir


@pytest.mark.parametrize(
    "more", [{}, {"perquery": True}, {"perquery": "both"}, {"dataframe": False}, {"layout": "long"}], ids=str
)
def test_the_added_columns_are_saved_beside_the_tables_of_pt_experiment(more, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    theirs = {key: value for key, value in more.items() if key != "layout"}
    pt.Experiment(retrievers(), TOPICS, QRELS, PAIR, save_dir=str(tmp_path / "theirs"), **theirs)
    compared(save_dir=str(tmp_path / "ours"), **more)
    for name in TABLES:
        assert (tmp_path / "ours" / name).read_text() == (tmp_path / "theirs" / name).read_text()
    both = compared(perquery="both")
    means, topics = (saved(tmp_path / "ours", name) for name in TABLES)
    assert set(means.pop("ranked among")) == set(topics.pop("ranked among")) == {"5 runs of the field and 3 systems"}
    pd.testing.assert_frame_equal(means[list(both.averages)], pd.DataFrame(both.averages), check_dtype=False)
    pd.testing.assert_frame_equal(
        topics.sort_values(["name", "qid", "measure"], ignore_index=True),
        pd.DataFrame(both.perquery).sort_values(["name", "qid", "measure"], ignore_index=True),
        check_dtype=False,
    )


def test_rows_of_other_systems_stay(tmp_path):
    compared({"first": Retriever(FIELD.runs["lex1a"])}, save_dir=str(tmp_path))
    before = {name: saved(tmp_path, name) for name in TABLES}
    second = {"NA": Retriever(FIELD.runs["neu2a"]), "third": FIELD.runs["man3a"]}
    compared(second, save_dir=str(tmp_path))
    for name in TABLES:
        after = saved(tmp_path, name)
        assert set(after["name"]) == {"NA", "third", "first"}
        old = after[after["name"] == "first"].reset_index(drop=True)
        pd.testing.assert_frame_equal(old[list(before[name])], before[name], check_dtype=False)
        assert set(old["ranked among"]) == {"5 runs of the field and 1 system"}
        assert set(after.loc[after["name"] == "NA", "ranked among"]) == {"5 runs of the field and 2 systems"}
    # a system that runs again takes its own rows
    compared({"first": FIELD.runs["neu2a"]}, save_dir=str(tmp_path), save_mode="reuse", reuse="rank")
    assert saved(tmp_path)["name"].tolist() == ["first", "NA", "third"]


def test_save_modes_protect_what_they_protect(tmp_path):
    folder = {"save_dir": str(tmp_path)}
    first = compared(**folder)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    other = {name: Retriever(FIELD.runs["lex1b"]) for name in NAMES}
    with pytest.raises(ValueError, match="already exists"):
        compared(other, save_mode="error", **folder)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    reused = compared(other, save_mode="reuse", **folder)
    pd.testing.assert_frame_equal(reused, first)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix == ".csv"} == {
        name: data for name, data in kept.items() if name.endswith(".csv")
    }
    written = compared({"lex1a": other["neu2a"]}, field=None, pooled=None, depth=None, save_mode="overwrite", **folder)
    assert written.runs.names == ["lex1a"]
    assert saved(tmp_path).set_index("name").loc["lex1a", "ranked among"] == "the only system"


def test_a_table_that_is_not_ours_is_refused_before_anything_runs(tmp_path, messages):
    systems = retrievers()
    for text in ("name,AP\nmine,0.5\n", "", '"'):
        (tmp_path / "reuse-aggregated.csv").write_text(text)
        messages.refused(lambda: compared(systems, save_dir=str(tmp_path)), argument="save_dir")
        assert (tmp_path / "reuse-aggregated.csv").read_text() == text
    assert [system.calls for system in systems.values()] == [0, 0, 0]
    compared(systems, save_dir=str(tmp_path), reuse=[])
    assert {path.name for path in tmp_path.glob("*.csv")} == {*TABLES, "reuse-aggregated.csv"}


def test_a_disk_that_is_full_after_the_run_costs_no_result(tmp_path, messages, monkeypatch):
    first = compared(save_dir=str(tmp_path))
    kept = {name: (tmp_path / f"reuse-{name}").read_bytes() for name in TABLES}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pt_reuse.experiment.adding.write_together", full)
    again = {"save_dir": str(tmp_path), "save_mode": "reuse", "pooled": False}
    result = messages.warned(lambda: compared(**again))
    assert result["AP"].tolist() == first["AP"].tolist()
    assert {name: (tmp_path / f"reuse-{name}").read_bytes() for name in TABLES} == kept
