import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import machine

# before pyterrier and ir_datasets are imported: the build makes no folder in anybody's home, and fetches nothing
machine.prepare()

import matplotlib

matplotlib.use("Agg")

import pt_reuse

project = "pt_reuse"
author = "The pt_reuse developers"
copyright = "2026, the pt_reuse developers"
version = release = pt_reuse.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
extensions += ["catalogue", "run", "command", "gallery", "api_pages", "markdown", "studies", "demo_card"]
exclude_patterns = ["_build", "_ext", "outputs", "experiments", "papers/stored"]
html_theme = "furo"
html_title = "pt_reuse"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_custom_sections = ["Source", "Differences"]
nitpicky = False
