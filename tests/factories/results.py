"""Results of every kind, made by hand, with names as strangers might give them."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import workbench as wb
from tests.factories.comparisons import drawn_run, ordinary
from tests.factories.graphs import HOSTILE, fused, hostile
from tests.factories.records import CONFIGS
from tests.features.profile.traces import event, node, write
from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.kinds import Part, about_comparison
from workbench.core.bundle.origin import Origin
from workbench.core.measure.measurement import MeasurementRecord
from workbench.features.accuracy.first_difference.record import FirstDifferenceRecord, TensorDifference
from workbench.features.accuracy.layers_record import LayerError, LayerErrorsRecord, TensorError, WeightError
from workbench.features.accuracy.record import AccuracyRecord, DataRecord, Mean, OutputFidelity, Paired, Score
from workbench.features.accuracy.sensitivity_record import LayerSensitivity, SensitivityRecord
from workbench.features.cold_start.record import ColdStartRecord, ProcessStart
from workbench.features.decode.record import DecodePass, DecodeRun, DecodeVerdict, DecodingRecord, What
from workbench.features.deploy.record import (
    DeployedFile,
    DeploymentCheck,
    DeploymentRecord,
    ServedLoad,
    ServedRound,
)
from workbench.features.explain.explanation import Explained
from workbench.features.explain.file_difference import FileDifference, OperatorCounts, WeightChange
from workbench.features.findings.record import FindingRecord, FindingsRecord, Fix, Gain, NotLooked
from workbench.features.grid.matrix import MatrixRecord
from workbench.features.grid.record import GridAxis, Place, Series
from workbench.features.grid.sweep import SweepRecord
from workbench.features.improve.record import ImprovementRecord, ImprovementStep
from workbench.features.load.record import LoadPoint, LoadRun, LoadSlice, LoadTestRecord, LoadVerdict
from workbench.features.pipelines.record import PipelineRun, PipelineSlice, PipelinesRecord, StageRecord
from workbench.features.profile.calls import read_profile
from workbench.features.profile.memory.by_node import memory_of
from workbench.features.profile.roofline.node_limits import NodeLimit, RooflineRecord
from workbench.features.profile.roofline.peaks import PeakRow, PeakTable
from workbench.features.profile.saved import record_of
from workbench.features.profile.session_profile import Overhead, SessionProfile
from workbench.features.published.record import PublishedRecord, PublishedRow
from workbench.features.replay.record import ReplayRecord, ReplayRun, SizeSeen
from workbench.features.tune.record import StudyCandidate, StudyRecord
from workbench.features.tune.space import Space
from workbench.features.variants.levels import LevelRow, LevelsRecord
from workbench.features.variants.memory_settings import MemorySetting, MemorySettingsRecord
from workbench.features.variants.threads import ThreadPoint, ThreadScalingRecord
from workbench.features.variants.versions.record import VersionRow, VersionsRecord
from workbench.features.variants.worth import Worth, WorthRecord
from workbench.features.why_slower.result import WhySlowerRecord


@cache
def about() -> Origin:
    return replace(about_comparison(ordinary()), id="20261121-080000-abcdef", config=CONFIGS[1])


def profile(told: Explained, runs: int = 4) -> SessionProfile:
    """Each node of the optimized graph once a run, and a kernel whose arguments are a stranger's."""
    events, at = [], 0.0
    for _ in range(runs):
        start = at
        for place, one in enumerate(told.optimized.nodes):
            shapes = {"output_type_shape": [{"float": [1, 4]}], "input_type_shape": [{"float": [1, 4]}]}
            sizes = {"output_size": "16", "activation_size": "16", "node_index": str(place)}
            events.append(node(one.key, at, 5.0, one.op_type, **shapes, **sizes))
            at += 6.0
        events.append(event("model_run", start, at - start, "Session", note=HOSTILE))
    with tempfile.TemporaryDirectory() as folder:
        found = read_profile(write(Path(folder), events))
    return SessionProfile(
        found.trace, warmup_runs=1, overhead=Overhead((0.001,), (0.0012,)), scopes={"a": "b"}
    )


