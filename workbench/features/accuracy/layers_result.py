"""The error of each layer of a quantized model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.feature import Feature
from workbench.features.accuracy.layers_record import LayerErrorsRecord
from workbench.features.base.result import Result

if TYPE_CHECKING:
    import pandas as pd


class LayerErrors(Result):
    """The error of each layer of a quantized model. Made by `wb.layer_errors`."""

    record: LayerErrorsRecord

    def tensors_frame(self) -> pd.DataFrame:
        """Return one row per activation: its error so far, its own rounding, its range and outliers."""
        return self.record.tensors_frame()

    def weights_frame(self) -> pd.DataFrame:
        """Return one row per weight: its error, its range and outliers."""
        return self.record.weights_frame()

    def _in_words(self) -> str:
        return "\n".join([str(self.record), *(f"note: {note}" for note in self.record.notes)])


FEATURE = Feature(
    "layer errors",
    LayerErrorsRecord,
    result=LayerErrors,
    chart="workbench.features.accuracy.layers_chart:layer_errors_chart",
    per="run",
    call="workbench.features.accuracy.layers_call:layer_errors",
    fact="layers",
    takes=("data", "calibration", "seed", "progress"),
    needs=("precision",),
    heading="The error of each layer",
    button="Layer errors",
    hint="Which layers of a config with a precision go wrong, tensor by tensor",
    step="every tensor of both models",
    effort=(2.0, 6, 8),
    tabs=("Outputs",),
    key="node",
)
