"""A feature that only tests know: one module, and its line in the list."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.core.form import Field
from workbench.drawing.chart import Axis, Chart, Value, one_value, series_look
from workbench.features.base.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class WarmthRecord:
    """How warm the machine became."""

    degrees: float

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"degrees": [self.degrees]})


class Warmth(Result):
    """How warm the machine became."""


def warmth(
    model: Any, config: Config | None = None, *, extra: int = 0, inputs: Any = None,
    cancel: threading.Event | None = None,
) -> Warmth:  # fmt: skip
    """Measure nothing: 40 degrees, one more for given inputs, and the extra ones."""
    assert model is not None
    assert config is None or isinstance(config, Config)
    assert cancel is None or not cancel.is_set()
    return Warmth(WarmthRecord(40.0 + (inputs is not None) + extra))


def chart(record: WarmthRecord) -> Chart:
    """Return one bar."""
    row = one_value("machine", Value(record.degrees, f"{record.degrees:g} °C", series_look(0)))
    return Chart(("Warmth",), (Axis("temperature (°C)"),), (row,))


FEATURE = Feature(
    "warmth", WarmthRecord, result=Warmth, call=warmth, chart=chart, takes=("inputs",), tabs=("Explore",),
    form=(Field("extra", "extra", "Degrees on top", int, example="2"),),
    heading="How warm it became", button="Warmth", hint="How warm the machine becomes",
)  # fmt: skip
