"""Every study gives the same on a field whose blocks are loaded when needed, to the last bit."""

import warnings

import pandas as pd
import pytest
from every_result import every_result
from opened import opened_field

from pt_reuse.data.run_set import RunSet


@pytest.fixture(scope="module")
def results(tmp_path_factory):
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
            folder = tmp_path_factory.mktemp(f"rows{rows}")
            return every_result(lambda name: made_folder(folder / name))

    def made_folder(path):
        path.mkdir()
        return path

    return {rows: made(rows) for rows in (0, 4000)}


def test_every_study_walks_through_blocks(results):
    whole = results[0]
    assert len(whole) > 60
    for rows in (4000,):
        assert list(results[rows]) == list(whole)
        for name, expected in whole.items():
            found = results[rows][name]
            assert repr(found).replace(f"rows{rows}", "rows0") == repr(expected), name
            tables = getattr(expected, "tables", dict)()
            for table, frame in tables.items():
                same, frame = (one.drop(columns="time", errors="ignore") for one in (found.tables()[table], frame))
                pd.testing.assert_frame_equal(same, frame, check_exact=True, obj=f"{name}.{table}")