def start(label: str) -> ColdStartRecord:
    sizes = dict.fromkeys(
        (name for name in ProcessStart.__dataclass_fields__ if name.endswith("_bytes")), 30 << 20
    )
    times = {"process_s": 0.1, "import_s": 0.2, "load_s": 0.3, "first_run_s": 0.01, "steady_s": 0.002}
    one = ProcessStart(**{**sizes, **times, "load_bytes": None})  # type: ignore[arg-type]
    return ColdStartRecord(label, (one, one), (one,), (replace(one, load_s=0.1),))


@cache
def roofline() -> RooflineRecord:
    known = NodeLimit(f"/a/{HOSTILE}", "Gemm", 1.0, 0.002, 4000, 800, 0.001, "compute")
    return RooflineRecord(
        (known, replace(known, flops=None, limit_s=None, bound=None)), PeakRow(2, 1e9, None, 1e9), 0.01
    )


SHARED = {"load_s": 0.1, "verdict": None, "ratio": Estimate(), "outputs_agree": None, "reason": None}


def variant(cls: type[Any], name: str, latency_s: float | None, failure: str | None, **facts: Any) -> Any:
    """A variant that is its own base, unless `facts` say otherwise."""
    return cls(**{**SHARED, "name": name, "latency_s": latency_s, "failure": failure, **facts})


def worth(name: str) -> Worth:
    made: Worth = variant(
        Worth, name, 0.002, None, levels=(1, 2), effect="helps", nodes_removed=3, nodes_added=1,
        relative_error=1e-7, ratio=Estimate(1 / 1.3, 1 / 1.4, 1 / 1.2), outputs_agree=True, reason="why",
        verdict="slower",
    )  # fmt: skip
    return made


@cache
def ablation() -> WorthRecord:
    return WorthRecord("model", (worth(HOSTILE),), ordinary(), CONFIGS[0], worth("control"))


@cache
def model_files() -> FileDifference:
    operators = (OperatorCounts("Conv", 4, 2), OperatorCounts(HOSTILE, 0, 1_234))
    weights = (WeightChange("w", "float32[2,3]", "float16[2,3]"), WeightChange(HOSTILE, None, HOSTILE))
    return FileDifference(("tiny", HOSTILE), (10, 1_240), (2 << 20, 1 << 20), operators, weights)


@cache
def versions() -> VersionsRecord:
    ops = (("Conv", 4), (HOSTILE, 2))
    old = variant(
        VersionRow, "A", 0.004, None, environment="ort117", onnxruntime="1.17.3", python="3.11.7",
        numpy="1.26.4", nodes=10, ops=ops, passes=("ConstantFolding",), placement=None, problem=None,
    )  # fmt: skip
    new = replace(
        old, name="B", verdict="faster", ratio=Estimate(1.83, 1.79, 1.88), outputs_agree=True,
        environment="this environment", onnxruntime="1.31.1", nodes=8, ops=(("Conv", 2), ("FusedConv", 2)),
        passes=("ConstantFolding", HOSTILE), placement=(("CPU", 8),),
    )  # fmt: skip
    return VersionsRecord("tiny", (old, new), ordinary())


@cache
def published() -> PublishedRecord:
    facts = {"file_bytes": 4 << 20, "peak_rss_bytes": 60 << 20, "loads": True}
    first = variant(PublishedRow, "model.onnx", 0.004, None, label="A", error=None, **facts)
    half = replace(
        first, name=HOSTILE, label="B", verdict="faster", ratio=Estimate(1.83, 1.79, 1.88),
        outputs_agree=True, file_bytes=2 << 20, error=0.001,
    )  # fmt: skip
    noise = replace(half, name="q4.onnx", label="C", verdict="outputs differ", outputs_agree=False, error=1.3)
    broken = replace(
        noise, name="int8.onnx", label="D", verdict="unknown", outputs_agree=None, error=None, latency_s=None,
        ratio=Estimate(), loads=False, failure=HOSTILE, file_bytes=None, peak_rss_bytes=None,
    )  # fmt: skip
    return PublishedRecord("tiny", (first, half, noise, broken), ordinary())


