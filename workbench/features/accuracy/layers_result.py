"""The error of each layer of a quantized model."""

from __future__ import annotations

from workbench.core.bundle.display import DataFrame
from workbench.core.command import Command
from workbench.core.feature import Feature
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Look,
    ReferenceLine,
    Value,
    percent,
    rows_left_out,
    series_look,
    value_of,
)
from workbench.drawing.palette import LOSS
from workbench.features.accuracy.layers_record import LayerErrorsRecord
from workbench.features.accuracy.sensitivity_record import LayerSensitivity, SensitivityRecord
from workbench.features.base.result import Result


class LayerErrors(Result):
    """The error of each layer of a quantized model. Made by `wb.layer_errors`."""

    record: LayerErrorsRecord

    def tensors_frame(self) -> DataFrame:
        """Return one row per activation: its error so far, its own rounding, its range and outliers."""
        return self.record.tensors_frame()

    def weights_frame(self) -> DataFrame:
        """Return one row per weight: its error, its range and outliers."""
        return self.record.weights_frame()

    def _in_words(self) -> str:
        return "\n".join([str(self.record), *(f"note: {note}" for note in self.record.notes)])


MOST_ROWS = 40
_ERRORS = (
    (series_look(0, "weights"), "weight_db"),
    (series_look(1, "rounding of its input"), "input_db"),
    (series_look(2, "output so far"), "output_db"),
)
_ERROR, _SAVED = Look(LOSS), series_look(0)


def layer_errors_chart(record: LayerErrorsRecord) -> Chart:
    """Return a row for each layer, the worst first; further left is worse."""
    layers = record.worst[:MOST_ROWS]
    rows = []
    for layer in layers:
        ratios = [(look, getattr(layer, field)) for look, field in _ERRORS]
        values = (
            Value(ratio, f"{ratio:.1f} dB", look, detail=layer.op_type)
            for look, ratio in ratios
            if ratio is not None
        )
        rows.append(ChartRow(layer.node, (tuple(values),)))
    more = len(record.layers) - len(layers)
    note = f"{record.how}; {record.item_count} items of {record.made_by}"
    note += f"; {more} better layers are not drawn" if more > 0 else ""
    axis = Axis("signal over noise (dB), further left is worse", "dot")
    return Chart((str(record),), (axis,), tuple(rows), note)


def sensitivity_chart(record: SensitivityRecord) -> Chart:
    """Return a row for each layer: its error, and the time that quantizing it saves."""
    layers = record.worst[:MOST_ROWS]
    whole = () if record.whole_error is None else (ReferenceLine(record.whole_error * 100, "all quantized"),)
    axes = [Axis(f"error, {'alone' if record.mode == 'alone' else 'without it'} (%)", lines=whole)]
    note = f"{record.item_count} items of {record.made_by}"
    if any(layer.gain_s is not None for layer in layers):
        axes.append(Axis("saved (µs a run)"))
        note += f"; time saved by quantizing it: {record.latency_how}"
    rows = (ChartRow(layer.name, (_error(layer), _saved(layer))[: len(axes)]) for layer in layers)
    more = rows_left_out(len(record.worst), len(layers), "layers")
    return Chart((str(record),), tuple(axes), tuple(rows), "; ".join(filter(None, (note, more))), columns=2)


def _error(layer: LayerSensitivity) -> tuple[Value, ...]:
    text = "not known" if layer.error is None else f"{layer.error * 100:.3g} %"
    return (Value(percent(layer.error), text, _ERROR, detail=layer.problem or ""),)


def _saved(layer: LayerSensitivity) -> tuple[Value, ...]:
    gain = layer.gain.times(1e6)
    text = "not known" if gain.value is None else f"{gain.value:+.3g} µs"
    return (value_of(gain, text, _SAVED),)


FEATURE = Feature(
    "layer errors",
    LayerErrorsRecord,
    result=LayerErrors,
    chart="workbench.features.accuracy.layers_result:layer_errors_chart",
    per="run",
    call="workbench.features.accuracy.layers_call:layer_errors",
    command=Command(hints={"items": "examples to run"}),
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
