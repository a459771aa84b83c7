"""Speed-up of integers, and their cost in accuracy: `python -m benchmarks.precision`.

Each part is one interleaved comparison, on real data where the sample has any, with the accuracy of each
config on the sample's evaluation set. Needs a quiet machine.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.frame import interval
from benchmarks.frame import table as markdown
from workbench.core.config import Config, DynamicInt8, StaticInt8
from workbench.core.models.examples import trained_sample
from workbench.core.models.loading import load
from workbench.core.models.model import Model
from workbench.core.models.samples import evaluation_set
from workbench.core.prepare.preparing import prepare
from workbench.features.compare.call import compare

BUDGET_S = 60.0


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison against float32, and what it is expected to show."""

    name: str
    sample: str
    config: Config
    least_ratio: float | None = None
    most_ratio: float | None = None
    most_accuracy_lost: float | None = None


PARTS = (
    Part(
        "static int8 of a convolutional net", "digits-conv", Config(precision=StaticInt8()), least_ratio=2.0,
        most_accuracy_lost=0.01,
    ),
    Part("dynamic int8 of BERT", "bert-base", Config(precision=DynamicInt8()), least_ratio=1.7),
    Part(
        "dynamic int8 of a convolutional net", "digits-conv", Config(precision=DynamicInt8()), most_ratio=1.0
    ),
)  # fmt: skip


def accuracy(model: Model, config: Config) -> tuple[float, int] | None:
    """Return the score on the sample's evaluation set and the number of labels; None without a set."""
    import onnxruntime as ort

    name = trained_sample(model)
    if name is None:
        return None
    prepared = prepare(model, config)
    session = ort.InferenceSession(str(prepared.model.path), providers=["CPUExecutionProvider"])
    data = evaluation_set(name)
    return data.score(lambda feeds: np.asarray(session.run(None, feeds)[0]), size=1), data.labels.size


def measure(part: Part, budget_s: float) -> dict[str, Any]:
    """Measure one row: ratio with interval, verdict, error, sizes, accuracy of both."""
    model = load(part.sample)
    result = compare(model, Config(), part.config, budget_s=budget_s, progress=False, keep=False)
    verdict, (before, after) = result.verdict, result.runs
    scores = [accuracy(model, config) for config in (Config(), part.config)]
    row: dict[str, Any] = {
        "part": part.name,
        "sample": part.sample,
        "verdict": verdict.kind,
        "ratio": verdict.ratio,
        "low": verdict.low,
        "high": verdict.high,
        "float32_ms": _ms(before.latency.median_s),
        "int8_ms": _ms(after.latency.median_s),
        "float32_bytes": before.preparation.file_bytes if before.preparation else None,
        "int8_bytes": after.preparation.file_bytes if after.preparation else None,
        "sqnr_db": min((row.sqnr_db for row in result.agreement if row.sqnr_db is not None), default=None),
        "sentence": str(result).splitlines()[0],
    }
    for word, score in zip(("float32", "int8"), scores, strict=True):
        row[f"{word}_accuracy"] = None if score is None else score[0]
    row["labels"] = None if scores[0] is None else scores[0][1]
    row["as_expected"] = _expected(part, row)
    return row


def _expected(part: Part, row: dict[str, Any]) -> bool:
    ratio = row["ratio"]
    lost = 0.0 if row["labels"] is None else row["float32_accuracy"] - row["int8_accuracy"]
    return (
        ratio is not None
        and (part.least_ratio is None or ratio >= part.least_ratio)
        and (part.most_ratio is None or ratio < part.most_ratio)
        and (part.most_accuracy_lost is None or lost <= part.most_accuracy_lost)
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown, for docs/precision.md."""
    lines = []
    for row in rows:
        scores = (
            "none: random weights"
            if row["labels"] is None
            else f"{row['float32_accuracy']:.2%} → {row['int8_accuracy']:.2%} of {row['labels']:,}"
        )
        lines.append((
            *(f"{row['part']} ({row['sample']})", f"{row['float32_ms']:.2f} ms", f"{row['int8_ms']:.2f} ms"),
            f"{row['ratio']:.2f}×{interval(row['low'], row['high'])}",
            f"{row['float32_bytes'] / 1e6:.1f} → {row['int8_bytes'] / 1e6:.1f} MB",
            *(f"{row['sqnr_db']:.0f} dB", scores),
        ))  # fmt: skip
    heads = ("comparison", "float32", "int8", "speed-up (95 % CI)", "file", "SQNR", "accuracy")
    return markdown(heads, lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision", description=__doc__)
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds for each comparison")
    options = parser.parse_args(arguments)
    rows = [measure(part, options.budget) for part in PARTS]
    print(table(rows))
    for row in rows:
        print(f"{'as expected' if row['as_expected'] else 'NOT as expected'}: {row['sentence']}")


if __name__ == "__main__":
    main()
