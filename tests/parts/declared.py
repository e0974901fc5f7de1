"""Every declared study, which all studies are held to by some tests."""

from __future__ import annotations

from pt_reuse.study import studies

#: name -> the public function
STUDIES = studies()
