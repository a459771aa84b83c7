"""The choice of inputs for configs of different arithmetic: real data, if any.

Noise differs from the calibration data, so a quantized model looks worse on random inputs than on real ones;
random inputs suffice for configs of the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from workbench.config import Config
from workbench.models.examples import examples, trained_sample
from workbench.models.inputs import Inputs, make_inputs
from workbench.models.model import Model
from workbench.preparation.calibration import source_of

FEEDS = 8


def real_inputs(model: Model, configs: Sequence[Config], calibration: Any) -> Inputs | None:
    """Return real inputs; None if all configs have the same arithmetic, or if only random data exist."""
    if all(config.precision is None for config in configs):
        return None
    if trained_sample(model) is not None:
        own = examples(model, most=FEEDS)
        return make_inputs(own.feeds, f"{len(own.feeds)} examples of {own.made_by}", None, ())
    if calibration is None:
        return None
    source = source_of(model, calibration, FEEDS)
    if not source.representative:
        return None
    feeds = [dict(feed) for feed in islice(source.feeds, FEEDS)]
    given = Inputs.from_iterable(feeds, model.structure)
    made_by = f"{len(feeds)} of the calibration examples: {source.name}"
    return make_inputs(given.feeds, made_by, None, given.guesses)