@cache
def levels() -> LevelsRecord:
    ops, providers = (("Add", 3),), ("CPUExecutionProvider",)
    row = variant(LevelRow, "disabled", 0.002, None, nodes=12, ops=ops, providers=providers)
    more = replace(row, name="all", ratio=Estimate(1.5, 1.4, 1.6), verdict="faster", outputs_agree=True)
    return LevelsRecord("model", (row, more), ordinary())


@cache
def measurement() -> MeasurementRecord:
    measured = replace(ordinary(), runs=ordinary().runs[:1], verdicts=(), agreement=())
    return MeasurementRecord((50.0, 99.0), 0.05, True, measured)


def _slower() -> ComparisonRecord:
    record = replace(ordinary(), runs=(drawn_run("A", 0.004), drawn_run("B", 0.006)))
    verdict = replace(record.verdict, kind="slower", ratio=0.66, low=0.64, high=0.68)
    return replace(record, verdicts=(verdict,))


SERIES = (Series("ORT defaults"), Series("intra-op threads 1"))


@cache
def matrix() -> MatrixRecord:
    """B is faster on the first model and slower on the second; the third is gone."""
    places = (
        Place("tiny", "ab" * 32, (), ordinary(), None),
        Place("small", "cd" * 32, (), _slower(), None),
        Place("gone", None, (), None, "no such file"),
    )
    return MatrixRecord((), CONFIGS[:2], SERIES, places)


@cache
def sweep() -> SweepRecord:
    """B is faster at batch 1, slower at 8, and nothing runs at 32."""
    axes = (GridAxis("batch", "size", ("1", "8", "32")),)
    measured = ((1, ordinary(), None), (8, _slower(), None), (32, None, HOSTILE))
    places = tuple(Place("model", None, (("batch", size),), *outcome) for size, *outcome in measured)
    return SweepRecord(axes, CONFIGS[:2], SERIES, places)


@cache
def settings() -> MemorySettingsRecord:
    sizes = {"loaded_bytes": -1, "ran_bytes": 5, "peak_bytes": 9 << 20}
    arena = dict.fromkeys(("arena_peak_bytes", "arena_held_bytes"))
    row = variant(MemorySetting, "as asked", 0.002, None, **sizes, **arena)
    off = replace(row, name="arena off", verdict="slower", ratio=Estimate(0.9))
    return MemorySettingsRecord("model", (row, off))


def thread_point(
    count: int,
    spinning: bool,
    latency_s: float | None,
    cpu_s: float | None = None,
    failure: str | None = None,
) -> ThreadPoint:
    name = f"{count} threads, {spinning}"
    facts = {"threads": count, "spinning": spinning, "cpu_s": cpu_s}
    made: ThreadPoint = variant(ThreadPoint, name, latency_s, failure, **facts)
    return made


def scaling(*points: ThreadPoint) -> ThreadScalingRecord:
    return ThreadScalingRecord("model", points)


@cache
def threads() -> ThreadScalingRecord:
    points = [thread_point(n, s, 0.002 / n, 0.003) for n in (1, 2) for s in (True, False)]
    return scaling(*points, thread_point(4, True, None, None, HOSTILE))


@cache
def peaks() -> PeakTable:
    return PeakTable((PeakRow(1, 1e10, 4e10, None), PeakRow(2, None, None, 2e10)))


