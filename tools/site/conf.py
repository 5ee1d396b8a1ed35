# conf.py - how Sphinx builds the documentation site; tools/make-site.sh calls it
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/site"))

import python_reference  # noqa: E402

project = "neardup"
author = "the authors of neardup"
copyright = "the authors of neardup; Apache-2.0"
release = re.search(r'ND_VERSION "(.*?)"', (ROOT / "include/neardup/version.h").read_text())[1]
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = []
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
smartquotes = False
nitpicky = False
c_maximum_signature_line_length = 90
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 5
myst_enable_extensions = ["deflist"]
suppress_warnings = ["myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = python_reference.FRAMEWORKS
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = f"neardup {release}"
html_static_path = [str(ROOT / "docs/site/static")]
html_css_files = ["neardup.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": True,
    "footer_icons": [],
    "light_css_variables": {"color-brand-primary": "#0b6e99", "color-brand-content": "#0b6e99"},
    "dark_css_variables": {"color-brand-primary": "#7cc7e8", "color-brand-content": "#7cc7e8"},
}
