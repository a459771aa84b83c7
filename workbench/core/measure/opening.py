"""Opening a model so that the inputs it offers were tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec

from workbench.core.models import Inputs, Model
from workbench.core.models import load as open_model

P = ParamSpec("P")


def _trying(opening: Callable[P, Model]) -> Callable[P, Model]:
    @wraps(opening)
    def load(*args: P.args, **options: P.kwargs) -> Model:
        model = opening(*args, **options)
        model.tried = _tried
        return model

    return load


def _tried(model: Model, drawn: Inputs, given: Mapping[str, Any]) -> Inputs:
    from workbench.core.measure.finding_inputs import tried_inputs  # and the worker's launch with it

    return tried_inputs(model, drawn, given)


load = _trying(open_model)
