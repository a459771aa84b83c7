"""Results as JSON: what was measured with every sample, all others as sentences and a table."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame
from workbench.core.measure.measurement import MeasurementRecord


def to_json(result: Any) -> dict[str, Any]:
    """Return what was measured with every sample, and of another result its sentences and its table."""
    from workbench.features.base.result import Result

    rows = json.loads(rows_json(result.to_frame()))
    if not isinstance(result, Result):  # an answer that no bundle holds
        return {"text": str(result), "rows": rows}
    about = result.about
    answer = {
        "kind": result.feature.name,
        "id": about.id,
        "created_utc": about.created_utc,
        "model": None if about.model is None else asdict(about.model),
        "text": str(result),
        "rows": rows,
    }
    if isinstance(result.saved, ComparisonRecord):
        return {**answer, **comparison_to_json(result.saved)}
    if isinstance(result.saved, MeasurementRecord):
        measured = comparison_to_json(result.saved.measured)
        return {**answer, **measured, "figures": rows, "settled": not result.saved.unsettled}
    return answer


def rows_json(frame: DataFrame) -> str:
    """Return the rows of a table as a JSON list of objects."""
    text: str = frame.to_json(orient="records", double_precision=15)
    return text


def comparison_to_json(record: ComparisonRecord) -> dict[str, Any]:
    """Return the verdicts with all their data."""
    return {
        "id": record.id,
        "created_utc": record.created_utc,
        "model": asdict(record.model),
        "inputs": asdict(record.inputs),
        "machine": asdict(record.machine),
        "versions": asdict(record.versions),
        "protocol": asdict(record.protocol),
        "verdicts": [asdict(verdict) for verdict in record.verdicts],
        "runs": [
            {
                "label": run.label,
                "config": run.config.to_dict(),
                "providers": run.providers,
                "threads": run.threads,
                "threads_from": run.threads_from,
                "median_s": run.latency.median_s,
                "load_s": run.load_s,
                "first_run_s": run.first_run_s,
                "peak_rss_bytes": run.peak_rss_bytes,
                "failure": None if run.failure is None else asdict(run.failure),
                "processes": [asdict(process) for process in run.processes],
            }
            for run in record.runs
        ],
        "agreement": [asdict(row) for row in record.agreement],
        "doubts": [asdict(doubt) for doubt in record.doubts],
    }