@cache
def accuracy() -> AccuracyRecord:
    mean = Mean(0.97, 0.95, 0.99, 100, "Wilson")
    output = OutputFidelity(
        "B", "logits", None, 100, 1000, 1.0, 0.1, 0.1, 20.0, mean, mean, 3, "named so", mean, mean, 0, 0, 0, 0
    )
    scores = (
        Score("A", replace(mean, value=0.98), None, None),
        Score("B", mean, Paired(-0.01, -0.02, 0.0, 0, 1, 0.5, "Tango"), None),
    )
    data = DataRecord("the evaluation set of tiny", 100, 100, 1, True)
    configs, note = ("ORT defaults", "static int8"), "a note"
    return AccuracyRecord("tiny", ("A", "B"), configs, data, "top-1 accuracy", scores, (output,), (note,))


@cache
def layer_errors() -> LayerErrorsRecord:
    layer = LayerError("/conv/Conv", "Conv", 20.0, None, 10.0, 3.0)
    tensor = TensorError("/conv/Conv_output", "/conv/Conv", 10.0, 30.0, -1.0, 1.0, 9.0, 64)
    weight = WeightError("conv.weight", 20.0, -0.5, 0.5, 2.0, 72)
    return LayerErrorsRecord(
        "tiny", "static int8", "by name", 8, "data", True, (layer,), (tensor,), (weight,), ("a note",)
    )


@cache
def first_difference() -> FirstDifferenceRecord:
    rows = (
        TensorDifference("/conv/Conv_output", "/conv/Conv", "Conv", 1e-7),
        TensorDifference("y", "/fc/Gemm", "Gemm", 0.25),
    )
    return FirstDifferenceRecord(
        "tiny", ("level disabled", "ORT defaults"), 1e-3, rows, 2, "ConvActivationFusion", ("a note",)
    )


@cache
def replay() -> ReplayRecord:
    sizes = (
        SizeSeen("sequence=128", 2, 0.004, 0.003, 300 << 20, False),
        SizeSeen("sequence=37", 1, 0.002, 0.001, 301 << 20, True),
    )
    run = ReplayRun("as they come", sizes, 290 << 20, (0.01, 0.008), (301 << 20, None))
    return ReplayRecord("tiny", 3, 0.25, (run, ReplayRun("buckets", (), None, (), (), "no room")))


@cache
def sensitivity() -> SensitivityRecord:
    one = LayerSensitivity("/conv", ("/conv/Conv",), ("Conv",), 0.01, 1e-5, None, None, None)
    none = replace(one, name="/head", error=None, gain_s=None, problem="ONNX Runtime refused it")
    return SensitivityRecord(
        "tiny", "static int8", "alone", 0.1, (one, none), "estimated", 16, "data", True, ("a note",)
    )


@cache
def why_slower() -> WhySlowerRecord:
    reason = FindingRecord(
        "cast-pairs", "it casts in 1 place", (), ("/conv/Cast",), "sure", Gain.unknown("time"),
        Fix("note", "leave it out"), node_count=1, cost_s=1e-3, cost_share=0.5,
    )  # fmt: skip
    times = (1e-3, 2e-3, "verdict: slower")
    return WhySlowerRecord(
        "tiny", "ORT defaults", "static int8", *times, 1, 0.2, 3, (reason,), "B differs", None
    )


@cache
def load_test() -> LoadTestRecord:
    """Two configs, 1 and 2 callers back to back, 2 callers at a rate that B does not reach."""
    points = (LoadPoint(1), LoadPoint(2), LoadPoint(2, 900.0))
    agreement = tuple(replace(row, label="B") for row in ordinary().agreement[:1])
    verdicts = tuple(LoadVerdict(point, replace(ordinary().verdict, label="B")) for point in points)
    runs = (load_run("A", 0.002, points), load_run("B", 0.004, points, sessions=2, shared=("threads",)))
    return LoadTestRecord("tiny", points, 0.6, 0, runs, agreement, verdicts, (HOSTILE,))


