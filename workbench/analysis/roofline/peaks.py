"""What this machine can do, measured through ORT itself: large products in float32 and int8, a large pass."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.config import Config
from workbench.errors import BundleError
from workbench.worker.launch import WorkerFolder, call_job
from workbench.worker.values import write_values

if TYPE_CHECKING:
    import pandas as pd

SIDE = 1024  # of the square matrices: 4 MB each, large enough for all of a small machine's threads
PASS_ELEMENTS = 32 << 20  # 128 MiB in and out: beyond any last-level cache that a node could keep it in
BUDGET_S = 0.6
WARMUP_RUNS = 3
MAX_RUNS = 200
TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class PeakRow:
    """The best that ORT reached at one thread count. None: it could not be measured."""

    threads: int
    float32_flops: float | None  # operations a second
    int8_flops: float | None
    bytes_per_s: float | None  # read and written together


@dataclass(frozen=True, slots=True)
class PeakTable:
    """One row a thread count."""

    rows: tuple[PeakRow, ...]

    def to_frame(self) -> pd.DataFrame:
        """Columns threads, float32_gflops, int8_gops, gb_per_s."""
        import pandas as pd

        return pd.DataFrame(
            [
                (
                    row.threads,
                    *(
                        None if v is None else v / 1e9
                        for v in (row.float32_flops, row.int8_flops, row.bytes_per_s)
                    ),
                )
                for row in self.rows
            ],
            columns=["threads", "float32_gflops", "int8_gops", "gb_per_s"],
        )


def check_peaks(peaks: PeakRow, fix: str) -> None:
    """A rate that was measured is not zero; it is divided by."""
    for name in ("float32_flops", "int8_flops", "bytes_per_s"):
        if getattr(peaks, name) == 0:
            raise BundleError(f"{name}: expected a rate above 0, or none.", fix)


def check_peak_table(table: PeakTable, fix: str) -> None:
    """Check each row as `check_peaks` does."""
    for row in table.rows:
        check_peaks(row, fix)


def measure_peaks(
    threads: tuple[int, ...],
    *,
    side: int = SIDE,
    pass_elements: int = PASS_ELEMENTS,
    budget_s: float = BUDGET_S,
    cancel: threading.Event | None = None,
) -> PeakTable:
    """Origin two seconds a thread count, each figure in a process of its own."""

    def best_s(model: Any, feed: dict[str, Any], count: int) -> float:
        with WorkerFolder() as folder:
            path = folder / "peak.onnx"
            path.write_bytes(model.SerializeToString())
            write_values(folder / "feeds", [feed])
            answer = call_job(
                "profiling",
                {
                    "model": str(path),
                    "plan": Config(intra_op_threads=count, io_binding=True).plan().to_dict(),
                    "feeds": str(folder / "feeds"),
                    "trace_prefix": None,
                    "warmup_runs": WARMUP_RUNS,
                    "max_runs": MAX_RUNS,
                    "budget_s": budget_s,
                },
                timeout_s=TIMEOUT_S,
                cancel=cancel,
            )
        return float(min(answer["samples_s"]))

    rows = []
    for count in threads:
        operations = 2 * side**3
        seconds = [best_s(*make(side), count) for make in (_float32_product, _int8_product)]
        pass_s = best_s(*_pass(pass_elements), count)
        rows.append(
            PeakRow(count, operations / seconds[0], operations / seconds[1], 8 * pass_elements / pass_s)
        )
    return PeakTable(tuple(rows))


def _float32_product(side: int) -> tuple[Any, dict[str, Any]]:
    return _product(side, "MatMul", np.float32, np.float32, np.float32)


def _int8_product(side: int) -> tuple[Any, dict[str, Any]]:
    """Unsigned by signed: what dynamic quantization makes."""
    return _product(side, "MatMulInteger", np.uint8, np.int8, np.int32)


def _product(side: int, op_type: str, left: Any, right: Any, out: Any) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    weight = rng.integers(-7, 8, (side, side)).astype(right)
    return _model(op_type, (side, side), left, out, {"w": weight}), {
        "x": rng.integers(0, 8, (side, side)).astype(left)
    }


def _pass(elements: int) -> tuple[Any, dict[str, Any]]:
    """Relu reads and writes every element once, on all threads; a copy by itself ORT would leave out."""
    return _model("Relu", (elements,), np.float32, np.float32, {}), {"x": np.ones(elements, np.float32)}


def _model(op_type: str, dims: tuple[int, ...], left: Any, out: Any, weights: dict[str, Any]) -> Any:
    from onnx import helper, numpy_helper

    kind: Callable[[Any], int] = lambda dtype: helper.np_dtype_to_tensor_dtype(np.dtype(dtype))  # noqa: E731
    graph = helper.make_graph(
        [helper.make_node(op_type, ["x", *weights], ["y"], "peak")],
        f"peak of {prod(dims)}",
        [helper.make_tensor_value_info("x", kind(left), dims)],
        [helper.make_tensor_value_info("y", kind(out), dims)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
