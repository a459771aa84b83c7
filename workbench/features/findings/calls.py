"""What notebooks call for advice: `findings` looks for what costs time, memory and accuracy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.config import Config
from workbench.core.measure.bar import steps as shown_steps
from workbench.core.models import Inputs, Model, load
from workbench.core.models.examples import examples
from workbench.core.prepare.calibration import source_of
from workbench.core.prepare.real_data import data_from, inputs_from
from workbench.core.prepare.replayed import replayed
from workbench.features.base.result import origin_of
from workbench.features.base.running import finding_inputs
from workbench.features.findings.gather import gather, known_accuracy
from workbench.features.findings.look import look
from workbench.features.findings.result import Findings, FixTarget


@finding_inputs
def findings(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Inputs | Any = None,
    data: Any = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] | None = None,
) -> Findings:
    """Look for lost time, memory and accuracy, each with its evidence, its fix and the predicted gain.

    The model is explained, profiled for a moment and its weights are read once; nothing is measured against
    anything yet: `finding.try_fix()` does that, and `wb.improve` for all of them.

    `data`: labelled examples, as `wb.accuracy` takes them, for the findings about accuracy. `on_step` is told
    each step that begins; by default a bar shows them.
    """
    loaded, chosen, calibration = load(model), config or Config(), replayed(calibration)
    data = data_from(loaded, data, None)
    check_examples(loaded, data, calibration)
    fed = inputs_from(loaded, inputs, seed=seed)
    loaded = loaded.with_inputs(fed)
    known = None
    with shown_steps(on_step) as report:
        if data is not None:
            report("accuracy")
            known = known_accuracy(loaded, chosen, data, calibration=calibration, cancel=cancel)
        evidence = gather(
            loaded, chosen, fed, known=known, calibration=calibration, cancel=cancel, on_step=report
        )
    about = origin_of(loaded, chosen, fed, cancel=cancel)
    return Findings.made({"A": look(evidence)}, about, FixTarget(loaded, fed, calibration))


def check_examples(model: Model, data: Any, calibration: Any) -> None:
    """Refuse a file of labelled examples or of calibration data that cannot be read."""
    if isinstance(data, str | Path):
        examples(model, data)
    if isinstance(calibration, str | Path):
        source_of(model, calibration, 1)
