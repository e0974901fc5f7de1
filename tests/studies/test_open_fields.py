"""Every study gives the same on a field whose blocks are loaded when needed, to the last bit."""

import warnings

import pandas as pd
import pytest
from every_result import of_field
from opened import opened_field

import pt_reuse as ptr
from pt_reuse.data.run_set import RunSet


@pytest.fixture(scope="module")
def results():
    def made(rows):
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if rows:
                of_coded = RunSet.of_coded.__func__

                def opened(cls, coded):
                    runs = of_coded(cls, coded)
                    runs.field = opened_field(runs.field, rows)
                    return runs

                patch.setattr(RunSet, "of_coded", classmethod(opened))
            field = ptr.demo.simulate_field(seed=7, n_topics=12, n_docs=150, n_teams=7, length=40)
            return of_field(field.runs, field.qrels, field.all_qrels)

    return {rows: made(rows) for rows in (0, 1500)}


def test_every_study_walks_through_blocks(results):
    whole = results[0]
    assert len(whole) > 30
    assert list(results[1500]) == list(whole)
    for name, expected in whole.items():
        found = results[1500][name]
        assert repr(found) == repr(expected), name
        for table, frame in expected.tables().items():
            same, frame = (one.drop(columns="time", errors="ignore") for one in (found.tables()[table], frame))
            pd.testing.assert_frame_equal(same, frame, check_exact=True, obj=f"{name}.{table}")
