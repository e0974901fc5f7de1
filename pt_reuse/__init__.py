"""Can I trust this test collection for my system? Pools, leave-out-uniques and reusability for PyTerrier."""

from pt_reuse._check import InputError, ReuseWarning
from pt_reuse._version import __version__
from pt_reuse.collections.irds import register_datasets
from pt_reuse.collections.simulated import simulate_field
from pt_reuse.experiment import Experiment, reuse_summary
from pt_reuse.measures import Unjudged
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels import Qrels, read_qrels
from pt_reuse.reading import read_runs
from pt_reuse.runs import RunSet
from pt_reuse.scores import Scores, score
from pt_reuse.stats.correlation import (
    gamma,
    largest_drop,
    largest_rise,
    rank_changes,
    tau_a,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
    tau_b,
    weighted_tau,
)
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques

__all__ = [
    "Experiment",
    "InputError",
    "LeaveOutUniques",
    "Pool",
    "Qrels",
    "ReuseWarning",
    "RunSet",
    "Scores",
    "Unjudged",
    "__version__",
    "depth_pool",
    "gamma",
    "largest_drop",
    "largest_rise",
    "leave_out_uniques",
    "rank_changes",
    "read_qrels",
    "read_runs",
    "register_datasets",
    "reuse_summary",
    "score",
    "simulate_field",
    "tau_a",
    "tau_ap",
    "tau_ap_a",
    "tau_ap_b",
    "tau_b",
    "weighted_tau",
]
