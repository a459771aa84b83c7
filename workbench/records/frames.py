"""Records as pandas frames: facts only, with units in the names of the columns, absent as absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.records.display import config_in_words

if TYPE_CHECKING:
    import pandas as pd

    from workbench.records.comparison import ComparisonRecord
    from workbench.records.run import LatencySamples, Run


def latency_frame(latency: LatencySamples) -> pd.DataFrame:
    """One row a sample."""
    import pandas as pd

    rows = len(latency.samples_s)
    return pd.DataFrame(
        {
            "label": pd.Series([latency.label] * rows, dtype="str"),
            "latency_s": pd.Series(latency.samples_s, dtype="float64"),
        }
    )


def run_frame(run: Run) -> pd.DataFrame:
    """One row a sample of every block, in the order measured; `disturbed` says why a block was set aside."""
    import pandas as pd

    rows = [
        (run.label, process.round, number, block.order, sample, "; ".join(block.disturbed))
        for process in run.processes
        for number, block in enumerate(process.blocks)
        for sample in block.samples_s
    ]
    frame = pd.DataFrame(rows, columns=["label", "round", "block", "order", "latency_s", "disturbed"])
    types = {"label": "str", "round": "int64", "block": "int64", "order": "int64", "latency_s": "float64"}
    return frame.astype({**types, "disturbed": "str"})


def comparison_frame(record: ComparisonRecord) -> pd.DataFrame:
    """One row a run; the verdict's columns are absent in the baseline's row."""
    import pandas as pd

    verdicts = {verdict.label: verdict for verdict in record.verdicts}
    rows = [
        {
            "label": run.label,
            "config": config_in_words(run.config),
            "samples": len(run.latency.samples_s),
            "median_s": run.latency.median_s,
            "fastest_s": min(run.latency.samples_s, default=None),
            "load_s": run.load_s,
            "first_run_s": run.first_run_s,
            "peak_rss_bytes": run.peak_rss_bytes,
            "file_bytes": run.preparation.file_bytes if run.preparation else None,
            "prepare_s": run.preparation.elapsed_s if run.preparation else None,
            "threads": run.threads,
            "providers": ", ".join(run.providers) or None,
            "verdict": getattr(verdicts.get(run.label), "kind", None),
            "ratio": getattr(verdicts.get(run.label), "ratio", None),
            "low": getattr(verdicts.get(run.label), "low", None),
            "high": getattr(verdicts.get(run.label), "high", None),
            "failure": run.failure.problem if run.failure else None,
        }
        for run in record.runs
    ]
    floats = ("median_s", "fastest_s", "load_s", "first_run_s", "prepare_s", "ratio", "low", "high")
    return pd.DataFrame(rows).astype(
        {
            **dict.fromkeys(floats, "float64"),
            **dict.fromkeys(("peak_rss_bytes", "file_bytes", "threads"), "Int64"),
        }
    )