def load_run(
    label: str, run_s: float, points: tuple[LoadPoint, ...], sessions: int = 1, shared: tuple[Any, ...] = ()
) -> LoadRun:
    """Three rounds; every caller answers in `run_s`, and twice as slowly beside another one."""
    slices = []
    for number in range(1, 4):
        for order, point in enumerate(points):
            late = point.rate_hz is not None and run_s > 0.003
            each = 300
            latency_s = run_s * point.callers * (1 + number / 100)
            count = each * point.callers
            slices.append(
                LoadSlice(
                    round=number,
                    order=order,
                    point=point,
                    request_count=count + 50 * late,
                    caller_counts=(each,) * point.callers,
                    caller_spans_s=(each * latency_s,) * point.callers,
                    latency_s=(latency_s,) * count,
                    waited_s=(0.001,) * count if point.rate_hz else (),
                    wall_s=count / 900.0 if point.rate_hz and not late else each * latency_s,
                    cpu_s=count * run_s,
                    others_cpu_s=None,
                    disturbed=(),
                )
            )
    return LoadRun(
        label,
        CONFIGS[1],
        sessions,
        shared,
        ("CPUExecutionProvider",),
        2,
        (90 << 20,),
        tuple(slices),
        None,
        None,
    )


@cache
def decoding() -> DecodingRecord:
    """Four tokens; B takes half the time and picks another token at its third step."""
    runs = (decode_run("A", 1.0, (5, 6, 7, 8)), decode_run("B", 0.5, (5, 6, 9, 8)))
    agreement = tuple(replace(row, label="B", output="logits") for row in ordinary().agreement[:1])
    whats: tuple[What, ...] = ("first token", "next tokens")
    verdicts = tuple(DecodeVerdict(what, replace(ordinary().verdict, label="B")) for what in whats)
    return DecodingRecord("tiny", 128, 4, 0, True, (5, 6, 7, 8), runs, agreement, verdicts, (HOSTILE,))


def decode_run(label: str, factor: float, picked: tuple[int, ...]) -> DecodeRun:
    passes = tuple(
        DecodePass(number, order, tuple(s * factor * (1 + number / 200) for s in (0.04, 0.005, 0.005, 0.005)),
                   0.05 * factor, None, ())
        for number in range(1, 4)
        for order in range(2)
    )  # fmt: skip
    providers = ("CPUExecutionProvider",)
    return DecodeRun(label, CONFIGS[0], providers, 2, "run", picked, 3 << 20, (90 << 20,), passes, None, None)


@cache
def pipelines() -> PipelinesRecord:
    """A function and a model, named by a stranger; in B the model takes half the time."""
    runs = tuple(pipeline_run(label, factor) for label, factor in (("A", 1.0), ("B", 0.5)))
    agreement = tuple(replace(row, label="B") for row in ordinary().agreement[:1])
    return PipelinesRecord(0, runs, agreement, (replace(ordinary().verdict, label="B"),))


def pipeline_run(label: str, factor: float) -> PipelineRun:
    stages = (
        StageRecord(HOSTILE, f"steps:{HOSTILE}", "0" * 64, None, None),
        StageRecord("tiny", None, None, "1" * 64, CONFIGS[0], ("CPUExecutionProvider",)),
    )
    slices = tuple(
        PipelineSlice(
            number, 0, (0.003 + 0.004 * factor,) * 4, ((0.003,) * 4, (0.004 * factor + number / 1e5,) * 4),
            0.05, None, (),
        )
        for number in range(1, 4)
    )  # fmt: skip
    return PipelineRun(label, stages, slices, (90 << 20,), None)


@cache
def findings() -> FindingsRecord:
    gain = Gain("time", 0.0004, 0.0003, 0.0005, 0.2)
    fix = Fix("config", HOSTILE, config=CONFIGS[1])
    large = FindingRecord("skip-layer-norm-slow", HOSTILE, (HOSTILE,), (HOSTILE,), "sure", gain, fix)
    small = replace(large, id="einsum", gain=replace(gain, share=0.001), fix=Fix("export", "write it so"))
    missing = NotLooked("slow-load", HOSTILE)
    return FindingsRecord("tiny", CONFIGS[0], 0.002, (large, small), ("a", "b"), (missing,), ("all is well",))


