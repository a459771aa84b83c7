"""The parts of `python -m benchmarks.gpu` about CUDA: each yields what it found, a text at a time."""

from __future__ import annotations

from collections.abc import Iterator

import workbench as wb
from benchmarks.gpu_bench import Bench
from benchmarks.gpu_counters import Sampling, reader


def doctor(bench: Bench) -> Iterator[str]:
    """What this machine and this ONNX Runtime can do."""
    yield str(wb.doctor())
    yield str(bench.measure("machine", bench.samples[0], bench.cuda()))


def against_the_cpu(bench: Bench) -> Iterator[str]:
    """CUDA against the CPU, outputs compared."""
    for name in bench.samples:
        yield f"{name}: {bench.compare(f'cuda-{name}', name, wb.Config(), bench.cuda())}"


def levels(bench: Bench) -> Iterator[str]:
    """Latency, nodes and outputs by optimization level."""
    for name in bench.samples:
        result = wb.levels(
            name, bench.cuda(), budget_s=2 * bench.budget_s, progress=False, keep=False, cancel=bench.cancel
        )
        bench.save(f"levels-{name}", result)
        differ = [row.name for row in result.record.rows if row.outputs_agree is False]
        outputs = f"OUTPUTS DIFFER at {', '.join(differ)}" if differ else "outputs agree at every level"
        yield f"{name}: {result}; {outputs}"


def arithmetic(bench: Bench) -> Iterator[str]:
    """A is float32 without TF32, B with it, C float16, D static int8; outputs compared with A's."""
    strict = bench.cuda(use_tf32="0")
    others = (
        bench.cuda(use_tf32="1"),
        strict.replace(precision=wb.Float16()),
        strict.replace(precision=wb.StaticInt8(samples=16)),
    )
    for name in bench.samples:
        yield f"{name}: {bench.compare(f'arithmetic-{name}', name, strict, *others)}"


def options(bench: Bench) -> Iterator[str]:
    """The options of the CUDA provider one by one against its defaults, which are A."""
    base = bench.cuda()
    if bench.stand_in:
        single = {
            "no arena": base.replace(cpu_arena=False),
            "no memory pattern": base.replace(memory_pattern=False),
            "IO binding": base.replace(io_binding=True),
        }
    else:
        single = {
            "arena kSameAsRequested": bench.cuda(arena_extend_strategy="kSameAsRequested"),
            "cuDNN search HEURISTIC": bench.cuda(cudnn_conv_algo_search="HEURISTIC"),
            "cuDNN search DEFAULT": bench.cuda(cudnn_conv_algo_search="DEFAULT"),
            "prefer NHWC": bench.cuda(prefer_nhwc="1"),
            "IO binding": base.replace(io_binding=True),
            "CUDA graph": bench.cuda(enable_cuda_graph="1").replace(io_binding=True),
        }
    for name in (bench.image, bench.text):
        labels = ", ".join(f"{chr(66 + place)} {label}" for place, label in enumerate(single))
        yield f"{name}: {labels}\n{bench.compare(f'options-{name}', name, base, *single.values())}"


def streams(bench: Bench) -> Iterator[str]:
    """The provider's own choices about streams: A its defaults, B copies in another one, C one for all."""
    name = bench.image
    yield bench.compare(
        f"streams-{name}",
        name,
        bench.cuda(),
        bench.cuda(do_copy_in_default_stream="0"),
        bench.cuda(use_ep_level_unified_stream="1"),
    )


def placement(bench: Bench) -> Iterator[str]:
    """Where nodes run, the copies between providers, and why nodes were left to the CPU."""
    for name in (bench.text, "digits-conv" if bench.stand_in else "gpt2"):
        result = wb.explain(name, bench.cuda(), profile=True, keep=False, cancel=bench.cancel)
        bench.save(f"placement-{name}", result)
        nodes = result.placement.to_frame()
        copies = nodes[nodes["op_type"].str.startswith("Memcpy")]
        left = nodes[nodes["reason"].notna() & (nodes["reason"] != "")]
        lines = [f"{name}: {result}", f"{len(copies)} copy nodes: {', '.join(copies['node'].head(8))}"]
        lines += [f"{row.node} ({row.op_type}): {row.reason}" for row in left.head(8).itertuples()]
        lines += [
            f"{provider}: {count} nodes" for provider, count in nodes["provider"].value_counts().items()
        ]
        yield "\n".join(lines)


def profile(bench: Bench) -> Iterator[str]:
    """Where the time goes, with the kernels that the provider reports."""
    for name in (bench.image, bench.text):
        result = wb.profile(name, bench.cuda(), keep=False, cancel=bench.cancel)
        bench.save(f"profile-{name}", result)
        kinds = result.spans()["kind"].value_counts()
        kernels = ", ".join(f"{count} {kind} events" for kind, count in kinds.items())
        yield f"{name}: {result}\n{kernels}\n{result.by('op_type').head(8).to_string(index=False)}"


def memory(bench: Bench) -> Iterator[str]:
    """Memory of one run by how the arena grows, then the card's own counters while the model runs."""
    name, exact = bench.text, bench.cuda(arena_extend_strategy="kSameAsRequested")
    if bench.stand_in:
        exact = exact.replace(cpu_arena=False)
    growths = {"memory": ("in powers of two", bench.cuda()), "memory-exact": ("as requested", exact)}
    for prefix, (growth, config) in growths.items():
        result = wb.memory(name, config, cancel=bench.cancel)
        bench.save(f"{prefix}-{name}", result)
        yield f"{name}, the arena grows {growth}: {result}"
    with reader(stand_in=bench.stand_in) as read, Sampling(read) as sampling:
        load = wb.load_test(
            name, bench.cuda(), callers=(1, 4), duration_s=bench.budget_s / 4, progress=False, keep=False,
            cancel=bench.cancel,
        )  # fmt: skip
    bench.save(f"load-{name}", load)
    what = "the processor in place of the card" if bench.stand_in else "the card"
    yield f"{what}: {sampling}\n{load}"


def fallback(bench: Bench) -> Iterator[str]:
    """A provider that cannot start is named, not replaced in silence."""
    broken = (
        wb.Config(providers=("cuda", "cpu"))
        if bench.stand_in  # a machine without a GPU refuses the real one
        else wb.Config(providers=(wb.Provider("cuda", {"device_id": "63"}), "cpu"))
    )
    yield bench.compare("fallback-digits-conv", "digits-conv", wb.Config(), broken)


def pytorch(bench: Bench) -> Iterator[str]:
    """A is ONNX Runtime, B PyTorch eager, C compiled, with the weights of the ONNX file."""
    device = "cpu" if bench.stand_in else "cuda"
    engines = [
        wb.Engine("pytorch", device=device, compile=compiled).replace(runtime=bench.torch)
        for compiled in (None, "default")
    ]
    for name in bench.samples:
        yield f"{name}: {bench.compare(f'pytorch-{name}', name, bench.cuda(), *engines)}"


def plugins(bench: Bench) -> Iterator[str]:
    """Each installed plugin provider against the CPU and the built-in CUDA provider; none is a sentence."""
    offers = [device for plugin in wb.doctor().survey.plugins for device in plugin.devices]
    if not offers:
        yield "no plugin is installed that offers a device here"
    for name in dict.fromkeys(offer.partition(": ")[0] for offer in offers):
        plugin = wb.Config(providers=[wb.Provider(name, library="auto"), "cpu"])
        for sample in ("digits-conv", bench.image):
            compared = bench.compare(f"plugin-{name}-{sample}", sample, wb.Config(), bench.cuda(), plugin)
            yield f"{sample} on {name}: {compared}"
