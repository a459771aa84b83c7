"""The machine is read from texts that real machines gave, and once from this one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core import cgroup
from workbench.core.cgroup import CgroupLimits, parse_membership, parse_mounts, read_limits
from workbench.core.cpu import ISA_FLAGS, parse_cpuinfo
from workbench.core.measure.counters import read_counters
from workbench.core.measure.machine import read_machine
from workbench.core.worker.gpus import drm_gpus, nvidia_gpus

XEON = """\
processor\t: 0
model name\t: Intel(R) Xeon(R) Processor
physical id\t: 0
core id\t\t: 0
flags\t\t: fpu sse sse4_1 fma f16c avx avx2 avx512f avx512bw avx512vl avx512_vnni amx_tile amx_int8 ht

processor\t: 1
model name\t: Intel(R) Xeon(R) Processor
physical id\t: 0
core id\t\t: 0
flags\t\t: fpu sse sse4_1 fma f16c avx avx2 avx512f avx512bw avx512vl avx512_vnni amx_tile amx_int8 ht

"""
GRAVITON = """\
processor\t: 0
BogoMIPS\t: 243.75
Features\t: fp asimd evtstrm aes asimdhp asimddp i8mm bf16 sve
CPU implementer\t: 0x41
CPU architecture: 8
CPU part\t: 0xd40

"""
RASPBERRY = """\
processor\t: 0
Features\t: fp asimd crc32
CPU implementer\t: 0x41
CPU part\t: 0xd08

