"""Check predictions of a provider against its real sessions, and record them with the package.

    python -m benchmarks.predictions --runtime /path/to/env --provider openvino --version 1.24 [MODEL …]

MODEL is a sample or a path; without any, every sample is checked. A model that the provider cannot load is
left out, and said.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

import workbench as wb
from workbench.features.explain.placement.prediction import RecordedCheck, recorded_checks


def check(model: str, runtime: str, provider: str, version: str) -> RecordedCheck:
    """Explain the model in a real session of the provider and compare."""
    config = wb.Config(runtime=runtime, providers=[provider])
    compared = wb.explain(model, config, passes=False, keep=False).compare_prediction()
    return RecordedCheck(
        provider=compared.provider,
        version=version,
        model=Path(model).stem,
        nodes=len(compared.nodes),
        right=compared.right,
        predicted_partitions=compared.predicted_partitions,
        partitions=compared.partitions,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--provider", required=True)
    parser.add_argument("--version", required=True, help="package and version, for the record")
    options = parser.parse_args()
    rows = {(row.provider, row.model): row for row in recorded_checks()}
    for model in options.models or list(wb.samples()["name"]):
        try:
            row = check(model, options.runtime, options.provider, options.version)
        except wb.WorkbenchError as error:
            print(f"{model}: {error.problem[:200]}")
            continue
        rows[row.provider, row.model] = row
        print(f"{row.model}: {row.right} of {row.nodes}, {row.predicted_partitions} / {row.partitions} parts")
    path = Path(str(files("workbench.features.explain").joinpath("data", "prediction-checks.json")))
    path.write_text(json.dumps([asdict(row) for _, row in sorted(rows.items())], indent=1) + "\n")


if __name__ == "__main__":
    main()
