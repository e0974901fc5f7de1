"""Write what studies declare that have no options in their signature yet, which the command line cannot read off it.

python scripts/declare.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pt_reuse
from pt_reuse.study import studies, study_of


def written() -> str:
    """Return what the file must hold."""
    older = [study_of(call) for call in studies().values() if not study_of(call).read_off]
    return json.dumps([study.declaration for study in older], indent=1) + "\n"


if __name__ == "__main__":
    Path(pt_reuse.__file__).with_name("studies.json").write_text(written(), encoding="utf-8")
