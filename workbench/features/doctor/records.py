"""The findings of the doctor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.machine import Machine
from workbench.core.config.provider import CPU
from workbench.core.html_table import HtmlCell, html_table
from workbench.core.measure.providers import AZURE, ProviderState
from workbench.core.text import aligned, in_digits, in_gib

_COLUMN = 32  # the longest name of a provider, and room


@dataclass(frozen=True, slots=True)
class Device:
    """A device that ORT itself lists for a provider."""

    provider: str
    kind: str  # "CPU", "GPU", "NPU"
    vendor: str


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed package with a plugin provider: what it offers here, or why it offers nothing."""

    package: str  # "nxrt-ep-cpu==0.1.0"
    devices: tuple[str, ...]  # "cpu_ep: CPU of AMD"
    problem: str  # empty when it could be registered
    vendors: tuple[str, ...] = ()  # of devices that the package's metadata names

    @property
    def offers(self) -> str:
        """What it has here, in words."""
        if self.problem or self.devices:
            return self.problem or "; ".join(self.devices)
        wants = f"; its package names {' and '.join(self.vendors)}" if self.vendors else ""
        return f"registered; it has no device here{wants}"


@dataclass(frozen=True, slots=True)
class Survey:
    """The facts about this environment's ORT; `problem` is set where it does not start."""

    onnxruntime: str | None
    build: str | None
    distributions: tuple[str, ...]  # "onnxruntime-gpu 1.31.1"
    providers: tuple[ProviderState, ...]
    devices: tuple[Device, ...]
    problem: str | None
    plugins: tuple[Plugin, ...] = ()
    cuda: tuple[tuple[str, str], ...] = ()  # what this build asks for, and what is installed in its place


@dataclass(frozen=True, slots=True)
class Advice:
    """Something worth knowing or doing before measuring here."""

    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class Doctor:
    """What this machine and this ORT can do, and what to install or change for more.

    The value of `wb.doctor()`; a table in a notebook, a report when printed.

    >>> import workbench as wb
    >>> report = wb.doctor()
    >>> isinstance(report, wb.Doctor), report.machine.usable_cores > 0
    (True, True)
    """

    machine: Machine
    versions: tuple[tuple[str, str | None], ...]
    survey: Survey
    others_cores: float | None  # cores that other programs kept busy meanwhile; None: not known
    advice: tuple[Advice, ...]

    @property
    def working(self) -> list[str]:
        """The providers beside the CPU that work here."""
        checks = self.survey.providers
        return [check.name for check in checks if check.state == "works" and check.name not in (CPU, AZURE)]

    def to_frame(self) -> DataFrame:
        """Return a table with a row a fact; columns topic, item, value."""
        return data_frame(list(self._rows()), columns=["topic", "item", "value"])

    def __str__(self) -> str:
        return "\n\n".join(
            f"{topic.upper()}\n{aligned(((item, value) for _, item, value in rows), _COLUMN)}"
            for topic, rows in groupby(self._rows(), key=lambda row: row[0])
        )

    def __repr__(self) -> str:
        return str(self)  # what a plain console shows

    def _repr_html_(self) -> str:
        rows = (
            (HtmlCell.naming(topic), item, HtmlCell.of_lines(value)) for topic, item, value in self._rows()
        )
        return html_table(("topic", "item", "value"), rows, left=True)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield topic, item and value of each line of the report."""
        machine, survey = self.machine, self.survey
        yield "machine", "processor", machine.cpu
        yield "machine", "instruction sets", " ".join(machine.isa_flags) or "not known"
        yield "machine", "cores", _cores(machine)
        yield "machine", "container quota", _counted(machine.quota_cores, "cores", "none")
        yield "machine", "memory", _memory(machine)
        for gpu in machine.gpus or (None,):
            size = gpu and gpu.memory_bytes
            text = "none found" if gpu is None else f"{gpu.name}, driver {gpu.driver or 'not known'}"
            yield "machine", "GPU", text + (f", {in_gib(size)}" if size else "")
        yield "machine", "system", machine.platform
        yield "machine", "used by others now", _counted(self.others_cores, "cores", "not known")
        for name, version in self.versions:
            yield "versions", name, version or "not installed"
        if survey.problem is not None:
            yield "onnxruntime", "does not start", survey.problem
        for distribution in survey.distributions:
            yield "onnxruntime", "installed as", distribution
        if survey.build is not None:
            yield "onnxruntime", "build", survey.build
        for device in survey.devices:
            yield "onnxruntime", "device", f"{device.kind} of {device.vendor}, for {device.provider}"
        for provider in survey.providers:
            words = f": {provider.words}" if provider.words else ""
            fix = f"\nFix: {provider.fix}" if provider.fix else ""
            yield "providers", provider.name, provider.state + words + fix
        for plugin in survey.plugins:
            yield "plugins", plugin.package, plugin.offers
        for advice in self.advice:
            yield "advice", advice.topic, advice.text


def _cores(machine: Machine) -> str:
    physical = "not known" if machine.physical_cores is None else f"{machine.physical_cores}"
    return f"{machine.usable_cores} usable of {machine.logical_cores} logical; physical: {physical}"


def _memory(machine: Machine) -> str:
    limit = machine.memory_limit_bytes
    tail = "" if limit is None else f", limited to {in_gib(limit)} by the container"
    return f"{in_gib(machine.memory_bytes)}{tail}"


def _counted(value: float | None, unit: str, absent: str) -> str:
    return absent if value is None else f"{in_digits(value, 2)} {unit}"