@cache
def improvement() -> ImprovementRecord:
    steps = tuple(
        ImprovementStep(finding, kept, HOSTILE, 1.2 if kept else None, 1.1 if kept else None, None)
        for finding, kept in zip(findings().findings, (True, False), strict=True)
    )
    return ImprovementRecord(
        "tiny", CONFIGS[0], CONFIGS[1], steps, (HOSTILE,), "the end", ordinary(),
        Goal(max_accuracy_drop=0.01), study(), findings().findings[:1],
    )  # fmt: skip


@cache
def deployment() -> DeploymentRecord:
    """A server that was checked in three rounds, with a stranger's texts."""
    rounds = tuple(
        ServedRound(
            (0.001, 0.0011, 0.0012 + extra),
            (ServedLoad(1, (0.002, 0.0021 + extra), 0.01), ServedLoad(4, (0.004, 0.005 + extra), 0.01)),
        )
        for extra in (0.0, 0.0001, 0.0002)
    )
    agreement = OutputAgreement("HTTP", HOSTILE, True, "equal", 0.0, 0.0, None, 0, 0)
    check = DeploymentCheck(1.5, ("CPUExecutionProvider",), (agreement,), rounds)
    files = (DeployedFile("model/model.onnx", 1 << 20, "0" * 64), DeployedFile("server.py", 1000, "1" * 64))
    return DeploymentRecord(
        "tiny", "python", CONFIGS[1], ("CPUExecutionProvider",), True, 1, files, (HOSTILE,), check
    )


@cache
def study() -> StudyRecord:
    """Three candidates with hostile texts; the second was confirmed."""
    default = StudyCandidate(
        "A", CONFIGS[0], "default", "measured", "", None, None, None, None, 5, None, None, None, None, None
    )
    winner = replace(
        default, label="B", config=CONFIGS[1], stage="one change", ratio=1.3, low=1.2, high=1.4,
        file_bytes=1 << 20, prepare_s=0.5, accuracy=0.97, accuracy_change=-0.01, error=0.02,
    )  # fmt: skip
    out = replace(default, label="C", config=CONFIGS[0].replace(level="basic"), state="limit", rounds=0,
                  stage="one change", reason=HOSTILE)  # fmt: skip
    selection = ordinary()
    runs = tuple(replace(run, config=chosen) for run, chosen in zip(selection.runs, CONFIGS, strict=False))
    measured = replace(selection, runs=runs)
    return StudyRecord(
        "20261121-090000-abcdef", "2026-11-21T09:00:00+00:00", "latency", Goal(max_accuracy_drop=0.01),
        Space.of(level=("basic",)), 60.0, 55.0, (default, winner, out), measured, (measured,), "B", "B",
        "confirmed on fresh rounds",
    )  # fmt: skip


@cache
def further() -> dict[str, Any]:
    """Results that are made beside a comparison, by kind; each about B."""
    return {
        "measurement": wb.Measurement(measurement()),
        "sweep": wb.Sweep(sweep(), about()),
        "matrix": wb.Matrix(matrix(), about()),
        "model files": wb.ModelFiles(model_files(), about()),
        "levels": wb.Levels(levels()),
        "ablation": wb.Ablation(ablation()),
        "versions": wb.Versions(versions()),
        "published files": wb.Published(published()),
        "why slower": wb.WhySlower(why_slower(), about()),
        "layer errors": wb.LayerErrors(layer_errors(), about()),
        "first difference": wb.FirstDifference(first_difference(), about()),
        "sensitivity": wb.Sensitivity(sensitivity(), about()),
        "replay": wb.Replay(replay(), about()),
        "accuracy": wb.AccuracyTable(accuracy(), about()),
        "thread scaling": wb.Threads(threads(), about()),
        "memory settings": wb.MemorySettings(settings(), about()),
        "memory": wb.Memory(memory_of(profile(fused())), about()),
        "roofline": wb.Roofline(roofline(), about()),
        "cold start": wb.ColdStarts(start("A"), about()),
        "load test": wb.LoadTest(load_test(), about()),
        "decoding": wb.Decoding(decoding(), about()),
        "pipelines": wb.Pipelines(pipelines(), about()),
        "findings": wb.Findings(findings(), about()),
        "improvement": wb.Improvement(improvement(), about()),
        "deployment": wb.Deployment(deployment(), about()),
    }