Hardware\t: BCM2835
Model\t\t: Raspberry Pi 4 Model B Rev 1.4
"""


def test_x86_name_flags_and_cores() -> None:
    cpu = parse_cpuinfo(XEON)
    assert cpu.name == "Intel(R) Xeon(R) Processor"
    expected = "sse4_1 avx avx2 fma f16c avx512f avx512bw avx512vl avx512_vnni amx_tile amx_int8"
    assert " ".join(cpu.isa_flags) == expected
    assert cpu.physical_cores == 1  # two hyper-threads of one core


def test_arm_core_is_named_from_its_part_number() -> None:
    cpu = parse_cpuinfo(GRAVITON)
    assert cpu.name == "Arm Neoverse V1"
    assert cpu.isa_flags == ("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve")
    assert cpu.physical_cores is None  # the text does not tell, so neither do we


def test_a_board_that_names_itself() -> None:
    assert parse_cpuinfo(RASPBERRY).name == "Raspberry Pi 4 Model B Rev 1.4"


def test_an_unknown_arm_part_keeps_its_numbers() -> None:
    text = GRAVITON.replace("0xd40", "0xfff")
    assert parse_cpuinfo(text).name == "Arm, implementer 0x41, part 0xfff"


@given(st.text())
def test_any_text_gives_a_name_and_known_flags(text: str) -> None:
    cpu = parse_cpuinfo(text)
    assert cpu.name
    assert set(cpu.isa_flags) <= set(ISA_FLAGS)


def folder(path: Path, **files: str) -> None:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text)


def v2(point: Path, root: str = "/") -> str:
    return f"30 23 0:26 {root} {point} rw,nosuid - cgroup2 cgroup2 rw\n"


def v1(point: Path, controllers: str, root: str = "/") -> str:
    return f"32 31 0:29 {root} {point} rw,relatime - cgroup cgroup rw,{controllers}\n"


def test_v2_quota_and_memory(tmp_path: Path) -> None:
    folder(tmp_path / "box", cpu__max="150000 100000\n", memory__max="536870912\n")
    assert read_limits("0::/box\n", v2(tmp_path)) == CgroupLimits(1.5, 536870912)


def test_v2_the_tightest_ancestor_wins(tmp_path: Path) -> None:
    folder(tmp_path / "slice", cpu__max="50000 100000", memory__max="max")
    folder(tmp_path / "slice" / "pod", cpu__max="max 100000", memory__max="max")
    folder(tmp_path / "slice" / "pod" / "box", cpu__max="200000 100000", memory__max="1024")
    assert read_limits("0::/slice/pod/box\n", v2(tmp_path)) == CgroupLimits(0.5, 1024)


def test_v2_no_limit_is_none(tmp_path: Path) -> None:
    folder(tmp_path, cpu__max="max 100000", memory__max="max")
    assert read_limits("0::/\n", v2(tmp_path)) == CgroupLimits(None, None)


def test_v1_quota_and_memory(tmp_path: Path) -> None:
    folder(tmp_path / "cpu" / "box", cpu__cfs_quota_us="200000", cpu__cfs_period_us="100000")
    folder(tmp_path / "mem" / "box", memory__limit_in_bytes="1073741824")
    mounts = v1(tmp_path / "cpu", "cpu,cpuacct") + v1(tmp_path / "mem", "memory")
    assert read_limits("4:memory:/box\n3:cpu,cpuacct:/box\n", mounts) == CgroupLimits(2.0, 1 << 30)


def test_v1_writes_no_limit_as_minus_one_and_a_huge_number(tmp_path: Path) -> None:
    folder(tmp_path, cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    folder(tmp_path, memory__limit_in_bytes="9223372036854771712")
    assert read_limits("3:cpu,memory:/\n", v1(tmp_path, "cpu,memory")) == CgroupLimits(None, None)


def belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, group: str, mounts: str) -> None:
    folder(tmp_path / "proc", cgroup=group, mountinfo=mounts)
    monkeypatch.setattr(cgroup, "PROC", tmp_path / "proc")


def test_throttling_is_read_from_the_group_of_this_process_and_its_ancestors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "v2", cpu__stat="usage_usec 5\n")
    folder(tmp_path / "v2" / "job", cpu__stat="usage_usec 5\nnr_periods 9\nnr_throttled 2\n")
    folder(tmp_path / "v2" / "job" / "step", cpu__stat="usage_usec 5\nnr_throttled 40\n")
    belong(monkeypatch, tmp_path, "0::/job/step\n", v2(tmp_path / "v2"))
    assert read_counters().quota_throttles == 42
    belong(monkeypatch, tmp_path, "0::/\n", v2(tmp_path / "v2"))
    assert read_counters().quota_throttles is None
    folder(tmp_path / "cpu" / "job", cpu__stat="nr_periods 9\nnr_throttled 7\n")
    belong(monkeypatch, tmp_path, "3:cpu,cpuacct:/job\n", v1(tmp_path / "cpu", "cpu,cpuacct"))
    assert read_counters().quota_throttles == 7


def test_a_container_sees_its_own_group_as_the_mount_root(tmp_path: Path) -> None:
    folder(tmp_path, cpu__max="300000 100000")
    assert read_limits("0::/docker/abc\n", v2(tmp_path, "/docker/abc")).cores == 3.0


@pytest.mark.parametrize("path", ["/../../elsewhere", "/other/tree", "/gone"])
def test_a_group_that_is_not_visible_falls_back_to_the_mount(tmp_path: Path, path: str) -> None:
    folder(tmp_path, cpu__max="100000 100000")
    assert read_limits(f"0::{path}\n", v2(tmp_path, "/" if path != "/other/tree" else "/mine")).cores == 1.0


def test_v1_and_v2_side_by_side(tmp_path: Path) -> None:
    folder(tmp_path / "unified")
    folder(tmp_path / "cpu", cpu__cfs_quota_us="100000", cpu__cfs_period_us="100000")
    mounts = v2(tmp_path / "unified") + v1(tmp_path / "cpu", "cpu")
    assert read_limits("1:cpu:/\n0::/\n", mounts) == CgroupLimits(1.0, None)


def test_a_mount_point_with_a_blank(tmp_path: Path) -> None:
    point = tmp_path / "two words"
    folder(point, memory__max="4096")
    mounts = v2(point).replace("two words", "two\\040words")
    assert parse_mounts(mounts)[0].point == point
    assert read_limits("0::/\n", mounts).memory_bytes == 4096


@given(st.text(), st.text())
def test_any_text_is_read_without_an_error(membership: str, mountinfo: str) -> None:
    parse_membership(membership)
    assert read_limits("", mountinfo) == CgroupLimits(None, None)


def test_cards_of_the_linux_kernel(tmp_path: Path) -> None:
    card = tmp_path / "card0" / "device"
    folder(card, vendor="0x1002\n", product_name="Instinct MI300X\n", mem_info_vram_total="206141652992\n")
    folder(tmp_path / "card0-HDMI-1" / "device", vendor="0x1002\n")
    folder(tmp_path / "card1" / "device", vendor="0x8086\n", device="0x56a0\n")
    folder(tmp_path / "card2" / "device", vendor="0x10de\n", device="0x2330\n")  # NVML tells more about these
    found = [(gpu.name, gpu.memory_bytes) for gpu in drm_gpus(tmp_path)]
    assert found == [("Instinct MI300X", 206141652992), ("Intel GPU 0x56a0", None)]


def test_this_machine() -> None:
    import platform

    machine = read_machine()
    assert machine.cpu
    assert 1 <= machine.usable_cores <= machine.logical_cores
    assert machine.physical_cores is None or machine.physical_cores <= machine.logical_cores
    assert machine.quota_cores is None or machine.quota_cores > 0
    assert machine.memory_bytes > 1 << 28
    assert machine.memory_limit_bytes is None or machine.memory_limit_bytes < machine.memory_bytes
    assert platform.node() not in machine.platform or not platform.node()
    assert machine == read_machine()


def test_nvidia_s_gpus_are_told_as_far_as_the_driver_knows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    def memory(handle: int) -> SimpleNamespace:
        if handle == 1:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return SimpleNamespace(total=80 << 30)

    known: dict[str, Any] = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: "580.1",
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: ("NVIDIA H100", "NVIDIA GB10")[handle],
        "nvmlDeviceGetMemoryInfo": memory,
    }
    for name, function in known.items():
        monkeypatch.setattr(pynvml, name, function)
    found = [(gpu.name, gpu.memory_bytes, gpu.driver) for gpu in nvidia_gpus()]
    assert found == [("NVIDIA H100", 80 << 30, "580.1"), ("NVIDIA GB10", None, "580.1")]


def test_without_a_driver_there_is_no_gpu_of_nvidia_s(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    def no_driver() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", no_driver)
    assert nvidia_gpus() == ()
