"""The tests of the workbench; they mirror its folders."""

import sys

# jsonschema, which nbformat imports, would compile a grammar of IRIs: seconds at each start, for no test.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
