"""How the site is built: ``make docs``. Nothing is fetched, and every warning is an error."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from flagstone import ReplicabilityWarning, __version__

project = "flagstone"
author = "The flagstone developers"
copyright = "The flagstone developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # our own, in _extensions
    "commands",
    "excerpts",
    "links",
    "mathml",
]
exclude_patterns = ["_build", "_extensions", "gallery/**/*.ipynb", "gallery/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = True
smartquotes = False  # --option stays two dashes, "index" keeps its quotes

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # numbered statements are of one level, whatever stands above

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists methods with their texts
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "flagstone"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # pages opened as files cannot fetch: see _extensions/excerpts.py
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": []}  # pages with nothing beside them
html_theme_options = {
    "logo": {"text": "flagstone"},
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Pages of the gallery are the examples; each runs in seconds and ends in a picture.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"demo\.py$",
    "within_subsection_order": "links.GalleryOrder",
    "copyfile_regex": r".*\.(txt|csv)$",
    "matplotlib_animations": False,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 0,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
}
# An example may show an answer that promises little; the page says so in words.
warnings.filterwarnings("ignore", category=ReplicabilityWarning)


def setup(app: Any) -> None:
    """Leave out what estimators inherit from scikit-learn, and empty lines at the end of code."""
    app.connect("autodoc-skip-member", _from_sklearn)
    app.connect("html-page-context", _trim_code)


def _trim_code(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """Doctests end with an empty line, which pages neither show nor copy."""
    if "body" in context:
        context["body"] = context["body"].replace("\n\n</pre>", "\n</pre>")


def _from_sklearn(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> Any:
    """Skip what is documented in scikit-learn."""
    home = getattr(member, "__module__", None) or ""
    foreign = home.startswith("sklearn.") or re.fullmatch(r"set_\w+_request", name)
    return True if foreign else None
