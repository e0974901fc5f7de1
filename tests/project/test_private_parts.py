"""Parts of other libraries that these do not promise: a test that fails when one changes, and a way without it."""

from __future__ import annotations

import subprocess
import sys

import joblib

from pt_reuse import _jobs

# ---- joblib


def test_joblib_says_what_is_configured(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2, temp_folder=str(tmp_path)):
        assert _jobs.JobPlace.of(None) is _jobs.JobPlace.PROCESSES
        with _jobs.folder_for_jobs() as folder:
            assert folder.startswith(str(tmp_path))
    assert _jobs.JobPlace.of(None) is _jobs.JobPlace.HERE
    # by this name it is told apart, and these of its attributes are asked
    assert joblib.parallel.BACKENDS["multiprocessing"].__name__ == "MultiprocessingBackend"
    for method in ("submit", "abort_everything", "effective_n_jobs", "retrieval_context"):
        assert hasattr(joblib.ParallelBackendBase, method)


# ---- PyTerrier and ir_datasets


def test_pyterrier_has_the_class_elsewhere():
    code = (
        "import sys, types, pyterrier as pt\n"
        "from pyterrier.datasets import _irds\n"
        "other = types.ModuleType(_irds.__name__)\n"
        "other.IRDSDatasetProvider = _irds.IRDSDatasetProvider\n"
        "sys.modules[_irds.__name__] = other\n"
        "import pt_reuse.collections.dataset as ours\n"
        "assert ours.IRDSDataset is _irds.IRDSDataset\n"
        "assert len(pt.get_dataset('reuse:trec-8/adhoc').submitted()) == 129\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
