"""Peaks of this machine and the roofline of a sample: `python -m benchmarks.roofline resnet50`."""

from __future__ import annotations

import argparse

from workbench.core.config import Config
from workbench.features.profile.calls import peaks, profile
from workbench.features.profile.roofline.node_limits import roofline

MOST_ROWS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="resnet50")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    table = peaks((options.threads,)).record
    print(table.to_frame().to_string(index=False))
    record = roofline(profile(options.model, Config(intra_op_threads=options.threads)), table.rows[0])
    print(record)
    columns = ["node", "op_type", "time_s", "limit_s", "bound", "achieved", "could_gain_s"]
    print(record.to_frame()[columns].head(MOST_ROWS).to_string(index=False))


if __name__ == "__main__":
    main()
