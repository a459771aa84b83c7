"""Everything that needs a GPU, in one run of about ten minutes: `python -m benchmarks.gpu -o FOLDER`.

Each part measures one question on an NVIDIA GPU, prints its answer, and saves a bundle; a part that fails
says why, and the others go on. `--stand-in` runs every part on the CPU in place of CUDA, to try the program
where there is no GPU: nothing of it is a result about a GPU, and its report and its files say so.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import workbench as wb

SAMPLES = ("resnet50", "mobilenetv2", "bert-base", "gpt2", "digits-conv")
BUDGET_S = 8.0  # of one comparison


@dataclass(frozen=True)
class Bench:
    """Where the parts run and what they may take."""

    folder: Path
    stand_in: bool
    samples: tuple[str, ...]
    budget_s: float

    def cuda(self, **options: str) -> wb.Config:
        """Return a config on CUDA with some of its options; of the stand-in, on the CPU without them."""
        if self.stand_in:
            return wb.Config()
        return wb.Config(providers=(wb.Provider("cuda", options), "cpu"))

    def tensorrt(self, **options: str) -> wb.Config:
        if self.stand_in:
            return wb.Config()
        return wb.Config(providers=(wb.Provider("tensorrt", options), "cuda", "cpu"))

    def compare(self, name: str, model: str, *configs: wb.Config, **options: Any) -> str:
        """Compare, save, and return the verdicts."""
        result = wb.compare(
            model, *configs, budget_s=self.budget_s * len(configs) / 2, progress=False, keep=False, **options
        )
        self.save(name, result)
        failed = [f"{run.label}: {run.failure.problem}" for run in result.runs if run.failure is not None]
        return "\n".join([str(result), *failed])

    def save(self, name: str, result: Any) -> None:
        prefix = "stand-in-" if self.stand_in else ""
        result.save(self.folder / f"{prefix}{name}.ortbench")


def doctor(bench: Bench) -> str:
    """What this machine and this ONNX Runtime can do."""
    del bench
    return str(wb.doctor())


def against_the_cpu(bench: Bench) -> str:
    """CUDA against the CPU, outputs compared."""
    return "\n\n".join(
        f"{name}: {bench.compare(f'cuda-{name}', name, wb.Config(), bench.cuda())}" for name in bench.samples
    )


def arithmetic(bench: Bench) -> str:
    """Float32 without TF32, with it, float16 and static int8, on CUDA."""
    texts = []
    for name in bench.samples:
        strict = bench.cuda(use_tf32="0")
        configs = (
            bench.cuda(use_tf32="1"),
            strict.replace(precision=wb.Float16()),
            strict.replace(precision=wb.StaticInt8(samples=16)),
        )
        texts.append(f"{name}: {bench.compare(f'arithmetic-{name}', name, strict, *configs)}")
    return "\n\n".join(texts)


def levels(bench: Bench) -> str:
    """Latency and nodes by optimization level."""
    texts = []
    for name in bench.samples[:2]:
        result = wb.levels(name, bench.cuda(), budget_s=2 * bench.budget_s, progress=False, keep=False)
        bench.save(f"levels-{name}", result)
        texts.append(f"{name}: {result}")
    return "\n\n".join(texts)


def options(bench: Bench) -> str:
    """The options of the CUDA provider one by one against its defaults."""
    base = bench.cuda()
    if bench.stand_in:
        single = {"IO binding": base.replace(io_binding=True)}
    else:
        single = {
            "arena kSameAsRequested": bench.cuda(arena_extend_strategy="kSameAsRequested"),
            "cuDNN heuristic": bench.cuda(cudnn_conv_algo_search="HEURISTIC"),
            "cuDNN default": bench.cuda(cudnn_conv_algo_search="DEFAULT"),
            "prefer NHWC": bench.cuda(prefer_nhwc="1"),
            "copies in another stream": bench.cuda(do_copy_in_default_stream="0"),
            "unified stream": bench.cuda(use_ep_level_unified_stream="1"),
            "IO binding": base.replace(io_binding=True),
            "CUDA graph": bench.cuda(enable_cuda_graph="1").replace(io_binding=True),
        }
    name = bench.samples[0]
    labels = ", ".join(f"{chr(66 + place)} {label}" for place, label in enumerate(single))
    return f"{labels}\n{bench.compare(f'options-{name}', name, base, *single.values())}"


def tensorrt(bench: Bench) -> str:
    """TensorRT against CUDA: float32, float16, and an engine cache."""
    name = bench.samples[0]
    cache = str(bench.folder / "engines")
    configs = [
        bench.tensorrt(),
        bench.tensorrt(trt_fp16_enable="1"),
        bench.tensorrt(trt_engine_cache_enable="1", trt_engine_cache_path=cache),
    ]
    text = bench.compare(f"tensorrt-{name}", name, bench.cuda(), *configs)
    starts = wb.cold_start(name, configs[-1])
    bench.save(f"tensorrt-cold-start-{name}", starts)
    return f"{text}\nwith a warm engine cache: {starts}"


def tensorrt_shapes(bench: Bench) -> str:
    """One engine for a range of shapes: least, best and most."""
    shapes = "input_ids:1x{0},attention_mask:1x{0},token_type_ids:1x{0}"
    ranged = bench.tensorrt(
        trt_profile_min_shapes=shapes.format(16),
        trt_profile_opt_shapes=shapes.format(128),
        trt_profile_max_shapes=shapes.format(512),
    )
    return bench.compare("tensorrt-shapes-bert-base", "bert-base", bench.cuda(), ranged)


def placement(bench: Bench) -> str:
    """Where nodes run, and the copies between providers."""
    texts = []
    for name in ("gpt2", "bert-base"):
        result = wb.explain(name, bench.cuda(), profile=True, keep=False)
        bench.save(f"placement-{name}", result)
        nodes = result.placement.to_frame()
        copies = nodes["op_type"].str.startswith("Memcpy").sum()
        texts.append(
            f"{name}: {result}\n{copies} copy nodes; nodes by provider:\n{nodes['provider'].value_counts()}"
        )
    return "\n\n".join(texts)


def profile(bench: Bench) -> str:
    """Where the time goes, with the kernels that the provider reports."""
    name = bench.samples[0]
    result = wb.profile(name, bench.cuda(), keep=False)
    bench.save(f"profile-{name}", result)
    return f"{result}\n{result.to_frame().head(10).to_string()}"


def memory(bench: Bench) -> str:
    """Memory of the process over one run; the card's own counters stand in the machine of each bundle."""
    name = bench.samples[0]
    result = wb.memory(name, bench.cuda())
    bench.save(f"memory-{name}", result)
    return str(result)


