"""Orders by several keys, against np.lexsort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.arrays import lists

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=30)


@pytest.mark.parametrize("large", [False, True], ids=["one number", "more than a number holds"])
@given(rows=ROWS)
def test_sorting_by_several_keys_is_that_of_lexsort(large, rows):
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    keys = [
        table[:, 0].astype(np.uint64) << np.uint64(62),
        np.where(table[:, 1] == 3, np.inf, -table[:, 1]),
        table[:, 2],
    ]
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(lists, "_LARGEST", 1)
        assert lists._sorted_by(keys).tolist() == np.lexsort(keys).tolist()
