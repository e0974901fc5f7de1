"""Can I trust this test collection for my system? Pools, leave-out-uniques and reusability for PyTerrier."""

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse._version import __version__
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.listing import list_collections
from pt_reuse.collections.registration import register_collection, register_datasets
from pt_reuse.demo.simulated import simulate_field
from pt_reuse.experiment.pt_experiment import Experiment, reuse_summary
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels, read_qrels
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.scores import Scores, score
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
from pt_reuse.studies.pool_inference.inferred_pool import InferredPool, infer_pool
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques
from pt_reuse.verification.verification import Verification, verify

__all__ = [
    "Experiment",
    "InferredPool",
    "InputError",
    "LeaveOutUniques",
    "Pool",
    "Qrels",
    "ReuseDataset",
    "ReuseWarning",
    "RunSet",
    "Scores",
    "Unjudged",
    "Verification",
    "__version__",
    "depth_pool",
    "gamma",
    "infer_pool",
    "largest_drop",
    "largest_rise",
    "leave_out_uniques",
    "list_collections",
    "rank_changes",
    "read_qrels",
    "read_runs",
    "register_collection",
    "register_datasets",
    "reuse_summary",
    "score",
    "simulate_field",
    "tau_a",
    "tau_ap",
    "tau_ap_a",
    "tau_ap_b",
    "tau_b",
    "verify",
    "weighted_tau",
]
