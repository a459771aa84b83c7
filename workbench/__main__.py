"""`python -m workbench` is `workbench`."""

from __future__ import annotations

import sys

from workbench.apps.cli import main

if __name__ == "__main__":
    sys.exit(main())
