"""Settings of GPU providers, and providers that lose to the CPU."""

from __future__ import annotations

from workbench.core.config import Float16
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Gain
from workbench.features.findings.rule import config_fix, options_fix, provider_of, rule
from workbench.features.findings.rules.providers import COPIES, CPU, CUDA

CONVOLUTION_SHARE = 0.3
LAUNCH_S = 10e-6  # a node of less than this waits for its launch; NVIDIA's advice begins at 5 µs a kernel
MANY_NODES = 20
_FIRST_RUN_TIMES = 10


@rule(
    "tensor-core-layout",
    needs=("gpu", "profiled"),
    recognised="CUDA, 16-bit floats, convolutions of 30 % or more, and no prefer_nhwc",
    advice="prefer_nhwc=1, the layout of the tensor cores",
    source="microsoft/onnxruntime PR #22648; not measured here",
)
def tensor_core_layout(evidence: Evidence) -> FindingRecords:
    """Convolutions in 16 bits do not use the layout of the tensor cores."""
    cuda = provider_of(evidence, CUDA)
    runs = evidence.of("Conv", "FusedConv", "NhwcFusedConv")
    if cuda is None or cuda.option("prefer_nhwc") or evidence.share(runs) < CONVOLUTION_SHARE:
        return
    if not isinstance(evidence.config.precision, Float16):
        return
    text = "let CUDA compute channels last: prefer_nhwc=1"
    yield finding(
        "Convolutions in 16 bits run channels first",
        f"they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 0.3, "maybe"),
        fix=options_fix(evidence, cuda, text, {"prefer_nhwc": "1"}),
    )


@rule(
    "launch-bound",
    needs=("gpu", "profiled"),
    recognised="CUDA with known shapes and no copies, 20 nodes or more of less than 10 µs each on average",
    advice="capture the run once: enable_cuda_graph=1, with io_binding",
    source="microsoft/onnxruntime PR #9978: 4.3 to 2.1 ms; not measured here",
)
def launch_bound(evidence: Evidence) -> FindingRecords:
    """The GPU waits for kernels to be launched."""
    cuda, run_s = provider_of(evidence, CUDA), evidence.run_s
    if cuda is None or evidence.profiled is None or not run_s or cuda.option("enable_cuda_graph"):
        return
    count = len(evidence.profiled.nodes)
    moves = any(node.op_type in (*COPIES, "If", "Loop", "Scan") for node in evidence.nodes)
    if evidence.ran is None or count < MANY_NODES or run_s > count * LAUNCH_S or moves or evidence.sizes:
        return
    text, options = "capture the run once: enable_cuda_graph=1, io_binding=True", {"enable_cuda_graph": "1"}
    yield finding(
        f"{count} nodes take {run_s / count * 1e6:.2g} µs each on average: the GPU waits for launches",
        forecast=Forecast("likely", evidence.time_gain(run_s * 0.4, "maybe")),
        fix=options_fix(evidence, cuda, text, options, io_binding=True),
        caution="inputs must keep their shapes and addresses",
    )


@rule(
    "arena-grows-as-requested",
    recognised="CUDA with arena_extend_strategy=kSameAsRequested",
    advice="bound the memory: gpu_mem_limit, and cudnn_conv_algo_search=HEURISTIC; leave the strategy out",
    source="it is no cure for growing memory: microsoft/onnxruntime #14474 grew without end in a Loop; #7612",
)
def arena_grows_as_requested(evidence: Evidence) -> FindingRecords:
    """The strategy kSameAsRequested fragments the memory of the GPU."""
    cuda = provider_of(evidence, CUDA)
    if cuda is None or cuda.option("arena_extend_strategy") != "kSameAsRequested":
        return
    options = {"cudnn_conv_algo_search": "HEURISTIC", **dict(cuda.options), "arena_extend_strategy": None}
    text = "leave the strategy out and search convolutions by heuristic; then bound it by gpu_mem_limit"
    yield finding(
        "The arena grows by each request, which fragments the memory of the GPU",
        "often advised against growing memory, and seen to make it grow without end",
        forecast=Forecast.unknown("memory", "likely"),
        fix=options_fix(evidence, cuda, text, options),
    )


