"""Check that mypy and pyright find the package, and check a user's script against it.

Both are of the extra ``lint``. One mistake is put into the script, which both must see: a package without types passes
everything. That a wheel has all files of the package, and so its types, is tested in tests/project/test_packaging.py.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """\
import pyterrier as pt
import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset
from ir_measures import AP, nDCG

dataset = pt.get_dataset("reuse:demo")
if isinstance(dataset, ReuseDataset):
    runs, qrels = dataset.get_runs(), dataset.get_judgments()
    lou = ptr.leave_out_uniques(runs, qrels, [AP, nDCG @ 10], by="team", depth=10)
    worst: float = float(lou.by_run["change"].min())
    print(worst, len(ptr.depth_pool(runs, depth=10)), ptr.rankings.tau_b([1, 2, 3], [1, 3, 2]))
    print(ptr.depth_pool(runs, depth=10).judge(ptr.judging.Oracle(qrels, unknown="skip")))
"""
MISTAKE = SCRIPT.replace("depth=10)\n    worst", 'depth="ten")\n    worst')


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "right.py").write_text(SCRIPT, encoding="utf-8")
        Path(folder, "wrong.py").write_text(MISTAKE, encoding="utf-8")
        failed, how = False, {"cwd": folder, "capture_output": True, "text": True}
        for checker in (["mypy", "--cache-dir", os.devnull], ["pyright", "--pythonpath", sys.executable]):
            command = [sys.executable, "-m", *checker]
            right, wrong = (subprocess.run([*command, file], **how) for file in ("right.py", "wrong.py"))
            seen = wrong.returncode == 1 and '"depth"' in wrong.stdout and wrong.stdout.count("error:") == 1
            good = right.returncode == 0 and seen
            print(f"{checker[0]}: {'sees the mistake alone' if good else 'FAILS'}")
            if not good:
                print(right.stdout, right.stderr, wrong.stdout, wrong.stderr, sep="\n")
                failed = True
    sys.exit(failed)