@cache
def every_kind() -> dict[str, Any]:
    """One result of each registered kind."""
    origin, two = about(), {"A": start("A"), "B": start("B")}
    profiled = profile(fused())
    return {
        "comparison": wb.Comparison(ordinary(), b"graph", parts=parts()),
        "measurement": wb.Measurement(measurement()),
        "matrix": wb.Matrix(matrix(), origin),
        "sweep": wb.Sweep(sweep(), origin),
        "explanation": wb.Explanation(fused(), origin).with_profile(profiled),
        "ablation": wb.Ablation(ablation()),
        "versions": wb.Versions(versions()),
        "published files": wb.Published(published()),
        "model files": wb.ModelFiles(model_files(), origin),
        "levels": wb.Levels(levels()),
        "profile": wb.Profile.of(profiled, origin),
        "memory": wb.Profile.of(profiled, origin).memory(),
        "roofline": wb.Roofline(roofline(), origin),
        "peaks": wb.Peaks(peaks(), origin),
        "cold start": wb.ColdStarts.of(two, about=origin),
        "memory settings": wb.MemorySettings(settings(), origin),
        "thread scaling": wb.Threads(threads(), origin),
        "accuracy": wb.AccuracyTable(accuracy(), origin),
        "layer errors": wb.LayerErrors(layer_errors(), origin),
        "first difference": wb.FirstDifference(first_difference(), origin),
        "sensitivity": wb.Sensitivity(sensitivity(), origin),
        "replay": wb.Replay(replay(), origin),
        "why slower": wb.WhySlower(why_slower(), origin),
        "load test": wb.LoadTest(load_test(), origin),
        "decoding": wb.Decoding(decoding(), origin),
        "pipelines": wb.Pipelines(pipelines(), origin),
        "findings": wb.Findings(findings(), origin),
        "improvement": wb.Improvement(improvement(), origin),
        "deployment": wb.Deployment(deployment(), origin),
        "study": wb.Study(study()),
    }


def parts(told: Explained | None = None) -> tuple[Part, ...]:
    """All that can be examined, of A and B."""
    return _ordinary_parts() if told is None else _parts(told, told)


@cache
def _ordinary_parts() -> tuple[Part, ...]:
    return _parts(fused(), hostile())


def _parts(*explained: Explained) -> tuple[Part, ...]:
    """The parts of A, then those of B."""
    made = []
    for label, graphs in zip("AB", explained, strict=True):
        profiled = profile(graphs)
        for kind, record in (
            ("explanation", graphs),
            ("profile", record_of(profiled)),
            ("memory", memory_of(profiled)),
            ("roofline", roofline()),
            ("cold start", start(label)),
        ):
            made.append(Part(f"{kind}/{label}", record, about()))
    return tuple(made)


@cache
def strangers() -> ComparisonRecord:
    """A comparison whose every text is an attempt."""
    record = ordinary()
    doubts = tuple(replace(one, evidence=HOSTILE, fix=HOSTILE) for one in record.doubts)
    runs = tuple(replace(one, log=()) for one in (drawn_run("A", 0.002), drawn_run("B", 0.001)))
    return replace(record, model=replace(record.model, name=HOSTILE), runs=runs, doubts=doubts)
