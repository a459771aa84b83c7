"""Choose the inputs on which configs of different arithmetic are compared: real data, where there are any.

Noise is unlike anything that ranges were measured on, so on random inputs a quantized model looks worse
than it is; for the same arithmetic random inputs do.
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
    """Return real inputs; None where all configs compute alike, or where there are random data only."""
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
