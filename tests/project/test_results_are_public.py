"""What public functions return is public, and knows where it is at home."""

from __future__ import annotations

import importlib
import pkgutil

from same import assert_same

import pt_reuse
from pt_reuse._result import HOMES, Record
from pt_reuse.demo.simulated import simulate_field


def test_every_kind_of_result_knows_where_it_is_at_home():
    for module in pkgutil.walk_packages(pt_reuse.__path__, "pt_reuse."):
        importlib.import_module(module.name)

    def below(kind):
        for sub in kind.__subclasses__():
            yield sub
            yield from below(sub)

    own = {kind.__name__: kind.__module__ for kind in below(Record) if kind.__module__.startswith("pt_reuse.")}
    assert {name: home for name, home in own.items() if name not in ("Result", "StudyResult")} == HOMES


def test_a_simulated_field(tmp_path):
    field = simulate_field(seed=3, n_topics=2, n_docs=30, n_teams=3, length=5, depth=2)
    field.save(tmp_path)
    again = pt_reuse.read_result(tmp_path)
    assert_same(field, again)
    assert repr(again) == repr(field)
    assert_same(again.runs.run_table, field.runs.run_table)
    for order in ("trec_eval", "rank", "file"):
        assert_same(again.runs.reorder(order).to_frame(), field.runs.reorder(order).to_frame())
    for judgments in ("qrels", "all_qrels"):
        assert_same(getattr(again, judgments).to_frame(), getattr(field, judgments).to_frame())
    assert again.settings == {"seed": 3, "n_topics": 2, "n_docs": 30, "n_teams": 3, "length": 5, "depth": 2}