def fallback(bench: Bench) -> str:
    """A provider that cannot start is named, not replaced in silence."""
    broken = bench.cuda(device_id="63") if not bench.stand_in else wb.Config(providers=("cuda", "cpu"))
    return bench.compare("fallback-digits-conv", "digits-conv", wb.Config(), broken)


def against_pytorch(bench: Bench) -> str:
    """PyTorch eager and compiled, with the weights of the ONNX file, against ONNX Runtime."""
    device = "cpu" if bench.stand_in else "cuda"
    engines = [wb.Engine("pytorch", device=device), wb.Engine("pytorch", device=device, compile="default")]
    return "\n\n".join(
        f"{name}: {bench.compare(f'pytorch-{name}', name, bench.cuda(), *engines)}" for name in bench.samples
    )


def against_tensorrt(bench: Bench) -> str:
    """TensorRT alone against ONNX Runtime's TensorRT provider."""
    name = bench.samples[0]
    return bench.compare(f"tensorrt-alone-{name}", name, bench.tensorrt(), wb.Engine("tensorrt"))


PARTS: dict[str, Callable[[Bench], str]] = {
    part.__name__: part
    for part in (
        *(doctor, against_the_cpu, arithmetic, levels, options, placement, profile, memory, fallback),
        *(tensorrt, tensorrt_shapes, against_pytorch, against_tensorrt),
    )
}


def main(arguments: list[str] | None = None) -> int:
    """Run the parts and write report.md beside the bundles."""
    parser = argparse.ArgumentParser(prog="benchmarks.gpu", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("gpu"), metavar="FOLDER")
    parser.add_argument("--stand-in", action="store_true", help="run on the CPU in place of CUDA")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--samples", nargs="+", default=list(SAMPLES), metavar="NAME")
    parser.add_argument(
        "--budget", type=float, default=BUDGET_S, help="seconds of one comparison of two configs"
    )
    chosen = parser.parse_args(arguments)
    chosen.output.mkdir(parents=True, exist_ok=True)
    bench = Bench(chosen.output, chosen.stand_in, tuple(chosen.samples), chosen.budget)
    failed = 0
    with (chosen.output / "report.md").open("w", encoding="utf-8") as report:
        if chosen.stand_in:
            _print(report, "On the CPU in place of CUDA: no figure here says anything about a GPU.\n")
        for name in chosen.parts:
            began = time.perf_counter()
            try:
                text = PARTS[name](bench)
            except Exception as error:  # noqa: BLE001 - each part fails alone
                failed += 1
                text = f"failed: {error}"
            took_s = time.perf_counter() - began
            _print(
                report,
                f"## {name.replace('_', ' ')}\n\n{PARTS[name].__doc__}\n\n{text}\n\n({took_s:.0f} s)\n",
            )
    return 1 if failed else 0


def _print(report: Any, text: str) -> None:
    print(text, flush=True)
    report.write(f"{text}\n")
    report.flush()


if __name__ == "__main__":
    sys.exit(main())
