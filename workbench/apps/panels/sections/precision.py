"""The arithmetic: 8-bit integers, 4-bit weights, 16-bit floats, and the calibration data of static int8."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import on_change
from workbench.apps.panels.sections.section import Section
from workbench.core.config import Config, StaticInt8


class PrecisionSection(Section):
    """Changes of the model file before ORT loads it."""

    def build(self) -> list[W.Widget]:
        self.calibration = W.TextField(
            description="calibration", placeholder="the sample's own data, else random",
            tooltip="Static int8 measures its ranges on these data: an .npz file, or a folder of images or "
            ".npy files. Default: the data of a trained sample, else random data, with a warning.",
        )  # fmt: skip
        on_change(self.calibration, lambda path: setattr(self.state, "calibration", path.strip()))
        return [*super().build(), self.calibration]

    def show(self, config: Config) -> None:
        super().show(config)
        self.calibration.value = self.state.calibration
        W.set_shown(self.calibration, isinstance(config.arithmetic, StaticInt8))