@rule(
    "provider-loses-to-cpu",
    needs=("verdict",),
    recognised="a run on another provider was measured slower than the same model on the CPU",
    advice="use the CPU",
    source="OpenVINO, DNNL and XNNPACK lose on some models: microsoft/onnxruntime #15027, #11122",
)
def provider_loses_to_cpu(evidence: Evidence) -> FindingRecords:
    """The provider is slower than the CPU."""
    verdict, baseline = evidence.verdict, evidence.baseline
    if verdict is None or baseline is None or verdict.kind != "slower" or evidence.on_cpu:
        return
    if any(provider.name != CPU for provider in baseline.providers):
        return
    name = evidence.config.providers[0].name
    gain, run_s = Gain.unknown("time"), evidence.run_s
    if run_s and verdict.ratio and verdict.low and verdict.high:
        saved = [run_s * (1 - ratio) for ratio in (verdict.ratio, verdict.high, verdict.low)]
        gain = Gain("time", saved[0], saved[1], saved[2], min(1.0, max(0.0, 1 - verdict.ratio)))
    yield finding(
        f"{name} is slower than the CPU on this model",
        verdict.reason,
        forecast=Forecast("sure", gain),
        fix=config_fix(evidence, "use the CPU", providers=baseline.providers),
    )


@rule(
    "convolution-search",
    needs=("gpu", "run"),
    recognised="CUDA with convolutions whose first run takes 10 times a later one, or one-dimensional ones",
    advice="use cudnn_conv_algo_search=HEURISTIC where shapes change; for one-dimensional convolutions "
    "cudnn_conv1d_pad_to_nc1d=1",
    source="634 to 1.9 ms for each new shape in a report of users; not measured here",
)
def convolution_search(evidence: Evidence) -> FindingRecords:
    """cuDNN searches for the fastest convolution at every new shape, or gets one-dimensional ones upright."""
    first_s = None if evidence.run is None else evidence.run.first_run_s
    cuda, graph = provider_of(evidence, CUDA), evidence.prepared
    if cuda is None or first_s is None or not evidence.run_s:
        return
    convolutions = [node for node in graph.nodes if node.op_type == "Conv"]
    weights = [(node, graph.info(node.inputs[1])) for node in convolutions]
    narrow = [node for node, weight in weights if weight and len(weight.dims or ()) == 3]
    searches = convolutions and first_s >= _FIRST_RUN_TIMES * evidence.run_s
    options, facts, texts = dict[str, str](), list[str](), list[str]()
    if searches and not cuda.option("cudnn_conv_algo_search"):
        options["cudnn_conv_algo_search"] = "HEURISTIC"
        facts.append("cuDNN tries every algorithm at each new shape")
        texts.append("use the heuristic search: cudnn_conv_algo_search=HEURISTIC")
    if narrow and not cuda.option("cudnn_conv1d_pad_to_nc1d"):
        options["cudnn_conv1d_pad_to_nc1d"] = "1"
        facts.append(
            f"{counted(len(narrow), 'convolution')} of one dimension, given to cuDNN as [N, C, D, 1]"
        )
        texts.append("give one-dimensional convolutions to cuDNN as [N, C, 1, D]: cudnn_conv1d_pad_to_nc1d=1")
    if not options:
        return
    is_slow = "cudnn_conv_algo_search" in options
    yield finding(
        f"The first run takes {first_s / evidence.run_s:.0f} times a later one"
        if is_slow
        else "One-dimensional convolutions may be slower than they need to be",
        *facts,
        forecast=Forecast("likely", Gain("load", first_s, first_s * 0.5, first_s, None))
        if is_slow
        else Forecast.unknown("time", "maybe", narrow),
        fix=options_fix(evidence, cuda, "; ".join(texts), options),
    )
