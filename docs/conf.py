"""What Sphinx is told about the site; `python -m docs.build` makes the pages that it reads."""

from workbench import __version__

project = "ONNX Runtime Tuning Workbench"
author = "The ONNX Runtime Tuning Workbench authors"
release = __version__
extensions = ["myst_nb"]
nb_execution_mode = "off"  # notebooks are shown as they ran
myst_heading_anchors = 3
html_theme = "furo"
html_title = "ORT Workbench"
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/icon.svg"
