"""The shape of Jones et al. 2014 on the runs of TREC-8, restricted to its sources."""

from __future__ import annotations

import pytest
from ir_measures import AP, nDCG

import pt_reuse as ptr

SOURCES = ["FR94", "FBIS", "LA", "FT"]
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def test_parts_of_sources_and_the_whole(trec8):
    found = ptr.profile.subcollections(trec8.runs, trec8.qrels, [AP, nDCG], sources=SOURCES, whole=True)
    by_ap = found.by_part.query("measure == 'AP'").set_index("part")
    assert by_ap["agree"].round(3).to_dict() == {"FR94": 0.870, "FBIS": 0.906, "LA": 0.901, "FT": 0.891, "whole": 0.905}
    assert by_ap["tau_b"].round(2).tolist() == [0.80, 0.86, 0.84, 0.83, 0.86]
    # in the paper, too, FR agrees least with others, and LA and the whole collection most with each other
    pairs = found.by_pair.query("measure == 'AP'").set_index(["part", "other_part"])["agree"]
    assert (by_ap["agree"].idxmin(), pairs.idxmax()) == ("FR94", ("LA", "whole"))
    assert found.between_measures["agree"].between(0.935, 0.945).all()


def test_agreement_falls_with_the_shares_of_two_sources(trec8):
    runs = trec8.runs.select(names=trec8.runs.names[:30])
    found = ptr.profile.subcollections(
        runs, trec8.qrels, AP, sources=SOURCES, how="mixed", shares=[0.2, 0.6, 1], repeats=1
    ).table
    by_share = found.pivot_table(index="source", columns="share", values="agree")
    assert (by_share[0.2] > by_share[0.6]).all()
    assert (by_share[0.6] > by_share[1.0]).all()
    # two parts are as large as the smaller source of what these runs retrieve
    drawn = ptr.profile.subcollections(runs, trec8.qrels, AP, sources=SOURCES).parts.set_index("part")["drawn"]
    sizes = found.drop_duplicates("source").set_index("source")["size"]
    assert sizes["FBIS and LA"] == min(drawn["FBIS"], drawn["LA"])
