"""A result as a folder of plain files: tables, configs, scripts, a picture, its bundle, and an index."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord, InputsRecord
from workbench.core.bundle.display import DataFrame, csv_of, data_frame
from workbench.core.config import Config
from workbench.core.errors import ConfigError, StorageError, WorkbenchError
from workbench.core.stored_files import free_path
from workbench.core.text import file_name
from workbench.features.base.registry import KINDS

_UNITS = {  # by the end of a column's name, before which of an interval's ends it is
    "_s": "seconds",
    "_ms": "milliseconds",
    "_us": "microseconds",
    "_ns": "nanoseconds",
    "_bytes": "bytes",
    "bytes_moved": "bytes",
    "_mib": "MiB",
    "_db": "dB",
    "_hz": "1/s",
    "_per_s": "1/s",
    "gb_per_s": "GB/s",
    "flops": "FLOPs",
    "gflops": "GFLOP/s",
    "gops": "Gop/s",
}


def export_folder(result: Any, folder: Path) -> Path:
    """Write the files into a new or empty folder and return it; remove what a failed export has written."""
    existed = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigError(f"{folder} is not empty", "give a new folder: files in it stay as they are")
        try:
            _write(result.shared(), folder)
        except BaseException:
            _empty(folder)
            if not existed:
                folder.rmdir()
            raise
    except OSError as error:
        problem = f"{folder} cannot be written: {error.strerror or error}"
        raise StorageError(problem, "give a folder that you may write to, on a disk with room") from error
    return folder


def tables_of(result: Any) -> Iterator[tuple[str, DataFrame]]:
    """Yield each table of a result and of its parts, by name."""
    yield "result", result.to_frame()
    measured = measured_record(result.saved)
    if measured is not None:
        yield "samples", samples_frame(measured)
        yield from (
            (name, data_frame([asdict(row) for row in rows]))
            for name, rows in (("outputs", measured.agreement), ("doubts", measured.doubts))
            if rows
        )
    if isinstance(result.saved, ComparisonRecord):
        from workbench.core.measure.percentiles import percentiles_frame

        yield "percentiles", percentiles_frame(result.saved.runs)
    for part in result.parts:
        yield part.name, KINDS.result_of_part(part).to_frame()


def configs_of(record: Any) -> dict[str, Config]:
    """Return the configs that a result is about, by the label of their run."""
    measured = measured_record(record)
    if measured is not None:
        return {run.label: run.config for run in measured.runs}
    config = getattr(record, "config", None)
    return {"A": config} if isinstance(config, Config) else {}


def measured_record(record: Any) -> ComparisonRecord | None:
    """Return the runs with their samples that a record is or holds; None where it has none."""
    for held in (record, getattr(record, "measured", None), getattr(record, "comparison", None)):
        if isinstance(held, ComparisonRecord):
            return held
    return None


def samples_frame(record: ComparisonRecord) -> DataFrame:
    """Return one row per sample, in the order measured; `counts` is False where its block is excluded."""
    columns = ["label", "round", "block", "block_start_s", "latency_s", "counts"]
    rows = [
        (run.label, process.round, block.order, block.start_s, sample_s, run.counts(block))
        for run in record.runs
        for process in run.processes
        for block in process.blocks
        for sample_s in block.samples_s
    ]
    return data_frame(rows, columns=columns)


def _write(result: Any, folder: Path) -> None:
    index: dict[str, Any] = {
        "id": result.about.id,
        "created_utc": result.about.created_utc,
        "kind": KINDS.of(result.saved, "").name,
        "model": None if result.about.model is None else asdict(result.about.model),
        "summary": str(result),
        "tables": {},
        "configs": {},
        "pictures": [],
        "bundle": "result.ortbench",
    }
    for name, frame in tables_of(result):
        path = _file(folder / "tables", name, ".csv")
        path.write_text(csv_of(frame), encoding="utf-8", newline="")
        columns = {str(column): _unit(str(column)) for column in frame.columns}
        index["tables"][_within(folder, path)] = {"name": name, "rows": len(frame), "columns": columns}
    model = None if result.about.model is None else result.about.model.name
    for label, config in configs_of(result.saved).items():
        path = _file(folder / "configs", label, ".json")
        path.write_text(json.dumps(config.to_dict(), indent=1) + "\n", encoding="utf-8")
        index["configs"][label] = {
            "config": _within(folder, path),
            **_script(folder, label, config, model, result.about.inputs),
        }
    picture = _file(folder / "pictures", "result", ".png")
    picture.write_bytes(result.still().to_png())
    index["pictures"].append(_within(folder, picture))
    result.save(folder / "result.ortbench")
    text = json.dumps(index, indent=1, ensure_ascii=False)
    (folder / "index.json").write_text(text + "\n", encoding="utf-8")


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _script(
    folder: Path, label: str, config: Config, model: str | None, inputs: InputsRecord | None
) -> dict[str, str]:
    """Write plain code of a config, or say why there is none; `model` is its name."""
    try:
        code = config.to_python("model.onnx", sample=model, inputs=inputs)
    except WorkbenchError as error:
        return {"no_script": error.problem}
    path = _file(folder / "scripts", label, ".py")
    path.write_text(code, encoding="utf-8")
    return {"script": _within(folder, path)}


def _file(folder: Path, name: str, suffix: str) -> Path:
    """Return a file of this name that does not exist yet; names of parts and labels come from bundles."""
    folder.mkdir(exist_ok=True)
    return free_path(folder / f"{file_name(name, 'unnamed')}{suffix}")


def _within(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _unit(column: str) -> str | None:
    name, ends = re.sub("_(low|high)$", "", column), sorted(_UNITS, key=len, reverse=True)
    return next((_UNITS[end] for end in ends if name.endswith(end)), None)
