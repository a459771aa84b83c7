"""`wb.compare_versions`: the search, and the environments that are kept."""
