"""The parts of `python -m benchmarks.gpu` about TensorRT: each yields what it found, a text at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import workbench as wb
from benchmarks.gpu_bench import Bench

SHAPES = (16, 128, 512)  # the least, best and most tokens
SMALL = (8, 32, 64)  # of the stand-in
DAMAGED_BYTES = 64  # the head of an engine, where TensorRT looks for version and card


def engines(bench: Bench) -> Iterator[str]:
    """TensorRT against CUDA, which is A: B float32, C float16; with an engine cache cold and warm."""
    net = bench.image
    full, half = bench.tensorrt("float32"), bench.tensorrt("float16", trt_fp16_enable="1")
    for label, config in (("float32", full), ("float16", half)):
        yield f"{label} engine: {bench.starts(f'tensorrt-cache-{label}', net, config)}"
    yield bench.compare(f"tensorrt-{net}", net, bench.cuda(), full, half)


def int8(bench: Bench) -> Iterator[str]:
    """Int8 by a calibration table, which ONNX Runtime's own calibrator writes; A is float32."""
    name, folder = "digits-conv", bench.engines("int8")
    answer = bench.script("calibration_table", name, str(folder))
    yield f"{name}: a table of {answer['tensors']} tensors in {answer['bytes']} bytes"
    table = {"trt_int8_enable": "1", "trt_int8_calibration_table_name": answer["table"]}
    config = bench.tensorrt("int8", **table)
    if bench.stand_in:
        config = wb.Config(precision=wb.StaticInt8(samples=8))
    yield bench.compare(f"tensorrt-int8-{name}", name, bench.tensorrt("int8-baseline"), config)


def shapes(bench: Bench) -> Iterator[str]:
    """One engine for a range of shapes: the least, the best and the most; A is CUDA."""
    model = wb.load(bench.text)
    names = [name for name, _ in model.inputs().shapes]
    sizes = SMALL if bench.stand_in else SHAPES
    least, best, most = (",".join(f"{name}:1x{size}" for name in names) for size in sizes)
    ranged = bench.tensorrt(
        "shapes", trt_profile_min_shapes=least, trt_profile_opt_shapes=best, trt_profile_max_shapes=most
    )
    for size in sizes:
        inputs = model.inputs(sequence=size)
        yield f"{size} tokens: " + bench.compare(
            f"tensorrt-shapes-{size}", model, bench.cuda(), ranged, inputs=inputs
        )


def other_card(bench: Bench) -> Iterator[str]:
    """What a kept engine of another card does: under that card's name, then damaged under this one's.

    One machine has one card here, so the other one is played: ONNX Runtime names an engine's file after the
    card's compute capability, and TensorRT checks the engine's own head.
    """
    name, folder = "digits-conv", bench.engines("other-card")
    config = bench.tensorrt("other-card")

    def again(state: str) -> str:
        return f"{state}: {bench.starts(f'tensorrt-card-{state}', name, config)}; {_files(folder)}"

    yield again("own")
    for file in folder.glob("*_sm*.engine"):
        file.rename(file.with_name(f"{file.stem.rpartition('_sm')[0]}_sm75.engine"))
    yield again("renamed")
    for file in folder.glob("*.engine"):
        file.write_bytes(bytes(DAMAGED_BYTES) + file.read_bytes()[DAMAGED_BYTES:])
    yield again("damaged")


def alone(bench: Bench) -> Iterator[str]:
    """TensorRT by its own package against ONNX Runtime's TensorRT provider, which is A."""
    engine = wb.Engine("openvino") if bench.stand_in else wb.Engine("tensorrt").replace(runtime=bench.torch)
    yield bench.compare(f"tensorrt-alone-{bench.image}", bench.image, bench.tensorrt("float32"), engine)


def _files(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir())
    return ", ".join(names) or "no file was kept"
