"""The doctor: pure rules over facts, the words of loaders, and once the real ORT of this environment."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.core.bundle.machine import Gpu, Machine
from workbench.core.errors import RunFailed, WorkerError
from workbench.core.measure import providers
from workbench.core.measure.providers import loader_words, missing_libraries, remedy, try_provider
from workbench.core.worker.probe import mismatched
from workbench.features import doctor as doctoring
from workbench.features.doctor import (
    Advice,
    Device,
    Doctor,
    ProviderState,
    Survey,
    advise,
    doctor,
    for_more,
)

XEON = Machine(
    cpu="Xeon",
    isa_flags=("avx2", "avx512f", "avx512_vnni"),
    physical_cores=8,
    logical_cores=16,
    usable_cores=16,
    quota_cores=None,
    memory_bytes=64 << 30,
    memory_limit_bytes=None,
    gpus=(),
    platform="Linux-6.1-x86_64",
)
H100 = Gpu("NVIDIA H100", 80 << 30, "580.1")
CPU_ONLY = Survey(
    "1.31.1", "Release", ("onnxruntime 1.31.1",),
    (ProviderState("CPUExecutionProvider", "works", "", (), ""),), (Device("CPU", "CPU", "Intel"),), None,
)  # fmt: skip

LINUX_LOG = (
    "\x1b[1;31m2026-11-21 08:01:38.84 [E:onnxruntime:Default, provider_bridge_ort.cc:2458 operator()] "
    "/onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:2043 onnxruntime::Provider& "
    "onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library "
    "/home/ada/env/onnxruntime/capi/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: "
    "cannot open shared object file: No such file or directory\n"
    "2026-11-21 08:01:38.85 [W:onnxruntime:Default, x.cc:12 F] Failed to create CUDAExecutionProvider. "
    "See (https://example.org/docs/CUDA-ExecutionProvider.html#requirements).\n"
    "2026-11-21 08:01:38.86 [I:onnxruntime:Default, x.cc:13 F] not of interest\n"
)
WINDOWS_LOG = (
    "2026-11-21 08:01:38.84 [E:onnxruntime:Default, provider_bridge_ort.cc:2458 operator()] Error loading "
    '"C:\\env\\capi\\onnxruntime_providers_cuda.dll" which depends on "cublasLt64_13.dll" which is missing. '
    "(Error 126)\n"
)


def topics(machine: Machine, survey: Survey = CPU_ONLY, others: float | None = 0.0) -> list[str]:
    return [advice.topic for advice in advise(machine, survey, others) if advice.topic != "more"]


def text(machine: Machine, topic: str, survey: Survey = CPU_ONLY, others: float | None = 0.0) -> str:
    (advised,) = (advice.text for advice in advise(machine, survey, others) if advice.topic == topic)
    return advised


def test_the_loader_names_the_library_and_no_folder() -> None:
    assert missing_libraries(LINUX_LOG) == ("libcublasLt.so.13",)
    words = loader_words(LINUX_LOG)
    assert words.startswith(
        "Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.13"
    )
    assert "ada" not in words
    assert "https://example.org/docs/CUDA-ExecutionProvider.html" in words
    assert "not of interest" not in words


def test_the_loader_of_windows() -> None:
    assert missing_libraries(WINDOWS_LOG) == ("cublasLt64_13.dll",)
    assert 'Error loading "onnxruntime_providers_cuda.dll" which depends on' in loader_words(WINDOWS_LOG)


def test_long_words_are_cut() -> None:
    assert len(loader_words("\n".join(f"line {n}" for n in range(10_000)))) < 1_000


def test_quota_below_the_cores_names_the_number_of_threads() -> None:
    assert "intra_op_threads=2" in text(replace(XEON, quota_cores=2.5), "quota")
    assert "intra_op_threads=1" in text(replace(XEON, quota_cores=0.5), "quota")
    assert "quota" not in topics(replace(XEON, quota_cores=16.0))


def test_affinity() -> None:
    assert "intra_op_threads=4" in text(replace(XEON, usable_cores=4), "affinity")


@pytest.mark.parametrize(
    ("flags", "platform", "word"),
    [
        (("avx2", "avx512_vnni"), "Linux-6-x86_64", "can be faster"),
        (("asimd", "asimddp"), "Linux-6-aarch64", "can be faster"),
        (("avx2", "avx512f"), "Linux-6-x86_64", "rarely be faster"),
        (("asimd",), "Linux-6-aarch64", "rarely be faster"),
    ],
)
def test_int8_follows_the_instruction_sets(flags: tuple[str, ...], platform: str, word: str) -> None:
    assert word in text(replace(XEON, isa_flags=flags, platform=platform), "int8")


def test_what_the_system_does_not_tell_is_not_judged() -> None:
    assert "int8" not in topics(replace(XEON, isa_flags=("avx2",), platform="Windows-11-AMD64"))
    assert topics(replace(XEON, isa_flags=())) == ["instruction sets"]
    assert "other load" not in topics(XEON, others=None)


def test_other_load_is_named() -> None:
    assert "3 of 16 cores" in text(XEON, "other load", others=3.0)
    assert "other load" not in topics(XEON, others=0.1)


def test_two_builds_of_ort_are_a_fault() -> None:
    both = replace(CPU_ONLY, distributions=("onnxruntime 1.31.1", "onnxruntime-gpu 1.31.1"))
    assert "uninstall all" in text(XEON, "two builds", both)
    plugin = replace(CPU_ONLY, distributions=("onnxruntime 1.31.1", "onnxruntime-ep-openvino 1.8.1"))
    assert "two builds" not in topics(XEON, plugin)


def test_libraries_of_another_cuda_are_named_before_a_run() -> None:
    extras = ('nvidia-cuda-runtime~=13.0; extra == "cuda"', 'nvidia-cudnn-cu13~=9.0; extra == "cudnn"')
    requires = ("numpy>=1.21", *extras)
    fitting = {"nvidia-cuda-runtime": "13.1", "nvidia-cudnn-cu13": "9.14", "numpy": "1.0"}
    assert mismatched(requires, fitting) == []
    assert mismatched(requires, {"nvidia-cuda-runtime": "12.8.1", "nvidia-cublas-cu12": "12.9"}) == [
        ["CUDA 13", "nvidia-cublas-cu12 12.9"],
        ["nvidia-cuda-runtime~=13.0", "nvidia-cuda-runtime 12.8.1"],
    ]
    assert mismatched((), {"nvidia-cublas-cu12": "12.9"}) == []
    advised = text(XEON, "CUDA packages", replace(CPU_ONLY, cuda=(("CUDA 13", "nvidia-cublas-cu12 12.9"),)))
    assert "made for CUDA 13, and nvidia-cublas-cu12 12.9 is installed" in advised


def test_the_remedy_depends_on_the_gpu_being_there() -> None:
    assert "no NVIDIA GPU" in remedy("CUDAExecutionProvider", ("libcublas.so.13",), XEON)
    with_gpu = replace(XEON, gpus=(H100,))
    assert "ort-workbench[gpu]" in remedy("CUDAExecutionProvider", ("libcublas.so.13",), with_gpu)
    assert "libnvinfer.so.10" in remedy("TensorrtExecutionProvider", ("libnvinfer.so.10",), with_gpu)


def test_more_builds_suit_the_platform() -> None:
    assert [line.split(",")[0] for line in for_more(XEON, ())] == ["OpenVINO"]
    windows = replace(XEON, platform="Windows-11-AMD64", gpus=(H100,))
    assert [line.split()[0] for line in for_more(windows, ())] == ["OpenVINO,", "CUDA", "DirectML,"]
    assert for_more(replace(XEON, platform="Darwin-24-arm64"), ("CoreMLExecutionProvider",)) == ()
    amd = replace(XEON, gpus=(Gpu("AMD Instinct MI300X", None, "amdgpu"),))
    assert "MIGraphX" in for_more(amd, ())[-1]


def answering(answer: dict[str, Any] | Exception, log: str = "") -> Callable[..., dict[str, Any]]:
    def call_job(*_: object, on_log: Callable[[str], None] = lambda _: None, **__: object) -> dict[str, Any]:
        on_log(log)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return call_job


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ({"in_effect": ["X", "CPUExecutionProvider"], "correct": True}, "works"),
        ({"in_effect": ["CPUExecutionProvider"], "correct": True}, "does not load"),
        ({"in_effect": ["X"], "correct": False}, "wrong result"),
        (RunFailed("no", "yes"), "fails"),
        (WorkerError("the worker process ended (SIGABRT)", "…"), "crashes"),
    ],
)
def test_each_way_that_a_provider_can_end(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any] | Exception, state: str
) -> None:
    monkeypatch.setattr(providers, "call_job", answering(answer, "E: a word\n"))
    provider = try_provider("X", XEON)
    assert provider.state == state
    assert bool(provider.fix) == (state != "works")
    if isinstance(answer, Exception):
        assert provider.words == answer.args[0]


def test_providers_that_work_are_found_without_trying_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def call_job(_: str, arguments: dict[str, str], **__: object) -> dict[str, Any]:
        if not arguments:
            return {"available": ["AzureExecutionProvider", "X", "Y", "CPUExecutionProvider"]}
        tried.append(arguments["provider"])
        return {"in_effect": tried[-1:], "correct": tried[-1] == "X"}

    monkeypatch.setattr(providers, "call_job", call_job)
    without = ("AzureExecutionProvider", "CPUExecutionProvider")
    assert providers.working_providers(XEON, without=without) == ("X",)
    assert tried == ["X", "Y"]


def test_without_an_ort_that_starts_no_provider_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "call_job", answering(WorkerError("ended during start", "…")))
    assert providers.working_providers(XEON) == ()


def test_an_ort_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctoring, "call_job", answering(WorkerError("ended during start", "…")))
    surveyed = doctoring.survey(XEON)
    assert surveyed.onnxruntime is None
    assert surveyed.problem == "ended during start"
    assert "reinstall" in text(XEON, "onnxruntime", surveyed)


def test_three_views_tell_the_same_and_escape() -> None:
    evil = replace(XEON, cpu="<script>alert(1)</script>")
    report = Doctor(evil, (("python", "3.11"), ("onnx", None)), CPU_ONLY, None, (Advice("more", "a & b"),))
    assert "<script>" not in report._repr_html_()
    assert "a &amp; b" in report._repr_html_()
    assert "<script>" in str(report)
    frame = report.to_frame()
    assert list(frame.columns) == ["topic", "item", "value"]
    assert frame.set_index("item").loc["onnx", "value"] == "not installed"
    assert frame.set_index("item").loc["used by others now", "value"] == "not known"


def test_many_cores_are_counted_without_an_exponent() -> None:
    report = Doctor(replace(XEON, quota_cores=112.0), (), CPU_ONLY, 0.25, ())
    values = report.to_frame().set_index("item")["value"]
    assert values[["container quota", "used by others now"]].tolist() == ["112 cores", "0.25 cores"]


@pytest.mark.real
def test_the_probe_leaves_no_file_when_a_provider_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has none: its model goes to ORT as bytes."""
    from workbench.core.worker import probe

    def refuse(*_: object, **__: object) -> str:
        raise AssertionError("a temporary folder")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    assert probe.run("CPUExecutionProvider")["correct"]


@pytest.mark.real
def test_the_probe_passes_by_what_an_interrupted_installation_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.core.worker import probe

    (tmp_path / "broken-1.0.dist-info").mkdir()  # without metadata, so without a name
    monkeypatch.syspath_prepend(tmp_path)
    assert "CPUExecutionProvider" in probe.run()["available"]


@pytest.mark.real
def test_the_providers_of_an_older_ort_are_tried(old_ort: str) -> None:
    assert "CPUExecutionProvider" in providers.working_providers(XEON, old_ort)


@pytest.mark.real
def test_this_environment() -> None:
    report = doctor()
    states = {provider.name: provider.state for provider in report.survey.providers}
    assert states["CPUExecutionProvider"] == "works"
    assert dict(report.versions)["onnxruntime"] == report.survey.onnxruntime
    for provider in report.survey.providers:
        assert (provider.state == "works") != bool(provider.fix)
    assert "PROVIDERS" in str(report)
