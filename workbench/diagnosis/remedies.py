"""Say what to install for a provider, by provider and platform."""

from __future__ import annotations

from workbench.records.machine import Gpu, Machine

GPU_EXTRA = 'pip install "ort-workbench[gpu]"'
_OWN = "in an environment of its own, since every build of ORT has the same import name"
NVIDIA = ("CUDAExecutionProvider", "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider")


def remedy(provider: str, missing: tuple[str, ...], machine: Machine) -> str:
    """Return how to make a provider work that this ORT was built with."""
    if provider not in NVIDIA:
        return "read the message; update the driver and ONNX Runtime together"
    if not has_nvidia(machine):
        return "no NVIDIA GPU or driver is visible here, so nothing that can be installed will help"
    if provider == "CUDAExecutionProvider":
        return f"{GPU_EXTRA} brings CUDA and cuDNN as wheels; the driver must be recent enough for them"
    library = next((name for name in missing if "nvinfer" in name), "libnvinfer")
    return (
        f"install TensorRT so that the loader finds {library} (its wheels put it into the folder "
        f"tensorrt_libs; add that folder to the library path), and CUDA with {GPU_EXTRA}"
    )


def for_more(machine: Machine, providers: tuple[str, ...]) -> tuple[str, ...]:
    """Return other builds of ORT that bring a provider which suits this machine and is missing."""
    system, _, processor = machine.platform.partition("-")
    x86 = processor.lower().endswith(("x86_64", "amd64"))
    builds = []
    if x86 and system in ("Linux", "Windows") and "OpenVINOExecutionProvider" not in providers:
        builds.append(f"OpenVINO, for the CPU or Intel's GPUs: install onnxruntime-openvino {_OWN}")
    if x86 and system in ("Linux", "Windows") and has_nvidia(machine) and not set(NVIDIA) & set(providers):
        builds.append(f"CUDA and TensorRT: install onnxruntime-gpu instead of onnxruntime, then {GPU_EXTRA}")
    if system == "Windows" and "DmlExecutionProvider" not in providers:
        builds.append(f"DirectML, for any GPU on Windows: install onnxruntime-directml {_OWN}")
    if system == "Linux" and _has(machine, "amd", "radeon", "instinct"):
        builds.append(f"MIGraphX, for AMD's GPUs: install AMD's build onnxruntime-migraphx {_OWN}")
    if system == "Darwin" and "CoreMLExecutionProvider" not in providers:
        builds.append("CoreML: the plain onnxruntime wheel for macOS brings it")
    if system == "Windows" and "qualcomm" in machine.cpu.lower() and "QNNExecutionProvider" not in providers:
        builds.append(f"QNN, for Qualcomm's NPU: install onnxruntime-qnn {_OWN}")
    return tuple(builds)


def has_nvidia(machine: Machine) -> bool:
    """Whether NVML names an NVIDIA GPU; a machine without its driver counts as having none."""
    return any(not _of(gpu, "amd", "radeon", "instinct", "intel") for gpu in machine.gpus)


def _has(machine: Machine, *words: str) -> bool:
    return any(_of(gpu, *words) for gpu in machine.gpus)


def _of(gpu: Gpu, *words: str) -> bool:
    return any(word in gpu.name.lower() for word in words)
